"""`%%pyfunc` and `%pyfunc on`: the cell runs as it does without, and its calls are in the trace."""
from __future__ import annotations

import threading
import traceback
from pathlib import Path
from typing import Any

import pytest
from ipython_shell import Shell

import pyfuncdbg
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.record.recorder import recorders

CALL = 'y = tf.numpy_function(double, [np.arange(4.0)], tf.float64)'
FAIL = 'tf.numpy_function(fail, [1.0], tf.float64)'


def calls(shell: Shell, what: str = '') -> list[dict[str, Any]]:
    shell.run(f'_calls = %pyfunc calls {what}')
    found: list[dict[str, Any]] = shell.value('_calls.to_dict()')['calls']
    return found


def lines(error: BaseException) -> list[tuple[str, int]]:
    """Where an error went through, in the user's own code."""
    return [(entry.name, entry.lineno or 0) for entry in traceback.extract_tb(error.__traceback__)
            if 'ipython-input' in entry.filename]


# ---------------------------------------------------------------- as any cell
BODIES = [
    '1/0',
    'import asyncio\nawait asyncio.sleep(0)\nx = [\n    1,\n    1/0,\n]',
    'from __future__ import annotations\n\n\ndef g(x: NotThere):\n    raise KeyError(x)\n\n%time g(3)',
    'def g(x):\n    return x +\n',
    '"text"\nfor i in range(3):\n    if i == 2:\n        raise OSError',
    FAIL,
]


@pytest.mark.parametrize('body', BODIES)
def test_line_numbers_are_shifted_by_the_line_of_the_magic_and_nothing_else(body: str, shell: Shell) -> None:
    plain, recorded = shell.run(body), shell.run(f'%%pyfunc\n{body}')
    for before, after in ((plain.error_in_exec, recorded.error_in_exec),
                          (plain.error_before_exec, recorded.error_before_exec)):
        assert type(after) is type(before)
        if before is not None:
            assert isinstance(before, SyntaxError) or str(after) == str(before)
            assert [(name, line - 1) if name == '<module>' or 'def g' in body else (name, line)
                    for name, line in lines(after)] == lines(before)
            assert not isinstance(before, SyntaxError) or after.lineno == before.lineno + 1


def test_the_text_of_a_traceback_is_that_of_a_plain_cell(shell: Shell) -> None:
    shell.ip.run_line_magic('xmode', 'Context')
    body = 'def g(x):\n    z = x\n    return 1 / z\n\n\ng(0)'
    plain, recorded = shell.shown(f'# line\n{body}'), shell.shown(f'%%pyfunc\n{body}')
    shown, _, report = recorded.partition('pyfuncdbg  ')
    number = shell.ip.execution_count
    assert shown.strip() == plain.replace(f'In[{number - 2}]', f'In[{number - 1}]').replace('# line\n', '').strip()
    assert 'No wrapped function' in report


def test_values_history_and_names_are_those_of_a_plain_cell(shell: Shell) -> None:
    result = shell.run('%%pyfunc\nimport asyncio\nvalue = await asyncio.sleep(0, 41)\nvalue + 1')
    assert result.result == 42
    assert shell.value('_') == 42
    assert shell.value('Out')[result.execution_count] == 42
    assert shell.value('In')[-1] == '\nimport asyncio\nvalue = await asyncio.sleep(0, 41)\nvalue + 1'
    assert shell.ip.history_manager.input_hist_raw[-1].startswith('%%pyfunc\nimport')
    assert 'Out' not in shell.shown('%%pyfunc\n6 * 7;')


@pytest.mark.parametrize('cell', [f'%%pyfunc\n%%time\n{CALL}', f'%%time\n%%pyfunc\n{CALL}', f'%%pyfunc\n%time {CALL}'])
def test_other_magics_above_below_and_inside(cell: str, shell: Shell) -> None:
    text = shell.shown(cell)
    assert 'Wall time' in text
    assert '1 call of 1 Python function' in text
    assert [call['site']['function'] for call in calls(shell)] == ['double']


# ---------------------------------------------------------------- what is recorded
def test_the_report_comes_after_the_error_with_its_origin(shell: Shell) -> None:
    text = shell.shown(f'%%pyfunc\n{FAIL}')
    assert text.index('no 2.0') < text.index('ValueError in call #')
    assert 'In[2]:10 in fail' in text
    assert f'%pyfunc call {calls(shell)[0]["number"]} ' in text


def test_each_cell_is_one_run_and_has_a_trace_of_its_own(shell: Shell) -> None:
    shell.shown(f'%%pyfunc\n{CALL}\n{CALL}')
    first = calls(shell)
    shell.shown(f'%%pyfunc\n{CALL}')
    second = calls(shell)
    assert (len(first), len({call['run'] for call in first}), len(second)) == (2, 1, 1)
    assert first[0]['run'] != second[0]['run']


def test_every_cell_goes_into_one_trace_and_each_is_a_run(shell: Shell) -> None:
    assert 'every cell is recorded to' in shell.shown('%pyfunc on --record all.pfd')
    shell.shown(CALL)
    shell.shown(f'{CALL}\n{FAIL}')
    shell.shown(f'%%pyfunc\n{CALL}')
    assert 'cells are not recorded any more' in shell.shown('%pyfunc off')
    shell.shown(CALL)
    with pyfuncdbg.load('all.pfd') as trace:
        labels = {run.id: run.label for run in trace.runs()}
        assert [labels[call.run] for call in trace.calls(kind='python')] == [
            'eager In[4]', 'eager In[5]', 'eager In[5]', 'eager In[6]']
    assert len(calls(shell)) == 4


def test_within_on_the_report_of_a_cell_is_that_of_the_cell(shell: Shell) -> None:
    shell.shown('%pyfunc on')
    shell.shown(f'{CALL}\n{CALL}')
    assert '1 call of 1 Python function' in shell.shown(f'%%pyfunc\n{CALL}')
    assert len(calls(shell)) == 3


def test_commands_look_at_what_was_recorded_last(shell: Shell) -> None:
    live = debugger.live.recorder()             # what a stop in a cell that is not recorded begins: it goes on from then on
    shell.shown(f'{CALL}\n{CALL}')
    assert len(calls(shell)) == 2
    shell.shown(f'%%pyfunc\n{CALL}')
    assert len(calls(shell)) == 1
    assert len(calls(shell)) == 1
    shell.shown(CALL)
    assert len(calls(shell)) == 3
    live.stop()


def test_what_the_debugger_records_besides_leaves_a_recorded_cell_alone(shell: Shell) -> None:
    live = debugger.live.recorder()
    assert 'doubling' not in shell.shown(f'%%pyfunc --capture only\n{CALL}').partition('pyfuncdbg  ')[0]
    assert 'doubling' in shell.shown(CALL)
    assert len(calls(shell)) == 1
    live.stop()


def test_commands_stay_at_the_cell_whose_threads_went_on(shell: Shell) -> None:
    live = debugger.live.recorder()
    shell.shown(CALL)
    shell.shown('%%pyfunc\nimport threading\ngo = threading.Event()\ndef later():\n    go.wait(20)\n    ' + CALL.replace(
        '\n', '\n    ') + '\nthread = threading.Thread(target=later)\nthread.start()')
    shell.shown('go.set()\nthread.join(20)')
    assert len(calls(shell)) == 1
    shell.shown(CALL)
    assert len(calls(shell)) == 3
    live.stop()


@pytest.mark.parametrize(('capture', 'shown', 'kept'), [('tee', True, True), ('only', False, True), ('off', True, False)])
def test_what_a_function_prints(capture: str, shown: bool, kept: bool, shell: Shell) -> None:
    text = shell.shown(f'%%pyfunc --capture {capture}\n{CALL}').partition('pyfuncdbg  ')[0]
    assert ('doubling' in text) == shown
    assert ['doubling' in entry['text'] for entry in calls(shell)[0]['output']] == [True] * kept


def test_nodes_are_recorded_if_asked(shell: Shell) -> None:
    shell.shown('@tf.function\ndef step(x):\n    return tf.sqrt(x) + 1.0')
    shell.shown('%%pyfunc --ops\nstep(tf.constant(4.0))')
    assert 'Sqrt' in {call['site']['op_type'] for call in calls(shell, '--kind op')}


# ---------------------------------------------------------------- breakpoints of a cell
def test_a_breakpoint_of_a_cell_is_for_this_cell_alone(shell: Shell) -> None:
    shell.shown('%pyfunc break fail --do log')
    kept = list(debugger.breakpoints.entries)
    cell = f'%%pyfunc --ui none --break double --if x.sum() > 5 and "a b" != \'$x\' --capture off\n{CALL}'
    shown = shell.shown(cell)
    assert '1 call of 1 Python function' in shown, shown
    assert list(debugger.breakpoints.entries) == kept
    shell.run('_info = %pyfunc info')
    with pyfuncdbg.load(shell.value('_info.to_dict()')['path']) as trace:
        assert trace.count(kind='python') == 1
        assert [(note.data['reason'], note.data['phase']) for note in trace.notes('stop')] == [
            (f'breakpoint {kept[0] + 1}', 'call')]


def test_a_breakpoint_that_stopped_nothing_is_told_of_below_the_report(shell: Shell) -> None:
    shown = shell.shown(f'%%pyfunc --ui none --break duoble\n{CALL}')
    _, _, said = shown.partition("(duoble) stopped nothing: nothing of that name ran. Did you mean ")
    assert "'double'" in said, shown
    assert 'stopped nothing' not in shell.shown(f'%%pyfunc --ui none --break double\n{CALL}')


@pytest.mark.parametrize(('options', 'said'), [
    ('--brek norm', "%%pyfunc: unrecognized arguments: --brek norm. Did you mean '--break'"),
    ('--if x > 1', '%%pyfunc: --if x > 1: it needs a --break before it, and there is none'),
    ('--break norm --if len(', "%%pyfunc: bad condition: '(' was never closed"),
    ('--record taken', '%%pyfunc: --record taken: is a folder with other files in it'),
    ('--record no/such/place', "%%pyfunc: --record no/such/place: there is no folder 'no/such'"),
    ('--budget 1', '%%pyfunc: --budget 1 is too small'),
    ('--ui window', '%%pyfunc: argument --ui: invalid choice'),
    ('norm', '%%pyfunc: unrecognized arguments: norm'),
])
def test_a_cell_with_bad_options_does_not_run(options: str, said: str, shell: Shell, tmp_path: Path) -> None:
    (tmp_path / 'taken').mkdir()
    (tmp_path / 'taken' / 'file').touch()
    before = hooks.python, list(debugger.breakpoints.entries)
    text = shell.shown(f'%%pyfunc {options}\nran = True')
    assert text.startswith(f'UsageError: {said}'), text
    assert 'Traceback' not in text
    assert 'ran' not in shell.ip.user_ns
    assert (hooks.python, list(debugger.breakpoints.entries)) == before


# ---------------------------------------------------------------- threads that stay
THREAD = '''import threading, time
go, gone = threading.Event(), threading.Event()
def work():
    while not gone.is_set():
        go.wait(10)
        go.clear()
        tf.numpy_function(double, [7.0], tf.float64)
        done.set()
done = threading.Event()
worker = threading.Thread(target=work, name='worker', daemon=True)
worker.start()
'''
ONCE = 'done.clear(); go.set(); assert done.wait(10)'


def test_threads_that_go_on_are_recorded_under_their_cell(shell: Shell) -> None:
    text = shell.shown(f'%%pyfunc --record first.pfd\n{THREAD}{CALL}\n')
    assert 'worker goes on: what it calls is added to the trace of In[3]' in text
    assert 'In[3] is still recorded: worker goes on' in shell.shown('%pyfunc')
    shell.shown(f'{ONCE}\n{CALL}')                          # the call of this cell is in no trace
    shell.shown(f'%%pyfunc --record second.pfd\n{CALL}\n{ONCE}')
    shell.shown(f'gone.set(); {ONCE}\nworker.join(10)')
    shell.shown('%pyfunc')
    assert recorders() == () and not [hook for hook in hooks.python if hook is not debugger]
    with pyfuncdbg.load('first.pfd') as first, pyfuncdbg.load('second.pfd') as second:
        assert first.info().complete and second.info().complete
        assert [call.inputs[0].shape for call in first.calls(kind='python')] == [(4,), (), (), ()]
        assert [call.inputs[0].shape for call in second.calls(kind='python')] == [(4,)]
        threads = {call.thread for call in first.calls(kind='python')}
        assert len(threads) == 2 and threading.get_native_id() in threads


@pytest.mark.parametrize(('make', 'submit'), [
    ('from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(1)', 'pool.submit(call).result()'),
    ('from multiprocessing.pool import ThreadPool\npool = ThreadPool(1)', 'pool.apply(call)'),
    ('from multiprocessing import Queue\npool = Queue()\npool.put(1)', 'call()')])
def test_what_an_idle_pool_is_given_later_belongs_to_the_cell_that_gives_it(make: str, submit: str, shell: Shell) -> None:
    shell.shown(f'def call():\n    {CALL}')
    text = shell.shown(f'%%pyfunc --record first.pfd\nimport time\n{make}\n{submit}\ntime.sleep(0.3)')
    assert '1 call of 1 Python function' in text
    if 'ThreadPool(' not in make:               # that one also has threads that look after it
        assert 'on: what' not in text
    assert '1 call of 1 Python function' in shell.shown(f'%%pyfunc --record second.pfd\n{submit}')
    shell.shown('getattr(pool, "shutdown", getattr(pool, "terminate", getattr(pool, "close", None)))()')
    shell.shown('del pool')
    with pyfuncdbg.load('first.pfd') as first:
        assert first.count(kind='python') == 1


def test_with_on_the_calls_of_such_a_thread_are_in_the_run_of_their_cell(shell: Shell) -> None:
    shell.shown('%pyfunc on --record all.pfd')
    shell.shown(f'{THREAD}{ONCE}')
    shell.shown(f'{ONCE}\n{CALL}')
    shell.shown(f'gone.set(); {ONCE}\nworker.join(10)')
    shell.shown('%pyfunc off')
    with pyfuncdbg.load('all.pfd') as trace:
        labels = {run.id: run.label for run in trace.runs()}
        assert [(call.inputs[0].shape, labels[call.run]) for call in trace.calls(kind='python')] == [
            ((), 'eager In[4]'), ((), 'eager In[4]'), ((4,), 'eager In[5]'), ((), 'eager In[4]')]


# ---------------------------------------------------------------- functions that are defined again
def test_a_breakpoint_on_a_function_follows_its_new_definition(shell: Shell) -> None:
    shell.shown('%pyfunc break double --do log')
    number, = debugger.breakpoints.entries
    shell.shown(CALL)
    shell.shown('def double(x):\n    return x + x')
    shell.shown(CALL)
    assert debugger.breakpoints.entry(number).hits == 2


def test_a_condition_is_about_the_new_definition_too(shell: Shell) -> None:
    call = 'tf.numpy_function(redefined, [np.arange(4.0)], tf.float64)'
    shell.shown('def redefined(x):\n    return x * 2')
    shell.shown('%pyfunc break redefined --do log')
    shell.shown(call)                           # it is known by now, with its parameter
    bad = shell.shown('%pyfunc break redefined --do log if values.sum() > 5')
    assert "unknown name 'values'; the function has x" in bad
    shell.shown('def redefined(values):\n    return values + values')
    assert 'set at redefined' in shell.shown('%pyfunc break redefined --do log if values.sum() > 5')
    shell.shown(call)
    assert [entry.hits for entry in debugger.breakpoints.entries.values()] == [2, 1]
    bad = shell.shown('%pyfunc break redefined if other > 5')
    assert "unknown name 'other'; the function has values" in bad


def test_a_breakpoint_on_a_line_says_that_its_function_was_defined_again(shell: Shell) -> None:
    shell.shown('def half(x):\n    return x / 2')
    shell.shown('%pyfunc break In[3]:2 --do log')
    shell.shown('tf.numpy_function(half, [1.0], tf.float64)')
    number, = debugger.breakpoints.entries
    assert debugger.breakpoints.entry(number).hits == 1
    text = shell.shown('def half(x):\n    return x * 0.5')
    assert f'breakpoint {number} stays in the half of In[3]; In[6] has defined it again' in text
    assert 'stays' not in shell.shown('other = 1')
    shell.shown('%pyfunc break In[6]:2 --do log')
    shell.shown('tf.numpy_function(half, [1.0], tf.float64)')
    assert [entry.hits for entry in debugger.breakpoints.entries.values()] == [1, 1]
