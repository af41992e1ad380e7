"""`help`: topics of the manual beside the commands, the same in the shell, at the prompt and in IPython."""
from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from ipython_shell import fresh_shell
from manual_examples import HERE
from rich.cells import cell_len
from rich.console import Console

from pyfuncdbg.errors import CommandError
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.commands.help import help_of, help_view
from pyfuncdbg.ui.commands.shell_completion import words
from pyfuncdbg.ui.commands.table import TABLE
from pyfuncdbg.ui.commands.topics import TOPICS, read_topic
from pyfuncdbg.ui.views.sample_trace import sample

CONTEXT = Context(sample())
NAMES = {name for command in TABLE for name in (command.name, *command.aliases)}


def shell(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, '-m', 'pyfuncdbg', *args], cwd=HERE, capture_output=True, text=True, timeout=60,
                          check=False)


def drawn(name: str, width: int, color: str | None = None) -> list[str]:
    console = Console(file=io.StringIO(), width=width, color_system=color, force_terminal=color is not None,  # type: ignore[arg-type]
                      _environ={})
    console.print(help_view(help_of(name, TABLE, width)))
    return console.file.getvalue().splitlines()     # type: ignore[attr-defined]


@pytest.mark.parametrize('name', TOPICS)
def test_a_page_begins_with_its_name_and_title(name: str) -> None:
    page = read_topic(name)
    first = page.text.splitlines()[0]
    assert first.lower().startswith(f'# {name}: ') and page.title and len(first) <= 80
    assert execute(f'help {name}', CONTEXT).text(100).splitlines()[0] == first.removeprefix('# ')


@pytest.mark.parametrize('name', TOPICS)
def test_links_lead_to_pages(name: str) -> None:
    text = read_topic(name).text
    for shown, target in re.findall(r'\[([^\]]*)\]\(([^)]*)\)', text):
        found = re.fullmatch(r'(\w+)\.md', target)
        assert (found and shown == f'help {found[1]}' and found[1] in TOPICS) or target.startswith('../../../'), target
        assert found or (HERE / target.removeprefix('../../../')).exists() or not (HERE / 'README.md').exists()
    mentioned = set(re.findall(r'`help ([a-z_]\w*)`', text))
    assert mentioned <= {*NAMES, *TOPICS}, mentioned


@pytest.mark.parametrize('width', [40, 80, 200])
@pytest.mark.parametrize('name', TOPICS)
def test_a_page_fits_and_loses_no_word(name: str, width: int) -> None:
    lines = drawn(name, width)
    assert max(map(cell_len, lines)) <= min(width, 100) or name in NAMES
    prose = re.sub(r'```.*?```|<!--.*?-->', '', read_topic(name).text, flags=re.DOTALL)
    kept = re.sub(r'\s', '', ''.join(lines))
    if width == 200:
        assert not [word for word in re.findall(r'\w{4,}', re.sub(r'\]\([^)]*\)', '', prose)) if word not in kept]


def test_code_is_told_from_prose_with_and_without_colour() -> None:
    plain, coloured = '\n'.join(drawn('stops', 80)), '\n'.join(drawn('stops', 80, 'standard'))
    assert '`--catch`' in plain and '\x1b' not in plain
    assert '`--catch`' not in coloured and '\x1b[36m--catch' in coloured
    assert '(`help conditions`)' in plain and '.md' not in plain
    assert '  $ pyfuncdbg run --ui prompt --break norm' in plain and '```' not in plain


def test_a_file_of_the_repository_is_shown_as_its_path() -> None:
    lines = drawn('ipython', 80)
    assert any(line.startswith('`notebooks/03-nan.ipynb`') for line in lines) and not any('../' in line for line in lines)


def test_every_row_of_differences_has_its_test() -> None:
    rows = [line for line in read_topic('differences').text.splitlines() if line.startswith('| ')][1:]
    assert len(rows) >= 25
    tests = Path(__file__).parents[2]            # the package may be installed elsewhere
    for row in rows:
        found = re.search(r' <!-- (\w+\.py)::(\w+) --> \|$', row)
        assert found and f'def {found[2]}(' in next(tests.rglob(found[1])).read_text(), row
    assert not any('<!--' in line or 'test_script' in line for line in drawn('differences', 80))


def test_the_shell_lists_topics_and_shows_a_page_without_control_characters() -> None:
    listed = shell('help')
    assert listed.returncode == 0 and [line.split()[0] for line in listed.stdout.splitlines()[1:-1]] == list(TOPICS)
    shown = shell('help', 'stops')
    assert shown.returncode == 0 and '\x1b' not in shown.stdout
    assert shown.stdout.splitlines() == [line.rstrip() for line in drawn('stops', 80)]


def test_the_shell_has_its_commands_and_those_of_the_prompt() -> None:
    assert shell('help', 'run').stdout == shell('run', '--help').stdout
    assert shell('help', 'lt').stdout.startswith('usage: lt ')
    assert json.loads(shell('help', 'stops', '--json').stdout)['topic']['name'] == 'stops'
    wrong = shell('help', 'stosp')
    assert wrong.returncode == 2 and "named 'stosp'" in wrong.stderr and "'stops'" in wrong.stderr and wrong.stdout == ''
    assert "'pyfuncdbg help' lists them" in wrong.stderr


def test_the_list_has_all_topics_and_all_commands() -> None:
    data = json.loads(execute('help --json', CONTEXT).json)
    assert [each['name'] for each in data['topics']] == list(TOPICS)
    assert {each['name'] for each in data['commands']} == {command.name for command in TABLE}
    text = execute('help', CONTEXT).text(80)
    assert all(re.search(rf'^  {name} ', text, re.MULTILINE) for name in TOPICS)


def test_a_name_that_is_nothing_gets_the_nearest_topics_and_commands() -> None:
    with pytest.raises(CommandError, match=r"'stopps'.*'stops'"):
        execute('help stopps', CONTEXT)
    with pytest.raises(CommandError, match="tfdbg's 'inject_value' is not there"):
        execute('help inject_value', CONTEXT)


def test_tab_knows_topics() -> None:
    from pyfuncdbg.ui.commands.completion import completions
    assert 'stops' in completions('help sto', CONTEXT).words
    assert {'stops', 'stop'} <= set(words('pyfuncdbg help sto', 'bash'))
    assert words('pyfuncdbg help stops ', 'bash') == []


def test_ipython_shows_a_page(tmp_path: Path) -> None:
    with fresh_shell() as user:
        assert 'Stops: halt the program' in user.shown('%pyfunc help stops')
        assert user.shown("r = %pyfunc help stops") == ''
        assert user.value("r.to_dict()['topic']['name']") == 'stops'
        assert "Did you mean 'stops'" in user.shown('%pyfunc help stopss')
