"""Eager functions under `tf.custom_gradient` as Python calls, so that `check` can call them again.

Replaces TensorFlow's function that calls them; on the program's thread.
"""
from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from types import FunctionType
from typing import Any

from pyfuncdbg.hooks.chain import current_call, hooks, invoke
from pyfuncdbg.hooks.own_files import is_library, is_machinery
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.result_list import ResultList, result_list
from pyfuncdbg.hosts.interception.traceback_frames import drop_outermost_frame
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.python_calls.sites import Sites
from pyfuncdbg.hosts.tensorflow.sessions.runs import Runs
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

CUSTOM = 'CustomGradient'


@transparent
class CustomGradients:
    """Dispatcher that reports functions under `tf.custom_gradient` as Python calls."""

    def __init__(self, parts: TensorFlowParts, host: TensorFlowHost, sites: Sites, runs: Runs) -> None:
        self.on = True
        self._parts = parts
        self._host = host
        self._sites = sites
        self._runs = runs
        self._thread = threading.local()

    def install(self, patches: Patches) -> None:
        """Replace TensorFlow's function."""
        patches.replace(self._parts.custom, '_eager_mode_decorator',
                        self._replace_decorator(self._parts.custom._eager_mode_decorator))

    @property
    def recorded_call(self) -> tuple[int, str]:
        """The call whose gradient TensorFlow is about to record on this thread, and its name; (0, '') without one."""
        return getattr(self._thread, 'call', (0, ''))

    def _replace_decorator(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def _eager_mode_decorator(f: Any, args: Any, kwargs: Any) -> Any:
            try:
                if not self.on or not hooks.python or not _is_users(f):
                    return original(f, args, kwargs)
                outer = self.recorded_call
                try:
                    return original(self._watch_function(f), args, kwargs)
                finally:
                    self._thread.call = outer
            except BaseException as error:
                drop_outermost_frame(error)
                raise
        return _eager_mode_decorator

    def _watch_function(self, f: Any) -> Any:
        """The function, seen by hooks that want Python calls."""
        @functools.wraps(f)
        def called(*args: Any, **kwargs: Any) -> Any:
            site = self._sites.eager_site(f.__name__, CUSTOM, f, functools.partial(self._call_again, kwargs))
            rule: Any = None
            number = 0

            def forward(*inputs: Any) -> Sequence[Any]:
                nonlocal rule, number
                number = current_call(site)
                result, rule = f(*inputs, **kwargs)
                return result_list(result)

            outputs = invoke(site, forward, self._runs.eager_run(), list(args))
            self._thread.call = number, f.__name__
            return (outputs.raw if isinstance(outputs, ResultList) else outputs[0] if len(outputs) == 1 else outputs), rule
        return called

    def _call_again(self, kwargs: dict[str, Any], f: Any, inputs: list[Any]) -> Sequence[Any]:
        eager = nullcontext() if self._parts.context.executing_eagerly() else self._parts.context.eager_mode()
        with eager, self._parts.record.stop_recording():
            result, _ = f(*[self._host.tensor(value) for value in inputs], **kwargs)
        return result if isinstance(result, (list, tuple)) else [result]


def _is_users(f: Any) -> bool:
    """Whether it is the program's own function, and not a library's."""
    code = f.__code__ if isinstance(f, FunctionType) else getattr(getattr(f, '__func__', None), '__code__', None)
    return code is not None and not is_machinery(code.co_filename) and not is_library(code.co_filename)
