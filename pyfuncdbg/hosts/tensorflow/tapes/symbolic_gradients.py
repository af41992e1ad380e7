"""Passes that make nodes: `tf.gradients`, and backward functions of traced functions, in graphs of TensorFlow 1 and 2.

Stands where TensorFlow goes back through a graph and notes what a rule gave. Runs on the thread that builds; what the nodes
compute is seen when they run.
"""
from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any

from pyfuncdbg.hooks.call import Run
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.nodes.creation_stack import creation
from pyfuncdbg.hosts.tensorflow.nodes.op_types import SCRIPTS
from pyfuncdbg.hosts.tensorflow.patching import Patches, without_our_frames
from pyfuncdbg.hosts.tensorflow.tapes.backward_pass import BackwardPass
from pyfuncdbg.hosts.tensorflow.tapes.backward_step import BackwardSteps, GradientRequest
from pyfuncdbg.hosts.tensorflow.tapes.forward_log import ForwardLog, LoggedOp, logged_op
from pyfuncdbg.hosts.tensorflow.tapes.gradient_sources import SourceReporter
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

_SUM = 'AddN'


class SymbolicPass(BackwardPass):
    """A pass through a graph, which knows of each tensor what made it."""

    __slots__ = ('made',)

    def __init__(self, run: Run, targets: Sequence[int]) -> None:
        super().__init__(run, False, ForwardLog(False), targets, 0)
        self.made: dict[int, LoggedOp] = {}

    def of(self, op: Any) -> LoggedOp:
        """A node of the graph, with those that its inputs are from."""
        for tensor in op.inputs:
            if hasattr(tensor, 'op'):
                self._one(tensor.op)
        return self._one(op)

    def _one(self, op: Any) -> LoggedOp:
        known = self.made.get(id(op))
        if known is None:
            frames = creation(op)
            token = op.get_attr('token').decode() if op.type in SCRIPTS else ''
            known = self.made[id(op)] = logged_op(op.type, op.name, op.inputs, op.outputs, frames[-1] if frames else None,
                                                  token)
            self._held[id(op)] = op
            if self.log is not None:
                self.log.add(known)
        return known

    def through(self, graph: Any) -> None:
        """Know all nodes of a graph: to find out why a gradient is None."""
        for op in graph.get_operations():
            self._one(op)

    def split(self, gradients: Sequence[Any]) -> None:
        """A gradient that is a sum of others, which TensorFlow has added by a node."""
        for gradient in gradients:
            if hasattr(gradient, 'op') and gradient.op.type == _SUM and not self.knows(gradient):
                self.added(gradient, list(gradient.op.inputs))


class SymbolicGradients:
    """Replacement for TensorFlow's functions of such passes, which reports each."""

    def __init__(self, parts: TensorFlowParts, host: TensorFlowHost, steps: BackwardSteps, sinks: SourceReporter) -> None:
        self.on = True
        self._parts = parts
        self._host = host
        self._steps = steps
        self._sinks = sinks
        self._thread = threading.local()

    def install(self, patches: Patches) -> None:
        """Take TensorFlow's places."""
        util = self._parts.gradients
        patches.replace(util, '_GradientsHelper', self._passes(util._GradientsHelper))
        patches.replace(util, '_LogOpGradients', self._noted(util._LogOpGradients))

    def _passes(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def _GradientsHelper(ys: Any, xs: Any, *args: Any, **options: Any) -> Any:  # noqa: N802
            outer = getattr(self._thread, 'going', None)
            targets, sources = _tensors(ys), _tensors(xs)
            going = self._begin(targets, sources) if self.on and hooks.gradient and outer is None else None
            self._thread.going = going
            try:
                found = original(ys, xs, *args, **options)
            except BaseException as error:
                without_our_frames(error)
                raise
            finally:
                self._thread.going = outer
            if going is not None and len(found) == len(sources):
                self._end(going, targets, sources, found)
            return found
        return _GradientsHelper

    def _begin(self, targets: Sequence[Any], sources: Sequence[Any]) -> SymbolicPass:
        graph = self._parts.ops.get_default_graph()
        name = getattr(graph, 'name', '') or 'a graph'
        run = Run(f'tf.gradients while {name} is traced', self._host, perf_counter_ns(), feeds=[''] * len(targets),
                  fetches=self._sinks.named(sources, sources), kind='backward')
        return SymbolicPass(run, [getattr(target, '_id', 0) for target in targets])

    def _end(self, going: SymbolicPass, targets: Sequence[Any], sources: Sequence[Any], found: Sequence[Any]) -> None:
        going.split(found)
        if any(gradient is None for gradient in found):
            for graph in {id(source.graph): source.graph for source in sources if hasattr(source, 'graph')}.values():
                going.through(graph)
        self._sinks.reached(going, None, targets, sources, going.run.fetches, found)

    def _noted(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Callback of TensorFlow when a rule has made its nodes."""
        def _LogOpGradients(op: Any, out_grads: Any, in_grads: Any) -> Any:  # noqa: N802
            going = getattr(self._thread, 'going', None)
            if going is not None and self.on:
                going.split(out_grads)
                logged_op = going.of(op)
                attrs = ('token', logged_op.token) if logged_op.token else ()
                self._steps.make(going, GradientRequest(op.type, attrs, '', None, None, logged_op),
                                 [gradient if hasattr(gradient, 'dtype') else None for gradient in out_grads],
                                 lambda *_: in_grads)
            return original(op, out_grads, in_grads)
        return _LogOpGradients


def _tensors(given: Any) -> list[Any]:
    """Tensors: of a variable its handle, of a ref variable the reference that nodes have as input."""
    listed = given if isinstance(given, (list, tuple)) else [given]
    return [thing._ref() if hasattr(thing, '_ref') else getattr(thing, 'handle', thing) for thing in listed]
