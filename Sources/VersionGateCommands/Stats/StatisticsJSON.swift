// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
import UpdatePolicy

/// The statistics of an app for programs: one object.
struct StatisticsJSON {
    private let statistics: AppStatistics

    init(_ statistics: AppStatistics) {
        self.statistics = statistics
    }

    /// The object; its members keep their order.
    var text: String {
        JSONText.object([
            "bundle": JSONText.string(statistics.bundle), "days": "\(statistics.days)",
            "checks": "\(statistics.checks)", "messages": "\(statistics.messages)",
            "lockouts": "\(statistics.lockouts)", "merged": "\(statistics.merged?.checks ?? 0)",
            "by_day": JSONText.array(statistics.byDay.map(day)),
            "platforms": JSONText.array(statistics.platforms.map(platform)), "current": current,
            "newest_releases": JSONText.array(statistics.adoptions.map(adoption)),
            "unreadable": statistics.unreadable.map(UnreadableVersionsJSON.text) ?? "null",
        ])
    }

    private func day(_ day: AppStatistics.Day) -> String {
        let versions = day.versions.map {
            JSONText.object(["version": JSONText.optional($0.version), "checks": "\($0.checks)"])
        }
        return JSONText.object([
            "day": JSONText.string(StatisticsText.date(day.start)), "checks": "\(day.checks)",
            "messages": "\(day.messages)", "lockouts": "\(day.lockouts)",
            "versions": "[\(versions.joined(separator: ","))]",
        ])
    }

    private func platform(_ platform: AppStatistics.PlatformCount) -> String {
        JSONText.object([
            "platform": JSONText.optional(platform.platform), "checks": "\(platform.checks)",
            "share": JSONText.number(Double(platform.checks) / Double(statistics.checks)),
        ])
    }

    private var current: String {
        let versions = statistics.current.map { version in
            JSONText.object([
                "platform": JSONText.optional(version.platform), "version": JSONText.optional(version.version),
                "checks": "\(version.checks)",
                "share": JSONText.number(Double(version.checks) / Double(statistics.currentChecks)),
            ])
        }
        return JSONText.object([
            "since": JSONText.string(statistics.currentSince.description), "checks": "\(statistics.currentChecks)",
            "versions": JSONText.array(versions),
        ])
    }

    private func adoption(_ adoption: AppStatistics.Adoption) -> String {
        let release = adoption.release.release
        return JSONText.object([
            "platform": JSONText.string(release.platform), "version": JSONText.string(release.version.text),
            "live_at": JSONText.string(release.liveAt.description),
            "share": adoption.share.map(JSONText.number) ?? "null",
            "half_at": JSONText.optional(adoption.release.halfAt?.description),
            "seconds_to_half": adoption.release.microsecondsToHalf.map { "\($0 / 1_000_000)" } ?? "null",
        ])
    }
}
