import TestRandom
import Testing

@testable import CheckListener

@Suite("Runs of bytes")
struct ByteRunTests {
    private static func holds(_ run: ByteRun, _ byte: UInt8) -> Bool {
        switch run {
        case .plainJSON: (0x20...0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
        case .fieldValue: (0x20...0x7E).contains(byte)
        case .name: byte < 0x80 && Character(Unicode.Scalar(byte)).isNumberOrLetter || [0x2D, 0x2E].contains(byte)
        }
    }

    private static func check(_ run: ByteRun, _ bytes: [UInt8]) {
        for start in 0...min(2, bytes.count) {
            let expected = bytes[start...].firstIndex { !holds(run, $0) } ?? bytes.count
            #expect(bytes.withUnsafeBytes { $0.end(of: run, from: start) } == expected, "\(run), \(bytes), \(start)")
        }
    }

    @Test("A run ends before each byte that is not in its set", arguments: [ByteRun.plainJSON, .fieldValue, .name])
    func endsAtEveryOtherByte(run: ByteRun) {
        for byte in UInt8.min ... .max {
            for position in 0..<17 {
                var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 17)
                bytes[position] = byte
                Self.check(run, bytes)
            }
        }
    }

    @Test("The first of many ends a run, whatever is around it", arguments: [ByteRun.plainJSON, .fieldValue, .name])
    func endsAtTheFirst(run: ByteRun) {
        var random = SeededGenerator()
        // The borders of the sets, and bytes that differ from them in a bit.
        let borders: [UInt8] = [
            0x00, 0x01, 0x1F, 0x20, 0x21, 0x22, 0x23, 0x2C, 0x2D, 0x2E, 0x2F, 0x30, 0x39, 0x3A, 0x40, 0x41, 0x5A, 0x5B,
            0x5C, 0x5D, 0x60, 0x61, 0x7A, 0x7B, 0x7E, 0x7F, 0x80, 0x81, 0xA0, 0xA2, 0xDC, 0xFF,
        ]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...20, using: &random)
            Self.check(run, (0..<count).map { _ in random.chance(70) ? UInt8(ascii: "k") : random.pick(borders) })
        }
    }
}

extension Character {
    fileprivate var isNumberOrLetter: Bool { isASCII && (isLetter || isNumber) }
}
