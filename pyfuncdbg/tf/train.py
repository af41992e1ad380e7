"""`tf.train` of TensorFlow 1."""
from typing import Any

from pyfuncdbg.ops.graph_files import write_graph
from pyfuncdbg.ops.monitored import (
    ChiefSessionCreator,
    Coordinator,
    MonitoredSession,
    Scaffold,
    SessionCreator,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
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
from pyfuncdbg.runtime.cluster_spec import ClusterSpec
from pyfuncdbg.runtime.server import Server
from pyfuncdbg.tf import messages

__all__ = [
    'AdamOptimizer', 'ChiefSessionCreator', 'ClusterSpec', 'Coordinator', 'GradientDescentOptimizer', 'MomentumOptimizer',
    'MonitoredSession', 'Optimizer', 'Scaffold', 'Server', 'SessionCreator', 'SessionRunArgs', 'SessionRunContext',
    'SessionRunHook', 'SessionRunValues', 'create_global_step', 'get_global_step', 'get_or_create_global_step',
    'global_step', 'write_graph',
]


def __getattr__(name: str) -> Any:
    return messages.message(name, messages.CLUSTER, __name__)
