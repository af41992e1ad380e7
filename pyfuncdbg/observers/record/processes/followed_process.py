"""One process of a recorded program: it is listed in the trace, and so are the processes that it starts.

Loaded by every Python process that the program starts, on its main thread, before the program's own code. Most never have
anything to record, so it imports what a starting interpreter has, and nothing of this package.
"""
# long: each process that starts loads this one file, without the package
from __future__ import annotations

import atexit
import os
import sys
import time
from _json import encode_basestring_ascii  # `json` takes longer to load than this

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from pyfuncdbg.hooks.import_watch import ImportWatch

    CommitBeforeEnds = Callable[['FollowedProcess', type[ImportWatch]], None]

VARIABLE = 'PYFUNCDBG_FOLLOW'
"""Environment variable of the processes that are followed: 'ID:MODULES:VARIABLES:FOLDER'."""
STARTUP = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))),
                       'ui', 'commands', 'programs', 'startup')
"""A folder for PYTHONPATH: its `sitecustomize` calls `follow`."""
LIST = 'processes'
"""The file in the trace: a line of JSON for each beginning and each end."""
LARGEST = 4 << 20
"""Bytes of it, about: a program may start processes without end."""
RANKS = 'RANK', 'OMPI_COMM_WORLD_RANK', 'PMIX_RANK', 'PMI_RANK', 'SLURM_PROCID'
"""Environment variables by which launchers number processes, the nearest to the program first: torchrun, MPI, SLURM."""
NAMED = 'label'
"""Among these the label that something in the process has given it: no environment variable has this name."""
_MOST_WORDS, _LONGEST = 100, 1000
before_start: list[Callable[[], None]] = []
"""Called before this process starts another one afresh, where such are followed; they raise nothing."""
_USER = 13
"""Place of the user id among the arguments of `_posixsubprocess.fork_exec`, behind the environment."""
_NOT_LISTED = 'multiprocessing.resource_tracker'
"""A process of the standard library's own, which runs nothing of the program."""


class FollowedProcess:
    """This process and the trace it belongs to; the same object in each forked child.

    Args:
        folder: Of the trace.
        ranks: Environment variables that tell a process which of many it is, beside those of launchers.

    Attributes:
        before_end: Called when it ends, after what the program itself does at its exit.
        leads: Processes that it starts afresh are to follow, too.
    """

    def __init__(self, folder: str, ranks: Iterable[str] = ()) -> None:
        self.folder = folder
        self._identity = self._folder_now()
        self._rank_variables = *RANKS, *ranks
        self._ranks: dict[str, str] = {}
        self.before_end: list[Callable[[], None]] = []
        self.leads = True
        self._ended = 0

    def begin(self, command: Sequence[str], watch: type[ImportWatch], commit: CommitBeforeEnds) -> None:
        """Add this process to the list, and its forked children and its end when they come.

        Args:
            command: The program and its arguments.
            watch: Class of the import hooks.
            commit: `abrupt_ends.commit_before_ends`.
        """
        self.list_beginning(command)
        atexit.register(self.end)
        watch('multiprocessing.util', self.await_multiprocessing).install()
        commit(self, watch)
        for module, begin in ('_posixsubprocess', self._list_executed), ('subprocess', self._list_spawned):
            if module in sys.modules:
                begin()
            else:
                watch(module, begin).install()
        if hasattr(os, 'register_at_fork'):
            os.register_at_fork(after_in_child=lambda: self._after_fork(command))

    def _list_executed(self) -> None:
        """List the Python processes too that this one starts by fork and exec, and that cannot follow."""
        native: Any = sys.modules['_posixsubprocess']
        fork_exec = native.fork_exec

        def listing_fork_exec(args: Any, files: Any, close: Any, kept: Any, cwd: Any, environment: Any, *more: Any) -> Any:
            self._prepare_start()
            try:
                pid = fork_exec(args, files, close, kept, cwd, environment, *more)
            except BaseException as error:
                if error.__traceback__ is not None:     # without this frame
                    error.__traceback__ = error.__traceback__.tb_next
                raise
            user = more[_USER] if len(more) > _USER else None
            self._list_unfollowed(pid, args, environment, user if isinstance(user, int) else -1)
            return pid

        native.fork_exec = listing_fork_exec
        subprocess: Any = sys.modules.get('subprocess')
        if getattr(subprocess, '_fork_exec', None) is fork_exec:
            subprocess._fork_exec = listing_fork_exec

    def _list_spawned(self) -> None:
        """The same for `posix_spawn`, which `subprocess` may call, and does mostly from Python 3.13 on."""
        popen: Any = sys.modules['subprocess'].Popen
        posix_spawn = getattr(popen, '_posix_spawn', None)
        if posix_spawn is None:
            return

        def listing_posix_spawn(started: Any, args: Any, executable: Any, environment: Any, *more: Any) -> None:
            self._prepare_start()
            try:
                posix_spawn(started, args, executable, environment, *more)
            except BaseException as error:
                if error.__traceback__ is not None:     # without this frame
                    error.__traceback__ = error.__traceback__.tb_next
                raise
            entries = None if environment is None else [os.fsencode(name) + b'=' + os.fsencode(value)
                                                        for name, value in environment.items()]
            self._list_unfollowed(started.pid, args, entries)

        popen._posix_spawn = listing_posix_spawn

    def _list_unfollowed(self, pid: int, args: Any, environment: Sequence[bytes] | None, user: int = -1) -> None:
        """List a process that was started, if it is one of Python and cannot follow."""
        command = [os.fsdecode(word) for word in args] if type(args) in (list, tuple) else []
        if self.leads and not _is_own_start() and (why := _why_unfollowed(command, environment, user)):
            self.append({'event': 'unfollowed', 'pid': pid, 'parent': os.getpid(), 'at': time.time(), 'why': why,
                         'command': _shortened(command), 'host': os.uname().nodename})

    def _prepare_start(self) -> None:
        for prepare in list(before_start) if self.leads and not _is_own_start() else ():
            prepare()

    def list_ranks(self) -> None:
        """Say which of many processes this one is, if the program has set that itself since it began."""
        known = self._ranks
        if self._ranks_now() != known:
            self.append({'event': 'ranks', 'pid': os.getpid(), 'ranks': self._ranks})

    def _ranks_now(self) -> dict[str, str]:
        self._ranks = {name: os.environ[name][:_LONGEST] for name in self._rank_variables if name in os.environ}
        if label := getattr(sys.modules.get('pyfuncdbg.hooks.rank_variables'), 'label', ''):
            self._ranks[NAMED] = label[:_LONGEST]
        return self._ranks

    def await_multiprocessing(self) -> None:
        """Children of multiprocessing end with `os._exit`, after their own finalizers."""
        util = sys.modules.get('multiprocessing.util')
        if util is not None:
            util.register_after_fork(self, _end_with_finalizers)

    def end(self, error: str | None = None) -> None:
        """Add the end of this process to the list, once.

        Args:
            error: The exception that ended it, '' for none; by default the one that the interpreter has shown.
        """
        if self._ended != os.getpid():
            self._ended = os.getpid()
            for stop in self.before_end:
                stop()
            self.list_ranks()
            self.append({'event': 'end', 'pid': os.getpid(), 'at': time.time(),
                         'error': _shown_error() if error is None else error})

    def list_exit(self, code: int) -> None:
        """Add the end by `os._exit` to the list, unless another one is in it.

        Args:
            code: The exit code.
        """
        if self._ended != os.getpid():
            self.before_end = []                # no exit handler runs
            self.end(f'os._exit({code})' if code else '')

    def list_replacement(self, command: Sequence[str] | None, environment: Sequence[bytes] | None = None) -> None:
        """Add what this process becomes now to the list.

        Args:
            command: The program and its arguments; None takes the line before back, it has not become that.
            environment: As of `_why_unfollowed`.
        """
        why = _why_unfollowed(command or (), environment, -1) if self.leads else ''
        self.append({'event': 'exec', 'pid': os.getpid(), **(
            {'failed': 1} if command is None else {'command': _shortened(command), 'why': why})})

    def append(self, fields: Mapping[str, object]) -> None:
        """Append a line to the list; nothing is said where that fails.

        Args:
            fields: Of strings, numbers, and lists and mappings of strings.
        """
        line = '\n' + _json(fields) + '\n'      # one torn line of a process that was killed spoils no other
        if self._identity is None or self._folder_now() != self._identity:
            return                              # removed, moved or replaced
        try:
            number = os.open(os.path.join(self.folder, LIST), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
                             | os.O_CLOEXEC | os.O_NONBLOCK, 0o666)
        except OSError:
            return
        try:
            if os.fstat(number).st_size < LARGEST:
                os.write(number, line.encode('ascii'))
        except OSError:
            pass
        finally:
            os.close(number)

    def _folder_now(self) -> tuple[int, int] | None:
        """What the folder is that is at the path of the trace."""
        try:
            status = os.lstat(self.folder)
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def list_beginning(self, command: Sequence[str], is_fork: bool = False) -> None:
        """Add this process to the list, and nothing that comes later.

        Args:
            command: The program and its arguments.
            is_fork: It is a copy of the process that has started it.
        """
        self.append(self.beginning(command, is_fork))

    def beginning(self, command: Sequence[str], is_fork: bool) -> dict[str, object]:
        """The line that `list_beginning` adds.

        Args:
            command: The program and its arguments.
            is_fork: It is a copy of the process that has started it.

        Returns:
            Its fields.
        """
        return {'event': 'begin', 'pid': os.getpid(), 'parent': os.getppid(), 'at': time.time(), 'fork': int(is_fork),
                'command': _shortened(command), 'host': os.uname().nodename,
                'python': sys.version.partition(' ')[0], 'ranks': self._ranks_now()}

    def _after_fork(self, command: Sequence[str]) -> None:
        self.list_beginning(command, is_fork=True)
        self.await_multiprocessing()


def offer(folder: str, trace: str, modules: Iterable[str], ranks: Sequence[str], command: Sequence[str],
          watch: type[ImportWatch], commit: CommitBeforeEnds, children: bool = True) -> FollowedProcess:
    """List this process as the first of a program, and let those that it starts follow.

    Args:
        folder: Of the trace, an absolute path.
        trace: Its id.
        modules: A process has something to record when it imports one of these.
        ranks: As of `FollowedProcess`.
        command: The program and its arguments.
        watch: Class of the import hooks.
        commit: As of `begin`.
        children: Whether processes that start afresh are followed, too.

    Returns:
        This process's part.
    """
    process = FollowedProcess(folder, ranks)
    process.leads = children
    process.begin(command, watch, commit)
    process.await_multiprocessing()
    if children:
        os.environ[VARIABLE] = f'{trace}:{",".join(modules)}:{",".join(ranks)}:{folder}'
        before = os.environ.get('PYTHONPATH', '')
        if STARTUP not in before.split(os.pathsep):
            os.environ['PYTHONPATH'] = STARTUP + (os.pathsep + before if before else '')
    return process


def own_environment() -> dict[str, str]:
    """The environment for a process of ours, which is no part of the program: as it would be without us."""
    variables = {name: value for name, value in os.environ.items() if name != VARIABLE}
    folders = variables.get('PYTHONPATH', '').split(os.pathsep)
    if STARTUP in folders:
        folders.remove(STARTUP)
        variables['PYTHONPATH'] = os.pathsep.join(folders)
        if not folders:
            del variables['PYTHONPATH']
    return variables


def follow(watch: type[ImportWatch], record: Callable[[FollowedProcess, str], None], commit: CommitBeforeEnds) -> None:
    """Make this process, which starts, a part of the program whose trace the environment names.

    Args:
        watch: Class of the import hooks.
        record: Called once, with the module that was imported, when the process may have something to record.
        commit: As of `FollowedProcess.begin`.
    """
    trace, _, rest = os.environ.get(VARIABLE, '').partition(':')
    modules, _, rest = rest.partition(':')
    ranks, _, folder = rest.partition(':')
    command = list(sys.orig_argv)
    if not _is_ours(folder, trace) or _is_trackers(command):
        return
    process = FollowedProcess(folder, [name for name in ranks.split(',') if name])
    process.begin(command, watch, commit)
    watches: list[ImportWatch] = []

    def begin(module: str) -> None:
        waiting, watches[:] = list(watches), []
        for one in waiting:
            one.remove()
        if waiting:
            try:
                record(process, module)
            except Exception as error:          # a library of ours that this Python has not: the program goes on
                process.append({'event': 'unrecorded', 'pid': os.getpid(), 'why': f'{type(error).__name__}: {error}'})

    for name in modules.split(','):
        one = watch(name, lambda name=name: begin(name))  # type: ignore[misc]
        watches.append(one)
        one.install()
    for name in [name for name in modules.split(',') if name in sys.modules][:1]:      # by a `.pth` file
        begin(name)


def _is_ours(folder: str, trace: str) -> bool:
    """Whether this is the folder of that trace, and the user's who runs this process."""
    user = os.geteuid()
    if not trace or not os.path.isabs(folder) or os.getuid() != user or os.getgid() != os.getegid():
        return False
    try:
        if os.lstat(folder).st_uid != user:
            return False
        number = os.open(os.path.join(folder, 'manifest.json'), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.fstat(number).st_uid == user and f'"{trace}"'.encode() in os.read(number, 64 << 10)
    except OSError:
        return False
    finally:
        os.close(number)


def _is_own_start() -> bool:
    return bool(getattr(sys.modules.get('pyfuncdbg.hooks.own_process'), 'is_own_start', bool)())


def _is_trackers(command: Sequence[str]) -> bool:
    return any(_NOT_LISTED in word for word in command[1:4])


def _end_with_finalizers(process: FollowedProcess) -> None:
    sys.modules['multiprocessing.util'].Finalize(None, process.end, exitpriority=-200)


def _shortened(command: Sequence[str]) -> list[str]:
    return [word[:_LONGEST] for word in command[:_MOST_WORDS]]


def _why_unfollowed(command: Sequence[str], environment: Sequence[bytes] | None, user: int) -> str:
    """Why a process cannot follow, if it is one of Python; '' if it can, or is another program.

    Args:
        command: Its program and arguments.
        environment: Its environment; None for that of this process, which the program may have cleared.
        user: The id of the user that it runs as, -1 for that of this process.
    """
    if not command or not os.path.basename(command[0]).startswith('python') or _is_trackers(command):
        return ''
    if user not in (-1, os.geteuid()):
        return f'it was started as another user, {user}'
    names = [os.fsencode(name) for name in (VARIABLE, 'PYTHONPATH')]
    own = os.environb
    entries = [own.get(name, b'') for name in names] if environment is None else [
        next((one.partition(b'=')[2] for one in environment if one.startswith(name + b'=')), b'') for name in names]
    if not entries[0]:
        return f'it was started without {VARIABLE} in its environment'
    if os.fsencode(STARTUP) not in entries[1]:
        return 'it was started with another PYTHONPATH'
    for word in command[1:]:
        if not word.startswith('-') or word in ('-', '-c', '-m') or word.startswith('--'):
            return ''
        for flag in 'IES':
            if flag in word[1:].partition('X')[0].partition('W')[0]:
                return f'-{flag} hides the environment' if flag != 'S' else '-S leaves `sitecustomize` out'
    return ''


def _shown_error() -> str:
    """The exception with which the interpreter ends, as one line; '' for none."""
    error = getattr(sys, 'last_value', None)
    if not isinstance(error, BaseException):
        return ''
    try:
        text = str(error)
    except BaseException:                       # the program's own `__str__` may raise anything
        text = ''
    return f'{type(error).__name__}: {text[:_LONGEST]}'.partition('\n')[0]


def _json(value: object) -> str:
    if isinstance(value, str):
        text: str = encode_basestring_ascii(value)
        return text
    if isinstance(value, dict):
        return '{' + ','.join([f'{_json(key)}:{_json(one)}' for key, one in value.items()]) + '}'
    if isinstance(value, list):
        return '[' + ','.join(map(_json, value)) + ']'
    return repr(value)
