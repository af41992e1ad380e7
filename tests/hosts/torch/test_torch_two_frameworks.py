"""PyTorch beside another framework in one program: both are attached to, stopped in and recorded in one trace."""
from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from torch_programs import run_command

from pyfuncdbg.observers.record.trace import Trace

pytestmark = [pytest.mark.torch, pytest.mark.timeout(300)]

PROGRAM = '''
import numpy as np, torch
{imports}
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 3
def clipped(v):
    return np.minimum(np.asarray(v), 5).astype(np.float32)
x = torch.arange(3.0) + 3
x.requires_grad_()
y = Twice.apply(x)
{other}
y.backward(torch.from_numpy(np.array(out)))
print(np.asarray(out).tolist(), x.grad.tolist())
'''
GRAPHS = '''
@tf.function
def step(v):
    return tf.numpy_function(clipped, [v], tf.float32) * 2
out = step(tf.constant(y.detach().numpy()))
'''
CALLBACK = '''
@jax.jit
def step(v):
    return jax.pure_callback(clipped, jax.ShapeDtypeStruct((3,), jnp.float32), v) * 2
out = step(jnp.asarray(y.detach().numpy()))
'''
OTHERS = {'pyfuncdbg': ('from pyfuncdbg import tf', GRAPHS), 'tensorflow': ('import tensorflow as tf', GRAPHS),
          'jax': ('import jax, jax.numpy as jnp', CALLBACK)}


@pytest.mark.parametrize('other', [name for name in OTHERS if importlib.util.find_spec(name) is not None])
def test_both_are_stopped_in_and_recorded(tmp_path: Path, other: str) -> None:
    imports, code = OTHERS[other]
    (tmp_path / 'program.py').write_text(PROGRAM.format(imports=imports, other=code))
    done = run_command('run', '--record', 'program.pfd', '--break', 'Twice.forward', '--break', 'clipped', '--break',
                       'function:Twice.backward', 'program.py', cwd=tmp_path, timeout=250,
                       typed='p x.tolist()\nc\np list(v)\nc\np g.tolist()\nc\n')
    assert done.stdout == '[10.0, 10.0, 10.0] [30.0, 30.0, 30.0]\n', done.stderr
    stops = re.findall(r'^STOPPED entering (\w+) at', done.stderr, re.MULTILINE)
    assert stops == ['forward', 'clipped', 'backward'], done.stderr
    with Trace.open(tmp_path / 'program.pfd') as trace:
        calls = trace.calls(kind='python')
        assert [call.site.function.rpartition('.')[2] for call in calls] == ['forward', 'clipped', 'backward']
        assert [call.outputs[0].to_numpy().tolist() for call in calls] == [[6, 8, 10], [5, 5, 5], [30, 30, 30]]
