package import UpdatePolicy

extension PolicyReports {
    /// The releases by app and platform, the greatest version first.
    ///
    /// - Parameter bundle: Only the releases of this app; case does not count; nil for all.
    package func releases(bundle: String?) throws -> [Release] {
        let releases = try written(bundle).releases
        return releases.enumerated().sorted { left, right in
            let (release, other) = (left.element, right.element)
            // They are read by app and platform.
            guard release.bundle == other.bundle, release.platform == other.platform else {
                return left.offset < right.offset
            }
            if let isLess = release.isLess(than: other) { return !isLess }
            return release.id < other.id
        }.map(\.element)
    }
}
