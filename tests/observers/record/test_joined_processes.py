"""Processes that start afresh and are recorded into the trace of the process that has started them."""
from __future__ import annotations

from pathlib import Path

import pytest
from recorded_script import run_script

from pyfuncdbg.observers.record.trace import Trace

PROGRAM = '''
    import multiprocessing, pathlib, shutil
    from pyfuncdbg.hooks import commit_points, process_invitations

    def work(invitations, number, ending=''):
        process_invitations.accept(invitations)
        call = wrapped(lambda x: [x + 1], name='worker')
        call(np.float64(number))
        if ending == 'commit':
            commit_points.reach(at_once=True)
            os.kill(os.getpid(), 9)

    def start(*arguments):
        context = multiprocessing.get_context(sys.argv[2])
        process = context.Process(target=work, args=(process_invitations.invitations(), *arguments))
        process.start()
        process.join()
'''


def run(tmp_path: Path, text: str, method: str = 'spawn') -> str:
    import textwrap
    program = textwrap.dedent(PROGRAM) + 'if __name__ == "__main__":\n' + textwrap.indent(textwrap.dedent(text), '    ')
    done = run_script(tmp_path, 'import numpy as np\n' + program, tmp_path / 't.pfd', method)
    assert (done.returncode, done.stdout) == (0, '')
    return done.stderr


@pytest.mark.parametrize('method', ['spawn', 'forkserver'])
def test_each_process_has_a_log_in_the_trace(tmp_path: Path, method: str) -> None:
    stderr = run(tmp_path, '''
        with Recorder(sys.argv[1], level='full'):
            wrapped(lambda x: [x], name='parent')(np.float64(1))
            start(2)
            start(3)
        start(4)
    ''', method)
    assert stderr == ''
    with Trace.open(tmp_path / 't.pfd') as trace:
        calls = [(call.site.name, call.inputs[0].to_numpy().tolist()) for call in trace.calls()]
        assert calls == [('parent', 1.0), ('worker', 2.0), ('worker', 3.0)]
        assert len(trace.info().processes) == 3
        assert trace.info().complete


def test_what_is_committed_outlives_the_process(tmp_path: Path) -> None:
    run(tmp_path, '''
        with Recorder(sys.argv[1]):
            start(2, 'commit')
    ''')
    with Trace.open(tmp_path / 't.pfd') as trace:
        call, = trace.calls()
        assert call.site.name == 'worker'
        assert call.duration is not None
        assert trace.info().unclosed == (trace.info().processes[call.process - 1],)


def test_a_process_whose_trace_is_gone_works_on_unwatched(tmp_path: Path) -> None:
    stderr = run(tmp_path, '''
        recorder = Recorder(sys.argv[1]).start()
        invitations = process_invitations.invitations()
        recorder.stop()
        shutil.rmtree(sys.argv[1])
        process = multiprocessing.get_context('spawn').Process(target=work, args=(invitations, 1))
        process.start()
        process.join()
        assert process.exitcode == 0
    ''')
    assert 'this process is not watched: FileNotFoundError' in stderr


def test_a_paused_recording_invites_nobody(tmp_path: Path) -> None:
    run(tmp_path, '''
        with Recorder(sys.argv[1]) as recorder:
            recorder.pause()
            start(2)
    ''')
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert trace.calls() == []
