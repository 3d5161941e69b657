#!/usr/bin/env python3
"""Writes Clients/scenarios/signatures.json: answers that are signed, and forgeries of them.

The keys are made from small numbers, and signatures are deterministic, so that the file comes out the same each time. It
needs cryptography 43 or newer from PyPI.
"""
import base64
import email.utils
import hashlib
import json
import os

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

NOW = 1_790_000_000
DAY = 86_400
CREATED = NOW - NOW % DAY
EXPIRES = CREATED + 8 * DAY
BUNDLE = "com.example.doto"
LOCKOUT = {"id": "blocked", "title": "Blocked", "text": "Please update.", "link": "https://example.com/update"}
NEWS = {"id": "news", "title": "News", "text": "Lists."}
BODY = json.dumps({"messages": [{**LOCKOUT, "lockout": True}, NEWS]}, separators=(",", ":"))


class Key:
    def __init__(self, number, curve=ec.SECP256R1()):
        self.private = ec.derive_private_key(number, curve)
        der = self.private.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        self.public = base64.b64encode(der).decode()
        self.id = hashlib.sha256(der).hexdigest()[:16]

    def sign(self, base, der=False):
        signature = self.private.sign(base.encode(), ec.ECDSA(hashes.SHA256(), deterministic_signing=True))
        if der:
            return signature
        r, s = decode_dss_signature(signature)
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")


FIRST, SECOND, STRANGER = Key(1_790_000_001), Key(1_790_000_002), Key(1_790_000_003)


def b64(data):
    return base64.b64encode(data).decode()


def digest_of(body, name="sha-256", make=hashlib.sha256):
    return f"{name}=:{b64(make(body.encode()).digest())}:"


def signed(body=BODY, key=FIRST, bundle=BUNDLE, created=CREATED, expires=EXPIRES, keyid=None,
           alg="ecdsa-p256-sha256", components=("content-digest", "policy-bundle"), digest=None, params=None, der=False):
    """The four fields of a signed answer."""
    digest = digest or digest_of(body)
    names = " ".join(f'"{name}"' for name in components)
    params = params or f'({names});created={created};expires={expires};keyid="{keyid or key.id}";alg="{alg}"'
    values = {"content-digest": digest, "policy-bundle": bundle, "@method": "POST"}
    lines = [f'"{name}": {values[name]}' for name in components] + [f'"@signature-params": {params}']
    return {
        "content-digest": digest,
        "policy-bundle": bundle,
        "signature-input": f"lockout={params}",
        "signature": f"lockout=:{b64(key.sign(chr(10).join(lines), der))}:",
    }


def changed(**fields):
    """A signed answer of which some fields are others; None: it is missing."""
    result = signed()
    for name, value in fields.items():
        name = name.replace("_", "-")
        if value is None:
            del result[name]
        else:
            result[name] = value(result[name]) if callable(value) else value
    return result


def flipped(at):
    """Another character of the signature."""
    def flip(text):
        start = text.index(":") + 1
        other = "B" if text[start + at] == "A" else "A"
        return text[:start + at] + other + text[start + at + 1:]
    return flip


def raw(text):
    return f"lockout=:{b64(text)}:"


OTHER = BODY.replace("Please update.", "Pay me.")
# Each is a name, the fields, and where it differs the body.
FORGERIES = [
    ("no field at all", {}),
    ("no signature", changed(signature=None)),
    ("no Signature-Input", changed(signature_input=None)),
    ("no Content-Digest", changed(content_digest=None)),
    ("no Policy-Bundle", changed(policy_bundle=None)),
    ("another body", signed(), OTHER),
    ("another body with its digest", changed(content_digest=digest_of(OTHER)), OTHER),
    ("a blank behind the body", signed(), BODY + " "),
    ("the digest of another body", changed(content_digest=digest_of(OTHER))),
    ("another bundle that is signed", signed(bundle="com.example.other")),
    ("another bundle put into a signed answer", {**signed(bundle="com.example.other"), "policy-bundle": BUNDLE}),
    ("a longer bundle", signed(bundle="com.example.doto.beta")),
    ("an unknown key", signed(key=STRANGER)),
    ("an unknown key under the id of a known one", signed(key=STRANGER, keyid=FIRST.id)),
    ("a known key under the id of the other", signed(key=FIRST, keyid=SECOND.id)),
    ("the id of the key in capitals", signed(keyid=FIRST.id.upper())),
    ("a short id of the key", signed(keyid=FIRST.id[:8])),
    ("no id of the key", signed(params=f'("content-digest" "policy-bundle");created={CREATED};expires={EXPIRES};'
                                       'alg="ecdsa-p256-sha256"')),
    ("an expired signature", signed(created=CREATED - 9 * DAY, expires=NOW - 1)),
    ("a signature that expires now", signed(expires=NOW)),
    ("a signature from the day after tomorrow", signed(created=NOW + DAY + 1, expires=NOW + 9 * DAY)),
    ("a later expiry put into a signed answer", changed(signature_input=lambda t: t.replace(str(EXPIRES), str(EXPIRES + DAY)))),
    ("an earlier creation put into a signed answer",
     changed(signature_input=lambda t: t.replace(str(CREATED), str(CREATED - 1)))),
    ("no expiry", signed(params=f'("content-digest" "policy-bundle");created={CREATED};keyid="{FIRST.id}";'
                                'alg="ecdsa-p256-sha256"')),
    ("no creation", signed(params=f'("content-digest" "policy-bundle");expires={EXPIRES};keyid="{FIRST.id}";'
                                  'alg="ecdsa-p256-sha256"')),
    ("a negative creation", signed(created=-1)),
    ("an expiry that no number holds", signed(expires="9" * 400)),
    ("an expiry with a fraction", signed(expires=f"{EXPIRES}.5")),
    ("another algorithm", signed(alg="hmac-sha256")),
    ("the algorithm none", changed(signature_input=lambda t: t.replace("ecdsa-p256-sha256", "none"))),
    ("a downgraded algorithm", signed(alg="rsa-v1_5-sha256")),
    ("no algorithm", signed(params=f'("content-digest" "policy-bundle");created={CREATED};expires={EXPIRES};'
                                   f'keyid="{FIRST.id}"')),
    ("a digest by SHA-512", signed(digest=digest_of(BODY, "sha-512", hashlib.sha512))),
    ("a digest by SHA-1", signed(digest=digest_of(BODY, "sha", hashlib.sha1))),
    ("two digests", signed(digest=digest_of(BODY) + ", " + digest_of(BODY, "sha-512", hashlib.sha512))),
    ("a signature that does not cover the digest", signed(components=("policy-bundle",))),
    ("a signature that does not cover the bundle", signed(components=("content-digest",))),
    ("a signature that covers nothing", signed(components=())),
    ("a signature that covers more", signed(components=("content-digest", "policy-bundle", "@method"))),
    ("a signature in another order", signed(components=("policy-bundle", "content-digest"))),
    ("a signature in DER", signed(der=True)),
    ("a signature of zeros", changed(signature=raw(bytes(64)))),
    ("a signature of ones", changed(signature=raw(b"\xff" * 64))),
    ("an empty signature", changed(signature="lockout=::")),
    ("a short signature", changed(signature=lambda t: raw(base64.b64decode(t[9:-1])[:63]))),
    ("a long signature", changed(signature=lambda t: raw(base64.b64decode(t[9:-1]) + b"\0"))),
    ("another first byte of the signature", changed(signature=flipped(0))),
    ("another last byte of the signature", changed(signature=flipped(80))),
    ("a signature that is no base64", changed(signature="lockout=:%%%:")),
    ("a signature under another label", changed(signature=lambda t: t.replace("lockout", "sig1"))),
    ("everything under another label", changed(signature=lambda t: t.replace("lockout", "sig1"),
                                               signature_input=lambda t: t.replace("lockout", "sig1"))),
    ("two signatures, the right one last", changed(signature=lambda t: [raw(bytes(64)), t])),
    ("two signatures, the right one first", changed(signature=lambda t: [t, raw(bytes(64))])),
    ("two inputs", changed(signature_input=lambda t: [t, t])),
    ("two bundles", changed(policy_bundle=lambda t: ["com.example.other", t])),
    ("two fields of digests", changed(content_digest=lambda t: [digest_of(OTHER), t])),
    ("a tag beside the parameters", signed(params=f'("content-digest" "policy-bundle");created={CREATED};expires={EXPIRES};'
                                                  f'keyid="{FIRST.id}";alg="ecdsa-p256-sha256";tag="x"')),
]


def answer(fields, body=BODY):
    return {"answer": {"status": 200, "body": body, "headers": fields}}


def check(shows, **more):
    return {"check": {}, "asks": True, "shows": shows, **more}


def scenario(name, steps, keys=(FIRST, SECOND)):
    app = {"app": {"publicKeys": [key.public for key in keys]}} if keys else {}
    return {"name": name, "rule": "reads", **app, "steps": steps}


def dated(until, seconds=None, **more):
    """A signed answer with a lockout that ends, and with this time as its Date."""
    body = json.dumps({"messages": [{**LOCKOUT, "lockout": True, "until": until}, NEWS]}, separators=(",", ":"))
    date = {} if seconds is None else {"date": email.utils.formatdate(seconds, usegmt=True)}
    return {"answer": {**answer(signed(body, **more), body)["answer"], **date}}


def unsigned(step):
    return {"answer": {**step["answer"], "headers": {}}}


FAILS = {"answer": {"fails": "unreachable"}}
START = {"start": {}}
LOCKED = check(["blocked"], gives=[{**LOCKOUT, "lockout": True}])
OPEN = [LOCKOUT, NEWS]
ENDED = check(["news"], gives=[NEWS])


def LOCKED_FOR(left):
    return check(["blocked"], left=[left])


def both():
    """A lockout that has ended, and one without an end."""
    later = {**LOCKOUT, "id": "later", "lockout": True}
    body = json.dumps({"messages": [{**LOCKOUT, "lockout": True, "until": NOW - 2 * DAY}, later, NEWS]}, separators=(",", ":"))
    return answer(signed(body), body)


def opened(body):
    text = json.loads(body)["messages"][0]["text"]
    return check(["blocked", "news"], gives=[{**LOCKOUT, "text": text}, NEWS], reports={
        "outcome": "asked", "status": 200, "messages": 2})


SCENARIOS = [
    scenario("A lockout that is signed locks", [answer(signed()), START, LOCKED]),
    scenario("A lockout that is signed by the second key locks", [answer(signed(key=SECOND)), START, LOCKED]),
    scenario("The case of the signed bundle does not count", [answer(signed(bundle="COM.example.Doto")), START, LOCKED]),
    scenario("A lockout that is signed for tomorrow locks", [answer(signed(created=NOW + DAY)), START, LOCKED]),
    scenario("A lockout that expires in a second locks", [answer(signed(expires=NOW + 1)), START, LOCKED]),
    scenario("Without public keys a lockout needs no signature", [answer({}), START, LOCKED], keys=()),
    scenario("Without public keys a wrong signature does not matter",
             [answer(signed(key=STRANGER)), START, LOCKED], keys=()),
    scenario("With public keys a message that is no lockout needs no signature", [
        {"answer": {"messages": [NEWS]}}, START, check(["news"])]),
    scenario("A key that is given after the other signs, and the one that is gone does not", [
        answer(signed(key=SECOND)), START, check(["blocked", "news"]),
        {"start": {"publicKeys": [SECOND.public]}}, LOCKED,
        answer(signed(key=FIRST)), START, check(["blocked", "news"])], keys=(FIRST,)),
    scenario("A point that is not on the curve verifies nothing", [
        answer(signed()), {"start": {"publicKeys": [FIRST.public[:36] + "A" * 86 + "=="]}}, check(["blocked", "news"])]),
    scenario("A kept lockout holds until its signature expires", [
        answer(signed(expires=NOW + 3_600)), START, LOCKED, FAILS,
        {"advance": 3_599}, START, LOCKED, {"advance": 1}, START, check([])]),
    scenario("A kept lockout with its expiry is stored", [
        answer(signed()), START, LOCKED,
        {"stored": {"install": "*", "answer": {"at": NOW, "version": "1.0", "build": "42", "expires": EXPIRES,
                                               "lockout": LOCKOUT}}}]),
    scenario("A lockout that was kept without public keys does not lock once there are some", [
        answer({}), START, LOCKED, FAILS, {"start": {"publicKeys": [FIRST.public]}}, check([])], keys=()),
    scenario("A lockout that is not signed is not kept", [
        answer({}), START, check(["blocked", "news"]), FAILS, START, check([])]),
    scenario("A lockout that is not signed takes the place of one that is", [
        answer(signed()), START, LOCKED, answer({}), START, check(["blocked", "news"]), FAILS, START, check([])]),
    scenario("A clock that is a year behind opens", [
        {"advance": -365 * DAY}, answer(signed()), START, check(["blocked", "news"])]),
    scenario("A clock that is nine days ahead opens", [
        {"advance": 9 * DAY}, answer(signed()), START, check(["blocked", "news"])]),
    scenario("An answer that is played again after its expiry opens", [
        answer(signed()), START, LOCKED, {"advance": 8 * DAY}, START, check(["blocked", "news"])]),
    scenario("A signed lockout holds for the time left by the Date, and no longer", [
        dated(NOW + 600, NOW), START, LOCKED_FOR(600), FAILS, {"advance": 599}, START, LOCKED_FOR(1),
        {"advance": 1}, START, check([])]),
    scenario("A Date that was held back does not show a signed lockout that has ended", [
        dated(NOW - 3 * DAY, NOW - 3 * DAY - 600), START, ENDED, FAILS, START, check([])]),
    scenario("A Date that was held back for less than a day counts, as a clock may be wrong", [
        dated(NOW - DAY + 600, NOW - DAY), START, LOCKED_FOR(600)]),
    scenario("A Date that was held back for longer counts as a day before the clock", [
        dated(NOW - DAY + 600, NOW - 2 * DAY), START, LOCKED_FOR(600),
        dated(NOW - DAY + 1, NOW - 2 * DAY), START, LOCKED_FOR(1),
        dated(NOW - DAY, NOW - 2 * DAY), START, ENDED]),
    scenario("A signed lockout that is played again after it ended is not shown, for as long as it is signed", [
        dated(NOW + 600, NOW), START, LOCKED_FOR(600),
        {"advance": DAY + 599}, START, LOCKED_FOR(1), {"advance": 1}, START, ENDED,
        {"advance": 6 * DAY}, START, ENDED, {"check": {"force": True}, "asks": True, "shows": ["news"]},
        {"stored": {"install": "*"}}]),
    scenario("A clock that is behind does not take from the time left by the Date", [
        {"advance": -20_000}, dated(NOW + 600, NOW), START, LOCKED_FOR(600)]),
    scenario("A signed lockout that has ended by its Date is not shown", [
        dated(NOW, NOW), START, ENDED, dated(NOW - 1, NOW, key=SECOND), START, ENDED]),
    scenario("Without a Date a signed lockout holds by the clock", [
        dated(NOW + 1), START, LOCKED_FOR(1), {"advance": 1}, START, ENDED, dated(NOW - 5), START, ENDED]),
    scenario("A signed lockout that has ended takes the place of the one that was kept", [
        dated(NOW + 600, NOW), START, LOCKED_FOR(600), dated(NOW - 2 * DAY, NOW), START, ENDED, FAILS, START, check([])]),
    scenario("Behind a signed lockout that has ended the next one locks", [both(), START, check(["later"], left=[None])]),
    scenario("Without public keys a lockout is measured by the Date alone", [
        unsigned(dated(NOW - 3 * DAY, NOW - 3 * DAY - 600)), START, check(["blocked"], left=[600]),
        unsigned(dated(NOW - 5)), START, check(["blocked"])], keys=()),
    scenario("A lockout that is not signed is a plain message whenever it ends", [
        unsigned(dated(NOW - 3 * DAY, NOW)), START, check(["blocked", "news"])]),
]
for name, fields, *body in FORGERIES:
    text = body[0] if body else BODY
    SCENARIOS.append(scenario(f"It opens: {name}", [answer(fields, text), START, opened(text), FAILS, START, check([])]))

path = os.path.join(os.path.dirname(__file__), "../../Clients/scenarios/signatures.json")
with open(path, "w", encoding="utf-8") as file:
    file.write("[\n" + ",\n".join("  " + json.dumps(one) for one in SCENARIOS) + "\n]\n")
print(f"{len(SCENARIOS)} scenarios, {len(FORGERIES)} forgeries")
