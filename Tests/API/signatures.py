"""Holds the signatures of lockouts to RFC 9421 and RFC 9530, by an implementation of somebody else.

The server has the policy of policy.yaml, and signs with a key of a file. It gets SIGHUP once there is another in it.
"""

import base64
import datetime
import hashlib
import http.client
import json
import os
import signal
import subprocess
import time

from cryptography.hazmat.primitives.serialization import load_der_public_key
from http_message_signatures import HTTPMessageVerifier, HTTPSignatureKeyResolver, InvalidSignature
from http_message_signatures.algorithms import ECDSA_P256_SHA256
from servers import BINARY

DAY = 86_400
FIELDS = ["Content-Digest", "Policy-Bundle", "Signature-Input", "Signature"]
LOCKED_OUT = {"bundle": "com.example.doto", "version": "1.0.0", "platform": "ios", "os": "17.0", "region": "JP"}
QUERY = "?" + "&".join(f"{name}={value}" for name, value in LOCKED_OUT.items())
faults = []


def expect(holds, what):
    if not holds:
        faults.append(what)


class Answer:
    """An answer as the verifier reads it."""

    def __init__(self, address, method, target, body=None, headers=None):
        host, port = address.rsplit(":", 1)
        connection = http.client.HTTPConnection(host, int(port), timeout=300)
        connection.request(method, target, body and json.dumps(body), headers or {})
        response = connection.getresponse()
        self.status_code = response.status
        self.headers = dict(response.getheaders())
        self.body = response.read()
        connection.close()

    @property
    def is_signed(self):
        return any(name in self.headers for name in FIELDS)


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
    public, key = server.public, str(key)

    def half(verb, file):
        made = subprocess.run([BINARY, "lockout-key", verb, file, "--format", "json"], check=True,
                              capture_output=True, text=True)
        return json.loads(made.stdout)

    def verify(answer, own, *others):
        expect(is_valid(answer, own), f"the signature is not valid: {answer.headers}")
        expect(is_valid(answer, *others, own), "the signature is not valid where other keys are pinned too")
        expect(not is_valid(answer, *others), "a signature is valid by the key of somebody else")

    own, stranger = half("show", key), half("new", key + ".stranger")
    der = base64.b64decode(own["public_key"])
    expect(own["key_id"] == hashlib.sha256(der).hexdigest()[:16], "the key id is not that of the public half")

    post = Answer(public, "POST", "/v1/check", LOCKED_OUT)
    expect(b'"lockout":true' in post.body, f"this is no lockout: {post.body}")
    verify(post, own, stranger)
    get = Answer(public, "GET", "/v1/check" + QUERY)
    verify(get, own, stranger)
    head = Answer(public, "HEAD", "/v1/check" + QUERY)
    expect({name: head.headers.get(name) for name in FIELDS} == {name: get.headers[name] for name in FIELDS},
           "HEAD has other fields than GET")
    known = Answer(public, "GET", "/v1/check" + QUERY, headers={"If-None-Match": get.headers["ETag"]})
    expect(known.status_code == 304, f"a signed answer that is known is answered by {known.status_code}")
    expect(get.headers["ETag"] != '"%s"' % hashlib.sha256(get.body).hexdigest()[:32],
           "a cache would keep a signature longer than it is valid")

    now = int(time.time())
    created = now - now % DAY
    expect(post.headers["Signature-Input"] in [
        f'lockout=("content-digest" "policy-bundle");created={day};expires={day + 8 * DAY};keyid="{own["key_id"]}"'
        ';alg="ecdsa-p256-sha256"' for day in (created, created - DAY)], f"this differs: {post.headers}")
    expect(post.headers["Policy-Bundle"] == "com.example.doto", f"this differs: {post.headers}")
    spelled = Answer(public, "POST", "/v1/check", {**LOCKED_OUT, "bundle": "COM.example.DOTO"})
    expect(spelled.headers.get("Policy-Bundle") == "com.example.doto", "the spelling of a client is signed")

    plain = Answer(public, "POST", "/v1/check", {**LOCKED_OUT, "version": "1.1.0"})
    for what, answer in [
        ("a message", plain), ("a gate", Answer(public, "GET", "/v1/gate" + QUERY)),
        ("an answer of 2013", Answer(public, "POST", "/tables/vLoadMessages", LOCKED_OUT)),
    ]:
        expect(answer.body and not answer.is_signed, f"{what} is signed: {answer.headers}")

    # The next key takes the place of the file; an app that has pinned both believes both.
    following = half("new", key + ".following")
    os.replace(key + ".following", key)
    server.process.send_signal(signal.SIGHUP)
    deadline = time.monotonic() + 300
    while True:
        rotated = Answer(public, "POST", "/v1/check", LOCKED_OUT)
        expect(is_valid(rotated, own, following), "a signature is not valid while the key is replaced")
        if is_valid(rotated, following) or time.monotonic() > deadline:
            break
    verify(rotated, following, own)
    expect(Answer(public, "GET", "/v1/check" + QUERY).headers["ETag"] != get.headers["ETag"],
           "a cache would keep the signature of a key that is gone")
    ready = json.loads(Answer(server.management, "GET", "/ready").body)
    expect(ready.get("lockoutKey") == following["key_id"], f"/ready names another key: {ready}")

    for fault in faults:
        print(f"Signatures: {fault}")
    print(f"Signatures of two keys by RFC 9421: {len(faults)} faults")
    return not faults
