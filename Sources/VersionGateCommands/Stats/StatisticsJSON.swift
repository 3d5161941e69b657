// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyFigures
import PolicyStore
import UpdatePolicy

/// The statistics of an app for programs: one object.
struct StatisticsJSON {
    private let figures: AppFigures
    private let daily: [PeriodCount]

    /// Prepares an object.
    ///
    /// - Parameter daily: The checks by day and version.
    init(_ figures: AppFigures, daily: [PeriodCount]) {
        self.figures = figures
        self.daily = daily
    }

    /// The object; its members keep their order.
    var text: String {
        let days = Dictionary(grouping: daily, by: \.start).sorted { $0.key < $1.key }
        return JSONText.object([
            "bundle": JSONText.string(figures.bundle), "days": "\(figures.days)",
            "checks": "\(figures.total.checks)", "messages": "\(figures.total.messages)",
            "lockouts": "\(figures.total.lockouts)", "merged": "\(figures.merged?.checks ?? 0)",
            "by_day": JSONText.array(days.map(day)),
            "platforms": JSONText.array(figures.platforms.map(platform)), "current": current,
            "newest_releases": JSONText.array(figures.adoptions.map(adoption)),
            "unreadable": figures.unreadable.map(UnreadableVersionsJSON.text) ?? "null",
        ])
    }

    private func day(_ start: Timestamp, _ counts: [PeriodCount]) -> String {
        let named = counts.map { PlatformChecks(platform: nil, name: $0.version, checks: $0.checks) }
        let versions = AppFigures.versions(named, platform: nil).map {
            JSONText.object(["version": JSONText.optional($0.version), "checks": "\($0.checks)"])
        }
        return JSONText.object([
            "day": JSONText.string(NumberText.date(start)), "checks": "\(counts.reduce(0) { $0 + $1.checks })",
            "messages": "\(counts.reduce(0) { $0 + $1.messages })",
            "lockouts": "\(counts.reduce(0) { $0 + $1.lockouts })",
            "versions": "[\(versions.joined(separator: ","))]",
        ])
    }

    private func platform(_ platform: AppFigures.PlatformCount) -> String {
        JSONText.object([
            "platform": JSONText.optional(platform.platform), "checks": "\(platform.checks)",
            "share": JSONText.number(Double(platform.checks) / Double(figures.total.checks)),
        ])
    }

    private var current: String {
        let versions = figures.current.map { version in
            JSONText.object([
                "platform": JSONText.optional(version.platform), "version": JSONText.optional(version.version),
                "checks": "\(version.checks)",
                "share": JSONText.number(Double(version.checks) / Double(figures.currentChecks)),
            ])
        }
        return JSONText.object([
            "since": JSONText.string(figures.currentSince.description), "checks": "\(figures.currentChecks)",
            "versions": JSONText.array(versions),
        ])
    }

    private func adoption(_ adoption: AppFigures.Adoption) -> String {
        let release = adoption.newest.release
        return JSONText.object([
            "platform": JSONText.string(release.platform), "version": JSONText.string(release.version.text),
            "live_at": JSONText.string(release.liveAt.description),
            "share": adoption.share.map(JSONText.number) ?? "null",
            "half_at": JSONText.optional(adoption.newest.start(reaching: 50)?.description),
            "seconds_to_half": adoption.newest.microseconds(toReach: 50).map { "\($0 / 1_000_000)" } ?? "null",
        ])
    }
}
