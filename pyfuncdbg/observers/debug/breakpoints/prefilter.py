"""Pre-filter of one site: tests its conditions on the values of a call before a `Call` is made.

A condition that is false at nearly every call costs little that way. Where one is true, or cannot be decided, the call goes
through the hooks and is tested there once more: so only conditions without side effects are tested here. Made when a site
is met, called on the threads of the calls.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.observers.debug.breakpoints.breakpoint import Breakpoint
from pyfuncdbg.observers.debug.conditions.binding import OfValues
from pyfuncdbg.observers.debug.conditions.predicate import truth
from pyfuncdbg.observers.debug.inspecting.saved_inputs import Saved, save

_ignoring = numpy_errstate.state
_ndarray = np.ndarray


@dataclass(frozen=True, slots=True)
class SiteGate:
    """The gate of a site, as hooks know it."""

    needs_outputs: bool
    opens: OfValues

    def save(self, inputs: Sequence[Any]) -> Saved | None:
        """A copy of the inputs for `retry`, made before the function can write to them."""
        return save(inputs)


class PrefilterOwner(Protocol):
    """The entry in the table that a breakpoint belongs to."""

    breakpoint: Breakpoint
    evaluated: bool


def make_gate(site: CallSite, owners: Sequence[PrefilterOwner]) -> SiteGate | None:
    """The gate for all breakpoints at a site together; None if a call is needed to test one of them."""
    breakpoints = [owner.breakpoint for owner in owners]
    timings = {one.timing for one in breakpoints}
    conditions = [condition for one in breakpoints if (condition := _condition(site, one)) is not None]
    if len(conditions) != len(breakpoints) or timings not in ({'before'}, {'after-call'}):
        return None
    tests = [_test(condition, owner) for condition, owner in zip(conditions, owners, strict=True)]
    return SiteGate(timings == {'after-call'},
                    tests[0] if len(tests) == 1 else lambda *given: any(test(*given) for test in tests))


def _condition(site: CallSite, breakpoint: Breakpoint) -> OfValues | None:
    """The test for a hit, None if that cannot be decided from the values."""
    only_ordinal = breakpoint.spec.ordinal
    test = None if breakpoint.when is None else breakpoint.when.of_values(site)
    if only_ordinal is None:
        return test
    if breakpoint.when is None or test is None:     # what is asked of that one call is asked when there is a `Call`
        return lambda run, ordinal, inputs, outputs: ordinal == only_ordinal
    return lambda run, ordinal, inputs, outputs: ordinal == only_ordinal and test(run, ordinal, inputs, outputs)


def _test(condition: OfValues, owner: PrefilterOwner) -> OfValues:
    wanted = owner.breakpoint.spec.ordinal

    def opens(run: Run, ordinal: int, inputs: Sequence[Any], outputs: Sequence[Any]) -> bool:
        # Floating-point errors of the condition are not the program's.
        token = _ignoring.set(numpy_errstate.IGNORE)
        try:
            if wanted is None or ordinal == wanted:
                owner.evaluated = True
            value = condition(run, ordinal, inputs, outputs)
            return bool(value if type(value) is not _ndarray else truth(value))
        except Exception:                       # an error of the condition: shown where the call is tested
            return True
        finally:
            _ignoring.reset(token)
    return opens
