import CheckListener
import HTTPTypes
import Hummingbird
import NIOCore
import PolicyPages
import UpdatePolicy

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
    let state: ServerState
    let metrics: ServerMetrics
    let pages: PolicyPages
    let hosts: HostCheck
    let access: PageAccess

    var router: Router<ManagementContext> {
        let router = Router(context: ManagementContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: ReadingOnly())
        router.add(middleware: hosts)
        router.add(middleware: NotFoundPage(pages: pages, access: access))
        router.get("live") { _, _ in Response.document(["live": true]) }
        router.get("ready") { _, _ in
            Response.document(state.readiness(), status: state.isReady ? .ok : .serviceUnavailable)
        }
        router.get("policy") { _, _ in Response.document(state.loadedPolicy) }
        router.get("metrics") { _, _ in Response.document(metrics.document, contentType: MetricsText.mediaType) }
        // The descriptions of both listeners in OpenAPI, the only files that this module embeds.
        for file in embeddedFiles {
            router.get(RouterPath(file.name)) { _, _ in
                Response.document(file.text, contentType: "application/yaml")
            }
        }
        pages.addRoutes(to: router.group().add(middleware: access).add(middleware: PageRules()))
        return router
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
        return .document(
            Self.problem(host).text, contentType: "application/problem+json", status: .misdirectedRequest
        )
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
