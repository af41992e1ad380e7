"""`%%pyfunc` and `%pyfunc on` take the options of `run` that say what is recorded, from the same table."""
from __future__ import annotations

from pathlib import Path

import pytest
from ipython_shell import Shell

from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.observers.record.recorder import recorders
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.command_line import SUBCOMMANDS, actions_of
from pyfuncdbg.ui.commands.engine.command import parser_of
from pyfuncdbg.ui.commands.programs.flight_options import add_flight_options
from pyfuncdbg.ui.commands.programs.recording_options import add_recording_options
from pyfuncdbg.ui.ipython.options import CELL

LOOP = '''for n in range(20):
    y = tf.numpy_function(double, [np.full(4, np.nan if n in NAN else n)], tf.float64, name='double')
'''


def numbers(trace: Trace) -> list[int]:
    """Which calls of the loop; cells before have made whole loops."""
    return [call.ordinal % 20 for call in trace.calls(site='double')]


def recorded(shell: Shell) -> Trace:
    """The trace that commands read."""
    shell.run('_status = %pyfunc status')
    return Trace.open(shell.value('_status.to_dict()')['path'])


def test_every_option_of_run_about_what_is_recorded_is_one_of_a_cell() -> None:
    import argparse
    table = argparse.ArgumentParser(add_help=False)
    add_recording_options(table)
    add_flight_options(table)
    names = actions_of(table)
    assert names.keys() >= {'--record', '--ops', '--budget', '--segment', '--keep-newest', '--level', '--every', '--keep-on',
                            '--before', '--after', '--keep-most'}
    assert names.keys() <= actions_of(SUBCOMMANDS['run'].parser()).keys()
    assert names.keys() <= actions_of(parser_of(CELL)).keys()


def test_each_nth_call_of_a_site(shell: Shell) -> None:
    shell.shown(f'%%pyfunc --every 5\nNAN = ()\n{LOOP}')
    with recorded(shell) as trace:
        assert numbers(trace) == [0, 5, 10, 15] and trace.info().dropped == {'unsampled calls': 16}


@pytest.mark.parametrize(('levels', 'level'), [('none', 'none'), ('double=full,*=none', 'full')])
def test_levels(shell: Shell, levels: str, level: str) -> None:
    shell.shown(f"%%pyfunc --level '{levels}'\nNAN = ()\n{LOOP}")
    with recorded(shell) as trace:
        assert {call.inputs[0].level for call in trace.calls(site='double')} == {level}


def test_every_cell_records_so_too(shell: Shell) -> None:
    shell.shown('%pyfunc on --every 10 --level none --segment 64k')
    shell.shown(f'NAN = ()\n{LOOP}')
    shell.shown('%pyfunc off')
    with recorded(shell) as trace:
        assert numbers(trace) == [0, 10] and trace.calls()[0].inputs[0].level == 'none'


@pytest.mark.parametrize('condition', ['has_nan(out)', "'has_nan(out)'", 'has_nan(out) or slow > 99'])
def test_a_flight_recorder_of_one_cell(shell: Shell, tmp_path: Path, condition: str) -> None:
    """The report is that of the last trace, and commands read it; nothing records afterwards."""
    before = hooks.python
    text = shell.shown(f'%%pyfunc --keep-on {condition} --before 2 --after 1 --record kept.pfd\nNAN = (5, 15)\n{LOOP}')
    assert '1 run, 4 calls of 1 Python function' in text and 'kept-2.pfd' in text, text
    assert sorted(path.name for path in tmp_path.glob('*.pfd')) == ['kept-2.pfd', 'kept.pfd']
    with Trace.open(tmp_path / 'kept.pfd') as first, recorded(shell) as second:
        assert numbers(first) == [3, 4, 5, 6] and numbers(second) == [13, 14, 15, 16]
        assert second.path.name == 'kept-2.pfd'
    assert hooks.python == before and recorders() == ()


def test_a_flight_recorder_without_a_trip(shell: Shell, capfd: pytest.CaptureFixture[str]) -> None:
    text = shell.shown(f'%%pyfunc --keep-on has_nan(out)\nNAN = ()\n{LOOP}')
    assert 'no report' not in text and 'Traceback' not in text
    assert 'has_nan(out): no trace; 20 calls not written' in text + capfd.readouterr().err
    assert 'nothing is recorded yet' in shell.shown('%pyfunc calls')


def test_a_cell_after_a_flight_recorder_is_recorded_as_ever(shell: Shell) -> None:
    shell.shown(f'%%pyfunc --keep-on has_nan(out) --before 2 --after 1\nNAN = (5,)\n{LOOP}')
    shell.shown(f'%%pyfunc\nNAN = ()\n{LOOP}')
    with recorded(shell) as trace:
        assert numbers(trace) == list(range(20))


@pytest.mark.parametrize(('options', 'message'), [
    ('--every 0', "%%pyfunc: --every '0' is not an integer from 1 on"),
    ('--level most', "%%pyfunc: no such level: 'most'"),
    ('--segment 1', '%%pyfunc: segments of 1 bytes: expected 65536'),
    ('--keep-on error --before 99999999', '%%pyfunc: 99,999,999 calls before a trip take'),
    ('--segment much', "%%pyfunc: --segment: 'much' is not a size"),
    ('--before 3', '%%pyfunc: --before 3: it needs --keep-on PRED'),
    ('--keep-on error --before x', "%%pyfunc: --before 'x' is not an integer from 0 on"),
    ('--keep-on error --every 3', '%%pyfunc: --every cannot be combined with --keep-on'),
    ('--keep-on len(', "%%pyfunc: bad condition: '(' was never closed"),
])
def test_a_cell_with_a_bad_option_does_not_run(shell: Shell, tmp_path: Path, options: str, message: str) -> None:
    before = hooks.python
    text = shell.shown(f'%%pyfunc {options}\nran = True')
    assert text.startswith(f'UsageError: {message}'), text
    assert 'ran' not in shell.ip.user_ns and hooks.python == before and list(tmp_path.glob('*.pfd')) == []
