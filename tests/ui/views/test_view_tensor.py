"""The tensor card: flags, counts, finite-only statistics, elements, and why something is missing."""
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from written_trace import tensor

from pyfuncdbg.errors import DroppedError
from pyfuncdbg.observers.record.record_contents import load_tensor
from pyfuncdbg.observers.record.records import ABSENT, Stats, TensorRecord
from pyfuncdbg.ui.views.flags import Flag, flags
from pyfuncdbg.ui.views.tensors.tensor import tensor_card
from pyfuncdbg.ui.views.tensors.tensor_words import glimpse


def card(record, title='', **how):
    return tensor_card(load_tensor(record), title, **how)


def words(array, **changes):
    return [flag.text for flag in flags(replace(tensor('t:0', np.asarray(array)), **changes))]


@pytest.mark.parametrize(('array', 'expected'), [
    ([1.0, 2.0], []),
    ([1.0, np.nan, -np.inf, np.inf], ['NaN 1', '-Inf 1', '+Inf 1']),
    ([np.nan, np.nan], ['NaN 2', 'nothing finite']),
    ([0.0, 1.0, 0.0, 2.0], ['50% zero']),
    ([0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0], []),
    ([0, 0, 0], ['all zero']),
    ([3, 3, 3], ['const']),
    ([3, np.nan, 3], ['NaN 1', 'const']),
    (7.0, []),
    ([3 + 4j, 5], ['const magnitude', 'figures of magnitudes']),
    ([3 + 4j, np.inf, 0], ['Inf 1', 'figures of magnitudes']),
    (np.nan, ['NaN 1']),
    (np.zeros((0, 4)), ['empty']),
    ([True, True], []),
])
def test_flags(array, expected):
    assert words(array) == expected


def test_no_tensor_is_called_none(draw):
    absent = TensorRecord('df:1', 'object', (), 0, 'none', note=ABSENT)
    assert draw(card(absent, 'out 1'), 80).split() == ['out', '1', 'df:1', 'None']


def test_flags_of_the_record():
    assert words([1.0, 2.0], changed=True) == ['changed during the call']
    assert words([1.0, 2.0], level='stats', note='64 KB limit') == ['stats only: 64 KB limit']
    assert words([1.0, 2.0], level='none', note='over budget', stats=None) == ['nothing kept: over budget']
    assert flags(tensor('t', np.array([np.nan, 1])))[0] == Flag('NaN 1', bad=True)


@pytest.mark.parametrize(('width', 'bins'), [(120, 24), (84, 12), (74, 8), (66, 0), (60, 0)])
def test_the_histogram_has_the_room_that_is_left(draw, width, bins):
    stats = replace(tensor('t:0', np.array([-1., 2.])).stats, min=-0.9321, max=7.198, mean=-7.006e-10, std=1.25,
                    histogram=tuple(range(1, 25)))
    lines = draw(card(replace(tensor('t:0', np.array([-1., 2.])), stats=stats), elements=False), width).splitlines()
    assert len(lines) == 3 and all(len(line) <= width for line in lines)
    assert len(lines[2].partition('|')[2].rstrip('| ')) == bins


def test_card_in_full(draw):
    text = draw(card(tensor('mm:0', np.array([[0.5, -1], [0, np.nan], [np.inf, 4]], np.float32)), 'in 0 x'))
    lines = [line.rstrip() for line in text.splitlines()]
    assert lines[0] == 'in 0 x  mm:0  float32 [3, 2]  24 B  NaN 1, +Inf 1  first bad [1, 1]'
    assert lines[1] == '  count   NaN 1  - 1  zero 1  + 2  +Inf 1  of 6'
    assert lines[2].startswith('  finite  min -1  max 4  mean 0.875  std 1.883  |')
    assert [line.split() for line in lines[3:]] == [['[0,', '0]', '0.5', '-1'], ['[1,', '0]', '0', 'nan'],
                                                    ['[2,', '0]', 'inf', '4']]


def test_figures_of_complex_numbers_are_said_to_be_of_magnitudes(draw):
    """3+4j is neither positive nor 5, and [1, -1] is not constant."""
    lines = [line.strip() for line in draw(card(tensor('z:0', np.array([3 + 4j, 0, np.nan + 1j])))).splitlines()]
    assert lines[1] == 'count   NaN 1  zero 1  non-zero 1  of 3'
    assert lines[2].startswith('finite magnitudes  min 0  max 5  mean 2.5')
    large = replace(tensor('z:0', np.array([1, -1j])), level='stats')
    assert glimpse(large).plain.startswith('complex128[2] magnitude = 1')


def test_nothing_finite_has_no_second_row(draw):
    text = draw(card(tensor('t:0', np.full(3, np.nan))))
    assert 'count   NaN 3  of 3' in text
    assert '  finite  ' not in text


def test_statistics_without_elements(draw):
    record = TensorRecord('big:0', 'float32', (1000, 1000), 4_000_000, 'stats',
                          Stats(1_000_000, zero=600_000, pos=400_000, min=0, max=1, mean=0.4, std=0.49, histogram=(6, 0, 4)),
                          note='64 KB limit')
    text = draw(card(record))
    assert 'big:0  float32 [1000, 1000]  3.81 MB  60% zero, stats only: 64 KB limit' in text
    assert 'elements not kept (64 KB limit)' in text
    assert draw(card(record), ascii_only=True).isascii()


def test_nothing_kept(draw):
    text = draw(card(TensorRecord('', 'float32', (2,), 8, 'none', note='over [bold]budget')))
    assert text.splitlines()[0] == 'float32 [2]  8 B  nothing kept: over [bold]budget'
    assert 'no statistics kept' in text


def test_bytes_that_are_gone_are_said_to_be_gone(draw):
    def gone(key):
        raise DroppedError('blob \x1b[31m lost')
    text = draw(card(replace(tensor('t:0', np.ones(2)), _read=gone)))
    assert 'blob \\x1b[31m lost' in text


def test_strings(draw):
    record = TensorRecord('names:0', 'string', (2,), 5, 'stats', Stats(2))
    assert 'count   of 2' in draw(card(record))
