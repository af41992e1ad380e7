"""What a tape records, as far as a backward step and a missing gradient need it: which op made which tensor, and where.

TensorFlow's tape keeps that in C++ and shows it to nobody. As long as somebody wants gradients, each recording
`GradientTape` has a log, filled by TensorFlow's own op callbacks on the tape's thread. Tensors are known by number: none is
kept alive.
"""
from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pyfuncdbg.adapters.tensorflow.parts import Parts
from pyfuncdbg.adapters.tensorflow.patching import Patches, without_this_frame
from pyfuncdbg.adapters.tensorflow.places import program_line
from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.chain import hooks, say_failed

_MOST = 200_000
"""Ops that are noted for one tape."""
CALLS = ('EagerPyFunc', 'PyFunc', 'PyFuncStateless')


class Made:
    """An op that ran, or a node that was made, while a tape recorded.

    Attributes:
        type: Of the op; the name of a function with a gradient of its own.
        name: Of the node; '' of an op that ran at once.
        inputs: Numbers of its input tensors; `outputs` those of what it made.
        dtype: Of the first output, None for none.
        where: The program's line.
        token: Of a wrapped function, in TensorFlow's registry.
        call: Id of the call that it is, 0 if it is none.
    """

    __slots__ = ('call', 'dtype', 'inputs', 'name', 'outputs', 'token', 'type', 'where')

    def __init__(self, type: str, name: str, inputs: Sequence[Any], outputs: Sequence[Any], where: Frame | None,
                 token: str = '') -> None:
        self.type = type
        self.name = name
        self.inputs = tuple(_numbers(inputs))
        self.outputs = tuple([getattr(tensor, '_id', 0) for tensor in outputs])
        self.dtype: Any = outputs[0].dtype if outputs else None
        self.where = where
        self.token = token
        self.call = 0


class Log:
    """The ops of one or several tapes that recorded at the same time on one thread.

    Attributes:
        eager: Whether the tape began in eager code; what is traced meanwhile is another graph's.
        by_output: Tensor number to what made it.
    """

    __slots__ = ('by_output', 'eager')

    def __init__(self, eager: bool) -> None:
        self.eager = eager
        self.by_output: dict[int, Made] = {}

    def add(self, made: Made) -> None:
        """Note an op; the last that made a tensor stands."""
        if len(self.by_output) < _MOST:
            for number in made.outputs:
                self.by_output[number] = made

    def all(self) -> Iterator[Made]:
        """Each op once, in order."""
        return iter(dict.fromkeys(self.by_output.values()))


class Forward:
    """The logs of all tapes."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._thread = threading.local()
        self._logs: weakref.WeakKeyDictionary[Any, Log] = weakref.WeakKeyDictionary()
        self.on = True

    def install(self, patches: Patches) -> None:
        """Follow each tape from its begin."""
        kind, scripts = self._parts.tape.GradientTape, self._parts.scripts
        patches.replace(kind, '_push_tape', self._pushing(kind._push_tape))
        patches.replace(kind, '_pop_tape', self._popping(kind._pop_tape))
        patches.replace(scripts, 'py_func_common', self._plain_calls(scripts.py_func_common))

    def remove(self) -> None:
        """Note nothing more."""
        self.on = False
        if getattr(self._thread, 'tapes', None):
            self._thread.tapes.clear()
            self._stop()
        self._logs.clear()

    def of(self, tape: Any) -> Log | None:
        """The log of a tape, by what TensorFlow keeps it in; None if nobody wanted gradients when it began."""
        return next((log for known, log in list(self._logs.items()) if known._tape is tape), None)

    @property
    def current(self) -> Log | None:
        """The log of this thread's tapes, None if none of them records."""
        return getattr(self._thread, 'log', None)

    # ------------------------------------------------------------------ tapes
    def _pushing(self, original: Callable[[Any], None]) -> Callable[[Any], None]:
        def _push_tape(tape: Any) -> None:
            original(tape)
            if self.on and hooks.gradient:
                self._begin(tape)
        return _push_tape

    def _popping(self, original: Callable[[Any], None]) -> Callable[[Any], None]:
        def _pop_tape(tape: Any) -> None:
            original(tape)
            tapes = getattr(self._thread, 'tapes', None)
            if tapes:
                tapes[:] = [known for known in tapes if known is not tape]
                if not tapes:
                    self._stop()
        return _pop_tape

    def _begin(self, tape: Any) -> None:
        tapes = self._thread.__dict__.setdefault('tapes', [])
        log = self.current
        known = self._logs.get(tape)
        if log is None or not tapes:
            log = self._thread.log = known or Log(self._parts.context.executing_eagerly())
            self._parts.callbacks.add_op_callback(self._noted)
        elif known is not None and known is not log:        # recorded before, and goes on among others
            log.by_output.update(known.by_output)
        tapes.append(tape)
        self._logs[tape] = log

    def _stop(self) -> None:
        self._thread.log = None
        if self._noted in self._parts.context.context().op_callbacks:
            self._parts.callbacks.remove_op_callback(self._noted)

    # ------------------------------------------------------------------ ops
    def _noted(self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
        """What TensorFlow calls after each op, and each node that is made."""
        log = self.current
        if log is None or not self.on or (graph is None) is not log.eager:
            return
        try:
            token = attr_text(attrs, 'token') if op_type in CALLS else ''
            where = program_line(sys._getframe(1), self._parts.stacks)
            log.add(Made(_text(op_type), _text(op_name), inputs, outputs, where, token))
        except Exception as error:              # a mistake of ours: the program's op has run, and its result stands
            self.on = False
            say_failed('following the gradient tape failed and is switched off', error)

    def noted(self, made: Made) -> None:
        """Note what has a gradient of its own, or none, beside ops."""
        log = self.current
        if log is not None:
            log.add(made)

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
                made = found if isinstance(found, (list, tuple)) else [found]
                log.add(Made('PyFunc', getattr(func, '__name__', '') or 'numpy_function',
                             [getattr(tensor, 'handle', tensor) for tensor in given],
                             [tensor for tensor in made if hasattr(tensor, 'dtype')],
                             program_line(sys._getframe(1), self._parts.stacks)))
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
