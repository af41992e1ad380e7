"""Keys that come in one burst: each has done all it does before the next, which may be for somebody else, is looked at."""
from __future__ import annotations

import threading

import pytest
from inspecting import drive, inspector, opened, press, screen, send, settled, type_line, until
from textual import events

from pyfuncdbg.inspector.panes.calls import CallList
from pyfuncdbg.inspector.saved import SavedDesk


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
            send(pilot, 'colon', *'rep', 'tab', 'enter', 'colon', *'heal', 'tab', 'enter', 'j', 'colon', *'inf')
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
