"""Comparison of recordings: edits of a program are found at the call where they act."""
from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from native_threads import run_native
from rich.console import Console
from written_trace import write_trace

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.observers.debug.comparison.divergence import TraceDifference
from pyfuncdbg.observers.debug.comparison.record_comparison import Rules
from pyfuncdbg.observers.debug.comparison.trace_comparison import compare_calls, compare_runs, compare_traces
from pyfuncdbg.observers.debug.comparison.value_difference import Tolerance
from pyfuncdbg.observers.record.index.grouped_calls import GroupedCalls
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.views.reports.trace_difference import trace_difference_view

ROOT = Path(pyfuncdbg.__file__).resolve().parents[1]
Step = tuple[str, object]


def record(path: Path, steps: Sequence[Step]) -> Path:
    """A recording of calls: each step is a function of the program with the value that it returns, or what it does."""
    def act(index: np.ndarray) -> np.ndarray:
        kind, what = steps[int(index)]
        if kind == 'raise':
            raise ValueError(str(what))
        if kind == 'print':
            print(what)
            return np.float32(0)
        if kind == 'warn':
            warnings.warn(str(what), stacklevel=1)
            return np.float32(0)
        return np.asarray(what)

    with pyfuncdbg.record(path):
        for number, (kind, what) in enumerate(steps):
            dtype = np.asarray(what).dtype if kind == 'value' else np.float32
            with contextlib.suppress(ValueError):
                tf.numpy_function(act, [np.int32(number)], tf.as_dtype(dtype), name='act')
    return path


def compared(one: Path, two: Path, rules: Rules = Rules()) -> TraceDifference:  # noqa: B008
    with Trace.open(one) as first, Trace.open(two) as second:
        return compare_traces(first, second, rules, ('one', 'two'))


def place(found: TraceDifference, path: Path) -> int:
    """The place of the first divergence among the calls of a recording: ordinals go on from test to test."""
    number = next(filter(None, found.first.numbers))
    with Trace.open(path) as trace:
        return [call.number for call in trace.calls()].index(number)


def values(*numbers: float) -> list[Step]:
    return [('value', np.float32(number)) for number in numbers]


def test_a_recording_is_the_same_as_itself_and_as_another_one_of_the_program(tmp_path: Path) -> None:
    steps: list[Step] = [*values(1, 2), ('raise', 'no'), ('print', 'seen'), ('warn', 'careful')]
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        one, two = record(tmp_path / 'one.pfd', steps), record(tmp_path / 'two.pfd', steps)
    for other in (one, two):
        found = compared(one, other)
        assert found.same
        assert (found.calls, found.first, found.later, found.unknown) == (5, None, (), 0)


def test_one_ulp_is_found_at_its_call(tmp_path: Path) -> None:
    one = record(tmp_path / 'one.pfd', values(1, 2, 3, 4))
    two = record(tmp_path / 'two.pfd', values(1, 2, np.nextafter(np.float32(3), np.float32(9)), 4))
    found = compared(one, two)
    assert not found.same
    first = found.first
    assert first is not None
    assert (first.kind, place(found, one), first.inherited, found.later) == ('value', 2, False, ())
    (tensor,) = first.tensors
    assert (tensor.side, tensor.slot, tensor.texts, tensor.value.ulp) == ('out', 0, ('3.0', '3.0000002'), 1)
    assert compared(one, two, Rules(tolerance=Tolerance(ulp=1))).same
    assert compared(one, two, Rules(frozenset({'value'}))).same


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=8), st.data())
def test_a_random_edit_is_found_where_it_was_made(tmp_path_factory: pytest.TempPathFactory, numbers: list[int],
                                                  data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp('edit')
    edited = data.draw(st.integers(0, len(numbers) - 1))
    after: list[Step] = values(*numbers)
    after[edited] = data.draw(st.sampled_from([('value', np.float32(77)), ('value', np.int32(numbers[edited])),
                                              ('value', np.full(2, numbers[edited], np.float32)), ('raise', 'edited')]))
    kind, what = after[edited]
    expected = 'exception' if kind == 'raise' else 'dtype' if what.dtype != np.float32 else 'shape' if what.ndim else 'value'
    one = record(folder / 'one.pfd', values(*numbers))
    found = compared(one, record(folder / 'two.pfd', after))
    assert (place(found, one), found.first.kind, found.later) == (edited, expected, ())


@pytest.mark.parametrize(('edit', 'kind', 'texts'), [
    (('print', 'other'), 'print', ('seen\n', 'other\n')), (('raise', 'broken'), 'exception', ('', 'ValueError: broken')),
    (('warn', 'careful'), 'print', ('seen\n', ''))])
def test_prints_exceptions_and_warnings(tmp_path: Path, edit: Step, kind: str, texts: tuple[str, str]) -> None:
    one = record(tmp_path / 'one.pfd', [('print', 'seen'), *values(1)])
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        two = record(tmp_path / 'two.pfd', [edit, *values(1)])
    found = compared(one, two)
    assert (found.first.kind, place(found, one), found.first.texts) == (kind, 0, texts)
    assert compared(one, two, Rules(frozenset({'print', 'warning', 'exception'}))).same


def test_a_call_that_one_side_has_more_of_is_named_at_its_time(tmp_path: Path) -> None:
    def program(path: Path, *order: tuple[str, float]) -> Path:
        with pyfuncdbg.record(path):
            for name, number in order:
                tf.numpy_function(lambda x: x * 2, [np.float32(number)], tf.float32, name=name)
        return path
    one = program(tmp_path / 'one.pfd', ('a', 1), ('b', 1), ('b', 2), ('a', 3))
    two = program(tmp_path / 'two.pfd', ('a', 1), ('b', 1), ('b', 7), ('b', 2), ('a', 4))
    found = compared(one, two)
    assert (found.first.kind, place(found, two), found.first.numbers[0]) == ('calls', 2, '')
    assert found.later == (('a', 'value', 1),)
    back = compared(two, one)
    assert (back.first.kind, place(back, two), back.first.numbers[1]) == ('calls', 2, '')


def test_a_difference_that_comes_in_is_told_from_one_that_begins_here(tmp_path: Path) -> None:
    def program(path: Path, number: float, factor: float) -> Path:
        g = tf.Graph()
        with g.as_default(), pyfuncdbg.record(path):
            x = tf.compat.v1.placeholder(tf.float32, [], name='x')
            first = tf.numpy_function(lambda v: np.float32(v * factor), [x], tf.float32, name='first')
            second = tf.numpy_function(lambda v: np.float32(v + 1), [first], tf.float32, name='second')
            with tf.compat.v1.Session(graph=g) as session:
                session.run(second, {x: number})
        return path
    one = program(tmp_path / 'one.pfd', 1, 2)
    found = compared(one, program(tmp_path / 'two.pfd', 1, 3))
    assert found.first is not None
    assert (found.first.label, found.first.inherited) == ('first[0]', False)
    assert sorted(found.later) == [('Session.run', 'value', 1), ('second', 'value', 1)]
    fed = compared(one, program(tmp_path / 'fed.pfd', 5, 2))
    assert fed.first is not None
    assert (fed.first.what, fed.first.label, fed.first.inherited, fed.first.tensors[0].texts) == (
        'run', 'Session.run', True, ('1.0', '5.0'))


def test_runs_and_calls_of_one_recording(tmp_path: Path) -> None:
    path = tmp_path / 'runs.pfd'
    g = tf.Graph()
    with g.as_default(), pyfuncdbg.record(path):
        x = tf.compat.v1.placeholder(tf.float32, [2], name='x')
        y = tf.numpy_function(lambda v: v * v, [x], tf.float32, name='square')
        with tf.compat.v1.Session(graph=g) as session:
            for number in (1, 1, 2):
                session.run(y, {x: [number, 3]})
    with Trace.open(path) as trace:
        numbers = [run.id for run in trace.runs() if run.kind == 'session']
        assert compare_runs(trace, (numbers[0], numbers[1]), Rules()).same
        found = compare_runs(trace, (numbers[1], numbers[2]), Rules())
        assert found.first is not None and found.first.label == 'Session.run'
        assert found.first.tensors[0].value.first == (0,)
        calls = trace.calls()
        assert compare_calls(calls[0], calls[1], Rules()).same
        other = compare_calls(calls[1], calls[2], Rules()).first
        assert [(one.side, one.texts) for one in other.tensors] == [('in', ('1.0', '2.0')), ('out', ('1.0', '4.0'))]


def test_what_was_not_kept_is_said_not_to_be_known(tmp_path: Path) -> None:
    def program(path: Path, number: float) -> Path:
        with pyfuncdbg.record(path, full_limit=0):
            tf.numpy_function(lambda x: x * number, [np.arange(64, dtype=np.float32)], tf.float32, name='f')
        return path
    one = program(tmp_path / 'one.pfd', 1)
    same = compared(one, program(tmp_path / 'two.pfd', 1))
    assert (same.same, same.unknown) == (True, 2)
    other = compared(one, program(tmp_path / 'three.pfd', 2))
    assert other.first is not None and other.first.tensors[0].texts == ('max 63.0', 'max 126.0')
    assert other.unknown == 1


def test_what_a_recording_lacks_is_said(tmp_path: Path) -> None:
    def program(path: Path, budget: int) -> Path:
        with pyfuncdbg.record(path, budget=budget):
            for number in range(2000):
                tf.numpy_function(lambda x: x, [np.full(64, number, np.float32)], tf.float32, name='f')
        return path
    one, two = program(tmp_path / 'one.pfd', 1 << 30), program(tmp_path / 'two.pfd', 1 << 16)
    with Trace.open(two) as trace:
        dropped = trace.info().dropped
    found = compared(one, two)
    assert found.gaps == (f'two: {dropped["calls"]:,} calls did not fit into its budget',) and found.first.kind == 'calls'
    assert compared(one, one).gaps == ()
    log = next(one.glob('*.log'))
    log.write_bytes(log.read_bytes()[:-40])
    gap, = compared(two, one).gaps[1:]
    assert gap.startswith(f'two: damaged: {log.name}: ')


KILLED = '''
import os
import sys
import numpy as np
from pyfuncdbg import tf

def step(x):
    print('step', x)
    if x == 2 and sys.argv[1] == 'killed':
        from pyfuncdbg.observers.record.recorder import recorders
        recorders()[0].flush()
        os.kill(os.getpid(), 9)
    return x * 2

for number in range(4):
    tf.numpy_function(step, [np.int32(number)], tf.int32, name='step')
'''


def test_a_call_that_did_not_end_is_told_from_one_with_another_value(tmp_path: Path) -> None:
    (tmp_path / 'train.py').write_text(KILLED)
    whole, killed, again = (tmp_path / f'{name}.pfd' for name in ('whole', 'killed', 'again'))
    for path, argument in ((whole, 'whole'), (killed, 'killed'), (again, 'killed')):
        subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', '-q', '--record', path.name, 'train.py', argument],
                       cwd=tmp_path,
                       env={'PYTHONPATH': str(ROOT), 'PATH': '/usr/bin:/bin'}, capture_output=True, check=False)
    rules = Rules(frozenset({'environment'}))
    found = compared(whole, killed, rules)
    assert found.first is not None
    assert (found.first.kind, found.first.label, found.first.numbers, found.first.texts, found.first.tensors) == (
        'unfinished', 'step[2]', ('3', '3'), ('returned', ''), ())
    assert found.later == (('step', 'calls', 1),)
    assert compared(killed, whole, rules).first.texts == ('', 'returned')
    assert compared(killed, again, rules).same
    assert compared(whole, killed, Rules(frozenset({'environment', 'unfinished', 'calls'}))).same


def test_versions_machine_and_settings_are_kept_and_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = record(tmp_path / 'one.pfd', values(1))
    monkeypatch.setattr(np, '__version__', '9.9.9')
    monkeypatch.setenv('OMP_NUM_THREADS', '3')
    two = record(tmp_path / 'two.pfd', values(1))
    monkeypatch.undo()
    with Trace.open(one) as trace:
        info = trace.info()
        assert info.versions == {'pyfuncdbg': pyfuncdbg.__version__, 'NumPy': np.__version__}
        assert f'{os.uname().sysname} {os.uname().machine}' in info.machine and 'OMP_NUM_THREADS' not in info.settings
    with Trace.open(two) as trace:
        assert trace.info().settings['OMP_NUM_THREADS'] == '3'
    found = compared(one, two)
    assert (found.first, found.versions) == (None, (('NumPy', np.__version__, '9.9.9'),))
    assert found.environment == (('OMP_NUM_THREADS', 'not set', '3'),) and not found.same
    assert compared(one, two, Rules(frozenset({'versions', 'environment'}))).same


def test_an_earlier_trace_does_not_say_its_versions(tmp_path: Path) -> None:
    write_trace(tmp_path / 'old.pfd', ())
    one = record(tmp_path / 'one.pfd', ())
    found = compared(one, tmp_path / 'old.pfd', Rules(frozenset({'environment'})))
    assert [row[0] for row in found.versions] == ['Python']
    gap, = found.gaps
    assert gap == 'two: its versions of libraries are not known: it was recorded by an earlier version of pyfuncdbg'


PROGRAM = '''
import sys
import numpy as np
if sys.argv[1] == 'own':
    from pyfuncdbg import tf
else:
    import tensorflow as tf
tf1 = tf.compat.v1

def norm(x):
    return (x / FACTOR).astype(np.float32)

g = tf.Graph()
with g.as_default():
    x = tf1.placeholder(tf.float32, [3], name='x')
    y = tf1.py_func(norm, [x], tf.float32, name='norm')
with tf1.Session(graph=g) as session:
    for step in range(3):
        session.run(y, {x: np.arange(3, dtype=np.float32) + step})
'''


def run_program(folder: Path, name: str, host: str, edit: Callable[[str], str] = str) -> Path:
    (folder / name).mkdir()
    (folder / name / 'train.py').write_text(edit(PROGRAM.replace('FACTOR', '2')))
    subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', '--record', str(folder / f'{name}.pfd'), 'train.py', host],
                   cwd=folder / name, env={'PYTHONPATH': str(ROOT), 'PATH': '/usr/bin:/bin'}, capture_output=True,
                   check=True)
    return folder / f'{name}.pfd'


def test_a_changed_function_is_shown_with_what_it_changes(tmp_path: Path) -> None:
    one = run_program(tmp_path, 'one', 'own')
    found = compared(one, run_program(tmp_path, 'two', 'own', lambda text: text.replace('x / 2', 'x / 3')))
    assert found.first is not None
    assert (found.first.label, found.first.function, found.first.edited) == ('norm[0]', 'norm', True)
    (source,) = found.sources
    assert source.function == 'norm'
    assert [text.splitlines()[1].strip() for text in source.sources] == [
        'return (x / 2).astype(np.float32)', 'return (x / 3).astype(np.float32)']
    spaced = compared(one, run_program(tmp_path, 'three', 'own', lambda text: text.replace('x / 2', 'x/2')))
    assert spaced.first is None and len(spaced.sources) == 1 and not spaced.same
    assert compared(one, tmp_path / 'three.pfd', Rules(frozenset({'source'}))).same


@pytest.mark.tensorflow
def test_our_runtime_and_tensorflow_are_matched_by_node_and_function(tmp_path: Path) -> None:
    own, real = run_program(tmp_path, 'own', 'own'), run_program(tmp_path, 'real', 'tensorflow')
    found = compared(own, real)
    assert (found.first, found.calls, found.runs) == (None, 3, 3)
    assert [what for what, _, _ in found.environment] == ['arguments', 'host']
    with Trace.open(real) as trace:
        assert re.match(r'2\.\d+\.', trace.info().versions['tensorflow'])
    assert found.versions == ()                 # our runtime has no TensorFlow
    assert compared(own, real, Rules(frozenset({'environment'}))).same
    changed = compared(own, run_program(tmp_path, 'changed', 'tensorflow',
                                        lambda text: text.replace('x / 2', 'x / 2 + step')))
    assert changed.first is not None and changed.first.label == 'norm[1]' and changed.first.kind == 'value'


def test_times_beyond_noise(tmp_path: Path) -> None:
    path = record(tmp_path / 'one.pfd', values(*range(25)))
    with Trace.open(path) as trace:
        class Slow(Trace):
            """The same recording, in which each call took 0.02 s longer."""

            def groups(self, *args: Any, **kwargs: Any) -> tuple[GroupedCalls, GroupedCalls]:
                calls, runs = super().groups(*args, **kwargs)
                return replace(calls, duration=calls.duration + 20_000_000), runs
        with Slow.open(path) as slow:
            found = compare_traces(trace, slow, Rules(), ('one', 'two'))
            assert [(time.site, time.calls) for time in found.times] == [('act', (25, 25))]
            assert found.times[0].medians[1] == pytest.approx(found.times[0].medians[0] + 0.02)
            assert not found.same and compare_traces(trace, slow, Rules(frozenset({'time'})), ('one', 'two')).same


def test_damage_is_equal_to_itself_and_hides_no_other_difference(tmp_path: Path) -> None:
    one = record(tmp_path / 'one.pfd', [*values(1), ('print', 'seen'), ('raise', 'no')])
    assert compared(one, one).same
    two = record(tmp_path / 'two.pfd', [*values(1), ('print', 'seen'), ('raise', 'yes')])
    found = compared(one, two)
    assert (found.first.kind, found.first.texts, found.later) == ('exception', ('ValueError: no', 'ValueError: yes'), ())


def test_calls_of_several_threads_are_matched_whatever_their_order(tmp_path: Path) -> None:
    def program(path: Path, threads: int) -> Path:
        def share_of(share: int) -> None:
            for number in range(share, 64, threads):
                tf.numpy_function(lambda x: x * 2, [np.float32(number)], tf.float32, name='double')
        with pyfuncdbg.record(path):
            run_native([partial(share_of, share) for share in reversed(range(threads))])
        return path
    one, eight = program(tmp_path / 'one.pfd', 1), program(tmp_path / 'eight.pfd', 8)
    found = compared(one, eight, Rules(frozenset({'time'})))
    assert (found.first, found.calls) == (None, 64) and found.reordered > 0
    assert compared(eight, one, Rules(frozenset({'time'}))).same


def test_an_element_of_a_dataset_is_compared_with_the_same_element(tmp_path: Path) -> None:
    def program(path: Path, threads: int, factor: int) -> Path:
        def scale(x: np.ndarray) -> np.ndarray:
            return x * (factor if x == 17 else 2)
        with pyfuncdbg.record(path):
            data = tf.data.Dataset.range(32).map(lambda x: tf.numpy_function(scale, [x], tf.int64, name='scale'),
                                                 num_parallel_calls=threads)
            assert len(list(data)) == 32
        return path
    one = program(tmp_path / 'one.pfd', 1, 2)
    rules = Rules(frozenset({'time', 'source'}))
    assert compared(one, program(tmp_path / 'eight.pfd', 8, 2), rules).first is None
    found = compared(one, program(tmp_path / 'other.pfd', 8, 3), rules)
    assert found.first is not None
    assert (found.first.kind, found.first.tensors[0].texts) == ('value', ('34', '51'))
    assert [kind for site, kind, _ in found.later if site == 'scale'] == []


DRAWING = '''
import sys
import numpy as np
from pyfuncdbg import tf

seed, scale = int(sys.argv[1]), float(sys.argv[2])

def plain(x):
    return (x * scale).astype(np.float32)

def noisy(x):
    return (x + np.random.rand()).astype(np.float32)

for _ in range(3):
    tf.numpy_function(plain, [np.ones(2, np.float32)], tf.float32, name='plain')
np.random.seed(seed)
for _ in range(3):
    tf.numpy_function(noisy, [np.ones(2, np.float32)], tf.float32, name='noisy')
'''


def test_other_random_numbers_and_other_variables_are_named_as_the_cause(tmp_path: Path) -> None:
    (tmp_path / 'train.py').write_text(DRAWING)
    for name, *arguments in (('one', '1', '2'), ('again', '1', '2'), ('seed', '5', '2'), ('scale', '1', '3')):
        subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', '-q', '--record', f'{name}.pfd', 'train.py', *arguments],
                       cwd=tmp_path, env={'PYTHONPATH': str(ROOT), 'PATH': '/usr/bin:/bin'}, capture_output=True, check=True)
    rules, one = Rules(frozenset({'environment'})), tmp_path / 'one.pfd'
    assert compared(one, tmp_path / 'again.pfd', rules).same    # the state of `random`, which nothing draws from, is another
    seed = compared(one, tmp_path / 'seed.pfd', rules).first
    assert seed is not None
    assert (seed.kind, seed.label, seed.generators, seed.reads) == ('rng', 'noisy[0]', ('numpy.random',), ())
    assert compared(one, tmp_path / 'seed.pfd', Rules(frozenset({'environment', 'rng'}))).same
    scale = compared(one, tmp_path / 'scale.pfd', rules).first
    assert scale is not None
    assert (scale.kind, scale.label, scale.generators, scale.reads) == ('value', 'plain[0]', (), ('global scale 2.0 | 3.0',))
    lines = trace_difference_view(compared(one, tmp_path / 'seed.pfd', rules))
    console = Console(width=100, file=io.StringIO())
    console.print(lines)
    assert '  it drew other random numbers: another state of numpy.random\n' in console.file.getvalue()


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(st.integers(0, 19), st.sampled_from(['changed', 'dropped', 'added', 'printed', 'raised']),
                       max_size=4))
def test_random_edits_of_a_recording_are_found_exactly(tmp_path_factory: pytest.TempPathFactory,
                                                       edits: dict[int, str]) -> None:
    edits = {place: edit for place, edit in edits.items() if place - 1 not in edits}       # side by side some cannot be told
    folder = tmp_path_factory.mktemp('edits')

    def program(path: Path, changes: dict[int, str]) -> Path:
        def act(place: np.ndarray) -> np.ndarray:
            edit = changes.get(int(place))
            if edit == 'printed':
                print('edited')
            if edit == 'raised':
                raise ValueError('edited')
            return np.float32(place) + np.float32(edit == 'changed')

        with pyfuncdbg.record(path):
            for place in range(20):
                numbers = {'dropped': (), 'added': (100 + place, place)}.get(changes.get(place, ''), (place,))
                for number in numbers:
                    with contextlib.suppress(ValueError):
                        tf.numpy_function(act, [np.int32(number)], tf.float32, name='act')
        return path

    one, two = program(folder / 'one.pfd', {}), program(folder / 'two.pfd', edits)
    kinds = {'changed': 'value', 'dropped': 'calls', 'added': 'calls', 'printed': 'print', 'raised': 'exception'}
    found = compared(one, two, Rules(frozenset({'environment', 'time'})))
    numbers = Counter(kinds[edit] for edit in edits.values())
    if not edits:
        assert found.same
        return
    first = min(edits)
    assert found.first is not None and found.first.kind == kinds[edits[first]]
    with Trace.open(one) as trace:
        calls = [call.number for call in trace.calls()]
    assert found.first.numbers[0] == ('' if edits[first] == 'added' else calls[first])
    assert dict(Counter({kind: number for _, kind, number in found.later}) + Counter([found.first.kind])) == dict(numbers)
    assert compared(two, one, Rules(frozenset({'environment', 'time'}))).calls == found.calls


def test_prints_that_had_no_room_are_no_difference(tmp_path: Path) -> None:
    def program(path: Path, budget: int) -> Path:
        def say(x: np.ndarray) -> np.ndarray:
            print('told ' * 800)
            return x
        with pyfuncdbg.record(path, budget=budget):
            for number in range(60):
                tf.numpy_function(say, [np.float32(number)], tf.float32, name='f')
        return path
    one, two = program(tmp_path / 'one.pfd', 1 << 30), program(tmp_path / 'two.pfd', 1 << 16)
    with Trace.open(two) as trace:
        dropped = trace.info().dropped
        assert dropped['prints'] > 10 and trace.count() == 60 and 'calls' not in dropped
    found = compared(one, two)
    assert found.first is None and found.gaps == (f'two: {dropped["prints"]:,} prints did not fit into its budget',)
