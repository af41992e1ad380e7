"""PyTorch's ops as calls of kind 'op', where a hook wants them: eager ops, and those that compiled code runs.

A mode of PyTorch's own, one for each thread; on the thread of each op. `torch.compile` compiles as without it, and what it
has fused is no op any more.
"""
from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from pyfuncdbg.hooks.chain import hooks, invoke
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.result_list import ResultList, output_list
from pyfuncdbg.hosts.torch.graph_ops.op_sites import OpSites
from pyfuncdbg.hosts.torch.mode_frames import frames_within_op
from pyfuncdbg.hosts.torch.python_calls.python_calls import PythonCalls
from pyfuncdbg.hosts.torch.tensor_values import tensors_in
from pyfuncdbg.hosts.torch.thread_runs import ThreadRuns
from pyfuncdbg.hosts.torch.torch_parts import TorchParts

_UNOBSERVED = ('aten.detach', 'aten.alias', 'aten.lift', 'profiler.')
"""How names of ops begin that compute nothing."""


class OpModes:
    """The op calls of all threads.

    Attributes:
        on: Whether PyTorch is attached.
    """

    def __init__(self, parts: TorchParts, calls: PythonCalls, runs: ThreadRuns, sites: OpSites) -> None:
        self.on = True
        self._calls = calls
        self._runs = runs
        self._sites = sites
        self._tensor: type = parts.torch.Tensor
        self._dispatch = parts.dispatch
        self._native = parts.native
        self._stack_size: Callable[[], int] = parts.native._len_torch_dispatch_stack
        self._known: dict[int, tuple[Any, bool]] = {}
        self._is_refused = False
        self._kind = self._mode_class() if hasattr(parts.dispatch.TorchDispatchMode, 'ignore_compile_internals') else None

    def install(self, patches: Patches) -> None:
        """Begin on each thread that is started from now on, and on this one if a hook wants ops."""
        patches.replace(threading.Thread, '_bootstrap', self._replace_bootstrap(threading.Thread._bootstrap))  # type: ignore[attr-defined]
        self.follow_hooks()

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
        if not self.on or not hooks.op or self._stack_size() or self._calls.is_traced:
            return
        if self._kind is None:
            if not self._is_refused:
                self._is_refused = True
                say('ops of this version of PyTorch are not seen: to watch them would keep torch.compile from compiling')
            return
        self._dispatch._push_mode(self._kind())

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
        observe, observer, calls = self._observe, self, self._calls

        class Observing(self._dispatch.TorchDispatchMode):  # type: ignore[misc, name-defined]
            """A mode that changes nothing."""

            supports_higher_order_operators = True

            @classmethod
            def ignore_compile_internals(cls) -> bool:
                return True

            @classmethod
            def _should_skip_dynamo(cls) -> bool:
                return False                    # a wrapper that costs 2 us an op, and imports torch._dynamo

            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                if not observer.on or not hooks.op or calls.is_traced:
                    return func(*args, **(kwargs or {}))
                try:
                    return observe(func, args, kwargs or {})
                except BaseException as error:
                    error.__traceback__ = frames_within_op(error.__traceback__)
                    raise
        return Observing

    # ------------------------------------------------------------------ one op
    def _observe(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        known = self._known.get(id(func))
        if known is None:
            known = self._known[id(func)] = func, str(getattr(func, 'overloadpacket', func)).startswith(_UNOBSERVED)
        if known[1]:
            return func(*args, **kwargs)
        run = self._runs.current()
        inputs = tensors_in(args, self._tensor)
        if kwargs:
            inputs += tensors_in(list(kwargs.values()), self._tensor)
        site = self._sites.of(func, sys._getframe(2), run, inputs)
        outputs = invoke(site, partial(self._execute, func, args, kwargs, tuple(inputs)), run, inputs)
        self._sites.note_outputs(site, outputs)
        return outputs.raw if type(outputs) is ResultList else _as_result(outputs)

    def _execute(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], given: Sequence[Any],
                 *inputs: Any) -> ResultList:
        for before, now in zip(given, inputs, strict=True):
            if before is not now:               # a hook has replaced it
                args = [_replaced(value, before, now) for value in args]
                kwargs = {name: _replaced(value, before, now) for name, value in kwargs.items()}
        return output_list(func(*args, **kwargs))



def _replaced(value: Any, before: Any, now: Any) -> Any:
    if value is before:
        return now
    return type(value)([now if part is before else part for part in value]) if type(value) in (list, tuple) else value


def _as_result(outputs: Sequence[Any]) -> Any:
    return outputs[0] if len(outputs) == 1 else tuple(outputs) if outputs else None
