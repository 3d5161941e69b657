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

/// The releases of a platform, as offers to a client of which not everything is known: each is looked at once, and the offers
/// under each soak are kept.
struct PossibleReleases {
    private let list: ReleaseList?
    private let time: Int64
    /// Those that the client may get now, the greatest first, and whether it certainly can.
    private let possible: [(place: Int, liveAt: Int64, isCertain: Bool)]
    private var offersBySoak: [Int64: PossibleOffers] = [:]

    init(
        _ list: ReleaseList?,
        _ client: Client,
        _ system: ClientSystem,
        at time: Int64,
        _ judgement: ReleaseList.Judgement
    ) {
        self.list = list
        self.time = time
        var possible: [(place: Int, liveAt: Int64, isCertain: Bool)] = []
        // A lower release is offered only if it has been live for longer than any that every client can get.
        var oldest = Int64.max
        for (place, release) in (list?.releases ?? []).enumerated() {
            guard let list, release.isLive(at: time), release.liveAt < oldest else { continue }
            let certainty = list.certainty(of: release, client, system, judgement)
            if certainty == .never { continue }
            possible.append((place, release.liveAt, certainty == .certain))
            if certainty == .certain { oldest = release.liveAt }
        }
        self.possible = possible
    }

    /// What may be offered under a soak.
    mutating func offers(soak: Int64) -> PossibleOffers {
        if let offers = offersBySoak[soak] { return offers }
        let offers = found(soak: soak)
        offersBySoak[soak] = offers
        return offers
    }

    /// From the greatest release down to the first that every client can get.
    private func found(soak: Int64) -> PossibleOffers {
        var places: [Int] = []
        for release in possible {
            let (reached, overflow) = release.liveAt.addingReportingOverflow(soak)
            if overflow || time < reached { continue }
            places.append(release.place)
            if release.isCertain { return PossibleOffers(list: list, places: places, isCertain: true) }
        }
        return PossibleOffers(list: list, places: places, isCertain: false)
    }
}

/// The releases that a client of which not everything is known may be offered under a soak.
struct PossibleOffers {
    let list: ReleaseList?

    /// The places of those that may be the offer, the greatest first.
    let places: [Int]

    /// Whether one of them is the offer in any case; the least of them is then the least offer.
    let isCertain: Bool

    /// The greatest that may be offered.
    var greatest: CompiledRelease? { places.first.flatMap(release(at:)) }

    /// The offer that every client has at least.
    var least: CompiledRelease? { isCertain ? places.last.flatMap(release(at:)) : nil }

    /// Whether each of them meets a condition.
    func allSatisfy(_ isMet: (CompiledRelease) -> Bool) -> Bool {
        places.allSatisfy { release(at: $0).map(isMet) ?? true }
    }

    /// Whether one of the releases is in one of some intervals, which are sorted.
    func isAny(in intervals: [VersionInterval]) -> Bool {
        intervals.contains { interval in
            let first = places.firstPlace { release(at: $0).map { $0.version < interval.upper } ?? true }
            return first < places.count && release(at: places[first]).map { !($0.version < interval.lower) } ?? false
        }
    }

    private func release(at place: Int) -> CompiledRelease? { list?.releases[place] }
}

extension ReleaseList {
    /// How sure it is that a client can get a release which is live.
    func certainty(
        of release: CompiledRelease,
        _ client: Client,
        _ system: ClientSystem,
        _ judgement: Judgement
    ) -> Certainty {
        min(certainty(ofRegions: release, client, judgement), Self.certainty(ofSystem: release, system, judgement))
    }

    private func certainty(ofRegions release: CompiledRelease, _ client: Client, _ judgement: Judgement) -> Certainty {
        if release.regions.isEmpty { return .certain }
        if let region = client.region { return Certainty(regions[release.regions.indices].contains(region.letters)) }
        return client.regionText == nil ? .possible : Certainty(judgement == .lenient)
    }

    private static func certainty(
        ofSystem release: CompiledRelease,
        _ system: ClientSystem,
        _ judgement: Judgement
    ) -> Certainty {
        guard let minOS = release.minOS else { return .certain }
        if case .exactly(nil) = system { return Certainty(judgement == .lenient) }
        return system.certainty(in: [VersionInterval(lower: minOS, upper: .maximum)])
    }
}

extension Array {
    /// The place of the first element that meets a condition, which all behind it meet too.
    func firstPlace(where isMet: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if isMet(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
