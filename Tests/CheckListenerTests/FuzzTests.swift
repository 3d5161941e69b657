import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOPosix
import TestRandom
import TestSystem
import Testing
import UpdatePolicy

@testable import CheckListener

@Suite("Fuzzing", .serialized)
struct FuzzTests {
    private typealias Fixture = ListenerFixture

    private static let bodies = [
        Fixture.payload2013,
        #"{"bundle":"com.example.doto","version":1.10,"build":42,"os":"17.1","language":"zh-Hant-TW","install":"a-b"}"#,
        #"{"bundle":"a","x":[1,{"y":null}],"t":true,"n":-1.5e+3,"s":"\u00e9\ud83d\ude00\n"}"#,
    ]

    private static let requests = [
        "GET /v1/check?bundle=com.example.doto&version=1.0%2B45 HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET http://x/v1/check?bundle=a HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n",
        Fixture.post(Fixture.payload2013, to: "/tables/vLoadMessages"),
        "POST /v1/check HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\ne;a=b\r\n{\"bundle\":\"a\"}\r\n0\r\nX: y\r\n\r\n",
        "POST /v1/check HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 14\r\n\r\n{\"bundle\":\"a\"}",
    ]

    private static let mutator = Mutator(words: [
        "\\u0000", "\\ud800", "\r\n\r\n", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n",
        "ffffffffffffffff", "18446744073709551616", "-1", "1e999", "%00", "%", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
        "{\"bundle\":", " HTTP/2.0", "Connection: close\r\n", "Expect: 100-continue\r\n", "Upgrade: h2c\r\n",
    ])

    @Test("Random and mutated input as the body of a check is read or refused with a reason")
    func decodesBodies() throws {
        try FuzzRun.run("bodies") { random in
            var body = random.chance(5) ? Mutator.noise(&random) : Array(random.pick(Self.bodies).utf8)
            Self.mutator.mutate(&body, &random)
            var client = Client()
            do {
                try body.withUnsafeBytes { try CheckBodyDecoder.read($0, into: &client) }
                return true
            } catch let fault as RequestFault {
                try #require(fault.status == .badRequest && !fault.detail.isEmpty)
                return false
            }
        }
    }

    @Test("Random and mutated input as the query of a check is read or refused with a reason")
    func decodesQueries() throws {
        try FuzzRun.run("queries") { random in
            var query = Array("bundle=com.example.doto&version=1.0%2B45&os=17&region=ja_JP&install=%F0%9F%98%80".utf8)
            Self.mutator.mutate(&query, &random)
            var client = Client()
            do {
                try query.withUnsafeBytes { try CheckQueryDecoder.read($0, into: &client) }
                return true
            } catch let fault as RequestFault {
                try #require([.badRequest, .uriTooLong].contains(fault.status) && !fault.detail.isEmpty)
                return false
            }
        }
    }

    @Test(
        "Random and mutated input as versions and ranges is read or refused, in the same way twice, and a range judges every version"
    )
    func parsesVersionsAndRanges() throws {
        let versions = ["1.2.3", "v1.0-beta.10+45", "1.2b3 (45)", "2013.11.05", "0-0"]
        let ranges = [">=1.1 <1.1.5", "1.2.x || ^2.0", "~1.2.3 || 1.2 - 1.4", "*", ">1.0-beta <=99999999999999999999"]
        try FuzzRun.run("versions and ranges") { random in
            var version = random.chance(10) ? Mutator.noise(&random) : Array(random.pick(versions).utf8)
            var range = random.chance(10) ? Mutator.noise(&random) : Array(random.pick(ranges).utf8)
            Self.mutator.mutate(&version, &random)
            if random.chance(80) { Self.mutator.mutate(&range, &random) }
            let text = String(decoding: version, as: UTF8.self)
            let rangeText = String(decoding: range, as: UTF8.self)
            let read = AppVersion(text)
            guard let first = VersionRange(rangeText), let second = VersionRange(rangeText) else {
                return false
            }
            if let read { try #require(first.contains(read) == second.contains(read), "\(rangeText), \(text)") }
            return true
        }
    }

    @Test(
        "Random and mutated input over sockets, split and pipelined, is answered or ends the connection, and other clients notice nothing"
    )
    func survivesRawBytes() async throws {
        let seeds = SeededGenerator()
        let memory = FuzzRun.residentBytes()
        let counts = NIOLockedValueBox((connections: 0, responses: 0, checks: 0))
        // A head that never ends is the client's to end here, so a connection that the server forgets would hang the test.
        try await Fixture.run(limits: Fixture.limits) { address in
            let end = ContinuousClock.now + FuzzRun.duration
            // On a busy machine that time is not enough for a judgement.
            let isOver = { @Sendable in ContinuousClock.now >= end && counts.withLockedValue { $0.connections } >= 100 }
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for worker in 0..<4 {
                    tasks.addTask {
                        var random = SeededGenerator(seed: seeds.seed &+ UInt64(worker))
                        while !isOver() {
                            let responses = try await Self.attack(address, &random)
                            counts.withLockedValue { counts in
                                counts.connections += 1
                                counts.responses += responses
                            }
                        }
                    }
                }
                tasks.addTask {
                    try await RawConnection.with(address) { bystander in
                        repeat {
                            let response = try await bystander.ask(Fixture.post(Fixture.payload2013))
                            try #require(response?.body == Fixture.answer, "seed \(seeds.seed)")
                            counts.withLockedValue { $0.checks += 1 }
                        } while !isOver()
                    }
                }
                try await tasks.waitForAll()
            }
        }
        let (connections, responses, checks) = counts.withLockedValue { $0 }
        print(
            "fuzz: \(connections) connections, \(responses) responses, \(checks) checks of others; seed \(seeds.seed)"
        )
        #expect(responses > connections / 4)
        #expect(checks > 0)
        FuzzRun.judgeMemory(since: memory)
    }

    /// How many times a request may cost what it costs with a plain policy, byte for byte of what is read and answered.
    private static let mostTimes = 30.0

    /// Of each kind, to the app of the hostile policies.
    private static let costly = [
        Fixture.post(
            #"{"bundle":"com.example.doto","version":"1.1","build":"7","platform":"ios","region":"en_JP","language":"x-1-1-a","os":"17","install":"i"}"#
        ),
        Fixture.post(
            "{\"bundle\":\"com.example.doto\",\(attributes),\"language\":\"\(String(repeating: "a-", count: 30))\"}"
        ),
        "GET /v1/check?bundle=com.example.doto&version=1.1&platform=ios&os=17&region=ja_JP HTTP/1.1\r\nHost: x\r\n\r\n",
        Fixture.post(Fixture.payload2013, to: "/tables/vLoadMessages"),
        "GET /v1/gate?bundle=com.example.doto&version=1.1&platform=ios HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /v1/gate?bundle=com.example.doto&version=1.1&build=7&platform=ios&os=17&region=ja_JP HTTP/1.1\r\nHost: x\r\n\r\n",
        Fixture.post(#"{"bundle":"com.example.doto","language":"a-b\#(String(repeating: "-cd", count: 20))"}"#),
        "GET /v1/feeds/com.example.doto/appcast.xml?for=flutter HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /lookup?bundleId=com.example.doto HTTP/1.1\r\nHost: x\r\n\r\n",
    ]
    private static let attributes = (0..<60).map { "\"attribute-\($0)\":\"1-1-x\"" }.joined(separator: ",")

    /// The least CPU time that an event loop takes for some bytes in several runs, and how many bytes it answers. What is
    /// made off the event loops is not in it.
    private static func cost(_ bytes: [UInt8], _ policy: CompiledPolicy, runs: Int) throws -> (
        time: Double, answered: Int
    ) {
        var answered = 0
        let listener = try EmbeddedListener(CurrentPolicy(policy), documents: LongWork(isHeld: true))
        let time = try CPUTime.least(of: runs) {
            answered = 0
            let connection = try listener.connect()
            _ = try? connection.channel.writeInbound(ByteBuffer(bytes: bytes))
            listener.eventLoop.run()
            while let response = try connection.channel.readOutbound(as: ByteBuffer.self) {
                answered += response.readableBytes
            }
            _ = try? connection.channel.finish(acceptAlreadyClosed: true)
        }
        return (Double(time), answered)
    }

    @Test(
        "With a policy at the bounds of the database, no request costs an event loop much more than with a plain one",
        .whole, arguments: HostilePolicy.allCases
    )
    func costsLittle(_ kind: HostilePolicy) throws {
        let (plain, hostile) = (try Fixture.policy(), try kind.compiled())
        var random = SeededGenerator()
        let seed = random.seed
        var worst = (times: 0.0, request: "")
        let end = ContinuousClock.now + FuzzRun.duration
        var number = 0
        repeat {
            let isChanged = number >= Self.costly.count
            var request = Array((isChanged ? random.pick(Self.costly) : Self.costly[number]).utf8)
            if isChanged { Self.mutator.mutate(&request, &random) }
            number += 1
            let usual = try Self.cost(request, plain, runs: 5)
            // A run that something disturbed is no fault: what counts is the least of many.
            var found = try Self.cost(request, hostile, runs: 3)
            func times() -> Double {
                let bytes = Double(request.count + found.answered) / Double(request.count + usual.answered)
                return found.time / (usual.time * max(1, bytes))
            }
            if times() > Self.mostTimes { found = try Self.cost(request, hostile, runs: 20) }
            if times() > worst.times { worst = (times(), String(decoding: request.prefix(300), as: UTF8.self)) }
        } while number < Self.costly.count || ContinuousClock.now < end
        let times = (worst.times * 10).rounded() / 10
        print("fuzz: \(kind): \(number) requests, the worst \(times) times the usual; seed \(seed)")
        #expect(worst.times <= Self.mostTimes, "seed \(seed): \(worst.request)")
    }

    /// Sends a few requests, most of them changed, in random pieces; says that this is all; and reads to the end.
    ///
    /// - Returns: How many responses came.
    private static func attack(_ address: SocketAddress, _ random: inout SeededGenerator) async throws -> Int {
        var bytes: [UInt8] = []
        let count = Int.random(in: 1...6, using: &random)
        let isChanged = random.chance(80)
        for _ in 0..<count {
            var request = Array((random.chance(50) ? Fixture.post(random.pick(bodies)) : random.pick(requests)).utf8)
            if isChanged, random.chance(60) { mutator.mutate(&request, &random) }
            if isChanged, random.chance(3) { request = Mutator.noise(&random) }
            bytes += request
        }
        let pieces = Mutator.split(bytes, &random)
        let seed = random.seed
        return try await RawConnection.with(address) { connection in
            var responses = 0
            do {
                for piece in pieces { try await connection.send(piece) }
                connection.finish()
            } catch {
                // The server may have ended the connection in the middle.
            }
            if isChanged {
                do {
                    while let response = try await connection.response() {
                        try #require((100..<500).contains(response.status), "seed \(seed)")
                        responses += 1
                    }
                } catch is IOError {
                    // So it did, with more on its way.
                }
                return responses
            }
            while let response = try await connection.response() {
                responses += 1
                try #require(response.status == 200, "seed \(seed)")
            }
            try #require(responses == count, "seed \(seed)")
            return responses
        }
    }
}
