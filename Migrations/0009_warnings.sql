-- SPDX-License-Identifier: Apache-2.0
-- Copyright the versiongate authors
--
-- What edits take from lockouts: a way out of them, or their turn. judge_edits (0006) asks this.

SET LOCAL search_path = public, pg_temp;

CREATE FUNCTION notes_of_lockouts(notes edited_rows[]) RETURNS edited_rows[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = public, pg_temp
AS $$
DECLARE
    of_no_concern CONSTANT text[] := '{title,text,link,remind,shows,skippable,note}';
BEGIN
    RETURN ARRAY(
        SELECT n
          FROM unnest(notes) AS n
         WHERE CASE n.table_name
                   WHEN 'releases' THEN true
                   WHEN 'rollout_steps' THEN true
                   WHEN 'rules' THEN
                       'true' IN (
                           n.before ->> 'lockout', n.after ->> 'lockout', n.before ->> 'final', n.after ->> 'final'
                       )
                   ELSE false
               END
           AND (n.before - of_no_concern) IS DISTINCT FROM (n.after - of_no_concern)
    );
END
$$;

COMMENT ON FUNCTION notes_of_lockouts(edited_rows[]) IS
    'Those of some edits that may decide whether a lockout locks out: of releases, steps, lockouts and final rules, their'
    ' messages and notes apart.';

-- A place without a way out counts only for as long as the rule applies. Where the rule locked out nobody before, all that
-- is missing now counts; else what these edits took.
CREATE FUNCTION lost_ways_out(notes edited_rows[], moment timestamptz, in_parts boolean)
    RETURNS TABLE (key text, place text, platform text, starts_at timestamptz, ends_at timestamptz)
    LANGUAGE plpgsql STABLE
    SET search_path = public, pg_temp
    SET enable_nestloop = off
    SET jit = off
AS $$
#variable_conflict error
DECLARE
    edited_rules CONSTANT text[] := ARRAY(
        SELECT coalesce(n.after, n.before) ->> 'key' FROM unnest(notes) AS n WHERE n.table_name = 'rules'
    );
    edited_releases CONSTANT bigint[] := ARRAY(
        SELECT (coalesce(n.after, n.before) ->> 'id')::bigint FROM unnest(notes) AS n WHERE n.table_name = 'releases'
    );
    -- Also a new release may take a way out away: if it is greater, and matched by the rule.
    bundles CONSTANT text[] := ARRAY(
        SELECT DISTINCT side.bundle
          FROM unnest(notes) AS n
         CROSS JOIN LATERAL (VALUES (n.before ->> 'bundle'), (n.after ->> 'bundle')) AS side(bundle)
         WHERE n.table_name = 'releases' AND side.bundle IS NOT NULL
    );
    lockouts CONSTANT rules[] := ARRAY(
        SELECT r FROM rules AS r
         WHERE r.enabled AND r.lockout AND NOT r.lockout_without_update
           AND (
               r.key IN (SELECT unnest(edited_rules)) OR r.bundle = ANY (bundles) OR r.bundle IS NULL AND bundles <> '{}'
           )
    );
    present_apps CONSTANT apps[] := ARRAY(SELECT a FROM apps AS a);
    regions text[];
    systems bytea[];
    judged_bundles text[];
    lockouts_before rules[];
    releases_before releases[];
    releases_now releases[];
BEGIN
    IF lockouts = '{}' THEN
        RETURN;
    END IF;
    lockouts_before := ARRAY(
        SELECT l FROM unnest(lockouts) AS l WHERE l.key NOT IN (SELECT unnest(edited_rules))
         UNION ALL
        SELECT r
          FROM unnest(notes) AS n
         CROSS JOIN LATERAL jsonb_populate_record(NULL::rules, n.before) AS r
         WHERE n.table_name = 'rules' AND n.before IS NOT NULL
           AND r.enabled AND r.lockout AND NOT r.lockout_without_update
    );
    judged_bundles := ARRAY(
        SELECT l.bundle FROM unnest(lockouts) AS l WHERE l.bundle IS NOT NULL
         UNION
        SELECT l.bundle FROM unnest(lockouts_before) AS l WHERE l.bundle IS NOT NULL
         UNION
        SELECT a.bundle FROM apps AS a WHERE EXISTS (SELECT FROM unnest(lockouts) AS l WHERE l.bundle IS NULL)
    );
    releases_now := ARRAY(SELECT r FROM releases AS r WHERE r.bundle = ANY (judged_bundles));
    releases_before := ARRAY(
        SELECT r FROM unnest(releases_now) AS r WHERE r.id NOT IN (SELECT unnest(edited_releases))
         UNION ALL
        SELECT r
          FROM unnest(notes) AS n
         CROSS JOIN LATERAL jsonb_populate_record(NULL::releases, n.before) AS r
         WHERE n.table_name = 'releases' AND n.before IS NOT NULL
    );
    regions := ARRAY(
        SELECT DISTINCT named.region
          FROM unnest(releases_now || releases_before) AS r
         CROSS JOIN LATERAL unnest(r.regions) AS named(region)
    );
    -- What these releases come to for a system begins with one that they ask for.
    systems := ARRAY(
        SELECT DISTINCT version_key(side.min_os)
          FROM unnest(notes) AS n
         CROSS JOIN LATERAL (VALUES (n.before ->> 'min_os'), (n.after ->> 'min_os')) AS side(min_os)
         WHERE n.table_name = 'releases' AND side.min_os IS NOT NULL
    );
    RETURN QUERY
    WITH present AS MATERIALIZED (
        SELECT w.*, l.bundle AS rule_bundle
          FROM ways_out(lockouts, releases_now, present_apps, CASE WHEN in_parts THEN regions END, systems) AS w
          JOIN unnest(lockouts) AS l ON l.key = w.key
    ),
    past AS MATERIALIZED (
        SELECT w.*, l.bundle AS rule_bundle
          FROM ways_out(lockouts_before, releases_before, present_apps, CASE WHEN in_parts THEN regions END, systems) AS w
          JOIN unnest(lockouts_before) AS l ON l.key = w.key
    ),
    -- The app of a rule may just have got another bundle; in a rule for every app it tells places apart.
    compared AS (
        SELECT coalesce(now_is.key, was.key) AS key,
               CASE
                   WHEN now_is.key IS NULL
                       THEN place_name(was.rule_bundle, was.bundle, was.platform, was.region)
                   ELSE place_name(now_is.rule_bundle, now_is.bundle, now_is.platform, now_is.region)
               END AS place,
               coalesce(now_is.platform, was.platform) AS platform,
               coalesce(was.times, '{(,)}') - coalesce(now_is.times, '{}') AS times
          FROM present AS now_is
          FULL JOIN past AS was
            ON was.key = now_is.key
           AND was.platform = now_is.platform
           AND coalesce(was.region, '') = coalesce(now_is.region, '')
           AND coalesce(was.system, '') = coalesce(now_is.system, '')
           AND CASE WHEN was.rule_bundle IS NULL THEN coalesce(was.bundle, '') ELSE '' END
               = CASE WHEN now_is.rule_bundle IS NULL THEN coalesce(now_is.bundle, '') ELSE '' END
         -- A platform that the rule no longer names, or that the app no longer has a release for, may go with its lockout.
         WHERE now_is.key IS NOT NULL AND (was.key IS NOT NULL OR NOT in_parts)
            OR was.key NOT IN (SELECT unnest(edited_rules)) AND EXISTS (SELECT FROM apps AS a WHERE a.bundle = was.bundle)
    ),
    lost AS (
        SELECT c.key, c.place, c.platform, c.times * time_span(moment, NULL) * time_span(l.starts_at, l.ends_at) AS times
          FROM compared AS c
          JOIN unnest(lockouts) AS l ON l.key = c.key
    )
    SELECT o.key, o.place, o.platform, lower(first.span), upper(first.span)
      FROM lost AS o
     CROSS JOIN LATERAL (SELECT u.span FROM unnest(o.times) AS u(span) ORDER BY u.span LIMIT 1) AS first;
END
$$;

COMMENT ON FUNCTION lost_ways_out(edited_rows[], timestamptz, boolean) IS
    'The places of enabled lockouts where these edits leave nobody a way out, from when on and until when: those that had'
    ' one before, and of a new lockout all without one. In parts: where they take it from a region that the rule does not'
    ' name, or from some systems.';

CREATE FUNCTION warn_of_lost_ways_out(notes edited_rows[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    moment CONSTANT timestamptz := clock_timestamp();
    names text[];
BEGIN
    WITH whole AS MATERIALIZED (
        SELECT l.* FROM lost_ways_out(notes, moment, false) AS l
    ),
    part AS MATERIALIZED (
        SELECT l.* FROM lost_ways_out(notes, moment, true) AS l
         WHERE NOT EXISTS (SELECT FROM whole AS w WHERE w.key = l.key AND w.platform = l.platform)
    ),
    lost AS (
        SELECT w.key, w.place, w.starts_at, w.ends_at FROM whole AS w
         UNION
        SELECT p.key,
               p.place || CASE WHEN p.place = p.platform THEN ' (some regions or systems)' ELSE '' END,
               p.starts_at,
               p.ends_at
          FROM part AS p
    )
    SELECT array_agg(rule.name ORDER BY rule.name) INTO names
      FROM (
          SELECT quoted(span.key) || ' on ' || string_agg(span.name, ', ' ORDER BY span.name) AS name
            FROM (
                SELECT l.key,
                       first_names(array_agg(l.place ORDER BY l.place COLLATE "C"))
                       || CASE WHEN l.starts_at > moment THEN ' from ' || time_text(l.starts_at) ELSE '' END
                       || coalesce(' until ' || time_text(l.ends_at), '') AS name
                  FROM lost AS l
                 GROUP BY l.key, l.starts_at, l.ends_at
            ) AS span
           GROUP BY span.key
      ) AS rule;
    IF names IS NOT NULL THEN
        RAISE WARNING USING
            MESSAGE = format('nobody has a way out of these lockouts: %s', first_names(names)),
            HINT = 'Clients there get the message without the lockout. What is so now: SELECT * FROM rule_status;',
            SCHEMA = 'public', TABLE = 'rules', COLUMN = 'lockout', CONSTRAINT = 'rules_way_out';
    END IF;
END
$$;

COMMENT ON FUNCTION warn_of_lost_ways_out(edited_rows[]) IS
    'Warns of enabled lockouts that lose a way out by these edits, and of new ones without.';

CREATE FUNCTION warn_of_hidden_lockouts(notes edited_rows[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
    SET jit = off
AS $$
DECLARE
    moment CONSTANT timestamptz := clock_timestamp();
    edited CONSTANT text[] := ARRAY(
        SELECT n.after ->> 'key' FROM unnest(notes) AS n WHERE n.table_name = 'rules'
         UNION
        SELECT side.step ->> 'rule'
          FROM unnest(notes) AS n
         CROSS JOIN LATERAL (VALUES (n.before), (n.after)) AS side(step)
         WHERE n.table_name = 'rollout_steps'
    );
    finals CONSTANT rules[] := ARRAY(SELECT r FROM rules AS r WHERE r.enabled AND r.final AND r.target IS NULL);
    is_final_edited CONSTANT boolean := EXISTS (
        SELECT FROM unnest(finals) AS f WHERE f.key IN (SELECT unnest(edited))
    );
    lockouts CONSTANT rules[] := CASE
        WHEN finals = '{}' THEN '{}'
        ELSE ARRAY(
            SELECT r FROM rules AS r
             WHERE r.enabled AND r.lockout AND (is_final_edited OR r.key IN (SELECT unnest(edited)))
        )
    END;
    rules_before rules[];
    finals_before rules[];
    steps_before rollout_steps[];
    hidden record;
BEGIN
    IF lockouts = '{}' THEN
        RETURN;
    END IF;
    rules_before := ARRAY(
        SELECT r FROM unnest(finals || lockouts) AS r
         WHERE r.key NOT IN (SELECT n.after ->> 'key' FROM unnest(notes) AS n WHERE n.table_name = 'rules' AND n.after IS NOT NULL)
         UNION
        SELECT r
          FROM unnest(notes) AS n
         CROSS JOIN LATERAL jsonb_populate_record(NULL::rules, n.before) AS r
         WHERE n.table_name = 'rules' AND n.before IS NOT NULL
    );
    finals_before := ARRAY(SELECT r FROM unnest(rules_before) AS r WHERE r.enabled AND r.final AND r.target IS NULL);
    steps_before := ARRAY(
        SELECT s FROM unnest(present_steps(finals)) AS s
         WHERE NOT EXISTS (
                   SELECT FROM unnest(notes) AS n
                    WHERE n.table_name = 'rollout_steps'
                      AND n.after ->> 'rule' = s.rule AND (n.after ->> 'at')::timestamptz = s.at
               )
         UNION ALL
        SELECT s
          FROM unnest(notes) AS n
         CROSS JOIN LATERAL jsonb_populate_record(NULL::rollout_steps, n.before) AS s
         WHERE n.table_name = 'rollout_steps' AND n.before IS NOT NULL
    );
    FOR hidden IN
        WITH present AS (
            SELECT h.key, h.final, f.times * time_span(l.starts_at, l.ends_at) * time_span(moment, NULL) AS times
              FROM hidden_rules(finals, lockouts) AS h
              JOIN full_times(finals, present_steps(finals)) AS f ON f.key = h.final
              JOIN unnest(lockouts) AS l ON l.key = h.key
             WHERE h.key IN (SELECT unnest(edited)) OR h.final IN (SELECT unnest(edited))
        ),
        past AS (
            SELECT h.key, h.final, f.times
              FROM hidden_rules(
                       finals_before, ARRAY(SELECT r FROM unnest(rules_before) AS r WHERE r.enabled AND r.lockout)
                   ) AS h
              JOIN full_times(finals_before, steps_before) AS f ON f.key = h.final
        )
        SELECT n.final,
               array_agg(quoted(n.key) ORDER BY n.key) AS keys,
               min(lower(n.times - coalesce(p.times, '{}'))) AS start
          FROM present AS n
          LEFT JOIN past AS p ON p.key = n.key AND p.final = n.final
         WHERE n.times - coalesce(p.times, '{}') <> '{}'
         GROUP BY n.final
         ORDER BY n.final
    LOOP
        RAISE WARNING USING
            MESSAGE = format(
                'rule %s is final, comes before these lockouts and is sent to everybody whom they are for%s: %s',
                quoted(hidden.final),
                CASE WHEN hidden.start > moment THEN ' from ' || time_text(hidden.start) || ' on' ELSE '' END,
                first_names(hidden.keys)
            ),
            DETAIL = format('Rule %s hides lockouts.', hidden.final),
            HINT = 'Nobody gets them. Give them a lower position, or narrow the final rule.',
            SCHEMA = 'public', TABLE = 'rules', COLUMN = 'final', CONSTRAINT = 'rules_hidden';
    END LOOP;
END
$$;

COMMENT ON FUNCTION warn_of_hidden_lockouts(edited_rows[]) IS
    'Warns of enabled lockouts that these edits put behind a final rule which is sent to all whom they are for.';

-- As the server counts (CompiledPolicy.canAnnounce).
CREATE FUNCTION app_warnings(bundles text[]) RETURNS TABLE (bundle text, warning text, detail text, hint text)
    LANGUAGE plpgsql STABLE ROWS 1
    SET search_path = public, pg_temp
    SET jit = off
AS $$
#variable_conflict error
DECLARE
    most CONSTANT bigint := 2000;
BEGIN
    RETURN QUERY
    WITH rule_cost AS MATERIALIZED (
        SELECT r.bundle,
               sum(
                   greatest(1, (SELECT count(*) FROM unnest(s.versions))) + (
                       (SELECT coalesce(sum(octet_length(l.tag) + 8), 0) FROM unnest(r.languages) AS l(tag))
                       + (
                           SELECT coalesce(sum(octet_length(a.name)), 0) FROM jsonb_object_keys(r.attributes) AS a(name)
                       ) + (
                           SELECT coalesce(sum(octet_length(v.value) + 8), 0)
                             FROM jsonb_each(r.attributes) AS a(name, accepted)
                            CROSS JOIN LATERAL jsonb_array_elements_text(a.accepted) AS v(value)
                       ) + 8 * (
                           (SELECT count(*) FROM unnest(s.builds)) + (SELECT count(*) FROM unnest(s.os))
                           + coalesce(cardinality(r.platforms), 0) + coalesce(cardinality(r.regions), 0)
                           + (SELECT count(*) FROM rollout_steps AS step WHERE step.rule = r.key)
                       )
                   )::bigint / 1024
               ) AS cost
          FROM rules AS r
          LEFT JOIN rule_spans AS s ON s.rule = r.key
         WHERE r.enabled
           AND (r.bundle = ANY (bundles) OR r.bundle IS NULL)
           AND (
               r.rollout > 0
               OR EXISTS (SELECT FROM rollout_steps AS step WHERE step.rule = r.key AND step.rollout > 0)
           )
         GROUP BY r.bundle
    ),
    app AS (
        SELECT a.bundle,
               coalesce((SELECT c.cost FROM rule_cost AS c WHERE c.bundle = a.bundle), 0)
               + coalesce((SELECT c.cost FROM rule_cost AS c WHERE c.bundle IS NULL), 0)
               + (SELECT count(*) FROM releases AS r WHERE r.bundle = a.bundle) AS cost
          FROM apps AS a
         WHERE a.bundle = ANY (bundles)
    )
    SELECT app.bundle::text,
           format('the rules and releases of %s are more than %s together, so no feed announces anything', app.bundle, most),
           format('They are %s.', app.cost),
           'Disable rules that are not needed any more, or remove old releases. Each interval of versions counts as a rule.'
      FROM app
     WHERE app.cost > most;
END
$$;

COMMENT ON FUNCTION app_warnings(text[]) IS 'What is beyond a bound in apps: more rules and releases than feeds are made of.';

CREATE FUNCTION warn_of_large_apps(notes edited_rows[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    columns CONSTANT text[] := '{bundle,enabled,rollout,versions,builds,os,platforms,regions,languages,attributes}';
    bundles text[] := ARRAY(
        SELECT DISTINCT n.after ->> 'bundle'
          FROM unnest(notes) AS n
         WHERE n.after IS NOT NULL AND CASE n.table_name
                   WHEN 'releases' THEN n.before IS NULL
                   WHEN 'rules' THEN
                       n.after -> 'enabled' = 'true'
                       AND row_columns(n.before, columns) IS DISTINCT FROM row_columns(n.after, columns)
                   ELSE false
               END
    );
    large record;
BEGIN
    IF bundles = '{}' THEN
        RETURN;
    END IF;
    IF array_position(bundles, NULL) IS NOT NULL THEN
        bundles := ARRAY(SELECT a.bundle FROM apps AS a);
    END IF;
    FOR large IN SELECT w.* FROM app_warnings(bundles) AS w ORDER BY w.bundle LIMIT 20 LOOP
        RAISE WARNING USING
            MESSAGE = large.warning, DETAIL = large.detail, HINT = large.hint,
            SCHEMA = 'public', TABLE = 'apps', CONSTRAINT = 'apps_large';
    END LOOP;
END
$$;

COMMENT ON FUNCTION warn_of_large_apps(edited_rows[]) IS
    'Warns of apps that these edits add to and that are beyond a bound then.';

-- The places of lockouts that rule_status does not name, as it tells what is so now, and of each place as a whole.
CREATE FUNCTION lockout_warnings(moment timestamptz) RETURNS TABLE (rule text, warning text, detail text, hint text)
    LANGUAGE plpgsql STABLE
    SET search_path = public, pg_temp
    SET jit = off
AS $$
#variable_conflict error
DECLARE
    without CONSTANT text := 'Clients there get the message without the lockout, until there is a release for them.';
    enabled CONSTANT rules[] := ARRAY(SELECT r FROM rules AS r WHERE r.enabled AND r.lockout);
    lockouts CONSTANT rules[] := ARRAY(SELECT r FROM unnest(enabled) AS r WHERE NOT r.lockout_without_update);
    finals CONSTANT rules[] := ARRAY(SELECT r FROM rules AS r WHERE r.enabled AND r.final AND r.target IS NULL);
    known CONSTANT releases[] := CASE WHEN lockouts = '{}' THEN '{}' ELSE ARRAY(SELECT r FROM releases AS r) END;
    present_apps CONSTANT apps[] := ARRAY(SELECT a FROM apps AS a);
BEGIN
    RETURN QUERY
    WITH way AS MATERIALIZED (
        SELECT w.key, w.bundle, w.platform, w.region, w.times, false AS is_part
          FROM ways_out(lockouts, known, present_apps) AS w
         UNION ALL
        SELECT w.key, w.bundle, w.platform, NULL, w.times, true
          FROM ways_out(lockouts, known, present_apps, '{}') AS w
    ),
    closed AS MATERIALIZED (
        SELECT w.key, w.bundle, w.platform, w.is_part, lower(gap.first) AS start, upper(gap.first) AS finish,
               place_name(l.bundle, w.bundle, w.platform, w.region)
                   || CASE WHEN w.is_part THEN ' (some regions or systems)' ELSE '' END AS place
          FROM way AS w
          JOIN unnest(lockouts) AS l ON l.key = w.key
         CROSS JOIN LATERAL (
             SELECT u.span
               FROM unnest(time_span(moment, NULL) * time_span(l.starts_at, l.ends_at) - w.times) AS u(span)
              ORDER BY u.span
              LIMIT 1
         ) AS gap(first)
    )
    SELECT c.key,
           format(
               'nobody has a way out of rule %s on %s%s', quoted(c.key),
               first_names(array_agg(DISTINCT c.place ORDER BY c.place)),
               CASE WHEN c.start > moment THEN format(' from %s on', time_text(c.start)) ELSE '' END
           ),
           'Until ' || time_text(c.finish) || '.',
           without
      FROM closed AS c
     WHERE (c.is_part OR c.start > moment)
       AND NOT (
           c.is_part AND EXISTS (
               SELECT FROM closed AS w
                WHERE w.key = c.key AND w.platform = c.platform AND w.bundle IS NOT DISTINCT FROM c.bundle
                  AND NOT w.is_part AND w.start <= c.start
           )
       )
     GROUP BY c.key, c.start, c.finish;
    RETURN QUERY
    SELECT h.key,
           format('rule %s is hidden from %s on', quoted(h.key), time_text(min(h.start))),
           format(
               'Why: %s comes before it, is final and is sent to everybody whom it is for.',
               (array_agg(h.final ORDER BY h.start, h.final_position, h.final))[1]
           ),
           'Nobody gets it then. Give it a lower position, or narrow the final rule.'
      FROM (
          SELECT hidden.key, hidden.final, hidden.final_position,
                 lower(f.times * time_span(l.starts_at, l.ends_at) * time_span(moment, NULL)) AS start
            FROM hidden_rules(finals, enabled) AS hidden
            JOIN full_times(finals, present_steps(finals)) AS f ON f.key = hidden.final
            JOIN unnest(enabled) AS l ON l.key = hidden.key
      ) AS h
     GROUP BY h.key
    HAVING min(h.start) > moment;
END
$$;

COMMENT ON FUNCTION lockout_warnings(timestamptz) IS
    'Enabled lockouts without a way out in some regions or on some systems, and those that will be without one, or hidden'
    ' behind a final rule, as things are.';

CREATE VIEW policy_warnings WITH (security_invoker = true) AS
SELECT found.rule, found.release, found.warning, found.detail, found.hint
  FROM (
      SELECT r.key::text AS rule, NULL::bigint AS release, w.warning, w.detail, w.hint
        FROM rules AS r
       CROSS JOIN LATERAL rule_warnings(r) AS w
       UNION ALL
      SELECT r.key, NULL, w.warning, w.detail, w.hint FROM rules AS r CROSS JOIN LATERAL link_warnings(r) AS w
       UNION ALL
      SELECT t.rule, NULL, w.warning, w.detail, w.hint FROM rule_texts AS t CROSS JOIN LATERAL rule_text_warnings(t) AS w
       UNION ALL
      SELECT NULL, r.id, w.warning, w.detail, w.hint FROM releases AS r CROSS JOIN LATERAL release_warnings(r) AS w
       UNION ALL
      SELECT NULL, NULL, w.warning, NULL, w.hint FROM store_links AS s CROSS JOIN LATERAL store_link_warnings(s) AS w
       UNION ALL
      SELECT NULL, NULL, w.warning, w.detail, w.hint FROM app_warnings(ARRAY(SELECT a.bundle FROM apps AS a)) AS w
       UNION ALL
      SELECT s.key,
             NULL,
             format('rule %s is %s', quoted(s.key), s.status),
             format('Why: %s.', s.reason),
             CASE
                 WHEN s.status = 'waiting' AND s.reason = 'its rollout is 0 %' THEN 'Set its rollout, or disable it.'
                 WHEN s.status = 'waiting' THEN
                     'Once users can get such a release, record that: add it, or set what is in its way.'
                 WHEN s.status = 'hidden' THEN 'Nobody gets it. Give it a lower position, or narrow the final rule.'
                 ELSE 'Clients there get the message without the lockout, until there is a release outside the rule.'
             END
        FROM rule_status AS s
        JOIN rules AS r ON r.key = s.key
       WHERE s.status IN ('hidden', 'on without lockout', 'partly without lockout')
          -- What the clock ends is a plan.
          OR s.status = 'waiting' AND (s.next = r.ends_at OR s.next IS NULL)
       UNION ALL
      SELECT w.rule, NULL, w.warning, w.detail, w.hint FROM lockout_warnings(now()) AS w
  ) AS found
 ORDER BY found.rule, found.release, found.warning;

COMMENT ON VIEW policy_warnings IS 'What is probably not meant in the policy as it stands now: what its edits would be warned of.';
COMMENT ON COLUMN policy_warnings.rule IS 'Key of the rule; null: it is about something else.';
COMMENT ON COLUMN policy_warnings.release IS 'Number of the release; null: it is about something else.';
COMMENT ON COLUMN policy_warnings.warning IS 'What is so.';
COMMENT ON COLUMN policy_warnings.detail IS 'More about it.';
COMMENT ON COLUMN policy_warnings.hint IS 'What to do about it.';
