-- SPDX-License-Identifier: Apache-2.0
-- Copyright the versiongate authors
--
-- Undoing a change.
--
-- What the change did is taken back column by column, so later changes of other columns stay. It is all or nothing:
-- every row is judged before any is written. An undo is a change like others and can be undone itself.

SET LOCAL search_path = public, pg_temp;

CREATE FUNCTION changed_columns(before jsonb, after jsonb) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = public, pg_temp
AS $$
BEGIN
    RETURN ARRAY(
        SELECT name
          FROM jsonb_object_keys(coalesce(before, '{}') || coalesce(after, '{}')) AS name
         WHERE before -> name IS DISTINCT FROM after -> name
         ORDER BY name COLLATE "C"
    );
END
$$;

COMMENT ON FUNCTION changed_columns(jsonb, jsonb) IS 'The columns in which a row is different before and after.';

-- Text of a condition that finds a row by its primary key, to be executed with the key as $1.
CREATE FUNCTION key_condition(table_name text, key jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = public, pg_temp
AS $$
BEGIN
    RETURN (
        SELECT string_agg(
                   format('t.%1$I = (jsonb_populate_record(NULL::public.%2$I, $1)).%1$I', name, table_name), ' AND '
               )
          FROM jsonb_object_keys(key) AS name
    );
END
$$;

COMMENT ON FUNCTION key_condition(text, jsonb) IS 'The SQL condition that finds a row by its primary key, given as $1.';

CREATE FUNCTION set_columns(table_name text, key jsonb, columns text[], wanted jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
BEGIN
    EXECUTE format(
        'UPDATE public.%I AS t SET %s WHERE %s',
        table_name,
        (
            SELECT string_agg(
                       format('%1$I = (jsonb_populate_record(NULL::public.%2$I, $2)).%1$I', name, table_name), ', '
                   )
              FROM unnest(columns) AS name
        ),
        key_condition(table_name, key)
    ) USING key, wanted;
END
$$;

COMMENT ON FUNCTION set_columns(text, jsonb, text[], jsonb) IS
    'Sets some columns of a row to what they are in `wanted`.';

CREATE FUNCTION undo_conflict(change_id bigint, edited_table text, edited_key jsonb, columns text[]) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = public, pg_temp
AS $$
DECLARE
    later record;
BEGIN
    SELECT c.change, c.after IS NULL AS deleted, c.before IS NULL AS inserted, c.key <> edited_key AS renamed INTO later
      FROM change_rows AS c
     WHERE c.table_name = edited_table AND c.change > change_id
       AND (
           c.key = edited_key AND changed_columns(c.before, c.after) && columns
           OR c.key <> edited_key
           AND row_columns(c.before, ARRAY(SELECT jsonb_object_keys(edited_key))) = edited_key
       )
     ORDER BY c.change DESC
     LIMIT 1;
    RETURN format('%s %s: ', edited_table, edited_key) || CASE
        WHEN NOT FOUND THEN format('%s changed since', array_to_string(columns, ', '))
        WHEN later.renamed THEN format('renamed by change %s', later.change)
        WHEN later.deleted THEN format('deleted by change %s', later.change)
        WHEN later.inserted THEN format('inserted again by change %s', later.change)
        ELSE format('%s set by change %s', array_to_string(columns, ', '), later.change)
    END;
END
$$;

COMMENT ON FUNCTION undo_conflict(bigint, text, jsonb, text[]) IS
    'Why columns of a row cannot be set back to what they were before a change: the later change that set them.';

CREATE FUNCTION undo_change(id bigint) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp
    SET standard_conforming_strings = on
    SET TimeZone = 'UTC'
    SET IntervalStyle = 'postgres'
AS $$
DECLARE
    -- Parents before their children.
    policy_tables CONSTANT text[] := '{apps,store_links,releases,rules,rule_texts,rollout_steps}';
    edit record;
    current_row jsonb;
    wanted jsonb;
    wanted_key jsonb;
    columns text[];
    reasons text[] := '{}';
    undone bigint := 0;
BEGIN
    PERFORM FROM changes AS c WHERE c.id = undo_change.id;
    IF NOT FOUND THEN
        RAISE no_data_found USING
            MESSAGE = format('there is no change %s', coalesce(id::text, 'NULL')),
            HINT = 'The changes are listed by: SELECT * FROM changes ORDER BY id DESC;';
    END IF;
    PERFORM FROM edited_rows AS e WHERE e.xid = pg_current_xact_id() AND e.at = now() AND e.table_name = 'changes';
    IF FOUND THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = 'this transaction undoes a change already',
            HINT = 'Undo one change in a transaction: COMMIT, then undo the next.';
    END IF;
    PERFORM FROM policy_revision AS p WHERE p.xid = pg_current_xact_id() AND p.at = now();
    IF FOUND THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = 'this transaction has recorded edits already, as its constraints are immediate',
            HINT = 'COMMIT them, then undo.';
    END IF;

    FOR edit IN SELECT c.* FROM change_rows AS c WHERE c.change = undo_change.id ORDER BY c.ordinal LOOP
        EXECUTE format(
            'SELECT FROM public.%I AS t WHERE %s FOR UPDATE', edit.table_name, key_condition(edit.table_name, edit.key)
        ) USING edit.key;
        current_row := policy_row(edit.table_name, edit.key);
        columns := ARRAY(
            SELECT name
              FROM unnest(changed_columns(edit.before, edit.after)) AS name
             WHERE current_row -> name IS DISTINCT FROM edit.after -> name
        );
        IF (current_row IS NULL) <> (edit.after IS NULL) OR columns <> '{}' AND edit.after IS NOT NULL THEN
            reasons := reasons || undo_conflict(id, edit.table_name, edit.key, columns);
        END IF;
        IF edit.table_name = 'apps' AND edit.before IS NULL THEN
            reasons := reasons || ARRAY(
                SELECT format('apps %s: has got rules or releases by change %s', edit.key, min(later.change))
                  FROM change_rows AS later
                  JOIN (
                      SELECT 'rules' AS table_name, jsonb_build_object('key', r.key) AS key
                        FROM rules AS r
                       WHERE r.bundle = edit.key ->> 'bundle'
                       UNION ALL
                      SELECT 'releases', jsonb_build_object('id', r.id)
                        FROM releases AS r
                       WHERE r.bundle = edit.key ->> 'bundle'
                  ) AS held USING (table_name, key)
                 WHERE later.change > undo_change.id
                HAVING count(*) > 0
            );
        END IF;
    END LOOP;
    IF reasons <> '{}' THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = format('change %s cannot be undone: later changes are in the way', id),
            DETAIL = array_to_string(reasons, E'\n'),
            HINT = 'Undo the later changes first, or edit the rows by hand.';
    END IF;

    INSERT INTO edited_rows (table_name, key) VALUES ('changes', jsonb_build_object('id', id));

    -- Steps go before, and come after, their rule is edited: while there are any, its rollout cannot be.
    FOR edit IN
        SELECT c.*
          FROM change_rows AS c
         WHERE c.change = undo_change.id AND c.before IS NULL
         ORDER BY array_position(policy_tables, c.table_name::text) DESC, c.ordinal
    LOOP
        EXECUTE format('DELETE FROM public.%I AS t WHERE %s', edit.table_name, key_condition(edit.table_name, edit.key))
            USING edit.key;
        undone := undone + 1;
    END LOOP;

    FOR edit IN
        SELECT c.*
          FROM change_rows AS c
         WHERE c.change = undo_change.id AND c.before IS NOT NULL AND c.after IS NOT NULL
         ORDER BY array_position(policy_tables, c.table_name::text), c.ordinal
    LOOP
        columns := changed_columns(edit.before, edit.after);
        -- A renamed app has taken its rows along already.
        current_row := policy_row(edit.table_name, edit.key);
        IF current_row IS NULL THEN
            CONTINUE;
        END IF;
        wanted := current_row || row_columns(edit.before, columns);
        PERFORM set_columns(edit.table_name, edit.key, columns, wanted);
        -- Clearing staged has set live_at as well, which is not what it was.
        wanted_key := row_columns(wanted, ARRAY(SELECT jsonb_object_keys(edit.key)));
        columns := changed_columns(policy_row(edit.table_name, wanted_key), wanted);
        IF columns <> '{}' THEN
            PERFORM set_columns(edit.table_name, wanted_key, columns, wanted);
        END IF;
        undone := undone + 1;
    END LOOP;

    FOR edit IN
        SELECT c.*, (SELECT string_agg(quote_ident(name), ', ') FROM jsonb_object_keys(c.before) AS name) AS names
          FROM change_rows AS c
         WHERE c.change = undo_change.id AND c.after IS NULL
         ORDER BY array_position(policy_tables, c.table_name::text), c.ordinal
    LOOP
        EXECUTE format(
            'INSERT INTO public.%1$I (%2$s) OVERRIDING SYSTEM VALUE'
            ' SELECT %2$s FROM jsonb_populate_record(NULL::public.%1$I, $1)',
            edit.table_name,
            edit.names
        ) USING edit.before;
        undone := undone + 1;
    END LOOP;
    RETURN undone;
END
$$;

COMMENT ON FUNCTION undo_change(bigint) IS
    'Takes a change back, and returns how many rows it was. Refused where a later change has set the same columns.'
    ' It is a change itself, recorded at the commit, and can be undone likewise.';

REVOKE ALL ON FUNCTION undo_change(bigint), set_columns(text, jsonb, text[], jsonb) FROM PUBLIC;
