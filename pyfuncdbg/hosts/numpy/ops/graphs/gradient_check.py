"""Gradients and finite differences: `tf.test.compute_gradient`, and those of TensorFlow 1.

A complex tensor counts as twice as many real numbers.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import identity
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.runtime.differentiation.symbolic_gradients import gradients
from pyfuncdbg.hosts.numpy.runtime.differentiation.tape import GradientTape

Jacobian = np.ndarray
_ALLOWED = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)


def compute_gradient(f: Callable[..., Any], x: Sequence[Any], delta: float | None = None) -> tuple[Any, Any]:
    """The jacobians of a function by its arguments, as its gradient gives them and by central differences.

    Args:
        f: A function of tensors that gives a tensor.
        x: Its arguments.
        delta: The step of the differences; 1/1024 by default.

    Returns:
        Two tuples with one array for each argument: a row for each element of the result, a column for each of the argument.

    Raises:
        ValueError: `x` is no list or tuple.
        AssertionError: An argument or the result has no gradient.
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError('`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), not a '
                         f'{type(x)}')
    arguments = [convert_to_tensor(value) for value in x]
    y = convert_to_tensor(f(*arguments))
    for i, tensor in enumerate(arguments):
        assert tensor.dtype in _ALLOWED, f'Cannot compute gradient for unsupported type {tensor.dtype.name} of argument {i}'
    assert y.dtype in _ALLOWED, f'Cannot compute gradient for unsupported type {y.dtype.name} of y'
    step = 1 / 1024 if delta is None else delta
    values = [tensor.numpy() for tensor in arguments]

    def at(i: int, changed: Any) -> Any:
        return convert_to_tensor(f(*(constant(v) for v in (*values[:i], changed, *values[i + 1:])))).numpy()

    def pulled(i: int, seed: Any) -> Any:
        with GradientTape() as tape:
            tape.watch(arguments)
            result = convert_to_tensor(f(*arguments))
        grad = tape.gradient(result, arguments[i], constant(seed))
        return None if grad is None else convert_to_tensor(grad).numpy()

    pairs = [(_by_gradient(lambda seed, i=i: pulled(i, seed), value, y.numpy()),  # type: ignore[misc]
              _by_differences(lambda changed, i=i: at(i, changed), value, y.numpy(), step))  # type: ignore[misc]
             for i, value in enumerate(values)]
    return tuple(a for a, _ in pairs), tuple(n for _, n in pairs)


def _reals(value: Any) -> Any:
    """The elements in a row, a complex one as two."""
    flat = np.array(value).reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == 'c' else flat


def _with(like: Any, reals: Any) -> Any:
    array = np.asarray(like)
    result = np.array(reals).astype(array.real.dtype).view(array.dtype).reshape(array.shape)
    return result if result.ndim else result[()]


def _by_gradient(pulled: Callable[[Any], Any], x: Any, y: Any) -> Jacobian:
    """A row for each element of the result."""
    columns, rows = len(_reals(x)), len(_reals(y))
    jacobian = np.zeros((rows, columns), np.asarray(x).real.dtype)
    for row in range(rows):
        grad = pulled(_with(y, np.eye(rows)[row]))
        if grad is not None:
            jacobian[row] = _reals(grad)
    return jacobian


def _by_differences(at: Callable[[Any], Any], x: Any, y: Any, step: float) -> Jacobian:
    columns, rows = len(_reals(x)), len(_reals(y))
    jacobian = np.zeros((rows, columns), np.asarray(x).real.dtype)
    for column in range(columns):
        shift = np.eye(columns)[column] * step
        above, below = at(_with(x, _reals(x) + shift)), at(_with(x, _reals(x) - shift))
        jacobian[:, column] = (_reals(above) - _reals(below)) / (2 * step)
    return jacobian


# ---------------------------------------------------------------- TensorFlow 1
def compute_gradient_v1(x: Any, x_shape: Any, y: Any, y_shape: Any, x_init_value: Any = None, delta: float = 1e-3,
                        init_targets: Any = None, extra_feed_dict: Any = None) -> Any:
    """The jacobian of `y` by `x` in the default session, as the gradient gives it and by central differences.

    Args:
        x: A tensor or a list of them.
        x_shape: Its shape, or a list of shapes.
        y: A tensor.
        y_shape: Its shape.
        x_init_value: Value of `x`; random numbers by default.
        delta: The step of the differences.
        init_targets: Operations to run first.
        extra_feed_dict: Further feeds.

    Returns:
        Two arrays (a list of such pairs for a list of tensors): a row for each element of `x`, a column for each of `y`.
    """
    for target in init_targets or ():
        target.run()
    several = isinstance(x, list)
    sources = x if several else [x]
    shapes = x_shape if several else [x_shape]
    with y.graph.as_default():
        seed = identity(constant(1, y.dtype, y_shape))
        grads = gradients(y, sources, seed)
    starts = [_start(source, shape, None if x_init_value is None else (x_init_value[i] if several else x_init_value))
              for i, (source, shape) in enumerate(zip(sources, shapes, strict=True))]
    run = context.default_session().run
    pairs = []
    for i, source in enumerate(sources):
        feeds = {**(extra_feed_dict or {}), **dict(zip(sources, starts, strict=True))}
        like = np.zeros(y_shape, y.dtype.array)
        gradient = None if grads[i] is None else convert_to_tensor(grads[i])
        theory = _by_gradient(
            lambda dy, g=gradient, feed=feeds: None if g is None else run(g, {**feed, seed: dy}),  # type: ignore[misc]
            starts[i], like)
        numeric = _by_differences(lambda value, s=source, feed=feeds: run(y, {**feed, s: value}),  # type: ignore[misc]
                                  starts[i], like, delta)
        pairs.append((theory.T, numeric.T))
    return pairs if several else pairs[0]


def compute_gradient_error(x: Any, x_shape: Any, y: Any, y_shape: Any, x_init_value: Any = None, delta: float = 1e-3,
                           init_targets: Any = None, extra_feed_dict: Any = None) -> float:
    """The largest difference between the gradient of `y` by `x` and central differences; arguments of
    `compute_gradient_v1`."""
    pairs = compute_gradient_v1(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    errors = [float(np.max(np.abs(a - n))) for a, n in (pairs if isinstance(pairs, list) else [pairs]) if a.size or n.size]
    return max(errors, default=0.0)


def _start(x: Any, shape: Any, initial_value: Any) -> Any:
    assert x.dtype in _ALLOWED, f"Don't support type {x.dtype.name} for x"
    if initial_value is not None:
        initial_shape = list(np.shape(initial_value))
        assert list(shape) == initial_shape, f'x_shape = {shape}, init_data shape = {initial_shape}'
        return initial_value
    start = np.asarray(np.random.random_sample(shape)).astype(x.dtype.array)
    if x.dtype.is_complex:
        start.imag = np.random.random_sample(shape)
    return start
