// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import UpdatePolicy

/// A check that is sent to a running server.
struct CheckRequest {
    let server: String
    let members: [NamedValue]

    /// Sends the check and prints the answer.
    ///
    /// - Throws: an error that says what the server answered or why it could not be reached.
    func run(format: OutputFormat) async throws {
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
        switch format {
        case .json: print(JSONText.visible(answer))
        case .table: print(try MessagesText(answer: answer).text)
        }
    }

    private var body: String {
        let list = members.map { "\(JSONText.string($0.name)):\(JSONText.string($0.value))" }
        return "{\(list.joined(separator: ","))}"
    }
}
