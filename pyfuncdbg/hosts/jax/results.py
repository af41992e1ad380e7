"""Results that JAX gives to a program, for `pyfuncdbg verify`."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.interception.result_source import ResultSource


def _compiled_name(args: tuple[Any, ...]) -> tuple[str, Sequence[str]]:
    return str(getattr(args[0], 'name', 'function')), ()


RESULT_SOURCES = (
    ResultSource('jax._src.interpreters.pxla', 'ExecuteReplicated.__call__', _compiled_name),
)


def leaves(value: Any) -> Iterable[Any] | None:
    """The array behind a JAX array; None for any other value."""
    kind = type(value)
    if kind.__name__ == 'ArrayImpl' and kind.__module__.startswith('jax'):
        return (np.asarray(value),)
    if kind.__name__ == 'PRNGKeyArray' and hasattr(value, '_base_array'):
        return (value._base_array,)
    return None
