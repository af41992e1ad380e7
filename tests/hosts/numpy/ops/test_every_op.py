"""What must hold of each op because it is registered: its gradient, its gradient's gradient, and its static types."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from examples import EXAMPLES, WITHOUT_GRADIENT, Example

import pyfuncdbg.tf as tf
from pyfuncdbg.hosts.numpy.graph.definitions.registry import INPUT, lookup, no_gradient, registered_ops
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.shapes import UNKNOWN, TensorShape
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.runtime.differentiation.symbolic_gradients import gradients
from pyfuncdbg.hosts.numpy.runtime.differentiation.tape import GradientTape
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.sessions.session import Session

CASES = [pytest.param(op, example, id=f'{op}-{i}') for op, group in EXAMPLES.items() for i, example in enumerate(group)]
DIFFERENTIABLE = [case for case in CASES if lookup(case.values[0]).gradient not in (None, no_gradient)
                  and case.values[0] not in WITHOUT_GRADIENT]
ELSEWHERE = {'EagerPyFunc', 'EagerPyFuncGrad', 'ReadVariableOp', 'PlaceholderWithDefault', 'StatefulPartitionedCall',
             'PartitionedCall', 'If', 'StatelessIf', 'Case', 'StatelessCase', 'While', 'StatelessWhile'}
"""Ops of variables, functions and control flow have tests of their own."""

BY_VALUE = {'Where', 'Unique', 'UniqueWithCounts', 'ListDiff', 'DynamicStitch', 'BroadcastGradientArgs', 'SegmentSum',
            'SegmentMean', 'SegmentProd', 'SegmentMax', 'SegmentMin', 'DynamicPartition', 'StringSplit',
            'StringSplitV2', 'UnsortedSegmentJoin', 'DecodeRaw', 'DecodePaddedRaw'}
"""Ops whose output has a shape that depends on values."""


def test_every_differentiable_op_has_an_example() -> None:
    wanted = {d.name for d in registered_ops() if d.gradient not in (None, no_gradient)
              and not d.name.startswith(('TensorList', 'Optional'))} - ELSEWHERE
    assert wanted - EXAMPLES.keys() == set()


def test_examples_name_ops() -> None:
    assert EXAMPLES.keys() - {d.name for d in registered_ops()} == set()


def tensors(example: Example) -> list[Tensor]:
    return [constant(value) for value in example.inputs]


def outputs(op: str, inputs: list[Any], example: Example) -> list[Tensor]:
    result = apply(op, inputs, dict(example.attrs))
    return list(result) if isinstance(result, (list, tuple)) else [result]


def smooth(inputs: list[Tensor], example: Example) -> list[int]:
    return [i for i, x in enumerate(inputs) if x.dtype.name == 'float64' and i not in example.fixed]


def weighted(op: str, inputs: list[Any], example: Example) -> Tensor:
    """A number that depends on every float output in its own way."""
    total: Any = constant(np.float64(0))
    for k, y in enumerate(outputs(op, inputs, example)):
        if y.dtype.name == 'float64':
            weights = np.linspace(0.5 + k, 1.5 + k, y.shape.num_elements()).reshape(y.shape.as_list())
            total = total + tf.reduce_sum(y * constant(weights))
    return total


def numeric(function: Any, values: list[np.ndarray], i: int, step: float = 1e-6, *, symmetric: bool = False) -> np.ndarray:
    """The derivative of a number by the elements of input `i`, by central differences; `symmetric`: of each pair of
    elements in places that mirror each other."""
    result = np.zeros(np.shape(values[i]))
    for at in np.ndindex(result.shape):
        moved = []
        for sign in (1, -1):
            changed = [np.array(v) for v in values]
            for place in (at, (*at[:-2], at[-1], at[-2])) if symmetric else (at,):
                changed[i][place] += sign * step / (2 if symmetric else 1)
            moved.append(float(function([constant(v if v.ndim else v[()]) for v in changed])))
        result[at] = (moved[0] - moved[1]) / (2 * step)
    return result


def taped(function: Any, inputs: list[Tensor], wanted: list[int]) -> list[Any]:
    with GradientTape() as tape:
        for i in wanted:
            tape.watch(inputs[i])
        y = function(inputs)
    return dense(tape.gradient(y, [inputs[i] for i in wanted]))


def dense(found: list[Any]) -> list[Any]:
    """Gradients as tensors: those of `gather` are slices."""
    return [None if gradient is None else convert_to_tensor(gradient) for gradient in found]


@pytest.mark.parametrize(('op', 'example'), DIFFERENTIABLE)
def test_gradient_is_the_derivative(op: str, example: Example) -> None:
    inputs = tensors(example)
    wanted = smooth(inputs, example)
    found = taped(lambda x: weighted(op, x, example), inputs, wanted)
    for i, gradient in zip(wanted, found, strict=True):
        expected = numeric(lambda x: weighted(op, x, example), list(example.inputs), i, symmetric=example.symmetric)
        assert gradient is not None or not expected.any(), f'no gradient for input {i}'
        if gradient is not None:
            assert gradient.shape == inputs[i].shape and gradient.dtype == inputs[i].dtype
            np.testing.assert_allclose(gradient.numpy(), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(('op', 'example'), DIFFERENTIABLE)
def test_gradient_of_the_gradient(op: str, example: Example) -> None:
    inputs = tensors(example)
    wanted = smooth(inputs, example)

    def slope(x: list[Tensor]) -> Any:
        total: Any = constant(np.float64(0))
        for k, gradient in enumerate(taped(lambda z: weighted(op, z, example), x, wanted)):
            if gradient is not None:
                total = total + tf.reduce_sum(gradient * gradient * constant(np.float64(k + 1)))
        return total

    found = taped(slope, inputs, wanted)
    for i, gradient in zip(wanted, found, strict=True):
        expected = numeric(slope, list(example.inputs), i, 1e-5, symmetric=example.symmetric)
        assert gradient is not None or np.allclose(expected, 0, atol=1e-8), f'no second gradient for input {i}'
        if gradient is not None:
            np.testing.assert_allclose(gradient.numpy(), expected, rtol=1e-4, atol=1e-6)


def placeholders(example: Example, shapes: str) -> list[Any]:
    """Symbolic inputs whose shapes are known, known but for one size, known by rank, or not known."""
    made = []
    for value in example.inputs:
        sizes = list(np.shape(value))
        match shapes:
            case 'one unknown' if sizes:
                sizes[len(sizes) // 2] = None  # type: ignore[call-overload]
            case 'rank':
                sizes = [None] * len(sizes)  # type: ignore[list-item]
        shape = UNKNOWN if shapes == 'nothing' else TensorShape(sizes)
        made.append(apply(INPUT, (), {'dtype': constant(value).dtype, 'shape': shape}))
    return made


def symbolic(example: Example, shapes: str, indices: str) -> tuple[list[Any], dict[Any, Any]]:
    """Inputs in a graph, and what to feed; integers may be constants instead."""
    made = placeholders(example, shapes)
    feed = {}
    for i, value in enumerate(example.inputs):
        if indices == 'constant' and np.asarray(value).dtype.kind == 'i':
            made[i] = constant(value)
        else:
            feed[made[i]] = value
    return made, feed


KNOWLEDGE = [(shapes, indices) for shapes in ('all', 'one unknown', 'rank', 'nothing') for indices in ('constant', 'fed')]
"""What is known of shapes, and whether integers are known, when a graph is made."""


@pytest.mark.parametrize(('op', 'example'), CASES)
def test_static_types_fit_the_values(op: str, example: Example) -> None:
    expected = [y.numpy() for y in outputs(op, tensors(example), example)]
    for shapes, indices in KNOWLEDGE:
        known = f'known shapes: {shapes}, indices: {indices}'
        with Graph().as_default() as graph:
            inputs, feed = symbolic(example, shapes, indices)
            results = outputs(op, inputs, example)
            found = Session(graph=graph).run(results, feed)
        for y, value, eager in zip(results, found, expected, strict=True):
            assert y.shape.is_compatible_with(np.shape(value)), known
            assert y.dtype.array == np.asarray(value).dtype, known
            if shapes == 'all' and indices == 'constant' and op not in BY_VALUE:
                assert y.shape.is_fully_defined(), 'everything is known, so the shape should be'
            np.testing.assert_array_equal(value, eager, known)


@pytest.mark.parametrize(('op', 'example'), DIFFERENTIABLE)
def test_gradient_with_shapes_that_are_known_only_at_run_time(op: str, example: Example) -> None:
    eager = tensors(example)
    wanted = smooth(eager, example)
    with GradientTape() as tape:
        tape.watch([eager[i] for i in wanted])
        results = [y for y in outputs(op, eager, example) if y.dtype.name == 'float64']
    expected = dense(tape.gradient(results, [eager[i] for i in wanted]))
    for shapes, indices in KNOWLEDGE:
        known = f'known shapes: {shapes}, indices: {indices}'
        with Graph().as_default() as graph:
            inputs, feed = symbolic(example, shapes, indices)
            made = [y for y in outputs(op, inputs, example) if y.dtype.name == 'float64']
            if example.static and shapes != 'all':
                with pytest.raises(NotImplementedError):
                    gradients(made, [inputs[i] for i in wanted])
                continue
            found = dense(gradients(made, [inputs[i] for i in wanted]))
            assert [g is None for g in found] == [g is None for g in expected], known
            values = Session(graph=graph).run([g for g in found if g is not None], feed)
        for value, gradient in zip(values, [g for g in expected if g is not None], strict=True):
            np.testing.assert_allclose(value, gradient.numpy(), 1e-12, err_msg=known)
