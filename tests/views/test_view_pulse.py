"""The numbers above a program under `--live`."""
from __future__ import annotations

from dataclasses import replace

import pytest

from pyfuncdbg.debug.pulse import Pulse, Pulses
from pyfuncdbg.views.pulse import pulse_view
from pyfuncdbg.views.sample import sample


@pytest.fixture
def now() -> Pulse:
    found = Pulses(sample(), 0).take()
    return replace(found, memory=80 << 20, peak=90 << 20, call_rate=1234.5, run_rate=0.25,
                   sites=tuple(replace(site, rate=12.34, share=0.5) for site in found.sites))


def test_rates_memory_and_health_come_first(draw, now: Pulse) -> None:
    lines = draw(pulse_view(now), 120).splitlines()
    assert lines[0] == ('1.2 s   3 runs (0.25/s)   5 calls (1,234/s)   memory 80 MB, at most 90 MB   '
                        'trace 21 KB of 256 MB')
    assert lines[1] == '2 calls met NaN or infinity   1 call raised'
    norm = next(line for line in lines if line.lstrip().startswith('norm')).split()
    assert norm[:10] == ['norm', '3', '12.3', '210', 'us', '630', 'us', '1', '1', '50%']
    assert norm[10:] == ['normalize', 'model.py:39']


def test_nothing_was_called_yet(draw, now: Pulse) -> None:
    lines = draw(pulse_view(replace(now, sites=(), elapsed=75.04)), 80).splitlines()
    assert lines[0].startswith('75.0 s   ') and lines[-1] == 'no wrapped function was called yet'


def test_all_is_well(draw, now: Pulse) -> None:
    text = draw(pulse_view(replace(now, bad=0, failed=0, memory=None, info=replace(now.info, dropped={'calls': 12}))), 120)
    assert 'all values finite   nothing raised   not kept: 12 calls' in text and 'memory' not in text


@pytest.mark.parametrize('width', [40, 90, 160])
def test_it_fits_and_long_lists_are_cut(draw, now: Pulse, width: int) -> None:
    text = draw(pulse_view(replace(now, sites=now.sites * 10), rows=3), width)
    assert max(map(len, text.splitlines())) <= width
    assert '... 17 more' in text and text.count('50%') == (0 if width == 40 else 3)
