"""Runs of a session on tasks of other processes: each step asks every task for its piece of the graph.

They replace the thread pools of a session in this process; on the caller's thread.
"""
from __future__ import annotations

import builtins
import itertools
import weakref
from collections.abc import Mapping, Sequence
from time import perf_counter_ns
from typing import Any

import numpy as np

from pyfuncdbg import errors
from pyfuncdbg.errors import DeadlineExceededError, OpError, UnknownError
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hooks.weak_keys import WeakKeys
from pyfuncdbg.hosts.numpy.runtime.cluster.placement import Devices
from pyfuncdbg.hosts.numpy.runtime.cluster.task_messages import (
    TaskHandle,
    address_space,
    kept_exception,
    pack_tensor,
    unpack_tensor,
)
from pyfuncdbg.hosts.numpy.runtime.cluster.task_transport import TaskConnection
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan
from pyfuncdbg.hosts.numpy.runtime.plans.plan_source import copy_feed, copy_value
from pyfuncdbg.hosts.numpy.runtime.plans.step import Step
from pyfuncdbg.hosts.numpy.runtime.plans.step_stats import StepTimes
from pyfuncdbg.hosts.numpy.runtime.sessions.graph_cut import Cut, GraphCut
from pyfuncdbg.hosts.numpy.runtime.sessions.partition_graphs import task_partitions
from pyfuncdbg.hosts.numpy.runtime.sessions.session_options import Runner, RunSettings

_CLASSES = {kind.code: kind for kind in vars(errors).values()
            if isinstance(kind, type) and issubclass(kind, OpError) and kind.code is not None}


class TaskResources(dict[Any, Any]):
    """Resources of a session on tasks of other processes: none, for they have them.

    Attributes:
        devices: The devices of the tasks.
    """

    def __init__(self, devices: Devices) -> None:
        super().__init__()
        self.devices = devices


class TaskRuns:
    """The runs of one session on tasks of other processes.

    Args:
        connection: To the tasks.
        soft: Whether the CPU of a task replaces a missing device.

    Attributes:
        elsewhere: Whether nodes run in other processes.
    """

    elsewhere = True

    def __init__(self, connection: TaskConnection, soft: bool) -> None:
        self._connection = connection
        self._soft = soft
        self._cuts: WeakKeys[CompiledPlan, tuple[int, Cut]] = WeakKeys()
        self._numbers = itertools.count()
        self._sent: dict[int, set[int]] = {}        # by task: the plans whose pieces it has
        self._dropped: list[int] = []               # plans that are gone here
        self._lock = new_lock()
        self.resources = TaskResources(connection.devices)

    def runner(self, plan: CompiledPlan, settings: RunSettings, timing: StepTimes | None) -> Runner:
        """The runner of a plan. Its nodes are timed on their tasks.

        Raises:
            InvalidArgumentError, UnimplementedError: The plan cannot be cut.
        """
        connection = self._connection

        def run(execution: Execution, values: Sequence[Any]) -> tuple[Any, ...]:
            number, cut = self._cut(plan, values)
            requests = self._requests(number, cut, values, timing is not None)
            timeout = None if settings.deadline is None else max(0.0, (settings.deadline - perf_counter_ns()) / 1e9)
            answers = connection.run(requests, timeout) if requests else {}
            failures = [(task, {'task': task, 'function': None, 'outer': answer['error']['node'], **answer['error']})
                        for task, answer in answers.items() if 'error' in answer]
            with self._lock:
                for task, answer in answers.items():
                    if 'results' in answer or answer['error']['node']:
                        self._sent.setdefault(task, set()).add(number)
            if timing is not None:
                for task, answer in answers.items():
                    times = [entry for entry in answer.get('times') or () if entry[0] in cut.order]
                    timing.receive(times, lambda name: plan.steps[cut.order[name]].op,
                                   connection.devices.available[task].to_string())
            if failures:
                self._raise(plan, cut, execution, failures)
            return self._results(plan, answers, values)
        return run

    def partitions(self, plan: CompiledPlan, values: Sequence[Any], devices: Devices) -> Sequence[Any]:
        """The graph that each task runs, as GraphDefs."""
        spaces = [self._connection.address_space(task) for task in range(len(devices.available))]
        return task_partitions(plan, self._cut(plan, values)[1], devices.names(), [int(space[:15], 16) for space in spaces])

    def _cut(self, plan: CompiledPlan, values: Sequence[Any]) -> tuple[int, Cut]:
        entry = self._cuts.get(plan)
        if entry is None:
            devices = self._connection.devices
            here = {task: self._connection.address_space(task) == address_space() for task in range(len(devices.available))}
            owners = {number: value.task for number, value in enumerate(values) if isinstance(value, TaskHandle)}
            entry = next(self._numbers), GraphCut(plan, devices, self._soft, owners).cut(here)
            self._cuts[plan] = entry
            weakref.finalize(plan, self._dropped.append, entry[0])
        return entry

    def _requests(self, number: int, cut: Cut, values: Sequence[Any], timed: bool) -> dict[int, dict[str, Any]]:
        requests: dict[int, dict[str, Any]] = {}
        with self._lock:
            for task, piece in cut.pieces.items():
                sent = self._sent.get(task, set())
                dropped = [plan for plan in self._dropped if plan in sent]
                sent.difference_update(dropped)
                requests[task] = {
                    'plan': number, 'piece': None if number in sent else piece.to_data(), 'drop': dropped, 'timed': timed,
                    'values': {name: pack_tensor(values[place]) for name, place in cut.feeds[task]}}
        return requests

    def _results(self, plan: CompiledPlan, answers: Mapping[int, Mapping[str, Any]],
                 values: Sequence[Any]) -> tuple[Any, ...]:
        received = {name: TaskHandle(*data['at']) if isinstance(data, Mapping) else unpack_tensor(data)
                    for task, answer in answers.items() for name, data in answer['results'].items()}
        fed = {plan.slots[id(tensor)]: value for tensor, value in zip(plan.feeds, values, strict=True)}
        makers = {slot: f'{step.op.name}:{index}' for step in plan.steps for index, slot in enumerate(step.outputs)}
        shared = any(self._connection.address_space(task) == address_space() for task in answers)
        results = []
        for tensor in plan.fetches:
            slot = plan.slots[id(tensor)]
            if slot in fed:
                results.append(copy_feed(fed[slot]))
            elif slot in plan.constants:
                results.append(copy_value(plan.constants[slot]))
            else:
                value = received[makers[slot]]
                # In this process it may be a value of a variable as well, which the program must not change.
                is_own = not shared and isinstance(value, np.ndarray) and value.flags.writeable
                results.append(value if is_own else copy_value(value))
        return tuple(results)

    def _raise(self, plan: CompiledPlan, cut: Cut, execution: Execution,
               failures: Sequence[tuple[int, Mapping[str, Any]]]) -> None:
        """Raise the error of the first failed node in the order of the plan, else an error of no node."""
        _, first = min(failures, key=lambda failure: (failure[1]['derived'],
                                                      cut.order.get(failure[1]['outer'], len(cut.order))))
        error = error_of(first)
        step = cut.order.get(first['node']) if first['function'] is None else None
        if isinstance(error, DeadlineExceededError) and not first['node']:
            error.locate(None, None, 'Graph execution error:\n\nDeadline Exceeded')
        inner = None if first['function'] is None else cut.functions[first['function']].graph.find(first['node'])
        if step is not None:
            execution.failed = plan.steps[step]
        elif inner is not None:
            execution.failed = Step(inner, inner.definition.kernel, (), (), False)
        if isinstance(error, OpError) and not error.located:
            device = self._connection.devices.available[first['task']]
            error._message = f'From /job:{device.job}/replica:{device.replica}/task:{device.task}:\n{error.message}'
        raise error from error.__cause__

    def close(self) -> None:
        """Free what the tasks have for this session; variables stay."""
        self._connection.close()


def error_of(failure: Mapping[str, Any]) -> BaseException:
    """The error that a task has described; see `tasks.task_error`. Of a task in this process it is the error itself."""
    own = kept_exception(failure['key'])
    if own is not None:
        return own
    text, cause = failure['message'], failure['cause']
    if failure['code'] is None:                 # raised by a Python function to end the program
        kind = {'SystemExit': SystemExit, 'KeyboardInterrupt': KeyboardInterrupt}.get(failure['type'], UnknownError)
        if kind is UnknownError:
            return UnknownError(None, None, text)
        return kind(*failure['arguments'])
    error = _CLASSES.get(failure['code'], UnknownError)(None, None, text)
    if failure['located']:
        error.locate(None, None, text, failure['appendix'])
    if cause is not None:
        error.__cause__ = _cause(*cause)
    return error


def _cause(kind: str, arguments: Sequence[Any], text: str, traceback: str) -> Exception:
    """The exception of a Python function: one of Python's own classes, or a RuntimeError that names the class."""
    known = getattr(builtins, kind, None)
    try:
        cause: Exception = known(*arguments) if isinstance(known, type) and issubclass(known, Exception) else RuntimeError(
            f'{kind}: {text}')
    except TypeError:                           # a class with other arguments
        cause = RuntimeError(f'{kind}: {text}')
    cause.add_note(f'On the task:\n{traceback}')
    return cause
