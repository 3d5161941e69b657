// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyFigures
import UpdatePolicy

/// A time as templates show it, in UTC, with its distance from now.
struct PageTime {
    /// For programs, and the script of the pages.
    let iso: String
    /// `2026-11-22 14:05 UTC`.
    let text: String
    /// `in 2 h`, `2 min ago`, `now`.
    let distance: String

    init(_ time: Timestamp, now: Timestamp) {
        iso = "\(time)"
        text = Self.text(time)
        distance = time == now ? "now" : time.distance(from: now) ?? ""
    }

    /// A time in UTC: `2026-11-22 14:05 UTC`.
    static func text(_ time: Timestamp) -> String { NumberText.minute(time) }
}
