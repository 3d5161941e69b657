// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import TestRandom

/// Changes bytes a little, as transmission errors, bugs and attackers do.
struct Mutator {
    private static let interesting: [[UInt8]] = [
        [0], [0x0A], [0x0D], [0x0D, 0x0A], [0x20], [0x22], [0x5C], [0x7F], [0x80], [0xC0, 0x80], [0xED, 0xA0, 0x80],
        [0xFF],
        Array("\\u0000".utf8), Array("\\ud800".utf8), Array("\r\n\r\n".utf8), Array("Content-Length: 5\r\n".utf8),
        Array("Transfer-Encoding: chunked\r\n".utf8), Array("0\r\n\r\n".utf8), Array("ffffffffffffffff".utf8),
        Array("18446744073709551616".utf8), Array("-1".utf8), Array("1e999".utf8), Array("%00".utf8), Array("%".utf8),
        Array("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[".utf8), Array("{\"bundle\":".utf8), Array(" HTTP/2.0".utf8),
        Array("Connection: close\r\n".utf8), Array("Expect: 100-continue\r\n".utf8), Array("Upgrade: h2c\r\n".utf8),
    ]

    /// Changes a few places of `bytes`.
    static func mutate(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let index = Int.random(in: 0...bytes.count, using: &random)
            let end = min(bytes.count, index + Int.random(in: 0...16, using: &random))
            switch Int.random(in: 0..<7, using: &random) {
            case 0: bytes.removeSubrange(index..<end)
            case 1: bytes.insert(contentsOf: bytes[index..<end], at: index)
            case 2: bytes.insert(contentsOf: random.pick(interesting), at: index)
            case 3: bytes.replaceSubrange(index..<end, with: random.pick(interesting))
            case 4 where index < bytes.count: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 5 where index < bytes.count: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 6 where random.chance(5):
                let filling = random.pick(interesting)
                bytes.insert(contentsOf: Array(repeating: filling, count: 2_000).joined(), at: index)
            default: break
            }
        }
    }

    /// Bytes without any form.
    static func noise(_ random: inout SeededGenerator) -> [UInt8] {
        (0..<Int.random(in: 0...200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    /// Cuts bytes at random places.
    static func split(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [[UInt8]] {
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
