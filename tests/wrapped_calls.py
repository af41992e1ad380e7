"""Calls as a host makes them, through the real chain, and a hook that keeps them."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from pyfuncdbg.hooks import chain
from pyfuncdbg.hooks.call import Call, CallSite, Run


class Keeper:
    """A hook that keeps every call it has seen, finished or not."""

    def __init__(self, *kinds: str) -> None:
        self.kinds = frozenset(kinds or ('python',))
        self.calls: list[Call] = []

    def around(self, call: Call, proceed: Callable[[], Any]) -> Any:
        self.calls.append(call)
        return proceed()

    def said(self, index: int = -1) -> list[tuple[str, str]]:
        output = self.calls[index].output
        assert output is not None
        return [(entry.kind, entry.text) for entry in output.entries]


def wrap(function: Callable[..., Any], name: str = 'f', run: Run | None = None) -> Callable[..., Any]:
    """The function as a host wraps it: called with its inputs, gives what it returned."""
    site = CallSite(name, 'EagerPyFunc', 'python', None, function=function)  # type: ignore[arg-type]
    invoke = partial(chain.invoke, site, lambda *inputs: (function(*inputs),))
    run = run or Run('test', None, 0)  # type: ignore[arg-type]
    return lambda *inputs: invoke(run, list(inputs))[0]
