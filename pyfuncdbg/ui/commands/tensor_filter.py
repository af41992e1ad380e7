"""A condition on tensors as `lt -f` takes it, asked of recorded tensors and of values at hand."""
from __future__ import annotations

from typing import Any

from pyfuncdbg.errors import CommandError, DroppedError
from pyfuncdbg.hooks.host import Host
from pyfuncdbg.observers.debug.conditions.tensor_condition import TensorTest
from pyfuncdbg.observers.debug.conditions.vocabulary import BARE
from pyfuncdbg.observers.debug.value import described
from pyfuncdbg.observers.record.records import TensorRecord


def passes(test: TensorTest, tensor: TensorRecord) -> bool | None:
    """Whether a recorded tensor passes; None where its elements were not kept and its statistics do not tell.

    Raises:
        CommandError: The condition raised.
    """
    stats = tensor.stats
    if test.text in BARE and stats is not None:
        infinite = stats.neg_inf + stats.pos_inf
        return bool({'has_nan': stats.nan, 'has_inf': infinite, 'has_inf_or_nan': stats.bad}[test.text])
    try:
        array = tensor.to_numpy()
    except DroppedError:
        return None
    return _asked(test, array, tensor.name)


def value_passes(test: TensorTest, value: Any, host: Host | None, name: str) -> bool:
    """Whether a host's value passes; False for what is no tensor.

    Raises:
        CommandError: The condition raised.
    """
    array = described(value, host, items=0, counted=0).array
    return array is not None and _asked(test, array, name)


def _asked(test: TensorTest, array: Any, name: str) -> bool:
    try:
        return test(array)
    except Exception as error:                  # what the user typed may raise anything
        raise CommandError(f'-f {test.text}: {type(error).__name__}: {error}; asked of {name or "a tensor"} '
                           f'({array.dtype}{list(array.shape)})') from None
