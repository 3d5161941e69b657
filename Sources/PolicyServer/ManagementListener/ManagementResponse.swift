// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// A JSON document of the management listener with its status.
struct ManagementResponse<Body: Encodable & Sendable>: ResponseGenerator {
    let status: HTTPResponse.Status
    let body: Body

    func response(from request: Request, context: some RequestContext) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let document = try encoder.encode(body)
        return Response(
            status: status,
            headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: document))
        )
    }
}
