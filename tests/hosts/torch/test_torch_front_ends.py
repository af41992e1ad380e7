"""PyTorch in front ends that are no prompt of the program: `connect`, `--live`, notebooks."""
from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from listening import Program, client, wait_until
from notebook_kernel import started
from ui.inspector.hosted_program import LIVE, Person

pytestmark = [pytest.mark.torch, pytest.mark.timeout(300)]

TRAIN = '''
import sys, time, torch
from torch.utils.data import DataLoader, Dataset
class Numbers(Dataset):
    def __len__(self): return 8
    def __getitem__(self, index):
        value = index * 2.0
        return torch.full((4,), value)
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        slope = g * 2
        return slope
if __name__ == '__main__':
    loader = DataLoader(Numbers(), batch_size=2, num_workers=1, persistent_workers=True)
    w = torch.ones(4, requires_grad=True)
    for step in range(int(sys.argv[1])):
        for batch in loader:
            Twice.apply(w * batch).sum().backward()
            time.sleep(.02)
        print('step', step, flush=True)
'''
LINE = {text.strip(): number for number, text in enumerate(TRAIN.splitlines(), 1)}
RUN = ('-m', 'pyfuncdbg', 'run', '-q')


def stopped(user: Any) -> str:
    """The answer of `stop` at the next stop."""
    user.event('stopped')
    return str(user.line('stop')['text'])


def test_a_client_stops_in_backward_and_steps(tmp_path: Path) -> None:
    with Program(tmp_path, source=TRAIN, command=RUN) as program, client(program) as user:
        wait_until(lambda: 'step 1' in program.printed)
        user.line('break function:Twice.backward')
        assert f'entering backward at train.py:{LINE["def backward(ctx, g):"] - 1}' in stopped(user)
        user.line('next')
        user.event('stopped')
        user.line('next')
        assert f'in backward at train.py:{LINE["return slope"]}' in stopped(user)
        assert '[2.0, 2.0, 2.0, 2.0]' in user.line('p slope.tolist()')['text']
        user.line('clear all')
        user.line('cont')
        assert program.runs_on()


@pytest.mark.usefixtures('op_modes')
def test_a_client_stops_at_an_op_of_a_thread_that_runs(tmp_path: Path) -> None:
    with Program(tmp_path, source=TRAIN, command=RUN) as program, client(program) as user:
        wait_until(lambda: 'step 1' in program.printed)
        user.line('break mul')                  # no call of a module begins any more on the thread that it is for
        shown = stopped(user)
        assert re.search(r"STOPPED before call \d+ of node 'mul", shown), shown
        user.line('clear all')
        user.line('cont')
        assert program.runs_on()


def test_what_a_client_sets_reaches_a_living_worker(tmp_path: Path) -> None:
    with Program(tmp_path, source=TRAIN, command=RUN) as program, client(program) as user:
        wait_until(lambda: 'step 1' in program.printed)
        user.line('break function:Numbers.__getitem__ if index == 3')
        wait_until(lambda: (user.line('stop')['stop'] or {}).get('at', '').startswith('entering __getitem__'))
        assert 'in process' in user.line('stop')['stop']['at'] and '3' in user.line('p index')['text']
        assert 'prompt' in user.line('processes')['text']
        user.line('clear all')
        assert user.line('cont')['left'] is not None
        assert program.runs_on()


def test_live_figures(tmp_path: Path) -> None:
    (tmp_path / 'train.py').write_text(TRAIN)
    person = Person(tmp_path, '-m', 'pyfuncdbg', 'run', *LIVE, 'train.py', '10')
    try:
        expected = {'Twice': 40, 'Twice.backward': 40, 'Numbers.__getitem__': 80}

        def complete(screen: str) -> bool:
            """The last rows are drawn a moment after the title says that the program has ended."""
            calls = {name: int(count) for name, count in re.findall(r'^ ([\w.]+) +(\d+) +[\d.]+ ', screen, re.MULTILINE)}
            return 'mean rates' in screen and {name: calls.get(name) for name in expected} == expected
        shown = person.until(complete)
        assert '40 backward passes' in shown and 'nothing raised' in shown
        person.ready()
        person.type('q')
        assert person.end() == 0
    finally:
        person.child.close(force=True)


CELL = '''
import torch
class Fails(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.sum() + 40
        raise ValueError(f'no {y}')
def outer(x):
    return Fails.apply(x)
'''


def test_debug_in_a_notebook_begins_in_the_function(tmp_path: Path) -> None:
    with started() as notebook:
        assert notebook.run(CELL).status == 'ok'
        assert notebook.run('%load_ext pyfuncdbg').status == 'ok'
        cell = notebook.run('%%pyfunc\nouter(torch.ones(2))')
        assert cell.error == 'ValueError'
        assert 'ValueError in call #' in cell.shown[-1]['text/plain']
        cell = notebook.run('%debug', 'p float(y) * 100', 'up', 'up', 'q')
        assert '4200.0' in cell.text
        assert 'forward()' in cell.text and 'outer()' in cell.text.partition('4200.0')[2]
