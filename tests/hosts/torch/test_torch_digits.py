"""Three faults in the training of a CNN, each found at a real terminal in at most five typed commands."""
from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from torch_programs import PROGRAMS, Record
from ui.prompt.pseudo_terminal import Terminal

pytestmark = [pytest.mark.torch, pytest.mark.timeout(300)]

SOURCE = (PROGRAMS / 'digits_cnn.py').read_text()


def line_of(text: str) -> int:
    """The number of the line in the program that holds this text."""
    number, = [number for number, line in enumerate(SOURCE.splitlines(), 1) if text in line]
    return number


class Person:
    """Types commands, and counts them: those of the shell, and those at the prompts of what it started."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.commands = 0
        shutil.copy(PROGRAMS / 'digits_cnn.py', folder)

    def shell(self, command: str) -> Terminal:
        """A command of the shell: `pyfuncdbg ...`."""
        self.commands += 1
        return Terminal(self._folder, '-m', *command.split(), timeout=150)

    def type(self, user: Terminal, line: str, *wanted: str) -> str:
        """A command at a prompt; what it answered."""
        self.commands += 1
        return user.type(line, *wanted)


def test_without_a_fault_there_is_nothing_to_find(record: Record) -> None:
    recorded = record('digits_cnn.py', '--ops')
    assert recorded.out.count('loss') == 5 and 'nan' not in recorded.out
    assert recorded.trace.count(bad=True) == recorded.trace.count(failed=True) == 0


@pytest.mark.usefixtures('op_modes')
def test_a_nan_is_found_where_it_is_born(tmp_path: Path) -> None:
    person = Person(tmp_path)
    with person.shell('pyfuncdbg run --ops digits_cnn.py nan') as user:
        assert user.end() == 0
        told = ' '.join(user.text.split())
        # The third batch of 32 has the 78th picture, which is row 13 of it.
        found = re.search(r'NaN born in call #(\d+) contrast/div\[2\], aten.div created at digits_cnn.py:(\d+)', told)
        assert found is not None and int(found[2]) == line_of('return centred / centred.std') and 'row 13 of 32' in told
    with person.shell(f'pyfuncdbg show digits_cnn.pfd pt #{found[1]}:in1[13]') as user:
        assert user.end() == 0
        assert 'contrast/std:0' in user.text and 'min 0  max 0' in user.text
    assert person.commands <= 5


def test_a_wrong_gradient_is_found_in_its_function(tmp_path: Path) -> None:
    person = Person(tmp_path)
    line = line_of('optimizer.step()')
    with person.shell(f'pyfuncdbg run -q --break digits_cnn.py:{line} digits_cnn.py gradient') as user:
        assert 'STOPPED in train' in user.prompt()
        told = person.type(user, 'check')
        assert re.search(r'gradients: 1 BAD.* Squash .* input 0 +BAD ', told, re.DOTALL), told
        told = person.type(user, 'check --module')
        assert re.search(r'Net\s+conv.weight\s+BAD', told) and re.search(r'conv Conv2d\s+weight\s+OK', told), told
        person.commands += 1
        user.last('quit', 'step 4')
        assert user.end() == 0
    assert person.commands <= 5


def test_an_exception_of_a_worker_is_stopped_at_in_the_worker(tmp_path: Path) -> None:
    person = Person(tmp_path)
    with person.shell('pyfuncdbg run -q --catch digits_cnn.py worker') as user:
        told = user.prompt()
        assert f'in __getitem__ at digits_cnn.py:{line_of("self.names[int(row[-1])]")}' in told and 'raised KeyError' in told
        assert 'DataLoader worker' in told
        assert '7.0' in person.type(user, 'p row[-1]')
        told = person.type(user, 'p self.names')
        assert "6: '6', 8: '8'" in told and "7: '7'" not in told
        person.commands += 1
        user.last('quit', 'KeyError: Caught KeyError in DataLoader worker process')
        assert user.end() == 1
    assert person.commands <= 5


def test_an_exception_of_a_worker_is_in_the_report(tmp_path: Path) -> None:
    person = Person(tmp_path)
    with person.shell('pyfuncdbg run digits_cnn.py worker') as user:
        assert user.end() == 1
        told = ' '.join(user.text.split())
        assert 'The program ended with KeyError: 7, in DataLoader worker process 0' in told
        assert re.search(r'KeyError in call #\d\.\d+ Digits.__getitem__\[\d+\]', told)
    assert person.commands == 1
