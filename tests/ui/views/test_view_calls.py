"""The call table and the call card."""
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from written_trace import tensor

from pyfuncdbg.observers.record.record_contents import load_call
from pyfuncdbg.observers.record.records import OutputRecord
from pyfuncdbg.ui.views.calls.call import call_card, input_titles
from pyfuncdbg.ui.views.calls.calls import CallListing, call_table
from pyfuncdbg.ui.views.sample_trace import sample

CALLS = sample().calls()


def call_page(calls, total=None, **shown):
    return call_table(CallListing(calls, len(calls) if total is None else total, **shown))


def rows(text):
    return [line.split() for line in text.splitlines()]


def test_one_line_a_call_with_its_result(draw):
    lines = rows(draw(call_page(CALLS[:4])))
    assert lines[0] == ['4', 'calls', 'sort:', 'time', 'filter:', 'none']
    assert lines[1] == ['number', 'time', 'ms', 'v', 'site', 'run', 'outputs', 'duration', 'result']
    assert lines[3] == ['#1', '10.00', 'norm[0]', '1', 'float32[3,4]', '210', 'us', 'ok']
    assert lines[5] == ['#3', '20.00', 'norm[1]', '2', 'float32[3,4]', '210', 'us', 'NaN', '4', '1', 'print']
    assert lines[6] == ['#4', '21.00', 'scale[1]', '2', 'float32[3,4]', '40', 'us', 'NaN', '4']


def test_the_column_it_is_sorted_by_stays_and_is_marked(draw):
    lines = rows(draw(call_page(CALLS[:4], sort='run'), 50))
    assert ['number', 'site', 'run', 'v', 'duration', 'result'] in lines
    assert not any('v' in line for line in rows(draw(call_page(CALLS[:4]), 50))[1:2])


def test_wide_consoles_get_function_and_inputs(draw):
    text = draw(call_page(CALLS[:1]), 160)
    assert 'normalize  model.py:39  float32[3,4]  float32[3,4]    210 us  ok' in text


def test_first_line_counts_and_names_filters(draw):
    text = draw(call_page(CALLS[:2], 412, filters={'site': 'norm*', 'failed': True}, sort='duration', dropped=7))
    assert text.splitlines()[0] == '412 calls, 2 shown   sort: duration   filter: site norm*, failed   not kept: 7'
    assert draw(call_page([], 0)) == '0 calls   sort: time   filter: none\n'


def test_unfinished_and_failed_calls_say_so(draw):
    text = draw(call_page([replace(CALLS[0], duration=None, outputs=()), CALLS[4]]), 160)
    assert 'not finished' in text
    assert "raised AttributeError: 'NoneType' object has no attribute 'mean'" in text


def test_nan_and_inf_are_told_apart(draw):
    call = replace(CALLS[0], outputs=(tensor('a', np.array([np.nan, np.inf])), tensor('b', np.array([-np.inf]))))
    assert 'NaN 1, Inf 2' in draw(call_page([call]))


def test_what_was_said_is_counted(draw):
    said = (OutputRecord('out', 'x'), OutputRecord('err', 'x'), OutputRecord('warning', 'x'), OutputRecord('fp', 'x'))
    assert '2 prints, 1 warning' in draw(call_page([replace(CALLS[0], output=said)]), 160)


def test_card_of_a_call_has_everything(draw):
    call = replace(CALLS[2], parent='1', dropped={'prints': 2})
    text = draw(call_card(load_call(call)))
    lines = [line.rstrip() for line in text.splitlines()]
    assert lines[:6] == [
        'call #3  norm[1]  EagerPyFunc  NaN 4', 'function  normalize  model.py:39', 'created   model.py:60 in main',
        'run       #2, thread 8123', 'time      20 ms after the start, took 210 us', 'made in   call #1']
    order = [text.index(part) for part in ('in 0 x  mm:0  float32 [3, 4]', 'out 0  norm:0  float32 [3, 4]  48 B  NaN 4',
                                           'row 1 constant', 'not kept: prints 2')]
    assert order == sorted(order)


def test_card_of_a_failed_call_has_the_traceback(draw):
    text = draw(call_card(load_call(CALLS[4])))
    assert 'raised AttributeError' in text.splitlines()[0]
    assert '40 | mu = x.mean(-1, keepdims=True)' in text


def test_where_no_python_function_was_called_the_other_kinds_are_named(draw):
    assert draw(call_page([], others={'op': 2, 'gradient': 0, 'run': 1})).splitlines()[1:] == [
        "2 graph nodes: 'calls --kind op' lists them", "1 run: 'calls --kind run' lists it"]


def test_card_of_a_gradient_call(draw):
    text = draw(call_card(load_call(replace(CALLS[0], forward='2', inputs=(), process=2))))
    assert 'gradient of  call #2' in text
    assert 'no inputs' in text
    assert '#1 of process 2' in text


def test_inputs_out_of_containers_are_named_by_the_parameters_that_have_them():
    call = next(call for call in CALLS if len(call.inputs) == 1)
    form = [[['input', 0], ['dict', [['k', ['list', [['input', 1], ['constant', None], ['number', 2]]]]]], ['dict', []],
             ['number', 3]], [['flag', ['tuple', [['number', 4]]]]]]
    site = replace(call.site, source='def scale(self, x, options, rest, flag=()):\n    return x',
                   attrs={**call.site.attrs, 'argument_form': form})
    titles = input_titles(replace(call, inputs=call.inputs * 5, site=site))
    assert titles == ['in 0 self', "in 1 x['k'][0]", "in 2 x['k'][2]", 'in 3 rest', 'in 4 flag[0]']
    assert input_titles(replace(call, site=site)) == ['in 0 x']         # a damaged form names nothing


@pytest.mark.parametrize(('source', 'title'), [
    ('def scale(self, x):\n    return x', 'in 0 x'), ('def scale(cls, x, by=None):\n    return x', 'in 0 x'),
    ('def scale(self):\n    return self', 'in 0 self')])
def test_inputs_of_a_bound_method_are_named_without_its_object(source, title):
    call = next(call for call in CALLS if len(call.inputs) == 1)
    assert input_titles(replace(call, site=replace(call.site, source=source))) == [title]
