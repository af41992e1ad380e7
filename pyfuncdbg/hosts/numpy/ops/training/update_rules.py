"""Ops that update a variable by a gradient, and the update rules of optimizers.

A rule names its slots (variables for each variable) and the op that applies a gradient; `optimizer` does the rest.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, OpDef, Output, TypedInput, register
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.variables.handles import Storage, stored
from pyfuncdbg.hosts.numpy.runtime.backward.indexed_slices import IndexedSlices
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution


def _no_outputs(inputs: Sequence[TypedInput], attrs: Attrs) -> Sequence[Output]:
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


def _adagrad(execution: Execution, var: Storage, accum: Storage, lr: Any, grad: Any) -> None:
    accum.value = stored(execution, accum) + grad * grad
    var.value = stored(execution, var) - lr * grad / np.sqrt(accum.value)


def _adadelta(execution: Execution, var: Storage, accum: Storage, accum_update: Storage, lr: Any, rho: Any, epsilon: Any,
              grad: Any) -> None:
    one = grad.dtype.type(1)
    accum.value = stored(execution, accum) * rho + grad * grad * (one - rho)
    before = stored(execution, accum_update)
    update = np.sqrt(before + epsilon) / np.sqrt(accum.value + epsilon) * grad
    var.value = stored(execution, var) - update * lr
    accum_update.value = before * rho + update * update * (one - rho)


def _rmsprop(execution: Execution, var: Storage, ms: Storage, mom: Storage, lr: Any, rho: Any, momentum: Any, epsilon: Any,
             grad: Any) -> None:
    square = stored(execution, ms)
    ms.value = square + (grad * grad - square) * (grad.dtype.type(1) - rho)
    mom.value = stored(execution, mom) * momentum + (grad * lr) / np.sqrt(ms.value + epsilon)
    var.value = stored(execution, var) - mom.value


def _centered_rmsprop(execution: Execution, var: Storage, mg: Storage, ms: Storage, mom: Storage, lr: Any, rho: Any,
                      momentum: Any, epsilon: Any, grad: Any) -> None:
    rest = grad.dtype.type(1) - rho
    square, mean = stored(execution, ms), stored(execution, mg)
    ms.value = square + (grad * grad - square) * rest
    mg.value = mean + (grad - mean) * rest
    mom.value = stored(execution, mom) * momentum + lr * grad / np.sqrt(ms.value - mg.value * mg.value + epsilon)
    var.value = stored(execution, var) - mom.value


def _ftrl(execution: Execution, var: Storage, accum: Storage, linear: Storage, grad: Any, lr: Any, l1: Any, l2: Any,
          lr_power: Any) -> None:
    before, value = stored(execution, accum), stored(execution, var)
    accum.value = before + grad * grad
    new, old = np.power(accum.value, -lr_power), np.power(before, -lr_power)
    linear.value = stored(execution, linear) + grad - (new - old) / lr * value
    quadratic = new / lr + grad.dtype.type(2) * l2
    var.value = np.where(np.abs(linear.value) > l1, (np.sign(linear.value) * l1 - linear.value) / quadratic,
                         grad.dtype.type(0))


def _on_rows(kernel: Callable[..., None], states: int, place: int) -> Callable[..., None]:
    """The kernel for a gradient of some rows: applies `kernel` to those rows of the variable and its slots.

    Args:
        kernel: The kernel for dense gradients.
        states: The number of its arguments that are storages.
        place: Index of the gradient among its arguments.
    """
    def sparse(execution: Execution, *values: Any, **attrs: Any) -> None:
        *operands, indices = values
        places, inverse = np.unique(indices, return_inverse=True)
        rows = np.zeros((len(places), *operands[place].shape[1:]), operands[place].dtype)
        np.add.at(rows, inverse.ravel(), operands[place])
        storages = operands[:states]
        wholes = [np.array(stored(execution, storage)) for storage in storages]
        parts = [Storage(storage.name, whole_value[places]) for storage, whole_value in zip(storages, wholes, strict=True)]
        arguments = [*parts, *operands[states:]]
        arguments[place] = rows
        kernel(execution, *arguments, **attrs)
        for storage, whole_value, part in zip(storages, wholes, parts, strict=True):
            whole_value[places] = part.value
            storage.value = whole_value
    return sparse


def _update_op(name: str, kernel: Callable[..., None], states: int, place: int, *attrs: str) -> None:
    """Define `ResourceApplyNAME` and `ResourceSparseApplyNAME`."""
    for op, function in (('Apply', kernel), ('SparseApply', _on_rows(kernel, states, place))):
        register(OpDef(f'Resource{op}{name}', function, _no_outputs, outputs=0, stateful=True, in_execution=True,
                       kernel_attrs=attrs))


_update_op('GradientDescent', _descend, 1, 2)
_update_op('Momentum', _momentum, 2, 3, 'use_nesterov')
_update_op('Adam', _adam, 3, 9)
_update_op('Adagrad', _adagrad, 2, 3)
_update_op('Adadelta', _adadelta, 3, 6)
_update_op('RMSProp', _rmsprop, 3, 7)
_update_op('CenteredRMSProp', _centered_rmsprop, 4, 8)
_update_op('Ftrl', _ftrl, 3, 3)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UpdateRule:
    """Update rule of one kind of optimizer.

    Attributes:
        op: The op, without 'ResourceApply'.
        slots: Slot variables of each variable: name and initial value.
        powers: Variables of the optimizer by name: the initial value, by which each update multiplies them.
        settings: By name, numbers or functions that return one, in the order of the op's inputs.
        inputs: `inputs(handle, slots, powers, settings, gradient)`: the op's inputs.
        attrs: The op's attrs.
        updates_all_rows: A gradient of some rows is converted to a dense one, zero elsewhere.
    """

    op: str
    slots: Mapping[str, float]
    powers: Mapping[str, float]
    settings: Mapping[str, Any]
    inputs: Callable[[Any, Sequence[Any], Sequence[Any], Sequence[Any], Any], Sequence[Any]]
    attrs: Mapping[str, Any]
    updates_all_rows: bool = False

    def constants(self) -> dict[str, Any]:
        """The settings as tensors, to be cast to the dtype of each variable."""
        return {name: convert_to_tensor(value() if callable(value) else value, dtype_hint='float32', name=name)
                for name, value in self.settings.items()}

    def update(self, variable: Any, slots: Sequence[Any], powers: Sequence[Any], settings: Mapping[str, Any],
               gradient: Any) -> Any:
        """The operation that updates `variable`; None in eager mode, where it has run."""
        sparse = isinstance(gradient, IndexedSlices) and not self.updates_all_rows
        indices = gradient.indices if sparse else None
        gradient = gradient.values if sparse else convert_to_tensor(gradient)

        def fitted(tensor: Any) -> Any:
            return tensor if tensor.dtype is variable.dtype else apply('Cast', (tensor,), {'DstT': variable.dtype})
        inputs = self.inputs(variable.handle, [slot.handle for slot in slots],
                             [fitted(power.read_value()) for power in powers],
                             [fitted(tensor) for tensor in settings.values()], gradient)
        if indices is not None:
            return apply(f'ResourceSparseApply{self.op}', [*inputs, indices], {'use_locking': False, **self.attrs})
        return apply(f'ResourceApply{self.op}', inputs, {'use_locking': False, **self.attrs})


def gradient_descent(learning_rate: Any) -> UpdateRule:
    """w -= rate * gradient."""
    return UpdateRule('GradientDescent', {}, {}, {'learning_rate': learning_rate},
                      lambda var, slots, powers, settings, grad: [var, settings[0], grad], {}, updates_all_rows=True)


def momentum(learning_rate: Any, decay: Any, use_nesterov: bool) -> UpdateRule:
    """a = decay * a + gradient; w -= rate * a."""
    return UpdateRule('Momentum', {'momentum': 0}, {}, {'learning_rate': learning_rate, 'momentum': decay},
                      lambda var, slots, powers, settings, grad: [var, *slots, settings[0], grad, settings[1]],
                      {'use_nesterov': use_nesterov})


def adam(learning_rate: Any, beta1: Any, beta2: Any, epsilon: Any) -> UpdateRule:
    """Adam, with the bias correction in the rate. Rows without a gradient move too, as in TensorFlow."""
    return UpdateRule('Adam', {'m': 0, 'v': 0}, {'beta1_power': beta1, 'beta2_power': beta2},
                      {'learning_rate': learning_rate, 'beta1': beta1, 'beta2': beta2, 'epsilon': epsilon},
                      lambda var, slots, powers, settings, grad: [var, *slots, *powers, *settings, grad],
                      {'use_nesterov': False}, updates_all_rows=True)


def adagrad(learning_rate: Any, start: float) -> UpdateRule:
    """a += gradient ** 2; w -= rate * gradient / sqrt(a)."""
    return UpdateRule('Adagrad', {'accumulator': start}, {}, {'learning_rate': learning_rate},
                      lambda var, slots, powers, settings, grad: [var, *slots, settings[0], grad], {'update_slots': True})


def adadelta(learning_rate: Any, rho: Any, epsilon: Any) -> UpdateRule:
    """Steps scaled by the ratio of running means of steps and gradients."""
    return UpdateRule('Adadelta', {'accum': 0, 'accum_update': 0}, {},
                      {'lr': learning_rate, 'rho': rho, 'epsilon': epsilon},
                      lambda var, slots, powers, settings, grad: [var, *slots, *settings, grad], {})


def rmsprop(learning_rate: Any, decay: Any, momentum: Any, epsilon: Any, centered: bool) -> UpdateRule:
    """Steps scaled by a running mean of the squared gradient, or of the variance with `centered`."""
    settings = {'learning_rate': learning_rate, 'decay': decay, 'momentum': momentum, 'epsilon': epsilon}
    if not centered:
        return UpdateRule('RMSProp', {'rms': 1, 'momentum': 0}, {}, settings,
                          lambda var, slots, powers, settings, grad: [var, *slots, *settings, grad], {})
    return UpdateRule('CenteredRMSProp', {'rms': 1, 'mg': 0, 'momentum': 0}, {}, settings,
                      lambda var, slots, powers, settings, grad: [var, slots[1], slots[0], slots[2], *settings, grad], {})


def ftrl(learning_rate: Any, power: float, start: float, l1: float, l2: float) -> UpdateRule:
    """Follow the regularized leader (McMahan et al., 2013)."""
    return UpdateRule('Ftrl', {'accum': start, 'linear': 0}, {},
                      {'learning_rate': learning_rate, 'l1_regularization_strength': l1, 'l2_regularization_strength': l2,
                       'learning_rate_power': power},
                      lambda var, slots, powers, settings, grad: [var, *slots, grad, *settings],
                      {'multiply_linear_by_lr': False})
