#!/usr/bin/env python3
"""Writes the pages of the site that are lists: tables, functions and limits, from the migrations and the meanings of the
cases; refusals and warnings, from the cases; requests and answers, from the OpenAPI documents.

reference.py FOLDER: into FOLDER/Documentation/Reference.
"""

import pathlib
import re
import sys

import yaml

repository = pathlib.Path(__file__).parent.parent
folder = pathlib.Path(sys.argv[1]) / "Documentation" / "Reference"


def cell(text):
    return re.sub(r"\s+", " ", str(text)).strip().replace("|", "\\|").replace("<", "&lt;")


def code(text):
    return "`" + re.sub(r"\s+", " ", str(text)).strip().replace("|", "\\|") + "`"


def table(*rows):
    rows = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def write(name, title, *parts):
    (folder / name).write_text(f"# {title}\n\n" + "\n".join(parts), encoding="utf-8")


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
                    kinds[kind] = (text, below[0].split(":  ", 1)[1] if below else "")
    if len(kinds) < 50:
        sys.exit(f"the cases have only {len(kinds)} kinds of {word}")
    return table(["message", "hint"], *([cell(text), cell(hint)] for text, hint in sorted(kinds.values())))


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
schema()
requests()
write(
    "Messages.md", "Refusals and warnings", "What the database says in the cases of the tests, one of each kind.\n",
    "## Refusals\n\n" + messages("ERROR"), "## Warnings\n\n" + messages("WARNING"),
)  # fmt: skip
