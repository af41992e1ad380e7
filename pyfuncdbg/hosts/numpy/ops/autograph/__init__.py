"""AutoGraph: the operators of converted functions, and `tf.autograph`.

Importing the package registers `ag__`, the operators of converted functions; the first conversion does so
(`graph/definitions/lazy_ops.py`).
"""
from pyfuncdbg.hooks.source_map import add_relays
from pyfuncdbg.hosts.numpy.ops.autograph import operators
from pyfuncdbg.hosts.numpy.runtime.autograph import converted_call

converted_call.operators.cell_contents = operators
add_relays(__name__)
