"""Changes of breakpoints that reach every process of a program: real forks, and what a process that starts afresh joins."""
from __future__ import annotations

import mmap
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from pyfuncdbg.observers.debug.processes import change_list, process_table, shared_memory

PROGRAM = '''
import os, sys, time
threads = []
os.register_at_fork(before=lambda: threads.append(len(os.listdir('/proc/self/task'))))      # called after all later ones
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.ui.prompt.install import install
install(debugger, 'none')
table = debugger.breakpoints
reader, writer = os.pipe()

def fork(work):
    process = os.fork()
    if not process:
        try:
            work()
        finally:
            os._exit(0)
    return process

def until(condition):
    end = time.monotonic() + 20
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()

def listed():
    return {number: (str(entry.breakpoint.spec), entry.breakpoint.enabled) for number, entry in table.entries.items()}
'''


def run(tmp_path: Path, text: str) -> str:
    stdout, stderr = output(tmp_path, text)
    assert stderr == ''
    return stdout


def output(tmp_path: Path, text: str) -> tuple[str, str]:
    (tmp_path / 'program.py').write_text(PROGRAM + textwrap.dedent(text))
    environment = {**os.environ, 'OPENBLAS_NUM_THREADS': '1', 'PYTHONPATH': str(Path(__file__).parents[3])}
    done = subprocess.run([sys.executable, '-W', 'error', 'program.py'], cwd=tmp_path, capture_output=True, text=True,
                          timeout=60, env=environment, check=True)
    return done.stdout, done.stderr


def test_numbers_are_those_of_the_program_whichever_process_sets_one(tmp_path: Path) -> None:
    assert run(tmp_path, '''
        table.set('before')
        def work():
            table.set('of_child')
            until(lambda: 3 in table.entries)
            print(listed(), flush=True)
            table.clear(3)
        child = fork(work)
        until(lambda: 2 in table.entries)
        table.set('of_parent')
        until(lambda: 3 not in table.entries)
        print(listed(), table.set('last').number)
        os.waitpid(child, 0)
    ''') == ("{1: ('before', True), 2: ('of_child', True), 3: ('of_parent', True)}\n"
             "{1: ('before', True), 2: ('of_child', True)} 4\n")


def test_quit_in_one_process_ends_debugging_in_all_and_a_new_breakpoint_begins_it_again(tmp_path: Path) -> None:
    assert run(tmp_path, '''
        table.set('before')
        debugger.start()
        def work():
            print(until(lambda: debugger.left and not debugger.on), flush=True)
            debugger.start()
            table.set('again')
            debugger.catching = True
            until(lambda: not debugger.catching)
        child = fork(work)
        debugger.quit()
        print(until(lambda: debugger.on and debugger.catching), debugger.left, sorted(table.entries), flush=True)
        debugger.catching = False
        os.waitpid(child, 0)
    ''') == 'True\nTrue False [1, 2]\n'


def test_once_acts_in_one_process(tmp_path: Path) -> None:
    said = run(tmp_path, '''
        table.set('before', once=True)
        barrier, go = os.pipe()
        def work():
            os.read(barrier, 1)
            os.write(1, b'acts\\n' if table.entry(1).count_hit(None) else b'passes\\n')
        children = [fork(work) for _ in range(4)]
        os.write(go, b'1234')
        for child in children:
            os.waitpid(child, 0)
        until(lambda: not table.entry(1).breakpoint.enabled)
        print(listed())
    ''').splitlines()
    assert sorted(said) == ['acts', 'passes', 'passes', 'passes', "{1: ('before', False)}"]


def test_a_process_of_one_thread_is_one_when_it_forks_and_killed_ones_are_no_more(tmp_path: Path) -> None:
    assert run(tmp_path, '''
        import signal
        children = [fork(lambda: time.sleep(60)) for _ in range(3)]
        print(threads, len(os.listdir('/proc/self/task')), until(lambda: len(debugger.changes.others()) == 3))
        for child in children:
            os.kill(child, signal.SIGKILL)
        print(until(lambda: not debugger.changes.others()))     # killed, and not waited for
        for child in children:
            os.waitpid(child, 0)
    ''') == '[1, 1, 1] 2 True\nTrue\n'


def test_a_condition_that_no_text_describes_is_told(tmp_path: Path) -> None:
    _, stderr = output(tmp_path, '''
        child = fork(lambda: until(lambda: 2 in table.entries))
        table.set('f', lambda call: True)
        table.set('g')
        os.waitpid(child, 0)
    ''')
    assert stderr == ('pyfuncdbg: breakpoint 1 is not set in the other processes: its condition is a Python function, '
                           'expected a text\n')


def test_a_full_list_takes_no_more() -> None:
    memory = mmap.mmap(-1, shared_memory.SIZE)
    count = 0
    while change_list.append(memory, {'change': 'set', 'text': 'x' * 100_000}):
        count += 1
    length = change_list.length(memory)
    assert count == (shared_memory.SIZE - shared_memory.CHANGES) // (length // count)
    record, end = change_list.record_at(memory, 0)
    assert record['text'] == 'x' * 100_000 and end == length // count
    process_table.note(memory, position=7)
    process_table.note(memory, held=2)
    assert [row[:3] for row in process_table.rows(memory)] == [(os.getpid(), 7, 2)]
    process_table.remove(memory)
    assert process_table.rows(memory) == []


def test_processes_that_start_at_once_take_rows_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each looks for a row before another has written to one."""
    memory, taken = mmap.mmap(-1, shared_memory.SIZE), []
    monkeypatch.setattr(process_table, '_write', lambda memory, place, row: taken.append(place))
    for process in range(4000, 4020):
        monkeypatch.setattr(os, 'getpid', lambda process=process: process)
        process_table.note(memory, position=0)
    assert len(set(taken)) == 20
