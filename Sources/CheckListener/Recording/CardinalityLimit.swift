import Synchronization
import UpdatePolicy

/// The limit on the kinds of clients, beyond those that are known, that all recorders together keep apart in an hour.
///
/// Without a bound, clients that make their members up would fill the memory of the server and the disk of the database.
/// What is known needs no place here, because there is a bound on it elsewhere: the kinds of the last days
/// (``KnownKinds``), and for each release one kind that has nothing but its version.
final class CardinalityLimit: Sendable {
    /// What speaks for a kind that is not known.
    enum Standing {
        /// Its version is that of a release: a quarter of the places is for such kinds alone.
        case released
        /// Nothing.
        case none
    }

    /// Some of the places.
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

        init(number: Int64, maximum: Int) {
            self.number = number
            released = Pool(size: maximum / 4)
            open = Pool(size: maximum - maximum / 4)
        }
    }

    private let maximum: Int
    private let hour = Mutex<Hour?>(nil)

    /// Creates a limit of `maximum` kinds an hour.
    init(maximum: Int) {
        self.maximum = maximum
    }

    /// Whether no kind may be kept apart.
    var isZero: Bool { maximum == 0 }

    /// Takes a place for a kind; `false` where there is none for it.
    ///
    /// - Parameters:
    ///   - standing: What speaks for the kind.
    ///   - app: The app's bundle as the policy spells it.
    ///   - number: The hour. All places are free in a new one; a recorder may be late by an hour.
    func acquire(_ standing: Standing, app: String, hour number: Int64) -> Bool {
        hour.withLock { current in
            var hour = current ?? Hour(number: number, maximum: maximum)
            if number > hour.number || number < hour.number - 1 { hour = Hour(number: number, maximum: maximum) }
            // Nothing else holds the dictionaries while they change, or they would be copied.
            current = nil
            defer { current = hour }
            return standing == .released && hour.released.acquire(app) || hour.open.acquire(app)
        }
    }
}

/// The kinds of clients that checked in the last days: they are kept apart whatever else comes.
///
/// A kind is known by a hash of 64 bits with a secret, which nobody can aim at, so a kind takes a few bytes.
final class KnownKinds: Sendable {
    private let hashes: Set<Int>

    /// No kinds.
    static let none = KnownKinds([])

    /// These kinds.
    init(_ kinds: [ClientKind]) {
        hashes = Set(kinds.map { kind in kind.bytes.withUnsafeBytes { Self.hash($0) } })
    }

    /// How many kinds there are.
    var count: Int { hashes.count }

    /// Whether the kind with these bytes is among them.
    func contains(_ kind: UnsafeRawBufferPointer) -> Bool {
        !hashes.isEmpty && hashes.contains(Self.hash(kind))
    }

    private static func hash(_ kind: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: kind)
        return hasher.finalize()
    }
}
