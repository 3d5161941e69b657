"""2,000 apps, 100,000 rules and 5 million rows of counts: how long pages take, and how much memory."""

import time
from pathlib import Path

from database import Database
from servers import ask

APPS, RULES, ROWS = 2_000, 100_000, 5_000_000
# In seconds; a page that is asked for the first time may take as long.
LONGEST = 1.0
# In bytes, of what the pages add to the memory that the policy takes.
MOST_MEMORY = 256 << 20

POLICY = f"""
BEGIN;
INSERT INTO apps (bundle, name)
SELECT 'com.example.app' || app, 'App ' || app FROM generate_series(1, {APPS}) AS app;
INSERT INTO releases (bundle, platform, version, live_at)
SELECT bundle, platform, '99.' || place, now() - interval '10 days' * (4 - place)
FROM apps, unnest('{{ios,android}}'::text[]) AS platform, generate_series(1, 3) AS place;
INSERT INTO rules (key, bundle, enabled, position, versions, platforms, regions, title, text, link, lockout)
SELECT format('app%s-rule%s', app, number), 'com.example.app' || app, true, number,
    format('>=%s.%s <%s.%s.5', number + 1, app % 90, number + 1, app % 90),
    CASE number % 3 WHEN 0 THEN '{{android}}'::text[] WHEN 1 THEN '{{ios}}'::text[] END,
    CASE WHEN number % 4 = 3 THEN '{{JP,DE}}'::text[] END,
    'Notice ' || number, 'What users of this app should know, number ' || number || '.',
    'https://apps.example.com/' || app || '/' || number, number = 7 AND app % 100 = 0
FROM generate_series(1, {APPS}) AS app, generate_series(1, {RULES // APPS}) AS number;
COMMIT;
"""

# Hours for a week and days before it, as servers leave them. A tenth of the apps has half of the rows.
COUNTS = f"""
INSERT INTO check_counts
SELECT hour, 'com.example.app' || app, (ARRAY['ios', 'android', 'web'])[1 + kind % 3],
    (kind % 99) || '.' || (app % 90) || '.' || (kind % 4), NULL,
    (ARRAY['US', 'JP', 'DE', 'BR', 'FR', NULL])[1 + kind % 6], (12 + kind % 7) || '.1', 20, 5, kind % 2
FROM (
    SELECT date_trunc('hour', now()) - interval '1 hour' * place AS hour FROM generate_series(0, 167) AS place
    UNION ALL
    SELECT date_trunc('day', now(), 'UTC') - interval '1 day' * (8 + place) FROM generate_series(0, 82) AS place
) AS hours, generate_series(1, {APPS}) AS app,
    generate_series(1, CASE WHEN app % 10 = 0 THEN {ROWS // 2 // 251 // (APPS // 10)} ELSE {ROWS // 2 // 251 // (APPS - APPS // 10) + 1} END) AS kind
ORDER BY hour;
INSERT INTO rule_counts
SELECT date_trunc('hour', now()) - interval '1 hour' * place, format('app%s-rule%s', app, 1 + app % 50), 100, 0
FROM generate_series(0, 167) AS place, generate_series(1, {APPS}) AS app;
ANALYZE;
"""

PAGES = [
    "/", "/history", "/unknowns", "/try", "/try?bundle=com.example.app10&version=8.10.1&platform=ios&region=JP",
    "/try?bundle=com.example.app10&version=8.10.1&platform=ios&revision=1", "/history?about=app10-rule7",
    *(f"/apps/com.example.app{app}?days={days}" for app in (10, 11) for days in (1, 7, 30, 90, 365)),
    *(f"/rules/app{app}-rule{rule}?days={days}" for app, rule in ((10, 11), (100, 7)) for days in (1, 30, 365)),
    "/apps/com.example.app10/versions.csv?days=90", "/rules/app10-rule11/sent.csv?days=365",
]


class Large:
    def __init__(self, faults, server):
        self.faults, self.server = faults, server
        self.database = Database(server.database)

    def fill(self):
        start = time.monotonic()
        self.database.run("GRANT versiongate_viewer TO versiongate_server;" + POLICY)
        self.database.run(COUNTS)
        counted = self.database.rows("SELECT (SELECT count(*) FROM apps), (SELECT count(*) FROM rules), (SELECT count(*)"
                                     " FROM check_counts), (SELECT count(*) FROM rule_counts)")[0]
        self.server.follow(self.database)
        print(f"{counted[0]} apps, {counted[1]} rules, {counted[2]} rows of counts, {counted[3]} of rules; "
              f"filled in {time.monotonic() - start:.0f} s", flush=True)

    def time_pages(self):
        """Each page twice, when nothing of it is kept any more."""
        slowest = {}
        for _ in range(2):
            for path in PAGES:
                start = time.monotonic()
                status, _, body = ask(self.server.management, "GET", path)
                seconds = time.monotonic() - start
                slowest[path] = max(slowest.get(path, (0, 0))[0], seconds), len(body)
                if status != 200:
                    self.faults.append(f"{path} is answered {status}")
                if b"took longer than" in body or b"refused the figures" in body:
                    self.faults.append(f"{path} has no figures: the database took too long")
            time.sleep(6)
        for path, (seconds, length) in slowest.items():
            print(f"{seconds * 1000:7.0f} ms {length / 1024:7.0f} KiB  {path}")
            if seconds > LONGEST:
                self.faults.append(f"{path} took {seconds * 1000:.0f} ms, more than {LONGEST * 1000:.0f}")

    def memory(self, field="VmRSS"):
        for line in Path(f"/proc/{self.server.process.pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) << 10
        raise RuntimeError(f"/proc/{self.server.process.pid}/status has no {field}")


def judge(faults, server):
    large = Large(faults, server)
    large.fill()
    before = large.memory()
    large.time_pages()
    after, peak = large.memory(), large.memory("VmHWM")
    print(f"memory: {before >> 20} MiB with the policy, {after >> 20} MiB after all pages, {peak >> 20} MiB at the most")
    if after - before > MOST_MEMORY:
        faults.append(f"the pages took {(after - before) >> 20} MiB, more than {MOST_MEMORY >> 20}")
