"""Replacement of a function that PyTorch calls: it makes each call a `Call`. On the thread of the call."""
from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any

from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.own_files import is_machinery
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hosts.interception.traceback_frames import drop_outermost_frame, without_own_frames
from pyfuncdbg.hosts.torch.python_calls.called_function import CalledFunction
from pyfuncdbg.hosts.torch.python_calls.python_calls import NoteCall, PythonCalls

_DEEPEST = 10
WATCHED = '_pyfuncdbg_watched'
"""Attribute of a function that makes the calls of a `WatchedFunction`."""


@transparent
class WatchedFunction:
    """A function that stands where PyTorch looks for the program's; pickled or copied, it is that one.

    Attributes:
        original: What it is put in place of.
        called: What is called.
    """

    def __init__(self, calls: PythonCalls, called: CalledFunction, original: Callable[..., Any],
                 note: NoteCall | None = None) -> None:
        functools.update_wrapper(self, original)
        self.original = original
        self._calls = calls
        self.called = called
        self._note = note
        self._is_compiling: Callable[[], bool] = calls.is_dynamo_compiling

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # First: `torch.compile`, which traces hooks, takes the answer for a constant, and sees nothing of what follows.
        if self._is_compiling() or not self._calls.watched:
            return self.original(*args, **kwargs)
        function = self.called.replacement or self.original
        if args and self.called.takes_context:
            function, args = functools.partial(function, args[0]), args[1:]
        try:
            result = self._calls.make(self.called, function, args, kwargs, self._note)
        except BaseException as error:
            error.__traceback__ = without_own_frames(error.__traceback__)
            raise
        if self._note is not None and (examination := self._calls.examination) is not None:
            examination.on_kernel(self.called, args, result)
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return operator.getitem, ((self.original,), 0)


@transparent
def watched_kernel(watched: WatchedFunction) -> Callable[..., Any]:
    """A function for the kernel of an op. `torch.compile` never traces it, so it asks first whether a hook is there."""
    original = watched.original

    @functools.wraps(original)
    def kernel(*args: Any, **kwargs: Any) -> Any:
        if not hooks.python:
            return original(*args, **kwargs)
        try:
            return watched(*args, **kwargs)
        except BaseException as error:
            drop_outermost_frame(error)
            raise
    setattr(kernel, WATCHED, watched)
    return kernel


def program_function(function: Any) -> FunctionType | None:
    """The program's function behind PyTorch's wrappers; None where there is none."""
    for _ in range(_DEEPEST):
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, FunctionType) and is_machinery(function.__code__.co_filename):
            inner = getattr(function, '__wrapped__', None) or _closed_over(function)
            if inner is None:
                return None
            function = inner
        else:
            function = getattr(function, '__func__', function)
            if not isinstance(function, FunctionType):
                function = vars(type(function)).get('__call__')
            known = isinstance(function, FunctionType) and not is_machinery(function.__code__.co_filename)
            return function if known else None
    return None


def _closed_over(function: FunctionType) -> Any:
    """The function that one of PyTorch's wrappers calls."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for name in ('fn', 'func'):
        if name in cells:
            return cells[name].cell_contents
    return None
