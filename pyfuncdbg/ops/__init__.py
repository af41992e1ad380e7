"""The vocabulary of graphs: every op with its kernel, shape rule and gradient, and the public functions over them.

Importing the package fills the registry with what most programs need; the rest is loaded when it is first asked for.
"""
from pyfuncdbg.graph import later
from pyfuncdbg.ops import (
    assertions,
    autograph,
    binary,
    broadcast,
    cast,
    comparison,
    constant,
    filling,
    gathering,
    joining,
    linalg,
    operators,
    reduction,
    scattering,
    shaping,
    slicing,
    unary,
)

later.rooms.update({
    later.VOCABULARY: 'pyfuncdbg.ops.vocabulary',
    later.JACOBIAN: 'pyfuncdbg.ops.control.jacobian_rows',
})

__all__ = ['assertions', 'autograph', 'binary', 'broadcast', 'cast', 'comparison', 'constant', 'filling', 'gathering',
           'joining', 'linalg', 'operators', 'reduction', 'scattering', 'shaping', 'slicing', 'unary']
