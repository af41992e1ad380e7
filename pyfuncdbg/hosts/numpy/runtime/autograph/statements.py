"""Conversion of `if`, `while` and `for` over tensors to calls that take their blocks as functions.

The blocks share the variables of the function as cells. Python values run them at once; for tensors they become nodes.
"""
from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyfuncdbg.hosts.numpy.runtime.autograph.jumps import StatementMarks, lower_jumps, place_at
from pyfuncdbg.hosts.numpy.runtime.autograph.liveness import Liveness
from pyfuncdbg.hosts.numpy.runtime.autograph.names import UsedNames, all_names, fresh, root, support
from pyfuncdbg.hosts.numpy.runtime.autograph.source import parameters

PARTS = {'if_body': '<if>', 'else_body': '<else>', 'loop_body': '<body>', 'loop_test': '<test>', 'stop_test': '<test>'}
"""The functions made of blocks, and their suffixes of qualified names."""


@dataclass(frozen=True, slots=True)
class _Changed:
    """Symbols that a statement changes and passes on.

    Attributes:
        names: Symbols; first those that are live afterwards.
        outputs: The number of live ones.
        composites: Functions that return the owner of each composite symbol.
    """

    names: list[str]
    outputs: int
    composites: list[ast.expr]


class Statements:
    """Converter of the statements of one function and its nested functions.

    Attributes:
        changed: Whether any was converted.
        parts: The names of functions made of blocks, and their displayed names.
    """

    def __init__(self, node: ast.FunctionDef, parts: dict[str, str]) -> None:
        self.parts = parts
        self.changed = False
        names = UsedNames(node.body)
        self._outside = names.outside
        self._parameters = {argument.arg for argument in parameters(node.args)}
        self._used_names = all_names([node])
        self._marks = StatementMarks()
        body = lower_jumps(node.body, self._used_names, self._marks)
        names = UsedNames(body)
        self._local_names = (names.bound | self._parameters) - names.outside[0] - names.outside[1]
        self._live = Liveness(body, names.outside[0] | names.outside[1], self._marks)
        self._moved: set[str] = set()
        body = self._block(body)
        moved = sorted((self._moved & self._local_names) - self._parameters)
        declared = place_at([ast.parse(f'{name}: None').body[0] for name in moved], node.body[0])
        node.body = [*declared, *body]

    def _block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for statement in body:
            out += self._statement(statement)
        return out

    def _statement(self, statement: Any) -> list[ast.stmt]:
        if isinstance(statement, ast.FunctionDef):
            self.changed |= Statements(statement, self.parts).changed
            return [statement]
        if isinstance(statement, (ast.AsyncFunctionDef, ast.ClassDef)):
            return [statement]
        if id(statement) in self._marks.dynamic:
            self.changed = True
            if isinstance(statement, ast.If):
                return self._if(statement)
            return self._while(statement) if isinstance(statement, ast.While) else self._for(statement)
        for name in ('body', 'orelse', 'finalbody'):
            if getattr(statement, name, None):
                setattr(statement, name, self._block(getattr(statement, name)))
        for inner in (*getattr(statement, 'handlers', ()), *getattr(statement, 'cases', ())):
            inner.body = self._block(inner.body)
        return [statement]

    # ------------------------------------------------------------------ the kinds
    def _if(self, node: ast.If) -> list[ast.stmt]:
        changed = self._changed(node, [*node.body, *node.orelse])
        yes, no = self._part('if_body', node.body, node), self._part('else_body', node.orelse, node)
        call = self._call('if_stmt', node, [node.test, yes, no], changed)
        return [yes, no, call]

    def _while(self, node: ast.While) -> list[ast.stmt]:
        options = self._options(node)
        changed = self._changed(node, node.body)
        body = self._part('loop_body', node.body, node)
        test = self._part('loop_test', [ast.copy_location(ast.Return(node.test), node.test)], node)
        return [test, body, self._call('while_stmt', node, [test, body], changed, options)]

    def _for(self, node: ast.For) -> list[ast.stmt]:
        options = self._options(node)
        item = fresh('ag__itr', self._used_names)
        target = ast.Assign([node.target], ast.Name(item, ast.Load()), lineno=node.lineno)
        place_at([target], node)
        changed = self._changed(node, [target, *node.body])
        body = self._part('loop_body', [target, *node.body], node, [item])
        stops = self._marks.stops.get(id(node), [])
        test: Any = ast.Constant(None)
        parts: list[ast.stmt] = [body]
        if stops:
            (returned,) = ast.parse('return ' + ' and '.join(f'not {name}' for name in stops)).body
            test = self._part('stop_test', place_at([returned], node), node)
            parts.append(test)
        options.append(('iterate_names', ast.Constant(ast.unparse(node.target))))
        return [*parts, self._call('for_stmt', node, [node.iter, test, body], changed, options)]

    def _options(self, node: ast.For | ast.While) -> list[tuple[str, ast.expr]]:
        """The options of `set_loop_options` at the beginning of a loop; removes the call."""
        for statement in node.body:
            call = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(call, ast.Call) and _last_name(call.func) == 'set_loop_options':
                node.body = [one for one in node.body if one is not statement] or [ast.copy_location(ast.Pass(), node)]
                order = ('parallel_iterations', 'swap_memory', 'maximum_iterations', 'shape_invariants')
                return [*zip(order, call.args, strict=False),
                        *((keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg)]
        return []

    # ------------------------------------------------------------------ parts
    def _part(self, kind: str, body: Sequence[ast.stmt], node: ast.stmt, arguments: Sequence[str] = ()) -> ast.FunctionDef:
        """A function of a block, which assigns the variables of the enclosing function."""
        name = fresh(f'ag__{kind}', self._used_names)
        self.parts[name] = PARTS[kind]
        bound_names = UsedNames(body).bound - set(arguments)
        part = ast.parse(f'def {name}({", ".join(arguments)}):\n    pass').body[0]
        assert isinstance(part, ast.FunctionDef)
        place_at([part], node)
        inner = self._block(body) or part.body
        shared = sorted(bound_names - self._outside[0])
        self._moved |= set(shared)
        declared: list[ast.stmt] = []
        if shared:
            declared.append(ast.Nonlocal(shared))
        if bound_names & self._outside[0]:
            declared.append(ast.Global(sorted(bound_names & self._outside[0])))
        part.body = [*place_at(declared, node), *inner]
        return part

    def _changed(self, node: ast.stmt, body: Sequence[ast.stmt]) -> _Changed:
        before, after = self._live.at[id(node)]
        names = UsedNames(body)
        outer_names = self._outside[0] | self._outside[1]
        basic = {name for name in names.bound if name in before or name in after or name in outer_names}
        composites = {text: one for text, one in names.written.items()
                      if all(name in before for name in support(one)) and root(text) not in names.bound}
        only_in = {name for name in basic if name in before and name not in after}
        ordered = sorted(basic | set(composites), key=lambda name: (name in only_in, name))
        return _Changed(ordered, len(ordered) - len(only_in),
                        [_owner(name, composites[name]) for name in ordered if name in composites])

    def _call(self, name: str, node: ast.stmt, arguments: Sequence[Any], changed: _Changed,
              options: Sequence[tuple[str, ast.expr]] | None = None) -> ast.stmt:
        """The statement that runs the parts."""
        call_arguments = [ast.Name(one.name, ast.Load()) if isinstance(one, ast.FunctionDef) else one for one in arguments]
        call_arguments.append(ast.Tuple([ast.Constant(one) for one in changed.names], ast.Load()))
        call_arguments.append(ast.Tuple(changed.composites, ast.Load()))
        if options is None:
            call_arguments.append(ast.Constant(changed.outputs))
        else:
            call_arguments.append(ast.Dict([ast.Constant(key) for key, _ in options], [value for _, value in options]))
        call = ast.Expr(ast.Call(ast.Attribute(ast.Name('ag__', ast.Load()), name, ast.Load()), call_arguments, []))
        for inner in ast.walk(call):
            if 'lineno' in inner._attributes and not hasattr(inner, 'lineno'):
                ast.copy_location(inner, node)
                inner.end_lineno, inner.end_col_offset = node.lineno, node.col_offset  # type: ignore[attr-defined]
        return call


def _owner(text: str, node: ast.Attribute | ast.Subscript) -> ast.expr:
    """A lambda that returns (text, owner, name or index, whether it is an attribute) of a composite symbol."""
    value = ast.unparse(node.value)
    if isinstance(node, ast.Attribute):
        key, attribute = repr(node.attr), True
    else:
        key, attribute = ast.unparse(node.slice), False
    reference = ast.parse(f'lambda: ({text!r}, {value}, {key}, {attribute})', mode='eval').body
    for inner in ast.walk(reference):
        for field in ('lineno', 'col_offset', 'end_lineno', 'end_col_offset'):
            if hasattr(inner, field):
                delattr(inner, field)
    return reference


def _last_name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, 'id', '')
