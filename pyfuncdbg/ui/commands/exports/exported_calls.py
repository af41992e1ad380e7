"""Calls of a trace in pages: a file of millions of calls is written without holding them."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pyfuncdbg.observers.record.records import CallRecord, RunRecord, TensorRecord
from pyfuncdbg.observers.record.trace import Trace

_PAGE = 2000

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ExportedCalls:
    """The calls that go into a file.

    Attributes:
        trace: Their trace.
        chosen: The calls that were asked for; None: all, with the runs.
        progress: Told how many of how many calls are written.
    """

    trace: Trace
    chosen: tuple[CallRecord, ...] | None = None
    progress: Progress | None = None

    def __iter__(self) -> Iterator[CallRecord]:
        if self.chosen is not None:
            yield from self.chosen
            return
        listed = self.trace.sorted_calls()
        total = listed.build()
        for start in range(0, total, _PAGE):
            yield from listed.page(start, _PAGE)
            if self.progress is not None:
                self.progress(min(start + _PAGE, total), total)

    def runs(self) -> list[RunRecord]:
        """The runs of the program; none where calls were chosen."""
        return [] if self.chosen is not None else [run for run in self.trace.runs() if run.kind != 'eager']


def status(call: CallRecord) -> str:
    """'error', 'unfinished', 'nan' or 'ok': of a call that met NaN or infinity too, what is worse."""
    if call.error is not None:
        return 'error'
    if call.duration is None:
        return 'unfinished'
    return 'nan' if any(has_bad_values(tensor) for tensor in (*call.inputs, *call.outputs)) else 'ok'


def plain_text(text: str) -> str:
    """Text that UTF-8 can hold: lone surrogates as escapes.

    Args:
        text: Of a trace.
    """
    return text.encode('utf-8', 'backslashreplace').decode()


def has_bad_values(tensor: TensorRecord) -> bool:
    """Whether a tensor is known to have NaN or infinity."""
    return tensor.stats is not None and tensor.stats.bad > 0
