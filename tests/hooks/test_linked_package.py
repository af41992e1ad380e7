"""A package that is reached through a link, as in a home folder that is one: its frames are no part of the program."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyfuncdbg

PROGRAM = '''\
from pyfuncdbg import tf

def fails(x):
    raise ValueError('no')

try:
    tf.py_function(fails, [1.0], tf.float32)
except tf.errors.InvalidArgumentError:
    pass
'''


def test_frames_of_a_linked_package_are_left_out(tmp_path: Path) -> None:
    (tmp_path / 'linked').mkdir()
    (tmp_path / 'linked' / 'pyfuncdbg').symlink_to(Path(pyfuncdbg.__file__).resolve().parent)
    (tmp_path / 'prog.py').write_text(PROGRAM)
    environment = dict(os.environ, PYTHONPATH=str(tmp_path / 'linked'), COLUMNS='400')

    def run(*words: str) -> str:
        return subprocess.run([sys.executable, '-m', 'pyfuncdbg', *words], cwd=tmp_path, env=environment, check=True,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60).stdout
    run('run', 'prog.py')
    lines = run('show', 'prog.pfd', 'call', '1').splitlines()
    (created,) = [line for line in lines if line.startswith('created')]
    assert created.endswith('/prog.py:7 in <module>')
    frames = [line for line in lines if 'prog.py:4' in line]
    assert frames
    assert not any('/linked/' in line for line in lines)
