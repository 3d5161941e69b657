import NIOCore
import Synchronization
import UpdatePolicy

/// An answer that is made off the event loops.
///
/// Its connection waits for it until a deadline, and answers with ``ifLate`` then, or where there is no room.
struct LaterAnswer: Sendable {
    /// What the connection waits for, which says for how long.
    var phase = ConnectionPhase.document
    /// The answer where the making has no room, or takes too long.
    let ifLate: Response
    /// Begins to make it, and is given what it is handed to, at most once and on any thread; `false` where there is no room.
    let begin: @Sendable (@escaping @Sendable (Response) -> Void) -> Bool
}

/// Makes answers that take long by the processor alone, one after the other, those to gateways first: one that is late lets a
/// client pass.
///
/// Those who ask the same while it waits or is made share one making. What nobody can wait for any more is not begun.
final class LaterAnswers: Sendable {
    /// Runs work on a thread that answers no checks.
    typealias Runner = @Sendable (@escaping @Sendable () -> Void) -> Void

    /// What those who ask the same of one policy have in common.
    struct Key: Hashable {
        let serialNumber: UInt64?
        let texts: [String]
    }

    /// The most answers to gateways that wait, and the most of others.
    static let maximumWaiting = 256

    private struct Order {
        let make: @Sendable (Timestamp) -> Response
        /// When the last of those who ask gives up.
        var deadline: NIODeadline
        var deliveries: [@Sendable (Response) -> Void] = []
    }

    private struct State {
        var orders: [Key: Order] = [:]
        var gates = CircularBuffer<Key>()
        var others = CircularBuffer<Key>()
        var isRunning = false

        /// Whether there is room in a queue, of which those go that nobody waits for any more where it is full.
        mutating func hasRoom(_ queue: WritableKeyPath<State, CircularBuffer<Key>>) -> Bool {
            guard self[keyPath: queue].count >= maximumWaiting else { return true }
            let now = NIODeadline.now()
            for key in self[keyPath: queue] where orders[key].map({ $0.deadline < now }) ?? true { orders[key] = nil }
            let (waiting, orders) = (self[keyPath: queue], orders)
            self[keyPath: queue] = CircularBuffer(waiting.filter { orders[$0] != nil })
            return self[keyPath: queue].count < maximumWaiting
        }
    }

    private let timeout: TimeAmount
    private let clock: @Sendable () -> Timestamp
    private let run: Runner
    private let state = Mutex(State())

    init(timeout: Duration, clock: @escaping @Sendable () -> Timestamp, run: @escaping Runner) {
        self.timeout = TimeAmount(timeout)
        self.clock = clock
        self.run = run
    }

    /// An answer that is made here.
    func answer(
        _ key: Key,
        isOfGateway: Bool,
        ifLate: Response,
        make: @escaping @Sendable (Timestamp) -> Response
    ) -> LaterAnswer {
        LaterAnswer(ifLate: ifLate) { [self] deliver in
            let begins: Bool? = state.withLock { state in
                let queue: WritableKeyPath<State, CircularBuffer<Key>> = isOfGateway ? \.gates : \.others
                let deadline = NIODeadline.now() + timeout
                if state.orders[key] == nil {
                    guard state.hasRoom(queue) else { return nil }
                    state.orders[key] = Order(make: make, deadline: deadline)
                    state[keyPath: queue].append(key)
                }
                state.orders[key]?.deadline = deadline
                state.orders[key]?.deliveries.append(deliver)
                let begins = !state.isRunning
                state.isRunning = true
                return begins
            }
            if begins == true { run { self.makeAll() } }
            return begins != nil
        }
    }

    private func makeAll() {
        while let (key, make) = next() {
            let answer = make(clock())
            let deliveries = state.withLock { $0.orders.removeValue(forKey: key)?.deliveries }
            for deliver in deliveries ?? [] { deliver(answer) }
        }
    }

    private func next() -> (Key, @Sendable (Timestamp) -> Response)? {
        state.withLock { state in
            let now = NIODeadline.now()
            while let key = state.gates.popFirst() ?? state.others.popFirst() {
                if let order = state.orders[key], order.deadline >= now { return (key, order.make) }
                state.orders[key] = nil
            }
            state.isRunning = false
            return nil
        }
    }
}
