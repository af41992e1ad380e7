"""The ops of graphs, each with kernel, shape rule and gradient, and the public functions over them.

Importing the package fills the registry with what most programs need; `graph/definitions/lazy_ops.py` loads the rest at its
first use.
"""
from pyfuncdbg.hosts.numpy.ops import operators
from pyfuncdbg.hosts.numpy.ops.arrays import filling, gathering, joining, reduction, shaping, slicing
from pyfuncdbg.hosts.numpy.ops.checks import assertions
from pyfuncdbg.hosts.numpy.ops.definition import broadcast, cast, constant
from pyfuncdbg.hosts.numpy.ops.elementwise import binary, comparison, unary
from pyfuncdbg.hosts.numpy.ops.linalg import products

__all__ = ['assertions', 'binary', 'broadcast', 'cast', 'comparison', 'constant', 'filling', 'gathering',
           'joining', 'operators', 'products', 'reduction', 'shaping', 'slicing', 'unary']
