"""Records a terminal for the README: what it shows while a person blocks a version, asks why, and undoes it, as an SVG."""

import fcntl
import html
import os
import pty
import re
import struct
import subprocess
import termios

from database import Database
from servers import BINARY, wait

# So wide that it can be read on a phone.
COLUMNS, ADVANCE, LINE, MARGIN = 54, 7.8, 18, 16
# What is typed: a command, and the answer to its question.
TYPED = (
    ('versiongate block com.example.hello 1.1 \\\n    --fuse 45% --why "loses data"', "y"),
    ("versiongate check --explain \\\n    bundle=com.example.hello version=1.1 \\\n    platform=ios os=14", ""),
    ("versiongate undo 3 --yes | tail -3", ""),
)
STYLE = """
  rect { fill: #f6f8fa; stroke: #d1d9e0; }
  text { fill: #1f2328; font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; }
  .typed, .bold { font-weight: 700; }
  .red { fill: #c4202b; }
  .green { fill: #1a7f37; }
  @media (prefers-color-scheme: dark) {
    rect { fill: #161b22; stroke: #3d444d; }
    text { fill: #e6edf3; }
    .red { fill: #ff8a80; }
    .green { fill: #57c96f; }
  }
"""
COLOURS = {"1": "bold", "31": "red", "32": "green"}


def type_in(command, answer, variables):
    """What a terminal shows of a command, whose question is answered."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    process = subprocess.Popen(["bash", "-c", command], stdin=theirs, stdout=theirs, stderr=theirs, env=os.environ | variables)
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(ours, 4096)
        except OSError:  # nobody writes any more
            break
        if answer and b"[y/N]" in shown:
            os.write(ours, answer.encode() + b"\n")
            answer = ""
    os.close(ours)
    if process.wait() != 0:
        raise RuntimeError(f"{command} ended with {process.returncode}:\n{shown.decode()}")
    return shown.decode().replace("\r\n", "\n").rstrip("\n")


def lines(text):
    """The lines of a terminal, each as the parts of one colour: their class and their text."""
    kind, place, rows = "", 0, [[]]
    for part in re.split(r"(\x1b\[[0-9;]*m|\n)", text):
        if part == "\n":
            rows.append([])
            place = 0
        elif part.startswith("\x1b"):
            kind = COLOURS.get(part[2:-1], "")
        while part and part != "\n" and not part.startswith("\x1b"):
            rows[-1].append((kind, part[: COLUMNS - place]))
            part = part[COLUMNS - place :]
            place = place + len(rows[-1][-1][1])
            if part:
                rows.append([])
                place = 0
    return rows


def draw(rows):
    width, height = COLUMNS * ADVANCE + 2 * MARGIN, len(rows) * LINE + 2 * MARGIN
    texts = []
    for number, row in enumerate(rows):
        spans = "".join(f'<tspan class="{kind}">{html.escape(text)}</tspan>' if kind else html.escape(text) for kind, text in row)
        length = sum(len(text) for _, text in row) * ADVANCE
        if length:
            texts.append(f'<text x="{MARGIN}" y="{MARGIN + number * LINE + 13}" textLength="{length:.1f}">{spans}</text>')
    return "\n".join((
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}">',
        f"<style>{STYLE}</style>", f'<rect x="0.5" y="0.5" width="{width - 1:g}" height="{height - 1:g}" rx="8"/>', *texts, "</svg>\n",
    ))


def record(server):
    """An SVG of the terminal of a person who blocks a version of the example of `server`."""
    server.run("release", "add", "com.example.hello", "1.2", "--platform", "ios", "--min-os", "15")
    for version, checks in (("1.0", 20), ("1.1", 50), ("1.2", 130)):
        for number in range(checks):
            system = "14.8" if number % 10 == 0 else "17.2"
            server.check({"bundle": "com.example.hello", "version": version, "platform": "ios", "os": system})
    database = Database(server.database)
    wait(lambda: database.value("SELECT coalesce(sum(checks), 0) FROM check_counts") == "200", "the checks are not counted")
    bin_folder = server.state.with_name("bin")
    bin_folder.mkdir()
    (bin_folder / "versiongate").symlink_to(BINARY)
    variables = {"VERSIONGATE_STATE_DIR": str(server.state), "PATH": f"{bin_folder}:{os.environ['PATH']}", "TERM": "xterm-256color"}
    rows = []
    for command, answer in TYPED:
        rows += [[], *([("typed", line)] for line in f"$ {command}".split("\n"))][not rows :]
        rows += lines(type_in(command, answer, variables).replace(str(server.state), "/var/lib/versiongate"))
    return draw(rows)
