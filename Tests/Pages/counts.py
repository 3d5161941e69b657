"""Counts as servers would have written them in 30 days, made up from a seed, and a history of the same time."""

# For each app what its pages are to show: a release that spreads among clients of each kind; 300 versions, more than a year, days
# on which nobody asked; one version in one hour; a pause; and apps that nobody added.
COUNTS = """
BEGIN;
SELECT setseed({seed});
CREATE TEMPORARY TABLE times ON COMMIT DROP AS
SELECT date_trunc('hour', now()) - interval '1 hour' * hours AS hour FROM generate_series(0, 167) AS hours
UNION ALL SELECT date_trunc('day', now(), 'UTC') - interval '1 day' * days FROM generate_series(8, 400) AS days;

INSERT INTO check_counts (hour, bundle, platform, version, region, os, checks, messages, lockouts)
SELECT hour, 'com.example.doto', platform, version, region, os, checks, checks * 6 / 10,
    CASE WHEN version IN ('2.0.5', '1.9', '1.8.2', '1.7', '1.6') AND platform <> 'web' THEN checks / 4 ELSE 0 END
FROM (
    SELECT hour, platform, os, version, region,
        (random() * 60 * CASE version WHEN '2.4.0' THEN 12 * (1 - age) ^ 2 WHEN '1.9' THEN 2 * age ELSE 1 END)::int AS checks
    FROM (SELECT hour, extract(epoch FROM now() - hour) / 2592000 AS age FROM times) AS times,
        (VALUES ('ios', '16.7'), ('ios', '17.4'), ('ios', '18.1'), ('android', '13'), ('android', '15.0'), ('web', NULL))
            AS systems (platform, os),
        unnest('{{2.4.0, 2.3.0, 2.3, 2.2.1, 2.1.0, 2.0.5, 1.9, 1.8.2, 1.7, 1.6, dev, NULL}}'::text[]) AS version,
        unnest('{{US, JP, DE, NULL}}'::text[]) AS region
    WHERE age < 1
) AS counted
WHERE checks > 30;

INSERT INTO check_counts (hour, bundle, platform, version, build, region, os, checks, messages, lockouts)
SELECT hour, 'com.example.many', 'android', major || '.' || place % 4, '7', 'US', (5 + place)::text, 5, 2,
    CASE WHEN major < 40 THEN 2 ELSE 0 END
FROM (SELECT hour, place, (300 * sqrt(random()))::int AS major FROM times, generate_series(1, 20) AS place) AS counted
WHERE extract(day FROM hour)::int % 9 <> 0;
INSERT INTO check_counts (hour, bundle, platform, version, region, os, checks, messages, lockouts)
SELECT hour, 'com.example.many', 'playstation', 'not a version', NULL, NULL, 3, 0, 0 FROM times
UNION ALL SELECT max(hour), 'com.example.one', 'ios', '1.0.0', 'US', '18.1', 17, 0, 0 FROM times
UNION ALL SELECT hour, 'com.example.paused', 'ios', '3.1', 'DE', '18.0', 4, 0, 0 FROM times WHERE hour > now() - interval '2 days'
UNION ALL SELECT hour, NULL, NULL, NULL, NULL, NULL, 20, 0, 0 FROM times WHERE hour > now() - interval '30 days';

INSERT INTO rule_counts
SELECT hour, rule, sum(checks) / share, CASE WHEN locks THEN sum(lockouts) ELSE 0 END
FROM check_counts JOIN (VALUES
    ('com.example.doto', 'doto-unsafe', 5, true), ('com.example.doto', 'doto-update', 3, false),
    ('com.example.doto', 'doto-japan', 8, false), ('com.example.doto', 'maintenance', 40, false),
    ('com.example.many', 'many-old', 1, true)) AS rules (bundle, rule, share, locks) USING (bundle)
GROUP BY hour, rule, share, locks;
INSERT INTO merged_counts SELECT hour, 'com.example.many', 7 FROM times WHERE hour > now() - interval '3 days';
COMMIT;
ANALYZE;
"""


def write(database, seed):
    """Writes them. Returns how many rows of check_counts there are."""
    database.run(COUNTS.format(seed=1 / (1 + seed)))
    return int(database.value("SELECT count(*) FROM check_counts"))


# Edits after the policy was applied, oldest first: how many hours ago, why, and the statement.
EDITS = (
    (20 * 24, "2.4.0 is out", "UPDATE releases SET live_at = now() - interval '20 days'"
     " WHERE bundle = 'com.example.doto' AND platform = 'ios' AND version = '2.4.0'"),
    (19 * 24, None, "UPDATE releases SET live_at = now() - interval '31 hours'"
     " WHERE bundle = 'com.example.doto' AND platform = 'android' AND version = '2.3.0'"),
    (12 * 24, "Ticket 4711: lists are lost", "UPDATE rules SET rollout = 5 WHERE key = 'doto-unsafe'"),
    (6 * 24, "Half of the lists are lost", "UPDATE rules SET rollout = 25 WHERE key = 'doto-unsafe'"),
    (30, "Slowly", "INSERT INTO rollout_steps VALUES ('doto-unsafe', now() - interval '30 hours', 25),"
     " ('doto-unsafe', date_trunc('hour', now()) + interval '20 hours', 50),"
     " ('doto-unsafe', date_trunc('hour', now()) + interval '44 hours', 100)"),
    (5, "Said by support", "UPDATE rules SET title = 'This version loses lists' WHERE key = 'doto-unsafe'"),
    (2, "Over soon", "UPDATE rules SET ends_at = date_trunc('hour', now()) + interval '9 hours' WHERE key = 'maintenance'"),
)


def edit(database, edits, hours_before):
    """Makes edits, and says in the history when they were made; the policy was applied some hours before now."""
    first = int(database.value("SELECT min(id) FROM changes"))
    for _, why, statement in edits:
        reason = f"SET LOCAL versiongate.why = '{why}';" if why else ""
        database.run(f"BEGIN; {reason} {statement}; COMMIT;")
    database.run("".join(
        f"UPDATE changes SET at = now() - interval '{hours} hours' WHERE id = {first + index};\n"
        for index, hours in enumerate((hours_before, *(hours for hours, *_ in edits)))
    ))
