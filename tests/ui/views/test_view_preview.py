"""Every element shown stands at its index; large arrays are sliced before they are formatted."""
from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from pyfuncdbg.observers.record.elements import edge_indices
from pyfuncdbg.ui.views.pictures.element_table import preview

LINE = re.compile(r'^ *\[([\d, ]+)\] +(.+)$')


def read_back(text):
    """The elements of a drawn preview by index; a '...' ends what a line says for sure, so it must not occur."""
    found = {}
    for line in text.splitlines():
        match = LINE.match(line)
        if match is None:
            continue
        start = [int(n) for n in match[1].split(',')]
        for cell in match[2].split():
            assert cell != '...'
            found[tuple(start)] = cell
            start[-1] += 1
    return found


@given(hnp.arrays(np.int64, hnp.array_shapes(min_dims=1, max_dims=4, max_side=9)), st.sampled_from([40, 80, 160]))
def test_small_arrays_are_shown_whole_and_in_place(draw, array, width):
    found = read_back(draw(preview(array, array.size), width))
    assert found == {index: str(value) for index, value in np.ndenumerate(array)}


@given(hnp.array_shapes(min_dims=1, max_dims=6, max_side=3000), st.integers(1, 200))
def test_large_arrays_show_few_elements_of_both_ends(sizes, limit):
    axes = edge_indices(sizes, limit)
    kept = [len(indices) for indices in axes]
    assert np.prod(kept, dtype=object) <= max(limit, 1)
    for indices, n in zip(axes, sizes, strict=True):
        assert indices[0] == 0
        assert len(indices) == len(set(indices.tolist()))
        assert (np.diff(indices) > 0).all()
        assert indices[-1] == n - 1 or len(indices) == 1


def test_the_gap_is_marked_and_counted(draw):
    text = draw(preview(np.arange(1000), 10))
    assert text == '  [0]    0    1    2    3    4  ...  995  996  997  998  999\n... 990 of 1,000 elements not shown\n'


def test_a_cut_row_is_cut_further_where_there_is_no_room(draw):
    text = draw(preview(np.arange(1000), 10), 40)
    assert text == '  [0]    0    1    2  ...  997  998  999\n... 994 of 1,000 elements not shown\n'


def test_a_gap_between_rows_is_marked(draw):
    lines = draw(preview(np.arange(200).reshape(100, 2), 12)).splitlines()
    assert [line.split() for line in lines[2:5]] == [['[2,', '0]', '4', '5'], ['...'], ['[97,', '0]', '194', '195']]


@given(hnp.array_shapes(min_dims=1, max_dims=3, max_side=40), st.integers(1, 60), st.sampled_from([12, 20, 40, 80]))
def test_what_is_said_to_be_hidden_is_what_is_not_shown(draw, sizes, limit, width):
    array = np.arange(np.prod(sizes)).reshape(sizes)
    text = draw(preview(array, limit), width).replace(' ... ', ' ')
    lines = [match[2].split() for line in text.splitlines() if (match := LINE.match(line))]
    cells = [cell for line in lines for cell in line if cell != '...']
    hidden = re.search(r'^\.\.\. ([\d,]+) of', text, re.MULTILINE)
    if width >= 40:                             # below, the sentence itself is folded
        assert len(cells) + (int(hidden[1].replace(',', '')) if hidden else 0) == array.size
    assert len(set(cells)) == len(cells)


def test_labels_count_on_when_a_row_is_folded(draw):
    found = read_back(draw(preview(np.arange(200).reshape(2, 100), 1000), 50))
    assert found[(1, 99)] == '199'
    assert len(found) == 200


class Untouchable(np.ndarray):
    """An array whose repr must never be asked for."""

    def __repr__(self):
        raise AssertionError('repr of a large array')

    __str__ = __repr__


def test_repr_is_never_called(draw):
    assert '... 999,987 of 1,000,000 elements' in draw(preview(np.zeros(1_000_000).view(Untouchable)))


def test_objects_are_named_by_their_class_only(draw):
    class Explosive:
        def __repr__(self):
            raise RuntimeError('boom')
        __str__ = __repr__
    array = np.empty(2, object)
    array[:] = [Explosive(), None]
    assert draw(preview(array)).split() == ['[0]', '<Explosive>', '<NoneType>']


@pytest.mark.parametrize(('array', 'cells'), [
    (np.array([np.nan, np.inf, -np.inf], np.float32), ['nan', 'inf', '-inf']),
    (np.array([True, False]), ['True', 'False']),
    (np.array([1 + 2j]), ['1+2j']),
    (np.array([0.5, -2], ml_dtypes.bfloat16), ['0.5', '-2']),
    (np.array([b'ab', b'\xff\x1b'], object), ["b'ab'", r"b'\xff\x1b'"]),
    (np.array(['x\n[b]']), [r"'x\n[b]'"]),
    (np.array(['2020-01-02'], 'datetime64[D]'), ["'2020-01-02'"]),
])
def test_element_types(draw, array, cells):
    assert draw(preview(array)).split()[1:] == cells


def test_scalars_and_empty_arrays(draw):
    assert draw(preview(np.array(3.5))) == '()  3.5\n'
    assert draw(preview(np.zeros((0, 3)))) == 'empty, shape [0, 3]\n'


def test_elements_in_a_range_are_marked_without_colour(draw):
    assert draw(preview(np.array([-1.0, 0, 0.5, 2]), ranges=((0, 1),))).split() == ['[0]', '-1', '0*', '0.5*', '2']


def test_long_text_is_cut(draw):
    text = draw(preview(np.array([b'x' * 10_000], object)))
    assert len(text) < 80
    assert 'xxx...' in text


def test_the_element_asked_for_is_among_those_shown(draw):
    array = np.zeros((100, 100))
    array[41, 57] = np.nan
    assert 'nan' not in draw(preview(array), 300)
    found = draw(preview(array, near=(41, 57)), 300)
    assert '[41, 0]' in found and found.count('nan') == 1
