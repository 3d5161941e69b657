import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PolicyPages

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
            status: status, headers: [.contentType: contentType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
        )
    }

    /// The answer to whoever may not see the pages.
    static func refusal(_ refusal: PageAccess.Refusal) -> Response {
        switch refusal {
        case .unauthorized:
            text(
                .unauthorized, "The pages ask for the password of --pages-password-file. The name does not count.\n",
                [.wwwAuthenticate: "Basic realm=\"versiongate pages\", charset=\"UTF-8\""]
            )
        case .tooManyAttempts(let seconds):
            text(
                .tooManyRequests,
                "This address gave too many wrong passwords; the next one is looked at in \(seconds) s.\n",
                [.retryAfter: "\(seconds)"]
            )
        case .withoutPassword:
            text(
                .forbidden,
                """
                This listener can be reached from other machines, so it serves the pages with a password alone: put one \
                into a file and start the server with --pages-password-file FILE (VERSIONGATE_PAGES_PASSWORD_FILE), or \
                let it listen on 127.0.0.1.

                """
            )
        }
    }
}
