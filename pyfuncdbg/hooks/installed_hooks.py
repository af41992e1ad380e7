"""The installed hooks, by kind of call: what the chain goes through, and who is asked which calls are wanted.

The lists of hooks are tuples that are replaced on change, so a call reads them without a lock, on any thread.
"""
from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, Literal, Protocol

from pyfuncdbg.hooks.call import KINDS, Call, CallSite, Kind, Run, RunForm
from pyfuncdbg.hooks.locks import new_lock

Outputs = Sequence[Any]
_MOST_FUNCTIONS = 4096


class Gate(Protocol):
    """Pre-filter of a hook: decides from the values of a call whether it is wanted, before a `Call` is made."""

    @property
    def needs_outputs(self) -> bool:
        """Whether it tests the outputs, after the call; else the inputs alone, before it."""

    def save(self, inputs: Sequence[Any]) -> Any:
        """A copy of the inputs for `Call.saved_inputs`, made before the call if `needs_outputs`."""

    @property
    def opens(self) -> Callable[[Run, int, Sequence[Any], Sequence[Any]], bool]:
        """Whether the hook is interested in a call of this run, ordinal, inputs and outputs; the host's own values.

        Called on the thread of the call: before it, without outputs, or if `needs_outputs` after it, with the inputs as the
        function has left them. True in doubt; never raises.
        """


class Hook(Protocol):
    """Observer that watches or changes calls.

    Its optional method `wants(site, run)` says whether it is interested in the calls of a site, and returns a `Gate` where
    that depends on their values. Where no hook is interested, no `Call` is made; where a `Watcher` alone is, no other hook
    sees it. When its answer changes, it calls `hooks.invalidate_interest()`.
    """

    kinds: frozenset[Kind]

    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        """Run around one call, on its thread.

        May read the call, change `call.inputs`, and call `proceed` not at all (skip), once, or again (retry). What `proceed`
        raises is the user's and should pass. An exception of the hook itself is reported once and switches the hook off; the
        last outcome of `proceed` is then that of the call.

        Returns:
            The outputs of the call.
        """


Interest = bool | Gate | Literal[None]
"""Interest of hooks in the calls of a site: all, none, those that a gate lets through; None without a hook."""
Answer = tuple[object, Interest, Any]
"""A stamp, the interest under it, and a reference to the only interested hook, if it is a `Watcher`: then no other sees the
calls. A site that lives on keeps no hook that was removed."""


class Watcher(Hook, Protocol):
    """Hook that changes nothing, called before and after the function.

    Where it is the only hook, no frame of it is around the function. An exception of its own switches it off.
    """

    def on_begin(self, call: Call) -> Any:
        """The call begins; the value is the `state` for the method that ends it."""

    def on_return(self, call: Call, state: Any, outputs: Outputs) -> None:
        """The call has returned.

        Args:
            call: The call.
            state: From `on_begin`.
            outputs: The host's own values.
        """

    def on_error(self, call: Call, state: Any, error: BaseException) -> None:
        """The call has raised. Called where the error is handled, with the function's frames in its traceback.

        Args:
            call, state: As in `on_return`.
            error: Raised by the function.
        """

    def on_break_off(self, call: Call, state: Any) -> None:
        """A signal handler of the program has broken off `on_return` or `on_error`: clean up.

        Args:
            call, state: As in `on_return`.
        """


class Hooks:
    """The installed hooks by kind, outermost first. One per process: `hooks`.

    Attributes:
        stamp: Another object whenever hooks or their interests have changed. Code that finds a site unwanted keeps the
            stamp that it read before it asked: as long as this one is the same, so is the answer.
        sole_watcher: By kind: the only hook, if it is a `Watcher`.
        sole_taker: By kind: the only hook, if it is a `Watcher` that takes every call: hosts may use `make_call` for it.
        fast_watcher: As `sole_watcher` where one recorder of Python calls and one of runs are all hooks and take every
            call; else None.
        op_recorder: The only hook on ops, if it takes them in batches (`op_batch`) and every hook is passive; else None.
        passive: Whether every hook only watches: none will pause a run, go back in it or change a value.
        filtered_kinds: Kinds of calls whose hooks are asked; of others all calls are wanted.
    """

    __slots__ = (
        '_all',
        '_deliveries',
        '_failed',
        '_lock',
        '_subscribers',
        'fast_watcher',
        'filtered_kinds',
        'gradient',
        'op',
        'op_recorder',
        'passive',
        'python',
        'run',
        'sole_taker',
        'sole_watcher',
        'stamp',
    )

    def __init__(self) -> None:
        self._lock = new_lock()
        self._all: tuple[tuple[int, Hook], ...] = ()
        self._failed: tuple[Hook, ...] = ()
        self._subscribers: tuple[Callable[[], None], ...] = ()
        self._deliveries: tuple[Callable[[], None], ...] = ()
        self.python: tuple[Hook, ...] = ()
        self.op: tuple[Hook, ...] = ()
        self.gradient: tuple[Hook, ...] = ()
        self.run: tuple[Hook, ...] = ()
        self.sole_watcher: dict[Kind, Watcher | None] = dict.fromkeys(KINDS)
        self.sole_taker: dict[Kind, Watcher | None] = dict.fromkeys(KINDS)
        self.fast_watcher: dict[Kind, Watcher | None] = dict.fromkeys(KINDS)
        self.op_recorder: Any = None
        self.passive = True
        self.filtered_kinds = frozenset(KINDS)
        self.stamp: dict[Any, Any] = {}

    def add(self, hook: Hook, *, depth: int = 0, replaced: Hook | None = None) -> None:
        """Install a hook.

        Args:
            hook: The hook.
            depth: One of greater depth is nearer to the user's function, of equal ones the later.
            replaced: Removed in the same step: each call has one of the two.
        """
        self.deliver_ops()
        with self._lock:
            self._all = tuple(entry for entry in self._all if entry[1] is not replaced)
            self._failed = tuple(other for other in self._failed if other is not hook)
            if not any(hook is other for _, other in self._all):
                self._all = tuple(sorted((*self._all, (depth, hook)), key=lambda entry: entry[0]))
                self._publish()
        self._notify()

    def remove(self, hook: Hook) -> None:
        """Remove a hook; calls that are inside it finish with it. Unknown hooks are ignored."""
        self.deliver_ops()
        with self._lock:
            self._all = tuple(entry for entry in self._all if entry[1] is not hook)
            self._publish()
        self._notify()

    def refresh(self) -> None:
        """Read every hook's `kinds` again, after one has changed."""
        self.deliver_ops()
        with self._lock:
            self._publish()
        self._notify()

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` whenever hooks are added or removed, on the thread that does so.

        Returns:
            A function that ends the subscription.
        """
        with self._lock:
            self._subscribers = (*self._subscribers, callback)

        def end() -> None:
            with self._lock:
                self._subscribers = tuple(subscriber for subscriber in self._subscribers if subscriber is not callback)
        return end

    def add_delivery(self, deliver: Callable[[], None]) -> Callable[[], None]:
        """Call `deliver` in `deliver_ops`; a host that delivers ops later than they run adds it.

        Returns:
            A function after which it is called no more.
        """
        with self._lock:
            self._deliveries = (*self._deliveries, deliver)

        def end() -> None:
            with self._lock:
                self._deliveries = tuple(delivery for delivery in self._deliveries if delivery is not deliver)
        return end

    def deliver_ops(self) -> None:
        """Deliver the ops that have run: before hooks change, before code of the program runs, before a trace is read."""
        for deliver in self._deliveries:
            deliver()

    def _notify(self) -> None:
        for callback in self._subscribers:
            callback()

    def invalidate_interest(self) -> None:
        """Discard all answers of hooks, after one has changed its own. Takes no lock, so it can be called anywhere."""
        self.stamp = {}

    def ask_interest(self, site: CallSite, run: Run) -> Interest:
        """Ask every hook whether it is interested in the calls of a site.

        Returns:
            The answer, which is stored in the site; for a run's own calls, in its form.
        """
        return self.ask(site, run)[1]

    def ask(self, site: CallSite, run: Run) -> Answer:
        """As `ask_interest`.

        Args:
            site: Where calls are made.
            run: The run that they are part of.

        Returns:
            What is stored.
        """
        stamp = self.stamp                      # read first: what changes meanwhile makes another
        installed = getattr(self, site.kind)
        interested = [(hook, answer) for hook in installed if (answer := _wants(hook, site, run))]
        interest: Interest = None if not installed else False if not interested else (
            interested[0][1] if len(interested) == 1 else True)     # two gates are rare: the calls are made
        stored = stamp, interest, _weakly(_only_watcher([hook for hook, _ in interested]))
        place: CallSite | RunForm | None = site if site.kind != 'run' else run.form
        if place is not None:
            place.interest = stored
        return stored

    def is_ignored(self, place: CallSite | RunForm) -> bool:
        """Whether no hook was interested in the calls of a site or form (`place`) when last asked: a host prepares none."""
        interest = place.interest
        return interest[1] is False and interest[0] is self.stamp

    def ignores_function(self, function: Any, marks: tuple[Any, ...], site: Callable[[], CallSite], run: Run) -> bool:
        """Whether no hook is interested in eager calls of a function, from whichever line: then no site need be made.

        Args:
            function: The user's own.
            marks: What distinguishes its sites, other than the line.
            site: Makes the site of this call.
            run: The run that it is part of.
        """
        if run.aborted is not None or type(function) is not FunctionType:
            return False
        stamp, code = self.stamp, function.__code__
        key = id(code), *marks
        entry = stamp.get(key)
        if entry is None or entry[0] is not code:
            if len(stamp) >= _MOST_FUNCTIONS:
                stamp.clear()
            entry = stamp[key] = code, self.ask_interest(site(), run) is False
        return entry[1]

    def remove_failed(self, hook: Hook) -> bool:
        """Remove a hook that raised.

        Returns:
            Whether it is the hook's first failure since it was added, on whichever thread.
        """
        self.remove(hook)
        with self._lock:
            first = not any(hook is failed_hook for failed_hook in self._failed)
            if first:
                self._failed = (*self._failed, hook)
            return first

    @property
    def summaries(self) -> bool:
        """Whether a `ValueSummary` of each value is enough for every hook that sees graph nodes."""
        return all(getattr(hook, 'summaries', False) for hook in self.op)

    def __contains__(self, hook: Hook) -> bool:
        return any(hook is other for _, other in self._all)

    def _publish(self) -> None:
        for kind in KINDS:
            setattr(self, kind, tuple(hook for _, hook in self._all if kind in hook.kinds))
        self.sole_watcher = {kind: _only_watcher(getattr(self, kind)) for kind in KINDS}
        self.passive = all(getattr(hook, 'passive', False) for _, hook in self._all)
        self.op_recorder = self.op[0] if len(self.op) == 1 and self.passive and hasattr(self.op[0], 'on_ops') else None
        self.sole_taker = {kind: watcher if _takes_all(watcher) else None for kind, watcher in self.sole_watcher.items()}
        usual = not self.op and self.passive and all(self.sole_taker[kind] is not None for kind in ('python', 'run'))
        self.fast_watcher = self.sole_watcher if usual else dict.fromkeys(KINDS)
        installed = {kind: getattr(self, kind) for kind in KINDS}
        self.filtered_kinds = frozenset(kind for kind, these in installed.items()
                                        if not these or any(hasattr(hook, 'wants') for hook in these))
        self.invalidate_interest()                       # last: it discards earlier answers


def _wants(hook: Any, site: CallSite, run: Run) -> bool | Gate:
    if not hasattr(hook, 'wants'):
        return True
    try:
        return hook.wants(site, run)  # type: ignore[no-any-return]
    except Exception:                           # the hook is broken: its `around` will fail, too, and be reported
        return True


def _weakly(watcher: Watcher | None) -> weakref.ref[Watcher] | None:
    """A reference to a watcher; None for one that has none, whose calls all hooks see then."""
    try:
        return weakref.ref(watcher) if watcher is not None else None
    except TypeError:
        return None


def _only_watcher(installed: Sequence[Any]) -> Watcher | None:
    return installed[0] if len(installed) == 1 and hasattr(installed[0], 'on_begin') else None


def _takes_all(watcher: Watcher | None) -> bool:
    return watcher is not None and not hasattr(watcher, 'wants')


hooks = Hooks()
