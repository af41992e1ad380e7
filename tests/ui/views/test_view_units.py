"""Durations, sizes and counts as people write them."""
from __future__ import annotations

import numpy as np
import pytest
from written_trace import tensor

from pyfuncdbg.observers.debug.gradients.tape import Gradient
from pyfuncdbg.ui.views import units
from pyfuncdbg.ui.views.numerics.tape import filled_cells, flow_bar


@pytest.mark.parametrize(('value', 'text'), [(None, 'running'), (0, '0 s'), (3e-9, '3 ns'), (1.25e-5, '12.5 us'),
                                             (0.34, '340 ms'), (0.9999, '1 s'), (75.25, '75.2 s'), (3600.0, '3600 s')])
def test_seconds(value, text):
    assert units.seconds(value) == text


@pytest.mark.parametrize(('value', 'text'), [(0, '0 B'), (1023, '1023 B'), (1024, '1 KB'), (1536, '1.5 KB'),
                                             (2**20 - 1, '1 MB'), (1010 * 2**10, '1010 KB'), (256 << 20, '256 MB'),
                                             (10 << 50, '10 PB')])
def test_size(value, text):
    assert units.size(value) == text


def test_count_and_shape():
    assert units.count(1, 'call') == '1 call'
    assert units.count(1204, 'call') == '1,204 calls'
    assert units.count(2, 'entry', 'entries') == '2 entries'
    assert units.shape((3, 4)) == '3x4'
    assert units.shape(()) == '()'


def test_statistics_keep_four_digits():
    assert units.value(0.62123) == '0.6212'
    assert units.value(-0.0) == '0'
    assert units.value(None) == ''
    assert units.value(123456) == '1.235e+05'


@pytest.mark.parametrize('number', [5e-324, 1e-310, -1e-300, 1e300, -1e308, float('inf'), float('-inf'), float('nan')])
def test_no_number_is_too_small_or_too_large(number: float) -> None:
    for text in (units.seconds(number), units.milliseconds(number), units.value(number)):
        assert text and len(text) < 330
    assert len(units.seconds(number)) < 16 or abs(number) > 1e20


@pytest.mark.parametrize(('log10', 'cells'), [
    (float('inf'), 10), (float('-inf'), 1), (float('nan'), 0), (1e308, 10), (-1e308, 1), (-323.3, 1), (-3.0, 5), (None, 0)])
def test_a_bar_of_any_magnitude_has_its_width(log10: float | None, cells: int) -> None:
    gradient = Gradient('w', tensor('w', np.ones(2)), 1.0, log10, ())
    assert filled_cells(gradient, 10) == cells
    assert len(flow_bar(gradient, 10)) == 12
