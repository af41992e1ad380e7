"""Conditions: values that are equal and shown, what they say of random calls, and what is refused where."""
from __future__ import annotations

import cmath
import copy
import dataclasses
import math
import pickle
import sys
import types
import warnings

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from stopping import debugging, wrapped

import pyfuncdbg
from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.conditions import past_calls, vocabulary
from pyfuncdbg.observers.debug.conditions.function_parameters import current_functions
from pyfuncdbg.observers.debug.conditions.predicate import condition, has_inf, has_inf_or_nan, has_nan

NAN, INF = math.nan, math.inf


# --- values -------------------------------------------------------------------------------------------------------

def test_conditions_are_values():
    def late(call):
        return call.ordinal > 3

    assert condition('x > 3') == condition(' x > 3 ') != condition('x > 4')
    assert has_nan & ~has_inf == has_nan & ~has_inf != has_nan | ~has_inf
    assert condition(late) == condition(late)
    assert len({condition('x'), condition('x'), has_nan, ~has_nan, ~has_nan}) == 3
    assert repr(has_nan & ~(has_inf | condition('x > 3'))) == "has_nan & ~(has_inf | condition('x > 3'))"
    assert repr(condition(late)) == f'condition({late.__qualname__})'
    assert repr(has_nan | (has_inf | has_nan)) == 'has_nan | (has_inf | has_nan)'
    assert ('x > 3' & has_nan) == condition('x > 3') & has_nan
    assert pickle.loads(pickle.dumps(has_nan)) is has_nan


def test_text_of_a_condition_means_the_same():
    both = (condition('x > 1') | has_nan) & ~condition('x > 5')
    assert both.text == '((x > 1) or (has_nan)) and (not (x > 5))'
    assert (both & (lambda call: True)).text is None


def test_a_condition_has_no_truth_of_its_own():
    with pytest.raises(TypeError, match="'&', '\\|' and '~'"):
        bool(has_nan and has_inf)


def test_what_a_condition_reads():
    assert condition('out.max() > history.ema(absmax(out))').reads == {'out', 'history'}
    assert condition('has_nan').reads == {'tensors'}
    assert condition('has_nan(x)').reads == frozenset()
    assert (condition('error is not None') & ~condition('call.ordinal')).reads == {'error', 'call'}
    assert condition('[out for out in inputs]').reads == {'inputs'}
    assert condition('changed(inputs[0])').reads == {'inputs'}


# --- words --------------------------------------------------------------------------------------------------------

FLOATS = st.lists(st.one_of(st.floats(width=32), st.sampled_from([NAN, INF, -INF, 0.0])), max_size=6)


@given(FLOATS, st.sampled_from([np.float16, np.float32, np.float64, ml_dtypes.bfloat16, np.complex64]))
def test_words_against_a_loop(values, dtype):
    with np.errstate(all='ignore'):
        array = np.array(values, np.float64).astype(dtype)
        elements = [complex(v) for v in array.astype(np.complex128)]
    nan = any(math.isnan(v.real) or math.isnan(v.imag) for v in elements)
    inf = any(math.isinf(v.real) or math.isinf(v.imag) for v in elements)
    assert vocabulary.has_nan(array) == nan
    assert vocabulary.has_inf(array) == inf
    assert vocabulary.has_inf_or_nan(array) == (nan or inf)
    assert vocabulary.zeros(array) == (sum(v == 0 for v in elements) / len(elements) if elements else 0)
    if not nan:
        assert vocabulary.absmax(array) == max((abs(v) for v in elements), default=0)
    for kind, word in (('nan', vocabulary.has_nan), ('inf', vocabulary.has_inf)):
        for value in array:                     # scalars too
            assert isinstance(word(value), np.bool_), kind
    assert [vocabulary.has_inf_or_nan(value) for value in array] == [
        not cmath.isfinite(element) for element in elements]


@pytest.mark.parametrize('size', [999, 1000, 1001, 70_000])
@pytest.mark.parametrize('bad', [NAN, INF, -INF])
def test_words_of_few_and_of_many_elements(size, bad):
    for dtype in (np.float32, np.float64, np.complex128):
        array = np.ones(size, dtype)
        assert not vocabulary.has_nan(array) and not vocabulary.has_inf(array) and not vocabulary.has_inf_or_nan(array)
        for place in (0, size // 2, size - 1):
            array[place] = bad
            for view in (array, array.reshape(-1, 1), array[::-1]):
                assert (vocabulary.has_nan(view), vocabulary.has_inf(view), vocabulary.has_inf_or_nan(view)) == (
                    math.isnan(bad), math.isinf(bad), True)
            array[place] = 1


def test_words_at_their_edges():
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert vocabulary.norm(np.array([3, 4], np.int8)) == vocabulary.norm(np.complex64([3 + 4j])) == 5.0
        assert vocabulary.norm(np.complex64([np.inf, 1j])) == np.inf
        assert vocabulary.norm(np.full(2, 3e38, np.float32)) == pytest.approx(np.sqrt(2) * np.float64(np.float32(3e38)))
        assert vocabulary.absmax(np.array([-128], np.int8)) == 128
        for count in (2, 2000):                                         # whose product with itself is infinite
            assert not vocabulary.has_inf(np.full(count, 1e300))
            assert not vocabulary.has_inf_or_nan(np.full(count, 1e300))
        assert vocabulary.absmax(np.array([])) == vocabulary.norm(np.array([])) == vocabulary.zeros(np.array([])) == 0
    assert math.isnan(vocabulary.absmax(np.array([1, NAN])))
    assert not vocabulary.has_nan(np.array([b'nan'], object))
    assert ~vocabulary.has_nan(np.ones(3)) is np.True_
    with pytest.raises(TypeError, match=r'norm\(\) needs numbers, not object'):
        vocabulary.norm(np.array([b'a'], object))


@dataclasses.dataclass
class Pair:
    left: object
    right: object


def structures(leaves: st.SearchStrategy) -> st.SearchStrategy:
    """Structures of arrays with the list of their arrays."""
    def joined(parts):
        values, arrays = [value for value, _ in parts], [array for _, inner in parts for array in inner]
        ragged = np.empty(len(values), object)
        ragged[:] = values
        return [(tuple(values), arrays), (values, arrays), (dict(enumerate(values)), arrays), (ragged, arrays),
                (Pair(values, None), arrays), (types.SimpleNamespace(values=tuple(values), indices=np.array([NAN])), arrays)]
    return st.recursive(leaves.map(lambda array: (array, [array])), lambda inner: st.lists(
        inner, min_size=1, max_size=3).flatmap(lambda parts: st.sampled_from(joined(parts))), max_leaves=5)


@given(structures(st.sampled_from([
    np.array([1.0, NAN]), np.float32(NAN), np.array([[1, INF]], np.float16), np.arange(3), np.float64(-INF),
    np.zeros((0, 2)),
    np.array([b'nan', b''], object), np.array(['inf']), np.array([True]), np.array([1, NAN], ml_dtypes.bfloat16),
    np.array([complex(0, NAN)]), np.ones((2, 3), np.float32)])))
def test_words_of_structures_are_those_of_their_arrays(structure):
    value, arrays = structure
    numbers = [np.asarray(array).astype(np.complex128).ravel() for array in arrays
               if np.asarray(array).dtype.kind in 'biufcV']
    for word in (vocabulary.has_nan, vocabulary.has_inf, vocabulary.has_inf_or_nan):
        assert word(value) == any(word(array) for array in arrays)
        assert isinstance(word(value), np.bool_)
    if not numbers:
        with pytest.raises(TypeError, match='needs numbers'):
            vocabulary.norm(value)
        return
    flat = np.concatenate(numbers)
    assert vocabulary.zeros(value) == (np.mean(flat == 0) if flat.size else 0)
    if np.isfinite(flat).all():
        assert vocabulary.absmax(value) == (np.abs(flat).max() if flat.size else 0)
        assert vocabulary.norm(value) == pytest.approx(np.linalg.norm(flat))
    assert not past_calls.ChangeTest().differs(value)


def test_what_holds_no_numbers_has_no_nan():
    """A handle of a resource, as an array of one object or within a structure."""
    handle = object()
    for value in (handle, np.array(handle, object), [handle, 1.0], {'a': np.array([handle, handle], object)}):
        assert not has_nan(value) and not has_inf(value)
    assert has_nan([handle, np.float32('nan')])
    with pytest.raises(TypeError, match='needs numbers'):
        vocabulary.absmax(np.array(handle, object))


def test_changed_looks_into_structures_of_other_shapes():
    change, value = past_calls.ChangeTest(), (np.ones(2), {'a': np.zeros((1, 3))},
                                              np.array([np.ones(2), None, b'x'], object))
    assert [bool(change.differs(held)) for held in (value, copy.deepcopy(value), (*value[:2], np.array(
        [np.ones(2), None, b'y'], object)))] == [False, False, True]


# --- what it says of calls: the oracle ------------------------------------------------------------------------------

ATOMS = {
    'x > 0': lambda past, x, out: x > 0,
    'out >= x': lambda past, x, out: out >= x,
    'has_nan': lambda past, x, out: math.isnan(x) or math.isnan(out),
    'has_nan(x)': lambda past, x, out: math.isnan(x),
    '~has_inf_or_nan(out)': lambda past, x, out: math.isfinite(out),
    'has_inf()': lambda past, x, out: math.isinf(x) or math.isinf(out),
    '~(x > 0)': lambda past, x, out: not x > 0,
    'changed(x)': lambda past, x, out: bool(past) and bits(past[-1][0]) != bits(x),
    'len(history) > 2': lambda past, x, out: len(past) > 2,
    'len(history) > 1 and history[-2].out > out': lambda past, x, out: len(past) > 1 and past[-2][1] > out,
    'history and history[-1].x == x': lambda past, x, out: bool(past) and past[-1][0] == x,
    'history.ema(absmax(out), alpha=0.5) > out': lambda past, x, out: ema([abs(o) for _, o in past], 0.5) > out,
    'history.max(x) < x': lambda past, x, out: max(finite(x for x, _ in past), default=NAN) < x,
    'history.min(out) == out': lambda past, x, out: min(finite(o for _, o in past), default=NAN) == out,
    'history.mean(x) > 1': lambda past, x, out: np.mean(finite(x for x, _ in past) or [NAN]) > 1,
    'call.ordinal % 2': lambda past, x, out: len(past) % 2 == 1,
    'inputs[0] < 1': lambda past, x, out: x < 1,
    'any(v > 2 for v in inputs)': lambda past, x, out: x > 2,
}


def bits(value):
    return np.float64(value).tobytes()


def finite(values):
    return [value for value in values if math.isfinite(value)]


def ema(values, alpha):
    average = NAN
    for value in finite(values):
        average = value if math.isnan(average) else alpha * value + (1 - alpha) * average
    return average


def trees(children):
    return st.one_of(st.tuples(st.just('&'), children, children), st.tuples(st.just('|'), children, children),
                     st.tuples(st.just('~'), children))


TREES = st.recursive(st.sampled_from(sorted(ATOMS)), trees, max_leaves=6)


def built(tree):
    if isinstance(tree, str):
        return condition(tree)
    parts = [built(part) for part in tree[1:]]
    return ~parts[0] if tree[0] == '~' else parts[0] & parts[1] if tree[0] == '&' else parts[0] | parts[1]


def expected(tree, past, x, out):
    if isinstance(tree, str):
        return bool(ATOMS[tree](past, x, out))
    parts = [expected(part, past, x, out) for part in tree[1:]]
    return not parts[0] if tree[0] == '~' else all(parts) if tree[0] == '&' else any(parts)


@settings(deadline=None, max_examples=150)
@given(TREES, st.lists(st.sampled_from([0.0, -0.0, 1.0, 1.0, 2.5, -3.0, NAN, INF]), max_size=9))
def test_conditions_against_brute_force(tree, values):
    def function(x):
        return x * np.float64(0.5) + 1

    with debugging() as (debugger, front_end), np.errstate(all='ignore'):
        debugger.breakpoints.set('norm', built(tree), timing='after-call')
        call = wrapped(function)
        past, wanted = [], []
        for value in values:
            x, out = np.float64(value), function(np.float64(value))
            if expected(tree, past, x, out):
                wanted.append(f'norm[{len(past)}]')
            call(x)
            past.append((float(x), float(out)))
        assert front_end.labels == wanted
        assert {reason for _, _, reason in front_end.stops} <= {'breakpoint 1'}


@settings(deadline=None, max_examples=50)
@given(TREES, st.lists(st.sampled_from([0.0, 1.0, 2.5, NAN]), max_size=5))
def test_the_text_of_a_condition_says_the_same_of_calls(tree, values):
    with debugging() as (debugger, front_end):
        debugger.breakpoints.set('norm', built(tree), timing='after-call')
        debugger.breakpoints.set('again', built(tree).text, timing='after-call')
        first, second = wrapped(lambda x: x), wrapped(lambda x: x, 'again')
        for value in values:
            first(np.float64(value))
            second(np.float64(value))
        labels = front_end.labels
        assert [label[4:] for label in labels if label.startswith('norm')] == [
            label[5:] for label in labels if label.startswith('again')]


# --- mistakes -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(('text', 'mark', 'why'), [
    ('x >> > 3', '     ^', 'invalid syntax'), ('x = 3', '  ^', 'invalid syntax'), ('x >', '   ^', 'invalid syntax'),
    ('x.max(', '     ^', "'(' was never closed"), ("é + 'abc", '    ^', 'unterminated string literal'),
    ('history.ema(history)', '            ^', 'it cannot contain history'),
    ('changed and x', '^', 'changed needs an expression'),
    ('x > 1 and changed(1, 2)', '          ^', 'changed() takes one expression'),
    ('history.ema(x, alpha=2)', '                     ^', 'alpha must be a number above 0'),
    ('any(changed(v) for v in inputs)', '            ^', "where 'v' is unknown"),
    ('(yield)', ' ^', 'a condition cannot contain yield or await'),
    ('x > 1 and call.number == 40', '          ^', "a call has no 'number'. call.id is the number that is shown as #40"),
    ('call.ordinl == 3', '^', "a call has no 'ordinl'. Did you mean 'ordinal'?"),
])
def test_a_mistake_is_marked_at_its_place(text, mark, why):
    with pytest.raises(CommandError) as raised:
        condition(text)
    first, shown, caret = str(raised.value).split('\n')
    assert first.startswith('bad condition: ')
    assert why in first
    assert (shown, caret.rstrip()) == (f'  {text}', f'  {mark}')


@pytest.mark.parametrize('text', ['', '   ', '\0', '(' * 500 + ')' * 500, 'x\n+', 'x) or (y', 'lambda: (yield)', 'await x'])
def test_hostile_text_is_refused_in_words(text):
    with pytest.raises(CommandError, match='bad condition'):
        condition(text)


def test_unknown_names_are_refused_when_the_function_is_known():
    expression = condition('x.sum() > epsilon')
    expression.check(('x', 'epsilon'))
    with pytest.raises(CommandError) as raised:
        expression.check(('x', 'eps'))
    assert str(raised.value).split('\n') == [
        "bad condition: unknown name 'epsilon'; the function has x, eps. Did you mean 'eps'?", '  x.sum() > epsilon',
        '            ^']


@pytest.mark.parametrize(('text', 'reason'), [
    ('x > 1', 'ValueError: the condition is an array, bool[3], which is neither true nor false: end it with .any() or '
     '.all()'),
    ('x.foo', "AttributeError: 'numpy.ndarray' object has no attribute 'foo'"),
    ('1 / 0', 'ZeroDivisionError: division by zero'),
    ('y > 1', "NameError: name 'y' is not known: norm has the parameters x"),
    ('history[100].out', 'IndexError: history[100]: the last 100 calls are kept'),
])
def test_a_condition_that_raises_stops_and_says_why(text, reason):
    with debugging() as (debugger, front_end):
        debugger.breakpoints.set('norm', text, timing='after-call', every=100, do='log', once=True)
        assert wrapped(lambda x: x.sum())(np.ones(3)) == 3
        assert front_end.stops == [('after', 'norm[0]', f'breakpoint 1: {reason}, in its condition {text}')]
        assert debugger.breakpoints.entry(1).hits == 0
        assert debugger.breakpoints.entry(1).breakpoint.enabled


def test_a_function_as_condition_that_raises_stops_too():
    def wrong(call):
        raise KeyError('nothing')

    with debugging() as (debugger, front_end):
        debugger.breakpoints.set('norm', wrong)
        wrapped(lambda x: x)(1.0)
        (_, _, reason), = front_end.stops
        assert reason.startswith("breakpoint 1: KeyError: 'nothing', in its condition condition(")


def test_a_function_that_asks_a_call_for_what_it_has_not_is_told_what_it_has():
    with debugging() as (debugger, front_end):
        debugger.breakpoints.set('norm', lambda call: call.number == 40)
        wrapped(lambda x: x)(1.0)
        (_, _, reason), = front_end.stops
        assert "AttributeError: a call has no 'number'. call.id is the number that is shown as #40" in reason


@pytest.mark.parametrize('text', ['call.id > 0 and call.site.name', 'call.ordinal >= 0', 'call.__class__',
                                  "hasattr(call, 'number')", 'any(call.number for call in history) or call.run'])
def test_what_calls_have_can_be_asked(text):
    condition(text)


def test_arithmetic_of_a_condition_is_not_the_programs():
    with debugging() as (debugger, front_end), warnings.catch_warnings(), np.errstate(all='raise'):
        warnings.simplefilter('error')
        debugger.breakpoints.set('norm', 'np.isnan(x / x).any()')
        seen = []
        wrapped(lambda x: seen.append(np.geterr()['divide']))(np.zeros(2))
        assert front_end.labels == ['norm[0]']
        assert seen == ['raise']


def test_the_front_door_has_the_words():
    assert pyfuncdbg.has_nan & ~pyfuncdbg.has_inf == has_nan & ~has_inf
    assert pyfuncdbg.has_inf_or_nan is has_inf_or_nan
    assert pyfuncdbg.norm([3, 4]) == 5
    assert pyfuncdbg.has_nan(np.array([NAN]))
    assert pyfuncdbg.condition('x') == condition('x')


def test_looking_for_functions_of_a_name_asks_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    class Proxy:
        @property
        def __class__(self) -> type:  # type: ignore[override]
            asked.append(1)
            return types.FunctionType
    asked: list[int] = []
    module = types.ModuleType('of_proxies')
    monkeypatch.setitem(sys.modules, 'of_proxies', module)
    monkeypatch.setitem(sys.modules, 'a_proxy', Proxy())  # type: ignore[arg-type]
    vars(module)['stands_for_another'] = Proxy()
    assert list(current_functions(['stands_for_another'])) == [] and asked == []


@pytest.mark.parametrize(('text', 'stops'), [
    ('"x" in locals()', True), ('any(name in locals() for name in ("x",))', True), ('(lambda: vars()["x"][0] == 1)()', True),
    ('[1 for _ in "a" if dir() == ["x"]]', True), ('all("y" not in locals() for _ in "a")', True),
    ('any("wrapped" in globals() for _ in "a")', True), ('any("VOCABULARY" in globals() for _ in "a")', False),
    ('any("a" in locals() for _ in "a")', False), ('(lambda locals: locals())(lambda: True)', True)])
def test_what_asks_for_the_variables_of_a_call_gets_its_parameters(text, stops):
    with debugging() as (debugger, front_end):
        debugger.breakpoints.set('norm', text)
        wrapped(lambda x: x)(np.ones(1))
        assert len(front_end.stops) is int(stops), front_end.stops
