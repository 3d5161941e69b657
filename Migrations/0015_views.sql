-- For the people who administer with psql: views of what is in force and of the history, and the policy as it stood at
-- any revision.

SET LOCAL search_path = public, versiongate_internal, pg_temp;

-- What is in force.

CREATE VIEW active_rules WITH (security_invoker = true) AS
SELECT r.key, r.bundle, s.status, s.rollout, s.reason, r.lockout, r.versions, r.target, r.platforms, r.starts_at,
       r.ends_at, r.title
  FROM rule_status AS s
  JOIN rules AS r ON r.key = s.key
 WHERE s.status NOT IN ('disabled', 'ended')
 ORDER BY r."position", r.key;

COMMENT ON VIEW active_rules IS
    'The rules that are enabled and not over, in the order of their messages: those in force, and those that wait.';
COMMENT ON COLUMN active_rules.rollout IS 'The percentage in force now.';
COMMENT ON COLUMN active_rules.reason IS 'Why it is not plainly on; null: it is.';

CREATE VIEW current_releases WITH (security_invoker = true) AS
SELECT DISTINCT ON (r.bundle, r.platform)
       r.bundle, r.platform, r.version, r.build, r.live_at, r.min_os, r.regions
  FROM releases AS r
 WHERE NOT r.staged AND r.live_at <= now() AND NOT is_withdrawn(r, now())
 ORDER BY r.bundle, r.platform, version_key(r.version) DESC,
       version_key(r.build) DESC NULLS LAST, r.id;

COMMENT ON VIEW current_releases IS 'The newest release that users can get now, of each app on each platform.';
COMMENT ON COLUMN current_releases.regions IS 
    'Countries in which users can get it; null: all. Elsewhere they get an older one.';

CREATE VIEW recent_checks WITH (security_invoker = true) AS
SELECT period.name AS period, c.bundle, c.platform, c.version,
       least(sum(c.checks), 1000000000000)::bigint AS checks,
       round(100 * sum(c.checks) / nullif(sum(sum(c.checks)) OVER (PARTITION BY period.name, c.bundle), 0), 2) AS share,
       least(sum(c.messages), 1000000000000)::bigint AS messages,
       least(sum(c.lockouts), 1000000000000)::bigint AS lockouts
  FROM (VALUES ('24 hours', interval '24 hours'), ('7 days', interval '168 hours')) AS period(name, length)
  -- A server whose clock is ahead must not count as today for ever.
  JOIN check_counts AS c ON c.hour >= now() - period.length AND c.hour <= now() + interval '1 hour'
 GROUP BY period.name, period.length, c.bundle, c.platform, c.version
 ORDER BY period.length, c.bundle, sum(c.checks) DESC, c.platform, c.version;

COMMENT ON VIEW recent_checks IS
    'Checks of the last 24 hours and of the last 7 days, by app, platform and version. What clients say is not'
    ' verified.';
COMMENT ON COLUMN recent_checks.bundle IS 'The app; null: apps that are not in apps, and what was too varied to keep apart.';

-- The history, to be read.

CREATE FUNCTION versiongate_internal.value_text(value text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(CASE WHEN length(value) > 200 THEN left(value, 199) || '…' ELSE value END, '-');

-- What is as it would be if nothing had been said is left out.
CREATE FUNCTION versiongate_internal.row_contents(table_name text, row_then jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT string_agg(
               format('%s %s', field.name, value_text(field.value #>> '{}')),
               ', ' ORDER BY field.name COLLATE "C"
           )
      FROM jsonb_each(row_then) AS field(name, value)
     WHERE field.name <> ALL (key_columns(table_name))
       AND field.value NOT IN ('null', 'false')
       AND NOT (table_name = 'rules' AND (field.name, field.value) IN (('rollout', '100'), ('position', '0')))
);

CREATE FUNCTION versiongate_internal.row_difference(table_name text, before jsonb, after jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    name CONSTANT text := table_name || ' ' || (
        SELECT string_agg(coalesce(after, before) ->> part.name, ' ' ORDER BY part.place)
          FROM unnest(key_columns(table_name)) WITH ORDINALITY AS part(name, place)
    );
BEGIN
    RETURN CASE
        WHEN before IS NULL THEN concat_ws(': ', 'added ' || name, row_contents(table_name, after))
        WHEN after IS NULL THEN concat_ws(': ', 'removed ' || name, row_contents(table_name, before))
        ELSE name || ': ' || (
            SELECT string_agg(
                       concat_ws(
                           ' ', changed, value_text(before ->> changed), '->', value_text(after ->> changed)
                       ), ', '
                   )
              FROM unnest(changed_columns(before, after)) AS changed
        )
    END;
END
$$;

CREATE VIEW history WITH (security_invoker = true) AS
SELECT c.id AS change, c.at, c.role, c.os_user, c.tool, c.why, c.undoes,
       (
           SELECT string_agg(row_difference(r.table_name, r.before, r.after), E'\n' ORDER BY r.ordinal)
             FROM (SELECT * FROM change_rows AS r WHERE r.change = c.id ORDER BY r.ordinal LIMIT 50) AS r
       ) || coalesce(
           (
               SELECT format(E'\nand %s more rows', count(*) - 50)
                 FROM change_rows AS r
                WHERE r.change = c.id
               HAVING count(*) > 50
           ),
           ''
       ) AS edits
  FROM changes AS c
 ORDER BY c.id DESC;

COMMENT ON VIEW history IS 'Who changed what, the newest change first. To take one back: SELECT undo_change(NUMBER);';
COMMENT ON COLUMN history.edits IS
    'What it did to each row, a line a row; after 50 how many more there are. All are in change_rows.';

-- The policy as it stood.
--
-- A row that no change after a revision has touched stands as it stood then. Any other stands as the first of these
-- changes found it, or was not there if that change made it. "Touched" is said of a primary key.

-- What the asking transaction has edited itself, and not recorded yet, counts as a change after all others.
CREATE FUNCTION rows_at(of_table anyelement, revision bigint) RETURNS SETOF anyelement
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = versiongate_internal, public, pg_temp
    SET TimeZone = 'UTC' SET IntervalStyle = 'postgres'
AS $$
DECLARE
    table_name CONSTANT text := (
        SELECT c.relname FROM pg_class AS c
         WHERE c.reltype = pg_typeof(of_table) AND c.relnamespace = 'public'::regnamespace
    );
    names CONSTANT text[] := key_columns(table_name);
    newest CONSTANT bigint := (SELECT p.revision FROM policy_revision AS p);
    missing bigint;
BEGIN
    IF names IS NULL THEN
        RAISE invalid_parameter_value USING
            MESSAGE = format('%s is not a policy table', pg_typeof(of_table)),
            HINT = 'Write which table is meant: SELECT * FROM rows_at(NULL::rules, 41);';
    ELSIF rows_at.revision BETWEEN 0 AND newest IS NOT TRUE THEN
        RAISE invalid_parameter_value USING
            MESSAGE = format('there is no revision %s', coalesce(rows_at.revision::text, 'NULL')),
            HINT = format('The policy began at revision 0, without any rows, and is at %s now.', newest);
    END IF;
    SELECT max(wanted.change) INTO missing
      FROM generate_series(rows_at.revision + 1, newest) AS wanted(change)
     WHERE NOT EXISTS (SELECT FROM changes AS c WHERE c.id = wanted.change);
    IF missing IS NOT NULL THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = format('the history does not reach back to revision %s', rows_at.revision),
            DETAIL = format('It has no change %s.', missing),
            HINT = format('The oldest revision that can be rebuilt is %s.', missing);
    END IF;

    RETURN QUERY EXECUTE format(
        $query$
        WITH later AS MATERIALIZED (
            SELECT c.change, c.key, c.before FROM change_rows AS c WHERE c.table_name = %1$L AND c.change > $2
             UNION ALL
            SELECT $3 + 1, n.key, n.before FROM noted_edits() AS n WHERE n.table_name = %1$L
        ),
        touched AS MATERIALIZED (SELECT DISTINCT ON (l.key) l.key, l.before FROM later AS l ORDER BY l.key, l.change)
        SELECT stood.*
          FROM touched AS t
         CROSS JOIN LATERAL jsonb_populate_record(NULL::public.%1$I, t.before) AS stood
         WHERE t.before IS NOT NULL
         UNION ALL
        SELECT r.*
          FROM public.%1$I AS r
         WHERE NOT EXISTS (SELECT FROM touched AS t WHERE t.key = row_key(to_jsonb(r), $1))
        $query$,
        table_name
    ) USING names, rows_at.revision, newest;
END
$$;
COMMENT ON FUNCTION rows_at(anyelement, bigint) IS
    'The rows of a policy table as they stood at a revision, rebuilt from the history: SELECT * FROM rows_at(NULL::rules,'
    ' 41);';

REVOKE ALL ON FUNCTION rows_at(anyelement, bigint) FROM PUBLIC;
