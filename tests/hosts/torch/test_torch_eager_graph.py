"""`graph`, `ni`, `li` and `lo` of eager ops that were recorded with `--ops`: which op takes what another one gives."""
from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from torch_programs import run_command

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures('op_modes')]

PROGRAM = '''
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self): super().__init__(); self.scale, self.out = nn.Parameter(torch.ones(3)), nn.Linear(3, 2)
    def forward(self, x):
        h = torch.relu(x * self.scale) * 2
        h += 1
        return self.out(h) - h.sum()
net = Net()
net(torch.ones(4, 3)).sum().backward()
a = torch.ones(2)
b = a.exp()
c = a + b
'''


@pytest.fixture(scope='module')
def shown(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Shows what a command finds in a recording of the program."""
    folder: Path = tmp_path_factory.mktemp('eager')
    (folder / 'program.py').write_text(PROGRAM)
    os.utime(folder / 'program.py', (0, 0))      # lines are shown of a file that is older than the process
    done = run_command('run', '-q', '--ops', '--record', 'program.pfd', 'program.py', cwd=folder)
    assert done.returncode == 0, done.stderr
    return lambda *words: run_command('show', 'program.pfd', *words, cwd=folder)


def edges(answer: str) -> dict[str, list[str]]:
    """Names of what each node takes."""
    return {row['site']['name']: row['inputs'] for row in json.loads(answer)['rows']}


def test_the_graph_of_the_newest_module_call(shown: Any) -> None:
    done = shown('graph', '--json')
    assert json.loads(done.stdout)['label'] == 'Net'
    found = edges(done.stdout)
    assert found['relu'] == ['mul:0'] and found['mul'][1] == 'scale'
    assert found['mul_1'] == ['relu:0'] and found['add_'] == ['mul_1:0'] and found['sum'] == ['add_:0']
    assert found['out/addmm'] == ['out.bias', 'add_:0', 'out/t:0'] and found['sub'] == ['out/addmm:0', 'sum:0']
    assert 'exp' not in found and not any('backward' in name for name in found)


def test_the_graph_of_eager_code(shown: Any) -> None:
    run = next(run for run in (1, 2, 3) if 'eager code' in shown('graph', '--run', str(run)).stdout)
    found = edges(shown('graph', '--run', str(run), '--json').stdout)
    assert found['add'] == [found['exp'][0], 'exp:0'] and 'relu' not in found


@pytest.mark.parametrize(('command', 'words'), [
    ('ni add_', ['mul_1:0', 'aten.mul', 'no graph: called eagerly in run #2 Net', 'h += 1']),
    ('li sub', ['out/addmm', 'add_', 'mul_1']),
    ('lo relu', ['mul_1', 'add_', 'sum']),
    ('lt', ['relu:0', 'aten.relu', 'out/addmm:0', 'Net:0', 'fetch']),
    ('lp', ['aten.exp', 'program.py:14', 'out/addmm/backward/mm']),
    ('graph --as dot', ['label="mul\\naten.mul', 'n0 -> n1']),
    ('ps program.py', ['h = torch.relu(x * self.scale) * 2'])])
def test_commands_on_nodes(shown: Any, command: str, words: list[str]) -> None:
    done = shown(*command.split())
    assert all(word in done.stdout for word in words), done.stdout + done.stderr
