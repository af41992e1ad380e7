"""The traces of a folder: listed, removed, and taken where none is named; and what a recording does where one is already."""
from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pexpect
import pytest

import pyfuncdbg
from pyfuncdbg.errors import NotATraceError, TraceError
from pyfuncdbg.observers.record.log.trace_folder import recording_process
from pyfuncdbg.observers.record.log.trace_folders import newest_in, remove_trace, traces_in

PROGRAM = """
import sys
import numpy as np
from pyfuncdbg import tf
mode = sys.argv[1]
def norm(x):
    if mode == 'raise':
        raise ValueError('no rows')
    with np.errstate(all='ignore'):
        return x / (x - x) if mode == 'nan' else x
tf.numpy_function(norm, [np.ones(2, np.float32)], tf.float32)
if mode == 'wait':
    print('waits', flush=True)
    sys.stdin.readline()
"""


def ours(folder: Path, *args: str, **options: object) -> subprocess.CompletedProcess[str]:
    """`pyfuncdbg ARGS` in a folder, without a terminal."""
    return subprocess.run([sys.executable, '-m', 'pyfuncdbg', *args], cwd=folder, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=100, check=False, **options)  # type: ignore[call-overload, no-any-return]


@pytest.fixture(scope='module')
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three traces: of a program that died, of one with NaN, and, the newest, of one that is well."""
    folder = tmp_path_factory.mktemp('traces')
    (folder / 'prog.py').write_text(PROGRAM)
    for mode in ('raise', 'nan', 'well'):
        ours(folder, 'run', '--record', f'{mode}.pfd', 'prog.py', mode)
    return folder


@pytest.fixture
def folder(recorded: Path, tmp_path: Path) -> Path:
    """A copy of it, with links, folders and files beside the traces."""
    copied = shutil.copytree(recorded, tmp_path / 'here')
    elsewhere = shutil.copytree(recorded / 'well.pfd', tmp_path / 'elsewhere.pfd')
    (copied / 'link.pfd').symlink_to(elsewhere)
    (copied / 'empty.pfd').mkdir()
    (copied / 'other.pfd').mkdir()
    (copied / 'other.pfd' / 'manifest.json').write_text('{"format": "another"}')
    (copied / 'file.pfd').write_text('x')
    return copied


def test_traces_lists_program_date_size_and_what_went_wrong(folder: Path) -> None:
    done = ours(folder, 'traces', env={**os.environ, 'COLUMNS': '150'})
    assert done.returncode == 0 and done.stderr == ''
    lines = done.stdout.splitlines()
    assert lines[0].startswith('3 traces in ')
    rows = {line.split()[0]: line for line in lines[3:]}
    assert list(rows) == ['well.pfd', 'nan.pfd', 'raise.pfd']
    assert 'prog.py well' in rows['well.pfd'] and 'no call raised, no NaN or Inf' in rows['well.pfd']
    assert 'NaN or Inf in 1 call' in rows['nan.pfd'] and 'raised' not in rows['nan.pfd']
    assert 'died of ' in rows['raise.pfd'] and '1 call raised' in rows['raise.pfd']
    found = json.loads(ours(folder, 'traces', '--json').stdout)['traces']
    assert [(one['path'], one['calls'], one['failed'], one['bad']) for one in found] == [
        ('well.pfd', 1, 0, 0), ('nan.pfd', 1, 0, 1), ('raise.pfd', 1, 1, 0)]
    for one in found:
        assert one['nbytes'] == sum(log.stat().st_size for log in (folder / one['path']).glob('*.log'))
        assert abs(one['created'] - time.time()) < 1_000


def test_a_trace_that_cannot_be_read_is_listed_with_why(folder: Path) -> None:
    manifest = folder / 'nan.pfd' / 'manifest.json'
    manifest.write_text(manifest.read_text().replace('"version": ', '"version": 9'))
    (log,) = (folder / 'raise.pfd').glob('*.log')
    os.truncate(log, log.stat().st_size - 3)
    found = {one['path']: one for one in json.loads(ours(folder, 'traces', '--json').stdout)['traces']}
    assert list(found) == ['well.pfd', 'raise.pfd', 'nan.pfd']
    assert 'newer' in found['nan.pfd']['damage'][0] and found['nan.pfd']['created'] is None
    assert 'in the middle of a record' in found['raise.pfd']['damage'][0]
    assert 'damaged' in ours(folder, 'traces').stdout


def test_clean_removes_traces_and_nothing_else(folder: Path) -> None:
    before = sorted(os.listdir(folder))
    done = ours(folder, 'clean')
    assert done.returncode == 1 and 'nothing removed: 3 traces, ' in done.stderr and '--yes' in done.stderr
    assert sorted(os.listdir(folder)) == before
    done = ours(folder, 'clean', '--keep', '1', '--yes')
    assert done.returncode == 0 and done.stdout.startswith('2 traces removed, ')
    assert sorted(os.listdir(folder)) == [name for name in before if name not in ('nan.pfd', 'raise.pfd')]
    assert ours(folder, 'clean', '--yes').stdout.startswith('1 trace removed, ')
    assert (folder.parent / 'elsewhere.pfd' / 'manifest.json').is_file() and (folder / 'link.pfd').is_symlink()
    assert ours(folder, 'clean', '--yes').stdout == 'no trace in this folder\n'


@pytest.mark.parametrize('made', ['file', 'folder', 'log that is a link', 'manifest that is a link'])
def test_a_folder_with_more_than_a_trace_in_it_stays_whole(folder: Path, made: str) -> None:
    trace, precious = folder / 'nan.pfd', folder / 'precious.txt'
    precious.write_text('mine')
    if made == 'file':
        (trace / 'notes.txt').write_text('mine')
    elif made == 'folder':
        (trace / '1-0009.log').mkdir()
    elif made == 'log that is a link':
        (trace / '1-0009.log').symlink_to(precious)
    else:
        (trace / 'manifest.json').rename(folder / 'away.json')
        (trace / 'manifest.json').symlink_to(folder / 'away.json')
    before = sorted(os.listdir(trace))
    done = ours(folder, 'clean', '--yes')
    assert '2 traces removed' in done.stdout
    if made != 'manifest that is a link':       # then it is no trace
        assert done.returncode == 1 and 'nan.pfd: left as it is: ' in done.stderr
    assert sorted(os.listdir(trace)) == before and precious.read_text() == 'mine'


def test_no_link_to_a_trace_is_removed_or_followed(folder: Path) -> None:
    for path in (folder / 'link.pfd', folder / 'file.pfd', folder / 'empty.pfd', folder / 'other.pfd', folder / 'none.pfd'):
        with pytest.raises(NotATraceError):
            remove_trace(path)
    assert (folder / 'link.pfd').is_symlink() and len(os.listdir(folder.parent / 'elsewhere.pfd')) == 4
    assert (folder / 'file.pfd').is_file() and (folder / 'empty.pfd').is_dir() and (folder / 'other.pfd').is_dir()


def test_what_is_being_recorded_stays_and_what_was_killed_goes(folder: Path) -> None:
    program = subprocess.Popen([sys.executable, '-m', 'pyfuncdbg', 'run', 'prog.py', 'wait'], cwd=folder,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert program.stdout is not None and program.stdout.readline() == b'waits\n'
        assert recording_process(folder / 'prog.pfd') == program.pid
        (first, *_) = json.loads(ours(folder, 'traces', '--json').stdout)['traces']
        assert (first['path'], first['recording']) == ('prog.pfd', program.pid)
        done = ours(folder, 'clean', '--yes')
        assert done.returncode == 1 and f'prog.pfd: left as it is: process {program.pid} records there' in done.stderr
        assert [path.name for path, _ in traces_in(folder)] == ['prog.pfd']
        program.send_signal(signal.SIGKILL)
    finally:
        program.kill()
        program.communicate()
    assert recording_process(folder / 'prog.pfd') == 0
    assert ours(folder, 'clean', '--yes').returncode == 0 and newest_in(folder) is None


def test_a_person_is_asked(folder: Path) -> None:
    for answer, left in (('n', 3), ('', 3), ('y', 0)):
        child = pexpect.spawn(sys.executable, ['-m', 'pyfuncdbg', 'clean'], cwd=str(folder), encoding='utf-8', timeout=60)
        child.expect(r'Remove 3 traces, .*B\? \[y/N\] ')
        child.sendline(answer)
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 0 and len(traces_in(folder)) == left


# ---------------------------------------------------------------- without a trace
def test_show_without_a_trace_takes_the_newest_and_says_which(folder: Path) -> None:
    for words in ([], ['calls'], ['--json'], ['call', '1']):
        done = ours(folder, 'show', *words)
        assert done.returncode == 0 and done.stderr == 'pyfuncdbg: well.pfd, the newest trace here\n', words
        assert done.stdout == ours(folder, 'show', 'well.pfd', *words).stdout and done.stdout
    done = ours(folder, 'open')
    assert done.returncode == 2 and done.stderr.startswith('pyfuncdbg: well.pfd, the newest trace here\n')


def test_a_folder_named_like_a_command_hides_none_and_a_trace_of_that_name_is_shown(folder: Path) -> None:
    (folder / 'calls').mkdir()
    assert ours(folder, 'show', 'calls').stderr == 'pyfuncdbg: well.pfd, the newest trace here\n'
    (folder / 'calls').rmdir()
    (folder / 'nan.pfd').rename(folder / 'calls')
    assert 'prog.py nan' in ours(folder, 'show', 'calls', 'info').stdout


@pytest.mark.parametrize(('words', 'said'), [
    (['show', 'wel.pfd'], "show: 'wel.pfd': no such file or folder, and no command of that name. Did you mean 'well.pfd'?"),
    (['show', 'cals'], "show: 'cals': no such file or folder, and no command of that name. Did you mean 'calls'?"),
    (['show', 'empty.pfd'], 'empty.pfd: not a trace; a trace is a folder with a manifest.json in it'),
    (['show', 'no/such.pfd', 'calls'], 'no/such.pfd: no such file or folder'),
    (['traces', 'nowhere'], 'nowhere: cannot be read: No such file or directory'),
    (['clean', '--keep', 'two'], "clean: --keep 'two' is not an integer from 0 on")])
def test_a_mistake_is_one_line(folder: Path, words: list[str], said: str) -> None:
    done = ours(folder, *words)
    assert (done.returncode, done.stdout, done.stderr) == (2, '', f'pyfuncdbg: {said}\n')


def test_where_there_is_no_trace_it_says_what_to_do(tmp_path: Path) -> None:
    for command in ('show', 'open'):
        done = ours(tmp_path, command)
        assert done.returncode == 2
        assert done.stderr == (f"pyfuncdbg: {command}: no trace in this folder; 'pyfuncdbg run SCRIPT' records one, "
                               f"'pyfuncdbg {command} TRACE' opens another one\n")
    assert ours(tmp_path, 'traces').stdout == 'no trace in this folder\n'


# ---------------------------------------------------------------- record(exist=...)
def test_a_recording_where_a_trace_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(TraceError, match=r'well\.pfd: already holds a trace'), pyfuncdbg.record('well.pfd'):
        pass
    for name in ('well-2.pfd', 'well-3.pfd'):
        with pyfuncdbg.record('well.pfd', exist='number') as recorder:
            pass
        assert recorder.path == folder / name
    with pyfuncdbg.record('v1.2', exist='number') as recorder, pyfuncdbg.record('v1.2', exist='number') as second:
        assert (recorder.path.name, second.path.name) == ('v1.2', 'v1.2-2')
    assert pyfuncdbg.load('well.pfd').count() == 1
    with pyfuncdbg.record('well.pfd', exist='replace') as recorder, \
            pytest.raises(TraceError, match=r'well\.pfd: left as it is: process \d+ records there'):
        pyfuncdbg.record('well.pfd', exist='replace').start()
    assert recorder.path == folder / 'well.pfd' and pyfuncdbg.load('well.pfd').count() == 0
    (folder / 'nan.pfd' / 'notes.txt').write_text('mine')
    with pytest.raises(TraceError, match=r'nan\.pfd: left as it is: notes\.txt in it is not of a trace'), \
            pyfuncdbg.record('nan.pfd', exist='replace'):
        pass
    for path in ('link.pfd', 'file.pfd', 'other.pfd'):
        with pytest.raises(TraceError), pyfuncdbg.record(path, exist='replace'):
            pass
    assert len(os.listdir(folder.parent / 'elsewhere.pfd')) == 4
    with pytest.raises(TraceError, match="expected one of 'error', 'number', 'replace'"):
        pyfuncdbg.record('z.pfd', exist='overwrite')
    with pytest.raises(TraceError, match='cannot record there'), pyfuncdbg.record('no/such/folder.pfd', exist='number'):
        pass


def test_the_newest_trace_is_by_its_manifest(folder: Path) -> None:
    assert newest_in(folder) == folder / 'well.pfd'
    os.utime(folder / 'raise.pfd')
    assert newest_in(folder) == folder / 'well.pfd'
