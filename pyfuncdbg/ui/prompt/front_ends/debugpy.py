"""Front end for VS Code and other clients of debugpy: their breakpoints in wrapped functions, our stops.

debugpy traces threads that Python made. A native thread it does not know on Python 3.11, and a thread-local trace function
would not last: the thread's Python state ends with each call. So it is notified at every call, on the thread of the call and
before the function starts. The hook is there once debugpy has been imported, and does something only while a client such as
VS Code is attached.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pyfuncdbg.hooks.transparent_frames import transparent

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import FrameType, ModuleType

    from pyfuncdbg.hooks.call import Call, Kind
    from pyfuncdbg.hooks.chain import Outputs
    from pyfuncdbg.observers.debug.debugger import Debugger
    from pyfuncdbg.observers.debug.stops.broker import Broker
    from pyfuncdbg.observers.debug.stops.stop import Stop

DEPTH = 90
"""Near to the function, but outside of what captures its output: debugpy may have to say something."""


class ThreadReporter:
    """The hook."""

    kinds: frozenset[Kind] = frozenset(('python',))
    passive = True

    @transparent
    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        debugpy = sys.modules.get('debugpy')
        # A thread that is traced already is debugpy's, or another tool's that must not lose it.
        if debugpy is not None and is_attached(debugpy):
            _silence()
            if sys.gettrace() is None:
                debugpy.debug_this_thread()
        return proceed()


def _silence() -> None:
    """Silence debugpy's warning about any `sys.settrace` but its own; ours restores what it found."""
    tracing = sys.modules.get('pydevd_tracing')
    holder = getattr(tracing, 'TracingFunctionHolder', None)
    if holder is not None:
        holder._warn = False


class DebugpyClient:
    """The front end: a stop becomes one of the client's at the same line. The client resumes or steps the thread.

    Args:
        debugger: Whose stops.
    """

    name = 'debugpy'
    priority = 100

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger

    def usable(self) -> bool:
        debugpy = sys.modules.get('debugpy')
        return debugpy is not None and is_attached(debugpy)

    def interact(self, stop: Stop, broker: Broker) -> None:
        from pyfuncdbg.hooks.notice import say  # here, for every `import pyfuncdbg` imports this module
        if stop.phase == 'call':                # as the client's own function breakpoints
            say(f'stopped: {stop.reason}')
            stop.decide('step')
            return
        if stop.phase == 'before' and stop.call is not None and stop.call.site.kind == 'python':
            say(f'stopped before {stop.call.site.name}: {stop.reason}')
            stop.decide('into')                 # the client shows frames, and the function has none yet
            return
        if stop.reason not in ('into', 'step'):     # reported before
            say(f'stopped: {stop.reason}')
        # Steps are the client's now; its trace function must not be taken for what was there before ours.
        self._debugger.plan(stop.thread).stepper.disarm()
        if stop.frames:
            frame = stop.frames[-1].frame
            _run_untraced(lambda: _suspend(frame))
        if stop.decision is None:
            stop.decide('cont')


def _suspend(frame: FrameType) -> None:
    """Hold this thread until the client lets it go on; then debugpy traces it, if it is to step."""
    import threading

    import debugpy
    import pydevd  # type: ignore[import-untyped,import-not-found,unused-ignore]
    from _pydevd_bundle.pydevd_comm_constants import CMD_SET_BREAK  # type: ignore[import-not-found]
    debugpy.debug_this_thread()
    database: Any = pydevd.get_global_debugger()
    if database is None:
        from pyfuncdbg.errors import PyfuncdbgError
        raise PyfuncdbgError('debugpy is loaded, but does not debug')
    thread = threading.current_thread()
    database.set_suspend(thread, CMD_SET_BREAK, suspend_other_threads=database.multi_threads_single_notification)
    database.do_wait_suspend(thread, frame, 'line', None)


def _run_untraced(action: Callable[[], None]) -> None:
    """Do it where Python traces nothing, not even by `sys.monitoring`: within a trace function, as debugpy itself does.

    Traced, debugpy would stop in its own waiting.
    """
    results, before = [], sys.gettrace()

    def trace(frame: FrameType, event: str, arg: Any) -> None:
        sys.settrace(before)
        results.append(True)
        action()
    sys.settrace(trace)
    (lambda: None)()
    if not results:                                # a trace function runs already
        sys.settrace(before)
        action()


class _Arrival:
    """An import finder that finds nothing: it notices the import of debugpy, in mid-program when VS Code attaches."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Asked for every module that is imported for the first time, or only looked for."""
        if name == 'debugpy' and _is_import():
            sys.meta_path.remove(self)
            _start()
        return None


def _is_import() -> bool:
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


def is_attached(debugpy: ModuleType) -> bool:
    """Whether a client is there; False while debugpy is still being imported."""
    connected = getattr(debugpy, 'is_client_connected', None)
    return connected is not None and bool(connected())


def _start() -> None:
    from pyfuncdbg.hooks.chain import hooks  # 10 ms, which a program without debugpy need not spend at import
    hooks.add(ThreadReporter(), depth=DEPTH)
