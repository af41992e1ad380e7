"""`tf.test.TestCase`: what holds passes, what does not fails, in eager code and in graphs."""
from __future__ import annotations

import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyfuncdbg.tf as tf


class Case(tf.test.TestCase):
    """Gives the assertions to the tests below."""

    __test__ = False

    def runTest(self) -> None:  # noqa: N802  unittest's name
        """Nothing: its methods are called."""


@pytest.fixture
def case() -> Any:
    found = Case()
    found.setUp()
    yield found
    found.tearDown()


HOLD: list[Callable[[Any], Any]] = [
    lambda c: c.assertAllClose([1., 2.], tf.constant([1. + 1e-7, 2.])),
    lambda c: c.assertAllClose({'a': [1., 2.], 'b': (tf.constant(1.), np.float32(2))}, {'a': [1., 2.], 'b': (1., 2.)}),
    lambda c: c.assertAllClose([float('nan')], [float('nan')]),
    lambda c: c.assertAllEqual([b'a', 'b'], tf.constant(['a', 'b'])),
    lambda c: c.assertAllEqual(tf.constant([1, 2]), [1, 2]),
    lambda c: c.assertNotAllClose([1.], [2.]), lambda c: c.assertNotAllEqual([1], [2]),
    lambda c: c.assertAllCloseAccordingToType(np.float16([1.]), np.float16([1.0005])),
    lambda c: c.assertAllGreater([1, 2], 0), lambda c: c.assertAllInRange([0., 1.], 0, 1),
    lambda c: c.assertAllInSet([1, 2], {1, 2}),
    lambda c: c.assertNear(1., 1.1, 0.2), lambda c: c.assertDTypeEqual(tf.constant([1]), tf.int32),
    lambda c: c.assertShapeEqual(np.zeros([2, 3]), tf.zeros([2, 3])),
]
FAIL: list[Callable[[Any], Any]] = [
    lambda c: c.assertAllClose([1., 2.], tf.constant([1.001, 2.])), lambda c: c.assertAllClose([1., 2.], [1., 2., 3.]),
    lambda c: c.assertAllClose({'a': 1.}, {'b': 1.}), lambda c: c.assertAllClose([1.], [[1.]]),
    lambda c: c.assertAllEqual([1, 2], [1, 3]), lambda c: c.assertAllEqual(['a'], ['b']),
    lambda c: c.assertNotAllClose([1.], [1.]), lambda c: c.assertNotAllEqual([1], [1]),
    lambda c: c.assertAllCloseAccordingToType(np.float32([1.]), np.float32([1.0005])),
    lambda c: c.assertAllGreater([1, 2], 1), lambda c: c.assertAllLess([1, 2], 2),
    lambda c: c.assertAllInRange([0., 1.], 0, 1, True),
    lambda c: c.assertAllInSet([1, 5], {1, 2}), lambda c: c.assertNear(1., 1.3, 0.2),
    lambda c: c.assertDTypeEqual(tf.constant([1]), tf.int64),
    lambda c: c.assertShapeEqual(np.zeros([2, 3]), tf.zeros([3, 2])),
]


@pytest.mark.parametrize('check', HOLD)
def test_what_holds_passes(case: Any, check: Callable[[Any], Any]) -> None:
    check(case)


@pytest.mark.parametrize('check', FAIL)
def test_what_does_not_hold_fails(case: Any, check: Callable[[Any], Any]) -> None:
    with pytest.raises(AssertionError):
        check(case)


def test_values_of_tensors_in_graphs(case: Any) -> None:
    with tf.compat.v1.Graph().as_default():
        x = tf.constant([1., 2.]) * 2.
        with case.session() as session:
            assert session is tf.compat.v1.get_default_session()
            assert case.evaluate({'x': x})['x'].tolist() == [2., 4.]
            case.assertAllClose([2., 4.], x)
        with case.cached_session() as first:
            pass
        with case.cached_session() as second:
            assert first is second
            case.assertAllEqual([2., 4.], x)


def test_errors_that_are_expected(case: Any) -> None:
    with case.assertRaisesOpError('must have the same|Incompatible|incompatible|broadcast'):
        tf.constant([1., 2.]) + tf.constant([1., 2., 3.])
    with pytest.raises(AssertionError), case.assertRaisesOpError('nothing like this'):
        tf.gather([1], 5)
    with pytest.raises(AssertionError, match='not raised'), case.assertRaisesOpError('x'):
        tf.constant(1)


def test_each_test_begins_with_the_same_seeds_and_a_folder_of_its_own() -> None:
    drawn, folders = [], []
    for _ in range(2):
        one = Case()
        one.setUp()
        drawn.append((tf.random.uniform([2]).numpy().tolist(), np.random.rand()))
        folder = Path(one.get_temp_dir())
        assert folder.is_dir() and one.get_temp_dir() == str(folder)
        one.tearDown()
        assert not folder.exists()
        folders.append(folder)
    assert drawn[0] == drawn[1] and folders[0] != folders[1]


def test_runs_under_unittest() -> None:
    class Doubling(tf.test.TestCase):
        def test_right(self) -> None:
            self.assertAllEqual(tf.constant([2]) * 2, [4])

        def test_wrong(self) -> None:
            self.assertAllEqual(tf.constant([2]) * 2, [5])

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Doubling).run(result)
    assert [test.id().rpartition('.')[2] for test, _ in result.failures] == ['test_wrong'] and not result.errors
    assert result.testsRun == 3 and len(result.skipped) == 1        # `test_session` is no test
