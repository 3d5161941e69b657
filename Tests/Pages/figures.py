"""The numbers that charts must show, from SQL that has nothing in common with that of the program."""

import csv
import io
from collections import defaultdict
from datetime import datetime, timedelta, timezone

from database import literal

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
PLATFORMS = {"ios": "iOS", "android": "Android"}


class Expected:
    """A chart: the head of its columns, and for each place what the CSV calls it and the values; None: nothing counted."""

    def __init__(self, columns, rows, words=()):
        self.columns = columns
        self.rows = rows
        # What the answer in words must have in it.
        self.words = words

    @property
    def is_empty(self):
        return all(value is None for value in self.shown)

    @property
    def is_zero(self):
        """Whether there is nothing but zeros, which need no image."""
        return all(not value for value in self.shown)

    @property
    def shown(self):
        return [value for _, values in self.rows for value in values[("all_checks" in self.columns):]]


class Figures:
    def __init__(self, database, now):
        """now: when the page was made."""
        self.database = database
        self.now = now

    def steps(self, days):
        if days == 1:
            last = self.now.replace(minute=0, second=0, microsecond=0)
            return [last - 23 * HOUR + index * HOUR for index in range(24)], "hour"
        last = self.now.replace(hour=0, minute=0, second=0, microsecond=0)
        return [last - days * DAY + index * DAY for index in range(days + 1)], "day"

    def sums(self, days, columns, table, where):
        """Sums of a table by step of time; what a clock that is ahead has counted belongs to the last step."""
        steps, unit = self.steps(days)
        sums = defaultdict(lambda: [0] * len(columns))
        for row in self.database.rows(
            f"SELECT extract(epoch FROM date_trunc('{unit}', hour, 'UTC'))::bigint, {', '.join(f'sum({name})' for name in columns)}"
            f" FROM {table} WHERE {where} AND hour >= {literal(steps[0].isoformat())}"
            f" AND hour <= {literal((self.now + HOUR).isoformat())} GROUP BY 1"
        ):
            start = min(datetime.fromtimestamp(int(row[0]), timezone.utc), steps[-1])
            sums[start] = [old + int(new) for old, new in zip(sums[start], row[1:])]
        return [sums[step] for step in steps]

    def totals(self, bundle, days, columns, table="check_counts"):
        return [sum(column) for column in zip(*self.sums(days, columns, table, f"bundle = {literal(bundle)}"))]

    def kinds(self, bundle, days, column):
        """The checks of an app by platform and a column."""
        first = self.steps(days)[0][0]
        return [(platform, name, int(checks)) for platform, name, checks in self.database.rows(
            f"SELECT platform, {column}, sum(checks) FROM check_counts WHERE bundle = {literal(bundle)}"
            f" AND hour >= {literal(first.isoformat())} AND hour <= {literal((self.now + HOUR).isoformat())} GROUP BY 1, 2"
        )]

    def app(self, bundle, days):
        return {
            "versions": self.versions(bundle, days), "messages": self.messages(bundle, days),
            "systems": self.bars(bundle, days, "os", system), "regions": self.bars(bundle, days, "region", region),
            **self.adoptions(bundle),
        }

    def versions(self, bundle, days):
        checks = defaultdict(int)
        spellings = defaultdict(lambda: defaultdict(int))
        for _, name, count in self.kinds(bundle, days, "version"):
            if numbers(name):
                checks[numbers(name)] += count
                spellings[numbers(name)][name] += count
        named = sorted(sorted(checks, key=lambda version: (-checks[version], [-part for part in version]))[:7], reverse=True)
        app = f"bundle = {literal(bundle)}"
        totals = [total for total, in self.sums(days, ["checks"], "check_counts", app)]
        series = {}
        for version in named:
            written = ", ".join(literal(name) for name in spellings[version])
            name = max(spellings[version], key=lambda name: (spellings[version][name], name))
            series[name] = [count for count, in self.sums(days, ["checks"], "check_counts", f"{app} AND version IN ({written})")]
        others = [total - sum(counts[step] for counts in series.values()) for step, total in enumerate(totals)]
        if any(others):
            series["others"] = others
        current = self.totals(bundle, 1, ["checks"])[0] or sum(totals)
        return self.over_time(days, totals, series, [f"{current:,} check"] if current else ["Nothing was counted"])

    def messages(self, bundle, days):
        sums = self.sums(days, ["checks", "messages", "lockouts"], "check_counts", f"bundle = {literal(bundle)}")
        totals, messages, lockouts = map(list, zip(*sums))
        words = [f"{sum(totals):,} check"] if sum(totals) else ["Nothing was counted"]
        return self.over_time(days, totals, {"message": messages, "lockout": lockouts}, words)

    def over_time(self, days, totals, series, words):
        steps, _ = self.steps(days)
        return Expected(
            ["time", "all_checks", *series],
            [(text(step), [totals[index], *(part(counts[index], totals[index]) for counts in series.values())])
             for index, step in enumerate(steps)], words,
        )

    def bars(self, bundle, days, column, name_of):
        checks = defaultdict(int)
        whole = 0
        for platform, name, count in self.kinds(bundle, days, column):
            whole += count
            if name:
                checks[name_of(platform, name)] += count
        names = sorted(checks, key=lambda name: (-checks[name], name))
        bars = [(name, checks[name]) for name in names[:12]]
        bars += [(name, count) for name, count in (
            ("others", sum(checks[name] for name in names[12:])), ("not known", whole - sum(checks.values()))
        ) if count > 0]
        words = [f"{whole:,} check", *names[:1]] if whole else ["Nothing was counted"]
        return Expected(["name", "all_checks", "share"] if bars else ["name"],
                        [(name, [whole, part(count, whole)]) for name, count in bars], words)

    def adoptions(self, bundle):
        """How fast the newest release of each platform spreads beside the one before it."""
        releases = defaultdict(dict)
        for platform, version, live in self.database.rows(
            "SELECT platform, version, extract(epoch FROM live_at) FROM releases"
            f" WHERE bundle = {literal(bundle)} AND NOT staged AND live_at <= {literal(self.now.isoformat())}"
            " AND (withdrawn_at IS NULL OR withdrawn_at > now())"
        ):
            releases[platform][version] = float(live)
        week = (self.now.replace(hour=0, minute=0, second=0, microsecond=0) - 7 * DAY).isoformat()
        charts = {}
        for platform, live in releases.items():
            newest = sorted(live, key=numbers, reverse=True)[:2]
            elapsed = self.now.timestamp() - live[newest[0]]
            is_hourly = elapsed <= 48 * 3600
            step = 3600 if is_hourly else 86400
            count = max(48, int(elapsed // 3600) * 2) if is_hourly else min(90, int(elapsed // step) * 2)
            rows = self.database.rows(
                f"SELECT extract(epoch FROM CASE WHEN hour < {literal(week)} THEN date_trunc('day', hour, 'UTC') ELSE hour END)"
                f"::bigint, version, sum(checks) FROM check_counts WHERE bundle = {literal(bundle)}"
                f" AND platform = {literal(platform)} AND hour <= {literal((self.now + HOUR).isoformat())} GROUP BY 1, 2"
            )
            series = {}
            for version in newest:
                sums = [[0, 0] for _ in range(count)]
                for start, spelled, checks in rows:
                    index = int(max(0, int(start) - live[version]) // step)
                    if int(start) + 3600 > live[version] and index < count:
                        sums[index][0] += int(checks)
                        sums[index][1] += int(checks) if (numbers(spelled) or ()) >= numbers(version) else 0
                # A release that nobody was counted in the time of has no line.
                if any(checks for checks, _ in sums):
                    series[version] = [part(reached, checks) for checks, reached in sums]
            charts[f"adoption-{platform}"] = Expected(
                ["elapsed_seconds", *series],
                [(str(index * step), [values[index] for values in series.values()]) for index in range(count)], newest,
            )
        return charts

    def sent(self, rule, days):
        steps, _ = self.steps(days)
        sums = self.sums(days, ["sent", "lockouts"], "rule_counts", f"rule = {literal(rule)}")
        all_sent, all_lockouts = map(sum, zip(*sums))
        words = [f"{all_sent:,} time"] if all_sent else ["It was not sent"]
        if all_lockouts == 0:
            return Expected(["time", "message"], [(text(step), [sent or None]) for step, (sent, _) in zip(steps, sums)], words)
        return Expected(
            ["time", "lockout", "message alone"],
            [(text(step), [lockouts, sent - lockouts] if sent else [None, None])
             for step, (sent, lockouts) in zip(steps, sums)], words,
        )

    def reach(self, rule, days):
        """Of a rule with a range <NUMBERS and nothing else but platforms and a lockout; of others None."""
        bundle, versions, lockout, platforms, other = self.database.rows(
            "SELECT bundle, versions, lockout, array_to_string(platforms, ','), concat(target, builds, os, regions, languages,"
            f" attributes) FROM rules WHERE key = {literal(rule)}"
        )[0]
        if not bundle or not versions.startswith("<") or other:
            return None
        first = (self.now.replace(hour=0, minute=0, second=0, microsecond=0) - days * DAY).isoformat()
        ways_out = {row[0] for row in self.database.rows(
            f"SELECT DISTINCT platform FROM releases WHERE bundle = {literal(bundle)} AND live_at <= now() AND NOT staged")}
        whole = reached = locked = 0
        for platform, version, checks in self.database.rows(
            f"SELECT platform, version, sum(checks) FROM check_counts WHERE bundle = {literal(bundle)}"
            f" AND hour >= {literal(first)} GROUP BY 1, 2"
        ):
            whole += int(checks)
            below = numbers(version)
            if below and below < numbers(versions[1:]) and (not platforms or platform in platforms.split(",")):
                reached += int(checks)
                locked += int(checks) if platform in ways_out else 0
        stages = [self.database.value(
            f"SELECT coalesce((SELECT s.rollout FROM rollout_steps AS s WHERE s.rule = r.key AND s.at <= now()"
            f" ORDER BY s.at DESC LIMIT 1), r.rollout) FROM rules AS r WHERE r.key = {literal(rule)}")]
        stages += [row[0] for row in self.database.rows(
            f"SELECT rollout FROM rollout_steps WHERE rule = {literal(rule)} AND at > now() ORDER BY at")]
        if float(stages[-1]) < 100:
            stages.append("100")
        shares = [float(stage) / 100 for stage in stages]
        return Expected(
            ["name", "all_checks", *(["lockout", "message alone"] if lockout == "t" else ["message"])],
            [(f"{stage} %", [whole, *([part(locked * share, whole), part((reached - locked) * share, whole)]
                                      if lockout == "t" else [part(reached * share, whole)])])
             for stage, share in zip(stages, shares)], [f"{whole:,} check"],
        )


def numbers(version):
    """The numbers of a version without zeros at the end; None: it is not one of numbers."""
    parts = version.split(".") if version else [""]
    if not all(part.isdigit() for part in parts):
        return None
    values = [int(part) for part in parts]
    while values and values[-1] == 0:
        values.pop()
    return tuple(values)


def system(platform, name):
    return f"{PLATFORMS.get(platform, platform) or '(no platform)'} {int(name.split('.')[0])}"


def region(_, name):
    return name


def part(count, whole):
    return count / whole if whole else None


def text(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


READ = """
return [...document.querySelectorAll("figure")].map((figure) => ({
  name: figure.id.replace(/^chart-/, ""),
  answer: figure.querySelector("figcaption .answer").textContent,
  isEmpty: figure.classList.contains("empty"),
  hasImage: figure.querySelector("svg[role=img]") !== null,
  csv: figure.querySelector("a[href*='.csv']")?.getAttribute("href"),
  columns: [...figure.querySelectorAll(":scope table thead th")].map((head) => head.textContent),
  rows: [...figure.querySelectorAll(":scope table tbody tr")].map((row) => [
    row.querySelector("th time")?.dateTime ?? row.querySelector("th").textContent,
    [...row.querySelectorAll("td")].map((cell) => cell.querySelector("data")?.value ?? null),
  ]),
}));
"""


def compare(chart, expected, document):
    """What is wrong with a chart as the page shows it and with its CSV."""
    if expected.is_empty:
        if not chart["isEmpty"] or chart["rows"] or chart["hasImage"]:
            yield "nothing was counted, and yet it shows something"
        return
    if chart["isEmpty"]:
        yield "it shows nothing, and yet something was counted"
        return
    if chart["hasImage"] == expected.is_zero:
        yield "it has an image of nothing" if expected.is_zero else "it has no image"
    for word in expected.words:
        if word not in chart["answer"]:
            yield f"its answer is {chart['answer']!r}, without {word!r}"
    lines = list(csv.reader(io.StringIO(document)))
    columns = ["all checks" if column == "all_checks" else column for column in expected.columns[1:]]
    if chart["columns"][1:] != columns:
        yield f"its table has {chart['columns'][1:]}, not {columns}"
        return
    if lines[0] != expected.columns:
        yield f"its CSV has {lines[0]}, not {expected.columns}"
        return
    table = [[place, *values] for place, values in chart["rows"]]
    for name, rows in (("table", table), ("CSV", lines[1:])):
        if len(rows) != len(expected.rows):
            yield f"its {name} has {len(rows)} rows, not {len(expected.rows)}"
            continue
        for row, (place, values) in zip(rows, expected.rows):
            is_named = name == "CSV" or expected.columns[0] != "elapsed_seconds"
            if is_named and not (place in row[0] if place.endswith(" %") else row[0] == place):
                yield f"its {name} has {row[0]!r} in place of {place!r}"
            if not all(equals(cell, value) for cell, value in zip(row[1:], values, strict=True)):
                yield f"its {name} has at {row[0]} {row[1:]}, not {values}"
                break


def equals(cell, value):
    if value is None or cell in (None, ""):
        return value is None and cell in (None, "")
    return abs(float(cell) - value) <= 1e-9 * max(1, abs(value))
