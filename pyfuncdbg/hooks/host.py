"""Protocols of hosts (our runtime, TensorFlow, ...), as observers see them.

Observers and front ends know hosts only through these Protocols. Every method is called on the thread of the call.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from pyfuncdbg.hooks.call import CallSite
    from pyfuncdbg.hooks.value_placeholders import LaterSummary, ValueSummary

ListChanges = Callable[[], Sequence[str]]
ReplaySite = Callable[[str, Callable[..., Any], Sequence[str], bool, bool], 'CallSite']
READERS: dict[type, Callable[[Any], Any]] = {}
"""Fast readers of a host's values, by type: they give an array or a NumPy scalar, and may raise where `to_numpy` does not.
An array is to be left before the program goes on, which may free its memory."""
COPIERS: dict[type, Callable[[Any, int], Any]] = {}
"""Copiers of a host's values, by type, faster than readers: of a value and a number of bytes they make a tuple of type,
shape, bytes in C order and False. The bytes are None where there are more; some scalars are given as NumPy's. None is the
answer where the value has to be read."""
SUMMARIES: dict[str, Callable[[Any, bool], ValueSummary | LaterSummary | None]] = {}
"""Summarizers of values in the memory of a device, by name of the host: they begin to count there, if asked, and give None
for any other value. `Host.to_numpy` copies such a value, and waits for the device."""
SAVERS: dict[type, Callable[[Any], Callable[[], None] | None]] = {}
"""Savers of a host's values that functions can write to, by type: they copy the elements, and give a function that writes
them back; None where they cannot be copied."""
EAGER_TENSORS: list[type] = []
"""Classes of hosts' tensors that have a value, which `Host.to_numpy` reads without running code of the program."""
OWNERS: dict[type, str] = {}
"""Classes of frameworks' tensors, with the name of their host: a value may be shown where no call of it runs."""
HOSTS: dict[str, Host] = {}
"""The hosts of this process, by name: those whose framework is imported and attached to."""


def device_summary(value: Any, counted: bool) -> ValueSummary | LaterSummary | None:
    """The summary of a value in the memory of a device, None of any other.

    Args:
        value: Anything.
        counted: Begin to count its elements there.
    """
    return next((found for summary in list(SUMMARIES.values()) if (found := summary(value, counted)) is not None), None)


def device_host(value: Any) -> Host | None:
    """The host that reads a value in the memory of a device, None of any other value.

    Args:
        value: Anything.
    """
    return next((HOSTS.get(name) for name, summary in list(SUMMARIES.items()) if summary(value, False) is not None), None)


def is_on_device(value: Any) -> bool:
    """Whether a value is in the memory of a device: nothing reads it unless the user asks for it."""
    return device_summary(value, False) is not None


class Host(Protocol):
    """Reads, makes and re-computes the values that a `Call` holds.

    Attributes:
        name: Of the host.
        replay_site: Makes a site of no graph, at which `call_again` calls a function as an op does: of the op's type, the
            function, names of the output types, whether the op was a node, and whether its backward step is called, whose
            inputs are followed by gradients of its outputs. ValueError for an op that calls none.
        op_draws: What changes when an eager op draws random numbers or is seeded; compared at each recorded call.
        pauses_within: Whether its runs also pause at nodes of a graph that a node runs: a loop, a branch, a function.
        version: Of the framework; '' of one that has none of its own.
        variables: Names of environment variables that its results depend on.
    """

    name: str
    pauses_within: bool
    replay_site: ReplaySite
    version: str
    variables: Sequence[str]

    @property
    def op_draws(self) -> Any: ...

    def to_numpy(self, value: Any) -> np.ndarray:
        """The array behind a value, any rank, without a copy where the host allows it. The caller must not write to it.

        A value that is no tensor (None, an arbitrary object) becomes a 0-d object array.

        Raises:
            ValueNotKnown: It is not computed yet: a host does not wait for it.
        """

    def tensor_name(self, value: Any) -> str:
        """The name, such as 'mm:0', of a `value` that is a symbolic tensor; '' of any other."""

    def from_numpy(self, array: np.ndarray, like: Any) -> Any:
        """A host value of the kind of `like` (tensor, array, NumPy scalar) that holds a copy of `array`.

        Raises:
            ValueError: The array's shape or dtype cannot stand in for `like`.
        """

    def new_context(self, inputs: int) -> Any:
        """Make what the function of a site with the trait `takes_context` gets before its inputs, in a repeated call.

        Args:
            inputs: How many arguments follow.

        Returns:
            A context.
        """

    def call_again(self, site: CallSite, inputs: Sequence[Any]) -> Sequence[Any]:
        """Call the site's function outside of any run and past all hooks, with the same conversions as in one.

        Args:
            site: Of kind 'python' or 'op'.
            inputs: The host's own values, or arrays. The function may write to them.

        Returns:
            The host's own values.

        Raises:
            ValueError: The op has an effect, so it cannot be called again.
            Exception: What the user's function raises, unchanged.
        """

    def restored_state(self) -> AbstractContextManager[ListChanges]:
        """A context that restores what calls of this host may change outside of themselves: random states, variables.

        It gives a function that lists what was changed so far: names of variables and generators.
        """

    def replace(self, site: CallSite, function: Callable[..., Any], count: int) -> None:
        """Replace the function of a Python site from now on; `count` is how many inputs a call there has.

        Raises:
            ValueError: There is no function here to replace, or the new one cannot be called with the site's inputs; nothing
                is changed.
        """

    def rng_state(self) -> Any:
        """The state of every random generator that a run of this host may use: ops' seeds, `numpy.random`, `random`."""

    def op_generators(self) -> Sequence[tuple[str, Any]]:
        """The seed (under '') and the random generators of eager ops, by name; () where no op has drawn or was seeded."""

    def restore_op_generators(self, states: Sequence[tuple[str, Any]]) -> None:
        """Put the generators of eager ops into states from a trace: the seed, and `random_states.plain_state` of each.

        Raises:
            ValueError: The states are damaged, or none of this host.
        """

    def make_tensor(self, array: np.ndarray) -> Any:
        """A tensor with a value, whatever graph this thread is building; `array` is copied."""

    def set_rng_state(self, state: Any) -> None:
        """Restore a `state` that `rng_state` returned."""


class RunView(Protocol):
    """State of a run. Asked for on the run's thread, at a pause or from within one of its Python calls.

    Positions count the sites in execution order. Inside a function that a node calls, all this is about that function.
    """

    @property
    def sites(self) -> Sequence[CallSite]:
        """The run's sites in execution order."""

    @property
    def feeds(self) -> Sequence[str]:
        """Names of the tensors that were given."""

    @property
    def position(self) -> int:
        """Index in `sites` of the node that is next, or that runs now."""

    @property
    def repeats(self) -> bool:
        """Whether these nodes run repeatedly, in a loop."""

    @property
    def within(self) -> Sequence[CallSite]:
        """The nodes that these are a part of, outermost first: conditions and loops. Empty for a whole run or function."""

    def holds(self, tensor: str) -> bool:
        """Whether the value of a tensor is there, without computing anything again."""

    def value(self, tensor: str) -> Any:
        """The host's value of a tensor such as 'mm:0'.

        Raises:
            KeyError: Not computed yet, unknown, or dropped after its last use and not re-computable.
        """

    def obstacle(self, position: int) -> str:
        """The reason why the run cannot go back before the node at `position`; '' if it can."""


class Pausable(Protocol):
    """A run that goes on at full speed and can be paused after the Python call it is in."""

    def pause(self, on_pause: Callable[[], None]) -> None:
        """Call `on_pause` before the next node, on the run's thread; the run's control is a `RunCursor` then.

        `on_pause` says where to pause next (`go_to`, `enter`, `rewind`, `retry`), or `resume`. A pause at the position
        behind the last node comes before the run returns its fetches; `go_to` beyond that leads out of a function to the
        node after the one that called it. A node that raises is asked about before its error goes on.
        """

    def resume(self) -> None:
        """Pause no more."""

    def mark(self) -> None:
        """Save the state before the Python call that is about to begin: a pause in it may go back before it."""

    def look(self) -> RunView | None:
        """The state of the run, None if that is not known."""
