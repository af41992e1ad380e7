"""`tf.einsum`: sums of products over named axes."""
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Node, OpDef, Output, TypedInput, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.shapes import UNKNOWN, TensorShape
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import sizes_of
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import broadcast_shapes, check_same_dtype, invalid
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import conj
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply

_DOTS = '...'


# ---------------------------------------------------------------- equations
def _parts(equation: str) -> tuple[list[str], str]:
    """The labels of each input and of the output of an equation that has an arrow."""
    operands, _, result = equation.partition('->')
    return operands.split(','), result


def _axes(labels: str, rank: int) -> tuple[str, int, int]:
    """The labels without the ellipsis, its position, and its number of axes."""
    at = labels.find(_DOTS)
    if at < 0:
        return labels, len(labels), 0
    named = labels.replace(_DOTS, '')
    return named, at, rank - len(named)


def _resolved(equation: str, count: int) -> str:
    """The equation with explicit output, and without blanks.

    Raises:
        ValueError: It is invalid, or has another number of inputs.
    """
    text = equation.replace(' ', '')
    marked = text.replace(_DOTS, '0')
    labels = 'a-zA-Z0' if _DOTS in text else 'a-zA-Z'
    if re.fullmatch(f'[{labels},]*(->[{labels}]*)?', marked) is None or '0' in text:
        raise ValueError(f'Subscripts have incorrect format: {marked}')
    inputs, arrow, right = text.partition('->')
    operands = inputs.split(',')
    if count != len(operands):
        raise ValueError(f'Got {count} inputs for equation "{equation}", expecting {len(operands)}')
    if not arrow:
        names = inputs.replace(_DOTS, '').replace(',', '')
        right = (_DOTS if inputs.count(_DOTS) == 1 else '') + ''.join(sorted(c for c in set(names) if names.count(c) == 1))
    named = right.replace(_DOTS, '0')
    if len(set(named)) != len(named):
        raise ValueError(f'Output subscripts contain a label appearing more than once: {equation}')
    strange = next((c for c in named if c != '0' and c not in inputs), None)
    if strange is not None:
        raise ValueError(f'Output subscripts contain the label {strange} not present in the input subscripts.')
    return f'{inputs}->{right}'


# ---------------------------------------------------------------- the op
def _kernel(*values: Any, equation: str) -> Any:
    parts, right = _parts(equation)
    numbers: dict[str, int] = {}
    lengths: dict[str, int] = {}
    dots = _dots_shape(parts, values)
    operands: list[Any] = []
    for k, (part, value) in enumerate(zip(parts, values, strict=True)):
        named, at, extra = _axes(part, value.ndim)
        if extra < 0 or len(named) + extra != value.ndim:
            raise invalid(f'Expected input {k} to have rank {"at least " if _DOTS in part else ""}{len(named)} but got: '
                          f'{value.ndim}')
        value, places = _without_ones(value, at, extra, dots)
        for c, n in zip(named, (*value.shape[:at], *value.shape[at + len(places):]), strict=True):
            if lengths.setdefault(c, n) != n:
                raise invalid(f'Expected dimension {lengths[c]} at axis {part.index(c)} of the input shaped '
                              f'[{",".join(map(str, values[k].shape))}] but got dimension {n}')
            numbers.setdefault(c, len(dots) + len(numbers))
        labels = [numbers[c] for c in named]
        operands += [value, [*labels[:at], *places, *labels[at:]]]
    return _contract(operands, values[0].dtype, *_output_labels(right, numbers, lengths, dots))


def _dots_shape(parts: Sequence[str], values: Sequence[Any]) -> tuple[int, ...]:
    """The broadcast shape of the axes of the ellipsis."""
    shapes = []
    for part, value in zip(parts, values, strict=True):
        _, at, extra = _axes(part, value.ndim)
        shapes.append(value.shape[at:at + max(extra, 0)])
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise invalid(f'Incompatible shapes of the axes of "...": {" vs. ".join(map(str, shapes))}') from None


def _without_ones(value: Any, at: int, extra: int, dots: tuple[int, ...]) -> tuple[Any, list[int]]:
    """The value without its broadcast axes, and the numbers of the remaining axes of the ellipsis."""
    first = len(dots) - extra
    ones = [i for i in range(extra) if value.shape[at + i] == 1 != dots[first + i]]
    return (np.squeeze(value, tuple(at + i for i in ones)) if ones else value,
            [first + i for i in range(extra) if i not in ones])


def _output_labels(right: str, numbers: dict[str, int], lengths: dict[str, int],
                   dots: tuple[int, ...]) -> tuple[list[int], tuple[int, ...]]:
    """The labels of the output, and its sizes."""
    at = right.find(_DOTS)
    named = right.replace(_DOTS, '')
    places = list(range(len(dots))) if at >= 0 else []
    at = max(at, 0)
    labels = [numbers[c] for c in named]
    sizes = [lengths[c] for c in named]
    return [*labels[:at], *places, *labels[at:]], (*sizes[:at], *(dots[i] for i in places), *sizes[at:])


def _contract(operands: list[Any], dtype: Any, labels: list[int], sizes: tuple[int, ...]) -> Any:
    present = {n for part in operands[1::2] for n in part}
    distinct = list(dict.fromkeys(labels))
    wide = np.float32 if dtype.kind == 'V' or dtype == np.float16 else dtype
    arrays = [x.astype(wide) if n % 2 == 0 and wide != dtype else x for n, x in enumerate(operands)]
    distinct_present = [n for n in distinct if n in present]
    result = np.asarray(np.einsum(*arrays, distinct_present, optimize=len(operands) > 2)).astype(dtype, copy=True)
    if len(distinct) == len(labels):
        return result.reshape([sizes[labels.index(n)] for n in distinct])[()]
    diagonal_array = np.zeros(sizes, dtype)          # a repeated label: the diagonal
    grid = np.ogrid[tuple(slice(sizes[labels.index(n)]) for n in distinct)]
    diagonal_array[tuple(grid[distinct.index(n)] for n in labels)] = result
    return diagonal_array


def _types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    check_same_dtype('Einsum', [f'inputs[{i}]' for i in range(len(inputs))], inputs)
    parts, right = _parts(attrs['equation'])
    lengths: dict[str, int | None] = {}
    dots: TensorShape | None = TensorShape(())
    for part, x in zip(parts, inputs, strict=True):
        sizes = x.shape.sizes
        if sizes is None:
            dots = None if _DOTS in part else dots
            lengths.update({c: lengths.get(c) for c in part.replace(_DOTS, '')})
            continue
        named, at, extra = _axes(part, len(sizes))
        if extra < 0 or len(named) + extra != len(sizes):
            least = 'at least ' if _DOTS in part else ''
            raise ValueError(f'Shape must be {least}rank {len(named)} but is rank {len(sizes)}')
        for c, n in zip(named, sizes[:at] + sizes[at + extra:], strict=True):
            before = lengths.get(c)
            if None not in (before, n) and before != n:
                raise ValueError(f'Dimensions must be equal, but are {before} and {n}')
            lengths[c] = n if before is None else before
        if dots is not None:
            dots = broadcast_shapes(dots, TensorShape.of(sizes[at:at + extra]))
    if _DOTS in right and (dots is None or dots.sizes is None):
        return [(inputs[0].dtype, UNKNOWN)]
    named, at, _ = _axes(right, 0)
    middle = dots.sizes if _DOTS in right and dots is not None and dots.sizes is not None else ()
    outer = [lengths[c] for c in named]
    return [(inputs[0].dtype, TensorShape.of((*outer[:at], *middle, *outer[at:])))]


# ---------------------------------------------------------------- gradient
def _einsum(equation: str, *inputs: Any) -> Any:
    return apply('Einsum', inputs, {'equation': equation, 'N': len(inputs)})


def _gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    parts, right = _parts(node.attrs['equation'])
    grads = []
    for k, x in enumerate(node.inputs):
        others = [i for i in range(len(parts)) if i != k]
        grads.append(_by_input(grad, right, x, parts[k], [conj(node.inputs[i]) for i in others], [parts[i] for i in others]))
    return grads


def _by_input(grad: Any, right: str, x: Any, labels: str, others: list[Any], other_labels: list[str]) -> Any:
    """The gradient of one input.

    A label of this input only was summed over: the gradient is constant along it. Along the axes of the ellipsis the
    input may have been broadcast: there it is summed.
    """
    named = labels.replace(_DOTS, '')
    present = set(right + ''.join(other_labels))
    shared = ''.join(dict.fromkeys(c for c in named if c in present))
    alone = ''.join(dict.fromkeys(c for c in named if c not in present))
    dots = _DOTS if _DOTS in right else ''
    result = _einsum(f'{",".join([right, *other_labels])}->{dots}{shared}', grad, *others)
    if alone or dots or _DOTS in labels:
        # in this order: axes of the ellipsis, labels shared with others, labels summed over
        full_shape = sizes_of(_einsum(f'{labels}->{_DOTS if _DOTS in labels else ""}{shared}{alone}', x))
        for _ in alone:
            result = apply('ExpandDims', (result, convert_to_tensor(np.int32(-1))))
        result = _fitted(result, full_shape)
    dots = _DOTS if _DOTS in labels else ''
    order = f'{dots}{shared}{alone}'
    return result if order == labels else _einsum(f'{order}->{labels}', result)


def _fitted(result: Any, sizes: Any) -> Any:
    """A tensor summed over axes that are missing or 1 in `sizes`, and broadcast to the others."""
    extra, _ = apply('BroadcastGradientArgs', (sizes, sizes_of(result)))
    total = apply('Sum', (result, extra), {'keep_dims': True})
    have = sizes_of(total)
    count = apply('Size', (sizes,), {'out_type': sizes.dtype})
    total = apply('Reshape', (total, have[apply('Size', (have,), {'out_type': sizes.dtype}) - count:]))
    return apply('BroadcastTo', (total, sizes))


register(OpDef('Einsum', _kernel, _types, _gradient, kernel_attrs=('equation',)))


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Tensor:
    """The sum of products of an equation such as 'ij,jk->ik'.

    Args:
        equation: Labels of the axes of each input, and of the result; '...' for broadcast axes.
        inputs: Tensors of one dtype.
        **kwargs: `name`; `optimize`, which has no effect here.

    Raises:
        ValueError: The equation does not fit the inputs.
        TypeError: Another keyword.
    """
    name = kwargs.pop('name', None)
    kwargs.pop('optimize', None)
    if kwargs:
        raise TypeError(f'Invalid keyword arguments for einsum: {", ".join(kwargs)}. '
                        'Valid arguments: name, optimize, greedy.')
    with scope(name, 'einsum'):
        resolved = _resolved(equation, len(inputs))
        return _pairwise(resolved, [convert_to_tensor(x) for x in inputs])


def _pairwise(equation: str, tensors: list[Any]) -> Any:
    """Pairwise products, in the order of TensorFlow's nodes: the first two of the list first."""
    while len(tensors) > 2:
        parts, right = _parts(equation)
        rest = set(''.join(parts[2:]) + right)
        dots = _DOTS if _DOTS in parts[0] + parts[1] else ''
        both = ''.join(dict.fromkeys((parts[0] + parts[1]).replace('.', '')))
        kept_labels = dots + ''.join(c for c in both if c in rest)
        tensors = [_einsum(f'{parts[0]},{parts[1]}->{kept_labels}', *tensors[:2]), *tensors[2:]]
        equation = f'{",".join([kept_labels, *parts[2:]])}->{right}'
    return _einsum(equation, *tensors)
