"""The cache of content hashes: keys that it has, keys that it forgets, and its memory."""
from __future__ import annotations

import hashlib
import tracemalloc

from pyfuncdbg.observers.record.log.key_cache import SLOTS, KeyCache


def key(number: int) -> bytes:
    return hashlib.md5(number.to_bytes(4, 'big'), usedforsecurity=False).digest()


def test_holds_what_was_added_until_it_is_cleared() -> None:
    cache = KeyCache(1 << 16)
    assert key(1) not in cache
    cache.add(key(1))
    cache.add(key(1))
    assert key(1) in cache and key(2) not in cache
    cache.clear()
    assert key(1) not in cache


def test_each_slot_has_the_newest_of_its_keys() -> None:
    cache = KeyCache(1)
    for number in range(10):
        cache.add(key(number))
        assert key(number) in cache
        assert not any(key(earlier) in cache for earlier in range(number))


def test_most_keys_of_a_dataset_are_there_in_the_next_epoch() -> None:
    cache = KeyCache()
    for number in range(60_000):
        cache.add(key(number))
    assert sum(key(number) in cache for number in range(60_000)) > 55_000


def test_memory_does_not_grow_with_the_number_of_keys() -> None:
    tracemalloc.start()
    try:
        cache = KeyCache()
        before, _ = tracemalloc.get_traced_memory()
        for number in range(50_000):
            cache.add(key(number))
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert before <= SLOTS * 8 + 4096 and after - before < 4096
