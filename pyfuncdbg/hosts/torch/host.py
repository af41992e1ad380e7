"""The host of PyTorch: how observers read and make its values. Asked on the thread of a call."""
from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.function_fit import check_fit
from pyfuncdbg.hooks.host import EAGER_TENSORS, READERS, SUMMARIES, ListChanges, ReplaySite
from pyfuncdbg.hosts.torch.context_argument import takes_context, without_context
from pyfuncdbg.hosts.torch.random_state import TorchRandom
from pyfuncdbg.hosts.torch.saved_modules import SavedModules
from pyfuncdbg.hosts.torch.tensor_values import TensorReader
from pyfuncdbg.hosts.torch.torch_parts import TorchParts

_PLAIN = (np.ndarray, np.generic, bytes, int, float, complex, str)


class TorchHost:
    """The `Host` of PyTorch.

    Args:
        parts: Modules of the imported PyTorch.
    """

    name = 'torch'
    pauses_within = False
    replay_site: ReplaySite                     # by the attachment
    variables: Sequence[str] = ('OMP_NUM_THREADS', 'MKL_NUM_THREADS', 'CUBLAS_WORKSPACE_CONFIG', 'ATEN_CPU_CAPABILITY',
                                'TORCH_ALLOW_TF32_CUBLAS_OVERRIDE', 'PYTORCH_CUDA_ALLOC_CONF')

    def __init__(self, parts: TorchParts) -> None:
        self._parts = parts
        self.version = parts.version
        self.reader = TensorReader(parts)
        self._random = TorchRandom(parts.torch.default_generator, parts.torch.from_numpy)
        for kind in (parts.torch.Tensor, parts.torch.nn.Parameter):
            if kind not in EAGER_TENSORS:
                EAGER_TENSORS.append(kind)
            READERS[kind] = self.reader.read
        SUMMARIES[self.name] = self.reader.summary

    def to_numpy(self, value: Any) -> np.ndarray:
        """The array behind a value. The memory of an ordinary tensor on the CPU is shared, not copied.

        Args:
            value: A tensor, array or scalar.

        Returns:
            Its array; a 0-d object array for anything else, also a tensor without elements.
        """
        if type(value) in READERS:
            try:
                return self.reader.read(value)  # a third of the time
            except (RuntimeError, TypeError):   # no plain one on the CPU
                pass
        if self.reader.is_tensor(value):
            try:
                array = self.reader.array(value)
            except Exception:                   # of a class of the program, or without elements that NumPy can hold
                return _boxed(value)
            return array if isinstance(array, np.ndarray) else _boxed(array)
        if isinstance(value, _PLAIN):
            return _boxed(value) if isinstance(value, bytes) else np.asarray(value)     # NumPy's bytes lose NULs at the end
        return _boxed(value)

    def tensor_name(self, value: Any) -> str:
        """The name of a symbolic tensor: PyTorch has none.

        Args:
            value: Any value.

        Returns:
            ''.
        """
        return ''

    def from_numpy(self, array: np.ndarray, like: Any) -> Any:
        """Make a value of the kind of another one. A tensor goes on to the gradient of the one that it replaces.

        Args:
            array: Its elements, which are copied.
            like: A tensor, array or scalar of the same dtype and shape.

        Returns:
            The new value.

        Raises:
            ValueError: The dtype or shape differs, or `like` has none.
        """
        tensor = self.reader.is_tensor(like)
        if not tensor and not isinstance(like, _PLAIN):
            raise ValueError(f'got {type(like).__name__} to be replaced, expected a tensor with a value')
        old = self.to_numpy(like)
        if array.dtype != old.dtype or array.shape != old.shape:
            raise ValueError(f'got {array.dtype}{list(array.shape)}, expected {old.dtype}{list(old.shape)} as the value it '
                             f'replaces')
        if tensor:
            return self._replacement(array, like)
        if isinstance(like, bytes | str | int | float | complex) and not isinstance(like, np.generic):
            return array.item() if array.dtype != object else array[()]
        copy = array.copy() if array.ndim or array.dtype == object else array[()]
        return np.array(copy) if isinstance(like, np.ndarray) else copy

    def _replacement(self, array: np.ndarray, like: Any) -> Any:
        """A tensor with other elements on the device of another one, and with its gradient function."""
        new = self.tensor(array, like.dtype).to(like.device)
        if not like.requires_grad:
            return new
        # Within the `forward` of a function nothing is recorded, but its arguments are from outside of it.
        with self._parts.native.DisableTorchFunction(), self._parts.torch.enable_grad():
            return _replaced_function(self._parts)(like, new)

    def tensor(self, value: Any, dtype: Any = None) -> Any:
        """Make a tensor.

        Args:
            value: Elements; an array is copied, a tensor of this dtype is given back.
            dtype: PyTorch's dtype, by default that of the value.

        Returns:
            The tensor.
        """
        with self._parts.native.DisableTorchFunction():
            if self.reader.is_tensor(value):
                return value if dtype is None or value.dtype == dtype else value.to(dtype)
            array = np.array(value)
            bits = self.reader.bits_of(array.dtype)
            if bits is not None:                # a type that NumPy lacks
                return self._parts.torch.from_numpy(array.view(bits[0])).view(bits[1])
            made = self._parts.torch.from_numpy(array.astype(array.dtype.newbyteorder('=')))
            return made if dtype is None else made.to(dtype)

    def tensor_like(self, value: Any) -> Any:
        """A tensor of an array that stands for one; any other value is given back."""
        return self.tensor(value) if isinstance(value, np.ndarray) and value.dtype != object else value

    def new_context(self, inputs: int) -> Any:
        """A context for `forward` of an autograd function; no input needs a gradient."""
        context = self._parts.functions.FunctionCtx()
        context.needs_input_grad = (False,) * inputs
        return context

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

    @contextmanager
    def restored_state(self) -> Iterator[ListChanges]:
        """A block that restores random states, and the parameters and buffers of modules, at its end.

        Yields:
            A function that tells which parameters and buffers have changed.
        """
        state, modules = self.rng_state(), SavedModules(self._parts)
        try:
            yield modules.changed
        finally:
            modules.restore()
            self.set_rng_state(state)

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
            raise ValueError(f'{site.name!r} has no function that could be replaced')
        own = takes_context(function)           # that of the program, which comes back
        check_fit(function, [None] * (count + (site.traits.takes_context and not own)))
        replace(function)
        site.function = without_context(function) if site.traits.takes_context and not own else function

    def rng_state(self) -> Any:
        """The random states of NumPy, of `random` and of PyTorch on the CPU.

        Returns:
            A value for `set_rng_state`.
        """
        return np.random.get_state(), random.getstate(), self._random.state()

    def set_rng_state(self, state: Any) -> None:
        """Restore random states.

        Args:
            state: A result of `rng_state`.
        """
        numpy_state, python_state, torch_state = state
        np.random.set_state(numpy_state)
        random.setstate(python_state)
        self._random.restore(torch_state)

    def make_tensor(self, array: np.ndarray) -> Any:
        """Make a tensor.

        Args:
            array: Its elements, which are copied.

        Returns:
            The tensor.
        """
        return self.tensor(array)

    @property
    def op_draws(self) -> Any:
        """A mark of PyTorch's random generator."""
        return self._random.mark()

    def op_generators(self) -> Sequence[tuple[str, Any]]:
        """The state of PyTorch's random generator, where other hosts have a seed.

        Returns:
            One pair.
        """
        return (('', self._random.state()),)

    def restore_op_generators(self, states: Sequence[tuple[str, Any]]) -> None:
        """Put PyTorch's random generator into a state.

        Args:
            states: As in a trace.

        Raises:
            ValueError: They are damaged.
        """
        if states:
            self._random.restore(dict(states).get(''))


def _boxed(value: Any) -> np.ndarray:
    boxed = np.empty((), object)
    boxed[()] = value
    return boxed


def _replaced_function(parts: TorchParts) -> Callable[[Any, Any], Any]:
    """A differentiable function of an old and a new tensor that gives the new one."""
    class Injected(parts.functions.Function):  # type: ignore[misc, name-defined]
        """The gradient of what was injected is that of what it replaces."""

        @staticmethod
        def forward(ctx: Any, old: Any, new: Any) -> Any:
            return new

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient, None
    return Injected.apply  # type: ignore[no-any-return]
