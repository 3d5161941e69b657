-- The fuse of a lockout: it opens where more of an app's checks are locked out than was meant.
--
-- It reads lockout_counts. Those from before an edit of whom the rule reaches do not count, as they would blow the one that
-- was put right. What turns it off and on again does not matter: a fuse that is taken back blows again if it is still true.

SET LOCAL search_path = public, versiongate_internal, pg_temp;

-- The newest changes since a time, and of the last 10,000, that matter to each enabled lockout; null: none. reach: of
-- whom it reaches; surroundings: of the releases of its apps, their pauses, and final rules.
CREATE FUNCTION versiongate_internal.lockout_edits(since timestamptz)
    RETURNS TABLE (rule text, reach bigint, surroundings bigint)
    LANGUAGE sql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
    WITH recent AS MATERIALIZED (
        SELECT c.id, c.token, c.bundles, c.edited_tables FROM changes AS c
         WHERE c.id > (SELECT p.revision FROM policy_revision AS p) - 10000 AND c.at > since
    ),
    edits AS MATERIALIZED (
        SELECT c.id, c.bundles, e.before, e.after, coalesce(e.key ->> 'key', e.key ->> 'rule') AS rule
          FROM recent AS c
          JOIN recorded_rows AS e ON e.token = c.token
         WHERE c.edited_tables && '{rules,rollout_steps}' AND e.table_name IN ('rules', 'rollout_steps')
    ),
    around AS MATERIALIZED (
        SELECT b.bundle, max(s.id) AS id
          FROM (
              SELECT c.id, c.bundles
                FROM recent AS c
                JOIN recorded_rows AS e ON e.token = c.token
               CROSS JOIN (SELECT '{name,store_id,seller,note}'::text[]) AS ignored(columns)
               WHERE c.edited_tables && '{apps,releases}'
                 AND e.table_name IN ('apps', 'releases')
                 AND e.before - ignored.columns IS DISTINCT FROM e.after - ignored.columns
               UNION ALL
              SELECT e.id, e.bundles
                FROM edits AS e
               WHERE 'true' IN (e.before ->> 'final', e.after ->> 'final')
                 AND e.before - silent_columns() IS DISTINCT FROM e.after - silent_columns()
          ) AS s
          LEFT JOIN LATERAL unnest(s.bundles) AS b(bundle) ON true GROUP BY b.bundle
    ),
    own AS MATERIALIZED (
        SELECT e.rule, max(e.id) AS id
          FROM edits AS e
         CROSS JOIN (SELECT silent_columns() || '{enabled,position,lockout,held_at,final}'::text[]) AS ignored(columns)
         WHERE e.before - ignored.columns IS DISTINCT FROM e.after - ignored.columns
         GROUP BY e.rule
    )
    SELECT r.key, own.id, (SELECT max(a.id) FROM around AS a WHERE (a.bundle = r.bundle) IS NOT false)
      FROM rules AS r
      LEFT JOIN own ON own.rule = r.key
     WHERE r.enabled AND r.lockout
$$;

-- What each fuse has to bear of each app: the checks of the last ten minutes and how many of them the rule locked out;
-- has_steps: its ramp has steps to come; is_over: of at least 500 checks more than the fuse allows, and its ramp is not
-- held.
CREATE FUNCTION versiongate_internal.fuse_loads()
    RETURNS TABLE (
        rule text, bundle text, fuse numeric, checks numeric, lockouts numeric, has_steps boolean, is_over boolean
    )
    LANGUAGE sql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
    SELECT r.key, c.bundle, r.fuse, sum(c.checks), sum(c.lockouts), ramp.goes_on,
           sum(c.checks) >= 500 AND sum(c.lockouts) * 100 > r.fuse * sum(c.checks) AND NOT ramp.is_held
      FROM rules AS r
     CROSS JOIN LATERAL (
         SELECT coalesce(bool_or(s.at > now()), false) AS goes_on,
                coalesce(bool_or(r.held_at <= now() AND s.at > r.held_at), false) AS is_held
           FROM rollout_steps AS s
          WHERE s.rule = r.key
     ) AS ramp
      JOIN lockout_edits(now() - interval '12 minutes') AS e ON e.rule = r.key
      JOIN lockout_counts AS c ON c.rule = r.key
     WHERE r.enabled
       AND r.lockout
       AND r.fuse IS NOT NULL
       AND c.minute > now() - interval '10 minutes'
       -- The clock of a server may be ahead.
       AND c.minute <= now() + interval '1 minute'
       AND c.revision >= coalesce(e.reach, 0)
     GROUP BY r.key, c.bundle, ramp.goes_on, ramp.is_held
$$;

CREATE FUNCTION blow_fuses() RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = versiongate_internal, public, pg_temp
    SET TimeZone = 'UTC' SET IntervalStyle = 'postgres' SET client_min_messages = error
AS $$
DECLARE
    candidate text;
    load record;
    reasons text[] := '{}';
BEGIN
    FOR candidate IN
        SELECT DISTINCT l.rule FROM fuse_loads() AS l WHERE l.is_over ORDER BY 1
    LOOP
        IF reasons = '{}' AND (open_revision() IS NOT NULL OR (open_edit()).xid IS NOT NULL) THEN
            RAISE object_not_in_prerequisite_state USING
                MESSAGE = 'fuses cannot blow in a transaction that has already edited',
                DETAIL = 'The history says of the edit that a fuse made it, so it is all that its transaction does.',
                HINT = 'COMMIT, then: SELECT blow_fuses();';
        END IF;
        -- Another server may be about to blow it, or somebody may be editing the rule: the next write asks again. With the
        -- lock, what is true now is looked up once more, as the commit of another may have made it untrue.
        PERFORM FROM rules AS r WHERE r.key = candidate FOR NO KEY UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        SELECT l.* INTO load
          FROM fuse_loads() AS l
         WHERE l.rule = candidate AND l.is_over
         ORDER BY l.lockouts / l.checks DESC, l.bundle
         LIMIT 1;
        CONTINUE WHEN NOT FOUND;
        -- Recorded when the whole is said: with the tool and the figures.
        SET CONSTRAINTS record_edits DEFERRED;
        UPDATE rules AS r
           SET held_at = CASE WHEN load.has_steps THEN now() ELSE r.held_at END,
               lockout = load.has_steps
         WHERE r.key = candidate;
        reasons := reasons || format(
            '%s: %s of %s checks of %s in the last 10 minutes were locked out, %s %%; its fuse is %s %%',
            candidate, load.lockouts, load.checks, coalesce(load.bundle, 'apps that are not listed'),
            trim_scale(round(100 * load.lockouts / load.checks, 2)), load.fuse
        );
    END LOOP;
    IF reasons <> '{}' THEN
        UPDATE edits_to_record AS e SET is_closed = true
         WHERE e.xid = pg_current_xact_id() AND e.at = now();
        PERFORM set_config('application_name', 'fuse', true),
                set_config('versiongate.os_user', '', true),
                set_config('versiongate.why', name_list(reasons, '; '), true);
    END IF;
    RETURN cardinality(reasons);
END
$$;
COMMENT ON FUNCTION blow_fuses() IS
    'Takes the lockout away from each rule whose fuse says so, or holds its ramp where that has steps to come: where in the'
    ' last 10 minutes at least 500 checks of an app were counted and more than that percentage of them were locked out by'
    ' it. Returns how many rules that were. It is one edit of the tool fuse, recorded at the commit, and is undone like any'
    ' other. Servers call it after each write of counts.';
REVOKE ALL ON FUNCTION blow_fuses() FROM PUBLIC;

-- A row for each rule with a fuse: armed, blown, or idle where the rule is no enabled lockout; what it has to bear of
-- the app that is nearest to it, and the change by which it blew.
CREATE FUNCTION versiongate_internal.fuse_status()
    RETURNS TABLE (
        rule text, bundle text, fuse numeric, status text, app text, checks bigint, lockouts bigint, change bigint,
        blown_at timestamptz, why text
    )
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = versiongate_internal, public, pg_temp
AS $$
    WITH last_switch AS MATERIALIZED (
        SELECT r.key, edit.id, edit.at, edit.why
          FROM rules AS r
         CROSS JOIN LATERAL (
             SELECT c.id, c.at, c.why, c.tool
               FROM recorded_rows AS e
               JOIN changes AS c ON c.token = e.token
              WHERE e.table_name = 'rules'
                AND e.key = jsonb_build_object('key', r.key)
                AND (e.before -> 'lockout', e.before -> 'held_at')
                    IS DISTINCT FROM (e.after -> 'lockout', e.after -> 'held_at')
              ORDER BY c.id DESC
              LIMIT 1
         ) AS edit
         WHERE r.fuse IS NOT NULL AND (r.held_at IS NOT NULL OR NOT r.lockout) AND edit.tool = 'fuse'
    ),
    nearest AS MATERIALIZED (
        SELECT DISTINCT ON (f.rule) f.rule, f.bundle, f.checks, f.lockouts
          FROM fuse_loads() AS f
         ORDER BY f.rule, f.is_over DESC, f.lockouts / greatest(f.checks, 1) DESC, f.checks DESC, f.bundle
    )
    SELECT r.key, r.bundle, r.fuse,
           CASE WHEN s.id IS NOT NULL THEN 'blown' WHEN r.enabled AND r.lockout THEN 'armed' ELSE 'idle' END,
           l.bundle, coalesce(l.checks, 0)::bigint, coalesce(l.lockouts, 0)::bigint, s.id, s.at, s.why
      FROM rules AS r
      LEFT JOIN last_switch AS s ON s.key = r.key
      LEFT JOIN nearest AS l ON l.rule = r.key
     WHERE r.fuse IS NOT NULL
$$;

-- A row for each enabled lockout that has not ended: of how many checks of its apps in the last 10 minutes it locked
-- out how many, since it is what it is; the same of the 10 minutes before that, where that was within a day
-- (is_recent), else of the hour before; the change since which it is what it is.
CREATE FUNCTION versiongate_internal.lockout_shares()
    RETURNS TABLE (
        rule text, checks bigint, lockouts bigint, checks_before bigint, lockouts_before bigint, is_recent boolean,
        change bigint, changed_at timestamptz, role text, tool text
    )
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = versiongate_internal, public, pg_temp
AS $$
    WITH lockouts AS MATERIALIZED (
        SELECT e.rule, greatest(e.reach, e.surroundings) AS first_revision, c.id, c.at, c.role, c.tool, planned.at AS began_at,
               coalesce(greatest(c.at, planned.at) > now() - interval '1 day', false) AS is_recent,
               greatest(c.at, date_trunc('minute', planned.at)) AS moment
          FROM lockout_edits(now() - interval '1 day') AS e
          JOIN rules AS r ON r.key = e.rule
          LEFT JOIN LATERAL (
              SELECT max(c.id)
                FROM recorded_rows AS w
                JOIN changes AS c ON c.token = w.token
               WHERE w.table_name = 'rules' AND w.key = jsonb_build_object('key', e.rule)
                 AND w.before - silent_columns() IS DISTINCT FROM w.after - silent_columns()
          ) AS own(change) ON true
          LEFT JOIN changes AS c ON c.id = greatest(own.change, e.reach, e.surroundings)
          -- What the clock has changed by itself: it began, or its ramp went on.
          LEFT JOIN LATERAL (
              SELECT greatest(
                  CASE WHEN r.starts_at <= now() THEN r.starts_at END,
                  (SELECT max(s.at) FROM rollout_steps AS s WHERE s.rule = r.key AND s.at <= least(now(), r.held_at))
              )
          ) AS planned(at) ON true
         WHERE r.ends_at IS NULL OR r.ends_at > now()
    )
    SELECT l.rule, present.checks, present.lockouts, before.checks, before.lockouts, l.is_recent, l.id, l.at, l.role, l.tool
      FROM lockouts AS l
     CROSS JOIN LATERAL (
         SELECT least(coalesce(sum(c.checks), 0), 1000000000000)::bigint,
                least(coalesce(sum(c.lockouts), 0), 1000000000000)::bigint
           FROM lockout_counts AS c
          WHERE c.rule = l.rule
            AND c.minute > greatest(now() - interval '10 minutes', date_trunc('minute', l.began_at) - interval '1 second')
            AND c.minute <= now() + interval '1 minute' AND c.revision >= coalesce(l.first_revision, 0)
     ) AS present(checks, lockouts)
     CROSS JOIN LATERAL (
         SELECT least(coalesce(sum(c.checks), 0), 1000000000000)::bigint,
                least(coalesce(sum(c.lockouts), 0), 1000000000000)::bigint
           FROM lockout_counts AS c
          WHERE c.rule = l.rule
            AND c.minute > CASE WHEN l.is_recent THEN l.moment - interval '11 minutes' ELSE now() - interval '70 minutes' END
            AND c.minute < CASE WHEN l.is_recent THEN l.moment ELSE now() - interval '10 minutes' END
            AND (l.is_recent AND l.moment = l.at AND c.revision >= l.id) IS NOT true
     ) AS before(checks, lockouts)
$$;
