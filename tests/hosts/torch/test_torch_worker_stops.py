"""Stops in the workers of a DataLoader, at the terminal of the program: forked ones and those that start afresh."""
from __future__ import annotations

import os
import re
import signal
import sys
import time
from pathlib import Path

import pexpect
import pytest
from torch_programs import run_command
from ui.prompt.pseudo_terminal import Terminal

pytestmark = [pytest.mark.torch, pytest.mark.timeout(300)]

PROGRAM = '''
import sys, torch
from torch.utils.data import DataLoader, Dataset
class Numbers(Dataset):
    def __len__(self): return 6
    def __getitem__(self, index):
        value = index * 2
        if index == 5 and 'breakpoint' in sys.argv: breakpoint()
        return torch.tensor(value)
if __name__ == '__main__':
    for batch in DataLoader(Numbers(), batch_size=2, num_workers=2, multiprocessing_context=sys.argv[1]):
        print(batch.tolist())
    print('end')
'''
METHODS = ['fork', 'spawn', 'forkserver']


def terminal(folder: Path, *options: str) -> Terminal:
    (folder / 'loads.py').write_text(PROGRAM)
    return Terminal(folder, '-m', 'pyfuncdbg', 'run', '-q', *options, timeout=120)


@pytest.mark.parametrize('method', METHODS)
def test_breakpoints_of_the_main_process_and_one_in_the_program(tmp_path: Path, method: str) -> None:
    with terminal(tmp_path, '--break', 'function:Numbers.__getitem__', '--if', 'index == 4', '--break', 'loads.py:9', '--if',
                  'value == 8', 'loads.py', method, 'breakpoint') as user:
        shown = user.prompt()
        assert 'STOPPED entering __getitem__' in shown and 'breakpoint 1' in shown and 'DataLoader worker 0' in shown
        assert '4' in user.type('p index')
        shown = user.type('c')
        assert 'STOPPED in __getitem__ at loads.py:9' in shown and 'breakpoint 2' in shown
        assert '8' in user.type('p value')
        shown = user.type('c')
        assert 'STOPPED in __getitem__ at loads.py:9' in shown and 'breakpoint()' in shown
        assert '10' in user.type('p value')
        assert '[8, 10]' in user.last('c', '[8, 10]', 'end')
        assert user.end() == 0
        assert 'stopped nothing' not in user.text       # the main process knows of the hits in its workers


@pytest.mark.parametrize('method', ['fork', 'spawn'])
def test_without_a_terminal_commands_come_from_a_pipe(tmp_path: Path, method: str) -> None:
    (tmp_path / 'loads.py').write_text(PROGRAM)
    words = 'run', '-q', '--break', 'loads.py:9', '--if', 'value == 8', 'loads.py', method
    done = run_command(*words, cwd=tmp_path, typed='p value\nc\n')
    assert done.stdout.endswith('[8, 10]\nend\n')
    assert re.search(r'process \d+ \(pfd\) p value\n8\n', done.stderr) and 'not set' not in done.stderr
    done = run_command(*words, cwd=tmp_path)
    assert done.stdout.endswith('[8, 10]\nend\n')
    assert done.stderr.endswith('pyfuncdbg: the user is gone: the program continues without stops\n')


LIVING = '''
import sys, torch, time
from torch.utils.data import DataLoader, Dataset
class Numbers(Dataset):
    def __len__(self): return 8
    def __getitem__(self, index):
        value = index * 2
        return torch.tensor(value)
def between(epoch):
    return epoch + 1
if __name__ == '__main__':
    loader = DataLoader(Numbers(), batch_size=2, num_workers=2, multiprocessing_context=sys.argv[1], persistent_workers=True)
    for epoch in range(4):
        print(epoch, sum(batch.sum().item() for batch in loader))
        between(epoch)
    print('end')
'''


def living(folder: Path, *options: str) -> Terminal:
    (folder / 'loads.py').write_text(LIVING)
    return Terminal(folder, '-m', 'pyfuncdbg', 'run', '-q', *options, timeout=120)


@pytest.mark.parametrize('method', METHODS)
def test_quit_at_one_worker_lets_all_processes_go(tmp_path: Path, method: str) -> None:
    with living(tmp_path, '--break', 'loads.py:7', '--break', 'loads.py:10', 'loads.py', method) as user:
        assert 'DataLoader worker' in user.prompt()
        user.last('quit', '3 56', 'end')
        assert user.end() == 0
        assert user.text.count('STOPPED') == 1


@pytest.mark.parametrize('method', METHODS)
def test_what_is_changed_at_a_stop_of_the_main_process_reaches_living_workers(tmp_path: Path, method: str) -> None:
    with living(tmp_path, '--break', 'loads.py:10', 'loads.py', method) as user:
        user.prompt()
        user.type('break loads.py:8 if index == 3')
        user.type('break function:Numbers.__getitem__ if index == 4')
        user.type('ignore 3 1')
        assert 'in 2 other processes' in user.type('breaks')
        shown = user.type('c')
        assert 'STOPPED in __getitem__ at loads.py:8' in shown and 'breakpoint 2' in shown
        assert '6' in user.type('p value')
        assert 'between at loads.py:10' in user.type('c')       # breakpoint 3 ignores this one
        user.type('condition 2 index == 6')
        user.type('clear 3')
        shown = user.type('c')
        assert 'STOPPED in __getitem__ at loads.py:8' in shown
        assert '12' in user.type('p value')
        user.type('disable 2')
        assert 'between at loads.py:10' in user.type('c')
        assert 'between at loads.py:10' in user.type('c')
        user.last('c', 'end')
        assert user.end() == 0


@pytest.mark.parametrize('method', ['fork', 'spawn'])
def test_what_is_set_in_a_worker_stops_the_main_process_and_once_stops_one(tmp_path: Path, method: str) -> None:
    with living(tmp_path, '--break', 'loads.py:7', '--if', 'index == 0', 'loads.py', method) as user:
        user.prompt()
        assert 'breakpoint 2' in user.type('tbreak loads.py:8 if index > 1')
        assert 'breakpoint 3' in user.type('break loads.py:10 if epoch == 1')
        user.type('disable 1')
        assert 'breakpoint 2' in user.type('c')
        shown = user.type('c')
        assert 'between at loads.py:10' in shown and 'breakpoint 3' in shown
        listed = user.type('breaks')
        assert re.search(r'2 +loads.py:8.* off', listed) and 'hit in another process' in listed
        user.last('c', '3 56', 'end')
        assert user.end() == 0


def test_a_worker_that_is_killed_at_its_stop_ends_the_program(tmp_path: Path) -> None:
    with living(tmp_path, '--break', 'loads.py:7', 'loads.py', 'fork') as user:
        user.prompt()
        os.kill(int(user.type('p __import__("os").getpid()').splitlines()[-2]), signal.SIGKILL)
        user.until('RuntimeError: DataLoader worker')
        assert user.end() == 1


@pytest.mark.parametrize('method', ['fork', 'spawn'])
def test_no_worker_waits_at_the_prompt_of_a_killed_program(tmp_path: Path, method: str) -> None:
    (tmp_path / 'loads.py').write_text(LIVING)
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path), 'PYFUNCDBG_UI': 'prompt', 'TERM': 'dumb'}
    shell = pexpect.spawn('/bin/bash', ['--norc', '-i'], cwd=str(tmp_path), env=environment, encoding='utf-8', timeout=100)
    try:
        shell.sendline(f'{sys.executable} -m pyfuncdbg run -q --break loads.py:7 loads.py {method}')
        shell.expect_exact('(pfd) ')
        shell.sendline('p __import__("os").getpid(), __import__("os").getppid()')
        shell.expect(r'\((\d+), (\d+)\)')
        worker, main = int(shell.match[1]), int(shell.match[2])
        os.kill(main, signal.SIGKILL)
        shell.expect_exact('Killed')
        end = time.monotonic() + 60
        while (there := runs(worker)) and time.monotonic() < end:
            time.sleep(0.1)
        assert not there
        shell.sendline('echo "the shell" "has the terminal"')
        shell.expect_exact('the shell has the terminal')
    finally:
        shell.close(force=True)


def runs(number: int) -> bool:
    """Whether a process has not ended; one that nobody has waited for, as the first process of some machines, has."""
    try:
        return Path(f'/proc/{number}/stat').read_text().rpartition(')')[2].split()[0] != 'Z'
    except FileNotFoundError:
        return False


def test_a_breakpoint_that_cannot_go_along_is_told(tmp_path: Path) -> None:
    (tmp_path / 'loads.py').write_text(PROGRAM.replace("    for batch", '''    import pyfuncdbg
    pyfuncdbg.break_at('function:Numbers.__getitem__', lambda call: True, after=9)
    for batch'''))
    done = run_command('run', '-q', 'loads.py', 'spawn', cwd=tmp_path)
    assert done.stderr.count('breakpoint 1 is not set in processes that start afresh: its condition is a Python '
                             'function') == 1


FAILS = '''
import sys, torch, pyfuncdbg
from torch.utils.data import DataLoader, Dataset
class Numbers(Dataset):
    def __len__(self): return 4
    def __getitem__(self, index):
        if index == 3: raise ValueError(f'bad sample {index}.\\nIt has no label: none')
        return torch.tensor(index)
if __name__ == '__main__':
    try:
        list(DataLoader(Numbers(), batch_size=2, num_workers=2, multiprocessing_context=sys.argv[1]))
    except ValueError:
        if 'pm' not in sys.argv: raise
        pyfuncdbg.pm()
'''


@pytest.mark.parametrize('method', ['fork', 'spawn'])
def test_the_report_leads_to_the_call_of_the_worker(tmp_path: Path, method: str) -> None:
    (tmp_path / 'fails.py').write_text(FAILS)
    done = run_command('run', 'fails.py', method, cwd=tmp_path)
    number, = re.findall(r'The program ended with ValueError: bad sample 3, in DataLoader worker process 1 '
                         r'\(call #([\d.]+)\)', ' '.join(done.stderr.split()))
    shown = run_command('show', 'fails.pfd', 'call', number, cwd=tmp_path).stdout
    assert 'Numbers.__getitem__[1]' in shown and 'raised ValueError' in shown


def test_a_post_mortem_stop_leads_to_the_call_of_the_worker(tmp_path: Path) -> None:
    (tmp_path / 'fails.py').write_text(FAILS)
    with Terminal(tmp_path, '-m', 'pyfuncdbg', 'run', '-q', 'fails.py', 'fork', 'pm', timeout=120) as user:
        told = re.search(r'raised in call #(\S+) Numbers.__getitem__\[1\] of process \d+: ValueError: bad sample 3',
                         user.prompt())
        assert told is not None
        assert 'if index == 3: raise ValueError' in user.type(f'call {told[1]}')
        user.last('q')
        assert user.end() == 0
