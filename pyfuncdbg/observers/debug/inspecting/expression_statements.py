"""Display of the values of expression statements, as an interactive interpreter displays them.

`compile` in the mode 'single' would display by `sys.displayhook`, which belongs to the program and to all of its threads.
"""
from __future__ import annotations

import ast

DISPLAY = '<display>'
"""The name that the statement calls with a value: no name of a program."""
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def displaying(tree: ast.Module) -> ast.Module:
    """Have the values of the expression statements displayed, also of those in blocks; not those in functions and classes.

    Args:
        tree: Typed statements. It is changed.

    Returns:
        The same tree.
    """
    pending: list[ast.AST] = [tree]
    while pending:
        block = pending.pop()
        for statement in ast.iter_child_nodes(block):
            if isinstance(statement, ast.Expr):
                called = ast.Call(ast.Name(DISPLAY, ast.Load()), [statement.value], [])
                statement.value = ast.fix_missing_locations(ast.copy_location(called, statement.value))
            elif isinstance(statement, ast.stmt | ast.excepthandler | ast.match_case) and not isinstance(statement, _SCOPES):
                pending.append(statement)
    return tree
