"""How datasets begin: from tensors, ranges, generators and random numbers."""
from __future__ import annotations

from typing import Any

from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.dtypes import as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec
from pyfuncdbg.hosts.numpy.ops.data import structure
from pyfuncdbg.hosts.numpy.ops.data.generator import generated
from pyfuncdbg.hosts.numpy.ops.data.iterator import output_attrs
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.random.random import _seeds
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


def from_tensors(kind: Any, tensors: Any, name: str | None) -> Any:
    """One element."""
    element = structure.as_element(tensors)
    spec = structure.mapped(structure.spec_of, element)
    flat = structure.tensors_of(element)
    return kind(apply('TensorDataset', flat, {'Toutput_types': [t.dtype for t in flat], **output_attrs(spec)}, name), spec,
                '_TensorDataset')


def from_tensor_slices(kind: Any, tensors: Any, name: str | None) -> Any:
    """The slices of tensors.

    Raises:
        ValueError: There is no tensor, one is of rank 0, or their first axes differ.
        NotImplementedError: Something is a sparse or ragged tensor.
    """
    element = structure.as_element(tensors)
    for leaf in structure.leaves(element):
        if leaf is not None and not isinstance(leaf, Tensor):
            raise NotImplementedError(f'pyfuncdbg takes no slices of a {type(leaf).__name__}; use from_tensors, or make it '
                                      'a tensor first')
    flat = structure.tensors_of(element)
    if not flat:
        raise ValueError('Invalid `element`. `element` should not be empty.')
    if any(tensor.shape.rank == 0 for tensor in flat):
        raise ValueError('Unbatching a tensor is only supported for rank >= 1')
    spec = structure.mapped(lambda leaf: structure.NoneSpec() if leaf is None else TensorSpec(leaf.shape[1:], leaf.dtype),
                            element)
    sizes = [tensor.shape[0] for tensor in flat if tensor.shape.rank is not None and tensor.shape[0] is not None]
    for size in sizes:
        if size != sizes[0]:
            raise ValueError(f'Dimensions {sizes[0]} and {size} are not compatible')
    attrs = {'Toutput_types': [t.dtype for t in flat], **output_attrs(spec), 'is_files': False}
    return kind(apply('TensorSliceDataset', flat, attrs, name), spec, '_TensorSliceDataset')


def from_range(kind: Any, *args: Any, output_type: Any = dtypes.int64, name: str | None = None) -> Any:
    """Numbers.

    Raises:
        ValueError: There are not one to three of them.
    """
    if not 1 <= len(args) <= 3:
        raise ValueError(f'Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}.')
    start, stop, step = (0, *args, 1) if len(args) == 1 else (*args, 1) if len(args) == 2 else args
    given = [convert_to_tensor(value, dtypes.int64, name=word)
             for word, value in (('start', start), ('stop', stop), ('step', step))]
    spec = TensorSpec((), as_dtype(output_type))
    return kind(apply('RangeDataset', given, output_attrs(spec), name), spec, '_RangeDataset')


def from_generator(kind: Any, generator: Any, output_types: Any, output_shapes: Any, args: Any, output_signature: Any,
                   name: str | None) -> Any:
    """What a generator yields.

    Raises:
        TypeError: It cannot be called, or types are missing, given twice or none.
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
    op, inputs, attrs = generated(generator, spec, None if args is None else tuple(args))
    return kind(apply(op, inputs, attrs, name), spec, '_FlatMapDataset')


def _spec(types: Any, shapes: Any) -> Any:
    if shapes is None:
        return structure.mapped(lambda leaf: TensorSpec(None, as_dtype(leaf)), types)
    found = structure.leaves(types)
    flat = _shapes(types, shapes)
    specs = [TensorSpec(shape, as_dtype(leaf)) for leaf, shape in zip(found, flat, strict=True)]
    return structure.packed(types, iter(specs))


def _shapes(types: Any, shapes: Any) -> list[TensorShape]:
    """The shapes at the places of the types; a tuple of sizes is a shape there."""
    if not structure.is_row(types):
        return [TensorShape(shapes)]
    if isinstance(types, dict):
        return [shape for key in sorted(types) for shape in _shapes(types[key], shapes[key])]
    return [shape for inner, given in zip(types, shapes, strict=True) for shape in _shapes(inner, given)]


def seed_pair(seeds: dict[str, int]) -> tuple[Any, Any]:
    """The two seeds of an op as tensors."""
    return constant(seeds['seed'], dtypes.int64, name='seed'), constant(seeds['seed2'], dtypes.int64, name='seed2')


def from_random(kind: Any, seed: int | None, name: str | None) -> Any:
    """Random integers."""
    spec = TensorSpec((), dtypes.int64)
    return kind(apply('RandomDatasetV2', seed_pair(_seeds(seed)), output_attrs(spec), name), spec, '_RandomDataset')
