/// A share of all installs, from 0 to 100 percent in hundredths of a percent.
package struct Percentage: Sendable, Hashable, Comparable {
    /// The share in hundredths of a percent, 0 to 10,000. A bucket below it is in.
    package let hundredths: Int

    /// Nobody.
    package static let zero = Percentage(unchecked: 0)

    /// Everybody, also clients without an install id.
    package static let all = Percentage(unchecked: 10_000)

    /// A share in hundredths of a percent; `nil` unless that is 0 to 10,000.
    package init?(hundredths: Int) {
        guard (0...10_000).contains(hundredths) else { return nil }
        self.hundredths = hundredths
    }

    private init(unchecked hundredths: Int) {
        self.hundredths = hundredths
    }

    /// Reads `37`, `37.5`, `37.25` or `37.25%`.
    ///
    /// More than two decimals that are not zero, a sign, an exponent and anything outside 0 to 100 are `nil`: a share is
    /// refused, never rounded.
    package init?(_ text: String) {
        var digits = Substring(text)
        if digits.hasSuffix("%") { digits.removeLast() }
        let parts = digits.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, !whole.isEmpty, whole.utf8.allSatisfy(ASCII.isDigit) else { return nil }
        var decimals = parts.count == 2 ? parts[1] : "0"
        guard !decimals.isEmpty, decimals.utf8.allSatisfy(ASCII.isDigit) else { return nil }
        while decimals.utf8.count > 2, decimals.hasSuffix("0") { decimals.removeLast() }
        guard decimals.utf8.count <= 2, let units = Int(whole), units <= 100, let fraction = Int(decimals) else {
            return nil
        }
        self.init(hundredths: units * 100 + (decimals.utf8.count == 1 ? fraction * 10 : fraction))
    }

    package static func < (left: Percentage, right: Percentage) -> Bool {
        left.hundredths < right.hundredths
    }
}

extension Percentage: CustomStringConvertible {
    /// The percentage with as many decimals as it needs: `37.25`, `37.5`, `37`.
    package var description: String {
        let (whole, fraction) = hundredths.quotientAndRemainder(dividingBy: 100)
        if fraction == 0 { return "\(whole)" }
        if fraction % 10 == 0 { return "\(whole).\(fraction / 10)" }
        return "\(whole).\(fraction < 10 ? "0" : "")\(fraction)"
    }
}

/// Stored as hundredths of a percent.
extension Percentage: RawRepresentable, Codable {
    package init?(rawValue: Int) { self.init(hundredths: rawValue) }
    package var rawValue: Int { hundredths }
}
