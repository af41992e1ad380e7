# cython: annotation_typing=False, auto_pickle=False
"""Calls of kind 'op' of PyTorch's ops, made by the mode of each thread. Compiled by `op_calls.pxd`.

An op that a recorder alone watches is made by `make_call`, which takes half of what the chain does. On the thread of the op.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from threading import get_native_id
from types import FrameType
from typing import TYPE_CHECKING, Any

from pyfuncdbg.hooks.chain import invoke
from pyfuncdbg.hooks.installed_hooks import hooks
from pyfuncdbg.hooks.watched_call import make_call
from pyfuncdbg.hosts.interception.result_list import ResultList, output_list
from pyfuncdbg.hosts.torch.python_calls.python_calls import CallNumber
from pyfuncdbg.hosts.torch.tensor_values import tensors_in

if TYPE_CHECKING:
    from pyfuncdbg.hosts.torch.graph_ops.op_sites import OpSites
    from pyfuncdbg.hosts.torch.thread_runs import ThreadRuns
    from pyfuncdbg.hosts.torch.torch_parts import TorchParts

_UNOBSERVED = ('aten.detach', 'aten.alias', 'aten.lift', 'aten.empty', 'aten.new_empty', 'profiler.')
"""How names of ops begin that compute nothing. Memory that is not initialized may hold NaN, which is no value."""
_OVERWRITING = frozenset(f'aten.{name}_' for name in (
    'uniform', 'normal', 'zero', 'fill', 'random', 'bernoulli', 'exponential', 'log_normal', 'geometric', 'cauchy', 'copy'))
"""Names of ops whose first tensor gets new elements, whatever it held: it is no input."""


class DispatchedOps:
    """Maker of the calls.

    Args:
        parts: Modules of the imported PyTorch.
        runs: The active runs.
        sites: The sites of ops.
    """

    def __init__(self, parts: TorchParts, runs: ThreadRuns, sites: OpSites) -> None:
        self._runs = runs
        self._sites = sites
        self._tensor: type = parts.torch.Tensor
        self._known: dict[int, tuple[Any, bool, bool]] = {}

    def make(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None, frame: FrameType) -> Any:
        """Make one call.

        Args:
            func: PyTorch's overload of an op.
            args, kwargs: Its arguments.
            frame: The frame that has called it, or one further in.

        Returns:
            The result, or what a hook has put in its place.
        """
        known = self._known.get(id(func))
        if known is None:
            name = str(getattr(func, 'overloadpacket', func))
            known = self._known[id(func)] = func, name.startswith(_UNOBSERVED), name in _OVERWRITING
        if known[1]:
            return func(*args, **kwargs) if kwargs else func(*args)
        run = self._runs.current()
        inputs = tensors_in(args, self._tensor)
        if kwargs:
            inputs += tensors_in(list(kwargs.values()), self._tensor)
        if known[2]:
            del inputs[:1]
        site = self._sites.of(func, frame, run, inputs)
        watcher = hooks.sole_taker['op']
        if watcher is not None:
            number = CallNumber()
            number.call = 0
            result = make_call(site, run, inputs, get_native_id(), watcher, number,
                               partial(func, **kwargs) if kwargs else func, args)
            if number.call:
                self._sites.note_outputs(site, result)
                return result
        outputs = invoke(site, partial(self._execute, func, args, kwargs or {}, tuple(inputs)), run, inputs)
        result = outputs.raw if type(outputs) is ResultList else _as_result(outputs)
        self._sites.note_outputs(site, result)
        return result

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
