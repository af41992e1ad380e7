"""`tf.train` of TensorFlow 1."""
from typing import Any

from pyfuncdbg.hosts.numpy.ops.graphs.graph_files import write_graph as write_graph
from pyfuncdbg.hosts.numpy.ops.training.learning_rates import (
    cosine_decay as cosine_decay,
    cosine_decay_restarts as cosine_decay_restarts,
    exponential_decay as exponential_decay,
    inverse_time_decay as inverse_time_decay,
    natural_exp_decay as natural_exp_decay,
    piecewise_constant as piecewise_constant,
    polynomial_decay as polynomial_decay,
)
from pyfuncdbg.hosts.numpy.ops.training.monitored_session import (
    ChiefSessionCreator as ChiefSessionCreator,
    Coordinator as Coordinator,
    MonitoredSession as MonitoredSession,
    Scaffold as Scaffold,
    SessionCreator as SessionCreator,
    SessionRunArgs as SessionRunArgs,
    SessionRunContext as SessionRunContext,
    SessionRunHook as SessionRunHook,
    SessionRunValues as SessionRunValues,
    start_queue_runners as start_queue_runners,
)
from pyfuncdbg.hosts.numpy.ops.training.optimizer import (
    AdadeltaOptimizer as AdadeltaOptimizer,
    AdagradOptimizer as AdagradOptimizer,
    AdamOptimizer as AdamOptimizer,
    FtrlOptimizer as FtrlOptimizer,
    GradientDescentOptimizer as GradientDescentOptimizer,
    MomentumOptimizer as MomentumOptimizer,
    Optimizer as Optimizer,
    RMSPropOptimizer as RMSPropOptimizer,
    create_global_step as create_global_step,
    get_global_step as get_global_step,
    get_or_create_global_step as get_or_create_global_step,
    global_step as global_step,
)
from pyfuncdbg.hosts.numpy.ops.variables.moving_average import ExponentialMovingAverage as ExponentialMovingAverage
from pyfuncdbg.hosts.numpy.runtime.cluster.cluster_spec import ClusterSpec as ClusterSpec
from pyfuncdbg.hosts.numpy.runtime.cluster.server import Server as Server
from pyfuncdbg.tf import messages
from pyfuncdbg.tf.public import publish as _publish

piecewise_constant_decay = piecewise_constant


def __getattr__(name: str) -> Any:
    return messages.message(name, messages.CLUSTER, __name__)


_publish(globals())
