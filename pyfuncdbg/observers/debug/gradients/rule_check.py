"""`check` of rules for gradients that a framework has called without values, when it compiled the program.

They have no backward steps. Their functions are called on values of another call, or on made up ones. Runs on the thread of
the command; hooks see nothing of it, and the program's state is as before at the end.
"""
from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pyfuncdbg.errors import DroppedError
from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.differentiable import EAGER_BY, RULE, Arrays, DerivativeRule, Differentiable, RuleSite
from pyfuncdbg.hooks.notebook_cell import short_place
from pyfuncdbg.hooks.value_placeholders import NOT_KNOWN
from pyfuncdbg.observers.debug.gradients.call_again import unrecorded
from pyfuncdbg.observers.debug.gradients.edge_check import EdgeOutcome
from pyfuncdbg.observers.debug.gradients.forward_names import forward_name
from pyfuncdbg.observers.debug.gradients.function_check import differentiable_outcomes
from pyfuncdbg.observers.debug.gradients.gradient_check import CheckedEdge
from pyfuncdbg.observers.record import live_sites
from pyfuncdbg.observers.record.records import CallRecord, SiteRecord
from pyfuncdbg.observers.record.trace import Trace

_NEWEST = 8
"""Calls of a site that are searched for values."""


@dataclass(slots=True, eq=False)
class RuleCalls:
    """Calls without values of one rule: the sites of its function and of its parts.

    Attributes:
        rule: The host's.
        sites: Each as it is recorded, in order of first calls, and whether its calls get the function's arguments.
        site: One of them, alive.
    """

    rule: DerivativeRule
    site: CallSite
    sites: list[tuple[SiteRecord, bool]] = field(default_factory=list)


def traced_rules(trace: Trace, steps: Sequence[CallRecord] = (), call: CallRecord | None = None) -> list[RuleCalls]:
    """The rules that this process has called without values.

    Args:
        trace: Has the calls.
        steps: Backward steps that are checked anyway: rules of their forward calls are left out.
        call: A call of the rule that is wanted, or of its function; None for all rules.
    """
    process = _own_process(trace)
    by_rule: dict[int, RuleCalls] = {}
    for record in trace.sites():
        if record.process != process or record.kind != 'python':
            continue
        site = live_sites.find(record.id)
        part = site.attrs.get(RULE) if site is not None else None
        if site is None or not isinstance(part, RuleSite) or not part.rule.is_traced:
            continue
        known = by_rule.setdefault(id(part.rule), RuleCalls(part.rule, site))
        known.sites.append((record, part.has_arguments))
    forward = {forward_name(step) for step in steps if step.process == process}
    wanted = call.site.id if call is not None and call.process == process else None
    return [known for known in by_rule.values()
            if (call is None or wanted in {record.id for record, _ in known.sites})
            and forward.isdisjoint(record.name for record, _ in known.sites)]


def site_without_values(trace: Trace) -> SiteRecord | None:
    """A site of any process with a call that had no values, while a framework compiled; None if there is none."""
    return next((record for record in trace.sites() if EAGER_BY in record.attrs and any(
        tensor.note.startswith(NOT_KNOWN) for call in _calls(trace, record, _NEWEST) for tensor in call.inputs)), None)


def _own_process(trace: Trace) -> int:
    processes = list(trace.info().processes)
    return processes.index(os.getpid()) + 1 if os.getpid() in processes else 0


def _calls(trace: Trace, record: SiteRecord, limit: int) -> list[CallRecord]:
    """The newest calls of a site, the last one first."""
    return [call for call in trace.calls(kind='python', site=glob.escape(record.name), process=record.process,
                                         newest_first=True, limit=limit) if call.site.id == record.id]


def check_rule(trace: Trace, traced: RuleCalls) -> list[CheckedEdge]:
    """Compare the gradients that a rule gives with differences of its function.

    Args:
        trace: Has the calls.
        traced: The rule.
    """
    rule = traced.rule
    place = short_place(*rule.place) if rule.place[0] else ''
    newest = next((call for record, _ in reversed(traced.sites) for call in _calls(trace, record, 1)), None)
    number = newest.number if newest is not None else ''
    kind = traced.site.op_type
    with unrecorded(traced.site):
        try:
            one, values = _on_values(trace, traced)
        except ValueError as error:
            return [CheckedEdge('', number, rule.label, kind, rule.rule, 0, 'input 0',
                                EdgeOutcome('unchecked', reason=str(error)), 0, place)]
        outcomes, calls = differentiable_outcomes(one)
    return [CheckedEdge('', number, one.name, one.kind, rule.rule, slot, name, outcome, calls, place, values)
            for slot, (name, outcome) in enumerate(zip(one.leaves, outcomes, strict=True))]


def _on_values(trace: Trace, traced: RuleCalls) -> tuple[Differentiable, str]:
    """The function on the values of its newest call that has some; on made up ones where none fits."""
    calls = [call for record, has_arguments in traced.sites if has_arguments for call in _calls(trace, record, _NEWEST)]
    for call in sorted(calls, key=lambda call: call.started, reverse=True):
        values = _values(call)
        if values is None:
            continue
        try:
            return traced.rule.differentiable(values), f'the inputs of #{call.number}'
        except ValueError:                      # of another type than the call without values
            continue
    one = traced.rule.differentiable(None)
    return one, one.origin


def _values(call: CallRecord) -> Arrays | None:
    """The inputs of a call; None if no tensor among them has a value."""
    arrays: list[np.ndarray] = []
    for tensor in call.inputs:
        try:
            arrays.append(np.array(tensor.to_numpy()))
        except DroppedError:                    # one that is not needed, perhaps: a function
            arrays.append(np.empty((), object))
    return arrays if any(array.dtype != object for array in arrays) else None
