"""Errors of PyTorch's own functions look as without us, wherever the program catches them."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from torch_programs import run_command

pytestmark = pytest.mark.torch

PROGRAM = '''
import sys, traceback
import torch, torch.nn.functional as F
from torch import nn
x = torch.ones(2, requires_grad=True)
def attempt(function):
    try:
        function()
    except Exception:
        print(traceback.format_exc())
    assert sys.gettrace() is None
def nested():
    try:
        F.softmax(x, dim=7)
    except IndexError as error:
        raise ValueError('wrong') from error
def generated():
    yield F.softmax(x, dim=7)
attempt(lambda: F.softmax(x, dim=7))
attempt(lambda: F.cross_entropy(x, x[:1]))
attempt(lambda: x.split(0.5))
attempt(lambda: torch.einsum('ij,jk', x, x))
attempt(lambda: torch.mm(x, x))
attempt(lambda: nn.Linear(3, 3)(x))
attempt(lambda: nn.Softmax(7)(x))
attempt(nested)
attempt(lambda: next(generated()))
with torch.no_grad():
    attempt(lambda: torch.stft(x, 7))
'''


def test_tracebacks_are_those_of_the_plain_program(tmp_path: Path) -> None:
    (tmp_path / 'program.py').write_text(PROGRAM)
    plain = subprocess.run([sys.executable, str(tmp_path / 'program.py')], capture_output=True, text=True, check=True)
    assert 'in softmax' in plain.stdout
    for options in (), ('--ops',):
        done = run_command('run', '-q', *options, str(tmp_path / 'program.py'), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stdout == plain.stdout, options
