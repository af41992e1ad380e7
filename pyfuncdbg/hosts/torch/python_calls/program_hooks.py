"""Calls of the hooks that a program registers with tensors and modules. On the thread of each call."""
from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

from pyfuncdbg.hooks.live_objects import class_and_subclasses, find_objects
from pyfuncdbg.hooks.patched_code import name_of
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.traceback_frames import drop_leading_own_frames
from pyfuncdbg.hosts.torch.host import TorchHost
from pyfuncdbg.hosts.torch.python_calls.called_function import CalledFunction
from pyfuncdbg.hosts.torch.python_calls.python_calls import PythonCalls
from pyfuncdbg.hosts.torch.python_calls.watched_function import WatchedFunction, program_function
from pyfuncdbg.hosts.torch.torch_parts import TorchParts

_OF_TENSORS = 'register_hook', 'register_post_accumulate_grad_hook'
_OF_MODULES = ('register_forward_hook', 'register_forward_pre_hook', 'register_full_backward_hook',
               'register_full_backward_pre_hook')
_TABLES_OF_TENSORS = {'_backward_hooks': 'register_hook',
                      '_post_accumulate_grad_hooks': 'register_post_accumulate_grad_hook'}
_TABLES_OF_MODULES = {'_forward_hooks': 'register_forward_hook', '_forward_pre_hooks': 'register_forward_pre_hook',
                      '_backward_hooks': 'register_full_backward_hook',
                      '_backward_pre_hooks': 'register_full_backward_pre_hook'}
"""Attributes with the registered hooks, and the function that registers there."""


class ProgramHooks:
    """Replacer of the program's hooks: of those that are registered already, and of later ones."""

    def __init__(self, parts: TorchParts, host: TorchHost, calls: PythonCalls) -> None:
        self._parts = parts
        self._host = host
        self._calls = calls
        self._replaced: list[tuple[weakref.ref[Any], str, Any, WatchedFunction]] = []

    def install(self, patches: Patches) -> None:
        """Replace the functions that register hooks."""
        for owner, names in (self._parts.torch.Tensor, _OF_TENSORS), (self._parts.modules.Module, _OF_MODULES):
            for name in names:
                patches.replace(owner, name, self._replace_register(getattr(owner, name), name))
        module = self._parts.modules.Module
        for owner in find_objects(*class_and_subclasses(module), *class_and_subclasses(self._parts.torch.Tensor)):
            for table, kind in (_TABLES_OF_MODULES if isinstance(owner, module) else _TABLES_OF_TENSORS).items():
                self._replace_registered(owner, table, kind)

    def remove(self) -> None:
        """Put back the hooks that were registered before."""
        for owner, table, key, watched in self._replaced:
            registered = getattr(owner(), table, None)
            if isinstance(registered, dict) and registered.get(key) is watched:
                registered[key] = watched.original
        self._replaced.clear()

    def _replace_registered(self, owner: Any, table: str, kind: str) -> None:
        """Watch the hooks that one tensor or module has. What iterates over them meanwhile goes on."""
        registered = getattr(owner, table, None)
        if not isinstance(registered, dict):
            return
        for key, hook in list(registered.items()):
            watched = self._watched(hook, kind)
            if watched is not hook:
                registered[key] = watched
                self._replaced.append((weakref.ref(owner), table, key, watched))

    def _replace_register(self, original: Callable[..., Any], kind: str) -> Callable[..., Any]:
        is_compiling = self._calls.is_compiling

        def watched(hook: Any) -> Any:          # a function: `torch.compile` can take nothing else from the closure below
            return self._watched(hook, kind)

        @functools.wraps(original)
        def register(owner: Any, hook: Any, *args: Any, **kwargs: Any) -> Any:
            if is_compiling():
                return original(owner, hook, *args, **kwargs)
            try:
                return original(owner, watched(hook), *args, **kwargs)
            except BaseException as error:
                drop_leading_own_frames(error)
                raise
        return register

    def _watched(self, hook: Any, kind: str) -> Any:
        """The hook that is registered instead; the same one where it is not the program's."""
        function = program_function(hook)
        if function is None or type(hook) is WatchedFunction:
            return hook
        called = CalledFunction(str(name_of(hook) or function.__name__), kind, hook, self._host)
        return WatchedFunction(self._calls, called, hook)
