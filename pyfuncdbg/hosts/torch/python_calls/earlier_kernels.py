"""Calls of Python kernels that a `torch.library.Library` has registered before PyTorch was attached.

PyTorch's C++ holds their functions. A kernel over each one calls it as a boxed function; the first Python frame of a call
tells which function that is. On the thread of each call.
"""
from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import CodeType, FrameType, FunctionType
from typing import Any

from pyfuncdbg.hooks.call_frames import mark_function_caller
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.live_objects import referrers
from pyfuncdbg.hooks.own_files import is_library, is_machinery
from pyfuncdbg.hooks.traits import Traits
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hosts.interception.traceback_frames import drop_leading_own_frames
from pyfuncdbg.hosts.torch.host import TorchHost
from pyfuncdbg.hosts.torch.python_calls.called_function import CalledFunction
from pyfuncdbg.hosts.torch.python_calls.gradient_links import GradientLinks
from pyfuncdbg.hosts.torch.python_calls.python_calls import PythonCalls
from pyfuncdbg.hosts.torch.torch_parts import TorchParts

_KEYS = ('CPU', 'CUDA')
"""Of devices: keys such as `CompositeImplicitAutograd` have no kernels of their own that could be called."""
_REGISTERED = 'registered at '


class _BegunError(BaseException):
    """Ends a function where it begins."""


class EarlierKernels:
    """The kernels of the program's libraries that there are already; needs PyTorch 2.9 or newer."""

    def __init__(self, parts: TorchParts, host: TorchHost, calls: PythonCalls, links: GradientLinks) -> None:
        self._library = parts.library
        self._host = host
        self._calls = calls
        self._links = links
        self._overlays: list[Any] = []
        self._called: dict[str, CalledFunction | None] = {}

    def install(self) -> None:
        """Lay a kernel over each one."""
        if not hasattr(self._library, 'get_kernel'):
            return
        for namespace, name, key, boxed in list(self._program_kernels()):
            overlay = self._library.Library(namespace, 'IMPL')
            self._overlays.append(overlay)
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')         # that the kernel is overridden, which is what we want
                overlay.m.impl(name, key, self._kernel(f'{namespace}::{name}', boxed), True)

    def remove(self) -> None:
        """Uncover the kernels."""
        while self._overlays:
            self._overlays.pop()._destroy()

    def _program_kernels(self) -> Iterator[tuple[str, str, str, Callable[..., Any]]]:
        """Namespace and name of the op, dispatch key, and boxed function of each Python kernel of the program's."""
        for entry in sorted(getattr(self._library, '_impls', ())):
            namespace, name, key = entry.split('/')
            if key not in _KEYS:
                continue
            kernel = self._library.get_kernel(f'{namespace}::{name}', key)
            filename = str(kernel).partition(_REGISTERED)[2].rpartition(':')[0]
            if filename and not is_machinery(filename) and not is_library(filename):
                yield namespace, name, key, kernel.call_boxed

    @transparent
    def _kernel(self, op: str, boxed: Callable[..., Any]) -> Callable[..., Any]:
        calls, links = self._calls, self._links

        @mark_function_caller
        def kernel(keyset: Any, *args: Any, **kwargs: Any) -> Any:
            original = partial(boxed, keyset)
            if not hooks.python or not calls.watched:
                return original(*args, **kwargs)
            called = self._function_of(op, original, args, kwargs)
            if called is None:
                return original(*args, **kwargs)
            try:
                result = calls.make(called, original, args, kwargs, links.note_op_call)
            except BaseException as error:
                drop_leading_own_frames(error)
                raise
            if calls.examination is not None:
                calls.examination.on_kernel(called, args, result)
            return result
        return kernel

    def _function_of(self, op: str, original: Callable[..., Any], args: Sequence[Any],
                     kwargs: Mapping[str, Any]) -> CalledFunction | None:
        """What is called for an op; None while that is not known."""
        if op not in self._called:
            code = first_code(original, args, kwargs)
            if code is None:
                return None
            function = next(iter(referrers(code, FunctionType)), None)
            name = op.rpartition('::')[2].partition('.')[0]
            self._called[op] = None if function is None else CalledFunction(
                name, op.partition('.')[0], function, self._host, traits=Traits(wraps_python=True))
        return self._called[op]


def first_code(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> CodeType | None:
    """The code of the first Python function that a function in C calls, which ends where it begins.

    None in a program that is traced, by a debugger or for its coverage: that stays as it is.
    """
    if sys.gettrace() is not None:
        return None
    codes: list[CodeType] = []

    def on_call(frame: FrameType, event: str, details: object) -> None:
        codes.append(frame.f_code)
        sys.settrace(None)
        raise _BegunError
    sys.settrace(on_call)
    try:
        function(*args, **kwargs)
    except _BegunError:
        pass
    finally:
        sys.settrace(None)
    return codes[0] if codes else None
