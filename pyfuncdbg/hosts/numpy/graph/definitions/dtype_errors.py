"""Dtype errors of an eager op's inputs, with TensorFlow's text.

Ops check before the kernel where NumPy accepts dtypes that TensorFlow refuses; the dispatch checks after a kernel failed.
"""
from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from pyfuncdbg.hosts.numpy.graph.definitions.signatures import signature
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype


@functools.cache
def _types(op: str) -> tuple[tuple[int, str, dict[int, Any], str], ...]:
    """By input of one tensor: its index, the attr with its type (or ''), the allowed dtypes (empty: all), and TensorFlow's
    list of them."""
    sig = signature(op)
    checks = []
    for place, argument in enumerate(sig.inputs if sig is not None else ()):
        if argument.number:
            break
        attr = argument.type if sig is not None and argument.type in sig.attrs else ''
        listed = sig.allowed(attr) if sig is not None and attr else [as_dtype(argument.type)]
        checks.append((place, attr, {id(dtype): dtype for dtype in listed},
                       ', '.join(dtype.kernel_name for dtype in listed)))
    return tuple(checks)


def fault(op: str, inputs: Sequence[Any]) -> str:
    """The error text for inputs that TensorFlow's registry does not allow; empty where it does."""
    dtype_by_attr: dict[str, DType] = {}
    for place, attr, allowed, names in _types(op):
        if place >= len(inputs):                # an op with fewer inputs here
            break
        dtype = inputs[place].dtype
        first = dtype_by_attr.setdefault(attr, dtype) if attr else next(iter(allowed.values()))
        if first is not dtype:
            return (f'cannot compute {op} as input #{place}(zero-based) was expected to be a {first.kernel_name} '
                    f'tensor but is a {dtype.kernel_name} tensor [Op:{op}] name: ')
        if allowed and id(dtype) not in allowed:
            return (f"Value for attr '{attr}' of {dtype.kernel_name} is not in the list of allowed values: {names}"
                    f'\n\t; NodeDef: {{{{node {op}}}}} [Op:{op}] name: ')
    return ''
