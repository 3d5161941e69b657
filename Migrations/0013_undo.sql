-- Undoing a change.
--
-- What the change did is taken back column by column, so later changes of other columns stay. It is all or nothing:
-- every row is judged before any is written, and what later changes put below a row is never removed with it. An undo is
-- the only thing its transaction does, so that the history can say what it undoes, and guards let it bring back what stood.

SET LOCAL search_path = public, versiongate_internal, pg_temp;

CREATE FUNCTION versiongate_internal.changed_columns(before jsonb, after jsonb) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY(
    SELECT name
      FROM jsonb_object_keys(coalesce(before, '{}') || coalesce(after, '{}')) AS name
     WHERE before -> name IS DISTINCT FROM after -> name
     ORDER BY name COLLATE "C"
);

-- The SQL condition that finds a row of the policy table t by its row_key().
CREATE FUNCTION versiongate_internal.key_condition(table_name text, key_value text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (
    SELECT string_agg(
               format(
                   CASE
                       WHEN part.name IN ('bundle', 'language') THEN 'lower(t.%1$I) = %3$s ->> %1$L'
                       ELSE 't.%1$I = (jsonb_populate_record(NULL::public.%2$I, %3$s)).%1$I'
                   END,
                   part.name, t.name, key_value
               ),
               ' AND '
           )
      FROM policy_tables() AS t, unnest(t.key) AS part(name)
     WHERE t.name = key_condition.table_name
);

-- Why a change cannot be undone.

CREATE FUNCTION versiongate_internal.last_settings(
    change_id bigint, edited_table text, edited_key jsonb, columns text[]
) RETURNS text
    LANGUAGE sql STABLE
RETURN (
    SELECT string_agg(
               setting.names || coalesce(' set by change ' || setting.change, ' changed since'), '; '
               ORDER BY setting.change DESC NULLS LAST
           )
      FROM (
          SELECT string_agg(found.name, ', ' ORDER BY found.name COLLATE "C") AS names, found.change
            FROM (
                SELECT name, max(c.change) AS change
                  FROM unnest(columns) AS name
                  LEFT JOIN change_rows AS c
                    ON c.table_name = edited_table AND c.key = edited_key AND c.change > change_id
                   AND c.before -> name IS DISTINCT FROM c.after -> name
                 GROUP BY name
            ) AS found
           GROUP BY found.change
      ) AS setting
);

CREATE FUNCTION versiongate_internal.last_move(change_id bigint, edited_table text, edited_key jsonb) RETURNS text
    LANGUAGE sql STABLE
RETURN coalesce(
    (
        SELECT format('%s by change %s', CASE WHEN c.after IS NULL THEN 'deleted' ELSE 'inserted again' END, c.change)
          FROM change_rows AS c
         WHERE c.table_name = edited_table AND c.key = edited_key AND c.change > change_id
           AND (c.after IS NULL OR c.before IS NULL)
         ORDER BY c.change DESC
         LIMIT 1
    ),
    'changed since'
);

CREATE FUNCTION versiongate_internal.release_name(release_id bigint) RETURNS text
    LANGUAGE sql STABLE
RETURN coalesce(
    (SELECT concat_ws(' ', r.bundle, r.version, r.platform) FROM releases AS r WHERE r.id = release_id),
    (
        SELECT concat_ws(' ', c.before ->> 'bundle', c.before ->> 'version', c.before ->> 'platform')
          FROM change_rows AS c
         WHERE c.table_name = 'releases'
           AND c.key = jsonb_build_object('id', release_id)
           AND c.after IS NULL
         ORDER BY c.change DESC
         LIMIT 1
    ),
    release_id::text
);

CREATE FUNCTION versiongate_internal.row_name(edited_table text, edited_row jsonb) RETURNS text
    LANGUAGE sql STABLE
RETURN (
    SELECT CASE edited_table
               WHEN 'apps' THEN concat_ws(' ', 'app', r.bundle)
               WHEN 'store_links' THEN concat_ws(' ', 'store link', r.bundle, r.platform)
               WHEN 'feed_templates' THEN concat_ws(' ', 'feed template', r.bundle, r.name)
               WHEN 'releases' THEN concat_ws(' ', 'release', r.bundle, r.version, r.platform)
               WHEN 'release_notes' THEN concat_ws(' ', 'release note', release_name(r.release), r.language)
               WHEN 'rules' THEN concat_ws(' ', 'rule', r.key)
               WHEN 'rule_texts' THEN concat_ws(' ', 'text', r.rule, r.language)
               WHEN 'rollout_steps' THEN concat_ws(' ', 'rollout step', r.rule, time_text(r.at))
               ELSE concat_ws(' ', edited_table, edited_row)
           END
      FROM jsonb_to_record(edited_row) AS r(
               bundle text, platform text, name text, version text, release bigint, language text, key text, rule text,
               at timestamptz
           )
);

CREATE FUNCTION versiongate_internal.missing_parent(change_id bigint, edited_table text, before jsonb) RETURNS text
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    parent record;
    parent_row jsonb;
BEGIN
    SELECT t.name, e.entry, row_key(e.entry, t.key) AS key INTO parent
      FROM policy_tables() AS child
      JOIN policy_tables() AS t ON t.name = child.parent
     CROSS JOIN LATERAL jsonb_build_object(t.key[1], before -> child.parent_column) AS e(entry)
     WHERE child.name = edited_table AND before ->> child.parent_column IS NOT NULL;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    EXECUTE format(
        'SELECT to_jsonb(t) FROM public.%I AS t WHERE %s', parent.name, key_condition(parent.name, '$1')
    ) INTO parent_row USING parent.key;
    IF parent_row IS NOT NULL OR EXISTS (
        SELECT FROM change_rows AS own
         WHERE own.change = change_id AND own.table_name = parent.name AND own.key = parent.key
           AND own.before IS NOT NULL
    ) THEN
        RETURN NULL;
    END IF;
    RETURN format(
        'belongs to %s, %s', row_name(parent.name, parent.entry), last_move(change_id, parent.name, parent.key)
    );
END
$$;

-- Steps are in the way of a rule that is to have a percentage, too.
CREATE FUNCTION versiongate_internal.later_children(
    change_id bigint, edited_table text, before jsonb, after jsonb, now jsonb
) RETURNS text
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    child record;
    below record;
    reasons text[] := '{}';
BEGIN
    FOR child IN
        SELECT t.*, parent.key[1] AS parent_key
          FROM policy_tables() AS t
          JOIN policy_tables() AS parent ON parent.name = t.parent
         WHERE t.parent = edited_table
           AND (
               before IS NULL
               OR t.name = 'rollout_steps' AND before -> 'rollout' <> after -> 'rollout' AND before -> 'rollout' <> '0'
           )
         ORDER BY t.place
    LOOP
        EXECUTE format(
            'SELECT row_key(to_jsonb(t), $3) AS key, to_jsonb(t) AS entry,'
            ' count(*) OVER () AS number'
            ' FROM public.%1$I AS t'
            ' WHERE t.%2$I = (jsonb_populate_record(NULL::public.%1$I, jsonb_build_object(%2$L, $1))).%2$I'
            ' AND NOT EXISTS ('
            ' SELECT FROM change_rows AS own WHERE own.change = $2 AND own.table_name = %1$L'
            ' AND own.key = row_key(to_jsonb(t), $3) AND own.after IS NOT NULL)'
            ' ORDER BY 1 LIMIT 1',
            child.name, child.parent_column
        ) INTO below USING now ->> child.parent_key, change_id, child.key;
        IF below.key IS NOT NULL THEN
            reasons := reasons || format(
                'change %s added %s%s',
                (
                    SELECT max(c.change) FROM change_rows AS c
                     WHERE c.table_name = child.name AND c.key = below.key AND c.change > change_id
                ),
                row_name(child.name, below.entry),
                CASE WHEN below.number > 1 THEN format(' and %s more', below.number - 1) ELSE '' END
            );
        END IF;
    END LOOP;
    RETURN nullif(array_to_string(reasons, '; '), '');
END
$$;

CREATE FUNCTION versiongate_internal.undo_conflicts(change_id bigint) RETURNS text[]
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    policy_table record;
    edit record;
    columns text[];
    reason text;
    reasons text[] := '{}';
BEGIN
    FOR policy_table IN SELECT * FROM policy_tables() AS t ORDER BY t.place LOOP
        FOR edit IN EXECUTE format(
            'SELECT c.key, c.before, c.after, to_jsonb(t) AS now'
            ' FROM change_rows AS c LEFT JOIN public.%I AS t ON %s WHERE c.change = $1 AND c.table_name = $2'
            ' ORDER BY c.ordinal',
            policy_table.name, key_condition(policy_table.name, 'c.key')
        ) USING change_id, policy_table.name LOOP
            -- The row as the change left it, and the place of one that comes back.
            columns := ARRAY(
                SELECT name
                  FROM unnest(changed_columns(edit.before, edit.after)) AS name
                 WHERE edit.now -> name IS DISTINCT FROM edit.after -> name
            );
            reason := CASE
                WHEN (edit.now IS NULL) <> (edit.after IS NULL) THEN last_move(change_id, policy_table.name, edit.key)
                WHEN columns <> '{}' THEN last_settings(change_id, policy_table.name, edit.key, columns)
                ELSE coalesce(
                    missing_parent(change_id, policy_table.name, edit.before),
                    later_children(change_id, policy_table.name, edit.before, edit.after, edit.now)
                )
            END;
            IF reason IS NOT NULL THEN
                reasons := reasons || format(
                    '%s: %s', row_name(policy_table.name, coalesce(edit.after, edit.before)), reason
                );
            END IF;
        END LOOP;
    END LOOP;
    RETURN reasons;
END
$$;

CREATE FUNCTION versiongate_internal.refuse_undo_in_conflict(change_id bigint) RETURNS void
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    reasons CONSTANT text[] := undo_conflicts(change_id);
BEGIN
    IF reasons <> '{}' THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = format('change %s cannot be undone: later changes are in the way', change_id),
            DETAIL = name_list(reasons, E'\n'),
            HINT = 'Undo the later changes first, or edit the rows by hand.',
            DATATYPE = jsonb_build_object(
                'command', 'Undo the later changes first, the newest of them first. Or bring back the whole policy as it stood'
                    ' before, whoever changed it since: `undo --to {change}`',
                'words', jsonb_build_object('change', (change_id - 1)::text)
            );
    END IF;
END
$$;

-- The columns are those that a change has written, and that are still there.
CREATE FUNCTION versiongate_internal.undo_rows(change_id bigint) RETURNS void
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    step record;
BEGIN
    -- First goes what nothing refers to; then parents come back before their children; at last parents go, which have
    -- no children left.
    FOR step IN
        WITH policy AS (
            SELECT t.name, t.place,
                   EXISTS (SELECT FROM policy_tables() AS c WHERE c.parent = t.name) AS is_parent
              FROM policy_tables() AS t
        ), written AS (
            SELECT a.attrelid,
                   string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FILTER (WHERE w.is_updated) AS updated,
                   string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FILTER (WHERE w.is_deleted) AS deleted
              FROM (
                  SELECT c.table_name, changed.name, bool_or(c.before IS NOT NULL AND c.after IS NOT NULL) AS is_updated,
                         bool_or(c.after IS NULL) AS is_deleted
                    FROM change_rows AS c
                   CROSS JOIN LATERAL (
                       SELECT unnest(changed_columns(c.before, c.after)) WHERE c.after IS NOT NULL
                        UNION ALL
                       SELECT jsonb_object_keys(c.before) WHERE c.after IS NULL
                   ) AS changed(name)
                   WHERE c.change = change_id AND c.before IS NOT NULL
                   GROUP BY c.table_name, changed.name
              ) AS w
              JOIN pg_attribute AS a
                ON a.attrelid = format('public.%I', w.table_name)::regclass AND a.attname = w.name AND NOT a.attisdropped
             GROUP BY a.attrelid
        )
        SELECT 1 AS phase, p.name, p.place, NULL AS updated, NULL AS deleted FROM policy AS p WHERE NOT is_parent
         UNION ALL
        SELECT 2, p.name, p.place, w.updated, w.deleted
          FROM policy AS p
          JOIN written AS w ON w.attrelid = format('public.%I', p.name)::regclass
         UNION ALL
        SELECT 3, p.name, -p.place, NULL, NULL FROM policy AS p WHERE is_parent
         ORDER BY 1, 3
    LOOP
        IF step.phase <> 2 THEN
            EXECUTE format(
                'DELETE FROM public.%1$I AS t USING change_rows AS c'
                ' WHERE c.change = $1 AND c.table_name = %1$L AND c.before IS NULL AND %2$s',
                step.name, key_condition(step.name, 'c.key')
            ) USING change_id;
        END IF;
        IF step.updated IS NOT NULL THEN
            EXECUTE format(
                'UPDATE public.%1$I AS t SET (%2$s) = ('
                '    SELECT %2$s FROM jsonb_populate_record(NULL::public.%1$I, to_jsonb(t) || w.wanted)'
                ' ) FROM ('
                '    SELECT c.key, row_columns('
                '               c.before, changed_columns(c.before, c.after)'
                '           ) AS wanted'
                '      FROM change_rows AS c'
                '     WHERE c.change = $1 AND c.table_name = %1$L AND c.before IS NOT NULL AND c.after IS NOT NULL'
                ' ) AS w'
                ' WHERE %3$s',
                step.name, step.updated, key_condition(step.name, 'w.key')
            ) USING change_id;
        END IF;
        IF step.deleted IS NOT NULL THEN
            EXECUTE format(
                'INSERT INTO public.%1$I (%2$s) OVERRIDING SYSTEM VALUE'
                ' SELECT %2$s FROM ('
                '    SELECT r.* FROM change_rows AS c, jsonb_populate_record(NULL::public.%1$I, c.before) AS r'
                '     WHERE c.change = $1 AND c.table_name = %1$L AND c.after IS NULL ORDER BY c.ordinal'
                ' ) AS deleted',
                step.name, step.deleted
            ) USING change_id;
        END IF;
    END LOOP;
    SET CONSTRAINTS
        store_links_pkey, feed_templates_pkey, release_notes_pkey, release_notes_language_key, rule_texts_pkey,
        rule_texts_language_key, rollout_steps_pkey
        IMMEDIATE;
END
$$;

CREATE FUNCTION undo_change(id bigint) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = versiongate_internal, public, pg_temp
    SET TimeZone = 'UTC' SET IntervalStyle = 'postgres'
AS $$
DECLARE
    policy_table record;
    undone bigint;
BEGIN
    PERFORM FROM changes AS c WHERE c.id = undo_change.id;
    IF NOT FOUND THEN
        RAISE no_data_found USING
            MESSAGE = format('there is no change %s', coalesce(id::text, 'NULL')),
            HINT = 'The changes are listed by: SELECT * FROM changes ORDER BY id DESC;',
            DATATYPE = '{"command": "The changes: `history`"}';
    END IF;
    PERFORM FROM noted_edits();
    IF FOUND OR open_revision() IS NOT NULL THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = format('change %s cannot be undone in a transaction that has already edited', id),
            DETAIL = 'The history says of an undo which change it undoes, so it is all that its transaction does.',
            HINT = 'COMMIT, then undo; to undo several changes, COMMIT after each.';
    END IF;
    -- In the order in which all that edits several rows locks them: by table and key. So no two wait for each other. What
    -- comes back needs the row that it belongs to.
    FOR policy_table IN
        SELECT t.name, t.key[1] AS parent_key, (SELECT string_agg('t.' || k, ', ') FROM unnest(t.key) AS k) AS key
          FROM policy_tables() AS t
         ORDER BY t.place
    LOOP
        EXECUTE format(
            'SELECT FROM ('
            '    SELECT c.key FROM change_rows AS c WHERE c.change = $1 AND c.table_name = %1$L'
            '     UNION'
            '    SELECT row_key('
            '               jsonb_build_object(%4$L, c.before -> child.parent_column), ARRAY[%4$L]'
            '           )'
            '      FROM change_rows AS c'
            '      JOIN policy_tables() AS child ON child.name = c.table_name'
            '     WHERE c.change = $1 AND c.after IS NULL AND child.parent = %1$L'
            ' ) AS c JOIN public.%1$I AS t ON %2$s ORDER BY %3$s FOR NO KEY UPDATE OF t',
            policy_table.name, key_condition(policy_table.name, 'c.key'::text), policy_table.key,
            policy_table.parent_key
        ) USING id;
    END LOOP;
    PERFORM refuse_undo_in_conflict(id);

    -- Recorded when the whole is done.
    SET CONSTRAINTS record_edits DEFERRED;
    INSERT INTO edits_to_record AS e (undoes) VALUES (undo_change.id)
        ON CONFLICT (xid, at) DO UPDATE SET undoes = excluded.undoes;
    BEGIN
        PERFORM undo_rows(id);
    EXCEPTION
        WHEN unique_violation OR exclusion_violation OR foreign_key_violation THEN
            -- Somebody else committed in between: what they did can be seen now.
            PERFORM refuse_undo_in_conflict(id);
            RAISE;
    END;
    SELECT count(*) INTO undone FROM noted_edits();
    UPDATE edits_to_record AS e
       SET undoes = CASE WHEN undone > 0 THEN e.undoes END, is_closed = undone > 0
     WHERE e.xid = pg_current_xact_id() AND e.at = now();
    RETURN undone;
END
$$;
COMMENT ON FUNCTION undo_change(bigint) IS
    'Takes a change back, and returns how many rows it was. Refused where a later change has set the same columns, or put'
    ' something below a row that would go. It is a change itself, recorded at the commit, and can be undone likewise;'
    ' nothing else is edited in its transaction. A lockout comes back as it was, with a warning where it has no release to'
    ' go to any more.';

REVOKE ALL ON FUNCTION undo_change(bigint) FROM PUBLIC;
