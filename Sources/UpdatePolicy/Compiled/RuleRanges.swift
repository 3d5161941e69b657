// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The ranges and the target of a rule, read from their texts.
struct RuleRanges {
    let versions: [VersionInterval]
    let builds: [VersionInterval]
    let os: [VersionInterval]
    let target: VersionKey?

    init(_ rule: Rule) throws(PolicyError) {
        versions = try Self.intervals(rule.versions, "versions", rule)
        builds = try Self.intervals(rule.builds, "builds", rule)
        os = try Self.intervals(rule.os, "os", rule)
        guard let target = rule.target else {
            self.target = nil
            return
        }
        guard let version = AppVersion(target) else {
            throw PolicyError(row: "rule \(rule.key)", reason: "has the target \"\(target)\", which cannot be read")
        }
        self.target = version.key
    }

    /// The bounds that the versions of clients are ranked by.
    var versionBounds: [VersionKey] {
        Self.bounds(versions) + (target.map { [$0] } ?? [])
    }

    static func bounds(_ intervals: [VersionInterval]) -> [VersionKey] {
        intervals.flatMap { [$0.lower, $0.upper] }.filter { $0 != .minimum && $0 != .maximum }
    }

    private static func intervals(
        _ text: String?,
        _ column: String,
        _ rule: Rule
    ) throws(PolicyError) -> [VersionInterval] {
        guard let text else { return [] }
        do {
            return try VersionRange(text).intervals
        } catch {
            throw PolicyError(row: "rule \(rule.key)", reason: "\(column): \(error.message)")
        }
    }
}
