/// The releases of a platform, as offers to a client of which not everything is known: each is looked at once, and the offers
/// under each soak are kept.
struct PossibleReleases {
    private let list: ReleaseList?
    private let time: Int64
    /// Those that the client may get now, the greatest first, whether it certainly can, and whether they are above what it
    /// has.
    private let possible: [(index: Int, liveAt: Int64, isCertain: Bool, isAbove: Bool)]
    private var offersBySoak: [Int64: PossibleOffers] = [:]

    init(
        _ list: ReleaseList?,
        _ asker: PartialClient,
        at time: Int64,
        _ judgement: ReleaseList.Judgement
    ) {
        self.list = list
        self.time = time
        var possible: [(index: Int, liveAt: Int64, isCertain: Bool, isAbove: Bool)] = []
        // A lower release is offered only if it has been live for longer than any that every client can get.
        var oldest = Int64.max
        if let list {
            for index in list.releases.indices {
                let liveAt = list.releases[index].liveAt
                guard liveAt < oldest, list.releases[index].isLive(at: time) else { continue }
                let release = list.releases[index]
                let certainty = list.certainty(of: release, asker, judgement)
                if certainty == .never { continue }
                possible.append((index, liveAt, certainty == .certain, release.isAbove(asker.client)))
                if certainty == .certain { oldest = liveAt }
            }
        }
        self.possible = possible
    }

    /// How many releases are looked at to find the offers under a soak.
    func steps(toSoak soak: Int64) -> Int { offersBySoak[soak] == nil ? possible.count : 0 }

    mutating func offers(soak: Int64) -> PossibleOffers {
        if let offers = offersBySoak[soak] { return offers }
        let offers = found(soak: soak)
        offersBySoak[soak] = offers
        return offers
    }

    /// From the greatest release down to the first that every client can get.
    private func found(soak: Int64) -> PossibleOffers {
        var indexes: [Int] = []
        var areAbove = true
        for release in possible {
            let (reached, overflow) = release.liveAt.addingReportingOverflow(soak)
            if overflow || time < reached { continue }
            indexes.append(release.index)
            areAbove = areAbove && release.isAbove
            if release.isCertain {
                return PossibleOffers(list: list, indexes: indexes, isCertain: true, areAbove: areAbove)
            }
        }
        return PossibleOffers(list: list, indexes: indexes, isCertain: false, areAbove: areAbove)
    }
}

/// The releases that a client of which not everything is known may be offered under a soak.
struct PossibleOffers {
    let list: ReleaseList?

    /// The indexes of those that may be the offer, the greatest first.
    let indexes: [Int]

    /// Whether one of them is the offer in any case; the least of them is then the least offer.
    let isCertain: Bool

    /// Whether each of them is above what the client has.
    let areAbove: Bool

    /// The greatest that may be offered.
    var greatest: CompiledRelease? { indexes.first.flatMap(release(at:)) }

    /// The offer that every client has at least.
    var least: CompiledRelease? { isCertain ? indexes.last.flatMap(release(at:)) : nil }

    /// Whether each of them meets a condition.
    func allSatisfy(_ isMet: (CompiledRelease) -> Bool) -> Bool {
        indexes.allSatisfy { release(at: $0).map(isMet) ?? true }
    }

    /// Whether one of the releases is in one of some intervals, which are sorted.
    func isAny(in intervals: [VersionInterval]) -> Bool {
        intervals.contains { interval in
            let first = indexes.indices.partitioningIndex {
                release(at: indexes[$0]).map { $0.version < interval.upper } ?? true
            }
            return first < indexes.count && release(at: indexes[first]).map { !($0.version < interval.lower) } ?? false
        }
    }

    private func release(at index: Int) -> CompiledRelease? { list?.releases[index] }
}

extension ReleaseList {
    /// How sure it is that a client can get a release which is live.
    func certainty(of release: CompiledRelease, _ asker: PartialClient, _ judgement: Judgement) -> Certainty {
        min(certainty(ofRegions: release, asker.client, judgement), certainty(ofSystem: release, asker, judgement))
    }

    private func certainty(ofRegions release: CompiledRelease, _ client: Client, _ judgement: Judgement) -> Certainty {
        if release.regions.isEmpty { return .certain }
        if let region = client.region { return Certainty(regions.holds(region.letters, in: release.regions)) }
        return client.has(.region) ? Certainty(judgement == .lenient) : .possible
    }

    private func certainty(
        ofSystem release: CompiledRelease,
        _ asker: PartialClient,
        _ judgement: Judgement
    ) -> Certainty {
        guard let minOS = release.minOS else { return .certain }
        switch asker.system {
        case .exactly(nil): return Certainty(judgement == .lenient)
        case .exactly(let os?):
            return Certainty(numbersOfNoSystem.contains(os) ? judgement == .lenient : !(os < minOS))
        case .any: return .possible
        case .within: return asker.system.certainty(in: [VersionInterval(lower: minOS, upper: .maximum)])
        }
    }
}
