import CheckListener
import HTTPTypes
import Hummingbird
import NIOCore
import PolicyPages
import UpdatePolicy

/// What the management listener has at a path.
enum ManagementRoute {
    case document(Document)
    case page(PageRoute)

    /// A document for programs, by its path.
    enum Document: String, CaseIterable {
        case live
        case ready
        case policy
        case metrics
        case openAPI = "openapi.yaml"
        case openAPIServer = "openapi-server.yaml"
    }

    /// Nil where there is nothing.
    init?(path: String) {
        let parts = path.split(separator: "/")
        if parts.count == 1, let document = Document(rawValue: String(parts[0])) {
            self = .document(document)
        } else if let page = PageRoute(path: path) {
            self = .page(page)
        } else {
            return nil
        }
    }
}

/// A request of the management listener, with who sent it.
struct ManagementContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The address of the client or of its proxy; nil when the connection has ended.
    let client: IPAddress?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        client = IPAddress(source.channel.remoteAddress)
    }
}

/// Answers the requests of the management listener.
struct ManagementResponder: HTTPResponder {
    let hosts: HostCheck
    let policy: LivePolicy
    /// The certificate of the public listener; nil: it has none.
    let tls: ReloadedCertificate?
    /// The key that signs lockouts; nil: none does.
    let lockoutKey: ReloadedLockoutKey?
    let state: ServingState
    let counting: CheckCounting?
    let metrics: ServerMetrics
    let pages: PolicyPages
    /// Who may see the pages.
    let access: PageAccess
    let clock: @Sendable () -> Timestamp

    /// The descriptions of both listeners in OpenAPI, the only files that this module embeds, by name.
    private static let descriptions = Dictionary(uniqueKeysWithValues: embeddedFiles.map { ($0.name, $0.text) })

    func respond(to request: Request, context: ManagementContext) async throws -> Response {
        let response = try await answer(request, context)
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(_ request: Request, _ context: ManagementContext) async throws -> Response {
        let host = request.head.authority ?? ""
        guard hosts.isAllowed(host) else {
            var response = try Response.document(HostCheck.Problem(host: host), status: .misdirectedRequest)
            response.headers[.contentType] = "application/problem+json"
            return response
        }
        let isReading = request.method == .get || request.method == .head
        let page: PageRoute?
        switch ManagementRoute(path: request.uri.path) {
        case .document(let document):
            guard isReading else { return Response(status: .methodNotAllowed, headers: [.allow: "GET, HEAD"]) }
            return try await respond(document, request)
        case .page(let route): page = route
        case nil: page = nil
        }
        let refusal = access.refusal(authorization: request.headers[.authorization], from: context.client)
        // Without pages, what is none is not there.
        if page == nil, refusal != nil || !isReading { return Response(status: .notFound) }
        if let refusal { return .refusal(refusal) }
        guard !Self.isCrossSite(request) else {
            return .text(
                .forbidden,
                "Another site asked for this page from within a browser, which is refused. "
                    + "Open it yourself, or by a link.\n"
            )
        }
        guard isReading else {
            return .text(
                .methodNotAllowed, "Pages are read with GET or HEAD; nothing on them edits.\n", [.allow: "GET, HEAD"]
            )
        }
        guard request.head.path.map(\.utf8.count) ?? 0 <= PageRequest.maximumLength else {
            return .text(.uriTooLong, "The address has more than \(PageRequest.maximumLength) bytes.\n")
        }
        let query = request.uri.query ?? ""
        let knownTag = request.headers[.ifNoneMatch]
        return .page(await pages.respond(to: PageRequest(page ?? .nothing, query: query, knownTag: knownTag)))
    }

    private func respond(_ document: ManagementRoute.Document, _ request: Request) async throws -> Response {
        switch document {
        case .live:
            return try .document(LiveDocument())
        case .ready:
            let ready = ReadyDocument(policy: policy, tls: tls, lockoutKey: lockoutKey, state: state, now: clock())
            return try .document(ready, status: ready.ready ? .ok : .serviceUnavailable)
        case .policy:
            return try .document(LoadedPolicyDocument(policy.current, counting?.status))
        case .metrics:
            let format = MetricsText.Format(accept: request.headers[.accept])
            return .document(metrics.document(format), contentType: format.mediaType)
        case .openAPI, .openAPIServer:
            return .document(Self.descriptions[document.rawValue]!, contentType: "application/yaml")
        }
    }

    /// Whether another site asked, and not a person who followed a link or typed an address.
    ///
    /// Browsers say so (Fetch Metadata); what is no browser says nothing.
    private static func isCrossSite(_ request: Request) -> Bool {
        guard let site = request.headers[.secFetchSite], site != "same-origin", site != "none" else { return false }
        return !(request.headers[.secFetchMode] == "navigate" && request.headers[.secFetchDest] == "document")
    }
}

extension HTTPField.Name {
    fileprivate static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
    fileprivate static let secFetchMode = HTTPField.Name("Sec-Fetch-Mode")!
    fileprivate static let secFetchDest = HTTPField.Name("Sec-Fetch-Dest")!
}
