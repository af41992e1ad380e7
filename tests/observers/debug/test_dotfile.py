"""Breakpoints in a file: written and read back the same, loaded only when asked for; of a broken file one clear message."""
from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from stopping import debugging, wrapped

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.breakpoints import file
from pyfuncdbg.observers.debug.breakpoints.table import Breakpoints


def table() -> Breakpoints:
    return Breakpoints(lambda: None, None)  # type: ignore[arg-type]


def facts(breakpoints):
    return [(b.spec, b.when, b.timing, b.do, b.once, b.every, b.after, b.enabled)
            for b in (entry.breakpoint for entry in breakpoints.entries.values())]


TEXT = st.text(st.characters(exclude_categories=('Cs',)), min_size=1, max_size=12)


@settings(deadline=None, max_examples=100)
@given(TEXT, TEXT, st.booleans(), st.integers(1, 9), st.integers(0, 9), st.sampled_from(['stop', 'log', 'snap']),
       st.booleans())
def test_what_is_saved_is_loaded(tmp_path_factory, name, literal, once, every, after, do, enabled):
    path = tmp_path_factory.mktemp('dot') / file.NAME
    before = table()
    before.set('n' + name, f'inputs[0] == {literal!r} and "\\"" != \'a\'', once=once, every=every, after=after, do=do,
               enabled=enabled)
    before.set('plain', timing='gradient')
    assert file.save(before, path).numbers == (1, 2)
    after_ = table()
    assert file.load(after_, path).numbers == (1, 2)
    assert facts(after_) == facts(before)
    tomllib.loads(path.read_text(encoding='utf-8'))


def test_a_python_function_cannot_be_saved_and_the_rest_is(tmp_path):
    breakpoints = table()
    breakpoints.set('a', lambda call: True)
    breakpoints.set('b', 'x > 1')
    saved = file.save(breakpoints, tmp_path / file.NAME)
    assert (saved.numbers, saved.left_out) == ((2,), ('1: its condition is a Python function',))


def test_loading_twice_sets_once(tmp_path):
    breakpoints = table()
    breakpoints.set('b', 'x > 1')
    file.save(breakpoints, tmp_path / 'f.toml')
    loaded = file.load(breakpoints, tmp_path / 'f.toml')
    assert (loaded.numbers, loaded.left_out) == ((), ('b if x > 1: is set already',))
    assert list(breakpoints.entries) == [1]


@pytest.mark.parametrize(('content', 'why'), [
    (b'[[breakpoint]', 'not TOML'), (b'\xff\xfe', 'not TOML'), (b'[tool.ruff]\nx = 1', "holds 'tool'"),
    (b'breakpoint = 3', 'of another form'),
    (b'breakpoint = [1]', 'of another form'), (b'[[breakpoint]]\nif = "x"', "no 'spec'"),
    (b'[[breakpoint]]\nspec = "a"\nwhen = "x"', "no field 'when'"),
    (b'[[breakpoint]]\nspec = 3', "'spec' is 3, expected str"),
    (b'[[breakpoint]]\nspec = "a"\nevery = true', "'every' is True, expected int"),
    (b'[[breakpoint]]\nspec = "good"\n[[breakpoint]]\nspec = "a"\nif = "x >"', 'breakpoint 2 of the file: bad condition'),
    (b'[[breakpoint]]\nspec = "a"\ntiming = "never"', "no timing 'never'"), (b'a = ' + b'[' * 5000, 'not TOML'),
])
def test_a_broken_file_is_one_message_and_sets_nothing(tmp_path, content, why):
    path = tmp_path / file.NAME
    path.write_bytes(content)
    breakpoints = table()
    breakpoints.set('kept')
    with pytest.raises(CommandError) as raised:
        file.load(breakpoints, path)
    assert str(raised.value).startswith(str(path))
    assert why in str(raised.value)
    assert [b[0].text for b in facts(breakpoints)] == ['kept']


def test_a_file_of_somebody_else_is_not_overwritten(tmp_path):
    path = tmp_path / file.NAME
    path.write_text('[project]\nname = "x"\n')
    with pytest.raises(CommandError, match="holds 'project'"):
        file.save(table(), path)
    assert path.read_text() == '[project]\nname = "x"\n'


def test_no_file_and_no_place(tmp_path):
    with pytest.raises(CommandError, match=r'cannot read .*No such file'):
        file.load(table(), tmp_path / 'none.toml')
    with pytest.raises(CommandError, match=r'cannot write .*No such file'):
        file.save(table(), tmp_path / 'no' / 'none.toml')
    with pytest.raises(CommandError, match='cannot read'):
        file.load(table(), tmp_path)
    assert os.listdir(tmp_path) == []


def test_a_file_beside_the_script_runs_nothing_by_itself(tmp_path):
    (tmp_path / file.NAME).write_text('[[breakpoint]]\nspec = "norm"\nif = "print(\'owned\') or True"\n')
    script = tmp_path / 'train.py'
    script.write_text('import pyfuncdbg\n'
                      'from pyfuncdbg.observers.debug.breakpoints import file\n'
                      'from pyfuncdbg.observers.debug.debugger import debugger\n'
                      'import numpy as np\n'
                      'from pyfuncdbg import tf\n'
                      'pyfuncdbg.break_at("other")\n'
                      'tf.numpy_function(lambda x: x, [np.ones(2)], tf.float64, name="norm")\n'
                      'print(file.beside_script(), list(debugger.breakpoints.entries))\n')
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run([sys.executable, str(script)], env={**os.environ, 'PYTHONPATH': str(root)}, capture_output=True,
                          text=True, timeout=60)
    assert (done.stdout, done.stderr) == (f'{tmp_path / file.NAME} [1]\n', '')


def test_what_is_still_to_be_passed_over_is_saved(tmp_path):
    with debugging() as (debugger, front_end):
        table = debugger.breakpoints
        table.set('norm', after=5)
        call = wrapped(lambda x: x)
        for _ in range(2):
            call(np.float32(1))
        file.save(table, tmp_path / file.NAME)
        table.clear(1)
        file.load(table, tmp_path / file.NAME)
        assert [entry.breakpoint.after for entry in table.entries.values()] == [3]
        for _ in range(4):
            call(np.float32(1))
        assert front_end.labels == ['norm[5]']
