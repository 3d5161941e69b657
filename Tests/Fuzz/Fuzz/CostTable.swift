// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation

/// What requests cost that were made to be costly, beside a usual one of the same size.
@MainActor
enum CostTable {
    /// Prints the table.
    ///
    /// - Returns: Whether none costs more than it may.
    static func print() throws -> Bool {
        let reader = RequestReader()
        let allowance = CostAllowance(usualInput: reader.usualInput) { try? reader.read(reader.usualInput) }
        var isGood = true
        Swift.print("    bytes        us   times  request")
        for (name, request) in [("a usual one", reader.usualInput)] + requests {
            try reader.read(request)
            let nanoseconds = CostAllowance.least(of: 25) { try? reader.read(request) }
            let times = allowance.times(nanoseconds, for: request.count)
            if times > CostAllowance.maximumTimes { isGood = false }
            Swift.print(
                String(format: "%9d %9.1f %7.1f  ", request.count, Double(nanoseconds) / 1_000, times) + name
                    + (times > CostAllowance.maximumTimes ? "  TOO MUCH" : "")
            )
        }
        return isGood
    }

    private static func post(_ body: String) -> [UInt8] {
        Array("POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
    }

    private static func get(_ query: String, _ fields: String = "") -> [UInt8] {
        Array("GET /v1/check?bundle=com.example.doto\(query) HTTP/1.1\r\nHost: x\r\n\(fields)\r\n".utf8)
    }

    private static func member(_ name: String, _ value: String) -> [UInt8] {
        post("{\"bundle\":\"com.example.doto\",\"platform\":\"ios\",\"\(name)\":\"\(value)\"}")
    }

    private static func many(_ count: Int, _ text: String) -> String { String(repeating: text, count: count) }

    private static func numbered(_ count: Int, _ text: (Int) -> String) -> String {
        (0..<count).map(text).joined()
    }

    private static let requests: [(String, [UInt8])] = {
        var requests: [(String, [UInt8])] = []
        for name in ["bundle", "version", "build", "platform", "region", "os", "language", "install", "other"] {
            for (what, text) in [("-", "-"), ("a-", "a-"), ("1.", "1."), ("A", "A"), ("blanks", " ")] {
                let value = many(16_200 / text.utf8.count, text)
                requests.append(
                    (
                        "\(name) of 16 KB of \(what)",
                        name == "bundle" ? post("{\"bundle\":\"\(value)\"}") : member(name, value)
                    )
                )
            }
        }
        requests += [
            ("query with a language of 8 KB of -", get("&language=" + many(8_000, "-"))),
            ("body in chunks of 1 byte", chunkedBody),
            ("1,700 tags", get("", "If-None-Match: " + numbered(1_700) { "\"\($0)\"," } + "\r\n")),
            ("tags of blanks", get("", "If-None-Match: " + many(15_000, " ") + "\r\n")),
            ("tags of quotes", get("", "If-None-Match: " + many(15_000, "\"") + "\r\n")),
            ("1,500 trusted proxies", get("", "X-Forwarded-For: " + many(1_500, "10.0.0.1, ") + "\r\n")),
            ("X-Forwarded-For of commas", get("", "X-Forwarded-For: " + many(15_000, ",") + "\r\n")),
            ("X-Forwarded-For of blanks", get("", "X-Forwarded-For: a" + many(15_000, " ") + "b\r\n")),
            ("Host of 15 KB", Array("GET / HTTP/1.1\r\nHost: \(many(15_000, "a"))\r\n\r\n".utf8)),
            ("query of quotes and a wrong escape", get("&a=" + many(7_000, "\"") + "%")),
            ("Content-Encoding of 15 KB", get("", "Content-Encoding: " + many(15_000, "\"") + "\r\n")),
            ("query with 1,000 attributes", get(numbered(1_000) { "&a\($0)=b" })),
            ("query of &", get(many(7_000, "&"))),
            ("query of =", get(many(7_000, "="))),
            ("query that is percent-encoded", get("&a=" + many(2_600, "%41"))),
            ("query with two names of 4 KB", get("&\(many(4_000, "n"))=1&\(many(4_000, "n"))=2")),
            ("body with 1,800 attributes", post("{\"bundle\":\"a\"\(numbered(1_500) { ",\"a\($0)\":1" })}")),
            (
                "body with two names of 8 KB",
                post("{\"bundle\":\"a\",\"\(many(8_000, "n"))\":1,\"\(many(8_000, "n"))\":2}")
            ),
            ("body of escapes", member("other", many(2_700, "\\u0041"))),
            ("body of surrogate pairs", member("other", many(1_350, "\\ud83d\\ude00"))),
            ("body of arrays", post("{\"bundle\":\"a\",\"b\":[" + many(5_000, "[],") + "[]]}")),
            ("body of numbers", post("{\"bundle\":\"a\",\"b\":[" + many(8_000, "1,") + "1]}")),
            ("body of blanks", post("{" + many(16_000, " ") + "\"bundle\":\"a\"}")),
            (
                "target in absolute form",
                Array("GET http://\(many(12_000, "a"))/v1/check?bundle=a HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
            ),
            ("target of colons", Array("GET a\(many(12_000, ":")) HTTP/1.1\r\nHost: x\r\n\r\n".utf8)),
            ("99 fields", get("", numbered(98) { "X-\($0): \(many(140, "a"))\r\n" })),
            (
                "Content-Length that is too large",
                Array("POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n".utf8)
            ),
            ("pipeline of 200", Array(many(200, "GET /v1/check?bundle=a HTTP/1.1\r\nHost: x\r\n\r\n").utf8)),
            ("no HTTP", Array(many(16_000, "x").utf8)),
        ]
        return requests
    }()

    private static let end = "HTTP/1.1\r\nHost: x\r\n\r\n"

    private static let twoNames: [UInt8] = {
        let name = many(8_000, "n")
        return post("{\"bundle\":\"a\",\"\(name)\":1,\"\(name)\":2}")
    }()

    private static let chunkedBody: [UInt8] = {
        let body = "{\"bundle\":\"a\",\"b\":\"" + many(16_000, "a") + "\"}"
        let chunks = body.map { "1\r\n\($0)\r\n" }.joined()
        return Array("POST /v1/check HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)0\r\n\r\n".utf8)
    }()
}
