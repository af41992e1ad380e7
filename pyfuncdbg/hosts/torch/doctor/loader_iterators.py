"""Witness of the iterators of DataLoaders: how long the program waits for batches, and workers that fail.

On the thread of the program that takes a batch; only under `pyfuncdbg doctor`.
"""
from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from time import perf_counter_ns
from typing import Any

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.chain import report_failure
from pyfuncdbg.hooks.facts import Fact
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hooks.weak_keys import WeakKeys
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.program_line import NOWHERE, program_line
from pyfuncdbg.hosts.interception.traceback_frames import without_own_frames
from pyfuncdbg.hosts.torch.doctor.worker_failures import WorkerFailures
from pyfuncdbg.hosts.torch.torch_parts import TorchParts

_MOST, _MOST_LISTED, _MOST_WORKERS = 256, 8, 256
_MOST_INDICES = 1 << 10


class _Loader:
    """Totals of one loader at one line; times in nanoseconds.

    Attributes:
        passes, batches: How many began, and how many batches came.
        made: Starting the workers.
        first: Waiting for the first batch of each pass.
        waited: Waiting for the later ones that came.
        ended: Waiting for the end of a pass, which is the end of the workers.
        span: From the start of each pass to the last time that it was asked for a batch.
        persistent: Whether the workers outlive a pass.
        forked: Whether they are copies of this process, which begin at once.
        workers: Number of each worker, by pid.
    """

    __slots__ = ('batches', 'ended', 'first', 'forked', 'made', 'passes', 'persistent', 'span', 'waited', 'workers')

    def __init__(self, persistent: bool, forked: bool) -> None:
        self.passes = self.batches = self.made = self.first = self.waited = self.ended = self.span = 0
        self.persistent = persistent
        self.forked = forked
        self.workers: dict[int, int] = {}


class _Iterator:
    """One iterator.

    Attributes:
        made: What starting its workers took, until that is added to a loader.
        last: When the program was last given a batch in the present pass; 0 before its first one.
        indices: The items of the batches that workers were asked for, by number.
    """

    __slots__ = ('indices', 'last', 'made')

    def __init__(self) -> None:
        self.made = self.last = 0
        self.indices: dict[int, Any] = {}


class LoaderIterators:
    """The iterators of one process.

    Args:
        parts: Modules of the imported PyTorch.
    """

    def __init__(self, parts: TorchParts) -> None:
        self._parts = parts
        self._lock = new_lock()
        self._loaders: dict[tuple[str, int, str, int], _Loader] = {}
        self._iterators: WeakKeys[Any, _Iterator] = WeakKeys()
        self._failures = WorkerFailures()

    def install(self, patches: Patches) -> None:
        """Replace the methods by which the program takes a batch, and by which workers are started and given work."""
        base, parallel = self._parts.loaders._BaseDataLoaderIter, self._parts.loaders._MultiProcessingDataLoaderIter
        patches.replace(base, '__next__', self._replace_next(base.__next__))
        patches.replace(base, '_next_index', self._replace_next_index(base._next_index))
        patches.replace(parallel, '__init__', self._replace_init(parallel.__init__))

    def facts(self) -> Iterator[Fact]:
        """All facts so far."""
        with self._lock:
            loaders = dict(self._loaders)
        for (filename, line, dataset, workers), loader in loaders.items():
            yield Fact('torch loader', 0, filename, line, {
                'dataset': dataset, 'workers': workers, 'cpus': _usable_cpus(),
                'pids': {str(pid): worker for pid, worker in loader.workers.items()},
                **{name: getattr(loader, name) for name in loader.__slots__ if name != 'workers'}})
        yield from self._failures.facts()

    # ------------------------------------------------------------------ methods of PyTorch's
    def _replace_init(self, original: Callable[..., None]) -> Callable[..., None]:
        def init(iterator: Any, *args: Any, **settings: Any) -> None:
            begun = perf_counter_ns()
            try:
                original(iterator, *args, **settings)
            except BaseException as error:
                error.__traceback__ = without_own_frames(error.__traceback__)
                raise
            self._observe(self._on_made, iterator, perf_counter_ns() - begun)
        return init

    def _replace_next_index(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def _next_index(iterator: Any) -> Any:
            try:
                index = original(iterator)
            except BaseException as error:
                error.__traceback__ = without_own_frames(error.__traceback__)
                raise
            self._observe(self._on_index, iterator, index)
            return index
        return _next_index

    def _replace_next(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def next_batch(iterator: Any) -> Any:
            begun = perf_counter_ns()
            try:
                batch = original(iterator)
            except BaseException as error:
                self._observe(self._on_batch, iterator, begun, error, sys._getframe(1))
                error.__traceback__ = without_own_frames(error.__traceback__)
                raise
            self._observe(self._on_batch, iterator, begun, None, sys._getframe(1))
            return batch
        return next_batch

    @staticmethod
    def _observe(note: Callable[..., None], *values: Any) -> None:
        try:
            note(*values)
        except Exception as error:              # a mistake of ours must not end the program
            report_failure('examining a DataLoader failed', error)

    # ------------------------------------------------------------------ what they tell
    def _state(self, iterator: Any) -> _Iterator:
        state = self._iterators.get(iterator)
        if state is None:
            state = self._iterators[iterator] = _Iterator()
        return state

    def _on_made(self, iterator: Any, took: int) -> None:
        self._state(iterator).made = took

    def _on_index(self, iterator: Any, index: Any) -> None:
        number = getattr(iterator, '_send_idx', None)
        if type(number) is not int or type(index) not in (int, list) or (not index and type(index) is list):
            return
        indices = self._state(iterator).indices
        if not number:
            indices.clear()
        indices[number] = index
        if len(indices) > _MOST_INDICES:
            del indices[min(indices)]

    def _on_batch(self, iterator: Any, begun: int, error: BaseException | None, frame: Any) -> None:
        """A batch has come, or an exception in its place."""
        now, line = perf_counter_ns(), program_line(frame) or NOWHERE
        state = self._state(iterator)
        with self._lock:
            loader = self._loader(iterator, line)
            if not state.last:
                loader.passes += 1
                loader.made += state.made
                loader.first += now - begun
                loader.span += state.made
                state.made = 0
            elif isinstance(error, StopIteration):
                loader.ended += now - begun
            elif error is None:
                loader.waited += now - begun
            loader.span += (now if error is None or isinstance(error, StopIteration) else begun) - (state.last or begun)
            loader.batches += error is None
            state.last = 0 if isinstance(error, StopIteration) else now
        number = getattr(iterator, '_rcvd_idx', 0) - 1
        if error is None:
            state.indices.pop(number, None)
        elif error.args or not isinstance(error, StopIteration):     # with a text it is a worker's
            in_order = getattr(iterator, '_in_order', True)
            processes = {process.pid: (worker, process) for worker, process in enumerate(_workers(iterator))}
            self._failures.note(error, line, processes, number if in_order else -1,
                                _listed(state.indices.get(number)) if in_order else '')

    def _loader(self, iterator: Any, line: Frame) -> _Loader:
        key = line.filename, line.line, type(iterator._dataset).__name__, int(iterator._num_workers)
        loader = self._loaders.get(key)
        if loader is None:
            loader = _Loader(bool(getattr(iterator, '_persistent_workers', False)),
                             any(getattr(type(process), '_start_method', '') == 'fork' for process in _workers(iterator)))
            if len(self._loaders) < _MOST:
                self._loaders[key] = loader
        if not self._state(iterator).last and len(loader.workers) < _MOST_WORKERS:
            loader.workers.update((process.pid, worker) for worker, process in enumerate(_workers(iterator)))
        return loader


def _workers(iterator: Any) -> list[Any]:
    """The processes of an iterator."""
    workers = getattr(iterator, '_workers', ())
    return list(workers) if isinstance(workers, (list, tuple)) else []


def _listed(index: Any) -> str:
    """The items of a batch in words: '5', or '3, 4, 5'."""
    if type(index) is not list:
        return '' if index is None else str(index)
    if not all(type(item) is int for item in index):
        return ''
    listed = ', '.join(map(str, index[:_MOST_LISTED]))
    return listed if len(index) <= _MOST_LISTED else f'{listed} and {len(index) - _MOST_LISTED} more'


def _usable_cpus() -> int:
    """The CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count() or 0
