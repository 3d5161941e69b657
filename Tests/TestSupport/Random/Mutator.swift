/// Changes bytes a little, as transmission errors, bugs and attackers do.
public struct Mutator: Sendable {
    private let words: [[UInt8]]

    /// Bytes that are special to most readers.
    private static let commonWords: [[UInt8]] = [
        [0], [0x0A], [0x0D], [0x0D, 0x0A], [0x20], [0x22], [0x5C], [0x7F], [0x80], [0xC0, 0x80], [0xED, 0xA0, 0x80],
        [0xFF],
    ]

    /// Creates a mutator that puts in words which are special to the reader, besides those that are to most.
    public init(words: [String]) {
        self.words = Self.commonWords + words.map { Array($0.utf8) }
    }

    /// Changes a few places of `bytes`.
    public func mutate(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let index = Int.random(in: 0...bytes.count, using: &random)
            let end = min(bytes.count, index + Int.random(in: 0...16, using: &random))
            switch Int.random(in: 0..<7, using: &random) {
            case 0: bytes.removeSubrange(index..<end)
            case 1: bytes.insert(contentsOf: bytes[index..<end], at: index)
            case 2: bytes.insert(contentsOf: random.pick(words), at: index)
            case 3: bytes.replaceSubrange(index..<end, with: random.pick(words))
            case 4 where index < bytes.count: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 5 where index < bytes.count: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 6 where random.chance(5):
                let filling = random.pick(words)
                bytes.insert(contentsOf: Array(repeating: filling, count: 2_000).joined(), at: index)
            default: break
            }
        }
    }

    /// Bytes without any form.
    public static func noise(_ random: inout SeededGenerator) -> [UInt8] {
        (0..<Int.random(in: 0...200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    /// Cuts bytes at random places.
    public static func split(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty, pieces.count < 20 {
            let piece = rest.prefix(Int.random(in: 1...max(1, rest.count), using: &random))
            pieces.append(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        return pieces + (rest.isEmpty ? [] : [Array(rest)])
    }
}
