#!/usr/bin/env python3
"""Writes the pages of the site that are lists: commands and options, and metrics, from the program; settings, from
deploy/versiongate.env; tables, functions and limits, from the migrations and the meanings of the cases; refusals and
warnings, from the cases; requests and answers, from the OpenAPI documents.

reference.py FOLDER: into FOLDER/Documentation/Reference. The variable VERSIONGATE_BINARY names the program, and Tests/Python
has to be on the path.
"""

import collections
import html
import json
import pathlib
import re
import ssl
import subprocess
import sys
import urllib.request

import yaml
from servers import BINARY, servers, wait

repository = pathlib.Path(__file__).parent.parent
folder = pathlib.Path(sys.argv[1]) / "Documentation" / "Reference"


def cell(text):
    return re.sub(r"\s+", " ", str(text)).strip().replace("|", "\\|").replace("<", "&lt;")


def code(text):
    text = re.sub(r"\s+", " ", str(text)).strip()
    # Within the marks a bar would end the cell, and a backslash before it would be shown.
    return f"<code>{html.escape(text).replace('|', '&#124;')}</code>" if "|" in text else f"`{text}`"


def table(*rows):
    rows = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def write(name, title, *parts):
    (folder / name).write_text(f"# {title}\n\n" + "\n".join(parts), encoding="utf-8")


def prose(text):
    return text.replace("<", "&lt;").replace("*", "\\*")


def options(command):
    """What the help says of each argument; of `--name` and `--no-name` in one row."""
    rows = {}
    for option in command["arguments"]:
        if option["shouldDisplay"] and option["valueName"] != "help":
            names = [("--" if name["kind"] == "long" else "-") + name["name"] for name in option.get("names", [])]
            said = " ".join([option.get("abstract", ""), option.get("discussion", "")])
            if option.get("defaultValue"):
                said += f" (default: {option['defaultValue']})"
            value = [option["valueName"]] if option["kind"] != "flag" else []
            rows.setdefault(prose(cell(said)), []).append(code(" ".join([*names, *value])))
    return [(", ".join(names), said) for said, names in rows.items()]


def walk(command, before=()):
    """Each command with the words that call it, and whether it only has others below it."""
    words = (*before, command["commandName"])
    others = [one for one in command.get("subcommands", []) if one["commandName"] != "help" and one["shouldDisplay"]]
    yield words, command, bool(others)
    for other in others:
        yield from walk(other, words)


def commands():
    dump = subprocess.run([BINARY, "--experimental-dump-help"], check=True, stdout=subprocess.PIPE).stdout
    _, *all_of_them = walk(json.loads(dump)["command"])
    rows = {words: [] if is_group else options(command) for words, command, is_group in all_of_them}
    often = collections.Counter(row for of_one in rows.values() for row in of_one)
    common = [row for row, number in often.items() if number > len(rows) / 4 and row[0].startswith("`-")]
    parts = ["## Options of many commands\n\n" + table(["option", "meaning"], *common)]
    for words, command, is_group in all_of_them:
        given = [one["valueName"].upper() for one in command["arguments"] if one["kind"] == "positional"]
        parts.append(f"## {' '.join(words[1:])}\n\n{prose(command['abstract'])}\n")
        if not is_group:
            parts.append(f"```text\n{' '.join([*words, *given, '[OPTION ...]'])}\n```\n")
        for paragraph in command.get("discussion", "").split("\n\n"):
            head, *lines = paragraph.split("\n")
            is_example = head.startswith("Example")
            text = "\n".join(["```sh", *(line[2:] for line in lines), "```"]) if is_example else prose(paragraph)
            parts.append(text + "\n")
        own = [row for row in rows[words] if row not in common]
        if own:
            parts.append(table(["option", "meaning"], *own))
        if shared := [row[0] for row in rows[words] if row in common]:
            parts.append(f"[Also](#options-of-many-commands) {', '.join(shared)}.\n")
    head = "What `--help` says of each command. [Command line](../CommandLine.md) has what they share.\n"
    write("Commands.md", "Commands and options", head, *parts)


def settings():
    rows = []
    text = (repository / "deploy" / "versiongate.env").read_text(encoding="utf-8")
    for block in text.split("\n\n")[1:]:
        *said, name = (line.removeprefix("#").strip("= \n") for line in block.strip().split("\n"))
        facts = dict(re.findall(r"(Default|Range|Option): (.*?)\.(?= |$)", said.pop()))
        meaning = " ".join(said) + (f" ({facts['Range']})" if "Range" in facts else "")
        option = code(facts["Option"]) if "Option" in facts else ""
        rows.append([code(name), option, cell(facts.get("Default", "")), cell(meaning)])
    head = "[Install](../Install.md#settings) says where to write them. Times are in seconds, sizes in bytes.\n"
    write("Settings.md", "Settings of the server", head, table(["variable", "option", "default", "meaning"], *rows))


def metrics():
    swift = next((repository / "Sources").rglob("ServerMetrics.swift")).read_text(encoding="utf-8")
    names = re.findall(r'"((?:http|versiongate)_\w+)",\s*"', swift)
    with servers() as (place, serve):
        certificate, key, lockout_key = (place / name for name in ("certificate.pem", "key.pem", "lockout.pem"))
        make = ["openssl", "req", "-x509", "-nodes", "-subj", "/CN=localhost", "-keyout", key, "-out", certificate]
        subprocess.run(make, check=True, stderr=subprocess.DEVNULL)
        subprocess.run([BINARY, "lockout-key", "new", lockout_key], check=True, stdout=subprocess.DEVNULL)
        files = ["--tls-certificate", certificate, "--tls-key", key, "--lockout-key", lockout_key]
        server = serve("server", "--example", *files)
        question = f"https://{server.public}/v1/check?bundle=com.example.hello&version=1.1"
        urllib.request.urlopen(question, context=ssl._create_unverified_context()).read()
        # Some are known only a moment after the start.
        wait(lambda: all(name in server.get("/metrics") for name in names), "/metrics does not have all names", seconds=60)
        text = server.get("/metrics")
    rows = []
    for name, said, kind in re.findall(r"^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)", text, re.M):
        sample = re.search(rf"^{name}(?:_count)?\{{(.*)\}}", text, re.M)
        labels = re.findall(r'(\w+)="', sample[1]) if sample else []
        rows.append([code(name), kind, ", ".join(map(code, labels)), cell(said)])
    head = "[Operations](../Operations.md#what-to-watch) says what to watch.\n"
    write("Metrics.md", "Metrics", head, table(["metric", "type", "labels", "meaning"], *rows))


def columns(sql):
    """The type and the default of each column of a table."""
    for name, body in re.findall(r"^CREATE TABLE (\w+) \(\n(.*?)^\);", sql, re.M | re.S):
        for column, kind, rest in re.findall(r"^    ([a-z_]+) ([a-z]+(?:\[\])?)(?=[ ,\n])(.*)", body, re.M):
            default = re.search(r"DEFAULT ('[^']*'|\S+?),?(?= |$)", rest)
            required = "NOT NULL" in rest or "PRIMARY KEY" in rest
            given = "given" if "GENERATED" in rest else "required" if required else "null"
            yield f"{name}.{column}", (code(kind), code(default[1].rstrip(",")) if default else given)


def schema():
    sql = "\n".join(file.read_text(encoding="utf-8") for file in sorted((repository / "Migrations").glob("*.sql")))
    kinds, sections, functions = dict(columns(sql)), {}, []
    results = dict(re.findall(r"^CREATE FUNCTION (\w+\([^;]*?\))\s+RETURNS (.*?)\n? +LANGUAGE", sql, re.M | re.S))
    comments = re.findall(r"^COMMENT ON (TABLE|VIEW|COLUMN|FUNCTION) ([^;']*?) IS\s+((?:'(?:[^']|'')*'\s*)+);", sql, re.M)
    for kind, name, quoted in comments:
        if name.startswith("versiongate_internal."):
            continue
        text = cell("".join(re.findall(r"'((?:[^']|'')*)'", quoted.replace("''", "\0"))).replace("\0", "'"))
        if kind == "COLUMN":
            of, column = name.split(".")
            sections[of][1].append([code(column), *kinds.get(name, ("", "")), text])
        elif kind == "FUNCTION":
            signature = next(one for one in results if one.startswith(name.split("(")[0] + "("))
            functions.append([code(signature), code(results[signature]), text])
        else:
            sections[name] = (text, [])
    if len(sections) < 20 or len(functions) < 15:
        sys.exit(f"only {len(sections)} tables and {len(functions)} functions are commented")
    parts = [
        f"## `{name}`\n\n{text}\n\n" + table(["column", "type", "default", "meaning"], *rows)
        for name, (text, rows) in sections.items()
    ]
    parts.append("## Functions\n\n" + table(["function", "result", "what it does"], *functions))
    meanings = (repository / "Tests" / "Cases" / "meanings.tsv").read_text(encoding="utf-8")
    limits = [line.split("\t")[:2] for line in meanings.split("## limit\n")[1].split("\n\n")[0].strip().split("\n")[1:]]
    parts.append("## Limits\n\n" + table(["column", "at most"], *([code(column), text] for column, text in limits)))
    write("Schema.md", "Tables and functions", "What `\\d+` and `\\df+` show in psql.\n", *parts)


def messages(word):
    """The first of each kind of message of the cases, with its hint."""
    kinds = {}
    for file in sorted((repository / "Tests" / "Cases").rglob("*.case")):
        lines = file.read_text(encoding="utf-8").split("\n")
        for number, line in enumerate(lines):
            if line.startswith(f"    {word}:  "):
                text = line.split(":  ", 1)[1]
                below = [one for one in lines[number + 1 : number + 3] if one.startswith("    HINT:  ")]
                if word == "ERROR" and not below and not re.match(r"\w+\.\w+: ", text):
                    continue  # PostgreSQL's own
                kind = re.sub(r'"[^"]*"|\b[\w.-]*[\d.][\w.-]*', "", text)
                if kind not in kinds or below and not kinds[kind][1]:
                    hint = below[0].split(":  ", 1)[1] if below else ""
                    kinds[kind] = tuple(one.replace("{time}", "2027-03-03T12:00:00Z") for one in (text, hint))
    if len(kinds) < 50:
        sys.exit(f"the cases have only {len(kinds)} kinds of {word}")
    # What has no place for a break would widen the page.
    short = [[re.sub(r"\S{50,}", lambda match: match[0][:40] + "…", text) for text in pair] for pair in sorted(kinds.values())]
    return table(["message", "hint"], *(map(cell, pair) for pair in short))


def requests():
    parts = []
    for name in ("openapi.yaml", "openapi-server.yaml"):
        document = yaml.safe_load((repository / "Documentation" / name).read_text(encoding="utf-8"))
        for path, methods in document["paths"].items():
            for method, one in methods.items():
                if method in ("get", "post"):
                    answers = [
                        [code(status), cell(answer.get("description", answer.get("$ref", "").split("/")[-1]))]
                        for status, answer in one["responses"].items()
                    ]
                    parts.append(f"## {method.upper()} {path}\n\n{one.get('description', one['summary'])}\n")
                    parts.append(table(["status", "answer"], *answers))
        for shape, of in document["components"]["schemas"].items():
            rows = [
                [code(member), cell(about.get("type", "")), cell(about.get("description", ""))]
                for member, about in of.get("properties", {}).items()
            ]
            if rows:
                parts.append(f"## {shape}\n\n{of.get('description', '')}\n\n" + table(["member", "type", "meaning"], *rows))
    write("Requests.md", "Requests and answers", "From the OpenAPI documents of the server.\n", *parts)


folder.mkdir(parents=True)
commands()
settings()
metrics()
schema()
requests()
write(
    "Messages.md", "Refusals and warnings", "One example of each message of the database, from the cases of the tests.\n",
    "## Refusals\n\n" + messages("ERROR"), "## Warnings\n\n" + messages("WARNING"),
)  # fmt: skip
