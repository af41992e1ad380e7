"""The native id of a thread, also in a child that is not forked by the main thread."""
from __future__ import annotations

import os
import threading

import pytest

from pyfuncdbg.hooks.native_thread import native_thread


def test_each_thread_has_its_own() -> None:
    numbers: list[tuple[int, int]] = []

    def ask() -> None:
        numbers.append((native_thread(), threading.get_native_id()))
    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    ask()
    assert numbers[0][0] == numbers[0][1] != numbers[1][0] == numbers[1][1]


@pytest.mark.skipif(not hasattr(os, 'fork'), reason='no fork')
def test_a_child_that_any_thread_has_forked_has_another_one() -> None:
    codes: list[int] = []

    def fork() -> None:
        native_thread()
        child = os.fork()
        if not child:
            os._exit(0 if native_thread() == threading.get_native_id() else 1)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    thread = threading.Thread(target=fork)
    thread.start()
    thread.join()
    fork()
    assert codes == [0, 0]
