-- What keeps rules from what they say: lockouts of places where nobody has a way out, and rules behind a final one. An edit
-- is warned of what it adds to these gaps, and policy_warnings lists all of them, in the same words.

SET LOCAL search_path = public, versiongate_internal, pg_temp;

-- The times at which nobody in a place of a lockout has a way out, as ways_out tells places; or at which a final rule
-- hides a rule. for_app: the app of the rule.
CREATE TYPE versiongate_internal.gap AS (
    rule text, for_app text, bundle text, platform text, region text, system bytea, is_part boolean, final text,
    times tstzmultirange
);

-- A policy, or what of it tells the warnings of some rules and releases: these, the final rules that may hide them, and
-- what the releases and store links of their apps are. is_whole: those of all apps are there.
CREATE TYPE versiongate_internal.policy_part AS (
    rules rules[], finals rules[], steps rollout_steps[], releases releases[], links store_links[], apps apps[],
    is_whole boolean
);

CREATE FUNCTION versiongate_internal.gaps(
    policy policy_part, moment timestamptz, by_region text[] DEFAULT '{}', by_system bytea[] DEFAULT '{}'
)
    RETURNS SETOF gap
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp
    SET enable_nestloop = off SET jit = off
AS $$
DECLARE
    enabled_rules CONSTANT rules[] := ARRAY(SELECT r FROM unnest(policy.rules) AS r WHERE r.enabled);
    lockouts CONSTANT rules[] := ARRAY(
        SELECT r FROM unnest(enabled_rules) AS r WHERE r.lockout AND NOT r.lockout_without_update
    );
BEGIN
    RETURN QUERY
    SELECT l.key::text, l.bundle::text, w.bundle, w.platform, w.region, w.system, coalesce(w.is_part, false), NULL,
           time_span(greatest(moment, l.starts_at), l.ends_at) - coalesce(w.times, '{}')
      FROM unnest(lockouts) AS l
      LEFT JOIN ways_out(
          lockouts, CASE WHEN lockouts = '{}' THEN '{}' ELSE policy.releases END, policy.apps, moment, by_region, by_system
      ) AS w ON w.key = l.key
     UNION ALL
    SELECT r.key, r.bundle, NULL, NULL, NULL, NULL, false, h.final,
           time_span(greatest(moment, r.starts_at), r.ends_at) * h.times
      FROM hidden_rules(policy.finals, enabled_rules, policy.steps) AS h
      JOIN unnest(enabled_rules) AS r ON r.key = h.key;
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

-- The gaps that edits bring about, beside those of the policy before. A lockout that is new, or was off, has all of its
-- places without a way out told, and none of their parts, as some systems are always too old.
CREATE FUNCTION versiongate_internal.new_gaps(
    policy policy_part, before policy_part, edits row_edit[], moment timestamptz, by_region text[]
)
    RETURNS SETOF gap
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    -- To lockouts one that went is a withdrawn one: its platform still is a place.
    gone CONSTANT releases[] := ARRAY(
        SELECT r
          FROM unnest(edits) AS n
         CROSS JOIN LATERAL jsonb_populate_record(NULL::releases, n.before || '{"withdrawn_at": "-infinity"}') AS r
         WHERE n.table_name = 'releases' AND n.before IS NOT NULL
           AND (n.after ->> 'platform' = r.platform AND n.after ->> 'bundle' = r.bundle) IS NOT TRUE
           AND r.bundle IN (SELECT a.bundle FROM unnest(policy.apps) AS a)
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
      FROM gaps(policy, moment, by_region, by_system) AS n
      LEFT JOIN gaps(before, moment, by_region, by_system) AS b
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
