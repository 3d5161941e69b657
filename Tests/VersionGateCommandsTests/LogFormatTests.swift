import Logging
import PolicyServer
import Synchronization
import Testing
import UpdatePolicy

@testable import VersionGateCommands

@Suite("Log format")
struct LogFormatTests {
    private static let time = Timestamp(microsecondsSince1970: 1_800_000_000_123_456)

    @Test("Log messages are a line each: the time, the level, the message, and its facts by name")
    func areLines() {
        let facts = ["b": "plain/2", "a": "two words", "c": "", "d": "say \"x=1\" \\ \n\u{1B}[2J", "e": "a=b"]
        let text = LogFormat.text.line(.warning, "It\nbroke", facts, at: Self.time)
        #expect(
            text == #"""
                \#(Self.time) warning It\nbroke a="two words" b=plain/2 c="" d="say \"x=1\" \\ \n\u{1b}[2J" e="a=b"
                """#
        )
        let json = LogFormat.json.line(.error, "It\nbroke", ["a": "/\"\n"], at: Self.time)
        #expect(json == #"{"level":"error","message":"It\nbroke","metadata":{"a":"/\"\n"},"time":"\#(Self.time)"}"#)
    }

    @Test("Log messages have the facts of their logger, their own and their error")
    func haveFacts() {
        let lines = Lines()
        var logger = Logger(label: "test") { _ in
            LineLogHandler(.text) { line in lines.all.withLock { $0.append(line) } }
        }
        logger[metadataKey: "a"] = "1"
        logger[metadataKey: "b"] = "1"
        logger.notice("Message", metadata: ["b": "2", "c": ["x", "y"]])
        logger.info("Not logged")
        logger.warning("Message", error: CommandError("it failed"))
        let all = lines.all.withLock { $0 }
        #expect(all.count == 2)
        #expect(all.first?.hasSuffix(#" notice Message a=1 b=2 c="[\"x\", \"y\"]""#) == true, "\(all)")
        #expect(all.last?.hasSuffix(#" warning Message a=1 b=1 error="it failed""#) == true, "\(all)")
    }

    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }
}
