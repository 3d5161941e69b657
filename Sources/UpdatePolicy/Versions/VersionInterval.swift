/// The versions from one bound, inclusive, to another, exclusive.
struct VersionInterval: Sendable {
    var lower: VersionKey
    var upper: VersionKey

    /// The upper bound as somebody wrote it; `nil` where no exact version was written there.
    var upperText: String?
    static let all = VersionInterval(lower: .minimum, upper: .maximum)
    static let none = VersionInterval(lower: .minimum, upper: .minimum)

    var isEmpty: Bool { !(lower < upper) }

    func contains(_ key: VersionKey) -> Bool {
        !(key < lower) && key < upper
    }

    func overlaps(_ other: VersionInterval) -> Bool {
        max(lower, other.lower) < min(upper, other.upper)
    }

    mutating func formIntersection(_ other: VersionInterval) {
        if lower < other.lower { lower = other.lower }
        if other.upper < upper || other.upper == upper && upperText == nil {
            (upper, upperText) = (other.upper, other.upperText)
        }
    }
}

extension [VersionInterval] {
    /// The parts of the intervals below a version.
    func below(_ end: VersionKey) -> [VersionInterval] {
        let below = VersionInterval(lower: .minimum, upper: end)
        return compactMap { interval in
            var interval = interval
            interval.formIntersection(below)
            return interval.isEmpty ? nil : interval
        }
    }
}

/// A version in a range: exact, or with a wildcard the family of versions that begin with its numbers.
struct VersionBound {
    /// The significant digits of each number as written, most significant first; none for zero.
    var numbers: [[UInt8]]

    /// Whether a wildcard follows the numbers; the lone `*` has no numbers.
    var isWildcard: Bool

    /// The numbers and, of an exact version, its pre-release.
    var builder: VersionKeyBuilder

    /// Reads a version without a suffix, or a family of versions; `nil` where it is neither.
    init?(_ operand: UnsafeRawBufferPointer) {
        guard operand.count <= VersionScanner.maximumLength else { return nil }
        numbers = []
        isWildcard = false
        builder = VersionKeyBuilder()
        var position = operand.first.map { $0 | 0x20 } == UInt8(ascii: "v") ? 1 : 0
        while true {
            let first = position
            if position < operand.count, Self.isWildcard(operand[position]) {
                isWildcard = true
                position += 1
            } else {
                while position < operand.count, ASCII.isDigit(operand[position]) { position += 1 }
                guard position > first, !isWildcard else { return nil }
                numbers.append(Array(operand[first..<position].drop { $0 == ASCII.zero }))
                builder.appendNumber(UnsafeRawBufferPointer(rebasing: operand[first..<position]))
            }
            guard position < operand.count, operand[position] == ASCII.dot else { break }
            position += 1
        }
        if position == operand.count { return }
        guard !isWildcard, VersionScanner.scanPrerelease(operand, position, operand.count, &builder) == operand.count
        else { return nil }
    }

    var hasOnlyNumbers: Bool { !builder.isPrerelease }

    private static func isWildcard(_ byte: UInt8) -> Bool {
        byte | 0x20 == UInt8(ascii: "x") || byte == UInt8(ascii: "*")
    }

    /// The start of the version or family.
    var lower: VersionKey {
        if !isWildcard { return builder.key }
        return numbers.isEmpty ? .minimum : builder.familyKey
    }

    /// The end of the version or family, exclusive.
    var upper: VersionKey {
        if !isWildcard { return builder.keyAbove }
        return numbers.isEmpty ? .maximum : next(at: numbers.count - 1)
    }

    /// The end of what `~` means: before the next second number, before the next first where there is only one.
    var tildeEnd: VersionKey {
        numbers.isEmpty ? .maximum : next(at: min(1, numbers.count - 1))
    }

    /// The end of what `^` means: before the next value of the first number that is not 0, else of the last.
    var caretEnd: VersionKey {
        numbers.isEmpty ? .maximum : next(at: numbers.firstIndex { !$0.isEmpty } ?? numbers.count - 1)
    }

    /// The start of the family of the numbers up to an index, the last of them raised by one.
    private func next(at index: Int) -> VersionKey {
        var builder = VersionKeyBuilder()
        for number in numbers[..<index] { builder.appendNumber(number) }
        builder.appendNumber(Self.successor(of: numbers[index]))
        return builder.familyKey
    }

    private static func successor(of digits: [UInt8]) -> [UInt8] {
        var digits = digits
        for index in digits.indices.reversed() {
            if digits[index] != ASCII.nine {
                digits[index] += 1
                return digits
            }
            digits[index] = ASCII.zero
        }
        return [ASCII.zero + 1] + digits
    }
}
