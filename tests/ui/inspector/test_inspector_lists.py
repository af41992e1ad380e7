"""Lists in the inspector: every one can be filtered and sorted, by its command where that can; what changed in a tensor."""
from __future__ import annotations

import pytest
from inspecting import click, drive, inspector, opened, press, screen, type_line, until
from rich.text import Text

from pyfuncdbg.ui.commands.table import TABLE
from pyfuncdbg.ui.inspector.lists.drawn_lines import DrawnPicture, PicturePart, drawing, filter_rows
from pyfuncdbg.ui.inspector.lists.list_command import key_at, list_line

WIDE = (160, 50)


def rows(pilot) -> list[str]:
    """The lines of the sheet that is shown, without blanks at their ends."""
    return [line.text for line in inspector(pilot).shown.drawing.lines]


def typed(pilot) -> str:
    """What stands in the command line."""
    return inspector(pilot).query_one('#line').value


def last(pilot) -> str:
    """The command line that was carried out last."""
    return inspector(pilot).query_one('#command')._past[-1]


def test_a_filter_of_a_pane_narrows_as_it_is_typed_and_stays_from_call_to_call(trace) -> None:
    async def test() -> None:
        async with opened(trace) as pilot:
            await press(pilot, '1')
            whole = rows(pilot)
            shown = await press(pilot, 'ampersand', 'N', 'o', 'r')
            kept = [row for row in whole if 'nor' in row.lower()]
            assert 0 < len(kept) < len(whole)
            assert rows(pilot) == [f'{len(kept)} of {len(whole)} rows   filter: Nor   Esc shows all', *kept]
            assert rows(pilot)[0] in shown
            await press(pilot, 'enter')
            assert inspector(pilot).focused is inspector(pilot).shown and typed(pilot) == ''
            shown = await press(pilot, 'comma')                     # to the call before
            assert 'best[1] in run #3' in shown and 'filter: Nor' in rows(pilot)[0]
            assert all('nor' in row.lower() for row in rows(pilot)[1:]) and len(rows(pilot)) > 1
            await press(pilot, 'ampersand')
            assert typed(pilot) == 'Nor'                            # to be typed on
            shown = await press(pilot, 'x')
            assert rows(pilot) == [f'0 of {len(whole)} rows   filter: Norx   Esc shows all'] and rows(pilot)[0] in shown
            await press(pilot, 'escape')
            assert len(rows(pilot)) == len(whole) and 'filter:' not in screen(pilot)
    drive(test)


def test_escape_ends_the_filter_of_the_pane_before_it_leaves_anything(trace) -> None:
    async def test() -> None:
        async with opened(trace) as pilot:
            whole = rows(pilot)
            await press(pilot, 'ampersand', 's', 'd', 'enter')
            assert 0 < len(rows(pilot)) - 1 < len(whole) and all('sd' in row for row in rows(pilot)[1:])
            await press(pilot, 'end', 'home', 'down')
            await press(pilot, 'slash', 'x', 'enter', 'escape')     # a search is among the rows that are left
            assert 'filter: sd' in screen(pilot)
            await press(pilot, 'escape')
            assert rows(pilot) == whole
    drive(test)


def test_a_card_is_one_row(trace) -> None:
    async def test() -> None:
        async with opened(trace) as pilot:
            await press(pilot, '3')
            whole = rows(pilot)
            await press(pilot, 'ampersand', *'eps', 'enter')
            at = next(index for index, row in enumerate(whole) if 'eps' in row)
            assert rows(pilot)[0].startswith('1 of 3 rows') and rows(pilot)[1] == whole[at]
            assert set(rows(pilot)[1:]) <= set(whole) and not any('norm:0' in row or 'hidden:0' in row
                                                                   for row in rows(pilot))
            shown = await click(pilot, 'in 1')                      # what a row stands for is still there
            assert inspector(pilot).result.here and last(pilot) == 'pt #13:in1' and 'in1' in shown
    drive(test)


def test_the_filter_stays_in_sight_and_covers_no_row(trace) -> None:
    async def test() -> None:
        async with opened(trace, (60, 14)) as pilot:
            await type_line(pilot, 'help')
            await press(pilot, 'ampersand', 'e', 'enter')
            await press(pilot, 'end')
            sheet = inspector(pilot).result
            height = sheet.scrollable_content_region.height
            assert len(rows(pilot)) > 2 * height
            assert 'filter: e' in sheet.render_line(0).text and rows(pilot)[-1] in sheet.render_line(height - 1).text
            for index in range(len(rows(pilot)) - 1, 0, -1):
                seen = [sheet.render_line(y).text.rstrip() for y in range(1, height)]
                assert sheet.cursor == index and rows(pilot)[index][:50].rstrip() in ' '.join(line[:50] for line in seen)
                await press(pilot, 'up')
            assert (sheet.cursor, round(sheet.scroll_y)) == (0, 0)
    drive(test)


@pytest.mark.parametrize(('line', 'offered'), [
    ('lt --bad', 'lt --bad --site '), ('lt --site norm -s name -r', 'lt --sort name --reverse --site norm'),
    ('graph', 'graph --site '), ('lp', 'lp --site '), ('lt --sort=bytes', 'lt --sort bytes --site '),
    ('ls --all', 'ls --all --path '), ('timeline --levels 2', 'timeline --levels 2 --site ')])
def test_an_answer_whose_command_filters_offers_it(trace, line, offered) -> None:
    async def test() -> None:
        async with opened(trace) as pilot:
            await type_line(pilot, line)
            await press(pilot, 'ampersand')
            assert typed(pilot) == offered
            if offered.endswith('--site '):
                shown = await press(pilot, *'norm', 'enter')
                assert last(pilot) == offered + 'norm' and 'site norm' in shown
    drive(test)


def test_an_answer_without_a_filter_of_its_own_is_narrowed(trace) -> None:
    async def test() -> None:
        async with opened(trace) as pilot:
            await type_line(pilot, 'info')
            whole = rows(pilot)
            await press(pilot, 'ampersand', *'python', 'enter')
            assert rows(pilot)[1:] == [row for row in whole if 'python' in row.lower()] != []
            await pilot.resize_terminal(70, 20)
            await until(pilot, 'filter: python')                    # drawn again, it is the same filter
            await type_line(pilot, 'report')
            assert 'filter: python' not in screen(pilot) and 'NaN born in call #13' in screen(pilot)
    drive(test)


def test_the_timeline_filters_the_time_that_is_seen(trace) -> None:
    async def test() -> None:
        async with opened(trace, (100, 30)) as pilot:
            await press(pilot, '7')
            await until(pilot, ' calls ')
            await press(pilot, 'ampersand')
            start, end = (float(word) for word in typed(pilot).split()[2:5:2])
            pane = inspector(pilot).query_one('#timeline')
            assert (start, end) == (pytest.approx(pane.start * 1e3, rel=1e-4), pytest.approx(pane.end * 1e3, rel=1e-4))
            await press(pilot, *'best', 'enter')
            shown = await until(pilot, '3 calls', 'filter: site best')
            assert not inspector(pilot).result.here and pane.has_focus
            assert {span.label.partition('[')[0] for row in pane.seen.rows for span in row.spans} == {'best'}
            await type_line(pilot, 'timeline')
            await until(pilot, f'{sum(1 for _ in inspector(pilot).desk.trace.calls())} calls ')
            assert 'filter: site' not in screen(pilot) and shown.split('\n')[2] not in screen(pilot)
            await press(pilot, 'ampersand')
            assert typed(pilot).endswith(' --site ')
    drive(test)


def test_a_header_of_an_answer_sorts_and_a_second_click_turns_it_round(trace) -> None:
    async def test() -> None:
        async with opened(trace, (130, 30)) as pilot:
            await type_line(pilot, 'lt --site norm')
            for header, wanted in (('bytes', 'lt --site norm --sort bytes'), ('name', 'lt --site norm --sort name'),
                                   ('name', 'lt --site norm --sort name --reverse'), ('max', 'lt --site norm --sort max'),
                                   ('time', 'lt --site norm --sort time')):
                row = next(index for index, line in enumerate(screen(pilot).split('\n')) if 'min |hist| max' in line)
                line = screen(pilot).split('\n')[row]
                await pilot.click(offset=(line.index(header), row))
                await press(pilot)
                assert last(pilot) == wanted
                assert f'sort: {header}' + ', reversed' * wanted.endswith('reverse') in screen(pilot)
            await click(pilot, 'min |hist| max', -30)               # between headers nothing is typed
            before = last(pilot)
            await click(pilot, 'flags')
            assert last(pilot) == 'lt --site norm --sort flags' != before
            await press(pilot, 'o')
            assert last(pilot).startswith('lt --site norm --sort ') and 'flags' not in last(pilot)
            row = next(row for row in rows(pilot) if ' #7 ' in row)
            shown = await click(pilot, row[row.index('norm:0'):][:20])      # a tensor of a row is that of the row's call
            assert last(pilot) == 'pt #7:0' and 'pt #7:0' in shown
            await type_line(pilot, 'lt --type feed')
            row = next(row for row in rows(pilot) if ' run 3 ' in row)
            await click(pilot, row[row.index('x:0'):][:30])
            assert last(pilot) == 'pt x:0 --run 3'
    drive(test)


@pytest.mark.parametrize('line', ['graph', 'lp', 'ls --all'])
def test_every_header_that_is_a_sort_key_sorts(trace, line) -> None:
    async def test() -> None:
        async with opened(trace, (140, 30)) as pilot:
            await type_line(pilot, line)
            asked = list_line(line)
            rule = next(index for index, row in enumerate(rows(pilot)) if row and not row.strip('─'))
            headers = [word for word in rows(pilot)[rule - 1].split() if word in asked.keys]
            assert len(headers) >= 3
            for word in headers:
                await type_line(pilot, line)
                top = next(index for index, text in enumerate(screen(pilot).split('\n')) if text and not text.strip('─')) - 1
                await pilot.click(offset=(screen(pilot).split('\n')[top].index(word), top))
                await press(pilot)
                assert last(pilot) in (f'{line} --sort {word}', f'{line} --sort {word} --reverse')
                assert f'sort: {word}' in screen(pilot)
    drive(test)


def test_what_changed_in_the_tensor_that_is_looked_at(trace) -> None:
    async def test() -> None:
        async with opened(trace) as pilot:
            await press(pilot, '2', 'D')
            assert typed(pilot) == 'pt --diff #13:0'                # no tensor on the line: to be typed on
            shown = await press(pilot, 'enter')
            assert last(pilot) == 'pt --diff #13:0' and 'norm[1]' in shown
            await press(pilot, 'escape')
            await press(pilot, '3', 'home', 'D')
            assert last(pilot) == 'pt --diff #13:in0' and inspector(pilot).result.here
            await type_line(pilot, 'pt #7:0')
            await press(pilot, 'D')
            assert last(pilot) == 'pt --diff #7:0' and 'norm[0]' in screen(pilot)
    drive(test)


# ---------------------------------------------------------------------- the rules, without an app
def drawn(*parts: PicturePart):
    """Parts at 60 columns."""
    return drawing(DrawnPicture('', parts), 60)


@pytest.mark.parametrize(('wanted', 'kept'), [('MAT', ['matmul', 'Mat[1]']), ('m*l', ['matmul']), ('mat[', ['Mat[1]']),
                                              ('?[[]', ['Mat[1]']), ('.*', [])])
def test_a_text_or_a_pattern(wanted, kept) -> None:
    whole = drawn(*(PicturePart(Text(text)) for text in ('matmul', 'Mat[1]', 'relu')))
    found = filter_rows(whole, wanted)
    assert [line.text for line in found.lines[1:]] == kept and found.lines[0].text.startswith(f'{len(kept)} of 3 rows')


def test_the_chosen_line_stays_chosen_if_it_is_left() -> None:
    whole = drawn(PicturePart(Text('one')), PicturePart(Text('two\ntwo b'), chosen=True, whole=True),
                  PicturePart(Text('three')))
    assert (whole.chosen, whole.last) == (1, 2)
    found = filter_rows(whole, 'two b')
    assert [line.text for line in found.lines[1:]] == ['two', 'two b'] and (found.chosen, found.last) == (1, 2)
    assert (filter_rows(whole, 'three').chosen, filter_rows(whole, 'three').last) == (-1, -1)
    assert filter_rows(whole, '') is whole


def test_what_is_typed_is_shown_as_text() -> None:
    found = filter_rows(drawn(PicturePart(Text('one'))), '\x1b[31m[bold]')
    assert '\x1b' not in found.lines[0].text and '[bold]' in found.lines[0].text


@pytest.mark.parametrize('command', TABLE, ids=lambda one: one.name)
def test_every_line_of_a_list_is_read_back(command) -> None:
    asked = list_line(command.name)
    assert asked is not None
    for key in asked.keys:
        again = list_line(asked.sorted_by(key))
        assert again is not None and again.sort == key and again.given == asked.given
        assert again.reversed is (key == asked.sort and bool(asked.reversing))
        turned = list_line(again.sorted_by(key))
        assert turned is not None and turned.reversed is (bool(asked.reversing) and not again.reversed)
    if asked.narrowing:
        narrow = list_line(asked.to_narrow() + 'a*')
        assert narrow is not None and (narrow.pattern, narrow.given) == ('a*', asked.given)


def test_a_line_that_goes_to_a_file_or_is_no_command_is_no_list() -> None:
    for line in ('lt >> out.txt', 'lt --json', 'x + "', 'nonsense', ''):
        assert list_line(line) is None
    asked = list_line('calls --site=a -n 5 --sort duration')
    assert asked is not None and asked.sorted_by('duration') == 'calls -n 5 --site a --sort duration --newest'


@pytest.mark.parametrize(('header', 'under', 'key'), [
    ('time ms v  name  min |hist| max', 'ms', 'time'), ('time ms v  name  min |hist| max', 'name', 'name'),
    ('time ms v  name  min |hist| max', 'max', 'max'), ('time ms v  name  min |hist| max', 'hist', 'min'),
    ('   self v  name', 'v', 'self'), ('call  value', 'value', '')])
def test_the_key_under_a_click(header, under, key) -> None:
    assert key_at(header, header.index(under), ('time', 'name', 'min', 'max', 'self')) == key
