"""Name mangling (`__x`) as the compiler does it, for a function compiled outside of its class."""
from __future__ import annotations

import ast
from typing import Any

from pyfuncdbg.hosts.numpy.runtime.autograph.source import mangled

_FIELDS = ('id', 'attr', 'arg', 'name', 'asname')


class NameMangler(ast.NodeTransformer):
    """Name mangler; inside of a class defined there it stops, for the compiler does it."""

    def __init__(self, owner: str) -> None:
        self._owner = owner

    def visit(self, node: ast.AST) -> Any:
        if not self._owner:
            return node
        for field in _FIELDS:
            name = getattr(node, field, None)
            if isinstance(name, str):
                setattr(node, field, mangled(name, self._owner))
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            node.names = [mangled(name, self._owner) for name in node.names]
        return node if isinstance(node, ast.ClassDef) else self.generic_visit(node)
