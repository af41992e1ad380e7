"""A concrete function: one trace with its argument types, callable with tensors."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hooks.program_traceback import drop_own_frames
from pyfuncdbg.hooks.public_function import hide_own_frames_in_methods, mark_unwrapped
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import nest
from pyfuncdbg.hosts.numpy.graph.types.convert import to_array
from pyfuncdbg.hosts.numpy.graph.types.dtypes import resource
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec
from pyfuncdbg.hosts.numpy.runtime.eager import tape_recording
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import out_of_scope
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor
from pyfuncdbg.hosts.numpy.runtime.functions.signature import misfit, type_text
from pyfuncdbg.hosts.numpy.runtime.traces.call_arguments import CallArguments, Described, TensorArgument, as_argument
from pyfuncdbg.hosts.numpy.runtime.traces.traced_function import TracedFunction, call_traced


@hide_own_frames_in_methods
class ConcreteFunction:
    """One trace, callable with tensors."""

    def __init__(self, trace: TracedFunction, arguments: CallArguments, compiled: bool = False) -> None:
        """Wrap a trace for some arguments; with `compiled` it must call no Python function."""
        self._trace = trace
        self._inputs = arguments.inputs
        self._unchecked = compiled
        self._parameters = arguments.described()

    # ------------------------------------------------------------------ what it is
    @property
    def graph(self) -> Any:
        """The traced graph."""
        graph = self._trace.graph
        graph.shown_of = self._trace                # its nodes live as long as the trace: the graph keeps it alive
        return graph

    @property
    def name(self) -> bytes:
        """b'__inference_f_7'."""
        return self._trace.name.encode()

    @property
    def function_def(self) -> Any:
        """Its FunctionDef."""
        return self._trace.function_def()

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
    def variables(self) -> tuple[Any, ...]:
        """The variables that it reads."""
        variables = [reference() for reference in self._trace.graph.variables.values()]
        return tuple(variable for variable in variables if variable is not None)

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The trainable ones of `variables`."""
        return tuple(variable for variable in self.variables if variable.trainable)

    @property
    def structured_outputs(self) -> Any:
        """The outputs in the structure that the function returned, as the trace's tensors."""
        return self._trace.pack(self._trace.outputs)

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """(args, kwargs) with a named spec for each tensor."""
        return (tuple(value for _, kind, value in self._parameters if kind != 'KEYWORD_ONLY'),
                {name: value for name, kind, value in self._parameters if kind == 'KEYWORD_ONLY'})

    @property
    def output_shapes(self) -> Any:
        """The shapes of the outputs, in their structure."""
        return nest.map_structure(lambda t: None if t is None else t.shape, self.structured_outputs)

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of the outputs, in their structure."""
        return nest.map_structure(lambda t: None if t is None else t.dtype, self.structured_outputs)

    # ------------------------------------------------------------------ calling
    def usable_in(self, graph: Graph | None) -> bool:
        """Whether the trace's captured tensors are accessible from `graph` (None: eager code)."""
        symbolic = [outer.graph for outer, _ in self._trace.graph.captures if isinstance(outer, SymbolicTensor)]
        if not symbolic:
            return True
        around = []
        while graph is not None:
            around.append(graph)
            graph = graph.outer
        return all(home in around for home in symbolic)

    def call(self, tensors: Sequence[Tensor], variables: Sequence[Any] = ()) -> Any:
        """Run the trace on its tensor arguments; `variables` are those among the arguments."""
        trace = self._trace
        if self._unchecked:
            from pyfuncdbg.hosts.numpy.runtime.functions.compilation import (
                check_compilable,  # it imports loops and branches, which take 2 ms
            )
            check_compilable(trace)
            self._unchecked = False
        read = [*variables, *self.variables] if trace.graph.variables or variables else ()
        if read:
            graph = context.current_graph()
            for variable in read:
                if graph is not None and graph.building_function:
                    graph.note_variable(variable)
                if tape_recording.active.recordings and variable.trainable:
                    tape_recording.read(variable.handle, variable)
        outside = [outer for outer, _ in trace.graph.captures]
        if outside and context.current_graph() is None and not any(isinstance(t, SymbolicTensor) for t in tensors):
            foreign = next((outer for outer in outside if isinstance(outer, SymbolicTensor)), None)
            if foreign is not None:
                raise out_of_scope(foreign)
        inputs = [*tensors, *outside]
        return trace.pack(call_traced(trace, inputs))

    @mark_unwrapped
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the trace.

        Raises:
            TypeError: The arguments do not match its signature.
            InvalidArgumentError: A tensor is of another dtype.
        """
        try:
            leaves, variables = self._checked(args, kwargs)
            return self.call(leaves, variables)
        except Exception as error:              # of any kind: it goes on to the program
            drop_own_frames(error)
            raise

    def _checked(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """The tensors and variables of a call, checked."""
        leaves = nest.flatten([list(args), kwargs])
        if kwargs or len(leaves) != len(self._inputs) or not all(isinstance(leaf, Tensor) for leaf in leaves):
            arguments = leaves
            leaves, variables = arguments_of_call(args, kwargs, self._parameters, self._inputs, self._trace.short_name,
                                                  self._signature_text())
            if not all(isinstance(leaf, Tensor) for leaf in arguments):
                self._check_shapes(leaves, args, kwargs)
        else:
            variables = []
        for i, (tensor, expected) in enumerate(zip(leaves, self._inputs, strict=True)):
            if tensor.dtype != expected.dtype and expected.dtype is not resource:
                name = self._trace.name
                raise InvalidArgumentError(
                    None, None, f'cannot compute {name} as input #{i}(zero-based) was expected to be a '
                                f'{expected.dtype.kernel_name} tensor but is a {tensor.dtype.kernel_name} tensor '
                                f'[Op:{name}]')
        return leaves, variables

    def _check_shapes(self, tensors: Sequence[Any], args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Check the shapes if there are Python values among the arguments; tensors alone may have any shape."""
        for tensor, expected in zip(tensors, self._inputs, strict=False):
            if expected.dtype is not resource and not expected.shape.is_compatible_with(tensor.shape):
                raise TypeError(f'Binding inputs to tf.function failed due to `Can not cast '
                                f'{TensorSpec(tensor.shape, tensor.dtype)} to '
                                f'{TensorSpec(expected.shape, expected.dtype)}`. '
                                f'Received args: {tuple(args)} and kwargs: {dict(kwargs)} for signature: '
                                f'{self._signature_text()}.')

    # ------------------------------------------------------------------ text
    def _signature_text(self) -> str:
        texts = [f'{name}: {type_text(value)}' for name, _, value in self._parameters]
        first = next((i for i, (_, kind, _) in enumerate(self._parameters) if kind == 'KEYWORD_ONLY'), None)
        if first is not None:
            texts.insert(first, '*')
        return f'({", ".join(texts)}) -> {self._result()}'

    def _result(self) -> str:
        specs = nest.map_structure(lambda t: None if t is None else TensorSpec(t.shape, t.dtype), self.structured_outputs)
        return type_text(specs)

    def __repr__(self) -> str:
        return f'<ConcreteFunction {self._signature_text()} at 0x{id(self):X}>'

    def __str__(self) -> str:
        return f'ConcreteFunction {self.pretty_printed_signature()}'

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """Its parameters, results and captured tensors, one a line; without `verbose` on one line."""
        if not verbose:
            return f'{self._trace.short_name}{self._signature_text()}'
        lines = ['Input Parameters:']
        lines += [f'  {name} ({kind}): {type_text(value)}' for name, kind, value in self._parameters] or ['  None']
        lines += ['Output Type:', f'  {self._result()}', 'Captures:']
        lines += [f'  {id(outer)}: {TensorSpec(outer.shape, outer.dtype)}' for outer,
                  _ in self._trace.graph.captures] or ['  None']
        return '\n'.join(lines)


class _MisfitError(Exception):
    """The arguments do not match the parameters."""


def arguments_of_call(args: Sequence[Any], kwargs: Mapping[str, Any], parameters: Sequence[Described],
                      inputs: Sequence[TensorArgument], name: str, signature_text: str) -> tuple[list[Any], list[Any]]:
    """The tensors of a call, and the variables among its arguments.

    Args:
        args: Of the call.
        kwargs: Of the call.
        parameters: Of the trace; Python values must be equal to its own.
        inputs: Its tensors.
        name: Of the function.
        signature_text: Its signature, for messages.

    Raises:
        TypeError: The arguments match neither the parameters nor the flat signature.
    """
    try:
        arguments = _by_parameters(args, kwargs, parameters)
        return arguments.tensors, arguments.variables
    except _MisfitError as problem:
        why = str(problem)
    try:
        return _by_tensors(args, kwargs, [one.name for one in inputs], name), []
    except _MisfitError as also:
        raise TypeError(f'Binding inputs to tf.function failed due to `{why}`. Received args: {tuple(args)} and kwargs: '
                        f'{dict(kwargs)} for signature: {signature_text}.\nFallback to flat signature also failed due to: '
                        f'{also}') from None


def _by_parameters(args: Sequence[Any], kwargs: Mapping[str, Any], parameters: Sequence[Described]) -> CallArguments:
    positional = [name for name, kind, _ in parameters if kind != 'KEYWORD_ONLY']
    if len(args) > len(positional):
        raise _MisfitError('too many positional arguments')
    values = dict(zip(positional, args, strict=False))
    for name in kwargs:
        if name in values:
            raise _MisfitError(f"multiple values for argument '{name}'")
    values |= kwargs
    names = [name for name, _, _ in parameters]
    for name in names:
        if name not in values:
            raise _MisfitError(f"missing a required argument: '{name}'")
    for name in kwargs:
        if name not in names:
            raise _MisfitError(f"got an unexpected keyword argument '{name}'")
    return CallArguments([_fit_argument(expected, values[name]) for name, _, expected in parameters], {}, names, False, {})


def _fit_argument(expected: Any, value: Any) -> Any:
    why = misfit(expected, value)
    if why is not None:
        raise _MisfitError(why)
    if nest.is_nested(expected):
        return nest.pack_sequence_as(value, [_fit_argument(a, b) for a, b in zip(nest.flatten(expected), nest.flatten(value),
                                                                                 strict=True)])
    if isinstance(expected, TensorSpec):
        if as_argument(value, False) is not None or hasattr(value, 'standing_on'):
            return value
        try:
            return EagerTensor(to_array(value, expected.dtype))
        except (TypeError, ValueError) as error:
            raise _MisfitError(str(error)) from None
    if not hasattr(expected, '_component_specs') and not bool(expected == value):
        raise _MisfitError(f'Can not cast {value!r} to {type_text(expected)}')
    return value


def _by_tensors(args: Sequence[Any], kwargs: Mapping[str, Any], names: Sequence[str], function: str) -> list[Any]:
    call_text = f'{function}({", ".join(names)})'
    if len(args) > len(names):
        raise _MisfitError(f'{call_text} takes {len(names)} positional arguments, got {len(args)}.')
    tensors, rest = list(args), dict(kwargs)
    for name in names[len(args):]:
        if name not in rest:
            missing = sorted(set(names) - set(names[:len(args)]) - set(kwargs))
            raise _MisfitError(f'{call_text} missing required arguments: {", ".join(missing)}.')
        tensors.append(rest.pop(name))
    for name in rest:
        if name in names:
            raise _MisfitError(f"{call_text} got two values for '{name}'.")
        raise _MisfitError(f'{call_text} got unexpected keyword arguments: {", ".join(sorted(rest))}.')
    for i, value in enumerate(tensors):
        if not isinstance(value, Tensor):
            raise _MisfitError(f'{call_text}: expected argument #{i}(zero-based) to be a Tensor; got {type(value).__name__} '
                               f'({value}).')
    return tensors
