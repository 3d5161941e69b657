#!/usr/bin/env python3
"""Writes the manual pages, one a command, from the help of the program itself.

manual.py BINARY FOLDER: versiongate.1, versiongate-rule-add.1, ...; dated by SOURCE_DATE_EPOCH, else today.
"""

import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

binary, folder = sys.argv[1], pathlib.Path(sys.argv[2])
version = subprocess.run([binary, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
epoch = os.environ.get("SOURCE_DATE_EPOCH")
now = datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc) if epoch else datetime.datetime.now()


def plain(text):
    text = (
        text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq").replace("^", "\\(ha")
    )
    return re.sub(r"(?m)^\.", r"\\\&.", text.replace("~", "\\(ti").replace('"', "\\(dq"))


def bold(text):
    return "\\fB" + plain(text) + "\\fR"


def italic(text):
    return "\\fI" + plain(text) + "\\fR"


def name(option):
    return {"long": "--", "short": "-", "longWithSingleDash": "-"}[option["kind"]] + option["name"]


def title(argument):
    if argument["kind"] == "positional":
        return italic(argument["valueName"])
    names = ", ".join(bold(name(option)) for option in argument["names"])
    return names + (" " + italic(argument["valueName"]) if argument["kind"] == "option" else "")


def usage(argument):
    if argument["kind"] == "positional":
        text = italic(argument["valueName"])
    else:
        text = bold(name(argument["preferredName"]))
        if argument["kind"] == "option":
            text += " " + italic(argument["valueName"])
    if argument["isRepeating"]:
        text += " ..."
    return "[" + text + "]" if argument["isOptional"] else text


def paragraphs(text):
    for part in text.strip().split("\n\n"):
        head, *lines = part.split("\n")
        if re.match(r"Examples?\b.*:$", head):
            yield from [".SH " + ("EXAMPLES" if lines[1:] else "EXAMPLE")]
            if not re.match(r"Examples?:$", head):
                yield plain(head)
            indent = min(len(line) - len(line.lstrip()) for line in lines)
            yield from [".nf", *(plain(line[indent:]) for line in lines), ".fi"]
        else:
            yield from [".PP", plain(part)]


def entries(arguments):
    for argument in arguments:
        yield from [".TP", title(argument), plain(argument.get("abstract", ""))]
        notes = []
        if argument.get("allValues"):
            notes.append("values: " + ", ".join(argument["allValues"]))
        if argument.get("defaultValue"):
            notes.append("default: " + argument["defaultValue"])
        if notes:
            yield plain("(" + "; ".join(notes) + ")")
        if argument.get("discussion"):
            yield from [".IP", plain(argument["discussion"])]


def page(words, command, others):
    shown = [argument for argument in command.get("arguments", []) if argument["shouldDisplay"]]
    yield '.TH %s 1 %s "versiongate %s"' % ("-".join(words).upper(), now.strftime("%Y-%m-%d"), version)
    yield from [".SH NAME", plain("-".join(words)) + " \\- " + plain(command["abstract"].rstrip("."))]
    yield from [
        ".SH SYNOPSIS",
        " ".join(
            [bold(" ".join(words)), *(usage(one) for one in shown if one["valueName"] != "help")]
            + ([italic("command")] if others else [])
        ),
    ]
    blocks = list(paragraphs(command.get("discussion", ""))) if command.get("discussion") else []
    index = next((i for i, line in enumerate(blocks) if line.startswith(".SH EXAMPLE")), len(blocks))
    # A paragraph behind the examples belongs before them.
    end = next((i + 1 for i in range(index, len(blocks)) if blocks[i] == ".fi"), len(blocks))
    description, examples = blocks[:index] + blocks[end:], blocks[index:end]
    if description:
        yield from [".SH DESCRIPTION", *(description[1:] if description[0] == ".PP" else description)]
    if others:
        yield ".SH COMMANDS"
        for other in others:
            yield from [".TP", bold("-".join(words + [other["commandName"]])) + "(1)", plain(other["abstract"])]
    sections = {}
    for argument in shown:
        default = "ARGUMENTS" if argument["kind"] == "positional" else "OPTIONS"
        sections.setdefault((argument.get("sectionTitle") or default).upper(), []).append(argument)
    for heading, arguments in sections.items():
        yield from [".SH " + plain(heading), *entries(arguments)]
    yield from examples
    if words[1:]:
        yield from [".SH SEE ALSO", bold("-".join(words[:-1])) + "(1)"]


def write(command, before):
    words = before + [command["commandName"]]
    others = [
        other for other in command.get("subcommands", []) if other["commandName"] != "help" and other["shouldDisplay"]
    ]
    text = "\n".join(line for line in page(words, command, others) if line) + "\n"
    (folder / ("-".join(words) + ".1")).write_text(text, encoding="utf-8")
    for other in others:
        write(other, words)


folder.mkdir(parents=True, exist_ok=True)
dump = subprocess.run([binary, "--experimental-dump-help"], check=True, stdout=subprocess.PIPE).stdout
write(json.loads(dump)["command"], [])
