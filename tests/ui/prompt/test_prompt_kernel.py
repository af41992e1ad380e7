"""The prompt in a notebook: a real kernel, asked by a client that answers what the kernel asks for."""
from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import nbformat
import numpy as np
import pytest
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from notebook_kernel import CALL, EAGER, HERE, NATIVE, SETUP, TESTS, TWICE, Notebook, sockets, started

import pyfuncdbg


@pytest.fixture(scope='module')
def kernel() -> Iterator[Notebook]:
    with started() as notebook:
        yield notebook


@pytest.fixture
def notebook(kernel: Notebook) -> Notebook:
    assert kernel.run('%reset -f\n' + SETUP).status == 'ok'
    return kernel


@pytest.mark.parametrize('how', ['breakpoint()', 'pyfuncdbg.breakpoint()'])
def test_breakpoint_opens_the_prompt_in_the_cell(how: str, notebook: Notebook) -> None:
    assert notebook.run(TWICE.format(stop=how)).status == 'ok'
    cell = notebook.run(EAGER.format(value=21), 'p y * 0 + 77', 'bt', 'step', 'y = y * 0 + 10', 'cont')
    assert (cell.status, cell.asked) == ('ok', ['(pfd) '] * 5)
    assert '77.' in cell.text or re.search(r'\b77\b', cell.text)
    assert "print('in the call', y[0])" in cell.text        # the cell's own source
    assert re.search(r'twice', cell.text)
    assert cell.text.endswith('in the call 42.0\n11.0\n') or cell.text.endswith('11.0\n')
    again = notebook.run(CALL.format(value=1), 'cont')
    assert (again.status, again.text.splitlines()[-1]) == ('ok', '3.0')


def test_break_list_and_return_in_a_cells_function(notebook: Notebook) -> None:
    notebook.run(TWICE.format(stop='breakpoint()'))
    cell = notebook.run(CALL.format(value=21), 'list', 'break 6', 'cont', 'p z + 100', 'cont')
    assert cell.text.index('def twice(x)') < cell.text.index('in the call 42') < cell.text.index('143')
    again = notebook.run(CALL.format(value=2), 'clear 1', 'step', 'step', 'p z', 'cont')
    assert re.search(r'> +5 z = y \+ 1', again.text)       # not into what the kernel has put for sys.stdout
    assert again.text.endswith('5.0\n')


def test_a_session_and_two_stops(notebook: Notebook) -> None:
    notebook.run(TWICE.format(stop='breakpoint()') + '''
graph = tf.Graph()
with graph.as_default():
    fed = tf.compat.v1.placeholder(tf.float64, [1], name='fed')
    first = tf.numpy_function(twice, [fed], tf.float64, name='first')
    second = tf.numpy_function(twice, [first], tf.float64, name='second')
''')
    cell = notebook.run('with tf.compat.v1.Session(graph=graph) as s:\n    print(s.run(second, {fed: np.array([3.])}))',
                        'p x', 'z = 1', 'cont', 'p x', 'bt', 'y = y + 100', 'cont')
    assert (cell.status, len(cell.asked)) == ('ok', 7)
    assert re.search(r'STOPPED in twice .*first', cell.text)
    assert re.search(r'STOPPED in twice .*second', cell.text)
    assert cell.text.endswith('in the call 114.0\n[115.]\n')


@pytest.mark.parametrize('threads', [1, 2])
def test_native_threads_stop_in_the_cell(threads: int, notebook: Notebook) -> None:
    notebook.run(TWICE.format(stop='breakpoint()'))
    cell = notebook.run(NATIVE.format(threads=threads), *['y = y + 1', 'cont'] * threads)
    assert (cell.status, len(cell.asked)) == ('ok', 2 * threads)
    assert cell.text.count(' 9.0\n') == threads           # print writes in pieces, between which the other thread stops
    assert cell.text.endswith(f'{[np.float64(10.0)] * threads}\n')     # as NumPy writes it


def test_without_input_one_line_is_said_and_all_goes_on(notebook: Notebook) -> None:
    notebook.run(TWICE.format(stop='breakpoint()'))
    cell = notebook.run(CALL.format(value=1) + '\n' + CALL.format(value=2), stdin=False)
    assert (cell.status, cell.asked) == ('ok', [])
    assert cell.text.count('pyfuncdbg: ') == cell.text.count('this front end sends no input') == 1
    assert cell.text.endswith('5.0\n')
    assert len(notebook.run(CALL.format(value=1), 'cont').asked) == 1


def test_an_interrupt_at_the_prompt_ends_the_cell(notebook: Notebook) -> None:
    notebook.run(TWICE.format(stop='breakpoint()'))
    for _ in range(2):
        cell = notebook.run(CALL.format(value=1), 'p y', notebook.manager.interrupt_kernel)
        assert (cell.status, cell.error) == ('error', 'KeyboardInterrupt')
        assert 'in the call 2' not in cell.text
    assert notebook.run(CALL.format(value=1), 'cont').text.endswith('3.0\n')


def test_an_interrupt_ends_a_command(notebook: Notebook) -> None:
    def later() -> None:
        notebook.client.input('import time; time.sleep(60)')
        threading.Timer(0.5, notebook.manager.interrupt_kernel).start()
    notebook.run(TWICE.format(stop='breakpoint()'))
    cell = notebook.run(CALL.format(value=1), later, 'p y * 8', 'cont')
    assert (cell.status, len(cell.asked)) == ('ok', 3)
    assert re.search(r'\b16\b', cell.text)
    assert cell.text.endswith('3.0\n')


def test_quit_is_about_one_cell(notebook: Notebook) -> None:
    notebook.run(TWICE.format(stop='breakpoint()'))
    for line in ('quit', '\x04'):
        cell = notebook.run(CALL.format(value=1) + '\n' + CALL.format(value=2), line)
        assert (cell.status, cell.text.splitlines()[-1]) == ('ok', '5.0')


def test_what_the_prompt_says_is_not_the_calls_output(tmp_path: Path) -> None:
    path = tmp_path / 'cell.pfd'
    with started() as notebook:
        notebook.run(TWICE.format(stop='breakpoint()'))
        cell = notebook.run(f'with pyfuncdbg.record({str(path)!r}):\n    {CALL.format(value=1)}', 'p y * 0 + 77', 'cont')
    assert (cell.status, len(cell.asked)) == ('ok', 2)
    with pyfuncdbg.load(path) as trace:
        assert ''.join(said.text for call in trace.calls() for said in call.output) == 'in the call 2.0\n'


def test_prints_of_every_cell_are_captured_and_shown_once(tmp_path: Path) -> None:
    """IPython 9 puts a `write` of its own on sys.stdout for each cell, and takes it off again."""
    path = str(tmp_path / 'cells.pfd')
    with started() as notebook:
        notebook.run(TWICE.format(stop='y = np.asarray(y)') + f'recorder = pyfuncdbg.record({path!r})\nrecorder.start()')
        for value in (1, 2, 3):
            for kind in (CALL, EAGER):
                cell = notebook.run(kind.format(value=value))
                assert (cell.status, cell.text) == ('ok', f'in the call {value * 2}.0\n{value * 2 + 1}.0\n')
        assert notebook.run('recorder.stop()').status == 'ok'
        assert notebook.run(CALL.format(value=9)).text == 'in the call 18.0\n19.0\n'
    with pyfuncdbg.load(path) as trace:
        said = [said.text for call in trace.calls() for said in call.output]
    assert said == [f'in the call {value * 2}.0\n' for value in (1, 1, 2, 2, 3, 3)]


def test_nbclient_goes_past_a_breakpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join((str(HERE), str(TESTS))))
    cells = [nbformat.v4.new_code_cell(SETUP + TWICE.format(stop='breakpoint()')),
             nbformat.v4.new_code_cell(CALL.format(value=7))]
    book = nbformat.v4.new_notebook(cells=cells)
    with sockets() as where:
        NotebookClient(book, AsyncKernelManager(kernel_name='python3', **where), timeout=60).execute()
    text = ''.join(output['text'] for output in book.cells[1]['outputs'])
    assert 'this front end sends no input' in text
    assert text.endswith('15.0\n')
