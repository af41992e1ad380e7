"""What a gradient is where the target does not depend on the source: None, or zeros."""
from __future__ import annotations

from typing import Any

from pyfuncdbg.runtime.backward import zeros_like


class UnconnectedGradients:
    """What a gradient is where the target does not depend on the source."""

    NONE = 'none'
    ZERO = 'zero'


def connected_or(choice: Any) -> str:
    """'none' or 'zero' from what the user gave for `unconnected_gradients`.

    Raises:
        ValueError: Something else.
    """
    value = getattr(choice, 'value', choice)
    if value not in ('none', 'zero'):
        raise ValueError(f'Unknown value for unconnected_gradients: {choice!r}')
    return str(value)


def zeros_of(source: Any) -> Any:
    """Zeros like a tensor or variable."""
    return zeros_like(source.read_value() if hasattr(source, 'read_value') else source)
