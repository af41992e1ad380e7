"""`PythonFunction`: one use of a user's function as an op, with its calls.

The public functions make one per call; kernels call it, on the caller's thread in eager mode, on the run's in a graph.

`doctor` reads facts on shapes around its node, in its graph and in graphs that call it, when calls have ended.
"""
from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from types import FrameType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.call_frames import Entrance, mark_call_frame, mark_function_caller
from pyfuncdbg.hooks.chain import call_unwatched, current_call, hooks, invoke
from pyfuncdbg.hooks.function_fit import check_fit
from pyfuncdbg.hooks.generator_end import SOURCE, GeneratorEnd
from pyfuncdbg.hooks.graph_context import RETURNED, SURROUNDINGS, output_shape_facts
from pyfuncdbg.hooks.live_objects import class_and_subclasses, find_objects
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hooks.own_files import outside_machinery
from pyfuncdbg.hooks.patched_code import code_number
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.creation_stack import creation_stack
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.types.convert import to_array
from pyfuncdbg.hosts.numpy.graph.types.dtypes import float64
from pyfuncdbg.hosts.numpy.ops.script import registry, results
from pyfuncdbg.hosts.numpy.ops.script.arguments import ArgumentLayout
from pyfuncdbg.hosts.numpy.ops.script.gradient import RecordCollector
from pyfuncdbg.hosts.numpy.ops.script.results import ANY, OutputTypes, output_types
from pyfuncdbg.hosts.numpy.ops.variables.variable import Variable, bind_handles
from pyfuncdbg.hosts.numpy.runtime.control_flow.branches import Branches
from pyfuncdbg.hosts.numpy.runtime.control_flow.while_loop import Loop
from pyfuncdbg.hosts.numpy.runtime.eager.tape_recording import active
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution, eager_execution
from pyfuncdbg.hosts.numpy.runtime.execution.host import host
from pyfuncdbg.hosts.numpy.runtime.execution.node_facts import reads_returned, site_attrs
from pyfuncdbg.hosts.numpy.runtime.functions.compilation import parts_of
from pyfuncdbg.hosts.numpy.runtime.traces.traced_function import TracedFunction

EAGER, NUMPY, STATELESS = 'EagerPyFunc', 'PyFunc', 'PyFuncStateless'
"""The op types: the function gets tensors, or arrays, or arrays and has no effect."""


def _describe_call(frame: FrameType) -> Entrance:
    """The call that a frame of `invoke` or `call_plainly` makes."""
    names = frame.f_locals
    function: PythonFunction = names['self']
    site = function._site or CallSite(function.name or function.op_type, function.op_type, 'python', host,
                                      function=function.func)
    run = names['execution'].run if 'execution' in names else eager_execution().run
    return Entrance(site, run, names['inputs'])


class _OwnOutputs(list[Any]):
    """Outputs as the function's results were converted: a hook replaces them by another list."""

    __slots__ = ()


class PythonFunction:
    """A user's function with everything that its op needs to call it.

    Attributes:
        func: The user's function.
        op_type: EAGER, NUMPY or STATELESS.
        outputs: Its declared output types.
        name: Node name, or the name that the user gave.
        layout: Mapping of inputs to nested arguments; None where each is one argument.
        number: Of the token.
        variables: In a graph, the variables that it can reach: hidden inputs after the declared ones.
        traced: Whether it is a node of a graph.
        constant: In a traced function, cached inputs and outputs of a stateless call on constants.
    """

    __slots__ = ('__weakref__', '_handles', '_site', 'constant', 'convert', 'func', 'layout', 'name', 'number', 'op_type',
                 'outputs', 'traced', 'variables')

    def __init__(self, func: Any, op_type: str, outputs: OutputTypes, name: str | None = None,
                 layout: ArgumentLayout | None = None,
                 traced: bool = False, variables: Sequence[Variable] = (), number: int | None = None) -> None:
        self.func = func
        self.op_type = op_type
        self.outputs = outputs
        self.name = name
        self.layout = layout
        self.traced = traced
        self.variables = variables
        self.number = next(registry.numbers) if number is None else number
        self.convert: Callable[[PythonFunction, Any], Any] = (
            results.as_tensors if op_type == EAGER else results.as_arrays)
        self._site: CallSite | None = None
        self._handles: Sequence[EagerTensor] = ()
        self.constant: list[tuple[Sequence[Any], Sequence[Any]]] = []

    @property
    def token(self) -> str:
        """'pyfunc_3'."""
        return f'pyfunc_{self.number}'

    def facts(self) -> tuple[Any, ...]:
        """Facts from which this record can be restored for its function; nothing that keeps a graph or a variable
        alive."""
        return self.op_type, self.outputs, self.name, self.layout, True, (), self.number

    def replace(self, func: Any, count: int) -> None:
        """Call another function from now on.

        Args:
            func: The function.
            count: Number of inputs.

        Raises:
            ValueError: It does not take so many; nothing is changed.
        """
        check_fit(func, *self.layout.arguments([None] * count) if self.layout is not None else ([None] * count, {}))
        self.func, self.constant = func, []
        if self._site is not None:
            self._site.function = func

    # ------------------------------------------------------------------ calling
    @mark_call_frame(_describe_call)
    def invoke(self, execution: Execution, inputs: list[Any], keeping: RecordCollector | None = None,
               handles: Sequence[EagerTensor] = ()) -> Sequence[Any]:
        """Call the function, through the hooks if there are any.

        Args:
            execution: Of the run; its NumPy error state holds in the function, which may change it.
            inputs: Tensors or arrays, as the function gets them.
            keeping: Collects the record for a gradient, if one is needed.
            handles: Handles of `variables`, for reads in the function.

        Returns:
            The converted outputs: one tensor or value for each of `Tout`.

        Raises:
            BaseException: From the function, or from the conversion of its result.
        """
        run = execution.run
        numpy_errstate.state.set(execution.errstate)      # around the hooks: one of them watches NumPy's reports under it
        try:
            if not hooks.python and run.aborted is None:
                return self._body(keeping, handles, *inputs)
            if self._is_ignored(run):
                if self._site is not None:
                    next(self._site.counter)
                return call_unwatched(run, self._body, keeping, handles, *inputs)
            self._handles = handles             # a hook may want to call it again
            site = self.site
            return self._convert_outputs(invoke(site, partial(self._own_outputs, site, keeping, handles), run, inputs))
        finally:
            execution.errstate = numpy_errstate.current_state()
            numpy_errstate.state.set(numpy_errstate.IGNORE)

    def _own_outputs(self, site: CallSite, keeping: RecordCollector | None, handles: Sequence[EagerTensor],
                     *inputs: Any) -> Sequence[Any]:
        if keeping is not None:
            keeping.call = current_call(site)
        outputs = self._body(keeping, handles, *inputs)
        return outputs if type(outputs) is GeneratorEnd else _OwnOutputs(outputs)

    def _convert_outputs(self, outputs: Sequence[Any]) -> list[Any]:
        """Outputs that a hook may have replaced, converted like results of the function."""
        if type(outputs) is _OwnOutputs or type(outputs) is GeneratorEnd:
            return outputs
        eager, dtypes = self.op_type == EAGER, self.outputs.dtypes
        if len(outputs) == len(dtypes) == 1 and (type(outputs[0]) is EagerTensor) == eager:     # the usual case
            return [outputs[0] if eager else to_array(outputs[0], dtypes[0])]
        results.check_count(self, len(outputs))
        values = [output._value if type(output) is EagerTensor else to_array(output, dtype)
                  for output, dtype in zip(outputs, dtypes, strict=True)]
        if not eager:
            return values
        return [output if type(output) is EagerTensor else EagerTensor(value)
                for output, value in zip(outputs, values, strict=True)]

    def _is_ignored(self, run: Run) -> bool:
        """Whether no hook is interested in this call; not cached, for each eager call has its own `PythonFunction`."""
        if self._site is not None:
            return run.aborted is None and hooks.is_ignored(self._site)
        func = self.func
        return type(func) is FunctionType and hooks.ignores_function(
            func, (func.__qualname__, func.__name__, self.name, self.op_type), lambda: self.site, run)

    @mark_function_caller
    def _body(self, keeping: RecordCollector | None, handles: Sequence[EagerTensor], *inputs: Any) -> Any:
        """The function in its context: eager mode, the thread's tapes suspended."""
        suspended = active.recordings
        active.recordings = [] if keeping is None else [keeping.begin(inputs, handles, suspended)]
        graphs = context.state.graphs
        depth = len(graphs)
        graphs.append(None)
        try:
            if handles:
                return self.convert(self, self._bound_result(handles, inputs))
            return self.convert(self, self.func(*inputs) if self.layout is None else self._result(inputs))
        finally:
            del graphs[depth:]
            active.recordings = suspended

    def _bound_result(self, handles: Sequence[EagerTensor], inputs: Sequence[Any]) -> Any:
        with self._bindings(handles):
            return self._result(inputs)

    def _bindings(self, handles: Sequence[EagerTensor]) -> AbstractContextManager[None]:
        return bind_handles({id(v._handle): handle for v, handle in zip(self.variables, handles, strict=True)})

    @mark_call_frame(_describe_call)
    def call_plainly(self, inputs: list[Any]) -> Any:
        """Call a numpy_function in eager mode, as part of the caller's code; returns any result."""
        run = eager_execution().run
        if not hooks.python and run.aborted is None:
            outputs = self._plainly(*inputs)
        elif self._is_ignored(run):
            outputs = call_unwatched(run, self._plainly, *inputs)
        else:
            outputs = invoke(self.site, self._plainly, run, inputs)
        if self.outputs is not ANY:
            return self.outputs.packed(outputs)
        return outputs[0] if len(outputs) == 1 else list(outputs)

    def _plainly(self, *inputs: Any) -> Sequence[Any]:
        if self.outputs is ANY:
            return results.as_found(self._result(inputs))
        return [EagerTensor(value) for value in results.as_arrays(self, self._result(inputs))]

    @mark_function_caller
    def _result(self, inputs: Sequence[Any]) -> Any:
        if self.layout is not None:
            positional, keywords = self.layout.arguments(inputs)
            return self.func(*positional, **keywords)
        return self.func(*inputs)

    def again(self, inputs: list[Any]) -> Sequence[Any]:
        """Call the function outside of runs and without hooks, on values such as those of `Call.inputs`, or on arrays.

        Graph variables have their current values in the session of the last call.
        """
        before = numpy_errstate.current_state()
        try:
            if self.op_type == EAGER:
                tensors = [value if type(value) is EagerTensor else EagerTensor(_unboxed(value)) for value in inputs]
                return self._convert_outputs(self._body(None, self._handles, *tensors))
            if not self.traced:
                return self._plainly(*inputs)
            return self._convert_outputs(self._body(None, (), *map(_unboxed, inputs)))
        finally:
            numpy_errstate.state.set(before)

    # ------------------------------------------------------------------ site
    @property
    def site(self) -> CallSite:
        """The call site: the node, or in eager mode the line of the program that is on the stack now."""
        return self._eager_site() if self._site is None else self._site

    def place(self, op: Operation) -> None:
        """Assign the node whose function it is."""
        self.name = op.name
        function = getattr(self.func, 'program_function', self.func) if type(self.func) is not FunctionType else self.func
        self._site = CallSite(op.name, op.type, 'python', host, function=function, stack=op.stack,
                              inputs=[t.name for t in op.inputs[:len(op.inputs) - len(self.variables)]],
                              outputs=[t.name for t in op.outputs],
                              attrs={**site_attrs(op), '_call': self.again, '_replace': self.replace, **readable(op),
                                     RETURNED: reads_returned(op), **self._argument_attrs()})
        if not self.variables:
            facts = self._site.id, self._site.counter, self._site.stack, self._site.inputs, self._site.outputs
            self._site.attrs = {**self._site.attrs, '_remake': partial(_placed_again, facts, self.facts())}

    def _argument_attrs(self) -> dict[str, Any]:
        """Attributes for observers: the layout of nested arguments, and what a call takes the next element of."""
        source = getattr(self.func, SOURCE, None) if type(self.func) is not FunctionType else None
        attrs: dict[str, Any] = {} if self.layout is None else {'_arguments': self.layout}
        return attrs if not isinstance(source, str) else {**attrs, SOURCE: source}

    def _eager_site(self) -> CallSite:
        frame = outside_machinery(sys._getframe(1)) or sys._getframe(1)
        name = self.name or self.op_type
        key = self.op_type, name, code_number(self.func), frame.f_code.co_filename, frame.f_lineno
        place = _places.get(key)
        if place is None:
            place = _places[key] = CallSite(name, self.op_type, 'python', host, stack=creation_stack())
        return self._at(place)

    def _at(self, place: CallSite) -> CallSite:
        """The cached site of an eager call at a line that called before."""
        attrs = {'token': self.token.encode(), 'Tout': list(self.outputs.dtypes), '_call': self.again,
                 '_replace': self.replace, **self._argument_attrs(),
                 '_remake': partial(_remade, place, self.op_type, self.outputs, self.layout)}
        return CallSite(place.name, self.op_type, 'python', host, function=self.func, stack=place.stack, attrs=attrs,
                        same_as=place)


_places: dict[tuple[str, str, int, str, int], CallSite] = {}
"""Watched lines that call functions eagerly; holds no function, closure or value."""


class _Identity(NamedTuple):
    """Identity of a `CallSite`: equal for sites of one place."""

    id: int
    counter: Iterator[int]


def _placed_again(place: tuple[Any, ...], facts: tuple[Any, ...], func: Any) -> CallSite:
    """The restored site of a node whose graph is gone, for its function."""
    id, counter, stack, inputs, outputs = place
    function = PythonFunction(func, *facts)
    return CallSite(facts[2], function.op_type, 'python', host, function=func, stack=stack, inputs=inputs, outputs=outputs,
                    attrs={'_call': function.again}, same_as=_Identity(id, counter))  # type: ignore[arg-type]


def _remade(place: CallSite, op_type: str, outputs: OutputTypes, layout: ArgumentLayout | None, func: Any) -> CallSite:
    """The restored site of an eager call that is over, for its function: the site lives no longer than its call."""
    return PythonFunction(func, op_type, outputs, place.name, layout, number=0)._at(place)


def _unboxed(value: Any) -> Any:
    """An array as a kernel value: a NumPy scalar at rank 0; strings stay."""
    return value[()] if isinstance(value, np.ndarray) and not value.ndim and not value.dtype.hasobject else value


def _convert_fresh() -> tuple[int, Any]:
    ids: list[int] = []

    def fresh() -> Any:
        array = np.zeros(3)
        ids.append(id(array))
        return array

    function = PythonFunction(fresh, EAGER, output_types(float64), number=-1)
    (tensor,) = function._body(None, ())
    return ids[0], tensor._value


results.calibrate(_convert_fresh)


def readable(op: Operation) -> dict[str, Any]:
    """A reader of a node's shape facts, as an attribute of its site; it does not keep the graph alive."""
    return {SURROUNDINGS: partial(_read, weakref.ref(op))}


def _read(reference: weakref.ref[Operation]) -> dict[str, Any]:
    op = reference()
    return {} if op is None else output_shape_facts(op.outputs, _Functions().returned)


class _Functions:
    """The live functions and graphs, collected once for one reading."""

    def __init__(self) -> None:
        self._traces: list[TracedFunction] | None = None
        self._graphs: list[Graph] = []

    def returned(self, tensor: Any) -> Iterator[tuple[str, list[Any]]]:
        """The functions that return a tensor, with the output tensors at their callers."""
        if not tensor.graph.building_function:
            return
        if self._traces is None:
            self._traces = find_objects(*class_and_subclasses(TracedFunction))
            self._graphs = find_objects(*class_and_subclasses(Graph))
        for trace in self._traces:
            slots = [slot for slot, output in enumerate(trace.outputs) if output is tensor]
            if slots:
                yield trace.short_name, [node.outputs[slot] for node, slot in self._calling_nodes(trace, slots)]

    def _calling_nodes(self, trace: TracedFunction, slots: Sequence[int]) -> Iterator[tuple[Operation, int]]:
        """Nodes that run a function, each with the output slot for one of its result slots."""
        for graph in self._graphs:
            for node in graph.operations:
                for value in node.attrs.values():
                    if any(part is trace for part in parts_of(value)):
                        yield from ((node, slot) for slot in _slots(value, trace, slots) if slot < len(node.outputs))


def _slots(value: Any, trace: TracedFunction, slots: Sequence[int]) -> Iterator[int]:
    if isinstance(value, Branches):
        for branch, results in zip(value.branches, value.results, strict=True):
            yield from (i for i, place in enumerate(results) if branch is trace and place in slots)
    elif isinstance(value, Loop):
        if value.body is trace:
            yield from (2 + i for i, place in enumerate(value.next) if place in slots)
    else:
        yield from slots
