"""One run of a program for `pyfuncdbg verify`, watched at a level or unwatched; results or time are noted.

Runs in a process of its own, on its main thread. What it notes goes to files of the parent's, not to the program's streams.
"""
from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np

from pyfuncdbg.hooks.call import Kind
from pyfuncdbg.hosts import await_imports
from pyfuncdbg.hosts.framework_import import ImportWatch
from pyfuncdbg.hosts.numpy.ops.data.parallel import THREAD as DATA_THREAD
from pyfuncdbg.ui.commands.programs import run_script
from pyfuncdbg.ui.commands.programs.output_by_thread import OutputRecorder
from pyfuncdbg.ui.commands.programs.result_list import GET_NEXT

LEVELS = ('plain', 'hooks', 'capture', 'recording', 'ops', 'debugger')
"""Degrees of watching, each more than the one before; the debugger has a breakpoint whose condition is never true."""
SMALL, KEPT = 64 << 10, 16 << 20
"""Bytes of a small value, and of the largest that is kept, so that it can be told which element differs and by how much."""
MOST = 256 << 20
"""Bytes of all that are kept; large ones leave half of it to small ones."""
TENSORFLOW = 'tensorflow'
"""File that says that the program has imported the real TensorFlow."""
_IN_TENSORFLOW = (('client.session', 'BaseSession.run', 'Session.run'),
                  ('eager.polymorphic_function.polymorphic_function', 'Function.__call__', ''),
                  ('eager.backprop', 'GradientTape.gradient', 'GradientTape.gradient'),
                  ('data.ops.iterator_ops', 'OwnedIterator._next_internal', GET_NEXT),
                  ('ops.script_ops', 'py_func_common', 'numpy_function'),
                  ('ops.gen_script_ops', 'eager_py_func', 'py_function'))
"""Modules of TensorFlow, what in them gives results, and what these are called; '' for the name of the function."""


def main() -> None:
    """`python -c ... FOLDER`: run what FOLDER/task.json says."""
    place = Path(sys.argv[1])
    task = json.loads((place / 'task.json').read_text())
    target = task['target']
    first, *rest = target
    program = run_script.module(rest[0], tuple(rest[1:])) if first == '-m' else run_script.script(first, tuple(rest))
    run_script.keep_own_imports()
    notes = ResultNotes(place) if task['noted'] else None
    if notes is not None:
        notes.install()
    sys.argv = list(program.argv)
    watch(task['level'], place)
    started = time.perf_counter()
    raised = ''
    try:
        run_script.execute(program)
    except BaseException as error:
        raised = type(error).__name__ if not isinstance(error, SystemExit) else ''
        raise
    finally:
        (place / 'ended.json').write_text(json.dumps({'seconds': time.perf_counter() - started, 'raised': raised}))
        if notes is not None:
            notes.flush()


def watch(level: str, place: Path) -> None:
    """Install the watchers of this level."""
    if level == 'plain':
        return
    await_imports()
    if level == 'hooks':
        from pyfuncdbg.hooks.chain import hooks
        hooks.add(IdleHook())
        return
    if level == 'capture':
        from pyfuncdbg.hooks.capture import Capture
        Capture().start()
        return
    from pyfuncdbg.observers.record.recorder import Recorder
    Recorder(place / 'trace.pfd', ops=level != 'recording').start()
    if level == 'debugger':
        from pyfuncdbg.observers.debug.debugger import debugger
        debugger.broker.front_end_name = 'none'
        debugger.breakpoints.set('*', 'inputs is None')
        debugger.start()


class IdleHook:
    """A hook that does nothing."""

    kinds: frozenset[Kind] = frozenset(('python', 'gradient', 'run'))
    passive = True

    def around(self, call: Any, proceed: Callable[[], Any]) -> Any:
        return proceed()


class ResultNotes:
    """Log of every result that the host gives to the program. A line has the thread, the element of a dataset that a thread
    of its worked on (label and index, else null), the source of the result, digests and small values."""

    def __init__(self, place: Path) -> None:
        self._owner, self._place = os.getpid(), place
        self._lock = threading.Lock()
        self._lines: TextIO = open(place / 'results.jsonl', 'w')  # noqa: SIM115  (closed with the process)
        self._values: BinaryIO = open(place / 'values.bin', 'wb')  # noqa: SIM115
        self._size = 0
        self._listener = OutputRecorder(place)

    def install(self) -> None:
        """Put ourselves around what gives results; hooks stay out of it, so that without any the program runs as ever."""
        from pyfuncdbg.hosts.numpy.ops.data.iterator import OwnedIterator
        from pyfuncdbg.hosts.numpy.ops.script.function import PythonFunction
        from pyfuncdbg.hosts.numpy.runtime.differentiation.tape import GradientTape
        from pyfuncdbg.hosts.numpy.runtime.functions.function import Function
        from pyfuncdbg.hosts.numpy.runtime.sessions.session import Session
        self._listener.install()
        self._around(Session, 'run', lambda args: ('Session.run', _fetch_names(args)))
        self._around(Function, '__call__', lambda args: (getattr(args[0], '__name__', 'function'), []))
        self._around(GradientTape, 'gradient', lambda args: ('GradientTape.gradient', []))
        for name in ('__next__', 'next', 'get_next'):
            self._around(OwnedIterator, name, lambda args: (GET_NEXT, []))
        self._around(PythonFunction, 'invoke', lambda args: (args[0].name or args[0].op_type, []))
        self._around(PythonFunction, 'call_plainly', lambda args: (args[0].name or args[0].op_type, []))
        ImportWatch('tensorflow', self._install_in_tensorflow).install()

    def _install_in_tensorflow(self) -> None:
        """The same for the real TensorFlow, but for the calls on its own threads, whose order is never the same."""
        (self._place / TENSORFLOW).touch()
        for module, path, what in _IN_TENSORFLOW:
            owner: Any = sys.modules.get(f'tensorflow.python.{module}')
            *classes, name = path.split('.')
            for part in classes:
                owner = getattr(owner, part, None)
            if hasattr(owner, name):
                self._around(owner, name, _result_names(what))

    def _around(self, owner: Any, name: str, named: Callable[[tuple[Any, ...]], tuple[str, list[str]]]) -> None:
        original = getattr(owner, name)

        def noted(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            if os.getpid() == self._owner:
                self._note(_element(args), *named(args), result)
            return result
        noted.__name__, noted.__qualname__, noted.__doc__ = original.__name__, original.__qualname__, original.__doc__
        noted.__module__ = original.__module__          # AutoGraph converts what is of no module that it knows
        setattr(owner, name, noted)

    def _note(self, element: list[Any] | None, what: str, names: list[str], result: Any) -> None:
        leaves = list(_leaves(result))
        if not leaves:
            return
        with self._lock:
            values = [self._described(array) for array in leaves]
            self._lines.write(json.dumps([threading.current_thread().name, element, what, names, values]) + '\n')

    def _described(self, array: np.ndarray) -> list[Any]:
        data = repr(array.tolist()).encode() if array.dtype.hasobject else np.ascontiguousarray(array).tobytes()
        at = -1
        room = MOST if len(data) <= SMALL else MOST // 2
        if len(data) <= KEPT and self._size + len(data) <= room and not array.dtype.hasobject:
            at = self._size
            self._size += self._values.write(data)
        return [hashlib.blake2b(data, digest_size=16).hexdigest(), array.dtype.name, list(array.shape), at]

    def flush(self) -> None:
        """Write what is held back."""
        self._listener.flush()
        with self._lock:
            self._lines.flush()
            self._values.flush()


def _leaves(value: Any) -> Iterator[np.ndarray]:
    """The arrays in a result: of tensors, arrays and numbers, however nested; symbols of a graph have none."""
    if isinstance(value, Mapping):
        for key in value:
            yield from _leaves(value[key])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, np.ndarray | np.generic | bool | int | float | complex | bytes | str):
        yield np.asarray(value)
    elif isinstance(held := getattr(value, '_value', None), np.ndarray | np.generic):
        yield np.asarray(held)
    elif type(value).__name__ == 'EagerTensor' and hasattr(value, 'numpy'):
        if value.dtype.name not in ('resource', 'variant'):
            yield np.asarray(value.numpy())
    elif hasattr(value, 'has_value') and hasattr(value, 'get_value'):   # an Optional, as Keras's steps give one
        if bool(value.has_value()):
            yield from _leaves(value.get_value())
    elif hasattr(value, '_type_spec') and (nest := sys.modules.get('tensorflow.python.util.nest')) is not None:
        yield from _leaves(nest.flatten(value, expand_composites=True))     # ragged, sparse, rows of a table


def _element(args: tuple[Any, ...]) -> list[Any] | None:
    """The element of a dataset that a call of a function is for, on a thread of the dataset's own: which thread gets which
    element is not up to the program."""
    run = getattr(args[1], 'run', None) if len(args) > 1 else None
    index = getattr(run, 'element', None)
    if run is None or index is None or not threading.current_thread().name.startswith(DATA_THREAD):
        return None
    return [run.label, index]


def _result_names(what: str) -> Callable[[tuple[Any, ...]], tuple[str, list[str]]]:
    """The label of results and their names, by the arguments of the function that gave them."""
    if what == 'Session.run':
        return lambda args: (what, _fetch_names(args))
    return lambda args: (what or str(getattr(args[0], '_name', 'function')), [])


def _fetch_names(args: tuple[Any, ...]) -> list[str]:
    """Names of what a Session.run was asked for, as far as they are plain to see."""
    fetches = args[1] if len(args) > 1 else None
    listed = fetches if isinstance(fetches, list | tuple) else [fetches]
    return [str(getattr(item, 'name', item if isinstance(item, str) else '')) for item in listed][:1000]
