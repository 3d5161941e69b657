/// The releases of a platform, as offers to a client of which not everything is known: each is looked at once, and the offers
/// under each soak are kept.
struct PossibleReleases {
    private let time: Int64
    /// Those that the client may get now, the greatest first, whether it certainly can, and whether they are above what it
    /// has.
    private var possible: [(release: CompiledRelease, isCertain: Bool, isAbove: Bool)] = []
    private var offersBySoak: [Int64: PossibleOffers] = [:]

    init(_ list: ReleaseList?, _ asker: PartialClient, at time: Int64, _ missingValues: ReleaseList.MissingValues) {
        self.time = time
        guard let list else { return }
        // A lower release is offered only if it has been live for longer than any that every client can get.
        var oldest = Int64.max
        for release in list.releases where release.liveAt < oldest && release.isLive(at: time) {
            let verdict = list.verdict(of: release, asker, missingValues)
            if verdict == .unmet { continue }
            possible.append((release, verdict == .met, release.isAbove(asker.client)))
            if verdict == .met { oldest = release.liveAt }
        }
    }

    /// How many releases are looked at to find the offers under a soak.
    func steps(toSoak soak: Int64) -> Int { offersBySoak[soak] == nil ? possible.count : 0 }

    /// From the greatest release down to the first that every client can get.
    mutating func offers(soak: Int64) -> PossibleOffers {
        if let offers = offersBySoak[soak] { return offers }
        var offers = PossibleOffers()
        for (release, isCertain, isAbove) in possible {
            let (reached, overflow) = release.liveAt.addingReportingOverflow(soak)
            if overflow || time < reached { continue }
            offers.releases.append(release)
            offers.areAbove = offers.areAbove && isAbove
            offers.isCertain = isCertain
            if isCertain { break }
        }
        offersBySoak[soak] = offers
        return offers
    }
}

/// The releases that a client of which not everything is known may be offered under a soak.
struct PossibleOffers {
    /// Those that may be the offer, the greatest first.
    fileprivate(set) var releases: [CompiledRelease] = []

    /// Whether one of them is the offer in any case; the least of them is then the least offer.
    fileprivate(set) var isCertain = false

    /// Whether each of them is above what the client has.
    fileprivate(set) var areAbove = true

    var greatest: CompiledRelease? { releases.first }

    /// The offer that every client has at least.
    var least: CompiledRelease? { isCertain ? releases.last : nil }

    /// Whether one of them is in one of some intervals, which are sorted.
    func isAny(in intervals: [VersionInterval]) -> Bool {
        intervals.contains { interval in
            let first = releases.indices.partitioningIndex { releases[$0].version < interval.upper }
            return first < releases.count && !(releases[first].version < interval.lower)
        }
    }
}

extension ReleaseList {
    /// How sure it is that a client can get a release which is live.
    func verdict(of release: CompiledRelease, _ asker: PartialClient, _ missingValues: MissingValues) -> Verdict {
        min(verdict(ofRegions: release, asker.client, missingValues), verdict(ofSystem: release, asker, missingValues))
    }

    private func verdict(ofRegions release: CompiledRelease, _ client: Client, _ missingValues: MissingValues)
        -> Verdict
    {
        if release.regions.isEmpty { return .met }
        if let region = client.region { return Verdict(regions.holds(region.letters, in: release.regions)) }
        return client.has(.region) ? Verdict(missingValues == .pass) : .unknown
    }

    private func verdict(
        ofSystem release: CompiledRelease,
        _ asker: PartialClient,
        _ missingValues: MissingValues
    ) -> Verdict {
        guard let minOS = release.minOS else { return .met }
        switch asker.system {
        case .exactly(nil): return Verdict(missingValues == .pass)
        case .exactly(let os?):
            return Verdict(numbersOfNoSystem.contains(os) ? missingValues == .pass : !(os < minOS))
        case .any: return .unknown
        case .within: return asker.system.verdict(in: [VersionInterval(lower: minOS, upper: .maximum)])
        }
    }
}
