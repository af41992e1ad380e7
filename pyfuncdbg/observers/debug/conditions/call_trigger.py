"""Trigger of a flight recorder, made of conditions: evaluated when a call is over, on its thread.

It remembers what a condition asks of earlier calls, apart for each site.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyfuncdbg.errors import Retried
from pyfuncdbg.hooks.call import Call, CallSite
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hooks.signal_handlers import raise_program_error
from pyfuncdbg.observers.debug.conditions.binding import Memory, True_
from pyfuncdbg.observers.debug.conditions.compiled_expression import explain_error
from pyfuncdbg.observers.debug.conditions.past_calls import TooEarlyError
from pyfuncdbg.observers.debug.conditions.predicate import Predicate, condition, condition_text, truth

_ignoring = numpy_errstate.state
_MOST_SITES = 1 << 14


class CallTrigger:
    """Conditions over all calls.

    Attributes:
        text: The conditions as typed.
        remembers: Whether one looks back at earlier calls.
    """

    def __init__(self, *when: object) -> None:
        """Read them.

        Args:
            when: Each text, a Python function of the call, or a condition.

        Raises:
            CommandError: It is none of these, or no expression.
        """
        self._conditions = [TrippingCondition(one) for one in when]
        self.text = ', '.join(one.text for one in self._conditions)
        self.remembers = any(one.remembers for one in self._conditions)

    def begin(self, call: Call) -> None:
        """As in `Trigger`."""
        for one in self._conditions:
            one.begin(call)

    def trips(self, call: Call, outputs: Sequence[Any] | None, error: BaseException | None) -> str:
        """As in `Trigger`."""
        found = ''
        for one in self._conditions:            # all of them: they may look back at this call
            if one.trips(call, outputs, error) and not found:
                found = one.text
        return found

    def complaint(self) -> str:
        """As in `Trigger`."""
        several = len(self._conditions) > 1
        return '; '.join(f'{one.text}: {why}' if several else why for one in self._conditions if (why := one.complaint()))


class TrippingCondition:
    """A condition; it does not hold at calls of functions without its parameters.

    Attributes:
        text: As typed.
        remembers: Whether it looks back at earlier calls.
    """

    def __init__(self, when: object) -> None:
        """Read it.

        Args:
            when: Text, a Python function of the call, or a condition.

        Raises:
            CommandError: It is none of these, or no expression.
        """
        self._when: Predicate = condition(when)
        self.text = condition_text(self._when)
        self.remembers = self._when.remembers
        reads = self._when.reads
        self._of_errors = 'out' not in reads or 'error' in reads
        self._sites: dict[int, tuple[True_, list[Memory]]] = {}
        self._failures = 0
        self._unknown: dict[str, str] = {}
        self._evaluated = False

    def begin(self, call: Call) -> None:
        """A call begins."""
        for memory in self._at(call.site)[1]:
            memory.begin(call)

    def trips(self, call: Call, outputs: Sequence[Any] | None, error: BaseException | None) -> bool:
        """Whether it holds at a call that is over."""
        if error is not None and type(error) is Retried:
            return False
        holds, memories = self._at(call.site)
        token = _ignoring.set(numpy_errstate.IGNORE)        # floating-point errors of the condition are not the program's
        try:
            if error is not None and not self._of_errors:
                return False
            values = () if outputs is None else outputs
            for memory in memories:
                memory.observe(call, values, error)
            trips = truth(holds(call, values, error))
            self._evaluated = True
            return trips
        except TooEarlyError:                   # such as `history[-1].out` at the first call
            return False
        except NameError as raised:
            self._unknown.setdefault(raised.name or '', explain_error(raised))
            return False
        except Exception as raised:             # of the condition: reported once, and no trip
            self._note_failure(call, raised)
            return False
        finally:
            for memory in memories:
                memory.end(call, outputs)
            _ignoring.reset(token)

    def _at(self, site: CallSite) -> tuple[True_, list[Memory]]:
        entry = self._sites.get(site.id)
        if entry is None:
            memories: list[Memory] = []
            entry = self._when.at(site, memories), memories
            if len(self._sites) < _MOST_SITES:
                self._sites[site.id] = entry
        return entry

    def _note_failure(self, call: Call, error: Exception) -> None:
        raise_program_error(error)
        self._failures += 1
        if self._failures == 1:
            say(f'{self.text}: {type(error).__name__}: {explain_error(error)}, at call #{call.id} ({call.site.name}'
                f'[{call.ordinal}]); it counts as not met there')

    def complaint(self) -> str:
        """What kept it from being evaluated, '' if nothing."""
        if self._failures > 1:
            return f'it could not be evaluated at {self._failures:,} calls'
        if not self._evaluated and self._unknown:
            return next(iter(self._unknown.values()))
        return ''
