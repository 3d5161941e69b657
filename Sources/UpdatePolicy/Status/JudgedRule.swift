// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A rule whose conditions were read to be compared with releases and with other rules.
struct JudgedRule {
    let row: Rule
    /// The app's bundle in lower case; `nil`: every app.
    let bundle: String?
    let versions: [VersionInterval]?
    let builds: [VersionInterval]?
    let os: [VersionInterval]?
    let target: VersionKey?
    /// The platforms, in the order of their bytes.
    let platforms: [String]?

    init(_ row: Rule) {
        self.row = row
        bundle = row.bundle.map(ASCII.lowercased)
        versions = row.versions.map(Self.intervals)
        builds = row.builds.map(Self.intervals)
        os = row.os.map(Self.intervals)
        target = row.target.flatMap { AppVersion($0)?.key }
        platforms = row.platforms.map { Set($0.map { UTF8Text(Platform($0).name) }).sorted().map(\.string) }
    }

    /// Nothing for a range that cannot be read: it matches nobody.
    private static func intervals(_ range: String) -> [VersionInterval] {
        (try? VersionRange(range))?.intervals ?? []
    }

    /// The readable versions that it is for: those of its range that are below its target.
    var effectiveVersions: [VersionInterval] {
        let below = VersionInterval(lower: .minimum, upper: target ?? .maximum)
        return (versions ?? [.all]).compactMap { interval in
            var interval = interval
            interval.formIntersection(below)
            return interval.isEmpty ? nil : interval
        }
    }

    /// Whether a release lets somebody out of the rule's lockout: it is above a client that the rule matches, and would
    /// not be matched itself.
    func isLeft(for release: JudgedRelease) -> Bool {
        let isMatched =
            versions?.contains { $0.contains(release.version) } ?? true
            && release.build.map { build in builds?.contains { $0.contains(build) } ?? true } ?? true
            && target.map { release.version < $0 } ?? true
        if isMatched { return false }
        let versions = effectiveVersions
        if versions.contains(where: { $0.lower < release.family }) { return true }
        guard let build = release.build, versions.contains(where: { $0.contains(release.version) }) else {
            return false
        }
        return (builds ?? [.all]).contains { $0.lower < build }
    }

    /// The times at which it is on for everybody whom it is for.
    var timesForAll: TimeSpans {
        var spans: [Range<Int64>] = []
        var start = Int64.min
        var rollout = row.rollout
        for step in row.steps.sorted(by: { $0.at < $1.at }) {
            if rollout == .all { spans.append(start..<step.at.microsecondsSince1970) }
            (start, rollout) = (step.at.microsecondsSince1970, step.rollout)
        }
        if rollout == .all { spans.append(start ..< .max) }
        return TimeSpans(spans).intersection(TimeSpans(from: row.startsAt, until: row.endsAt))
    }

    /// Whether every client that another rule is for meets the conditions of this one, which has no target.
    func includes(_ other: JudgedRule) -> Bool {
        guard bundle == nil || bundle == other.bundle else { return false }
        if let versions {
            guard other.versions != nil || other.target != nil else { return false }
            guard Self.include(versions, other.effectiveVersions) else { return false }
        }
        return Self.include(builds, other.builds) && Self.include(os, other.os)
            && Self.include(platforms, other.platforms) && Self.include(row.regions, other.row.regions)
            && includesLanguages(of: other) && includesAttributes(of: other)
    }

    private static func include(_ intervals: [VersionInterval]?, _ others: [VersionInterval]?) -> Bool {
        guard let intervals else { return true }
        guard let others else { return false }
        return others.allSatisfy { other in
            intervals.contains { !(other.lower < $0.lower) && !($0.upper < other.upper) }
        }
    }

    private static func include(_ names: [String]?, _ others: [String]?) -> Bool {
        guard let names else { return true }
        return others.map { Set($0.map { UTF8Text($0) }).isSubset(of: names.map { UTF8Text($0) }) } ?? false
    }

    private func includesLanguages(of other: JudgedRule) -> Bool {
        guard let languages = row.languages?.map({ LanguageTag($0) }) else { return true }
        return other.row.languages.map { others in
            others.allSatisfy { other in languages.contains { LanguageTag(other).matches($0) } }
        } ?? false
    }

    private func includesAttributes(of other: JudgedRule) -> Bool {
        (row.attributes ?? []).allSatisfy { attribute in
            other.row.attributes?.contains {
                UTF8Text($0.name) == UTF8Text(attribute.name) && Self.include(attribute.values, $0.values)
            } ?? false
        }
    }
}
