import Glibc

/// Numbers that are kept by keys of bytes, and handed over piece by piece.
///
/// An open-addressed hash table over one array of bytes: counting under a key that is known allocates nothing. Clients
/// choose the keys, so the hash is Swift's, which has a secret. Keys stay when their numbers are handed over, so that
/// the table knows how many there were.
struct CountTable<Counts: Sendable>: Sendable {
    private struct Entry: Sendable {
        let hash: Int
        let start: Int
        let end: Int
        var counts: Counts
        var isCounted = false
    }

    private let zero: Counts
    private var bytes: [UInt8] = []
    private var entries: [Entry] = []
    private var slots: [Int32]
    private var counted: [Int32] = []

    /// Creates an empty table; `zero` is what counting under a key begins with.
    init(zero: Counts) {
        self.zero = zero
        slots = [Int32](repeating: -1, count: 64)
    }

    /// How many keys there are.
    var count: Int { entries.count }

    /// Whether nothing was counted since everything was handed over.
    var isDrained: Bool { counted.isEmpty }

    /// Counts under a key.
    ///
    /// - Parameters:
    ///   - key: The bytes, which are copied where they are new.
    ///   - mayInsert: Asked whether a key that is new may be added.
    ///   - change: Adds to the numbers.
    /// - Returns: Whether it was counted: `false` for a new key that may not be added.
    @inline(__always)
    mutating func count(
        _ key: UnsafeRawBufferPointer,
        mayInsert: () -> Bool,
        _ change: (inout Counts) -> Void
    ) -> Bool {
        guard let index = index(of: key, mayInsert: mayInsert) else { return false }
        count(at: index, change)
        return true
    }

    /// The index of a key, which stays; nil for a new key that may not be added.
    @inline(__always)
    mutating func index(of key: UnsafeRawBufferPointer, mayInsert: () -> Bool) -> Int? {
        var hasher = Hasher()
        hasher.combine(bytes: key)
        let hash = hasher.finalize()
        var slot = hash & (slots.count &- 1)
        var index = Int(slots[slot])
        while index >= 0, !isKey(index, key, hash) {
            slot = (slot &+ 1) & (slots.count &- 1)
            index = Int(slots[slot])
        }
        if index < 0 {
            guard mayInsert() else { return nil }
            index = insert(key, hash)
        }
        return index
    }

    /// Counts under the key with an index.
    @inline(__always)
    mutating func count(at index: Int, _ change: (inout Counts) -> Void) {
        if !entries[index].isCounted {
            entries[index].isCounted = true
            counted.append(Int32(truncatingIfNeeded: index))
        }
        change(&entries[index].counts)
    }

    /// Hands over the numbers of up to `limit` keys, which begin at zero again.
    mutating func drain(limit: Int, into drained: inout DrainedCounts<Counts>) {
        for _ in 0..<min(limit, counted.count) {
            let index = Int(counted.removeLast())
            drained.append(bytes[entries[index].start..<entries[index].end], entries[index].counts)
            entries[index].counts = zero
            entries[index].isCounted = false
        }
    }

    @inline(__always)
    private func isKey(_ index: Int, _ key: UnsafeRawBufferPointer, _ hash: Int) -> Bool {
        let entry = entries[index]
        guard entry.hash == hash, entry.end &- entry.start == key.count else { return false }
        guard let keyStart = key.baseAddress else { return true }
        return bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return false }
            return memcmp(start + entry.start, keyStart, key.count) == 0
        }
    }

    @inline(never)
    private mutating func insert(_ key: UnsafeRawBufferPointer, _ hash: Int) -> Int {
        if (entries.count + 1) * 2 > slots.count {
            slots = [Int32](repeating: -1, count: slots.count * 2)
            for index in entries.indices { store(index) }
        }
        let start = bytes.count
        bytes.append(contentsOf: key)
        entries.append(Entry(hash: hash, start: start, end: bytes.count, counts: zero))
        store(entries.count - 1)
        return entries.count - 1
    }

    private mutating func store(_ index: Int) {
        var slot = entries[index].hash & (slots.count - 1)
        while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = Int32(index)
    }
}

/// Keys with their numbers, as a table hands them over: the bytes of all keys in one array.
package struct DrainedCounts<Counts: Sendable>: Sendable {
    private var bytes: [UInt8] = []
    private var ends: [(end: Int, counts: Counts)] = []

    /// How many keys there are; a key may be among them several times.
    package var count: Int { ends.count }

    mutating func append(_ key: ArraySlice<UInt8>, _ counts: Counts) {
        bytes.append(contentsOf: key)
        ends.append((bytes.count, counts))
    }

    /// What `transform` makes of each key and its numbers.
    package func map<Result>(_ transform: (ArraySlice<UInt8>, Counts) -> Result) -> [Result] {
        var start = 0
        return ends.map { end, counts in
            defer { start = end }
            return transform(bytes[start..<end], counts)
        }
    }
}
