"""Makes the pictures of Documentation/Images: two pages of a server, and an app with the web component, in light and dark,
and a terminal."""

import html
import json
import re
from datetime import datetime, timedelta, timezone
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from urllib.parse import urlencode

import counts
from browser import Browser
from component_server import LIBRARY, Handler, Listener
from database import Database
from PIL import Image, ImageDraw
from selenium.webdriver.support.wait import WebDriverWait
from servers import REPOSITORY
from terminal import record

HERE = Path(__file__)
IMAGES = REPOSITORY / "Documentation" / "Images"
CLIENT = {"bundle": "com.example.doto", "version": "2.3.0", "platform": "ios", "os": "18.1", "region": "JP", "language": "en"}
# The same with a system that the newest release does not support.
OLD_CLIENT = {**CLIENT, "os": "15.8"}
WIDTH = 1000
# The screen of a phone, and what is round it, in pixels of the picture.
PHONE, SCALE, CASE, CORNER = (320, 560), 2, 16, 64
# Together, in bytes.
MOST = 400_000

# Edits after the policy was applied, oldest first: how many hours ago, why, and the statement.
EDITS = (
    (40 * 24, "2.2.0 is out", "UPDATE releases SET live_at = now() - interval '40 days' WHERE version = '2.2.0'"),
    (12 * 24, "2.3.0 is out", "UPDATE releases SET live_at = now() - interval '12 days' WHERE version = '2.3.0'"),
    (4 * 24, "2.3.5 is out", "UPDATE releases SET live_at = now() - interval '4 days' WHERE version = '2.3.5'"),
    (74, "Lists are lost (ticket 4711)", "INSERT INTO rollout_steps VALUES ('bad-2.3', date_trunc('hour', now()) - interval '74 hours', 10),"
     " ('bad-2.3', date_trunc('hour', now()) - interval '50 hours', 50), ('bad-2.3', date_trunc('hour', now()) + interval '22 hours', 100);"
     " UPDATE rules SET enabled = true WHERE key = 'bad-2.3'"),
)


def rollout(age):
    """The share of bad-2.3, `age` hours ago."""
    return 0 if age > 74 else 0.1 if age > 50 else 0.5


def times(now, days):
    """The starts of the rows that are there: of hours for a week, of days (UTC) before it."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    past = [midnight - timedelta(days=day) for day in range(days, 7, -1)]
    first = midnight - timedelta(days=7)
    hours = int((now - first) / timedelta(hours=1))
    return past + [first + timedelta(hours=hour) for hour in range(hours + 1)]


def write_counts(database):
    """Checks of 14 days: 2.3.0 spreads, then 2.3.5."""
    now = datetime.fromisoformat(database.value("SELECT date_trunc('hour', now() AT TIME ZONE 'UTC')")).replace(tzinfo=timezone.utc)
    checks, sent = [], {}
    for start in times(now, 14):
        age = (now - start) / timedelta(hours=1)
        hours = 24 if age > 8 * 24 else 1
        # Few ask at night.
        busy = hours if hours > 1 else 1 - 0.7 * abs(12 - start.hour) / 12
        newest = max(0.0, min(0.6, (4 * 24 - age) / (4 * 24) * 0.6))
        bad = max(0.0, min(0.75, (12 * 24 - age) / (4 * 24) * 0.5)) * (1 - newest)
        for platform, weight, system in (("ios", 900, "18.1"), ("ios", 60, "15.8"), ("android", 700, "15")):
            for version, part in (("2.3.5", newest if system != "15.8" else 0), ("2.3.0", bad), ("2.2.0", 1 - newest - bad)):
                count = round(weight * busy * part)
                if count == 0:
                    continue
                asked = count if age < 4 * 24 and version != "2.3.5" and system != "15.8" else 0
                blocked = round(count * rollout(age)) if version == "2.3.0" else 0
                locked = blocked if system != "15.8" else 0
                checks.append((start.isoformat(), "com.example.doto", platform, version, r"\N", "JP", system, count, max(asked, blocked), locked))
                for rule, number, out in (("bad-2.3", blocked, locked), ("update-2.3.5", asked, 0)):
                    if number:
                        old = sent.get((start.isoformat(), rule), (0, 0))
                        sent[start.isoformat(), rule] = old[0] + number, old[1] + out
    lines = "".join("\t".join(map(str, row)) + "\n" for row in checks)
    rules = "".join("\t".join(map(str, (*key, *numbers))) + "\n" for key, numbers in sent.items())
    database.run(f"BEGIN;\nCOPY check_counts FROM STDIN;\n{lines}\\.\nCOPY rule_counts FROM STDIN;\n{rules}\\.\nCOMMIT;\nANALYZE;\n")


def fill(database, server):
    server.run("apply", "--yes", "--why", "The first policy", HERE.with_name("pictures.yaml"))
    database.run("GRANT versiongate_viewer TO versiongate_server")
    counts.edit(database, EDITS, 41 * 24)
    write_counts(database)
    server.follow(database)


def picture(browser, file, scheme, last):
    """The top of the page, down to the end of an element."""
    browser.command("Emulation.setScrollbarsHidden", hidden=True)
    browser.command("Emulation.setDefaultBackgroundColorOverride", color={"r": 0, "g": 0, "b": 0, "a": 0})
    height = browser.run("return Math.ceil(document.querySelector(arguments[0]).getBoundingClientRect().bottom + scrollY) + 16",
                         last)
    browser.look(WIDTH, scheme, height=height)
    browser.picture(file, whole=False)
    with Image.open(file) as image:
        # A palette takes a third of the bytes.
        image.quantize(256).save(file, optimize=True)


class App(Handler, SimpleHTTPRequestHandler):
    """The sample app beside its library, and the answers of a server for one installation."""

    server_to_ask = install = None

    def __init__(self, *arguments):
        super().__init__(*arguments, directory=LIBRARY)

    def do_POST(self):
        members = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = self.server_to_ask.check({**members, "install": self.install})
        self.answer(200, json.dumps(answer).encode(), "application/json")


def put_in_case(file, colour):
    """Puts the picture of a screen into the case of a phone."""
    with Image.open(file) as screen:
        size = tuple(side + 2 * CASE for side in screen.size)
        case, glass = Image.new("L", [side * 4 for side in size]), Image.new("L", [side * 4 for side in screen.size])
        for part, corner in ((case, CORNER + CASE), (glass, CORNER)):
            # Drawn larger, so that corners become smooth.
            ImageDraw.Draw(part).rounded_rectangle((0, 0, part.width - 1, part.height - 1), corner * 4, fill=255)
        phone = Image.new("RGB", size, colour)
        phone.paste(screen.convert("RGB"), (CASE, CASE), glass.resize(screen.size))
        phone.putalpha(case.resize(size))
        phone.quantize(256).save(file, optimize=True)


def phones(server, install, folder, faults):
    """The app, locked out and asked to update."""
    App.server_to_ask, App.install = server, install
    with Browser(Listener(App).address, faults) as browser:
        for scheme, colour in (("light", "#16181d"), ("dark", "#4a5361")):
            browser.look(PHONE[0], scheme, height=PHONE[1], scale=SCALE)
            for name, dialog, version in (("phone", "lockout", "2.3.0"), ("message", "message", "2.2.0")):
                query = urlencode({**CLIENT, "version": version})
                browser.driver.get(f"{browser.base}/samples/doto.html?{query}")
                WebDriverWait(browser.driver, 60).until(lambda _: browser.run(OPENED, dialog))
                file = folder / f"{name}-{scheme}.png"
                browser.picture(file, whole=False)
                put_in_case(file, colour)
                browser.run("localStorage.clear()")


def words(file):
    """What a recorded terminal shows, without what differs from run to run."""
    text = html.unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", file.read_text(encoding="utf-8"), flags=re.S))
    return re.sub(r"\d+ (m?s ago)", r"0 \1", " ".join(text.split()))


def judge(faults, server, example, folder):
    terminal = folder / "terminal.svg"
    terminal.write_text(record(example), encoding="utf-8")
    if words(terminal) != words(IMAGES / terminal.name):
        faults.append(f"{IMAGES / terminal.name} is not what a terminal shows now: {terminal}")
    database = Database(server.database)
    fill(database, server)
    # Somebody whom the share of 50 % reaches.
    install = next(str(number) for number in range(100)
                   if database.value(f"SELECT rollout_bucket('bad-2.3', '{number}') < 1000") == "t")
    phones(server, install, folder, faults)
    # After the last step of the ramp everybody is asked.
    later = datetime.now(timezone.utc) + timedelta(days=2)
    question = "&".join(f"{name}={value}" for name, value in {**OLD_CLIENT, "at": f"{later:%Y-%m-%dT%H:00:00Z}"}.items())
    with Browser(f"http://{server.management}", faults) as browser:
        for scheme in ("light", "dark"):
            for name, path, last in (("rule", "/rules/bad-2.3?days=7", "section[aria-labelledby='figures'] figure"),
                                     ("try", f"/try?{question}", "section[aria-labelledby='why']")):
                browser.look(WIDTH, scheme)
                browser.open(path)
                # The folder of the database is another one in each run.
                browser.run(REPLACE, str(server.state), "/var/lib/versiongate")
                picture(browser, folder / f"{name}-{scheme}.png", scheme, last)
    pictures = sorted(folder.glob("*.png"))
    size = sum(file.stat().st_size for file in pictures)
    if size > MOST:
        faults.append(f"the pictures have {size} bytes together, more than {MOST}")
    print(f"{len(pictures)} pictures, {size} bytes; {len(faults)} faults")


# Whether a dialog of the component is there, and as it stays.
OPENED = """
const root = document.querySelector("versiongate-screens").shadowRoot;
for (const all of [document, root]) all.getAnimations().forEach((one) => one.finish());
return root.querySelector(`.${arguments[0]}`).open;
"""

REPLACE = """
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) walk.currentNode.data = walk.currentNode.data.replaceAll(arguments[0], arguments[1]);
"""
