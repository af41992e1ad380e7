"""Eager ops that are recorded as calls: values that are no arrays (datasets, iterators) go through as they are."""
from __future__ import annotations

import numpy as np

import pyfuncdbg
from pyfuncdbg import tf


def test_a_dataset_under_a_recording_of_ops_gives_what_it_gives_without(tmp_path):
    def elements():
        squares = tf.data.Dataset.range(5).map(lambda i: tf.numpy_function(np.square, [i], tf.int64), num_parallel_calls=2)
        return [int(x) for x in squares.batch(2).unbatch()]
    plain = elements()
    with pyfuncdbg.record(tmp_path / 'dataset.pfd', ops=True):
        assert elements() == plain == [0, 1, 4, 9, 16]
    with pyfuncdbg.load(tmp_path / 'dataset.pfd') as trace:
        assert {'RangeDataset'} <= {call.site.op_type for call in trace.calls(kind='op')}
        assert trace.count(failed=True) == 0
