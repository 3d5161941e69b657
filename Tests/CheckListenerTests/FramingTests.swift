import Foundation
import NIOConcurrencyHelpers
import NIOCore
import TestPolicies
import TestRandom
import Testing
import UpdatePolicy

@testable import CheckListener

/// The same requests in all ways in which their bytes can arrive, and their answers be read, over real sockets.
@Suite("Framing", .timeLimit(.minutes(60)))
struct FramingTests {
    /// How a client sends a stream and reads the answers.
    private enum Way: CaseIterable {
        /// In one piece, byte by byte, or cut at random.
        case whole, bytes, cuts
        /// In one piece, with room for little that it has not read; the side of the client is closed before it reads.
        case slow
        /// The same, and its side is closed after all but the last is read.
        case slowAndOpen
        /// In one piece, behind another request.
        case behind
        /// The same, cut at random.
        case behindCuts
    }

    /// Requests whose answers are of many sizes, up to 144 kB, and what is no request.
    private struct Stream {
        let bytes: [UInt8]
        let requests: Int
        let isLarge: Bool

        init(_ random: inout SeededGenerator) {
            var bytes: [UInt8] = []
            requests = Int.random(in: 1...8, using: &random)
            isLarge = random.chance(2)
            for _ in 0..<requests {
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<3 where isLarge:
                    let version = random.pick(["2", "3", "4"])
                    let target = "\(random.chance(50) ? "" : "http://a")/v1/check?bundle=doto&version=\(version)"
                    bytes += Array("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
                case 0..<6:
                    // An answer of its own, so that one that is lost, doubled or another's shows.
                    let name = UInt32.random(in: 0...UInt32.max, using: &random)
                    bytes += Array("GET /v1/check?bundle=doto&bundle=\(name) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
                    bytes += Array("PUT /v1/\(name) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
                case 6: bytes += Array("GET /v1/feeds/doto/updates.json HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
                default: bytes += RequestGenerator.bytes(&random, isLong: false).prefix(4_000)
                }
            }
            self.bytes = bytes
        }
    }

    /// A request whose answer has a head alone.
    private static let opening = Array("HEAD /v1/check?bundle=doto HTTP/1.1\r\nHost: a\r\n\r\n".utf8)

    private static func policy() throws -> CurrentPolicy {
        func messages(_ version: String, _ count: Int) -> [Rule] {
            (0..<count).map { number in
                TestPolicy.rule("v\(version)-\(number)") { rule in
                    (rule.bundle, rule.versions, rule.text) = ("doto", version, String(repeating: "€", count: 3_900))
                }
            }
        }
        let small = TestPolicy.rule("small") { ($0.bundle, $0.versions) = ("doto", "<1.2") }
        return CurrentPolicy(
            try TestPolicy.policy(
                [small] + messages("2", 1) + messages("3", 5) + messages("4", 12),
                apps: [App(bundle: "doto", name: "Doto")]
            )
        )
    }

    /// What a client gets.
    ///
    /// - Parameter count: How many bytes there are to read before the client closes its side where it does so last.
    private static func answers(
        to stream: Stream,
        _ way: Way,
        _ address: SocketAddress,
        count: Int,
        _ random: inout SeededGenerator
    ) throws -> [UInt8] {
        let isSlow = way == .slow || way == .slowAndOpen
        let client = try BlockingClient(address, isSlow: isSlow)
        if way == .behind || way == .behindCuts {
            client.send(opening)
            var head: [UInt8] = []
            while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) { head += try client.read(1) }
        }
        let pieces =
            switch way {
            case .whole, .slow, .slowAndOpen, .behind: [stream.bytes]
            case .bytes: stream.bytes.map { [$0] }
            case .cuts, .behindCuts: Mutator.split(stream.bytes, &random)
            }
        for piece in pieces where !client.send(piece) { break }
        var answers: [UInt8] = []
        let piece = isSlow ? Int.random(in: 500...4_000, using: &random) : 65_536
        // But for the last one: it may be a refusal of what ends in the middle of a request.
        if way == .slowAndOpen { answers = try client.read(max(0, count - 1_024), inPiecesOf: piece) }
        client.endOutput()
        return answers + (try client.read(inPiecesOf: piece))
    }

    /// The seed of the next stream, and what the clients have done.
    private typealias Progress = NIOLockedValueBox<(seed: UInt64, requests: Int, connections: Int, bytes: Int)>

    /// Sends one stream in several ways, and compares what comes.
    private static func compare(seed: UInt64, _ address: SocketAddress, _ progress: Progress) throws {
        var random = SeededGenerator(seed: seed)
        let stream = Stream(&random)
        let expected = try answers(to: stream, .whole, address, count: 0, &random)
        let ways = random.some(Way.allCases, upTo: 4)
        for way in ways {
            let answers = try answers(to: stream, way, address, count: expected.count, &random)
            #expect(
                answers == expected,
                "VERSIONGATE_SEED=\(seed), \(way): \(String(decoding: stream.bytes, as: UTF8.self).debugDescription)"
            )
        }
        progress.withLockedValue { progress in
            progress.requests += stream.requests
            progress.connections += ways.count + 1
            progress.bytes += expected.count
        }
    }

    @Test(
        "The answers are the same to the byte however the requests are cut, the answers read and the connection ended"
    )
    func isTheSame() async throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["VERSIONGATE_REQUESTS"].flatMap { Int($0) } ?? 1_000
        let firstSeed = environment["VERSIONGATE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max / 2)
        let progress = Progress((firstSeed, 0, 0, 0))
        try await ListenerFixture.run(policy: try Self.policy()) { address in
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for _ in 0..<8 {
                    tasks.addTask {
                        try await Self.onThread {
                            while progress.withLockedValue({ $0.requests }) < count {
                                let seed = progress.withLockedValue { progress in
                                    progress.seed &+= 1
                                    return progress.seed &- 1
                                }
                                try Self.compare(seed: seed, address, progress)
                            }
                        }
                    }
                }
                try await tasks.waitForAll()
            }
        }
        let (_, requests, connections, bytes) = progress.withLockedValue { $0 }
        print("Framing: \(requests) requests on \(connections) connections from seed \(firstSeed), \(bytes) bytes")
        #expect(bytes > requests * 100)
    }

    /// Runs what waits for system calls on a thread of its own.
    private static func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result { try body() }) }.start()
        }
    }
}
