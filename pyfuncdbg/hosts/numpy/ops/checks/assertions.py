"""Checks that a program makes of the values of its tensors: NaN and Inf, `Assert`, comparisons."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.context import executing_eagerly
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Node, OpDef, no_gradient, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import reduce_all
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor, convert_together
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import call, scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import FLOAT, invalid, same_rule
from pyfuncdbg.hosts.numpy.ops.strings.strings import value_text
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


# ---------------------------------------------------------------- NaN and Inf
def _check_numerics(x: Any, message: str) -> Any:
    if not np.isfinite(x).all():
        faults = ' and '.join(name for name, bad in (('Inf', np.isinf(x).any()), ('NaN', np.isnan(x).any())) if bad)
        raise invalid(f'{message} : Tensor had {faults} values')
    return x


def _check_numerics_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    message = f'Not a number (NaN) or infinity (Inf) values detected in gradient. {node.attrs["message"]}'
    return [apply('CheckNumerics', (grad,), {'message': message})]


register(OpDef('CheckNumerics', _check_numerics, same_rule('CheckNumerics', FLOAT, 'tensor'), _check_numerics_gradient,
               stateful=True, kernel_attrs=('message',), free=True))


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """`tensor`, if all its elements are finite.

    Raises:
        InvalidArgumentError: At run time: an element is NaN or infinite; the text starts with `message`.
    """
    return call('CheckNumerics', {'tensor': tensor}, {'message': message}, name)


def assert_all_finite(x: Any, message: str = '', name: str | None = None) -> Tensor:
    """The same as `check_numerics`."""
    return check_numerics(x, message, name)


# ---------------------------------------------------------------- Assert
def _assert(condition: Any, *data: Any, summarize: int = 3) -> None:
    if not condition:
        raise invalid('assertion failed: ' + ' '.join(f'[{_plain(d, summarize)}]' for d in data))


def _plain(value: Any, summarize: int) -> str:
    if value.dtype == object and not value.ndim:
        return str(value[()].decode(errors='replace'))
    text = value_text(value, summarize).replace('\n', '')
    return text[1:-1] if value.ndim == 1 else text


register(OpDef('Assert', _assert, lambda inputs, attrs: [], no_gradient, outputs=0, stateful=True,
               kernel_attrs=('summarize',)))


def Assert(condition: Any, data: Sequence[Any], summarize: int | None = None, name: str | None = None) -> Any:
    """Stop with an error unless `condition` holds.

    Returns:
        In a graph the operation that checks it; None in eager mode.

    Raises:
        InvalidArgumentError: It does not hold; in a graph when the operation runs.
    """
    count = 3 if summarize is None else summarize
    if executing_eagerly():
        if not condition:
            rows = '\n'.join(_row(item, count) for item in data)
            raise invalid(f"Expected '{condition!s}' to be true. Summarized data: {rows}")
        return None
    with scope(name, 'Assert'):
        condition = convert_to_tensor(condition, None if isinstance(condition, Tensor) else dtypes.bool, name='condition')
        if condition.dtype is not dtypes.bool:
            raise TypeError(f"Input 'condition' of 'Assert' Op has type {condition.dtype.name} that does not match expected "
                            'type of bool.')
        return apply('Assert', (condition, *(convert_to_tensor(item) for item in data)), {'summarize': count}, 'Assert')


def _row(item: Any, summarize: int) -> str:
    flat = np.asarray(convert_to_tensor(item)._value).reshape(-1)
    is_complete = summarize < 0 or len(flat) <= summarize
    return ', '.join(str(value) for value in (flat if is_complete else [*flat[:summarize], '...']))


# ---------------------------------------------------------------- comparisons
def _comparing(default: str, op: str, sign: str) -> Callable[..., Any]:
    def check(x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None) -> Any:
        x, y = convert_together([x, y], names=('x', 'y'), op=name or default)
        if not executing_eagerly():
            with scope(name, default):
                holds = reduce_all(apply(op, (x, y)))
                data = [message or '', f'Condition x {sign} y did not hold element-wise:', f'x ({label(x)}) = ', x,
                        f'y ({label(y)}) = ', y]
                return Assert(holds, data, summarize)
        elements = np.asarray(apply(op, (x, y))._value)
        if not elements.all():
            raise invalid(_difference(np.asarray(x._value), np.asarray(y._value), elements, sign, message,
                                                               3 if summarize is None else summarize))
        return None
    check.__name__ = check.__qualname__ = default
    check.__doc__ = f'Assert that `x {sign} y` for all elements; InvalidArgumentError with the first that differ.'
    return check


def label(x: Any) -> str:
    """The name of a symbolic tensor; eager ones have none."""
    return '' if executing_eagerly() else str(getattr(x, 'name', ''))


def _difference(x: Any, y: Any, holds: Any, sign: str, message: str | None, summarize: int) -> str:
    bad = np.argwhere(~holds)
    count = len(bad) if summarize < 0 else min(len(bad), summarize)
    rows = bad[:count]
    wide_x, wide_y = np.broadcast_to(x, holds.shape), np.broadcast_to(y, holds.shape)
    at = tuple(rows.T)
    lines = [message] if message else []
    lines += [f'Condition x {sign} y did not hold.', f'Indices of first {count} different values:', str(rows),
              'Corresponding x values:', str(wide_x[at]), 'Corresponding y values:', str(wide_y[at])]
    for label, value in (('x', x), ('y', y)):
        flat = value.reshape(-1)[:None if summarize < 0 else summarize]
        lines += [f'First {len(flat)} elements of {label}:', str(flat)]
    return '\n'.join(lines)


assert_equal = _comparing('assert_equal', 'Equal', '==')
assert_none_equal = _comparing('assert_none_equal', 'NotEqual', '!=')
assert_less = _comparing('assert_less', 'Less', '<')
assert_less_equal = _comparing('assert_less_equal', 'LessEqual', '<=')
assert_greater = _comparing('assert_greater', 'Greater', '>')
assert_greater_equal = _comparing('assert_greater_equal', 'GreaterEqual', '>=')


def _against_zero(default: str, op: str, sign: str) -> Callable[..., Any]:
    def check(x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None) -> Any:
        x = convert_to_tensor(x)
        with scope(name, default):
            zero = constant(x.dtype.as_numpy_dtype(0))
            with scope(None, 'assert_less' + ('_equal' if op.endswith('Equal') else '')):
                pair = (zero, x) if op.startswith('Greater') else (x, zero)
                holds = reduce_all(apply(op.replace('Greater', 'Less'), pair))
                if not executing_eagerly():
                    return Assert(holds, [message or '', f'Condition x {sign} 0 did not hold element-wise:',
                                          f'x ({label(x)}) = ', x], summarize)
        if not holds:
            start = f'{message}.  ' if message else ''
            values = [str(v) for v in np.asarray(x._value).reshape(-1)[:3 if summarize is None else summarize]]
            raise invalid(f'{start}\nCondition x {sign} 0 did not hold element-wise:\nx (shape={x.shape} '
                                                   f'dtype={x.dtype.name}) = \n{values}')
        return None
    check.__name__ = check.__qualname__ = default
    check.__doc__ = f'Assert that `x {sign} 0` for all elements.'
    return check


assert_positive = _against_zero('assert_positive', 'Greater', '>')
assert_negative = _against_zero('assert_negative', 'Less', '<')
assert_non_negative = _against_zero('assert_non_negative', 'GreaterEqual', '>=')
assert_non_positive = _against_zero('assert_non_positive', 'LessEqual', '<=')


def assert_near(x: Any, y: Any, rtol: Any = None, atol: Any = None, message: str | None = None, summarize: int | None = None,
                name: str | None = None) -> Any:
    """Assert that `|x - y| <= atol + rtol * |y|` for all elements; 10 machine epsilons each by default."""
    x, y = convert_together([x, y], names=('x', 'y'), op='assert_near')
    eps = 10 * float(np.finfo(x.dtype.as_numpy_dtype).eps) if x.dtype.is_floating else 0
    atol, rtol = (convert_to_tensor(eps if limit is None else limit, x.dtype) for limit in (atol, rtol))
    with scope(name, 'assert_near'):
        holds = reduce_all(apply('LessEqual', (abs(x - y), atol + rtol * abs(y))))
        data = [f'{message}.  ' if message else '', f'x and y not equal to tolerance rtol = {rtol!s}, atol = {atol!s}',
                *_parts('x', x), *_parts('y', y)]
        return Assert(holds, data, summarize)


def _parts(name: str, x: Any) -> list[Any]:
    description = label(x) if not executing_eagerly() else f'shape={x.shape} dtype={x.dtype.name}'
    return [f'{name} ({description}) = ', x]
