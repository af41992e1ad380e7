"""The breakpoints at one site: what is tested before a call, after it and where it raised.

Made when a site is called for the first time, kept until breakpoints change; runs on the threads of the calls. A false
condition costs the way through here on every call, so that is short.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from pyfuncdbg.hooks.call import Call, CallSite
from pyfuncdbg.hooks.chain import report_failure
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.observers.debug.breakpoints.breakpoint import Breakpoint, Hit
from pyfuncdbg.observers.debug.conditions.binding import Memory, True_
from pyfuncdbg.observers.debug.conditions.compiled_expression import UNLESS_PARAMETER
from pyfuncdbg.observers.debug.conditions.enclosing_names import enclosing_names
from pyfuncdbg.observers.debug.conditions.function_parameters import array_reader, parameter_names
from pyfuncdbg.observers.debug.conditions.past_calls import TooEarlyError, copied_value
from pyfuncdbg.observers.debug.conditions.predicate import truth

_ignoring = numpy_errstate.state
_ndarray = np.ndarray
_UNFINISHED = 256


class TestOwner(Protocol):
    """The entry in the table that a breakpoint at a site belongs to."""

    breakpoint: Breakpoint
    evaluated: bool

    def count_hit(self, call: Call | None) -> bool:
        """Count a hit; whether to act at it."""

    def count_failure(self, error: Exception) -> bool:
        """Count an error of the condition; whether to stop at it."""

    def log(self, call: Call, outputs: Sequence[Any] | None, error: BaseException | None) -> None:
        """Carry out `--do log`."""

    def elsewhere(self, name: str | None) -> bool:
        """Whether another function that is meant has a parameter of a name."""

    def snap(self, call: Call, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Carry out `--do snap`, when the call is over."""


class SiteTest:
    """One breakpoint at one site.

    Attributes:
        owner: Its entry in the table.
    """

    __slots__ = ('_inputs', '_memories', '_read', '_snaps', '_true', 'owner', 'remembers')

    def __init__(self, owner: TestOwner, site: CallSite) -> None:
        self.owner = owner
        breakpoint = owner.breakpoint
        self._memories: list[Memory] = []
        when, spec = breakpoint.when, breakpoint.spec
        true: True_ = _always if when is None else _note_evaluated(owner, when.at(site, self._memories))
        own = {*(parameter_names(site.function) or ()), *enclosing_names(site.function).own, *UNLESS_PARAMETER}
        others = {name for one in (when.expressions() if when is not None else ()) for name in one.parameters} - own
        if others:                              # variables of the module, unless another of the functions meant has them
            true = _restrict_to(lambda call: not any(map(owner.elsewhere, others)), true)
        if spec.kind == 'call':
            true = _restrict_to(lambda call: call.id == spec.number, true)
        elif spec.ordinal is not None:
            true = _restrict_to(lambda call: call.ordinal == spec.ordinal, true)
        if spec.process:
            true = _restrict_to(lambda call: spec.is_here, true)
        self._true = true
        self._read = array_reader(site)
        self._snaps = breakpoint.do == 'snap'
        self._inputs: dict[int, tuple[list[Any], bool]] = {}
        self.remembers = bool(self._memories) or self._snaps

    def begin(self, call: Call) -> None:
        """Keep what must be kept of the inputs before the function can write to them."""
        for memory in self._memories:
            memory.begin(call)
        if self._snaps:
            if len(self._inputs) > _UNFINISHED:
                self._inputs.clear()            # aborted calls have no end
            self._inputs[call.id] = [copied_value(self._read(value)) for value in call.inputs], False

    def test(self, call: Call, outputs: Sequence[Any] | None = None, error: BaseException | None = None) -> Hit | None:
        """The hit if the thread shall stop here; what logs or snaps is done."""
        # Floating-point errors of the condition are not the program's.
        token = _ignoring.set(numpy_errstate.IGNORE)
        try:
            for memory in self._memories:
                memory.observe(call, outputs, error)
            value = self._true(call, outputs, error)
            if not (value if type(value) is not _ndarray else truth(value)):
                return None
        except TooEarlyError:
            return None                         # such as `history[-1].out` at the first call: nothing to compare with
        except NameError as raised:
            if self.owner.elsewhere(raised.name):
                return None                     # the condition is about another of the functions
            return self._note_failure(raised)
        except Exception as raised:             # an error of the condition: shown at the stop
            return self._note_failure(raised)
        finally:
            _ignoring.reset(token)
        return self._hit(call, outputs, error)

    def _note_failure(self, error: Exception) -> Hit | None:
        if not self.owner.count_failure(error):
            return None
        return Hit(self.owner.breakpoint, error.with_traceback(None))

    def _hit(self, call: Call, outputs: Sequence[Any] | None, error: BaseException | None) -> Hit | None:
        owner = self.owner
        breakpoint = owner.breakpoint
        if not owner.count_hit(call):
            return None
        if breakpoint.do == 'stop':
            return Hit(breakpoint)
        if breakpoint.do == 'log':
            try:
                owner.log(call, outputs, error)
            except Exception as failure:        # a value that cannot be shown must not end debugging
                report_failure(f'breakpoint {breakpoint.number} cannot log', failure)
        elif (held := self._inputs.get(call.id)) is not None:
            self._inputs[call.id] = held[0], True
        return None

    def end(self, call: Call, outputs: Sequence[Any] | None) -> None:
        """The call is over; it raised if there are no outputs."""
        if self._memories:
            token = _ignoring.set(numpy_errstate.IGNORE)
            try:
                for memory in self._memories:
                    memory.end(call, outputs)
            finally:
                _ignoring.reset(token)
        held = self._inputs.pop(call.id, None)
        if held is not None and held[1]:
            self.owner.snap(call, held[0], outputs or ())


class SiteTests:
    """All enabled breakpoints at one site. Each method gives those that stop.

    Attributes:
        later: Whether there is anything to do when the call is over.
    """

    __slots__ = ('_after', '_before', '_error', '_remembering', 'later')

    def __init__(self, armed: Sequence[SiteTest]) -> None:
        self._remembering = tuple(one for one in armed if one.remembers)
        self._error = tuple(one for one in armed if one.owner.breakpoint.timing == 'error')
        self._after = tuple(one for one in armed if one.owner.breakpoint.looks_at_output)
        self._before = tuple(one for one in armed if one not in self._error and one not in self._after)
        self.later = bool(self._after or self._error or self._remembering)

    def begin(self, call: Call) -> None:
        """Keep what is needed of the inputs when the call is over; once more before it is retried."""
        for armed in self._remembering:
            armed.begin(call)

    def hits_before(self, call: Call) -> Sequence[Hit]:
        """Tested with the inputs."""
        if self._remembering:
            self.begin(call)
        hits: tuple[Hit, ...] = ()
        for armed in self._before:
            hit = armed.test(call)
            if hit is not None:
                hits = (*hits, hit)
        return hits

    def hits_after(self, call: Call, outputs: Sequence[Any]) -> Sequence[Hit]:
        """Tested with the outputs."""
        hits: tuple[Hit, ...] = ()
        for armed in self._after:
            hit = armed.test(call, outputs)
            if hit is not None:
                hits = (*hits, hit)
        for armed in self._remembering:
            armed.end(call, outputs)
        return hits

    def hits_on_error(self, call: Call, error: BaseException) -> Sequence[Hit]:
        """Tested when it has raised."""
        hits = [hit for armed in self._error if (hit := armed.test(call, None, error)) is not None]
        for armed in self._remembering:
            armed.end(call, None)
        return hits


def _always(call: Call, outputs: Sequence[Any] | None, error: BaseException | None) -> bool:
    return True


def _note_evaluated(owner: TestOwner, true: True_) -> True_:
    def noted(call: Call, outputs: Sequence[Any] | None, error: BaseException | None) -> Any:
        owner.evaluated = True
        return true(call, outputs, error)
    return noted


def _restrict_to(applies: Callable[[Call], bool], true: True_) -> True_:
    return lambda call, outputs, error: applies(call) and true(call, outputs, error)
