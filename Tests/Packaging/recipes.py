"""Reads the recipes of deploy/recipes that are no YAML, by the grammars of their languages."""

import pathlib
import sys

import tree_sitter
import tree_sitter_kotlin
import tree_sitter_ruby

for name, grammar in [("Fastfile", tree_sitter_ruby), ("play-publisher.gradle.kts", tree_sitter_kotlin)]:
    text = pathlib.Path("deploy/recipes", name).read_bytes()
    if tree_sitter.Parser(tree_sitter.Language(grammar.language())).parse(text).root_node.has_error:
        sys.exit(f"deploy/recipes/{name} cannot be read")
