"""Forward log of a tape: which op made which tensor, and where. Backward steps and missing gradients need it.

TensorFlow's tape keeps that in C++, inaccessible from Python. As long as a hook wants gradients, each tape that begins has a
log, filled by TensorFlow's own op callbacks on the tape's thread. Tensors are known by number: none is kept alive.

A `py_function` has a tape for each call, so what tapes and ops cost is kept small. Nothing is kept on the thread, for
those of TensorFlow begin anew with each call; a thread's log is found where its callbacks are.
"""
from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.chain import hooks, report_failure
from pyfuncdbg.hosts.tensorflow.nodes.op_types import SCRIPTS
from pyfuncdbg.hosts.tensorflow.patching import Patches, without_this_frame
from pyfuncdbg.hosts.tensorflow.python_calls.program_line import program_line
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

_MOST = 200_000
"""Ops that are noted for one tape."""
_number = attrgetter('_id')


class LoggedOp:
    """An op that ran, or a node that was made, while a tape recorded. Made by `logged_op`.

    Attributes:
        type: Of the op; the name of a function with a gradient of its own.
        name: Of the node; '' of an op that ran at once.
        inputs: Numbers of its input tensors; `outputs` those of what it made.
        dtype: Of the first output, as TensorFlow numbers them; None for none.
        where: The program's line.
        token: Of a wrapped function, in TensorFlow's registry.
        call: Id of the call that it is, 0 if it is none.
    """

    __slots__ = ('call', 'dtype', 'inputs', 'name', 'outputs', 'token', 'type', 'where')

    type: str
    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    dtype: int | None
    where: Frame | None
    token: str
    call: int


def logged_op(type: str, name: str, inputs: Sequence[Any], outputs: Sequence[Any], where: Frame | None,
         token: str = '') -> LoggedOp:
    """A `LoggedOp` from the tensors of what ran or was made."""
    new = LoggedOp()
    new.type = type
    new.name = name
    _number_each(new, inputs, outputs)
    new.where = where
    new.token = token
    new.call = 0
    return new


def _number_each(new: LoggedOp, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Of whatever there may be among them."""
    new.inputs = tuple(_numbers(inputs))
    new.outputs = tuple([getattr(tensor, '_id', 0) for tensor in outputs])
    new.dtype = getattr(getattr(outputs[0], 'dtype', None), 'as_datatype_enum', None) if outputs else None


class ForwardLog:
    """The ops of one or several tapes that recorded at the same time on one thread.

    Attributes:
        eager: Whether the tape began in eager code; what is traced meanwhile is another graph's.
        forward: Whose log it is.
        by_output: Tensor number to what made it.
        recording: How many tapes do.
    """

    __slots__ = ('by_output', 'eager', 'forward', 'recording')

    def __init__(self, eager: bool, forward: ForwardLogs | None = None) -> None:
        self.forward = forward
        self.eager = eager
        self.by_output: dict[int, LoggedOp] = {}
        self.recording = 0

    def add(self, new: LoggedOp) -> None:
        """Note an op; the last that made a tensor stands."""
        if len(self.by_output) < _MOST:
            for number in new.outputs:
                self.by_output[number] = new

    def all(self) -> Iterator[LoggedOp]:
        """Each op once, in order."""
        return iter(dict.fromkeys(self.by_output.values()))

    def note(self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
        """Callback of TensorFlow after each op, and after each node that is made."""
        forward = self.forward
        if (graph is None) is not self.eager or forward is None or not forward.on:
            return
        try:
            new = LoggedOp()                        # as `logged_op` and `add`, in one piece: that takes half as long
            new.type = op_type if type(op_type) is str else _text(op_type)
            new.name = _text(op_name) if op_name is not None else ''
            try:
                new.inputs = tuple(map(_number, inputs))
                new.outputs = tuple(map(_number, outputs))
                new.dtype = outputs[0]._datatype_enum() if outputs else None
            except AttributeError:
                _number_each(new, inputs, outputs)
            new.where = program_line(sys._getframe(1))
            new.token = attr_text(attrs, 'token') if op_type in SCRIPTS else ''
            new.call = 0
            if len(self.by_output) < _MOST:
                for number in new.outputs:
                    self.by_output[number] = new
        except Exception as error:              # a mistake of ours: the program's op has run, and its result stands
            forward.on = False
            report_failure('following the gradient tape failed and is switched off', error)


class ForwardLogs:
    """The logs of all tapes.

    Attributes:
        on: Whether ops are noted.
    """

    def __init__(self, parts: TensorFlowParts) -> None:
        self._parts = parts
        self.on = True
        kind: Any = parts.tapes.Tape

        class Logged(kind):  # type: ignore[misc]
            """A tape of TensorFlow's with its log: that goes when the tape does."""

            __slots__ = ('log', 'noted')
            log: ForwardLog
            noted: bool

        self._logged: Any = Logged

    def install(self, patches: Patches) -> None:
        """Follow each tape from its begin."""
        tapes, scripts = self._parts.tapes, self._parts.scripts
        patches.replace(tapes, 'push_new_tape', self._new(tapes.push_new_tape))
        patches.replace(tapes, 'push_tape', self._pushing(tapes.push_tape))
        patches.replace(tapes, 'pop_tape', self._popping(tapes.pop_tape))
        kind = self._parts.tape.GradientTape
        patches.replace(kind, 'reset', self._resetting(kind.reset))
        patches.replace(scripts, 'py_func_common', self._plain_calls(scripts.py_func_common))

    def remove(self) -> None:
        """Note nothing more."""
        self.on = False
        log = self.current
        if log is not None:
            self._end(log)

    def of(self, tape: Any) -> ForwardLog | None:
        """The log of a tape, by what TensorFlow keeps it in; None if no hook wanted gradients when it began."""
        return tape.log if type(tape) is self._logged else None

    @property
    def current(self) -> ForwardLog | None:
        """The log of this thread's tapes, None if none of them records."""
        return self._in(self._thread.op_callbacks)

    @property
    def _thread(self) -> Any:
        """TensorFlow's data of this thread."""
        module = self._parts.context
        return (module._context or module.context())._thread_local_data

    def _in(self, callbacks: Sequence[Any]) -> ForwardLog | None:
        for callback in callbacks:
            log = getattr(callback, '__self__', None)
            if type(log) is ForwardLog and log.forward is self:
                return log
        return None

    # ------------------------------------------------------------------ tapes
    def _new(self, original: Callable[..., Any]) -> Callable[..., Any]:
        kind, blank = self._logged, self._logged.__new__

        def push_new_tape(persistent: Any = False, watch_accessed_variables: Any = True) -> Any:
            tape = original(persistent, watch_accessed_variables)
            if not hooks.gradient or not self.on:
                return tape
            logged = blank(kind)                # its __init__ does no more
            logged._tape = tape._tape
            self._begin(logged, None)
            return logged
        return push_new_tape

    def _pushing(self, original: Callable[[Any], None]) -> Callable[[Any], None]:
        def push_tape(tape: Any) -> None:
            original(tape)
            if type(tape) is self._logged and hooks.gradient and self.on:
                self._begin(tape, tape.log)
        return push_tape

    def _popping(self, original: Callable[[Any], None]) -> Callable[[Any], None]:
        def pop_tape(tape: Any) -> None:
            original(tape)
            if type(tape) is self._logged and tape.noted:
                tape.noted = False
                log = tape.log
                log.recording -= 1
                if not log.recording:
                    self._end(log)
        return pop_tape

    def _resetting(self, original: Callable[[Any], None]) -> Callable[[Any], None]:
        """A tape that forgets: its log does not, so that nothing is said to be computed elsewhere."""
        @functools.wraps(original)
        def reset(tape: Any) -> None:
            before = self.of(tape._tape)
            try:
                original(tape)
            except BaseException as error:
                without_this_frame(error)
                raise
            after = self.of(tape._tape)
            if before is not None and after is not None and after is not before:
                after.by_output = before.by_output | after.by_output
        return reset

    def _begin(self, tape: Any, known: ForwardLog | None) -> None:
        """As TensorFlow's `add_op_callback`, which takes as long as an op."""
        thread = self._thread
        callbacks = thread.op_callbacks
        log = self._in(callbacks) if callbacks else None
        if log is None:
            log = known or ForwardLog(thread.is_eager, self)
            callbacks.append(log.note)
            if thread.is_eager:
                self._parts.execute.execute = self._parts.execute.execute_with_callbacks
        elif known is not None and known is not log:        # recorded before, and goes on among others
            log.by_output.update(known.by_output)
        log.recording += 1
        tape.log, tape.noted = log, True

    def _end(self, log: ForwardLog) -> None:
        """As TensorFlow's `remove_op_callback`."""
        thread = self._thread
        callbacks = thread.op_callbacks
        for i, callback in enumerate(callbacks):
            if getattr(callback, '__self__', None) is log:
                del callbacks[i]
                if not callbacks and thread.is_eager:
                    self._parts.execute.execute = self._parts.execute.quick_execute
                return

    # ------------------------------------------------------------------ ops
    def noted(self, new: LoggedOp) -> None:
        """Note what has a gradient of its own, or none, beside ops."""
        log = self.current
        if log is not None:
            log.add(new)

    def _plain_calls(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """An eager `numpy_function` is no op: that it cuts a gradient is known here only."""
        def py_func_common(func: Any, inp: Any, Tout: Any, stateful: Any = True, name: Any = None) -> Any:  # noqa: N803
            try:
                found = original(func, inp, Tout, stateful, name)
            except BaseException as error:
                without_this_frame(error)
                raise
            log = self.current
            if log is not None and log.eager and self.on:
                given = inp if isinstance(inp, (list, tuple)) else [inp]
                results = found if isinstance(found, (list, tuple)) else [found]
                log.add(logged_op('PyFunc', getattr(func, '__name__', '') or 'numpy_function',
                             [getattr(tensor, 'handle', tensor) for tensor in given],
                             [tensor for tensor in results if hasattr(tensor, 'dtype')],
                             program_line(sys._getframe(1))))
            return found
        return py_func_common


def _numbers(tensors: Iterable[Any]) -> Iterator[int]:
    """Of tensors and lists of them."""
    for tensor in tensors:
        if isinstance(tensor, (list, tuple)):
            yield from _numbers(tensor)
        else:
            yield getattr(tensor, '_id', 0)


def attr_text(attrs: Any, name: str) -> str:
    """An attribute of an op as TensorFlow gives them, if it is text."""
    for i in range(0, len(attrs or ()), 2):
        if _text(attrs[i]) == name:
            return _text(getattr(attrs[i + 1], 's', attrs[i + 1]))
    return ''


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode(errors='replace')
    return value if isinstance(value, str) else ''
