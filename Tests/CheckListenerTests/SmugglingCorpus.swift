/// The tricks of request smuggling that were published: bytes that some servers and proxies read as other requests than others.
///
/// Facts, and no bytes, are from these; each trick is written anew for the paths of this server.
///
/// - [RFC 9112](https://www.rfc-editor.org/rfc/rfc9112), 2.2, 3, 5, 6, 7.1 and 11.2
/// - Linhart, Klein, Heled, Orrin: HTTP Request Smuggling (Watchfire, 2005)
/// - Kettle: [HTTP Desync Attacks](https://portswigger.net/research/http-desync-attacks-request-smuggling-reborn) (2019),
///   [Browser-Powered Desync Attacks](https://portswigger.net/research/browser-powered-desync-attacks) (2022),
///   [HTTP/1.1 Must Die](https://portswigger.net/research/http1-must-die) (2025)
/// - Klein: HTTP Request Smuggling in 2020 (Black Hat USA 2020)
/// - Grenfeldt, Olofsson, Engström, Lagerström: Attacking Websites Using HTTP Request Smuggling (EDOC 2021)
/// - Jabiyev, Sprecher, Onarlioglu, Kirda: T-Reqs (CCS 2021)
/// - Kallus, Anantharaman, Locasto, Smith: [The HTTP Garden](https://github.com/narfindustries/http-garden) (2024)
/// - Weikop: [Funky chunks](https://w4ke.info/2025/06/18/funky-chunks.html) (2025)
/// - [Http11Probe](https://mda2av.github.io/Http11Probe/docs/smuggling/), the category of smuggling
/// - [llhttp's tests](https://github.com/nodejs/llhttp/tree/main/test/request)
enum SmugglingCorpus {
    /// One trick, with the request that it smuggles.
    struct Trick: CustomStringConvertible {
        let bytes: [UInt8]
        /// Whether nothing of it is taken; else it is what all must read in one way, and is.
        let isRefused: Bool

        var description: String { String(decoding: bytes, as: UTF8.self).debugDescription }
    }

    /// What is smuggled.
    static let smuggled = "GET /v1/check?bundle=smuggled HTTP/1.1\r\nHost: a\r\n\r\n"

    private static let body = #"{"bundle":"a"}"#
    private static let post = "POST /v1/check HTTP/1.1\r\nHost: a\r\n"
    private static let chunk = "e\r\n" + body + "\r\n"

    /// Lines that say how long the body is, or seem to.
    static let lengths =
        [
            "+14", "-14", "-0", "0x0e", "0e", "1_4", "14,14", "14, 14", "14 14", "14;", "14.0", "1e1", "14\u{0B}",
            "14\u{0C}", "\u{0B}14", "\"14\"", "", " ", "14\t", "14 ", "\u{A0}14", "１４", "9223372036854775808",
            "18446744073709551616", "18446744073709551630", "4294967310", "99999999999999999999999",
        ].map { "Content-Length: \($0)" } + [
            "Content-Length : 14", "Content-Length\t: 14", "Content-Length\u{0B}: 14", "Content-Length\u{00}: 14",
            "\u{00}Content-Length: 14", " Content-Length: 14", "\tContent-Length: 14", "Content\u{0}-Length: 14",
            "Content-Length:\r\n 14", "Content-Length: 1\r\n 4", "Content-Length: 14\r\n ", "Content-Length\r\n: 14",
            "Content-Length:\n14", "Content-Length: 14\n", "Content-Length: 14\r", "Content Length: 14",
            "Content-Length: 14\r\nContent-Length: 14", "Content-Length: 14\r\ncontent-length: 0",
            "Content-Length: 0\r\nContent-Length: 14", "Content-Length: 14\r\nContent-Length : 0",
        ]

    /// Lines that say that the body is chunked, or seem to.
    static let codings =
        [
            "xchunked", "chunkedx", "chunked, identity", "identity, chunked", "identity", "chunked, chunked",
            "gzip, chunked", "chunked, gzip", "chunked;q=1", "chunked;", ",chunked", "chunked,", ", chunked",
            "'chunked'", "\"chunked\"", "[chunked]", "\u{0B}chunked", "\u{0C}chunked", "chunked\u{0B}",
            "chunked\u{00}", "\u{00}chunked", "chunked ", "chunked\t", "chunk", "chunked chunked", "chunked\u{A0}",
            "", " ", "c\u{212A}unked", "ch\u{FF}unked", "chunKed\r", "\nchunked", "chunked\n", "\rchunked",
            "x\r\nchunked", "x\nTransfer-Encoding: chunked", "none", "cow", "0", "chu\u{0}nked",
        ].map { "Transfer-Encoding: \($0)" } + [
            "Transfer-Encoding : chunked", "Transfer-Encoding\t: chunked", " Transfer-Encoding: chunked",
            "\tTransfer-Encoding: chunked", "Transfer-Encoding\u{00}: chunked", "Transfer-Encoding\u{0B}: chunked",
            "Transfer-Encoding:\r\n chunked", "Transfer-Encoding:\n chunked", "Transfer-Encoding\r\n: chunked",
            "Transfer-Encoding\n: chunked", "Transfer Encoding: chunked", "Transfer\\-Encoding: chunked",
            "X: y\nTransfer-Encoding: chunked", "X: y\rTransfer-Encoding: chunked", "\rTransfer-Encoding: chunked",
            "\nTransfer-Encoding: chunked", "\"Transfer-Encoding\": chunked", "Transfer-Encoding chunked",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
            "Transfer-Encoding: x\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nTransfer-Encoding:",
            "Transfer-Encoding:\r\nTransfer-Encoding: chunked",
        ]

    /// Chunked bodies of which readers disagree where they end.
    static let bodies: [String] =
        [
            "0xe", "0Xe", "+e", "-e", " e", "\te", "e ", "e\t", "e\u{0B}", "\u{0B}e", "e\u{0}", "_e", "0_e", "e_0",
            "", "g", "1000000000000000e", "10000000e\u{0}", "e,e", "e e", "e.", "e\r", "0e;", "e;", "e; ", "e;;",
            "e;a=", "e;=b", "e;a==b", "e;a=\"b", "e;a=b\"", "e;a=\"b\"c", "e;a=\"\\\"\"", "e;a=\"\n\"",
            "e;a=\"\r\n\"", "e;\n", "e;a\n", "e;a\nb", "e;a\rb", "e;\u{0}a", "e;a=\u{7F}", "e;a b", "e;a=\u{E9}",
            "e ;a", "e\n", "e\r\r", "e\n\r", "e#a", "e/a",
        ].map { "\($0)\r\n\(body)\r\n0\r\n\r\n" } + [
            "e\n\(body)\r\n0\r\n\r\n", "e\r\(body)\r\n0\r\n\r\n", "e\r\n\(body)\n0\r\n\r\n",
            "e\r\n\(body)\r0\r\n\r\n", "e\r\n\(body)0\r\n\r\n", "e\r\n\(body)xx0\r\n\r\n",
            "e\r\n\(body)\n\r0\r\n\r\n", "d\r\n\(body)\r\n0\r\n\r\n", "f\r\n\(body)\r\n0\r\n\r\n",
            "e\r\n\(body)\r\n0\n\r\n", "e\r\n\(body)\r\n0\r\n\n", "e\r\n\(body)\r\n0\n\n", "e\r\n\(body)\r\n0\r\r\n",
            "e\r\n\(body)\r\n0\r\n\r", "e\r\n\(body)\r\n0x0\r\n\r\n", "e\r\n\(body)\r\n-0\r\n\r\n",
            "e\r\n\(body)\r\n0;\n\r\n", "e\r\n\(body)\r\n0\r\n \r\n\r\n", "e\r\n\(body)\r\n0\r\nX\r\n\r\n",
            "e\r\n\(body)\r\n0\r\nX : y\r\n\r\n", "e\r\n\(body)\r\n0\r\n X: y\r\n\r\n",
            "e\r\n\(body)\r\n0\r\nX: y\n\r\n", "e\r\n\(body)\r\n0\r\nContent-Length: 5\r\n\r\n",
            "e\r\n\(body)\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n", "e\r\n\(body)\r\n0\r\nHost: b\r\n\r\n",
            "e\r\n\(body)\r\n0\r\nConnection: close\r\n\r\n",
        ]

    /// Heads of which readers disagree what they ask, of whom, or where they end.
    static let heads: [String] =
        [
            "\u{0}\r\nHost: a", " : \r\nHost: a", "Host: a\r\nHost: b", "Host: a\r\nhost: a", "Host : a", "Host: a b",
            "Host: a/b", "Host: b@a", "Host: a, b", "Host: a:80:81", " Host: a", "Host: a\r\n b", "X\r\nHost: a",
            "Host: a\r\nX: \u{0}", "Host: a\r\nX: a\rb", "Host: a\r\nX: a\nb: c", "Host: a\r\n@: a",
        ].map { "GET /v1/check?bundle=a HTTP/1.1\r\n\($0)\r\n\r\n" }
        + [
            "GET  /v1/check?bundle=a HTTP/1.1", "GET\t/v1/check?bundle=a HTTP/1.1",
            "GET /v1/check?bundle=a\tHTTP/1.1", "GET /v1/check?bundle=a  HTTP/1.1",
            "GET /v1/check?bundle=a HTTP/1.1 ", "GET\u{0B}/v1/check?bundle=a\u{0C}HTTP/1.1", "GET /v1/check?bundle=a",
            "GET /v1/check?bundle=a HTTP/1.10", "GET /v1/check?bundle=a HTTP/01.1", "GET /v1/check?bundle=a HTTP/1.2",
            "GET /v1/check?bundle=a HTTP/2.0", "GET /v1/check?bundle=a HTTP/0.9", "GET /v1/check?bundle=a http/1.1",
            "GET /v1/check?bundle=a RTSP/1.0", "get /v1/check?bundle=a HTTP/1.1", "GETX /v1/check?bundle=a HTTP/1.1",
            "GET /v1/check?bundle=a b HTTP/1.1", "GET /v1/check?bundle=\u{E9} HTTP/1.1",
            "GET /v1/check?bundle=\u{0} HTTP/1.1", "GET v1/check?bundle=a HTTP/1.1", "GET ?bundle=a HTTP/1.1",
            "GET @b/v1/check HTTP/1.1", "GET http://b@c/v1/check HTTP/1.1", "GET http:///v1/check HTTP/1.1",
            "GET http:/v1/check HTTP/1.1", "GET *x HTTP/1.1", "CONNECT /v1/check HTTP/1.1",
        ].map { "\($0)\r\nHost: a\r\n\r\n" } + [
            "GET /v1/check?bundle=a HTTP/1.1\nHost: a\r\n\r\n", "GET /v1/check?bundle=a HTTP/1.1\rHost: a\r\n\r\n",
            "GET /v1/check?bundle=a HTTP/1.1\r\nHost: a\n\n", "GET /v1/check?bundle=a HTTP/1.1\r\nHost: a\r\n\n",
            "GET /v1/check?bundle=a HTTP/1.1\r\nHost: a\r\n\r", "GET /v1/check?bundle=a HTTP/1.1\r\nHost: a\r\r\n",
            "GET /v1/check?bundle=a HTTP/1.1\r\n\r\n",
            "POST /v1/check HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        ]

    /// What everybody must read in one way, and a reader might still refuse, or read in another.
    private static let read = [
        // A GET and a HEAD with a body, and a POST without one, are what CL.0 and 0.CL need.
        "GET /v1/check?bundle=a HTTP/1.1\r\nHost: a\r\nContent-Length: \(smuggled.utf8.count)\r\n\r\n" + smuggled,
        "HEAD /v1/check?bundle=a HTTP/1.1\r\nHost: a\r\nContent-Length: \(smuggled.utf8.count)\r\n\r\n" + smuggled,
        "GET /v1/check?bundle=a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + "0\r\n\r\n",
        post + "\r\n", post + "Content-Length: 0\r\n\r\n", post + "Content-Length: 0000\r\n\r\n",
        post + "Content-Length: 014\r\n\r\n" + body, post + "content-length:14\r\n\r\n" + body,
        post + "Content-Length:\t 14\r\n\r\n" + body, post + "TRANSFER-ENCODING: CHUNKED\r\n\r\n" + chunk + "0\r\n\r\n",
        post + "Transfer-Encoding:chunked\r\n\r\n" + chunk + "00000\r\n\r\n",
        post + "Transfer-Encoding: chunked\r\n\r\n00E;a=b;c=\"d;\"\r\n" + body + "\r\n0;a\r\nX: y\r\n\r\n",
        post + "Content_Length: 5\r\nContent-Length: 14\r\n\r\n" + body,
        post + "Transfer_Encoding: chunked\r\nContent-Length: 14\r\n\r\n" + body,
        post + "Expect: 100-continue\r\nContent-Length: 14\r\n\r\n" + body,
        post + "Expect: y 100-continue\r\nContent-Length: 14\r\n\r\n" + body,
        post + "Expect:\r\nContent-Length: 14\r\n\r\n" + body,
        "\r\n\r\n" + post + "Content-Length: 14\r\n\r\n" + body,
        "GET http://b/v1/check?bundle=a HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /v1/check?bundle=a HTTP/1.1\r\nHost:\r\n\r\n",
    ]

    /// All of them.
    static let tricks: [Trick] = {
        var refused = heads.map { $0 + smuggled }
        // A proxy that reads a length, or none, before one that reads chunks, and the other way round.
        let both = [
            "Content-Length: 14\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 14",
        ]
        for lines in lengths + codings + both {
            refused.append(post + lines + "\r\n\r\n" + body + smuggled)
        }
        for coding in codings {
            refused.append(post + coding + "\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + smuggled)
            refused.append(post + "Content-Length: 5\r\n" + coding + "\r\n\r\n0\r\n\r\n" + smuggled)
        }
        for chunks in bodies { refused.append(post + "Transfer-Encoding: chunked\r\n\r\n" + chunks + smuggled) }
        return refused.map { Trick(bytes: latin($0), isRefused: true) }
            + read.map { Trick(bytes: latin($0 + smuggled), isRefused: false) }
    }()

    /// A byte for each character up to U+00FF, UTF-8 for the others.
    static func latin(_ text: String) -> [UInt8] {
        text.unicodeScalars.flatMap { $0.value < 0x100 ? [UInt8($0.value)] : Array(String($0).utf8) }
    }
}
