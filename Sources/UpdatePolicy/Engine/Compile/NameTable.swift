/// The numbers of some names, found by their bytes; ASCII case does not count.
///
/// An open-addressed hash table over one array of bytes. Names come from the policy, and the seed of their hashes is
/// secret, so nobody can choose them to collide.
struct NameTable: Sendable {
    private let hashSeed: UInt64
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    private var hashes: [UInt64] = []
    private var slots: [Int32] = [Int32](repeating: -1, count: 8)

    init(hashSeed: UInt64) {
        self.hashSeed = hashSeed
    }

    /// How many names there are; their numbers are 0 up to it.
    var count: Int { ends.count }

    @inline(__always)
    func number(of name: UnsafeRawBufferPointer) -> Int? {
        if ends.isEmpty { return nil }
        let hash = hash(name)
        var slot = Int(truncatingIfNeeded: hash) & (slots.count &- 1)
        while true {
            let number = Int(slots[slot])
            if number < 0 { return nil }
            if hashes[number] == hash, isName(number, name) { return number }
            slot = (slot &+ 1) & (slots.count &- 1)
        }
    }

    func number(of name: String) -> Int? { name.withBytes { number(of: $0) } }

    mutating func insert(_ name: String) -> Int {
        if let number = number(of: name) { return number }
        if (count + 1) * 2 > slots.count { grow() }
        let hash = name.withBytes(hash)
        bytes.append(contentsOf: name.utf8.lazy.map(ASCII.lowercased))
        ends.append(bytes.count)
        hashes.append(hash)
        place(count - 1)
        return count - 1
    }

    private mutating func grow() {
        slots = [Int32](repeating: -1, count: slots.count * 2)
        for number in 0..<count { place(number) }
    }

    private mutating func place(_ number: Int) {
        var slot = Int(truncatingIfNeeded: hashes[number]) & (slots.count - 1)
        while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = Int32(number)
    }

    private func isName(_ number: Int, _ name: UnsafeRawBufferPointer) -> Bool {
        let start = number == 0 ? 0 : ends[number &- 1]
        guard ends[number] &- start == name.count else { return false }
        return bytes.withUnsafeBytes { bytes in
            var offset = 0
            while offset &+ 8 <= name.count {
                let word = name.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                let other = bytes.loadUnaligned(fromByteOffset: start &+ offset, as: UInt64.self)
                if Self.lowercased(word) != other { return false }
                offset &+= 8
            }
            while offset < name.count {
                if bytes[start &+ offset] != ASCII.lowercased(name[offset]) { return false }
                offset &+= 1
            }
            return true
        }
    }

    /// Each word of 8 bytes, and the count of bytes, is multiplied to 128 bits whose halves are folded.
    @inline(__always)
    private func hash(_ name: UnsafeRawBufferPointer) -> UInt64 {
        var hash = hashSeed
        func combine(_ word: UInt64) {
            let product = (hash ^ word).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
            hash = product.high ^ product.low
        }
        var offset = 0
        while offset &+ 8 <= name.count {
            combine(Self.lowercased(name.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset &+= 8
        }
        var word: UInt64 = 0
        while offset < name.count {
            word = word << 8 | UInt64(name[offset])
            offset &+= 1
        }
        combine(Self.lowercased(word))
        combine(UInt64(name.count))
        return hash
    }

    /// Eight bytes with upper-case ASCII letters made lower-case, at once: adding makes the highest bit of a byte tell whether
    /// it is at least `A`, and beyond `Z`.
    @inline(__always)
    private static func lowercased(_ word: UInt64) -> UInt64 {
        let everyByte: UInt64 = 0x0101_0101_0101_0101
        let lowBits = word & (0x7F &* everyByte)
        let isAtLeastA = lowBits &+ (0x80 - 0x41) &* everyByte
        let isBeyondZ = lowBits &+ (0x80 - 0x5B) &* everyByte
        let isUpper = isAtLeastA & ~isBeyondZ & ~word & (0x80 &* everyByte)
        return word | isUpper >> 2
    }
}

/// The numbers of the platforms that a policy names.
struct PlatformNumbers: Sendable {
    private var names: NameTable
    private let otherNamesOfIOS: Int32

    init(hashSeed: UInt64) {
        names = NameTable(hashSeed: hashSeed)
        _ = names.insert("ios")
        for name in Platform.otherNamesOfIOS { _ = names.insert(name) }
        otherNamesOfIOS = Int32(names.count)
    }

    /// The number of a client's platform; -1 where it sent none, or one that the policy does not name.
    @inline(__always)
    func number(of client: borrowing Client) -> Int32 {
        client.withText(.platform) { names.number(of: $0).map(canonical) ?? -1 } ?? -1
    }

    mutating func insert(_ platform: String) -> Int32 { canonical(names.insert(platform)) }

    @inline(__always)
    private func canonical(_ number: Int) -> Int32 {
        number < otherNamesOfIOS ? 0 : Int32(truncatingIfNeeded: number)
    }
}
