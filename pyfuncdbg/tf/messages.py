"""TensorFlow's messages by name, loaded at first use: the protobuf library takes 60 ms to load."""
from __future__ import annotations

from typing import Any

GRAPH = frozenset((
    'AttrValue', 'ConfigProto', 'GPUOptions', 'GraphDef', 'GraphOptions', 'MetaGraphDef', 'NameAttrList', 'NodeDef',
    'OptimizerOptions', 'RunMetadata', 'RunOptions'))
"""Messages of `tf.compat.v1`."""
CLUSTER = frozenset(('ClusterDef', 'JobDef', 'ServerDef'))
"""Messages of `tf.train`."""


_KERAS = frozenset(('keras', 'optimizers', 'losses', 'metrics', 'layers', 'estimator', 'feature_column'))
"""Names that TensorFlow takes from Keras."""


def message(name: str, among: frozenset[str], module: str) -> Any:
    """The message of this name.

    Raises:
        AttributeError: The module has no such message.
    """
    if name in _KERAS:
        raise AttributeError(f'module {module!r} has no attribute {name!r}: Keras is not part of pyfuncdbg. '
                             'tf.Module holds variables, and tf.compat.v1.train has optimizers')
    if name not in among:
        raise AttributeError(f'module {module!r} has no attribute {name!r}')
    from pyfuncdbg.hosts.numpy.graph.proto import messages
    return getattr(messages, name)
