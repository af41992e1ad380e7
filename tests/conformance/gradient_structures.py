"""Which gradients the ops have for each of their outputs: values, zeros, None or an error, as JSON lines.

Of each op's examples (tests/hosts/numpy/ops/examples.py) by a tape, and of functions whose result has no gradient of its own
by a tape and by `tf.gradients`. What TensorFlow gives is kept in gradient_structures.jsonl:

    python tests/conformance/gradient_structures.py tensorflow > tests/conformance/gradient_structures.jsonl
"""
from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from op_values import EXAMPLES, arguments

from pyfuncdbg.hosts.numpy.graph.definitions.signatures import signature

FUNCTIONS = ('tf.math.is_nan(x)', 'tf.where(x)', 'tf.searchsorted(x, tf.constant([2.]))',
             'tf.histogram_fixed_width(x, [0., 5.])', 'tf.bitcast(x, tf.int32)', 'tf.math.top_k(x, 2)[1]',
             'tf.unique(x)[0]', 'tf.unique(x)[1]',
             'tf.unique_with_counts(x)[2]', 'tf.argmax(x)', 'tf.argsort(x)', 'tf.cast(x, tf.int32)', 'tf.shape(x)', 'x > 1.',
             'tf.equal(x, 1.)', 'tf.math.top_k(x, 2)[1] + 1', 'tf.math.count_nonzero(x)', 'tf.reduce_all(x > 0)',
             'tf.cast(tf.math.is_nan(x), tf.float32)', 'tf.gather(x, tf.where(x > 1.))',
             'tf.dynamic_partition(x, [0, 1, 0], 2)[0]',
             'tf.round(x)')


def _flat(value: Any) -> list[Any]:
    """The tensors of a result or an argument."""
    return [tensor for one in value for tensor in _flat(one)] if isinstance(value, (list, tuple)) else [value]


def _structure(gradient: Any) -> str | None:
    if gradient is None or type(gradient).__name__ == 'IndexedSlices':
        return None if gradient is None else 'slices'
    return 'values' if np.any(gradient.numpy()) else 'zeros'


def _error(error: Exception) -> str:
    return f'{type(error).__name__}: {str(error).splitlines()[0][:60]}'


def of_example(tf: Any, op: str, example: Any) -> Iterator[Any]:
    """For each output of an op, and for all together, the structure of its gradients by each input; or an error."""
    inputs = arguments(op, example, tf)
    sources = [tensor for value in inputs.values() for tensor in _flat(value) if hasattr(tensor, 'numpy')]
    with tf.GradientTape(persistent=True) as tape:
        for source in sources:
            if source.dtype.is_floating or source.dtype.is_complex:
                tape.watch(source)
        outputs = [tensor for tensor in _flat(getattr(tf.raw_ops, op)(**inputs)) if hasattr(tensor, 'dtype')]
    for target in (*outputs, outputs) if len(outputs) > 1 else outputs:
        try:
            yield [_structure(gradient) for gradient in tape.gradient(target, sources)]
        except Exception as error:              # the error is the result
            yield _error(error)


def of_function(tf: Any, code: str) -> Iterator[Any]:
    """The gradient of a function, and of its argument and result together, by a tape; that by `tf.gradients`."""
    x = tf.constant([3., 1., 2.])
    for is_together in (False, True):
        try:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = eval(code, {'tf': tf, 'x': x})
            yield _structure(tape.gradient([x, y] if is_together else y, x))
        except Exception as error:              # the error is the result
            yield _error(error)
    try:
        with tf.Graph().as_default():
            x = tf.compat.v1.placeholder(tf.float32, [3])
            yield None if tf.gradients(eval(code, {'tf': tf, 'x': x}), x)[0] is None else 'a tensor'
    except Exception as error:                  # the error is the result
        yield _error(error)


def lines(backend: str) -> Iterator[tuple[str, Sequence[Any]]]:
    """The cases with their results.

    Args:
        backend: Module that is `tf`.
    """
    tf = importlib.import_module(backend)
    for op, group in EXAMPLES.items():
        if signature(op) is None or not hasattr(tf.raw_ops, op):
            continue
        for number, example in enumerate(group):
            try:
                result = list(of_example(tf, op, example))
            except Exception as error:          # of the op itself, which `op_values` compares
                result = [_error(error)]
            yield f'{op} {number}', result
    for code in FUNCTIONS:
        yield code, list(of_function(tf, code))


if __name__ == '__main__':
    os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
    for case, found in lines(sys.argv[1]):
        print(json.dumps({'case': case, 'gradients': found}))
