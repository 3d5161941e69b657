import Foundation
import TestDatabase
import TestSystem

/// A shell on a terminal of its own, at which a test types and reads.
///
/// `versiongate` is on its path. It has no line editor and no echo, so that what it prints is not mixed with what was typed,
/// and is so wide that no line is broken.
final class TerminalSession {
    /// What the shell prints when it waits for a command.
    static let prompt = "shell> "

    private let process = Process()
    private let ended = DispatchSemaphore(value: 0)
    private let input = Pipe()
    private let output = Pipe()
    private var printed: AsyncStream<Data>.Iterator
    private var unread = ""

    /// Starts the shell and waits for its prompt.
    ///
    /// - Parameters:
    ///   - binary: Says which database the commands use.
    ///   - variables: More of the environment.
    init(_ binary: BuiltBinary, variables: [String: String] = [:]) async throws {
        var environment = ProcessInfo.processInfo.environment
        for name in ["DATABASE_URL", "PGSERVICE", "PGSERVICEFILE", "VERSIONGATE_STATE_DIR", "NO_COLOR"] {
            environment[name] = nil
        }
        let folder = URL(fileURLWithPath: BuiltBinary.path).deletingLastPathComponent().path
        let own = [
            "PATH": "\(folder):\(environment["PATH"] ?? "/usr/bin:/bin")", "TERM": "dumb",
            "PROMPT_COMMAND": "PS1='\(Self.prompt)' PS2=",
            "PSQLRC": "/dev/null", "PSQL_HISTORY": "/dev/null", "PAGER": "cat", "HISTFILE": "",
        ]
        for (name, value) in own.merging(binary.variables, uniquingKeysWith: { $1 }).merging(
            variables, uniquingKeysWith: { $1 }
        ) {
            environment[name] = value
        }
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "script", "--quiet", "--return", "--command", "bash --norc --noprofile --noediting -i", "/dev/null",
        ]
        process.environment = environment
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        printed = stream.makeAsyncIterator()
        output.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            if data.isEmpty { continuation.finish() } else { continuation.yield(data) }
        }
        process.terminationHandler = { [ended] _ in ended.signal() }
        try process.run()
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(Patience.seconds)) { [process] in
            if process.isRunning { process.terminate() }
        }
        try await expect(Self.prompt)
        try type("stty -echo cols 1000\n")
        try await expect(Self.prompt)
    }

    /// Types text; a command ends with a newline.
    func type(_ text: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    }

    /// Waits until a text was printed.
    ///
    /// - Returns: What was printed before it since the last call.
    /// - Throws: an error with what was printed when the shell ends, which it does at ``Patience/limit`` at the latest.
    @discardableResult
    func expect(_ text: String) async throws -> String {
        while true {
            if let range = unread.range(of: text) {
                let before = String(unread[..<range.lowerBound])
                unread = String(unread[range.upperBound...])
                return before
            }
            guard let data = await printed.next(isolation: #isolation) else {
                throw CompanionError("the terminal never showed \"\(text)\", but: \(unread)")
            }
            unread += String(decoding: data.filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        }
    }

    /// Types a command and waits for its end.
    ///
    /// - Returns: What it printed, and its exit status.
    func run(_ command: String) async throws -> (output: String, status: Int) {
        try type("\(command)\n")
        // What a slow command showed of its progress, and erased.
        let output = try await expect(Self.prompt).replacing(#/[^\r\n]*\r\u{1B}\[K/#, with: "")
        try type("echo status=$?.\n")
        try await expect("status=")
        let status = Int(try await expect(".")) ?? -1
        try await expect(Self.prompt)
        return (output, status)
    }

    /// Ends the shell, and what runs in it, by taking away their terminal: a signal to end would have `script` wait for two
    /// seconds, and `waitUntilExit` would keep a processor busy where another thread has started the process.
    func end() {
        output.fileHandleForReading.readabilityHandler = nil
        kill(process.processIdentifier, SIGKILL)
        ended.wait()
    }
}
