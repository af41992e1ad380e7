"""Normalization and losses composed of other ops."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.ops.arrays.filling import zeros_like
from pyfuncdbg.hosts.numpy.ops.arrays.joining import concat
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import reduce_all, reduce_mean, reduce_sum
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import reshape
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import scope
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import where
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import abs as absolute, exp, log, log1p, relu, rsqrt, softplus
from pyfuncdbg.hosts.numpy.ops.linalg.products import norm
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


# ---------------------------------------------------------------- normalization
def batch_normalization(x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any,
                        name: str | None = None) -> Tensor:
    """`(x - mean) / sqrt(variance + variance_epsilon) * scale + offset`; scale and offset may be None."""
    with scope(name, 'batchnorm'):
        x, mean, variance = (convert_to_tensor(v) for v in (x, mean, variance))
        inverse = rsqrt(variance + variance_epsilon)
        if scale is not None:
            inverse = inverse * scale
        shift = offset - mean * inverse if offset is not None else -mean * inverse
        return x * cast(inverse, x.dtype) + cast(shift, x.dtype)


def normalize(tensor: Any, ord: Any = 'euclidean', axis: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """`tensor` divided by its norm along `axis`, and the norm."""
    with scope(name, 'normalize'):
        x = convert_to_tensor(tensor)
        length = norm(x, ord, axis, keepdims=True)
        return x / cast(length, x.dtype), length


def normalize_moments(counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None) -> tuple[Any, Any]:
    """Mean and variance from sums: of 1, of elements and of their squares, less `shift`."""
    with scope(name, 'normalize'):
        divisor = apply('Reciprocal', (convert_to_tensor(counts),))
        shifted = mean_ss * divisor
        mean = shifted if shift is None else shifted + shift
        return mean, variance_ss * divisor - shifted * shifted


def weighted_moments(x: Any, axes: Any, frequency_weights: Any, keepdims: bool = False,
                     name: str | None = None) -> tuple[Tensor, Tensor]:
    """Mean and variance over `axes`, where each element counts by its weight."""
    with scope(name, 'weighted_moments'):
        x = convert_to_tensor(x)
        weights = cast(convert_to_tensor(frequency_weights), x.dtype)
        broadcast_weights = weights + zeros_like(x)
        total = reduce_sum(broadcast_weights, axes, True)
        mean = reduce_sum(weights * x, axes, True) / total
        variance = reduce_sum(weights * apply('SquaredDifference', (x, mean)), axes, True) / total
        if keepdims:
            return mean, variance
        places = [int(a) for a in (axes if isinstance(axes, (list, tuple)) else [axes])]
        return apply('Squeeze', (mean,), {'squeeze_dims': places}), apply('Squeeze', (variance,), {'squeeze_dims': places})


# ---------------------------------------------------------------- losses
def weighted_cross_entropy_with_logits(labels: Any, logits: Any, pos_weight: Any, name: str | None = None) -> Tensor:
    """The cross entropy of each element, with weight `pos_weight` for label 1.

    Raises:
        ValueError: Labels and logits differ in shape.
    """
    with scope(name, 'logistic_loss') as full:
        logits, labels = convert_to_tensor(logits, name='logits'), convert_to_tensor(labels, name='labels')
        if not labels.shape.is_compatible_with(logits.shape):
            raise ValueError(f'`logits` and `labels` must have the same shape, received ({logits.shape} vs {labels.shape}).')
        weight = 1 + (pos_weight - 1) * labels
        loss = weight * (log1p(exp(-absolute(logits))) + relu(-logits))
        return apply('AddV2', ((1 - labels) * logits, loss), None, full)


def weighted_cross_entropy_with_logits_v1(labels: Any = None, logits: Any = None, pos_weight: Any = None,
                                          name: str | None = None, targets: Any = None) -> Tensor:
    """`weighted_cross_entropy_with_logits` with TensorFlow 1's arguments."""
    return weighted_cross_entropy_with_logits(targets if labels is None else labels, logits, pos_weight, name)


def log_poisson_loss(targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None) -> Tensor:
    """The loss of a Poisson distribution of rate `exp(log_input)`; in full with Stirling's approximation.

    Raises:
        ValueError: The shapes differ.
    """
    with scope(name, 'log_poisson_loss'):
        x, targets = convert_to_tensor(log_input), convert_to_tensor(targets)
        if not x.shape.is_compatible_with(targets.shape):
            raise ValueError(f'`log_input` and `targets` must have the same shape, received ({x.shape} vs {targets.shape}).')
        result = exp(x) - x * targets
        if not compute_full_loss:
            return result
        more = targets * log(targets) - targets + 0.5 * log(constant(6.283185307179586, targets.dtype) * targets)
        inside = apply('LogicalAnd', (targets >= zeros_like(targets), targets <= zeros_like(targets) + 1))
        return result + where(inside, zeros_like(targets), more)


# ---------------------------------------------------------------- activations and sums
def crelu(features: Any, axis: int = -1, name: str | None = None) -> Tensor:
    """`relu` of the features and of their negatives, concatenated along `axis`."""
    with scope(name, 'CRelu'):
        x = convert_to_tensor(features)
        return relu(concat([x, -x], axis))


def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """`-softplus(-x)`."""
    with scope(name, 'LogSigmoid'):
        return -softplus(-convert_to_tensor(x))


def reciprocal_no_nan(x: Any, name: str | None = None) -> Tensor:
    """`1 / x`, 0 where `x` is 0."""
    with scope(name, 'reciprocal_no_nan') as full:
        x = convert_to_tensor(x)
        return apply('DivNoNan', (constant(1, x.dtype), x), None, full)


def polyval(coeffs: Sequence[Any], x: Any, name: str | None = None) -> Tensor:
    """The polynomial with these coefficients, the highest power first, at `x`.

    Raises:
        ValueError: The coefficients are no list.
    """
    if not isinstance(coeffs, list):
        raise ValueError(f'Argument coeffs must be list type. Received type {type(coeffs)}.')
    with scope(name, 'polyval'):
        x = convert_to_tensor(x, name='x')
        if not coeffs:
            return zeros_like(x)
        first, *rest = (convert_to_tensor(c, name=f'coeff_{i}') for i, c in enumerate(coeffs))
        total = first
        for c in rest:
            total = c + total * x
        return total


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """`scalar * x`.

    Raises:
        ValueError: `scalar` is of rank above 0.
    """
    base = x.dtype if hasattr(x, 'dtype') else None
    factor = convert_to_tensor(scalar, base, name='scalar')
    if factor.shape.rank not in (None, 0):
        raise ValueError(f'The input scalar must be a 0-D value. Received shape {factor.shape}.')
    return apply('Mul', (factor, convert_to_tensor(x)), None, name)


def _differences(x: Any) -> Any:
    flat = reshape(convert_to_tensor(x), [-1])
    return flat[1:], flat[:-1]


def is_non_decreasing(x: Any, name: str | None = None) -> Tensor:
    """Whether no element is smaller than the one before it."""
    with scope(name, 'is_non_decreasing'):
        after, before = _differences(x)
        return reduce_all(after >= before)


def is_strictly_increasing(x: Any, name: str | None = None) -> Tensor:
    """Whether each element is larger than the one before it."""
    with scope(name, 'is_strictly_increasing'):
        after, before = _differences(x)
        return reduce_all(after > before)


def compute_average_loss(per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None) -> Tensor:
    """The sum of the losses of examples divided by the size of the global batch."""
    losses = convert_to_tensor(per_example_loss)
    if sample_weight is not None:
        losses = losses * cast(convert_to_tensor(sample_weight), losses.dtype)
    if global_batch_size is None:
        return reduce_mean(losses)
    return reduce_sum(losses) / cast(convert_to_tensor(global_batch_size), losses.dtype)


def in_top_k(targets: Any, predictions: Any, k: Any, name: str | None = None) -> Tensor:
    """For each row whether fewer than `k` classes have a higher prediction than the target."""
    with scope(name, 'in_top_k'):
        table, targets = convert_to_tensor(predictions), convert_to_tensor(targets)
        target_score = apply('GatherNd', (table, apply('ExpandDims', (targets, constant(-1)))), {'batch_dims': 1})
        above = table > apply('ExpandDims', (target_score, constant(-1)))
        finite = apply('IsFinite', (target_score,))
        most = convert_to_tensor(k, dtypes.int32 if isinstance(k, str) else None)
        few = reduce_sum(cast(above, dtypes.int32), 1) < cast(most, dtypes.int32)
        return apply('LogicalAnd', (few, finite))
