"""Tests that the OpenAPI documents and a server say the same; script/test-web has the options."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

import contract
import generated
import probes
import signatures
from servers import BINARY, REPOSITORY, run, servers, wait

HERE = pathlib.Path(__file__).parent
PUBLIC = REPOSITORY / "Documentation" / "openapi.yaml"
DOCUMENTS = PUBLIC, PUBLIC.with_name("openapi-server.yaml")


def random_requests(described, folder, main, arguments):
    """Lets schemathesis ask. Returns how many requests it made, and whether each was answered as described."""
    choices = sum(bool(one["parameters"]) or "requestBody" in one for one in described.operations.values())
    variables = {
        "API_HOOKS": str(HERE / "checks.py"), "API_CONTRACT": str(folder / "contract.json"),
        "API_ANSWERED": str(folder / "answered.json"), "API_MANAGEMENT_URL": f"http://{main.management}",
        "PYTHONPATH": str(HERE),
    }
    report = folder / "report.json"
    # So many of each operation that has something to choose, beside those of the bounds of each member.
    asked = subprocess.run(
        [pathlib.Path(sys.executable).with_name("schemathesis"), "--config-file", HERE / "schemathesis.toml", "run"]
        + [folder / "contract.json", "--url", f"http://{main.public}", "--seed", str(arguments.seed)]
        + ["--max-examples", str(arguments.cases // choices + 1), "--report", "json", "--report-json-path", report],
        cwd=folder, env=os.environ | variables, check=False,
    )
    return json.loads(report.read_text())["test_cases"]["generated"], asked.returncode == 0


def main():
    parser = argparse.ArgumentParser(prog="script/test-web api")
    parser.add_argument("--cases", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--generators", action="store_true")
    arguments = parser.parse_args()
    with servers() as (folder, serve):
        if faults := contract.write(folder / "contract.json", DOCUMENTS):
            sys.exit("\n".join(faults))
        described = contract.Contract(folder / "contract.json")
        key = folder / "lockout-key.pem"
        run(BINARY, "lockout-key", "new", key)
        server = serve("main", "--count-interval", "1", "--lockout-key", key, "--release-tokens")
        server.run("apply", "--yes", HERE / "policy.yaml")
        nobody = {"bundle": "com.example.nobody", "platform": "ios", "version": "1"}
        wait(lambda: server.check(nobody)["messages"], "the server does not follow the policy")
        bare = serve("bare", "--rate-limit", "1:1", "--release-tokens",
                     DATABASE_URL="postgresql://127.0.0.1:1/nothing?connect_timeout=2")
        is_right = [signatures.judge(server, key), generated.judge(PUBLIC, f"http://{server.public}", folder)]
        if arguments.generators:
            is_right += generated.by_others(PUBLIC, folder)
        made, is_described = random_requests(described, folder, server, arguments)
        is_right += [is_described, probes.judge(described, folder / "answered.json", server, bare)]
        if made < arguments.cases:
            is_right.append(False)
            print(f"Only {made} of {arguments.cases} requests were made by chance.")
        print(f"\n{len(described.operations)} operations were asked {made} times by chance: "
              f"{'as described' if all(is_right) else 'NOT as described'}. "
              f"To repeat: script/test-web api --seed {arguments.seed} --cases {arguments.cases}")
    return 0 if all(is_right) else 1


if __name__ == "__main__":
    sys.exit(main())
