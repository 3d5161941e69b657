import Synchronization
import UpdatePolicy

/// The kinds of clients that are kept apart: those that are known, and in an hour a bounded number of others, of all recorders
/// together.
///
/// Without a bound, clients that make their members up would fill the memory of the server and the disk of the database.
/// What is known needs no place here, because there is a bound on it elsewhere: the kinds of the last days, and for each
/// release one kind that has nothing but its version. A kind is remembered by a hash of 64 bits with a secret, which nobody
/// can aim at, so it takes a few bytes.
final class CardinalityLimit: Sendable {
    private struct Pool {
        let size: Int
        var taken = 0
        var takenByApp: [String: Int] = [:]

        init(size: Int) {
            self.size = size
        }

        /// An app may have four times the places that are still free. So n apps that are flooded leave one part of
        /// 1 + 4 n to all others, and an app that is alone can have four parts of five.
        mutating func acquire(_ app: String) -> Bool {
            let takenByThis = takenByApp[app] ?? 0
            guard takenByThis / 4 < size - taken else { return false }
            taken += 1
            takenByApp[app] = takenByThis + 1
            return true
        }
    }

    private struct Hour {
        let number: Int64
        var released: Pool
        var open: Pool
        var kinds: Set<Int> = []

        init(number: Int64, maximum: Int) {
            self.number = number
            released = Pool(size: maximum / 4)
            open = Pool(size: maximum - maximum / 4)
        }
    }

    private struct State {
        /// The kinds of the last days.
        var known: Set<Int> = []
        var hour: Hour
    }

    private let maximum: Int
    private let state: Mutex<State>

    init(maximum: Int) {
        self.maximum = maximum
        state = Mutex(State(hour: Hour(number: .min + 1, maximum: maximum)))
    }

    /// Whether no kind may be kept apart.
    var isZero: Bool { maximum == 0 }

    /// Keeps these kinds apart from now on, whatever else comes.
    func learn(_ kinds: [ClientKind]) {
        let known = Set(kinds.map { kind in kind.bytes.withUnsafeBytes { CountTable<Int>.hash(of: $0) } })
        state.withLock { $0.known = known }
    }

    /// Whether a kind is known, or has a place in an hour.
    func holds(_ kind: Int, hour number: Int64) -> Bool {
        state.withLock { state in
            state.known.contains(kind) || number == state.hour.number && state.hour.kinds.contains(kind)
        }
    }

    /// Takes a place for a kind; `false` where there is none for it.
    ///
    /// - Parameters:
    ///   - kind: Its hash.
    ///   - isReleased: Whether its version is that of a release: a quarter of the places is for such kinds alone.
    ///   - app: The app's bundle as the policy spells it.
    ///   - number: The hour. All places are free in a new one; a recorder may be late by an hour.
    func acquire(_ kind: Int, isReleased: Bool, app: String, hour number: Int64) -> Bool {
        state.withLock { state in
            if number > state.hour.number || number < state.hour.number - 1 {
                state.hour = Hour(number: number, maximum: maximum)
            }
            guard isReleased && state.hour.released.acquire(app) || state.hour.open.acquire(app) else {
                return false
            }
            state.hour.kinds.insert(kind)
            return true
        }
    }
}
