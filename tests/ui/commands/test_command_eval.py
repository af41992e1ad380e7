"""eval over recorded tensors and at a stop; pt with differences, runs, text files; lt by condition, type and key."""
from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from scripted_user import ScriptedUser, context_of
from written_trace import tensor, trace_of

from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError, TraceError
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.record.records import TensorRecord
from pyfuncdbg.ui.commands.array_files import write_array
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.views.sample_trace import sample


def value(line, context):
    return execute(line, context).result.value


def text(line, context, width=100):
    return execute(line, context).text(width)


# ---------------------------------------------------------------- eval on a trace
FINE = sample().call(1).outputs[0].to_numpy()


@pytest.mark.parametrize(('expression', 'expected'), [
    ('`norm[0]:0`.max()', FINE.max()), ('np.abs(`norm[0]:0`).sum()', np.abs(FINE).sum()), ('#1:0[0, 1]', FINE[0, 1]),
    ('`norm[0]:0[0, 1:3]`.sum()', FINE[0, 1:3].sum()), ('#1:in0.shape', (3, 4)), ('scale:0.shape', (3, 4)),
    ('has_nan(`norm[1]:0`)', True), ('has_nan(scale)', True), ('zeros(`#3:0`)', 2 / 12), ('scale[1:2].shape', (1, 4)),
    ('(`#4:0` - 2 * #3:0)[0].tolist()', [0.0, 0.0, 0.0, 0.0]), ('[norm:0, 1][1]', 1), ('{1: norm}[1].ndim', 2),
    ("'`norm:0`' + '#1:0'[:0]", "'_norm_0_'"),
])
def test_names_of_recorded_tensors(context, expression, expected):
    found = value(f'eval {expression}', context)
    if found.array is not None:
        np.testing.assert_allclose(found.array, expected, rtol=1e-6)
    else:
        assert found.text == str(expected)


def test_a_run_can_be_named(context):
    assert value('eval has_nan(norm)', context).array
    assert not value('eval --run 1 has_nan(norm)', context).array


@pytest.mark.parametrize(('expression', 'message'), [
    ('nrm', "name 'nrm' is not defined. Did you mean 'norm'"), ('`nrm:0`', "Did you mean 'norm:0'"),
    ('', 'expression is missing'),
    ('norm +', 'SyntaxError'), ('`norm[7]:0`', "There is no call 'norm[7]'"), ('norm[9, 9, 9]', 'IndexError'),
    ('`norm:0[9]`', 'out of bounds'), ('--run 7 norm', "not recorded in run 7"), ('-w /tmp/x.npy 3', 'expected an array'),
    ('`norm[0]:0`.mena()', '`norm[0]:0`.mena()'),
])
def test_mistakes(context, expression, message):
    with pytest.raises(CommandError) as caught:
        execute(f'eval {expression}', context)
    assert message in str(caught.value)


def test_a_shell_has_taken_the_quotes_off(context):
    answer = execute(['eval', '-n', '3', '`norm[0]:0`  [0, 1:3]'], context)
    np.testing.assert_array_equal(answer.result.value.array, FINE[0, 1:3])
    assert answer.result.limit == 3
    assert execute(['eval', '--json', "'a b'"], context).json == json.dumps(
        json.loads(execute("eval --json 'a b'", context).json))


def test_what_was_not_kept_is_told(context):
    call = sample().call(1)
    lost = TensorRecord('norm:0', 'float32', (3, 4), 48, 'stats', note='over budget')
    trace = trace_of([call, replace(call, number='2', run=2, ordinal=1, outputs=(lost,))], ())
    with pytest.raises(CommandError, match=r'not kept: over budget. Of run 1 it was kept: --run 1'):
        execute('eval norm.sum()', Context(trace))
    with pytest.raises(TraceError, match=r'--run 1'):
        execute('pt norm:0[0]', Context(trace))
    assert execute('pt norm:0[0] --run 1', Context(trace)).result.values.shape == (4,)


def test_drawn_as_a_card_with_a_picture(context):
    shown = text('eval np.sin(np.arange(64.0))', context).splitlines()
    assert shown[0] == 'float64 [64]  512 B'
    assert shown[1] == 'np.sin(np.arange(64.0))'
    assert any('⠁' <= c <= '⣿' for c in shown[4])
    assert text('eval norm.sum()', context) == 'float32 nan\n'


def test_written(context, tmp_path):
    assert text(f'eval -w {tmp_path}/a #1:0 * 2', context).splitlines()[-1].strip() == f'written to {tmp_path}/a.npy'
    np.testing.assert_array_equal(np.load(tmp_path / 'a.npy'), FINE * 2)


# ---------------------------------------------------------------- eval at a stop
def test_at_a_stop_names_mean_this_run():
    found = []

    def typed(line):
        def answer(stop):
            try:
                found.append(execute(line, context_of(stop)).result.value.array.tolist())
            except CommandError as error:
                found.append(str(error))
        return answer

    def add_one(a):
        b = a + np.float32(1)
        print(b.shape)
        return b
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name='x')
        half = tf.multiply(x, 0.5, name='half')
        out = tf.add(tf.numpy_function(add_one, [half], tf.float32, name='py'), 0.25, name='out')
    session = tf.Session(graph=graph)
    session.run(out, {x: [0.0, 0.0]})
    with ScriptedUser(['to py', typed('eval `half:0` * 2'), typed('eval `py:0`'), 'into', typed('eval a + half:0'), 'next',
                       typed('eval `half:0[1]` + b'), typed('eval half'), 'cont']):
        debugger.start()
        debugger.live.trace()
        debugger.stop_at_next_call(threading.get_native_id())
        assert session.run(out, {x: [2.0, 4.0]}).tolist() == [2.25, 3.25]
    assert found[0] == [2.0, 4.0]
    assert 'not computed yet' in found[1]
    assert found[2:] == [[2.0, 4.0], [4.0, 5.0], [1.0, 2.0]]


# ---------------------------------------------------------------- pt
def test_difference_to_the_call_before(context):
    change = execute('pt norm[1]:0 --diff', context).result
    assert (change.before_title, change.difference.bad) == ('output 0 of call #1 norm[0]', (0, 4))
    assert (change.difference.elements, change.difference.first) == (4, (1, 0))
    shown = text('pt norm[1]:0 --diff', context)
    assert shown.startswith('norm:0  4 of 12 elements changed\n')
    assert 'not finite: 0 before, 4 after' in shown
    assert '[1, 0]' in shown and 'nan' in shown


def test_difference_of_an_input_and_of_a_slice(context):
    change = execute('pt #3:in0[1] --diff', context).result
    assert change.difference.tensor == 'mm:0[1]'
    assert (change.difference.elements, change.difference.greatest, change.difference.at) == (3, 3.0, (0,))
    assert text('pt #3:in0[0] --diff', context).startswith('mm:0[0]  each of 4 elements as before')


def test_difference_to_any_call(context):
    assert execute('pt #4:0 --against scale[0]', context).result.before_title == 'output 0 of call #2 scale[0]'
    assert execute('pt #3:in0 --against 5', context).result.before_title == 'input 0 of call #5 norm[2]'
    with pytest.raises(CommandError, match=r"first of its node.*--against CALL"):
        execute('pt #1:0 --diff', context)


def test_difference_of_a_fetch_is_to_the_run_before():
    runs = [replace(run, fetches=(tensor('loss:0', np.array(run.id * 2.0)),)) for run in sample().runs()]
    context = Context(trace_of(sample().calls(), runs))
    change = execute('pt loss:0 --diff', context).result
    assert (change.title, change.before_title, change.difference.greatest) == ('fetch of run #3', 'fetch of run #2', 2.0)
    assert execute('pt loss:0 --run 1', context).result.values == 2.0
    with pytest.raises(CommandError, match='no run before run 1'):
        execute('pt loss:0 --run 1 --diff', context)


def test_where_a_nan_began_is_said(context):
    assert 'not finite: all in row 1 of 3; born in this call at model.py:44\n' in text('pt #3:0', context)
    assert 'inherited, born in call #3 norm[1] at model.py:44\n' in text('pt #4:0', context)
    assert 'not finite' not in text('pt #1:0', context)
    assert 'born' not in text('pt #3:0[0]', context)


def test_a_range_is_counted_and_listed(context):
    shown = text('pt #1:in0 -r [2,3]', context)
    assert '4 of 12 elements in [2, 3], marked *; at [0, 3]: 2, [1, 2]: 2, [1, 3]: 3' not in shown
    array = sample().call(1).inputs[0].to_numpy()
    count = int(((array >= 2) & (array <= 3)).sum())
    assert f'{count} of 12 elements in [2, 3], marked *; at [0, 3]: 2' in shown
    assert shown.count('*') == count + 1


def test_text_files_are_new_and_read_back(context, tmp_path: Path):
    path = tmp_path / 'norm.txt'
    execute(['pt', '#3:0', '-w', str(path)], context)
    np.testing.assert_array_equal(np.loadtxt(path).reshape(3, 4), sample().call(3).outputs[0].to_numpy())
    path.write_text('mine')
    with pytest.raises(CommandError, match='exists already'):
        execute(['pt', '#3:0', '-w', str(path)], context)
    assert path.read_text() == 'mine'


@pytest.mark.parametrize(('array', 'lines'), [
    (np.array(['a\n', 'b\\']), ['# shape [2]', 'a\\n', 'b\\\\']),
    (np.array([[1, 2], [3, 4]], ml_dtypes.bfloat16), ['# shape [2, 2]', '1.0 2.0', '3.0 4.0']),
    (np.array(True), ['# shape []', '1']), (np.zeros((0, 2)), ['# shape [0, 2]']), (np.zeros((2, 0)), ['# shape [2, 0]']),
])
def test_any_array_as_text(array, lines, tmp_path: Path):
    write_array(array, str(tmp_path / 'x.txt'))
    assert (tmp_path / 'x.txt').read_text().splitlines() == lines


def test_small_floats_are_written_as_numpy_reads_them(tmp_path: Path):
    call = replace(sample().call(1), outputs=(tensor('norm:0', np.array([1.5, 2], ml_dtypes.float8_e5m2)),))
    execute(['pt', 'norm:0', '-w', str(tmp_path / 'x.npy')], Context(trace_of([call], ())))
    assert np.load(tmp_path / 'x.npy').tolist() == [1.5, 2.0]


# ---------------------------------------------------------------- lt
def names(line, context):
    return [(call.number, one.name) for call, one in execute(line, context).result.rows]


def test_lists_by_condition_type_and_key(context):
    assert names('lt -f has_nan', context) == [('3', 'norm:0'), ('4', 'scale:0')]
    assert names("lt -f 'absmax(out) > 2'", context) == [('2', 'scale:0')]
    assert names('lt -t py --site norm', context) == [('1', 'norm:0'), ('3', 'norm:0')]
    assert names('lt -t MatMul', context) == []
    assert [name for _, name in names('lt -s name -r', context)] == ['scale:0', 'scale:0', 'norm:0', 'norm:0']
    assert names('lt -s flags -n 1', context) == names('lt -s bad -n 1', context) == [('3', 'norm:0')]
    assert text("lt -f 'out.max() > 1' -r", context).startswith(
        '2 tensors   sort: time, reversed   filter: if out.max() > 1   2 non-finite')


@pytest.mark.parametrize(('line', 'message'), [
    ('lt -f', 'expected one argument'), ("lt -f 'x >'", 'bad condition'), ('lt -f inputs[0]', "asks for 'inputs'"),
    ('lt -f out.foo', "AttributeError: 'numpy.ndarray' object has no attribute 'foo'; asked of norm:0"),
    ('lt -s nam', "Did you mean 'name'"),
])
def test_mistakes_of_lt(context, line, message):
    with pytest.raises(CommandError) as caught:
        execute(line, context)
    assert message in str(caught.value)


def test_what_cannot_be_asked_is_counted():
    call = sample().call(1)
    lost = TensorRecord('norm:0', 'float32', (3, 4), 48, 'stats', note='over budget')
    context = Context(trace_of([call, replace(call, number='2', ordinal=1, outputs=(lost,))], ()))
    assert execute("lt -f 'out.max() > 0'", context).result.filters == {'if': 'out.max() > 0', '1 of them not kept': True}


def test_every_header_sorts(context):
    header = text('lt', context, 200).splitlines()[1]
    for word in header.replace('time ms v', 'time').replace('|hist|', '').split():
        assert execute(f'lt --sort {word}', context).result.sort == word
