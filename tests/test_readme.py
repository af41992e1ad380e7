"""What README promises can be typed."""
from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import screenshots

import pyfuncdbg
from pyfuncdbg.ui.commands.table import TABLE
from pyfuncdbg.ui.commands.topics import TOPICS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / 'README.md').read_text()
HERE = Path(pyfuncdbg.__file__).resolve().parents[1]


def blocks(language: str = '') -> list[str]:
    found = re.findall(r'^```(\w*)\n(.*?)^```$', README, re.MULTILINE | re.DOTALL)
    return [text for kind, text in found if kind == language]


def test_the_commands_of_the_first_steps_stand_there_alone() -> None:
    clone, rest = blocks()[0].split('\n', 1)
    assert clone.startswith('git clone ') and clone.endswith(' pyfuncdbg && cd pyfuncdbg')
    assert [rest, blocks()[1]] == ['python -m venv .venv && . .venv/bin/activate\n', 'pip install . && pyfuncdbg demo\n']
    assert "pip install '.[test]' && pytest -n logical -m 'not stops'\n" in blocks()      # .ci/run types this line


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
    assert names <= set(TABLE.names)


def test_vs_code_is_started_as_the_manual_says() -> None:
    manual = (HERE / 'pyfuncdbg' / 'ui' / 'manual' / 'remote.md').read_text()
    (described,) = re.findall(r'^```json\n// .vscode/launch.json\n(.*?)^```$', manual, re.MULTILINE | re.DOTALL)
    (ours,) = map(json.loads, blocks('json'))
    whole = json.loads(described)
    assert ours == {**whole, 'configurations': whole['configurations'][:1]}


def test_it_is_read_in_ten_minutes() -> None:
    """A framework gets five lines here, and its page in the manual."""
    assert len(README.splitlines()) <= 230


def test_its_links_lead_somewhere() -> None:
    targets = re.findall(r'\]\(([^)#]+)\)', README)
    assert len(targets) > 20 and [target for target in targets if not (ROOT / target).exists()] == []


def test_it_links_to_every_page_of_the_manual() -> None:
    linked = re.findall(r'^\| \[(\w+)\]\(pyfuncdbg/ui/manual/(\w+)\.md\) \|', README, re.MULTILINE)
    assert linked == [(name, name) for name in TOPICS]


def test_the_picture_of_a_stop_is_what_a_stop_shows(tmp_path: Path) -> None:
    kept = (screenshots.PICTURES / 'stop.svg').read_text(encoding='utf-8')
    assert '(.pictures/stop.svg)' in README
    assert words_in(screenshots.stop_picture(tmp_path)) == words_in(kept)


def words_in(picture: str) -> list[str]:
    """The lines in a picture of a terminal, without the number of the thread."""
    texts = [''.join(node.itertext()) for node in ElementTree.fromstring(picture).iter() if node.tag.endswith('}text')]
    return re.sub(r'thread\s\d+', 'thread', '\n'.join(texts)).split('\n')
