"""`tf.version`: the version of TensorFlow whose behaviour this runtime has."""
from pyfuncdbg.hosts.numpy.graph.proto.graphdef import OLDEST as _OLDEST, PRODUCER as _PRODUCER
from pyfuncdbg.hosts.numpy.graph.proto.versions import (
    COMPILER_VERSION as COMPILER_VERSION,
    GIT_VERSION as GIT_VERSION,
    VERSION as VERSION,
)
from pyfuncdbg.tf.public import publish as _publish

GRAPH_DEF_VERSION_MIN_CONSUMER = _OLDEST
GRAPH_DEF_VERSION_MIN_PRODUCER = _OLDEST
GRAPH_DEF_VERSION = _PRODUCER

_publish(globals())
