"""`check`: planted wrong gradients are found, kinks are called kinks, and no registered op gives a false alarm."""
from __future__ import annotations

import contextlib
import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hosts.numpy.graph.definitions import registry
from pyfuncdbg.hosts.numpy.graph.definitions.registry import lookup, no_gradient
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.observers.debug.gradients.call_again import missing_reason
from pyfuncdbg.observers.record.records import TensorRecord
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'hosts' / 'numpy' / 'ops'))
from examples import EXAMPLES, WITHOUT_GRADIENT

pytestmark = pytest.mark.filterwarnings('ignore::numpy.exceptions.ComplexWarning')       # imaginary steps


@pytest.fixture
def report(tmp_path):
    """Records a program and gives the edges that `check` found."""
    def run(program, line='check', **options):
        with pyfuncdbg.record(tmp_path / 'check.pfd', **{'ops': True, **options}) as recorder:
            program()
        with pyfuncdbg.load(recorder.path) as trace:
            return execute(line, Context(trace)).result.edges
    return run


def slope_of(function, *values):
    """A program that differentiates a function in eager mode."""
    def program():
        inputs = [tf.constant(value) for value in values]
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            y = function(*inputs)
        tape.gradient(y, inputs)
    return program


def in_a_graph(function, *values):
    """The same in a session."""
    def program():
        with tf.Graph().as_default() as graph, tf.Session() as session:
            _kept.append(graph)
            inputs = [tf.placeholder(value.dtype, value.shape) for value in values]
            y = function(*inputs)
            session.run([y, tf.gradients(y, inputs)], dict(zip(inputs, values, strict=True)))
    return program


def test_an_op_whose_value_no_gradient_needs_is_not_there_to_check(report):
    def program():
        with tf.Graph().as_default(), tf.Session() as session:
            p = tf.placeholder(tf.float64, [])
            session.run(tf.gradients(tf.sin(p), p), {p: 0.5})
    (edge,) = report(program)
    assert (edge.op_type, edge.outcome.verdict) == ('Sin', 'unchecked')
    assert edge.outcome.reason.endswith('the run did not execute it; fetch its output too')


def outcomes(edges, op_type):
    return [edge.outcome for edge in edges if edge.op_type == op_type]


X = np.array([[0.3, -1.2, 2.0], [0.7, 0.1, -0.4]])
W = np.array([[0.5, -0.2], [0.1, 0.9], [1.1, 0.3]])


# ---------------------------------------------------------------- planted mistakes
def wrong_sign():
    @tf.custom_gradient
    def square(x):
        return tf.square(x), lambda dy: -2.0 * x * dy
    return square, [X], 1


def wrong_scale():
    @tf.custom_gradient
    def tanh(x):
        y = tf.tanh(x)
        return y, lambda dy: 1.1 * dy * (1.0 - y * y)
    return tanh, [X], 1


def missing_sum():
    @tf.custom_gradient
    def add_bias(x, b):
        return x + b, lambda dy: (dy, dy)               # the gradient of b should be summed over the rows
    return add_bias, [X, X[0]], 2


def missing_sum_kept():
    @tf.custom_gradient
    def add_bias(x, b):
        return x + b, lambda dy: (dy, dy[:1])           # of the right shape, of one row only
    return add_bias, [X, X[:1]], 2


def transposed():
    @tf.custom_gradient
    def product(x, w):
        return tf.matmul(x, w), lambda dy: (tf.matmul(dy, w), tf.matmul(x, dy, transpose_a=True))
    return product, [X[:, :2] + 1, W[:2]], 1


def one_element():
    @tf.custom_gradient
    def exp(x):
        y = tf.exp(x)
        mask = np.ones(200)
        mask[137] = 0.5
        return y, lambda dy: dy * y * mask.astype(y.dtype.as_numpy_dtype)
    return exp, [np.linspace(-1, 1, 200)], 1


@pytest.mark.parametrize(('planted', 'where'), [
    (planted, where) for planted in (wrong_sign, wrong_scale, missing_sum, missing_sum_kept, transposed, one_element)
    for where in (slope_of, in_a_graph) if (planted, where) != (missing_sum, in_a_graph)])    # a graph refuses that itself
@pytest.mark.parametrize('dtype', [np.float64, np.float32])
def test_planted_in_a_custom_gradient(report, planted, dtype, where):
    function, values, slot = planted()
    values = [value.astype(dtype) for value in values]
    edges = report(where(lambda *inputs: tf.reduce_sum(tf.sin(function(*inputs))), *values))
    found = {edge.slot: edge.outcome for edge in edges if edge.op_type == 'IdentityN'}
    assert {at: outcome.verdict for at, outcome in found.items()} == {
        at: 'BAD' if at == slot else 'OK' for at in found} and slot in found
    assert all(edge.outcome.verdict == 'OK' for edge in edges if edge.op_type != 'IdentityN')
    bad = found[slot]
    if planted is one_element:
        assert bad.index == (137,) and bad.actual / bad.expected == pytest.approx(0.5, rel=1e-3)
    elif planted is wrong_scale:
        assert bad.actual / bad.expected == pytest.approx(1.1, rel=1e-3)
    elif planted is wrong_sign:
        assert bad.actual == pytest.approx(-bad.expected, rel=1e-3)


def test_planted_inside_of_a_py_function_without_ops(report):
    square, (x,), _ = wrong_sign()
    function = lambda_of(square)
    edges = report(slope_of(lambda a: tf.reduce_sum(tf.py_function(function, [a], tf.float64, name='f')), x), ops=False)
    (found,) = [edge for edge in edges if edge.name == 'f']
    assert (found.outcome.verdict, found.function.rpartition('.')[2]) == ('BAD', 'call_it')
    assert all(edge.outcome.verdict == 'unchecked' and 'ops' in edge.outcome.reason for edge in edges if edge is not found)


_kept = []


def lambda_of(function):
    def call_it(a):
        return function(a)
    _kept.append(call_it)               # a program keeps its functions, mostly
    return call_it


def test_planted_in_the_registry(report, monkeypatch):
    right = lookup('Sigmoid')
    wrong = dataclasses.replace(right, gradient=lambda node, dy: [-g for g in right.gradient(node, dy)])
    monkeypatch.setitem(registry._table, 'Sigmoid', wrong)
    edges = report(slope_of(lambda x: tf.reduce_sum(tf.sigmoid(x)), X))
    assert [o.verdict for o in outcomes(edges, 'Sigmoid')] == ['BAD']
    assert [o.verdict for o in outcomes(edges, 'Sum')] == ['OK']


# ---------------------------------------------------------------- kinks
ZEROS = np.array([1.0, 0.0, -1.0, 0.0])


@pytest.mark.parametrize('size', [4, 400])
@pytest.mark.parametrize('dtype', [np.float64, np.float32])
@pytest.mark.parametrize(('function', 'op_type'), [(tf.nn.relu, 'Relu'), (tf.abs, 'Abs')])
def test_relu_and_abs_at_zero_are_kinks(report, function, op_type, dtype, size):
    edges = report(slope_of(lambda x: tf.reduce_sum(function(x)), np.resize(ZEROS, size).astype(dtype)))
    (found,) = outcomes(edges, op_type)
    assert found.verdict == 'kink' and found.index[0] % 4 in (1, 3)
    assert found.expected == pytest.approx(0.0 if op_type == 'Relu' else -1.0, abs=1e-6)
    assert found.other_side == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize('function', [lambda x: tf.reduce_max(x), lambda x: tf.reduce_sum(tf.maximum(x[0], x[1]))])
def test_ties_of_a_maximum_are_kinks(report, function):
    edges = report(slope_of(function, np.array([[2.0, 1.0], [2.0, 0.5]])))
    assert 'kink' in [edge.outcome.verdict for edge in edges if edge.op_type in ('Max', 'Maximum')]
    assert 'BAD' not in [edge.outcome.verdict for edge in edges]


def test_a_wrong_gradient_at_a_kink_is_bad(report):
    @tf.custom_gradient
    def relu(x):
        return tf.nn.relu(x), lambda dy: dy * -0.5
    edges = report(slope_of(lambda x: tf.reduce_sum(relu(x)), np.array([0.0])))
    assert [o.verdict for o in outcomes(edges, 'IdentityN')] == ['BAD']


# ---------------------------------------------------------------- no false alarms
DIFFERENTIABLE = [op for op, group in EXAMPLES.items() if group and lookup(op).gradient not in (None, no_gradient)
                  and op not in WITHOUT_GRADIENT]


@pytest.mark.parametrize('dtype', ['float64', 'float32'])
@pytest.mark.parametrize('op', DIFFERENTIABLE)
def test_every_registered_gradient_is_right(report, op, dtype):
    def program():
        for example in EXAMPLES[op]:
            attrs = {name: getattr(tf, dtype) if value is tf.float64 else value for name, value in example.attrs.items()}
            inputs = [tf.constant(np.asarray(value).astype(dtype) if np.asarray(value).dtype == np.float64 else value)
                      for value in example.inputs]
            with tf.GradientTape() as tape:
                tape.watch([x for i, x in enumerate(inputs) if x.dtype.is_floating and i not in example.fixed])
                made = apply(op, inputs, attrs)
                outputs = [y for y in (made if isinstance(made, (list, tuple)) else [made]) if y.dtype.is_floating]
                total = tf.add_n([tf.reduce_sum(tf.sin(y + 0.3)) for y in outputs])
            tape.gradient(total, inputs)
    edges = report(program, 'check -n 1000')
    fixed = {i for example in EXAMPLES[op] for i in example.fixed}
    mine = [edge.outcome for edge in edges if edge.op_type == op and edge.slot not in fixed]
    assert [edge for edge in edges if edge.outcome.verdict == 'BAD' and edge.slot not in fixed] == []
    assert mine and {outcome.verdict for outcome in mine} <= {'OK', 'kink'}, mine


def test_errors_of_right_gradients_are_small(report):
    edges = report(slope_of(lambda x: tf.reduce_sum(tf.exp(x) * tf.sin(x)), X))
    assert max(edge.outcome.error for edge in edges) < 1e-8


# ---------------------------------------------------------------- what cannot be checked
def only(edges, name):
    (found,) = [edge for edge in edges if edge.name == name]
    return found.outcome


def noisy(x):
    return x * float(np.random.rand())


def remembering(x, count=[0]):  # noqa: B006
    count[0] += 1
    return x * float(count[0])


def failing_later(x, count=[0]):  # noqa: B006
    count[0] += 1
    if count[0] > 1:
        raise KeyError('only once')
    return x * 2.0


@pytest.mark.parametrize(('function', 'reason'), [
    (noisy, 'two calls on the same inputs differ'), (remembering, 'two calls on the same inputs differ'),
    (failing_later, "raises KeyError: 'only once'")])
def test_functions_that_cannot_be_made_again(report, function, reason):
    edges = report(slope_of(lambda x: tf.reduce_sum(tf.py_function(function, [x], tf.float64, name='f')), X))
    outcome = only(edges, 'f')
    assert outcome.verdict == 'unchecked' and reason in outcome.reason


def test_a_function_that_assigns_is_not_checked_and_the_variable_is_put_back(report):
    v = tf.Variable(np.float64(3.0))

    def counting(x):
        v.assign_add(1.0)
        return x * 2.0
    edges = report(slope_of(lambda x: tf.reduce_sum(tf.py_function(lambda_of(counting), [x], tf.float64, name='f')), X))
    assert only(edges, 'f').verdict == 'unchecked'
    assert float(v) == 4.0


def test_random_state_and_prints_of_the_program_are_left_alone(report, capsys):
    def loud(x):
        print('loud')
        np.random.rand()
        return x * 2.0
    function = lambda_of(loud)
    program = slope_of(lambda x: tf.reduce_sum(tf.py_function(function, [x], tf.float64, name='f')), X)
    state = []

    def seen():
        program()
        state.append(np.random.get_state()[1].tobytes())
        capsys.readouterr()
    assert only(report(seen), 'f').verdict == 'OK'
    assert np.random.get_state()[1].tobytes() == state[0] and capsys.readouterr().out == ''


def test_integer_inputs_and_inputs_that_were_not_kept(report):
    edges = report(slope_of(lambda x: tf.reduce_sum(tf.exp(x)), np.ones(100)), full_limit=64)
    assert {edge.outcome.verdict for edge in edges} == {'unchecked'}
    assert 'not kept in full' in outcomes(edges, 'Exp')[0].reason


def test_the_nan_of_a_masked_root_is_bad(report):
    edges = report(slope_of(lambda x: tf.reduce_sum(tf.pow(x, 0.5) * 0.0), np.array([0.0, 4.0])))
    (found,) = outcomes(edges, 'Pow')
    assert found.verdict == 'BAD' and found.index == (0,) and np.isnan(found.actual) and found.expected == 0.0


def test_an_infinite_derivative_is_not_judged(report):
    edges = report(slope_of(lambda x: tf.reduce_sum(tf.sqrt(x)), np.array([0.0, 4.0])))
    (found,) = outcomes(edges, 'Sqrt')
    assert found.verdict == 'unchecked' and 'finite' in found.reason


# ---------------------------------------------------------------- mistakes of the user
@pytest.mark.parametrize(('line', 'message'), [
    ('check', 'no gradients were recorded'), ('check --run 99999999', 'no run 99999999'),
    ('check --call 99999999', 'no call 99999999'), ('check --call f', 'it was not differentiated')])
def test_nothing_to_check(report, line, message):
    def program():
        tf.py_function(np.sin, [1.0], tf.float32, name='f')
    with pytest.raises(CommandError, match=message):
        report(program, line)


def test_filters(report):
    program = slope_of(lambda x: tf.reduce_sum(tf.exp(tf.sin(x))), X)
    assert len(report(program, 'check -n 1')) == 1


@pytest.mark.parametrize('wrong', [False, True])
@pytest.mark.parametrize('traced', [False, True])
def test_reads_of_variables_pass_their_gradient_on(report, wrong, traced):
    variable = tf.Variable(np.float32([3.0, np.nan]))

    class Wrong:
        kinds = frozenset(('gradient',))

        def around(self, call, proceed):
            outputs = proceed()
            return [output * 3.0 for output in outputs] if call.site.op_type == 'ReadVariableOp' else outputs

    def pass_():
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(variable * np.float32([2.0, np.nan]))
        return tape.gradient(y, variable)

    def program():
        (tf.function(pass_) if traced else pass_)()
    hook = Wrong()
    if wrong:
        hooks.add(hook, depth=1 << 10)
    try:
        (found,) = outcomes(report(program, full_limit=1 << 20), 'ReadVariableOp')
    finally:
        hooks.remove(hook)
    assert (found.verdict, found.index, found.actual, found.expected) == (
        ('BAD', (0,), 6.0, 2.0) if wrong else ('OK', None, None, None))


def test_steps_of_a_traced_function_whose_call_is_unknown_say_so(report):
    @tf.function
    def model(x):
        return tf.reduce_sum(tf.square(x))

    def program():
        for value in (1.0, 2.0):
            slope_of(model, np.float32([value, 3.0]))()
    edges = report(program)
    assert {(edge.op_type, edge.outcome.verdict, edge.outcome.reason) for edge in edges} == {
        ('PartitionedCall', 'unchecked', NOT_LINKED + 'a call of a traced function is checked step by step, by '
                                                              'those inside of it'),
        *((kind, 'unchecked', NOT_LINKED + 'it was made in a traced function, and the backward pass does not say in which '
                                           'call of it') for kind in ('Square', 'Sum'))}


NOT_LINKED = 'its forward call is not in the trace: '


def test_a_run_of_which_no_node_was_recorded_says_so(report):
    (edge,) = report(in_a_graph(tf.square, X), ops=False)
    assert (edge.outcome.verdict, edge.outcome.reason.partition('#')[0]) == ('unchecked', NOT_LINKED + 'nodes of run ')
    assert edge.outcome.reason.endswith(' were not recorded: --ops (ops=True) does that')


def test_each_call_that_is_made_again_is_told_of(tmp_path):
    def square(x):
        return x * x
    told = []

    @contextlib.contextmanager
    def progress(what):
        yield lambda done, total: told.append((what, done, total))
    with pyfuncdbg.record(tmp_path / 't.pfd', ops=True) as recorder:
        slope_of(lambda x: tf.py_function(square, [x], tf.float64), np.ones(3))()
    with pyfuncdbg.load(recorder.path) as trace:
        report = execute('check', Context(trace, progress=progress)).result
    (edge,) = [edge for edge in report.edges if edge.op_type == 'EagerPyFunc']
    assert edge.outcome.verdict == 'OK' and len(told) >= edge.calls > 2
    assert {(what, total) for what, _, total in told} == {('checking gradients, backward steps', report.steps)}


@pytest.mark.parametrize(('note', 'reason'), [
    ('not known: not computed yet', 'is not known: not computed yet'),
    ('more than 64 bytes', "was not kept in full (more than 64 bytes); record with level='full', or a larger full_limit")])
def test_a_larger_recording_is_advised_where_it_helps(note: str, reason: str) -> None:
    tensor = TensorRecord('x:0', 'float32', (2,), 8, 'none', note=note)
    assert missing_reason(tensor) == reason
