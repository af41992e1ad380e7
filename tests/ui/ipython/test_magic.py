"""`%pyfunc COMMAND` in a shell: what it answers, what it says of mistakes, how it completes, what unloading leaves."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter
from ipython_shell import SETUP, Shell, fresh_shell

import pyfuncdbg
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.observers.debug.breakpoints.listing import states
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.ui.commands.table import TABLE

CALL = 'y = tf.numpy_function(double, [np.arange(4.0)], tf.float64, name="twice")'


# ---------------------------------------------------------------- commands
def test_a_condition_reaches_the_command_as_typed(shell: Shell) -> None:
    shell.ip.user_ns['x'] = 'wrong'
    condition = '{x} != {"$x"} and x == \'a"\''
    shell.run(f'%pyfunc break norm if {condition}')
    assert [state.condition for state in states(debugger.breakpoints)] == [condition]


def test_every_command_of_the_table_is_a_sub_command(shell: Shell) -> None:
    shell.run('r = %pyfunc help')
    names = {row['name'] for row in shell.value('r.to_dict()')['commands']}
    assert {command.name for command in TABLE} < names
    assert names - {command.name for command in TABLE} == {'on', 'off', 'open', 'status', '%%pyfunc'}


def test_an_answer_is_an_object_with_the_values(shell: Shell) -> None:
    shell.shown(f'%%pyfunc\n{CALL}')
    shell.shown('r = %pyfunc pt twice:0[1:3]')
    assert shell.value('r.to_numpy()').tolist() == [2.0, 4.0]


def test_opening_a_damaged_trace_says_what_cannot_be_read(shell: Shell) -> None:
    shell.shown(f'%%pyfunc\n{CALL}')
    path = Path(shell.value('get_ipython().run_line_magic("pyfunc", "status").to_dict()["path"]'))
    assert 'damaged' not in shell.shown(f'%pyfunc open {path}')
    cut = shutil.copytree(path, Path('cut.pfd'))
    (log,) = cut.glob('*.log')
    os.truncate(log, log.stat().st_size - 3)
    assert f'damaged: {log.name}: ends in the middle of a record at byte' in shell.shown(f'%pyfunc open {cut}')
    assert 'damaged' in shell.shown('%pyfunc')


@pytest.mark.parametrize('cell', ['r = %pyfunc calls', '%pyfunc calls;', 'r = %pyfunc calls ; '])
def test_an_assignment_or_a_semicolon_shows_nothing(cell: str, shell: Shell) -> None:
    shell.shown(f'%%pyfunc\n{CALL}')
    assert 'twice' in shell.shown('%pyfunc calls')
    assert shell.shown(cell) == ''
    if cell.startswith('r'):
        assert shell.value('len(r)') == 1


@pytest.mark.parametrize(('line', 'said'), [
    ('clls', "%pyfunc: unknown command 'clls'. Did you mean 'calls'"),
    ('calls --bda', "%pyfunc: calls: unrecognized arguments: --bda. Did you mean '--bad'"),
    ('calls', '%pyfunc: nothing is recorded yet: '),
    ('open nowhere.pfd', '%pyfunc: nowhere.pfd: no such file or folder'),
    ('off', "%pyfunc: cells are not recorded: '%pyfunc on' begins"),
    ('on --budget many', "%pyfunc: --budget: 'many' is not a size"),
    ('step', "%pyfunc: 'step' needs a stopped thread, and no thread is stopped"),
    ('break In[99]:2', "%pyfunc: 'In[99]:2': In[99] has not run in this session"),
])
def test_a_mistake_is_one_line(line: str, said: str, shell: Shell) -> None:
    text = shell.shown(f'%pyfunc {line}')
    assert text.startswith(f'UsageError: {said}')
    assert text.count('\n') == 1


def test_a_command_in_a_message_is_worded_as_it_is_typed_here(shell: Shell) -> None:
    assert "'%pyfunc help' lists the commands" in shell.shown('%pyfunc clls')
    assert "'%pyfunc help break' shows all" in shell.shown('%pyfunc break double nicely')
    shell.shown(f'%%pyfunc\n{CALL}')
    assert "; '%pyfunc lt' lists them. Did you mean 'twice:0'?" in shell.shown('%pyfunc pt twcie:0')
    assert "'%pyfunc calls' lists them, '%pyfunc ls' the lines" in shell.shown('%pyfunc graph')
    assert "'%pyfunc graph' and '%pyfunc calls' list" in shell.shown('%pyfunc ni zzzzzz')


def test_alone_it_tells_how_things_stand(shell: Shell) -> None:
    assert 'nothing is recorded yet' in shell.shown('%pyfunc')
    shell.shown(f'%%pyfunc\n{CALL}')
    shell.shown('%pyfunc break double')
    text = shell.shown('%pyfunc')
    assert 'commands read In[4] (' in text
    assert '1 call of a wrapped function ' in ' '.join(text.split())       # however long the folder's name is
    assert '1 breakpoint is set' in text
    assert '%%pyfunc --break norm --if has_nan(out)' in text


def test_another_trace_is_looked_at_until_this_session_records(shell: Shell, tmp_path: Path) -> None:
    shell.shown(f'%%pyfunc --record one.pfd\n{CALL}')
    shell.shown(f'%%pyfunc\n{CALL}\n{CALL}')
    shell.run('r = %pyfunc calls')
    assert shell.value('len(r)') == 2
    shell.run('%pyfunc open one.pfd')
    shell.run('r = %pyfunc calls')
    assert shell.value('len(r)') == 1
    assert 'set at double' in shell.shown('%pyfunc break double')       # in the program that runs here all the same
    shell.run('%pyfunc clear all')
    shell.shown(f'%%pyfunc\n{CALL}\n{CALL}\n{CALL}')
    shell.run('r = %pyfunc calls')
    assert shell.value('len(r)') == 3


def test_a_trace_that_another_process_writes_is_looked_at_as_it_grows(shell: Shell, tmp_path: Path) -> None:
    program = tmp_path / 'program.py'
    program.write_text('import pyfuncdbg, sys\nfrom pyfuncdbg import tf\nwith pyfuncdbg.record("two.pfd") as recorder:\n'
                       '    for line in sys.stdin:\n        tf.numpy_function(lambda x: x, [1.0], tf.float32)\n'
                       '        recorder.flush()\n        print("done", flush=True)\n')
    root = str(Path(pyfuncdbg.__file__).parents[1])
    with subprocess.Popen([sys.executable, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env={'PYTHONPATH': root}) as child:
        assert child.stdin is not None and child.stdout is not None
        for count in (1, 2, 3):
            child.stdin.write('\n')
            child.stdin.flush()
            assert child.stdout.readline() == 'done\n'
            if count == 1:
                shell.run('%pyfunc open two.pfd')
            shell.run('r = %pyfunc calls')
            assert shell.value('len(r)') == count
        child.stdin.close()


def test_a_trace_that_is_gone_is_said_once(shell: Shell, tmp_path: Path) -> None:
    shell.shown(f'%%pyfunc --record gone.pfd\n{CALL}')
    shutil.rmtree(tmp_path / 'gone.pfd')
    assert shell.shown('%pyfunc calls').endswith('gone.pfd: cannot be read: No such file or directory\n')
    assert 'nothing is recorded yet' in shell.shown('%pyfunc')


# ---------------------------------------------------------------- completion
@pytest.mark.parametrize('jedi', [True, False])
@pytest.mark.parametrize(('typed', 'expected'), [
    ('%pyfunc cal', {'call', 'calls'}),
    ('r = %pyfunc heal', {'health'}),
    ('%pyfunc of', {'off'}),
    ('%pyfunc calls --fa', {'--failed'}),
    ('%pyfunc ni tw', {'twice'}),
    ('%pyfunc call tw', {'{label}'}),
    ('%pyfunc pt twice:', {'twice:0'}),
    ('%pyfunc call #', {'#{number}'}),
    ('%pyfunc enable ', {'{first}', '{second}'}),
    ('x = 1\n%pyfunc help tim', {'timeline'}),
    ('%%pyfunc --bre', {'--break'}),
    ('%%pyfunc --break twi', {'twice'}),
    ('%%pyfunc --ops --capture o', {'off', 'only'}),
    ('%pyfunc on --rec', {'--record'}),
    ('%pyfunc open ke', {'kept.pfd'}),
])
def test_completion(typed: str, expected: set[str], jedi: bool, shell: Shell) -> None:
    shell.shown(f'%%pyfunc --record kept.pfd\n{CALL}')
    shell.shown('%pyfunc break double\n')
    shell.shown('%pyfunc break double --once\n')
    shell.run('r = %pyfunc calls')
    call = shell.value('r.to_dict()')['calls'][0]
    first, second = debugger.breakpoints.entries
    expected = {name.format(number=call['number'], label=call['label'], first=first, second=second) for name in expected}
    shell.ip.Completer.use_jedi = jedi
    with provisionalcompleter():
        found = {one.text for one in shell.ip.Completer.completions(typed, len(typed))}
    assert expected <= found
    assert all(name.startswith(typed.split()[-1]) for name in found) or typed.endswith(' ')


# ---------------------------------------------------------------- loading
def everything(ip: Any) -> dict[str, Any]:
    """What an extension could leave behind in a shell."""
    magics = ip.magics_manager.magics
    return {'names': (set(magics['line']), set(magics['cell'])), 'own': [magics[kind].get('pyfunc') for kind in magics],
            'cleanup': list(ip.input_transformers_cleanup), 'post': list(ip.input_transformers_post),
            'matchers': list(ip.Completer.custom_matchers), 'ast': list(ip.ast_transformers),
            'events': {name: list(calls) for name, calls in ip.events.callbacks.items()},
            'calls': (hooks.python, hooks.op, hooks.run, hooks.gradient),
            'exceptions': ip.custom_exceptions, 'debugger': vars(ip).get('debugger'),
            'hooks': str(ip.hooks)}


def test_unloading_leaves_nothing_and_loading_again_works() -> None:
    with fresh_shell(loaded=False) as shell:
        shell.shown('import pyfuncdbg')
        before = everything(shell.ip)
        for said in ('set at nothing', 'is there already at nothing'):          # breakpoints are kept
            shell.shown('%load_ext pyfuncdbg')
            assert everything(shell.ip)['cleanup'] != before['cleanup']
            assert said in shell.shown('%pyfunc break nothing')
            assert everything(shell.ip)['calls'] != before['calls']
            shell.shown('%unload_ext pyfuncdbg')
            assert everything(shell.ip) == before
        shell.shown('%load_ext pyfuncdbg')
        loaded = everything(shell.ip)
        shell.shown(SETUP)
        assert 'double  In[' in shell.shown(f'%%pyfunc\n{CALL}')
        shell.shown('%reload_ext pyfuncdbg')
        assert {name: len(value) for name, value in everything(shell.ip).items() if isinstance(value, list)} == {
            name: len(value) for name, value in loaded.items() if isinstance(value, list)}
        assert '1 breakpoint' in shell.shown('%pyfunc breaks')


def test_unloading_ends_the_recording_of_every_cell(shell: Shell) -> None:
    shell.shown('%pyfunc on --record all.pfd')
    shell.shown(CALL)
    shell.shown('%unload_ext pyfuncdbg')
    shell.shown(CALL)
    with pyfuncdbg.load('all.pfd') as trace:
        assert trace.info().complete
        assert trace.count(kind='python') == 1


def test_what_was_recorded_for_stops_is_not_looked_at_after_loading_again(shell: Shell) -> None:
    shell.shown('%pyfunc break nothing')
    shell.shown(f'{CALL}\n{CALL}')
    assert '2 calls of wrapped functions' in ' '.join(shell.shown('%pyfunc').split())
    shell.shown('%unload_ext pyfuncdbg')
    shell.shown(CALL)
    shell.shown('%load_ext pyfuncdbg')
    assert ': 0 calls of wrapped functions' in ' '.join(shell.shown('%pyfunc').split())       # the breakpoint is there still
    shell.shown(CALL)
    assert ': 1 call of a wrapped function' in ' '.join(shell.shown('%pyfunc').split())
    shell.shown('%pyfunc clear all')
    shell.shown('%unload_ext pyfuncdbg')
    shell.shown('%load_ext pyfuncdbg')
    assert 'nothing is recorded yet' in shell.shown('%pyfunc')


def test_before_it_is_loaded_it_says_how() -> None:
    with fresh_shell(loaded=False) as shell:
        assert 'not found' in shell.shown('%pyfunc calls')
        from pyfuncdbg.ui.ipython import stub
        stub.install()                          # as `import pyfuncdbg` does, which this process did before
        for cell in ('%pyfunc calls', '%%pyfunc --break norm\nx = 1'):
            assert shell.shown(cell) == 'UsageError: %pyfunc is not loaded yet. First: %load_ext pyfuncdbg\n'
        assert 'x' not in shell.ip.user_ns


def test_importing_in_a_shell_brings_the_stub_and_loads_no_rich() -> None:
    program = ('from IPython.core.interactiveshell import InteractiveShell\nshell = InteractiveShell.instance()\n'
               'import sys\nbefore = set(sys.modules)\nimport pyfuncdbg\nnew = set(sys.modules) - before\n'
               'print("rich" in new, "pyfuncdbg.ui.ipython.magics" in new)\nshell.run_cell("%pyfunc")')
    root = str(Path(pyfuncdbg.__file__).parents[1])
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, check=True,
                          env={'PYTHONPATH': root})
    assert done.stdout == 'False False\n'
    assert 'First: %load_ext pyfuncdbg' in done.stderr
