"""Which frames are those of wrapped functions: what Python runs beside them is none, whoever it seems to be called by."""
from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from pyfuncdbg.hooks import chain
from pyfuncdbg.hooks.call import Call, CallSite, Run
from pyfuncdbg.hooks.call_frames import code_of, function_call, is_function_frame
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hosts.numpy.runtime.execution.host import host


class Passing:
    """A hook that changes nothing."""

    kinds = frozenset({'python'})

    def around(self, call: Call, proceed: Callable[[], Any]) -> Any:
        return proceed()


class Model:
    def step(self, x: int) -> list[Any]:
        return asked(self.step)

    def __call__(self, x: int) -> list[Any]:
        return asked(self)


def wrapped(x: int) -> list[Any]:
    return asked(wrapped)


def beside(x: int) -> list[Any]:
    return asked(beside)


def asked(function: Any) -> list[Any]:
    """Of the frame that asks, and of one that it calls: whether a function begins there, and whether it is a call's."""
    frames = sys._getframe(1), sys._getframe()
    said.extend((is_function_frame(frame), function_call(frame, hook) is not None) for frame in frames)
    return [1]


hook = Passing()
said: list[tuple[bool, bool]] = []
FUNCTIONS = [wrapped, Model().step, Model(), functools.partial(wrapped), functools.partial(Model())]


def called(function: Any, runs: Callable[..., Any]) -> list[tuple[bool, bool]]:
    """What is said where the chain runs a function at a call of a site."""
    said.clear()
    site = CallSite('site', 'PyFunc', 'python', host, function=function)
    hooks.add(hook)
    try:
        chain.invoke(site, runs, Run('eager', host, time.perf_counter_ns()), [3])
    finally:
        hooks.remove(hook)
    return said.copy()


@pytest.mark.parametrize('function', FUNCTIONS)
def test_the_frame_of_the_function_and_no_other_is_its_own(function: Any) -> None:
    assert called(function, function) == [(True, True), (False, False)]


@pytest.mark.parametrize('function', FUNCTIONS)
def test_what_python_runs_in_its_place_is_not_the_function(function: Any) -> None:
    """A callback of the collector or a signal handler seems to be called by whatever frame of ours it interrupts.

    Here C code calls another function, which leaves no frame in between either.
    """
    assert called(function, functools.lru_cache(beside)) == [(False, False)] * 2


def test_where_the_code_is_not_known_the_caller_decides() -> None:
    assert called(None, wrapped) == [(True, True), (False, False)]
    assert code_of(len) is None and code_of(Model) is None and code_of(Model()) is Model.__call__.__code__
