/// What releases are compared by, with each other and with clients.
protocol NumberedRelease {
    var version: VersionKey { get }
    /// Where the versions with its numbers begin.
    var family: VersionKey { get }
    /// `nil` is below any.
    var build: VersionKey? { get }
}

extension NumberedRelease {
    /// Whether the release is above what a client has: by its numbers, or by its build where the versions are equal or the
    /// client's is not known.
    ///
    /// Pre-releases do not count: an app that calls itself 1.2.0-play may be the very release 1.2.0.
    @inline(__always)
    func isAbove(_ other: VersionKey?, build otherBuild: VersionKey?) -> Bool {
        if let other {
            if other < family { return true }
            if other != version { return false }
        }
        guard let build, let otherBuild else { return false }
        return otherBuild < build
    }

    /// Whether its version, and then its build, is less than that of another release; `nil` where they are equal.
    func isLess(than other: Self) -> Bool? {
        if version != other.version { return version < other.version }
        if build == other.build { return nil }
        guard let build, let otherBuild = other.build else { return build == nil }
        return build < otherBuild
    }
}

/// A release whose versions were read to be compared with rules, clients and other releases.
struct JudgedRelease: NumberedRelease {
    let row: Release
    let version: VersionKey
    let family: VersionKey
    let build: VersionKey?
    let minOS: VersionKey?

    init?(_ row: Release) {
        guard let version = AppVersion(row.version) else { return nil }
        self.row = row
        self.version = version.key
        family = version.key.family
        build = row.build.flatMap { AppVersion($0)?.key }
        minOS = row.minOS.flatMap { AppVersion($0)?.key }
    }

    /// The least first; of equal ones the first row.
    static func isBefore(_ left: JudgedRelease, _ right: JudgedRelease) -> Bool {
        left.isLess(than: right) ?? (left.row.id < right.row.id)
    }
}

extension Release {
    /// Whether its version, and then its build, is less than that of another release; `nil` where they are equal.
    package func isLess(than other: Release) -> Bool? {
        guard let release = JudgedRelease(self), let other = JudgedRelease(other) else { return nil }
        return release.isLess(than: other)
    }
}
