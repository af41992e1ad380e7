"""The SQLite index of a trace: where each call is in the logs, and what calls can be found by.

It only repeats what the logs say, so it is rebuilt whenever it is missing, damaged or of another trace, and continued when
it is behind. It lies in the trace's folder, or in the user's cache if that is read-only.
"""
from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import tempfile
from pathlib import Path

import xxhash

from pyfuncdbg.errors import TraceError
from pyfuncdbg.record import folder
from pyfuncdbg.record.folder import Manifest
from pyfuncdbg.record.frames import LogReader

FILE = 'index.sqlite'
_REVISION = 4

_TABLES = (
    'CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID',
    'CREATE TABLE logs(process INTEGER PRIMARY KEY, name TEXT, position INTEGER, pid INTEGER, wall REAL, clock INTEGER, '
    'argv TEXT, python TEXT, host TEXT, ended INTEGER, last INTEGER, dropped TEXT, ops INTEGER)',
    'CREATE TABLE sites(key INTEGER PRIMARY KEY, name TEXT, op_type TEXT, function TEXT, kind TEXT, payload BLOB)',
    'CREATE TABLE plans(process INTEGER, number INTEGER, payload BLOB, PRIMARY KEY(process, number)) WITHOUT ROWID',
    'CREATE TABLE runs(process INTEGER, id INTEGER, plan INTEGER, started INTEGER, element INTEGER, '
    'PRIMARY KEY(process, id)) WITHOUT ROWID',
    'CREATE TABLE calls(process INTEGER, id INTEGER, run INTEGER, site INTEGER, ordinal INTEGER, started INTEGER, '
    'duration INTEGER, flags INTEGER, forward INTEGER, position INTEGER, place INTEGER, thread INTEGER, size INTEGER, '
    'PRIMARY KEY(process, id)) WITHOUT ROWID',
    'CREATE TABLE blobs(key BLOB PRIMARY KEY, process INTEGER, position INTEGER, length INTEGER) WITHOUT ROWID',
    'CREATE TABLE notes(process INTEGER, position INTEGER, PRIMARY KEY(process, position)) WITHOUT ROWID',
    'CREATE TABLE damage(process INTEGER, position INTEGER, text TEXT, PRIMARY KEY(process, position)) WITHOUT ROWID')
# Made after the first bulk of rows is in: 1,000,000 calls take a third less time so.
_INDEXES = (
    'CREATE INDEX calls_started ON calls(started)',
    'CREATE INDEX calls_site ON calls(site, ordinal)',
    'CREATE INDEX calls_run ON calls(run, process)',
    'CREATE INDEX calls_flags ON calls(flags) WHERE flags')

FAILED, BAD, PRINTED = 1, 2, 4
"""Bits of `calls.flags`."""

SITE_BITS = 40
"""A site's key is `process << SITE_BITS | id`."""


class Index:
    """The open database and the open logs of one trace. One thread at a time."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        """Open the index that is there, or an empty one.

        Raises:
            TraceError: The trace cannot be read.
        """
        self.path = path
        self.manifest = manifest
        self.readers: dict[int, LogReader] = {}
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._number = 0
        self.place = path / FILE
        self.database = self._open()

    def _place(self, number: int) -> Path | None:
        """The `number`-th best place for an index; None if there is none."""
        if number == 0:
            return self.path / FILE
        if number == 1:
            cache = Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache') / 'pyfuncdbg'
            with contextlib.suppress(OSError):
                cache.mkdir(parents=True, exist_ok=True)
            key = os.fsencode(self.path.resolve()) + self.manifest.id.encode('utf-8', 'replace')
            return cache / f'{xxhash.xxh3_128_hexdigest(key)}.sqlite'
        if number == 2:
            self._scratch = tempfile.TemporaryDirectory(prefix='pyfuncdbg-')
            return Path(self._scratch.name) / FILE
        return None

    def _open(self) -> sqlite3.Connection:
        while (place := self._place(self._number)) is not None:
            for _ in range(2):
                try:
                    database = _opened(place, self.manifest)
                    self.place = place
                    return database
                except ValueError:
                    _remove(place)              # damaged, or of another trace
                except sqlite3.OperationalError:
                    break                       # unwritable, or locked
                except sqlite3.DatabaseError:
                    _remove(place)
            self._number += 1
        raise TraceError(f'{self.path}: no place for an index: neither the trace, the cache nor the temporary folder is '
                         'writable')

    def rebuild(self) -> None:
        """Throw the index away and start over."""
        self.database.close()
        place = self._place(self._number) if self._number < 2 else None
        if place is not None:
            _remove(place)
        self.database = self._open()

    def move_on(self) -> None:
        """Use the next place: this one is locked by another process, or its disk is full.

        Raises:
            TraceError: There is none.
        """
        self.database.close()
        self._number += 1
        self.database = self._open()

    def reader(self, process: int) -> LogReader:
        """The log of a process.

        Raises:
            TraceError: It is gone or unreadable.
        """
        known = self.readers.get(process)
        if known is None:
            for number, path in folder.logs(self.path):
                if number == process:
                    known = self.readers[process] = LogReader(path)
        if known is None:
            raise TraceError(f'{self.path}: the log of process {process} is gone')
        return known

    def close(self) -> None:
        """Close the database and the logs; closing twice is allowed."""
        self.database.close()
        for reader in self.readers.values():
            reader.close()
        self.readers.clear()
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = None


class StaleIndexError(Exception):
    """The index holds more than the logs do; it must be rebuilt."""


def _remove(place: Path) -> None:
    for leftover in (place, place.with_name(place.name + '-journal')):
        with contextlib.suppress(OSError):
            leftover.unlink()


def _opened(place: Path, manifest: Manifest) -> sqlite3.Connection:
    """The index at `place`; made if there is none.

    Raises:
        sqlite3.DatabaseError, ValueError: It is damaged, or not the index of this trace.
    """
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(os.lstat(place).st_mode):
            raise ValueError('not a regular file')
    database = sqlite3.connect(place, timeout=10.0, isolation_level=None, check_same_thread=False)
    try:
        database.execute('PRAGMA trusted_schema = OFF')
        database.execute('PRAGMA cell_size_check = ON')
        database.execute('PRAGMA synchronous = OFF')
        database.execute('PRAGMA cache_size = -16000')
        wanted = {'id': manifest.id, 'revision': str(_REVISION)}
        database.execute('BEGIN IMMEDIATE')
        found = _schema(database)
        if not found:
            for statement in _TABLES:
                database.execute(statement)
            database.executemany('INSERT INTO meta VALUES (?, ?)', wanted.items())
        elif not set(_TABLES) <= found <= {*_TABLES, *_INDEXES} or dict(database.execute('SELECT * FROM meta')) != wanted:
            raise ValueError('not an index of this trace')
        database.execute('COMMIT')
    except (sqlite3.DatabaseError, ValueError):
        database.close()
        raise
    return database


def _schema(database: sqlite3.Connection) -> set[str]:
    return {row[0] for row in database.execute('SELECT sql FROM sqlite_master WHERE sql IS NOT NULL')}


def finish_schema(database: sqlite3.Connection) -> None:
    """Make the secondary indexes that are not there yet."""
    found = _schema(database)
    for statement in _INDEXES:
        if statement not in found:
            database.execute(statement)


def site_key(process: int, site: int) -> int:
    """The key of a site among all processes; ids out of range share 0."""
    return process << SITE_BITS | (site if 0 <= site < 1 << SITE_BITS else 0)

