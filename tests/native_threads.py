"""Runs Python functions on threads that Python did not make, as a native runtime does: libc's pthread_create."""
from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable

_START = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


def run_native(functions: list[Callable[[], object]]) -> None:
    """Start one native thread for each function, wait for all of them, and raise the first error that one raised."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.pthread_create.argtypes = [ctypes.POINTER(ctypes.c_size_t), ctypes.c_void_p, _START, ctypes.c_void_p]
    libc.pthread_join.argtypes = [ctypes.c_size_t, ctypes.c_void_p]
    errors: list[BaseException] = []

    def started(function: Callable[[], object]) -> Callable[[int | None], None]:
        def start(_: int | None) -> None:
            try:
                function()
            except BaseException as error:      # it would only be printed by ctypes
                errors.append(error)
        return start

    entries = [_START(started(function)) for function in functions]
    threads = [ctypes.c_size_t() for _ in entries]
    for thread, entry in zip(threads, entries, strict=True):
        code = libc.pthread_create(ctypes.byref(thread), None, entry, None)
        if code:
            sys.exit(f'pthread_create failed: {code}')
    for thread in threads:
        libc.pthread_join(thread, None)
    if errors:
        raise errors[0]
