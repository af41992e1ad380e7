"""Traits of a call site: what an op means for a debugger, whatever its host calls it.

Hosts give them to the sites that they make; observers ask for a trait, never for the name of an op. Immutable, any thread.
"""
from __future__ import annotations

import os.path
from collections.abc import Iterable
from typing import NamedTuple

RECOMPUTED = 'recomputed'
"""The attribute, True, of a site whose calls repeat calls of a forward pass for the gradients."""


class Traits(NamedTuple):
    """Facts about the op of a site; of a backward step, about the op that it differentiates.

    Attributes:
        runs_graph: It runs ops of its own: a branch, a loop, a traced function.
        calls_function: It is the call of a traced function.
        reads_no_value: It looks at no element of its inputs, only at their shapes.
        wraps_python: It calls a Python function of the program.
        backward_of_python: It is the backward step of such a call, as an op.
        needs_no_shape: An unknown shape hinders neither it nor the readers of its output.
        reads_variable: It gives the value of a variable, so its gradient is that of the variable.
        gathers_rows: The gradient of its first input may have only the rows that it took.
        takes_symmetric: Its gradient is that of a symmetric matrix.
        backward_pass: Of a run: it computes gradients.
        fed_run: Of a run: the program feeds it and says what it fetches, as of a session; a function has arguments.
        has_own_gradient: Its gradient is a Python function of the program.
        takes_context: Its function has a first parameter that is no input of a call, which the framework fills.
        foreign: Of a backward step: that of a framework's own op, which cannot be called again.
        seen_afterwards: Hooks see its calls when they have ended, and change nothing: stops are after them.
        unlinked: Ops that are not recorded make its inputs and take its outputs: what no node is known to take may be used.
        copied_frames: A stop in it is in copies of the frames of a function that itself has no lines to step through.
    """

    runs_graph: bool = False
    calls_function: bool = False
    reads_no_value: bool = False
    wraps_python: bool = False
    backward_of_python: bool = False
    needs_no_shape: bool = False
    reads_variable: bool = False
    gathers_rows: bool = False
    takes_symmetric: bool = False
    backward_pass: bool = False
    fed_run: bool = False
    has_own_gradient: bool = False
    takes_context: bool = False
    foreign: bool = False
    seen_afterwards: bool = False
    copied_frames: bool = False
    unlinked: bool = False

    @property
    def bound_to_pass(self) -> bool:
        """Whether its function is a backward function whose context only the pass has: its calls cannot be repeated."""
        return self.takes_context and not self.wraps_python

    @property
    def names(self) -> list[str]:
        """The traits that are there, as a trace keeps them."""
        return [name for name, has in zip(self._fields, self, strict=True) if has]


NO_TRAITS = Traits()


def traits_from_names(names: Iterable[str]) -> Traits:
    """The traits with these names; names of other versions are skipped."""
    return NO_TRAITS._replace(**{name: True for name in names if name in Traits._fields})


def _read_op_traits() -> dict[str, Traits]:
    names: dict[str, list[str]] = {}
    with open(os.path.join(os.path.dirname(__file__), 'op_traits.txt'), encoding='utf-8') as lines:    # pathlib takes 3 ms
        for line in lines:
            trait, _, op_types = line.partition(': ')
            for op_type in op_types.split() if not line.startswith('#') else ():
                names.setdefault(op_type, []).append(trait)
    return {op_type: NO_TRAITS._replace(**dict.fromkeys(flags, True)) for op_type, flags in names.items()}


_TRAITS_BY_OP_TYPE = _read_op_traits()
"""Traits of op types that several hosts share, also for old traces, whose sites have none."""


def op_traits(op_type: str) -> Traits:
    """The traits of an `op_type`, by its name alone."""
    return _TRAITS_BY_OP_TYPE.get(op_type, NO_TRAITS)


def backward_step_traits(op_type: str) -> Traits:
    """The traits of a framework's backward step of an `op_type`: foreign, unless the op calls a Python function."""
    traits = op_traits(op_type)
    return traits._replace(foreign=not traits.wraps_python and not traits.has_own_gradient)
