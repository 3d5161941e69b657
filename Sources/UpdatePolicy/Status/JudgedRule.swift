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
    var effectiveVersions: [VersionInterval] { (versions ?? [.all]).below(target ?? .maximum) }

    /// Whether it is for a version and build; a build that is not known is any.
    func isFor(_ release: JudgedRelease) -> Bool {
        versions?.contains { $0.contains(release.version) } ?? true
            && release.build.map { build in builds?.contains { $0.contains(build) } ?? true } ?? true
            && target.map { release.version < $0 } ?? true
    }

    /// Whether a release lets somebody out of the rule's lockout: it is above a client that the rule matches, and would
    /// not be matched itself.
    func isLeft(for release: JudgedRelease) -> Bool {
        if isFor(release) { return false }
        let versions = effectiveVersions
        if versions.contains(where: { $0.lower < release.family }) { return true }
        guard let build = release.build, versions.contains(where: { $0.contains(release.version) }) else {
            return false
        }
        return (builds ?? [.all]).contains { $0.lower < build }
    }

    /// The times at which it is on for everybody whom it is for.
    var timesForAll: TimeSpans {
        let steps = row.effectiveSteps.sorted { $0.at < $1.at }
        let starts = [.earliest] + steps.map(\.at)
        let ends = steps.map(\.at) + [.latest]
        let shares = [row.rollout] + steps.map(\.rollout)
        let spans = shares.indices.filter { shares[$0] == .all }.map { starts[$0]..<ends[$0] }
        return TimeSpans(spans).intersection(TimeSpans(from: row.startsAt, until: row.endsAt))
    }
}
