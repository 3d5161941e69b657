#!/usr/bin/env bash
# Reads deploy/recipes: the workflow by its schema and by zizmor, the others by grammars of their languages, and by ruby
# where it is installed. Each calls `release add --min-os --if-absent`.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."

programs=$(Tests/Packaging/python.sh)
"$programs/check-jsonschema" --quiet --builtin-schema vendor.github-workflows deploy/recipes/github-actions.yml
"$programs/zizmor" --offline --quiet --no-progress --pedantic --config .github/zizmor.yml deploy/recipes/github-actions.yml
"$programs/python" - << 'PYTHON'
import pathlib
import sys

import tree_sitter
import tree_sitter_kotlin
import tree_sitter_ruby

recipes = pathlib.Path("deploy/recipes")
for name, grammar in [("Fastfile", tree_sitter_ruby), ("play-publisher.gradle.kts", tree_sitter_kotlin)]:
    parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
    text = (recipes / name).read_bytes()
    if parser.parse(text).root_node.has_error:
        sys.exit(f"deploy/recipes/{name} cannot be read")
    # The grammars find what is wrong: a line that is cut makes an error.
    if not parser.parse(text[: text.rindex(b'"--if-absent"')]).root_node.has_error:
        sys.exit(f"the grammar for deploy/recipes/{name} finds no fault")
PYTHON
! command -v ruby > /dev/null || ruby -c deploy/recipes/Fastfile
for recipe in github-actions.yml Fastfile play-publisher.gradle.kts; do
    tr -s '", \n' ' ' < "deploy/recipes/$recipe" | grep -qE 'release add .*--min-os .*--if-absent' ||
        { printf 'deploy/recipes/%s does not call release add --min-os --if-absent\n' "$recipe" >&2; exit 1; }
done
