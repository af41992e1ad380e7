"""The stop card: the place of a thread, the source and the relevant values, as plain data.

Made on the stopped thread by the command `stop`.
"""
from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from traceback import walk_tb
from types import FrameType
from typing import Any

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.call import Call, CallSite, Frame
from pyfuncdbg.hooks.call_frames import STOP_REMARK, code_of
from pyfuncdbg.hooks.exception_message import exception_message
from pyfuncdbg.hooks.own_files import is_library
from pyfuncdbg.hooks.program_traceback import whole_traceback
from pyfuncdbg.hooks.source_map import (
    block_frames,
    enclosing_frame_ids,
    frame_line,
    function_variables,
    is_relay,
    place,
    program_code,
)
from pyfuncdbg.observers.debug.inspecting.backtrace import created_at
from pyfuncdbg.observers.debug.inspecting.creation_line import Unlocated, unlocated_reason
from pyfuncdbg.observers.debug.inspecting.displays import Displayed, displays
from pyfuncdbg.observers.debug.inspecting.remote_error import RemoteCall
from pyfuncdbg.observers.debug.inspecting.scope import host_of, node_inputs
from pyfuncdbg.observers.debug.inspecting.source_listing import Listing, Marks, context, function_head, line_of, lines_around
from pyfuncdbg.observers.debug.inspecting.stack import (
    Entry,
    FrameEntry,
    NodeEntry,
    RunEntry,
    in_copied_frames,
    site_inside,
    stack_of,
)
from pyfuncdbg.observers.debug.inspecting.tensor_differences import Difference
from pyfuncdbg.observers.debug.stops.stop import PYTHON, Phase, Stop
from pyfuncdbg.observers.debug.value import Value, describe_value
from pyfuncdbg.observers.record.snapshots.frame_locals import variable_order

NAMES = 8
"""Values on a card."""
_COUNTED = 1 << 20
"""Elements of the largest array that is summarised for a card."""


@dataclass(frozen=True, slots=True)
class CardValue:
    """A value on the card: its name in the function, and what else it is called."""

    name: str
    value: Value
    note: str


@dataclass(frozen=True, slots=True)
class RaisedError:
    """An error: its type, what it says, and the lines of the program that it went through, outermost first."""

    type: str
    message: str
    frames: tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class StopCard:
    """Place and values of a stopped thread.

    Attributes:
        number: Of the stop.
        phase: As in `Stop`.
        function, filename, line: Where in Python; '' and 0 if it is not in a function.
        node, op_type, ordinal, call: The node, and its call; '' and 0 if there is none.
        run, run_label: The run, 0 if there is none.
        position, nodes: How far the run is: node `position` of `nodes`, 0 if unknown.
        thread, thread_name: Native id, and Python's name.
        reason: Why it stopped.
        listing: Source around, None if there is none.
        created: Where the node was created, None if that does not matter here or is unknown; `created_text` is the line.
        values: What is shown; `hidden` others are not.
        values_are: What they are: 'inputs', 'outputs', 'feeds', 'locals', 'changed'.
        returned: What the function returns, at its return.
        raised: The error.
        displayed: Expressions of `display` that have changed.
        differences: What has come out differently since `swap` or `retry`.
        remark: The host's remark on the next node, or on a stop in this call, '' mostly.
        unlocated: Why it is not known where the node was created, '' mostly.
        enters: Whether `step` goes into the call or node from here: into its Python function, or the graph that it runs.
        repeatable: Whether `retry` can make the call again.
        steppable: Whether a next line can be gone to.
        remote: The call of another process that has raised the error; None if it was raised in this one.
        inputs: After a call, its inputs, as far as the card has room; `more_inputs` further ones are not shown.
    """

    number: int
    phase: Phase
    function: str
    filename: str
    line: int
    node: str
    op_type: str
    ordinal: int
    call: int
    run: int
    run_label: str
    position: int
    nodes: int
    thread: int
    thread_name: str
    reason: str
    listing: Listing | None
    created: Frame | None
    values: tuple[CardValue, ...]
    values_are: str
    hidden: int
    returned: Value | None
    raised: RaisedError | None
    displayed: tuple[Displayed, ...]
    differences: tuple[Difference, ...] = ()
    remark: str = ''
    unlocated: Unlocated = ''
    inputs: tuple[CardValue, ...] = ()
    more_inputs: int = 0
    created_text: str = ''
    enters: bool = False
    repeatable: bool = True
    steppable: bool = True
    remote: RemoteCall | None = None


def stop_card(stop: Stop, marks: Marks = lambda filename: ()) -> StopCard:
    """The card of a stop.

    Args:
        stop: The stop.
        marks: The lines of a file that have a breakpoint.
    """
    call, run = stop.call, stop.run
    frame = stop.frame if stop.phase in PYTHON else _innermost(stop) if stop.error is not None else None
    entry = stack_of(stop)[-1] if stack_of(stop) else None
    site = call.site if call is not None else entry.site if isinstance(entry, NodeEntry) else site_inside(stop)
    position, nodes = _position(stop, site)
    what, values = _values(stop, frame, entry)
    shown_values = values[:NAMES]
    inputs = list(_taken(stop, entry)) if stop.phase == 'after' else []
    room = NAMES - len(shown_values)
    line = 0 if frame is None else frame_line(frame) if stop.phase in PYTHON else _line(stop, frame)
    above = 0 if stop.phase == 'call' else (context.lines - 1) // 2
    listing = lines_around(frame, line, above, context.lines - 1 - above, marks) if frame is not None else (
        function_head(site.function, context.lines, marks) if site is not None and stop.phase == 'before' else None)
    created = created_at(site) if site is not None and listing is None else None
    code = program_code(frame.f_code) if frame is not None else None
    return StopCard(
        stop.number, stop.phase, code.co_name if code is not None else '', code.co_filename if code is not None else '',
        line, site.name if site is not None else '', site.op_type if site is not None else '',
        call.ordinal if call is not None else 0, call.id if call is not None else 0,
        run.id if run is not None else 0, run.title if run is not None else '', position, nodes, stop.thread,
        stop.thread_name, stop.reason, listing, created,
        tuple(shown_values), what, len(values) - len(shown_values),
        describe_value(stop.result, host_of(stop), items=0, counted=_COUNTED, copied=False) if stop.returns else None,
        _raised(stop.error) if stop.error is not None else None,
        tuple(one for one in displays.at(stop) if one.changed), stop.differences,
        run.remark if run is not None and stop.phase == 'node' else
        str(site.attrs.get(STOP_REMARK, '')) if site is not None else '',
        unlocated_reason(site.attrs) if site is not None and listing is None else '', tuple(inputs[:room]),
        len(inputs[room:]),
        line_of(created.filename, created.line) if created is not None else '',
        stop.phase in ('before', 'node') and site is not None and (
            code_of(site.function) is not None or site.can_be_entered),
        site is None or not site.traits.seen_afterwards, not in_copied_frames(stop))


def _innermost(stop: Stop) -> FrameType | None:
    """The frame that raised an error: the innermost one that is no library's."""
    entries = [entry for entry in stack_of(stop) if isinstance(entry, FrameEntry)]
    if stop.phase == 'error':                   # in the function of the call, not where that was called from
        nodes = [i for i, entry in enumerate(stack_of(stop)) if isinstance(entry, NodeEntry)]
        entries = [entry for entry in stack_of(stop)[nodes[-1] if nodes else 0:] if isinstance(entry, FrameEntry)]
    mine = [entry for entry in entries if not is_library(entry.frame.f_code.co_filename)]
    return (mine or entries)[-1].frame if entries else None


def _line(stop: Stop, frame: FrameType) -> int:
    return next((entry.line for entry in reversed(stop.frames) if entry.frame is frame), frame_line(frame))


def _position(stop: Stop, site: CallSite | None) -> tuple[int, int]:
    """Number of the node that runs or is next, from 1, and how many there are; 0, 0 if unknown."""
    view: Any = stop.run.control if stop.run is not None else None
    if view is not None and not hasattr(view, 'position'):
        view = view.look() if hasattr(view, 'look') else None
    if view is not None:
        return min(view.position + 1, len(view.sites)), len(view.sites)
    names = [one.name for one in stop.run.sites] if stop.run is not None else []
    return (names.index(site.name) + 1, len(names)) if site is not None and site.name in names else (0, 0)


def _values(stop: Stop, frame: FrameType | None, entry: object) -> tuple[str, list[CardValue]]:
    """The values that matter here, with the name of their kind."""
    def shown(name: str, value: Any) -> CardValue:
        return _card_value(stop, name, value)
    if stop.phase == 'after' and stop.call is not None:
        tensors = stop.call.site.outputs
        return 'outputs', [shown(tensors[i] if i < len(tensors) else f'out {i}', value)
                           for i, value in enumerate(stop.outputs or ())]
    if frame is not None:
        if frame.f_code.co_name == '<module>':
            return 'locals', []
        values = local_values(frame)
        if stop.changed is not None and stop.phase != 'exception':
            return 'changed', [shown(name, value) for name, value in values.items() if name in stop.changed]
        return 'locals', [shown(name, value) for name, value in values.items()]
    if isinstance(entry, NodeEntry):
        return 'inputs', list(_inputs(stop, entry))
    if isinstance(entry, RunEntry) and entry.call is not None:
        return 'feeds', list(_feeds(stop, entry.call))
    return '', []


def _card_value(stop: Stop, name: str, value: Any, note: str = '') -> CardValue:
    return CardValue(name, describe_value(value, host_of(stop), items=0, counted=_COUNTED, copied=False), note)


def _inputs(stop: Stop, entry: NodeEntry) -> Iterator[CardValue]:
    for index, (name, tensor, read) in enumerate(node_inputs(stop, entry)):
        label = name or tensor or f'input {index}'
        try:
            yield _card_value(stop, label, read(), tensor if tensor != label else '')
        except CommandError as error:
            yield CardValue(label, Value('', str(error).partition('\n')[0]), '')


def _taken(stop: Stop, entry: Entry | None) -> Iterator[CardValue]:
    """What a call that is over has got."""
    if isinstance(entry, NodeEntry):
        yield from _inputs(stop, entry)
    elif isinstance(entry, RunEntry) and entry.call is not None:
        yield from _feeds(stop, entry.call)


def _feeds(stop: Stop, call: Call) -> Iterator[CardValue]:
    for index, value in enumerate(call.inputs):
        yield _card_value(stop, call.run.feeds[index] if index < len(call.run.feeds) else f'feed {index}', value)


def local_values(frame: FrameType) -> dict[str, Any]:
    """The variables of a frame, and of the function that it is a block of: parameters first, then in order of the function's
    text; no dunder names, no modules."""
    order: dict[str, tuple[int, int]] = {}
    for depth, one in enumerate(block_frames(frame)):
        for name, index in variable_order(program_code(one.f_code)).items():
            order.setdefault(name, (depth, index))
    values = {name: value for name, value in function_variables(frame).items()
              if not name.startswith(('__', '.')) and not inspect.ismodule(value)}
    return dict(sorted(values.items(), key=lambda item: order.get(item[0], (len(order), 0))))


def _raised(error: BaseException) -> RaisedError:
    went = [(frame, line) for frame, line in walk_tb(whole_traceback(error)) if not is_relay(frame.f_code.co_filename)]
    same = enclosing_frame_ids(frame for frame, _ in went)
    frames = tuple(place(frame, line) for frame, line in went if id(frame) not in same)
    return RaisedError(type(error).__name__, exception_message(error), frames)

