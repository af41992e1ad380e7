"""Post hook: JAX calls it after a dispatch of a `jit` function that C++ has made without Python.

Installed while there are hooks. `jax_debug_nans` has the same hook: that one is called behind ours. JAX sets it for one
thread, too, wherever it switches `jax_debug_nans` off for a while, as `vmap` does; a thread's hook replaces that of all.
"""
from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.jax.jax_parts import JaxParts

Reaction = Callable[[Any, Any, Any, Any], None]
"""Called with the function, its arguments and keyword arguments, and its results."""


class _Thread(threading.local):
    """Setting of JAX for one thread.

    Attributes:
        is_set: Whether it has.
        is_adopted: Whether it was asked what it had set before the attachment.
        hook: The hook; None for none.
    """

    def __init__(self) -> None:
        self.is_set = self.is_adopted = False
        self.hook: Reaction | None = None


class PostHook:
    """The post hook of all threads.

    Attributes:
        on_dispatched: Called on the thread of each dispatch while a hook is installed.
    """

    def __init__(self, parts: JaxParts, on_dispatched: Reaction) -> None:
        self.on_dispatched = on_dispatched
        self._setting: Any = getattr(parts.api, '_post_hook_state', None)
        self._api = parts.api
        self._other: Reaction | None = None
        self._thread = _Thread()
        self._unset = parts.unset
        self._is_set = False
        self._end: Callable[[], None] | None = None

    def install(self, patches: Patches) -> None:
        """Follow the installed hooks."""
        if self._setting is not None:
            patches.replace(self._api, '_post_hook_state', self)
        self._end = hooks.subscribe(self._update)
        self._update()

    def remove(self) -> None:
        """Put JAX's own hook back."""
        if self._end is not None:
            self._end()
            self._end = None
        if self._is_set:
            self._is_set = False
            self._set(self._other)

    def _update(self) -> None:
        wanted = bool(hooks.python or hooks.run or hooks.op)
        if wanted is self._is_set:
            return
        if wanted:
            self._other = self._get()
        self._is_set = wanted
        self._follow()
        self.adopt_thread()

    def adopt_thread(self) -> bool:
        """Let this thread follow our hook, though JAX has set one for it before the attachment: mostly none, by `vmap`.

        Returns:
            Whether it does so from now on.
        """
        if self._is_set and self._setting is not None and not self._thread.is_adopted:
            self._thread.is_adopted = True
            hook = self._setting.get_local()
            if hook is not self._unset and not self._thread.is_set:
                self.set_local(hook)
        return self._thread.is_adopted

    def _follow(self) -> None:
        """Set what the moment asks for: nothing of ours is between where there is no other hook."""
        if not self._is_set:
            self._set(self._other)
        else:
            self._set(self.on_dispatched if self._other is None else self._call)

    def _call(self, function: Any, args: Any, settings: Any, results: Any) -> None:
        if self._is_set:
            self.on_dispatched(function, args, settings, results)
        other = self._thread.hook if self._thread.is_set else self._other
        if other is not None:
            other(function, args, settings, results)

    # ------------------------------------------------------------------ as JAX's setting
    def set_global(self, hook: Reaction | None) -> None:
        """What JAX's own setting does: `jax_debug_nans` has changed."""
        self._other = hook
        self._follow()

    def set_local(self, hook: Reaction | None) -> None:
        """As `set_global`, for this thread. With no hook of its own it follows ours."""
        self._thread.is_set, self._thread.hook = True, hook
        self._setting.set_local(self._unset if hook is None else self._call)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._setting, name)

    def _get(self) -> Reaction | None:
        if self._setting is not None:
            return self._setting.get_global()  # type: ignore[no-any-return]
        return self._api.jax_jit.global_state().post_hook  # type: ignore[no-any-return]

    def _set(self, hook: Reaction | None) -> None:
        if self._setting is not None:
            self._setting.set_global(hook)
        else:
            self._api.jax_jit.global_state().post_hook = hook
