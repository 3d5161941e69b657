-- What is so now: the status of each rule. Nothing else decides it; servers and commands ask here.
--
-- Whatever the clock changes about a rule is a set of times here: when a release reaches its target, when a final rule
-- hides it, when somebody in a place has a way out of its lockout. One look at these sets tells the status at a moment,
-- since when it holds and what comes next.

SET LOCAL search_path = public, versiongate_internal, pg_temp;

-- The times from one, inclusive, to another, exclusive; null: no bound. None where the end is not after the start.
CREATE FUNCTION versiongate_internal.time_span(start timestamptz, finish timestamptz) RETURNS tstzmultirange
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN start >= finish THEN '{}'::tstzmultirange
    ELSE tstzmultirange(tstzrange(start, finish))
END;

-- A time and a duration later, days being of 24 hours, whatever the session's time zone.
CREATE FUNCTION versiongate_internal.time_after(at timestamptz, duration interval) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (at AT TIME ZONE 'UTC' + coalesce(duration, '0')) AT TIME ZONE 'UTC';

-- A rule with what its ranges mean; null: no condition. effective: the readable versions that it is for, in its range
-- and below its target.
CREATE TYPE versiongate_internal.judged_rule AS (
    rule rules, versions version_spans, builds version_spans, os version_spans, target bytea, effective version_spans
);

CREATE FUNCTION versiongate_internal.read_rules(written rules[]) RETURNS SETOF judged_rule
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET jit = off
AS $$
BEGIN
    RETURN QUERY
    SELECT r::rules, read.versions, read.builds, read.os, read.target,
           CASE
               WHEN r.versions IS NULL THEN version_spans(version_span(least_key(), NULL))
               ELSE read.versions
           END
               * version_spans(version_span(least_key(), CASE WHEN r.target IS NOT NULL THEN read.target END))
      FROM unnest(written) AS r
      LEFT JOIN rules AS present
        ON present.key = r.key
       AND (present.versions, present.builds, present.os) IS NOT DISTINCT FROM (r.versions, r.builds, r.os)
      LEFT JOIN rule_spans AS spans ON spans.rule = present.key
     CROSS JOIN LATERAL (
         SELECT coalesce(spans.versions, (read_version_range(r.versions)).spans),
                coalesce(spans.builds, (read_version_range(r.builds)).spans),
                coalesce(spans.os, (read_version_range(r.os)).spans),
                version_key(r.target)
     ) AS read(versions, builds, os, target);
END
$$;

-- The union of sets of times. In a window that grows each row costs once; range_agg sorts all of them for each row.
CREATE AGGREGATE versiongate_internal.times_agg(tstzmultirange) (
    SFUNC = multirange_union, STYPE = tstzmultirange, INITCOND = '{}', PARALLEL = SAFE
);

-- The ways out of lockouts.
--
-- The steps are planned with the settings of ways_out, which alone calls them.
--
-- What this costs: the releases, once; those of them that may be the greatest for somebody, times the lockouts; and the
-- classes, times the lockouts. Nothing is compared with all others.
--
-- Clients that see the same releases are one class: those of regions that the same lists of releases name (none: that no
-- release names, or not sent), whose system has reached one min_os of a release and not the next (null: not even the
-- first, or not sent). To a lockout, releases that follow each other and are alike a way out of it, or none, are one run.

-- A release with what its versions mean. list: a number for its regions among those of its app and platform; null: all.
CREATE TYPE versiongate_internal.offered_release AS (
    bundle text, platform text, regions text[], version bytea, build bytea, min_os bytea, live_at timestamptz,
    withdrawn_at timestamptz, family bytea, list bigint
);

-- The releases that users can get at some time from a time on, without those that nobody is ever offered, as the same
-- clients can have a greater one for as long.
CREATE FUNCTION versiongate_internal.offered_releases(known releases[], since timestamptz) RETURNS SETOF offered_release
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    WITH store AS MATERIALIZED (
        SELECT r.bundle, r.platform, r.regions,
               version_key(r.version) AS version,
               version_key(r.build) AS build,
               version_key(r.min_os) AS min_os,
               greatest(r.live_at, since) AS live_at,
               r.withdrawn_at
          FROM unnest(known) AS r
         WHERE NOT r.staged AND r.live_at IS NOT NULL
           AND (r.withdrawn_at IS NULL OR r.withdrawn_at > greatest(r.live_at, since))
    )
    SELECT s.bundle, s.platform, s.regions, s.version, s.build, s.min_os, s.live_at, s.withdrawn_at,
           version_family(s.version),
           CASE
               WHEN s.regions IS NOT NULL THEN dense_rank() OVER (PARTITION BY s.bundle, s.platform ORDER BY s.regions)
           END
      FROM (
          SELECT s.*,
                 min(s.live_at) FILTER (WHERE s.withdrawn_at IS NULL) OVER (
                     PARTITION BY s.bundle, s.platform, s.regions, s.min_os
                     ORDER BY s.version DESC, s.build DESC NULLS LAST
                     ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                 ) AS greater_from
            FROM store AS s
      ) AS s
     WHERE s.live_at < s.greater_from OR s.greater_from IS NULL;
END
$$;

-- Releases of a run of a lockout that have the same regions and min_os, and the times at which there is one of them.
CREATE TYPE versiongate_internal.release_run AS (
    key text, bundle text, platform text, run bigint, is_way boolean, reaches boolean, list bigint, min_os bytea,
    times tstzmultirange
);

-- The runs of releases of each lockout, from the first way out on.
CREATE FUNCTION versiongate_internal.release_runs(lockouts judged_rule[], offers offered_release[], since timestamptz)
    RETURNS SETOF release_run
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    WITH judged AS MATERIALIZED (
        SELECT (l.rule).key::text AS key, k.bundle, k.platform, k.version, k.build, k.list, k.min_os, had.times,
               l.target IS NULL OR k.version >= l.target AS reaches,
               -- It would not be matched itself, and is above a client that is.
               NOT rule_matches_release(l.versions, l.builds, l.target, k.version, k.build) AND (
                   l.effective && version_span(least_key(), k.family)
                   OR l.effective @> k.version
                   AND k.build > least_key()
                   AND (l.builds IS NULL OR l.builds && version_span(least_key(), k.build))
               ) IS TRUE AS is_way
          FROM unnest(lockouts) AS l
          JOIN unnest(offers) AS k
            ON (k.bundle = (l.rule).bundle OR (l.rule).bundle IS NULL)
           AND ((l.rule).platforms IS NULL OR k.platform = ANY ((l.rule).platforms))
         CROSS JOIN LATERAL tstzrange(
             least(greatest(time_after(k.live_at, (l.rule).soak), since), k.withdrawn_at), k.withdrawn_at
         ) AS had(times)
    ),
    -- From the least release on.
    numbered AS (
        SELECT j.*, count(*) FILTER (WHERE j.is_other) OVER upwards AS run
          FROM (
              SELECT j.*,
                     (j.is_way, j.reaches) IS DISTINCT FROM (lag(j.is_way) OVER upwards, lag(j.reaches) OVER upwards)
                         AS is_other
                FROM judged AS j
              WINDOW upwards AS (PARTITION BY j.key, j.bundle, j.platform ORDER BY j.version, j.build NULLS FIRST)
          ) AS j
        WINDOW upwards AS (PARTITION BY j.key, j.bundle, j.platform ORDER BY j.version, j.build NULLS FIRST)
    )
    SELECT n.key, n.bundle, n.platform, n.run, n.is_way, n.reaches, n.list, n.min_os, range_agg(n.times)
      FROM numbered AS n
     WHERE n.is_way OR n.run > 1
     GROUP BY n.key, n.bundle, n.platform, n.run, n.is_way, n.reaches, n.list, n.min_os;
END
$$;

CREATE FUNCTION versiongate_internal.region_lists(offers offered_release[])
    RETURNS TABLE (bundle text, platform text, region text, lists bigint[])
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT l.bundle, l.platform, named.region, array_agg(l.list ORDER BY l.list)
      FROM (SELECT DISTINCT o.bundle, o.platform, o.regions, o.list FROM unnest(offers) AS o) AS l
     CROSS JOIN LATERAL unnest(l.regions) AS named(region)
     GROUP BY l.bundle, l.platform, named.region;
END
$$;

-- The classes of clients: their lists of regions, and their systems from the min_os that they have reached last.
CREATE FUNCTION versiongate_internal.client_classes(offers offered_release[])
    RETURNS TABLE (bundle text, platform text, lists bigint[], min_os bytea, systems version_span)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT a.bundle, a.platform, a.lists, y.min_os,
           version_span(
               coalesce(y.min_os, least_key()),
               lead(y.min_os) OVER (PARTITION BY a.bundle, a.platform, a.lists ORDER BY y.min_os NULLS FIRST)
           )
      FROM (
          SELECT r.bundle, r.platform, r.lists FROM region_lists(offers) AS r
           UNION
          SELECT o.bundle, o.platform, '{}' FROM unnest(offers) AS o
      ) AS a
      JOIN (
          SELECT o.bundle, o.platform, o.min_os FROM unnest(offers) AS o
           UNION
          SELECT o.bundle, o.platform, NULL FROM unnest(offers) AS o
      ) AS y ON y.bundle = a.bundle AND y.platform = a.platform;
END
$$;

-- When clients of a class have a way out of a lockout; lists {0}: those of any region. unsaid: the times of those who
-- do not say where they are, or on what system; only they are asked to reach what they are not offered.
CREATE FUNCTION versiongate_internal.class_ways(lockouts judged_rule[], runs release_run[], offers offered_release[])
    RETURNS TABLE (
        key text, bundle text, platform text, lists bigint[], systems version_span,
        times tstzmultirange, unsaid tstzmultirange
    )
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    WITH run AS MATERIALIZED (SELECT * FROM unnest(runs)),
    class AS MATERIALIZED (SELECT * FROM client_classes(offers)),
    -- The times at which a class can have one of a run; and at which it is offered one, as it can have no greater one.
    had AS MATERIALIZED (
        SELECT r.key, r.bundle, r.platform, r.run, r.is_way, r.reaches, c.lists, c.min_os AS least, c.systems,
               times_agg(h.times) OVER (
                   PARTITION BY r.key, r.bundle, r.platform, r.run, c.lists ORDER BY c.min_os NULLS FIRST
               ) AS times
          FROM (SELECT DISTINCT r.key, r.bundle, r.platform, r.run, r.is_way, r.reaches FROM run AS r) AS r
          JOIN class AS c ON c.bundle = r.bundle AND c.platform = r.platform
          LEFT JOIN (
              SELECT r.key, r.bundle, r.platform, r.run, c.lists, r.min_os, range_agg(r.times) AS times
                FROM run AS r
                JOIN (SELECT DISTINCT c.bundle, c.platform, c.lists FROM class AS c) AS c
                  ON c.bundle = r.bundle AND c.platform = r.platform AND (r.list IS NULL OR r.list = ANY (c.lists))
               GROUP BY r.key, r.bundle, r.platform, r.run, c.lists, r.min_os
          ) AS h
            ON h.key = r.key AND h.bundle = r.bundle AND h.platform = r.platform AND h.run = r.run
           AND h.lists = c.lists AND coalesce(h.min_os, '') = coalesce(c.min_os, '')
    ),
    offered AS MATERIALIZED (
        SELECT h.*,
               h.times - times_agg(h.times) OVER (
                   PARTITION BY h.key, h.bundle, h.platform, h.lists, h.least
                   ORDER BY h.run DESC
                   ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
               ) AS offer
          FROM had AS h
    )
    SELECT o.key, o.bundle, o.platform, coalesce(o.lists, '{0}'), o.systems,
           times_agg(o.offer) FILTER (WHERE o.reaches),
           times_agg(o.offer * (
               SELECT coalesce(range_agg(r.times), '{}')
                 FROM run AS r
                WHERE r.key = o.key AND r.bundle = o.bundle AND r.platform = o.platform AND r.reaches
                  AND ((l.rule).regions IS NULL AND o.lists = '{}' OR r.list IS NULL OR r.list = ANY (o.lists))
                  AND (l.os IS NULL AND o.least IS NULL OR r.min_os IS NULL OR r.min_os <= o.least)
           )) FILTER (
               WHERE NOT o.reaches
                 AND ((l.rule).regions IS NULL AND o.lists = '{}' OR l.os IS NULL AND o.least IS NULL)
           )
      FROM offered AS o
      JOIN unnest(lockouts) AS l ON (l.rule).key = o.key
     WHERE o.is_way AND o.offer <> '{}'
     GROUP BY o.key, o.bundle, o.platform, o.least, o.systems, ROLLUP (o.lists);
END
$$;

-- The places of lockouts: the platforms of the rule, else those that the app has releases for (of a rule for every app,
-- each app's), times its regions. With regions to look at also the parts of these places: a rule that names none in
-- each of them, in each that a release names and in all others (null), and each rule for the oldest of its systems
-- (null), and for each of those to look at.
CREATE FUNCTION versiongate_internal.lockout_places(
    lockouts judged_rule[], known releases[], present_apps apps[], by_region text[], by_system bytea[]
)
    RETURNS TABLE (
        key text, bundle text, platform text, region text, system bytea, is_part boolean, any_region boolean,
        systems version_spans
    )
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    WITH listed AS MATERIALIZED (
        SELECT DISTINCT r.bundle, r.platform, r.regions, a.bundle IS NOT NULL AS is_open
          FROM unnest(known) AS r
          LEFT JOIN unnest(present_apps) AS a ON a.bundle = r.bundle AND NOT a.paused
    ),
    place AS MATERIALIZED (
        SELECT (l.rule).key::text AS key, (l.rule).regions, l.os, p.bundle, p.platform
          FROM unnest(lockouts) AS l
         CROSS JOIN LATERAL (
             SELECT o.bundle, o.platform
               FROM listed AS o
              WHERE CASE WHEN (l.rule).bundle IS NULL THEN o.is_open ELSE o.bundle = (l.rule).bundle END
                AND ((l.rule).platforms IS NULL OR o.platform = ANY ((l.rule).platforms))
              UNION
             SELECT (l.rule).bundle, p.platform
               FROM unnest((l.rule).platforms) AS p(platform)
              WHERE (l.rule).bundle IS NOT NULL
                 OR NOT EXISTS (SELECT FROM listed AS o WHERE o.platform = p.platform AND o.is_open)
         ) AS p
    )
    SELECT p.key, p.bundle, p.platform, area.region, NULL::bytea, false, p.regions IS NULL, p.os
      FROM place AS p
      LEFT JOIN LATERAL unnest(p.regions) AS area(region) ON true
     UNION ALL
    SELECT p.key, p.bundle, p.platform, area.region, system.least, true, false,
           version_spans(version_span(system.at, system.at, '[]'))
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
           FROM (SELECT coalesce(lower(p.os), least_key())) AS oldest(key)
          CROSS JOIN LATERAL (SELECT NULL UNION SELECT unnest(by_system)) AS n(least)
          WHERE n.least IS NULL OR n.least > oldest.key AND (p.os IS NULL OR p.os @> n.least)
     ) AS system
     WHERE by_region IS NOT NULL;
END
$$;

-- The places of lockouts, and the times from some time on at which somebody there whom the rule is for has a way out.
CREATE FUNCTION versiongate_internal.ways_out(
    lockouts rules[], known releases[], present_apps apps[], since timestamptz DEFAULT '-infinity',
    by_region text[] DEFAULT NULL, by_system bytea[] DEFAULT '{}'
)
    RETURNS TABLE (
        key text, bundle text, platform text, region text, system bytea, is_part boolean, times tstzmultirange
    )
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET enable_nestloop = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    judged CONSTANT judged_rule[] := ARRAY(SELECT j FROM read_rules(lockouts) AS j);
    -- A release that is live since before it has soaked for every lockout at `since`, however long it is live.
    soaked_by CONSTANT timestamptz := time_after(
        since, -coalesce((SELECT max(l.soak) FROM unnest(lockouts) AS l), '0')
    );
    offers CONSTANT offered_release[] := ARRAY(SELECT o FROM offered_releases(known, soaked_by) AS o);
    runs CONSTANT release_run[] := ARRAY(SELECT r FROM release_runs(judged, offers, since) AS r);
BEGIN
    RETURN QUERY
    -- Lockouts to which all that is the same are judged once, as the first of them.
    WITH alike AS MATERIALIZED (
        SELECT r.key, r.bundle, r.platform,
               min(r.key) OVER (PARTITION BY r.bundle, r.platform, r.runs, l.regions IS NULL, l.os IS NULL) AS first_key
          FROM (
              SELECT r.key, r.bundle, r.platform,
                     string_agg(
                         concat_ws(' ', r.run, r.is_way, r.reaches, r.list, '>=', r.min_os, r.times), ';'
                         ORDER BY r.run, r.list, r.min_os
                     ) AS runs
                FROM unnest(runs) AS r
               GROUP BY r.key, r.bundle, r.platform
          ) AS r
          JOIN unnest(lockouts) AS l ON l.key = r.key
    ),
    way AS MATERIALIZED (
        SELECT *
          FROM class_ways(
                   judged,
                   ARRAY(
                       SELECT r
                         FROM unnest(runs) AS r
                         JOIN alike AS a
                           ON a.key = r.key AND a.bundle = r.bundle AND a.platform = r.platform AND a.first_key = a.key
                   ),
                   offers
               )
    )
    SELECT p.key, p.bundle, p.platform, p.region, p.system, p.is_part,
           times_agg(CASE WHEN p.is_part THEN w.times ELSE w.times + w.unsaid END)
      FROM lockout_places(judged, known, present_apps, by_region, by_system) AS p
      LEFT JOIN region_lists(offers) AS a
        ON a.bundle = p.bundle AND a.platform = p.platform AND a.region = p.region
      LEFT JOIN alike AS l ON l.key = p.key AND l.bundle = p.bundle AND l.platform = p.platform
      LEFT JOIN way AS w
        ON w.key = l.first_key AND w.bundle = p.bundle AND w.platform = p.platform
       AND w.lists = CASE WHEN p.any_region THEN '{0}' ELSE coalesce(a.lists, '{}') END
       AND (p.systems IS NULL OR p.systems && w.systems)
     GROUP BY p.key, p.bundle, p.platform, p.region, p.system, p.is_part;
END
$$;

CREATE FUNCTION versiongate_internal.place_name(rule_bundle text, bundle text, platform text, region text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN platform || coalesce(' in ' || region, '') || CASE
    WHEN rule_bundle IS NULL AND bundle IS NOT NULL THEN ' of ' || bundle
    ELSE ''
END;

-- The times at which rules with these steps are on for everybody whom they are for.
CREATE FUNCTION versiongate_internal.full_times(written rules[], steps rollout_steps[])
    RETURNS TABLE (key text, times tstzmultirange)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    -- Steps never fall, and beside them the rule's own percentage is 0.
    RETURN QUERY
    SELECT r.key::text,
           CASE
               WHEN r.rollout = 100 THEN time_span(r.starts_at, r.ends_at)
               WHEN last.at IS NULL THEN '{}'
               ELSE time_span(greatest(r.starts_at, last.at), r.ends_at)
           END
      FROM unnest(written) AS r
      LEFT JOIN (
          SELECT s.rule, min(s.at) AS at FROM unnest(steps) AS s WHERE s.rollout = 100 GROUP BY s.rule
      ) AS last ON last.rule = r.key AND (r.held_at IS NULL OR last.at <= r.held_at);
END
$$;

-- The enabled rules that may hide others. One with a target is not sent to all whom it is for.
CREATE FUNCTION versiongate_internal.final_rules() RETURNS SETOF rules
    LANGUAGE sql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
    SELECT * FROM rules AS r WHERE r.enabled AND r.final AND r.target IS NULL
$$;

CREATE FUNCTION versiongate_internal.present_steps(written rules[]) RETURNS rollout_steps[]
    LANGUAGE sql STABLE PARALLEL SAFE
RETURN ARRAY(SELECT s FROM rollout_steps AS s WHERE s.rule IN (SELECT r.key FROM unnest(written) AS r));

-- Which rules come after final ones without a target of which they are for no client more: whoever they are for meets
-- the conditions of those. times: at which the final one, with these steps, is on for all of them.
-- The conditions are compared in the join, not in a function that is called for each pair: a hundred final rules before
-- five hundred others are fifty thousand pairs.
CREATE FUNCTION versiongate_internal.hidden_rules(finals rules[], others rules[], steps rollout_steps[])
    RETURNS TABLE (key text, final text, final_position integer, times tstzmultirange)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET jit = off
AS $$
BEGIN
    IF finals = '{}' THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH f AS MATERIALIZED (
        SELECT (j.rule).*, j.versions AS version_spans, j.builds AS build_spans, j.os AS os_spans, full_times.times
          FROM read_rules(finals) AS j
          JOIN full_times(finals, steps) ON full_times.key = (j.rule).key
    ),
    r AS MATERIALIZED (
        SELECT (j.rule).*, j.effective, j.builds AS build_spans, j.os AS os_spans
          FROM read_rules(others) AS j
    )
    SELECT r.key::text, f.key::text, f."position", f.times
      FROM f
      JOIN r
        ON (f."position", f.key) < (r."position", r.key)
       AND (f.bundle IS NULL OR f.bundle = r.bundle)
       -- A client whose version cannot be read meets a rule without versions and target alone.
       AND (f.versions IS NULL OR (r.versions IS NOT NULL OR r.target IS NOT NULL) AND f.version_spans @> r.effective)
       AND (f.builds IS NULL OR f.build_spans @> r.build_spans)
       AND (f.os IS NULL OR f.os_spans @> r.os_spans)
       AND (f.platforms IS NULL OR f.platforms @> r.platforms)
       AND (f.regions IS NULL OR f.regions @> r.regions)
       AND (
           f.languages IS NULL
           OR (SELECT bool_and(language_matches(lower(l.range), f.languages)) FROM unnest(r.languages) AS l(range))
       )
       AND (
           f.attributes IS NULL
           OR NOT EXISTS (
               SELECT FROM jsonb_each(f.attributes) AS a(name, accepted)
                -- Of conditions that are no lists only the same is sure to be met.
                WHERE CASE jsonb_typeof(a.accepted)
                    WHEN 'array' THEN a.accepted @> (r.attributes -> a.name)
                    ELSE a.accepted = (r.attributes -> a.name)
                END IS NOT TRUE
           )
       );
END
$$;

CREATE FUNCTION versiongate_internal.target_releases(targeted rules[], known releases[])
    RETURNS TABLE (key text, release releases, soaked_at timestamptz, in_regions boolean, on_systems boolean)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    WITH store AS MATERIALIZED (SELECT r AS release, r.bundle, version_key(r.version) AS key FROM unnest(known) AS r)
    SELECT (j.rule).key::text, s.release, time_after(r.live_at, (j.rule).soak),
           r.regions IS NULL OR (j.rule).regions IS NULL OR r.regions && (j.rule).regions,
           r.min_os IS NULL OR j.os IS NULL OR j.os && version_span(version_key(r.min_os), NULL)
      FROM read_rules(targeted) AS j
      JOIN store AS s ON s.bundle = (j.rule).bundle AND s.key >= j.target
     CROSS JOIN LATERAL (SELECT (s.release).*) AS r
     WHERE (j.rule).platforms IS NULL OR r.platform = ANY ((j.rule).platforms);
END
$$;

-- The times at which a release reaches the target of a rule; at any time where it has none.
CREATE FUNCTION versiongate_internal.reached_times(written rules[], known releases[])
    RETURNS TABLE (key text, times tstzmultirange)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT r.key::text, CASE WHEN r.target IS NULL THEN '{(,)}' ELSE coalesce(range_agg(t.times), '{}') END
      FROM unnest(written) AS r
      LEFT JOIN (
          SELECT t.key, time_span(t.soaked_at, (t.release).withdrawn_at)
            FROM target_releases(ARRAY(SELECT w FROM unnest(written) AS w WHERE w.target IS NOT NULL), known) AS t
           WHERE NOT (t.release).staged AND t.soaked_at IS NOT NULL AND t.in_regions AND t.on_systems
      ) AS t(key, times) ON t.key = r.key
     GROUP BY r.key, r.target;
END
$$;

-- A rule, and the times at which a release reaches its target, at which a final rule hides it, and at which there is a
-- way out of its lockout in some of its places, and in all.
CREATE TYPE versiongate_internal.rule_times AS (
    rule rules, is_paused boolean, reached tstzmultirange, hidden tstzmultirange, anywhere tstzmultirange,
    everywhere tstzmultirange
);

-- The status of rules from each moment on at which the clock may change it; since and next: when it did, and does.
CREATE FUNCTION versiongate_internal.status_periods(judged rule_times[])
    RETURNS TABLE (
        key text, at timestamptz, until timestamptz, status text, rollout numeric, since timestamptz, next timestamptz
    )
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    WITH moment AS MATERIALIZED (
        SELECT DISTINCT j.rule, j.is_paused, j.reached, j.hidden, j.anywhere, j.everywhere, change.at
          FROM unnest(judged) AS j
         CROSS JOIN LATERAL (
             VALUES ('-infinity'::timestamptz), ((j.rule).starts_at), ((j.rule).ends_at)
              UNION ALL
             SELECT bound.at
               FROM unnest(ARRAY[j.reached, j.hidden, j.anywhere, j.everywhere]) AS held(times)
              CROSS JOIN LATERAL unnest(held.times) AS span(times)
              CROSS JOIN LATERAL (VALUES (lower(span.times)), (upper(span.times))) AS bound(at)
              UNION ALL
             SELECT s.at
               FROM rollout_steps AS s
              WHERE s.rule = (j.rule).key AND ((j.rule).held_at IS NULL OR s.at <= (j.rule).held_at)
         ) AS change(at)
         WHERE change.at IS NOT NULL
    ),
    state AS MATERIALIZED (
        SELECT (m.rule).key::text AS key, m.at, share.rollout, now_is.status,
               CASE WHEN now_is.status IN ('on', 'on without lockout', 'partly without lockout') THEN share.rollout END
                   AS sent_to
          FROM moment AS m
         -- Beside steps the rule's own percentage is 0.
         CROSS JOIN LATERAL (
             SELECT CASE WHEN (m.rule).rollout = 0 THEN rollout_at((m.rule).key, m.at) ELSE (m.rule).rollout END
         ) AS share(rollout)
         CROSS JOIN LATERAL (
             SELECT CASE
                 WHEN NOT (m.rule).enabled THEN 'disabled'
                 WHEN (m.rule).ends_at <= m.at THEN 'ended'
                 WHEN m.is_paused THEN 'paused'
                 WHEN (m.rule).starts_at > m.at THEN 'scheduled'
                 WHEN NOT m.reached @> m.at OR share.rollout = 0 THEN 'waiting'
                 WHEN m.hidden @> m.at THEN 'hidden'
                 WHEN m.everywhere @> m.at THEN 'on'
                 WHEN m.anywhere @> m.at THEN 'partly without lockout'
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
    )
    SELECT c.key, c.at, c.until, c.status, c.rollout,
           max(c.at) FILTER (WHERE c.is_change) OVER (PARTITION BY c.key ORDER BY c.at),
           min(c.at) FILTER (WHERE c.is_change) OVER (
               PARTITION BY c.key ORDER BY c.at ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
           )
      FROM compared AS c;
END
$$;

-- What a rule waits for that has a target which no release reaches at a time: the release that comes next, and what is
-- in its way.
CREATE FUNCTION versiongate_internal.target_obstacle(rule rules, moment timestamptz) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(
    (
        SELECT format('%s%s on %s %s', r.version, ' (' || r.build || ')', r.platform, obstacle.words)
          FROM target_releases(ARRAY[rule], ARRAY(SELECT r FROM releases AS r WHERE r.bundle = rule.bundle)) AS t
         CROSS JOIN LATERAL (SELECT (t.release).*) AS r
         CROSS JOIN LATERAL (SELECT ', and its soak ends at {' || time_text(t.soaked_at) || '}') AS soaking(words)
         CROSS JOIN LATERAL (
             SELECT o.place, o.words
               FROM (
                   VALUES
                       (1, r.staged, 2, 'is staged'),
                       (2, r.live_at IS NULL, 3, 'has no date'),
                       (3, NOT t.in_regions, 4, 'is not for its regions'),
                       (4, NOT t.on_systems, 4, 'is not for its systems'),
                       (5, r.withdrawn_at <= t.soaked_at, 4, 'is withdrawn before it has soaked'),
                       (6, r.live_at <= moment, 1, 'is live' || soaking.words),
                       (7, true, 1, format(
                           'goes live at {%s}%s', time_text(r.live_at),
                           CASE WHEN rule.soak > '0' THEN soaking.words END
                       ))
               ) AS o(number, holds, place, words)
              WHERE o.holds
              ORDER BY o.number
              LIMIT 1
         ) AS obstacle
         WHERE NOT is_withdrawn(t.release, moment)
         ORDER BY obstacle.place, CASE WHEN obstacle.place = 1 THEN t.soaked_at END,
                  version_key(r.version), version_key(r.build) NULLS FIRST, r.id
         LIMIT 1
    ),
    'no release reaches ' || rule.target || coalesce(' on ' || array_to_string(rule.platforms, ', '), '')
);

-- Why a rule is not plainly on. final: the rule that hides it; closed: the places of its lockout without a way out.
CREATE FUNCTION versiongate_internal.status_reason(
    rule rules, status text, at timestamptz, is_reached boolean, final text, closed text[]
) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
RETURN nullif(concat_ws('; ', CASE
    WHEN status = 'paused' THEN rule.bundle || ' is paused'
    WHEN status = 'scheduled' THEN 'it starts at {' || time_text(rule.starts_at) || '}'
    WHEN status = 'waiting' AND NOT is_reached THEN target_obstacle(rule, at)
    WHEN status = 'waiting' THEN coalesce(
        (
            SELECT format('the step to %s %% comes at {%s}', trim_scale(s.rollout), time_text(s.at))
              FROM rollout_steps AS s
             WHERE s.rule = status_reason.rule.key AND s.at > status_reason.at AND s.rollout > 0
               AND (status_reason.rule.held_at IS NULL OR s.at <= status_reason.rule.held_at)
             ORDER BY s.at
             LIMIT 1
        ),
        'its rollout is 0 %'
    )
    WHEN status = 'hidden' THEN final || ' comes before it, is final, and is sent to everybody whom this rule is for'
    WHEN status IN ('on without lockout', 'partly without lockout')
        THEN coalesce('no way out on ' || name_list(closed), 'no release is recorded')
END, CASE
    WHEN status NOT IN ('disabled', 'ended') AND rule.held_at <= at AND EXISTS (
        SELECT FROM rollout_steps AS s WHERE s.rule = status_reason.rule.key AND s.at > status_reason.rule.held_at
    ) THEN 'its steps have been held since {' || time_text(rule.held_at) || '}'
END), '');

-- The status of rules at each of some times, as the view rule_status gives it for now; without keys, of all rules.
-- Times within a reason stand in braces.
CREATE FUNCTION versiongate_internal.rule_status_at(moments timestamptz[], keys text[] DEFAULT NULL)
    RETURNS TABLE (
        at timestamptz, key text, bundle text, status text, since timestamptz, next timestamptz, rollout numeric,
        reason text
    )
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET enable_nestloop = off SET jit = off
AS $$
DECLARE
    asked CONSTANT rules[] := ARRAY(SELECT r FROM rules AS r WHERE keys IS NULL OR r.key = ANY (keys));
    lockouts CONSTANT rules[] := ARRAY(
        SELECT r FROM unnest(asked) AS r WHERE r.enabled AND r.lockout AND NOT r.lockout_without_update
    );
    enabled_rules CONSTANT rules[] := ARRAY(SELECT r FROM unnest(asked) AS r WHERE r.enabled);
    known CONSTANT releases[] := ARRAY(
        SELECT r FROM releases AS r
         WHERE lockouts <> '{}'
            OR r.bundle IN (SELECT a.bundle FROM unnest(enabled_rules) AS a WHERE a.target IS NOT NULL)
    );
    finals CONSTANT rules[] := ARRAY(SELECT r FROM final_rules() AS r);
BEGIN
    RETURN QUERY
    WITH way AS MATERIALIZED (
        SELECT w.*
          FROM ways_out(lockouts, CASE WHEN lockouts = '{}' THEN '{}' ELSE known END, ARRAY(SELECT a FROM apps AS a)) AS w
    ),
    hiding AS MATERIALIZED (
        SELECT h.* FROM hidden_rules(finals, enabled_rules, present_steps(finals)) AS h
    ),
    judged AS MATERIALIZED (
        SELECT r AS rule, coalesce(a.paused, false) AS is_paused,
               coalesce(t.times, '{(,)}') AS reached,
               coalesce(h.times, '{}') AS hidden,
               CASE WHEN l.key IS NOT NULL THEN coalesce(l.anywhere, '{}') ELSE '{(,)}' END AS anywhere,
               CASE WHEN l.key IS NOT NULL THEN coalesce(l.everywhere, '{}') ELSE '{(,)}' END AS everywhere
          FROM unnest(asked) AS r
          LEFT JOIN apps AS a ON a.bundle = r.bundle
          LEFT JOIN reached_times(enabled_rules, known) AS t ON t.key = r.key
          LEFT JOIN (SELECT h.key, range_agg(h.times) AS times FROM hiding AS h GROUP BY h.key) AS h ON h.key = r.key
          LEFT JOIN (
              SELECT l.key, range_agg(w.times) AS anywhere, range_intersect_agg(w.times) AS everywhere
                FROM unnest(lockouts) AS l
                LEFT JOIN way AS w ON w.key = l.key
               GROUP BY l.key
          ) AS l ON l.key = r.key
    )
    SELECT asked_for.at, p.key, (j.rule).bundle::text, p.status, p.since, p.next, trim_scale(p.rollout),
           status_reason(
               j.rule, p.status, asked_for.at, j.reached @> asked_for.at,
               CASE WHEN p.status = 'hidden' THEN (
                   SELECT h.final FROM hiding AS h
                    WHERE h.key = p.key AND h.times @> asked_for.at
                    ORDER BY h.final_position, h.final
                    LIMIT 1
               ) END,
               CASE WHEN p.status IN ('on without lockout', 'partly without lockout') THEN (
                   SELECT array_agg(
                              place_name((j.rule).bundle, w.bundle, w.platform, w.region)
                              ORDER BY w.bundle COLLATE "C" NULLS FIRST, w.platform COLLATE "C", w.region COLLATE "C"
                          )
                     FROM way AS w
                    WHERE w.key = p.key AND NOT w.times @> asked_for.at
               ) END
           )
      FROM (SELECT DISTINCT m.at FROM unnest(moments) AS m(at)) AS asked_for
      JOIN status_periods(ARRAY(SELECT j::rule_times FROM judged AS j)) AS p
        ON p.at <= asked_for.at AND (p.until > asked_for.at OR p.until IS NULL)
      JOIN judged AS j ON (j.rule).key = p.key
     ORDER BY asked_for.at, (j.rule)."position", (j.rule).key;
END
$$;

CREATE VIEW rule_status WITH (security_invoker = true) AS
SELECT s.key, s.bundle, s.status, s.since, s.next, s.rollout, translate(s.reason, '{}', '') AS reason
  FROM rule_status_at(ARRAY[now()]) AS s;

COMMENT ON VIEW rule_status IS 'What each rule is now, in the order of the messages.';
COMMENT ON COLUMN rule_status.status IS
    'The first that holds: disabled; ended; paused (its app is); scheduled (it has not started); waiting (for a release'
    ' that reaches its target, or for a rollout above 0); hidden (a rule before it is final and sent to all whom it is'
    ' for); on without lockout (nobody whom it reaches has a way out); partly without lockout (nobody on some of its'
    ' platforms, or of those that the app has releases for, or in some of its regions); on.';
COMMENT ON COLUMN rule_status.since IS
    'When the clock last changed the status, or the rollout of a rule that is on: by a start, a step, an end, or a release'
    ' that was live, had soaked or was withdrawn. Null: only edits have.';
COMMENT ON COLUMN rule_status.next IS 'When the clock will change it next, if nothing is edited; null: never.';
COMMENT ON COLUMN rule_status.reason IS 'Why it is not plainly on; null where the status says it all.';
