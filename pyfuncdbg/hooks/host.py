"""What a host (our runtime, TensorFlow, ...) offers to those who watch it.

Observers and faces know hosts only through these Protocols; every method is called on the thread of the call.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from pyfuncdbg.hooks.call import CallSite


class Host(Protocol):
    """Reads, makes and re-computes the values that a `Call` holds."""

    name: str

    def to_numpy(self, value: Any) -> np.ndarray:
        """The array behind a value, any rank, without a copy where the host allows it. The caller must not write to it.

        A value that is no tensor (None, an arbitrary object) becomes a 0-d object array.
        """

    def from_numpy(self, array: np.ndarray, like: Any) -> Any:
        """A host value of the kind of `like` (tensor, array, NumPy scalar) that holds a copy of `array`.

        Raises:
            ValueError: The array's shape or dtype cannot stand in for `like`.
        """

    def call_again(self, site: CallSite, inputs: Sequence[Any]) -> Sequence[Any]:
        """Call the site's function outside of any run, with the same conversions as in one.

        Raises:
            Exception: What the user's function raises, unchanged.
        """

    def rng_state(self) -> Any:
        """The state of every random generator that a run of this host may use: ops' seeds, `numpy.random`, `random`."""

    def set_rng_state(self, state: Any) -> None:
        """Put back what `rng_state` returned."""


class Pausable(Protocol):
    """A run that goes on at full speed and can be paused after the Python call it is in."""

    def pause(self, on_pause: Callable[[], None]) -> None:
        """Call `on_pause` before the next node, on the run's thread; the run's control is a `RunControl` then.

        `on_pause` says where to pause next (`go_to`, `rewind`, `pause`), or `resume`. Behind the last node it is called once
        more, with the position behind the last, before the run returns its fetches.
        """


class RunControl(Pausable, Protocol):
    """Steers a run that is paused at a node boundary. Positions count the run's sites in execution order."""

    @property
    def sites(self) -> Sequence[CallSite]:
        """The run's sites in execution order."""

    @property
    def position(self) -> int:
        """Index in `sites` of the node that is next."""

    def value(self, tensor: str) -> Any:
        """The host's value of a tensor such as 'mm:0'.

        Raises:
            KeyError: Not computed yet, unknown, or dropped after its last use and not re-computable.
        """

    def resume(self) -> None:
        """Pause no more."""

    def go_to(self, position: int) -> None:
        """Run up to the node at `position` (its next execution) and pause before it: `on_pause` is called again."""

    def rewind(self, position: int) -> None:
        """Go back before the node at `position`; variables and random states as they were there."""

    def inject(self, tensor: str, value: np.ndarray) -> None:
        """Replace a computed value.

        Raises:
            ValueError: Shape or dtype do not fit; nothing is changed.
        """

    def swap(self, site: CallSite, function: Callable[..., Any]) -> None:
        """Replace the function of a Python site; what depends on it runs again."""

    def retry(self) -> None:
        """Run the node before the position once more."""
