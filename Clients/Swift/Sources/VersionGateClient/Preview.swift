import Foundation

extension VersionGate {
    /// A gate that gives these messages and asks no server, to try them inside the app. It keeps nothing.
    ///
    /// Throws a ``ConfigurationError`` if it is no answer, or one of its messages cannot be read.
    ///
    /// - Parameter answer: What `/v1/check` answers: `{"messages":[...]}`.
    public static func preview(_ answer: String) throws -> VersionGate {
        let response = GateResponse(status: 200, body: Data(answer.utf8))
        let hint = #"give {"messages":[{"id":"news","title":"News","text":"Text"}]}, as /v1/check answers"#
        let read: Answer
        do {
            read = try Answer(response)
        } catch {
            throw ConfigurationError(
                description: "the preview is no answer: \(error.errorDescription ?? "unreadable"); \(hint)"
            )
        }
        if let unreadable = read.firstUnreadable {
            throw ConfigurationError(description: "message \(unreadable) of the preview cannot be read; \(hint)")
        }
        guard let server = URL(string: "https://preview.invalid") else { preconditionFailure("it is an address") }
        // Neither the answer nor the storage can be late, however busy the device is.
        return try VersionGate(
            server: server, app: AppDescription(bundle: "preview"), attributes: [:], maximumAge: 7,
            storage: MemoryStorage(), transport: PreviewTransport(response: response), clock: { Date() },
            observer: { _ in }, alarm: { _, _ in }
        )
    }
}

/// Answers without a server.
private struct PreviewTransport: GateTransport {
    let response: GateResponse

    func response(to request: GateRequest) -> GateResponse { response }
}
