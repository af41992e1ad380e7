"""The traceback panel: starts at the user's frames, with their variables; frames of libraries and ours are folded.

Named `error`, not `traceback`, so that running it as a script does not hide the standard module.

Of too many variables of a frame, those with NaN or infinity are kept first.
"""
from __future__ import annotations

import itertools
from dataclasses import replace

from rich.console import ConsoleOptions
from rich.panel import Panel
from rich.text import Text

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.own_files import is_program_file
from pyfuncdbg.observers.record.records import ErrorRecord, FrameRecord, LocalRecord, TensorRecord
from pyfuncdbg.observers.record.sources.source_text import NOT_LOADED
from pyfuncdbg.ui.views.escape import one_line, visible
from pyfuncdbg.ui.views.page import Page
from pyfuncdbg.ui.views.pictures.histogram import histogram_bar
from pyfuncdbg.ui.views.sources.listing import cut_line
from pyfuncdbg.ui.views.sources.source import line_text, place
from pyfuncdbg.ui.views.tensors.tensor import tensor_line
from pyfuncdbg.ui.views.tensors.variable import elements
from pyfuncdbg.ui.views.units import value as number

INDENT = 9
ALL = 20
"""Variables shown of a frame that matters most."""
_WIDE = 100
"""Columns from which on a tensor's range stands on its line too."""
_LONGEST_NAME = 24
_NAMES = 10
"""Columns of the names: longer ones push their values aside."""
_NOT_FINITE = ('nan', 'inf', '-inf')
MOST_FRAMES = 12
MOST_MESSAGE = 2000
WIDEST = 120
OUTER_LOCALS = 5
"""Variables shown of each frame but the innermost."""


def local_lines(frame: FrameRecord, width: int, options: ConsoleOptions, most: int) -> list[Text]:
    """A line for each variable.

    Args:
        frame: The frame's variables.
        width: Columns; what is longer is cut.
        options: Of the console.
        most: At most so many, those with NaN or infinity before others.
    """
    variables = _choose(frame.variables, most)
    names = min(max((len(one_line(one.name, _LONGEST_NAME)) for one in variables), default=0), _NAMES)
    lines = []
    for one in variables:
        line = Text(' ' * INDENT)
        line.append(one_line(one.name, _LONGEST_NAME).ljust(names), 'bold red' if is_bad(one) else 'cyan').append('  ')
        lines.append(cut_line(line.append_text(_value(one, width, options)), width))
    hidden = frame.hidden + len(frame.variables) - len(variables)
    if hidden > 0:
        lines.append(cut_line(Text(f'{" " * INDENT}... {hidden:,} more', 'dim'), width))
    return lines


def is_bad(variable: LocalRecord) -> bool:
    """Whether a variable is, or holds, NaN or infinity."""
    if variable.tensor is None:
        return variable.text in _NOT_FINITE
    return variable.tensor.stats is not None and variable.tensor.stats.bad > 0


def _choose(variables: tuple[LocalRecord, ...], most: int) -> list[LocalRecord]:
    """In the frame's order."""
    order = sorted(range(len(variables)), key=lambda i: (not is_bad(variables[i]), i))
    return [variables[i] for i in sorted(order[:most])]


def _value(variable: LocalRecord, width: int, options: ConsoleOptions) -> Text:
    tensor = variable.tensor
    if tensor is None:
        return Text(one_line(variable.text, 400), 'red' if is_bad(variable) else '')
    line = tensor_line(replace(tensor, name=''))
    if written := _elements(tensor):
        line.append(f'  {written}')
    elif width >= _WIDE and tensor.stats is not None and tensor.stats.min is not None:
        stats = tensor.stats
        line.append(f'  {number(stats.min)} .. {number(stats.max)}')
        if stats.min != stats.max:
            marks = histogram_bar(stats, 10, ascii_only=options.ascii_only)
            line.append(f'  mean {number(stats.mean)}  std {number(stats.std)}  |{marks}|')
    return line


def _elements(tensor: TensorRecord) -> str:
    found = tensor.elements
    return one_line(elements(found.values), 100) if found is not None and found.values is not None else ''


def error_panel(error: ErrorRecord, title: str = '') -> Page:
    """An exception with the frames that led to it, the user's with their source text.

    Args:
        error: As recorded.
        title: Where it happened, such as 'call #17 norm[3]'.
    """
    kind = one_line(error.type.rpartition('.')[2], 60)
    heading = Text(f'{kind} in {one_line(title, 100)}' if title else kind, 'bold red')

    def draw(options: ConsoleOptions) -> Panel:
        width = min(options.max_width, WIDEST)
        body = Text('\n').join([*_frames(error, width - 4, options), message_line(error, MOST_MESSAGE)])
        body.overflow = 'fold'
        return Panel(body, title=heading, title_align='left', border_style='red', width=width)
    return Page(draw)


def message_line(error: ErrorRecord, limit: int = 0) -> Text:
    """'ValueError: what it says'; a longer message is cut in the middle."""
    message = visible(error.message)
    if limit and len(message) > limit:
        message = f'{message[:limit // 2]}\n... {len(message) - limit:,} characters not shown ...\n{message[-limit // 2:]}'
    return Text.assemble((one_line(error.type, 100), 'bold red'), f': {message}' if message else '', overflow='fold')


def innermost(error: ErrorRecord) -> Frame | None:
    """The innermost frame of the user's, or the innermost of all."""
    return next((frame for frame in reversed(error.frames) if is_program_file(frame.filename)),
                error.frames[-1] if error.frames else None)


def _frames(error: ErrorRecord, width: int, options: ConsoleOptions) -> list[Text]:
    """A text for each frame, with its source and its variables."""
    frames = error.frames
    own = [i for i, frame in enumerate(frames) if is_program_file(frame.filename)]
    if not own:                                # raised in a library, called by one: its last frames are all there is
        return [_frame(error, i, 'dim') for i in range(len(frames))[-3:]]
    variables = {found.frame: found for found in error.locals}
    lines: list[Text] = []
    for users, group in itertools.groupby(range(own[0], len(frames)), key=lambda i: is_program_file(frames[i].filename)):
        if not users:
            lines.append(_fold([frames[i] for i in group]))
            continue
        for i in group:
            text = _frame(error, i, '')
            most = ALL if i == own[-1] else OUTER_LOCALS
            for line in local_lines(variables[i], width, options, most) if i in variables else ():
                text.append('\n').append_text(line)
            lines.append(text)
    if len(lines) > MOST_FRAMES:                # a recursion without end
        half = MOST_FRAMES // 2
        gap = Text(f'... {len(lines) - 2 * half:,} frames not shown', 'dim')
        lines = [*lines[:half], gap, *lines[-half:]]
    return lines


def _frame(error: ErrorRecord, i: int, style: str) -> Text:
    frame = error.frames[i]
    source = line_text(error.sources[i] if i < len(error.sources) else NOT_LOADED, frame.line, frame.filename)
    if not source.style:
        source.style = style or 'bold'
    below = ((f'\n{frame.line:>6} | ', 'dim'), source) if source else ()
    return Text.assemble(place(frame.filename, frame.line, full=True), f' in {one_line(frame.function, 80)}', *below,
                         style=style)


def _fold(frames: list[Frame]) -> Text:
    last = frames[-1]
    count = f'{len(frames):,} library frames, the last ' if len(frames) > 1 else 'library frame '
    return Text.assemble('... ', count, place(last.filename, last.line), f' in {one_line(last.function, 80)}', style='dim')


if __name__ == '__main__':
    from pyfuncdbg.observers.record.record_contents import load_error
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    for call in sample().calls(failed=True):
        if call.error is not None:
            demo(error_panel(load_error(call.error), f'call #{call.number} {call.label}'))
