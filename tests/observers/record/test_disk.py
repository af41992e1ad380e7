"""Disks that fill, limits on the size of a file, and a trace that is removed while it is recorded."""
from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from plain_host import wrapped
from recorded_script import ENVIRONMENT

from pyfuncdbg.errors import NoRoomError, TraceError
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace

START = '''
    import errno, os, resource, signal, sys, time
    import numpy as np
    from plain_host import wrapped
    from pyfuncdbg.hooks.chain import hooks
    from pyfuncdbg.observers.record.recorder import Recorder

    def await_end():
        """Until the recorder has noticed; the test fails if it does not."""
        deadline = time.monotonic() + 20
        while hooks.python and time.monotonic() < deadline:
            time.sleep(0.01)
        print('ended' if not hooks.python else 'still recording')

    def limit(size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
'''


def run(tmp_path: Path, text: str, *arguments: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A program in a process of its own, with `sys.argv[1]` the path of the trace."""
    script = tmp_path / 'script.py'
    script.write_text(textwrap.dedent(START) + textwrap.dedent(text))
    command = [sys.executable, script, (folder or tmp_path) / 't.pfd', *map(str, arguments)]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=100, check=False)


def kept_of(path: Path) -> tuple[dict[str, int], dict[str, int]]:
    """What is in a trace and what it says was lost, by kind; it must be readable to its end."""
    with Trace.open(path) as trace:
        info, calls = trace.info(), trace.calls(printed=None)
        assert info.damage == ()
        for call in calls:
            for tensor in (*call.inputs, *call.outputs):
                if tensor.level == 'full':
                    tensor.to_numpy()           # raises if its bytes are not there
        kept = {'calls': len(calls), 'tensors': sum(t.level == 'full' for c in calls for t in (*c.inputs, *c.outputs)),
                'prints': sum(len(c.output) for c in calls)}
        return kept, {kind: info.dropped.get(kind, 0) for kind in kept}


@pytest.fixture
def disk(tmp_path):
    """Makes small file systems of their own."""
    mounted = []

    def make(size: str) -> Path:
        place = tmp_path / f'disk{len(mounted)}'
        place.mkdir()
        command = ['mount', '-t', 'tmpfs', '-o', f'size={size}', 'tmpfs', place]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip('mounting needs root')
        mounted.append(place)
        return place
    yield make
    for place in mounted:
        subprocess.run(['umount', '-l', place], capture_output=True, check=False)


BURST = '''
    if sys.argv[2:] and sys.argv[2] != 'large':
        limit(int(sys.argv[2]))
    def say(x):
        print('x' * 100)
        return [x * 2]
    call = wrapped(say)
    with Recorder(sys.argv[1], capture='only', level='full'):
        if 'large' in sys.argv:
            call(np.zeros(5_000_000))           # has no room in the queue: is written at once
        for i in range(300):
            call(np.full(1500, i))              # 24 KB in and out: 7 MB at once
    print('went on')
'''
PRODUCED = {'calls': 300, 'tensors': 600, 'prints': 300}


@pytest.mark.parametrize('size', [20_000, 150_000, 2_000_000])
def test_a_limit_on_the_size_of_files_keeps_what_fits(tmp_path, size):
    done = run(tmp_path, BURST, size)
    assert (done.returncode, done.stdout) == (0, 'went on\n')
    assert done.stderr.count('\n') == 1 and os.strerror(errno.EFBIG) in done.stderr
    path = tmp_path / 't.pfd'
    log = next(path.glob('*.log')).stat().st_size
    assert 0.7 * size < log <= size
    kept, dropped = kept_of(path)
    assert {kind: kept[kind] + dropped[kind] for kind in kept} == PRODUCED
    assert kept['calls'] and kept['tensors'] * 12_000 > 0.5 * size - 20_000
    with Trace.open(path) as trace:
        assert trace.info().complete


@pytest.mark.parametrize('size', ['64k', '256k', '3m'])
def test_a_small_disk_keeps_what_fits(tmp_path, disk, size):
    place = disk(size)
    done = run(tmp_path, BURST, folder=place)
    assert (done.returncode, done.stdout) == (0, 'went on\n')
    assert done.stderr.count('\n') == 1 and os.strerror(errno.ENOSPC) in done.stderr
    kept, dropped = kept_of(place / 't.pfd')
    assert {kind: kept[kind] + dropped[kind] for kind in kept} == PRODUCED
    room = os.statvfs(place)
    assert 0 < room.f_bavail < 0.3 * room.f_blocks      # a little is left to the program
    assert kept['calls'] and kept['tensors']


@pytest.mark.parametrize('large', [0, 1])
@pytest.mark.parametrize('refused', ['EDQUOT', 'ENOSPC'])
@pytest.mark.parametrize('most', [30_000, 700_000, 3_000_000])
def test_a_disk_that_refuses_without_a_warning(tmp_path, refused, most, large):
    """As a quota does: nothing tells of it before a write fails, in the middle of a record."""
    done = run(tmp_path, textwrap.dedent(f'''
        write = os.write
        def some(fd, data):
            room = {most} - os.lseek(fd, 0, os.SEEK_CUR)
            if room <= 0:
                raise OSError(errno.{refused}, os.strerror(errno.{refused}))
            return write(fd, memoryview(data)[:room])
        os.write, os.writev = some, lambda fd, pieces: some(fd, b''.join(pieces))
    ''') + textwrap.dedent(BURST), *['large'] * large)
    assert (done.returncode, done.stdout) == (0, 'went on\n'), done.stderr
    assert done.stderr.count('\n') == 1 and os.strerror(getattr(errno, refused)) in done.stderr
    kept, dropped = kept_of(tmp_path / 't.pfd')
    assert {kind: kept[kind] + dropped[kind] for kind in kept} == {
        'calls': 300 + large, 'tensors': 600 + 2 * large, 'prints': 300 + large}
    assert kept['calls'] and kept['tensors'] * 12_000 > 0.5 * most - 30_000


def test_another_error_ends_the_recording_with_exact_counts(tmp_path):
    done = run(tmp_path, '''
        write = os.write
        def some(fd, data):
            if broken and len(data) > 300:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return write(fd, data)
        os.write, os.writev = some, lambda fd, pieces: some(fd, b''.join(pieces))
        broken = False
        call = wrapped(lambda x: [x])
        recorder = Recorder(sys.argv[1]).start()
        for i in range(50):
            call(np.full(100, i))
        recorder.flush()
        broken = True
        for i in range(30):
            call(np.full(100, 1000 + i))
        recorder.flush()
        assert not hooks.python and recorder._snapshots.allowance.used == 0
        recorder.stop()
    ''')
    assert done.returncode == 0 and done.stderr.count('\n') == 1, done.stderr
    assert os.strerror(errno.EIO) in done.stderr and 'Recording stops' in done.stderr
    kept, dropped = kept_of(tmp_path / 't.pfd')
    assert (kept['calls'], dropped['calls'], dropped['tensors']) == (50, 30, 60)


def test_a_program_that_dies_of_sigxfsz_is_not_killed(tmp_path):
    done = run(tmp_path, '''
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    ''' + BURST, 100_000)
    assert (done.returncode, done.stdout) == (0, 'went on\n')


def test_room_that_comes_back_is_used(tmp_path, disk):
    place = disk('4m')
    done = run(tmp_path, '''
        ballast = os.path.join(os.path.dirname(sys.argv[1]), 'ballast')
        call = wrapped(lambda x: [])
        with Recorder(sys.argv[1]) as recorder:
            for phase, full in enumerate((False, True, False)):
                if full:
                    with open(ballast, 'wb') as file:
                        file.write(bytes((3 << 20) + (700 << 10)))
                elif phase:
                    os.unlink(ballast)
                for i in range(20):
                    call(np.full(1000, 100 * phase + i))
                recorder.flush()
    ''', folder=place)
    assert done.returncode == 0 and done.stderr.count('\n') == 1, done.stderr
    with Trace.open(place / 't.pfd') as trace:
        whole = [t.to_numpy()[0] // 100 for c in trace.calls() for t in c.inputs if t.level == 'full']
        assert whole.count(0) == whole.count(2) == 20 and whole.count(1) < 20


@pytest.mark.parametrize('size', [0, 10, 100, 1000])
def test_no_room_for_a_trace_at_all(tmp_path, size):
    (tmp_path / 'mine').mkdir()
    done = run(tmp_path, '''
        from pyfuncdbg.errors import NoRoomError
        limit(int(sys.argv[2]))
        for path in (sys.argv[1], os.path.join(os.path.dirname(sys.argv[1]), 'mine')):
            try:
                Recorder(path).start()
            except NoRoomError as error:
                print(error)
        print(hooks.python)
    ''', size)
    refusals = [f'{tmp_path / name}: cannot record there: {os.strerror(errno.EFBIG)}\n' for name in ('t.pfd', 'mine')]
    assert (done.stdout, done.stderr) == (''.join(refusals) + '()\n', '')
    assert not (tmp_path / 't.pfd').exists() and list((tmp_path / 'mine').iterdir()) == []


def test_a_full_disk_has_no_room_for_a_trace(tmp_path, disk):
    place = disk('64k')
    (place / 'ballast').write_bytes(bytes(64 << 10))
    with pytest.raises(NoRoomError, match=os.strerror(errno.ENOSPC)):
        Recorder(place / 't.pfd').start()
    assert [file.name for file in place.iterdir()] == ['ballast'] and not hooks.python


def test_pyfuncdbg_run_goes_on_unrecorded(tmp_path):
    script = tmp_path / 'script.py'
    script.write_text('import sys, pyfuncdbg.tf as tf\n'
                      'print(float(tf.numpy_function(lambda x: x + 1, [tf.constant(1.0)], tf.float32)))\nsys.exit(3)\n')

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    done = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', script], cwd=tmp_path, preexec_fn=limit, timeout=100,
                          env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, '2.0\n')
    assert done.stderr == (f'pyfuncdbg: script.pfd: cannot record there: {os.strerror(errno.EFBIG)}. '
                           'The program runs unrecorded.\n')
    assert [file.name for file in tmp_path.iterdir()] == ['script.py']


REMOVALS = {
    'removed': 'shutil.rmtree(path)',
    'moved': "os.rename(path, path + '.moved')",
    'replaced': "os.rename(path, path + '.moved'); Recorder(path).start().stop()",
    'log removed': "os.unlink(glob.glob(path + '/*.log')[0])",
    'parent moved': "os.rename(os.path.dirname(path), os.path.dirname(path) + '.moved')",
}


@pytest.mark.parametrize('removal', REMOVALS)
def test_a_trace_that_is_removed_is_told_at_once_and_once(tmp_path, removal):
    place = tmp_path / 'place'
    place.mkdir()
    done = run(tmp_path, f'''
        import glob, shutil
        path = sys.argv[1]
        call = wrapped(lambda x: [x])
        recorder = Recorder(path).start()
        for i in range(20):
            call(np.full(1000, i))
        recorder.flush()
        early, late = os.pipe(), os.fork()
        if not late:                            # joins the trace when that is gone
            os.close(early[1])
            os.read(early[0], 1)
            for i in range(5):
                call(np.full(1000, i))
            recorder.stop()
            os._exit(0)
        call(1.0)
        {REMOVALS[removal]}
        await_end()
        os.close(early[1])
        os.waitpid(late, 0)
        if not os.fork():
            call(2.0)
            os._exit(0)
        os.wait()
        for i in range(20):
            call(np.full(1000, i))
        print(recorder.gone, recorder._snapshots.allowance.used, len(recorder._backlog.rows))
        recorder.flush()
        recorder.stop()
    ''', folder=place)
    assert (done.returncode, done.stdout) == (0, 'ended\nTrue 0 0\n'), done.stderr
    assert done.stderr == (f'pyfuncdbg: {place / "t.pfd"}: the trace was removed or moved. '
                           'Recording stops, the program continues.\n')
    left = {'moved': place / 't.pfd.moved', 'replaced': place / 't.pfd.moved',
            'parent moved': tmp_path / 'place.moved' / 't.pfd'}.get(removal)
    if left is not None:
        with Trace.open(left) as trace:
            assert 20 <= trace.count() <= 21 and trace.info().damage == ()
    if removal == 'replaced':
        with Trace.open(place / 't.pfd') as trace:
            assert trace.count() == 0 and len(trace.info().processes) == 1


def test_a_disk_that_is_unmounted(tmp_path, disk):
    place = disk('4m')
    done = run(tmp_path, f'''
        import subprocess
        call = wrapped(lambda x: [x])
        with Recorder(sys.argv[1]):
            call(1.0)
            subprocess.run(['umount', '-l', {str(place)!r}], check=True)
            await_end()
            call(2.0)
    ''', folder=place)
    assert (done.returncode, done.stdout) == (0, 'ended\n')
    assert done.stderr.count('\n') == 1 and 'removed or moved' in done.stderr


def test_a_folder_that_may_not_be_read_any_more_goes_on_being_written(tmp_path):
    done = run(tmp_path, '''
        call = wrapped(lambda x: [x])
        with Recorder(sys.argv[1]):
            call(1.0)
            os.chmod(sys.argv[1], 0)
            if os.geteuid() == 0:
                os.seteuid(65534)
            for i in range(10):
                call(2.0)
                time.sleep(0.05)
    ''')
    os.chmod(tmp_path / 't.pfd', 0o700)
    assert (done.returncode, done.stderr) == (0, '')
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert trace.count() == 11 and trace.info().complete


def test_a_program_that_closes_all_descriptors_keeps_its_own_files(tmp_path):
    """As a daemon does; the numbers of the log and the ledger are then those of its own files."""
    done = run(tmp_path, '''
        call = wrapped(lambda x: [x])
        recorder = Recorder(sys.argv[1]).start()
        call(1.0)
        recorder.flush()
        os.closerange(3, 100)
        files = [open(f'{sys.argv[1]}.{n}', 'w+') for n in range(20)]
        for i in range(100):
            call(np.full(3000, i))
        await_end()
        recorder.stop()
        for file in files:
            assert file.write('mine') == 4
            file.close()
            assert open(file.name).read() == 'mine'
    ''')
    assert (done.returncode, done.stdout) == (0, 'ended\n'), done.stderr
    assert done.stderr.count('\n') == 1 and 'closed by the program' in done.stderr
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert trace.count() == 1


def test_pyfuncdbg_run_reports_nothing_of_a_trace_that_is_gone(tmp_path):
    script = tmp_path / 'script.py'
    script.write_text(textwrap.dedent('''
        import os, shutil, sys, time, pyfuncdbg.tf as tf
        call = lambda: tf.numpy_function(lambda x: x + 1, [tf.constant(1.0)], tf.float32)
        call()
        shutil.rmtree('script.pfd')
        if sys.argv[1] == 'wait':
            time.sleep(0.5)
        if sys.argv[1] == 'replace':
            os.mkdir('script.pfd')
        child = os.fork()
        call()
        if child:
            os.waitpid(child, 0)
        sys.exit(3)
    '''))
    for how in ('wait', 'replace', 'at once'):
        done = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', script, how], cwd=tmp_path, env=ENVIRONMENT,
                              timeout=100, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (3, '')
        assert done.stderr == (f'pyfuncdbg: {tmp_path / "script.pfd"}: the trace was removed or moved. '
                               'Recording stops, the program continues.\n')
        if how == 'replace':
            assert list((tmp_path / 'script.pfd').iterdir()) == []
            (tmp_path / 'script.pfd').rmdir()


def test_errors_of_the_path_are_no_lack_of_room(tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(TraceError) as caught:
        Recorder(tmp_path / 'file').start()
    assert not isinstance(caught.value, NoRoomError) and (tmp_path / 'file').exists()


def test_losses_that_found_no_room_are_told_when_there_is_some(tmp_path, monkeypatch):
    recorder = Recorder(tmp_path / 't.pfd').start()
    wrapped(lambda x: [x])(1.0)
    recorder.flush()
    recorder._writer.end_thread()
    time.sleep(0.3)                             # the next report is due
    recorder._backlog.losses.add({'calls': 7})
    real = os.write

    def full(number, data):
        if number == recorder._writer._journal._segments.file._file.fileno():
            raise OSError(errno.ENOSPC, 'full')
        return real(number, data)
    monkeypatch.setattr(os, 'write', full)
    recorder.flush()
    monkeypatch.setattr(os, 'write', real)
    recorder.stop()
    with Trace.open(recorder.path) as trace:
        assert trace.info().dropped == {'calls': 7} and trace.info().complete
