import TestRandom

/// Makes up what clients, proxies and attackers send: mostly plain requests, and all that is nearly one.
struct RequestGenerator {
    private static let startLines = [
        "POST /v1/check HTTP/1.1", "POST /tables/vLoadMessages HTTP/1.1",
        "GET /v1/check?bundle=doto&version=1.0 HTTP/1.1",
    ]

    private static let otherStartLines = [
        "GET /v1/check?bundle=do%74o&version=1.0%2B45&build=7&x=%zz HTTP/1.1", "GET /v1/check? HTTP/1.1",
        "GET /v1/check?bundle=doto&version=1.0|2 HTTP/1.1", "GET /v1/check?bundle=doto#version=1.0 HTTP/1.1",
        "GET /v1/check?bundle=dot\u{e9} HTTP/1.1", "GET /v1/check?bundle=\"doto\" HTTP/1.1",
        "GET /v1/check HTTP/1.1", "HEAD /v1/check?bundle=doto HTTP/1.1", "POST /v1/check HTTP/1.0",
        "POST /v1/check HTTP/2.0", "POST  /v1/check HTTP/1.1", "POST /v1/check?a=b HTTP/1.1", "post /v1/check HTTP/1.1",
        "POST http://x/v1/check HTTP/1.1", "PUT /v1/check HTTP/1.1", "POST /v1/checks HTTP/1.1", "",
    ]

    private static let fields = [
        "Content-Type: application/json", "Accept: */*", "User-Agent: Doto/1.0 (iPhone; iOS 17.1)",
        "Accept-Language: de-DE,de;q=0.9", "Connection: keep-alive", "connection:Keep-Alive",
        "X-Forwarded-For: 192.0.2.7",
        "If-None-Match: \"a\"", "If-None-Match: *", "Cookie: a=b; c=\"d\"", "X-Empty:", "X-Blank:   ", "X-Padded:  a  ",
        "TE: trailers", "Trailer: x", "Keep-Alive: timeout=5", "traceparent: 00-0af7651916cd43dd-b7ad6b7169203331-01",
    ]

    private static let otherFields = [
        "Connection: close", "connection: Close", "Connection: close ", "Connection: keep-alive, close",
        "Connection: upgrade", "Connection:", "Upgrade: h2c", "Proxy-Connection: close", "Proxy-Connection: keep-alive",
        "Expect: 100-continue", "expect: 100-Continue", "Expect: 200-ok", "Transfer-Encoding: chunked",
        "Transfer-Encoding: gzip, chunked", "transfer-encoding: identity", "Content-Encoding: gzip",
        "Content-Encoding: identity", "Content-Length: 5", "Content-Length: 0", "Content-Length: 00014",
        "Content-Length: +14", "Content-Length: 14,14", "Content-Length: 99999", "Content-Length: 999999",
        "Content-Length : 14", "Host: b", "Host: a b", "Host: [::1]:80", "Host: a ", "Host: a:  ",
        "Content-Length: 14 ", "Host:", "Host: a:65536", "X-Forwarded-For: 192.0.2.8, 10.0.0.1",
        "X-Forwarded-For: nobody", "X-Tab:\ta", "X-A:\ttab\tinside", "X-High: \u{e9}", "X-Control: \u{1}",
        "X-Delete: \u{7f}", " X-Folded: a", "X Blank: a", "X@At: a", ": no name", "no colon", "X-Lone\r: a",
        "X-Bare: a\nX-LF: b",
    ]

    private static let bodies = [
        #"{"bundle":"doto","version":"1.0","platform":"iOS"}"#, #"{"bundle":"doto","version":"1.1"}"#,
        #"{"bundle":"DoTo","version":"1.2","build":7,"os":"17.1","region":"de_DE","language":"de","install":"a","x":true}"#,
        #"{"bundle":"unlisted"}"#, #"{"bundle":"unknown","version":1.10}"#,
        "{\"b\\u0075ndle\":\"d\\u006fto\",\"version\":\"1\\n\"}",
        #"{ "bundle" : "doto" , "a" : [1, {"b": null}] }"#,
    ]

    private static let otherBodies = [
        "", "{", "[]", "{}", "null", #"{"bundle":1}"#, #"{"bundle":"doto","bundle":"doto"}"#, "{\"bundle\":\"\u{1}\"}",
        #"{"version":"1.0"}"#, #"{"bundle":"doto"} "#, #"{"bundle":"doto"}x"#, "{\"bundle\":\"doto\",\"x\":\"\u{e9}\"}",
    ]

    private static let chunkedBodies = [
        "e\r\n{\"bundle\":\"a\"}\r\n0\r\n\r\n", "0e\r\n{\"bundle\":\"a\"}\r\n00\r\nX-A: b\r\n\r\n",
        "5;a=b\r\n{\"bun\r\n9;c=\"d\";e\r\ndle\":\"a\"}\r\n0;f\r\n\r\n", "0\r\n\r\n",
    ]

    private static let mutator = Mutator(words: [
        "\r\n\r\n", "\r\n", ":", " ", "HTTP/1.1", "POST /v1/check HTTP/1.1\r\n", "Content-Length: 5\r\n",
        "Transfer-Encoding: chunked\r\n", "Connection: close\r\n", "0\r\n\r\n",
    ])

    /// The bytes of one to three requests on a connection; of one where it is longer than usual limits.
    static func bytes(_ random: inout SeededGenerator, isLong: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<(isLong ? 1 : random.pick([1, 1, 2, 3])) { bytes += Array(request(&random, isLong: isLong).utf8) }
        if !isLong, random.chance(35) { mutator.mutate(&bytes, &random) }
        return bytes
    }

    private static func request(_ random: inout SeededGenerator, isLong: Bool) -> String {
        let isOdd = random.chance(50)
        let startLine = random.pick(isOdd && random.chance(30) ? otherStartLines : startLines)
        var body = startLine.hasPrefix("POST") ? random.pick(isOdd && random.chance(30) ? otherBodies : bodies) : ""
        var lines = ["Host: \(random.pick(["a", "checks.example.com", "a:8080", "[2001:db8::1]:443"]))"]
        if random.chance(15) {
            lines.append(
                isOdd && random.chance(30) ? random.pick(SmugglingCorpus.codings) : "Transfer-Encoding: chunked")
            body = random.pick(isOdd && random.chance(40) ? SmugglingCorpus.bodies : chunkedBodies)
        } else if !body.isEmpty || random.chance(20) {
            lines.append("\(random.pick(["Content-Length", "content-length"])): \(body.utf8.count)")
        }
        for _ in 0..<Int.random(in: 0...4, using: &random) { lines.append(random.pick(fields)) }
        if isOdd {
            for _ in 0..<random.pick([0, 1, 1, 2]) { lines.append(random.pick(otherFields)) }
            if random.chance(5) { lines.append(random.pick(SmugglingCorpus.lengths)) }
            if random.chance(10) { lines.removeFirst() }
        }
        if isLong, random.chance(50) { lines += (0..<Int.random(in: 90...110, using: &random)).map { "X-\($0): a" } }
        if isLong, random.chance(50) {
            lines.append("X-Long: " + String(repeating: "a", count: random.pick([4_000, 16_300, 17_000])))
        }
        lines.shuffle(using: &random)
        return ([startLine] + lines + ["", ""]).joined(separator: "\r\n") + body
    }
}
