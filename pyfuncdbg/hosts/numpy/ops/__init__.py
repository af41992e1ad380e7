"""The vocabulary of graphs: every op with its kernel, shape rule and gradient, and the public functions over them.

Importing the package fills the registry with what most programs need; the rest is loaded when it is first asked for.
"""
from pyfuncdbg.hosts.numpy.graph.definitions import lazy_ops as later
from pyfuncdbg.hosts.numpy.ops.checks import assertions
from pyfuncdbg.hosts.numpy.ops import autograph
from pyfuncdbg.hosts.numpy.ops.elementwise import binary
from pyfuncdbg.hosts.numpy.ops.definition import broadcast
from pyfuncdbg.hosts.numpy.ops.definition import cast
from pyfuncdbg.hosts.numpy.ops.elementwise import comparison
from pyfuncdbg.hosts.numpy.ops.definition import constant
from pyfuncdbg.hosts.numpy.ops.arrays import filling
from pyfuncdbg.hosts.numpy.ops.arrays import gathering
from pyfuncdbg.hosts.numpy.ops.arrays import joining
from pyfuncdbg.hosts.numpy.ops.linalg import products as linalg
from pyfuncdbg.hosts.numpy.ops import operators
from pyfuncdbg.hosts.numpy.ops.arrays import reduction
from pyfuncdbg.hosts.numpy.ops.variables import variable_scatter as scattering
from pyfuncdbg.hosts.numpy.ops.arrays import shaping
from pyfuncdbg.hosts.numpy.ops.arrays import slicing
from pyfuncdbg.hosts.numpy.ops.elementwise import unary

later.rooms.update({
    later.VOCABULARY: 'pyfuncdbg.hosts.numpy.ops.all_ops',
    later.JACOBIAN: 'pyfuncdbg.hosts.numpy.ops.control.jacobian_rows',
})

__all__ = ['assertions', 'autograph', 'binary', 'broadcast', 'cast', 'comparison', 'constant', 'filling', 'gathering',
           'joining', 'linalg', 'operators', 'reduction', 'scattering', 'shaping', 'slicing', 'unary']
