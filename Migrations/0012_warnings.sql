-- What is probably not meant, and shows only beside other rows. warn_of_edits (0008) raises what edits brought about;
-- policy_warnings lists all that is so.

SET LOCAL search_path = public, versiongate_internal, pg_temp;

CREATE FUNCTION versiongate_internal.new_row_warnings(edits row_edit[]) RETURNS SETOF warning
    LANGUAGE sql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
    SELECT w.*
      FROM unnest(edits) WITH ORDINALITY AS n
     CROSS JOIN LATERAL row_warnings(n.table_name, n.after) AS w
     WHERE w.warning NOT IN (SELECT b.warning FROM row_warnings(n.table_name, n.before) AS b)
       -- Whoever takes a release back into stages keeps its time.
       AND (w.kind = 'releases_staged_live_at' AND n.before -> 'live_at' = n.after -> 'live_at') IS NOT TRUE
     ORDER BY n.ordinality
     LIMIT 100
$$;

-- Where releases came or went, or store links went. Of a rule that is new its own warnings tell it.
CREATE FUNCTION versiongate_internal.lost_row_warnings(edits row_edit[]) RETURNS SETOF warning
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    columns CONSTANT text[] := '{bundle,platform,withdrawn_at}';
    places CONSTANT jsonb[] := ARRAY(
        SELECT DISTINCT row_columns(side.item, '{bundle,platform}')
          FROM unnest(edits) AS n
         CROSS JOIN LATERAL (
             VALUES (CASE n.table_name WHEN 'releases' THEN n.after WHEN 'store_links' THEN n.before END)
         ) AS side(item)
         WHERE side.item IS NOT NULL
           AND row_columns(n.before, columns) IS DISTINCT FROM row_columns(n.after, columns)
    );
BEGIN
    RETURN QUERY
    -- The greatest release of each platform that users could get before: a target that it reached did not wait.
    WITH former AS MATERIALIZED (
        SELECT old.bundle, old.platform, (array_agg(k.version ORDER BY k.version DESC))[1] AS version
          FROM unnest(edits) AS n
         CROSS JOIN LATERAL jsonb_populate_record(NULL::releases, n.before) AS old
         CROSS JOIN LATERAL (SELECT version_key(old.version)) AS k(version)
         WHERE n.table_name = 'releases' AND n.before IS NOT NULL AND NOT is_withdrawn(old, clock_timestamp())
         GROUP BY old.bundle, old.platform
    )
    SELECT w.*
      FROM rules AS r
     CROSS JOIN LATERAL (
         SELECT l.* FROM link_warnings(r) AS l WHERE places <> '{}' AND r.lockout AND l.words = ANY (places)
          UNION ALL
         SELECT t.*
           FROM target_warnings(r) AS t
          WHERE EXISTS (
                    SELECT FROM former AS f
                     WHERE f.bundle = r.bundle AND (r.platforms IS NULL OR f.platform = ANY (r.platforms))
                       AND f.version >= version_key(r.target)
                )
     ) AS w
     WHERE r.enabled AND r.key NOT IN (
               SELECT n.after ->> 'key' FROM unnest(edits) AS n WHERE n.table_name = 'rules' AND n.before IS NULL
           )
     ORDER BY r.key, w.warning
     LIMIT 20;
END
$$;

-- Trigger: keeps until the end of the transaction which rules a statement takes back to 0 % that stand there.
-- Whoever writes that the rollout is 0 takes the rule back, and knows it. Beside steps it is 0 already, so the statement
-- changes nothing, and is kept here alone.
CREATE FUNCTION versiongate_internal.keep_taken_back() RETURNS trigger
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
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

CREATE TRIGGER keep_taken_back AFTER UPDATE OF rollout ON rules
    FOR EACH ROW WHEN (OLD.rollout = 0 AND NEW.rollout = 0) EXECUTE FUNCTION keep_taken_back();

CREATE FUNCTION versiongate_internal.stopped_ramp_warnings(edits row_edit[]) RETURNS SETOF warning
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT 'rollout_steps.at', 'rollout_steps_stopped',
           format(
               'rule %s reaches %s %% of installs now, not %s %%: %s', quoted(edited.key),
               trim_scale(edited.share), trim_scale(edited.share_before),
               coalesce(
                   'its next step is to ' || trim_scale(next_step.rollout) || ' % at ' || time_text(next_step.at),
                   'no other step is left'
               )
           ),
           concat(
               CASE WHEN next_step.at IS NOT NULL THEN format(
                   'To keep the steps: INSERT INTO rollout_steps VALUES (%L, now(), %s); else: DELETE FROM rollout_steps'
                   ' WHERE rule = %1$L; ', edited.key, trim_scale(edited.share_before)
               ) END,
               format('UPDATE rules SET rollout = %s WHERE key = %L;', trim_scale(edited.share_before), edited.key)
           ),
           'For a share from now on: `rule rollout {rule} {percent}%`',
           jsonb_build_object('rule', edited.key, 'percent', trim_scale(edited.share_before)::text)
      FROM edited_shares(edits) AS edited
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

CREATE FUNCTION versiongate_internal.used_key_warnings(edits row_edit[]) RETURNS SETOF warning
    LANGUAGE sql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
    SELECT 'rules.key', 'rules_key_again',
           format(
               'rule %s: change %s removed a rule with this key, and clients remember it',
               quoted(e.after ->> 'key'), removed.change
           ),
           'Anyone who has skipped that message, or has seen it as often as allowed, does not see this one. For a'
           ' different message, use a different key.',
           NULL, NULL::jsonb
      FROM unnest(edits) AS e
     CROSS JOIN LATERAL (
         SELECT max(c.id)
           FROM (
               SELECT r.token FROM recorded_rows AS r
                WHERE r.table_name = 'rules' AND r.key = e.key AND r.after IS NULL
               -- By the key, not by the tokens, of which each may have thousands of rows.
               OFFSET 0
           ) AS r
           JOIN changes AS c ON c.token = r.token
     ) AS removed(change)
     WHERE e.table_name = 'rules' AND e.before IS NULL AND removed.change IS NOT NULL
     ORDER BY e.after ->> 'key'
     LIMIT 20
$$;

CREATE FUNCTION versiongate_internal.stale_translation_warnings(edits row_edit[]) RETURNS SETOF warning
    LANGUAGE sql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
    SELECT 'rule_texts.text', 'rule_texts_stale',
           format(
               'rule %s: its translations are those of the old text: %s', quoted(t.rule),
               name_list(array_agg(t.language::text ORDER BY t.language))
           ),
           'Clients with these languages get them as they were. Change them too, or delete them.',
           'Clients with these languages get them as they were. Change them too:'
           ' `rule translate {rule} LANGUAGE --title TITLE --text TEXT`',
           jsonb_build_object('rule', t.rule)
      FROM unnest(edits) AS e
      JOIN rule_texts AS t ON t.rule = e.after ->> 'key'
     WHERE e.table_name = 'rules'
       AND row_columns(e.before, '{title,text}') <> row_columns(e.after, '{title,text}')
       AND (t.rule, lower(t.language)) NOT IN (
           SELECT n.key ->> 'rule', n.key ->> 'language' FROM unnest(edits) AS n WHERE n.table_name = 'rule_texts'
       )
     GROUP BY t.rule
     ORDER BY t.rule
     LIMIT 20
$$;

-- Of the languages of a rule the longest counts, as a client gets one.
CREATE FUNCTION versiongate_internal.text_size_warnings(bundles text[]) RETURNS SETOF warning
    LANGUAGE sql STABLE ROWS 1 SET search_path = versiongate_internal, public, pg_temp
AS $$
    WITH sent AS MATERIALIZED (
        SELECT r.bundle,
               sum(
                   octet_length(concat(r.key, r.link)) + greatest(
                       octet_length(r.title || r.text),
                       (SELECT max(octet_length(t.title || t.text)) FROM rule_texts AS t WHERE t.rule = r.key)
                   )
               ) AS bytes
          FROM rules AS r
         WHERE r.enabled AND (r.bundle = ANY (bundles) OR r.bundle IS NULL)
         GROUP BY r.bundle
    )
    SELECT 'apps.bundle', 'apps_large',
           format('the enabled rules of %s have more than 1 MiB of texts, which is the most that an app reads', a.bundle),
           'A client that gets all of them sees none, lockouts included. Disable rules that are not needed any more, or'
           ' shorten their texts.',
           NULL, NULL::jsonb
      FROM apps AS a
      JOIN sent AS s ON s.bundle = a.bundle OR s.bundle IS NULL
     WHERE a.bundle = ANY (bundles)
     GROUP BY a.bundle
    HAVING sum(s.bytes) > 1048576
     ORDER BY a.bundle
$$;

CREATE FUNCTION versiongate_internal.new_text_size_warnings(edits row_edit[]) RETURNS SETOF warning
    LANGUAGE sql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
    SELECT w.*
      FROM (SELECT '{bundle,enabled,title,text,link}'::text[]) AS columns(sent)
     CROSS JOIN LATERAL text_size_warnings(ARRAY(
         SELECT a.bundle
           FROM apps AS a
           JOIN (
               SELECT DISTINCT r.bundle
                 FROM unnest(edits) AS n
                 JOIN rules AS r ON r.key = coalesce(n.key ->> 'rule', n.key ->> 'key') AND r.enabled
                WHERE row_columns(n.before, columns.sent) IS DISTINCT FROM row_columns(n.after, columns.sent)
           ) AS edited ON edited.bundle = a.bundle OR edited.bundle IS NULL
     )) AS w
     LIMIT 20
$$;

-- What belongs to a rule or a release counts for its app, and goes with it. Brakes and fuses edit no more than they say, and
-- an app's other spelling is in all its rows.
CREATE FUNCTION versiongate_internal.mass_edit_warnings(edits row_edit[]) RETURNS SETOF warning
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    fewest CONSTANT integer := 3;
    part record;
    present bigint;
BEGIN
    IF cardinality(edits) < fewest OR current_setting('application_name') IN ('brake', 'fuse') THEN
        RETURN;
    END IF;
    FOR part IN
        SELECT e.table_name, e.bundle, count(*) AS edited, count(*) FILTER (WHERE e.is_removed) AS removed
          FROM (
              SELECT n.table_name, n.after IS NULL AS is_removed,
                     CASE
                         WHEN n.table_name = 'apps' THEN NULL
                         ELSE coalesce(side.item ->> 'bundle', rule.bundle, release.bundle)
                     END AS bundle
                FROM unnest(edits) AS n
               CROSS JOIN LATERAL coalesce(n.after, n.before) AS side(item)
                LEFT JOIN rules AS rule ON rule.key = side.item ->> 'rule'
                LEFT JOIN releases AS release ON release.id = (side.item ->> 'release')::bigint
               WHERE n.before IS NOT NULL
                 AND (rule.key IS NOT NULL OR NOT side.item ? 'rule')
                 AND (release.id IS NOT NULL OR NOT side.item ? 'release')
                 AND (
                     n.table_name = 'apps' OR n.before - 'bundle' IS DISTINCT FROM n.after - 'bundle'
                     OR lower(n.before ->> 'bundle') <> lower(n.after ->> 'bundle')
                 )
          ) AS e
         GROUP BY e.table_name, e.bundle
        HAVING count(*) >= fewest
         ORDER BY e.table_name, e.bundle
         LIMIT 20
    LOOP
        EXECUTE format('SELECT count(*) FROM %I AS t ', part.table_name) || CASE part.table_name
            WHEN 'apps' THEN ''
            WHEN 'rule_texts' THEN 'JOIN rules AS r ON r.key = t.rule WHERE r.bundle IS NOT DISTINCT FROM $1'
            WHEN 'rollout_steps' THEN 'JOIN rules AS r ON r.key = t.rule WHERE r.bundle IS NOT DISTINCT FROM $1'
            WHEN 'release_notes' THEN 'JOIN releases AS r ON r.id = t.release WHERE r.bundle = $1'
            ELSE 'WHERE t.bundle IS NOT DISTINCT FROM $1'
        END INTO present USING part.bundle;
        CONTINUE WHEN part.edited * 10 <= present + part.removed;
        RETURN NEXT (
            part.table_name || '.' || CASE part.table_name WHEN 'rules' THEN 'key' ELSE 'bundle' END,
            CASE WHEN part.removed = part.edited THEN 'mass_removal' ELSE 'mass_edit' END,
            format(
                'this edit %s of the %s %s%s',
                concat_ws(
                    ' and ', 'changes ' || nullif(part.edited - part.removed, 0), 'removes ' || nullif(part.removed, 0)
                ),
                present + part.removed, part.table_name,
                CASE WHEN part.table_name = 'apps' THEN '' ELSE coalesce(' of ' || part.bundle, ' for every app') END
            ),
            'If that is not meant: ROLLBACK; or, after the commit: SELECT undo_change(max(id)) FROM changes;',
            'To undo it: `undo`', NULL
        )::warning;
    END LOOP;
END
$$;

-- What shows of a release only beside the others of its platform, which are numbered in the order of offers: place; reach is
-- that of the greatest one that is not known to be above it, where its build is not recorded. Of those that went live before,
-- only the greatest of each min_os and regions can be in the way. Builds for several processors are made together, and a
-- store gives each device its own: none is the way out of another.

-- A release with its place among those of its platform. live_at: null while it is staged; stays: it has no end.
CREATE TYPE versiongate_internal.placed_release AS (
    id bigint, bundle text, platform text, version text, min_os text, regions text[], stays boolean, live_at timestamptz,
    is_there boolean, name text, key bytea, build_key bytea, system bytea, place bigint
);

CREATE FUNCTION versiongate_internal.placed_releases(known releases[]) RETURNS SETOF placed_release
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT k.*, dense_rank() OVER (PARTITION BY k.bundle, k.platform ORDER BY k.key, k.build_key NULLS FIRST)
      FROM (
          SELECT r.id, r.bundle::text, r.platform::text, r.version::text, r.min_os::text, r.regions::text[],
                 r.withdrawn_at IS NULL,
                 CASE WHEN NOT r.staged THEN r.live_at END,
                 NOT is_withdrawn(r, now()),
                 r.version || coalesce(' (' || r.build || ')', ''),
                 version_key(r.version) AS key,
                 version_key(r.build) AS build_key,
                 version_key(r.min_os)
            FROM unnest(known) AS r
      ) AS k;
END
$$;

-- The releases that no client is ever offered, and the place of a greater one that was there before for all who could
-- have them.
CREATE FUNCTION versiongate_internal.never_offered(placed placed_release[])
    RETURNS TABLE (id bigint, place bigint)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    WITH passed AS MATERIALIZED (
        SELECT p.*
          FROM (
              SELECT q.*,
                     CASE
                         WHEN q.build_key IS NULL THEN max(q.place) OVER (PARTITION BY q.bundle, q.platform, q.key)
                         ELSE q.place
                     END AS reach,
                     max(q.place) FILTER (WHERE q.stays AND q.live_at IS NOT NULL) OVER (
                         PARTITION BY q.bundle, q.platform ORDER BY q.live_at GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                     ) AS greatest
                FROM unnest(placed) AS q
          ) AS p
         WHERE p.live_at IS NOT NULL AND p.is_there AND p.greatest > p.reach
    ),
    in_the_way AS MATERIALIZED (
        SELECT q.* FROM unnest(placed) AS q
         WHERE q.stays AND q.live_at IS NOT NULL
           AND (q.bundle, q.platform) IN (SELECT p.bundle, p.platform FROM passed AS p)
    )
    SELECT o.id, max(o.greatest)
      FROM (
          SELECT e.id, e.reach, max(e.place) OVER (
                     PARTITION BY e.bundle, e.platform, e.system, e.regions
                     ORDER BY e.live_at GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                 ) AS greatest
            FROM (
                SELECT NULL::bigint AS id, w.bundle, w.platform, w.system, w.regions, w.live_at, w.place, NULL::bigint AS reach
                  FROM in_the_way AS w
                 UNION ALL
                SELECT p.id, p.bundle, p.platform, w.system, w.regions, p.live_at, NULL, p.reach
                  FROM passed AS p
                  JOIN (SELECT DISTINCT i.bundle, i.platform, i.system, i.regions FROM in_the_way AS i) AS w
                    ON w.bundle = p.bundle AND w.platform = p.platform
                   AND (w.system IS NULL OR w.system <= p.system)
                   AND (w.regions IS NULL OR w.regions @> p.regions)
            ) AS e
      ) AS o
     WHERE o.greatest > o.reach
     GROUP BY o.id;
END
$$;

-- The releases below the offer of their regions that went live later, or less than a day earlier.
CREATE FUNCTION versiongate_internal.releases_beside(placed placed_release[])
    RETURNS TABLE (
        bundle text, platform text, regions text[], name text, key bytea, build_key bytea, place bigint, live_at timestamptz,
        offer text, offer_live_at timestamptz, offer_key bytea, offer_build bytea
    )
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    WITH usable AS MATERIALIZED (SELECT * FROM unnest(placed) AS q WHERE q.live_at IS NOT NULL AND q.is_there),
    greatest_in AS MATERIALIZED (
        SELECT DISTINCT ON (u.bundle, u.platform, u.regions) u.*
          FROM usable AS u
         ORDER BY u.bundle, u.platform, u.regions, u.place DESC, u.live_at
    ),
    offer AS MATERIALIZED (
        SELECT DISTINCT ON (a.bundle, a.platform, a.regions) a.regions AS area, o.*
          FROM greatest_in AS a
          JOIN greatest_in AS o ON o.bundle = a.bundle AND o.platform = a.platform AND (o.regions && a.regions) IS NOT FALSE
         ORDER BY a.bundle, a.platform, a.regions, o.place DESC, o.live_at
    )
    SELECT u.bundle, u.platform, u.regions, u.name, u.key, u.build_key, u.place, u.live_at, o.name, o.live_at, o.key, o.build_key
      FROM usable AS u
      JOIN offer AS o ON o.bundle = u.bundle AND o.platform = u.platform AND o.area IS NOT DISTINCT FROM u.regions
     WHERE u.live_at > o.live_at - interval '24 hours'
       -- In a history that was recorded at once, all went live together.
       AND u.place BETWEEN o.place - 100 AND o.place - 1
       AND (u.key < version_family(o.key) OR u.key = o.key AND u.build_key < o.build_key);
END
$$;

-- Releases that no client is ever offered, as a greater one was there before for all who could have them, and those
-- without a min_os of which the one before had one.
CREATE FUNCTION versiongate_internal.order_warnings(known releases[])
    RETURNS TABLE (release bigint, item warning)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET enable_nestloop = off SET jit = off
AS $$
DECLARE
    placed CONSTANT placed_release[] := ARRAY(SELECT p FROM placed_releases(known) AS p);
BEGIN
    RETURN QUERY
    WITH at_place AS MATERIALIZED (
        SELECT q.bundle, q.platform, q.place, q.key, min(q.name) AS name, min(q.min_os) AS min_os,
               min(q.live_at) AS live_at,
               max(CASE WHEN min(q.min_os) IS NOT NULL THEN q.place END)
                   OVER (PARTITION BY q.bundle, q.platform ORDER BY q.place) AS place_of_min_os
          FROM unnest(placed) AS q
         GROUP BY q.bundle, q.platform, q.place, q.key
    )
    SELECT q.id, ROW(
               'releases.version', 'releases_never_offered',
               format(
                   'release %s of %s on %s is never offered: %s is greater, and was there first',
                   q.name, q.bundle, q.platform, g.name
               ),
               format(
                   'Anyone who could get it is offered %s, live since %s. %s', g.name, time_text(g.live_at),
                   CASE
                       WHEN q.key = g.key THEN 'Of builds for several processors, record the greatest alone.'
                       ELSE 'Letters after the numbers make a version that comes before them, and leading zeros do not count.'
                   END
               ),
               NULL, NULL
           )::warning
      FROM never_offered(placed) AS n
      JOIN unnest(placed) AS q ON q.id = n.id
      JOIN at_place AS g ON g.bundle = q.bundle AND g.platform = q.platform AND g.place = n.place
     UNION ALL
    SELECT q.id, ROW(
               'releases.min_os', 'releases_no_min_os',
               format(
                   'release %s of %s on %s has no min_os, and %s before it has %s',
                   q.name, q.bundle, q.platform, b.name, b.min_os
               ),
               format(
                   'Until it is set, everybody is treated as able to install it. If it needs %s too: UPDATE releases SET min_os = %1$L'
                   ' WHERE id = %s;', b.min_os, q.id
               ),
               'Until it is set, everybody is treated as able to install it. If it needs {min_os} too:'
               ' `release edit {bundle} {version} --platform {platform} --min-os {min_os}`',
               jsonb_build_object('bundle', q.bundle, 'version', q.version, 'platform', q.platform, 'min_os', b.min_os)
           )::warning
      FROM unnest(placed) AS q
      JOIN at_place AS p ON p.bundle = q.bundle AND p.platform = q.platform AND p.place = q.place - 1
      JOIN at_place AS b ON b.bundle = q.bundle AND b.platform = q.platform AND b.place = p.place_of_min_os
     WHERE q.min_os IS NULL AND q.is_there;
END
$$;

-- Which lockouts of these rules match a release that went live later, or less than a day earlier, than the greatest one
-- of its regions, which they do not match.
CREATE FUNCTION versiongate_internal.beside_warnings(written rules[], known releases[])
    RETURNS TABLE (rule text, item warning)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET enable_nestloop = off SET jit = off
AS $$
BEGIN
    RETURN QUERY
    SELECT DISTINCT ON ((j.rule).key, b.bundle, b.platform)
           (j.rule).key::text, ROW(
               'rules.lockout', 'rules_way_out_beside',
               format(
                   'rule %s locks out %s of %s on %s, which went live %s the way out of it, %s',
                   quoted((j.rule).key), b.name, b.bundle, b.platform,
                   CASE WHEN b.live_at > b.offer_live_at THEN 'after' ELSE 'less than a day before' END, b.offer
               ),
               'If these are builds for different processors, the store gives each device its own, so none is a way out of'
               ' another: leave out all that went live together, or none. Otherwise the rule is right.',
               NULL, NULL
           )::warning
      FROM read_rules(ARRAY(
               SELECT r FROM unnest(written) AS r WHERE r.lockout AND NOT r.lockout_without_update
           )) AS j
      JOIN releases_beside(
               ARRAY(SELECT p FROM placed_releases(known) AS p)
           ) AS b
        ON ((j.rule).bundle IS NULL OR (j.rule).bundle = b.bundle)
       AND ((j.rule).platforms IS NULL OR b.platform = ANY ((j.rule).platforms))
       AND ((j.rule).regions && b.regions) IS NOT FALSE
       AND rule_matches_release(j.versions, j.builds, j.target, b.key, b.build_key)
       AND NOT rule_matches_release(j.versions, j.builds, j.target, b.offer_key, b.offer_build)
     ORDER BY (j.rule).key, b.bundle, b.platform, b.place DESC;
END
$$;

CREATE VIEW policy_warnings WITH (security_invoker = true) AS
WITH every AS MATERIALIZED (
    SELECT ARRAY(SELECT r FROM rules AS r WHERE r.enabled) AS rules,
           ARRAY(SELECT r FROM final_rules() AS r) AS finals,
           ARRAY(SELECT r FROM releases AS r) AS releases
)
SELECT found.rule, found.release, found.warning, found.detail, found.hint
  FROM (
      SELECT stored.rule, stored.release, w.warning, NULL::text AS detail, w.hint
        FROM (
            SELECT 'rules' AS table_name, r.key::text AS rule, NULL::bigint AS release, to_jsonb(r) AS policy_row FROM rules AS r
             UNION ALL
            SELECT 'rule_texts', t.rule, NULL, to_jsonb(t) FROM rule_texts AS t
             UNION ALL
            SELECT 'releases', NULL, r.id, to_jsonb(r) FROM releases AS r
             UNION ALL
            SELECT 'store_links', NULL, NULL, to_jsonb(s) FROM store_links AS s
        ) AS stored
       CROSS JOIN LATERAL row_warnings(stored.table_name, stored.policy_row) AS w
       UNION ALL
      SELECT NULL, NULL, w.warning, NULL, w.hint
        FROM text_size_warnings(ARRAY(SELECT a.bundle FROM apps AS a)) AS w
       UNION ALL
      SELECT s.key, NULL,
             format('rule %s is waiting', quoted(s.key)),
             format('Why: %s.', translate(s.reason, '{}', '')),
             CASE
                 WHEN s.waits_for = 'release'
                     THEN 'Once users can get such a release, record that: add it, or set what is in its way.'
                 WHEN r.held_at IS NOT NULL
                     THEN format('Let its steps go on: SELECT * FROM resume_rule(%L); Or disable it.', s.key)
                 ELSE 'Set its rollout, or disable it.'
             END
        FROM rule_status_at(
                 ARRAY[now()],
                 ARRAY(SELECT r.key FROM rules AS r WHERE r.enabled AND (r.target IS NOT NULL OR r.rollout = 0)),
                 looks_back => false
             ) AS s
        JOIN rules AS r ON r.key = s.key
       -- What the clock ends is a plan.
       WHERE s.status = 'waiting' AND (s.next = r.ends_at OR s.next IS NULL)
         AND NOT EXISTS (SELECT FROM target_warnings(r))
       UNION ALL
      SELECT w.rule, NULL, (w.item).warning, NULL, (w.item).hint
        FROM every
       CROSS JOIN LATERAL gap_warnings(
                      ARRAY(
                          SELECT g
                            FROM gaps(
                                     ROW(
                                         every.rules, every.finals, present_steps(every.finals), every.releases
                                     )::lockout_policy,
                                     ARRAY(SELECT a FROM apps AS a), now()
                                 ) AS g
                      ),
                      now()
                  ) AS w
       UNION ALL
      SELECT w.rule, NULL, (w.item).warning, NULL, (w.item).hint
        FROM every CROSS JOIN LATERAL beside_warnings(every.rules, every.releases) AS w
       UNION ALL
      SELECT NULL, w.release, (w.item).warning, NULL, (w.item).hint
        FROM every CROSS JOIN LATERAL order_warnings(every.releases) AS w
  ) AS found
 ORDER BY found.rule, found.release, found.warning;

COMMENT ON VIEW policy_warnings IS
    'What is probably not meant in the policy as it stands now: what its edits would be warned of.';
COMMENT ON COLUMN policy_warnings.rule IS 'Key of the rule; null: it is about something else.';
COMMENT ON COLUMN policy_warnings.release IS 'Number of the release; null: it is about something else.';
