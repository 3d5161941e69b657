import NIOCore
import NIOEmbedded
import UpdatePolicy

@testable import CheckListener

/// The readers, in the order of script/fuzz.
@MainActor
enum FuzzedReaders {
    static let all: [any FuzzedReader] = [
        BodyReader(), QueryReader(), RequestReader(), RangeReader(), PolicyFileReader(), StoredPolicyReader(),
    ]
}

/// A policy with conditions of each kind on the members of a check, so that all of them are looked at.
enum FuzzedPolicy {
    static let bundle = "com.example.doto"
    static let time = Timestamp(microsecondsSince1970: 1_772_366_400_000_000)

    static func compiled() throws -> CompiledPolicy {
        var rules = (0..<12).map { number in
            Rule(key: "language\(number)", title: "A", text: "a") {
                $0.bundle = bundle
                $0.languages = ["x\(number)"]
            }
        }
        rules += [
            Rule(key: "update", title: "Please update", text: "{app} 1.2 is there.") {
                $0.bundle = bundle
                $0.versions = "<1.2"
            },
            Rule(key: "build", title: "A", text: "a") {
                $0.bundle = bundle
                $0.builds = "40 - 42"
                $0.os = "<17"
            },
            Rule(key: "region", title: "A", text: "a") {
                $0.bundle = bundle
                $0.platforms = ["ios"]
                $0.regions = ["JP", "US"]
            },
            Rule(key: "channel", title: "A", text: "a") {
                $0.bundle = bundle
                $0.attributes = [AttributeCondition(name: "channel", values: ["beta"])]
                $0.rollout = Percentage(hundredths: 5_000) ?? .all
                $0.texts = [RuleText(language: "de", title: "B", text: "b")]
            },
            Rule(key: "all", title: "A", text: "a"),
        ]
        return try CompiledPolicy(
            Policy(
                revision: 7, token: "token",
                apps: [
                    App(bundle: bundle, name: "Doto") {
                        $0.paused = false
                        $0.storeLinks = []
                    }
                ],
                releases: [], rules: rules
            )
        )
    }
}

/// The JSON body of a check.
struct BodyReader: FuzzedReader {
    let name = "body"
    let usualInput = Array(
        #"{"version":"1.1.0","build":"42","platform":"iOS","region":"en_US","bundle":"com.example.doto","platformname":"iphoneos"}"#
            .utf8
    )
    private let policy = try? FuzzedPolicy.compiled()

    func read(_ input: [UInt8]) throws {
        var client = Client()
        let body = Array(input.prefix(CheckBodyDecoder.maximumBodySize))
        do {
            try body.withUnsafeBytes { try CheckBodyDecoder.read($0, into: &client) }
        } catch let fault as RequestFault {
            guard fault.status == .badRequest, (1...500).contains(fault.detail.utf8.count) else {
                throw ReaderFault(message: "\(fault.status): \(fault.detail)")
            }
            return
        }
        _ = policy?.answer(to: client, at: FuzzedPolicy.time)
    }
}

/// The query of a check.
struct QueryReader: FuzzedReader {
    let name = "query"
    let usualInput = Array(
        "bundle=com.example.doto&version=1.1%2B45&build=42&platform=ios&region=ja_JP&os=17.1&channel=beta".utf8
    )
    private let policy = try? FuzzedPolicy.compiled()

    func read(_ input: [UInt8]) throws {
        var client = Client()
        do {
            try input.withUnsafeBytes { try CheckQueryDecoder.read($0, into: &client) }
        } catch let fault as RequestFault {
            guard [.badRequest, .uriTooLong].contains(fault.status), (1...500).contains(fault.detail.utf8.count) else {
                throw ReaderFault(message: "\(fault.status): \(fault.detail)")
            }
            return
        }
        _ = policy?.answer(to: client, at: FuzzedPolicy.time)
    }
}

/// All bytes of a connection to the public listener, from its first to its last.
@MainActor
final class RequestReader: FuzzedReader {
    let name = "request"
    let usualInput = Array(
        """
        POST /v1/check HTTP/1.1\r
        Host: example.com\r
        Content-Type: application/json\r
        Content-Length: 120\r
        \r
        {"version":"1.1.0","build":"42","platform":"iOS","region":"en_US","bundle":"com.example.doto","platformname":"iphoneos"}
        """.utf8
    )

    private static let statuses: Set<Substring> = [
        "100", "200", "204", "304", "400", "404", "405", "408", "413", "414", "415", "429", "431",
    ]

    private let eventLoop = EmbeddedEventLoop()
    private let policy = CurrentPolicy()
    private let limits = ConnectionLimits()
    private lazy var context = EventLoopContext(
        eventLoop: eventLoop,
        sources: AnswerSources(
            policy: policy,
            documents: FeedDocuments(
                later: LaterAnswers(timeout: limits.documentTimeout, clock: { FuzzedPolicy.time }, run: { $0() })
            ), origins: try? AllowedOrigins(parsing: "capacitor://localhost,null"), clock: { FuzzedPolicy.time }
        ), recorder: nil, limits: limits, statistics: EventLoopStatistics()
    )
    private let limitedClient: LimitedClient?

    init() {
        // The peer is a proxy, so that its X-Forwarded-For is read; nobody is refused.
        let limiter = try? RateLimiter(
            RateLimit(parsing: "1000000:1000000"),
            proxies: TrustedProxies(parsing: "10.0.0.0/8, 2001:db8::/32")
        )
        limitedClient = IPAddress("10.0.0.1").flatMap { peer in
            limiter.map { LimitedClient(peer: peer, limiter: $0) }
        }
    }

    func read(_ input: [UInt8]) throws {
        if policy.value == nil {
            policy.replace(with: try FuzzedPolicy.compiled())
        }
        let handler = ConnectionHandler(loop: context, limitedClient: limitedClient, isEncrypted: false)
        let channel = EmbeddedChannel(handler: handler, loop: eventLoop)
        try channel.connect(to: SocketAddress(ipAddress: "10.0.0.1", port: 80)).wait()
        for start in stride(from: 0, to: input.count, by: 16_384) where channel.isActive {
            try channel.writeInbound(ByteBuffer(bytes: input[start..<min(start + 16_384, input.count)]))
        }
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        eventLoop.run()
        while let response = try channel.readOutbound(as: ByteBuffer.self) {
            let status = response.getString(at: response.readerIndex + 9, length: 3) ?? ""
            guard Self.statuses.contains(status[...]) else {
                throw ReaderFault(message: "answered with \(String(buffer: response))")
            }
        }
        _ = try channel.finish(acceptAlreadyClosed: true)
    }
}
