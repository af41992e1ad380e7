"""Stops in a real kernel: on native threads, in threads that outlive their cell, interrupted, beside the user's input()."""
from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from notebook_kernel import CALL, NATIVE, SETUP, TWICE, Notebook, started


@pytest.fixture(scope='module')
def kernel() -> Iterator[Notebook]:
    with started() as notebook:
        assert notebook.run('pyfuncdbg.break_at("a_function_that_is_not_there")').status == 'ok'
        yield notebook


@pytest.fixture
def notebook(kernel: Notebook) -> Notebook:
    assert kernel.run('%reset -f\n' + SETUP).status == 'ok'
    return kernel


def control_channel(notebook: Notebook) -> None:
    """Interrupt as a front end does whose kernel says `interrupt_mode: message`."""
    client = notebook.client
    client.control_channel.send(client.session.msg('interrupt_request', content={}))


def signal(notebook: Notebook) -> None:
    notebook.manager.interrupt_kernel()


@pytest.mark.parametrize('interrupt', [signal, control_channel])
@pytest.mark.parametrize('source', [CALL.format(value=1), NATIVE.format(threads=1)], ids=['main', 'native'])
def test_an_interrupt_at_a_stop_ends_the_cell_and_the_kernel_lives(source: str, interrupt, notebook: Notebook) -> None:
    notebook.run(TWICE.format(stop='breakpoint()'))
    cell = notebook.run(source, 'p y + 70', lambda: interrupt(notebook))
    assert (cell.status, cell.error) == ('error', 'KeyboardInterrupt')
    assert re.search(r'\b7[28]\b', cell.text)
    assert not re.search(r'^in the call', cell.text, re.MULTILINE)
    again = notebook.run(source, 'cont')
    assert (again.status, len(again.asked)) == ('ok', 1)
    assert again.text.endswith(('3.0\n', f'{[np.float64(9.0)]}\n'))


def test_an_interrupt_ends_a_command_on_a_native_thread_and_nothing_else(notebook: Notebook) -> None:
    def later() -> None:
        notebook.client.input('print("begun"); sum(1 for _ in iter(int, 1))')
        notebook.until(lambda: 'begun' in cell.text)
        signal(notebook)
    notebook.run(TWICE.format(stop='breakpoint()'))
    cell = notebook.begin(NATIVE.format(threads=1))
    notebook.end(cell, later, 'p y * 8', 'cont')
    assert (cell.status, len(cell.asked)) == ('ok', 3)
    assert 'interrupted' in cell.text
    assert re.search(r'\b64\b', cell.text)
    assert cell.text.endswith(f'in the call 8.0\n{[np.float64(9.0)]}\n')


def test_an_interrupt_after_a_stop_is_the_programs(notebook: Notebook) -> None:
    notebook.run(TWICE.format(stop='breakpoint()'))
    cell = notebook.begin(CALL.format(value=1) + '\nprint("slow")\nimport time\ntime.sleep(60)')
    answers = iter(('cont',))
    notebook.until(lambda: 'slow' in cell.text, answers)
    signal(notebook)
    assert (notebook.end(cell).error, cell.text) == ('KeyboardInterrupt', cell.text)
    assert notebook.run(CALL.format(value=1), 'cont').text.endswith('3.0\n')


def test_except_exception_does_not_keep_an_interrupt(notebook: Notebook) -> None:
    notebook.run('def kept(x):\n    try:\n        breakpoint()\n    except Exception:\n        pass\n    return x')
    cell = notebook.run('try:\n    tf.numpy_function(kept, [1.0], tf.float32)\nexcept KeyboardInterrupt as error:\n'
                        '    print("caught", type(error).__name__, error)\nprint("on")', lambda: signal(notebook))
    assert (cell.status, cell.text.splitlines()[-1]) == ('ok', 'on')
    assert re.search(r'caught KeyboardInterrupt at stop \d+', cell.text)


THREAD = '''\
import threading
go = threading.Event()
def later():
    {first}
    print('result', tf.numpy_function(twice, [np.array([5.])], tf.float64).numpy()[0])
thread = threading.Thread(target=later)
thread.start()
'''


def test_a_cell_lasts_until_the_stop_of_its_thread_is_decided(notebook: Notebook) -> None:
    notebook.run(TWICE.format(stop='breakpoint()'))
    cell = notebook.run(THREAD.format(first='stopping.set()').replace('go =', 'stopping = threading.Event()\ngo =')
                        + 'stopping.wait()\nimport time; time.sleep(0.3)', 'p y * 0 + 77', 'cont')
    assert (cell.status, len(cell.asked)) == ('ok', 2)
    assert re.search(r'\b77\b', cell.text)
    after = notebook.run('thread.join()')
    assert 'result 11.0\n' in cell.text + after.text


def test_a_thread_that_stops_between_two_cells_asks_in_the_next(notebook: Notebook) -> None:
    notebook.run(TWICE.format(stop='breakpoint()'))
    first = notebook.run(THREAD.format(first='import time; time.sleep(0.5)'))
    assert (first.status, first.asked) == ('ok', [])
    notebook.until(lambda: 'the next cell shows its prompt' in first.text)
    second = notebook.run('print("second")', 'p y * 0 + 77', 'cont')
    assert (second.status, len(second.asked)) == ('ok', 2)
    assert 'STOPPED in twice' in second.text
    assert re.search(r'\b77\b', second.text)
    assert not re.search(r'\b77\b', first.text)
    third = notebook.run('thread.join()\nprint("third")')
    assert third.asked == []
    assert 'result 11.0\n' in first.text + second.text + third.text


def test_a_thread_without_input_that_outlives_its_cell_goes_on(notebook: Notebook) -> None:
    notebook.run(TWICE.format(stop='breakpoint()'))
    first = notebook.run(THREAD.format(first='go.wait()'), stdin=False)
    second = notebook.run('go.set()\nthread.join()', stdin=False)
    assert (second.status, second.asked) == ('ok', [])
    assert 'this front end sends no input' in first.text + second.text
    assert 'result 11.0\n' in first.text + second.text


def test_an_interrupt_at_the_stop_of_a_thread_ends_the_cell(notebook: Notebook) -> None:
    notebook.run(TWICE.format(stop='breakpoint()'))
    cell = notebook.run(THREAD.format(first='pass') + 'thread.join()\nprint("joined")', lambda: signal(notebook))
    assert (cell.status, cell.error) == ('error', 'KeyboardInterrupt')
    assert 'joined' not in cell.text
    assert notebook.run('thread.join()\nprint(thread.is_alive())').text.endswith('False\n')


def test_input_of_the_program_and_the_prompt_take_turns(notebook: Notebook) -> None:
    notebook.run(TWICE.format(stop='breakpoint()'))
    cell = notebook.begin(THREAD.format(first='pass') + 'import time; time.sleep(0.3)\n'
                          'name = input("name? ")\nthread.join()\nprint("hello", name)')
    lines = {'name? ': ['Ada'], '(pfd) ': ['p y * 0 + 77', 'cont']}
    def answer() -> None:
        notebook.client.input(lines[cell.asked[-1]].pop(0))
    notebook.end(cell, answer, answer, answer)
    assert (cell.status, sorted(cell.asked)) == ('ok', ['(pfd) ', '(pfd) ', 'name? '])
    assert re.search(r'\b77\b', cell.text)
    assert cell.text.endswith('hello Ada\n')


def test_input_inside_of_the_stopped_call(notebook: Notebook) -> None:
    notebook.run('def asks(x):\n    breakpoint()\n    return x + float(input("how many? "))')
    cell = notebook.run('print(tf.numpy_function(asks, [np.array(1.0)], tf.float64).numpy())', 'p x', 'cont', '41')
    assert (cell.status, cell.asked) == ('ok', ['(pfd) ', '(pfd) ', 'how many? '])
    assert cell.text.endswith('42.0\n')


def test_top_level_await(notebook: Notebook) -> None:
    notebook.run(TWICE.format(stop='breakpoint()'))
    source = 'import asyncio\nawait asyncio.sleep(0)\n' + CALL.format(value=1)
    assert notebook.run(source, 'p y', 'cont').text.endswith('3.0\n')
    cell = notebook.run(source, lambda: signal(notebook))
    assert cell.status == 'error'
    assert not re.search(r'^in the call', cell.text, re.MULTILINE)
    assert notebook.run(source, 'cont').text.endswith('3.0\n')


def test_a_restart_at_a_stop(notebook: Notebook) -> None:
    with started() as own:
        own.run(TWICE.format(stop='breakpoint()'))
        cell = own.begin(CALL.format(value=1))
        own.until(lambda: cell.asked == ['(pfd) '])
        own.manager.restart_kernel(now=False)
        own.client.wait_for_ready(timeout=30)
        assert own.run(SETUP + TWICE.format(stop='breakpoint()') + CALL.format(value=3), 'cont').text.endswith('7.0\n')


def test_lines_that_are_said_aside_stand_where_they_belong(notebook: Notebook) -> None:
    notebook.run(TWICE.format(stop='pass'))
    notebook.run('from pyfuncdbg.observers.debug.debugger import debugger\n'
                 'from pyfuncdbg.ui.prompt.install import install\ninstall(debugger, "none")')
    notebook.run('pyfuncdbg.break_at("twice")')
    cell = notebook.run(f'print("first")\n{CALL.format(value=1)}\nprint("last")')
    assert cell.asked == []
    first, said, call, *_, last = cell.text.splitlines()
    assert (first, call, last) == ('first', 'in the call 2.0', 'last')
    assert re.fullmatch(r'pyfuncdbg: not stopped entering twice at \S+:1, PyFunc\[\d+\]: '
                        r'breakpoint \d+ \(no user is connected\)', said)
    notebook.run('install(debugger, "auto")\n[debugger.breakpoints.clear(number) '
                 'for number in list(debugger.breakpoints.entries)]')


def test_a_stop_in_a_forked_process_is_asked_about_in_its_cell(notebook: Notebook) -> None:
    notebook.run(TWICE.format(stop='breakpoint()'))
    cell = notebook.run('import multiprocessing\n'
                        'child = multiprocessing.get_context("fork").Process(target=lambda: ' + CALL.format(value=1) + ')\n'
                        'child.start()\nchild.join()\nprint("exit code", child.exitcode)', 'p y + 70', 'cont')
    assert cell.status == 'ok' and re.search(r'\b72\b', cell.text) and cell.text.endswith('exit code 0\n'), cell.text
    assert all('process ' in prompt for prompt in cell.asked)
