"""The table of commands: it names what its modules define, and loads a module when one of its commands is asked for."""
from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from pyfuncdbg import ui
from pyfuncdbg.ui.commands.engine.command import Command, TableEntry
from pyfuncdbg.ui.commands.table import TABLE

COMMANDS = Path(ui.__file__).parent / 'commands'


def test_every_command_of_a_module_is_in_the_table_with_its_names() -> None:
    modules = [path.stem for path in COMMANDS.glob('*.py') if '\nCOMMANDS: ' in path.read_text()]
    defined = {(command.name, *command.aliases) for module in modules
               for command in import_module(f'pyfuncdbg.ui.commands.{module}').COMMANDS}
    assert len(modules) > 20 and {entry.names for entry in TABLE.entries} == defined
    assert len(set(TABLE.names)) == len(TABLE.names)


@pytest.mark.parametrize('entry', TABLE.entries, ids=lambda entry: entry.names[0])
def test_each_name_finds_its_command(entry: TableEntry) -> None:
    for name in entry.names:
        command = TABLE.find(name)
        assert type(command) is Command and name in (command.name, *command.aliases)


def test_a_command_that_is_asked_for_loads_no_other() -> None:
    loaded = subprocess.run([sys.executable, '-c', (
        'import sys; from pyfuncdbg.ui.commands.execute import execute\n'
        'from pyfuncdbg.ui.commands.table import TABLE\n'
        'TABLE.find("b"); "pt" in TABLE; TABLE.names\n'
        'print(*sorted(name for name in sys.modules if name.startswith("pyfuncdbg.")))')],
        capture_output=True, text=True, check=True).stdout.split()
    assert 'pyfuncdbg.ui.commands.break_commands' in loaded
    assert not {f'pyfuncdbg.ui.commands.{name}' for name in ('pt', 'doctor', 'report', 'timeline', 'graph')} & set(loaded)
    others = ('pyfuncdbg.observers.debug.diagnosis', 'pyfuncdbg.ui.views.pictures')
    assert not [name for name in loaded if name.startswith(others)]
