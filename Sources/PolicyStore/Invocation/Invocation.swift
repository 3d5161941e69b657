import Foundation
import Postgres
import UpdatePolicy

package struct Invocation: Sendable {
    package let words: [String]
    package let environment: [String: String]
    /// The options that name the database, as words of a shell, from before a password is wiped from the arguments.
    let database: [String]

    package init(words: [String], environment: [String: String]) {
        self.words = words
        self.environment = environment
        database = DatabaseWords(words, environment: environment).toType.map(\.shellWord)
    }

    /// The invocation of the running command; that of this process, unless a test calls a command by itself.
    @TaskLocal package static var current = ofThisProcess()

    /// Takes `PGSERVICE` away from libpq, which fills up any address by it, also that of another database.
    private static func ofThisProcess() -> Invocation {
        defer { unsetenv("PGSERVICE") }
        return Invocation(words: ProcessArguments.words, environment: ProcessInfo.processInfo.environment)
    }
}

/// The words of a command line that say where the policy is, apart from the others.
package struct DatabaseWords {
    /// The words that name the same database to another command, without any password. A command is typed where this one
    /// was. What a server prints is typed elsewhere, by somebody with a login and an address of their own, of which it
    /// knows nothing: it names its private PostgreSQL, and no other database.
    package let toType: [String]
    package let others: [String]

    package init(_ words: [String], environment: [String: String] = [:]) {
        var values: [String: String] = [:]
        var isPrivate = false
        var others: [String] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                others += [word] + rest
                break
            }
            let halves = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if word == "--private" {
                isPrivate = true
            } else if ["--database-url", "--state-dir"].contains(halves[0]),
                let value = halves.dropFirst().first ?? rest.popFirst()
            {
                values[halves[0]] = value
            } else {
                others.append(word)
            }
        }
        self.others = others
        let isServer = others.first == "serve"
        let service = environment["PGSERVICE"].flatMap { $0.isEmpty || isPrivate ? nil : $0 }
        let address = values["--database-url"] ?? service.map { PostgresConfiguration.address(ofService: $0) }
        let usesPrivate = isPrivate || address == nil && environment["DATABASE_URL"]?.isEmpty != false
        let folder = values["--state-dir"] ?? (isServer ? environment["VERSIONGATE_STATE_DIR"] : nil)
        var toType: [String] = []
        if let address, !isServer {
            let configuration = PostgresConfiguration(connectionString: address)
            toType += ["--database-url", configuration.addressWithoutPassword ?? "URL"]
        }
        if usesPrivate, let folder, !folder.isEmpty {
            toType += ["--state-dir", URL(fileURLWithPath: folder).standardizedFileURL.path]
        }
        if isPrivate || isServer && usesPrivate { toType.append("--private") }
        self.toType = toType
    }
}

/// The arguments of this process, as every user of the machine can read them.
package enum ProcessArguments {
    /// In a statically linked program Swift looks for them below the environment, which an agent in
    /// `LD_PRELOAD` that sets a variable has moved by then, and finds none.
    package static var words: [String] {
        guard let bytes = FileManager.default.contents(atPath: "/proc/self/cmdline"), !bytes.isEmpty else {
            return Array(CommandLine.arguments.dropFirst())
        }
        return bytes.split(separator: 0, omittingEmptySubsequences: false).dropFirst().dropLast()
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Overwrites a value that was given as an argument, or behind an equals sign in one, so that `ps` no longer shows it.
    package static func hide(_ value: String) {
        let secret = Array(value.utf8)
        guard !secret.isEmpty else { return }
        for index in 0..<Int(CommandLine.argc) {
            guard let argument = CommandLine.unsafeArgv[index] else { continue }
            let length = strlen(argument)
            let start = length - secret.count
            guard start == 0 || start > 0 && argument[start - 1] == CChar(UInt8(ascii: "=")),
                memcmp(argument + start, secret, secret.count) == 0
            else { continue }
            memset(argument + start, Int32(UInt8(ascii: "*")), secret.count)
        }
    }
}

/// A command that is printed to be typed, on a terminal, in a log or on a page. It names the database that the command
/// was told to use, because another may be meant where it is typed. What only the environment says by `DATABASE_URL` or
/// `VERSIONGATE_STATE_DIR` is left to the environment; but for a server, whose pages and logs are read elsewhere.
package struct PrintedCommand: CustomStringConvertible, Sendable {
    private let words: String

    package init(_ words: String) { self.words = words }

    package var description: String {
        let database = Invocation.current.database.map { " " + $0 }.joined()
        // Quoted text, and all before the word "--": what stands behind that is not for versiongate.
        let own = words.prefixMatch(of: /(?:'[^']*'|\\.|[^'\\ ]|\ (?!--(?:\ |$)))*/)?.output ?? words[...]
        return "versiongate \(own)\(database)\(words[own.endIndex...])"
    }

    package static func text(_ words: String) -> String { "\(PrintedCommand(words))" }
}
