"""`CommandResult`, what a magic gives back: rows, arrays, dicts and DataFrames, or why it is none of them."""
from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas
import pytest
from IPython.core.formatters import DisplayFormatter
from IPython.core.interactiveshell import InteractiveShell
from parsed_html import parsed
from written_trace import trace_of

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError, DroppedError
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.ipython.magics import CommandResult
from pyfuncdbg.ui.views.sample_trace import sample
from pyfuncdbg.ui.views.tensors.tensors import available_at


def result(line: str, trace=None) -> CommandResult:
    return CommandResult(execute(line, Context(trace if trace is not None else sample())))


@pytest.fixture(scope='module')
def trace(tmp_path_factory):
    """A trace of two steps of a regression, with gradients."""
    path: Path = tmp_path_factory.mktemp('trace') / 'steps.pfd'
    with pyfuncdbg.record(path, ops=True):
        w = tf.Variable(np.full((3, 1), 2.0, np.float32), name='w')
        for step in range(2):
            x = np.full((2, 3), 1.0 + step, np.float32)
            with tf.GradientTape() as tape:
                doubled = tf.py_function(lambda t: t * 2.0, [x], tf.float32)
                loss = tf.reduce_sum(tf.matmul(doubled, w))
            tape.gradient(loss, w)
    with pyfuncdbg.load(path) as opened:
        yield opened


def test_a_list_has_length_items_and_order():
    calls = result('calls')
    assert len(calls) == 5
    assert [call.number for call in calls] == ['1', '2', '3', '4', '5']
    assert calls[2].label == 'norm[1]'
    assert [call.number for call in calls[3:]] == ['4', '5']


def test_it_is_text_where_there_is_no_notebook():
    assert result('calls').text == execute('calls', Context(sample())).text().rstrip('\n')
    assert repr(result('calls')) == result('calls').text


def test_to_numpy_gives_the_values_of_a_tensor():
    whole = sample().call(3).outputs[0].to_numpy()
    np.testing.assert_array_equal(result('pt #3:0').to_numpy(), whole)
    np.testing.assert_array_equal(result('pt #3:0[0, 1:3]').to_numpy(), whole[0, 1:3])
    np.testing.assert_array_equal(result('pt -s #3:0').to_numpy(), whole)
    np.testing.assert_array_equal(result('eval `#3:0`[2] * 2').to_numpy(), whole[2] * 2)


@pytest.mark.parametrize(('line', 'method', 'said'), [
    ('calls', 'to_numpy', "'calls' returned no tensor: '%pyfunc pt TENSOR' returns one, '%pyfunc lt' lists them"),
    ('info', 'to_numpy', "'info' returned no tensor"), ('info', '__len__', "'info' returned no list"),
    ('report', 'to_pandas', "'report' returned neither a list nor a tensor")])
def test_a_conversion_that_makes_no_sense_says_what_would(line, method, said):
    with pytest.raises(CommandError) as caught:
        getattr(result(line), method)()
    assert said in str(caught.value)
    assert '\n' not in str(caught.value)


def test_a_tensor_that_was_not_kept_says_so():
    call = sample().call(1)
    lost = trace_of([replace(call, outputs=(replace(call.outputs[0], level='stats', key=None, note='over budget'),))], [])
    with pytest.raises(DroppedError, match='not kept'):
        result('pt #1:0', lost).to_numpy()


def test_to_dict_is_the_data_in_full():
    assert [call['number'] for call in result('calls').to_dict()['calls']] == ['1', '2', '3', '4', '5']
    calls = [replace(sample().call(1), number=str(i)) for i in range(1, 1502)]
    long = result('calls -n 5000', trace_of(calls, [])).to_dict()
    assert [call['number'] for call in long['calls']] == [str(i) for i in range(1, 1502)]


def test_calls_become_a_frame_with_the_headers_of_the_table():
    frame = result('calls').to_pandas()
    assert list(frame.columns) == ['number', 'time ms', 'site', 'run', 'function', 'inputs', 'outputs', 'duration', 'result']
    assert list(frame['site']) == ['norm[0]', 'scale[0]', 'norm[1]', 'scale[1]', 'norm[2]']
    assert frame['duration'].sum() == pytest.approx(sum(call.duration or 0 for call in sample().calls()))
    assert frame['time ms'][1] == pytest.approx(11.0)
    assert frame['result'][2] == 'NaN 4  1 print'


def test_tensors_become_a_frame_of_numbers():
    frame = result('lt').to_pandas()
    assert list(frame['name']) == ['norm:0', 'scale:0', 'norm:0', 'scale:0']
    assert list(frame['bad']) == [0, 0, 4, 4]
    assert list(frame['shape']) == [(3, 4)] * 4
    assert frame['max'][1] == pytest.approx(sample().call(2).outputs[0].stats.max)
    assert list(frame[frame['bad'] > 0]['call']) == ['3', '4']


def test_times_of_one_run_count_from_its_start_as_on_the_screen(trace):
    last = max(call.run for call, _ in result('lt', trace).data.rows)
    one = result(f'lt --run {last}', trace)
    later = one.to_pandas()
    assert one.data.time_origin > 0
    assert later['time ms'].min() + one.data.time_origin * 1e3 == pytest.approx(
        min(available_at(call, tensor) for call, tensor in one.data.rows) * 1e3)


def test_verdicts_and_profiles_become_frames():
    found = result('health').to_pandas()
    assert list(found['call']) == ['3', '4']
    assert list(found['verdict']) == ['born', 'inherited']
    assert list(found['from']) == ['', '3']
    assert found['line'][0] == 44
    assert list(result('lp').to_pandas()['name']) == ['norm', 'scale']


def test_a_matrix_becomes_a_frame_and_more_axes_say_what_to_do():
    values = sample().call(3).outputs[0].to_numpy()
    pandas.testing.assert_frame_equal(result('pt #3:0').to_pandas(), pandas.DataFrame(values))
    answer = execute('pt #3:0', Context(sample()))
    cube = CommandResult(replace(answer, result=replace(answer.result, values=np.zeros((2, 2, 2)))))
    with pytest.raises(CommandError, match=r'two axes, and this tensor has 3: \[2, 2, 2\]'):
        cube.to_pandas()


def test_the_tape_becomes_a_frame(trace):
    frame = result('tape', trace).to_pandas()
    assert {'gradient of', '|grad|', 'log10', 'remarks', 'by', 'to'} <= set(frame.columns)
    assert frame[frame['to'] == '']['|grad|'].max() == pytest.approx(8.0)      # 2 rows of 2 * 2.0


def test_without_pandas_one_line_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, 'pandas', None)
    with pytest.raises(CommandError, match=r'needs pandas.*pip install pandas') as caught:
        result('calls').to_pandas()
    assert '\n' not in str(caught.value)


def test_a_notebook_gets_html_and_text_and_json_stays_json():
    format_dict, _ = DisplayFormatter().format(result('calls'))
    assert set(format_dict) == {'text/plain', 'text/html'}
    assert format_dict['text/plain'] == result('calls').text
    asked, _ = DisplayFormatter().format(result('calls --json'))
    assert asked['text/plain'] == execute('calls --json', Context(sample())).json
    assert 'text/html' not in asked


def test_what_was_written_to_a_file_is_told(tmp_path):
    file = tmp_path / 'calls.txt'
    written = result(f'calls >> {file}')
    assert written.text.replace('\n', '') == f'written to {file}'
    assert str(file) in parsed(written._repr_mimebundle_()['text/html']).one('div', 'pf-rich').text


def test_public_objects_display_and_keep_their_repr(trace):
    call = trace.call(next(call.number for call in trace.calls(kind='python')))
    objects = {'trace': trace, 'run': trace.runs()[0], 'call': call, 'tensor': call.outputs[0],
               'tape': execute('tape', Context(trace)).result}
    said = {'trace': '2 calls of 1 Python function', 'run': f'run #{trace.runs()[0].id}', 'call': f'call #{call.number}',
            'tensor': 'float32 [2, 3]', 'tape': 'gradient of'}
    for name, one in objects.items():
        shown, _ = DisplayFormatter().format(one)
        assert said[name] in shown['text/plain']
        assert said[name] in parsed(shown['text/html']).one('div', 'pf-rich').text
        assert said[name] not in repr(one)
        assert type(one).__name__ in repr(one)
    assert parsed(objects['tape']._repr_mimebundle_()['text/html']).all('svg', 'pf-tape')


def test_a_shell_shows_the_text_once(capsys):
    shell = InteractiveShell()
    shell.user_ns['r'] = result('calls')
    shell.run_cell('r')
    assert capsys.readouterr().out.count('norm[1]') == 1


def test_displays_are_loaded_when_something_is_displayed():
    code = ("import sys, pyfuncdbg; from pyfuncdbg.observers.record.records import TensorRecord; "
            "t = TensorRecord('x:0', 'float32', (2,), 8, 'none'); before = [m for m in ('rich', 'pandas', 'IPython') "
            "if m in sys.modules]; b = t._repr_mimebundle_(); print(before, 'rich' in sys.modules, sorted(b))")
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] True ['text/html', 'text/plain']"


def test_costs_and_checks_become_frames_of_numbers(trace):
    nodes = result('lp', trace).to_pandas()
    assert nodes['calls'].sum() == trace.count()
    assert nodes['self'].sum() == pytest.approx(sum(use.own for use in trace.profile()))
    checks = result('check', trace).to_pandas()
    assert set(checks['verdict']) <= {'OK', 'unchecked'}
    assert checks[checks['verdict'] == 'OK']['error'].max() < 1e-3


def test_the_nodes_of_a_graph_become_a_frame(tmp_path):
    with pyfuncdbg.record(tmp_path / 'graph.pfd', ops=True), tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [2], name='x')
        y = tf.square(x, name='y')
        with tf.compat.v1.Session() as session:
            for _ in range(3):
                session.run(y, {x: [1.0, 3.0]})
    with pyfuncdbg.load(tmp_path / 'graph.pfd') as opened:
        frame, feeds = result('graph', opened).to_pandas(), result('pf', opened).to_pandas()
    row = frame[frame['name'] == 'y'].iloc[0]
    assert (row['type'], row['inputs'], row['calls'], row['shape']) == ('Square', ['x:0'], 3, (2,))
    assert (row['min'], row['max']) == (1, 9)
    assert row['time'] > 0
    assert (feeds['name'][0], feeds['max'][0]) == ('x:0', 3)
