import Foundation
import ScenarioSupport
import VersionGateClient

/// A server without a network. A question that it lets wait for ever is given up at once: it rings the alarm of the check.
final class MemoryServer: ScenarioServer, GateTransport {
    private struct State {
        var answer = ServerAnswer.unreachable
        var isHeld = false
        var held: [CheckedContinuation<Void, Never>] = []
        var rings: [@Sendable () -> Void] = []
    }

    private struct Failure: Error {}

    private let state = Locked(State())

    var transport: any GateTransport { self }

    func gate(_ settings: GateSettings) throws -> VersionGate {
        try VersionGate(
            server: GateTests.server,
            app: settings.app,
            attributes: settings.attributes,
            maximumAge: settings.maximumAge,
            storage: settings.storage,
            transport: settings.transport,
            clock: settings.clock,
            publicKeys: settings.publicKeys,
            observer: settings.observer,
            alarm: { seconds, ring in
                if seconds == 1 { return settings.setStorageAlarm(ring) }
                self.state.withLock { $0.rings.append(ring) }
            }
        )
    }

    func use(_ app: [String: JSON]) {}

    func answer(_ answer: ServerAnswer) {
        state.withLock { $0.answer = answer }
    }

    func hold() {
        state.withLock { $0.isHeld = true }
    }

    func release() {
        let held = state.withLock { state in
            state.isHeld = false
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    func requests(asked: Bool) -> [JSON]? { nil }

    func response(to request: GateRequest) async throws -> GateResponse {
        await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                if state.isHeld { state.held.append(continuation) }
                return state.isHeld
            }
            if !isHeld { continuation.resume() }
        }
        switch state.withLock({ $0.answer }).kind {
        case .response(let status, let body, let date, let headers):
            return GateResponse(status: status, body: body, date: date, headers: headers)
        case .redirect: return GateResponse(status: 302, body: Data(#"{"messages":[]}"#.utf8))
        case .unreachable, .broken: throw Failure()
        case .stall:
            let rings = state.withLock { state in
                defer { state.rings = [] }
                return state.rings
            }
            for ring in rings { ring() }
            return try await silence()
        }
    }
}

/// Nothing, for ever: not even when the task is cancelled.
func silence() async throws -> GateResponse {
    await withUnsafeContinuation { (_: UnsafeContinuation<GateResponse, Never>) in }
}
