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
        let given = [("bundle", bundle), ("platform", platform), ("version", version)].map {
            ($0, JSONValue.string($1))
        }
        return try session.query(
            """
            SELECT (p.release).id, (p.release).withdrawn_at, p.differences FROM versiongate_internal.present_release(
                jsonb_populate_record(NULL::public.releases, $1::text::jsonb)
            ) AS p
            """,
            [JSONValue.object(given + values.map { ($0.name, $0.json) }).text]
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
