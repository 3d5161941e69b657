// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

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

    /// Creates a response.
    public init(status: Int, body: Data) {
        self.status = status
        self.body = body
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
        var isTooLarge = false
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

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLarge = state.withLock { state in
            state.isTooLarge = state.isTooLarge || state.body.count + data.count > GateResponse.maximumSize
            if !state.isTooLarge { state.body.append(data) }
            return state.isTooLarge
        }
        if isTooLarge { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (waiting, body, isTooLarge) = state.withLock { state in
            defer { state.waiting = nil }
            return (state.waiting, state.body, state.isTooLarge)
        }
        guard error == nil, !isTooLarge, let response = task.response as? HTTPURLResponse else {
            waiting?.resume(throwing: error ?? URLError(.badServerResponse))
            return
        }
        waiting?.resume(returning: GateResponse(status: response.statusCode, body: body))
    }
}
