"""The tensor table: verdicts beside the flags, columns by width."""
from __future__ import annotations

from dataclasses import replace

from pyfuncdbg.debug.health import judge
from pyfuncdbg.views.sample import sample
from pyfuncdbg.views.tensors import tensor_name, tensor_table

TRACE = sample()


def test_born_and_inherited_stand_in_the_flags(draw):
    text = draw(tensor_table(TRACE.tensors(), verdicts=judge(TRACE).by_call(), bad=2), 160)
    lines = text.splitlines()
    assert lines[0] == '4 tensors   sort: time   filter: none   2 non-finite'
    assert lines[1].split() == ['t', 'ms', 'node:slot', 'kind', 'shape', 'bytes', 'min', '|hist|', 'max', 'mean', 'flags']
    assert lines[5].split()[:6] == ['20.21', 'norm:0', '#3', 'py', '3x4', '48']
    assert 'NaN 4 <- BORN model.py:44' in lines[5]
    assert 'NaN 4 from call #3' in lines[6]
    assert 'NaN' not in lines[3]


def test_narrow_consoles_get_fewer_columns(draw):
    text = draw(tensor_table(TRACE.tensors()), 80)
    assert 'min .. max' in text
    assert 'kind' not in text
    assert all(len(line) <= 80 for line in text.splitlines())


def test_no_tensors(draw):
    assert draw(tensor_table([], 0, filters={'run': 7})) == '0 tensors   sort: time   filter: run 7\n'


def test_a_tensor_without_a_name_gets_site_and_slot():
    call = TRACE.call(1)
    anonymous = replace(call.outputs[0], name='')
    assert tensor_name(replace(call, outputs=(call.outputs[0], anonymous)), anonymous) == 'norm:1'
