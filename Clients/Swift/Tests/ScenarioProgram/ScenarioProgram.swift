import Foundation
import ScenarioSupport
import VersionGateClient

/// Runs a file of scenarios against a real server, whose listener is told by lines of JSON what to do: the head of
/// `Tests/Clients/against_server.py` has them.
@main
struct ScenarioProgram {
    static func main() async throws {
        guard CommandLine.arguments.count == 3, let address = URL(string: CommandLine.arguments[1]) else {
            FileHandle.standardError.write(Data("Usage: ScenarioProgram SERVER_URL FILE\n".utf8))
            exit(64)
        }
        let scenarios = try Scenario.all(in: URL(fileURLWithPath: CommandLine.arguments[2]))
        var isRight = true
        for scenario in scenarios {
            do {
                try await Listener.tell(["scenario": .string(scenario.name), "app": .object(scenario.app)])
                try await ScenarioRun.run(scenario, on: Listener(address: address))
                Listener.print(["result": .string(scenario.name), "ok": .boolean(true)])
            } catch let failure as ScenarioRun.Failure {
                isRight = false
                Listener.print([
                    "result": .string(scenario.name), "ok": .boolean(false),
                    "step": .number(Double(failure.step)), "why": .string(failure.why),
                ])
            }
        }
        Listener.print(["done": .number(Double(scenarios.count))])
        exit(isRight ? 0 : 1)
    }
}

/// The listener does not say what it must.
private struct Fault: Error, CustomStringConvertible {
    let description: String
}

/// The listener at the address of the server, which whoever started the program runs.
private final class Listener: ScenarioServer {
    private let address: URL
    private let isReachable = Locked(false)
    let transport: any GateTransport = URLSessionTransport()

    init(address: URL) {
        self.address = address
    }

    func gate(_ settings: GateSettings) throws -> VersionGate {
        try VersionGate(
            server: address, app: settings.app, attributes: settings.attributes, maximumAge: settings.maximumAge,
            storage: settings.storage, transport: settings.transport, clock: settings.clock,
            publicKeys: settings.publicKeys, observer: settings.observer
        )
    }

    func use(_ app: [String: JSON]) async throws {
        try await Self.tell(["app": .object(app)])
    }

    func answer(_ answer: ServerAnswer) async throws {
        isReachable.withLock { $0 = answer.kind != .unreachable }
        try await Self.tell(["answer": answer.json])
    }

    // The listener takes its time for each answer.
    func hold() {}
    func release() {}

    func requests(asked: Bool) async throws -> [JSON]? {
        let reply = try await Self.tell(["checked": .object(["asked": .boolean(asked)])])
        guard isReachable.withLock({ $0 }) else { return nil }
        guard let requests = reply?["requests"]?.elements else {
            throw Fault(description: "no requests in the reply to checked")
        }
        return requests
    }

    /// Writes a line and waits for the reply.
    @discardableResult
    static func tell(_ members: [String: JSON]) async throws -> JSON? {
        print(members)
        guard let line = readLine() else { throw Fault(description: "standard input has ended") }
        return try? JSON(text: Data(line.utf8))
    }

    static func print(_ members: [String: JSON]) {
        FileHandle.standardOutput.write(Data((JSON.object(members).text + "\n").utf8))
    }
}
