import Foundation
import NIOCore
import NIOEmbedded
import NIOExtras
import TestChecks
import TestRandom
import Testing
import UpdatePolicy

@testable import CheckListener

@Suite("Plain requests", .computing, .serialized)
struct ExpressRequestTests {
    /// What came of some bytes on a connection, as far as a client, an operator and the next request can tell.
    private struct Outcome: Equatable, CustomStringConvertible {
        let sent: String
        let isActive: Bool
        let phase: ConnectionPhase
        let isIdle: Bool
        let acceptsRequests: Bool
        let requests: [RequestKind: UInt64]
        let refusals: [Int]
        let problems: [Int]
        let counted: Counted

        var description: String {
            "\(sent)\n-- active \(isActive), \(phase), idle \(isIdle), accepts \(acceptsRequests), \(requests), "
                + "\(refusals), \(problems), \(counted)"
        }
    }

    /// What is the same on both ways of a comparison.
    private struct Setting {
        var limits = ConnectionLimits()
        var rateLimit: RateLimit?
        var shutsDownBefore: Int?
        var endsInput = false
    }

    private static func outcome(
        of pieces: [[UInt8]],
        _ setting: Setting,
        isParsed: Bool
    ) throws -> Outcome {
        let recorder = CheckRecorder(limit: CardinalityLimit(maximum: 100))
        let listener = try EmbeddedListener(
            CurrentPolicy(CountedPolicy.policy()), recorder: recorder, limits: setting.limits,
            clock: { CountedPolicy.noon }
        )
        let limiter = try setting.rateLimit.map { RateLimiter($0, proxies: try TrustedProxies(parsing: "192.0.2.1")) }
        let peer = try #require(IPAddress("192.0.2.1"))
        let connection = try listener.connect(
            isParsed: isParsed,
            limitedClient: limiter.map { LimitedClient(peer: peer, limiter: $0) }
        )
        for (index, piece) in pieces.enumerated() where connection.channel.isActive {
            if setting.shutsDownBefore == index {
                connection.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            }
            try connection.channel.writeInbound(ByteBuffer(bytes: piece))
            if index % 2 == 1 { listener.eventLoop.run() }
        }
        if setting.endsInput, connection.channel.isActive {
            connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        listener.eventLoop.run()
        let outcome = Outcome(
            sent: try connection.sent(), isActive: connection.channel.isActive, phase: connection.handler.state.phase,
            isIdle: connection.handler.state.isIdle, acceptsRequests: connection.handler.state.acceptsRequests,
            requests: listener.statistics.requests.histograms.mapValues(\.count),
            refusals: RefusalReason.allCases.map { listener.statistics.refusals[$0] },
            problems: ProblemStatus.allCases.map { listener.statistics.problems[$0] },
            counted: Counted(recorder, at: CountedPolicy.hours(1))
        )
        _ = try? connection.channel.finish(acceptAlreadyClosed: true)
        return outcome
    }

    /// Compares the outcomes with and without the parser.
    private static func compare(_ pieces: [[UInt8]], _ setting: Setting, seed: UInt64? = nil) throws {
        let plain = try outcome(of: pieces, setting, isParsed: false)
        let parsed = try outcome(of: pieces, setting, isParsed: true)
        #expect(
            plain == parsed,
            "seed \(seed.map { "\($0)" } ?? "none"): \(pieces.map { String(decoding: $0, as: UTF8.self).debugDescription })"
        )
    }

    /// How many plain requests the bytes of one read begin with.
    private static func plainCount(_ bytes: [UInt8], _ limits: ConnectionLimits) -> Int {
        bytes.withUnsafeBytes { bytes in
            var (count, position) = (0, 0)
            while let request = ExpressRequest(UnsafeRawBufferPointer(rebasing: bytes[position...]), limits: limits) {
                count += 1
                position += request.length
            }
            return count
        }
    }

    @Test(
        "Requests are answered and counted as if the parser had read them, to the byte, whatever is sent and however it is cut"
    )
    func agreesWithTheParser() throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["VERSIONGATE_REQUESTS"].flatMap { Int($0) } ?? 1_000
        let firstSeed = environment["VERSIONGATE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max / 2)
        var (plain, plainCount) = (0, 0)
        for number in 0..<count {
            let seed = firstSeed &+ UInt64(number)
            var random = SeededGenerator(seed: seed)
            let isLong = random.chance(10)
            let bytes = RequestGenerator.bytes(&random, isLong: isLong)
            if bytes.isEmpty { continue }
            var setting = Setting()
            setting.endsInput = random.chance(20)
            if random.chance(10) { setting.limits.requestsPerConnection = random.pick([1, 2]) }
            if isLong, random.chance(20) { setting.limits.headerFields = random.pick([2, 4]) }
            if isLong, random.chance(20) { setting.limits.headerBytes = random.pick([100, 200]) }
            if isLong, random.chance(20) { setting.limits.requestLineBytes = random.pick([20, 40]) }
            if random.chance(5) { setting.limits.bufferedBytes = 100 }
            if random.chance(15) { setting.rateLimit = try RateLimit(parsing: "1:\(random.pick([1, 2]))") }
            let pieces = random.chance(30) ? Mutator.split(bytes, &random) : [bytes]
            if random.chance(10) { setting.shutsDownBefore = Int.random(in: pieces.indices, using: &random) }
            try Self.compare(pieces, setting, seed: seed)
            let requests = Self.plainCount(pieces[0], setting.limits)
            plain += requests
            if requests > 0 { plainCount += 1 }
        }
        print("Compared \(count) connections from seed \(firstSeed): \(plain) plain requests on \(plainCount) of them")
        #expect(plainCount > count / 5, "too few were plain for the comparison to say much")
        #expect(plainCount < count * 9 / 10, "too few were not plain")
    }

    @Test("Requests are answered alike when they are cut after any byte", arguments: 0..<15 as Range<UInt64>)
    func isCutAnywhere(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let bytes = RequestGenerator.bytes(&random, isLong: false).prefix(700)
        let step = Trials.areLong ? 1 : 5
        for cut in stride(from: Int(seed) % step, through: bytes.count, by: step) {
            try Self.compare([Array(bytes[..<cut]), Array(bytes[cut...])], Setting())
        }
    }

    @Test(
        "Plain requests behind one that the parser read, or that came in two parts, need no parser again",
        arguments: [
            ["POST /v1/check HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"],
            ["GET /v1/check?bundle=a HTTP/1.1\r\nHo", "st: a\r\n\r\n"],
        ]
    )
    func returns(first: [String]) throws {
        let plain = "GET /v1/check?bundle=a HTTP/1.1\r\nHost: a\r\n\r\n"
        let listener = try EmbeddedListener()
        let connection = try listener.connect()
        for piece in first.dropLast() + [first[first.count - 1] + plain + plain, plain] {
            try connection.receive(piece)
        }
        listener.eventLoop.run()
        #expect(try connection.responses().map(\.status).suffix(3) == [200, 200, 200])
        #expect(connection.handler.state.meter.headCount == 1)
        _ = try connection.channel.finish(acceptAlreadyClosed: true)
    }

    @Test(
        "The limit on the request line counts it alike whatever came before it",
        arguments: ["", "\r\n", "GET /v1/check?bundle=a HTTP/1.1\r\nHost: a\r\n\r\n"]
    )
    func measuresRequestLines(before: String) throws {
        let line = "GET /v1/check?bundle=\(String(repeating: "a", count: 40)) HTTP/1.1\r"
        var setting = Setting()
        setting.limits.requestLineBytes = line.utf8.count
        for (line, isTooLong) in [
            (line, false), ("PUT" + line.dropFirst(3), false), ("POST" + line.dropFirst(3), true),
        ] {
            let bytes = Array("\(before)\(line)\nHost: a\r\n\r\n".utf8)
            for isParsed in [false, true] {
                let outcome = try Self.outcome(of: [bytes], setting, isParsed: isParsed)
                #expect(outcome.sent.contains("414 URI Too Long") == isTooLong)
            }
        }
    }

    private static func isPlain(_ text: String, _ change: (inout ConnectionLimits) -> Void = { _ in }) -> Bool {
        var limits = ConnectionLimits()
        change(&limits)
        return Array(text.utf8).withUnsafeBytes { ExpressRequest($0, limits: limits) != nil }
    }

    @Test(
        "The requests of nearly all clients are plain",
        arguments: [
            "POST /v1/check HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
            "POST /v1/check HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}POST",
            "POST /tables/vLoadMessages HTTP/1.1\r\ncontent-length:2\r\nhost:a\r\n\r\n{}",
            "GET /v1/check?bundle=a%20b&version=1.0+45 HTTP/1.1\r\nHost: a:80\r\nAccept: */*\r\n\r\n",
            "POST /v1/check HTTP/1.1\r\nHost: a\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\n{}",
            "POST /v1/check HTTP/1.1\r\nHost: a\r\nConnection: Close\r\nContent-Length: 2\r\n\r\n{}",
        ]
    )
    func recognizes(_ request: String) { #expect(Self.isPlain(request)) }

    @Test(
        "A request that ends elsewhere, asks for more, or is in any doubt is not plain",
        arguments: [
            "POST /v1/check HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{",
            "POST /v1/check HTTP/1.1\r\nHost: a\r\n\r\n", "POST /v1/check HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
            "POST /v1/check HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
            "POST /v1/check HTTP/1.1\r\nHost: a\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
            "POST /v1/check HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}",
            "POST /v1/check HTTP/1.1\r\nHost: a\r\nConnection: close, x\r\nContent-Length: 2\r\n\r\n{}",
            "POST /v1/check HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
            "POST /v1/check HTTP/1.1\r\nHost: a\r\nContent-Length: 2 \n\r\n{}",
            "POST /v1/check HTTP/1.1\r\nHost: a\r\nX-A: b\u{7f}\r\nContent-Length: 2\r\n\r\n{}",
            "POST /v1/check HTTP/1.1\r\nHost: a\r\nX-A: b\r\n c\r\nContent-Length: 2\r\n\r\n{}",
            "GET /v1/check?bundle=a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
            "GET /v1/check?bundle=a HTTP/1.0\r\nHost: a\r\n\r\n", "HEAD /v1/check?bundle=a HTTP/1.1\r\nHost: a\r\n\r\n",
        ]
    )
    func leavesOthersAlone(_ request: String) { #expect(!Self.isPlain(request)) }

    @Test("Plain requests keep within the limits on the request line and the header fields")
    func limits() {
        let request = "GET /v1/check?bundle=a HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n"
        #expect(Self.isPlain(request))
        #expect(!Self.isPlain(request) { $0.requestLineBytes = 20 })
        #expect(!Self.isPlain(request) { $0.headerFields = 1 })
        #expect(!Self.isPlain(request) { $0.headerBytes = 40 })
    }
}
