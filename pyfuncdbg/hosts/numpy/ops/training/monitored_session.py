"""Sessions with hooks: `MonitoredSession` calls each hook before and after each run. A hook may request a stop.

For programs of TensorFlow 1; everything runs on the caller's thread. There are no checkpoints and no other machines.
"""
from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from pyfuncdbg.errors import OutOfRangeError
from pyfuncdbg.hooks.public_function import hide_own_frames_in_methods
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.ops.variables.collections import global_variables_initializer, local_variables_initializer
from pyfuncdbg.hosts.numpy.runtime.sessions.session import BaseSession, Session


class SessionRunArgs(NamedTuple):
    """Additions of a hook to a run: fetches, feeds, options."""

    fetches: Any
    feed_dict: Mapping[Any, Any] | None = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """Results of a run for a hook: its own fetches, in their structure."""

    results: Any
    options: Any
    run_metadata: Any


class SessionRunContext:
    """Context of the run that a hook is called for.

    Attributes:
        original_args: Fetches and feeds of the caller.
        session: The session without hooks.
        stop_requested: Whether a hook asked to stop.
    """

    def __init__(self, original_args: SessionRunArgs, session: Any) -> None:
        self.original_args = original_args
        self.session = session
        self.stop_requested = False

    def request_stop(self) -> None:
        """Let `should_stop` be true after this run."""
        self.stop_requested = True


class SessionRunHook:
    """Base class of hooks around the runs of a `MonitoredSession`; override what you need."""

    def begin(self) -> None:
        """Once, before the graph is finalized: ops may be added."""

    def after_create_session(self, session: Any, coord: Coordinator) -> None:
        """Once, when there is a session with its variables initialized."""

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Before each run: returns additional fetches and feeds."""
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """After each run that raised nothing."""

    def end(self, session: Any) -> None:
        """Once, at the end, unless an error ended the session."""


class Coordinator:
    """Stop flag that threads share."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._error: BaseException | None = None

    def request_stop(self, ex: BaseException | None = None) -> None:
        """Request a stop of all threads; `raise_requested_exception` raises the first `ex`."""
        if self._error is None and not self._stop.is_set():
            self._error = ex
        self._stop.set()

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._stop.is_set()

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Wait for a stop request; returns whether it came in time."""
        return self._stop.wait(timeout)

    def raise_requested_exception(self) -> None:
        """Raise the exception of `request_stop`."""
        if self._error is not None:
            raise self._error


class SessionCreator(Protocol):
    """Protocol of session factories."""

    def create_session(self) -> Any:
        """A session whose variables are initialized."""


class Scaffold:
    """Initialization of the variables in a monitored session.

    Args:
        init_op: Run first, with `init_feed_dict`; by default what initializes all variables.
        init_feed_dict: Feeds of `init_op`.
        init_fn: Called with the scaffold and the session after that.
        local_init_op: Run last; by default what initializes all local variables.
    """

    def __init__(self, init_op: Any = None, init_feed_dict: Mapping[Any, Any] | None = None,
                 init_fn: Callable[[Scaffold, Any], None] | None = None, local_init_op: Any = None) -> None:
        self.init_op = init_op
        self.init_feed_dict = init_feed_dict
        self.init_fn = init_fn
        self.local_init_op = local_init_op

    def finalize(self) -> Scaffold:
        """Add the missing operations and finalize the default graph."""
        if not context.get_default_graph().finalized:
            self.init_op = global_variables_initializer() if self.init_op is None else self.init_op
            self.local_init_op = local_variables_initializer() if self.local_init_op is None else self.local_init_op
        context.get_default_graph().finalize()
        return self


class ChiefSessionCreator:
    """Maker of an initialized `Session` of the default graph."""

    def __init__(self, scaffold: Scaffold | None = None, master: str = '', config: Any = None) -> None:
        self._scaffold = Scaffold() if scaffold is None else scaffold
        self._master = master
        self._config = config

    def create_session(self) -> Session:
        """The session."""
        scaffold = self._scaffold.finalize()
        session = Session(self._master, config=self._config)
        if scaffold.init_op is not None:
            session.run(scaffold.init_op, scaffold.init_feed_dict)
        if scaffold.init_fn is not None:
            scaffold.init_fn(scaffold, session)
        if scaffold.local_init_op is not None:
            session.run(scaffold.local_init_op)
        return session


@hide_own_frames_in_methods
class StepContext:
    """Context of the function given to `run_step_fn`: the session, and runs with hooks."""

    def __init__(self, session: Any, run_with_hooks: Callable[..., Any]) -> None:
        self.session = session
        self.run_with_hooks = run_with_hooks

    def request_stop(self) -> None:
        """End the `with` block of the session."""
        raise StopIteration('step_fn has requested the iterations to stop.')


class MonitoredSession:
    """Session that calls hooks around each run.

        with tf.train.MonitoredSession(hooks=[...]) as session:
            while not session.should_stop():
                session.run(train)

    The `with` block ends without an error at StopIteration and OutOfRangeError. It is no default session.

    Args:
        session_creator: Factory of the session inside; by default a `ChiefSessionCreator`.
        hooks: Called in this order.
        stop_grace_period_secs: Accepted for compatibility.
    """

    def __init__(self, session_creator: SessionCreator | None = None, hooks: Iterable[Any] | None = None,
                 stop_grace_period_secs: int = 120) -> None:
        self._was_finalized = context.get_default_graph().finalized
        self._hooks = list(hooks or ())
        for hook in self._hooks:
            hook.begin()
        self._coord = Coordinator()
        self._stopped = False
        self._inside: Any = (ChiefSessionCreator() if session_creator is None else session_creator).create_session()
        for hook in self._hooks:
            hook.after_create_session(self._inside, self._coord)

    @property
    def graph(self) -> Any:
        """The graph of the session; None when it is closed."""
        return None if self._inside is None else self._inside.graph

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Compute fetches as `Session.run` does, with the additions of hooks.

        Raises:
            RuntimeError: It is closed, a hook asked to stop, or one tensor is fed twice.
        """
        session = self._open()
        if self.should_stop():
            raise RuntimeError('Run called even after should_stop requested.')
        run_context = SessionRunContext(SessionRunArgs(fetches, feed_dict), session)
        all_fetches = [fetches]
        places: dict[int, int] = {}             # index in `all_fetches` of a hook's fetches, by its number
        fed: dict[Any, Any] = {}
        for number, hook in enumerate(self._hooks):
            request = hook.before_run(run_context)
            if request is None:
                continue
            if request.fetches is not None:
                places[number] = len(all_fetches)
                all_fetches.append(request.fetches)
            if request.feed_dict:
                _disjoint(fed, request.feed_dict, 'Same tensor is fed by two hooks.')
                fed.update(request.feed_dict)
            options = request.options if options is None else options
        _disjoint(feed_dict or {}, fed, 'Same tensor is fed by a SessionRunHook and user.')
        results = session.run(all_fetches, {**fed, **(feed_dict or {})}, options, run_metadata)
        for number, hook in enumerate(self._hooks):
            result = results[places[number]] if number in places else None
            hook.after_run(run_context, SessionRunValues(result, options, run_metadata))
        self._stopped = self._stopped or run_context.stop_requested
        return results[0]

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """Call `step_fn(step_context)`, which has the session itself and can run with the hooks.

        Raises:
            ValueError: `step_fn` takes other arguments.
        """
        names = tuple(inspect.signature(step_fn).parameters)
        if names != ('step_context',):
            raise ValueError('`step_fn` may either have one `step_context` argument, or `self` and `step_context` arguments '
                             f"if it's an instance method. Got {names} instead.")
        return step_fn(StepContext(self._open(), self.run))

    def should_stop(self) -> bool:
        """Whether a hook asked to stop, or it is closed."""
        if self._inside is None:
            return True
        self._coord.raise_requested_exception()
        return self._stopped or self._coord.should_stop()

    def close(self) -> None:
        """Call `end` of the hooks, and close the session."""
        self._close(None)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> bool:
        stopped = kind in (OutOfRangeError, StopIteration)
        self._close(None if stopped else kind)
        return stopped or kind is None

    def _open(self) -> Any:
        if self._inside is None:
            raise RuntimeError('Session is already closed.')
        return self._inside

    def _close(self, kind: type[BaseException] | None) -> None:
        try:
            if kind is None:
                for hook in self._hooks:
                    hook.end(self._inside)
        finally:
            session, graph = self._open(), self.graph
            self._inside = None
            self._coord.request_stop()
            session.close()
            graph.finalized = self._was_finalized


def _disjoint(one: Mapping[Any, Any], other: Mapping[Any, Any], message: str) -> None:
    # By hash only: `==` between tensors may add a node.
    identities = {_identity(key) for key in one}
    both = [key for key in other if _identity(key) in identities]
    if both:
        raise RuntimeError(f'{message} Conflict(s): {both}')


def _identity(key: Any) -> Any:
    return key if isinstance(key, str) else id(key)


def start_queue_runners(sess: Any = None, coord: Coordinator | None = None, daemon: bool = True, start: bool = True,
                        collection: str = 'queue_runners') -> list[Any]:
    """Start the threads that fill the graph's queues: none, because no op here has a queue.

    Raises:
        ValueError: There is no session.
        TypeError: `sess` is no session.
    """
    session = sess or context.default_session()
    if session is None:
        raise ValueError('Cannot start queue runners: No default session is registered. Use `with sess.as_default()` or '
                         'pass an explicit session to tf.start_queue_runners(sess=sess)')
    if not isinstance(session, (BaseSession, MonitoredSession)):
        raise TypeError(f'sess must be a `tf.Session` object. Given class: {type(session)}')
    return []
