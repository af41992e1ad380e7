"""Progress of long work: a bar on a terminal, a line elsewhere, nothing in a pipe."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.units import size

PATIENCE = 1.0
"""Seconds of work without a bar."""
_STILL = 0.1
"""Seconds between two pictures of a bar that only its work draws."""

Tell = Callable[[int, int], None]
"""Takes how much is done, and of how much."""
Clock = Callable[[], float]


@contextmanager
def reading_progress(path: str, console: Console | None = None, now: Clock = time.monotonic) -> Iterator[Tell | None]:
    """While this lasts, what it gives takes the bytes read so far and in all, and draws them; nothing is left of it.

    Args:
        path: Of the trace.
        console: Where to draw; standard error if it is not given. None is given back where that is no terminal.
        now: The time in seconds.
    """
    with work_progress(f'reading {path}', console, now, lambda done, total: f'{size(done)} of {size(total)}') as tell:
        yield tell


@contextmanager
def work_progress(what: str, console: Console | None = None, now: Clock = time.monotonic,
                  count: Callable[[int, int], str] = lambda done, total: f'{done:,} of {total:,}', *, threads: bool = True
                  ) -> Iterator[Tell | None]:
    """The same for any work.

    Args:
        what: Is done: stands in front of the bar.
        console: Where to draw; standard error if it is not given.
        now: The time in seconds.
        count: Says how much of how much.
        threads: Whether a thread may keep the bar moving; in a program that is debugged only the work itself draws.
    """
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    if console.is_dumb_terminal:
        with announce_work(what, lambda line: console.print(line, markup=False, highlight=False), now) as tell:
            yield tell
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn  # 15 ms, and most work needs no bar
    columns = (TextColumn('{task.description}', markup=False), BarColumn(), TextColumn('{task.fields[count]}'),
               TimeRemainingColumn())
    bar = Progress(*columns, console=console, transient=True, auto_refresh=threads, redirect_stdout=threads,
                   redirect_stderr=threads)
    task, begun, last = bar.add_task(one_line(what, 48), total=None, count=''), now(), 0.0

    def show(done: int, total: int) -> None:
        nonlocal last
        bar.update(task, completed=done, total=total, count=count(done, total))
        if not bar.live.is_started:
            if now() - begun >= PATIENCE:
                last = now()
                bar.start()
        elif not threads and now() - last >= _STILL:
            last = now()
            bar.refresh()

    try:
        yield show
    finally:
        bar.stop()


@contextmanager
def announce_work(what: str, say: Callable[[str], None], now: Clock = time.monotonic) -> Iterator[Tell]:
    """One line where nothing can be redrawn, once the work has taken longer than a moment."""
    begun, said = now(), False

    def tell(done: int, total: int) -> None:
        nonlocal said
        if not said and now() - begun >= PATIENCE:
            said = True
            say(f'{one_line(what, 48)}: {done:,} of {total:,} so far, Ctrl-C ends it')
    yield tell


if __name__ == '__main__':
    with reading_progress('train.pfd', Console(force_terminal=True), lambda: float(time.perf_counter_ns())) as progress:
        for part in range(101):
            if progress is not None:
                progress(part << 22, 100 << 22)
            time.sleep(0.005)
