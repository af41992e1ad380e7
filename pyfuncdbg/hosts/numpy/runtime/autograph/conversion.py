"""AutoGraph conversion of a function: its control flow over tensors becomes nodes of a graph.

The converted function has the file, lines, names, cells, globals and defaults of the original. At run time it uses
the variable `ag__`, a cell that `ops` sets. Called while a function is traced, on that thread.
"""
from __future__ import annotations
import __future__

import ast
import builtins
import copy
import re
from collections.abc import Mapping
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any

from pyfuncdbg.hooks.code_table import CodeTable
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.own_files import is_library, is_machinery
from pyfuncdbg.hooks.patched_code import original_code
from pyfuncdbg.hooks.private_names import mangle
from pyfuncdbg.hosts.numpy.runtime.autograph.expressions import LATER, Expressions
from pyfuncdbg.hosts.numpy.runtime.autograph.source import FunctionSource, definition
from pyfuncdbg.hosts.numpy.runtime.autograph.statements import Statements

OVERLOADED = frozenset((abs, float, int, len, range, enumerate, zip, map, filter))
"""Python builtins with an op for tensors or datasets."""
_FACTORY = 'ag__factory'
_FUNCTION = 'ag__function'
"""Name of a function while it is compiled: its own name would shadow a global of that name."""
_FUTURE = 0
for _name in __future__.all_feature_names:
    if _name != 'nested_scopes':                # its flag marks nested functions
        _FUTURE |= getattr(__future__, _name).compiler_flag

_templates = CodeTable[tuple[CodeType | None]]()
_lock = new_rlock()
OPERATORS = 'ag__'
"""The variable of converted code with its operators."""


def convert_function(function: FunctionType, operators: CellType) -> FunctionType:
    """The function with its control flow converted; itself where there is none.

    Args:
        function: The function.
        operators: Functions that converted code calls.

    Raises:
        NoSourceError: Its source is unknown.
    """
    code = _converted_code(function)
    if code is None:
        return function
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[OPERATORS] = operators
    converted = FunctionType(code, function.__globals__, function.__name__, function.__defaults__,
                             tuple(cells[name] for name in code.co_freevars))
    converted.__kwdefaults__ = function.__kwdefaults__
    converted.__dict__.update(function.__dict__)
    converted.__module__, converted.__qualname__ = function.__module__, function.__qualname__
    converted.__doc__ = function.__doc__
    return converted


def _converted_code(function: FunctionType) -> CodeType | None:
    code = original_code(function.__code__)          # a debugger's tests are not in the source
    with _lock:
        entry = _templates.get(code)
        if entry is None:
            entry = _templates.put(code, (_compile_code(code, function.__globals__),))
        return entry[0]


def tree(code: CodeType, space: Mapping[str, Any]) -> tuple[ast.FunctionDef, dict[str, str]] | None:
    """The converted syntax tree, and the names of its blocks; None if there is nothing to convert."""
    source = definition(code)
    node = _as_function(source)
    parts: dict[str, str] = {}
    arguments = [*node.args.posonlyargs, *node.args.args]
    local_names = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    statements = Statements(node, parts)
    expressions = Expressions(arguments[0].arg if arguments else '',
                              lambda function: _is_foreign(function, local_names, space))
    expressions.visit(node)
    if not (statements.changed or expressions.changed):
        return None
    NameMangler(source.owner).visit(node)
    return node, parts


def _compile_code(code: CodeType, space: Mapping[str, Any]) -> CodeType | None:
    conversion = tree(code, space)
    if conversion is None:
        return None
    node, parts = conversion
    parameters = ', '.join(dict.fromkeys((*code.co_freevars, OPERATORS)))
    module = ast.parse(f'def {_FACTORY}({parameters}):\n    pass')
    factory = module.body[0]
    assert isinstance(factory, ast.FunctionDef)
    node.name, factory.body = _FUNCTION, [node]
    ast.fix_missing_locations(module)
    module_code = compile(module, code.co_filename, 'exec', flags=code.co_flags & _FUTURE, dont_inherit=True)
    inner = _constant(_constant(module_code, _FACTORY), _FUNCTION)
    return _rename_code(inner, code, f'{_FACTORY}.<locals>.{_FUNCTION}', parts)


def _as_function(source: FunctionSource) -> ast.FunctionDef:
    node = copy.deepcopy(source.node)
    if isinstance(node, ast.Lambda):
        function = ast.parse('def lambda_():\n    return None').body[0]
        assert isinstance(function, ast.FunctionDef) and isinstance(function.body[0], ast.Return)
        for one in (function, function.body[0]):
            ast.copy_location(one, node)
        function.args, function.body[0].value = node.args, node.body
        node = function
    assert isinstance(node, ast.FunctionDef)
    if node.decorator_list:                     # its line is the function's first; it is never evaluated
        node.decorator_list = [ast.copy_location(ast.Name(OPERATORS, ast.Load()), node.decorator_list[0])]
    node.args.defaults, node.returns = [], None
    node.args.kw_defaults = [None] * len(node.args.kwonlyargs)
    if hasattr(node, 'type_params'):
        node.type_params = []
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return node


def _constant(code: CodeType, name: str) -> CodeType:
    return next(one for one in code.co_consts if isinstance(one, CodeType) and one.co_name == name)


def _rename_code(code: CodeType, original: CodeType, prefix: str, parts: Mapping[str, str]) -> CodeType:
    """The code renamed to the original names, with nested functions and blocks."""
    def renamed(inner: CodeType) -> CodeType:
        qualified = inner.co_qualname.replace(prefix, original.co_qualname, 1)
        name = inner.co_name
        around = re.sub(r'\.<locals>\.ag__\w+', '', qualified)
        kind = '<operand>' if inner.co_varnames[:1] == (LATER,) else parts.get(name)
        if kind is not None:
            around = around.removesuffix('.<locals>.<lambda>')
            name = around.rpartition('.')[2]
            around = f'{around}.{kind}'
        qualified = around
        consts = tuple(renamed(one) if isinstance(one, CodeType) else one for one in inner.co_consts)
        return inner.replace(co_consts=consts, co_name=name, co_qualname=qualified)
    code_renamed = renamed(code)
    return code_renamed.replace(co_name=original.co_name, co_qualname=original.co_qualname)


# ---------------------------------------------------------------- unconverted functions
def _is_foreign(function: ast.expr, local_names: set[str], space: Mapping[str, Any]) -> bool:
    """Whether an expression like `tf.math.add` is a library function or a class, by the current attribute of its module."""
    chain: list[str] = []
    while isinstance(function, ast.Attribute):
        chain.append(function.attr)
        function = function.value
    if not isinstance(function, ast.Name) or function.id in local_names:
        return False
    value = space.get(function.id, getattr(builtins, function.id, None))
    for name in reversed(chain):
        value = vars(value).get(name) if isinstance(value, ModuleType) else None
    if isinstance(value, (type, BuiltinFunctionType)):
        return value not in OVERLOADED
    return isinstance(value, FunctionType) and is_foreign(value.__code__)


_FIELDS = ('id', 'attr', 'arg', 'name', 'asname')


class NameMangler(ast.NodeTransformer):
    """Mangler of private names, except in nested classes, where the compiler does it."""

    def __init__(self, owner: str) -> None:
        self._owner = owner

    def visit(self, node: ast.AST) -> Any:
        if not self._owner:
            return node
        for field in _FIELDS:
            name = getattr(node, field, None)
            if isinstance(name, str):
                setattr(node, field, mangle(name, self._owner))
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            node.names = [mangle(name, self._owner) for name in node.names]
        return node if isinstance(node, ast.ClassDef) else self.generic_visit(node)


def is_foreign(code: CodeType) -> bool:
    """Whether code is ours, of Python or of an installed library."""
    return is_machinery(code.co_filename) or is_library(code.co_filename)


_SUSPENDS = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR


def is_unconverted(code: CodeType) -> bool:
    """Whether functions of this code are not converted: generators, coroutines, libraries, code of `exec`."""
    return bool(code.co_flags & _SUSPENDS) or code.co_filename == '<string>' or OPERATORS in code.co_freevars or is_foreign(
        code)
