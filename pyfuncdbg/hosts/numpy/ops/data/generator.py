"""Python generators as datasets. A Python function of a node yields each element, which debuggers see as a call.

As in TensorFlow, the graph passes the generator on by a number.
"""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from pyfuncdbg.errors import OutOfRangeError
from pyfuncdbg.hooks.generator_end import GeneratorEnd
from pyfuncdbg.hosts.numpy.graph.definitions.attributes import FunctionName
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.convert import to_array
from pyfuncdbg.hosts.numpy.graph.types.dtypes import as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec
from pyfuncdbg.hosts.numpy.ops.data import structure
from pyfuncdbg.hosts.numpy.ops.data.function import ElementFunction, ElementStep
from pyfuncdbg.hosts.numpy.ops.data.iterator import output_attrs
from pyfuncdbg.hosts.numpy.ops.data.source import (
    UNKNOWN,
    DatasetReading,
    Element,
    ElementSource,
    EndOfSequence,
    Pull,
    dataset_op,
)
from pyfuncdbg.hosts.numpy.ops.script import registry
from pyfuncdbg.hosts.numpy.ops.script.calls import numpy_function
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.traces.traced_function import TracedFunction


def from_generator(cls: Any, generator: Callable[..., Any], output_types: Any = None, output_shapes: Any = None,
                   args: Any = None, output_signature: Any = None, name: str | None = None) -> Any:
    """The elements that `generator(*args)` yields; each reading calls it again.

    Raises:
        TypeError: It is not callable, or types are missing, given twice or invalid.
    """
    if not callable(generator):
        raise TypeError('`generator` must be a Python callable.')
    if output_signature is not None:
        if output_types is not None:
            raise TypeError('The `output_types` argument can not be used together with the `output_signature` argument.')
        if output_shapes is not None:
            raise TypeError('The `output_shapes` argument can not be used together with the `output_signature` argument.')
        for leaf in structure.leaves(output_signature):
            if not isinstance(leaf, TensorSpec):
                raise TypeError('`output_signature` must contain objects that are subclass of `tf.TypeSpec` but found '
                                f'{type(leaf)} which is not.')
        spec = output_signature
    else:
        if output_types is None:
            raise TypeError('To specify the output signature you need to provide either the `output_signature` argument or '
                            'the `output_types` argument.')
        spec = _spec(output_types, output_shapes)
    if args is not None and not isinstance(args, (tuple, list)):
        raise TypeError('values must be a sequence.')
    op, inputs, attrs = generator_node(generator, spec, None if args is None else tuple(args))
    return cls(apply(op, inputs, attrs, name), spec, '_FlatMapDataset')


def _spec(types: Any, shapes: Any) -> Any:
    if shapes is None:
        return structure.map_structure(lambda leaf: TensorSpec(None, as_dtype(leaf)), types)
    leaf_types = structure.leaves(types)
    flat = _shapes(types, shapes)
    specs = [TensorSpec(shape, as_dtype(leaf)) for leaf, shape in zip(leaf_types, flat, strict=True)]
    return structure.packed(types, iter(specs))


def _shapes(types: Any, shapes: Any) -> list[TensorShape]:
    """The shapes for a structure of types, flattened; a tuple of sizes is one shape."""
    if not structure.is_row(types):
        return [TensorShape(shapes)]
    if isinstance(types, dict):
        return [shape for key in sorted(types) for shape in _shapes(types[key], shapes[key])]
    return [shape for inner, inner_shapes in zip(types, shapes, strict=True) for shape in _shapes(inner, inner_shapes)]


class _Generators:
    """Active generators by number."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._running: dict[int, Iterator[Any]] = {}

    def begin(self, generator: Iterator[Any]) -> Any:
        """Register a generator; its number."""
        number = next(self._numbers)
        self._running[number] = generator
        return np.int64(number)

    def next(self, number: Any) -> Any:
        """The next value that it yields."""
        return next(self._running[int(number)])

    def drop(self, number: Any) -> None:
        """Remove a generator."""
        self._running.pop(int(number), None)


def generator_node(generator: Any, spec: Any, args: Any) -> tuple[str, list[Any], dict[str, Any]]:
    """The node of a dataset that reads a generator: op type, inputs, attrs."""
    generators = _Generators()
    arguments = [structure.as_leaf(arg) for arg in args or ()]

    def begin() -> Any:
        return numpy_function(_Beginning(generators, generator), arguments, dtypes.int64)

    def following(number: Any) -> Any:
        types = [dtype for dtype, _ in structure.types_of(spec)]
        flat = numpy_function(_Yielding(generators, generator, spec), [number], types)
        for tensor, (_, shape) in zip(flat, structure.types_of(spec), strict=True):
            tensor.set_shape(shape)
        return structure.element_of(spec, flat)
    first = ElementFunction(begin, (), 'Dataset.from_generator()')
    rest = ElementFunction(following, (TensorSpec((), dtypes.int64),), 'Dataset.from_generator()', unpacked=False)
    attrs = {'init_func': FunctionName(first.trace.name), 'next_func': FunctionName(rest.trace.name),
             '_py_begin': first.trace, '_py_trace': rest.trace, **output_attrs(spec)}
    return 'GeneratorDataset', [*first.captured, *rest.captured], attrs


class _Beginning:
    """Python function of the node that begins a pass: returns the number of a new generator."""

    __name__ = 'generator_begin'

    def __init__(self, generators: _Generators, generator: Any) -> None:
        self._generators = generators
        self._generator = generator
        self.takes_from = _generator_label(generator)

    def drop(self, number: Any) -> None:
        """Remove a generator."""
        self._generators.drop(number)

    def __call__(self, *values: Any) -> Any:
        return self._generators.begin(iter(self._generator(*values)))


class _Yielding:
    """Python function of the node that reads: returns the generator's next value, flattened and checked."""

    __name__ = 'generator_next'

    def __init__(self, generators: _Generators, generator: Any, spec: Any) -> None:
        self._generators = generators
        self._spec = spec
        self.program_function = generator
        self.takes_from = _generator_label(generator)

    def __call__(self, number: Any) -> list[Any]:
        try:
            value = self._generators.next(number)
        except StopIteration as end:
            return GeneratorEnd(end)
        spec = self._spec
        if not _fits(spec, value):
            dtypes_of_spec = structure.map_structure(lambda leaf: leaf.dtype, spec)
            raise TypeError('`generator` yielded an element that did not match the expected structure. The expected '
                            f'structure was {dtypes_of_spec}, but the yielded element was {value}.')
        arrays = []
        for leaf, leaf_value in zip(structure.leaves(spec), _leaves_up_to(spec, value), strict=True):
            try:
                array = to_array(leaf_value, leaf.dtype)
            except (TypeError, ValueError):
                raise TypeError('`generator` yielded an element that could not be converted to the expected type. The '
                                f'expected type was {leaf.dtype.name}, but the yielded element was {leaf_value}.') from None
            if not leaf.shape.is_compatible_with(np.shape(array)):
                raise TypeError(f'`generator` yielded an element of shape {np.shape(array)} where an element of shape '
                                f'{leaf.shape} was expected.')
            arrays.append(array)
        return arrays


def _generator_label(generator: Any) -> str:
    """The label of a generator in `takes_from`: it must not be called again."""
    return f'generator {getattr(generator, "__qualname__", type(generator).__name__)}'


def _fits(spec: Any, value: Any) -> bool:
    """Whether a value has the structure of a spec, as far as that goes; a list may replace a tuple."""
    if not structure.is_row(spec):
        return True
    if isinstance(spec, dict):
        return isinstance(value, dict) and set(value) == set(spec) and all(_fits(spec[k], value[k]) for k in spec)
    return isinstance(value, (list, tuple)) and len(value) == len(spec) and all(map(_fits, spec, value))


def _leaves_up_to(spec: Any, value: Any) -> list[Any]:
    if not structure.is_row(spec):
        return [value]
    if isinstance(spec, dict):
        return [leaf for key in sorted(spec) for leaf in _leaves_up_to(spec[key], value[key])]
    return [leaf for inner, inner_value in zip(spec, value, strict=True) for leaf in _leaves_up_to(inner, inner_value)]


def _drop(begin: TracedFunction, number: Any) -> None:
    """Remove a generator, by the function of the node that has begun it; a task here has the node's token only."""
    for op in begin.graph.operations:
        if 'token' in op.attrs:
            with suppress(ValueError):          # its graph is gone, and the generators with it
                function = (op.attrs.get('_py_function') or registry.find_record(op.attrs['token'])).func
                if isinstance(function, _Beginning):
                    function.drop(number)


@dataset_op('GeneratorDataset', '_py_begin', '_py_trace')
def _generate(*captured: Any, _py_begin: TracedFunction, _py_trace: TracedFunction) -> ElementSource:
    """Elements that a generator yields."""
    count = len(_py_begin.graph.captures)
    first = ElementStep(_py_begin, captured[:count], 'Generator', 0)
    step = ElementStep(_py_trace, captured[count:], 'Generator', 0)

    def start(reading: DatasetReading, path: str) -> Pull:
        path += '::Generator'
        index = -1
        number: Any = None
        over = False

        def pull() -> Element:
            nonlocal index, number, over
            if over:
                raise EndOfSequence
            if number is None:
                number = first(reading, path, 0, ())[0]
                reading.at_end(lambda: _drop(_py_begin, number))
            index += 1
            try:
                return step(reading, path, index, (number,))
            except OutOfRangeError as error:
                if not isinstance(error.__cause__, StopIteration):
                    raise
                over = True
                _drop(_py_begin, number)
            raise EndOfSequence
        return pull
    return ElementSource(UNKNOWN, start)
