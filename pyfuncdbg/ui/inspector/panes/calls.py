"""The calls pane: a virtual list of all recorded calls. For another order or filter it types the command.

Main thread of the app; the calls come from worker threads.
"""
from __future__ import annotations

from pyfuncdbg.ui.inspector.desks.desk import Desk
from pyfuncdbg.ui.inspector.lists.rows import ListQuery
from pyfuncdbg.ui.inspector.lists.scrolling_lines import ScrollingLines
from pyfuncdbg.ui.inspector.lists.virtual_list import VirtualList
from pyfuncdbg.ui.inspector.panes.call_rows import CallRows, command_of, query_of
from pyfuncdbg.ui.inspector.panes.scene import Scene


class CallList(VirtualList):
    """The calls of a trace.

    Args:
        desk: Whose trace.
    """

    def __init__(self, desk: Desk) -> None:
        super().__init__(CallRows(lambda: desk.trace))
        self.border_title = 'calls'

    def follow(self, scene: Scene) -> None:
        """Put the cursor on the selected call."""
        if scene.call is not None:
            self.show_key(scene.call.number)

    def adopt(self, line: str) -> bool:
        """Show what a command line asks for; False if it is no `calls` or asks for no list."""
        query = query_of(line)
        if query is not None:
            self.ask(query)
        return query is not None

    def request(self, query: ListQuery) -> None:
        """Another order is a command that is typed."""
        self.post_message(ScrollingLines.Chosen(command_of(query)))

    def action_choose(self) -> None:
        """The call on a screen of its own."""
        line = self._line(self.cursor)
        if line is not None:
            self.post_message(ScrollingLines.Chosen(f'call {line.key}'))

    def filter_line(self) -> str:
        """The command that this list shows, to be typed on."""
        return command_of(self.list_query) + ' '
