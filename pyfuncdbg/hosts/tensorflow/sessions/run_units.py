"""Units of a run: nodes that TensorFlow must run together. Each runs exactly once however often the run is paused.

A session that is asked for one node also runs what that waits for, and every handle it is given. So a node that waits for
an assignment is run with it; a loop, a condition or a queue's handle with what uses it. Made with a plan; pure.
"""
from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pyfuncdbg.hosts.tensorflow.nodes.node_kernel import NodeKernel, is_constant
from pyfuncdbg.hosts.tensorflow.nodes.op_types import SWITCHES, VARIABLES

Sort = Literal['nothing', 'pure', 'read', 'handle', 'effect']
"""Of a node: does nothing; depends on its inputs alone; reads state, so that it may run again; names a resource; others."""

_READS = frozenset(('ReadVariableOp', 'VarIsInitializedOp', 'IsVariableInitialized', 'VariableShape', 'ResourceGather',
                    'ResourceGatherNd', 'LookupTableFindV2', 'LookupTableSizeV2', 'QueueSizeV2',
                    'Placeholder', 'PlaceholderV2'))
_OPENING = SWITCHES | {'Enter', 'RefEnter', 'NextIteration', 'RefNextIteration', 'LoopCond'}
_CLOSING = frozenset(('Merge', 'RefMerge', 'Exit', 'RefExit', 'NextIteration', 'RefNextIteration', 'LoopCond'))


class RunUnit:
    """Nodes that one run of the session computes, or a single one that needs no session.

    Attributes:
        start, end: Their places in the order of the run.
        nodes: They.
        session: Whether the session has to run it.
        feeds: Tensors that it is given, those of them that are known.
        current: Variables that it reads itself, after what it waits for, unless a hook has put another value.
        fetches: Those that it gives; `needed` are wanted elsewhere.
        targets: Nodes that are asked for though they give nothing.
    """

    __slots__ = ('current', 'end', 'feeds', 'fetches', 'flows', 'needed', 'nodes', 'session', 'start', 'targets')

    def __init__(self, nodes: Sequence[Any], start: int) -> None:
        self.nodes = nodes
        self.start = start
        self.end = start + len(nodes)
        self.session = self.flows = False
        self.feeds: list[Any] = []
        self.current: list[Any] = []
        self.fetches: list[Any] = []
        self.needed: list[Any] = []
        self.targets: list[Any] = []


class RunUnits:
    """The units of a plan.

    Attributes:
        all: In an order in which they can run.
        of: The unit of each place.
        sorts: Of every node.
        flowing: Those in conditions and loops that are parts of the graph itself.
    """

    def __init__(self, ops: Iterable[Any], made: Mapping[Any, int], fetches: Iterable[Any], targets: Iterable[Any]) -> None:
        nodes = sorted(ops, key=made.__getitem__)
        together = _flowing(nodes)
        self.flowing = {op for pair in together for op in pair}
        self.sorts: dict[Any, Sort] = {}
        self._late = _late_readers(nodes)
        for op in nodes:
            self.sorts[op] = 'effect' if op in self.flowing else self._sort(op)
        groups = _Groups(nodes)
        for one, other in together:
            groups.join(one, other)
        for op in nodes:
            if self.sorts[op] in ('read', 'effect'):
                for other in self._reached(op)[0]:
                    groups.join(op, other)
        self.all: list[RunUnit] = []
        for members in _ordered(nodes, groups, made):
            self.all.append(RunUnit(members, self.all[-1].end if self.all else 0))
        self.of = [unit for unit in self.all for _ in unit.nodes]
        wanted = {tensor.name for tensor in fetches}
        for unit in self.all:
            self._complete(unit, wanted, set(targets))

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
                not self.is_given(t, op) and self.sorts.get(t.op, 'pure') != 'pure' for t in op.inputs):
            return 'read'
        return 'pure'

    def _reached(self, op: Any) -> tuple[set[Any], list[Any]]:
        """Nodes that a session also runs for a node whose inputs are fed: nodes with effects; and others.

        TensorFlow's optimizer makes a NoOp of a node that only control edges lead to, which then waits for those whose
        tensors it took; a feed cuts none of these edges. So what such a node takes runs, fed or not.
        """
        effects: set[Any] = set()
        seen: dict[Any, bool] = {}              # whether control edges alone lead there
        stack = [*((other, True) for other in op.control_inputs),
                 *((tensor.op, False) for tensor in op.inputs if not self.is_given(tensor, op))]
        while stack:
            other, awaited = stack.pop()
            if other not in self.sorts or other is op or (other in seen and (seen[other] or not awaited)):
                continue
            if self.sorts[other] == 'effect':
                effects.add(other)
                continue
            seen[other] = awaited
            stack += [*((before, True) for before in other.control_inputs),
                      *((tensor.op, awaited) for tensor in other.inputs if awaited or not self.is_given(tensor, other))]
        return effects, list(seen)

    def is_given(self, tensor: Any, op: Any) -> bool:
        """Whether a node is given the value of an input: a v1 variable that was assigned meanwhile is read anew."""
        return feedable(tensor) and op not in self._late.get(tensor.name, ())

    def waits_for_effects(self, op: Any) -> bool:
        """Whether a session that is asked for a node also runs others that have effects."""
        return bool(self._reached(op)[0])

    def _complete(self, unit: RunUnit, wanted: set[str], targets: set[Any]) -> None:
        """Set the feeds, fetches and targets of a unit."""
        own = set(unit.nodes)
        unit.flows = any(op in self.flowing for op in unit.nodes)
        unit.session = any(self.sorts[op] in ('read', 'effect') for op in unit.nodes)
        if not unit.session:
            return
        beside = dict.fromkeys(other for op in unit.nodes for other in self._reached(op)[1])
        for op in (*unit.nodes, *beside):
            unit.feeds += [t for t in op.inputs if t.op not in own and self.is_given(t, op) and not is_constant(t.op)]
            unit.current += [t for t in op.inputs if t.op not in own and feedable(t) and not self.is_given(t, op)]
        # A feed is for all of them: one that comes after an assignment would get what was there before it.
        late = {tensor.name for tensor in unit.current}
        unit.feeds = [tensor for tensor in unit.feeds if tensor.name not in late]
        for op in unit.nodes:
            if self.sorts[op] in ('nothing', 'handle'):
                continue
            given = [t for t in op.outputs if t.dtype.base_dtype.name not in ('resource', 'variant')]
            needed = [t for t in given if t.name in wanted or any(
                other in self.sorts and other not in own for other in t.consumers())]
            unit.needed += needed
            unit.fetches += needed if unit.flows else given
            awaited = op in targets or any(other in self.sorts and other not in own for other in op._control_outputs)
            if self.sorts[op] == 'effect' and not needed and (awaited or not op.outputs or not (given or unit.flows)):
                unit.targets.append(op)
        unit.session = bool(unit.fetches or unit.targets)   # else nothing can be asked for: whoever takes it runs it too


def is_handle(op: Any) -> bool:
    """Whether a node names a resource, which only a session can hold: a variable, a queue, a dataset."""
    if op.type in VARIABLES:                   # its own value may not be there yet: it is seen where it is read
        return True
    kinds = {tensor.dtype.name for tensor in op.outputs}
    return (kinds == {'resource'} and not op.inputs and not op.type.startswith('Anonymous')) or (
        kinds == {'variant'} and 'Dataset' in op.type) or (op.type == 'Identity' and kinds == {'resource'})


def feedable(tensor: Any) -> bool:
    """Whether a value can be fed for a tensor."""
    return not tensor.dtype._is_ref_dtype and tensor.dtype.name not in ('resource', 'variant')


def _late_readers(nodes: Sequence[Any]) -> dict[str, set[Any]]:
    """By the name of a v1 variable's memory (`v/read:0`): nodes that come after an assignment, which shows in it."""
    known = set(nodes)
    found: dict[str, set[Any]] = {}
    for op in nodes:
        if op.type == 'Identity' and op.inputs[0].dtype._is_ref_dtype:
            after = found[op.outputs[0].name] = set()
            stack = [user for user in op.inputs[0].consumers() if any(arg.is_ref for arg in user.op_def.input_arg)]
            while stack:
                last = stack.pop()
                for other in (*(user for tensor in last.outputs for user in tensor.consumers()), *last._control_outputs):
                    if other in known and other not in after:
                        after.add(other)
                        stack.append(other)
    return found


def _flowing(nodes: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Nodes of conditions and loops that are parts of the graph itself, each with one that it runs together with."""
    known = set(nodes)
    contexts: dict[int, Any] = {}
    pairs: list[tuple[Any, Any]] = []
    for op in nodes:
        context = op._get_control_flow_context()
        while context is not None and context.outer_context is not None:
            context = context.outer_context
        if context is not None:
            pairs.append((op, contexts.setdefault(id(context), op)))
        if op.type in _OPENING:
            pairs += [(op, other) for tensor in op.outputs for other in tensor.consumers() if other in known]
        if op.type in SWITCHES:
            pairs += [(op, other) for other in _dead_perhaps(op, known)]
        if op.type in _CLOSING:
            pairs += [(op, tensor.op) for tensor in op.inputs if tensor.op in known]
    return pairs


def _dead_perhaps(switch: Any, known: set[Any]) -> Iterable[Any]:
    """Nodes that get nothing where a condition goes the other way: those of gradients are in no context."""
    found: set[Any] = set()
    stack = [switch]
    while stack:
        op = stack.pop()
        for other in (*(user for tensor in op.outputs for user in tensor.consumers()), *op._control_outputs):
            if other in known and other not in found:
                found.add(other)
                if other.type not in _CLOSING:
                    stack.append(other)
    return found


class _Groups:
    """Nodes that belong together."""

    def __init__(self, nodes: Sequence[Any]) -> None:
        self._parent = {op: op for op in nodes}

    def of(self, op: Any) -> Any:
        parent = self._parent
        while parent[op] is not op:
            parent[op] = parent[parent[op]]
            op = parent[op]
        return op

    def join(self, one: Any, other: Any) -> None:
        self._parent[self.of(one)] = self.of(other)


def _ordered(nodes: Sequence[Any], groups: _Groups, made: Mapping[Any, int]) -> list[list[Any]]:
    """Groups so that each comes after what it needs; groups that need each other become one."""
    needs: dict[Any, set[Any]] = {}
    for op in nodes:
        own = groups.of(op)
        found = needs.setdefault(own, set())
        for before in (*(tensor.op for tensor in op.inputs), *op.control_inputs):
            if before in made and before in groups._parent and groups.of(before) is not own:
                found.add(groups.of(before))
    for component in _components(needs):
        for other in component[1:]:
            groups.join(other, component[0])
    members: dict[Any, list[Any]] = {}
    for op in nodes:
        members.setdefault(groups.of(op), []).append(op)
    waiting = {group: {groups.of(before) for op in list(some) for before in (*(t.op for t in op.inputs), *op.control_inputs)
                       if before in groups._parent} - {group} for group, some in members.items()}
    after: dict[Any, list[Any]] = {}
    for group, before in waiting.items():
        for other in before:
            after.setdefault(other, []).append(group)
    # A group comes when its last node was made: what the program made in between comes before an optimizer's step.
    ready = [(made[members[group][-1]], id(group), group) for group, before in waiting.items() if not before]
    heapq.heapify(ready)
    ordered = []
    while ready:
        group = heapq.heappop(ready)[2]
        ordered.append(members[group])
        for other in after.get(group, ()):
            waiting[other].discard(group)
            if not waiting[other]:
                heapq.heappush(ready, (made[members[other][-1]], id(other), other))
    return ordered


def _components(needs: Mapping[Any, set[Any]]) -> list[list[Any]]:
    """Groups that need each other, of more than one (Tarjan's, without recursion)."""
    index: dict[Any, int] = {}
    low: dict[Any, int] = {}
    path: list[Any] = []
    on_path: set[Any] = set()
    found: list[list[Any]] = []
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
                        found.append(component)
    return found
