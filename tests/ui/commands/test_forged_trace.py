"""Traces whose records are whole and whose content is forged: every command answers, or refuses in one line."""
from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.hooks.syntax_tree import tree_of
from pyfuncdbg.hosts.tensorflow.doctor.judges.argument_misuse import parameter
from pyfuncdbg.observers.record.log import log_file
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.views.escape import one_line, shorten

COMMANDS = ('report', 'calls', 'calls --bad', 'lt', 'health', 'tape', 'tape --as mermaid', 'tape --as dot', 'graph',
            'doctor', 'lp', 'timeline', 'ls', 'call EagerPyFunc[0]', 'ni norm', 'li norm', 'lo norm')
ATTRIBUTES = ('inputs', 'forward', 'slots', 'source', 'traced', 'dead', 'rows', '_control', '_constants', '_no_line',
              'shapes', 'graph', 'token', '_device')
VALUES = (None, True, 2**63, float('nan'), 'x', b'x', [], [[]], [0], [1.5], [b'x'], [{}], {'a': [1]}, [['x', 1]])


@pytest.fixture(scope='module')
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp('sound') / 't.pfd'

    def norm(x: Any) -> Any:
        return x * 2
    with pyfuncdbg.record(path, ops=True):
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, [2], name='x')
            y = tf.reduce_sum(tf.py_function(norm, [x], tf.float32, name='norm') * 3.0, name='loss')
            session.run([y, *tf.gradients(y, [x])], {x: np.ones(2, np.float32)})
        variable = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            z = tf.py_function(norm, [variable], tf.float32)
        tape.gradient(z, variable)
    return path


def forged(sound: Path, target: Path, kind: int, change: Callable[[Any], Any]) -> Path:
    """A copy of a trace in which every record of one kind is changed and its checksum made right."""
    shutil.copytree(sound, target)
    (log,) = target.glob('*.log')
    reader = log_file.LogReader(log)
    records = [(found.kind, reader.read(found.position, found.length)) for found in reader.frames(0)]
    reader.close()
    pieces = [log_file.frame(each, msgpack.packb(change(msgpack.unpackb(data))) if each == kind else data)
              for each, data in records]
    log.write_bytes(log.read_bytes()[:log_file.HEADER_SIZE] + b''.join(b''.join(record) for record in pieces))
    return target


LINES = tuple(f'{command}{form}' for command in COMMANDS for form in ('', ' --json'))


def answers(path: Path, lines: Sequence[str] = LINES) -> Iterator[str]:
    with Trace.open(path) as trace:
        for line in lines:
            try:
                yield execute(line, Context(trace)).text()
            except PyfuncdbgError as error:
                yield str(error)


@pytest.mark.parametrize('name', ATTRIBUTES)
def test_attributes_of_sites(name: str, sound: Path, tmp_path: Path) -> None:
    """Each line meets each attribute and each value, in every third pair of these."""
    turn = ATTRIBUTES.index(name)
    for number, value in enumerate(VALUES):
        def change(site: Any, value: Any = value) -> Any:
            site[12][name] = value
            return site
        assert all(answers(forged(sound, tmp_path / str(number), log_file.SITE, change), LINES[(turn + number) % 3::3]))


def test_a_source_in_the_run_of_a_function_only(sound: Path, tmp_path: Path) -> None:
    def change(site: Any) -> Any:
        if site[1] == 'mul_grad' and 'inputs' not in site[12]:
            site[12].update(source=True)
        return site
    assert all(answers(forged(sound, tmp_path / 't', log_file.SITE, change)))


@pytest.mark.parametrize('levels', [400, 1400, 2500])
@pytest.mark.parametrize('text', ['def norm(x):\n    return {}x\n', 'def norm(x): return "y" == {}x\n\n'])
def test_source_that_is_nested_deeply(text: str, levels: int, sound: Path, tmp_path: Path) -> None:
    """Python's parser makes trees of 3,000 levels; functions of Python that walk them fail at a thousand frames."""
    def change(source: Any) -> Any:
        source[4] = [[first, text.format('x + ' * levels) if 'def norm' in part else part] for first, part in source[4]]
        return source
    path = forged(sound, tmp_path / 't', log_file.SOURCE, change)
    assert all(answers(path))
    with Trace.open(path) as trace:
        assert any(len(site.source) > levels for site in trace.sites())
    assert parameter(text.format('x + ' * levels), 0) == 'x'


def test_a_tree_is_that_of_the_text_unless_it_is_deep() -> None:
    (statement,) = tree_of('def f(x):\n    return x').body
    assert statement.name == 'f'
    assert tree_of('x = ' + 'x + ' * 60 + 'x') is not None
    assert [tree_of(text) for text in ('x = ' + 'x + ' * 200 + 'x', '(', 'x\0', '-' * 100_000 + 'x')] == [None] * 4


@pytest.mark.parametrize('field', [1, 2, 4, 5, 6, 9])
def test_names_of_megabytes_are_cut(field: int, sound: Path, tmp_path: Path) -> None:
    """What a view shows in full for names must not take minutes for what is none."""
    long = 'n\x1b\u0301' * 300_000

    def change(site: Any) -> Any:
        site[field] = [[long, 1, long]] if field == 9 else long
        return site
    path = forged(sound, tmp_path / 't', log_file.SITE, change)
    began = time.monotonic()
    assert max(map(len, answers(path))) < 3_000_000
    assert time.monotonic() - began < 30


def test_a_command_line_of_megabytes_is_cut(sound: Path, tmp_path: Path) -> None:
    def change(process: Any) -> Any:
        process[2] = ['\x1b' * 1_000_000, 'end.py']
        return process
    path = forged(sound, tmp_path / 't', log_file.PROCESS, change)
    began = time.monotonic()
    with Trace.open(path) as trace:
        shown = execute('info', Context(trace)).text()
    assert 'end.py' in shown and r'\x1b' in shown and len(shown) < 10_000
    assert time.monotonic() - began < 10


def test_only_the_ends_of_a_long_text_are_escaped() -> None:
    long = '\x1b[1m' + 'é\x07' * 3_000_000 + ' end\x07'
    began = time.monotonic()
    assert one_line(long, 20) == r'\x1b[1mé\... end\x07'
    assert time.monotonic() - began < 0.5
    assert all(one_line('é\n' * 600, limit) == shorten(r'é\n' * 600, limit) for limit in range(0, 300, 7))
