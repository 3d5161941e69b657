import ArgumentParser
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import UpdatePolicy

/// A check that is sent to a running server.
struct RemoteCheck {
    let server: String
    let members: [NamedValue]

    /// The time that the server may take.
    private static let limit = TimeAmount.seconds(10)

    /// Refuses what is not the address of a server.
    static func requireAddress(_ server: String, option: String = "--server") throws {
        let scheme = server.lowercased()
        guard scheme.hasPrefix("http://") || scheme.hasPrefix("https://") else {
            let host = server.firstRange(of: "://").map { server[$0.upperBound...] } ?? server[...]
            throw ValidationError(
                "\(option) is \"\(server)\"; write the whole address, with http:// or https://: http://\(host)"
            )
        }
    }

    /// Sends the check; redirections are not followed.
    ///
    /// - Returns: The body of the response, as it came.
    /// - Throws: An error that says what the server answered or why it could not be reached.
    func answer() async throws -> String {
        let text = server.hasSuffix("/") ? "\(server)v1/check" : "\(server)/v1/check"
        guard let address = HTTPExchange.Address(text) else {
            throw CommandError("--server is \"\(server)\", which is no address; write it as http://localhost:8080")
        }
        let response: HTTPExchange.Response
        do {
            response = try await Progress.showing("Asking the server") {
                try await HTTPExchange(
                    address: address, method: .POST, headers: ["Content-Type": "application/json"], body: body,
                    limit: Self.limit
                ).answer()
            }
        } catch {
            throw CommandError("the server at \(server) cannot be asked: \(reason(error))")
        }
        let answer = String(buffer: response.body)
        if let location = response.location {
            throw CommandError("the server at \(server) sends on to \(location); give the address that it leads to")
        }
        if response.status == .notFound {
            throw CommandError(
                "the server at \(server) answered 404 Not Found, so it answers no checks; give the address of the public "
                    + "listener (--port of `versiongate serve`, by default 8080), not that of the management listener"
            )
        }
        guard response.status == .ok else {
            throw CommandError("the server answered \(response.statusText): \(answer.cut(1_000))")
        }
        if response.headers.first(name: "Policy-Brake") == "on" {
            CommandError(
                "the brake of the server is on, or it holds back a revision, so lockouts are sent as plain messages; its "
                    + "/ready says why, and `versiongate brake off` on its machine takes the brake off"
            ).printAsWarning()
        }
        return answer
    }

    /// Why a request failed and what to do about it.
    private func reason(_ error: any Error) -> String {
        let cure = "check the address, and that `versiongate serve` runs there"
        let isPlain = server.lowercased().hasPrefix("http:")
        let afterScheme = server.drop { $0 != ":" }.dropFirst()
        switch error {
        case let error as NIOConnectionError where error.connectionErrors.isEmpty:
            return "no such host is known; \(cure)"
        case let error as NIOConnectionError:
            let errors = error.connectionErrors
            if errors.contains(where: { ($0.error as? IOError)?.errnoCode == ECONNREFUSED }) {
                return "nothing listens there; \(cure)"
            }
            return errors.contains { $0.error is IOError } ? "\(errors[0].reason); \(cure)" : late(cure)
        case is ChannelError, HTTPExchange.Failure.late: return late(cure)
        case HTTPExchange.Failure.large: return "its answer is too large for one to a check; \(cure)"
        case HTTPExchange.Failure.closed, is HTTPParserError:
            guard isPlain else { return "it closed the connection without an answer; \(cure)" }
            return "it closed the connection without an answer, as a listener with TLS does; if it is one, write "
                + "https:\(afterScheme), else \(cure)"
        case is NIOSSLExtraError: return "its certificate is for another name; \(cure)"
        default: break
        }
        // What is wrong with TLS is in the words of BoringSSL alone.
        let words = "\(error)"
        if words.contains("WRONG_VERSION_NUMBER") { return "it does not speak TLS; write http:\(afterScheme)" }
        if words.contains("CERTIFICATE_VERIFY_FAILED") { return "its certificate is not trusted on this machine" }
        if error is NIOSSLError || error is BoringSSLError { return "TLS cannot be agreed on; \(cure)" }
        return "\(words); \(cure)"
    }

    private func late(_ cure: String) -> String {
        "it does not answer within \(Self.limit.nanoseconds / 1_000_000_000) seconds; \(cure)"
    }

    private var body: String {
        JSONValue.object(members.map { ($0.name, .string($0.value)) }).text
    }
}
