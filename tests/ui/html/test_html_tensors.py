"""The tensor table in a notebook: what each line says, and where in it the histogram is."""
from __future__ import annotations

import pytest
from parsed_html import Element, parsed, table_rows

from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.ipython.displays import answer_bundle
from pyfuncdbg.ui.views.sample_trace import sample


def shown(line: str) -> Element:
    return parsed(answer_bundle(execute(line, Context(sample())))['text/html']).one('div', 'pf-rich')


def test_a_line_says_all_of_its_tensor():
    header, *rows = table_rows(shown('lt').one('table', 'pf-t'))
    line = dict(zip(header, rows[2], strict=True))
    expected = {'time ms v': '20.21', 'name': 'norm:0', 'call': '#3', 'kind': 'py', 'dtype': 'float32', 'shape': '3x4',
                'bytes': '48 B', 'min': '-1.414', 'max': '1.414', 'mean': '0', 'std': '1'}
    assert {title: line[title] for title in expected} == expected
    assert line['flags'] == 'NaN 4 <- BORN model.py:44'
    assert rows[3][-1] == 'NaN 4 from #3'


def test_the_histogram_of_a_line_is_of_its_finite_elements():
    for row, (_, tensor) in zip(shown('lt').all('tr')[1:], sample().tensors(), strict=True):
        counts = [int(title.text.rpartition(': ')[2].replace(',', '')) for title in row.one('svg').all('title')]
        assert tensor.stats is not None
        assert sum(counts) == tensor.stats.size - tensor.stats.bad
        assert counts == [bar.elements for bar in tensor.stats.bars() if bar.elements]


def test_the_key_of_the_order_is_marked_in_its_own_column():
    assert 'max v' in table_rows(shown('lt -s max').one('table', 'pf-t'))[0]
    assert 'std ^' in table_rows(shown('lt -s std -r').one('table', 'pf-t'))[0]


@pytest.mark.parametrize('line', ['lt', 'lt --run 2'])
def test_times_are_those_of_the_terminal(line):
    _, *rows = table_rows(shown(line).one('table', 'pf-t'))
    terminal = execute(line, Context(sample())).text(160).splitlines()[3:]
    assert [row[0] for row in rows] == [text.split()[0] for text in terminal]


def test_an_empty_list_is_its_heading():
    tree = shown('lt --site nothing')
    assert not tree.all('table')
    assert tree.text.startswith('0 tensors')
