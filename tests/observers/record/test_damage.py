"""Damaged, truncated, newer, foreign and hostile traces: a clear error or a note of the damage, never a crash or a hang."""
from __future__ import annotations

import contextlib
import json
import os
import shutil
import struct
import subprocess
import sys
import time

import msgpack
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from plain_host import wrapped

from pyfuncdbg.errors import DroppedError, NotATraceError, TraceError, TraceVersionError
from pyfuncdbg.observers.record.dtypes import dtype_of
from pyfuncdbg.observers.record.log import log_file
from pyfuncdbg.observers.record.log.call_batch import Batch, decode_msgpack
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.sources.local_source import candidate
from pyfuncdbg.observers.record.trace import Trace


def make(path, calls=30):
    def double(x, y):
        print('x is', y)
        if y == 7:
            raise ValueError('seven')
        return [x * 2]
    call = wrapped(double)
    with Recorder(path) as recorder:
        for i in range(calls):
            with contextlib.suppress(ValueError):
                call(np.full(50, i), np.float32(i))
            if i % 10 == 9:
                recorder.flush()
    return path


@pytest.fixture(scope='module')
def sound(tmp_path_factory):
    return make(tmp_path_factory.mktemp('sound') / 't.pfd')


def log_of(path):
    (log,) = path.glob('*.log')
    return log


def copied(sound, tmp_path, name='copy.pfd'):
    target = tmp_path / name
    tmp_path.mkdir(exist_ok=True)
    shutil.copytree(sound, target, ignore=shutil.ignore_patterns('index*'))
    return target


def read_everything(path):
    """Use every query; TraceErrors are clear errors, all else is a failure of the test."""
    try:
        with Trace.open(path) as trace:
            info = trace.info()
            trace.sites(), trace.runs(), trace.notes(), trace.edges(), trace.count()
            for call in trace.calls(limit=1000):
                for tensor in (*call.inputs, *call.outputs):
                    with contextlib.suppress(DroppedError):
                        tensor.to_numpy()
            return info
    except TraceError:
        return None


def test_every_truncation_reads_up_to_the_last_whole_record(sound, tmp_path):
    whole = log_of(sound).read_bytes()
    counts = []
    for end in [*range(0, len(whole), 997), len(whole) - 1]:
        target = copied(sound, tmp_path, f'{end}.pfd')
        log_of(target).write_bytes(whole[:end])
        with Trace.open(target) as trace:
            info = trace.info()
            counts.append(info.calls)
            assert not info.complete
            for line in info.damage:
                assert log_of(target).name in line and 'byte' in line
            for call in trace.calls():
                assert call.error or np.array_equal(call.outputs[0].to_numpy(), np.full(50, 2 * call.ordinal))
    assert counts == sorted(counts) and counts[0] == 0 and counts[-1] == 30


def test_damage_names_file_and_byte(sound, tmp_path):
    target = copied(sound, tmp_path)
    log = log_of(target)
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 1
    log.write_bytes(data)
    with Trace.open(target) as trace:
        (line,) = trace.info().damage
        assert log.name in line and 'damaged' in line
        at = int(line.split('at byte ')[1].split()[0])
        assert 0 < at <= len(data) // 2
        assert 0 < trace.count() < 30
        assert len(trace.calls()) == trace.count()
        assert trace.info().damage == (line,), 'forgotten after calls were read'


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**9), edits=st.integers(1, 8), fix=st.booleans())
def test_mutated_logs(sound, tmp_path, seed, edits, fix):
    """Random bytes in a valid log; with `fix`, inside one record whose checksum is made right again."""
    rng = np.random.default_rng(seed)
    target = copied(sound, tmp_path, f'{time.perf_counter_ns()}.pfd')
    log = log_of(target)
    data = bytearray(log.read_bytes())
    reader = log_file.LogReader(log)
    places = list(reader.frames(0))
    reader.close()
    if fix:
        start, kind, _, position, length = places[rng.integers(len(places))]
        body = data[position:position + length]
        for _ in range(edits):
            body[rng.integers(len(body))] = rng.integers(256)
        data[start:position + length] = b''.join(log_file.frame(kind, bytes(body)))
    else:
        for _ in range(edits):
            data[rng.integers(len(data))] = rng.integers(256)
    log.write_bytes(data)
    read_everything(target)
    shutil.rmtree(target)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kind=st.integers(0, 12), content=st.recursive(
    st.none() | st.integers(-2**63, 2**64 - 1) | st.floats() | st.text(max_size=5) | st.binary(max_size=20),
    lambda inner: st.lists(inner, max_size=13) | st.dictionaries(st.text(max_size=3), inner, max_size=3), max_leaves=30))
def test_records_of_wrong_types(sound, tmp_path, kind, content):
    target = copied(sound, tmp_path, f'{time.perf_counter_ns()}.pfd')
    with open(log_of(target), 'ab') as log:
        log.write(b''.join(log_file.frame(kind, msgpack.packb(content))))
    info = read_everything(target)
    assert info is not None and info.calls >= 30
    shutil.rmtree(target)


@pytest.mark.parametrize('payload', [
    b'\x91' * 500_000, b'\xdd\xff\xff\xff\xff' * 1000, b'\xc6\xff\xff\xff\xff', b'\xdf\xff\xff\xff\xff',
    b'\xd6\xff\0\0\0\0', b''])
def test_hostile_msgpack(sound, tmp_path, payload):
    target = copied(sound, tmp_path)
    with open(log_of(target), 'ab') as log:
        for kind in range(1, 11):
            log.write(b''.join(log_file.frame(kind, payload)))
    info = read_everything(target)
    assert info.calls == 30 and info.damage
    for read in (decode_msgpack, Batch):
        with pytest.raises(ValueError):
            read(payload)


def test_huge_lengths(sound, tmp_path):
    target = copied(sound, tmp_path)
    with open(log_of(target), 'ab') as log:
        log.write(struct.pack('<IB3xQ', 0xffffffff, log_file.CALLS, 0) + b'x' * 100)
        log.truncate(3 << 30)                   # sparse
    began = time.monotonic()
    info = read_everything(target)
    assert info.calls == 30 and len(info.damage) == 1 and time.monotonic() - began < 20


@pytest.mark.parametrize('name', ['|O', '[("a", "|O")]', "[('a', '|O')]", '__import__("os")', "['a'", 'f4,f4', 'x' * 10_000,
                                  'object', "[('a', '<f4', (99999999999999999999,))]", "'|V0'"])
def test_hostile_type_names(name):
    with pytest.raises(ValueError, match='unknown element type'):
        dtype_of(name)


def test_newer_versions_are_refused_by_name(sound, tmp_path):
    target = copied(sound, tmp_path)
    manifest = json.loads((target / 'manifest.json').read_text())
    (target / 'manifest.json').write_text(json.dumps({**manifest, 'version': log_file.VERSION + 1}))
    known = log_file.VERSION
    with pytest.raises(TraceVersionError, match=rf'{target}: written by format version {known + 1}, .* reads up to {known}'):
        Trace.open(target)
    (target / 'manifest.json').write_text(json.dumps(manifest))
    with open(log_of(target), 'r+b') as log:
        log.write(log_file.MAGIC + struct.pack('<I', known + 1))
    with pytest.raises(TraceVersionError, match=rf'\.log: written by format version {known + 1}'):
        Trace.open(target)


def test_what_is_no_trace(sound, tmp_path):
    (tmp_path / 'empty').mkdir()
    (tmp_path / 'file').write_text('x')
    for name in ('missing', 'empty', 'file'):
        with pytest.raises(NotATraceError, match=name):
            Trace.open(tmp_path / name)
    target = copied(sound, tmp_path)
    ours = '{"format": "pyfuncdbg trace"'
    for text in ('', '[]', '{}', ours + '}', '[' * 50_000, ours + ', "version": "x"}',
                 f'{ours}, "version": 2, "id": "x", "created": 1, "budget": 1{"0" * 400}}}',
                 *[f'{ours}, "version": 2, "id": "x", "budget": 1, "created": {at}}}' for at in (
                     'NaN', 'Infinity', '-Infinity', '1e300', '-1')]):
        (target / 'manifest.json').write_text(text)
        with pytest.raises(NotATraceError, match=r'copy\.pfd'):
            Trace.open(target)
    good = copied(sound, tmp_path, 'second.pfd')
    log_of(good).write_bytes(b'something else entirely, long enough')
    with pytest.raises(NotATraceError, match='not a log'):
        Trace.open(good)


def test_links_and_pipes_are_not_followed(sound, tmp_path):
    target = copied(sound, tmp_path)
    log = log_of(target)
    log.rename(tmp_path / 'moved.log')
    log.symlink_to(tmp_path / 'moved.log')
    with pytest.raises(TraceError):
        Trace.open(target)
    log.unlink()
    os.mkfifo(log)
    with pytest.raises(TraceError, match='regular file'):
        Trace.open(target)
    log.unlink()
    shutil.copy(tmp_path / 'moved.log', log)
    with Trace.open(target) as trace:
        assert trace.count() == 30


def test_a_missing_blob_is_said(sound, tmp_path):
    target = copied(sound, tmp_path)
    log = log_of(target)
    data = bytearray(log.read_bytes())
    reader = log_file.LogReader(log)
    blob = next(found for found in reader.frames(0) if found.kind == log_file.BLOB)
    reader.close()
    body = bytearray(data[blob.position:blob.position + blob.length])
    body[-1] ^= 1
    data[blob.start:blob.position + blob.length] = b''.join(log_file.frame(log_file.BLOB, bytes(body)))
    log.write_bytes(data)
    with Trace.open(target) as trace:
        damaged = [t for c in trace.calls() for t in (*c.inputs, *c.outputs) if 'damaged' in t.note]
        assert damaged
        with pytest.raises(DroppedError, match='damaged'):
            damaged[0].to_numpy()


def everything(trace):
    return trace.info(), trace.sites(), trace.runs(), [(c.number, c.label, c.duration, [o.text for o in c.output])
                                                       for c in trace.calls()]


@pytest.mark.parametrize(('at', 'calls'), [('content', 3), ('key', 1), ('length', 1), ('kind', 1)])
@pytest.mark.parametrize('guarded', [True, False])
def test_bytes_of_a_large_blob_are_checked_when_they_are_read(tmp_path, guarded, at, calls):
    with Recorder(tmp_path / 't.pfd') as recorder:
        for i in range(3):
            wrapped(lambda x: [x.sum()], 'total')(np.full(2_000, i, np.float64))
            recorder.flush()
    log = log_of(tmp_path / 't.pfd')
    data, reader = bytearray(log.read_bytes()), log_file.LogReader(log)
    blobs = [found for found in reader.frames(0) if found.kind == log_file.BLOB and found.length > 16_000]
    if not guarded:                             # as logs were until version 5
        for blob in blobs:
            data[blob.start + 5:blob.start + 8] = bytes(3)
    second = blobs[1]
    data[{'content': second.position + 9_000, 'key': second.position + 3, 'length': second.start,
          'kind': second.start + 4}[at]] ^= 1 if at != 'kind' else log_file.BLOB ^ log_file.CALLS
    log.write_bytes(data)
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert trace.count() == (calls if guarded else 1) and bool(trace.info().damage) == (trace.count() < 3)
        recorded = trace.calls()
        assert recorded[0].inputs[0].to_numpy()[0] == 0.0
        if len(recorded) == 3:
            assert recorded[2].inputs[0].to_numpy()[0] == 2.0
            with pytest.raises(DroppedError, match='its bytes are damaged'):
                recorded[1].inputs[0].to_numpy()


def test_a_system_that_reads_a_part_at_once(tmp_path, monkeypatch):
    """As Linux does of a value of more than 2 GB."""
    with Recorder(tmp_path / 't.pfd') as recorder:
        for i in range(3):
            wrapped(lambda x: [x.sum()], 'total')(np.full(2_000, i, np.float64))
            recorder.flush()
    read = os.pread
    monkeypatch.setattr(os, 'pread', lambda file, length, at: read(file, min(length, 1_000), at))
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert [call.inputs[0].to_numpy().tolist() for call in trace.calls()] == [[i] * 2_000 for i in range(3)]
        assert not trace.info().damage


def test_a_log_read_step_by_step_equals_one_read_at_once(sound, tmp_path):
    whole = log_of(sound).read_bytes()
    target = copied(sound, tmp_path)
    log_of(target).write_bytes(whole[:log_file.HEADER_SIZE])
    with Trace.open(target) as growing:
        for end in range(log_file.HEADER_SIZE, len(whole) + 3000, 3000):
            log_of(target).write_bytes(whole[:end])
            growing.refresh()
        with Trace.open(copied(sound, tmp_path, 'fresh.pfd')) as trace:
            assert everything(growing)[1:] == everything(trace)[1:]


def test_a_log_that_becomes_shorter_is_read_anew(sound, tmp_path):
    target = copied(sound, tmp_path)
    with Trace.open(target) as trace:
        assert trace.count() == 30
        data = log_of(target).read_bytes()
        log_of(target).write_bytes(data[:len(data) * 3 // 4])
        trace.refresh()
        assert 0 < trace.count() < 30


@pytest.mark.parametrize('change', [lambda data: b'x' * len(data), lambda data: data[:40] + bytes(len(data) - 40)])
def test_a_log_that_changes_under_a_reader_is_said(sound, tmp_path, change):
    target = copied(sound, tmp_path)
    with Trace.open(target) as trace:
        numbers = [call.number for call in trace.calls()]
        log_of(target).write_bytes(change(log_of(target).read_bytes()))
        trace._reading.renew()                  # what it remembers of the log
        with contextlib.suppress(TraceError):
            assert trace.calls() == []
        assert len(numbers) == 30


def test_one_call_written_wrongly_does_not_hide_the_others(tmp_path):
    target = tmp_path / 't.pfd'
    call = wrapped(lambda x: [x * 2])
    with Recorder(target):
        call(np.array(['text'], object))        # its description is by itself
        for i in range(29):
            call(np.full(50, i))
    log = log_of(target)
    reader = log_file.LogReader(log)
    found = next(f for f in reader.frames(0) if f.kind == log_file.CALLS)
    reader.close()
    fields = msgpack.unpackb(found.payload, strict_map_key=False)
    fields[8][0][0] = 3.5                       # the type name of the first call's first tensor
    data = bytearray(log.read_bytes())
    data[found.start:found.position + found.length] = b''.join(log_file.frame(log_file.CALLS, msgpack.packb(fields)))
    log.write_bytes(data)
    with Trace.open(target) as trace:
        (damaged,) = [call for call in trace.calls() if call.dropped.get('damaged')]
        assert trace.count() == 30 and 'expected text, found float' in damaged.output[0].text
        assert damaged.duration > 0 and damaged.label == 'norm[0]'


def appended(sound, tmp_path, *records):
    """A copy of the trace with records at the end of its log."""
    target = copied(sound, tmp_path)
    with open(log_of(target), 'ab') as log:
        for kind, content in records:
            log.write(b''.join(log_file.frame(kind, content if isinstance(content, bytes) else msgpack.packb(content))))
    return target


def test_a_batch_whose_values_are_damaged_does_not_hide_the_others(sound, tmp_path):
    target = copied(sound, tmp_path)
    log = log_of(target)
    reader = log_file.LogReader(log)
    found = [f for f in reader.frames(0) if f.kind == log_file.CALLS][1]
    reader.close()
    fields = msgpack.unpackb(found.payload, strict_map_key=False)
    fields[4:] = [b'', b'', b'', [], [], [], [], [], []]
    data = bytearray(log.read_bytes())
    data[found.start:found.position + found.length] = b''.join(log_file.frame(log_file.CALLS, msgpack.packb(fields)))
    log.write_bytes(data)
    with Trace.open(target) as trace:
        calls = trace.calls()
        damaged = [call for call in calls if call.dropped.get('damaged')]
        assert len(calls) == 30 and 0 < len(damaged) < 30 and len(trace.sorted_calls().build() * [1]) == 30
        assert all('damaged' in call.output[0].text and call.duration > 0 for call in damaged)


def test_costs_that_are_none_do_not_count(sound, tmp_path):
    for number in (float('inf'), float('nan'), -1, 2**63, 'x', True):
        target = appended(sound, tmp_path / str(number), (log_file.NOTE, ['ops', 1, dict.fromkeys(
            ('calls', 'seconds', 'nbytes'), number)]))
        with Trace.open(target) as trace:
            cost = trace.info().op_cost
            assert cost is not None and cost.calls == (number is True)


def test_a_plan_is_decoded_once(sound, tmp_path):
    plan = [10**6, 'p', 'h', ['f'] * 5000, [], b'\0' * 8 * 5000]
    target = appended(sound, tmp_path, (log_file.PLAN, plan),
                      (log_file.RUNS, [[10**6 + n, 10**6, 10**9] for n in range(2000)]))
    with Trace.open(target) as trace:
        runs = [run for run in trace.runs() if run.id >= 10**6]
        assert len(runs) == 2000 and len(runs[0].sites) == 5000
        assert len({id(run.sites) for run in runs}) == 1


def test_many_damaged_records_in_many_logs_take_no_quadratic_time(sound, tmp_path):
    target = copied(sound, tmp_path)
    bad = b''.join(log_file.frame(log_file.SITE, b'\x05')) * 2_000
    header = log_of(target).read_bytes()[:log_file.HEADER_SIZE]
    for process in range(2, 102):
        (target / f'{process}-{process:04d}.log').write_bytes(header + bad)
    with Trace.open(target) as trace:           # quadratic work meets the deadline of the test
        assert len(trace.info().damage) == 2_000


def test_a_log_that_cannot_be_read_for_want_of_descriptors_is_damage(sound, tmp_path):
    target = copied(sound, tmp_path)
    header = log_of(target).read_bytes()[:log_file.HEADER_SIZE]
    for process in range(2, 200):
        (target / f'{process}-{process:04d}.log').write_bytes(header)
    done = subprocess.run([sys.executable, '-c', f'''
import resource, sys
sys.path[:0] = {[os.getcwd(), *filter(None, sys.path)]!r}
from pyfuncdbg.observers.record.trace import Trace
resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))
with Trace.open({str(target)!r}) as trace:
    print(trace.count(), any('open files' in line for line in trace.info().damage))
'''], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ('30 True\n', '')


def test_a_file_name_of_a_megabyte_is_not_resolved(monkeypatch):
    resolved = []
    monkeypatch.setattr(os.path, 'realpath', resolved.append)      # takes minutes for it
    assert candidate('/' + 'a/' * 500_000 + 'x.py') is None and not resolved


def test_several_readers_at_once(sound, tmp_path):
    target = copied(sound, tmp_path)
    code = ('import sys; sys.path[:0] = sys.argv[2:]\nfrom pyfuncdbg.observers.record.trace import Trace\n'
            'with Trace.open(sys.argv[1]) as trace: print(trace.count(), len(trace.calls()))')
    readers = [subprocess.Popen([sys.executable, '-c', code, target, *[p for p in sys.path if p], os.getcwd()], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
    assert [reader.communicate() for reader in readers] == [('30 30\n', '')] * 4
