"""Fit of a function to the arguments that a site gives it: hosts ask before they put it there. Any thread."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def check_fit(func: Any, positional: Sequence[Any], keywords: Mapping[str, Any] | None = None) -> None:
    """Check that a function can be called with the arguments of a site.

    Args:
        func: Any object.
        positional: Arguments by position; their values are not used.
        keywords: Arguments by name.

    Raises:
        ValueError: It is no function, or its signature does not take them.
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
