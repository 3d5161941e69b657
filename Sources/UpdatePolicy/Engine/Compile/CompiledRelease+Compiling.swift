extension CompiledRelease {
    /// Compiles a release; `nil` where nobody can ever get it.
    init?(_ release: Release, at row: Int, _ regions: inout [UInt16]) throws(PolicyError) {
        let name = "release \(release.id)"
        guard let version = AppVersion(release.version) else {
            throw PolicyError(row: name, reason: "has the version \"\(release.version)\", which cannot be read")
        }
        let build = try Self.key(release.build, "build", name)
        let minOS = try Self.key(release.minOS, "min_os", name)
        let run = try regions.appendRun(ofCodes: release.regions, name)
        guard let liveAt = release.liveAt, !release.staged else { return nil }
        self.init(
            version: version.key, family: version.key.family, build: build, minOS: minOS, regions: run,
            liveAt: liveAt.microsecondsSince1970, withdrawnAt: release.withdrawnAt?.microsecondsSince1970 ?? .max,
            row: row
        )
    }

    private static func key(_ text: String?, _ column: String, _ row: String) throws(PolicyError) -> VersionKey? {
        guard let text else { return nil }
        guard let version = AppVersion(text) else {
            throw PolicyError(row: row, reason: "has the \(column) \"\(text)\", which cannot be read")
        }
        return version.key
    }
}
