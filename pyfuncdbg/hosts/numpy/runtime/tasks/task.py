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
from pyfuncdbg.hooks.call import Run, RunForm
from pyfuncdbg.hooks.chain import hooks, invoke
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.device import DeviceSpecV2
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.runtime.cluster.server import TaskState, TaskVariables
from pyfuncdbg.hosts.numpy.runtime.cluster.task_messages import Piece, Stage, pack_tensor, unpack_tensor
from pyfuncdbg.hosts.numpy.runtime.control_flow.tensor_list import TensorList
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.execution.host import host
from pyfuncdbg.hosts.numpy.runtime.plans.executor import run_plan, take_over
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan, compile_plan
from pyfuncdbg.hosts.numpy.runtime.plans.step_stats import StepTimes
from pyfuncdbg.hosts.numpy.runtime.sessions.session import RUN_SITE
from pyfuncdbg.hosts.numpy.runtime.sessions.session_options import Pools, RunSettings, SessionOptions
from pyfuncdbg.hosts.numpy.runtime.tasks.piece_import import PieceImport, tensor_of
from pyfuncdbg.hosts.numpy.runtime.tasks.task_error import unlocated_error


class NodeError(Exception):
    """A node has failed; the cause is its error.

    Args:
        node: Its name.
    """

    def __init__(self, node: str) -> None:
        super().__init__(node)
        self.node = node


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
            self._ops = PieceImport(piece, trust).add(self._graph, piece.nodes)
        self._names = {op: name for name, op in self._ops.items()}
        self._plans: dict[int, tuple[CompiledPlan, RunForm]] = {}
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

    def run(self, stage: Stage, values: Mapping[str, Any], resources: dict[Any, Any], deadline: int | None,
            times: list[Any] | None = None) -> dict[str, Any]:
        """Run one stage.

        Args:
            stage: One of the piece.
            values: Tensors by name, its feeds among them.
            resources: Of the session on this task.
            deadline: Its end in `perf_counter_ns()`, None without limit.
            times: Gets the data of `StepTimes.to_data`, None where nodes are not timed.

        Returns:
            Its outputs by name.

        Raises:
            NodeError: A node has failed.
        """
        plan, form = self._plans[stage.level]
        run = Run('Session.run', host, perf_counter_ns(), sites=plan.sites, feeds=tuple(t.name for t in plan.feeds),
                  fetches=tuple(t.name for t in plan.fetches))
        before = numpy_errstate.current_state()
        execution = Execution(run, resources, before)
        run.control, run.form = execution, form
        timing = None if times is None else StepTimes()
        runner = self._pools.runner(plan, RunSettings(deadline), timing)
        numpy_errstate.state.set(numpy_errstate.IGNORE)
        failed: list[Operation] = []

        def error_of(error: Exception, op: Operation) -> OpError:
            failed.append(op)
            return unlocated_error(error)

        def whole(*fed: Any) -> tuple[Any, ...]:
            return run_plan(plan, execution, fed, error_of, None if runner is None else lambda v: runner(execution, v))

        fed = [values[name] for name in stage.feeds]
        try:
            results = invoke(RUN_SITE, whole, run, fed) if hooks.run and not hooks.is_ignored(form) else whole(*fed)
        except BaseException as error:          # of any kind: the session raises it
            step = execution.failed or plan.failed_step(error)
            op = failed[0] if failed else None if step is None else step.op
            raise NodeError('' if op is None else self.name_of(op)) from error
        finally:
            run.control = None
            numpy_errstate.state.set(before)
            if times is not None and timing is not None:
                times.extend(timing.to_data(self.name_of))
        return dict(zip(stage.outputs, results, strict=True))


def _pack_list(value: Any) -> Any:
    if value is None:                           # a cell that has not been written
        return None
    return {'list': list(map(_pack_list, value.items()))} if isinstance(value, TensorList) else pack_tensor(value)


def _unpack_list(data: Any) -> Any:
    if data is None:
        return None
    return TensorList(list(map(_unpack_list, data['list']))) if isinstance(data, Mapping) else unpack_tensor(data)


class _TaskSession:
    """State of one session on a task: resources, pieces by number, values of partial runs by key."""

    def __init__(self, resources: dict[Any, Any]) -> None:
        self.resources = resources
        self.pieces: dict[int, PreparedPiece] = {}
        self.handles: dict[str, Any] = {}


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

    def resources(self, session: str) -> dict[Any, Any]:
        """The resources of a session here."""
        return self._sessions[session].resources

    def unpack(self, session: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Tensors from the session's message."""
        handles = self._sessions[session].handles
        return {name: handles[data['key']] if isinstance(data, Mapping) else unpack_tensor(data)
                for name, data in values.items()}

    def pack_results(self, session: str, tensors: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
        """Tensors for the session; one that exists here only is kept, and the session gets its key."""
        handles = self._sessions[session].handles
        results: dict[str, Any] = {}
        for name in names:
            value = tensors[name]
            if isinstance(value, np.ndarray | np.generic):
                results[name] = pack_tensor(value)
            else:
                handles[str(id(value))] = value
                results[name] = {'key': str(id(value))}
        return results

    @staticmethod
    def pack_sent(tensors: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
        """Tensors for another task, also lists of them.

        Raises:
            InvalidArgumentError: One exists in this process only.
        """
        for name in names:
            if not isinstance(value := tensors[name], np.ndarray | np.generic | TensorList | NoneType):
                raise InvalidArgumentError(None, None, (
                    f'{name} is needed on another task, but is of type {type(value).__name__}: datasets, iterators, '
                    'optionals and handles exist on their own task only. Make it and the nodes that use it there, in one '
                    'tf.device'))
        return {name: _pack_list(tensors[name]) for name in names}

    @staticmethod
    def unpack_received(tensors: Mapping[str, Any]) -> dict[str, Any]:
        """The tensors of `pack_sent`."""
        return {name: _unpack_list(data) for name, data in tensors.items()}

    def close_session(self, session: str) -> None:
        """Free what a session has here; variables stay."""
        with self._lock:
            known = self._sessions.pop(session, None)
        if known is not None:                   # iterators refer to the resources that they are in, and have threads
            known.resources.clear()

    def reset(self, containers: Collection[str]) -> None:
        """Delete the variables in some containers."""
        self._state.delete(containers)
