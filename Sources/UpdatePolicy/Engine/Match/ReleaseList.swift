/// The releases of one app on one platform that somebody can get at some time, the greatest first.
///
/// Greatest is by version, then by build (none is below any); of equal ones the lowest id comes first. It is a class so that
/// each rule of a check that asks for an offer counts one reference, not one for each array.
final class ReleaseList: Sendable {
    /// What holds against a release when the client's region or operating system cannot be judged.
    enum MissingValues {
        /// Nothing: a target may ask for it.
        case pass
        /// A condition on it: it is no way out.
        case fail
    }

    let platform: Int32
    let numbersOfNoSystem: VersionInterval
    let releases: [CompiledRelease]
    let regions: [UInt16]
    /// The builds of all rows on the platform, also of those that nobody can get.
    let builds: RecordedBuilds

    /// Compiles the releases at some indexes of the rows of an app.
    init(_ rows: [Release], _ indexes: [Int], onPlatform platform: Int32) throws(PolicyError) {
        var releases: [CompiledRelease] = []
        var regions: [UInt16] = []
        for index in indexes {
            if let release = try CompiledRelease(rows[index], at: index, &regions) { releases.append(release) }
        }
        self.platform = platform
        numbersOfNoSystem = indexes.first.map { Platform(rows[$0].platform).numbersOfNoSystem } ?? .none
        self.releases = releases.sorted { $1.isLess(than: $0) ?? (rows[$0.row].id < rows[$1.row].id) }
        self.regions = regions
        builds = RecordedBuilds(indexes.map { rows[$0] })
    }

    func isInstallable(_ index: Int, by client: borrowing Client, _ missingValues: MissingValues) -> Bool {
        if !releases[index].regions.isEmpty {
            if let region = client.region {
                guard regions.holds(region.letters, in: releases[index].regions) else { return false }
            } else if missingValues == .fail {
                return false
            }
        }
        if let minOS = releases[index].minOS {
            guard let os = client.osKey, !numbersOfNoSystem.contains(os) else { return missingValues == .pass }
            return !(os < minOS)
        }
        return true
    }
}

struct CompiledRelease: NumberedRelease, Sendable {
    let version: VersionKey
    let family: VersionKey
    let build: VersionKey?
    let minOS: VersionKey?
    /// An empty run is everywhere.
    let regions: PoolRange
    let liveAt: Int64
    let withdrawnAt: Int64
    let row: Int

    /// Whether users can get it at a moment: ``Release/isLive(at:)``, as no release is compiled that is staged or undated.
    func isLive(at time: Int64) -> Bool { liveAt <= time && time < withdrawnAt }

    @inline(__always)
    func isAbove(_ client: borrowing Client) -> Bool { isAbove(client.versionKey, build: client.buildKey) }
}

extension CompiledPolicy {
    /// The client's version as the releases of its app on its platform spell it; `nil` where none has that version.
    ///
    /// Every release counts, also one that is staged, withdrawn, or not live yet.
    package func releaseVersion(of client: borrowing Client) -> String? {
        guard let app = app(of: client), let version = client.versionKey else { return nil }
        let platform = platformNumbers.number(of: client)
        return app.releaseVersions[ReleaseVersion(platform: platform, version: version)]
    }
}

struct ReleaseVersion: Hashable, Sendable {
    let platform: Int32
    let version: VersionKey
}
