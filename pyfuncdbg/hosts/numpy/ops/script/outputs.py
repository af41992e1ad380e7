"""`Tout`: which tensors a wrapped function gives, and in which form the caller gets them.

Read once per public call, on the caller's thread; immutable.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.composite import is_composite_spec
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec
from pyfuncdbg.hosts.numpy.ops.script.structure import filled, is_keyed, is_row, leaves

_UNKNOWN = TensorShape(None)


class OutputTypes:
    """Output types that `Tout` declares. Never changed after it is made.

    Attributes:
        dtypes: One per tensor.
        shapes: Their static shapes; unknown where `Tout` names only a dtype.
        form: 'one' tensor, a flat 'list' of them, 'nested' like `structure`, or 'composite': a list with
            composites in it, or a single composite.
        structure: `Tout` itself, for nested forms and composites.
        checked: Whether any shape must be checked when the function has returned.
    """

    __slots__ = ('checked', 'dtypes', 'form', 'shapes', 'structure')

    def __init__(self, specs: Sequence[tuple[DType, TensorShape]], form: Literal['one', 'list', 'nested', 'composite'],
                 structure: Any = None) -> None:
        self.dtypes = tuple(dtype for dtype, _ in specs)
        self.shapes = tuple(shape for _, shape in specs)
        self.form = form
        self.structure = structure
        self.checked = any(shape.rank is not None for shape in self.shapes)

    def packed(self, tensors: Sequence[Any]) -> Any:
        """Tensors in the form that the caller of the public function gets."""
        if self.form == 'one':
            return tensors[0]
        if self.form == 'list':
            return list(tensors)
        found = filled(self.structure, iter(tensors))
        return list(found) if type(found) is tuple and self.form == 'composite' else found


    def with_composites(self, Tout: Any) -> OutputTypes:
        """The same, asked of a function with a composite among its arguments: its results are looked at as `Tout` says."""
        if self.form not in ('one', 'list'):
            return self
        return OutputTypes(list(zip(self.dtypes, self.shapes, strict=True)), 'composite', Tout)


_single: dict[DType, OutputTypes] = {dtype: OutputTypes([(dtype, _UNKNOWN)], 'one') for dtype in dtypes.ALL}
ANY = OutputTypes([], 'list')
"""Stands where `Tout` is not looked at."""


def output_types(Tout: Any) -> OutputTypes:
    """Read `Tout`.

    Args:
        Tout: Anything that names a dtype, a `TensorSpec` or the spec of a composite, a list or tuple of those, or a mapping,
            dataclass or deeper nesting of those.

    Raises:
        TypeError: Something in it names no dtype.
    """
    if type(Tout) is DType:
        return _single[Tout]
    items = Tout if isinstance(Tout, (list, tuple)) else [Tout]
    if any(is_composite_spec(item) for item in items) and not any(is_row(item) for item in items):
        return OutputTypes([_spec(leaf) for leaf in leaves(Tout)], 'composite', Tout)
    if isinstance(Tout, (list, tuple)) and not any(is_row(item) for item in Tout):
        return OutputTypes([_spec(item) for item in Tout], 'list')
    if isinstance(Tout, (list, tuple)) or is_keyed(Tout):
        return OutputTypes([_spec(leaf) for leaf in leaves(Tout)], 'nested', Tout)
    return OutputTypes([_spec(Tout)], 'one')


def _spec(item: Any) -> tuple[DType, TensorShape]:
    if isinstance(item, TensorSpec):
        return item.dtype, item.shape
    return as_dtype(item), _UNKNOWN
