"""The command line from outside: real processes, compared with plain Python where a program runs."""
from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pexpect
import pytest

import pyfuncdbg

HERE = Path(pyfuncdbg.__file__).resolve().parents[1]
ENVIRONMENT = dict(os.environ, PYTHONPATH=str(HERE), COLUMNS='120')
OURS = ('-m', 'pyfuncdbg')

SITE = '''
import sys
import numpy as np
from functools import partial
from time import perf_counter_ns
from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks import chain

class Arrays:
    """A host whose values are NumPy arrays."""
    name, version, variables = 'arrays', '', ()
    def to_numpy(self, value): return np.asarray(value)
    def from_numpy(self, array, like): return array.copy()
    def new_context(self, inputs): return None
    def call_again(self, site, inputs): return [site.function(*inputs)]
    def rng_state(self): return None
    op_draws = 0
    replay_site = None
    def make_tensor(self, array): return array
    def op_generators(self): return ()
    def restore_op_generators(self, states): pass
    def set_rng_state(self, state): pass

def wrapped(function, name):
    """`function` as a site that hooks see."""
    host = Arrays()
    site = CallSite(name, 'PyFunc', 'python', host, function=function, inputs=('x:0',), outputs=(name + ':0',))
    run, invoke = Run('eager', host, perf_counter_ns()), partial(chain.invoke, site, lambda x: [function(x)])
    return lambda x: invoke(run, [x])[0]
'''

PROGRAM = SITE + '''
def ratio(x):
    print('ratio of', len(x))
    return x / x.sum()
ratio_of = wrapped(ratio, 'ratio')
for stop in (3, 2, 1):
    print(ratio_of(np.arange(stop, dtype=np.float32)).tolist())
'''
BIRTH = f"prog.py:{PROGRAM.splitlines().index('    return x / x.sum()') + 1}"
"""Where 0 / 0 is computed in the third call, which only a look at the run can tell."""


def call(*args: str, cwd: Path, **options: object) -> subprocess.CompletedProcess[bytes]:
    options = {'env': ENVIRONMENT, 'stdin': subprocess.DEVNULL, 'capture_output': True, 'timeout': 60} | options
    return subprocess.run([sys.executable, *args], cwd=cwd, **options)  # type: ignore[call-overload]


def program(cwd: Path, source: str, name: str = 'prog.py') -> str:
    (cwd / name).write_text(source)
    return name


def recorded(cwd: Path) -> list[str]:
    return sorted(path.name for path in cwd.glob('*.pfd'))


# --- arguments ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(('args', 'said'), [
    ('',
     'no command given: expected one of run, show, open, diff, traces, clean, trim, merge, pack, unpack, verify, doctor, '
     'connect, demo, help, completion'),
    ('rnu prog.py', "no command 'rnu'; there are run, show, open, diff, traces, clean, trim, merge, pack, unpack, verify, "
                    "doctor, connect, demo, help, completion. Did you mean 'run'?"),
    ('--verison', "unrecognized arguments: --verison. Did you mean '--version'?"),
    ('run --brek norm t.py', "run: unrecognized arguments: --brek. Did you mean '--break'?"),
    ('run --opps=3 t.py', "run: unrecognized arguments: --opps=3. Did you mean '--ops'?"),
    ('run -Z t.py', 'run: unrecognized arguments: -Z'),
    ('run', 'run needs a SCRIPT'),
    ('run -m', '-m needs the name of a module'),
    ('run nothing.py', "no such file: 'nothing.py'"),
    ('run prgo.py', "Did you mean 'prog.py'?"),
    ('run .', "'.' has no __main__.py"),
    ('run -m nothing_of_that_name', "no module named 'nothing_of_that_name'"),
    ('run --budgte 1MB prog.py', '--budgte'),
    ('run --budget many prog.py', "'many' is not a size; write it as 256MB"),
    ('run --budget 0 prog.py', "'0' is not a size"),
    ('run --budget', '--budget: expected one argument'),
    ('run --record prog.py/x.pfd prog.py', "prog.py/x.pfd"),
    ('run --record /proc/x.pfd prog.py', '/proc/x.pfd'),
    ('run --record taken prog.py', "taken"),
    ('run --every 0 prog.py', "run: --every '0' is not an integer from 1 on"),
    ('run --level loss=fool prog.py', "no such level: 'loss=fool'"),
    ('run --segment much prog.py', "run: --segment: 'much' is not a size"),
    ('run --segment 5k prog.py', 'segments of 5,120 bytes: expected 65,536 to 1,099,511,627,776'),
    ('run --keep-on error --segment 1MB prog.py', '--segment cannot be combined with --keep-on'),
    ('run --keep-on error --keep-newest prog.py', '--keep-newest cannot be combined with --keep-on'),
    ('run --keep-newest --segment 1GB prog.py', 'segments of 1,073,741,824 bytes: expected 65,536 to 58,720,256,'),
    ('run --keep-on error --every 3 prog.py', '--every cannot be combined with --keep-on'),
    ('run --before 3 prog.py', 'run: --before 3: it needs --keep-on PRED'),
    ('run --keep-on has_nan(out) --before -3 prog.py', '--before'),
    ('run --keep-on has_nan(out) --after x prog.py', "run: --after 'x' is not an integer from 0 on"),
    ('run --keep-on has_nan(out) --keep-most 0 prog.py', "run: --keep-most '0' is not an integer from 1 on"),
    ('run --keep-on error --live prog.py', '--keep-on cannot be combined with the full screen'),
    ('run --keep-on error --record nowhere/x.pfd prog.py', 'there is no folder'),
    ('show', 'TRACE'),
    ('show nowhere.pfd', 'nowhere.pfd'),
    ('show taken', 'taken'),
    ('show prog.py', 'prog.py'),
    ('verify', 'SCRIPT'),
    ('verify nothing.py', 'nothing.py'),
    ('connect 1 2', '2'),
    ('demo --fixde', '--fixde'),
    ('demo extra', 'extra'),
])
def test_arguments_that_make_no_sense_get_one_line_and_exit_code_2(args: str, said: str, tmp_path: Path) -> None:
    program(tmp_path, 'print("ran")')
    (tmp_path / 'taken').mkdir()
    (tmp_path / 'taken' / 'letter.txt').write_text('mine')
    done = call(*OURS, *args.split(), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b'')
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith('pyfuncdbg: ')
    assert said in line
    assert recorded(tmp_path) == []
    assert [path.name for path in (tmp_path / 'taken').iterdir()] == ['letter.txt']


def test_control_characters_in_an_argument_are_shown_escaped(tmp_path: Path) -> None:
    for args in (['run', 'a\x1b[31m.py'], ['run', '-m', 'a\x1b[31m'], ['\x1b[31m'], ['show', 'a\x1b[31m.pfd'],
                 ['run', '--budget', '\x1b[31m', 'x.py'], ['run', '--\x1b[31m', 'x.py']):
        done = call(*OURS, *args, cwd=tmp_path)
        assert done.returncode == 2
        assert b'\x1b' not in done.stderr


@pytest.mark.parametrize(('args', 'said'), [
    ('run {} --break norm --steps 3 --ops', '--break and --ops after the script go to the script'),
    ('run --ops {} --ui=none --ui prompt', '--ui after the script goes to the script'),
    ('run -m prog --record x', '--record after the module goes to the module'),
    ('doctor {} --json', '--json after the script goes to the script'),
    ('verify --repeat 1 {} --repeat=2', '--repeat after the script goes to the script'),
    ('run --ops {} -x', ''), ('run {} --steps --opsy norm', '')])
def test_options_of_ours_after_the_script_are_the_scripts_and_that_is_said(tmp_path: Path, args: str, said: str) -> None:
    program(tmp_path, 'import sys; print(sys.argv[1:])')
    done = call(*OURS, *args.format('prog.py').split(), cwd=tmp_path)
    told = [line for line in done.stderr.decode().splitlines() if 'after the' in line]
    assert told == ([f'pyfuncdbg: {said}; put options of pyfuncdbg before it'] if said else [])
    if not args.startswith('verify'):           # which has nothing to compare here
        assert done.returncode == 0
        after = args.split('prog.py')[-1].split('{}')[-1].split('prog')[-1].split()
        assert done.stdout.decode() == f'{after}\n'


def test_a_current_folder_that_was_removed(tmp_path: Path) -> None:
    program(tmp_path, 'print("ran")')
    (tmp_path / 'gone').mkdir()
    start = f'cd gone && rmdir ../gone && exec {sys.executable} -m pyfuncdbg run'
    for words, code, out, said in (('--record "$0/t.pfd" "$0/prog.py"', 0, b'ran\n', b'pyfuncdbg'),
                                   ('"$0/prog.py"', 2, b'', b'prog.pfd: cannot record there: No such file or directory'),
                                   ('prog.py', 2, b'', b'no such file')):
        (tmp_path / 'gone').mkdir(exist_ok=True)
        done = subprocess.run(['bash', '-c', f'{start} {words}', str(tmp_path)], cwd=tmp_path, env=ENVIRONMENT,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
        assert (done.returncode, done.stdout) == (code, out) and b'Traceback' not in done.stderr
        assert said in done.stderr, done.stderr
    assert (tmp_path / 't.pfd' / 'manifest.json').is_file()


def test_version_and_help(tmp_path: Path) -> None:
    for option in ('--version', '-V'):
        assert call(*OURS, option, cwd=tmp_path).stdout == f'pyfuncdbg {pyfuncdbg.__version__}\n'.encode()
    for args in (['--help'], ['run', '--help'], ['show', '--help'], ['demo', '--help']):
        done = call(*OURS, *args, cwd=tmp_path)
        assert done.returncode == 0
        assert b'usage: pyfuncdbg' in done.stdout
        assert done.stderr == b''


# --- run ------------------------------------------------------------------------------------------------------------

ENDS = {
    'end': ('', 0),
    'sys.exit': ('sys.exit(3)', 3),
    'text': ('sys.exit("no such model")', 1),
    'exception': ('def f(): raise KeyError("x")\nf()', 1),
    'interrupt': ('import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)', -signal.SIGINT),
    'atexit': ('import atexit\natexit.register(lambda: print(ratio_of(np.ones(4)), flush=True))\nsys.stdout.flush()', 0),
    'thread': ('import threading, time\ndef late():\n    time.sleep(.2); ratio_of(np.ones(4))\n'
               'threading.Thread(target=late).start()', 0),
    'no stdout': ('sys.stdout.flush()\ndel sys.stdout', 0),
}


@pytest.mark.parametrize('name', ENDS)
def test_a_program_is_unchanged_and_reported_on_stderr(name: str, tmp_path: Path) -> None:
    source, code = ENDS[name]
    script = program(tmp_path, PROGRAM + source)
    plain = call(script, cwd=tmp_path)
    assert plain.returncode == code
    ours = call(*OURS, 'run', script, cwd=tmp_path)
    assert (ours.returncode, ours.stdout) == (plain.returncode, plain.stdout)
    assert ours.stderr.startswith(plain.stderr)
    report = ours.stderr[len(plain.stderr):].decode()
    assert 'pyfuncdbg show prog.pfd call 3' in report
    assert BIRTH in report
    calls = len(pyfuncdbg.load(tmp_path / 'prog.pfd').calls())
    assert calls == (4 if name in ('atexit', 'thread') else 3)


def test_a_module_is_run_and_recorded_too(tmp_path: Path) -> None:
    program(tmp_path, PROGRAM, 'ratios.py')
    plain = call('-m', 'ratios', cwd=tmp_path)
    ours = call(*OURS, 'run', '-m', 'ratios', cwd=tmp_path)
    assert (ours.returncode, ours.stdout) == (plain.returncode, plain.stdout) == (0, plain.stdout)
    assert recorded(tmp_path) == ['ratios.pfd']


def test_what_follows_the_script_is_the_scripts(tmp_path: Path) -> None:
    script = program(tmp_path, 'import sys; print(sys.argv)')
    args = ['--record', 'a b', '--help', '-m', '--', '--budget']
    assert call(*OURS, 'run', script, *args, cwd=tmp_path).stdout.decode().strip() == str([script, *args])
    assert call(*OURS, 'run', '--', script, *args, cwd=tmp_path).stdout.decode().strip() == str([script, *args])


def test_traces_are_numbered_and_never_overwritten(tmp_path: Path) -> None:
    script = program(tmp_path, PROGRAM)
    for _ in range(3):
        assert call(*OURS, 'run', script, cwd=tmp_path).returncode == 0
    assert recorded(tmp_path) == ['prog-2.pfd', 'prog-3.pfd', 'prog.pfd']
    assert call(*OURS, 'run', '--record', 'other.pfd', script, cwd=tmp_path).returncode == 0
    assert len(pyfuncdbg.load(tmp_path / 'other.pfd').calls()) == 3
    again = call(*OURS, 'run', '--record', 'other.pfd', script, cwd=tmp_path)
    assert (again.returncode, again.stdout) == (2, b'')
    assert b'other.pfd' in again.stderr


def test_the_program_finds_nothing_of_ours_in_its_way(tmp_path: Path) -> None:
    """No face is loaded into its process, and its own modules of the same names do not disturb the report."""
    program(tmp_path, 'raise SystemError("not rich")', 'rich.py')
    program(tmp_path, '', 'argparse.py')
    (tmp_path / 'bin').mkdir()
    command = program(tmp_path, 'import sys\nfrom pyfuncdbg.cli import main\nsys.exit(main())', 'bin/pyfuncdbg')
    heavy = ('rich', 'textual', 'IPython', 'sqlite3', 'debugpy')
    script = program(tmp_path, PROGRAM + f'print([name for name in {heavy} if name in sys.modules])\n'
                     'import os; os.chdir("/"); os.environ.clear()')
    done = call(command, 'run', '--record', 'x.pfd', script, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.endswith(b'\n[]\n')
    assert BIRTH.encode() in done.stderr


def test_a_recording_loads_neither_commands_nor_the_debugger_nor_the_doctor(tmp_path: Path) -> None:
    unneeded = ('numpy', 'ml_dtypes', 'pyfuncdbg.observers.debug', 'pyfuncdbg.ui.commands.engine',
                'pyfuncdbg.ui.commands.table', 'pyfuncdbg.ui.views', 'pyfuncdbg.ui.prompt.install', 'pyfuncdbg.hosts.numpy',
                'pyfuncdbg.hooks.diagnosis',
                'pyfuncdbg.hooks.facts', 'pyfuncdbg.observers.record.trace', 'pyfuncdbg.observers.record.selective_calls',
                'pyfuncdbg.observers.record.recorder')
    listing = f'print([name for name in sys.modules if name.startswith({unneeded}) and name not in known])'
    script = program(tmp_path, f'import sys; known = ()\n{listing}\n')
    assert call(*OURS, 'run', script, cwd=tmp_path).stdout == b'[]\n'
    script = program(tmp_path, f'{SITE}\nknown = {{*sys.modules}}\nwrapped(abs, "a")(1)\n{listing}\n')
    loaded = call(*OURS, 'run', script, cwd=tmp_path).stdout.decode()
    assert "'pyfuncdbg.observers.record.recorder'" in loaded        # with the first call, and nothing beside it
    assert not [name for name in unneeded[2:-1] if f"'{name}" in loaded]


def test_a_forked_child_reports_nothing_of_its_own(tmp_path: Path) -> None:
    script = program(tmp_path, PROGRAM + 'import os\nsys.stdout.flush()\n'
                     'if os.fork() == 0:\n    ratio_of(np.ones(5)); sys.exit(0)\nos.wait()\n')
    done = call(*OURS, 'run', script, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.count(b'pyfuncdbg show prog.pfd call 3') == 1
    assert len(pyfuncdbg.load(tmp_path / 'prog.pfd').calls()) == 4


def test_workers_of_multiprocessing_record_too_and_nothing_of_theirs_changes(tmp_path: Path) -> None:
    source = PROGRAM + '''
import multiprocessing
def work(n): return ratio_of(np.ones(n)).sum()
if __name__ == '__main__':
    for way in ('fork', 'spawn'):
        with multiprocessing.get_context(way).Pool(1) as pool:
            print(way, pool.map(work, [4, 5]))
            pool.close(); pool.join()
'''
    script = program(tmp_path, source)
    plain, ours = call(script, cwd=tmp_path), call(*OURS, 'run', script, cwd=tmp_path)
    assert (ours.returncode, sorted(ours.stdout.splitlines())) == (0, sorted(plain.stdout.splitlines()))
    shapes = [found.inputs[0].shape for found in pyfuncdbg.load(tmp_path / 'prog.pfd').calls()]
    # The spawned process and the worker that it is execute the script once more.
    assert sorted(shapes) == [(1,), (1,), (2,), (2,), (3,), (3,), (4,), (4,), (5,), (5,)]


def test_on_a_terminal_ctrl_c_ends_the_program_and_the_report_follows(tmp_path: Path) -> None:
    script = program(tmp_path, PROGRAM + 'print("waiting", sys.stdout.isatty(), sys.stderr.isatty(), flush=True)\n'
                     'import time; time.sleep(30)')
    child = pexpect.spawn(sys.executable, [*OURS, 'run', script], cwd=tmp_path, env=ENVIRONMENT, timeout=30,  # type: ignore
                          encoding='utf-8', dimensions=(40, 120))
    child.expect_exact('waiting True True')
    child.sendintr()
    child.expect_exact('KeyboardInterrupt')
    child.expect_exact(BIRTH)
    child.expect(pexpect.EOF)
    child.close()
    assert child.signalstatus == signal.SIGINT


def test_a_program_without_stderr_ends_as_it_would(tmp_path: Path) -> None:
    script = program(tmp_path, PROGRAM + 'import os; os.close(2); sys.stdout.close(); sys.exit(5)')
    assert call(*OURS, 'run', script, cwd=tmp_path).returncode == 5
    assert len(pyfuncdbg.load(tmp_path / 'prog.pfd').calls()) == 3


@pytest.mark.parametrize('sign', [signal.SIGTERM, signal.SIGKILL])
def test_what_was_recorded_before_a_kill_is_kept(sign: signal.Signals, tmp_path: Path) -> None:
    script = program(tmp_path, PROGRAM + 'print("waiting", flush=True)\nimport time; time.sleep(30)')
    with subprocess.Popen([sys.executable, *OURS, 'run', script], cwd=tmp_path, env=ENVIRONMENT, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert 'waiting\n' in iter(process.stdout.readline, '')
        time.sleep(1)                               # a finished call is on disk after half a second
        process.send_signal(sign)
        assert process.wait(20) == -sign
    assert len(pyfuncdbg.load(tmp_path / 'prog.pfd').calls()) == 3
    shown = call(*OURS, 'show', 'prog.pfd', cwd=tmp_path)
    assert shown.returncode == 0
    assert b'ratio' in shown.stdout


def test_an_interrupt_from_the_terminal_in_the_middle_of_a_call(tmp_path: Path) -> None:
    script = program(tmp_path, SITE + 'import time\ndef slow(x):\n    print("in", flush=True); time.sleep(30)\n'
                     'wrapped(slow, "slow")(np.ones(2))')
    with subprocess.Popen([sys.executable, *OURS, 'run', script], cwd=tmp_path, env=ENVIRONMENT, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == 'in\n'
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT
    assert 'KeyboardInterrupt' in err
    (found,) = pyfuncdbg.load(tmp_path / 'prog.pfd').calls()
    assert found.error is not None
    assert found.error.type == 'KeyboardInterrupt'
    assert 'pyfuncdbg show prog.pfd call 1' in err


def test_a_disk_that_fills_up_does_not_stop_the_program(tmp_path: Path) -> None:
    """A limit on the size of files fails writes as a full disk does; the program is the one that sets it."""
    script = program(tmp_path, SITE + '''
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
sys.dont_write_bytecode = True                  # else what is compiled would be cut off, for all who come after
double = wrapped(lambda x: x * 2, 'double')
total = sum(double(np.ones(10)).sum() > 0 for _ in range(5))
import time; time.sleep(0.6)                    # by now these are on disk
total += sum(double(np.random.rand(4000)).sum() > 0 for _ in range(95))
print('done', total)
sys.exit(6)
''')
    done = call(*OURS, 'run', script, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (6, b'done 100\n')
    assert b'pyfuncdbg' in done.stderr
    assert b'Traceback' not in done.stderr
    trace = pyfuncdbg.load(tmp_path / 'prog.pfd')
    whole = [call for call in trace.calls() if call.inputs[0].level == 'full']
    assert 5 <= len(whole) < 100 and trace.count() + trace.info().dropped.get('calls', 0) == 100


# --- show -----------------------------------------------------------------------------------------------------------

@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with prog.pfd in it."""
    path = tmp_path_factory.mktemp('shown')
    done = call(*OURS, 'run', program(path, PROGRAM), cwd=path)
    assert done.returncode == 0
    (path / 'report.txt').write_bytes(done.stderr)
    return path


def test_the_report_is_what_show_shows_without_a_command(folder: Path) -> None:
    shown = call(*OURS, 'show', 'prog.pfd', cwd=folder).stdout.decode()
    at_the_end = (folder / 'report.txt').read_text()
    drawn = [re.sub(r'\s*[│|].*prog.pfd.*|\S*prog\.pfd\S*', '', line) for line in shown.splitlines()]
    ended = [re.sub(r'\s*[│|].*prog.pfd.*|\S*prog\.pfd\S*', '', line) for line in at_the_end.splitlines()]
    assert len(drawn) > 5
    assert set(drawn) <= set(ended)


@pytest.mark.parametrize(('command', 'said'), [
    ('info', '3.11|3.12|3.13'), ('calls', 'ratio'), ('call 3', r'ratio\[2\]'), ('out 1', 'ratio of 3'), ('lt', 'ratio:0'),
])
def test_commands_of_show(command: str, said: str, folder: Path) -> None:
    done = call(*OURS, 'show', 'prog.pfd', *command.split(), cwd=folder)
    assert done.returncode == 0, done.stderr
    assert re.search(said, done.stdout.decode())
    assert done.stderr == b''


@pytest.mark.parametrize('command', ['', 'calls', 'call 3', 'lt', 'info', 'health', 'help calls', 'lp', 'ls'])
def test_lines_in_a_pipe_have_no_blanks_at_their_ends(command: str, folder: Path) -> None:
    done = call(*OURS, 'show', 'prog.pfd', *command.split(), cwd=folder)
    assert done.stdout and not [line for line in done.stdout.decode().splitlines() if line != line.rstrip()]


def test_a_command_answers_with_json_too(folder: Path) -> None:
    import json
    for command in (['info'], ['calls'], ['call', '3'], []):
        done = call(*OURS, 'show', 'prog.pfd', *command, '--json', cwd=folder)
        assert done.returncode == 0, done.stderr
        json.loads(done.stdout)


def test_an_answer_from_a_damaged_trace_is_never_shown_as_a_whole_one(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / 'prog.pfd', tmp_path / 'cut.pfd')
    (log,) = (tmp_path / 'cut.pfd').glob('*.log')
    with log.open('r+b') as file:
        file.truncate(log.stat().st_size - 3)
    told = f'pyfuncdbg: damaged: {log.name}: ends in the middle of a record at byte'
    for command in (['calls'], ['calls', '--json'], ['lp'], ['lt']):
        done = call(*OURS, 'show', 'cut.pfd', *command, cwd=tmp_path)
        assert done.returncode == 0 and done.stderr.decode().startswith(told) and done.stderr.count(b'\n') == 1, command
    done = call(*OURS, 'show', 'cut.pfd', 'call', '99', cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.decode().startswith(told), 'what is missing may be in the damaged part'
    for command in ([], ['info']):
        done = call(*OURS, 'show', 'cut.pfd', *command, cwd=tmp_path)
        assert told.removeprefix('pyfuncdbg: ') in done.stdout.decode() and done.stderr == b'', command


@pytest.mark.parametrize(('command', 'said'), [
    ('cals', "Did you mean 'calls'"), ('cals', "'pyfuncdbg show prog.pfd help' lists"), ('call', 'call'), ('call 99', '99'),
    ('call 3 --depht', '--depht'),
])
def test_a_wrong_command_of_show_gets_one_line(command: str, said: str, folder: Path) -> None:
    done = call(*OURS, 'show', 'prog.pfd', *command.split(), cwd=folder)
    assert (done.returncode, done.stdout) == (2, b'')
    (line,) = done.stderr.decode().splitlines()
    assert said in line


@pytest.mark.parametrize('options', ['', '--json'])
def test_a_reader_that_goes_away_is_no_error(options: str, folder: Path) -> None:
    piped = f'{sys.executable} -m pyfuncdbg show prog.pfd calls {options} | true'
    done = subprocess.run(['bash', '-c', piped], cwd=folder, env=ENVIRONMENT, capture_output=True, timeout=60)
    assert done.stderr == b''


def test_what_a_program_printed_shows_in_any_encoding(tmp_path: Path) -> None:
    script = program(tmp_path, SITE + 'def say(x):\n    print("\\u2192 \\U0001f600"); return x\n'
                                      'wrapped(say, "say")(np.ones(2))')
    assert call(*OURS, 'run', script, cwd=tmp_path).returncode == 0
    shown = call(*OURS, 'show', 'prog.pfd', 'out', '1', cwd=tmp_path, env=ENVIRONMENT | {'PYTHONIOENCODING': 'ascii'})
    assert (shown.returncode, shown.stderr) == (0, b'')
    assert b'\\u2192 \\U0001f600' in shown.stdout


@pytest.mark.parametrize('args', [('traces', '.'), ('completion', 'zsh'), ('show', 'x.pfd', 'calls', '--json'),
                                  ('show', 'x.pfd')])
def test_a_reader_that_has_had_enough_is_no_error(args: tuple[str, ...], tmp_path: Path) -> None:
    """As with `| head`: nothing on stderr, neither now nor when the interpreter ends."""
    with pyfuncdbg.record(tmp_path / 'x.pfd'):
        pass
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = call(*OURS, *args, cwd=tmp_path, capture_output=False, stdout=writing, stderr=subprocess.PIPE)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, b'')
