"""pyfuncdbg: an interactive debugger and tracer for Python functions inside dataflow graphs.

The front door. What it names is imported at first use, so `import pyfuncdbg` costs NumPy and no more.

    from pyfuncdbg import tf                    the graph runtime, under TensorFlow's names
    with pyfuncdbg.record('bug.pfd'): ...       record every wrapped call
    trace = pyfuncdbg.load('bug.pfd')           look at a trace
    pyfuncdbg.breakpoint()                      stop here; in a wrapped function, breakpoint() does the same
    pyfuncdbg.pm()                              look at the frames of the last error
    pyfuncdbg.break_at('norm', 'has_nan(out)')  stop at a node, a function or a line
    with pyfuncdbg.against('bug.pfd'): ...      stop where the calls first differ from a recording
    sess = pyfuncdbg.DebugSession(sess)         stop before and after every run
    with pyfuncdbg.debug(): ...                 stop at the first wrapped call or traced function
    pyfuncdbg.attach('tensorflow')              all this for the real TensorFlow
    with pyfuncdbg.distributed.attach(client, 'job.pfd'): ...   record the workers of a Dask cluster
"""
from __future__ import annotations

from pyfuncdbg.hooks import search_path as _search_path

_search_path.sort_for_launcher()                # before anything is imported that the program's folders may shadow

import importlib  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
from typing import TYPE_CHECKING, Any, Literal, overload  # noqa: E402

from pyfuncdbg.hooks.public_function import hide_own_frames as _for_program  # noqa: E402
from pyfuncdbg.observers.record.display import set_display as _show_with  # noqa: E402
from pyfuncdbg.observers.record.replay_slot import set_audit as _audit_with, set_replay as _replay_with  # noqa: E402
from pyfuncdbg.ui.prompt import breakpoint_builtin as _breakpoint_builtin  # noqa: E402
from pyfuncdbg.ui.prompt.breakpoint_builtin import stop as breakpoint  # noqa: E402
from pyfuncdbg.ui.prompt.front_ends import debugpy as _debugpy  # noqa: E402

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pyfuncdbg.observers.debug.breakpoints.breakpoint import Breakpoint
    from pyfuncdbg.observers.debug.comparison.live_comparison import LiveComparison
    from pyfuncdbg.observers.record.flight.flight_recorder import FlightRecorder
    from pyfuncdbg.observers.record.recorder import Recorder
    from pyfuncdbg.observers.record.trace import Trace
    from pyfuncdbg.session import DebugSession

__version__ = '0.1.0'

__all__ = ['DebugSession', '__version__', 'absmax', 'against', 'attach', 'break_at', 'breakpoint', 'condition', 'debug',
           'detach', 'has_inf', 'has_inf_or_nan', 'has_nan', 'load', 'norm', 'pm', 'record', 'zeros']


@overload
def record(path: str | Path | None = None, *, keep_on: None = None, **options: Any) -> Recorder: ...


@overload
def record(path: str | Path | None = None, *, keep_on: object, **options: Any) -> FlightRecorder: ...


@_for_program
def record(path: str | Path | None = None, *, keep_on: object = None, **options: Any) -> Recorder | FlightRecorder:
    """Record every wrapped call into a new trace, inside `with` or from `start()` to `stop()`.

        with pyfuncdbg.record(keep_on='has_nan(out)', before=200, after=50): ...

    Args:
        path: Folder of the trace, to be made; by default a new one here, named after the time.
        keep_on: A condition as for `break_at`, or a list of them: record into memory, and write a trace only of the calls
            around one where it holds; the first is NAME.pfd, the next NAME-2.pfd.
        **options: `budget` in bytes, `ops` to record graph nodes too, and more; see `Recorder`. With `keep_on` also how many
            calls to keep `before` and `after` it, and in how many traces (`keep_most`); see `FlightRecorder`.

    Returns:
        The recorder, not started yet.

    Raises:
        TraceError: The options are not valid; on entry, the trace cannot be made there.
        CommandError: `keep_on` is no condition.
    """
    from pyfuncdbg import hosts
    from pyfuncdbg.observers.record.log.trace_folder import fresh_path
    from pyfuncdbg.observers.record.recorder import Recorder
    hosts.notify_unattached()
    place = fresh_path() if path is None else path
    if keep_on is not None:
        from pyfuncdbg.ui.commands.programs.flight_options import flight_recorder
        return flight_recorder(place, keep_on, **options)
    return Recorder(place, **options)


@_for_program
def debug(what: Any = None, ui: Literal['auto', 'inspector', 'prompt', 'none'] = 'auto') -> Any:
    """Debug a session, a function, a `tf.function` or a PyTorch module; without arguments, the calls inside `with`.

    Args:
        what: A session, or a callable whose calls are debugged.
        ui: Front end: 'auto', 'inspector', 'prompt', or 'none', which logs stops.

    Returns:
        A `DebugSession`, a debugged callable, the module itself, or a context manager.

    Raises:
        CommandError: `what` is neither, or there is no such `ui`.
    """
    from pyfuncdbg.session import debug
    return debug(what, ui)


_breakpoint_builtin.install()


@_for_program
def pm(error: BaseException | None = None) -> None:
    """Look at the frames of an error that is over.

    Args:
        error: The error; by default the one that was printed last.

    Raises:
        CommandError: There is none, or it has no frames.
    """
    from pyfuncdbg.ui.prompt.postmortem import pm
    pm(error)


_WORDS = {'has_nan': 'predicate', 'has_inf': 'predicate', 'has_inf_or_nan': 'predicate', 'condition': 'predicate',
          'norm': 'vocabulary', 'absmax': 'vocabulary', 'zeros': 'vocabulary'}


def __getattr__(name: str) -> Any:
    if name in _WORDS:
        return getattr(importlib.import_module(f'pyfuncdbg.observers.debug.conditions.{_WORDS[name]}'), name)
    if name in ('attach', 'detach'):
        from pyfuncdbg import hosts
        return getattr(hosts, name)
    if name == 'distributed':
        return importlib.import_module('pyfuncdbg.distributed')
    if name == 'DebugSession':
        from pyfuncdbg.session import DebugSession
        return DebugSession
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


@_for_program
def break_at(spec: str, when: Any = None, **options: Any) -> Breakpoint:
    """Stop at a node, a function, an op type, a call or a line, and begin to debug.

        pyfuncdbg.break_at('norm', 'has_nan(out) and x.std() > 0')
        pyfuncdbg.break_at('model.py:41', 'sd.min() == 0', once=True)
        pyfuncdbg.break_at('norm', pyfuncdbg.has_nan & ~pyfuncdbg.has_inf, do='log')

    Args:
        spec: Node name, glob, op type, function name, 'FILE:LINE', '#17' or 'norm[3]'. It need not exist yet.
        when: Text over the function's parameters, `out`, `inputs`, `call`, `history`; a Python function of the call; or made
            of `has_nan` and its kin by `&`, `|`, `~`. At a line: text over the variables there, or a Python function whose
            parameters name those that it looks at, as in `lambda sd, mu: sd.min() == mu`.
        **options: `timing` ('before', 'after-call', 'error', 'gradient'), `once`, `every`, `after`, `do` ('stop', 'log',
            'snap'); as in the command `break`.

    Returns:
        The breakpoint.

    Raises:
        CommandError: An argument is not valid; nothing is set.
    """
    from pyfuncdbg.observers.debug.debugger import debugger
    from pyfuncdbg.ui.prompt.install import install
    breakpoint_set = debugger.breakpoints.set(spec, when, **options)
    install(debugger)
    debugger.start()
    return breakpoint_set


@_for_program
def against(path: str | Path, *, ignore: str = '', rtol: float = 0.0, atol: float = 0.0,
            ulp: int = 0) -> AbstractContextManager[LiveComparison]:
    """Compare what the program calls in a `with` block with a recording, and stop at the first divergence.

        with pyfuncdbg.record('new.pfd'), pyfuncdbg.against('good.pfd', ulp=2) as comparison:
            train()
        assert comparison.first is None

    Prints and warnings are compared where the calls are recorded too. A line on stderr says at the end what was found.

    Args:
        path: Folder of the recording; the block makes its calls from the first one on.
        ignore: Kinds of differences that do not count, such as 'print,warning'.
        rtol, atol: Elements are equal if |now - then| <= atol + rtol * |then|; 0 for bit for bit.
        ulp: Floats are equal if at most so many representable numbers apart.

    Returns:
        For `with`; its value has the `first` divergence, None if there is none.

    Raises:
        CommandError: An option is not valid.
        TraceError: On entry: the recording cannot be read.
    """
    from argparse import Namespace

    from pyfuncdbg.observers.debug.debugger import debugger
    from pyfuncdbg.ui.commands.programs.reference_recording import compared_block
    from pyfuncdbg.ui.prompt.install import install
    install(debugger)
    options = Namespace(ignore=ignore or None, rtol=repr(rtol), atol=repr(atol), ulp=str(ulp) if ulp else None)
    return compared_block(str(path), options, debugger)


@_for_program
def load(path: str | Path) -> Trace:
    """Open a trace, of a finished recording or of one that is still growing.

    Args:
        path: Its folder.

    Returns:
        The trace; close it after use.

    Raises:
        NotATraceError, TraceVersionError: The folder cannot be read as a trace; nothing in it is ever executed.
    """
    from pyfuncdbg.observers.record.trace import Trace
    return Trace.open(path)


def load_ipython_extension(shell: Any) -> None:
    """Install the magics: `%load_ext pyfuncdbg` calls this.

    Args:
        shell: The IPython shell.
    """
    from pyfuncdbg.ui.ipython.extension import load
    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Remove the magics: `%unload_ext pyfuncdbg` calls this.

    Args:
        shell: The IPython shell.
    """
    from pyfuncdbg.ui.ipython.extension import unload
    unload(shell)


def _replayed(trace: Trace, call: Any, **options: Any) -> Any:
    """A replay of a recorded call, by what finds the program's functions and hosts."""
    return importlib.import_module('pyfuncdbg.ui.commands.replay').replay_call(trace, call, **options)


def _audited(trace: Trace, **options: Any) -> Any:
    """An audit of recorded functions, by what finds the program's functions and hosts."""
    return importlib.import_module('pyfuncdbg.ui.commands.audit').audit_trace(trace, **options)


def _displayed(thing: Any) -> dict[str, str]:
    from pyfuncdbg.ui.ipython.displays import bundle
    return bundle(thing)


_show_with(_displayed)
_replay_with(_replayed)
_audit_with(_audited)
_debugpy.watch()
if 'IPython' in sys.modules:
    from pyfuncdbg.ui.ipython import stub as _stub
    _stub.install()
    del _stub
if os.environ.get('PYFUNCDBG_LISTEN', '0') not in ('', '0'):
    from pyfuncdbg.ui.commands.socket import listen as _socket
    _socket.listen_in_program()
    del _socket
