"""JSON of any result: valid, complete, bounded."""
from __future__ import annotations

import json
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from pyfuncdbg.ui.commands.engine.to_json import plain, to_json
from pyfuncdbg.ui.views.sample_trace import sample


@pytest.mark.parametrize(('value', 'expected'), [
    (float('nan'), 'NaN'), (float('inf'), 'Infinity'), (float('-inf'), '-Infinity'), (1.5, 1.5), (True, True), (None, None),
    (b'a\xff', 'a\\xff'), ('é\ud800', 'é\ud800'), (np.float32(0.5), 0.5), (1 + 2j, [1.0, 2.0]), ({1: (2,)}, {'1': [2]}),
    (np.array([[1, 2]]), {'dtype': 'int64', 'shape': [1, 2], 'size': 2, 'values': [[1, 2]]}),
    (np.array(np.nan), {'dtype': 'float64', 'shape': [], 'size': 1, 'values': 'NaN'}),
    (np.array([b'x\xff'], object), {'dtype': 'object', 'shape': [1], 'size': 1, 'values': ['x\\xff']}),
    (np.array([0.5], ml_dtypes.bfloat16), {'dtype': 'bfloat16', 'shape': [1], 'size': 1, 'values': [0.5]}),
    (object(), '<object>'),
])
def test_values(value, expected):
    assert plain(value) == expected
    json.loads(to_json(value))


@given(hnp.arrays(st.sampled_from([np.float32, np.int8, np.bool_, np.complex64]), hnp.array_shapes(max_side=4)))
def test_every_array_is_valid_json(array):
    form = json.loads(to_json(array), parse_constant=pytest.fail)
    assert form['size'] == array.size


def test_arrays_and_lists_are_cut_and_say_so():
    form = plain(np.arange(10).reshape(2, 5), 4)
    assert form == {'dtype': 'int64', 'shape': [2, 5], 'size': 10, 'values': [0, 1, 2, 3], 'shown': 4}
    assert plain(list(range(5)), 2) == {'items': [0, 1], 'size': 5, 'shown': 2}


def test_records_have_their_labels_and_no_keys():
    form = plain(sample().call(3))
    assert form['label'] == 'norm[1]'
    assert form['outputs'][0]['stats']['bad'] == 4
    assert form['site']['stack'][0] == {'filename': 'model.py', 'line': 60, 'function': 'main'}
    assert 'key' not in form['outputs'][0]
    assert '_read' not in form['outputs'][0]


def test_json_is_one_line_of_ascii():
    call = replace(sample().call(3), dropped={'é\n\ud800': 1})
    text = to_json(call)
    assert text.isascii()
    assert '\n' not in text
    assert json.loads(text)['dropped'] == {'é\n\ud800': 1}
