-- SPDX-License-Identifier: Apache-2.0
-- Copyright the versiongate authors
--
-- What edits take from lockouts: a way out of them, or their turn. warn_of_edits (0008) asks this.

SET LOCAL search_path = public, pg_temp;

CREATE FUNCTION versiongate_internal.notes_of_lockouts(notes versiongate_internal.edited_rows[])
    RETURNS versiongate_internal.edited_rows[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = public, pg_temp
AS $$
DECLARE
    of_no_concern CONSTANT text[] := '{title,text,link,remind,shows,skippable,fuse,note}';
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
COMMENT ON FUNCTION versiongate_internal.notes_of_lockouts IS
    'Those of some edits that may decide whether a lockout locks out.';

-- A place without a way out counts only for as long as the rule applies. Where the rule locked out nobody before, all that
-- is missing now counts; else what these edits took. People wait for this, so it is bounded.
CREATE FUNCTION versiongate_internal.lost_ways_out(notes versiongate_internal.edited_rows[], moment timestamptz)
    RETURNS TABLE (key text, place text, platform text, is_part boolean, starts_at timestamptz, ends_at timestamptz)
    LANGUAGE plpgsql SET search_path = public, pg_temp
    SET enable_nestloop = off
    SET jit = off
AS $$
#variable_conflict error
DECLARE
    most_releases CONSTANT bigint := 20000;
    most_classes CONSTANT bigint := 50000;
    -- An edit of other columns leaves the ways out as they are.
    of_ways CONSTANT text[] :=
        '{enabled,lockout,lockout_without_update,bundle,platforms,regions,versions,builds,os,target,soak,starts_at,ends_at}';
    edited_rules CONSTANT text[] := ARRAY(
        SELECT coalesce(n.after, n.before) ->> 'key' FROM unnest(notes) AS n
         WHERE n.table_name = 'rules'
           AND versiongate_internal.row_columns(n.before, of_ways)
               IS DISTINCT FROM versiongate_internal.row_columns(n.after, of_ways)
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
    judged_bundles text[];
    lockouts_before rules[];
    releases_before releases[];
    releases_now releases[];
    regions text[];
    systems bytea[];
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
         WHERE n.table_name = 'rules' AND r.key IN (SELECT unnest(edited_rules))
           AND r.enabled AND r.lockout AND NOT r.lockout_without_update
    );
    judged_bundles := ARRAY(
        SELECT unnest(bundles)
         UNION
        SELECT l.bundle FROM unnest(lockouts || lockouts_before) AS l WHERE l.bundle IS NOT NULL
         UNION
        SELECT a.bundle
          FROM apps AS a
         WHERE EXISTS (
             SELECT FROM unnest(lockouts) AS l WHERE l.bundle IS NULL AND l.key IN (SELECT unnest(edited_rules))
         )
    );
    releases_now := ARRAY(
        SELECT r FROM releases AS r WHERE r.bundle = ANY (judged_bundles) LIMIT most_releases + 1
    );
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
          FROM (SELECT DISTINCT r.regions FROM unnest(releases_now || releases_before) AS r) AS r
         CROSS JOIN LATERAL unnest(r.regions) AS named(region)
    );
    -- What these releases come to for a system begins with one that they ask for.
    systems := ARRAY(
        SELECT DISTINCT versiongate_internal.version_key(side.min_os)
          FROM unnest(notes) AS n
         CROSS JOIN LATERAL (VALUES (n.before ->> 'min_os'), (n.after ->> 'min_os')) AS side(min_os)
         WHERE n.table_name = 'releases' AND side.min_os IS NOT NULL
    );
    IF cardinality(releases_now) > most_releases
        OR cardinality(lockouts) * (cardinality(regions) + 1)
           * (SELECT count(DISTINCT r.min_os) + 1 FROM unnest(releases_now || releases_before) AS r) > most_classes
    THEN
        PERFORM versiongate_internal.warn((
            'rules.lockout', 'rules_ways_out_unknown',
            format(
                'whether lockouts of %s lose a way out was not judged, as that takes too long',
                versiongate_internal.first_names(judged_bundles)
            ),
            'What is so now: SELECT * FROM policy_warnings;', '{}'
        ));
        RETURN;
    END IF;
    RETURN QUERY
    WITH present AS MATERIALIZED (
        SELECT w.*, l.bundle AS rule_bundle
          FROM versiongate_internal.ways_out(lockouts, releases_now, present_apps, moment, regions, systems) AS w
          JOIN unnest(lockouts) AS l ON l.key = w.key
    ),
    past AS MATERIALIZED (
        SELECT w.*, l.bundle AS rule_bundle
          FROM versiongate_internal.ways_out(
              lockouts_before, releases_before, present_apps, moment, regions, systems
          ) AS w
          JOIN unnest(lockouts_before) AS l ON l.key = w.key
    ),
    -- The app of a rule may just have got another bundle; in a rule for every app it tells places apart.
    compared AS (
        SELECT coalesce(now_is.key, was.key) AS key,
               CASE
                   WHEN now_is.key IS NULL
                       THEN versiongate_internal.place_name(was.rule_bundle, was.bundle, was.platform, was.region)
                   ELSE versiongate_internal.place_name(
                       now_is.rule_bundle, now_is.bundle, now_is.platform, now_is.region
                   )
               END AS place,
               coalesce(now_is.platform, was.platform) AS platform,
               coalesce(now_is.is_part, was.is_part) AS is_part,
               coalesce(was.times, '{(,)}') - coalesce(now_is.times, '{}') AS times
          FROM present AS now_is
          FULL JOIN past AS was
            ON was.key = now_is.key
           AND was.platform = now_is.platform
           AND coalesce(was.region, '') = coalesce(now_is.region, '')
           AND coalesce(was.system, '') = coalesce(now_is.system, '')
           AND was.is_part = now_is.is_part
           AND CASE WHEN was.rule_bundle IS NULL THEN coalesce(was.bundle, '') ELSE '' END
               = CASE WHEN now_is.rule_bundle IS NULL THEN coalesce(now_is.bundle, '') ELSE '' END
         -- A platform that the rule no longer names, or that the app no longer has a release for, may go with its lockout.
         WHERE now_is.key IS NOT NULL AND (was.key IS NOT NULL OR NOT now_is.is_part)
               -- Only the releases of these apps were looked at.
               AND (now_is.bundle IS NOT NULL OR NOT EXISTS (
                   SELECT FROM releases AS r
                     JOIN apps AS a ON a.bundle = r.bundle AND NOT a.paused
                    WHERE r.platform = now_is.platform
               ))
            OR was.key NOT IN (SELECT unnest(edited_rules)) AND EXISTS (
                SELECT FROM apps AS a WHERE a.bundle = was.bundle
            )
    ),
    lost AS (
        SELECT c.key, c.place, c.platform, c.is_part,
               c.times * versiongate_internal.time_span(moment, NULL)
                   * versiongate_internal.time_span(l.starts_at, l.ends_at) AS times
          FROM compared AS c
          JOIN unnest(lockouts) AS l ON l.key = c.key
         WHERE c.times <> '{}'
    )
    SELECT o.key, o.place, o.platform, o.is_part, lower(first.span), upper(first.span)
      FROM lost AS o
     CROSS JOIN LATERAL (SELECT u.span FROM unnest(o.times) AS u(span) ORDER BY u.span LIMIT 1) AS first;
END
$$;
COMMENT ON FUNCTION versiongate_internal.lost_ways_out IS
    'The places of enabled lockouts where these edits leave nobody a way out, from when on and until when: those that had'
    ' one before, and of a new lockout all without one; and their parts: where they take it from a region that the rule'
    ' does not name, or from some systems. Says so where that is too much to judge.';

CREATE FUNCTION versiongate_internal.warn_of_lost_ways_out(notes versiongate_internal.edited_rows[]) RETURNS void
    LANGUAGE plpgsql SET search_path = public, pg_temp
AS $$
DECLARE
    moment CONSTANT timestamptz := clock_timestamp();
    names text[];
BEGIN
    WITH found AS MATERIALIZED (
        SELECT l.* FROM versiongate_internal.lost_ways_out(notes, moment) AS l
    ),
    lost AS (
        SELECT DISTINCT f.key, f.starts_at, f.ends_at,
               f.place || CASE WHEN f.is_part AND f.place = f.platform THEN ' (some regions or systems)' ELSE '' END AS place
          FROM found AS f
          LEFT JOIN found AS whole ON whole.key = f.key AND whole.platform = f.platform AND NOT whole.is_part
         WHERE NOT f.is_part OR whole.key IS NULL
    )
    SELECT array_agg(rule.name ORDER BY rule.name) INTO names
      FROM (
          SELECT versiongate_internal.quoted(span.key) || ' on ' || string_agg(
              span.name, ', ' ORDER BY span.name
          ) AS name
            FROM (
                SELECT l.key,
                       versiongate_internal.first_names(array_agg(l.place ORDER BY l.place COLLATE "C"))
                       || CASE
                           WHEN l.starts_at > moment THEN ' from ' || versiongate_internal.time_text(l.starts_at)
                           ELSE ''
                       END
                       || coalesce(' until ' || versiongate_internal.time_text(l.ends_at), '') AS name
                  FROM lost AS l
                 GROUP BY l.key, l.starts_at, l.ends_at
            ) AS span
           GROUP BY span.key
      ) AS rule;
    IF names IS NOT NULL THEN
        PERFORM versiongate_internal.warn((
            'rules.lockout', 'rules_way_out',
            format('nobody has a way out of these lockouts: %s', versiongate_internal.first_names(names)),
            'Clients there get the message without the lockout. What is so now: SELECT * FROM rule_status;', '{}'
        ));
    END IF;
END
$$;
COMMENT ON FUNCTION versiongate_internal.warn_of_lost_ways_out IS
    'Warns of enabled lockouts that lose a way out by these edits, and of new ones without.';

CREATE FUNCTION versiongate_internal.warn_of_hidden_lockouts(notes versiongate_internal.edited_rows[]) RETURNS void
    LANGUAGE plpgsql SET search_path = public, pg_temp
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
         WHERE r.key NOT IN (
             SELECT n.after ->> 'key' FROM unnest(notes) AS n WHERE n.table_name = 'rules' AND n.after IS NOT NULL
         )
         UNION
        SELECT r
          FROM unnest(notes) AS n
         CROSS JOIN LATERAL jsonb_populate_record(NULL::rules, n.before) AS r
         WHERE n.table_name = 'rules' AND n.before IS NOT NULL
    );
    finals_before := ARRAY(SELECT r FROM unnest(rules_before) AS r WHERE r.enabled AND r.final AND r.target IS NULL);
    steps_before := ARRAY(
        SELECT s FROM unnest(versiongate_internal.present_steps(finals)) AS s
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
            SELECT h.key, h.final,
                   f.times * versiongate_internal.time_span(l.starts_at, l.ends_at)
                       * versiongate_internal.time_span(moment, NULL) AS times
              FROM versiongate_internal.hidden_rules(finals, lockouts) AS h
              JOIN versiongate_internal.full_times(finals, versiongate_internal.present_steps(finals)) AS f
                ON f.key = h.final
              JOIN unnest(lockouts) AS l ON l.key = h.key
             WHERE h.key IN (SELECT unnest(edited)) OR h.final IN (SELECT unnest(edited))
        ),
        past AS (
            SELECT h.key, h.final, f.times
              FROM versiongate_internal.hidden_rules(
                       finals_before, ARRAY(SELECT r FROM unnest(rules_before) AS r WHERE r.enabled AND r.lockout)
                   ) AS h
              JOIN versiongate_internal.full_times(finals_before, steps_before) AS f ON f.key = h.final
        )
        SELECT n.final,
               array_agg(versiongate_internal.quoted(n.key) ORDER BY n.key) AS keys,
               min(lower(n.times - coalesce(p.times, '{}'))) AS start
          FROM present AS n
          LEFT JOIN past AS p ON p.key = n.key AND p.final = n.final
         WHERE n.times - coalesce(p.times, '{}') <> '{}'
         GROUP BY n.final
         ORDER BY n.final
    LOOP
        PERFORM versiongate_internal.warn((
            'rules.final', 'rules_hidden',
            format(
                'rule %s is final, comes before these lockouts and is sent to everybody whom they are for%s: %s',
                versiongate_internal.quoted(hidden.final),
                CASE
                    WHEN hidden.start > moment THEN ' from ' || versiongate_internal.time_text(hidden.start) || ' on'
                    ELSE ''
                END,
                versiongate_internal.first_names(hidden.keys)
            ),
            'Nobody gets them. Give them a lower position, or narrow the final rule.', NULL
        ));
    END LOOP;
END
$$;
COMMENT ON FUNCTION versiongate_internal.warn_of_hidden_lockouts IS
    'Warns of enabled lockouts that these edits put behind a final rule which is sent to all whom they are for.';
