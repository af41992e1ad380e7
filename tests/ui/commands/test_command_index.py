"""Slices and ranges are read as data and mean what NumPy means."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from pyfuncdbg.errors import CommandError
from pyfuncdbg.ui.commands.engine.slice_syntax import parse_index, parse_ranges, slice_array

ARRAY = np.arange(4 * 5 * 6).reshape(4, 5, 6)
PARTS = st.one_of(st.integers(-7, 7), st.slices(6), st.just(...))


def written(part):
    if part is ...:
        return '...'
    if isinstance(part, int):
        return str(part)
    ends = ['' if n is None else str(n) for n in (part.start, part.stop)]
    return ':'.join(ends if part.step is None else [*ends, str(part.step)])


@given(st.lists(PARTS, min_size=1, max_size=4), st.sampled_from([',', ', ', ' , ']))
def test_the_same_as_numpy(parts, comma):
    text = '[' + comma.join(map(written, parts)) + ']'
    try:
        expected = ARRAY[tuple(parts)]
    except IndexError:
        with pytest.raises(CommandError):
            slice_array(ARRAY, parse_index(text))
        return
    result = slice_array(ARRAY, parse_index(text))
    assert isinstance(result, np.ndarray)
    np.testing.assert_array_equal(result, expected)


@given(hnp.arrays(np.int8, hnp.array_shapes(min_dims=0, max_dims=3, max_side=4)), st.data())
def test_basic_indices_of_any_array(array, data):
    index = data.draw(hnp.basic_indices(array.shape, allow_newaxis=False))
    parts = index if isinstance(index, tuple) else (index,)
    if not parts:
        return
    np.testing.assert_array_equal(slice_array(array, parse_index('[' + ', '.join(map(written, parts)) + ']')), array[index])


@pytest.mark.parametrize('text', ['[]', '[a]', '[1', '1]', '', '[1;2]', '[1:2:3:4]', '[::0]', '[..., ...]', '[x.y]',
                                  '[-]', '[1,,2]', '[__import__("os")]', '[None]', '[1.5]', '[' + '9' * 5000 + ']'])
def test_everything_else_is_refused(text):
    with pytest.raises(CommandError):
        parse_index(text)


def test_the_message_names_shape_and_axis():
    with pytest.raises(CommandError, match=r'norm:0 has shape \[4, 5, 6\]: index 9 is out of bounds for axis 1 with size 5'):
        slice_array(ARRAY, parse_index('[0, 9]'), 'norm:0')
    with pytest.raises(CommandError, match='too many indices'):
        slice_array(np.array(1.0), parse_index('[0]'))
    with pytest.raises(CommandError, match=r'has shape \[4, 5, 6\]'):
        slice_array(ARRAY, parse_index('[999999999999999999999]'))


def test_a_trailing_comma_and_huge_bounds_are_fine():
    assert slice_array(ARRAY, parse_index('[1,]')).shape == (5, 6)
    assert slice_array(ARRAY, parse_index('[:99999999999999999999]')).shape == (4, 5, 6)


def test_bytes_keep_their_zeros():
    array = np.array([b'a\0', b'b'], object)
    assert slice_array(array, parse_index('[0]')).item() == b'a\0'


@pytest.mark.parametrize(('text', 'ranges'), [
    ('[0, 1]', ((0, 1),)), ('[[-inf, -0.5], [0.5, inf]]', ((-np.inf, -0.5), (0.5, np.inf))), ('[[1e-3,.5]]', ((1e-3, 0.5),)),
    ('[+1,2.]', ((1, 2),)),
])
def test_ranges(text, ranges):
    assert parse_ranges(text) == ranges


@pytest.mark.parametrize(('text', 'message'), [
    ('1,2', 'is not a range'), ('[1]', 'is not a range'), ('[1,2', 'is not a range'), ('[[1,2][3,4]]', 'is not a range'),
    ('[a, 2]', "'a' in the range"), ('[1, nan]', "'nan' in the range"), ('[2, 1]', 'is empty'), ('', 'is not a range'),
])
def test_what_is_no_range(text, message):
    with pytest.raises(CommandError, match=message):
        parse_ranges(text)
