// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

extension Response {
    /// A JSON document of the management listener.
    static func document(_ body: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return document(try encoder.encode(body), contentType: "application/json", status: status)
    }

    /// A text of the management listener.
    static func document(_ text: String, contentType: String) -> Response {
        document(text.utf8, contentType: contentType, status: .ok)
    }

    private static func document(
        _ bytes: some Sequence<UInt8>,
        contentType: String,
        status: HTTPResponse.Status
    ) -> Response {
        Response(
            status: status,
            headers: [.contentType: contentType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
        )
    }
}
