"""Loops over the slices of tensors: `tf.map_fn`, `scan`, `foldl`, `foldr` and `vectorized_map`."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.types import nest
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec
from pyfuncdbg.hosts.numpy.ops.arrays.joining import stack
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import shape as shape_of
from pyfuncdbg.hosts.numpy.ops.control.parts import graph_around, tensors_of
from pyfuncdbg.hosts.numpy.ops.control.tensor_array import TensorArray
from pyfuncdbg.hosts.numpy.ops.control.while_loop import while_loop_v1
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import name_scope_v1
from pyfuncdbg.hosts.numpy.runtime.autograph.converted_call import converted_callable
from pyfuncdbg.hosts.numpy.runtime.control_flow.nested_plan import traced_inner


def _check_callable(fn: Any) -> None:
    if not callable(fn):
        raise TypeError(f'{getattr(fn, "__name__", fn)} is not callable. Please provide a callable function.')


class _Slices:
    """The tensors of a structure, slice by slice.

    Attributes:
        count: Of the slices: an int where it is static, else a tensor.
        static: The count, None if it is not static.
    """

    def __init__(self, elems: Any, shaped: bool = False) -> None:
        self._elems = elems
        self.tensors = [convert_to_tensor(leaf, name='elem') for leaf in nest.flatten(elems)]
        first = self.tensors[0].shape
        self.static = None if first.sizes is None else first.sizes[0]
        for tensor in self.tensors[1:]:
            size = None if tensor.shape.sizes is None else tensor.shape.with_rank_at_least(1).sizes[0]
            if None not in (size, self.static) and size != self.static:
                raise ValueError(f'Dimensions {self.static} and {size} are not compatible')
        self.count: Any = self.static or shape_of(self.tensors[0])[0]
        self._arrays = [TensorArray(tensor.dtype, size=self.count, dynamic_size=False, clear_after_read=False,
                                    element_shape=tensor.shape[1:] if shaped and tensor.shape.rank is not None else None,
                                    ).unstack(tensor) for tensor in self.tensors]

    def at(self, index: Any) -> Any:
        """One slice of each, in their structure."""
        return nest.pack_sequence_as(self._elems, [array.read(index) for array in self._arrays])

    def stack(self, array: Any) -> Any:
        """A TensorArray as one tensor, with the static count of slices as first size."""
        result = array.stack()
        if result.shape.rank is not None:
            result.set_shape(TensorShape([self.static]).concatenate(result.shape[1:]))
        return result


def map_fn(fn: Callable[[Any], Any], elems: Any, dtype: Any = None, parallel_iterations: int | None = None,
           back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True, name: str | None = None,
           fn_output_signature: Any = None) -> Any:
    """The results of a function for the slices of `elems` along the first axis, side by side along a new first axis.

    Args:
        fn: From a slice (of each, in the structure of `elems`) to a structure of tensors.
        elems: A tensor, or structure of tensors of one first size.
        dtype: An older name of `fn_output_signature`.
        parallel_iterations: Accepted; slices are processed one after another.
        back_prop: Whether the result can be differentiated.
        swap_memory: Accepted.
        infer_shape: Whether all results have one shape.
        name: The name scope.
        fn_output_signature: Dtypes or specs of the results, in their structure; by default those of `elems`.

    Raises:
        TypeError: `fn` is no function, or gives another structure.
        ValueError: `elems` are empty, scalars, or of several first sizes.
    """
    if not callable(fn):
        raise TypeError(f'The provided function {getattr(fn, "__name__", fn)} is not callable.fn must be callable.')
    signature = dtype if fn_output_signature is None else fn_output_signature
    leaves = nest.flatten(elems)
    if not leaves:
        raise ValueError('elems must be a Tensor or (possibly nested) sequence of Tensors. '
                         f'Got {elems}, which does not contain any Tensors.')
    with name_scope_v1(name, 'map', leaves):
        leaves = [convert_to_tensor(leaf, name='elem') for leaf in leaves]
        if leaves[0].shape.rank == 0:
            raise ValueError('Elements in elems must be 1+ dimensional Tensors, not scalars')
        slices = _Slices(nest.pack_sequence_as(elems, leaves))
        structure = elems if signature is None else signature
        specs = [spec if hasattr(spec, 'shape') and hasattr(spec, 'dtype') and not isinstance(spec, type) and signature
                 is not None else TensorSpec(None, getattr(spec, 'dtype', spec) if signature is None else spec)
                 for spec in (leaves if signature is None else nest.flatten(signature))]
        first = constant(0)
        arrays = [TensorArray(spec.dtype, size=slices.count, dynamic_size=False, infer_shape=infer_shape,
                              element_shape=spec.shape) for spec in specs]

        def compute(i: Any, arrays: Any) -> Any:
            result = converted_callable(fn)(slices.at(i))
            nest.assert_same_structure(structure, result)
            return i + 1, [array.write(i, value) for array, value in zip(arrays, nest.flatten(result), strict=True)]

        _, filled = while_loop_v1(lambda i, _: i < slices.count, compute, (first, arrays), back_prop=back_prop,
                                  parallel_iterations=parallel_iterations or 10, swap_memory=swap_memory,
                                  maximum_iterations=slices.count)
        return nest.pack_sequence_as(structure, [slices.stack(array) for array in filled])


def scan(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
         back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True, reverse: bool = False,
         name: str | None = None) -> Any:
    """All values of a running result: `fn(result so far, slice)` for one slice of `elems` after another.

    Args:
        fn: Gives the next result, in the structure of `initializer` or, without one, of `elems`.
        elems: A tensor, or structure of tensors of one first size.
        initializer: The first result so far; without it the first slice, which then is the first value.
        parallel_iterations: Accepted.
        back_prop: Whether the result can be differentiated.
        swap_memory: Accepted.
        infer_shape: Whether all results have one shape.
        reverse: From the last slice on.
        name: The name scope.
    """
    _check_callable(fn)
    structure = elems if initializer is None else initializer
    with name_scope_v1(name, 'scan', nest.flatten(elems)):
        slices = _Slices(elems, shaped=True)
        count = slices.count
        last = count - 1 if reverse else 0
        if initializer is None:
            results, begin = nest.flatten(slices.at(last)), 1
        else:
            results, begin = [convert_to_tensor(leaf) for leaf in nest.flatten(initializer)], 0
        arrays = [TensorArray(result.dtype, size=count, element_shape=result.shape if infer_shape else None,
                              dynamic_size=False, infer_shape=infer_shape) for result in results]
        if initializer is None:
            arrays = [array.write(last, result) for array, result in zip(arrays, results, strict=True)]

        def compute(i: Any, results: Any, arrays: Any) -> Any:
            result = fn(nest.pack_sequence_as(structure, results), slices.at(i))
            nest.assert_same_structure(structure, result)
            following = nest.flatten(result)
            return i - 1 if reverse else i + 1, following, [
                array.write(i, value) for array, value in zip(arrays, following, strict=True)]

        _, _, filled = while_loop_v1(
            (lambda i, _1, _2: i >= 0) if reverse else (lambda i, _1, _2: i < count), compute,
            (convert_to_tensor(count - 1 - begin if reverse else begin), results, arrays), back_prop=back_prop,
            parallel_iterations=parallel_iterations, swap_memory=swap_memory, maximum_iterations=count)
        return nest.pack_sequence_as(structure, [slices.stack(array) for array in filled])


def foldl(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
          back_prop: bool = True, swap_memory: bool = False, name: str | None = None) -> Any:
    """The last value of a running result: `fn(result so far, slice)` for one slice of `elems` after another.

    Args:
        fn: Gives the next result.
        elems: A tensor, or structure of tensors of one first size.
        initializer: The first result so far; without it the first slice.
        parallel_iterations: Accepted.
        back_prop: Whether the result can be differentiated.
        swap_memory: Accepted.
        name: The name scope.
    """
    return _folded(fn, elems, initializer, back_prop, name, 'foldl')


def foldr(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
          back_prop: bool = True, swap_memory: bool = False, name: str | None = None) -> Any:
    """`foldl` from the last slice on."""
    return _folded(fn, elems, initializer, back_prop, name, 'foldr')


def _folded(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any, back_prop: bool, name: str | None,
            which: str) -> Any:
    _check_callable(fn)
    backwards = which == 'foldr'
    with name_scope_v1(name, which, nest.flatten(elems)):
        slices = _Slices(elems)
        count = slices.count
        first: Any = count if backwards else 0
        result = initializer
        if initializer is None:
            result = slices.at(count - 1 if backwards else 0)
            first = count - 1 if backwards else 1

        def compute(i: Any, result: Any) -> Any:
            if backwards:
                return [i - 1, fn(result, slices.at(i - 1))]
            return [i + 1, fn(result, slices.at(i))]

        _, result = while_loop_v1((lambda i, _: i > 0) if backwards else (lambda i, _: i < count), compute,
                                  [convert_to_tensor(first), result], back_prop=back_prop, maximum_iterations=count)
        return result


def vectorized_map(fn: Callable[[Any], Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True) -> Any:
    """`map_fn` whose result may be of any structure and dtypes; a loop here.

    Args:
        fn: From a slice to a structure of tensors.
        elems: A tensor, or structure of tensors; a first size of 1 is broadcast to that of the others.
        fallback_to_while_loop: Accepted.
        warn: Accepted.
    """
    tensors = [convert_to_tensor(leaf) for leaf in nest.flatten(elems)]
    packed = nest.pack_sequence_as(elems, tensors)
    if graph_around(tensors) is None:
        return _mapped_eagerly(fn, packed, tensors)
    result_specs: list[Any] = []

    def trace(leaves: Any) -> list[Any]:
        result = fn(nest.pack_sequence_as(packed, leaves))
        result_specs.append(nest.map_structure(lambda leaf: TensorSpec.from_tensor(tensors_of(leaf)[0]), result))
        return []
    graph = context.get_default_graph()
    with graph.as_default():
        traced_inner('vectorized_map/', 'types', trace, [(t.dtype, t.shape[1:]) for t in tensors])
    return map_fn(fn, packed, fn_output_signature=result_specs[0])


def _mapped_eagerly(fn: Callable[[Any], Any], elems: Any, tensors: Any) -> Any:
    """`vectorized_map` in eager mode: the first result has the structure of all."""
    slices = _Slices(elems)
    results = [fn(slices.at(i)) for i in range(int(slices.count))]
    columns = zip(*(nest.flatten(result) for result in results), strict=True)
    return nest.pack_sequence_as(results[0], [stack([convert_to_tensor(leaf) for leaf in column]) for column in columns])
