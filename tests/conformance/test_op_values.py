"""Every registered op gives what TensorFlow's op of that name gives: for its examples, in other dtypes, at edge values."""
from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from op_values import EXAMPLES
from test_conformance import same

from pyfuncdbg.hosts.numpy.graph.definitions.registry import registered_ops
from pyfuncdbg.hosts.numpy.graph.definitions.signatures import signature

HERE = Path(__file__).parent
PROGRAMS = ('Dataset', 'Iterator', 'Optional', 'OneShot', 'Resource', 'TensorList', 'Variable', 'VarHandle', 'VarIs',
            'If', 'Case', 'While', 'Stateless', 'Partitioned', 'Stateful', 'PyFunc', 'EagerPyFunc', 'Placeholder', 'Print',
            'Random', 'Truncated', 'Multinomial', 'Assert', 'NoOp', 'Const', 'Sampled', 'Ragged')
"""Ops that hold state, functions or randomness: whole programs of `programs/` and snippets compare them."""
SNIPPETS = {'Add', 'Angle', 'AsString', 'Complex', 'ComplexAbs', 'Conj', 'EnsureShape', 'Imag', 'Real',
            'ReduceJoin', 'StringFormat', 'StringJoin', 'StringLength', 'StringLower', 'StringStrip', 'StringToNumber',
            'StringUpper', 'Substr'}
"""Ops of strings and complex numbers: snippets compare them."""
KNOWN = {
    'Svd': 'the signs of singular vectors are free; snippets compare their sizes',
    'SelfAdjointEigV2': 'the signs of eigenvectors are free; snippets compare their sizes',
    'Conv2D 2': "TensorFlow has no kernel for 'NCHW' on a CPU",
    'Softmax 0 edges': 'one infinity makes all NaN; TensorFlow leaves zeros',
    'Round 0 whole': 'TensorFlow leaves the output of integers as the memory was', 'Round 1 whole': 'the same',
    'Where 0 float16': 'TensorFlow has no kernel', 'Where 1': 'a scalar has one element; TensorFlow refuses it',
    'TruncateDiv 0': 'TensorFlow calls a division by zero an internal error', 'TruncateMod 0': 'the same',
    'Qr 0 float16': 'computed in float32 and then rounded', 'SoftmaxCrossEntropyWithLogits 0 float16': 'rounded elsewhere',
    'Zeta 0 edges': 'at infinities', 'Polygamma 0 edges': 'at infinities',
}
"""Where they differ, by the beginning of the case, and why."""
VARYING = {'Softmax 0 edges'}
"""Where they differ on some processors only."""


def values(backend: str) -> dict[str, Any]:
    output = subprocess.run([sys.executable, HERE / 'op_values.py', backend], capture_output=True, text=True, check=True)
    return {line['case']: line['result'] for line in map(json.loads, output.stdout.splitlines())}


def test_every_op_is_compared() -> None:
    left = {d.name for d in registered_ops() if signature(d.name) is not None and not EXAMPLES.get(d.name)
            and not any(part in d.name for part in PROGRAMS)}
    assert left - SNIPPETS == set(), 'ops without an example in tests/hosts/numpy/ops/examples.py'


@pytest.mark.tensorflow
def test_values_are_those_of_tensorflow() -> None:
    theirs, ours = values('tensorflow'), values('pyfuncdbg.tf')
    assert theirs.keys() == ours.keys() and len(theirs) > 1800
    differ = [case for case, result in theirs.items()
              if 'Could not find device for node' not in str(result)             # TensorFlow has no kernel for the dtype
              and not same(ours[case], result, 5e-5)]
    assert [case for case in differ if not any(case.startswith(known) for known in KNOWN)] == []
    assert [known for known in KNOWN if known not in VARYING and not any(
        case.startswith(known) for case in differ)] == [], 'no difference any more'
