"""`tf.train` of TensorFlow 1."""
from pyfuncdbg.ops.training import (
    AdamOptimizer,
    GradientDescentOptimizer,
    MomentumOptimizer,
    Optimizer,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    global_step,
)

__all__ = [
    'AdamOptimizer', 'GradientDescentOptimizer', 'MomentumOptimizer', 'Optimizer', 'create_global_step', 'get_global_step',
    'get_or_create_global_step', 'global_step',
]
