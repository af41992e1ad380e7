"""Late reads of v1 variables, which a session reads anew. A paused run's nodes find values assigned after the first read.

Asked by a walk before a node's call is shown, on the thread of the run.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hooks.unknown_value import Unknown
from pyfuncdbg.hosts.tensorflow.sessions.run_units import RunUnit
from pyfuncdbg.hosts.tensorflow.sessions.session_plan import Plan
from pyfuncdbg.hosts.tensorflow.sessions.session_variables import SessionRun


def current_inputs(plan: Plan, op: Any, unit: RunUnit, inputs: Sequence[Any], injected: set[str],
                   run: SessionRun) -> list[Any]:
    """A node's inputs, those that the session takes from a variable's memory as they are there.

    Args:
        plan: Of the run.
        op, unit: The node, and with what it runs; all of that has run, unless it is the first of it.
        inputs: As they were when they were read.
        injected: Names of tensors whose value a user has replaced.
        run: Makes a run of the session.
    """
    found = list(inputs)
    for slot, tensor in enumerate(op.inputs):
        alias = plan.references.aliases.get(tensor.name)
        if (alias is None or tensor.name in injected or plan.units.sorts.get(tensor.op) == 'handle'
                or plan.units.is_given(tensor, op)):
            continue
        variable, ran = alias.variables[0], op is not unit.nodes[0]
        if alias.exact and tensor.shape.is_fully_defined() and _is_there(plan, op, unit, variable, ran):
            found[slot] = np.reshape(run([], [variable.outputs[0]], {})[0], tensor.shape.as_list())
        else:
            found[slot] = Unknown(np.dtype(object), (), f'nodes that run as one also write to variable {variable.name!r}')
    return found


def _is_there(plan: Plan, op: Any, unit: RunUnit, variable: Any, ran: bool) -> bool:
    """Whether a variable holds now what a node finds in it."""
    inside = [writer for writer in plan.references.writers.get(variable, ()) if writer in unit.nodes and writer is not op]
    if not inside:
        return op not in plan.references.writers.get(variable, ()) or not ran
    return ran and plan.references.version(op, variable) is plan.references.latest(inside)
