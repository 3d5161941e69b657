import Foundation
import Postgres

/// The words of a command line that say where the policy is, apart from the others.
package struct DatabaseWords {
    /// The words that name the same database to another command, without any password.
    ///
    /// A command is typed where this one was. What a server prints is typed elsewhere, by somebody with a login and an
    /// address of their own, of which it knows nothing: it names its private PostgreSQL, and no other database.
    package let toType: [String]
    /// All other words, in their order.
    package let others: [String]

    /// Finds them.
    ///
    /// - Parameters:
    ///   - words: The arguments of the process.
    ///   - environment: Its environment, which may choose a context.
    package init(_ words: [String], environment: [String: String] = [:]) {
        var values: [String: String] = [:]
        var found: [String] = []
        var others: [String] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                others += [word] + rest
                break
            }
            let halves = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if word == Self.privateOne {
                found.append(word)
            } else if Self.options.contains(halves[0]), let value = halves.dropFirst().first ?? rest.popFirst() {
                found.append(halves[0])
                values[halves[0]] = value
            } else {
                others.append(word)
            }
        }
        self.others = others
        let isServer = others.first == "serve"
        func take(_ option: String, from variable: String) {
            guard let value = environment[variable], !value.isEmpty else { return }
            found.append(option)
            values[option] = value
        }
        func isNamed(_ names: String...) -> Bool { found.contains { names.contains($0) } }
        if !isNamed("--context", "--database-url", Self.privateOne) { take("--context", from: "VERSIONGATE_CONTEXT") }
        let isPrivate =
            isNamed(Self.privateOne)
            || !isNamed("--context", "--database-url") && environment["DATABASE_URL"]?.isEmpty != false
        if !isPrivate { found.removeAll { $0 == "--state-dir" } }
        if isServer {
            if isPrivate {
                if !isNamed("--state-dir") { take("--state-dir", from: "VERSIONGATE_STATE_DIR") }
                if !isNamed(Self.privateOne) { found.append(Self.privateOne) }
            } else {
                found = []
            }
        }
        toType = found.flatMap { option in
            guard let value = values[option] else { return [option] }
            switch option {
            case "--database-url":
                return [option, PostgresConfiguration(connectionString: value).addressWithoutPassword ?? "URL"]
            case "--state-dir": return [option, URL(fileURLWithPath: value).standardizedFileURL.path]
            default: return [option, value]
            }
        }
    }

    private static let privateOne = "--private"
    /// The options with a value.
    private static let options: Set<String> = ["--context", "--database-url", "--state-dir"]
}
