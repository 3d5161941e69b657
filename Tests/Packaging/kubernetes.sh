#!/usr/bin/env bash
# Judges deploy/kubernetes by the published schemas of the oldest and the newest Kubernetes that are meant, and by what
# the schemas do not know: that what is named is there, and that each pod keeps to the restricted security profile.
#
#   Tests/Packaging/kubernetes.sh
#
# The schemas come with the Python package kubernetes-validate, which is installed into .build/test-kubernetes. Where
# kubectl is installed, it is asked to build the kustomization too.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly folder=deploy/kubernetes tests=Tests/Packaging place=$PWD/.build/test-kubernetes

script/bootstrap api
if ! cmp --silent "$tests/kubernetes.txt" "$place/installed.txt"; then
    rm -rf -- "$place"
    mkdir -p "$place"
    python3 -m venv "$place/python"
    "$place/python/bin/pip" install --quiet --disable-pip-version-check --require-hashes --no-deps --only-binary :all: \
        --requirement "$tests/kubernetes.txt" ||
        { printf 'kubernetes.sh: the Python packages cannot be installed; the lines above say why\n' >&2; exit 1; }
    cp "$tests/kubernetes.txt" "$place/installed.txt"
fi
readonly judge=("$place/python/bin/python" "$tests/kubernetes.py")

"${judge[@]}" "$folder"
if command -v kubectl > /dev/null; then
    built=$(kubectl kustomize "$folder" | grep -c '^kind: ')
    printf 'kubectl builds %s objects\n' "$built"
fi

# Each of these mistakes has to be found.
broken=$(mktemp -d)
trap 'rm -rf -- "$broken"' EXIT
for mistake in deployment.yaml:readOnlyRootFilesystem:readOnlyRootFileSystem deployment.yaml:'replicas. 2':'replicas: two' \
    budget.yaml:policy/v1:policy/v1beta1 migrate.yaml:'drop. .ALL.':'drop: []' service.yaml:component..server:component..web \
    deployment.yaml:key..server-database:'key: database' deployment.yaml:versiongate-server:versiongate-sever \
    kustomization.yaml:'  - network.yaml': deployment.yaml:'optional. true':'optional: false' \
    deployment.yaml:/run/brake/brake:/var/lib/versiongate/brake deployment.yaml:VERSIONGATE_BRAKE_FILE:VERSIONGATE_BREAK ; do
    IFS=: read -r file from to <<< "${mistake//../§}"
    rm -rf "$broken/kubernetes"
    cp -r "$folder" "$broken/kubernetes"
    sed -i "s#${from//§/: }#${to//§/: }#" "$broken/kubernetes/$file"
    ! cmp --silent "$folder/$file" "$broken/kubernetes/$file" || { printf 'kubernetes.sh: nothing to break: %s\n' "$mistake" >&2; exit 1; }
    if "${judge[@]}" "$broken/kubernetes" > /dev/null 2>&1; then
        printf 'kubernetes.sh: a mistake was not found: %s\n' "$mistake" >&2
        exit 1
    fi
done
printf 'Each of eleven mistakes is found\n'
