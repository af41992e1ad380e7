"""The vocabulary of graphs: every op with its kernel, shape rule and gradient, and the public functions over them.

Importing the package fills the registry with what most programs need; the rest is loaded when it is first asked for.
"""
from pyfuncdbg.hosts.numpy.graph.definitions import lazy_ops as later
from pyfuncdbg.hosts.numpy.ops import autograph, operators
from pyfuncdbg.hosts.numpy.ops.arrays import filling, gathering, joining, reduction, shaping, slicing
from pyfuncdbg.hosts.numpy.ops.checks import assertions
from pyfuncdbg.hosts.numpy.ops.definition import broadcast, cast, constant
from pyfuncdbg.hosts.numpy.ops.elementwise import binary, comparison, unary
from pyfuncdbg.hosts.numpy.ops.linalg import products as linalg
from pyfuncdbg.hosts.numpy.ops.variables import variable_scatter as scattering

later.rooms.update({
    later.VOCABULARY: 'pyfuncdbg.hosts.numpy.ops.all_ops',
    later.JACOBIAN: 'pyfuncdbg.hosts.numpy.ops.control.jacobian_rows',
})

__all__ = ['assertions', 'autograph', 'binary', 'broadcast', 'cast', 'comparison', 'constant', 'filling', 'gathering',
           'joining', 'linalg', 'operators', 'reduction', 'scattering', 'shaping', 'slicing', 'unary']
