"""Ring of the newest finished calls of a process, in a queue that no writer empties.

The oldest call gives way to the newest, and to the values that need its memory. Runs on the threads of the calls.
"""
from __future__ import annotations

from collections.abc import Callable

from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.observers.record.call_recorder import CallRecorder
from pyfuncdbg.observers.record.log.queue import release, release_output
from pyfuncdbg.observers.record.log.queued_call import QueuedCall

_SMALLEST_SURPLUS = 16
_MOST_DESCRIPTIONS = 4096
"""Plans and sites beyond which those of no call in the ring are forgotten; there are few, but where a program makes them."""


class Ring:
    """Bound of the queue of a `CallRecorder`, until `release`.

    A surplus of calls is let in before the oldest are evicted: to evict one at each call costs three times as much.

    Attributes:
        calls: The recorder of the calls.
        capacity: How many finished calls are kept.
        evicted: How many were not.
    """

    __slots__ = ('_evictions', '_lock', '_overflow', '_released', '_unused_runs', 'calls', 'capacity', 'evicted')

    def __init__(self, calls: CallRecorder, capacity: int) -> None:
        """Bound the queue.

        Args:
            calls: Its recorder.
            capacity: How many finished calls to keep.
        """
        self.calls = calls
        self.capacity = capacity
        self.evicted = self._evictions = 0
        self._unused_runs: set[int] = set()
        self._lock = new_rlock()
        self._released = False
        backlog = calls.backlog
        self._overflow = backlog.overflow, backlog.cap
        backlog.overflow = self.make_room
        backlog.cap = backlog.mark = capacity + max(capacity // 4, _SMALLEST_SURPLUS)

    def make_room(self, condition: Callable[[], bool]) -> bool:
        """Evict the surplus, and more of the oldest calls until a condition is true.

        Args:
            condition: Tested after each.

        Returns:
            False if the ring is empty and it is not.
        """
        with self._lock:
            if self._released:
                return self._overflow[0](condition)
            rows = self.calls.backlog.rows
            if (surplus := len(rows) - self.capacity) > 0:
                self._evict(surplus)
                self._forget_states()
            while not condition():
                if not rows:
                    self._forget_states()
                    return condition()
                self._evict(1)
            return True

    def _evict(self, count: int) -> None:
        backlog, snapshots = self.calls.backlog, self.calls.snapshots
        for _ in range(min(count, len(backlog.rows))):
            row: QueuedCall = backlog.rows.popleft()
            if row.holds_memory:
                release(row.inputs, snapshots)
                release(row.outputs, snapshots)
            if row.output is not None or row.error is not None:
                release_output(row, snapshots)
            self.evicted += 1
            self._evictions += 1
        if self._evictions > max(4 * self.capacity, 1000):
            self._evictions = 0
            self._forget_unused()

    def _forget_states(self) -> None:
        """Forget the states in which no call of the ring, and none that runs or is to come, has begun."""
        backlog = self.calls.backlog
        used = backlog.named_states()
        for _ in range(len(backlog.states)):
            record = backlog.states.popleft()
            if record[0] in used:
                backlog.states.append(record)
            else:
                self.calls.snapshots.allowance.give(len(record[2]))

    def _forget_unused(self, *, at_once: bool = False) -> None:
        """Forget the runs of no call in the ring, nor of one that runs.

        Not before the second time, unless `at_once`: another thread may be between asking whether its run is known and
        queueing its call, which has no run then.
        """
        calls, backlog = self.calls, self.calls.backlog
        rows, running = list(backlog.rows), backlog.running_calls()
        used = {row.run for row in rows} | {call.run.id for call, *_ in running}
        unused = set()
        for _ in range(len(backlog.runs)):
            entry = backlog.runs.popleft()
            run = entry[0]
            if run not in used:
                if at_once or run in self._unused_runs:
                    calls.known_runs.pop(run, None)
                    continue
                unused.add(run)
            backlog.runs.append(entry)
        self._unused_runs = unused
        if len(backlog.plans) + len(backlog.sites) > _MOST_DESCRIPTIONS:
            self._forget_descriptions({row.site for row in rows} | {call.site.id for call, *_ in running})

    def _forget_descriptions(self, sites: set[int]) -> None:
        """Forget plans of no run that is known, and sites of none of them nor in `sites`."""
        calls, backlog = self.calls, self.calls.backlog
        plans = {entry[1] for entry in backlog.runs}
        for key, number in list(calls.plans.items()):
            if number not in plans:
                calls.plans.pop(key, None)
        for _ in range(len(backlog.plans)):
            plan = backlog.plans.popleft()
            if plan[0] in plans:
                sites.update(plan[2])
                backlog.plans.append(plan)
        for _ in range(len(backlog.sites)):
            note = backlog.sites.popleft()
            if note.id in sites:
                backlog.sites.append(note)
            else:
                calls.known_sites.pop(note.id, None)

    def release(self) -> int:
        """Give the queue back to a writer, with the newest calls in it.

        Returns:
            How many finished calls there are.
        """
        with self._lock:
            backlog = self.calls.backlog
            self._evict(len(backlog.rows) - self.capacity)
            self._forget_unused(at_once=True)   # a trace has the runs of its calls
            self._released = True
            backlog.overflow, backlog.cap = self._overflow
            for call, *_ in backlog.running_calls():
                self.calls.announce_again(call.run, call.site)
            return len(backlog.rows)
