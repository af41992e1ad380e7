"""Session run node by node, which observers can pause, rewind and give other values.

Nodes without state are computed by TensorFlow's own kernels on their inputs; the session runs the others, each once. Where
no hook can pause, the session first runs everything as the program asked for. On the thread of the run, within
`Session.run`.

Outcomes of units that the session ran are reused when a paused run repeats them unchanged. Variables and the generators of
Python and NumPy are put back then; what else a node did (a queue, an iterator, an op's own random numbers, files) stays,
and its result is used instead.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.chain import hooks, invoke, report_failure
from pyfuncdbg.hooks.host import Host, RunView
from pyfuncdbg.hooks.run_cursor import RunCursor
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hooks.value_placeholders import UnknownValue
from pyfuncdbg.hosts.tensorflow.nodes import node_kernel
from pyfuncdbg.hosts.tensorflow.nodes.op_types import SCRIPTS
from pyfuncdbg.hosts.tensorflow.sessions.node_batches import record_nodes
from pyfuncdbg.hosts.tensorflow.sessions.run_position import PendingRun, RunCalls, RunPosition
from pyfuncdbg.hosts.tensorflow.sessions.run_units import RunUnit
from pyfuncdbg.hosts.tensorflow.sessions.session_plan import SessionPlan
from pyfuncdbg.hosts.tensorflow.sessions.session_variables import SessionRun, SessionVariableNodes
from pyfuncdbg.hosts.tensorflow.sessions.stepped_values import Handle, SteppedValues, copy_for_program
from pyfuncdbg.hosts.tensorflow.sessions.whole_run import WholeRun


@dataclass(frozen=True, slots=True)
class _State:
    """Variables, and the random states of Python code, at one moment."""

    variables: Mapping[Any, Any]
    random: Any


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Outcome of a unit: its inputs and outputs, and the state around it."""

    inputs: Mapping[Any, Any]
    outputs: list[Any]
    before: _State
    after: _State


class UnitOutcomes:
    """Outcomes of one stepped run."""

    def __init__(self, host: Host, run: SessionRun) -> None:
        self._host = host
        self._run = run
        self._outcomes: dict[int, _Outcome] = {}
        self._states_before: dict[int, _State] = {}
        self._variables: dict[int, SessionVariableNodes] = {}

    def run(self, unit: RunUnit, values: SteppedValues, run: Callable[[RunUnit], list[Any]]) -> None:
        """Run a unit, or reuse its outcome."""
        inputs = values.feeds(unit)
        outcome = self._outcomes.get(unit.start)
        before = self._states_before[unit.start] = self._state(unit)
        if outcome is not None and _are_equal(outcome.inputs, inputs) and _are_equal(outcome.before.variables,
                                                                                     before.variables):
            self._restore(unit, outcome.after)
            outputs = outcome.outputs
        else:
            outputs = run(unit)
            self._outcomes[unit.start] = _Outcome(inputs, outputs, before, self._state(unit))
        for tensor, value in zip(unit.fetches, outputs, strict=True):
            values.by_name[tensor.name] = value

    def keeps_result(self, unit: RunUnit, values: SteppedValues) -> bool:
        """Whether the next unit would not run, because its outcome is reused."""
        outcome = self._outcomes.get(unit.start)
        return outcome is not None and _are_equal(outcome.inputs, values.feeds(unit)) and _are_equal(
            outcome.before.variables, self._variables_of(unit).read(self._run))

    def take_back(self, unit: RunUnit) -> None:
        """Restore the state before a unit."""
        before = self._states_before.pop(unit.start, None)
        if before is not None:
            self._restore(unit, before)

    def forget(self, unit: RunUnit) -> None:
        """Discard the outcome of a unit."""
        self._outcomes.pop(unit.start, None)

    def obstacle(self, unit: RunUnit) -> str:
        """The reason why the run cannot go back over a unit that has run; '' if it can."""
        reason = self._variables_of(unit).obstacle if unit.session else ''
        return f'cannot rewind over {unit.nodes[0].name!r}: {reason}' if reason else ''

    def _variables_of(self, unit: RunUnit) -> SessionVariableNodes:
        variables = self._variables.get(unit.start)
        if variables is None:
            variables = self._variables[unit.start] = SessionVariableNodes(unit)
        return variables

    def _state(self, unit: RunUnit) -> _State:
        python = any(op.type in SCRIPTS for op in unit.nodes)
        return _State(self._variables_of(unit).read(self._run), self._host.rng_state() if python else None)

    def _restore(self, unit: RunUnit, state: _State) -> None:
        self._variables_of(unit).write(self._run, state.variables)
        if state.random is not None:
            self._host.set_rng_state(state.random)


def _are_equal(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> bool:
    """Whether values are the same, bit for bit."""
    return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())


def _same(one: Any, other: Any) -> bool:
    first, second = np.asarray(one), np.asarray(other)
    if first.dtype != second.dtype or first.shape != second.shape:
        return False
    return bool(first.tolist() == second.tolist()) if first.dtype.hasobject else first.tobytes() == second.tobytes()


_FIXED_REASON = ('TensorFlow has executed this run as a whole, so nothing of it can be changed any more. Use node, to or '
                 'into at the card before a run to execute it node by node')
_HANDLE = Handle('')


@transparent
class SteppedRun:
    """One stepped run: the `RunNodes` of its cursor, and their state.

    Args:
        plan: Of the run.
        run: The run.
        session_run: Makes a run of the session, as the program asked for it.
        run_again: Makes a further one.
        op_site: The site of a node as an op.
        feeds: Values by name.

    Attributes:
        position: Index of the next node.
        calls: The Python calls of its threads.
    """

    repeats = False
    within: Sequence[CallSite] = ()
    part = outer = None

    def __init__(self, plan: SessionPlan, run: Run, session_run: SessionRun, run_again: SessionRun,
                 op_site: Callable[[Any], CallSite], feeds: Mapping[str, Any]) -> None:
        self._plan = plan
        self._run = run
        self._session_run = session_run
        self._run_again = run_again
        self._op_site = op_site
        self._values = SteppedValues(plan, run.host, feeds)
        self._outcomes = UnitOutcomes(run.host, session_run)
        self._whole_run: WholeRun | None = None
        self.position = 0
        self.calls = RunCalls(plan)

    # ------------------------------------------------------------------ running
    def start(self, whole: bool) -> list[Any]:
        """Execute the run and return the fetches.

        Args:
            whole: The session runs everything first.
        """
        pending = self._run.control if isinstance(self._run.control, PendingRun) else None
        results = None
        if whole:
            whole_run = WholeRun(self._plan, self._values, self._run.host, pending)
            results = whole_run.run(self._session_run, self._run_again)
            self._whole_run = whole_run
            if hooks.op_recorder is not None and not (pending is not None and pending.paused):
                record_nodes(self._plan, self._run, whole_run, self._values, self._op_site)
                return results
        self._run.control = cursor = RunCursor(self, self, self._run)
        if pending is not None and pending.paused:
            cursor.pause_at(pending.pause_position, pending.on_pause)
        try:
            cursor.go()
        except Exception as error:              # a mistake of ours, if the results are there
            if results is None:
                raise
            report_failure(f'recording the nodes of run #{self._run.id} failed', error)
        finally:
            self._run.control = None
        return results if results is not None else self._results()

    def _results(self) -> list[Any]:
        values = self._values.by_name
        missing = [tensor for tensor in self._plan.fetches if isinstance(values.get(tensor.name, _HANDLE), Handle)]
        feeds = {tensor.ref(): self._run.host.to_numpy(values[tensor.name]) for tensor in self._plan.feeds}
        fetched = dict(zip([tensor.name for tensor in missing],
                           self._session_run([], missing, feeds) if missing else (), strict=True))
        return [fetched[tensor.name] if tensor.name in fetched else copy_for_program(values[tensor.name])
                for tensor in self._plan.fetches]

    def remark(self) -> str:
        """A remark on the nodes that come next."""
        if self._whole_run is not None:
            return 'TensorFlow has executed this run as a whole: these are its values, and nothing can be changed'
        unit = self._plan.units.by_position[self.position] if self.position < len(self._plan.nodes) else None
        if unit is None or not unit.session or len(unit.nodes) == 1:
            return ''
        count = len(unit.nodes)
        last = unit.nodes[-1].name
        return f'{count} nodes run as one, up to {last!r}: TensorFlow cannot run one of them without the others'

    # ------------------------------------------------------------------ one node
    def execute(self, cursor: RunCursor, index: int) -> int:
        """Execute the node at an index, or the unit that begins there, and return the index after it."""
        unit = self._plan.units.by_position[index]
        if self._whole_run is not None or not unit.session:
            self._call(self._plan.nodes[index], self._compute_node)
            return index + 1
        first, *others = unit.nodes

        def compute(op: Any, inputs: Sequence[Any]) -> list[Any]:
            with self._values.replace_inputs(op, inputs):
                self._outcomes.run(unit, self._values, self._rerun)
            return self._values.outputs_of(op)
        self._call(first, compute)
        for op in others:
            self._call(op, lambda other, inputs: self._values.outputs_of(other))
        return unit.end

    def _rerun(self, unit: RunUnit) -> list[Any]:
        return self._session_run(unit.targets, unit.fetches, self._values.feeds(unit))

    def _call(self, op: Any, compute: Callable[[Any, Sequence[Any]], list[Any] | None]) -> None:
        """Make a node's call, through the hooks for ops."""
        values = self._values
        whole_run = self._whole_run
        inputs = values.inputs(op) if whole_run is None else whole_run.inputs(op)
        unit = self._plan.units.by_position[self.position]
        if whole_run is None and unit.session and hooks.op and self._plan.variable_order.writers:
            inputs = current_inputs(self._plan, op, unit, inputs, values.injected, self._run_again)
        is_observable = self._plan.units.sorts[op] != 'handle' if whole_run is None else whole_run.is_observable(op, inputs)
        if not hooks.op or not is_observable:
            outputs = compute(op, inputs)
        else:
            outputs = list(invoke(self._op_site(op), lambda *given: compute(op, given) or (), self._run, inputs))
        if outputs:
            values.store(op, outputs)

    def _compute_node(self, op: Any, inputs: Sequence[Any]) -> list[Any] | None:
        """The outputs of a node without a run of the session; None if unknown."""
        if self._whole_run is not None:
            return self._whole_run.outputs_of_call(op, inputs)
        if self._plan.units.sorts[op] == 'handle':
            return self._values.name_handles(op)
        if self._plan.units.sorts[op] != 'pure' or any(value is None for value in inputs):
            return None
        try:
            return self._plan.kernel(op)(*inputs)
        except Exception as error:              # of any kind: the program gets the session's own error
            return self._rerun_failed(op, inputs, error)

    def _rerun_failed(self, op: Any, inputs: Sequence[Any], error: Exception) -> list[Any]:
        """Run a node that failed in the session, which raises the program's error, with the node's name."""
        feeds = {tensor.ref(): self._run.host.to_numpy(value) for tensor, value in zip(op.inputs, inputs, strict=True)
                 if not node_kernel.is_constant(tensor.op)}
        if self._plan.units.waits_for_effects(op):
            raise error
        return self._session_run([], op.outputs, feeds)

    # ------------------------------------------------------------------ what a debugger sees
    @property
    def sites(self) -> Sequence[CallSite]:
        """The run's sites in execution order."""
        return self._plan.sites

    @property
    def feeds(self) -> Sequence[str]:
        """The names of the fed tensors."""
        return self._plan.feed_names

    def running_positions(self) -> range:
        """The indices of the nodes that TensorFlow may run now, while the run is not paused."""
        if self._whole_run is not None or self.position >= len(self._plan.nodes):
            return range(0)
        unit = self._plan.units.by_position[self.position]
        return range(unit.start, unit.end)

    def look(self) -> RunView:
        """The state of the run from within a Python call."""
        return RunPosition(self, self.calls.position())

    def holds(self, tensor: str) -> bool:
        """Whether the value of a tensor is there."""
        return self._values.holds(tensor)

    def value(self, tensor: str) -> Any:
        """The value of a tensor of this run, such as 'mm:0'.

        Raises:
            KeyError: Unknown, not computed yet, or only TensorFlow has it.
        """
        return self._values.value(tensor)

    def obstacle(self, position: int) -> str:
        """The reason why the run cannot go back to a node; '' if it can."""
        if not 0 <= position <= self.position:
            return f'cannot rewind to step {position}: next is {self.position}, the first is 0'
        units = {id(unit): unit for unit in self._plan.units.by_position[position:self.position]}
        return next((reason for unit in units.values() if (reason := self._outcomes.obstacle(unit))), '')

    # ------------------------------------------------------------------ for the cursor
    def __len__(self) -> int:
        return len(self._plan.nodes)

    @property
    def fixed_reason(self) -> str:
        """The reason why nothing can be changed any more; '' if it can."""
        return '' if self._whole_run is None else _FIXED_REASON

    def boundary(self, position: int) -> int:
        """The nearest position at which the run can pause: not between nodes that run as one."""
        if position >= len(self._plan.nodes) or self._whole_run is not None:
            return position
        unit = self._plan.units.by_position[position]
        if position == unit.start or not unit.session:
            return position
        return unit.start if unit.start > self.position else unit.end

    def keeps_result(self, index: int) -> bool:
        """Whether a node's Python function would not be called, because its earlier result is kept.

        Raises:
            ValueError: No function is called any more.
        """
        if self.sites[index].kind != 'python':
            return False
        if self._whole_run is not None:
            raise ValueError(_FIXED_REASON)
        return self._outcomes.keeps_result(self._plan.units.by_position[index], self._values)

    def undo(self, position: int, failed: bool) -> None:
        """Restore the state before the node at `position`, or before the unit that it runs in."""
        nodes, units = self._plan.nodes, self._plan.units
        if self._whole_run is None and position < len(nodes) and units.by_position[position].session:
            position = units.by_position[position].start
        last = self.position + (1 if failed else 0)
        for unit in reversed(list({id(unit): unit for unit in units.by_position[position:last]}.values())):
            if self._whole_run is None:
                self._outcomes.take_back(unit)
        for op in nodes[position:self.position]:
            self._values.forget(op)
        self.position = position

    def forget(self, index: int, below: bool = False) -> None:
        """Discard the outputs of a node; nodes that depend on it are compared with their inputs."""
        self._outcomes.forget(self._plan.units.by_position[index])

    def put(self, tensor: str, value: Any) -> None:
        """Replace a value."""
        self._values.by_name[tensor] = value
        self._values.injected.add(tensor)


def current_inputs(plan: SessionPlan, op: Any, unit: RunUnit, inputs: Sequence[Any], injected: set[str],
                   run: SessionRun) -> list[Any]:
    """A node's inputs, where the session reads a variable's memory with the present content.

    Args:
        plan: Of the run.
        op, unit: The node and its unit; all of that has run, unless the node is its first.
        inputs: At the time when they were read.
        injected: Names of tensors whose value a user has replaced.
        run: Makes a run of the session.
    """
    values = list(inputs)
    for slot, tensor in enumerate(op.inputs):
        alias = plan.variable_order.aliases.get(tensor.name)
        if (alias is None or tensor.name in injected or plan.units.sorts.get(tensor.op) == 'handle'
                or plan.units.is_fed(tensor, op)):
            continue
        variable, ran = alias.variables[0], op is not unit.nodes[0]
        if alias.exact and tensor.shape.is_fully_defined() and _holds_version(plan, op, unit, variable, ran):
            values[slot] = np.reshape(run([], [variable.outputs[0]], {})[0], tensor.shape.as_list())
        else:
            values[slot] = UnknownValue(np.dtype(object), (),
                                        f'nodes that run as one also write to variable {variable.name!r}')
    return values


def _holds_version(plan: SessionPlan, op: Any, unit: RunUnit, variable: Any, ran: bool) -> bool:
    """Whether a variable holds now the version that a node finds in it."""
    all_writers = plan.variable_order.writers.get(variable, ())
    writers = [writer for writer in all_writers if writer in unit.nodes and writer is not op]
    if not writers:
        return op not in all_writers or not ran
    return ran and plan.variable_order.version(op, variable) is plan.variable_order.latest_writer(writers)
