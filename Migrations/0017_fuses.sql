-- SPDX-License-Identifier: Apache-2.0
-- Copyright the versiongate authors
--
-- The fuse of a lockout: it opens where more of an app's checks are locked out than was meant.
--
-- Servers count the checks of each app that a rule with a fuse can lock out while it does lock out: it is enabled, has
-- begun, has not ended and reaches more than nobody. So no checks from before a lockout began make its share smaller than
-- it is. Counts are of the rule as it stands: an edit of whom it reaches starts them anew (restart_fuses), because those
-- of the rule as it was would blow the one that was put right. What turns it off and on again does not, so a fuse that is
-- taken back blows again where it is still true.

SET LOCAL search_path = public, pg_temp;

CREATE TABLE fuse_counts (
    rule text COLLATE "C" NOT NULL,
    bundle text COLLATE "C",
    minute timestamptz NOT NULL CHECK (isfinite(minute)),
    checks bigint NOT NULL CHECK (checks BETWEEN 0 AND 1000000000000),
    lockouts bigint NOT NULL CONSTRAINT fuse_counts_lockouts_check CHECK (lockouts BETWEEN 0 AND checks),
    since bigint NOT NULL,
    CONSTRAINT fuse_counts_key UNIQUE NULLS NOT DISTINCT (rule, bundle, minute)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

CREATE INDEX fuse_counts_minute_idx ON fuse_counts (minute);

ALTER TABLE fuse_counts REPLICA IDENTITY FULL;

COMMENT ON TABLE fuse_counts IS
    'Checks per minute of the apps that a rule with a fuse may lock out, added up by the servers and kept for a day. Claims'
    ' of the clients, which nobody verified.';
COMMENT ON COLUMN fuse_counts.rule IS 'Key of the rule.';
COMMENT ON COLUMN fuse_counts.bundle IS
    'The app as apps spells it; null, for a rule for every app: all that are not in apps.';
COMMENT ON COLUMN fuse_counts.minute IS 'Start of the minute.';
COMMENT ON COLUMN fuse_counts.checks IS 'How many checks of the app were answered while the rule locked out.';
COMMENT ON COLUMN fuse_counts.lockouts IS 'Those that the rule locked out.';
COMMENT ON COLUMN fuse_counts.since IS
    'The revision since which the rule reaches whom it reached when these were counted. Filled in; rows of a rule that'
    ' was edited since do not count.';

CREATE TABLE versiongate_internal.fuse_restarts (
    rule text COLLATE "C" PRIMARY KEY,
    revision bigint NOT NULL
);

COMMENT ON TABLE versiongate_internal.fuse_restarts IS
    'Since which revision each rule with a fuse reaches whom it reaches now; 0 for those that are missing.';
COMMENT ON COLUMN versiongate_internal.fuse_restarts.rule IS 'Key of the rule.';
COMMENT ON COLUMN versiongate_internal.fuse_restarts.revision IS 'The revision.';

CREATE FUNCTION versiongate_internal.fuse_start(rule text) RETURNS bigint
    LANGUAGE sql STABLE SET search_path = public, pg_temp
RETURN coalesce(
    (SELECT s.revision FROM versiongate_internal.fuse_restarts AS s WHERE s.rule = fuse_start.rule), 0
);
COMMENT ON FUNCTION versiongate_internal.fuse_start IS
    'The revision since which a rule reaches whom it reaches now: what was counted before it does not count.';

CREATE FUNCTION versiongate_internal.stamp_fuse_count() RETURNS trigger
    LANGUAGE plpgsql SET search_path = public, pg_temp
AS $$
BEGIN
    NEW.since := versiongate_internal.fuse_start(NEW.rule);
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION versiongate_internal.stamp_fuse_count IS 'Trigger: fills in since when the rule is as it is.';

CREATE TRIGGER stamp_fuse_count BEFORE INSERT ON fuse_counts
    FOR EACH ROW EXECUTE FUNCTION versiongate_internal.stamp_fuse_count();

-- A server may write what it counted before it had heard of the edit.
CREATE FUNCTION versiongate_internal.add_fuse_counts(
    rules text[], bundles text[], minutes timestamptz[], checks bigint[], lockouts bigint[], revisions bigint[]
) RETURNS void
    LANGUAGE sql SET search_path = public, pg_temp
AS $$
    INSERT INTO fuse_counts AS counted (rule, bundle, minute, checks, lockouts)
    SELECT added.rule, added.bundle, added.minute,
           least(sum(added.checks), 1000000000000)::bigint, least(sum(added.lockouts), 1000000000000)::bigint
      FROM unnest(rules, bundles, minutes, checks, lockouts, revisions)
           AS added(rule, bundle, minute, checks, lockouts, revision)
     WHERE added.revision >= versiongate_internal.fuse_start(added.rule)
     GROUP BY added.rule, added.bundle, added.minute
     ORDER BY added.rule COLLATE "C", added.bundle COLLATE "C", added.minute
        ON CONFLICT ON CONSTRAINT fuse_counts_key DO UPDATE
       SET checks = CASE
               WHEN counted.since = excluded.since
                   THEN least(counted.checks + excluded.checks, 1000000000000)
               ELSE excluded.checks
           END,
           lockouts = CASE
               WHEN counted.since = excluded.since
                   THEN least(counted.lockouts + excluded.lockouts, 1000000000000)
               ELSE excluded.lockouts
           END,
           since = excluded.since
     WHERE counted.since <= excluded.since
$$;
COMMENT ON FUNCTION versiongate_internal.add_fuse_counts IS
    'Adds what a server counted for fuses, with the revision of the policy that answered. What was counted before the rule'
    ' became what it is, is left out.';

CREATE FUNCTION versiongate_internal.restart_fuses(
    this_revision bigint, notes versiongate_internal.edited_rows[]
) RETURNS void
    LANGUAGE plpgsql SET search_path = public, pg_temp
AS $$
DECLARE
    of_no_concern CONSTANT text[] :=
        '{enabled,position,title,text,link,remind,shows,skippable,lockout,fuse,held_at,final,note}';
BEGIN
    -- Others wait meanwhile, so a policy without fuses does nothing here.
    IF NOT EXISTS (SELECT FROM rules AS r WHERE r.fuse IS NOT NULL) THEN
        RETURN;
    END IF;
    INSERT INTO versiongate_internal.fuse_restarts (rule, revision)
    SELECT r.key, this_revision
      FROM rules AS r
     WHERE r.fuse IS NOT NULL
       AND r.key IN (
           SELECT coalesce(n.after, n.before) ->> CASE n.table_name WHEN 'rules' THEN 'key' ELSE 'rule' END
             FROM unnest(notes) AS n
            WHERE n.table_name = 'rollout_steps' AND n.before IS DISTINCT FROM n.after
               OR n.table_name = 'rules'
                  AND (n.before IS NULL OR n.before - of_no_concern IS DISTINCT FROM n.after - of_no_concern)
       )
     ORDER BY r.key
        ON CONFLICT ON CONSTRAINT fuse_restarts_pkey DO UPDATE SET revision = excluded.revision;
END
$$;
COMMENT ON FUNCTION versiongate_internal.restart_fuses IS
    'Has the counts of rules with a fuse begin anew where edits changed whom they reach.';

CREATE FUNCTION versiongate_internal.fuse_loads()
    RETURNS TABLE (
        rule text, bundle text, fuse numeric, checks numeric, lockouts numeric, has_steps boolean, is_over boolean
    )
    LANGUAGE sql STABLE SET search_path = public, pg_temp
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
      JOIN fuse_counts AS c ON c.rule = r.key
      LEFT JOIN versiongate_internal.fuse_restarts AS s ON s.rule = r.key
     WHERE r.enabled
       AND r.lockout
       AND r.fuse IS NOT NULL
       AND c.minute > now() - interval '10 minutes'
       -- The clock of a server may be ahead.
       AND c.minute <= now() + interval '1 minute'
       AND c.since = coalesce(s.revision, 0)
     GROUP BY r.key, c.bundle, ramp.goes_on, ramp.is_held
$$;
COMMENT ON FUNCTION versiongate_internal.fuse_loads IS
    'What each fuse has to bear of each app: the checks of the last ten minutes and how many of them the rule locked out;'
    ' has_steps: its ramp has steps to come; is_over: of at least 500 checks more than the fuse allows, and its ramp is'
    ' not held.';

CREATE FUNCTION blow_fuses() RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
    SET TimeZone = 'UTC'
    SET IntervalStyle = 'postgres'
    SET client_min_messages = error
AS $$
DECLARE
    most_rules CONSTANT integer := 20;
    candidate text;
    load record;
    reasons text[] := '{}';
BEGIN
    FOR candidate IN
        SELECT DISTINCT l.rule FROM versiongate_internal.fuse_loads() AS l WHERE l.is_over ORDER BY 1
    LOOP
        IF reasons = '{}' AND (
            versiongate_internal.open_revision() IS NOT NULL
            OR EXISTS (
                SELECT FROM versiongate_internal.edits_to_record AS e WHERE e.xid = pg_current_xact_id() AND e.at = now()
            )
        ) THEN
            RAISE object_not_in_prerequisite_state USING
                MESSAGE = 'fuses cannot blow in a transaction that has edited already',
                DETAIL = 'The history says of the edit that a fuse made it, so it is all that its transaction does.',
                HINT = 'COMMIT, then: SELECT blow_fuses();';
        END IF;
        -- Another server may be about to blow it, or somebody may be editing the rule: the next write asks again. With the
        -- lock, what is true now is looked up once more, as the commit of another may have made it untrue.
        PERFORM FROM rules AS r WHERE r.key = candidate FOR NO KEY UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        SELECT l.* INTO load
          FROM versiongate_internal.fuse_loads() AS l
         WHERE l.rule = candidate AND l.is_over
         ORDER BY l.lockouts / l.checks DESC, l.bundle
         LIMIT 1;
        CONTINUE WHEN NOT FOUND;
        -- Recorded when the whole is said: with the tool and the figures.
        SET CONSTRAINTS versiongate_internal.record_edits DEFERRED;
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
        INSERT INTO versiongate_internal.edited_rows (table_name, key, after) VALUES ('changes', '{}', 'true');
        PERFORM set_config('application_name', 'fuse', true),
                set_config('versiongate.os_user', '', true),
                set_config(
                    'versiongate.why',
                    array_to_string(reasons[:most_rules], '; ') || CASE
                        WHEN cardinality(reasons) > most_rules
                            THEN format('; and %s more', cardinality(reasons) - most_rules)
                        ELSE ''
                    END,
                    true
                );
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

CREATE FUNCTION versiongate_internal.fuse_status()
    RETURNS TABLE (
        rule text, bundle text, fuse numeric, status text, app text, checks bigint, lockouts bigint, change bigint,
        blown_at timestamptz, why text
    )
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    WITH last_switch AS MATERIALIZED (
        SELECT r.key, edit.id, edit.at, edit.why
          FROM rules AS r
         CROSS JOIN LATERAL (
             SELECT c.id, c.at, c.why, c.tool
               FROM versiongate_internal.recorded_rows AS e
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
          FROM versiongate_internal.fuse_loads() AS f
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
COMMENT ON FUNCTION versiongate_internal.fuse_status IS
    'A row for each rule with a fuse: armed, blown, or idle where the rule is no enabled lockout; what it has to bear of the'
    ' app that is nearest to it, and the change by which it blew.';
