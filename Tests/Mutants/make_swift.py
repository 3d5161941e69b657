#!/usr/bin/env python3
"""Mutants of Swift: small faults in Sources, all in one build, each switched on by VERSIONGATE_MUTANT=NUMBER.

  Tests/Mutants/make_swift.py [SEED] [FILE:LINE...]     writes swift.tsv, without mutants at lines that did not compile
  Tests/Mutants/make_swift.py --into TREE               puts the mutants of swift.tsv into the sources of a copy

Each target gets one, and the others are spread by length. EmbedFiles has none: it runs only while something is built.
"""
import csv
import pathlib
import random
import re
import sys

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
COUNT = 40
SWAPS = [(r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
         (r" && ", " || "), (r" \|\| ", " && "), (r"(?<!\0) \+ (?!\0)", " - "), (r" - ", " + "), (r"\.\.<", "..."), (r"\bmin\(", "max("),
         (r"\bmax\(", "min("), (r"\.first\b", ".last"), (r"\.last\b", ".first"), (r"\ballSatisfy\b", "contains"),
         (r"\bcontains(?= \{|\(where)", "allSatisfy"), (r"(?<=[( ])!(?=\w)", "")]
SWITCH = """\
import Foundation

private let mutant = ProcessInfo.processInfo.environment["VERSIONGATE_MUTANT"].flatMap { Int($0) } ?? 0

func mutantIsOn(_ number: Int) -> Bool { number == mutant }
"""


def masked(text):
    """The text with the contents of comments and strings blanked out."""
    tokens = r'#"""(?:.|\n)*?"""#|"""(?:[^"\\]|\\[\s\S]|"(?!""))*"""|#".*?"#|"(?:[^"\\\n]|\\.)*"|//[^\n]*'
    return re.sub(tokens, lambda match: re.sub(r"[^\n]", "\0", match[0]), text)


def either(changed, expression):
    """An expression that is another one where the mutant is on."""
    effect, expression_rest = re.fullmatch(r"((?:try[?!]? |await )*)(.*)", expression).groups()
    changed = changed[len(effect):] if changed.startswith(effect) else changed
    return f"{effect}(mutantIsOn(%d) ? {changed} : {expression_rest})"


def clauses(condition):
    """Where the parts of a condition that are separated by commas begin and end."""
    start, depth = 0, 0
    for place, character in enumerate(condition + ","):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            yield start, place
            start = place + 2


def is_balanced(code):
    return all(code.count(opening) == code.count(closing) for opening, closing in ("()", "[]", "{}"))


def sites(code, text, previous, following):
    """By kind, what a line may become."""
    found = {"operator": [], "constant": [], "branch": []}
    if re.match(r"\s*(case|default|@|#|import|}? *where|package import)", code):
        return found
    continues = re.match(r"\s*([.?:&|+*/)\]-]|$)", following)
    if match := re.match(r"\s*(?:if|guard|while|\} else if) (.*?)(?: else)? \{", code):
        for start, end in clauses(match[1]):
            start, end = match.start(1) + start, match.start(1) + end
            if re.match(r"(let|var|case|#|_)\b", code[start:end]) or not is_balanced(code[start:end]):
                continue
            found["branch"].append(text[:start] + either(f"!({text[start:end]})", text[start:end]) + text[end:])
            found["operator"] += swaps(code, text, start, end)
    elif (match := re.match(r"\s*return (\S.*)$", code)) and is_balanced(match[1]) and not continues:
        found["operator"] += swaps(code, text, match.start(1), match.end(1))
    elif (re.match(r"\s*(?:try |await )*(?!self\.)[a-z]\w*([\w.]*\(.*\)|[\w.]* [+-]= .+|\.[\w.]* = .+)$", code)
          and is_balanced(code) and not continues
          and not (previous.endswith("{") and following.strip().startswith("}"))
          and re.search(r"([;}]|\{|[^,(\[:=?&|+.-])$", previous)):
        found["branch"].append(re.sub(r"\S.*", lambda match: "if !mutantIsOn(%d) { " + match[0] + " }", text))
    for match in re.finditer(r"(?<!seconds\()(?<![\w.$])\d[\d_]*(?![\w.]|\.\.)|\btrue\b|\bfalse\b", code):
        other = {"true": "false", "false": "true"}.get(match[0]) or str(int(match[0]) + 1)
        found["constant"].append(f"{text[:match.start()]}(mutantIsOn(%d) ? {other} : {match[0]}){text[match.end():]}")
    return found


def swaps(code, text, start, end):
    """What a line may become by another operator in its expression."""
    for pattern, other in SWAPS:
        for match in re.finditer(pattern, code[start:end]):
            place = start + match.start()
            changed = text[start:place] + other + text[start + match.end():end]
            yield text[:start] + either(changed, text[start:end]) + text[end:]


def main(seed, refused):
    source = random.Random(seed)
    lines, targets = [], {}
    for file in sorted((ROOT / "Sources").rglob("*.swift")):
        text, path = file.read_text(), str(file.relative_to(ROOT))
        if path.startswith("Sources/EmbedFiles/") or "@inlinable" in text or "@usableFromInline" in text:
            continue
        found = list(zip(masked(text).split("\n"), text.split("\n")))
        for number, (code, line) in enumerate(found[1:-1], 1):
            if code.strip("\0 ") and "%" not in line and line.strip() not in ("{", "}"):
                place = (path, number + 1, code, line, found[number - 1][0].rstrip(), found[number + 1][0])
                lines.append(place)
                targets.setdefault(path.split("/")[1], []).append(place)
    rows, taken = [], set(refused)
    picks = [(places, 0, len(places)) for places in targets.values()]
    rest = COUNT - len(picks)
    picks += [(lines, len(lines) * n // rest, len(lines) * (n + 1) // rest) for n in range(rest)]
    for places, first, last in picks:
        row, tries = None, 0
        while row is None and tries < 1000:
            tries += 1
            path, number, code, line, previous, following = places[source.randrange(first, last)]
            found = sites(code, line, previous, following)
            kinds = sorted(kind for kind in found if found[kind])
            if kinds and f"{path}:{number}" not in taken:
                kind = source.choice(kinds)
                taken.add(f"{path}:{number}")
                row = [path, number, kind, line.strip(), source.choice(found[kind]).strip()]
        if row:
            rows.append(row)
    with open(HERE / "swift.tsv", "w", newline="") as file:
        writer = csv.writer(file, "excel-tab", lineterminator="\n", quoting=csv.QUOTE_NONE, quotechar=None)
        writer.writerow(["number", "file", "line", "kind", "before", "after"])
        for number, row in enumerate(sorted(rows), 1):
            writer.writerow([number] + row[:4] + [row[4].replace("%d", str(number))])


def put_into(tree):
    targets = set()
    with open(HERE / "swift.tsv") as file:
        rows = list(csv.DictReader(file, dialect="excel-tab", quoting=csv.QUOTE_NONE))
    for row in rows:
        lines = (tree / row["file"]).read_text().split("\n") if (tree / row["file"]).exists() else []
        places = [place for place, line in enumerate(lines) if line.strip() == row["before"]]
        if not places:
            print(f"mutant {row['number']} is not in the sources")
            continue
        place = min(places, key=lambda place: abs(place + 1 - int(row["line"])))
        lines[place] = row["after"]
        (tree / row["file"]).write_text("\n".join(lines))
        targets.add(row["file"].split("/")[1])
    for target in targets:
        (tree / "Sources" / target / "MutantIsOn.swift").write_text(SWITCH)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--into"]:
        put_into(pathlib.Path(sys.argv[2]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1, sys.argv[2:])
