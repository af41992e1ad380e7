"""Compiled condition of calls: a Python expression whose free names come from a call.

Parsed once, on the thread that sets a breakpoint; the function it compiles to runs on the threads of the calls.

The names: the function's parameters as arrays, and what else it sees when it begins (`enclosing_names`); `out` (the output,
a tuple of several), `inputs`, `call`, `history`, `error`, `np`, and the words of `conditions.vocabulary`; Python's builtins.
The words from `out` on always mean that: a parameter of the same name is `inputs[i]`. `slow` and `p95` are times, and
in a function of a dataset `element` is the element's index, unless a parameter is called so. Of `history.ema(E)` and its kin
and of `changed(E)` the inner expression is taken out, for it is evaluated at every call, whether or not the whole is.
"""
from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from pyfuncdbg.errors import CommandError, nearest
from pyfuncdbg.hooks.call import Call
from pyfuncdbg.observers.debug.conditions.session_variables import MARK, AsCalls, translate, untranslate, value_of
from pyfuncdbg.observers.debug.conditions.vocabulary import BARE, VOCABULARY

OF_CALL = ('out', 'inputs', 'call', 'history', 'error')
"""Names that a call gives, beside its parameters."""

TIMES = ('slow', 'p95')
"""Seconds that the call took, and that 95 % of the earlier calls of its site took at most."""

UNLESS_PARAMETER = ('element', *TIMES)
"""Names that a call gives where the function has no parameter of that name: which element of a dataset it works on, and
times."""

OF_THE_CALLER = ('locals', 'vars', 'dir', 'globals')
"""Builtins that depend on the calling frame: in a condition that is the function's, also in nested scopes."""

SERIES = ('ema', 'mean', 'min', 'max')
"""Figures that `history` computes of an expression over the earlier calls."""

_TENSORS, _ORDINAL, _SERIES, _CHANGED, _NOT = '_tensors', '_ordinal', '_series', '_changed', '_not'
_VARIABLES, _MODULE, _SORTED = '_variables', '_module', '_sorted'
KNOWN = frozenset((*OF_CALL, *VOCABULARY, 'changed', 'np'))
"""Names in conditions of calls beside parameters and builtins."""
_ALPHA = 0.1


_REPEATABLE = frozenset((
    'abs', 'all', 'any', 'bool', 'complex', 'dict', 'divmod', 'enumerate', 'filter', 'float', 'frozenset', 'getattr',
    'hasattr', 'hash', 'int', 'isinstance', 'len', 'list', 'map', 'max', 'min', 'pow', 'range', 'repr', 'reversed', 'round',
    'set', 'slice', 'sorted', 'str', 'sum', 'tuple', 'type', 'zip'))
"""Builtins that give the same when they are called once more, and do nothing else."""
ATTRIBUTES = ('id', 'ordinal', 'site', 'run', 'thread', 'inputs', 'outputs', 'error', 'output', 'started', 'finished',
              'parent', 'forward', 'sources')
"""Attributes for users; a `Call` has a few more."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A compiled expression: `function` takes the values of `names`, in that order."""

    names: tuple[str, ...]
    function: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class SeriesOf:
    """`history.ema(EXPR, alpha=...)` and its kin."""

    method: str
    alpha: float
    of: Evaluation


class CompiledExpression:
    """A parsed and compiled condition.

    Attributes:
        text: As typed.
        reads: Which of `OF_CALL` and `TIMES` it reads; 'tensors' if a word stands bare.
        parameters: Names that the function must have, parameters mostly, with the place of each in the text, in that order.
        attributes: Every attribute it names: which parts of the history it can ask for.
        whole: The expression.
        series: What it follows over the earlier calls; `whole` gets their values as `_series`.
        changes: What it asks `changed` of; `whole` gets the answers as `_changed`.
        repeatable: Whether it can be evaluated twice without a visible effect.
    """

    __slots__ = ('attributes', 'changes', 'parameters', 'reads', 'repeatable', 'series', 'text', 'whole')

    def __init__(self, text: str) -> None:
        """Read it.

        Raises:
            CommandError: It is no expression; with a mark under the place.
        """
        self.text = text.strip()
        source = translate(self.text)          # of the same length, with other letters for '$'
        tree = _parse(source)
        names = frozenset(name for name in _free_names(source) if not name.startswith(MARK))
        tree = AsCalls(lambda node, why: refuse(source, _column(source, node), why)).visit(tree)
        found = sorted((_column(source, node), node.id) for node in ast.walk(tree) if isinstance(node, ast.Name))
        self.parameters = {name: column for column, name in reversed(found)
                           if name in names and name not in KNOWN and not hasattr(builtins, name)}
        self.parameters = dict(sorted(self.parameters.items(), key=lambda item: item[1]))
        self.attributes = frozenset(node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute))
        called = {name for name in names if name not in KNOWN and hasattr(builtins, name)}
        self.repeatable = called <= _REPEATABLE and 'random' not in self.attributes
        if 'call' in names:
            _check_call(source, tree)
        rewriter = _Rewriter(source, names)
        body = rewriter.visit(tree.body)
        self.series = tuple(rewriter.series)
        self.changes = tuple(rewriter.changes)
        self.whole = _compile(body, names | {_SERIES, _CHANGED}, source)
        free_names = {name for part in (self.whole, *self.changes, *(s.of for s in self.series)) for name in part.names}
        self.reads = frozenset(name for name in (*OF_CALL, *TIMES, 'tensors')
                               if name in free_names or f'_{name}' in free_names or (name == 'history' and self.series)
                               or (name == 'call' and _ORDINAL in free_names))

    def check(self, parameters: Iterable[str], otherwise: str = 'the function has no parameters',
              enclosing: Collection[str] | None = ()) -> None:
        """Refuse names that a function does not have.

        Args:
            parameters: Of the function.
            otherwise: What is said where there are none.
            enclosing: Other names that it sees; None if they are not known.

        Raises:
            CommandError: With a mark under the name, and the nearest names.
        """
        if enclosing is None:
            return
        has = tuple(parameters)
        for name, column in self.parameters.items():
            if name not in has and name not in UNLESS_PARAMETER and name not in enclosing:
                known = f'; the function has {", ".join(has)}' if has else f'; {otherwise}'
                refuse(self.text, column, f'unknown name {name!r}{known}.{nearest(name, (*has, *enclosing, *KNOWN))}')


def refuse(text: str, column: int, why: str) -> NoReturn:
    """Say what is wrong with an expression, with a mark under the place.

    Raises:
        CommandError: Always.
    """
    text = untranslate(text)
    _, _, line = text[:column].rpartition('\n')
    rest = text[column:].partition('\n')[0]
    marked_line, at = line + rest, len(line)
    if len(marked_line) > 100:
        start = max(0, at - 60)
        marked_line, at = marked_line[start:start + 100], at - start
    raise CommandError(f'bad condition: {why}\n  {marked_line}\n  {" " * at}^')


def _parse(text: str) -> ast.Expression:
    if not text:
        raise CommandError("bad condition: it is empty; expected a Python expression such as 'has_nan(out)'")
    try:
        tree = ast.parse(text, '<condition>', 'eval')
        # Compiled as in a function, where the compiler refuses what is no expression.
        compile(f'lambda: (\n{text}\n)', '<condition>', 'eval')
    except SyntaxError as error:
        lines = text.split('\n')
        at = min(max(error.lineno or 1, 1), len(lines)) - 1
        place = error.offset - 1 if error.offset else len(lines[at])         # 0: the end is incomplete
        column = sum(len(line) + 1 for line in lines[:at]) + place
        refuse(text, min(column, len(text)), error.msg)
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        raise CommandError(f'bad condition: {error or type(error).__name__}') from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Yield | ast.YieldFrom | ast.Await):
            refuse(text, _column(text, node), 'a condition cannot contain yield or await')
    return tree


def _column(text: str, node: ast.expr) -> int:
    """The column of a node in characters: Python counts bytes of UTF-8."""
    lines = text.split('\n')
    line = lines[min(node.lineno, len(lines)) - 1]
    before = len(line.encode()[:node.col_offset].decode('utf-8', 'ignore'))
    return sum(len(earlier) + 1 for earlier in lines[:node.lineno - 1]) + before


def _free_names(text: str) -> frozenset[str]:
    """Names that the expression reads from outside of itself."""
    names: set[str] = set()
    tables = [symtable.symtable(text, '<condition>', 'eval')]
    top = tables[0]
    own = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned()}
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (table is top or symbol.is_global()):
                names.add(symbol.get_name())
    return frozenset(names - own)


def _check_call(text: str, tree: ast.Expression) -> None:
    """Refuse attributes that calls do not have, unless something else in the expression is called so too."""
    nodes = list(ast.walk(tree))
    if any((isinstance(node, ast.Name) and node.id == 'call' and not isinstance(node.ctx, ast.Load))
           or (isinstance(node, ast.arg) and node.arg == 'call') for node in nodes):
        return
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == 'call' and (
                why := unknown_attribute(node.attr)):
            refuse(text, _column(text, node), why)


class _Rewriter(ast.NodeTransformer):
    """Rewrites what needs more than the call itself."""

    def __init__(self, text: str, names: frozenset[str]) -> None:
        self._text = text
        self._names = names
        self._inside = ''
        self.series: list[SeriesOf] = []
        self.changes: list[Evaluation] = []

    def visit_Call(self, node: ast.Call) -> ast.expr:
        function = node.func
        if isinstance(function, ast.Name) and function.id in self._names:
            if function.id == 'changed':
                (inner,) = self._arguments(node, 'changed', ())
                self.changes.append(inner)
                return _item(_CHANGED, len(self.changes) - 1, node)
            if function.id in BARE:
                if not node.args and not node.keywords:
                    return self.visit(ast.copy_location(ast.Name(function.id, ast.Load()), node))  # type: ignore[no-any-return]
                node.args = [self.visit(argument) for argument in node.args]
                return node
            if function.id in OF_THE_CALLER and not node.args and not node.keywords:
                space = _MODULE if function.id == 'globals' else _VARIABLES
                values = ast.copy_location(ast.Name(space, ast.Load()), node)
                sort = ast.copy_location(ast.Name(_SORTED, ast.Load()), node)
                return ast.copy_location(ast.Call(sort, [values], []), node) if function.id == 'dir' else values
        if isinstance(function, ast.Attribute) and function.attr in SERIES and isinstance(function.value, ast.Name) and (
                function.value.id == 'history'):
            return self._series(node, function.attr)
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self._names:
            return node
        if node.id == 'changed':
            refuse(self._text, _column(self._text, node), 'changed needs an expression: changed(x)')
        if node.id == 'history' and self._inside:
            refuse(self._text, _column(self._text, node), f'{self._inside} is about one call: it cannot contain history')
        if node.id in BARE:
            asked = ast.Subscript(ast.Name(_TENSORS, ast.Load()), ast.Constant(node.id), ast.Load())
            return ast.fix_missing_locations(ast.copy_location(asked, node))
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == 'call' and 'call' in self._names and node.attr == 'ordinal':
            return ast.copy_location(ast.Name(_ORDINAL, ast.Load()), node)      # available before a `Call` exists
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Invert):
            return node
        # ~(a > b) of Python numbers would be -1 or -2, both true.
        negation = ast.copy_location(ast.Name(_NOT, ast.Load()), node)
        return ast.copy_location(ast.Call(negation, [node.operand], []), node)

    def _series(self, node: ast.Call, method: str) -> ast.expr:
        inner, *alpha = self._arguments(node, f'history.{method}', ('alpha',) if method == 'ema' else ())
        self.series.append(SeriesOf(method, alpha[0] if alpha else _ALPHA, inner))
        return _item(_SERIES, len(self.series) - 1, node)

    def _arguments(self, node: ast.Call, name: str, options: tuple[str, ...]) -> list[Any]:
        """The inner expression, compiled, and the value of `alpha` if it is given."""
        place = _column(self._text, node)
        if self._inside:
            refuse(self._text, place, f'{name}() cannot be used inside {self._inside}')
        if len(node.args) != 1 or any(keyword.arg not in options for keyword in node.keywords):
            refuse(self._text, place, f'{name}() takes one expression' + (' and alpha=NUMBER' if options else ''))
        arguments: list[Any] = []
        for keyword in node.keywords:
            value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
            if not isinstance(value, int | float) or not 0 < value <= 1:
                refuse(self._text, _column(self._text, keyword.value), 'alpha must be a number above 0, and 1 at most')
            arguments.append(float(value))
        inner = node.args[0]
        own = {part.id for part in ast.walk(inner) if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}
        for part in ast.walk(inner):
            if isinstance(part, ast.Name) and part.id not in self._names | own | {MARK} and not hasattr(builtins, part.id):
                refuse(self._text, _column(self._text, part),
                       f'{name}() is evaluated by itself, where {part.id!r} is unknown')
        self._inside = f'{name}()'
        try:
            return [_compile(self.visit(inner), self._names, self._text), *arguments]
        finally:
            self._inside = ''


def _item(name: str, index: int, at: ast.expr) -> ast.expr:
    call = ast.Call(ast.Name(name, ast.Load()), [ast.Constant(index)], [])
    return ast.fix_missing_locations(ast.copy_location(call, at))


def _compile(body: ast.expr, names: frozenset[str], text: str) -> Evaluation:
    """A function of those of `names` that the expression reads and that a call gives."""
    read_names = {node.id for node in ast.walk(body) if isinstance(node, ast.Name)}
    builtin = frozenset(name for name in names if name not in KNOWN and hasattr(builtins, name))
    made = {_TENSORS, _ORDINAL, _VARIABLES, _MODULE}
    parameters = sorted((read_names & names) - builtin - frozenset(VOCABULARY) - {'np', 'changed'} | (read_names & made))
    arguments = ast.arguments(posonlyargs=[], args=[ast.arg(name) for name in parameters], kwonlyargs=[], kw_defaults=[],
                              defaults=[])
    tree = ast.fix_missing_locations(ast.Expression(ast.copy_location(ast.Lambda(arguments, body), body)))
    try:
        code = compile(tree, '<condition>', 'eval')
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        refuse(text, 0, str(error))
    return Evaluation(tuple(parameters), eval(code, {**VOCABULARY, 'np': np, _NOT: _negate, _SORTED: sorted,
                                                     MARK: value_of}))


def _negate(value: Any) -> Any:
    return not value if type(value) is bool else ~value


def unknown_attribute(name: str) -> str:
    """Error message for `call.NAME`; '' if a call has that attribute."""
    if name in Call.__slots__ or hasattr(Call, name):
        return ''
    numbers = 'call.id is the number that is shown as #40, call.ordinal counts the calls of the node from 0'
    close = nearest(name, ATTRIBUTES)
    return f'a call has no {name!r}.{close} {numbers}; it has {", ".join(ATTRIBUTES)}'


def explain_error(error: Exception) -> str:
    """The text of what a condition raised; of an attribute that calls do not have, with those that they have."""
    if isinstance(error, AttributeError) and isinstance(error.obj, Call) and (why := unknown_attribute(error.name or '')):
        return why
    return str(error)
