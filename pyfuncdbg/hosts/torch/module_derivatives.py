"""Modules that were called in a run, as functions whose gradients `check` compares with differences.

Asked on the thread of the command. All is done with a copy of the outermost module, in float64 where it takes that, and with
the random numbers of one moment: the program's modules are only read.
"""
from __future__ import annotations

import copy
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hooks.differentiable import Arrays, Differentiable
from pyfuncdbg.hosts.torch.host import TorchHost
from pyfuncdbg.hosts.torch.python_calls.nested_arguments import NestedArguments, flatten
from pyfuncdbg.hosts.torch.torch_parts import TorchParts

_NEWEST = 256
"""Runs whose modules are known."""


class ModuleCall:
    """The outermost module of a run, and the layout of its arguments.

    Attributes:
        outer: The module that was called: what `torch.compile` has made of it, perhaps.
    """

    __slots__ = ('layout', 'module', 'outer')

    def __init__(self, outer: Any, module: Any, layout: NestedArguments | None) -> None:
        self.outer = weakref.ref(outer)
        self.module = weakref.ref(module)
        self.layout = layout


class ModuleDerivatives:
    """The modules of the newest runs."""

    def __init__(self, parts: TorchParts, host: TorchHost) -> None:
        self._torch = parts.torch
        self._host = host
        self._calls: dict[int, ModuleCall] = {}

    def note(self, run: int, outer: Any, module: Any, layout: NestedArguments | None) -> None:
        """Note the module of a run."""
        if len(self._calls) >= _NEWEST:
            self._calls.pop(next(iter(self._calls)), None)
        self._calls[run] = ModuleCall(outer, module, layout)

    def called(self, run: int) -> tuple[Any, ...]:
        """The module of a run, and the one that it has wrapped; none that is gone."""
        call = self._calls.get(run)
        return () if call is None else tuple([one for one in (call.outer(), call.module()) if one is not None])

    def of_run(self, run: int, inputs: Arrays) -> list[Differentiable]:
        """The outermost module of a run and those within it, in the order of their first calls.

        Args:
            run: Its number.
            inputs: Its recorded inputs.

        Raises:
            ValueError: The module is gone, cannot be copied, or raises when it is called again.
        """
        call = self._calls.get(run)
        module = call.module() if call is not None else None
        if call is None or module is None:
            raise ValueError('the program keeps its module no longer')
        try:
            return self._of_copy(copy.deepcopy(module).double(), call.layout, inputs, self._torch.float64)
        except Exception:                       # of the program: a float32 tensor that it makes itself, say
            pass
        try:
            return self._of_copy(copy.deepcopy(module), call.layout, inputs, None)
        except Exception as error:              # of the program
            raise ValueError(f'called again on a copy, its module raises {type(error).__name__}: {error}') from None

    def _of_copy(self, module: Any, layout: NestedArguments | None, inputs: Arrays, dtype: Any) -> list[Differentiable]:
        device = next((parameter.device for parameter in module.parameters()), None)
        values = [self._input(value, dtype, device) for value in inputs]
        args, kwargs = layout.arguments(values) if layout is not None else (tuple(values), {})
        state = self._host.rng_state()
        found: dict[str, CalledModule] = {}
        handles = [inner.register_forward_pre_hook(self._catcher(found, path, module), with_kwargs=True)
                   for path, inner in module.named_modules()]
        with self._torch.no_grad():
            module(*args, **kwargs)
        for handle in handles:
            handle.remove()
        for called in found.values():
            called.restore = lambda: self._host.set_rng_state(state)
        return [called.differentiable() for called in found.values()]

    def _input(self, value: np.ndarray, dtype: Any, device: Any) -> Any:
        if value.dtype == object:
            return value[()]
        tensor = self._host.tensor(value)
        tensor = tensor if device is None else tensor.to(device)
        return tensor.to(dtype) if dtype is not None and tensor.is_floating_point() else tensor

    def _catcher(self, found: dict[str, CalledModule], path: str, root: Any) -> Callable[..., None]:
        def catch(module: Any, args: Any, kwargs: Any) -> None:
            if path not in found:
                found[path] = CalledModule(self._torch, self._host, path, module, args, kwargs, is_root=module is root)
        return catch


def forward_parameters(kind: type) -> tuple[str, ...]:
    """The names of the positional parameters of the `forward` of a class of modules."""
    try:
        formal = list(inspect.signature(kind.forward).parameters.values())[1:]  # type: ignore[attr-defined]
    except (TypeError, ValueError, AttributeError):
        return ()
    return tuple([one.name for one in formal if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)])


class CalledModule:
    """A module of a copy with the arguments of its first call.

    Attributes:
        restore: Puts the random state back before each call.
    """

    def __init__(self, torch: Any, host: TorchHost, path: str, module: Any, args: Any, kwargs: Any, *,
                 is_root: bool) -> None:
        self.restore: Callable[[], None] = lambda: None
        self._torch = torch
        self._host = host
        self._module = module
        self._path = path
        parameters = forward_parameters(type(module))
        layout, leaves = flatten(args, kwargs, parameters)
        self._layout = layout
        self._leaves = [leaf.detach().clone() if host.reader.is_tensor(leaf) else leaf for leaf in leaves]
        self._names = layout.names if layout is not None else tuple([
            parameters[i] if i < len(parameters) else f'in{i}' for i in range(len(leaves))])
        self._slots = [i for i, leaf in enumerate(self._leaves) if self._is_real(leaf)]
        self._parameters = [(name, parameter) for name, parameter in module.named_parameters(recurse=is_root)
                            if parameter.requires_grad and self._is_real(parameter)]
        self._buffers = [(buffer, buffer.clone()) for buffer in module.buffers()]

    def differentiable(self) -> Differentiable:
        """It as a function of its inputs, and of its own parameters; the outermost module of all that are within it."""
        values = [self._leaves[slot] for slot in self._slots] + [parameter for _, parameter in self._parameters]
        kind = type(self._module).__name__
        return Differentiable(self._path or kind, kind, [self._names[slot] for slot in self._slots] + [
            name for name, _ in self._parameters], [self._array(value) for value in values], self._outputs, self._gradients)

    def _is_real(self, value: Any) -> bool:
        return self._host.reader.is_tensor(value) and bool(value.is_floating_point())

    def _array(self, value: Any) -> np.ndarray:
        return np.array(self._host.to_numpy(value.detach()))

    def _outputs(self, values: Arrays) -> list[np.ndarray]:
        with self._torch.no_grad():
            return [self._array(output) for output in self._call(self._tensors(values))]

    def _gradients(self, weights: Arrays) -> list[np.ndarray | None]:
        torch = self._torch
        with torch.enable_grad():
            inputs = [self._leaves[slot].detach().clone().requires_grad_() for slot in self._slots]
            by = [*inputs, *(parameter for _, parameter in self._parameters)]
            pairs = [(output, torch.as_tensor(weight, dtype=output.dtype, device=output.device))
                     for output, weight in zip(self._call(inputs), weights, strict=True) if output.requires_grad]
            if not by or not pairs:
                return [None] * len(by)
            gradients = torch.autograd.grad([output for output, _ in pairs], by, [weight for _, weight in pairs],
                                            allow_unused=True)
        return [None if gradient is None else self._array(gradient) for gradient in gradients]

    def _tensors(self, values: Arrays) -> list[Any]:
        """The inputs that arrays make up; the parameters are set."""
        inputs = [self._host.tensor(value, self._leaves[slot].dtype).to(self._leaves[slot].device)
                  for slot, value in zip(self._slots, values, strict=False)]
        for (_, parameter), value in zip(self._parameters, values[len(self._slots):], strict=True):
            parameter.copy_(self._host.tensor(value, parameter.dtype))
        return inputs

    def _call(self, inputs: Sequence[Any]) -> list[Any]:
        """The outputs with a value in real numbers. Inputs are copied within: the module may write to them."""
        leaves = list(self._leaves)
        for slot, value in zip(self._slots, inputs, strict=True):
            leaves[slot] = value.clone()
        args, kwargs = self._layout.arguments(leaves) if self._layout is not None else (leaves, {})
        self.restore()
        with self._torch.no_grad():
            for buffer, before in self._buffers:
                buffer.copy_(before)
        result = self._module(*args, **kwargs)
        _, outputs = flatten((result,), {'': None}, ())
        return [output for output in outputs if self._is_real(output)]
