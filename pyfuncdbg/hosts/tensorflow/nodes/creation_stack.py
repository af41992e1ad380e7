"""Creation stack of a node: where the program made it.

TensorFlow notes the stack under which a node is made without owning its code objects: where one is gone, as those of a
notebook's cell, of `exec` and of an imported module's top level are once they have run, asking for the stack kills the
process (2.21 and before). So the attachment keeps the code of nodes that are made, as long as their graph lives, and the
stack of a node that was made before is never asked for. A node that is read from a GraphDef has no stack.
"""
from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType
from typing import Any, Literal
from weakref import WeakKeyDictionary

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.own_files import is_machinery
from pyfuncdbg.hosts.tensorflow.patching import Patches, without_this_frame
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

_DEEPEST = 64
Unlocated = Literal['before', 'imported']
"""Reasons why the line of a node is not known: it was made before attaching, or read from a GraphDef."""


class _Kept:
    """Stacks of one graph's nodes: those available, the code in these, and nodes from files."""

    __slots__ = ('code', 'imported', 'nodes')

    def __init__(self) -> None:
        self.nodes: set[str] = set()
        self.imported: set[str] = set()
        self.code: dict[int, CodeType] = {}


_graphs: WeakKeyDictionary[Any, _Kept] = WeakKeyDictionary()
"""Stays when TensorFlow is detached: the stacks still point to the code."""


def install(parts: TensorFlowParts, patches: Patches) -> None:
    """Keep the code of each node that is made from now on."""
    patches.replace(parts.ops, '_create_c_op', _keeping(parts.ops._create_c_op))
    graph = parts.ops.Graph
    patches.replace(graph, '_create_op_from_tf_operation', _noting(graph._create_op_from_tf_operation))


def _of(graph: Any) -> _Kept:
    kept = _graphs.get(graph)
    return kept if kept is not None else _graphs.setdefault(graph, _Kept())


def _keeping(original: Callable[..., Any]) -> Callable[..., Any]:
    def _create_c_op(graph: Any, node_def: Any, *args: Any, **options: Any) -> Any:
        try:
            made = original(graph, node_def, *args, **options)
        except BaseException as error:
            without_this_frame(error)
            raise
        kept = _of(graph)
        code = kept.code
        frame = sys._getframe(1)
        while frame is not None:
            code[id(frame.f_code)] = frame.f_code
            frame = frame.f_back  # type: ignore[assignment]
        kept.nodes.add(node_def.name)
        return made
    return _create_c_op


def _noting(original: Callable[..., Any]) -> Callable[..., Any]:
    def _create_op_from_tf_operation(graph: Any, c_op: Any, *args: Any, **options: Any) -> Any:
        try:
            made = original(graph, c_op, *args, **options)
        except BaseException as error:
            without_this_frame(error)
            raise
        _of(graph).imported.add(made.name)
        return made
    return _create_op_from_tf_operation


def creation(op: Any) -> tuple[Frame, ...]:
    """The program's frames under which a node was made, innermost last; none if it was made before attaching."""
    kept = _graphs.get(op.graph)
    if kept is None or op.name not in kept.nodes:
        return ()
    frames = [Frame(frame.filename, frame.lineno, frame.name) for frame in op.traceback or ()]
    return tuple(frame for frame in frames if not is_machinery(frame.filename))[-_DEEPEST:]


def unlocated(op: Any) -> Unlocated | None:
    """The reason why the line of a node is not known; None if it is."""
    kept = _graphs.get(op.graph)
    if kept is None:
        return 'before'
    return None if op.name in kept.nodes else 'imported' if op.name in kept.imported else 'before'
