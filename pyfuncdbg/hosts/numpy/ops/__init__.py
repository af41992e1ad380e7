"""The ops of graphs, each with kernel, shape rule and gradient, and the public functions over them.

Importing the package fills the registry with what most programs need; the rest is loaded at its first use.
"""
from pyfuncdbg.hosts.numpy.graph.definitions import lazy_ops
from pyfuncdbg.hosts.numpy.ops import operators
from pyfuncdbg.hosts.numpy.ops.arrays import filling, gathering, joining, reduction, shaping, slicing
from pyfuncdbg.hosts.numpy.ops.checks import assertions
from pyfuncdbg.hosts.numpy.ops.definition import broadcast, cast, constant
from pyfuncdbg.hosts.numpy.ops.elementwise import binary, comparison, unary
from pyfuncdbg.hosts.numpy.ops.linalg import products

lazy_ops.rooms.update({
    lazy_ops.AUTOGRAPH: 'pyfuncdbg.hosts.numpy.ops.autograph',
    lazy_ops.VOCABULARY: 'pyfuncdbg.hosts.numpy.ops.all_ops',
    lazy_ops.JACOBIAN: 'pyfuncdbg.hosts.numpy.ops.control.jacobian_rows',
})

__all__ = ['assertions', 'binary', 'broadcast', 'cast', 'comparison', 'constant', 'filling', 'gathering',
           'joining', 'operators', 'products', 'reduction', 'shaping', 'slicing', 'unary']
