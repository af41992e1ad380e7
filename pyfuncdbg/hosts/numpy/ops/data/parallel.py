"""Parallel calls of a function for several elements, on threads that end with their reading.

The pulling thread takes elements from upstream in order and queues them; the workers call. They hold no reference to the
iterator, so that an abandoned iterator is collected, which ends them.
"""
from __future__ import annotations

import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hosts.numpy.ops.data.source import DatasetReading, Element, EndOfSequence, Pull

THREAD = 'pyfuncdbg data'
"""Prefix of the threads' names."""

Work = Callable[[int, Element], Element]


class _Task:
    """One element to process."""

    __slots__ = ('context', 'done', 'element', 'error', 'index')

    def __init__(self, index: int, element: Element) -> None:
        self.index = index
        self.element = element
        self.context = contextvars.copy_context()
        self.error: BaseException | None = None
        self.done = False


class _Workers:
    """The worker threads and their queue."""

    def __init__(self, work: Work, count: int) -> None:
        self._work = work
        self._count = count
        self._started = 0
        self._waiting: deque[_Task] = deque()
        # Re-entrant: a finalizer may call `close` in the middle of anything.
        self._changed = threading.Condition(new_rlock())
        self._closed = False

    def begin(self, task: _Task) -> None:
        """Queue a task."""
        with self._changed:
            self._waiting.append(task)
            if self._started < self._count and not self._closed:
                self._started += 1
                threading.Thread(target=self._run, name=f'{THREAD} {self._started}', daemon=True).start()
            self._changed.notify_all()

    def wait(self, tasks: deque[_Task], ordered: bool) -> _Task:
        """Wait for the first of the tasks, or without `ordered` for any of them."""
        with self._changed:
            while True:
                for task in tasks if not ordered else (tasks[0],):
                    if task.done:
                        return task
                if self._closed:
                    raise EndOfSequence
                self._changed.wait()

    def close(self) -> None:
        """End the threads: idle ones at once, the others after their current call."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()

    def _run(self) -> None:
        while (task := self._next()) is not None:
            try:
                task.element = task.context.run(self._work, task.index, task.element)
            except BaseException as error:      # the user's abort too: the pulling thread raises it
                task.error = error
            with self._changed:
                task.done = True
                self._changed.notify_all()
            del task

    def _next(self) -> _Task | None:
        with self._changed:
            while not self._closed:
                if self._waiting:
                    return self._waiting.popleft()
                self._changed.wait()
            return None


def open_parallel(reading: DatasetReading, upstream: Pull, threads: int, ordered: bool, work: Work) -> Pull:
    """Pull through a function on threads.

    Args:
        reading: The reading.
        upstream: Source of elements.
        threads: Number of overlapping calls; -1: the number of processors.
        ordered: Elements keep their order.
        work: From index and element to element.
    """
    if threads < 1:                             # AUTOTUNE
        threads = os.cpu_count() or 1
    workers = _Workers(work, threads)
    reading.at_end(workers.close)
    tasks: deque[_Task] = deque()
    index = 0
    over = False

    def fill() -> None:
        nonlocal index, over
        while not over and len(tasks) < threads:
            try:
                task = _Task(index, upstream())
            except EndOfSequence:
                over = True
                return
            except Exception as error:          # raised in its turn, after the elements before it
                task = _Task(index, ())
                task.error, task.done = error, True
                tasks.append(task)
                return
            index += 1
            tasks.append(task)
            workers.begin(task)

    def pull() -> Element:
        fill()
        if not tasks:
            workers.close()
            raise EndOfSequence
        task = workers.wait(tasks, ordered)
        tasks.remove(task)
        if task.error is not None:
            try:
                raise task.error
            finally:
                task.error = None               # its traceback refers to this frame: a cycle
        return task.element
    return pull


class _Ahead:
    """Read-ahead thread."""

    def __init__(self, upstream: Pull, size: int) -> None:
        self._upstream = upstream
        self._size = size
        self._results: deque[tuple[Element | None, BaseException | None]] = deque()
        self._changed = threading.Condition(new_rlock())
        self._closed = self._started = False

    def pull(self) -> Element:
        """The next element of the buffer."""
        with self._changed:
            if not self._started and not self._closed:
                self._started = True
                context = contextvars.copy_context()
                threading.Thread(target=context.run, args=(self._run,), name=f'{THREAD} ahead', daemon=True).start()
            while not self._results:
                if self._closed:
                    raise EndOfSequence
                self._changed.wait()
            element, error = self._results[0]
            if not isinstance(error, EndOfSequence):
                self._results.popleft()
            self._changed.notify_all()
        if element is not None:
            return element
        try:
            assert error is not None
            raise error
        finally:
            error = None                        # its traceback refers to this frame: a cycle

    def close(self) -> None:
        """End the thread after its current call."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                while len(self._results) >= self._size and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
            outcome = self._outcome()
            with self._changed:
                self._results.append(outcome)
                self._changed.notify_all()
            if isinstance(outcome[1], EndOfSequence):
                return

    def _outcome(self) -> tuple[Any, BaseException | None]:
        try:
            return self._upstream(), None
        except BaseException as error:          # the pulling thread raises it
            return None, error


def open_ahead(reading: DatasetReading, upstream: Pull, size: int) -> Pull:
    """Read up to `size` elements ahead on a thread."""
    ahead = _Ahead(upstream, size)
    reading.at_end(ahead.close)
    return ahead.pull
