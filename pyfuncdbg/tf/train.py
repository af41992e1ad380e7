"""`tf.train` of TensorFlow 1."""
from typing import Any

from pyfuncdbg.hosts.numpy.ops.graphs.graph_files import write_graph
from pyfuncdbg.hosts.numpy.ops.training.learning_rates import (
    cosine_decay,
    cosine_decay_restarts,
    exponential_decay,
    inverse_time_decay,
    natural_exp_decay,
    piecewise_constant,
    polynomial_decay,
)
from pyfuncdbg.hosts.numpy.ops.training.monitored_session import (
    ChiefSessionCreator,
    Coordinator,
    MonitoredSession,
    Scaffold,
    SessionCreator,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    start_queue_runners,
)
from pyfuncdbg.hosts.numpy.ops.training.optimizer import (
    Optimizer,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    global_step,
)
from pyfuncdbg.hosts.numpy.ops.training.optimizers import (
    AdadeltaOptimizer,
    AdagradOptimizer,
    AdamOptimizer,
    FtrlOptimizer,
    GradientDescentOptimizer,
    MomentumOptimizer,
    RMSPropOptimizer,
)
from pyfuncdbg.hosts.numpy.ops.variables.moving_average import ExponentialMovingAverage
from pyfuncdbg.hosts.numpy.runtime.cluster.cluster_spec import ClusterSpec
from pyfuncdbg.hosts.numpy.runtime.cluster.server import Server
from pyfuncdbg.tf import messages
from pyfuncdbg.tf.public import publish as _publish

piecewise_constant_decay = piecewise_constant

__all__ = [
    'AdadeltaOptimizer',
    'AdagradOptimizer',
    'AdamOptimizer',
    'ChiefSessionCreator',
    'ClusterSpec',
    'Coordinator',
    'ExponentialMovingAverage',
    'FtrlOptimizer',
    'GradientDescentOptimizer',
    'MomentumOptimizer',
    'MonitoredSession',
    'Optimizer',
    'RMSPropOptimizer',
    'Scaffold',
    'Server',
    'SessionCreator',
    'SessionRunArgs',
    'SessionRunContext',
    'SessionRunHook',
    'SessionRunValues',
    'cosine_decay',
    'cosine_decay_restarts',
    'create_global_step',
    'exponential_decay',
    'get_global_step',
    'get_or_create_global_step',
    'global_step',
    'inverse_time_decay',
    'natural_exp_decay',
    'piecewise_constant',
    'piecewise_constant_decay',
    'polynomial_decay',
    'start_queue_runners',
    'write_graph',
]


def __getattr__(name: str) -> Any:
    return messages.message(name, messages.CLUSTER, __name__)


_publish(globals())
