import Postgres
package import UpdatePolicy

extension PolicyReports {
    /// A row of a release as lists show it.
    package struct ReleaseSummary: Sendable {
        /// The app.
        package let bundle: String
        /// The platform.
        package let platform: String
        /// The version as written.
        package let version: String
        /// The build as written.
        package let build: String?
        /// The least version of the operating system.
        package let minOS: String?
        /// The regions, joined by commas; nil is everywhere.
        package let regions: String?
        /// Its state: `live since`, `staged`, `from`, `no date`, `withdrawn`.
        package let state: String
        /// The time that belongs to the state.
        package let since: Timestamp?
        /// The languages of its notes, in order.
        package let languages: [String]
    }

    /// The releases by app and platform, the greatest version first.
    ///
    /// - Parameter bundle: Only the releases of this app; nil for all.
    package func releases(bundle: String?) throws -> [ReleaseSummary] {
        try session.query(
            """
            SELECT bundle, platform, version, build, min_os, array_to_string(regions, ', '), state,
                CASE state WHEN 'withdrawn' THEN withdrawn_at WHEN 'staged' THEN NULL ELSE live_at END,
                ARRAY(SELECT language FROM public.release_notes WHERE release = id ORDER BY language)
            FROM public.releases, LATERAL (SELECT
                CASE WHEN withdrawn_at <= now() OR withdrawn_at <= live_at THEN 'withdrawn'
                    WHEN staged THEN 'staged'
                    WHEN live_at IS NULL THEN 'no date'
                    WHEN live_at > now() THEN 'from'
                    ELSE 'live since' END AS state) AS present
            WHERE \(Self.releasesOfBundle)
            ORDER BY bundle, platform, versiongate_internal.version_key(version) DESC,
                versiongate_internal.version_key(build) DESC NULLS LAST, id
            """,
            [bundle]
        ).map { row in
            ReleaseSummary(
                bundle: try row.decode(0, as: String.self), platform: try row.decode(1, as: String.self),
                version: try row.decode(2, as: String.self), build: try row.decode(3, as: String?.self),
                minOS: try row.decode(4, as: String?.self), regions: try row.decode(5, as: String?.self),
                state: try row.decode(6, as: String.self),
                since: try row.decode(7, as: PostgresTimestamp?.self).map { Timestamp($0) },
                languages: try row.decode(8, as: [String].self)
            )
        }
    }

    /// The releases as a JSON array.
    package func releasesJSON(bundle: String?) throws -> String {
        try json(
            """
            SELECT id, \(Self.columns(of: Release.self)),
                (SELECT coalesce(json_agg(json_build_object('language', language, 'text', text) ORDER BY language), '[]')
                 FROM public.release_notes WHERE release = id) AS notes
            FROM public.releases WHERE \(Self.releasesOfBundle)
            ORDER BY bundle, platform, versiongate_internal.version_key(version) DESC,
                versiongate_internal.version_key(build) DESC NULLS LAST, id
            """,
            [bundle]
        )
    }

    private static let releasesOfBundle = """
        ($1::text IS NULL OR lower(bundle COLLATE "C") = lower($1::text COLLATE "C"))
        """
}
