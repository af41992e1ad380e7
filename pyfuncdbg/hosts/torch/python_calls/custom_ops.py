"""Calls of `torch.library.custom_op`: kernels and gradients, of ops made before the attachment or after."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType
from typing import Any

from pyfuncdbg.hooks.call_frames import mark_function_caller
from pyfuncdbg.hooks.traits import Traits
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.traceback_frames import drop_leading_own_frames
from pyfuncdbg.hosts.torch.host import TorchHost
from pyfuncdbg.hosts.torch.python_calls.called_function import BACKWARD, CalledFunction
from pyfuncdbg.hosts.torch.python_calls.gradient_links import GradientLinks
from pyfuncdbg.hosts.torch.python_calls.nested_arguments import NestedArguments
from pyfuncdbg.hosts.torch.python_calls.nested_results import unfold
from pyfuncdbg.hosts.torch.python_calls.python_calls import PythonCalls
from pyfuncdbg.hosts.torch.python_calls.watched_function import WATCHED, WatchedFunction, program_function, watched_kernel
from pyfuncdbg.hosts.torch.torch_parts import TorchParts


class CustomOps:
    """Replacer of the functions that custom ops call."""

    def __init__(self, parts: TorchParts, host: TorchHost, calls: PythonCalls, links: GradientLinks) -> None:
        self._parts = parts
        self._host = host
        self._calls = calls
        self._links = links

    def install(self, patches: Patches) -> None:
        """Watch the ops that there are, and those that are made later."""
        for op in list(self._parts.custom_ops.OPDEFS.values()):
            self._watch(op)
        kind = self._parts.custom_ops.CustomOpDef
        patches.replace(kind, 'register_kernel', self._replace_register_kernel(kind.register_kernel))
        patches.replace(kind, 'register_autograd', self._replace_register_autograd(kind.register_autograd))

    def remove(self) -> None:
        """Put the functions of all ops back."""
        for op in list(self._parts.custom_ops.OPDEFS.values()):
            for device, kernel in list(op._backend_fns.items()):
                if (watched := getattr(kernel, WATCHED, None)) is not None:
                    op._backend_fns[device] = watched.original
            if type(op._backward_fn) is WatchedFunction:
                op._backward_fn = op._backward_fn.original

    def _watch(self, op: Any) -> None:
        """Replace the functions of an op, so far as they are the program's."""
        for device, kernel in list(op._backend_fns.items()):
            function = program_function(kernel)
            if function is not None and not hasattr(kernel, WATCHED):
                mark_kernel_wrappers(kernel)
                called = CalledFunction(op._name, op._qualname, function, self._host, replaceable=True,
                                        call_again=partial(self._call_again, kernel), traits=Traits(wraps_python=True))
                watched = WatchedFunction(self._calls, called, kernel, self._links.note_op_call)
                op._backend_fns[device] = watched_kernel(watched)
        backward = op._backward_fn
        function = program_function(backward) if backward is not None else None
        if function is not None and type(backward) is not WatchedFunction:
            called = CalledFunction(op._name + BACKWARD, op._qualname + BACKWARD, function, self._host, takes_context=True)
            op._backward_fn = WatchedFunction(self._calls, called, backward)

    def _replace_register_kernel(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def register_kernel(op: Any, device_types: Any, fn: Any = None, /) -> Any:
            def registered(function: Any) -> Any:
                try:
                    result = register(function)
                except BaseException as error:
                    drop_leading_own_frames(error)
                    raise
                self._watch(op)
                return result
            try:
                register = original(op, device_types)
            except BaseException as error:
                drop_leading_own_frames(error)
                raise
            return registered if fn is None else registered(fn)
        return register_kernel

    def _replace_register_autograd(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def register_autograd(op: Any, *args: Any, **kwargs: Any) -> None:
            try:
                original(op, *args, **kwargs)
            except BaseException as error:
                drop_leading_own_frames(error)
                raise
            self._watch(op)
        return register_autograd

    def _call_again(self, kernel: Callable[..., Any], layout: NestedArguments | None, inputs: list[Any]) -> Sequence[Any]:
        """Call a kernel past all hooks."""
        tensors = [self._host.tensor_like(value) for value in inputs]
        positional, keywords = layout.arguments(tensors) if layout is not None else (tensors, {})
        with self._parts.torch.no_grad():
            return unfold(kernel(*positional, **keywords))


def mark_kernel_wrappers(kernel: Any) -> None:
    """Mark PyTorch's wrappers around a kernel: the frame of a wrapper is that which calls the function."""
    while isinstance(kernel, FunctionType) and (kernel := getattr(kernel, '__wrapped__', None)) is not None:
        if isinstance(kernel, FunctionType) and kernel.__code__.co_freevars:
            mark_function_caller(kernel)
