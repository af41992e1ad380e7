"""The chain of hooks around every call: the single interception point.

Hosts wrap each site once with `instrument` (or call `around` for grains they execute themselves); tools add hooks.
The lists of hooks are tuples that are replaced on change, so a call reads them without a lock, on any thread.
"""
from __future__ import annotations

import contextlib
import os
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from types import FrameType
from typing import Any, Protocol, TypeVar, cast

from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks.aside import say
from pyfuncdbg.hooks.call import KINDS, Call, CallSite, Kind, Run, current, new_call

Outputs = Sequence[Any]
Function = Callable[..., Outputs]
_NONE: Any = object()
_T = TypeVar('_T')


class Hook(Protocol):
    """Something that watches or changes calls.

    It may have a method `wants(site, run) -> bool`: whether it is interested in the calls of a site. Where every hook
    has one and none is interested, hosts make no `Call`. Who changes an answer must call `hooks.reconsider()` then.
    """

    kinds: frozenset[Kind]

    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        """Run around one call, on its thread.

        May read the call, change `call.inputs`, call `proceed` not at all (skip), once, or again (retry), and
        returns the outputs that shall stand. What `proceed` raises is the user's and should pass; an exception
        of the hook itself is reported once, the hook is switched off, and the last outcome of `proceed` stands.
        """


class Hooks:
    """The installed hooks by kind, outermost first. One per process: `pyfuncdbg.hooks.chain.hooks`.

    Attributes:
        stamp: Another object whenever hooks or their interests have changed. Who finds a site unwanted keeps the stamp
            that it read before it asked: as long as this one is the same, so is the answer.
        choosy: Of which kinds every hook may be uninterested in a site; of others all calls are wanted.
    """

    __slots__ = ('_all', '_failed', '_lock', 'choosy', 'gradient', 'op', 'python', 'run', 'stamp')

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: tuple[tuple[int, Hook], ...] = ()
        self._failed: tuple[Hook, ...] = ()
        self.python: tuple[Hook, ...] = ()
        self.op: tuple[Hook, ...] = ()
        self.gradient: tuple[Hook, ...] = ()
        self.run: tuple[Hook, ...] = ()
        self.choosy: frozenset[Kind] = frozenset()
        self.stamp: dict[Any, Any] = {}

    def add(self, hook: Hook, *, depth: int = 0) -> None:
        """Install a hook; one of greater `depth` is nearer to the user's function, equals in order of coming."""
        with self._lock:
            self._failed = tuple(known for known in self._failed if known is not hook)
            if not any(hook is known for _, known in self._all):
                self._all = tuple(sorted((*self._all, (depth, hook)), key=lambda entry: entry[0]))
                self._publish()

    def remove(self, hook: Hook) -> None:
        """Take a hook out; calls that are inside it finish with it. Unknown hooks are ignored."""
        with self._lock:
            self._all = tuple(entry for entry in self._all if entry[1] is not hook)
            self._publish()

    def refresh(self) -> None:
        """A hook wants calls of other kinds now: read every hook's `kinds` again."""
        with self._lock:
            self._publish()

    def reconsider(self) -> None:
        """A hook is interested in other sites now. Takes no lock: it may come in the middle of anything."""
        self.stamp = {}

    def wanted(self, site: CallSite, run: Run) -> bool:
        """Whether any hook is interested in the calls of a site."""
        return any(_wants(hook, site, run) for hook in getattr(self, site.kind))

    def fail(self, hook: Hook) -> bool:
        """Take out a hook that raised; True for the first failure since it was added, on whichever thread."""
        self.remove(hook)
        with self._lock:
            first = not any(hook is known for known in self._failed)
            if first:
                self._failed = (*self._failed, hook)
            return first

    @property
    def passive(self) -> bool:
        """Whether every hook only watches: none will pause a run, go back in it or change a value."""
        return all(getattr(hook, 'passive', False) for _, hook in self._all)

    def __contains__(self, hook: Hook) -> bool:
        return any(hook is known for _, known in self._all)

    def _publish(self) -> None:
        for kind in KINDS:
            setattr(self, kind, tuple(hook for _, hook in self._all if kind in hook.kinds))
        self.choosy = frozenset(kind for kind in KINDS if all(hasattr(hook, 'wants') for hook in getattr(self, kind)))
        self.reconsider()                       # last: an answer of before is thrown away


def _wants(hook: Any, site: CallSite, run: Run) -> bool:
    if not hasattr(hook, 'wants'):
        return True
    try:
        return bool(hook.wants(site, run))
    except Exception:                           # the hook is broken: its `around` will be told of and switched off
        return True


hooks = Hooks()
_thread = threading.local()
if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_thread.__dict__.clear)


def current_call() -> int:
    """The id of the hooked call whose function runs in this context, 0 outside of any."""
    call = current.get()
    return call.id if call is not None else 0


def instrument(site: CallSite, func: Function) -> Callable[[Run, list[Any]], Outputs]:
    """Wrap the function of a Python site.

    Args:
        site: Static description; its kind is 'python'.
        func: Takes the inputs as positional arguments and returns a sequence of host values.

    Returns:
        `invoke(run, inputs)`. With no hook installed it costs one tuple check over `func(*inputs)`.
    """
    wanted = unwanted = _NONE

    def invoke(run: Run, inputs: list[Any]) -> Outputs:
        nonlocal wanted, unwanted
        if not hooks.python and run.aborted is None:
            return func(*inputs)
        stamp = hooks.stamp
        if wanted is not stamp and unwanted is not stamp:
            if hooks.wanted(site, run):
                wanted = stamp
            else:
                unwanted = stamp
        if unwanted is not stamp or run.aborted is not None:
            return around(site, func, run, inputs)
        next(site.counter)
        return unwatched(run, func, *inputs)
    return invoke


def unwatched(run: Run, func: Callable[..., _T], *arguments: Any) -> _T:
    """Execute a call that no hook is interested in; an abort in its function is the run's all the same.

    Raises:
        RunAborted: The run was aborted in the function, whatever that made of it.
        BaseException: What `func` raised, unchanged.
    """
    try:
        outputs = func(*arguments)
    except BaseException as error:
        aborted = error if isinstance(error, RunAborted) else run.aborted
        if aborted is None:
            raise
        run.aborted = None if current.get() is None and _ends_with(run) else aborted
        if aborted is error:
            raise
        raise aborted.with_traceback(None) from None
    if (swallowed := run.aborted) is not None:
        run.aborted = None if current.get() is None and _ends_with(run) else swallowed
        raise swallowed.with_traceback(None)
    return outputs


def _ends_with(run: Run) -> bool:
    """Whether an abort of a run ends with the call whose frame asks: it is a thread's eager code, and no unwatched call is
    around, which might swallow it."""
    frame: FrameType | None = sys._getframe(2)
    while run.endless and frame is not None:
        if frame.f_code is unwatched.__code__ and frame.f_locals['run'] is run:
            return False
        frame = frame.f_back
    return run.endless


def around(site: CallSite, func: Function, run: Run, inputs: list[Any], forward: int = 0,
           sources: Sequence[int] = ()) -> Outputs:
    """Execute one call of a site of any kind through the hooks of that kind.

    Raises:
        RunAborted: The run was aborted, now or earlier.
        BaseException: What `func` raised, unchanged; its traceback has no frame of a hook.
    """
    if run.aborted is not None:
        raise run.aborted.with_traceback(None)
    within = current.get()
    if within is not None and not within.id:    # a call that is made once more to be looked at
        return func(*inputs)
    try:
        thread: int = _thread.id                # get_native_id is a system call of 0.2 µs
    except AttributeError:
        thread = _thread.id = threading.get_native_id()
    kind = site.kind
    watching = hooks.python if kind == 'python' else getattr(hooks, kind)
    call = new_call(site, run, inputs, thread, perf_counter_ns(), forward, within, sources)
    passage = _Passage()                        # filled here: calling an __init__ costs 0.06 µs
    passage.call = call
    passage.func = func
    passage.hooks = watching
    passage.level = len(watching)
    try:
        return passage.proceed() if watching else passage.execute()
    except BaseException as error:
        if isinstance(error, RunAborted):
            run.aborted = None if not call.parent and _ends_with(run) else error
        elif error is call.error:
            _drop_frames(error)
        raise
    finally:
        call.speaker = None
        # The error's frames lead here: without this, call -> error -> frame -> call would wait for the collector.
        del call, passage, within


def _drop_frames(error: BaseException) -> None:
    """Take the frames of this module and of the hooks out of a user's error, and what they hold.

    They hold the call, which holds the error: the program's arrays would live until the garbage collector comes by.
    """
    frames = []
    entry = error.__traceback__ and error.__traceback__.tb_next
    while entry is not None:
        frames.append(entry.tb_frame)
        entry = entry.tb_next
        if frames[-1].f_code is _Passage.execute.__code__:
            break
    else:
        return                                  # a hook gave the error another traceback
    error.__traceback__ = entry
    for frame in frames:
        with contextlib.suppress(RuntimeError):
            frame.clear()


class _Raised:
    """An outcome that is an exception."""

    __slots__ = ('error',)

    def __init__(self, error: BaseException) -> None:
        self.error = error


class _Passage:
    """One call on its way through the hooks: one object with one place in the list, for one per hook costs 0.3 µs more.

    The user's function runs exactly once unless a hook asked otherwise: if a hook fails, the last outcome of its `proceed`
    stands, and if it never called that, the rest of the chain runs with the inputs the hook was given.

    Attributes:
        level: How many hooks are inside of the one at work now; the next `proceed` runs the outermost of them.
        outcome: Of the last `proceed` that the hook at work has called, or `_NONE` if it has not yet.
    """

    __slots__ = ('call', 'func', 'hooks', 'level', 'outcome')

    call: Call
    func: Function
    hooks: tuple[Hook, ...]
    level: int
    outcome: Any

    def proceed(self) -> Outputs:
        """Run the next hook around the rest."""
        level, call = self.level, self.call
        hook, inputs = self.hooks[-level], call.inputs
        given = tuple(inputs)
        self.level = level - 1
        self.outcome = _NONE
        try:
            outputs = hook.around(call, self.proceed if level > 1 else self.execute)
            if outputs is None:
                raise TypeError('around() returned None, expected the outputs of the call')
        except Exception as error:
            outcome = self.outcome
            if type(outcome) is _Raised and outcome.error is error:
                self.level = level
                raise
            _switch_off(hook, call, error)
            outputs = None
        except BaseException as error:
            self.level = level
            self.outcome = _Raised(error)
            raise
        if outputs is None:
            # Outside of the handler: else the hook's error would be the context of what the user's function raises.
            outputs = self._without(level, inputs, given)
        self.level = level
        self.outcome = call.outputs = outputs
        if not call.finished:
            call.finished = perf_counter_ns()
        return outputs

    def _without(self, level: int, inputs: list[Any], given: tuple[Any, ...]) -> Outputs:
        """What stands after the hook at `level` has failed."""
        outcome = self.outcome
        if outcome is _NONE:
            inputs[:] = given
            self.call.inputs = inputs
            try:
                return self.proceed() if level > 1 else self.execute()
            finally:
                self.level = level
        if type(outcome) is _Raised:
            self.level = level
            raise outcome.error
        return cast(Outputs, outcome)

    def execute(self) -> Outputs:
        """The innermost step: the user's function."""
        call = self.call
        run = call.run
        call.error = call.outputs = None
        call.finished = 0
        token = current.set(call)
        try:
            outputs = self.func(*call.inputs)
        except BaseException as error:
            call.finished = perf_counter_ns()
            call.error = error
            if run.aborted is not None and error is not run.aborted:
                self.outcome = _Raised(run.aborted)
                raise run.aborted.with_traceback(None) from None
            self.outcome = _Raised(error)
            raise
        finally:
            current.reset(token)
        call.finished = perf_counter_ns()
        if run.aborted is not None:
            call.error = run.aborted
            self.outcome = _Raised(run.aborted)
            raise run.aborted.with_traceback(None)
        self.outcome = call.outputs = outputs
        return outputs


def _switch_off(hook: Hook, call: Call, error: Exception) -> None:
    """Take a failed hook out and say so once."""
    if hooks.fail(hook):
        say_failed(f'{type(hook).__name__} failed at call #{call.id} of {call.site.name!r} and is switched off', error)


def say_failed(what: str, error: Exception) -> None:
    """Tell the user of a mistake in what watches, where the program's own output is not disturbed."""
    reason = ''.join(traceback.format_exception_only(error)).strip()
    say(f'{what}: {reason}. The program goes on unchanged.')
