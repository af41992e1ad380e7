"""Calls of functions of this package in the processes of a cluster's workers, by a client.

On the event loop of the client. A worker that hangs delays no other, and no answer is awaited for longer than was said.
"""
from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable
from typing import Any

from pyfuncdbg.distributed.worker_plugin import worker_call
from pyfuncdbg.errors import AttachError, TraceError

_PATIENCE_WITH_SILENT = 1.0
"""Seconds for a worker that has not answered before: it gets the request, but delays the others no more."""
LONGEST = 300
"""Characters of what a worker says."""


class WorkerCalls:
    """Calls in workers.

    Args:
        client: A `distributed.Client`.
        patience: Seconds for each answer.
    """

    def __init__(self, client: Any, patience: float) -> None:
        self._client = client
        self._patience = patience
        self._silent: set[str] = set()

    async def wait_for(self, answer: Awaitable[Any]) -> Any:
        """What the cluster answers.

        Args:
            answer: What is awaited.

        Returns:
            The answer.

        Raises:
            TimeoutError: There is none in time.
        """
        return await asyncio.wait_for(answer, self._patience)

    async def ask(self, address: str, function: Callable[..., Any], *words: Any) -> Any:
        """What a function of this package answers in the process of a worker.

        Args:
            address: Of the worker.
            function: Of a module of this package; it is called there.
            *words: Its arguments.

        Returns:
            Its result.

        Raises:
            TraceError: What it raised there.
            Exception: What kept the worker from answering.
        """
        module = function.__module__.rpartition('.')[2]
        answer = self._client.run(worker_call(), module, function.__name__, *words, workers=[address], on_error='return')
        try:
            answers = await asyncio.wait_for(answer, min(self._patience, _PATIENCE_WITH_SILENT)
                                             if address in self._silent else self._patience)
        except TimeoutError:
            self._silent.add(address)
            raise
        self._silent.discard(address)
        if isinstance(result := answers[address], BaseException):
            raise result
        error, content = result
        if error:
            raise TraceError(str(error)[:LONGEST])
        return content

    async def ask_all(self, function: Callable[..., Any], *words: Any) -> dict[str, Any]:
        """What it answers in each worker that there is.

        Args:
            function, *words: As of `ask`.

        Returns:
            The results, or exceptions, by address.
        """
        addresses = list(await self.wait_for(self._client.nthreads()))
        answers = await asyncio.gather(*[self.ask(address, function, *words) for address in addresses],
                                       return_exceptions=True)
        return dict(zip(addresses, answers, strict=True))


def dask_distributed() -> Any:
    """Dask's package.

    Returns:
        The module `distributed`.

    Raises:
        AttachError: It cannot be imported.
    """
    try:
        return importlib.import_module('distributed')
    except ImportError as error:
        raise AttachError("pyfuncdbg.distributed needs Dask's `distributed`, which cannot be imported "
                          f"({error}). pip install 'pyfuncdbg[distributed]' installs it") from None


def error_text(error: BaseException) -> str:
    """What went wrong at a worker, on one line.

    Args:
        error: What was raised.

    Returns:
        The text.
    """
    if isinstance(error, TraceError):           # what was raised by a worker, as text
        return str(error)
    if isinstance(error, TimeoutError) and not str(error):
        return 'it did not answer in time'
    return f'{type(error).__name__}: {error}'.partition('\n')[0][:LONGEST]
