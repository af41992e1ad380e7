"""The origin card: a NaN or an infinity with its line of source and the offending rows, as plain data.

Made from the verdict on a call, whose tensors it reads, on the thread of the command.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from pyfuncdbg.errors import DroppedError
from pyfuncdbg.observers.debug.numerics.nan_verdicts import NanVerdict
from pyfuncdbg.observers.record.elements import Elements, elements_of
from pyfuncdbg.observers.record.record_contents import load_output, load_tensor
from pyfuncdbg.observers.record.records import CallRecord, OutputRecord, TensorRecord
from pyfuncdbg.observers.record.sources.source_text import SourceText

_PLACES = 4
"""Lines that NumPy blamed."""
_ROWS = 2
"""Offending rows of each input."""
_ELEMENTS = 24
"""Elements of a row or of a small input."""
_READ_LIMIT = 64_000_000
"""Bytes of a tensor that are read to find the offending rows."""
_NONE: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row of an input in which something is not finite; `constant` where all its elements are equal."""

    index: int
    elements: Elements
    constant: bool


@dataclass(frozen=True, slots=True)
class OriginInput:
    """An input of the call: its offending rows, or its elements if they are few."""

    slot: int
    tensor: TensorRecord
    rows: tuple[BadRow, ...]


@dataclass(frozen=True, slots=True)
class OriginCard:
    """The origin of a non-finite value.

    Attributes:
        finding: The verdict: born, fed or entered.
        heirs: How many later calls inherited the value, by kind.
        likely: How many met such values later, by a way that was not recorded.
        rows: Indices on the first axis of its tensor at which something is not finite; only the first if it was not kept.
        sources: The lines around those that NumPy blamed.
        inputs: Those of the call; of a run the fed tensor.
        output: What the call printed and logged.
    """

    finding: NanVerdict
    heirs: Mapping[str, int]
    likely: Mapping[str, int]
    rows: tuple[int, ...]
    sources: tuple[SourceText, ...]
    inputs: tuple[OriginInput, ...]
    output: tuple[OutputRecord, ...]


def origin_card(finding: NanVerdict, heirs: Mapping[str, int] = _NONE, likely: Mapping[str, int] = _NONE) -> OriginCard:
    """The card of an origin."""
    call = finding.call
    rows = _bad_rows(finding.tensor)
    inputs = tuple(_input(slot, tensor, rows if finding.verdict == 'born' else _bad_rows(tensor))
                   for slot, tensor in enumerate(call.inputs) if call.site.kind != 'run' or slot == finding.slot)
    return OriginCard(finding, heirs, likely, rows,
                      tuple(_source(call, place.filename, place.line) for place in finding.places[:_PLACES]), inputs,
                      load_output([record for record in call.output if record.kind in ('out', 'err', 'log')]))


def _bad_rows(tensor: TensorRecord) -> tuple[int, ...]:
    stats = tensor.stats
    if stats is None or not stats.first_bad:
        return ()
    if tensor.level == 'full' and tensor.nbytes <= _READ_LIMIT:
        try:
            array = tensor.to_numpy()
            rows = np.flatnonzero(~np.isfinite(array.reshape(array.shape[0], -1)).all(axis=1))
            return tuple(rows.tolist())
        except (DroppedError, TypeError):       # a type that NumPy cannot test
            pass
    return (stats.first_bad[0],)


def _source(call: CallRecord, filename: str, line: int) -> SourceText:
    """The source of a line that NumPy blamed, as the remark that names it knows it."""
    said = next((record for record in call.output if (record.filename, record.line) == (filename, line)), call.site)
    return said.source_at(filename, line)


def _input(slot: int, tensor: TensorRecord, rows: Sequence[int]) -> OriginInput:
    if tensor.level != 'full' or tensor.nbytes > _READ_LIMIT:
        return OriginInput(slot, tensor, ())
    try:
        array = tensor.to_numpy()
    except DroppedError:
        return OriginInput(slot, tensor, ())
    if array.ndim and array.size > _ELEMENTS // 2 and rows and rows[-1] < array.shape[0]:
        return OriginInput(slot, tensor, tuple(_row(array[row], row) for row in rows[:_ROWS]))
    return OriginInput(slot, load_tensor(tensor, _ELEMENTS) if array.size else tensor, ())


def _row(values: np.ndarray, index: int) -> BadRow:
    values = np.asarray(values)
    constant = values.dtype.kind in 'biufc' and values.size > 1 and bool((values == values.reshape(-1)[0]).all())
    return BadRow(index, elements_of(values, _ELEMENTS), constant)
