"""Several threads and processes that stop on one terminal, lent to the inspector."""
from __future__ import annotations

import os
import re
import signal
from pathlib import Path

from lent_terminal import Terminal, gone
from listening import wait_until

TESTS = Path(__file__).resolve().parents[2]

NATIVE = f'''
sys.path.insert(0, {str(TESTS)!r})
from native_threads import run_native
lock = __import__('threading').Lock()
seen = []

def work(x):
    mark = float(x[0])
    with lock:
        seen.append(mark)
    return x + 1
with graph.as_default():
    p = v1.placeholder(tf.float32, [3])
    work_op = tf.numpy_function(work, [p], tf.float32, name='work')
session = v1.Session(graph=graph)
pyfuncdbg.break_at('work')

results = []

def one(index):
    results.append(session.run(work_op, {{p: np.full(3, index, np.float32)}}))
'''


def test_sixteen_native_threads_stop(tmp_path) -> None:
    """Each has its turn, and the terminal stays lent between them."""
    source = NATIVE + '''
import functools
run_native([functools.partial(one, index) for index in range(16)])
print('results', sorted(float(found[0]) for found in results), len(seen))
'''
    with Terminal(tmp_path, source) as terminal:
        numbers = set()
        for left in range(16, 0, -1):
            screen = terminal.stopped(r'work\[\d+\]')
            number = re.search(r'work\[(\d+)\]', screen)[1]
            if left == 16:
                terminal.type('threads')
                terminal.until('work', full=True)
            if left == 12:
                terminal.type('p x[0]')
                terminal.until(r'(?m)\d\.0', full=True)
            assert number not in numbers
            numbers.add(number)
            shown = len(re.findall(rb'\x1b\[\?1049l', terminal.raw))
            terminal.key('c')
            if left > 1:
                terminal.until(rf'STOPPED.*work\[(?!{number}\])\d+\]', full=True)
                assert len(re.findall(rb'\x1b\[\?1049l', terminal.raw)) == shown
        terminal.end()
        assert terminal.code == 0 and re.search(r'results \[1.0, 2.0.*16.0\]\s16', terminal.screen), terminal.screen


def test_quit_lets_all_threads_go(tmp_path) -> None:
    source = NATIVE + '''
import functools
run_native([functools.partial(one, index) for index in range(4)])
print('done', len(results))
time.sleep(2)
'''
    with Terminal(tmp_path, source) as terminal:
        terminal.stopped('work')
        inspector = terminal.inspector()
        terminal.type('quit')
        terminal.until('done 4', full=False)
        wait_until(lambda: gone(inspector))     # nobody needs it any more
        terminal.end()
        assert terminal.code == 0 and terminal.restored()


def test_a_forked_child_stops_too(tmp_path) -> None:
    """It is asked about in the inspector of its parent, one after the other."""
    source = '''
import os
train_now = lambda name: f'{name} {v1.Session(graph=graph).run(c, {a: np.ones(3)})}'
pyfuncdbg.break_at('norm')
print(train_now('first'))
child = os.fork()
said = train_now('child' if child == 0 else 'parent')
if child == 0:                                  # the screen may be shown now, and what it prints would be on it
    open('child.txt', 'w').write(said)
    os._exit(7)
print(said)
print('exit', os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
'''
    with Terminal(tmp_path, source) as terminal:
        terminal.stopped('norm')
        terminal.leave('c')
        for _ in range(2):
            terminal.stopped(r'norm\[1\]')
            terminal.key('c')
        screen = terminal.end()
        assert terminal.code == 0 and terminal.restored()
        assert 'exit 7' in screen and re.search(r'parent \[0. 0. 0.\]', screen)
        assert (tmp_path / 'child.txt').read_text(encoding='utf-8') == 'child [0. 0. 0.]'


def test_a_child_process_prints_while_the_terminal_is_lent_and_after(tmp_path) -> None:
    source = '''
import subprocess
import threading
def start():
    global helper
    while not Path('start').exists():
        time.sleep(0.01)
    helper = subprocess.Popen([sys.executable, 'helper.py'])
from pathlib import Path
threading.Thread(target=start).start()
train(1, 'inspector')
Path('two').write_text('')
helper.wait()
time.sleep(0.5)
print('parent after')
'''
    (tmp_path / 'helper.py').write_text('''
import time
from pathlib import Path
for word in ('one', 'two'):
    while not Path(word).exists():
        time.sleep(0.01)
    print('child', word, flush=True)
    Path(word + '.done').write_text('')
''')
    with Terminal(tmp_path, source) as terminal:
        terminal.stopped('1st run of')
        (tmp_path / 'start').write_text('')
        (tmp_path / 'one').write_text('')
        wait_until((tmp_path / 'one.done').exists)
        terminal.type('quit')
        screen = terminal.end()
        places = [screen.index(word) for word in ('child one', 'step 0', 'child two', 'parent after')]
        assert places == sorted(places) and terminal.code == 0


def test_the_programs_own_children_are_its_own(tmp_path) -> None:
    """Nobody but its own child is there to wait for, and no SIGCHLD comes from the inspector's end."""
    source = '''
import os, signal
heard = []
with v1.Session(graph=graph) as plain:
    sess = pyfuncdbg.DebugSession(plain, ui='inspector')
    sess.run(a, {a: np.zeros(3, np.float32)})
    signal.signal(signal.SIGCHLD, lambda *_: heard.append(1))
    sess.run(a, {a: np.zeros(3, np.float32)})
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print('no children', heard)
'''
    with Terminal(tmp_path, source) as terminal:
        terminal.stopped('1st run of')
        inspector = terminal.inspector()
        terminal.key('c')
        terminal.stopped('2nd run of')
        os.kill(inspector, signal.SIGKILL)
        terminal.until(r'\(pfd\)$', full=False)
        assert gone(inspector)
        terminal.child.send('quit\r')
        assert 'no children []' in terminal.end()
