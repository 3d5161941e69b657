"""Opens each page of a server with a policy and 30 days of counts, as people do."""

import csv
import json
import re
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import accessibility
import counts
from browser import Browser
from database import Database, literal
from servers import wait

# Of fewer checks a page tells their number, and judges nothing.
FEWEST_JUDGED = 30
LOOKS = [(1600, "light"), (360, "light"), (1600, "dark"), (360, "dark")]
# The text of a page without what the script adds, which is in attributes, and without what differs from second to second.
TEXT = """
const page = document.documentElement.cloneNode(true);
for (const element of page.querySelectorAll("time, .distance, script")) element.remove();
return page.querySelector("body").textContent.replace(/\\s+/g, " ").replace(/[0-9hmins ]+ ago/g, "ago").trim();
"""

# The charts of a page, with the numbers of their tables.
CHARTS = """
return [...document.querySelectorAll("figure")].map((figure) => ({
  name: figure.id.replace(/^chart-/, ""),
  csv: figure.querySelector("a[href*='.csv']")?.getAttribute("href") ?? null,
  columns: [...figure.querySelectorAll(":scope table thead th")].slice(1).map((head) => head.textContent),
  rows: [...figure.querySelectorAll(":scope table tbody tr")].map((row) => [...row.querySelectorAll("td")].map((cell) => {
    const value = cell.querySelector("data")?.value;
    return value === undefined ? null : Number(value);
  })),
}));
"""


class Story:
    def __init__(self, server, away, browser, screenshots, seed):
        """away: a server that never reached its database."""
        self.server, self.browser, self.seed, self.screenshots = server, browser, seed, screenshots
        self.away = f"http://{away.management}"
        self.database = Database(server.database)
        self.charts = self.numbers = self.stops = 0

    def tell(self, text):
        print(f"{time.monotonic() - START:6.1f} s  {text}", flush=True)

    # The parts of the story, in their order.

    def empty(self):
        """Before anything is configured."""
        for path in ("/", "/try", "/history", "/unknowns"):
            self.browser.open(path)
            accessibility.judge(self.browser, path)
            self.picture(path, "empty")
        self.browser.open("/")
        accessibility.prove(self.browser)
        self.browser.open("/apps/com.example.doto", status=404)
        self.browser.open("/nothing", status=404)

    def fill(self):
        policy = Path(__file__).with_name("policy.yaml")
        self.server.run("apply", "--yes", "--why", "The first policy", policy)
        self.database.run("GRANT versiongate_viewer TO versiongate_server")
        counts.edit(self.database, counts.EDITS, 25 * 24)
        rows = counts.write(self.database, self.seed)
        revision = self.server.follow(self.database)
        for body in ({"bundle": "com.example.nobody"}, {"bundle": "com.example.doto", "language": "fr", "platform": "ios",
                                                         "version": "1.0", "os": "18"}):
            for _ in range(40):
                self.server.check(body)
        self.tell(f"{rows} rows of counts, {revision} changes")
        # What is kept from before is forgotten after some seconds.
        wait(lambda: all("com.example.doto" in self.server.get(path) for path in ("/", "/unknowns")), "the pages do not know the apps")

    def walk(self):
        """From `/` by links alone, to every page that there is."""
        parents = {"/": None}
        queue = ["/"]
        while queue:
            path = queue.pop(0)
            self.arrive(path, parents[path])
            for address in self.browser.run("return [...document.links].map((link) => link.getAttribute('href'))"):
                if address.startswith("/") and ".csv" not in address and self.kind(address) not in map(self.kind, parents):
                    parents[address] = path
                    queue.append(address)
        opened = {urlsplit(path).path for path in parents}
        expected = {f"/apps/{row[0]}" for row in self.database.rows("SELECT bundle FROM apps")}
        expected |= {f"/rules/{row[0]}" for row in self.database.rows("SELECT key FROM rules")}
        for path in sorted(expected | {"/", "/try", "/history", "/unknowns"}):
            if path not in opened:
                self.browser.fault(path, "no link leads to it")
        self.paths = list(parents)
        self.tell(f"{len(self.paths)} pages by their links")

    @staticmethod
    def kind(address):
        """What is opened once: each app and rule with each length of time, and one address of each kind of question."""
        parts = urlsplit(address)
        members = re.sub(r"=[^&]*", "", parts.query) if parts.path in ("/try", "/history") else parts.query
        return parts.path, members

    def arrive(self, path, parent):
        browser = self.browser
        browser.look(1600, "light")
        if parent is None:
            browser.open(path)
        else:
            browser.driver.get(browser.base + parent)
            links = [link for link in browser.driver.find_elements(By.TAG_NAME, "a") if link.get_dom_attribute("href") == path]
            browser.click(links[0], path)
        plain, hour = browser.run(TEXT), time.time() // 3600
        for details in browser.driver.find_elements(By.CSS_SELECTOR, "details"):
            browser.run("arguments[0].open = true", details)
        # A table that was closed is a part of the page as well. With those of a year axe-core takes a minute.
        accessibility.judge(browser, path, by_axe="?" not in path)
        browser.run("for (const details of document.querySelectorAll('details')) details.open = false")
        if "?" not in path:
            self.stops += accessibility.judge_keyboard(browser, path)
        self.judge_charts(path)
        # The same page of other days is looked at once more, at the other end.
        for width, scheme in LOOKS if "?" not in path else LOOKS[-1:]:
            browser.look(width, scheme)
            browser.open(path)
            if (width, scheme) != LOOKS[0]:
                accessibility.judge(browser, path)
            if "?" not in path:
                self.picture(path, f"{width}-{scheme}")
        browser.look(800, "light", media="print")
        browser.open(path)
        if "?" not in path:
            accessibility.judge(browser, path)
            browser.printed(self.screenshots / f"{self.name(path)}-print.pdf")
        browser.look(1600, "light")
        browser.allow_scripts(False)
        browser.open(path)
        # In another hour the last 24 hours are others.
        if browser.run(TEXT) != plain and time.time() // 3600 == hour:
            browser.fault(path, f"without JavaScript it has another text: {difference(plain, browser.run(TEXT))}")
        browser.allow_scripts(True)

    def judge_charts(self, path):
        """Each chart that the page must have is there, and its table says what its CSV does. PolicyStoreTests/Figures compares
        the numbers with SQL."""
        match = re.fullmatch("/(apps|rules)/([^/]+)", urlsplit(path).path)
        if not match:
            return
        expected = {"sent", "reach"}
        if match[1] == "apps":
            expected = {"versions", "messages", "systems", "regions"} | {
                f"adoption-{row[0]}" for row in self.database.rows(
                    f"SELECT DISTINCT platform FROM releases WHERE bundle = {literal(unquote(match[2]))} AND NOT staged"
                    " AND live_at <= now() AND (withdrawn_at IS NULL OR withdrawn_at > now())")}
        charts = {chart["name"]: chart for chart in self.browser.run(CHARTS)}
        if charts.keys() != expected:
            self.browser.fault(path, f"it has the charts {sorted(charts)}, not {sorted(expected)}")
        for name, chart in charts.items():
            if chart["csv"] is None:
                continue
            self.charts += 1
            head, *rows = csv.reader(self.server.get(chart["csv"]).splitlines())
            columns = ["all checks" if column == "all_checks" else column for column in head[1:]]
            numbers = [[float(cell) if cell else None for cell in row[1:]] for row in rows]
            self.numbers += sum(map(len, numbers))
            if (chart["columns"], chart["rows"]) != (columns, numbers):
                self.browser.fault(path, f"chart {name}: its table is {chart['columns']} {chart['rows']}, its CSV {columns} {numbers}")

    def tables(self):
        """The figures outside of charts. What the rows of `/` have beside the checks is held by AppRowsTests."""
        apps = {bundle: int(checks) for bundle, checks in self.database.rows(
            "SELECT apps.bundle, coalesce(sum(checks), 0) FROM apps LEFT JOIN check_counts AS c ON c.bundle = apps.bundle"
            " AND hour > now() - interval '24 hours' GROUP BY 1")}
        self.browser.open("/")
        self.same("/", "apps", self.columns("apps", "Checks"), {bundle: [f"{checks:,}"] for bundle, checks in apps.items()})

        path = "/apps/com.example.doto"
        self.browser.open(path)
        sent = {rule: (int(sent), int(lockouts)) for rule, sent, lockouts in self.database.rows(
            "SELECT rule, sum(sent), sum(lockouts) FROM rule_counts WHERE hour > now() - interval '24 hours' GROUP BY 1")}
        checks = apps["com.example.doto"]
        shown = self.columns("rules", "Got the message", "Locked out")
        self.same(path, "rules", shown, {
            key: [share(min(sent.get(key, (0, 0))[0], checks), checks) if bundle else f"{sent.get(key, (0, 0))[0]:,}, all apps",
                  share(min(sent.get(key, (0, 0))[1], checks), checks) if lockout == "t" else ""]
            for key, bundle, lockout in self.database.rows(
                "SELECT key, bundle, lockout FROM rules WHERE bundle = 'com.example.doto' OR bundle IS NULL")
        })

        path = "/unknowns"
        self.browser.open(path)
        lists = {"platforms": [], "unreadable": [], "unreleased": []}
        known = {bundle: ([], set()) for bundle in apps}
        for bundle, platform, version in self.database.rows(
            "SELECT bundle, platform, version FROM releases UNION ALL SELECT bundle, platform, NULL FROM store_links"
            " UNION ALL SELECT bundle, unnest(platforms), NULL FROM rules WHERE bundle IS NOT NULL"
        ):
            known[bundle][1].add(platform)
            if version:
                known[bundle][0].append((platform, numbers(version)))
        for bundle, platform, version, checks in self.database.rows(
            "SELECT bundle, platform, version, sum(checks) FROM check_counts WHERE bundle IS NOT NULL"
            " AND hour > now() - interval '24 hours' GROUP BY 1, 2, 3"
        ):
            kind = unknown_kind(*known[bundle], platform, version)
            if kind == "platforms":
                lists[kind].append((bundle, platform, int(checks)))
            elif kind:
                lists[kind].append((bundle, version, platform, int(checks)))
        for kind, rows in lists.items():
            sums = {}
            for *names, count in rows:
                sums[tuple(names)] = sums.get(tuple(names), 0) + count
            most = sorted(sums.items(), key=lambda row: (-row[1], row[0]))[:50]
            self.same(path, kind, self.table(kind), [[*names, f"{count:,}"] for names, count in most])
        bundles = {row[0]: row[1] for row in self.table("bundles")}
        self.same(path, "bundles", bundles, {"com.example.nobody": "40"})
        self.tell("the tables of /, /apps and /unknowns are those of SQL")

    def table(self, section):
        """The rows of the table of a section, as texts."""
        return self.browser.run(
            "return [...document.querySelectorAll(`section[aria-labelledby='${arguments[0]}'] tbody tr`)]"
            ".map((row) => [...row.cells].map((cell) => cell.textContent.trim().replace(/\\s+/g, ' ')))", section)

    def columns(self, section, *heads):
        """Some columns of the table of a section, by their heads, for each row by the first word of its name."""
        names = self.browser.run(
            "return [...document.querySelectorAll(`section[aria-labelledby='${arguments[0]}'] thead th`)]"
            ".map((head) => head.textContent.trim())", section)
        return {row[0].split()[0]: [row[names.index(head)] for head in heads] for row in self.table(section)}

    def same(self, path, what, shown, expected):
        if shown != expected:
            self.browser.fault(path, f"{what}: it shows {shown}, SQL says {expected}")

    def attempts(self):
        """`/try`, filled in by keyboard alone, with and without JavaScript; the answer is that of the public listener."""
        questions = [
            {"bundle": "com.example.doto", "version": "1.9", "platform": "ios", "os": "18.1", "region": "JP", "language": "de-CH"},
            {"bundle": "COM.example.doto", "version": "2.3", "platform": "iPadOS", "os": "17.2", "language": "ar"},
            {"bundle": "com.example.doto", "version": "2.4.0", "platform": "ios", "os": "18.1",
             "attributes": {"channel": "beta", "tier": "gold"}, "language": "en"},
            {"bundle": "com.example.many", "version": "12", "platform": "android"},
            {"bundle": "com.example.nobody"},
            {"bundle": "com.example.paused", "version": "1", "platform": "ios"},
        ]
        # A part of the installs cannot be asked for here, so for now there is none.
        self.database.run("BEGIN; DELETE FROM rollout_steps WHERE rule = 'doto-unsafe';"
                          " UPDATE rules SET rollout = 100 WHERE key = 'doto-unsafe'; COMMIT")
        self.server.follow(self.database)
        for index, question in enumerate(questions):
            self.browser.allow_scripts(index % 2 == 0)
            self.attempt(question, index)
        self.tell(f"{len(questions)} questions by keyboard, answered as the public listener does")

    def attempt(self, question, index):
        browser = self.browser
        browser.open("/")
        self.tab_to("/", lambda element: element.get_dom_attribute("href") == "/try")
        browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
        wait(lambda: urlsplit(browser.driver.current_url).path == "/try", "Enter on the link does not open /try")
        browser.judge("/try")
        members = dict(question)
        attributes = members.pop("attributes", {})
        members["attributes"] = "\n".join(f"{name}={value}" for name, value in attributes.items())
        while members:
            name = self.tab_to("/try", lambda element: element.get_dom_attribute("name") in members)
            browser.driver.switch_to.active_element.send_keys(members.pop(name.get_dom_attribute("name")))
        # Enter in a field asks; in the lines of attributes the button is next.
        self.tab_to("/try", lambda element: element.tag_name == "button")
        browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
        wait(lambda: "bundle=" in browser.driver.current_url, "Enter does not ask")
        path = browser.driver.current_url.removeprefix(browser.base)
        browser.judge(path)
        # What judges the page waits for timers, which a page without scripts has none of.
        browser.allow_scripts(True)
        accessibility.judge(browser, path)
        answer = json.loads(browser.run("return document.querySelector('#json').textContent"))
        real = self.server.check({**{name: value for name, value in question.items() if name != "attributes"}, **attributes})
        if answer != real:
            browser.fault(path, f"it answers {answer}, the public listener {real}")
        titles = browser.run("return [...document.querySelectorAll('.phone h3')].map((title) => title.textContent)")
        if titles != [message["title"] for message in real["messages"]]:
            browser.fault(path, f"it shows messages {titles}")
        verdicts = [row[0] for row in self.table("why") if len(row) > 1]
        rules = [row[0] for row in self.database.rows(
            f"SELECT key FROM rules WHERE lower(bundle) = lower('{question['bundle']}') OR bundle IS NULL")]
        if sorted(verdicts) != sorted(rules):
            browser.fault(path, f"it explains {sorted(verdicts)}, not {sorted(rules)}")
        # The address is the question.
        browser.open(path)
        if json.loads(browser.run("return document.querySelector('#json').textContent")) != answer:
            browser.fault(path, "the address opened again answers otherwise")
        for width, scheme in LOOKS:
            browser.look(width, scheme)
            browser.open(path)
            accessibility.judge(browser, path)
            self.picture(f"/try-{index}", f"{width}-{scheme}")
        browser.look(1600, "light")

    def tab_to(self, path, is_wanted):
        for _ in range(60):
            self.browser.driver.switch_to.active_element.send_keys(Keys.TAB)
            element = self.browser.driver.switch_to.active_element
            if is_wanted(element):
                return element
        raise RuntimeError(f"{path}: Tab does not reach what is looked for")

    def mistakes(self):
        """Questions that cannot be answered say so: PolicyPagesTests has more of them."""
        for path, status, words in (
            ("/try?bundle=com.example.doto&at=yesterday", 400, "cannot be read"),
            ("/try?bundle=" + "x" * 1200, 400, "would be refused"),
            ("/try?bundle=com.example.doto&revision=9999", 200, "9999"),
            ("/try?bundle=com.example.doto&version=1.9&revision=1", 200, "revision 1"),
            ("/apps/com.example.dotto", 404, "com.example.dotto"), ("/history?before=x", 400, "number of a change"),
        ):
            self.browser.open(path, status)
            accessibility.judge(self.browser, path)
            if words not in self.browser.run("return document.querySelector('main').textContent"):
                self.browser.fault(path, f"it does not say {words!r}")

    def refreshes(self):
        """The script takes what is new, and leaves open what is open."""
        browser = self.browser
        browser.open("/")
        old = browser.run("const open = document.querySelector('main details[id]'); open.open = true; window.same = true;"
                          "document.activeElement.blur(); return document.getElementById('revision').textContent")
        self.database.run("UPDATE apps SET note = 'A new note' WHERE bundle = 'com.example.one'")
        opened = browser.run("return document.querySelector('main details[open]').id")

        def is_new():
            browser.driver.execute_async_script("refresh().then(arguments[arguments.length - 1])")
            return browser.run("return document.getElementById('revision').textContent") != old
        wait(is_new, "the script does not show the new revision")
        if not browser.run("return window.same && document.getElementById(arguments[0])?.open", opened):
            browser.fault("/", "what was open is closed after the script refreshed the page, or it was loaded anew")
        browser.judge("/")

    def without_database(self):
        """A server that never reached a database says so on each page."""
        with Browser(self.away, self.browser.faults) as browser:
            for path, status in (("/", 200), ("/try?bundle=com.example.doto", 200), ("/history", 503), ("/unknowns", 200)):
                browser.open(path, status)
                accessibility.judge(browser, path)
                browser.picture(self.screenshots / f"{self.name(path)}-away.png")
                if "database" not in browser.run("return document.querySelector('main').textContent").lower():
                    browser.fault(path, "it does not say that the database is away")

    # Means.

    def name(self, path):
        parts = urlsplit(path)
        return parts.path.strip("/").replace("/", "-") or "overview"

    def picture(self, path, name):
        self.browser.picture(self.screenshots / f"{self.name(path)}-{name}.png")


def numbers(version):
    """The numbers of a version without zeros at the end; None: it is not one of numbers."""
    parts = version.split(".")
    if not all(part.isdigit() for part in parts):
        return None
    values = [int(part) for part in parts]
    while values and values[-1] == 0:
        values.pop()
    return tuple(values)


def unknown_kind(releases, platforms, platform, version):
    """The list of /unknowns that a kind of client belongs to; None: it is known."""
    if version and numbers(version) is None:
        return "unreadable"
    if platform and platforms and platform not in platforms:
        return "platforms"
    released = [release for place, release in releases if place == platform]
    return "unreleased" if version and released and numbers(version) not in released else None


def share(count, whole):
    """A part of checks in words, as the pages write it."""
    if whole == 0:
        return "-"
    if whole < FEWEST_JUDGED:
        return f"{count} of {whole}"
    thousandths = int(count / whole * 1000 + 0.5)
    if count > 0 and thousandths < 1:
        return "<0.1 %"
    if count < whole and thousandths >= 1000:
        return ">99.9 %"
    return f"{thousandths // 10}.{thousandths % 10} %"


def difference(one, other):
    index = next((index for index, pair in enumerate(zip(one, other)) if pair[0] != pair[1]), min(len(one), len(other)))
    return f"...{one[max(0, index - 30):index + 60]!r} and ...{other[max(0, index - 30):index + 60]!r}"


START = time.monotonic()


def judge(faults, server, away, screenshots, seed):
    with Browser(f"http://{server.management}", faults) as browser:
        story = Story(server, away, browser, screenshots, seed)
        for part in (story.empty, story.fill, story.walk, story.tables, story.attempts, story.mistakes, story.refreshes,
                     story.without_database):
            part()
    print(f"\n{browser.pages} pages opened, {browser.requests} requests; {story.charts} charts with {story.numbers} numbers"
          f" compared with their CSV; {story.stops} places reached by Tab; {len(faults)} faults")
