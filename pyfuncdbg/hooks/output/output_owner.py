"""Output owner: the call whose output gets what this context prints, warns or logs; and the program's line that does.

The watched streams, warnings, log records and NumPy errors ask here, on any thread that runs in the call's context.
"""
from __future__ import annotations

from contextvars import ContextVar
from types import CodeType, FrameType

from pyfuncdbg.hooks import source_map
from pyfuncdbg.hooks.call import Call, current
from pyfuncdbg.hooks.output.output import NO_OUTPUT, NOWHERE, Output, OutputKind, Place, lock
from pyfuncdbg.hooks.source_map import frame_behind_relays

# A host's frames say nothing to a user whose function is not a Python function (`np.sinh` as a py_func).
_MACHINERY = ('pyfuncdbg.hooks', 'pyfuncdbg.hosts')

muted_owner: ContextVar[Call | None] = ContextVar('pyfuncdbg_muted_call', default=None)
"""The call that does not get this context's output, while its own message is formatted or a command of the user is carried
out."""


def output_owner() -> Call | None:
    """The call whose output gets what this context prints, None without a capture."""
    call = current.get()
    if call is None or (call := call.output_owner) is None or call is muted_owner.get():
        return None
    return call


def add_output(call: Call, kind: OutputKind, text: str, category: str = '', place: Place = NOWHERE) -> None:
    """Add to the output of a call.

    Args:
        call: From `output_owner`.
        kind, text, category, place: As in `OutputEntry`.
    """
    output = call.output
    if output is None or output is NO_OUTPUT:
        with lock:
            if call.output_owner is not call:
                return
            output = call.output
            if output is None or output is NO_OUTPUT:
                output = Output(call.started)
                output.open = True
                call.output = output
    output.add(kind, text, category, place)


_places: dict[tuple[int, int], tuple[Place, CodeType]] = {}


def output_place(frame: FrameType | None) -> Place:
    """The file, line and function of a frame; blanks if it belongs to the host that called the function."""
    frame = frame_behind_relays(frame)
    if frame is None:
        return NOWHERE
    code = frame.f_code
    key = id(code), frame.f_lasti               # reading f_lineno walks the line table: 0.5 µs in a long function
    entry = _places.get(key)
    if entry is None:
        if len(_places) >= 4096:
            _places.clear()
        inside = str(frame.f_globals.get('__name__')).startswith(_MACHINERY)
        place_of_frame = NOWHERE if inside else source_map.place(frame)
        entry = _places[key] = place_of_frame, code      # the code stays alive, so its id stays its own
    return entry[0]
