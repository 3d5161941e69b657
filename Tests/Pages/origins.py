"""Opens an app from other origins than its server's, and says what of the server it can read.

Chromium knows no schemes of apps, such as capacitor://localhost. WebKit can be told them, and is what apps have on iOS.
"""

import json
import pathlib
import tempfile

from browser import Browser
from component_server import LIBRARY, Handler, Listener
from servers import BINARY, REPOSITORY, run, servers, wait

CLIENT = {"bundle": "com.example.doto", "version": "1.0.0", "platform": "ios", "os": "17.0", "region": "JP"}
APPS = ["capacitor://localhost", "ionic://localhost", "app://localhost"]

# A lockout that covers the page is one whose signature was read: the gate has pinned the key.
ASK = """async (server, key, client) => {
  const ask = async (path, options, read = ({ status }) => status) => {
    try {
      return read(await fetch(server + path, options));
    } catch {
      return 'blocked';
    }
  };
  const mounted = async () => {
    const screens = mount(new VersionGate({ server, app: client, publicKeys: [key], storage: null, observer() {} }));
    await screens.check({ force: true });
    const root = document.querySelector('versiongate-screens')?.shadowRoot;
    const shown = ['lockout', 'message'].find((name) => root?.querySelector('.' + name)?.open) ?? 'blocked';
    screens.unmount();
    return shown;
  };
  const query = '/v1/check?' + new URLSearchParams(client);
  const post = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(client) };
  const fields = ['Bundle', 'Version', 'Platform', 'OS', 'Region'].map((name) => ['App-' + name, client[name.toLowerCase()]]);
  const header = (name) => ({ headers }) => headers.has('Date') && headers.get(name);
  const found = [
    [await mounted(), 'lockout'],
    [await ask('/v1/check', post, header('Content-Type')), 'application/json'],
    [await ask('/v1/check', { ...post, body: '{' }), 400],
    [await ask('/tables/vLoadMessages', post), 200],
    [await ask(query, {}, header('Policy-Bundle')), client.bundle],
    [await ask('/v1/gate', { headers: Object.fromEntries(fields) }, header('App-Lockout')), 'security-1.1'],
    // What no page of another origin can ask or read.
    [await ask(query, { credentials: 'include' }), 'blocked'],
    [await ask('/v1/check', { ...post, headers: { 'X-Other': '1' } }), 'blocked'],
    [await ask('/v1/check', { method: 'DELETE' }), 'blocked'],
    [await ask('/lookup?id=1', {}), 'blocked'],
  ];
  if (found.every(([actual]) => actual === 'blocked')) return 'nothing';
  const others = found.filter(([actual, expected]) => actual !== expected).map(([actual, expected]) => `${actual}, not ${expected}`);
  return others.join('; ') || 'all';
}"""


def page():
    """The app in one file: a page of a file can import no other."""
    scripts = [(LIBRARY / name).read_text(encoding="utf-8").replace(exported, assigned) for name, exported, assigned in (
        ("versiongate.js", "export class VersionGate", "window.VersionGate = class VersionGate"),
        ("mount.js", "export function mount", "window.mount = function mount"))]
    return "<!doctype html><meta charset=utf-8><title>Doto</title>" + "".join(
        f"<script type=module>{script}</script>" for script in scripts)


# Tells a site which origin the page has.
TELL = "await fetch({}, {{ method: 'POST', mode: 'no-cors' }})"


class Site(Handler):
    """Has the page on each path."""

    seen = []

    def do_GET(self):
        self.answer(200, page().encode(), "text/html")

    def do_POST(self):
        self.seen.append(self.headers["Origin"])
        self.answer(204)


def in_chromium(addresses, scripts, *arguments):
    """What scripts return in the pages at some addresses."""
    with Browser("", [], *arguments) as browser:
        for address in addresses:
            browser.driver.get(address)
            yield "Chromium", [browser.driver.execute_async_script(
                f"const done = arguments[0]; (async () => {{ {script} }})().then(done, (error) => done(String(error)))"
            ) for script in scripts]


def in_webkit(origins, scripts):
    """The same in pages of the schemes of apps."""
    task = {"page": page(), "origins": origins, "scripts": scripts}
    # GTK is a package of the system, for its own Python.
    told = run("xvfb-run", "--auto-servernum", "/usr/bin/python3", pathlib.Path(__file__).with_name("webkit.py"),
               input=json.dumps(task), timeout=600)
    return [("WebKit", outcomes) for outcomes in json.loads(told)]


def judge(faults):
    with servers() as (folder, serve), tempfile.TemporaryDirectory() as files:
        file, certificate, key = pathlib.Path(files, "index.html"), pathlib.Path(files, "site.pem"), folder / "key.pem"
        file.write_text(page(), encoding="utf-8")
        # The key and the certificate in one file.
        run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
            "-keyout", certificate, "-out", certificate.with_suffix(".crt"))
        certificate.write_text(certificate.read_text() + certificate.with_suffix(".crt").read_text())
        public_key = json.loads(run(BINARY, "lockout-key", "new", key, "--format", "json"))["public_key"]
        plain, secure = Listener(Site), Listener(Site, certificate)
        origins = [plain.address, "https://localhost", "null", "file://", *APPS]
        first = serve("none", "--lockout-key", key)
        first.run("apply", "--yes", REPOSITORY / "Tests" / "API" / "policy.yaml")
        settings = {"none": first}
        for name, value in ("another", "https://other.example"), ("a list", ",".join(origins)), ("*", "*"):
            settings[name] = serve(name.replace("*", "any"), "--lockout-key", key, "--allowed-origins", value,
                                   DATABASE_URL=first.database)
        for server in settings.values():
            wait(lambda server=server: server.check(CLIENT)["messages"], "the server does not follow the policy")
        scripts = [TELL.format(json.dumps(plain.address))] + [
            f"return await ({ASK})(...{json.dumps([f'http://{server.public}', public_key, CLIENT])})"
            for server in settings.values()]
        rows = [
            *in_chromium([f"{origins[0]}/", f"{origins[1]}/", file.as_uri()], scripts, "--ignore-certificate-errors",
                         f"--host-resolver-rules=MAP localhost:443 127.0.0.1:{secure.server_port}, MAP * ~NOTFOUND,"
                         " EXCLUDE 127.0.0.1"),
            # As Electron does for its own files.
            *in_chromium([file.as_uri()], scripts, "--allow-file-access-from-files"),
            *in_webkit(APPS, scripts),
        ]
    print(f"{'browser':9} {'origin':24} {' '.join(f'{name:8}' for name in settings)}  (--allowed-origins)")
    for (browser, (_, *outcomes)), origin in zip(rows, Site.seen):
        print(f"{browser:9} {origin:24} {' '.join(f'{outcome:8}' for outcome in outcomes)}")
        if outcomes != ["nothing", "nothing", "all", "all"]:
            faults.append(f"pages of {origin} read other things than they may")
    if Site.seen != origins:
        faults.append(f"the pages had the origins {Site.seen}, not {origins}")
