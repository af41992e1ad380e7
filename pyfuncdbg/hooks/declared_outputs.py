"""Mismatches between the outputs that `Tout` declares and those of a call, where the framework does not check.

For cards and judges of `doctor`: pure, from saved data, on any thread.
"""
from __future__ import annotations

import re
from collections.abc import Sequence

from pyfuncdbg.hooks.diagnosis import SiteView, TensorView
from pyfuncdbg.hooks.graph_context import DECLARED_SHAPES

_NUMBERS = re.compile(r'u?int\d+|float\d+|bfloat16|complex\d+|bool|string')


def declared_dtype(site: SiteView, slot: int) -> str:
    """The dtype that `Tout` declares of output `slot` of a `site`; '' if unknown."""
    dtypes = site.attrs.get('Tout')
    name = dtypes[slot] if isinstance(dtypes, list) and slot < len(dtypes) else None
    return name if isinstance(name, str) and _NUMBERS.fullmatch(name) else ''


def declared_shape(shapes: object, slot: int) -> list[int | None] | None:
    """The shape of output `slot` in a list of shapes from a log; None if it has none."""
    shape = shapes[slot] if isinstance(shapes, list) and slot < len(shapes) else None
    return shape if isinstance(shape, list) and all(size is None or type(size) is int for size in shape) else None


def matches_shape(shape: Sequence[int], declared: Sequence[int | None] | None) -> bool:
    """Whether a shape is one that was declared; None declares nothing."""
    return declared is None or (len(shape) == len(declared) and all(
        declared_size in (None, size) for size, declared_size in zip(shape, declared, strict=True)))


def contradicted_declaration(site: SiteView, slot: int, tensor: TensorView) -> str:
    """The declaration, such as 'float32 [2]', of output `slot` of a `site` that its `tensor` contradicts; '' if none."""
    if tensor.absent or site.kind != 'python':
        return ''
    dtype, shape = declared_dtype(site, slot), declared_shape(site.attrs.get(DECLARED_SHAPES), slot)
    true_dtype = not dtype or dtype == tensor.dtype or not _NUMBERS.fullmatch(tensor.dtype)
    if true_dtype and matches_shape(tensor.shape, shape):
        return ''
    sizes = '' if shape is None else f' [{", ".join(map(str, shape))}]'
    return f'{dtype}{sizes}'.strip()
