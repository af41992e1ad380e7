"""Creation stack of a node: where the program made it.

TensorFlow stores the stack under which a node is made without owning its code objects. Where one is gone, as those of a
notebook's cell, of `exec` and of an imported module's top level are after their execution, reading the stack kills the
process (2.21 and before). So the attachment keeps the code of new nodes, as long as their graph lives, and the stack of an
older node is never read. A node that is read from a GraphDef has no stack.
"""
from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType
from typing import Any, Literal

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.own_files import is_machinery
from pyfuncdbg.hooks.weak_keys import WeakKeys
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.traceback_frames import drop_outermost_frame
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

_DEEPEST = 64
MissingLineReason = Literal['before', 'imported']
"""Why the line of a node is unknown: it was made before attaching, or read from a GraphDef."""


class _GraphStacks:
    """Stacks of one graph's nodes: nodes with a stack, the code in these stacks, and imported nodes."""

    __slots__ = ('code', 'imported', 'nodes')

    def __init__(self) -> None:
        self.nodes: set[str] = set()
        self.imported: set[str] = set()
        self.code: dict[int, CodeType] = {}


_graphs: WeakKeys[Any, _GraphStacks] = WeakKeys()
"""Kept after TensorFlow is detached: the stacks still point to the code."""


def install(parts: TensorFlowParts, patches: Patches) -> None:
    """Keep the code of each node that is made from now on."""
    patches.replace(parts.ops, '_create_c_op', _replace_create_op(parts.ops._create_c_op))
    graph = parts.ops.Graph
    patches.replace(graph, '_create_op_from_tf_operation', _replace_import_op(graph._create_op_from_tf_operation))


def _stacks_of(graph: Any) -> _GraphStacks:
    stacks = _graphs.get(graph)
    return stacks if stacks is not None else _graphs.setdefault(graph, _GraphStacks())


def _replace_create_op(original: Callable[..., Any]) -> Callable[..., Any]:
    def _create_c_op(graph: Any, node_def: Any, *args: Any, **options: Any) -> Any:
        try:
            node = original(graph, node_def, *args, **options)
        except BaseException as error:
            drop_outermost_frame(error)
            raise
        stacks = _stacks_of(graph)
        code = stacks.code
        frame = sys._getframe(1)
        while frame is not None:
            code[id(frame.f_code)] = frame.f_code
            frame = frame.f_back  # type: ignore[assignment]
        stacks.nodes.add(node_def.name)
        return node
    return _create_c_op


def _replace_import_op(original: Callable[..., Any]) -> Callable[..., Any]:
    def _create_op_from_tf_operation(graph: Any, c_op: Any, *args: Any, **options: Any) -> Any:
        try:
            node = original(graph, c_op, *args, **options)
        except BaseException as error:
            drop_outermost_frame(error)
            raise
        _stacks_of(graph).imported.add(node.name)
        return node
    return _create_op_from_tf_operation


def creation_frames(op: Any) -> tuple[Frame, ...]:
    """The program's frames under which a node was made, innermost last; none if it was made before attaching."""
    stacks = _graphs.get(op.graph)
    if stacks is None or op.name not in stacks.nodes:
        return ()
    # A lambda that TensorFlow has converted is nameless there.
    frames = [Frame(frame.filename, frame.lineno, frame.name or '<lambda>') for frame in op.traceback or ()]
    return tuple(frame for frame in frames if not is_machinery(frame.filename))[-_DEEPEST:]


def missing_line_reason(op: Any) -> MissingLineReason | None:
    """The reason why the line of a node is unknown; None if it is known."""
    stacks = _graphs.get(op.graph)
    if stacks is None:
        return 'before'
    return None if op.name in stacks.nodes else 'imported' if op.name in stacks.imported else 'before'
