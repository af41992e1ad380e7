"""Commands from a pipe, from a file, and from nowhere: what is said, what the program prints and how it ends."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pyfuncdbg

HERE = Path(pyfuncdbg.__file__).resolve().parents[1]

MODEL = '''\
import numpy as np
from pyfuncdbg import tf

def twice(x):
    y = x * 2
    return y

for i in range(3):
    print(tf.numpy_function(twice, [np.array([i])], tf.int64).numpy()[0])
'''


def run(folder: Path, *options: str, given: str | None = None, source: str = MODEL,
        report: bool = False) -> subprocess.CompletedProcess[str]:
    (folder / 'model.py').write_text(source)
    source_of_commands = {'stdin': subprocess.DEVNULL} if given is None else {'input': given}
    words = [] if report else ['-q']
    return subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', *words, *options, 'model.py'], cwd=folder, text=True,
                          timeout=60, env=dict(os.environ, PYTHONPATH=str(HERE), COLUMNS='120'), capture_output=True,
                          **source_of_commands)  # type: ignore[call-overload]


def test_commands_come_from_a_pipe_and_stdout_is_the_programs_alone(tmp_path: Path) -> None:
    done = run(tmp_path, '--break', 'twice', '--if', 'x[0] == 1', given='p x * 7\nstep\nnext\np y\ny = y + 40\ncont\n')
    assert (done.returncode, done.stdout) == (0, '0\n42\n4\n')
    for line in ('(pfd) p x * 7', '(pfd) step', '(pfd) cont'):
        assert line in done.stderr
    assert done.stderr.index('(pfd) step') < done.stderr.index('model.py:5') < done.stderr.index('(pfd) next')


def test_values_before_an_error_on_a_line_are_shown(tmp_path: Path) -> None:
    done = run(tmp_path, '--break', 'function:twice --once', given="40 + 1; 'two'; x / None; 44\ncont\n")
    assert '(pfd) 40 + 1; \'two\'; x / None; 44\n41\n\'two\'\n*** TypeError: ' in done.stderr, done.stderr
    assert '\n44\n' not in done.stderr and done.stdout == '0\n2\n4\n'


def test_what_a_command_prints_is_no_output_of_the_program(tmp_path: Path) -> None:
    source = MODEL.replace('    y = x * 2\n', "    y = x * 2\n    print('in twice')\n")
    done = run(tmp_path, '--break', 'function:twice --once', source=source,
               given='print("TYPED 1")\nimport warnings\nwarnings.warn("TYPED 2")\ntwice(x)\ncont\n')
    assert (done.returncode, done.stdout) == (0, 'in twice\n0\nin twice\n2\nin twice\n4\n')
    assert [line for line in done.stderr.splitlines() if line == 'TYPED 1' or line == 'in twice'] == ['TYPED 1', 'in twice']
    assert 'UserWarning: TYPED 2' in done.stderr
    said = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'show', 'model.pfd', 'out', '1'], cwd=tmp_path, text=True,
                          timeout=60, env=dict(os.environ, PYTHONPATH=str(HERE), COLUMNS='120'), capture_output=True).stdout
    assert said.count('in twice') == 1 and 'TYPED' not in said          # of the call, not of what was typed in it


OPENED = '''\
import os, sys
opened = []
sys.addaudithook(lambda event, args: opened.append(args[0]) if event == 'open' and str(args[0]).endswith('.log')
                 and not (args[2] or 0) & (os.O_WRONLY | os.O_RDWR) else None)
'''


@pytest.mark.parametrize(('lines', 'reads'), [('p x\nw\nlist\nnext\nargs\np y\nb\ncont\n', False), ('calls\ncont\n', True)])
def test_the_trace_is_read_when_a_command_asks_for_it(lines: str, reads: bool, tmp_path: Path) -> None:
    source = OPENED + MODEL.replace('range(3)', 'range(1)') + (
        'print(bool(opened), "pyfuncdbg.observers.record.trace" in sys.modules)\n')
    done = run(tmp_path, '--break', 'twice', given=lines, source=source)
    assert (done.returncode, done.stdout) == (0, f'0\n{reads} {reads}\n'), done.stderr


@pytest.mark.parametrize('words', ['twice if x[0] == 1', 'twice  if(x[0] == 1)', 'model.py:5 if x[0] == 1'])
def test_a_breakpoint_in_the_words_of_the_prompt(words: str, tmp_path: Path) -> None:
    done = run(tmp_path, '--break', words, given='p x * 7\ncont\n')
    assert (done.returncode, done.stdout) == (0, '0\n2\n4\n')
    assert done.stderr.count('STOPPED') == 1 and 'call 2 of node' in done.stderr and 'stopped nothing' not in done.stderr


@pytest.mark.parametrize(('words', 'why'), [
    ('twcie', "nothing of that name ran. Did you mean 'twice'?"),
    ('function:twcie', "no wrapped function of that name was called. Did you mean 'twice'?"),
    ('function:PyFunc', 'no wrapped function of that name was called.'),
    ('twice if x[0] == 5', "'x[0] == 5' was never true at PyFunc."),
    ('model.py:6 if x[0] == 5', "'x[0] == 5' was never true at {folder}/model.py:6 twice."),
    ('rare.py:3 if x > 0', 'the program never came to {folder}/rare.py:3 rare.'),
    ('rare.py:4 if x > 9', "'x > 9' was never true at {folder}/rare.py:4 rare."),
    ('rare.py:4 if [n for n in (x,) if n > 9]', "'[n for n in (x,) if n > 9]' was never true at {folder}/rare.py:4 rare."),
    ('twice[7]', 'there was no such call at PyFunc.'),
    ('#70', 'there was no such call.'),
    ('other.py:2', 'the program never came to {folder}/other.py:2 other.')])
def test_a_breakpoint_that_stopped_nothing_is_told_of_below_the_report(words: str, why: str, tmp_path: Path) -> None:
    (tmp_path / 'other.py').write_text('def other(x):\n    return x\n')
    (tmp_path / 'rare.py').write_text('''def rare(x):
    if x > 5:
        x += 1
    x += 1
    return lambda y: y
''')
    done = run(tmp_path, '--break', words, source=f'import rare\n{MODEL}rare.rare(1)\n')
    assert (done.returncode, done.stdout) == (0, '0\n2\n4\n')
    place = words.partition(' if')[0]
    assert done.stderr.splitlines()[-1] == (
        f'pyfuncdbg: breakpoint 1 ({place}) stopped nothing: {why.format(folder=tmp_path)}')


def test_a_condition_that_raises_is_asked_about_once_and_counted_below_the_report(tmp_path: Path) -> None:
    done = run(tmp_path, '--break', 'twice if x.foo > 1', given='c\n' * 3)
    assert (done.returncode, done.stdout.count('STOPPED') + done.stderr.count('STOPPED')) == (0, 1)
    assert done.stderr.splitlines()[-1].startswith(
        'pyfuncdbg: breakpoint 1 (twice): its condition x.foo > 1 raised 3 times, the first time AttributeError: ')


def test_a_file_whose_folder_the_program_adds_itself(tmp_path: Path) -> None:
    (tmp_path / 'lib').mkdir()
    (tmp_path / 'lib' / 'work.py').write_text('def twice(x):\n    y = x * 2\n    return y\n')
    source = "import sys\nsys.path.insert(0, 'lib')\n" + MODEL.replace('for i', 'from work import twice\nfor i')
    done = run(tmp_path, '--break', 'work.py:3', '--break', 'wrok.py:3', given='p y + 40\nclear 1\ncont\n', source=source)
    assert (done.returncode, done.stdout) == (0, '0\n2\n4\n')
    told = [line for line in done.stderr.splitlines() if line.startswith('pyfuncdbg: breakpoint')]
    assert told[0].startswith("pyfuncdbg: breakpoint 1 (work.py:3) is pending: no file 'work.py' is loaded")
    assert 'STOPPED in twice at work.py:3' in done.stderr
    assert '40' in done.stderr.partition('(pfd) p y + 40\n')[2].partition('(pfd)')[0]
    assert len(told) == 3 and "breakpoint 2 (wrok.py:3) stopped nothing: no file 'wrok.py' is loaded" in told[2]
    assert told[2].endswith("Did you mean 'work.py'?")


@pytest.mark.parametrize('options', [['--break', 'twice if out[0] == 2'], ['--catch'],
                                     ['--break', 'model.py:6 if y[0] == 2']])
def test_a_call_that_was_made_is_made_again_and_stepped(options: list[str], tmp_path: Path) -> None:
    source = MODEL.replace('x * 2', '{0: 0, 1: 2, 2: 4}[int(x[0])] + 0 * x')
    if options == ['--catch']:
        source = source.replace('1: 2, ', '')
    done = run(tmp_path, *options, given='retry --into\np x[0]\nnext\np "line passed"\ncont\ncont\n', source=source)
    first, again, *_ = done.stderr.split('STOPPED ')[1:]
    assert 'call 2 of node' in first and 'happen again' in first
    assert again.startswith('in twice at model.py:5') and '(pfd) p x[0]\nint64 1\n' in again
    if options == ['--catch']:
        assert done.returncode == 1 and 'KeyError: 1' in done.stderr
    else:
        assert (done.returncode, done.stdout) == (0, '0\n2\n4\n') and 'line passed' in done.stderr


def test_a_call_that_was_aborted_is_no_fault_of_its_function(tmp_path: Path) -> None:
    done = run(tmp_path, '--break', 'twice', given='step\nabort\n', report=True)
    assert (done.returncode, done.stdout) == (130, '')
    assert 'call #1 PyFunc[0] was aborted at stop 2\n' in done.stderr and 'the call that was aborted' in done.stderr
    assert 'RunAborted' not in done.stderr and 'library frames' not in done.stderr


@pytest.mark.parametrize('named', ['', 'twice ', 'PyFunc '])
def test_a_function_is_swapped_by_its_own_name_or_its_nodes(named: str, tmp_path: Path) -> None:
    done = run(tmp_path, '--break', 'twice if out[0] == 2', given=f'swap {named}lambda x: x * 50\ncont\nquit\n')
    assert (done.returncode, done.stdout) == (0, '0\n50\n4\n') and '<lambda> instead of twice' in done.stderr


BYTES = ('raw[0] == 50', 'raw == b"2"', 'changed(raw) and raw > b"1"', 'out == b"2!"',
         'raw.endswith(b"2") and not has_nan(raw)')


@pytest.mark.parametrize('op', ['numpy_function', 'py_function'])
def test_a_single_string_is_bytes_in_a_condition(op: str, tmp_path: Path) -> None:
    functions = [f'marked{number}' for number in range(len(BYTES))]
    source = ''.join(f'''
def {name}(raw):
    return (raw if isinstance(raw, bytes) else raw.numpy()) + b'!'
''' for name in functions) + f'''
from pyfuncdbg import tf
def traced(marked):
    return tf.function(lambda word: tf.{op}(marked, [word], tf.string))
for marked in ({', '.join(functions)}):
    step = traced(marked)
    for word in (b'1', b'2'):
        print(step(tf.constant(word)).numpy())
'''
    breaks = [word for name, condition in zip(functions, BYTES, strict=True)
              for word in ('--break', f'{name} if {condition}')]
    done = run(tmp_path, *breaks, given='p "here"\ncont\n' * len(BYTES), source=source, report=True)
    assert (done.returncode, done.stdout) == (0, "b'1!'\nb'2!'\n" * len(BYTES))
    assert done.stderr.count('STOPPED') == done.stderr.count('call 2 of node') == len(BYTES) and 'Error' not in done.stderr
    assert [done.stderr.count(f' {name} ') > 0 for name in functions] == [True] * len(BYTES)


def test_who_has_left_is_told_of_no_breakpoint(tmp_path: Path) -> None:
    done = run(tmp_path, '--break', 'twice', '--break', 'twcie', given='quit\n')
    assert (done.returncode, done.stdout) == (0, '0\n2\n4\n') and 'stopped nothing' not in done.stderr


def test_a_program_reads_the_lines_behind_its_commands(tmp_path: Path) -> None:
    source = MODEL.replace('    return y', '    return y + int(input())')
    done = run(tmp_path, '--break', 'twice', given='cont\n10\ncont\n20\ncont\n30\n', source=source)
    assert (done.returncode, done.stdout) == (0, '10\n22\n34\n')


@pytest.mark.parametrize('verb', ['step', 'next', 'return', 'until'])
def test_steps_end_with_the_program_and_go_on_in_no_library(verb: str, tmp_path: Path) -> None:
    source = 'import atexit, logging\nhandler = logging.StreamHandler()\natexit.register(print, "bye")\n' + MODEL
    done = run(tmp_path, '--break', 'twice', '--if', 'x[0] == 2', given='next\n' * 5 + f'{verb}\n' * 5, source=source)
    assert (done.returncode, done.stdout) == (0, '0\n2\n4\nbye\n')
    assert done.stderr.count('STOPPED') == 6 and 'STOPPED returning from <module>' in done.stderr
    assert 'Exception ignored' not in done.stderr and 'the user is gone' not in done.stderr


STEPPED = MODEL + 'import sys\nprint(sys.gettrace())\n'


@pytest.mark.parametrize(('commands', 'places'), [
    (['return', 'cont', 'cont', 'cont'], ['line', 'after', 'line', 'line']),
    (['next', 'next', 'cont', 'cont', 'cont'], ['line', 'line', 'after', 'line', 'line']),
    (['retry', 'cont', 'cont', 'cont'], ['line', 'line', 'line', 'line']),
    (['quit'], ['line'])])
def test_a_line_that_is_the_only_breakpoint(commands: list[str], places: list[str], tmp_path: Path) -> None:
    done = run(tmp_path, '--break', 'model.py:5', given='\n'.join(commands) + '\n', source=STEPPED)
    assert (done.returncode, done.stdout) == (0, '0\n2\n4\nNone\n'), done.stderr
    found = ['after' if line.startswith('STOPPED after') else 'line' for line in done.stderr.splitlines()
             if line.startswith('STOPPED')]
    assert found == places
    assert 'Error' not in done.stderr


def test_an_error_below_a_line_that_is_the_only_breakpoint(tmp_path: Path) -> None:
    source = MODEL.replace('    return y', '    raise ValueError(y)').replace('    print(', '    try: print(') + (
        '    except Exception as error: print(type(error).__name__)\nimport sys\nprint(sys.gettrace())\n')
    done = run(tmp_path, '--break', 'model.py:5', given='next\nnext\ncont\ncont\ncont\n', source=source)
    assert done.stdout.splitlines() == ['ValueError'] * 3 + ['None'], done.stderr
    assert done.stderr.count('breakpoint 1\n') == 3 and 'Exception ignored' not in done.stderr


@pytest.mark.parametrize(('end', 'code', 'printed'), [('cont', 0, '0\n2\n4\n'), ('abort', 130, '0\n')])
def test_when_the_pipe_ends_the_run_goes_on_or_ends_as_set(end: str, code: int, printed: str, tmp_path: Path) -> None:
    done = run(tmp_path, '--break', 'twice', '--on-eof', end, given='cont\n', report=True)
    assert (done.returncode, done.stdout) == (code, printed)
    assert done.stderr.count('the user is gone') == 1
    assert done.stderr.count('STOPPED') == 2
    assert '-> model.pfd' in done.stderr


def test_without_a_terminal_or_pipe_stops_are_told_and_noted(tmp_path: Path) -> None:
    for options in ((), ('--ui', 'none')):
        done = run(tmp_path, '--break', 'twice', *options)
        assert (done.returncode, done.stdout) == (0, '0\n2\n4\n')
        assert done.stderr.count('not stopped entering twice at model.py:4, PyFunc[') == 3
    with pyfuncdbg.load(tmp_path / 'model.pfd') as trace:
        assert [note.data['reason'] for note in trace.notes() if note.kind == 'stop'] == ['breakpoint 1'] * 3


def test_a_command_file_comes_first_and_its_errors_are_placed(tmp_path: Path) -> None:
    (tmp_path / 'commands').write_text('# look\n\np x + 100\nptt x\ncont\n')
    done = run(tmp_path, '--break', 'twice', '-x', 'commands', given='quit\n')
    assert (done.returncode, done.stdout) == (0, '0\n2\n4\n')
    assert '(pfd) p x + 100' in done.stderr
    assert '*** commands:4: ' in done.stderr
    assert done.stderr.index('*** commands:4') < done.stderr.index('(pfd) quit')


def test_breakpoint_needs_no_option(tmp_path: Path) -> None:
    source = MODEL.replace('    return y', '    breakpoint()\n    return y')
    done = run(tmp_path, given='y = y * 0 + 9\nquit\n', source=source)
    assert (done.returncode, done.stdout) == (0, '9\n2\n4\n')


@pytest.mark.parametrize(('options', 'said'), [
    (['--if', 'x'], 'it needs a --break before it, and there is none'),
    (['--break', 'f', '--if', 'x', '--if', 'y'], 'there is another --if'),
    (['--break', ''], 'no place given'),
    (['--break', 'f', '--if', 'x +'], 'bad condition'),
    (['--break', 'f if'], "a condition is missing after 'if'"),
    (['--break', 'f if x', '--if', 'y'], 'there is another --if'),
    (['--ui', 'screen'], "invalid choice: 'screen'"),
    (['--on-eof', 'wait'], "invalid choice: 'wait'"),
    (['-x', 'nothing'], "cannot read the commands in 'nothing'"),
])
def test_options_that_make_no_sense_get_one_line(options: list[str], said: str, tmp_path: Path) -> None:
    done = run(tmp_path, *options)
    assert (done.returncode, done.stdout) == (2, '')
    assert done.stderr.startswith('pyfuncdbg: ')
    assert said in done.stderr
    assert not list(tmp_path.glob('*.pfd'))


def test_ctrl_c_ends_a_program_that_waits_for_commands_that_never_come(tmp_path: Path) -> None:
    (tmp_path / 'model.py').write_text(MODEL)
    words = [sys.executable, '-m', 'pyfuncdbg', 'run', '--break', 'twice', 'model.py']
    with subprocess.Popen(words, cwd=tmp_path, text=True, env=dict(os.environ, PYTHONPATH=str(HERE)),
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdin is not None
        assert program.stderr is not None
        program.stdin.write('p x\n')
        program.stdin.flush()
        while 'x  int64' not in program.stderr.readline():
            pass
        program.stdin.write('p 6*7\n')
        program.stdin.flush()
        while '42' not in program.stderr.readline():
            pass
        time.sleep(0.2)                         # until it reads again
        program.send_signal(signal.SIGINT)
        assert program.wait(30) == 130


def end_of(tmp_path: Path, program: str) -> str:
    """The line after the report's title, of MODEL and what comes after it."""
    done = run(tmp_path, source=MODEL + program, report=True)
    return done.stderr[done.stderr.index('pyfuncdbg  '):].split('\n')[2]


CAUGHT = """
def missing(x):
    raise KeyError('missing')
with tf.Session() as session:
    node = tf.py_func(missing, [tf.constant(1.0)], tf.float32)
    try:
        session.run(node)
    except tf.errors.OpError as error:
        last = error
"""


@pytest.mark.parametrize(('program', 'line'), [
    (CAUGHT + 'raise RuntimeError("no data") from last\n', 'The program ended with RuntimeError: no data'),
    (CAUGHT + 'raise last\n', "The program ended with KeyError: 'missing', raised as UnknownError (call #4)"),
    (CAUGHT + 'import sys; sys.exit("no data")\n', 'The program ended with SystemExit: no data'),
    ('import sys; sys.exit(3)\n', 'The program ended with exit code 3'),
    ('import sys; sys.exit(0)\n', 'No call raised, and none made NaN or Inf.'),
    ('import code; code.InteractiveInterpreter().runsource("1/0")\n', 'No call raised, and none made NaN or Inf.')])
def test_the_reports_first_line_says_of_what_a_program_died_whatever_its_calls_did(
        tmp_path: Path, program: str, line: str) -> None:
    assert end_of(tmp_path, program) == line


def test_the_report_says_of_what_a_program_died_where_no_call_raised(tmp_path: Path) -> None:
    done = run(tmp_path, source=MODEL + 'raise ValueError("no\\x1b[2J luck\\nat all")\n', report=True)
    assert done.returncode == 1
    _, title, _, why, verdict, *_ = done.stderr[done.stderr.index('\npyfuncdbg  '):].split('\n')
    assert title.startswith('pyfuncdbg  1 run') and why == r'The program ended with ValueError: no\x1b[2J luck'
    assert verdict == 'No call raised, and none made NaN or Inf.'
    shown = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'show', 'model.pfd'], cwd=tmp_path, capture_output=True,
                           text=True, env=dict(os.environ, PYTHONPATH=str(HERE), COLUMNS='120'), timeout=60)
    assert why in shown.stdout.splitlines()


LINES = '''\
import numpy as np
import tensorflow as tf
from helper_of_lines import early

def build(n):
    a = tf.constant(float(n))
    return a + 1

early(1)
g = tf.Graph()
with g.as_default():
    for n in range(3):
        y = build(n)
    early(2)

@tf.function
def traced(count):
    total = tf.constant(0)
    for i in tf.range(count):
        total = total + early(i)
    return total

traced(tf.constant(3))
with tf.compat.v1.Session(graph=g) as session:
    early(3)
    print(session.run(y))
early(4)
'''


@pytest.mark.parametrize('host', ['own', pytest.param('tensorflow', marks=pytest.mark.tensorflow)])
@pytest.mark.parametrize(('place', 'values'), [
    ('helper_of_lines.py:2', ['1', '2', 'Tensor', '3', '4']), ('model.py:6', ['0', '1', '2']),
    ('model.py:13', ['0', '1', '2']), ('model.py:20', ['Tensor'])])
def test_every_execution_of_a_line_stops_before_the_first_run_too(place: str, values: list[str], host: str,
                                                                  tmp_path: Path) -> None:
    (tmp_path / 'helper_of_lines.py').write_text('def early(n):\n    k = n + 1\n    return k\n')
    source = LINES if host == 'tensorflow' else LINES.replace('import tensorflow as tf', 'from pyfuncdbg import tf')
    name = 'i' if place.endswith(':20') else 'n'
    done = run(tmp_path, '--break', place, given=f'p type({name}).__name__, str({name})[:1]\nc\n' * 8, source=source)
    assert done.returncode == 0 and done.stdout.endswith('3.0\n')
    stops = [line for line in done.stderr.splitlines() if line.startswith('STOPPED in ')]
    assert [f' at {place} ' in line for line in stops] == [True] * len(values), done.stderr
    shown = [line for line in done.stderr.splitlines() if line.startswith('(') and 'pfd' not in line]
    for value, line in zip(values, shown, strict=True):
        assert ('Tensor' in line) if value == 'Tensor' else (f"'{value}'" in line), shown
