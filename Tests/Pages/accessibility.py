"""What each page owes to those who do not see it, see little, or have a keyboard alone."""

import importlib.resources

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

AXE = (importlib.resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def judge(browser, path, by_axe=True):
    """Adds what is wrong with the page that is open to the faults of the browser: by axe-core, and what that leaves out."""
    if by_axe:
        judge_by_axe(browser, path)
    for fault in browser.run(RULES):
        browser.fault(path, fault)


def prove(browser):
    """Each kind of fault is found; changes the page that is open."""
    faults, browser.faults = browser.faults, []
    browser.run("document.querySelector('main').insertAdjacentHTML('beforeend', arguments[0])", BAD)
    judge(browser, "bad")
    found = "\n".join(browser.faults)
    browser.faults = faults
    for words in ("without a heading for each column", "an image without a role", "a contrast of", "tells where from",
                  "axe-core button-name", "axe-core color-contrast", "axe-core duplicate-id"):
        if words not in found:
            browser.fault("bad", f"a page with this fault was let pass: {words}")


BAD = """
<button></button><p id="made">A</p><p id="made">B</p><table><thead><tr><th>A</th></tr></thead></table>
<svg><text y="20" fill="#777777">Pale at night</text><text y="40" fill="#999999">Pale</text></svg>
<a href="https://example.com/">Away</a><p><font color="#999999">Pale</font></p><p><font color="#777777">Pale at night</font></p>
"""


def judge_by_axe(browser, path):
    """WCAG 2.2 AA, what axe-core calls best practice, and ids that are there twice, which it leaves out by itself."""
    browser.run(AXE)
    found = browser.driver.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "axe.run(document, {resultTypes: ['violations'], rules: {'duplicate-id': {enabled: true}}}).then(found => done(found.violations), error => done(String(error)))"
    )
    if isinstance(found, str):
        browser.fault(path, f"axe-core failed: {found}")
        return
    for violation in found:
        nodes = "; ".join(f"{node['target']}: {node['html'][:120]}" for node in violation["nodes"][:3])
        browser.fault(path, f"axe-core {violation['id']}: {violation['help']} ({len(violation['nodes'])}): {nodes}")


def judge_keyboard(browser, path):
    """Walks through the page with Tab: all that can be used is reached, in its order, and shows that it is."""
    expected = browser.run(FOCUSABLE)
    # Where the walk begins: at the top, whatever was clicked.
    browser.run("window.scrollTo(0, 0); document.activeElement.blur(); getSelection().removeAllRanges()")
    reached = []
    body = browser.driver.find_element(By.TAG_NAME, "body")
    for _ in range(len(expected) + 5):
        (browser.driver.switch_to.active_element if reached else body).send_keys(Keys.TAB)
        name, is_visible = browser.run(FOCUSED)
        if name is None or name in reached:
            break
        reached.append(name)
        if not is_visible:
            browser.fault(path, f"the focus on {name} cannot be seen")
    if reached != expected:
        missed = [name for name in expected if name not in reached]
        browser.fault(path, f"Tab reaches {len(reached)} of {len(expected)}, in another order or not {missed[:3]}")
    return len(reached)


# An element's place in the document, as a name.
NAME = """
const nameOf = (element) => {
  const all = [...document.querySelectorAll("*")];
  return `${all.indexOf(element)} ${element.outerHTML.slice(0, 100)}`;
};
"""

FOCUSABLE = NAME + """
return [...document.querySelectorAll("a[href], button, input, textarea, select, summary, [tabindex]")].filter((element) =>
  element.tabIndex >= 0 && !element.disabled && element.checkVisibility({visibilityProperty: true})).map(nameOf);
"""

FOCUSED = NAME + """
const element = document.activeElement;
if (!element || element === document.body) return [null, true];
const style = getComputedStyle(element);
const box = element.getBoundingClientRect();
const isVisible = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2
  && box.width > 0 && box.height > 0 && box.right > 0 && box.left < innerWidth;
return [nameOf(element), isVisible];
"""

RULES = """
const faults = [];
const brief = (element) => element.outerHTML.replace(/\\s+/g, " ").slice(0, 140);
for (const element of document.querySelectorAll("a[href^='http']")) {
  if (new URL(element.href).host !== location.host && !element.relList.contains("noreferrer")) {
    faults.push(`a link away that tells where from: ${brief(element)}`);
  }
}

for (const table of document.querySelectorAll("table")) {
  const heads = [...table.querySelectorAll("thead th")];
  if (heads.length === 0 || heads.some((head) => head.scope !== "col")) {
    faults.push(`a table without a heading for each column: ${brief(table)}`);
  }
  if (!table.caption && !table.closest("[role=group][aria-label], [role=group][aria-labelledby]")) faults.push(`a table without a name: ${brief(table)}`);
}
for (const image of document.querySelectorAll("svg:not([role=img]), img")) {
  if (!image.closest("[aria-hidden=true]")) faults.push(`an image without a role: ${brief(image)}`);
}

// Contrast of what axe-core does not judge: text of images, edges of fields, placeholders.
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
const read = new Map();
const colour = (text) => {
  if (!read.has(text)) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    read.set(text, [red, green, blue, alpha / 255]);
  }
  return read.get(text);
};
const over = (above, below) => [0, 1, 2].map((part) => above[part] * above[3] + below[part] * (1 - above[3])).concat(1);
const behind = (element) => {
  const layers = [];
  for (let up = element; up; up = up.parentElement) {
    const style = getComputedStyle(up);
    if (style.backgroundImage !== "none") return null;
    layers.push(colour(style.backgroundColor));
    if (layers.at(-1)[3] === 1) break;
  }
  return layers.reduceRight((below, above) => over(above, below), colour("Canvas"));
};
const luminance = (parts) => {
  const [red, green, blue] = parts.slice(0, 3).map((part) => part / 255)
    .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const contrast = (one, other) => {
  const [low, high] = [luminance(one), luminance(other)].sort((left, right) => left - right);
  return (high + 0.05) / (low + 0.05);
};
for (const element of document.querySelectorAll("svg text")) {
  const ground = behind(element);
  if (!ground) { faults.push(`text on an image: ${brief(element)}`); continue; }
  const ratio = contrast(over(colour(getComputedStyle(element).fill), ground), ground);
  // An image that is drawn small has small text.
  const size = parseFloat(getComputedStyle(element).fontSize) * element.getScreenCTM().a;
  if (size < 9) faults.push(`text of ${size.toFixed(1)} pixels: ${brief(element)}`);
  if (ratio < 4.5) faults.push(`a contrast of ${ratio.toFixed(2)}, not 4.5: ${brief(element)}`);
}
for (const element of document.querySelectorAll("input, textarea")) {
  const ground = behind(element.parentElement);
  const line = getComputedStyle(element).borderTopColor;
  if (ground && contrast(over(colour(line), ground), ground) < 3) faults.push(`the edge of a field cannot be seen: ${brief(element)}`);
  const hint = over(colour(getComputedStyle(element, "::placeholder").color), behind(element));
  if (contrast(hint, behind(element)) < 4.5) faults.push(`a placeholder that cannot be read: ${brief(element)}`);
}
return faults.slice(0, 20);
"""
