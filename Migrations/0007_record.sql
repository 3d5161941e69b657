-- SPDX-License-Identifier: Apache-2.0
-- Copyright the versiongate authors
--
-- How the notes of a transaction become an entry of the history: see 0006_history.

SET LOCAL search_path = public, pg_temp;

CREATE FUNCTION versiongate_internal.settle_notes() RETURNS void
    LANGUAGE plpgsql SET search_path = public, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    pair record;
    leaving versiongate_internal.edited_rows;
    arriving versiongate_internal.edited_rows;
BEGIN
    -- The event of a nested statement can be seen before that of the statement around it: two notes of one row.
    LOOP
        SELECT max(state.note) FILTER (WHERE NOT state.is_start) AS first_note,
               max(state.note) FILTER (WHERE state.is_start) AS second_note
          INTO pair
          FROM (
              SELECT e.table_name, e.before AS found, e.id AS note, true AS is_start
                FROM versiongate_internal.edited_rows AS e
               WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.before IS DISTINCT FROM e.after
               UNION ALL
              SELECT e.table_name, e.after, e.id, false
                FROM versiongate_internal.edited_rows AS e
               WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.before IS DISTINCT FROM e.after
          ) AS state
         WHERE state.found IS NOT NULL
         GROUP BY state.table_name, state.found
        HAVING count(DISTINCT state.is_start) = 2
         LIMIT 1;
        EXIT WHEN NOT FOUND;
        UPDATE versiongate_internal.edited_rows AS e
           SET before = (
                   SELECT f.before
                     FROM versiongate_internal.edited_rows AS f
                    WHERE f.xid = pg_current_xact_id() AND f.at = now() AND f.id = pair.first_note
               )
         WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.id = pair.second_note;
        DELETE FROM versiongate_internal.edited_rows AS e
         WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.id = pair.first_note;
    END LOOP;

    -- A key that one row has left and another has taken: that is one row that was changed, and where the rows came from
    -- and went to, one was deleted and one inserted. Rows that others refer to are known by their key alone; of others a
    -- row that was renamed remains the same row.
    LOOP
        FOR pair IN
            SELECT side.table_name, side.place, side.key,
                   max(side.note) FILTER (WHERE side.is_left) AS leaving_note,
                   max(side.note) FILTER (WHERE NOT side.is_left) AS arriving_note,
                   (array_agg(side.note_key ORDER BY side.note DESC) FILTER (WHERE side.is_left))[1] AS leaving_key,
                   (array_agg(side.note_key ORDER BY side.note DESC) FILTER (WHERE NOT side.is_left))[1] AS arriving_key
              FROM (
                  SELECT e.id AS note, e.key AS note_key, e.table_name, t.key,
                         versiongate_internal.row_columns(
                             CASE WHEN role.is_left THEN e.before ELSE e.after END, t.key
                         ) AS place,
                         role.is_left
                    FROM versiongate_internal.edited_rows AS e
                    JOIN versiongate_internal.policy_tables() AS t ON t.name = e.table_name
                    CROSS JOIN (VALUES (true), (false)) AS role(is_left)
                   WHERE e.xid = pg_current_xact_id()
                     AND e.at = now()
                     AND versiongate_internal.row_columns(e.before, t.key)
                         IS DISTINCT FROM versiongate_internal.row_columns(e.after, t.key)
                     AND (
                         NOT role.is_left OR e.after IS NULL
                         OR EXISTS (
                             SELECT FROM versiongate_internal.policy_tables() AS below WHERE below.parent = t.name
                         )
                     )
              ) AS side
             WHERE side.place IS NOT NULL
             GROUP BY side.table_name, side.key, side.place
            HAVING count(DISTINCT side.is_left) = 2
        LOOP
            SELECT * INTO STRICT leaving FROM versiongate_internal.edited_rows AS e
             WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.table_name = pair.table_name
               AND e.key = pair.leaving_key AND e.id = pair.leaving_note;
            SELECT * INTO STRICT arriving FROM versiongate_internal.edited_rows AS e
             WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.table_name = pair.table_name
               AND e.key = pair.arriving_key AND e.id = pair.arriving_note;
            -- A note that is part of two pairs waits for the next round.
            CONTINUE WHEN versiongate_internal.row_columns(leaving.before, pair.key) IS DISTINCT FROM pair.place
                OR versiongate_internal.row_columns(arriving.before, pair.key) = pair.place;
            UPDATE versiongate_internal.edited_rows AS e SET before = leaving.before
             WHERE e.xid = arriving.xid AND e.at = arriving.at AND e.table_name = arriving.table_name
               AND e.key = arriving.key AND e.id = arriving.id;
            UPDATE versiongate_internal.edited_rows AS e SET before = NULL
             WHERE e.xid = leaving.xid AND e.at = leaving.at AND e.table_name = leaving.table_name
               AND e.key = leaving.key AND e.id = leaving.id;
            IF arriving.before IS NOT NULL THEN
                INSERT INTO versiongate_internal.edited_rows (table_name, key, before)
                VALUES (
                    arriving.table_name, versiongate_internal.row_columns(arriving.before, pair.key), arriving.before
                );
            END IF;
        END LOOP;
        EXIT WHEN NOT FOUND;
    END LOOP;
END
$$;
COMMENT ON FUNCTION versiongate_internal.settle_notes IS
    'Joins notes of this transaction that are about one row, or about two that had one key.';

-- The record.

-- Whoever may log in to the cluster can fill the queue of NOTIFY: a commit that notifies fails then. Servers look anyway.
CREATE FUNCTION versiongate_internal.notify_servers(revision bigint) RETURNS void
    LANGUAGE plpgsql SET search_path = public, pg_temp
AS $$
BEGIN
    IF pg_notification_queue_usage() < 0.5 THEN
        PERFORM pg_notify('versiongate', notify_servers.revision::text);
    ELSIF current_setting('max_prepared_transactions') <> '0' THEN
        -- No edit is to stay open without a session: PREPARE TRANSACTION refuses what has notified, and what has listened.
        LISTEN versiongate_nothing;
        UNLISTEN versiongate_nothing;
    END IF;
END
$$;
COMMENT ON FUNCTION versiongate_internal.notify_servers IS
    'Has servers look at the policy at once, unless the queue of NOTIFY is half full.';

CREATE FUNCTION versiongate_internal.open_change(
    new_token uuid, undone_change bigint, notes versiongate_internal.edited_rows[]
) RETURNS bigint
    LANGUAGE plpgsql SET search_path = public, pg_temp
AS $$
DECLARE
    tables CONSTANT text[] := ARRAY(SELECT DISTINCT n.table_name FROM unnest(notes) AS n);
    bundles CONSTANT text[] := versiongate_internal.edited_bundles(notes);
    this_revision bigint;
BEGIN
    UPDATE policy_revision
       SET revision = revision + 1,
           token = new_token,
           token_before = token,
           xid = pg_current_xact_id(),
           at = now()
    RETURNING revision INTO STRICT this_revision;
    INSERT INTO changes (id, at, role, os_user, tool, why, undoes, token, edited_tables, bundles)
    VALUES (
        this_revision,
        clock_timestamp(),
        session_user,
        nullif(left(current_setting('versiongate.os_user', true), 128), ''),
        nullif(current_setting('application_name'), ''),
        nullif(left(current_setting('versiongate.why', true), 1000), ''),
        undone_change, new_token, tables, bundles
    );
    PERFORM versiongate_internal.notify_servers(this_revision);
    RETURN this_revision;
END
$$;
COMMENT ON FUNCTION versiongate_internal.open_change IS
    'Takes the row of policy_revision, opens the entry in changes, and returns the revision of this transaction.';

CREATE FUNCTION versiongate_internal.take_notes() RETURNS versiongate_internal.edited_rows[]
    LANGUAGE plpgsql SET search_path = public, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    notes versiongate_internal.edited_rows[];
BEGIN
    PERFORM FROM versiongate_internal.edited_rows AS e
      WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.table_name <> 'changes'
     OFFSET 1;
    IF FOUND THEN
        PERFORM versiongate_internal.settle_notes();
    END IF;
    -- Of two rows that stand at one key, the one that was there first is moving away in this very statement: its note is
    -- left for the event that says where to.
    WITH taken AS (
        DELETE FROM versiongate_internal.edited_rows AS e
         WHERE e.xid = pg_current_xact_id()
           AND e.at = now()
           AND e.table_name <> 'changes'
           AND (
               e.after IS NULL OR NOT EXISTS (
                   SELECT FROM versiongate_internal.edited_rows AS newer
                    WHERE newer.xid = pg_current_xact_id()
                      AND newer.at = now()
                      AND newer.table_name = e.table_name
                      AND newer.key = e.key
                      AND newer.id > e.id
                      AND newer.after IS NOT NULL
               )
           )
        RETURNING e.*
    )
    SELECT array_agg(ROW(taken.*)::versiongate_internal.edited_rows ORDER BY t.place, taken.id) INTO notes
      FROM taken
      JOIN versiongate_internal.policy_tables() AS t ON t.name = taken.table_name;
    RETURN notes;
END
$$;
COMMENT ON FUNCTION versiongate_internal.take_notes IS
    'The notes of this transaction, parents before their children, which are deleted.';

CREATE FUNCTION versiongate_internal.edited_bundles(notes versiongate_internal.edited_rows[]) RETURNS text[]
    LANGUAGE plpgsql STABLE SET search_path = public, pg_temp
AS $$
DECLARE
    most CONSTANT integer := 100;
BEGIN
    RETURN (
        SELECT CASE WHEN count(*) <= most AND every(found.bundle IS NOT NULL) IS NOT false
                    THEN coalesce(array_agg(found.bundle), '{}') END
          FROM (
              SELECT DISTINCT CASE
                         WHEN side.policy_row ? 'bundle' THEN side.policy_row ->> 'bundle'
                         ELSE (SELECT r.bundle FROM rules AS r WHERE r.key = side.policy_row ->> 'rule')
                     END AS bundle
                FROM unnest(notes) AS n
               CROSS JOIN LATERAL (VALUES (n.before), (n.after)) AS side(policy_row)
               WHERE side.policy_row IS NOT NULL
          ) AS found
    );
END
$$;
COMMENT ON FUNCTION versiongate_internal.edited_bundles IS
    'The apps that edits are about; null: every app, or too many to tell.';

CREATE FUNCTION versiongate_internal.was_overtaken(known_revision bigint, this_revision bigint) RETURNS boolean
    LANGUAGE sql STABLE SET search_path = public, pg_temp
RETURN EXISTS (
    SELECT FROM changes AS this
      JOIN changes AS other ON other.id > known_revision AND other.id < this.id
      JOIN (
          VALUES ('rules', '{apps,store_links,releases,rule_texts,rollout_steps}'::text[]),
                 ('rollout_steps', '{rules,rollout_steps}'),
                 ('rule_texts', '{rules}'),
                 ('releases', '{rules,releases,store_links}'),
                 ('store_links', '{rules,releases,store_links}'),
                 ('apps', '{apps}')
      ) AS judged(table_name, by_tables)
        ON judged.table_name = ANY (this.edited_tables) AND judged.by_tables && other.edited_tables
     WHERE this.id = this_revision
       -- A number in a store is unique among all apps.
       AND ((this.bundles && other.bundles) IS NOT false OR judged.table_name = 'apps')
);
COMMENT ON FUNCTION versiongate_internal.was_overtaken IS
    'Whether others edited meanwhile what the guards read of a change. Final rules are not among it: policy_warnings'
    ' tells at any time what they hide.';

-- Others wait for the row of policy_revision. So what refuses and what warns is judged before it is taken, and what refuses
-- once more where somebody else has edited meanwhile what that rests on. What warns is not: a warning may be missing then,
-- and policy_warnings has it. A transaction that holds the row already, as it records a second time (with immediate
-- constraints, or after a rehearsal), judges both under it: it made others wait by itself, and each warning is bounded.
CREATE FUNCTION versiongate_internal.record_notes() RETURNS void
    LANGUAGE plpgsql SET search_path = public, pg_temp
AS $$
DECLARE
    notes CONSTANT versiongate_internal.edited_rows[] := versiongate_internal.take_notes();
    known_revision CONSTANT bigint := (SELECT p.revision FROM policy_revision AS p);
    this_revision bigint := versiongate_internal.open_revision();
    this_token uuid := gen_random_uuid();
    undone bigint;
    recorded integer := 0;
    bundles_now text[];
    is_first CONSTANT boolean := this_revision IS NULL;
    is_judged boolean := false;
BEGIN
    IF NOT is_first THEN
        bundles_now := versiongate_internal.edited_bundles(notes);
        SELECT c.token, c.undoes INTO this_token, undone FROM changes AS c WHERE c.id = this_revision;
        recorded := coalesce(
            (SELECT max(r.ordinal) FROM versiongate_internal.recorded_rows AS r WHERE r.token = this_token), 0
        );
    ELSE
        undone := (
            SELECT (e.key ->> 'id')::bigint
              FROM versiongate_internal.edited_rows AS e
             WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.table_name = 'changes'
        );
    END IF;
    INSERT INTO versiongate_internal.recorded_rows (token, ordinal, table_name, key, old_key, before, after)
    SELECT this_token, recorded + row_number() OVER (ORDER BY n.ordinal), n.table_name, stands.at,
           nullif(versiongate_internal.row_columns(n.before, t.key), stands.at), n.before, n.after
      FROM unnest(notes) WITH ORDINALITY AS n(xid, at, table_name, key, id, before, after, ordinal)
      JOIN versiongate_internal.policy_tables() AS t ON t.name = n.table_name
     CROSS JOIN LATERAL versiongate_internal.row_columns(coalesce(n.after, n.before), t.key) AS stands(at)
     WHERE n.before IS DISTINCT FROM n.after;
    IF is_first THEN
        IF NOT FOUND THEN
            RETURN;
        END IF;
        PERFORM versiongate_internal.judge_edits(this_token, undone, notes);
        PERFORM versiongate_internal.warn_of_edits(this_token, undone, notes);
        this_revision := versiongate_internal.open_change(this_token, undone, notes);
        is_judged := NOT versiongate_internal.was_overtaken(known_revision, this_revision);
    ELSE
        UPDATE changes AS c
           SET edited_tables = ARRAY(
                   SELECT unnest(c.edited_tables) UNION SELECT n.table_name FROM unnest(notes) AS n
               ),
               bundles = CASE
                   WHEN c.bundles IS NOT NULL AND bundles_now IS NOT NULL THEN
                       ARRAY(SELECT unnest(c.bundles) UNION SELECT unnest(bundles_now))
               END
         WHERE c.id = this_revision;
    END IF;
    DELETE FROM versiongate_internal.edited_rows AS e
     WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.table_name = 'changes' AND e.after IS NOT NULL;
    IF NOT EXISTS (SELECT FROM versiongate_internal.recorded_rows AS r WHERE r.token = this_token) THEN
        -- Nothing is left of it. The row of policy_revision stays locked.
        DELETE FROM changes AS c WHERE c.id = this_revision;
        UPDATE policy_revision
           SET revision = revision - 1, token = token_before, token_before = NULL, xid = NULL, at = NULL,
               is_rehearsal = false;
    ELSIF NOT is_judged THEN
        PERFORM versiongate_internal.judge_edits(this_token, undone, notes);
        IF NOT is_first THEN
            PERFORM versiongate_internal.warn_of_edits(this_token, undone, notes);
        END IF;
    END IF;
END
$$;
COMMENT ON FUNCTION versiongate_internal.record_notes IS
    'Records what this transaction has done to the rows that it has noted, and has it judged.';

CREATE FUNCTION versiongate_internal.is_rehearsal() RETURNS boolean
    LANGUAGE sql STABLE SET search_path = public, pg_temp
RETURN EXISTS (
    SELECT FROM versiongate_internal.edits_to_record AS e
     WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.is_rehearsal
) OR EXISTS (SELECT FROM policy_revision AS p WHERE p.singleton AND p.is_rehearsal);
COMMENT ON FUNCTION versiongate_internal.is_rehearsal IS
    'Whether a planner has edited in this transaction, so that it cannot be committed.';

CREATE FUNCTION versiongate_internal.refuse_planner() RETURNS void
    LANGUAGE plpgsql SET search_path = public, pg_temp
AS $$
BEGIN
    RAISE insufficient_privilege USING
        MESSAGE = format('%s may plan edits, and not make them', session_user),
        DETAIL = 'Nothing was changed.',
        HINT = 'To see what edits come to: BEGIN; the edits; SELECT rehearse_edits(); SELECT * FROM history LIMIT 1;'
            ' ROLLBACK. To make them, log in as a member of versiongate_admin.',
        CONSTRAINT = 'planner_guard', DATATYPE = '{"fault": "planner"}';
END
$$;
COMMENT ON FUNCTION versiongate_internal.refuse_planner IS 'Refuses an edit of a planner.';

CREATE FUNCTION rehearse_edits() RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
    SET TimeZone = 'UTC'
    SET IntervalStyle = 'postgres'
AS $$
DECLARE
    cannot_commit CONSTANT boolean := versiongate_internal.is_rehearsal();
BEGIN
    PERFORM versiongate_internal.record_notes();
    IF cannot_commit THEN
        UPDATE policy_revision AS p SET is_rehearsal = true WHERE p.revision = versiongate_internal.open_revision();
    END IF;
    RETURN versiongate_internal.open_revision();
END
$$;
COMMENT ON FUNCTION rehearse_edits() IS
    'Records and judges what this transaction has edited, as its commit would, and returns the number of the change; null:'
    ' nothing is different. Others who commit edits wait until the transaction ends.';
REVOKE ALL ON FUNCTION rehearse_edits() FROM PUBLIC;

CREATE FUNCTION versiongate_internal.record_edits() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
    SET TimeZone = 'UTC'
    SET IntervalStyle = 'postgres'
AS $$
BEGIN
    IF versiongate_internal.is_rehearsal() OR versiongate_internal.may_only_plan() THEN
        PERFORM versiongate_internal.refuse_planner();
    END IF;
    DELETE FROM versiongate_internal.edits_to_record AS e WHERE e.xid = pg_current_xact_id() AND e.at = now();
    PERFORM versiongate_internal.record_notes();
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION versiongate_internal.record_edits IS
    'Trigger: records what the transaction has done, and has it judged.';

CREATE CONSTRAINT TRIGGER record_edits AFTER INSERT ON versiongate_internal.edits_to_record
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION versiongate_internal.record_edits();

-- Servers ask this to read what an edit changed, and no more. Tokens tell whether the history that is here goes on from
-- what a server has, and whether it goes on until now: a database may have been restored, or edited behind its back.
CREATE FUNCTION versiongate_internal.apps_changed_since(known_revision bigint, known_token uuid) RETURNS text[]
    LANGUAGE plpgsql STABLE STRICT SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    most_rows CONSTANT integer := 5000;
    bundles text[];
BEGIN
    IF NOT EXISTS (SELECT FROM changes AS c WHERE c.id = known_revision AND c.token = known_token)
        OR NOT EXISTS (SELECT FROM policy_revision AS p JOIN changes AS c ON c.id = p.revision AND c.token = p.token)
        OR (SELECT count(*) > most_rows
              FROM (SELECT FROM change_rows AS r WHERE r.change > known_revision LIMIT most_rows + 1) AS first)
    THEN
        RETURN NULL;
    END IF;
    SELECT array_agg(DISTINCT changed.bundle)
      INTO bundles
      FROM (
          SELECT side.policy_row ->> 'bundle' AS bundle
            FROM change_rows AS r, LATERAL (VALUES (r.before), (r.after)) AS side(policy_row)
           WHERE r.change > known_revision
             AND side.policy_row ? 'bundle'
          UNION ALL
          -- Where the rule or the release is gone, its own row has been recorded as well.
          SELECT rule.bundle
            FROM change_rows AS r
            JOIN rules AS rule ON rule.key = coalesce(r.after, r.before) ->> 'rule'
           WHERE r.change > known_revision
             AND coalesce(r.after, r.before) ? 'rule'
          UNION ALL
          SELECT release.bundle
            FROM change_rows AS r
            JOIN releases AS release ON release.id = (coalesce(r.after, r.before) ->> 'release')::bigint
           WHERE r.change > known_revision
             AND r.table_name = 'release_notes'
      ) AS changed;
    RETURN coalesce(bundles, '{}');
END
$$;
COMMENT ON FUNCTION versiongate_internal.apps_changed_since IS
    'The bundles of the apps that changes after a revision were about, null among them for rules for every app; null: the'
    ' history does not tell, or so much was changed that everything is read as quickly.';

CREATE FUNCTION versiongate_internal.history_has(revision bigint, token text) RETURNS boolean
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = public, pg_temp
RETURN EXISTS (SELECT FROM changes AS c WHERE c.id = history_has.revision AND c.token::text = history_has.token);
COMMENT ON FUNCTION versiongate_internal.history_has IS
    'Whether the policy was at this revision with this token: false after a restore, and in another database.';

CREATE FUNCTION versiongate_internal.refuse_truncate() RETURNS trigger
    LANGUAGE plpgsql SET search_path = public, pg_temp
AS $$
BEGIN
    RAISE feature_not_supported USING
        MESSAGE = format('table %s cannot be truncated', TG_TABLE_NAME),
        DETAIL = 'TRUNCATE leaves no trace in the history.',
        HINT = CASE
            WHEN TG_TABLE_NAME IN ('policy_revision', 'changes', 'recorded_rows') THEN 'The history is kept.'
            ELSE format('To empty it: DELETE FROM %I;', TG_TABLE_NAME)
        END,
        SCHEMA = TG_TABLE_SCHEMA,
        TABLE = TG_TABLE_NAME;
END
$$;
COMMENT ON FUNCTION versiongate_internal.refuse_truncate IS 'Trigger: refuses TRUNCATE.';

DO $$
DECLARE
    policy_table record;
BEGIN
    FOR policy_table IN
        SELECT t.name, (SELECT string_agg(quote_literal(k), ', ') FROM unnest(t.key) AS k) AS key
          FROM versiongate_internal.policy_tables() AS t
    LOOP
        EXECUTE format(
            'CREATE TRIGGER a_note_edit AFTER INSERT OR UPDATE OR DELETE ON %I'
            ' FOR EACH ROW EXECUTE FUNCTION versiongate_internal.note_edit(%s)',
            policy_table.name, policy_table.key
        );
        EXECUTE format(
            'CREATE TRIGGER await_commit AFTER INSERT OR UPDATE OR DELETE ON %I'
            ' FOR EACH STATEMENT EXECUTE FUNCTION versiongate_internal.await_commit()',
            policy_table.name
        );
    END LOOP;
    FOR policy_table IN
        SELECT t.name FROM versiongate_internal.policy_tables() AS t
         UNION ALL
        VALUES ('policy_revision'), ('changes'), ('versiongate_internal.recorded_rows')
    LOOP
        EXECUTE format(
            'CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON %s'
            ' FOR EACH STATEMENT EXECUTE FUNCTION versiongate_internal.refuse_truncate()',
            policy_table.name
        );
    END LOOP;
END
$$;
