#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the versiongate authors
"""Reads Documentation/openapi.yaml, and compares responses with it.

  Tests/API/contract.py DOCUMENT    says what is wrong with the document itself, and ends with 1 if anything is

A response has to be what the document says in every respect: the status, each header field (one that is not described
is a fault as well), the media type, and the body. Answers may grow, so the schemas allow unknown members; here each
member has to be described.
"""

import json
import sys
import xml.etree.ElementTree

import jsonschema
import openapi_spec_validator
import yaml

METHODS = ("get", "post", "put", "patch", "delete", "head", "options", "trace")

# The document does not repeat what HTTP itself says of every response.
OF_HTTP = {"connection", "content-length", "content-type", "date"}


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


class Contract:
    """The document, without references."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.source = yaml.safe_load(file)
        self.document = self._expanded(self.source)
        # Of which members of bodies were told to faults().
        self.sent = set()
        self.operations = {
            (path, method): operation
            for path, item in self.document["paths"].items()
            for method, operation in item.items()
            if method in METHODS
        }

    def _expanded(self, node):
        if isinstance(node, list):
            return [self._expanded(element) for element in node]
        if not isinstance(node, dict):
            return node
        target = {}
        if isinstance(node.get("$ref"), str):
            target = self.source
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target[part.replace("~1", "/").replace("~0", "~")]
            target = self._expanded(target)
            if node["$ref"].startswith("#/components/schemas/"):
                target["x-name"] = node["$ref"].split("/")[-1]
        return {**target, **{key: self._expanded(value) for key, value in node.items() if key != "$ref"}}

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
        return faults + self._body_faults(media_type, content[media_type]["schema"], body)

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
        faults = [f"header field {name} is there twice" for name, values in fields.items() if len(values) > 1]
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

    def _body_faults(self, media_type, schema, body):
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
        return [f"body {fault}" for fault in schema_faults(value, strict(schema))]

    def own_faults(self):
        """What is wrong with the document: by the schema of OpenAPI 3.1, and examples that contradict their schema."""
        validator = openapi_spec_validator.OpenAPIV31SpecValidator(self.source)
        faults = [f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in validator.iter_errors()]
        if faults:
            return faults
        used = set()

        def look(source, expanded, place):
            if isinstance(source, dict):
                used.update([source["$ref"]] if isinstance(source.get("$ref"), str) else [])
                for requirement in source.get("security", []):
                    used.update(f"#/components/securitySchemes/{name}" for name in requirement)
                if "schema" in expanded and "examples" in expanded:
                    for name, example in expanded["examples"].items():
                        wrong = schema_faults(example["value"], strict(expanded["schema"]))
                        faults.extend(f"{place}/examples/{name} {fault}" for fault in wrong)
                for key, value in source.items():
                    look(value, expanded.get(key), f"{place}/{key}")
            elif isinstance(source, list):
                for index, value in enumerate(source):
                    look(value, expanded[index], f"{place}/{index}")

        look(self.source, self.document, "#")
        for kind, components in self.source["components"].items():
            unused = {f"#/components/{kind}/{name}" for name in components} - used
            faults += [f"{reference} is not used" for reference in sorted(unused)]
        return faults


if __name__ == "__main__":
    found = Contract(sys.argv[1]).own_faults()
    for line in found:
        print(f"{sys.argv[1]}: {line}")
    sys.exit(1 if found else 0)
