"""Dtypes of conditions: a session refuses a `cond` on another than bool, a function takes any.

Checked when a plan is made for a run of a session.
"""
from __future__ import annotations

from collections.abc import Sequence

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hosts.numpy.graph.definitions.registry import IF, STATELESS_IF
from pyfuncdbg.hosts.numpy.graph.types.dtypes import bool as boolean
from pyfuncdbg.hosts.numpy.runtime.plans.step import Step


def check_conditions(steps: Sequence[Step]) -> None:
    """Refuse a `cond` on another dtype than bool: TensorFlow does before a run of a graph, while a function takes any.

    Raises:
        InvalidArgumentError: Always then.
    """
    for step in steps:
        if step.op.type in (IF, STATELESS_IF) and step.op.inputs[0].dtype is not boolean:
            raise InvalidArgumentError(None, None, (
                f"Graph execution error:\n\nInput 'pred' passed {step.op.inputs[0].dtype.kernel_name} expected bool while "
                f"building NodeDef '{step.op.name}/switch_pred/_2' using Op<name=Switch; signature=data:T, pred:bool -> "
                'output_false:T, output_true:T; attr=T:type>'))
