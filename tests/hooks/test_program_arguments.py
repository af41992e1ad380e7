"""Programs that put something else than text into `sys.argv`, or take it away."""
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from native_threads import run_native

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.hooks.program_arguments import program_arguments, program_name


class Word(str):
    """Text of the program's own: what it says of itself is not asked."""

    __slots__ = ()

    def __str__(self) -> str:
        raise AssertionError('the class was asked')


@pytest.mark.parametrize(('words', 'text'), [
    (['train.py', '-v'], ['train.py', '-v']), ([Word('x'), 3], ['<Word>', '<int>']), ([], []), (object(), []), (('a',), [])])
def test_a_program_is_recorded_whatever_its_arguments_are(words: object, text: list[str], tmp_path: Path,
                                                          monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, 'argv', words)
    assert program_arguments() == text and program_name() == (text[0] if text else '')
    results: list[float] = []
    with pyfuncdbg.record(tmp_path / 't.pfd'):
        run_native([lambda: results.append(float(tf.numpy_function(np.negative, [np.float32(2)], tf.float32)))])
    assert results == [-2.0] and sys.argv is words
    with pyfuncdbg.load(tmp_path / 't.pfd') as trace:
        (run,), (call,) = trace.runs(), trace.calls(kind='python')
        assert trace.info().argv == tuple(text) and run.label == f'eager {text[0] if text else "python"}'
        recorded = trace.call_state(call.number).arguments
        assert recorded == (tuple(text) if text == words else None)
