"""A traced function: its graph, execution and differentiation.

A call of it is one op. Run for a gradient, it also returns every tensor of its graph, so that a backward function of any
order has its inputs and no Python function is called twice.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from time import perf_counter_ns
from typing import Any

from pyfuncdbg.errors import OpError
from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.chain import hooks, invoke
from pyfuncdbg.hooks.traits import Traits
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.definitions.attributes import FunctionName
from pyfuncdbg.hosts.numpy.graph.definitions.registry import (
    CALL,
    CONSTANT,
    IDENTITY,
    INPUT,
    PURE_CALL,
    Attrs,
    Node,
    OpDef,
    Output,
    TypedInput,
    register,
)
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import nest
from pyfuncdbg.hosts.numpy.graph.types.convert import to_array
from pyfuncdbg.hosts.numpy.graph.types.dtypes import of_value
from pyfuncdbg.hosts.numpy.runtime.autograph.converted_call import conversion, converted_callable
from pyfuncdbg.hosts.numpy.runtime.backward.backward_pass import zeros_like
from pyfuncdbg.hosts.numpy.runtime.backward.indexed_slices import IndexedSlices, SlicesType, as_slices, dense
from pyfuncdbg.hosts.numpy.runtime.differentiation.symbolic_gradients import add_backward_pass
from pyfuncdbg.hosts.numpy.runtime.eager import tape_recording
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution, eager_execution
from pyfuncdbg.hosts.numpy.runtime.execution.failure import function_error
from pyfuncdbg.hosts.numpy.runtime.execution.host import host
from pyfuncdbg.hosts.numpy.runtime.plans.executor import run_plan, take_over
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan, compile_plan, overlaps
from pyfuncdbg.hosts.numpy.runtime.traces.call_arguments import CallArguments
from pyfuncdbg.hosts.numpy.runtime.traces.function_threads import function_threads
from pyfuncdbg.hosts.numpy.runtime.traces.tracing_errors import in_user_code


class TracedFunction:
    """One trace.

    Attributes:
        graph: Its graph; `graph.captures` are outer tensors that every call passes after its arguments.
        inputs: The placeholders of its arguments.
        outputs: Its output tensors.
        pack: Packs output tensors in the structure that the Python function returned.
        name: '__inference_f_7'.
    """

    __slots__ = ('_backward', '_intermediates', '_plans', '_pure', '_site', 'graph', 'inputs', 'name', 'outputs', 'pack')

    def __init__(self, graph: Graph, inputs: Sequence[SymbolicTensor], outputs: Sequence[SymbolicTensor],
                 pack: Callable[[Sequence[Any]], Any], name: str) -> None:
        self.graph = graph
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        graph.returned = self.outputs
        self.pack = pack
        self.name = name
        self._plans: dict[Any, CompiledPlan] = {}
        self._intermediates: tuple[int, tuple[SymbolicTensor, ...]] | None = None
        self._pure: tuple[int, bool] | None = None
        self._backward: dict[Any, tuple[TracedFunction, list[Any]]] = {}
        self._site = CallSite(self.short_name, 'tf.function', 'run', host,
                              traits=Traits(backward_pass=name.startswith('__backward_')))

    def __del__(self) -> None:
        # A graph and its nodes, a plan and its function refer to each other: without this, their referents (captured
        # tensors, the user's functions) would wait for the garbage collector.
        for plan in self._plans.values():
            plan.names.clear()
        self.graph.dismantle()

    @property
    def short_name(self) -> str:
        """The name of the Python function."""
        return self.name.removeprefix('__inference_').rpartition('_')[0]

    def results_of(self, graph: Graph) -> Iterator[tuple[Tensor, int]]:
        """Its results, if this is its graph, each with the output of the node that calls it."""
        if self.graph is graph:
            yield from zip(self.outputs, range(len(self.outputs)), strict=True)

    def function_def(self) -> Any:
        """Its FunctionDef, for the library of a GraphDef."""
        from pyfuncdbg.hosts.numpy.runtime.traces.function_def import function_def  # only needed to write a graph
        return function_def(self)

    def intermediates(self) -> Sequence[SymbolicTensor]:
        """The tensors that a call returns besides the outputs for a gradient: all but the inputs."""
        if self._intermediates is None or self._intermediates[0] != self.graph.version:
            available_ids = {id(t) for t in (*self.inputs, *(inner for _, inner in self.graph.captures), *self.outputs)}
            intermediates = []
            for op in self.graph.operations:
                if op.type not in (INPUT, CONSTANT):
                    for tensor in (*op.outputs, *op.recorded()):
                        if id(tensor) not in available_ids:
                            intermediates.append(tensor)
            self._intermediates = self.graph.version, tuple(intermediates)
        return self._intermediates[1]

    def is_pure(self) -> bool:
        """Whether it is stateless. Read at every call."""
        if self._pure is None or self._pure[0] != self.graph.version:
            effects = (op for op in self.graph.operations if op.definition.stateful and op.type != INPUT)
            self._pure = self.graph.version, next(effects, None) is None
        return self._pure[1]

    def available(self) -> list[SymbolicTensor]:
        """Values of a call for a gradient: arguments, captured tensors, outputs, intermediates."""
        return [*self.inputs, *(inner for _, inner in self.graph.captures), *self.outputs, *self.intermediates()]

    def plan(self, record: bool | tuple[int, ...]) -> CompiledPlan:
        """The plan of a call.

        Args:
            record: Whether it also returns `intermediates()`, or the indices of those of `available()` that it returns.
        """
        if record is True:
            self.intermediates()    # the nodes have their hidden outputs from now on: another version
        key = record, self.graph.version, bool(hooks.gradient)
        plan = self._plans.get(key)
        if plan is None:
            extra: Sequence[SymbolicTensor] = self.intermediates() if record else ()
            if isinstance(record, tuple) and record:
                available = self.available()
                extra = [available[place] for place in record]
            self._plans = {k: p for k, p in self._plans.items() if k[1] == self.graph.version}
            feeds = [*self.inputs, *(inner for _, inner in self.graph.captures)]
            effects = [op for op in self.graph.operations if
                       op.definition.stateful and op.type != INPUT] if self.graph.automatic else []
            plan = self._plans[key] = compile_plan(self.graph, effects, feeds, [*self.outputs, *extra],
                                                   protect=False,
                                                   hand_over=take_over,
                                                   gradients=self.graph.gradient_steps if hooks.gradient else ())
        return plan

    def run(self, execution: Execution, values: Sequence[Any], record: bool) -> Any:
        """Run the trace on NumPy values, as a separate run if called from eager code."""
        plan = self.plan(record)
        if execution is eager_execution():
            results = self._as_run(plan, execution, values)
        else:
            results = self._within(plan, execution, values)
        count = len(self.outputs)
        return tape_recording.RecordedResult(results[:count], results[count:]) if record else tuple(results)

    def _as_run(self, plan: CompiledPlan, outer: Execution, values: Sequence[Any]) -> Sequence[Any]:
        run = Run(self.short_name, host, perf_counter_ns(), sites=plan.sites, feeds=[t.name for t in plan.feeds],
                  fetches=[t.name for t in self.outputs], kind='function')
        execution = Execution(run, outer.resources, outer.errstate)
        run.control = execution
        try:
            if hooks.run:
                rest: list[Any] = []

                def whole(*fed: Any) -> Sequence[Any]:
                    results = self._within(plan, execution, fed)
                    rest[:] = results[len(self.outputs):]
                    return results[:len(self.outputs)]
                return [*invoke(self._site, whole, run, list(values)), *rest]
            return self._within(plan, execution, values)
        finally:
            run.control = None
            outer.errstate = execution.errstate

    def _within(self, plan: CompiledPlan, execution: Execution, values: Sequence[Any]) -> tuple[Any, ...]:
        pooled = None
        if function_threads.overlap and type(execution) is Execution and overlaps(plan):
            from pyfuncdbg.hosts.numpy.runtime.plans.parallel_runner import PooledRun
            pooled = PooledRun(plan, execution, function_threads.pool()).run
        return run_plan(plan, execution, values, self._error, pooled)

    def _error(self, error: Exception, op: Operation) -> OpError:
        return function_error(error, op, self.name)

    # ------------------------------------------------------------------ differentiating
    def backward(self, targets: Sequence[int], filled: Sequence[int] = (), slices: Slices | None = (),
                 absent: Sequence[tuple[Tensor, SlicesType]] = ()) -> tuple[TracedFunction, list[Any]]:
        """The backward function: from gradients of its tensors and values of the forward call to gradients of its inputs.

        Args:
            targets: The tensors with a gradient: indices in `available()`, which may repeat.
            filled: Inputs with zeros instead of a gradient of None.
            slices: Inputs whose gradients are `IndexedSlices` (of zeros instead of None), all others tensors; None:
                each in the form that its rule returns.
            absent: Further, unconnected tensors, with slices of zeros after the inputs.

        Returns:
            The function, which packs a list with the gradient or None of each input and captured tensor; and for each value
            that it needs: its index in `available()`, or an outer tensor that a rule uses.
        """
        form = (tuple(targets), tuple(filled), None if slices is None else tuple(slices),
                tuple((id(tensor), kind) for tensor, kind in absent))
        backward_trace = self._backward.get((form, self.graph.version))
        if backward_trace is None:
            backward_trace = self._made_backward(targets, filled, None if slices is None else dict(slices), absent)
            self._backward[form, self.graph.version] = backward_trace
        return backward_trace

    def _made_backward(self, targets: Sequence[int], filled: Sequence[int], slices: dict[int, SlicesType] | None,
                       absent: Sequence[tuple[Tensor, SlicesType]]) -> tuple[TracedFunction, list[Any]]:
        available = self.available()
        index = {id(t): i for i, t in reversed(list(enumerate(available)))}
        inputs = available[:len(self.inputs) + len(self.graph.captures)]
        graph = Graph(name=self.name.replace('__inference', '__backward'), outer=self.graph, building_function=True)
        graph.forward, graph.place, graph.repeats = self.graph, self.graph.place, self.graph.repeats
        targets_chosen = [available[place] for place in targets]
        with graph.as_default(), tape_recording.suspend_recordings():
            seeds = [graph.create_op(INPUT, (), {'dtype': t.dtype, 'shape': t.shape},
                                     'grad').outputs[0] for t in targets_chosen]
            gradients = add_backward_pass(graph, targets_chosen, inputs, seeds)
            gradients = [zeros_like(t) if g is None and i in filled else g
                     for i, (t, g) in enumerate(zip(inputs, gradients, strict=True))]
            if slices is not None:
                gradients = [as_slices(g, slices[i], inputs[i]) if i in slices else dense(g) for i,
                             g in enumerate(gradients)]
            gradients += [as_slices(None, kind, graph.admit(tensor)) for tensor, kind in absent]
            gradients = [_map_gradient(graph.admit, g) for g in gradients]
        needed = [outer for outer, _ in graph.captures]
        missing = [t for t in needed if id(t) not in index and isinstance(t, SymbolicTensor) and t.graph is self.graph]
        if missing:
            raise LookupError(f'{missing[0]!r} is not kept for the gradient of {self.short_name}')
        outputs: list[Any] = []
        places = [_map_gradient(lambda tensor: outputs.append(tensor) or len(outputs) - 1,  # type: ignore[func-returns-value]
                                g) for g in gradients]
        backward = TracedFunction(graph, seeds, outputs, lambda values: [_map_gradient(values.__getitem__,
                                                                                       p) for p in places],
                                  graph.name)
        return backward, [index.get(id(t), t) for t in needed]


Slices = Sequence[tuple[int, SlicesType]]
"""Indices of inputs, each with the type of its slices."""


def _map_gradient(function: Callable[[Any], Any], gradient: Any) -> Any:
    """A gradient with a function applied to its tensor, or to those of its slices; None stays."""
    if not isinstance(gradient, IndexedSlices):
        return None if gradient is None else function(gradient)
    parts = (gradient.values, gradient.indices, gradient.dense_shape)
    return IndexedSlices(*(None if part is None else function(part) for part in parts))


# ---------------------------------------------------------------- the op
def _call(execution: Execution, *values: Any, _py_trace: TracedFunction, owned: Any = (), record: bool = False) -> Any:
    return _py_trace.run(execution, values, record)


def _types(inputs: Sequence[TypedInput], attrs: Attrs) -> Sequence[Output]:
    return [(t.dtype, t.shape) for t in attrs['_py_trace'].outputs]


def _hidden(node: Node) -> Sequence[Output]:
    return [(t.dtype, t.shape) for t in node.attrs['_py_trace'].intermediates()]


def _gradient(node: Node, *grads: Any) -> Sequence[Any]:
    trace: TracedFunction = node.attrs['_py_trace']
    hidden = node.recorded()
    incoming = [*grads, *[None] * (len(node.outputs) + len(hidden) - len(grads))]
    first = len(trace.inputs) + len(trace.graph.captures)
    backward, needed = trace.backward([first + i for i, g in enumerate(incoming) if g is not None], slices=None)
    available = [*node.inputs, *node.outputs, *hidden]
    values = [g for g in incoming if g is not None] + [available[i] if isinstance(i, int) else i for i in needed]
    return backward.pack(call_traced(backward, values))  # type: ignore[no-any-return]


def call_traced(trace: TracedFunction, values: Sequence[Any]) -> list[Any]:
    """Call a trace as an op: a stateless node, which may be pruned or moved, if the trace is pure.

    Args:
        trace: The function.
        values: Its arguments, then the captured tensors.
    """
    attrs = {'f': FunctionName(trace.name), '_py_trace': trace, '_collective_manager_ids': [],
             '_read_only_resource_inputs': []}
    results = apply(PURE_CALL if trace.is_pure() else CALL, values, attrs)
    return results if isinstance(results, list) else []


def _restore_call(inputs: Sequence[Any], attrs: Attrs, functions: Callable[[str], TracedFunction]) -> Attrs:
    return {'_py_trace': functions(attrs['f'].name)}


_CALL = register(OpDef(CALL, _call, _types, _gradient, outputs=-1, stateful=True, kernel_attrs=('_py_trace',),
                       in_execution=True, hidden=_hidden, python=True, sealed=True, restore=_restore_call))
register(replace(_CALL, name=PURE_CALL, stateful=False))


def trace_function(python_function: Callable[..., Any], arguments: CallArguments, name: str, may_create: bool,
                   reworded: bool = True) -> TracedFunction:
    """Trace a Python function for arguments of these types.

    Args:
        python_function: The user's function.
        arguments: The arguments that it is traced for.
        name: '__inference_f_7'.
        may_create: Whether it may make variables.
        reworded: Whether errors in it have the form of TensorFlow's AutoGraph.

    Raises:
        ValueError: It makes variables on a call that is not its first.
        TypeError: It returns a value that is no tensor.
    """
    graph = Graph(name=name, outer=context.current_graph(), building_function=True)
    graph.variables_made = 0 if may_create else None
    with graph.as_default(), tape_recording.suspend_recordings():
        inputs = [graph.create_op(INPUT, (), {'dtype': i.dtype, 'shape': i.shape}, _node_name(i.name)).outputs[0]
                  for i in arguments.inputs]
        if may_create:                          # an initial value may depend on the first call's arguments
            graph.arguments = tuple(zip(arguments.tensors, inputs, strict=True))
        args, kwargs = arguments.rebuilt(inputs)
        with in_user_code(reworded), conversion(reworded):
            result = converted_callable(python_function)(*args, **kwargs)
        outputs: list[Any] = []
        places: list[int] = []
        for leaf in nest.flatten(result, expand_composites=True):
            if leaf is None:
                places.append(-1)
                continue
            places.append(len(outputs))
            outputs.append(apply(IDENTITY, (_returned_tensor(leaf, python_function),)))
    graph.arguments = ()
    if not any(isinstance(outer, SymbolicTensor) for outer, _ in graph.captures):
        graph.outer = None

    def pack(values: Sequence[Any]) -> Any:
        return nest.pack_sequence_as(result, [None if p < 0 else values[p] for p in places], expand_composites=True)
    # The common result is one tensor: a search for structures takes a third of the time of a small call.
    return TracedFunction(graph, inputs, outputs, itemgetter(0) if isinstance(result, Tensor) else pack, name)


def _node_name(argument: str) -> str:
    """A node name from an argument's name: it must not begin with '_'."""
    return INPUT if argument.startswith('_') else argument


def _returned_tensor(leaf: Any, function: Callable[..., Any]) -> Tensor:
    if isinstance(leaf, Tensor):
        return leaf
    if hasattr(leaf, '_as_tensor'):
        return leaf._as_tensor()  # type: ignore[no-any-return]
    if isinstance(getattr(leaf, 'flow', None), Tensor):     # a TensorArray
        return leaf.flow  # type: ignore[no-any-return]
    try:
        if isinstance(leaf, Operation):
            raise TypeError(leaf)
        value = to_array(leaf)
    except (TypeError, ValueError) as error:
        raise TypeError('To be compatible with tf.function, Python functions must return zero or more Tensors or '
                        'ExtensionTypes or '
                        f'None values; in compilation of {function}, found return value of type {type(leaf).__name__}, '
                        f'which is not a Tensor or ExtensionType.') from error
    return apply(CONSTANT, (), {'dtype': of_value(value), 'value': value})  # type: ignore[no-any-return]
