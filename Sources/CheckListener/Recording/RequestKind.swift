/// The labels of a request in metrics.
package struct RequestKind: Hashable, Sendable {
    /// The route that was asked for; paths that are not served are one.
    package enum Route: String, Sendable, CaseIterable {
        case check = "/v1/check"
        case legacyCheck = "/tables/vLoadMessages"
        case feed = "/v1/feeds"
        case lookup = "/lookup"
        case gate = "/v1/gate"
        case releases = "/v1/releases"
        case other = "other"
    }

    /// The method; those that no route knows are one.
    package enum Method: String, Sendable, CaseIterable {
        case get = "GET"
        case head = "HEAD"
        case post = "POST"
        case options = "OPTIONS"
        case other = "_OTHER"
    }

    package let route: Route
    package let method: Method
    package let status: UInt16

    /// The most frequent kind, which is not looked for.
    static let answeredCheck = RequestKind(route: .check, method: .post, status: 200)
}
