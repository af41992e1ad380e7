"""The condition of a line breakpoint: a Python expression, read once, whose names are those of the function.

`Lines.set` reads it; what it compiles to runs on the threads of the program.
"""
from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FrameType, FunctionType
from typing import Any, NoReturn

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.private_names import mangle
from pyfuncdbg.hooks.source_map import function_variables, is_block, is_generated
from pyfuncdbg.observers.debug.conditions.session_variables import MARK, AsCalls, translate, untranslate, value_of
from pyfuncdbg.observers.debug.conditions.vocabulary import BARE

_REFUSED = {ast.NamedExpr: ':= would set a variable of the function',
            ast.Await: 'await would change the order of execution',
            ast.Yield: 'yield would make the function a generator',
            ast.YieldFrom: 'yield would make the function a generator'}


OF_THE_CALLER = ('locals', 'vars', 'dir', 'globals')
"""Builtins that answer of the frame that calls them. In scopes of the condition's own they answer of the function, too."""


_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_Scoped = _Comprehension | ast.Lambda


class UnsetError(NameError):
    """A name in a condition that has no value now."""


class InlineCondition:
    """One expression.

    Attributes:
        text: As typed, or as the user knows it.
        functions: What it calls, by the names that it has for them; they are none of the program's.
        names: What it reads from outside of itself.
        bare: Words among them that are used without a value.
        nested: Whether it holds functions or comprehensions of its own; inlined, they would make cells of the locals.
        spaces: Which of `OF_THE_CALLER` it calls: `function` takes what they give, after the values of the names.
    """

    def __init__(self, source: str, functions: Mapping[str, Callable[..., Any]] | None = None, text: str = '') -> None:
        """Read it.

        Raises:
            CommandError: It is no expression, or one that would change the function.
        """
        self._source = translate(source.strip())
        self.text = text or untranslate(self._source)
        self.functions = dict(functions or {})
        tree = self._parse()
        if any(isinstance(node, ast.Name) and node.id == MARK for node in ast.walk(tree)):
            self.functions[MARK] = value_of
        self.names = frozenset(_free_names(tree, frozenset())) - set(self.functions)
        called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        self.bare = frozenset(node.id for node in ast.walk(tree)
                              if isinstance(node, ast.Name) and node.id in BARE and id(node) not in called)
        self.nested = any(isinstance(node, _Scoped) for node in ast.walk(tree))
        self.spaces = tuple(name for name in OF_THE_CALLER if name in self.names and any(
            _caller_builtin(node) == name for node in ast.walk(tree)))
        self._functions: dict[tuple[str, tuple[str, ...]], Callable[..., Any]] = {}

    def _parse(self) -> ast.expr:
        if not self._source:
            raise CommandError('the condition is empty: give an expression after `if`, or leave `if` out')
        try:
            body = ast.parse(f'({self._source}\n)', mode='eval').body
        except SyntaxError as error:
            raise CommandError(untranslate(_with_caret(self._source, error))) from None
        except ValueError as error:             # a NUL
            raise CommandError(f'the condition {self.text!r} cannot be read: {error}') from None
        for node in ast.walk(body):
            reason = _REFUSED.get(type(node))
            if reason is None and isinstance(node, ast.comprehension) and node.is_async:
                reason = _REFUSED[ast.Await]
            if reason is not None:
                raise CommandError(f'the condition {self.text!r} cannot be used: {reason}')
        return AsCalls(self._refuse).visit(body)  # type: ignore[no-any-return]

    def _refuse(self, node: ast.expr, reason: str) -> NoReturn:
        raise CommandError(f'the condition {self.text!r} cannot be used: {reason}')

    def needs_value(self, word: str) -> CommandError:
        """Error message for a word without a value: a line has no tensors that it could test."""
        return CommandError(f'{word} is used alone in {self.text!r}, and at a line it needs a value, as in {word}(x)')

    def expression(self) -> ast.expr:
        """A fresh tree of it."""
        return self._parse()

    def function(self, names: tuple[str, ...], vocabulary: Mapping[str, Callable[..., Any]],
                 owner: str) -> Callable[..., Any]:
        """It as a function of the values of `names`, then of `spaces`; other names are the vocabulary's.

        Args:
            names: In the order of the parameters.
            vocabulary: Values of all other names.
            owner: The class around the line, '' if none: names like `__x` are spelled with it.
        """
        key = owner, names
        compiled = self._functions.get(key)
        if compiled is None:
            taken = [ast.arg(name) for name in (*names, *map(_caller_parameter, self.spaces))]
            arguments = ast.arguments([], taken, None, [], [], None, [])
            lambda_ = ast.Expr(ast.Lambda(arguments, _CallerBuiltins(self.spaces).visit(self.expression())))
            body: ast.stmt = ast.ClassDef(owner, [], [], [lambda_], []) if owner else lambda_
            if isinstance(body, ast.ClassDef):
                body.__dict__.setdefault('type_params', [])
            module = ast.fix_missing_locations(ast.Module([body], []))
            code = compile(module, '<condition>', 'exec', dont_inherit=True)
            space = {**{name: vocabulary[name] for name in self.names if name in vocabulary}, **self.functions,
                     '__builtins__': {'__import__': __import__}}     # NumPy's own code imports, at first use
            compiled = self._functions[key] = FunctionType(_inner(code, '<lambda>'), space)
        return compiled

    def value(self, frame: FrameType, vocabulary: Mapping[str, Callable[..., Any]], owner: str) -> bool:
        """Its truth for the names of a frame.

        Raises:
            UnsetError: A name has no value there.
            Exception: What it raises.
        """
        names = tuple(sorted(self.names))
        function = self.function(names, {}, owner)
        # A block of a function that a framework runs as one of its own has only the variables that its code uses.
        values = function_variables(frame) if is_block(frame.f_code) or is_generated(frame.f_code) else frame.f_locals
        return bool(function(*[_look_up(name, frame, values, vocabulary, owner) for name in names],
                             *[_call_builtin(name, frame, values) for name in self.spaces]))


def _look_up(name: str, frame: FrameType, values: Mapping[str, Any], vocabulary: Mapping[str, Callable[..., Any]],
             owner: str) -> Any:
    spelled = mangle(name, owner)
    for space in (values, frame.f_globals, frame.f_builtins):
        if spelled in space:
            return space[spelled]
    code = frame.f_code
    if name in vocabulary and spelled not in (*code.co_varnames, *code.co_cellvars, *code.co_freevars):
        return vocabulary[name]
    raise UnsetError(f'name {name!r} is not defined')


def _caller_builtin(node: ast.AST) -> str:
    """The name of the function in a call without arguments, such as `locals`; '' for other nodes."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args and not node.keywords:
        return node.func.id
    return ''


class _CallerBuiltins(ast.NodeTransformer):
    """Calls of such builtins become parameters."""

    def __init__(self, spaces: tuple[str, ...]) -> None:
        self._spaces = spaces

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if _caller_builtin(node) in self._spaces:
            return ast.copy_location(ast.Name(_caller_parameter(_caller_builtin(node)), ast.Load()), node)
        return self.generic_visit(node)  # type: ignore[return-value]


def _caller_parameter(name: str) -> str:
    return f'_pyfuncdbg_{name}'


def _call_builtin(name: str, frame: FrameType, values: Mapping[str, Any]) -> Any:
    variables = dict(values)
    return sorted(variables) if name == 'dir' else frame.f_globals if name == 'globals' else variables


def _free_names(node: ast.AST, bound: frozenset[str]) -> Iterator[str]:
    """The names that an expression reads from outside."""
    if isinstance(node, ast.Name):
        if node.id not in bound:
            yield node.id
    elif isinstance(node, ast.Lambda):
        for default in (*node.args.defaults, *(one for one in node.args.kw_defaults if one is not None)):
            yield from _free_names(default, bound)
        yield from _free_names(node.body, bound | {inner.arg for inner in ast.walk(node.args) if isinstance(inner, ast.arg)})
    elif isinstance(node, _Comprehension):
        yield from _free_names(node.generators[0].iter, bound)        # the first is evaluated outside
        targets = {inner.id for part in node.generators for inner in ast.walk(part.target) if isinstance(inner, ast.Name)}
        for child in ast.iter_child_nodes(node):
            parts = ast.iter_child_nodes(child) if isinstance(child, ast.comprehension) else (child,)
            for part in parts:
                if part is not node.generators[0].iter:
                    yield from _free_names(part, bound | targets)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _free_names(child, bound)


def _inner(code: CodeType, name: str) -> CodeType:
    for const in code.co_consts:
        if isinstance(const, CodeType):
            return const if const.co_name == name else _inner(const, name)
    raise AssertionError(f'no {name} in {code!r}')


def _with_caret(text: str, error: SyntaxError) -> str:
    """The text with a caret below the mistake."""
    lines = text.splitlines() or ['']
    row = (error.lineno or 1) - 1
    line = lines[min(row, len(lines) - 1)]
    column = (error.offset or 1) - (2 if row == 0 else 1)       # of the text, without our parenthesis
    if row >= len(lines):
        column = len(line)                      # the end is incomplete
    caret = ' ' * max(0, min(column, len(line))) + '^'
    return f'the condition is not valid Python: {error.msg}\n  {line}\n  {caret}'
