import Foundation
import NIOHTTP1
import Subprocess
import SystemPackage
import TestSystem

/// A `versiongate serve` that runs while a test does.
struct ServingBinary: Sendable {
    /// Where apps call.
    let publicURL: String
    /// Where whoever operates the server asks.
    let managementURL: String
    /// The process.
    let processIdentifier: Int32

    /// How a run of the server ended.
    struct Ending: Sendable {
        /// The exit status; nil when a signal ended it.
        let status: Int32?
        let errors: String
    }

    /// Runs the server, gives it to `body` once it is ready, and then stops it with SIGTERM unless it ended already.
    ///
    /// The state folder is a fresh one unless the arguments name another.
    ///
    /// - Parameters:
    ///   - openFiles: How many files the system lets the server have open; nil: as many as the tests.
    ///   - program: The binary to run.
    @discardableResult
    static func run(
        _ binary: BuiltBinary,
        arguments: [String] = [],
        openFiles: Int? = nil,
        program: String = BuiltBinary.path,
        _ body: @Sendable (ServingBinary) async throws -> Void
    ) async throws -> Ending {
        if !binary.namesStateDirectory, !arguments.contains("--state-dir") {
            return try await StateFolder.with { folder in
                try await run(
                    binary, arguments: arguments + ["--state-dir", folder.path], openFiles: openFiles, program: program,
                    body
                )
            }
        }
        var command = [program, "serve", "--host", "127.0.0.1"]
        for option in ["--port", "--management-port"] where !arguments.contains(option) { command += [option, "0"] }
        if let openFiles { command = ["prlimit", "--nofile=\(openFiles):\(openFiles)"] + command }
        let result = try await ServerPlaces.take {
            try await Subprocess.run(
                openFiles == nil ? .path(FilePath(command[0])) : .name(command[0]),
                arguments: Arguments(command.dropFirst() + arguments), environment: binary.subprocessEnvironment,
                input: .none, output: .sequence, error: .string(limit: 1 << 20)
            ) { execution in
                var lines = execution.standardOutput.strings().makeAsyncIterator()
                guard let ready = try await lines.next() else { throw ServingBinaryError.endedBeforeItWasReady }
                let words = ready.split(whereSeparator: \.isWhitespace).map(String.init)
                guard let publicWord = words.firstIndex(of: "public"),
                    let managementWord = words.firstIndex(of: "management")
                else { throw ServingBinaryError.unknownReadyLine(ready) }
                let server = ServingBinary(
                    publicURL: words[publicWord + 1], managementURL: words[managementWord + 1],
                    processIdentifier: execution.processIdentifier.value
                )
                do {
                    try await body(server)
                } catch {
                    kill(server.processIdentifier, SIGTERM)
                    throw error
                }
                kill(server.processIdentifier, SIGTERM)
            }
        }
        let status: Int32? = if case .exited(let status) = result.terminationStatus { status } else { nil }
        return Ending(status: status, errors: result.standardError)
    }

    /// The answer of a check that a JSON body asks for.
    func check(_ body: String, at path: String = "/v1/check") async throws -> String {
        let answer = try await HTTPAnswer(publicURL + path, method: .POST, body: body)
        guard answer.status == 200 else {
            throw ServingBinaryError.unexpectedAnswer("\(answer.status): \(answer.body)")
        }
        return answer.body
    }

    /// The status and body of a page of the management listener.
    func management(_ path: String) async throws -> (status: Int, body: String) {
        let answer = try await HTTPAnswer(managementURL + path)
        return (answer.status, answer.body)
    }

    /// The value of a metric, whose name has its labels behind it.
    func metric(_ name: String) async throws -> String? {
        try await management("/metrics").body.split(separator: "\n").first { $0.hasPrefix(name + " ") }
            .map { String($0.dropFirst(name.count + 1)) }
    }

    /// Asks whether the server is ready until the answer is as wanted.
    func ready(until isWanted: (String) -> Bool) async throws -> (status: Int, body: String) {
        var answer = (status: 0, body: "")
        try await Poll.until("another answer of /ready than \(answer)") {
            answer = try await management("/ready")
            return isWanted(answer.body)
        }
        return answer
    }

    /// Returns when the server answers by a revision of the policy.
    func ready(at revision: Int) async throws {
        _ = try await ready { $0.matches(of: #/[rR]evision":(\d+)/#).contains { Int($0.1) == revision } }
    }

    /// Asks again and again until the answer is as wanted.
    func check(_ body: String, until isWanted: (String) -> Bool) async throws {
        var answer = ""
        try await Poll.until("another answer of a check than \(answer)") {
            answer = try await check(body)
            return isWanted(answer)
        }
    }
}

/// A server did not do what every test needs.
enum ServingBinaryError: Error {
    case endedBeforeItWasReady
    case unknownReadyLine(String)
    case unexpectedAnswer(String)
}
