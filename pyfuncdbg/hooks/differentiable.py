"""Function of arrays with the gradients that a framework computes of it, for `check`.

A host gives those of a run, such as the modules that were called in it, to the thread of the command.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

Arrays = Sequence[np.ndarray]
DIFFERENTIABLES = '_differentiables'
"""Attribute of a site of runs: its `FindDifferentiables`."""
EAGER_BY = 'eager_by'
"""Attribute of a site whose calls have no values while the framework compiles: the setting with which they have some."""


@dataclass(frozen=True, slots=True)
class Differentiable:
    """A function to be differentiated where it was called.

    Attributes:
        name, kind: Of the function, and of its class.
        leaves: Names of the arrays that it is differentiated by.
        values: These arrays.
        function: Gives the outputs for such arrays, which are its own. Raises what the program raises.
        gradients: Gives, for weights of the outputs, the gradient by each array; None where there is none.
    """

    name: str
    kind: str
    leaves: Sequence[str]
    values: Arrays
    function: Callable[[Arrays], Arrays]
    gradients: Callable[[Arrays], Sequence[np.ndarray | None]]


FindDifferentiables = Callable[[int, Arrays], Sequence[Differentiable]]
"""Those of a run, by its number and its recorded inputs. ValueError says why there are none."""
