public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A question to the server: a POST with this body, whose `Content-Type` is `application/json`.
public struct GateRequest: Sendable {
    /// Where to send it.
    public let url: URL
    /// A JSON object.
    public let body: Data
}

/// What the server answers.
public struct GateResponse: Sendable {
    /// The status of HTTP.
    public var status: Int
    /// The body.
    public var body: Data
    /// The header `Date`, by which the end of a lockout is judged; nil if there is none.
    public var date: String?
    /// The headers by their names in lower case, several of one name joined by a comma. Those that sign a lockout are read
    /// if there are public keys.
    public var headers: [String: String]

    /// Creates a response.
    public init(status: Int, body: Data, date: String? = nil, headers: [String: String] = [:]) {
        self.status = status
        self.body = body
        self.date = date
        self.headers = headers
    }

    /// The greatest size of a body that is read: 1 MiB.
    static let maximumSize = 1 << 20
}

/// Carries a question to the server, and the answer back.
///
/// It follows no redirects. When the time of a check is up, its task is cancelled and no longer waited for.
public protocol GateTransport: Sendable {
    /// The response to a question. Whatever it throws, the check has failed.
    func response(to request: GateRequest) async throws -> GateResponse
}

/// Carries questions by `URLSession`: without redirects, cookies, caches, and stored credentials.
public struct URLSessionTransport: GateTransport {
    private let timeLimit: TimeInterval

    /// Creates a transport.
    public init() {
        self.init(timeLimit: 2)
    }

    /// Creates a transport whose own bound is so many seconds.
    package init(timeLimit: TimeInterval) {
        self.timeLimit = timeLimit
    }

    /// The response to a question. Throws if there is none within 2 seconds, or if its body has more than 1 MiB.
    public func response(to request: GateRequest) async throws -> GateResponse {
        var question = URLRequest(url: request.url)
        question.httpMethod = "POST"
        question.httpBody = request.body
        question.httpShouldHandleCookies = false
        question.setValue("application/json", forHTTPHeaderField: "Content-Type")
        // What a small body becomes has no bound, and the system does not stop at 1 MiB.
        question.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        // Without these, the system adds the name of the app, its own version, and the languages of the person.
        question.setValue("VersionGateClient", forHTTPHeaderField: "User-Agent")
        question.setValue("*", forHTTPHeaderField: "Accept-Language")
        let exchange = Exchange()
        let session = URLSession(configuration: configuration, delegate: exchange, delegateQueue: nil)
        // The session holds its delegate until then.
        defer { session.invalidateAndCancel() }
        return try await exchange.response(to: session.dataTask(with: question))
    }

    private var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.timeoutIntervalForRequest = timeLimit
        configuration.timeoutIntervalForResource = timeLimit
        return configuration
    }
}

/// One question and its answer.
private final class Exchange: NSObject, URLSessionDataDelegate {
    private struct State {
        var waiting: CheckedContinuation<GateResponse, any Error>?
        var body = Data()
        var fault: CheckFault?
    }

    private let state = Locked(State())

    func response(to task: URLSessionDataTask) async throws -> GateResponse {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { $0.waiting = continuation }
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // There is no name and no password to give. The system judges certificates.
        let method = challenge.protectionSpace.authenticationMethod
        let isForPassword = [
            NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodDefault,
        ].contains(method)
        completionHandler(isForPassword ? .cancelAuthenticationChallenge : .performDefaultHandling, nil)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let encoding = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Encoding") ?? "identity"
        if encoding.lowercased() == "identity" { return completionHandler(.allow) }
        state.withLock { state in
            state.fault = CheckFault("the answer has the Content-Encoding \(encoding), which was not asked for")
        }
        completionHandler(.cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let hasFailed = state.withLock { state in
            if state.body.count + data.count > GateResponse.maximumSize { state.fault = .tooLong }
            if state.fault == nil { state.body.append(data) }
            return state.fault != nil
        }
        if hasFailed { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (waiting, body, fault) = state.withLock { state in
            defer { state.waiting = nil }
            return (state.waiting, state.body, state.fault)
        }
        guard error == nil, fault == nil, let response = task.response as? HTTPURLResponse else {
            waiting?.resume(throwing: fault ?? error ?? URLError(.badServerResponse))
            return
        }
        let date = response.value(forHTTPHeaderField: "Date")
        var headers: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
            if let name = name as? String, let value = value as? String { headers[name.lowercased()] = value }
        }
        let answer = GateResponse(status: response.statusCode, body: body, date: date, headers: headers)
        waiting?.resume(returning: answer)
    }
}
