# cython: annotation_typing=False, auto_pickle=False
"""Calls of kind 'op' of PyTorch's ops, made by the mode of each thread. Compiled by `op_calls.pxd`.

An op that a recorder alone watches is made by `make_call`, which takes half of what the chain does. On the thread of the op.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

from pyfuncdbg.hooks.call import current
from pyfuncdbg.hooks.chain import invoke
from pyfuncdbg.hooks.installed_hooks import hooks
from pyfuncdbg.hooks.native_thread import native_thread
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hooks.watched_call import make_call
from pyfuncdbg.hosts.interception.result_list import ResultList, output_list
from pyfuncdbg.hosts.torch.mode_frames import frames_within_op, without_call_frame
from pyfuncdbg.hosts.torch.tensor_values import tensors_in

if TYPE_CHECKING:
    from pyfuncdbg.hosts.torch.graph_ops.op_sites import OpSites
    from pyfuncdbg.hosts.torch.python_calls.python_calls import PythonCalls
    from pyfuncdbg.hosts.torch.thread_runs import ThreadRuns
    from pyfuncdbg.hosts.torch.torch_parts import TorchParts

_UNOBSERVED = ('aten.detach', 'aten.alias', 'aten.lift', 'aten.empty', 'aten.new_empty', 'profiler.')
"""How names of ops begin that compute nothing. Memory that is not initialized may hold NaN, which is no value."""
_OVERWRITING = frozenset(f'aten.{name}_' for name in (
    'uniform', 'normal', 'zero', 'fill', 'random', 'bernoulli', 'exponential', 'log_normal', 'geometric', 'cauchy', 'copy'))
"""Names of ops whose first tensor gets new elements, whatever it held: it is no input."""


_get_current = current.get


class DispatchedOps:
    """Maker of the calls.

    Args:
        parts: Modules of the imported PyTorch.
        calls: Tells which ops are only traced.
        runs: The active runs.
        sites: The sites of ops.

    Attributes:
        on: Whether PyTorch is attached.
    """

    def __init__(self, parts: TorchParts, calls: PythonCalls, runs: ThreadRuns, sites: OpSites) -> None:
        self.on = True
        self._calls = calls
        self._runs = runs
        self._thread = runs.thread
        self._sites = sites
        self._tensor: type = parts.torch.Tensor
        self._modes: Callable[[], int] = parts.native._len_torch_dispatch_stack
        self._transforms: Callable[[], bool] = parts.native._are_functorch_transforms_active
        self._known: dict[int, tuple[Any, bool, bool, Any]] = {}

    def make(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None,
             frame: FrameType | None) -> Any:
        """Make one call.

        Args:
            func: PyTorch's overload of an op.
            args, kwargs: Its arguments.
            frame: The frame that has called it, or one further in; None where none has.

        Returns:
            The result, or what a hook has put in its place.
        """
        known = self._known.get(id(func))
        if known is None:
            name = str(getattr(func, 'overloadpacket', func))
            known = self._known[id(func)] = (func, name.startswith(_UNOBSERVED), name in _OVERWRITING,
                                             without_call_frame(func))
        call = known[3]
        if known[1] or not self.on or not hooks.op or self._is_traced():
            return call(*args, **kwargs) if kwargs else call(*args)
        run = self._thread.run
        if run is None:
            run, frame = self._runs.current(), self._runs.frame_with_line(frame)
        inputs = tensors_in(args, self._tensor)
        if kwargs:
            inputs += tensors_in(list(kwargs.values()), self._tensor)
        if known[2]:
            del inputs[:1]
        site = self._sites.of(func, frame, run, inputs)
        watcher = hooks.sole_taker['op']
        if watcher is not None:
            result = make_call(site, run, inputs, native_thread(), watcher, None,
                               partial(call, **kwargs) if kwargs else call, args)
            if result is not NotImplemented:
                self._sites.note_outputs(site, result)
                return result
        outputs = invoke(site, partial(self._execute, call, args, kwargs or {}, tuple(inputs)), run, inputs)
        result = outputs.raw if type(outputs) is ResultList else _as_result(outputs)
        self._sites.note_outputs(site, result)
        return result

    def _is_traced(self) -> bool:
        """As `PythonCalls.is_traced`, whose checks of modes are seldom needed."""
        outer_call = _get_current()
        if outer_call is not None and not outer_call.id:
            return True
        return (self._transforms() or self._modes() > 0) and self._calls.is_traced

    def _execute(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], given: Sequence[Any],
                 *inputs: Any) -> ResultList:
        for before, now in zip(given, inputs, strict=True):
            if before is not now:               # a hook has replaced it
                args = [_replaced(value, before, now) for value in args]
                kwargs = {name: _replaced(value, before, now) for name, value in kwargs.items()}
        return output_list(func(*args, **kwargs))


def torch_dispatch(mode: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """The `__torch_dispatch__` of a mode that changes nothing.

    Args:
        mode: Has the maker of calls as `ops`, and the number of ops that it handles as `depth`.
        func, types, args, kwargs: As PyTorch gives them.

    Returns:
        The result of the op.
    """
    mode.depth += 1
    try:
        return mode.ops.make(func, args, kwargs, _innermost_frame())
    except BaseException as error:
        error.__traceback__ = frames_within_op(error.__traceback__, without_call_frame(func))
        raise error                             # compiled, a mere `raise` has the earlier traceback
    finally:
        mode.depth -= 1


def _innermost_frame() -> FrameType | None:
    """The innermost frame; compiled, that of the caller, which a thread that the engine has for a device may be without."""
    try:
        return sys._getframe(0)
    except ValueError:
        return None


def _replaced(value: Any, before: Any, now: Any) -> Any:
    if value is before:
        return now
    return type(value)([now if part is before else part for part in value]) if type(value) in (list, tuple) else value


def _as_result(outputs: Sequence[Any]) -> Any:
    return outputs[0] if len(outputs) == 1 else tuple(outputs) if outputs else None


transparent(DispatchedOps)                      # where they are not compiled, which would take no decorator
transparent(torch_dispatch)
