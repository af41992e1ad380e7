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
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np

from pyfuncdbg.hooks.call import Kind
from pyfuncdbg.hooks.import_watch import ImportWatch
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hosts import FRAMEWORKS, await_imports
from pyfuncdbg.hosts.interception.framework import Framework
from pyfuncdbg.hosts.interception.result_source import GET_NEXT, Leaves, session_fetches
from pyfuncdbg.hosts.numpy.ops.data.parallel import THREAD as DATA_THREAD
from pyfuncdbg.ui.commands.programs import run_script
from pyfuncdbg.ui.commands.programs.output_by_thread import OutputRecorder

LEVELS = ('plain', 'hooks', 'capture', 'recording', 'ops', 'debugger')
"""Degrees of watching, each more than the one before; the debugger has a breakpoint whose condition is never true."""
SMALL, KEPT = 64 << 10, 16 << 20
"""Bytes of a small value, and of the largest that is kept, so that it can be told which element differs and by how much."""
MOST = 256 << 20
"""Bytes of all that are kept; large ones leave half of it to small ones."""
FUSES_OPS = 'fuses-ops'
"""File that says that the program has imported a framework which computes several ops in one go."""


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


@transparent
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
        self._leaves_of_framework: list[Leaves] = []

    def install(self) -> None:
        """Put ourselves around what gives results; hooks stay out of it, so that without any the program runs as ever."""
        from pyfuncdbg.hosts.numpy.ops.data.iterator import OwnedIterator
        from pyfuncdbg.hosts.numpy.ops.script.function import PythonFunction
        from pyfuncdbg.hosts.numpy.runtime.differentiation.tape import GradientTape
        from pyfuncdbg.hosts.numpy.runtime.functions.function import Function
        from pyfuncdbg.hosts.numpy.runtime.sessions.session import Session
        self._listener.install()
        self._around(Session, 'run', session_fetches)
        self._around(Function, '__call__', lambda args: (getattr(args[0], '__name__', 'function'), []))
        self._around(GradientTape, 'gradient', lambda args: ('GradientTape.gradient', []))
        for name in ('__next__', 'next', 'get_next'):
            self._around(OwnedIterator, name, lambda args: (GET_NEXT, []))
        self._around(PythonFunction, 'invoke', lambda args: (args[0].name or args[0].op_type, []))
        self._around(PythonFunction, 'call_plainly', lambda args: (args[0].name or args[0].op_type, []))
        for framework in FRAMEWORKS.values():
            ImportWatch(framework.name, partial(self._install_in, framework)).install()

    def _install_in(self, framework: Framework) -> None:
        """The same for a framework that the program has imported."""
        if framework.fuses_ops:
            (self._place / FUSES_OPS).touch()
        self._leaves_of_framework.append(framework.load(f'{framework.results}.leaves'))
        for source in framework.load(f'{framework.results}.RESULT_SOURCES'):
            owner: Any = sys.modules.get(source.module)
            *classes, name = source.path.split('.')
            for part in classes:
                owner = getattr(owner, part, None)
            if hasattr(owner, name):
                self._around(owner, name, source.describe)

    def _around(self, owner: Any, name: str, describe: Callable[[tuple[Any, ...]], tuple[str, Sequence[str]]]) -> None:
        original = getattr(owner, name)

        def noted(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            if os.getpid() == self._owner:
                self._note(_element(args), *describe(args), result)
            return result
        noted.__name__, noted.__qualname__, noted.__doc__ = original.__name__, original.__qualname__, original.__doc__
        # AutoGraph converts what is of no module that it knows; a method in C has none.
        noted.__module__ = getattr(original, '__module__', None) or owner.__module__
        setattr(owner, name, noted)

    def _note(self, element: list[Any] | None, what: str, names: Sequence[str], result: Any) -> None:
        leaves = list(self._leaves(result))
        if not leaves:
            return
        with self._lock:
            values = [self._described(array) for array in leaves]
            self._lines.write(json.dumps([threading.current_thread().name, element, what, list(names), values]) + '\n')

    def _described(self, array: np.ndarray) -> list[Any]:
        data = repr(array.tolist()).encode() if array.dtype.hasobject else np.ascontiguousarray(array).tobytes()
        at = -1
        room = MOST if len(data) <= SMALL else MOST // 2
        if len(data) <= KEPT and self._size + len(data) <= room and not array.dtype.hasobject:
            at = self._size
            self._size += self._values.write(data)
        return [hashlib.blake2b(data, digest_size=16).hexdigest(), array.dtype.name, list(array.shape), at]

    def _leaves(self, value: Any) -> Iterator[np.ndarray]:
        """The arrays in a result: of tensors, arrays and numbers, however nested; symbols of a graph have none."""
        if isinstance(value, Mapping):
            for key in value:
                yield from self._leaves(value[key])
        elif isinstance(value, list | tuple):
            for item in value:
                yield from self._leaves(item)
        elif isinstance(value, np.ndarray | np.generic | bool | int | float | complex | bytes | str):
            yield np.asarray(value)
        elif isinstance(held := getattr(value, '_value', None), np.ndarray | np.generic):
            yield np.asarray(held)
        else:
            found = (leaves(value) for leaves in self._leaves_of_framework)
            yield from self._leaves(list(next((parts for parts in found if parts is not None), ())))

    def flush(self) -> None:
        """Write what is held back."""
        self._listener.flush()
        with self._lock:
            self._lines.flush()
            self._values.flush()


def _element(args: tuple[Any, ...]) -> list[Any] | None:
    """The element of a dataset that a call of a function is for, on a thread of the dataset's own: which thread gets which
    element is not up to the program."""
    run = getattr(args[1], 'run', None) if len(args) > 1 else None
    index = getattr(run, 'element', None)
    if run is None or index is None or not threading.current_thread().name.startswith(DATA_THREAD):
        return None
    return [run.label, index]
