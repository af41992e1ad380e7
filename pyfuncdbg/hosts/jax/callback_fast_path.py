# cython: annotation_typing=False, auto_pickle=False
"""Fast path of callbacks and runs whose only hook is a recorder, or that no hook wants.

Takes `pure_callback` and `io_callback` in a compiled program that the thread itself dispatches, and the end of such a
dispatch from C++. For all others `callback_dispatch` and `dispatches` do it: then nothing has happened. Compiled where
there is a compiler. On the thread of the call.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from pyfuncdbg.hooks.chain import call_unwatched
from pyfuncdbg.hooks.installed_hooks import hooks
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hooks.watched_call import make_call, make_ended_call
from pyfuncdbg.hosts.jax.programs.executables import Executable

if TYPE_CHECKING:
    from pyfuncdbg.hosts.jax.callbacks.callback_errors import CallbackErrors
    from pyfuncdbg.hosts.jax.programs.lowerings import LoweredCallbacks
    from pyfuncdbg.hosts.jax.runs.dispatches import Dispatches

_MOST_IGNORED = 1 << 12


class CallbackFastPath:
    """Maker of the usual call of a callback, and of the usual run.

    Args:
        call_flat: JAX's own call of a callback with flat arguments.
        lowered: The callbacks of compiled programs.
        runs: Attributes a call to its run.
        errors: Holds the abort that is under way.
        array: JAX's class of arrays.
    """

    def __init__(self, call_flat: Callable[..., Any], lowered: LoweredCallbacks, runs: Dispatches, errors: CallbackErrors,
                 array: type) -> None:
        self._call_flat = call_flat
        self._by_params = lowered._by_params
        self._by_callback = lowered._by_callback
        self._codes = lowered._codes
        self._by_function = runs.executables.by_function
        self._ignored: dict[int, tuple[Any, int]] = {}
        self._runs = runs
        self._eager = runs.eager_runs
        self._thread = runs.thread
        self._errors = errors
        self._array = array

    def call(self, callback: Any, inputs: list[Any], frame: FrameType) -> Any:
        """Make one call of a callback.

        Args:
            callback: JAX's callable of flat arguments.
            inputs: Its arguments.
            frame: Of JAX's code that calls it.

        Returns:
            What it returns; `NotImplemented` where nothing has happened.
        """
        watcher, closure = hooks.fast_watcher['python'], frame.f_back
        if closure is None or closure.f_code not in self._codes or self._errors.aborted is not None:
            return NotImplemented
        same = self._by_callback.get(id(callback))
        lowered = (same[0] if same is not None and len(same) == 1
                   else self._by_params.get(id(closure.f_locals.get('params'))))
        if lowered is None or lowered.site is None:
            return NotImplemented
        if hooks.is_ignored(lowered.site):      # no run need be made
            next(lowered.site.counter)
            run = getattr(self._eager.thread, 'run', None)
            return call_unwatched(self._eager.of_thread() if run is None else run, self._call_flat, callback, *inputs)
        if watcher is None:
            return NotImplemented
        executable = lowered.executable
        if type(executable) is not Executable or executable.eager:
            return NotImplemented
        dispatch = self._runs.inline_dispatch(executable, lowered, closure)
        if dispatch is None or dispatch.run.aborted is not None:
            return NotImplemented
        thread = self._thread
        unfinished, thread.unfinished = thread.unfinished, None
        try:
            result = make_call(lowered.site, dispatch.run, inputs, thread.native_id, watcher, None, self._call_flat,
                               (callback, *inputs))
        except BaseException:
            dispatch.failed = True
            raise
        finally:
            thread.unfinished = unfinished
        if result is not NotImplemented:
            dispatch.count_inline(lowered)
        return result

    def on_dispatched(self, function: Any, args: Any, settings: Any, results: Any) -> None:
        """React to a dispatch from C++: JAX's post hook, on the thread of the dispatch.

        Args:
            function, args, settings, results: As JAX gives them.
        """
        if not hooks.op:
            key, unfinished, stamp = id(getattr(function, '_fun', None)), self._thread.unfinished, hooks.stamp
            entry = self._by_function.get(key)
            if unfinished is not None:
                if entry is not None and unfinished.executable in entry[1] and self.end_run(args, settings, results):
                    return
            elif entry is None:                 # it calls no Python
                return
            elif self._is_ignored(key, stamp, entry[1]):
                if hooks.run:
                    next(entry[1][0].site.counter)
                return
        self._runs.on_dispatched(function, args, settings, results)

    def _is_ignored(self, key: int, stamp: object, executables: Sequence[Executable]) -> bool:
        """Whether no hook is interested in the runs of a function and their calls."""
        ignored = self._ignored.get(key)
        if ignored is not None and ignored[0] is stamp and ignored[1] == len(executables):
            return True
        if not all(executable.is_ignored for executable in executables):
            return False
        if len(self._ignored) >= _MOST_IGNORED:
            self._ignored.clear()
        self._ignored[key] = stamp, len(executables)
        return True

    def end_run(self, args: Sequence[Any], settings: Mapping[str, Any], results: Any) -> bool:
        """End the dispatch from C++ whose calls this thread has made.

        Args:
            args, settings: The arguments of the compiled function.
            results: What it has returned.

        Returns:
            False where nothing has happened.
        """
        watcher, thread = hooks.fast_watcher['run'], self._thread
        dispatch = thread.unfinished
        if watcher is None or dispatch is None or settings or type(results) is not self._array:
            return False
        for value in args:                      # none of these is a static argument: arrays cannot be hashed
            if type(value) is not self._array:
                return False
        run, executable = dispatch.run, dispatch.executable
        names = run.feeds
        if executable is None or run.aborted is not None or len(names) != len(args):
            return False
        thread.unfinished = None
        outputs = (results,)
        self._runs.end_inline(dispatch, outputs)
        make_ended_call(executable.site, run, list(args), outputs, thread.native_id, watcher)
        return True


transparent(CallbackFastPath)                   # where it is not compiled, which would take no decorator
