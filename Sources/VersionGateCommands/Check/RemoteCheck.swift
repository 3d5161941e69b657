// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import UpdatePolicy

/// A check that is sent to a running server.
struct RemoteCheck {
    let server: String
    let members: [NamedValue]

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
                try await HTTPClient.shared.execute(request, timeout: .seconds(10))
            }
            answer = String(buffer: try await response.body.collect(upTo: 16 << 20))
        } catch {
            throw CommandError(
                "the server at \(server) cannot be asked (\(error)); check the address, and that `versiongate serve` runs there"
            )
        }
        guard response.status == .ok else {
            throw CommandError("the server answered \(response.status.code) \(response.status.reasonPhrase): \(answer)")
        }
        return answer
    }

    private var body: String {
        let list = members.map { "\(JSONText.string($0.name)):\(JSONText.string($0.value))" }
        return "{\(list.joined(separator: ","))}"
    }
}
