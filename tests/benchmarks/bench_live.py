"""What `pyfuncdbg run --live` costs the program: `python tests/benchmarks/bench_live.py`.

The same script plainly, recorded, and under the live view in a terminal of its own, in turn; it measures its own loop.
"""
from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path

import pexpect
from timing import Result, table

ROOT = Path(__file__).resolve().parents[2]
REPEATS = 5
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
        child.expect('program: .*ended')
        child.send('q')
    child.expect(pexpect.EOF)
    child.close()
    return {line.split()[1]: float(line.split()[2]) for line in (folder / 'took').read_text().splitlines()}


def main() -> None:
    """Print the ratios."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / 'script.py').write_text(SCRIPT)
        found: dict[str, list[dict[str, float]]] = {'plain': [], 'recorded': [], 'live': []}
        run = ('-m', 'pyfuncdbg', 'run')
        for turn in range(REPEATS):
            found['plain'].append(took(folder))
            found['recorded'].append(took(folder, *run, '--record', f'{turn}.pfd'))
            found['live'].append(took(folder, *run, '--live', '--record', f'live-{turn}.pfd'))
    median = {level: {part: statistics.median(one[part] for one in times) for part in ('hot', 'usual')}
              for level, times in found.items()}
    results = []
    for part, calls in (('hot', CALLS), ('usual', CALLS // 50)):
        for level, peer in (('recorded', 'plain'), ('live', 'plain'), ('live', 'recorded')):
            ours, theirs = median[level][part], median[peer][part]
            results.append(Result(f'{part}: {level} against {peer}', ours / calls * 1e6, theirs / calls * 1e6, '',
                                  f'{ours / theirs:.2f}x the time'))
    print(table(results))


if __name__ == '__main__':
    main()
