"""`x?` and `x??`, as ipdb's users type them."""
from __future__ import annotations

import inspect
import re

import numpy as np
import pytest
from scripted_stops import typing

from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import as_command, execute
from pyfuncdbg.ui.views.sample_trace import sample


class Strange:
    """Answers every question with an error."""

    def __call__(self):
        return None

    @property
    def __signature__(self):
        raise RuntimeError('no')

    def __repr__(self):
        raise RuntimeError('no')


STRANGE = Strange()


def norm(x, eps=1e-3):
    """Scale x.

    To one.
    """
    return x / (x.sum() + eps)


def answers(*lines):
    """What lines answer at a stop in `norm`."""
    with typing('into', *lines) as typist:
        tf.numpy_function(norm, [np.ones(3)], tf.float64)
    return [typist.shown(line) for line in lines]


@pytest.mark.parametrize(('line', 'command'), [
    ('x?', 'pinfo x'), ('x??', 'pinfo2 x'), ('?x', 'pinfo x'), ('??x', 'pinfo2 x'), (' x.y ? ', 'pinfo x.y'),
    ('np.dot?', 'pinfo np.dot'), ("d['a']?", "pinfo d['a']"), ('p x?', 'p x?'), ('?', '?'), ('??', '??'), ('x', 'x'),
    ('break norm if x?', 'break norm if x?'), ('p "a?"', 'p "a?"'), ('x???', 'x???'), ('', '')])
def test_a_question_mark_is_a_command(line, command):
    assert as_command(line, at_stop=True) == command


def test_a_question_at_a_node_of_the_same_name_is_about_the_function():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        y = tf.numpy_function(norm, [tf.constant([1.0, 3.0], tf.float64)], tf.float64, name='norm')
        z = tf.add(y, tf.constant(1.0, tf.float64), name='z')
        with typing('norm?', 'p norm', 'node', 'node', 'norm??', 'p norm') as typist:
            session.run(z)
    assert 'Scale x.' in typist.shown('norm?') and 'return x / (x.sum() + eps)' in typist.shown('norm??')
    before, after = [shown for line, shown in typist.said if line == 'p norm']
    assert before.startswith('*** ') and after.startswith('float64 [2]')


def test_a_long_docstring_is_whole_with_two_marks():
    one, two = answers('np.sum?', 'np.sum??')
    lines = one.splitlines()
    more = re.fullmatch(r'\.\.\. (\d+) more lines: np\.sum\?\? shows all', lines[-1])
    assert more is not None and int(more[1]) == len(inspect.getdoc(np.sum).split('\n')) - 20
    assert 'Sum of array elements over a given axis.' in one and inspect.getdoc(np.sum).split('\n')[-1] in two


@pytest.mark.parametrize('line', ['$x', 'norm?', '!x = 1', '$x = 5'])
def test_without_a_stop_there_is_nothing_to_ask(line):
    with pytest.raises(CommandError, match='needs a stopped thread, and no thread is stopped'):
        execute(line, Context(sample()))


def test_an_object_tells_its_type_signature_docstring_and_with_two_marks_its_source():
    one, two, value, deep = answers('norm?', 'norm??', '?x', 'x.sum?')
    for text in (one, two):
        assert 'type       builtins.function\n' in text and 'signature  (x, eps=0.001)\n' in text
        assert f'file       {__file__}:{norm.__code__.co_firstlineno}' in text and '\nScale x.\n\nTo one.\n' in text
    assert 'return x / (x.sum() + eps)' in two and 'return x / (x.sum() + eps)' not in one
    assert value.startswith('float64 [3]') and 'type       numpy.ndarray' in value and 'docstring' not in value
    assert 'sum(axis=None' in deep


def test_what_answers_nothing_is_shown_as_far_as_it_can_be():
    strange, unknown, wrong = answers('STRANGE??', 'nothing?', 'x[9]?')
    assert 'Strange' in strange and 'signature' not in strange
    assert unknown.startswith("*** NameError: name 'nothing' is not defined")
    assert wrong.startswith('*** IndexError: ')
