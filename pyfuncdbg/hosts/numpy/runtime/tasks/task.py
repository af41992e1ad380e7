"""A task of a cluster in this process: its variables, and the pieces of graphs that sessions have sent.

The process's server calls it, on its own threads: a transport imports this, the runtime does not.
"""
from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from time import perf_counter_ns
from types import NoneType
from typing import Any

import numpy as np

from pyfuncdbg.errors import InvalidArgumentError, OpError
from pyfuncdbg.hooks.call import CallSite, Run, RunForm
from pyfuncdbg.hooks.chain import hooks, invoke
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.device import DeviceSpecV2
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.types.dtypes import resource
from pyfuncdbg.hosts.numpy.runtime.cluster.server import TaskState, TaskVariables
from pyfuncdbg.hosts.numpy.runtime.cluster.task_messages import Piece, Stage, TaskHandle, pack_tensor, unpack_tensor
from pyfuncdbg.hosts.numpy.runtime.control_flow.tensor_list import TensorList
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution, OtherTasks
from pyfuncdbg.hosts.numpy.runtime.execution.host import host
from pyfuncdbg.hosts.numpy.runtime.execution.node_facts import is_constant
from pyfuncdbg.hosts.numpy.runtime.plans.executor import run_plan, take_over
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan, compile_plan, site_of
from pyfuncdbg.hosts.numpy.runtime.plans.remote_step import RemotePart
from pyfuncdbg.hosts.numpy.runtime.plans.step_stats import StepTimes
from pyfuncdbg.hosts.numpy.runtime.sessions.session import RUN_SITE
from pyfuncdbg.hosts.numpy.runtime.sessions.session_options import Pools, RunSettings, SessionOptions
from pyfuncdbg.hosts.numpy.runtime.tasks.piece_import import PieceImport, tensor_of
from pyfuncdbg.hosts.numpy.runtime.tasks.task_error import unlocated_error

_STEPS_AT_ONCE = 16
"""Steps of one plan whose runs are kept: sessions run it on several threads."""


class NodeError(Exception):
    """A node has failed; the cause is its error.

    Args:
        node: Its name.
        function: Number of the function that it is in, None if it is in none.
        outer: Name of the node in no function that failed for it.
    """

    def __init__(self, node: str, function: int | None = None, outer: str = '') -> None:
        super().__init__(node)
        self.node = node
        self.function = function
        self.outer = outer


class PreparedPiece:
    """A piece with its graph and the compiled plans of its stages.

    Args:
        piece: The piece.
        trust: Whether Python functions that are stored in nodes are loaded, which runs code.

    Raises:
        ValueError, NotFoundError: Its nodes form no graph here.
    """

    def __init__(self, piece: Piece, trust: bool) -> None:
        self.piece = piece
        self._graph = Graph()
        with context.under(self._graph):
            self._import = PieceImport(piece, trust)        # has functions that no node here calls
            self._ops = self._import.add(self._graph, piece.nodes)
        self._names = {op: name for name, op in self._ops.items()}
        self._functions = {number: graph for graph, number in self._import.numbers.items()}
        self._plans: dict[int, tuple[CompiledPlan, RunForm]] = {}
        self._parts: dict[RemotePart, CompiledPlan] = {}
        self._part_runs: dict[str, Run] = {}
        self._pools = Pools(SessionOptions())
        finished: set[Any] = set()
        for stage in piece.stages:
            ops = [self._ops[name] for name in stage.nodes]
            plan = compile_plan(self._graph, ops, [self._tensor(name) for name in stage.feeds],
                                [self._tensor(name) for name in stage.outputs], protect=True, hand_over=take_over,
                                finished=finished, merge=False)
            finished.update(ops)
            self._plans[stage.level] = plan, RunForm()

    def name_of(self, op: Operation) -> str:
        """The name of a node in the session's graph."""
        return self._names.get(op, op.name)

    def _tensor(self, name: str) -> Any:
        argument = self.piece.arguments.get(name)
        return tensor_of(self._ops, name) if argument is None else self._ops[argument].outputs[0]

    def handles(self, names: Sequence[str]) -> frozenset[str]:
        """Those of some tensors that are handles."""
        return frozenset(name for name in names if self._tensor(name).dtype is resource)

    def run(self, stage: Stage, values: Mapping[str, Any], resources: dict[Any, Any], deadline: int | None,
            times: list[Any] | None = None, tasks: OtherTasks | None = None) -> dict[str, Any]:
        """Run one stage.

        Args:
            stage: One of the piece.
            values: Tensors by name, its feeds among them.
            resources: Of the session on this task.
            deadline: Its end in `perf_counter_ns()`, None without limit.
            times: Gets the data of `StepTimes.to_data`, None where nodes are not timed.
            tasks: The other tasks of the step, on which nodes of functions run.

        Returns:
            Its outputs by name.

        Raises:
            NodeError: A node has failed.
        """
        plan, form = self._plans[stage.level]
        run = Run('Session.run', host, perf_counter_ns(), sites=plan.sites, feeds=tuple(t.name for t in plan.feeds),
                  fetches=tuple(t.name for t in plan.fetches))
        run.form = form
        results = self._run(plan, run, [values[name] for name in stage.feeds], resources, deadline, times, tasks)
        return dict(zip(stage.outputs, results, strict=True))

    def run_part(self, step: str, part: RemotePart, values: Sequence[Any], resources: dict[Any, Any], deadline: int | None,
                 tasks: OtherTasks | None) -> tuple[Any, ...]:
        """Run nodes of a function that runs on another task; all parts of a step are one run.

        Args:
            step: Id of the step.
            part: The nodes.
            values: Of its feeds.
            resources, deadline, tasks: As of `run`.

        Returns:
            The values of its fetches.

        Raises:
            NodeError: A node has failed.
            KeyError: The function has no such nodes.
        """
        if part not in self._parts:
            graph = self._functions[part.function]
            ops = {op.name: op for op in graph.operations}
            nodes = [ops[name] for name in part.nodes]
            inside = set(nodes)
            self._parts[part] = compile_plan(
                graph, nodes, [tensor_of(ops, name) for name in part.feeds], [tensor_of(ops, name) for name in part.fetches],
                protect=True, hand_over=take_over,
                finished={op for op in graph.operations if op not in inside and not is_constant(op)})
        run = self._part_runs.pop(step, None) or Run('Session.run', host, perf_counter_ns(), sites=self._part_sites)
        self._part_runs[step] = run             # the newest last
        if len(self._part_runs) > _STEPS_AT_ONCE:
            self._part_runs.pop(next(iter(self._part_runs)), None)
        return self._run(self._parts[part], run, values, resources, deadline, None, tasks)

    def _part_sites(self) -> list[CallSite]:
        """The sites of the nodes here of functions that run on other tasks."""
        return [site_of(op) for graph in self._functions.values() if graph.tasks is not None
                for op, task in graph.tasks.task_of.items() if task == self.piece.task]

    def _run(self, plan: CompiledPlan, run: Run, fed: Sequence[Any], resources: dict[Any, Any], deadline: int | None,
             times: list[Any] | None, tasks: OtherTasks | None) -> tuple[Any, ...]:
        """Run a plan, and call the hooks of runs if the run has a form."""
        before = numpy_errstate.current_state()
        execution = Execution(run, resources, before)
        run.control = execution
        execution.tasks = tasks
        timing = None if times is None else StepTimes()
        runner = self._pools.runner(plan, RunSettings(deadline), timing)
        numpy_errstate.state.set(numpy_errstate.IGNORE)
        failed: list[Operation] = []

        def error_of(error: Exception, op: Operation) -> OpError:
            failed.append(op)
            return unlocated_error(error)

        def whole(*fed: Any) -> tuple[Any, ...]:
            return run_plan(plan, execution, fed, error_of, None if runner is None else lambda v: runner(execution, v))

        try:
            watched = hooks.run and run.form is not None and not hooks.is_ignored(run.form)
            return tuple(invoke(RUN_SITE, whole, run, list(fed)) if watched else whole(*fed))
        except BaseException as error:          # of any kind: the session raises it
            step = execution.failed or plan.failed_step(error)
            op = failed[0] if failed else None if step is None else step.op
            outer = plan.failed_step(error)
            function = None if op is None else next((
                number for number, graph in self._functions.items() if graph is op.graph), None)
            raise NodeError('' if op is None else self.name_of(op), function,
                            '' if outer is None else self.name_of(outer.op)) from error
        finally:
            run.control = None
            numpy_errstate.state.set(before)
            if times is not None and timing is not None:
                times.extend(timing.to_data(self.name_of))


class _TaskSession:
    """State of one session on a task: resources, pieces by number, and values by key that others refer to."""

    def __init__(self, resources: dict[Any, Any]) -> None:
        self.resources = resources
        self.pieces: dict[int, PreparedPiece] = {}
        self.handles: dict[str, Any] = {}

    def pack(self, value: Any, task: int, keeps: bool) -> Any:
        """A value for another task or the session; with `keeps` a reference to one that exists here only."""
        if value is None:                       # a cell that has not been written
            return None
        if isinstance(value, TensorList):
            return {'list': [self.pack(cell, task, keeps) for cell in value.items()]}
        if keeps and not isinstance(value, np.ndarray | np.generic | TaskHandle):
            self.handles[str(id(value))] = value
            value = TaskHandle(task, str(id(value)))
        return pack_tensor(value)

    def unpack(self, data: Any, task: int) -> Any:
        """The value of `pack`."""
        if data is None:
            return None
        if not isinstance(data, Mapping):
            return unpack_tensor(data)
        if 'list' in data:
            return TensorList([self.unpack(cell, task) for cell in data['list']])
        owner, key = data['at']
        return self.handles[key] if owner == task else TaskHandle(owner, key)


class Task:
    """A task of a cluster.

    Args:
        device: Its one device.
        trust: Whether Python functions that are stored in nodes are loaded, which runs code of the sessions' programs.

    Attributes:
        incarnation: Differs from that of a task before it, in whose place it is.
    """

    def __init__(self, device: DeviceSpecV2, trust: bool) -> None:
        self.incarnation = uuid.uuid4().hex
        self._device = device
        self._trust = trust
        self._state = TaskState(device)
        self._sessions: dict[str, _TaskSession] = {}
        self._lock = new_lock()

    def prepare(self, session: str, plan: int, piece: Piece | None, dropped: Sequence[int]) -> PreparedPiece:
        """The piece of a plan.

        Args:
            session: Id of the session.
            plan: Number of the plan.
            piece: The piece, where the task does not have it yet.
            dropped: Numbers of plans that the session does not have any more.

        Raises:
            KeyError: It has no such piece.
            ValueError, NotFoundError: The nodes form no graph here.
        """
        with self._lock:
            known = self._sessions.setdefault(session, _TaskSession(
                TaskVariables({self._device: self._state}, self._device, {})))
        for number in dropped:
            known.pieces.pop(number, None)
        if piece is not None:
            known.pieces[plan] = PreparedPiece(piece, self._trust)
        return known.pieces[plan]

    def prepared(self, session: str, plan: int) -> PreparedPiece:
        """The piece of a plan.

        Raises:
            KeyError: It has no such piece: it is not the task that the session has prepared.
        """
        return self._sessions[session].pieces[plan]

    def resources(self, session: str) -> dict[Any, Any]:
        """The resources of a session here."""
        return self._sessions[session].resources

    def unpack(self, session: str, values: Mapping[str, Any], number: int) -> dict[str, Any]:
        """Tensors from a message of the session or another task.

        Args:
            session: Id of the session.
            values: By name.
            number: Index of this task.
        """
        return {name: self._sessions[session].unpack(data, number) for name, data in values.items()}

    def pack_results(self, session: str, tensors: Mapping[str, Any], names: Sequence[str], number: int) -> dict[str, Any]:
        """Tensors for the session; one that exists here only is kept, and the session gets a reference."""
        known, results = self._sessions[session], {}
        for name in names:
            value = tensors[name]
            if isinstance(value, np.ndarray | np.generic | TaskHandle):
                results[name] = pack_tensor(value)
            else:                               # a list, too: it stays as it is
                known.handles[str(id(value))] = value
                results[name] = pack_tensor(TaskHandle(number, str(id(value))))
        return results

    def pack_sent(self, session: str, tensors: Mapping[str, Any], names: Sequence[str], number: int,
                  handles: Collection[str]) -> dict[str, Any]:
        """Tensors for another task, also lists of them, and references to handles.

        Args:
            session: Id of the session.
            tensors: By name.
            names: Those that it gets.
            number: Index of this task.
            handles: The names of those that are handles.

        Raises:
            InvalidArgumentError: One exists in this process only.
        """
        for name in names:
            if name not in handles and not isinstance(value := tensors[name],
                                                      np.ndarray | np.generic | TensorList | NoneType | TaskHandle):
                raise InvalidArgumentError(None, None, (
                    f'{name} is needed on another task, but is of type {type(value).__name__}: datasets, iterators, '
                    'optionals, handles and what a py_function keeps for its gradient exist on their own task only. Make it '
                    'and the nodes that use it there, in one tf.device'))
        return {name: self._sessions[session].pack(tensors[name], number, name in handles) for name in names}

    def close_session(self, session: str) -> None:
        """Free what a session has here; variables stay."""
        with self._lock:
            known = self._sessions.pop(session, None)
        if known is not None:                   # iterators refer to the resources that they are in, and have threads
            known.resources.clear()

    def reset(self, containers: Collection[str]) -> None:
        """Delete the variables in some containers."""
        self._state.delete(containers)
