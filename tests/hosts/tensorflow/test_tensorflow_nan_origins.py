"""Where NaN began in functions of datasets, whose tensors have the same names: none is blamed for that of another."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg.observers.debug.numerics.nan_verdicts import NanVerdict, judge

pytestmark = pytest.mark.tensorflow


def verdicts(tf: Any, path: Path, source: list[float], ops: bool) -> list[NanVerdict]:
    """Of a dataset: a Python function, TensorFlow's log, and another Python function, each in a graph of its own."""
    def double(x: Any) -> Any:
        return x * 2

    def add(x: Any) -> Any:
        return x + 1
    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(path, ops=ops):
        data = tf.data.Dataset.from_tensor_slices(np.float32(source))
        data = data.map(lambda x: tf.numpy_function(double, [x], tf.float32)).map(lambda x: tf.math.log(x))
        found = [float(x) for x in data.map(lambda x: tf.numpy_function(add, [x], tf.float32))]
    assert np.array_equal(np.isnan(found), [not each > 0 for each in source])
    with pyfuncdbg.load(path) as trace:
        return [one for one in judge(trace).findings if one.call.site.op_type != 'IteratorGetNext']


def told(found: list[NanVerdict]) -> list[tuple[str, str, str, bool]]:
    names = {one.call.number: one.call.label for one in found}
    return [(one.call.site.function.rpartition('.')[2] or one.call.label, one.verdict, names.get(one.origin, ''),
             one.certain) for one in found]


def test_a_nan_of_one_element_is_not_that_of_another(tf: Any, tmp_path: Path) -> None:
    """The input of both functions is args_0:0: that of `add` in the third element was said to be from the first."""
    found = told(verdicts(tf, tmp_path / 't.pfd', [np.nan, 1, -1, 2], ops=True))
    assert found == [('double', 'entered', '', True), ('Log[0]', 'inherited', 'PyFunc[0]', False),
                     ('add', 'inherited', 'PyFunc[0]', False), ('Log[2]', 'born', '', True),
                     ('add', 'inherited', 'Log[2]', False)]


def test_what_was_not_recorded_between_leaves_it_open(tf: Any, tmp_path: Path) -> None:
    found = told(verdicts(tf, tmp_path / 't.pfd', [np.nan, 1, -1, 2], ops=False))
    assert found == [('double', 'entered', '', True), ('add', 'inherited', 'PyFunc[0]', False),
                     ('add', 'inherited', 'PyFunc[0]', False)]


def test_within_one_graph_and_element_it_is_certain(tf: Any, tmp_path: Path) -> None:
    def broken(i: Any) -> Any:
        return np.float32(np.nan if i % 2 else i)
    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(tmp_path / 't.pfd', ops=True):
        data = tf.data.Dataset.range(4).map(lambda i: tf.sqrt(tf.abs(tf.numpy_function(broken, [i], tf.float32))))
        assert np.isnan([float(x) for x in data]).tolist() == [False, True, False, True]
    with pyfuncdbg.load(tmp_path / 't.pfd') as trace:
        found = told([one for one in judge(trace).findings if one.call.site.op_type != 'IteratorGetNext'])
    assert found == [('broken', 'born', '', True), ('Abs[1]', 'inherited', 'PyFunc[1]', True),
                     ('Sqrt[1]', 'inherited', 'PyFunc[1]', True), ('broken', 'born', '', True),
                     ('Abs[3]', 'inherited', 'PyFunc[3]', True), ('Sqrt[3]', 'inherited', 'PyFunc[3]', True)]
