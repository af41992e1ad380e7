"""The virtual list: what stands on the screen after every key and click, over a million rows."""
from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from rich.text import Text
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.index.query import QueryCancelledError
from pyfuncdbg.ui.inspector.lists import list_feed
from pyfuncdbg.ui.inspector.lists.messages import CallSelected, MessagePosted
from pyfuncdbg.ui.inspector.lists.row_strips import slots
from pyfuncdbg.ui.inspector.lists.rows import ListColumn, ListQuery, Row
from pyfuncdbg.ui.inspector.lists.virtual_list import VirtualList

MILLION = 1_000_000


class Numbers:
    """Rows 'n0', 'n1', ... with their squares."""

    noun = 'number'
    columns = (ListColumn('time', 'n', 9, right=True), ListColumn('square', 'square', 14, right=True),
               ListColumn('name', 'name', 6, fills=True), ListColumn('digits', 'digits', 7, beyond=60))
    greatest_first = frozenset(('square',))

    def __init__(self, total: int = MILLION) -> None:
        self.total = total
        self.hold = threading.Event()
        self.hold.set()
        self.slow = threading.Event()
        self.slow.set()
        self.threads: set[int] = set()
        self.asked: list[int] = []
        self.opened: list[Page] = []

    def open(self, query: ListQuery) -> Page:
        if dict(query.filters).get('name') == 'bad':
            raise CommandError("no number is named 'bad'")
        self.opened.append(Page(self, query))
        return self.opened[-1]


class Page:
    def __init__(self, numbers: Numbers, query: ListQuery) -> None:
        self.of, self.query = numbers, query
        self.shown = dict(query.filters)
        self.dropped = 0
        self.count = 0
        self.cancelled = self.closed = False
        self.step = int(self.shown.get('step', 1))  # type: ignore[call-overload]

    def _number(self, index: int) -> int:
        return (self.count - 1 - index if self.query.down else index) * self.step

    def _row(self, index: int) -> Row:
        number = self._number(index)
        words = (str(number), str(number ** 2), f'n{number}', str(len(str(number))))
        return Row(f'n{number}', tuple(map(Text, words)))

    def _here(self) -> None:
        self.of.threads.add(threading.get_ident())
        if self.cancelled:
            raise QueryCancelledError

    def preview(self, count: int) -> list[Row]:
        self.count = self.of.total
        return [self._row(index) for index in range(count)]

    def build(self) -> int:
        while not self.of.hold.wait(0.01):
            self._here()
        self.count = -(-self.of.total // self.step)
        return self.count

    def page(self, start: int, count: int) -> list[Row]:
        self.of.slow.wait(5)
        self._here()
        self.of.asked.append(start)
        return [self._row(index) for index in range(start, min(start + count, self.count))]

    def position(self, key: str) -> int | None:
        number = int(key[1:]) // self.step
        return (self.count - 1 - number if self.query.down else number) if number < self.count else None

    def find(self, text: str, start: int, *, backwards: bool = False,
             go_on: Callable[[int], bool] = lambda searched: True) -> int | None:
        order = range(start, -1, -1) if backwards else range(start, self.count)
        for index in order:
            if index % 4096 == 0 and not go_on(index - start):
                raise QueryCancelledError
            if text in f'n{self._number(index)}':
                return index
        return None

    def cancel(self) -> None:
        self.cancelled = True

    def close(self) -> None:
        self.cancelled = self.closed = True


class Lists(App[None]):
    def __init__(self, numbers: Numbers) -> None:
        super().__init__()
        self.numbers = numbers
        self.picked: list[str] = []
        self.chosen: list[str] = []
        self.said: list[str] = []

    def compose(self) -> ComposeResult:
        yield VirtualList(self.numbers)

    def on_mount(self) -> None:
        self.list.focus()

    @property
    def list(self) -> VirtualList:
        return self.query_one(VirtualList)

    def on_call_selected(self, message: CallSelected) -> None:
        self.picked.append(message.key)

    def on_virtual_list_chosen(self, message: VirtualList.Chosen) -> None:
        self.chosen.append(message.key)

    def on_message_posted(self, message: MessagePosted) -> None:
        self.said.append(message.text)

    def lines(self) -> list[str]:
        """The screen."""
        return [self.list.render_line(y).text.rstrip() for y in range(self.list.size.height)]

    def names(self) -> list[str]:
        """What stands in the third column."""
        return [line.split()[2] for line in self.lines()[2:] if len(line.split()) > 2]


async def until(pilot: Pilot[None], true: Callable[[], Any]) -> None:
    """Wait for something to be so, and for the screen to be still."""
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end, 'it never came to be so'
        await pilot.pause(0.01)


def shown(test: Callable[[Lists, Pilot[None]], Any], total: int = MILLION, size: tuple[int, int] = (80, 22)) -> None:
    """Run a test in the app, once its list is there."""
    async def run() -> None:
        app = Lists(Numbers(total))
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: app.list._feed.opened is not None)
            await pilot.pause()
            await test(app, pilot)
        assert app.numbers.opened[-1].closed
    asyncio.run(run())


def test_a_million_rows_and_only_a_screenful_is_asked_for() -> None:
    async def test(app: Lists, pilot: Pilot[None]) -> None:
        lines = app.lines()
        assert lines[0] == '1,000,000 numbers   sort: time   filter: none'
        assert lines[1].split() == ['n', '^', 'square', 'name', 'digits']
        assert app.names() == [f'n{i}' for i in range(20)]
        assert app.numbers.asked == [0]
        assert threading.get_ident() not in app.numbers.threads
    shown(test)


@pytest.mark.parametrize(('keys', 'top', 'cursor'), [
    (['down'], 0, 1), (['j', 'j', 'k'], 0, 1), (['pagedown'], 0, 19), (['pagedown', 'down'], 1, 20),
    (['space', 'space'], 19, 38), (['end'], MILLION - 20, MILLION - 1),
    (['end', 'pageup', 'up'], MILLION - 21, MILLION - 21),
    (['end', 'up'], MILLION - 20, MILLION - 2),
    (['end', 'home'], 0, 0), (['up'], 0, 0), (['end', 'down'], MILLION - 20, MILLION - 1)])
def test_keys_move_the_cursor_and_the_screen_follows(keys: list[str], top: int, cursor: int) -> None:
    async def test(app: Lists, pilot: Pilot[None]) -> None:
        await pilot.press(*keys)
        await until(pilot, lambda: app.picked[-1:] == [f'n{cursor}'])
        await until(pilot, lambda: '...' not in app.lines())
        assert app.list.cursor == cursor
        assert app.names() == [f'n{i}' for i in range(top, top + 20)]
        await pilot.press('enter')
        await pilot.pause()
        assert app.chosen == [f'n{cursor}']
    shown(test)


def test_wheel_and_scrollbar_leave_the_cursor() -> None:
    async def test(app: Lists, pilot: Pilot[None]) -> None:
        await pilot._post_mouse_events([_wheel_down()], VirtualList, (5, 5))
        await until(pilot, lambda: app.names()[0] != 'n0' and app.list.scroll_y == app.list.scroll_target_y)
        first = app.names()[0]
        assert app.names() == [f'n{i}' for i in range(int(first[1:]), int(first[1:]) + 20)]
        await pilot.click(VirtualList, offset=(79, 11))         # the middle of the scrollbar
        await until(pilot, lambda: app.list.scroll_y == app.list.scroll_target_y and app.list.scroll_y > 20)
        await pilot.pause()
        app.list.scroll_to(y=654_321, animate=False)            # where a drag puts it
        await until(pilot, lambda: app.names() == [f'n{i}' for i in range(654_321, 654_341)])
        assert app.list.cursor == 0 and not app.picked
    shown(test)


def _wheel_down() -> type:
    from textual.events import MouseScrollDown
    return MouseScrollDown


def test_rows_that_are_not_there_yet_are_dots_and_passed_places_are_not_asked_for() -> None:
    async def test(app: Lists, pilot: Pilot[None]) -> None:
        app.numbers.slow.clear()
        app.numbers.asked.clear()
        for y in (100_000, 200_000, 300_000):
            app.list.scroll_to(y=y, animate=False)
            await pilot.pause()
            assert app.lines()[2:] == ['...'] * 20
        app.numbers.slow.set()
        await until(pilot, lambda: app.names() == [f'n{i}' for i in range(300_000, 300_020)])
        assert app.numbers.asked == [100_000, 300_000]
    shown(test)


def test_a_header_sorts_and_again_the_other_way_round() -> None:
    async def test(app: Lists, pilot: Pilot[None]) -> None:
        await pilot.press('down', 'down')
        await pilot.click(VirtualList, offset=(20, 1))
        await until(pilot, lambda: app.list.list_query == ListQuery(sort='square', down=True))
        assert app.lines()[0].startswith('1,000,000 numbers   sort: square v ')
        assert app.lines()[1].split() == ['n', 'square', 'v', 'name', 'digits']
        assert 'n2' in app.names() and app.list.cursor == 999_997       # the row that was looked at stays it
        await pilot.press('home')
        assert app.names()[:2] == ['n999999', 'n999998'] and app.list.cursor == 0
        await pilot.click(VirtualList, offset=(20, 1))
        await until(pilot, lambda: app.list.list_query == ListQuery(sort='square'))
        await until(pilot, lambda: app.list.cursor == 999_999)
        await pilot.press('home')
        assert app.names()[:2] == ['n0', 'n1']
        await pilot.press('o')
        await until(pilot, lambda: app.list.list_query == ListQuery(sort='name'))
        await pilot.press('O')
        await until(pilot, lambda: app.list.list_query == ListQuery(sort='name', down=True))
        await until(pilot, lambda: app.list.cursor == 999_999)
        await pilot.press('home')
        assert app.names()[0] == 'n999999'
        await until(pilot, lambda: all(one.closed for one in app.numbers.opened[:-1]))
    shown(test)


def test_filters_stand_on_the_first_line_and_a_wrong_one_leaves_the_rows() -> None:
    async def test(app: Lists, pilot: Pilot[None]) -> None:
        app.list.ask(ListQuery((('step', 1000),)))
        await until(pilot, lambda: app.list.count == 1000)
        await pilot.pause()
        assert app.lines()[0] == '1,000 numbers   sort: time   filter: step 1000'
        assert app.names()[:3] == ['n0', 'n1000', 'n2000']
        app.list.ask(ListQuery((('name', 'bad'),)))
        await until(pilot, lambda: "no number is named 'bad'" in app.lines()[0])
        assert app.names()[:3] == ['n0', 'n1000', 'n2000'] and app.list.count == 1000
    shown(test)


def test_a_new_question_breaks_off_the_one_before_and_escape_the_last() -> None:
    async def test(app: Lists, pilot: Pilot[None]) -> None:
        app.numbers.hold.clear()
        app.list.ask(ListQuery(sort='square'))
        await until(pilot, lambda: len(app.numbers.opened) == 2)
        app.list.ask(ListQuery(sort='name'))
        await until(pilot, lambda: len(app.numbers.opened) == 3 and app.numbers.opened[1].closed)
        assert 'sorting ...' in app.lines()[0] and app.names()[0] == 'n0'
        assert app.list.give_up()
        await until(pilot, lambda: app.numbers.opened[2].closed)
        assert app.list.list_query == ListQuery() and 'sorting' not in app.lines()[0]
        app.list.scroll_to(y=5_000, animate=False)      # the rows that were kept go on
        await until(pilot, lambda: app.names()[:1] == ['n5000'])
        app.numbers.hold.set()
        app.list.ask(ListQuery(sort='digits', down=True))
        await until(pilot, lambda: app.list.list_query.sort == 'digits')
        assert not app.list.give_up()
    shown(test)


def test_search_goes_to_the_next_hit_and_the_one_before() -> None:
    async def test(app: Lists, pilot: Pilot[None]) -> None:
        assert app.list.search('n777') == "searching 'n777' ..."
        await until(pilot, lambda: app.said == ['number 778 of 1,000,000'])
        assert app.list.cursor == 777
        app.list.search('n777', 1)
        await until(pilot, lambda: app.said[1:] == ['number 7,771 of 1,000,000'])
        app.list.search('n777', -1)
        await until(pilot, lambda: app.list.cursor == 777)
        await until(pilot, lambda: 'n777' in app.names())
        row = 777 - round(app.list.scroll_y) + 2
        found = app.list.get_component_rich_style('virtuallist--found').bgcolor
        marked = [segment.text for segment in app.list.render_line(row) if segment.style and segment.style.bgcolor == found]
        assert marked == ['n777']
        app.list.search('zebra')
        app.list.search('n12345')                       # the one before is not wanted any more
        await until(pilot, lambda: app.said[-1] == 'number 12,346 of 1,000,000')
        app.list.search('n12345x', 1)
        await until(pilot, lambda: app.said[-1] == "'n12345x' is in no number")
        assert app.list.search('') == ''
        await until(pilot, lambda: app.picked[-1:] == ['n12345'])
    shown(test)


def test_a_search_waits_for_the_rows() -> None:
    async def run() -> None:
        app = Lists(Numbers())
        app.numbers.hold.clear()
        async with app.run_test(size=(80, 22)) as pilot:
            assert app.list.search('n777') == "searching 'n777' ..."
            app.numbers.hold.set()
            await until(pilot, lambda: app.said[-1:] == ['number 778 of 1,000,000'])
            assert app.list.cursor == 777
    asyncio.run(run())


def test_a_key_that_comes_before_the_rows_selects_one_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Page, 'preview', lambda page, count: [])

    async def run() -> None:
        app = Lists(Numbers())
        app.numbers.hold.clear()
        async with app.run_test(size=(80, 22)) as pilot:
            await pilot.press('home')
            await pilot.pause(0.4)              # longer than a cursor must rest
            app.numbers.hold.set()
            await until(pilot, lambda: app.picked == ['n0'])
    asyncio.run(run())


def test_a_long_search_says_how_far_it_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1_000))
    monkeypatch.setattr(list_feed, 'monotonic', lambda: float(next(clock)))

    async def test(app: Lists, pilot: Pilot[None]) -> None:
        app.list.search('zebra')
        await until(pilot, lambda: app.said[-1:] == ["'zebra' is in no number"])
        told = [(int(words[3].replace(',', '')), words[2].count('━')) for words in map(str.split, app.said[:-1])]
        assert told[1] == (4096, 0) and told[-1] == (999_424, 19) and told == sorted(told)
        assert app.said[1] == f"searching 'zebra' {'─' * 20} 4,096 of 1,000,000 numbers, Esc ends it"
    shown(test)


def test_a_list_that_grows_follows_its_end_only_when_it_is_there() -> None:
    async def test(app: Lists, pilot: Pilot[None]) -> None:
        await pilot.press('down')
        app.numbers.total = 120
        app.list.grown()
        app.list.grown()
        await until(pilot, lambda: app.list.count == 120)
        assert app.names()[0] == 'n0' and app.list.cursor == 1
        await pilot.press('end')
        await pilot.pause()
        app.numbers.total = 150
        app.list.grown()
        await until(pilot, lambda: app.list.count == 150)
        assert app.names()[-1] == 'n149' and app.list.cursor == 149
        await until(pilot, lambda: app.picked[-1:] == ['n149'])
        app.list.scroll_to(y=30, animate=False)
        await pilot.pause()
        app.numbers.total = 160
        app.list.grown()
        await until(pilot, lambda: app.list.count == 160)
        assert app.names()[0] == 'n30'
    shown(test, total=100)


@pytest.mark.parametrize('found', [True, False])
def test_a_row_chosen_elsewhere_is_shown_though_the_list_grows_meanwhile(found) -> None:
    async def test(app: Lists, pilot: Pilot[None]) -> None:
        before = app.list._feed.opened
        app.numbers.hold.clear()
        app.list._look_again()
        app.list.show_key('n500')
        if found:                               # in the old rows, then there are new ones
            await until(pilot, lambda: app.list.cursor == 500)
        else:                                   # the new ones are there first
            app.list._feed.opened = None
        app.numbers.hold.set()
        await until(pilot, lambda: app.list._feed.opened not in (None, before))
        await until(pilot, lambda: 'n500' in app.names() and app.list.cursor == 500)
        await pilot.pause(0.3)
        assert app.list.cursor == 500 and app.picked == []
    shown(test)


def test_show_key_goes_to_a_row_without_telling_anybody() -> None:
    async def test(app: Lists, pilot: Pilot[None]) -> None:
        app.list.show_key('n500000')
        await until(pilot, lambda: app.list.cursor == 500_000)
        await until(pilot, lambda: 'n500000' in app.names())
        await pilot.pause(0.3)
        assert app.picked == []
    shown(test)


def test_another_width_has_other_columns() -> None:
    async def test(app: Lists, pilot: Pilot[None]) -> None:
        await pilot.resize_terminal(50, 22)
        await until(pilot, lambda: app.lines()[1].split() == ['n', '^', 'square', 'name'])
        await until(pilot, lambda: len(app.names()) == 20)
        assert all(len(line) <= 50 for line in app.lines())
    shown(test)
    columns = (ListColumn('a', 'a', 3), ListColumn('b', 'b', 5, fills=True), ListColumn('c', 'c', 4, beyond=20))
    assert [(slot.column.key, slot.start, slot.width) for slot in slots(columns, 30)] == [
        ('a', 0, 3), ('b', 5, 19), ('c', 26, 4)]
    assert [(slot.column.key, slot.start, slot.width) for slot in slots(columns, 12)] == [('a', 0, 3), ('b', 5, 7)]
    assert [slot.width for slot in slots(columns, 6)] == [3, 1]


def test_empty_and_tiny() -> None:
    async def test(app: Lists, pilot: Pilot[None]) -> None:
        assert app.lines()[0].startswith('0 numbers') and app.names() == []
        await pilot.press('end', 'down', 'enter', 'pageup', 'o')
        assert app.list.cursor == 0 and app.chosen == []
        await pilot.resize_terminal(3, 2)
        await pilot.pause()
    shown(test, total=0)
