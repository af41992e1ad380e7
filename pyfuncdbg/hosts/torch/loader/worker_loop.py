"""Main loop of a DataLoader's worker process, which is watched as the process that has started the worker.

A forked worker has the observers of its parent. One that starts afresh (`spawn`, `forkserver`) unpickles the loop, and
accepts the invitations that come with it before its work begins.
"""
from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Sequence
from typing import Any

from pyfuncdbg.hooks import process_invitations
from pyfuncdbg.hooks.facts import report
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.hooks.process_invitations import Invitation
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.traceback_frames import without_own_frames
from pyfuncdbg.hosts.torch.host import TorchHost
from pyfuncdbg.hosts.torch.loader.dataset_items import LoaderFunctions
from pyfuncdbg.hosts.torch.loader.loader_function import INIT
from pyfuncdbg.hosts.torch.python_calls.python_calls import PythonCalls
from pyfuncdbg.hosts.torch.thread_runs import ThreadRuns
from pyfuncdbg.hosts.torch.torch_parts import TorchParts

_WORKERS = 'torch.utils.data._utils.worker'
_PACKAGE = __name__.partition('.')[0]


class WorkerLoop:
    """The loop that stands in place of PyTorch's.

    Attributes:
        original: PyTorch's.
    """

    def __init__(self, original: Callable[..., Any], host: TorchHost, calls: PythonCalls, runs: ThreadRuns) -> None:
        functools.update_wrapper(self, original)
        self.original = original
        self._parameters = tuple(inspect.signature(original).parameters)
        self._host = host
        self._calls = calls
        self._runs = runs

    def install(self, patches: Patches, parts: TorchParts) -> None:
        """Replace PyTorch's with it."""
        patches.replace(parts.workers, '_worker_loop', self)

    @transparent
    def __call__(self, *args: Any) -> None:
        given = dict(zip(self._parameters, args, strict=False))
        try:
            if not self._calls.on or len(given) < len(args) or 'worker_id' not in given:
                self.original(*args)
                return
            if given.get('init_fn') is not None:
                given['init_fn'] = LoaderFunctions(self._host, self._calls).watched(given['init_fn'], INIT)
            with self._runs.within(self._runs.eager.new(f'DataLoader worker {given["worker_id"]}')):
                self._examined(self.original)(*given.values())
        except BaseException as error:
            error.__traceback__ = without_own_frames(error.__traceback__)
            raise

    @transparent
    def _examined(self, loop: Callable[..., None]) -> Callable[..., None]:
        """A loop at whose end its process reports what it has found, if the program is examined."""
        examination = self._calls.examination
        if examination is None:
            return loop

        def examined_loop(*args: Any) -> None:
            examination.begin()
            try:
                loop(*args)
            finally:
                report(examination.work_facts())
        return examined_loop

    def __reduce__(self) -> tuple[Any, ...]:
        invitations = process_invitations.invitations() if self._calls.on else ()
        if invitations and not _is_found_by_children():
            say(f'DataLoader workers that start afresh are not watched: {_PACKAGE} is not on sys.path there. Install it, or '
                "give the DataLoader multiprocessing_context='fork'")
        elif invitations:
            return worker_loop, (invitations,)
        return pkgutil.resolve_name, (f'{_WORKERS}:_worker_loop',)


def worker_loop(invitations: Sequence[Invitation]) -> Any:
    """The loop of a worker that has started afresh, which is watched from here on.

    Args:
        invitations: Of the process that has started it.
    """
    workers = importlib.import_module(_WORKERS)
    process_invitations.accept(invitations)
    return workers._worker_loop


def _is_found_by_children() -> bool:
    """Whether a process with this one's `sys.path` imports this package."""
    own = getattr(sys.modules[_PACKAGE], '__file__', None)
    for finder in sys.meta_path:
        if not type(finder).__module__.startswith(f'{_PACKAGE}.') and hasattr(finder, 'find_spec'):
            spec = finder.find_spec(_PACKAGE, None)
            if spec is not None:
                return spec.origin == own
    return False
