"""`tape`: nodes, edges, leaves and remarks of real runs, and its text."""
from __future__ import annotations

import contextlib
import json
import re

import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute


@pytest.fixture
def recorded(tmp_path):
    with contextlib.ExitStack() as stack:
        def run(program, **options):
            with pyfuncdbg.record(tmp_path / 'tape.pfd', **options) as recorder:
                program()
            return Context(stack.enter_context(pyfuncdbg.load(recorder.path)))
        yield run


def in_session():
    """A diamond: `hid` goes into `norm` and, past it, into the loss."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2, 2], name='x')
        w = tf.Variable(np.eye(2, dtype=np.float32) * 2, name='w')
        session.run(w.initializer)
        hid = tf.matmul(x, w, name='hid')
        norm = tf.py_function(lambda a: tf.square(a) * 1e-9, [hid], tf.float32, name='norm')
        loss = tf.reduce_sum(tf.add(norm, hid, name='sum'), name='loss')
        dead = tf.multiply(loss, 0.0, name='dead')
        session.run(tf.gradients(loss + dead, [w, x]), {x: [[1.0, 2.0], [3.0, 4.0]]})


def shape_of(tape):
    names = {node.number: node.name for node in tape.nodes}
    return {(names[edge.source], names.get(edge.target, ''), edge.gradient.name) for edge in tape.edges}


def test_in_a_session(recorded):
    context = recorded(in_session)
    tape = execute('tape', context).result
    edges = shape_of(tape)
    assert {('loss', 'sum', 'sum:0'), ('sum', 'norm', 'norm:0'), ('sum', 'hid', 'hid:0'), ('norm', 'hid', 'hid:0'),
            ('hid', '', 'x:0')} <= edges
    assert tape.source == 'Session.run' and [edge.gradient.name for edge in tape.leaves].count('x:0') == 1
    node = next(node for node in tape.nodes if node.name == 'norm')
    assert node.inner_steps >= 1 and node.op_type == 'EagerPyFunc' and context.trace.call(node.forward).site.name == 'norm'
    gradients = {edge.gradient.name: edge.gradient for edge in tape.edges}
    assert gradients['x:0'].magnitude == 2.0 and gradients['x:0'].log10 == pytest.approx(np.log10(2))
    norm_to_hid = next(edge.gradient for edge in tape.edges if (edge.gradient.name, edge.slot) == ('hid:0', 0)
                       and edge.source == node.number)
    assert norm_to_hid.remarks == ('vanishing',)
    text = execute('tape', context).text(100)
    assert text.count('hid MatMul #') == 1 and 'hid ^ #' in text        # drawn once, then referred to


def test_exactly_zero_nan_and_exploding(recorded):
    def program():
        x = tf.constant([0.0, 4.0])
        big = tf.constant(1.0)
        with tf.GradientTape() as tape:
            tape.watch([x, big])
            y = tf.reduce_sum(tf.pow(x, 0.5) * 0.0) + big * 1e6
        tape.gradient(y, [x, big])
    context = recorded(program)
    tape = execute('tape', context).result
    remarks = {remark for edge in tape.edges for remark in edge.gradient.remarks}
    assert {'NaN', 'exactly zero', 'exploding'} <= remarks
    assert tape.source == 'GradientTape.gradient'
    text = execute('tape', context).text(100)
    assert '==NaN==>' in text and '[!!!!!!!!!!!!!!!!!!]' in text and '--0--> Pow' in text


def test_runs_and_json(recorded):
    def program():
        in_session()
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.exp(x)
        tape.gradient(y, x)
    context = recorded(program)
    newest = execute('tape', context).result
    assert [node.op_type for node in newest.nodes] == ['Exp'] and len(newest.leaves) == 1
    other = next(run for run, steps in newest.other_runs if steps > 3)
    assert 'norm' in {node.name for node in execute(f'tape --run {other}', context).result.nodes}
    assert json.loads(execute('tape --json', context).json, parse_constant=pytest.fail)['nodes'][0]['name'] == 'Exp'


def test_a_chain_of_thousands_of_steps_is_drawn(recorded):
    def program():
        x = y = tf.constant(1.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            for _ in range(1500):
                y = y * 1.0
        tape.gradient(y, x)
    context = recorded(program)
    assert len(execute('tape', context).result.nodes) == 1500
    assert 'further steps' in execute('tape', context).text(100)


@pytest.mark.parametrize(('line', 'message'), [
    ('tape', 'no gradients were recorded'), ('tape --run 99999999', 'There is no run 99999999'),
    ('tape --run x', 'not an integer')])
def test_mistakes(recorded, line, message):
    with pytest.raises(CommandError, match=message):
        execute(line, recorded(lambda: tf.py_function(np.sin, [1.0], tf.float32)))


def test_a_run_without_gradients_says_which_have_some(recorded):
    context = recorded(in_session)
    first = min(run.id for run in context.trace.runs())
    with pytest.raises(CommandError, match=f'run #{first} has no gradients; these have: #'):
        execute(f'tape --run {first}', context)


def test_what_check_found_stands_beside_the_edges(tmp_path):
    with pyfuncdbg.record(tmp_path / 'checked.pfd', ops=True) as recorder:
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.exp(x) * 2.0)
        tape.gradient(y, x)
        recorder.flush()
        with recorder.trace() as trace:
            report = execute('check', Context(trace)).result
            assert report.counts['OK'] >= 2
    with pyfuncdbg.load(tmp_path / 'checked.pfd') as trace:
        tape = execute('tape', Context(trace)).result
        assert {(mark.step, mark.slot) for mark in tape.checks} == {(edge.gradient, edge.slot) for edge in report.edges}
        text = execute('tape', Context(trace)).text(120)
        assert text.count('  OK ') >= 2 and 'compared with differences (check): none wrong' in text
        assert 'OK' in execute('tape --as dot', Context(trace)).text(100)


def test_where_nan_begins_is_named(recorded):
    def program():
        x = tf.constant([0.0, 4.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.pow(x, 0.5) * 0.0)
        tape.gradient(y, x)
    text = execute('tape', recorded(program)).text(100)
    assert 'NaN begins in the backward step of Pow' in text or 'NaN begins in the backward step of pow' in text


def test_eager_variables_are_the_leaves_by_name(recorded):
    def two_variables():
        first, second = tf.Variable(3.0, name='first'), tf.Variable(2.0, name='second')
        with tf.GradientTape() as tape:
            product = tf.py_function(lambda a, b: a * b, [first, second], tf.float32, name='product')
        tape.gradient(product, [first, second])
    leaves = {edge.gradient.name: edge.gradient.magnitude for edge in execute('tape', recorded(two_variables)).result.leaves}
    assert leaves == {'first:0': 2.0, 'second:0': 3.0}


def test_what_the_backward_pass_takes_from_the_forward_pass_was_not_fed(recorded):
    def squared():
        x, w = np.ones((4, 3), np.float32), tf.Variable(np.ones((3, 2), np.float32), name='w')
        x[2] = 0
        with tf.GradientTape() as tape, np.errstate(all='ignore'):
            part = tf.py_function(lambda a: a / tf.reduce_sum(a, axis=1, keepdims=True), [x], tf.float32, name='part')
            loss = tf.reduce_mean(tf.tanh(tf.matmul(part, w)) ** 2)
        tape.gradient(loss, w)
    context = recorded(squared, ops=True)
    findings = execute('health', context).result.findings
    assert {finding.verdict for finding in findings} == {'born', 'inherited'}
    assert [finding.call.site.op_type for finding in findings if finding.verdict == 'born'] == ['RealDiv']
    assert re.search(r'born in call #\d+ RealDiv\[0\] at\s+test_command_tape.py:', execute('pt part', context).text(100))
