"""Decoder from log contents to records: every field is checked, since a log may be damaged or hostile.

Called by readers of traces only.
"""
# long: one decoder for each kind of record; two fifths are documentation
from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Protocol, cast, get_args

import numpy as np

from pyfuncdbg.hooks.call import KINDS, Frame, Kind, RunKind
from pyfuncdbg.hooks.traits import NO_TRAITS, Traits, backward_step_traits, op_traits, traits_from_names
from pyfuncdbg.observers.record.dtypes import dtype_name
from pyfuncdbg.observers.record.index.tables import UNFINISHED
from pyfuncdbg.observers.record.log.call_batch import Batch
from pyfuncdbg.observers.record.log.log_file import KEY_SIZE
from pyfuncdbg.observers.record.records import (
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
from pyfuncdbg.observers.record.snapshots.site_notes import TRAITS
from pyfuncdbg.observers.record.snapshots.statistics import stats_of
from pyfuncdbg.observers.record.sources.source_text import SourceReader

_LEVELS: tuple[Level, ...] = ('none', 'stats', 'full')
_SAID = ('out', 'err', 'warning', 'log', 'fp', 'host')
_MOST_DIMENSIONS = 64
_LONGEST_NOTE = 1000
_LONGEST_NAME = 4096
_RUN_KINDS = frozenset(get_args(RunKind))
_PLAN = ('number', 'label', 'host', 'feeds', 'fetches', 'sites', 'kind')
_KINDS_BY_LABEL: tuple[tuple[re.Pattern[str], RunKind], ...] = (
    (re.compile(r'Session\.'), 'session'), (re.compile(r'\w+\.(gradients?|(batch_)?jacobian)\b'), 'backward'),
    (re.compile(r'eager |(functions and datasets|lines)$'), 'eager'), (re.compile(r'\w+ gradient$'), 'inner'))
_OWN_HOST = 'pyfuncdbg'
"""The name of the host whose ops are all our own."""

Summary = Callable[[bytes, str, tuple[int, ...]], Stats | None]
"""Statistics of the stored bytes under a key, read as a type and shape.

Raises:
    ValueError: They are not there or do not fit.
"""


def number(value: Any) -> int:
    """Check a field that is a number.

    Args:
        value: The field.

    Returns:
        An int of at most 64 bits, signed or unsigned.

    Raises:
        ValueError: It is something else.
    """
    if type(value) is not int or not -(1 << 63) <= value < 1 << 64:
        raise ValueError(f'expected a number, found {type(value).__name__}')
    return value


def text(value: Any) -> str:
    """Check a field that is text.

    Args:
        value: The field.

    Returns:
        The text.

    Raises:
        ValueError: It is something else.
    """
    if not isinstance(value, str):
        raise ValueError(f'expected text, found {type(value).__name__}')
    return value


def name_text(value: Any) -> str:
    """Check a field that is a name.

    Args:
        value: The field.

    Returns:
        The name, cut where it is longer than any name, path or type: views draw names whole.

    Raises:
        ValueError: It is no text.
    """
    return text(value)[:_LONGEST_NAME]


def list_of(value: Any, length: int | None = None) -> list[Any]:
    """Check a field that is a list.

    Args:
        value: The field.
        length: Its length; any if None.

    Returns:
        The list, its items unchecked.

    Raises:
        ValueError: It is something else.
    """
    if not isinstance(value, list) or (length is not None and len(value) != length):
        raise ValueError(f'expected a list{"" if length is None else f" of {length}"}')
    return value


def plan_fields(value: Any) -> list[Any]:
    """Check the fields of a plan; up to version 4 of the format the label tells its kind.

    Args:
        value: The record, decoded.

    Returns:
        Number, label, host, feeds, fetches, sites and kind.

    Raises:
        ValueError: It is no plan.
    """
    fields = list_of(value)
    if len(fields) == len(_PLAN) - 1:
        label = text(fields[1])
        fields = [*fields, next((kind for begin, kind in _KINDS_BY_LABEL if begin.match(label)), 'function')]
    if len(fields) != len(_PLAN) or fields[-1] not in _RUN_KINDS:
        raise ValueError(f'expected {", ".join(_PLAN)}')
    return fields


def texts(value: Any) -> tuple[str, ...]:
    """Check a field that is a list of text.

    Args:
        value: The field.

    Returns:
        The texts.

    Raises:
        ValueError: It is something else.
    """
    return tuple([text(item) for item in list_of(value)])


def text_by_name(value: Any) -> dict[str, str]:
    """Check a field that gives texts by name.

    Args:
        value: The field.

    Returns:
        The texts.

    Raises:
        ValueError: It is something else.
    """
    if not isinstance(value, dict):
        raise ValueError(f'expected a map, found {type(value).__name__}')
    return {text(name): text(item) for name, item in value.items()}


def call_number(process: int, call: int) -> str:
    """The number of a call as users write it.

    Args:
        process: Number of its process, from 1.
        call: Its id.

    Returns:
        '17', '2.17' in the second process, '' for id 0.
    """
    if not call:
        return ''
    return str(call) if process == 1 else f'{process}.{call}'


class SourceTexts(Protocol):
    """The source text of a trace."""

    def function(self, process: int, version: int, line: int, count: int) -> str:
        """The text of a function.

        Args:
            process: Number of its process.
            version: Number of the text of its file.
            line: Its first line.
            count: Its number of lines.

        Returns:
            '' if the trace does not hold it.
        """

    def reader(self, site: SiteRecord, versions: tuple[int, ...] | None = None) -> SourceReader:
        """The reader of the lines that a record of a site names.

        Args:
            site: Whose function may hold the line.
            versions: Numbers of the texts that its process had loaded; None if the trace has none.

        Returns:
            A function of file name and line.
        """


def site_record(fields: Any, process: int, sources: SourceTexts | None = None) -> SiteRecord:
    """Decode a site; until version 3 of the format its record had the text of its function.

    Args:
        fields: The record, decoded from msgpack.
        process: Number of its process.
        sources: Of the trace; None leaves the source out.

    Returns:
        The site.

    Raises:
        ValueError: It is no site.
    """
    id_, name, op_type, kind, host, function, filename, line, source, stack, inputs, outputs, attrs, *more = list_of(fields)
    if kind not in KINDS:
        raise ValueError('unknown kind of site')
    if not isinstance(attrs, dict) or not all(isinstance(key, str) for key in attrs):
        raise ValueError('wrong attributes')
    if isinstance(source, list):
        version, count = map(number, list_of(source, 2))
        source = sources.function(process, version, number(line), count) if sources is not None else ''
    site = SiteRecord(number(id_), process, name_text(name), name_text(op_type), cast(Kind, kind), name_text(host),
                      name_text(function), name_text(filename), number(line), text(source), frames_of(stack),
                      texts(inputs), texts(outputs), {key: value for key, value in attrs.items() if key != TRAITS},
                      _traits_of(attrs, name, op_type, kind, host))
    versions = tuple(map(number, list_of(*more))) if more else None
    return site if sources is None or versions is None else replace(site, _source=sources.reader(site, versions))


def _traits_of(attrs: dict[str, Any], name: str, op_type: str, kind: str, host: str) -> Traits:
    """The traits of a site; of one that was written before sites had any, what its op type tells."""
    if TRAITS in attrs:
        return traits_from_names(texts(attrs[TRAITS]))
    if kind == 'python':
        return NO_TRAITS
    if kind == 'gradient' and host != _OWN_HOST:
        return backward_step_traits(op_type)
    if kind == 'run' and name.startswith(('__backward_', 'Session.')):
        return Traits(backward_pass=name.startswith('__'), fed_run=name.startswith('Session.'))
    return op_traits(op_type)


def unknown_site(id_: int, process: int) -> SiteRecord:
    """Placeholder for a site whose record is lost.

    Args:
        id_: Its number in its process.
        process: Number of its process.

    Returns:
        A site named '?'.
    """
    return SiteRecord(id_, process, '?', '?', 'python', '?', '', '', 0, '', (), (), ())


def frames_of(stack: Any) -> tuple[Frame, ...]:
    """Decode a stack.

    Args:
        stack: [file, line, function] lists, unchecked.

    Returns:
        The frames, in that order.

    Raises:
        ValueError: It is something else.
    """
    return tuple([Frame(name_text(filename), number(line), name_text(name))
                  for filename, line, name in (list_of(item, 3) for item in list_of(stack))])


def stats_from(fields: Any) -> Stats | None:
    """Decode statistics.

    Args:
        fields: As the writer stored them; None for none.

    Returns:
        The statistics, or None.

    Raises:
        ValueError: It is something else.
    """
    if fields is None:
        return None
    values = list_of(fields, len(Stats.__slots__))
    size, nan, neg_inf, neg, zero, pos, pos_inf = [number(value) for value in values[:7]]
    low, high, mean, std = [value if value is None or isinstance(value, float) else number(value) for value in values[7:11]]
    histogram = tuple([number(count) for count in list_of(values[11])])
    first_bad = None if values[12] is None else tuple([number(i) for i in list_of(values[12])])
    return Stats(size, nan, neg_inf, neg, zero, pos, pos_inf, low, high, mean, std, histogram, first_bad)


def tensor_fields(entry: Any) -> tuple[str, tuple[int, ...], int, int, bytes | list[bytes] | None, bool, str, Any]:
    """Check the fields of a tensor description.

    Args:
        entry: The description.

    Returns:
        dtype, shape, bytes, level (0 to 2), payload (a key, or a list of the bytes themselves), changed, note, and
        statistics, which are still unchecked.

    Raises:
        ValueError: It is no description.
    """
    # The ninth, whether a number is NaN or infinite, is for the writer: readers test the numbers themselves.
    dtype, shape, nbytes, level, payload, changed, note, stats = list_of(entry)[:8]
    sizes = tuple([number(size) for size in list_of(shape)])
    if len(sizes) > _MOST_DIMENSIONS or any(not 0 <= size < 1 << 48 for size in sizes):
        raise ValueError('wrong shape')
    if level not in (0, 1, 2):
        raise ValueError('wrong level')
    inline = isinstance(payload, list) and len(payload) == 1 and isinstance(payload[0], bytes)
    if payload is not None and not inline and not (isinstance(payload, bytes) and len(payload) == KEY_SIZE):
        raise ValueError('wrong tensor payload')
    return text(dtype), sizes, number(nbytes), level, payload, changed is True, text(note)[:_LONGEST_NOTE], stats


def inline_bytes(key: bytes) -> bytes:
    """The reader of tensors whose bytes are in the call's own record.

    Args:
        key: The bytes.

    Returns:
        The bytes.
    """
    return key


def tensor_record(name: str, value: Any, read: ValueReader, summary: Summary | None) -> TensorRecord:
    """Decode a tensor.

    Args:
        name: In the graph, '' if unknown.
        value: A scalar of a batch, or a description.
        read: Reads bytes that are in a blob.
        summary: Computes the statistics of those; None leaves out all that are not written.

    Returns:
        The tensor; one of level 'none' whose note says 'damaged' if its bytes do not fit its type.

    Raises:
        ValueError: The description is none.
    """
    if isinstance(value, np.generic):
        array = np.asarray(value)
        return TensorRecord(name, dtype_name(array.dtype), (), array.nbytes, 'full',
                            stats_of(array) if summary is not None else None, array.tobytes(), _read=inline_bytes)
    dtype, shape, nbytes, level, payload, changed, note, packed = tensor_fields(value)
    stats = stats_from(packed)
    if payload is None:
        return TensorRecord(name, dtype, shape, nbytes, _LEVELS[level], stats, None, changed, note)
    key = payload if isinstance(payload, bytes) else payload[0]
    reader: ValueReader = read if isinstance(payload, bytes) else inline_bytes
    try:
        if stats is None and summary is not None:
            stats = summary(key, dtype, shape) if reader is read else _summary_of(key, dtype, shape)
    except ValueError as error:
        return TensorRecord(name, dtype, shape, nbytes, 'none', None, None, changed, f'damaged: {error}')
    return TensorRecord(name, dtype, shape, nbytes, _LEVELS[level], stats, key, changed, note, reader)


def _summary_of(data: bytes, dtype: str, shape: tuple[int, ...]) -> Stats | None:
    from pyfuncdbg.observers.record.array_bytes import array_from
    return stats_of(array_from(data, dtype, shape))


def output_records(items: Any, reader: Callable[[tuple[int, ...] | None], SourceReader]) -> tuple[OutputRecord, ...]:
    """Decode the output of a call; until version 3 of the format a warning did not say which text of its file it is of.

    Args:
        items: The list of the record.
        reader: Gives the reader of source lines for the numbers of loaded texts.

    Returns:
        The entries, in order.

    Raises:
        ValueError: An entry is none.
    """
    records = []
    for item in list_of(items):
        kind, said, category, filename, line, function, offset, *more = list_of(item)
        if kind not in _SAID:
            raise ValueError('unknown kind of output')
        records.append(OutputRecord(kind, text(said), text(category), text(filename), number(line or 0), text(function),
                                    number(offset) / 1e9, reader((number(*more),) if more else None)))
    return tuple(records)


def error_record(fields: Any, read: ValueReader, summary: Summary | None,
                 reader: Callable[[tuple[int, ...] | None], SourceReader]) -> ErrorRecord:
    """Decode an exception; version 1 of the format had no variables, version 2 no numbers of loaded texts.

    Args:
        fields: The list of the record.
        read: Reads bytes that are in a blob.
        summary: Computes the statistics of those.
        reader: Gives the reader of source lines for the numbers of loaded texts.

    Returns:
        The exception.

    Raises:
        ValueError: It is none.
    """
    kind, message, frames, traceback, *more = list_of(fields)
    stack = frames_of(frames)
    variables = _variables(more[0], len(stack), read, summary) if more else ()
    versions = tuple(map(number, list_of(more[1]))) if len(more) > 1 else None
    return ErrorRecord(text(kind), text(message), stack, text(traceback), variables, reader(versions))


def _variables(fields: Any, frames: int, read: ValueReader, summary: Summary | None) -> tuple[FrameRecord, ...]:
    if not list_of(fields):
        return ()
    described, frame_rows = list_of(fields, 2)
    tensors = [tensor_record('', entry, read, summary) for entry in list_of(described)]

    def variable(name: Any, kind: Any, value: Any) -> LocalRecord:
        if isinstance(value, str):
            return LocalRecord(text(name), text(kind), value)
        if not 0 <= number(value) < len(tensors):
            raise ValueError('wrong tensor of a variable')
        return LocalRecord(text(name), text(kind), '', tensors[value])
    records = []
    for index, hidden, rows in (list_of(frame, 3) for frame in list_of(frame_rows)):
        if not 0 <= number(index) < frames:
            raise ValueError('wrong frame of a variable')
        records.append(FrameRecord(index, tuple([variable(*list_of(row, 3)) for row in list_of(rows)]), number(hidden)))
    return tuple(records)


@dataclass(frozen=True, slots=True)
class CallNumbers:
    """Numeric columns of one call, as in `index.tables`; times are in nanoseconds."""

    process: int
    id: int
    run: int
    ordinal: int
    thread: int
    started: int
    duration: int
    forward: int
    parent: int

    def record(self, site: SiteRecord, inputs: tuple[TensorRecord, ...], outputs: tuple[TensorRecord, ...],
               output: tuple[OutputRecord, ...], error: ErrorRecord | None, **more: Any) -> CallRecord:
        """The record of the call.

        Args:
            site, inputs, outputs, output, error: What its batch says of it.
            **more: Further fields of `CallRecord`.

        Returns:
            The record, with times in seconds.
        """
        duration = None if self.duration == UNFINISHED else self.duration / 1e9
        return CallRecord(call_number(self.process, self.id), self.process, self.run, site, self.ordinal, self.thread,
                          self.started / 1e9, duration, inputs, outputs, output, error,
                          call_number(self.process, self.forward),
                          call_number(self.process, self.parent) if self.parent != -self.run else '', **more)


NUMBERS = tuple(field.name for field in fields(CallNumbers))
"""Columns that they come from, in their order."""


def call_record(batch: Batch, row: int, numbers: CallNumbers, site: SiteRecord,
                names: tuple[Sequence[str], Sequence[str]], read: ValueReader, summary: Summary | None, sources: SourceTexts,
                element: str = '', trace: object = None) -> CallRecord:
    """Decode one call of a batch.

    Args:
        batch: Checked columns.
        row: Of the call.
        numbers: Of the call.
        site: Of the call.
        names: Of input and output tensors.
        read, summary: For tensors whose bytes are elsewhere.
        sources: Of the trace.
        element: Of a dataset: what its run works on.
        trace: Where the call is.

    Returns:
        The call.

    Raises:
        ValueError: The row holds something else than a call.
    """
    inputs, outputs = batch.tensors(row)
    error = batch.error.get(row)
    lost = batch.lost.get(row) or {}
    if not isinstance(lost, dict):
        raise ValueError('wrong losses')
    reader = partial(sources.reader, site)
    return numbers.record(
        site, _tensor_records(names[0], inputs, read, summary), _tensor_records(names[1], outputs, read, summary),
        output_records(batch.output.get(row) or [], reader),
        error_record(error, read, summary, reader) if error is not None else None,
        dropped={text(kind): number(count) for kind, count in lost.items()}, element=element,
        sources=tuple([call_number(numbers.process, number(source)) for source in list_of(batch.sources.get(row) or [])]),
        _trace=trace, **_retry(numbers, batch.retries.get(row)))


def _retry(numbers: CallNumbers, fields: Any) -> dict[str, Any]:
    """The fields of a record about retries; of a run's own call by the number of the run."""
    if fields is None:
        return {}
    first, broken_off = list_of(fields, 2)
    return {'retry_of': call_number(numbers.process, -number(first) if numbers.id < 0 else number(first)),
            'broken_off': broken_off is True}


def damaged_call(numbers: CallNumbers, site: SiteRecord, why: str) -> CallRecord:
    """Placeholder for a call whose numbers alone can be read.

    Args:
        numbers: Of the call.
        site: Of the call.
        why: What is wrong with the rest.

    Returns:
        A call without tensors, whose output says so.
    """
    said = OutputRecord('err', f'[this call is damaged in the trace: {why}]')
    return numbers.record(site, (), (), (said,), None, dropped={'damaged': 1})


def _tensor_records(names: Sequence[str], values: Sequence[Any], read: ValueReader,
                    summary: Summary | None) -> tuple[TensorRecord, ...]:
    padded = [*names[:len(values)], *[''] * (len(values) - len(names))]
    return tuple([tensor_record(name, value, read, summary) for name, value in zip(padded, values, strict=True)])
