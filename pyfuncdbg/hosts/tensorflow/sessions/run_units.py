"""Units of a run: nodes that TensorFlow must run together. Each runs exactly once however often the run is paused.

A session that runs one node also runs those it waits for, and its handles. So a node that waits for an assignment is run
with it; a loop, a condition or a queue's handle with its users. Made with a plan; pure.
"""
from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pyfuncdbg.hosts.tensorflow.nodes.node_kernel import NodeKernel, is_constant
from pyfuncdbg.hosts.tensorflow.nodes.op_types import SWITCHES, VARIABLES

Sort = Literal['nothing', 'pure', 'read', 'handle', 'effect']
"""Sort of a node: does nothing; depends on its inputs alone; reads state, so it may run again; names a resource; others."""

_READS = frozenset(('ReadVariableOp', 'VarIsInitializedOp', 'IsVariableInitialized', 'VariableShape', 'ResourceGather',
                    'ResourceGatherNd', 'LookupTableFindV2', 'LookupTableSizeV2', 'QueueSizeV2',
                    'Placeholder', 'PlaceholderV2'))
_OPENING = SWITCHES | {'Enter', 'RefEnter', 'NextIteration', 'RefNextIteration', 'LoopCond'}
_CLOSING = frozenset(('Merge', 'RefMerge', 'Exit', 'RefExit', 'NextIteration', 'RefNextIteration', 'LoopCond'))


class RunUnit:
    """Nodes that one run of the session computes, or a single one that needs no session.

    Attributes:
        start, end: Their range in the order of the run.
        nodes: The nodes.
        session: Whether the session has to run it.
        feeds: Tensors to feed, as far as they are known.
        late_reads: Variables that the session reads itself, after the unit's dependencies, unless a hook has replaced the
            value.
        fetches: Tensors to fetch; `needed` are used elsewhere.
        targets: Nodes to run that have no outputs to fetch.
    """

    __slots__ = (
        'end',
        'feeds',
        'fetches',
        'has_control_flow',
        'late_reads',
        'needed',
        'nodes',
        'session',
        'start',
        'targets',
    )

    def __init__(self, nodes: Sequence[Any], start: int) -> None:
        self.nodes = nodes
        self.start = start
        self.end = start + len(nodes)
        self.session = self.has_control_flow = False
        self.feeds: list[Any] = []
        self.late_reads: list[Any] = []
        self.fetches: list[Any] = []
        self.needed: list[Any] = []
        self.targets: list[Any] = []


class RunUnits:
    """The units of a plan.

    Attributes:
        all: In an executable order.
        by_position: The unit of each position.
        sorts: Of every node.
        control_flow: Nodes in conditions and loops that are parts of the graph itself.
    """

    def __init__(self, ops: Iterable[Any], creation_order: Mapping[Any, int], fetches: Iterable[Any],
                 targets: Iterable[Any]) -> None:
        nodes = sorted(ops, key=creation_order.__getitem__)
        pairs = _control_flow_pairs(nodes)
        self.control_flow = {op for pair in pairs for op in pair}
        self.sorts: dict[Any, Sort] = {}
        self._late_readers = _readers_after_assignment(nodes)
        for op in nodes:
            self.sorts[op] = 'effect' if op in self.control_flow else self._sort(op)
        groups = _Groups(nodes)
        for one, other in pairs:
            groups.join(one, other)
        for op in nodes:
            if self.sorts[op] in ('read', 'effect'):
                for other in self._run_with(op)[0]:
                    groups.join(op, other)
        self.all: list[RunUnit] = []
        for members in _order_groups(nodes, groups, creation_order):
            self.all.append(RunUnit(members, self.all[-1].end if self.all else 0))
        self.by_position = [unit for unit in self.all for _ in unit.nodes]
        fetch_names = {tensor.name for tensor in fetches}
        for unit in self.all:
            self._complete(unit, fetch_names, set(targets))

    @property
    def nodes(self) -> list[Any]:
        """All nodes in order."""
        return [op for unit in self.all for op in unit.nodes]

    def _sort(self, op: Any) -> Sort:
        if op.type == 'NoOp':
            return 'nothing'
        if op.type in _READS:
            return 'read'
        if is_handle(op):
            return 'handle'
        if op.op_def.is_stateful or op.type == 'PyFuncStateless' or any(arg.is_ref for arg in op.op_def.input_arg):
            return 'effect'
        if not NodeKernel.fits(op) or any(
                not self.is_fed(t, op) and self.sorts.get(t.op, 'pure') != 'pure' for t in op.inputs):
            return 'read'
        return 'pure'

    def _run_with(self, op: Any) -> tuple[set[Any], list[Any]]:
        """Nodes that a session also runs for a node whose inputs are fed: nodes with effects; and others.

        TensorFlow's optimizer makes a NoOp of a node that only control edges lead to, which then waits for those whose
        tensors it took; a feed cuts none of these edges. So the inputs of such a node run, fed or not.
        """
        effects: set[Any] = set()
        by_control: dict[Any, bool] = {}              # whether control edges alone lead there
        stack = [*((other, True) for other in op.control_inputs),
                 *((tensor.op, False) for tensor in op.inputs if not self.is_fed(tensor, op))]
        while stack:
            other, awaited = stack.pop()
            if other not in self.sorts or other is op or (other in by_control and (by_control[other] or not awaited)):
                continue
            if self.sorts[other] == 'effect':
                effects.add(other)
                continue
            by_control[other] = awaited
            stack += [*((before, True) for before in other.control_inputs),
                      *((tensor.op, awaited) for tensor in other.inputs if awaited or not self.is_fed(tensor, other))]
        return effects, list(by_control)

    def is_fed(self, tensor: Any, op: Any) -> bool:
        """Whether an input of a node is fed: a v1 variable that was assigned meanwhile is read again."""
        return feedable(tensor) and op not in self._late_readers.get(tensor.name, ())

    def waits_for_effects(self, op: Any) -> bool:
        """Whether a session that runs a node also runs others that have effects."""
        return bool(self._run_with(op)[0])

    def _complete(self, unit: RunUnit, fetch_names: set[str], targets: set[Any]) -> None:
        """Set the feeds, fetches and targets of a unit."""
        node_set = set(unit.nodes)
        unit.has_control_flow = any(op in self.control_flow for op in unit.nodes)
        unit.session = any(self.sorts[op] in ('read', 'effect') for op in unit.nodes)
        if not unit.session:
            return
        beside = dict.fromkeys(other for op in unit.nodes for other in self._run_with(op)[1])
        for op in (*unit.nodes, *beside):
            unit.feeds += [t for t in op.inputs if t.op not in node_set and self.is_fed(t, op) and not is_constant(t.op)]
            unit.late_reads += [t for t in op.inputs if t.op not in node_set and feedable(t) and not self.is_fed(t, op)]
        # A feed applies to all of them: one after an assignment would get the value from before it.
        late = {tensor.name for tensor in unit.late_reads}
        unit.feeds = [tensor for tensor in unit.feeds if tensor.name not in late]
        for op in unit.nodes:
            if self.sorts[op] in ('nothing', 'handle'):
                continue
            outputs = [t for t in op.outputs if t.dtype.base_dtype.name not in ('resource', 'variant')]
            needed = [t for t in outputs if t.name in fetch_names or any(
                other in self.sorts and other not in node_set for other in t.consumers())]
            unit.needed += needed
            unit.fetches += needed if unit.has_control_flow else outputs
            awaited = op in targets or any(other in self.sorts and other not in node_set for other in op._control_outputs)
            if self.sorts[op] == 'effect' and not needed and (
                    awaited or not op.outputs or not (outputs or unit.has_control_flow)):
                unit.targets.append(op)
        unit.session = bool(unit.fetches or unit.targets)   # else nothing can be fetched: its users run it, too


def is_handle(op: Any) -> bool:
    """Whether a node names a resource, which only a session can hold: a variable, a queue, a dataset."""
    if op.type in VARIABLES:                   # may have no value yet: it is seen where it is read
        return True
    kinds = {tensor.dtype.name for tensor in op.outputs}
    return (kinds == {'resource'} and not op.inputs and not op.type.startswith('Anonymous')) or (
        kinds == {'variant'} and 'Dataset' in op.type) or (op.type == 'Identity' and kinds == {'resource'})


def feedable(tensor: Any) -> bool:
    """Whether a tensor can be fed."""
    return not tensor.dtype._is_ref_dtype and tensor.dtype.name not in ('resource', 'variant')


def _readers_after_assignment(nodes: Sequence[Any]) -> dict[str, set[Any]]:
    """By the name of a v1 variable's memory (`v/read:0`): nodes after an assignment, which find the new value in it."""
    node_set = set(nodes)
    readers: dict[str, set[Any]] = {}
    for op in nodes:
        if op.type == 'Identity' and op.inputs[0].dtype._is_ref_dtype:
            later_nodes = readers[op.outputs[0].name] = set()
            stack = [user for user in op.inputs[0].consumers() if any(arg.is_ref for arg in user.op_def.input_arg)]
            while stack:
                last = stack.pop()
                for other in (*(user for tensor in last.outputs for user in tensor.consumers()), *last._control_outputs):
                    if other in node_set and other not in later_nodes:
                        later_nodes.add(other)
                        stack.append(other)
    return readers


def _control_flow_pairs(nodes: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Nodes of conditions and loops that are parts of the graph itself, each with one that it runs together with."""
    node_set = set(nodes)
    contexts: dict[int, Any] = {}
    pairs: list[tuple[Any, Any]] = []
    for op in nodes:
        context = op._get_control_flow_context()
        while context is not None and context.outer_context is not None:
            context = context.outer_context
        if context is not None:
            pairs.append((op, contexts.setdefault(id(context), op)))
        if op.type in _OPENING:
            pairs += [(op, other) for tensor in op.outputs for other in tensor.consumers() if other in node_set]
        if op.type in SWITCHES:
            pairs += [(op, other) for other in _maybe_dead(op, node_set)]
        if op.type in _CLOSING:
            pairs += [(op, tensor.op) for tensor in op.inputs if tensor.op in node_set]
    return pairs


def _maybe_dead(switch: Any, node_set: set[Any]) -> Iterable[Any]:
    """Nodes that do not run where a condition goes the other way: those of gradients are in no context."""
    nodes: set[Any] = set()
    stack = [switch]
    while stack:
        op = stack.pop()
        for other in (*(user for tensor in op.outputs for user in tensor.consumers()), *op._control_outputs):
            if other in node_set and other not in nodes:
                nodes.add(other)
                if other.type not in _CLOSING:
                    stack.append(other)
    return nodes


class _Groups:
    """Disjoint sets of nodes that run together (union-find)."""

    def __init__(self, nodes: Sequence[Any]) -> None:
        self._parent = {op: op for op in nodes}

    def find(self, op: Any) -> Any:
        parent = self._parent
        while parent[op] is not op:
            parent[op] = parent[parent[op]]
            op = parent[op]
        return op

    def join(self, one: Any, other: Any) -> None:
        self._parent[self.find(one)] = self.find(other)


def _order_groups(nodes: Sequence[Any], groups: _Groups, creation_order: Mapping[Any, int]) -> list[list[Any]]:
    """The groups in dependency order; groups that need each other become one."""
    needs: dict[Any, set[Any]] = {}
    for op in nodes:
        group = groups.find(op)
        group_needs = needs.setdefault(group, set())
        for before in (*(tensor.op for tensor in op.inputs), *op.control_inputs):
            if before in creation_order and before in groups._parent and groups.find(before) is not group:
                group_needs.add(groups.find(before))
    for component in _components(needs):
        for other in component[1:]:
            groups.join(other, component[0])
    members: dict[Any, list[Any]] = {}
    for op in nodes:
        members.setdefault(groups.find(op), []).append(op)
    dependencies = {group: {groups.find(before) for op in list(some)
                            for before in (*(tensor.op for tensor in op.inputs), *op.control_inputs)
                            if before in groups._parent} - {group} for group, some in members.items()}
    dependents: dict[Any, list[Any]] = {}
    for group, before in dependencies.items():
        for other in before:
            dependents.setdefault(other, []).append(group)
    # In order of their last node: nodes that the program made in between come before an optimizer's step.
    ready = [(creation_order[members[group][-1]], id(group), group) for group, before in dependencies.items() if not before]
    heapq.heapify(ready)
    ordered = []
    while ready:
        group = heapq.heappop(ready)[2]
        ordered.append(members[group])
        for other in dependents.get(group, ()):
            dependencies[other].discard(group)
            if not dependencies[other]:
                heapq.heappush(ready, (creation_order[members[other][-1]], id(other), other))
    return ordered


def _components(needs: Mapping[Any, set[Any]]) -> list[list[Any]]:
    """Groups that need each other, where more than one do (Tarjan's, without recursion)."""
    index: dict[Any, int] = {}
    low: dict[Any, int] = {}
    path: list[Any] = []
    on_path: set[Any] = set()
    components: list[list[Any]] = []
    for root in needs:
        if root in index:
            continue
        work = [(root, iter(needs[root]))]
        index[root] = low[root] = len(index)
        path.append(root)
        on_path.add(root)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    path.append(other)
                    on_path.add(other)
                    work.append((other, iter(needs[other])))
                    break
                if other in on_path:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = [path.pop()]
                    while component[-1] is not node:
                        component.append(path.pop())
                    on_path.difference_update(component)
                    if len(component) > 1:
                        components.append(component)
    return components
