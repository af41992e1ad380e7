"""Commands that look through a whole trace tell how far they have come, and answer the same as without."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug import batched_calls
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.views.progress import Tell

COUNT = 23


@pytest.fixture(scope='module')
def trace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trace]:
    """Of calls that make NaN, and of their gradients."""
    path = tmp_path_factory.mktemp('progress') / 't.pfd'
    with np.errstate(all='ignore'), pyfuncdbg.record(path):
        for number in range(COUNT):
            x = tf.constant([0.0, float(number)])
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.py_function(lambda v: v / v, [x], tf.float32)
            tape.gradient(y, x)
    with Trace.open(path) as found:
        yield found


@pytest.mark.parametrize(('line', 'what'), [
    ('health', 'looking for NaN and Inf, calls'), ('report', 'looking for NaN and Inf, calls'),
    ('tape', 'reading the tape, backward steps'), ("lt -f 'out.size > 0'", 'asking out.size > 0, tensors'),
    ('doctor', 'examining the trace, kinds of faults')])
def test_it_tells_how_far_it_has_come(trace: Trace, line: str, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batched_calls, 'BATCH', 5)
    monkeypatch.setattr('pyfuncdbg.ui.commands.lt.BATCH', 5)
    told: list[tuple[int, int]] = []
    begun: list[str] = []

    @contextmanager
    def progress(what: str) -> Iterator[Tell]:
        begun.append(what)
        yield lambda done, total: told.append((done, total))
    plain = execute(line, Context(trace)).text(100)
    assert execute(line, Context(trace, progress=progress)).text(100) == plain
    assert begun[0] == what
    assert len(told) >= 4 and told == sorted(told) and len({total for _, total in told}) == 1
    assert told[-1][0] == told[-1][1] or line.startswith('lt')


def test_a_condition_of_a_tensor_by_another_name_says_what_it_is_called(trace: Trace) -> None:
    with pytest.raises(CommandError,
                       match="unknown name 'value'; the tensor is called 'out' here, as in absmax\\(out\\) > 1e3"):
        execute('lt -f "norm(value) > 0"', Context(trace))
