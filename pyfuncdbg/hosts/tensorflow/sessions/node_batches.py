"""Batches of the nodes of a session run that was executed as a whole.

Where a recorder alone watches ops, `SteppedRun` has them filled, on the thread of the run. A sequence is made
once for each order of nodes and values of a plan.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter_ns
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.chain import hooks, invoke, report_failure
from pyfuncdbg.hooks.op_batch import MOST_OPS, OpBatch, OpSequence, deliver
from pyfuncdbg.hosts.tensorflow.nodes.node_kernel import in_eager_mode
from pyfuncdbg.hosts.tensorflow.sessions.session_plan import SessionPlan
from pyfuncdbg.hosts.tensorflow.sessions.stepped_values import SteppedValues
from pyfuncdbg.hosts.tensorflow.sessions.whole_run import WholeRun, note_disagreement

_MOST_BYTES = 1 << 20
_MOST_SEQUENCES = 64


def record_nodes(plan: SessionPlan, run: Run, whole_run: WholeRun, values: SteppedValues,
                 op_site: Callable[[Any], CallSite]) -> None:
    """Hand the nodes of a run to a recorder that alone watches ops. A mistake is reported: the program has its results.

    Args:
        plan, run: The run and its plan.
        whole_run: Has executed it.
        values: Receives the outputs of the nodes.
        op_site: Gives the site of a node.
    """
    batches = NodeBatches(plan, run, op_site)
    try:
        with in_eager_mode():
            for op in plan.nodes:
                inputs = whole_run.inputs(op)
                is_observable = whole_run.is_observable(op, inputs)
                outputs = whole_run.outputs(op, inputs)
                if is_observable and whole_run.disagrees:       # the remark is on a call
                    batches.deliver()
                    invoke(op_site(op), partial(_disagreeing, outputs or ()), run, inputs)
                elif is_observable:
                    batches.add(op, inputs, outputs or ())
                if outputs:
                    values.store(op, outputs)
        batches.deliver()
    except Exception as error:                  # ours, whatever it is
        report_failure(f'recording the nodes of run #{run.id} failed', error)
    finally:
        run.control = None


def _disagreeing(outputs: Sequence[Any], *_: Any) -> Sequence[Any]:
    note_disagreement()
    return outputs


class NodeBatches:
    """Batches of one run.

    Args:
        plan, run: The run and its plan.
        op_site: Gives the site of a node.
    """

    def __init__(self, plan: SessionPlan, run: Run, op_site: Callable[[Any], CallSite]) -> None:
        self._plan = plan
        self._run = run
        self._op_site = op_site
        self._begin()

    def _begin(self) -> None:
        self._nodes: list[Any] = []
        self._places: list[tuple[int, ...]] = []        # inputs and outputs of each node, by turns
        self._values: list[Any] = []
        self._by_id: dict[int, tuple[int, Any]] = {}
        self._nbytes = 0
        self._times = [perf_counter_ns()]

    def add(self, op: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Add a node that has run.

        Args:
            op: The node.
            inputs, outputs: Its values.
        """
        self._nodes.append(op)
        self._places.append(tuple([self._place(value) for value in inputs]))
        self._places.append(tuple([self._place(value) for value in outputs]))
        self._times.append(perf_counter_ns())
        if len(self._nodes) >= MOST_OPS or self._nbytes > _MOST_BYTES:
            self.deliver()

    def deliver(self) -> None:
        """Deliver the nodes that were added."""
        if self._nodes:
            key = tuple(self._nodes), tuple(self._places)
            sequences = self._plan.sequences
            sequence = sequences.get(key)
            if sequence is None:
                if len(sequences) >= _MOST_SEQUENCES:
                    sequences.clear()
                sequence = sequences[key] = OpSequence(
                    [self._op_site(op) for op in self._nodes], self._places[::2], self._places[1::2])
            batch = OpBatch(sequence, self._run, self._values)
            batch.times, batch.owns_values = self._times, True
            deliver(hooks.op_recorder, batch)
        self._begin()

    def _place(self, value: Any) -> int:
        """The place of a value in the batch; ids are those of values that the batch keeps alive."""
        entry = self._by_id.get(id(value))
        if entry is not None:
            return entry[0]
        place = len(self._values)
        self._by_id[id(value)] = place, value
        self._values.append(self._kept(value))
        return place

    def _kept(self, value: Any) -> Any:
        """An array that nothing writes to; any other value as it is."""
        if isinstance(value, (np.ndarray, np.generic)):         # the session has given it to the program, too
            array = np.array(value)
        elif hasattr(value, '_numpy_internal'):
            array = self._run.host.to_numpy(value)              # shares the memory of a tensor, which never changes
        else:
            return value
        self._nbytes += array.nbytes
        return array if array.dtype.kind in 'biufc' else value
