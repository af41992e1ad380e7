"""`pyfuncdbg verify` on PyTorch programs: results, output and exit code are the same while they are watched."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from torch_programs import PROGRAMS, run_command

pytestmark = [pytest.mark.torch, pytest.mark.timeout(400)]

SEES_US = '''
import torch
class Half(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x / 2
from pyfuncdbg.hooks.chain import hooks
print(Half.apply(torch.tensor(3.0 + len(hooks.python))).item())
'''


@pytest.mark.parametrize(('name', 'results'), [('torch_check.py', 1), ('torch_tape.py', 3), ('torch_ops.py', 3)])
def test_a_program_is_the_same(tmp_path: Path, name: str, results: int) -> None:
    done = run_command('verify', '--repeat', '1', '--json', str(PROGRAMS / name), cwd=tmp_path, timeout=300)
    answer = json.loads(done.stdout)
    assert (answer['answer'], answer['recorded'], done.returncode) == ('equal', 'bit for bit', 0), done.stdout
    assert answer['results'] >= results


def test_a_program_that_sees_us_is_told(tmp_path: Path) -> None:
    (tmp_path / 'program.py').write_text(SEES_US)
    done = run_command('verify', '--repeat', '1', 'program.py', cwd=tmp_path, timeout=300)
    assert done.stdout.startswith('DIFFERENT') and 'Tensor.item' in done.stdout and done.returncode == 1, done.stdout
