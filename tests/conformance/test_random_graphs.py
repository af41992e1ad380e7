"""Random graphs give the same values and gradients here and in TensorFlow."""
from __future__ import annotations

import importlib
from typing import Any

import hypothesis
import numpy as np
import pytest
from random_graphs import RandomGraph, random_graphs, taped, values_and_gradients
from wrapped_calls import Keeper

from pyfuncdbg import tf as ours
from pyfuncdbg.hooks.chain import hooks

TOLERANCE = {'float32': 2e-4, 'float64': 1e-10}


@pytest.fixture(scope='module')
def tensorflow() -> Any:
    return importlib.import_module('tensorflow')


def alike(found: list[Any], expected: list[Any], graph: RandomGraph, looser: float = 1) -> None:
    for a, b in zip(found, expected, strict=True):
        assert np.shape(a) == np.shape(b) and np.asarray(a).dtype == np.asarray(b).dtype
        tolerance = TOLERANCE[graph.dtype] * looser
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.tensorflow
@pytest.mark.timeout(600)            # many graphs in one test, on machines that are shared
@hypothesis.settings(max_examples=60, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
@hypothesis.given(random_graphs())
def test_a_session_gives_the_same_values_and_gradients(tensorflow: Any, graph: RandomGraph) -> None:
    values, gradients = values_and_gradients(ours, graph)
    hypothesis.assume(graph.clear_of_corners(values))
    expected, expected_gradients = values_and_gradients(tensorflow, graph)
    alike(values, expected, graph)
    alike(gradients, expected_gradients, graph, 10)


@pytest.mark.tensorflow
@pytest.mark.timeout(600)            # many graphs in one test, on machines that are shared
@hypothesis.settings(max_examples=40, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
@hypothesis.given(random_graphs())
def test_tapes_give_the_same_gradients_to_second_order(tensorflow: Any, graph: RandomGraph) -> None:
    hypothesis.assume(graph.clear_of_corners(graph.built(ours, [ours.constant(value) for value in graph.feeds()])))
    try:
        expected = taped(tensorflow, graph)
    except TypeError as error:                      # TensorFlow's second derivative of tanh takes no slices
        hypothesis.assume('IndexedSlices' not in str(error))
        raise
    alike(taped(ours, graph), expected, graph, 50)


@hypothesis.settings(max_examples=40)
@hypothesis.given(random_graphs())
def test_plan_executor_tape_and_function_agree(graph: RandomGraph) -> None:
    values, gradients = values_and_gradients(ours, graph)
    watcher = Keeper('op')
    hooks.add(watcher)                              # who watches ops makes the executor run
    try:
        watched, watched_gradients = values_and_gradients(ours, graph)
    finally:
        hooks.remove(watcher)
    assert len(watcher.calls) >= len(graph.steps)
    for a, b in zip([*values, *gradients], [*watched, *watched_gradients], strict=True):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
    inputs = [ours.constant(value) for value in graph.feeds()]
    for a, b in zip(values, graph.built(ours, inputs), strict=True):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
    for a, b in zip(values[2:], ours.function(lambda *x: graph.built(ours, x)[2:])(*inputs), strict=True):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
    alike(taped(ours, graph)[:2], gradients, graph)
