extension VersionRange {
    /// What the range means, in words: `2.3 or later, but before 2.3.5; or 3.0 or later, pre-releases included`.
    ///
    /// Versions are shown by their numbers, at least two of them; how they were written is in `text`.
    package var inWords: String {
        intervals.map(Self.words).joined(separator: "; or ")
    }

    /// Notes on the upper bounds that are easily missed: `11.0.1 is later than 11.0; all of 11.0 is <=11.0.x`.
    package var remarks: [String] {
        var remarks: [String] = []
        for interval in intervals where interval.upper != .maximum {
            let upper = BoundInWords(interval.upper)
            if let lower = interval.lower == .minimum ? nil : BoundInWords(interval.lower), upper.isJustAbove(lower) {
                continue
            }
            if let remark = upper.remarkAsEnd, !remarks.contains(remark) { remarks.append(remark) }
        }
        return remarks
    }

    private static func words(_ interval: VersionInterval) -> String {
        let lower = interval.lower == .minimum ? nil : BoundInWords(interval.lower)
        let upper = interval.upper == .maximum ? nil : BoundInWords(interval.upper)
        switch (lower, upper) {
        case (nil, nil): return "every version that can be read"
        case (nil, .some(let upper)): return upper.asEnd
        case (.some(let lower), nil): return lower.asStart
        case (.some(let lower), .some(let upper)):
            if upper.isJustAbove(lower) { return "exactly \(lower.version)" }
            return "\(lower.asStart), but \(upper.asEnd)"
        }
    }
}

/// A bound of a range, read back from its key.
private struct BoundInWords {
    private let numbers: String
    private let identifiers: [String]
    private let isAboveRelease: Bool

    init(_ key: VersionKey) {
        var reader = VersionKeyReader(key: key)
        var numbers = reader.numbers()
        while numbers.count < 2 { numbers.append("0") }
        self.numbers = numbers.joined(separator: ".")
        identifiers = reader.identifiers()
        isAboveRelease = identifiers.isEmpty && reader.hasMore
    }

    var version: String {
        identifiers.isEmpty ? numbers : "\(numbers)-\(identifiers.joined(separator: "."))"
    }

    private var isWildcard: Bool { identifiers == ["0"] }

    /// The pre-release that the bound comes right after, if it comes right after one.
    private var below: String? {
        guard identifiers.count > 1, identifiers.last == "0" else { return nil }
        return "\(numbers)-\(identifiers.dropLast().joined(separator: "."))"
    }

    var asStart: String {
        if isWildcard { return "\(numbers) or later, pre-releases of \(numbers) included" }
        if let below { return "later than \(below)" }
        return isAboveRelease ? "later than \(numbers)" : "\(version) or later"
    }

    var asEnd: String {
        if isWildcard { return "before \(numbers) and its pre-releases" }
        if let below { return "not later than \(below)" }
        return isAboveRelease ? "not later than \(numbers)" : "before \(version)"
    }

    /// What is easily missed where a range ends at a release.
    var remarkAsEnd: String? {
        if isAboveRelease { return "\(numbers).1 is later than \(numbers); all of \(numbers) is <=\(numbers).x" }
        return identifiers.isEmpty ? "pre-releases of \(numbers), such as \(numbers)-beta, are before it" : nil
    }

    func isJustAbove(_ lower: BoundInWords) -> Bool {
        if isAboveRelease { return !lower.isAboveRelease && lower.version == numbers }
        return !lower.identifiers.isEmpty && numbers == lower.numbers && identifiers == lower.identifiers + ["0"]
    }
}
