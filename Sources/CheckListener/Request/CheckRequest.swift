// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import NIOHTTP1
import UpdatePolicy

/// A request whose head was accepted, with the part of its body that has arrived.
struct CheckRequest {
    /// The framing of the request, which decides whether the connection stays open.
    let framing: RequestFraming
    /// The answers that the client has already; nil where the answer may not be cached.
    let knownAnswers: IfNoneMatch?
    private let route: CheckRoute
    private var body: ByteBuffer?

    /// Accepts a head.
    ///
    /// - Throws: 404, 405, 413 or 415.
    init(_ head: HTTPRequestHead, framing: RequestFraming) throws(RequestFault) {
        self.framing = framing
        route = try CheckRoute(method: head.method, target: head.uri)
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
        case .checkQuery(let query): try CheckQueryDecoder.read(String(query), into: &client)
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

/// The route of a request, with its input.
enum CheckRoute {
    /// A check whose client is the JSON body.
    case checkBody(AnswerShape)
    /// A check whose client is the query.
    case checkQuery(Substring)

    /// The paths that are served.
    private enum Path: String {
        case check = "/v1/check"
        case legacyCheck = "/tables/vLoadMessages"
    }

    /// The route of a request target.
    ///
    /// - Throws: 404 for a path that is not served, 405 for a method that the path does not know.
    init(method: HTTPMethod, target: String) throws(RequestFault) {
        let (path, query) = Path(rawValue: target).map { ($0, "") } ?? Self.split(target)
        switch (path, method) {
        case (.check, .POST): self = .checkBody(.standard)
        case (.check, .GET), (.check, .HEAD): self = .checkQuery(query)
        case (.check, _): throw Self.methodNotAllowed(method, allowed: "GET, HEAD, POST")
        case (.legacyCheck, .POST): self = .checkBody(.legacy)
        case (.legacyCheck, _): throw Self.methodNotAllowed(method, allowed: "POST")
        case (nil, _): throw RequestFault(.notFound, "There is nothing at this path; checks go to /v1/check.")
        }
    }

    /// Whether caches may keep the answer and ask whether it still holds.
    var isCacheable: Bool {
        if case .checkQuery = self { true } else { false }
    }

    private static func methodNotAllowed(_ method: HTTPMethod, allowed: String) -> RequestFault {
        RequestFault(
            .methodNotAllowed,
            "The method \(method.rawValue) is not served at this path; use \(allowed).",
            header: ("Allow", allowed)
        )
    }

    /// Splits a request target in origin form or absolute form
    /// ([RFC 9112, 3.2](https://www.rfc-editor.org/rfc/rfc9112#section-3.2)).
    private static func split(_ target: String) -> (path: Path?, query: Substring) {
        var rest = target[...]
        if !target.utf8.starts(with: "/".utf8), let authority = startOfAuthority(target) {
            let afterScheme = target[authority...]
            rest =
                afterScheme.utf8.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
                .map { afterScheme[$0...] } ?? ""
        }
        guard let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) else {
            return (Path(rawValue: String(rest)), "")
        }
        return (Path(rawValue: String(rest[..<mark])), rest[rest.utf8.index(after: mark)...])
    }

    /// Where the authority of a target in absolute form begins; nil in a target of another form.
    private static func startOfAuthority(_ target: String) -> String.Index? {
        guard let colon = target.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let afterColon = target.utf8[target.utf8.index(after: colon)...]
        return afterColon.starts(with: "//".utf8) ? afterColon.index(afterColon.startIndex, offsetBy: 2) : nil
    }
}
