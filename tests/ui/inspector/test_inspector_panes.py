"""The panes on a saved trace: what they show of a call, and that all follow when another is looked at."""
from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inspecting import click, drive, inspector, opened, press, screen, settled, type_line, until

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.ui.inspector.desks.desk import Event
from pyfuncdbg.ui.inspector.desks.saved_trace import SavedDesk
from pyfuncdbg.ui.inspector.lists.drawn_lines import drawing
from pyfuncdbg.ui.inspector.lists.list_feed import ListFeed
from pyfuncdbg.ui.inspector.lists.messages import CallFound, CallSelected, DeskChanged, MessagePosted
from pyfuncdbg.ui.inspector.panes.calls import CallList
from pyfuncdbg.ui.inspector.panes.scene import Scene
from pyfuncdbg.ui.inspector.panes.table import PANES

WIDE = (160, 50)


def test_all_panes_begin_at_the_first_call_that_went_wrong(trace) -> None:
    async def test() -> None:
        async with opened(trace, WIDE) as pilot:
            shown = screen(pilot)
            assert 'norm[2] in run #4' in shown.split('\n')[0]
            lines = [' '.join(line.split()) for line in shown.replace('│', ' ').split('\n')]
            assert any('* x feed ok' in line for line in lines)
            assert any('> norm' in line and 'NaN 4' in line for line in lines)
            assert any('* best' in line and 'raised ValueError' in line for line in lines)
            assert '> 11     return ((x - mu) / sd).astype(np.float32)' in shown
            assert 'invalid value encountered in divide' in shown and 'out float32[3,4] NaN 4' in shown
            assert 'def normalize(x, eps):' in shown and 'x float32[3,4]' in shown and 'eps float32' in shown
            assert 'in 0 x  hidden:0  float32 [3, 4]  48 B' in shown and 'out 0  norm:0  float32 [3, 4]' in shown
            assert 'row 1 is [bold]constant[/]' in shown
            assert 'no gradients were computed in run #4' in shown
    drive(test)


class Layer:
    def call(self, low, high):
        return high - low


def test_the_arguments_of_a_method_stand_beside_its_line_under_their_names(tmp_path: Path) -> None:
    with pyfuncdbg.record(tmp_path / 'method.pfd'):
        tf.numpy_function(Layer().call, [np.float32(3), np.full(2, 7, np.float32)], tf.float32)

    async def test() -> None:
        async with opened(tmp_path / 'method.pfd', WIDE) as pilot:
            line = next(line for line in screen(pilot).split('\n') if 'def call(self, low, high):' in line)
            assert 'low float32  3  high float32[2]' in line
    drive(test)


def test_a_trace_without_bad_python_calls_is_gone_through_by_its_ops(tmp_path: Path) -> None:
    """Of a program that calls no Python function, the NaN is in its ops: to say that there is no such call is false."""
    with pyfuncdbg.record(tmp_path / 'ops.pfd', ops=True):
        for value in (1., 0.):
            tf.math.sqrt(tf.math.log(tf.constant([value])) - 1.)
    with pyfuncdbg.load(tmp_path / 'ops.pfd') as trace:
        expected = [call.label for call in trace.calls(bad=True)]
    assert len(expected) >= 3

    async def test() -> None:
        async with opened(tmp_path / 'ops.pfd', WIDE) as pilot:
            app, seen = inspector(pilot), []
            for _ in expected:
                seen.append(app.scene.call.label)
                await press(pilot, 'f')
            assert seen[0] == expected[0] and set(seen) <= set(expected) and len(set(seen)) >= 3
    drive(test)


def test_the_picture_of_a_pane_is_drawn_without_the_trace(trace, shut_trace) -> None:
    desk = SavedDesk(trace)
    paints = [pane.paint for pane in PANES if pane.paint is not None]
    scenes = [Scene(desk.trace.call(name)) for name in ('norm[2]', 'best[2]')]
    pictures = [paint(desk, scene, 80) for paint in paints for scene in scenes]
    expected = [drawing(paint(desk, scene, 80), 80) for paint in paints for scene in scenes]
    shut_trace()
    drawn = [drawing(picture, 80) for picture in pictures]
    assert [[line.text for line in one.lines] for one in drawn] == [[line.text for line in one.lines] for one in expected]
    assert sum(len(one.lines) for one in drawn) > 50


def test_every_pane_follows_from_call_to_call(trace) -> None:
    async def test() -> None:
        async with opened(trace, WIDE) as pilot:
            shown = await press(pilot, 'f')
            assert 'best[2]' in shown.split('\n')[0] and "> 15         raise ValueError('no maximum among NaN')" in shown
            assert 'ValueError: no maximum among NaN' in shown and 'no outputs' in shown
            assert 'no further call raised' in await press(pilot, 'f')
            assert 'norm[2]' in (await press(pilot, 'F')).split('\n')[0]
            shown = await press(pilot, 'comma')
            assert 'best[1]' in shown.split('\n')[0] and 'tape of run #3' in shown and 'w:0' in shown
            assert 'no output' in shown and 'source  pick  prog.py:13' in shown
            assert 'norm[2]' in (await press(pilot, 'full_stop')).split('\n')[0]
            for _ in range(5):
                shown = await press(pilot, 'comma')
            assert 'this is the first call' in shown and 'norm[0]' in shown.split('\n')[0]
    drive(test)


@pytest.mark.parametrize('key', ['F', 'comma'])
def test_going_to_another_call_leaves_an_answer_for_the_panes(trace, key) -> None:
    async def test() -> None:
        async with opened(trace, (110, 32)) as pilot:
            await press(pilot, 'f')
            await type_line(pilot, 'call 14')
            assert inspector(pilot).result.here and 'best[2]' in screen(pilot).split('\n')[0]
            shown = await press(pilot, key)
            assert 'norm[2]' in shown.split('\n')[0] and 'def normalize' in shown
            await type_line(pilot, 'report')
            await press(pilot, 'f', 'f')
            assert 'report' in await press(pilot, 'right_square_bracket')       # it can be looked at again
            assert 'no further call raised' in await press(pilot, 'f') and inspector(pilot).result.here
    drive(test)


@pytest.mark.parametrize('keys', [['comma'] * 4, ['comma'] * 3 + ['full_stop', 'comma', 'comma'],
                                  ['comma', 'full_stop'] * 3])
def test_keys_in_one_burst_go_as_far_as_one_by_one(trace, keys) -> None:
    async def test() -> None:
        async with opened(trace, (110, 32)) as pilot:
            reached = []
            for bursts in ([keys], [[key] for key in keys]):
                await type_line(pilot, 'call 14')
                await press(pilot, 'escape')
                for burst in bursts:
                    shown = await press(pilot, *burst)
                reached.append(shown.split('\n')[0])
            assert reached[0] == reached[1] and ('#14 ' in reached[0]) == (keys.count('comma') == 3)
            shown = await press(pilot, *['full_stop'] * 20)
            assert '#14 ' in shown.split('\n')[0] and 'this is the last call' in shown
    drive(test)


def test_what_a_replaced_search_finds_late_is_not_shown(trace) -> None:
    async def test() -> None:
        async with opened(trace, (110, 32)) as pilot:
            app, slow, begun = inspector(pilot), threading.Event(), threading.Event()

            def late(desk: Any, scene: Any) -> Any:
                begun.set()
                slow.wait(20)
                return desk.trace.call('14')
            app._call_search.step(late, app.scene, '')
            await asyncio.to_thread(begun.wait, 20)
            app.select_call('3')
            await until(pilot, '#3 ')
            slow.set()
            await asyncio.sleep(0.3)
            await settled(pilot)
            assert '#3 ' in screen(pilot).split('\n')[0]
    drive(test)


def test_a_click_on_a_call_or_node_is_followed_and_then_opens_it(trace) -> None:
    async def test() -> None:
        async with opened(trace, WIDE) as pilot:
            shown = await click(pilot, 'best')                      # in the graph
            assert 'best[2]' in shown.split('\n')[0] and not inspector(pilot).result.here
            shown = await click(pilot, '> best')
            assert inspector(pilot).result.here and 'call #14  best[2]  PyFunc  raised ValueError' in shown
            await press(pilot, 'escape')
            await press(pilot, 'F')
            shown = await click(pilot, 'out 0')
            assert 'pt #13:0' in shown and 'nan' in shown.lower()
    drive(test)


@pytest.mark.parametrize('size', [(80, 24), (100, 30)])
def test_a_small_terminal_has_one_pane_at_a_time(trace, size) -> None:
    async def test() -> None:
        async with opened(trace, size) as pilot:
            seen = {'1': '> norm', '2': '> 11     return', '3': 'out 0  norm:0', '4': 'row 1 is [bold]constant[/]',
                    '5': 'no gradients were computed', '6': '#13'}
            for key, text in seen.items():
                shown = await press(pilot, key)
                assert text in shown, key
                assert [other for other in ('> norm', '> 11     return', 'out 0  norm:0', 'no gradients were computed')
                        if other in shown and other != text] == []
            shown = await press(pilot, '1', 'tab')
            assert '[2 source]' in shown and '> 11     return' in shown
            shown = await press(pilot, 'shift+tab')
            assert '[1 graph]' in shown and '> norm' in shown
            shown = await click(pilot, '3 tensors')
            assert '[3 tensors]' in shown and 'out 0  norm:0' in shown
            assert 'best[2]' in (await press(pilot, 'f')).split('\n')[0] and 'in 0 y' in screen(pilot)
    drive(test)


def test_the_arrangement_follows_the_size(trace) -> None:
    async def test() -> None:
        async with opened(trace, WIDE) as pilot:
            assert '╭─ graph' in screen(pilot) and '╭─ tape' in screen(pilot)
            for size, wanted in (((80, 24), '[2 source]'), ((30, 8), '40x12 is needed'),
                                 ((160, 50), '╭─ graph')):
                await pilot.resize_terminal(*size)
                shown = await press(pilot)
                assert wanted in shown
                assert max(map(len, shown.split('\n'))) <= size[0]
            shown = await press(pilot, 'z')
            assert '╭─ source' in shown and '╭─ graph' not in shown
            assert '╭─ graph' in await press(pilot, 'z')
    drive(test)


def test_moving_and_searching_in_a_pane(trace) -> None:
    async def test() -> None:
        async with opened(trace) as pilot:
            sheet = inspector(pilot).shown
            assert sheet.drawing.lines[sheet.cursor].text.startswith(' > 11')
            await press(pilot, 'home', 'down', 'j', 'k')
            assert sheet.cursor == 1
            await press(pilot, 'end')
            assert sheet.cursor == len(sheet.drawing.lines) - 1
            shown = await press(pilot, 'slash', 's', 'd')
            assert ' of 4 lines' in shown
            await press(pilot, 'enter')
            first = sheet.cursor
            assert 'sd' in sheet.drawing.lines[first].text
            await press(pilot, 'enter')
            assert sheet.cursor != first and 'sd' in sheet.drawing.lines[sheet.cursor].text
            await press(pilot, 'up')
            assert sheet.cursor == first
            marked = [segment.text for segment in sheet.render_line(first - round(sheet.scroll_y))
                      if segment.style and segment.style.bgcolor == sheet.get_component_rich_style('sheet--found').bgcolor]
            assert 'sd' in marked
            assert "'sdq' is not here" in await press(pilot, 'q')
            shown = await press(pilot, 'escape')
            assert 'not here' not in shown and inspector(pilot).focused is sheet
    drive(test)


def test_a_number_that_is_searched_and_not_there_is_a_calls(trace) -> None:
    async def test() -> None:
        async with opened(trace) as pilot:
            await press(pilot, '2', 'slash', *'#7', 'enter', 'escape')
            await until(pilot, 'call #7 norm[1] in run')
            await press(pilot, '6', 'home')
            await until(pilot, 'call #1 norm[0] in run')
            await press(pilot, 'slash', *'14')
            await until(pilot, 'call 6 of 6')
            await press(pilot, 'enter')
            await until(pilot, 'call #14 best[2] in run')
            await press(pilot, 'escape')
            await press(pilot, '2', 'slash', *'#99999', 'enter')
            await until(pilot, 'There is no call #99999')
    drive(test)


def test_a_call_that_is_found_in_the_list_late_does_not_take_the_cursor_back(trace) -> None:
    async def test() -> None:
        async with opened(trace) as pilot:
            calls = inspector(pilot).query_one(CallList)
            await press(pilot, '6', 'home')
            await until(pilot, 'call #1 norm[0] in run')
            calls.show_key('13')
            await press(pilot, 'home')          # before the answer, or behind it
            calls.post_message(ListFeed.Located(calls._feed.opened, '13', 4, sought=False))
            await until(pilot, 'call #1 norm[0] in run')
            assert calls.cursor == 0
    drive(test)


def test_a_scrollbar_takes_no_column_of_what_is_drawn_anew(trace) -> None:
    async def test() -> None:
        async with opened(trace) as pilot:
            await type_line(pilot, 'info')
            short = inspector(pilot).result
            assert short.here and not short.show_vertical_scrollbar and short.columns == 79
            await type_line(pilot, 'help')
            assert short.show_vertical_scrollbar and short.columns == 79
    drive(test)


def test_what_is_found_when_the_app_is_being_closed_is_dropped(trace) -> None:
    async def test() -> None:
        async with opened(trace, WIDE) as pilot:
            app = inspector(pilot)
            call = app.scene.call
            await app.panes.remove()
            for late in (CallFound(call), MessagePosted('late'), CallSelected('1'), DeskChanged(Event('grown'))):
                app.post_message(late)
            await settled(pilot)                        # the app would end with an error of its own
    drive(test)
