"""Sessions in a real kernel: `%%pyfunc --break` answered line by line, and two kernels that want one trace path."""
from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from notebook_kernel import CALL, NATIVE, TWICE, Notebook, started

import pyfuncdbg

NORM = '''\
def norm(x):
    total = x.sum()
    return x / total
'''
RUN = 'print(tf.numpy_function(norm, [np.array([1., 3.])], tf.float64, name="norm").numpy())'


@pytest.fixture(scope='module')
def notebook() -> Iterator[Notebook]:
    with started() as one:
        assert one.run('%load_ext pyfuncdbg').status == 'ok'
        assert one.run(NORM + TWICE.format(stop='pass')).status == 'ok'
        yield one


def test_a_recorded_cell_with_a_breakpoint_is_stepped_through(notebook: Notebook) -> None:
    cell = notebook.run(f'%%pyfunc --break norm\n{RUN}', 's', 'n', 'p total * 10', 'total = total * 2', 'pt norm:in0', 'c')
    assert (cell.status, cell.asked) == ('ok', ['(pfd) '] * 6)
    assert re.search(r'STOPPED before call 1 of node .norm', cell.text)
    assert re.search(r'>\s*3\s+return x / total', cell.text)
    assert re.search(r'\b40\b', cell.text)
    assert 'input 0 of call #1 norm[0]' in cell.text
    assert '[0.125 0.375]' in cell.text
    again = notebook.run(RUN)
    assert (again.asked, again.text) == ([], '[0.25 0.75]\n')       # the breakpoint was that cell's


def test_a_condition_stops_only_where_it_holds(notebook: Notebook) -> None:
    source = '%%pyfunc --break norm --if has_nan(out)\n' + '\n'.join(
        RUN.replace('1., 3.', values) for values in ('1., 3.', '0., 0.', '2., 2.'))
    cell = notebook.run(source, 'c')
    assert (cell.status, len(cell.asked)) == ('ok', 1)
    assert re.search(r'STOPPED after call \d+ of node .norm', cell.text)


def test_a_native_thread_is_stepped_through(notebook: Notebook) -> None:
    cell = notebook.run('%%pyfunc --break twice\n' + NATIVE.format(threads=1), 's', 'n', 'n', 'p y + 33', 'c')
    assert (cell.status, len(cell.asked)) == ('ok', 5)
    assert re.search(r'\b41\b', cell.text)
    assert str([np.float64(9.0)]) in cell.text


def test_a_native_thread_that_stops_first_of_all_is_interrupted() -> None:
    with started() as fresh:
        fresh.run('%load_ext pyfuncdbg\n' + TWICE.format(stop='breakpoint()'))
        cell = fresh.run(NATIVE.format(threads=1), fresh.manager.interrupt_kernel)
        assert (cell.status, cell.error) == ('error', 'KeyboardInterrupt')
        assert fresh.run(NATIVE.format(threads=1), 'c').text.endswith(f'{[np.float64(9.0)]}\n')


def test_the_report_of_a_cell_comes_when_the_stop_of_its_thread_is_decided(notebook: Notebook) -> None:
    cell = notebook.run('%%pyfunc --break norm\nimport threading, time\n'
                        f'threading.Thread(target=lambda: {RUN}).start()\ntime.sleep(0.3)', 's', 'n', 'p total * 10', 'c')
    assert (cell.status, len(cell.asked)) == ('ok', 4)
    assert re.search(r'\b40\b', cell.text)
    assert '1 call of 1 Python function' in cell.shown[-1]['text/plain']


def test_quit_lets_the_cell_run_and_is_about_it_alone(notebook: Notebook) -> None:
    source = f'%%pyfunc --break norm\n{RUN}\n{RUN}'
    for _ in range(2):
        cell = notebook.run(source, 'quit')
        assert (cell.status, len(cell.asked)) == ('ok', 1)
        assert cell.text.count('[0.25 0.75]') == 2


def test_an_interrupt_at_the_stop_of_a_recorded_cell_loses_nothing(notebook: Notebook) -> None:
    cell = notebook.run(f'%%pyfunc --break norm\n{CALL.format(value=1)}\n{RUN}', notebook.manager.interrupt_kernel)
    assert (cell.status, cell.error) == ('error', 'KeyboardInterrupt')
    calls = notebook.run('calls = %pyfunc calls\nprint(calls)')
    assert re.search(r'PyFunc\[0\].*twice', calls.text)


def test_two_kernels_on_one_trace_path(notebook: Notebook, tmp_path: Path) -> None:
    path = tmp_path / 'same.pfd'
    with started() as other:
        assert other.run(NORM).status == 'ok'
        assert notebook.run(f'recorder = pyfuncdbg.record({str(path)!r}).start()\n{RUN}').status == 'ok'
        refused = other.run(f'recorder = pyfuncdbg.record({str(path)!r}).start()')
        assert (refused.status, refused.error) == ('error', 'TraceError')
        assert re.search(r'same\.pfd: process \d+ records there; give another path', refused.said)
        assert other.run(RUN).text == '[0.25 0.75]\n'
        assert notebook.run(f'{RUN}\nrecorder.stop()').status == 'ok'
        again = other.run(f'pyfuncdbg.record({str(path)!r}).start()')
        assert (again.status, again.error) == ('error', 'TraceError')
    with pyfuncdbg.load(path) as trace:
        assert [call.site.name for call in trace.calls(kind='python')] == ['norm', 'norm']


def test_a_recorded_cell_on_a_path_that_another_kernel_records_to(notebook: Notebook, tmp_path: Path) -> None:
    path = tmp_path / 'cell.pfd'
    with started() as other:
        assert other.run(f'{NORM}\nrecorder = pyfuncdbg.record({str(path)!r}).start()\n{RUN}').status == 'ok'
        cell = notebook.run(f'%%pyfunc --record {path}\n{RUN}')
        assert re.search(r'--record \S*cell\.pfd: process \d+ records there; give another path', cell.text)
        assert other.run(f'{RUN}\nrecorder.stop()').status == 'ok'
    with pyfuncdbg.load(path) as trace:
        assert len(list(trace.calls(kind='python'))) == 2


def test_an_interrupt_at_the_card_of_a_run(notebook: Notebook) -> None:
    notebook.run('graph = tf.Graph()\nwith graph.as_default():\n'
                 '    fed = tf.compat.v1.placeholder(tf.float64, [2], name="fed")\n'
                 '    shared = tf.numpy_function(norm, [fed], tf.float64, name="shared")\n'
                 'session = pyfuncdbg.DebugSession(tf.compat.v1.Session(graph=graph))')
    source = 'print(session.run(shared, {fed: [1., 3.]}))'
    cell = notebook.run(source, notebook.manager.interrupt_kernel)
    assert (cell.status, cell.error) == ('error', 'KeyboardInterrupt')
    again = notebook.run(source, 'run', 'pt shared:0', 'cont')
    assert (again.status, len(again.asked)) == ('ok', 3)
    assert again.text.endswith('[0.25 0.75]\n')
    notebook.run('session.debugging = False')


def recorded_calls(path: Path) -> int:
    with pyfuncdbg.load(path) as trace:
        return trace.count(kind='python')


def test_a_restart_at_a_stop_leaves_a_whole_trace(tmp_path: Path) -> None:
    path = tmp_path / 'restarted.pfd'
    with started() as own:
        own.run(f'%load_ext pyfuncdbg\n{NORM}')
        cell = own.begin(f'%%pyfunc --record {path} --break norm --if "x.sum() == 9"\n{RUN}\n'
                         + RUN.replace('3.', '8.'))
        own.until(lambda: cell.asked == ['(pfd) '])
        own.until(lambda: recorded_calls(path) == 1)        # its writer is a thread: the kernel is killed, not ended
        own.manager.restart_kernel(now=True)
        own.client.wait_for_ready(timeout=30)
        assert own.run('print(1)').text == '1\n'
    with pyfuncdbg.load(path) as trace:
        (call,) = trace.calls(kind='python')
        assert (call.label, call.outputs[0].stats.max) == ('norm[0]', 0.75)
