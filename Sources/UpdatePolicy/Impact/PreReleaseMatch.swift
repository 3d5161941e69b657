/// A pre-release version among recent checks whose numbers are those of a release.
///
/// Some build systems add the name of an environment to the version (`1.2.0-prod`). Such a version sorts below 1.2.0,
/// so a rule for `<1.2.0` reaches it.
package struct PreReleaseMatch: Sendable {
    package let version: AppVersion

    /// The release with the same numbers, as it is recorded or as clients sent it.
    package let release: String
    package let checks: Int64

    /// The pre-releases that match a release, most checks first.
    ///
    /// - Parameters:
    ///   - counts: Versions as clients sent them, any of them several times, with their checks.
    ///   - releases: The recorded releases.
    package static func matches(
        among counts: [(version: String?, checks: Int64)],
        releases: [Release]
    ) -> [PreReleaseMatch] {
        var released: [[String]: String] = [:]
        var preReleases: [AppVersion: Int64] = [:]
        for (version, checks) in counts {
            guard let version = version.flatMap({ AppVersion($0) }) else { continue }
            if version.isPreRelease {
                preReleases[version, default: 0] += checks
            } else if released[version.numbers] == nil {
                released[version.numbers] = version.text
            }
        }
        for version in releases.compactMap({ AppVersion($0.version) }) where !version.isPreRelease {
            released[version.numbers] = version.text
        }
        return preReleases.compactMap { version, checks in
            released[version.numbers].map { PreReleaseMatch(version: version, release: $0, checks: checks) }
        }.sorted { $0.checks == $1.checks ? $0.version < $1.version : $0.checks > $1.checks }
    }
}

extension AppVersion {
    package var isPreRelease: Bool {
        var reader = VersionKeyReader(key: key)
        _ = reader.numbers()
        return !reader.isAtEndOfRelease
    }

    /// Its numbers as they are written.
    package var writtenNumbers: String {
        String(text.drop { !("0"..."9").contains($0) }.prefix { $0 == "." || ("0"..."9").contains($0) })
    }

    /// Its numbers, zeros at the end left out.
    var numbers: [String] {
        var reader = VersionKeyReader(key: key)
        return reader.numbers()
    }
}
