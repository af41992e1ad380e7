"""Which outputs of which ops have a gradient, have zeros, None, or raise: as TensorFlow has it."""
from __future__ import annotations

import json
from pathlib import Path

from gradient_structures import lines

KNOWN = {
    'SoftsignGrad 0': 'has a second derivative here',
    'PadV2 0': 'the gradient by the value of the padding is None in TensorFlow',
    'LinSpace 0': 'the gradients by its ends are None in TensorFlow',
    'SoftmaxCrossEntropyWithLogits 0': 'the second output depends on the labels, TensorFlow gives zeros',
    'Conv2D 1': 'TensorFlow has no such kernel on a CPU', 'Conv2D 2': 'the same', 'AvgPool3D 0': 'the same',
    'Where 1': 'a scalar has one element; TensorFlow refuses it',
}
"""Where they differ, and why."""


def test_gradients_are_there_where_tensorflow_has_them() -> None:
    text = (Path(__file__).parent / 'gradient_structures.jsonl').read_text()
    theirs = {line['case']: line['gradients'] for line in map(json.loads, text.splitlines())}
    ours = {case: list(found) for case, found in lines('pyfuncdbg.tf')}
    assert ours.keys() == theirs.keys() and len(theirs) > 400
    assert {case: (ours[case], found) for case, found in theirs.items() if ours[case] != found and case not in KNOWN} == {}
    assert [case for case in KNOWN if ours[case] == theirs[case]] == [], 'no difference any more'
