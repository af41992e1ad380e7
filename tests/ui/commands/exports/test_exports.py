"""Files that `export` writes, read as the programs read them that they are for."""
from __future__ import annotations

import csv
import json
import threading
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.commands.exports import exported_calls
from pyfuncdbg.ui.commands.exports.call_csv import write_call_csv


def half(x):
    return x / 2


def outer(x):
    return tf.numpy_function(half, [x], tf.float32, name='inner').numpy() + 1


def fail(x):
    raise ValueError('=no "luck", today')


@pytest.fixture(scope='module')
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording with a call in a call, one on another thread, one that raised, strings, a NaN, a gradient and a run."""
    folder = tmp_path_factory.mktemp('export')
    g = tf.Graph()
    with g.as_default():
        fed = tf.compat.v1.placeholder(tf.float32, [2], name='fed')
        doubled = tf.numpy_function(half, [fed], tf.float32, name='graph')
    with pyfuncdbg.record(folder / 'kinds.pfd'):
        tf.numpy_function(outer, [np.array([1, 2], np.float32)], tf.float32, name='outer')
        thread = threading.Thread(target=tf.numpy_function, args=(half, [np.float32(np.nan)], tf.float32))
        thread.start()
        thread.join()
        with pytest.raises(ValueError, match='luck'):
            tf.numpy_function(fail, [np.float32(1)], tf.float32, name='fail')
        tf.numpy_function(lambda text: text, [np.array([b'a', b'bc'], object)], tf.string, name='text')
        with tf.compat.v1.Session(graph=g) as session:
            session.run(doubled, {fed: [4, 6]})
        with tf.GradientTape() as tape:
            x = tf.constant(3.0)
            tape.watch(x)
            y = 2. * tf.py_function(lambda v: v * v, [x], tf.float32, name='square')
        assert tape.gradient(y, x).numpy() == 12
    return folder / 'kinds.pfd'


def export(path: Path, line: str) -> object:
    with Trace.open(path) as trace:
        return execute(f'export {line}', Context(trace)).result


def test_the_timeline_nests_by_thread_and_links_gradients(path: Path, tmp_path: Path) -> None:
    result = export(path, f'chrome -o {tmp_path}/t.json')
    events = json.loads((tmp_path / 't.json').read_text())['traceEvents']
    with Trace.open(path) as trace:
        calls, runs = {f'#{call.number}': call for call in trace.calls()}, trace.runs()
    spans = [event for event in events if event['ph'] == 'X']
    assert sorted(span['args']['call'] for span in spans) == sorted(calls) and result.calls == len(calls)
    threads = defaultdict(list)
    for span in spans:
        assert span['ts'] == pytest.approx(calls[span['args']['call']].started * 1e6)
        threads[span['pid'], span['tid']].append((span['ts'], span['ts'] + span['dur'], span['name']))
    assert len(threads) == 2
    for of_thread in threads.values():          # what Perfetto needs: any two are one in the other, or apart
        for one in of_thread:
            for two in of_thread:
                assert one is two or one[1] <= two[0] or two[1] <= one[0] or (one[0] <= two[0] and two[1] <= one[1]) \
                    or (two[0] <= one[0] and one[1] <= two[1]), (one, two)
    inner, = (span for span in spans if span['name'].startswith('inner'))
    around, = (span for span in spans if span['name'].startswith('outer'))
    assert around['ts'] <= inner['ts'] and inner['ts'] + inner['dur'] <= around['ts'] + around['dur']
    named = {(event['pid'], event['tid']) for event in events if event['name'] == 'thread_name'}
    assert named == set(threads)
    assert arrows(events, 'gradient') == {(call.forward, call.number) for call in calls.values() if call.forward} != set()
    sources = {(source, call.number) for call in calls.values() for source in call.sources}
    assert arrows(events, 'backward') == sources != set()
    begun = [event for event in events if event['ph'] == 'b']
    assert {event['id'] for event in begun} == {f'{run.process}.{run.id}' for run in runs if run.kind != 'eager'}
    assert [event['args']['status'] for event in spans if event['name'].startswith('fail')] == ['error']


def arrows(events: list[dict[str, Any]], kind: str) -> set[tuple[str, str]]:
    """The calls that arrows of a kind go from and to, by the bars at their ends."""
    bars = {(event['pid'], event['tid'], event['ts']): event['args']['call'].removeprefix('#')
            for event in events if event['ph'] == 'X'}
    ends: dict[str, dict[str, Any]] = defaultdict(dict)
    for event in events:
        if event['ph'] in 'sf' and event['cat'] == kind:
            ends[event['id']][event['ph']] = event
    assert all(set(both) == set('sf') and both['s']['ts'] <= both['f']['ts'] for both in ends.values())
    return {(bars[where(both['s'])], bars[where(both['f'])]) for both in ends.values()}


def where(event: dict[str, Any]) -> tuple[int, int, float]:
    return event['pid'], event['tid'], event['ts']


# By phase the fields that an event has beside `ph`, `pid` and `tid`, and those that it may have (Trace Event Format, 2016).
PHASES = {'X': ('name cat ts dur', 'args cname'), 'M': ('name args', ''), 'b': ('name cat ts id', 'args'),
          'e': ('name cat ts id', 'args'), 's': ('name cat ts id', ''), 'f': ('name cat ts id bp', '')}
TYPES = {'name': str, 'cat': str, 'ph': str, 'pid': int, 'tid': int, 'ts': (int, float), 'dur': (int, float), 'id': str,
         'args': dict, 'cname': str, 'bp': str}
METADATA = {'process_name', 'thread_name'}


def test_the_timeline_keeps_to_the_format(path: Path, tmp_path: Path) -> None:
    with pyfuncdbg.record(tmp_path / 'ops.pfd', ops=True), tf.Graph().as_default(), tf.compat.v1.Session() as session:
        fed = tf.compat.v1.placeholder(tf.float32, [2], name='fed')
        session.run(tf.numpy_function(half, [tf.square(fed, name='squared')], tf.float32, name='halved'), {fed: [4, 6]})
    for trace in (path, tmp_path / 'ops.pfd'):
        export(trace, f'chrome -o {tmp_path}/{trace.stem}.json')
        whole = json.loads((tmp_path / f'{trace.stem}.json').read_text(), parse_constant=pytest.fail)
        assert set(whole) == {'displayTimeUnit', 'traceEvents'} and whole['displayTimeUnit'] in ('ms', 'ns')
        for event in whole['traceEvents']:
            needed, allowed = (set(names.split()) for names in PHASES[event['ph']])
            assert needed | {'ph', 'pid', 'tid'} <= set(event) <= needed | allowed | {'ph', 'pid', 'tid'}, event
            assert all(isinstance(value, TYPES[name]) for name, value in event.items()), event
            assert event['ph'] != 'M' or (event['name'] in METADATA and isinstance(event['args']['name'], str))
            assert event.get('bp', 'e') == 'e' and event.get('ts', 0) >= 0 and event.get('dur', 0) >= 0
    events = whole['traceEvents']
    labels = {event['args']['call'].removeprefix('#'): event['name'] for event in events if event['ph'] == 'X'}
    assert {(labels[tail], labels[head]) for tail, head in arrows(events, 'data')} >= {('squared[0]', 'halved[0]')}


def test_a_gradient_without_its_call_has_no_arrow(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(trace: Trace, number: str) -> None:
        raise CommandError(f'There is no call {number}')
    monkeypatch.setattr(Trace, 'call', lost)
    export(path, f'chrome -o {tmp_path}/t.json')
    events = json.loads((tmp_path / 't.json').read_text())['traceEvents']
    assert {event['cat'] for event in events if event['ph'] == 'X'} >= {'python', 'gradient'}
    assert not arrows(events, 'gradient')


def test_csv_has_a_line_for_each_call(path: Path, tmp_path: Path) -> None:
    export(path, f'csv -o {tmp_path}/t.csv')
    with (tmp_path / 't.csv').open(newline='') as file:
        rows = list(csv.DictReader(file))
    with Trace.open(path) as trace:
        calls = trace.calls()
    assert [(row['call'], float(row['started'])) for row in rows] == [
        (call.number, pytest.approx(call.started, abs=1e-9)) for call in calls]
    failed, = (row for row in rows if row['site'] == 'fail')
    assert (failed['status'], failed['error'], failed['function']) == ('error', 'ValueError: =no "luck", today', 'fail')
    assert [row['bad_elements'] for row in rows if row['status'] == 'nan'] == ['2']
    assert next(row for row in rows if row['site'] == 'outer')['inputs'] == 'float32[2]'


def test_a_text_is_no_formula(tmp_path: Path) -> None:
    with pyfuncdbg.record(tmp_path / 'f.pfd'):
        tf.numpy_function(half, [np.float32(1)], tf.float32, name='plain')
    with Trace.open(tmp_path / 'f.pfd') as trace, (tmp_path / 'f.csv').open('w', newline='') as file:
        call, = trace.calls()
        hostile = replace(call, site=replace(call.site, name='=HYPERLINK("http://x")', function='@SUM(A1)'))
        write_call_csv(exported_calls.ExportedCalls(trace, (hostile,)), file)
    with (tmp_path / 'f.csv').open(newline='') as file:
        row, = csv.DictReader(file)
    assert (row['site'], row['function']) == ('\'=HYPERLINK("http://x")', "'@SUM(A1)")


def test_json_has_calls_with_their_values(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exported_calls, '_PAGE', 2)
    export(path, f'json -o {tmp_path}/t.json')
    export(path, f'jsonl -o {tmp_path}/t.jsonl')
    whole = json.loads((tmp_path / 't.json').read_text())
    lines = [json.loads(line) for line in (tmp_path / 't.jsonl').read_text().splitlines()]
    assert whole['calls'] == lines and whole['info']['calls'] > 0
    with Trace.open(path) as trace:
        assert [line['number'] for line in lines] == [call.number for call in trace.calls()]
    by_site = {line['site']['name']: line for line in lines}
    assert by_site['outer']['outputs'][0]['values'] == [1.5, 2.0]
    assert by_site['text']['inputs'][0]['values'] == ['a', 'bc']
    assert by_site['fail']['error']['type'] == 'ValueError'
    assert 'NaN' in [line['outputs'][0]['values'] for line in lines if line['outputs']]


def test_npz_has_values_that_numpy_reads(path: Path, tmp_path: Path) -> None:
    result = export(path, f'npz -o {tmp_path}/t.npz')
    with Trace.open(path) as trace, np.load(tmp_path / 't.npz', allow_pickle=False) as archive:
        calls = trace.calls()
        expected = {f'{call.number}.{side}{slot}': tensor.to_numpy() for call in calls
                    for side, tensors in (('in', call.inputs), ('out', call.outputs))
                    for slot, tensor in enumerate(tensors) if not tensor.absent}
        assert result.missing == 0
        assert set(archive) == set(expected) and result.calls == len(expected)
        for name, array in expected.items():
            np.testing.assert_array_equal(archive[name], array.astype(np.bytes_) if array.dtype == object else array)
        one = next(call for call in calls if call.site.name == 'outer')
    result = export(path, f'npz {one.number} -o {tmp_path}/one.npz')
    with np.load(tmp_path / 'one.npz') as archive:
        assert sorted(archive) == ['in0', 'out0'] and archive['out0'].tolist() == [1.5, 2.0]


def test_what_was_not_kept_is_counted(tmp_path: Path) -> None:
    with pyfuncdbg.record(tmp_path / 'few.pfd', full_limit=0):
        tf.numpy_function(half, [np.zeros(64, np.float32)], tf.float32, name='f')
    result = export(tmp_path / 'few.pfd', f'npz -o {tmp_path}/few.npz')
    assert (result.calls, result.missing) == (0, 2)
    export(tmp_path / 'few.pfd', f'jsonl -o {tmp_path}/few.jsonl')
    assert json.loads((tmp_path / 'few.jsonl').read_text())['inputs'][0]['values'] is None


def test_a_file_is_never_replaced_and_never_left_in_part(path: Path, tmp_path: Path,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / 'there.csv'
    there.write_text('mine')
    with pytest.raises(CommandError, match=r"there\.csv' exists already: choose another name with -o"):
        export(path, f'csv -o {there}')
    assert there.read_text() == 'mine'
    with pytest.raises(CommandError, match=r"cannot write '.*nowhere/t\.csv': No such file or directory"):
        export(path, f'csv -o {tmp_path}/nowhere/t.csv')
    with pytest.raises(CommandError, match="'exel' is not a format: expected chrome, csv, "):
        export(path, 'exel')

    def interrupt(calls: object) -> None:
        raise KeyboardInterrupt
    monkeypatch.setattr(exported_calls.ExportedCalls, '__iter__', interrupt)
    with pytest.raises(KeyboardInterrupt):
        export(path, f'csv -o {tmp_path}/part.csv')
    assert not (tmp_path / 'part.csv').exists()
