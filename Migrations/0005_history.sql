-- SPDX-License-Identifier: Apache-2.0
-- Copyright the versiongate authors
--
-- The revision of the policy and the history of its changes.
--
-- Each policy table has two triggers. `a_note_edit` runs with the statement and notes a row as it was when the
-- transaction first touched it. `b_record_edit` is deferred to the commit: it compares the row with the note, and only
-- if something is different after all does it take the one row of policy_revision, open an entry in changes and record
-- the row.
--
-- So revisions follow commits, a transaction that waits for somebody's next thought holds no lock that others need, and
-- as the row of policy_revision is the last lock taken, two of them cannot block each other for good. What a
-- rolled-back savepoint had edited leaves neither a note nor an event. Deferred triggers run in the order of their
-- events, those of one row by name: the guards, named after `b_record_edit`, judge under that lock what the commit will
-- show. A transaction in REPEATABLE READ or SERIALIZABLE fails there with serialization_failure if another has changed
-- the policy since it began.

SET LOCAL search_path = public, pg_temp;

CREATE TABLE policy_revision (
    singleton boolean NOT NULL DEFAULT true CONSTRAINT policy_revision_pkey PRIMARY KEY
        CONSTRAINT policy_revision_singleton_check CHECK (singleton),
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
    token uuid NOT NULL
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
COMMENT ON COLUMN changes.undoes IS 'The change that this one undid.';
COMMENT ON COLUMN changes.token IS 'The token that the policy had from this change on.';

CREATE TABLE change_rows (
    change bigint NOT NULL CONSTRAINT change_rows_change_fkey REFERENCES changes,
    ordinal integer NOT NULL,
    table_name text COLLATE "C" NOT NULL,
    key jsonb NOT NULL,
    before jsonb,
    after jsonb,
    CONSTRAINT change_rows_pkey PRIMARY KEY (change, ordinal),
    CONSTRAINT change_rows_row_check CHECK (before IS NOT NULL OR after IS NOT NULL)
);

CREATE UNIQUE INDEX change_rows_row_key ON change_rows (table_name, key, change);

COMMENT ON TABLE change_rows IS
    'What a change did to each row, from its state before the transaction to that after it.';
COMMENT ON COLUMN change_rows.change IS 'The change.';
COMMENT ON COLUMN change_rows.ordinal IS 'Place within the change, from 1.';
COMMENT ON COLUMN change_rows.table_name IS 'Table of the row.';
COMMENT ON COLUMN change_rows.key IS
    'Primary key of the row, as an object of its columns; as it was after the change, unless it was deleted.';
COMMENT ON COLUMN change_rows.before IS
    'The row before; null: there was none. Times are in UTC, intervals in the style postgres.';
COMMENT ON COLUMN change_rows.after IS 'The row after; null: it was deleted.';

CREATE TABLE edited_rows (
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    at timestamptz NOT NULL DEFAULT now(),
    table_name text COLLATE "C" NOT NULL,
    key jsonb NOT NULL,
    before jsonb,
    CONSTRAINT edited_rows_pkey PRIMARY KEY (xid, at, table_name, key)
);

COMMENT ON TABLE edited_rows IS
    'What transactions that are under way have edited. Each sees its own rows alone, and deletes them at its commit.';
COMMENT ON COLUMN edited_rows.xid IS 'The transaction.';
COMMENT ON COLUMN edited_rows.at IS 'When the transaction began.';
COMMENT ON COLUMN edited_rows.table_name IS 'Table of the row; changes: the change that the transaction undoes.';
COMMENT ON COLUMN edited_rows.key IS 'Primary key of the row, as an object of its columns.';
COMMENT ON COLUMN edited_rows.before IS 'The row when the transaction first touched it; null: there was none.';

-- A row of a policy table, in the form that the history keeps.
CREATE FUNCTION policy_row(table_name text, key jsonb) RETURNS jsonb
    LANGUAGE plpgsql STABLE STRICT
    SET search_path = public, pg_temp
    SET TimeZone = 'UTC'
    SET IntervalStyle = 'postgres'
AS $$
BEGIN
    CASE table_name
        WHEN 'apps' THEN
            RETURN (SELECT to_jsonb(a) FROM apps AS a WHERE a.bundle = key ->> 'bundle');
        WHEN 'store_links' THEN
            RETURN (
                SELECT to_jsonb(s) FROM store_links AS s
                 WHERE s.bundle = key ->> 'bundle' AND s.platform = key ->> 'platform'
            );
        WHEN 'releases' THEN
            RETURN (SELECT to_jsonb(r) FROM releases AS r WHERE r.id = (key ->> 'id')::bigint);
        WHEN 'rules' THEN
            RETURN (SELECT to_jsonb(r) FROM rules AS r WHERE r.key = policy_row.key ->> 'key');
        WHEN 'rule_texts' THEN
            RETURN (
                SELECT to_jsonb(t) FROM rule_texts AS t
                 WHERE t.rule = key ->> 'rule' AND t.language = key ->> 'language'
            );
        WHEN 'rollout_steps' THEN
            RETURN (
                SELECT to_jsonb(s) FROM rollout_steps AS s
                 WHERE s.rule = key ->> 'rule' AND s.at = (key ->> 'at')::timestamptz
            );
    END CASE;
END
$$;

COMMENT ON FUNCTION policy_row(text, jsonb) IS
    'The row of a policy table with this primary key, as the history keeps it.';

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

-- The arguments are the columns of the primary key.
CREATE FUNCTION note_edit() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp
    SET TimeZone = 'UTC'
    SET IntervalStyle = 'postgres'
AS $$
DECLARE
    old_row CONSTANT jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
    new_row CONSTANT jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
    old_key CONSTANT jsonb := row_columns(old_row, TG_ARGV);
    new_key CONSTANT jsonb := row_columns(new_row, TG_ARGV);
BEGIN
    IF TG_TABLE_SCHEMA <> 'public' THEN
        RAISE insufficient_privilege USING
            MESSAGE = format('table %s is no policy table', TG_RELID::regclass),
            HINT = 'The history is about the tables in schema public alone.';
    END IF;

    -- A row that is renamed keeps its note, so that it counts as changed, not as deleted and inserted.
    IF old_key <> new_key THEN
        UPDATE edited_rows AS e
           SET key = new_key
         WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.table_name = TG_TABLE_NAME AND e.key = old_key
           AND NOT EXISTS (
               SELECT FROM edited_rows AS other
                WHERE other.xid = e.xid AND other.at = e.at AND other.table_name = e.table_name AND other.key = new_key
           );
        IF FOUND THEN
            RETURN NULL;
        END IF;
        INSERT INTO edited_rows (table_name, key, before)
        VALUES (TG_TABLE_NAME, new_key, old_row)
            ON CONFLICT DO NOTHING;
        IF FOUND THEN
            RETURN NULL;
        END IF;
    END IF;

    INSERT INTO edited_rows (table_name, key, before)
    VALUES (TG_TABLE_NAME, coalesce(old_key, new_key), old_row)
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION note_edit() IS 'Trigger: notes a row as it was when the transaction first touched it.';

CREATE FUNCTION open_change() RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    this_revision bigint;
    this_token uuid;
BEGIN
    UPDATE policy_revision
       SET revision = revision + 1, token = gen_random_uuid(), xid = pg_current_xact_id(), at = now()
     WHERE (xid, at) IS DISTINCT FROM (pg_current_xact_id(), now())
    RETURNING revision, token INTO this_revision, this_token;
    IF NOT FOUND THEN
        SELECT revision INTO STRICT this_revision FROM policy_revision;
        RETURN this_revision;
    END IF;

    INSERT INTO changes (id, at, role, os_user, tool, why, undoes, token)
    VALUES (
        this_revision,
        clock_timestamp(),
        session_user,
        nullif(current_setting('versiongate.os_user', true), ''),
        nullif(current_setting('application_name'), ''),
        nullif(current_setting('versiongate.why', true), ''),
        (
            SELECT (key ->> 'id')::bigint
              FROM edited_rows
             WHERE xid = pg_current_xact_id() AND at = now() AND table_name = 'changes'
        ),
        this_token
    );
    DELETE FROM edited_rows WHERE xid = pg_current_xact_id() AND at = now() AND table_name = 'changes';
    PERFORM pg_notify('versiongate', this_revision::text);
    RETURN this_revision;
END
$$;

COMMENT ON FUNCTION open_change() IS
    'The revision of this transaction. The first call takes the row of policy_revision and opens the entry in changes.';

CREATE FUNCTION record_row(edited_table text, edited_key jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    row_before jsonb;
    row_after jsonb;
    this_revision bigint;
BEGIN
    DELETE FROM edited_rows AS e
     WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.table_name = edited_table AND e.key = edited_key
    RETURNING e.before INTO row_before;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    row_after := policy_row(edited_table, edited_key);
    IF row_after IS NOT DISTINCT FROM row_before THEN
        RETURN;
    END IF;

    this_revision := open_change();
    -- Where the transaction made its constraints immediate, this row may have been recorded before.
    INSERT INTO change_rows AS c (change, ordinal, table_name, key, before, after)
    VALUES (
        this_revision,
        1 + coalesce((SELECT max(ordinal) FROM change_rows WHERE change = this_revision), 0),
        edited_table,
        edited_key,
        row_before,
        row_after
    )
        ON CONFLICT (table_name, key, change) DO UPDATE SET after = excluded.after
     WHERE c.before IS DISTINCT FROM excluded.after;
    IF NOT FOUND THEN
        DELETE FROM change_rows WHERE table_name = edited_table AND key = edited_key AND change = this_revision;
    END IF;
END
$$;

COMMENT ON FUNCTION record_row(text, jsonb) IS
    'Records what this transaction did to a row, if it is different from what was noted of it.';

CREATE FUNCTION record_edit() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp
    SET TimeZone = 'UTC'
    SET IntervalStyle = 'postgres'
AS $$
DECLARE
    old_key CONSTANT jsonb := row_columns(CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END, TG_ARGV);
    new_key CONSTANT jsonb := row_columns(CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END, TG_ARGV);
BEGIN
    IF old_key IS NOT NULL THEN
        PERFORM record_row(TG_TABLE_NAME, old_key);
    END IF;
    IF new_key IS DISTINCT FROM old_key THEN
        PERFORM record_row(TG_TABLE_NAME, new_key);
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION record_edit() IS 'Trigger: records at the commit what the transaction did to a row.';

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
             AND r.table_name IN ('apps', 'store_links', 'releases', 'rules')
             AND side.policy_row IS NOT NULL
          UNION ALL
          -- Where the rule is gone, its own row has been recorded as well.
          SELECT rule.bundle
            FROM change_rows AS r
            JOIN rules AS rule ON rule.key = coalesce(r.after, r.before) ->> 'rule'
           WHERE r.change > known_revision
             AND r.table_name IN ('rule_texts', 'rollout_steps')
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
            WHEN TG_TABLE_NAME IN ('policy_revision', 'changes', 'change_rows') THEN 'The history is kept.'
            ELSE format('To empty it: DELETE FROM %I;', TG_TABLE_NAME)
        END,
        SCHEMA = TG_TABLE_SCHEMA,
        TABLE = TG_TABLE_NAME;
END
$$;

COMMENT ON FUNCTION refuse_truncate() IS 'Trigger: refuses TRUNCATE.';

REVOKE ALL ON FUNCTION
    note_edit(), record_edit(), open_change(), record_row(text, jsonb), apps_changed_since(bigint, uuid),
    history_has(bigint, text) FROM PUBLIC;

CREATE TRIGGER a_note_edit AFTER INSERT OR UPDATE OR DELETE ON apps
    FOR EACH ROW EXECUTE FUNCTION note_edit('bundle');
CREATE TRIGGER a_note_edit AFTER INSERT OR UPDATE OR DELETE ON store_links
    FOR EACH ROW EXECUTE FUNCTION note_edit('bundle', 'platform');
CREATE TRIGGER a_note_edit AFTER INSERT OR UPDATE OR DELETE ON releases
    FOR EACH ROW EXECUTE FUNCTION note_edit('id');
CREATE TRIGGER a_note_edit AFTER INSERT OR UPDATE OR DELETE ON rules
    FOR EACH ROW EXECUTE FUNCTION note_edit('key');
CREATE TRIGGER a_note_edit AFTER INSERT OR UPDATE OR DELETE ON rule_texts
    FOR EACH ROW EXECUTE FUNCTION note_edit('rule', 'language');
CREATE TRIGGER a_note_edit AFTER INSERT OR UPDATE OR DELETE ON rollout_steps
    FOR EACH ROW EXECUTE FUNCTION note_edit('rule', 'at');

CREATE CONSTRAINT TRIGGER b_record_edit AFTER INSERT OR UPDATE OR DELETE ON apps
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_edit('bundle');
CREATE CONSTRAINT TRIGGER b_record_edit AFTER INSERT OR UPDATE OR DELETE ON store_links
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_edit('bundle', 'platform');
CREATE CONSTRAINT TRIGGER b_record_edit AFTER INSERT OR UPDATE OR DELETE ON releases
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_edit('id');
CREATE CONSTRAINT TRIGGER b_record_edit AFTER INSERT OR UPDATE OR DELETE ON rules
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_edit('key');
CREATE CONSTRAINT TRIGGER b_record_edit AFTER INSERT OR UPDATE OR DELETE ON rule_texts
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_edit('rule', 'language');
CREATE CONSTRAINT TRIGGER b_record_edit AFTER INSERT OR UPDATE OR DELETE ON rollout_steps
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_edit('rule', 'at');

CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON apps FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON store_links FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON releases FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON rules FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON rule_texts FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON rollout_steps FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON policy_revision FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON changes FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON change_rows FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();
