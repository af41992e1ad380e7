"""The commands at a stop, typed as a user types them: what each shows, what each refuses, and that the stop goes on."""
from __future__ import annotations

import builtins
import io
import json
import linecache
import sys
import threading

import numpy as np
import pytest
from scripted_stops import debugger, typing, wrapped

import pyfuncdbg
from pyfuncdbg import tf

NUMBER = 40


def helper(v):
    k = 3
    return v + k


def function(x, eps=1e-6):
    y = x * 2
    both = [x, y, 3]
    z = helper(y)
    n = 5
    return z + n - eps * len(both)


FIRST = function.__code__.co_firstlineno


def graph():
    made = tf.Graph()
    with made.as_default():
        a = tf.compat.v1.placeholder(tf.float32, [2, 3], name='a')
        w = tf.identity(a, name='w')
        b = tf.numpy_function(function, [w], tf.float32, name='b')
        tf.multiply(tf.add(b, 1.0, name='c'), 2.0, name='d')
    return made


def run():
    with tf.compat.v1.Session(graph=graph()) as session:
        return session.run('d:0', {'a:0': np.arange(6, dtype=np.float32).reshape(2, 3)})


def typed(*lines):
    with typing(*lines) as typist:
        result = run()
    assert result.shape == (2, 3)
    return typist


def test_a_tensor_is_a_card_and_never_a_repr():
    shown = typed('step', 'p x').shown('p x')
    assert shown.startswith('float32 [2, 3]  24 B\n  count   zero 1  + 5  of 6\n  finite  min 0  max 5  mean 2.5')
    assert '[1, 0]  3  4  5' in shown
    assert 'array(' not in shown


def test_a_large_array_is_previewed():
    def large(x):
        big = np.arange(1_000_000.0).reshape(1000, 1000)
        return x + big[0, 0]
    with typing('step', 'next', 'p big', '[big, big]', 'pp {"a": big}', 'args') as typist:
        tf.numpy_function(large, [np.ones(2)], tf.float64)
    assert len(typist.shown('p big')) < 1500
    assert 'elements not shown' in typist.shown('p big')
    assert typist.shown('[big, big]').splitlines()[1].startswith('  [0]  float64[1000, 1000]  0 .. 1e+06')
    assert 'float64[1000, 1000]' in typist.shown('pp {"a": big}')


def test_eager_tensors_are_tensors():
    def eager(x):
        y = x * 2
        pair = (x, {'deep': y})  # noqa: F841
        return y
    with typing('step', 'next', 'next', 'p y', 'pair', 'p y + 1') as typist:
        tf.py_function(eager, [np.ones((2, 2), np.float32)], tf.float32)
    assert typist.shown('p y').startswith('EagerTensor  float32 [2, 2]  16 B  const\n')
    assert typist.shown('pair').splitlines()[0] == "(float32[2, 2], {'deep': float32[2, 2]})"
    assert '[0, 0]  3  3' in typist.shown('p y + 1')


def test_an_object_whose_repr_raises_or_is_huge_is_shown():
    class Bad:
        def __repr__(self):
            raise KeyError('x')

    def holds(x):
        bad, huge, deep = Bad(), 'x' * 100_000, list(range(100_000))  # noqa: F841
        return x
    with typing('step', 'next', 'p bad', 'p [bad]', 'p huge', 'p deep', 'pp bad') as typist:
        tf.numpy_function(holds, [np.ones(2)], tf.float64)
    assert typist.shown('p bad') == '<Bad object, its __repr__ raised KeyError>\n' == typist.shown('pp bad')
    assert typist.shown('p [bad]') == '[<Bad object, its __repr__ raised KeyError>]\n'
    assert len(typist.shown('p huge')) < 1000
    assert len(typist.shown('p deep')) < 200


def test_every_answer_is_json():
    typist = typed('step', 'next', 'next', 'p --json both', 'bt --json', 'list --json', 'args --json', 'stop --json')
    value = json.loads(typist.shown('p --json both'))['value']
    assert value['items'][0][1]['array']['values'] == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    rows = json.loads(typist.shown('bt --json'))['rows']
    assert rows[-5]['name'].endswith(' Session.run')
    assert [row['name'] for row in rows[-4:]] == ['d', 'c', 'b', 'function']
    assert json.loads(typist.shown('list --json'))['current'] == FIRST + 3
    assert json.loads(typist.shown('stop --json'))['reason'] == 'next'


def test_the_stack_crosses_from_python_to_the_graph_and_back():
    typist = typed('step', 'bt', 'up', 'p x', 'args', 'up', 'p w:0.sum()', 'up', 'up', 'p feeds', 'up', 'p NUMBER', 'down 4',
                   'p w', 'down', 'p eps')
    lines = typist.shown('bt').splitlines()
    at = next(i for i, line in enumerate(lines) if 'Session.run' in line)
    assert lines[at].endswith('Session.run  fetches d:0')
    assert lines[at + 1].startswith('  node d  Mul, waits for c  test_command_frames.py:')
    assert lines[at + 2].startswith('  node c  AddV2, waits for b  ')
    assert lines[at + 3].startswith('  node b  PyFunc, calls function, call #')
    assert lines[at + 4] == f'> test_command_frames.py:{FIRST + 1} in function'
    assert lines[at + 5] == '      y = x * 2'
    assert typist.said[2][1].startswith('> node b')
    assert typist.said[3][1].startswith('float32 [2, 3]')
    assert typist.said[4][1].startswith('x  float32[2, 3]  [[0, 1, 2], [3, 4, 5]]')
    assert typist.said[4][1].rstrip().endswith('w:0')
    assert typist.shown('p w:0.sum()') == 'float32 15.0\n'
    assert "['a:0']" in typist.shown('p feeds')
    assert typist.shown('p NUMBER') == '40\n'
    assert typist.said[-3][1].startswith(f'> test_command_frames.py:{FIRST + 1} in function')
    assert typist.shown('p eps') == '1e-06\n'


def test_listing_goes_on_and_comes_back():
    typist = typed('step', 'list', 'list .', 'list', f'list {FIRST}, 2', f'list {FIRST}', 'longlist', 'list x',
                   'list 100000', 'up', 'list', 'longlist', 'up', 'up', 'up', 'list')
    first, back, following = (typist.said[i][1] for i in (1, 2, 3))
    assert first == back
    assert f' > {FIRST + 1}     y = x * 2' in first
    assert len(first.splitlines()) == 11
    assert int(following.split()[0]) == FIRST + 7
    assert len(typist.shown(f'list {FIRST}, 2').splitlines()) == 3
    assert typist.shown(f'list {FIRST}').splitlines()[5].split()[0] == str(FIRST)
    assert len(typist.said[6][1].splitlines()) == 6
    assert typist.shown('list x').startswith("*** list: 'x' is not a range")
    assert 'lines, no line 100000' in typist.shown('list 100000')
    assert "b = tf.numpy_function(function, [w], tf.float32, name='b')" in next(
        line for line in typist.said[10][1].splitlines() if line.startswith(' >'))
    assert typist.said[11][1].splitlines()[0].split()[0] == str(FIRST)
    assert typist.shown('list').startswith('*** a run has no source')


def test_a_function_without_source_has_none():
    names: dict[str, object] = {}
    exec(compile('def made(x):\n    y = x + 1\n    return y\n', '/nowhere/made.py', 'exec'), names)
    with typing('step', 'list', 'longlist', 'next', 'p y', 'bt') as typist:
        tf.numpy_function(names['made'], [np.ones(2)], tf.float64)
    assert typist.shown('list') == '*** the source of /nowhere/made.py is not available'
    assert typist.shown('longlist').startswith('*** the source of /nowhere')
    assert typist.lines[-1] == ('made', 3)
    assert 'made.py:3 in made' in typist.shown('bt')
    linecache.checkcache()


def test_a_line_that_is_no_command_is_python():
    typist = typed('step', 'next', 'y.max() + eps * 0', 'y = y + 1', '!both = 7', 'print("it\'s")', 'int(x[0, 1]) << 3',
                   '[float(v) + eps for v in x[0]][0]', 'both')
    assert typist.shown('y.max() + eps * 0').strip().endswith('10.0')
    assert typist.shown('int(x[0, 1]) << 3') == '8\n'
    assert typist.shown('[float(v) + eps for v in x[0]][0]') == '1e-06\n'
    assert typist.shown('both') == '7\n'


def test_what_is_assigned_changes_the_run():
    with typing('step', 'x = x * 0', 'cont'):
        result = run()
    assert np.allclose(result, np.full((2, 3), 18.0), atol=1e-4)


def test_a_name_that_is_a_command_needs_p():
    typist = typed('step', 'next', 'next', 'next', 'next', 'n = 7', 'p n', '!n = 7', 'p n + 1', 'n + 1', 'n.bit_length()')
    assert typist.shown('n = 7').startswith('*** \'n\' is a command here: for the variable type "!n = 7" or "p n".')
    assert [text for line, text in typist.said if line == 'p n'] == ['5\n']
    assert typist.shown('p n + 1') == '8\n'
    assert typist.shown('n.bit_length()') == '3\n'
    assert '"!n + 1"' in typist.shown('n + 1')


def test_a_mistyped_command_has_its_nearest_names():
    typist = typed('step', 'steq', 'brek f', 'foo bar', '1 +', 'p', 'whatis', 'undisplay z')
    assert typist.shown('steq').startswith("*** unknown command 'steq'. Did you mean 'step'")
    assert "'break'" in typist.shown('brek f')
    assert 'SyntaxError' in typist.shown('foo bar')
    assert typist.shown('1 +').startswith('*** SyntaxError: invalid syntax\n    1 +\n')
    assert typist.shown('p').startswith('*** an expression is missing')
    assert typist.shown('undisplay z') == "*** 'z' is not displayed here; displayed are: nothing"


@pytest.mark.parametrize(('count', 'shown', 'more'), [(1, 1, ''), (9, 7, ', 2 more')])
def test_the_card_after_a_call_has_what_it_got_and_what_it_gave(count, shown, more):
    def add(first, *rest):
        return first + sum(rest)
    with typing(at_next_call=False) as typist:
        made = debugger.breakpoints.set('total', timing='after-call')
        try:
            tf.numpy_function(add, [np.full(2, 7.0 + i) for i in range(count)], tf.float64, name='total')
        finally:
            debugger.breakpoints.clear(made.number)
    (card,) = typist.cards
    lines = [line.split() for line in card.splitlines()]
    given, gave = lines.index(f'inputs{more}'.split()), lines.index(['outputs'])
    assert gave - given - 1 == shown
    assert lines[given + 1] == ['first', 'float64[2]', 'const', '[7,', '7]']
    assert lines[gave + 1][2:] == ['float64[2]', 'const', f'[{sum(range(7, 7 + count))},', f'{sum(range(7, 7 + count))}]']


def test_jump_sets_the_next_line_or_python_refuses(recwarn):
    typist = typed('step', 'next', 'next', f'jump {FIRST + 4}', 'jump 3', 'stop', 'next', 'p z', 'z = x', 'p n', 'up',
                   f'jump {FIRST + 1}')
    assert f'test_command_frames.py:{FIRST + 4} in function' in typist.shown(f'jump {FIRST + 4}')
    assert typist.shown('jump 3').startswith('*** jump: Python refuses line 3: ')
    assert f' > {FIRST + 4} n = 5' in typist.shown('stop')
    assert typist.lines[3] == ('function', FIRST + 5)
    if sys.version_info < (3, 12):
        assert typist.shown('p z').startswith("*** NameError: name 'z' is not defined")
    else:
        assert typist.shown('p z') == 'None\n'
    assert not recwarn.list
    assert typist.shown('p n') == '5\n'
    assert 'needs the innermost frame' in typist.shown(f'jump {FIRST + 1}')


def test_jump_is_refused_where_there_is_no_line():
    assert typed('jump 3').shown('jump 3') == ("*** jump: needs a thread at a line of Python, and this one is at "
                                               "'before'")


def test_jump_to_the_line_of_the_def_is_refused():
    """Python 3.11 would do it, and the process dies in a generator."""
    def begun(n):
        got = 1
        yield n + got

    def drawn(n):
        return sum(begun(n))
    first = begun.__code__.co_firstlineno
    with typing('step', 'step', 'step', 'step', f'jump {first}', 'cont') as typist:
        assert float(wrapped(drawn, np.float64(2))) == 3.0
    assert ('begun', first + 1) in typist.lines
    assert typist.shown(f'jump {first}') == f"*** jump: line {first} begins the definition of 'begun': give a line in it"


def test_until_goes_down_only():
    typist = typed('step', f'until {FIRST}', f'until {FIRST + 4}', 'until x')
    assert typist.shown(f'until {FIRST}').startswith(f'*** until: line {FIRST} is not after line {FIRST + 1}')
    assert typist.lines == [('function', FIRST + 1), ('function', FIRST + 4)]
    assert 'not an integer' in typist.shown('until x')


def test_display_shows_what_changed_and_comes_again_with_the_next_call():
    with typing('step', 'display n', 'display x.shape', 'next', 'next', 'next', 'next', 'undisplay x.shape') as typist:
        run()
    with_n = [card for card in typist.cards if 'display n' in card]
    assert len(with_n) == 1
    assert 'display n  5  was ' in with_n[0]
    assert not [card for card in typist.cards if 'display x.shape' in card]
    debugger.plan(threading.get_native_id())
    again = typed('step', 'display', 'undisplay', 'display')
    assert again.said[1][1].startswith('n  NameError')
    assert again.said[3][1].startswith('no expression is displayed here')


def test_arguments_and_what_is_returned():
    typist = typed('step', 'args', 'step', 'step', 'step', 'step', 'args', 'retval', 'return', 'retval', 'whatis v',
                   'whatis helper', 'source helper', 'return', 'return', 'retval', 'cont')
    assert typist.said[1][1].splitlines()[1].split() == ['eps', '1e-06']
    assert typist.said[6][1].startswith('v  float32[2, 3]  [[0, 2, 4], [6, 8, 10]]')
    assert typist.said[7][1].startswith('*** retval: no value was returned')
    assert typist.said[9][1].startswith('returns  float32[2, 3]  [[3, 5, 7], [9, 11, 13]]')
    assert typist.shown('whatis v') == 'numpy.ndarray\n'
    assert typist.shown('whatis helper') == 'Function helper\n'
    assert 'def helper(v):' in typist.shown('source helper')
    assert typist.shown('retval').startswith('b:0  float32[2, 3]')


def test_locals_are_all_variables_of_the_frame_that_is_looked_at():
    typist = typed('step', 'locals', 'next', 'locals', 'up', 'locals')
    assert [line.split()[0] for line in typist.said[1][1].splitlines()] == ['x', 'eps']
    assert [line.split()[0] for line in typist.said[3][1].splitlines()] == ['x', 'eps', 'y']
    assert typist.said[3][1].splitlines()[2].split(None, 1)[1] == 'float32[2, 3]  [[0, 2, 4], [6, 8, 10]]'
    assert typist.said[5][1].splitlines()[0].split()[0] == 'x'          # the inputs of the node


def test_the_card_of_a_call_a_line_and_a_node():
    typist = typed('step', 'next', 'until 100000', 'next', 'next')
    before, line, changed, *_ = typist.cards
    assert before.startswith("STOPPED before call 1 of node 'b'  node\n")
    assert '  step 2/4  PyFunc  ' in before
    assert f'  {FIRST} def function(x, eps=1e-6):' in before
    assert 'inputs\n  x  float32[2, 3]  [[0, 1, 2], [3, 4, 5]]  w:0\n' in before
    assert line.startswith(f"STOPPED in function at test_command_frames.py:{FIRST + 1}, call 1 of node 'b'  step\n")
    assert f' > {FIRST + 1}     y = x * 2' in line
    assert 'locals\n  x ' in line
    assert changed.endswith('changed\n  y  float32[2, 3]  [[0, 2, 4], [6, 8, 10]]\n'
                            'n next line · s into calls · r to the end · c continue · ? help\n')
    node = next(card for card in typist.cards if card.startswith("STOPPED before node 'c'"))
    assert 'inputs\n  b:0' in node
    assert max(len(card.splitlines()) for card in typist.cards) <= 20
    assert max(len(line) for card in typist.cards for line in card.splitlines()) <= 80


def failing(x):
    y = x + 1
    return deeper(y)


def deeper(y):
    part = y * 2  # noqa: F841
    raise ValueError('no good')


def failing_graph():
    made = tf.Graph()
    with made.as_default():
        tf.numpy_function(failing, [tf.constant([1.0, 2.0], name='a')], tf.float32, name='b')
    return made


def fail():
    with tf.compat.v1.Session(graph=failing_graph()) as session:
        session.run('b:0')


def test_catch_stops_with_live_frames_and_the_host_error_has_the_cause():
    debugger.catching = True
    with typing('bt', 'p part', 'up', 'p y', 'up', 'p a:0', 'down 2', 'exceptions', 'list', at_next_call=False) as typist:
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            fail()
        assert isinstance(raised.value.__cause__, ValueError)
        assert raised.value.__cause__.__traceback__.tb_next is not None
    assert len(typist.cards) == 1
    assert typist.cards[0].startswith("STOPPED after call 1 of node 'b', in deeper at test_command_frames.py:")
    assert 'ValueError: no good' in typist.cards[0]
    assert '[4, 6]' in typist.cards[0]
    assert typist.shown('p part').startswith('float32 [2]')
    assert '[0]  2  3' in typist.shown('p y')
    assert '[0]  1  2' in typist.shown('p a:0')
    listed, _, *panel = typist.shown('exceptions').splitlines()
    assert listed == '> 0  ValueError: no good'
    lines = [line.strip('│').strip() for line in panel]
    place = lines.index(f"{deeper.__code__.co_firstlineno + 2} | raise ValueError('no good')")
    assert lines[place - 3:place - 1] == ['x  float32 [2]  8 B  [1, 2]', 'y  float32 [2]  8 B  [2, 3]']
    assert lines[place + 1:place + 4] == ['y     float32 [2]  8 B  [2, 3]', 'part  float32 [2]  8 B  [4, 6]',
                                          'ValueError: no good']
    current = next(line for line in typist.shown('list').splitlines() if line.startswith(' >'))
    assert " raise ValueError('no good')" in current


class Unreadable:
    def __repr__(self):
        raise RuntimeError('no repr')


def test_bt_shows_the_variables_of_its_frames():
    def inner(y):
        mine = Unreadable()
        bad = np.array([[1, 2], [np.nan, 4]])
        raise ValueError(mine is bad)

    def outer(x):
        total = 7
        return inner(x) + total
    with tf.Graph().as_default() as made:
        tf.numpy_function(outer, [tf.constant([1.0, 2.0], name='a')], tf.float32, name='b')
    debugger.catching = True
    lines = ('bt --locals', 'bt --locals --json', 'bt')
    with typing(*lines, at_next_call=False) as typist, tf.compat.v1.Session(graph=made) as session, pytest.raises(
            tf.errors.InvalidArgumentError):
        session.run('b:0')
    lines = [line.strip() for line in typist.shown('bt --locals').splitlines()]
    assert 'total  7' in lines and 'mine  <Unreadable object>' in lines
    assert 'bad   float64 [2, 2]  32 B  NaN 1  first bad [1, 0]  [[1, 2], [nan, 4]]' in lines
    assert lines.index('total  7') < lines.index('mine  <Unreadable object>')
    rows = json.loads(typist.shown('bt --locals --json'))['rows']
    found = {one['name']: one for row in rows if row['name'] == 'inner' for one in row['variables']['variables']}
    assert found['bad']['tensor']['stats']['first_bad'] == [1, 0] and found['mine']['text'] == '<Unreadable object>'
    assert 'total  7' not in typist.shown('bt')


def test_next_at_an_error_goes_to_where_the_program_meets_it():
    def caller():
        try:
            fail()
        except tf.errors.OpError as error:
            kept = error
        return kept
    debugger.catching = True
    with typing('next', 'next', at_next_call=False) as typist:
        assert isinstance(caller().__cause__, ValueError)
    assert typist.stops[0][0] == 'error'
    assert typist.stops[1][:2] == ('exception', 'fail')


def test_afterwards_pm_shows_the_cause_first():
    with typing('bt', 'p part', 'up', 'p y', 'exceptions', 'exceptions 1', 'bt', 'next', 'exceptions 7', 'quit',
                at_next_call=False) as typist:
        try:
            fail()
        except tf.errors.OpError as error:
            pyfuncdbg.pm(error)
    card = typist.cards[0]
    assert card.startswith('ERROR in deeper at test_command_frames.py:')
    assert ", node 'b'  raised ValueError\n" in card
    rows = [line.split(' in ')[-1] for line in typist.said[0][1].splitlines() if ' in ' in line]
    assert rows[-3:] == ['fail', 'failing', 'deeper']
    assert typist.said[1][1].startswith('float32 [2]')
    first, second = typist.shown('exceptions').splitlines()[:2]
    assert first == '> 0  ValueError: no good'
    assert second.startswith('  1  InvalidArgumentError: Graph execution error:')
    assert '> 1  InvalidArgumentError' in typist.shown('exceptions 1')
    assert 'numbered from 0 to 1' in typist.shown('exceptions 7')


@pytest.mark.parametrize('line', ['next', 'step', 'return', 'until', 'node', 'into', 'to b', 'rewind', 'retry', 'jump 3'])
def test_pm_refuses_to_go_on(line):
    with typing(line, 'quit', at_next_call=False) as typist:
        try:
            fail()
        except tf.errors.OpError as error:
            pyfuncdbg.pm(error)
    assert typist.shown(line) == f"*** '{line.split()[0]}' is not possible: the call that raised is over. \"quit\" leaves."
    assert typist.said[-1][0] == 'quit'


def test_an_assignment_to_a_variable_that_is_named_as_a_command():
    def norm(x):
        return x
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.numpy_function(norm, [tf.constant([1.0])], tf.float32, name='norm')
        z = tf.add(y, 1.0, name='z')
        with typing('into', 'l = 3', 'l == 3', 'a = 3', '!l = 3', 'p l', 'node', 'c = 5', 'l += 1', '$c = 5', 'p $c',
                    at_next_call=True) as typist:
            session.run(z)
    for line in ('l = 3', 'l == 3', 'a = 3'):
        assert typist.shown(line).startswith(f'*** {line[0]!r} is a command here: for the variable type "!{line}" or "p ')
    for line in ('c = 5', 'l += 1'):
        assert f'*** {line[0]!r} is a command here, and a node has no variables: "${line}" sets' in typist.shown(line)
    assert typist.shown('p l') == '3\n' and typist.shown('p $c') == '5\n'


@pytest.mark.parametrize('kind', ['session', 'function', 'an op', 'an op of a function', 'stepped'])
def test_pm_has_the_run_and_the_nodes_in_its_stack(kind):
    def failing(a):
        raise ValueError('no')

    def built(x):
        middle = tf.multiply(x, 2.0, name='middle')
        bad = tf.numpy_function(failing, [middle], tf.float32, name='bad') if 'an op' not in kind else tf.add(
            middle, tf.reshape(middle, [-1])[1:], name='bad')
        return tf.add(bad, 1.0, name='late')
    lines = ['bt', 'up', 'up', 'p x', 'p late', 'quit'] if 'an op' not in kind else ['bt', 'quit']
    with typing(*(['node', 'cont'] if kind == 'stepped' else []), *lines, at_next_call=kind == 'stepped') as typist:
        if kind == 'stepped':
            debugger.stop_at_next_call(threading.get_native_id())
        try:
            if 'function' in kind:
                tf.function(built, input_signature=[tf.TensorSpec(None, tf.float32)])(tf.constant([1.0, 2.0, 3.0]))
            else:
                with tf.Graph().as_default(), tf.Session() as session:
                    x = tf.placeholder(tf.float32, None, name='x')
                    session.run(built(x), {x: [1.0, 2.0, 3.0]})
        except tf.errors.OpError as error:
            caught = error
        pyfuncdbg.pm(caught)
    rows = [line.strip('> ').split('  ')[0].split(' in ')[-1] for line in typist.shown('bt').splitlines()
            if ' in ' in line or ' node ' in line or ' run #' in line]
    start = next(i for i, row in enumerate(rows) if row.startswith('run #'))
    end = next(i for i, row in enumerate(rows) if row == 'node bad')
    assert rows[end - 1] == 'node late' and rows[0] != 'node late' and start < end - 1
    assert rows[end + 1:] == ([] if 'an op' in kind else ['failing'])
    assert isinstance(caught.__cause__, ValueError)
    if 'an op' not in kind:
        assert 'the run is over' in typist.shown('p late')


def test_the_programs_names_for_tensors_mean_their_values_at_a_node():
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.placeholder(tf.float32, [2], name='fed')
        double = tf.multiply(given, 2.0, name='twice')
        out = tf.add(double, 1.0, name='last')
        with typing('node', 'p given + double', 'p fed * 1', 'p out', 'up', 'p double', 'up', 'p double', 'cont',
                    at_next_call=False) as typist:
            debugger.stop_at_next_call(threading.get_native_id())
            session.run(out, {given: [1.0, 2.0]})
    assert '[0]  3  6' in typist.shown('p given + double') and '[0]  1  2' in typist.shown('p fed * 1')
    assert 'not computed yet' in typist.shown('p out')
    at_run, in_frame = [shown for line, shown in typist.said if line == 'p double']
    assert '[0]  2  4' in at_run and "<tf.Tensor 'twice:0'" in in_frame


def test_pm_without_an_error_says_so():
    from pyfuncdbg.errors import CommandError
    kept = {name: sys.__dict__.pop(name) for name in ('last_exc', 'last_value') if hasattr(sys, name)}
    try:
        with pytest.raises(CommandError, match='no error was printed'):
            pyfuncdbg.pm()
        with pytest.raises(CommandError, match='was never raised'):
            pyfuncdbg.pm(ValueError())
    finally:
        sys.__dict__.update(kept)


def halting(x):
    y = x + 1
    breakpoint()
    return y


def test_breakpoint_in_a_wrapped_function_is_ours():
    debugger.left = False
    with typing('p y', 'next', at_next_call=False) as typist:
        tf.numpy_function(halting, [np.ones(2)], tf.float64)
    assert typist.stops[0] == ('line', 'halting', halting.__code__.co_firstlineno + 3)
    assert 'breakpoint()' in typist.cards[0]
    assert typist.shown('p y').startswith('float64 [2]')


def test_breakpoint_as_last_statement_still_shows_the_variables():
    def last(x):
        y = x + 1  # noqa: F841
        breakpoint()
    with typing('p y', at_next_call=False) as typist:
        tf.py_function(last, [np.ones(2)], [])
    assert typist.stops[0][:2] == ('return', 'last')
    assert typist.shown('p y').startswith('EagerTensor  float64 [2]')


@pytest.mark.parametrize('value', ['0', 'no.such.module'])
def test_the_environment_says_who_gets_breakpoint(value, monkeypatch, recwarn):
    monkeypatch.setenv('PYTHONBREAKPOINT', value)
    with typing(at_next_call=False) as typist:
        tf.numpy_function(halting, [np.ones(2)], tf.float64)
    assert not typist.stops


def test_elsewhere_the_hook_before_gets_it_with_its_own_caller(monkeypatch):
    seen = []
    monkeypatch.setattr(sys.breakpointhook, 'before', lambda *args, **options: seen.append(
        (sys._getframe(1).f_code.co_name, args, options)))

    def plain():
        breakpoint(1, header='x')
    with typing(at_next_call=False) as typist:
        plain()
    assert seen == [('plain', (1,), {'header': 'x'})]
    assert not typist.stops


def test_after_quit_breakpoint_is_silent():
    with typing('quit', at_next_call=False) as typist:
        tf.numpy_function(halting, [np.ones(2)], tf.float64)
        tf.numpy_function(halting, [np.ones(2)], tf.float64)
    assert len(typist.stops) == 1


def test_interact_reads_python_until_the_end(monkeypatch, capsys):
    lines = iter(['y = 1 + 1', 'print(y, NUMBER)', 'eps = 0.5', '1/0', 'exit()'])
    monkeypatch.setattr('builtins.input', lambda prompt='': next(lines))
    quitters = builtins.exit, builtins.quit
    stdin = io.StringIO('for the program')
    monkeypatch.setattr(sys, 'stdin', stdin)
    typist = typed('step', 'interact', 'p eps', 'next')
    assert not stdin.closed and (builtins.exit, builtins.quit) == quitters
    said = capsys.readouterr()
    assert '2 40\n' in said.out
    assert 'ZeroDivisionError' in said.err
    assert typist.shown('p eps') == '0.5\n'
    assert typist.lines[-1] == ('function', FIRST + 2)


def test_an_eager_output_is_replaced_under_the_name_that_lists_have_for_it():
    def half(x):
        return x / 2
    with typing('return', 'inject in0 x', 'inject half:0 x * 0', 'cont') as typist:
        result = tf.numpy_function(half, [np.ones(2)], tf.float64, name='half')
    assert typist.shown('inject in0 x') == "*** no tensor 'in0' can be replaced here. These can: out0, half:0, out."
    assert typist.shown('inject half:0 x * 0').startswith('half:0 replaced, in this call')
    assert result.numpy().tolist() == [0, 0]


def test_pt_of_a_variable_says_what_prints_it(tmp_path):
    with (pyfuncdbg.record(tmp_path / 'variable.pfd'), pyfuncdbg.load(tmp_path / 'variable.pfd') as trace,
          typing('pt x', 'pt x[0]', 'pt x@[1:]', 'pt missing') as typist):
        typist.trace = trace
        tf.numpy_function(lambda x: x + 1, [np.ones(2)], tf.float64, name='plus')
    assert typist.shown('pt x').startswith("*** 'x' is a variable of Python: 'p x' prints it; no tensor 'x:0' in this trace")
    assert typist.shown('pt x[0]').startswith("*** 'x' is a variable of Python: 'p x[0]' prints it")
    assert typist.shown('pt x@[1:]').startswith("*** 'x' is a variable of Python: 'p x[1:]' prints it")
    assert typist.shown('pt missing').startswith("*** no tensor 'missing:0' in this trace")
