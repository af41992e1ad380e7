"""Ops as calls of kind 'op', where a hook wants them: ops of traced functions, and eager ops.

Traced functions have observers in their graphs; a function that was traced without them is traced again, and goes back to
the old trace when no hook wants ops any more. For a recorder alone their values wait, and are delivered together. Eager ops
come through TensorFlow's own op callbacks. Functions that XLA compiles are left alone: they cannot call Python.
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
from pyfuncdbg.hooks.call_frames import STOP_REMARK
from pyfuncdbg.hooks.chain import hooks, invoke, report_failure
from pyfuncdbg.hooks.live_objects import find_objects
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.hooks.own_files import outside_machinery
from pyfuncdbg.hooks.traits import Traits, op_traits
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.program_line import program_frames
from pyfuncdbg.hosts.interception.traceback_frames import drop_leading_own_frames
from pyfuncdbg.hosts.tensorflow.graph_ops.delivery_thread import DeliveryThread
from pyfuncdbg.hosts.tensorflow.graph_ops.observer_ops import REMARK, Observer, Observers, is_observed, roots_of, sites_of
from pyfuncdbg.hosts.tensorflow.graph_ops.waiting_ops import WaitingOps, install_kernel, kernel
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.nodes.op_types import SCRIPTS
from pyfuncdbg.hosts.tensorflow.nodes.tensor_names import names_of
from pyfuncdbg.hosts.tensorflow.python_calls.original_errors import ErrorCauses
from pyfuncdbg.hosts.tensorflow.python_calls.sites import Sites
from pyfuncdbg.hosts.tensorflow.sessions.runs import Runs
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

_FUNCTIONS = ('__inference_', '__forward_', '__backward_')
_NAME = re.compile(r'(?:__(?:inference|forward)_)?(__backward_)?(.+?)(?:_\d+)*$')
_UNOBSERVED = SCRIPTS | {'NoOp', 'Const', 'DebugNumericSummaryV2'}
_MOST_PLACES = 1 << 14


class _ObservedScope:
    """Marker in TensorFlow's key of a trace that has observers."""

    __slots__ = ('scope',)

    def __init__(self, scope: Any) -> None:
        self.scope = scope

    def __eq__(self, other: object) -> bool:
        return type(other) is _ObservedScope and other.scope == self.scope

    def __hash__(self) -> int:
        return hash((_ObservedScope, self.scope))


@transparent
class OpCalls:
    """The op calls of TensorFlow.

    Attributes:
        on: Whether TensorFlow is attached.
    """

    def __init__(self, parts: TensorFlowParts, host: TensorFlowHost, runs: Runs, causes: ErrorCauses) -> None:
        self.on = True
        self._parts = parts
        self._host = host
        self._runs = runs
        self._causes = causes
        self._waiting = WaitingOps(runs.run_of_function, self._make_node_call)
        self._has_kernels = False
        self._observers = Observers(parts, host, parts.scripts.FuncRegistry.insert, self._on_values)
        self._thread = threading.local()
        self._sites: dict[tuple[Any, ...], CallSite] = {}
        self._notified: set[str] = set()
        self._has_observed_traces = False
        self._unsubscribe: Callable[[], None] = lambda: None
        self._end_delivery: Callable[[], None] = lambda: None

    # ------------------------------------------------------------------ coming and going
    def install(self, patches: Patches, sites: Sites) -> None:
        """Replace TensorFlow's functions."""
        self._observers.python_site = sites.node_site
        self._has_kernels = install_kernel(sys.modules['tensorflow'].__file__ or '')
        if self._has_kernels:
            self._observers.number, self._observers.kernel_types = self._waiting.number, kernel.types
            kernel.listen(self._on_kernel_values, self.deliver)
            self._delivery = DeliveryThread(self.deliver, kernel.age, self._has_batches)
        self._end_delivery = hooks.add_delivery(self.deliver)
        functions, tracing = self._parts.functions, self._parts.tracing
        patches.replace(tracing, 'make_function_context', self._replace_make_context(tracing.make_function_context))
        patches.replace(functions, 'from_func_graph', self._replace_from_func_graph(functions.from_func_graph))
        patches.replace(functions.AtomicFunction, 'call_flat', self._replace_call_flat(functions.AtomicFunction.call_flat))
        self._unsubscribe = hooks.subscribe(self._hooks_changed)
        self._hooks_changed()

    def remove(self) -> None:
        """Stop watching; traces with observers are dropped, so that their functions are traced again."""
        self.deliver()
        self.on = False
        self._unsubscribe()
        self._end_delivery()
        self._set_mode()
        self._watch_eager_ops(False)
        if self._has_observed_traces:
            self._drop_traces()

    def _hooks_changed(self) -> None:
        self._watch_eager_ops(self._is_wanted())
        self._set_mode()

    def _set_mode(self) -> None:
        """Tell the kernels what to do with values."""
        if self._has_kernels:
            kernel.set_mode(kernel.OFF if not self._is_wanted() else kernel.BATCHES if self._has_batches() else kernel.CALLS)
            if self._has_batches():
                self._delivery.start()

    def _has_batches(self) -> bool:
        return self._is_wanted() and hooks.op_recorder is not None

    def _watch_eager_ops(self, enabled: bool) -> bool:
        """Watch the eager ops of this thread, or no longer; whether that is a change."""
        callbacks = self._parts.callbacks
        followed = self._on_op in self._parts.context.context().op_callbacks
        if enabled is followed:
            return False
        (callbacks.add_op_callback if enabled else callbacks.remove_op_callback)(self._on_op)
        return True

    @contextmanager
    def on_this_thread(self) -> Iterator[None]:
        """Watch the ops that a `py_function` runs on a thread of TensorFlow's."""
        added = bool(hooks.op) and self.on and self._watch_eager_ops(True)
        try:
            yield
        finally:
            if added:
                self._watch_eager_ops(False)

    def _drop_traces(self) -> None:
        for cache in find_objects(self._parts.caches.FunctionCache):
            for context, kind in [key for key in cache._primary if type(key[0].scope_type) is _ObservedScope]:
                cache.delete(kind, context)

    # ------------------------------------------------------------------ TensorFlow's places
    def _is_wanted(self) -> bool:
        return self.on and bool(hooks.op)

    def _replace_make_context(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def make_function_context(scope_type: Any = None) -> Any:
            context = original(scope_type)
            if not self._is_wanted() or self._parts.tracing._enclosing_xla_context() is not None:
                return context
            self._has_observed_traces = True
            return context._replace(scope_type=_ObservedScope(scope_type))
        return make_function_context

    def _replace_from_func_graph(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """`from_func_graph`: a graph becomes a function."""
        def from_func_graph(name: Any, graph: Any, *args: Any, **settings: Any) -> Any:
            if not self._is_wanted() or _is_compiled(graph, self._parts.ops.get_default_graph()):
                return original(name, graph, *args, **settings)
            stateful = any(op._is_stateful for op in graph.get_operations())
            try:
                self._observers.observe(graph)
            except Exception as error:          # a mistake of ours: the function runs unobserved
                self._switch_off(error)
            function = original(name, graph, *args, **settings)
            # As without observers: TensorFlow may skip a function whose result is unused.
            object.__setattr__(function.call_options, 'is_stateful', stateful)
            return function
        return from_func_graph

    def _replace_call_flat(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """The replacement for the call of a traced function: by the program, each is a run."""
        def call_flat(function: Any, *args: Any) -> Any:
            try:
                if not self._is_wanted() or not self._parts.context.executing_eagerly():
                    return original(function, *args)
                graph = function._cached_graph
                if not is_observed(graph):
                    self._notify_unobserved(function)
                    return original(function, *args)
                return self._run(function, graph, lambda *given: original(function, *given), list(args))
            except BaseException as error:
                drop_leading_own_frames(error)
                raise
        return call_flat

    def _notify_unobserved(self, function: Any) -> None:
        """Write a notice, once for each reason, that the ops of a function are not seen."""
        compiled = '_XlaMustCompile' in function.cached_definition.attr
        reason = 'XLA compiles it (jit_compile=True)' if compiled else 'it was traced before ops were watched'
        if reason not in self._notified:
            self._notified.add(reason)
            say(f'the ops of {_plain_name(function)} are not seen: {reason}')

    def _run(self, function: Any, graph: Any, call: Callable[..., Any], args: list[Any]) -> Any:
        run = Run(_plain_name(function), self._host, perf_counter_ns(), sites=lambda: sites_of(graph),
                  feeds=names_of(graph.inputs), fetches=names_of(graph.outputs), kind='function')
        with self._runs.note_execution(run, roots_of(graph)):
            try:
                return self._call_run(run, call, args)
            finally:
                self.deliver()

    def _call_run(self, run: Run, call: Callable[..., Any], args: list[Any]) -> Any:
        """Make a run's own call."""
        if not hooks.run:
            return call(*args)
        result: list[Any] = []

        def proceed(*_: Any) -> list[Any]:
            result[:] = [call(*args)]
            outputs = list(result[0]) if isinstance(result[0], (list, tuple)) else []
            return [self._readable(value) for value in outputs]
        key = run.label, 'run'
        site = self._sites.get(key)
        if site is None:
            site = self._sites[key] = CallSite(
                run.label, 'function', 'run', self._host, traits=Traits(backward_pass=run.label.startswith('__backward_')))
        invoke(site, proceed, run, [self._readable(value) for value in args])
        return result[0]

    # ------------------------------------------------------------------ ops
    def _on_values(self, observer: Observer, values: Sequence[Any]) -> None:
        """A node of a traced function has run; on a thread of TensorFlow's."""
        if self._is_wanted():
            self.deliver()
            try:
                self._make_node_call(observer, values)
            except Exception as error:          # a mistake of ours: no code of the program runs here
                self._switch_off(error)

    def _on_kernel_values(self, number: int, values: Sequence[Any]) -> None:
        """As `_on_values`, from a kernel, which lets the run fail with what this raises: a user has ended it at a stop."""
        observer = self._waiting.observer(number)
        try:
            if observer is not None:
                self._on_values(observer, values)
        except BaseException as error:
            self._causes.note(error.with_traceback(None))
            raise

    def deliver(self) -> None:
        """Deliver the values that wait in kernels."""
        try:
            self._waiting.deliver()
        except Exception as error:              # as in `_on_values`
            self._switch_off(error)

    def _switch_off(self, error: Exception) -> None:
        """Watch no more ops, after a mistake of ours."""
        self.on = False
        self._set_mode()
        report_failure('watching ops failed and is switched off', error)

    def _make_node_call(self, observer: Observer, values: Sequence[Any]) -> None:
        began = perf_counter_ns()
        inputs = [values[place] if place >= 0 else None for place in observer.inputs]
        outputs = [values[place] if place >= 0 else None for place in observer.outputs]
        run = self._runs.run_of_function(observer.graph)
        invoke(observer.site, lambda *_: outputs, run, inputs, thread=threading.get_native_id())
        # TensorFlow passes a string without dimensions as bytes.
        size = sum(len(value) if isinstance(value, bytes) else getattr(value, 'nbytes', 0) for value in values)
        op_cost.add((perf_counter_ns() - began) / 1e9, size)

    def _on_op(self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> Any:
        """Callback of TensorFlow after each op of a thread, and after each node that is made."""
        if graph is not None:
            # The result goes to the next callback, and to the program, which expects lists.
            return list(outputs) if outputs is not None else None
        if not self._is_wanted() or getattr(self._thread, 'op', False):
            return None
        name = op_type.decode() if isinstance(op_type, bytes) else str(op_type)
        if name in _UNOBSERVED or name.startswith(_FUNCTIONS) or not outputs:
            return None
        self.deliver()
        began = perf_counter_ns()
        self._thread.op = True                  # hooks may run ops on the values
        try:
            input_values = [self._readable(value) for value in inputs]
            output_values = [self._readable(value) for value in outputs]
            if not all(value is None for value in output_values):
                within = current.get()          # nothing else tells the run of a thread of TensorFlow's
                run = within.run if within is not None else self._runs.eager_run()
                invoke(self._eager_site(name, sys._getframe(1)), lambda *_: output_values, run, input_values)
            op_cost.add((perf_counter_ns() - began) / 1e9, 0)
        except Exception as error:              # as in `_on_values`
            self._switch_off(error)
        finally:
            self._thread.op = False
        return None

    def _readable(self, value: Any) -> Any:
        return value if isinstance(value, self._parts.ops.EagerTensor) and value.dtype.name not in (
            'resource', 'variant') else None

    def _eager_site(self, name: str, frame: FrameType | None) -> CallSite:
        """The site of an op at a line of the program."""
        frame = outside_machinery(frame)
        key = (name, frame.f_code.co_filename, frame.f_lineno) if frame is not None else (name,)
        site = self._sites.get(key)
        if site is None:
            if len(self._sites) > _MOST_PLACES:
                self._sites.clear()
            stack = program_frames(frame)
            site = self._sites[key] = CallSite(name, name, 'op', self._host, stack=stack, attrs={STOP_REMARK: REMARK},
                                               traits=op_traits(name)._replace(seen_afterwards=True))
        return site


def _plain_name(function: Any) -> str:
    """The program's name of a function that TensorFlow calls '__inference_step_17'."""
    name = function.name.decode() if isinstance(function.name, bytes) else str(function.name)
    match = _NAME.match(name)
    return f'{match[2]} (backward)' if match and match[1] else match[2] if match else name


def _is_compiled(graph: Any, outer_graph: Any) -> bool:
    """Whether XLA compiles a graph, or the one it is made in."""
    for one in (graph, outer_graph):
        while one is not None:
            control = one._get_control_flow_context()
            while control is not None:
                if type(control).__name__ == 'XLAControlFlowContext':
                    return True
                control = control.outer_context
            one = getattr(one, 'outer_graph', None)
    return False
