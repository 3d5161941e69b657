import Foundation
import NIOCore
import TestDatabase
import TestRandom
import Testing

@Suite("Server limits", .whole, .timeLimit(.minutes(20)))
struct ServeLimitTests {
    private static let check = #"{"bundle":"a"}"#
    private static let answer = #"{"messages":[]}"#

    @Test(
        "The limits of the server leave files to the server when clients of both listeners would take more than there are"
    )
    func keepsFilesForItself() async throws {
        let openFiles = 160 + 4 * ProcessInfo.processInfo.processorCount
        let ending = try await ServingBinary.run(.withoutDatabase(), openFiles: openFiles) { server in
            #expect(try await server.check(Self.check) == Self.answer)
            var connections: [any Channel] = []
            for url in [server.publicURL, server.managementURL] {
                for _ in 1...openFiles { connections.append(try await PlainConnection.open(url)) }
            }
            for _ in 1...100 {
                #expect(try await server.check(Self.check) == Self.answer, "a check is answered")
            }
            let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(server.processIdentifier)/fd")
                .count
            #expect(files < openFiles - 16, "there are files left")
            for connection in connections { try? await connection.close() }
            #expect(
                try await PlainConnection.isEnded(server.publicURL, after: "nonsense\r\n\r\n"), "a new one comes in"
            )
            let evictions = try await server.metric(#"versiongate_refusals_total{reason="evicted"}"#)
            #expect(evictions != nil && evictions != "0")
        }
        #expect(ending.status == 0, "\(ending.errors)")
        #expect(ending.errors.contains("Fewer connections are possible than configured"), "\(ending.errors)")
    }

    /// How many idle connections there are; 10,000 need `ulimit -n 10200` for the tests and the server each.
    private static let idleConnections =
        ProcessInfo.processInfo.environment["VERSIONGATE_IDLE_CONNECTIONS"].flatMap { Int($0) } ?? 1_000

    @Test("The limits of the server leave it answering with many idle connections")
    func answersBesideIdleConnections() async throws {
        let binary = BuiltBinary.withoutDatabase([
            "VERSIONGATE_MAX_CONNECTIONS": "20000", "VERSIONGATE_MAX_CONNECTIONS_PER_ADDRESS": "0",
        ])
        try await ServingBinary.run(binary) { server in
            let before = try Self.residentKilobytes(server.processIdentifier)
            var connections: [any Channel] = []
            for _ in 1...Self.idleConnections { connections.append(try await PlainConnection.open(server.publicURL)) }
            for _ in 1...100 { #expect(try await server.check(Self.check) == Self.answer) }
            let after = try Self.residentKilobytes(server.processIdentifier)
            let perConnection = Double(after - before) / Double(Self.idleConnections)
            print("idle: \(connections.count) connections, \(after) KiB in all, \(perConnection) KiB each")
            #expect(perConnection < 32)
            for connection in connections { try? await connection.close() }
        }
    }

    private static func residentKilobytes(_ process: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
    }
}
