"""Functions over the elements of a dataset: traced once as by `tf.function`, run once per element.

The run knows the element's index, so that a debugger can tell the element of a call. Called on the
thread that pulls, or on one of a pool.
"""
from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter_ns
from typing import Any

from pyfuncdbg.errors import InvalidArgumentError, OpError, OutOfRangeError
from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.chain import hooks, invoke
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hosts.numpy.graph.definitions.attributes import FunctionName
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec
from pyfuncdbg.hosts.numpy.ops.data import structure
from pyfuncdbg.hosts.numpy.ops.data.source import DatasetReading
from pyfuncdbg.hosts.numpy.runtime.autograph.converted_call import converted_callable
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.execution.failure import host_error, kernel_text
from pyfuncdbg.hosts.numpy.runtime.execution.host import host
from pyfuncdbg.hosts.numpy.runtime.plans.executor import run_plan
from pyfuncdbg.hosts.numpy.runtime.traces.call_arguments import CallArguments
from pyfuncdbg.hosts.numpy.runtime.traces.traced_function import TracedFunction, trace_function

_numbers = itertools.count()
USER_ERROR = 'Error in user-defined function'


class ElementFunction:
    """A traced function of elements.

    Attributes:
        trace: The trace; captured tensors are inputs of the dataset's node.
        spec: Of the results.
        structure: The structure of the results when it was traced.
    """

    def __init__(self, function: Callable[..., Any], element_specs: Sequence[Any], what: str, unpacked: bool = True) -> None:
        """Trace a function.

        Args:
            function: The user's function.
            element_specs: Specs of its arguments.
            what: 'Dataset.map()', for messages.
            unpacked: A tuple as only argument is unpacked to several.

        Raises:
            TypeError: It is not callable, or its result can be no element.
        """
        if not callable(function):
            raise ValueError(f'Argument `func` must be a callable. Received func={function} (of type {type(function)})')
        if unpacked and len(element_specs) == 1 and isinstance(element_specs[0], tuple) and not hasattr(
                element_specs[0], '_fields'):
            element_specs = element_specs[0]
        results: list[Any] = []

        def flat(*tensors: Any) -> list[Any]:
            rest = list(tensors)
            arguments = []
            for spec in element_specs:
                count = len(structure.types_of(spec))
                arguments.append(structure.element_of(spec, rest[:count]))
                del rest[:count]
            result = converted_callable(function)(*arguments)
            results[:] = [_as_element(result, what)]
            return structure.tensors_of(results[0])
        types = [kind for spec in element_specs for kind in structure.types_of(spec)]
        specs = [TensorSpec(shape, dtype, f'args_{i}') for i, (dtype, shape) in enumerate(types)]
        name = f'__inference_Dataset_{what[8:-2]}_{getattr(function, "__name__", type(function).__name__)}_{next(_numbers)}'
        arguments = CallArguments(specs, {}, [f'args_{i}' for i in range(len(specs))], True, {})
        self.function = function
        self.trace: TracedFunction = trace_function(flat, arguments, name, False)
        self.structure = results[0]
        self.spec = structure.map_structure(structure.spec_of, results[0])

    @property
    def captured(self) -> list[Any]:
        """The outer tensors that each call gets after the element."""
        return [outer for outer, _ in self.trace.graph.captures]

    def attrs(self, key: str = 'f') -> dict[str, Any]:
        """The attrs of the dataset's node."""
        return {key: FunctionName(self.trace.name), '_py_trace': self.trace,
                'Targuments': [outer.dtype for outer in self.captured]}


def _as_element(result: Any, what: str) -> Any:
    if isinstance(result, list):                # most likely the outputs of an op: not to be stacked
        result = tuple(result)
    try:
        return structure.as_element(result)
    except (TypeError, ValueError) as error:
        raise TypeError(f'Unsupported return value from function passed to {what}: {result}.') from error


class ElementStep:
    """A function with the values of its captured tensors, called by one transformation.

    Args:
        trace: The function.
        captured: Values of the captured tensors.
        kind: Name of the transformation, such as 'Map'.
        depth: How many transformations are before it.
    """

    __slots__ = ('_captured', '_depth', '_kind', '_site', 'trace')

    def __init__(self, trace: TracedFunction, captured: Sequence[Any], kind: str, depth: int) -> None:
        self.trace = trace
        self._captured = tuple(captured)
        self._kind = kind
        self._depth = depth
        self._site = CallSite(trace.short_name, f'tf.data {kind}', 'run', host)

    def __call__(self, reading: DatasetReading, path: str, index: int, values: Sequence[Any]) -> tuple[Any, ...]:
        """Call the function for one element.

        Args:
            reading: The reading that the element is of.
            path: The names of the transformations from the iterator to this one.
            index: Of the element.
            values: The element.

        Raises:
            OpError: A node of the function failed; the user's exception is its cause.
        """
        trace = self.trace
        plan = trace.plan(False)
        run = Run(self._kind, host, perf_counter_ns(), sites=plan.sites,
                  feeds=[t.name for t in plan.feeds], fetches=[t.name for t in trace.outputs], kind='element')
        run.element = index
        execution = Execution(run, reading.resources, reading.errstate)
        run.control = execution
        inputs, error_of = [*values, *self._captured], partial(self._error, path)
        before = numpy_errstate.state.set(numpy_errstate.IGNORE)
        try:
            if hooks.run:
                return tuple(invoke(self._site, lambda *fed: run_plan(plan, execution, fed, error_of), run, inputs))
            return run_plan(plan, execution, inputs, error_of)
        finally:
            run.control = None
            numpy_errstate.state.reset(before)

    def _error(self, path: str, error: Exception, op: Operation) -> OpError:
        raised = host_error(error)
        if raised.located:
            return raised
        if isinstance(raised, OutOfRangeError) and self._kind != 'Generator':           # that would end the dataset
            raised = InvalidArgumentError(None, None, f'Function invocation produced OutOfRangeError: {raised.message}')
            raised.__cause__ = error.__cause__
        text = raised.message if isinstance(error, OpError) else kernel_text(error)
        if self._kind != 'Generator':
            text = (f'{USER_ERROR} passed to {self._kind}Dataset:{self._depth} transformation with iterator: {path}: {text}')
        raised._message = f'{text}\n\t [[{{{{node {op.graph.place + op.name}}}}}]]'
        return raised
