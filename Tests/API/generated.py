"""Generates a client from Documentation/openapi.yaml, and asks a server by it.

The server has Tests/API/policy.yaml. What is asked is what an app and a gateway do: a check with and without a lockout,
by body and by query, one that is refused, and a gate.
"""

import importlib
import pathlib
import re
import subprocess
import sys

import yaml

# What every generator reads alike: no unions, no constants, no enumerations of one value.
PLAIN = {"$ref", "type", "format", "description", "example", "required", "properties", "items"}
PLAIN |= {"minLength", "maxLength", "minimum", "maximum"}


def other_keywords(schema, place):
    """The keywords of a schema and of its members that are not plain, each with its place."""
    yield from (f"{place} has {keyword}" for keyword in schema.keys() - PLAIN)
    for name, member in [*schema.get("properties", {}).items(), ("items", schema.get("items"))]:
        if member:
            yield from other_keywords(member, f"{place}.{name}")


def generate(document, folder):
    """The generated package; a warning is a fault as well."""
    settings = folder / "settings.yaml"
    # Else it formats what it wrote, with a program that need not be on the PATH.
    settings.write_text("post_hooks: []\n")
    target = folder / "versiongate_client"
    subprocess.run(
        [sys.executable, "-m", "openapi_python_client", "generate", "--path", document, "--output-path", target]
        + ["--meta", "none", "--config", settings, "--fail-on-warning"],
        check=True,
    )
    sys.path.insert(0, str(folder))
    return importlib.import_module(target.name)


# What openapi-generator writes, by generator: the file of a message, and its lockout, a boolean.
OTHERS = {
    "kotlin": ("Message.kt", r"val lockout: kotlin\.Boolean\?"),
    "typescript-fetch": ("Message.ts", r"lockout\?: boolean;"),
    "dart": ("message.dart", r"bool\? lockout;"),
    "go": ("model_message.go", r"Lockout \*bool"),
    "csharp": ("Message.cs", r"public bool\? Lockout"),
}


def by_others(document, folder):
    """Whether the lockout of a message is a boolean, in each language."""
    for generator, (name, declaration) in OTHERS.items():
        out = folder / generator
        subprocess.run(
            [pathlib.Path(sys.executable).with_name("openapi-generator-cli"), "generate", "--input-spec", document]
            + ["--generator-name", generator, "--output", out], check=True, stdout=subprocess.DEVNULL)
        texts = [file.read_text() for file in out.rglob(name) if "test" not in str(file.relative_to(out)).lower()]
        is_right = any(re.search(declaration, text) for text in texts)
        print(f"By {generator}, lockout is {'a' if is_right else 'no'} boolean")
        yield is_right


def judge(document, url, folder):
    with open(document, encoding="utf-8") as file:
        schemas = yaml.safe_load(file)["components"]["schemas"]
    others = [other for name, schema in schemas.items() for other in other_keywords(schema, name)]
    for other in others:
        print(f"{other}, which generators read differently")
    try:
        package = generate(document, folder)
    except subprocess.CalledProcessError:
        sys.exit(f"no client can be generated from {document}; the lines above say why")
    check, by_query, gate = (
        importlib.import_module(f"{package.__name__}.api.{name}")
        for name in ("check.check", "check.check_by_query", "gate.gate")
    )
    models = importlib.import_module(f"{package.__name__}.models")
    unset = importlib.import_module(f"{package.__name__}.types").UNSET
    client = package.Client(base_url=url, raise_on_unexpected_status=True)
    faults = []

    def expect(what, found, wanted):
        if found != wanted:
            faults.append(f"{what} is {found!r}, and not {wanted!r}")

    for member in ("lockout", "skip"):
        expect(f"the type of {member}", str(models.Message.__annotations__[member]), "bool | Unset")

    old = models.Check(bundle="com.example.doto", version="1.0.0", platform="ios", channel="store")
    old["plan"] = "beta"
    expect("the body", old.to_dict()["plan"], "beta")
    answer = check.sync_detailed(client=client, body=old)
    expect("the status", int(answer.status_code), 200)
    first, *rest = answer.parsed.messages
    expect("the first message", (first.id, first.lockout, first.until), ("security-1.1", True, 4070908800))
    expect("what the rest locks out", {message.lockout for message in rest}, {unset})

    new = models.Check(bundle="com.example.doto", version="1.1.0", platform="ios", os="16")
    messages = check.sync(client=client, body=new).messages
    expect("what 1.1.0 gets", [message.id for message in messages], ["update-1.2", "notice"])
    expect("its lockouts", {message.lockout for message in messages}, {unset})
    plain = check.sync(client=client, body=models.Check(bundle="com.example.plain", version="2", platform="ios"))
    hints = plain.messages[0]
    expect("the hints", (hints.remind, hints.shows, hints.skip, hints.target), (86400, 3, True, "2.0.0.1"))
    nothing = check.sync(client=client, body=models.Check(bundle="com.example.nobody", platform="web"))
    expect("no message", nothing, models.Answer(messages=[]))

    refusal = check.sync_detailed(client=client, body=models.Check(bundle=""))
    expect("the refusal", (refusal.parsed.status, refusal.parsed.type_), (400, "about:blank"))
    expect("its detail", "member `bundle` is missing" in refusal.parsed.detail, True)

    question = {"bundle": "com.example.doto", "version": "1.0.0", "platform": "ios"}
    attributes = models.CheckByQueryAttributes()
    attributes["channel"] = "store"
    answer = by_query.sync_detailed(client=client, attributes=attributes, **question)
    expect("the first message by a query", answer.parsed.messages[0].lockout, True)
    tag = answer.headers["ETag"]
    known = by_query.sync_detailed(client=client, if_none_match=tag, **question)
    expect("the answer that is known", (int(known.status_code), known.parsed), (304, None))

    denied = gate.sync_detailed(client=client, **question)
    expect("a closed gate", (int(denied.status_code), denied.parsed.messages[0].lockout), (403, True))
    fields = {f"app_{name}": value for name, value in question.items()}
    denied = gate.sync_detailed(client=client, deny="426", **fields)
    expect("a closed gate by header fields", (int(denied.status_code), denied.parsed.messages[0].lockout), (426, True))
    expect("an open gate", int(gate.sync_detailed(client=client, **question | {"version": "1.2.0"}).status_code), 204)

    for fault in faults:
        print(f"By a generated client, {fault}")
    print(f"A generated client asked, {len(faults)} faults")
    return not faults and not others
