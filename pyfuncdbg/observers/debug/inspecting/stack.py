"""The combined stack of graph and Python. It holds the user's frames, the run they asked for, its nodes from the fetch down,
and the frames of the node's function.

Worked out on the stopped thread on request; a stop keeps it (`Stop.stack`).
"""
from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FrameType

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.call import Call, CallSite, Run
from pyfuncdbg.hooks.call_frames import Entrance, failed_node, read_entrance
from pyfuncdbg.hooks.current_frames import current_frames
from pyfuncdbg.hooks.own_files import is_cell_runner, is_machinery
from pyfuncdbg.hooks.program_traceback import is_host_error, whole_traceback
from pyfuncdbg.hooks.source_map import line_of, program_line
from pyfuncdbg.observers.debug.stops.stop import PYTHON, Stop


@dataclass(frozen=True, slots=True)
class RunEntry:
    """A run: what the frame above has asked for.

    Attributes:
        run: The run.
        call: Its own call, with feeds and fetches, where it has one.
    """

    run: Run
    call: Call | None = None


@dataclass(frozen=True, slots=True)
class NodeEntry:
    """A node of a run.

    Attributes:
        site: The node.
        run: Its run.
        call: Its call that runs; None for one that has not begun.
        waits: It needs the output of the entry below; otherwise it is the node that runs, or is next.
        around: The entries below are a part of it: of a branch, or one iteration of a loop.
    """

    site: CallSite
    run: Run
    call: Call | None = None
    waits: bool = False
    around: bool = False


@dataclass(frozen=True, slots=True)
class FrameEntry:
    """A live Python frame of the program and the program's line it is at."""

    frame: FrameType
    line: int


Entry = RunEntry | NodeEntry | FrameEntry


def stack_of(stop: Stop) -> tuple[Entry, ...]:
    """The stack of a stop, outermost first."""
    if stop.stack is None:
        stop.stack = tuple(_Builder(stop).build())
    return stop.stack


def site_inside(stop: Stop) -> CallSite | None:
    """The innermost node that runs or is next; None outside of any."""
    nodes = [entry for entry in stack_of(stop) if isinstance(entry, NodeEntry) and not entry.waits]
    return nodes[-1].site if nodes else None


def in_copied_frames(stop: Stop) -> bool:
    """Whether its frames are copies, with values, of those of a function that has no lines to step through."""
    site = site_inside(stop) if stop.phase in PYTHON else None
    return site is not None and site.traits.copied_frames


def is_copy_selected(stop: Stop) -> bool:
    """Whether the selected entry is a frame that is a copy: it is inside of the call; those around it are live."""
    inner = selected_index(stop)
    return in_copied_frames(stop) and any(isinstance(entry, NodeEntry) for entry in stack_of(stop)[:inner])


def selected_index(stop: Stop) -> int:
    """Index in the stack of the selected entry."""
    stack = stack_of(stop)
    if stop.selected is not None:
        return min(stop.selected, len(stack) - 1)
    if stop.phase in PYTHON:
        for index in range(len(stack) - 1, -1, -1):
            entry = stack[index]
            if isinstance(entry, FrameEntry) and entry.frame is stop.frame:
                return index
    return len(stack) - 1


def selected_entry(stop: Stop) -> Entry | None:
    """The selected entry, None of an empty stack: a native thread outside of any call."""
    stack = stack_of(stop)
    return stack[selected_index(stop)] if stack else None


def selected_frame(stop: Stop) -> FrameType | None:
    """The selected Python frame, None at a node or run."""
    entry = selected_entry(stop)
    return entry.frame if isinstance(entry, FrameEntry) else None


def move_selection(stop: Stop, by: int) -> Entry:
    """Select another entry: outwards for negative numbers.

    Raises:
        CommandError: The selected one is the last in that direction.
    """
    stack = stack_of(stop)
    index = selected_index(stop)
    if not stack or (by < 0 and index == 0) or (by > 0 and index == len(stack) - 1):
        raise CommandError(f'this is the {"outermost" if by < 0 else "innermost"} entry of the stack')
    stop.selected = min(max(index + by, 0), len(stack) - 1)
    stop.listed = 0
    entry: Entry = stack[stop.selected]
    return entry


def nearest_entrance(frame: FrameType | None) -> Entrance | None:
    """The wrapped call that a frame is in, the innermost of them."""
    while frame is not None:
        if is_machinery(frame.f_code.co_filename):
            found = read_entrance(frame)
            if found is not None and found.site.kind != 'run':
                return found
        frame = frame.f_back
    return None


def consumers(run: Run, site: CallSite, sites: Sequence[CallSite]) -> list[CallSite]:
    """The shortest way from a fetch of a run to a node: nodes that wait for it, fetched one first; without the node."""
    fetched = set(run.fetches)
    users: dict[str, list[CallSite]] = {}
    for one in sites:
        for name in one.inputs:
            users.setdefault(name, []).append(one)
    came_from: dict[str, CallSite | None] = {site.name: None}
    queue = deque([site])
    while queue:
        node = queue.popleft()
        if not fetched.isdisjoint(node.outputs):
            path: list[CallSite] = []
            while node.name != site.name:
                path.append(node)
                before = came_from[node.name]
                assert before is not None
                node = before
            return path
        for name in node.outputs:
            for user in users.get(name, ()):
                if user.name not in came_from:
                    came_from[user.name] = node
                    queue.append(user)
    return []


class _Builder:
    """Builder of the stack of one stop."""

    def __init__(self, stop: Stop) -> None:
        self._stop = stop
        self._entries: list[Entry] = []
        self._open: set[int] = set()
        self._segment: set[tuple[int, str]] = set()

    def build(self) -> list[Entry]:
        """All entries, outermost first."""
        stop = self._stop
        for frame, line in _frames(stop):
            if not is_machinery(frame.f_code.co_filename):
                self._entries.append(FrameEntry(frame, program_line(frame.f_code, line)))
                self._segment.clear()
            elif (entrance := read_entrance(frame)) is not None:
                self._enter(entrance.site, entrance.run, entrance.call)
            elif (failure := failed_node(frame)) is not None:
                self._enter(*failure, None)
        if stop.phase in ('before', 'after', 'run', 'end') and stop.call is not None:
            self._enter(stop.call.site, stop.call.run, stop.call)
        elif stop.phase in ('node', 'error') and stop.call is None and stop.run is not None:
            self._at_node(stop.run)
        return self._entries

    def _at_node(self, run: Run) -> None:
        control = self._stop.control
        sites = control.sites if control is not None else ()
        if control is None or control.position >= len(sites):
            self._begin(run)
        else:
            self._enter(sites[control.position], run, None)

    def _begin(self, run: Run, call: Call | None = None) -> None:
        if run.id not in self._open:
            self._open.add(run.id)
            if call is not None or run.control is not None or run.fetches:
                self._entries.append(RunEntry(run, call))

    def _enter(self, site: CallSite, run: Run, call: Call | None) -> None:
        if site.kind == 'run':
            self._begin(run, call)
            return
        if (run.id, site.name) in self._segment:
            last = self._entries[-1]            # the node hook and the function hook report the same place
            if isinstance(last, NodeEntry) and call is not None and (last.call is None or site.kind == 'python'):
                self._entries[-1] = NodeEntry(site, run, call)
            return
        self._segment.add((run.id, site.name))
        outermost = run.id not in self._open or not any(
            isinstance(entry, NodeEntry) and entry.run is run for entry in self._entries)
        self._begin(run)
        if outermost:
            entries = self._around(site, run)
            for one in consumers(run, entries[0] if entries else site, run.sites):
                self._entries.append(NodeEntry(one, run, waits=True))
            self._entries += [NodeEntry(one, run, around=True) for one in entries]
        self._entries.append(NodeEntry(site, run, call))

    def _around(self, site: CallSite, run: Run) -> Sequence[CallSite]:
        """The nodes of a run that one of its nodes is a part of."""
        if run is not self._stop.run or run.control is None:
            return ()
        view = run.control.look()
        return view.within if view is not None and any(one.name == site.name for one in view.sites) else ()


def _frames(stop: Stop) -> Iterator[tuple[FrameType, int]]:
    """Every frame, ours too: from the outermost to the stopped one, then those that an error went through."""
    frames = _frames_around(stop.frame)
    waits = stop.run.thread if stop.run is not None else 0
    if waits not in (0, stop.thread):           # the program waits there for this thread
        idents = [one.ident for one in threading.enumerate() if one.native_id == waits]
        frames = [*_frames_around(current_frames().get(idents[0] or 0) if idents else None), *frames]
    ids = {id(frame) for frame, _ in frames}
    yield from frames
    for error in _errors(stop):
        traceback = whole_traceback(error)
        while traceback is not None:
            if id(traceback.tb_frame) not in ids:
                ids.add(id(traceback.tb_frame))
                yield traceback.tb_frame, traceback.tb_lineno
            traceback = traceback.tb_next


def _frames_around(frame: FrameType | None) -> list[tuple[FrameType, int]]:
    """A frame and those around it, the outermost first."""
    frames: list[tuple[FrameType, int]] = []
    while frame is not None and not is_cell_runner(frame.f_code):
        frames.append((frame, line_of(frame)))
        frame = frame.f_back
    return frames[::-1]


def raised_by_host(error: BaseException) -> bool:
    """Whether the host made this error of another one: it was raised in our own code, or is marked as such."""
    if is_host_error(error):
        return True
    traceback = whole_traceback(error)
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and is_machinery(traceback.tb_frame.f_code.co_filename)


def original_error(error: BaseException) -> BaseException:
    """The error that the host made this one of, with frames; the error itself if the host made it from none."""
    while raised_by_host(error) and error.__cause__ is not None and error.__cause__.__traceback__ is not None:
        error = error.__cause__
    return error


def _errors(stop: Stop) -> list[BaseException]:
    """The errors whose frames make up the stack: the selected one, after the host's error made from it."""
    if stop.error is None:
        return []
    errors = [stop.error]
    known = list(stop.chain)
    while stop.phase in ('post-mortem', 'end') and known:
        outer = known.pop()
        if outer is stop.error:
            break
        if raised_by_host(outer):
            errors.insert(len(errors) - 1, outer)
    return errors
