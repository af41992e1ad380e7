"""The objects of the program, for those who look for one among all."""
from __future__ import annotations

import gc
import sys
from typing import Any

_AT_ONCE = 1000


def living() -> list[Any]:
    """Every object that the garbage collector knows, and what of those that the program has frozen is in use.

    `gc.get_objects` leaves out what `gc.freeze` was told of, in a server mostly all there is. To unfreeze it would undo what
    the program wanted, so it is found by following what refers to it: a few seconds for a million objects.
    """
    found = gc.get_objects()
    if not gc.get_freeze_count():
        return found
    known = set(map(id, found))
    pending = [*found, *sys.modules.values()]
    while pending:
        referents = gc.get_referents(*pending[-_AT_ONCE:])
        del pending[-_AT_ONCE:]
        by_id = dict(zip(map(id, referents), referents, strict=True))
        for key in by_id.keys() - known:
            known.add(key)
            thing = by_id[key]
            if gc.is_tracked(thing):
                found.append(thing)
                pending.append(thing)
    return found
