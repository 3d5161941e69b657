"""Opens an app that has mounted a gate (Clients/JavaScript/mount.js), and tries to leave a lockout."""

import json

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

import accessibility
from attacks import ATTACKS
from browser import Browser
from component_server import LIBRARY, Server, until
from ways_out import WAYS

TABLE = json.loads((LIBRARY.parent / "strings.json").read_text(encoding="utf-8"))
TEXTS = {
    "en": ("Please update", "Doto 1.2 is available. It keeps your lists in sync.", "This version loses data",
           "Please update before you go on."),
    "de": ("Bitte aktualisieren", "Doto 1.2 ist da. Es hält deine Listen auf allen Geräten gleich.",
           "Diese Version verliert Daten", "Bitte aktualisiere die App, bevor du weiterarbeitest."),
    "ar": ("يرجى التحديث", "يتوفر Doto 1.2 الآن. يحافظ على مزامنة قوائمك.", "هذا الإصدار يفقد البيانات",
           "يرجى التحديث قبل المتابعة."),
    "ja": ("アップデートしてください", "Doto 1.2 が公開されました。リストがすべての端末で同期されます。", "このバージョンではデータが失われます",
           "続ける前にアップデートしてください。"),
    "hi": ("कृपया अपडेट करें", "Doto 1.2 उपलब्ध है। यह आपकी सूचियों को सभी उपकरणों पर एक जैसा रखता है।",
           "इस संस्करण में डेटा खो जाता है", "आगे बढ़ने से पहले कृपया अपडेट करें।"),
}
WIDTHS = (320, 360, 768, 1280, 1600)
SECRET = "THE SECRET LIST"

# What is wrong with a lockout that is shown: empty if all is well.
COVERED = """
const host = document.querySelector("versiongate-screens");
const cover = host?.shadowRoot.querySelector(".lockout");
const faults = [];
if (!cover?.open || !cover.matches(":modal")) return ["there is no lockout"];
if (!cover.querySelector("h2").textContent || cover.querySelectorAll("button").length !== 1) faults.push("it is not whole");
const steps = [0.01, 0.25, 0.5, 0.75, 0.99];
for (const x of steps) for (const y of steps) {
  const found = document.elementFromPoint(innerWidth * x, innerHeight * y);
  if (found !== host) faults.push(`${x}, ${y} is ${found?.outerHTML.slice(0, 60)}`);
}
for (const element of document.querySelectorAll("body *")) {
  const isShown = element.checkVisibility({ visibilityProperty: true });
  if (isShown && !element.matches("dialog *, dialog, [popover], [popover] *, iframe, .shown, .shown *")) {
    faults.push(`it shows ${element.outerHTML.slice(0, 60)}`);
  }
}
const active = document.activeElement;
if (![host, document.body, null].includes(active)) faults.push(`the focus is on ${active.outerHTML.slice(0, 60)}`);
if (!document.body.inert) faults.push("the page is not inert");
if (window.reached.length > 0) faults.push(`the person reached ${window.reached}`);
return faults.slice(0, 5);
"""

# What is wrong with how a dialog fits: empty if all is well.
FITS = """
const dialog = document.querySelector("versiongate-screens").shadowRoot.querySelector(arguments[0]);
const faults = [];
const box = dialog.getBoundingClientRect();
if (box.left < 0 || box.top < 0 || box.right > innerWidth || box.bottom > innerHeight) faults.push("it leaves the window");
if (dialog.scrollWidth > dialog.clientWidth) faults.push("it scrolls sideways");
for (const control of dialog.querySelectorAll("a, button")) {
  const own = control.getBoundingClientRect();
  if (own.height < 44) faults.push(`${control.textContent} is ${own.height} pixels high`);
  if (control.scrollWidth > Math.ceil(own.width) || own.left < box.left || own.right > box.right) {
    faults.push(`${control.textContent} is cut`);
  }
  if (innerHeight >= 480 && (own.top < box.top || own.bottom > box.bottom)) faults.push(`${control.textContent} is out of sight`);
}
return faults;
"""

CONTROLS = """
const dialog = document.querySelector("versiongate-screens").shadowRoot.querySelector(arguments[0]);
return dialog.open ? [...dialog.querySelectorAll("a, button")].map(({ textContent }) => textContent) : [];
"""

PRESSED = """
const root = document.querySelector("versiongate-screens").shadowRoot;
[...root.querySelectorAll("dialog[open] a, dialog[open] button")].find(({ textContent }) => textContent === arguments[0]).focus();
"""


class Component:
    def __init__(self, server, browser, screenshots):
        self.server, self.browser, self.screenshots = server, browser, screenshots
        self.driver, self.run, self.look = browser.driver, browser.run, browser.look
        self.path = ""
        self.counts = {"axe": 0, "fits": 0, "ways": 0}

    # What the tests are made of.

    def lockout(self, **members):
        return {"id": "blocked", "title": "This version loses data", "text": "Please update.", "lockout": True,
                "link": f"{self.server.address}/app/", **members}

    def open(self, query="", messages=None, wait=True):
        """Opens the app on a device that has kept nothing, and waits until it has its answer."""
        if messages is not None:
            self.server.messages = messages
        self.path = f"/app/{query}"
        self.driver.get("about:blank")
        self.browser.command("Storage.clearDataForOrigin", origin=self.server.address, storageTypes="local_storage")
        self.driver.get(self.server.address + self.path)
        if wait:
            self.wait(".lockout" if any(one.get("lockout") for one in self.server.messages) else ".message")

    def wait_for(self, what, condition):
        try:
            return WebDriverWait(self.driver, 300, 0.02).until(condition)
        except Exception as error:
            raise AssertionError(f"{self.path}: {what} did not come about") from error

    def wait_script(self, what, script):
        return self.wait_for(what, lambda _: self.run(script))

    def wait(self, dialog, is_open=True):
        self.wait_root(f"{dialog} {'open' if is_open else 'closed'}", f"!!root?.querySelector('{dialog}')?.open === {json.dumps(is_open)}")

    def root(self, script, *arguments):
        """What a script gives; `root` is what the component has put into the page."""
        return self.run("const root = document.querySelector('versiongate-screens')?.shadowRoot ?? null;" + script, *arguments)

    def wait_root(self, what, condition):
        """Until a condition on `root` is met."""
        return self.wait_for(what, lambda _: self.root(f"return {condition}"))

    def wait_time(self, pattern):
        """Until the lockout says in words how long it lasts."""
        self.wait_root(f"the time {pattern}", f"/{pattern}/.test(root?.querySelector('.until')?.textContent)")

    def open_app(self, query="", messages=None):
        """Opens the app, and waits for its scripts and not for an answer."""
        self.open(query, messages, wait=False)
        self.wait_script("the app", "return window.screens !== undefined")

    def wait_checks(self, more):
        count = self.server.checks
        return lambda: self.wait_for(f"{more} more checks", lambda _: self.server.checks >= count + more)

    def keys(self, *keys):
        ActionChains(self.driver, duration=0).send_keys(*keys).perform()

    def press(self, name):
        """By keyboard."""
        self.run(PRESSED, name)
        self.keys(Keys.ENTER)

    def expect(self, what, actual, expected):
        if actual != expected:
            self.browser.fault(self.path, f"{what}: {actual!r}, not {expected!r}")

    def expect_covered(self, what):
        """Soon, and then for good: what the page did is answered within some milliseconds."""
        last = []

        def covered(_):
            last[:] = self.run(COVERED)
            return not last

        try:
            WebDriverWait(self.driver, 60, 0.02).until(covered)
        except Exception:
            self.browser.fault(self.path, f"{what}: {last}")

    def judge_console(self):
        """A check that fails is its own reason for a line of the browser."""
        for entry in self.driver.get_log("browser"):
            if "/v1/check" not in entry["message"]:
                self.browser.fault(self.path, f"the console says {entry['message']}")

    def picture(self, name):
        self.root("[document, root].forEach((all) => all.getAnimations().forEach((one) => one.finish()))")
        self.browser.picture(self.screenshots / f"component-{name}.png", whole=False)

    def judge(self, dialog, what):
        self.root("root.getAnimations().forEach((one) => one.finish())")
        for fault in self.run(FITS, dialog):
            self.browser.fault(self.path, f"{what}: {fault}")
        self.counts["fits"] += 1

    def judge_by_axe(self):
        accessibility.judge_by_axe(self.browser, self.path)
        self.counts["axe"] += 1

    # The tests.

    def languages(self):
        """Each width, light and dark, in five languages: what it looks like, by axe-core and by measure."""
        for language, (title, text, locked, why) in TEXTS.items():
            message = {"id": "update", "title": title, "text": text, "link": f"{self.server.address}/app/", "skip": True}
            for messages, dialog in (([message], ".message"), ([self.lockout(title=locked, text=why, until=until(5_400))], ".lockout")):
                name = dialog.removeprefix(".")
                self.look(1600)
                self.open(f"?language={language}", messages)
                for width in WIDTHS:
                    for scheme in ("light", "dark"):
                        self.look(width, scheme)
                        self.judge(dialog, f"{width} {scheme}")
                        self.judge_by_axe()
                        if width in (360, 1280):
                            self.picture(f"{name}-{language}-{width}-{scheme}")
                # A page at 400 % has a quarter of the height too.
                self.look(320, height=256)
                self.judge(dialog, "400 %")
                row = TABLE[language]
                names = [row["update"], row["later"], row["skip"]] if dialog == ".message" else [row["update"], row["tryAgain"]]
                self.expect("buttons", self.run(CONTROLS, dialog), names)
                direction = self.root(f"return getComputedStyle(root.querySelector('{dialog}')).direction")
                self.expect("direction", direction, "rtl" if language == "ar" else "ltr")
                self.judge_console()
        self.look(1600)

    def all_languages(self):
        """Each language of the table, in the narrowest window: nothing is cut. Tags that are not in the table find theirs."""
        self.look(320)
        message = {"id": "update", "title": "T", "text": "T", "link": "market://details?id=a", "skip": True}
        other = {"id": "other", "title": "T", "text": "T", "link": "https://example.com/"}
        self.open("", [message, other])
        for tag, found in [*((tag, tag) for tag in TABLE), ("de_AT", "de"), ("zh-TW", "zh-Hant"), ("zh-Hans-SG", "zh"), ("no", "nb"),
                           ("iw", "he"), ("in-ID", "id"), ("pt-BR", "pt"), ("pt-PT", "pt-PT"), ("tlh", "en"), ("?", "en"), ("", "en")]:
            row = TABLE[found]
            self.run("screens.unmount(); localStorage.clear(); screens = mount(new VersionGate({ server: location.origin,"
                     "app: { bundle: 'b' } }), { language: arguments[0] })", tag)
            self.wait(".message")
            self.expect(f"buttons in {tag}", self.run(CONTROLS, ".message"), [row["update"], row["later"], row["skip"]])
            self.judge(".message", tag)
            self.press(row["later"])
            self.wait_root("the next", "root.querySelector('.message a').href === 'https://example.com/'")
            self.expect(f"buttons in {tag}", self.run(CONTROLS, ".message"), [row["open"], row["close"]])
            self.judge(".message", tag)
        self.judge_console()
        self.look(1600)

    def hostile(self):
        """Texts of attackers are shown as they are, and do nothing."""
        self.look(320)
        for index, attack in enumerate([*ATTACKS, "A" * 4_000, "\u202e" * 500 + "evil", "\n" * 3_000 + "end", "x\u0336\u0315" * 900]):
            messages = [{"id": "m", "title": attack[:200], "text": attack, "skip": True}, self.lockout(title=attack[:200], text=attack)]
            self.open("", messages)
            self.wait(".message")
            shown = self.root("return [...root.querySelectorAll('h2, #text')].map((one) => one.innerHTML.includes('<') ? 'markup' : one.textContent)")
            self.expect(f"attack {index}", shown, [attack[:200] or "Update required", attack] * 2)
            self.expect("what it did", self.run("return [window.ran ?? null, document.querySelectorAll('script').length]"), [None, 1])
            self.judge(".message", f"attack {index}")
            self.judge(".lockout", f"attack {index}")
        self.judge_console()
        links = ["javascript:window.ran=1", "data:text/html,x", "file:///etc/passwd", "https://a@evil.example/", "//evil.example/", "http:/x\\y"]
        for link in links:
            self.open("", [self.lockout(link=link)])
            self.expect(f"buttons with {link}", self.run(CONTROLS, ".lockout"), ["Try again"])
        self.look(1600)

    def message(self):
        """A message is answered by keyboard, what is told to the library, and the focus comes back."""
        news = {"id": "news", "title": "News", "text": "Lists.", "shows": 9}
        tip = {"id": "tip", "title": "Tip", "text": "Swipe.", "skip": True, "link": "https://example.com/tip"}
        update = {"id": "update", "title": "Update", "text": "1.2", "target": "1.2", "shows": 9, "link": "https://example.com/new"}
        self.open("?focus", [news, tip, update])
        self.expect("focus", self.root("return root.activeElement?.localName"), "h2")
        self.expect("first", self.run(CONTROLS, ".message"), ["Close"])
        self.keys(Keys.ESCAPE)
        self.wait_root("the second message", "root.querySelector('.message h2').textContent === 'Tip'")
        self.expect("second", self.run(CONTROLS, ".message"), ["Open", "Close", "Do not show again"])
        seen = []
        for _ in range(9):
            self.keys(Keys.TAB)
            seen.append(self.root("""
              const inner = root.activeElement;
              if (document.activeElement !== root.host) return document.hasFocus() && document.activeElement !== document.body ? "page" : null;
              return inner.localName === "h2" || parseFloat(getComputedStyle(inner).outlineWidth) >= 3 ? inner.textContent : "unseen";
            """))
        self.expect("Tab in a message", [*dict.fromkeys(name for name in seen if name in ("Open", "Close", "Do not show again"))],
                    ["Open", "Close", "Do not show again"])
        self.expect("Tab leaves a message", {"page", "unseen"} & set(seen), set())
        self.press("Do not show again")
        self.wait_root("the third message", "root.querySelector('.message h2').textContent === 'Update'")
        self.expect("third", self.run(CONTROLS, ".message"), ["Update", "Later"])
        link = self.root("const { href, target, rel } = root.querySelector('.message a'); return [href, target, rel]")
        self.expect("link", link, ["https://example.com/new", "_blank", "noopener noreferrer"])
        windows = len(self.driver.window_handles)
        self.press("Update")
        self.wait(".message", False)
        self.wait_for("a window", lambda _: len(self.driver.window_handles) == windows + 1)
        own = self.driver.current_window_handle
        self.driver.switch_to.window(next(one for one in self.driver.window_handles if one != own))
        self.driver.close()
        self.driver.switch_to.window(own)
        self.expect("focus comes back", self.run("return document.activeElement.id"), "task")
        kept = json.loads(self.run("return localStorage.getItem('dev.versiongate')"))
        self.expect("kept", [(one["id"], one.get("skipped", False)) for one in kept["messages"]],
                    [("news", False), ("tip", True), ("update", False)])
        self.keys("d")
        self.expect("the page goes on", self.run("return reached"), ["a hotkey", "input"])
        self.judge_console()

    def lockout_ends(self):
        """A lockout ends when an answer has none: by the button, when the page comes back, when its time is over."""
        self.open("?focus", [self.lockout()])
        self.expect_covered("lockout")
        self.expect("told", self.run("return locks"), ["blocked"])
        self.expect("role", self.root("return root.querySelector('.lockout').getAttribute('role')"), "alertdialog")
        # Nothing changes with the same answer, nor while the server does not answer.
        for fails in (None, (500, b"x"), (200, b"<html>"), "away"):
            self.server.fails = fails
            asked = self.wait_checks(1)
            self.press("Try again")
            asked()
            self.wait_root("the answer", "root.querySelector('.lockout [role=status]').textContent !== ''")
            self.expect_covered(f"try again, {fails}")
        self.server.fails, self.server.messages = None, []
        self.press("Try again")
        self.wait(".lockout", False)
        state = self.run("return [document.activeElement.id, document.body.inert, document.adoptedStyleSheets.length, locks.at(-1),"
                         "getComputedStyle(document.querySelector('#secret')).visibility]")
        self.expect("after the lockout", state, ["task", False, 0, None, "visible"])
        self.keys("d")
        self.expect("the page goes on", self.run("return reached"), ["a hotkey", "input"])

        # What the page had made inert itself stays so.
        self.open_app("", [])
        self.run("const one = document.documentElement.appendChild(document.createElement('aside')); one.inert = true")
        self.server.messages = [self.lockout()]
        self.run("screens.check({ force: true })")
        self.wait(".lockout")
        self.server.messages = []
        self.run("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))")
        self.wait(".lockout", False)
        self.expect("inert", self.run("return [document.body.inert, document.querySelector('aside').inert]"), [False, True])

        # Its time: counted down, then asked again.
        self.open("", [self.lockout(until=until(5_400))])
        self.wait_time(r"^\d+:\d\d\s[AP]M \(in (8\d|90) minutes\)$")
        self.open("", [self.lockout(until=until(10))], wait=False)
        self.wait_time(r"\(in (\d|10) seconds?\)")
        self.server.messages = []
        self.wait(".lockout", False)
        self.open("", [self.lockout(until=until(2))], wait=False)
        self.server.fails = None
        self.wait(".lockout")
        self.server.fails = "away"
        self.wait(".lockout", False)
        self.server.fails = None

        # A server that goes on sending what has ended is asked again, but not at once each time.
        self.open("", [self.lockout(until=until(-5))])
        self.wait_time(r"\(in 1[0-5] seconds\)")
        self.expect_covered("a lockout that has ended and is sent")

        # No number and no link in an answer keeps it from covering the page.
        for members in ({"until": 8_640_000_000_001}, {"until": 9_007_199_254_740_991}, {"link": "https://["}, {"link": "https://%"}):
            self.open("", [self.lockout(**members)])
            self.expect_covered(f"a lockout with {members}")
            self.open("", [{"id": "news", "title": "News", "text": "Lists.", **members}])
            self.press("Close")
            self.wait(".message", False)

        # What is not kept stays as long as the server sends it.
        self.open("?unkept", [self.lockout()])
        for again in ("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))", "screens.check()",
                      "screens.check({ force: false })"):
            wait = self.wait_checks(1)
            self.run(again)
            wait()
            # A check joins one that is still under way, so that is waited for.
            self.run("return screens.check()")
            self.expect_covered(f"a lockout that is not kept, after {again}")
        self.server.messages = []
        self.run("return screens.check()")
        self.wait(".lockout", False)

        # A check that the person asked for returns what it shows, also what a hint hides.
        self.open("", [{"id": "news", "title": "News", "text": "Lists.", "shows": 1}])
        self.press("Close")
        self.wait(".message", False)
        for options, found in (("force: true", []), ("manual: true", ["news"])):
            ids = self.run(f"return screens.check({{ {options} }}).then((given) => given.map(({{ id }}) => id))")
            self.expect(f"found with {options}", ids, found)
        self.press("Close")

        # Unmounted, nothing stays.
        self.open("", [self.lockout()])
        self.run("screens.unmount()")
        state = self.root("return [root, document.body.inert, document.adoptedStyleSheets.length]")
        self.expect("unmounted", state, [None, False, 0])
        self.judge_console()

    def motion(self):
        for motion, expected in (("no-preference", 1), ("reduce", 0)):
            self.look(1280, motion=motion)
            self.open("", [self.lockout()], wait=False)
            self.wait(".lockout")
            names = self.root("return getComputedStyle(root.querySelector('.lockout')).animationName")
            self.expect(f"animation with {motion}", int(names != "none"), expected)
        self.look(1600)

    def preview(self):
        """A gate of a pasted list shows its messages, and asks nobody."""
        self.open_app("", [])
        self.wait_for("a check", lambda _: self.server.checks > 0)
        checks = self.server.checks
        self.run("screens.unmount(); screens = mount(VersionGate.preview(arguments[0]))", json.dumps({"messages": [self.lockout()]}))
        self.wait(".lockout")
        self.press("Try again")
        self.expect_covered("preview")
        self.expect("checks of a preview", self.server.checks, checks)
        self.run("screens.unmount()")
        for code, words in (
            ("mount()", "gate must be a VersionGate"), ("mount({})", "gate must be a VersionGate"),
            ("mount(gate, { lang: 1 })", "options has no lang; it has language, texts, onLockout"),
            ("mount(gate, { texts: { ok: 1 } })", "options.texts has no ok; it has update, open,"),
            ("mount(gate, { texts: { open: 1 } })", "options.texts.open must be a string"),
            ("mount(gate, { language: 1 })", "options.language must be a string"),
            ("mount(gate, { onLockout: 1 })", "options.onLockout must be a function"),
            ("mount(gate, null)", "options must be an object"),
            ("mount(gate); mount(gate)", "the page has a mounted gate already: unmount it first"),
        ):
            error = self.run(f"try {{ {code}; return 'none' }} catch ({{ message }}) {{ return message }}")
            if words not in error:
                self.browser.fault(self.path, f"{code} says {error}")
        self.judge_console()

    def worker(self):
        """An update loads the page anew, with the newest service worker."""
        version = "return document.querySelector('meta[name=version]').content"
        message = {"id": "update", "title": "Please update", "text": "Doto 2", "link": f"{self.server.address}/app/?worker"}
        for messages, dialog in (([message], ".message"), ([self.lockout(link=message["link"])], ".lockout")):
            self.open("?worker", [], wait=False)
            self.wait_script("a service worker", "return !!navigator.serviceWorker.controller")
            before = self.run(version)
            self.server.version += 1
            self.open("?worker", messages, wait=False)
            self.wait(dialog)
            self.expect("the old version", self.run(version), before)
            self.run("window.isOld = true")
            self.server.messages = []
            self.press("Update")
            self.wait_script("a new page", "return window.isOld === undefined && document.querySelector('meta[name=version]') !== null")
            self.expect("the new version", self.run(version), str(self.server.version))
        self.driver.execute_async_script("const done = arguments[0]; navigator.serviceWorker.getRegistrations()"
                                         ".then((all) => Promise.all(all.map((one) => one.unregister()))).then(() => done())")
        self.judge_console()

    def ways_out(self):
        """However it is tried, a lockout is not left."""
        for name, attempt in WAYS:
            self.server.fails = None
            self.look(1280)
            self.open("?focus", [self.lockout()])
            self.expect_covered(f"before: {name}")
            attempt(self)
            self.expect_covered(name)
            # A click where the app's own button is, and its hotkey.
            ActionChains(self.driver, duration=0).move_by_offset(0, 0).send_keys("d").perform()
            x, y = self.run("const box = document.querySelector('#settings')?.getBoundingClientRect();"
                            "return box === undefined ? [5, 5] : [box.x + box.width / 2, box.y + box.height / 2]")
            for kind in ("mousePressed", "mouseReleased"):
                self.browser.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
            self.expect_covered(f"afterwards: {name}")
            self.counts["ways"] += 1
            self.driver.get_log("browser")


def judge(faults, screenshots):
    server = Server()
    with Browser(server.address, faults) as browser:
        component = Component(server, browser, screenshots)
        for part in (component.message, component.lockout_ends, component.motion, component.preview, component.worker,
                     component.ways_out, component.hostile, component.all_languages, component.languages):
            try:
                part()
            except Exception as error:  # Each part says what it found.
                faults.append(f"{part.__name__}: {error}")
                server.fails = None
            print(f"{part.__name__}: {len(faults)} faults so far", flush=True)
    print(f"The web component: {component.counts['ways']} ways to leave a lockout tried; {component.counts['axe']} times judged by "
          f"axe-core, {component.counts['fits']} times measured; {len(faults)} faults")
