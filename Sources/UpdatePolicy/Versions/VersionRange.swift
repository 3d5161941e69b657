/// A set of versions, written in npm's grammar for ranges.
///
/// `<`, `<=`, `>`, `>=`, `=`, a bare version, a space for "and", `||` for "or", `1.2 - 1.4`, `1.2.x`, `~1.2.3`, `^1.2.3`
/// and `*`. Unlike in npm a version is exact and padded with zeros (`=1.2` is 1.2.0 alone, write `1.2.x` for the
/// family), and pre-releases are ordinary members of the order (`<1.2` includes `1.2-beta`).
package struct VersionRange: Sendable, CustomStringConvertible {
    package let text: String
    package var description: String { text }

    /// What the range means: not empty, sorted, and none touches the next.
    let intervals: [VersionInterval]

    /// Reads a range; `nil` where it cannot be read, and where no version can be in it.
    ///
    /// What is wrong with such a text, the database says when somebody writes it.
    package init?(_ text: String) {
        guard let intervals = text.withBytes(VersionRangeParser.intervals(of:)) else { return nil }
        self.text = text
        self.intervals = intervals
    }

    /// Whether any version in the range is this one or a later one.
    package func hasVersions(from version: AppVersion) -> Bool {
        intervals.last.map { version.key < $0.upper } ?? false
    }

    package func contains(_ version: AppVersion) -> Bool {
        intervals.contains { $0.contains(version.key) }
    }
}
