"""PyTorch's ops as calls of kind 'op', where a hook wants them: eager ops, and those that compiled code runs.

A mode of PyTorch's own, one for each thread; on the thread of each op. `torch.compile` compiles as without it, and what it
has fused is no op any more.
"""
from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from pyfuncdbg.hooks.installed_hooks import hooks
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.torch.graph_ops.op_calls import DispatchedOps, torch_dispatch
from pyfuncdbg.hosts.torch.python_calls.python_calls import PythonCalls
from pyfuncdbg.hosts.torch.torch_parts import TorchParts


class _Thread(threading.local):
    """State of this thread.

    Attributes:
        mode: Our mode that was put on its stack last. PyTorch takes it off while it handles an op, and where a backward step
            ends in which it was put there.
    """

    mode: Any = None


class OpModes:
    """The op calls of all threads."""

    def __init__(self, parts: TorchParts, calls: PythonCalls, op_calls: DispatchedOps) -> None:
        self._calls = calls
        self._op_calls = op_calls
        self._dispatch = parts.dispatch
        self._native = parts.native
        self._stack_size: Callable[[], int] = parts.native._len_torch_dispatch_stack
        self._is_refused = False
        self._thread = _Thread()
        self._kind = self._mode_class() if hasattr(parts.dispatch.TorchDispatchMode, 'ignore_compile_internals') else None

    @property
    def available(self) -> bool:
        """Whether ops of this version of PyTorch are seen."""
        return self._kind is not None

    def install(self, patches: Patches) -> None:
        """Begin on each thread that is started from now on, and on this one if a hook wants ops."""
        patches.replace(threading.Thread, '_bootstrap', self._replace_bootstrap(threading.Thread._bootstrap))  # type: ignore[attr-defined]
        self.follow_hooks()

    @transparent
    def _replace_bootstrap(self, original: Callable[..., None]) -> Callable[..., None]:
        def _bootstrap(thread: threading.Thread) -> None:
            self.enter()
            original(thread)
        return _bootstrap

    # ------------------------------------------------------------------ the stack of modes
    def follow_hooks(self) -> None:
        """Begin on this thread, or end, after hooks were added or removed."""
        if hooks.op:
            self.enter()
        else:
            self.leave()

    def enter(self) -> None:
        """Begin on this thread, if a hook wants ops; only below the program's modes, which end the innermost first."""
        if not hooks.op or not self._op_calls.on:
            return
        mode = self._thread.mode
        if (mode is not None and mode.depth) or self._stack_size() or self._calls.is_traced:
            return
        if self._kind is None:
            if not self._is_refused:
                self._is_refused = True
                say('ops of this version of PyTorch are not seen: to watch them would keep torch.compile from compiling')
            return
        mode = self._thread.mode = self._kind()
        self._dispatch._push_mode(mode)

    def leave(self) -> None:
        """End on this thread."""
        others = []
        while self._stack_size():
            mode = self._dispatch._pop_mode()
            if type(mode) is not self._kind:
                others.append(mode)
        for mode in reversed(others):
            self._dispatch._push_mode(mode)

    def _mode_class(self) -> Any:
        class Observing(self._dispatch.TorchDispatchMode):  # type: ignore[misc, name-defined]
            """A mode that changes nothing."""

            depth = 0                           # of the ops that it handles
            ops = self._op_calls
            supports_higher_order_operators = True
            __torch_dispatch__ = torch_dispatch

            @classmethod
            def ignore_compile_internals(cls) -> bool:
                return True

            @classmethod
            def _should_skip_dynamo(cls) -> bool:
                return False                    # a wrapper that costs 2 us an op, and imports torch._dynamo
        return Observing
