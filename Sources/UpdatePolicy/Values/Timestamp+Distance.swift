extension Timestamp {
    /// How far the moment is from now: `in 2 h`, `2 min ago`; nil where that is more than can be told.
    package func distance(from now: Timestamp) -> String? {
        let (distance, overflow) = microsecondsSince1970.subtractingReportingOverflow(now.microsecondsSince1970)
        if overflow { return nil }
        let text = NumberText.duration(microseconds: Int64(clamping: distance.magnitude))
        return distance < 0 ? "\(text) ago" : "in \(text)"
    }
}
