"""Nested plans of branches and loop bodies: construction, execution, and whether they have effects.

Kernels of control flow call it on the thread of the run; `ops` builds with it.
"""
from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.definitions.registry import INPUT, Output
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.runtime.eager import tape_recording
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.execution.failure import KERNEL_ERRORS
from pyfuncdbg.hosts.numpy.runtime.plans.executor import execute
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan
from pyfuncdbg.hosts.numpy.runtime.traces.traced_function import TracedFunction

_numbers = itertools.count()


def run_inner(plan: CompiledPlan, execution: Execution, values: Sequence[Any]) -> tuple[Any, ...]:
    """The results of a plan within a node of another plan; records the node that failed."""
    try:
        # The position is read during Python calls only: other plans need not store their inputs.
        if execution.deadline is not None:
            execution.check_deadline()
        if plan.during or hooks.op or execution.paused:
            return execute(plan, execution, values)
        return plan.function(execution, *values)
    except KERNEL_ERRORS as error:
        if execution.failed is None:
            execution.failed = plan.failed_step(error)
        raise


def has_state(graph: Graph) -> bool:
    """Whether a node of the graph has an effect or depends on one."""
    return any(op.definition.stateful and op.type != INPUT for op in graph.operations)


def traced_inner(scope: str, part: str, function: Callable[[Sequence[SymbolicTensor]], Sequence[Any]],
                 types: Sequence[Output] = (), repeats: bool = False, certain: bool = False) -> TracedFunction:
    """Trace a part of a graph.

    Args:
        scope: The name of its node, with '/' at the end.
        part: Its role, such as 'true'.
        function: From the placeholders of its arguments to its outputs, tensors.
        types: Types of its arguments.
        repeats: It is part of a loop.
        certain: It is a branch with a constant selector.
    """
    outer = context.current_graph()
    name = f'{scope.replace("/", "_")}{part}_{next(_numbers)}'
    graph = Graph(name=name, outer=outer, building_function=True)
    graph.place, graph.repeats, graph.certain = scope, repeats, certain
    if outer is not None:
        graph.seed = outer.seed
        graph.automatic, graph.place = outer.automatic, outer.place + scope
        graph.variables_made = None if outer.variables_made is None else 0
    with graph.as_default(), tape_recording.suspend_recordings():
        inputs = [graph.create_op(INPUT, (), {'dtype': dtype, 'shape': shape}, 'args').outputs[0]
                  for dtype, shape in types]
        outputs = [graph.admit(tensor) for tensor in function(inputs)]
    if outer is not None:
        _note_variables(graph, outer)
    return TracedFunction(graph, inputs, outputs, list, name)


def _note_variables(graph: Graph, outer: Graph) -> None:
    """Report variables that are read inside to the outer function and to every tape."""
    if outer.variables_made is not None and graph.variables_made:
        outer.variables_made += graph.variables_made
    for reference in graph.variables.values():
        variable = reference()
        if variable is None:
            continue
        if outer.building_function:
            outer.note_variable(variable)
        if tape_recording.active.recordings and variable.trainable:
            tape_recording.read(variable.handle, variable)
