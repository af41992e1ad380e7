"""A program whose trace names lines of two files, and traces of it that name other files than it did."""
from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import numpy as np

from pyfuncdbg.observers.record.log import log_file
from pyfuncdbg.observers.record.log.batch_rows import RowContent, take_rows

HELPER = '''import warnings


def check(x):
    # before the line that warns
    warnings.warn('not a number')
    return x


def refuse(x):
    raise ValueError('refused')     # the line that raises


# far away from every line that was recorded: 17
'''
MAIN = '''import sys

import numpy as np

import helper
import pyfuncdbg
from pyfuncdbg import tf


def half(x):
    """Half of it."""
    return helper.check(x) / 2


def broken(x):
    return helper.refuse(x)


def made(x):
    # before the creation line
    halved = tf.py_function(half, [x], tf.float32)
    # after the creation line
    return halved


with pyfuncdbg.record(sys.argv[1]):
    made(tf.constant([1.0, np.nan]))
    with tf.GradientTape() as tape:
        x = tf.constant([1.0])
        tape.watch(x)
        y = made(x)
    tape.gradient(y, x)
    try:
        tf.py_function(broken, [x], tf.float32)
    except tf.errors.OpError:
        pass
# the last line of the program, which no record names
'''


def recorded(folder: Path) -> Path:
    """The trace of the program, whose files are written to a folder."""
    folder.mkdir(exist_ok=True)
    (folder / 'helper.py').write_text(HELPER)
    (folder / 'main.py').write_text(MAIN)
    trace = folder / 'program.pfd'
    subprocess.run([sys.executable, str(folder / 'main.py'), str(trace)], check=True, timeout=100,
                   stderr=subprocess.DEVNULL)
    return trace


def rewritten(trace: Path, target: Path, change: Callable[[int, Any], Any]) -> Path:
    """A copy of a trace whose records were changed, with right checksums; None from `change` leaves one out."""
    target.mkdir()
    (target / 'manifest.json').write_bytes((trace / 'manifest.json').read_bytes())
    (target / 'ledger').write_bytes((trace / 'ledger').read_bytes())
    for path in trace.glob('*.log'):
        reader = log_file.LogReader(path)
        written = log_file.LogFile(target / path.name)
        for found in reader.frames(log_file.HEADER_SIZE):
            if found.kind == log_file.BLOB:
                payload = reader.read(found.position, found.length)
            else:
                fields = change(found.kind, msgpack.unpackb(found.payload, strict_map_key=False))
                if fields is None:
                    continue
                payload = msgpack.packb(fields, unicode_errors='surrogatepass')
            written.append(log_file.frame(found.kind, payload))
        written.close()
        reader.close()
    return target


def renamed(fields: Any, names: dict[str, str]) -> Any:
    """The same content with other names of files."""
    if isinstance(fields, list):
        return [renamed(item, names) for item in fields]
    return names.get(fields, fields) if isinstance(fields, str) else fields


def without_marks(descriptions: list[Any]) -> list[Any]:
    """Descriptions of tensors that do not say whether a number is NaN or infinite."""
    return [entry if isinstance(entry, int) else entry[:8] for entry in descriptions]


def without_columns(fields: list[Any]) -> list[Any]:
    """A record of calls in which each array has a description."""
    payload = msgpack.packb(fields, unicode_errors='surrogatepass')
    content: list[Any] = msgpack.unpackb(take_rows(payload, np.ones(fields[0], bool), RowContent()), strict_map_key=False,
                                         unicode_errors='surrogatepass')
    return content


def as_version_2(kind: int, fields: Any) -> Any:
    """A record as version 2 of the format had it, without the text of functions."""
    if kind in (log_file.SOURCE, log_file.STATE):
        return None
    if kind == log_file.SITE:
        return [*fields[:8], '', *fields[9:13]]
    if kind == log_file.CALLS:
        fields = without_columns(fields)
        fields = [*fields[:2], *fields[4:13]]   # without flags, sizes and states
        fields[6] = without_marks(fields[6])
        fields[7] = [[row, [event[:7] for event in events]] for row, events in fields[7]]
        fields[8] = [[row, [*error[:4], error[4] and [without_marks(error[4][0]), error[4][1]]]] for row, error in fields[8]]
    return fields
