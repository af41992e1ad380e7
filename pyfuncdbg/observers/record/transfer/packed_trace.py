"""Packed trace: a zip file of its manifest and its logs, to be sent.

What unpacks it trusts nothing in it: names, kinds, sizes and checksums are tested, and on any doubt nothing is left on disk.
"""
from __future__ import annotations

import os
import shutil
import stat
import tempfile
import zipfile
import zlib
from pathlib import Path

from pyfuncdbg.errors import NotATraceError, TraceError
from pyfuncdbg.observers.record.log import trace_folder
from pyfuncdbg.observers.record.log.descriptor import open_regular
from pyfuncdbg.observers.record.log.log_file import LogReader
from pyfuncdbg.observers.record.log.log_names import is_log, logs
from pyfuncdbg.observers.record.log.trace_folder import LEDGER, LEDGER_CONTENT, MANIFEST, read_manifest
from pyfuncdbg.observers.record.processes.followed_process import LIST

LARGEST_RATIO = 100
"""Bytes of a trace for each of its packed file, at most; what compresses better is stored less compressed."""
_FREE = 1 << 20
"""Bytes that may be unpacked of any file, whatever the ratio."""
_DISK_SHARE = 0.9
_MOST_MEMBERS = 10_000
_CHUNK = 1 << 20
_DATE = (1980, 1, 1, 0, 0, 0)


def pack_trace(source: Path, target: Path) -> int:
    """Pack a trace.

    Args:
        source: Its folder; nothing records there.
        target: The file, which must not exist; on failure nothing is left of it.

    Returns:
        Bytes of the file.

    Raises:
        TraceError: The trace cannot be read or is being recorded, or the file not be written.
    """
    read_manifest(source)
    if process := trace_folder.recording_process(source):
        raise TraceError(f'{source}: process {process} records there; pack it when that has ended')
    lists = [source / LIST] if os.path.lexists(source / LIST) else []
    members = [source / MANIFEST, *lists, *[path for log in logs(source) for path in log.segments.values()]]
    try:
        with tempfile.NamedTemporaryFile(dir=target.absolute().parent, prefix=f'.{target.name}-', delete=False) as file:
            draft = Path(file.name)
            try:
                with zipfile.ZipFile(file, 'w', zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
                    for path in members:
                        _add(archive, path)
                if os.path.lexists(target):
                    raise FileExistsError(target)
                draft.rename(target)
            finally:
                draft.unlink(missing_ok=True)
        return target.stat().st_size
    except FileExistsError as error:
        raise TraceError(f'{target}: exists already; give a path that does not') from error
    except OSError as error:
        raise TraceError(f'{target}: cannot be written: {error.strerror or error}') from error


def _add(archive: zipfile.ZipFile, path: Path) -> None:
    with open(open_regular(path), 'rb') as reader:
        compresses = path.name == MANIFEST or _ratio(path) < LARGEST_RATIO
        info = zipfile.ZipInfo(path.name, _DATE)
        info.compress_type = zipfile.ZIP_DEFLATED if compresses else zipfile.ZIP_STORED
        info.external_attr = (stat.S_IFREG | 0o600) << 16
        info.file_size = os.fstat(reader.fileno()).st_size
        with archive.open(info, 'w') as member:
            shutil.copyfileobj(reader, member, _CHUNK)


def _ratio(path: Path) -> float:
    """How many times smaller a file gets."""
    packer, size, packed = zlib.compressobj(), 0, 0
    with open(open_regular(path), 'rb') as file:
        while chunk := file.read(_CHUNK):
            size += len(chunk)
            packed += len(packer.compress(chunk))
    return size / max(packed + len(packer.flush()), 1) if size > _FREE // 2 else 0.0


def unpack_trace(source: Path, target: Path) -> None:
    """Unpack a trace into a folder.

    Args:
        source: The packed file.
        target: The folder, which must not exist; on failure nothing is left of it.

    Raises:
        NotATraceError: It is no packed trace, or holds what a packed trace does not.
        TraceError: It is damaged, too large for the disk, or the folder cannot be written.
    """
    if target.exists() or target.is_symlink():
        raise TraceError(f'{target}: exists already; give a path that does not')
    if not source.is_file():
        raise NotATraceError(f'{source}: no such file')
    try:
        with open(source, 'rb') as file, zipfile.ZipFile(file) as archive:
            members = _checked_members(source, archive, target.absolute().parent)
            draft = Path(tempfile.mkdtemp(dir=target.absolute().parent, prefix=f'.{target.name}-'))
            try:
                for member in members:
                    _extract(source, archive, member, draft / member.filename)
                _check_trace(source, draft)
                os.rename(draft, target)        # an empty folder that was made meanwhile is replaced, and nothing else
            except BaseException:
                shutil.rmtree(draft, ignore_errors=True)
                raise
    except (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError,
            OverflowError) as error:
        raise NotATraceError(f'{source}: no packed trace, or damaged: {error or type(error).__name__}') from error
    except OSError as error:
        raise TraceError(f'{source}: cannot be unpacked to {target}: {error.strerror or error}') from error


def _checked_members(source: Path, archive: zipfile.ZipFile, folder: Path) -> list[zipfile.ZipInfo]:
    """The files in an archive, all of them those of a trace, and not too large.

    Raises:
        NotATraceError, TraceError: They are not.
    """
    members = archive.infolist()
    names = [member.orig_filename for member in members]
    if MANIFEST not in names or len(members) > _MOST_MEMBERS:
        raise NotATraceError(f'{source}: no packed trace: there is no {MANIFEST} in it')
    for member in members:
        kind = stat.S_IFMT(member.external_attr >> 16)
        if not (member.orig_filename in (MANIFEST, LIST) or is_log(member.orig_filename)) or kind not in (0, stat.S_IFREG):
            what = 'a link or device' if kind not in (0, stat.S_IFREG, stat.S_IFDIR) else 'a file that is of no trace'
            raise NotATraceError(f'{source}: no packed trace: {member.orig_filename[:80]!r} in it is {what}')
        if member.flag_bits & 1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise NotATraceError(f'{source}: no packed trace: {member.orig_filename!r} is encrypted or packed differently')
    if len(set(names)) != len(names):
        raise NotATraceError(f'{source}: no packed trace: the same name is in it twice')
    size, packed = sum(member.file_size for member in members), source.stat().st_size
    if size > max(LARGEST_RATIO * packed, _FREE):
        raise NotATraceError(f'{source}: its {packed:,} bytes claim to unpack to {size:,}: no packed trace is so small')
    free = shutil.disk_usage(folder).free
    if size > _DISK_SHARE * free:
        raise TraceError(f'{source}: unpacks to {size:,} bytes, and {folder} has {free:,} free')
    return members


def _extract(source: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> None:
    """Write a file, no byte more than it is said to have; reading to its end tests the checksum."""
    left = member.file_size
    with archive.open(member) as content, open(path, 'xb') as file:
        while chunk := content.read(_CHUNK):
            left -= len(chunk)
            if left < 0:
                raise NotATraceError(f'{source}: {member.filename} in it is larger than it says')
            file.write(chunk)
    if left:
        raise NotATraceError(f'{source}: {member.filename} in it is shorter than it says')


def _check_trace(source: Path, folder: Path) -> None:
    """Check that the unpacked files begin as those of a trace, and give it its ledger."""
    try:
        read_manifest(folder)
        members = logs(folder)
        for log in members:
            for path in log.segments.values():
                LogReader(path).close()
    except TraceError as error:
        raise NotATraceError(f'{source}: no packed trace: {str(error).rpartition(str(folder))[2].lstrip("/: ")}') from error
    (folder / LEDGER).write_bytes(LEDGER_CONTENT.pack(sum(log.nbytes for log in members),
                                                      max([log.process for log in members], default=0)))

