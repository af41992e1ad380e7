"""Names that statements and expressions of a function read and bind, for its conversion.

A symbol is a name, or a chain of attributes and simple subscripts that begins with one, as text: `x`, `self.w`, `d['a']`.
"""
from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

from pyfuncdbg.hosts.numpy.runtime.autograph.source import parameters

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def symbol(node: ast.AST) -> str | None:
    """The text of a symbol, None for other expressions."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = symbol(node.value)
        return None if inner is None else f'{inner}.{node.attr}'
    if isinstance(node, ast.Subscript) and (isinstance(node.slice, ast.Name) or (
            isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, (int, str)))):
        inner = symbol(node.value)
        return None if inner is None else f'{inner}[{ast.unparse(node.slice)}]'
    return None


class UsedNames(ast.NodeVisitor):
    """Names that some nodes of one function read and bind.

    Attributes:
        bound: Simple names that are assigned or deleted.
        written: Composite symbols that are assigned, with an assigning node.
        read: Symbols that are read, also by nested functions.
        functions: For nested functions: the outer variables that they read.
        outside: Names declared global, and those declared nonlocal.
    """

    def __init__(self, nodes: Iterable[ast.AST] = ()) -> None:
        self.bound: set[str] = set()
        self.written: dict[str, ast.Attribute | ast.Subscript] = {}
        self.read: set[str] = set()
        self.functions: dict[str, set[str]] = {}
        self.outside: tuple[set[str], set[str]] = set(), set()
        for node in nodes:
            self.visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.read.add(node.id)
        else:
            self.bound.add(node.id)

    def _visit_composite(self, node: Any) -> None:
        text = symbol(node)
        if text is not None:
            if isinstance(node.ctx, ast.Load):
                self.read.add(text)
            else:
                self.written[text] = node
        self.generic_visit(node)

    visit_Attribute = visit_Subscript = _visit_composite  # noqa: N815

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        text = symbol(node.target)
        if text is not None:
            self.read.add(text)
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        self.outside[0].update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.outside[1].update(node.names)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.bound.add(node.name)
        self.generic_visit(node)

    def visit_alias(self, node: ast.alias) -> None:
        self.bound.add(node.asname or node.name.split('.')[0])

    def _visit_capture(self, node: Any) -> None:
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        if name:
            self.bound.add(name)
        self.generic_visit(node)

    visit_MatchAs = visit_MatchStar = visit_MatchMapping = _visit_capture  # noqa: N815

    # ------------------------------------------------------------------ scopes of their own
    def _visit_function(self, node: Any) -> None:
        self.bound.add(node.name)
        self._visit_around(node)
        inner = free(node)
        self.read |= inner
        self.functions[node.name] = inner

    visit_FunctionDef = visit_AsyncFunctionDef = _visit_function  # noqa: N815

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_around(node)
        self.read |= free(node)

    def _visit_around(self, node: Any) -> None:
        """Visit the parts of a function definition that are evaluated at the definition."""
        for part in (*getattr(node, 'decorator_list', ()), *node.args.defaults, *node.args.kw_defaults):
            if part is not None:
                self.visit(part)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.bound.add(node.name)
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        self.read |= UsedNames(node.body).read

    def _visit_comprehension(self, node: Any) -> None:
        targets: set[str] = set()
        for generator in node.generators:
            targets |= UsedNames([generator.target]).bound
        inner = UsedNames(ast.iter_child_nodes(node))
        self.read |= inner.read - targets
        self.bound |= inner.bound - targets         # a walrus

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension  # noqa: N815


def free(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """The symbols that a function reads or binds outside of itself."""
    inner = UsedNames(node.body if not isinstance(node, ast.Lambda) else [node.body])
    bound_names = {argument.arg for argument in parameters(node.args)} | (inner.bound - inner.outside[0] - inner.outside[1])
    return {name for name in inner.read | inner.outside[1] if root(name) not in bound_names}


def root(text: str) -> str:
    """The name that a symbol begins with."""
    return text.partition('.')[0].partition('[')[0]


def support(node: ast.Attribute | ast.Subscript) -> set[str]:
    """The symbols that must have a value for access to a composite one."""
    symbols = set()
    inner: ast.AST = node
    while isinstance(inner, (ast.Attribute, ast.Subscript)):
        if isinstance(inner, ast.Subscript) and isinstance(inner.slice, ast.Name):
            symbols.add(inner.slice.id)
        inner = inner.value
        text = symbol(inner)
        if text is not None:
            symbols.add(text)
    return symbols


def fresh(prefix: str, used_names: set[str]) -> str:
    """A new name with this prefix; adds it to the used names."""
    name, number = prefix, 0
    while name in used_names:
        number += 1
        name = f'{prefix}_{number}'
    used_names.add(name)
    return name


def all_names(nodes: Sequence[ast.AST]) -> set[str]:
    """Every identifier in some trees."""
    names: set[str] = set()
    for node in nodes:
        for inner in ast.walk(node):
            for field in ('id', 'arg', 'name', 'asname', 'rest'):
                value = getattr(inner, field, None)
                if isinstance(value, str):
                    names.add(value)
            if isinstance(inner, (ast.Global, ast.Nonlocal)):
                names.update(inner.names)
    return names
