"""Parallel calls of a function for several elements, on threads that end with their reading.

The thread that pulls takes elements from upstream, in order, and hands them out; the workers call. They hold nothing of the
iterator, so that one which is abandoned goes away and takes them along.
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
    """One element on its way."""

    __slots__ = ('context', 'done', 'element', 'error', 'index')

    def __init__(self, index: int, element: Element) -> None:
        self.index = index
        self.element = element
        self.context = contextvars.copy_context()
        self.error: BaseException | None = None
        self.done = False


class _Workers:
    """The threads, and what there is to do for them."""

    def __init__(self, work: Work, count: int) -> None:
        self._work = work
        self._count = count
        self._started = 0
        self._waiting: deque[_Task] = deque()
        # Re-entrant: a finalizer may call `close` in the middle of anything.
        self._changed = threading.Condition(new_rlock())
        self._closed = False

    def begin(self, task: _Task) -> None:
        """Let a thread do it."""
        with self._changed:
            self._waiting.append(task)
            if self._started < self._count and not self._closed:
                self._started += 1
                threading.Thread(target=self._run, name=f'{THREAD} {self._started}', daemon=True).start()
            self._changed.notify_all()

    def wait(self, tasks: deque[_Task], ordered: bool) -> _Task:
        """The first of the tasks, or whichever is done first, once it is done."""
        with self._changed:
            while True:
                for task in tasks if not ordered else (tasks[0],):
                    if task.done:
                        return task
                if self._closed:
                    raise EndOfSequence
                self._changed.wait()

    def close(self) -> None:
        """End the threads: at once those that wait, the others after the call that they are in."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()

    def _run(self) -> None:
        while (task := self._next()) is not None:
            try:
                task.element = task.context.run(self._work, task.index, task.element)
            except BaseException as error:      # an abort of the user's among them: the thread that pulls raises it
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
        reading: What it is part of.
        upstream: Where elements come from.
        threads: How many calls overlap; -1: as many as there are processors.
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
            except Exception as error:          # it is raised when its turn comes: elements before it come first
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
                task.error = None               # its traceback leads here: a cycle
        return task.element
    return pull


class _Ahead:
    """A thread that pulls before it is asked."""

    def __init__(self, upstream: Pull, size: int) -> None:
        self._upstream = upstream
        self._size = size
        self._results: deque[tuple[Element | None, BaseException | None]] = deque()
        self._changed = threading.Condition(new_rlock())
        self._closed = self._started = False

    def pull(self) -> Element:
        """The next element that is there."""
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
            error = None                        # its traceback leads here: a cycle

    def close(self) -> None:
        """End the thread after the call that it is in."""
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
        except BaseException as error:          # the thread that pulls raises it
            return None, error


def open_ahead(reading: DatasetReading, upstream: Pull, size: int) -> Pull:
    """Pull up to `size` elements before they are asked for, on a thread of its own."""
    ahead = _Ahead(upstream, size)
    reading.at_end(ahead.close)
    return ahead.pull
