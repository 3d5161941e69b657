// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Reads the text of a length of time, unit by unit.
struct SoakTimeReader {
    private var rest: Substring
    private var days: Int64 = 0
    private var microseconds: Int64 = 0

    init(_ text: String) {
        rest = text[...]
    }

    /// The time, nil if the text is none or the time is too long to hold.
    mutating func read() -> SoakTime? {
        skipBlanks()
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            guard readPart() else { return nil }
            skipBlanks()
        }
        guard let days = Int32(exactly: days) else { return nil }
        return SoakTime(days: days, microseconds: microseconds)
    }

    private mutating func readPart() -> Bool {
        let isNegative = rest.first == "-"
        if rest.first == "-" || rest.first == "+" { rest.removeFirst() }
        guard let whole = readDigits(), let number = Int64(whole) else { return false }
        if rest.first == ":" { return readClock(hours: number, isNegative: isNegative) }
        var fraction: Int64?
        if rest.first == "." {
            guard let micros = readFraction() else { return false }
            fraction = micros
        }
        skipBlanks()
        let letters = rest.prefix { $0.isASCII && $0.isLetter }
        rest = rest[letters.endIndex...]
        let sign: Int64 = isNegative ? -1 : 1
        switch (letters.lowercased(), fraction) {
        case ("w", nil), ("week", nil), ("weeks", nil): return add(number, times: 7 * sign, to: \.days)
        case ("d", nil), ("day", nil), ("days", nil): return add(number, times: sign, to: \.days)
        case ("h", nil), ("hr", nil), ("hrs", nil), ("hour", nil), ("hours", nil):
            return add(number, times: sign * 3_600_000_000, to: \.microseconds)
        case ("m", nil), ("min", nil), ("mins", nil), ("minute", nil), ("minutes", nil):
            return add(number, times: sign * 60_000_000, to: \.microseconds)
        case ("s", _), ("sec", _), ("secs", _), ("second", _), ("seconds", _):
            return add(number, times: sign * 1_000_000, to: \.microseconds)
                && add(fraction ?? 0, times: sign, to: \.microseconds)
        default: return false
        }
    }

    /// Reads what follows the hours of `12:30` or `12:30:15.25`.
    private mutating func readClock(hours: Int64, isNegative: Bool) -> Bool {
        rest.removeFirst()
        guard let minutes = readDigits().flatMap({ Int64($0) }), minutes < 60 else { return false }
        var seconds: Int64 = 0
        var fraction: Int64 = 0
        if rest.first == ":" {
            rest.removeFirst()
            guard let value = readDigits().flatMap({ Int64($0) }), value < 60 else { return false }
            seconds = value
            if rest.first == "." {
                guard let value = readFraction() else { return false }
                fraction = value
            }
        }
        let sign: Int64 = isNegative ? -1 : 1
        return add(hours, times: sign * 3_600_000_000, to: \.microseconds)
            && add(minutes * 60 + seconds, times: sign * 1_000_000, to: \.microseconds)
            && add(fraction, times: sign, to: \.microseconds)
    }

    private mutating func readDigits() -> Substring? {
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        rest = rest[digits.endIndex...]
        return digits.isEmpty ? nil : digits
    }

    /// Reads a point and up to six digits as microseconds.
    private mutating func readFraction() -> Int64? {
        rest.removeFirst()
        guard let digits = readDigits(), digits.count <= 6 else { return nil }
        return Int64(digits + String(repeating: "0", count: 6 - digits.count))
    }

    private mutating func add(_ number: Int64, times factor: Int64, to total: WritableKeyPath<Self, Int64>) -> Bool {
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        let (sum, overflowOfSum) = self[keyPath: total].addingReportingOverflow(product)
        self[keyPath: total] = sum
        return !overflow && !overflowOfSum
    }

    private mutating func skipBlanks() {
        rest = rest.drop { $0 == " " }
    }
}
