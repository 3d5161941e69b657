-- What is refused though each row is right by itself.
--
-- record_noted_edits (0007) asks the guards, and no trigger does, which a session could have judge before its time; and
-- again with the row of policy_revision held where another transaction has edited what they read. A guard tells what it
-- refuses, or null; the first is raised.

SET LOCAL search_path = public, versiongate_internal, pg_temp;

-- What a guard refuses, as refuse() is told it.
CREATE TYPE versiongate_internal.refusal AS (
    place text, message text, hint text, detail text, constraint_name text, row_key jsonb, command text, file text
);

CREATE FUNCTION versiongate_internal.lockout_refusal(rule rules) RETURNS versiongate_internal.refusal
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    place CONSTANT text := concat(' of ' || rule.bundle, ' on ' || array_to_string(rule.platforms, ', '));
    command text :=
        'If you mean one version only, name it: --versions 1.1.3. Or first record the release that users should get (it'
        ' may be staged or in the future): `release add BUNDLE VERSION --platform PLATFORM`. Or leave the rule'
        ' disabled.';
    store text[];
    unbuilt text[];
    newest text;
    hint text;
    detail text;
BEGIN
    SELECT array_agg(DISTINCT r.version || coalesce(' (' || r.build || ')', '')),
           array_agg(DISTINCT r.version) FILTER (WHERE r.build IS NULL),
           (array_agg(r.version ORDER BY version_key(r.version) DESC) FILTER (WHERE r.build IS NULL))[1]
      INTO store, unbuilt, newest
      FROM releases AS r
     WHERE (rule.bundle IS NULL OR r.bundle = rule.bundle) AND (rule.platforms IS NULL OR r.platform = ANY (rule.platforms))
       AND NOT is_withdrawn(r, clock_timestamp());
    IF store IS NULL THEN
        detail := format('No release%s is recorded except withdrawn ones.', place);
        hint := 'Add the release they are to get, before or in the same transaction; staged and future ones count.';
    ELSIF rule.builds IS NOT NULL AND unbuilt IS NOT NULL THEN
        command :=
            'Say which version has the build: --versions 1.1.3. Or record the builds of the releases that users are to'
            ' get: `release edit BUNDLE VERSION --platform PLATFORM --set-build BUILD`.';
        detail := format(
            'These releases%s have no build recorded, so the rule may be about them: %s.%s', place, name_list(unbuilt),
            CASE WHEN cardinality(store) > cardinality(unbuilt) THEN ' It matches the others.' ELSE '' END
        );
        hint := format(
            'Say in versions which version has these builds; or record the builds of the releases they are to get:'
            ' UPDATE releases SET build = ''...'' WHERE bundle = %L AND version = %L;',
            coalesce(rule.bundle, '...'), newest
        );
    ELSE
        detail := format('The rule matches every release%s that is not withdrawn: %s.', place, name_list(store));
        hint := 'Leave the release they are to get out of the rule (versions, builds, target), or add it, before or in'
            ' the same transaction; staged and future ones count.';
    END IF;
    RETURN (
        'rules.lockout', quoted(rule.key) || ' would lock out clients that have nothing to update to',
        hint || ' lockout_without_update is for maintenance and for the end of a platform alone: it locks out people'
            ' who can do nothing about it.',
        detail, 'rules_lockout_guard', jsonb_build_object('key', rule.key),
        command || ' Only for maintenance or the end of a platform, where users are meant to have no way on:'
            ' --lockout-without-update.',
        NULL
    )::refusal;
END
$$;

CREATE FUNCTION versiongate_internal.guard_lockouts(edits row_edit[], undone bigint, OUT fault refusal)
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
    SET enable_nestloop = off SET jit = off
AS $$
DECLARE
    -- An edit of these has a lockout judged.
    guarded CONSTANT text[] := '{enabled,lockout,lockout_without_update,bundle,platforms,versions,builds,target}';
    edited CONSTANT rules[] := ARRAY(
        SELECT r
          FROM unnest(edits) AS e
          JOIN rules AS r ON r.key = e.after ->> 'key' AND r.enabled AND r.lockout AND NOT r.lockout_without_update
         WHERE e.table_name = 'rules'
           AND (
               row_columns(e.after, guarded) - 'bundle' IS DISTINCT FROM row_columns(e.before, guarded) - 'bundle'
               OR lower(e.after ->> 'bundle') IS DISTINCT FROM lower(e.before ->> 'bundle')
           )
    );
BEGIN
    SELECT INTO fault
           refused.*
      FROM (
          SELECT (j.rule).*
            FROM read_rules(edited) AS j
           WHERE NOT EXISTS (
                     SELECT FROM releases AS r
                      WHERE ((j.rule).bundle IS NULL OR r.bundle = (j.rule).bundle)
                        AND ((j.rule).platforms IS NULL OR r.platform = ANY ((j.rule).platforms))
                        AND NOT is_withdrawn(r, clock_timestamp())
                        AND NOT rule_matches_release(
                            j.versions, j.builds, j.target, version_key(r.version), version_key(r.build)
                        )
                 )
      ) AS closed
     CROSS JOIN LATERAL lockout_refusal(closed::rules) AS refused
     -- What an undo brings back is warned of as any gap is.
     WHERE NOT EXISTS (
               SELECT FROM change_rows AS c
                WHERE c.change = undone AND c.table_name = 'rules' AND c.key = jsonb_build_object('key', closed.key)
                  AND row_columns(c.before, guarded) = row_columns(to_jsonb(closed), guarded)
           )
     ORDER BY closed.key
     LIMIT 1;
END
$$;

-- Rows of a table as they were before edits, together with all others that were edited, and that are gone.
CREATE FUNCTION versiongate_internal.rows_before(present anyarray, edited_table text, edits row_edit[]) RETURNS anyarray
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    IF edited_table NOT IN (SELECT e.table_name FROM unnest(edits) AS e) THEN
        RETURN present;
    END IF;
    RETURN ARRAY(
        SELECT p FROM unnest(present) AS p
        EXCEPT ALL
        SELECT jsonb_populate_record(present[0], e.after) FROM unnest(edits) AS e WHERE e.table_name = edited_table
    ) || ARRAY(
        SELECT jsonb_populate_record(present[0], e.before)
          FROM unnest(edits) AS e
         WHERE e.table_name = edited_table AND e.before IS NOT NULL
    );
END
$$;

-- The percentages in force of edited rules that were there before, now and from each step on: before the edits and
-- after.
CREATE FUNCTION versiongate_internal.edited_shares(edits row_edit[])
    RETURNS TABLE (key text, at timestamptz, share_before numeric, share numeric)
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    present CONSTANT rules[] := ARRAY(
        SELECT r FROM rules AS r
         WHERE r.key IN (
             SELECT coalesce(e.key ->> 'key', e.key ->> 'rule')
               FROM unnest(edits) AS e
              WHERE e.table_name IN ('rules', 'rollout_steps')
         )
    );
    steps CONSTANT rollout_steps[] := ARRAY(
        SELECT s FROM rollout_steps AS s WHERE s.rule IN (SELECT r.key FROM unnest(present) AS r)
    );
    steps_before CONSTANT rollout_steps[] := rows_before(steps, 'rollout_steps', edits);
BEGIN
    -- Steps never fall, so the greatest of those that have come is in force.
    RETURN QUERY
    SELECT r.key, moment.at,
           coalesce(max(s.rollout) FILTER (WHERE s.is_before AND s.at <= least(moment.at, b.held_at)), b.rollout),
           coalesce(max(s.rollout) FILTER (WHERE NOT s.is_before AND s.at <= least(moment.at, r.held_at)), r.rollout)
      FROM unnest(present) AS r
      JOIN unnest(rows_before(present, 'rules', edits)) AS b ON b.key = r.key
      JOIN (
          SELECT r.key, now() FROM unnest(present) AS r
           UNION
          SELECT s.rule, s.at FROM unnest(steps || steps_before) AS s WHERE s.at > now()
      ) AS moment(key, at) ON moment.key = r.key
      LEFT JOIN (
          SELECT s.rule, s.at, s.rollout, false FROM unnest(steps) AS s
           UNION ALL
          SELECT s.rule, s.at, s.rollout, true FROM unnest(steps_before) AS s
      ) AS s(rule, at, rollout, is_before) ON s.rule = r.key
     GROUP BY r.key, moment.at, b.rollout, r.rollout;
END
$$;

CREATE FUNCTION versiongate_internal.guard_holds(keys text[], OUT fault refusal)
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    SELECT INTO fault
           'rules.held_at', quoted(r.key) || ' has no steps to hold',
           'Leave held_at out, or set it to NULL in the same transaction. To reach fewer installs, set rollout; to'
           ' reach nobody, set enabled to false.',
           NULL, 'rules_held_at_guard', jsonb_build_object('key', r.key),
           'To reach fewer installs: `rule rollout {key} PERCENT`; to reach nobody: `rule disable {key}`',
           'Give it steps, or take held_at out of the file.'
      FROM rules AS r
     WHERE r.key = ANY (keys) AND r.held_at IS NOT NULL
       AND NOT EXISTS (SELECT FROM rollout_steps AS s WHERE s.rule = r.key)
     ORDER BY r.key
     LIMIT 1;
END
$$;

-- Rules with steps that a hold kept back and that no edit of this transaction moved: they would begin all at once.
CREATE FUNCTION versiongate_internal.skipped_holds(edits row_edit[]) RETURNS TABLE (key text, share numeric)
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT DISTINCT r.key::text, trim_scale(rollout_at(r.key, now()))
      FROM unnest(edits) AS edited
     CROSS JOIN LATERAL (SELECT (edited.before ->> 'held_at')::timestamptz) AS hold(since)
      JOIN rules AS r
        ON edited.table_name = 'rules' AND r.key = edited.key ->> 'key'
       AND edited.before ->> 'held_at' IS DISTINCT FROM edited.after ->> 'held_at'
      JOIN rollout_steps AS s ON s.rule = r.key AND s.at > hold.since AND s.at <= least(now(), r.held_at)
     WHERE s.rollout > coalesce(
               (SELECT max(b.rollout) FROM rollout_steps AS b WHERE b.rule = r.key AND b.at <= hold.since), 0
           )
       AND NOT EXISTS (
           SELECT FROM unnest(edits) AS moved
            WHERE moved.table_name = 'rollout_steps'
              AND moved.key = jsonb_build_object('rule', r.key, 'at', to_jsonb(s) -> 'at')
       )
     ORDER BY 1
     LIMIT 1;
END
$$;

CREATE FUNCTION versiongate_internal.guard_skipped_holds(edits row_edit[], undone bigint, OUT fault refusal)
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    SELECT INTO fault
           'rules.held_at', format('%s would reach %s %% of installs at once', quoted(s.key), s.share),
           format(
               'To go on with the step that comes next: SELECT * FROM resume_rule(%L); To set a share: DELETE FROM'
               ' rollout_steps WHERE rule = %1$L; UPDATE rules SET rollout = ..., held_at = NULL WHERE key = %1$L;',
               s.key
           ),
           'The steps that were held back would all begin at once.',
           'rules_hold_guard', jsonb_build_object('key', s.key),
           'To go on with the step that comes next: `rule resume {key}`; for another share:'
           ' `rule rollout {key} PERCENT`',
           NULL
      FROM skipped_holds(edits) AS s
     WHERE undone IS NULL;
END
$$;

-- What an undo brings back is not refused.
CREATE FUNCTION versiongate_internal.skipped_hold_warnings(edits row_edit[]) RETURNS SETOF warning
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT 'rules.held_at', 'rules_hold_skipped',
           format(
               'rule %s reaches %s %% of installs at once: the steps that were held back have begun', quoted(s.key),
               s.share
           ),
           'A hold that ends by resume_rule goes on with the step that comes next.',
           'A hold that ends by `rule resume {rule}` goes on with the step that comes next.',
           jsonb_build_object('rule', s.key)
      FROM skipped_holds(edits) AS s;
END
$$;

CREATE FUNCTION versiongate_internal.guard_rollouts(keys text[], OUT fault refusal)
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    SELECT INTO fault
           'rules.rollout', quoted(r.key) || ' follows its rollout steps',
           format('Delete the steps in the same transaction: DELETE FROM rollout_steps WHERE rule = %L;', r.key),
           format('Steps: %s. Beside them its own percentage is 0.', count(*)), 'rules_rollout_guard',
           jsonb_build_object('key', r.key),
           'Replace the steps: `rule rollout {key} PERCENT`, or `rule ramp {key} PERCENT@TIME...`', NULL
      FROM rules AS r
      JOIN rollout_steps AS s ON s.rule = r.key
     WHERE r.key = ANY (keys) AND r.rollout <> 0
     GROUP BY r.key
     ORDER BY r.key
     LIMIT 1;
    IF FOUND THEN
        RETURN;
    END IF;
    SELECT INTO fault
           'rollout_steps.rollout', format('the steps of %s go down', quoted(step.rule)),
           'A ramp only goes up. To take a rule back, delete its steps and set rollout.',
           format(
               'At %s the rollout would go from %s %% to %s %%.', time_text(step.at), step.rollout_before, step.rollout
           ),
           'rollout_steps_rollout_guard', jsonb_build_object('rule', step.rule),
           'A ramp only goes up. To take the rule back: `rule rollout {rule} PERCENT`', NULL
      FROM (
          SELECT s.rule, s.at, s.rollout, lag(s.rollout) OVER (PARTITION BY s.rule ORDER BY s.at) AS rollout_before
            FROM rollout_steps AS s
           WHERE s.rule = ANY (keys)
      ) AS step
     WHERE step.rollout < step.rollout_before
     ORDER BY step.rule, step.at
     LIMIT 1;
END
$$;

-- Consent.

-- Whether a rule is an enabled lockout that is for every app, or for clients without a way out and has no end within
-- seven days.
CREATE FUNCTION versiongate_internal.needs_consent(rule rules) RETURNS boolean
    LANGUAGE sql STABLE
RETURN rule.enabled AND rule.lockout AND (rule.ends_at IS NULL OR rule.ends_at > now()) AND (
    rule.bundle IS NULL
    OR rule.lockout_without_update AND (rule.ends_at IS NULL OR rule.ends_at > now() + interval '7 days')
);

-- Whether a rule may reach clients that it did not reach before, its percentage aside. A condition that is added, a
-- shorter list, a later start and an earlier end narrow it; any other edit of them counts as wider.
CREATE FUNCTION versiongate_internal.reaches_more(rule rules, rule_before rules) RETURNS boolean
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    -- What is compared by itself, or says nothing of whom a rule reaches. Every other column is a condition.
    others CONSTANT text[] := silent_columns() ||
        '{key,bundle,enabled,position,platforms,regions,languages,rollout,held_at,starts_at,ends_at,lockout,'
        'lockout_without_update,final}'::text[];
BEGIN
    RETURN (rule.lockout_without_update AND NOT rule_before.lockout_without_update
        OR rule_before.bundle IS NOT NULL AND lower(rule.bundle) IS DISTINCT FROM lower(rule_before.bundle)
        OR rule_before.platforms IS NOT NULL AND (rule.platforms <@ rule_before.platforms) IS NOT TRUE
        OR rule_before.regions IS NOT NULL AND (rule.regions <@ rule_before.regions) IS NOT TRUE
        OR rule_before.languages IS NOT NULL AND (rule.languages <@ rule_before.languages) IS NOT TRUE
        OR rule_before.starts_at > now() AND (rule.starts_at >= rule_before.starts_at) IS NOT TRUE
        OR rule_before.ends_at IS NOT NULL AND (rule.ends_at <= rule_before.ends_at) IS NOT TRUE
        OR EXISTS (
            SELECT FROM jsonb_each(to_jsonb(rule_before) - others) AS condition
             WHERE condition.value <> 'null' AND to_jsonb(rule) -> condition.key <> condition.value
        )) IS TRUE;
END
$$;

CREATE FUNCTION versiongate_internal.guard_consent(edits row_edit[], undone bigint, keys text[], OUT fault refusal)
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    given CONSTANT text[] := string_to_array(
        regexp_replace(current_setting('versiongate.consent', true), '[[:space:]]', '', 'g'), ','
    );
    -- All but what says whom a rule reaches, and when.
    ignored_columns CONSTANT text[] := silent_columns() || '{position,final}'::text[];
BEGIN
    SELECT INTO fault
           'rules.lockout', name_list(array_agg(asked.fault ORDER BY asked.key), '; '),
           format(
               'If that is meant, say so in the same transaction: SET LOCAL versiongate.consent = %1$L; Where each'
               ' statement is a separate transaction: SELECT set_config(''versiongate.consent'', %1$L, false); If it is'
               ' not meant, set bundle, and ends_at to a time within seven days.',
               string_agg(asked.key, ',' ORDER BY asked.key)
           ),
           'Such a lockout needs consent.', 'lockout_needs_consent',
           jsonb_build_object('key', string_agg(asked.key, ',' ORDER BY asked.key)),
           'Say that it is meant: answer the question, or give --yes. Else name an app and an end.', NULL
      FROM (
          SELECT r.key, CASE
                     WHEN r.bundle IS NULL THEN quoted(r.key) || ' would lock out clients of every app'
                     ELSE format(
                         '%s would also lock out users who have no update, %s', quoted(r.key),
                         coalesce('until ' || time_text(r.ends_at), 'and has no end')
                     )
                 END AS fault
            FROM rules AS r
            LEFT JOIN unnest(edits) AS e ON e.table_name = 'rules' AND e.key = jsonb_build_object('key', r.key)
           CROSS JOIN LATERAL jsonb_populate_record(NULL::rules, e.before) AS old
           WHERE r.key = ANY (keys)
             AND r.enabled AND r.lockout AND (r.bundle IS NULL OR r.lockout_without_update)
             AND needs_consent(r)
             AND (r.key = ANY (given)) IS NOT TRUE
             AND (
                 e.key IS NOT NULL AND (e.before IS NULL OR NOT needs_consent(old) OR reaches_more(r, old))
                 OR r.key IN (SELECT s.key FROM edited_shares(edits) AS s WHERE s.share > s.share_before)
             )
             -- What an undo brings back as it was has been consented to, or was there before.
             AND NOT coalesce(
                 (
                     SELECT c.before - ignored_columns = to_jsonb(r) - ignored_columns
                       FROM change_rows AS c
                      WHERE c.table_name = 'rules' AND c.key = jsonb_build_object('key', r.key) AND c.change = undone
                 ),
                 undone IS NOT NULL AND NOT EXISTS (
                     SELECT FROM change_rows AS c
                      WHERE c.table_name = 'rules' AND c.key = jsonb_build_object('key', r.key) AND c.change > undone
                        AND c.before - ignored_columns IS DISTINCT FROM c.after - ignored_columns
                 )
             )
      ) AS asked
    HAVING count(*) > 0;
END
$$;

CREATE FUNCTION versiongate_internal.guard_enabled_rules(keys text[], OUT fault refusal)
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    most CONSTANT bigint := 1000;
BEGIN
    SELECT INTO fault
           'rules.enabled',
           format('%s enabled rules %s are too many', count(*), coalesce('of ' || r.bundle, 'for every app')),
           format('Disable those that are not needed any more: at most %s of an app are enabled at a time.', most),
           'Each check asks all enabled rules of its app, and those for every app.',
           'rules_enabled_guard', jsonb_build_object('bundle', r.bundle),
           'Disable those that are not needed any more: `rule disable KEY`', NULL
      FROM (SELECT DISTINCT e.bundle FROM rules AS e WHERE e.key = ANY (keys) AND e.enabled) AS edited
      JOIN rules AS r ON r.enabled AND (r.bundle = edited.bundle OR r.bundle IS NULL AND edited.bundle IS NULL)
     GROUP BY r.bundle
    HAVING count(*) > most
     ORDER BY r.bundle
     LIMIT 1;
END
$$;

-- No unique index: whoever swaps two numbers is not to mind the order.
CREATE FUNCTION versiongate_internal.guard_store_ids(bundles text[], OUT fault refusal)
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    SELECT INTO fault
           'apps.store_id', format('%s is the number of another app', edited.store_id),
           'A look-up by number is to find one app. Take it from the other app first, or leave it out here.',
           format('%s has it, so %s cannot.', other.bundle, edited.bundle), 'apps_store_id_guard',
           jsonb_build_object('bundle', edited.bundle), NULL, NULL
      FROM apps AS edited
      JOIN apps AS other ON other.store_id = edited.store_id AND other.bundle <> edited.bundle
     WHERE edited.bundle = ANY (bundles) AND edited.store_id IS NOT NULL
     ORDER BY edited.bundle, other.bundle
     LIMIT 1;
END
$$;

-- A version has one spelling on a platform and build, and no row twice.
CREATE FUNCTION versiongate_internal.guard_release_versions(ids bigint[], OUT fault refusal)
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    SELECT INTO fault
           'releases.version',
           CASE
               WHEN is_there THEN quoted(edited.version) || ' is already there, with the same values throughout'
               ELSE format('%s is %s in another spelling', quoted(edited.version), quoted(other.version))
           END,
           CASE
               WHEN is_there THEN 'Leave it out, or edit the row that is there. A version may have several rows'
               ELSE 'Spell a version in one way, as the store does. It may have several rows'
           END || ' with different regions and times.',
           format(
               '%s %s release %s on %s%s.', edited.bundle, CASE WHEN is_there THEN 'has that' ELSE 'already has a' END,
               other.version, other.platform, coalesce(', build ' || edited.build, '')
           ),
           CASE WHEN is_there THEN 'releases_duplicate_guard' ELSE 'releases_version_guard' END,
           row_columns(to_jsonb(edited), '{bundle,platform,version,build}'), NULL, NULL
      FROM releases AS edited
      JOIN releases AS other
        ON other.bundle = edited.bundle
       AND other.platform = edited.platform
       AND version_key(other.version) = version_key(edited.version)
       AND version_key(other.build) IS NOT DISTINCT FROM version_key(edited.build)
       AND other.id <> edited.id
     CROSS JOIN LATERAL (SELECT other.version = edited.version) AS same(is_there)
     WHERE edited.id = ANY (ids)
       AND (
           NOT is_there
           OR (other.build, other.min_os, other.regions, other.live_at, other.staged, other.withdrawn_at)
               IS NOT DISTINCT FROM (
                   edited.build, edited.min_os, edited.regions, edited.live_at, edited.staged, edited.withdrawn_at
               )
       )
     ORDER BY is_there, edited.id, other.id
     LIMIT 1;
END
$$;

CREATE FUNCTION versiongate_internal.guard_placeholders(keys text[], OUT fault refusal)
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    SELECT INTO fault
           CASE WHEN strpos(t.title, lacking.placeholder) > 0 THEN 'rule_texts.title' ELSE 'rule_texts.text' END,
           format('%s in a rule without %s', lacking.placeholder, lacking.article || ' ' || lacking.what),
           format('Set the %s of the rule, or take %s out of the translation.', lacking.what, lacking.placeholder),
           format('It is the translation of %s into %s.', quoted(t.rule), t.language),
           'rule_texts_placeholder_guard', jsonb_build_object('rule', t.rule, 'language', t.language),
           format('Give --%s, or take %s out.', replace(lacking.name, '_', '-'), lacking.placeholder),
           format('Set %s, or take %s out.', lacking.name, lacking.placeholder)
      FROM rule_texts AS t
      JOIN rules AS r ON r.key = t.rule
     CROSS JOIN LATERAL (
         VALUES ('{target}', 'a', 'target', 'target', r.target IS NULL),
                ('{date}', 'an', 'end', 'ends_at', r.ends_at IS NULL)
     ) AS lacking(placeholder, article, what, name, is_absent)
     WHERE t.rule = ANY (keys)
       AND lacking.is_absent
       AND (strpos(t.title, lacking.placeholder) > 0 OR strpos(t.text, lacking.placeholder) > 0)
     ORDER BY t.rule, t.language, lacking.placeholder
     LIMIT 1;
END
$$;

CREATE FUNCTION versiongate_internal.validate_edits(edits row_edit[], undone bigint) RETURNS void
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    rule_keys CONSTANT text[] := ARRAY(
        SELECT DISTINCT coalesce(e.key ->> 'key', e.key ->> 'rule')
          FROM unnest(edits) AS e
         WHERE e.table_name IN ('rules', 'rollout_steps', 'rule_texts')
    );
    bundles CONSTANT text[] := ARRAY(SELECT e.after ->> 'bundle' FROM unnest(edits) AS e WHERE e.table_name = 'apps');
    releases CONSTANT bigint[] := ARRAY(
        SELECT (e.after ->> 'id')::bigint FROM unnest(edits) AS e WHERE e.table_name = 'releases'
    );
    faults refusal[];
    fault refusal;
    refused boolean;
BEGIN
    IF rule_keys <> '{}' THEN
        faults := ARRAY[
            guard_enabled_rules(rule_keys), guard_rollouts(rule_keys), guard_holds(rule_keys),
            guard_skipped_holds(edits, undone), guard_consent(edits, undone, rule_keys), guard_brake(edits),
            guard_placeholders(rule_keys), guard_lockouts(edits, undone)
        ];
    END IF;
    IF bundles <> '{}' THEN
        faults := faults || guard_store_ids(bundles);
    END IF;
    IF releases <> '{}' THEN
        faults := faults || guard_release_versions(releases);
    END IF;
    FOREACH fault IN ARRAY coalesce(faults, '{}') LOOP
        refused := fault.place IS NOT NULL AND refuse(
            fault.place, fault.message, fault.hint, fault.detail, fault.constraint_name, fault.row_key, fault.command,
            fault.file
        );
    END LOOP;
END
$$;
