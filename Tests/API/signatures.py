"""Holds the signatures of lockouts to RFC 9421 and RFC 9530, by an implementation of somebody else.

The server has the policy of policy.yaml, and signs with a key of a file. It gets SIGHUP once there is another in it. Which
answers are signed, and for how long, is for LockoutSignatureTests and LockoutKeyTests to say.
"""

import base64
import datetime
import json
import os
import signal
import urllib.parse

from cryptography.hazmat.primitives.serialization import load_der_public_key
from http_message_signatures import HTTPMessageVerifier, HTTPSignatureKeyResolver, InvalidSignature
from http_message_signatures.algorithms import ECDSA_P256_SHA256
from servers import BINARY, ask, run, wait

FIELDS = ["Content-Digest", "Policy-Bundle", "Signature-Input", "Signature"]
LOCKED_OUT = {"bundle": "com.example.doto", "version": "1.0.0", "platform": "ios", "os": "17.0", "region": "JP"}


class Answer:
    """An answer as the verifier reads it."""

    def __init__(self, *question):
        self.status_code, fields, self.body = ask(*question)
        self.headers = dict(fields)


class Keys(HTTPSignatureKeyResolver):
    """The public halves that an app has pinned."""

    def __init__(self, *halves):
        self.keys = {half["key_id"]: base64.b64decode(half["public_key"]) for half in halves}

    def resolve_public_key(self, key_id):
        return load_der_public_key(self.keys[key_id])


def is_valid(answer, *halves):
    """Whether somebody who has pinned these keys believes an answer."""
    verifier = HTTPMessageVerifier(signature_algorithm=ECDSA_P256_SHA256, key_resolver=Keys(*halves))
    try:
        results = verifier.verify(answer, max_age=datetime.timedelta(days=8), body=answer.body,
                                  require_components=("content-digest", "policy-bundle"))
        return len(results) == 1 and results[0].body == answer.body
    except InvalidSignature:
        return False


def judge(server, key):
    faults = []

    def expect(holds, what):
        if not holds:
            faults.append(what)

    def half(verb, file):
        return json.loads(run(BINARY, "lockout-key", verb, file, "--format", "json"))

    def post():
        return Answer(server.public, "POST", "/v1/check", json.dumps(LOCKED_OUT))

    def verify(answer, own, *others):
        expect(b'"lockout":true' in answer.body, f"this is no lockout: {answer.body}")
        expect(is_valid(answer, own), f"the signature is not valid: {answer.headers}")
        expect(is_valid(answer, *others, own), "the signature is not valid where other keys are pinned too")
        expect(not is_valid(answer, *others), "a signature is valid by the key of somebody else")

    own, stranger, following = half("show", key), half("new", f"{key}.stranger"), half("new", f"{key}.following")
    verify(post(), own, stranger)
    query = "/v1/check?" + urllib.parse.urlencode(LOCKED_OUT)
    get, head = Answer(server.public, "GET", query), Answer(server.public, "HEAD", query)
    verify(get, own, stranger)
    expect({name: head.headers.get(name) for name in FIELDS} == {name: get.headers[name] for name in FIELDS},
           "HEAD has other fields than GET")

    # The next key takes the place of the file; an app that has pinned both believes both.
    os.replace(f"{key}.following", key)
    server.process.send_signal(signal.SIGHUP)

    def is_rotated():
        answer = post()
        expect(is_valid(answer, own, following), "a signature is not valid while the key is replaced")
        return is_valid(answer, following)

    wait(is_rotated, "the server does not sign by the next key")
    verify(post(), following, own)

    for fault in faults:
        print(f"Signatures: {fault}")
    print(f"Signatures of two keys by RFC 9421: {len(faults)} faults")
    return not faults
