"""A terminal emulator over pyte: cells, cursor, scrollback. Fed by one thread, read by another.

pyte knows the sequences. Here are what it lacks (the alternate screen, scrollback at full speed, sequences of newer
terminals that it takes for others) and a faster path for plain text, the bulk of what programs print.
"""
from __future__ import annotations

import codecs
import copy
import re
import threading
from collections import deque
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from pyte import Screen, Stream
from pyte.charsets import LAT1_MAP
from pyte.modes import DECAWM, IRM
from pyte.screens import Char, StaticDefaultDict
from rich.segment import Segment
from rich.style import Style
from wcwidth import wcwidth

HISTORY = 5_000
"""Lines of scrollback."""
_ALTERNATE = (47, 1047, 1049)
_CURSOR_KEYS, _PASTE = 1 << 5, 2004 << 5
_FOREIGN = re.compile(
    r'\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)'      # strings that a terminal does not show: titles, links
    r'|\x1b\[[<=>][0-9;:]*[@-~]'                    # private sequences that pyte takes for others
    r'|\x1b\[\?[0-9;]*[^hl0-9;?]'                   # likewise
    r'|\x1b\[[0-9;]*:[0-9;:]*[@-~]'                 # colours and underlines of newer kinds
    r'|\x1b\[[0-9;]*[ !"$\'*][@-~]'                 # shapes of the cursor and more
    r'|\x1b[=>]')                                   # keypad modes
_UNFINISHED = re.compile(r'\x1b(?:[\]PX^_][^\x07\x1b]*\x1b?|\[[0-?]*[ -/]*)?\Z')
_LONGEST = 1 << 16

Line = StaticDefaultDict[int, Char]


class _Cells(dict[str, Char]):
    """Characters in one style, made once."""

    def __init__(self, style: Char) -> None:
        super().__init__()
        self._style = style

    def __missing__(self, text: str) -> Char:
        cell = self[text] = self._style._replace(data=text)
        return cell


class _Screen(Screen):
    """pyte's screen with the alternate screen, scrollback and newer sequences.

    Args:
        columns, lines: Its size.
        answer: Sends the terminal's reply to a query of the program.
    """

    def __init__(self, columns: int, lines: int, answer: Callable[[str], None]) -> None:
        self.history: deque[Line] = deque(maxlen=HISTORY)
        self.scrolled = 0
        self._answer = answer
        self._cells: dict[Char, _Cells] = {}
        self._main: tuple[Any, ...] | None = None
        self._last = ' '
        super().__init__(columns, lines)

    @property
    def alternate(self) -> bool:
        """Whether the program shows its other screen, which has no scrollback."""
        return self._main is not None

    def draw(self, data: str) -> None:
        """Put text at the cursor."""
        if not data.isprintable():
            data = ''.join(char for char in data if wcwidth(char) >= 0)
        self._last = data[-1:] or self._last
        if not data.isascii() or self.charset or self.g0_charset is not LAT1_MAP or IRM in self.mode or (
                DECAWM not in self.mode):
            super().draw(data)
            return
        cells = self._cells.get(self.cursor.attrs)
        if cells is None:
            if len(self._cells) > 500:
                self._cells.clear()
            cells = self._cells[self.cursor.attrs] = _Cells(self.cursor.attrs)
        start, cursor = 0, self.cursor
        while start < len(data):
            if cursor.x >= self.columns:
                self.carriage_return()
                self.linefeed()
            part = data[start:start + self.columns - cursor.x]
            self.buffer[cursor.y].update(zip(range(cursor.x, cursor.x + len(part)), map(cells.__getitem__, part),
                                             strict=True))
            cursor.x += len(part)
            start += len(part)

    def index(self) -> None:
        """Go down a line; at the bottom the uppermost goes to the scrollback."""
        if self.cursor.y == self.lines - 1 and self.margins is None:
            if self._main is None:
                self.history.append(self.buffer[0])
                self.scrolled += 1
            buffer = self.buffer
            for y in range(self.lines - 1):
                buffer[y] = buffer[y + 1]
            buffer.pop(self.lines - 1, None)
        else:
            super().index()

    def erase_in_display(self, how: int = 0, *args: Any, **kwargs: Any) -> None:
        """Erase the screen, or the scrollback alone."""
        if how == 3:
            self.history.clear()
        elif how <= 2:
            super().erase_in_display(how)

    def repeat(self, count: int = 1) -> None:
        """Draw the last character again, so many times."""
        self.draw(self._last * min(count or 1, self.columns * self.lines))

    def scroll_up(self, count: int = 1) -> None:
        """Move what is within the margins up; the cursor stays."""
        self._at_edge(1, self.index, count)

    def scroll_down(self, count: int = 1) -> None:
        """Move what is within the margins down; the cursor stays."""
        self._at_edge(0, self.reverse_index, count)

    def _at_edge(self, edge: int, move: Callable[[], None], count: int) -> None:
        before = self.cursor.y
        self.cursor.y = (self.margins or (0, self.lines - 1))[edge]
        for _ in range(min(count or 1, self.lines)):
            move()
        self.cursor.y = before

    def back_tab(self, count: int = 1) -> None:
        """To a tab stop before the cursor."""
        for _ in range(min(count or 1, self.columns)):
            self.cursor.x = max((stop for stop in self.tabstops if stop < self.cursor.x), default=0)

    def set_mode(self, *modes: int, **kwargs: Any) -> None:
        """Switch modes on; the alternate screen is one."""
        if kwargs.get('private') and self._main is None and any(mode in _ALTERNATE for mode in modes):
            self._main = (dict(self.buffer), copy.copy(self.cursor), self.columns)
            self.buffer.clear()
        super().set_mode(*(mode for mode in modes if mode != 3 or not kwargs.get('private')), **kwargs)

    def reset_mode(self, *modes: int, **kwargs: Any) -> None:
        """Switch modes off."""
        if kwargs.get('private') and self._main is not None and any(mode in _ALTERNATE for mode in modes):
            lines, cursor, _ = self._main
            self._main = None
            self.buffer.clear()
            self.buffer.update((y, line) for y, line in lines.items() if y < self.lines)
            cursor.hidden = self.cursor.hidden
            self.cursor = cursor
            self.ensure_hbounds()
            self.ensure_vbounds()
        super().reset_mode(*(mode for mode in modes if mode != 3 or not kwargs.get('private')), **kwargs)

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        """Another size: lines that do not fit any more go to the scrollback, and come back."""
        new_lines = lines or self.lines
        if self._main is None and self.margins is None:
            while new_lines < self.lines and self.cursor.y >= new_lines:
                self.history.append(self.buffer[0])
                self.scrolled += 1
                self._shift(1)
            while new_lines > self.lines and self.history:
                self._shift(-1)
                self.buffer[0] = self.history.pop()
                self.lines += 1
        for y in [y for y in self.buffer if y >= new_lines]:
            del self.buffer[y]
        self.lines, self.columns = new_lines, columns or self.columns
        self.margins = None
        self.ensure_hbounds()
        self.ensure_vbounds()

    def _shift(self, by: int) -> None:
        moved = {y - by: line for y, line in self.buffer.items() if y >= by}
        self.buffer.clear()
        self.buffer.update(moved)
        self.cursor.y -= by

    def write_process_input(self, data: str) -> None:
        self._answer(data)


class _Stream(Stream):
    """A parser that survives unknown sequences, and knows those for xterm."""

    def __init__(self, screen: _Screen) -> None:
        self.csi = Stream.csi | {'b': 'repeat', 'S': 'scroll_up', 'T': 'scroll_down', 'Z': 'back_tab'}
        super().__init__(screen, strict=False)
        self.use_utf8 = False                   # text comes decoded; line drawing by another charset is understood

    def _send_to_parser(self, data: str) -> bool | None:
        try:
            return super()._send_to_parser(data)
        except Exception:                       # pyte passes any parameters on: ignore an invalid sequence
            return self._taking_plain_text


class Emulator:
    """A terminal without a window.

    Args:
        columns, rows: Its size.
        reply: Sends bytes to the program that has asked for something.
    """

    def __init__(self, columns: int, rows: int, reply: Callable[[bytes], None]) -> None:
        self._lock = threading.RLock()
        self._screen = _Screen(columns, rows, lambda text: reply(text.encode()))
        self._stream = _Stream(self._screen)
        self._decoder = codecs.getincrementaldecoder('utf-8')('replace')
        self._tail = ''

    def feed(self, data: bytes) -> None:
        """Show what the program has written."""
        text = self._tail + self._decoder.decode(data)
        self._tail = ''
        if '\x1b' in text:
            unfinished = _UNFINISHED.search(text, max(0, len(text) - _LONGEST))
            if unfinished is not None:
                text, self._tail = text[:unfinished.start()], unfinished[0]
            text = _FOREIGN.sub('', text)
        with self._lock:
            self._stream.feed(text)

    def resize(self, columns: int, rows: int) -> None:
        """Take another size."""
        with self._lock:
            self._screen.resize(max(rows, 1), max(columns, 1))

    # ------------------------------------------------------------------ looking
    @property
    def height(self) -> int:
        """Lines, the scrollback included."""
        screen = self._screen
        return screen.lines if screen.alternate else len(screen.history) + screen.lines

    @property
    def scrolled(self) -> int:
        """Lines that have gone to the scrollback since the beginning."""
        return self._screen.scrolled

    @property
    def alternate(self) -> bool:
        """Whether a program shows a full screen of its own."""
        return self._screen.alternate

    @property
    def application_keys(self) -> bool:
        """Whether arrow keys are sent as that kind of program wants them."""
        return _CURSOR_KEYS in self._screen.mode

    @property
    def brackets_paste(self) -> bool:
        """Whether the program wants to know what is pasted."""
        return _PASTE in self._screen.mode

    @property
    def cursor(self) -> tuple[int, int] | None:
        """Column, and line with the scrollback counted; None if it is hidden."""
        with self._lock:
            cursor = self._screen.cursor
            if cursor.hidden:
                return None
            return min(cursor.x, self._screen.columns - 1), cursor.y + self.height - self._screen.lines

    def segments(self, number: int) -> list[Segment]:
        """A line as it looks, the scrollback counted; empty behind the last."""
        with self._lock:
            screen = self._screen
            above = self.height - screen.lines
            if not 0 <= number < self.height:
                return []
            line = screen.history[number] if number < above else screen.buffer.get(number - above)
            if not line:
                return []
            width = min(max(line) + 1, screen.columns)
            cells = [line[x] for x in range(width)]
        return list(_segments(cells))

    def last_lines(self, count: int, *, to_cursor: bool = False) -> list[list[Segment]]:
        """The last lines of output, without empty ones at the end.

        Args:
            count: As many lines at most.
            to_cursor: End with the cursor's line, filled up to the cursor: there the program writes on.
        """
        with self._lock:
            x, y = self._screen.cursor.x, self._screen.cursor.y + self.height - self._screen.lines
            end = self.height
            while end and not ''.join(segment.text for segment in self.segments(end - 1)).strip():
                end -= 1
            end = max(end, y + 1) if to_cursor else end
            lines = [self.segments(number) for number in range(max(0, end - count), end)]
        if to_cursor and end == y + 1:
            lines[-1].append(Segment(' ' * (x - sum(len(segment.text) for segment in lines[-1]))))
        return lines


def _segments(cells: list[Char]) -> Iterator[Segment]:
    for look, run in groupby(cells, lambda cell: cell[1:]):
        text = ''.join(cell.data for cell in run)
        if text:
            yield Segment(text, style_of(look))


_styles: dict[tuple[Any, ...], Style] = {}


def style_of(look: tuple[Any, ...]) -> Style:
    """The style of a cell, given all of it but the text."""
    style = _styles.get(look)
    if style is None:
        if len(_styles) > 2_000:
            _styles.clear()
        fg, bg, bold, italics, underscore, strikethrough, reverse, blink = look
        style = _styles[look] = Style(color=_color(fg), bgcolor=_color(bg), bold=bold or None, italic=italics or None,
                                      underline=underscore or None, strike=strikethrough or None, reverse=reverse or None,
                                      blink=blink or None)
    return style


_NAMES = {'brown': 'yellow', 'brightbrown': 'bright_yellow', 'bfightmagenta': 'bright_magenta'}


def _color(name: str) -> str | None:
    if name == 'default':
        return None
    if len(name) == 6 and not set(name) - set('0123456789abcdef'):
        return f'#{name}'
    return _NAMES.get(name) or name.replace('bright', 'bright_')
