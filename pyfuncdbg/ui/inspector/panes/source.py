"""The source pane: the function of the call, the line where it went wrong, and values beside the lines."""
from __future__ import annotations

import ast
import textwrap

from rich.text import Text

from pyfuncdbg.hooks.syntax_tree import tree_of
from pyfuncdbg.observers.debug.inspecting.creation_line import unlocated_reason
from pyfuncdbg.observers.debug.inspecting.source_listing import Listing
from pyfuncdbg.observers.record.records import CallRecord, SiteRecord
from pyfuncdbg.observers.record.sources.source_text import lines_of
from pyfuncdbg.ui.inspector.desks.desk import Desk
from pyfuncdbg.ui.inspector.lists.drawn_lines import DrawnPicture, PicturePart
from pyfuncdbg.ui.inspector.panes import stop_panes
from pyfuncdbg.ui.inspector.panes.scene import Scene, empty_hint
from pyfuncdbg.ui.views.calls.call import input_names
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.sources.source import excerpt, place, unlocated_text
from pyfuncdbg.ui.views.sources.source_values import beside_lines, tensor_note


def source(desk: Desk, scene: Scene, width: int) -> DrawnPicture:
    """The source of the call."""
    if scene.stopped:
        return stop_panes.source(desk, width)
    if scene.call is None:
        return empty_hint('source', desk)
    call = scene.call
    if not call.site.source and call.site.kind == 'gradient':
        return _backward(desk, call)
    return _of_call(call)


def _backward(desk: Desk, call: CallRecord) -> DrawnPicture:
    """A backward step: the function of its forward call; without one, where the forward node was created."""
    if call.forward:
        forward = _of_call(desk.trace.call(call.forward))
        return DrawnPicture(f'{forward.title}  forward call #{one_line(call.forward, 20)}', forward.parts)
    site = next((site for site in desk.trace.sites() if site.process == call.process
                 and site.name == call.site.name.removesuffix('_grad')), call.site)
    return DrawnPicture(f'source  {one_line(site.name, 60)}', _without(site))


def _of_call(call: CallRecord) -> DrawnPicture:
    site = call.site
    title = f'source  {site.function or site.name}  {place(site.filename, site.line).plain if site.filename else ""}'
    if not site.source:
        return DrawnPicture(title.rstrip(), _without(site))
    lines = tuple(lines_of(site.source))
    current = _current(call, len(lines))
    listing = Listing(site.filename, site.function, site.line, lines, current=current)
    notes = _notes(call)
    return DrawnPicture(title, [PicturePart(line, chosen=number == current)
                                for number, line in enumerate(beside_lines(listing, notes), site.line)])


def _without(site: SiteRecord) -> list[PicturePart]:
    """A node without source: where it was created, what is known of its function."""
    parts = []
    if site.function:
        parts.append(PicturePart(Text(f'the source of {one_line(site.function, 80)} was not recorded', 'dim',
                                      overflow='fold')))
    else:
        parts.append(PicturePart(Text(f'{one_line(site.op_type, 60)} calls no Python function', 'dim', overflow='fold')))
    if site.stack:
        created = site.stack[-1]
        parts.append(PicturePart(Text.assemble('created at ', place(created.filename, created.line, full=True),
                                               f' in {one_line(created.function, 80)}', overflow='fold')))
        parts.append(PicturePart(excerpt(site.source_at(created.filename, created.line), created.line, before=5, after=5)))
    elif (reason := unlocated_text(unlocated_reason(site.attrs))) is not None:
        parts.append(PicturePart(reason))
    return parts


def _current(call: CallRecord, count: int) -> int:
    """The line that raised, or that NumPy complained of where the outputs are not finite; 0 if none is known."""
    site = call.site
    inside = range(site.line, site.line + count)
    if call.error is not None:
        return next((frame.line for frame in reversed(call.error.frames)
                     if frame.filename == site.filename and frame.line in inside), 0)
    if any(tensor.stats is not None and tensor.stats.bad for tensor in call.outputs):
        return next((record.line for record in call.output
                     if record.kind in ('fp', 'warning') and record.filename == site.filename and record.line in inside), 0)
    return 0


def _notes(call: CallRecord) -> dict[int, list[Text]]:
    """Notes beside the lines: arguments, warnings, the error, results."""
    site = call.site
    notes: dict[int, list[Text]] = {}
    names = input_names(call)
    head, returns = _places(site.source)
    for slot, tensor in enumerate(call.inputs):
        notes.setdefault(site.line + head, []).append(tensor_note(names[slot] or f'in {slot}', tensor))
    noted: set[tuple[int, str]] = set()
    for record in call.output:
        if record.filename == site.filename and record.kind in ('warning', 'fp') and (record.line, record.text) not in noted:
            noted.add((record.line, record.text))
            notes.setdefault(record.line, []).append(Text(one_line(record.text, 80), 'yellow'))
    if call.error is not None:
        for frame in reversed(call.error.frames):
            if frame.filename == site.filename:
                text = f'{call.error.type}: {call.error.message}'.rstrip(': ')
                notes.setdefault(frame.line, []).append(Text(one_line(text, 120), 'bold red'))
                break
    if len(returns) == 1:
        for slot, tensor in enumerate(call.outputs):
            name = 'out' if len(call.outputs) == 1 else f'out {slot}'
            notes.setdefault(site.line + returns[0], []).append(tensor_note(name, tensor))
    return notes


def _places(text: str) -> tuple[int, list[int]]:
    """The lines of the `def` and of the own returns in a function's text, counted from 0."""
    tree = tree_of(textwrap.dedent(text)) if len(text) <= 100_000 else None
    function = next((node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)),
                    None) if tree is not None else None
    if function is None:
        return 0, [0] if len(lines_of(text)) == 1 else []
    returns: list[int] = []
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Return):
            returns.append(node.lineno - 1)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            stack += ast.iter_child_nodes(node)
    return function.lineno - 1, sorted(returns)
