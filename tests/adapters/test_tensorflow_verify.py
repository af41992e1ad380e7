"""`pyfuncdbg verify` compares what the real TensorFlow gives to a program, whatever it is wrapped in."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pyfuncdbg.commands.probe import Notes

pytestmark = pytest.mark.tensorflow


def test_results_in_optionals_and_composites_are_noted(tf: Any, tmp_path: Path) -> None:
    from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function
    original = Function.__call__
    notes = Notes(tmp_path)
    notes._install_in_tensorflow()
    session = tf.compat.v1.Session.__mro__[1]
    run = session.run
    try:
        iterator = iter(tf.data.Dataset.from_tensors({'loss': tf.constant([1.5, 2.5])}))
        tf.function(lambda: iterator.get_next_as_optional())()
        tf.function(lambda: iterator.get_next_as_optional())()
        tf.function(lambda: tf.ragged.constant([[1, 2], [3]]))()
    finally:
        Function.__call__ = original
        session.run = run
    notes.flush()
    lines = (tmp_path / 'results.jsonl').read_text().splitlines()
    assert len(lines) == 2                      # the second Optional is empty
    assert '"float32", [2]' in lines[0] and '"int32", [3]' in lines[1] and '"int64", [3]' in lines[1]
