"""The programs of the notebooks: their calls are replayed in a fresh interpreter, of those with many each few-th."""
from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
MOST = 100
REPLAY_ALL = f'MOST = {MOST}\n' + '''
import json
import pyfuncdbg
found = []
with pyfuncdbg.load('t.pfd') as trace:
    chosen = [call for call in trace.calls(limit=100_000)
              if call.site.kind == 'python' or (call.site.kind == 'gradient' and call.site.op_type == 'EagerPyFunc')]
    for call in chosen[::len(chosen) // MOST + 1]:
        try:
            found.append([call.label, call.replay().verdict])
        except pyfuncdbg.errors.CommandError as error:
            found.append([call.label, str(error)])
print(json.dumps(found))
'''


def program_of(notebook: Path) -> str:
    """The Python of the cells, without magics and what is typed at prompts."""
    cells = [''.join(cell['source']) for cell in json.loads(notebook.read_text())['cells'] if cell['cell_type'] == 'code']
    bodies = ['\n'.join(line for line in cell.split('\n') if not line.startswith(('%', '!'))) for cell in cells]
    return '\n\n'.join(body for body in bodies if _is_python(body))


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
        return True
    except SyntaxError:
        return False


def replays(folder: Path, notebook: str) -> list[list[str]]:
    (folder / 'program.py').write_text(program_of(ROOT / 'notebooks' / notebook))
    environment = {**os.environ, 'PYTHONPATH': str(ROOT)}
    for args in (['-m', 'pyfuncdbg', 'run', '-q', '--record', 't.pfd', 'program.py'], ['-c', REPLAY_ALL]):
        done = subprocess.run([sys.executable, *args], cwd=folder, env=environment, capture_output=True, text=True,
                              timeout=200, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    found: list[list[str]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(('notebook', 'calls'), [
    ('01-first-graph', 9), ('02-breakpoints', 3), ('03-nan', 80), ('04-gradients', 8)])
def test_calls_of_a_notebook_give_the_same_bits_or_exception(tmp_path: Path, notebook: str, calls: int) -> None:
    found = replays(tmp_path, f'{notebook}.ipynb')
    assert len(found) >= calls
    others = {verdict for _, verdict in found if verdict != 'same'}
    assert all('was not kept in full (more than 65536 bytes)' in other for other in others), others


@pytest.mark.tensorflow
def test_calls_of_the_notebook_on_tensorflow_give_the_same_bits(tmp_path: Path) -> None:
    found = replays(tmp_path, '06-tensorflow.ipynb')
    assert found and {verdict for _, verdict in found} == {'same'}, found
