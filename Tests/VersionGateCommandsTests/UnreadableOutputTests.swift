import Foundation
import NIOCore
import Postgres
import TestDatabase
import TestRandom
import TestSystem
import Testing

@Suite("Unread output", .whole)
struct UnreadableOutputTests {
    /// More edits than a pipe that nobody reads has room for messages about.
    private static let edits = 60

    /// A pipe in the file system whose reading end is held open, as small as pipes can be.
    private final class NamedPipe: Sendable {
        let path: String
        private let descriptor: Int32

        init(in folder: StateFolder) throws {
            path = folder.path + "/pipe"
            guard mkfifo(path, 0o600) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
            descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            _ = fcntl(descriptor, 1031, 4_096)  // F_SETPIPE_SZ
        }

        /// What has not been read yet.
        func read() -> String {
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let count = Foundation.read(descriptor, &buffer, buffer.count)
            return String(decoding: buffer[..<max(0, count)], as: UTF8.self)
        }

        func close() { _ = Foundation.close(descriptor) }
    }

    /// Edits the policy so often that a message each would fill a small pipe, and expects the server to follow.
    private static func followsEdits(_ server: ServingBinary) async throws {
        let admin = try await TestDatabase.current.connect()
        try await admin.execute(
            """
            INSERT INTO apps (bundle) VALUES ('com.example.doto');
            INSERT INTO rules (key, bundle, title, text, enabled)
            VALUES ('edit', 'com.example.doto', 'Edit 0', 'x', true);
            """
        )
        for number in 1...edits {
            try await admin.execute("UPDATE rules SET title = 'Edit \(number)' WHERE key = 'edit'")
            try await server.check(UpdateRule.client) { $0.contains("\"Edit \(number)\"") }
        }
        await admin.close()
        let ready = try await server.management("/ready")
        #expect(ready.status == 200)
        #expect(ready.body.contains(#""followerStalled":false"#))
        #expect(ready.body.contains(#""lastPolledAt":"20"#))
    }

    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    private static func droppedMessages(_ server: ServingBinary) async throws -> Int {
        try #require(try await server.metric("versiongate_log_messages_dropped_total").flatMap { Int($0) })
    }

    @Test(
        "With a full disk or closed descriptors edits are followed, and the server ends as always",
        .migratedDatabase,
        arguments: [">/dev/full 2>/dev/full", ">&- 2>&-"], formats
    )
    func survives(redirection: String, format: String) async throws {
        let status = try await ServingBinary.run(
            .server(), redirecting: redirection, arguments: ["--log-format", format]
        ) { server in
            try await Self.followsEdits(server)
            let dropped = try await Self.droppedMessages(server)
            #expect(redirection.contains("full") ? dropped > Self.edits : dropped == 0)
        }
        #expect(status == 0, "it ended by itself, before the last resort")
    }

    /// The formats of the log: one of the two by default.
    private static let formats = ["text", "json"]

    @Test("A reader of the log that is gone is no reason to end", .migratedDatabase, arguments: formats)
    func survivesWithoutAReader(format: String) async throws {
        let status = try await StateFolder.with { folder in
            let pipe = try NamedPipe(in: folder)
            return try await ServingBinary.run(
                .server(), redirecting: "2>\(pipe.path)", arguments: ["--log-format", format]
            ) { server in
                pipe.close()
                try await Self.followsEdits(server)
                #expect(try await Self.droppedMessages(server) >= Self.edits)
            }
        }
        #expect(status == 0, "it ended by itself, before the last resort")
    }

    @Test(
        "A reader of the log that reads nothing delays neither the start, nor edits, nor the end", .migratedDatabase,
        arguments: formats
    )
    func survivesAReaderThatStalls(format: String) async throws {
        let status = try await StateFolder.with { folder in
            let pipe = try NamedPipe(in: folder)
            defer { pipe.close() }
            return try await ServingBinary.run(
                .server(), redirecting: "2>\(pipe.path)",
                arguments: ["--log-format", format, "--log-level", "trace"]
            ) { server in
                try await Self.followsEdits(server)
                let first = pipe.read().prefix { $0 != "\n" }
                #expect(first.contains(format == "json" ? #""level":"# : " "), "it was written in order: \(first)")
            }
        }
        #expect(status == 0, "it ended by itself, before the last resort")
    }

    @Test("A start that fails says why in its last line, and there alone", arguments: ["--port", "--management-port"])
    func failsInTheLastLine(option: String) async throws {
        let holder = try await PortHolder.open()
        let result = try await StateFolder.with { folder in
            try await BuiltBinary.withoutDatabase()
                .run(arguments: [
                    "serve", "--host", "127.0.0.1", "--state-dir", folder.path, option, "\(holder.port)",
                    option == "--port" ? "--management-port" : "--port", "0",
                ])
        }
        try await holder.close()
        #expect(result.status == 1)
        let lines = result.errors.split(separator: "\n")
        #expect(lines.last?.hasPrefix("Error: the ") == true, "\(lines)")
        #expect(lines.last?.contains("the port is in use") == true, "\(lines)")
        #expect(lines.last?.contains(option) == true, "\(lines)")
        #expect(!lines.dropLast().contains { $0.contains("the port is in use") }, "\(lines)")
    }

    @Test("What a command prints and the disk does not take is an error", .migratedDatabase)
    func tellsThatOutputIsLost() async throws {
        try await TestDatabase.current.connect().execute(
            "INSERT INTO rules (key, title, text, enabled) SELECT 'k' || n, 'T', 'x', true FROM generate_series(1, 500) n"
        )
        for command in ["rule show k1", "rule list --format json", "export", "--help", "rule edit k1 --title New"] {
            let result = try await versiongate.shell("$VERSIONGATE \(command) >/dev/full")
            #expect(result.status == 1, "\(command)")
            #expect(result.errors.contains("written to standard output: No space left on device"), "\(result.errors)")
        }
        // Errors that cannot be written either change nothing.
        #expect(try await versiongate.shell("$VERSIONGATE rule show none 2>/dev/full").status == 1)
        #expect(try await versiongate.shell("$VERSIONGATE rule shout 2>&-").status == 64)
    }

    @Test("A command whose output is closed or not read to its end says nothing about it", .migratedDatabase)
    func isSilentWithoutAReader() async throws {
        try await TestDatabase.current.connect().execute(
            "INSERT INTO rules (key, title, text, enabled) SELECT 'k' || n, 'T', 'x', n <= 1000 FROM generate_series(1, 2000) n"
        )
        let closed = try await versiongate.shell("$VERSIONGATE rule list >&-")
        #expect(closed.status == 0)
        #expect(closed.errors == "")
        let edit = try await versiongate.shell("$VERSIONGATE rule edit k1 --title New >&- 2>&- <&-")
        #expect(edit.status == 0)
        #expect(try await versiongate.run("rule show k1").output.contains("New"))
        let head = try await versiongate.shell("$VERSIONGATE rule list | head -n 1")
        #expect(head.status == 0)
        #expect(head.errors == "")
        #expect(head.output.split(separator: "\n").count == 1)
    }

    @Test("Nothing in the program writes to a standard stream in the way that ends it when that fails")
    func hasNoWriteThatTraps() throws {
        let sources = RepositoryFile.url("Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var count = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            // A tool of the build.
            guard !file.path.contains("/EmbedFiles/") else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(
                !text.contains(#/FileHandle\.standard(Error|Output)/#),
                "\(file.path): use StandardStreams or ServerOutput"
            )
            count += 1
        }
        #expect(count > 100)
    }
}
