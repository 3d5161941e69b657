"""Headless Chromium, and what it says of a page that it has opened."""

import base64
import json
import os
import shutil
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.common.exceptions import NoAlertPresentException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service


class Browser:
    """One window. Faults are collected; whoever uses it reports them."""

    def __init__(self, base, faults, *arguments):
        """base: the address of the listener, the only one that may be asked; arguments: more of them for Chromium."""
        self.base = base
        self.faults = faults
        options = Options()
        options.binary_location = shutil.which("chromium")
        for argument in ("--headless=new", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
                         "--disable-background-networking", "--disable-component-update", "--disable-sync",
                         # What is not the listener's has no address.
                         "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", *arguments):
            options.add_argument(argument)
        if os.geteuid() == 0:
            # Chromium's sandbox refuses to run as root.
            options.add_argument("--no-sandbox")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        options.set_capability("unhandledPromptBehavior", "ignore")
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        self.driver.set_page_load_timeout(300)
        self.driver.set_script_timeout(300)
        self.pages = self.requests = 0
        self.look(1600, "light")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def look(self, width, scheme="light", media="", height=900, scale=1, motion="no-preference"):
        """How large the window is, and how it is lit; media: `print`; scale: that of a phone's screen."""
        self.width, self.scheme = width, scheme
        self.window = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                     mobile=scale > 1)
        self.command("Emulation.setEmulatedMedia", media=media, features=[
            {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": motion}])

    def allow_scripts(self, allowed):
        self.command("Emulation.setScriptExecutionDisabled", value=not allowed)

    def command(self, name, **arguments):
        return self.driver.execute_cdp_cmd(name, arguments)

    def open(self, path, status=200):
        """Opens a page, and finds what no page may do."""
        self.driver.get(self.base + path)
        self.judge(path, status)

    def click(self, element, path, status=200):
        """Follows a link, which leads to the path."""
        self.run("arguments[0].closest('details')?.setAttribute('open', '')", element)
        self.run("arguments[0].scrollIntoView({block: 'center'}); arguments[0].focus()", element)
        # The window opens the next page while this call waits.
        element.send_keys("\n")
        if not self.driver.current_url.startswith(self.base + path):
            self.fault(path, f"a link to it led to {self.driver.current_url}")
        self.judge(path, status)

    def judge(self, path, status=200):
        self.pages += 1
        self._judge_dialogs(path)
        statuses = self._judge_requests(path, status)
        if statuses and status not in statuses:
            self.fault(path, f"it was answered {statuses}, not {status}")
        for entry in self.driver.get_log("browser"):
            # A page that is not there is its own reason for this line.
            if status >= 400 and entry["source"] == "network" and f"status of {status}" in entry["message"]:
                continue
            self.fault(path, f"the console says {entry['message']}")
        width, room = self.run("const root = document.documentElement; return [root.scrollWidth, root.clientWidth]")
        if width > room:
            wide = self.run(WIDEST)
            self.fault(path, f"it scrolls sideways: {width} pixels in {room}; the widest: {wide}")

    def _judge_dialogs(self, path):
        try:
            alert = self.driver.switch_to.alert
            self.fault(path, f"it opened a dialog: {alert.text!r}")
            alert.dismiss()
        except NoAlertPresentException:
            pass

    def _judge_requests(self, path, status):
        documents = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            method, values = message["method"], message["params"]
            if method == "Network.requestWillBeSent":
                self.requests += 1
                address = values["request"]["url"]
                if not address.startswith(self.base + "/"):
                    self.fault(path, f"it asked for {address[:200]}")
            elif method == "Network.responseReceived":
                answer = values["response"]
                if values["type"] == "Document":
                    documents.append(answer["status"])
                elif answer["status"] >= 400:
                    self.fault(path, f"{urlsplit(answer['url']).path} was answered {answer['status']}")
            elif method == "Network.loadingFailed" and not values.get("canceled"):
                self.fault(path, f"a request failed: {values.get('errorText')} {values.get('blockedReason', '')}")
            elif method.startswith("Network.webSocketCreated"):
                self.fault(path, f"it opened a web socket to {values['url'][:200]}")
        return documents

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def fault(self, path, text):
        self.faults.append(f"{path} ({self.width}, {self.scheme}): {text}")

    def picture(self, file, whole=True):
        """The whole page, however long, or what the window shows."""
        clip = {} if whole else {"clip": self.window}
        image = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **clip)
        with open(file, "wb") as output:
            output.write(base64.b64decode(image["data"]))

    def printed(self, file):
        document = self.command("Page.printToPDF", printBackground=False)
        with open(file, "wb") as output:
            output.write(base64.b64decode(document["data"]))


WIDEST = """
const room = document.documentElement.clientWidth;
const isHidden = (element) => {
  for (let up = element.parentElement; up; up = up.parentElement) {
    if (getComputedStyle(up).overflowX !== "visible") return true;
  }
  return false;
};
return [...document.body.querySelectorAll("*")]
  .filter((element) => element.getBoundingClientRect().right > room + 0.5 && !isHidden(element))
  .slice(0, 3).map((element) => element.outerHTML.slice(0, 150));
"""
