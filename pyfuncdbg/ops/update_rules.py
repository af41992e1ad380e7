"""Ops that change a variable by a gradient, and the rules of optimizers written with them.

A rule says which slots (variables beside each variable) it keeps and which op applies a gradient; `training` does the rest.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.graph.registry import Attrs, OpDef, Output, Typed, register
from pyfuncdbg.ops.constant import convert_to_tensor
from pyfuncdbg.ops.state import Storage, stored
from pyfuncdbg.runtime.dispatch import apply
from pyfuncdbg.runtime.execution import Execution


def _nothing(inputs: Sequence[Typed], attrs: Attrs) -> Sequence[Output]:
    return []


def _descend(execution: Execution, var: Storage, alpha: Any, delta: Any) -> None:
    var.value = stored(execution, var) - alpha * delta


def _momentum(execution: Execution, var: Storage, accum: Storage, lr: Any, grad: Any, momentum: Any, *,
              use_nesterov: bool) -> None:
    moved = stored(execution, accum) * momentum + grad
    accum.value = moved
    var.value = stored(execution, var) - (lr * (grad + momentum * moved) if use_nesterov else lr * moved)


def _adam(execution: Execution, var: Storage, m: Storage, v: Storage, beta1_power: Any, beta2_power: Any, lr: Any,
          beta1: Any,
          beta2: Any, epsilon: Any, grad: Any) -> None:
    one = grad.dtype.type(1)
    m.value = stored(execution, m) + (grad - stored(execution, m)) * (one - beta1)
    v.value = stored(execution, v) + (grad * grad - stored(execution, v)) * (one - beta2)
    rate = lr * np.sqrt(one - beta2_power) / (one - beta1_power)
    var.value = stored(execution, var) - rate * m.value / (np.sqrt(v.value) + epsilon)


register(OpDef('ResourceApplyGradientDescent', _descend, _nothing, outputs=0, stateful=True, in_execution=True))
register(OpDef('ResourceApplyMomentum', _momentum, _nothing, outputs=0, stateful=True, in_execution=True,
               kernel_attrs=('use_nesterov',)))
register(OpDef('ResourceApplyAdam', _adam, _nothing, outputs=0, stateful=True, in_execution=True))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rule:
    """How one kind of optimizer changes a variable.

    Attributes:
        op: The op that does it.
        slots: Names of the variables it keeps beside each, which start with zeros.
        powers: By name, the start value of variables it keeps once; each update multiplies them by that value.
        settings: By name, numbers or functions that give one, in the order in which the op takes them.
        inputs: `inputs(handle, slots, powers, settings, gradient)`: the op's inputs.
        attrs: The op's attrs.
    """

    op: str
    slots: tuple[str, ...]
    powers: Mapping[str, float]
    settings: Mapping[str, Any]
    inputs: Callable[[Any, Sequence[Any], Sequence[Any], Sequence[Any], Any], Sequence[Any]]
    attrs: Mapping[str, Any]

    def constants(self) -> dict[str, Any]:
        """The settings as tensors, to be cast to the dtype of each variable."""
        return {name: convert_to_tensor(value() if callable(value) else value, dtype_hint='float32', name=name)
                for name, value in self.settings.items()}

    def update(self, variable: Any, slots: Sequence[Any], powers: Sequence[Any], settings: Mapping[str, Any],
               gradient: Any) -> Any:
        """The operation that changes `variable`; None in eager mode, where it is done."""
        def fitted(tensor: Any) -> Any:
            return tensor if tensor.dtype is variable.dtype else apply('Cast', (tensor,), {'DstT': variable.dtype})
        inputs = self.inputs(variable.handle, [slot.handle for slot in slots],
                             [fitted(power.read_value()) for power in powers],
                             [fitted(tensor) for tensor in settings.values()], gradient)
        return apply(self.op, inputs, {'use_locking': False, **self.attrs})


def gradient_descent(learning_rate: Any) -> Rule:
    """w -= rate * gradient."""
    return Rule('ResourceApplyGradientDescent', (), {}, {'learning_rate': learning_rate},
                lambda var, slots, powers, settings, grad: [var, settings[0], grad], {})


def momentum(learning_rate: Any, decay: Any, use_nesterov: bool) -> Rule:
    """a = decay * a + gradient; w -= rate * a."""
    return Rule('ResourceApplyMomentum', ('Momentum',), {}, {'learning_rate': learning_rate, 'momentum': decay},
                lambda var, slots, powers, settings, grad: [var, *slots, settings[0], grad, settings[1]],
                {'use_nesterov': use_nesterov})


def adam(learning_rate: Any, beta1: float, beta2: float, epsilon: float) -> Rule:
    """Adam, with the bias correction in the rate."""
    return Rule('ResourceApplyAdam', ('Adam', 'Adam_1'), {'beta1_power': beta1, 'beta2_power': beta2},
                {'learning_rate': learning_rate, 'beta1': beta1, 'beta2': beta2, 'epsilon': epsilon},
                lambda var, slots, powers, settings, grad: [var, *slots, *powers, *settings, grad], {'use_nesterov': False})
