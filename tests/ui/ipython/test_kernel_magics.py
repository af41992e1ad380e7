"""The magics in a real kernel: what a front end gets of completion, `%debug`, recorded cells and a restart."""
from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from notebook_kernel import SETUP, Notebook, started

import pyfuncdbg

FAIL = ('def fail(x):\n    y = 41\n    raise ValueError(f"no {y}")\n\n\n'
        'def outer(x):\n    return tf.py_function(fail, [x], tf.float32)')
CALL = 'r = tf.numpy_function(lambda x: x * 2, [3.0], tf.float64, name="twice")'


@pytest.fixture(scope='module')
def notebook() -> Iterator[Notebook]:
    with started() as notebook:
        assert notebook.run(f'%load_ext pyfuncdbg\n{SETUP}').status == 'ok'
        assert notebook.run(FAIL).status == 'ok'
        yield notebook


def completed(notebook: Notebook, text: str) -> list[str]:
    """The texts with what a front end would put in."""
    content = notebook.client.complete(text, len(text), reply=True, timeout=30)['content']
    return [text[:content['cursor_start']] + match + text[content['cursor_end']:] for match in content['matches']]


def test_completion(notebook: Notebook) -> None:
    assert notebook.run(f'%%pyfunc\n{CALL}').status == 'ok'
    assert completed(notebook, 'x = 1\nr = %pyfunc heal') == ['x = 1\nr = %pyfunc health']
    assert '%pyfunc pt twice:0' in completed(notebook, '%pyfunc pt tw')
    assert '%%pyfunc --break' in completed(notebook, '%%pyfunc --br')
    assert completed(notebook, 'pyfuncdbg.break_') == ['pyfuncdbg.break_at']


def test_debug_begins_in_the_function_that_raised(notebook: Notebook) -> None:
    assert notebook.run('outer(1.0)').error == 'InvalidArgumentError'
    cell = notebook.run('%debug', 'p y * 100', 'up', 'p x + 10', 'q')
    assert '4100' in cell.text
    assert '11.0' in cell.text
    assert 'fail()' in cell.text and 'outer()' in cell.text


def test_the_report_names_cells_and_shows_their_lines(notebook: Notebook) -> None:
    cell = notebook.run('%%pyfunc\nouter(1.0)')
    assert (cell.status, cell.error) == ('error', 'InvalidArgumentError')
    report = cell.shown[-1]
    assert 'ipykernel_' not in report['text/plain']
    assert ']:3 in fail' in report['text/plain']
    assert 'raise ValueError(f"no {y}")' in report['text/plain']
    assert 'text/html' in report


def test_a_bad_option_is_an_error_of_one_line_and_nothing_runs(notebook: Notebook) -> None:
    cell = notebook.run('%%pyfunc --opps\nran = True')
    assert cell.status == 'error'               # 'Run All' ends here
    assert cell.text.startswith('UsageError: %%pyfunc: unrecognized arguments: --opps. Did you mean \'--ops\'')
    assert cell.text.count('\n') == 1
    assert notebook.run('ran').error == 'NameError'


def test_a_line_of_a_cell_can_be_stopped_at(notebook: Notebook) -> None:
    cell = notebook.run('def half(x):\n    y = x / 2\n    return y\nprint(get_ipython().execution_count - 1)')
    number = int(cell.text.split()[-1])
    assert f'In[{number}]:3 half' in notebook.run(f'%pyfunc break In[{number}]:3').text + str(
        notebook.run('%pyfunc breaks').shown)
    cell = notebook.run('tf.numpy_function(half, [5.0], tf.float64)', 'p y * 1000', 'cont')
    assert '2500.0' in cell.text
    assert notebook.run('%pyfunc clear all').status == 'ok'


@pytest.mark.parametrize('how', ['restart', 'kill'])
def test_a_recording_outlives_its_kernel(how: str, tmp_path: Path) -> None:
    path = tmp_path / 'all.pfd'
    with started() as notebook:
        notebook.run(f'%load_ext pyfuncdbg\n{SETUP}')
        assert notebook.run(f'%pyfunc on --record {path}').status == 'ok'
        notebook.run(f'for i in range(20):\n    {CALL}')
        if how == 'kill':                       # at once: a cell that is over is in the trace
            os.kill(notebook.manager.provisioner.pid, signal.SIGKILL)       # type: ignore[union-attr]
        else:
            notebook.client.shutdown(restart=False)
            deadline = time.monotonic() + 30
            while not complete(path) and time.monotonic() < deadline:
                time.sleep(0.1)
    with pyfuncdbg.load(path) as trace:
        assert trace.count(kind='python') == 20
        assert trace.info().complete == (how == 'restart')


def complete(path: Path) -> bool:
    with pyfuncdbg.load(path) as trace:
        return trace.info().complete
