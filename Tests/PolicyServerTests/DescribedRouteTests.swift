import Foundation
import Hummingbird
import PolicyPages
import TestSystem
import Testing
import UpdateFeeds
import Yams

@testable import CheckListener
@testable import PolicyServer

/// The paths of the OpenAPI documents and those that the code knows.
@Suite("Described routes")
struct DescribedRouteTests {
    /// The methods of each path of a listener, in lower case.
    private static func described(management: Bool) throws -> [String: Set<String>] {
        var paths: [String: [String: Any]] = [:]
        for name in ["openapi.yaml", "openapi-server.yaml"] {
            let text = try String(contentsOf: RepositoryFile.url("Documentation/\(name)"), encoding: .utf8)
            let document = try #require(try Yams.load(yaml: text) as? [String: Any])
            let described = try #require(document["paths"] as? [String: [String: Any]])
            paths.merge(described) { first, _ in
                Issue.record("both documents have a path")
                return first
            }
        }
        let methods = Set(["delete", "get", "head", "options", "patch", "post", "put", "trace"])
        return paths.filter { ($0.value["servers"] != nil) == management }.mapValues { item in
            methods.intersection(item.keys)
        }
    }

    @Test("The described routes of the public listener are those that it knows, each with the methods that it has")
    func describesPublicListener() throws {
        let described = try Self.described(management: false)
        let formats = FeedFormat.allCases.filter(\.isBelowApp).map { "/v1/feeds/{bundle}/\($0.rawValue)" }
        let fixed = RequestKind.Route.allCases.filter { $0 != .feed && $0 != .other }.map(\.rawValue)
        // The code has no list of the paths whose last part may be anything.
        let known = Set(fixed).union(formats).union(["/v1/feeds/{bundle}/{name}", "/{country}/lookup"])
        #expect(Set(described.keys) == known)
        for (path, methods) in described {
            let target = path.replacing("{bundle}", with: "com.example.doto").replacing("{country}", with: "jp")
                .replacing("{name}", with: "version.json")
            for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"] {
                let route = CheckListener.Request.Route(method, RequestTarget(target)) { _ in [] }
                let isRefused = if case .refused = route { true } else { false }
                let isDescribed = methods.contains(method == "HEAD" ? "get" : method.lowercased())
                #expect(isRefused != isDescribed, "\(method) \(path)")
            }
        }
    }

    @Test("The described routes of the management listener are those that it has beside the pages")
    func describesManagementListener() throws {
        let described = try Self.described(management: true)
        #expect(Set(described.values) == [["get"]])
        let state = ServerState.test()
        let pages = PolicyPages(
            facts: { ServerFacts() }, database: state.database, clock: state.clock, logger: state.logger
        )
        let listener = ManagementRouter(
            state: state, metrics: ServerMetrics(state: state), pages: pages, hosts: HostCheck(names: []),
            access: PageAccess(password: nil, host: "127.0.0.1")
        )
        let alone = Router(context: ManagementContext.self)
        pages.addRoutes(to: alone.group())
        func paths(_ router: Router<ManagementContext>) -> Set<String> { Set(router.routes.map { "\($0.path)" }) }
        #expect(Set(described.keys) == paths(listener.router).subtracting(paths(alone)))
    }
}
