"""Passes that make nodes: `tf.gradients`, and backward functions of traced functions, in graphs of TensorFlow 1 and 2.

Replaces the functions by which TensorFlow goes back through a graph. Runs on the thread that builds the graph; the values of
the nodes are seen when they run.
"""
from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any

from pyfuncdbg.hooks.call import Run
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.traceback_frames import drop_leading_own_frames
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.nodes.creation_stack import creation_frames
from pyfuncdbg.hosts.tensorflow.nodes.op_types import SCRIPTS
from pyfuncdbg.hosts.tensorflow.tapes.backward_pass import BackwardPass
from pyfuncdbg.hosts.tensorflow.tapes.backward_step import BackwardSteps, GradientRequest
from pyfuncdbg.hosts.tensorflow.tapes.forward_log import ForwardLog, LoggedOp, logged_op
from pyfuncdbg.hosts.tensorflow.tapes.gradient_sources import SourceReporter
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

_SUM = 'AddN'


class SymbolicPass(BackwardPass):
    """A pass through a graph, with the node of each tensor."""

    __slots__ = ('logged_ops',)

    def __init__(self, run: Run, targets: Sequence[int]) -> None:
        super().__init__(run, False, ForwardLog(False), targets, 0)
        self.logged_ops: dict[int, LoggedOp] = {}

    def log_op(self, op: Any) -> LoggedOp:
        """The logged node; the nodes of its inputs are logged, too."""
        for tensor in op.inputs:
            if hasattr(tensor, 'op'):
                self._log_one(tensor.op)
        return self._log_one(op)

    def _log_one(self, op: Any) -> LoggedOp:
        logged = self.logged_ops.get(id(op))
        if logged is None:
            frames = creation_frames(op)
            token = op.get_attr('token').decode() if op.type in SCRIPTS else ''
            logged = self.logged_ops[id(op)] = logged_op(op.type, op.name, op.inputs, op.outputs,
                                                         frames[-1] if frames else None,
                                                         token)
            self._references[id(op)] = op
            if self.log is not None:
                self.log.add(logged)
        return logged

    def log_graph(self, graph: Any) -> None:
        """Log all nodes of a graph, to find out why a gradient is None."""
        for op in graph.get_operations():
            self._log_one(op)

    def split_sums(self, gradients: Sequence[Any]) -> None:
        """Note the summands of gradients that TensorFlow has added by a node."""
        for gradient in gradients:
            if hasattr(gradient, 'op') and gradient.op.type == _SUM and not self.knows(gradient):
                self.note_sum(gradient, list(gradient.op.inputs))


class SymbolicGradients:
    """Replacement for TensorFlow's functions of such passes, which reports each."""

    def __init__(self, parts: TensorFlowParts, host: TensorFlowHost, steps: BackwardSteps, sinks: SourceReporter) -> None:
        self.on = True
        self._parts = parts
        self._host = host
        self._steps = steps
        self._reporter = sinks
        self._thread = threading.local()

    def install(self, patches: Patches) -> None:
        """Replace TensorFlow's functions."""
        util = self._parts.gradients
        patches.replace(util, '_GradientsHelper', self._replace_gradients_helper(util._GradientsHelper))
        patches.replace(util, '_LogOpGradients', self._replace_log(util._LogOpGradients))

    def _replace_gradients_helper(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def _GradientsHelper(ys: Any, xs: Any, *args: Any, **options: Any) -> Any:  # noqa: N802
            outer = getattr(self._thread, 'going', None)
            targets, sources = _tensors(ys), _tensors(xs)
            symbolic_pass = self._begin(targets, sources) if self.on and hooks.gradient and outer is None else None
            self._thread.going = symbolic_pass
            try:
                gradients = original(ys, xs, *args, **options)
            except BaseException as error:
                drop_leading_own_frames(error)
                raise
            finally:
                self._thread.going = outer
            if symbolic_pass is not None and len(gradients) == len(sources):
                self._end(symbolic_pass, targets, sources, gradients)
            return gradients
        return _GradientsHelper

    def _begin(self, targets: Sequence[Any], sources: Sequence[Any]) -> SymbolicPass:
        graph = self._parts.ops.get_default_graph()
        name = getattr(graph, 'name', '') or 'a graph'
        run = Run(f'tf.gradients while {name} is traced', self._host, perf_counter_ns(), feeds=[''] * len(targets),
                  fetches=self._reporter.name_sources(sources, sources), kind='backward')
        return SymbolicPass(run, [getattr(target, '_id', 0) for target in targets])

    def _end(self, symbolic_pass: SymbolicPass, targets: Sequence[Any], sources: Sequence[Any],
             gradients: Sequence[Any]) -> None:
        symbolic_pass.split_sums(gradients)
        if any(gradient is None for gradient in gradients):
            for graph in {id(source.graph): source.graph for source in sources if hasattr(source, 'graph')}.values():
                symbolic_pass.log_graph(graph)
        self._reporter.report(symbolic_pass, None, targets, sources, symbolic_pass.run.fetches, gradients)

    def _replace_log(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Callback of TensorFlow when a rule has made its nodes."""
        def _LogOpGradients(op: Any, out_grads: Any, in_grads: Any) -> Any:  # noqa: N802
            symbolic_pass = getattr(self._thread, 'going', None)
            if symbolic_pass is not None and self.on:
                symbolic_pass.split_sums(out_grads)
                logged_op = symbolic_pass.log_op(op)
                attrs = ('token', logged_op.token) if logged_op.token else ()
                self._steps.make(symbolic_pass, GradientRequest(op.type, attrs, '', None, None, logged_op),
                                 [gradient if hasattr(gradient, 'dtype') else None for gradient in out_grads],
                                 lambda *_: in_grads)
            return original(op, out_grads, in_grads)
        return _LogOpGradients


def _tensors(value: Any) -> list[Any]:
    """The tensors: of a variable its handle, of a ref variable the reference that nodes have as input."""
    listed = value if isinstance(value, (list, tuple)) else [value]
    return [thing._ref() if hasattr(thing, '_ref') else getattr(thing, 'handle', thing) for thing in listed]
