/// Writes counts, shares and times for people.
package enum NumberText {
    /// A whole number with commas: `12,345`.
    package static func count(_ number: Int64) -> String {
        var text = ""
        for (index, digit) in String(number.magnitude).reversed().enumerated() {
            if index > 0, index % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return (number < 0 ? "-" : "") + String(text.reversed())
    }

    /// A number of checks: `1 check`, `12,345 checks`.
    package static func checks(_ number: Int64, _ adjective: String = "") -> String {
        "\(count(number)) \(adjective)\(adjective.isEmpty ? "" : " ")\(number == 1 ? "check" : "checks")"
    }

    /// The least number of checks whose shares say something.
    package static let fewestJudged = 30.0

    /// A part of checks in per cent; `2 of 7` where they are too few to judge by. Of a fraction it is what it is at most.
    package static func share(_ part: Double, of whole: Double) -> String {
        guard whole > 0, whole < fewestJudged else { return percent(part, of: whole) }
        return "\(Int((part - 1e-9).rounded(.up))) of \(Int(whole))"
    }

    /// How many of some checks: `61.0 % of the 12,345 checks`, of few `3 of 17 checks`.
    package static func share(_ part: Int64, ofChecks whole: Int64) -> String {
        Double(whole) < fewestJudged
            ? "\(part) of \(checks(whole))" : "\(percent(Double(part), of: Double(whole))) of the \(checks(whole))"
    }

    /// A part of a whole in per cent, with one decimal; never `0.0 %` for something, nor `100.0 %` for less than all.
    package static func percent(_ part: Double, of whole: Double) -> String {
        guard whole > 0 else { return "-" }
        let thousandths = (part / whole * 1_000).rounded()
        if part > 0, thousandths < 1 { return "<0.1 %" }
        if part < whole, thousandths >= 1_000 { return ">99.9 %" }
        return "\(Int(thousandths) / 10).\(Int(thousandths) % 10) %"
    }

    /// A duration in its two largest units, rounded, from two years on in years: `2 d 5 h`, `1 h 30 min`, `12 min`, `40 s`.
    package static func duration(microseconds: Int64) -> String {
        var seconds = microseconds / 1_000_000
        let step: Int64 = seconds < 60 ? 1 : seconds < 86_400 ? 60 : 3_600
        seconds = (seconds + step / 2) / step * step
        let days = seconds / 86_400
        if days >= 730 { return "\(days / 365) y" }
        let units = [
            (days, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s"),
        ]
        let shown = units.filter { $0.0 > 0 }.prefix(2).map { "\($0) \($1)" }
        return shown.isEmpty ? "0 s" : shown.joined(separator: " ")
    }

    /// A number of seconds or other units with as many decimals as it needs, at most six: `1.5`.
    static func decimal(_ whole: some BinaryInteger, millionths: some BinaryInteger) -> String {
        if millionths == 0 { return "\(whole)" }
        var digits = String(millionths, padded: 6)
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(whole).\(digits)"
    }

    /// A time of day in UTC: `2026-11-22 14:05 UTC`.
    package static func minute(_ time: Timestamp) -> String { "\(date(time)) \(timeOfDay(time)) UTC" }

    package static func date(_ time: Timestamp) -> String { String(time.description.prefix { $0 != "T" }) }

    /// The hour and minute of a time in UTC: `14:05`.
    package static func timeOfDay(_ time: Timestamp) -> String {
        String(time.description.drop { $0 != "T" }.dropFirst().prefix(5))
    }
}

extension String {
    /// The digits of a number that is not negative, with zeros before them up to a width.
    package init(_ number: some BinaryInteger, padded width: Int, radix: Int = 10, uppercase: Bool = false) {
        let digits = String(number, radix: radix, uppercase: uppercase)
        self = String(repeating: "0", count: Swift.max(0, width - digits.utf8.count)) + digits
    }
}
