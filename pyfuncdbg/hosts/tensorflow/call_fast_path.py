# cython: annotation_typing=False, auto_pickle=False
"""Fast path of calls and runs whose only hook is a recorder.

Takes functions of graphs, eager functions, and session runs with a known plan. For all others the answer is
`NotImplemented`: nothing has happened, and `call_dispatch` and `runs` make them. Compiled where there is a compiler. On the
thread of the call.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from threading import get_native_id
from time import perf_counter_ns
from types import FrameType, FunctionType
from typing import TYPE_CHECKING, Any

from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.installed_hooks import hooks
from pyfuncdbg.hooks.own_files import is_machinery, machinery_by_file
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hooks.watched_call import make_call
from pyfuncdbg.hosts.tensorflow.nodes.op_types import EAGER, NUMPY
from pyfuncdbg.hosts.tensorflow.python_calls.sites import MARK, eager_outputs, site_at_place
from pyfuncdbg.hosts.tensorflow.python_calls.user_function import user_function
from pyfuncdbg.hosts.tensorflow.sessions.session_plan import PLANS

if TYPE_CHECKING:
    from pyfuncdbg.hosts.tensorflow.python_calls.original_errors import ErrorCauses
    from pyfuncdbg.hosts.tensorflow.python_calls.refused_results import ResultChecker
    from pyfuncdbg.hosts.tensorflow.python_calls.sites import Sites
    from pyfuncdbg.hosts.tensorflow.sessions.runs import Runs
    from pyfuncdbg.hosts.tensorflow.tapes.py_function_gradients import PyFunctionGradients

_MOST_PLACES = 4096


class CallFastPath:
    """Dispatcher of calls and runs whose only hook is a recorder.

    Args:
        refusals: Calls functions as TensorFlow does.
        registry: TensorFlow's registry of functions.
        causes: Holds the abort that is under way.
        runs: The active runs.
        sites: Finds the place of an eager call, from the program's line on the stack.
        gradients: Keeps the eager calls that may have backward steps.
        site_at: Makes a site of a place and the function of an eager `numpy_function`.
        eager_function: TensorFlow's class of eager functions.
    """

    def __init__(self, refusals: ResultChecker, registry: Any, causes: ErrorCauses, runs: Runs, sites: Sites,
                 gradients: PyFunctionGradients, site_at: Callable[[CallSite, Any], CallSite], eager_function: Any) -> None:
        self._original, self._call_function = refusals.call, refusals.call_numpy_function
        self._registry = registry
        self._functions: dict[str, Any] = registry._funcs.data      # its `get` is Python code
        self._causes = causes
        self._runs = runs
        self._active_runs = runs._active_runs
        self._run_site = runs._sites['Session.run']
        self._thread = runs.eager_runs.thread
        self._sites, self._gradients, self._site_at = sites, gradients, site_at
        self._eager_function = eager_function
        self._places: dict[tuple[Any, ...], CallSite] = {}

    def call(self, registry: Any, token: str, device: Any, args: Any) -> Any:
        """Make one call of a registered function."""
        if registry is not self._registry or type(args) is not list or self._causes.aborted is not None:
            return NotImplemented
        watcher = hooks.fast_watcher['python']
        reference = self._functions.get(token)
        if watcher is None or reference is None:
            return NotImplemented
        registered = reference()
        entry = getattr(registered, MARK, None)
        if entry is None:
            return self._call_eagerly(watcher, registered, token, device, args)
        if entry.fast_path is None:
            return NotImplemented
        site, root, last_call = entry.fast_path
        active_runs = self._active_runs.get(root)
        if active_runs is not None and len(active_runs) > 1:
            return NotImplemented               # to find the right one takes longer
        run = active_runs[-1] if active_runs else self._runs.graphs
        if run.control is not None:
            return NotImplemented
        return make_call(site, run, args, get_native_id(), watcher, last_call, self._original,
                         (registry, token, device, args))

    def _call_eagerly(self, watcher: Any, registered: Any, token: str, device: Any, args: list[Any]) -> Any:
        """Make one eager call of a `py_function`, which TensorFlow registers for this call alone."""
        if type(registered) is not self._eager_function or registered._is_grad_func:
            return NotImplemented
        run, function = getattr(self._thread, 'run', None), user_function(registered)
        if run is None or type(function) is not FunctionType:       # others may be unhashable
            return NotImplemented
        caller = self._sites.eager_caller(_dispatch_frame())
        if caller is None:
            return NotImplemented
        name = caller.f_locals.get('name') or EAGER
        if type(name) is not str:
            return NotImplemented
        place = self._place(EAGER, name, function, eager_outputs(registered), caller)
        site = site_at_place(place, self._sites.eager_repeater(registered), function)
        return make_call(site, run, args, get_native_id(), watcher, self._gradients.expect_step(token, site), self._original,
                         (self._registry, token, device, args))

    def _place(self, kind: str, name: str, function: Any, declared: tuple[Any, ...], frame: FrameType) -> CallSite:
        """The place of an eager call on the line of the program that `frame` was called from."""
        if type(function) is not FunctionType:  # others may be unhashable
            return self._sites.eager_place(name, kind, function, declared)
        line: FrameType | None = frame
        while line is not None:                 # as `outside_machinery`, without another call
            ours = machinery_by_file.get(line.f_code.co_filename)
            if not (is_machinery(line.f_code.co_filename) if ours is None else ours):
                break
            line = line.f_back
        code = function.__code__                # code of other files may be equal
        key = (kind, code, code.co_filename, name, declared) if line is None else (
            kind, code, code.co_filename, name, declared, line.f_code, line.f_code.co_filename, line.f_lasti)
        place = self._places.get(key)
        if place is None:
            place = self._sites.eager_place(name, kind, function, declared)
            if len(self._places) < _MOST_PLACES:
                self._places[key] = place
        return place

    def call_numpy_function(self, function: Any, name: Any, declared: tuple[Any, ...], inputs: list[Any],
                            arrays: tuple[Any, ...]) -> Any:
        """Make one eager `numpy_function` call, asked by a frame of the dispatch; `inputs` are its arrays, too."""
        if self._causes.aborted is not None:
            return NotImplemented
        watcher, run = hooks.fast_watcher['python'], getattr(self._thread, 'run', None)
        if watcher is None or run is None or (name is not None and type(name) is not str):
            return NotImplemented
        try:
            hash(declared)
        except TypeError:                       # a nested Tout, which TensorFlow does not check
            return NotImplemented
        place = self._place(NUMPY, name or NUMPY, function, declared, sys._getframe())
        return make_call(self._site_at(place, function), run, inputs, get_native_id(), watcher, None, self._call_function,
                         (function, *arrays))

    def run(self, original: Callable[..., Any], session: Any, handle: Any, targets: Sequence[Any], fetches: Sequence[Any],
            feeds: Any, options: Any, metadata: Any, values: list[Any]) -> Any:
        """Make one run of a session.

        Args:
            original: `BaseSession._do_run`, which takes the arguments that follow, except the last.
            session, handle, targets, fetches, feeds, options, metadata: As there.
            values: The fed values.
        """
        watcher = hooks.fast_watcher['run'] if handle is None else None
        if watcher is None:
            return NotImplemented
        plans = getattr(getattr(session, '_graph', None), PLANS, None)      # its `graph` is Python code
        if plans is None:
            return NotImplemented
        key: list[Any] = [id(thing) for thing in fetches]
        key.append(None)
        key += [id(thing) for thing in targets]
        key.append(None)
        key += [id(getattr(reference, '_wrapped', None)) for reference in feeds]    # as is `deref`
        plan = plans.get(tuple(key))
        if plan is None:
            return NotImplemented
        active_runs, thread, site = plan.active_runs, get_native_id(), self._run_site
        run = Run('Session.run', site.host, perf_counter_ns(), sites=plan.list_sites, feeds=plan.feed_names,
                  fetches=plan.fetch_names)
        run.feed_values, run.form, run.thread = values, plan.form, thread
        active_runs.append(run)
        try:
            return make_call(site, run, values, thread, watcher, None, original,
                             (session, handle, targets, fetches, feeds, options, metadata))
        finally:
            active_runs.remove(run)
            run.feed_values = ()


def _dispatch_frame() -> FrameType:
    """The frame of `call_dispatch`; compiled code has no frame."""
    frame = sys._getframe()
    while frame.f_globals is globals() and frame.f_back is not None:
        frame = frame.f_back
    return frame


transparent(CallFastPath)                       # where it is not compiled, which would take no decorator
