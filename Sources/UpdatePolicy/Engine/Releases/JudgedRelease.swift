/// A release whose columns were read to be compared with rules, clients and other releases.
///
/// It is a class, so that whoever holds one counts one reference, not one for each column.
final class JudgedRelease: Sendable {
    let row: Release
    let version: VersionKey
    /// Where the versions with its numbers begin.
    let family: VersionKey
    /// `nil` is below any.
    let build: VersionKey?
    let minOS: VersionKey?
    /// The letters of its regions, sorted; none is everywhere.
    let regions: [UInt16]
    /// From when on it can be had, in microseconds since 1970; never where it is staged or has no date.
    let liveAt: Int64
    let withdrawnAt: Int64

    init(reading row: Release) throws(PolicyError) {
        let name = "release \(row.id)"
        self.row = row
        version = try Self.key(row.version, "version", name)
        family = version.family
        build = try row.build.map { build throws(PolicyError) in try Self.key(build, "build", name) }
        minOS = try row.minOS.map { system throws(PolicyError) in try Self.key(system, "min_os", name) }
        regions = try [UInt16](regions: row.regions, name) ?? []
        liveAt = row.staged ? .max : row.liveAt?.microsecondsSince1970 ?? .max
        withdrawnAt = row.withdrawnAt?.microsecondsSince1970 ?? .max
    }

    convenience init?(_ row: Release) {
        try? self.init(reading: row)
    }

    private static func key(_ text: String, _ column: String, _ row: String) throws(PolicyError) -> VersionKey {
        guard let version = AppVersion(text) else {
            throw PolicyError(row: row, reason: "has the \(column) \"\(text)\", which cannot be read")
        }
        return version.key
    }

    /// Whether users can get it at a moment: ``Release/isLive(at:)``.
    @inline(__always)
    func isLive(at time: Int64) -> Bool { liveAt <= time && time < withdrawnAt }

    /// Whether it is above what a client has: by its numbers, or by its build where the versions are equal or the client's is
    /// not known.
    ///
    /// Pre-releases do not count: an app that calls itself 1.2.0-play may be the very release 1.2.0.
    func isAbove(_ other: VersionKey?, build otherBuild: VersionKey?) -> Bool {
        if let other {
            if other < family { return true }
            if other != version { return false }
        }
        guard let build, let otherBuild else { return false }
        return otherBuild < build
    }

    /// Whether its version, and then its build, is less than that of another release; `nil` where they are equal.
    func isLess(than other: JudgedRelease) -> Bool? {
        if version != other.version { return version < other.version }
        if build == other.build { return nil }
        guard let build, let otherBuild = other.build else { return build == nil }
        return build < otherBuild
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

    /// Whether it is above a version, or a build of it, and so a way out of a lockout of that.
    package func isAbove(_ version: AppVersion, build: AppVersion?) -> Bool {
        JudgedRelease(self)?.isAbove(version.key, build: build?.key) ?? false
    }
}
