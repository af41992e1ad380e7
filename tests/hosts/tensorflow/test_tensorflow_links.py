"""Which forward call a backward step is linked to: one that the same recording saw, and none where that was not recorded."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from seen_calls import Seen

import pyfuncdbg
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.records import CallRecord

pytestmark = pytest.mark.tensorflow
Work = Callable[[Any], Any]


@pytest.fixture(params=['eager', 'traced'])
def work(request: pytest.FixtureRequest, tf: Any) -> Iterator[Work]:
    """A call of a py_function, where TensorFlow is attached."""
    def square(x: Any) -> Any:
        return x * x

    def called(x: Any) -> Any:
        return tf.py_function(square, [x], tf.float32, name='square')
    with pyfuncdbg.attach('tensorflow'):
        yield tf.function(called) if request.param == 'traced' else called


def calls_of(recorder: Recorder) -> tuple[list[CallRecord], list[CallRecord]]:
    """Forward calls and backward steps of the function."""
    with pyfuncdbg.load(recorder.path) as trace:
        steps = [call for call in trace.calls(kind='gradient') if call.site.name == 'square_grad']
        return trace.calls(kind='python'), steps


def links(recorder: Recorder) -> set[str]:
    forward, steps = calls_of(recorder)
    found = {step.forward for step in steps}
    assert found <= {'', *[call.number for call in forward]}
    return found


def test_a_step_is_linked_to_the_call_that_the_recording_saw(tf: Any, work: Work, tmp_path: Path) -> None:
    x = tf.Variable(3.0)
    work(x)
    for name in ('one', 'two'):
        with Recorder(tmp_path / name) as recorder:
            with tf.GradientTape() as tape:
                y = work(x)
            assert float(tape.gradient(y, x)) == 6
        (forward,), steps = calls_of(recorder)
        assert steps and all(step.forward in (forward.number, '') for step in steps) and forward.number in links(recorder)


def test_a_call_of_an_earlier_recording_is_not_linked(tf: Any, work: Work, tmp_path: Path) -> None:
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape, Recorder(tmp_path / 'forward') as first:
        y = work(x)
    with Recorder(tmp_path / 'backward') as second:
        assert float(tape.gradient(y, x)) == 6
    assert len(calls_of(first)[0]) == 1 and calls_of(second)[1] and links(second) == {''}


def test_a_call_between_that_nobody_recorded_is_not_taken_for_another(tf: Any, work: Work, tmp_path: Path) -> None:
    x = tf.Variable(3.0)
    with Recorder(tmp_path / 'forward'):
        work(x)
    with tf.GradientTape() as tape:
        y = work(x)
    with Recorder(tmp_path / 'backward') as second:
        assert float(tape.gradient(y, x)) == 6
    assert links(second) <= {''}


def test_each_of_two_recordings_has_the_links_that_it_can_have(tf: Any, work: Work, tmp_path: Path) -> None:
    x = tf.Variable(3.0)
    with Recorder(tmp_path / 'whole') as whole:
        with tf.GradientTape() as tape:
            y = work(x)
        with Recorder(tmp_path / 'backward') as late:
            assert float(tape.gradient(y, x)) == 6
    (forward,), _ = calls_of(whole)
    assert forward.number in links(whole) and calls_of(late)[1] and links(late) == {''}


def test_attaching_anew_forgets_calls(tf: Any, tmp_path: Path) -> None:
    traced = tf.function(lambda x: tf.py_function(lambda y: y * y, [x], tf.float32, name='square'))
    x = tf.Variable(3.0)
    with pyfuncdbg.attach('tensorflow'), Recorder(tmp_path / 'forward'):
        traced(x)
    with tf.GradientTape() as tape:
        y = traced(x)
    with pyfuncdbg.attach('tensorflow'), Recorder(tmp_path / 'backward') as second:
        assert float(tape.gradient(y, x)) == 6
    assert links(second) <= {''}


class Choosy(Seen):
    """Sees backward steps, and those forward calls that it is asked for."""

    wanted = True

    def wants(self, site: Any, run: Any) -> bool:
        return self.wanted or site.kind == 'gradient'


@pytest.mark.parametrize('gone', [False, True])
def test_hooks_that_did_not_see_the_last_call_are_told_of_none(tf: Any, work: Work, gone: bool) -> None:
    hook = Choosy()
    hook.kinds = frozenset(('python', 'gradient'))
    x = tf.Variable(3.0)
    hooks.add(hook)
    try:
        work(x)
        if gone:
            hooks.remove(hook)
        hook.wanted = False
        hooks.invalidate_interest()
        with tf.GradientTape() as tape:
            y = work(x)
        if gone:
            hooks.add(hook)
        assert float(tape.gradient(y, x)) == 6
    finally:
        hooks.remove(hook)
    assert {call.forward for call in hook.calls if call.site.kind == 'gradient'} == {0}
