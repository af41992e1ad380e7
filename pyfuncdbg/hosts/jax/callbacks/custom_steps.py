"""Backward steps of `custom_vjp` functions in eager code, as calls of kind "gradient".

They know their forward call. Made after the program's backward rule has returned, on its thread. Rules that are called with
tracers make none.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.call_frames import STOP_REMARK, mark_function_caller
from pyfuncdbg.hooks.chain import current_call, hooks, invoke
from pyfuncdbg.hooks.traits import Traits
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hosts.interception.result_list import ResultList
from pyfuncdbg.hosts.jax.jax_parts import JaxParts

_FORWARD, _BACKWARD = 'custom_vjp_fwd', 'custom_vjp_bwd'
_TRAITS = Traits(has_own_gradient=True, seen_afterwards=True)
_REMARK = "The backward rule has returned. 'inject' works at its own call, one of kind python: break on the rule's name."
_MOST_FORWARD = 1 << 12


@transparent
class FlatRule:
    """One rule as a function of the leaves of its arguments, as JAX's own callable of a callback is.

    Attributes:
        callback_func: The program's function.
        in_tree: Structure of its arguments.
        out_tree: Structure of its result, once it has returned.
        site: Where it is called.
        call: Number of the call.
    """

    __slots__ = ('_tools', 'call', 'callback_func', 'in_tree', 'out_tree', 'site')

    def __init__(self, tools: Any, function: Callable[..., Any], in_tree: Any) -> None:
        self._tools = tools
        self.callback_func = function
        self.in_tree = in_tree
        self.out_tree: Any = None
        self.site: CallSite | None = None
        self.call = 0

    @mark_function_caller
    def __call__(self, *leaves: Any) -> Sequence[Any]:
        self.call = current_call(self.site)
        args, settings = self._tools.tree_unflatten(self.in_tree, leaves)
        raw = self.callback_func(*args, **settings)
        values, self.out_tree = self._tools.tree_flatten(raw)
        if not hooks.passive:
            wait_for(values)
        outputs = ResultList(values)
        outputs.raw = raw
        return outputs

    def result_of(self, outputs: Sequence[Any]) -> Any:
        """What the function returns, with the outputs that a hook gave instead of its own."""
        if self.out_tree is not None:
            return self._tools.tree_unflatten(self.out_tree, outputs)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)


def wait_for(values: Sequence[Any]) -> None:
    """Wait until values of eager code are computed: for a debugger, whose user asks for them. Errors stay in them."""
    for value in values:
        wait = getattr(type(value), 'block_until_ready', None)
        if wait is not None:
            with suppress(Exception):           # the program gets it where it reads the value
                wait(value)


class _ForwardCall(NamedTuple):
    """A call of a forward rule.

    Attributes:
        number: Of the call.
        site: Where it was made.
        counts: How many leaves each argument has.
        residuals: Ids of the leaves of what it keeps for the backward rule.
    """

    number: int
    site: CallSite
    counts: tuple[int, ...]
    residuals: tuple[int, ...]


class StepLink:
    """The forward calls of one function with rules, and the backward steps that follow.

    Args:
        tools: Of nested containers.
        parts: Of JAX.
        fixed: Places of the arguments that have no gradients.
    """

    def __init__(self, tools: Any, parts: JaxParts, fixed: Sequence[int]) -> None:
        self._tools = tools
        self._tracer: type = parts.core.Tracer
        self._array: type = parts.array.ArrayImpl
        self._fixed = frozenset(fixed)
        self._forward: deque[_ForwardCall] = deque(maxlen=_MOST_FORWARD)

    def note(self, flat: FlatRule, run: Run, args: Sequence[Any], result: Any) -> None:
        """Note a call that has returned.

        Args:
            flat: The rule.
            run: What the call was part of.
            args, result: Of the rule.
        """
        site = flat.site
        if site is None or not flat.call:
            return
        leaves = self._tools.tree_leaves
        if site.op_type == _FORWARD and isinstance(result, tuple) and len(result) == 2:
            self._forward.append(_ForwardCall(flat.call, site, tuple([len(leaves(value)) for value in args]),
                                              tuple([id(leaf) for leaf in leaves(result[1])])))
        elif site.op_type == _BACKWARD and isinstance(result, tuple) and len(args) >= 2:
            forward = self._forward_of(tuple([id(leaf) for leaf in leaves(args[-2])]))
            incoming = leaves(args[-1])
            if forward is not None and all(isinstance(value, self._array) for value in incoming):
                gradients = self._gradients(forward, result)
                if gradients is not None:
                    self._make(forward, site, run, incoming, gradients)

    def _forward_of(self, residuals: tuple[int, ...]) -> _ForwardCall | None:
        """The newest forward call that has kept these, which no backward call has asked for."""
        for forward in reversed(self._forward):
            if forward.residuals == residuals:
                self._forward.remove(forward)
                return forward
        return None

    def _gradients(self, forward: _ForwardCall, result: tuple[Any, ...]) -> list[Any] | None:
        """The gradient of each leaf of the arguments, None of one without; None if they are not known."""
        given = list(result)
        gradients: list[Any] = []
        for place, count in enumerate(forward.counts):
            gradient = None if place in self._fixed or not given else given.pop(0)
            values = [None] * count if gradient is None else self._tools.tree_leaves(gradient)
            if len(values) != count or any(isinstance(value, self._tracer) for value in values):
                return None
            gradients += values
        return gradients

    @staticmethod
    def _make(forward: _ForwardCall, site: CallSite, run: Run, incoming: list[Any], gradients: list[Any]) -> None:
        source = forward.site
        step = CallSite(f'{source.name}_grad', source.op_type, 'gradient', source.host, stack=site.stack,
                        function=site.function, attrs={'forward': source.name, 'slots': list(range(len(gradients))),
                                                       'inputs': list(source.inputs), STOP_REMARK: _REMARK},
                        outputs=[f'{source.name}_grad:{place}' for place in range(len(gradients))], traits=_TRAITS)
        invoke(step, lambda *_: gradients, run, incoming, forward.number)
