"""The optimizers of `tf.compat.v1.train`: a rule, its settings and a name each. Rates are numbers, tensors or functions."""
from __future__ import annotations

from typing import Any

from pyfuncdbg.hosts.numpy.ops.training import update_rules
from pyfuncdbg.hosts.numpy.ops.training.optimizer import Optimizer


class GradientDescentOptimizer(Optimizer):
    """Steps of the rate times the gradient."""

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = 'GradientDescent') -> None:
        super().__init__(update_rules.gradient_descent(learning_rate), name)


class MomentumOptimizer(Optimizer):
    """Steps along a decaying sum of gradients."""

    def __init__(self, learning_rate: Any, momentum: Any, use_locking: bool = False, name: str = 'Momentum',
                 use_nesterov: bool = False) -> None:
        super().__init__(update_rules.momentum(learning_rate, momentum, use_nesterov), name)


class AdamOptimizer(Optimizer):
    """Steps scaled by running means of the gradient and its square (Kingma and Ba, 2015)."""

    def __init__(self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8,
                 use_locking: bool = False, name: str = 'Adam') -> None:
        super().__init__(update_rules.adam(learning_rate, beta1, beta2, epsilon), name)


class AdagradOptimizer(Optimizer):
    """Steps divided by the root of the sum of squared gradients (Duchi et al., 2011).

    Raises:
        ValueError: The accumulator does not start above zero.
    """

    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False,
                 name: str = 'Adagrad') -> None:
        if initial_accumulator_value <= 0:
            raise ValueError(f'initial_accumulator_value must be positive: {initial_accumulator_value}')
        super().__init__(update_rules.adagrad(learning_rate, initial_accumulator_value), name)


class AdadeltaOptimizer(Optimizer):
    """Steps scaled by the ratio of running means of steps and gradients (Zeiler, 2012)."""

    def __init__(self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon: Any = 1e-8, use_locking: bool = False,
                 name: str = 'Adadelta') -> None:
        super().__init__(update_rules.adadelta(learning_rate, rho, epsilon), name)


class RMSPropOptimizer(Optimizer):
    """Steps scaled by a running mean of the squared gradient (Tieleman and Hinton, 2012)."""

    def __init__(self, learning_rate: Any, decay: Any = 0.9, momentum: Any = 0.0, epsilon: Any = 1e-10,
                 use_locking: bool = False, centered: bool = False, name: str = 'RMSProp') -> None:
        super().__init__(update_rules.rmsprop(learning_rate, decay, momentum, epsilon, centered), name)


class FtrlOptimizer(Optimizer):
    """Follow the regularized leader (McMahan et al., 2013).

    Raises:
        ValueError: A strength is negative, the accumulator starts below zero, or the power is positive.
    """

    def __init__(self, learning_rate: Any, learning_rate_power: float = -0.5, initial_accumulator_value: float = 0.1,
                 l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
                 use_locking: bool = False, name: str = 'Ftrl') -> None:
        for word, value in (('initial_accumulator_value', initial_accumulator_value),
                            ('l1_regularization_strength', l1_regularization_strength),
                            ('l2_regularization_strength', l2_regularization_strength)):
            if value < 0:
                raise ValueError(f'{word} {value} needs to be positive or zero')
        if learning_rate_power > 0:
            raise ValueError(f'learning_rate_power {learning_rate_power} needs to be negative or zero')
        super().__init__(update_rules.ftrl(learning_rate, learning_rate_power, initial_accumulator_value,
                                           l1_regularization_strength, l2_regularization_strength), name)
