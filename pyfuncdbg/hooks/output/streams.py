"""Capture of what is written to stdout and stderr, whatever object the program has put there.

`hooks.capture` calls `watch` at the start of each call with the present streams; the watching `write` then runs on any
thread that prints. It is an instance attribute of the stream: `sys.stdout` stays the object it was, so its encoding,
descriptor, class and identity, references that the program took earlier (a logging handler's), and the restoring of
`sys.stdout` by redirect_stdout, rich or pytest in any order stay right. Others do the same, IPython for each cell: so each
call checks that ours is still on top.
"""
from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FunctionType
from typing import Any

from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.output.output_owner import add_output, output_owner, output_place
from pyfuncdbg.hooks.output.watched_streams import WatchedStreams, Write

_written_stream: ContextVar[int] = ContextVar('pyfuncdbg_written_stream', default=0)
"""The stream that the `write` below ours is writing to: another of ours down there only passes on."""

_receiver: ContextVar[tuple[Callable[[str], object], Any, Any] | None] = ContextVar('pyfuncdbg_receiver', default=None)
"""Receiver of the text instead of the streams, and those two streams."""


@contextmanager
def divert_writes(receive: Callable[[str], object]) -> Iterator[None]:
    """Give what this context writes to the present streams, which are watched, to `receive` instead."""
    token = _receiver.set((receive, sys.stdout, sys.stderr))
    try:
        yield
    finally:
        _receiver.reset(token)


class Streams:
    """The streams whose `write` is watched, until `undo`."""

    __slots__ = ('_lock', '_on', 'getters')

    def __init__(self) -> None:
        self.getters: dict[int, Callable[[], Any]] = {}
        """By `id`; the value gives the stream. Weak where the stream allows it, so that none lives longer for this."""
        self._on = True
        self._lock = new_rlock()          # re-entrant: the collector may call `forget` while it is held

    def watch(self, stdout: Any, stderr: Any, echo: bool) -> WatchedStreams:
        """The pair of `stdout` and `stderr`, watched. None, or a stream without attributes (`__slots__`), is not captured.

        Args:
            echo: Whether the streams get what is printed, too.
        """
        with self._lock:
            return WatchedStreams(self._getter_of(stdout), self._getter_of(stderr), echo, self._install_write(stdout),
                                  self._install_write(stderr))

    def undo(self) -> None:
        """End the watching; where the program has put another `write` on top, ours below it only passes on."""
        with self._lock:
            self._on = False
            for find in self.getters.values():
                attributes = _attributes(find())
                while attributes is not None and self._is_ours(top := attributes.get('write')):
                    del attributes['write']
                    if (before := top.__dict__['before']) is not None:
                        attributes['write'] = before
            self.getters.clear()

    def _getter_of(self, stream: Any) -> Callable[[], Any]:
        """A getter of the stream."""
        getter = self.getters.get(id(stream))
        if getter is not None:
            return getter
        key = id(stream)

        def forget(_: Any) -> None:
            with self._lock:
                self.getters.pop(key, None)

        try:
            find: Callable[[], Any] = weakref.ref(stream, forget)
        except TypeError:                       # it takes no weak references
            find = lambda: stream               # noqa: E731
        self.getters[key] = find
        return find

    def _install_write(self, stream: Any) -> Write | None:
        """The watching `write` on a stream, installed if another one is on top: IPython sets its own for each cell."""
        attributes = _attributes(stream)
        if attributes is None or not callable(getattr(stream, 'write', None)):
            return None
        ours = attributes.get('write')
        if not self._is_ours(ours):
            before, ours = ours, self._make_write(self.getters[id(stream)], _unbound_write(stream))
            ours.__dict__.update(watcher=self, before=before)
            attributes['write'] = ours
        return ours if stream.write is ours else None       # a class may look at its objects' attributes in its own way

    def _is_ours(self, write: Any) -> bool:
        """Whether it is one of ours; others may be below it, with other wrappers between."""
        return isinstance(write, FunctionType) and write.__dict__.get('watcher') is self

    def _make_write(self, find: Callable[[], Any], original: Write) -> Write:
        def put(stream: Any, *args: Any, **kwargs: Any) -> Any:
            receiver = _receiver.get()
            if (receiver is None or kwargs or len(args) != 1 or not isinstance(args[0], str)
                    or (stream is not receiver[1] and stream is not receiver[2])):
                return original(stream, *args, **kwargs)
            receiver[0](args[0])
            return len(args[0])

        def write(*args: Any, **kwargs: Any) -> Any:
            stream = find()
            call = output_owner()
            streams = call.streams if call is not None and self._on else None
            is_out = streams is not None and streams.stdout() is stream
            if (call is None or streams is None or not (is_out or streams.stderr() is stream)
                    or _written_stream.get() == id(stream)):
                return put(stream, *args, **kwargs)
            text = args[0] if len(args) == 1 and not kwargs and isinstance(args[0], str) else None
            if streams.echo or text is None:
                token = _written_stream.set(id(stream))
                try:
                    result = put(stream, *args, **kwargs)
                finally:
                    _written_stream.reset(token)
            else:
                result = len(text)
            if text:
                # str.__str__: a subclass of str is not kept, nor what it refers to.
                add_output(call, 'out' if is_out else 'err', str.__str__(text), '', output_place(sys._getframe(1)))
            return result
        return write


def _unbound_write(stream: Any) -> Write:
    """Its `write`, with the stream as first argument: a bound method would make the stream hold itself."""
    write = stream.write
    method: Write | None = getattr(type(stream), 'write', None)
    if method is not None and getattr(write, '__self__', None) is stream and 'write' not in stream.__dict__:
        return method
    return lambda _, *args, **kwargs: write(*args, **kwargs)


def _attributes(stream: Any) -> dict[str, Any] | None:
    """The object's own attributes; None if it has no place for any. Never those of a proxy's target."""
    try:
        attributes = object.__getattribute__(stream, '__dict__')
    except AttributeError:
        return None
    return attributes if isinstance(attributes, dict) else None
