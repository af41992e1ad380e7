"""Evaluation of typed Python at a stop, over the names of a frame or the tensors of a node.

Runs on the stopped thread. What is assigned goes to the frame itself, on every Python version.
"""
from __future__ import annotations

import ast
import builtins
import ctypes
import linecache
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from types import CodeType, FrameType, TracebackType
from typing import Any

from pyfuncdbg.errors import CommandError, RunAborted, nearest
from pyfuncdbg.hooks.exception_message import exception_message
from pyfuncdbg.hooks.own_files import TYPED_CODE
from pyfuncdbg.hooks.source_map import block_frames, function_variables, program_variables
from pyfuncdbg.observers.debug.conditions.compiled_expression import KNOWN
from pyfuncdbg.observers.debug.conditions.session_variables import MARK, Presets, session_variables, translate, untranslate
from pyfuncdbg.observers.debug.conditions.vocabulary import VOCABULARY
from pyfuncdbg.observers.debug.inspecting.expression_statements import DISPLAY, displaying

_NOTHING = object()
_OF_THE_CALLER = frozenset(('locals', 'vars', 'dir', 'globals'))
"""Builtins that answer of the frame that calls them. That of typed code is none of the program's."""


class MissingExpressionError(CommandError):
    """A command without the expression that it takes."""


class Namespace(dict[str, Any]):
    """The namespace of typed code; as globals and locals at once, so that lambdas and comprehensions see every name.

    The dict itself stays empty: `__missing__` reads. Only what is declared `global`, and the builtins, come to be in it.

    Attributes:
        refused: Why a name could not be set or deleted: Python makes a NameError of it.
        presets: How to read the convenience variables that the stop sets.
        kept: Names that were assigned and are now variables of the session, without '$'.
        display: Gets the value of each expression statement.
    """

    def __init__(self) -> None:
        super().__init__()
        self.refused: CommandError | None = None
        self.presets: Presets = {}
        self.kept: list[str] = []
        self.display: Callable[[Any], object] = lambda value: None

    def get_name(self, name: str) -> Any:
        """The value of a name, `KeyError` if it has none."""
        raise KeyError(name)

    def set_name(self, name: str, value: Any) -> None:
        """Assign to a name."""
        session_variables.set(name, value)
        self.kept.append(name)

    def delete_name(self, name: str) -> None:
        """Delete a name, `KeyError` if there is none."""
        session_variables.delete(name)

    def all_names(self) -> Iterable[str]:
        """All names, for those who complete and correct them."""
        return ()

    def settle(self) -> None:
        """After code was carried out: what it declared global goes where that is."""

    def variables(self) -> dict[str, Any]:
        """The local ones: what `locals()` gives."""
        return {}

    def module(self) -> dict[str, Any]:
        """The global ones: what `globals()` gives."""
        return {}

    def __missing__(self, name: str) -> Any:
        if name.startswith(MARK):
            return session_variables.get(name[1:], self.presets)
        if name == DISPLAY:
            return self.display
        try:
            return self.get_name(name)
        except KeyError:
            if name in _OF_THE_CALLER:
                return self._of_the_caller(name)
            if name not in session_variables:
                raise
        return session_variables[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if name.startswith(MARK):
            session_variables.set(name[1:], value)
        else:
            self.set_name(name, value)

    def __delitem__(self, name: str) -> None:
        if name.startswith(MARK):
            session_variables.delete(name[1:])
        else:
            self.delete_name(name)

    def _of_the_caller(self, name: str) -> Callable[..., Any]:
        """The builtin of that name, which answers of where the user is."""
        if name == 'globals':
            return self.module
        if name == 'locals':
            return self.variables
        builtin = getattr(builtins, name)
        return lambda *given: builtin(*given) if given else sorted(self.variables()) if name == 'dir' else self.variables()


class FrameNames(Namespace):
    """The names of a live frame: its locals and cells, then the globals of its module.

    Attributes:
        assigned: Names that were assigned.
    """

    def __init__(self, frame: FrameType) -> None:
        super().__init__()
        self.assigned: list[str] = []
        self._frame = frame
        self._blocks = block_frames(frame)            # of a converted function: each has only what it uses

    def get_name(self, name: str) -> Any:
        values = _values(self._frame_of(name))
        if name in values:
            return values[name]
        return self._frame.f_globals[name] if name in self._frame.f_globals else VOCABULARY[name]

    def all_names(self) -> Iterable[str]:
        return {*self.variables(), *self._frame.f_globals, *VOCABULARY, *session_variables}

    def variables(self) -> dict[str, Any]:
        if self._frame.f_code.co_name == '<module>':
            return self._frame.f_locals         # these may be written to
        return function_variables(self._frame)

    def module(self) -> dict[str, Any]:
        return self._frame.f_globals

    def _frame_of(self, name: str) -> FrameType:
        """The frame that has a variable: the selected one, or one that it is a block of."""
        return next((one for one in reversed(self._blocks) if name in _values(one)), self._frame)

    def settle(self) -> None:
        declared = {name: self.pop(name) for name in list(self) if name != '__builtins__'}
        self._frame.f_globals.update(declared)

    def set_name(self, name: str, value: Any) -> None:
        frame = self._frame_of(name)
        self.assigned.append(name)
        frame.f_locals[name] = value
        _write_back(frame, clear=False)

    def delete_name(self, name: str) -> None:
        names = self._frame.f_locals
        if name not in names:
            super().delete_name(name)
            return
        if sys.version_info >= (3, 12) and self._frame.f_code.co_name != '<module>':
            self.refused = CommandError('from Python 3.12 on a debugger cannot delete a variable of a function; '
                                        f'set it to None instead: {name} = None')
            raise self.refused
        del names[name]
        _write_back(self._frame, clear=True)


def _values(frame: FrameType) -> Mapping[str, Any]:
    """The variables of a frame that are the program's, of those that have a value."""
    return program_variables(frame.f_code, frame.f_locals)


class NodeNames(Namespace):
    """The names at a node or run of the graph: given ones first, then those of the function's module.

    What is assigned is a variable of the session: the graph has none. At a frame, whose names are the outer ones, it is the
    frame's.

    Args:
        read: By name, how to get the value.
        outer: The globals of the node's function; the names of a frame.
        inputs: Those of the names that are parameters of the function.
    """

    def __init__(self, read: Mapping[str, Callable[[], Any]], outer: Mapping[str, Any], inputs: Iterable[str] = ()) -> None:
        super().__init__()
        self._read = read
        self._inputs = tuple(inputs)
        self._outer = outer

    def get_name(self, name: str) -> Any:
        return self._read[name]() if name in self._read else self._outer[name]

    def all_names(self) -> Iterable[str]:
        outer = self._outer.all_names() if isinstance(self._outer, Namespace) else self._outer
        return {*self._read, *outer, *session_variables}

    def variables(self) -> dict[str, Any]:
        typed = {name: session_variables[name] for name in session_variables}
        outer = self._outer.variables() if isinstance(self._outer, Namespace) else typed
        return {**outer, **{name: self._read[name]() for name in self._inputs}}

    def module(self) -> dict[str, Any]:
        return self._outer.module() if isinstance(self._outer, Namespace) else dict(self._outer)

    def set_name(self, name: str, value: Any) -> None:
        if name in self._read:
            raise CommandError(f'{name!r} is a tensor of the graph here, not a variable: set it by "inject TENSOR EXPR"')
        if isinstance(self._outer, Namespace):
            self._outer.set_name(name, value)
        elif name in self._outer:
            raise CommandError(f'{name!r} is a name of the program, and a node has no frame to set a variable in: '
                               f'"up" and "down" select a frame. "${name} = ..." is a variable of the session')
        else:
            super().set_name(name, value)

    def delete_name(self, name: str) -> None:
        if isinstance(self._outer, Namespace):
            self._outer.delete_name(name)
        else:
            super().delete_name(name)


def _write_back(frame: FrameType, *, clear: bool) -> None:
    """Up to 3.12 `f_locals` is a copy of a function's variables."""
    if sys.version_info < (3, 13):
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(clear))


def evaluate(text: str, names: Namespace) -> Any:
    """The value of an expression.

    Raises:
        CommandError: It is none, or it raises; with a caret at the place.
    """
    text = translate(text.strip())
    return _run(_compile(text, 'eval'), text, names)


def carry_out(text: str, names: Namespace) -> None:
    """Do what lines of Python say; `names.display` gets the value of each expression statement, as soon as there is one.

    Raises:
        CommandError: It is no Python, or it raises; with a caret at the place.
    """
    text = translate(text.strip())
    _run(_compile(text, 'exec', displaying), text, names)


def repeatable(text: str) -> CodeType:
    """Python that has been carried out once, for who does so again and again; it may raise anything then."""
    text = translate(text.strip())
    return _compile(text, 'eval' if _is_expression(text) else 'exec')


def _is_expression(text: str) -> bool:
    try:
        _compile(text, 'eval')
    except CommandError:
        return False
    return True


def check(text: str) -> None:
    """Read an expression without evaluating it.

    Raises:
        CommandError: It is none.
    """
    _compile(translate(text.strip()), 'eval')


def is_python(text: str) -> bool:
    """Whether a line is Python at all."""
    try:
        _compile(translate(text.strip()), 'exec')
    except CommandError:
        return False
    return True


def replace_tensor_names(text: str, tensors: Iterable[str]) -> tuple[str, dict[str, str]]:
    """An expression in which 'mm:0' means a tensor, as Python.

    Returns:
        The expression with names of the same length in place of the tensors, and what each of them means.
    """
    names = sorted((name for name in tensors if ':' in name), key=len, reverse=True)
    if ':' not in text or not names:
        return text, {}
    pattern = re.compile(r'(?<![\w/.])(' + '|'.join(re.escape(name) for name in names) + r')(?!\w)')
    meaning: dict[str, str] = {}
    parts, position = [], 0
    for match in pattern.finditer(text):
        between = text[position:match.start()]
        depth = _open_slices(text[:match.start()])
        word = re.sub(r'\W', '_', match[0])
        word = word if not word[0].isdigit() else '_' + word[1:]
        parts += [between, word if depth <= 0 else match[0]]
        if depth <= 0:
            meaning[word] = match[0]
        position = match.end()
    return ''.join(parts) + text[position:], meaning


def _open_slices(text: str) -> int:
    """The number of subscripts and dicts that are open at the end, in which a colon has a meaning; a list is none."""
    open_brackets: list[bool] = []
    last = ''
    for char in text:
        if char in '[{':
            open_brackets.append(char == '{' or last.isalnum() or last in ('_', ')', ']', '`', '"', "'"))
        elif char in ']}' and open_brackets:
            open_brackets.pop()
        if not char.isspace():
            last = char
    return sum(open_brackets)


def _compile(text: str, mode: str, change: Callable[[ast.Module], ast.Module] = lambda tree: tree) -> CodeType:
    if not text:
        raise MissingExpressionError('an expression is missing: type one, such as "p x.shape"')
    try:
        tree: Any = ast.parse(text, TYPED_CODE, mode)
        code: CodeType = compile(change(tree), TYPED_CODE, mode, dont_inherit=True)
    except SyntaxError as error:
        raise CommandError(_with_caret(text, f'SyntaxError: {error.msg}', (error.offset or 1) - 1, error.lineno
                                       or 1)) from None
    except (ValueError, MemoryError, RecursionError) as error:
        raise CommandError(f'this is not valid Python: {error}') from None
    return code


def _run(code: CodeType, text: str, names: Namespace) -> Any:
    try:
        linecache.cache.pop(TYPED_CODE, None)
        return eval(code, names)
    except (CommandError, KeyboardInterrupt):
        raise
    except BaseException as error:              # typed code may raise anything: report it
        if isinstance(error, RunAborted):
            raise
        if names.refused is not None:
            raise names.refused from None
        raise CommandError(_explain(error, text, names)) from None
    finally:
        names.settle()


def _explain(error: BaseException, text: str, names: Namespace) -> str:
    """The error of the typed code, with a caret at the part that raised it."""
    said = exception_message(error)
    message = f'{type(error).__name__}: {said}' if said else type(error).__name__
    if isinstance(error, NameError) and error.name:
        message += '.' + (nearest(error.name, (name for name in names.all_names() if not name.startswith('__')), 2)
                          if error.name not in KNOWN else ' Conditions of calls know it: "break NODE if ..."')
    place = _place(error.__traceback__)
    if place is None or place[2] - place[1] >= len(text) > 20:
        return message
    line, start, end = place
    return _with_caret(text, message, start, line, end)


def _place(traceback: TracebackType | None) -> tuple[int, int, int] | None:
    """Line and columns of the typed code that an error came from."""
    place = None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == TYPED_CODE and traceback.tb_lasti >= 0:
            positions = list(traceback.tb_frame.f_code.co_positions())
            line, last, start, end = positions[traceback.tb_lasti // 2]
            if line is not None and start is not None and end is not None and last == line:
                place = line, start, end
        traceback = traceback.tb_next
    return place


def _with_caret(text: str, message: str, start: int, line: int, end: int | None = None) -> str:
    lines = text.splitlines()
    if not 1 <= line <= len(lines):
        return message
    marked_line = lines[line - 1]
    raw = marked_line.encode()                        # Python counts bytes
    if end is not None:
        start, end = len(raw[:start].decode('utf-8', 'replace')), len(raw[:end].decode('utf-8', 'replace'))
    first = max(0, start - 60)
    caret = '^' * max(1, (end or start + 1) - start)
    return f'{message}\n    {untranslate(marked_line[first:first + 100])}\n    {" " * (start - first)}{caret[:100]}'
