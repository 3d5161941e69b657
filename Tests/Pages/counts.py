"""Counts as servers would have written them in 30 days, made up from a seed, and a history of the same time."""

import random
from collections import defaultdict
from datetime import datetime, timedelta, timezone

DAYS_OF_HOURS = 7


def times(now, days):
    """The starts of the rows that are there: of hours for a week, of days (UTC) before it."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    past = [midnight - timedelta(days=day) for day in range(days, DAYS_OF_HOURS, -1)]
    first = midnight - timedelta(days=DAYS_OF_HOURS)
    hours = int((now - first) / timedelta(hours=1))
    return past + [first + timedelta(hours=hour) for hour in range(hours + 1)]


def write(database, seed):
    """Writes them. Returns how many rows of check_counts there are."""
    chance = random.Random(seed)
    now = datetime.fromisoformat(database.value("SELECT date_trunc('hour', now() AT TIME ZONE 'UTC')"))
    now = now.replace(tzinfo=timezone.utc)
    # By kind of client: checks, those with a message, those with a lockout; by hour and rule: sent, with a lockout.
    counts, sent = defaultdict(lambda: [0, 0, 0]), defaultdict(lambda: [0, 0])
    for *kind, checks, got in (*doto(chance, now), *many(chance, now), *one(now), *paused(chance, now), *unknown(chance, now)):
        messages = min(checks, max((count for count, _ in got.values()), default=0))
        # Who is locked out gets one message; everybody else may get several.
        if "doto-unsafe" in got:
            unsafe = got["doto-unsafe"][0]
            messages = min(checks, unsafe + max((count for rule, (count, _) in got.items() if rule != "doto-unsafe"), default=0))
        lockouts = sum(locked for _, locked in got.values())
        add(counts[tuple(kind)], checks, messages, lockouts)
        for rule, (count, locked) in got.items():
            if count:
                add(sent[kind[0], rule], count, locked)
    checks = [(*kind, *numbers) for kind, numbers in counts.items()]
    lines = "".join("\t".join(r"\N" if cell is None else str(cell) for cell in row) + "\n" for row in checks)
    rules = "".join("\t".join(map(str, (*key, *numbers))) + "\n" for key, numbers in sent.items())
    merged = "".join(f"{time.isoformat()}\tcom.example.many\t{chance.randint(1, 40)}\n" for time in times(now, 3))
    database.run(
        f"BEGIN;\nCOPY check_counts FROM STDIN;\n{lines}\\.\nCOPY rule_counts FROM STDIN;\n{rules}\\.\n"
        f"COPY merged_counts FROM STDIN;\n{merged}\\.\nCOMMIT;\nANALYZE;\n"
    )
    return len(checks)


def add(sums, *numbers):
    for place, number in enumerate(numbers):
        sums[place] += number


def doto(chance, now):
    """An app of which a release spreads, with each kind of client that there is."""
    kinds = [
        (platform, version, region, os)
        for platform, systems in (("ios", ("16.7", "17.4", "18.1")), ("android", ("13", "14", "15.0")), ("web", (None,)))
        for version in ("2.4.0", "2.3.0", "2.3", "2.2.1", "2.1.0", "2.0.5", "1.9", "1.8.2", "1.7", "1.6", "dev", None)
        for region in chance.sample(("US", "JP", "DE", "BR", "FR", "GB", "IT", "ES", "IN", "CA", "CH", "AT", "SE", None), 3)
        for os in systems
    ]
    start = times(now, 30)[0]
    for time in times(now, 30):
        age = (time - start) / timedelta(days=30)
        for platform, version, region, os in kinds:
            if chance.random() < 0.55:
                continue
            checks = chance.randint(1, 60)
            if version == "2.4.0":
                checks = int(checks * 12 * age**2)
            elif version in ("2.1.0", "2.0.5", "1.9"):
                checks = int(checks * (1 - age) * 2)
            if checks <= 0:
                continue
            got = doto_rules(chance, (now - time) / timedelta(hours=1), platform, version, region, os, checks)
            yield (time.isoformat(), "com.example.doto", platform, version, None, region, os, checks, got)


def doto_rules(chance, age, platform, version, region, os, checks):
    """How many of some checks get each rule, and with a lockout: as policy.yaml has it, with its edits."""
    numbers = tuple(map(int, version.split("."))) if version and version[0].isdigit() else None
    below = numbers is not None and numbers < (2, 1)
    unsafe = round(checks * (0.25 if age > 12 * 24 else 0.05 if age > 6 * 24 else 0.25)) if below else 0
    # Somebody on another platform than those of the releases has no update to go to.
    got = {"doto-unsafe": (unsafe, unsafe if platform != "web" else 0)}
    rest = checks - unsafe
    if platform == "ios" and numbers and numbers < (2, 4) and age < 20 * 24 and int(os.partition(".")[0]) >= 17:
        got["doto-update"] = rest, 0
    if platform == "ios" and region == "JP":
        got["doto-japan"] = rest, 0
    # Few send a channel.
    got["maintenance"] = chance.randint(0, checks // 20), 0
    return got


def many(chance, now):
    """An app of 300 versions, which nobody asked for in some days; more than a year of it."""
    for time in times(now, 400):
        if time.day % 9 == 0:
            continue
        for _ in range(20):
            checks = chance.randint(1, 9)
            version = f"{int(300 * chance.random() ** 0.5)}.{chance.randint(0, 3)}"
            old = checks if int(version.partition(".")[0]) < 40 else 0
            yield (time.isoformat(), "com.example.many", "android", version, "7",
                   chance.choice(("US", "DE", None)), str(chance.randint(5, 30)), checks, {"many-old": (old, old)})
        yield time.isoformat(), "com.example.many", "playstation", "not a version", None, None, None, 3, {}


def one(now):
    """An app of one version, which asked in this hour for the first time."""
    yield now.isoformat(), "com.example.one", "ios", "1.0.0", None, "US", "18.1", 17, {}


def paused(chance, now):
    for time in times(now, 2):
        yield time.isoformat(), "com.example.paused", "ios", "3.1", None, "DE", "18.0", chance.randint(1, 5), {}


def unknown(chance, now):
    """Apps that nobody added."""
    for time in times(now, 30):
        yield time.isoformat(), None, None, None, None, None, None, chance.randint(1, 30), {}


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


def edit(database):
    """Makes the edits, and says in the history that they were made at their times."""
    for hours, why, statement in EDITS:
        reason = f"SET LOCAL versiongate.why = '{why}';" if why else ""
        database.run(f"BEGIN; {reason} {statement}; COMMIT;")
    first = int(database.value("SELECT min(id) FROM changes"))
    ages = (25 * 24, *(hours for hours, _, _ in EDITS))
    database.run("".join(
        f"UPDATE changes SET at = now() - interval '{hours} hours' WHERE id = {first + index};\n"
        for index, hours in enumerate(ages)
    ))
