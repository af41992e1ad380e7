"""Faults are judged from calls and facts of a trace: what is one, what is none, and the code that mends it."""
from __future__ import annotations

import ast
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyfuncdbg.hooks import chain
from pyfuncdbg.hooks.call import CallSite, Frame, Run
from pyfuncdbg.hooks.diagnosis import Finding
from pyfuncdbg.hooks.facts import Fact
from pyfuncdbg.hosts.tensorflow.doctor.doctor import DOCTOR
from pyfuncdbg.hosts.tensorflow.doctor.judges.lost_shapes import common_shape
from pyfuncdbg.hosts.tensorflow.doctor.statements.call_rewrite import as_py_function, as_stateless
from pyfuncdbg.hosts.tensorflow.doctor.statements.script_call import ScriptCall, script_call
from pyfuncdbg.observers.debug.diagnosis.diagnose import Diagnosis, diagnose
from pyfuncdbg.observers.debug.diagnosis.evidence import FactWriter, statement_at
from pyfuncdbg.observers.debug.diagnosis.gil_use import GilUse
from pyfuncdbg.observers.debug.diagnosis.graph_context_hook import GraphContextHook
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace

PROGRAM = '''\
import tensorflow as tf

for step in range(50):
    y = tf.py_function(square, [x, 2.0], tf.float32)
image = tf.numpy_function(
    load, [name], tf.float32)
def element(x):
    return tf.numpy_function(func=lambda v: v / 3.0, inp=(x,), Tout=tf.float32)
a, b = tf.py_function(pair, [x], [tf.float32, tf.int32])
dataset = dataset.map(element)
z = tf.numpy_function(right, [x], tf.float32)
'''


class PlainHost:
    """The part of a host that the recorder asks."""

    version = '1.2'
    variables = ()

    def __init__(self, name: str) -> None:
        self.name = name

    def to_numpy(self, value: Any) -> np.ndarray:
        return np.asarray(value)


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / 'program.py'
    path.write_text(PROGRAM)
    return str(path)


class Bench:
    """Makes calls and facts as the adapter does, under a recorder, and has them judged."""

    def __init__(self, folder: Path, filename: str) -> None:
        self.filename = filename
        self._path = folder / 'it.pfd'
        self._recorder = Recorder(self._path).start()
        self._facts: list[Fact] = []
        self._sites: list[CallSite] = []

    def site(self, function: Callable[..., Any], line: int, op_type: str = 'PyFunc', host: str = 'tensorflow',
             stack: Sequence[int] = (), **attrs: Any) -> CallSite:
        frames = [Frame(self.filename, number, 'f') for number in (*stack, line)]
        made = CallSite(attrs.pop('name', 'node'), op_type, 'python', PlainHost(host), function=function,  # type: ignore[arg-type]
                        stack=frames, outputs=['node:0'], attrs={'Tout': ['float32'], 'graph': 'f', **attrs})
        self._sites.append(made)
        return made

    def call(self, site: CallSite, *inputs: Any) -> Any:
        def outputs(*values: Any) -> Sequence[Any]:
            found = site.function(*values)  # type: ignore[misc]
            return found if isinstance(found, list) else [found]
        return chain.invoke(site, outputs, Run('test', site.host, 0), list(inputs))

    def asked(self, source: str, line: int, times: int, **attrs: Any) -> None:
        """The gradient of a source was asked for."""
        site = CallSite(f'{source}_grad', 'Variable', 'gradient', PlainHost('tensorflow'),  # type: ignore[arg-type]
                        attrs={'forward': source, 'source': True, 'asked': (self.filename, line), **attrs})
        for _ in range(times):
            chain.invoke(site, lambda *gradients: list(gradients), Run('test', site.host, 0), [None])

    def fact(self, kind: str, line: int = 0, site: CallSite | None = None, **data: Any) -> None:
        self._facts.append(Fact(kind, site.id if site is not None else 0, self.filename if line else '', line, data))

    def diagnosis(self) -> Diagnosis:
        FactWriter(self._recorder).write(self._facts, [site.stack for site in self._sites])
        self._recorder.stop()
        with Trace.open(self._path) as trace:
            return diagnose(trace, [DOCTOR])

    def findings(self) -> tuple[Finding, ...]:
        return self.diagnosis().findings


@pytest.fixture
def bench(tmp_path: Path, program: str) -> Bench:
    return Bench(tmp_path, program)


# ---------------------------------------------------------------- statements
@pytest.mark.parametrize(('line', 'targets', 'function', 'inputs', 'op'), [
    (4, ('y',), 'square', ('x', '2.0'), 'tf.py_function'), (6, ('image',), 'load', ('name',), 'tf.numpy_function'),
    (8, (), 'lambda v: v / 3.0', ('x',), 'tf.numpy_function'), (9, ('a', 'b'), 'pair', ('x',), 'tf.py_function')])
def test_a_statement_is_taken_apart(program: str, line: int, targets: tuple[str, ...], function: str,
                                    inputs: tuple[str, ...], op: str) -> None:
    call = script_call(statement_at(program, line))
    assert call is not None
    assert (call.targets, call.function, call.inputs, call.op) == (targets, function, inputs, op)
    assert call.statement.count(call.call) == 1 and call.unpacked == (len(targets) > 1)


def test_a_function_that_is_a_script_op_by_its_decorator() -> None:
    call = script_call('return load(path) * 2.0', 'load')
    assert call is not None and (call.call, call.inputs, call.op) == ('load(path)', ('path',), '')
    assert script_call('return load(path) * 2.0', 'save') is None


def test_the_head_alone_of_a_statement_with_a_body(program: str) -> None:
    assert statement_at(program, 3) == 'for step in range(50):'
    assert statement_at(program, 1000) == statement_at('no such file', 1) == ''


def test_nothing_is_parsed_in_the_program_and_what_cannot_be_read_is_no_obstacle(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / 'torn.py').write_text('y = tf.py_function(\n    f, [x],\n    # why\n    tf.float32)\nif y:\n    x = """torn')
    torn = str(tmp_path / 'torn.py')
    with monkeypatch.context() as patched:      # on Python 3.11 it would make the program's own fail on another thread
        patched.setattr(ast, 'parse', None)
        found = [statement_at(torn, line) for line in (2, 4, 5, 6)]
    call = 'y = tf.py_function(\n    f, [x],\n    # why\n    tf.float32)'
    assert found == [call, call, 'if y:', '']
    assert script_call('dataset = dataset.map(element)') is None and script_call('no python ((') is None


@pytest.mark.parametrize(('shapes', 'common'), [
    ([(2, 3), (5, 3)], (None, 3)), ([(2,)], (2,)), ([(), ()], ()), ([(2,), (2, 1)], None), ([], None)])
def test_the_shape_that_shapes_have_in_common(shapes: list[tuple[int, ...]], common: tuple[int | None, ...] | None) -> None:
    assert common_shape(shapes) == common


# ---------------------------------------------------------------- judges
def leak(bench: Bench, line: int = 4, **figures: Any) -> None:
    usual = {'op_type': 'EagerPyFunc', 'function': 'square', 'backward': False, 'entries': 50, 'calls': 50, 'arrays': 50,
             'bytes': 4_000, 'around': 1_000, 'whole': True, 'eager': 50, 'size': 60}
    bench.fact('leak', line, **usual | figures)


def test_a_leak_has_its_rate_and_the_call_without_the_op(bench: Bench) -> None:
    leak(bench)
    (found,) = bench.findings()
    assert (found.kind, found.place.line, found.fix) == ('leak', 4, 'y = square(x, 2.0)')
    assert found.figures == {'entries': 50, 'calls': 50, 'entries a call': 1.0, 'arrays held': 50, 'held bytes': 4000,
                             'growth a call, bytes': 100, 'total': 60}


def test_entries_from_threads_of_the_host_are_told_with_the_others_of_their_function(bench: Bench) -> None:
    graph = {'op_type': 'PyFunc', 'eager': 0, 'arrays': 0, 'bytes': 0}
    for line, function, entries in ((4, 'numbers', 12), (4, '', 24), (0, 'numbers', 11), (0, '', 22)):
        leak(bench, line, function=function, entries=entries, calls=entries, **graph)
    leak(bench, 0, function='another', entries=30, **graph)
    others, found = bench.findings()
    assert (found.site, found.place.line, found.figures['entries'], others.site) == ('numbers', 4, 69, 'another')


def test_a_few_entries_are_no_leak_unless_they_hold_much(bench: Bench) -> None:
    leak(bench, entries=9)
    leak(bench, 9, entries=1, bytes=1 << 20, function='large')
    assert [found.site for found in bench.findings()] == ['large']


def test_what_one_line_registers_is_one_leak(bench: Bench) -> None:
    """A dataset has functions of its own beside the program's generator."""
    leak(bench, entries=12, calls=15, eager=0, function='numbers')
    leak(bench, entries=24, calls=30, eager=0, function='')
    (found,) = bench.findings()
    assert (found.site, found.figures['entries'], found.figures['calls']) == ('numbers', 36, 15)
    assert 'the graph was made 15 times' in found.what


def test_the_newest_facts_stand(tmp_path: Path, program: str) -> None:
    with Recorder(tmp_path / 'it.pfd') as recorder:
        gatherer = FactWriter(recorder)
        for entries in (20, 40):
            gatherer.write([Fact('leak', 0, program, 4, {'entries': entries, 'calls': 40, 'eager': entries})], ())
    with Trace.open(tmp_path / 'it.pfd') as trace:
        found = diagnose(trace, [DOCTOR])
    assert [one.figures['entries'] for one in found.findings] == [40] and found.examined and not found.ended


def test_a_program_that_ended_without_its_framework(bench: Bench) -> None:
    bench.fact('ended', raised="ModuleNotFoundError: No module named 'tensorflow'")
    assert bench.diagnosis().missing == 'tensorflow'


@pytest.mark.parametrize(('attrs', 'lost'), [
    ({'shapes': [None], 'shapeless': 2, 'returns_shapeless': False}, True), ({'shapes': [[None, 3]]}, False),
    ({'shapes': [None], 'shapeless': 0, 'returns_shapeless': True}, False),
    ({'shapes': [None], 'shapeless': 0, 'returns_shapeless': True, 'graph': 'Dataset_map_f'}, True)])
def test_a_shape_is_lost_where_something_needs_it(bench: Bench, attrs: dict[str, Any], lost: bool) -> None:
    site = bench.site(lambda n: np.ones((n, 3), np.float32), 6, **attrs)
    for n in (2, 5):
        bench.call(site, n)
    found = bench.findings()
    assert [one.fix for one in found] == (['image.set_shape([None, 3])'] if lost else [])


def test_what_the_graph_says_later_counts(bench: Bench) -> None:
    """A dataset comes to call a function that was called before: read again after the second, fourth ... call."""
    said = [{'shapes': [None], 'shapeless': 0, 'returns_shapeless': True, 'elements_shapeless': asked == 1}
            for asked in range(3)]
    read: list[int] = []
    calls = 0

    def reader() -> dict[str, Any]:
        read.append(calls)
        return said[min(len(read), 3) - 1]
    site = bench.site(lambda n: np.ones((n, 3), np.float32), 6, _surroundings=reader)
    surroundings = GraphContextHook()
    surroundings.start()
    try:
        while calls < 9:
            calls += 1
            bench.call(site, 2)
    finally:
        surroundings.stop()
    (fact,) = surroundings.facts()
    assert read == [1, 2, 4, 8, 9] and fact.data == {**said[0], 'elements_shapeless': True}
    bench.fact(fact.kind, site=site, **fact.data)
    (found,) = bench.findings()
    assert found.fix == 'image.set_shape([2, 3])' and 'elements of the dataset' in found.what


def test_a_rank_that_varies_has_no_set_shape(bench: Bench) -> None:
    site = bench.site(lambda n: np.ones((1,) * n, np.float32), 6, shapes=[None], shapeless=1)
    for n in (1, 2):
        bench.call(site, n)
    (found,) = bench.findings()
    assert found.fix == '' and 'rank of output 0 differs' in found.what


def label_of(label: Any) -> Any:
    return np.float32(label == 'cat' or label in ('dog', 'bird'))


def decoded(label: Any) -> Any:
    label = label.decode()
    return np.float32(label == 'cat')


def number_of(label: Any) -> Any:
    return np.float32(label == 3)


def printed(label: Any) -> Any:
    return np.float32(str(label) == 'cat')


def formatted(label: Any) -> Any:
    label = f'{label}'
    return np.float32(label in ('cat', 'dog'))


def contained(label: Any) -> Any:
    return np.float32('cat' in str(label) or str(label) == "b'cat'")


@pytest.mark.parametrize(('function', 'value', 'told'), [
    (printed, b'cat', True), (formatted, b'cat', True), (contained, b'cat', False), (printed, 'cat', False),
    (label_of, b'cat', True), (label_of, 'cat', False), (decoded, b'cat', False), (number_of, b'cat', False)])
def test_bytes_compared_with_text(bench: Bench, function: Callable[[Any], Any], value: Any, told: bool) -> None:
    site = bench.site(function, 6)
    bench.call(site, value)
    bench.fact('occupancy', site=site, texts={'0': type(value).__name__}, calls=1)
    found = bench.findings()
    assert [one.fix for one in found] == ['label = label.decode()'] * told
    if told:
        compared = [label_of, printed].count(function) or 2
        assert found[0].place == (__file__, function.__code__.co_firstlineno + compared)  # type: ignore[attr-defined]


def test_what_tensorflow_refuses_after_the_function_has_returned(bench: Bench) -> None:
    third = bench.site(lambda v: v / 3.0, 8)
    bench.call(third, 4)
    pair = bench.site(lambda v: [v, v], 11)
    bench.call(pair, np.float32(1))
    dtype, outputs = bench.findings()
    assert (dtype.kind, dtype.figures['returned'], dtype.figures['declared']) == ('dtype', 'float64', 'float32')
    assert 'lambda v: np.asarray(v / 3.0, np.float32)' in dtype.fix
    assert (outputs.kind, outputs.figures['returned'], outputs.figures['declared']) == ('outputs', 2, 1)


def test_a_function_that_returns_nothing_where_nothing_is_declared(bench: Bench) -> None:
    bench.call(bench.site(lambda v: None, 8, Tout=[]), 4)
    bench.call(bench.site(lambda v: None, 11, name='none'), 4)
    (found,) = bench.findings()
    assert (found.kind, found.site, found.figures['declared']) == ('outputs', 'none', 1)


@pytest.mark.parametrize(('shapes', 'untrue', 'fix'), [
    ([[2, 3]], 1, 'image.set_shape([None, 3])'), ([[None, 3]], 0, ''), ([None], 0, ''), ([[None, 4]], 2,
     'image.set_shape([None, 3])'), ([[None]], 2, 'image.set_shape([None, 3])'), ('x', 0, ''), ([[-1, 'x']], 0, '')])
def test_a_shape_that_is_not_true(bench: Bench, shapes: Any, untrue: int, fix: str) -> None:
    site = bench.site(lambda n: np.ones((n, 3), np.float32), 6, shapes=shapes)
    for n in (2, 5):
        bench.call(site, n)
    found = bench.findings()
    assert [(one.kind, one.fix, one.figures['of another shape']) for one in found] == [
        ('untrue shape', fix, untrue)] * bool(untrue)


@pytest.mark.parametrize(('text', 'gradient', 'stateless'), [
    ('tf.numpy_function(f, [x], tf.int32)', 'tf.py_function(f, [x], tf.int32)',
     'tf.numpy_function(f, [x], tf.int32, stateful=False)'),
    ('tf1.py_func(f, [x], tf.int32, False, "é")', 'tf1.py_function(f, [x], tf.int32, "é")', ''),
    ('tf.numpy_function(\n    f,\n    [x],  # (it)\n    tf.int32,  # out\n    stateful=True)',
     'tf.py_function(\n    f,\n    [x],  # (it)\n    tf.int32)', ''),
    ('numpy_function(stateful=False, func=f, inp=[x], Tout=t)', 'tf.py_function(func=f, inp=[x], Tout=t)', ''),
    ('tf.py_function(\n    f,\n    [x],\n    t,  # out\n)', 'tf.py_function(\n    f,\n    [x],\n    t,  # out\n)',
     'tf.numpy_function(\n    f,\n    [x],\n    t, stateful=False,  # out\n)'),
    ('tf.py_function(f, [x], t, "it")', 'tf.py_function(f, [x], t, "it")',
     'tf.numpy_function(f, [x], t, name="it", stateful=False)'),
    ('py_func(py_func, [x], t)', 'tf.py_function(py_func, [x], t)', 'py_func(py_func, [x], t, stateful=False)'),
    ('load(x)', '', ''), ('tf.py_func(', '', '')])
def test_calls_are_rewritten_in_their_own_lines(text: str, gradient: str, stateless: str) -> None:
    call = ScriptCall(text, (), False, text, 'tf.py_func', 'f', ('x',), ())
    assert (as_py_function(call), as_stateless(call)) == (gradient, stateless)


def test_of_several_calls_in_a_statement_that_of_the_function() -> None:
    text = 'a, b = tf.py_func(f, [x], t), tf.py_func(self.g, [y], t)'
    assert [call and call.function for call in (script_call(text, name) for name in ('f', 'g', 'h', ''))] == [
        'f', 'self.g', None, None]
    text = 'a = tf.py_func(lambda v: v, [x], t) + tf.py_func(lambda v: 2, [x], t)'
    called = [script_call(text, '<lambda>', at, among) for at, among in ((0, 2), (1, 2), (-1, 2), (0, 1))]
    assert [call and call.function for call in called] == ['lambda v: v', 'lambda v: 2', None, None]


def test_lambdas_in_one_line_are_told_apart() -> None:
    watch = GilUse()
    watch.start()
    try:
        lambdas = [lambda v: [v], lambda v: [v, v], lambda v: [5]]
        stack = (Frame('model.py', 17, 'f'),)
        for function in lambdas:
            site = CallSite('node', 'PyFunc', 'python', PlainHost('plain'), function=function,  # type: ignore[arg-type]
                            stack=stack)
            chain.invoke(site, function, Run('test', site.host, 0), [1])
    finally:
        watch.stop()
    facts = list(watch.facts())
    columns = [fact.data['column'] for fact in facts if fact.kind == '<lambda>']
    assert len(columns) == 3 and 0 < columns[0] < columns[1] < columns[2]
    assert [fact.data['calls'] for fact in facts if fact.kind == 'occupancy'] == [1, 1, 1]


@pytest.mark.parametrize(('returned', 'declared', 'changed', 'told'), [
    ('float64', 'float32', {}, True), ('float32', 'float32', {}, False), ('int64', 'int32', {}, False),
    ('int64', 'int32', {'0': [3.0, 4e9]}, True), ('<int>', 'float32', {}, False),
    ('int32', 'float32', {'0': [0.0, 0.0]}, False)])
def test_silent_casts(bench: Bench, returned: str, declared: str, changed: dict[str, Any], told: bool) -> None:
    site = bench.site(np.float32, 4, 'EagerPyFunc', Tout=[declared])
    bench.call(site, 1)
    bench.fact('returned', site=site, form='one', dtypes=[returned], declared=[declared], calls=1, changed=changed)
    assert [one.kind for one in bench.findings()] == ['dtype'] * told


def writes(values: Any) -> Any:
    values[0] = 9
    return values


@pytest.mark.parametrize(('host', 'graph', 'told'), [('tensorflow', 'f', True), ('tensorflow', None, False),
                                                     ('pyfuncdbg', 'f', False)])
def test_writing_to_an_argument_matters_where_the_memory_is_shared(bench: Bench, host: str, graph: str | None,
                                                                   told: bool) -> None:
    site = bench.site(writes, 6, host=host, graph=graph)
    bench.call(site, np.zeros(3, np.float32))
    found = bench.findings()
    assert [(one.kind, one.fix) for one in found] == [('write', 'values = values.copy()')] * told


@pytest.mark.parametrize(('writes_alone', 'told'), [
    (True, [('writer', 'The function writes to its argument')]),
    (False, [('reader', "The function's argument 'x' is written to in 1 of 1 calls, by itself or by writer meanwhile"),
             ('writer', "The function's argument 'x' is written to in 1 of 1 calls, by itself or by reader meanwhile")])])
def test_who_writes_to_an_argument_that_two_functions_have_at_once(bench: Bench, writes_alone: bool,
                                                                   told: list[tuple[str, str]]) -> None:
    reading, wrote = threading.Event(), threading.Event()

    def reader(x: Any) -> Any:
        reading.set()
        assert wrote.wait(60)
        return x[:1]

    def writer(x: Any) -> Any:
        x += 1
        wrote.set()
        reads.join(60)                          # it ends first
        return x * 2

    shared = np.zeros(3, np.float32)
    sites = [bench.site(function, line, name=function.__name__) for function, line in ((reader, 6), (writer, 4))]
    reads = threading.Thread(target=bench.call, args=(sites[0], shared))
    reads.start()
    assert reading.wait(60)
    bench.call(sites[1], shared)
    reads.join()
    if writes_alone:
        bench.call(sites[1], shared)
    found = sorted((one.site, one.what) for one in bench.findings() if one.kind == 'write')
    assert len(found) == len(told) and all(
        site == name and what.startswith(start) for (site, what), (name, start) in zip(found, told, strict=True))


SECOND = 10**9


@pytest.mark.parametrize(('cpu', 'together', 'waited', 'told'), [
    (0.95, 4, 0, ['gil']), (0.5, 4, 5, ['gil']), (0.5, 4, 0, []), (1.9, 2, 0, []), (0.95, 1, 0, []),
    (0.02, 1, 0, ['serial'])])
def test_who_holds_the_gil_and_who_only_waits(bench: Bench, cpu: float, together: int, waited: int, told: list[str]) -> None:
    site = bench.site(np.float32, 6, stack=[10], graph='Dataset_map_element')
    for n in range(2):
        bench.call(site, n)
    bench.fact('occupancy', site=site, calls=2, cpu=int(cpu * SECOND), wall=2 * SECOND, busy=SECOND, together=together,
               span=SECOND, threads=2, asked=10, waited=waited * 10 * 10**6)
    diagnosis = bench.diagnosis()
    found = diagnosis.findings
    assert [one.kind for one in found] == told
    (use,) = diagnosis.uses
    assert (use.calls, use.most_at_once, use.cpu, use.share) == (2, together, pytest.approx(cpu), 1.0)
    assert (use.computing, use.waiting) == (pytest.approx(cpu), pytest.approx(2 - cpu))
    assert use.gil_wait == pytest.approx(waited / 1e3)
    fixes = {'gil': 'dataset = dataset.batch(32).map(element)',
             'serial': 'dataset = dataset.map(element, num_parallel_calls=tf.data.AUTOTUNE)'}
    assert [one.fix for one in found] == [fixes[kind] for kind in told]


def test_a_function_that_waits_for_another(bench: Bench) -> None:
    def slow(x: Any) -> Any:
        time.sleep(0.11)
        return np.float32(x)
    first = bench.site(slow, 6, name='left', token='pyfunc_0')
    bench.call(first, 1)
    other = bench.site(np.float32, 4, name='left', token='pyfunc_3')    # in another graph of the same name
    bench.call(other, 1)
    right = bench.site(slow, 11, name='right', token='pyfunc_1')
    bench.fact('surroundings', site=right, waits_for=['pyfunc_0'])
    bench.call(right, 1)
    bench.call(bench.site(np.float32, 9, name='quick', waits_for=['pyfunc_0']), 1)
    (found,) = bench.findings()
    assert (found.kind, found.site, found.place.line) == ('order', 'right', 11) and "'left' (line 6)" in found.what
    assert found.fix == 'z = tf.numpy_function(right, [x], tf.float32, stateful=False)'
    assert float(found.figures['could overlap, seconds']) >= 0.1


@pytest.mark.parametrize(('reason', 'fix'), [('numpy', 'y = tf.py_function(square, [x, 2.0], tf.float32)'),
                                             ('captured', 'y = tf.py_function(square, [x, 2.0, w], tf.float32)')])
def test_a_gradient_that_is_none(bench: Bench, reason: str, fix: str) -> None:
    culprit = reason, 'square', bench.filename, 4, 'w'
    bench.call(bench.site(np.float32, 4, 'EagerPyFunc'), 1)
    bench.asked('weight', 9, 3, dead='why', culprit=culprit)
    bench.asked('weight', 9, 1)
    bench.asked('weight', 10, 2)
    bench.asked('bias', 9, 2, dead='of something else', culprit=None)
    (found,) = bench.findings()
    assert (found.site, found.place, found.fix) == ('square', (bench.filename, 4), fix)
    assert "'weight' is None, in 3 of 4 gradients asked for at line 9" in found.what
    assert found.figures == {'None': 3, 'gradients': 4, 'source': 'weight'}


def test_the_end_of_the_program_inside_of_a_function(bench: Bench) -> None:
    site = bench.site(lambda code: sys.exit(code), 4, 'EagerPyFunc')
    with pytest.raises(SystemExit):
        bench.call(site, 3)
    (found,) = bench.findings()
    assert found.kind == 'lost' and found.calls and found.what.startswith('sys.exit inside of the function does not end')


def test_facts_that_are_none_are_no_findings(bench: Bench) -> None:
    """A trace may come from anywhere."""
    site = bench.site(np.float32, 4, shapes='x', shapeless='y', waits_for=3, graph=7)
    bench.call(site, 1)
    names = ('entries', 'bytes', 'calls', 'dtypes', 'declared', 'changed', 'form', 'texts', 'cpu', 'busy', 'span', 'asked')
    for value in ('x', -1, 1e300, None, [[]], {'a': 'b'}):
        for kind in ('leak', 'tape', 'export', 'missing', 'returned', 'occupancy', 'ended', 'tensorflow', 'surroundings',
                     'gradient asked', 'gradient lost'):
            bench.fact(kind, 4, site, **dict.fromkeys(names, value))
        bench.asked('weight', 9, 1, dead=value, culprit=value)
        bench.asked('weight', 9, 1, forward=value, asked=value, culprit=['numpy', 'f', value, value, 'w'])
    assert {found.kind for found in bench.findings()} <= {'gradient', 'export'}
