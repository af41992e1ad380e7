"""Tables that fit: which columns stay, what is cut, what goes on in a second line."""
from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from pyfuncdbg.ui.views.lists import Column, fitted_table, shorten_text


def lines(columns, width, sort=''):
    console = Console(width=width, file=io.StringIO(), _environ={})
    console.print(fitted_table(columns, console.options, sort=sort))
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def column(title, *cells, **options):
    return Column(title, [Text(cell) for cell in cells], **options)


ROWS = [column('name', 'a' * 30, 'b', rank=0, least=10), column('size', '10', '200', rank=1, right=True),
        column('remark', 'all zero here', '', rank=2, least=8, folds=True)]


def test_with_room_everything_stands_on_one_line():
    assert lines(ROWS, 60) == ['name                            size  remark', '─' * 51,
                               'a' * 30 + '    10  all zero here', 'b' + ' ' * 32 + '200']


def test_names_are_cut_before_columns_go():
    assert lines(ROWS, 40)[2] == 'aaaaaa...aaaaaa    10  all zero here'.replace('aaaaaa...aaaaaa', 'a' * 8 + '...' + 'a' * 8)


def test_remarks_are_folded():
    shown = lines(ROWS, 26)
    assert shown[2:4] == ['aaaa...aaa    10  all zero', '                  here']


def test_the_last_rank_goes_first_and_the_sorted_column_stays():
    assert lines(ROWS, 18)[0] == 'name          size'
    assert lines(ROWS, 22, sort='remark')[0] == 'name          remark v'
    assert lines(ROWS, 22, sort='time')[0] == 'name              size'


def test_the_room_goes_to_the_cells_that_it_makes_whole():
    """One long name does not keep all types from being whole."""
    table = [column('name', 'x' * 60, 'mul', 'add', rank=0, least=8),
             column('type', 'VarHandleOp', 'VarHandleOp', 'Sub', rank=1, least=6)]
    shown = lines(table, 40)
    assert [line.split() for line in shown[2:]] == [['x' * 12 + '...' + 'x' * 12, 'VarHandleOp'], ['mul', 'VarHandleOp'],
                                                    ['add', 'Sub']]
    assert cell_len(shown[2]) == 40


def test_numbers_of_a_remark_are_whole_before_a_name_is_longer():
    table = [column('self', '1 ms', rank=0, right=True), column('code', 'normalized = ' + 'f' * 30, rank=1, least=14),
             column('remarks', '1,552 bad', rank=2, least=7)]
    assert lines(table, 34)[2].endswith('  1,552 bad')


def test_no_word_of_a_remark_is_broken():
    table = [column('name', 'n' * 20, rank=0, least=10),
             column('verdict', 'without anything extraordinary', rank=1, least=4, folds=True)]
    assert [line.split()[-1] for line in lines(table, 27)[2:]] == ['without', 'anything', 'extraordinary']


def test_units_stand_below_one_another():
    table = [column('took', '1.25 s', '340 ms', '', '7 us', rank=0, right=True),
             column('bytes', '3 B', '1.5 KB', '12', '-', rank=1, right=True)]
    assert lines(table, 40)[2:] == [' 1.25 s     3 B', ' 340 ms  1.5 KB', '             12', '   7 us       -']


def test_empty_columns_are_left_out():
    assert lines([column('x', '1', rank=0), column('y', '', rank=1)], 40)[0] == 'x'


@pytest.mark.parametrize('width', range(1, 60))
def test_no_line_is_wider_than_the_console(width):
    assert all(cell_len(line) <= width for line in lines(ROWS, width))


@pytest.mark.parametrize(('text', 'width', 'expected'), [
    ('abcdef', 6, 'abcdef'), ('abcdefghij', 7, 'ab...ij'), ('日本語日本語', 8, None), ('x', 0, ''),
])
def test_cut(text, width, expected):
    found = shorten_text(Text(text, 'bold'), width)
    assert found.cell_len <= max(width, 1)
    if expected is not None and width:
        assert found.plain == expected
    assert found.style == 'bold'


def test_what_is_cut_keeps_the_styles_of_its_ends():
    found = shorten_text(Text.assemble(('raised KeyError', 'bold red'), ': the name', ('  2 prints', 'dim')), 15)
    assert found.plain == 'raised...prints'
    assert [(found.plain[span.start:span.end], span.style) for span in found.spans] == [
        ('raised', 'bold red'), ('prints', 'dim')]
