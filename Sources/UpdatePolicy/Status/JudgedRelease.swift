// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A release whose versions were read to be compared with rules and with other releases.
struct JudgedRelease {
    let row: Release
    let version: VersionKey
    let family: VersionKey
    let build: VersionKey?
    let minOS: VersionKey?

    /// `nil` for a version that cannot be read.
    init?(_ row: Release) {
        guard let version = AppVersion(row.version) else { return nil }
        self.row = row
        self.version = version.key
        family = version.key.family
        build = row.build.flatMap { AppVersion($0)?.key }
        minOS = row.minOS.flatMap { AppVersion($0)?.key }
    }

    /// Whether it is offered rather than another one: by its version, then its build, then its number.
    static func isOfferedBefore(_ left: JudgedRelease, _ right: JudgedRelease) -> Bool {
        if left.version != right.version { return right.version < left.version }
        if left.build != right.build {
            guard let leftBuild = left.build, let rightBuild = right.build else { return left.build != nil }
            return rightBuild < leftBuild
        }
        return left.row.id < right.row.id
    }
}
