"""The traceback panel: starts at the user's frames; frames of libraries and of the debugger are folded.

Named `error`, not `traceback`, so that running it as a script does not hide the standard module.
"""
from __future__ import annotations

import itertools

from rich.console import ConsoleOptions
from rich.panel import Panel
from rich.text import Text

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.record.records import ErrorRecord, SiteRecord
from pyfuncdbg.views.escape import one_line, visible
from pyfuncdbg.views.page import Page
from pyfuncdbg.views.source import line_text, of_the_user, place

MOST_FRAMES = 12
MOST_MESSAGE = 2000


def error_panel(error: ErrorRecord, title: str = '', *, site: SiteRecord | None = None) -> Page:
    """An exception with the frames that led to it, the user's with their source text.

    Args:
        error: As recorded.
        title: Where it happened, such as 'call #17 norm[3]'.
        site: The call's site, for the text of source lines.
    """
    body = Text('\n').join([*_frames(error.frames, site), message_line(error, MOST_MESSAGE)])
    body.overflow = 'fold'
    heading = Text(one_line(error.type, 60) + (f' in {one_line(title, 100)}' if title else ''), 'bold red')

    def draw(options: ConsoleOptions) -> Panel:
        return Panel(body, title=heading, title_align='left', border_style='red', width=min(options.max_width, 120))
    return Page(draw)


def message_line(error: ErrorRecord, limit: int = 0) -> Text:
    """'ValueError: what it says'; a longer message is cut in the middle."""
    message = visible(error.message)
    if limit and len(message) > limit:
        message = f'{message[:limit // 2]}\n... {len(message) - limit:,} characters not shown ...\n{message[-limit // 2:]}'
    return Text.assemble((one_line(error.type, 100), 'bold red'), f': {message}' if message else '', overflow='fold')


def innermost(error: ErrorRecord) -> Frame | None:
    """The innermost frame of the user's, or the innermost of all."""
    return next((frame for frame in reversed(error.frames) if of_the_user(frame.filename)),
                error.frames[-1] if error.frames else None)


def _frames(frames: tuple[Frame, ...], site: SiteRecord | None) -> list[Text]:
    mine = [i for i, frame in enumerate(frames) if of_the_user(frame.filename)]
    if not mine:                                # raised in a library, called by one: its last frames are all there is
        return [_frame(frame, site, 'dim') for frame in frames[-3:]]
    lines: list[Text] = []
    for users, group in itertools.groupby(frames[mine[0]:], key=lambda frame: of_the_user(frame.filename)):
        if users:
            lines += [_frame(frame, site, 'none') for frame in group]
        else:
            lines.append(_folded(list(group)))
    if len(lines) > MOST_FRAMES:                # a recursion without end
        half = MOST_FRAMES // 2
        gap = Text(f'... {len(lines) - 2 * half:,} frames not shown', 'dim')
        lines = [*lines[:half], gap, *lines[-half:]]
    return lines


def _frame(frame: Frame, site: SiteRecord | None, style: str) -> Text:
    text = Text.assemble(place(frame.filename, frame.line, full=True), f' in {one_line(frame.function, 80)}', style=style)
    source = line_text(frame.filename, frame.line, site)
    if source:
        text.append(f'\n{frame.line:>6} | ', 'dim').append(one_line(source, 300), 'bold' if style == 'none' else style)
    return text


def _folded(frames: list[Frame]) -> Text:
    last = frames[-1]
    count = f'{len(frames):,} library frames, the last ' if len(frames) > 1 else 'library frame '
    return Text.assemble('... ', count, place(last.filename, last.line), f' in {one_line(last.function, 80)}', style='dim')


if __name__ == '__main__':
    from pyfuncdbg.views.page import demo
    from pyfuncdbg.views.sample import sample
    for call in sample().calls(failed=True):
        if call.error is not None:
            demo(error_panel(call.error, f'call #{call.number} {call.label}', site=call.site))
