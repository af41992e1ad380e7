"""What every op gives for its examples (tests/hosts/numpy/ops/examples.py), for other dtypes of them and for edge values, as
JSON lines.

    python tests/conformance/op_values.py tensorflow
    python tests/conformance/op_values.py pyfuncdbg.tf
"""
from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1] / 'hosts' / 'numpy' / 'ops'))
sys.path.insert(0, str(Path(__file__).parent))
from examples import EXAMPLES, Example
from probe import message, plain

from pyfuncdbg.hosts.numpy.graph.definitions.signatures import signature
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType
from pyfuncdbg.hosts.numpy.ops.definition.raw import renamed

EDGES = np.array([np.nan, np.inf, -np.inf, -0., 0., 1., -1., 2.5, -3., 1e30, 1e-30], np.float32)
WHOLE = np.array([0, 1, -1, 7, -7, 2**31 - 1, -2**31], np.int32)


def variants(op: str, example: Example) -> Iterator[tuple[str, Example]]:
    """An example, and what it becomes with other dtypes, without elements, and with numbers at the edges."""
    yield '', example
    floats = [np.asarray(x).dtype == np.float64 for x in example.inputs]
    if not any(floats):
        return
    for dtype in (np.float32, np.float16):
        yield dtype.__name__, replace(example, inputs=[np.asarray(x).astype(dtype) if is_float else x
                                                       for x, is_float in zip(example.inputs, floats, strict=True)])
    if all(floats) and len(floats) <= 2 and not example.attrs:
        for name, values in (('edges', EDGES), ('whole', WHOLE), ('empty', np.zeros([0, 2], np.float32)),
                             ('unsigned', np.array([0, 1, 200, 255], np.uint8))):
            first = values[::-1] if op.endswith('Grad') else values[:, None] if values.ndim == 1 else values
            pair = [values] if len(floats) == 1 else [first, values]
            yield name, replace(example, inputs=pair)


def arguments(op: str, example: Example, tf: Any) -> dict[str, Any]:
    """The keywords of `tf.raw_ops` for an example."""
    known = signature(op)
    assert known is not None
    lists = [a for a in known.inputs if a.number or known.attrs.get(a.type, '').startswith('list(')]
    each = (len(example.inputs) - len(known.inputs) + len(lists)) // max(len(lists), 1)
    rest, found = list(example.inputs), {}
    names = renamed(op)
    for argument in known.inputs:
        count = each if argument in lists else 1
        taken, rest = rest[:count], rest[count:]
        tensors = [tf.constant(value) for value in taken]
        found[names.get(argument.name, argument.name)] = tensors if argument in lists else tensors[0]
    derived = {a.type for a in known.inputs} | {a.number for a in known.inputs}
    for key, value in example.attrs.items():
        if key in known.attrs and key not in derived:
            found[names.get(key, key)] = tf.as_dtype(value.name) if isinstance(value, DType) else value
    return found


def main() -> None:
    os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
    tf = importlib.import_module(sys.argv[1])
    for op, group in EXAMPLES.items():
        if signature(op) is None or not hasattr(tf.raw_ops, op):
            continue
        for i, example in enumerate(group):
            for name, variant in variants(op, example):
                try:
                    result = plain(getattr(tf.raw_ops, op)(**arguments(op, variant, tf)))
                except Exception as error:  # the error is the result
                    result = message(error)
                print(json.dumps({'case': f'{op} {i} {name}'.rstrip(), 'result': result}), flush=True)


if __name__ == '__main__':
    main()
