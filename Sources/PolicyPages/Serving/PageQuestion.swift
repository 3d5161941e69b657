import Foundation
package import HTTPTypes
package import Hummingbird

/// What a page is asked by: the parts of its path that have a name, and the members of its query.
struct PageQuestion {
    private let parameters: Parameters
    let members: [String: String]

    init(_ request: Request, _ parameters: Parameters) throws {
        self.parameters = parameters
        do {
            members = try URLEncodedFormDecoder().decode([String: String].self, from: request.uri.query ?? "")
        } catch {
            throw PageProblem(400, "This address cannot be read", "\(error)")
        }
    }

    /// A part of the path; one that cannot be decoded is nobody's.
    func part(_ name: String) -> String { parameters.get(name)?.removingPercentEncoding ?? "\u{FFFD}" }

    /// A member of the query that says something.
    func value(_ name: String) -> String? { members[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The length of time that charts cover.
    func period() throws -> PagePeriod { try PagePeriod(days: members["days"]) }
}

/// The length of time that charts cover.
struct PagePeriod {
    let days: Int

    private static let all = [1, 7, 30, 90, 365]

    /// - Parameter text: Its days; nil: as usual.
    init(days text: String? = nil) throws(PageProblem) {
        guard let days = text.map({ Int($0) }) ?? 30, Self.all.contains(days) else {
            let choices = Self.all.map(String.init).joined(separator: ", ")
            throw PageProblem(
                400, "This length of time is not shown", "days is \"\(text ?? "")\"; it may be \(choices)."
            )
        }
        self.days = days
    }

    /// The lengths that there are, as addresses of a page.
    func choices(_ path: String) -> [Link] {
        Self.all.map { days in
            Link(
                days == 1 ? "1 day" : days == 365 ? "1 year" : "\(days) days", "\(path)?days=\(days)",
                isCurrent: days == self.days
            )
        }
    }
}

/// Why there is no page.
struct PageProblem: Error {
    let status: Int
    let title: String
    let text: String

    init(_ status: Int, _ title: String, _ text: String) {
        self.status = status
        self.title = title
        self.text = text
    }
}

extension Response {
    /// What every answer of the pages has.
    ///
    /// A page loads what this listener serves and nothing else, is shown in no frame, and tells nobody its address.
    private static let commonFields: HTTPFields = [
        .contentSecurityPolicy:
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
            + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        HTTPField.Name("Referrer-Policy")!: "no-referrer", .xContentTypeOptions: "nosniff",
        HTTPField.Name("Cross-Origin-Resource-Policy")!: "same-origin",
        HTTPField.Name("Cross-Origin-Opener-Policy")!: "same-origin", .cacheControl: "no-store",
    ]

    /// A page, or a part of one.
    static func page(
        _ status: HTTPResponse.Status,
        _ contentType: String,
        _ text: String,
        _ fields: HTTPFields = [:]
    ) -> Response {
        var headers = commonFields
        headers[.contentType] = "\(contentType); charset=utf-8"
        for field in fields { headers[field.name] = field.value }
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// A line of text for whoever gets no page.
    package static func text(_ status: HTTPResponse.Status, _ text: String, _ fields: HTTPFields = [:]) -> Response {
        page(status, "text/plain", text, fields)
    }
}

extension StringProtocol {
    var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
