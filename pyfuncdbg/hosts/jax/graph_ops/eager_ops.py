# cython: annotation_typing=False, auto_pickle=False
"""Eager ops as calls of kind 'op', where a hook wants them.

They are what a program executes outside of `jit`, op by op. JAX dispatches each by itself: from C++, which calls JAX's post
hook, or from Python when it compiles. An op that is dispatched may be computed later. On the thread of the dispatch.
Compiled by `eager_ops.pxd`, as the sites and the ops.
"""
from __future__ import annotations

import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from time import perf_counter_ns
from types import FrameType
from typing import Any

import numpy as np

from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks.call import in_reexecution
from pyfuncdbg.hooks.chain import hooks, invoke, report_failure
from pyfuncdbg.hooks.op_batch import OpBatch, deliver
from pyfuncdbg.hooks.value_placeholders import LaterValue, UnknownValue, ValueNotKnown
from pyfuncdbg.hosts.interception.eager_runs import EagerRuns
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.traceback_frames import without_trace
from pyfuncdbg.hosts.jax.array_values import DELETED
from pyfuncdbg.hosts.jax.callbacks.custom_steps import wait_for
from pyfuncdbg.hosts.jax.device_statistics import is_far
from pyfuncdbg.hosts.jax.graph_ops.compiled_ops import CompiledOp, CompiledOps
from pyfuncdbg.hosts.jax.graph_ops.eager_sites import EagerSites
from pyfuncdbg.hosts.jax.host import JaxHost
from pyfuncdbg.hosts.jax.jax_parts import JaxParts
from pyfuncdbg.hosts.jax.programs.executables import Executables

_view = memoryview
_SMALL = 16 << 10
"""Bytes of an array that is copied at once, if it is computed; larger ones the recorder reads."""
_PATIENCE = 5.0
"""Seconds after an op for which the recorder waits for its values: a stop in another call may hold them back for ever."""


class _Thread(threading.local):
    """The program that this thread has compiled and executed last, until the op `jit` has asked."""

    def __init__(self) -> None:
        self.compiled: Any = None


class EagerOps:
    """The eager op calls of JAX.

    Attributes:
        on: Whether JAX is attached.
    """

    def __init__(self, parts: JaxParts, host: JaxHost, executables: Executables, runs: EagerRuns) -> None:
        self.on = True
        self._parts = parts
        self._host = host
        self._runs = runs
        self._executables = executables
        self._array: Any = parts.array.ArrayImpl
        self._failed: Any = parts.errors.JaxRuntimeError
        self._ops = CompiledOps(parts, executables)
        self._sites = EagerSites(parts, host)
        self._thread = _Thread()
        self._later: weakref.WeakValueDictionary[int, LaterValue] = weakref.WeakValueDictionary()

    def install(self, patches: Patches) -> None:
        """Replace JAX's function that compiles and executes what C++ has not met yet, while a hook wants ops."""
        patches.wrap(self._parts.compilation, '_pjit_call_impl_python',
                     lambda execute: without_trace(self._replace_execution(execute)))

    def _replace_execution(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def _pjit_call_impl_python(*args: Any, **settings: Any) -> Any:
            if not hooks.op or not self.on:
                return original(*args, **settings)
            began = perf_counter_ns()
            executed = original(*args, **settings)
            program, results, compiled = settings.get('jaxpr'), executed[0], executed[1]
            self._thread.compiled = program
            call = compiled.unsafe_call
            executable = self._executables.called_as(call) if call.has_host_callbacks else None
            if executable is None or executable.eager or not executable.observers:
                self._watch(lambda: self._ops.executed(program, settings.get('name', '')), args, results,
                            sys._getframe(), began, perf_counter_ns())
            return executed
        return _pjit_call_impl_python

    def on_called(self, function: Any, args: Sequence[Any], settings: Mapping[str, Any], results: Any,
                  frame: FrameType) -> None:
        """C++ has dispatched a compiled function.

        Args:
            function, args, settings, results: Of the call.
            frame: That has called it.
        """
        if not self.on:
            return
        try:
            called = self._ops.called(function, args, settings)
            if called is not None:
                outputs = (results,) if type(results) is self._array else self._parts.tree.tree_leaves(results)
                now = perf_counter_ns()
                self._make(called[0], called[1], outputs, frame, now, now)
        except RunAborted:
            raise
        except Exception as error:              # a mistake of ours: the program goes on
            self._switch_off(error)

    def on_executed(self, closed_jaxpr: Any, name: str, args: Sequence[Any], results: Sequence[Any],
                    frame: FrameType) -> None:
        """The op `jit` has executed a traced function.

        Args:
            closed_jaxpr, name: Of the function.
            args, results: Its values.
            frame: That has called it.
        """
        compiled, self._thread.compiled = self._thread.compiled, None
        if self.on and compiled is not closed_jaxpr:        # else its own ops are recorded
            now = perf_counter_ns()
            self._watch(lambda: self._ops.executed(closed_jaxpr, name), args, results, frame, now, now)

    def _watch(self, find: Callable[[], CompiledOp | None], args: Sequence[Any], results: Sequence[Any], frame: FrameType,
               began: int, ended: int) -> None:
        try:
            op = find()
            if op is not None:
                self._make(op, list(args), results, frame, began, ended)
        except RunAborted:
            raise
        except Exception as error:              # a mistake of ours: the program goes on
            self._switch_off(error)

    def _make(self, op: CompiledOp, inputs: list[Any], outputs: Sequence[Any], frame: FrameType, began: int,
              ended: int) -> None:
        """Make the call of an op that was dispatched; from C++ that takes no time that is known."""
        if in_reexecution():
            return
        entry = self._sites.of(op, frame, inputs, outputs)
        if entry is None:
            return
        site, run, recorder = entry.site, self._runs.of_thread(), hooks.op_recorder
        if recorder is not None:
            batch = OpBatch(entry.sequence, run, [self._kept(value) for value in (*inputs, *outputs)])
            batch.times = [began, ended]
            batch.awaits = True
            deliver(recorder, batch)
        elif hooks.is_ignored(site) and run.aborted is None:
            next(site.counter)
        else:
            if not hooks.passive:               # a debugger: its user asks for the values
                wait_for([*inputs, *outputs])
            invoke(site, partial(_outputs, outputs), run, inputs, thread=threading.get_native_id())
        self._sites.note_outputs(site, outputs)

    def _kept(self, value: Any) -> Any:
        """A value for a recorder: nothing that the program may write to, and nothing that has to be waited for."""
        if type(value) is not self._array:
            return np.array(value) if isinstance(value, np.ndarray) else value
        try:
            is_ready = value.is_ready()
        except RuntimeError:                    # donated to this op
            return UnknownValue(value.dtype, value.shape, DELETED)
        if is_ready:
            try:
                view = _view(value)
                if view.nbytes <= _SMALL:
                    return np.array(view)
            except (BufferError, self._failed):     # of a type without a buffer, of several devices; or it has failed
                pass
        if is_far(value):
            return value                        # the recorder has statistics made of it
        dtype, shape = value.dtype, value.shape
        if is_ready and prod(shape) * dtype.itemsize <= _SMALL:
            try:
                return np.array(self._host.to_numpy(value))
            except ValueNotKnown as error:
                return error.value
        later = self._later.get(id(value))
        if later is None:
            later = self._later[id(value)] = LaterValue(dtype, shape, partial(self._read, value,
                                                                              time.monotonic() + _PATIENCE))
        return later

    def _read(self, array: Any, deadline: float) -> np.ndarray:
        """The elements of an array, on the recorder's thread.

        Raises:
            ValueNotKnown: It is deleted, or not computed in time.
        """
        pause = .0001
        while not array.is_deleted() and not array.is_ready() and time.monotonic() < deadline:
            time.sleep(pause)
            pause = min(2 * pause, .01)
        return self._host.to_numpy(array)

    def _switch_off(self, error: Exception) -> None:
        """Watch no more eager ops, after a mistake of ours."""
        self.on = False
        report_failure('watching eager ops failed and is switched off', error)


def _outputs(outputs: Sequence[Any], *_: Any) -> Sequence[Any]:
    """What an op has computed, as a function of its inputs."""
    return outputs
