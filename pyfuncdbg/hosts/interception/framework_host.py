"""Base of the hosts of real frameworks: what they share of `Host`. Asked on the thread of a call."""
from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.function_fit import check_fit
from pyfuncdbg.hooks.host import EAGER_TENSORS, OWNERS, READERS, ListChanges, ReplaySite

PLAIN = (np.ndarray, np.generic, bytes, int, float, complex, str)
"""Types of values that are no tensors, and have elements all the same."""


class KeptState(Protocol):
    """Values of a framework's variables at one moment."""

    def changed(self) -> Sequence[str]:
        """Names of the variables whose value has changed."""

    def restore(self) -> None:
        """Write the values back."""


class NothingKept:
    """The state of a framework without variables."""

    def changed(self) -> Sequence[str]:
        return ()

    def restore(self) -> None:
        pass


class FrameworkHost:
    """Base of a `Host` whose framework calls the program's functions itself.

    Attributes:
        version: Of the framework.
    """

    name = ''
    pauses_within = False
    replay_site: ReplaySite                     # by the attachment
    variables: Sequence[str] = ()
    version = ''

    def _register(self, kind: type, read: Callable[[Any], Any]) -> None:
        """Let observers read tensors of a class by themselves."""
        if kind not in EAGER_TENSORS:
            EAGER_TENSORS.append(kind)
        READERS[kind] = read
        OWNERS[kind] = self.name

    # ------------------------------------------------------------------ values
    def to_numpy(self, value: Any) -> np.ndarray:
        """The array behind a value. The memory of a tensor on the CPU is shared, not copied.

        Args:
            value: A tensor, array or scalar.

        Returns:
            Its array; a 0-d object array for what has no elements.

        Raises:
            ValueNotKnown: It is not computed yet.
        """
        if isinstance(value, PLAIN):
            return boxed(value) if isinstance(value, bytes) else np.asarray(value)      # NumPy's bytes lose NULs at the end
        return boxed(value)

    def _is_tensor(self, value: Any) -> bool:
        """Whether a value is a tensor with elements."""
        raise NotImplementedError

    def _type_of(self, tensor: Any) -> tuple[np.dtype[Any], tuple[int, ...]]:
        """NumPy's type and the shape of a tensor or another value."""
        array = self.to_numpy(tensor)
        return array.dtype, array.shape

    def _replacement(self, array: np.ndarray, like: Any) -> Any:
        """A tensor of the kind of another one, with a copy of other elements."""
        return self.make_tensor(array)

    def tensor_name(self, value: Any) -> str:
        """The name of a symbolic tensor: there are none.

        Args:
            value: Any value.

        Returns:
            ''.
        """
        return ''

    def from_numpy(self, array: np.ndarray, like: Any) -> Any:
        """Make a value of the kind of another one.

        Args:
            array: Its elements, which are copied.
            like: A tensor, array or scalar of the same dtype and shape.

        Returns:
            The new value.

        Raises:
            ValueError: The dtype or shape differs, or `like` has none.
        """
        is_tensor = self._is_tensor(like)
        if not is_tensor and not isinstance(like, PLAIN):
            raise ValueError(f'got {type(like).__name__} to be replaced, expected a tensor with a value')
        dtype, shape = self._type_of(like)
        if array.dtype != dtype or array.shape != shape:
            raise ValueError(f'got {array.dtype}{list(array.shape)}, expected {dtype}{list(shape)} as the value it replaces')
        if is_tensor:
            return self._replacement(array, like)
        if isinstance(like, bytes | str | int | float | complex) and not isinstance(like, np.generic):
            return array.item() if array.dtype != object else array[()]
        copy = array.copy() if array.ndim or array.dtype == object else array[()]
        return np.array(copy) if isinstance(like, np.ndarray) else copy

    def make_tensor(self, array: np.ndarray) -> Any:
        """Make a tensor.

        Args:
            array: Its elements, which are copied.

        Returns:
            The tensor.
        """
        raise NotImplementedError

    # ------------------------------------------------------------------ calls
    def new_context(self, inputs: int) -> Any:
        """Make no context: no function takes one.

        Args:
            inputs: How many arguments follow.

        Returns:
            None.
        """
        return None

    def call_again(self, site: CallSite, inputs: Sequence[Any]) -> Sequence[Any]:
        """Call a site's function outside of any run; no hook sees it.

        Args:
            site: A Python site.
            inputs: Tensors or arrays.

        Returns:
            The outputs.

        Raises:
            ValueError: The site cannot be called again.
        """
        again = site.attrs.get('_call')
        if again is None:
            raise ValueError(f'{site.name!r} cannot be called again: it is no Python call')
        return again(list(inputs))  # type: ignore[no-any-return]

    def _refusal(self, site: CallSite) -> str:
        """The reason why the function of a site cannot be replaced."""
        return f'{site.name!r} has no function that could be replaced'

    def replace(self, site: CallSite, function: Callable[..., Any], count: int) -> None:
        """Call another function at a Python site from its next call on.

        Args:
            site: The site.
            function: The new function.
            count: Number of inputs that it is called with.

        Raises:
            ValueError: The function of the site cannot be replaced, or the new one does not take `count` inputs.
        """
        replace = site.attrs.get('_replace')
        if replace is None:
            raise ValueError(self._refusal(site))
        check_fit(function, [None] * count)
        replace(function)
        site.function = function

    # ------------------------------------------------------------------ state
    def _kept_state(self) -> KeptState:
        """The values of the framework's variables now."""
        return NothingKept()

    def _own_random_state(self) -> Any:
        """The state of the framework's random generators; None if it has none."""
        return None

    def _restore_own_random_state(self, state: Any) -> None:
        """Put the framework's random generators into a state."""

    @contextmanager
    def restored_state(self) -> Iterator[ListChanges]:
        """A block that restores random states and the framework's variables at its end.

        Yields:
            A function that tells which variables have changed.
        """
        state, kept = self.rng_state(), self._kept_state()
        try:
            yield kept.changed
        finally:
            kept.restore()
            self.set_rng_state(state)

    def rng_state(self) -> Any:
        """The random states of NumPy, of `random` and of the framework.

        Returns:
            A value for `set_rng_state`.
        """
        return np.random.get_state(), random.getstate(), self._own_random_state()

    def set_rng_state(self, state: Any) -> None:
        """Restore random states.

        Args:
            state: A result of `rng_state`.
        """
        numpy_state, python_state, own_state = state
        np.random.set_state(numpy_state)
        random.setstate(python_state)
        self._restore_own_random_state(own_state)

    @property
    def op_draws(self) -> Any:
        """A mark of the random generator of eager ops; None if they draw from none."""
        return None

    def op_generators(self) -> Sequence[tuple[str, Any]]:
        """Seeds and random generators of eager ops, by name.

        Returns:
            () if there are none.
        """
        return ()

    def restore_op_generators(self, states: Sequence[tuple[str, Any]]) -> None:
        """Put the random generators of eager ops into a state.

        Args:
            states: As in a trace.

        Raises:
            ValueError: They are damaged.
        """


def boxed(value: Any) -> np.ndarray:
    """A 0-d array of any object."""
    box = np.empty((), object)
    box[()] = value
    return box
