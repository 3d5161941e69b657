-- The revision of the policy and the history of its changes.
--
-- Each policy table has a trigger `a_note_edit`, which notes each state that a row leaves and each that it comes to. The
-- first statement with a note also puts a row into edits_to_record, whose trigger is deferred to the commit. It records
-- what is different under the token that the policy is to get, and has the guards judge the whole (0008). Only then does
-- it take the one row of policy_revision, for which others wait, and open the entry in changes: nothing that grows with
-- the edit is left to do. Where another transaction has meanwhile edited what the guards read, they judge again.
--
-- So revisions follow commits, and as the row of policy_revision is the last lock taken, two transactions cannot block
-- each other for good. What a rolled-back savepoint had edited leaves nothing. A transaction in REPEATABLE READ or
-- SERIALIZABLE fails there with serialization_failure if another has changed the policy since it began.
--
-- SET CONSTRAINTS ... IMMEDIATE records at once what has been edited until then, and so does rehearse_edits(). If the
-- transaction goes on to edit, its change is made anew. Within a statement, of which not all may be noted, nothing is.
--
-- A planner may edit and not commit: the first edit marks the transaction, and record_edits() refuses it. rehearse_edits()
-- records and judges without that trigger; the event that waits for the commit is still there after it.

SET LOCAL search_path = public, versiongate_internal, pg_temp;

CREATE TABLE policy_revision (
    singleton boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (singleton),
    revision bigint NOT NULL,
    token uuid NOT NULL,
    xid xid8,
    at timestamptz
);

INSERT INTO policy_revision (revision, token) VALUES (0, gen_random_uuid());

COMMENT ON TABLE policy_revision IS 'One row: where the policy stands.';
COMMENT ON COLUMN policy_revision.singleton IS 'Always true: there is one row.';
COMMENT ON COLUMN policy_revision.revision IS
    'Raised by one with each transaction that changed the policy; the id of its entry in changes.';
COMMENT ON COLUMN policy_revision.token IS
    'Random, new with each revision. Servers reload when it differs: a restored database may reach a number a second'
    ' time.';
COMMENT ON COLUMN policy_revision.xid IS
    'The transaction that made the revision, together with at: after a restore its number alone can come again.';
COMMENT ON COLUMN policy_revision.at IS 'When that transaction began.';
-- One row: which programs can read this schema.
-- oldest: name of a migration. A program that carries it reads the policy rightly, whatever came after it; a migration
-- that changes what the policy means, or where it is, sets this to its own name.
CREATE TABLE versiongate_internal.schema_reader (
    singleton boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (singleton),
    oldest text NOT NULL
);

INSERT INTO schema_reader (oldest) VALUES ('0004_policy');

CREATE TABLE changes (
    id bigint PRIMARY KEY,
    at timestamptz NOT NULL,
    role text NOT NULL,
    os_user text,
    tool text,
    why text,
    undoes bigint REFERENCES changes,
    token uuid NOT NULL CONSTRAINT changes_token_key UNIQUE,
    edited_tables text[] NOT NULL,
    bundles text[]
);

CREATE INDEX changes_undoes_idx ON changes (undoes);

COMMENT ON TABLE changes IS 'The history: a row for each transaction that changed the policy. Written by triggers alone.';
COMMENT ON COLUMN changes.id IS 'The revision that the change made.';
COMMENT ON COLUMN changes.at IS 'When it was committed.';
COMMENT ON COLUMN changes.role IS
    'Database role that was logged in; of the tool token, the name of the token. The one word about the author that is'
    ' verified.';
COMMENT ON COLUMN changes.os_user IS
    'The operating system''s user, as the tool said in the setting versiongate.os_user: a claim, not verified.';
COMMENT ON COLUMN changes.tool IS 'The tool, as it said in application_name (psql, versiongate, ...): a claim, not verified.';
COMMENT ON COLUMN changes.why IS 'The reason, as it was given in the setting versiongate.why.';
COMMENT ON COLUMN changes.undoes IS
    'The change that this one undid, and it did nothing else: edits in a transaction that undoes are refused.';
COMMENT ON COLUMN changes.token IS 'The token that the policy had from this change on.';
COMMENT ON COLUMN changes.edited_tables IS 'The policy tables that the change has edited.';
COMMENT ON COLUMN changes.bundles IS 'The apps that it is about; null: every app, or too many to tell.';

-- No foreign key: the rows are written before their change, and each would be looked up again under the lock.
-- The rows of change_rows, by the token of their change.
CREATE TABLE versiongate_internal.recorded_rows (
    token uuid NOT NULL,
    ordinal integer NOT NULL,
    table_name text COLLATE "C" NOT NULL,
    key jsonb NOT NULL,
    before jsonb,
    after jsonb,
    PRIMARY KEY (token, ordinal),
    CONSTRAINT recorded_rows_row_check CHECK (before IS NOT NULL OR after IS NOT NULL)
);

CREATE UNIQUE INDEX recorded_rows_row_key ON recorded_rows (table_name, key, token);

CREATE VIEW change_rows WITH (security_invoker = true) AS
SELECT c.id AS change, r.ordinal, r.table_name, r.key, r.before, r.after
  FROM changes AS c
  JOIN recorded_rows AS r ON r.token = c.token;

COMMENT ON VIEW change_rows IS 'What a change did to each row, from its state before the transaction to that after it.';
COMMENT ON COLUMN change_rows.key IS
    'Primary key of the row, as an object of its columns; a bundle or language in lower case. A row that got another key is'
    ' one that was deleted and one that was inserted.';
COMMENT ON COLUMN change_rows.before IS
    'The row before; null: there was none. Times are in UTC, intervals in the style postgres.';

CREATE FUNCTION versiongate_internal.row_columns(policy_row jsonb, columns text[]) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
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

-- The primary key of a row, which has these columns: what the history knows the row by, however it is spelled.
CREATE FUNCTION versiongate_internal.row_key(policy_row jsonb, columns text[]) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    key jsonb := row_columns(policy_row, columns);
    name text;
BEGIN
    FOREACH name IN ARRAY columns LOOP
        IF name IN ('bundle', 'language') THEN
            key := key || jsonb_build_object(name, lower((key ->> name) COLLATE "C"));
        END IF;
    END LOOP;
    RETURN key;
END
$$;

-- The columns of rules that say nothing of whom they reach or lock out.
CREATE FUNCTION versiongate_internal.silent_columns() RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '{title,text,link,remind,shows,skippable,fuse,note}'::text[];

-- What a transaction did to the row with a key: how it found it and how it leaves it; null: there is none.
CREATE TYPE versiongate_internal.row_edit AS (table_name text, key jsonb, before jsonb, after jsonb);

-- Whether the role that logged in is a planner, or a brake, and neither an admin nor the owner of the schema.
CREATE FUNCTION versiongate_internal.may_only(what text) RETURNS boolean
    LANGUAGE sql STABLE
RETURN coalesce(pg_has_role(session_user, to_regrole('versiongate_' || what), 'MEMBER'), false)
   AND NOT coalesce(pg_has_role(session_user, to_regrole('versiongate_admin'), 'MEMBER'), false)
   AND NOT pg_has_role(
       session_user, (SELECT c.relowner FROM pg_class AS c WHERE c.oid = 'public.policy_revision'::regclass), 'MEMBER'
   );

-- What transactions that are under way have edited and not recorded yet: a note of each state that a row left, and of
-- each that it came to. Each sees its own notes alone, and leaves none behind.
-- is_there: true: it came to this state; false: it left it.
CREATE TABLE versiongate_internal.edited_rows (
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    at timestamptz NOT NULL DEFAULT now(),
    table_name text COLLATE "C" NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    key jsonb NOT NULL,
    policy_row jsonb NOT NULL,
    is_there boolean NOT NULL,
    PRIMARY KEY (xid, at, table_name, id)
);

-- Transactions that are under way and have noted edits. Each sees its own row alone, and leaves none behind.
-- undoes: the change that it takes back.
-- is_closed: whether it can edit nothing else: it has undone a change, or blown fuses.
CREATE TABLE versiongate_internal.edits_to_record (
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    at timestamptz NOT NULL DEFAULT now(),
    is_rehearsal boolean NOT NULL DEFAULT may_only('planner'),
    undoes bigint,
    is_closed boolean NOT NULL DEFAULT false,
    PRIMARY KEY (xid, at)
);

-- Notes.
--
-- The states of a row with one key are a chain: each but the first is come to, and each but the last is left. So the
-- first is the one that was left more often than it was come to, and the last the other way round, in whatever order the
-- notes are: the events of a nested statement are seen before those of the statement around it, and rows may change places.
-- From A to B and to A again comes to nothing.
--
-- Between transactions these tables are empty, so PostgreSQL would plan to read all of them, and a session keeps its plans:
-- enable_seqscan is off where they are looked up. The primary key is the only index, so that there is no other plan.

-- The revision that this transaction has made; null: it has recorded nothing, or nothing that is still there.
CREATE FUNCTION versiongate_internal.open_revision() RETURNS bigint
    LANGUAGE sql STABLE
RETURN (SELECT p.revision FROM policy_revision AS p WHERE p.xid = pg_current_xact_id_if_assigned() AND p.at = now());

CREATE FUNCTION versiongate_internal.open_edit() RETURNS edits_to_record
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp
    SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    edit edits_to_record;
BEGIN
    SELECT * INTO edit
      FROM edits_to_record AS e
     WHERE e.xid = pg_current_xact_id_if_assigned() AND e.at = now();
    RETURN edit;
END
$$;

-- Whether the edits are those of undo_change. Triggers that add something to an edit leave them as they are.
CREATE FUNCTION versiongate_internal.undo_is_running() RETURNS boolean
    LANGUAGE sql STABLE
RETURN EXISTS (SELECT FROM open_edit() AS e WHERE e.undoes IS NOT NULL AND NOT e.is_closed);

-- Trigger: notes which state of a row is left and which it comes to. Refuses edits after an undo and after a blown
-- fuse.
-- The arguments are the columns of the primary key.
CREATE FUNCTION versiongate_internal.note_edit() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = versiongate_internal, public, pg_temp
    SET enable_seqscan = off SET jit = off SET TimeZone = 'UTC' SET IntervalStyle = 'postgres'
AS $$
DECLARE
    old_row CONSTANT jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
    new_row CONSTANT jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
    undone bigint;
BEGIN
    IF TG_TABLE_SCHEMA <> 'public' THEN
        RAISE insufficient_privilege USING
            MESSAGE = format('table %s is no policy table', TG_RELID::regclass),
            HINT = 'The history is about the tables in schema public alone.';
    END IF;
    IF old_row = new_row THEN
        RETURN NULL;
    END IF;
    SELECT e.undoes INTO undone
      FROM edits_to_record AS e
     WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.is_closed
     UNION ALL
    SELECT c.undoes
      FROM policy_revision AS p
      JOIN changes AS c ON c.id = p.revision AND (c.undoes IS NOT NULL OR c.tool = 'fuse')
     WHERE p.singleton AND p.xid = pg_current_xact_id() AND p.at = now();
    IF FOUND THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = CASE
                WHEN undone IS NULL THEN 'this transaction blows fuses, so it can edit nothing else'
                ELSE format('this transaction undoes change %s, so it can edit nothing else', undone)
            END,
            DETAIL = 'The history says of an undo which change it undoes, of a fuse that it made the edit; so it is all that the'
                ' transaction does.',
            HINT = 'COMMIT, then edit.';
    END IF;
    INSERT INTO edited_rows (table_name, key, policy_row, is_there)
    SELECT TG_TABLE_NAME, row_key(state.policy_row, TG_ARGV::text[]), state.policy_row, state.is_there
      FROM (VALUES (old_row, false), (new_row, true)) AS state(policy_row, is_there)
     WHERE state.policy_row IS NOT NULL;
    RETURN NULL;
END
$$;

-- What the notes of this transaction come to, parents before their children.
CREATE FUNCTION versiongate_internal.noted_edits() RETURNS SETOF row_edit
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp
    SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    edit record;
BEGIN
    FOR edit IN
        SELECT s.table_name, s.key, max(abs(s.balance)) AS most,
               array_agg(s.policy_row) FILTER (WHERE s.balance < 0) AS before,
               array_agg(s.policy_row) FILTER (WHERE s.balance > 0) AS after
          FROM (
              SELECT e.table_name, e.key, e.policy_row, sum(CASE WHEN e.is_there THEN 1 ELSE -1 END) AS balance,
                     max(e.id) AS id
                FROM edited_rows AS e
               WHERE e.xid = pg_current_xact_id_if_assigned() AND e.at = now()
               GROUP BY e.table_name, e.key, e.policy_row
          ) AS s
          JOIN policy_tables() AS t ON t.name = s.table_name
         GROUP BY t.place, s.table_name, s.key
        HAVING bool_or(s.balance <> 0)
         ORDER BY t.place, max(s.id)
    LOOP
        IF greatest(edit.most, cardinality(edit.before), cardinality(edit.after)) > 1 THEN
            RAISE object_not_in_prerequisite_state USING
                MESSAGE = 'edits cannot be recorded by a function within a statement that edits as well',
                HINT = 'Call it after the statement.';
        END IF;
        RETURN NEXT (edit.table_name, edit.key, edit.before[1], edit.after[1])::row_edit;
    END LOOP;
END
$$;

-- Trigger: after a statement that noted edits, has the transaction record them at its commit. Refuses edits of a
-- subscriber of logical replication.
CREATE FUNCTION versiongate_internal.await_commit() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = versiongate_internal, public, pg_temp
    SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    subscription CONSTANT name := (
        SELECT min(s.subname::text)
          FROM pg_subscription_rel AS r
          JOIN pg_subscription AS s ON s.oid = r.srsubid
         WHERE r.srrelid = TG_RELID
    );
BEGIN
    IF subscription IS NOT NULL THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = format('the subscription %I writes the policy of this database', subscription),
            DETAIL = 'An edit here would stop the logical replication from the publisher.',
            HINT = 'Edit at the publisher; a copy to go on with is made by pg_dump.';
    END IF;
    IF EXISTS (SELECT FROM edited_rows AS e WHERE e.xid = pg_current_xact_id_if_assigned() AND e.at = now()) THEN
        INSERT INTO edits_to_record DEFAULT VALUES ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
