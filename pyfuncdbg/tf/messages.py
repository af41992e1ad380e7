"""TensorFlow's messages under their names, looked up at first use: the protobuf library takes 60 ms to load."""
from __future__ import annotations

from typing import Any

GRAPH = frozenset((
    'AttrValue', 'ConfigProto', 'GPUOptions', 'GraphDef', 'GraphOptions', 'MetaGraphDef', 'NameAttrList', 'NodeDef',
    'OptimizerOptions', 'RunMetadata', 'RunOptions'))
"""Those of `tf.compat.v1`."""
CLUSTER = frozenset(('ClusterDef', 'JobDef', 'ServerDef'))
"""Those of `tf.train`."""


def message(name: str, among: frozenset[str], module: str) -> Any:
    """The message of this name.

    Raises:
        AttributeError: The module has none.
    """
    if name not in among:
        raise AttributeError(f'module {module!r} has no attribute {name!r}')
    from pyfuncdbg.graph import messages
    return getattr(messages, name)
