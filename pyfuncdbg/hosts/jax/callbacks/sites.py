"""Call sites of callbacks: a callback of a compiled program, or an eager call at a line of the program."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest
from types import FrameType
from typing import Any

from pyfuncdbg.hooks.call import CallSite, Frame
from pyfuncdbg.hooks.call_frames import STOP_REMARK, mark_function_caller
from pyfuncdbg.hooks.differentiable import EAGER_BY, RULE, RuleSite
from pyfuncdbg.hooks.patched_code import code_number
from pyfuncdbg.hooks.traits import Traits
from pyfuncdbg.hosts.interception.program_line import program_frames
from pyfuncdbg.hosts.interception.result_list import output_list
from pyfuncdbg.hosts.jax.callbacks.custom_steps import wait_for
from pyfuncdbg.hosts.jax.callbacks.flat_arguments import FlatArguments, flat_arguments, parameters
from pyfuncdbg.hosts.jax.host import JaxHost
from pyfuncdbg.hosts.jax.jax_parts import JaxParts
from pyfuncdbg.hosts.jax.programs.lowerings import LoweredCallback
from pyfuncdbg.hosts.jax.programs.user_function import flat_caller
from pyfuncdbg.hosts.jax.runs.collective_limit import CollectiveLimit

_TRAITS = Traits(wraps_python=True)
_BREAKPOINT_TRAITS = _TRAITS._replace(copied_frames=True)
OP_TYPES = ('pure_callback', 'io_callback', 'debug_callback', 'custom_vjp', 'custom_vjp_fwd', 'custom_vjp_bwd', 'custom_jvp',
            'custom_jvp_rule')
STEP = 'token'
"""Attribute of a site and of the op around it, which tells that they are one node of a graph."""
CallFlat = Callable[..., Any]


class CallbackSites:
    """The sites of callbacks, by their place in the program: a place that is compiled again keeps its site."""

    def __init__(self, parts: JaxParts, host: JaxHost, call_flat: CallFlat, limit: CollectiveLimit) -> None:
        """Begin without sites.

        Args:
            parts, host: Of JAX.
            call_flat: JAX's own call of a callback with flat arguments.
            limit: Of collectives.
        """
        self._parts = parts
        self._host = host
        self._call_flat = call_flat
        self._limit = limit
        self._by_place: dict[tuple[Any, ...], CallSite] = {}
        self._names: dict[tuple[Any, ...], str] = {}
        self._steps: set[str] = set()
        self._places: dict[str, int] = {}

    def forget(self) -> None:
        """Forget all of them."""
        self._by_place.clear()
        self._names.clear()
        self._steps.clear()
        self._places.clear()

    def of_lowered(self, lowered: LoweredCallback, executable_name: str) -> CallSite:
        """The site of a callback of a compiled program."""
        prefix = f'{executable_name}/' if executable_name else ''
        name = prefix + name_of(lowered.function)
        arguments = lowered.executable.arguments if lowered.executable is not None and prefix else ()
        tensors = lowered.inputs if prefix or lowered.observed else ()      # JAX's program of one eager call: its own names
        site = lowered.site = self._site(name, lowered.op_type, lowered.function, lowered.callback, lowered.stack, tensors,
                                         arguments)
        site.traits = site.traits._replace(unlinked=not lowered.observed)
        if lowered.outputs is not None:
            site.outputs = [f'{site.name}:{index}' for index in range(lowered.outputs)]
        if site.name in self._steps:
            site.attrs = {**site.attrs, STEP: site.name}
        if remark := self._limit.remark(lowered.devices):
            site.attrs = {**site.attrs, STOP_REMARK: remark}
        return site

    def name_of_step(self, prefix: str, op_type: str, function: Any, stack: Sequence[Frame]) -> str:
        """The name of a callback that is a step of a program, too: its site will have the same.

        Args:
            prefix: Name of the program.
            op_type, function, stack: Of the callback.
        """
        name = self._name_at(_place(f'{prefix}/{name_of(function)}', op_type, function, stack))
        self._steps.add(name)
        return name

    def _name_at(self, place: tuple[Any, ...]) -> str:
        """The name of a site at a place: the first of its name is without a number."""
        name = self._names.get(place)
        if name is None:
            name = place[0]
            number = self._places.get(name, 0)
            self._places[name] = number + 1
            name = self._names[place] = f'{name}_{number}' if number else name
        return name

    def of_eager(self, op_type: str, function: Any, callback: Any, frame: FrameType) -> CallSite:
        """The site of a callback that the program calls eagerly, at its innermost line from a frame on outwards."""
        return self._site(name_of(function), op_type, function, callback, program_frames(frame))

    def of_rule(self, op_type: str, function: Any, callback: Any, frame: FrameType, name: str, rule: RuleSite) -> CallSite:
        """The site of a function with a derivative rule, or of a rule, that JAX calls from a frame of it."""
        site = self._site(name, op_type, function, callback, program_frames(frame))
        site.attrs = {**site.attrs, EAGER_BY: 'JAX_DISABLE_JIT=1', RULE: rule}
        return site

    def _site(self, name: str, op_type: str, function: Any, callback: Any, stack: Sequence[Frame],
              tensors: Sequence[str] = (), arguments: Sequence[str] = ()) -> CallSite:
        place = _place(name, op_type, function, stack)
        name, earlier = self._name_at(place), self._by_place.get(place)
        if (caller := flat_caller(callback)) is not None:
            mark_function_caller(caller)        # or a breakpoint on the function would not find its frame
        attrs: dict[str, Any] = {'_call': partial(self._call_again, callback)}
        layout = flat_arguments(self._parts, callback, function)
        if isinstance(layout, FlatArguments):
            attrs['_arguments'] = layout
        named = layout.names if layout is not None else parameters(function)
        site = CallSite(name, op_type, 'python', self._host, function=function, stack=stack, outputs=(f'{name}:0',),
                        inputs=_input_names(tensors, named, arguments, name_of(function) if function is not None or not stack
                                            else stack[-1].function.rpartition('.')[2]),
                        attrs=attrs, same_as=earlier,
                        traits=_BREAKPOINT_TRAITS if op_type == 'debug_breakpoint' else _TRAITS)
        self._by_place.setdefault(place, site)
        return site

    def replay_site(self, op_type: str, function: Callable[..., Any], types: Sequence[str], is_node: bool,
                    is_gradient: bool) -> CallSite:
        """A site of no program, at which `call_again` calls a function as a callback does; see `Host`.

        Raises:
            ValueError: It is no callback.
        """
        if is_gradient or op_type not in OP_TYPES:
            raise ValueError(f'{op_type} is none of {", ".join(OP_TYPES)}')
        leaves = self._parts.tree.tree_leaves

        def call(inputs: list[Any]) -> Sequence[Any]:
            return leaves(function(*inputs))  # type: ignore[no-any-return]
        return CallSite(op_type, op_type, 'python', self._host, function=function, attrs={'_call': call})

    def _call_again(self, callback: Any, inputs: list[Any]) -> Sequence[Any]:
        """Call a callback past all hooks, for a user who waits for what it gives."""
        if hasattr(callback, 'in_tree'):
            outputs = output_list(self._call_flat(callback, *inputs))
            wait_for(outputs)
            return outputs
        callback(*inputs)
        return ()


def _place(name: str, op_type: str, function: Any, stack: Sequence[Frame]) -> tuple[Any, ...]:
    """Equal for the calls of one function at one place of the program."""
    return name, op_type, code_number(function), tuple(stack[-1:])


def _input_names(tensors: Sequence[str], parameters: Sequence[str], arguments: Sequence[str], function: str) -> list[str]:
    """Names of inputs: of the tensors where those have names, else of the parameters that get them.

    A parameter that is named as an argument of the program, and does not get it, is 'clip(x)': `x` is a feed of the run.
    """
    named = [f'{function}({parameter})' if parameter in arguments else parameter
             for parameter in parameters[:len(tensors) or None]]
    return [tensor or parameter for tensor, parameter in zip_longest(tensors, named, fillvalue='')]


def name_of(function: Any) -> str:
    """The name of a function in the name of a site; without one it is a breakpoint of the program."""
    if function is None:
        return 'breakpoint'
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, '__name__', None) or type(function).__name__
    return 'lambda' if name == '<lambda>' else str(name)
