"""Rules by site and type, and samples: each tensor has what the first rule says, each call is kept or counted."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plain_host import new_run, new_site, wrapped

from pyfuncdbg.errors import TraceError
from pyfuncdbg.hooks import chain
from pyfuncdbg.observers.record.level_rules import LevelRule, level_rules, site_level
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace


def square(x: Any) -> list[Any]:
    return [x * x]


def test_rules_are_read() -> None:
    assert level_rules('full') == (LevelRule('*', 'full'),)
    assert level_rules('loss=full, float64=none,*=stats') == (
        LevelRule('loss', 'full'), LevelRule('float64', 'none'), LevelRule('*', 'stats'))
    rules = level_rules('float64=none,bfloat16=none,string=none,loss=none')
    assert [rule.is_of_type for rule in rules] == [True, True, True, False]


@pytest.mark.parametrize(('text', 'message'), [
    ('some', "no such level: 'some'"), ('loss=ful', "'loss=ful'; expected none, stats or full.* Did you mean 'full'"),
    ('=full', "'=full'"), ('', "''"), ('loss=full,', "''")])
def test_what_is_no_rule_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=message):
        Recorder(tmp_path / 't.pfd', level=text)


@pytest.mark.parametrize(('rules', 'level', 'by_type'), [
    ('loss=full,*=none', 'full', ()), ('square=none,loss=full', 'none', ()), ('l*s=none', 'none', ()),
    ('other=full', 'stats', ()),
    ('float64=none,loss=full,int8=none', 'full', (('float64', 'none'),)), ('loss=full,float64=none', 'full', ()),
    ('PyFunc=none', 'none', ())])
def test_the_first_rule_that_fits_counts(rules: str, level: str, by_type: tuple[tuple[str, str], ...]) -> None:
    found = site_level(level_rules(rules), new_site(square, 'loss'))
    assert (found.level, found.by_type) == (level, by_type)


def levels(path: Path) -> dict[str, list[tuple[str, ...]]]:
    """Levels of inputs and outputs of the calls of each site."""
    found: dict[str, list[tuple[str, ...]]] = {}
    with Trace.open(path) as trace:
        for call in trace.calls(limit=1000):
            for tensor in (*call.inputs, *call.outputs):
                if tensor.level == 'full':
                    assert tensor.to_numpy().nbytes == tensor.nbytes
            found.setdefault(call.site.name, []).append(tuple(t.level for t in (*call.inputs, *call.outputs)))
    return found


@pytest.mark.parametrize('size', [(), (3,), (64, 64), (300, 300)])
@pytest.mark.parametrize('kind', ['python', 'op'])
def test_each_tensor_has_its_level(size: tuple[int, ...], kind: Any, tmp_path: Path) -> None:
    run, double, single = new_run(), np.full(size, 2.0)[()], np.full(size, 3, np.float32)[()]
    sites = [new_site(square, name, kind) for name in ('loss', 'other', 'quiet')]
    with Recorder(tmp_path / 't.pfd', ops=True, full_limit=0, level='quiet=none,float32=full,loss=full,*=stats'):
        for site in sites:
            chain.invoke(site, lambda x, y: [x * x, y * y], run, [double, single])
    assert levels(tmp_path / 't.pfd') == {
        'loss': [('full',) * 4], 'other': [('stats', 'full') * 2], 'quiet': [('none',) * 4]}


def test_text_has_its_level(tmp_path: Path) -> None:
    call = wrapped(lambda x: [x], 'text')
    with Recorder(tmp_path / 't.pfd', level='string=none,*=full'):
        call(np.array([b'a', b'b'], object))
        call(np.ones(3))
    assert levels(tmp_path / 't.pfd') == {'text': [('none', 'none'), ('full', 'full')]}


def test_a_sample_keeps_each_nth_call_and_counts_the_others(tmp_path: Path) -> None:
    call, other = wrapped(square), wrapped(square, 'other')
    with Recorder(tmp_path / 't.pfd', every=10):
        for number in range(95):
            call(np.float64(number))
            if number % 2:
                other(np.float64(number))
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert [made.ordinal for made in trace.calls(site='norm')] == list(range(0, 95, 10))
        assert [made.inputs[0].to_numpy() for made in trace.calls(site='other')] == [1, 21, 41, 61, 81]
        assert trace.info().dropped == {'unsampled calls': 85 + 42} and trace.info().lost_calls == 127


def test_runs_outside_of_the_sample_are_counted_as_runs(tmp_path: Path) -> None:
    of_run, op = new_site(square, 'session', 'run'), new_site(square, 'op', 'op')
    with Recorder(tmp_path / 't.pfd', ops=True, every=4):
        for _ in range(9):
            run = new_run()
            chain.invoke(of_run, lambda x, run=run: chain.invoke(op, lambda y: [y * y], run, [x]), run, [np.float64(2)])
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert [made.ordinal for made in trace.calls()] == [0, 4, 8] and len(trace.runs()) == 3
        assert trace.info().dropped == {'unsampled calls': 6, 'unsampled runs': 6} and trace.info().lost_calls == 6


def test_a_call_that_raises_is_kept_outside_of_the_sample_without_its_values(tmp_path: Path) -> None:
    def fail(x: Any) -> list[Any]:
        secret = x + 1
        raise ValueError(f'no {int(secret)}')
    call = wrapped(fail)
    with Recorder(tmp_path / 't.pfd', every=10, capture='off'):
        for number in range(3):
            with pytest.raises(ValueError, match='no'):
                call(np.float64(number))
    with Trace.open(tmp_path / 't.pfd') as trace:
        calls = trace.calls()
        assert [made.error.message for made in calls] == ['no 1', 'no 2', 'no 3']  # type: ignore[union-attr]
        assert [made.inputs[0].level for made in calls] == ['full', 'none', 'none']
        assert trace.info().lost_calls == 0


def test_a_sample_of_no_calls_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match='every is 0; expected an integer from 1 on'):
        Recorder(tmp_path / 't.pfd', every=0)
