import Glibc

/// Numbers that are kept by keys of bytes.
///
/// An open-addressed hash table over one array of bytes: counting under a key that is there allocates nothing. Clients
/// choose the keys, so the hash is Swift's, which has a secret.
package struct CountTable<Counts: Sendable>: Sendable {
    private struct Entry: Sendable {
        let hash: Int
        let start: Int
        let end: Int
        var counts: Counts
    }

    private let zero: Counts
    private var bytes: [UInt8] = []
    private var entries: [Entry] = []
    private var slots: [Int32]

    /// Creates an empty table; `zero` is what counting under a key begins with.
    init(zero: Counts) {
        self.zero = zero
        slots = [Int32](repeating: -1, count: 64)
    }

    package var count: Int { entries.count }

    /// What `transform` makes of each key and its numbers.
    package func map<Result>(_ transform: (ArraySlice<UInt8>, Counts) -> Result) -> [Result] {
        entries.map { transform(bytes[$0.start..<$0.end], $0.counts) }
    }

    @inline(__always)
    static func hash(of key: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: key)
        return hasher.finalize()
    }

    /// Counts under a key.
    ///
    /// - Parameters:
    ///   - key: The bytes, which are copied where they are new.
    ///   - mayInsert: Asked, with its hash, whether a key that is new may be added.
    /// - Returns: Whether it was counted: `false` for a new key that may not be added.
    @inline(__always)
    mutating func count(
        _ key: UnsafeRawBufferPointer,
        mayInsert: (Int) -> Bool,
        _ change: (inout Counts) -> Void
    ) -> Bool {
        let hash = Self.hash(of: key)
        var slot = hash & (slots.count &- 1)
        var index = Int(slots[slot])
        while index >= 0, !isKey(index, key, hash) {
            slot = (slot &+ 1) & (slots.count &- 1)
            index = Int(slots[slot])
        }
        if index < 0 {
            guard mayInsert(hash) else { return false }
            index = insert(key, hash)
        }
        change(&entries[index].counts)
        return true
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
