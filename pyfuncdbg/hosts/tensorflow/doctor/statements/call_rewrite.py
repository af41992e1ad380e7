"""Rewrites of script op calls for a fix (another op, another `stateful`), with lines and comments kept.

Called by the judges of the doctor. Pure; '' for a call that cannot be rewritten.
"""
from __future__ import annotations

import ast

from pyfuncdbg.hooks.syntax_tree import tree_of
from pyfuncdbg.hosts.tensorflow.doctor.statements.script_call import ScriptCall

_Edit = tuple[int, int, str]
"""First byte, end, and new text."""


def as_py_function(call: ScriptCall) -> str:
    """The call with `py_function`, which takes no `stateful`; '' if it is no call of a script op."""
    node = _parse(call.call)
    if node is not None and _last_name(node.func) == 'py_function':
        return call.call
    if node is None or _last_name(node.func) not in ('numpy_function', 'py_func'):
        return ''
    edits = [_rename_edit(call.call, node, 'py_function')]
    arguments: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
    stateful = next((at for at, argument in enumerate(arguments) if (
        argument.arg == 'stateful' if isinstance(argument, ast.keyword) else at == 3)), None)
    if stateful == 0 and len(arguments) > 1:
        edits.append((_start(call.call, arguments[0]), _start(call.call, arguments[1]), ''))
    elif stateful:
        edits.append((_end(call.call, arguments[stateful - 1]), _end(call.call, arguments[stateful]), ''))
    return _apply_edits(call.call, edits)


def as_stateless(call: ScriptCall) -> str:
    """The call as a `numpy_function` or `py_func` with `stateful=False`; '' if that is not possible."""
    node = _parse(call.call)
    name = _last_name(node.func) if node is not None else ''
    if node is None or name not in ('numpy_function', 'py_func', 'py_function') or any(
            keyword.arg in ('stateful', None) for keyword in node.keywords):
        return ''
    edits: list[_Edit] = []
    if name == 'py_function':
        edits.append(_rename_edit(call.call, node, 'numpy_function'))
        if len(node.args) > 3:                  # its fourth is the name
            start = _start(call.call, node.args[3])
            edits.append((start, start, 'name='))
    elif len(node.args) > 3:
        return ''
    arguments: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
    end = max(_end(call.call, argument) for argument in arguments)
    return _apply_edits(call.call, [*edits, (end, end, ', stateful=False')])


def _parse(text: str) -> ast.Call | None:
    """The call in brackets: between them a line may begin at any column."""
    tree = tree_of(f'({text}\n)')
    node = tree.body[0].value if tree is not None and len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) else None
    return node if isinstance(node, ast.Call) and (node.args or node.keywords) else None


def _apply_edits(text: str, edits: list[_Edit]) -> str:
    data = text.encode()
    for start, end, new in sorted(edits, reverse=True):
        data = data[:start] + new.encode() + data[end:]
    edited = data.decode()
    return edited if _parse(edited) is not None else ''


def _rename_edit(text: str, node: ast.Call, name: str) -> _Edit:
    end = _end(text, node.func)
    old = _last_name(node.func)
    return end - len(old.encode()), end, name if isinstance(node.func, ast.Attribute) else f'tf.{name}'


def _start(text: str, node: ast.expr | ast.keyword) -> int:
    return _offset(text, node.lineno, node.col_offset)


def _end(text: str, node: ast.expr | ast.keyword) -> int:
    return _offset(text, node.end_lineno or 1, node.end_col_offset or 0)


def _offset(text: str, line: int, column: int) -> int:
    """Bytes before a position of `_parse`, whose first line has a bracket more."""
    return sum(len(each.encode()) for each in f'({text}'.splitlines(keepends=True)[:line - 1]) + column - 1


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ''
