-- How the edits of a transaction become an entry of the history: see 0006_history.

SET LOCAL search_path = public, versiongate_internal, pg_temp;

-- Whoever may log in to the cluster can fill the queue of NOTIFY: a commit that notifies fails then. Servers look anyway.
CREATE FUNCTION versiongate_internal.notify_servers(revision bigint) RETURNS void
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
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

-- The bundles of the apps that edits are about, null among them for rules for every app.
CREATE FUNCTION versiongate_internal.edited_bundles(edits row_edit[]) RETURNS text[]
    LANGUAGE sql STABLE
RETURN ARRAY(
    SELECT side.policy_row ->> 'bundle'
      FROM unnest(edits) AS e
     CROSS JOIN LATERAL (VALUES (e.before), (e.after)) AS side(policy_row)
     WHERE side.policy_row ? 'bundle'
     UNION
    -- Where the rule or the release is gone, it has been edited as well.
    SELECT r.bundle FROM unnest(edits) AS e JOIN rules AS r ON r.key = e.key ->> 'rule'
     UNION
    SELECT r.bundle FROM unnest(edits) AS e JOIN releases AS r ON r.id = (e.key ->> 'release')::bigint
     ORDER BY 1
);

-- Whether others edited meanwhile what the guards read of a change. Final rules are not among it: policy_warnings tells
-- at any time what they hide.
CREATE FUNCTION versiongate_internal.was_overtaken(known_revision bigint, this_revision bigint) RETURNS boolean
    LANGUAGE sql STABLE
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

-- Makes notes again of the change that this transaction has made, for one with what was edited since.
CREATE FUNCTION versiongate_internal.take_back_record(this_revision bigint) RETURNS void
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    INSERT INTO edited_rows (table_name, key, policy_row, is_there)
    SELECT r.table_name, r.key, side.policy_row, side.is_there
      FROM change_rows AS r
     CROSS JOIN LATERAL (VALUES (r.before, false), (r.after, true)) AS side(policy_row, is_there)
     WHERE r.change = this_revision AND side.policy_row IS NOT NULL;
    DELETE FROM recorded_rows AS r USING changes AS c WHERE c.id = this_revision AND r.token = c.token;
    DELETE FROM changes AS c WHERE c.id = this_revision;
    UPDATE policy_revision AS p
       SET revision = p.revision - 1, xid = NULL, at = NULL,
           token = coalesce((SELECT c.token FROM changes AS c WHERE c.id = p.revision - 1), gen_random_uuid());
END
$$;

-- Makes a change of what this transaction has edited, and returns its number; null: nothing is different.
-- Others wait for the row of policy_revision. So what refuses and what warns is judged before it is taken, and what refuses
-- once more where somebody else has edited meanwhile what that rests on. What warns is not: a warning may be missing then,
-- and policy_warnings has it.
CREATE FUNCTION versiongate_internal.record_noted_edits(login text DEFAULT session_user) RETURNS bigint
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
    SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    known_revision CONSTANT bigint := (SELECT p.revision FROM policy_revision AS p);
    undone CONSTANT bigint := (open_edit()).undoes;
    this_token CONSTANT uuid := gen_random_uuid();
    this_revision bigint := open_revision();
    edits row_edit[];
    bundles text[];
BEGIN
    PERFORM FROM edited_rows AS e WHERE e.xid = pg_current_xact_id() AND e.at = now();
    IF NOT FOUND THEN
        RETURN this_revision;
    END IF;
    IF this_revision IS NOT NULL THEN
        PERFORM take_back_record(this_revision);
    END IF;
    edits := ARRAY(SELECT e FROM noted_edits() AS e);
    DELETE FROM edited_rows AS e WHERE e.xid = pg_current_xact_id() AND e.at = now();
    IF edits = '{}' THEN
        RETURN NULL;
    END IF;
    INSERT INTO recorded_rows (token, ordinal, table_name, key, before, after)
    SELECT this_token, e.ordinality, e.table_name, e.key, e.before, e.after FROM unnest(edits) WITH ORDINALITY AS e;
    PERFORM validate_edits(edits, undone);
    PERFORM warn_of_edits(edits, undone);
    bundles := edited_bundles(edits);
    UPDATE policy_revision
       SET revision = revision + 1, token = this_token, xid = pg_current_xact_id(), at = now()
    RETURNING revision INTO STRICT this_revision;
    INSERT INTO changes (id, at, role, os_user, tool, why, undoes, token, edited_tables, bundles)
    VALUES (
        this_revision, clock_timestamp(), login,
        nullif(left(current_setting('versiongate.os_user', true), 128), ''),
        nullif(current_setting('application_name'), ''),
        nullif(left(current_setting('versiongate.why', true), 1000), ''),
        undone, this_token, ARRAY(SELECT DISTINCT e.table_name FROM unnest(edits) AS e ORDER BY 1),
        CASE WHEN cardinality(bundles) <= 100 AND array_position(bundles, NULL) IS NULL THEN bundles END
    );
    PERFORM notify_servers(this_revision);
    IF was_overtaken(known_revision, this_revision) THEN
        PERFORM validate_edits(edits, undone);
    END IF;
    RETURN this_revision;
END
$$;

CREATE FUNCTION versiongate_internal.refuse_planner() RETURNS void
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
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
    LANGUAGE sql SECURITY DEFINER SET search_path = versiongate_internal, public, pg_temp
    SET TimeZone = 'UTC' SET IntervalStyle = 'postgres'
RETURN record_noted_edits();
COMMENT ON FUNCTION rehearse_edits() IS
    'Records and judges what this transaction has edited, as its commit would, and returns the number of the change; null:'
    ' nothing is different. Others who commit edits wait until the transaction ends.';
REVOKE ALL ON FUNCTION rehearse_edits() FROM PUBLIC;

-- Its statements are planned once a session: a plan for each edit would take longer than what it saves.
CREATE FUNCTION versiongate_internal.record_edits() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = versiongate_internal, public, pg_temp
    SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET TimeZone = 'UTC' SET IntervalStyle = 'postgres'
AS $$
DECLARE
    edit CONSTANT edits_to_record := open_edit();
    is_within_statement CONSTANT boolean := pg_trigger_depth() > 1;
BEGIN
    IF edit.is_rehearsal OR may_only('planner') THEN
        PERFORM refuse_planner();
    END IF;
    IF NOT is_within_statement THEN
        PERFORM record_noted_edits();
    END IF;
    DELETE FROM edits_to_record AS e WHERE e.xid = pg_current_xact_id() AND e.at = now();
    IF is_within_statement AND edit.xid IS NOT NULL THEN
        -- The session has made constraints immediate. The edit waits for the commit all the same.
        SET CONSTRAINTS record_edits DEFERRED;
        INSERT INTO edits_to_record SELECT edit.*;
    END IF;
    RETURN NULL;
END
$$;

CREATE CONSTRAINT TRIGGER record_edits AFTER INSERT ON edits_to_record
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_edits();

-- The bundles of the apps that changes after a revision were about, null among them for rules for every app; null: the
-- history does not tell, or so much was changed that everything is read as quickly.
-- Servers ask this to read what an edit changed, and no more. Tokens tell whether the history that is here goes on from
-- what a server has, and whether it goes on until now: a database may have been restored, or edited behind its back.
CREATE FUNCTION versiongate_internal.apps_changed_since(known_revision bigint, known_token uuid) RETURNS text[]
    LANGUAGE plpgsql STABLE STRICT SECURITY DEFINER SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    most_rows CONSTANT integer := 5000;
BEGIN
    IF NOT EXISTS (SELECT FROM changes AS c WHERE c.id = known_revision AND c.token = known_token)
        OR NOT EXISTS (SELECT FROM policy_revision AS p JOIN changes AS c ON c.id = p.revision AND c.token = p.token)
        OR (SELECT count(*) > most_rows
              FROM (SELECT FROM change_rows AS r WHERE r.change > known_revision LIMIT most_rows + 1) AS first)
    THEN
        RETURN NULL;
    END IF;
    RETURN edited_bundles(ARRAY(
        SELECT ROW(r.table_name, r.key, r.before, r.after)::row_edit
          FROM change_rows AS r
         WHERE r.change > known_revision
    ));
END
$$;

-- Whether the policy was at this revision with this token: false after a restore, and in another database.
CREATE FUNCTION versiongate_internal.history_has(revision bigint, token text) RETURNS boolean
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = versiongate_internal, public, pg_temp
RETURN EXISTS (SELECT FROM changes AS c WHERE c.id = history_has.revision AND c.token::text = history_has.token);

CREATE FUNCTION versiongate_internal.refuse_truncate() RETURNS trigger
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
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
          FROM policy_tables() AS t
    LOOP
        EXECUTE format(
            'CREATE TRIGGER a_note_edit AFTER INSERT OR UPDATE OR DELETE ON %I'
            ' FOR EACH ROW EXECUTE FUNCTION note_edit(%s)',
            policy_table.name, policy_table.key
        );
        EXECUTE format(
            'CREATE TRIGGER await_commit AFTER INSERT OR UPDATE OR DELETE ON %I'
            ' FOR EACH STATEMENT EXECUTE FUNCTION await_commit()',
            policy_table.name
        );
    END LOOP;
    FOR policy_table IN
        SELECT t.name FROM policy_tables() AS t
         UNION ALL
        VALUES ('policy_revision'), ('changes'), ('recorded_rows')
    LOOP
        EXECUTE format(
            'CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON %s'
            ' FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate()',
            policy_table.name
        );
    END LOOP;
END
$$;
