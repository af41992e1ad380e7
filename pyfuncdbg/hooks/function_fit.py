"""Fit of a function to the arguments that a site gives it: hosts ask before they put it there. Any thread."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def check_fit(func: Any, positional: Sequence[Any], keywords: Mapping[str, Any] | None = None) -> None:
    """Refuse a function that cannot be called with these arguments.

    Raises:
        ValueError: It cannot.
    """
    import inspect  # a program whose user never swaps a function does without
    if not callable(func):
        raise ValueError(f'expected a function, got {type(func).__name__}')
    try:
        signature = inspect.signature(func)
    except (ValueError, TypeError):                 # a builtin that does not tell
        return
    keywords = keywords or {}
    try:
        signature.bind(*positional, **keywords)
    except TypeError as error:
        name = getattr(func, '__name__', type(func).__name__)
        count = len(positional) + len(keywords)
        raise ValueError(f'{name}{signature} cannot be called with {count} argument{"s" * (count != 1)}: {error}') from None
