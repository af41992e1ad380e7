"""`tf.compat.v1.losses`: weighted losses, reduced to one number and collected in the graph."""
from __future__ import annotations

from typing import Any

from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.ops.arrays.filling import ones_like, zeros_like
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import reduce_sum
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import size, squeeze
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import name_scope
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import add_n, div_no_nan, squared_difference
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import equal, where
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import log, relu
from pyfuncdbg.hosts.numpy.ops.nn.cross_entropy import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from pyfuncdbg.hosts.numpy.ops.variables.collections import GraphKeys


class Reduction:
    """Reductions of per-element losses to one loss."""

    NONE = 'none'
    SUM = 'weighted_sum'
    SUM_OVER_BATCH_SIZE = 'weighted_sum_over_batch_size'
    MEAN = 'weighted_mean'
    SUM_BY_NONZERO_WEIGHTS = SUM_OVER_NONZERO_WEIGHTS = 'weighted_sum_by_nonzero_weights'

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All reductions."""
        return (cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS,
                cls.SUM_BY_NONZERO_WEIGHTS)

    @classmethod
    def validate(cls, key: Any) -> None:
        """Refuse an unknown reduction.

        Raises:
            ValueError: It is unknown.
        """
        if key not in cls.all():
            raise ValueError(f'Invalid Reduction Key {key}. Key should be one of {cls.all()}.')


# ---------------------------------------------------------------- the collection
def add_loss(loss: Any, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Add a loss to a collection of the graph; in eager mode there is none."""
    graph = context.current_graph()
    if loss_collection and graph is not None:
        graph.add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Any]:
    """The losses collected so far."""
    return context.graph_for_nodes().get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """The losses of variables' regularizers."""
    return get_losses(scope, GraphKeys.REGULARIZATION_LOSSES)


def get_regularization_loss(scope: str | None = None, name: str = 'total_regularization_loss') -> Tensor:
    """The sum of regularization losses, 0 without any."""
    losses = get_regularization_losses(scope)
    return add_n(losses, name=name) if losses else constant(0.0)


def get_total_loss(add_regularization_losses: bool = True, name: str = 'total_loss', scope: str | None = None) -> Tensor:
    """The sum of all collected losses."""
    losses = get_losses(scope)
    if add_regularization_losses:
        losses = losses + get_regularization_losses(scope)
    return add_n(losses, name=name)


# ---------------------------------------------------------------- weights
def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: str | None = None,
                          loss_collection: str | None = GraphKeys.LOSSES,
                          reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """Losses times weights, reduced to one number and collected.

    Raises:
        ValueError: An unknown reduction.
    """
    Reduction.validate(reduction)
    with name_scope(scope or 'weighted_loss'):
        losses = convert_to_tensor(losses)
        kind = losses.dtype
        values, factors = cast(losses, dtypes.float32), cast(convert_to_tensor(weights), dtypes.float32)
        loss = values * factors
        if reduction != Reduction.NONE:
            loss = reduce_sum(loss)
            if reduction == Reduction.MEAN:
                loss = div_no_nan(loss, reduce_sum(ones_like(values) * factors), name='value')
            elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
                present = where(equal(factors, 0.0), zeros_like(factors), ones_like(factors))
                loss = div_no_nan(loss, reduce_sum(ones_like(values) * present), name='value')
            elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
                loss = div_no_nan(loss, cast(size(values), dtypes.float32), name='value')
        loss = cast(loss, kind)
        add_loss(loss, loss_collection)
        return loss


def _pair(labels: Any, predictions: Any) -> tuple[Tensor, Tensor]:
    if labels is None:
        raise ValueError('Argument `labels` must not be None.')
    if predictions is None:
        raise ValueError('Argument `predictions` must not be None.')
    predictions, labels = (cast(convert_to_tensor(x), dtypes.float32) for x in (predictions, labels))
    predictions.shape.assert_is_compatible_with(labels.shape)
    return labels, predictions


# ---------------------------------------------------------------- losses
def mean_squared_error(labels: Any, predictions: Any, weights: Any = 1.0, scope: str | None = None,
                       loss_collection: str | None = GraphKeys.LOSSES,
                       reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """Squares of the differences."""
    with name_scope(scope or 'mean_squared_error') as full:
        labels, predictions = _pair(labels, predictions)
        return compute_weighted_loss(squared_difference(predictions, labels), weights, full, loss_collection, reduction)


def absolute_difference(labels: Any, predictions: Any, weights: Any = 1.0, scope: str | None = None,
                        loss_collection: str | None = GraphKeys.LOSSES,
                        reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """Absolute differences."""
    with name_scope(scope or 'absolute_difference') as full:
        labels, predictions = _pair(labels, predictions)
        return compute_weighted_loss(abs(predictions - labels), weights, full, loss_collection, reduction)


def log_loss(labels: Any, predictions: Any, weights: Any = 1.0, epsilon: float = 1e-7, scope: str | None = None,
             loss_collection: str | None = GraphKeys.LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """Logarithms of predicted probabilities."""
    with name_scope(scope or 'log_loss') as full:
        labels, predictions = _pair(labels, predictions)
        losses = -(labels * log(predictions + epsilon)) - (1 - labels) * log(1 - predictions + epsilon)
        return compute_weighted_loss(losses, weights, full, loss_collection, reduction)


def hinge_loss(labels: Any, logits: Any, weights: Any = 1.0, scope: str | None = None,
               loss_collection: str | None = GraphKeys.LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """Distance of logits from the right side of the margin; labels are 0 or 1."""
    with name_scope(scope or 'hinge_loss') as full:
        labels, logits = _pair(labels, logits)
        signs = 2 * labels - ones_like(labels)
        return compute_weighted_loss(relu(ones_like(labels) - signs * logits), weights, full, loss_collection, reduction)


def huber_loss(labels: Any, predictions: Any, weights: Any = 1.0, delta: float = 1.0, scope: str | None = None,
               loss_collection: str | None = GraphKeys.LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """Quadratic for differences up to `delta`, linear beyond."""
    with name_scope(scope or 'huber_loss') as full:
        labels, predictions = _pair(labels, predictions)
        distance = abs(predictions - labels)
        losses = where(distance <= delta, 0.5 * distance * distance, delta * distance - 0.5 * delta * delta)
        return compute_weighted_loss(losses, weights, full, loss_collection, reduction)


def _of_one_type(logits: Any, labels: Any) -> tuple[Tensor, Tensor]:
    logits = convert_to_tensor(logits)
    return logits, cast(convert_to_tensor(labels), logits.dtype)


def sigmoid_cross_entropy(multi_class_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0,
                          scope: str | None = None, loss_collection: str | None = GraphKeys.LOSSES,
                          reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """Cross entropy of independent labels."""
    with name_scope(scope or 'sigmoid_cross_entropy_loss') as full:
        logits, labels = _of_one_type(logits, multi_class_labels)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        return compute_weighted_loss(losses, weights, full, loss_collection, reduction)


def softmax_cross_entropy(onehot_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0,
                          scope: str | None = None, loss_collection: str | None = GraphKeys.LOSSES,
                          reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """Cross entropy of distributions."""
    with name_scope(scope or 'softmax_cross_entropy_loss') as full:
        logits, labels = _of_one_type(logits, onehot_labels)
        if label_smoothing > 0:
            classes = labels.shape.as_list()[1]
            labels = labels * (1 - label_smoothing) + label_smoothing / float(classes or 1)
        losses = softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return compute_weighted_loss(losses, weights, full, loss_collection, reduction)


def sparse_softmax_cross_entropy(labels: Any, logits: Any, weights: Any = 1.0, scope: str | None = None,
                                 loss_collection: str | None = GraphKeys.LOSSES,
                                 reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """Cross entropy of classes given by number."""
    with name_scope(scope or 'sparse_softmax_cross_entropy_loss') as full:
        labels, logits = convert_to_tensor(labels), convert_to_tensor(logits)
        if labels.shape.rank is not None and labels.shape.rank == logits.shape.rank:
            labels = squeeze(labels, [-1])
        losses = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return compute_weighted_loss(losses, weights, full, loss_collection, reduction)


