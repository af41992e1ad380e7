"""IPython displays of answers and of the public objects: text, and HTML in a notebook.

Called on the main thread when a cell's value is displayed; `record.display` leads here.
"""
from __future__ import annotations

import dataclasses
import io
import sys
from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console, RenderableType

from pyfuncdbg.errors import DroppedError
from pyfuncdbg.observers.debug.gradients.tape import Tape
from pyfuncdbg.observers.debug.reports.summary import summarize
from pyfuncdbg.observers.record.record_contents import load_call, load_run
from pyfuncdbg.observers.record.records import CallRecord, Level, RunRecord, TensorRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.answer import Answer
from pyfuncdbg.ui.html.element import Html, element, joined
from pyfuncdbg.ui.html.page import page_html
from pyfuncdbg.ui.html.pages import MOST
from pyfuncdbg.ui.html.picture import call_pictures, load_pictures
from pyfuncdbg.ui.html.tape import tape_html
from pyfuncdbg.ui.html.tensors import tensors_html
from pyfuncdbg.ui.html.theme import display_html
from pyfuncdbg.ui.ipython.conversion import LISTS
from pyfuncdbg.ui.views.calls.call import call_card
from pyfuncdbg.ui.views.calls.calls import CallListing, call_table
from pyfuncdbg.ui.views.calls.run_card import ELEMENTS, run_view
from pyfuncdbg.ui.views.numerics.tape import tape_view
from pyfuncdbg.ui.views.page import Page
from pyfuncdbg.ui.views.reports.report import report
from pyfuncdbg.ui.views.tensors.tensors import TensorListing, tensor_heading
from pyfuncdbg.ui.views.tensors.value import value_view

WIDTH = 100
"""Columns of text that is kept in a notebook."""
LINES = 200
"""Lines of it: the text is there for where HTML is not shown, and a notebook is a file."""
CALLS = 200
"""Calls shown of a trace."""
_KEPT: Mapping[Level, str] = {'full': 'kept in full', 'stats': 'its statistics were kept', 'none': 'nothing of it was kept'}
Bundle = dict[str, str]


def answer_bundle(answer: Answer) -> Bundle:
    """The MIME bundle of the answer to a command."""
    if _in_terminal():
        return {'text/plain': terminal_text(answer)}
    if answer.as_json:
        return {'text/plain': answer.json}
    if answer.written:
        return _bundle(answer, lambda: page_html(answer))
    draw = answer.command.view
    data = shortened(answer.result, MOST)
    pictures = load_pictures(data) if draw is call_card else ()
    return _bundle(draw(shortened(data, LINES)), lambda: joined(_html(data, draw(data)), call_pictures(pictures)))


def bundle(thing: Any) -> Bundle:
    """The MIME bundle of a trace, a record of one, a tape or a page."""
    if isinstance(thing, Trace):
        return _trace(thing)
    view: RenderableType = thing if isinstance(thing, Page) else _VIEWS[type(thing)](thing)
    pictures = load_pictures(thing) if isinstance(thing, CallRecord) and not _in_terminal() else ()
    return _bundle(view, lambda: joined(_html(thing, view), call_pictures(pictures)))


def plain_text(view: RenderableType, width: int = WIDTH) -> str:
    """The output on a console without colour, without blanks at the ends of lines."""
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False, legacy_windows=False,
                      force_jupyter=False, _environ={})
    with console.capture() as captured:
        console.print(view, crop=False, highlight=False)
    return '\n'.join(line.rstrip() for line in captured.get().splitlines())


def terminal_text(view: RenderableType) -> str:
    """The output in this terminal, in its width and its colours."""
    console = Console(file=sys.stdout, force_jupyter=False)
    with console.capture() as captured:
        console.print(view, crop=False, highlight=False)
    return captured.get().rstrip('\n')


def shortened(data: Any, most: int) -> Any:
    """A result whose list is no longer than that."""
    for name in LISTS:
        rows = getattr(data, name, None)
        if isinstance(rows, list | tuple) and len(rows) > most and dataclasses.is_dataclass(data):
            return dataclasses.replace(data, **{name: rows[:most]})  # type: ignore[type-var]
    return data


def _in_terminal() -> bool:
    stream = sys.stdout
    try:
        return stream.isatty()
    except (AttributeError, ValueError):        # None, or closed
        return False


def _bundle(view: RenderableType, html: Callable[[], Html]) -> Bundle:
    if _in_terminal():
        return {'text/plain': terminal_text(view)}
    lines = plain_text(view).split('\n')
    text = '\n'.join(lines[:LINES]) + (f'\n... {len(lines) - LINES:,} further lines' if len(lines) > LINES else '')
    return {'text/plain': text, 'text/html': display_html(text, html())}


def _html(data: Any, view: RenderableType) -> Html:
    if isinstance(data, Tape):
        return tape_html(data)
    if isinstance(data, TensorListing):
        heading = tensor_heading(data.total, len(data.rows), filters=data.filters, sort=data.sort, bad=data.bad,
                                 dropped=data.dropped)
        return tensors_html(heading, data.rows, data.verdicts, data.sort, data.time_origin)
    return page_html(view)


def _trace(trace: Trace) -> Bundle:
    """The report, and the first calls of a notebook's."""
    view = report(summarize(trace))
    kind = 'python' if trace.count(kind='python') else None
    calls, total = trace.calls(kind=kind, limit=CALLS), trace.count(kind=kind)
    return _bundle(view, lambda: joined(page_html(view), element('details', element('summary', 'calls'), page_html(
        call_table(CallListing(calls, total)))) if calls else ''))


def _tensor(tensor: TensorRecord) -> Page:
    try:
        values = tensor.to_numpy() if tensor.level == 'full' else None
    except DroppedError:                        # damaged: the summary is there
        values = None
    return value_view(tensor, _KEPT[tensor.level], values)


_VIEWS: Mapping[type, Callable[[Any], Page]] = {
    CallRecord: lambda call: call_card(load_call(call)), RunRecord: lambda run: run_view(load_run(run, ELEMENTS)),
    TensorRecord: _tensor, Tape: tape_view}
