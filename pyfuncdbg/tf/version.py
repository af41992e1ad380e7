"""`tf.version`: that of the TensorFlow whose behaviour this is, which is what programs ask for."""
from pyfuncdbg.graph.graphdef import OLDEST as GRAPH_DEF_VERSION_MIN_CONSUMER
from pyfuncdbg.graph.graphdef import OLDEST as GRAPH_DEF_VERSION_MIN_PRODUCER
from pyfuncdbg.graph.graphdef import PRODUCER as GRAPH_DEF_VERSION
from pyfuncdbg.graph.versions import COMPILER_VERSION, GIT_VERSION, VERSION

__all__ = ['COMPILER_VERSION', 'GIT_VERSION', 'GRAPH_DEF_VERSION', 'GRAPH_DEF_VERSION_MIN_CONSUMER',
           'GRAPH_DEF_VERSION_MIN_PRODUCER', 'VERSION']
