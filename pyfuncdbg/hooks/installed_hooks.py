"""The installed hooks, by kind of call: what the chain goes through, and who is asked which calls are wanted.

The lists of hooks are tuples that are replaced on change, so a call reads them without a lock, on any thread.
"""
from __future__ import annotations

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
        """Whether it looks at the outputs; else it looks at the inputs alone."""

    def save(self, inputs: Sequence[Any]) -> Any:
        """Asked by a late gate's caller before the function can write to the inputs: what becomes `Call.saved_inputs`."""

    @property
    def opens(self) -> Callable[[Run, int, Sequence[Any], Sequence[Any]], bool]:
        """Whether the hook is interested in a call of this run, ordinal, inputs and outputs; the host's own values.

        Asked on the thread of the call: before it, with no outputs, or if the gate is late when it has returned, with the
        inputs as the function has left them. In doubt the hook is; never raises.
        """


class Hook(Protocol):
    """Something that watches or changes calls.

    It may have a method `wants(site, run)`: whether it is interested in the calls of a site; a `Gate` where that depends
    on their values. Where every hook has one and none is interested, no `Call` is made. Who changes an answer must call
    `hooks.invalidate_interest()` then.
    """

    kinds: frozenset[Kind]

    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        """Run around one call, on its thread.

        May read the call, change `call.inputs`, call `proceed` not at all (skip), once, or again (retry), and
        returns the outputs that shall stand. What `proceed` raises is the user's and should pass; an exception
        of the hook itself is reported once, the hook is switched off, and the last outcome of `proceed` stands.
        """


Interest = bool | Gate | Literal[None]
"""Of hooks in the calls of a site: all of them, none, those that a gate lets through; None where no hook is installed."""


class Watcher(Hook, Protocol):
    """A hook that changes nothing and takes a call in two halves. Where it is the only one, no frame of it is around the
    function. What it raises itself switches it off, as a hook."""

    def on_begin(self, call: Call) -> Any:
        """The call begins; gives what the other half needs."""

    def on_return(self, call: Call, kept: Any, outputs: Outputs) -> None:
        """It has returned. `kept` is what `on_begin` gave."""

    def on_error(self, call: Call, kept: Any, error: BaseException) -> None:
        """It has raised; called where the error is handled, with the function's frames in its traceback."""

    def on_break_off(self, call: Call, kept: Any) -> None:
        """A signal handler of the program has broken off `on_return` or `on_error`: undo what is left of the call."""


class Hooks:
    """The installed hooks by kind, outermost first. One per process: `hooks`.

    Attributes:
        stamp: Another object whenever hooks or their interests have changed. Code that finds a site unwanted keeps the
            stamp that it read before it asked: as long as this one is the same, so is the answer.
        sole_watcher: By kind: the only hook, if it is a `Watcher`.
        fast_watcher: As `sole_watcher` where one recorder of Python calls and one of runs are all hooks and take every
            call; else None.
        passive: Whether every hook only watches: none will pause a run, go back in it or change a value.
        filtered_kinds: Kinds of calls whose hooks all have `wants`; of others all calls are wanted.
    """

    __slots__ = (
        '_all',
        '_failed',
        '_lock',
        '_subscribers',
        'fast_watcher',
        'filtered_kinds',
        'gradient',
        'op',
        'passive',
        'python',
        'run',
        'sole_watcher',
        'stamp',
    )

    def __init__(self) -> None:
        self._lock = new_lock()
        self._all: tuple[tuple[int, Hook], ...] = ()
        self._failed: tuple[Hook, ...] = ()
        self._subscribers: tuple[Callable[[], None], ...] = ()
        self.python: tuple[Hook, ...] = ()
        self.op: tuple[Hook, ...] = ()
        self.gradient: tuple[Hook, ...] = ()
        self.run: tuple[Hook, ...] = ()
        self.sole_watcher: dict[Kind, Watcher | None] = dict.fromkeys(KINDS)
        self.fast_watcher: dict[Kind, Watcher | None] = dict.fromkeys(KINDS)
        self.passive = True
        self.filtered_kinds: frozenset[Kind] = frozenset()
        self.stamp: dict[Any, Any] = {}

    def add(self, hook: Hook, *, depth: int = 0) -> None:
        """Install a hook; one of greater `depth` is nearer to the user's function, equals in order of coming."""
        with self._lock:
            self._failed = tuple(known for known in self._failed if known is not hook)
            if not any(hook is known for _, known in self._all):
                self._all = tuple(sorted((*self._all, (depth, hook)), key=lambda entry: entry[0]))
                self._publish()
        self._notify()

    def remove(self, hook: Hook) -> None:
        """Take a hook out; calls that are inside it finish with it. Unknown hooks are ignored."""
        with self._lock:
            self._all = tuple(entry for entry in self._all if entry[1] is not hook)
            self._publish()
        self._notify()

    def refresh(self) -> None:
        """A hook wants calls of other kinds now: read every hook's `kinds` again."""
        with self._lock:
            self._publish()
        self._notify()

    def subscribe(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call `changed` whenever hooks have come or gone, on the thread that did so; gives what ends it."""
        with self._lock:
            self._subscribers = (*self._subscribers, changed)

        def end() -> None:
            with self._lock:
                self._subscribers = tuple(known for known in self._subscribers if known is not changed)
        return end

    def _notify(self) -> None:
        for changed in self._subscribers:
            changed()

    def invalidate_interest(self) -> None:
        """A hook is interested in other sites now. Takes no lock: it may come in the middle of anything."""
        self.stamp = {}

    def ask_interest(self, site: CallSite, run: Run) -> Interest:
        """Ask every hook whether it is interested in the calls of a site; the answer is kept with the site, of a run's own
        calls with its form."""
        stamp = self.stamp                      # read first: what changes meanwhile makes another
        installed = getattr(self, site.kind)
        found: bool | Gate = False
        for hook in installed:
            answer = _wants(hook, site, run)
            if answer is True or (answer and found):
                found = True                    # two gates are rare: the calls are made
                break
            found = found or answer
        place: CallSite | RunForm | None = site if site.kind != 'run' else run.form
        interest = found if installed else None
        if place is not None:
            place.interest = stamp, interest
        return interest

    def is_ignored(self, place: CallSite | RunForm) -> bool:
        """Whether no hook was interested in the calls of a site or form when last asked: then a host prepares none."""
        interest = place.interest
        return interest[1] is False and interest[0] is self.stamp

    def ignores_function(self, function: Any, marks: tuple[Any, ...], site: Callable[[], CallSite], run: Run) -> bool:
        """Whether no hook is interested in eager calls of a function, from whichever line: then no site need be made.

        Args:
            function: The user's own.
            marks: What else distinguishes its sites, but the line.
            site: Makes the site of this call.
            run: The run that it is part of.
        """
        if run.aborted is not None or type(function) is not FunctionType:
            return False
        stamp, code = self.stamp, function.__code__
        key = id(code), *marks
        known = stamp.get(key)
        if known is None or known[0] is not code:
            if len(stamp) >= _MOST_FUNCTIONS:
                stamp.clear()
            known = stamp[key] = code, self.ask_interest(site(), run) is False
        return known[1]

    def remove_failed(self, hook: Hook) -> bool:
        """Take out a hook that raised; True for the first failure since it was added, on whichever thread."""
        self.remove(hook)
        with self._lock:
            first = not any(hook is known for known in self._failed)
            if first:
                self._failed = (*self._failed, hook)
            return first

    @property
    def summaries(self) -> bool:
        """Whether every hook that sees graph nodes is content with a `ValueSummary` of each value."""
        return all(getattr(hook, 'summaries', False) for hook in self.op)

    def __contains__(self, hook: Hook) -> bool:
        return any(hook is known for _, known in self._all)

    def _publish(self) -> None:
        for kind in KINDS:
            setattr(self, kind, tuple(hook for _, hook in self._all if kind in hook.kinds))
        self.sole_watcher = {kind: _only_watcher(getattr(self, kind)) for kind in KINDS}
        self.passive = all(getattr(hook, 'passive', False) for _, hook in self._all)
        usual = not self.op and self.passive and all(_takes_all(self.sole_watcher[kind]) for kind in ('python', 'run'))
        self.fast_watcher = self.sole_watcher if usual else dict.fromkeys(KINDS)
        self.filtered_kinds = frozenset(kind for kind in KINDS if all(hasattr(hook, 'wants') for hook in getattr(self,
                                                                                                                 kind)))
        self.invalidate_interest()                       # last: an answer of before is thrown away


def _wants(hook: Any, site: CallSite, run: Run) -> bool | Gate:
    if not hasattr(hook, 'wants'):
        return True
    try:
        return hook.wants(site, run)  # type: ignore[no-any-return]
    except Exception:                           # the hook is broken: its `around` will be told of and switched off
        return True


def _only_watcher(installed: tuple[Any, ...]) -> Watcher | None:
    return installed[0] if len(installed) == 1 and hasattr(installed[0], 'on_begin') else None


def _takes_all(watcher: Watcher | None) -> bool:
    return watcher is not None and not hasattr(watcher, 'wants')


hooks = Hooks()
