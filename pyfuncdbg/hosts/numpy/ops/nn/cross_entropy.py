"""Cross entropies of logits against labels."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.context import current_graph
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Node, OpDef, Output, TypedInput, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import reduce_sum
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import sizes_of, vector
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor, convert_together
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import call, scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import (
    FLOAT,
    broadcast_shapes,
    check_dtype,
    check_eager_types,
    check_same_dtype,
    invalid,
    with_rank,
)
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import exp, log1p, negative
from pyfuncdbg.hosts.numpy.ops.nn.layers import log_probabilities, log_softmax, softmax
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply

_plus: Any = np.add
_largest: Any = np.maximum
_UNSIGNED = {4: np.uint32, 8: np.uint64}


# ---------------------------------------------------------------- against probabilities
def _cross_entropy(logits: Any, labels: Any) -> tuple[Any, Any]:
    """(loss per row, gradient by the logits)."""
    if logits.shape != labels.shape:
        try:
            logits, labels = np.broadcast_arrays(logits, labels)
        except ValueError:
            sizes = [f'[{",".join(map(str, x.shape))}]' for x in (logits, labels)]
            raise invalid('logits and labels must be broadcastable: logits_size={} labels_size={}'.format(*sizes)) from None
    log_p = log_probabilities(logits)
    # Where a label is 0 the term is 0, also for a probability of 0.
    terms = np.where(labels == 0, logits.dtype.type(0), labels * log_p)
    return -_plus.reduce(terms, -1, logits.dtype), np.exp(log_p) - labels


def _cross_entropy_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    logits, labels = inputs
    check_dtype('SoftmaxCrossEntropyWithLogits', 'features', logits.dtype, FLOAT)
    check_same_dtype('SoftmaxCrossEntropyWithLogits', ('features', 'labels'), inputs)
    shape = with_rank(broadcast_shapes(logits.shape, labels.shape), 2)
    return [(logits.dtype, shape[:1]), (logits.dtype, shape)]


def _by_logits(node: Node, column: Tensor | None, grad_grad: Tensor | None) -> Tensor | None:
    """The gradient by the logits: through the loss, and through the gradient output for second order."""
    grad = None if column is None else column * node.outputs[1]
    if grad_grad is None:
        return grad
    p = softmax(node.inputs[0])
    second = (grad_grad - reduce_sum(grad_grad * p, 1, True)) * p
    return second if grad is None else grad + second


def _column(grad_loss: Tensor | None) -> Any:
    return None if grad_loss is None else apply('ExpandDims', (grad_loss, constant(np.int32(-1))))


def _cross_entropy_gradient(node: Node, grad_loss: Tensor | None, grad_grad: Tensor | None,
                            needed: Sequence[bool]) -> Sequence[Any]:
    column = _column(grad_loss)
    of_labels: Any = None
    if needed[1] and column is not None:
        of_labels = column * negative(log_softmax(node.inputs[0]))
    if needed[1] and grad_grad is not None:
        of_labels = -grad_grad if of_labels is None else of_labels - grad_grad
    return [_by_logits(node, column, grad_grad) if needed[0] else None, of_labels]


register(OpDef('SoftmaxCrossEntropyWithLogits', _cross_entropy, _cross_entropy_types, _cross_entropy_gradient, outputs=2,
               selective=True, sparse=True))


def softmax_cross_entropy_with_logits(labels: Any, logits: Any, axis: int = -1, name: str | None = None) -> Tensor:
    """The cross entropy of each row: `labels` are probabilities along `axis`, `logits` unscaled log probabilities."""
    with scope(name, 'softmax_cross_entropy_with_logits'):
        logits = convert_to_tensor(logits)
        labels = cast(convert_to_tensor(labels, dtype_hint=logits.dtype), logits.dtype)
        check_eager_types('SoftmaxCrossEntropyWithLogits', (logits, labels))
        count = logits.shape.rank
        if axis != -1 and axis != (count or 0) - 1:
            order = np.arange(count or 0, dtype=np.int32)
            if not -len(order) <= axis < len(order):
                call('Range', {'start': axis + 1, 'limit': len(order), 'delta': 1})         # refuses it
            order[[axis, -1]] = order[[-1, axis]]
            logits, labels = (apply('Transpose', (x, constant(order))) for x in (logits, labels))
        if count == 2 and labels.shape.is_compatible_with(logits.shape):
            return apply('SoftmaxCrossEntropyWithLogits', (logits, labels))[0]
        shape = sizes_of(logits)
        if count == 0 or labels.shape.rank == 0:
            call('Slice', {'input': vector([]), 'begin': [-1], 'size': [1]})        # refuses tensors of rank 0
        rows = [apply('Reshape', (x, apply('ConcatV2', (vector([-1]), sizes_of(x)[-1:], constant(np.int32(0))))))
                for x in (logits, labels)]
        return apply('Reshape', (apply('SoftmaxCrossEntropyWithLogits', rows)[0], shape[:-1]))


def softmax_cross_entropy_with_logits_v1(_sentinel: Any = None, labels: Any = None, logits: Any = None, dim: int = -1,
                                         name: str | None = None, axis: int | None = None) -> Tensor:
    """TensorFlow 1's version: no gradient goes to the labels.

    Raises:
        ValueError: Arguments given by position.
    """
    _named_only(_sentinel, 'softmax_cross_entropy_with_logits', labels, logits)
    labels = apply('StopGradient', (convert_to_tensor(labels),))
    return softmax_cross_entropy_with_logits(labels, logits, dim if axis is None else axis, name)


def _named_only(sentinel: Any, function: str, labels: Any, logits: Any) -> None:
    if sentinel is not None:
        raise ValueError(f'Only call `{function}` with named arguments (labels=..., logits=..., ...). Received unnamed '
                         f'argument: {sentinel}')
    if labels is None or logits is None:
        raise ValueError('Both `labels` and `logits` must be provided.')


def _sparse_cross_entropy(logits: Any, labels: Any) -> tuple[Any, Any]:
    rows, classes = logits.shape
    if labels.shape != (rows,):
        raise invalid(f'logits and labels must have the same first dimension, got logits shape [{rows},{classes}] and '
                      f'labels shape [{",".join(map(str, labels.shape))}]')
    # As unsigned numbers negative classes are too large as well.
    if rows and _largest.reduce(labels.view(_UNSIGNED[labels.dtype.itemsize])) >= classes:
        bad = labels[(labels < 0) | (labels >= classes)]
        raise invalid(f'Received a label value of {bad.flat[0]} which is outside the valid range of [0, '
                                               f'{classes}).  Label values: {" ".join(map(str, labels.tolist()))}')
    shifted = logits - _largest.reduce(logits, -1, None, None, True)
    powers = np.ascontiguousarray(np.exp(shifted))      # written to through a flat view
    total = _plus.reduce(powers, -1, logits.dtype, None, True)
    powers /= total
    place = np.arange(0, rows * classes, classes or 1) + labels
    flat = powers.reshape(-1)
    flat[place] -= logits.dtype.type(1)
    return np.log(total).reshape(-1) - shifted.take(place), powers


def _sparse_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    logits, labels = inputs
    check_dtype('SparseSoftmaxCrossEntropyWithLogits', 'features', logits.dtype, FLOAT)
    check_dtype('SparseSoftmaxCrossEntropyWithLogits', 'labels', labels.dtype, (dtypes.int32, dtypes.int64))
    shape = with_rank(logits.shape, 2)
    rows = shape[:1].merge_with(with_rank(labels.shape, 1))
    return [(logits.dtype, rows), (logits.dtype, TensorShape.of((rows[0], shape[1])))]


def _sparse_gradient(node: Node, grad_loss: Tensor | None, grad_grad: Tensor | None) -> Sequence[Any]:
    return [_by_logits(node, _column(grad_loss), grad_grad), None]


register(OpDef('SparseSoftmaxCrossEntropyWithLogits', _sparse_cross_entropy, _sparse_types, _sparse_gradient, outputs=2,
               sparse=True))


def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any, name: str | None = None) -> Tensor:
    """The cross entropy of each row, with class numbers as labels.

    Raises:
        ValueError: The rank of `labels` is not that of `logits` less one.
    """
    with scope(name, 'SparseSoftmaxCrossEntropyWithLogits'):
        labels, logits = convert_to_tensor(labels), convert_to_tensor(logits)
        a, b = labels.shape.rank, logits.shape.rank
        if a is not None and b and b is not None and a != b - 1:
            raise ValueError('`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: '
                             f'labels.shape={labels.shape} of rank {a} and logits.shape={logits.shape} of rank {b}')
        if labels.shape.is_fully_defined() and logits.shape.is_fully_defined() and labels.shape != logits.shape[:-1]:
            raise ValueError('`labels.shape` must equal `logits.shape` except for the last dimension. Received: '
                             f'labels.shape={labels.shape} and logits.shape={logits.shape}')
        if b == 0:
            raise ValueError(f'`logits` cannot be a scalar. Received logits={logits}`')
        check_eager_types('SparseSoftmaxCrossEntropyWithLogits', (logits, labels))
        if b == 2:
            return apply('SparseSoftmaxCrossEntropyWithLogits', (logits, labels))[0]
        width = apply('ConcatV2', (vector([-1]), sizes_of(logits)[-1:], constant(np.int32(0))))
        rows = apply('Reshape', (logits, width)), apply('Reshape', (labels, vector([-1])))
        return apply('Reshape', (apply('SparseSoftmaxCrossEntropyWithLogits', rows)[0], sizes_of(labels)))


def sparse_softmax_cross_entropy_with_logits_v1(_sentinel: Any = None, labels: Any = None, logits: Any = None,
                                                name: str | None = None) -> Tensor:
    """TensorFlow 1's version: arguments by name only."""
    _named_only(_sentinel, 'sparse_softmax_cross_entropy_with_logits', labels, logits)
    return sparse_softmax_cross_entropy_with_logits(labels, logits, name)


def sigmoid_cross_entropy_with_logits(labels: Any = None, logits: Any = None, name: str | None = None) -> Tensor:
    """The cross entropy of each element: `max(x, 0) - x * z + log(1 + exp(-|x|))`."""
    with scope(name, 'logistic_loss') as full:
        if current_graph() is None:
            logits, labels = convert_to_tensor(logits), convert_to_tensor(labels)
        else:
            logits, labels = convert_together([logits, labels], names=('logits', 'labels'), op='logistic_loss')
        if not labels.shape.is_compatible_with(logits.shape):
            raise ValueError(f'`logits` and `labels` must have the same shape, received ({logits.shape} vs {labels.shape}).')
        check_eager_types('Mul', (logits, labels))
        check_eager_types('Exp', (logits,))
        zeros = apply('ZerosLike', (logits,))
        positive = logits >= zeros
        relu = apply('SelectV2', (positive, logits, zeros))
        minus_size = apply('SelectV2', (positive, -logits, logits))
        return apply('AddV2', (relu - logits * labels, log1p(exp(minus_size))), None, full)


def sigmoid_cross_entropy_with_logits_v1(_sentinel: Any = None, labels: Any = None, logits: Any = None,
                                         name: str | None = None) -> Tensor:
    """TensorFlow 1's version: arguments by name only."""
    _named_only(_sentinel, 'sigmoid_cross_entropy_with_logits', labels, logits)
    return sigmoid_cross_entropy_with_logits(labels, logits, name)
