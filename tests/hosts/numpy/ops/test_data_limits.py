"""What datasets refuse, and how iterators end: values that the programs against TensorFlow do not show."""
from __future__ import annotations

import gc
import threading
import time
import weakref
from typing import Any

import pytest

from pyfuncdbg import tf
from pyfuncdbg.tf.compat import v1

Dataset = tf.data.Dataset
RAGGED = tf.ragged.constant([[1], [2, 3]])


def test_slices_of_ragged_tensors_are_refused() -> None:
    with pytest.raises(NotImplementedError, match='no slices of a RaggedTensor; use from_tensors'):
        Dataset.from_tensor_slices(RAGGED)


@pytest.mark.parametrize('method', ['batch', 'padded_batch'])
def test_batches_of_ragged_tensors_are_refused(method: str) -> None:
    dataset = Dataset.from_tensors(RAGGED)
    with pytest.raises(TypeError, match=f'{method} is not supported for elements of RaggedTensorSpec'):
        getattr(dataset, method)(2)


def test_ragged_and_sparse_tensors_are_elements() -> None:
    (ragged,) = Dataset.from_tensors(RAGGED)
    assert ragged.to_list() == [[1], [2, 3]]
    (sparse,) = Dataset.from_tensors(tf.sparse.from_dense([[0, 5]]))
    assert tf.sparse.to_dense(sparse).numpy().tolist() == [[0, 5]]


def test_none_stays_none() -> None:
    assert [(none, int(number)) for none, number in Dataset.from_tensor_slices((None, [1, 2]))] == [(None, 1), (None, 2)]


def test_a_cache_in_a_file_is_refused() -> None:
    with pytest.raises(NotImplementedError, match='in memory only'):
        Dataset.range(2).cache('/some/file')


def test_a_generator_is_dropped_with_its_iterator() -> None:
    class Numbers:
        def __iter__(self) -> Any:
            return self

        def __next__(self) -> int:
            return 7
    made = []

    def generator() -> Numbers:
        numbers = Numbers()
        made.append(weakref.ref(numbers))
        return numbers
    found = iter(Dataset.from_generator(generator, output_signature=tf.TensorSpec([], tf.int32)))
    assert int(next(found)) == 7
    assert made[0]() is not None
    del found
    gc.collect()
    assert made[0]() is None


def test_each_session_reads_for_itself_and_its_threads_end_with_it() -> None:
    with v1.Graph().as_default():
        dataset = v1.data.Dataset.range(50).map(lambda x: tf.numpy_function(lambda a: a, [x], tf.int64), 2)
        value = v1.data.make_one_shot_iterator(dataset).get_next()
        session = v1.Session()
        assert [int(session.run(value)) for _ in range(2)] == [0, 1]
        assert any(thread.name.startswith('pyfuncdbg data') for thread in threading.enumerate())
        session.close()
        until = time.monotonic() + 20
        while any(thread.name.startswith('pyfuncdbg data') for thread in threading.enumerate()):
            assert time.monotonic() < until
            time.sleep(0.01)
        with v1.Session() as other:
            assert int(other.run(value)) == 0


def test_keras_is_missing_and_says_so() -> None:
    with pytest.raises(AttributeError, match='Keras is not part of pyfuncdbg'):
        _ = tf.keras
    assert not hasattr(tf, 'keras')
