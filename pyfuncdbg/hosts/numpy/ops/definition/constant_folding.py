"""Constant folding as in TensorFlow: values of constants only are computed once for all runs.

Used when nodes are made, on the thread that builds.
"""
from __future__ import annotations

from typing import Any

from pyfuncdbg.hosts.numpy.graph.definitions.registry import CONSTANT, INPUT
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.known_value import captured
from pyfuncdbg.hosts.numpy.graph.owner import owner
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor

_DEFAULT = 'PlaceholderWithDefault'
_MOST = 1_000
"""Nodes that are looked at: what hangs on more is taken for no constant."""


def is_constant(tensor: Any) -> bool:
    """Whether a tensor of a graph is computed of constants only, by ops without effects.

    In a function also where it has captured them; in a branch if it is known which one runs, and in no loop: TensorFlow puts
    functions and such branches only in place of their calls.
    """
    waiting, seen = [tensor], {id(tensor)}
    while waiting and len(seen) < _MOST:
        one = waiting.pop()
        op = one.op
        if op.type == INPUT:
            outer = captured(one)
            if not isinstance(outer, SymbolicTensor) or not _runs_with(owner(one), owner(outer)):
                return False
            needed: Any = (outer,)
        elif op.type == CONSTANT or op.attrs.get('_py_constant'):
            continue
        elif op.definition.stateful or op.definition.in_execution or op.control_inputs or op.type == _DEFAULT:
            return False
        else:
            needed = op.inputs
            if not needed:
                return False
        waiting += [each for each in needed if id(each) not in seen]
        seen.update(map(id, needed))
    return not waiting


def _runs_with(graph: Graph | None, outer: Graph) -> bool:
    """Whether a graph runs whenever one around it does, and once."""
    while graph is not None and graph is not outer:
        if graph.place and not graph.certain:
            return False
        graph = graph.outer
    return True
