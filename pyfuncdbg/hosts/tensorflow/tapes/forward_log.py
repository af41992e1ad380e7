"""Forward log of a tape: which op made which tensor, and where. Backward steps and missing gradients need it.

TensorFlow's tape keeps that in C++, inaccessible from Python. While a hook wants gradients, each new tape has a log, filled
by TensorFlow's own op callbacks on the tape's thread. Tensors are known by number: none is kept alive.

A `py_function` has a tape for each call, so tapes and ops must cost little. TensorFlow's threads lose thread-local values
after each call; a thread's log is found among its callbacks.
"""
from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.chain import hooks, report_failure
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.program_line import program_line
from pyfuncdbg.hosts.interception.traceback_frames import drop_outermost_frame
from pyfuncdbg.hosts.tensorflow.nodes.op_types import SCRIPTS
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

_MOST = 200_000
"""Most ops that are logged for one tape."""
_number = attrgetter('_id')


class LoggedOp:
    """An op that ran, or a node that was made, while a tape recorded. Made by `logged_op`.

    Attributes:
        type: Of the op; the name of a function with a gradient of its own.
        name: Of the node; '' of an eager op.
        inputs, outputs: Numbers of its input and output tensors.
        dtype: Of the first output, TensorFlow's number; None without outputs.
        where: The program's line.
        token: Of a wrapped function, in TensorFlow's registry.
        call: Id of its call, 0 if it is none.
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
    """A `LoggedOp` with the numbers of these tensors."""
    op = LoggedOp()
    op.type = type
    op.name = name
    _number_each(op, inputs, outputs)
    op.where = where
    op.token = token
    op.call = 0
    return op


def _number_each(op: LoggedOp, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Set the numbers of tensors, lists of them, and other objects among them."""
    op.inputs = tuple(_numbers(inputs))
    op.outputs = tuple([getattr(tensor, '_id', 0) for tensor in outputs])
    op.dtype = getattr(getattr(outputs[0], 'dtype', None), 'as_datatype_enum', None) if outputs else None


class ForwardLog:
    """The ops of one or several tapes that recorded at the same time on one thread.

    Attributes:
        eager: Whether the tape began in eager code; nodes that are traced meanwhile belong to another graph.
        forward: The logs that it belongs to.
        by_output: The op that made a tensor, by the tensor's number.
        recording: How many of the tapes are recording.
    """

    __slots__ = ('by_output', 'eager', 'forward', 'recording')

    def __init__(self, eager: bool, forward: ForwardLogs | None = None) -> None:
        self.forward = forward
        self.eager = eager
        self.by_output: dict[int, LoggedOp] = {}
        self.recording = 0

    def add(self, op: LoggedOp) -> None:
        """Add an op; of several that made a tensor the last is kept."""
        if len(self.by_output) < _MOST:
            for number in op.outputs:
                self.by_output[number] = op

    def all(self) -> Iterator[LoggedOp]:
        """Each op once, in order."""
        return iter(dict.fromkeys(self.by_output.values()))

    def note(self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
        """Callback of TensorFlow after each op, and after each node that is made."""
        forward = self.forward
        if (graph is None) is not self.eager or forward is None or not forward.on:
            return
        try:
            op = LoggedOp()                        # as `logged_op` and `add`; inlined, it takes half as long
            op.type = op_type if type(op_type) is str else _text(op_type)
            op.name = _text(op_name) if op_name is not None else ''
            try:
                op.inputs = tuple(map(_number, inputs))
                op.outputs = tuple(map(_number, outputs))
                op.dtype = outputs[0]._datatype_enum() if outputs else None
            except AttributeError:
                _number_each(op, inputs, outputs)
            op.where = program_line(sys._getframe(1))
            op.token = attr_text(attrs, 'token') if op_type in SCRIPTS else ''
            op.call = 0
            if len(self.by_output) < _MOST:
                for number in op.outputs:
                    self.by_output[number] = op
        except Exception as error:              # a mistake of ours: the program's op has run
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
        """Log each tape from its beginning."""
        tapes, scripts = self._parts.tapes, self._parts.scripts
        patches.replace(tapes, 'push_new_tape', self._replace_push_new(tapes.push_new_tape))
        patches.replace(tapes, 'push_tape', self._replace_push(tapes.push_tape))
        patches.replace(tapes, 'pop_tape', self._replace_pop(tapes.pop_tape))
        kind = self._parts.tape.GradientTape
        patches.replace(kind, 'reset', self._replace_reset(kind.reset))
        patches.replace(scripts, 'py_func_common', self._replace_py_func_common(scripts.py_func_common))

    def remove(self) -> None:
        """Log nothing more."""
        self.on = False
        log = self.current
        if log is not None:
            self._end(log)

    def log_of(self, tape: Any) -> ForwardLog | None:
        """The log of a tape; None if no hook wanted gradients when it began."""
        return tape.log if type(tape) is self._logged else None

    @property
    def current(self) -> ForwardLog | None:
        """The log of this thread's tapes, None if none of them is recording."""
        return self._find_log(self._thread.op_callbacks)

    @property
    def _thread(self) -> Any:
        """TensorFlow's data of this thread."""
        module = self._parts.context
        return (module._context or module.context())._thread_local_data

    def _find_log(self, callbacks: Sequence[Any]) -> ForwardLog | None:
        for callback in callbacks:
            log = getattr(callback, '__self__', None)
            if type(log) is ForwardLog and log.forward is self:
                return log
        return None

    # ------------------------------------------------------------------ tapes
    def _replace_push_new(self, original: Callable[..., Any]) -> Callable[..., Any]:
        kind, blank = self._logged, self._logged.__new__

        def push_new_tape(persistent: Any = False, watch_accessed_variables: Any = True) -> Any:
            tape = original(persistent, watch_accessed_variables)
            if not hooks.gradient or not self.on:
                return tape
            logged = blank(kind)                # as its __init__
            logged._tape = tape._tape
            self._begin(logged, None)
            return logged
        return push_new_tape

    def _replace_push(self, original: Callable[[Any], None]) -> Callable[[Any], None]:
        def push_tape(tape: Any) -> None:
            original(tape)
            if type(tape) is self._logged and hooks.gradient and self.on:
                self._begin(tape, tape.log)
        return push_tape

    def _replace_pop(self, original: Callable[[Any], None]) -> Callable[[Any], None]:
        def pop_tape(tape: Any) -> None:
            original(tape)
            if type(tape) is self._logged and tape.noted:
                tape.noted = False
                log = tape.log
                log.recording -= 1
                if not log.recording:
                    self._end(log)
        return pop_tape

    def _replace_reset(self, original: Callable[[Any], None]) -> Callable[[Any], None]:
        """The replacement for `reset`: the log keeps what the tape forgets, so that nothing seems computed elsewhere."""
        @functools.wraps(original)
        def reset(tape: Any) -> None:
            before = self.log_of(tape._tape)
            try:
                original(tape)
            except BaseException as error:
                drop_outermost_frame(error)
                raise
            after = self.log_of(tape._tape)
            if before is not None and after is not None and after is not before:
                after.by_output = before.by_output | after.by_output
        return reset

    def _begin(self, tape: Any, known_log: ForwardLog | None) -> None:
        """Begin to log, as TensorFlow's `add_op_callback`, which takes as long as an op."""
        thread = self._thread
        callbacks = thread.op_callbacks
        log = self._find_log(callbacks) if callbacks else None
        if log is None:
            log = known_log or ForwardLog(thread.is_eager, self)
            callbacks.append(log.note)
            if thread.is_eager:
                self._parts.execute.execute = self._parts.execute.execute_with_callbacks
        elif known_log is not None and known_log is not log:        # a tape that continues among others
            log.by_output.update(known_log.by_output)
        log.recording += 1
        tape.log, tape.noted = log, True

    def _end(self, log: ForwardLog) -> None:
        """End a log, as TensorFlow's `remove_op_callback`."""
        thread = self._thread
        callbacks = thread.op_callbacks
        for i, callback in enumerate(callbacks):
            if getattr(callback, '__self__', None) is log:
                del callbacks[i]
                if not callbacks and thread.is_eager:
                    self._parts.execute.execute = self._parts.execute.quick_execute
                return

    # ------------------------------------------------------------------ ops
    def note_op(self, op: LoggedOp) -> None:
        """Log a call that has a gradient of its own, or none."""
        log = self.current
        if log is not None:
            log.add(op)

    def _replace_py_func_common(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """The replacement for `py_func_common`: an eager `numpy_function` is no op, so it is logged here."""
        def py_func_common(func: Any, inp: Any, Tout: Any, stateful: Any = True, name: Any = None) -> Any:  # noqa: N803
            try:
                result = original(func, inp, Tout, stateful, name)
            except BaseException as error:
                drop_outermost_frame(error)
                raise
            log = self.current
            if log is not None and log.eager and self.on:
                inputs = inp if isinstance(inp, (list, tuple)) else [inp]
                results = result if isinstance(result, (list, tuple)) else [result]
                log.add(logged_op('PyFunc', getattr(func, '__name__', '') or 'numpy_function',
                             [getattr(tensor, 'handle', tensor) for tensor in inputs],
                             [tensor for tensor in results if hasattr(tensor, 'dtype')],
                             program_line(sys._getframe(1))))
            return result
        return py_func_common


def _numbers(tensors: Iterable[Any]) -> Iterator[int]:
    """The numbers of tensors and of lists of them."""
    for tensor in tensors:
        if isinstance(tensor, (list, tuple)):
            yield from _numbers(tensor)
        else:
            yield getattr(tensor, '_id', 0)


def attr_text(attrs: Any, name: str) -> str:
    """An attribute of an op, in TensorFlow's flat list, if it is text."""
    for i in range(0, len(attrs or ()), 2):
        if _text(attrs[i]) == name:
            return _text(getattr(attrs[i + 1], 's', attrs[i + 1]))
    return ''


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode(errors='replace')
    return value if isinstance(value, str) else ''
