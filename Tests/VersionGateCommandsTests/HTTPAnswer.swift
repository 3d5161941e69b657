import NIOCore
import NIOHTTP1
import NIOSSL
import TestSystem
import Testing

@testable import VersionGateCommands

/// The answer of a server to one request, over a connection of its own.
struct HTTPAnswer {
    let status: Int
    let headers: HTTPHeaders
    let body: String

    /// Asks.
    ///
    /// - Parameters:
    ///   - url: Scheme, host and port, and path and query as they are to be sent.
    ///   - certificate: The file of the certificate to trust; nil: those that the machine trusts.
    init(
        _ url: String,
        method: HTTPMethod = .GET,
        _ fields: HTTPHeaders = [:],
        body sent: String = "",
        trusting certificate: String? = nil
    ) async throws {
        let host = try #require(url.firstRange(of: "://")).upperBound
        let path = url[host...].firstIndex(of: "/") ?? url.endIndex
        var address = try #require(HTTPExchange.Address(String(url[..<path])))
        address.path = String(url[path...])
        var exchange = HTTPExchange(
            address: address, method: method, headers: fields, body: sent, limit: TimeAmount(Patience.limit)
        )
        if let certificate { exchange.tls.trustRoots = .file(certificate) }
        let answer = try await exchange.answer()
        status = Int(answer.head.status.code)
        headers = answer.head.headers
        body = answer.body.map { String(buffer: $0) } ?? ""
    }
}
