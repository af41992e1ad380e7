"""What goes into a trace comes out of it: values of every type, names, errors, prints."""
from __future__ import annotations

import ast
import contextlib
import functools
import gc
import importlib
import os
import sys
import time
import types
import zipfile
from functools import partial
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from hypothesis.extra import numpy as npst
from plain_host import HOST, new_run, new_site, wrapped

from pyfuncdbg.errors import CommandError, DroppedError, TraceError
from pyfuncdbg.hooks import chain
from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace

DTYPES = [np.bool_, np.int8, np.uint16, np.int32, np.uint64, np.float16, np.float32, np.float64, np.complex64, np.complex128,
          np.dtype('>f4'), np.dtype('>i8'), np.dtype('M8[ns]'), np.dtype('m8[D]'), np.dtype('S5'), np.dtype('U3'),
          np.dtype([('a', '<i4'), ('b', '>f8', (2,))])]


def recorded(tmp_path, *values, **options):
    """The trace of one call with these inputs, and outputs equal to them."""
    path = tmp_path / f'{time.perf_counter_ns()}.pfd'
    with Recorder(path, **options):
        wrapped(lambda *inputs: inputs)(*values)
    return Trace.open(path)


def test_arrays_of_many_calls_are_columns_of_a_record(tmp_path):
    def write(x):
        if x[0] == 2:
            x[1] = 7
        return [x]
    arrays = [np.full(100, float(number)) for number in (1, 2, 1, 3, 1)] + [np.full(100, np.nan)]
    with Recorder(tmp_path / 'a.pfd') as recorder:
        call = wrapped(write)
        for _ in range(200):
            for array in arrays:
                call(array.copy())
    with Trace.open(tmp_path / 'a.pfd') as trace:
        calls = trace.calls(limit=10_000)
        assert len(calls) == 1_200
        for place, one in enumerate(calls):
            array = arrays[place % 6]
            after = array.copy()
            if array[0] == 2:
                after[1] = 7
            assert np.array_equal(one.inputs[0].to_numpy(), array, equal_nan=True)
            assert np.array_equal(one.outputs[0].to_numpy(), after, equal_nan=True)
            assert one.inputs[0].changed == (array[0] == 2) and not one.outputs[0].changed
        assert trace.count(bad=True) == 200
    assert sum(log.stat().st_size for log in recorder.path.glob('*.log')) < 90_000     # with a description of each 122,000


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(arrays=st.lists(st.sampled_from(DTYPES).flatmap(
    lambda dtype: npst.arrays(dtype, npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6))),
    min_size=1, max_size=4))
def test_arrays_come_back(tmp_path, arrays):
    with recorded(tmp_path, *arrays) as trace:
        call = trace.calls()[0]
        for array, tensor in zip(arrays * 2, [*call.inputs, *call.outputs], strict=True):
            back = tensor.to_numpy()
            assert tensor.shape == array.shape and tensor.level == 'full' and not tensor.changed
            if array.dtype.kind in 'SU':
                assert tensor.dtype == 'string'
                assert back.reshape(-1).tolist() == [e if isinstance(e, bytes) else e.encode('utf-8', 'surrogatepass')
                                                     for e in array.reshape(-1).tolist()]
            else:
                assert tensor.dtype == array.dtype.name or array.dtype.names is not None
                same = array if array.dtype.names else array.astype(array.dtype.newbyteorder('<'))
                assert back.dtype == same.dtype and back.tobytes() == same.tobytes()


@pytest.mark.parametrize('name', ['bfloat16', 'float8_e4m3fn', 'float8_e5m2', 'int4', 'uint4', 'float8_e4m3b11fnuz'])
def test_extended_types_come_back(tmp_path, name):
    array = np.arange(-2 if name[0] != 'u' else 0, 6, dtype=np.float32).astype(getattr(ml_dtypes, name))
    with recorded(tmp_path, array, np.tile(array, 100)) as trace:
        for tensor, value in zip(trace.call(trace.calls()[0].number).inputs, (array, np.tile(array, 100)), strict=True):
            assert tensor.dtype == name and tensor.to_numpy().tobytes() == value.tobytes()


def test_scalars_of_every_type_come_back(tmp_path):
    values = [kind(1) for kind in (np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32,
                                   np.uint64, np.float16, np.float32, np.float64, np.complex64, np.complex128)]
    values += [2.5, True, 7, 'text', b'bytes', np.str_('x'), np.longdouble(3), np.datetime64('2020-01-01'), None]
    with recorded(tmp_path, *values) as trace:
        call = trace.calls()[0]
        for value, tensor in zip(values[:14], call.inputs[:14], strict=True):
            back = tensor.to_numpy()
            assert (tensor.dtype, back.dtype, back[()]) == (value.dtype.name, value.dtype, value)
        rest = call.inputs[14:]
        assert [t.dtype for t in rest] == ['float64', 'bool', 'int64', 'string', 'string', 'string', 'float128',
                                           'datetime64[D]', 'object']
        assert [t.to_numpy()[()] for t in rest[:5]] == [2.5, True, 7, b'text', b'bytes']
        with pytest.raises(DroppedError, match='None: there is no tensor'):
            rest[-1].to_numpy()


def test_integers_of_python_are_kept_as_numpy_reads_them(tmp_path):
    values = [7, -(1 << 63), (1 << 63) - 1, 1 << 63, True]
    with recorded(tmp_path, *values) as trace:
        inputs = trace.call(trace.calls()[0].number).inputs
        assert [tensor.dtype for tensor in inputs] == ['int64', 'int64', 'int64', 'uint64', 'bool']
        assert [tensor.to_numpy()[()] for tensor in inputs] == values
    with recorded(tmp_path, 1 << 64, 7, level='none') as trace:
        inputs = trace.call(trace.calls()[0].number).inputs
        assert [(tensor.dtype, tensor.level) for tensor in inputs] == [('object', 'none'), ('int64', 'none')]


def test_text_with_control_characters_and_surrogates(tmp_path):
    nasty = ['\x1b[31mred\x1b[0m', '\udc80', '\0', '[bold]x[/bold]', '日本', '']

    def say(x):
        print(nasty[0], end='')
        raise ValueError(nasty[1] + nasty[0])
    path = tmp_path / 't.pfd'
    with Recorder(path), pytest.raises(ValueError):
        wrapped(say, name='site\x1b]\udc80')(np.array(nasty, object))
    with Trace.open(path) as trace:
        call = trace.calls()[0]
        assert call.inputs[0].to_numpy().tolist() == [e.encode('utf-8', 'surrogatepass') for e in nasty]
        assert call.output[0].text == nasty[0]
        assert call.error.message == nasty[1] + nasty[0]
        assert call.site.name == 'site\x1b]\udc80'


def test_objects_are_never_touched(tmp_path):
    class Touchy:
        def __repr__(self):
            raise AssertionError
        __str__ = __reduce__ = __getstate__ = __repr__

    with recorded(tmp_path, np.array([Touchy(), 1], object)) as trace:
        tensor = trace.calls()[0].inputs[0]
        assert (tensor.dtype, tensor.shape, tensor.level, tensor.key) == ('object', (2,), 'none', None)


def test_a_changed_input_is_noted_and_kept_as_it_came(tmp_path):
    def scribble(x, text, y, strided):
        x[0] = 99
        text[1] = b'new'
        strided[0] = -1
        return [y]
    x, big = np.arange(3.0), np.zeros(100_000)
    with Recorder(tmp_path / 't.pfd'):
        wrapped(scribble)(x, np.array([b'a', b'b'], object), big, np.arange(10)[::2])
    with Trace.open(tmp_path / 't.pfd') as trace:
        inputs = trace.calls()[0].inputs
        assert [t.changed for t in inputs] == [True, True, False, True]
        assert inputs[0].to_numpy().tolist() == [0, 1, 2]
        assert inputs[1].to_numpy().tolist() == [b'a', b'b']
        assert inputs[3].to_numpy().tolist() == [0, 2, 4, 6, 8]


def test_a_changed_array_of_rank_0_is_noted(tmp_path):
    def scribble(x, nan, same, boxed):
        x[()] = 9
        nan[()] = -nan
        return [same]
    with Recorder(tmp_path / 't.pfd'):
        wrapped(scribble)(np.array(3, np.int32), np.array(np.nan), np.array(np.nan), np.array(2.5, object))
    with Trace.open(tmp_path / 't.pfd') as trace:
        call = trace.calls()[0]
        assert [t.changed for t in call.inputs] == [True, True, False, False]
        assert [t.dtype for t in call.inputs] == ['int32', 'float64', 'float64', 'object']
        assert call.inputs[0].to_numpy() == 3 and call.inputs[0].shape == ()
        assert np.signbit(call.inputs[1].to_numpy()) == np.signbit(np.nan)
        assert np.isnan(call.outputs[0].to_numpy())


def test_no_module_is_asked_for_the_text_of_a_function(tmp_path, monkeypatch):
    asked = []

    class Lazy(types.ModuleType):
        def __getattr__(self, name):
            asked.append(name)
            raise AttributeError(name)
    monkeypatch.setitem(sys.modules, 'lazy_until_asked', Lazy('lazy_until_asked'))
    (tmp_path / 'never_seen.py').write_text('def fresh(x):\n    return [x + 1]\n')
    monkeypatch.syspath_prepend(tmp_path)
    fresh = importlib.import_module('never_seen').fresh
    with Recorder(tmp_path / 't.pfd'):
        wrapped(fresh)(np.float32(1))
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert trace.calls()[0].site.source == 'def fresh(x):\n    return [x + 1]\n'
    assert asked == []


@pytest.mark.parametrize('now', ['x = (\n', 's = """never closed\n'])
def test_a_file_that_was_changed_meanwhile_does_not_end_the_recording(tmp_path, monkeypatch, now):
    file = tmp_path / 'changed_meanwhile.py'
    file.write_text('def changed(x):\n    return [x + 1]\n')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, 'changed_meanwhile', raising=False)
    changed = importlib.import_module('changed_meanwhile').changed
    file.write_text(now)
    with Recorder(tmp_path / 't.pfd'):
        wrapped(changed)(np.float32(1))
    with Trace.open(tmp_path / 't.pfd') as trace:
        (call,) = trace.calls()
        assert call.site.source == '' and call.outputs[0].to_numpy() == 2


def test_the_text_of_a_function_in_an_archive(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / 'packed.zip', 'w') as archive:
        archive.writestr('packed_module.py', 'def packed(x):\n    return [x + 1]\n')
    monkeypatch.syspath_prepend(tmp_path / 'packed.zip')
    packed = importlib.import_module('packed_module').packed
    with Recorder(tmp_path / 't.pfd'):
        wrapped(packed)(np.float32(1))
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert trace.calls()[0].site.source == 'def packed(x):\n    return [x + 1]\n'


def test_large_tensors_have_statistics_only_and_a_change_is_noted(tmp_path):
    def scribble(x):
        x[5] = np.nan
        return [x]
    array = np.linspace(0, 1, 20_000)
    with Recorder(tmp_path / 't.pfd'):
        wrapped(scribble)(array)
    with Trace.open(tmp_path / 't.pfd') as trace:
        call = trace.calls(bad=True)[0]
        given, made = call.inputs[0], call.outputs[0]
        assert (given.level, given.changed, given.stats.nan, given.stats.max) == ('stats', True, 0, 1.0)
        assert (made.stats.nan, made.stats.first_bad) == (1, (5,))
        with pytest.raises(DroppedError, match='65536'):
            given.to_numpy()


@pytest.mark.parametrize(('level', 'limit', 'kept'), [('none', 1 << 16, 'none'), ('stats', 0, 'stats'), ('full', 0, 'full')])
def test_levels(tmp_path, level, limit, kept):
    big = np.arange(30_000.0)
    with recorded(tmp_path, big, np.float32(2), level=level, full_limit=limit) as trace:
        tensors = trace.calls()[0].inputs
        assert [t.level for t in tensors] == [kept, kept]
        assert [t.stats is not None for t in tensors] == [kept != 'none'] * 2
        if kept == 'full':
            assert np.array_equal(tensors[0].to_numpy(), big)


def test_site_run_and_error(tmp_path):
    def outer(x):
        try:
            {}['key']
        except KeyError as missing:
            raise ValueError(f'bad {x}') from missing
    site = new_site(outer, 'scope/norm', inputs=['x:0'], outputs=['scope/norm:0'], attrs={'Tout': ['float32'], 'n': 3},
                    stack=[Frame('model.py', 41, 'build')])
    run = new_run('Session.run', sites=lambda: [site], feeds=('x:0',), fetches=('loss:0',))
    invoke = partial(chain.invoke, site, outer)
    with Recorder(tmp_path / 't.pfd'), pytest.raises(ValueError):
        chain.invoke(new_site(None, 'run', 'run'), lambda x: invoke(run, [x]), run, [np.float32(4)])
    with Trace.open(tmp_path / 't.pfd') as trace:
        call = trace.call('norm[0]')
        assert call == trace.call('scope/norm[0]') == trace.call(f'#{call.number}')
        assert (call.error.type, call.error.message) == ('ValueError', 'bad 4.0')
        assert [frame.function for frame in call.error.frames] == ['outer']
        assert "KeyError: 'key'" in call.error.traceback and 'direct cause' in call.error.traceback
        assert call.site.source.startswith('    def outer(x):') and call.site.line == outer.__code__.co_firstlineno
        assert call.site.filename == __file__ and call.site.stack == (Frame('model.py', 41, 'build'),)
        assert call.site.attrs == {'Tout': ['float32'], 'n': 3} and call.inputs[0].name == 'x:0'
        (seen,) = trace.runs()
        assert (seen.label, seen.sites, seen.error.message) == ('Session.run', (site.id,), 'bad 4.0')
        assert [t.name for t in seen.feeds] == ['x:0'] and seen.duration > 0
        assert trace.run(run.id) == seen
        with pytest.raises(CommandError, match=f'near it: {run.id}'):
            trace.run(run.id + 1)


def test_to_write_an_error_parses_nothing_where_that_is_not_safe_with_threads(tmp_path, monkeypatch):
    def fail(x):
        try:
            return (x + 1) // 0
        except ZeroDivisionError as error:
            raise KeyError(x + [][x]) from error
    parsed, parse = [], ast.parse
    monkeypatch.setattr(ast, 'parse', lambda text: parsed.append(parse(text)) or parsed[-1])
    with Recorder(tmp_path / 'one.pfd'), pytest.raises(IndexError):
        wrapped(fail)(3)
    assert not parsed or sys.version_info >= (3, 12)
    with Trace.open(tmp_path / 'one.pfd') as trace:
        (found,) = trace.calls(failed=True)
    lines = [line.strip() for line in found.error.traceback.splitlines()]
    for text in ('return (x + 1) // 0', 'raise KeyError(x + [][x]) from error'):
        marks = lines[lines.index(text) + 1]
        assert set(marks) == ({'^'} if sys.version_info < (3, 12) else {'^', '~'})


@pytest.mark.parametrize('raised', [RuntimeError, SystemExit])
def test_an_exception_whose_str_raises(tmp_path, raised):
    class BrokenError(Exception):
        def __str__(self):
            raise raised('no')

    def fail():
        raise BrokenError
    with Recorder(tmp_path / 't.pfd'), pytest.raises(BrokenError):
        wrapped(fail)()
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert raised.__name__ in trace.calls()[0].error.message


def test_gradient_edges(tmp_path):
    run = new_run('backward')
    ids = []

    def step(site, forward, sources=()):
        def compute(g):
            ids.append(chain.current_call())
            return [g * 2]
        chain.invoke(new_site(None, site, 'gradient', outputs=['dx:0']), compute, run, [np.float32(1)], forward, sources)
    with Recorder(tmp_path / 't.pfd') as recorder:
        wrapped(lambda x: ids.append(chain.current_call()) or [x])(np.float32(1))
        step('loss_grad', ids[0])
        step('norm_grad', 0, ids[1:])
        recorder.flush()
    with Trace.open(tmp_path / 't.pfd') as trace:
        first, second = trace.edges()
        assert (first.gradient, first.forward, first.sources, first.run) == (str(ids[1]), str(ids[0]), (), run.id)
        assert (second.gradient, second.forward, second.sources) == (str(ids[2]), '', (str(ids[1]),))
        assert first.tensors[0].name == 'dx:0' and first.tensors[0].to_numpy()[()] == 2
        assert trace.call(first.forward).site.kind == 'python' and trace.edges(run=run.id + 1) == []


def test_calls_that_wrote_to_an_input(tmp_path):
    def clip(x):
        if x[0] > 1:
            x[0] = 1
        return [x.sum()]
    call = wrapped(clip, name='clip')
    with Recorder(tmp_path / 't.pfd'):
        for size in (3, 3000):                  # kept with the call, and as a blob
            for first in (0, 5, 1):
                call(np.full(size, first, np.float32))
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert [found.label for found in trace.calls(changed=True)] == ['clip[1]', 'clip[4]']
        assert trace.count(changed=False) == 4
        assert [use.changed for use in trace.usage()] == [2]


def test_queries(tmp_path):
    def half(x):
        if x == 3:
            raise ValueError
        if x == 4:
            print('four')
        return [np.float32('nan') if x == 5 else x / 2]
    call = wrapped(half, name='a/half')
    other = wrapped(lambda x: [x], name='b/same')
    with Recorder(tmp_path / 't.pfd') as recorder:
        for i in range(10):
            with contextlib.suppress(ValueError):
                call(np.float32(i))
            other(np.float32(i))
        recorder.note('stop', {'call': 3})
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert [trace.count(site=glob) for glob in (None, 'a/*', 'half', 'PyFunc')] == [20, 10, 10, 20]
        assert [trace.count(**{flag: True}) for flag in ('failed', 'bad', 'printed')] == [1, 1, 1]
        assert [trace.count(**{flag: False}) for flag in ('failed', 'bad', 'printed')] == [19, 19, 19]
        (bad,) = trace.calls(bad=True)
        assert bad.label == 'a/half[5]' and bad.outputs[0].stats.nan == 1
        assert trace.calls(printed=True)[0].output[0].text == 'four\n'
        first = trace.calls(limit=3)
        assert [c.label for c in first] == ['a/half[0]', 'b/same[0]', 'a/half[1]']
        assert [c.label for c in trace.calls(limit=1, offset=1, newest_first=True)] == ['a/half[9]']
        slowest = trace.calls(sort='duration', newest_first=True)
        assert [c.duration for c in slowest] == sorted([c.duration for c in slowest], reverse=True)
        assert [n.data for n in trace.notes('stop')] == [{'call': 3}] and trace.notes('breakpoint') == []
        for wrong in ({'kind': 'pyton'}, {'sort': 'durration'}):
            with pytest.raises(CommandError, match=r'python|duration'):
                trace.calls(**wrong)
        for wrong, hint in (('999999', 'near it'), ('a/half[12]', r'last is a/half\[9\]'), ('a/hal[1]', 'a/half')):
            with pytest.raises(CommandError, match=hint):
                trace.call(wrong)
        assert len(trace.tensors(site='a/half')) == 9 and len(trace.tensors(bad=True)) == 1


def test_a_live_trace_grows(tmp_path):
    call = wrapped(lambda x: [x])
    with Recorder(tmp_path / 't.pfd') as recorder, Trace.open(tmp_path / 't.pfd') as trace:
        assert trace.count() == 0 and not trace.info().complete
        call(np.float32(1))
        recorder.flush()
        assert trace.refresh() and trace.count() == 1
        assert not trace.refresh()
        recorder.stop()
        assert trace.refresh() and trace.info().complete


def test_a_running_call_is_there_unfinished_with_what_it_said(tmp_path):
    seen = []

    def look(x):
        print('so far')
        recorder.flush()
        with Trace.open(tmp_path / 't.pfd') as trace:
            seen.extend(trace.calls())
        x[0] = 5
        return [x]
    with Recorder(tmp_path / 't.pfd') as recorder:
        wrapped(look)(np.zeros(40))
    assert seen[0].duration is None and seen[0].output[0].text == 'so far\n' and seen[0].outputs == ()
    with Trace.open(tmp_path / 't.pfd') as trace:
        (call,) = trace.calls()
        assert call.duration > 0 and call.inputs[0].changed and call.outputs[0].to_numpy()[0] == 5


def test_identical_values_are_stored_once(tmp_path):
    call = wrapped(lambda x: [x])
    with Recorder(tmp_path / 't.pfd') as recorder:
        for _ in range(50):
            call(np.zeros(4000))
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert trace.info().nbytes < 2 * 32_000
        assert recorder.path == tmp_path / 't.pfd' and len({c.inputs[0].key for c in trace.calls()}) == 1


def test_watching_does_not_keep_values_alive(tmp_path):
    import weakref

    class Array(np.ndarray):
        pass
    with Recorder(tmp_path / 't.pfd'):
        value = np.zeros(10).view(Array)
        seen = weakref.ref(value)
        wrapped(lambda x: [1.0])(value)
        del value
        assert seen() is None


def test_the_host_name_and_program_are_there(tmp_path):
    with recorded(tmp_path, 1.0) as trace:
        info = trace.info()
        assert info.argv == tuple(sys.argv) and info.complete and info.damage == () and trace.sites()[0].host == HOST.name


def test_a_recorder_is_used_once(tmp_path):
    recorder = Recorder(tmp_path / 't.pfd')
    with recorder:
        pass
    with pytest.raises(TraceError, match='already used'):
        recorder.start()


def test_a_decorated_function_is_where_it_was_written(tmp_path):
    def decorator(function):
        @functools.wraps(function)
        def wrapper(*args):
            return function(*args)
        return wrapper

    def doubled(x):
        return (x * 2,)
    with Recorder(tmp_path / 'decorated.pfd'):
        wrapped(decorator(decorator(doubled)))(np.ones(2))
    with Trace.open(tmp_path / 'decorated.pfd') as trace:
        (call,) = trace.calls()
    assert call.site.function.endswith('.doubled')
    assert (call.site.filename, call.site.line) == (__file__, doubled.__code__.co_firstlineno)
    assert call.site.source.strip().startswith('def doubled(x):')


@pytest.mark.skipif(not os.path.exists('/proc/self/fd'), reason='needs /proc')
def test_a_trace_that_is_not_closed_leaves_no_file_open(tmp_path: Path) -> None:
    with Recorder(tmp_path / 'left.pfd'):
        wrapped(lambda x: (x,))(np.float32(1))
    before = len(os.listdir('/proc/self/fd'))
    for _ in range(5):
        Trace.open(tmp_path / 'left.pfd').info()
    gc.collect()
    assert len(os.listdir('/proc/self/fd')) == before
