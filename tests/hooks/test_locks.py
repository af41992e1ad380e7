"""Locks in a forked child: free where another thread held them, held where the forking thread does."""
from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pyfuncdbg.hooks.forking_thread import parent_thread_id
from pyfuncdbg.hooks.locks import new_lock, new_rlock

pytestmark = pytest.mark.filterwarnings('ignore:.*multi-threaded.*fork:DeprecationWarning')


def in_child(work: Callable[[], bool]) -> bool:
    """What it gives in a forked child."""
    child = os.fork()
    if not child:
        good = False
        try:
            good = work()
        finally:
            os._exit(0 if good else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@contextmanager
def held_elsewhere(lock: Any) -> Iterator[None]:
    """Another thread holds it."""
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            done.wait(20)
    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(20)
    try:
        yield
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize('make', [new_lock, new_rlock, lambda: threading.Condition(new_rlock())])
def test_what_another_thread_holds_is_free_in_the_child_alone(make: Callable[[], Any]) -> None:
    lock = make()
    with held_elsewhere(lock):
        assert in_child(lambda: lock.acquire(timeout=2))
        assert not lock.acquire(timeout=0.01)
    assert lock.acquire(timeout=2)


def test_what_the_forking_thread_holds_it_holds_in_the_child() -> None:
    lock = new_rlock()

    def release() -> bool:
        lock.release()                          # once for each time of acquiring, and no more
        lock.release()
        with pytest.raises(RuntimeError):
            lock.release()
        return True
    with lock, lock:
        assert in_child(release)


def test_a_lock_that_is_gone_is_forgotten() -> None:
    kept = new_lock()
    gone = weakref.ref(new_lock())
    with held_elsewhere(kept):
        assert gone() is None and in_child(lambda: kept.acquire(timeout=2))


def test_two_threads_that_fork_at_once_know_themselves_in_their_children() -> None:
    here, good = threading.Barrier(2, timeout=20), []

    def fork() -> None:
        mine = threading.get_native_id()
        here.wait()
        good.extend([in_child(lambda: parent_thread_id() == mine and threading.get_native_id() != mine) for _ in range(20)])
    threads = [threading.Thread(target=fork) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert good == [True] * 40
