"""Calls of callbacks in a program of JAX: which of them JAX leaves out, and which `jax.checkpoint` repeats.

Read when JAX compiles a program, on that thread.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hosts.jax.callbacks.sites import name_of
from pyfuncdbg.hosts.jax.programs.occurrences import CALLBACKS, ONCE, inner_programs, stack_of
from pyfuncdbg.hosts.jax.programs.user_function import user_function


class CallbackCall(NamedTuple):
    """A call of a callback.

    Attributes:
        equations: Those that hold it, outermost first, and its own.
        is_dead: Whether nothing uses its result, so that JAX leaves it out.
        is_recomputed: Whether `jax.checkpoint` computes it for the gradient.
        is_in_loop: Whether it depends on values how often it is executed.
    """

    equations: tuple[Any, ...]
    is_dead: bool = False
    is_recomputed: bool = False
    is_in_loop: bool = False

    @property
    def callback(self) -> Any:
        return self.equations[-1].params.get('callback')


CallsByCallback = Mapping[int, Sequence[CallbackCall]]


def callback_calls(jaxpr: Any) -> CallsByCallback:
    """The calls of callbacks in a program and in those that it holds, by id of JAX's callable."""
    calls: dict[int, list[CallbackCall]] = {}
    for call in _calls(jaxpr, CallbackCall(()), jaxpr.outvars):
        calls.setdefault(id(call.callback), []).append(call)
    return calls


def _calls(jaxpr: Any, outer: CallbackCall, used: Sequence[Any]) -> Iterator[CallbackCall]:
    """The calls in a program; `used` are its results that are used."""
    live = {variable for variable in used if _is_variable(variable)}
    for equation in reversed(jaxpr.eqns):
        name, is_dead = equation.primitive.name, outer.is_dead
        if equation.effects or any(variable in live for variable in equation.outvars):
            live.update(filter(_is_variable, equation.invars))
        else:
            is_dead = True
        held = CallbackCall((*outer.equations, equation), is_dead,
                            outer.is_recomputed or equation.params.get('differentiated') is True,
                            outer.is_in_loop or name not in (*ONCE, *CALLBACKS))
        if name in CALLBACKS:
            yield held
        for inner in inner_programs(equation):
            has_same_results = name in ONCE and len(inner.outvars) == len(equation.outvars)
            yield from _calls(inner, held, inner.outvars if not has_same_results else [
                result for result, outside in zip(inner.outvars, equation.outvars, strict=True) if outside in live])


def _is_variable(value: Any) -> bool:
    """Whether a value of a program is none of its constants."""
    return hasattr(value, 'aval') and not hasattr(value, 'val')


def dead_callbacks(calls: CallsByCallback) -> Iterator[tuple[Frame, str]]:
    """The functions that a program never calls though it says so, each with the line that does."""
    for each in calls.values():
        if all(call.is_dead for call in each):
            yield from _described(each[0])


def recomputed_callbacks(calls: CallsByCallback) -> Iterator[tuple[Frame, str, int]]:
    """The functions that a program calls, and again for the gradient: line, name, and calls in one run; 0 if unknown."""
    for each in calls.values():
        live = [call for call in each if not call.is_dead]
        first = next((call for call in live if not call.is_recomputed), None)
        if first is not None and any(call.is_recomputed for call in live):
            for line, name in _described(first):
                yield line, name, 0 if any(call.is_in_loop for call in live) else len(live)


def _described(call: CallbackCall) -> Iterator[tuple[Frame, str]]:
    """The program's line of a call, and the name of its function; none of a function of JAX's own."""
    stack, function = stack_of(call.equations), user_function(call.callback)
    if stack and function is not None:
        yield stack[-1], name_of(function)
