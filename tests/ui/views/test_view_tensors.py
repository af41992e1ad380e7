"""The tensor table: verdicts beside the flags, columns by width."""
from __future__ import annotations

from dataclasses import replace

import numpy as np
from written_trace import tensor

from pyfuncdbg.observers.debug.numerics.nan_verdicts import judge
from pyfuncdbg.ui.views.sample_trace import sample
from pyfuncdbg.ui.views.tensors.tensors import TensorListing, tensor_name, tensor_table

TRACE = sample()


def tensor_page(rows, total=None, **shown):
    return tensor_table(TensorListing(rows, len(rows) if total is None else total, **shown))


def test_born_and_inherited_stand_in_the_flags(draw):
    text = draw(tensor_page(TRACE.tensors(), verdicts=judge(TRACE).by_call(), bad=2), 160)
    lines = text.splitlines()
    assert lines[0] == '4 tensors   sort: time   filter: none   2 non-finite'
    assert lines[1].split() == ['time', 'ms', 'v', 'name', 'call', 'kind', 'shape', 'bytes', 'min', '|hist|', 'max', 'mean',
                                'flags']
    assert lines[5].split()[:6] == ['20.21', 'norm:0', '#3', 'py', '3x4', '48']
    assert 'NaN 4 <- BORN model.py:44' in lines[5]
    assert 'NaN 4 from #3' in lines[6]
    assert 'NaN' not in lines[3]


def test_a_function_is_not_taken_for_the_line(draw):
    verdicts = judge(TRACE).by_call()
    born = next(key for key, verdict in verdicts.items() if verdict.verdict == 'born')
    verdicts[born] = replace(verdicts[born], places=(), certain=False)
    site = verdicts[born].call.site
    text = draw(tensor_page(TRACE.tensors(), verdicts=verdicts, bad=2), 160)
    assert f'NaN 4 <- BORN? def {site.filename}:{site.line}' in text.splitlines()[5]


def test_a_row_is_a_line_and_fewer_columns_where_there_is_less_room(draw):
    wide, middle, narrow = (draw(tensor_page(TRACE.tensors()), width) for width in (160, 60, 30))
    assert [len(text.splitlines()) for text in (wide, middle)] == [7, 7]
    assert 'kind' in wide
    assert 'min |hist| max' in middle and 'kind' not in middle
    assert 'name' in narrow and 'hist' not in narrow
    for text, width in ((wide, 160), (middle, 60), (narrow, 30)):
        assert all(len(line) <= width for line in text.splitlines())


def test_the_sorted_column_is_there_at_any_width(draw):
    assert 'mean v' in draw(tensor_page(TRACE.tensors(), sort='mean'), 60)
    assert 'mean' not in draw(tensor_page(TRACE.tensors()), 60)
    assert 'min |hist| max ^' in draw(tensor_page(TRACE.tensors(), sort='max, reversed'), 60)


def test_what_has_nothing_finite_says_so_instead_of_a_range(draw):
    call = TRACE.call(1)
    lost = tensor('lost:0', np.full(3, np.nan))
    line = draw(tensor_page([(replace(call, outputs=(lost,)), lost)]), 80).splitlines()[-1]
    assert line.split()[1:] == ['lost:0', '#1', 'py', '3', '24', 'B', 'nothing', 'finite', 'NaN', '3']


def test_no_tensors(draw):
    assert draw(tensor_page([], 0, filters={'run': 7})) == '0 tensors   sort: time   filter: run 7\n'


def test_a_tensor_without_a_name_gets_site_and_slot():
    call = TRACE.call(1)
    anonymous = replace(call.outputs[0], name='')
    assert tensor_name(replace(call, outputs=(call.outputs[0], anonymous)), anonymous) == 'norm:1'
