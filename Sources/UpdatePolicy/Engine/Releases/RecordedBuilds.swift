/// The builds of releases on one platform, for clients that compare builds where rules speak of versions.
struct RecordedBuilds: Sendable {
    private let versions: [VersionKey]
    /// The greatest build of those up to each version.
    private var greatest: [AppVersion] = []
    /// The least build of those from each version on.
    private var least: [AppVersion] = []

    init(_ releases: [Release]) {
        let recorded = releases.compactMap { release -> (version: VersionKey, build: AppVersion)? in
            guard let version = AppVersion(release.version), let build = release.build.flatMap({ AppVersion($0) })
            else {
                return nil
            }
            return (version.key, build)
        }.sorted { $0.version < $1.version }
        versions = recorded.map(\.version)
        for (_, build) in recorded { greatest.append(greatest.last.map { max($0, build) } ?? build) }
        for (_, build) in recorded.reversed() { least.append(least.last.map { min($0, build) } ?? build) }
        least.reverse()
    }

    /// The least build that nobody with a lower version can have: with 1.1 (40), 1.2 (57) and 1.3 (60) recorded it is 58 for
    /// 1.3, as another build of 1.3 may be less than 60. `nil` where builds do not grow with versions, and where none of the
    /// version or of those below is recorded.
    func threshold(below version: AppVersion) -> String? {
        let family = version.key.family
        let index = versions.indices.partitioningIndex { !(versions[$0] < family) }
        let own = versions.indices.partitioningIndex { !(versions[$0] < version.key) }
        guard own < versions.count, versions[own] == version.key, index > 0, greatest[index - 1] < least[index],
            let number = Int64(greatest[index - 1].text), number < .max
        else { return nil }
        return String(number + 1)
    }
}
