"""Arrays in the memory of a device: what is copied from there, and what a recording has of them. The device is a fake."""
from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hosts.jax.jax_program import PROGRAMS, record

import pyfuncdbg
from pyfuncdbg.hooks.value_placeholders import LaterSummary
from pyfuncdbg.hosts.jax import array_values, device_statistics
from pyfuncdbg.hosts.jax.device_statistics import DeviceStatistics
from pyfuncdbg.observers.record.log import back_pressure, blob_store
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.records import Stats, TensorRecord
from pyfuncdbg.observers.record.snapshots.statistics import stats_of, stats_of_summary

pytestmark = [pytest.mark.jax, pytest.mark.timeout(300)]

SPECIAL = [np.nan, np.inf, -np.inf, 0., -0., -3.5, 60., 1e-20]
ARRAYS: dict[str, Callable[[], np.ndarray]] = {
    'float32': lambda: np.array(SPECIAL, np.float32),
    'denormal': lambda: np.array([1e-40, -1e-40, 2], np.float32),
    'largest': lambda: np.array([3e38, -3e38, 3e38, 1], np.float32),
    'float16': lambda: np.arange(-20, 40, dtype=np.float16).reshape(3, 4, 5),
    'bfloat16': lambda: np.array([1.5, -2, np.inf]).astype(ml_dtypes.bfloat16),
    'complex64': lambda: np.array([3 + 4j, complex(np.nan, 1), complex(1, -np.inf), 0], np.complex64),
    'int8': lambda: np.array([[-128, 127, 0], [5, -1, 64]], np.int8),
    'uint32': lambda: np.array([0, 1, 2, 4_000_000_000], np.uint32),
    'bool': lambda: np.array([True, False]),
    'empty': lambda: np.zeros((0, 3), np.float32),
    'scalar': lambda: np.float32(-7) + np.zeros((), np.float32),
    'zeros': lambda: np.zeros(4, np.float32),
    'none is finite': lambda: np.full(3, np.nan, np.float32),
}


def counts_of(stats: Stats) -> tuple[Any, ...]:
    return (stats.size, stats.nan, stats.neg_inf, stats.neg, stats.zero, stats.pos, stats.pos_inf, stats.min, stats.max,
            stats.histogram, stats.first_bad)


@pytest.mark.parametrize('name', ARRAYS)
def test_statistics_of_a_device_are_those_of_the_elements(jax: Any, name: str) -> None:
    elements = np.asarray(ARRAYS[name]())
    array = jax.device_put(elements)
    statistics = DeviceStatistics()
    for _ in range(2):                          # dispatched where it is read, and where it is called
        summary, expected = statistics.summary(array, counted=True), stats_of(elements)
        counted = summary.counted() if isinstance(summary, LaterSummary) else summary
        assert counted is not None and expected is not None
        stats = stats_of_summary(counted)
        assert counts_of(stats) == counts_of(expected)
        if expected.mean is None:
            assert stats.mean is None and stats.std is None
        else:
            assert [stats.mean, stats.std] == pytest.approx([expected.mean, expected.std], rel=1e-6)
        array = array.copy()


def far_values(values: list[TensorRecord]) -> list[tuple[Any, ...]]:
    return [(value.shape, value.note, value.stats.nan, value.stats.min, value.stats.max, value.stats.mean)
            for value in values if value.note.startswith('on ') and value.stats is not None]


def most_copied(printed: str) -> int:
    """The elements that were copied at once, as the program has printed; the recorder may copy later."""
    head, five, number = printed.rpartition('copied ')
    assert head == 'five\n' and five
    return int(number)


def test_a_recording_has_statistics_that_the_devices_have_made(tmp_path: Path) -> None:
    done, trace = record(tmp_path, PROGRAMS / 'far.py')
    assert most_copied(done.stdout) <= 45, done.stderr          # the numbers of one array, and no element
    calls = [call for call in trace.calls(kind='python') if call.site.function == 'doubled']
    assert [far_values([*call.inputs, *call.outputs]) for call in calls] == [
        [((7,), 'on cpu:1', 1, -1, 3, .75), ((7,), 'on cpu:1', 1, -2, 6, 1.5)],
        [((300,), 'on 2 devices', 0, -100, 199, 49.5), ((300,), 'on 2 devices', 0, -200, 398, 99)],
        [((700, 700), 'on cpu:0', 0, 490000, 490000, 490000), ((700, 700), 'on cpu:0', 0, 980000, 980000, 980000)]]
    shared = calls[1].inputs[0].stats
    expected = stats_of(np.arange(-100., 200.))
    assert shared is not None and expected is not None and shared.histogram == expected.histogram
    assert shared.std == pytest.approx(expected.std)
    assert calls[0].inputs[0].stats is not None and calls[0].inputs[0].stats.first_bad == (2,)
    feeds = [run.feeds[0] for run in trace.runs() if run.kind == 'function']
    assert [(value.note, value.stats.pos) for value in feeds if value.stats is not None] == [('on cpu:0', 500)] * 3


def test_eager_ops_are_recorded_without_their_elements(tmp_path: Path) -> None:
    done, trace = record(tmp_path, PROGRAMS / 'far.py', '--ops')
    assert most_copied(done.stdout) <= 45, done.stderr
    outputs = {call.site.name: far_values(list(call.outputs)) for call in trace.calls(kind='op')}
    assert outputs['matmul_1'] == [((700, 700), 'on cpu:0', 0, 490000, 490000, 490000)]
    assert outputs['cos'][0][:5] == ((7,), 'on cpu:1', 3, np.cos(np.float32(3)), 1)


def test_nothing_is_copied_where_no_value_is_recorded(tmp_path: Path) -> None:
    done, trace = record(tmp_path, PROGRAMS / 'far.py', '--level', 'none')
    assert done.stdout == 'five\ncopied 0\n', done.stderr
    assert {value.stats for call in trace.calls() for value in call.inputs} == {None}


def test_whole_values_are_copied_where_the_user_asks_for_them(tmp_path: Path) -> None:
    done, trace = record(tmp_path, PROGRAMS / 'far.py', '--level', 'full')
    assert 'copied 0\n' not in done.stdout, done.stderr
    second = next(call for call in trace.calls(kind='python') if call.site.name == 'custom_vjp/doubled_1')
    assert second.outputs[0].to_numpy().tolist() == list(range(-200, 400, 2))


def test_a_stop_copies_what_its_user_asks_for(tmp_path: Path) -> None:
    done, _ = record(tmp_path, PROGRAMS / 'far.py', '--break', 'doubled', '--ui', 'prompt',
                     typed='args\np copied\np float(x[1])\np copied\nq\n')
    copied = [set(json.loads(line)) for line in done.stderr.splitlines() if line.startswith('[45')]
    assert copied == [{45}, {45, 1}] and '\n-1.0\n' in done.stderr, done.stderr
    assert done.stderr.count('float32[7]  NaN 1, -Inf 1, +Inf 1, stats only: on cpu:1 at [2]  -1 .. 3') == 2


LATE = """
import threading, jax, jax.numpy as jnp, numpy as np
goes_on = threading.Event()
goes_on.set()
def slow(v):
    goes_on.wait(20)
    return np.asarray(v)
large = jnp.ones((2000, 2000))
step = jax.jit(lambda v: jax.pure_callback(slow, v[0], v[0]))
step(large).block_until_ready()
large @ large
goes_on.clear()
def look(late):
    ready = late.is_ready()
    return ready
late = step(large @ large)
print(look(late))
goes_on.set()
print(float(late.sum()))
"""


def test_a_stop_waits_for_nothing_that_is_not_computed(tmp_path: Path) -> None:
    """Its own repr would, for ever where this very stop holds it back."""
    done, _ = record(tmp_path, LATE, '--break', 'program.py:15', '--ui', 'prompt', typed='p late\np [late, 1]\nargs\nc\n')
    assert done.stdout == 'False\n4000000.0\n', done.stderr
    assert done.stderr.count('float32[2000]  not known: not computed yet') == 5, done.stderr


class _Never:
    """Numbers of a device that a stop holds back."""

    def is_ready(self) -> bool:
        return False


def test_a_device_that_does_not_go_on_is_not_waited_for(jax: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    statistics = DeviceStatistics()
    statistics.patience = 0.
    monkeypatch.setattr(statistics, '_dispatch', lambda array: _Never())
    summary = statistics.summary(jax.device_put(np.ones(3, np.float32)), counted=True)
    assert isinstance(summary, LaterSummary) and summary.counted() is None
    assert summary.summary.note.endswith('cpu:0') and 0 < statistics.patience < .1


def test_an_array_deleted_before_its_statistics_are_made_has_none(jax: Any) -> None:
    array = jax.device_put(np.ones(11, np.float32))
    summary = DeviceStatistics().summary(array, counted=True)
    array.delete()
    assert isinstance(summary, LaterSummary) and summary.counted() is None


def slow_statistics(monkeypatch: pytest.MonkeyPatch, wait: Callable[[], object]) -> None:
    """All arrays are far, and the first statistics of a type take their time."""
    def without_buffer(array: Any) -> Any:
        raise BufferError
    dispatch = DeviceStatistics._dispatch

    def compiled_slowly(self: Any, array: Any) -> Any:
        wait()
        return dispatch(self, array)
    monkeypatch.setattr(device_statistics, 'NEAR', 'none')
    monkeypatch.setattr(array_values, '_view', without_buffer)
    monkeypatch.setattr(back_pressure, 'PATIENCE', .3)
    monkeypatch.setattr(DeviceStatistics, '_dispatch', compiled_slowly)


def record_three_calls(jax: Any, path: Path) -> None:
    double = jax.custom_vjp(lambda v: v * 2)
    double.defvjp(lambda v: (double(v), None), lambda _, g: (g * 2,))
    value = jax.device_put(np.ones(17, np.float32))
    with pyfuncdbg.attach('jax'), Recorder(path, full_limit=0):
        for _ in range(3):
            double(value)


def test_no_call_is_lost_while_statistics_are_compiled(jax: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                       capfd: pytest.CaptureFixture[str]) -> None:
    """That is no stall of the writer, though it takes longer than one."""
    slow_statistics(monkeypatch, lambda: time.sleep(2.5))
    record_three_calls(jax, tmp_path / 't.pfd')
    with pyfuncdbg.load(tmp_path / 't.pfd') as trace:
        sums = [call.inputs[0].stats and call.inputs[0].stats.pos for call in trace.calls(kind='python')]
        assert sums == [17] * 3 and trace.info().complete
    assert capfd.readouterr().err == ''


def test_calls_that_a_hanging_device_keeps_back_are_counted(jax: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                            capfd: pytest.CaptureFixture[str]) -> None:
    goes_on = threading.Event()

    def hang() -> None:
        goes_on.wait(60)
        raise RuntimeError('no device')         # after this test
    slow_statistics(monkeypatch, hang)
    monkeypatch.setattr(blob_store, 'LONGEST_WAIT', .5)
    try:
        record_three_calls(jax, tmp_path / 't.pfd')
        assert 'the last 3 calls are not in the trace' in capfd.readouterr().err
        with pyfuncdbg.load(tmp_path / 't.pfd') as trace:
            assert trace.count() == 0 and not trace.info().complete
    finally:
        goes_on.set()
