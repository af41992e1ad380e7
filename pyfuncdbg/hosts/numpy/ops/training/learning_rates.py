"""Learning rates that change with the global step: `tf.compat.v1.train.exponential_decay` and the like.

In a graph each is a tensor. In eager mode it is a function, which an optimizer calls at each step.
"""
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.ops.control.cond import case, cond
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import scope
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import divide, minimum, multiply, pow, subtract
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import equal
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import ceil, cos, exp, floor, log

Decayed = Callable[[], Any]
_SCOPES = {'exponential_decay': 'ExponentialDecay', 'natural_exp_decay': 'NaturalExpDecay',
           'inverse_time_decay': 'InverseTimeDecay', 'polynomial_decay': 'PolynomialDecay',
           'cosine_decay': 'CosineDecay', 'cosine decay restarts': 'SGDRDecay'}
"""Name scopes of schedules, by their name in messages."""


def _rate(decayed: Decayed, global_step: Any) -> Any:
    """The tensor, or in eager mode the function."""
    step = getattr(global_step, 'handle', global_step)
    if context.current_graph() is None and not isinstance(step, SymbolicTensor):
        return decayed
    graph = context.current_graph() or step.graph
    with graph.as_default():
        return decayed()


def _scheduled(what: str, formula: Callable[..., Any], learning_rate: Any, global_step: Any, *settings: Any,
               name: str | None) -> Any:
    """A rate by a formula of (rate, step, settings), all as tensors of the rate's dtype."""
    if global_step is None:
        raise ValueError(f'global_step is required for {what}.')

    def decayed() -> Any:
        with scope(name, _SCOPES[what]):
            rate = convert_to_tensor(learning_rate, name='learning_rate')
            fitted = [cast(value, rate.dtype) for value in (global_step, *settings)]
            return formula(rate, *fitted)
    return _rate(decayed, global_step)


def exponential_decay(learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False,
                      name: str | None = None) -> Any:
    """rate * decay_rate ** (step / decay_steps); with `staircase` integer powers.

    Raises:
        ValueError: No global step.
    """
    def formula(rate: Any, step: Any, steps: Any, factor: Any) -> Any:
        power = divide(step, steps)
        return multiply(rate, pow(factor, floor(power) if staircase else power))
    return _scheduled('exponential_decay', formula, learning_rate, global_step, decay_steps, decay_rate, name=name)


def natural_exp_decay(learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False,
                      name: str | None = None) -> Any:
    """rate * exp(-decay_rate * step / decay_steps).

    Raises:
        ValueError: No global step.
    """
    def formula(rate: Any, step: Any, steps: Any, factor: Any) -> Any:
        power = divide(step, steps)
        return multiply(rate, exp(multiply(-factor, floor(power) if staircase else power)))
    return _scheduled('natural_exp_decay', formula, learning_rate, global_step, decay_steps, decay_rate, name=name)


def inverse_time_decay(learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False,
                       name: str | None = None) -> Any:
    """rate / (1 + decay_rate * step / decay_steps).

    Raises:
        ValueError: No global step.
    """
    def formula(rate: Any, step: Any, steps: Any, factor: Any) -> Any:
        power = divide(step, steps)
        return divide(rate, constant(1.0, rate.dtype) + multiply(factor, floor(power) if staircase else power))
    return _scheduled('inverse_time_decay', formula, learning_rate, global_step, decay_steps, decay_rate, name=name)


def polynomial_decay(learning_rate: Any, global_step: Any, decay_steps: Any, end_learning_rate: Any = 0.0001,
                     power: Any = 1.0, cycle: bool = False, name: str | None = None) -> Any:
    """From the rate to `end_learning_rate` in `decay_steps`; with `cycle` repeatedly, over more steps each time.

    Raises:
        ValueError: No global step.
    """
    def formula(rate: Any, step: Any, steps: Any, end: Any, exponent: Any) -> Any:
        if cycle:
            def one() -> Any:
                return constant(1.0, rate.dtype)
            steps = multiply(steps, cond(equal(step, 0), one, lambda: ceil(step / steps)))
        else:
            step = minimum(step, steps)
        return multiply(subtract(rate, end), pow(1 - divide(step, steps), exponent)) + end
    return _scheduled('polynomial_decay', formula, learning_rate, global_step, decay_steps, end_learning_rate, power,
                      name=name)


def cosine_decay(learning_rate: Any, global_step: Any, decay_steps: Any, alpha: Any = 0.0, name: str | None = None) -> Any:
    """Half a period of a cosine, from the rate to `alpha` times the rate.

    Raises:
        ValueError: No global step.
    """
    def formula(rate: Any, step: Any, steps: Any) -> Any:
        part = divide(minimum(step, steps), steps)
        waved = 0.5 * (1.0 + cos(constant(math.pi, rate.dtype) * part))
        return multiply(rate, (1 - alpha) * waved + alpha)
    return _scheduled('cosine_decay', formula, learning_rate, global_step, decay_steps, name=name)


def cosine_decay_restarts(learning_rate: Any, global_step: Any, first_decay_steps: Any, t_mul: float = 2.0,
                          m_mul: float = 1.0, alpha: float = 0.0, name: str | None = None) -> Any:
    """`cosine_decay` with restarts; each period `t_mul` times as long, from `m_mul` times the rate.

    Raises:
        ValueError: No global step.
    """
    def formula(rate: Any, step: Any, steps: Any) -> Any:
        part = divide(step, steps)
        if t_mul == 1.0:
            times = floor(part)
            part = part - times
        else:
            times = floor(log(1.0 - part * (1.0 - t_mul)) / math.log(t_mul))
            sum_before = (1.0 - pow(constant(t_mul, rate.dtype), times)) / (1.0 - t_mul)
            part = (part - sum_before) / pow(constant(t_mul, rate.dtype), times)
        height = pow(constant(m_mul, rate.dtype), times)
        waved = 0.5 * height * (1.0 + cos(constant(math.pi, rate.dtype) * part))
        return multiply(rate, (1 - alpha) * waved + alpha)
    return _scheduled('cosine decay restarts', formula, learning_rate, global_step, first_decay_steps, name=name)


def piecewise_constant(x: Any, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None) -> Any:
    """`values[0]` up to the first boundary, `values[1]` up to the second, and so on.

    Raises:
        ValueError: The number of values is not that of boundaries plus one, or dtypes differ.
    """
    if len(boundaries) != len(values) - 1:
        raise ValueError('The length of boundaries should be 1 less than the length of values')

    def decayed() -> Any:
        with scope(name, 'PiecewiseConstant'):
            step = convert_to_tensor(x)
            limits = [_limit(boundary, step) for boundary in boundaries]
            heights = [convert_to_tensor(value) for value in values]
            if len({height.dtype for height in heights}) > 1:
                raise ValueError(f'values must have elements all with the same dtype ({heights[0].dtype} vs '
                                 f'{next(h.dtype for h in heights if h.dtype != heights[0].dtype)}).')
            if not limits:
                return heights[0]
            # The first match wins, so each test has an upper limit only.
            tests = [(step <= limit, functools.partial(_same, height))
                     for limit, height in zip(limits, heights[:-1], strict=True)]
            return case(tests, default=functools.partial(_same, heights[-1]), exclusive=False)
    return _rate(decayed, x)


def _same(value: Any) -> Any:
    return value


def _limit(boundary: Any, step: Any) -> Tensor:
    limit = convert_to_tensor(boundary)
    if limit.dtype == step.dtype:
        return limit
    if limit.dtype.name == 'int32' and step.dtype.name == 'int64':
        return cast(limit, step.dtype)
    raise ValueError(f'Boundaries ({limit.dtype}) must have the same dtype as x ({step.dtype}).')
