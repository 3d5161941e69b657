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

    /// How the row that is a release already differs from it: the row that differs least; nil where there is none.
    ///
    /// A row of another build, or for other regions alone, is another release.
    package func presentRelease(
        bundle: String,
        platform: String,
        version: String,
        _ values: [ColumnValue<Release>]
    ) throws -> PresentRelease? {
        func isLike(_ value: ColumnValue<Release>) -> String {
            let (present, given) = ("r.\(value.name)", "given.\(value.name)")
            switch value.type {
            case .version: return "version_compare(\(present), \(given)) = 0"
            case .texts: return "\(present) @> \(given) AND \(present) <@ \(given)"
            default: return "\(present) = \(given)"
            }
        }
        let another = values.compactMap { value in
            switch value.name {
            case "build": "AND coalesce(\(isLike(value)), true)"
            case "regions": "AND coalesce(r.regions && given.regions, true)"
            default: nil
            }
        }
        let columns = values.map { value in
            "('\(value.name)', \(isLike(value)), to_jsonb(r.\(value.name)) #>> '{}', to_jsonb(given.\(value.name)) #>> '{}')"
        }
        let rows = try session.query(
            """
            SELECT r.id, r.withdrawn_at, v.name, v.present, v.given
            FROM public.releases AS r
                CROSS JOIN LATERAL jsonb_populate_record(NULL::public.releases, $4::text::jsonb) AS given
                LEFT JOIN LATERAL (VALUES \((columns + ["(NULL, true, NULL, NULL)"]).joined(separator: ", ")))
                    AS v (name, is_like, present, given) ON v.is_like IS NOT TRUE
            WHERE lower(r.bundle COLLATE "C") = lower($1 COLLATE "C") AND r.platform = $2
                AND version_compare(r.version, $3) = 0 \(another.joined(separator: " "))
            ORDER BY count(v.name) OVER (PARTITION BY r.id), r.id
            """,
            [bundle, Platform(platform).name, version, JSONValue.object(values.map { ($0.name, $0.json) }).text]
        )
        guard let first = rows.first else { return nil }
        let id = try first.decode(0, as: Int64.self)
        return PresentRelease(
            id: id,
            withdrawnAt: try first.decode(1, as: PostgresTimestamp?.self).map { Timestamp($0) },
            differences: try rows.filter { try $0.decode(0, as: Int64.self) == id }.compactMap { row in
                guard let name = try row.decode(2, as: String?.self) else { return nil }
                return PolicyChange.Column(
                    name: name, before: try row.decode(3, as: String?.self), after: try row.decode(4, as: String?.self)
                )
            }
        )
    }

    /// Withdraws a row of a release from a time on.
    ///
    /// A row that goes live later is withdrawn at its `live_at`, so that users never get it.
    package func withdraw(_ id: Int64, at time: Timestamp) throws {
        _ = try session.query(
            "UPDATE public.releases SET withdrawn_at = greatest($1::timestamptz, live_at) WHERE id = $2::bigint",
            [time.description, id]
        )
    }
}

/// A row that is a release already.
package struct PresentRelease: Sendable {
    package let id: Int64
    /// When it went, or goes, out of the store.
    package let withdrawnAt: Timestamp?
    /// The columns that differ: what is there, and what is wanted.
    package let differences: [PolicyChange.Column]
}

/// Selects rows of a release: those of an app and a version, in any spelling; nil is any.
package struct ReleaseSelection: Sendable {
    package var bundle: String
    package var version: String
    package var platform: String?
    package var build: String?
    package var region: String?

    package init(bundle: String, version: String, platform: String?, build: String?, region: String?) {
        self.bundle = bundle
        self.version = version
        self.platform = platform
        self.build = build
        self.region = region
    }
}
