"""Source text in traces: what a recording keeps of it, and which local files a reader opens."""
from __future__ import annotations

import importlib
import os
import sys
import time
from pathlib import Path

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from plain_sites import wrapped
from recorded_source import HELPER, MAIN, as_version_2, recorded, renamed, rewritten

from pyfuncdbg.observers.record.index.trace_sources import source_fields
from pyfuncdbg.observers.record.log import log_file
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.sources import loaded_source, local_source
from pyfuncdbg.observers.record.sources.loaded_source import LoadedSources
from pyfuncdbg.observers.record.sources.local_source import candidate, read_regular
from pyfuncdbg.observers.record.sources.matching_code import matches_code
from pyfuncdbg.observers.record.sources.source_text import CHANGED, DIFFERS, NOT_HERE, NOT_RECORDED
from pyfuncdbg.observers.record.trace import Trace

WARNS, RAISES = HELPER.split('\n').index("    warnings.warn('not a number')") + 1, HELPER.split('\n').index(
    "    raise ValueError('refused')     # the line that raises") + 1
CREATES = next(number for number, line in enumerate(MAIN.split('\n'), 1) if 'halved = ' in line)
FAR_AWAY, LAST = HELPER.count('\n'), MAIN.count('\n')


@pytest.fixture(scope='module')
def trace(tmp_path_factory):
    return recorded(tmp_path_factory.mktemp('sources') / 'project')


@pytest.fixture
def copy(trace, tmp_path):
    """A trace whose files may be edited: recorded as if they were in another folder."""
    folder = tmp_path / 'project'
    folder.mkdir()
    names = {}
    for name in ('main.py', 'helper.py'):
        (folder / name).write_bytes((trace.parent / name).read_bytes())
        names[str(trace.parent / name)] = str(folder / name)
    return rewritten(trace, tmp_path / 'copy.pfd', lambda kind, fields: renamed(fields, names)), folder


def site_of(opened, function):
    return next(site for site in opened.sites() if site.function == function and site.kind == 'python')


def call_of(opened, function):
    return next(call for call in opened.calls() if call.site.function == function and call.site.kind == 'python')


def lines_that_records_know(path, folder):
    """(function, creation line, line that warned, line that raised) as the records of a trace know them."""
    with Trace.open(path) as opened:
        half, broken = call_of(opened, 'half'), call_of(opened, 'broken')
        (warned,) = {record.filename: record for record in half.output if record.kind == 'warning'}.values()
        return (half.site.source, half.site.source_at(str(folder / 'main.py'), CREATES),
                warned.source_at(warned.filename, warned.line), broken.error.source_at(str(folder / 'helper.py'), RAISES))


@pytest.mark.parametrize('now', ['as it was', 'edited', 'gone'])
def test_a_trace_has_the_functions_and_five_lines_around_each_line_it_names(copy, now):
    path, folder = copy
    for name in ('main.py', 'helper.py'):
        if now == 'edited':
            (folder / name).write_text('# another line\n' + (folder / name).read_text())
        elif now == 'gone':
            (folder / name).unlink()
    function, created, warned, raised = lines_that_records_know(path, folder)
    assert function == 'def half(x):\n    """Half of it."""\n    return helper.check(x) / 2\n'
    assert created.line(CREATES) == 'halved = tf.py_function(half, [x], tf.float32)'
    assert created.first <= CREATES - 2 and created.line(CREATES + 2) == 'return halved' and not created.missing
    assert warned.line(WARNS) == "warnings.warn('not a number')"
    assert raised.line(RAISES) == "raise ValueError('refused')     # the line that raises"
    assert 'far away' not in ''.join(raised.lines)


def test_a_line_that_the_trace_does_not_hold_is_read_from_a_file_that_has_not_changed(copy):
    path, folder = copy
    helper, main = str(folder / 'helper.py'), str(folder / 'main.py')
    with Trace.open(path) as opened:
        error = call_of(opened, 'broken').error
        assert error.source_at(helper, FAR_AWAY).line(FAR_AWAY) == HELPER.split('\n')[FAR_AWAY - 1]
        assert opened.source(helper).read == helper and opened.source(helper).length == FAR_AWAY
        Path(helper).write_text(HELPER.replace('far away', 'FAR AWAY'))          # of the same length
        assert error.source_at(helper, FAR_AWAY).missing == opened.source(helper).missing == DIFFERS
        assert error.source_at(helper, RAISES).line(RAISES).startswith('raise')
        assert 'FAR AWAY' not in ''.join(opened.source(helper).lines.values()) and opened.source(helper).read == ''
        Path(helper).unlink()
        assert error.source_at(helper, FAR_AWAY).missing == opened.source(helper).missing == NOT_HERE
        assert opened.source(main).lines[LAST].startswith('# the last line')
        assert error.source_at(str(folder / 'other.py'), 1).missing == NOT_RECORDED


def test_a_file_is_found_below_the_current_folder_if_it_is_the_same(copy, tmp_path, monkeypatch):
    path, folder = copy
    (tmp_path / 'here' / 'project').mkdir(parents=True)
    moved = tmp_path / 'here' / 'project' / 'helper.py'
    (folder / 'helper.py').rename(moved)
    monkeypatch.chdir(tmp_path / 'here')
    with Trace.open(path) as opened:
        assert opened.source(str(folder / 'helper.py')).read == str(moved)
        moved.write_text('SECRET = 1\n')
        assert opened.source(str(folder / 'helper.py')).missing == DIFFERS


def test_of_version_2_there_is_no_line_but_those_of_functions(copy, tmp_path):
    path, folder = copy
    old = rewritten(path, tmp_path / 'old.pfd', as_version_2)
    function, created, warned, raised = lines_that_records_know(old, folder)
    assert function == ''
    assert [text.missing for text in (created, warned, raised)] == [NOT_RECORDED] * 3


def test_a_record_outlives_its_trace(trace):
    with Trace.open(trace) as opened:
        call = call_of(opened, 'half')
    assert call.site.source_at(call.site.filename, call.site.line).line(call.site.line) == 'def half(x):'
    assert call.site.source_at(str(trace.parent / 'main.py'), CREATES).missing == ''


# ---------------------------------------------------------------- which files are opened
@pytest.mark.parametrize('name', [
    '/proc/kmsg', '/proc/self/environ', '/proc/x.py', '/dev/zero', '/dev/stdin', '/dev/shm/x.py', '/sys/x.py', '/etc/passwd',
    '//host/share/x.py', '/net/host/x.py', '', '.', '..', 'a\0.py', '\ud800.py', '/nowhere/x.py', 'x' * 9000 + '.py', '/',
    '/tmp/../proc/x.py', '/proc/self/root/tmp/x.py'])
def test_what_no_source_file_can_be_called_is_not_opened(name):
    assert candidate(name) is None


def test_only_regular_source_files_are_opened(tmp_path):
    secret = tmp_path / 'secret.txt'
    secret.write_text('SECRET')
    os.mkfifo(tmp_path / 'pipe.py')
    (tmp_path / 'folder.py').mkdir()
    (tmp_path / 'to_secret.py').symlink_to(secret)
    (tmp_path / 'to_pipe.py').symlink_to(tmp_path / 'pipe.py')
    (tmp_path / 'to_kernel.py').symlink_to('/proc/kmsg')
    (tmp_path / 'one.py').symlink_to(tmp_path / 'two.py')
    (tmp_path / 'two.py').symlink_to(tmp_path / 'one.py')
    with open(tmp_path / 'large.py', 'wb') as large:
        large.truncate(local_source.LARGEST + 1)
    began = time.monotonic()
    for name in ('secret.txt', 'pipe.py', 'folder.py', 'to_secret.py', 'to_pipe.py', 'to_kernel.py', 'one.py', 'large.py'):
        assert candidate(str(tmp_path / name)) is None, name
    for name in ('pipe.py', 'folder.py', 'to_secret.py', 'one.py', 'large.py'):
        assert read_regular(str(tmp_path / name)) is None, name
    assert time.monotonic() - began < 60        # a pipe that was opened would wait for ever
    (tmp_path / 'real').mkdir()
    (tmp_path / 'real' / 'model.py').write_text('x = 1\n')
    (tmp_path / 'linked').symlink_to(tmp_path / 'real')
    (tmp_path / 'link.py').symlink_to(tmp_path / 'real' / 'model.py')
    for name in ('linked/model.py', 'link.py', 'real/model.py'):
        assert candidate(str(tmp_path / name)).path == os.path.realpath(tmp_path / 'real' / 'model.py')


# ---------------------------------------------------------------- what a program has loaded
def imported(tmp_path, monkeypatch, text, *, name='loaded_late'):
    """A module that is newer than this process."""
    (tmp_path / f'{name}.py').write_text(text)
    monkeypatch.setattr(loaded_source, 'STARTED', time.time_ns() - 10**10)
    monkeypatch.setattr(sys, 'dont_write_bytecode', True)      # a reload within the second would take the old bytecode
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, name, raising=False)
    importlib.invalidate_caches()
    return importlib.import_module(name), tmp_path / f'{name}.py'


TEXT = 'SCALE = 2\n\n\ndef double(x):\n    return [x * SCALE]\n'


def test_a_file_newer_than_the_program_is_kept_if_its_code_agrees(tmp_path, monkeypatch):
    module, file = imported(tmp_path, monkeypatch, TEXT)
    with Recorder(tmp_path / 't.pfd'):
        wrapped(module.double)(np.float32(1))
    with Trace.open(tmp_path / 't.pfd') as opened:
        site = opened.calls()[0].site
        assert site.source == 'def double(x):\n    return [x * SCALE]\n' and opened.source(str(file)).read == str(file)


@pytest.mark.parametrize('edit', [TEXT.replace('* SCALE', '+ SCALE'), '\n' + TEXT, TEXT.replace('double', 'triple'), '',
                                  TEXT.replace('SCALE]', 'SCALE, 1]'), TEXT.replace('SCALE]', '2.0]')])
def test_the_text_of_a_file_that_was_edited_after_it_was_loaded_is_not_kept(tmp_path, monkeypatch, edit):
    module, file = imported(tmp_path, monkeypatch, TEXT)
    file.write_text(edit)
    with Recorder(tmp_path / 't.pfd'):
        wrapped(module.double)(np.float32(1))
    with Trace.open(tmp_path / 't.pfd') as opened:
        assert opened.calls()[0].site.source == ''
        assert opened.source(str(file)).missing == CHANGED and not opened.source(str(file)).lines


def test_a_file_edited_while_it_is_recorded_keeps_the_text_that_runs_until_it_is_loaded_again(tmp_path, monkeypatch):
    module, file = imported(tmp_path, monkeypatch, TEXT)
    sources = LoadedSources()
    double = module.double.__code__
    assert sources.function(double) == [1, 2]
    file.write_text(TEXT.replace('x * SCALE', 'x * SCALE * 100'))
    sources.renew()
    assert sources.function(double) == [1, 2] and sources.line(str(file), 1) == 1
    importlib.reload(module)
    sources.renew()
    assert sources.function(module.double.__code__) == [2, 2]
    assert sources.function(double) == [0, 0]   # of the text before
    texts = [[number, ''.join(part for _, part in parts)] for number, _, _, _, parts in sources.take_entries()]
    assert texts == [[2, 'def double(x):\n    return [x * SCALE * 100]\n']]


def test_a_text_is_written_once_however_many_records_name_it(tmp_path):
    file = tmp_path / 'mine.py'
    file.write_text(''.join(f'line {number}\n' for number in range(1, 101)))
    os.utime(file, (1, 1))
    sources = LoadedSources()
    found = {sources.line(str(file), line) for line in (10, 11, 10, 50)}
    assert found == {1}
    ((number, filename, size, key, parts),) = sources.take_entries()
    assert (number, filename, size) == (1, str(file), file.stat().st_size) and key == local_source.digest(file.read_bytes())
    assert [[first, part.count('\n')] for first, part in parts] == [[8, 5], [13, 1], [48, 5]]
    sources.renew()
    assert sources.frames([(str(file), 9, 'f'), (os.__file__, 5, 'g'), (str(file), 50, 'h')]) == [1]
    assert [parts for *_, parts in sources.take_entries()] == [[[7, 'line 7\n']]]
    assert list(sources.take_entries()) == []


def test_a_cell_is_kept_whole(tmp_path, monkeypatch):
    import linecache
    name, text = '<ipython-input-77-abc>', 'def f(x):\n    return [x]\n\n\nf(1)\n'
    monkeypatch.setitem(linecache.cache, name, (len(text), None, text.splitlines(True), name))
    space = {}
    exec(compile(text, name, 'exec'), space)
    with Recorder(tmp_path / 't.pfd'):
        wrapped(space['f'])(np.float32(1))
    monkeypatch.undo()
    with Trace.open(tmp_path / 't.pfd') as opened:
        assert opened.calls()[0].site.source == 'def f(x):\n    return [x]\n'
        held = opened.source(name)
        assert ''.join(f'{held.lines[number]}\n' for number in sorted(held.lines)) == text and held.missing == ''


def test_the_budget_counts_for_source_lines_too(tmp_path):
    (tmp_path / 'long.py').write_text(f'def long(x):\n    """{"long " * 12_200}\n    """\n    return [x]\n')
    os.utime(tmp_path / 'long.py', (1, 1))
    space = {}
    exec(compile((tmp_path / 'long.py').read_text(), str(tmp_path / 'long.py'), 'exec'), space)
    with Recorder(tmp_path / 't.pfd', budget=64 << 10):
        wrapped(space['long'])(np.float32(1))
    with Trace.open(tmp_path / 't.pfd') as opened:
        assert opened.calls()[0].site.source == '' and opened.info().dropped == {'source lines': 4}
        assert opened.info().nbytes <= 64 << 10


@settings(max_examples=200, deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.integers(-2**63, 2**64 - 1) | st.text(max_size=3)
                    | st.binary(max_size=16), lambda inner: st.lists(inner, max_size=5), max_leaves=20))
def test_a_record_of_something_else_is_refused(fields):
    try:
        number, filename, _, key, parts = source_fields(fields)
    except ValueError:
        return
    assert isinstance(number, int) and isinstance(filename, str) and len(key) in (0, 16) and isinstance(parts, list)


@pytest.mark.parametrize('content', [
    [], 7, [1, 'x.py', 10, b'', [[0, 'a\n']]], [1, 'x.py', 10, b'', [[-5, 'a\n']]], [1, 'x.py', 10, b'short', []],
    [1, 'x.py', 10, b'', [[2**63, 'a\n']]], [-1, '/etc/passwd', -1, bytes(16), [[1, 5]]]])
def test_a_damaged_record_costs_nothing_but_its_lines(trace, tmp_path, content):
    def change(kind, fields):
        return content if kind == log_file.SOURCE else fields
    damaged = rewritten(trace, tmp_path / 'damaged.pfd', change)
    with Trace.open(damaged) as opened:
        assert [call.label for call in opened.calls()] and all(site.source == '' for site in opened.sites())
        assert opened.source(str(trace.parent / 'main.py')).missing == NOT_RECORDED
    assert msgpack.packb(content)


@pytest.mark.parametrize('module', ['textwrap', 'heapq', 'shutil', 'random'])
def test_a_text_is_that_of_its_code_and_of_no_other(module):
    found = importlib.import_module(module)
    lines = Path(found.__file__).read_text().split('\n')
    codes = [function.__code__ for function in vars(found).values()
             if isinstance(function, type(test_a_cell_is_kept_whole)) and function.__code__.co_filename == found.__file__]
    unmatched = ['dedent'] if module == 'textwrap' and sys.version_info >= (3, 12) else []
    assert codes and [code.co_name for code in codes if not matches_code(code, lines)] == unmatched
    assert [code.co_name for code in codes if matches_code(code, ['', *lines])] == []
    for code in codes:
        at = max(line for _, _, line in code.co_lines() if line is not None) - 1
        edited = [*lines[:at], lines[at].partition('#')[0] + ' + nowhere', *lines[at + 1:]]
        assert not matches_code(code, edited), code.co_name
