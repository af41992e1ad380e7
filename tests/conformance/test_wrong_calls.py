"""Wrong calls get TensorFlow's error class and first line and leave nothing in the graph that TensorFlow does not leave,
except where wrong_calls.toml says why."""
from __future__ import annotations

import re

import pytest
import wrong_calls

NAMES = wrong_calls.names()
DIFFERENT = wrong_calls.differences()
VARYING = {'list(tf.data.Dataset.range(1,4).map(lambda x: tf.range(x)).batch(2))', 'tf.data.Dataset.from_tensors(None)',
           'tf.data.Dataset.range(3).map(lambda x: None)'}
"""What TensorFlow itself does not always answer alike: which of two elements comes first, which attr it looks at first."""


@pytest.mark.parametrize('name', NAMES)
def test_answered_as_tensorflow_does(name: str) -> None:
    theirs, ours = wrong_calls.recorded(name), wrong_calls.answers('pyfuncdbg.tf', name)
    unlike = {call: wrong_calls.shown(ours[call]) for call in theirs if not wrong_calls.alike(theirs[call], ours[call])}
    assert unlike == {key.partition(' ')[2]: answer for key, (answer, _) in DIFFERENT.items() if key.startswith(f'{name} ')}


@pytest.mark.parametrize('name', NAMES)
def test_every_call_is_recorded_once(name: str) -> None:
    assert list(wrong_calls.recorded(name)) == wrong_calls.calls(name)


def test_every_difference_is_of_a_call_and_has_a_reason() -> None:
    known = {f'{name} {call}' for name in NAMES for call in wrong_calls.calls(name)}
    assert set(DIFFERENT) <= known
    assert [call for call, (_, reason) in DIFFERENT.items() if reason in ('', wrong_calls.NOT_EXAMINED)] == []


def test_no_call_hangs_or_shows_what_is_inside() -> None:
    bare = re.compile(r"HANGS|RecursionError|UnboundLocalError|NameError|KeyError: '?\w+'?$")
    assert [call for call, (answer, _) in DIFFERENT.items() if bare.match(answer)] == []


@pytest.mark.tensorflow
@pytest.mark.parametrize('name', NAMES)
def test_the_record_is_what_tensorflow_answers(name: str) -> None:
    recorded, now = wrong_calls.recorded(name), wrong_calls.answers('tensorflow', name)
    unlike = {call: now[call]['answer'] for call in recorded if now[call]['answer'] != recorded[call]['answer']}
    assert {call: answer for call, answer in unlike.items() if call not in VARYING} == {}
