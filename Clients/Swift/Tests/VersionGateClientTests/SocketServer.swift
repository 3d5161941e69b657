import Foundation
import ScenarioSupport
import VersionGateClient

/// A server of scenarios behind sockets, which the transport of the library asks.
///
/// A question that it lets wait for ever is given up as soon as it has come: it rings the alarm of the check.
final class SocketServer: ScenarioServer {
    private struct State {
        var answer = ServerAnswer.unreachable
        var rings: [@Sendable () -> Void] = []
        var taken = 0
    }

    private let state: Locked<State>
    private let held: NSCondition
    private let isHeld: Locked<Bool>
    private let listener: LoopbackServer
    let transport: any GateTransport = URLSessionTransport(timeLimit: 600)

    init() throws {
        let (state, held, isHeld) = (Locked(State()), NSCondition(), Locked(false))
        (self.state, self.held, self.isHeld) = (state, held, isHeld)
        listener = try LoopbackServer { connection in
            held.lock()
            while isHeld.withLock({ $0 }) { held.wait() }
            held.unlock()
            let answer = state.withLock { $0.answer }
            switch answer.kind {
            case .response(let status, let body, let date, let headers):
                connection.write("HTTP/1.1 \(status) Status\r\nConnection: close\r\nContent-Length: \(body.count)\r\n")
                for (name, value) in headers { connection.write("\(name): \(value)\r\n") }
                connection.write((date.map { "Date: \($0)\r\n" } ?? "") + "\r\n")
                connection.write(body)
            case .cut:
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n{\"messages\":[]}")
            case .encoded:
                connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 15\r\n\r\n")
                connection.write("{\"messages\":[]}")
            case .redirect:
                connection.write("HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: /elsewhere\r\n\r\n")
            case .reset:
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"mess")
                connection.reset()
            case .unreachable:
                connection.reset()
            case .stall:
                let rings = state.withLock { state in
                    defer { state.rings = [] }
                    return state.rings
                }
                for ring in rings { ring() }
                connection.waitForClose()
            }
        }
    }

    func gate(_ settings: GateSettings) throws -> VersionGate {
        try VersionGate(
            server: listener.url,
            app: settings.app,
            attributes: settings.attributes,
            maximumAge: settings.maximumAge,
            storage: settings.storage,
            transport: settings.transport,
            clock: settings.clock,
            publicKeys: settings.publicKeys,
            observer: settings.observer,
            alarm: { [state] seconds, ring in
                if seconds == 1 { return settings.setStorageAlarm(ring) }
                state.withLock { $0.rings.append(ring) }
            }
        )
    }

    func use(_ app: [String: JSON]) {}

    func answer(_ answer: ServerAnswer) {
        state.withLock { $0.answer = answer }
    }

    func hold() {
        isHeld.withLock { $0 = true }
    }

    func release() {
        held.lock()
        isHeld.withLock { $0 = false }
        held.broadcast()
        held.unlock()
    }

    func requests(asked: Bool) throws -> [JSON]? {
        let all = listener.requests
        let taken = state.withLock { state in
            defer { state.taken = all.count }
            return state.taken
        }
        guard state.withLock({ $0.answer.kind != .unreachable }) else { return nil }
        return try all[taken...].map { try JSON(text: $0.body) }
    }
}
