-- SPDX-License-Identifier: Apache-2.0
-- Copyright the versiongate authors
--
-- The revision of the policy and the history of its changes.
--
-- Each policy table has a trigger `a_note_edit`, which runs with the statement and notes how the transaction found a row
-- and how it leaves it. The first statement of a transaction with a note also puts a row into edits_to_record, whose
-- trigger is deferred to the commit: one event, however many rows were edited. It deals with all notes. If something is
-- different after all, it records the rows under the token that the policy is to get, and has the guards judge the whole
-- (0006). Only then does it take the one row of policy_revision, for which others wait, and open the entry in changes that
-- gives the token its number: nothing that grows with the edit is left to do. Where another transaction has meanwhile
-- edited what the guards read, they judge again, under that lock.
--
-- So revisions follow commits, a transaction that waits for somebody's next thought holds no lock that others need, and
-- as the row of policy_revision is the last lock taken, two of them cannot block each other for good. What a
-- rolled-back savepoint had edited leaves neither a note nor an event. A transaction in REPEATABLE READ or SERIALIZABLE
-- fails there with serialization_failure if another has changed the policy since it began.
--
-- A session may make its constraints immediate. Then each statement is recorded and judged when it ends, under the same
-- lock, which others wait for until the transaction ends. A later statement takes back what is recorded of its rows and
-- records it anew, and the revision itself is taken back when nothing is left of it; so what a transaction comes to does
-- not depend on when its constraints are judged.
--
-- A planner may edit and not commit. Its transaction is marked with the first edit, so that it stays a rehearsal whatever
-- becomes of the role's rights meanwhile, and record_edits() refuses it, at the commit or before. rehearse_edits() records
-- and judges without that trigger; the event that waits for the commit is still there after it.

SET LOCAL search_path = public, pg_temp;

CREATE TABLE policy_revision (
    singleton boolean NOT NULL DEFAULT true CONSTRAINT policy_revision_pkey PRIMARY KEY
        CONSTRAINT policy_revision_singleton_check CHECK (singleton),
    revision bigint NOT NULL,
    token uuid NOT NULL,
    token_before uuid,
    xid xid8,
    at timestamptz,
    is_rehearsal boolean NOT NULL DEFAULT false
);

INSERT INTO policy_revision (revision, token) VALUES (0, gen_random_uuid());

COMMENT ON TABLE policy_revision IS 'One row: where the policy stands.';
COMMENT ON COLUMN policy_revision.singleton IS 'Always true: there is one row.';
COMMENT ON COLUMN policy_revision.revision IS
    'Raised by one with each transaction that changed the policy; the id of its entry in changes.';
COMMENT ON COLUMN policy_revision.token IS
    'Random, new with each revision. Servers reload when it differs: a restored database may reach a number a second'
    ' time.';
COMMENT ON COLUMN policy_revision.token_before IS 'The token before that, for a revision that is taken back.';
COMMENT ON COLUMN policy_revision.xid IS
    'The transaction that made the revision, together with at: after a restore its number alone can come again.';
COMMENT ON COLUMN policy_revision.at IS 'When that transaction began.';
COMMENT ON COLUMN policy_revision.is_rehearsal IS
    'Whether that transaction is a planner''s and cannot be committed: so it is always false outside of it.';

CREATE TABLE schema_reader (
    singleton boolean NOT NULL DEFAULT true CONSTRAINT schema_reader_pkey PRIMARY KEY
        CONSTRAINT schema_reader_singleton_check CHECK (singleton),
    oldest text NOT NULL
);

INSERT INTO schema_reader (oldest) VALUES ('0004_policy');

COMMENT ON TABLE schema_reader IS 'One row: which programs can read this schema.';
COMMENT ON COLUMN schema_reader.singleton IS 'Always true: there is one row.';
COMMENT ON COLUMN schema_reader.oldest IS
    'Name of a migration. A program that carries it reads the policy rightly, whatever came after it; a migration that'
    ' changes what the policy means, or where it is, sets this to its own name.';

CREATE TABLE changes (
    id bigint CONSTRAINT changes_pkey PRIMARY KEY,
    at timestamptz NOT NULL,
    role text NOT NULL,
    os_user text,
    tool text,
    why text,
    undoes bigint CONSTRAINT changes_undoes_fkey REFERENCES changes,
    token uuid NOT NULL CONSTRAINT changes_token_key UNIQUE,
    edited_tables text[] NOT NULL,
    bundles text[]
);

CREATE INDEX changes_undoes_idx ON changes (undoes);

COMMENT ON TABLE changes IS
    'The history: a row for each transaction that changed the policy. Written by triggers alone.';
COMMENT ON COLUMN changes.id IS 'The revision that the change made.';
COMMENT ON COLUMN changes.at IS 'When it was committed.';
COMMENT ON COLUMN changes.role IS 'Database role that was logged in. The one word about the author that is verified.';
COMMENT ON COLUMN changes.os_user IS
    'The operating system''s user, as the tool said in the setting versiongate.os_user: a claim, not verified.';
COMMENT ON COLUMN changes.tool IS
    'The tool, as it said in application_name (psql, versiongate, ...): a claim, not verified.';
COMMENT ON COLUMN changes.why IS 'The reason, as it was given in the setting versiongate.why.';
COMMENT ON COLUMN changes.undoes IS
    'The change that this one undid, and it did nothing else: edits in a transaction that undoes are refused.';
COMMENT ON COLUMN changes.token IS 'The token that the policy had from this change on.';
COMMENT ON COLUMN changes.edited_tables IS 'The policy tables that the change has edited.';
COMMENT ON COLUMN changes.bundles IS 'The apps that it is about; null: every app, or too many to tell.';

-- No foreign key: the rows are written before their change, and each would be looked up again under the lock.
CREATE TABLE recorded_rows (
    token uuid NOT NULL,
    ordinal integer NOT NULL,
    table_name text COLLATE "C" NOT NULL,
    key jsonb NOT NULL,
    old_key jsonb,
    before jsonb,
    after jsonb,
    CONSTRAINT recorded_rows_pkey PRIMARY KEY (token, ordinal),
    CONSTRAINT recorded_rows_row_check CHECK (before IS NOT NULL OR after IS NOT NULL),
    CONSTRAINT recorded_rows_old_key_check CHECK (
        old_key IS NULL OR old_key <> key AND before IS NOT NULL AND after IS NOT NULL
    )
);

CREATE UNIQUE INDEX recorded_rows_row_key ON recorded_rows (table_name, key, token);
CREATE INDEX recorded_rows_old_key_idx ON recorded_rows (table_name, old_key, token) WHERE old_key IS NOT NULL;

COMMENT ON TABLE recorded_rows IS 'The rows of change_rows, by the token of their change.';
COMMENT ON COLUMN recorded_rows.token IS 'The token of the change.';
COMMENT ON COLUMN recorded_rows.ordinal IS 'As in change_rows.';
COMMENT ON COLUMN recorded_rows.table_name IS 'As in change_rows.';
COMMENT ON COLUMN recorded_rows.key IS 'As in change_rows.';
COMMENT ON COLUMN recorded_rows.old_key IS 'As in change_rows.';
COMMENT ON COLUMN recorded_rows.before IS 'As in change_rows.';
COMMENT ON COLUMN recorded_rows.after IS 'As in change_rows.';

CREATE VIEW change_rows WITH (security_invoker = true) AS
SELECT c.id AS change, r.ordinal, r.table_name, r.key, r.old_key, r.before, r.after
  FROM changes AS c
  JOIN recorded_rows AS r ON r.token = c.token;

COMMENT ON VIEW change_rows IS
    'What a change did to each row, from its state before the transaction to that after it.';
COMMENT ON COLUMN change_rows.change IS 'The change.';
COMMENT ON COLUMN change_rows.ordinal IS 'Place within the change, from 1.';
COMMENT ON COLUMN change_rows.table_name IS 'Table of the row.';
COMMENT ON COLUMN change_rows.key IS
    'Primary key of the row, as an object of its columns; as it was after the change, unless it was deleted.';
COMMENT ON COLUMN change_rows.old_key IS 'The key before, of a row that was renamed; null: it was the same.';
COMMENT ON COLUMN change_rows.before IS
    'The row before; null: there was none. Times are in UTC, intervals in the style postgres.';
COMMENT ON COLUMN change_rows.after IS 'The row after; null: it was deleted.';

-- The policy tables, written down once: what is recorded, rebuilt and undone goes by this list. Parents stand before
-- their children.
CREATE FUNCTION policy_tables()
    RETURNS TABLE (place integer, name text, key text[], parent text, parent_column text, caseless text)
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = public, pg_temp
AS $$
BEGIN
    RETURN QUERY VALUES
        (1, 'apps', '{bundle}'::text[], NULL, NULL, 'bundle'),
        (2, 'store_links', '{bundle,platform}', 'apps', 'bundle', NULL),
        (3, 'feed_templates', '{bundle,name}', 'apps', 'bundle', NULL),
        (4, 'releases', '{id}', 'apps', 'bundle', NULL),
        (5, 'release_notes', '{release,language}', 'releases', 'release', 'language'),
        (6, 'rules', '{key}', 'apps', 'bundle', NULL),
        (7, 'rule_texts', '{rule,language}', 'rules', 'rule', 'language'),
        (8, 'rollout_steps', '{rule,at}', 'rules', 'rule', NULL);
END
$$;

COMMENT ON FUNCTION policy_tables() IS
    'The policy tables, parents before children: the columns of the primary key, the table that a row belongs to and'
    ' the column that names it there, and the column of the key in which case does not count.';

CREATE FUNCTION key_columns(table_name text) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = public, pg_temp
AS $$
BEGIN
    RETURN (SELECT t.key FROM policy_tables() AS t WHERE t.name = key_columns.table_name);
END
$$;

COMMENT ON FUNCTION key_columns(text) IS 'The columns of a policy table''s primary key; null: it is no policy table.';

CREATE FUNCTION row_columns(policy_row jsonb, columns text[]) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = public, pg_temp
AS $$
DECLARE
    part jsonb := '{}';
    name text;
BEGIN
    FOREACH name IN ARRAY columns LOOP
        part := part || jsonb_build_object(name, policy_row -> name);
    END LOOP;
    RETURN part;
END
$$;

COMMENT ON FUNCTION row_columns(jsonb, text[]) IS 'Some columns of a row, such as those of its primary key.';

CREATE FUNCTION may_only_plan() RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = public, pg_temp
AS $$
BEGIN
    RETURN coalesce(pg_has_role(session_user, to_regrole('versiongate_planner'), 'MEMBER'), false)
       AND NOT coalesce(pg_has_role(session_user, to_regrole('versiongate_admin'), 'MEMBER'), false)
       AND NOT pg_has_role(
           session_user, (SELECT c.relowner FROM pg_class AS c WHERE c.oid = 'public.policy_revision'::regclass), 'MEMBER'
       );
END
$$;

COMMENT ON FUNCTION may_only_plan() IS
    'Whether the role that logged in is a planner, and neither an admin nor the owner of the schema.';

CREATE TABLE edited_rows (
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    at timestamptz NOT NULL DEFAULT now(),
    table_name text COLLATE "C" NOT NULL,
    key jsonb NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    before jsonb,
    after jsonb,
    CONSTRAINT edited_rows_pkey PRIMARY KEY (xid, at, table_name, key, id)
);

COMMENT ON TABLE edited_rows IS
    'What transactions that are under way have edited and not recorded yet. Each sees its own rows alone, and leaves'
    ' none behind.';
COMMENT ON COLUMN edited_rows.xid IS 'The transaction.';
COMMENT ON COLUMN edited_rows.at IS 'When the transaction began.';
COMMENT ON COLUMN edited_rows.id IS 'Rises with each edit.';
COMMENT ON COLUMN edited_rows.table_name IS 'Table of the row; changes: the change that the transaction undoes.';
COMMENT ON COLUMN edited_rows.key IS 'Primary key of the row where it was seen last, as an object of its columns.';
COMMENT ON COLUMN edited_rows.before IS 'The row when the transaction first touched it; null: there was none.';
COMMENT ON COLUMN edited_rows.after IS
    'The row as the last edit left it; null: deleted. Of the change that is undone: null while undo_change runs.';

CREATE TABLE edits_to_record (
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    at timestamptz NOT NULL DEFAULT now(),
    is_rehearsal boolean NOT NULL DEFAULT may_only_plan(),
    CONSTRAINT edits_to_record_pkey PRIMARY KEY (xid, at)
);

COMMENT ON TABLE edits_to_record IS
    'Transactions that are under way and have noted edits. Each sees its own row alone, and leaves none behind.';
COMMENT ON COLUMN edits_to_record.xid IS 'The transaction.';
COMMENT ON COLUMN edits_to_record.at IS 'When the transaction began.';
COMMENT ON COLUMN edits_to_record.is_rehearsal IS 'Whether a planner edits, so that it cannot be committed.';

-- Notes.
--
-- A note is one row on its way through the transaction: from the state in which it was found to the last one seen. An
-- edit goes on the note whose last state it starts from, so a row that is renamed keeps its note, also where several
-- rows change places in one statement. Only the events tell: by the time they are seen, the table has moved on.
--
-- Between transactions edited_rows is empty, so PostgreSQL would plan to read all of it, and a session keeps its plans:
-- enable_seqscan is off where a note is looked up. The primary key is the only index, so that there is no other plan.

CREATE FUNCTION open_revision() RETURNS bigint
    LANGUAGE plpgsql STABLE
    SET search_path = public, pg_temp
AS $$
BEGIN
    RETURN (SELECT p.revision FROM policy_revision AS p WHERE p.singleton AND p.xid = pg_current_xact_id() AND p.at = now());
END
$$;

COMMENT ON FUNCTION open_revision() IS
    'The revision that this transaction has made; null: it has recorded nothing, or nothing that is still there.';

CREATE FUNCTION undo_is_running() RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = public, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM edited_rows AS e
         WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.table_name = 'changes' AND e.after IS NULL
    );
END
$$;

COMMENT ON FUNCTION undo_is_running() IS
    'Whether the edits are those of undo_change. Triggers that add something to an edit leave them as they are.';

-- The arguments are the columns of the primary key.
CREATE FUNCTION note_edit() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET TimeZone = 'UTC'
    SET IntervalStyle = 'postgres'
AS $$
DECLARE
    edited_table CONSTANT text := TG_TABLE_NAME;
    old_row CONSTANT jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
    new_row CONSTANT jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
    key_before jsonb;
    key_after jsonb;
    this_revision bigint;
    undone_change bigint;
    undo_is_over boolean;
    is_noted boolean := false;
BEGIN
    IF TG_TABLE_SCHEMA <> 'public' THEN
        RAISE insufficient_privilege USING
            MESSAGE = format('table %s is no policy table', TG_RELID::regclass),
            HINT = 'The history is about the tables in schema public alone.';
    END IF;
    IF old_row = new_row THEN
        RETURN NULL;
    END IF;
    key_before := public.row_columns(old_row, TG_ARGV::text[]);
    key_after := public.row_columns(new_row, TG_ARGV::text[]);
    this_revision := public.open_revision();

    SELECT (e.key ->> 'id')::bigint, e.after IS NOT NULL INTO undone_change, undo_is_over
      FROM edited_rows AS e
     WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.table_name = 'changes';
    IF undone_change IS NULL AND this_revision IS NOT NULL THEN
        SELECT c.undoes, true INTO undone_change, undo_is_over FROM changes AS c WHERE c.id = this_revision;
    END IF;
    IF undone_change IS NOT NULL AND undo_is_over THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = format('this transaction undoes change %s, so it can edit nothing else', undone_change),
            DETAIL = 'The history says of an undo which change it undoes, so it is all that its transaction does.',
            HINT = 'COMMIT the undo, then edit.';
    END IF;

    -- Where constraints are immediate, these rows may have been recorded: they go on from there.
    IF this_revision IS NOT NULL THEN
        -- Found by their keys, and only then by the token, by which PostgreSQL would read all that is recorded.
        WITH known AS MATERIALIZED (
            SELECT k.ctid AS place, k.token FROM recorded_rows AS k
             WHERE k.table_name = edited_table AND k.key IN (key_before, key_after)
             UNION
            SELECT k.ctid, k.token FROM recorded_rows AS k
             WHERE k.table_name = edited_table AND k.old_key IN (key_before, key_after)
        ),
        recorded AS (
            DELETE FROM recorded_rows AS c
             WHERE c.ctid = ANY (
                 ARRAY(
                     SELECT k.place FROM known AS k WHERE k.token = (SELECT p.token FROM policy_revision AS p)
                 )
             )
            RETURNING c.*
        )
        INSERT INTO edited_rows (table_name, key, before, after)
        SELECT r.table_name, r.key, r.before, r.after FROM recorded AS r ORDER BY r.ordinal;
    END IF;

    IF old_row IS NOT NULL THEN
        UPDATE edited_rows AS e
           SET id = DEFAULT, key = coalesce(key_after, key_before), after = new_row
         WHERE e.ctid = (
             SELECT n.ctid
               FROM edited_rows AS n
              WHERE n.xid = pg_current_xact_id()
                AND n.at = now()
                AND n.table_name = edited_table
                AND n.key = key_before
                AND n.after = old_row
              LIMIT 1
         );
        is_noted := FOUND;
    END IF;
    IF NOT is_noted THEN
        INSERT INTO edited_rows (table_name, key, before, after)
        VALUES (edited_table, coalesce(key_after, key_before), old_row, new_row);
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION note_edit() IS
    'Trigger: notes how the transaction found a row and how it leaves it. Refuses edits after an undo.';

CREATE FUNCTION await_commit() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
BEGIN
    IF EXISTS (
        SELECT FROM edited_rows AS e
         WHERE e.xid = pg_current_xact_id_if_assigned() AND e.at = now() AND e.table_name <> 'changes'
    ) THEN
        INSERT INTO edits_to_record DEFAULT VALUES ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION await_commit() IS
    'Trigger: after a statement that noted edits, has the transaction record them at its commit.';

-- Brings the notes of this transaction into the form that is recorded: one at most for a key before, and one for it
-- after.
CREATE FUNCTION settle_notes() RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    pair record;
    leaving edited_rows;
    arriving edited_rows;
BEGIN
    -- The event of a nested statement can be seen before that of the statement around it: two notes of one row.
    LOOP
        SELECT max(state.note) FILTER (WHERE NOT state.is_start) AS first_note,
               max(state.note) FILTER (WHERE state.is_start) AS second_note
          INTO pair
          FROM (
              SELECT e.table_name, e.before AS found, e.id AS note, true AS is_start
                FROM edited_rows AS e
               WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.before IS DISTINCT FROM e.after
               UNION ALL
              SELECT e.table_name, e.after, e.id, false
                FROM edited_rows AS e
               WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.before IS DISTINCT FROM e.after
          ) AS state
         WHERE state.found IS NOT NULL
         GROUP BY state.table_name, state.found
        HAVING count(DISTINCT state.is_start) = 2
         LIMIT 1;
        EXIT WHEN NOT FOUND;
        UPDATE edited_rows AS e
           SET before = (
                   SELECT f.before
                     FROM edited_rows AS f
                    WHERE f.xid = pg_current_xact_id() AND f.at = now() AND f.id = pair.first_note
               )
         WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.id = pair.second_note;
        DELETE FROM edited_rows AS e
         WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.id = pair.first_note;
    END LOOP;

    -- A key that one row has left and another has taken: that is one row that was changed, and where the rows came from
    -- and went to, one was deleted and one inserted. Rows that others refer to are known by their key alone; of others a
    -- row that was renamed remains the same row.
    LOOP
        FOR pair IN
            SELECT side.table_name,
                   side.place,
                   side.key,
                   max(side.note) FILTER (WHERE side.is_left) AS leaving_note,
                   max(side.note) FILTER (WHERE NOT side.is_left) AS arriving_note,
                   (array_agg(side.note_key ORDER BY side.note DESC) FILTER (WHERE side.is_left))[1] AS leaving_key,
                   (array_agg(side.note_key ORDER BY side.note DESC) FILTER (WHERE NOT side.is_left))[1] AS arriving_key
              FROM (
                  SELECT e.id AS note,
                         e.key AS note_key,
                         e.table_name,
                         t.key,
                         row_columns(CASE WHEN role.is_left THEN e.before ELSE e.after END, t.key) AS place,
                         role.is_left
                    FROM edited_rows AS e
                    JOIN policy_tables() AS t ON t.name = e.table_name
                    CROSS JOIN (VALUES (true), (false)) AS role(is_left)
                   WHERE e.xid = pg_current_xact_id()
                     AND e.at = now()
                     AND row_columns(e.before, t.key) IS DISTINCT FROM row_columns(e.after, t.key)
                     AND (
                         NOT role.is_left OR e.after IS NULL
                         OR EXISTS (SELECT FROM policy_tables() AS below WHERE below.parent = t.name)
                     )
              ) AS side
             WHERE side.place IS NOT NULL
             GROUP BY side.table_name, side.key, side.place
            HAVING count(DISTINCT side.is_left) = 2
        LOOP
            SELECT * INTO STRICT leaving FROM edited_rows AS e
             WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.table_name = pair.table_name
               AND e.key = pair.leaving_key AND e.id = pair.leaving_note;
            SELECT * INTO STRICT arriving FROM edited_rows AS e
             WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.table_name = pair.table_name
               AND e.key = pair.arriving_key AND e.id = pair.arriving_note;
            -- A note that is part of two pairs waits for the next round.
            CONTINUE WHEN row_columns(leaving.before, pair.key) IS DISTINCT FROM pair.place
                OR row_columns(arriving.before, pair.key) = pair.place;
            UPDATE edited_rows AS e SET before = leaving.before
             WHERE e.xid = arriving.xid AND e.at = arriving.at AND e.table_name = arriving.table_name
               AND e.key = arriving.key AND e.id = arriving.id;
            UPDATE edited_rows AS e SET before = NULL
             WHERE e.xid = leaving.xid AND e.at = leaving.at AND e.table_name = leaving.table_name
               AND e.key = leaving.key AND e.id = leaving.id;
            IF arriving.before IS NOT NULL THEN
                INSERT INTO edited_rows (table_name, key, before)
                VALUES (arriving.table_name, row_columns(arriving.before, pair.key), arriving.before);
            END IF;
        END LOOP;
        EXIT WHEN NOT FOUND;
    END LOOP;
END
$$;

COMMENT ON FUNCTION settle_notes() IS
    'Joins notes of this transaction that are about one row, or about two that had one key.';

-- The record.

CREATE FUNCTION open_change(new_token uuid, undone_change bigint, notes edited_rows[]) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    tables CONSTANT text[] := ARRAY(SELECT DISTINCT n.table_name FROM unnest(notes) AS n);
    bundles CONSTANT text[] := edited_bundles(notes);
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
        undone_change,
        new_token,
        tables,
        bundles
    );
    PERFORM pg_notify('versiongate', this_revision::text);
    RETURN this_revision;
END
$$;

COMMENT ON FUNCTION open_change(uuid, bigint, edited_rows[]) IS
    'Takes the row of policy_revision, opens the entry in changes, and returns the revision of this transaction.';

CREATE FUNCTION close_change() RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
BEGIN
    DELETE FROM changes AS c WHERE c.id = open_revision();
    UPDATE policy_revision
       SET revision = revision - 1,
           token = token_before,
           token_before = NULL,
           xid = NULL,
           at = NULL,
           is_rehearsal = false;
END
$$;

COMMENT ON FUNCTION close_change() IS
    'Takes back the revision of this transaction, of which nothing is left. The row of policy_revision stays locked.';

CREATE FUNCTION take_notes() RETURNS edited_rows[]
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    notes edited_rows[];
BEGIN
    PERFORM FROM edited_rows AS e
      WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.table_name <> 'changes'
     OFFSET 1;
    IF FOUND THEN
        PERFORM settle_notes();
    END IF;
    -- Of two rows that stand at one key, the one that was there first is moving away in this very statement: its note is
    -- left for the event that says where to.
    WITH taken AS (
        DELETE FROM edited_rows AS e
         WHERE e.xid = pg_current_xact_id()
           AND e.at = now()
           AND e.table_name <> 'changes'
           AND (
               e.after IS NULL OR NOT EXISTS (
                   SELECT FROM edited_rows AS newer
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
    SELECT array_agg(ROW(taken.*)::edited_rows ORDER BY t.place, taken.id) INTO notes
      FROM taken
      JOIN policy_tables() AS t ON t.name = taken.table_name;
    RETURN notes;
END
$$;

COMMENT ON FUNCTION take_notes() IS 'The notes of this transaction, parents before their children, which are deleted.';

CREATE FUNCTION edited_bundles(notes edited_rows[]) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET search_path = public, pg_temp
AS $$
DECLARE
    most CONSTANT integer := 100;
BEGIN
    RETURN (
        SELECT CASE WHEN count(*) <= most AND bool_and(found.bundle IS NOT NULL) THEN array_agg(found.bundle) END
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

COMMENT ON FUNCTION edited_bundles(edited_rows[]) IS
    'The apps that edits are about; null: every app, or too many to tell.';

-- Whether another transaction has edited, after a revision, what the guards read beside the edited rows themselves. Final
-- rules are not among it, though one may hide a lockout: policy_warnings says so at any time.
CREATE FUNCTION was_overtaken(known_revision bigint, this_revision bigint) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = public, pg_temp
AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM changes AS this
          JOIN changes AS other ON other.id > known_revision AND other.id < this.id
          JOIN (
              VALUES ('rules', '{apps,store_links,releases,rule_texts,rollout_steps}'::text[]),
                     ('rollout_steps', '{rules,rollout_steps}'),
                     ('rule_texts', '{rules}'),
                     ('releases', '{rules,releases,store_links}'),
                     ('store_links', '{rules,releases,store_links}')
          ) AS judged(table_name, by_tables)
            ON judged.table_name = ANY (this.edited_tables) AND judged.by_tables && other.edited_tables
         WHERE this.id = this_revision
           AND (this.bundles && other.bundles) IS NOT false
    ) OR EXISTS (
        -- What is unique among all apps.
        SELECT FROM changes AS this
          JOIN changes AS other ON other.id > known_revision AND other.id < this.id
         WHERE this.id = this_revision AND 'apps' = ANY (this.edited_tables) AND 'apps' = ANY (other.edited_tables)
    );
END
$$;

COMMENT ON FUNCTION was_overtaken(bigint, bigint) IS
    'Whether the edits of a change have to be judged again, as others were made after a revision.';

CREATE FUNCTION record_notes() RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    notes CONSTANT edited_rows[] := take_notes();
    known_revision CONSTANT bigint := (SELECT p.revision FROM policy_revision AS p);
    this_revision bigint := open_revision();
    this_token uuid := gen_random_uuid();
    undone bigint;
    recorded integer := 0;
    bundles_now text[];
    is_judged boolean := false;
BEGIN
    IF this_revision IS NOT NULL THEN
        bundles_now := edited_bundles(notes);
        SELECT c.token, c.undoes INTO this_token, undone FROM changes AS c WHERE c.id = this_revision;
        recorded := coalesce((SELECT max(r.ordinal) FROM recorded_rows AS r WHERE r.token = this_token), 0);
    ELSE
        undone := (
            SELECT (e.key ->> 'id')::bigint
              FROM edited_rows AS e
             WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.table_name = 'changes'
        );
    END IF;
    INSERT INTO recorded_rows (token, ordinal, table_name, key, old_key, before, after)
    SELECT this_token, recorded + row_number() OVER (ORDER BY n.ordinal), n.table_name, stands.at,
           nullif(row_columns(n.before, t.key), stands.at), n.before, n.after
      FROM unnest(notes) WITH ORDINALITY AS n(xid, at, table_name, key, id, before, after, ordinal)
      JOIN policy_tables() AS t ON t.name = n.table_name
     CROSS JOIN LATERAL row_columns(coalesce(n.after, n.before), t.key) AS stands(at)
     WHERE n.before IS DISTINCT FROM n.after;
    IF this_revision IS NULL THEN
        IF NOT FOUND THEN
            RETURN;
        END IF;
        PERFORM judge_edits(this_token, undone, notes);
        this_revision := open_change(this_token, undone, notes);
        is_judged := NOT was_overtaken(known_revision, this_revision);
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
    DELETE FROM edited_rows AS e
     WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.table_name = 'changes' AND e.after IS NOT NULL;
    IF NOT EXISTS (SELECT FROM recorded_rows AS r WHERE r.token = this_token) THEN
        PERFORM close_change();
    ELSIF NOT is_judged THEN
        PERFORM judge_edits(this_token, undone, notes);
    END IF;
END
$$;

COMMENT ON FUNCTION record_notes() IS
    'Records what this transaction has done to the rows that it has noted, and has it judged.';

CREATE FUNCTION is_rehearsal() RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = public, pg_temp
AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM edits_to_record AS e WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.is_rehearsal
    ) OR EXISTS (SELECT FROM policy_revision AS p WHERE p.singleton AND p.is_rehearsal);
END
$$;

COMMENT ON FUNCTION is_rehearsal() IS 'Whether a planner has edited in this transaction, so that it cannot be committed.';

CREATE FUNCTION refuse_planner() RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
BEGIN
    RAISE insufficient_privilege USING
        MESSAGE = format('%s may plan edits, and not make them', session_user),
        DETAIL = 'Nothing was changed.',
        HINT = 'To see what edits come to: BEGIN; the edits; SELECT rehearse_edits(); SELECT * FROM history LIMIT 1;'
            ' ROLLBACK. To make them, log in as a member of versiongate_admin.',
        CONSTRAINT = 'planner_guard';
END
$$;

COMMENT ON FUNCTION refuse_planner() IS 'Refuses an edit of a planner.';

CREATE FUNCTION rehearse_edits() RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp
    SET TimeZone = 'UTC'
    SET IntervalStyle = 'postgres'
AS $$
DECLARE
    cannot_commit CONSTANT boolean := public.is_rehearsal();
BEGIN
    PERFORM public.record_notes();
    IF cannot_commit THEN
        UPDATE policy_revision AS p SET is_rehearsal = true WHERE p.revision = public.open_revision();
    END IF;
    RETURN public.open_revision();
END
$$;

COMMENT ON FUNCTION rehearse_edits() IS
    'Records and judges what this transaction has edited, as its commit would, and returns the number of the change; null:'
    ' nothing is different. Others who commit edits wait until the transaction ends.';

CREATE FUNCTION record_edits() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp
    SET TimeZone = 'UTC'
    SET IntervalStyle = 'postgres'
AS $$
BEGIN
    IF public.is_rehearsal() OR public.may_only_plan() THEN
        PERFORM public.refuse_planner();
    END IF;
    DELETE FROM edits_to_record AS e WHERE e.xid = pg_current_xact_id() AND e.at = now();
    PERFORM public.record_notes();
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION record_edits() IS
    'Trigger: records what the transaction has done, and has the guards judge it: at the commit, or with each edit where'
    ' constraints are immediate.';

CREATE CONSTRAINT TRIGGER record_edits AFTER INSERT ON edits_to_record
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_edits();

-- Servers ask this to read what an edit changed, and no more. Tokens tell whether the history that is here goes on from
-- what a server has, and whether it goes on until now: a database may have been restored, or edited behind its back.
CREATE FUNCTION apps_changed_since(known_revision bigint, known_token uuid) RETURNS text[]
    LANGUAGE plpgsql STABLE STRICT SECURITY DEFINER
    SET search_path = public, pg_temp
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

COMMENT ON FUNCTION apps_changed_since(bigint, uuid) IS
    'The bundles of the apps that changes after a revision were about, null among them for rules for every app; null: the'
    ' history does not tell, or so much was changed that everything is read as quickly.';

CREATE FUNCTION history_has(revision bigint, token text) RETURNS boolean
    LANGUAGE plpgsql STABLE STRICT SECURITY DEFINER
    SET search_path = public, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM changes AS c WHERE c.id = history_has.revision AND c.token::text = history_has.token);
END
$$;

COMMENT ON FUNCTION history_has(bigint, text) IS
    'Whether the policy was at this revision with this token: false after a restore, and in another database.';

-- Emptying a table runs no row triggers: it would leave no trace, and could not be undone.
CREATE FUNCTION refuse_truncate() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
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

COMMENT ON FUNCTION refuse_truncate() IS 'Trigger: refuses TRUNCATE.';

REVOKE ALL ON FUNCTION
    note_edit(), await_commit(), record_edits(), rehearse_edits(), apps_changed_since(bigint, uuid), history_has(bigint, text),
    open_change(uuid, bigint, edited_rows[]), close_change(), settle_notes(), take_notes(), record_notes()
    FROM PUBLIC;

DO $$
DECLARE
    policy_table record;
BEGIN
    FOR policy_table IN
        SELECT t.name, (SELECT string_agg(quote_literal(k), ', ') FROM unnest(t.key) AS k) AS key FROM policy_tables() AS t
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
        EXECUTE format(
            'CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate()',
            policy_table.name
        );
    END LOOP;
END
$$;

CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON policy_revision FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON changes FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON recorded_rows FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();
