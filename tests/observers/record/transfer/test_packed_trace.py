"""Packed traces: all is in the file, or nothing of what was to be removed; and nothing but a trace comes out of one."""
from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import shutil
import stat
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyfuncdbg.errors import NotATraceError, TraceError
from pyfuncdbg.observers.record.log import journal
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.observers.record.transfer import packed_trace
from pyfuncdbg.observers.record.transfer.packed_trace import pack_trace, unpack_trace
from pyfuncdbg.observers.record.transfer.redaction import Redaction
from pyfuncdbg.observers.record.transfer.trace_copy import copy_trace

sys.path.insert(0, str(Path(__file__).parents[1]))
from plain_host import new_run, wrapped

HOST, USER = 'nightly-runner-17', 'alice'
HERE = str(Path(__file__).parent)
PROGRAM = '''
import logging
def work(x, key='hunter2'):
    # the secret remark of the source
    print('open /home/alice/data/set.npz on nightly-runner-17')
    logging.warning('alice reads /home/alice/data')
    password = 'hunter2'
    if x.flat[0] == 3:
        raise FileNotFoundError('/home/alice/missing.txt')
    return [x * 1234.5, make(x)]
'''


@pytest.fixture(scope='module')
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of a program of another user, on another machine, whose values and text name both."""
    folder = tmp_path_factory.mktemp('original')
    path = folder / 'o.pfd'
    scope: dict[str, Any] = {'make': lambda x: np.array(
        [b'/home/alice/a.png', b'plainer', b'/home/alice/' + b'b' * 600 * int(x.flat[0])], object)}
    file = folder / 'home' / 'alice' / 'work.py'
    file.parent.mkdir(parents=True)
    file.write_text(PROGRAM)
    exec(compile(PROGRAM, str(file), 'exec'), scope)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal.socket, 'gethostname', lambda: HOST)
        patch.setattr(sys, 'argv', ['/home/alice/work.py', '--token', 'hunter2'])
        with Recorder(path, capture='only') as recorder:
            call, run = wrapped(scope['work'], 'layer/work', attrs={'directory': '/home/alice/out', 'size': 3}), new_run()
            for number in range(4):
                with contextlib.suppress(FileNotFoundError):
                    call(np.full(100, number + 0.25 if number < 3 else 3.0), run=run)
            recorder.note('stop', {'where': '/home/alice/work.py', 'on': HOST})
    return path


def packed(original: Path, folder: Path, **what: bool) -> Path:
    """Redacted, packed and unpacked."""
    copy_trace(original, folder / 'r.pfd', redaction=Redaction(**what))
    pack_trace(folder / 'r.pfd', folder / 'r.pfz')
    unpack_trace(folder / 'r.pfz', folder / 'u.pfd')
    return folder / 'u.pfd'


def all_bytes(path: Path) -> bytes:
    return b''.join(file.read_bytes() for file in sorted(path.iterdir()))


def test_what_is_unpacked_is_what_was_packed(original: Path, tmp_path: Path) -> None:
    assert pack_trace(original, tmp_path / 't.pfz') == (tmp_path / 't.pfz').stat().st_size
    unpack_trace(tmp_path / 't.pfz', tmp_path / 't.pfd')
    logs = {file.name: file.read_bytes() for file in original.iterdir() if file.name != 'ledger'}
    assert {file.name: file.read_bytes() for file in (tmp_path / 't.pfd').iterdir() if file.name != 'ledger'} == logs
    assert sorted(path.name for path in tmp_path.iterdir()) == ['t.pfd', 't.pfz']


def test_no_path_user_or_host_is_left(original: Path, tmp_path: Path) -> None:
    secrets = [b'/home', b'alice', HOST.encode(), HERE.encode(), str(original.parent).encode(), os.sep.encode() + b'tmp']
    before = all_bytes(original)
    assert all(secret in before for secret in secrets[:3])
    path = packed(original, tmp_path, paths=True)
    after = all_bytes(path)
    assert [secret for secret in secrets if secret in after] == []
    with zipfile.ZipFile(tmp_path / 'r.pfz') as archive:
        assert [secret for secret in secrets if secret in repr(archive.infolist()).encode()] == []
    with Trace.open(original) as trace, Trace.open(path) as copy:
        calls, kept = trace.calls(), copy.calls()
        assert [call.site.name for call in kept] == ['layer/work'] * 4
        assert [call.outputs[0].to_numpy().tolist() for call in kept[:3]] == [
            call.outputs[0].to_numpy().tolist() for call in calls[:3]]
        text = kept[2].outputs[1].to_numpy().tolist()
        assert text[1] == b'plainer' and text[0].endswith(b'/a.png') and text[2].endswith(b'b' * 600)
        assert kept[0].site.filename.endswith('/work.py') and not kept[0].site.filename.startswith('/')
        assert 'the secret remark' in kept[0].site.source
        assert kept[3].error is not None and kept[3].error.message.endswith('/missing.txt')
        assert kept[0].output[0].text.startswith('open folder')
        assert copy.info().host_name == 'host' and copy.info().damage == ()


def test_no_value_is_left(original: Path, tmp_path: Path) -> None:
    secrets = [b'hunter2', b'a.png', b'plainer', np.float64(0.25).tobytes(), np.float64(0.25 * 1234.5).tobytes(), b'open ',
               b'missing.txt']
    before = all_bytes(original)
    assert all(secret in before for secret in secrets)
    path = packed(original, tmp_path, values=True, source=True)
    after = all_bytes(path)
    assert [secret for secret in secrets if secret in after] == []
    with Trace.open(path) as copy:
        calls = copy.calls()
        assert [tensor.dtype for tensor in (*calls[0].inputs, *calls[0].outputs)] == ['float64', 'float64', 'string']
        assert calls[0].inputs[0].shape == (100,) and calls[0].inputs[0].level == 'none'
        assert calls[3].error is not None and calls[3].error.type == 'FileNotFoundError'
        assert [call.duration for call in calls] == [call.duration for call in Trace.open(original).calls()]


def test_no_source_is_left(original: Path, tmp_path: Path) -> None:
    assert b'the secret remark' in all_bytes(original)
    path = packed(original, tmp_path, source=True)
    after = all_bytes(path)
    assert b'the secret remark' not in after and b'raise FileNotFoundError' not in after
    with Trace.open(path) as copy:
        calls = copy.calls()
        assert calls[0].site.source == '' and calls[0].site.line > 0
        assert calls[2].outputs[0].to_numpy()[0] == 2.25 * 1234.5


def test_scalars_are_values(tmp_path: Path) -> None:
    call = wrapped(lambda x, y: [x, y])
    with Recorder(tmp_path / 'o.pfd'):
        for number in range(3):
            call(np.float64(1234.5 + number), np.ones(3))
    path = packed(tmp_path / 'o.pfd', tmp_path, values=True)
    assert np.float64(1234.5).tobytes() not in all_bytes(path)
    with Trace.open(path) as copy:
        assert [[tensor.shape for tensor in call.inputs] for call in copy.calls()] == [[(), (3,)]] * 3
        assert {tensor.note for call in copy.calls() for tensor in call.inputs} == {'value removed'}


def test_a_trace_that_is_being_recorded_is_not_packed(tmp_path: Path) -> None:
    with Recorder(tmp_path / 'o.pfd'), pytest.raises(TraceError, match='records there'):
        pack_trace(tmp_path / 'o.pfd', tmp_path / 'o.pfz')
    assert [path.name for path in tmp_path.iterdir()] == ['o.pfd']


def test_constant_values_are_packed_so_that_they_can_be_unpacked(tmp_path: Path) -> None:
    call = wrapped(lambda x: [x])
    with Recorder(tmp_path / 'o.pfd', level='full'):
        call(np.zeros(1_000_000))
    pack_trace(tmp_path / 'o.pfd', tmp_path / 'o.pfz')
    unpack_trace(tmp_path / 'o.pfz', tmp_path / 'u.pfd')
    with Trace.open(tmp_path / 'u.pfd') as trace:
        assert trace.calls()[0].inputs[0].to_numpy().shape == (1_000_000,)


# --- hostile files --------------------------------------------------------------------------------------------------

Member = tuple[str | zipfile.ZipInfo, bytes]


def members(original: Path) -> list[Member]:
    return [(path.name, path.read_bytes()) for path in sorted(original.iterdir()) if path.name != 'ledger']


def archive(path: Path, content: list[Member], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, 'w', compression) as file:
        for name, data in content:
            file.writestr(name, data)
    return path


def special(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


EXTRA: dict[str, Member] = {
    'absolute': ('/etc/cron.d/1-0001.log', b'x'), 'up': ('../1-0001.log', b'x'), 'inside': ('sub/1-0001.log', b'x'),
    'folder': ('sub/', b''), 'other': ('readme.txt', b'x'), 'ledger': ('ledger', b'x' * 16),
    'backslash': ('..\\1-0001.log', b'x'),
    'null': ('1-0001.log\0.txt', b'x'), 'digits': ('١-0001.log', b'x'),
    'link': (special('2-0002.log', stat.S_IFLNK | 0o777), b'/etc/passwd'),
    'fifo': (special('2-0002.log', stat.S_IFIFO | 0o600), b''), 'device': (special('2-0002.log', stat.S_IFCHR | 0o600), b''),
    'no log': ('2-0002.log', b'something else'), 'newer': ('2-0002.log', b'PFDLOG\r\n\xff\0\0\0\0\0\0\0')}


@pytest.mark.parametrize('name', EXTRA)
def test_what_belongs_to_no_trace_is_refused(name: str, original: Path, tmp_path: Path) -> None:
    path = archive(tmp_path / 'h.pfz', [*members(original), EXTRA[name]])
    with pytest.raises(NotATraceError, match='no packed trace') as raised:
        unpack_trace(path, tmp_path / 'h.pfd')
    assert '\n' not in str(raised.value)
    assert [left.name for left in tmp_path.iterdir()] == ['h.pfz']


def flipped(data: bytes, where: int) -> bytes:
    return data[:where] + bytes([data[where] ^ 255]) + data[where + 1:]


def doubled(original: Path) -> bytes:
    buffer = io.BytesIO()
    with pytest.warns(UserWarning), zipfile.ZipFile(buffer, 'w') as file:
        for name, data in [*members(original), members(original)[0]]:
            file.writestr(name, data)
    return buffer.getvalue()


def bomb(original: Path) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, 'w', zipfile.ZIP_DEFLATED) as file:
        for name, data in members(original):
            file.writestr(name, data)
        file.writestr('2-0002.log', bytes(200 << 20))
    return buffer.getvalue()


def lying(original: Path, factor: int) -> bytes:
    """A member whose size is said to be another than it is, in both headers."""
    data = members(original)[0][1]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, 'w', zipfile.ZIP_DEFLATED) as file:
        for member in members(original):
            file.writestr(*member)
    size = len(data)
    return buffer.getvalue().replace(size.to_bytes(4, 'little'), (size * factor // 2).to_bytes(4, 'little'))


def without_manifest(original: Path) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, 'w') as file:
        for name, data in members(original):
            if name != 'manifest.json':
                file.writestr(name, data)
    return buffer.getvalue()


def newer_manifest(original: Path) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, 'w') as file:
        for name, data in members(original):
            file.writestr(name, json.dumps({**json.loads(data), 'version': 999}) if name == 'manifest.json' else data)
    return buffer.getvalue()


HOSTILE: dict[str, Callable[[Path, bytes], bytes]] = {
    'empty': lambda original, good: b'', 'text': lambda original, good: b'hello' * 100,
    'cut off': lambda original, good: good[:len(good) // 2], 'cut at the end': lambda original, good: good[:-5],
    'a wrong checksum': lambda original, good: flipped(good, good.index(b'.log') + 200),
    'twice': lambda original, good: doubled(original), 'a bomb': lambda original, good: bomb(original),
    'smaller than said': lambda original, good: lying(original, 4),
    'larger than said': lambda original, good: lying(original, 1),
    'no manifest': lambda original, good: without_manifest(original),
    'a newer manifest': lambda original, good: newer_manifest(original)}


@pytest.mark.parametrize('name', HOSTILE)
def test_a_file_that_is_not_what_it_says_is_refused(name: str, original: Path, tmp_path: Path) -> None:
    good = archive(tmp_path / 'good.pfz', members(original)).read_bytes()
    (tmp_path / 'good.pfz').unlink()
    (tmp_path / 'h.pfz').write_bytes(HOSTILE[name](original, good))
    with pytest.raises(TraceError) as raised:
        unpack_trace(tmp_path / 'h.pfz', tmp_path / 'h.pfd')
    assert '\n' not in str(raised.value) and str(raised.value).startswith(str(tmp_path / 'h.pfz'))
    assert [left.name for left in tmp_path.iterdir()] == ['h.pfz']


def test_every_byte_that_is_changed_is_noticed_or_harmless(original: Path, tmp_path: Path) -> None:
    """A trace comes out whole and the same, or not at all; what headers say beside the content may differ."""
    good = archive(tmp_path / 'good.pfz', members(original)).read_bytes()
    expected = {path.name: path.read_bytes() for path in original.iterdir() if path.name != 'ledger'}
    for where in range(0, len(good), max(len(good) // 150, 1)):
        (tmp_path / 'h.pfz').write_bytes(flipped(good, where))
        try:
            unpack_trace(tmp_path / 'h.pfz', tmp_path / 'h.pfd')
        except TraceError:
            assert not (tmp_path / 'h.pfd').exists()
        else:
            found = {path.name: path.read_bytes() for path in (tmp_path / 'h.pfd').iterdir() if path.name != 'ledger'}
            assert sorted(found.values()) == sorted(expected.values())
            shutil.rmtree(tmp_path / 'h.pfd')
    assert sorted(path.name for path in tmp_path.iterdir()) == ['good.pfz', 'h.pfz']


def test_a_disk_without_room_is_noticed_before(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack_trace(original, tmp_path / 't.pfz')
    monkeypatch.setattr(packed_trace.shutil, 'disk_usage', lambda folder: type('Usage', (), {'free': 1000}))
    with pytest.raises(TraceError, match='has 1,000 free'):
        unpack_trace(tmp_path / 't.pfz', tmp_path / 't.pfd')
    assert [path.name for path in tmp_path.iterdir()] == ['t.pfz']


def test_a_place_that_is_taken_is_left_alone(original: Path, tmp_path: Path) -> None:
    pack_trace(original, tmp_path / 't.pfz')
    with pytest.raises(TraceError, match='exists already'):
        pack_trace(original, tmp_path / 't.pfz')
    (tmp_path / 't.pfd').symlink_to('nowhere')
    with pytest.raises(TraceError, match='exists already'):
        unpack_trace(tmp_path / 't.pfz', tmp_path / 't.pfd')
    assert sorted(path.name for path in tmp_path.iterdir()) == ['t.pfd', 't.pfz']


def test_a_link_in_a_trace_is_not_followed(original: Path, tmp_path: Path) -> None:
    shutil.copytree(original, tmp_path / 'o.pfd')
    (tmp_path / 'o.pfd' / '99-0099.log').symlink_to('/etc/hostname')
    with pytest.raises(TraceError):
        pack_trace(tmp_path / 'o.pfd', tmp_path / 'o.pfz')
    assert [path.name for path in tmp_path.iterdir()] == ['o.pfd']


logging.getLogger().setLevel(logging.WARNING)
