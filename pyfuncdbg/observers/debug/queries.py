"""Query protocol of a trace, used by verdicts, views and commands.

`record.trace.Trace` answers it, also while the log grows. Any thread may ask.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from pyfuncdbg.hooks.call import Kind
from pyfuncdbg.observers.record.records import (
    CallRecord,
    NoteRecord,
    PlanRecord,
    RunRecord,
    SiteRecord,
    TensorRecord,
)
from pyfuncdbg.observers.record.sources.source_text import FileText
from pyfuncdbg.observers.record.trace_info import TraceInfo

if TYPE_CHECKING:                               # a program that is only stopped loads no index
    from pyfuncdbg.observers.record.index.site_usage import SiteTime, SiteUse
    from pyfuncdbg.observers.record.index.time_spans import SpanRecord, Spans


class Ordered(Protocol):
    """Calls in an order, by position from 0: what a list shows a screenful of. Worker threads only, but for `cancel`.

    Attributes:
        count: How many there are, after `build`.
    """

    count: int

    def build(self) -> int:
        """Find and sort them; how many there are."""

    def page(self, start: int, count: int) -> list[CallRecord]:
        """Those from a position on."""

    def position(self, number: str) -> int | None:
        """The position of a call by its number ('17', '2.17'), None if it is not among these."""

    def find(self, text: str, start: int, *, backwards: bool = False,
             go_on: Callable[[int], bool] = lambda searched: True) -> int | None:
        """The next one from `start` on, round the end, whose names, error or output hold the text; `go_on` is told how
        many it has looked at, and says whether to go on."""

    def cancel(self) -> None:
        """Break off what another thread is doing; it gets `index.query.QueryCancelledError`."""

    def close(self) -> None:
        """Give everything back."""


class Queries(Protocol):
    """The questions; every answer is inert data."""

    def info(self) -> TraceInfo:
        """Facts about the whole trace, with the counts of its contents."""

    def runs(self) -> list[RunRecord]:
        """Every run, in order of starting."""

    def run(self, id: int, process: int = 1) -> RunRecord:
        """One run.

        Raises:
            CommandError: There is none of that number.
        """

    def sites(self) -> list[SiteRecord]:
        """Every site that was announced or called."""

    def calls(self, *, kind: Kind | None = None, site: str | None = None, run: int | None = None,
              failed: bool | None = None, bad: bool | None = None, printed: bool | None = None,
              changed: bool | None = None, limit: int | None = None, offset: int = 0,
              newest_first: bool = False, sort: str | None = None) -> list[CallRecord]:
        """The calls that pass every filter.

        `site` is a glob over node names, op types and function names. Runs count as calls with `kind='run'` only: their
        inputs are the feeds, their outputs the fetches. `sort` is a key of `index.query.SORTS`.
        """

    def sorted_calls(self, *, kind: Kind | None = None, site: str | None = None, run: int | None = None,
                failed: bool | None = None, bad: bool | None = None, printed: bool | None = None,
                changed: bool | None = None, newest_first: bool = False, sort: str | None = None) -> Ordered:
        """The same calls for a list of any length: an order that `build` makes."""

    def spans(self, site: str | None = None) -> Spans:
        """The calls by time and thread, for a timeline; `site` is a glob. Close it after use.

        Raises:
            TraceError: There is no trace on disk.
        """

    def count(self, *, kind: Kind | None = None, site: str | None = None, run: int | None = None,
              failed: bool | None = None, bad: bool | None = None, printed: bool | None = None,
              changed: bool | None = None) -> int:
        """The number of calls that pass the same filters."""

    def call(self, number: str | int) -> CallRecord:
        """The call named '17', '#17', '2.17' or 'norm[3]'.

        Raises:
            CommandError: There is none of that name.
        """

    def usage(self) -> list[SiteUse]:
        """Call counts and times by site; the one with the most time first."""

    def profile(self, run: int | None = None) -> list[SiteTime]:
        """The cost of every site that was called, in one run if given; most time of its own first."""

    def site_time(self, site: SiteRecord, run: int | None = None) -> SiteTime | None:
        """The cost of one site, with all that ran inside of its calls; None if it was not called."""

    def plans(self) -> list[PlanRecord]:
        """The plans of runs: each set of nodes that ran together, the newest first."""

    def newest_calls(self, site: SiteRecord, *, run: int | None = None, limit: int = 1) -> list[CallRecord]:
        """The newest calls of just this site, of one run if given."""

    def spans_during(self, start: float, end: float, *, kind: Kind | None = None, site: str | None = None,
                     run: int | None = None, limit: int = 5_000) -> tuple[int, list[SpanRecord]]:
        """The number of calls that ran between two times in seconds, and the longest of them in order of their start."""

    def extent(self, run: int | None = None) -> tuple[float, float]:
        """The times at which the first call began and the last one was over, in seconds; (0, 0) if there is none."""

    def source(self, filename: str) -> FileText:
        """The text of a file that the trace names, as far as it is known: its own text, or a local file that equals it."""

    def notes(self, kind: str | None = None) -> list[NoteRecord]:
        """Records that belong to no call, in order; of one kind if given."""

    def tensors(self, *, run: int | None = None, call: str | int | None = None, site: str | None = None,
                bad: bool | None = None, limit: int | None = None) -> list[tuple[CallRecord, TensorRecord]]:
        """Tensors with their calls: what runs were fed, what calls gave, what else runs fetched."""
