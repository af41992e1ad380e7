"""Partial updates of variables: slice assignment, scatter, `count_up_to`.

Methods of `tf.Variable` and functions of `tf.compat.v1`. The value is replaced by a changed copy: tensors read before
keep their value.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from pyfuncdbg.errors import OutOfRangeError
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, OpDef, Output, TypedInput, no_gradient, register
from pyfuncdbg.hosts.numpy.graph.types.dtypes import int32
from pyfuncdbg.hosts.numpy.ops.arrays.gathering import gather, gather_nd
from pyfuncdbg.hosts.numpy.ops.arrays.slicing import MASKS, getitem, numpy_index, stacked_specification
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import call
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid, merged
from pyfuncdbg.hosts.numpy.ops.variables.handles import Storage, present, shape_of_variable, stored
from pyfuncdbg.hosts.numpy.ops.variables.variable import Variable
from pyfuncdbg.hosts.numpy.runtime.backward.indexed_slices import IndexedSlices
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution

_KINDS: dict[str, Any] = {'Add': np.add, 'Sub': np.subtract, 'Mul': np.multiply, 'Div': np.divide, 'Max': np.maximum,
                          'Min': np.minimum}


def _no_outputs(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    return []


def _scatter_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    variable_shape, indices, updates = shape_of_variable(inputs[0]), inputs[1].shape, inputs[2].shape
    if variable_shape.sizes is not None and indices.sizes is not None and updates.sizes not in (None, ()):
        merged(updates, indices.concatenate(variable_shape[1:]))
    return []


def _copy_value(execution: Execution, storage: Storage) -> Any:
    """A copy of the value to write to."""
    return np.array(present(execution, storage))


def _scatter_rows(value: Any, place: Any, updates: Any, kind: str) -> None:
    if kind == 'Update':
        value[place] = updates
    elif kind == 'Div' and value.dtype.kind in 'iu':
        np.floor_divide.at(value, place, updates)
    else:
        _KINDS[kind].at(value, place, updates)


def _rows(kind: str) -> Callable[..., None]:
    def scatter(execution: Execution, storage: Storage, indices: Any, updates: Any) -> None:
        value = _copy_value(execution, storage)
        flat = np.asarray(indices).ravel()
        for place, index in enumerate(flat):
            if not 0 <= index < len(value):
                raise invalid(f'indices{_where(place, np.shape(indices))} = {index} is not in [0, {len(value)})')
        at, size = np.shape(indices), np.shape(updates)
        if size and size[:len(at)] != at:
            raise invalid(f'The shape of indices ({_text(at)}) must be a prefix of the shape of updates ({_text(size)})')
        if size and size != at + value.shape[1:]:
            raise invalid('Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got '
                          f'updates.shape {_text(size)}, indices.shape {_text(at)}, params.shape {_text(value.shape)}')
        _scatter_rows(value, indices, updates, kind)
        storage.value = value
    return scatter


def _text(shape: Sequence[int]) -> str:
    return f'[{",".join(map(str, shape))}]'


def _where(place: int, shape: Sequence[int]) -> str:
    at = np.unravel_index(place, shape) if shape else ()
    return f'[{", ".join(str(int(n)) for n in at)}]' if shape else ''


def _check_elements(value: Any, indices: Any, updates: Any) -> None:
    if not indices.ndim:
        raise invalid('Indices shape must have rank at least one. Found:[]')
    outer, depth = indices.ndim - 1, indices.shape[-1]
    for k in range(outer):
        if np.shape(updates)[k:k + 1] != indices.shape[k:k + 1]:
            size_of_updates = np.shape(updates)[k] if k < np.ndim(updates) else 0
            raise invalid(f'Dimensions [0,{outer}) of indices[shape={_text(indices.shape)}] = {indices.shape[k]} must match '
                          f'dimensions [0,{outer}) of updates[shape={_text(np.shape(updates))}] = {size_of_updates}')
    if np.shape(updates)[outer:] != value.shape[depth:]:
        raise invalid(f'Dimensions [{depth},{value.ndim}) of input[shape={_text(value.shape)}] must match dimensions '
                      f'[{outer},{np.ndim(updates)}) of updates[shape={_text(np.shape(updates))}]')


def _elements(kind: str) -> Callable[..., None]:
    def scatter(execution: Execution, storage: Storage, indices: Any, updates: Any) -> None:
        value = _copy_value(execution, storage)
        _check_elements(value, indices, updates)
        rows = np.asarray(indices).reshape(-1, np.shape(indices)[-1])
        for place, row in enumerate(rows):
            if any(not 0 <= n < size for n, size in zip(row, value.shape, strict=False)):
                raise invalid(f'indices{_where(place, np.shape(indices)[:-1])} = [{", ".join(map(str, row))}] does not '
                              f'index into shape [{",".join(map(str, value.shape))}]')
        _scatter_rows(value, tuple(np.moveaxis(np.asarray(indices), -1, 0)), updates, kind)
        storage.value = value
    return scatter


def _assign_slice(execution: Execution, storage: Storage, begin: Any, end: Any, strides: Any, update: Any,
                  **masks: int) -> None:
    value = _copy_value(execution, storage)
    place = numpy_index(value.shape, begin, end, strides, masks)
    if np.shape(value[place]) != np.shape(update) and np.ndim(update):
        shapes = [f'[{",".join(map(str, np.shape(x)))}]' for x in (update, value[place])]
        raise invalid(f'Cannot broadcast input shape {shapes[0]} into final shape {shapes[1]}')
    value[place] = update
    storage.value = value if value.ndim else value[()]


def _count_up(execution: Execution, storage: Storage, limit: int) -> Any:
    value = stored(execution, storage)
    if value >= limit:
        raise OutOfRangeError(None, None, f'Reached limit of {limit}')
    storage.value = value + value.dtype.type(1)
    return value


for _kind in (*_KINDS, 'Update'):
    register(OpDef(f'ResourceScatter{_kind}', _rows(_kind), _scatter_types, no_gradient, outputs=0, stateful=True,
                   in_execution=True))
    register(OpDef(f'ResourceScatterNd{_kind}', _elements(_kind), _no_outputs, no_gradient, outputs=0, stateful=True,
                   in_execution=True))
register(OpDef('ResourceStridedSliceAssign', _assign_slice, _no_outputs, no_gradient, outputs=0, stateful=True,
               in_execution=True, kernel_attrs=MASKS))
register(OpDef('ResourceCountUpTo', _count_up, lambda inputs, attrs: [(attrs['T'], attrs['shape'])], no_gradient,
               stateful=True, in_execution=True, kernel_attrs=('limit',)))


# ---------------------------------------------------------------- methods
def _scattered(kind: str) -> Callable[..., Any]:
    def scatter(self: Variable, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(f'Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {sparse_delta}')
        return _scatter(self, kind, sparse_delta.indices, sparse_delta.values, name)
    scatter.__doc__ = f'{_VERBS[kind]} the rows at the indices of an `IndexedSlices`.\n\nRaises:\n    TypeError: It is none.'
    return scatter


def _scatter(variable: Variable, kind: str, indices: Any, updates: Any, name: str | None, nd: str = '') -> Any:
    dtype = variable.dtype                      # only variables have one
    arguments = {'resource': variable.handle, 'indices': indices, 'updates': convert_to_tensor(updates, dtype)}
    return variable.after(call(f'ResourceScatter{nd}{kind}', arguments, None, name, indices=int32))


def _scattered_elements(kind: str) -> Callable[..., Any]:
    def scatter(self: Variable, indices: Any, updates: Any, name: str | None = None) -> Any:
        return _scatter(self, kind, indices, updates, name, 'Nd')
    scatter.__doc__ = f'{_VERBS[kind]} the elements or slices at `indices`, whose last axis names each.'
    return scatter


_VERBS = {'Add': 'Add to', 'Sub': 'Subtract from', 'Mul': 'Multiply', 'Div': 'Divide', 'Max': 'Raise', 'Min': 'Lower',
          'Update': 'Replace'}


def _batch_scatter_update(self: Variable, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """Replace one row in each batch, at the indices of an `IndexedSlices`."""
    if not isinstance(sparse_delta, IndexedSlices):
        raise TypeError(f'Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {sparse_delta}')
    return batch_scatter_update(self, sparse_delta.indices, sparse_delta.values, use_locking, name)


def _sparse_read(self: Variable, indices: Any, name: str | None = None) -> Any:
    """The rows at `indices`; their gradient is an `IndexedSlices`."""
    return gather(self.value(), indices, name=name)


def _set_shape(self: Variable, shape: Any) -> None:
    """Merge the static shape with a shape; ValueError if they contradict each other."""
    self._shape = self._shape.merge_with(shape)


def _gather_nd(self: Variable, indices: Any, name: str | None = None) -> Any:
    """The elements or slices at `indices`, whose last axis names each."""
    return gather_nd(self.value(), indices, name=name)


def _count_up_to(self: Variable, limit: int) -> Any:
    """The value before an increment by one.

    Raises:
        OutOfRangeError: It has reached `limit`.
    """
    return apply('ResourceCountUpTo', (self.handle,), {'limit': limit, 'T': self.dtype, 'shape': self.shape})


def _sliced(self: Variable, key: Any) -> Any:
    """A slice of the value; its `assign` replaces that part of the variable."""
    result: Any = getitem(self.value(), key)
    result.assign = partial(_assigned, self, key)
    return result


def _assigned(variable: Variable, key: Any, value: Any, name: str | None = None, read_value: bool = True) -> Any:
    places, masks = stacked_specification(key)
    update = convert_to_tensor(value, variable.dtype)
    op = apply('ResourceStridedSliceAssign', (variable.handle, *places, update), masks, name)
    return variable.after(op, read_value)


def _install() -> None:
    methods: dict[str, Any] = {
        'batch_scatter_update': _batch_scatter_update, 'sparse_read': _sparse_read, 'gather_nd': _gather_nd,
        'count_up_to': _count_up_to, 'set_shape': _set_shape, '__getitem__': _sliced}
    for kind in (*_KINDS, 'Update'):
        methods[f'scatter_{kind.lower()}'] = _scattered(kind)
        if kind not in ('Mul', 'Div'):
            methods[f'scatter_nd_{kind.lower()}'] = _scattered_elements(kind)
    for name, method in methods.items():
        method.__name__, method.__qualname__ = name, f'Variable.{name}'
        setattr(Variable, name, method)


_install()


# ---------------------------------------------------------------- functions of TensorFlow 1
def _function(kind: str, nd: str = '') -> Callable[..., Any]:
    def scatter(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
        return _scatter(ref, kind, indices, updates, name, nd)
    scatter.__name__ = scatter.__qualname__ = f'scatter_{nd.lower()}{"_" if nd else ""}{kind.lower()}'
    scatter.__doc__ = f'{_VERBS[kind]} {"elements" if nd else "rows"} of a variable; gives the variable.'
    return scatter


scatter_add, scatter_sub, scatter_mul = _function('Add'), _function('Sub'), _function('Mul')
scatter_div, scatter_max, scatter_min = _function('Div'), _function('Max'), _function('Min')
scatter_update = _function('Update')
scatter_nd_add, scatter_nd_sub, scatter_nd_update = _function('Add', 'Nd'), _function('Sub', 'Nd'), _function('Update', 'Nd')


def batch_scatter_update(ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None) -> Any:
    """Replace, for each batch index, the rows of a variable at `indices`."""
    places = np.asarray(indices) if not hasattr(indices, 'numpy') else indices.numpy()
    grid = np.indices(places.shape)[:-1]
    full = np.stack([*grid, places], axis=-1).astype(np.int64)
    return _scatter(ref, 'Update', full, updates, name, 'Nd')


def count_up_to(ref: Any, limit: int, name: str | None = None) -> Any:
    """The value before an increment by one.

    Raises:
        OutOfRangeError: It has reached `limit`.
    """
    return ref.count_up_to(limit)
