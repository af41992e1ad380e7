"""Comparison of two records of a call, or of a run: the kind of the difference and its tensors.

Reads values of traces and runs no code of a program. Called on the thread that compares, which has aligned the records.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Literal, Protocol

import numpy as np

from pyfuncdbg.errors import DroppedError
from pyfuncdbg.hooks.output.output import OutputEntry
from pyfuncdbg.observers.debug.comparison.divergence import Kind, TensorDifference
from pyfuncdbg.observers.debug.comparison.value_difference import Tolerance, value_difference
from pyfuncdbg.observers.record.records import CallRecord, OutputRecord, RunRecord, Stats
from pyfuncdbg.observers.record.snapshots.statistics import stats_of

_STREAMS: tuple[tuple[Kind, tuple[str, ...]], ...] = (('print', ('out', 'err', 'log')), ('warning', ('warning', 'fp')))
_RETURNED = 'returned'


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules of a comparison.

    Attributes:
        ignored: Kinds that do not count.
        tolerance: Of values.
    """

    ignored: frozenset[str] = frozenset()
    tolerance: Tolerance = field(default_factory=Tolerance)


class ComparedTensor(Protocol):
    """A tensor to compare: a recorded one, or a value of a running call. The properties are those of `TensorRecord`."""

    @property
    def name(self) -> str: ...
    @property
    def dtype(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def key(self) -> bytes | None: ...
    @property
    def stats(self) -> Stats | None: ...
    @property
    def absent(self) -> bool: ...

    def to_numpy(self) -> np.ndarray:
        """The value.

        Raises:
            DroppedError: It was not kept.
        """


@dataclass(frozen=True, slots=True)
class Content:
    """The part of a call or a run by which two of them are compared.

    Attributes:
        inputs, outputs: Its tensors, of a run what was fed and fetched.
        error: Class and message of the exception that it raised, else ''.
        output: Prints, warnings and log records.
        ended: Whether it came to an end; if not, `outputs`, `error` and the rest of `output` are not known.
        output_is_whole: Whether all of `output` had room in the recording; if not, only its beginning is known.
    """

    inputs: Sequence[ComparedTensor]
    outputs: Sequence[ComparedTensor]
    error: str = ''
    output: Sequence[OutputRecord | OutputEntry] = ()
    ended: bool = True
    output_is_whole: bool = True

    @classmethod
    def of(cls, record: CallRecord | RunRecord) -> Content:
        """The content of a record."""
        error = f'{record.error.type}: {record.error.message}' if record.error is not None else ''
        if isinstance(record, RunRecord):
            return cls(record.feeds, record.fetches, error, ended=record.duration is not None)
        return cls(record.inputs, record.outputs, error, record.output, record.duration is not None,
                   not record.dropped.get('prints'))

    @property
    def ending(self) -> str:
        """How it ended, in a few words; '' if it did not."""
        return (self.error or _RETURNED) if self.ended else ''

    def printed(self, kinds: Sequence[str]) -> str:
        """The text of its output of some kinds."""
        return ''.join(record.text for record in self.output if record.kind in kinds)


@dataclass(frozen=True, slots=True)
class RecordDifference:
    """The difference of two records; the fields are those of `Divergence`."""

    kind: Kind
    tensors: tuple[TensorDifference, ...] = ()
    texts: tuple[str, str] = ('', '')
    generators: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    edited: bool = False

    @property
    def inherited(self) -> bool:
        """Whether an input differs already."""
        return any(tensor.side == 'in' for tensor in self.tensors)


class RecordComparison:
    """Comparison of pairs of records by the same rules.

    Args:
        rules: What counts as a difference.

    Attributes:
        unknown: Tensors so far that could not be compared: no values, and equal statistics where both sides have some.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self.unknown = 0

    def compare(self, one: Content, two: Content) -> RecordDifference | None:
        """Compare two records.

        Args:
            one, two: Of both sides.

        Returns:
            The difference, by what a program notices first; None if there is none that counts.
        """
        tensors = self._tensors('in', one.inputs, two.inputs)
        both_ended = one.ended and two.ended
        if both_ended:
            tensors += self._tensors('out', one.outputs, two.outputs)
        texts: list[tuple[Kind, str, str]] = [
            ('exception', one.error, two.error) if both_ended else ('unfinished', one.ending, two.ending)]
        are_whole = both_ended and one.output_is_whole and two.output_is_whole
        for kind, streams in _STREAMS:
            first, second = one.printed(streams), two.printed(streams)
            length = None if are_whole else min(len(first), len(second))
            texts.append((kind, first[:length], second[:length]))
        differences = [RecordDifference(kind, tuple(tensors), (first, second)) for kind, first, second in texts
                 if first != second and kind not in self._rules.ignored]
        if tensors and not (differences and differences[0].kind in ('exception', 'unfinished')):
            return RecordDifference(tensors[0].kind, tuple(tensors))
        return differences[0] if differences else None

    def _tensors(self, side: Literal['in', 'out'], one: Sequence[ComparedTensor],
                 two: Sequence[ComparedTensor]) -> list[TensorDifference]:
        found = [self._tensor(side, slot, *pair) for slot, pair in enumerate(zip(one, two, strict=False))]
        differing = [tensor for tensor in found if tensor is not None and tensor.kind not in self._rules.ignored]
        if len(one) != len(two) and one and two and 'shape' not in self._rules.ignored:
            texts = f'{len(one)} tensors', f'{len(two)} tensors'
            differing.append(TensorDifference('shape', side, min(len(one), len(two)), '', texts))
        return differing

    def _tensor(self, side: Literal['in', 'out'], slot: int, one: ComparedTensor,
                two: ComparedTensor) -> TensorDifference | None:
        name = one.name or two.name
        if one.dtype != two.dtype:
            return TensorDifference('dtype', side, slot, name, (one.dtype, two.dtype))
        if one.shape != two.shape:
            return TensorDifference('shape', side, slot, name, (str(list(one.shape)), str(list(two.shape))))
        if one.key is not None and one.key == two.key:
            return None
        try:
            difference = value_difference(one.to_numpy(), two.to_numpy(), self._rules.tolerance)
        except DroppedError:
            return self._by_statistics(side, slot, one, two)
        except ValueError:                      # a dtype that the machine reads otherwise than it was written
            self.unknown += 1
            return None
        return TensorDifference('value', side, slot, name, difference.values, difference) if difference is not None else None

    def _by_statistics(self, side: Literal['in', 'out'], slot: int, one: ComparedTensor,
                       two: ComparedTensor) -> TensorDifference | None:
        """Without values on a side: other statistics are a difference, equal ones say nothing."""
        stats = _stats(one), _stats(two)
        if stats[0] is not None and stats[1] is not None and self._rules.tolerance.exact:
            for one_field in fields(Stats):
                values = getattr(stats[0], one_field.name), getattr(stats[1], one_field.name)
                if repr(values[0]) != repr(values[1]):      # of NaN too
                    texts = f'{one_field.name} {values[0]}', f'{one_field.name} {values[1]}'
                    return TensorDifference('value', side, slot, one.name or two.name, texts)
        self.unknown += not (one.absent and two.absent)
        return None

def _stats(tensor: ComparedTensor) -> Stats | None:
    """The statistics of a tensor; those of a value that is kept may not have been read."""
    if tensor.stats is not None or tensor.key is None:
        return tensor.stats
    try:
        return stats_of(tensor.to_numpy())
    except DroppedError:
        return None
