// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import UpdatePolicy

/// A check that is sent to a running server.
struct RemoteCheck {
    let server: String
    let members: [NamedValue]

    /// How long the server may take.
    private static let limit = TimeAmount.seconds(10)

    /// Refuses what is not the address of a server.
    static func requireAddress(_ server: String) throws {
        let scheme = server.lowercased()
        guard scheme.hasPrefix("http://") || scheme.hasPrefix("https://") else {
            let host = server.firstRange(of: "://").map { server[$0.upperBound...] } ?? server[...]
            throw ValidationError(
                "--server is \"\(server)\"; write the whole address, with http:// or https://: http://\(host)"
            )
        }
    }

    /// Sends the check.
    ///
    /// - Returns: The body of the response, as it came.
    /// - Throws: An error that says what the server answered or why it could not be reached.
    func answer() async throws -> String {
        let address = server.hasSuffix("/") ? "\(server)v1/check" : "\(server)/v1/check"
        var request = HTTPClientRequest(url: address)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(string: body))
        let response: HTTPClientResponse
        let answer: String
        do {
            response = try await Progress.showing("Asking the server") {
                try await HTTPClient.shared.execute(request, timeout: Self.limit)
            }
            answer = String(buffer: try await response.body.collect(upTo: 16 << 20))
        } catch {
            throw CommandError("the server at \(server) cannot be asked: \(reason("\(error)"))")
        }
        if response.status == .notFound {
            throw CommandError(
                "the server at \(server) answered 404 Not Found, so it answers no checks; give the address of the public "
                    + "listener (--port of `versiongate serve`, by default 8080), not that of the management listener"
            )
        }
        guard response.status == .ok else {
            throw CommandError("the server answered \(response.status.code) \(response.status.reasonPhrase): \(answer)")
        }
        return answer
    }

    /// Why a request failed and what to do about it, from the description of its error: libraries have no better.
    private func reason(_ error: String) -> String {
        let cure = "check the address, and that `versiongate serve` runs there"
        if error.contains("Connection refused") { return "nothing listens there; \(cure)" }
        if error.contains("WRONG_VERSION_NUMBER") {
            return "it does not speak TLS; write http:\(server.drop { $0 != ":" }.dropFirst())"
        }
        if error.contains("CERTIFICATE_VERIFY_FAILED") { return "its certificate is not trusted on this machine" }
        if error.contains("SSL") || error.contains("handshake") { return "TLS cannot be agreed on; \(cure)" }
        if error.contains("dnsA") || error.contains("not known") || error.contains("UnknownHost") {
            return "no such host is known; \(cure)"
        }
        if error.contains("imeout") || error.contains("deadlineExceeded") {
            return "it does not answer within \(Self.limit.nanoseconds / 1_000_000_000) seconds; \(cure)"
        }
        if error.contains("remoteConnectionClosed") {
            guard server.lowercased().hasPrefix("http:") else {
                return "it closed the connection without an answer; \(cure)"
            }
            return "it closed the connection without an answer, as a listener with TLS does; if it is one, write "
                + "https:\(server.drop { $0 != ":" }.dropFirst()), else \(cure)"
        }
        return "\(error); \(cure)"
    }

    private var body: String {
        let list = members.map { "\(JSONText.string($0.name)):\(JSONText.string($0.value))" }
        return "{\(list.joined(separator: ","))}"
    }
}
