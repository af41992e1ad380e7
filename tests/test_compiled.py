"""The modules that a C compiler may have made: used where they are there, missed by nothing where they are not."""
from __future__ import annotations

import importlib.machinery
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import pyfuncdbg
from pyfuncdbg.hooks.own_files import is_own_file

PACKAGE = Path(pyfuncdbg.__file__).resolve().parent
ROOT = Path(__file__).resolve().parents[1]

MODULES = tomllib.loads((ROOT / 'pyproject.toml').read_text())['tool']['setuptools']['ext-modules']
NAMES = [module['name'] for module in MODULES]

PROGRAM = '''
import sys
import numpy as np
import pyfuncdbg
from pyfuncdbg.hooks.own_files import is_own_file
from pyfuncdbg import tf
from pyfuncdbg.hosts.jax import array_values, callback_fast_path
from pyfuncdbg.hosts.jax.graph_ops import compiled_ops, eager_ops, eager_sites
from pyfuncdbg.hosts.jax.runs import dispatches
from pyfuncdbg.hosts.tensorflow import call_dispatch
from pyfuncdbg.hosts.torch.graph_ops import op_calls, op_sites

def double(x):
    print('doubled')
    return x * 2

with pyfuncdbg.record('seen.pfd'):
    print(tf.numpy_function(double, [np.float64([1, 2.5])], tf.float64, name='double').numpy())
with pyfuncdbg.load('seen.pfd') as trace:
    (call,) = trace.calls()
    print(call.site.name, call.inputs[0].to_numpy(), call.outputs[0].to_numpy(), call.output[0].text.strip())
print(*(
    name for name in NAMES if name in sys.modules and sys.modules[name].__file__.endswith('.so')))
'''
SEEN = ['doubled', '[2. 5.]', 'double [1.  2.5] [2. 5.] doubled']


def built() -> list[str]:
    """Those that are there for this Python."""
    suffixes = importlib.machinery.EXTENSION_SUFFIXES
    return [name for name in NAMES
            if any(PACKAGE.parent.joinpath(*name.split('.')).with_suffix(suffix).exists() for suffix in suffixes)]


def said(tmp_path: Path, before: str = '') -> list[str]:
    """The lines that the program prints after `before`."""
    code = f'{before}\nNAMES = {NAMES}\n{PROGRAM}'
    done = subprocess.run([sys.executable, '-c', code], cwd=tmp_path, stdout=subprocess.PIPE, text=True, timeout=60,
                          env=dict(os.environ, PYTHONPATH=f'{PACKAGE.parent}{os.pathsep}{ROOT / "tests"}'), check=True)
    return done.stdout.splitlines()


def test_there_is_a_source_for_each() -> None:
    assert len(NAMES) == len(set(NAMES))
    package = ROOT / 'pyfuncdbg'                # a `.pyx` has no Python beside it: NumPy does the same
    sources = {path.relative_to(ROOT).as_posix() for path in (
        *(path.with_suffix('.py') for path in package.rglob('*.pxd')), *package.rglob('*.pyx'))}
    assert sources == {source for module in MODULES for source in module['sources']}
    assert [Path(source).with_suffix('').as_posix().replace('/', '.') for module in MODULES
            for source in module['sources']] == NAMES


def test_all_are_built_or_none() -> None:
    assert built() in ([], NAMES)


def test_without_them_calls_are_recorded(tmp_path: Path) -> None:
    assert said(tmp_path, 'import uncompiled') == [*SEEN, '']


@pytest.mark.skipif(not built(), reason='no C compiler has made them')
def test_where_they_are_built_they_are_used(tmp_path: Path) -> None:
    assert said(tmp_path) == [*SEEN, ' '.join(NAMES)]


def test_frames_of_every_compiled_module_are_known_as_ours() -> None:
    assert all(is_own_file(source) for module in MODULES for source in module['sources'])
    assert not is_own_file('program/hooks/call.py') and not is_own_file('/home/me/pyfuncdbg/hooks/call.py')
