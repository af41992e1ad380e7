"""Calls of real TensorFlow, replayed in a fresh interpreter: the same bits, the same exception."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.tensorflow
ROOT = Path(__file__).resolve().parents[3]
REPLAY_ALL = '''
import json
import pyfuncdbg
found = {}
with pyfuncdbg.load('t.pfd') as trace:
    for call in trace.calls(limit=1000):
        if call.site.kind == 'python' or call.site.op_type == 'EagerPyFunc':
            replay = call.replay()
            found[call.number] = [call.site.kind, call.site.function, replay.verdict, replay.executions[0].raised]
print(json.dumps(found))
'''


def test_every_call_gives_the_same_bits_or_the_same_exception(tmp_path: Path) -> None:
    shutil.copy(Path(__file__).with_name('replayed_program.py'), tmp_path / 'train.py')
    environment = {**os.environ, 'PYTHONPATH': str(ROOT)}
    for args in (['-m', 'pyfuncdbg', 'run', '--record', 't.pfd', 'train.py'], ['-c', REPLAY_ALL]):
        done = subprocess.run([sys.executable, *args], cwd=tmp_path, env=environment, capture_output=True, text=True,
                              timeout=200)
        assert done.returncode == 0, done.stderr
    assert 'training' not in done.stdout
    found = json.loads(done.stdout)
    assert {verdict for _, _, verdict, _ in found.values()} == {'same'}, found
    kinds = [kind for kind, *_ in found.values()]
    assert kinds.count('gradient') == 3 and kinds.count('python') == 3 + 3 * 8 + 2
    assert [raised for *_, raised in found.values() if raised] == ['ZeroDivisionError: division by zero']
