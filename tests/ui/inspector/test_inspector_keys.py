"""Keys that come in one burst: each has done all it does before the next, which may be for somebody else, is looked at."""
from __future__ import annotations

import io
import threading
import time

import pytest
from inspecting import drive, inspector, opened, press, screen, send, settled, type_line, until
from rich.cells import cell_len
from rich.console import Console
from textual import events

from pyfuncdbg.ui.inspector.desks.saved_trace import SavedDesk
from pyfuncdbg.ui.inspector.panes.calls import CallList
from pyfuncdbg.ui.inspector.screen.key_help import key_help
from pyfuncdbg.ui.inspector.screen.key_order import PATIENCE
from pyfuncdbg.ui.inspector.screen.keys import CHANGE, ELSEWHERE, GROUPS, LOOK, STEP, keys


class Noting(SavedDesk):
    """A desk that knows what it was asked."""

    def __init__(self, path) -> None:
        super().__init__(path)
        self.asked: list[str] = []

    def answer(self, line, *rest):
        self.asked.append(line)
        return super().answer(line, *rest)


@pytest.mark.parametrize(('keys', 'ran'), [
    ([':', *'info', 'enter', 'j', 'j'], ['info']),
    ([':', *'health --bad', 'home', *'pt', 'delete', 'end', 'backspace', 'enter'], ['ptealth --ba']),
    ([':', *'inx', 'backspace', *'fo', 'enter', 'r'], ['info', 'report']),
    ([':', 'up', 'enter', 'j'], ['calls --bad']),
    (['escape', ':', *'info', 'enter'], ['info']),
    ([':', *'inf', 'escape', 'j', 'j'], []),
    ([':', *'inf', 'escape', 'j', ':', *'inf', 'escape', 'j'], []),
    (['/', *'return', 'escape', 'k'], []),
    (['/', *'e', 'enter', 'enter', 'up', 'escape', 'k', '4', 'j'], []),
    (['&', *'=', 'enter', 'j', 'j'], []),
    (['&', *'=', 'escape', 'j'], [])])
def test_keys_that_come_at_once_do_what_they_do_one_by_one(trace, keys, ran) -> None:
    async def test() -> None:
        seen = []
        for bursts in ([[key] for key in keys], [keys]):
            kept: list[str] = []
            desk = Noting(trace)
            async with opened(desk, past=('calls --bad',), keep=kept.append) as pilot:
                await press(pilot, 'home')
                app = inspector(pilot)
                for burst in bursts:
                    await press(pilot, *burst)
                assert desk.asked == ran and kept == [line for line in ran if line != 'calls --bad']
                assert app.query_one('#line').value == '' and app.focused is app.shown
                seen.append((app.shown.id, app.shown.cursor, screen(pilot)))
        assert ran or seen[0] == seen[1]        # what a command shows comes later than the keys behind it
    drive(test)


def test_what_is_pasted_comes_before_the_key_behind_it(trace) -> None:
    async def test() -> None:
        kept: list[str] = []
        async with opened(trace, keep=kept.append) as pilot:
            send(pilot, 'colon')
            pilot.app.post_message(events.Paste('health --run 4\nsecond line'))
            await press(pilot, 'enter', 'j')
            assert kept == ['health --run 4'] and inspector(pilot).query_one('#line').value == ''
            pilot.app.post_message(events.Paste('for nobody'))
            await press(pilot, 'colon')
            assert inspector(pilot).query_one('#line').value == ''
    drive(test)


def test_esc_and_a_letter_that_a_terminal_sends_as_one_key(trace) -> None:
    async def test() -> None:
        async with opened(trace) as pilot:
            await press(pilot, 'home', 'colon', *'inf')
            pilot.app.post_message(events.Key('alt+j', 'j'))
            await press(pilot, 'j')
            app = inspector(pilot)
            assert app.query_one('#line').value == '' and app.focused is app.shown and app.shown.cursor == 2
    drive(test)


class Thoughtful(SavedDesk):
    """A desk whose completions wait until they may come."""

    def __init__(self, path) -> None:
        super().__init__(path)
        self.may_come = threading.Event()

    def complete(self, text, position, *request):
        assert self.may_come.wait(60)
        return super().complete(text, position, *request)


def test_keys_behind_tab_and_enter_wait_for_the_completion(trace) -> None:
    async def test() -> None:
        kept: list[str] = []
        desk = Thoughtful(trace)
        async with opened(desk, keep=kept.append) as pilot:
            send(pilot, 'colon', *'repo', 'tab', 'enter', 'colon', *'heal', 'tab', 'enter', 'j', 'colon', *'inf')
            await pilot.pause(0.2)
            assert kept == []
            desk.may_come.set()
            await settled(pilot)
            assert kept == ['report', 'health'] and inspector(pilot).query_one('#line').value == 'inf'
    drive(test)


def test_a_completion_that_takes_long_keeps_nobody_waiting(trace) -> None:
    async def test() -> None:
        kept: list[str] = []
        desk = Thoughtful(trace)
        async with opened(desk, keep=kept.append) as pilot:
            line = inspector(pilot).query_one('#line')
            for keys in (['tab'], ['tab', 'enter', 'j']):
                send(pilot, 'colon', *'rep', *keys)
                await pilot.pause(0.2)
                send(pilot, 'escape')
                await pilot.pause(0.2)
                assert line.value == 'rep' and line.has_focus and kept == []    # what was typed is not lost
                send(pilot, 'escape')
                await pilot.pause(0.2)
                assert line.value == '' and not line.has_focus
            send(pilot, 'colon', *'rep', 'tab', 'o', 'x')                   # goes on typing: no completion any more
            send(pilot, 'backspace', *'rt', 'enter')
            await pilot.pause(0.2)
            assert kept == ['report']
            send(pilot, 'colon', *'inf')
            await pilot.pause(0.2)
            desk.may_come.set()                                                 # all of them, late
            await settled(pilot)
            assert line.value == 'inf' and kept == ['report']
    drive(test)


def test_the_palette_has_its_keys(trace) -> None:
    async def test() -> None:
        async with opened(trace) as pilot:
            await type_line(pilot, 'calls')
            calls = inspector(pilot).query_one(CallList)
            assert inspector(pilot).focused is calls
            await press(pilot, 'ctrl+p')
            await press(pilot, *'health')
            await until(pilot, 'health')
            assert len(pilot.app.screen_stack) == 2
            await press(pilot, 'escape')
            assert inspector(pilot).focused is calls
    drive(test)


# ---------------------------------------------------------------------- words and keys
@pytest.mark.parametrize(('word', 'ran'), [('report', 'report'), ('info', 'info'), ('lt', 'lt'), ('pt x:0', 'pt x:0'),
                                           ('ni norm', 'ni norm'), ('calls --bad', 'calls --bad'), ('timeline', 'timeline')])
def test_a_word_is_typed_without_a_colon_and_none_of_its_letters_is_a_key(trace, word, ran) -> None:
    async def test() -> None:
        desk = Noting(trace)
        async with opened(desk) as pilot:
            send(pilot, *('space' if char == ' ' else char for char in word))
            await settled(pilot)
            app = inspector(pilot)
            assert desk.asked == [] and app.query_one('#line').value == word and not app.result.here
            await press(pilot, 'enter')
            assert desk.asked == [ran]
    drive(test)


def test_a_letter_alone_is_a_key_and_shown_while_it_waits(trace) -> None:
    async def test() -> None:
        desk = Noting(trace)
        async with opened(desk) as pilot:
            app = inspector(pilot)
            began = time.monotonic()
            send(pilot, 'h')
            await pilot._wait_for_screen()
            assert (app.waiting, app.query_one('#line').value, desk.asked) == ('h', 'h', [])
            await settled(pilot)
            assert time.monotonic() - began >= PATIENCE and desk.asked == ['health']
            assert app.query_one('#line').value == '' and app.focused is app.shown
    drive(test)


@pytest.mark.parametrize(('keys', 'ran', 'line'), [
    (['h', 'enter'], ['health'], ''),                   # as a user of pdb types it: Enter is not for the line below
    (['h', 'h'], ['health', 'health'], ''),             # the same key again
    (['h', '2'], ['health'], ''),                       # no word has a digit there
    (['h', 'escape'], [], ''), (['h', 'backspace'], [], ''),
    (['l', 'l'], [], 'll'),                             # but this is a command of pdb's
    (['x'], [], 'x'), (['H'], [], 'H'),                 # no keys: only a word can be meant
    (['j', 'u'], [], 'ju'), (['j', 'k'], [], '')])      # the cursor moves at once, and 'jump' is a word
def test_what_comes_behind_a_letter_tells_what_it_is(trace, keys, ran, line) -> None:
    async def test() -> None:
        desk = Noting(trace)
        async with opened(desk) as pilot:
            await press(pilot, *keys)
            assert (desk.asked, inspector(pilot).query_one('#line').value) == (ran, line)
    drive(test)


def test_enter_behind_a_key_that_has_acted_is_not_for_what_it_shows(trace) -> None:
    async def test() -> None:
        desk = Noting(trace)
        async with opened(desk) as pilot:
            app = inspector(pilot)
            await press(pilot, 't')
            app._last = ('t', time.monotonic())         # however slow this machine is
            await press(pilot, 'down', 'down', 'down', 'down')
            cursor = app.shown.cursor
            await press(pilot, 't')
            app._last = ('t', time.monotonic())
            send(pilot, 'enter')
            await settled(pilot)
            assert desk.asked == ['lt', 'lt'] and cursor
            await press(pilot, 'down', 'down', 'down', 'down', 'enter')         # this one is
            assert len(desk.asked) == 3 and desk.asked[2].startswith('pt ')
    drive(test)


@pytest.mark.parametrize('key', sorted(ELSEWHERE))
def test_keys_of_a_stop_say_on_a_trace_what_to_press(trace, key) -> None:
    async def test() -> None:
        desk = Noting(trace)
        async with opened(desk, (160, 50)) as pilot:
            assert ELSEWHERE[key] in ' '.join((await press(pilot, key)).split())
            assert desk.asked == [] and not inspector(pilot).result.here
    drive(test)


@pytest.mark.parametrize(('key', 'pane'), [('l', 'source'), ('a', 'tensors')])
def test_what_pdb_lists_has_a_pane_on_a_trace(trace, key, pane) -> None:
    async def test() -> None:
        async with opened(trace) as pilot:
            await press(pilot, '1', key)
            assert inspector(pilot).panes.chosen == pane
    drive(test)


# ---------------------------------------------------------------------- the help page
@pytest.mark.parametrize('width', [40, 80, 120])
@pytest.mark.parametrize('live', [False, True])
def test_the_keys_are_grouped_and_fit_the_screen(width, live) -> None:
    console = Console(width=width - 2, file=io.StringIO(), _environ={})
    console.print(key_help(live=live))
    lines = console.file.getvalue().split('\n')        # type: ignore[attr-defined]
    text = ' '.join(' '.join(lines).split())
    assert all(cell_len(line) <= width - 2 for line in lines)
    for heading in GROUPS:
        assert (heading in text) == (live or heading not in (STEP, LOOK, CHANGE))
    for key in keys():
        if key.help and key.help not in text:
            assert width == 40 or key.stopped != live or key.action in ("typed('report')", "typed('eval ')"), key
    assert len(lines) <= {40: 60, 80: 30, 120: 22}[width]
    if not live and width == 80:
        assert len(lines) <= 20                         # with all that is around it in 24 lines
