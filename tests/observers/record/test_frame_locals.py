"""The variables of the frames that an exception went through: what a trace has of them, and that the program cannot tell."""
from __future__ import annotations

import contextlib
import gc
import inspect
import json
import shutil
import sys
import time
import traceback
import types
import weakref
from dataclasses import replace
from enum import IntEnum
from typing import NamedTuple

import msgpack
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from native_threads import run_native
from plain_host import wrapped

from pyfuncdbg.observers.record.log import log_file as frames
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.snapshots.frame_locals import MOST_FRAMES, MOST_VARIABLES, safe_text, values_of
from pyfuncdbg.observers.record.trace import Trace


def failed(tmp_path, function, *inputs, **options):
    """The error of a call that raises, as a trace has it."""
    path = tmp_path / f'{time.perf_counter_ns()}.pfd'
    with Recorder(path, **options), contextlib.suppress(Exception):
        wrapped(function)(*inputs)
    with Trace.open(path) as trace:
        (call,) = trace.calls()
        return call.error


def innermost(error):
    return {variable.name: variable for variable in error.locals[-1].variables}


class Hostile:
    """Counts every look at it that runs code of the program."""

    looked = 0

    def _look(self, *_):
        type(self).looked += 1
        time.sleep(5)
        raise RuntimeError('looked at')
    __repr__ = __str__ = __len__ = __iter__ = __array__ = __hash__ = __bool__ = __format__ = __eq__ = _look
    __class__ = shape = dtype = property(_look)

    def __getattr__(self, name):
        self._look()

    def __del__(self):
        pass


def test_arrays_are_tensors_with_their_first_bad_element(tmp_path):
    def scale(x):
        x = np.array([[1.0, 2.0], [np.nan, 4.0]], np.float32)
        big = np.arange(100_000.0)
        big[777] = np.inf
        step = 'half'
        raise ValueError(step, x)
    error = failed(tmp_path, scale, np.float32(1))
    assert [error.frames[found.frame].function for found in error.locals] == ['scale']
    found = innermost(error)
    assert list(found) == ['x', 'big', 'step']
    x = found['x'].tensor
    assert (x.dtype, x.shape, x.level, x.stats.nan, x.stats.first_bad) == ('float32', (2, 2), 'full', 1, (1, 0))
    np.testing.assert_array_equal(x.to_numpy(), np.array([[1, 2], [np.nan, 4]], np.float32))
    big = found['big'].tensor
    assert (big.level, big.stats.pos_inf, big.stats.first_bad, big.stats.max) == ('stats', 1, (777,), 99_999)
    assert (found['step'].type, found['step'].text, found['step'].tensor) == ('str', "'half'", None)


def test_no_code_of_the_program_runs(tmp_path):
    def fail(x):
        thing = Hostile()
        several = [thing, {'a': thing}, (thing,)]
        raise ValueError(several is None)
    Hostile.looked = 0
    began = time.monotonic()
    found = innermost(failed(tmp_path, fail, 1.0))
    assert Hostile.looked == 0 and time.monotonic() - began < 4
    assert found['thing'].text == '<Hostile object>'
    assert found['several'].text == "[<Hostile object>, {'a': <Hostile object>}, (<Hostile object>,)]"


def test_long_names_and_control_characters(tmp_path):
    names: dict = {}
    exec(f'def f(x):\n    {"n" * 500} = "\\x1b[2J\\r" + "y" * 10_000\n    raise KeyError("k")', names)
    (x, long) = failed(tmp_path, names['f'], 1.0).locals[-1].variables
    assert (x.name, x.text) == ('x', '1.0')
    assert long.name == 'n' * 200
    assert long.text.startswith(r"'\x1b[2J\ryyy") and long.text.endswith('... (10,005 long)') and len(long.text) < 200


def test_a_recursion_keeps_the_innermost_frames(tmp_path):
    def deeper(n):
        left = np.full(3, n)
        if n:
            return deeper(n - 1)
        raise RecursionError(left)
    old = sys.getrecursionlimit()
    sys.setrecursionlimit(3000)
    try:
        error = failed(tmp_path, deeper, 1000)
    finally:
        sys.setrecursionlimit(old)
    assert len(error.locals) == MOST_FRAMES
    assert [found.variables[0].text for found in error.locals] == [str(n) for n in range(9, -1, -1)]
    assert [found.variables[1].tensor.to_numpy()[0] for found in error.locals] == [*range(9, -1, -1)]
    assert error.locals[-1].frame == len(error.frames) - 1


def test_many_variables_are_counted(tmp_path):
    names: dict = {}
    exec('def f(x):\n' + ''.join(f'    a{i} = {i}\n' for i in range(50)) + '    raise KeyError("k")', names)
    (frame,) = failed(tmp_path, names['f'], 1.0).locals
    assert [one.name for one in frame.variables] == ['x', *(f'a{i}' for i in range(MOST_VARIABLES - 1))]
    assert frame.hidden == 31


def test_generators_closures_and_library_frames(tmp_path):
    weight = np.array([0.0, np.nan])

    def pieces():
        for piece in range(3):
            yield 1 / (weight.size - 2 - piece)

    def check(x):
        def key(value):
            return value / x.missing
        return sorted([1, 2], key=key), list(pieces())

    def through(x):
        total = 5
        return total + sum(pieces())
    error = failed(tmp_path, through, 1.0)
    assert [error.frames[found.frame].function for found in error.locals] == ['through', 'pieces']
    found = innermost(error)
    assert found['piece'].text == '0' and found['weight'].tensor.stats.first_bad == (1,)
    assert 'pieces' in {one.name for one in error.locals[0].variables}

    error = failed(tmp_path, lambda x: json.loads('{"a": }', object_hook=check), 1.0)
    assert len(error.frames) > len(error.locals) == 1            # json's own frames have variables too
    assert [one.name for one in error.locals[0].variables] == ['x', 'check']


def test_on_native_threads_each_error_has_its_own(tmp_path):
    def fail(x):
        mine = x * 10
        raise ValueError(mine)
    call = wrapped(fail)

    def work(n):
        for i in range(20):
            with pytest.raises(ValueError):
                call(np.full(4, n * 100 + i))
    with Recorder(tmp_path / 't.pfd'):
        run_native([lambda n=n: work(n) for n in range(4)])
    with Trace.open(tmp_path / 't.pfd') as trace:
        calls = trace.calls()
        assert len(calls) == 80 and len({call.thread for call in calls}) == 4
        for one in calls:
            np.testing.assert_array_equal(innermost(one.error)['mine'].tensor.to_numpy(), one.inputs[0].to_numpy() * 10)


def test_nothing_lives_longer_and_locals_are_untouched(tmp_path):
    kept = []

    def fail(x):
        mine = Hostile()
        kept.append((weakref.ref(mine), locals()))
        kept[-1][1]['extra'] = 1
        later = 2
        raise ValueError(later)

    def plain(x):
        mine = Odd()
        kept.append((weakref.ref(mine), {}))
        raise ValueError
    gc.disable()
    try:
        with Recorder(tmp_path / 't.pfd'):
            for function in (fail, plain):
                try:
                    wrapped(function)(1.0)
                except ValueError as error:
                    traceback.clear_frames(error.__traceback__)
        assert set(kept[0][1]) == {'x', 'mine', 'extra', 'kept'}        # not 'later': that is after `locals()`
        kept[0][1].clear()
        assert [alive() for alive, _ in kept] == [None, None]
    finally:
        gc.enable()


def test_a_frame_that_still_runs_is_left_alone_and_a_class_body_too():
    seen = []

    def running():
        value = 3
        mine = locals()
        seen.append(values_of(inspect.currentframe()))
        return value, mine
    assert 'value' not in seen and set(running()[1]) == {'value', 'seen'}
    assert seen == [{}] or seen[0]['value'] == 3
    try:
        exec('class A:\n    b = 3\n    1 / 0')
    except ZeroDivisionError as error:
        bodies = [frame for frame, _ in traceback.walk_tb(error.__traceback__)][1:]
    assert [frame.f_code.co_name for frame in bodies] == ['<module>', 'A'] and bodies[-1].f_locals['b'] == 3
    assert [values_of(frame) for frame in bodies] == [{}, {}]


def test_calls_that_do_not_raise_look_at_nothing(tmp_path, monkeypatch):
    import pyfuncdbg.observers.record.snapshots.error_capture as module
    asked = []
    monkeypatch.setattr(module, 'variables_of', lambda frames, host: asked.append(frames) or [])
    assert failed(tmp_path, lambda x: [x], 1.0) is None and asked == []
    assert failed(tmp_path, lambda x: [x / [0]], 1.0).type == 'TypeError' and len(asked) == 1


class Point(NamedTuple):
    x: int
    y: int


class Color(IntEnum):
    RED = 1


class Mine(dict):
    __repr__ = __len__ = items = __iter__ = None


class Meta(type):
    __name__ = property(lambda cls: 1 / 0)

    def __getattribute__(cls, name):
        raise RuntimeError(name)


class Odd(metaclass=Meta):
    pass


def test_texts_of_values():
    for value, text in (
            (None, 'None'), (True, 'True'), (float('nan'), 'nan'), (10**2000, 'an int of 6,644 bits'), (b'\0', r"b'\x00'"),
            (Point(1, 2), 'Point(1, 2)'), (Color.RED, 'Color(1)'), (Mine(a=1), "Mine({'a': 1})"), ((1,), '(1,)'),
            (set(), 'set()'), ([], '[]'), ([[[[1]]]], '[[[...]]]'), (list(range(9)), '[0, 1, 2, 3, 4, 5, ... 3 more]'),
            (np.float32(0.1), '0.1'), (Odd(), '<Odd object>'), (Odd, '<class Odd>'), (len, '<built-in len>'),
            (innermost, '<function innermost>'), (np.mean, np.mean.__class__ is types.FunctionType and '<function mean>')):
        if text:
            assert safe_text(value) == text
    cyclic: list = []
    cyclic.append(cyclic)
    assert safe_text(cyclic) == '[[[...]]]'
    assert len(safe_text(['x' * 80] * 6)) <= 203


def test_what_does_not_fit_is_counted(tmp_path):
    def fail(x):
        rows = [np.full(50, x + i) for i in range(3)]
        a, b, c = rows
        texts = ['y' * 80] * 6
        raise ValueError(a, b, c, texts)
    call = wrapped(fail)
    with Recorder(tmp_path / 't.pfd', budget=64 << 10) as recorder:
        for i in range(300):
            with contextlib.suppress(ValueError):
                call(float(i))
            if i % 5 == 4:
                recorder.flush()
        assert recorder._snapshots.allowance.used == 0
    assert sum(file.stat().st_size for file in (tmp_path / 't.pfd').glob('*.log')) <= 64 << 10
    with Trace.open(tmp_path / 't.pfd') as trace:
        calls, info = trace.calls(), trace.info()
        with_locals = [one for one in calls if one.error.locals]
        without = [one for one in calls if not one.error.locals]
        assert with_locals and without
        assert all(one.dropped['locals'] == 6 for one in without)
        assert len(calls) + info.dropped['calls'] == 300
        assert info.dropped['locals'] == 6 * len(without)


def test_an_array_too_large_to_be_looked_at_is_told(tmp_path):
    def fail(x):
        huge = np.zeros(5 << 20)
        raise ValueError(huge.shape)
    huge = innermost(failed(tmp_path, fail, 1.0))['huge'].tensor
    assert (huge.shape, huge.level, huge.note) == ((5 << 20,), 'none', 'too large for a local variable')


@pytest.fixture(scope='module')
def sound(tmp_path_factory):
    path = tmp_path_factory.mktemp('sound') / 't.pfd'

    def fail(x):
        array, text = np.arange(40.0), 'seven'
        raise ValueError(text, array)
    with Recorder(path), contextlib.suppress(ValueError):
        wrapped(fail)(1.0)
    return path


def rewritten(sound, tmp_path, change):
    """A copy of the trace whose error was changed, with a right checksum."""
    target = tmp_path / f'{time.perf_counter_ns()}.pfd'
    shutil.copytree(sound, target, ignore=shutil.ignore_patterns('index*'))
    (log,) = target.glob('*.log')
    reader = frames.LogReader(log)
    found = next(f for f in reader.frames(0) if f.kind == frames.CALLS)
    reader.close()
    fields = msgpack.unpackb(found.payload, strict_map_key=False)
    change(fields[10][0][1])
    data = log.read_bytes()
    log.write_bytes(data[:found.start] + b''.join(frames.frame(frames.CALLS, msgpack.packb(fields)))
                    + data[found.position + found.length:])
    return target


def test_a_trace_without_variables_opens(sound, tmp_path):
    with Trace.open(sound) as trace:
        whole = trace.calls()[0].error
    target = rewritten(sound, tmp_path, lambda error: error.__delitem__(slice(4, None)))
    manifest = json.loads((target / 'manifest.json').read_text())
    (target / 'manifest.json').write_text(json.dumps({**manifest, 'version': 1}))
    with Trace.open(target) as trace:
        assert trace.calls()[0].error == replace(whole, locals=())
    assert innermost(whole)['text'].text == "'seven'"


_anything = st.recursive(
    st.none() | st.integers(-2**63, 2**64 - 1) | st.floats() | st.text(max_size=5) | st.binary(max_size=20),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner, max_size=3), max_leaves=20)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=_anything | st.tuples(st.lists(_anything, max_size=2), st.lists(st.tuples(
    st.integers(-1, 3), st.integers(0, 3), st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3), _anything),
                                                    max_size=3)), max_size=3)))
def test_damaged_variables_neither_crash_nor_hide_the_call(sound, tmp_path, content):
    def change(error):
        error[4] = content
    with Trace.open(rewritten(sound, tmp_path, change)) as trace:
        (call,) = trace.calls()
        assert call.label == 'norm[0]' and (call.dropped.get('damaged') or call.error.type == 'ValueError')
