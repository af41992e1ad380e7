"""Words of other debuggers: display with old and new, args at a node, what quit says, timeit, context, tfdbg's @."""
from __future__ import annotations

import numpy as np
import pytest
from scripted_stops import typing

from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.inspecting.source_listing import context
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.commands.pt import printed
from pyfuncdbg.ui.views.sample_trace import sample


def norm(x):
    a = 1
    a = a + 1
    b = x * 2
    b = b * 1.5 + (a - 2)
    return b                # noqa: RET504


def call(times: int = 1) -> None:
    for _ in range(times):
        tf.numpy_function(norm, [np.arange(3.0)], tf.float64, name='norm')


def test_display_shows_old_and_new():
    with typing('into', 'n', 'display a', 'n', 'n', 'display b', 'n', 'display', 'c') as typist:
        call()
    assert 'display a  2  was 1' in typist.cards[3]
    assert 'display' not in typist.cards[4]     # b is new there, and a as it was
    assert 'display b  float64[3]  [0, 3, 6]  was float64[3]  [0, 2, 4]' in typist.cards[5]
    assert typist.shown('display').splitlines()[-1].strip() == 'b  float64[3]  [0, 3, 6]  was float64[3]  [0, 2, 4]'


def test_args_at_a_node_around_a_loop_says_what_cannot_be_had():
    def body(i, x):
        y = tf.numpy_function(norm, [x], tf.float64, name='inner')
        y.set_shape([2])
        return i + 1, y
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float64, [2], name='x')
        _, out = tf.while_loop(lambda i, x: i < 2, body, [0, x])
    with typing('args', 'up', 'args', 'quit') as typist, tf.compat.v1.Session(graph=graph) as session:
        session.run(out, {x: [1.0, 2.0]})
    first, second = (text for line, text in typist.said if line == 'args')
    assert first.split()[:2] == ['x', 'float64[2]']
    # A recording, if one is on, knows what was fed for x.
    assert "'Const:0' is outside of the loop or branch that runs here" in second


def test_quit_says_once_what_it_does():
    debugger.quit_explained = False
    notes = []
    for line in ('q', 'exit'):
        with typing(line) as typist:
            call()
        notes.append(typist.shown(line))
    assert notes == ['debugging ends, the program continues; "abort" ends the run instead\n', '']


def test_timeit():
    with typing('into', 'timeit -n 20 -r 3 x.sum()', '%timeit -n 5 $k = x.size', 'p $k', 'timeit x.nothing', 'timeit',
                'quit') as typist:
        call()
    result = typist.answers['timeit -n 20 -r 3 x.sum()'].result
    assert (result.loops, result.rounds) == (20, 3) and 0 < result.best <= result.mean
    assert '3 rounds of 20' in typist.shown('timeit -n 20 -r 3 x.sum()')
    assert typist.shown('p $k').strip() == '3'
    assert typist.shown('timeit x.nothing').startswith('*** AttributeError')
    assert typist.shown('timeit').startswith('*** an expression is missing: type one, such as "timeit ')


def test_context_says_how_much_of_the_source_a_stop_shows():
    before = context.lines
    try:
        with typing('into', 'context 1', 'n', 'context 7', 'n', 'context', 'context 0', 'quit') as typist:
            call()
    finally:
        context.lines = before
    words = ('a = ', 'b = ', 'def norm', 'return b')
    sources = [[line for line in card.splitlines() if any(word in line for word in words)] for card in typist.cards]
    assert [len(lines) for lines in sources[2:4]] == [1, 6]
    assert typist.shown('context') == 'a stop shows 7 lines of source\n'
    assert 'not a number of lines from 1 to 200' in typist.shown('context 0')


def test_elements_of_the_tensor_that_was_printed_last():
    trace = Context(sample())
    printed.tensor = ''
    with pytest.raises(CommandError, match='and there is none'):
        execute('@1,0', trace)
    whole = execute('pt norm:0', trace).result.values
    for line, index in (('@1,0', (1, 0)), ('@[0, 1:3]', (0, slice(1, 3))), (' @ -1 ', (-1,)), ('pt @[1]', (1,)),
                        ('@[..., 0]', (..., 0))):
        np.testing.assert_array_equal(execute(line, trace).result.values, whole[index])
    with pytest.raises(CommandError, match='norm:0 has shape'):
        execute('@99', trace)
    with pytest.raises(CommandError, match='nothing:0'):
        execute('pt nothing:0', trace)
    np.testing.assert_array_equal(execute('@1,0', trace).result.values, whole[1, 0])


def test_a_decorator_is_no_element():
    with typing('into', '@staticmethod\ndef f(x):\n    return x\n', 'quit') as typist:
        call()
    assert not typist.said[1][1].startswith('***')
