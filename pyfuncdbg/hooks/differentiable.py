"""Function of arrays with the gradients that a framework computes of it, for `check`.

A host gives those of a run, such as the modules that were called in it, and functions with rules of the program's that were
called without values. On the thread of the command.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

Arrays = Sequence[np.ndarray]
DIFFERENTIABLES = '_differentiables'
"""Attribute of a site of runs: its `FindDifferentiables`."""
EAGER_BY = 'eager_by'
"""Attribute of a site whose calls have no values while the framework compiles: the setting with which they have some."""
RULE = '_rule'
"""Attribute of a site that calls a function with a rule of the program's for its gradient, or that rule: its `RuleSite`."""


@dataclass(frozen=True, slots=True)
class Differentiable:
    """A function to be differentiated where it was called.

    Attributes:
        name, kind: Of the function, and of its class.
        leaves: Names of the arrays that it is differentiated by.
        values: These arrays.
        function: Gives the outputs for such arrays, which are its own. Raises what the program raises.
        gradients: Gives, for weights of the outputs, the gradient by each array; None where there is none.
        rule_outputs: Gives the outputs as a rule for the gradient computes them; None where no rule does.
        origin: Where the values are from, if they are not those of the call.
    """

    name: str
    kind: str
    leaves: Sequence[str]
    values: Arrays
    function: Callable[[Arrays], Arrays]
    gradients: Callable[[Arrays], Sequence[np.ndarray | None]]
    rule_outputs: Callable[[Arrays], Arrays] | None = None
    origin: str = ''


FindDifferentiables = Callable[[int, Arrays], Sequence[Differentiable]]
"""Those of a run, by its number and its recorded inputs. ValueError says why there are none."""


class DerivativeRule(Protocol):
    """A function with a rule of the program's for its gradient."""

    @property
    def label(self) -> str:
        """Name of the function, as its sites have it."""

    @property
    def rule(self) -> str:
        """Name of the rule; '' if that is not the program's own."""

    @property
    def place(self) -> tuple[str, int]:
        """File and line of the rule, else of the function; ('', 0) if neither is known."""

    @property
    def is_traced(self) -> bool:
        """Whether a call without values was made."""

    def differentiable(self, recorded: Arrays | None) -> Differentiable:
        """The function as its newest call without values has called it.

        Args:
            recorded: Inputs of a call that had values; None to have values made.

        Raises:
            ValueError: Why there is none. With `recorded`: also that these do not fit.
        """


class RuleSite(NamedTuple):
    """Part of a site in a function with a rule.

    Attributes:
        rule: The function; the same for all sites of its own and of its rules.
        has_arguments: Whether calls here get the arguments of the function.
    """

    rule: DerivativeRule
    has_arguments: bool
