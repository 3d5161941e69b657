/// The releases of one app on one platform that somebody can get at some time, the greatest first.
///
/// Greatest is by version, then by build (none is below any); of equal ones the lowest id comes first. It is a class so that
/// each rule of a check that asks for an offer counts one reference, not one for each array.
final class ReleaseList: Sendable {
    /// What holds against a release when the client's region or operating system cannot be judged.
    enum Judgement {
        /// Nothing: a target may ask for it.
        case lenient
        /// A condition on it: it is no way out.
        case strict
    }

    let platform: Int32
    let numbersOfNoSystem: VersionInterval
    let releases: [CompiledRelease]
    /// The regions of all releases in the list.
    let regions: [UInt16]
    /// The builds of all rows on the platform, also of those that nobody can get.
    let builds: RecordedBuilds

    init(
        platform: Int32,
        numbersOfNoSystem: VersionInterval,
        releases: [CompiledRelease],
        regions: [UInt16],
        builds: RecordedBuilds
    ) {
        self.platform = platform
        self.numbersOfNoSystem = numbersOfNoSystem
        self.releases = releases
        self.regions = regions
        self.builds = builds
    }

    /// Whether a client can get a release that is live.
    func isInstallable(_ index: Int, by client: borrowing Client, _ judgement: Judgement) -> Bool {
        if !releases[index].regions.isEmpty {
            if let region = client.region {
                guard regions.holds(region.letters, in: releases[index].regions) else { return false }
            } else if judgement == .strict {
                return false
            }
        }
        if let minOS = releases[index].minOS {
            guard let os = client.osKey, !numbersOfNoSystem.contains(os) else { return judgement == .lenient }
            return !(os < minOS)
        }
        return true
    }
}

/// A release as offers compare it.
struct CompiledRelease: NumberedRelease, Sendable {
    let version: VersionKey
    let family: VersionKey
    let build: VersionKey?
    let minOS: VersionKey?
    /// An empty run is everywhere.
    let regions: PoolRange
    let liveAt: Int64
    let withdrawnAt: Int64
    /// The index among the rows of the app's releases.
    let row: Int

    /// Whether users can get it at a moment: ``Release/isLive(at:)``, as no release is compiled that is staged or undated.
    func isLive(at time: Int64) -> Bool { liveAt <= time && time < withdrawnAt }

    /// Whether the release is above what a client has.
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
