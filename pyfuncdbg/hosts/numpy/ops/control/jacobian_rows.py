"""Jacobians with a number of rows known only at run time, as loops of backward passes.

Importing it registers it with `hosts/numpy/runtime/differentiation/jacobian.py`, which calls it while a function is traced.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyfuncdbg.hosts.numpy.ops.arrays.filling import one_hot, range as numbers, zeros
from pyfuncdbg.hosts.numpy.ops.arrays.joining import concat
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import reduce_prod
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import identity, reshape, shape as shape_of, transpose
from pyfuncdbg.hosts.numpy.ops.checks.assertions import assert_equal
from pyfuncdbg.hosts.numpy.ops.control.mapping import map_fn
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import broadcast_to
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import control_dependencies
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import maximum
from pyfuncdbg.hosts.numpy.runtime.backward.indexed_slices import dense
from pyfuncdbg.hosts.numpy.runtime.differentiation import jacobian

Pull = Callable[[Any], Sequence[Any]]
"""From a gradient of the target to the gradient or None of each source."""


def _rows(pull: Pull, target: Any, sources: Sequence[Any]) -> list[Any]:
    """The jacobian by each source, None where the target does not depend on it."""
    sizes = shape_of(target)
    return [None if rows is None else _shaped(rows, sizes, source)
            for rows, source in zip(_looped(pull, target, sources, sizes, sizes), sources, strict=True)]


def _columns(pull: Pull, target: Any, source: Any) -> Any:
    """The jacobian of each element of the first axis by the same element of the source."""
    same = assert_equal(shape_of(target)[0], shape_of(source)[0])
    with control_dependencies([] if same is None else [same]):
        sizes = identity(shape_of(target))
    (columns,) = _looped(pull, target, [source], sizes, sizes[1:])
    if columns is None:
        return zeros(concat([shape_of(target), shape_of(source)[1:]], 0), target.dtype)
    moved = transpose(columns, [1, 0, *range(2, 1 + source.shape.rank)])
    return reshape(moved, concat([sizes, shape_of(source)[1:]], 0))


def _looped(pull: Pull, target: Any, sources: Sequence[Any], sizes: Any, hot: Any) -> list[Any]:
    """Backward passes from each one-hot gradient over the axes `hot`, stacked."""
    count = reduce_prod(hot)                        # a loop without iterations would not know the shape of its rows
    places = [i for i, gradient in enumerate(pull(None)) if gradient is not None]

    def row(number: Any) -> list[Any]:
        seed = broadcast_to(reshape(one_hot(number, count, dtype=target.dtype), hot), sizes)
        gradients = pull(seed)
        return [dense(gradients[i]) for i in places]

    kinds = [sources[i].dtype for i in places]
    rows = map_fn(row, numbers(maximum(count, 1)), fn_output_signature=kinds) if places else []
    gradients: list[Any] = [None] * len(sources)
    for i, value in zip(places, rows, strict=True):
        gradients[i] = value[:count]
    return gradients


def _shaped(rows: Any, sizes: Any, source: Any) -> Any:
    return reshape(rows, concat([sizes, shape_of(source)], 0))


jacobian.at_run_time(_rows, _columns)
