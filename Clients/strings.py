#!/usr/bin/env python3
"""Makes the files of each platform from strings.json, the texts of buttons and titles.

strings.py FOLDER   apple/VersionGate.xcstrings, android/values*/strings.xml, json/LANGUAGE.json and
                    arb/versiongate_LANGUAGE.arb into FOLDER, and the table in JavaScript/mount.js anew

A language with "unread": true was read by no speaker of it. An .xcstrings says needs_review there, the others a comment.
"""

import json
import os
import re
import sys
from xml.sax.saxutils import escape

PLACE = os.path.dirname(os.path.abspath(__file__))
KEYS = ("update", "open", "later", "skip", "close", "tryAgain", "updateRequired", "maintenance")
UNREAD = "No speaker has read this."


def table(path=os.path.join(PLACE, "strings.json")):
    """The texts by language, and the languages that no speaker has read. What is not as it must be is an error."""
    with open(path, encoding="utf-8") as file:
        languages = json.load(file, object_pairs_hook=_unique)
    texts, unread = {}, set()
    for language, row in languages.items():
        if not re.fullmatch(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?", language):
            raise ValueError(f"{path}: {language!r} is no language tag such as de, zh-Hant or pt-PT")
        if row.pop("unread", False):
            unread.add(language)
        if tuple(row) != KEYS:
            raise ValueError(f"{path}: {language} has {', '.join(row)}; each language has {', '.join(KEYS)}, in this order")
        for key, text in row.items():
            if not isinstance(text, str) or not text or text != " ".join(text.split()):
                raise ValueError(f"{path}: {key} in {language} is no text of one line without blanks at its ends: {text!r}")
        texts[language] = row
    if list(texts) != sorted(texts):
        raise ValueError(f"{path}: the languages are not in the order of their tags")
    return texts, unread


def apple(texts, unread):
    strings = {}
    for key in KEYS:
        strings[f"versiongate.{key}"] = {"extractionState": "manual", "localizations": {
            {"zh": "zh-Hans"}.get(language, language): {"stringUnit": {
                "state": "needs_review" if language in unread else "translated", "value": row[key]}}
            for language, row in texts.items()}}
    return {"VersionGate.xcstrings": _pretty({"sourceLanguage": "en", "strings": strings, "version": "1.0"})}


def android(texts, unread):
    """English is the folder of all languages that are not there."""
    files = {}
    for language, row in texts.items():
        folder = {"en": "values", "he": "values-iw", "id": "values-in", "zh-Hant": "values-zh-rTW"}.get(
            language, "values-" + language.replace("-", "-r"))
        lines = ['<?xml version="1.0" encoding="utf-8"?>']
        lines += [f"<!-- {UNREAD} -->"] if language in unread else []
        lines += ["<resources>"]
        for key, text in row.items():
            name = re.sub("([A-Z])", r"_\1", key).lower()
            # What aapt reads as more than text.
            value = re.sub(r"""(["'\\])""", r"\\\1", escape(text))
            value = re.sub("^(&lt;|[@?])", lambda found: found[0] if found[0] == "&lt;" else "\\" + found[0], value)
            lines.append(f'    <string name="versiongate_{name}">{value}</string>')
        files[f"{folder}/strings.xml"] = "\n".join([*lines, "</resources>", ""])
    return files


def plain(texts, unread):
    return {f"{language}.json": _pretty(row) for language, row in texts.items()}


def arb(texts, unread):
    files = {}
    for language, row in texts.items():
        locale = language.replace("-", "_")
        members = {"@@locale": locale, **({"@@comment": UNREAD} if language in unread else {})}
        # In ARB the apostrophe quotes and the brace begins a placeholder.
        members |= {f"versiongate{key[0].upper()}{key[1:]}": re.sub("'", "''", text) for key, text in row.items()}
        files[f"versiongate_{locale}.arb"] = _pretty(members)
    return files


def web(texts, unread):
    """The lines of the table in JavaScript."""
    lines = [f"  {_quoted(language)}: [{', '.join(map(_quoted, row.values()))}]," for language, row in texts.items()]
    return "\n".join([f"const names = [{', '.join(map(_quoted, KEYS))}];", "const table = {", *lines, "};"])


FORMATS = {"apple": apple, "android": android, "json": plain, "arb": arb}
MARKS = ("// Made from Clients/strings.json by Clients/strings.py.\n", "\n// The end of what is made.\n")


def with_table(code, made):
    """The code of a module with the table anew."""
    before, _, rest = code.partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    if not end:
        raise ValueError(f"the module has no place for the table: {MARKS[0].strip()}")
    return before + MARKS[0] + made + MARKS[1] + after


def _pretty(value):
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _unique(pairs):
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name} appears twice")
    return dict(pairs)


def main(arguments):
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 64
    try:
        texts, unread = table()
    except ValueError as error:
        print(f"strings.py: {error}", file=sys.stderr)
        return 1
    for name, make in FORMATS.items():
        for path, content in make(texts, unread).items():
            file = os.path.join(arguments[0], name, path)
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(file, "w", encoding="utf-8") as output:
                output.write(content)
    module = os.path.join(PLACE, "JavaScript", "mount.js")
    with open(module, encoding="utf-8") as file:
        code = file.read()
    with open(module, "w", encoding="utf-8") as output:
        output.write(with_table(code, web(texts, unread)))
    print(f"{len(texts)} languages in {arguments[0]} and in Clients/JavaScript/mount.js")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
