// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// Writes JSON whose members keep their order, which Foundation's encoder does not promise.
enum JSONText {
    /// A JSON string, with terminal controls escaped.
    static func string(_ text: String) -> String { visible(JSONString.literal(text)) }

    /// JSON with terminal controls escaped. Its meaning stays the same, because they can occur in strings only.
    static func visible(_ json: String) -> String { json.visibleJSON }
}

extension JSONText {
    /// A JSON object with its members in this order; the values are JSON.
    static func object(_ members: KeyValuePairs<String, String>) -> String {
        "{" + members.map { "\(string($0)):\($1)" }.joined(separator: ",") + "}"
    }

    /// A JSON array of JSON values, each on a line of its own.
    static func array(_ elements: [String]) -> String {
        elements.isEmpty ? "[]" : "[\n" + elements.joined(separator: ",\n") + "\n]"
    }

    /// A JSON string, `null` where there is none.
    static func optional(_ text: String?) -> String {
        text.map { string($0) } ?? "null"
    }

    /// A number that is not negative, with up to six decimals.
    static func number(_ number: Double) -> String {
        let millionths = Int64((number * 1_000_000).rounded())
        let (whole, fraction) = millionths.quotientAndRemainder(dividingBy: 1_000_000)
        if fraction == 0 { return "\(whole)" }
        var digits = String(fraction)
        digits = String(repeating: "0", count: 6 - digits.count) + digits
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(whole).\(digits)"
    }
}
