"""Processes of a recorded program: real ones, compared with plain Python, and what the trace says of them."""
from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import venv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import pyfuncdbg
from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.index.process_tree import ProgramProcess, processes_of, program_processes
from pyfuncdbg.observers.record.processes.followed_process import LARGEST, LIST, STARTUP, VARIABLE
from pyfuncdbg.observers.record.trace_info import TraceInfo
from pyfuncdbg.ui.views.reports.process_tree import process_tree

HERE = Path(pyfuncdbg.__file__).resolve().parents[1]
ENVIRONMENT = dict(os.environ, PYTHONPATH=str(HERE), COLUMNS='120')
WORK = '''
import os, sys
from pyfuncdbg import tf

def work(value):
    def half(x):
        return x / 2
    return float(tf.numpy_function(half, [tf.constant(value)], tf.float64))
'''


def ran(cwd: Path, *args: str, **options: object) -> subprocess.CompletedProcess[str]:
    options = {'env': ENVIRONMENT, 'capture_output': True, 'timeout': 120, 'text': True} | options
    return subprocess.run([sys.executable, *args], cwd=cwd, stdin=subprocess.DEVNULL, **options)  # type: ignore[call-overload]


def recorded(cwd: Path, source: str, *options: str, env: dict[str, str] = ENVIRONMENT) -> tuple[TraceInfo, list[float]]:
    """The trace of a program that does as plain Python: its summary, and the inputs of its calls, sorted."""
    (cwd / 'prog.py').write_text(source)
    plain = ran(cwd, 'prog.py', env=env)
    ours = ran(cwd, '-m', 'pyfuncdbg', 'run', '-q', '--record', 'prog.pfd', *options, 'prog.py', env=env)
    assert (ours.returncode, sorted(ours.stdout.splitlines())) == (plain.returncode, sorted(plain.stdout.splitlines()))
    assert sorted(ours.stderr.splitlines()) == sorted(plain.stderr.splitlines())
    return read(cwd / 'prog.pfd')


def read(path: Path) -> tuple[TraceInfo, list[float]]:
    with pyfuncdbg.load(path) as trace:
        return trace.info(), sorted(float(call.inputs[0].to_numpy()) for call in trace.calls())


def below(info: TraceInfo, parent: ProgramProcess) -> list[ProgramProcess]:
    return [process for process in info.tree if process.parent == parent.pid]


POOLS = {
    'multiprocessing': '''
    import multiprocessing
    with multiprocessing.get_context({way!r}).Pool(2) as pool:
        print(pool.map(work, [1.0, 2.0, 4.0, 8.0]))
''',
    'futures': '''
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context({way!r})) as pool:
        print(list(pool.map(work, [1.0, 2.0, 4.0, 8.0])))
''',
}


@pytest.mark.parametrize('way', ['spawn', 'forkserver', 'fork'])
@pytest.mark.parametrize('pool', POOLS)
def test_workers_of_pools_record_every_call_whose_result_the_program_has(pool: str, way: str, tmp_path: Path) -> None:
    info, values = recorded(tmp_path, f"{WORK}\nif __name__ == '__main__':{POOLS[pool].format(way=way)}")
    assert values == [1.0, 2.0, 4.0, 8.0]
    assert info.tree[0].command == ('prog.py',) and info.tree[0].ended is not None
    workers = [process for process in info.tree if process.log > 1]
    assert 1 <= len(workers) <= 2 and all(info.processes[process.log - 1] == process.pid for process in workers)
    assert all(process.of_pool == (pool == 'multiprocessing') for process in workers) and not info.cut_off


def test_a_worker_of_a_spawn_pool_that_raises_and_workers_that_are_replaced(tmp_path: Path) -> None:
    """Each task has a worker of its own, the exception comes back to the program, which it ends."""
    info, values = recorded(tmp_path, WORK + '''
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

def checked(value):
    if work(value) > 2:
        raise ValueError(f'{value} is too much')
    return value

if __name__ == '__main__':
    context = multiprocessing.get_context('spawn')
    with ProcessPoolExecutor(2, mp_context=context, initializer=work, initargs=(0.5,), max_tasks_per_child=1) as pool:
        for result in pool.map(checked, [1.0, 2.0, 8.0]):
            print(result, flush=True)
''')
    workers = below(info, info.tree[0])         # one more than tasks, or two: Python starts them ahead
    assert values == [0.5] * len(workers) + [1.0, 2.0, 8.0] and len(workers) >= 3
    assert all(process.log > 1 for process in workers)
    assert all(process.ended is not None and not process.error for process in workers)
    assert info.tree[0].error == 'ValueError: 8.0 is too much'


def test_workers_of_joblib_record_every_call_and_are_named_as_such(tmp_path: Path) -> None:
    """Its library starts them by `os.fork` and `os.execv`, or by `fork_exec`: each is one process all the same."""
    pytest.importorskip('joblib', reason='needs joblib')
    info, values = recorded(tmp_path, WORK + '''
from joblib import Parallel, delayed
if __name__ == '__main__':
    print(Parallel(2)(delayed(work)(value) for value in [1.0, 2.0, 4.0, 8.0]))
    print(Parallel(2, backend='multiprocessing')(delayed(work)(value) for value in [16.0, 32.0]))
    print(Parallel(2, prefer='threads')(delayed(work)(value) for value in [64.0, 128.0]))
''')
    assert values == [float(1 << power) for power in range(8)]
    assert not any(process.executed for process in info.tree)
    shown = ran(tmp_path, '-m', 'pyfuncdbg', 'show', 'prog.pfd', 'info').stdout
    workers = [process for process in info.tree if any('popen_loky' in word for word in process.command)]
    assert len(workers) == shown.count('loky worker') == 2
    assert all(process.ended is not None and process.log > 1 for process in workers)
    assert f'processes  {len(info.tree)}, recorded: {sum(process.log > 0 for process in info.tree)}\n' in shown


def test_processes_that_start_afresh_are_recorded_whatever_starts_them(tmp_path: Path) -> None:
    (tmp_path / 'child.py').write_text(f'{WORK}\nprint(work(float(sys.argv[1])))')
    (tmp_path / 'script').write_text(f'#!{sys.executable}\nimport sys\nsys.argv[1:] = ["3.0"]\nimport child')
    (tmp_path / 'script').chmod(0o755)
    info, values = recorded(tmp_path, '''
import os, subprocess, sys
subprocess.run([sys.executable, 'child.py', '1.0'], check=True)
subprocess.run([sys.executable, '-m', 'child', '2.0'], check=True)
subprocess.run(['./script'], check=True)
subprocess.run(['sh', '-c', f'{sys.executable} child.py 4.0'], check=True)
os.spawnl(os.P_WAIT, sys.executable, sys.executable, 'child.py', '5.0')
''')
    assert values == [1.0, 2.0, 3.0, 4.0, 5.0]
    children = info.tree[1:]                    # `os.spawnl` is a fork that becomes another program: one process
    assert [process.command[-1] for process in children] == ['1.0', '2.0', './script', '4.0', '5.0']
    assert [info.processes[process.log - 1] for process in children] == [process.pid for process in children]
    assert all(process.ended is not None and process.error == '' and not process.is_forked for process in children)


def test_the_program_sees_two_entries_of_the_environment_and_nothing_else(tmp_path: Path) -> None:
    shown = ('import sys, os; print(sys.path, sorted(sys.modules), sys.meta_path[-3:], '
             '"sitecustomize" in sys.modules, sys.argv, sys.flags)')
    (tmp_path / 'prog.py').write_text(f'import subprocess, sys\nsubprocess.run([sys.executable, "-c", {shown!r}])')
    plain, ours = ran(tmp_path, 'prog.py'), ran(tmp_path, '-m', 'pyfuncdbg', 'run', '-q', 'prog.py')
    added = {'__future__', '_json', 'time', 'atexit', 'types', 'importlib', 'importlib._bootstrap',
             'importlib._bootstrap_external', 'importlib.machinery', 'warnings'}
    words = [set(done.stdout.replace(',', ' ').replace('[', ' ').replace(']', ' ').split()) for done in (plain, ours)]
    assert {word.strip("'") for word in words[1] - words[0]} <= added, words[1] - words[0]
    assert not words[0] - words[1]
    (tmp_path / 'prog.py').write_text('import os, subprocess, sys\n'
                                      'subprocess.run([sys.executable, "-c", "import os; print(dict(os.environ))"])')
    ways = (), ('-m', 'pyfuncdbg', 'run', '-q')
    variables = [ast.literal_eval(ran(tmp_path, *words, 'prog.py').stdout) for words in ways]
    changed = {name for name in variables[0].keys() | variables[1] if variables[0].get(name) != variables[1].get(name)}
    assert changed == {VARIABLE, 'PYTHONPATH'}
    assert variables[1]['PYTHONPATH'] == os.pathsep.join([STARTUP, str(HERE)])


@pytest.mark.parametrize('own', ['print("mine", __name__, __file__[-20:])', 'import no_such_module', '1 / 0'])
def test_the_programs_own_sitecustomize_is_executed_as_without_us(own: str, tmp_path: Path) -> None:
    (tmp_path / 'lib').mkdir()
    (tmp_path / 'lib/sitecustomize.py').write_text(f'import sys\nif sys.orig_argv[-1] == "child":\n    {own}\n')
    env = ENVIRONMENT | {'PYTHONPATH': os.pathsep.join([str(tmp_path / 'lib'), str(HERE)])}
    info, _ = recorded(tmp_path, 'import subprocess, sys\n'
                                 'print(subprocess.run([sys.executable, "-c", "import sys; print(\'sitecustomize\' in '
                                 'sys.modules, len(sys.path))", "child"]).returncode)', env=env)
    assert len(info.tree) == 2


def test_a_virtual_environment_without_us_runs_as_before_and_info_says_why_it_has_no_calls(tmp_path: Path) -> None:
    venv.create(tmp_path / 'env', with_pip=False, symlinks=True)
    (tmp_path / 'torch.py').write_text('import sys\nprint("my torch", sys.prefix[-4:])')     # a module of that name
    env = {name: value for name, value in ENVIRONMENT.items() if name != 'PYTHONPATH'} | {'PYTHONPATH': str(HERE)}
    (tmp_path / 'prog.py').write_text('import subprocess\n'
                                      'print(subprocess.run(["env/bin/python", "-c", "import torch"]).returncode)')
    plain = ran(tmp_path, 'prog.py', env=env)
    ours = ran(tmp_path, '-m', 'pyfuncdbg', 'run', '-q', 'prog.py', env=env)
    assert (ours.stdout, ours.returncode) == (plain.stdout, 0) and 'my torch' in ours.stdout
    (child,) = read(tmp_path / 'prog.pfd')[0].tree[1:]
    assert child.unrecorded.startswith('ModuleNotFoundError: No module named') or child.ended is not None


UNFOLLOWED = {
    '-I': ('[sys.executable, "-I", "-c", "pass"]', 'None', '-I hides the environment'),
    '-E': ('[sys.executable, "-BE", "-c", "pass"]', 'None', '-E hides the environment'),
    '-S': ('[sys.executable, "-S", "-c", "pass"]', 'None', '-S leaves `sitecustomize` out'),
    'cleared': ('[sys.executable, "-c", "pass"]', '{}', f'it was started without {VARIABLE} in its environment'),
    'cleared before': ('[sys.executable, "-c", "pass"]', 'os.environ.clear()',
                       f'it was started without {VARIABLE} in its environment'),
    'path': ('[sys.executable, "-c", "pass"]', '{**os.environ, "PYTHONPATH": "x"}',
             'it was started with another PYTHONPATH'),
    'other': ('["true"]', '{}', ''),
}


@pytest.mark.parametrize('case', UNFOLLOWED)
def test_a_python_process_that_cannot_follow_is_listed_with_the_reason(case: str, tmp_path: Path) -> None:
    command, env, why = UNFOLLOWED[case]
    info, _ = recorded(tmp_path, f'import os, subprocess, sys\nsubprocess.run({command}, env={env}, check=True)')
    assert [process.unrecorded for process in info.tree[1:]] == [why] * bool(why)
    shown = ran(tmp_path, '-m', 'pyfuncdbg', 'show', 'prog.pfd', 'info').stdout
    assert (f'not recorded: {why}' in shown) == bool(why)


def test_a_program_that_clears_its_environment_runs_on_and_info_says_what_is_not_recorded(tmp_path: Path) -> None:
    pool = POOLS['futures'].format(way='spawn')
    info, values = recorded(tmp_path, f"{WORK}\nif __name__ == '__main__':\n    os.environ.clear()\n    work(16.0){pool}")
    assert values == [16.0]
    assert {process.unrecorded for process in info.tree[1:]} == {f'it was started without {VARIABLE} in its environment'}
    assert 1 <= len(info.tree) - 1 <= 2         # workers; the resource tracker is none of the program's


@pytest.mark.skipif(os.geteuid() != 0, reason='only root can start a process of another user')
def test_a_process_of_another_user_is_left_alone_and_listed(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir='/tmp') as place:
        python = Path(place) / 'python3'        # that of the tests may be in a folder that is root's alone
        python.write_text('#!/bin/sh\nid -u\n')
        python.chmod(0o755)
        Path(place).chmod(0o755)
        info, _ = recorded(tmp_path, f'''
import os, subprocess
for user in (None, 0, 12345):
    print(subprocess.run([{str(python)!r}, 'tool.py'], user=user, cwd='/', capture_output=True).stdout)
child = os.fork()
if not child:
    os.setuid(12345)
    os._exit(0)
print(os.waitpid(child, 0)[1])
''')
    other, forked = info.tree[1:]
    assert other.unrecorded == 'it was started as another user, 12345' and forked.ended is None
    shown = ran(tmp_path, '-m', 'pyfuncdbg', 'show', 'prog.pfd', 'info').stdout
    assert 'not recorded: it was started as another user, 12345' in shown and 'os.setuid, or running' in shown


@pytest.mark.skipif(os.geteuid() != 0, reason='only root can become another user')
def test_a_fork_that_becomes_another_user_computes_on(tmp_path: Path) -> None:
    """It cannot write to the trace: that is said in one line, and it neither waits nor raises."""
    (tmp_path / 'prog.py').write_text(WORK + '''
if __name__ == '__main__':
    work(0.5)                                   # loads what the other user may not be able to
    child = os.fork()
    if not child:
        os.setuid(12345)
        print(work(3.0), flush=True)
        os._exit(0)
    print(os.waitpid(child, 0)[1], work(1.0))
''')
    done = ran(tmp_path, '-m', 'pyfuncdbg', 'run', '-q', 'prog.py')
    assert (done.returncode, done.stdout) == (0, '1.5\n0 0.5\n')
    assert 'cannot write the trace: Permission denied' in done.stderr and done.stderr.count('\n') == 1
    info, values = read(tmp_path / 'prog.pfd')
    assert values == [0.5, 1.0] and [process.is_forked for process in info.tree] == [False, True]


def test_a_process_that_cannot_be_started_raises_as_in_plain_python(tmp_path: Path) -> None:
    for name, call in ('a', '["/no/such/program"]'), ('b', '["true"], pass_fds=[-1]'):
        (tmp_path / name).mkdir()
        recorded(tmp_path / name, f'import subprocess\nsubprocess.run({call})')


def test_the_end_of_each_process_is_told_as_far_as_it_is_known(tmp_path: Path) -> None:
    info, values = recorded(tmp_path, WORK + '''
import signal, subprocess, sys
def start(code):
    subprocess.run([sys.executable, '-c', f'from prog import work; import os, sys; {code}'], stderr=subprocess.DEVNULL)
if __name__ == '__main__':
    start('work(1.0); sys.exit(3)')
    start('work(2.0); raise KeyError(5)')
    start('work(3.0); import time; time.sleep(0.5); os.kill(os.getpid(), 9)')
    start('work(4.0); os._exit(0)')
    start('work(5.0); os._exit(status=7)')
    start('work(6.0); os.execv(sys.executable, [sys.executable, "-c", "from prog import work; work(7.0)"])')
''')
    ended = [(process.ended is not None, process.error, process.executed) for process in info.tree]
    assert ended == [(True, '', False), (True, '', False), (True, 'KeyError: 5', False), (False, '', False),
                     (True, '', False), (True, 'os._exit(7)', False), (False, '', True), (True, '', False)]
    assert values == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]        # nothing that was recorded is lost but by a signal
    assert info.tree[6].pid == info.tree[7].pid
    shown = ran(tmp_path, '-m', 'pyfuncdbg', 'show', 'prog.pfd', 'info').stdout
    assert 'replaced by python' in shown and shown.count('no end: ') == 1 and 'os._exit(7) after ' in shown
    assert len(info.unclosed) == 4 and info.cut_off == (info.tree[3].pid,)      # no other one may have lost something


def test_a_process_that_is_replaced_loses_no_call_and_says_by_what(tmp_path: Path) -> None:
    """By each of `os.exec*`, from a thread, in a fork, as the program itself; also by what cannot follow."""
    info, values = recorded(tmp_path, WORK + '''
import pathlib, subprocess, threading
def start(code):
    subprocess.run([sys.executable, '-c', f'from prog import work; import os, sys, pathlib, threading; {code}'], check=True)
def forked():
    child = os.fork()
    if not child:
        work(4.0)
        os.execlp('true', 'true', 'forked')
    os.waitpid(child, 0)
if __name__ == '__main__':
    start('work(1.0); os.execvp("true", ("true", "a b"))')
    start('work(2.0); threading.Thread(target=os.execle, args=("/bin/true", "x", "thread", os.environ)).start()')
    start('work(3.0); os.execve(path=pathlib.Path(sys.executable), argv=[b"python", "-I", "-c", "pass"], env={})')
    forked()
    work(5.0)
    print('last', flush=True)
    os.execv('/bin/echo', ['echo', 'replaced'])
''')
    assert values == [1.0, 2.0, 3.0, 4.0, 5.0]
    first, *others = info.tree
    assert all(process.executed and process.ended is None for process in info.tree) and len(others) == 4
    assert first.replaced_by == ('/bin/echo', 'replaced')
    by_path, by_thread, isolated, fork = (process.replaced_by for process in others)
    assert os.path.basename(by_path[0]) == 'true' and by_path[1:] == ('a b',) and fork[1:] == ('forked',)
    assert by_thread == ('/bin/true', 'thread') and isolated == (sys.executable, '-I', '-c', 'pass')
    assert others[2].replaced_unfollowed == f'it was started without {VARIABLE} in its environment'
    lines = (tmp_path / 'prog.pfd' / LIST).read_text()
    assert lines.count('"event":"exec"') == 5                   # not one for each folder of PATH
    shown = ran(tmp_path, '-m', 'pyfuncdbg', 'show', 'prog.pfd', 'info', env=ENVIRONMENT | {'COLUMNS': '200'}).stdout
    assert 'replaced by echo replaced' in shown and 'which is not recorded: it was started without' in shown
    table = ran(tmp_path, '-m', 'pyfuncdbg', 'show', 'prog.pfd', 'processes', env=ENVIRONMENT | {'COLUMNS': '200'}).stdout
    assert table.count(' replaced ') >= 5 and 'by echo replaced' in table
    assert 'not closed' not in shown and 'not closed' not in ran(tmp_path, '-m', 'pyfuncdbg', 'show', 'prog.pfd').stdout


def test_a_program_that_cannot_become_another_one_is_recorded_on(tmp_path: Path) -> None:
    """With the exceptions and tracebacks of plain Python."""
    (tmp_path / 'no_program').write_text('not one')
    (tmp_path / 'no_program').chmod(0o755)
    info, values = recorded(tmp_path, WORK + '''
import inspect, traceback
work(1.0)
for number, (path, *rest) in enumerate([
        ('/no/such/program', ['x']), ('no_program', ['x']), ('prog.py', ['x']), ('/bin/true', []), ('/bin/true', 'x'),
        ('/bin/true',), (3.5, ['x']), ('/bin/\\0', ['x']), ('/bin/true', ['x', 4]),
        ('/bin/true', ['x'], {4: 5}), ('/bin/true', ['x'], 6)]):
    try:
        (os.execve if len(rest) > 1 else os.execv)(path, *rest)
    except Exception:
        print(traceback.format_exc())
    work(2.0 + number)
for wrong in (1 << 40, 'x', None):
    try:
        os._exit(wrong)
    except Exception:
        print(traceback.format_exc())
try:
    os.execvp('no such program', ['x'])
except OSError as error:
    print(error)
print(os.execv.__name__, os.execv.__module__, inspect.signature(os.execve), inspect.signature(os._exit), os._exit.__doc__)
''')
    assert values == [float(number) for number in range(1, 13)]
    assert [(process.executed, process.replaced_by, process.error) for process in info.tree] == [(False, (), '')]
    assert info.tree[0].ended is not None


def test_no_children(tmp_path: Path) -> None:
    source = f"{WORK}\nif __name__ == '__main__':{POOLS['futures'].format(way='spawn')}    print(work(16.0))"
    info, values = recorded(tmp_path, source, '--no-children')
    assert values == [16.0] and len(info.tree) == 1


def test_a_program_without_a_call_is_told_as_that(tmp_path: Path) -> None:
    recorded(tmp_path, 'print(1)')
    done = ran(tmp_path, '-m', 'pyfuncdbg', 'show', 'prog.pfd', 'graph')
    assert done.returncode == 2 and 'and no call was recorded: ' in done.stderr and 'eager' not in done.stderr


def test_many_short_lived_children_take_one_line_each_and_no_file(tmp_path: Path) -> None:
    info, _ = recorded(tmp_path, 'import subprocess, sys\n'
                                 'for _ in range(60): subprocess.run([sys.executable, "-c", "pass"])')
    assert len(info.tree) == 61 and len(os.listdir(tmp_path / 'prog.pfd')) == 3
    assert (tmp_path / 'prog.pfd' / LIST).stat().st_size < 61 * 1000
    assert 'and 31 processes more; "processes -n 61" lists all' in ran(
        tmp_path, '-m', 'pyfuncdbg', 'show', 'prog.pfd', 'info').stdout
    for words, rows, rest in ((), 50, ['... 11 more: -n 61 lists all']), (('-n', '61'), 61, []):
        lines = ran(tmp_path, '-m', 'pyfuncdbg', 'show', 'prog.pfd', 'processes', *words).stdout.splitlines()
        assert lines[0] == '61 processes' and sum(' ended ' in line for line in lines) == rows
        assert [line for line in lines if 'more' in line] == rest


def test_the_processes_that_are_shown_of_many_are_those_to_look_at() -> None:
    plain = [ProgramProcess(number, 1, 'host', ('python', 'x.py'), 0.0, ended=1.0) for number in range(2, 502)]
    special = {450: {'error': 'ValueError: no rows'}, 460: {'ended': None}, 470: {'log': 7}, 480: {'unrecorded': '-I hides'}}
    tree = [ProgramProcess(1, 0, 'host', ('prog.py',), 0.0, ended=9.0, log=1),
            *[replace(one, **special.get(one.pid, {})) for one in plain]]
    lines = process_tree(tree).plain.splitlines()
    assert len(lines) == 31 and lines[0].startswith('1  prog.py')
    assert [int(line.split()[0]) for line in lines[-5:-1]] == [450, 460, 470, 480]
    assert lines[-1] == 'and 471 processes more; "processes -n 501" lists all'
    many = [replace(one, error='ValueError: no rows', log=one.pid) for one in plain]
    assert process_tree([tree[0], *many]).plain.splitlines()[-1] == (
        'and 471 processes more, 471 ended by an exception, 471 with a log; "processes -n 501" lists all')


def test_the_list_is_bounded(tmp_path: Path) -> None:
    source = f'''
import os, subprocess, sys
path = os.environ[{VARIABLE!r}].split(':')[-1] if {VARIABLE!r} in os.environ else None
if path:
    with open(path + '/{LIST}', 'a') as file:
        file.write('x' * {LARGEST})
subprocess.run([sys.executable, '-c', 'pass'])
'''
    info, _ = recorded(tmp_path, source)
    assert len(info.tree) == 1 and info.tree[0].ended is None and info.tree_is_full
    shown = ran(tmp_path, '-m', 'pyfuncdbg', 'show', 'prog.pfd', 'info').stdout
    assert 'The list is full: processes that began later are not in it.' in shown
    assert (tmp_path / 'prog.pfd' / LIST).stat().st_size < LARGEST + 2000


def test_a_child_acts_only_on_the_trace_of_the_same_user(tmp_path: Path) -> None:
    (tmp_path / 'empty.py').write_text('')
    assert ran(tmp_path, '-m', 'pyfuncdbg', 'run', '-q', 'empty.py').returncode == 0
    folder, before = tmp_path / 'empty.pfd', (tmp_path / 'empty.pfd' / LIST).read_bytes()
    number = json.loads((folder / 'manifest.json').read_text())['id']
    env = ENVIRONMENT | {'PYTHONPATH': os.pathsep.join([STARTUP, str(HERE)])}

    def started(value: str) -> bytes:
        assert ran(tmp_path, '-c', 'import sys; print([m for m in sys.modules if "pyfuncdbg" in m])',
                   env=env | {VARIABLE: value}).stdout == '[]\n'
        return (folder / LIST).read_bytes()

    for value in ('', 'x', f'{number}:torch::{folder}x', f'{"0" * 32}:torch::{folder}', f'{number}:torch::empty.pfd',
                  f'{number}:torch::/dev/null', ':::'):
        assert started(value) == before
    if os.geteuid() == 0:                       # only then a folder can be given away
        os.chown(folder, 12345, 12345)
        assert started(f'{number}:torch::{folder}') == before
        os.chown(folder, 0, 0)
        os.chown(folder / 'manifest.json', 12345, 12345)
        assert started(f'{number}:torch::{folder}') == before
        os.chown(folder / 'manifest.json', 0, 0)
    assert len(started(f'{number}:torch::{folder}')) > len(before)
    (folder / LIST).unlink()
    (folder / LIST).symlink_to(tmp_path / 'victim')
    ran(tmp_path, '-c', 'pass', env=env | {VARIABLE: f'{number}:torch::{folder}'})
    assert not (tmp_path / 'victim').exists()


RANKS = {
    'torchrun': ({'RANK': '1', 'WORLD_SIZE': '2'}, 'rank:1'),
    'mpi': ({'OMPI_COMM_WORLD_RANK': '3', 'SLURM_PROCID': '0'}, 'rank:3'),
    'slurm': ({'SLURM_PROCID': '2'}, 'rank:2'),
    'task': ({'TF_CONFIG': '{"cluster": {}, "task": {"type": "worker", "index": 4}}', 'RANK': '9'}, 'worker:4'),
    'broken': ({'TF_CONFIG': '{"task": 3}', 'RANK': 'x'}, ''),
}


@pytest.mark.parametrize('case', RANKS)
def test_labels_of_ranks(case: str) -> None:
    variables, label = RANKS[case]
    assert ProgramProcess(2, 1, 'host', ('x',), 0.0, ranks=tuple(variables.items())).label == label


def test_ranks_by_the_environment_and_by_the_program_itself(tmp_path: Path) -> None:
    late = f'import os; os.environ.update({RANKS["task"][0]}); from prog import work; work(3.0)'
    info, values = recorded(tmp_path, WORK + f'''
import subprocess, sys
if __name__ == '__main__':
    work(1.0)
    subprocess.run([sys.executable, '-c', 'from prog import work; work(2.0)'], env={{**os.environ, 'SLURM_PROCID': '4'}})
    subprocess.run([sys.executable, '-c', {late!r}])
''')
    assert values == [1.0, 2.0, 3.0] and [process.label for process in info.tree] == ['', 'rank:4', 'worker:4']
    for words, numbers in (['--process', 'worker:4'], ['3.1']), (['--process', 'rank:4'], ['2.1']), (['--rank', '4'], [
            '2.1', '3.1']):
        shown = ran(tmp_path, '-m', 'pyfuncdbg', 'show', 'prog.pfd', 'calls', '--json', *words).stdout
        assert [call['number'] for call in json.loads(shown)['calls']] == numbers
    assert '#3 worker:4' in ran(tmp_path, '-m', 'pyfuncdbg', 'show', 'prog.pfd', 'info').stdout


def test_the_first_difference_of_two_ranks(tmp_path: Path) -> None:
    recorded(tmp_path, WORK + '''
import subprocess, sys
if len(sys.argv) > 1:
    for value in (1.0, 2.0, 3.0 + float(sys.argv[1] == '1'), 4.0):
        work(value)
elif __name__ == '__main__':
    for rank in '01':
        subprocess.run([sys.executable, 'prog.py', rank], env={**os.environ, 'RANK': rank})
''')

    def compared(*names: str) -> tuple[int, dict[str, Any]]:
        done = ran(tmp_path, '-m', 'pyfuncdbg', 'show', 'prog.pfd', 'diff', '--json', '--processes', *names)
        return done.returncode, json.loads(done.stdout) if done.stdout else {'error': done.stderr}

    code, different = compared('rank:0', 'rank:1')
    assert (code, different['calls']) == (0, 4)
    assert (different['first']['kind'], different['first']['numbers']) == ('value', ['2.3', '3.3'])
    assert compared('rank:1', '#3')[1]['first'] is None and compared('2', '2')[1]['first'] is None
    code, wrong = compared('rank:0', 'rank:2')
    assert code == 2 and "No recorded process is 'rank:2'; there are rank:0, rank:1." in wrong['error']


def test_processes_by_name() -> None:
    tree = [ProgramProcess(70, 1, 'a', ('x',), 0.0, log=1), ProgramProcess(71, 70, 'a', ('x',), 0.0, log=2,
                                                                         ranks=(('RANK', '0'),)),
            ProgramProcess(2, 70, 'a', ('x',), 0.0, log=3, ranks=(('RANK', '1'),)), ProgramProcess(73, 70, 'a', ('x',), 0.0)]
    assert processes_of(tree, '2') == (2,) and processes_of(tree, '#3') == (3,) and processes_of(tree, '70') == (1,)
    assert processes_of(tree, 'rank:1') == (3,) and processes_of(tree, ':0') == (2,)
    with pytest.raises(CommandError, match=r"No recorded process is 'rank:5'; there are #1, rank:0, rank:1\."):
        processes_of(tree, 'rank:5')
    with pytest.raises(CommandError):
        processes_of(tree, '73')


def test_a_hostile_list_is_data(tmp_path: Path) -> None:
    lines = [b'', b'{', b'[1]', b'"x"', b'\xff\xfe', b'{"event": "begin"}', b'{"event": "begin", "pid": "7"}',
             json.dumps({'event': 'begin', 'pid': 5, 'parent': 5, 'at': 1, 'command': ['a', 3, None], 'host': ['x'],
                         'ranks': {'TF_CONFIG': '[' * 100_000}}).encode(),
             json.dumps({'event': 'end', 'pid': 6, 'at': 2}).encode(), b'{"event": "end", "pid": 5, "at": "x"}',
             json.dumps({'event': 'unrecorded', 'pid': 5, 'why': '\x1b[31m\n' * 3}).encode()]
    (tmp_path / LIST).write_bytes(b'\n'.join(lines))
    (process,) = program_processes(tmp_path, {})
    assert (process.pid, process.command, process.host, process.ended, process.label) == (5, ('a', '', ''), '', None, '')
    (tmp_path / LIST).unlink()
    os.mkfifo(tmp_path / LIST)
    assert program_processes(tmp_path, {}) == ()


def test_copies_have_the_list_without_what_is_private(tmp_path: Path) -> None:
    recorded(tmp_path, WORK + '''
import subprocess
if __name__ == '__main__':
    child = "from prog import work; work(2.0); raise ValueError('secret')"
    subprocess.run([sys.executable, '-c', child, '--key=secret'], stderr=subprocess.DEVNULL)
    work(1.0)
''', env=ENVIRONMENT | {'RANK': '3'})
    for words, has_secret in ((), True), (('--strip-values', '--strip-paths'), False):
        assert ran(tmp_path, '-m', 'pyfuncdbg', 'pack', 'prog.pfd', '-o', 'x.pfz', *words).returncode == 0
        assert ran(tmp_path, '-m', 'pyfuncdbg', 'unpack', 'x.pfz', '-o', 'x.pfd').returncode == 0
        with pyfuncdbg.load(tmp_path / 'x.pfd') as trace:
            info, kept = trace.info(), [call.inputs[0].level for call in trace.calls()]
        text = (tmp_path / 'x.pfd' / LIST).read_text()
        assert len(info.tree) == 2 and info.tree[1].log == 2 and info.tree[1].parent == info.tree[0].pid
        assert ('secret' in text) == has_secret and (sysconfig.get_paths()['scripts'] in text) == has_secret
        assert info.tree[1].error == ('ValueError: secret' if has_secret else 'ValueError')
        assert kept == (['full'] * 2 if has_secret else ['none'] * 2), kept
        for path in (tmp_path / 'x.pfd').iterdir():
            path.unlink()
        (tmp_path / 'x.pfd').rmdir()
        (tmp_path / 'x.pfz').unlink()


def test_a_nested_recording_has_a_trace_of_its_own(tmp_path: Path) -> None:
    (tmp_path / 'inner.py').write_text(f'{WORK}\nprint(work(4.0))')
    info, values = recorded(tmp_path, '''
import subprocess, sys
ours = ['-m', 'pyfuncdbg', 'run', '-q', '--record', 'inner.pfd'] if 'pyfuncdbg' in sys.modules else []
subprocess.run([sys.executable, *ours, 'inner.py'])
''')
    assert len(info.tree) == 2 and values == [4.0]
    inner, values = read(tmp_path / 'inner.pfd')
    assert values == [4.0] and [process.command for process in inner.tree] == [('inner.py',)]
