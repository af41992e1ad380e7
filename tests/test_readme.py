"""What README promises can be typed."""
from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pyfuncdbg
from pyfuncdbg.commands.table import TABLE

README = (Path(__file__).resolve().parents[1] / 'README.md').read_text()
HERE = Path(pyfuncdbg.__file__).resolve().parents[1]


def blocks(language: str = '') -> list[str]:
    found = re.findall(r'^```(\w*)\n(.*?)^```$', README, re.MULTILINE | re.DOTALL)
    return [text for kind, text in found if kind == language]


def test_the_two_commands_stand_there_alone() -> None:
    assert blocks()[:2] == ['python -m venv .venv && . .venv/bin/activate\n', 'pip install . && pyfuncdbg demo\n']
    assert "pip install '.[test]' && pytest -n logical\n" in blocks()      # .ci/run types this line


def test_the_python_example_runs(tmp_path: Path) -> None:
    code = next(code for code in blocks('python') if 'pyfuncdbg.record(' in code)
    done = subprocess.run([sys.executable, '-W', 'ignore', '-c', code], cwd=tmp_path, capture_output=True, text=True,
                          env=dict(os.environ, PYTHONPATH=str(HERE)), check=True, timeout=60)
    (comment,) = re.findall(r'# (.*) \.\.\. (.*)$', code, re.MULTILINE)
    (line,) = done.stdout.splitlines()
    assert line.startswith(comment[0] + ' ')
    assert line.endswith(' ' + comment[1])


def test_every_command_it_shows_exists() -> None:
    shown = [shlex.split(line.partition('     ')[0]) for line in README.splitlines() if line.startswith('pyfuncdbg show')]
    names = {words[3] for words in shown if len(words) > 3}
    assert {'calls', 'call', 'out', 'lt', 'help'} <= names
    assert names <= {name for command in TABLE for name in (command.name, *command.aliases)}


def test_every_row_of_the_table_of_differences_has_its_test() -> None:
    table = README.partition('## What differs from TensorFlow')[2].partition('\n## ')[0]
    rows = [row for row in table.splitlines() if row.startswith('| ')][1:]
    assert len(rows) >= 14
    tests = Path(__file__).parent               # the package may be installed elsewhere
    for row in rows:
        file, _, name = row.split('|')[-2].strip(' `').partition('::')
        assert f'def {name}(' in next(tests.rglob(file)).read_text(), row
