"""Thread setting of traced functions (`tf.config.threading`): most overlapping steps. By default one, on the caller's
thread.

Steps with effects keep the order of the program; stateless Python functions may overlap. The setting is global.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from pyfuncdbg.hooks.locks import new_lock

if TYPE_CHECKING:
    from pyfuncdbg.hosts.numpy.runtime.plans.parallel_runner import ThreadPool


class FunctionThreads:
    """The setting and its threads.

    Attributes:
        overlap: Whether steps may overlap; read at each call of a function.
    """

    def __init__(self) -> None:
        self._counts = {'inter': 0, 'intra': 0}
        self._pool: ThreadPool | None = None
        self._lock = new_lock()
        self.overlap = False

    def pool(self) -> ThreadPool:
        """The threads, created on demand."""
        from pyfuncdbg.hosts.numpy.runtime.plans.parallel_runner import ThreadPool
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPool(self._counts['inter'])
            return self._pool

    def set(self, kind: str, count: int) -> None:
        """Set a number of threads; existing ones end."""
        if not isinstance(count, int):
            raise TypeError(f'the number of threads is an int, not {count!r}')
        with self._lock:
            pool, self._pool = self._pool, None
            self._counts[kind] = count
            self.overlap = self._counts['inter'] > 1
        if pool is not None:
            pool.close()

    def get(self, kind: str) -> int:
        """The setting, 0 for the default."""
        return self._counts[kind]


function_threads = FunctionThreads()


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Set the number of overlapping steps of a traced function; 0 or 1: serial, on the caller's thread."""
    function_threads.set('inter', num_threads)


def get_inter_op_parallelism_threads() -> int:
    """The setting, 0 for the default."""
    return function_threads.get('inter')


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Set the number of threads of one op; only stored, for NumPy decides it."""
    function_threads.set('intra', num_threads)


def get_intra_op_parallelism_threads() -> int:
    """The setting, 0 for the default."""
    return function_threads.get('intra')
