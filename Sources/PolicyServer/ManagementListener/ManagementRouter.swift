import CheckListener
import HTTPTypes
import Hummingbird
import NIOCore
import PolicyPages
import UpdatePolicy

/// A document for programs that the management listener has, by its path.
enum ManagementDocument: String, CaseIterable {
    case live
    case ready
    case policy
    case metrics
    case openAPI = "openapi.yaml"
    case openAPIServer = "openapi-server.yaml"
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

/// What the management listener has.
struct ManagementRouter: Sendable {
    let hosts: HostCheck
    let policy: LivePolicy
    /// The certificate of the public listener; nil: it has none.
    let tls: ReloadedCertificate?
    /// The key that signs lockouts; nil: none does.
    let lockoutKey: ReloadedLockoutKey?
    let counting: CheckCounting?
    let metrics: ServerMetrics
    let pages: PolicyPages
    /// Who may see the pages.
    let access: PageAccess
    let clock: @Sendable () -> Timestamp

    /// The descriptions of both listeners in OpenAPI, the only files that this module embeds, by name.
    private static let descriptions = Dictionary(uniqueKeysWithValues: embeddedFiles.map { ($0.name, $0.text) })

    /// Its routes.
    var router: Router<ManagementContext> {
        let router = Router(context: ManagementContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: ReadingOnly())
        router.add(middleware: hosts)
        router.add(middleware: NotFoundPage(pages: pages, access: access))
        for document in ManagementDocument.allCases {
            router.get(RouterPath(document.rawValue)) { _, _ in try respond(document) }
        }
        pages.addRoutes(to: router.group().add(middleware: access).add(middleware: PageRules()))
        return router
    }

    private func respond(_ document: ManagementDocument) throws -> Response {
        switch document {
        case .live:
            return try .document(LiveDocument())
        case .ready:
            let ready = ReadyDocument(policy: policy, tls: tls, lockoutKey: lockoutKey, now: clock())
            return try .document(ready, status: ready.ready ? .ok : .serviceUnavailable)
        case .policy:
            return try .document(LoadedPolicyDocument(policy.current, counting?.totals))
        case .metrics:
            return .document(metrics.document, contentType: MetricsText.mediaType)
        case .openAPI, .openAPIServer:
            return .document(Self.descriptions[document.rawValue]!, contentType: "application/yaml")
        }
    }
}

/// What answers a request that goes on.
typealias NextResponder = @concurrent (Request, ManagementContext) async throws -> Response

/// Nothing here is edited: GET, and HEAD with the head of GET.
private struct ReadingOnly: RouterMiddleware {
    func handle(_ request: Request, context: ManagementContext, next: NextResponder) async throws -> Response {
        guard request.method == .get || request.method == .head else {
            return Response(status: .methodNotAllowed, headers: [.allow: "GET, HEAD"])
        }
        let response = try await next(request, context)
        return request.method == .head ? response.createHeadResponse() : response
    }
}

extension HostCheck: RouterMiddleware {
    func handle(_ request: Request, context: ManagementContext, next: NextResponder) async throws -> Response {
        let host = request.head.authority ?? ""
        if isAllowed(host) { return try await next(request, context) }
        var response = try Response.document(Problem(host: host), status: .misdirectedRequest)
        response.headers[.contentType] = "application/problem+json"
        return response
    }
}

extension PageAccess: RouterMiddleware {
    func handle(_ request: Request, context: ManagementContext, next: NextResponder) async throws -> Response {
        if let refusal = refusal(authorization: request.headers[.authorization], from: context.client) {
            return .refusal(refusal)
        }
        return try await next(request, context)
    }
}

/// What is at no path is a page for whoever may see pages, and else nothing.
private struct NotFoundPage: RouterMiddleware {
    let pages: PolicyPages
    let access: PageAccess

    func handle(_ request: Request, context: ManagementContext, next: NextResponder) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound {
            let refusal = access.refusal(authorization: request.headers[.authorization], from: context.client)
            return refusal == nil ? await pages.notFound(request) : Response(status: .notFound)
        }
    }
}

/// What holds for every page: it is part of no other site, and its address is short.
private struct PageRules: RouterMiddleware {
    /// The most bytes of path and query.
    private static let longestAddress = 8_192

    func handle(_ request: Request, context: ManagementContext, next: NextResponder) async throws -> Response {
        guard !Self.isCrossSite(request) else {
            return .text(
                .forbidden,
                "Another site asked for this page from within a browser, which is refused. "
                    + "Open it yourself, or by a link.\n"
            )
        }
        guard request.uri.string.utf8.count <= Self.longestAddress else {
            return .text(.uriTooLong, "The address has more than \(Self.longestAddress) bytes.\n")
        }
        return try await next(request, context)
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
