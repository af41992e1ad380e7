"""VS Code's breakpoints in wrapped functions: debugpy is told of each thread that comes to one, before the function starts.

debugpy traces threads that Python made. A native thread it does not know on Python 3.11, and a thread-local trace function
would not last: the thread's Python state ends with each call. So it is told at every call, on the thread of the call. The
hook is there once debugpy has been imported, and does something only while a client such as VS Code is attached.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import FrameType, ModuleType

    from pyfuncdbg.hooks.call import Call, Kind
    from pyfuncdbg.hooks.chain import Outputs

DEPTH = 90
"""Near to the function, but outside of what captures its output: debugpy may have to say something."""


class ThreadTeller:
    """The hook."""

    kinds: frozenset[Kind] = frozenset(('python',))
    passive = True

    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        debugpy = sys.modules.get('debugpy')
        # A thread that is traced already is debugpy's, or somebody else's who must not lose it.
        if debugpy is not None and sys.gettrace() is None and attached(debugpy):
            debugpy.debug_this_thread()
        return proceed()


class _Arrival:
    """Finds nothing: notices that debugpy is imported, which happens in mid-program when VS Code attaches to a process."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Asked for every module that is imported for the first time, or that somebody only looks for."""
        if name == 'debugpy' and _importing():
            sys.meta_path.remove(self)
            _start()
        return None


def _importing() -> bool:
    """Whether the import system asks, and not `importlib.util.find_spec`."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith('<frozen importlib'):
        if frame.f_code.co_name == '_find_and_load':
            return True
        frame = frame.f_back
    return False


def watch() -> None:
    """At import: begin if debugpy is there, else when it comes."""
    if 'debugpy' in sys.modules:
        _start()
    elif not any(isinstance(finder, _Arrival) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Arrival())


def attached(debugpy: ModuleType) -> bool:
    """Whether a client is there; False while debugpy is still being imported."""
    connected = getattr(debugpy, 'is_client_connected', None)
    return connected is not None and bool(connected())


def _start() -> None:
    from pyfuncdbg.hooks.chain import hooks  # 10 ms, which a program without debugpy need not spend at import
    hooks.add(ThreadTeller(), depth=DEPTH)
