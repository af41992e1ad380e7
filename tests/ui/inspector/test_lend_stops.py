"""A program that lends its terminal to the inspector: stops on the screen, and a program that prints what it would."""
from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from lent_terminal import PROGRAM, ROOT, Terminal
from listening import wait_until


def printed(folder: Path, source: str) -> str:
    """What the program prints without us, as a terminal shows it."""
    plain = source.replace("'inspector'", "'none'")
    (folder / 'plain.py').write_text(PROGRAM + plain)
    done = subprocess.run([sys.executable, 'plain.py'], cwd=folder, capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, 'PYTHONPATH': str(ROOT)})
    return done.stdout


def screen_lines(screen: str) -> list[str]:
    return [line for line in screen.splitlines() if line.strip()]


def test_from_card_to_card_and_out(tmp_path) -> None:
    source = "print('begin')\ntrain(3, 'inspector')\n"
    with Terminal(tmp_path, source) as terminal:
        terminal.stopped('1st run of session 1')
        terminal.type('run')
        terminal.stopped('end of 1st run')
        terminal.type('run')
        terminal.stopped('2nd run of session 1')
        terminal.type('break norm')
        terminal.until('breakpoint 1 set', full=True)
        terminal.type('run')
        terminal.stopped(r'norm\[1\]', 'breakpoint 1')
        terminal.type('into')
        terminal.stopped('train.py:9')
        terminal.key('n')
        terminal.stopped('train.py:10')
        terminal.type('p mu.item() + 41')
        terminal.until('42')
        terminal.type('quit')
        assert screen_lines(terminal.end()) == screen_lines(printed(tmp_path, source))
        assert terminal.code == 0
        assert b'Traceback' not in terminal.raw


def test_lines_at_a_run_card_mean_what_they_mean_at_the_prompt(tmp_path) -> None:
    with Terminal(tmp_path, "train(1, 'inspector')") as terminal:
        terminal.stopped('1st run of')
        terminal.type('b 9')
        terminal.until(r'breakpoint 1 set at train\.py:9', full=True)
        terminal.type('c = 5')
        terminal.until("'c' is a command here, and a node has no variables", r'"\$c = 5" sets one', full=True)
        terminal.type('$c = 5')
        terminal.type('p $c + 36')
        terminal.until(r'(?m)^ *41$', full=True)
        terminal.type('norm?')
        terminal.until(r'type +builtins\.function', r'train\.py:8', full=True)
        terminal.type('nrom')
        terminal.until("unknown command 'nrom'", full=True)
        terminal.type('run')
        terminal.stopped(r'norm\[0\]', r'train\.py:9', 'breakpoint 1')
        terminal.type('quit')
        terminal.end()
        assert terminal.code == 0


def test_a_key_runs_and_the_second_stop_comes_soon(tmp_path) -> None:
    with Terminal(tmp_path, "train(2, 'inspector')") as terminal:
        terminal.stopped('1st run of')
        terminal.key('c')
        screen = terminal.stopped('2nd run of')
        assert 'step 0' not in screen           # that is on the other screen
        terminal.key('c')
        terminal.end()
        assert terminal.code == 0 and 'step 1 [-2.  0.  2.]' in terminal.screen


def test_output_is_held_and_written_in_order(tmp_path) -> None:
    """Of Python, of C and of a child process, on another thread; what a command prints is its answer's."""
    source = '''
import os, subprocess, threading
from pathlib import Path
go, done = Path('go'), Path('done')

def chatter():
    while not go.exists():
        time.sleep(0.01)
    for number in range(20):
        print('thread', number)
    print('part', end=' ')
    os.write(1, b'of C\\n')
    subprocess.run(['echo', 'of a child'])
    print('to stderr', file=sys.stderr)
    done.write_text('')

thread = threading.Thread(target=chatter)
thread.start()
train(1, 'inspector')
thread.join()
'''
    with Terminal(tmp_path, source) as terminal:
        terminal.stopped('1st run of')
        (tmp_path / 'go').write_text('')
        wait_until((tmp_path / 'done').exists)
        terminal.type('p print("of a command")')
        terminal.until(r'(?m)^of a command\s*$\s*^None$', full=True)
        terminal.key('4')                       # the output, where it can be read meanwhile
        shown = terminal.until('thread 19', 'to stderr', full=True)
        assert shown.index('thread 19') < shown.index('to stderr')
        terminal.type('quit')
        lines = screen_lines(terminal.end())
        expected = [*(f'thread {number}' for number in range(20)), 'of C', 'part of a child', 'to stderr']
        assert lines[:20] == expected[:20]
        assert 'of C' in lines[20] + lines[21] and 'of a child' in lines and 'to stderr' in lines
        assert 'of a command' not in lines and lines[-2:] == ['step 0 [0. 0. 0.]', 'end']
        assert terminal.code == 0


def test_much_output_is_held(tmp_path) -> None:
    source = '''
import threading
from pathlib import Path

def chatter():
    for number in range(20_000):
        print('line', number)
    Path('done').write_text('')

threading.Timer(2, chatter).start()
train(1, 'inspector')
'''
    with Terminal(tmp_path, source) as terminal:
        terminal.stopped('1st run of')
        wait_until((tmp_path / 'done').exists, 60)
        terminal.type('quit')
        terminal.end()
        shown = re.findall(rb'line (\d+)\r', terminal.raw)
        assert shown == [str(number).encode() for number in range(20_000)]


def test_the_terminal_is_the_programs_again_between_stops(tmp_path) -> None:
    """It asks a question between two stops, as ever."""
    source = '''
import termios
with v1.Session(graph=graph) as plain:
    sess = pyfuncdbg.DebugSession(plain, ui='inspector')
    for step in range(2):
        sess.run(a, {a: np.zeros(3, np.float32)})
        print('typed:', input('name? '), sys.stdout.isatty())
'''
    with Terminal(tmp_path, source) as terminal:
        for number, name in ((1, 'anna'), (2, 'berta')):
            terminal.stopped(f'[^0-9]{number}.. run of')
            terminal.key('c')
            terminal.until(r'name\?$', full=False)
            assert terminal.restored()
            terminal.child.send(name + '\r')
        terminal.end()
        assert terminal.code == 0
        assert screen_lines(terminal.screen) == ['name? anna', 'typed: anna True', 'name? berta', 'typed: berta True']


def test_a_stop_at_pythons_own_prompt(tmp_path) -> None:
    """With readline, which has the terminal in modes of its own."""
    with Terminal(tmp_path, '', '-i') as terminal:
        terminal.until('(?m)^>>>$')
        for number in (1, 2):
            terminal.child.send('sess = pyfuncdbg.DebugSession(v1.Session(graph=graph), ui="inspector")\r')
            terminal.until('(?m)^>>>$', full=False)
            terminal.child.send('sess.run(c, {a: np.zeros(3)})\r')
            terminal.stopped('1st run of session')
            terminal.type('run')
            terminal.stopped('end of')
            terminal.key('c')
            terminal.until(r'array\(\[0., 0., 0.\], dtype=float32\)\n>>>$', full=False)
            terminal.child.send(f'{number} + 4X\x7f1\r')         # a line that is edited
            terminal.until(f'^{number + 41}$'.replace('^', '(?m)^'), full=False)
        terminal.child.send('exit()\r')
        terminal.end()
        assert terminal.code == 0 and terminal.screen.count('norm of') == 2


@pytest.mark.parametrize('function', ['breakpoint()', "pyfuncdbg.break_at('norm')"])
def test_a_breakpoint_without_a_debug_session(tmp_path, function) -> None:
    source = f'''
def here(x):
    {"breakpoint()" if function == "breakpoint()" else "pass"}
    return x * 2
with graph.as_default():
    d = tf.numpy_function(here, [c], tf.float32, name='here')
{function if function != "breakpoint()" else ""}
print('got', v1.Session(graph=graph).run(d, {{a: np.ones(3)}}))
'''
    with Terminal(tmp_path, source) as terminal:
        terminal.stopped('here' if function == 'breakpoint()' else 'norm')
        terminal.key('c')
        terminal.end()
        assert terminal.code == 0 and 'got [0. 0. 0.]' in terminal.screen


def test_steps_keep_the_screen_and_give_the_keys(tmp_path) -> None:
    """A step that asks, or lasts, has the terminal; others do not flicker."""
    source = '''
def ask(x):
    first = 1
    second = 2
    print('between')
    name = input('name? ')
    time.sleep(1)
    return x
with graph.as_default():
    d = tf.numpy_function(ask, [a], tf.float32, name='ask')
with v1.Session(graph=graph) as plain:
    sess = pyfuncdbg.DebugSession(plain, ui='inspector')
    sess.run(d, {a: np.zeros(3, np.float32)})
print('end')
'''
    with Terminal(tmp_path, source) as terminal:
        terminal.stopped('1st run of')
        terminal.type('into')
        terminal.stopped('train.py:28,')
        left = terminal.raw.count(b'\x1b[?1049l')
        for line in (29, 30, 31):
            terminal.key('n')
            terminal.stopped(f'train.py:{line},')
        assert terminal.raw.count(b'\x1b[?1049l') == left
        terminal.key('n')
        screen = terminal.until(r'name\?$', full=False)
        assert terminal.restored() and 'between' in screen
        terminal.child.send('anna\r')
        terminal.stopped('train.py:32,')
        terminal.type('p name')
        terminal.until("(?m)^ *'anna'$", full=True)
        terminal.type('quit')
        assert screen_lines(terminal.end())[-3:] == ['between', 'name? anna', 'end']
        assert terminal.code == 0


def test_closing_the_inspector_is_quit(tmp_path) -> None:
    with Terminal(tmp_path, "train(3, 'inspector')") as terminal:
        terminal.stopped('1st run of')
        terminal.key('\x11')                    # Ctrl-Q
        terminal.end()
        assert terminal.code == 0 and 'step 2 [-4.  0.  4.]' in terminal.screen and 'inspector' not in terminal.screen


def test_commands_of_a_file_come_first(tmp_path) -> None:
    (tmp_path / 'commands').write_text('p 6 * 7\nbreak norm\nrun\n')
    with Terminal(tmp_path, "train(1, 'inspector')", '-m', 'pyfuncdbg', 'run', '-x', 'commands') as terminal:
        screen = terminal.stopped('norm')
        assert 'norm' in screen
        terminal.type('quit')
        terminal.end()
        assert '42' in terminal.screen and terminal.code == 0


@pytest.mark.parametrize(('size', 'term', 'ui', 'told'), [
    ((20, 100), 'xterm', 'inspector', 'no inspector: the terminal is smaller than 80 columns and 24 rows'),
    ((30, 70), 'xterm', 'auto', ''),
    ((30, 100), 'dumb', 'inspector', 'no inspector: TERM=dumb is a terminal without a screen'),
])
def test_a_terminal_that_cannot_show_it_asks_at_the_prompt(tmp_path, size, term, ui, told) -> None:
    with Terminal(tmp_path, f"train(1, {ui!r})", size=size, environment={'TERM': term}) as terminal:
        screen = terminal.until(r'\(pfd\)$', full=False)
        assert (told in ' '.join(screen.split())) and ('inspector' in screen) == bool(told)
        terminal.child.send('quit\r')
        terminal.end()
        assert terminal.code == 0 and 'step 0' in terminal.screen


@pytest.mark.parametrize('wanted', ['prompt', 'promt'])
def test_what_auto_means_may_be_said_in_the_environment(tmp_path, wanted) -> None:
    with Terminal(tmp_path, "train(1, 'auto')", environment={'PYFUNCDBG_UI': wanted}) as terminal:
        if wanted == 'prompt':
            terminal.until(r'\(pfd\)$', full=False)
            terminal.child.send('quit\r')
        else:
            terminal.stopped('1st run of')
            terminal.type('quit')
        screen = terminal.end()
        assert ("Did you mean 'prompt'" in screen) == (wanted == 'promt')


def test_debugging_again_after_quit(tmp_path) -> None:
    source = '''
with v1.Session(graph=graph) as plain:
    sess = pyfuncdbg.DebugSession(plain, ui='inspector')
    for step in range(3):
        sess.run(a, {a: np.zeros(3, np.float32)})
        print('step', step)
        if step == 1:
            sess.debugging = True
'''
    with Terminal(tmp_path, source) as terminal:
        terminal.stopped('1st run of')
        terminal.type('quit')
        terminal.stopped('3rd run of|2nd run of')
        terminal.type('quit')
        assert screen_lines(terminal.end()) == ['step 0', 'step 1', 'step 2'] and terminal.code == 0


def test_a_block_at_the_command_line(tmp_path) -> None:
    with Terminal(tmp_path, "train(1, 'inspector')") as terminal:
        terminal.stopped('1st run of')
        terminal.type('break norm')
        terminal.until('breakpoint 1 set', full=True)
        terminal.type('commands 1', ("after 'commands 1': 'end' ends it", 'into'), ("after 'into'", 'end'))
        terminal.until('1 command')
        terminal.type('run')
        terminal.stopped('train.py:9')          # they are carried out here too
        terminal.type('for k in range(5):', ("after 'for k in range(5):'", '    total = k + 90'),
                      ("after '    total = k", ''))
        terminal.type('p total')
        terminal.until('94')
        terminal.type('cl', ('Clear all breakpoints? [y/n]', 'y'))
        terminal.until('breakpoint 1 cleared')
        terminal.type('quit')
        terminal.end()
        assert terminal.code == 0
