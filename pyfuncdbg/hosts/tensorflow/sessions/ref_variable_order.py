"""Order analysis of v1 variables: which assignment each node of a plan finds in a variable's memory.

A read of such a variable (`w/read`) is the memory itself, not a copy, and so is its Identity or Reshape: a node finds there
what was assigned before it runs. Only the order by edges of the graph is known. Made with a plan; pure.
"""
from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pyfuncdbg.hooks.traits import op_traits
from pyfuncdbg.hosts.tensorflow.nodes.op_types import VARIABLES

FORWARDING = frozenset(('Identity', 'IdentityN', 'StopGradient', 'PreventGradient', 'EnsureShape', 'CheckNumerics',
                        'PlaceholderWithDefault'))
"""Ops whose output is their input's memory."""
_RESHAPING = frozenset(('Reshape', 'Squeeze', 'ExpandDims'))
"""Ops whose output is its memory in another shape."""
_MAYBE_FORWARDING = frozenset((
    'AccumulateNV2', 'AddN', 'All', 'Any', 'BatchToSpace', 'BatchToSpaceND', 'Bitcast', 'BroadcastTo', 'Cast',
    'CheckNumericsV2', 'Concat', 'ConcatV2', 'Conj', 'ConjugateTranspose', 'Copy', 'CopyHost', 'DebugGradientIdentity',
    'Einsum', 'Enter', 'EuclideanNorm', 'Exit', 'Max', 'Mean', 'Merge', 'Min', 'MirrorPad', 'NextIteration', 'Pack', 'Pad',
    'PadV2', 'ParallelConcat', 'Prod', 'Real', 'ResizeBilinear', 'Reverse', 'ReverseV2', 'Roll', 'Slice', 'SpaceToBatch',
    'SpaceToBatchND', 'Split', 'SplitV', 'StridedSlice', 'Sum', 'Switch', 'Tile', 'Transpose', 'Unpack'))
"""Ops whose output may be its memory, or a part of it, where there is nothing to compute."""
_MERGES = frozenset(('Merge', 'RefMerge'))
_LOOP_BACK = frozenset(('NextIteration', 'RefNextIteration'))
_NOT_WRITING = frozenset(('RefIdentity', 'RefEnter', 'RefExit', 'RefSwitch', 'RefMerge', 'RefSelect', 'RefNextIteration',
                          'IsVariableInitialized', 'DebugGradientRefIdentity'))


@dataclass(frozen=True, slots=True)
class VariableAlias:
    """A tensor in the memory of variables.

    Attributes:
        op: Its node.
        variables: Whose memory.
        exact: Whether it is the memory of the one variable, as a whole; else it may be that, a part of it, or a copy.
    """

    op: Any
    variables: tuple[Any, ...]
    exact: bool


def written_slots(op: Any) -> list[int]:
    """The indices of the inputs that a node writes to: v1 variables."""
    if op.type in _NOT_WRITING or not any(arg.is_ref for arg in op.op_def.input_arg):
        return []
    slots: list[int] = []
    place = 0
    for arg in op.op_def.input_arg:
        count = (op.get_attr(arg.number_attr) if arg.number_attr else
                 len(op.get_attr(arg.type_list_attr)) if arg.type_list_attr else 1)
        if arg.is_ref:
            slots += range(place, place + count)
        place += count
    return slots


class RefVariableOrder:
    """The v1 variables of one plan. A version is the node that wrote the content, or the variable itself before any has.

    Args:
        nodes: Of the plan.
        flowing: Those of them in conditions and loops: they may run several times, or not at all.
        effects: Those that have effects.
        feeds, fetches: Names of tensors.

    Attributes:
        aliases: Tensors in a variable's memory, by name.
        full_aliases: Names of those that are a variable's memory in its own shape, by variable.
        writers: The nodes that write to a variable.
    """

    def __init__(self, nodes: Sequence[Any], flowing: Collection[Any], effects: Collection[Any], feeds: Collection[str],
                 fetches: Collection[str]) -> None:
        self._feeds, self._fetches, self._control_flow = feeds, fetches, flowing
        self._nodes = frozenset(nodes)
        self.aliases: dict[str, VariableAlias] = {}
        self.full_aliases: dict[Any, list[str]] = {}
        self.writers: dict[Any, list[Any]] = {}
        self._bits: dict[Any, int] = {}
        self._done_before: dict[Any, int] = {}
        self._versions: dict[tuple[Any, Any], Any] = {}
        if not any(tensor.dtype._is_ref_dtype for op in nodes for tensor in op.outputs):
            return
        order = list(self._sort_by_dependency(nodes))
        for op in order:
            self._add_node(op, op in effects)
        if self.writers:
            self._compute_order(order)

    # ------------------------------------------------------------------ whose memory
    def _add_node(self, op: Any, effect: bool) -> None:
        """Note the memory of a node's outputs, and the variables that it writes to."""
        for slot in written_slots(op):
            for variable in self._variables(op.inputs[slot:slot + 1]):
                self.writers.setdefault(variable, []).append(op)
        for slot, tensor in enumerate(op.outputs):
            if tensor.name in self._feeds:
                continue
            if tensor.dtype._is_ref_dtype:
                several = [one for one in op.inputs if one.dtype._is_ref_dtype]
                memory_inputs = several if op.type in ('RefMerge', 'RefSelect') else several[:1]
                variables = self._variables(memory_inputs) if memory_inputs else (op,)
                exact = len(variables) == 1
            elif op.type in FORWARDING or op.type in _RESHAPING:
                memory_inputs = op.inputs[slot:slot + 1] if op.type == 'IdentityN' else op.inputs[:1]
                variables, exact = self._variables(memory_inputs), all(self._is_exact(one) for one in memory_inputs)
            elif effect or op.type in _MAYBE_FORWARDING or any(attr.type in ('func',
                                                                             'list(func)') for attr in op.op_def.attr):
                variables, exact = self._variables(op.inputs), False
            else:
                continue
            if variables:
                alias = self.aliases[tensor.name] = VariableAlias(op, variables, exact and op not in self._control_flow)
                names = self.full_aliases.setdefault(variables[0], [])
                if alias.exact and (tensor.dtype._is_ref_dtype or (
                        op.type in FORWARDING and memory_inputs[0].name in names)):
                    names.append(tensor.name)

    def _variables(self, tensors: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(dict.fromkeys(variable for tensor in tensors if (alias := self.aliases.get(tensor.name)) is not None
                                   for variable in alias.variables))

    def _is_exact(self, tensor: Any) -> bool:
        alias = self.aliases.get(tensor.name)
        return alias is not None and alias.exact

    # ------------------------------------------------------------------ the order
    def _dependencies(self, op: Any) -> list[Any]:
        """The nodes that one waits for in an iteration."""
        producers = [tensor.op for tensor in op.inputs if tensor.name not in self._feeds and not (
            op.type in _MERGES and tensor.op.type in _LOOP_BACK)]
        return [other for other in (*producers, *op.control_inputs) if other in self._nodes]

    def _sort_by_dependency(self, nodes: Sequence[Any]) -> Iterable[Any]:
        """All nodes, each after its dependencies."""
        visited: set[Any] = set()
        for root in nodes:
            path = [(root, iter(self._dependencies(root)))] if root not in visited else []
            visited.add(root)
            while path:
                op, rest = path[-1]
                other = next((one for one in rest if one not in visited), None)
                if other is None:
                    path.pop()
                    yield op
                else:
                    visited.add(other)
                    path.append((other, iter(self._dependencies(other))))

    def _compute_order(self, order: Sequence[Any]) -> None:
        """Compute which nodes that use a variable's memory have run whenever a node runs, as a set of bits."""
        for op in order:
            if op not in self._control_flow and any(
                    tensor.name in self.aliases for tensor in (*op.inputs, *op.outputs)):
                self._bits[op] = 1 << len(self._bits)

        def reached(other: Any) -> int:
            return self._done_before.get(other, 0) | self._bits.get(other, 0)
        for op in order:
            done_before = 0
            for other in op.control_inputs:
                done_before |= reached(other)
            waits = not op_traits(op.type).reads_no_value   # else TensorFlow may compute it before a run
            ways = [reached(tensor.op) for tensor in op.inputs if tensor.name not in self._feeds
                    and waits and not (op.type in _MERGES and tensor.op.type in _LOOP_BACK)]
            if op.type in _MERGES and ways:     # it waits for one of them
                common = ways[0]
                for way in ways[1:]:
                    common &= way
                ways = [common]
            for way in ways:
                done_before |= way
            self._done_before[op] = done_before

    def version(self, op: Any, variable: Any) -> Any:
        """The version of a variable that a node finds when it runs; None if edges do not order it."""
        key = op, variable
        if key not in self._versions:
            self._versions[key] = self._version(op, variable)
        return self._versions[key]

    def _version(self, op: Any, variable: Any) -> Any:
        done_before, bit = self._done_before.get(op, 0), self._bits.get(op, 0)
        writers = []
        for writer in self.writers.get(variable, ()):
            if done_before & self._bits.get(writer, 0):
                writers.append(writer)
            elif writer is not op and not bit & self._done_before[writer]:
                return None
        return self.latest_writer(writers) if writers else variable

    def latest_writer(self, writers: Sequence[Any]) -> Any:
        """The writer that waits for all others; None if there is none."""
        all_bits = 0
        for writer in writers:
            all_bits |= self._bits.get(writer, 0)
        return next((writer for writer in writers if (bit := self._bits.get(writer, 0))
                     and (self._done_before[writer] | bit) & all_bits == all_bits), None)

    def last_version(self, variable: Any) -> Any:
        """The version at the end of a run; None if edges do not order it."""
        writers = self.writers.get(variable, ())
        if not writers:
            return variable
        return self.latest_writer(writers) if all(writer in self._bits for writer in writers) else None

    def is_settled(self, name: str) -> bool:
        """Whether nothing writes to the memory of a tensor after its node."""
        alias = self.aliases.get(name)
        if alias is None:
            return True
        reached = self._done_before.get(alias.op, 0) | self._bits.get(alias.op, 0)
        return all((bit := self._bits.get(writer, 0)) and bit & reached
                   for variable in alias.variables for writer in self.writers.get(variable, ()))

    def used_version(self, tensor: Any, variable: Any) -> Any:
        """The version of a variable that all readers of a tensor in its memory find; None if they find several."""
        versions: set[Any] = {self.last_version(variable)} if tensor.name in self._fetches else set()
        stack, names = [tensor], {tensor.name}
        while stack:
            for user in stack.pop().consumers():
                if user not in self._nodes:
                    continue
                version = self.version(user, variable)
                on = [one for one in user.outputs if version is None and self._is_exact(one)]
                versions |= {version} if not on else set()
                stack += [one for one in on if one.name not in names]
                names |= {one.name for one in on}
        return versions.pop() if len(versions) == 1 else None

    @cached_property
    def read_before_run(self) -> list[Any]:
        """The written variables whose values before a run must be known."""
        variables: dict[Any, None] = {}
        for op in self._bits:
            slots = written_slots(op)
            # The content of the last writer is still there after the run.
            ended = all(self.last_version(variable) is op for variable in self._variables(op.inputs[slot] for slot in slots))
            for slot, tensor in enumerate(op.inputs):
                alias = self.aliases.get(tensor.name)
                for variable in alias.variables if alias is not None else ():
                    replaced = slot in slots and (op.type == 'Assign' or ended)
                    if (variable.type in VARIABLES and self.writers.get(variable) and not replaced
                            and self.version(op, variable) is variable):
                        variables[variable] = None
        return list(variables)
