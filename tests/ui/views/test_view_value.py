"""The card of a tensor (`pt`): where bad elements lie, what is listed beside a picture, on any console."""
from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from written_trace import tensor

from pyfuncdbg.observers.debug.inspecting.tensor_differences import difference
from pyfuncdbg.observers.record.records import Stats
from pyfuncdbg.ui.views.tensors.tensor_difference import TensorChange, change_view
from pyfuncdbg.ui.views.tensors.value import value_view, where_bad

STYLES = re.compile(r'\x1b\[[\d;]*m')


def bad_at(shape, *places):
    array = np.zeros(shape)
    for place in places:
        array[place] = np.nan
    return array


@pytest.mark.parametrize(('array', 'expected'), [
    (bad_at((32, 8), 10), 'all in row 10 of 32'), (bad_at((32, 8), np.s_[:, 2]), 'all in column 2 of 8'),
    (bad_at((40, 8), 1, 5, 7), 'all in rows 1, 5, 7 of 40'), (bad_at((4, 50, 6), np.s_[:, 9]), 'all in axis 1 at 9 of 50'),
    (bad_at((40, 8), np.s_[::4, ::4]), 'all in rows 0, 4, 8, 12, 16, 20, ... (10) of 40'),
    (bad_at((4, 4)), ''), (np.full((4, 4), np.nan), ''), (bad_at(9, 3), ''), (np.zeros((4, 4), int), ''),
    (np.array([[b'x']], object), ''),
])
def test_where_the_bad_elements_lie(array, expected):
    assert where_bad(array).plain == expected


def test_few_elements_beside_a_picture_and_more_without(draw):
    array = np.arange(900.0).reshape(30, 30)
    record = tensor('x:0', array)
    beside, alone, part, more = (draw(value_view(record, 'here', array, **options), 120) for options in (
        {}, {'drawn': False}, {'index': '[:]'}, {'limit': 300}))
    assert len(beside.splitlines()) < 40
    assert 'elements not shown' in beside and beside.count('|') > alone.count('|')
    assert len(re.findall(r'^ *\[\d+, 0\]', alone, re.MULTILINE)) == 30
    assert len(re.findall(r'^ *\[\d+, 0\]', part, re.MULTILINE)) == 30
    assert len(re.findall(r'^ *\[\d+, 0\]', beside, re.MULTILINE)) < len(re.findall(r'^ *\[\d+, 0\]', more, re.MULTILINE))


def test_an_index_that_the_tensor_does_not_have_is_ignored(draw):
    array = np.zeros((8, 8))
    damaged = replace(tensor('x:0', array), stats=Stats(64, nan=1, first_bad=(99, 2, 3)))
    assert '[0, 0]' in draw(value_view(damaged, 'here', array))


@pytest.mark.parametrize('array', [bad_at((30, 30), 4), bad_at(90, 4), np.array([b'x', b'y'], object), np.zeros((0, 2))])
@pytest.mark.parametrize('width', [80, 160])
def test_cards_on_an_ascii_console_and_in_colour(draw, array, width):
    record = replace(tensor('x:0', array), stats=None) if array.dtype == object else tensor('x:0', array)
    other = array.copy()
    if array.size and array.dtype != object:
        other[5] = 7
    for view in (value_view(record, 'here', array, ranges=((0, 1),)),
                 change_view(TensorChange('now', 'before', difference('x:0', array, other), other, array))):
        assert draw(view, width, ascii_only=True).isascii()
        coloured = STYLES.sub('', draw(view, width, color=True))
        assert all(len(line) <= width for line in coloured.splitlines())
        assert ('NaN' in coloured or 'not finite' in coloured) == bool(
            array.dtype != object and (np.isnan(array).any() or np.isnan(other).any()))


def test_the_difference_names_the_worst_elements(draw):
    before = np.linspace(0, 1, 100)
    after = before + 0.001
    after[[40, 70]], after[90] = np.nan, 50
    text = draw(change_view(TensorChange('now', 'before', difference('x:0', before, after), after, before), limit=4), 80)
    assert text.splitlines()[0] == 'x:0  100 of 100 elements changed'
    assert 'max |difference| 49.09 at [90]' in text
    assert 'not finite: 0 before, 2 after' in text
    listed = [line.split()[0] for line in text.splitlines() if line.startswith('[')]
    assert listed[:3] == ['[40]', '[70]', '[90]']
    assert '96 more' in text


@pytest.mark.parametrize(('one', 'two', 'expected'), [
    (np.zeros(3), np.zeros(3), 'x:0  each of 3 elements as before'),
    (np.full(1, np.nan), np.full(1, np.nan), 'x:0  as before'),
    (np.zeros(3), np.zeros(4), 'x:0  another shape: float64 [3] -> float64 [4]'),
    (np.zeros(3), np.zeros(3, np.float32), 'x:0  another dtype: float64 [3] -> float32 [3]'),
    (np.array([b'a', b'b'], object), np.array([b'a', b'c'], object), 'x:0  1 of 2 elements changed'),
])
def test_the_first_line_of_a_difference(draw, one, two, expected):
    assert draw(change_view(TensorChange('now', 'before', difference('x:0', one, two), two, one)),
                80).splitlines()[0] == expected
