"""`DebugSession`, and `debug` for functions and blocks: each sets how the runs inside of it are debugged.

A program makes them and uses them as what they wrap; everything runs on the program's own threads.
"""
from __future__ import annotations

import functools
import itertools
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any, Literal, Protocol, get_args

from pyfuncdbg import hosts
from pyfuncdbg.errors import CommandError, nearest
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hooks.public_function import hide_own_frames
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.stepping.debugged_runs import RunOrder, debugged_by
from pyfuncdbg.observers.debug.stepping.run_policy import RunPolicy
from pyfuncdbg.observers.debug.with_block import WithBlocks, bound_to

Ui = Literal['auto', 'inspector', 'prompt', 'none']
"""Front end: the best one available, the full-screen inspector, the prompt, or none: then what would stop is logged."""

_numbers = itertools.count(1)


class SessionLike(Protocol):
    """The part of a session that a `DebugSession` uses; all other attributes are passed on."""

    @property
    def graph(self) -> Any:
        """The graph that runs in it."""

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """One run."""

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> Any:
        """Begin a run in several steps."""

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Any = None) -> Any:
        """One of its steps."""

    def make_callable(self, fetches: Any, feed_list: Sequence[Any] | None = None, accept_options: bool = False) -> Any:
        """A function that runs."""

    def close(self) -> None:
        """End it."""


def is_session(value: Any) -> bool:
    """Whether it can be wrapped as a session."""
    return not isinstance(value, type) and all(hasattr(value, name) for name in ('graph', 'run', 'close'))


class DebugSession:
    """A session whose runs are debugged: a card before each run, a stop after it, breakpoints in between.

    It has everything the wrapped session has and is accepted wherever that one is. Results and errors are those of the
    wrapped session; `abort` raises `RunAborted` to the caller of `run`. A `with` block of it ends the wrapped session,
    unless it is inside of a block of the wrapped session: then that one does.

    Args:
        session: A Session, MonitoredSession or InteractiveSession. The last is the default session; its wrapper becomes that
            too.
        ui: 'auto', 'inspector', 'prompt', or 'none': nothing stops, and what would have is logged.

    Attributes:
        debugging: Whether runs are debugged. `quit` at a stop makes it False; set it to True to debug again, to False to
            let the program run at full speed.

    Raises:
        CommandError: It is no session, or there is no such `ui`.
        AttachError: It is of a framework that cannot be attached to.
    """

    _OWN = frozenset(('_blocks', '_policy', '_scope', '_session', 'debugging'))

    @hide_own_frames
    def __init__(self, session: Any, ui: Ui = 'auto') -> None:
        if not is_session(session):
            raise CommandError(f'DebugSession wraps a Session, such as tf.compat.v1.Session(); this is a '
                               f'{type(session).__name__}, and pyfuncdbg.debug() takes functions and modules')
        if type(session) is DebugSession:       # once is enough
            session = session._session
        hosts.attach_to_framework(session)
        self._session: SessionLike = session
        self._blocks = WithBlocks(session)
        self._policy = _policy(f'session {next(_numbers)}', ui)
        self._scope: AbstractContextManager[Any] | None = None
        _begin(self._policy)
        if any(kind.__name__ == 'InteractiveSession' for kind in type(session).__mro__):
            self._scope = self.as_default()
            self._scope.__enter__()
            session.close = self.close          # called there, too, it leaves the scope of the wrapper first

    @property
    def debugging(self) -> bool:
        return self._policy.on and debugger.on

    @debugging.setter
    def debugging(self, on: bool) -> None:
        if not on:
            self._policy.switch(False)
            if not debugger.runs.has_policies:
                debugger.live.sleep()
        elif not self.debugging:
            _begin(self._policy)

    # ------------------------------------------------------------------ running
    @hide_own_frames
    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """As the wrapped session's `run`."""
        if not self._policy.on:
            return self._session.run(fetches, feed_dict, options, run_metadata)
        with debugged_by(self._policy):
            return self._session.run(fetches, feed_dict, options, run_metadata)

    @hide_own_frames
    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> Any:
        """As the wrapped session's."""
        with debugged_by(self._policy):
            return self._session.partial_run_setup(fetches, feeds)

    @hide_own_frames
    def partial_run(self, handle: Any, fetches: Any, feed_dict: Any = None) -> Any:
        """As the wrapped session's; each step is a run."""
        with debugged_by(self._policy):
            return self._session.partial_run(handle, fetches, feed_dict)

    @hide_own_frames
    def make_callable(self, fetches: Any, feed_list: Sequence[Any] | None = None, accept_options: bool = False) -> Any:
        """As the wrapped session's; each call of the function is a run."""
        session_call = self._session.make_callable(fetches, feed_list, accept_options)

        @hide_own_frames
        def call(*values: Any, **options: Any) -> Any:
            with debugged_by(self._policy):
                return session_call(*values, **options)
        return call

    # ------------------------------------------------------------------ being a session
    def as_default(self) -> Any:
        """Make this the session that `eval` and `Operation.run` use, in this thread."""
        return bound_to(self, self._session, 'as_default')()

    def __enter__(self) -> Any:
        return self._blocks.enter(self)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> Any:
        return self._blocks.leave(self, kind, error, trace)

    def close(self) -> None:
        """Close the wrapped session."""
        scope, self._scope = self._scope, None
        if scope is not None:
            scope.__exit__(None, None, None)
            vars(self._session).pop('close', None)
        self._session.close()

    @property
    def __class__(self) -> Any:
        return type(self._session)

    @__class__.setter
    def __class__(self, kind: Any) -> None:
        raise TypeError('the class of a DebugSession cannot be changed')

    def __getattr__(self, name: str) -> Any:
        if name in DebugSession._OWN:           # asked for before it is there: by copy, or after a failed __init__
            raise AttributeError(name)
        return getattr(self._session, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in DebugSession._OWN:
            object.__setattr__(self, name, value)
        else:
            setattr(self._session, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._session, name)

    def __dir__(self) -> list[str]:
        return sorted({*dir(self._session), *object.__dir__(self)})

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._session.__reduce_ex__(protocol)

    def __repr__(self) -> str:
        return f'<DebugSession of {self._session!r}>'


class Debugging:
    """The result of `debug()`: a block in which eager code and traced functions are debugged, or a decorator.

    The first wrapped call or run that this thread makes in the block stops; from there on the user steps or continues. At
    its end debugging is as it was before. After `quit` no block stops any more, unless it is made at Python's own
    prompt or in a notebook, or a session is debugged anew.

    Args:
        ui: As for `DebugSession`.

    Raises:
        CommandError: There is no such `ui`.
    """

    def __init__(self, ui: Ui = 'auto') -> None:
        _check(ui)
        _wished_for()
        self._ui: Ui = ui
        self._blocks: list[AbstractContextManager[Any]] = []

    def __call__(self, function: Callable[..., Any]) -> DebuggedFunction:
        return DebuggedFunction(function, self._ui)

    def __enter__(self) -> Debugging:
        block = _block(f'block {next(_numbers)}', self._ui)
        block.__enter__()
        self._blocks.append(block)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._blocks.pop().__exit__(None, None, None)


class DebuggedFunction:
    """A function whose calls are debugged: each stops at the first wrapped call or run inside, until `quit`.

    Args:
        function: Any callable: a function with wrapped calls in it, a `tf.function`.
        ui: As for `DebugSession`.

    Raises:
        CommandError: It cannot be called, or there is no such `ui`.
    """

    @hide_own_frames
    def __init__(self, function: Callable[..., Any], ui: Ui = 'auto') -> None:
        if not callable(function):
            raise CommandError(f'debug() takes a function or a Session; this is a {type(function).__name__}')
        _check(ui)
        _wished_for()
        self._function = function
        self._ui: Ui = ui
        self._progress: tuple[int, RunOrder | None] = 0, None   # 'run -t 10' counts from call to call
        functools.update_wrapper(self, function, updated=())

    @hide_own_frames
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with _block(getattr(self._function, '__name__', type(self._function).__name__), self._ui, self._progress) as policy:
            try:
                return self._function(*args, **kwargs)
            finally:
                if policy is not None:
                    self._progress = policy.progress

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        get = getattr(self._function, '__get__', None)
        return self if instance is None or get is None else DebuggedFunction(get(instance, owner), self._ui)

    def __getattr__(self, name: str) -> Any:
        if name.startswith('_'):
            raise AttributeError(f'{type(self).__name__!r} object has no attribute {name!r}')
        return getattr(self._function, name)

    def __repr__(self) -> str:
        return f'<debugged {self._function!r}>'


def debug(what: Any = None, ui: Ui = 'auto') -> Any:
    """Debug a session, a function, or with nothing given a block.

        sess = pyfuncdbg.debug(sess)            the same as DebugSession(sess)
        step = pyfuncdbg.debug(step)            each call of a function, of a tf.function
        model = pyfuncdbg.debug(model)          each call of a PyTorch module, which is given back as it is
        with pyfuncdbg.debug(): ...             what is called in the block

    Args:
        what: A session, a module or a callable.
        ui: 'auto', 'inspector', 'prompt' or 'none'.

    Raises:
        CommandError: It is neither, or there is no such `ui`.
    """
    if what is None:
        return Debugging(ui)
    if is_session(what):
        return DebugSession(what, ui)
    if hosts.attach_if_calls_are_runs(what):
        run_policy = _policy(type(what).__name__, ui)
        _begin(run_policy)
        debugger.runs.debug_object(what, run_policy)
        return what
    return DebuggedFunction(what, ui)


def debug_sessions(title: str) -> None:
    """Debug the runs of every session of this program, which has not asked for it: as if it had wrapped each one.

    Args:
        title: What the cards call it.
    """
    debugger.runs.sessions = RunPolicy(debugger.runs, title)
    _begin(debugger.runs.sessions)


def _check(ui: str) -> None:
    names = get_args(Ui)
    if ui not in names:
        raise CommandError(f"ui={ui!r}: expected {', '.join(map(repr, names))}.{nearest(str(ui), names)}")


def _wished_for() -> None:
    """The user at Python's own prompt, or in a notebook, asks for debugging: what quit said before is over."""
    if hasattr(sys, 'ps1'):
        debugger.left = False


def _policy(title: str, ui: Ui, *, every: bool = True) -> RunPolicy:
    _check(ui)
    if ui != 'none':
        from pyfuncdbg.ui.prompt.install import expect_stop, install  # which loads rich
        install(debugger, None if ui == 'auto' else ui)
        expect_stop(debugger)
    return RunPolicy(debugger.runs, title, stops=ui != 'none', every=every)


class _Blocks:
    """Reference count of open blocks: the last to end switches the debugger off if the first switched it on."""

    def __init__(self) -> None:
        self._lock = new_lock()
        self._open = 0
        self.started = False

    def enter(self) -> None:
        with self._lock:
            self._open += 1
            self.started = self.started or not debugger.on
            debugger.want('run')
            debugger.start()

    def leave(self) -> None:
        with self._lock:
            self._open -= 1
            if self._open or not self.started:
                return
            self.started = False
        if not (debugger.breakpoints.entries or debugger.catching or debugger.broker.stops):
            user_left = debugger.left
            debugger.leave()
            debugger.left = user_left                # the block has ended, the user has not quit


_blocks = _Blocks()


def _begin(run_policy: RunPolicy) -> None:
    """Debug a session's runs: the debugger stays on."""
    _blocks.started = False
    debugger.want('run')
    debugger.start()
    _switch_on(run_policy)


def _switch_on(run_policy: RunPolicy) -> None:
    """Also start recording: a recorder that comes in the middle of a run misses what it was fed."""
    if run_policy.stops:
        debugger.live.recorder()
    run_policy.switch(True)


@contextmanager
def _block(title: str, ui: Ui, progress: tuple[int, RunOrder | None] = (0, None)) -> Iterator[RunPolicy | None]:
    """The first wrapped call or run in this block stops, unless what was asked for in an earlier one goes on."""
    thread = threading.get_native_id()
    plan = debugger.plans.get(thread)
    if debugger.left or (plan is not None and plan.asking):     # called at a prompt: nothing stops inside of a stop
        yield None
        return
    run_policy = _policy(title, ui, every=False)
    stepping = plan is not None and plan.stepper.active
    _blocks.enter()
    _switch_on(run_policy)
    run_policy.go_on(progress)
    debugger.plan(thread).next_call = run_policy.stops and run_policy.order is None
    try:
        with debugged_by(run_policy):
            yield run_policy
    finally:
        plan = debugger.plan(thread)
        plan.next_call = plan.entering = False
        if not stepping:
            plan.stepper.disarm()
        if plan.is_idle:
            debugger.plans.pop(thread, None)
        _blocks.leave()
