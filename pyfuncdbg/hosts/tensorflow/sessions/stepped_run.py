"""Session run node by node, which observers can pause, rewind and give other values.

Nodes without state are computed by TensorFlow's own kernels on what goes into them; the session runs the others, each once.
Where no hook can pause, the session runs everything as the program asked for, and only then its nodes are gone through. On
the thread of the run, in the middle of `Session.run`.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.chain import hooks, invoke, report_failure
from pyfuncdbg.hooks.host import RunView
from pyfuncdbg.hooks.run_cursor import RunCursor
from pyfuncdbg.hooks.unknown_value import UnknownValue
from pyfuncdbg.hosts.tensorflow.nodes import node_kernel
from pyfuncdbg.hosts.tensorflow.sessions.run_position import PendingRun, RunCalls, RunPosition
from pyfuncdbg.hosts.tensorflow.sessions.run_units import RunUnit
from pyfuncdbg.hosts.tensorflow.sessions.session_plan import Plan
from pyfuncdbg.hosts.tensorflow.sessions.session_variables import SessionRun
from pyfuncdbg.hosts.tensorflow.sessions.stepped_values import Handle, SteppedValues, own
from pyfuncdbg.hosts.tensorflow.sessions.unit_outcomes import UnitOutcomes
from pyfuncdbg.hosts.tensorflow.sessions.whole_run import WholeRun

_DONE = ('TensorFlow has done this run in one go, so nothing of it can be changed any more; node, to or into at the card '
         'before a run goes through it node by node')
_HANDLE = Handle('')


class SteppedRun:
    """One stepped run: the `RunNodes` of its cursor, and what is known of them.

    Args:
        plan: Of the run.
        run: The run.
        session_run: Makes a run of the session, as the program asked for it.
        again: Makes a further one.
        op_site: The site of a node as an op.
        feeds: Values by name.

    Attributes:
        position: Place of the node that is next.
        calls: In which Python calls its threads are.
    """

    repeats = False
    within: Sequence[CallSite] = ()
    part = outer = None

    def __init__(self, plan: Plan, run: Run, session_run: SessionRun, again: SessionRun,
                 op_site: Callable[[Any], CallSite], feeds: Mapping[str, Any]) -> None:
        self._plan = plan
        self._run = run
        self._session_run = session_run
        self._again = again
        self._op_site = op_site
        self._values = SteppedValues(plan, run.host, feeds)
        self._outcomes = UnitOutcomes(run.host, session_run)
        self._once: WholeRun | None = None
        self.position = 0
        self.calls = RunCalls(plan)

    # ------------------------------------------------------------------ running
    def start(self, at_once: bool) -> list[Any]:
        """The fetches.

        Args:
            at_once: The session runs everything first.
        """
        pending = self._run.control if isinstance(self._run.control, PendingRun) else None
        results = None
        if at_once:
            once = WholeRun(self._plan, self._values, self._run.host, pending)
            results = once.run(self._session_run, self._again)
            self._once = once
        self._run.control = cursor = RunCursor(self, self, self._run)
        if pending is not None and pending.paused:
            cursor.pause_at(pending.place, pending.on_pause)
        try:
            cursor.go()
        except Exception as error:              # ours, if the program has its results already
            if results is None:
                raise
            report_failure(f'looking into run #{self._run.id} failed', error)
        finally:
            self._run.control = None
        return results if results is not None else self._results()

    def _results(self) -> list[Any]:
        known = self._values.known
        missing = [tensor for tensor in self._plan.fetches if isinstance(known.get(tensor.name, _HANDLE), Handle)]
        feeds = {tensor.ref(): self._run.host.to_numpy(known[tensor.name]) for tensor in self._plan.feeds}
        late = dict(zip([tensor.name for tensor in missing],
                        self._session_run([], missing, feeds) if missing else (), strict=True))
        return [late[tensor.name] if tensor.name in late else own(known[tensor.name]) for tensor in self._plan.fetches]

    def remark(self) -> str:
        """A remark on the nodes that come next."""
        if self._once is not None:
            return 'TensorFlow has done this run in one go already: these are its values, and nothing can be changed'
        unit = self._plan.units.of[self.position] if self.position < len(self._plan.nodes) else None
        if unit is None or not unit.session or len(unit.nodes) == 1:
            return ''
        count = len(unit.nodes)
        last = unit.nodes[-1].name
        return f'{count} nodes run as one, up to {last!r}: TensorFlow cannot run one of them without the others'

    # ------------------------------------------------------------------ one node
    def execute(self, cursor: RunCursor, index: int) -> int:
        """Run the node at a place, or the unit that begins there; the place after it."""
        unit = self._plan.units.of[index]
        if self._once is not None or not unit.session:
            self._call(self._plan.nodes[index], self._computed)
            return index + 1
        first, *others = unit.nodes

        def compute(op: Any, inputs: Sequence[Any]) -> list[Any]:
            with self._values.replaced(op, inputs):
                self._outcomes.run(unit, self._values, self._rerun)
            return self._values.of(op)
        self._call(first, compute)
        for op in others:
            self._call(op, lambda other, inputs: self._values.of(other))
        return unit.end

    def _rerun(self, unit: RunUnit) -> list[Any]:
        return self._session_run(unit.targets, unit.fetches, self._values.feeds(unit))

    def _call(self, op: Any, compute: Callable[[Any, Sequence[Any]], list[Any] | None]) -> None:
        """Make a node's call, seen by who watches ops."""
        values = self._values
        once = self._once
        inputs = values.inputs(op) if once is None else once.inputs(op)
        unit = self._plan.units.of[self.position]
        if once is None and unit.session and hooks.op and self._plan.references.writers:
            inputs = current_inputs(self._plan, op, unit, inputs, values.injected, self._again)
        seen = self._plan.units.sorts[op] != 'handle' if once is None else once.can_be_seen(op, inputs)
        if not hooks.op or not seen:
            outputs = compute(op, inputs)
        else:
            outputs = list(invoke(self._op_site(op), lambda *given: compute(op, given) or (), self._run, inputs))
        if outputs:
            values.keep(op, outputs)

    def _computed(self, op: Any, inputs: Sequence[Any]) -> list[Any] | None:
        """Outputs of a node without a run of the session of its own; None if they are not known."""
        if self._once is not None:
            return self._once.outputs(op, inputs)
        if self._plan.units.sorts[op] == 'handle':
            return self._values.name_handles(op)
        if self._plan.units.sorts[op] != 'pure' or any(value is None for value in inputs):
            return None
        try:
            return self._plan.kernel(op)(*inputs)
        except Exception as error:              # whatever it is: the session's own error is what the program would get
            return self._failed(op, inputs, error)

    def _failed(self, op: Any, inputs: Sequence[Any], error: Exception) -> list[Any]:
        """Run a node that failed in the session: it raises what the program would get, which names the node."""
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
        """Names of the tensors that were given."""
        return self._plan.feed_names

    def running(self) -> range:
        """Places of the nodes that TensorFlow may run just now, while the run is not paused."""
        if self._once is not None or self.position >= len(self._plan.nodes):
            return range(0)
        unit = self._plan.units.of[self.position]
        return range(unit.start, unit.end)

    def look(self) -> RunView:
        """What is known in a Python call."""
        return RunPosition(self, self.calls.place())

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
        units = {id(unit): unit for unit in self._plan.units.of[position:self.position]}
        return next((reason for unit in units.values() if (reason := self._outcomes.obstacle(unit))), '')

    # ------------------------------------------------------------------ for the cursor
    def __len__(self) -> int:
        return len(self._plan.nodes)

    @property
    def fixed_reason(self) -> str:
        """The reason why nothing can be changed any more; '' if it can."""
        return '' if self._once is None else _DONE

    def boundary(self, position: int) -> int:
        """The nearest place where the run can pause: not between nodes that run as one."""
        if position >= len(self._plan.nodes) or self._once is not None:
            return position
        unit = self._plan.units.of[position]
        if position == unit.start or not unit.session:
            return position
        return unit.start if unit.start > self.position else unit.end

    def keeps_result(self, index: int) -> bool:
        """Whether a node's Python function would not be called, for its earlier result stands.

        Raises:
            ValueError: None is called any more.
        """
        if self.sites[index].kind != 'python':
            return False
        if self._once is not None:
            raise ValueError(_DONE)
        return self._outcomes.keeps_result(self._plan.units.of[index], self._values)

    def undo(self, position: int, failed: bool) -> None:
        """Put everything as it was before the node at `position`, or before those that it runs together with."""
        nodes, units = self._plan.nodes, self._plan.units
        if self._once is None and position < len(nodes) and units.of[position].session:
            position = units.of[position].start
        last = self.position + (1 if failed else 0)
        for unit in reversed(list({id(unit): unit for unit in units.of[position:last]}.values())):
            if self._once is None:
                self._outcomes.take_back(unit)
        for op in nodes[position:self.position]:
            self._values.forget(op)
        self.position = position

    def forget(self, index: int, below: bool = False) -> None:
        """Discard what a node gave; what depends on it is compared with its inputs."""
        self._outcomes.forget(self._plan.units.of[index])

    def put(self, tensor: str, value: Any) -> None:
        """Replace a value."""
        self._values.known[tensor] = value
        self._values.injected.add(tensor)


def current_inputs(plan: Plan, op: Any, unit: RunUnit, inputs: Sequence[Any], injected: set[str],
                   run: SessionRun) -> list[Any]:
    """A node's inputs, those that the session takes from a variable's memory as they are there.

    Args:
        plan: Of the run.
        op, unit: The node, and with what it runs; all of that has run, unless it is the first of it.
        inputs: As they were when they were read.
        injected: Names of tensors whose value a user has replaced.
        run: Makes a run of the session.
    """
    found = list(inputs)
    for slot, tensor in enumerate(op.inputs):
        alias = plan.references.aliases.get(tensor.name)
        if (alias is None or tensor.name in injected or plan.units.sorts.get(tensor.op) == 'handle'
                or plan.units.is_given(tensor, op)):
            continue
        variable, ran = alias.variables[0], op is not unit.nodes[0]
        if alias.exact and tensor.shape.is_fully_defined() and _is_there(plan, op, unit, variable, ran):
            found[slot] = np.reshape(run([], [variable.outputs[0]], {})[0], tensor.shape.as_list())
        else:
            found[slot] = UnknownValue(np.dtype(object), (),
                                       f'nodes that run as one also write to variable {variable.name!r}')
    return found


def _is_there(plan: Plan, op: Any, unit: RunUnit, variable: Any, ran: bool) -> bool:
    """Whether a variable holds now what a node finds in it."""
    inside = [writer for writer in plan.references.writers.get(variable, ()) if writer in unit.nodes and writer is not op]
    if not inside:
        return op not in plan.references.writers.get(variable, ()) or not ran
    return ran and plan.references.version(op, variable) is plan.references.latest(inside)
