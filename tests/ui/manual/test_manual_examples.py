"""The manual tells what happens: each example of each page is carried out, and what the page shows comes."""
from __future__ import annotations

import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from manual_examples import MANUAL, Reader, blocks, mismatch

from pyfuncdbg.hosts import FRAMEWORKS
from pyfuncdbg.ui.commands.topics import TOPICS, read_topic

MARKS = {'tensorflow': pytest.mark.tensorflow, 'torch': pytest.mark.torch, 'jax': pytest.mark.jax}
"""Written out: `.ci/run` looks for files with a framework's mark."""
EXTRAS = ('distributed',)
"""Packages of the extra `test` that a page's programs import, and that the rest of the tests can do without."""


def marks(name: str) -> list[pytest.MarkDecorator]:
    """The frameworks that a page's programs import, and what they lack here."""
    texts = [block.text for block in blocks(read_topic(name).text)]
    missing = [pytest.mark.skip(reason=f"needs {extra}: pip install '.[test]'") for extra in EXTRAS
               if getattr(find_spec(extra), 'origin', None) is None      # a folder of tests has no file of its own
               and any(f'from {extra} import ' in text for text in texts)]
    return missing + [MARKS[framework] for framework in FRAMEWORKS
                      if any(f'import {framework}\n' in text or f'import {framework} ' in text for text in texts)]


@pytest.mark.timeout(400)                       # a page is a dozen programs
@pytest.mark.parametrize('name', [pytest.param(name, marks=marks(name)) for name in TOPICS])
def test_the_examples_of_a_page(name: str) -> None:
    # A short name: lines break where they do on the page. What a program writes that runs on may come when the folder goes.
    with tempfile.TemporaryDirectory(prefix='m', ignore_cleanup_errors=True) as folder:
        reader = Reader(Path(folder))
        for block in blocks(read_topic(name).text):
            reader.carry_out(block)


def test_each_page_is_a_topic() -> None:
    pages = {file.name for file in MANUAL.iterdir() if file.name.endswith('.md')}
    assert pages == {f'{name}.md' for name in TOPICS}


@pytest.mark.parametrize(('shown', 'came'), [
    ('a 3\n', 'a 4\n'), ('a\n', 'a\nb\n'), ('a\nb\n', 'a\n'), ('a ... c\n', 'a b d\n'), ('a\n...\nz\n', 'a\nb\n'),
    ('took 3 ms, 2 calls\n', 'took 4 ms, 3 calls\n'), ('', 'b\n')])
def test_what_differs_is_seen(shown: str, came: str) -> None:
    assert mismatch(shown, came)


@pytest.mark.parametrize(('shown', 'came'), [
    ('a ... c\n', 'a b c\n'), ('a\n...\nz\n', 'a\nb\nc\nz\n'), ('a\n...\nz\n', 'a\nz\n'),
    ('took 3.1 ms\n', 'took  12 ms  \n')])
def test_what_may_differ_is_passed_over(shown: str, came: str) -> None:
    assert not mismatch(shown, came)


def test_an_example_that_does_something_else_fails(tmp_path: Path) -> None:
    page = '```python\n# a.py\nprint(6 * 7)\n```\n\n```console\n$ python a.py\n41\n```\n'
    reader = Reader(tmp_path)
    program, run = blocks(page)
    reader.carry_out(program)
    with pytest.raises(AssertionError, match='42'):
        reader.carry_out(run)
