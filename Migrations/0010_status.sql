-- What is so now: the status of each rule. Nothing else decides it; servers and commands ask here.
--
-- Whatever the clock changes about a rule is a set of times here: when a release reaches its target, when a final rule
-- hides it, when somebody in a place has a way out of its lockout. One look at these sets tells the status at a moment,
-- since when it holds and what comes next.

SET LOCAL search_path = public, pg_temp;

CREATE FUNCTION versiongate_internal.time_span(start timestamptz, finish timestamptz) RETURNS tstzmultirange
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = public, pg_temp
RETURN CASE
    WHEN start >= finish THEN '{}'::tstzmultirange
    ELSE tstzmultirange(tstzrange(start, finish))
END;
COMMENT ON FUNCTION versiongate_internal.time_span IS
    'The times from one, inclusive, to another, exclusive; null: no bound. None where the end is not after the start.';

CREATE FUNCTION versiongate_internal.time_after(at timestamptz, duration interval) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = public, pg_temp
RETURN (at AT TIME ZONE 'UTC' + coalesce(duration, '0')) AT TIME ZONE 'UTC';
COMMENT ON FUNCTION versiongate_internal.time_after IS
    'A time and a duration later, days being of 24 hours, whatever the session''s time zone.';

CREATE TYPE versiongate_internal.judged_rule AS (
    rule rules, versions versiongate_internal.version_spans, builds versiongate_internal.version_spans,
    os versiongate_internal.version_spans, target bytea, effective versiongate_internal.version_spans
);
COMMENT ON TYPE versiongate_internal.judged_rule IS
    'A rule with what its ranges mean; null: no condition. effective: the readable versions that it is for, in its range and'
    ' below its target.';

CREATE FUNCTION versiongate_internal.read_rules(written rules[]) RETURNS SETOF versiongate_internal.judged_rule
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = public, pg_temp
    SET standard_conforming_strings = on
    SET jit = off
AS $$
DECLARE
    least_key CONSTANT bytea := '\x00010000';
BEGIN
    RETURN QUERY
    SELECT r::rules, read.versions, read.builds, read.os, read.target,
           CASE
               WHEN r.versions IS NULL
                   THEN versiongate_internal.version_spans(versiongate_internal.version_span(least_key, NULL))
               ELSE read.versions
           END
               * versiongate_internal.version_spans(
                   versiongate_internal.version_span(least_key, CASE WHEN r.target IS NOT NULL THEN read.target END)
               )
      FROM unnest(written) AS r
      LEFT JOIN rules AS present
        ON present.key = r.key
       AND (present.versions, present.builds, present.os) IS NOT DISTINCT FROM (r.versions, r.builds, r.os)
      LEFT JOIN versiongate_internal.rule_spans AS spans ON spans.rule = present.key
     CROSS JOIN LATERAL (
         SELECT coalesce(spans.versions, (versiongate_internal.read_version_range(r.versions)).spans),
                coalesce(spans.builds, (versiongate_internal.read_version_range(r.builds)).spans),
                coalesce(spans.os, (versiongate_internal.read_version_range(r.os)).spans),
                versiongate_internal.version_key(r.target)
     ) AS read(versions, builds, os, target);
END
$$;
COMMENT ON FUNCTION versiongate_internal.read_rules IS 'Rules with what their ranges mean.';

CREATE AGGREGATE versiongate_internal.times_agg(tstzmultirange) (
    SFUNC = multirange_union, STYPE = tstzmultirange, INITCOND = '{}', PARALLEL = SAFE
);
COMMENT ON AGGREGATE versiongate_internal.times_agg(tstzmultirange) IS
    'The union of sets of times. In a window that grows each row costs once; range_agg sorts all of them for each row.';

-- What this costs: the releases, once; those of them that may be the greatest for somebody, times the lockouts; and the
-- classes, times the lockouts. Nothing is compared with all others.
--
-- Clients that see the same releases are one class: those of regions that the same lists of releases name (none: that no
-- release names, or not sent), whose system has reached one min_os of a release and not the next (null: not even the
-- first, or not sent). To a lockout, releases that follow each other and are alike a way out of it, or none, are one run.
CREATE FUNCTION versiongate_internal.ways_out(
    lockouts rules[], known releases[], present_apps apps[], since timestamptz DEFAULT '-infinity',
    by_region text[] DEFAULT NULL, by_system bytea[] DEFAULT '{}'
)
    RETURNS TABLE (
        key text, bundle text, platform text, region text, system bytea, is_part boolean, times tstzmultirange
    )
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = public, pg_temp
    SET standard_conforming_strings = on
    SET enable_nestloop = off
    SET enable_mergejoin = off
    SET jit = off
AS $$
DECLARE
    least_key CONSTANT bytea := '\x00010000';
    all_lists CONSTANT bigint[] := '{0}';
    -- A release that is live since before it has soaked for every lockout at `since`, however long it is live.
    soaked_by CONSTANT timestamptz := versiongate_internal.time_after(
        since, -coalesce((SELECT max(l.soak) FROM unnest(lockouts) AS l), '0')
    );
BEGIN
    RETURN QUERY
    WITH lockout AS MATERIALIZED (
        SELECT (j.rule).key AS key,
               (j.rule).bundle AS bundle,
               (j.rule).platforms AS platforms,
               (j.rule).regions AS regions,
               coalesce((j.rule).soak, '0') AS soak,
               j.versions, j.builds, j.os, j.target, j.effective
          FROM versiongate_internal.read_rules(lockouts) AS j
    ),
    store AS MATERIALIZED (
        SELECT r.bundle, r.platform, r.regions,
               versiongate_internal.version_key(r.version) AS version,
               versiongate_internal.version_key(r.build) AS build,
               versiongate_internal.version_key(r.min_os) AS min_os,
               greatest(r.live_at, soaked_by) AS live_at,
               r.withdrawn_at
          FROM unnest(known) AS r
         WHERE NOT r.staged AND r.live_at IS NOT NULL
           AND (r.withdrawn_at IS NULL OR r.withdrawn_at > greatest(r.live_at, soaked_by))
    ),
    -- Without those that nobody is ever offered, as the same clients can have a greater one for as long.
    kept AS MATERIALIZED (
        SELECT s.*, versiongate_internal.version_family(s.version) AS family,
               CASE
                   WHEN s.regions IS NOT NULL
                       THEN dense_rank() OVER (PARTITION BY s.bundle, s.platform ORDER BY s.regions)
               END AS list
          FROM (
              SELECT s.*,
                     min(s.live_at) FILTER (WHERE s.withdrawn_at IS NULL) OVER (
                         PARTITION BY s.bundle, s.platform, s.regions, s.min_os
                         ORDER BY s.version DESC, s.build DESC NULLS LAST
                         ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                     ) AS greater_from
                FROM store AS s
          ) AS s
         WHERE s.live_at < s.greater_from OR s.greater_from IS NULL
    ),
    area AS MATERIALIZED (
        SELECT l.bundle, l.platform, named.region, array_agg(l.list ORDER BY l.list) AS lists
          FROM (SELECT DISTINCT k.bundle, k.platform, k.regions, k.list FROM kept AS k) AS l
         CROSS JOIN LATERAL unnest(l.regions) AS named(region)
         GROUP BY l.bundle, l.platform, named.region
    ),
    class AS MATERIALIZED (
        SELECT a.bundle, a.platform, a.lists, y.least,
               versiongate_internal.version_span(
                   coalesce(y.least, least_key),
                   lead(y.least) OVER (PARTITION BY a.bundle, a.platform, a.lists ORDER BY y.least NULLS FIRST)
               ) AS systems
          FROM (
              SELECT a.bundle, a.platform, a.lists FROM area AS a
               UNION
              SELECT k.bundle, k.platform, '{}' FROM kept AS k
          ) AS a
          JOIN (
              SELECT k.bundle, k.platform, k.min_os AS least FROM kept AS k
               UNION
              SELECT k.bundle, k.platform, NULL FROM kept AS k
          ) AS y ON y.bundle = a.bundle AND y.platform = a.platform
    ),
    judged AS MATERIALIZED (
        SELECT l.key, k.bundle, k.platform, k.version, k.build, k.list, k.min_os, had.times,
               l.target IS NULL OR k.version >= l.target AS reaches,
               -- It would not be matched itself, and is above a client that is.
               NOT (
                   (l.versions IS NULL OR l.versions @> k.version)
                   AND (l.builds IS NULL OR k.build IS NULL OR l.builds @> k.build)
                   AND (l.target IS NULL OR k.version < l.target)
               ) AND (
                   l.effective && versiongate_internal.version_span(least_key, k.family)
                   OR l.effective @> k.version
                   AND k.build > least_key
                   AND (l.builds IS NULL OR l.builds && versiongate_internal.version_span(least_key, k.build))
               ) IS TRUE AS is_way
          FROM lockout AS l
          JOIN kept AS k
            ON (k.bundle = l.bundle OR l.bundle IS NULL) AND (l.platforms IS NULL OR k.platform = ANY (l.platforms))
         CROSS JOIN LATERAL (
             SELECT tstzrange(
                        least(
                            greatest((k.live_at AT TIME ZONE 'UTC' + l.soak) AT TIME ZONE 'UTC', since), k.withdrawn_at
                        ),
                        k.withdrawn_at
                    )
         ) AS had(times)
    ),
    -- From the least release on.
    run AS MATERIALIZED (
        SELECT j.key, j.bundle, j.platform, j.run, j.is_way, j.reaches, j.list, j.min_os, range_agg(j.times) AS times
          FROM (
              SELECT j.*, count(*) FILTER (WHERE j.is_other) OVER upwards AS run
                FROM (
                    SELECT j.*,
                           (j.is_way, j.reaches) IS DISTINCT FROM (lag(j.is_way) OVER upwards, lag(j.reaches) OVER upwards)
                               AS is_other
                      FROM judged AS j
                    WINDOW upwards AS (PARTITION BY j.key, j.bundle, j.platform ORDER BY j.version, j.build NULLS FIRST)
                ) AS j
              WINDOW upwards AS (PARTITION BY j.key, j.bundle, j.platform ORDER BY j.version, j.build NULLS FIRST)
          ) AS j
         WHERE j.is_way OR j.run > 1
         GROUP BY j.key, j.bundle, j.platform, j.run, j.is_way, j.reaches, j.list, j.min_os
    ),
    -- Lockouts to which all that is the same are judged once, as the first of them.
    alike AS MATERIALIZED (
        SELECT r.key, r.bundle, r.platform,
               min(r.key) OVER (PARTITION BY r.bundle, r.platform, r.runs, l.regions IS NULL, l.os IS NULL) AS first_key
          FROM (
              SELECT r.key, r.bundle, r.platform,
                     string_agg(
                         concat_ws(' ', r.run, r.is_way, r.reaches, r.list, '>=', r.min_os, r.times), ';'
                         ORDER BY r.run, r.list, r.min_os
                     ) AS runs
                FROM run AS r
               GROUP BY r.key, r.bundle, r.platform
          ) AS r
          JOIN lockout AS l ON l.key = r.key
    ),
    judged_once AS MATERIALIZED (
        SELECT r.*
          FROM run AS r
          JOIN alike AS a ON a.key = r.key AND a.bundle = r.bundle AND a.platform = r.platform AND a.first_key = a.key
    ),
    -- The times at which a class can have one of a run; and at which it is offered one, as it can have no greater one.
    had AS MATERIALIZED (
        SELECT r.key, r.bundle, r.platform, r.run, r.is_way, r.reaches, c.lists, c.least, c.systems,
               versiongate_internal.times_agg(h.times) OVER (
                   PARTITION BY r.key, r.bundle, r.platform, r.run, c.lists ORDER BY c.least NULLS FIRST
               ) AS times
          FROM (SELECT DISTINCT r.key, r.bundle, r.platform, r.run, r.is_way, r.reaches FROM judged_once AS r) AS r
          JOIN class AS c ON c.bundle = r.bundle AND c.platform = r.platform
          LEFT JOIN (
              SELECT r.key, r.bundle, r.platform, r.run, c.lists, r.min_os, range_agg(r.times) AS times
                FROM judged_once AS r
                JOIN (SELECT DISTINCT c.bundle, c.platform, c.lists FROM class AS c) AS c
                  ON c.bundle = r.bundle AND c.platform = r.platform AND (r.list IS NULL OR r.list = ANY (c.lists))
               GROUP BY r.key, r.bundle, r.platform, r.run, c.lists, r.min_os
          ) AS h
            ON h.key = r.key AND h.bundle = r.bundle AND h.platform = r.platform AND h.run = r.run
           AND h.lists = c.lists AND coalesce(h.min_os, '') = coalesce(c.least, '')
    ),
    offered AS MATERIALIZED (
        SELECT h.*,
               h.times - versiongate_internal.times_agg(h.times) OVER (
                   PARTITION BY h.key, h.bundle, h.platform, h.lists, h.least
                   ORDER BY h.run DESC
                   ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
               ) AS offer
          FROM had AS h
    ),
    -- unsaid: of those who do not say where they are, or on what system. Only they are asked to reach what they are not
    -- offered. Also of all regions together.
    way AS MATERIALIZED (
        SELECT o.key, o.bundle, o.platform, coalesce(o.lists, all_lists) AS lists, o.systems,
               versiongate_internal.times_agg(o.offer) FILTER (WHERE o.reaches) AS times,
               versiongate_internal.times_agg(o.offer * (
                   SELECT coalesce(range_agg(r.times), '{}')
                     FROM run AS r
                    WHERE r.key = o.key AND r.bundle = o.bundle AND r.platform = o.platform AND r.reaches
                      AND (l.regions IS NULL AND o.lists = '{}' OR r.list IS NULL OR r.list = ANY (o.lists))
                      AND (l.os IS NULL AND o.least IS NULL OR r.min_os IS NULL OR r.min_os <= o.least)
               )) FILTER (
                   WHERE NOT o.reaches
                     AND (l.regions IS NULL AND o.lists = '{}' OR l.os IS NULL AND o.least IS NULL)
               ) AS unsaid
          FROM offered AS o
          JOIN lockout AS l ON l.key = o.key
         WHERE o.is_way AND o.offer <> '{}'
         GROUP BY o.key, o.bundle, o.platform, o.least, o.systems, ROLLUP (o.lists)
    ),
    listed AS MATERIALIZED (
        SELECT DISTINCT r.bundle, r.platform, r.regions, a.bundle IS NOT NULL AS is_open
          FROM unnest(known) AS r
          LEFT JOIN unnest(present_apps) AS a ON a.bundle = r.bundle AND NOT a.paused
    ),
    place AS MATERIALIZED (
        SELECT l.key, l.regions, l.os, p.bundle, p.platform
          FROM lockout AS l
         CROSS JOIN LATERAL (
             SELECT o.bundle, o.platform
               FROM listed AS o
              WHERE CASE WHEN l.bundle IS NULL THEN o.is_open ELSE o.bundle = l.bundle END
                AND (l.platforms IS NULL OR o.platform = ANY (l.platforms))
              UNION
             SELECT l.bundle, p.platform
               FROM unnest(l.platforms) AS p(platform)
              WHERE l.bundle IS NOT NULL
                 OR NOT EXISTS (SELECT FROM listed AS o WHERE o.platform = p.platform AND o.is_open)
         ) AS p
    ),
    asked AS MATERIALIZED (
        SELECT p.key, p.bundle, p.platform, area.region, NULL::bytea AS system, false AS is_part,
               p.regions IS NULL AS any_region, p.os AS systems
          FROM place AS p
          LEFT JOIN LATERAL unnest(p.regions) AS area(region) ON true
         UNION ALL
        SELECT p.key, p.bundle, p.platform, area.region, system.least, true, false,
               versiongate_internal.version_spans(versiongate_internal.version_span(system.at, system.at, '[]'))
          FROM place AS p
          LEFT JOIN LATERAL (
              SELECT unnest(p.regions)
               UNION
              SELECT n.region
                FROM listed AS n0
               CROSS JOIN LATERAL (
                   SELECT NULL UNION ALL SELECT unnest(n0.regions) UNION ALL SELECT unnest(by_region)
               ) AS n(region)
               WHERE p.regions IS NULL AND n0.bundle = p.bundle AND n0.platform = p.platform
          ) AS area(region) ON true
         -- The oldest of its systems is null, whatever the rule says of them.
         CROSS JOIN LATERAL (
             SELECT n.least, coalesce(n.least, oldest.key) AS at
               FROM (SELECT coalesce(lower(p.os), least_key)) AS oldest(key)
              CROSS JOIN LATERAL (SELECT NULL UNION SELECT unnest(by_system)) AS n(least)
              WHERE n.least IS NULL OR n.least > oldest.key AND (p.os IS NULL OR p.os @> n.least)
         ) AS system
         WHERE by_region IS NOT NULL
    )
    SELECT p.key, p.bundle, p.platform, p.region, p.system, p.is_part,
           versiongate_internal.times_agg(
               CASE WHEN p.is_part THEN w.times ELSE w.times + w.unsaid END
           )
      FROM asked AS p
      LEFT JOIN area AS a ON a.bundle = p.bundle AND a.platform = p.platform AND a.region = p.region
      LEFT JOIN alike AS l ON l.key = p.key AND l.bundle = p.bundle AND l.platform = p.platform
      LEFT JOIN way AS w
        ON w.key = l.first_key AND w.bundle = p.bundle AND w.platform = p.platform
       AND w.lists = CASE WHEN p.any_region THEN all_lists ELSE coalesce(a.lists, '{}') END
       AND (p.systems IS NULL OR p.systems && w.systems)
     GROUP BY p.key, p.bundle, p.platform, p.region, p.system, p.is_part;
END
$$;
COMMENT ON FUNCTION versiongate_internal.ways_out IS
    'The places of lockouts, and the times from some time on at which somebody there whom the rule is for has a way out: the'
    ' platforms of the rule, else those that the app has releases for (of a rule for every app, each app''s), times its'
    ' regions. With regions to look at also the parts of these places: a rule that names none in each of them, in each'
    ' that a release names and in all others (null), and each rule for the oldest of its systems (null), and for each of'
    ' those to look at.';

CREATE FUNCTION versiongate_internal.place_name(rule_bundle text, bundle text, platform text, region text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = public, pg_temp
RETURN platform || coalesce(' in ' || region, '') || CASE
    WHEN rule_bundle IS NULL AND bundle IS NOT NULL THEN ' of ' || bundle
    ELSE ''
END;
COMMENT ON FUNCTION versiongate_internal.place_name IS
    'A place of a lockout for people: ios in JP; with its app where the rule is for every app.';

-- The conditions are compared in the join, not in a function that is called for each pair: a hundred final rules before
-- five hundred others are fifty thousand pairs.
CREATE FUNCTION versiongate_internal.hidden_rules(finals rules[], others rules[])
    RETURNS TABLE (key text, final text, final_position integer)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = public, pg_temp
    SET jit = off
AS $$
BEGIN
    RETURN QUERY
    WITH f AS MATERIALIZED (
        SELECT (j.rule).*, j.versions AS version_spans, j.builds AS build_spans, j.os AS os_spans
          FROM versiongate_internal.read_rules(finals) AS j
    ),
    r AS MATERIALIZED (
        SELECT (j.rule).*, j.effective, j.builds AS build_spans, j.os AS os_spans
          FROM versiongate_internal.read_rules(others) AS j
    )
    SELECT r.key::text, f.key::text, f."position"
      FROM f
      JOIN r
        ON (f."position", f.key) < (r."position", r.key)
       AND (f.bundle IS NULL OR f.bundle = r.bundle)
       -- A client whose version cannot be read meets a rule without versions and target alone.
       AND (
           f.versions IS NULL
           OR (r.versions IS NOT NULL OR r.target IS NOT NULL) AND f.version_spans @> r.effective
       )
       AND (f.builds IS NULL OR f.build_spans @> r.build_spans)
       AND (f.os IS NULL OR f.os_spans @> r.os_spans)
       AND (f.platforms IS NULL OR f.platforms @> r.platforms)
       AND (f.regions IS NULL OR f.regions @> r.regions)
       AND (
           f.languages IS NULL
           OR (
               SELECT bool_and(versiongate_internal.language_matches(lower(l.range), f.languages))
                 FROM unnest(r.languages) AS l(range)
           )
       )
       AND (
           f.attributes IS NULL
           OR NOT EXISTS (
               SELECT FROM jsonb_each(f.attributes) AS a(name, accepted)
                WHERE (a.accepted @> (r.attributes -> a.name)) IS NOT TRUE
           )
       );
END
$$;
COMMENT ON FUNCTION versiongate_internal.hidden_rules IS
    'Which rules come after final ones without a target of which they are for no client more: whoever they are for meets'
    ' the conditions of those.';

CREATE FUNCTION versiongate_internal.full_times(written rules[], steps rollout_steps[])
    RETURNS TABLE (key text, times tstzmultirange)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = public, pg_temp
    SET jit = off
AS $$
BEGIN
    -- Steps never fall, and beside them the rule's own percentage is 0.
    RETURN QUERY
    SELECT r.key::text,
           CASE
               WHEN r.rollout = 100 THEN versiongate_internal.time_span(r.starts_at, r.ends_at)
               WHEN last.at IS NULL THEN '{}'
               ELSE versiongate_internal.time_span(greatest(r.starts_at, last.at), r.ends_at)
           END
      FROM unnest(written) AS r
      LEFT JOIN (
          SELECT s.rule, min(s.at) AS at FROM unnest(steps) AS s WHERE s.rollout = 100 GROUP BY s.rule
      ) AS last ON last.rule = r.key AND (r.held_at IS NULL OR last.at <= r.held_at);
END
$$;
COMMENT ON FUNCTION versiongate_internal.full_times IS
    'The times at which rules with these steps are on for everybody whom they are for.';

CREATE FUNCTION versiongate_internal.present_steps(written rules[]) RETURNS rollout_steps[]
    LANGUAGE sql STABLE PARALLEL SAFE SET search_path = public, pg_temp
RETURN ARRAY(SELECT s FROM rollout_steps AS s WHERE s.rule IN (SELECT r.key FROM unnest(written) AS r));
COMMENT ON FUNCTION versiongate_internal.present_steps IS 'The steps of some rules as they stand.';

CREATE FUNCTION versiongate_internal.rule_status_at(
    moments timestamptz[], keys text[] DEFAULT NULL, looks_back boolean DEFAULT true
)
    RETURNS TABLE (
        at timestamptz, key text, bundle text, status text, since timestamptz, next timestamptz, rollout numeric, reason text
    )
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = public, pg_temp
    SET enable_nestloop = off
    SET jit = off
AS $$
DECLARE
    lockouts CONSTANT rules[] := ARRAY(
        SELECT r FROM rules AS r
         WHERE r.enabled AND r.lockout AND NOT r.lockout_without_update AND (keys IS NULL OR r.key = ANY (keys))
    );
    targeted CONSTANT rules[] := ARRAY(
        SELECT r FROM rules AS r WHERE r.enabled AND r.target IS NOT NULL AND (keys IS NULL OR r.key = ANY (keys))
    );
    finals CONSTANT rules[] := ARRAY(SELECT r FROM rules AS r WHERE r.enabled AND r.final AND r.target IS NULL);
    hideable CONSTANT rules[] := CASE
        WHEN finals = '{}' THEN '{}'
        ELSE ARRAY(SELECT r FROM rules AS r WHERE r.enabled AND (keys IS NULL OR r.key = ANY (keys)))
    END;
BEGIN
    RETURN QUERY
    WITH way AS MATERIALIZED (
        SELECT w.*
          FROM versiongate_internal.ways_out(
                   lockouts,
                   CASE WHEN lockouts = '{}' THEN '{}' ELSE ARRAY(SELECT r FROM releases AS r) END,
                   ARRAY(SELECT a FROM apps AS a),
                   CASE WHEN looks_back THEN '-infinity' ELSE (SELECT min(m.at) FROM unnest(moments) AS m(at)) END
               ) AS w
    ),
    exit AS MATERIALIZED (
        SELECT l.key,
               coalesce(range_agg(w.times), '{}') AS anywhere,
               coalesce(range_intersect_agg(w.times), '{}') AS everywhere
          FROM unnest(lockouts) AS l
          LEFT JOIN way AS w ON w.key = l.key
         GROUP BY l.key
    ),
    -- The releases that reach a target, whether or not anybody can have them.
    reaching AS MATERIALIZED (
        SELECT (j.rule).key AS key,
               (j.rule).soak AS soak,
               r.id,
               r.platform,
               r.version || coalesce(' (' || r.build || ')', '') AS label,
               versiongate_internal.version_key(r.version) AS version,
               versiongate_internal.version_key(r.build) AS build,
               r.staged, r.live_at, r.withdrawn_at,
               versiongate_internal.time_after(r.live_at, (j.rule).soak) AS soaked_at,
               (r.regions IS NULL OR (j.rule).regions IS NULL OR r.regions && (j.rule).regions) AS in_regions,
               (
                   r.min_os IS NULL OR j.os IS NULL OR j.os && versiongate_internal.version_span(
                       versiongate_internal.version_key(r.min_os), NULL
                   )
               ) AS on_systems
          FROM versiongate_internal.read_rules(targeted) AS j
          JOIN releases AS r
            ON r.bundle = (j.rule).bundle
           AND ((j.rule).platforms IS NULL OR r.platform = ANY ((j.rule).platforms))
           AND versiongate_internal.version_key(r.version) >= j.target
    ),
    reached AS MATERIALIZED (
        SELECT t.key,
               coalesce(
                   range_agg(versiongate_internal.time_span(r.soaked_at, r.withdrawn_at))
                       FILTER (WHERE NOT r.staged AND r.live_at IS NOT NULL AND r.in_regions AND r.on_systems),
                   '{}'
               ) AS times
          FROM unnest(targeted) AS t
          LEFT JOIN reaching AS r ON r.key = t.key
         GROUP BY t.key
    ),
    hiding AS MATERIALIZED (
        SELECT h.key, h.final, h.final_position AS "position", f.times
          FROM versiongate_internal.hidden_rules(finals, hideable) AS h
          JOIN versiongate_internal.full_times(finals, versiongate_internal.present_steps(finals)) AS f
            ON f.key = h.final
    ),
    hidden AS MATERIALIZED (
        SELECT h.key, range_agg(h.times) AS times FROM hiding AS h GROUP BY h.key
    ),
    judged AS MATERIALIZED (
        SELECT r.key, r."position", r.bundle, r.enabled, r.starts_at, r.ends_at, r.rollout, r.held_at, r.target, r.platforms,
               coalesce(a.paused, false) AS is_paused,
               coalesce(t.times, '{(,)}') AS reached,
               coalesce(h.times, '{}') AS hidden,
               coalesce(e.anywhere, '{(,)}') AS anywhere,
               coalesce(e.everywhere, '{(,)}') AS everywhere
          FROM rules AS r
          LEFT JOIN apps AS a ON a.bundle = r.bundle
          LEFT JOIN reached AS t ON t.key = r.key
          LEFT JOIN hidden AS h ON h.key = r.key
          LEFT JOIN exit AS e ON e.key = r.key
         WHERE keys IS NULL OR r.key = ANY (keys)
    ),
    moment AS MATERIALIZED (
        SELECT j.key, '-infinity'::timestamptz AS at FROM judged AS j
         UNION
        SELECT j.key, change.at
          FROM judged AS j
         CROSS JOIN LATERAL (
             SELECT j.starts_at
              UNION ALL
             SELECT j.ends_at
              UNION ALL
             SELECT bound.at
               FROM unnest(ARRAY[j.reached, j.hidden, j.anywhere, j.everywhere]) AS held(times)
              CROSS JOIN LATERAL unnest(held.times) AS span(times)
              CROSS JOIN LATERAL (VALUES (lower(span.times)), (upper(span.times))) AS bound(at)
         ) AS change(at)
         WHERE change.at IS NOT NULL
         UNION
        SELECT s.rule, s.at
          FROM rollout_steps AS s
          JOIN judged AS j ON j.key = s.rule AND (j.held_at IS NULL OR s.at <= j.held_at)
    ),
    state AS MATERIALIZED (
        SELECT j.key, m.at, share.rollout, now_is.status,
               CASE WHEN now_is.status IN ('on', 'on without lockout', 'partly without lockout') THEN share.rollout END
                   AS sent_to
          FROM moment AS m
          JOIN judged AS j ON j.key = m.key
         CROSS JOIN LATERAL (
             SELECT coalesce(
                        (
                            SELECT s.rollout FROM rollout_steps AS s
                             WHERE s.rule = j.key AND s.at <= least(m.at, j.held_at)
                             ORDER BY s.at DESC
                             LIMIT 1
                        ),
                        j.rollout
                    )
         ) AS share(rollout)
         CROSS JOIN LATERAL (
             SELECT CASE
                 WHEN NOT j.enabled THEN 'disabled'
                 WHEN j.ends_at <= m.at THEN 'ended'
                 WHEN j.is_paused THEN 'paused'
                 WHEN j.starts_at > m.at THEN 'scheduled'
                 WHEN NOT j.reached @> m.at OR share.rollout = 0 THEN 'waiting'
                 WHEN j.hidden @> m.at THEN 'hidden'
                 WHEN j.everywhere @> m.at THEN 'on'
                 WHEN j.anywhere @> m.at THEN 'partly without lockout'
                 ELSE 'on without lockout'
             END
         ) AS now_is(status)
    ),
    compared AS MATERIALIZED (
        SELECT s.*,
               lag(s.at) OVER by_time IS NOT NULL
                   AND (s.status, s.sent_to) IS DISTINCT FROM (lag(s.status) OVER by_time, lag(s.sent_to) OVER by_time)
                   AS is_change,
               lead(s.at) OVER by_time AS until
          FROM state AS s
        WINDOW by_time AS (PARTITION BY s.key ORDER BY s.at)
    ),
    changing AS MATERIALIZED (
        SELECT c.key, c.at, c.until, c.status, c.rollout,
               max(c.at) FILTER (WHERE c.is_change) OVER (PARTITION BY c.key ORDER BY c.at) AS since,
               min(c.at) FILTER (WHERE c.is_change) OVER (
                   PARTITION BY c.key ORDER BY c.at ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
               ) AS next
          FROM compared AS c
    ),
    present AS MATERIALIZED (
        SELECT asked.at, c.key, c.status, c.rollout, c.since, c.next
          FROM (SELECT DISTINCT m.at FROM unnest(moments) AS m(at)) AS asked
          JOIN changing AS c ON c.at <= asked.at AND (c.until > asked.at OR c.until IS NULL)
    )
    SELECT p.at, j.key::text, j.bundle::text, p.status, p.since, p.next, trim_scale(p.rollout),
           nullif(concat_ws('; ', CASE
               WHEN p.status = 'paused' THEN j.bundle || ' is paused'
               WHEN p.status = 'scheduled' THEN 'it starts at {' || versiongate_internal.time_text(j.starts_at) || '}'
               WHEN p.status = 'waiting' AND NOT j.reached @> p.at THEN coalesce(
                   (
                       SELECT format('%s on %s %s', r.label, r.platform, obstacle.words)
                         FROM reaching AS r
                        CROSS JOIN LATERAL (SELECT ' and soaks until {' || versiongate_internal.time_text(r.soaked_at) || '}') AS t(soaks)
                        CROSS JOIN LATERAL (
                            SELECT o.place, o.words
                              FROM (
                                  VALUES
                                      (1, r.staged, 2, 'is staged'),
                                      (2, r.live_at IS NULL, 3, 'has no date'),
                                      (3, NOT r.in_regions, 4, 'is not for its regions'),
                                      (4, NOT r.on_systems, 4, 'is not for its systems'),
                                      (5, r.withdrawn_at <= r.soaked_at, 4, 'is withdrawn before it has soaked'),
                                      (6, r.live_at <= p.at, 1, 'is live' || t.soaks),
                                      (7, true, 1, format(
                                          'is live from {%s} on%s', versiongate_internal.time_text(r.live_at),
                                          CASE WHEN r.soak > '0' THEN t.soaks END
                                      ))
                              ) AS o(number, holds, place, words)
                             WHERE o.holds
                             ORDER BY o.number
                             LIMIT 1
                        ) AS obstacle
                        WHERE r.key = j.key
                          AND (
                              r.withdrawn_at > p.at AND r.withdrawn_at <= r.live_at IS NOT TRUE OR r.withdrawn_at IS NULL
                          )
                        ORDER BY obstacle.place, CASE WHEN obstacle.place = 1 THEN r.soaked_at END,
                                 r.version, r.build NULLS FIRST, r.id
                        LIMIT 1
                   ),
                   'no release reaches ' || j.target || coalesce(' on ' || array_to_string(j.platforms, ', '), '')
               )
               WHEN p.status = 'waiting' THEN coalesce(
                   (
                       SELECT format(
                           'the step to %s %% comes at {%s}', trim_scale(s.rollout), versiongate_internal.time_text(s.at)
                       )
                         FROM rollout_steps AS s
                        WHERE s.rule = j.key AND s.at > p.at AND s.rollout > 0
                          AND (j.held_at IS NULL OR s.at <= j.held_at)
                        ORDER BY s.at
                        LIMIT 1
                   ),
                   'its rollout is 0 %'
               )
               WHEN p.status = 'hidden' THEN (
                   SELECT h.final || ' comes before it, is final and is sent to everybody whom it is for'
                     FROM hiding AS h
                    WHERE h.key = j.key AND h.times @> p.at
                    ORDER BY h."position", h.final
                    LIMIT 1
               )
               WHEN p.status IN ('on without lockout', 'partly without lockout') THEN coalesce(
                   (
                       SELECT 'no way out on ' || versiongate_internal.first_names(array_agg(
                                  versiongate_internal.place_name(j.bundle, w.bundle, w.platform, w.region)
                                  ORDER BY w.bundle COLLATE "C" NULLS FIRST, w.platform COLLATE "C", w.region COLLATE "C"
                              ))
                         FROM way AS w
                        WHERE w.key = j.key AND NOT w.times @> p.at
                       HAVING count(*) > 0
                   ),
                   'no release is recorded'
               )
           END,
           CASE
               WHEN p.status NOT IN ('disabled', 'ended') AND j.held_at <= p.at AND EXISTS (
                   SELECT FROM rollout_steps AS s WHERE s.rule = j.key AND s.at > j.held_at
               ) THEN 'its steps are held since {' || versiongate_internal.time_text(j.held_at) || '}'
           END), '')
      FROM judged AS j
      JOIN present AS p ON p.key = j.key
     ORDER BY p.at, j."position", j.key;
END
$$;
COMMENT ON FUNCTION versiongate_internal.rule_status_at IS
    'The status of rules at each of some times, as the view rule_status gives it for now; without keys, of all rules. Times'
    ' within a reason stand in braces. Who does not need to know since when a lockout has its status need not look back,'
    ' which takes most of the time.';

CREATE VIEW rule_status WITH (security_invoker = true) AS
SELECT s.key, s.bundle, s.status, s.since, s.next, s.rollout, translate(s.reason, '{}', '') AS reason
  FROM versiongate_internal.rule_status_at(ARRAY[now()]) AS s;

COMMENT ON VIEW rule_status IS 'What each rule is now, in the order of the messages.';
COMMENT ON COLUMN rule_status.key IS 'Key of the rule.';
COMMENT ON COLUMN rule_status.bundle IS 'The app; null: every app.';
COMMENT ON COLUMN rule_status.status IS
    'The first that holds: disabled; ended; paused (its app is); scheduled (it has not started); waiting (for a release'
    ' that reaches its target, or for a rollout above 0); hidden (a rule before it is final and sent to all whom it is'
    ' for); on without lockout (nobody whom it reaches has a way out); partly without lockout (nobody on some of its'
    ' platforms, or of those that the app has releases for, or in some of its regions); on.';
COMMENT ON COLUMN rule_status.since IS
    'When the clock last changed the status, or the rollout of a rule that is on: by a start, a step, an end, or a release'
    ' that was live, had soaked or was withdrawn. Null: only edits have.';
COMMENT ON COLUMN rule_status.next IS 'When the clock will change it next, if nothing is edited; null: never.';
COMMENT ON COLUMN rule_status.rollout IS 'The percentage of installations in force now.';
COMMENT ON COLUMN rule_status.reason IS 'Why it is not plainly on; null where the status says it all.';
