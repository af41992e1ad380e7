"""The vocabulary of graphs: every op with its kernel, shape rule and gradient, and the public functions over them.

Importing the package fills the registry.
"""
from pyfuncdbg.ops import (
    assertions,
    autograph,
    binary,
    broadcast,
    cast,
    comparison,
    complex_numbers,
    constant,
    cross_entropy,
    data,
    filling,
    gathering,
    joining,
    linalg,
    nn,
    operators,
    padding,
    printing,
    random,
    reduction,
    segments,
    shaping,
    slicing,
    sorting,
    strings,
    unary,
)
from pyfuncdbg.ops.control import jacobian_rows

__all__ = ['assertions', 'autograph', 'binary', 'broadcast', 'cast', 'comparison', 'complex_numbers', 'constant', 'cross_entropy', 'data',
           'filling', 'gathering', 'jacobian_rows', 'joining', 'linalg', 'nn', 'operators', 'padding', 'printing', 'random',
           'reduction', 'segments', 'shaping', 'slicing', 'sorting', 'strings', 'unary']
