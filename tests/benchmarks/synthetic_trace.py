"""Makes traces of millions of calls in seconds: one record of calls, encoded once, written again with other numbers.

The values are blobs over holes of the log, of which a disk keeps nothing; they are zeros, and their checksums are right.
"""
from __future__ import annotations

import os
import sys
from pathlib import Path

import msgpack
import numpy as np
import xxhash

sys.path.insert(0, str(Path(__file__).parent.parent))
from written_trace import CREATED, PID, tensor, write_trace

from pyfuncdbg.observers.record.log import log_file, run_batch
from pyfuncdbg.observers.record.log.columns import MOST_ROWS, pack
from pyfuncdbg.observers.record.log.log_file import BLOB, KEY_SIZE, frame
from pyfuncdbg.observers.record.records import CallRecord, ErrorRecord, OutputRecord, SiteRecord

SITES = 10
CALLS_A_RUN = 10
THREADS = 4
_STEP = 100_000
"""Nanoseconds from call to call."""


def make(path: Path, calls: int, blob_bytes: int = 0, blobs: int = 64) -> None:
    """Write a trace of calls of ten sites, ten a run, on four threads, which end out of order.

    In each record of 512 calls one raised, one prints, and two have a NaN.

    Args:
        path: Of the trace.
        calls: How many; rounded up to whole records.
        blob_bytes: Bytes of all blobs.
        blobs: How many there are, spread over the log.
    """
    write_trace(path, [_call(number) for number in range(MOST_ROWS)], complete=False)
    log = path / f'{PID}-0001.log'
    frames = list(log_file.LogReader(log).frames(0))
    body = next(each.payload for each in frames if each.kind == log_file.CALLS)
    unpacker = msgpack.Unpacker()
    unpacker.feed(body)
    unpacker.read_array_header()
    begin = unpacker.tell()
    unpacker.unpack()                           # the count, and then the columns
    unpacker.skip()
    head, tail = body[:begin], body[unpacker.tell():]
    records = -(-calls // MOST_ROWS)
    places = set(np.linspace(0, records, blobs, endpoint=False, dtype=int).tolist()) if blob_bytes else set()
    with open(log, 'r+b') as file:
        file.truncate(next(each.start for each in frames if each.kind == log_file.CALLS))
        file.seek(0, os.SEEK_END)
        file.write(b''.join(frame(log_file.PLAN, msgpack.packb([1, 'train', 'pyfuncdbg', [], [], b'', 'session']))))
        zeros = _frame_of_zeros(blob_bytes // max(1, len(places))) if places else b''
        for record in range(records):
            if record in places:
                file.write(zeros)
                file.seek(blob_bytes // len(places), os.SEEK_CUR)
            runs, columns = _columns(record * MOST_ROWS)
            file.write(b''.join(frame(log_file.RUNS, runs)))
            file.write(b''.join(frame(log_file.CALLS, head, msgpack.packb(MOST_ROWS), columns, tail)))
        file.write(b''.join(frame(log_file.END, msgpack.packb([CREATED, records * MOST_ROWS * _STEP]))))


def _frame_of_zeros(length: int) -> bytes:
    """The frame and key of a blob of zeros."""
    zeros, total = bytes(1 << 20), KEY_SIZE + length
    parts = [zeros] * (length >> 20) + [zeros[:length & (1 << 20) - 1]]
    content = xxhash.xxh3_128()
    for part in parts:
        content.update(part)
    check = xxhash.xxh3_64(content.digest(), seed=total << 8 | BLOB)
    for part in parts:
        check.update(part)
    key = content.digest()
    return log_file._FRAME.pack(total, BLOB, log_file.blob_guard(total, key), check.intdigest()) + key


def _columns(first: int) -> tuple[bytes, bytes]:
    """The runs and the numbers of a record of calls."""
    number = first + np.arange(MOST_ROWS) + np.tile([1, -1], MOST_ROWS // 2)        # neighbours end in each other's order
    run = number // CALLS_A_RUN + 1
    started, threads = number * _STEP, 139_000_000_000_000 + number % THREADS * 8_392_704
    columns = [number + 1, run, number % SITES + 1, number // SITES, threads, started, started + 50_000 + number % 977,
               np.zeros(MOST_ROWS), np.zeros(MOST_ROWS)]
    begun = [(int(each), 1, int(each) * CALLS_A_RUN * _STEP) for each in np.unique(run) if (each - 1) * CALLS_A_RUN >= first]
    return msgpack.packb(run_batch.encode(begun)), msgpack.packb([pack(column) for column in columns])


def _call(number: int) -> CallRecord:
    site = SiteRecord(number % SITES + 1, 1, f'layer{number % SITES}/step', 'EagerPyFunc', 'python', 'pyfuncdbg', 'step',
                      'model.py', 7, '', (), ('x',), ('y',))
    x = np.full(4, number, np.float32)
    if number in (100, 300):
        x = x * np.nan
    output = (OutputRecord('out', 'step 3\n', 0.0),) if number == 3 else ()
    error = ErrorRecord('ValueError', 'no gradient', (), '') if number == 499 else None
    return CallRecord(str(number + 1), 1, 0, site, number // SITES, 1, number / 1e4, 1e-4, (tensor('x', x),),
                      () if error else (tensor('y', x * 2),), output, error)


if __name__ == '__main__':
    make(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0)
