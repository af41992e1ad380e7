"""Liveness of a Dask cluster's processes: whether one that is silent still answers.

A machine that has vanished, or a process that was stopped, closes no connection: who waits for an answer asks for a sign of
life meanwhile. On the event loop of the client or worker that waits.
"""
from __future__ import annotations

import asyncio
import importlib
import math
from collections.abc import Awaitable, Sequence
from typing import Any

SETTING = 'pyfuncdbg.task-silence'
"""Key of Dask's configuration: the time without an answer after which a process is gone."""
_SILENCE = '7s'
_INTERVAL = 1.5
"""Seconds that a request takes before the process is asked for a sign of life, and between such questions."""
_TURNS = 4
"""Turns of the event loop in a silence: a loop that was held itself does not miss an answer that has come meanwhile."""


class SilentProcessError(Exception):
    """A process that does not answer.

    Args:
        address: Its address.
        seconds: For how long it has not.
    """

    def __init__(self, address: str, seconds: float) -> None:
        super().__init__(f'it has not answered for {seconds:g} s')
        self.address = address


def silence() -> float:
    """Seconds without an answer after which a process is gone.

    Raises:
        ValueError: The setting is no time above 0.
    """
    dask: Any = importlib.import_module('dask')
    value = dask.config.get(SETTING, _SILENCE)
    try:
        seconds = float(importlib.import_module('dask.utils').parse_timedelta(value))
    except (KeyError, ValueError, TypeError, AttributeError):     # Dask's own: no unit, no number, no text
        seconds = 0.0
    if not 0 < seconds < math.inf:
        raise ValueError(f"{SETTING!r} of Dask's configuration is {value!r}; expected a time above 0, such as '7s' or "
                         "'2 minutes'")
    return seconds


async def in_time(answer: Awaitable[Any], address: str) -> Any:
    """An answer that takes no time.

    Raises:
        SilentProcessError: It does not come.
    """
    request = asyncio.ensure_future(answer)
    request.add_done_callback(_take_error)
    try:
        for _ in range(_TURNS):
            await asyncio.wait({request}, timeout=silence() / _TURNS)
            if request.done():
                return request.result()
        raise SilentProcessError(address, silence())
    finally:
        request.cancel()


async def while_alive(answer: Awaitable[Any], pool: Any, addresses: Sequence[str], seconds: float | None = None) -> Any:
    """An answer that may take long, as long as each of these processes answers.

    Args:
        answer: What is awaited.
        pool: The `ConnectionPool` of the client or worker that waits.
        addresses: Of the processes.
        seconds: How long one may be silent, if not `silence()`.

    Raises:
        SilentProcessError: One does not.
    """
    request = asyncio.ensure_future(answer)
    request.add_done_callback(_take_error)
    longest = silence() if seconds is None else seconds
    try:
        while True:
            await asyncio.wait({request}, timeout=_INTERVAL)
            if request.done():
                return request.result()
            alive = await asyncio.gather(*[_is_alive(pool, address, request, longest) for address in addresses])
            if not all(alive) and not request.done():
                raise SilentProcessError(addresses[alive.index(False)], longest)
    finally:
        request.cancel()


async def _is_alive(pool: Any, address: str, request: asyncio.Future[Any], seconds: float) -> bool:
    """Whether a process answers, or the request has been answered meanwhile."""
    question: asyncio.Future[Any] | None = None
    try:
        for _ in range(_TURNS):
            if question is None or question.done():     # an error of the connection, which may be a full backlog
                question = asyncio.ensure_future(_echo(pool, address))
                question.add_done_callback(_take_error)
            before = asyncio.get_running_loop().time()
            await asyncio.wait({question, request}, timeout=seconds / _TURNS, return_when=asyncio.FIRST_COMPLETED)
            if request.done() or (question.done() and not question.exception()):
                return True
            left = before + seconds / _TURNS - asyncio.get_running_loop().time()
            if question.done() and left > 0:
                await asyncio.wait({request}, timeout=left)
        return False
    finally:
        if question is not None:
            question.cancel()


async def _echo(pool: Any, address: str) -> None:
    comm = await pool.connect(address)
    try:
        await importlib.import_module('distributed.core').send_recv(comm, op='echo', data=None)
    finally:
        pool.reuse(address, comm)


def _take_error(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()                      # of one that nothing waits for any more: asyncio would report it
