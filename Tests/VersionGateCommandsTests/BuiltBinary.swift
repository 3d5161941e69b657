import Foundation
import PolicyStore
import Subprocess
import Synchronization
import SystemPackage
import TestDatabase
import TestSystem
import Testing
import UpdatePolicy
import VersionGateCommands

/// The `versiongate` that was built beside the tests, run as a user would.
///
/// Most commands run inside the process of the tests, which takes a fraction of the time. With `VERSIONGATE_BINARY`, as in
/// `.ci/run`, every command is a process.
struct BuiltBinary: Sendable {
    /// What a run printed and how it ended.
    struct Result: Sendable {
        let status: Int
        let output: String
        let errors: String
    }

    /// What differs in its environment from that of the tests.
    let variables: [String: String]

    /// The binary on a database of the test.
    init(_ database: TestDatabase) {
        variables = ["DATABASE_URL": database.url(user: "versiongate_admin")]
    }

    /// The binary with its private PostgreSQL in a folder.
    init(stateDirectory: String) {
        variables = ["VERSIONGATE_STATE_DIR": stateDirectory]
    }

    /// The binary as servers use it: as `versiongate_server` on the database of the test.
    static func server(_ variables: [String: String] = [:]) -> BuiltBinary {
        let address = ["DATABASE_URL": TestDatabase.current.url(user: "versiongate_server")]
        return BuiltBinary(environment: address.merging(variables) { $1 })
    }

    /// The binary where no database answers.
    static func withoutDatabase(_ variables: [String: String] = [:]) -> BuiltBinary {
        BuiltBinary(environment: variables.merging(["DATABASE_URL": "postgresql://127.0.0.1:1/nothing"]) { $1 })
    }

    /// The binary with any environment.
    init(environment: [String: String]) {
        variables = environment
    }

    /// Whether the environment says where the state folder is.
    var namesStateDirectory: Bool { variables["VERSIONGATE_STATE_DIR"] != nil }

    /// Whether the environment says which binary is tested.
    private static let isChosen = ProcessInfo.processInfo.environment["VERSIONGATE_BINARY"]?.isEmpty == false

    /// What may be set where the tests run, and means something else to a command.
    private static let foreignVariables = [
        "DATABASE_URL", "PGSERVICE", "PGSERVICEFILE", "VERSIONGATE_STATE_DIR", "SUDO_USER",
    ]

    /// Where the binary is: where `VERSIONGATE_BINARY` says, or else beside the tests.
    static let path: String = {
        if isChosen, let path = ProcessInfo.processInfo.environment["VERSIONGATE_BINARY"] { return path }
        return besideTests
    }()

    /// The binary that was built with the tests, which has what a debug build has more than a release.
    static let besideTests: String = {
        let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        return tests.deletingLastPathComponent().appending(path: "versiongate").path
    }()

    /// The environment that the binary runs in.
    var subprocessEnvironment: Environment {
        var updates: [Environment.Key: String?] = [:]
        for name in Self.foreignVariables { updates[Environment.Key(rawValue: name)!] = .some(nil) }
        for (name, value) in variables { updates[Environment.Key(rawValue: name)!] = value }
        return .inherit.updating(updates)
    }

    /// Runs a command line that is split at blanks; quotes are not known, so values with blanks go to ``run(arguments:)``.
    @discardableResult
    func run(_ line: String) async throws -> Result {
        try await run(arguments: line.split(separator: " ").map(String.init))
    }

    /// Runs a command with these arguments to its end.
    ///
    /// - Parameter input: The path of what it reads as standard input.
    @discardableResult
    func run(arguments: [String], input: String = "/dev/null") async throws -> Result {
        if canRunHere(arguments) { return try await runHere(arguments, input) }
        let file = try FileDescriptor.open(FilePath(input), .readOnly)
        return try await run(.path(FilePath(Self.path)), arguments, subprocessEnvironment, input: file)
    }

    /// Whether the process of the tests can run a command.
    ///
    /// A server and a private PostgreSQL belong to a process of their own, psql replaces its process, and libpq reads its
    /// variables and services itself, all but ``TestDatabase/service``.
    private func canRunHere(_ arguments: [String]) -> Bool {
        !Self.isChosen && ["DATABASE_URL", "PGSERVICE"].contains { variables[$0]?.isEmpty == false }
            && Set(variables.keys).isSubset(of: ["DATABASE_URL", "PGSERVICE", "PGSERVICEFILE", "TZ"])
            && [nil, TestDatabase.service].contains(variables["PGSERVICE"])
            && [nil, Self.centralEurope].contains(variables["TZ"])
            && !arguments.contains { ["serve", "psql", "--private"].contains($0) || $0.hasPrefix("--state-dir") }
            && !(arguments + [variables["DATABASE_URL"] ?? ""]).contains {
                $0.contains("service=") && !$0.hasSuffix("service=\(TestDatabase.service)")
            }
    }

    /// A time zone with summer time, which needs no files: `TZ`.
    static let centralEurope = "CET-1CEST,M3.5.0,M10.5.0/3"

    /// How many seconds clocks are ahead of UTC there: clocks change at 01:00 UTC on the last Sundays of March and October.
    @Sendable
    private static func offsetInCentralEurope(at seconds: Int64) -> Int64 {
        var moment = time_t(seconds)
        var fields = tm()
        gmtime_r(&moment, &fields)
        func change(ofMonth month: Int32) -> Int64 {
            var last = tm()
            (last.tm_year, last.tm_mon, last.tm_mday, last.tm_hour) = (fields.tm_year, month, 31, 1)
            return Int64(timegm(&last)) - Int64(last.tm_wday) * 86_400
        }
        return change(ofMonth: 2) <= seconds && seconds < change(ofMonth: 9) ? 7200 : 3600
    }

    private func runHere(_ arguments: [String], _ input: String) async throws -> Result {
        let printed = Mutex((output: "", errors: ""))
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: input))
        var environment = ProcessInfo.processInfo.environment
        for name in Self.foreignVariables { environment[name] = nil }
        let context = CommandContext(
            Invocation(words: arguments, environment: environment.merging(variables) { $1 }), standardInput: file,
            print: { text in printed.withLock { $0.output += text } },
            printError: { text in printed.withLock { $0.errors += text } },
            secondsAheadOfUTC: variables["TZ"] == nil ? nil : Self.offsetInCentralEurope,
            openSession: WarmDatabase.openSession
        )
        let status = await VersionGate.run(in: context)
        return printed.withLock { Result(status: Int(status), output: $0.output, errors: $0.errors) }
    }

    /// Runs a command that must succeed, and gives what it printed.
    @discardableResult
    func succeed(_ line: String) async throws -> String {
        let result = try await run(line)
        #expect(result.status == 0, "\(line): \(result.errors)")
        return result.output
    }

    /// What `status` prints once it says something.
    func status(saying text: String) async throws -> String {
        var status = ""
        try await Poll.until("\(text) in \(status)") {
            status = try await run("status").output
            return status.contains(text)
        }
        return status
    }

    /// Runs a script of bash on a terminal of its own, to which `$VERSIONGATE` is the binary.
    ///
    /// - Returns: What the terminal shows.
    func onTerminal(_ script: String, _ variables: [Environment.Key: String?] = ["NO_COLOR": "1"]) async throws
        -> String
    {
        var environment = subprocessEnvironment.updating(["VERSIONGATE": Self.path, "TERM": "xterm"])
        environment = environment.updating(variables)
        return try await Subprocess.run(
            .name("script"),
            arguments: ["--quiet", "--return", "--command", "bash -c \(script.shellWord)", "/dev/null"],
            environment: environment, output: .string(limit: 1 << 20), error: .discarded
        ).standardOutput
    }

    /// Runs a script of bash, to which `$VERSIONGATE` is the binary.
    @discardableResult
    func shell(_ script: String) async throws -> Result {
        try await run(.name("bash"), ["-c", script], subprocessEnvironment.updating(["VERSIONGATE": Self.path]))
    }

    private func run(
        _ program: Executable,
        _ arguments: [String],
        _ environment: Environment,
        input: FileDescriptor? = nil
    ) async throws -> Result {
        let result = try await Subprocess.run(
            program,
            arguments: Arguments(arguments),
            environment: environment,
            input: .fileDescriptor(
                try input ?? FileDescriptor.open("/dev/null", .readOnly), closeAfterSpawningProcess: true
            ),
            output: .string(limit: 16 << 20),
            error: .string(limit: 1 << 20)
        )
        guard case .exited(let status) = result.terminationStatus else {
            return Result(status: -1, output: result.standardOutput, errors: result.standardError)
        }
        return Result(status: Int(status), output: result.standardOutput, errors: result.standardError)
    }
}
