"""The line tracer by itself: which statement, which operands, which way; and what stands on a line."""
# ruff: noqa: RET504  (the functions are examples of statements)
from __future__ import annotations

import inspect
import linecache
import sys
import textwrap
from functools import partial

import numpy as np
import pytest

from pyfuncdbg.observers.debug.numerics.nan_line_tracer import RETURNED, LineTracer, find_cause
from pyfuncdbg.observers.debug.numerics.statement_names import statements_of


def traced(function, *args):
    tracer = LineTracer(np.asarray)
    with np.errstate(all='ignore'):
        tracer.run(partial(function, *args))
    return tracer


def way(tracer):
    return [(tracer.appearances[i].function, tracer.appearances[i].variable) for i in find_cause(tracer)]


def test_the_way_goes_back_through_names_to_finite_operands():
    def function(x):
        masked = np.log(x)
        clean = np.where(x > 0, masked, 0.0)
        other = clean - clean * np.float64('nan')
        return other + 1
    tracer = traced(function, np.array([1.0, -1.0]))
    assert [a.variable for a in tracer.appearances] == ['masked', 'other', RETURNED]
    assert way(tracer) == [('function', 'other'), ('function', RETURNED)]


def test_nan_made_of_an_infinity_begins_where_it_became_nan():
    def function(x):
        big = x / 0.0
        gone = big - big
        return gone * 2
    tracer = traced(function, np.array([1.0]))
    assert way(tracer) == [('function', 'gone'), ('function', RETURNED)]
    (operand,) = tracer.appearances[1].operands
    assert (operand.name, operand.origin_index, operand.tensor.stats.pos_inf) == ('big', 0, 1)


def test_an_infinity_is_followed_to_its_beginning():
    def function(x):
        big = x / 0.0
        more = big * 2
        return more
    assert way(traced(function, np.array([1.0]))) == [('function', 'big'), ('function', 'more')]


def test_a_value_that_becomes_finite_and_bad_again_appears_twice():
    def function(x):
        y = x / 0.0
        y = np.where(np.isinf(y), 0.0, y)
        y = y / 0.0
        return y
    found = traced(function, np.array([1.0])).appearances
    assert [(a.line - function.__code__.co_firstlineno, a.variable) for a in found] == [(1, 'y'), (3, 'y')]


def test_loops_name_the_first_time():
    def function(x):
        total = 0.0
        for i in range(50):
            total = total + x[i]
        return total
    values = np.ones(50)
    values[30] = np.nan
    tracer = traced(function, values)
    assert tracer.appearances[0].is_parameter
    assert way(tracer) == [('function', 'x'), ('function', 'total'), ('function', RETURNED)]
    assert sum(a.variable == 'total' for a in tracer.appearances) == 1


def test_scalars_complex_containers_and_small_types():
    def function():
        number = float('inf')
        pair = (1.0, np.array([1.0, np.nan]))
        table = {'a': np.float32('nan')}
        z = np.array([1 + 1j, complex(0, np.inf)])
        half = np.array([np.inf, 1], np.float16)
        nothing = np.array([], np.float64)
        huge = np.full(4, 1e300)                # its product with itself overflows, and it is finite
        return number, pair, table, z, half, nothing, huge
    found = {a.variable: a.tensor.stats.first_bad for a in traced(function).appearances}
    assert found == {'number': (), 'pair[1]': (1,), "table['a']": (), 'z': (1,), 'half': (0,)}


def test_a_generator_a_recursion_and_an_error():
    def numbers(x):
        for value in x:
            y = value / np.float64(0)
            yield y

    def deep(x, n):
        if n == 0:
            z = x * np.nan
            return z
        return deep(x, n - 1) + 1

    def function(x):
        first = next(numbers(x))
        down = deep(x, 3)
        raise ValueError((first, down))
    tracer = LineTracer(np.asarray)
    with np.errstate(all='ignore'), pytest.raises(ValueError):
        tracer.run(partial(function, np.array([1.0])))
    variables = [(a.function, a.variable) for a in tracer.appearances]
    assert variables[0] == ('numbers', 'y') and ('deep', 'z') in variables and tracer.returned is None
    assert sys.gettrace() is None


def test_library_functions_are_not_traced():
    def function(x):
        return np.linalg.norm(x) * np.nan
    tracer = traced(function, np.ones(3))
    assert {a.function for a in tracer.appearances} == {'function'}


def test_the_programs_own_trace_function_is_put_back():
    def mine(frame, event, arg):
        return None
    before = sys.gettrace()
    sys.settrace(mine)
    try:
        traced(int)
        assert sys.gettrace() is mine
    finally:
        sys.settrace(before)


# ---------------------------------------------------------------- statements
def sample(x, y):
    a, b = x, y
    a[0] = y.size
    a += (b *
          x.mean())
    if (a > b).any(): b = a   # noqa: E701
    for i in b:
        del i
    self = sample
    self.value = a
    return [z * y for z in a]


def at(offset):
    return statements_of(sample.__code__)[sample.__code__.co_firstlineno + offset]


def names(paths):
    return {'.'.join(path) for path in paths}


@pytest.mark.parametrize(('offset', 'text', 'writes', 'reads', 'mutates'), [
    (1, 'a, b = x, y', {'a', 'b'}, {'x', 'y'}, False),
    (2, 'a[0] = y.size', set(), {'a', 'y', 'y.size'}, True),
    (3, 'a += (b * x.mean())', {'a'}, {'a', 'b', 'x', 'x.mean'}, True),
    (4, 'a += (b * x.mean())', {'a'}, {'a', 'b', 'x', 'x.mean'}, True),
    (6, 'for i in b:', {'i'}, {'b'}, False),
    (9, 'self.value = a', {'self.value'}, {'a', 'self'}, False),
    (10, 'return [z * y for z in a]', {'z'}, {'z', 'y', 'a'}, False)])
def test_statements(offset, text, writes, reads, mutates):
    found = at(offset)
    assert (found.text, names(found.writes), found.mutates) == (text, writes, mutates)
    assert names(found.reads) >= reads


def test_two_statements_on_one_line():
    found = at(5)
    assert {'b'} <= names(found.writes) and {'a', 'b'} <= names(found.reads) and found.mutates


def test_without_source_the_bytecode_serves():
    scope = {}
    exec(compile(textwrap.dedent('''
        def made(x):
            y = x / 0.0
            return y + 1
        '''), '<nowhere>', 'exec'), scope)
    tracer = traced(scope['made'], np.array([1.0]))
    assert [(a.line, a.variable, a.statement) for a in tracer.appearances] == [(3, 'y', ''), (4, RETURNED, '')]


def test_what_the_host_calls_before_the_function_is_not_taken_for_it():
    def function(x):
        y = x * np.nan
        return y

    class Called:
        def __call__(self, x):
            return function(x)

    namespace = {'inspect': inspect}
    text = 'def host(one, x):\n    inspect.isfunction(one)\n    return one(x)\n'
    exec(compile(text, '/lib/site-packages/host.py', 'exec'), namespace)
    for one in (function, partial(function), Called(), np.linalg.norm):
        tracer = LineTracer(np.asarray, one)
        with np.errstate(all='ignore'):
            tracer.run(partial(namespace['host'], one, np.array([np.inf, -np.inf])))
        functions = [appearance.function for appearance in tracer.appearances]
        assert functions[-1] == ('norm' if one is np.linalg.norm else 'function')
        assert not {'isfunction', 'host'} & set(functions) and tracer.returned is not None


def test_lines_are_counted_as_python_counts_them():
    text = 'def f(x):\n    a = "\x0c"\n    b = "\u2028ä"; c = x\n    return (a,\n            c)\n'
    namespace = {}
    exec(compile(text, 'lines.py', 'exec'), namespace)
    linecache.cache['lines.py'] = len(text), None, text.splitlines(keepends=True), 'lines.py'
    texts = {line: statement.text for line, statement in statements_of(namespace['f'].__code__).items() if line > 1}
    assert texts == {2: 'a = "\x0c"', 3: 'b = "\u2028ä"', 4: 'return (a, c)', 5: 'return (a, c)'}
