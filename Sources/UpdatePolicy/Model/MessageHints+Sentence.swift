extension MessageHints {
    /// How often the message is shown, for people: `Shown again after 1 day, at most 3 times; can be skipped.`
    package var sentence: String {
        var shown: [String] = []
        if let seconds = remind, shows != 1 {
            shown.append("again after \(DayTimeInterval(microseconds: seconds * 1_000_000))")
        }
        if let shows = shows { shown.append(shows == 1 ? "once" : "at most \(shows) times") }
        guard !shown.isEmpty else { return "Can be skipped." }
        return "Shown \(shown.joined(separator: ", "))\(skip ? "; can be skipped" : "")."
    }
}
