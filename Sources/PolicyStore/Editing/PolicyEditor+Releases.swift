import Postgres
package import UpdatePolicy

extension PolicyEditor {
    /// The rows of a release, in any spelling of its version; nil is any.
    package func releaseIDs(
        bundle: String,
        version: String,
        platform: String?,
        build: String?,
        region: String?
    ) throws -> [Int64] {
        try session.query(
            """
            SELECT id::bigint FROM public.releases
            WHERE lower(bundle COLLATE "C") = lower($1 COLLATE "C") AND version_compare(version, $2) = 0
                AND ($3::text IS NULL OR platform = lower($3::text COLLATE "C"))
                AND ($4::text IS NULL OR version_compare(build, $4) = 0)
                AND ($5::text IS NULL OR $5 = ANY (regions))
            ORDER BY id
            """,
            [bundle, version, platform, build, region]
        ).values()
    }

    /// The row that is a release already, and how it differs: the one that differs least. A row of another build, or for
    /// other regions alone, is another release.
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
        let columns = values.enumerated().map { place, value in
            "(\(place), '\(value.name)', \(isLike(value)), to_jsonb(r.\(value.name)) #>> '{}', to_jsonb(given.\(value.name)) #>> '{}')"
        }
        return try session.query(
            """
            SELECT r.id, r.withdrawn_at, coalesce(json_agg(json_build_object(
                'name', v.name, 'before', v.present, 'after', v.given) ORDER BY v.place
            ) FILTER (WHERE v.name IS NOT NULL), '[]') AS differences
            FROM public.releases AS r
                CROSS JOIN LATERAL jsonb_populate_record(NULL::public.releases, $4::text::jsonb) AS given
                LEFT JOIN LATERAL (VALUES \((columns + ["(NULL, NULL, true, NULL, NULL)"]).joined(separator: ", ")))
                    AS v (place, name, is_like, present, given) ON v.is_like IS NOT TRUE
            WHERE lower(r.bundle COLLATE "C") = lower($1 COLLATE "C") AND r.platform = $2
                AND version_compare(r.version, $3) = 0 \(another.joined(separator: " "))
            GROUP BY r.id ORDER BY count(v.name), r.id
            """,
            [bundle, Platform(platform).name, version, JSONValue.object(values.map { ($0.name, $0.json) }).text]
        ).rows(as: PresentRelease.self).first
    }

    /// Withdraws a row of a release from a time on, or from its `live_at` where that is later, so that users never get it.
    package func withdraw(_ id: Int64, at time: Timestamp) throws {
        try session.query(
            "UPDATE public.releases SET withdrawn_at = greatest($1::timestamptz, live_at) WHERE id = $2::bigint",
            [time, id]
        )
    }

    package struct WayOut: Decodable {
        package let platform: String?
        package let isThere: Bool
        package let newest: String?
        /// A release of that version without a build, which may be the one that is locked out.
        package let unbuilt: String?
        package let hasLink: Bool
    }

    /// What users can go to from a version, or a build of it, that a rule locks out. Withdrawn releases do not count.
    package func waysOut(ofRule key: String, from version: String, build: String?) throws -> [WayOut] {
        try session.query(
            """
            SELECT place.platform,
                coalesce(bool_or(versiongate_internal.release_is_above(own.key, own.build, r.key, r.build_key)), false)
                    AS is_there,
                (array_agg(r.label ORDER BY r.key DESC NULLS LAST, r.build_key DESC NULLS LAST))[1] AS newest,
                min(r.version) FILTER (WHERE own.build IS NOT NULL AND r.build IS NULL AND r.key = own.key) AS unbuilt,
                rule.link IS DISTINCT FROM 'store' OR EXISTS (
                    SELECT FROM public.store_links AS s WHERE s.bundle = rule.bundle AND s.platform = place.platform)
                    AS has_link
            FROM public.rules AS rule
            CROSS JOIN (SELECT versiongate_internal.version_key($2), versiongate_internal.version_key($3)) AS own(key, build)
            LEFT JOIN LATERAL (
                SELECT unnest(rule.platforms)
                UNION SELECT platform FROM public.releases FULL JOIN public.store_links USING (bundle, platform)
                WHERE rule.platforms IS NULL AND bundle = rule.bundle
            ) AS place(platform) ON true
            LEFT JOIN LATERAL (
                SELECT platform, version, build, version || coalesce(' (' || build || ')', '') AS label,
                    versiongate_internal.version_key(version) AS key, versiongate_internal.version_key(build) AS build_key
                FROM versiongate_internal.releases_for(rule)
            ) AS r ON r.platform = place.platform
            WHERE rule.key = $1 GROUP BY rule.key, place.platform ORDER BY place.platform
            """,
            [key, version, build]
        ).rows()
    }

    /// The key of another lockout that is for the same clients as a rule, and whether it is on.
    package func otherLockout(likeRule key: String) throws -> (key: String, isOn: Bool)? {
        try session.query(
            """
            SELECT other.key, other.enabled
            FROM public.rules AS rule JOIN versiongate_internal.rule_spans AS its ON its.rule = rule.key,
                public.rules AS other JOIN versiongate_internal.rule_spans AS others ON others.rule = other.key
            WHERE rule.key = $1 AND other.key <> rule.key AND other.bundle = rule.bundle AND other.lockout
                AND (others.versions, others.builds, others.os, other.regions, other.languages, other.attributes)
                    IS NOT DISTINCT FROM (its.versions, its.builds, its.os, rule.regions, rule.languages, rule.attributes)
                AND coalesce(other.platforms, '{}') @> coalesce(rule.platforms, '{}')
                AND coalesce(other.platforms, '{}') <@ coalesce(rule.platforms, '{}') AND other.target IS NULL
            ORDER BY other.enabled DESC, other.key LIMIT 1
            """,
            [key]
        ).first.map { (try $0.decode(0), try $0.decode(1)) }
    }
}

package struct PresentRelease: Sendable, Decodable {
    package let id: Int64
    package let withdrawnAt: Timestamp?
    package let differences: [PolicyChange.Column]
}
