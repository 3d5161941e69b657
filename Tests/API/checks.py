"""What schemathesis checks beside its own checks, and where the contract is wider than these; see schemathesis.toml."""

import atexit
import json
import os

import schemathesis
from contract import Contract, schema_faults
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.core.parameters import ParameterLocation

contract = Contract(os.environ["API_CONTRACT"])
answered = set()


@schemathesis.check
def as_described(ctx, response, case):
    """The response is what the documents say in every respect, also to methods and media types that are not served."""
    path, method = case.operation.path, case.operation.method
    headers = [(name, value) for name, values in response.headers.items() for value in values]
    to_head = response.request.method == "HEAD"
    faults = contract.faults(path, method, response.status_code, headers, response.content, to_head=to_head)
    assert not faults, "; ".join(faults)
    answered.add((path, method.lower(), response.status_code))


@schemathesis.hook
def before_init_operation(context, operation):
    """Asks the management listener for what is its own; schemathesis knows one address."""
    if "management" in operation.tags:
        operation.base_url = os.environ["API_MANAGEMENT_URL"]


@schemathesis.hook
def filter_case(context, case):
    """Leaves out what JSON Schema cannot tell from what is valid: a bundle is bounded in bytes, not in characters."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return True
    members = case.body if isinstance(case.body, dict) else case.query or {}
    bundle = str(members.get("bundle", ""))
    return len(bundle) > 255 or len(bundle.encode()) <= 255


def is_check(case):
    """Whether the body is a check in words: the description of the body has one type for each member."""
    if not isinstance(case.body, dict):
        return False
    numbers = {name for name in ("version", "build", "os") if type(case.body.get(name)) in (int, float)}
    members = {
        name: str(value) if name in numbers else value
        for name, value in case.body.items()
        if value is not None and name != "channel"
    }
    return not schema_faults(members, contract.check)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Lets feeds and gates answer to a query or a field that is wrong, as they must: nobody is refused for one.

    What they answer is checked all the same, and a path or a body that is wrong is refused. Of a check too, whatever is
    generated for the attributes is sent as names and texts, which cannot be wrong.
    """
    if not isinstance(failure, AcceptedNegativeData):
        return True
    if not {"feeds", "gate"} & set(case.operation.tags):
        mutations = getattr(case.meta.phase.data, "mutations", [])
        return {mutation.parameter for mutation in mutations} != {"attributes"} and not is_check(case)
    return any(
        component.mode.is_negative
        for location, component in case.meta.components.items()
        if location not in (ParameterLocation.QUERY, ParameterLocation.HEADER)
    )


@atexit.register
def write_answered():
    with open(os.environ["API_ANSWERED"], "w", encoding="utf-8") as file:
        json.dump({"answered": sorted(answered), "sent": sorted(contract.sent)}, file)
