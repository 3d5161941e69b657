#!/usr/bin/env python3
"""Writes sql.tsv, a list of mutants: small faults in functions of Migrations, the more the longer a function is.

  Tests/Mutants/make_sql.py [SEED]

psql must reach an empty database by the settings in the environment, as a superuser. Each mutant is loaded there; one that
PostgreSQL refuses is replaced by another.
"""
import csv
import pathlib
import random
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
COUNT = 120

OPERATORS = [(re.compile(pattern), text) for pattern, text in [
    (r"(?<=\s)<(?=\s)", "<="), (r"(?<=\s)<=(?=\s)", "<"), (r"(?<=\s)>(?=\s)", ">="), (r"(?<=\s)>=(?=\s)", ">"),
    (r"(?<=\s)=(?=\s)", "<>"), (r"(?<=\s)<>(?=\s)", "="), (r"(?<=\s)\+(?=\s)", "-"), (r"(?<=\s)-(?=\s)", "+"),
    (r"\bAND\b", "OR"), (r"\bOR\b", "AND"), (r"\bIS NULL\b", "IS NOT NULL"), (r"\bIS NOT NULL\b", "IS NULL"),
    (r"\bIS DISTINCT\b", "IS NOT DISTINCT"), (r"\bIS NOT DISTINCT\b", "IS DISTINCT"), (r"(?<!IS )\bNOT ", ""),
    (r"(?<!NOT )\bEXISTS\b", "NOT EXISTS"), (r"\bgreatest\(", "least("), (r"\bleast\(", "greatest("),
    (r"\bmax\(", "min("), (r"\bmin\(", "max("), (r"\bLEFT JOIN\b", "JOIN"), (r"\bSELECT DISTINCT\b", "SELECT"),
    (r" DESC\b", ""), (r"\bANY \(", "ALL ("), (r"\blower\(", "("),
]]
BRANCHES = [(re.compile(pattern, re.MULTILINE), text) for pattern, text in [
    (r"(?<=\bIF )\S[^\n]*(?= THEN$)", "true"), (r"(?<=\bIF )\S[^\n]*(?= THEN$)", "false"),
    (r"(?<=\bWHEN )[^\n]*?(?: [<>=]+ | IS | AND | OR | IN |~)[^\n]*?(?= THEN\b)", "false"),
    (r"(?<=^ )( *)(?:AND|OR) [^\n]+$", ""), (r"(?:CONTINUE|EXIT|RETURN|PERFORM)\b[^\n;]*;$", "NULL;"),
    (r"\b[a-z_.]+ := [^\n;]+;$", "NULL;"), (r"\bELSE (?!CASE)[^\n]+?(?= END\b)", "ELSE NULL"),
]]


class Function:
    """A function of a migration: its text, where its body begins, and its first line."""

    def __init__(self, file, text, start, end):
        self.file, self.text = file, text[start:end]
        self.name = re.match(r"CREATE (?:OR REPLACE )?FUNCTION ([\w.]+)", self.text)[1]
        self.line = text.count("\n", 0, start) + 1
        self.body = re.search(r"^(AS \$\$|RETURN\b)", self.text, re.MULTILINE).end()

    def replacement(self, text):
        """The statements that put another text in its place."""
        text = re.sub(r"^CREATE (OR REPLACE )?", "CREATE OR REPLACE ", text)
        return f"SET search_path = public, versiongate_internal, pg_temp;\n{text}\n"

    def mutated(self, line, before, after):
        """The text with `after` for the line `before`, the one nearest to a line of the file; None if there is none."""
        lines = self.text.split("\n")
        places = [number for number, text in enumerate(lines) if text.strip() == before]
        if not places:
            return None
        place = min(places, key=lambda number: abs(number + self.line - line))
        lines[place] = after
        return "\n".join(lines)


def functions(root):
    found = []
    for file in sorted((root / "Migrations").glob("*.sql")):
        text = file.read_text()
        for match in re.finditer(r"^CREATE (?:OR REPLACE )?FUNCTION ", text, re.MULTILINE):
            opening = re.compile(r"^(?:AS \$\$|RETURN\b)", re.MULTILINE).search(text, match.start())
            closing = r"^\$\$;$" if opening[0] != "RETURN" else r";$"
            end = re.compile(closing, re.MULTILINE).search(text, opening.end()).end()
            found.append(Function(file.stem, text, match.start(), end))
    return found


def column_types(root):
    """The type of each column that a table, a type or a result has, as far as every one of that name has the same."""
    types = {}
    for file in (root / "Migrations").glob("*.sql"):
        for name, type_name in re.findall(r"\b([a-z_]+) (text|bytea|timestamptz|boolean|numeric|bigint|integer|uuid|jsonb)\b(?!\[)",
                                          file.read_text()):
            types.setdefault(name, set()).add(type_name)
    return {name: next(iter(names)) for name, names in types.items() if len(names) == 1}


def sites(function, types):
    """By kind, the places in a body that can be changed: start, end, what stands there then."""
    strings = []

    def blank(match):
        if match[0].startswith("'"):
            strings.append(match)
        return re.sub(r"[^\n]", "\0", match[0])

    code = re.sub(r"--[^\n]*|\bE'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|\"[^\"]*\"", blank, function.text)
    found = {"operator": [], "constant": [], "branch": [], "column": []}
    for kind, patterns in (("operator", OPERATORS), ("branch", BRANCHES)):
        for pattern, text in patterns:
            found[kind] += [(match.start(), match.end(), text) for match in pattern.finditer(code)]
    for match in re.finditer(r"(?<!LIMIT )(?<![\w.$])\d+(?![\w.])|(?<=LIMIT )\d\d+|\btrue\b|\bfalse\b", code):
        other = {"true": "false", "false": "true"}.get(match[0]) or str(int(match[0]) + 1)
        found["constant"].append((match.start(), match.end(), other))
    for match in strings:
        value = match[0][1:-1]
        if re.fullmatch(r"\{\w+(,\w+)+\}", value):
            names = value[1:-1].split(",")
            found["constant"] += [(match.start(), match.end(), "'{%s}'" % ",".join(names[:n] + names[n + 1:]))
                                  for n in range(len(names))]
        elif re.fullmatch(r"[a-z_]+", value):
            found["constant"].append((match.start(), match.end(), f"'{value}s'"))
        elif re.fullmatch(r"\d+ \w+", value):
            found["constant"].append((match.start(), match.end(), f"'1{value}'"))
    uses = [match for match in re.finditer(r"\b([a-z_]+)\.([a-z_]+)\b(?!\()", code) if match[2] in types]
    for use in uses:
        others = {other[2] for other in uses if other[1] == use[1] and types[other[2]] == types[use[2]]} - {use[2]}
        found["column"] += [(use.start(2), use.end(2), other) for other in sorted(others)]
    return {kind: [site for site in places if site[0] >= function.body] for kind, places in found.items()}


def psql(script):
    return subprocess.run(["psql", "-qX", "-v", "ON_ERROR_STOP=1"], input=script, text=True, capture_output=True)


def mutant(function, types, source, taken):
    """A row of the list, at random, that loads and was not taken."""
    kinds = sites(function, types)
    for _ in range(100):
        kind = source.choice(sorted(kind for kind in kinds if kinds[kind]) or [None])
        if kind is None:
            return None
        start, end, text = source.choice(kinds[kind])
        first, last = function.text.rfind("\n", 0, start) + 1, function.text.find("\n", end)
        before = function.text[first:last].strip()
        after = (function.text[first:start] + text + function.text[end:last]).strip()
        line = function.line + function.text.count("\n", 0, start)
        if before == after or (function.name, line) in taken:
            continue
        script = function.replacement(function.mutated(line, before, after))
        if psql(f"BEGIN;\n{script}ROLLBACK;\n").returncode == 0:
            taken.add((function.name, line))
            return [function.file, function.name, line, kind, before, after]
    return None


def main(seed):
    for file in sorted((ROOT / "Migrations").glob("*.sql")):
        loaded = psql(f"BEGIN;\n{file.read_text()}\nCOMMIT;\n")
        if loaded.returncode != 0:
            sys.exit(f"{file.name} does not load: {loaded.stderr}")
    source = random.Random(seed)
    types = column_types(ROOT)
    # A function as often as its body has lines.
    lines = [function for function in functions(ROOT) for _ in function.text[function.body:].split("\n")]
    rows, taken = [], set()
    for number in range(COUNT):
        row = None
        while row is None:
            row = mutant(lines[int((number + source.random()) * len(lines) / COUNT)], types, source, taken)
        rows.append([number + 1] + row)
    with open(HERE / "sql.tsv", "w", newline="") as file:
        writer = csv.writer(file, "excel-tab", lineterminator="\n", quoting=csv.QUOTE_NONE, quotechar=None)
        writer.writerow(["number", "file", "function", "line", "kind", "before", "after"])
        writer.writerows(rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
