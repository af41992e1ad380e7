"""Calls of the `backward` of `autograd.Function` classes. On the thread of the pass."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from pyfuncdbg.hooks.call_frames import mark_function_caller
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hooks.weak_keys import WeakKeys
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.traceback_frames import without_own_frames
from pyfuncdbg.hosts.torch.host import TorchHost
from pyfuncdbg.hosts.torch.python_calls.autograd_functions import FUNCTION
from pyfuncdbg.hosts.torch.python_calls.called_function import BACKWARD, CalledFunction, is_program_function
from pyfuncdbg.hosts.torch.python_calls.gradient_links import CALL
from pyfuncdbg.hosts.torch.python_calls.python_calls import PythonCalls
from pyfuncdbg.hosts.torch.thread_runs import ThreadRuns
from pyfuncdbg.hosts.torch.torch_parts import TorchParts


class BackwardFunctions:
    """Dispatcher between PyTorch's engine and the program's `backward`."""

    def __init__(self, parts: TorchParts, host: TorchHost, calls: PythonCalls, runs: ThreadRuns) -> None:
        self._parts = parts
        self._host = host
        self._calls = calls
        self._runs = runs
        self._called: WeakKeys[type, CalledFunction | None] = WeakKeys()

    def install(self, patches: Patches) -> None:
        """Replace the method by which the engine calls a backward node in Python."""
        node = self._parts.functions.BackwardCFunction
        mark_function_caller(node.apply)
        patches.replace(node, 'apply', self._replace_apply(node.apply))

    @transparent
    def _replace_apply(self, original: Callable[..., Any]) -> Callable[..., Any]:
        calls, runs, called_by_class, bind = self._calls, self._runs, self._called, original.__get__
        is_compiling = self._calls.is_compiling

        def apply(node: Any, *gradients: Any) -> Any:
            if is_compiling() or not calls.watched:
                return original(node, *gradients)
            kind = node._forward_cls
            try:
                called = called_by_class[kind]
            except KeyError:
                called = called_by_class[kind] = self._new_called(kind)
            steps = runs.steps
            if called is None and (steps is None or CALL not in node.metadata):
                return original(node, *gradients)

            def compute(*inputs: Any) -> Any:
                return calls.make(called, bind(node), inputs, {}) if called is not None else original(node, *inputs)
            try:
                return compute(*gradients) if steps is None else steps.make_step(node, gradients, compute)
            except BaseException as error:
                error.__traceback__ = without_own_frames(error.__traceback__)
                raise
        return apply

    def _new_called(self, kind: Any) -> CalledFunction | None:
        """What the node of a class calls; None for one of PyTorch's own."""
        own = [name for name in ('backward', 'vjp')
               if getattr(kind, name) is not getattr(self._parts.functions.Function, name)]
        backward = inspect.getattr_static(kind, own[0], None) if own else None
        backward = getattr(backward, '__func__', backward)
        if not isinstance(backward, FunctionType) or not is_program_function(backward):
            return None
        return CalledFunction(f'{kind.__name__}.{own[0]}', FUNCTION + BACKWARD, backward, self._host, takes_context=True)
