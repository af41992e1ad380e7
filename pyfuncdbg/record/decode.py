"""From log contents to the records that queries give: every field is checked, for a log may be damaged or hostile.

Called by readers of traces only.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from pyfuncdbg.hooks.call import KINDS, Frame, Kind
from pyfuncdbg.record.batch import Batch
from pyfuncdbg.record.dtypes import dtype_name
from pyfuncdbg.record.frames import KEY_SIZE
from pyfuncdbg.record.records import (
    CallRecord,
    ErrorRecord,
    FrameRecord,
    Level,
    LocalRecord,
    OutputRecord,
    SiteRecord,
    Stats,
    TensorRecord,
    ValueReader,
)
from pyfuncdbg.record.statistics import stats_of

_LEVELS: tuple[Level, ...] = ('none', 'stats', 'full')
_SAID = ('out', 'err', 'warning', 'log', 'fp', 'host')
_MOST_DIMENSIONS = 64

Summary = Callable[[bytes, str, tuple[int, ...]], Stats | None]
"""Statistics of the stored bytes under a key, read as a type and shape.

Raises:
    ValueError: They are not there or do not fit.
"""


def number(value: Any) -> int:
    """An int of at most 64 bits (unsigned ones too), nothing else."""
    if type(value) is not int or not -(1 << 63) <= value < 1 << 64:
        raise ValueError(f'expected a number, found {type(value).__name__}')
    return value


def text(value: Any) -> str:
    """A str, nothing else."""
    if not isinstance(value, str):
        raise ValueError(f'expected text, found {type(value).__name__}')
    return value


def listed(value: Any, length: int | None = None) -> list[Any]:
    """A list, of this length if one is given."""
    if not isinstance(value, list) or (length is not None and len(value) != length):
        raise ValueError(f'expected a list{"" if length is None else f" of {length}"}')
    return value


def texts(value: Any) -> tuple[str, ...]:
    """A list of str as a tuple."""
    return tuple([text(item) for item in listed(value)])


def call_number(process: int, call: int) -> str:
    """How the user names a call; '' for none."""
    if not call:
        return ''
    return str(call) if process == 1 else f'{process}.{call}'


def site_record(fields: Any, process: int) -> SiteRecord:
    """A site from its log record.

    Raises:
        ValueError: It is none.
    """
    (id_, name, op_type, kind, host, function, filename, line, source, stack, inputs, outputs, attrs) = listed(fields, 13)
    if kind not in KINDS:
        raise ValueError('unknown kind of site')
    if not isinstance(attrs, dict) or not all(isinstance(key, str) for key in attrs):
        raise ValueError('wrong attributes')
    return SiteRecord(number(id_), process, text(name), text(op_type), cast(Kind, kind), text(host), text(function),
                      text(filename), number(line), text(source), frames_of(stack), texts(inputs), texts(outputs), attrs)


def unknown_site(id_: int, process: int) -> SiteRecord:
    """Stands for a site whose record is lost."""
    return SiteRecord(id_, process, '?', '?', 'python', '?', '', '', 0, '', (), (), ())


def frames_of(stack: Any) -> tuple[Frame, ...]:
    """Frames from [file, line, function] lists."""
    return tuple([Frame(text(f), number(n), text(name)) for f, n, name in (listed(item, 3) for item in listed(stack))])


def stats_from(fields: Any) -> Stats | None:
    """Statistics as the writer stored them."""
    if fields is None:
        return None
    values = listed(fields, len(Stats.__slots__))
    size, nan, neg_inf, neg, zero, pos, pos_inf = [number(value) for value in values[:7]]
    low, high, mean, std = [value if value is None or isinstance(value, float) else number(value) for value in values[7:11]]
    histogram = tuple([number(count) for count in listed(values[11])])
    first_bad = None if values[12] is None else tuple([number(i) for i in listed(values[12])])
    return Stats(size, nan, neg_inf, neg, zero, pos, pos_inf, low, high, mean, std, histogram, first_bad)


def tensor_fields(entry: Any) -> tuple[str, tuple[int, ...], int, int, bytes | list[bytes] | None, bool, str, Any]:
    """The checked fields of a tensor description; the payload is a key, or a list of the bytes themselves."""
    dtype, shape, nbytes, level, payload, changed, note, stats = listed(entry, 8)
    sizes = tuple([number(size) for size in listed(shape)])
    if len(sizes) > _MOST_DIMENSIONS or any(not 0 <= size < 1 << 48 for size in sizes):
        raise ValueError('wrong shape')
    if level not in (0, 1, 2):
        raise ValueError('wrong level')
    inline = isinstance(payload, list) and len(payload) == 1 and isinstance(payload[0], bytes)
    if payload is not None and not inline and not (isinstance(payload, bytes) and len(payload) == KEY_SIZE):
        raise ValueError('wrong tensor payload')
    return text(dtype), sizes, number(nbytes), level, payload, changed is True, text(note), stats


def inline_bytes(key: bytes) -> bytes:
    """The reader of tensors whose bytes are in the call's own record: their key is the bytes."""
    return key


def tensor_record(name: str, value: Any, read: ValueReader, summary: Summary) -> TensorRecord:
    """A tensor from a scalar of a batch or a description.

    Raises:
        ValueError: The description is none.
    """
    if isinstance(value, np.generic):
        array = np.asarray(value)
        return TensorRecord(name, dtype_name(array.dtype), (), array.nbytes, 'full', stats_of(array), array.tobytes(),
                            _read=inline_bytes)
    dtype, shape, nbytes, level, payload, changed, note, packed = tensor_fields(value)
    stats = stats_from(packed)
    if payload is None:
        return TensorRecord(name, dtype, shape, nbytes, _LEVELS[level], stats, None, changed, note)
    key = payload if isinstance(payload, bytes) else payload[0]
    reader: ValueReader = read if isinstance(payload, bytes) else inline_bytes
    try:
        if stats is None:
            stats = summary(key, dtype, shape) if reader is read else _summary_of(key, dtype, shape)
    except ValueError as error:
        return TensorRecord(name, dtype, shape, nbytes, 'none', None, None, changed, f'damaged: {error}')
    return TensorRecord(name, dtype, shape, nbytes, _LEVELS[level], stats, key, changed, note, reader)


def _summary_of(data: bytes, dtype: str, shape: tuple[int, ...]) -> Stats | None:
    from pyfuncdbg.record.snapshot import array_from
    return stats_of(array_from(data, dtype, shape))


def output_records(items: Any) -> tuple[OutputRecord, ...]:
    """What a call said."""
    records = []
    for item in listed(items):
        kind, said, category, filename, line, function, offset = listed(item, 7)
        if kind not in _SAID:
            raise ValueError('unknown kind of output')
        records.append(OutputRecord(kind, text(said), text(category), text(filename), number(line or 0), text(function),
                                    number(offset) / 1e9))
    return tuple(records)


def error_record(fields: Any, read: ValueReader, summary: Summary) -> ErrorRecord:
    """An exception; version 1 of the format had no variables."""
    kind, message, frames, traceback, *more = listed(fields)
    found = frames_of(frames)
    variables = _variables(more[0], len(found), read, summary) if more else ()
    return ErrorRecord(text(kind), text(message), found, text(traceback), variables)


def _variables(fields: Any, frames: int, read: ValueReader, summary: Summary) -> tuple[FrameRecord, ...]:
    if not listed(fields):
        return ()
    described, found = listed(fields, 2)
    tensors = [tensor_record('', entry, read, summary) for entry in listed(described)]

    def variable(name: Any, kind: Any, value: Any) -> LocalRecord:
        if isinstance(value, str):
            return LocalRecord(text(name), text(kind), value)
        if not 0 <= number(value) < len(tensors):
            raise ValueError('wrong tensor of a variable')
        return LocalRecord(text(name), text(kind), '', tensors[value])
    records = []
    for index, hidden, rows in (listed(frame, 3) for frame in listed(found)):
        if not 0 <= number(index) < frames:
            raise ValueError('wrong frame of a variable')
        records.append(FrameRecord(index, tuple([variable(*listed(row, 3)) for row in listed(rows)]), number(hidden)))
    return tuple(records)


def call_record(batch: Batch, row: int, process: int, site: SiteRecord, seconds: Callable[[int], float],
                names: tuple[Sequence[str], Sequence[str]], read: ValueReader, summary: Summary,
                element: str = '') -> CallRecord:
    """One call of a batch.

    Args:
        batch: Checked columns.
        row: Which call.
        process: Whose log it is.
        site: Where it was made.
        seconds: From the log's clock to seconds since the trace began.
        names: Of input and output tensors.
        read, summary: For tensors whose bytes are elsewhere.
        element: Of a dataset: what its run works on.

    Raises:
        ValueError: The row holds something else than a call.
    """
    numbers = batch.row(row)
    inputs, outputs = batch.tensors(row)
    started, finished = numbers['started'], numbers['finished']
    error = batch.error.get(row)
    lost = batch.lost.get(row) or {}
    if not isinstance(lost, dict):
        raise ValueError('wrong losses')
    return CallRecord(
        call_number(process, numbers['id']), process, numbers['run'], site, numbers['ordinal'], numbers['thread'],
        seconds(started), (finished - started) / 1e9 if finished else None,
        _tensor_records(names[0], inputs, read, summary), _tensor_records(names[1], outputs, read, summary),
        output_records(batch.output.get(row) or []), error_record(error, read, summary) if error is not None else None,
        call_number(process, numbers['forward']),
        call_number(process, numbers['parent']) if numbers['parent'] != -numbers['run'] else '',
        {text(kind): number(count) for kind, count in lost.items()},
        tuple([call_number(process, number(source)) for source in listed(batch.sources.get(row) or [])]), element)


def damaged_call(batch: Batch, row: int, process: int, site: SiteRecord, seconds: Callable[[int], float],
                 why: str) -> CallRecord:
    """Stands for a call of which only the numbers can be read."""
    numbers = batch.row(row)
    started, finished = numbers['started'], numbers['finished']
    said = OutputRecord('err', f'[this call is damaged in the trace: {why}]')
    return CallRecord(call_number(process, numbers['id']), process, numbers['run'], site, numbers['ordinal'],
                      numbers['thread'], seconds(started), (finished - started) / 1e9 if finished else None, (), (), (said,),
                      None, dropped={'damaged': 1})


def _tensor_records(names: Sequence[str], values: Sequence[Any], read: ValueReader,
                    summary: Summary) -> tuple[TensorRecord, ...]:
    padded = [*names[:len(values)], *[''] * (len(values) - len(names))]
    return tuple([tensor_record(name, value, read, summary) for name, value in zip(padded, values, strict=True)])
