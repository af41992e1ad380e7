"""Calls of `autograd.Function` classes: their forward. On the thread of each call."""
from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType
from typing import Any

from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.traits import Traits
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hooks.weak_keys import WeakKeys
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.traceback_frames import without_own_frames
from pyfuncdbg.hosts.torch.host import TorchHost
from pyfuncdbg.hosts.torch.python_calls.called_function import CalledFunction, is_program_function
from pyfuncdbg.hosts.torch.python_calls.gradient_links import GradientLinks
from pyfuncdbg.hosts.torch.python_calls.nested_arguments import NestedArguments
from pyfuncdbg.hosts.torch.python_calls.nested_results import unfold
from pyfuncdbg.hosts.torch.python_calls.python_calls import PythonCalls
from pyfuncdbg.hosts.torch.torch_parts import TorchParts

FUNCTION = 'autograd.Function'


class AutogradFunctions:
    """Dispatcher between `Function.apply` and the program's `forward`."""

    def __init__(self, parts: TorchParts, host: TorchHost, calls: PythonCalls, links: GradientLinks) -> None:
        self._parts = parts
        self._host = host
        self._calls = calls
        self._links = links
        self._apply = parts.native._FunctionBase.__dict__['apply']
        self._called: WeakKeys[type, CalledFunction | None] = WeakKeys()

    def install(self, patches: Patches) -> None:
        """Replace PyTorch's function that leads from Python to its engine."""
        functions = self._parts.functions
        python = isinstance(getattr(vars(functions.Function).get('apply'), '__func__', None), FunctionType)
        patches.replace(functions._SingleLevelFunction if python else functions.Function, 'apply',
                        classmethod(self._replace_apply()))

    @transparent
    def _replace_apply(self) -> Callable[..., Any]:
        calls, links, called_by_class, bind = self._calls, self._links, self._called, self._apply.__get__

        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            original = bind(None, cls)
            if not hooks.python or not calls.watched:
                return original(*args, **kwargs)
            try:
                called = called_by_class[cls]
            except KeyError:
                called = called_by_class[cls] = self._new_called(cls)
            if called is None:                  # also that of an op, whose kernel was called within
                result = original(*args, **kwargs)
                if (op_call := links.take_op_call()) is not None:
                    links.link(result, op_call, args)
                return result
            try:
                result = calls.make(called, original, args, kwargs, partial(links.link_function, args))
            except BaseException as error:
                error.__traceback__ = without_own_frames(error.__traceback__)
                raise
            if calls.examination is not None and (node := _node_of(result, cls)) is not None:
                calls.examination.on_node(called, node, args, result)
            return result
        return apply

    def _new_called(self, kind: Any) -> CalledFunction | None:
        """What a class calls; None for one of PyTorch's own."""
        forward = inspect.getattr_static(kind, 'forward', None)
        forward = getattr(forward, '__func__', forward)
        if not isinstance(forward, FunctionType) or not is_program_function(forward):
            return None
        parts = self._parts.functions
        takes_context = kind.setup_context is parts._SingleLevelFunction.setup_context
        return CalledFunction(kind.__name__, FUNCTION, forward, self._host, takes_context=takes_context,
                              call_again=partial(self._call_again, weakref.ref(kind)),
                              traits=Traits(wraps_python=True, has_own_gradient=True),
                              put=partial(_put_forward, weakref.ref(kind)))

    def _call_again(self, kind: weakref.ref[Any], layout: NestedArguments | None, inputs: list[Any]) -> Sequence[Any]:
        """Call it past all hooks and without a gradient."""
        cls = kind()
        if cls is None:
            raise ValueError('its class is gone')
        tensors = [self._host.tensor_like(value) for value in inputs]
        positional, keywords = layout.arguments(tensors) if layout is not None else (tensors, {})
        with self._parts.torch.no_grad():
            return unfold(self._apply.__get__(None, cls)(*positional, **keywords))


def _node_of(result: Any, kind: type) -> Any:
    """The backward node of a class's function in its result, which all differentiable tensors share; None without one."""
    values = result if isinstance(result, (list, tuple)) else (result,)
    nodes = [getattr(value, 'grad_fn', None) for value in values]
    return next((node for node in nodes if getattr(node, '_forward_cls', None) is kind), None)


def _put_forward(kind: weakref.ref[Any], function: Any) -> None:
    """Let a class call another function; PyTorch looks for it at each call."""
    cls = kind()
    if cls is not None:
        cls.forward = staticmethod(function)
