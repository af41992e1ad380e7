"""Weak keys against `weakref.WeakKeyDictionary`, and that no line of Python runs where one goes."""
from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

from hypothesis import given, strategies as st

from pyfuncdbg.hooks.weak_keys import WeakKeys


class Key:
    """Equal ones are one key."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and other.number == self.number

    def __hash__(self) -> int:
        return hash(self.number)


STEPS = st.lists(max_size=40, elements=st.tuples(st.sampled_from(['set', 'default', 'pop', 'drop', 'del', 'clear']),
                                                 st.integers(0, 3), st.integers()))


@given(STEPS)
def test_it_holds_what_a_weak_key_dictionary_holds(steps: list[tuple[str, int, int]]) -> None:
    ours: WeakKeys[Key, int] = WeakKeys()
    theirs: weakref.WeakKeyDictionary[Key, int] = weakref.WeakKeyDictionary()
    alive = {number: [Key(number), Key(number)] for number in range(4)}
    for what, number, value in steps:
        key = alive[number][value % 2]
        if what == 'set':
            ours[key] = theirs[key] = value
        elif what == 'default':
            assert ours.setdefault(key, value) == theirs.setdefault(key, value)
        elif what == 'pop':
            assert ours.pop(key) == theirs.pop(key, None)
        elif what == 'drop':
            alive[number] = [Key(number), Key(number)]
        elif what == 'del' and key in theirs:
            del ours[key], theirs[key]
        elif what == 'clear' and value % 3 == 0:
            ours.clear()
            theirs.clear()
        del key
        assert [(one.number, held) for one, held in ours.items()] == [(one.number, held) for one, held in theirs.items()]
        assert len(ours) == len(theirs) and [*ours] == [*theirs]
        for one in alive.values():
            assert ours.get(one[0]) == theirs.get(one[0]) and (one[0] in ours) == (one[0] in theirs)


def test_no_python_runs_where_a_key_goes() -> None:
    table: WeakKeys[Key, int] = WeakKeys()
    keys = [Key(number) for number in range(5)]
    for key in keys:
        table[key] = key.number
    cycle = keys.pop()
    cycle.itself = cycle                        # type: ignore[attr-defined]
    del key, cycle
    called: list[Any] = []
    sys.setprofile(lambda frame, event, argument: called.append(frame.f_code.co_filename) if event == 'call' else None)
    keys.clear()
    gc.collect()
    sys.setprofile(None)
    assert not [one for one in called if 'weak' in one] and len(table) == 0      # other packages hear of collections


def test_it_goes_itself() -> None:
    table: WeakKeys[Key, int] = WeakKeys()
    key = Key(1)
    table[key] = 1
    weak = weakref.ref(table)
    del table
    gc.collect()
    assert weak() is None and weakref.getweakrefcount(key) == 0
