import CheckListener
import Foundation
import NIOCore
import UpdatePolicy

/// The hosts that the management listener may be asked for.
///
/// A web page can make its own name point to the address of this listener (DNS rebinding), and then read its answers in
/// the browser of somebody who can reach it. The browser sends that name as the Host. So the Host must be an IP address,
/// `localhost`, or a name that the configuration lists; a request without one is from no browser.
struct HostCheck: Sendable {
    /// What a request for another host is answered.
    static func problem(_ host: String) -> JSONValue {
        let detail = """
            the Host "\(host.prefix(255))" is not known to the management listener; ask for an IP address or \
            localhost, or start the server with --management-names (VERSIONGATE_MANAGEMENT_NAMES)
            """
        return ["detail": detail, "status": 421, "title": "Misdirected Request"]
    }

    private let names: Set<String>

    /// - Parameter names: Names that are allowed besides `localhost`.
    init(names: [String]) {
        self.names = Set(names.map { $0.lowercased() } + ["localhost"])
    }

    /// Whether a Host, with or without a port, may be asked for.
    func isAllowed(_ host: String) -> Bool {
        guard !host.isEmpty else { return true }
        if host.first == "[" {
            guard let end = host.firstIndex(of: "]") else { return false }
            return IPAddress(host[host.index(after: host.startIndex)..<end]) != nil
        }
        let name = host.prefix { $0 != ":" }.lowercased()
        return names.contains(name.hasSuffix(".") ? String(name.dropLast()) : name) || IPAddress(name) != nil
    }
}

/// Who may see the pages for people.
struct PageAccess: Sendable {
    enum Refusal: Equatable {
        /// The listener can be reached from elsewhere, and no password is set.
        case withoutPassword
        /// The request has no password, or a wrong one.
        case unauthorized
        /// Its address gave too many wrong passwords; how many seconds are left.
        case tooManyAttempts(seconds: Int64)
    }

    /// The password by its SHA-256, and who gave wrong ones; nil: none is set.
    private let password: (hash: [UInt8], attempts: RateLimiter)?
    private let isLoopback: Bool
    /// How often an address may give a wrong password: ten times at once, and then once in ten seconds.
    private static let wrongPasswords = RateLimit(perSecond: 0.1, burst: 10)

    /// - Parameters:
    ///   - password: Asked for wherever it is set.
    ///   - host: Where the listener listens; without a password the pages are served on loopback alone.
    init(password: String?, host: String) {
        self.password = password.map { (Self.hash($0), RateLimiter(Self.wrongPasswords)) }
        isLoopback = IPAddress(host)?.isLoopback ?? (host.lowercased() == "localhost")
    }

    /// Whether nobody may see the pages, because a password is needed and none is set.
    var isRefused: Bool { password == nil && !isLoopback }

    /// Judges a request by its `Authorization`; the name of the user does not count.
    ///
    /// After too many wrong passwords an address is refused whatever it gives, so a guess that is right is not told from
    /// one that is wrong. A right password costs nothing.
    ///
    /// - Parameter authorization: The field; without one there is no attempt, as when a browser asks for the first time.
    func refusal(authorization: String?, from client: IPAddress?, now: NIODeadline = .now()) -> Refusal? {
        guard let password else { return isRefused ? .withoutPassword : nil }
        guard let authorization, let client else { return .unauthorized }
        // Of equal length whatever was given, so the time to compare them tells nothing.
        let hash = Self.hash(Self.password(authorization) ?? "")
        let difference = zip(password.hash, hash).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
        let isRight = difference == 0
        let wait = password.attempts.wait(client, takesToken: !isRight, now: now)
        if let wait { return .tooManyAttempts(seconds: wait) }
        return isRight ? nil : .unauthorized
    }

    private static func hash(_ text: String) -> [UInt8] {
        SHA256.hash(data: text.utf8).withUnsafeBytes { Array($0) }
    }

    /// The password of HTTP Basic (RFC 7617).
    private static func password(_ authorization: String) -> String? {
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic",
            let data = Data(base64Encoded: String(parts[1])),
            let text = String(validating: data, as: UTF8.self),
            let colon = text.firstIndex(of: ":")
        else { return nil }
        return String(text[text.index(after: colon)...])
    }

    /// Reads the file of a password: its first line.
    ///
    /// - Throws: ``ConfigurationError`` that says what is wrong with the file, to stand behind the names of the setting.
    static func readPassword(_ path: String) throws(ConfigurationError) -> String {
        let text = String(validating: try ConfigurationError.reading(path), as: UTF8.self)
        guard let line = text?.split(whereSeparator: \.isNewline).first, line.utf8.count >= shortestPassword else {
            throw ConfigurationError(
                " is \"\(path)\"; its first line must be a password of at least \(shortestPassword) bytes of UTF-8"
            )
        }
        return String(line)
    }

    private static let shortestPassword = 12
}
