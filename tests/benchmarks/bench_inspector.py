"""The inspector on a long trace: when its first screen is there, what memory it takes, how long it keeps the user waiting.

    python tests/benchmarks/bench_inspector.py [TRACE]

Without a trace, one of 1,000,000 calls is recorded first (a minute) and thrown away; `synthetic_trace.py` makes larger ones.
The app runs as it is, all panes, without a terminal. A pause is the longest time in which the event loop could not take a
key; "own" is the part of it that its thread computed, the rest it waited for other threads or, on a busy machine, other
processes.
"""
from __future__ import annotations

import asyncio
import contextlib
import io
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CALLS = 1_000_000
SIZE = (160, 50)
JUMPS = 60


class Heart:
    """Measures how long the event loop was away."""

    def __init__(self) -> None:
        self.worst = self.own = 0.0
        self._task = asyncio.get_running_loop().create_task(self._beat())

    async def _beat(self) -> None:
        while True:
            before, computed = time.perf_counter(), time.thread_time()
            await asyncio.sleep(0.001)
            self.worst = max(self.worst, time.perf_counter() - before - 0.001)
            self.own = max(self.own, time.thread_time() - computed)

    async def during(self, what: str, work: Awaitable[object], times: int = 1) -> None:
        """Print how long each of some pieces of work took, and the longest pause meanwhile."""
        self.worst = self.own = 0.0
        began = time.perf_counter()
        await work
        say(what, (time.perf_counter() - began) / times, self.worst, self.own)


def say(what: str, *seconds: float) -> None:
    print(f'{what:44}' + ''.join(f'{each * 1e3:9.0f} ms' for each in seconds), flush=True)


async def measure(path: str, began: float) -> None:
    """Everything, in this process."""
    from pyfuncdbg.observers.debug.reports.summary import summarize
    from pyfuncdbg.ui.inspector.screen.garbage_collector import spare_loaded, wait
    wait()                                      # as `open_trace` does
    from pyfuncdbg.ui.inspector.app import Inspector
    from pyfuncdbg.ui.inspector.desks.saved_trace import SavedDesk
    from pyfuncdbg.ui.inspector.lists.rows import ListQuery
    from pyfuncdbg.ui.inspector.panes.calls import CallList
    from pyfuncdbg.ui.inspector.panes.timeline import TimelinePane
    spare_loaded()
    desk = SavedDesk(path, patience=0.3)           # as `open_trace` does
    print(f'{"":44}{"since start":>12}{"computed":>12}')
    say('process started, trace open', time.perf_counter() - began, time.process_time())
    app = Inspector(desk)
    async with app.run_test(size=SIZE) as pilot:
        calls, line = app.query_one(CallList), app.query_one(TimelinePane)

        async def until(true: Callable[[], object]) -> None:
            while not true():
                await asyncio.sleep(0.002)

        await until(lambda: calls.count)
        say('first screen of calls', time.perf_counter() - began, time.process_time())
        memory('memory then')
        await until(lambda: calls._feed.opened is not None)
        say(f'{calls.count:,} calls can be scrolled', time.perf_counter() - began, time.process_time())
        await until(lambda: app.scene.call is not None and app.panes.info is not None)
        say('every pane painted', time.perf_counter() - began, time.process_time())
        await until(lambda: line.seen is not None)
        say('timeline of all calls', time.perf_counter() - began, time.process_time())
        await until(lambda: not any(not worker.is_finished for worker in app.workers))
        memory('memory, all panes open')

        heart = Heart()
        print(f'\n{"":44}{"until there":>12}{"worst pause":>12}{"own":>12}')

        def settled() -> bool:
            return all(calls._line(index) is not None
                       for index in range(round(calls.scroll_y), min(round(calls.scroll_y) + calls._height, calls.count)))

        async def jump() -> None:
            for _ in range(JUMPS):
                calls.scroll_to(y=random.randrange(calls.count), animate=False)
                await pilot.pause()
                await until(settled)

        async def press(*keys: str) -> None:
            await pilot.press(*keys)
            await until(settled)

        async def ask(query: ListQuery) -> None:
            calls.ask(query)
            await until(lambda: calls.list_query == query and not calls._busy)

        async def search(text: str) -> None:
            calls.search(text)
            before = calls.cursor
            await until(lambda: calls.cursor != before)

        calls.focus()
        await heart.during(f'scrolled to {JUMPS} places, each', jump(), JUMPS)
        await heart.during('60 pages down, each', press(*['pagedown'] * 60), 60)
        await heart.during('end, home, and panes follow', press('end', 'home'))
        for sort in ('duration', 'site', 'result', 'time'):
            await heart.during(f'sorted by {sort}', ask(ListQuery(sort=sort, down=sort == 'duration')))
        await heart.during('filtered: failed', ask(ListQuery((('failed', True),))))
        await heart.during('filtered: site layer7*', ask(ListQuery((('site', 'layer7*'),))))
        await heart.during('filter off', ask(ListQuery()))
        await heart.during('searched: layer3/step[70000]', search('layer3/step[70000]'))
        await heart.during('searched an exception, 999,999 lines on', search(f'step {CALLS // 4 - 1} has'))

        async def zoom() -> None:
            for _ in range(12):
                line.action_zoom(0.5)
                await until(lambda: not line._busy)
            line.action_whole()
            await until(lambda: not line._busy)
        await heart.during('timeline: 12 times closer, then all', zoom())
        memory('\nmemory at the end')
    began = time.perf_counter()
    summarize(desk.trace)                      # each of its NaN calls stands in another batch
    say('the report', time.perf_counter() - began)
    desk.close()


def memory(what: str) -> None:
    print(f'{what:44}{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:9.0f} MB', flush=True)


def main() -> None:
    """Measure in a fresh process, so that start and memory are the inspector's own."""
    if len(sys.argv) == 3 and sys.argv[1] == '--inside':
        asyncio.run(measure(sys.argv[2], time.perf_counter() - (time.time() - float(os.environ['BEGAN']))))
        return
    with contextlib.ExitStack() as stack:
        path = sys.argv[1] if len(sys.argv) > 1 else ''
        if not path:
            from large_trace import make
            path = str(Path(stack.enter_context(tempfile.TemporaryDirectory())) / 'large.pfd')
            with contextlib.redirect_stdout(io.StringIO()):
                make(Path(path), CALLS)
        environment = dict(os.environ, BEGAN=str(time.time()), PYTHONPATH=str(ROOT))
        subprocess.run([sys.executable, __file__, '--inside', path], check=True, env=environment)


if __name__ == '__main__':
    main()
