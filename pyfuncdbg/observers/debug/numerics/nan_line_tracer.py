"""The line tracer: runs one call line by line and notes where each non-finite value appeared, and from which operands.

Armed on the thread of the command, for the one call that is made again; the program's own runs are never traced by it. Only
what a statement may have changed is looked at after it, and a finite product with itself proves an array finite.
"""
from __future__ import annotations

import math
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from pyfuncdbg.hooks.own_files import is_host_class, is_machinery
from pyfuncdbg.hooks.source_map import exact_line, is_block, program_code
from pyfuncdbg.observers.debug.numerics.statement_names import Path, Statement, statements_of
from pyfuncdbg.observers.record.dtypes import dtype_name
from pyfuncdbg.observers.record.records import TensorRecord
from pyfuncdbg.observers.record.snapshots.statistics import all_finite, stats_of

RETURNED = 'return value'
MOST = 1_000
"""Appearances that are noted."""
COPIED = 1 << 20
"""Bytes of an operand that is copied before a statement that may write to it."""
ITEMS = 100
"""Items of a list, tuple or dict that are checked."""
_NOTHING: Any = object()
_SHARED = frozenset((float, int, bool, type(None)))     # `np.nan` is the same object everywhere


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand of a statement.

    Attributes:
        name: As written.
        tensor: Its summary, as it was before the statement.
        origin_index: Which appearance its non-finite values are of, None if it was finite.
        after_statement: The summary is of the contents after the statement: they were too large to be kept.
    """

    name: str
    tensor: TensorRecord
    origin_index: int | None = None
    after_statement: bool = False


@dataclass(frozen=True, slots=True)
class NonfiniteVariable:
    """A variable that became non-finite.

    Attributes:
        filename, line, function: Where.
        statement: Its text, '' without source, or for a parameter.
        variable: 'x', 'self.buffer', 'parts[3]', 'return value'.
        tensor: Its summary; `tensor.stats.first_bad` is the index.
        operands: What the statement used.
        is_parameter: It is a parameter that came in so.
    """

    filename: str
    line: int
    function: str
    statement: str
    variable: str
    tensor: TensorRecord
    operands: tuple[Operand, ...] = ()
    is_parameter: bool = False


class LineTracer:
    """Trace function for what is called under `run`.

    Args:
        to_numpy: Reads a tensor of the host.
        function: That of the call; None if the first that is called is it. A host calls others before it. Of libraries no
            other function is traced.

    Attributes:
        appearances: In order of time.
        returned: Index of the appearance that the outermost function's result is or holds, None if it is finite.
        frames: How many functions of the program were traced.
    """

    def __init__(self, to_numpy: Callable[[Any], np.ndarray], function: Any = None) -> None:
        self.appearances: list[NonfiniteVariable] = []
        self.returned: int | None = None
        self.frames = 0
        self._to_numpy = to_numpy
        self._function = _place(function)
        self._tensors: dict[type, bool] = {}
        self._tables: dict[CodeType, Mapping[int, Statement] | None] = {}
        self.results: list[int] = []
        """Appearances that functions of the program returned, in order."""
        self._ids: dict[int, tuple[Any, int]] = {}
        """By id, objects that are known to be non-finite (kept alive, so that the id is theirs), and their appearance."""

    def run(self, function: Callable[[], Any]) -> Any:
        """Call it, traced; also from inside of a trace function."""
        before = sys.gettrace()
        sys.settrace(self._enter)               # first: an active trace function would see the call
        try:
            return sys.call_tracing(self._run_traced, (function,))
        finally:
            sys.settrace(before)

    def _run_traced(self, function: Callable[[], Any]) -> Any:
        sys.settrace(self._enter)               # 3.11 disables tracing inside a trace function until it is set again
        return function()

    def _enter(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        try:
            table = self._tables[code]
        except KeyError:
            wanted = not is_machinery(code.co_filename) and (not _is_library(code.co_filename) or self._is_first(code))
            table = self._tables[code] = statements_of(program_code(code)) if wanted else None
        if table is None or event != 'call':
            return None
        self.frames += 1
        return _Activation(self, frame, table, outermost=self.frames == 1).on_event

    def _is_first(self, code: CodeType) -> bool:
        """Whether a function of a library is that of the call."""
        return not self.frames and (self._function is None or _place_of(code) == self._function)

    # ------------------------------------------------------------------ values
    def parts(self, value: Any) -> Sequence[tuple[str, np.ndarray]]:
        """The non-finite arrays in a value, each with what to write behind the variable's name: '' or '[3]'."""
        kind = type(value)
        if kind is np.ndarray:
            return () if _is_finite(value) else (('', value),)
        if kind in _NEVER:
            return ()
        if isinstance(value, float | complex | np.inexact):
            return () if _is_finite_number(value) else (('', np.asarray(value)),)
        if isinstance(value, np.ndarray):
            return () if all_finite(value) else (('', np.asarray(value)),)
        if kind in (list, tuple):
            return self._of_items([(f'[{i}]', item) for i, item in enumerate(value[:ITEMS])])
        if kind is dict:
            return self._of_items([(f'[{key!r:.40}]', value[key]) for key in list(value)[:ITEMS] if type(key) in (str, int)])
        array = self.array_of(value)
        return () if array is None or all_finite(array) else (('', array),)

    def _of_items(self, items: Sequence[tuple[str, Any]]) -> Sequence[tuple[str, np.ndarray]]:
        arrays: list[tuple[str, np.ndarray]] = []
        for where, item in items:
            if isinstance(item, np.ndarray | float | complex | np.inexact) or self._is_tensor(item):
                arrays += [(where + more, array) for more, array in self.parts(item)]
        return arrays

    def array_of(self, value: Any) -> np.ndarray | None:
        """The array behind a number or tensor, None for other objects."""
        if isinstance(value, np.ndarray | np.generic | float | complex | int) and not isinstance(value, bool):
            return np.asarray(value)
        return self._to_numpy(value) if self._is_tensor(value) else None

    def _is_tensor(self, value: Any) -> bool:
        kind = type(value)
        is_tensor = self._tensors.get(kind)
        if is_tensor is None:
            is_tensor = is_host_class(kind) and self._to_numpy(value).dtype.kind != 'O'
            self._tensors[kind] = is_tensor
        return is_tensor

    def appearance_of(self, value: Any) -> int | None:
        """The appearance of an object, or of something in a list of them."""
        entry = self._ids.get(id(value))
        while entry is None and isinstance(value, np.ndarray) and value.base is not None:
            value = value.base                  # a view shows what its array holds
            entry = self._ids.get(id(value))
        if entry is None and type(value) in (list, tuple):
            entry = next((one for item in value[:ITEMS] if (one := self._ids.get(id(item))) is not None), None)
        return entry[1] if entry is not None and type(value) not in _SHARED else None

    def add_appearance(self, appearance: NonfiniteVariable, value: Any) -> int:
        """Note one; its number."""
        if len(self.appearances) < MOST:
            self.appearances.append(appearance)
        index = len(self.appearances) - 1
        self._ids[id(value)] = value, index
        return index


class _Activation:
    """A running function of the program."""

    __slots__ = ('_bad', '_before', '_code', '_generated', '_last', '_now', '_outermost', '_results', '_table', '_tracer')

    def __init__(self, tracer: LineTracer, frame: FrameType, table: Mapping[int, Statement], *, outermost: bool) -> None:
        self._tracer = tracer
        self._code = program_code(frame.f_code)
        self._generated = frame.f_code is not self._code
        self._table = table
        self._outermost = outermost
        self._bad: dict[Path, tuple[int, bool]] = {}
        """Variables that are non-finite now: their appearance, and whether NaN is in them."""
        self._last: dict[Path, Any] = {}
        self._before: list[tuple[Path, Any, Any]] = []
        self._now: Statement | None = None
        self._results = 0
        arguments = frame.f_locals if not (self._generated and is_block(frame.f_code)) else {}
        for name in self._code.co_varnames[:self._code.co_argcount + self._code.co_kwonlyargcount]:
            if name in arguments:
                self._look((name,), arguments[name], None)

    def on_event(self, frame: FrameType, event: str, arg: Any) -> Any:
        """The callback of `sys.settrace`."""
        if event == 'line':
            line = frame.f_lineno if not self._generated else exact_line(frame.f_code, frame.f_lineno)
            if not line:
                return self.on_event            # of no statement: the last one goes on
            if self._now is not None:
                self._after(frame)
            statement = self._now = self._table.get(line)
            if statement is not None:
                self._note_operands(statement, frame)
        elif event == 'return' and self._now is not None:
            self._after(frame)
            if arg is not None:
                self._returns(arg)
        return self.on_event

    def _note_operands(self, statement: Statement, frame: FrameType) -> None:
        """Keep what the statement reads: it may rebind it, or write to it."""
        values = frame.f_locals
        operands = self._before = []
        self._results = len(self._tracer.results)
        for path in statement.reads:
            value = _resolve(path, values, frame.f_globals)
            if value is _NOTHING or (type(value) in _NEVER and type(value) is not int):
                continue
            copy = None
            if statement.mutates and type(value) is np.ndarray and value.nbytes <= COPIED and path in statement.touched:
                copy = value.copy()
            operands.append((path, value, copy))

    def _after(self, frame: FrameType) -> None:
        """Check what the statement may have changed."""
        statement = self._now
        assert statement is not None
        values = frame.f_locals
        for path in statement.touched:
            value = _resolve(path, values, frame.f_globals)
            if value is _NOTHING or type(value) in _NEVER:
                continue
            if not statement.mutates and self._last.get(path) is value and path in self._last:
                continue
            self._last[path] = value
            self._look(path, value, statement)

    def _returns(self, value: Any) -> None:
        path = (RETURNED,)
        self._look(path, value, self._now)
        if path in self._bad:
            index = self._bad[path][0]
            self._tracer.results.append(index)
            if self._outermost:
                self._tracer.returned = index

    def _look(self, path: Path, value: Any, statement: Statement | None) -> None:
        tracer = self._tracer
        arrays = tracer.parts(value)
        if not arrays:
            self._bad.pop(path, None)
            return
        where, array = arrays[0]
        nan = bool(np.isnan(array).any())
        before = self._bad.get(path)
        if before is not None and before[1] >= nan:
            return
        known = tracer.appearance_of(value)
        if known is not None and _has_nan(tracer.appearances[known]) >= nan:
            self._bad[path] = known, nan            # the same object by another name
            return
        code = self._code
        index = tracer.add_appearance(NonfiniteVariable(
            code.co_filename, code.co_firstlineno if statement is None else statement.line, code.co_name,
            '' if statement is None else statement.text, '.'.join(path) + where, describe('.'.join(path), array),
            self._operands(), is_parameter=statement is None), value)
        self._bad[path] = index, nan

    def _operands(self) -> tuple[Operand, ...]:
        tracer = self._tracer
        operands = []
        for path, value, copy in self._before:
            array = copy if copy is not None else tracer.array_of(value)
            if array is None:
                parts = tracer.parts(value)
                if not parts:
                    continue
                array = parts[0][1]
            if array.dtype.kind not in 'biufcV':
                continue
            appearance = None
            if not all_finite(array):
                held = self._bad.get(path)
                appearance = held[0] if held is not None else tracer.appearance_of(value)
            after = copy is None and isinstance(value, np.ndarray) and self._now is not None and self._now.mutates \
                and path in self._now.touched
            operands.append(Operand('.'.join(path), describe('.'.join(path), array), appearance, after))
        for index in dict.fromkeys(tracer.results[self._results:]):
            result = tracer.appearances[index]
            operands.append(Operand(f'{result.function}()', result.tensor, index))
        return tuple(operands)


def find_cause(tracer: LineTracer) -> list[int]:
    """The appearances that lead to the result, the first one first: back from it, through operands, to finite ones.

    NaN is followed through operands with NaN only: NaN that came of an infinity began where it came.
    """
    at = tracer.returned
    if at is None:
        return [len(tracer.appearances) - 1] if tracer.appearances else []
    way = [at]
    while True:
        appearance = tracer.appearances[at]
        nan = _has_nan(appearance)
        earlier = [index for operand in appearance.operands if (index := operand.origin_index) is not None and index < at
                   and (not nan or _holds_nan(operand.tensor))]
        if not earlier:
            return way[::-1]
        at = min(earlier)
        way.append(at)


def describe(name: str, array: np.ndarray) -> TensorRecord:
    """The summary of a value, as of a recorded tensor."""
    return TensorRecord(name, dtype_name(array.dtype), array.shape, array.nbytes, 'stats', stats_of(array))


def _has_nan(appearance: NonfiniteVariable) -> bool:
    return _holds_nan(appearance.tensor)


def _holds_nan(tensor: TensorRecord) -> bool:
    return tensor.stats is not None and tensor.stats.nan > 0


_NEVER = frozenset((int, bool, str, bytes, type(None), type, type(len), type(describe), type(sys), slice, range,
                    np.ufunc))


def _place(function: Any) -> tuple[str, int, str] | None:
    """The place of the code behind a callable; None if it has none in Python."""
    while isinstance(function, partial | MethodType):
        function = function.func if isinstance(function, partial) else function.__func__
    if not isinstance(function, FunctionType) and callable(function):
        function = getattr(function, '__wrapped__', function)       # NumPy's functions, and those with a cache
    if not isinstance(function, FunctionType):
        function = vars(type(function)).get('__call__')            # of an instance that can be called
    return _place_of(function.__code__) if isinstance(function, FunctionType) else None


def _place_of(code: CodeType) -> tuple[str, int, str]:
    own = program_code(code)
    return own.co_filename, own.co_firstlineno, own.co_name


_LIBRARIES = tuple({sysconfig.get_path(name) for name in ('stdlib', 'platstdlib', 'purelib', 'platlib')})


def _is_library(filename: str) -> bool:
    return filename.startswith((*_LIBRARIES, '<__array_function__')) or '/site-packages/' in filename


def _resolve(path: Path, values: Mapping[str, Any], outer: Mapping[str, Any]) -> Any:
    """The value of a variable; of attributes only what lies in the objects' dicts: properties are the program's code."""
    value = values[path[0]] if path[0] in values else outer.get(path[0], _NOTHING)
    if len(path) > 1 and type(value) is ModuleType:
        return _NOTHING                         # constants and functions
    for name in path[1:]:
        try:
            value = object.__getattribute__(value, '__dict__').get(name, _NOTHING)
        except AttributeError:
            return _NOTHING
    return value


def _is_finite(array: np.ndarray) -> bool:
    """A product with itself is the cheapest proof; where it overflows, each element is tested."""
    if array.dtype.kind not in 'fc' or array.dtype.itemsize < 4:
        return all_finite(array)
    flat = array.reshape(-1)
    total = np.dot(flat, flat)
    return bool(np.isfinite(total)) or bool(np.isfinite(flat).all())


def _is_finite_number(value: Any) -> bool:
    if isinstance(value, float | np.floating):
        return math.isfinite(value)
    return bool(np.isfinite(value))
