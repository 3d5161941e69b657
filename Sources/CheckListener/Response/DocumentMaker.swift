import NIOCore
import Synchronization
import UpdatePolicy

/// Makes what may take long to make, off the event loops and one after the other, answers to gateways first: one that is
/// late lets a client pass.
///
/// Those who ask the same while it waits or is made share one making. What nobody waits for any more is not begun.
final class DocumentMaker: Sendable {
    /// Runs work on a thread that answers no checks.
    typealias Runner = @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Who waits for an answer.
    struct Ticket {
        fileprivate let key: DocumentQuestion.Key
        fileprivate let number: Int
    }

    /// The most questions of gateways that wait, and the most of others.
    static let maximumWaiting = 256

    private struct Order {
        let question: DocumentQuestion
        var isBegun = false
        var deliveries: [Int: @Sendable (MadeAnswer, Timestamp) -> Void] = [:]
    }

    private struct State {
        var orders: [DocumentQuestion.Key: Order] = [:]
        var waitingGates = CircularBuffer<DocumentQuestion.Key>()
        var waitingDocuments = CircularBuffer<DocumentQuestion.Key>()
        var ticketCount = 0
        var isRunning = false
    }

    private let clock: @Sendable () -> Timestamp
    private let run: Runner
    private let state = Mutex(State())
    private let renderer = Mutex(DocumentRenderer())

    /// Creates a maker that has nothing to do.
    ///
    /// - Parameters:
    ///   - clock: The time of a document.
    ///   - run: Runs the makings.
    init(
        clock: @escaping @Sendable () -> Timestamp,
        run: @escaping Runner
    ) {
        self.clock = clock
        self.run = run
    }

    /// Asks for an answer.
    ///
    /// - Parameter deliver: Is given the answer and the time for which it was made, on any thread, unless the ticket is
    ///   withdrawn.
    /// - Returns: nil where too many wait already; then nothing is delivered.
    func ask(
        _ question: DocumentQuestion,
        deliver: @escaping @Sendable (MadeAnswer, Timestamp) -> Void
    ) -> Ticket? {
        let queue: WritableKeyPath<State, CircularBuffer<DocumentQuestion.Key>> =
            question.isOfGateway ? \.waitingGates : \.waitingDocuments
        let asked: (ticket: Ticket, begins: Bool)? = state.withLock { state in
            if state.orders[question.key] == nil {
                guard state[keyPath: queue].count < Self.maximumWaiting else { return nil }
                state.orders[question.key] = Order(question: question)
                state[keyPath: queue].append(question.key)
            }
            state.ticketCount += 1
            state.orders[question.key]?.deliveries[state.ticketCount] = deliver
            let begins = !state.isRunning
            state.isRunning = true
            return (Ticket(key: question.key, number: state.ticketCount), begins)
        }
        guard let asked else { return nil }
        if asked.begins { run { self.makeAll() } }
        return asked.ticket
    }

    /// Says that somebody waits no longer.
    func withdraw(_ ticket: Ticket) {
        state.withLock { state in
            guard var order = state.orders[ticket.key] else { return }
            order.deliveries[ticket.number] = nil
            let isNeeded = order.isBegun || !order.deliveries.isEmpty
            state.orders[ticket.key] = isNeeded ? order : nil
            if !isNeeded {
                state.waitingGates.removeAll { $0 == ticket.key }
                state.waitingDocuments.removeAll { $0 == ticket.key }
            }
        }
    }

    private func makeAll() {
        while let question = next() {
            let now = clock()
            let answer = renderer.withLock { $0.answer(question, at: now) }
            // Within the lock: nothing is delivered after it was withdrawn.
            state.withLock { state in
                for deliver in state.orders.removeValue(forKey: question.key)?.deliveries.values ?? [:].values {
                    deliver(answer, now)
                }
            }
        }
    }

    private func next() -> DocumentQuestion? {
        state.withLock { state in
            guard let key = state.waitingGates.popFirst() ?? state.waitingDocuments.popFirst() else {
                state.isRunning = false
                return nil
            }
            state.orders[key]?.isBegun = true
            return state.orders[key]?.question
        }
    }
}
