"""The traceback panel: starts at the user's frames, with their variables; frames of libraries and ours are folded.

Named `error`, not `traceback`, so that running it as a script does not hide the standard module.
"""
from __future__ import annotations

import itertools

from rich.console import ConsoleOptions
from rich.panel import Panel
from rich.text import Text

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.own_files import is_program_file
from pyfuncdbg.observers.record.records import ErrorRecord
from pyfuncdbg.observers.record.sources.source_text import NOT_LOADED
from pyfuncdbg.ui.views.calls.frame_locals import ALL, local_lines
from pyfuncdbg.ui.views.escape import one_line, visible
from pyfuncdbg.ui.views.page import Page
from pyfuncdbg.ui.views.sources.source import line_text, place

MOST_FRAMES = 12
MOST_MESSAGE = 2000
WIDEST = 120
OUTER_LOCALS = 5
"""Variables shown of each frame but the innermost."""


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
