"""Removal of observers from SavedModels: they could not run in another process.

Functions that were traced while ops are watched have observers in their graphs. Called by TensorFlow on the thread that
saves, before the model is written.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyfuncdbg.hosts.tensorflow.graph_ops.observer_ops import SCOPE
from pyfuncdbg.hosts.tensorflow.patching import Patches, drop_outermost_frame
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts


def install(parts: TensorFlowParts, patches: Patches) -> None:
    """Replace TensorFlow's function that builds a model."""
    patches.replace(parts.saving, '_build_meta_graph', _replace_build(parts.saving._build_meta_graph, parts.registry.get))


def _replace_build(original: Callable[..., Any], definition: Callable[[str], Any]) -> Callable[..., Any]:
    def _build_meta_graph(*args: Any, **settings: Any) -> Any:
        try:
            result = original(*args, **settings)
        except BaseException as error:
            drop_outermost_frame(error)
            raise
        _remove_observers(result[0], definition)
        return result
    return _build_meta_graph


def _remove_observers(meta: Any, definition: Callable[[str], Any]) -> None:
    """Remove observers from a MetaGraphDef, and from its list of ops those that are no longer used."""
    functions = meta.graph_def.library.function
    ops = meta.meta_info_def.stripped_op_list.op
    observed = [function for function in functions if _remove_nodes(function.node_def)]
    if not observed:
        return
    for function in observed:
        for name, node in list(function.control_ret.items()):
            if node.startswith(SCOPE):
                del function.control_ret[name]
        kept = [name for name in function.signature.control_output if name in function.control_ret]
        function.signature.control_output[:] = kept
        function.signature.is_stateful = any(
            (op := definition(node.op)) is None or op.is_stateful for node in function.node_def)
    used = {node.op for nodes in (meta.graph_def.node, *(function.node_def for function in functions)) for node in nodes}
    for index in reversed([index for index, op in enumerate(ops) if op.name not in used]):
        del ops[index]


def _remove_nodes(nodes: Any) -> bool:
    """Remove observers from the nodes of a function, and what waits for them; whether there were any."""
    indices = [index for index, node in enumerate(nodes) if node.name.startswith(SCOPE)]
    for index in reversed(indices):
        del nodes[index]
    for node in nodes if indices else ():
        kept = [name for name in node.input if not name.startswith(f'^{SCOPE}')]
        if len(kept) < len(node.input):
            node.input[:] = kept
    return bool(indices)
