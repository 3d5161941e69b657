import Postgres
package import UpdatePolicy

extension PolicyEditor {
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
