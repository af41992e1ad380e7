"""`tf.function`: a Python function traced once per kind of arguments into a graph, and run through plans."""
from __future__ import annotations

import functools
import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from pyfuncdbg.graph import context
from pyfuncdbg.graph.dtypes import resource
from pyfuncdbg.graph.graph import Graph
from pyfuncdbg.graph.registry import CALL
from pyfuncdbg.graph.tensor import SymbolicTensor, Tensor
from pyfuncdbg.runtime import recording
from pyfuncdbg.runtime.dispatch import apply
from pyfuncdbg.runtime.eager import EagerTensor
from pyfuncdbg.runtime.signature import Arguments, Signature
from pyfuncdbg.runtime.traced import Traced, traced

_numbers = itertools.count()
_run_eagerly = False


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Call the Python functions behind every `tf.function` directly."""
    global _run_eagerly
    _run_eagerly = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Whether `tf.function`s are called directly."""
    return _run_eagerly


class Function:
    """What `tf.function` returns.

    Args:
        python_function: The function to trace.
        signature: How its arguments are read.
        name: What it is called in graphs.
    """

    def __init__(self, python_function: Callable[..., Any], signature: Signature, name: str, instance: Any = None) -> None:
        self._python_function = python_function
        self._signature = signature
        self._name = name
        self._instance = instance
        self._traces: dict[Any, ConcreteFunction] = {}
        self._methods: weakref.WeakKeyDictionary[Any, Function] = weakref.WeakKeyDictionary()
        self._variables_made = False
        functools.update_wrapper(self, python_function, updated=())

    @property
    def python_function(self) -> Callable[..., Any]:
        """The function that was decorated."""
        return self._python_function

    @property
    def input_signature(self) -> Any:
        """The specs given, or None."""
        return self._signature.specs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function; traced first where no trace fits the arguments."""
        if _run_eagerly:
            return self._python_function(*args, **kwargs)
        arguments = self._signature.bind(args, kwargs)
        return self._trace_for(arguments).call(arguments.tensors)

    def _trace_for(self, arguments: Arguments) -> ConcreteFunction:
        graph = context.current_graph()
        key = (arguments.key, None if graph is None else id(graph.root))
        found = self._traces.get(key)
        if found is None or not found.usable_in(graph):
            found = self._traces[key] = ConcreteFunction(
                traced(self._python_function, arguments, f'__inference_{self._name}_{next(_numbers)}',
                       may_create=not self._variables_made), arguments)
            self._variables_made = True
        return found

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for these arguments, which may be specs."""
        return self._trace_for(self._signature.bind(args, kwargs, allow_specs=True))

    def experimental_get_tracing_count(self) -> int:
        """How many traces there are."""
        return len(self._traces)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        try:
            bound = self._methods.get(instance)
        except TypeError:
            bound = None
        if bound is None:
            method = self._python_function.__get__(instance, owner)
            bound = Function(method, self._signature.without_self(), self._name, instance)
            try:
                self._methods[instance] = bound
            except TypeError:
                return bound
        return bound

    def __repr__(self) -> str:
        return f'<pyfuncdbg.tf.function {self._python_function!r}>'


class ConcreteFunction:
    """One trace, callable with tensors."""

    def __init__(self, trace: Traced, arguments: Arguments) -> None:
        self._trace = trace
        self._arguments = arguments

    @property
    def graph(self) -> Any:
        """The traced graph."""
        return self._trace.graph

    @property
    def name(self) -> str:
        """'__inference_f_7'."""
        return self._trace.name

    @property
    def inputs(self) -> list[Any]:
        """The placeholders, captured ones last."""
        return [*self._trace.inputs, *(inner for _, inner in self._trace.graph.captures)]

    @property
    def outputs(self) -> list[Any]:
        """The output tensors of the trace."""
        return list(self._trace.outputs)

    @property
    def captured_inputs(self) -> list[Any]:
        """The outer tensors that the trace captured."""
        return [outer for outer, _ in self._trace.graph.captures]

    @property
    def structured_outputs(self) -> Any:
        """The outputs in the structure that the function returned, as the trace's tensors."""
        return self._trace.pack(self._trace.outputs)

    def usable_in(self, graph: Graph | None) -> bool:
        """Whether what the trace captured can be reached from `graph` (None: eager code)."""
        around = []
        while graph is not None:
            around.append(graph)
            graph = graph.outer
        return all(not isinstance(outer, SymbolicTensor) or outer.graph in around for outer, _ in self._trace.graph.captures)

    def call(self, tensors: Sequence[Tensor]) -> Any:
        """Run the trace on its tensor arguments."""
        captured = self.captured_inputs
        if recording.active.recordings:
            for handle in captured:
                variable = handle._value.variable() if handle.dtype is resource and isinstance(handle, EagerTensor) else None
                if variable is not None and variable.trainable:
                    recording.read(handle)
        inputs = [*tensors, *captured]
        results = apply(CALL, inputs, {'f': self._trace.name, '_py_trace': self._trace}, self._trace.short_name)
        return self._trace.pack(results if isinstance(results, list) else [])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the trace.

        Raises:
            TypeError: The arguments do not fit its signature.
        """
        return self.call(self._arguments.rebound(args, kwargs))

    def __repr__(self) -> str:
        return f'<ConcreteFunction {self._trace.short_name} at 0x{id(self):X}>'


def function(func: Callable[..., Any] | None = None, input_signature: Any = None, autograph: bool = True,
             jit_compile: bool | None = None, reduce_retracing: bool = False, experimental_implements: Any = None,
             experimental_autograph_options: Any = None, experimental_attributes: Any = None,
             experimental_relax_shapes: bool | None = None, experimental_compile: bool | None = None,
             experimental_follow_type_hints: bool | None = None) -> Any:
    """Trace a function into a graph and run that; usable as a decorator with and without arguments.

    Args:
        func: The function.
        input_signature: Specs of its positional arguments; one trace then serves all calls.
        autograph: Accepted; Python control flow is executed while tracing.
        jit_compile: Accepted.
        reduce_retracing: Trace with wider shapes once a second shape comes.

    Returns:
        A `Function`, or a decorator where `func` is not given.
    """
    def decorated(inner: Callable[..., Any]) -> Function:
        signature = Signature.of(inner, input_signature, reduce_retracing or bool(experimental_relax_shapes))
        return Function(inner, signature, getattr(inner, '__name__', type(inner).__name__))
    return decorated if func is None else decorated(func)
