-- What keeps rules from what they say: lockouts of places where nobody has a way out, and rules behind a final one. An edit
-- is warned of what it adds to these gaps, and policy_warnings lists all of them, in the same words.

SET LOCAL search_path = public, versiongate_internal, pg_temp;

-- The times at which nobody in a place of a lockout has a way out, as ways_out tells places; or at which a final rule
-- hides a rule. for_app: the app of the rule.
CREATE TYPE versiongate_internal.gap AS (
    rule text, for_app text, bundle text, platform text, region text, system bytea, is_part boolean, final text,
    times tstzmultirange
);

-- What tells the gaps of enabled rules: these, the final ones that may hide them, with their steps, and releases.
CREATE TYPE versiongate_internal.lockout_policy AS (
    rules rules[], finals rules[], steps rollout_steps[], releases releases[]
);

CREATE FUNCTION versiongate_internal.gaps(
    policy lockout_policy, present_apps apps[], moment timestamptz, by_region text[] DEFAULT '{}',
    by_system bytea[] DEFAULT '{}'
)
    RETURNS SETOF gap
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp
    SET enable_nestloop = off SET jit = off
AS $$
DECLARE
    lockouts CONSTANT rules[] := ARRAY(
        SELECT r FROM unnest(policy.rules) AS r WHERE r.lockout AND NOT r.lockout_without_update
    );
BEGIN
    RETURN QUERY
    SELECT l.key::text, l.bundle::text, w.bundle, w.platform, w.region, w.system, coalesce(w.is_part, false), NULL,
           time_span(greatest(moment, l.starts_at), l.ends_at) - coalesce(w.times, '{}')
      FROM unnest(lockouts) AS l
      LEFT JOIN ways_out(
          lockouts, CASE WHEN lockouts = '{}' THEN '{}' ELSE policy.releases END, present_apps, moment, by_region, by_system
      ) AS w ON w.key = l.key
     UNION ALL
    SELECT r.key, r.bundle, NULL, NULL, NULL, NULL, false, h.final,
           time_span(greatest(moment, r.starts_at), r.ends_at) * h.times
      FROM hidden_rules(policy.finals, policy.rules, policy.steps) AS h
      JOIN unnest(policy.rules) AS r ON r.key = h.key;
END
$$;

-- What to say of gaps: of the first times of each. A part counts where the whole has no gap as early.
CREATE FUNCTION versiongate_internal.gap_warnings(gaps gap[], moment timestamptz)
    RETURNS TABLE (rule text, item warning)
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp
    SET jit = off
AS $$
BEGIN
    RETURN QUERY
    WITH gap AS MATERIALIZED (
        SELECT g.*, lower(first.span) AS start, upper(first.span) AS finish,
               CASE WHEN lower(first.span) > moment THEN ' from ' || time_text(lower(first.span)) ELSE '' END
                   || coalesce(' until ' || time_text(upper(first.span)), '') AS span
          FROM unnest(gaps) AS g
         CROSS JOIN LATERAL (SELECT u.span FROM unnest(g.times) AS u(span) ORDER BY u.span LIMIT 1) AS first
    )
    SELECT g.rule, ROW(
               'rules.lockout', 'rules_way_out',
               format('nobody has a way out of rule %s', quoted(g.rule)) || coalesce(
                   ' on ' || nullif(name_list(array_agg(DISTINCT place.name ORDER BY place.name)), ''), ''
               ) || g.span,
               'Clients there get the message without the lockout, until there is a release for them.',
               'Clients there get the message without the lockout. To see the current state: `rule list`', NULL
           )::warning
      FROM gap AS g
     CROSS JOIN LATERAL (
         SELECT place_name(
                    g.for_app, g.bundle, g.platform, CASE WHEN NOT g.is_part THEN g.region END
                ) || CASE WHEN g.is_part THEN ' (in some regions or on some systems)' ELSE '' END
     ) AS place(name)
     WHERE g.final IS NULL
       AND NOT (
           g.is_part AND EXISTS (
               SELECT FROM gap AS w
                WHERE w.rule = g.rule AND w.platform = g.platform AND w.bundle IS NOT DISTINCT FROM g.bundle
                  AND w.final IS NULL AND NOT w.is_part AND w.start <= g.start
           )
       )
     GROUP BY g.rule, g.start, g.finish, g.span;
    RETURN QUERY
    SELECT DISTINCT ON (g.rule)
           g.rule, ROW(
               'rules.final', 'rules_hidden',
               format('rule %s is hidden', quoted(g.rule)) || CASE
                   WHEN lower(g.times) > moment THEN format(' from %s on', time_text(lower(g.times)))
                   ELSE ''
               END || format(
                   ': %s comes before it, is final, and is sent to everybody whom this rule is for, so nobody gets this one',
                   quoted(g.final)
               ),
               'Give it a lower position, or narrow the final rule.', NULL, NULL
           )::warning
      FROM unnest(gaps) AS g
     WHERE g.final IS NOT NULL AND g.times <> '{}'
     ORDER BY g.rule, lower(g.times), g.final;
END
$$;

-- What was so before is judged from the rows as they were. A lockout that is new, or was off, has all of its places without
-- a way out told, and none of their parts, as some systems are always too old. People wait for this, so it is bounded.

CREATE FUNCTION versiongate_internal.edited_policy(edits row_edit[], most_releases bigint) RETURNS lockout_policy
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    policy lockout_policy;
    edited_rules CONSTANT text[] := ARRAY(
        SELECT coalesce(n.key ->> 'key', n.key ->> 'rule')
          FROM unnest(edits) AS n
         WHERE n.table_name <> 'releases'
    );
    -- Also a new release may take a way out away, if it is greater and matched; and a final rule hides all of its app.
    edited_bundles CONSTANT text[] := ARRAY(
        SELECT side.item ->> 'bundle'
          FROM unnest(edits) AS n, LATERAL (VALUES (n.before), (n.after)) AS side(item)
         WHERE n.table_name = 'releases' AND side.item IS NOT NULL
         UNION
        SELECT r.bundle FROM rules AS r WHERE r.key IN (SELECT unnest(edited_rules)) AND r.enabled AND r.final
    );
BEGIN
    policy.rules := ARRAY(
        SELECT r FROM rules AS r
         WHERE r.enabled AND r.lockout
           AND (
               r.key IN (SELECT unnest(edited_rules)) OR r.bundle = ANY (edited_bundles)
               OR edited_bundles <> '{}' AND (r.bundle IS NULL OR array_position(edited_bundles, NULL) IS NOT NULL)
           )
    );
    policy.finals := ARRAY(
        SELECT r FROM final_rules() AS r
         WHERE r.bundle IS NULL OR r.bundle IN (SELECT l.bundle FROM unnest(policy.rules) AS l)
    );
    policy.steps := present_steps(policy.finals);
    policy.releases := ARRAY(
        SELECT r
          FROM releases AS r
         WHERE r.bundle = ANY (edited_bundles)
            OR r.bundle IN (SELECT l.bundle FROM unnest(policy.rules) AS l)
            OR EXISTS (
                SELECT FROM unnest(policy.rules) AS l WHERE l.bundle IS NULL AND l.key IN (SELECT unnest(edited_rules))
            )
         LIMIT most_releases + 1
    );
    RETURN policy;
END
$$;

CREATE FUNCTION versiongate_internal.new_gaps(
    policy lockout_policy, before lockout_policy, edits row_edit[], moment timestamptz, by_region text[]
)
    RETURNS SETOF gap
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    present_apps CONSTANT apps[] := ARRAY(SELECT a FROM apps AS a);
    -- To lockouts one that went is a withdrawn one: its platform still is a place.
    gone CONSTANT releases[] := ARRAY(
        SELECT r
          FROM unnest(edits) AS n
         CROSS JOIN LATERAL jsonb_populate_record(NULL::releases, n.before || '{"withdrawn_at": "-infinity"}') AS r
         WHERE n.table_name = 'releases' AND n.before IS NOT NULL
           AND (n.after ->> 'platform' = r.platform AND n.after ->> 'bundle' = r.bundle) IS NOT TRUE
           AND r.bundle IN (SELECT a.bundle FROM apps AS a)
    );
    -- What these releases come to for a system begins with one that they ask for.
    by_system CONSTANT bytea[] := ARRAY(
        SELECT DISTINCT version_key(side.min_os)
          FROM unnest(edits) AS n
         CROSS JOIN LATERAL (VALUES (n.before ->> 'min_os'), (n.after ->> 'min_os')) AS side(min_os)
         WHERE n.table_name = 'releases' AND side.min_os IS NOT NULL
    );
BEGIN
    policy.releases := policy.releases || gone;
    RETURN QUERY
    SELECT n.rule, n.for_app, n.bundle, n.platform, n.region, n.system, n.is_part, n.final,
           n.times - coalesce(b.times, '{}')
      FROM gaps(policy, present_apps, moment, by_region, by_system) AS n
      LEFT JOIN gaps(before, present_apps, moment, by_region, by_system) AS b
        ON b.rule = n.rule
       AND coalesce(b.final, '') = coalesce(n.final, '')
       AND coalesce(b.platform, '') = coalesce(n.platform, '')
       AND coalesce(b.region, '') = coalesce(n.region, '')
       AND coalesce(b.system, '') = coalesce(n.system, '')
       AND b.is_part = n.is_part
       AND coalesce(lower(b.bundle), '') = coalesce(lower(n.bundle), '')
     WHERE n.times <> '{}'
       AND (b.rule IS NOT NULL OR NOT n.is_part)
       -- Of a lockout for every app only the releases of these apps were looked at.
       AND (
           n.final IS NOT NULL OR n.for_app IS NOT NULL OR n.bundle IS NOT NULL OR NOT EXISTS (
               SELECT FROM releases AS r
                 JOIN apps AS a ON a.bundle = r.bundle AND NOT a.paused
                WHERE r.platform = n.platform OR n.platform IS NULL
           )
       );
END
$$;

CREATE FUNCTION versiongate_internal.new_lockout_warnings(edits row_edit[]) RETURNS SETOF warning
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
    SET enable_nestloop = off SET jit = off
AS $$
DECLARE
    most_releases CONSTANT bigint := 20000;
    most_classes CONSTANT bigint := 50000;
    moment CONSTANT timestamptz := clock_timestamp();
    policy CONSTANT lockout_policy := edited_policy(edits, most_releases);
    before CONSTANT lockout_policy := ROW(
        ARRAY(
            SELECT r FROM unnest(rows_before(policy.rules, 'rules', edits)) AS r
             WHERE r.enabled AND r.key IN (SELECT l.key FROM unnest(policy.rules) AS l)
        ),
        ARRAY(
            SELECT r FROM unnest(rows_before(policy.finals, 'rules', edits)) AS r
             WHERE r.enabled AND r.final AND r.target IS NULL
        ),
        rows_before(policy.steps, 'rollout_steps', edits),
        rows_before(policy.releases, 'releases', edits)
    );
    named_regions CONSTANT text[] := ARRAY(
        SELECT DISTINCT named.region
          FROM (SELECT DISTINCT r.regions FROM unnest(policy.releases || before.releases) AS r) AS r
         CROSS JOIN LATERAL unnest(r.regions) AS named(region)
    );
BEGIN
    IF cardinality(policy.releases) > most_releases
        OR cardinality(policy.rules) * (cardinality(named_regions) + 1)
           * (SELECT count(DISTINCT r.min_os) + 1 FROM unnest(policy.releases || before.releases) AS r)
           > most_classes
    THEN
        RETURN NEXT (
            'rules.lockout', 'rules_ways_out_unknown',
            format(
                'it was not judged whether lockouts of %s lose a way out, because that takes too long',
                name_list(ARRAY(SELECT DISTINCT r.bundle FROM unnest(policy.releases) AS r ORDER BY 1))
            ),
            'To see the current state: SELECT * FROM policy_warnings;', 'To see the current state: `rule list`', NULL
        )::warning;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT (w.item).*
      FROM gap_warnings(
               ARRAY(SELECT g FROM new_gaps(policy, before, edits, moment, named_regions) AS g), moment
           ) AS w
     ORDER BY w.rule
     LIMIT 20;
    RETURN QUERY
    SELECT (w.item).*
      FROM beside_warnings(policy.rules, policy.releases) AS w
     WHERE (w.item).warning NOT IN (SELECT (b.item).warning FROM beside_warnings(before.rules, before.releases) AS b)
     ORDER BY (w.item).warning
     LIMIT 20;
    IF policy.releases <> before.releases THEN
        RETURN QUERY
        SELECT (w.item).*
          FROM order_warnings(policy.releases) AS w
         WHERE (w.item).warning NOT IN (SELECT (b.item).warning FROM order_warnings(before.releases) AS b)
         ORDER BY (w.item).warning
         LIMIT 20;
    END IF;
END
$$;
