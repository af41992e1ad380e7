"""Insertion points of tests: the statement that a file's line means, and the lambdas whose bodies are on it.

Pure functions over a syntax tree; `source` calls them.
"""
from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = tuple[ast.AST, ...]
"""The functions, classes and lambdas around something, outermost first."""


@dataclass(frozen=True, slots=True)
class InsertionPoint:
    """Place of a test in the syntax tree.

    Attributes:
        node: The statement, or the lambda.
        body: The list that the statement is in; empty for a lambda.
        scope: What is around it; of a lambda, with itself.
        start, end: Lines on which it can be meant: of a statement, those of its head.
        at_top: Whether it is a statement of the module itself, in no block.
        begins: Whether the beginning of its function is meant, and not the statement each time it is come to.
    """

    node: ast.stmt | ast.Lambda
    body: list[ast.stmt]
    scope: Scope
    start: int
    end: int
    at_top: bool = False
    begins: bool = False

    @property
    def line(self) -> int:
        """The line at which a tracer would see it."""
        return self.node.body.lineno if isinstance(self.node, ast.Lambda) else self.node.lineno

    @property
    def function(self) -> Function | ast.Lambda | None:
        """The innermost function around it, None at module level."""
        return next((node for node in reversed(self.scope) if isinstance(node, Function | ast.Lambda)), None)

    @property
    def owner(self) -> str:
        """The innermost class around it, '' if none: `__x` is spelled with its name."""
        return next((node.name for node in reversed(self.scope) if isinstance(node, ast.ClassDef)), '')


def insertion_points(statement: ast.stmt, module: list[ast.stmt]) -> list[InsertionPoint]:
    """All that can be meant within one top-level statement of a module, in the order of the text."""
    return list(_statement_spots(statement, module, (), True))


def find(candidates: list[InsertionPoint], line: int) -> list[InsertionPoint]:
    """The insertion points for a line: a statement, lambdas, or both; nothing if no code comes on or after the line
    there."""
    lambdas = [spot for spot in candidates if isinstance(spot.node, ast.Lambda) and spot.start <= line <= spot.end]
    statements = [spot for spot in candidates if not isinstance(spot.node, ast.Lambda) and has_code(spot)]
    begun = [spot for spot in statements if spot.start == line]
    if begun:
        return _in_functions([begun[0], *lambdas], candidates)
    if lambdas:
        return [lambdas[-1]]                    # a line of its own: the innermost
    around = [spot for spot in statements if spot.start <= line <= spot.end]
    if around:
        return _in_functions([around[-1]], candidates)
    return _in_functions(_next(statements, line), candidates)


def function_beginnings(candidates: list[InsertionPoint], name: str) -> list[InsertionPoint]:
    """The first statements of the functions of a name, or of a qualified name such as 'Net.forward'."""
    points: list[InsertionPoint] = []
    for spot in candidates:
        if isinstance(spot.node, Function) and name in names_in((*spot.scope, spot.node)):
            inside = (*spot.scope, spot.node)
            points += [replace(first, begins=True) for first in candidates if first.scope == inside and has_code(first)][:1]
    return points


def names_in(scope: Scope) -> tuple[str, str]:
    """The name of the innermost function and its qualified one."""
    return scope[-1].name, qualified_name(scope)  # type: ignore[attr-defined]


def qualified_name(scope: Scope) -> str:
    """'Net.forward.<locals>.<lambda>'."""
    parts: list[str] = []
    for index, node in enumerate(scope):
        parts.append('<lambda>' if isinstance(node, ast.Lambda) else node.name)        # type: ignore[attr-defined]
        if index + 1 < len(scope) and not isinstance(node, ast.ClassDef):
            parts.append('<locals>')
    return '.'.join(parts)


def _next(statements: list[InsertionPoint], line: int) -> list[InsertionPoint]:
    """The next statement with code after the line, of the same function or of a class in it; of a module or its classes
    the next one that is no definition: what runs at that is no part of the text around the line."""
    holders = [spot for spot in statements if isinstance(spot.node, Function | ast.ClassDef)
               and spot.start <= line <= (spot.node.end_lineno or 0)]
    around = (*holders[-1].scope, holders[-1].node) if holders else ()
    following = [spot for spot in statements if spot.start > line and spot.scope[:len(around)] == around][:1]
    if not any(isinstance(node, Function) for node in around):
        return [spot for spot in following if not isinstance(spot.node, Function | ast.ClassDef)]
    return following


def _in_functions(points: list[InsertionPoint], candidates: list[InsertionPoint]) -> list[InsertionPoint]:
    """Heads of functions at module level mean the first statement inside: the `def` itself has run long ago."""
    result: list[InsertionPoint] = []
    for spot in points:
        if spot.function is None and isinstance(spot.node, Function):
            inside = (*spot.scope, spot.node)
            result += [replace(first, start=first.node.lineno) for first in candidates
                       if first.scope == inside and has_code(first)][:1]
        else:
            result.append(spot)
    return result


def has_code(spot: InsertionPoint) -> bool:
    """Whether anything is done there: not for docstrings and declarations."""
    node = spot.node
    if isinstance(node, ast.Global | ast.Nonlocal) or (isinstance(node, ast.ImportFrom) and node.module == '__future__'):
        return False
    if isinstance(node, ast.AnnAssign) and node.value is None and isinstance(node.target, ast.Name):
        return False
    return not (_has_docstring(spot) and spot.body[0] is node and isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str))


def _has_docstring(spot: InsertionPoint) -> bool:
    """Whether the list that a statement is in begins with a docstring, if with a string."""
    owner = spot.scope[-1] if spot.scope else None
    return spot.at_top or (isinstance(owner, Function | ast.ClassDef) and owner.body is spot.body)


def _statement_spots(node: ast.stmt, body: list[ast.stmt], scope: Scope, at_top: bool = False) -> Iterator[InsertionPoint]:
    blocks = list(_blocks(node))
    inside = {id(child) for block in blocks for child in block}
    heads = [child for child in _heads(node) if id(child) not in inside]
    start = min([node.lineno, *(decorator.lineno for decorator in getattr(node, 'decorator_list', []))])
    end = (node.end_lineno or node.lineno) if not blocks else max(
        [node.lineno, *(getattr(child, 'end_lineno', None) or 0 for child in heads)])
    yield InsertionPoint(node, body, scope, start, end, at_top)
    for child in heads:
        yield from _lambda_spots(child, scope)
    inner = (*scope, node) if isinstance(node, Function | ast.ClassDef) else scope
    for block in blocks:
        for child in block:
            yield from _statement_spots(child, block, inner)


def _heads(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement's own head; handlers and cases are taken apart, for their statements are no heads."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ExceptHandler):
            continue                            # its line is run only when something was raised
        if isinstance(child, ast.match_case):
            continue
        yield child


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ('body', 'handlers', 'cases', 'orelse', 'finalbody'):
        for_name = getattr(node, name, None)
        if not isinstance(for_name, list) or not for_name:
            continue
        if isinstance(for_name[0], ast.stmt):
            yield for_name
        else:
            for part in for_name:
                yield from _blocks(part)


def _lambda_spots(node: ast.AST, scope: Scope) -> Iterator[InsertionPoint]:
    if isinstance(node, ast.Lambda):
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                yield from _lambda_spots(default, scope)
        inner = (*scope, node)
        yield InsertionPoint(node, [], inner, node.body.lineno, node.body.end_lineno or node.body.lineno)
        yield from _lambda_spots(node.body, inner)
        return
    for child in ast.iter_child_nodes(node):
        yield from _lambda_spots(child, scope)
