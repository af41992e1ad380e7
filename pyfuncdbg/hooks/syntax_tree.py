"""Syntax trees of recorded source text; None for hostile text that the parser or recursion would fail on.

Judges and views ask, on any thread; nothing is compiled or executed.
"""
from __future__ import annotations

import ast

_DEEPEST = 100
"""Levels of a tree. Python's parser allows some 3,000 and `ast.unparse` fails from 330 on; programs have 10 to 30."""


def tree_of(text: str) -> ast.Module | None:
    """The tree of a text, None if it has none, as a lambda cut out of its statement has, or if it is too deep."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    level: list[ast.AST] = [tree]
    for _ in range(_DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return tree
    return None
