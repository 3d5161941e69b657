"""Ways to leave a lockout of the web component, none of which may work. Each gets the tests, which have the window."""

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

HOST = "const host = document.querySelector('versiongate-screens'); const cover = host.shadowRoot.querySelector('.lockout');"


def keys(*given):
    return lambda test: test.keys(*given)


def chord(modifier, key):
    return lambda test: ActionChains(test.driver, duration=0).key_down(modifier).send_keys(key).key_up(modifier).perform()


def script(code):
    return lambda test: test.run(HOST + code)


def mouse(button, *points, count=1):
    def attempt(test):
        for x, y in points:
            for kind in ("mousePressed", "mouseReleased"):
                test.browser.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=count)
    return attempt


def touch(test):
    for x in (5, 640):
        test.browser.command("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": 400}])
        test.browser.command("Input.dispatchTouchEvent", type="touchMove", touchPoints=[{"x": 1200, "y": 420}])
        test.browser.command("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])


def wheel(test):
    test.browser.command("Input.dispatchMouseEvent", type="mouseWheel", x=640, y=400, deltaX=0, deltaY=900)
    test.keys(Keys.PAGE_DOWN, Keys.SPACE, Keys.END)
    test.expect("scrolled", test.run("return scrollY"), 0)


def drop(test):
    data = {"items": [{"mimeType": "text/plain", "data": "x"}], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        test.browser.command("Input.dispatchDragEvent", type=kind, x=640, y=400, data=data)


def paste(test):
    test.run("document.querySelector('versiongate-screens').shadowRoot.querySelector('button').focus()")
    chord(Keys.CONTROL, "v")(test)


def select(test):
    chord(Keys.CONTROL, "a")(test)
    text = test.run("return String(getSelection())")
    if "SECRET" in text.upper():
        test.browser.fault(test.path, f"the page can be selected: {text[:80]}")


def find(test):
    test.expect("found by a search in the page", test.run("return window.find('secret') || window.find('Settings')"), False)


def printed(test):
    test.browser.command("Emulation.setEmulatedMedia", media="print")
    test.expect("printed", test.run("return document.querySelector('#secret').checkVisibility({ visibilityProperty: true })"), False)
    test.look(1280)


def read_aloud(test):
    nodes = test.browser.command("Accessibility.getFullAXTree")["nodes"]
    words = " ".join(str(node.get("name", {}).get("value", "")) for node in nodes if not node.get("ignored"))
    for text in ("secret", "Settings", "Skip to the task"):
        if text.lower() in words.lower():
            test.browser.fault(test.path, f"a screen reader reads {text}")


def reopened(fails=None):
    """Loads the page again, with a server that answers so."""
    def attempt(test):
        test.server.fails = fails
        test.driver.refresh()
        test.wait(".lockout")
    return attempt


def elsewhere_and_back(test):
    test.driver.get(test.server.address + "/app/frame.html")
    test.driver.back()
    test.wait(".lockout")


def other_address(test):
    test.driver.get(test.server.address + "/app/?list=7#task")
    test.wait(".lockout")


def second_window(test):
    own = test.driver.current_window_handle
    test.driver.switch_to.new_window("tab")
    test.driver.get(test.server.address + "/app/")
    test.wait(".lockout")
    test.expect_covered("in a second window")
    test.driver.close()
    test.driver.switch_to.window(own)


def back_in_the_app(test):
    test.run("history.pushState({}, '', '?list=1'); history.pushState({}, '', '?list=2')")
    chord(Keys.ALT, Keys.ARROW_LEFT)(test)
    test.driver.back()
    test.wait_script("the way back", "return location.search !== '?list=2'")
    test.driver.forward()


def before_the_lockout(what_the_app_does):
    """What the app does is there when the lockout comes."""
    def attempt(test):
        messages, test.server.messages = test.server.messages, []
        test.open_app("?focus")
        test.driver.execute_async_script(f"const done = arguments[0]; {what_the_app_does}")
        test.server.messages = messages
        test.run("screens.check({ force: true })")
        test.wait(".lockout")
        test.wait_script("no full screen", "return document.fullscreenElement === null")
    return attempt


def message_above(test):
    """Messages before the lockout lie above it. Closing them leaves the lockout."""
    test.server.messages = [{"id": "news", "title": "News", "text": "Lists."}, *test.server.messages]
    test.open("?focus")
    test.wait(".message")
    test.keys(Keys.ESCAPE)
    test.wait(".message", False)
    test.keys(Keys.ESCAPE, Keys.ESCAPE)


def offline(test):
    test.server.fails = "away"
    test.run("dispatchEvent(new Event('offline')); dispatchEvent(new Event('online'));"
             "document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))")
    test.wait_for("the checks", lambda _: test.driver.execute_async_script(
        "const done = arguments[0]; gate.check({ force: true }).then((given) => done(given.length === 1))"))


def impatient(test):
    test.server.fails = (200, b'{"messages":')
    for _ in range(5):
        test.press("Try again")


def narrow(test):
    for width, height in ((320, 256), (200, 120), (1600, 300), (1280, 900)):
        test.look(width, height=height)
        test.expect_covered(f"at {width} by {height}")


SHADOW = """
  const element = document.body.appendChild(document.createElement('div'));
  const root = element.attachShadow({ mode: 'closed' });
  const dialog = root.appendChild(document.createElement('dialog'));
  dialog.append('THE APP', document.createElement('input'));
  dialog.showModal();
"""

WAYS = [
    # The keyboard.
    ("Escape ten times", keys(*[Keys.ESCAPE] * 10)),
    ("Tab twelve times, then the hotkey", keys(*[Keys.TAB] * 12, "d")),
    ("Shift and Tab twelve times", lambda test: [chord(Keys.SHIFT, Keys.TAB)(test) for _ in range(12)]),
    ("Typing, Enter and Space with the focus that the page had", keys("d", "buy milk", Keys.ENTER, Keys.SPACE)),
    ("An access key of the app", chord(Keys.ALT, "a")),
    ("F6, F10 and the menu key", keys(Keys.F6, Keys.F10, Keys.ESCAPE)),
    ("Select all", select),
    ("Search in the page", find),
    ("Paste", paste),
    # The pointer.
    ("A click into each corner", mouse("left", (3, 3), (1277, 3), (3, 897), (1277, 897))),
    ("A double click", mouse("left", (640, 200), count=2)),
    ("The right and the middle button", lambda test: [mouse("right", (640, 100))(test), mouse("middle", (640, 100))(test), test.keys(Keys.ESCAPE)]),
    ("Touches and swipes", touch),
    ("The wheel and the keys that scroll", wheel),
    ("Dropping a file", drop),
    # The way back, and the page again.
    ("Back and forward within the app", back_in_the_app),
    ("Another page and back", elsewhere_and_back),
    ("Reload", reopened()),
    ("Reload while the server is away", reopened("away")),
    ("Reload while the server fails", reopened((500, b"x"))),
    ("Reload behind a captive portal", reopened((200, b"<html>Accept the terms</html>"))),
    ("Another address of the app", other_address),
    ("A second window", second_window),
    ("A link to a part of the page", script("location.hash = 'task'; location.hash = 'settings'")),
    ("The network goes and comes", offline),
    ("Try again and again, with odd answers", impatient),
    # What the app's own scripts do, not knowing of the lockout.
    ("The app opens a dialog each time it was closed", script(
        "const own = document.querySelector('#own'); own.addEventListener('close', () => own.showModal()); own.showModal()")),
    ("The app opens a dialog in a closed shadow root", script(SHADOW)),
    ("The app opens a popover", script("document.querySelector('#pop').showPopover()")),
    ("The app was in full screen", before_the_lockout("document.querySelector('main').requestFullscreen().then(() => done(), () => done())")),
    ("The app had a dialog and a popover open", before_the_lockout(
        "document.querySelector('#own').showModal(); document.querySelector('#pop').showPopover(); done()")),
    ("The app focuses a field", script("document.querySelector('#task').focus(); document.querySelector('#task').select()")),
    ("The app focuses a frame", script("const inner = document.querySelector('#frame').contentWindow; inner.focus();"
                                       "inner.document.querySelector('input')?.focus()")),
    ("The app inserts a field with the focus", script(
        "const field = document.createElement('input'); field.autofocus = true; document.body.prepend(field); field.focus()")),
    ("The app is no longer inert", script("document.body.inert = false; document.body.removeAttribute('inert')")),
    ("The app shows itself", script("document.body.style.setProperty('visibility', 'visible', 'important')")),
    ("The app draws itself anew", script("document.body.replaceChildren(...[...document.body.children].reverse())")),
    ("The app has a new body", script(
        "const body = document.createElement('body'); body.append(...document.body.children); document.body = body")),
    ("The app inserts elements beside its body", script(
        "const more = document.createElement('div'); more.className = 'beside'; more.textContent = 'THE APP';"
        "more.append(document.createElement('input')); document.documentElement.append(more); more.lastChild.focus()")),
    ("The app makes its page editable", script("document.designMode = 'on'; document.body.contentEditable = 'true'")),
    ("The app asks without force", lambda test: test.driver.execute_async_script(
        "const done = arguments[0]; screens.check().then(() => done())")),
    # What removes dialogs, as frameworks and blockers do.
    ("The host is removed again and again", script("for (let time = 0; time < 40; time += 1) setTimeout(() => host.remove(), time * 20)")),
    ("The lockout is closed", script("cover.close()")),
    ("The lockout is asked to close, as by the back gesture", script("cover.requestClose?.(); cover.requestClose?.()")),
    ("The lockout loses its attribute", script("cover.removeAttribute('open')")),
    ("The lockout is shown as no modal one", script("cover.close(); cover.show()")),
    ("The lockout is removed", script("cover.remove()")),
    ("The lockout is emptied", script("cover.replaceChildren(); host.shadowRoot.replaceChildren()")),
    ("The lockout is inert, hidden and made small", script(
        "cover.inert = true; cover.hidden = true; cover.style.cssText = 'width: 1px !important; height: 1px !important; display: none'")),
    ("The host is hidden", script("host.hidden = true; host.inert = true; host.style.setProperty('display', 'none', 'important')")),
    ("A style sheet hides the host", script("document.documentElement.className = 'vanish'")),
    ("The style sheets are taken away", script("document.adoptedStyleSheets = []; host.shadowRoot.adoptedStyleSheets = []")),
    ("The head is emptied", script("document.head.replaceChildren()")),
    ("A second gate is mounted", script("try { mount(VersionGate.preview({ messages: [] })) } catch {}")),
    # What does not look.
    ("Printing", printed),
    ("A screen reader", read_aloud),
    ("A narrow and a low window", narrow),
    ("A message above the lockout is closed", message_above),
]
