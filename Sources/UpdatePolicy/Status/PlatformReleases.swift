// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The releases of an app on one platform, and which of them is offered to whom at which times.
struct PlatformReleases {
    /// Clients that are offered the same.
    private struct Clients {
        /// Their region; `nil`: none that a release names, or none that they sent.
        let region: String?
        /// The releases' `min_os` that their system has reached last; `nil`: none, or none that they sent.
        let least: VersionKey?
        let systems: VersionInterval
        let offers: [(release: JudgedRelease, times: TimeSpans)]
    }

    /// The greatest first.
    let releases: [JudgedRelease]
    private let regions: Set<String>
    private var clients: [Int64: [Clients]] = [:]

    init(_ releases: [Release]) {
        self.releases = releases.compactMap { JudgedRelease($0) }.sorted(by: JudgedRelease.isOfferedBefore)
        regions = Set(releases.flatMap { $0.regions ?? [] })
    }

    /// The times at which somebody in a place has a way out of a lockout.
    ///
    /// - Parameters:
    ///   - rule: The rule.
    ///   - region: One of its regions; `nil` where it names none.
    mutating func waysOut(of rule: JudgedRule, in region: String?) -> TimeSpans {
        let region = region.flatMap { regions.contains($0) ? $0 : nil }
        let ways = releases.filter { rule.isLeft(for: $0) }.map(\.row.id)
        guard !ways.isEmpty else { return .never }
        var times = TimeSpans.never
        for clients in clients(soak: rule.row.soakMicroseconds) {
            guard rule.row.regions == nil || clients.region == region else { continue }
            guard rule.os?.contains(where: { $0.overlaps(clients.systems) }) ?? true else { continue }
            for offer in clients.offers where ways.contains(offer.release.row.id) {
                let isReached = rule.target.map { !(offer.release.version < $0) } ?? true
                times = times.union(
                    isReached ? offer.times : offer.times.intersection(reach(of: rule, for: clients))
                )
            }
        }
        return times
    }

    /// When clients get a release that reaches a rule's target. What they did not send does not hold against a release.
    private func reach(of rule: JudgedRule, for clients: Clients) -> TimeSpans {
        let isAnywhere = rule.row.regions == nil && clients.region == nil
        let isAnySystem = rule.os == nil && clients.least == nil
        return times(of: rule) { release in
            (isAnywhere || Self.isFor(clients.region, release)) && (isAnySystem || Self.isFor(clients.least, release))
        }
    }

    /// When a release that reaches a rule's target can be had by some client that the rule is for.
    func reach(of rule: JudgedRule) -> TimeSpans {
        times(of: rule) { Self.isForSome(of: rule, $0) }
    }

    private func times(of rule: JudgedRule, where isObtainable: (JudgedRelease) -> Bool) -> TimeSpans {
        guard let target = rule.target else { return .always }
        return releases.filter { !($0.version < target) && isObtainable($0) }
            .reduce(.never) { $0.union($1.row.times(soak: rule.row.soakMicroseconds)) }
    }

    /// Whether region and system let some client have a release that a rule is for.
    static func isForSome(of rule: JudgedRule, _ release: JudgedRelease) -> Bool {
        isForRegions(of: rule, release) && isForSystems(of: rule, release)
    }

    static func isForRegions(of rule: JudgedRule, _ release: JudgedRelease) -> Bool {
        guard let regions = release.row.regions, let wanted = rule.row.regions else { return true }
        return wanted.contains { regions.contains($0) }
    }

    private static func isForSystems(of rule: JudgedRule, _ release: JudgedRelease) -> Bool {
        guard let minOS = release.minOS, let systems = rule.os else { return true }
        return systems.contains { $0.overlaps(VersionInterval(lower: minOS, upper: .maximum)) }
    }

    private static func isFor(_ region: String?, _ release: JudgedRelease) -> Bool {
        release.row.regions.map { regions in region.map(regions.contains) ?? false } ?? true
    }

    private static func isFor(_ system: VersionKey?, _ release: JudgedRelease) -> Bool {
        release.minOS.map { minOS in system.map { !($0 < minOS) } ?? false } ?? true
    }

    private mutating func clients(soak: Int64) -> [Clients] {
        if let known = clients[soak] { return known }
        let steps = Set(releases.compactMap(\.minOS)).sorted()
        let leasts = [nil] + steps.map { Optional($0) }
        let ends = steps + [.maximum]
        var all: [Clients] = []
        for region in [nil] + regions.map({ Optional($0) }) {
            for (least, end) in zip(leasts, ends) {
                var taken = TimeSpans.never
                var offers: [(release: JudgedRelease, times: TimeSpans)] = []
                for release in releases where Self.isFor(region, release) && Self.isFor(least, release) {
                    let times = release.row.times(soak: soak)
                    let left = times.subtracting(taken)
                    if left != .never { offers.append((release, left)) }
                    taken = taken.union(times)
                }
                let systems = VersionInterval(lower: least ?? .minimum, upper: end)
                all.append(Clients(region: region, least: least, systems: systems, offers: offers))
            }
        }
        clients[soak] = all
        return all
    }
}
