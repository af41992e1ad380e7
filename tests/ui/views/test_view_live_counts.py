"""The numbers above a program under `--live`."""
from __future__ import annotations

from dataclasses import replace

import pytest

from pyfuncdbg.observers.debug.reports.live_counts import LiveCounter, LiveCounts
from pyfuncdbg.ui.views.reports.live_counts import live_counts_view
from pyfuncdbg.ui.views.sample_trace import sample
from pyfuncdbg.ui.views.units import align


@pytest.fixture
def now() -> LiveCounts:
    found = LiveCounter(sample(), 0).take()
    return replace(found, memory=80 << 20, peak=90 << 20, call_rate=1234.5, run_rate=0.25, over=False,
                   sites=tuple(replace(site, rate=12.34, share=0.5) for site in found.sites))


def test_rates_memory_and_health_come_first(draw, now: LiveCounts) -> None:
    lines = [line.rstrip() for line in draw(live_counts_view(now), 120).splitlines()]
    assert lines[0] == ('running 1.2 s             3 runs, 0.25/s            5 calls, 1,234/s          0 running now')
    assert lines[1] == ('memory 80 MB              memory at most 90 MB      trace 2.93 KB of 256 MB   '
                        '2 met NaN or infinity')
    assert lines[2] == '1 raised'
    norm = next(line for line in lines if line.lstrip().startswith('norm')).split()
    assert norm[:10] == ['norm', '3', '12.3', '210', 'us', '630', 'us', '1', '1', '50%']
    assert norm[10:] == ['normalize', 'model.py:39']


def test_the_gradient_of_a_parameter_has_what_it_is_in_place_of_a_line(draw, now: LiveCounts) -> None:
    first = now.sites[0]
    leaf = replace(first.use.site, name='scale_grad', kind='gradient', op_type='Parameter', function='', filename='', line=0,
                   stack=())
    text = draw(live_counts_view(replace(now, sites=(replace(first, use=replace(first.use, site=leaf)),))), 120)
    assert text.splitlines()[-1].split()[-1] == 'Parameter' and 'unknown place' not in text


def test_nothing_was_called_yet(draw, now: LiveCounts) -> None:
    lines = draw(live_counts_view(replace(now, sites=(), elapsed=75.04)), 80).splitlines()
    assert lines[0].startswith('running 75.0 s  ') and lines[-1] == 'no wrapped function was called yet'


def test_all_is_well(draw, now: LiveCounts) -> None:
    text = draw(live_counts_view(replace(now, bad=0, failed=0, memory=None, info=replace(now.info, dropped={'calls': 12}))),
                120)
    assert 'all values finite' in text and 'nothing raised' in text and 'not kept: 12 calls' in text
    assert 'memory 80' not in text


@pytest.mark.parametrize('width', range(40, 201, 8))
def test_it_fits_and_no_figure_is_broken_or_cut(draw, now: LiveCounts, width: int) -> None:
    now = replace(now, info=replace(now.info, calls=1_234_567_890, nbytes=1023 << 20, budget=1000 << 20), bad=1_234_567)
    text = draw(live_counts_view(replace(now, sites=now.sites * 10), rows=3), width)
    assert max(map(len, text.splitlines())) <= width and '... 17 more' in text
    for figure in ('running 1.2 s', '1,234,567,890 calls, 1,234/s', 'memory 80 MB', 'memory at most 90 MB',
                   'trace 1023 MB of 1000 MB', '1,234,567 met NaN or infinity', '1 raised'):
        assert any(figure in line for line in text.splitlines()), figure


def test_a_figure_stays_where_it_is_when_another_gets_longer(draw, now: LiveCounts) -> None:
    longer = replace(now, elapsed=12345.6, call_rate=999_999.0, info=replace(now.info, runs=1_000_000))
    first, second = (draw(live_counts_view(one), 120).splitlines() for one in (now, longer))
    for line, other in zip(first[:3], second[:3], strict=True):
        assert [bool(line[at:at + 1].strip()) for at in range(0, 104, 26)] == [
            bool(other[at:at + 1].strip()) for at in range(0, 104, 26)]


def test_units_and_decimal_points_are_below_one_another(draw, now: LiveCounts) -> None:
    uses = (replace(now.sites[0].use, total=30.3, finished=100), replace(now.sites[0].use, total=0.0136, finished=1000),
            replace(now.sites[0].use, total=5e-7, finished=1))
    sites = tuple(replace(now.sites[0], use=use, spent=use.total, rate=rate)
                  for use, rate in zip(uses, (3.31, 661.0, 0.0), strict=True))
    lines = draw(live_counts_view(replace(now, sites=sites)), 120).splitlines()
    first, second, third = (line for line in lines if line.lstrip().startswith('norm'))
    assert first.index('ms') == second.index('us') == third.index('ns')             # of the mean
    assert first.rindex(' s  ') + 1 == second.rindex('ms') == third.rindex('ns')     # of the time
    assert first.index('.') == second.index('661') + 3                              # of the rate


def test_aligned_numbers() -> None:
    assert align(['303 ms', '13.6 us', '8 s', '', '1,204.25 s']) == [
        '  303    ms', '   13.6  us', '    8    s ', '', '1,204.25 s ']
    assert align(['3.31', '661', '']) == ['  3.31', '661   ', ''] and align([]) == []


def test_figures_that_are_not_of_now_say_so(draw, now: LiveCounts) -> None:
    assert draw(live_counts_view(now, old=7.4, why='the trace is being read'), 80).splitlines()[0] == (
        'these figures are 7 s old: the trace is being read')
    assert 'old' not in draw(live_counts_view(now), 80)
    ended = draw(live_counts_view(replace(now, over=True, elapsed=9.0)), 80)
    assert ended.startswith('ran 9.0 s, mean rates') and 'running now' not in ended


def test_calls_that_run_are_counted(draw, now: LiveCounts) -> None:
    text = draw(live_counts_view(replace(now, sites=(replace(now.sites[0], running=2), *now.sites[1:]))), 120)
    assert '2 running now' in text and next(line for line in text.splitlines() if 'norm' in line).split()[2] == '2'


def test_backward_passes_have_a_rate_of_their_own(draw, now: LiveCounts) -> None:
    lines = draw(live_counts_view(replace(now, pass_rate=12.0, info=replace(now.info, passes=40))), 120).splitlines()
    assert '3 runs, 0.25/s            40 backward passes, 12/s' in lines[0]
