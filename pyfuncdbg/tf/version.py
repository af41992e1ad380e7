"""`tf.version`: that of the TensorFlow whose behaviour this is, which is what programs ask for."""
from pyfuncdbg.hosts.numpy.graph.proto.graphdef import OLDEST as GRAPH_DEF_VERSION_MIN_CONSUMER
from pyfuncdbg.hosts.numpy.graph.proto.graphdef import OLDEST as GRAPH_DEF_VERSION_MIN_PRODUCER
from pyfuncdbg.hosts.numpy.graph.proto.graphdef import PRODUCER as GRAPH_DEF_VERSION
from pyfuncdbg.hosts.numpy.graph.proto.versions import COMPILER_VERSION, GIT_VERSION, VERSION
from pyfuncdbg.tf.public import publish as _publish

__all__ = ['COMPILER_VERSION', 'GIT_VERSION', 'GRAPH_DEF_VERSION', 'GRAPH_DEF_VERSION_MIN_CONSUMER',
           'GRAPH_DEF_VERSION_MIN_PRODUCER', 'VERSION']

_publish(globals())
