"""What `pyfuncdbg run --live` costs the program.

The same script plainly, recorded, and under the live view in a terminal of its own, in turn; it measures its own loop.
"""
from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
from measurement import REPORTED, Row, Side

ROOT = Path(__file__).resolve().parents[2]
CALLS = 20_000
SCRIPT = f'''
import sys, time
import numpy as np
from pyfuncdbg import tf
a = np.random.default_rng(0).normal(size=(200, 200))
def f(x):
    return x + 1
x = np.arange(3.)
def hot():
    for _ in range({CALLS}):
        tf.numpy_function(f, [x], tf.float64)
def usual():
    for _ in range({CALLS} // 50):
        tf.numpy_function(np.linalg.inv, [a], tf.float64)
for work in (hot, usual):
    began = time.perf_counter()
    work()
    print('took', work.__name__, time.perf_counter() - began, file=open('took', 'a'))
'''


def took(folder: Path, *words: str) -> dict[str, float]:
    """Seconds of each part, under this command."""
    (folder / 'took').unlink(missing_ok=True)
    child = pexpect.spawn(sys.executable, [*words, 'script.py'], cwd=str(folder), dimensions=(40, 120), timeout=120,
                          env={**os.environ, 'PYTHONPATH': str(ROOT), 'TERM': 'xterm-256color', 'OPENBLAS_NUM_THREADS': '1'})
    if '--live' in words:
        child.expect('program: ended')
        child.send('q')
    child.expect(pexpect.EOF)
    child.close()
    return {line.split()[1]: float(line.split()[2]) for line in (folder / 'took').read_text().splitlines()}


def rows(folder: Path) -> Iterator[Row]:
    (folder / 'script.py').write_text(SCRIPT)
    turns = iter(range(1_000_000))

    def side(name: str, part: str, calls: int) -> Side:
        def work() -> float:
            words = {'plain': (), 'recorded': ('-m', 'pyfuncdbg', 'run', '--record', f'{next(turns)}.pfd'),
                     '--live': ('-m', 'pyfuncdbg', 'run', '--live', '--record', f'{next(turns)}.pfd')}[name]
            return took(folder, *words)[part] / calls * 1e6
        return Side(name, work)
    for part, calls in (('hot', CALLS), ('usual', CALLS // 50)):
        for ours, peer in (('recorded', 'plain'), ('--live', 'plain'), ('--live', 'recorded')):
            yield Row(f'{part} loop, {ours} against {peer}',
                      lambda ours=ours, peer=peer, part=part, calls=calls: (  # type: ignore[misc]
                          side(ours, part, calls), side(peer, part, calls)), clock=REPORTED)
