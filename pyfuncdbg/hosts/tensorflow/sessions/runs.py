"""Attribution of calls to runs: a `Session.run`, a thread's eager code, or graphs that TensorFlow runs elsewhere.

TensorFlow's threads do not know which run they work for. A call in the graph of a session that runs is that run's, of
several at once the one that alone can have made it; so is one of a traced function whose ops are seen, while it executes
once at a time. Other calls of functions and datasets are one run.
"""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from time import perf_counter_ns
from types import FrameType
from typing import Any, Protocol

import numpy as np

from pyfuncdbg.hooks import notebook_cell
from pyfuncdbg.hooks.call import Call, CallSite, Run
from pyfuncdbg.hooks.call_frames import Entrance, mark_call_frame
from pyfuncdbg.hooks.chain import hooks, invoke
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hooks.run_cursor import RunCursor
from pyfuncdbg.hooks.traits import Traits
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.patching import Patches, without_our_frames
from pyfuncdbg.hosts.tensorflow.python_calls.sites import Entry, Sites
from pyfuncdbg.hosts.tensorflow.sessions.run_position import PendingRun
from pyfuncdbg.hosts.tensorflow.sessions.session_plan import Plan, PlanKey, SessionPlans
from pyfuncdbg.hosts.tensorflow.sessions.session_variables import SessionRun
from pyfuncdbg.hosts.tensorflow.sessions.stepped_run import SteppedRun
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

_DoRun = Callable[[Any, Any, Any, Any, Any, Any, Any], list[Any]]
"""`BaseSession._do_run(session, handle, targets, fetches, feeds, options, metadata)`."""

_DIFFERENCE = 'the last bits may differ, and what becomes of NaN: what TensorFlow runs in one go it also fuses and folds'


class UsualRuns(Protocol):
    """Maker of usual runs; `usual_calls.UsualCalls` is it."""

    def run(self, original: _DoRun, session: Any, handle: Any, targets: Any, fetches: Any, feeds: Any, options: Any,
            metadata: Any, fed: list[Any]) -> Any:
        """Make one run; `NotImplemented` of one that is not usual."""


class Runs:
    """The runs that go on.

    Attributes:
        usual: Makes the usual ones.
    """

    def __init__(self, host: TensorFlowHost) -> None:
        self._host = host
        self._thread = threading.local()
        self._writing: set[int] = set()         # ids of those that write to v1 variables
        self._going: dict[int, list[Run]] = {}      # by id of the graph; what no thread removes needs no lock
        self._executing: dict[int, tuple[Run, ...]] = {}    # of traced functions; replaced whole, under the lock
        self._lock = new_lock()
        self._sites = {name: CallSite(name, name, 'run', host, traits=Traits(fed_run=True))
                       for name in ('Session.run', 'Session.partial_run')}
        self._plans: SessionPlans | None = None
        self.usual: UsualRuns | None = None
        notebook_cell.call_at_begin(self._end_eager)

    @cached_property
    def graphs(self) -> Run:
        """That of functions and datasets whose run TensorFlow does not tell: one for all threads."""
        with self._lock:
            run: Run | None = self.__dict__.get('graphs')
            if run is None:
                run = self.__dict__['graphs'] = self._endless('functions and datasets')
            return run

    def _endless(self, label: str) -> Run:
        return Run(label, self._host, perf_counter_ns(), kind='eager')

    def eager(self) -> Run:
        """That of the program's own code on this thread."""
        run: Run | None = getattr(self._thread, 'run', None)
        return run if run is not None else self._begin_eager()

    def _begin_eager(self) -> Run:
        where = f' in {notebook_cell.label}' if notebook_cell.label else ''
        self._thread.run = run = self._endless(f'eager code of {threading.current_thread().name}{where}')
        return run

    def _end_eager(self) -> None:
        """What comes later on this thread belongs to another run."""
        self._thread.__dict__.pop('run', None)

    def of(self, entry: Entry, inputs: Sequence[Any] = ()) -> Run:
        """That of a call."""
        if entry.eager:
            return self.eager()
        going = self._going.get(entry.root)
        if going:
            others = going.copy()               # at once: each thread ends its own
            run = others[0] if len(others) == 1 else run_of(others, entry.token, inputs, threading.get_native_id())
            if run is None:
                return self.graphs
            state = run.control.nodes if isinstance(run.control, RunCursor) else run.control
            if isinstance(state, (PendingRun, SteppedRun)) and entry.site is not None:
                state.calls.began(entry.site, inputs)
            return run
        return self.of_function(entry.root)

    def of_function(self, root: int) -> Run:
        """That of what a traced function does, by its outermost graph.

        Of several executions at once, TensorFlow does not tell which one it is: then it is no run's.
        """
        runs = self._executing.get(root, ())
        return runs[0] if len(runs) == 1 else self.graphs

    @contextmanager
    def executing(self, run: Run, roots: Sequence[int]) -> Iterator[None]:
        """A call of a traced function whose ops are seen goes on; `roots` are the graphs whose nodes it may run."""
        with self._lock:
            for root in roots:
                self._executing[root] = *self._executing.get(root, ()), run
        try:
            yield
        finally:
            with self._lock:
                for root in roots:
                    others = tuple(other for other in self._executing[root] if other is not run)
                    if others:
                        self._executing[root] = others
                    else:                       # another graph may have the number later
                        del self._executing[root]

    # ------------------------------------------------------------------ sessions
    def install(self, parts: TensorFlowParts, patches: Patches, sites: Sites) -> None:
        """Notice what each session runs."""
        self._plans = SessionPlans(self._host, sites.of_node, self._going)
        session = parts.session.BaseSession
        patches.replace(session, '_do_run', self._do_run(session._do_run))
        patches.replace(session, 'make_callable', self._make_callable(session.make_callable, parts.session._FetchHandler))

    def forget(self) -> None:
        """Take our marks off TensorFlow's objects."""
        if self._plans is not None:
            self._plans.forget()
            self._plans = None

    def _begin(self, label: str, plan: Plan, fed: Sequence[Any] = ()) -> Run:
        going = Run(label, self._host, perf_counter_ns(), sites=plan.announce, feeds=plan.feed_names,
                    fetches=plan.fetch_names)
        going.thread, going.feed_values = threading.get_native_id(), fed
        going.form = plan.form if label == 'Session.run' else None
        if plan.writes:
            self._writing.add(going.id)
            for other in plan.going:
                if isinstance(other.control, PendingRun):
                    other.control.alone = False
        plan.going.append(going)
        return going

    def _end(self, plan: Plan, going: Run) -> None:
        plan.going.remove(going)
        self._writing.discard(going.id)
        going.feed_values = ()

    def _do_run(self, original: _DoRun) -> _DoRun:
        """The replacement for a session's run, which is called once fetches and feeds are checked."""
        @mark_call_frame(described_by('fed'))
        def _do_run(session: Any, handle: Any, target_list: Any, fetch_list: Any, feed_dict: Any, options: Any,
                    run_metadata: Any) -> list[Any]:
            plans = self._plans
            try:
                if plans is None or not (hooks.python or hooks.run or hooks.op):
                    return original(session, handle, target_list, fetch_list, feed_dict, options, run_metadata)
                fed = list(feed_dict.values())
                if self.usual is not None:
                    made: list[Any] = self.usual.run(original, session, handle, target_list, fetch_list, feed_dict, options,
                                                     run_metadata, fed)
                    if made is not NotImplemented:
                        return made
                stamp = hooks.stamp             # read first: what changes meanwhile makes another
                plan = plans.of(session.graph, fetch_list, target_list, [key.deref() for key in feed_dict])
                known, wanted = plan.asked
                if known is stamp and not wanted:
                    return original(session, handle, target_list, fetch_list, feed_dict, options, run_metadata)
                label = 'Session.run' if handle is None else 'Session.partial_run'
                going = self._begin(label, plan, fed)
                try:
                    if known is not stamp:
                        plan.asked = stamp, self._is_wanted(self._sites[label], plan, going)
                    if hooks.passive and not hooks.op:      # nobody steers it: what was fed is what TensorFlow gets
                        return self._watched(label, going, lambda *_: original(
                            session, handle, target_list, fetch_list, feed_dict, options, run_metadata), fed)
                    if handle is None and not session.sess_str:
                        going.control, going.remark = PendingRun(plan), _DIFFERENCE
                        going.control.alone &= not any(
                            other.id in self._writing for other in list(plan.going) if other is not going)
                    plainly = partial(_run_of, original, session, handle, options, run_metadata)
                    in_part = partial(_run_of, original, session, None, options, None)  # metadata is of one whole run
                    return self._watched(label, going, partial(self._steered, plan, going, plainly, in_part, feed_dict), fed)
                finally:
                    self._end(plan, going)
            except BaseException as error:
                without_our_frames(error)
                raise
        return _do_run

    @staticmethod
    def _is_wanted(site: CallSite, plan: Plan, going: Run) -> bool:
        """Whether anything would be seen of runs like this one: asked once, for it takes longer than the rest."""
        if hooks.op or any(known.traits.runs_graph for known in plan.sites):
            return True                         # the nodes of that graph are not in the plan
        python = [known for known in plan.sites if known.kind == 'python']
        return any(hooks.ask_interest(known, going) for known in (site, *python))

    def _steered(self, plan: Plan, going: Run, plainly: SessionRun, in_part: SessionRun, fed: dict[Any, Any],
                 *values: Any) -> list[Any]:
        """One run: as the program asked for it, or so that its nodes are seen.

        Args:
            plan, going: What it is.
            plainly, in_part: Run all of it, and some of its nodes.
            fed: What the program feeds, by tensor.
            values: What hooks have made of those.
        """
        feeds, going.feed_values = dict(zip(fed, values, strict=True)), values
        pending = going.control
        stepwise = isinstance(pending, PendingRun) and (pending.paused or going.stepwise)
        if not isinstance(pending, PendingRun) or not (stepwise or hooks.op) or self._plans is None:
            going.control = None
            return plainly(plan.targets, plan.fetches, feeds)
        named = dict(zip(plan.feed_names, feeds.values(), strict=True))
        walk = pending.known = SteppedRun(plan, going, in_part if stepwise else plainly, in_part, self._plans.op_site, named)
        return walk.start(at_once=not stepwise)

    def _watched(self, label: str, going: Run, call: Callable[..., list[Any]], fed: list[Any]) -> list[Any]:
        site = self._sites[label]
        if not hooks.run:
            return call(*fed)
        outputs: Sequence[Any] = invoke(site, call, going, fed, thread=going.thread)
        return outputs if isinstance(outputs, list) else list(outputs)

    def _make_callable(self, original: Callable[..., Any], handler: Any) -> Callable[..., Any]:
        """Callables without feeds run past all that a session's `run` does."""
        def make_callable(session: Any, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Any:
            try:
                made = original(session, fetches, feed_list, accept_options)
            except BaseException as error:
                without_our_frames(error)
                raise
            if feed_list is not None or self._plans is None:
                return made
            asked = handler(session.graph, fetches, {})

            def call(*args: Any, **settings: Any) -> Any:
                plans, graph = self._plans, session.graph
                try:
                    if plans is None or not (hooks.python or hooks.run or hooks.op):
                        return made(*args, **settings)
                    plan = plans.of(graph, asked.fetches(), asked.targets(), ())
                    going = self._begin('Session.run', plan)
                    try:
                        return self._whole(going, lambda: made(*args, **settings))
                    finally:
                        self._end(plan, going)
                except BaseException as error:
                    without_our_frames(error)
                    raise
            return call
        return make_callable

    def _whole(self, going: Run, call: Callable[[], Any]) -> Any:
        """A run that gives its results in the structure of its fetches: they are reported where that is a plain one."""
        given: list[Any] = []

        def proceed() -> list[Any]:
            given[:] = [call()]
            one = given[0]
            flat = list(one) if isinstance(one, (list, tuple)) else [one]
            return flat if len(flat) == len(going.fetches) else []
        self._watched('Session.run', going, proceed, [])
        return given[0]


def ended(run: Run, site: CallSite, outputs: Sequence[Any]) -> None:
    """A Python call of a run has ended."""
    if isinstance(run.control, PendingRun):
        run.control.calls.ended(site, outputs)


def watched_call(inputs: Any) -> tuple[Call | None, Any]:
    """The call that goes on with this list of inputs, of those that one hook watches, and the hook."""
    for hook in (*hooks.python, *hooks.run):
        calls = getattr(hook, 'calls', None)
        if calls is not None and (call := calls.call_of(inputs)) is not None:
            return call, hook
    return None, None


def described_by(name: str) -> Callable[[FrameType], Entrance | None]:
    """A function that finds the watched call of a frame from the inputs in this variable of the frame; frames of `chain`
    tell of other calls."""
    def described(frame: FrameType) -> Entrance | None:
        call, hook = watched_call(frame.f_locals.get(name))
        return Entrance(call.site, call.run, call.inputs, call, (hook,)) if call is not None else None
    return described


def _run_of(original: _DoRun, session: Any, handle: Any, options: Any, metadata: Any, targets: Any, fetches: Any,
            feeds: Any) -> list[Any]:
    """One run of a session, past everything that watches."""
    return original(session, handle, targets, fetches, feeds, options, metadata)


def run_of(going: Sequence[Run], token: str, inputs: Sequence[Any], thread: int) -> Run | None:
    """The run that makes a call; None if several may.

    TensorFlow hands a function its inputs and a device, and nothing of the run. A call is a run's if that waits on this very
    thread, or if no other run can have made it: none that reaches the function, is not paused, and was fed what the call
    was given.

    Args:
        going: Those of the graph that go on, in order of their beginning.
        token: Of the function that is called, as its node has it.
        inputs: Of the call; empty where they are not known.
        thread: Native id of the thread that makes it.
    """
    own = next((run for run in reversed(going) if run.thread == thread), None)
    if own is not None:                         # a thread that waits for a run does nothing for others
        return own
    makers = [run for run in going if _may_make(run, token, inputs)]
    return makers[0] if len(makers) == 1 else None


def _may_make(run: Run, token: str, inputs: Sequence[Any]) -> bool:
    plan = run.form.plan() if isinstance(run.form, PlanKey) else None
    if plan is None:                            # a partial run: what it is asked for changes as it goes on
        return True
    now, control = range(len(plan.nodes)), run.control
    if isinstance(control, RunCursor) and isinstance(control.nodes, SteppedRun):
        now = range(0) if control.paused else control.nodes.running()
    return any(place in now and not _differs(plan, run.feed_values, place, inputs) for place in plan.callers(token))


def _differs(plan: Plan, fed: Sequence[Any], place: int, inputs: Sequence[Any]) -> bool:
    """Whether a node was certainly given something else than these inputs, for the program fed it."""
    op = plan.nodes[place]
    if len(inputs) != len(op.inputs):
        return False
    by_name = dict(zip(plan.feed_names, fed, strict=False))
    return any(tensor.name in by_name and not _may_be(by_name[tensor.name], value)
               for tensor, value in zip(op.inputs, inputs, strict=True))


def _may_be(fed: Any, value: Any) -> bool:
    """Whether a value can be the one that was fed: false only where both are known bit for bit."""
    if hasattr(value, '_numpy_internal'):
        value = value.numpy() if value.dtype.name not in ('resource', 'variant') else None
    if value is None:
        return True
    one, other = np.asarray(fed), np.asarray(value)
    if one.dtype.hasobject or other.dtype.hasobject or one.dtype.kind in 'SU' or other.dtype.kind in 'SU':
        first, second = one.tolist(), other.tolist()
        return bool(_encoded(first) == _encoded(second))
    if one.dtype != other.dtype:                # fed as a handle, or converted
        return True
    return one.shape == other.shape and np.array_equal(_bytes(one), _bytes(other))


def _bytes(array: Any) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _encoded(value: Any) -> Any:
    """Strings as TensorFlow has them."""
    if isinstance(value, list):
        return [_encoded(one) for one in value]
    return value.encode() if isinstance(value, str) else value
