"""Python typed at a stop: it sees and changes the frame's own variables, and says where it is wrong."""
from __future__ import annotations

import builtins
import sys

import pytest
from hypothesis import given, strategies as st

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.conditions.session_variables import session_variables
from pyfuncdbg.observers.debug.inspecting.evaluate import (
    FrameNames,
    NodeNames,
    carry_out,
    evaluate,
    is_python,
    replace_tensor_names,
)

LEVEL = 1


def displayed(text, names):
    """Carry out typed Python; the last value that it displays, None without one."""
    values = []
    names.display = values.append
    carry_out(text, names)
    return values[-1] if values else None


def in_frame(*lines, values=('a', 'b')):
    """Carry lines out in a function's frame; what they gave, and what its variables are when it goes on."""
    free = 7

    def function(a):
        b = a + 1
        names = FrameNames(sys._getframe())
        given = [displayed(line, names) for line in lines]
        return given, {'a': a, 'b': b, 'free': free}
    return function(3)


@pytest.mark.parametrize(('expression', 'value'), [
    ('a + b', 7), ('[a * i + b for i in range(3)]', [4, 7, 10]), ('(lambda: a + b + free)()', 14),
    ('sum(x + b for x in [a, free])', 18), ('{k: a for k in [b]}', {4: 3}), ('LEVEL', 1), ('len([a])', 1),
    ('norm([a, b])', 5), ('has_nan(float("nan"))', True),
    ('[[i * j + a for i in range(b)] for j in range(1)]', [[3, 3, 3, 3]]),
])
def test_every_name_is_seen_from_everywhere(expression, value):
    assert in_frame(expression)[0] == [value]


@pytest.mark.parametrize(('statement', 'name', 'value'), [
    ('a = 50', 'a', 50), ('a += b', 'a', 7), ('b, a = a, b', 'b', 3), ('free = 9', 'free', 9),
    ('for i in range(3): b += i', 'b', 7), ('if (n := a) > 2: b = n * 10', 'b', 30),
    ('b = [b for _ in range(2)]', 'b', [4, 4]),
])
def test_what_is_assigned_is_the_functions_own(statement, name, value):
    assert in_frame(statement)[1][name] == value


def test_new_names_stay_and_are_seen_by_functions():
    assert in_frame('c = b + 1', 'c * 2', '[c for _ in range(2)]', 'def g(): return c + a', 'g()', 'import os.path as p',
                    'p.sep')[0] == [None, 10, [5, 5], None, 8, None, '/']


def test_a_declared_global_is_the_modules():
    global LEVEL
    try:
        in_frame('global LEVEL; LEVEL = 5')
        assert LEVEL == 5
    finally:
        LEVEL = 1


def test_a_deleted_variable_is_gone_or_that_is_refused():
    def function(a):
        names = FrameNames(sys._getframe())
        carry_out('del a', names)
        return a
    with pytest.raises(CommandError if sys.version_info >= (3, 12) else UnboundLocalError, match='a'):
        function(1)


def test_variables_of_an_outer_frame_change_too():
    def outer():
        value = 1

        def inner():
            carry_out('value = 2', FrameNames(sys._getframe(1)))
        inner()
        return value
    assert outer() == 2


@pytest.mark.parametrize(('line', 'message'), [
    ('1/0 + a', 'ZeroDivisionError: division by zero\n    1/0 + a\n    ^^^'),
    ('b + aa', "NameError: name 'aa' is not defined. Did you mean 'a'?\n    b + aa\n        ^^"),
    ('b.foo', "AttributeError: 'int' object has no attribute 'foo'\n    b.foo\n    ^^^^^"),
    ('a b', 'SyntaxError: invalid syntax\n    a b\n      ^'),
    ('"ä" + bb', "NameError: name 'bb' is not defined. Did you mean 'b'?\n    \"ä\" + bb\n          ^^"),
    ('print(', "SyntaxError: '(' was never closed\n    print(\n         ^"),
    ('raise SystemExit(3)', 'SystemExit: 3\n    raise SystemExit(3)\n    ^^^^^^^^^^^^^^^^^^^'),
])
def test_mistakes_are_pointed_at(line, message):
    with pytest.raises(CommandError) as raised:
        in_frame(line)
    assert str(raised.value) == message


def test_what_only_conditions_know_is_said():
    with pytest.raises(CommandError, match='Conditions of calls know it: "break NODE if'):
        in_frame('history[-1].out')


def test_an_error_whose_text_raises_is_told():
    class BadError(Exception):
        def __str__(self):
            raise KeyError('x')
    with pytest.raises(CommandError, match=r'BadError: <no message: .* raised KeyError>'):
        evaluate('fail()', NodeNames({}, {'fail': lambda: (_ for _ in ()).throw(BadError())}))


def test_a_statement_is_no_expression():
    with pytest.raises(CommandError, match='SyntaxError'):
        evaluate('a = 1', NodeNames({}, {}))
    assert is_python('a = 1')
    assert not is_python('brek f')


def test_tensors_of_a_node_are_read_only_when_asked_for_and_not_assigned():
    reads = []
    names = NodeNames({'x': lambda: reads.append(1) or 5}, {'y': 2})
    assert evaluate('y', names) == 2
    assert not reads
    assert evaluate('[x + y for _ in range(2)]', names) == [7, 7]
    with pytest.raises(CommandError, match='inject'):
        carry_out('x = 1', names)
    carry_out('z = x', names)
    assert evaluate('z', names) == 5


@pytest.mark.parametrize(('text', 'values'), [
    ('import math; math.floor(2.5)', [2]), ('1; a; None; "text"', [1, 3, None, 'text']), ('for i in range(3): i', [0, 1, 2]),
    ('if a:\n  a\nelse:\n  b', [3]), ('try: 1 / 0\nexcept ZeroDivisionError: a\nfinally: b', [3, 4]),
    ('with open(__file__): a', [3]), ('match a:\n  case 3: b', [4]), ('def g(): a', []),
    ('x = a', []), ('[a for a in (8, 9)]', [[8, 9]]),
])
def test_each_expression_statement_is_displayed_as_python_does(text, values):
    """As pdb, which compiles in the mode 'single'."""
    python, shown = [], []
    names = NodeNames({}, {'a': 3, 'b': 4, '__file__': __file__, '__builtins__': builtins})
    names.display = shown.append
    carry_out(text, names)
    hook, sys.displayhook = sys.displayhook, python.append
    try:
        exec(compile(f'{text}\n', 'typed', 'single'), {'a': 3, 'b': 4, '__file__': __file__})
    finally:
        sys.displayhook = hook
    assert shown == python == values


def test_what_was_displayed_before_an_error_was_displayed():
    values = []
    names = FrameNames(sys._getframe())
    names.display = values.append
    with pytest.raises(CommandError, match=r'ZeroDivisionError(.|\n)*\^\^\^'):
        carry_out('values; 1 / 0', names)
    assert values and values[0] is values


TENSORS = ['mm:0', 'mm:10', 'layer/x:1', 'a:0', '2nd:0']


@pytest.mark.parametrize(('text', 'python'), [
    ('mm:0.mean() + layer/x:1', 'mm_0.mean() + layer_x_1'), ('x[a:0]', 'x[a:0]'), ('mm:10', 'mm_10'), ('mm:1', 'mm:1'),
    ('mm:0[a:0]', 'mm_0[a:0]'), ('2nd:0', '_nd_0'), ('max(a:0)', 'max(a_0)'), ('xmm:0', 'xmm:0'),
])
def test_a_tensors_name_is_a_word(text, python):
    assert replace_tensor_names(text, TENSORS)[0] == python
    assert replace_tensor_names(text, ['mm', 'layer/x']) == (text, {})


@given(st.text(alphabet='am:0[]+. (', max_size=12))
def test_no_text_changes_its_length(text):
    changed, meaning = replace_tensor_names(text, TENSORS)
    assert len(changed) == len(text)
    assert set(meaning.values()) <= set(TENSORS)


@given(st.text(max_size=30))
def test_any_line_is_answered(text):
    try:
        carry_out(text, NodeNames({}, {'__builtins__': {}}))
    except CommandError as error:
        assert str(error)


@pytest.mark.parametrize(('expression', 'value'), [
    ("sorted(locals())", ['a', 'b', 'expression', 'free', 'names']),
    ("locals()['b']", 4), ("[locals()['a'] for _ in range(2)]", [3, 3]),
    ("(lambda: vars()['a'])()", 3), ('dir()', ['a', 'b', 'expression', 'free', 'names']), ("globals()['LEVEL']", 1),
    ("'append' in dir([])", True), ("vars(LEVEL.__class__)['real'].__name__", 'real'), ('eval("a + b")', 7)])
def test_builtins_that_ask_the_caller_answer_of_the_frame(expression, value):
    def function(a):
        b = a + 1
        names = FrameNames(sys._getframe())
        return displayed(expression, names), b, free
    free = 7
    assert function(3)[0] == value


def test_what_the_program_calls_locals_is_the_programs():
    assert in_frame('locals = 5', 'locals + a', 'vars()["locals"]')[0] == [None, 8, 5]


def test_locals_at_a_node_are_the_inputs_of_its_function_and_what_was_typed():
    session_variables.clear()
    reads = []
    names = NodeNames({'x': lambda: 5, 'far': lambda: reads.append(1)}, {'y': 2}, ['x'])
    carry_out('z = x + y', names)
    assert evaluate('locals()', names) == {'x': 5, 'z': 7} and evaluate('dir()', names) == ['x', 'z']
    assert evaluate("globals()['y']", names) == 2 and not reads
    inside = NodeNames({'mm_0': lambda: 3}, FrameNames(sys._getframe()))
    assert evaluate('locals()', inside)['reads'] == [] and 'z' not in evaluate('locals()', inside)
    session_variables.clear()
