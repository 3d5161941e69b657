// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Writes counts and shares for people.
enum NumberText {
    /// A whole number with commas: `12,345`.
    static func count(_ number: Int64) -> String {
        var text = ""
        for (index, digit) in String(number.magnitude).reversed().enumerated() {
            if index > 0, index % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return (number < 0 ? "-" : "") + String(text.reversed())
    }

    /// A number of checks: `1 check`, `12,345 checks`.
    static func checks(_ number: Int64, _ adjective: String = "") -> String {
        "\(count(number)) \(adjective)\(adjective.isEmpty ? "" : " ")\(number == 1 ? "check" : "checks")"
    }

    /// The least number of checks whose shares say something.
    static let fewestJudged = 30.0

    /// A part of checks in per cent; `2 of 7` where they are too few to judge by. Of a fraction it is what it is at most.
    static func share(_ part: Double, of whole: Double) -> String {
        guard whole > 0, whole < fewestJudged else { return percent(part, of: whole) }
        return "\(Int((part - 1e-9).rounded(.up))) of \(Int(whole))"
    }

    /// A part of a whole in per cent, with one decimal; never `0.0 %` for something, nor `100.0 %` for less than all.
    static func percent(_ part: Double, of whole: Double) -> String {
        guard whole > 0 else { return "-" }
        let thousandths = (part / whole * 1_000).rounded()
        if part > 0, thousandths < 1 { return "<0.1 %" }
        if part < whole, thousandths >= 1_000 { return ">99.9 %" }
        return "\(Int(thousandths) / 10).\(Int(thousandths) % 10) %"
    }
}
