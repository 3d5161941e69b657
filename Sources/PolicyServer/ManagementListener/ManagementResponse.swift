import HTTPTypes
import Hummingbird
import NIOCore
import PolicyPages
import UpdatePolicy

extension Response {
    static func document(_ body: JSONValue, status: HTTPResponse.Status = .ok) -> Response {
        document(body.text, contentType: "application/json", status: status)
    }

    static func document(_ text: String, contentType: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: contentType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }

    /// The answer to whoever may not see the pages.
    static func refusal(_ refusal: PageAccess.Refusal) -> Response {
        switch refusal {
        case .unauthorized:
            text(
                .unauthorized, "The pages ask for the password of --pages-password-file. Any user name will do.\n",
                [.wwwAuthenticate: "Basic realm=\"versiongate pages\", charset=\"UTF-8\""]
            )
        case .tooManyAttempts(let seconds):
            text(
                .tooManyRequests,
                "This address gave too many wrong passwords; the next one can be tried in \(seconds) s.\n",
                [.retryAfter: "\(seconds)"]
            )
        case .withoutPassword:
            text(
                .forbidden,
                """
                This listener can be reached from other machines, so it serves the pages only with a password: put one \
                into a file and start the server with --pages-password-file FILE (VERSIONGATE_PAGES_PASSWORD_FILE), or \
                let it listen on 127.0.0.1.

                """
            )
        }
    }
}
