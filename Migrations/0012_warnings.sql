-- What is probably not meant. policy_warnings tells all that is so; an edit raises what of it was not so before, and what
-- is about the edit itself.

SET LOCAL search_path = public, versiongate_internal, pg_temp;

-- About an edit itself.

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
     ORDER BY edited.key;
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
               SELECT r FROM unnest(written) AS r WHERE r.enabled AND r.lockout AND NOT r.lockout_without_update
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

-- Which releases were there already, with the version and build, the regions and the time of a later one.
CREATE FUNCTION versiongate_internal.again_warnings(known releases[])
    RETURNS TABLE (release bigint, item warning)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET enable_nestloop = off SET jit = off
AS $$
BEGIN
    RETURN QUERY
    WITH keyed AS MATERIALIZED (
        SELECT k.*, version_key(k.version) AS key, version_key(k.build) AS build_key FROM unnest(known) AS k
    )
    SELECT DISTINCT ON (k.id)
           k.id, ROW(
               'releases.version', 'releases_again',
               format('release %s of %s on %s was there already: ', k.version, k.bundle, k.platform) || concat(
                   CASE
                       WHEN r.staged THEN 'staged'
                       WHEN r.live_at IS NULL THEN 'without a date'
                       ELSE CASE WHEN r.live_at <= now() THEN 'live since ' ELSE 'live from ' END || time_text(r.live_at)
                   END,
                   ', build ' || r.build, ', min_os ' || r.min_os, ', in ' || array_to_string(r.regions, ', '),
                   ', until ' || time_text(r.withdrawn_at)
               ),
               format('To change that one instead: UPDATE releases SET ... WHERE id = %s;', r.id),
               'To change that one, take this back and use:'
               ' `release edit {bundle} {version} --platform {platform} --live-at TIME`',
               jsonb_build_object('bundle', k.bundle, 'version', k.version, 'platform', k.platform)
           )::warning
      FROM keyed AS k
      JOIN keyed AS r
        ON r.bundle = k.bundle AND r.platform = k.platform AND r.key = k.key AND r.id < k.id
       AND (r.build_key = k.build_key) IS NOT FALSE
       AND (r.regions && k.regions) IS NOT FALSE
       AND (r.withdrawn_at > greatest(clock_timestamp(), k.live_at)) IS NOT FALSE
       AND (k.withdrawn_at > greatest(clock_timestamp(), r.live_at)) IS NOT FALSE
     ORDER BY k.id, r.id;
END
$$;

-- Rules for platforms that no release and no store link of their app has, and for systems that these never had.
CREATE FUNCTION versiongate_internal.rule_platform_warnings(policy policy_part) RETURNS TABLE (rule text, item warning)
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    usual CONSTANT text[] := '{ios,android,macos,windows,linux,tvos,watchos,visionos,web}';
BEGIN
    RETURN QUERY
    WITH place AS MATERIALIZED (
        SELECT r.bundle, r.platform FROM unnest(policy.releases) AS r
         UNION
        SELECT s.bundle, s.platform FROM unnest(policy.links) AS s
    ),
    asked AS MATERIALIZED (
        SELECT r.key::text, r.platforms, r.os, 'rule ' || quoted(r.key) AS name,
               ARRAY(SELECT DISTINCT p.platform FROM place AS p WHERE r.bundle IS NULL OR p.bundle = r.bundle) AS known
          FROM unnest(policy.rules) AS r
         WHERE (r.platforms IS NOT NULL OR r.os IS NOT NULL) AND (r.bundle IS NOT NULL OR policy.is_whole)
    )
    SELECT a.key, w::warning
      FROM asked AS a
     CROSS JOIN LATERAL system_warnings(a.name, 'rules.os', coalesce(a.platforms, a.known), a.os) AS w
     UNION ALL
    SELECT a.key, ROW(
               'rules.platforms', 'platform_unusual',
               format('%s: no release and no store link is on %s', a.name, strange.names),
               coalesce('Is ' || strange.meant || ' meant? ', '')
                   || 'It is for clients that say just that; if none does, it reaches nobody there.',
               NULL, NULL
           )::warning
      FROM asked AS a
     CROSS JOIN LATERAL (
         SELECT string_agg(p.platform, ', ' ORDER BY p.place) AS names,
                string_agg(DISTINCT platform_meant(p.platform), ', ') AS meant
           FROM unnest(a.platforms) WITH ORDINALITY AS p(platform, place)
          -- Of an app that has neither releases nor links nothing is known, so only unusual names stand out.
          WHERE p.platform <> ALL (a.known) AND (a.known <> '{}' OR p.platform <> ALL (usual))
     ) AS strange
     WHERE strange.names IS NOT NULL;
END
$$;

-- A message that leads to the store needs a store link where it is shown. Where a rule names no platforms, the releases
-- tell them; of an app without any nothing does.
CREATE FUNCTION versiongate_internal.link_warnings(policy policy_part) RETURNS TABLE (rule text, item warning)
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    WITH store AS MATERIALIZED (
        SELECT r.bundle, r.platform, bool_or(NOT is_withdrawn(r, clock_timestamp())) AS is_open
          FROM unnest(policy.releases) AS r
         GROUP BY r.bundle, r.platform
    ),
    link AS MATERIALIZED (SELECT s.bundle, s.platform FROM unnest(policy.links) AS s)
    SELECT r.key::text, ROW(
               'store_links.link', 'store_links_missing',
               format('rule %s leads to the store, but %s has no store link', quoted(r.key), missing.bundle)
                   || coalesce(' for ' || missing.platform || ': users there see no button', ': users see no button'),
               format(
                   'INSERT INTO store_links (bundle, platform, link) VALUES (%L, %L, ''https://...'');', missing.bundle,
                   coalesce(missing.platform, 'ios')
               ),
               '`app edit {bundle} --store-link {platform}=https://...`',
               jsonb_build_object('bundle', missing.bundle, 'platform', missing.platform)
           )::warning
      FROM unnest(policy.rules) AS r
     CROSS JOIN LATERAL (
         SELECT s.bundle, s.platform
           FROM store AS s
          WHERE s.is_open AND (r.bundle IS NULL OR s.bundle = r.bundle)
            AND (r.platforms IS NULL OR s.platform = ANY (r.platforms))
          UNION
         SELECT r.bundle, p.platform FROM unnest(r.platforms) AS p(platform) WHERE r.bundle IS NOT NULL
          UNION
         SELECT r.bundle, NULL
          WHERE r.bundle IS NOT NULL AND r.platforms IS NULL
            AND NOT EXISTS (SELECT FROM store AS s WHERE s.bundle = r.bundle)
     ) AS missing
     WHERE r.link = 'store'
       AND NOT EXISTS (
           SELECT FROM link AS s
            WHERE s.bundle = missing.bundle AND (s.platform = missing.platform OR missing.platform IS NULL)
       );
END
$$;

-- Rules that nobody gets: no release will reach their target as things stand, or their rollout will stay at 0 until they
-- end. What the clock ends is a plan. detail: why.
CREATE FUNCTION versiongate_internal.waiting_warnings(policy policy_part, moment timestamptz)
    RETURNS TABLE (rule text, item warning, detail text)
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    WITH newest AS MATERIALIZED (
        SELECT r.bundle, r.platform, (array_agg(k.version ORDER BY k.version DESC))[1] AS version
          FROM unnest(policy.releases) AS r
         CROSS JOIN LATERAL (SELECT version_key(r.version)) AS k(version)
         WHERE NOT is_withdrawn(r, clock_timestamp())
         GROUP BY r.bundle, r.platform
    ),
    asked AS MATERIALIZED (
        SELECT r AS rule, r.*, r.target IS NOT NULL AND NOT EXISTS (
                   SELECT FROM newest AS n
                    WHERE n.bundle = r.bundle AND (r.platforms IS NULL OR n.platform = ANY (r.platforms))
                      AND n.version >= version_key(r.target)
               ) AS is_above_all
          FROM unnest(policy.rules) AS r
         WHERE r.enabled AND (r.target IS NOT NULL OR r.rollout = 0)
    )
    SELECT a.key::text, ROW(
               'rules.target', 'rules_target_waits',
               format(
                   'rule %s reaches nobody until a release of %s%s is %s or above', quoted(a.key),
                   a.bundle, coalesce(' on ' || array_to_string(a.platforms, ', '), ''), a.target
               ),
               format(
                   'Once users can get it: INSERT INTO releases (bundle, platform, version, live_at) VALUES (%L, %L, %L, now());',
                   a.bundle, coalesce(a.platforms[1], 'ios'), a.target
               ),
               'Once users can get it: `release add {bundle} {version} --platform {platform}`',
               jsonb_build_object(
                   'bundle', a.bundle, 'version', a.target,
                   'platform', CASE WHEN cardinality(a.platforms) = 1 THEN a.platforms[1] END
               )
           )::warning, NULL
      FROM asked AS a
     WHERE a.is_above_all
     UNION ALL
    SELECT a.key, ROW(
               'rules.' || CASE WHEN reached.times @> moment THEN 'rollout' ELSE 'target' END, 'rules_waiting',
               format('rule %s is waiting', quoted(a.key)),
               CASE
                   WHEN NOT reached.times @> moment
                       THEN 'Once users can get such a release, record that: add it, or set what is in its way.'
                   WHEN a.held_at IS NOT NULL
                       THEN format('Let its steps go on: SELECT * FROM resume_rule(%L); Or disable it.', a.key)
                   ELSE 'Set its rollout, or disable it.'
               END,
               CASE
                   WHEN NOT reached.times @> moment THEN NULL
                   WHEN a.held_at IS NOT NULL THEN 'Let its steps go on: `rule resume {rule}`; or: `rule disable {rule}`'
                   ELSE 'To set its rollout: `rule rollout {rule} PERCENT`; or: `rule disable {rule}`'
               END,
               jsonb_build_object('rule', a.key)
           )::warning,
           translate(status_reason(a.rule, 'waiting', moment, reached.times @> moment, NULL, NULL), '{}', '')
      FROM asked AS a
      JOIN reached_times(ARRAY(SELECT a.rule FROM asked AS a), policy.releases) AS reached ON reached.key = a.key
     CROSS JOIN LATERAL (
         SELECT CASE WHEN a.rollout > 0 THEN '-infinity' ELSE min(s.at) END
           FROM unnest(policy.steps) AS s
          WHERE s.rule = a.key AND s.rollout > 0 AND (a.held_at IS NULL OR s.at <= a.held_at)
     ) AS sent(since)
     WHERE NOT a.is_above_all AND (a.starts_at > moment) IS NOT TRUE AND (a.ends_at <= moment) IS NOT TRUE
       AND NOT EXISTS (SELECT FROM unnest(policy.apps) AS p WHERE p.bundle = a.bundle AND p.paused)
       AND (sent.since IS NULL OR NOT reached.times && time_span(greatest(moment, sent.since), a.ends_at));
END
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

-- All that is so in a part of the policy, but for what one row tells, and gaps.
CREATE FUNCTION versiongate_internal.warnings_beside(policy policy_part, moment timestamptz, of_releases boolean)
    RETURNS TABLE (rule text, release bigint, item warning, detail text)
    LANGUAGE sql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
    SELECT w.rule, NULL::bigint, w.item, NULL FROM rule_platform_warnings(policy) AS w
     UNION ALL
    SELECT w.rule, NULL, w.item, NULL FROM link_warnings(policy) AS w
     UNION ALL
    SELECT w.rule, NULL, w.item, w.detail FROM waiting_warnings(policy, moment) AS w
     UNION ALL
    SELECT w.rule, NULL, w.item, NULL FROM beside_warnings(policy.rules, policy.releases) AS w
     UNION ALL
    SELECT NULL, w.release, w.item, NULL FROM again_warnings(policy.releases) AS w WHERE of_releases
     UNION ALL
    SELECT NULL, w.release, w.item, NULL FROM order_warnings(policy.releases) AS w WHERE of_releases
$$;

-- The part of the policy in which edits can have brought a warning about; of null: all of it.
CREATE FUNCTION versiongate_internal.part_of_policy(edits row_edit[]) RETURNS policy_part
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    policy policy_part;
    edited_rules CONSTANT text[] := ARRAY(
        SELECT coalesce(n.key ->> 'key', n.key ->> 'rule') FROM unnest(edits) AS n WHERE n.table_name ~ '^rule|^rollout'
    );
    -- All rules of an app look at its releases and links; and a final rule hides any of its app.
    edited_bundles CONSTANT text[] := ARRAY(
        SELECT side.item ->> 'bundle'
          FROM unnest(edits) AS n, LATERAL (VALUES (n.before), (n.after)) AS side(item)
         WHERE n.table_name IN ('apps', 'releases', 'store_links') AND side.item IS NOT NULL
         UNION
        SELECT r.bundle FROM rules AS r WHERE r.key IN (SELECT unnest(edited_rules)) AND r.enabled AND r.final
    );
    bundles text[];
BEGIN
    policy.rules := ARRAY(
        SELECT r FROM rules AS r
         WHERE edits IS NULL OR r.key IN (SELECT unnest(edited_rules)) OR r.enabled AND (
             r.bundle = ANY (edited_bundles)
             OR edited_bundles <> '{}' AND (r.bundle IS NULL OR array_position(edited_bundles, NULL) IS NOT NULL)
         )
    );
    bundles := edited_bundles || ARRAY(SELECT DISTINCT r.bundle FROM unnest(policy.rules) AS r);
    policy.is_whole := edits IS NULL OR EXISTS (
        SELECT FROM unnest(policy.rules) AS r WHERE r.bundle IS NULL AND r.key = ANY (edited_rules)
    );
    policy.finals := ARRAY(SELECT r FROM final_rules() AS r WHERE r.bundle IS NULL OR r.bundle = ANY (bundles));
    policy.steps := present_steps(policy.rules || policy.finals);
    policy.releases := ARRAY(SELECT r FROM releases AS r WHERE policy.is_whole OR r.bundle = ANY (bundles));
    policy.links := ARRAY(SELECT s FROM store_links AS s WHERE policy.is_whole OR s.bundle = ANY (bundles));
    policy.apps := ARRAY(SELECT a FROM apps AS a);
    RETURN policy;
END
$$;

CREATE FUNCTION versiongate_internal.part_before(policy policy_part, edits row_edit[]) RETURNS policy_part
    LANGUAGE sql STABLE
RETURN ROW(
    rows_before(policy.rules, 'rules', edits),
    ARRAY(
        SELECT r FROM unnest(rows_before(policy.finals, 'rules', edits)) AS r
         WHERE r.enabled AND r.final AND r.target IS NULL
    ),
    rows_before(policy.steps, 'rollout_steps', edits), rows_before(policy.releases, 'releases', edits),
    rows_before(policy.links, 'store_links', edits), rows_before(policy.apps, 'apps', edits), policy.is_whole
)::policy_part;

CREATE VIEW policy_warnings WITH (security_invoker = true) AS
WITH every AS MATERIALIZED (SELECT part_of_policy(NULL) AS policy)
SELECT found.rule, found.release, (found.item).warning, 'Why: ' || found.detail || '.' AS detail, (found.item).hint
  FROM (
      SELECT stored.rule, stored.release, w::warning AS item, NULL::text AS detail
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
      SELECT NULL, NULL, w::warning, NULL FROM text_size_warnings(ARRAY(SELECT a.bundle FROM apps AS a)) AS w
       UNION ALL
      SELECT w.* FROM every CROSS JOIN LATERAL warnings_beside(every.policy, now(), true) AS w
       UNION ALL
      SELECT w.rule, NULL, w.item, NULL
        FROM every
       CROSS JOIN LATERAL gap_warnings(ARRAY(SELECT g FROM gaps(every.policy, now()) AS g), now()) AS w
  ) AS found
 ORDER BY found.rule, found.release, (found.item).warning;

COMMENT ON VIEW policy_warnings IS
    'What is probably not meant in the policy as it stands now: what its edits would be warned of.';
COMMENT ON COLUMN policy_warnings.rule IS 'Key of the rule; null: it is about something else.';
COMMENT ON COLUMN policy_warnings.release IS 'Number of the release; null: it is about something else.';

-- A warning of an edit is a row of policy_warnings that was not there before: what is so now, and was not so with the
-- rows as they were. People wait for this, so it is bounded.
CREATE FUNCTION versiongate_internal.new_warnings(edits row_edit[]) RETURNS SETOF warning
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp
    SET enable_nestloop = off SET jit = off
AS $$
DECLARE
    most_releases CONSTANT bigint := 20000;
    most_classes CONSTANT bigint := 50000;
    moment CONSTANT timestamptz := clock_timestamp();
    policy CONSTANT policy_part := part_of_policy(edits);
    before CONSTANT policy_part := part_before(policy, edits);
    of_releases CONSTANT boolean := policy.releases <> before.releases;
    regions CONSTANT text[] := ARRAY(
        SELECT DISTINCT named.region
          FROM (SELECT DISTINCT r.regions FROM unnest(policy.releases || before.releases) AS r) AS r
         CROSS JOIN LATERAL unnest(r.regions) AS named(region)
    );
BEGIN
    RETURN QUERY
    WITH former AS MATERIALIZED (
        SELECT * FROM warnings_beside(before, moment, of_releases) WHERE cardinality(policy.releases) <= most_releases
    )
    SELECT (w.item).place, (w.item).kind, concat_ws(': ', (w.item).warning, w.detail), (w.item).hint,
           (w.item).command, (w.item).words
      FROM warnings_beside(policy, moment, of_releases) AS w
     WHERE cardinality(policy.releases) <= most_releases
       AND (w.item).warning NOT IN (SELECT (f.item).warning FROM former AS f)
       -- Where no release reached its target, it waited too.
       AND NOT ((w.item).kind = 'rules_waiting' AND w.rule IN (
           SELECT f.rule FROM former AS f WHERE (f.item).kind = 'rules_target_waits'
       ))
       -- Whoever edits how far a rule is rolled out knows that it goes no further.
       AND NOT ((w.item).place = 'rules.rollout' AND EXISTS (
           SELECT FROM unnest(edits) AS n
            WHERE n.key ->> 'rule' = w.rule OR n.key ->> 'key' = w.rule
              AND row_columns(n.before, '{rollout,held_at}') IS DISTINCT FROM row_columns(n.after, '{rollout,held_at}')
       ))
     ORDER BY w.rule, w.release, 3;
    IF cardinality(policy.releases) > most_releases
        OR (SELECT count(*) FROM unnest(policy.rules) AS r WHERE r.enabled AND r.lockout) * (cardinality(regions) + 1)
           * (SELECT count(DISTINCT r.min_os) + 1 FROM unnest(policy.releases || before.releases) AS r)
           > most_classes
    THEN
        RETURN NEXT (
            'rules.lockout', 'rules_ways_out_unknown',
            format(
                'it was not judged whether lockouts of %s lose a way out, because that takes too long',
                name_list(ARRAY(SELECT DISTINCT r.bundle FROM unnest(policy.releases) AS r ORDER BY 1))
            ),
            'To see the current state: SELECT * FROM policy_warnings;', 'To see the current state: `rule list`', NULL
        )::warning;
    ELSE
        RETURN QUERY
        SELECT (w.item).*
          FROM gap_warnings(ARRAY(SELECT g FROM new_gaps(policy, before, edits, moment, regions) AS g), moment) AS w
         ORDER BY w.rule;
    END IF;
END
$$;

CREATE FUNCTION versiongate_internal.edit_warnings(edits row_edit[], undone bigint) RETURNS SETOF warning
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    edited_tables CONSTANT text[] := ARRAY(SELECT DISTINCT n.table_name FROM unnest(edits) AS n);
    sent CONSTANT text[] := '{bundle,enabled,title,text,link}';
    -- An edit of these columns alone is judged by its own row.
    own_columns CONSTANT text[] := array_remove(silent_columns(), 'link');
    -- The edits after which something else may be so beside other rows.
    edits_beside CONSTANT row_edit[] := ARRAY(
        SELECT n
          FROM unnest(edits) AS n
         WHERE n.table_name = 'apps' AND n.before -> 'paused' IS DISTINCT FROM n.after -> 'paused'
            OR n.table_name IN ('store_links', 'releases', 'rules', 'rollout_steps')
               AND n.before - own_columns IS DISTINCT FROM n.after - own_columns
    );
BEGIN
    RETURN QUERY SELECT * FROM skipped_hold_warnings(edits) WHERE undone IS NOT NULL;
    RETURN QUERY
    SELECT w.*
      FROM unnest(edits) WITH ORDINALITY AS n
     CROSS JOIN LATERAL row_warnings(n.table_name, n.after) AS w
     WHERE w.warning NOT IN (SELECT b.warning FROM row_warnings(n.table_name, n.before) AS b)
       -- Whoever takes a release back into stages keeps its time.
       AND (w.kind = 'releases_staged_live_at' AND n.before -> 'live_at' = n.after -> 'live_at') IS NOT TRUE
     ORDER BY n.ordinality
     LIMIT 100;
    RETURN QUERY SELECT * FROM used_key_warnings(edits) WHERE undone IS NULL AND 'rules' = ANY (edited_tables);
    RETURN QUERY SELECT * FROM stale_translation_warnings(edits) WHERE undone IS NULL AND 'rules' = ANY (edited_tables);
    RETURN QUERY SELECT * FROM stopped_ramp_warnings(edits) WHERE 'rollout_steps' = ANY (edited_tables);
    RETURN QUERY SELECT * FROM new_warnings(edits_beside) WHERE edits_beside <> '{}';
    RETURN QUERY
    SELECT *
      FROM text_size_warnings(ARRAY(
               SELECT a.bundle
                 FROM apps AS a
                 JOIN (
                     SELECT DISTINCT r.bundle
                       FROM unnest(edits) AS n
                       JOIN rules AS r ON r.key = coalesce(n.key ->> 'rule', n.key ->> 'key') AND r.enabled
                      WHERE row_columns(n.before, sent) IS DISTINCT FROM row_columns(n.after, sent)
                 ) AS edited ON edited.bundle = a.bundle OR edited.bundle IS NULL
           ));
    RETURN QUERY SELECT * FROM mass_edit_warnings(edits) WHERE undone IS NULL;
END
$$;

CREATE FUNCTION versiongate_internal.warn_of_edits(edits row_edit[], undone bigint) RETURNS void
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    most CONSTANT integer := 20;
BEGIN
    PERFORM warn(ROW(w.place, w.kind, w.warning, w.hint, w.command, w.words)::warning)
       FROM (
           SELECT w.*, row_number() OVER (PARTITION BY w.kind ORDER BY w.ordinality) AS number
             FROM edit_warnings(edits, undone) WITH ORDINALITY AS w
       ) AS w
      WHERE w.number <= most
      ORDER BY w.ordinality;
END
$$;
