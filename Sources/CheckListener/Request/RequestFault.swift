import UpdatePolicy

/// Why a request is refused: the status of the response, and a sentence that names the fault and where it is.
///
/// It is a reference: a connection has room for several, and every reader of requests may throw one.
final class RequestFault: Error {
    /// The status of the answer.
    let status: Status
    /// What is wrong, where, and what to do; becomes the `detail` of the problem document.
    let detail: String
    /// A header that goes with the status (`Allow`, `Accept-Encoding`).
    let header: (name: String, value: String)?
    /// What is sent in place of a problem document, to clients that crash at one.
    let document: (contentType: String, bytes: [UInt8])?

    init(
        _ status: Status,
        _ detail: String,
        header: (name: String, value: String)? = nil,
        document: (contentType: String, bytes: [UInt8])? = nil
    ) {
        (self.status, self.detail, self.header, self.document) = (status, detail, header, document)
    }

    static func badRequest(_ detail: String) -> RequestFault {
        RequestFault(.badRequest, detail)
    }

    /// A path that leads nowhere.
    static var notFound: RequestFault {
        RequestFault(.notFound, "There is nothing at this path; checks go to /v1/check.")
    }

    /// A part of a request that did not come in its time.
    static func tookTooLong(_ part: String) -> RequestFault {
        RequestFault(.requestTimeout, "The \(part) of the request took too long.")
    }

    /// What a fault repeats of a request: its first 100 bytes, and "..." for the rest.
    static func excerpt(_ text: Substring) -> String {
        let utf8 = text.utf8
        guard var end = utf8.index(utf8.startIndex, offsetBy: 100, limitedBy: utf8.endIndex), end < utf8.endIndex else {
            return String(text)
        }
        // Cut before a character rather than within it.
        while end > utf8.startIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return text[..<end] + "..."
    }

    /// The problem document of this fault.
    ///
    /// Format: [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457).
    var problemDocument: String {
        let (title, detail) = (JSONString.literal(status.reason), JSONString.literal(detail))
        return #"{"type":"about:blank","title":\#(title),"status":\#(status.code),"detail":\#(detail)}"#
    }
}
