"""The host of this runtime: observers read and make its values through it."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.host import EAGER_TENSORS, ListChanges, ReplaySite
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.runtime.execution import resources
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor
from pyfuncdbg.hosts.numpy.runtime.execution.resources import EAGER_RESOURCES


class GraphHost:
    """The `Host` of pyfuncdbg's own runtime."""

    name = 'pyfuncdbg'
    pauses_within = True
    version = ''                                # that of the package, which traces have already
    variables: Sequence[str] = ()
    op_draws = 0
    replay_site: ReplaySite                     # by `ops.script`

    def to_numpy(self, value: Any) -> np.ndarray:
        """The array behind a value.

        Args:
            value: An eager tensor, array or scalar.

        Returns:
            Its array; a 0-d object array for anything else.
        """
        if isinstance(value, EagerTensor):
            value = value._value
        if isinstance(value, np.ndarray | np.generic | bytes | int | float | complex | str):
            return np.asarray(value)
        if hasattr(value, 'fetched'):               # `IndexedSlices`: its computed components
            return self.to_numpy(value.values)
        boxed = np.empty((), object)
        boxed[()] = value
        return boxed

    def tensor_name(self, value: Any) -> str:
        """Name of a symbolic tensor.

        Args:
            value: Any value.

        Returns:
            'mm:0'; '' of anything else.
        """
        return value.name if isinstance(value, SymbolicTensor) else ''

    def from_numpy(self, array: np.ndarray, like: Any) -> Any:
        """Make a value of the kind of another one.

        Args:
            array: Its elements, which are copied.
            like: An eager tensor, array or scalar of the same dtype and shape.

        Returns:
            The new value.

        Raises:
            ValueError: The dtype or shape differs, or `like` has none.
        """
        if not isinstance(like, EagerTensor | np.ndarray | np.generic | bytes | int | float | complex | str):
            raise ValueError(f'what it holds is no tensor of values: {type(like).__name__}')
        old = self.to_numpy(like)
        if array.dtype != old.dtype or array.shape != old.shape:
            raise ValueError(f'got {array.dtype}{list(array.shape)}, expected {old.dtype}{list(old.shape)} as the value it '
                             f'replaces')
        copy = array.copy() if array.ndim or array.dtype == object else array[()]
        if isinstance(like, EagerTensor):
            return EagerTensor(copy, like.dtype)
        return np.array(copy) if isinstance(like, np.ndarray) else copy

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
            site: A Python site or an op without effects.
            inputs: Values or arrays.

        Returns:
            The outputs.

        Raises:
            ValueError: The site cannot be called again.
        """
        recompute = site.attrs.get('_call')
        if recompute is None:
            raise ValueError(f'{site.name!r} cannot be called again: it is no Python call, and no op without effects')
        return recompute(list(inputs))  # type: ignore[no-any-return]

    def restored_state(self) -> AbstractContextManager[ListChanges]:
        """A block that restores random states and variables at its end.

        Returns:
            A context manager; it yields a function that lists the changed variables.
        """
        return resources.restored_state(self)

    def replace(self, site: CallSite, function: Callable[..., Any], count: int) -> None:
        """Call another function at a Python site from its next call on.

        Args:
            site: The site.
            function: The new function.
            count: Number of inputs that it is called with.

        Raises:
            ValueError: The site has no Python function in this process, or the function does not take `count` inputs.
        """
        replace = site.attrs.get('_replace')
        if replace is None:
            raise ValueError(f'{site.name!r} is no Python call of this process')
        replace(function, count)
        site.function = function

    def rng_state(self) -> Any:
        """The random states of NumPy, of `random` and of eager random ops.

        Returns:
            A value for `set_rng_state`.
        """
        import random  # a program that never pauses does not load it
        eager = {key: (value, value.bit_generator.state) for key, value in list(EAGER_RESOURCES.items())
                 if isinstance(value, np.random.Generator)}
        return np.random.get_state(), random.getstate(), eager

    def set_rng_state(self, state: Any) -> None:
        """Restore random states; generators made since are removed and made again on demand.

        Args:
            state: A result of `rng_state`.
        """
        import random
        numpy_state, python_state, eager = state
        np.random.set_state(numpy_state)
        random.setstate(python_state)
        for key in [key for key, value in list(EAGER_RESOURCES.items()) if isinstance(value, np.random.Generator)]:
            if key not in eager:
                EAGER_RESOURCES.pop(key, None)
        for key, (generator, content) in eager.items():
            generator.bit_generator.state = content
            EAGER_RESOURCES[key] = generator

    def make_tensor(self, array: np.ndarray) -> EagerTensor:
        """Make a tensor.

        Args:
            array: Its elements, which are copied.

        Returns:
            The tensor.
        """
        return EagerTensor(array.copy() if array.ndim or array.dtype == object else array[()])

    def op_generators(self) -> Sequence[tuple[str, Any]]:
        """The global seed of eager ops, and the generators that they have drawn from.

        Returns:
            () where no eager op has drawn.
        """
        return resources.op_generators()

    def restore_op_generators(self, states: Sequence[tuple[str, Any]]) -> None:
        """Make the generators of eager ops as they were.

        Args:
            states: As in a trace.

        Raises:
            ValueError: They are damaged.
        """
        resources.restore_op_generators(states)


host = GraphHost()
EAGER_TENSORS.append(EagerTensor)
