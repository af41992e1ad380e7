"""Python's operators on tensors. `install` puts them on a class: `Tensor` here, `Variable` where it is defined."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hosts.numpy.graph.context import current_graph
from pyfuncdbg.hosts.numpy.graph.definitions.registry import lookup
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType
from pyfuncdbg.hosts.numpy.ops.arrays.slicing import getitem
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import FLOAT, REAL, broadcast_shapes
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import elementwise, truediv
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import equal, not_equal
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import abs as absolute, invert, logical_not, negative
from pyfuncdbg.hosts.numpy.ops.linalg.products import matmul
from pyfuncdbg.hosts.numpy.runtime.eager import fast_path
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor

Operator = Callable[..., Any]


def _is_foreign(x: Any) -> bool:
    """Whether the other operand's class takes precedence, by its `__array_priority__` as in TensorFlow."""
    return getattr(x, '__array_priority__', 0) > Tensor.__array_priority__


def _pair(apply_to: Callable[[Any, Any], Any]) -> tuple[Operator, Operator]:
    """An operator and its reflected version."""
    def forward(self: Any, other: Any) -> Any:
        return apply_to(self, other) if isinstance(other, Tensor) or not _is_foreign(other) else NotImplemented

    def reflected(self: Any, other: Any) -> Any:
        return apply_to(other, self)
    return forward, reflected


def _plain(op: str, name: str) -> tuple[Operator, Operator]:
    return _pair(lambda x, y: elementwise(op, x, y, name))


def _add(x: Any, y: Any) -> Any:
    if not isinstance(x, Tensor) and not hasattr(x, '_as_tensor') and not hasattr(x, 'combined') and (
            current_graph() is None) and isinstance(y, Tensor):
        x = convert_to_tensor(x, y.dtype)
    return elementwise('Add' if getattr(x, 'dtype', None) is dtypes.string else 'AddV2', x, y, 'add')


def _logic(on_bool: str, on_integers: str, name: str) -> tuple[Operator, Operator]:
    def choose(x: Any, y: Any) -> Any:
        kind = getattr(x if hasattr(x, 'dtype') else y, 'dtype', dtypes.bool)
        return elementwise(on_bool, x, y, name) if kind == dtypes.bool else elementwise(on_integers, x, y)
    return _pair(choose)


def _xor(x: Any, y: Any) -> Any:
    kind = getattr(x if hasattr(x, 'dtype') else y, 'dtype', dtypes.bool)
    return elementwise('NotEqual', x, y, 'xor') if kind == dtypes.bool else elementwise('BitwiseXor', x, y)


def _invert(self: Any) -> Any:
    x = convert_to_tensor(self)
    return logical_not(x) if x.dtype is dtypes.bool else invert(x)


def _compare(op: str) -> Operator:
    def compare(self: Any, other: Any) -> Any:
        return elementwise(op, self, other)
    return compare


_PAIRS: dict[str, tuple[Operator, Operator]] = {
    'add': _pair(_add),
    'sub': _plain('Sub', 'sub'),
    'mul': _plain('Mul', 'mul'),
    'truediv': _pair(truediv),
    'div': _pair(truediv),
    'floordiv': _plain('FloorDiv', 'floordiv'),
    'mod': _plain('FloorMod', 'mod'),
    'pow': _plain('Pow', 'pow'),
    'matmul': _pair(lambda x, y: matmul(x, y, name='matmul')),
    'and': _logic('LogicalAnd', 'BitwiseAnd', 'and'),
    'or': _logic('LogicalOr', 'BitwiseOr', 'or'),
    'xor': _pair(_xor),
}
_SINGLE: dict[str, Operator] = {
    'neg': lambda self: negative(self),
    'abs': lambda self: absolute(self),
    'invert': _invert,
    'getitem': lambda self, key: getitem(convert_to_tensor(self), key),
    'lt': _compare('Less'), 'le': _compare('LessEqual'), 'gt': _compare('Greater'), 'ge': _compare('GreaterEqual'),
}


_IN_PLACE = {'add': ('variable', '+', '.assign_add(value)'), 'sub': ('variable', '-', '.assign_sub(value)'),
             'mul': ('var', '*', ''), 'truediv': ('var', '/', ''), 'pow': ('var', '**', '')}
"""In-place operators, which would bind a variable's name to a tensor."""


def _refused(variable: str, sign: str, method: str) -> Operator:
    method = method or f'.assign({variable} {sign} value)'

    def refuse(self: Any, other: Any) -> Any:
        raise RuntimeError(f'`{variable} {sign}= value` with `tf.Variable`s is not supported. Use `{variable}{method}` to '
                           f'modify the variable, or `out = {variable} {sign} value` if you need to get a new output '
                           'Tensor.')
    return refuse


def install(cls: type, read: Operator | None = None) -> None:
    """Install the operators on a class.

    Args:
        cls: Its objects are tensors or convert to tensors.
        read: Returns the tensor of an object, outside of the operator's name scope. Such an object is a variable, which
            refuses `+=` and the like.
    """
    if read is not None:
        for name, words in _IN_PLACE.items():
            _set_method(cls, f'__i{name}__', _refused(*words))
    for name, (forward, reflected) in _PAIRS.items():
        _set_method(cls, f'__{name}__', forward if read is None else _reading(read, forward))
        _set_method(cls, f'__r{name}__', reflected if read is None else _reading(read, reflected))
    for name, operator in _SINGLE.items():
        _set_method(cls, f'__{name}__', operator if read is None else _reading(read, operator))


def _reading(read: Operator, operator: Operator) -> Operator:
    def operate(self: Any, *others: Any) -> Any:
        return operator(read(self), *others)
    return operate


def _set_method(cls: type, name: str, function: Operator) -> None:
    function.__name__ = name
    function.__qualname__ = f'{cls.__name__}.{name}'
    setattr(cls, name, function)


def _shorten(sign: str, op: str, allowed: Sequence[DType], node: str) -> None:
    """Install the fast path of an operator between eager tensors."""
    _set_method(EagerTensor, f'__{sign}__', fast_path.binary(lookup(op), allowed, _PAIRS[sign][0], node))


def _compared(function: Callable[..., Tensor], otherwise: bool) -> Callable[[Any, Any], Tensor]:
    """`==` or `!=`: eager tensors of incompatible shapes are unequal, where the function would raise."""
    def compare(x: Any, y: Any) -> Tensor:
        try:
            return function(x, y)
        except InvalidArgumentError:
            try:
                broadcast_shapes(x.shape, convert_to_tensor(y, dtype_hint=x.dtype).shape)
            except ValueError:
                return constant(otherwise)
            raise
    return compare


install(Tensor)
_shorten('add', 'AddV2', REAL, 'add')
_shorten('sub', 'Sub', REAL, 'sub')
_shorten('mul', 'Mul', REAL, 'mul')
_shorten('truediv', 'RealDiv', FLOAT, 'truediv')
Tensor.compare['equal'] = _compared(equal, False)
Tensor.compare['not_equal'] = _compared(not_equal, True)
