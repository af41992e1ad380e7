"""Hostile files beside the logs of a trace: ignored by every way to open it, and nothing outside the folder is touched.

SQLite would roll back a journal that it finds beside a database, and delete the file that the journal names.
"""
from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from plain_host import wrapped

import pyfuncdbg
from pyfuncdbg.observers.record.recorder import Recorder

CALLS = 14
NAMES = ('index.sqlite', 'index.sqlite-journal', 'index.sqlite-wal', 'index.sqlite-shm', 'index.db', 'index.columns')


@pytest.fixture(scope='module')
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace of 14 calls, 4 of which raise."""
    def double(number: int) -> tuple[int]:
        if number % 4 == 3 or number == 0:
            raise ValueError('no double of that')
        return (2 * number,)

    call = wrapped(double, 'double')
    with Recorder(tmp_path_factory.mktemp('sound') / 't.pfd') as recorder:
        for number in range(CALLS):
            with contextlib.suppress(ValueError):
                call(number)
    return recorder.path


def database(path: Path, *, page_size: int = 4096, mode: str = 'delete') -> sqlite3.Connection:
    """An index as version 2 of the format had it, without a row."""
    path.unlink(missing_ok=True)
    base = sqlite3.connect(path, isolation_level=None)
    base.execute(f'PRAGMA page_size = {page_size}')
    base.execute(f'PRAGMA journal_mode = {mode}')
    for table in ('meta(key TEXT PRIMARY KEY, value TEXT)', 'logs(process INTEGER PRIMARY KEY, name TEXT, position INTEGER)',
                  'calls(process INTEGER, id INTEGER, flags INTEGER, position INTEGER, place INTEGER)'):
        base.execute(f'CREATE TABLE {table}')
    base.execute('INSERT INTO logs VALUES (1, ?, ?)', ('../../../etc/passwd', 1 << 40))
    return base


def super_journal(folder: Path, victim: Path) -> None:
    """A hot journal that names `victim` as the super-journal of its transaction."""
    database(folder / 'index.sqlite').close()
    name = os.fsencode(victim)
    header = b'\xd9\xd5\x05\xf9\x20\xa1\x63\xd7' + struct.pack('>5I', 0, 0, 1, 512, 4096)
    lock_page = 0x40000000 // 4096 + 1
    (folder / 'index.sqlite-journal').write_bytes(
        header.ljust(512, b'\0') + struct.pack('>I', lock_page) + name
        + struct.pack('>II', len(name), sum(name)) + b'\xd9\xd5\x05\xf9\x20\xa1\x63\xd7')


def write_ahead_log(folder: Path, victim: Path) -> None:
    base = database(folder / 'index.sqlite', mode='wal')
    base.execute('INSERT INTO calls VALUES (1, 1, 0, 0, 0)')
    for suffix in ('-wal', '-shm'):
        shutil.copy(folder / f'index.sqlite{suffix}', folder / f'kept{suffix}')
    base.close()
    for suffix in ('-wal', '-shm'):
        (folder / f'kept{suffix}').rename(folder / f'index.sqlite{suffix}')


def triggers_and_views(folder: Path, victim: Path) -> None:
    base = database(folder / 'index.sqlite')
    base.execute('CREATE TRIGGER t AFTER INSERT ON calls BEGIN DELETE FROM calls; END')
    base.execute('CREATE VIEW sites AS SELECT writefile(?, ?) FROM calls'.replace('?', "'x'"))
    base.close()


def other_pages(folder: Path, victim: Path) -> None:
    database(folder / 'index.sqlite', page_size=65536).close()


def rows_deleted(folder: Path, victim: Path) -> None:
    base = database(folder / 'index.sqlite')
    base.execute('DELETE FROM calls')
    base.close()


def cells_of_other_types(folder: Path, victim: Path) -> None:
    base = database(folder / 'index.sqlite')
    base.execute("INSERT INTO calls VALUES ('one', x'00', 'flags', 1e300, NULL)")
    base.close()


def links(folder: Path, victim: Path) -> None:
    for name in NAMES:
        (folder / name).symlink_to(victim)


def a_pipe(folder: Path, victim: Path) -> None:
    for name in NAMES:
        os.mkfifo(folder / name)


def folders(folder: Path, victim: Path) -> None:
    for name in NAMES:
        (folder / name).mkdir()


def a_ledger_that_is_a_link(folder: Path, victim: Path) -> None:
    (folder / 'ledger').unlink()
    (folder / 'ledger').symlink_to(victim)


HOSTILE = (super_journal, write_ahead_log, triggers_and_views, other_pages, rows_deleted, cells_of_other_types, links,
           a_pipe, folders, a_ledger_that_is_a_link)

OURS = (sys.executable, '-c', 'import sys; from pyfuncdbg.cli import main; sys.exit(main())')
WAYS = {
    'show': [*OURS, 'show', 'TRACE', 'calls', '--failed', '--json'],
    'open': [*OURS, 'open', 'TRACE'],
    'magic': [sys.executable, '-m', 'IPython', '--no-banner', '--colors=NoColor', '-c',
              'get_ipython().run_line_magic("load_ext", "pyfuncdbg"); get_ipython().run_line_magic("pyfunc", "open TRACE"); '
              'get_ipython().run_line_magic("pyfunc", "calls --failed")']}


def contents(folder: Path) -> dict[str, object]:
    """Every file below a folder with what tells whether it was touched."""
    def held(path: Path) -> object:
        status = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else None
        return status.st_mode, status.st_ino, status.st_mtime_ns, content
    return {str(path.relative_to(folder)): held(path) for path in sorted(folder.rglob('*'))}


def opened(way: str, trace: Path, home: Path) -> tuple[int, str]:
    command = [word.replace('TRACE', str(trace)) for word in WAYS[way]]
    environment = {**os.environ, 'HOME': str(home), 'XDG_CACHE_HOME': str(home / 'cache'), 'COLUMNS': '200', 'TERM': 'dumb',
                   'IPYTHONDIR': str(home / 'ipython'),
                   'PYTHONPATH': os.pathsep.join([os.getcwd(), *filter(None, sys.path)])}
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, env=environment,
                          cwd=home, check=False)
    assert 'Traceback' not in done.stderr
    return done.returncode, (done.stdout + done.stderr).replace(str(trace), 'TRACE')


@pytest.mark.parametrize('hostile', HOSTILE, ids=lambda hostile: hostile.__name__)
def test_a_trace_is_read_from_its_logs_alone(hostile, sound: Path, tmp_path: Path, monkeypatch) -> None:
    trace, cache, victim = tmp_path / 't.pfd', tmp_path / 'cache', tmp_path / 'victim'
    cache.mkdir()
    monkeypatch.setenv('XDG_CACHE_HOME', str(cache))
    victim.write_text('precious')
    shutil.copytree(sound, trace)
    hostile(trace, victim)
    before = contents(trace)
    with pyfuncdbg.load(trace) as opened:
        info = opened.info()
        assert (info.calls, opened.count(failed=True), len(opened.calls(failed=True)), len(opened.calls())) == (14, 4, 4, 14)
        assert not info.damage and opened.call('double[2]').outputs[0].to_numpy() == 4
    assert victim.read_text() == 'precious' and contents(trace) == before and not contents(cache)


@pytest.mark.parametrize('way', WAYS)
def test_every_way_to_open_ignores_it(way: str, sound: Path, tmp_path: Path) -> None:
    home, trace, victim = tmp_path / 'home', tmp_path / 't.pfd', tmp_path / 'victim'
    home.mkdir()
    victim.write_text('precious')
    shutil.copytree(sound, trace)
    expected = opened(way, trace, home)
    assert expected[0] == (2 if way == 'open' else 0) and expected[1]     # 'open' says that it needs a terminal
    super_journal(trace, victim)
    before = contents(trace), contents(home / 'cache')
    assert opened(way, trace, home) == expected
    assert victim.read_text() == 'precious'
    assert (contents(trace), contents(home / 'cache')) == before
