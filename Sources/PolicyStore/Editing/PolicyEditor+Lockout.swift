import Postgres

extension PolicyEditor {
    /// What users on a platform, nil where none is known, can go to from a version that is locked out. `unbuilt` is a
    /// release of that version without a build, which may be the one that is locked out.
    package typealias WayOut = (platform: String?, isThere: Bool, newest: String?, unbuilt: String?, hasLink: Bool)

    /// What users can go to from a version, or a build of it, that a rule locks out. Withdrawn releases do not count.
    package func waysOut(ofRule key: String, from version: String, build: String?) throws -> [WayOut] {
        try session.query(
            """
            SELECT place.platform,
                coalesce(bool_or(versiongate_internal.release_is_above(own.key, own.build, r.key, r.build_key)), false),
                (array_agg(r.label ORDER BY r.key DESC NULLS LAST, r.build_key DESC NULLS LAST))[1],
                min(r.version) FILTER (WHERE own.build IS NOT NULL AND r.build IS NULL AND r.key = own.key),
                rule.link IS DISTINCT FROM 'store' OR EXISTS (
                    SELECT FROM public.store_links AS s WHERE s.bundle = rule.bundle AND s.platform = place.platform)
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
        ).map { row in
            try (
                row.decode(0, as: String?.self), row.decode(1, as: Bool.self), row.decode(2, as: String?.self),
                row.decode(3, as: String?.self), row.decode(4, as: Bool.self)
            )
        }
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
        ).first.map { (try $0.decode(0, as: String.self), try $0.decode(1, as: Bool.self)) }
    }
}
