#!/usr/bin/env python3
"""Prints what the server is built from, as a software bill of materials in CycloneDX 1.5: each package that this one
depends on, directly or not, in the version that a build uses now.

sbom.py VERSION > versiongate.cdx.json
"""

import json
import subprocess
import sys
import urllib.parse


def reference(package):
    address = urllib.parse.urlsplit(package["url"])
    path = (address.netloc + address.path).removesuffix(".git")
    return "pkg:swift/" + path + "@" + package["version"]


def collect(package):
    found[reference(package)] = package
    for dependency in package["dependencies"]:
        collect(dependency)


# Something may stand before the document, such as what was fetched.
command = ["swift", "package", "show-dependencies", "--format", "json"]
text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
root = json.loads(text[text.index("{") :])
found = {}
for dependency in root["dependencies"]:
    collect(dependency)
name = root["name"]
document = {
    "bomFormat": "CycloneDX",
    "specVersion": "1.5",
    "version": 1,
    "metadata": {"component": {"type": "application", "bom-ref": name, "name": name, "version": sys.argv[1]}},
    "components": [
        {
            "type": "library",
            "bom-ref": key,
            "name": package["name"],
            "version": package["version"],
            "purl": key,
            "externalReferences": [{"type": "vcs", "url": package["url"]}],
        }
        for key, package in sorted(found.items())
    ],
    "dependencies": [{"ref": name, "dependsOn": sorted(map(reference, root["dependencies"]))}]
    + [
        {"ref": key, "dependsOn": sorted(map(reference, package["dependencies"]))}
        for key, package in sorted(found.items())
    ],
}
json.dump(document, sys.stdout, indent=2)
print()
