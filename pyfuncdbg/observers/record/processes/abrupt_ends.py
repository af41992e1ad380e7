"""Ends of a process without exit handlers: what was recorded is committed before it is replaced or killed.

By `os.exec*`, by `os._exit`, or as a worker of a `multiprocessing.Pool`, which kills them. Loaded as `followed_process` is,
by every Python process that the program starts; it imports nothing of this package. A recorder that `pyfuncdbg run` has not
started uses it too, until it stops. The functions run on the thread of the program that ends the process. An audit hook for
`os.exec` would be invisible, but is called 13 times in an eager call.
"""
from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from pyfuncdbg.hooks.import_watch import ImportWatch
    from pyfuncdbg.observers.record.processes.followed_process import FollowedProcess
    from pyfuncdbg.observers.record.processes.recorded_process import RecordedProcess

_PATHLIB = 'pathlib', 'pathlib._local'
_CODES = range(-1 << 31, 1 << 31)
"""What `os._exit` takes, and more is an error of the program."""


def commit_before_ends(process: FollowedProcess, watch: type[ImportWatch]) -> None:
    """Replace the functions by which a process ends so, from now on.

    Args:
        process: This process.
        watch: Class of the import hooks.
    """
    watch('multiprocessing.pool', lambda: _commit_results_of_pools(process)).install()
    _replace('_exit', _exit_after(process, os._exit))
    for name in ('execv', 'execve'):            # `os.execl`, `os.execvp` and the others call these
        if hasattr(os, name):
            _replace(name, _execute_after(process, getattr(os, name)))


def commit_while_recorded(process: RecordedProcess) -> Callable[[], None]:
    """Replace `os._exit` and `os.exec*` in a program that records itself, without `pyfuncdbg run`.

    Args:
        process: This process; forked children have it, too. No end by `os._exit` is listed: it is that of most forks.

    Returns:
        Puts the functions back, where nothing else has replaced ours.
    """
    ended: list[bool] = []
    put_back = [_replace('_exit', _until(ended, os._exit, _exit_after(None, os._exit)))]
    for name in ('execv', 'execve'):
        if hasattr(os, name):
            execute = getattr(os, name)
            put_back.append(_replace(name, _until(ended, execute, _execute_after(process, execute))))

    def end() -> None:
        ended.append(True)
        for undo in reversed(put_back):
            undo()
    return end


def _until(ended: Sequence[bool], original: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of ours, which the program may keep; the original once recording has ended."""
    def end_process(*args: Any, **options: Any) -> Any:
        try:
            return (original if ended else function)(*args, **options)
        except BaseException as error:
            if error.__traceback__ is not None:             # without this frame
                error.__traceback__ = error.__traceback__.tb_next
            raise
    return end_process


def _replace(name: str, function: Callable[..., Any]) -> Callable[[], None]:
    """Replace a function of `os`; returns what puts it back."""
    original, native = getattr(os, name), sys.modules.get(os.name)      # `posix`
    for attribute in ('__module__', '__name__', '__qualname__', '__doc__'):
        setattr(function, attribute, getattr(original, attribute))
    function.__wrapped__ = original             # type: ignore[attr-defined]  # for `inspect.signature`
    for module in os, native:
        if getattr(module, name, None) is original:
            setattr(module, name, function)

    def put_back() -> None:
        for module in os, native:
            if getattr(module, name, None) is function:
                setattr(module, name, original)
    return put_back


def _execute_after(process: FollowedProcess | RecordedProcess, execute: Callable[..., Any]) -> Callable[..., Any]:
    """`os.execv` or `os.execve`, which lists the program that this process becomes; where that fails, it goes on."""
    def execute_committed(*args: Any, **options: Any) -> Any:
        is_there = _is_there(*args, **options)
        if is_there:
            _commit()
            process.list_replacement(_command(*args, **options), _entries(*args, **options))
        try:
            return execute(*args, **options)
        except BaseException as error:
            if error.__traceback__ is not None:             # without this frame
                error.__traceback__ = error.__traceback__.tb_next
            if is_there:
                process.list_replacement(None)
            raise
    return execute_committed


def _exit_after(process: FollowedProcess | None, leave: Callable[..., Any]) -> Callable[..., Any]:
    """`os._exit`, which lists the end in a followed process."""
    def leave_committed(*args: Any, **options: Any) -> Any:
        code = options.get('status', *args[:1])
        if type(code) in (int, bool) and code in _CODES:
            _commit()
            if process is not None:
                process.list_exit(code)
        try:
            return leave(*args, **options)
        except BaseException as error:          # a wrong argument
            if error.__traceback__ is not None:
                error.__traceback__ = error.__traceback__.tb_next
            raise
    return leave_committed


def _is_there(path: Any = None, *_: Any, **__: Any) -> bool:
    """Whether there may be such a file: `os.execvp` tries each folder of PATH."""
    if _text(path) is not None:
        try:
            os.stat(path)
        except (OSError, ValueError):
            return False
    return True


def _command(path: Any = None, argv: Any = (), *_: Any, **__: Any) -> list[str]:
    """The program and its arguments, as far as they can be read without code of the program."""
    words = [_text(word) for word in [path, *(argv[1:] if type(argv) in (list, tuple) else ())]]
    return ['?' if word is None else word for word in words]


def _text(value: Any) -> str | None:
    kind = type(value)
    return os.fsdecode(value) if kind in (str, bytes) or kind.__module__ in _PATHLIB else None


def _entries(path: Any = None, argv: Any = (), env: Any = None) -> Sequence[bytes] | None:
    """The environment that it gets; None for that of this process, or where that cannot be told."""
    if type(env) not in (dict, type(os.environ)) or any(_text(word) is None for entry in env.items() for word in entry):
        return None
    return [os.fsencode(name) + b'=' + os.fsencode(value) for name, value in env.items()]


def _commit() -> None:
    commit_points = sys.modules.get('pyfuncdbg.hooks.commit_points')
    if commit_points is not None:               # there may be something to write
        commit_points.reach(True)


class _ResultQueue:
    """The queue of a pool's results. A worker may be killed once it has put its last, so its log is written before."""

    def __init__(self, queue: Any) -> None:
        self._queue = queue

    def put(self, result: object) -> None:
        _commit()
        self._queue.put(result)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queue, name)


def _commit_results_of_pools(process: FollowedProcess) -> None:
    """Let the workers of `multiprocessing.Pool`, which kills them when it ends, lose no call whose result it has."""
    pool: Any = sys.modules['multiprocessing.pool']
    worker = pool.worker

    def committing_worker(inqueue: Any, outqueue: Any, *args: Any, **kwargs: Any) -> None:
        process.append({'event': 'pool', 'pid': os.getpid()})
        worker(inqueue, _ResultQueue(outqueue), *args, **kwargs)

    for name in ('__module__', '__name__', '__qualname__'):     # by which the new process finds it
        setattr(committing_worker, name, getattr(worker, name))
    pool.worker = committing_worker
