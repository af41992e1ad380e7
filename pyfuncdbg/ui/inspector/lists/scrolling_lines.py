"""A widget of scrolling lines, for every pane and every result. Cursor, search, and words that type commands.

Main thread of the app; the lines come drawn from worker threads, so a long one costs nothing here.
"""
from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from pyfuncdbg.ui.inspector.lists.drawn_lines import Drawing, DrawnLine, filter_rows
from pyfuncdbg.ui.inspector.lists.links import first_link
from pyfuncdbg.ui.views.escape import one_line

NOT_HERE = 'is not here'
"""Message of a search that finds nothing."""


class ScrollingLines(ScrollView, can_focus=True):
    """A scrollable drawing.

    Attributes:
        drawing: What is shown: of what was drawn, the rows that the filter lets through.
        cursor: The line that Enter acts on.
        wanted: The filter: a text that rows hold, '' for all rows. It stays when the sheet shows something new.
    """

    DEFAULT_CSS = """
    ScrollingLines { background: $surface; scrollbar-size: 1 1; }
    ScrollingLines > .sheet--cursor { background: $primary 30%; }
    ScrollingLines > .sheet--found { background: $warning; color: $background; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {'sheet--cursor', 'sheet--found'}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding('up', 'move(-1)', 'line up', show=False), Binding('down', 'move(1)', 'line down', show=False),
        Binding('k', 'move(-1)', 'line up', show=False), Binding('j', 'move(1)', 'line down', show=False),
        Binding('pageup', 'page(-1)', 'page up', show=False),
        Binding('pagedown,space', 'page(1)', 'page down', show=False),
        Binding('home', 'end_of(0)', 'first line', show=False), Binding('end', 'end_of(1)', 'last line', show=False),
        Binding('left', 'aside(-8)', 'to the left', show=False), Binding('right', 'aside(8)', 'to the right', show=False),
        Binding('enter', 'choose', 'open what the line is about', show=False),
        Binding('escape', 'all_rows', 'all rows again', show=False)]

    class Chosen(Message):
        """A line or word was chosen: this command is to be typed."""

        def __init__(self, command: str) -> None:
            super().__init__()
            self.command = command

    class Resized(Message):
        """The sheet has another width: its picture is to be drawn again."""

        def __init__(self, sheet: ScrollingLines) -> None:
            super().__init__()
            self.sheet = sheet

    def __init__(self, name: str, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.drawing = self._whole = Drawing('', ())
        self.cursor = 0
        self.pattern = ''
        self._sought = ''
        self._width = 0

    @property
    def columns(self) -> int:
        """Columns for a picture, with room for the scrollbar; before it is first seen, those of the whole screen."""
        width = self.outer_size.width - self.styles.gutter.width if self.outer_size.width else self.app.size.width
        return max(10, width - 1)               # the same with a scrollbar and without: the picture decides if there is one

    def show(self, drawing: Drawing, *, keep: bool = True) -> None:
        """Show a drawing; `keep` the place if nothing in it wants to be seen."""
        self._whole = drawing
        self.drawing = drawing = filter_rows(drawing, self.pattern)
        self.border_title = Content(one_line(drawing.title, 120))
        width = max((line.strip.cell_length for line in drawing.lines), default=0)
        self.virtual_size = Size(width, len(drawing.lines))
        last = max(0, len(drawing.lines) - 1)
        if drawing.chosen >= 0:
            self.cursor = drawing.chosen
            self.call_after_refresh(self.see_chosen)        # what can be scrolled is known then
        elif not keep:
            self.cursor = 0
            self.scroll_to(0, 0, animate=False)
        self.cursor = min(self.cursor, last)
        self.refresh()

    def narrow(self, pattern: str) -> None:
        """Show only rows that hold a text; '' shows all. The cursor stays on its row."""
        here = self.drawing.lines[self.cursor] if self.cursor < len(self.drawing.lines) else None
        whole, self.pattern = self._whole, pattern
        self.show(replace(whole, chosen=-1, last=-1))
        self._whole = whole
        self.cursor = next((index for index, line in enumerate(self.drawing.lines) if line is here),
                           min(self._pinned, max(0, len(self.drawing.lines) - 1)))
        self.call_after_refresh(lambda: self.see(self.cursor, center=True))       # the position by then

    @property
    def _pinned(self) -> int:
        """Lines that do not scroll: the one that tells the filter."""
        return 1 if self.pattern and self.drawing.lines else 0

    def filter_line(self) -> str:
        """The command line that filters what is shown, to be completed; '' where its rows are narrowed by a text."""
        return ''

    @property
    def tensor(self) -> str:
        """The tensor that the line is about, as commands name it; '' if it is about none."""
        line = self.drawing.lines[self.cursor] if self.cursor < len(self.drawing.lines) else None
        command = (line.command or first_link(line.text)) if line is not None else ''
        return command.removeprefix('pt ') if command.startswith('pt ') else ''

    def see_chosen(self) -> None:
        """Scroll so that the chosen part is seen, its first line at least."""
        if self.drawing.chosen >= 0:
            self.see(self.drawing.last, center=True)
            self.see(self.drawing.chosen, center=True)

    def see(self, y: int, *, center: bool = False) -> None:
        """Scroll so that a line is seen."""
        height = max(1, self.scrollable_content_region.height)
        top = round(self.scroll_y)
        if y < self._pinned:
            self.scroll_to(y=0, animate=False)
        elif center and not top + self._pinned <= y < top + height:
            self.scroll_to(y=max(0, y - height // 2), animate=False)
        elif not center:
            self.scroll_to_region(Region(round(self.scroll_x), y - self._pinned, 1, 1 + self._pinned), animate=False)

    # ------------------------------------------------------------------ drawing
    def render_line(self, y: int) -> Strip:
        """One row of the screen."""
        scroll_x, scroll_y = self.scroll_offset
        index, width = y if y < self._pinned else scroll_y + y, self.size.width
        if index >= len(self.drawing.lines):
            return Strip.blank(width, self.rich_style)
        line = self.drawing.lines[index]
        style = self.rich_style
        if index == self.cursor and self.has_focus:
            style += Style(bgcolor=self.get_component_rich_style('sheet--cursor').bgcolor)
        strip = self._marked(line) if self._sought else line.strip
        return strip.crop_extend(scroll_x, scroll_x + width, None).apply_style(style)

    def _marked(self, line: DrawnLine) -> Strip:
        """The line with every occurrence of what is sought marked."""
        text, sought = line.text.lower(), self._sought
        cuts: list[int] = []
        start = text.find(sought)
        while start >= 0:
            cuts += [cell_len(line.text[:start]), cell_len(line.text[:start + len(sought)])]
            start = text.find(sought, start + len(sought))
        if not cuts:
            return line.strip
        found = self.get_component_rich_style('sheet--found')
        pieces = line.strip.divide([*cuts, line.strip.cell_length])
        return Strip.join([Strip([Segment(segment.text, (segment.style or Style()) + found) for segment in piece])
                           if index % 2 else piece for index, piece in enumerate(pieces)])

    # ------------------------------------------------------------------ search
    def search(self, text: str, by: int = 0) -> str:
        """Mark a text and go to the next line that has it.

        Args:
            text: What to look for, capitals or not; '' ends the search.
            by: 0: from the cursor on; 1, -1: to the next or previous line.

        Returns:
            What came of it in words.
        """
        self._sought = text.lower()
        self.refresh()
        if not text:
            return ''
        hits = [index for index, line in enumerate(self.drawing.lines) if self._sought in line.text.lower()]
        if not hits:
            return f'{text!r} {NOT_HERE}'
        if by < 0:
            before = [index for index in hits if index < self.cursor]
            self.cursor = before[-1] if before else hits[-1]
        else:
            after = [index for index in hits if index >= self.cursor + by]
            self.cursor = after[0] if after else hits[0]
        self.see(self.cursor, center=True)
        return f'{hits.index(self.cursor) + 1} of {len(hits)} lines'

    # ------------------------------------------------------------------ keys and mouse
    def action_move(self, by: int) -> None:
        """Move the cursor."""
        self.cursor = min(max(0, self.cursor + by), max(0, len(self.drawing.lines) - 1))
        self.see(self.cursor)
        self.refresh()

    def action_page(self, by: int) -> None:
        """Move the cursor by a screenful."""
        self.action_move(by * max(1, self.scrollable_content_region.height - 1))

    def action_end_of(self, last: int) -> None:
        """To the first or last line."""
        self.action_move(len(self.drawing.lines) if last else -len(self.drawing.lines))

    def action_aside(self, by: int) -> None:
        """Scroll sideways."""
        self.scroll_to(x=self.scroll_x + by, animate=False)

    def action_choose(self) -> None:
        """Type the command of the line."""
        if self.cursor < len(self.drawing.lines):
            command = self.drawing.lines[self.cursor].chosen
            if command:
                self.post_message(self.Chosen(command))

    def action_all_rows(self) -> None:
        """End the filter; without one the key is passed on."""
        if not self.pattern:
            raise SkipAction
        self.narrow('')

    def on_click(self, event: events.Click) -> None:
        """A word or line with a command types it."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        y = offset.y if offset.y < self._pinned else offset.y + round(self.scroll_y)
        if y >= len(self.drawing.lines):
            return
        self.cursor = y
        self.refresh()
        line = self.drawing.lines[y]
        index = _index(line.text, offset.x + round(self.scroll_x))
        command = self.header_line(y, index) or line.command_at(index) or line.command
        if command:
            self.post_message(self.Chosen(command))

    def header_line(self, y: int, index: int) -> str:
        """The command line of a place in the headers of a list; '' elsewhere."""
        return ''

    def on_resize(self, event: events.Resize) -> None:
        """A picture is drawn for a width."""
        if event.size.width != self._width:
            self._width = event.size.width
            self.post_message(self.Resized(self))
        elif self.cursor == self.drawing.chosen:
            self.call_after_refresh(self.see_chosen)


def _index(text: str, column: int) -> int:
    """Index of the character at a column."""
    at = 0
    for index, char in enumerate(text):
        at += cell_len(char)
        if column < at:
            return index
    return len(text)
