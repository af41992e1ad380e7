"""Dispatch of callbacks: replacements for the functions by which JAX calls a callback.

JAX calls these on the thread that dispatches a program, or on one of XLA's. The exception of a function keeps the traceback
that it would have without us: JAX makes it part of its message.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from threading import get_native_id
from types import FrameType
from typing import Any

from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.call_frames import mark_call_frame, mark_function_caller
from pyfuncdbg.hooks.chain import call_unwatched, hooks, invoke, report_failure
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.result_list import ResultList, output_list
from pyfuncdbg.hosts.interception.traceback_frames import without_own_frames
from pyfuncdbg.hosts.interception.watched_calls import describe_by_inputs
from pyfuncdbg.hosts.jax.callback_fast_path import CallbackFastPath
from pyfuncdbg.hosts.jax.callbacks.callback_errors import CallbackErrors
from pyfuncdbg.hosts.jax.callbacks.sites import CallbackSites
from pyfuncdbg.hosts.jax.jax_parts import JaxParts
from pyfuncdbg.hosts.jax.programs.lowerings import LoweredCallback, LoweredCallbacks
from pyfuncdbg.hosts.jax.programs.user_function import is_breakpoint, user_function
from pyfuncdbg.hosts.jax.runs.collective_limit import CollectiveLimit
from pyfuncdbg.hosts.jax.runs.dispatches import Dispatch, Dispatches, dispatching_frame


@transparent
class CallbackDispatch:
    """Dispatcher between JAX and the functions that it calls.

    Attributes:
        on: Whether JAX is attached; otherwise calls are passed on unwatched.
    """

    def __init__(self, parts: JaxParts, lowered: LoweredCallbacks, sites: CallbackSites, runs: Dispatches,
                 errors: CallbackErrors, limit: CollectiveLimit) -> None:
        self.on = True
        self._limit = limit
        self._parts = parts
        self._lowered = lowered
        self._sites = sites
        self._runs = runs
        self._errors = errors
        self._call_flat: Callable[..., Any] = parts.callback._FlatCallback.__call__
        self._fast_path = CallbackFastPath(self._call_flat, lowered, runs, errors, parts.array.ArrayImpl)
        runs.use_fast_path(self._fast_path)

    def install(self, patches: Patches) -> None:
        """Replace JAX's functions."""
        mark_function_caller(self._call_flat)
        patches.replace(self._parts.callback._FlatCallback, '__call__', self._replace_flat_call())
        primitive = self._parts.debugging.debug_callback_p
        patches.replace(primitive, 'impl', self._replace_debug_call(primitive.impl))

    def _replace_flat_call(self) -> Callable[..., Any]:
        original, fast_path = self._call_flat, self._fast_path

        @mark_call_frame(describe_by_inputs('inputs'))
        def __call__(callback: Any, *flat_args: Any) -> Any:  # noqa: N807
            try:
                if not hooks.python or not self.on:
                    return original(callback, *flat_args)
                inputs, frame = list(flat_args), sys._getframe(1)
                result = fast_path.call(callback, inputs, frame)
                if result is not NotImplemented:
                    return result
                outputs = self._call(callback, partial(_call_flat, original, callback), flat_args, frame)
                return outputs.raw if type(outputs) is ResultList else list(outputs)
            except BaseException as error:
                self._pass_on(error, sys._getframe(1).f_back)
                raise
        return __call__

    def _replace_debug_call(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """The replacement for the call of `debug.callback`: JAX's own converts the arguments first."""
        def impl(*flat_args: Any, callback: Any, **settings: Any) -> Any:
            frame = sys._getframe(1)

            def watched(*args: Any) -> Any:
                try:
                    self._call(callback, partial(_call_debug, callback), args, frame)
                except BaseException as error:
                    self._pass_on(error, frame)
                    raise
                return ()
            try:
                if not hooks.python or not self.on or (user_function(callback) is None and not is_breakpoint(callback)):
                    return original(*flat_args, callback=callback, **settings)
                return original(*flat_args, callback=watched, **settings)
            except BaseException as error:
                error.__traceback__ = without_own_frames(error.__traceback__)
                raise
        return impl

    def _pass_on(self, error: BaseException, closure: FrameType | None) -> None:
        """Note the exception of a function, and take our frames out of it; `closure` is JAX's frame around the call."""
        error.__traceback__ = without_own_frames(error.__traceback__)
        if not self.on:
            return
        self._errors.note(error)
        if closure is None or not self._lowered.is_closure(closure):
            return
        if (lowered := self._lowered.known(closure)) is not None and lowered.site is not None:
            self._limit.on_error(lowered.site.name, lowered.devices)
        caller = dispatching_frame(closure)
        if caller is not None:
            self._errors.await_error(caller)

    def _call(self, callback: Any, call: Callable[..., Sequence[Any]], args: Sequence[Any],
              frame: FrameType) -> Sequence[Any]:
        """Make a call.

        Args:
            callback: JAX's callable.
            call: Calls it.
            args: Its flat arguments.
            frame: Of JAX's code that calls it.
        """
        closure = frame.f_back if hasattr(callback, 'in_tree') else frame
        try:
            located = self._locate(callback, frame, closure)
        except Exception as error:              # a mistake of ours: the call goes on unwatched
            self.on = False
            report_failure('watching callbacks failed and is switched off', error)
            located = None
        if located is None:
            return call(*args)
        site, dispatch = located
        if not isinstance(dispatch, Dispatch):
            return self._invoke(site, call, dispatch, args)
        thread = self._runs.thread
        unfinished, thread.unfinished = thread.unfinished, None
        try:
            return self._invoke(site, call, dispatch.run, args)
        except BaseException:
            dispatch.failed = True
            raise
        finally:
            thread.unfinished = unfinished

    def _locate(self, callback: Any, frame: FrameType, closure: FrameType | None) -> tuple[CallSite, Dispatch | Run] | None:
        """The site of a call, and its run or the dispatch that this is of; None for a function of JAX's own."""
        lowered = self._lowered.called_by(closure, callback)
        if lowered is None or closure is None:
            function = user_function(callback)
            if function is None and not is_breakpoint(callback):
                return None
            op_type = _eager_op_type(frame) if function is not None else 'debug_breakpoint'
            return self._sites.of_eager(op_type, function, callback, frame), self._runs.eager_runs.of_thread()
        if not lowered.is_watched:
            return None
        if lowered.site is not None and hooks.is_ignored(lowered.site) and self._errors.aborted is None:
            return lowered.site, self._runs.eager_runs.of_thread()      # no run need be made
        dispatch = self._runs.run_of_call(lowered, closure)
        return lowered.site or self._sites.of_lowered(lowered, _executable_name(lowered)), dispatch

    def _invoke(self, site: CallSite, call: Callable[..., Sequence[Any]], run: Run, args: Sequence[Any]) -> Sequence[Any]:
        self._errors.raise_abort()
        if hooks.is_ignored(site) and run.aborted is None:
            next(site.counter)
            return call_unwatched(run, call, *args)
        return invoke(site, call, run, list(args), thread=get_native_id())


@transparent
def _call_flat(original: Callable[..., Any], callback: Any, *args: Any) -> Sequence[Any]:
    return output_list(original(callback, *args))


@transparent
@mark_function_caller
def _call_debug(callback: Callable[..., Any], *args: Any) -> Sequence[Any]:
    callback(*args)
    return ()


def _executable_name(lowered: LoweredCallback) -> str:
    return lowered.executable.name if lowered.executable is not None and not lowered.executable.eager else ''


def _eager_op_type(frame: FrameType) -> str:
    """The op that JAX's code in a frame executes."""
    name = frame.f_code.co_name.removesuffix('_impl')
    return name if name in ('pure_callback', 'io_callback') else 'debug_callback'
