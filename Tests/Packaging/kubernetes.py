"""Judges the folder of a kustomization by the schemas of Kubernetes, and what these do not know.

kubernetes.py FOLDER [CLUSTER]: the cluster is one of CloudNativePG, for what is in the folder.
"""

import pathlib
import re
import sys

import kubernetes_validate
import yaml

VERSIONS = ["1.25", "1.37"]


def main(folder, cluster=None):
    faults = []
    names = yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]
    files = {path.name for path in folder.glob("*.yaml")} - {"kustomization.yaml"}
    faults += [f"kustomization.yaml does not name {name}" for name in sorted(files - set(names))]
    faults += [f"there is no {name}" for name in sorted(set(names) - files)]
    objects = [
        (name, item) for name in sorted(files) for item in yaml.safe_load_all((folder / name).read_text()) if item
    ]
    for name, item in objects:
        for version in VERSIONS:
            try:
                kubernetes_validate.validate(item, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                faults.append(f"{name}: {item['kind']}: Kubernetes {version}: {error.message[:200]}")
            except Exception as error:  # a kind that the version does not have
                faults.append(f"{name}: {item.get('kind')}: Kubernetes {version}: {error}")
    if not faults:
        faults = references(objects) + (database(cluster, objects) if cluster else [])
    for fault in faults:
        print(f"{folder.name}: {fault}", file=sys.stderr)
    if not faults:
        print(f"{len(objects)} objects are right for Kubernetes {' and '.join(VERSIONS)}")
    return 1 if faults else 0


KINDS = {
    "string": lambda value: type(value) is str, "integer": lambda value: type(value) is int,
    "boolean": lambda value: type(value) is bool, "count": lambda value: type(value) is int and value > 0,
}


def shape_faults(value, shape, place="$"):
    """What is wrong with a value by its shape: a map of shapes, a list with one for all, a kind, or a pattern."""
    if isinstance(shape, dict) and isinstance(value, dict):
        for name in value.keys() ^ shape.keys():
            yield f"{place}.{name} is only {'here' if name in value else 'in the shape'}"
        for name in value.keys() & shape.keys():
            yield from shape_faults(value[name], shape[name], f"{place}.{name}")
    elif isinstance(shape, list) and isinstance(value, list):
        for index, element in enumerate(value):
            yield from shape_faults(element, shape[0], f"{place}[{index}]")
    elif not (KINDS[shape](value) if shape in KINDS else type(value) is str and re.fullmatch(shape, value)):
        yield f"{place} is {value!r}, and not {shape}"


def database(path, objects):
    """A database of CloudNativePG, by a shape of our own: its schema comes with the operator."""
    cluster = yaml.safe_load(path.read_text())
    shape = yaml.safe_load(pathlib.Path(__file__).with_name("cloudnative-pg.yaml").read_text())
    if faults := [f"{path.name}: {fault}" for fault in shape_faults(cluster, shape)]:
        return faults
    users = {item["metadata"]["name"]: item["stringData"].get("username") for _, item in objects if item["kind"] == "Secret"}
    start = cluster["spec"]["bootstrap"]["initdb"]
    logins = [(start["owner"], start["secret"]["name"])]
    logins += [(role["name"], role["passwordSecret"]["name"]) for role in cluster["spec"]["managed"]["roles"]]
    return [f"{path.name}: the Secret {secret} is not of {user}" for user, secret in logins if users.get(secret) != user]


def references(objects):
    """What the schemas do not know."""
    faults = []
    keys = {
        (item["kind"], item["metadata"]["name"]): set(item.get("data", {})) | set(item.get("stringData", {}))
        for _, item in objects
    }
    pods = [(name, item["spec"]["template"]) for name, item in objects if "template" in item.get("spec", {})]
    labels = [template["metadata"]["labels"] for _, template in pods]

    def selects(name, selector):
        if not any(selector.items() <= each.items() for each in labels):
            faults.append(f"{name}: no pod has the labels {selector}")

    for name, item in objects:
        spec = item.get("spec", {})
        if item["kind"] == "Service":
            selects(name, spec["selector"])
            ports = {port["name"] for _, template in pods for port in template["spec"]["containers"][0].get("ports", [])}
            faults += [f"{name}: no port {port['targetPort']}" for port in spec["ports"] if port["targetPort"] not in ports]
        for selector in (spec.get("selector"), spec.get("podSelector")):
            if selector and "matchLabels" in selector:
                selects(name, selector["matchLabels"])
    for name, template in pods:
        pod = template["spec"]
        if not pod["securityContext"].get("runAsNonRoot"):
            faults.append(f"{name}: the pod may run as root")
        if pod["securityContext"].get("seccompProfile", {}).get("type") != "RuntimeDefault":
            faults.append(f"{name}: the pod has no seccomp profile")
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        secrets = [volume["secret"]["secretName"] for volume in volumes.values() if "secret" in volume]
        faults += [f"{name}: there is no Secret {secret}" for secret in secrets if ("Secret", secret) not in keys]
        for container in pod["containers"]:
            security = container["securityContext"]
            if security.get("allowPrivilegeEscalation") is not False or not security.get("readOnlyRootFilesystem"):
                faults.append(f"{name}: {container['name']} may become more than it is, or write into its image")
            if security.get("capabilities", {}).get("drop") != ["ALL"]:
                faults.append(f"{name}: {container['name']} keeps capabilities")
            named = {variable["name"] for variable in container["env"]}
            if "VERSIONGATE_STATE_DIR" in named and "VERSIONGATE_BRAKE_FILE" not in named:
                faults.append(f"{name}: the brake of each pod is its own, and ends with it")
            mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
            faults += [f"{name}: there is no volume {mount}" for mount in mounts if mount not in volumes]
            for variable in container["env"]:
                reference = variable.get("valueFrom", {}).get("configMapKeyRef")
                if reference and reference["key"] not in keys.get(("ConfigMap", reference["name"]), ()):
                    faults.append(f"{name}: {variable['name']}: no key {reference['key']} of {reference['name']}")
                path = variable.get("value", "")
                if variable["name"] == "VERSIONGATE_BRAKE_FILE":
                    brakes = [
                        mount for mount, place in mounts.items()
                        if path.rsplit("/", 1)[0] == place and volumes[mount].get("configMap", {}).get("optional")
                    ]
                    # A subPath would never change.
                    if not brakes or any("subPath" in mount for mount in container["volumeMounts"]):
                        faults.append(f"{name}: the brake {path} is in no ConfigMap that may be missing")
                elif variable["name"].endswith("_FILE"):
                    found = [
                        volume["secret"]["secretName"] for mount, place in mounts.items()
                        if "secret" in (volume := volumes[mount]) and path.startswith(place + "/")
                    ]
                    if not found or path.rsplit("/", 1)[1] not in keys.get(("Secret", found[0]), ()):
                        faults.append(f"{name}: {variable['name']}: {path} is in no Secret")
    return faults


sys.exit(main(*map(pathlib.Path, sys.argv[1:])))
