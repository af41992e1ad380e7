"""Programs and probes print with pyfuncdbg what they print with TensorFlow, except where differences.toml says why not."""
from __future__ import annotations

from collections.abc import Iterator

import differences
import pytest
from lines import normal
from outputs import IMPORTS, Output, probes, programs
from worker import Worker

OURS = 'pyfuncdbg.tf'
PROGRAMS, PROBES = programs(), probes()
EVERYTHING = [*PROGRAMS, *PROBES]
LISTED = differences.read().outputs
VARYING = {'E08': 'remote python error', 'C14': "[<tf.Variable 'v:0'"}
"""The beginning of a line that TensorFlow itself does not always print alike: how much it says of another task's error,
the order of a set of names."""


@pytest.fixture(scope='module')
def ours() -> Iterator[Worker]:
    worker = Worker(OURS)
    yield worker
    worker.close()


@pytest.fixture(scope='module')
def tensorflow() -> Iterator[Worker]:
    worker = Worker('tensorflow')
    yield worker
    worker.close()


@pytest.mark.parametrize('one', EVERYTHING, ids=lambda one: one.name)
def test_prints_what_tensorflow_prints(one: Output, ours: Worker) -> None:
    assert one.recorded is not None, f'record it: python tests/conformance/record.py {one.name}'
    found = differences.between(one.recorded, normal(ours.run(one.stem, one.code), one.stem, OURS))
    assert [difference.lines for difference in found] == [difference.lines for difference in LISTED.get(one.name, [])]


@pytest.mark.tensorflow
@pytest.mark.parametrize('one', EVERYTHING, ids=lambda one: one.name)
def test_the_record_is_what_tensorflow_prints(one: Output, tensorflow: Worker) -> None:
    assert one.recorded is not None
    found = differences.between(one.recorded, normal(tensorflow.run(one.stem, one.code), one.stem))
    varying = VARYING.get(one.name)
    assert [d for d in found if not varying or not ''.join(d.tensorflow).startswith(varying)] == []


def test_the_records_hold_nothing_that_varies() -> None:
    assert [one.name for one in EVERYTHING
            if one.recorded is None or normal('\n'.join(one.recorded), one.stem) != one.recorded] == []


def test_every_program_begins_with_the_same_imports() -> None:
    assert [one.name for one in PROGRAMS if not one.code.startswith(IMPORTS)] == []


def test_differences_are_of_programs_and_probes_that_exist() -> None:
    assert set(LISTED) <= {one.name for one in EVERYTHING}


def test_every_difference_is_examined() -> None:
    waiting = [(name, difference.lines) for name, found in LISTED.items() for difference in found
               if difference.reason in ('', differences.NOT_EXAMINED)]
    assert waiting == []
