// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres
package import UpdatePolicy

extension PolicyEditor {
    /// The ids of the rows of a release, in order.
    package func releaseIDs(_ selection: ReleaseSelection) throws -> [Int64] {
        try session.query(
            """
            SELECT id::bigint FROM public.releases
            WHERE lower(bundle COLLATE "C") = lower($1 COLLATE "C") AND version_compare(version, $2) = 0
                AND ($3::text IS NULL OR platform = lower($3::text COLLATE "C"))
                AND ($4::text IS NULL OR version_compare(build, $4) = 0)
                AND ($5::text IS NULL OR $5 = ANY (regions))
            ORDER BY id
            """,
            [selection.bundle, selection.version, selection.platform, selection.build, selection.region]
        ).map { try $0.decode(0, as: Int64.self) }
    }

    /// Withdraws a row of a release from a time on.
    ///
    /// A row that goes live later is withdrawn at its `live_at`, so that users never get it.
    ///
    /// - Parameters:
    ///   - id: The id of the row.
    ///   - time: From when on.
    package func withdraw(_ id: Int64, at time: Timestamp) throws {
        _ = try session.query(
            "UPDATE public.releases SET withdrawn_at = greatest($1::timestamptz, live_at) WHERE id = $2::bigint",
            [time.description, id]
        )
    }
}

/// Selects rows of a release.
package struct ReleaseSelection: Sendable {
    /// The app.
    package var bundle: String
    /// The version, in any spelling.
    package var version: String
    /// Only this platform; nil for all.
    package var platform: String?
    /// Only this build, in any spelling; nil for all.
    package var build: String?
    /// Only rows for this region; nil for all.
    package var region: String?

    /// Creates a selection.
    package init(bundle: String, version: String, platform: String?, build: String?, region: String?) {
        self.bundle = bundle
        self.version = version
        self.platform = platform
        self.build = build
        self.region = region
    }
}
