"""Exported notebooks: valid, and executed by a kernel where this project cannot be imported."""
from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import numpy as np
import pytest
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from notebook_kernel import sockets

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute

MODULE = '''
import numpy as np

def norm(x, result): return x / np.sqrt((x * x).sum()) + result
def shout(texts): return np.array([text.upper() for text in texts], object)
def fail(x): raise ValueError('<b>no</b> ` [luck](http://x)')
'''
X = np.array([3, 4], np.float32)


@pytest.fixture(scope='module')
def trace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[str]]]:
    folder = tmp_path_factory.mktemp('notebook')
    (folder / 'notebook_subjects.py').write_text(MODULE)
    sys.path.insert(0, str(folder))
    try:
        import notebook_subjects as subjects  # type: ignore[import-not-found]
        with pyfuncdbg.record(folder / 'it.pfd'):
            tf.numpy_function(subjects.norm, [X, X], tf.float32, name='a`<script>*b*')
            tf.numpy_function(subjects.shout, [np.array([b'a', b'b\0'], object)], tf.string)
            with pytest.raises(ValueError, match='luck'):
                tf.numpy_function(subjects.fail, [X], tf.float32)
        with Trace.open(folder / 'it.pfd') as opened:
            yield folder / 'it.pfd', [call.number for call in opened.calls(kind='python')]
    finally:
        sys.path.remove(str(folder))
        del sys.modules['notebook_subjects']


def export(path: Path, line: str) -> object:
    with Trace.open(path) as trace:
        return execute(f'export notebook {line}', Context(trace)).result


def test_a_notebook_makes_calls_again(trace: tuple[Path, list[str]], tmp_path: Path,
                                     monkeypatch: pytest.MonkeyPatch) -> None:
    path, numbers = trace
    result = export(path, f'{numbers[0]}..{numbers[-1]} -o {tmp_path}/it.ipynb')
    assert (result.calls, result.beside) == (3, (f'{tmp_path}/it.npz',))
    book = nbformat.read(tmp_path / 'it.ipynb', as_version=4)
    nbformat.validate(book)
    assert len({cell.id for cell in book.cells}) == len(book.cells)
    sources = [cell.source for cell in book.cells]
    assert f"x = VALUES['{numbers[0]}.in0']\nresult_ = VALUES['{numbers[0]}.in1']" in sources
    titles = '\n'.join(cell.source for cell in book.cells if cell.cell_type == 'markdown')
    assert '<' not in titles.replace('\\<', '') and '[luck]' not in titles and '*b*' not in titles
    monkeypatch.setenv('PYTHONPATH', '')
    book.cells.insert(0, nbformat.v4.new_code_cell("import sys; sys.modules['pyfuncdbg'] = None"))
    with sockets() as where:
        NotebookClient(book, AsyncKernelManager(kernel_name='python3', **where), timeout=60,
                       resources={'metadata': {'path': str(tmp_path)}}).execute()
    shown = {cell.source: [output.get('ename') or output['data']['text/plain'] for output in cell.outputs]
             for cell in book.cells if cell.cell_type == 'code' and cell.outputs}
    assert shown['result = norm(x, result_)\nresult'] == shown[f"recorded = VALUES['{numbers[0]}.out0']\nrecorded"] == [
        'array([3.6, 4.8], dtype=float32)']
    assert shown['result = shout(texts)\nresult'] == [r"array([b'A', b'B\x00'], dtype=object)"]
    assert shown['result = fail(x)\nresult'] == ['ValueError']


def test_a_notebook_has_a_name_of_its_own(trace: tuple[Path, list[str]], tmp_path: Path,
                                          monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path, numbers = trace
    assert export(path, numbers[0]).path == f'norm_{numbers[0]}.ipynb'
    with pytest.raises(CommandError, match=r"a notebook ends in \.ipynb, such as -o x\.ipynb"):
        export(path, f'{numbers[0]} -o x.txt')
    with pytest.raises(CommandError, match='--shrink is an option of pytest, not of notebook'):
        export(path, f'{numbers[0]} --shrink')
    assert sorted(file.name for file in tmp_path.iterdir()) == [f'norm_{numbers[0]}.ipynb', f'norm_{numbers[0]}.npz']
