-- How the edits of a transaction become an entry of the history: see 0006_history.

SET LOCAL search_path = public, pg_temp;

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

CREATE FUNCTION versiongate_internal.take_edits(this_token uuid) RETURNS versiongate_internal.row_edit[]
    LANGUAGE plpgsql SET search_path = public, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    edits versiongate_internal.row_edit[];
    unclear text[];
BEGIN
    SELECT array_agg(
               ROW(
                   n.table_name, n.key,
                   CASE WHEN coalesce(n.before, n.after) IS NULL THEN n.last_state ELSE n.before END,
                   CASE WHEN coalesce(n.before, n.after) IS NULL THEN n.last_state ELSE n.after END
               )::versiongate_internal.row_edit ORDER BY t.place, n.last_id
           ) FILTER (WHERE n.is_clear),
           array_agg(n.table_name || n.key) FILTER (WHERE NOT n.is_clear)
      INTO edits, unclear
      FROM versiongate_internal.noted_edits(this_token) AS n
      JOIN versiongate_internal.policy_tables() AS t ON t.name = n.table_name;
    DELETE FROM versiongate_internal.edited_rows AS e
     WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.table_name <> 'changes'
       AND (e.table_name || e.key = ANY (unclear)) IS NOT TRUE;
    DELETE FROM versiongate_internal.recorded_rows AS r
     USING unnest(edits) AS e
     WHERE r.table_name = e.table_name AND r.key = e.key AND r.token = this_token;
    RETURN edits;
END
$$;
COMMENT ON FUNCTION versiongate_internal.take_edits IS
    'What this transaction has noted, and what it has recorded of the same keys, which are deleted; parents before their'
    ' children. What comes to nothing stands there as well, for what it made others be judged by.';

CREATE FUNCTION versiongate_internal.edited_bundles(edits versiongate_internal.row_edit[]) RETURNS text[]
    LANGUAGE sql STABLE SET search_path = public, pg_temp
RETURN (
    SELECT CASE
               WHEN count(*) <= 100 AND every(found.bundle IS NOT NULL) IS NOT false
                   THEN coalesce(array_agg(found.bundle), '{}')
           END
      FROM (
          SELECT DISTINCT CASE
                     WHEN side.policy_row ? 'bundle' THEN side.policy_row ->> 'bundle'
                     ELSE (SELECT r.bundle FROM rules AS r WHERE r.key = side.policy_row ->> 'rule')
                 END AS bundle
            FROM unnest(edits) AS n
           CROSS JOIN LATERAL (VALUES (n.before), (n.after)) AS side(policy_row)
           WHERE side.policy_row IS NOT NULL
      ) AS found
);
COMMENT ON FUNCTION versiongate_internal.edited_bundles IS 'The apps that edits are about; null: every app, or too many to tell.';

CREATE FUNCTION versiongate_internal.was_overtaken(known_revision bigint, this_revision bigint) RETURNS boolean
    LANGUAGE sql STABLE SET search_path = public, pg_temp
RETURN EXISTS (
    SELECT FROM changes AS this
      JOIN changes AS other ON other.id > known_revision AND other.id < this.id
      JOIN (
          VALUES ('rules', '{apps,store_links,releases,rules,rule_texts,rollout_steps}'::text[]),
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
CREATE FUNCTION versiongate_internal.record_noted_edits() RETURNS void
    LANGUAGE plpgsql SET search_path = public, pg_temp
AS $$
DECLARE
    known_revision CONSTANT bigint := (SELECT p.revision FROM policy_revision AS p);
    this_revision bigint := versiongate_internal.open_revision();
    this_token uuid := (SELECT c.token FROM changes AS c WHERE c.id = this_revision);
    edits CONSTANT versiongate_internal.row_edit[] := versiongate_internal.take_edits(this_token);
    tables_now CONSTANT text[] := ARRAY(SELECT DISTINCT n.table_name FROM unnest(edits) AS n);
    bundles_now CONSTANT text[] := versiongate_internal.edited_bundles(edits);
    undone bigint;
    recorded integer := 0;
    is_first CONSTANT boolean := this_revision IS NULL;
    is_judged boolean := false;
BEGIN
    IF NOT is_first THEN
        undone := (SELECT c.undoes FROM changes AS c WHERE c.id = this_revision);
        recorded := coalesce(
            (SELECT max(r.ordinal) FROM versiongate_internal.recorded_rows AS r WHERE r.token = this_token), 0
        );
    ELSE
        this_token := gen_random_uuid();
        undone := (
            SELECT (e.key ->> 'id')::bigint
              FROM versiongate_internal.edited_rows AS e
             WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.table_name = 'changes'
        );
    END IF;
    INSERT INTO versiongate_internal.recorded_rows (token, ordinal, table_name, key, before, after)
    SELECT this_token, recorded + row_number() OVER (ORDER BY n.ordinality), n.table_name, n.key, n.before, n.after
      FROM unnest(edits) WITH ORDINALITY AS n
     WHERE n.before IS DISTINCT FROM n.after;
    IF is_first THEN
        IF NOT FOUND THEN
            RETURN;
        END IF;
        PERFORM versiongate_internal.validate_edits(this_token, undone, edits);
        PERFORM versiongate_internal.warn_of_edits(this_token, undone, edits);
        UPDATE policy_revision
           SET revision = revision + 1, token = this_token, token_before = token, xid = pg_current_xact_id(), at = now()
        RETURNING revision INTO STRICT this_revision;
        INSERT INTO changes (id, at, role, os_user, tool, why, undoes, token, edited_tables, bundles)
        VALUES (
            this_revision, clock_timestamp(), session_user,
            nullif(left(current_setting('versiongate.os_user', true), 128), ''),
            nullif(current_setting('application_name'), ''),
            nullif(left(current_setting('versiongate.why', true), 1000), ''),
            undone, this_token, tables_now, bundles_now
        );
        PERFORM versiongate_internal.notify_servers(this_revision);
        is_judged := NOT versiongate_internal.was_overtaken(known_revision, this_revision);
    ELSE
        UPDATE changes AS c
           SET edited_tables = ARRAY(SELECT unnest(c.edited_tables) UNION SELECT unnest(tables_now)),
               bundles = CASE
                   WHEN c.bundles IS NOT NULL AND bundles_now IS NOT NULL THEN
                       ARRAY(SELECT unnest(c.bundles) UNION SELECT unnest(bundles_now))
               END
         WHERE c.id = this_revision;
    END IF;
    DELETE FROM versiongate_internal.edited_rows AS e
     WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.table_name = 'changes' AND e.is_there;
    IF NOT EXISTS (SELECT FROM versiongate_internal.recorded_rows AS r WHERE r.token = this_token) THEN
        -- Nothing is left of it. The row of policy_revision stays locked.
        DELETE FROM changes AS c WHERE c.id = this_revision;
        UPDATE policy_revision
           SET revision = revision - 1, token = token_before, token_before = NULL, xid = NULL, at = NULL,
               is_rehearsal = false;
    ELSIF NOT is_judged THEN
        PERFORM versiongate_internal.validate_edits(this_token, undone, edits);
        IF NOT is_first THEN
            PERFORM versiongate_internal.warn_of_edits(this_token, undone, edits);
        END IF;
    END IF;
END
$$;

CREATE FUNCTION versiongate_internal.is_rehearsal() RETURNS boolean
    LANGUAGE sql STABLE SET search_path = public, pg_temp
RETURN EXISTS (
    SELECT FROM versiongate_internal.edits_to_record AS e
     WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.is_rehearsal
) OR EXISTS (SELECT FROM policy_revision AS p WHERE p.singleton AND p.is_rehearsal);

CREATE FUNCTION versiongate_internal.refuse_planner() RETURNS void
    LANGUAGE plpgsql SET search_path = public, pg_temp
AS $$
BEGIN
    RAISE insufficient_privilege USING
        MESSAGE = format('%s may plan edits but not make them', session_user),
        DETAIL = 'Nothing was changed.',
        HINT = 'To see what edits would do: BEGIN; the edits; SELECT rehearse_edits(); SELECT * FROM history LIMIT 1;'
            ' ROLLBACK. To make them, log in as a member of versiongate_admin.',
        CONSTRAINT = 'planner_guard', DATATYPE = jsonb_build_object(
            'command', 'See what it would do: add --dry-run, or `plan FILE`. An admin can do it.'
        );
END
$$;

CREATE FUNCTION rehearse_edits() RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
    SET TimeZone = 'UTC'
    SET IntervalStyle = 'postgres'
AS $$
DECLARE
    cannot_commit CONSTANT boolean := versiongate_internal.is_rehearsal();
BEGIN
    PERFORM versiongate_internal.record_noted_edits();
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
    IF versiongate_internal.is_rehearsal() OR versiongate_internal.may_only('planner') THEN
        PERFORM versiongate_internal.refuse_planner();
    END IF;
    DELETE FROM versiongate_internal.edits_to_record AS e WHERE e.xid = pg_current_xact_id() AND e.at = now();
    PERFORM versiongate_internal.record_noted_edits();
    RETURN NULL;
END
$$;

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
