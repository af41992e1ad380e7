"""Iterators of programs: `iter(dataset)`, in eager code and in functions, and optionals.

An eager iterator reads on the thread that asks for elements.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from pyfuncdbg.errors import OpError
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.dtypes import variant
from pyfuncdbg.hosts.numpy.ops.autograph.state import VariableState
from pyfuncdbg.hosts.numpy.ops.autograph.traced_loop import LoopVariables, traced_loop
from pyfuncdbg.hosts.numpy.ops.control.cond import cond
from pyfuncdbg.hosts.numpy.ops.data import structure
from pyfuncdbg.hosts.numpy.ops.data.iterator_resource import Cursor, OptionalElement, end
from pyfuncdbg.hosts.numpy.ops.data.source import Element
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import DEVICE, EagerTensor
from pyfuncdbg.hosts.numpy.runtime.execution.execution import eager_execution


def output_attrs(spec: Any) -> dict[str, Any]:
    """The attrs that declare the output types of ops that return an element."""
    types = structure.types_of(spec)
    return {'output_types': [dtype for dtype, _ in types], 'output_shapes': [shape for _, shape in types]}


def tensors(element: Element, spec: Any) -> Any:
    """An element's values as eager tensors, packed in its structure."""
    if len(element) == 1 and hasattr(element[0], 'dtype'):
        return structure.element_of(spec, (EagerTensor(element[0]),))
    return structure.element_of(spec, [EagerTensor(value) if hasattr(value, 'dtype') else EagerTensor(value, variant)
                                       for value in element])


def get_output_types(dataset_or_iterator: Any) -> Any:
    """The dtypes of an element."""
    return structure.map_structure(lambda spec: spec.dtype, dataset_or_iterator.element_spec)


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """The shapes of an element."""
    return structure.map_structure(lambda spec: spec.shape, dataset_or_iterator.element_spec)


class ReadDataset(Protocol):
    """The dataset that an iterator reads."""

    _variant_tensor: Tensor

    @property
    def element_spec(self) -> Any:
        """The spec of an element."""


class OwnedIterator:
    """Iterator over a dataset; its worker threads end when it is garbage-collected.

    Args:
        dataset: To read.
        resource: An existing iterator resource.
        element_spec: The spec of its elements.

    Attributes:
        element_spec: The spec of an element.
    """

    def __init__(self, dataset: ReadDataset | None = None, resource: Tensor | None = None, element_spec: Any = None) -> None:
        self._cursor: Cursor | None = None
        if dataset is None:
            assert resource is not None
            self._iterator_resource, self.element_spec = resource, element_spec
            return
        self.element_spec = dataset.element_spec
        if context.current_graph() is not None:
            self._iterator_resource = apply('AnonymousIteratorV3', (), output_attrs(dataset.element_spec))
            apply('MakeIterator', (dataset._variant_tensor, self._iterator_resource))
            return
        execution = eager_execution()
        execution.errstate = numpy_errstate.current_state()
        self._cursor = Cursor()
        variant_tensor: Any = dataset._variant_tensor
        self._cursor.begin(variant_tensor._value, execution)
        self._iterator_resource = EagerTensor(self._cursor, dtypes.resource)

    def __iter__(self) -> OwnedIterator:
        return self

    def __next__(self) -> Any:
        """The next element.

        Raises:
            StopIteration: There is none.
            OpError: A function of the pipeline failed.
        """
        if self._cursor is None or context.current_graph() is not None:
            return self._symbolic_next()
        element = self._next()
        if element is None:
            raise StopIteration
        return tensors(element, self.element_spec)

    next = __next__

    def get_next(self) -> Any:
        """The next element.

        Raises:
            OutOfRangeError: There is none.
            OpError: A function of the pipeline failed.
        """
        try:
            return self.__next__()
        except StopIteration:
            raise _locate_error(end(), 'IteratorGetNext') from None

    def get_next_as_optional(self) -> Optional:
        """The next element, or nothing, as an `Optional`."""
        if self._cursor is None or context.current_graph() is not None:
            optional = apply('IteratorGetNextAsOptional', (self._iterator_resource,), output_attrs(self.element_spec))
        else:
            optional = EagerTensor(OptionalElement(self._next()), variant)
        return Optional(optional, self.element_spec)

    def _autograph_for(self, stop: Any, body: Callable[[Any], Any], state: Any, options: dict[str, Any]) -> None:
        """A `for` over it in a traced function: a loop of the graph."""
        over(self, stop, body, state, options)

    def _next(self) -> Element | None:
        assert self._cursor is not None
        execution = eager_execution()
        before = numpy_errstate.current_state()
        try:
            return self._cursor.next()
        except OpError as error:
            raise _locate_error(error, 'IteratorGetNext', len(structure.types_of(self.element_spec))) from error.__cause__
        finally:
            execution.errstate = before
            numpy_errstate.state.set(before)

    def _symbolic_next(self) -> Any:
        flat = apply('IteratorGetNext', (self._iterator_resource,), output_attrs(self.element_spec))
        return structure.element_of(self.element_spec, flat)

    output_types = property(get_output_types)
    output_shapes = property(get_output_shapes)


def _locate_error(error: OpError, op: str, count: int = 1) -> OpError:
    """An error of an eager iterator with TensorFlow's text around its message."""
    if not error.located:
        error.locate(None, None, f'{{{{function_node __wrapped__{op}_output_types_{count}_device_{DEVICE}}}}} '
                                 f'{error.message} [Op:{op}] name: ')
    return error


class Optional:
    """An element that may be missing."""

    def __init__(self, variant_tensor: Tensor, element_spec: Any) -> None:
        self._variant_tensor = variant_tensor
        self.element_spec = element_spec

    @property
    def _data_spec(self) -> structure.VariantSpec:
        return structure.VariantSpec(Optional, self.element_spec, 'OptionalSpec')

    def has_value(self, name: str | None = None) -> Any:
        """Whether there is one, as a tensor."""
        return apply('OptionalHasValue', (self._variant_tensor,), None, name)

    def get_value(self, name: str | None = None) -> Any:
        """The element.

        Raises:
            InvalidArgumentError: There is none.
        """
        flat = apply('OptionalGetValue', (self._variant_tensor,), output_attrs(self.element_spec), name)
        return structure.element_of(self.element_spec, flat)

    @staticmethod
    def from_value(value: Any) -> Optional:
        """An optional with an element."""
        element = structure.as_element(value)
        optional = apply('OptionalFromValue', structure.tensors_of(element))
        return Optional(optional, structure.map_structure(structure.spec_of, element))

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """An optional without an element."""
        return Optional(apply('OptionalNone', ()), element_spec)


def over(iterator: OwnedIterator, stop: Callable[[], Any] | None, body: Callable[[Any], Any], state: VariableState,
         options: dict[str, Any]) -> None:
    """Run a block for each element: a loop of the graph until the iterator ends.

    Args:
        iterator: The iterator.
        stop: Whether to go on, where the loop has a `break` or `return`.
        body: Takes one element.
        state: The variables that it changes.
        options: Of the loop.
    """
    spec = iterator.element_spec
    current = iterator.get_next_as_optional()._variant_tensor

    def get() -> tuple[Any, ...]:
        return (current, *state.get())

    def put(values: Sequence[Any]) -> None:
        nonlocal current
        current = values[0]
        state.set(values[1:])

    def test() -> Any:
        has_value = Optional(current, spec).has_value()
        return has_value if stop is None else cond(has_value, stop, lambda: False)

    def step() -> None:
        nonlocal current
        body(Optional(current, spec).get_value())
        current = iterator.get_next_as_optional()._variant_tensor
    traced_loop(test, step, LoopVariables(('<internal iterate>', *state.names), get, put), options)
