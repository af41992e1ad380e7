"""A host of NumPy values for the recorder's tests, and short ways to make calls with it."""
from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from pyfuncdbg.hooks import chain
from pyfuncdbg.hooks.call import CallSite, Kind, Run


class PlainHost:
    """Values are what NumPy makes of them."""

    name = 'plain'
    pauses_within = False
    version = '1.2'
    variables: Sequence[str] = ('PLAIN_THREADS',)

    def to_numpy(self, value: Any) -> np.ndarray:
        return np.asarray(value)

    def from_numpy(self, array: np.ndarray, like: Any) -> Any:
        return array.copy()

    def new_context(self, inputs: int) -> Any:
        return None

    def call_again(self, site: CallSite, inputs: Sequence[Any]) -> Sequence[Any]:
        assert site.function is not None
        return site.function(*inputs)

    def rng_state(self) -> Any:
        return None

    op_draws = 0
    replay_site: Any

    def make_tensor(self, array: np.ndarray) -> Any:
        return array.copy()

    def op_generators(self) -> Sequence[tuple[str, Any]]:
        return ()

    def restore_op_generators(self, states: Sequence[tuple[str, Any]]) -> None: ...

    def set_rng_state(self, state: Any) -> None:
        return None


HOST = PlainHost()


def new_run(label: str = 'eager', **options: Any) -> Run:
    return Run(label, HOST, time.perf_counter_ns(), **options)


def new_site(function: Callable[..., Any] | None, name: str = 'norm', kind: Kind = 'python', **options: Any) -> CallSite:
    return CallSite(name, 'PyFunc', kind, HOST, function=function, **options)


def wrapped(function: Callable[..., Any], name: str = 'norm', **options: Any) -> Callable[..., Any]:
    """`call(*inputs, run=...)`: the function as a host would wrap it; the function returns a sequence of outputs."""
    invoke = partial(chain.invoke, new_site(function, name, **options), function)
    default = new_run()

    def call(*inputs: Any, run: Run = default) -> Any:
        return invoke(run, list(inputs))
    return call
