// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import NIOHTTP1
import UpdatePolicy

/// A request to the public listener whose head was accepted, with as much of its body as has arrived.
struct PublicRequest {
    /// What decides how the connection goes on after the response.
    let framing: RequestFraming
    /// The answers that the client has already; nil where no cache may keep the answer.
    let knownAnswers: IfNoneMatch?
    private let route: PublicRoute
    private var body: ByteBuffer?

    /// Accepts a head.
    ///
    /// - Throws: 404, 405, 413 or 415.
    init(_ head: HTTPRequestHead, framing: RequestFraming) throws(RequestFault) {
        self.framing = framing
        route = try PublicRoute(method: head.method, target: head.uri)
        if let encoding = framing.contentEncoding {
            throw RequestFault(
                .unsupportedMediaType,
                "The body has the content encoding \"\(RequestFault.excerpt(encoding[...]))\"; send it unencoded.",
                header: ("Accept-Encoding", "identity")
            )
        }
        knownAnswers = route.isCacheable ? IfNoneMatch(head.headers["if-none-match"]) : nil
        if let length = framing.declaredLength, length > CheckBodyDecoder.maximumBodySize {
            throw Self.contentTooLarge("has \(length) bytes")
        }
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

    /// What metrics call the route.
    var kind: RequestKind.Route {
        if case .checkBody(.legacy) = route { .legacyCheck } else { .check }
    }

    /// The names that the answer uses.
    var shape: AnswerShape {
        if case .checkBody(let shape) = route { shape } else { .standard }
    }

    private static func contentTooLarge(_ fault: String) -> RequestFault {
        RequestFault(.payloadTooLarge, "The body \(fault); at most \(CheckBodyDecoder.maximumBodySize) bytes are read.")
    }
}
