"""Decoding of the states that calls began in.

A log may be hostile: values stay plain data here, in the form of `value_encoding`; who makes objects of them checks them.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgpack

from pyfuncdbg.observers.record.index.decode import list_of, number, text, texts
from pyfuncdbg.observers.record.log.call_batch import decode_msgpack
from pyfuncdbg.observers.record.snapshots.call_state import GENERATORS, SURROUNDINGS, VALUES


@dataclass(frozen=True, slots=True)
class GlobalVariable:
    """A global variable that a function reads: its value is encoded, and checked by who makes an object of it."""

    module: str
    name: str
    value: Any


@dataclass(frozen=True, slots=True)
class CallState:
    """The state that a call began in.

    Attributes:
        generators: States of the random generators of modules, by name ('random', 'numpy.random'); None if not known.
        op_generators: Those of the host's eager ops, with the seed under ''.
        function: The function with its closure and defaults, encoded; None if not known.
        variables: Global variables that it reads.
        unwatched: Names of those that were kept as they were at an earlier call: too large to compare at each.
        errstate: NumPy's error state; None if not known.
        filters: Of warnings: action, message, category as module and name, module, line.
        folder: The working folder, '' if not known.
        path: Where modules were searched.
        arguments: `sys.argv`; None if not known.
    """

    generators: Mapping[str, Any] | None = None
    op_generators: tuple[tuple[str, Any], ...] = ()
    function: Any = None
    variables: tuple[GlobalVariable, ...] = ()
    unwatched: tuple[str, ...] = ()
    errstate: Mapping[str, str] | None = None
    filters: tuple[Sequence[Any], ...] = ()
    folder: str = ''
    path: tuple[str, ...] = ()
    arguments: tuple[str, ...] | None = None
    numbers: tuple[int, int, int] = field(default=(0, 0, 0), compare=False)
    """Numbers of its records: equal ones of one process are the same state."""


def state_number(payload: bytes) -> int:
    """The number of a state record, without decoding the rest.

    Args:
        payload: Of the record.

    Returns:
        The number.

    Raises:
        ValueError: It is no state record.
    """
    try:
        unpacker = msgpack.Unpacker(max_buffer_size=max(1, len(payload)))
        unpacker.feed(payload[:16])
        if unpacker.read_array_header() != 3:
            raise ValueError('not a state')
        return number(unpacker.unpack())
    except (msgpack.UnpackException, TypeError) as error:
        raise ValueError(f'cannot be decoded: {type(error).__name__}') from error


def state_fields(payload: bytes) -> dict[str, Any]:
    """Decode a state record.

    Args:
        payload: Of the record.

    Returns:
        The fields of `CallState` that it gives.

    Raises:
        ValueError: It is damaged.
    """
    _, kind, body = list_of(decode_msgpack(payload), 3)
    if not isinstance(body, bytes):
        raise ValueError('wrong state')
    content = decode_msgpack(body)
    if kind == VALUES:
        function, variables, unwatched = list_of(content, 3)
        return {'function': function, 'unwatched': texts(unwatched), 'variables': tuple(
            [GlobalVariable(text(module), text(name), value) for module, name, value in (
                list_of(one, 3) for one in list_of(variables))])}
    if not isinstance(content, dict):
        raise ValueError('wrong state')
    if kind == GENERATORS:
        ops = [list_of(one, 2) for one in list_of(content.get('ops', []))]
        return {'generators': {name: list_of(content[name]) for name in ('random', 'numpy.random') if name in content},
                'op_generators': tuple([(text(name), state) for name, state in ops])}
    if kind == SURROUNDINGS:
        modes, arguments = content.get('errstate', {}), content.get('argv')
        return {'errstate': {text(key): text(mode) for key, mode in modes.items()},
                'folder': text(content.get('folder', '')), 'path': texts(content.get('path', [])),
                'arguments': None if arguments is None else texts(arguments),
                'filters': tuple([list_of(one, 5) for one in list_of(content.get('filters', []))])}
    raise ValueError('unknown kind of state')
