// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import HTTPTypes
import Hummingbird
import NIOCore
import PolicyPages

/// Serves the pages for people at every path that is not one of ``ManagementRoute``.
struct PagesMiddleware: RouterMiddleware {
    let pages: PolicyPages
    let access: PageAccess

    func handle(
        _ request: Request,
        context: ManagementContext,
        next: @concurrent (Request, ManagementContext) async throws -> Response
    ) async throws -> Response {
        let parts = request.uri.path.split(separator: "/")
        if parts.count == 1, ManagementRoute(rawValue: String(parts[0])) != nil {
            return try await next(request, context)
        }
        let isPage = parts.isEmpty || PolicyPages.folders.contains(String(parts[0]))
        if let refusal = access.refusal(authorization: request.headers[.authorization], from: context.client) {
            // What is no page stays what it is without pages.
            guard isPage else { return try await next(request, context) }
            return Self.response(refusal)
        }
        guard !Self.isCrossSite(request) else {
            return Self.text(
                .forbidden,
                "Another site asked for this page from within a browser, which is refused. Open it yourself, or by a link.\n"
            )
        }
        guard request.method == .get || request.method == .head else {
            guard isPage else { return try await next(request, context) }
            return Self.text(
                .methodNotAllowed,
                "Pages are read with GET or HEAD; nothing on them edits.\n",
                [.allow: "GET, HEAD"]
            )
        }
        guard request.head.path.map(\.utf8.count) ?? 0 <= PageRequest.maximumLength else {
            return Self.text(.uriTooLong, "The address has more than \(PageRequest.maximumLength) bytes.\n")
        }
        let page = await pages.respond(
            to: PageRequest(
                path: request.uri.path,
                query: request.uri.query ?? "",
                knownTag: request.headers[.ifNoneMatch]
            )
        )
        return Self.response(page)
    }

    /// Whether another site asked, and not a person who followed a link or typed an address.
    ///
    /// Browsers say so (Fetch Metadata); what is no browser says nothing.
    static func isCrossSite(_ request: Request) -> Bool {
        guard let site = request.headers[.secFetchSite], site != "same-origin", site != "none" else { return false }
        return !(request.headers[.secFetchMode] == "navigate" && request.headers[.secFetchDest] == "document")
    }

    private static func response(_ page: PageResponse) -> Response {
        var headers = HTTPFields()
        for (name, value) in PageResponse.commonFields + page.fields {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        headers[.contentType] = page.contentType
        return Response(
            status: HTTPResponse.Status(code: page.status),
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: page.body))
        )
    }

    private static func response(_ refusal: PageAccess.Refusal) -> Response {
        switch refusal {
        case .unauthorized:
            text(
                .unauthorized,
                "The pages ask for the password of --pages-password-file. The name does not count.\n",
                [.wwwAuthenticate: "Basic realm=\"versiongate pages\", charset=\"UTF-8\""]
            )
        case .tooManyAttempts(let seconds):
            text(
                .tooManyRequests,
                "This address gave too many wrong passwords; the next one is looked at in \(seconds) s.\n",
                [.retryAfter: "\(seconds)"]
            )
        case .withoutPassword:
            text(
                .forbidden,
                """
                This listener can be reached from other machines, so it serves the pages with a password alone: put one \
                into a file and start the server with --pages-password-file FILE (VERSIONGATE_PAGES_PASSWORD_FILE), or \
                let it listen on 127.0.0.1.

                """
            )
        }
    }

    private static func text(
        _ status: HTTPResponse.Status,
        _ text: String,
        _ fields: HTTPFields = [:]
    ) -> Response {
        let page = PageResponse(status: status.code, text: text)
        var response = response(page)
        for field in fields { response.headers[field.name] = field.value }
        return response
    }
}

extension HTTPField.Name {
    fileprivate static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
    fileprivate static let secFetchMode = HTTPField.Name("Sec-Fetch-Mode")!
    fileprivate static let secFetchDest = HTTPField.Name("Sec-Fetch-Dest")!
}
