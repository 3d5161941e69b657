// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import NIOHTTP1
import UpdatePolicy

/// A request to the public listener whose head was accepted, with as much of its body as has arrived.
struct PublicRequest {
    /// What decides how the connection goes on after the response.
    struct Framing {
        /// Whether the response has no body.
        let isHead: Bool
        /// Whether the client speaks HTTP/1.1.
        let isHTTP11: Bool
        /// Whether the client wants to keep the connection.
        let isKeepAlive: Bool
        /// The length that the request says its body has: nil when the body is chunked, 0 when there is none.
        let declaredLength: Int?

        /// Whether a body follows the head.
        var hasBody: Bool { declaredLength != 0 }

        init(_ head: HTTPRequestHead) {
            isHead = head.method == .HEAD
            isHTTP11 = head.version == .http1_1
            isKeepAlive = head.isKeepAlive
            declaredLength =
                head.headers.contains(name: "transfer-encoding")
                ? nil : head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
        }
    }

    let framing: Framing
    /// Whether the client waits for `100 Continue` before it sends the body.
    let expectsContinue: Bool
    /// The answers that the client has already; nil where no cache may keep the answer.
    let knownAnswers: IfNoneMatch?
    private let route: PublicRoute
    private var body: ByteBuffer?

    /// Accepts a head.
    ///
    /// - Throws: 404, 405, 413 or 415.
    init(_ head: HTTPRequestHead) throws(RequestFault) {
        framing = Framing(head)
        route = try PublicRoute(method: head.method, target: head.uri)
        knownAnswers = route.isCacheable ? IfNoneMatch(head.headers["if-none-match"]) : nil
        try Self.checkEncoding(of: head)
        if let length = framing.declaredLength, length > CheckBodyDecoder.maximumBodySize {
            throw Self.contentTooLarge("has \(length) bytes")
        }
        expectsContinue = framing.hasBody && head.headers.first(name: "expect")?.lowercased() == "100-continue"
    }

    /// Takes the next piece of the body.
    ///
    /// - Throws: 413.
    mutating func append(_ bytes: ByteBuffer) throws(RequestFault) {
        var bytes = bytes
        if body?.writeBuffer(&bytes) == nil {
            body = bytes
        }
        if let body, body.readableBytes > CheckBodyDecoder.maximumBodySize {
            throw Self.contentTooLarge("is too large")
        }
    }

    /// Reads the client that the whole request describes.
    ///
    /// - Throws: 400 or 414.
    borrowing func read(into client: inout Client) throws(RequestFault) {
        switch route {
        case .checkBody: try CheckBodyDecoder.read(body ?? ByteBuffer(), into: &client)
        case .checkQuery(let query): try CheckQueryDecoder.read(query, into: &client)
        }
    }

    /// The names that the answer uses.
    var shape: AnswerShape {
        if case .checkBody(let shape) = route { shape } else { .standard }
    }

    private static func checkEncoding(of head: HTTPRequestHead) throws(RequestFault) {
        let encodings = head.headers[canonicalForm: "content-encoding"]
        guard encodings.allSatisfy({ $0.lowercased() == "identity" }) else {
            throw RequestFault(
                .unsupportedMediaType,
                "The body has the content encoding \"\(encodings.joined(separator: ", "))\"; send it unencoded.",
                header: ("Accept-Encoding", "identity")
            )
        }
    }

    private static func contentTooLarge(_ fault: String) -> RequestFault {
        RequestFault(.payloadTooLarge, "The body \(fault); at most \(CheckBodyDecoder.maximumBodySize) bytes are read.")
    }
}
