import Glibc
import Synchronization

/// Whether the server is shutting down, which `/ready` shows to load balancers before any connection ends, and where it is
/// asked.
final class ServingState: Sendable {
    private let ending = Atomic(false)
    private let port = Atomic(0)

    /// The port of the public listener; nil before it is open.
    var publicPort: Int? {
        let number = port.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }

    /// What this machine calls itself, with the port of the public listener: `gate-1:8080`.
    static func name(_ state: ServingState?) -> String { host + (state?.publicPort.map { ":\($0)" } ?? "") }

    private static let host: String = {
        var name = utsname()
        uname(&name)
        return withUnsafeBytes(of: name.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }()

    /// Notes the port of the public listener.
    func publicListenerIsOpen(on number: Int?) {
        port.store(number ?? 0, ordering: .relaxed)
    }

    /// Whether the server is shutting down.
    var isShuttingDown: Bool { ending.load(ordering: .relaxed) }

    /// Notes that the server shuts down.
    func beginShutdown() {
        ending.store(true, ordering: .relaxed)
    }
}
