"""Parsed statement of the program that makes a script op, for writing a fix.

Called by the judges of the doctor, with texts from the trace. Nothing is executed.
"""
from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache

from pyfuncdbg.hooks.diagnosis import LAMBDA, Evidence, Place, Spot
from pyfuncdbg.hooks.syntax_tree import tree_of

_SCRIPTS = ('py_function', 'numpy_function', 'py_func')


@dataclass(frozen=True, slots=True)
class ScriptCall:
    """A call of a script op in a statement.

    Attributes:
        statement: The whole text.
        targets: Names that get the outputs; () where it is not assigned to names.
        unpacked: Whether the targets take the list of outputs apart.
        call: Text of the call, such as 'tf.py_function(f, [x], tf.float32)'.
        op: 'tf.py_function'.
        function: Text of the function.
        inputs: Texts of the inputs; None if they are no list.
        rest: Texts of the other arguments.
    """

    statement: str
    targets: tuple[str, ...]
    unpacked: bool
    call: str
    op: str
    function: str
    inputs: tuple[str, ...] | None
    rest: tuple[str, ...]


_parse = lru_cache(maxsize=64)(tree_of)


def call_at(evidence: Evidence, place: Place, function: str = '') -> ScriptCall | None:
    """The call of a script op at a place; of several in its statement that of the function."""
    text = evidence.statement(place)
    return script_call(text, function.rpartition('.')[2]) if text else None


def call_of(evidence: Evidence, spot: Spot) -> ScriptCall | None:
    """The call that made a spot's nodes; of several lambdas in one line the one at its column."""
    name = spot.site.function.rpartition('.')[2]
    if name != LAMBDA:
        return call_at(evidence, spot.place, name)
    columns = sorted({other.column for other in evidence.spots if other.place == spot.place and other.column})
    text = evidence.statement(spot.place)
    return script_call(text, name, columns.index(spot.column) if spot.column else -1, len(columns)) if text else None


def script_call(statement: str, function: str = '', at: int = -1, among: int = 0) -> ScriptCall | None:
    """The call of a script op in a statement; None if there is none, or several and the right one is unknown.

    Args:
        statement: Its text.
        function: Name of the function that it calls; one that is a script op by its decorator is called itself.
        at, among: Index of the lambda, and number of lambdas seen at the place; -1 if unknown.
    """
    tree = _parse(statement) or _parse(f'{statement}\n    pass')
    if tree is None or not tree.body:
        return None
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _last_name(node.func) in _SCRIPTS]
    if not calls:
        return _decorated_call(statement, tree, function)
    call = calls[0] if len(calls) == 1 else _one_of(calls, function, at, among)
    function_node = _argument(call, 0, 'func') if call is not None else None
    inputs = _argument(call, 1, 'inp') if call is not None else None
    if call is None or function_node is None or inputs is None:
        return None
    def text(node: ast.AST) -> str:
        return _text(statement, node)
    targets, several = _targets(statement, tree, call)
    listed = tuple(text(item) for item in inputs.elts) if isinstance(inputs, ast.List | ast.Tuple) else None
    rest = [text(argument) for argument in call.args[2:]]
    rest += [f'{keyword.arg}={text(keyword.value)}' for keyword in call.keywords if keyword.arg not in ('func', 'inp', None)]
    return ScriptCall(statement, targets, several, text(call), text(call.func), text(function_node), listed, tuple(rest))


def _one_of(calls: list[ast.Call], function: str, at: int, among: int) -> ast.Call | None:
    """The call of a function among several calls of script ops."""
    functions = [_argument(call, 0, 'func') for call in calls]
    if function == LAMBDA:
        lambdas = [call for call, called in zip(calls, functions, strict=True) if isinstance(called, ast.Lambda)]
        lambdas.sort(key=lambda call: (call.lineno, call.col_offset))
        return lambdas[at] if len(lambdas) == 1 or (0 <= at < among == len(lambdas)) else None
    named = [call for call, called in zip(calls, functions, strict=True) if called is not None and (
        _last_name(called) == function)]
    return named[0] if len(named) == 1 else None


def _argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    named = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    return named if named is not None else call.args[position] if len(call.args) > position else None


def _decorated_call(statement: str, tree: ast.Module, name: str) -> ScriptCall | None:
    call = next((node for node in ast.walk(tree) if isinstance(node, ast.Call) and _last_name(node.func) == name), None)
    if call is None or not name:
        return None
    targets, several = _targets(statement, tree, call)
    return ScriptCall(statement, targets, several, _text(statement, call), '', _text(statement, call.func),
                      tuple(_text(statement, argument) for argument in call.args), ())


def _text(statement: str, node: ast.AST) -> str:
    return ast.get_source_segment(statement, node) or ast.unparse(node)


def _targets(statement: str, tree: ast.Module, call: ast.Call) -> tuple[tuple[str, ...], bool]:
    """The names that a call is assigned to, and whether they unpack its result."""
    whole = tree.body[0]
    names = whole.targets if isinstance(whole, ast.Assign) and whole.value is call else []
    if names and isinstance(names[0], ast.Tuple | ast.List):
        return tuple(_text(statement, item) for item in names[0].elts), True
    return tuple(_text(statement, name) for name in names[:1]), False


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ''
