"""Ops as calls of kind 'op', where a hook wants them: ops of traced functions, and eager ops.

Traced functions have observers in their graphs; a function that was traced without them is traced again, and goes back to
the old trace when no hook wants ops any more. Eager ops come through TensorFlow's own op callbacks. Functions that XLA
compiles are left alone: they cannot call Python.
"""
from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter_ns
from types import FrameType
from typing import Any

from pyfuncdbg.hooks import op_cost
from pyfuncdbg.hooks.call import CallSite, Run, current
from pyfuncdbg.hooks.chain import hooks, invoke, report_failure
from pyfuncdbg.hooks.live_objects import find_objects
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.hooks.own_files import outside_machinery
from pyfuncdbg.hooks.traits import Traits, op_traits
from pyfuncdbg.hosts.tensorflow.graph_ops.observer_ops import Observer, Observers, is_observed, roots_of, sites_of
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.nodes.op_types import SCRIPTS
from pyfuncdbg.hosts.tensorflow.nodes.tensor_names import names_of
from pyfuncdbg.hosts.tensorflow.patching import Patches, without_our_frames
from pyfuncdbg.hosts.tensorflow.python_calls.sites import Sites, frames_of
from pyfuncdbg.hosts.tensorflow.sessions.runs import Runs
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

_FUNCTIONS = ('__inference_', '__forward_', '__backward_')
_NAME = re.compile(r'(?:__(?:inference|forward)_)?(__backward_)?(.+?)(?:_\d+)*$')
_UNSEEN = SCRIPTS | {'NoOp', 'Const', 'DebugNumericSummaryV2'}
_MOST_PLACES = 1 << 14


class _Traced:
    """Marker in TensorFlow's key of a trace that has observers, of values or of summaries."""

    __slots__ = ('health', 'scope')

    def __init__(self, scope: Any, health: bool) -> None:
        self.scope = scope
        self.health = health

    def __eq__(self, other: object) -> bool:
        return type(other) is _Traced and other.scope == self.scope and other.health == self.health

    def __hash__(self) -> int:
        return hash((_Traced, self.scope, self.health))


class OpCalls:
    """The ops of a TensorFlow.

    Attributes:
        on: Whether anything is attached.
    """

    def __init__(self, parts: TensorFlowParts, host: TensorFlowHost, runs: Runs) -> None:
        self.on = True
        self._parts = parts
        self._host = host
        self._runs = runs
        self._observers = Observers(parts, host, parts.scripts.FuncRegistry.insert, self._seen)
        self._inside = threading.local()
        self._sites: dict[tuple[Any, ...], CallSite] = {}
        self._told: set[str] = set()
        self._traced = False
        self._end_following: Callable[[], None] = lambda: None

    # ------------------------------------------------------------------ coming and going
    def install(self, patches: Patches, sites: Sites) -> None:
        """Take TensorFlow's places."""
        self._observers.python_site = sites.of_node
        functions, tracing = self._parts.functions, self._parts.tracing
        patches.replace(tracing, 'make_function_context', self._keyed(tracing.make_function_context))
        patches.replace(functions, 'from_func_graph', self._defined(functions.from_func_graph))
        patches.replace(functions.AtomicFunction, 'call_flat', self._called(functions.AtomicFunction.call_flat))
        self._end_following = hooks.subscribe(self._hooks_changed)
        self._hooks_changed()

    def remove(self) -> None:
        """See no more ops; traces with observers are dropped, so that their functions are traced anew."""
        self.on = False
        self._end_following()
        self._follow_eager(False)
        if self._traced:
            self._drop_traces()

    def _hooks_changed(self) -> None:
        self._follow_eager(bool(hooks.op) and self.on)

    def _follow_eager(self, wanted: bool) -> bool:
        """See the eager ops of this thread, or no more; whether that was a change."""
        callbacks = self._parts.callbacks
        followed = self._eager in self._parts.context.context().op_callbacks
        if wanted is followed:
            return False
        (callbacks.add_op_callback if wanted else callbacks.remove_op_callback)(self._eager)
        return True

    @contextmanager
    def on_this_thread(self) -> Iterator[None]:
        """See the ops that a `py_function` runs on a thread of TensorFlow's."""
        changed = bool(hooks.op) and self.on and self._follow_eager(True)
        try:
            yield
        finally:
            if changed:
                self._follow_eager(False)

    def _drop_traces(self) -> None:
        for cache in find_objects(self._parts.caches.FunctionCache):
            for context, kind in [key for key in cache._primary if type(key[0].scope_type) is _Traced]:
                cache.delete(kind, context)

    # ------------------------------------------------------------------ TensorFlow's places
    def _wanted(self) -> bool:
        return self.on and bool(hooks.op)

    def _keyed(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def make_function_context(scope_type: Any = None) -> Any:
            found = original(scope_type)
            if not self._wanted() or self._parts.tracing._enclosing_xla_context() is not None:
                return found
            self._traced = True
            return found._replace(scope_type=_Traced(scope_type, hooks.summaries))
        return make_function_context

    def _defined(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """`from_func_graph`: a graph becomes a function."""
        def from_func_graph(name: Any, graph: Any, *args: Any, **settings: Any) -> Any:
            if not self._wanted() or _compiled(graph, self._parts.ops.get_default_graph()):
                return original(name, graph, *args, **settings)
            stateful = any(op._is_stateful for op in graph.get_operations())
            try:
                self._observers.observe(graph, hooks.summaries)
            except Exception as error:          # a mistake of ours: the function runs all the same, unobserved
                self._give_up(error)
            made = original(name, graph, *args, **settings)
            # TensorFlow shall treat it as without observers: one whose result nobody takes need not run.
            object.__setattr__(made.call_options, 'is_stateful', stateful)
            return made
        return from_func_graph

    def _called(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Each call of a traced function by the program is a run."""
        def call_flat(function: Any, *args: Any) -> Any:
            try:
                if not self._wanted() or not self._parts.context.executing_eagerly():
                    return original(function, *args)
                graph = function._cached_graph
                if not is_observed(graph):
                    self._say_unseen(function)
                    return original(function, *args)
                return self._run(function, graph, lambda *given: original(function, *given), list(args))
            except BaseException as error:
                without_our_frames(error)
                raise
        return call_flat

    def _say_unseen(self, function: Any) -> None:
        """Tell once of each reason for which the ops of a function are not seen."""
        compiled = '_XlaMustCompile' in function.cached_definition.attr
        why = 'XLA compiles it (jit_compile=True)' if compiled else 'it was traced before anybody wanted ops'
        if why not in self._told:
            self._told.add(why)
            say(f'the ops of {_plain_name(function)} are not seen: {why}')

    def _run(self, function: Any, graph: Any, call: Callable[..., Any], args: list[Any]) -> Any:
        run = Run(_plain_name(function), self._host, perf_counter_ns(), sites=lambda: sites_of(graph),
                  feeds=names_of(graph.inputs), fetches=names_of(graph.outputs), kind='function')
        with self._runs.executing(run, roots_of(graph)):
            return self._whole(run, call, args)

    def _whole(self, run: Run, call: Callable[..., Any], args: list[Any]) -> Any:
        """A run's own call."""
        if not hooks.run:
            return call(*args)
        kept: list[Any] = []

        def proceed(*_: Any) -> list[Any]:
            kept[:] = [call(*args)]
            given = list(kept[0]) if isinstance(kept[0], (list, tuple)) else []
            return [self._readable(value) for value in given]
        key = run.label, 'run'
        site = self._sites.get(key)
        if site is None:
            site = self._sites[key] = CallSite(
                run.label, 'function', 'run', self._host, traits=Traits(backward_pass=run.label.startswith('__backward_')))
        invoke(site, proceed, run, [self._readable(value) for value in args])
        return kept[0]

    # ------------------------------------------------------------------ ops
    def _seen(self, observer: Observer, values: Sequence[Any]) -> None:
        """A node of a traced function has run; on a thread of TensorFlow's."""
        if self._wanted():
            try:
                self._take(observer, values)
            except Exception as error:          # a mistake of ours, for nothing of the program's is called: it goes on
                self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        """Watch no more ops."""
        self.on = False
        report_failure('watching ops failed and is switched off', error)

    def _take(self, observer: Observer, values: Sequence[Any]) -> None:
        began = perf_counter_ns()
        values = [observer.summary(i, value) for i, value in enumerate(values)] if observer.health else values
        inputs = [values[place] if place >= 0 else None for place in observer.inputs]
        outputs = [values[place] if place >= 0 else None for place in observer.outputs]
        run = self._runs.of_function(observer.graph)
        invoke(observer.site, lambda *_: outputs, run, inputs, thread=threading.get_native_id())
        # TensorFlow hands a string of no dimensions over as bytes.
        size = 0 if observer.health else sum(len(value) if isinstance(value, bytes) else value.nbytes for value in values)
        op_cost.add((perf_counter_ns() - began) / 1e9, size)

    def _eager(self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> Any:
        """Callback of TensorFlow after each op of a thread, and after each node that is made."""
        if graph is not None:
            # What this one returns goes to the next callback, and to the program, which has lists.
            return list(outputs) if outputs is not None else None
        if not self._wanted() or getattr(self._inside, 'op', False):
            return None
        name = op_type.decode() if isinstance(op_type, bytes) else str(op_type)
        if name in _UNSEEN or name.startswith(_FUNCTIONS) or not outputs:
            return None
        began = perf_counter_ns()
        self._inside.op = True                  # what hooks do with the values may be ops
        try:
            given, made = [self._readable(value) for value in inputs], [self._readable(value) for value in outputs]
            if not all(value is None for value in made):
                within = current.get()          # of a thread of TensorFlow's, nothing else tells for whom it works
                run = within.run if within is not None else self._runs.eager()
                invoke(self._eager_site(name, sys._getframe(1)), lambda *_: made, run, given)
            op_cost.add((perf_counter_ns() - began) / 1e9, 0)
        except Exception as error:              # as in `_seen`
            self._give_up(error)
        finally:
            self._inside.op = False
        return None

    def _readable(self, value: Any) -> Any:
        return value if isinstance(value, self._parts.ops.EagerTensor) and value.dtype.name not in (
            'resource', 'variant') else None

    def _eager_site(self, name: str, frame: FrameType | None) -> CallSite:
        """That of an op at a line of the program."""
        frame = outside_machinery(frame)
        key = (name, frame.f_code.co_filename, frame.f_lineno) if frame is not None else (name,)
        site = self._sites.get(key)
        if site is None:
            if len(self._sites) > _MOST_PLACES:
                self._sites.clear()
            site = self._sites[key] = CallSite(name, name, 'op', self._host, stack=frames_of(frame), traits=op_traits(name))
        return site


def _plain_name(function: Any) -> str:
    """The program's name of a function that TensorFlow calls '__inference_step_17'."""
    name = function.name.decode() if isinstance(function.name, bytes) else str(function.name)
    found = _NAME.match(name)
    return f'{found[2]} (backward)' if found and found[1] else found[2] if found else name


def _compiled(graph: Any, around_it: Any) -> bool:
    """Whether XLA compiles a graph, or the one it is made in."""
    for one in (graph, around_it):
        while one is not None:
            control = one._get_control_flow_context()
            while control is not None:
                if type(control).__name__ == 'XLAControlFlowContext':
                    return True
                control = control.outer_context
            one = getattr(one, 'outer_graph', None)
    return False
