"""Dtype errors of an eager op's inputs, in TensorFlow's words.

Ops check before they compute where NumPy accepts dtypes that TensorFlow refuses; the dispatch checks when a kernel failed.
"""
from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from pyfuncdbg.hosts.numpy.graph.definitions.signatures import signature
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype


@functools.cache
def _types(op: str) -> tuple[tuple[int, str, dict[int, Any], str], ...]:
    """By input of one tensor: its place, the attr with its type (or ''), which are allowed (all: empty), and TensorFlow's
    list of them."""
    known = signature(op)
    found = []
    for place, argument in enumerate(known.inputs if known is not None else ()):
        if argument.number:
            break
        attr = argument.type if known is not None and argument.type in known.attrs else ''
        listed = known.allowed(attr) if known is not None and attr else [as_dtype(argument.type)]
        found.append((place, attr, {id(dtype): dtype for dtype in listed},
                      ', '.join(dtype.kernel_name for dtype in listed)))
    return tuple(found)


def fault(op: str, inputs: Sequence[Any]) -> str:
    """The reason why TensorFlow's registry does not allow these inputs; empty where it does."""
    seen: dict[str, DType] = {}
    for place, attr, allowed, names in _types(op):
        if place >= len(inputs):                # an op that is made of fewer here
            break
        dtype = inputs[place].dtype
        first = seen.setdefault(attr, dtype) if attr else next(iter(allowed.values()))
        if first is not dtype:
            return (f'cannot compute {op} as input #{place}(zero-based) was expected to be a {first.kernel_name} '
                    f'tensor but is a {dtype.kernel_name} tensor [Op:{op}] name: ')
        if allowed and id(dtype) not in allowed:
            return (f"Value for attr '{attr}' of {dtype.kernel_name} is not in the list of allowed values: {names}"
                    f'\n\t; NodeDef: {{{{node {op}}}}} [Op:{op}] name: ')
    return ''
