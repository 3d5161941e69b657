"""Reads the OpenAPI documents, and compares responses with them.

A response has to be what the documents say in every respect: the status, each header field (one that is not described
is a fault as well), the media type, and the body. Answers may grow, so the schemas allow unknown members; here each
member has to be described. What the documents say in words, so that generators of clients can read them, is in
`refusals` and in `message_faults`.
"""

import json
import pathlib
import re
import xml.etree.ElementTree

import jsonschema
import openapi_spec_validator
import yaml

METHODS = ("get", "post", "put", "patch", "delete", "head", "options", "trace")

# The documents do not repeat what HTTP itself says of every response.
OF_HTTP = {"connection", "content-length", "content-type", "date"}

# What `4XX` stands for: how any request may be refused, and one with a body by 415 as well.
REFUSED = (400, 405, 408, 413, 414, 429, 431)

# The status that has such a field; among those of `4XX` no other has it.
STATUS_OF_FIELD = {"Accept-Encoding": 415, "Allow": 405, "Retry-After": 429}

LINK = re.compile(r"(https?|itms-appss?|macappstore|market|ms-windows-store):[!-~]+")
HINTS = ("remind", "shows", "skip")


def refusals(response, methods):
    """The responses that `4XX` stands for at a path with these methods, by status."""
    allowed = [name for name, method in (("GET", "get"), ("HEAD", "get"), ("POST", "post")) if method in methods]
    found = {}
    for status in REFUSED + ((415,) if "post" in methods else ()):
        headers = {
            name: {**header, "required": True}
            for name, header in response["headers"].items()
            if STATUS_OF_FIELD.get(name, status) == status
        }
        if "Allow" in headers:
            headers["Allow"]["schema"] = {"enum": [", ".join(allowed)]}
        found[str(status)] = {**response, "headers": headers}
    return found


def message_faults(message):
    """What is wrong with a message of a check."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", message["id"]):
        yield "id is no key"
    if not LINK.fullmatch(message.get("link", "https://example.com")):
        yield "link has another scheme, or is not in ASCII"
    for name in ("lockout", "skip"):
        if message.get(name, True) is not True:
            yield f"{name} is there, and is not true"
    hints = [name for name in (*HINTS, "target") if name in message]
    if "lockout" in message and hints:
        yield f"a lockout has {', '.join(hints)}"
    if "until" in message and "lockout" not in message:
        yield "it has until, and is no lockout"
    if hints == ["target"]:
        yield f"it has target, and none of {', '.join(HINTS)}"


def strict(schema):
    """A schema of a response that allows no member which it does not describe."""
    if not isinstance(schema, dict):
        return schema
    schema = dict(schema)
    if "properties" in schema:
        schema["properties"] = {name: strict(member) for name, member in schema["properties"].items()}
        schema.setdefault("additionalProperties", False)
    for keyword in ("items", "additionalProperties"):
        if keyword in schema:
            schema[keyword] = strict(schema[keyword])
    return schema


def members(schema, place, value=None):
    """The members that a schema describes, or those of them that a value has; each by the name of its schema."""
    place = schema.get("x-name", place)
    for name, member in schema.get("properties", {}).items():
        if value is None or isinstance(value, dict) and name in value:
            yield f"{place}.{name}"
            yield from members(member, f"{place}.{name}", value and value[name])
    if isinstance(schema.get("items"), dict):
        for element in [None] if value is None else value if isinstance(value, list) else []:
            yield from members(schema["items"], place, element)
    if isinstance(schema.get("additionalProperties"), dict):
        for element in [None] if value is None else value.values() if isinstance(value, dict) else []:
            yield from members(schema["additionalProperties"], place, element)


def schema_faults(value, schema):
    """What is wrong with a value, by a schema."""
    validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]


class Document:
    """A file in OpenAPI 3.0."""

    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        with open(self.path, encoding="utf-8") as file:
            self.source = yaml.safe_load(file)
        self.expanded = self._expanded(self.source)

    def _expanded(self, node):
        if isinstance(node, list):
            return [self._expanded(element) for element in node]
        if not isinstance(node, dict):
            return node
        if not isinstance(node.get("$ref"), str):
            return {key: self._expanded(value) for key, value in node.items()}
        file, _, pointer = node["$ref"].partition("#/")
        document = Document(self.path.parent / file) if file else self
        target = document.source
        for part in pointer.split("/"):
            target = target[part]
        target = document._expanded(target)
        kind, _, name = pointer.removeprefix("components/").partition("/")
        return {"x-name": name, **target} if kind == "schemas" else target

    def faults(self):
        """What is wrong with it: by OpenAPI, examples that contradict their schema, components that nothing uses."""
        validator = openapi_spec_validator.OpenAPIV30SpecValidator(self.source, base_uri=self.path.as_uri())
        faults = [f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in validator.iter_errors()]
        if faults:
            return faults
        used = set()

        def look(source, expanded, place):
            if isinstance(source, list):
                for index, value in enumerate(source):
                    look(value, expanded[index], f"{place}/{index}")
            if not isinstance(source, dict):
                return
            if isinstance(source.get("$ref"), str):
                used.add(source["$ref"])
                if len(source) > 1:
                    faults.append(f"{place}: what stands beside a $ref means nothing")
                return
            schema = expanded if isinstance(expanded.get("type"), str) else expanded.get("schema")
            examples = {name: example["value"] for name, example in expanded.get("examples", {}).items()}
            examples |= {"example": expanded["example"]} if "example" in expanded else {}
            for name, example in examples.items() if isinstance(schema, dict) else []:
                faults.extend(f"{place}/{name} {fault}" for fault in schema_faults(example, strict(schema)))
            for key, value in source.items():
                if key != "example":
                    look(value, expanded[key], f"{place}/{key}")

        look(self.source, self.expanded, "#")
        for kind, components in self.source["components"].items():
            # The names of schemes are no references.
            unused = {f"#/components/{kind}/{name}" for name in components if kind != "securitySchemes"} - used
            faults += [f"{reference} is not used" for reference in sorted(unused)]
        return faults


def merged(documents):
    """What some documents say together: the first one, with the paths of all, and with each status that `4XX` is."""
    paths = {}
    for document in documents:
        for path, item in document.expanded["paths"].items():
            methods = [method for method in METHODS if method in item]
            for method in methods:
                responses = item[method]["responses"]
                item[method]["responses"] = (
                    refusals(responses["4XX"], methods) if "4XX" in responses else {}
                ) | {status: response for status, response in responses.items() if status != "4XX"}
            paths[path] = item
    return {**documents[0].expanded, "paths": paths, "components": {}}


class Contract:
    """What the documents say together."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.document = json.load(file)
        # Of which members of bodies were told to faults().
        self.sent = set()
        # A client, as the body of a check describes it.
        self.check = self.document["paths"]["/v1/check"]["post"]["requestBody"]["content"]["application/json"]["schema"]
        self.operations = {
            (path, method): {**operation, "parameters": item.get("parameters", []) + operation.get("parameters", [])}
            for path, item in self.document["paths"].items()
            for method, operation in item.items()
            if method in METHODS
        }

    def faults(self, path, method, status, headers, body, *, to_head=False):
        """How a response differs from what the document says of its operation.

        `headers` are pairs. `to_head` says that it answers HEAD, which has the fields of GET and no body.
        """
        response = self.operations[path, method.lower()]["responses"].get(str(status))
        if response is None:
            return [f"status {status} is not described"]
        fields = {}
        for name, value in headers:
            fields.setdefault(name.lower(), []).append(value)
        faults = self._header_faults(response.get("headers", {}), fields)
        # The management listener answers what is no HTTP, of which nothing is described, without it.
        if "date" not in fields and response.keys() - {"description"}:
            faults.append("header field date is missing")
        content = response.get("content")
        if content is None:
            return faults + (["it has a body, and none is described"] if body or "content-type" in fields else [])
        media_type = fields.get("content-type", [""])[0].split(";")[0]
        if media_type not in content:
            return faults + [f"content type {media_type!r} is not described"]
        if to_head:
            return faults + (["it has a body"] if body else [])
        return faults + self._body_faults(status, media_type, content[media_type]["schema"], body)

    def described_members(self):
        """All members that bodies of responses may have."""
        return {
            member
            for operation in self.operations.values()
            for response in operation["responses"].values()
            for media in response.get("content", {}).values()
            for member in members(media["schema"], "")
        }

    @staticmethod
    def _header_faults(described, fields):
        faults = [f"header field {name} appears twice" for name, values in fields.items() if len(values) > 1]
        for name, header in described.items():
            if name.lower() not in fields:
                faults += [f"header field {name} is missing"] if header.get("required") else []
                continue
            value = fields[name.lower()][0]
            if header["schema"].get("type") == "integer" and value.isdecimal():
                value = int(value)
            faults += [f"header field {name}: {fault}" for fault in schema_faults(value, header["schema"])]
        known = {name.lower() for name in described} | OF_HTTP
        return faults + [f"header field {name} is not described" for name in fields if name not in known]

    def _body_faults(self, status, media_type, schema, body):
        try:
            text = body.decode("utf-8")
            if media_type.endswith("json"):
                value = json.loads(text)
            elif media_type.endswith("yaml"):
                value = yaml.safe_load(text)
            else:
                value = text
                if media_type.endswith(("xml", "plist")):
                    xml.etree.ElementTree.fromstring(text)
        except (ValueError, yaml.YAMLError, xml.etree.ElementTree.ParseError) as error:
            return [f"the body is no {media_type}: {error}"]
        self.sent.update(members(schema, "", value))
        faults = [f"body {fault}" for fault in schema_faults(value, strict(schema))]
        if faults:
            return faults
        if media_type == "application/problem+json":
            told = value["status"], value.get("type", "about:blank"), bool(value["detail"])
            return [] if told == (status, "about:blank", True) else [f"the problem of status {status} is {value}"]
        if schema.get("x-name") in ("Answer", "AnswerOf2013"):
            return [
                f"body $.messages[{index}]: {fault}"
                for index, message in enumerate(value.get("messages", []))
                for fault in message_faults(message)
            ]
        return []


def write(path, documents):
    """Writes what the documents say together, without references. Returns what is wrong with them."""
    documents = [Document(document) for document in documents]
    faults = [f"{document.path.name}: {fault}" for document in documents for fault in document.faults()]
    if not faults:
        path.write_text(json.dumps(merged(documents)), encoding="utf-8")
    return faults
