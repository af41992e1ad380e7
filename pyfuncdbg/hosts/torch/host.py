"""The host of PyTorch: how observers read and make its values. Asked on the thread of a call."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.host import COPIERS, SAVERS, SUMMARIES
from pyfuncdbg.hosts.interception.framework_host import FrameworkHost, KeptState, boxed
from pyfuncdbg.hosts.torch.context_argument import takes_context, without_context
from pyfuncdbg.hosts.torch.random_state import TorchRandom
from pyfuncdbg.hosts.torch.saved_modules import SavedModules
from pyfuncdbg.hosts.torch.saved_tensors import tensor_saver
from pyfuncdbg.hosts.torch.tensor_values import TensorReader
from pyfuncdbg.hosts.torch.torch_parts import TorchParts


class TorchHost(FrameworkHost):
    """The `Host` of PyTorch.

    Args:
        parts: Modules of the imported PyTorch.
    """

    name = 'torch'
    variables: Sequence[str] = ('OMP_NUM_THREADS', 'MKL_NUM_THREADS', 'CUBLAS_WORKSPACE_CONFIG', 'ATEN_CPU_CAPABILITY',
                                'TORCH_ALLOW_TF32_CUBLAS_OVERRIDE', 'PYTORCH_CUDA_ALLOC_CONF')

    def __init__(self, parts: TorchParts) -> None:
        self._parts = parts
        self.version = parts.version
        self.reader = TensorReader(parts)
        self._random = TorchRandom(parts.torch.default_generator, parts.torch.from_numpy)
        for kind in (parts.torch.Tensor, parts.torch.nn.Parameter):
            self._register(kind, self.reader.read)
            if self.reader.copier is not None:
                COPIERS[kind] = self.reader.copier
            SAVERS[kind] = tensor_saver(parts)
        SUMMARIES[self.name] = self.reader.summary

    def to_numpy(self, value: Any) -> np.ndarray:
        """The array behind a value. It shares the memory of a tensor on the CPU only where the program cannot resize that.

        Args:
            value: A tensor, array or scalar.

        Returns:
            Its array; a 0-d object array for anything else, also a tensor without elements.
        """
        if not self.reader.is_tensor(value):
            return super().to_numpy(value)
        try:
            array = self.reader.array(value)
            if not isinstance(array, np.ndarray):
                return boxed(array)
            return array.copy() if self.reader.may_resize(value) else array
        except Exception:                       # of a class of the program, or without elements that NumPy can hold
            return boxed(value)

    def _is_tensor(self, value: Any) -> bool:
        return self.reader.is_tensor(value)

    def _replacement(self, array: np.ndarray, like: Any) -> Any:
        """A tensor with other elements on the device of another one, whose gradient it goes on to."""
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

    def replace(self, site: CallSite, function: Callable[..., Any], count: int) -> None:
        """Call another function at a Python site from its next call on, which may take a `ctx` before its inputs.

        Args:
            site, function, count: As for other hosts.

        Raises:
            ValueError: The function of the site cannot be replaced, or the new one does not take `count` inputs.
        """
        own = takes_context(function)           # that of the program, which comes back
        super().replace(site, function, count + (site.traits.takes_context and not own))
        site.function = without_context(function) if site.traits.takes_context and not own else function

    def _kept_state(self) -> KeptState:
        return SavedModules(self._parts)

    def _own_random_state(self) -> Any:
        return self._random.state()

    def _restore_own_random_state(self, state: Any) -> None:
        self._random.restore(state)

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
