"""`tf.function`: a Python function traced into graphs, one per kind of arguments, and run through plans."""
from __future__ import annotations

import functools
import itertools
import weakref
from collections.abc import Callable
from typing import Any

from pyfuncdbg.hooks.code_table import CodeTable
from pyfuncdbg.hooks.locks import new_lock, new_rlock
from pyfuncdbg.hooks.program_traceback import drop_own_frames
from pyfuncdbg.hooks.public_function import hide_own_frames, hide_own_frames_in_methods, mark_unwrapped
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.runtime.execution.logger import warn
from pyfuncdbg.hosts.numpy.runtime.functions.concrete import ConcreteFunction
from pyfuncdbg.hosts.numpy.runtime.functions.signature import FunctionSignature
from pyfuncdbg.hosts.numpy.runtime.traces.call_arguments import CallArguments
from pyfuncdbg.hosts.numpy.runtime.traces.traced_function import trace_function

_numbers = itertools.count()
_run_eagerly = False


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Call the Python functions behind every `tf.function` directly."""
    global _run_eagerly
    _run_eagerly = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Whether `tf.function`s are called directly."""
    return _run_eagerly


_tracing = new_rlock()
"""One thread traces at a time: with a lock per function, two that call each other could deadlock."""


class _Traces:
    """The traces of one function, or of one method of one object.

    Attributes:
        by_key: By the key of the arguments and of the outer graph.
        settled: Whether the first call, which may create variables, is over.
    """

    __slots__ = ('by_key', 'settled')

    def __init__(self) -> None:
        self.by_key: dict[Any, ConcreteFunction] = {}
        self.settled = False

    def drop_dead(self) -> None:
        """Discard the traces for dead argument objects."""
        for key in [key for key in self.by_key if any(type(part) is weakref.ref and part() is None for part in key[0][0])]:
            del self.by_key[key]


@hide_own_frames_in_methods
class Function:
    """Traced function, the result of `tf.function`.

    Args:
        python_function: The function to trace.
        signature: Signature that parses its arguments.
        name: Its name in graphs.
        autograph: Whether errors in it have the form of TensorFlow's AutoGraph.
        traces: Traces of the same method and object so far.
        compiled: Whether it has `jit_compile`: then it must call no Python function.
        retracing: Retracing counter of functions with the same source.
    """

    def __init__(self, python_function: Callable[..., Any], signature: FunctionSignature, name: str, autograph: bool = True,
                 traces: _Traces | None = None, compiled: bool = False, retracing: RetracingCounter | None = None) -> None:
        self._python_function = python_function
        self._signature = signature
        self._name = name
        self._autograph = autograph
        self._compiled = compiled
        self._retracing = retracing_of(python_function) if retracing is None else retracing
        self._traces = _Traces() if traces is None else traces
        self._methods: dict[int, tuple[weakref.ref[Any], _Traces]] = {}
        functools.update_wrapper(self, python_function, updated=())

    @property
    def python_function(self) -> Callable[..., Any]:
        """The function that was decorated."""
        return self._python_function

    @property
    def input_signature(self) -> Any:
        """The specs given, or None."""
        return self._signature.specs

    @property
    def function_spec(self) -> FunctionSignature:
        """The signature that parses arguments."""
        return self._signature

    @mark_unwrapped
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function; traces it first if no trace matches the arguments."""
        try:
            if _run_eagerly:
                return self._python_function(*args, **kwargs)
            self._retracing.calls += 1
            arguments = self._signature.bind(args, kwargs)
            return self._trace_for(arguments, True).call(arguments.tensors, arguments.variables)
        except Exception as error:              # of any kind: it goes on to the program
            drop_own_frames(error)
            raise

    def _trace_for(self, arguments: CallArguments, is_call: bool = False) -> ConcreteFunction:
        graph = context.current_graph()
        key = arguments.key, _home(graph)
        concrete = self._traces.by_key.get(key)
        if concrete is None or not concrete.usable_in(graph):
            with _tracing:
                concrete = self._traces.by_key.get(key)
                if concrete is None or not concrete.usable_in(graph):
                    self._traces.drop_dead()
                    concrete = self._wider(arguments, key[1], graph)
                    if concrete is None:
                        concrete = self._new_trace(arguments)
                        if is_call:
                            self._retracing.count_trace(self._python_function,
                                                        reduced=self._signature.shapes_by_kind is not None)
                    self._traces.by_key[key] = concrete
        return concrete

    def _wider(self, arguments: CallArguments, home: int, graph: Graph | None) -> ConcreteFunction | None:
        """The narrowest trace for wider shapes that accepts these arguments."""
        candidates = [(key, concrete) for (key, its_home), concrete in self._traces.by_key.items()
                 if its_home == home and concrete.usable_in(graph) and arguments.within(key)]
        return min(candidates, key=lambda one: _unknown_sizes(one[0]))[1] if candidates else None

    def _new_trace(self, arguments: CallArguments) -> ConcreteFunction:
        """A new trace. The first may create variables; then a second one, without, replaces it."""
        def trace(first: bool) -> Any:
            return trace_function(self._python_function, arguments, f'__inference_{self._name}_{next(_numbers)}', first,
                                  self._autograph)
        traced = trace(not self._traces.settled)
        self._traces.settled = True
        if traced.graph.variables_made:
            traced = trace(False)
        traced.graph.variables_made = None
        return ConcreteFunction(traced, arguments, self._compiled)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for these arguments, which may be specs."""
        return self._trace_for(self._signature.bind(args, kwargs, allow_specs=True))

    def experimental_get_tracing_count(self) -> int:
        """The number of traces."""
        return len(set(map(id, self._traces.by_key.values())))

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """The signatures of all traces."""
        traces = dict.fromkeys(self._traces.by_key.values())
        return '\n\n'.join(concrete.pretty_printed_signature(verbose) for concrete in traces)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """As a method: the traces belong to the object and die with it."""
        if instance is None:
            return self
        return Function(self._python_function.__get__(instance, owner), self._signature.without_self(), self._name,
                        self._autograph, self._traces_of(instance), self._compiled, self._retracing)

    def _traces_of(self, instance: Any) -> _Traces | None:
        """The traces of an object, by identity. None if it cannot be weakly referenced."""
        key, methods = id(instance), self._methods
        entry = methods.get(key)
        if entry is not None and entry[0]() is instance:
            return entry[1]
        try:
            reference = weakref.ref(instance, lambda _: methods.pop(key, None))
        except TypeError:
            return None
        traces = _Traces()
        methods[key] = reference, traces
        return traces

    def __repr__(self) -> str:
        return f'<pyfuncdbg.tf.function {self._python_function!r}>'


def _unknown_sizes(key: Any) -> int:
    """The number of unknown sizes in the shapes of a trace's arguments."""
    shapes = [part[1] for part in key[0] if type(part) is tuple and len(part) == 2]
    return sum(1000 if shape is None else sum(size is None for size in shape) for shape in shapes)


def _home(graph: Graph | None) -> int:
    """The key of the outer graph of TensorFlow 1; eager code and functions in it share one."""
    while graph is not None and graph.building_function:
        graph = graph.outer
    return 0 if graph is None else id(graph)


def function(func: Callable[..., Any] | None = None, input_signature: Any = None, autograph: bool = True,
             jit_compile: bool | None = None, reduce_retracing: bool = False, experimental_implements: Any = None,
             experimental_autograph_options: Any = None, experimental_attributes: Any = None,
             experimental_relax_shapes: bool | None = None, experimental_compile: bool | None = None,
             experimental_follow_type_hints: bool | None = None) -> Any:
    """Trace a function into a graph and run that; usable as a decorator with and without arguments.

    Args:
        func: The function.
        input_signature: Specs of its positional arguments; one trace then serves all calls.
        autograph: Python control flow is executed while tracing either way; False leaves errors in it unchanged.
        jit_compile: Refuse to run a function that calls Python functions, as TensorFlow's compiler does. Every trace is
            compiled to a plan in any case.
        reduce_retracing: Trace with wider shapes from the second shape on.

    Returns:
        A `Function`, or a decorator where `func` is not given.

    Raises:
        TypeError: `input_signature` does not match the function.
    """
    @hide_own_frames
    def decorated(inner: Callable[..., Any]) -> Function:
        if not callable(inner):
            raise TypeError(f'{inner!r} is not a callable object')
        signature = FunctionSignature.of(inner, input_signature, reduce_retracing or bool(experimental_relax_shapes))
        return Function(inner, signature, getattr(inner, '__name__', type(inner).__name__), autograph,
                        compiled=bool(experimental_compile if jit_compile is None else jit_compile))
    return decorated if func is None else decorated(func)


_HISTORY, _MANY, _WARNINGS = 10, 5, 2
_lock = new_lock()


class RetracingCounter:
    """Counts of a function's last traces and calls.

    Attributes:
        calls: Number of calls since the last trace, that call included; counted by the caller.
    """

    __slots__ = ('_counts', '_warnings', 'calls')

    def __init__(self) -> None:
        self.calls = 0
        self._counts: list[int] = []                # per trace, the calls until the next
        self._warnings = 0

    def count_trace(self, function: Callable[..., Any], reduced: bool) -> None:
        """Record that a call has traced it; no warning if shapes are widened already."""
        with _lock:
            if self._counts:
                self._counts[-1] += max(self.calls - 1, 0)
            self.calls = 1
            self._counts.append(0)
            total = sum(self._counts) + len(self._counts)
            while self._counts and total - self._counts[0] - 1 > _HISTORY:
                total -= self._counts.pop(0) + 1
            many = len(self._counts)
            if reduced or many < _MANY or self._warnings >= _WARNINGS:
                return
            self._warnings += 1
        warn(f'{many} out of the last {total} calls to {function} triggered tf.function retracing. Tracing is expensive and '
             'the excessive number of tracings could be due to (1) creating @tf.function repeatedly in a loop, (2) passing '
             'tensors with different shapes, (3) passing Python objects instead of tensors. For (1), please define your '
             '@tf.function outside of the loop. For (2), @tf.function has reduce_retracing=True option that can avoid '
             'unnecessary retracing. For (3), please refer to '
             'https://www.tensorflow.org/guide/function#controlling_retracing and '
             'https://www.tensorflow.org/api_docs/python/tf/function for  more details.')


_counters = CodeTable[RetracingCounter]()


def retracing_of(function: Any) -> RetracingCounter:
    """The counter of a function: one for all functions made from the same source."""
    code = getattr(getattr(function, '__func__', function), '__code__', None)
    if code is None:
        return RetracingCounter()
    with _lock:
        return _counters.get(code) or _counters.put(code, RetracingCounter())
