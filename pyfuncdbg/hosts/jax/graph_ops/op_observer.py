"""Observer of one op in a compiled program: our own op behind it passes its values to Python.

JAX lowers it on the thread that compiles; it is called on the thread that dispatches, or on one of XLA's.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.hooks.value_placeholders import UnknownValue
from pyfuncdbg.hosts.jax.jax_parts import JaxParts
from pyfuncdbg.hosts.jax.programs.executables import Observing

NAME = 'pyfuncdbg_observe'
"""Of the op."""
OnValues = Callable[['OpObserver', Sequence[Any], Sequence[Any]], None]
"""Called with the inputs and outputs of the op."""


class OpObserver(Observing):
    """An observed op: JAX calls it with the op's values.

    Attributes:
        constants: Inputs that the program holds as constants, by their place.
        inputs, outputs: Where among the values each input and output is; -1 for one that is a constant or not passed.
        unknown: What is certain of each output, for one that is not passed.
        has_whole_outputs: Whether all outputs are of whole numbers or booleans.
        step: The backward step that the op is, if it is one.
    """

    __slots__ = ('_on_values', 'constants', 'has_whole_outputs', 'inputs', 'outputs', 'step', 'unknown')

    def __init__(self, site: CallSite, on_values: OnValues, inputs: Sequence[int], outputs: Sequence[int],
                 constants: dict[int, Any], unknown: Sequence[UnknownValue], times: int | None) -> None:
        super().__init__(site, times)
        self._on_values = on_values
        self.inputs = inputs
        self.outputs = outputs
        self.constants = constants
        self.unknown = unknown
        self.has_whole_outputs = False
        self.step: Any = None

    def __call__(self, *values: Any) -> tuple[()]:
        # XLA reuses the memory behind them after this call.
        own = [np.array(value) for value in values]
        inputs = [own[place] if place >= 0 else self.constants.get(index) for index, place in enumerate(self.inputs)]
        outputs = [own[place] if place >= 0 else self.unknown[index] for index, place in enumerate(self.outputs)]
        self._on_values(self, inputs, outputs)
        return ()


def observing_primitive(parts: JaxParts) -> Any:
    """The op that calls observers: it has an effect, so that no optimization removes it, and no result."""
    primitive = parts.core.Primitive(NAME)
    primitive.multiple_results = True
    effects = {parts.debugging.debug_effect}
    primitive.def_effectful_abstract_eval(lambda *_, observer: ([], effects))
    primitive.def_impl(lambda *values, observer: observer(*values))
    emit, sharding_of = parts.callback.emit_python_callback, parts.callback._callback_op_sharding
    settings = {'returns_token': False} if parts.release >= (0, 8) else {}

    said: set[str] = set()

    def lower(ctx: Any, *args: Any, observer: OpObserver) -> Any:
        context = ctx.module_context.axis_context
        devices = getattr(context, 'num_devices', 1)
        if devices > 1:                         # not within `shard_map`: XLA would gather the values, and warn of that
            program = observer.site.name.partition('/')[0]
            if program not in said and not observer.site.traits.runs_graph:
                said.add(program)
                say(f'ops of {program} outside of shard_map are not watched: XLA shares them among {devices} devices; '
                    'on one device they are')
            return []
        try:
            sharding = sharding_of(context, None, ctx.avals_out)
        except NotImplementedError:             # some axes of the mesh are partitioned by XLA
            return []
        result, _, _ = emit(ctx, observer, None, list(args), ctx.avals_in, ctx.avals_out, has_side_effect=True,
                            sharding=sharding, **settings)
        return result
    parts.lowering.register_lowering(primitive, lower)
    return primitive
