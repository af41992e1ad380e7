"""`pyfuncdbg verify` on PyTorch programs: results, output and exit code are the same while they are watched."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from torch_programs import PROGRAMS, run_command

from pyfuncdbg.ui.commands.programs import verify as command

pytestmark = [pytest.mark.torch, pytest.mark.timeout(400)]

SEVERAL = '''
import runpy, sys
for path in sys.argv[1:]:
    runpy.run_path(path)
'''
SEES_US = '''
import torch
class Half(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x / 2
from pyfuncdbg.hooks.chain import hooks
print(Half.apply(torch.tensor(3.0 + len(hooks.python))).item())
'''


def test_a_program_is_the_same(tmp_path: Path) -> None:
    """Of three programs as one: each of the seven runs imports PyTorch and its compiler."""
    (tmp_path / 'program.py').write_text(SEVERAL)
    names = 'torch_check.py', 'torch_tape.py', 'torch_ops.py'
    done = run_command('verify', '--repeat', '0', '--json', 'program.py', *(str(PROGRAMS / name) for name in names),
                       cwd=tmp_path, timeout=300)
    answer = json.loads(done.stdout)
    assert (answer['answer'], answer['recorded'], answer['stepped'], done.returncode) == (
        'equal', 'bit for bit', 'bit for bit', 0), done.stdout
    assert answer['stdout'] == sum((PROGRAMS / name).with_suffix('.plain.out').stat().st_size for name in names)
    assert answer['results'] >= 1 + 3 + 3 and answer['costs'] == []


def test_a_program_that_sees_us_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / 'program.py').write_text(SEES_US)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, 'LEVELS', ('plain', 'hooks'))
    answer = command.verify(('program.py',))
    difference, = answer.differences
    assert (answer.answer, difference.level, difference.what) == ('different', 'hooks', 'results')
    assert 'Tensor.item' in difference.where and (difference.plain, difference.watched) == ('1.5', '2.0')
