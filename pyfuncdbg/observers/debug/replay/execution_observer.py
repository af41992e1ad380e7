"""Observer of one execution of a replayed function: inputs that it writes, aliases, state that it changes, clocks it reads.

On the thread of the command, or of the execution where that is another one.
"""
from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import copy_context
from functools import update_wrapper
from typing import Any

import numpy as np

from pyfuncdbg.observers.debug.replay.changed_inputs import input_names
from pyfuncdbg.observers.debug.replay.reachable_state import ReachableState
from pyfuncdbg.observers.debug.replay.state_values import StatePlace
from pyfuncdbg.observers.debug.replay.ticking_clock import TickingClock
from pyfuncdbg.observers.debug.replay.time_thread_reads import TimeThreadReads


class ExecutionObserver:
    """Observes an execution.

    Args:
        read_tensor: Gives the array of a host's tensor.
        clock: What a clock shows that is in force meanwhile, in seconds; None for the true one.
        elsewhere: Whether the function runs on a thread of its own.

    Attributes:
        called: Whether the function was called: a host may refuse its inputs.
        names: Of its inputs.
        code_names: All names in its code.
        reads: Of the clock and of the thread.
        before, after: Values that the function can reach, by place.
        written: Inputs that it wrote to.
        aliases: Outputs and the inputs that they share memory with.
        drawn: Generators of modules that it drew from.
        thread_local: Names under which it reads a `threading.local`.
    """

    def __init__(self, read_tensor: Callable[[Any], np.ndarray], *, clock: float | None = None,
                 elsewhere: bool = False) -> None:
        self._read_tensor = read_tensor
        self._clock = clock
        self._elsewhere = elsewhere
        self.called = False
        self.names: list[str] = []
        self.code_names: frozenset[str] = frozenset()
        self.reads = TimeThreadReads()
        self.before: dict[StatePlace, Any] = {}
        self.after: dict[StatePlace, Any] = {}
        self.written: list[int] = []
        self.aliases: list[tuple[int, int]] = []
        self.drawn: tuple[str, ...] = ()
        self.thread_local: tuple[str, ...] = ()

    def watch(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Give what is called instead of the function.

        Args:
            function: The function.

        Returns:
            Calls it, and observes.
        """
        def observed(*args: Any, **keywords: Any) -> Any:
            return self._around(function, args, keywords)
        return update_wrapper(observed, function, updated=())

    def on_end(self, drawn: tuple[str, ...]) -> None:
        """The function has ended.

        Args:
            drawn: Generators of modules that it drew from.
        """
        self.drawn = drawn

    def _around(self, function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        self.called = True
        self.names, values = _inputs(function, args, keywords)
        state = ReachableState(function, self._read_tensor)
        self.thread_local, self.code_names = state.thread_locals(), state.names()
        put_back = state.keep()
        inputs = [self._copy(value) for value in values]
        self.before = state.values()
        clock: AbstractContextManager[None] = nullcontext()
        if self._clock is not None:
            clock = TickingClock(self._clock).in_force(function)
        try:
            with clock:
                if self._elsewhere:
                    result = _on_own_thread(lambda: function(*args, **keywords))
                else:
                    with self.reads.watching():
                        result = function(*args, **keywords)
            self.aliases = _aliases(result, values)
            return result
        finally:
            self.after = state.values()
            self.written = [slot for slot, (value, copy) in enumerate(zip(values, inputs, strict=True))
                            if copy is not None and not _same_bits(self._copy(value), copy)]
            put_back()

    def _copy(self, value: Any) -> np.ndarray | None:
        """The elements of an input; None of what has none."""
        try:
            return np.array(self._read_tensor(value))
        except Exception:                       # a resource, or of the program's own class
            return None


def _inputs(function: Callable[..., Any], args: Sequence[Any],
            keywords: dict[str, Any]) -> tuple[list[str], list[Any]]:
    """The inputs in arguments, with their names: 'x', and 'samples[1][0]' of nested ones."""
    found: list[tuple[str, Any]] = []
    for name, value in (*zip(input_names(function, len(args)), args, strict=True), *keywords.items()):
        _add_inputs(name, value, found)
    return [name for name, _ in found], [value for _, value in found]


def _add_inputs(name: str, value: Any, found: list[tuple[str, Any]]) -> None:
    if type(value) in (list, tuple, dict):
        for key, one in value.items() if type(value) is dict else enumerate(value):
            _add_inputs(f'{name}[{key!r}]', one, found)
    else:
        found.append((name, value))


def _same_bits(one: np.ndarray | None, two: np.ndarray) -> bool:
    if one is None or (one.dtype, one.shape) != (two.dtype, two.shape):
        return False
    return bool((one == two).all()) if one.dtype.hasobject else one.tobytes() == two.tobytes()


def _aliases(result: Any, args: Sequence[Any]) -> list[tuple[int, int]]:
    outputs = list(result) if isinstance(result, list | tuple) else [result]
    return [(place, slot) for place, output in enumerate(outputs) for slot, value in enumerate(args)
            if isinstance(output, np.ndarray) and isinstance(value, np.ndarray) and np.shares_memory(output, value)]


def _on_own_thread(call: Callable[[], Any]) -> Any:
    results: list[Any] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:          # raised again on the thread of the command
            errors.append(error)
    thread = threading.Thread(target=copy_context().run, args=(run,), name='audit', daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
