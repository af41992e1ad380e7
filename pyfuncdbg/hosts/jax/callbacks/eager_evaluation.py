"""Eager evaluation by JAX for a command: outside of whatever this thread traces, and never longer than JAX can compute.

At a stop in a callback a thread of XLA's waits. Where all of them do, JAX computes nothing until one goes on: the work is
done on a thread of its own, and given up when JAX does not compute a small sum either.
"""
from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any, TypeVar

import numpy as np

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hosts.jax.jax_parts import JaxParts

_PATIENCE = 5.0
"""Seconds after which JAX is asked whether it computes."""
_SUM = 1 << 20
"""Elements of the sum: fewer are computed on the thread that asks."""
_STUCK = ('JAX computes nothing at this stop, for its threads wait in callbacks. Ask at a stop where none of them waits: '
          'on a line of the program, or where a function is traced')
_Result = TypeVar('_Result')


class _Work:
    """Work on a thread of its own."""

    def __init__(self, parts: JaxParts, work: Callable[[], Any]) -> None:
        self.value: Any = None
        self.error: BaseException | None = None
        self._parts = parts
        self._work = work
        wide = sys.modules['jax'].dtypes.canonicalize_dtype(np.float64)
        self._has_64_bits = wide.itemsize == 8  # a setting of the thread, perhaps
        self._done = threading.Event()
        context = copy_context()
        threading.Thread(target=lambda: context.run(self._do), name='pyfuncdbg evaluation', daemon=True).start()

    def _do(self) -> None:
        try:
            with _eager(self._parts, self._has_64_bits):
                self.value = self._work()
        except BaseException as error:          # raised on the thread that waits
            self.error = error
        self._done.set()

    def has_ended(self) -> bool:
        """Whether it ends soon."""
        return self._done.wait(_PATIENCE)


@contextmanager
def _eager(parts: JaxParts, has_64_bits: bool) -> Iterator[None]:
    """A block in which JAX evaluates each op at once, on the CPU.

    Without `jit`: JAX would keep programs that are traced here, and the program's next call would not trace them.
    """
    jax = sys.modules['jax']
    wide = jax.enable_x64 if hasattr(jax, 'enable_x64') else jax.experimental.enable_x64      # before 0.8
    with parts.core.eval_context(), jax.disable_jit(), wide(has_64_bits), jax.default_device(
            jax.local_devices(backend='cpu')[0]):
        yield


def evaluate(parts: JaxParts, work: Callable[[], _Result]) -> _Result:
    """What some work gives, which computes with JAX.

    Args:
        parts: Of JAX.
        work: Called in a copy of this context.

    Raises:
        CommandError: JAX does not compute.
    """
    started = _Work(parts, work)
    while not started.has_ended():
        if not _Work(parts, _sum).has_ended():
            raise CommandError(_STUCK)
    if started.error is not None:
        raise started.error
    return started.value  # type: ignore[no-any-return]


def _sum() -> float:
    return float((sys.modules['jax'].numpy.asarray(np.ones(_SUM, np.float32)) * 2).sum())
