# cython: annotation_typing=False, auto_pickle=False
"""Usual calls and runs: where a recorder is the only hook, they are made without what the unusual ones need.

A function of a graph or an eager one, and a run of a session whose plan is known. For all others the answer is
`NotImplemented`, nothing has happened, and `call_dispatch` and `runs` make them. Compiled where there is a compiler. On the
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
from pyfuncdbg.hooks.watched_call import make_call
from pyfuncdbg.hosts.tensorflow.nodes.op_types import EAGER, NUMPY
from pyfuncdbg.hosts.tensorflow.python_calls.sites import MARK, at_place, eager_outputs
from pyfuncdbg.hosts.tensorflow.python_calls.user_function import user_function
from pyfuncdbg.hosts.tensorflow.sessions.session_plan import PLANS

if TYPE_CHECKING:
    from pyfuncdbg.hosts.tensorflow.python_calls.original_errors import Causes
    from pyfuncdbg.hosts.tensorflow.python_calls.refused_results import Refusals
    from pyfuncdbg.hosts.tensorflow.python_calls.sites import Sites
    from pyfuncdbg.hosts.tensorflow.sessions.runs import Runs
    from pyfuncdbg.hosts.tensorflow.tapes.py_function_gradients import PyFunctionGradients

_MOST_PLACES = 4096


class UsualCalls:
    """Dispatcher of usual calls and runs.

    Args:
        refusals: Calls functions as TensorFlow does.
        registry: TensorFlow's registry of functions.
        causes: Knows of an abort on its way.
        runs: The runs that go on.
        sites: Finds the place of an eager call, for the line that is on the stack.
        gradients: Notes eager calls that may have backward steps.
        site_at: Makes a site of a place and the function of an eager `numpy_function`.
        eager_function: TensorFlow's class of eager functions.
    """

    def __init__(self, refusals: Refusals, registry: Any, causes: Causes, runs: Runs, sites: Sites,
                 gradients: PyFunctionGradients, site_at: Callable[[CallSite, Any], CallSite], eager_function: Any) -> None:
        self._original, self._plainly = refusals.call, refusals.plainly
        self._registry = registry
        self._functions: dict[str, Any] = registry._funcs.data      # its `get` is Python code
        self._causes = causes
        self._runs = runs
        self._going = runs._going
        self._run_site = runs._sites['Session.run']
        self._thread = runs._thread
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
        if entry.usual is None:
            return NotImplemented
        site, root, last = entry.usual
        going = self._going.get(root)
        if going is not None and len(going) > 1:
            return NotImplemented               # which of them it is takes a look
        run = going[-1] if going else self._runs.graphs
        if run.control is not None:
            return NotImplemented
        return make_call(site, run, args, get_native_id(), watcher, last, self._original, (registry, token, device, args))

    def _call_eagerly(self, watcher: Any, registered: Any, token: str, device: Any, args: list[Any]) -> Any:
        """Make one eager call of a `py_function`, which TensorFlow registers for this call alone."""
        if type(registered) is not self._eager_function or registered._is_grad_func:
            return NotImplemented
        run, function = getattr(self._thread, 'run', None), user_function(registered)
        if run is None or type(function) is not FunctionType:       # others may have no hash
            return NotImplemented
        caller = self._sites.eager_caller(_dispatching())
        if caller is None:
            return NotImplemented
        name = caller.f_locals.get('name') or EAGER
        if type(name) is not str:
            return NotImplemented
        place = self._place(EAGER, name, function, eager_outputs(registered), caller)
        site = at_place(place, self._sites.again_eagerly(registered), function)
        return make_call(site, run, args, get_native_id(), watcher, self._gradients.expect(token, site), self._original,
                         (self._registry, token, device, args))

    def _place(self, kind: str, name: str, function: Any, declared: tuple[Any, ...], frame: FrameType) -> CallSite:
        """The place of an eager call in the line of the program that `frame` was called from."""
        if type(function) is not FunctionType:  # others may have no hash
            return self._sites.eager_place(name, kind, function, declared)
        line: FrameType | None = frame
        while line is not None:                 # as `outside_machinery`, which is another function to call
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

    def call_plainly(self, function: Any, name: Any, declared: tuple[Any, ...], inputs: list[Any],
                     arrays: tuple[Any, ...]) -> Any:
        """Make one eager call of a `numpy_function`, by a frame of the dispatch; `inputs` are its arrays too."""
        if self._causes.aborted is not None:
            return NotImplemented
        watcher, run = hooks.fast_watcher['python'], getattr(self._thread, 'run', None)
        if watcher is None or run is None or (name is not None and type(name) is not str):
            return NotImplemented
        try:
            hash(declared)
        except TypeError:                       # a nested Tout, which TensorFlow does not look at
            return NotImplemented
        place = self._place(NUMPY, name or NUMPY, function, declared, sys._getframe())
        return make_call(self._site_at(place, function), run, inputs, get_native_id(), watcher, None, self._plainly,
                         (function, *arrays))

    def run(self, original: Callable[..., Any], session: Any, handle: Any, targets: Sequence[Any], fetches: Sequence[Any],
            feeds: Any, options: Any, metadata: Any, fed: list[Any]) -> Any:
        """Make one run of a session.

        Args:
            original: `BaseSession._do_run`, which takes the arguments that follow, but the last.
            session, handle, targets, fetches, feeds, options, metadata: As there.
            fed: The values that are fed.
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
        going, thread, site = plan.going, get_native_id(), self._run_site
        run = Run('Session.run', site.host, perf_counter_ns(), sites=plan.announce, feeds=plan.feed_names,
                  fetches=plan.fetch_names)
        run.feed_values, run.form, run.thread = fed, plan.form, thread
        going.append(run)
        try:
            return make_call(site, run, fed, thread, watcher, None, original,
                             (session, handle, targets, fetches, feeds, options, metadata))
        finally:
            going.remove(run)
            run.feed_values = ()


def _dispatching() -> FrameType:
    """The frame of `call_dispatch`; what is compiled has none."""
    frame = sys._getframe()
    while frame.f_globals is globals() and frame.f_back is not None:
        frame = frame.f_back
    return frame
