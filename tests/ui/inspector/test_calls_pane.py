"""The calls pane in the inspector: every call, its orders and filters are typed commands, and all panes follow it."""
from __future__ import annotations

import time
from pathlib import Path

from inspecting import click, drive, inspector, opened, place_of, press, screen, settled, type_line, until
from plain_sites import record_calls
from written_trace import write_trace

from pyfuncdbg.observers.record.records import CallRecord, SiteRecord
from pyfuncdbg.ui.inspector.desks.saved_trace import SavedDesk
from pyfuncdbg.ui.inspector.lists.rows import ListQuery
from pyfuncdbg.ui.inspector.panes.calls import CallList, command_of, query_of

WIDE = (160, 64)


def numbers(pilot) -> list[str]:
    """The calls on the screen of the pane, by number."""
    shown = inspector(pilot).query_one(CallList)
    return [shown.render_line(y).text.split()[0] for y in range(2, shown.size.height) if shown.render_line(y).text.strip()]


def test_a_header_types_the_command_and_the_cursor_stays_on_the_call(trace) -> None:
    async def test() -> None:
        async with opened(trace, WIDE) as pilot:
            assert '6 calls   sort: time   filter: none' in screen(pilot)
            by_time = numbers(pilot)
            column, row = place_of(pilot, 'took')
            await pilot.click(offset=(column, row))
            await until(pilot, '6 calls   sort: duration v   filter: none', 'took v')
            await settled(pilot)
            app = inspector(pilot)
            assert app.query_one('#command')._past[-1] == 'calls --sort duration'
            longest = sorted(app.desk.trace.calls(kind='python'), key=lambda call: -call.duration)
            assert numbers(pilot) == [f'#{call.number}' for call in longest]
            assert sorted(by_time) == sorted(numbers(pilot))
            await until(pilot, 'call #13 norm[2] in run #4')
            shown = app.query_one(CallList)
            assert longest[shown.cursor].number == '13'
            await press(pilot, '6', 'home', 'o')        # by result, from another call
            await until(pilot, '6 calls   sort: result v', f'call #{longest[0].number} {longest[0].label} in run')
            await settled(pilot)
            assert shown._line(shown.cursor).key == longest[0].number
    drive(test)


def test_a_typed_filter_is_a_list_of_its_own_and_goes_away_again(trace) -> None:
    async def test() -> None:
        async with opened(trace, WIDE) as pilot:
            await type_line(pilot, 'calls --site norm --newest')
            await until(pilot, '3 calls   sort: time v   filter: site norm')
            assert not inspector(pilot).result.here
            await until(pilot, 'norm[2] in run #4')
            shown = await type_line(pilot, 'calls --failed')
            await until(pilot, '1 call   sort: time   filter: failed', 'best[2] in run #4')
            shown = await type_line(pilot, 'calls --sort colour')
            assert "'colour' is not a sort key" in shown and '1 call   sort: time   filter: failed' in shown
            await press(pilot, '6')
            await press(pilot, 'ampersand')
            assert inspector(pilot).query_one('#line').value == 'calls --failed '
            await press(pilot, 'escape')
            await type_line(pilot, 'calls')
            await until(pilot, '6 calls   sort: time   filter: none')
            shown = await type_line(pilot, 'calls --json')
            assert '{"calls": [{"number": "1"' in shown and '6 calls   sort: time   filter: none' in shown
    drive(test)


def test_every_pane_follows_the_cursor_and_the_cursor_follows_every_key(trace) -> None:
    async def test() -> None:
        async with opened(trace, WIDE) as pilot:
            shown = inspector(pilot).query_one(CallList)
            assert numbers(pilot)[shown.cursor] == '#13'        # where the inspector begins
            await press(pilot, '6')
            await press(pilot, 'home')
            await until(pilot, 'norm[0] in run #2', 'source  normalize', 'tensors  #1 norm[0]')
            await press(pilot, 'down')
            await until(pilot, 'best[0] in run #2', 'source  pick')
            await press(pilot, 'full_stop')                     # to the next call, from wherever the keys are
            await until(pilot, 'norm[1] in run #3')
            assert numbers(pilot)[shown.cursor] == '#7'
            await click(pilot, '#14 ')
            await until(pilot, 'best[2] in run #4', 'no maximum among NaN')
            await press(pilot, 'enter')
            assert inspector(pilot).result.here and 'call #14  best[2]' in screen(pilot)
    drive(test)


def test_search_in_names_errors_and_output(trace) -> None:
    async def test() -> None:
        async with opened(trace, WIDE) as pilot:
            await press(pilot, '6')
            await press(pilot, 'home')
            await press(pilot, 'slash')
            for text, found in (('best', '2 of 6'), ('no maximum', '6 of 6'), ('CONSTANT', '5 of 6'), ('norm[1]', '3 of 6'),
                                ('#8', '4 of 6')):
                inspector(pilot).query_one('#line').value = text
                await settled(pilot)
                await until(pilot, f'call {found}')
            inspector(pilot).query_one('#line').value = 'best'
            await settled(pilot)
            await until(pilot, 'call 4 of 6')
            await press(pilot, 'enter')
            await until(pilot, 'call 6 of 6')
            await press(pilot, 'up')
            await until(pilot, 'call 4 of 6')
            inspector(pilot).query_one('#line').value = 'zebra'
            await until(pilot, "'zebra' is in no call")
    drive(test)


def test_a_growing_trace_adds_its_calls_and_the_end_stays_in_sight(tmp_path: Path) -> None:
    async def test() -> None:
        with record_calls(tmp_path / 'live.pfd') as make:
            make(100)
            async with opened(tmp_path / 'live.pfd', (100, 24)) as pilot:
                await press(pilot, '6')
                await until(pilot, '100 calls')
                await press(pilot, 'end')
                await until(pilot, 'step[99] in run')
                make(50)
                await until(pilot, '150 calls', 'step[149] in run')
                await press(pilot, 'home')
                await until(pilot, 'step[0] in run')
                make(50)
                await until(pilot, '200 calls')
                time.sleep(0.2)
                await settled(pilot)
                assert 'step[0] in run' in screen(pilot) and 'step[1]' in screen(pilot)
    drive(test)


def test_a_wish_and_its_command_say_the_same() -> None:
    for query in (ListQuery(), ListQuery(down=True), ListQuery((('site', 'a b*'), ('run', 3), ('failed', True)), 'duration',
                                                               True),
                 ListQuery((('kind', 'all'),), 'duration'), ListQuery((('bad', True), ('printed', True)), 'result', True)):
        assert query_of(command_of(query)) == query
    assert command_of(ListQuery((('site', 'a b*'),), 'size', True)) == 'calls --site "a b*" --sort size --newest'
    assert query_of('calls --json') is None and query_of('calls >> file') is None and query_of('calls --help') is None


def test_a_list_that_was_never_seen_shows_what_a_command_asks_for(trace) -> None:
    async def test() -> None:
        async with opened(trace, (80, 24)) as pilot:
            await type_line(pilot, 'calls --failed')
            await until(pilot, '1 call   sort: time   filter: failed', '#14', 'raised ValueE')
            await settled(pilot)
            await press(pilot, '3')
            await until(pilot, 'no outputs')
    drive(test)


def test_the_call_that_all_begin_at_is_in_sight(trace) -> None:
    async def test() -> None:
        async with opened(trace, (120, 36)) as pilot:
            shown = inspector(pilot).query_one(CallList)
            await until(pilot, 'norm[2] in run #4', '6 calls ')
            assert shown.size.height - 2 < 5 and shown.cursor == 4      # it does not stand among the first
            assert '#13' in numbers(pilot)
    drive(test)


def test_a_trace_without_calls_of_python_functions_lists_the_others(tmp_path: Path) -> None:
    site = SiteRecord(1, 1, 'mul', 'Mul', 'op', 'pyfuncdbg', '', '', 0, '', (), (), ())
    calls = [CallRecord(str(number + 1), 1, 0, site, number, 1, number / 1e3, 1e-4, (), (), (), None) for number in range(3)]
    write_trace(tmp_path / 'ops.pfd', calls)

    async def test() -> None:
        async with opened(SavedDesk(tmp_path / 'ops.pfd'), WIDE) as pilot:
            await settled(pilot)
            shown = screen(pilot)
            assert '3 calls   sort: time   filter: kind all' in shown and 'mul[2]' in shown
    drive(test)
