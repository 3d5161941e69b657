// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// Says how often a message is shown to people: `Shown again after 1 day, at most 3 times; can be skipped.`
enum HintsText {
    /// The hints of a message as a sentence; nil where it has none.
    static func sentence(_ hints: MessageHints?) -> String? {
        guard let hints else { return nil }
        var shown: [String] = []
        if let seconds = hints.remind, hints.shows != 1 {
            let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
            shown.append("again after \(DayTimeInterval(days: Int32(clamping: days), microseconds: rest * 1_000_000))")
        }
        if let shows = hints.shows { shown.append(shows == 1 ? "once" : "at most \(shows) times") }
        guard !shown.isEmpty else { return "Can be skipped." }
        return "Shown \(shown.joined(separator: ", "))\(hints.skip ? "; can be skipped" : "")."
    }
}
