-- SPDX-License-Identifier: Apache-2.0
-- Copyright the versiongate authors
--
-- What is refused though each row is right by itself.
--
-- The guards are no triggers of their own, which a session could have judge before its time: record_notes (0005) asks
-- them, and again with the row of policy_revision held where another transaction has edited what they read. They read
-- the rows as they are then, and what this transaction has recorded for what they were. Mostly that is at the commit; where
-- constraints are immediate it is after each statement, and every edit that could have made an earlier one wrong has the
-- earlier one judged again.

SET LOCAL search_path = public, pg_temp;

-- Whether a rule, asked with a release's version and build in place of the client's, would match. A build that the
-- release does not record counts as matching.
CREATE FUNCTION rule_matches_release(
    versions version_spans, builds version_spans, target bytea, release_version bytea, release_build bytea
) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = public, pg_temp
AS $$
BEGIN
    RETURN (versions IS NULL OR versions @> release_version)
        AND (builds IS NULL OR release_build IS NULL OR builds @> release_build)
        AND (target IS NULL OR release_version < target);
END
$$;

COMMENT ON FUNCTION rule_matches_release(version_spans, version_spans, bytea, bytea, bytea) IS
    'Whether the versions, builds and target of a rule would match a client that has this release.';

CREATE FUNCTION first_names(names text[], most integer DEFAULT 20) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = public, pg_temp
AS $$
BEGIN
    RETURN array_to_string(names[:most], ', ')
        || CASE WHEN cardinality(names) > most THEN format(' and %s more', cardinality(names) - most) ELSE '' END;
END
$$;

COMMENT ON FUNCTION first_names(text[], integer) IS 'A list for a message, cut where it gets long.';

CREATE FUNCTION refuse_lockout(rule rules) RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    versions CONSTANT version_spans := (read_version_range(rule.versions)).spans;
    target CONSTANT bytea := version_key(rule.target);
    place CONSTANT text := coalesce(' of ' || rule.bundle, '') || coalesce(' on ' || array_to_string(rule.platforms, ', '), '');
    maintenance CONSTANT text := ' lockout_without_update is for maintenance and for the end of a platform alone: it'
        ' locks out people who can do nothing about it.';
    store text[];
    unbuilt text[];
BEGIN
    SELECT array_agg(DISTINCT r.version || coalesce(' (' || r.build || ')', '')),
           array_agg(DISTINCT r.version) FILTER (WHERE r.build IS NULL)
      INTO store, unbuilt
      FROM releases AS r
     WHERE (rule.bundle IS NULL OR r.bundle = rule.bundle)
       AND (rule.platforms IS NULL OR r.platform = ANY (rule.platforms))
       AND (r.withdrawn_at IS NULL OR r.withdrawn_at > clock_timestamp());
    PERFORM refuse(
        'rules.lockout',
        format('%s would lock out clients that have nothing to update to', quoted(rule.key)),
        CASE
            WHEN store IS NULL THEN
                'Add the release they are to get, before or in the same transaction; staged and future ones count.'
            WHEN rule.builds IS NOT NULL AND unbuilt IS NOT NULL THEN
                'Say in versions which version has these builds; or record the builds of the releases they are to get:'
                || format(
                    ' UPDATE releases SET build = ''...'' WHERE bundle = %L AND version = %L;',
                    coalesce(rule.bundle, '...'), (
                        SELECT version FROM unnest(unbuilt) AS version ORDER BY version_key(version) DESC LIMIT 1
                    )
                )
            ELSE
                'Leave the release they are to get out of the rule (versions, builds, target), or add it, before or in'
                ' the same transaction; staged and future ones count.'
        END || maintenance,
        CASE
            WHEN store IS NULL THEN format('No release%s is recorded that is not withdrawn.', place)
            WHEN rule.builds IS NOT NULL AND unbuilt IS NOT NULL THEN
                format(
                    'These releases%s have no build recorded, so the rule may be about them: %s.',
                    place, first_names(unbuilt)
                )
                || CASE
                    WHEN cardinality(store) > cardinality(unbuilt) THEN ' It matches the others.'
                    ELSE ''
                END
            ELSE format('The rule matches every release%s that is not withdrawn: %s.', place, first_names(store))
        END,
        'rules_lockout_guard',
        jsonb_build_object('key', rule.key)
    );
END
$$;

COMMENT ON FUNCTION refuse_lockout(rules) IS 'Refuses a lockout that leaves nobody a way out, and says why it does.';

-- What the lockout guard looks at in a rule.
CREATE FUNCTION guarded_columns(rule jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = public, pg_temp
AS $$
BEGIN
    RETURN row_columns(rule, '{enabled,lockout,lockout_without_update,bundle,platforms,versions,builds,target}');
END
$$;

COMMENT ON FUNCTION guarded_columns(jsonb) IS 'The columns of a rule of which an edit has its lockout judged.';

-- The bundle that a rule would have now, had it only moved with its app. While a renamed app takes its rules along, its
-- own edit is still to come: then the bundle it had is known by no app.
CREATE FUNCTION bundle_after_rename(this_token uuid, old_bundle text, bundle text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = public, pg_temp
AS $$
DECLARE
    renamed record;
BEGIN
    IF old_bundle IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT c.after ->> 'bundle' AS bundle, c.after IS NULL AS is_deleted INTO renamed
      FROM recorded_rows AS c
     WHERE c.token = this_token
       AND c.table_name = 'apps'
       AND coalesce(c.old_key, c.key) = jsonb_build_object('bundle', old_bundle)
       AND c.before IS NOT NULL;
    RETURN CASE
        WHEN FOUND AND (renamed.is_deleted OR EXISTS (SELECT FROM apps AS a WHERE a.bundle = renamed.bundle))
            THEN coalesce(renamed.bundle, old_bundle)
        WHEN NOT FOUND AND EXISTS (SELECT FROM apps AS a WHERE a.bundle = old_bundle) THEN old_bundle
        ELSE bundle_after_rename.bundle
    END;
END
$$;

COMMENT ON FUNCTION bundle_after_rename(uuid, text, text) IS
    'The bundle of an app after its rename in this transaction.';

-- The lockouts of which this transaction has changed what the guard looks at, and that no release leaves open: staged and
-- future ones count. Which of them locks out nobody as things are is said by warn_of_lost_ways_out (0007).
CREATE FUNCTION guard_lockouts(this_token uuid, undone bigint, keys text[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
    SET enable_nestloop = off
    SET jit = off
AS $$
DECLARE
    closed record;
BEGIN
    FOR closed IN
        WITH edited AS MATERIALIZED (
            SELECT j.*, guarded_columns(c.after) = guarded_columns(restored.before) AS is_restored
              FROM read_rules(
                       ARRAY(
                           SELECT r FROM rules AS r
                            WHERE r.key = ANY (keys) AND r.enabled AND r.lockout AND NOT r.lockout_without_update
                       )
                   ) AS j
              JOIN recorded_rows AS c
                ON c.table_name = 'rules' AND c.key = jsonb_build_object('key', (j.rule).key) AND c.token = this_token
              LEFT JOIN change_rows AS restored
                ON restored.table_name = 'rules' AND restored.key = c.key AND restored.change = undone
             WHERE guarded_columns(c.after) IS DISTINCT FROM guarded_columns(c.before) || jsonb_build_object(
                       'bundle', bundle_after_rename(this_token, c.before ->> 'bundle', c.after ->> 'bundle')
                   )
        )
        SELECT j.rule, j.is_restored
          FROM edited AS j
         WHERE NOT EXISTS (
                   SELECT FROM releases AS r
                    WHERE ((j.rule).bundle IS NULL OR r.bundle = (j.rule).bundle)
                      AND ((j.rule).platforms IS NULL OR r.platform = ANY ((j.rule).platforms))
                      AND (r.withdrawn_at IS NULL OR r.withdrawn_at > clock_timestamp())
                      AND NOT rule_matches_release(
                          j.versions, j.builds, j.target, version_key(r.version), version_key(r.build)
                      )
               )
         ORDER BY (j.rule).key
    LOOP
        IF closed.is_restored THEN
            RAISE WARNING USING
                MESSAGE = format(
                    'rule %s is back as it was, but has no release to go to any more', quoted((closed.rule).key)
                ),
                HINT = 'Clients get its message without the lockout, until there is a release outside the rule.';
        ELSE
            PERFORM refuse_lockout(closed.rule);
        END IF;
    END LOOP;
END
$$;

COMMENT ON FUNCTION guard_lockouts(uuid, bigint, text[]) IS
    'Refuses lockouts that this transaction turned on, or changed, and that leave nobody a way out; warns where an undo'
    ' brings back what would be refused anew.';

CREATE FUNCTION rule_was_edited(this_token uuid, rule text, columns text[]) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = public, pg_temp
AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM recorded_rows AS c
         WHERE c.table_name = 'rules'
           AND c.key = jsonb_build_object('key', rule)
           AND c.token = this_token
           AND row_columns(c.before, columns) IS DISTINCT FROM row_columns(c.after, columns)
    );
END
$$;

COMMENT ON FUNCTION rule_was_edited(uuid, text, text[]) IS 'Whether a change edits one of these columns of a rule.';

-- What a rule is warned of together with the links and releases beside it, once the edits are whole. A message that leads
-- to the store needs a store link where it is shown, and a lockout needs a link at all: without one its screen has no
-- button. For every app, and for a rule without platforms, the releases tell the platforms. Of an app without releases it
-- is not known where it is; without any link nobody sees a button.
CREATE FUNCTION link_warnings(rule rules)
    RETURNS TABLE (
        warning text, detail text, hint text, table_name text, column_name text, constraint_name text, columns text[]
    )
    LANGUAGE plpgsql STABLE ROWS 1
    SET search_path = public, pg_temp
AS $$
#variable_conflict error
DECLARE
    name CONSTANT text := quoted(rule.key);
    of_links CONSTANT text[] := '{enabled,lockout,lockout_without_update,bundle,platforms,link}';
BEGIN
    IF rule.enabled AND rule.lockout AND rule.lockout_without_update AND rule.ends_at IS NULL THEN
        RETURN QUERY
        SELECT format('rule %s locks out without an update, and has no end', name),
               format('Rule %s has no end.', rule.key),
               'Set ends_at, so that it ends by itself.',
               'rules', 'ends_at', 'rules_lockout_endless', '{enabled,lockout,lockout_without_update,ends_at}'::text[];
    END IF;
    IF rule.link IS NULL AND rule.lockout AND NOT rule.lockout_without_update THEN
        RETURN QUERY
        SELECT format('rule %s locks out and has no link, so users see no button', name),
               format('Rule %s has no link.', rule.key),
               'Set link to ''store'', or to an address.',
               'rules', 'link', 'rules_link_missing', of_links;
    ELSIF rule.link = 'store' THEN
        RETURN QUERY
        SELECT format('rule %s leads to the store, but %s has no store link', name, missing.bundle)
                   || coalesce(' for ' || missing.platform || ': users there see no button', ': users see no button'),
               format('%s has no store link for %s.', missing.bundle, coalesce(missing.platform, 'any platform')),
               format(
                   'INSERT INTO store_links (bundle, platform, link) VALUES (%L, %L, ''https://...'');',
                   missing.bundle, coalesce(missing.platform, 'ios')
               ),
               'store_links', 'link', 'store_links_missing', of_links
          FROM (
              SELECT r.bundle, r.platform
                FROM releases AS r
               WHERE (rule.bundle IS NULL OR r.bundle = rule.bundle)
                 AND (rule.platforms IS NULL OR r.platform = ANY (rule.platforms))
                 AND (r.withdrawn_at IS NULL OR r.withdrawn_at > clock_timestamp())
               UNION
              SELECT rule.bundle, p.platform FROM unnest(rule.platforms) AS p(platform) WHERE rule.bundle IS NOT NULL
               UNION
              SELECT rule.bundle, NULL
               WHERE rule.bundle IS NOT NULL AND rule.platforms IS NULL
                 AND NOT EXISTS (SELECT FROM releases AS r WHERE r.bundle = rule.bundle)
          ) AS missing
         WHERE NOT EXISTS (
                   SELECT FROM store_links AS s
                    WHERE s.bundle = missing.bundle AND (s.platform = missing.platform OR missing.platform IS NULL)
               )
         ORDER BY missing.bundle, missing.platform
         LIMIT 5;
    END IF;
END
$$;

COMMENT ON FUNCTION link_warnings(rules) IS
    'What a rule probably lacks: an end, where it locks out without an update; a link; and store links where it leads to'
    ' the store. columns: those of which an edit brings it about.';

CREATE FUNCTION warn_of_links(this_token uuid, keys text[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    missing record;
BEGIN
    FOR missing IN
        SELECT w.*
          FROM rules AS r
         CROSS JOIN LATERAL link_warnings(r) AS w
         WHERE r.key = ANY (keys) AND rule_was_edited(this_token, r.key, w.columns)
         ORDER BY r.key
         LIMIT 100
    LOOP
        RAISE WARNING USING
            MESSAGE = missing.warning, DETAIL = missing.detail, HINT = missing.hint,
            SCHEMA = 'public', TABLE = missing.table_name, COLUMN = missing.column_name,
            CONSTRAINT = missing.constraint_name;
    END LOOP;
END
$$;

COMMENT ON FUNCTION warn_of_links(uuid, text[]) IS 'Warns of what edited rules have of link_warnings.';

-- The counterpart: of lockouts that nobody edited, a release that opens them somewhere, or a store link that goes, leaves
-- the screen without a button.
CREATE FUNCTION warn_of_lost_buttons(this_token uuid, notes edited_rows[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    columns CONSTANT text[] := '{bundle,platform,withdrawn_at}';
    missing record;
BEGIN
    FOR missing IN
        SELECT place.bundle, place.platform, array_agg(quoted(r.key) ORDER BY r.key) AS rules
          FROM (
              SELECT n.after ->> 'bundle' AS bundle, n.after ->> 'platform' AS platform
                FROM unnest(notes) AS n
               WHERE n.table_name = 'releases'
                 AND n.after IS NOT NULL
                 AND row_columns(n.before, columns) IS DISTINCT FROM row_columns(n.after, columns)
               UNION
              SELECT n.before ->> 'bundle', n.before ->> 'platform'
                FROM unnest(notes) AS n
               WHERE n.table_name = 'store_links' AND n.before IS NOT NULL
          ) AS place
          JOIN rules AS r
            ON (r.bundle IS NULL OR r.bundle = place.bundle)
           AND (r.platforms IS NULL OR place.platform = ANY (r.platforms))
         WHERE r.enabled AND r.lockout AND r.link = 'store'
           AND NOT EXISTS (
               SELECT FROM recorded_rows AS c
                WHERE c.token = this_token
                  AND c.table_name = 'rules'
                  AND c.key = jsonb_build_object('key', r.key)
           )
           AND NOT EXISTS (
               SELECT FROM store_links AS s WHERE s.bundle = place.bundle AND s.platform = place.platform
           )
           AND (
               r.lockout_without_update
               OR EXISTS (
                   SELECT FROM releases AS known
                    WHERE known.bundle = place.bundle
                      AND known.platform = place.platform
                      AND (known.withdrawn_at IS NULL OR known.withdrawn_at > clock_timestamp())
               )
           )
         GROUP BY place.bundle, place.platform
         ORDER BY place.bundle, place.platform
         LIMIT 5
    LOOP
        RAISE WARNING USING
            MESSAGE = format(
                '%s has no store link for %s: users there see no button where these rules lock them out: %s',
                missing.bundle, missing.platform, first_names(missing.rules)
            ),
            DETAIL = format('%s has no store link for %s.', missing.bundle, missing.platform),
            HINT = format(
                'INSERT INTO store_links (bundle, platform, link) VALUES (%L, %L, ''https://...'');',
                missing.bundle, missing.platform
            ),
            SCHEMA = 'public', TABLE = 'store_links', COLUMN = 'link', CONSTRAINT = 'store_links_missing';
    END LOOP;
END
$$;

COMMENT ON FUNCTION warn_of_lost_buttons(uuid, edited_rows[]) IS
    'Warns of enabled lockouts that lead to the store, where these edits of releases and store links leave them no link.';

-- What edits of percentages and steps come to, now and at each step that is to come.
CREATE FUNCTION edited_shares(this_token uuid)
    RETURNS TABLE (key text, at timestamptz, share_before numeric, share numeric)
    LANGUAGE plpgsql STABLE
    SET search_path = public, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH edited AS MATERIALIZED (
        SELECT c.table_name, c.before, c.after
          FROM recorded_rows AS c
         WHERE c.token = this_token AND c.table_name IN ('rules', 'rollout_steps')
    ),
    edited_steps AS MATERIALIZED (
        SELECT s.rule, s.at, s.rollout, s.is_before
          FROM (
              SELECT (jsonb_populate_record(NULL::rollout_steps, e.before)).*, true AS is_before
                FROM edited AS e
               WHERE e.table_name = 'rollout_steps' AND e.before IS NOT NULL
               UNION ALL
              SELECT (jsonb_populate_record(NULL::rollout_steps, e.after)).*, false
                FROM edited AS e
               WHERE e.table_name = 'rollout_steps' AND e.after IS NOT NULL
          ) AS s
    ),
    edited_rules AS MATERIALIZED (
        SELECT e.after ->> 'key' AS key, e.before IS NULL AS is_new, (e.before ->> 'rollout')::numeric AS rollout
          FROM edited AS e
         WHERE e.table_name = 'rules'
    ),
    rule AS MATERIALIZED (
        SELECT r.key, coalesce(e.rollout, r.rollout) AS rollout_before, r.rollout
          FROM rules AS r
          LEFT JOIN edited_rules AS e ON e.key = r.key
         WHERE e.is_new IS NOT true
           AND (e.rollout <> r.rollout OR r.key IN (SELECT s.rule FROM edited_steps AS s))
    ),
    step AS MATERIALIZED (
        SELECT s.rule, s.at, s.rollout, false AS is_before
          FROM rule
          JOIN rollout_steps AS s ON s.rule = rule.key
         UNION ALL
        SELECT s.rule, s.at, s.rollout, true
          FROM rule
          JOIN rollout_steps AS s ON s.rule = rule.key
         WHERE (s.rule, s.at) NOT IN (SELECT e.rule, e.at FROM edited_steps AS e WHERE NOT e.is_before)
         UNION ALL
        SELECT s.rule, s.at, s.rollout, true FROM edited_steps AS s WHERE s.is_before
    ),
    -- Percentages by time, for each rule: those that held, and those that hold.
    course AS (
        SELECT s.rule,
               array_agg(DISTINCT s.at) FILTER (WHERE s.at > now()) AS moments,
               array_agg(s.at ORDER BY s.at DESC) FILTER (WHERE s.is_before) AS times_before,
               array_agg(s.rollout ORDER BY s.at DESC) FILTER (WHERE s.is_before) AS shares_before,
               array_agg(s.at ORDER BY s.at DESC) FILTER (WHERE NOT s.is_before) AS times,
               array_agg(s.rollout ORDER BY s.at DESC) FILTER (WHERE NOT s.is_before) AS shares
          FROM step AS s
         GROUP BY s.rule
    )
    SELECT rule.key,
           moment.at,
           coalesce(
               (
                   SELECT past.share
                     FROM unnest(course.times_before, course.shares_before) AS past(at, share)
                    WHERE past.at <= moment.at
                    LIMIT 1
               ),
               rule.rollout_before
           ),
           coalesce(
               (
                   SELECT past.share
                     FROM unnest(course.times, course.shares) AS past(at, share)
                    WHERE past.at <= moment.at
                    LIMIT 1
               ),
               rule.rollout
           )
      FROM rule
      LEFT JOIN course ON course.rule = rule.key
      CROSS JOIN LATERAL unnest(now() || course.moments) AS moment(at);
END
$$;

COMMENT ON FUNCTION edited_shares(uuid) IS
    'The percentages of the rules whose rollout or steps a change edits, before and after it: now, and at each step to'
    ' come.';

CREATE FUNCTION guard_rollouts(keys text[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    ramp record;
    fall record;
BEGIN
    SELECT r.key, r.rollout, count(*) AS steps INTO ramp
      FROM rules AS r
      JOIN rollout_steps AS s ON s.rule = r.key
     WHERE r.key = ANY (keys) AND r.rollout <> 0
     GROUP BY r.key
     ORDER BY r.key
     LIMIT 1;
    IF FOUND THEN
        PERFORM refuse(
            'rules.rollout',
            format('%s follows its rollout steps', quoted(ramp.key)),
            format('Delete the steps in the same transaction: DELETE FROM rollout_steps WHERE rule = %L;', ramp.key),
            format('Steps: %s. Beside them its own percentage is 0.', ramp.steps),
            'rules_rollout_guard',
            jsonb_build_object('key', ramp.key)
        );
    END IF;
    SELECT * INTO fall
      FROM (
          SELECT s.rule, s.at, s.rollout, lag(s.rollout) OVER (PARTITION BY s.rule ORDER BY s.at) AS rollout_before
            FROM rollout_steps AS s
           WHERE s.rule = ANY (keys)
      ) AS step
     WHERE step.rollout < step.rollout_before
     ORDER BY step.rule, step.at
     LIMIT 1;
    IF FOUND THEN
        PERFORM refuse(
            'rollout_steps.rollout',
            format('the steps of %s fall', quoted(fall.rule)),
            'A ramp only goes up. To take a rule back, delete its steps and set rollout.',
            format('At %s it would go from %s %% to %s %%.', time_text(fall.at), fall.rollout_before, fall.rollout),
            'rollout_steps_rollout_guard',
            jsonb_build_object('rule', fall.rule)
        );
    END IF;
END
$$;

COMMENT ON FUNCTION guard_rollouts(text[]) IS
    'Refuses a percentage of one of these rules beside its steps, and steps of which a later one is lower.';

-- Whoever writes that the rollout is 0 takes the rule back, and knows it. Beside steps it is 0 already, so the statement
-- changes nothing, and is kept here alone.
CREATE FUNCTION keep_taken_back() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    keys CONSTANT text := coalesce(current_setting('versiongate.taken_back', true), '');
BEGIN
    IF length(keys) < 10000 THEN
        PERFORM set_config('versiongate.taken_back', keys || ',' || NEW.key, true);
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION keep_taken_back() IS
    'Trigger: keeps until the end of the transaction which rules a statement takes back to 0 % that stand there.';

CREATE TRIGGER keep_taken_back AFTER UPDATE OF rollout ON rules
    FOR EACH ROW WHEN (OLD.rollout = 0 AND NEW.rollout = 0) EXECUTE FUNCTION keep_taken_back();

CREATE FUNCTION warn_of_stopped_ramps(this_token uuid) RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    stopped record;
BEGIN
    FOR stopped IN
        SELECT edited.key, edited.share_before, edited.share, next_step.at, next_step.rollout
          FROM edited_shares(this_token) AS edited
          JOIN rules AS r ON r.key = edited.key AND r.enabled AND r.rollout = 0
          LEFT JOIN LATERAL (
              SELECT s.at, s.rollout FROM rollout_steps AS s WHERE s.rule = r.key AND s.at > now() ORDER BY s.at LIMIT 1
          ) AS next_step ON true
         WHERE edited.at = now() AND edited.share < edited.share_before
           AND (
               next_step.at IS NOT NULL
               OR (edited.key = ANY (string_to_array(current_setting('versiongate.taken_back', true), ','))) IS NOT TRUE
           )
         ORDER BY edited.key
         LIMIT 20
    LOOP
        RAISE WARNING USING
            MESSAGE = format(
                'rule %s reaches %s %% of installs now, not %s %%: %s',
                quoted(stopped.key), trim_scale(stopped.share), trim_scale(stopped.share_before),
                CASE
                    WHEN stopped.at IS NULL THEN 'no other step is left'
                    ELSE format('its next step is to %s %% at %s', trim_scale(stopped.rollout), time_text(stopped.at))
                END
            ),
            DETAIL = format('Rule %s reached %s %%.', stopped.key, trim_scale(stopped.share_before)),
            HINT = CASE
                WHEN stopped.at IS NULL THEN ''
                ELSE format(
                    'To keep the steps: INSERT INTO rollout_steps VALUES (%L, now(), %s); else: DELETE FROM rollout_steps'
                    ' WHERE rule = %1$L; ', stopped.key, trim_scale(stopped.share_before)
                )
            END || format(
                'UPDATE rules SET rollout = %s WHERE key = %L;', trim_scale(stopped.share_before), stopped.key
            ),
            SCHEMA = 'public', TABLE = 'rollout_steps', COLUMN = 'at', CONSTRAINT = 'rollout_steps_stopped';
    END LOOP;
END
$$;

COMMENT ON FUNCTION warn_of_stopped_ramps(uuid) IS
    'Warns of enabled rules that reach fewer installs now, as this change left them no step in force, or a lower one,'
    ' unless it sets them to 0 by itself.';

-- Consent.

CREATE FUNCTION needs_consent(rule rules) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = public, pg_temp
AS $$
BEGIN
    RETURN rule.enabled AND rule.lockout AND (rule.ends_at IS NULL OR rule.ends_at > now()) AND (
        rule.bundle IS NULL
        OR rule.lockout_without_update AND (rule.ends_at IS NULL OR rule.ends_at > now() + interval '7 days')
    );
END
$$;

COMMENT ON FUNCTION needs_consent(rules) IS
    'Whether a rule is an enabled lockout that is for every app, or for clients without a way out and has no end within'
    ' seven days.';

CREATE FUNCTION consent_columns(rule jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = public, pg_temp
AS $$
BEGIN
    RETURN rule - '{position,title,text,link,remind,shows,skippable,final,note}'::text[];
END
$$;

COMMENT ON FUNCTION consent_columns(jsonb) IS 'The columns of a rule that say whom it reaches, and when.';

CREATE FUNCTION reaches_more(rule rules, rule_before rules, bundle_before text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = public, pg_temp
AS $$
DECLARE
    conditions CONSTANT text[] := '{versions,builds,os,attributes,target,soak}';
BEGIN
    RETURN (rule.lockout_without_update AND NOT rule_before.lockout_without_update
        OR rule_before.bundle IS NOT NULL AND rule.bundle IS DISTINCT FROM bundle_before
        OR rule_before.platforms IS NOT NULL AND (rule.platforms <@ rule_before.platforms) IS NOT TRUE
        OR rule_before.regions IS NOT NULL AND (rule.regions <@ rule_before.regions) IS NOT TRUE
        OR rule_before.languages IS NOT NULL AND (rule.languages <@ rule_before.languages) IS NOT TRUE
        OR rule_before.starts_at > now() AND (rule.starts_at >= rule_before.starts_at) IS NOT TRUE
        OR rule_before.ends_at IS NOT NULL AND (rule.ends_at <= rule_before.ends_at) IS NOT TRUE
        OR EXISTS (
            SELECT FROM unnest(conditions) AS name
             WHERE to_jsonb(rule_before) -> name <> 'null'
               AND to_jsonb(rule) -> name <> to_jsonb(rule_before) -> name
        )) IS TRUE;
END
$$;

COMMENT ON FUNCTION reaches_more(rules, rules, text) IS
    'Whether a rule may reach clients that it did not reach before, its percentage aside. A condition that is added, a'
    ' shorter list, a later start and an earlier end narrow it; any other edit of them counts as wider.';

CREATE FUNCTION guard_consent(this_token uuid, undone bigint, keys text[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    given CONSTANT text[] := string_to_array(
        regexp_replace(current_setting('versiongate.consent', true), '[[:space:]]', '', 'g'), ','
    );
    rule rules;
    edited record;
    raised text[];
    asked text[] := '{}';
    faults text[] := '{}';
    list text;
BEGIN
    FOR rule IN
        SELECT r.*
          FROM rules AS r
         WHERE r.key = ANY (keys)
           AND r.enabled AND r.lockout AND (r.bundle IS NULL OR r.lockout_without_update)
           AND needs_consent(r)
           AND (r.key = ANY (given)) IS NOT TRUE
         ORDER BY r.key
    LOOP
        raised := coalesce(
            raised, ARRAY(SELECT s.key FROM edited_shares(this_token) AS s WHERE s.share > s.share_before)
        );
        SELECT c.before, c.after INTO edited
          FROM recorded_rows AS c
         WHERE c.table_name = 'rules' AND c.key = jsonb_build_object('key', rule.key) AND c.token = this_token;
        CONTINUE WHEN NOT (
            edited.after IS NOT NULL AND (
                edited.before IS NULL
                OR NOT needs_consent(jsonb_populate_record(NULL::rules, edited.before))
                OR reaches_more(
                    rule,
                    jsonb_populate_record(NULL::rules, edited.before),
                    bundle_after_rename(this_token, edited.before ->> 'bundle', edited.after ->> 'bundle')
                )
            )
            OR rule.key = ANY (raised)
        );
        -- What an undo brings back as it was has been consented to, or was there before.
        CONTINUE WHEN undone IS NOT NULL AND coalesce(
            (
                SELECT consent_columns(c.before) = consent_columns(to_jsonb(rule))
                  FROM change_rows AS c
                 WHERE c.table_name = 'rules' AND c.key = jsonb_build_object('key', rule.key) AND c.change = undone
            ),
            NOT EXISTS (
                SELECT FROM change_rows AS c
                 WHERE c.table_name = 'rules' AND c.key = jsonb_build_object('key', rule.key) AND c.change > undone
                   AND consent_columns(c.before) IS DISTINCT FROM consent_columns(c.after)
            )
        );
        asked := asked || rule.key;
        faults := faults || CASE
            WHEN rule.bundle IS NULL THEN format('%s would lock out in every app', quoted(rule.key))
            WHEN rule.ends_at IS NULL THEN
                format('%s would lock out also who has nothing to update to, and has no end', quoted(rule.key))
            ELSE format(
                '%s would lock out also who has nothing to update to, until %s', quoted(rule.key), time_text(rule.ends_at)
            )
        END;
    END LOOP;
    IF asked <> '{}' THEN
        list := array_to_string(asked, ',');
        PERFORM refuse(
            'rules.lockout',
            array_to_string(faults[:20], '; ')
                || CASE WHEN cardinality(faults) > 20 THEN format('; and %s more', cardinality(faults) - 20) ELSE '' END,
            format(
                'If that is meant, say so in the same transaction: SET LOCAL versiongate.consent = %1$L; Where each'
                ' statement is a transaction of its own: SELECT set_config(''versiongate.consent'', %1$L, false); If it is not'
                ' meant, set bundle, and ends_at to a time within seven days.',
                list
            ),
            'Such a lockout needs consent.',
            'lockout_needs_consent',
            jsonb_build_object('key', list)
        );
    END IF;
END
$$;

COMMENT ON FUNCTION guard_consent(uuid, bigint, text[]) IS
    'Refuses to make one of these rules a lockout of everybody, or a wider one, unless the setting versiongate.consent'
    ' names it.';

CREATE FUNCTION warn_of_keys_used_again(this_token uuid, keys text[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    again record;
BEGIN
    FOR again IN
        WITH known AS MATERIALIZED (
            SELECT edited.key, r.token, r.before IS NULL AS is_added, r.after IS NULL AS is_removed
              FROM unnest(keys) AS edited(key)
             CROSS JOIN LATERAL (
                 SELECT * FROM recorded_rows AS r
                  WHERE r.table_name = 'rules' AND r.key = jsonb_build_object('key', edited.key)
                 OFFSET 0
             ) AS r
        )
        SELECT added.key, max(c.id) AS change
          FROM known AS added
          JOIN known AS removed ON removed.key = added.key AND removed.is_removed
          JOIN changes AS c ON c.token = removed.token
         WHERE added.token = this_token AND added.is_added
         GROUP BY added.key
         ORDER BY added.key
         LIMIT 20
    LOOP
        RAISE WARNING USING
            MESSAGE = format(
                'rule %s: change %s removed a rule with this key, and clients remember it', quoted(again.key), again.change
            ),
            DETAIL = format('Rule %s was there before.', again.key),
            HINT = 'Who has skipped that message, or seen it often enough, does not see this one. For another message, take'
                ' another key.',
            SCHEMA = 'public', TABLE = 'rules', COLUMN = 'key', CONSTRAINT = 'rules_key_again';
    END LOOP;
END
$$;

COMMENT ON FUNCTION warn_of_keys_used_again(uuid, text[]) IS
    'Warns of new rules with the key of one that was removed, unless an undo brings it back.';

-- No unique index: whoever swaps two numbers is not to mind the order.
CREATE FUNCTION guard_store_ids(bundles text[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    taken record;
BEGIN
    SELECT edited.bundle, edited.store_id, other.bundle AS holder INTO taken
      FROM apps AS edited
      JOIN apps AS other ON other.store_id = edited.store_id AND other.bundle <> edited.bundle
     WHERE edited.bundle = ANY (bundles)
     ORDER BY edited.bundle, other.bundle
     LIMIT 1;
    IF FOUND THEN
        PERFORM refuse(
            'apps.store_id',
            format('%s is the number of another app', taken.store_id),
            'A look-up by number is to find one app. Take it from the other app first, or leave it out here.',
            format('%s has it, so %s cannot.', taken.holder, taken.bundle),
            'apps_store_id_guard',
            jsonb_build_object('bundle', taken.bundle)
        );
    END IF;
END
$$;

COMMENT ON FUNCTION guard_store_ids(text[]) IS
    'Refuses the number in the store of one of these apps that another app has too.';

CREATE FUNCTION guard_release_versions(ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    release record;
BEGIN
    SELECT edited.*, other.version AS spelled INTO release
      FROM releases AS edited
      JOIN releases AS other
        ON other.bundle = edited.bundle
       AND other.platform = edited.platform
       AND version_key(other.version) = version_key(edited.version)
       AND version_key(other.build) IS NOT DISTINCT FROM version_key(edited.build)
       AND other.version <> edited.version
     WHERE edited.id = ANY (ids)
     ORDER BY edited.id, other.id
     LIMIT 1;
    IF FOUND THEN
        PERFORM refuse(
            'releases.version',
            format('%s is %s in another spelling', quoted(release.version), quoted(release.spelled)),
            'Spell a version in one way, as the store does. It may have several rows with different regions and times.',
            format(
                '%s has a release %s on %s%s already.',
                release.bundle, release.spelled, release.platform, ', build ' || release.build
            ),
            'releases_version_guard',
            row_columns(to_jsonb(release), '{bundle,platform,version,build}')
        );
    END IF;
END
$$;

COMMENT ON FUNCTION guard_release_versions(bigint[]) IS
    'Refuses a second spelling of the version of one of these releases on one platform and build.';

-- A row of a release that is there already, in all but its number and its note, is a statement that ran twice.
CREATE FUNCTION guard_release_duplicates(ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    release releases;
BEGIN
    SELECT edited.* INTO release
      FROM releases AS edited
      JOIN releases AS other
        ON (other.bundle, other.platform, other.version) = (edited.bundle, edited.platform, edited.version)
       AND (other.build, other.min_os, other.regions, other.live_at, other.staged, other.withdrawn_at)
           IS NOT DISTINCT FROM (
               edited.build, edited.min_os, edited.regions, edited.live_at, edited.staged, edited.withdrawn_at
           )
       AND other.id <> edited.id
     WHERE edited.id = ANY (ids)
     ORDER BY edited.id
     LIMIT 1;
    IF FOUND THEN
        PERFORM refuse(
            'releases.version',
            format('%s is there already, alike in everything', quoted(release.version)),
            'Leave it out, or edit the row that is there. A version may have several rows with different regions and'
            ' times.',
            format(
                '%s has that release %s on %s%s.',
                release.bundle, release.version, release.platform, ', build ' || release.build
            ),
            'releases_duplicate_guard',
            row_columns(to_jsonb(release), '{bundle,platform,version,build}')
        );
    END IF;
END
$$;

COMMENT ON FUNCTION guard_release_duplicates(bigint[]) IS
    'Refuses one of these releases that is like another one in everything but its number and its note.';

CREATE FUNCTION guard_target_placeholders(keys text[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    translation record;
BEGIN
    SELECT t.rule, t.language, strpos(t.title, '{target}') > 0 AS in_title INTO translation
      FROM rule_texts AS t
      JOIN rules AS r ON r.key = t.rule
     WHERE t.rule = ANY (keys)
       AND r.target IS NULL
       AND (strpos(t.title, '{target}') > 0 OR strpos(t.text, '{target}') > 0)
     ORDER BY t.rule, t.language
     LIMIT 1;
    IF FOUND THEN
        PERFORM refuse(
            CASE WHEN translation.in_title THEN 'rule_texts.title' ELSE 'rule_texts.text' END,
            '{target} in a rule without a target',
            'Set the target of the rule, or take {target} out of the translation.',
            format('It is the translation of %s into %s.', quoted(translation.rule), translation.language),
            'rule_texts_target_guard',
            jsonb_build_object('rule', translation.rule, 'language', translation.language)
        );
    END IF;
END
$$;

COMMENT ON FUNCTION guard_target_placeholders(text[]) IS
    'Refuses {target} in the translation of a rule without a target.';

CREATE FUNCTION warn_of_waiting_rules(this_token uuid, keys text[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    columns CONSTANT text[] := '{enabled,bundle,platforms,target}';
    rule record;
BEGIN
    FOR rule IN
        SELECT r.*, coalesce(' on ' || array_to_string(r.platforms, ', '), '') AS place
          FROM rules AS r
         WHERE r.key = ANY (keys)
           AND r.enabled
           AND r.target IS NOT NULL
           AND NOT EXISTS (
               SELECT FROM releases AS known
                WHERE known.bundle = r.bundle
                  AND (r.platforms IS NULL OR known.platform = ANY (r.platforms))
                  AND version_key(known.version) >= version_key(r.target)
                  AND (known.withdrawn_at IS NULL OR known.withdrawn_at > clock_timestamp())
           )
           AND rule_was_edited(this_token, r.key, columns)
         ORDER BY r.key
    LOOP
        RAISE WARNING USING
            MESSAGE = format(
                'rule %s reaches nobody until a release of %s%s is %s or above', quoted(rule.key), rule.bundle, rule.place,
                rule.target
            ),
            DETAIL = format('%s has no release %s%s.', rule.bundle, rule.target, rule.place),
            HINT = format(
                'Once users can get it: INSERT INTO releases (bundle, platform, version, live_at) VALUES (%L, %L, %L, now());',
                rule.bundle, coalesce(rule.platforms[1], 'ios'), rule.target
            ),
            SCHEMA = 'public', TABLE = 'rules', COLUMN = 'target', CONSTRAINT = 'rules_target_waits';
    END LOOP;
END
$$;

COMMENT ON FUNCTION warn_of_waiting_rules(uuid, text[]) IS
    'Warns of enabled rules with a target that no release reaches.';

CREATE FUNCTION judge_edits(this_token uuid, undone bigint, notes edited_rows[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    edited_tables CONSTANT text[] := ARRAY(SELECT DISTINCT n.table_name FROM unnest(notes) AS n);
    rule_keys text[];
    release_ids bigint[];
    lockout_notes edited_rows[];
BEGIN
    IF edited_tables && '{rules,rollout_steps}' THEN
        rule_keys := ARRAY(
            SELECT DISTINCT side.policy_row ->> CASE n.table_name WHEN 'rules' THEN 'key' ELSE 'rule' END
              FROM unnest(notes) AS n, LATERAL (VALUES (n.before), (n.after)) AS side(policy_row)
             WHERE n.table_name IN ('rules', 'rollout_steps')
        );
        PERFORM guard_rollouts(rule_keys);
        PERFORM guard_consent(this_token, undone, rule_keys);
        IF undone IS NULL THEN
            PERFORM warn_of_keys_used_again(this_token, ARRAY(
                SELECT n.after ->> 'key' FROM unnest(notes) AS n WHERE n.table_name = 'rules' AND n.before IS NULL
            ));
        END IF;
    END IF;
    IF 'rollout_steps' = ANY (edited_tables) THEN
        PERFORM warn_of_stopped_ramps(this_token);
    END IF;
    IF 'apps' = ANY (edited_tables) THEN
        PERFORM guard_store_ids(ARRAY(
            SELECT n.after ->> 'bundle' FROM unnest(notes) AS n WHERE n.table_name = 'apps'
        ));
    END IF;
    IF 'releases' = ANY (edited_tables) THEN
        release_ids := ARRAY(
            SELECT (n.after ->> 'id')::bigint FROM unnest(notes) AS n WHERE n.table_name = 'releases'
        );
        PERFORM guard_release_versions(release_ids);
        PERFORM guard_release_duplicates(release_ids);
    END IF;
    IF edited_tables && '{rules,rule_texts}' THEN
        PERFORM guard_target_placeholders(ARRAY(
            SELECT DISTINCT n.after ->> CASE n.table_name WHEN 'rules' THEN 'key' ELSE 'rule' END
              FROM unnest(notes) AS n
             WHERE n.table_name IN ('rules', 'rule_texts')
        ));
    END IF;
    IF edited_tables && '{apps,releases,rules}' THEN
        -- A release that goes may have been the way out of any lockout that this transaction turned on before.
        IF edited_tables && '{apps,releases}' THEN
            rule_keys := ARRAY(
                SELECT c.key ->> 'key' FROM recorded_rows AS c WHERE c.token = this_token AND c.table_name = 'rules'
            );
        ELSE
            rule_keys := ARRAY(SELECT n.after ->> 'key' FROM unnest(notes) AS n WHERE n.table_name = 'rules');
        END IF;
        PERFORM guard_lockouts(this_token, undone, rule_keys);
        PERFORM warn_of_links(this_token, rule_keys);
        PERFORM warn_of_waiting_rules(this_token, rule_keys);
    END IF;
    IF edited_tables && '{releases,rollout_steps,rules}' THEN
        lockout_notes := notes_of_lockouts(notes);
        IF lockout_notes <> '{}' THEN
            PERFORM warn_of_lost_ways_out(lockout_notes);
            PERFORM warn_of_hidden_lockouts(lockout_notes);
        END IF;
    END IF;
    IF edited_tables && '{releases,rollout_steps,rules}' THEN
        PERFORM warn_of_large_apps(notes);
    END IF;
    IF edited_tables && '{releases,store_links}' THEN
        PERFORM warn_of_lost_buttons(this_token, notes);
    END IF;
END
$$;

COMMENT ON FUNCTION judge_edits(uuid, bigint, edited_rows[]) IS
    'Has the guards judge what these edits of this transaction could have made wrong.';
