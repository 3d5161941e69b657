-- SPDX-License-Identifier: Apache-2.0
-- Copyright the versiongate authors
--
-- What is probably not meant, and shows only beside other rows. warn_of_edits (0008) raises what edits brought about;
-- policy_warnings lists all that is so.

SET LOCAL search_path = public, pg_temp;

CREATE FUNCTION versiongate_internal.rule_was_edited(this_token uuid, rule text, columns text[]) RETURNS boolean
    LANGUAGE sql STABLE SET search_path = public, pg_temp
RETURN EXISTS (
    SELECT FROM versiongate_internal.recorded_rows AS c
     WHERE c.table_name = 'rules'
       AND c.key = jsonb_build_object('key', rule)
       AND c.token = this_token
       AND versiongate_internal.row_columns(c.before, columns)
           IS DISTINCT FROM versiongate_internal.row_columns(c.after, columns)
);
COMMENT ON FUNCTION versiongate_internal.rule_was_edited IS 'Whether a change edits one of these columns of a rule.';

CREATE FUNCTION versiongate_internal.missing_store_link(warning text, bundle text, platform text)
    RETURNS versiongate_internal.warning
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = public, pg_temp
RETURN ROW(
    'store_links.link', 'store_links_missing', warning,
    format(
        'INSERT INTO store_links (bundle, platform, link) VALUES (%L, %L, ''https://...'');', bundle, coalesce(platform, 'ios')
    ),
    jsonb_build_object('bundle', bundle, 'platform', platform)
)::versiongate_internal.warning;
COMMENT ON FUNCTION versiongate_internal.missing_store_link IS 'A warning that an app has no store link for a platform.';

-- A message that leads to the store needs a store link where it is shown, and a lockout needs a link at all: without one
-- its screen has no button. Where a rule names no platforms, the releases tell them; of an app without any nothing does.
CREATE FUNCTION versiongate_internal.link_warnings(rule rules)
    RETURNS TABLE (item versiongate_internal.warning, columns text[])
    LANGUAGE plpgsql STABLE ROWS 1 SET search_path = public, pg_temp
AS $$
#variable_conflict error
DECLARE
    name CONSTANT text := 'rule ' || versiongate_internal.quoted(rule.key);
    of_rule CONSTANT jsonb := jsonb_build_object('rule', rule.key);
    of_links CONSTANT text[] := '{enabled,lockout,lockout_without_update,bundle,platforms,link}';
BEGIN
    IF rule.enabled AND rule.lockout AND rule.lockout_without_update AND rule.ends_at IS NULL THEN
        item := (
            'rules.ends_at', 'rules_lockout_endless', name || ' locks out without an update, and has no end',
            'Set ends_at, so that it ends by itself.', of_rule
        );
        columns := '{enabled,lockout,lockout_without_update,ends_at}';
        RETURN NEXT;
    END IF;
    IF rule.link IS NULL AND rule.lockout AND NOT rule.lockout_without_update THEN
        item := (
            'rules.link', 'rules_link_missing', name || ' locks out and has no link, so users see no button',
            'Set link to ''store'', or to an address.', of_rule
        );
        columns := of_links;
        RETURN NEXT;
    ELSIF rule.link = 'store' THEN
        RETURN QUERY
        SELECT versiongate_internal.missing_store_link(
                   format('%s leads to the store, but %s has no store link', name, missing.bundle)
                       || coalesce(' for ' || missing.platform || ': users there see no button', ': users see no button'),
                   missing.bundle, missing.platform
               ),
               of_links
          FROM (
              SELECT r.bundle, r.platform FROM versiongate_internal.releases_for(rule) AS r
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
COMMENT ON FUNCTION versiongate_internal.link_warnings IS
    'What a rule probably lacks: an end, where it locks out without an update; a link; and store links where it leads to'
    ' the store. columns: those of which an edit brings it about.';

CREATE FUNCTION versiongate_internal.edited_link_warnings(this_token uuid, keys text[])
    RETURNS SETOF versiongate_internal.warning
    LANGUAGE sql STABLE SET search_path = public, pg_temp
AS $$
    SELECT (l.item).*
      FROM rules AS r
     CROSS JOIN LATERAL versiongate_internal.link_warnings(r) AS l
     WHERE r.key = ANY (keys) AND versiongate_internal.rule_was_edited(this_token, r.key, l.columns)
     ORDER BY r.key
     LIMIT 100
$$;
COMMENT ON FUNCTION versiongate_internal.edited_link_warnings IS
    'What a change brought about of link_warnings in these rules.';

CREATE FUNCTION versiongate_internal.lost_button_warnings(this_token uuid, notes versiongate_internal.edited_rows[])
    RETURNS SETOF versiongate_internal.warning
    LANGUAGE plpgsql STABLE SET search_path = public, pg_temp
AS $$
DECLARE
    columns CONSTANT text[] := '{bundle,platform,withdrawn_at}';
BEGIN
    RETURN QUERY
    SELECT (versiongate_internal.missing_store_link(
               format(
                   '%s has no store link for %s: users there see no button where these rules lock them out: %s',
                   missing.bundle, missing.platform, versiongate_internal.first_names(missing.rules)
               ),
               missing.bundle, missing.platform
           )).*
      FROM (
          SELECT place.bundle, place.platform, array_agg(versiongate_internal.quoted(r.key) ORDER BY r.key) AS rules
            FROM (
                SELECT n.after ->> 'bundle' AS bundle, n.after ->> 'platform' AS platform
                  FROM unnest(notes) AS n
                 WHERE n.table_name = 'releases'
                   AND n.after IS NOT NULL
                   AND versiongate_internal.row_columns(n.before, columns)
                       IS DISTINCT FROM versiongate_internal.row_columns(n.after, columns)
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
                 SELECT FROM versiongate_internal.recorded_rows AS c
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
                      WHERE known.bundle = place.bundle AND known.platform = place.platform
                        AND (known.withdrawn_at IS NULL OR known.withdrawn_at > greatest(clock_timestamp(), known.live_at))
                 )
             )
           GROUP BY place.bundle, place.platform
           ORDER BY place.bundle, place.platform
           LIMIT 5
      ) AS missing;
END
$$;
COMMENT ON FUNCTION versiongate_internal.lost_button_warnings IS
    'Enabled lockouts that lead to the store, where these edits of releases and store links leave them no link.';

CREATE FUNCTION versiongate_internal.waiting_rule_warnings(this_token uuid, keys text[])
    RETURNS SETOF versiongate_internal.warning
    LANGUAGE sql STABLE SET search_path = public, pg_temp
AS $$
    SELECT 'rules.target', 'rules_target_waits',
           format(
               'rule %s reaches nobody until a release of %s%s is %s or above', versiongate_internal.quoted(r.key),
               r.bundle, coalesce(' on ' || array_to_string(r.platforms, ', '), ''), r.target
           ),
           format(
               'Once users can get it: INSERT INTO releases (bundle, platform, version, live_at) VALUES (%L, %L, %L, now());',
               r.bundle, coalesce(r.platforms[1], 'ios'), r.target
           ),
           jsonb_build_object(
               'bundle', r.bundle, 'version', r.target,
               'platform', CASE WHEN cardinality(r.platforms) = 1 THEN r.platforms[1] END
           )
      FROM rules AS r
     WHERE r.key = ANY (keys)
       AND r.enabled
       AND r.target IS NOT NULL
       AND NOT EXISTS (
           SELECT FROM versiongate_internal.releases_for(r) AS known
            WHERE versiongate_internal.version_key(known.version) >= versiongate_internal.version_key(r.target)
       )
       AND versiongate_internal.rule_was_edited(this_token, r.key, '{enabled,bundle,platforms,target}')
     ORDER BY r.key
$$;
COMMENT ON FUNCTION versiongate_internal.waiting_rule_warnings IS
    'Enabled rules with a target that no release reaches.';

-- Whoever writes that the rollout is 0 takes the rule back, and knows it. Beside steps it is 0 already, so the statement
-- changes nothing, and is kept here alone.
CREATE FUNCTION versiongate_internal.keep_taken_back() RETURNS trigger
    LANGUAGE plpgsql SET search_path = public, pg_temp
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
COMMENT ON FUNCTION versiongate_internal.keep_taken_back IS
    'Trigger: keeps until the end of the transaction which rules a statement takes back to 0 % that stand there.';

CREATE TRIGGER keep_taken_back AFTER UPDATE OF rollout ON rules
    FOR EACH ROW WHEN (OLD.rollout = 0 AND NEW.rollout = 0) EXECUTE FUNCTION versiongate_internal.keep_taken_back();

CREATE FUNCTION versiongate_internal.stopped_ramp_warnings(this_token uuid) RETURNS SETOF versiongate_internal.warning
    LANGUAGE plpgsql STABLE SET search_path = public, pg_temp
AS $$
#variable_conflict error
BEGIN
    RETURN QUERY
    SELECT 'rollout_steps.at', 'rollout_steps_stopped',
           format(
               'rule %s reaches %s %% of installs now, not %s %%: %s', versiongate_internal.quoted(edited.key),
               trim_scale(edited.share), trim_scale(edited.share_before),
               CASE
                   WHEN next_step.at IS NULL THEN 'no other step is left'
                   ELSE format(
                       'its next step is to %s %% at %s',
                       trim_scale(next_step.rollout), versiongate_internal.time_text(next_step.at)
                   )
               END
           ),
           CASE
               WHEN next_step.at IS NULL THEN ''
               ELSE format(
                   'To keep the steps: INSERT INTO rollout_steps VALUES (%L, now(), %s); else: DELETE FROM rollout_steps'
                   ' WHERE rule = %1$L; ', edited.key, trim_scale(edited.share_before)
               )
           END || format('UPDATE rules SET rollout = %s WHERE key = %L;', trim_scale(edited.share_before), edited.key),
           jsonb_build_object('rule', edited.key, 'percent', trim_scale(edited.share_before)::text)
      FROM versiongate_internal.edited_shares(this_token) AS edited
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
     LIMIT 20;
END
$$;
COMMENT ON FUNCTION versiongate_internal.stopped_ramp_warnings IS
    'Enabled rules that reach fewer installs now, as this change took their step in force.';

CREATE FUNCTION versiongate_internal.used_key_warnings(this_token uuid, keys text[])
    RETURNS SETOF versiongate_internal.warning
    LANGUAGE sql STABLE SET search_path = public, pg_temp
AS $$
    WITH known AS MATERIALIZED (
        SELECT edited.key, r.token, r.before IS NULL AS is_added, r.after IS NULL AS is_removed
          FROM unnest(keys) AS edited(key)
         CROSS JOIN LATERAL (
             SELECT * FROM versiongate_internal.recorded_rows AS r
              WHERE r.table_name = 'rules' AND r.key = jsonb_build_object('key', edited.key)
             OFFSET 0
         ) AS r
    )
    SELECT 'rules.key', 'rules_key_again',
           format(
               'rule %s: change %s removed a rule with this key, and clients remember it',
               versiongate_internal.quoted(added.key), max(c.id)
           ),
           'Who has skipped that message, or seen it often enough, does not see this one. For another message, take'
           ' another key.',
           NULL::jsonb
      FROM known AS added
      JOIN known AS removed ON removed.key = added.key AND removed.is_removed
      JOIN changes AS c ON c.token = removed.token
     WHERE added.token = this_token AND added.is_added
     GROUP BY added.key
     ORDER BY added.key
     LIMIT 20
$$;
COMMENT ON FUNCTION versiongate_internal.used_key_warnings IS 'New rules with the key of one that was removed.';

-- Each rule and each release counts for one at least; what the server counts beyond that, status says.
CREATE FUNCTION versiongate_internal.app_warnings(bundles text[]) RETURNS TABLE (bundle text, warning text, hint text)
    LANGUAGE plpgsql STABLE ROWS 1 SET search_path = public, pg_temp
    SET jit = off
AS $$
#variable_conflict error
DECLARE
    most CONSTANT bigint := 2000;
BEGIN
    RETURN QUERY
    WITH sent AS MATERIALIZED (
        SELECT r.bundle, count(*) AS number
          FROM rules AS r
         WHERE r.enabled
           AND (r.bundle = ANY (bundles) OR r.bundle IS NULL)
           AND (
               r.rollout > 0
               OR EXISTS (SELECT FROM rollout_steps AS step WHERE step.rule = r.key AND step.rollout > 0)
           )
         GROUP BY r.bundle
    )
    SELECT a.bundle::text,
           format(
               'the rules and releases of %s are more than %s together, so no feed announces anything', a.bundle, most
           ),
           format('They are %s. Disable rules that are not needed any more, or remove old releases.', total.number)
      FROM apps AS a
     CROSS JOIN LATERAL (
         SELECT (SELECT coalesce(sum(s.number), 0) FROM sent AS s WHERE s.bundle = a.bundle OR s.bundle IS NULL)
                + (SELECT count(*) FROM releases AS r WHERE r.bundle = a.bundle) AS number
     ) AS total
     WHERE a.bundle = ANY (bundles) AND total.number > most;
    RETURN QUERY
    WITH rule_size AS MATERIALIZED (
        SELECT r.bundle,
               sum(
                   octet_length(r.key) + coalesce(octet_length(r.link), 0) + greatest(
                       octet_length(r.title) + octet_length(r.text),
                       (SELECT max(octet_length(t.title) + octet_length(t.text)) FROM rule_texts AS t WHERE t.rule = r.key)
                   )
               ) AS bytes
          FROM rules AS r
         WHERE r.enabled AND (r.bundle = ANY (bundles) OR r.bundle IS NULL)
         GROUP BY r.bundle
    )
    SELECT a.bundle::text,
           format('the enabled rules of %s have more than 1 MiB of texts, which is the most that an app reads', a.bundle),
           'A client that gets all of them sees none, lockouts included. Disable rules that are not needed any more, or'
           ' shorten their texts.'
      FROM apps AS a
     WHERE a.bundle = ANY (bundles)
       AND coalesce((SELECT s.bytes FROM rule_size AS s WHERE s.bundle = a.bundle), 0)
           + coalesce((SELECT s.bytes FROM rule_size AS s WHERE s.bundle IS NULL), 0) > 1048576;
END
$$;
COMMENT ON FUNCTION versiongate_internal.app_warnings IS
    'What is beyond a bound in apps: rules and releases for feeds, texts for what an app reads.';

CREATE FUNCTION versiongate_internal.large_app_warnings(notes versiongate_internal.edited_rows[])
    RETURNS SETOF versiongate_internal.warning
    LANGUAGE plpgsql STABLE SET search_path = public, pg_temp
AS $$
DECLARE
    columns CONSTANT text[] := '{bundle,enabled,rollout,title,text,link}';
    bundles text[] := ARRAY(
        SELECT DISTINCT n.after ->> 'bundle'
          FROM unnest(notes) AS n
         WHERE n.after IS NOT NULL AND CASE n.table_name
                   WHEN 'releases' THEN n.before IS NULL
                   WHEN 'rules' THEN
                       n.after -> 'enabled' = 'true'
                       AND versiongate_internal.row_columns(n.before, columns)
                           IS DISTINCT FROM versiongate_internal.row_columns(n.after, columns)
                   ELSE false
               END
    );
BEGIN
    IF array_position(bundles, NULL) IS NOT NULL THEN
        bundles := ARRAY(SELECT a.bundle FROM apps AS a);
    END IF;
    RETURN QUERY
    SELECT 'apps.bundle', 'apps_large', w.warning, w.hint, NULL::jsonb
      FROM versiongate_internal.app_warnings(bundles) AS w
     WHERE bundles <> '{}'
     ORDER BY w.bundle
     LIMIT 20;
END
$$;
COMMENT ON FUNCTION versiongate_internal.large_app_warnings IS
    'Apps that these edits add to and that are beyond a bound then.';

-- The command line shows and asks about these itself.
CREATE FUNCTION versiongate_internal.mass_edit_warnings(notes versiongate_internal.edited_rows[])
    RETURNS SETOF versiongate_internal.warning
    LANGUAGE sql STABLE SET search_path = public, pg_temp
AS $$
    SELECT m.table_name || '.' || CASE m.table_name WHEN 'rules' THEN 'key' ELSE 'bundle' END,
           m.table_name || '_mass_edit',
           format(
               'this edit %s %s of the %s %s%s',
               CASE WHEN m.is_removal THEN 'removes' ELSE 'changes the title or text of' END,
               m.edited, m.present, m.table_name,
               CASE
                   WHEN m.table_name = 'apps' THEN ''
                   WHEN m.bundle IS NULL THEN ' for every app'
                   ELSE ' of ' || m.bundle
               END
           ),
           'If that is not meant: ROLLBACK, or after the commit SELECT undo_change(max(id)) FROM changes.',
           NULL::jsonb
      FROM (
          SELECT e.*, CASE WHEN e.is_removal THEN e.edited ELSE 0 END + CASE e.table_name
                     WHEN 'apps' THEN (SELECT count(*) FROM apps)
                     WHEN 'releases' THEN (SELECT count(*) FROM releases AS r WHERE r.bundle = e.bundle)
                     ELSE (SELECT count(*) FROM rules AS r WHERE r.bundle IS NOT DISTINCT FROM e.bundle)
                 END AS present
            FROM (
                SELECT n.table_name, n.after IS NULL AS is_removal, count(*) AS edited,
                       CASE WHEN n.table_name <> 'apps' THEN n.before ->> 'bundle' END AS bundle
                  FROM unnest(notes) AS n
                 WHERE n.before IS NOT NULL AND CASE
                           WHEN n.after IS NULL THEN n.table_name IN ('apps', 'releases', 'rules')
                           ELSE n.table_name = 'rules'
                                AND versiongate_internal.row_columns(n.before, '{title,text}')
                                    IS DISTINCT FROM versiongate_internal.row_columns(n.after, '{title,text}')
                       END
                 GROUP BY 1, 2, 4
                HAVING count(*) >= 3
            ) AS e
      ) AS m
     WHERE m.edited * 10 > m.present AND current_setting('application_name') NOT LIKE 'versiongate%'
     LIMIT 20
$$;
COMMENT ON FUNCTION versiongate_internal.mass_edit_warnings IS
    'Edits in SQL that remove, or change the texts of, more than a tenth of the rows of an app, and at least three.';

CREATE FUNCTION versiongate_internal.lockout_warnings(moment timestamptz)
    RETURNS TABLE (rule text, warning text, detail text, hint text)
    LANGUAGE plpgsql STABLE SET search_path = public, pg_temp
    SET jit = off
AS $$
#variable_conflict error
DECLARE
    without CONSTANT text := 'Clients there get the message without the lockout, until there is a release for them.';
    enabled CONSTANT rules[] := ARRAY(SELECT r FROM rules AS r WHERE r.enabled AND r.lockout);
    lockouts CONSTANT rules[] := ARRAY(SELECT r FROM unnest(enabled) AS r WHERE NOT r.lockout_without_update);
    finals CONSTANT rules[] := ARRAY(SELECT r FROM rules AS r WHERE r.enabled AND r.final AND r.target IS NULL);
    known CONSTANT releases[] := CASE WHEN lockouts = '{}' THEN '{}' ELSE ARRAY(SELECT r FROM releases AS r) END;
    present_apps CONSTANT apps[] := ARRAY(SELECT a FROM apps AS a);
BEGIN
    RETURN QUERY
    WITH way AS MATERIALIZED (
        SELECT w.key, w.bundle, w.platform, CASE WHEN NOT w.is_part THEN w.region END AS region, w.times, w.is_part
          FROM versiongate_internal.ways_out(lockouts, known, present_apps, moment, '{}') AS w
    ),
    closed AS MATERIALIZED (
        SELECT w.key, w.bundle, w.platform, w.is_part, lower(gap.first) AS start, upper(gap.first) AS finish,
               versiongate_internal.place_name(l.bundle, w.bundle, w.platform, w.region)
                   || CASE WHEN w.is_part THEN ' (some regions or systems)' ELSE '' END AS place
          FROM way AS w
          JOIN unnest(lockouts) AS l ON l.key = w.key
         CROSS JOIN LATERAL (
             SELECT u.span
               FROM unnest(
                        versiongate_internal.time_span(greatest(moment, l.starts_at), l.ends_at) - w.times
                    ) AS u(span)
              ORDER BY u.span
              LIMIT 1
         ) AS gap(first)
    )
    SELECT c.key,
           format(
               'nobody has a way out of rule %s on %s%s', versiongate_internal.quoted(c.key),
               versiongate_internal.first_names(array_agg(DISTINCT c.place ORDER BY c.place)),
               CASE WHEN c.start > moment THEN format(' from %s on', versiongate_internal.time_text(c.start)) ELSE '' END
           ),
           'Until ' || versiongate_internal.time_text(c.finish) || '.',
           without
      FROM closed AS c
     WHERE (c.is_part OR c.start > moment)
       AND NOT (
           c.is_part AND EXISTS (
               SELECT FROM closed AS w
                WHERE w.key = c.key AND w.platform = c.platform AND w.bundle IS NOT DISTINCT FROM c.bundle
                  AND NOT w.is_part AND w.start <= c.start
           )
       )
     GROUP BY c.key, c.start, c.finish;
    RETURN QUERY
    SELECT h.key,
           format(
               'rule %s is hidden from %s on',
               versiongate_internal.quoted(h.key), versiongate_internal.time_text(min(h.start))
           ),
           format(
               'Why: %s comes before it, is final and is sent to everybody whom it is for.',
               (array_agg(h.final ORDER BY h.start, h.final_position, h.final))[1]
           ),
           'Nobody gets it then. Give it a lower position, or narrow the final rule.'
      FROM (
          SELECT hidden.key, hidden.final, hidden.final_position,
                 lower(f.times * versiongate_internal.time_span(greatest(moment, l.starts_at), l.ends_at)) AS start
            FROM versiongate_internal.hidden_rules(finals, enabled) AS hidden
            JOIN versiongate_internal.full_times(finals, versiongate_internal.present_steps(finals)) AS f
                 ON f.key = hidden.final
            JOIN unnest(enabled) AS l ON l.key = hidden.key
      ) AS h
     GROUP BY h.key
    HAVING min(h.start) > moment;
END
$$;
COMMENT ON FUNCTION versiongate_internal.lockout_warnings IS
    'Enabled lockouts without a way out in some regions or on some systems, and those that will be without one, or hidden'
    ' behind a final rule, as things are.';

CREATE VIEW policy_warnings WITH (security_invoker = true) AS
SELECT found.rule, found.release, found.warning, found.detail, found.hint
  FROM (
      SELECT r.key::text AS rule, NULL::bigint AS release, w.warning, NULL::text AS detail, w.hint
        FROM rules AS r
       CROSS JOIN LATERAL versiongate_internal.rule_warnings(r) AS w
       UNION ALL
      SELECT r.key, NULL, (w.item).warning, NULL, (w.item).hint FROM rules AS r
       CROSS JOIN LATERAL versiongate_internal.link_warnings(r) AS w
       UNION ALL
      SELECT t.rule, NULL, w.warning, NULL, w.hint FROM rule_texts AS t
       CROSS JOIN LATERAL versiongate_internal.rule_text_warnings(t) AS w
       UNION ALL
      SELECT NULL, r.id, w.warning, NULL, w.hint FROM releases AS r
       CROSS JOIN LATERAL versiongate_internal.release_warnings(r) AS w
       UNION ALL
      SELECT NULL, NULL, w.warning, NULL, w.hint FROM store_links AS s
       CROSS JOIN LATERAL versiongate_internal.platform_warnings(
                      'store link of ' || s.bundle, 'store_links.platform', s.platform
                  ) AS w
       UNION ALL
      SELECT NULL, NULL, w.warning, NULL, w.hint FROM versiongate_internal.app_warnings(
          ARRAY(SELECT a.bundle FROM apps AS a)
      ) AS w
       UNION ALL
      SELECT s.key, NULL,
             format('rule %s is %s', versiongate_internal.quoted(s.key), s.status),
             format('Why: %s.', s.reason),
             CASE
                 WHEN s.status = 'waiting' AND s.reason = 'its rollout is 0 %' THEN 'Set its rollout, or disable it.'
                 WHEN s.status = 'waiting' AND starts_with(s.reason, 'its rollout is 0 %; ')
                     THEN format('Let its steps go on: SELECT * FROM resume_rule(%L); Or disable it.', s.key)
                 WHEN s.status = 'waiting' THEN
                     'Once users can get such a release, record that: add it, or set what is in its way.'
                 WHEN s.status = 'hidden' THEN 'Nobody gets it. Give it a lower position, or narrow the final rule.'
                 ELSE 'Clients there get the message without the lockout, until there is a release outside the rule.'
             END
        FROM versiongate_internal.rule_status_at(ARRAY[now()], looks_back => false) AS s
        JOIN rules AS r ON r.key = s.key
       WHERE s.status IN ('hidden', 'on without lockout', 'partly without lockout')
          -- What the clock ends is a plan.
          OR s.status = 'waiting' AND (s.next = r.ends_at OR s.next IS NULL)
       UNION ALL
      SELECT w.rule, NULL, w.warning, w.detail, w.hint FROM versiongate_internal.lockout_warnings(now()) AS w
  ) AS found
 ORDER BY found.rule, found.release, found.warning;

COMMENT ON VIEW policy_warnings IS
    'What is probably not meant in the policy as it stands now: what its edits would be warned of.';
COMMENT ON COLUMN policy_warnings.rule IS 'Key of the rule; null: it is about something else.';
COMMENT ON COLUMN policy_warnings.release IS 'Number of the release; null: it is about something else.';
COMMENT ON COLUMN policy_warnings.warning IS 'What is so.';
COMMENT ON COLUMN policy_warnings.detail IS 'More about it.';
COMMENT ON COLUMN policy_warnings.hint IS 'What to do about it.';
