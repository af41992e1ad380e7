"""Import of NodeDefs as nodes. Those of a GraphDef go to a program's graph, those of a FunctionDef to the function's graph.

`graphs.graph_files` and `function_library` call it, on the thread that builds. All nodes are made, or none.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pyfuncdbg.errors import OpError
from pyfuncdbg.hosts.numpy.graph.definitions.registry import lookup
from pyfuncdbg.hosts.numpy.graph.device import canonical, parse_device
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.proto.graphdef_checks import (
    ImportedNode,
    Place,
    attributes,
    check_inputs,
    check_known,
    check_types,
    nodes_in_order,
    place,
)
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor


class NodeImport:
    """One import into one graph.

    Args:
        graph: The target graph.
        prefix: Of their names; '' for none.
        tensors: Replacements of tensors, by name in the GraphDef.
        library: The functions that they may call.
        all_used: Whether a node or the caller must use each name in `tensors`.
        private: Private attrs of nodes, by name, of a graph of this runtime: then inputs may be what nodes record for a
            gradient. None for a GraphDef, which has neither.
    """

    def __init__(self, graph: Graph, prefix: str, tensors: Mapping[str, Any], library: Any,
                 all_used: bool = True, private: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self._graph = graph
        self._prefix = prefix
        self._library = library
        self._all_used = all_used
        self._private = private
        self.ops: dict[str, Operation] = {}
        self._input_map: dict[Place, Any] = {place(key): tensor for key,
                                             tensor in tensors.items() if not key.startswith('^')}
        self._controls: dict[str, Any] = {key[1:]: tensor for key, tensor in tensors.items() if key.startswith('^')}

    def run(self, messages: Iterable[Any], element_names: Sequence[str]) -> list[Any]:
        """Create the nodes; returns the elements named in `element_names`.

        Raises:
            ValueError: They form no valid graph.
            NotFoundError: An op type is not known.
        """
        nodes = nodes_in_order(messages, self._input_map, self._controls)
        with undo_on_error(self._graph):
            names = self._names(nodes)
            for node in nodes:
                self.ops[node.message.name] = self._make_node(node, names)
            if self._all_used:
                self._check_mapped(nodes)
            return [self._element(text) for text in element_names]

    def _check_mapped(self, nodes: Sequence[ImportedNode]) -> None:
        sources = {source for node in nodes for source in node.inputs}
        awaited = {control for node in nodes for control in node.controls}
        lost = [f'{source}:{index}' for source, index in self._input_map if (source, index) not in sources and (
            source not in self.ops or index >= len(self.ops[source].outputs))]
        lost += [f'^{source}' for source in self._controls if source not in self.ops and source not in awaited]
        if lost:
            raise ValueError(f'Attempted to map inputs that were not found in graph_def: [{", ".join(lost)}]')

    def _names(self, nodes: Sequence[ImportedNode]) -> dict[str, str]:
        """The name of each new node: below the prefix, or without one a unique name."""
        if self._prefix:
            return {node.message.name: f'{self._prefix}/{node.message.name}' for node in nodes}
        with self._graph.outside_scopes():
            return {node.message.name: self._graph.unique_name(node.message.name) for node in nodes}

    def _make_node(self, node: ImportedNode, names: Mapping[str, str]) -> Operation:
        message, name = node.message, names[node.message.name]
        check_known(message.op)
        if message.device:
            parse_device(message.device)
        groups = [self._colocated(message, group, names) for group in _groups(message)]
        inputs = [self._tensor(message.name, source) for source in node.inputs]
        own = self._private is not None
        attrs = attributes(message, name, own)
        if not own:
            check_inputs(message.op, name, attrs, inputs)
        attrs.update(self._restored(message, inputs, attrs))
        if groups:
            attrs['_class'] = groups
        try:
            op = self._graph.create_op(message.op, inputs, attrs, f'{name}/')
        except (KeyError, AttributeError, IndexError, TypeError) as error:
            check_types(message.op, name, attrs)
            raise ValueError(f"Node '{message.name}': {message.op} cannot be made of what the GraphDef says "
                             f'({type(error).__name__}: {error})') from error
        function = attrs.get('_py_function')
        if function is not None:
            function.place(op)
        waited = [self.ops[control] if control not in self._controls else self._controls[control].op
                  for control in node.controls]
        op.control_inputs.extend(before for before in waited if before not in op.control_inputs)
        if message.device:
            op.device = canonical(message.device)
        elif groups:
            op.device = next((before.device for before in self._beside(message) if before.device), '')
        if message.device or groups:
            self._graph.placing.apply(op)       # scopes complete the device of the GraphDef
        return op

    def _beside(self, message: Any) -> list[Operation]:
        """The nodes that one is colocated with, as far as they exist."""
        return [self.ops[group] for group in _groups(message) if group in self.ops]

    def _restored(self, message: Any, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Mapping[str, Any]:
        if self._private is not None and message.name in self._private:
            return self._private[message.name]
        restore = lookup(message.op).restore
        if restore is None:
            return {}
        try:
            return restore(inputs, attrs, self._library)
        except (KeyError, TypeError, AttributeError, IndexError, OpError) as error:
            raise ValueError(f"Node '{message.name}': {error}") from error

    def _colocated(self, message: Any, group: str, names: Mapping[str, str]) -> bytes:
        if group not in names:
            raise ValueError(f"Node '{message.name}' expects to be colocated with unknown node '{group}'")
        return f'loc:@{names[group]}'.encode()

    def _tensor(self, user: str, source: Place) -> Any:
        if source in self._input_map:
            return self._input_map[source]
        op = self.ops[source[0]]
        if source[1] >= len(op.outputs) and op.definition.hidden is not None:
            if self._private is not None:
                return op.recorded()[source[1] - len(op.outputs)]
            raise ValueError(f"Node '{user}': it is part of the gradient of '{source[0]}' and needs what that records in a "
                             'run, which a GraphDef does not hold. Make the gradients anew after the import.')
        if source[1] >= len(op.outputs):
            raise ValueError(f"Node '{user}': Connecting to invalid output {source[1]} of source node {source[0]} which has "
                             f'{len(op.outputs)} outputs.')
        return op.outputs[source[1]]

    def _element(self, text: str) -> Operation | SymbolicTensor:
        if ':' not in text:
            if text not in self.ops:
                raise ValueError(f"Requested return node '{text}' not found in graph def")
            return self.ops[text]
        source = place(text)
        if source in self._input_map:
            return self._input_map[source]  # type: ignore[no-any-return]
        if source[0] not in self.ops:
            raise ValueError(f"Requested return tensor '{text}' not found in graph def")
        outputs = self.ops[source[0]].outputs
        if source[1] >= len(outputs):
            raise ValueError(f"Invalid return output {source[1]} of node '{source[0]}', which has {len(outputs)} output(s)")
        return outputs[source[1]]


def _groups(message: Any) -> list[str]:
    """The names of nodes that a NodeDef is colocated with."""
    if '_class' not in message.attr:
        return []
    names = [name.decode(errors='replace') for name in message.attr['_class'].list.s]
    return [name.removeprefix('loc:@') for name in names if name.startswith('loc:@')]


@contextmanager
def undo_on_error(graph: Graph) -> Iterator[None]:
    """Remove all nodes made in the block if it raises; no other thread may build at the same time."""
    with graph._lock:
        count, names_before = len(graph._ops), dict(graph._names._counts)
        resources, sites = len(graph.resources), set(graph.sites)
        try:
            yield
        except BaseException:
            for op in graph._ops[count:]:
                del graph._by_name[op.name]
                for group in graph._control.groups:
                    group.ops_under.discard(op)
            del graph._ops[count:], graph.resources[resources:]
            graph._names._counts.clear()
            graph._names._counts.update(names_before)
            for serial in graph.sites.keys() - sites:
                del graph.sites[serial]
            graph.changed()
            raise
