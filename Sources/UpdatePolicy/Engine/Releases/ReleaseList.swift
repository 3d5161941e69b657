/// The releases of one app on one platform, the greatest first.
///
/// Greatest is by version, then by build (none is below any); of equal ones the lowest id comes first.
final class ReleaseList: Sendable {
    let platform: Int32
    let releases: [JudgedRelease]
    let builds: RecordedBuilds
    private let numbersOfNoSystem: VersionInterval

    init(_ rows: [Release], onPlatform platform: Int32) throws(PolicyError) {
        let releases = try rows.map { row throws(PolicyError) in try JudgedRelease(reading: row) }
        self.platform = platform
        self.releases = releases.sorted { $1.isLess(than: $0) ?? ($0.row.id < $1.row.id) }
        builds = RecordedBuilds(rows)
        numbersOfNoSystem = rows.first.map { Platform($0.platform).numbersOfNoSystem } ?? .none
    }

    /// Those of a version, in their order.
    func releases(of version: VersionKey) -> ArraySlice<JudgedRelease> {
        let first = releases.indices.partitioningIndex { !(version < releases[$0].version) }
        return releases[first...].prefix { $0.version == version }
    }

    /// A version as its first row spells it; `nil` where no release has it.
    func spelling(of version: VersionKey) -> String? {
        releases(of: version).min { $0.row.id < $1.row.id }?.row.version
    }

    /// How sure it is that clients can get a release which is live.
    @inline(__always)
    func verdict(of release: JudgedRelease, _ asker: ReleaseAsker, _ missingValues: MissingValues) -> Verdict {
        min(verdict(ofRegions: release, asker, missingValues), verdict(ofSystem: release, asker, missingValues))
    }

    func verdict(ofRegions release: JudgedRelease, _ asker: ReleaseAsker, _ missingValues: MissingValues) -> Verdict {
        if release.regions.isEmpty { return .met }
        if let region = asker.region {
            return Verdict(release.regions.holds(region.letters, in: 0..<release.regions.count))
        }
        return asker.mayBeAnywhere ? .unknown : Verdict(missingValues == .pass)
    }

    func verdict(ofSystem release: JudgedRelease, _ asker: ReleaseAsker, _ missingValues: MissingValues) -> Verdict {
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

/// What holds against a release when the region or the operating system of clients cannot be judged.
enum MissingValues {
    /// Nothing: a target may ask for it.
    case pass
    /// A condition on it: it is no way out.
    case fail
}

/// What of some clients releases are judged by.
struct ReleaseAsker {
    let region: Region?
    /// Whether they may be anywhere; otherwise, without a region, it cannot be judged where they are.
    let mayBeAnywhere: Bool
    let system: ClientSystem

    init(_ client: borrowing Client) {
        (region, mayBeAnywhere, system) = (client.region, false, .exactly(client.osKey))
    }

    init(_ asker: Asker) {
        (region, mayBeAnywhere, system) = (asker.client.region, asker.unknown.contains(.regions), asker.system)
    }
}

extension CompiledPolicy {
    /// The client's version as the releases of its app on its platform spell it; `nil` where none has that version.
    ///
    /// Every release counts, also one that is staged, withdrawn, or not live yet.
    package func releaseVersion(of client: borrowing Client) -> String? {
        guard let app = app(of: client), let version = client.versionKey else { return nil }
        return app.releases(on: platformNumbers.number(of: client))?.spelling(of: version)
    }
}
