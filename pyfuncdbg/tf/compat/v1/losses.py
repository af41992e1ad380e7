"""`tf.compat.v1.losses`."""
from pyfuncdbg.hosts.numpy.ops.training.losses import (
    Reduction,
    absolute_difference,
    add_loss,
    compute_weighted_loss,
    get_losses,
    get_regularization_loss,
    get_regularization_losses,
    get_total_loss,
    hinge_loss,
    huber_loss,
    log_loss,
    mean_squared_error,
    sigmoid_cross_entropy,
    softmax_cross_entropy,
    sparse_softmax_cross_entropy,
)
from pyfuncdbg.tf.public import publish as _publish

__all__ = [
    'Reduction', 'absolute_difference', 'add_loss', 'compute_weighted_loss', 'get_losses', 'get_regularization_loss',
    'get_regularization_losses', 'get_total_loss', 'hinge_loss', 'huber_loss', 'log_loss', 'mean_squared_error',
    'sigmoid_cross_entropy', 'softmax_cross_entropy', 'sparse_softmax_cross_entropy',
]

_publish(globals())
