"""Table of calls as Parquet: a row for each call, with the statistics of its tensors.

Needs pyarrow, which is imported when a table is written.
"""
from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import IO, Any

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.records import CallRecord, TensorRecord
from pyfuncdbg.ui.commands.exports.exported_calls import ExportedCalls, plain_text, status

_ROWS = 10_000
"""Rows of a group, which are held in memory."""
_STATS = ('nan', 'neg_inf', 'pos_inf', 'zero')
_FIGURES = ('min', 'max', 'mean', 'std')
_MISSING = "export parquet needs pyarrow: pip install 'pyfuncdbg[parquet]'"


def write_call_parquet(calls: ExportedCalls, file: IO[bytes]) -> int:
    """Write a row for each call.

    Args:
        calls: The calls.
        file: To write to.

    Returns:
        How many calls were written.

    Raises:
        CommandError: pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise CommandError(_MISSING) from None
    schema = _schema(pyarrow)
    count = 0
    with pyarrow.parquet.ParquetWriter(file, schema) as writer:
        for rows in _groups(calls):
            writer.write_table(pyarrow.Table.from_pylist(rows, schema))
            count += len(rows)
        if not count:
            writer.write_table(schema.empty_table())
    return count


def _schema(pyarrow: Any) -> Any:
    """Types of the columns: as the records have them, shapes as lists, times in seconds since the trace began."""
    text, number, figure = pyarrow.string(), pyarrow.int64(), pyarrow.float64()
    tensor = pyarrow.struct([('name', text), ('dtype', text), ('shape', pyarrow.list_(number)), ('nbytes', number),
                             ('level', text), *((name, number) for name in _STATS), *((name, figure) for name in _FIGURES)])
    return pyarrow.schema([
        ('call', text), ('site', text), ('ordinal', number), ('kind', text), ('op_type', text), ('run', number),
        ('process', number), ('thread', number), ('started', figure), ('seconds', figure), ('status', text),
        ('function', text), ('file', text), ('line', number), ('forward', text), ('parent', text),
        ('inputs', pyarrow.list_(tensor)), ('outputs', pyarrow.list_(tensor)), ('printed', text), ('error_type', text),
        ('error', text)])


def _groups(calls: ExportedCalls) -> Iterator[list[dict[str, Any]]]:
    rows = map(_row, calls)
    while group := list(itertools.islice(rows, _ROWS)):
        yield group


def _row(call: CallRecord) -> dict[str, Any]:
    site, error = call.site, call.error
    row = {'call': call.number, 'site': site.name, 'ordinal': call.ordinal, 'kind': site.kind, 'op_type': site.op_type,
           'run': call.run, 'process': call.process, 'thread': call.thread, 'started': call.started,
           'seconds': call.duration, 'status': status(call), 'function': site.function, 'file': site.filename,
           'line': site.line or None, 'forward': call.forward or None, 'parent': call.parent or None,
           'printed': ''.join(one.text for one in call.output if one.kind in ('out', 'err')) or None,
           'error_type': error and error.type, 'error': error and error.message}
    return {name: plain_text(value) if isinstance(value, str) else value for name, value in row.items()} | {
        'inputs': list(map(_tensor, call.inputs)), 'outputs': list(map(_tensor, call.outputs))}


def _tensor(tensor: TensorRecord) -> dict[str, Any]:
    figures = {name: getattr(tensor.stats, name, None) for name in (*_STATS, *_FIGURES)}
    return {'name': plain_text(tensor.name), 'dtype': plain_text(tensor.dtype), 'shape': list(tensor.shape),
            'nbytes': tensor.nbytes, 'level': tensor.level, **figures}
