# cython: annotation_typing=False, auto_pickle=False
"""Attribution of calls to runs: a run is one dispatch of a compiled program that calls Python.

A dispatch by Python code of JAX is seen from its beginning, one from C++ at its end or at its first call. Calls come on the
thread that dispatches, or later on one of XLA's: then they belong to the oldest run of their executable whose results are
not ready. Compiled where there is a compiler: much of it runs once a call.
"""
from __future__ import annotations

import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from types import FrameType
from typing import Any

from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks.call import Run
from pyfuncdbg.hooks.chain import hooks, invoke, invoke_afterwards, report_failure
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hooks.watched_call import make_call
from pyfuncdbg.hosts.interception.eager_runs import EagerRuns
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.traceback_frames import without_trace
from pyfuncdbg.hosts.jax.host import JaxHost
from pyfuncdbg.hosts.jax.jax_parts import JaxParts
from pyfuncdbg.hosts.jax.programs.executables import Executable, Executables, Observing
from pyfuncdbg.hosts.jax.programs.lowerings import LoweredCallback
from pyfuncdbg.hosts.jax.runs.eager_dispatches import EagerDispatches
from pyfuncdbg.hosts.jax.runs.post_hook import PostHook
from pyfuncdbg.hosts.jax.runs.traced_arguments import traced_arguments

_MOST_OPEN, _MOST_DROPPED = 1 << 12, 32
_HELD = 1 << 10
"""Elements of a result that is kept until it is computed: it tells when its dispatch is over, if the program drops it."""


class Dispatch:
    """One execution of an executable.

    Attributes:
        run: Its run.
        calls: Number of its calls, by callback.
        steps: Numbers of the gradient calls of its backward steps, by op.
        failed: Whether one of its calls has raised.
        caller: Frame and instruction that dispatched it from C++, as far as it is known by that.
        begun_by_call: Whether one of its calls came on a thread of XLA's before the end of its dispatch was seen.
    """

    __slots__ = ('_held', '_is_computed', '_results', 'begun_by_call', 'caller', 'calls', 'executable', 'failed', 'run',
                 'steps')

    def __init__(self, executable: Executable | None, run: Run) -> None:
        self.executable = executable
        self.run = run
        self.calls: dict[LoweredCallback | Observing, int] = {}
        self.steps: dict[Any, int] = {}
        self.failed = self.begun_by_call = False
        self.caller: tuple[int, int] = 0, 0
        self._results: list[weakref.ref[Any]] | None = None
        self._held: Any = None
        self._is_computed = False

    def expect(self, results: Sequence[Any], array: type) -> None:
        """Note the results, which may not be computed yet; none but a small one is kept alive until then."""
        arrays: list[Any] = [result for result in results if isinstance(result, array)]
        self._results = [weakref.ref(result) for result in arrays]
        if not self.over:
            self._held = next((result for result in arrays if result.size <= _HELD and not result.is_deleted()), None)

    def has_room_for(self, lowered: LoweredCallback | Observing) -> bool:
        """Whether it can make one more call of a callback."""
        return lowered.times is None or self.calls.get(lowered, 0) < lowered.times

    def count_inline(self, lowered: LoweredCallback) -> None:
        """Count a call on the thread of the dispatch."""
        self.calls[lowered] = self.calls.get(lowered, 0) + 1
        lowered.inline += 1

    @property
    def over(self) -> bool:
        """Whether it makes no more calls: its results are computed, or the program has none and all calls were made."""
        if self._results is None or self._is_computed:
            return self._is_computed
        held = self._held                       # read once: several threads ask
        if held is not None and not held.is_deleted():
            if held.is_ready():
                self._is_computed, self._held = True, None
            return self._is_computed
        arrays = self._live_results()
        return all(array.is_ready() for array in arrays) if arrays else self._made_all()

    @property
    def is_dropped(self) -> bool:
        """Whether the program has none of its results any more, so that nothing tells when it is over."""
        return self._results is not None and not self._live_results()

    def _live_results(self) -> list[Any]:
        return [array for result in self._results or () if (array := result()) is not None and not array.is_deleted()]

    def _made_all(self) -> bool:
        executable = self.executable
        if executable is None:
            return False
        # Results that no longer exist were mostly read by the program: then they were computed.
        may_vary = bool(self._results)
        makers: list[LoweredCallback | Observing] = [*executable.callbacks, *executable.observers]
        return all(may_vary if maker.times is None else self.calls.get(maker, 0) >= maker.times for maker in makers)


class _Thread(threading.local):
    """Dispatches of one thread: those in progress, one from C++ that has called, how many Python made.

    While a function is called that one is none here: it may dispatch others. `is_adopted`: its post hook is ours.
    """

    def __init__(self) -> None:
        self.active: list[Dispatch] = []
        self.unfinished: Dispatch | None = None
        self.count = 0
        self.is_adopted = False
        self.native_id = threading.get_native_id()      # a system call, so once a thread


class Dispatches:
    """The runs of JAX that are not over.

    Attributes:
        eager_ops: Sees each dispatch while a hook wants ops; None before the attachment is complete.
        executables: The compiled programs that call Python.
        eager_runs: Those of the program's own code.
        thread: Those of this thread.
        fast_path: Ends the usual run; None before the attachment is complete.
    """

    def __init__(self, parts: JaxParts, host: JaxHost, executables: Executables) -> None:
        self._parts = parts
        self._host = host
        self.executables = executables
        self.thread = _Thread()
        self._open: dict[Executable | None, deque[Dispatch]] = {}
        self._lock = new_rlock()                # a finalizer of the program's may dispatch while this thread has it
        self._array: type = parts.array.ArrayImpl
        self.eager_runs = EagerRuns(host)
        self.fast_path: Any = None
        self.eager_ops: EagerDispatches | None = None
        self._post_hook = PostHook(parts, self.on_dispatched)

    def use_fast_path(self, fast_path: Any) -> None:
        """Let a fast path end the usual run; it calls `on_dispatched` for others."""
        self.fast_path = fast_path
        self._post_hook.on_dispatched = fast_path.on_dispatched

    def examine(self, on_called: Callable[[Any], None]) -> None:
        """Let an examination see the function of each dispatch from C++, too."""
        react = self._post_hook.on_dispatched

        def on_dispatched(function: Any, args: Any, settings: Any, results: Any) -> None:
            on_called(function)
            react(function, args, settings, results)
        self._post_hook.on_dispatched = on_dispatched

    def install(self, patches: Patches) -> None:
        """Replace the function by which Python code dispatches, and await dispatches from C++, while a hook is installed."""
        kind = self._parts.execution.ExecuteReplicated
        patches.wrap(kind, '__call__', lambda call: without_trace(self._replace_call(call)))
        patches.wrap(self._parts.jit, 'impl', lambda impl: without_trace(self._replace_impl(impl)))
        self._post_hook.install(patches)

    def remove(self) -> None:
        """Await no more dispatches."""
        self._post_hook.remove()
        self._open.clear()

    # ------------------------------------------------------------------ dispatches
    def _replace_call(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def __call__(unsafe_call: Any, *args: Any) -> Any:  # noqa: N807
            if not unsafe_call.has_host_callbacks or not (hooks.python or hooks.run or hooks.op):
                return original(unsafe_call, *args)
            if not self.thread.is_adopted:
                self.thread.is_adopted = self._post_hook.adopt_thread()
            entry = self.executables.by_call.get(id(unsafe_call))
            executable = entry[1] if entry is not None else self.executables.called_as(unsafe_call)
            if executable is None or (executable.eager and not executable.observers):
                return original(unsafe_call, *args)
            if executable.ignored_at is hooks.stamp or executable.is_ignored:
                if hooks.run:
                    next(executable.site.counter)
                return original(unsafe_call, *args)
            return self._dispatch(executable, original, unsafe_call, args)
        return __call__

    def _replace_impl(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """The replacement for the execution of a `jit` function by an op, as in `vmap` of one: C++ calls no hook then."""
        def impl(*args: Any, **settings: Any) -> Any:
            if not (hooks.python or hooks.run or hooks.op):
                return original(*args, **settings)
            thread = self.thread
            if not thread.is_adopted:
                thread.is_adopted = self._post_hook.adopt_thread()
            count, outer, thread.unfinished = thread.count, thread.unfinished, None
            try:
                results = original(*args, **settings)
                if thread.count == count:
                    self._end_dispatch(self.executables.compiled_from(settings.get('jaxpr')), args, results)
                if hooks.op and self.eager_ops is not None:
                    self.eager_ops.on_executed(settings['jaxpr'], settings.get('name', ''), args, results, sys._getframe())
            finally:
                thread.unfinished = outer
            return results
        return impl

    def _dispatch(self, executable: Executable, original: Callable[..., Any], unsafe_call: Any, args: Sequence[Any]) -> Any:
        dispatch = self._begin(executable) if not executable.eager else Dispatch(executable, self.eager_runs.of_thread())
        thread = self.thread
        thread.count += 1
        active = thread.active
        active.append(dispatch)
        with self._lock:                        # XLA's threads may call before this one goes on
            self._waiting(executable).append(dispatch)
        try:
            results = self._make_run(executable, original, dispatch.run, unsafe_call, args)
        except BaseException:
            dispatch.expect((), self._array)
            raise
        finally:
            active.remove(dispatch)
        dispatch.expect(results, self._array)
        return results

    def _make_run(self, executable: Executable, original: Callable[..., Any], run: Run, unsafe_call: Any,
                  args: Sequence[Any]) -> Any:
        """Make a run's own call, if a hook sees runs."""
        if not hooks.run or executable.eager:
            return original(unsafe_call, *args)
        named, watcher = _named(args, executable.arguments), hooks.fast_watcher['run']
        if watcher is not None:
            results = make_call(executable.site, run, named, self.thread.native_id, watcher, None, original,
                                (unsafe_call, *args))
            if results is not NotImplemented:
                return results
        first = args[:len(args) - len(named)]       # constants of the program, which are not shown
        return invoke(executable.site, lambda *values: original(unsafe_call, *first, *values), run, named)

    def _begin(self, executable: Executable | None, label: str = '') -> Dispatch:
        run = Run(label or (executable.name if executable is not None else 'jit'), self._host, perf_counter_ns(),
                  sites=executable.sites if executable is not None else None,
                  feeds=executable.arguments if executable is not None else (),
                  fetches=executable.results if executable is not None else (), kind='function')
        run.form = executable.form if executable is not None else None
        return Dispatch(executable, run)

    def _waiting(self, executable: Executable | None) -> deque[Dispatch]:
        """The dispatches of an executable that may have later calls, oldest first. Under the lock."""
        dispatches = self._open.setdefault(executable, deque(maxlen=_MOST_OPEN))
        while dispatches and (dispatches[0].over or (len(dispatches) > _MOST_DROPPED and dispatches[0].is_dropped)):
            dispatches.popleft()
        return dispatches

    def on_dispatched(self, function: Any, args: Any, settings: Any, results: Any) -> None:
        """React to a dispatch from C++ that has returned.

        Args:
            function, args, settings, results: As JAX's post hook gets them.
        """
        if hooks.op and self.eager_ops is not None:
            self.eager_ops.on_called(function, args, settings, results, sys._getframe())
        try:
            candidates = self.executables.compiled_from(getattr(function, '_fun', None))
            unfinished = self.thread.unfinished
            if unfinished is not None:
                if unfinished.executable not in candidates if candidates else unfinished.failed:
                    self.thread.unfinished = None       # it has ended with an error, and this is another one
                elif self.fast_path is not None and self.fast_path.end_run(args, settings, results):
                    return
            if self.thread.unfinished is not None or any(not candidate.is_ignored for candidate in candidates):
                leaves = self._parts.tree.tree_leaves
                self._end_dispatch(candidates, leaves(traced_arguments(function, args, settings)), leaves(results))
        except RunAborted:
            raise
        except Exception as error:              # of a container of the program's, which JAX has flattened before
            report_failure('the end of a run of JAX is not known', error)

    def _end_dispatch(self, candidates: Sequence[Executable], args: Sequence[Any], results: Sequence[Any]) -> None:
        """End a dispatch from C++: that of the calls since the last one on this thread, or one that has none yet."""
        dispatch, self.thread.unfinished = self.thread.unfinished, None
        if dispatch is None:
            executable = next((executable for executable in candidates if not executable.eager), None)
            if executable is None or executable.is_ignored:
                return
            with self._lock:                    # XLA's threads may call now
                waiting = self._waiting(executable)
                dispatch = next((other for other in list(waiting) if other.begun_by_call), None)
                if dispatch is None:
                    dispatch = self._begin(executable)
                    waiting.append(dispatch)
                dispatch.begun_by_call = False
                dispatch.expect(results, self._array)
        else:
            self.end_inline(dispatch, results)
        if hooks.run and dispatch.executable is not None:
            invoke_afterwards(dispatch.executable.site, dispatch.run, _named(args, dispatch.executable.arguments), results)

    def end_inline(self, dispatch: Dispatch, results: Sequence[Any]) -> None:
        """End a dispatch from C++ whose calls this thread has made, as far as they were made."""
        dispatch.expect(results, self._array)
        if not dispatch.over:
            with self._lock:
                self._waiting(dispatch.executable).append(dispatch)

    # ------------------------------------------------------------------ calls
    def run_of_call(self, lowered: LoweredCallback, closure: FrameType) -> Dispatch | Run:
        """The run of a call of a compiled program, on its thread.

        Args:
            lowered: The callback.
            closure: The frame of JAX's closure that makes the call.
        """
        executable = self.executables.with_callback(lowered)
        if executable is not None and executable.eager:
            return self.eager_runs.of_thread()
        dispatch = self.inline_dispatch(executable, lowered, closure)
        if dispatch is not None:
            dispatch.count_inline(lowered)
            return dispatch
        return self._oldest(executable, lowered)

    def inline_dispatch(self, executable: Executable | None, lowered: LoweredCallback,
                        closure: FrameType) -> Dispatch | None:
        """The dispatch of this thread that makes a call, which is not counted yet; None if XLA's thread makes it.

        Args:
            executable, lowered: The callback and what it is part of.
            closure: The frame of JAX's closure that makes the call.
        """
        active = self.thread.active
        if active and active[-1].executable is executable:
            return active[-1]
        caller = dispatching_frame(closure)
        return self._begun_by_cpp(executable, lowered, caller) if caller is not None else None

    def run_of_op(self, observer: Observing) -> Dispatch | None:
        """The run of an observed op of a compiled program; None if that is not known."""
        executable = self.executables.with_observer(observer)
        if executable is None:
            return None
        active = self.thread.active
        if not active or active[-1].executable is not executable:
            return self._oldest(executable, observer)
        dispatch = active[-1]
        dispatch.calls[observer] = dispatch.calls.get(observer, 0) + 1
        return dispatch

    def _begun_by_cpp(self, executable: Executable | None, lowered: LoweredCallback, caller: FrameType) -> Dispatch:
        """The dispatch from C++ that is in progress on this thread."""
        place = id(caller), caller.f_lasti
        dispatch = self.thread.unfinished
        if dispatch is None or dispatch.executable is not executable or dispatch.failed or dispatch.caller != place or (
                not dispatch.has_room_for(lowered)):
            dispatch = self.thread.unfinished = self._begin(executable)
            dispatch.caller = place
        return dispatch

    def _oldest(self, executable: Executable | None, lowered: LoweredCallback | Observing) -> Dispatch:
        """The oldest dispatch that can make a call, which is counted, on a thread of XLA's."""
        with self._lock:
            waiting = self._waiting(executable)
            dispatch = next((other for other in list(waiting) if other.has_room_for(lowered) and not other.over), None)
            if dispatch is None:
                dispatch = self._begin(executable)
                dispatch.begun_by_call = True
                waiting.append(dispatch)
            dispatch.calls[lowered] = dispatch.calls.get(lowered, 0) + 1
            return dispatch


def _named(args: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """The last of the arguments, as many as have names; none where there are fewer: which is which is not known then."""
    return list(args[len(args) - len(names):]) if names and len(args) >= len(names) else []


def dispatching_frame(closure: FrameType) -> FrameType | None:
    """The frame whose code dispatched the executable that makes a call on its thread; None on a thread of XLA's."""
    frame: FrameType | None = closure.f_back
    while frame is not None and frame.f_code.co_name == '_wrapped_callback':
        frame = frame.f_back
    return frame


transparent(Dispatches)                         # where it is not compiled, which would take no decorator
