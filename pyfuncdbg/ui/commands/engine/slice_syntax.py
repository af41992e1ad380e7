"""Slices and ranges that a user types, read as data: `[1:3, ..., -1]`, `[[-inf, -0.5], [0.5, inf]]`."""
from __future__ import annotations

import re
from types import EllipsisType

import numpy as np

from pyfuncdbg.errors import CommandError

Index = tuple[int | slice | EllipsisType, ...]
_INTEGER = re.compile(r'[+-]?\d{1,30}')
_NUMBER = re.compile(r'[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|inf)')
_RANGE = re.compile(r'\[([^\[\],]+),([^\[\],]+)\]')


def parse_index(text: str) -> Index:
    """Parse '[1:3, ..., -1]' as NumPy does: integers, slices and one ellipsis.

    Args:
        text: As typed.

    Returns:
        The index.

    Raises:
        CommandError: It is not valid.
    """
    inside = text.strip()
    if not (inside.startswith('[') and inside.endswith(']')):
        raise CommandError(f'{text!r} is not a slice: expected a form such as [0], [1:3, ..., -1]')
    parts = [part.strip() for part in inside[1:-1].split(',')]
    if len(parts) > 1 and not parts[-1]:
        parts.pop()
    index = tuple(_part(part, text) for part in parts)
    if sum(part is Ellipsis for part in index) > 1:
        raise CommandError(f"{text!r} has more than one '...'")
    return index


def slice_array(array: np.ndarray, index: Index, name: str = 'the tensor') -> np.ndarray:
    """A part of an array.

    Args:
        array: The array.
        index: A parsed index.
        name: Name of the array, for the error.

    Returns:
        An array, 0-d for one element.

    Raises:
        CommandError: The index does not fit the shape.
    """
    full = index if any(part is Ellipsis for part in index) else (*index, Ellipsis)
    try:
        return np.asarray(array[full])
    except (IndexError, ValueError, OverflowError) as error:
        raise CommandError(f'{name} has shape {list(array.shape)}: {error}') from None


def parse_ranges(text: str) -> tuple[tuple[float, float], ...]:
    """Parse '[0, 1]' or '[[-inf, -0.5], [0.5, inf]]' as closed intervals.

    Args:
        text: As typed.

    Returns:
        Lower and upper end of each.

    Raises:
        CommandError: It is not valid, or a lower end is above its upper one.
    """
    packed = ''.join(text.split())
    inner = packed[1:-1] if packed.startswith('[[') and packed.endswith(']]') else packed
    pairs = _RANGE.findall(inner)
    if not pairs or ','.join(f'[{low},{high}]' for low, high in pairs) != inner:
        raise CommandError(f'{text!r} is not a range: expected [LOW, HIGH] or [[LOW, HIGH], ...], with inf for no end')
    ranges = []
    for low, high in pairs:
        if not _NUMBER.fullmatch(low) or not _NUMBER.fullmatch(high):
            raise CommandError(f'{low if not _NUMBER.fullmatch(low) else high!r} in the range {text!r} is not a number')
        if float(low) > float(high):
            raise CommandError(f'the range [{low}, {high}] is empty: the lower end comes first')
        ranges.append((float(low), float(high)))
    return tuple(ranges)


def _part(part: str, text: str) -> int | slice | EllipsisType:
    if part == '...':
        return Ellipsis
    bounds = [bound.strip() for bound in part.split(':')]
    if len(bounds) > 3 or not all(_INTEGER.fullmatch(bound) or (not bound and len(bounds) > 1) for bound in bounds):
        raise CommandError(f"{part!r} in {text!r} is not an index: expected an integer, START:STOP:STEP or '...'")
    numbers = [int(bound) if bound else None for bound in bounds]
    if len(numbers) == 1:
        assert numbers[0] is not None
        return numbers[0]
    if len(numbers) == 3 and numbers[2] == 0:
        raise CommandError(f'{part!r} in {text!r}: the step of a slice cannot be 0')
    return slice(*numbers)
