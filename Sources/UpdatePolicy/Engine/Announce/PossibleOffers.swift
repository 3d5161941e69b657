// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// How sure it is that something holds of a client of which not everything is known.
enum Certainty: Comparable {
    case never
    case possible
    case certain

    init(_ isCertain: Bool) { self = isCertain ? .certain : .never }
}

/// The versions that the operating system of a client may have.
enum ClientSystem {
    /// The one that was sent; `nil` where it cannot be read.
    case exactly(VersionKey?)
    /// One that can be read and is in the interval.
    case within(VersionInterval)
    /// Any, or one that cannot be read.
    case any

    init(_ client: Client, family: String?) {
        if client.osText != nil {
            self = .exactly(client.osKey)
        } else if let interval = family.flatMap({ try? VersionRange("~\($0)") })?.intervals.first {
            self = .within(interval)
        } else {
            self = .any
        }
    }

    /// Those of the systems that are this version or a later one; `nil` where there are none.
    func narrowed(to least: VersionKey) -> ClientSystem? {
        var interval = VersionInterval(lower: least, upper: .maximum)
        switch self {
        case .exactly(let key): return key.flatMap { interval.contains($0) ? self : nil }
        case .within(let system): interval.formIntersection(system)
        case .any: break
        }
        return interval.isEmpty ? nil : .within(interval)
    }

    /// Whether the system is in one of some intervals.
    func certainty(in intervals: [VersionInterval]) -> Certainty {
        switch self {
        case .exactly(let key): return Certainty(key.map { key in intervals.contains { $0.contains(key) } } ?? false)
        case .any: return .possible
        case .within(let system):
            if intervals.contains(where: { !(system.lower < $0.lower) && !($0.upper < system.upper) }) {
                return .certain
            }
            return intervals.contains { $0.lower < system.upper && system.lower < $0.upper } ? .possible : .never
        }
    }
}

/// The releases that a client of which not everything is known may be offered.
struct PossibleOffers {
    /// The greatest first; each may be the offer.
    let releases: [CompiledRelease]

    /// Whether one of them is the offer in any case; the least of them is then the least offer.
    let isCertain: Bool

    /// The greatest that may be offered.
    var greatest: CompiledRelease? { releases.first }

    /// The offer that every client has at least.
    var least: CompiledRelease? { isCertain ? releases.last : nil }

    /// The releases of a list that may be offered: from the greatest down to the first that every client can get.
    init(
        _ list: ReleaseList?,
        _ client: Client,
        _ system: ClientSystem,
        at time: Int64,
        soak: Int64,
        _ judgement: ReleaseList.Judgement
    ) {
        var releases: [CompiledRelease] = []
        var isCertain = false
        for release in list?.releases ?? [] {
            let (reached, overflow) = release.liveAt.addingReportingOverflow(soak)
            guard !overflow, reached <= time, time < release.withdrawnAt, let list else { continue }
            let certainty = Self.certainty(of: release, in: list, client, system, judgement)
            if certainty == .never { continue }
            releases.append(release)
            if certainty == .certain {
                isCertain = true
                break
            }
        }
        self.releases = releases
        self.isCertain = isCertain
    }

    /// Whether clients can get a release that is live.
    static func certainty(
        of release: CompiledRelease,
        in list: ReleaseList,
        _ client: Client,
        _ system: ClientSystem,
        _ judgement: ReleaseList.Judgement
    ) -> Certainty {
        min(regions(of: release, list, client, judgement), Self.system(of: release, system, judgement))
    }

    private static func regions(
        of release: CompiledRelease,
        _ list: ReleaseList,
        _ client: Client,
        _ judgement: ReleaseList.Judgement
    ) -> Certainty {
        if release.regions.isEmpty { return .certain }
        if let region = client.region {
            return Certainty(list.regions[release.regions.indices].contains(region.letters))
        }
        return client.regionText == nil ? .possible : Certainty(judgement == .lenient)
    }

    private static func system(
        of release: CompiledRelease,
        _ system: ClientSystem,
        _ judgement: ReleaseList.Judgement
    ) -> Certainty {
        guard let minOS = release.minOS else { return .certain }
        if case .exactly(nil) = system { return Certainty(judgement == .lenient) }
        return system.certainty(in: [VersionInterval(lower: minOS, upper: .maximum)])
    }

    /// Whether one of the releases is in one of some intervals, which are sorted.
    func isAny(in intervals: [VersionInterval]) -> Bool {
        intervals.contains { interval in
            var low = 0
            var high = releases.count
            while low < high {
                let middle = (low + high) / 2
                if releases[middle].version < interval.upper { high = middle } else { low = middle + 1 }
            }
            return low < releases.count && !(releases[low].version < interval.lower)
        }
    }
}
