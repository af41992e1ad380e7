"""How far the reading of a trace has come: a bar on the terminal where it takes longer than a moment."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from pyfuncdbg.views.escape import one_line
from pyfuncdbg.views.units import size

PATIENCE = 1.0
"""Seconds of reading without a bar."""


@contextmanager
def reading(path: str, console: Console | None = None, now: Callable[[], float] = time.monotonic
            ) -> Iterator[Callable[[int, int], None] | None]:
    """While this lasts, what it gives takes the bytes read so far and in all, and draws them; nothing is left of it.

    Args:
        path: Of the trace.
        console: Where to draw; standard error if it is not given. None is given back where that is no terminal.
        now: The time in seconds.
    """
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn('reading {task.description}', markup=False), BarColumn(), TextColumn('{task.fields[read]}'),
               TimeRemainingColumn())
    bar, begun = Progress(*columns, console=console, transient=True), now()
    task = bar.add_task(one_line(path, 40), total=None, read='')

    def show(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total, read=f'{size(done)} of {size(total)}')
        if not bar.live.is_started and now() - begun >= PATIENCE:
            bar.start()

    try:
        yield show
    finally:
        bar.stop()


if __name__ == '__main__':
    with reading('train.pfd', Console(force_terminal=True), lambda: float(time.perf_counter_ns())) as tell:
        for part in range(101):
            if tell is not None:
                tell(part << 22, 100 << 22)
            time.sleep(0.005)
