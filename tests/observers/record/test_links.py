"""A backward step in a trace is linked to a call of the same recording, or to none."""
from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from plain_host import new_run, new_site, wrapped

from pyfuncdbg.hooks import chain
from pyfuncdbg.hooks.call import next_id
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace


def forward_call() -> int:
    ids: list[int] = []
    wrapped(lambda x: ids.append(chain.current_call()) or [x])(np.float32(1))
    return ids[0]


def backward_step(forward: int, given: object = np.float32(1)) -> None:
    chain.invoke(new_site(None, 'norm_grad', 'gradient'), lambda g: [g], new_run('backward'), [given], forward)


def links(path: Path) -> list[str]:
    with Trace.open(path) as trace:
        return [step.forward for step in trace.calls(kind='gradient')]


def test_the_next_call_has_the_id_that_was_told(tmp_path: Path) -> None:
    with Recorder(tmp_path / 't.pfd'):
        assert next_id() == next_id() == forward_call() == next_id() - 1


def test_calls_before_a_recording_are_not_linked(tmp_path: Path) -> None:
    late = Recorder(tmp_path / 'late')
    with Recorder(tmp_path / 'whole'):
        before = forward_call()
        with late:
            inside = forward_call()
            for value in (np.float32(1), np.ones(3)):
                backward_step(before, value)
                backward_step(inside, value)
    assert links(tmp_path / 'late') == ['', str(inside)] * 2
    assert links(tmp_path / 'whole') == [str(before), str(inside)] * 2


def test_a_step_that_runs_is_not_linked_either(tmp_path: Path) -> None:
    before = next_id()
    with Recorder(tmp_path / 'first'):
        forward_call()
    with Recorder(tmp_path / 'second') as recorder:
        found: list[str] = []

        def compute(gradient: object) -> list[object]:
            recorder.flush()
            found.extend(links(recorder.path))
            return [gradient]
        chain.invoke(new_site(None, 'norm_grad', 'gradient'), compute, new_run('backward'), [np.float32(1)], before)
    assert found == ['']


def test_calls_of_the_parent_process_are_not_linked_in_a_child(tmp_path: Path) -> None:
    with Recorder(tmp_path / 't.pfd') as recorder:
        before = forward_call()
        child = os.fork()
        if not child:
            backward_step(before)
            backward_step(forward_call())
            recorder.stop()
            os._exit(0)
        os.waitpid(child, 0)
        backward_step(before)
    with Trace.open(recorder.path) as trace:
        numbers = {call.number for call in trace.calls(kind='python')}
        found = [step.forward for step in trace.calls(kind='gradient')]
    assert len(numbers) == 2 and sorted(found) == sorted(['', *numbers])
