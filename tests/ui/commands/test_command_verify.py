"""`pyfuncdbg verify` on real programs in real processes: equal, different, nondeterministic, and bad command lines."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ui.prompt.pseudo_terminal import Terminal

from pyfuncdbg import cli
from pyfuncdbg.ui.commands.programs import verify as command
from pyfuncdbg.ui.commands.programs.verify_probe import LEVELS

ROOT = Path(__file__).resolve().parents[3]
ENVIRONMENT = {'PYTHONPATH': str(ROOT), 'PATH': '/usr/bin:/bin', 'OPENBLAS_THREAD_TIMEOUT': '4'}

TWO_LEVELS = '''
import sys
from pyfuncdbg import cli
from pyfuncdbg.ui.commands.programs import verify
verify.LEVELS = ('plain', 'debugger')
'''
"""The command line begins so where plain and debugged, which is recorded too, is enough."""
TIMED = (command.LevelCost('plain', 1.0, 1.0),)
"""In place of times, of programs that are not different."""
WITH_TIMES = TWO_LEVELS + 'sys.exit(cli.main())'
WITHOUT_TIMES = TWO_LEVELS + 'verify._costs = lambda *_: ()\nsys.exit(cli.main())'

MODEL = '''
import sys
import numpy as np
from pyfuncdbg import tf

def normalize(x):
    print('mean', float(x.mean()))
    return (x - x.mean()) / x.std()

@tf.function
def twice(x):
    return tf.numpy_function(np.negative, [x], tf.float32) * 2.0

with tf.Graph().as_default(), tf.Session() as session:
    x = tf.placeholder(tf.float32, [3], name='x')
    y = tf.numpy_function(normalize, [x], tf.float32, name='norm') * 2.0
    for step in range(3):
        session.run([y, tf.identity(x, name=f'same{step}')], {x: np.arange(3, dtype=np.float32) + step})
v = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(v)
    loss = tf.reduce_sum(tf.py_function(lambda a: a * a, [v], tf.float32) + twice(v))
tape.gradient(loss, v)
print('args', sys.argv[1:])
'''


def verify(tmp_path, *args, given='', program=('-m', 'pyfuncdbg')):
    done = subprocess.run([sys.executable, *program, 'verify', *args], cwd=tmp_path, capture_output=True, text=True,
                          env=ENVIRONMENT | {'COLUMNS': '200'}, timeout=110, input=given)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def verified(tmp_path, monkeypatch):
    """Function of a program's text: what `verify` finds, called in this process. The program runs in others as ever, but
    only at some levels, and the times are not taken."""
    def of(text, *args, levels=LEVELS):
        (tmp_path / 'program.py').write_text(text)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(command, 'LEVELS', levels)
        monkeypatch.setattr(command, '_costs', lambda *_: TIMED)
        return command.verify(('program.py', *args))
    return of


@pytest.fixture
def at_hooks(verified):
    """Function of a program's text: the difference that the first hook makes to it."""
    def first(text):
        answer = verified(text, levels=('plain', 'hooks'))
        (difference,) = answer.differences
        assert (answer.answer, difference.level, answer.costs) == ('different', 'hooks', ())
        return difference
    return first


def test_equal_with_arguments(tmp_path):
    (tmp_path / 'program.py').write_text(MODEL)
    code, out, err = verify(tmp_path, '--json', '--repeat', '1', 'program.py', '--fast', '3')
    answer = json.loads(out)
    assert (err, code, answer['answer'], answer['differences']) == ('', 0, 'equal', [])
    # Three runs with one call each, a gradient, a py_function, a traced function with its call.
    assert answer['results'] == 3 + 3 + 1 + 1 + 2 and answer['values'] == answer['results'] + 3
    assert [cost['level'] for cost in answer['costs']] == ['plain', 'hooks', 'capture', 'recording', 'ops', 'debugger']
    assert answer['costs'][0]['ratio'] == 1.0 and all(cost['seconds'] > 0 for cost in answer['costs'])


def test_without_times(tmp_path):
    (tmp_path / 'program.py').write_text(MODEL)
    code, out, err = verify(tmp_path, '--repeat', '0', 'program.py')
    assert (err, code, out.splitlines()[1:3]) == ('', 0, ['recorded (without --ops): bit for bit',
                                                          'stepped (--ops, breakpoints on nodes): bit for bit'])
    assert len(out.splitlines()) == 4


WATCHED = MODEL + '''
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.observers.debug.debugger import debugger
watching = {type(hook).__name__: hook for _, hook in hooks._all}
if 'IdleHook' in watching:
    tf.numpy_function(np.abs, [np.float32(1)], tf.float32, name='more')
elif debugger.breakpoints.entries:
    sys.exit(3)
elif 'op' in getattr(watching.get('Recorder'), 'kinds', ()):
    sys.stderr.write('oh\\n')
elif 'Recorder' in watching:
    print('seen')
'''


def test_a_program_that_notices(verified):
    answer = verified(WATCHED)
    assert (answer.answer, answer.costs) == ('different', ())
    assert [(one.level, one.what, one.where, one.plain, one.watched) for one in answer.differences] == [
        ('hooks', 'results', 'results on thread MainThread', '10 results', '11 results'),
        ('recording', 'stdout', 'line 5', '(no such line)', 'seen'),
        ('ops', 'stderr', 'line 1', '(no such line)', 'oh'),
        ('debugger', 'exit code', '', '0', '3')]


def test_the_element_is_named(at_hooks):
    text = MODEL.replace('return (x - x.mean()) / x.std()', '''
    y = (x - x.mean()) / x.std()
    import pyfuncdbg.hooks.chain as chain
    if chain.hooks.python and x[0] == 1:
        y[2] = 5
    return y''')
    first = at_hooks(text)
    assert (first.what, first.where, first.watched) == ('results', 'norm number 2, value 0 element [2]', '5.0')


def test_fetches_are_named(at_hooks):
    text = MODEL.replace('* 2.0\n    for', "* (3.0 if chain.hooks.run else 2.0)\n    for").replace(
        'import sys\n', 'import sys\nimport pyfuncdbg.hooks.chain as chain\n', 1)
    assert at_hooks(text).where.startswith('Session.run number 1, mul:0 element [0]')


def test_a_nondeterministic_program_is_called_so(verified):
    answer = verified(MODEL + "print(__import__('os').getpid())\n")
    assert answer.answer == 'nondeterministic'
    assert [(one.level, one.what) for one in answer.differences] == [('plain', 'stdout')]


def test_an_error_is_compared_too(verified):
    answer = verified(MODEL + "raise KeyError('mine')\n")
    assert (answer.answer, answer.exit_code, answer.exception) == ('equal', 1, 'KeyError')
    assert answer.stderr > 50


THREADS = """
import threading
import numpy as np
from concurrent.futures import ThreadPoolExecutor
from pyfuncdbg import tf

def parse(line):
    number = float(line)
    return np.float32(number if not np.isnan(number) else line.decode().index('missing'))

def fn(line):
    return tf.numpy_function(parse, [line], tf.float32, name='parse')

lines = [str(n).encode() for n in range(600)]
lines[571] = b'nan'
ds = tf.data.Dataset.from_tensor_slices(lines).shuffle(600, seed=3).map(fn, num_parallel_calls=4).batch(8).prefetch(2)
with ThreadPoolExecutor(3) as pool:
    print(sum(pool.map(lambda n: float(tf.numpy_function(lambda x: x * 2.0, [np.float32(n)], tf.float32)), range(300))))
for batch in ds:
    print(float(tf.reduce_sum(batch)))
"""


def test_what_the_scheduler_decides_is_no_difference(verified):
    answer = verified(THREADS)
    assert (answer.answer, answer.differences, answer.costs) == ('equal', (), TIMED)
    assert answer.exception == 'InvalidArgumentError' and answer.results > 350


PRINTING = """
import sys, threading, time
import numpy as np
import pyfuncdbg.hooks.chain as chain
from pyfuncdbg import tf

def told(x):
    time.sleep(0.002 * (hash(time.perf_counter_ns()) % 5))
    print('call', int(x), end='')
    time.sleep(0.001)
    print(CALL)
    return x * np.float32(2)

def worker(number):
    for n in range(number, 24, 4):
        tf.numpy_function(told, [np.float32(n)], tf.float32)
    if number == 2:
        raise KeyError('two')

threads = [threading.Thread(target=worker, args=(number,)) for number in range(4)]
[thread.start() for thread in threads]
MAIN
[thread.join() for thread in threads]
print('ended')
"""


def test_in_which_order_threads_print_is_no_difference(verified):
    answer = verified(PRINTING.replace('CALL', "''").replace('MAIN', "print('began')"))
    assert (answer.answer, answer.differences) == ('equal', ())


@pytest.mark.parametrize(('call', 'main', 'line'), [
    ("' again' if chain.hooks.python and x == 13 else ''", '', 'a line of another thread'),
    ("''", "print('watched' if chain.hooks.python else 'began')", 'line 1')])
def test_what_a_thread_prints_is_compared_with_what_it_printed(at_hooks, call, main, line):
    first = at_hooks(PRINTING.replace('CALL', call).replace('MAIN', main))
    assert (first.what, first.where) == ('stdout', line)


def test_an_element_that_differs_is_found_whichever_thread_it_was_on(at_hooks):
    text = THREADS.replace("return np.float32(", """import pyfuncdbg.hooks.chain as chain
    if chain.hooks.python and number == 77:
        number = 78.0
    return np.float32(""")
    first = at_hooks(text)
    assert first.what == 'results' and first.where.startswith('parse number 1 of element ')
    assert first.where.endswith(' of ParallelMap, value 0 element []')
    assert (first.plain, first.watched) == ('77.0', '78.0')


@pytest.mark.parametrize(('reads', 'given'), [
    ('print(sum(len(line) for line in sys.stdin))', '12345\n' * 40_000),
    ("print(input('how many? ') * 2)", '7\n' * 100_000)])
def test_every_run_reads_the_same_from_stdin(tmp_path, reads, given):
    (tmp_path / 'program.py').write_text(MODEL + reads)
    code, out, _ = verify(tmp_path, '--json', 'program.py', given=given, program=('-c', WITHOUT_TIMES))
    answer = json.loads(out)
    assert (code, answer['answer'], answer['exit_code'], answer['exception']) == (0, 'equal', 0, '')


def test_a_stdin_that_never_ends_holds_nobody_up(tmp_path):
    (tmp_path / 'program.py').write_text('from pyfuncdbg import tf\ntf.numpy_function(abs, [-1.0], tf.float32)\nprint(1)')
    with subprocess.Popen([sys.executable, '-c', WITHOUT_TIMES, 'verify', 'program.py'], cwd=tmp_path,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env=ENVIRONMENT) as child:
        try:
            assert child.wait(100) == 0 and child.stdout.readline().startswith('EQUAL')
        finally:
            child.kill()


def test_one_bit_that_differs_is_found(at_hooks):
    text = MODEL.replace('return (x - x.mean()) / x.std()', """
    y = (x - x.mean()) / x.std()
    import pyfuncdbg.hooks.chain as chain
    if chain.hooks.python and x[0] == 2:
        y.view(np.uint32)[1] ^= 1
    return y""")
    first = at_hooks(text)
    assert first.where == 'norm number 3, value 0 element [1]'
    assert float(first.plain) == 0.0 and 0 < float(first.watched) < 1e-44


def test_the_own_runtime_steps_bit_by_bit(verified):
    text = MODEL.replace('return (x - x.mean()) / x.std()', """
    y = (x - x.mean()) / x.std()
    from pyfuncdbg.observers.debug.debugger import debugger
    if debugger.breakpoints.entries:
        y.view(np.uint32)[0] ^= 1
    return y""")
    answer = verified(text)
    assert (answer.answer, answer.recorded, answer.stepped) == ('different', 'bit for bit', 'no')
    assert [(one.level, one.distance) for one in answer.differences] == [('debugger', None)]


@pytest.mark.parametrize(('text', 'raised'), [
    ('print(1.5)', ''), ('from pyfuncdbg import tf\nraise KeyError(1)', 'KeyError')])
def test_a_program_without_tensors_gets_no_verdict(verified, monkeypatch, capsys, text, raised):
    answer = verified(text, levels=('plain', 'recording'))
    assert (answer.answer, answer.values, answer.exception) == ('nothing compared', 0, raised)
    assert (answer.recorded, answer.stepped, answer.costs) == ('not known', 'not known', ())
    monkeypatch.setattr(command, 'verify', lambda target, repeats, tell: answer)
    assert cli._verified(['program.py'], 1, False) == 1
    out = capsys.readouterr().out
    assert out.startswith('NOTHING COMPARED  program.py gave no tensor') and 'EQUAL' not in out


@pytest.mark.parametrize(('answer', 'code'), [('equal', 0), ('near', 0), ('different', 1), ('nondeterministic', 1),
                                              ('nothing compared', 1)])
def test_exit_codes_and_the_two_claims(answer, code, monkeypatch, capsys):
    near = command.RunDifference('debugger', 'results', 'Session.run number 1', '0.5', '0.50000006', 1.2e-7)
    answered = command.Verification(('train.py',), answer, 'bit for bit', 'to the last bits', 1, 1, 0, 0, 0, '', (near,),
                                    (), 3)
    monkeypatch.setattr(command, 'verify', lambda target, repeats, tell: answered)
    monkeypatch.setenv('COLUMNS', '200')
    assert cli._verified(['train.py'], 3, False) == code
    assert '\nrecorded (without --ops): bit for bit\nstepped (--ops, breakpoints on nodes): to the last bits\n' in (
        shown := capsys.readouterr().out)
    assert '0.5 became 0.50000006; in the last bits, at most 1.2e-07 of the largest element of a tensor' in shown


def test_what_protobuf_prints_at_random_is_no_difference():
    lines = [b'W0000 00:00:1795449936.089196   27733 cost.cc:1] Error: goo.gle/debug%s   op: "Softmax"%s attr { }\n' % each
             for each in ((b'only', b' '), (b'proto', b''))]
    one, other = (command._without_ours(b'pyfuncdbg: x\n' + line) for line in lines)
    assert one == other == b'W cost.cc:1] Error: op: "Softmax" attr { }\n'
    assert command._without_ours(b'a  b goo.gle/debugonly\n') == b'a  b goo.gle/debugonly\n'


def test_elements_of_a_dataset_without_functions_are_compared(verified):
    answer = verified('from pyfuncdbg import tf\nfor x in tf.data.Dataset.range(5).batch(2): print(x)')
    assert (answer.answer, answer.values) == ('equal', 3)


def test_a_module_and_the_picture(tmp_path):
    (tmp_path / 'package').mkdir()
    (tmp_path / 'package' / '__init__.py').write_text('')
    (tmp_path / 'package' / 'train.py').write_text(MODEL)
    code, out, err = verify(tmp_path, '--repeat', '1', '-m', 'package.train', 'x', program=('-c', WITH_TIMES))
    assert (code, err) == (0, '')
    lines = out.splitlines()
    assert lines[0].startswith('EQUAL  -m package.train x does the same while it is watched')
    assert lines[1:3] == ['recorded (without --ops): bit for bit', 'stepped (--ops, breakpoints on nodes): bit for bit']
    assert any(line.startswith('debugger') and 'x' in line for line in lines)
    assert not any(path.name.startswith('pyfuncdbg-verify') for path in tmp_path.iterdir())


@pytest.mark.parametrize(('args', 'message'), [
    ((), 'verify needs a SCRIPT'), (('nowhere.py',), "no such file: 'nowhere.py'"),
    (('-m',), '-m needs the name of a module'),
    (('-m', 'no_such_module_here'), "no module named 'no_such_module_here'"), (('--repeat', '-1', 'x.py'), 'not an integer'),
    (('--nothing', 'x.py'), 'unrecognized arguments')])
def test_bad_command_lines(tmp_path, args, message):
    code, out, err = verify(tmp_path, *args)
    assert (code, out) == (2, '') and message in err and len(err.splitlines()) == 1


def test_a_terminal_sees_how_far_it_is_and_ctrl_c_ends_it_and_the_program(tmp_path):
    """The program leaves its number, and would sleep for an hour from its second run on."""
    (tmp_path / 'program.py').write_text('import os, pathlib, time\nbegun = pathlib.Path("begun")\n'
                                         'again = begun.exists()\nbegun.write_text(str(os.getpid()))\n'
                                         'time.sleep(3600 * again)\n')
    with Terminal(tmp_path, '-m', 'pyfuncdbg', 'verify', 'program.py') as terminal:
        terminal.until('verifying, runs of the program', '1 of 25')
        terminal.child.sendintr()
        assert terminal.end() == 130
        assert 'pyfuncdbg: interrupted' in terminal.text and 'Traceback' not in terminal.text
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / 'begun').read_text()), 0)
