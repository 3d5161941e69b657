import Foundation

/// A folder that is deleted with the test.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("versiongate-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    subscript(name: String) -> URL {
        url.appendingPathComponent(name)
    }
}

/// Commands of the shell.
enum Command {
    struct Failure: Error {
        var command: String
        var output: String
    }

    /// Runs a command, with nothing to read, to its end; the output and errors.
    @discardableResult
    static func run(_ command: String, in folder: TemporaryFolder) async throws -> String {
        try await onThread { try runToEnd(command, in: folder) }
    }

    /// What `body` gives, which may block: it has a thread of its own.
    static func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result(catching: body)) }.start()
        }
    }

    /// The path of a program of this package.
    static func product(_ name: String) -> String {
        // The tests are beside the programs on Linux, and three folders deeper, in a bundle, on macOS.
        var folder = Bundle.main.bundleURL
        let files = FileManager.default
        while folder.path != "/", !files.isExecutableFile(atPath: folder.appendingPathComponent(name).path) {
            folder.deleteLastPathComponent()
        }
        return folder.appendingPathComponent(name).path
    }

    private static func runToEnd(_ command: String, in folder: TemporaryFolder) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        process.currentDirectoryURL = folder.url
        let output = Pipe()
        (process.standardInput, process.standardOutput, process.standardError) = (FileHandle.nullDevice, output, output)
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(command: command, output: text) }
        return text
    }
}

/// A server of openssl that sends the same bytes to its first connection, and ends. Nothing of it changes after its start.
final class TLSServer: @unchecked Sendable {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    let port: UInt16

    /// Starts a server with the certificate and the key of a folder, and waits until it listens.
    static func start(in folder: TemporaryFolder, answer: String) async throws -> TLSServer {
        try await Command.onThread { try TLSServer(in: folder, answer: answer) }
    }

    private init(in folder: TemporaryFolder, answer: String) throws {
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", "exec openssl s_server -accept 127.0.0.1:0 -naccept 1 -cert certificate -key key 2>&1",
        ]
        process.currentDirectoryURL = folder.url
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        // It says: ACCEPT 127.0.0.1:PORT
        var said = ""
        while true {
            let more = output.fileHandleForReading.availableData
            said += String(decoding: more, as: UTF8.self)
            if let line = said.split(separator: "\n").first(where: { $0.hasPrefix("ACCEPT ") }), said.hasSuffix("\n") {
                port = line.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
                break
            }
            guard !more.isEmpty else { throw Command.Failure(command: "openssl s_server", output: said) }
        }
        // It waits for more, so the connection stays until the client closes it.
        input.fileHandleForWriting.write(Data(answer.utf8))
    }

    /// What the server says until its end.
    func end() async throws -> String {
        try await Command.onThread {
            String(decoding: self.output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        }
    }
}
