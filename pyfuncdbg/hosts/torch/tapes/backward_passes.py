"""Backward passes as runs: `backward` and `autograd.grad`. On the thread of the pass."""
from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any

from pyfuncdbg.hooks.call import CallSite, Frame, Run, RunForm
from pyfuncdbg.hooks.chain import hooks, invoke, report_failure
from pyfuncdbg.hooks.stand_in_frames import with_program_file
from pyfuncdbg.hooks.traits import Traits
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.program_line import program_line
from pyfuncdbg.hosts.interception.result_list import ResultList, output_list
from pyfuncdbg.hosts.interception.traceback_frames import without_own_frames
from pyfuncdbg.hosts.torch.host import TorchHost
from pyfuncdbg.hosts.torch.python_calls.python_calls import PythonCalls
from pyfuncdbg.hosts.torch.tapes.forward_mode import ForwardMode
from pyfuncdbg.hosts.torch.tapes.gradient_graph import gradient_graph, node_of
from pyfuncdbg.hosts.torch.tapes.leaf_names import LeafNames
from pyfuncdbg.hosts.torch.tapes.none_reasons import missing_gradient
from pyfuncdbg.hosts.torch.tapes.pass_steps import PassSteps
from pyfuncdbg.hosts.torch.tapes.step_sites import StepSites
from pyfuncdbg.hosts.torch.thread_runs import ThreadRuns
from pyfuncdbg.hosts.torch.torch_parts import TorchParts

_BACKWARD, _GRAD = 'backward', 'autograd.grad'
_MOST = 1 << 10
_MOST_REPEATED = 32
"""Missing gradients that each pass reports again."""


def _root_names(count: int) -> tuple[str, ...]:
    """Names of the tensors that a pass begins at, for the feeds of its run: autograd calls them roots."""
    return ('root',) if count == 1 else tuple([f'root{i}' for i in range(count)])


class BackwardPasses:
    """Dispatcher between the program and PyTorch's engine."""

    def __init__(self, parts: TorchParts, host: TorchHost, calls: PythonCalls, runs: ThreadRuns) -> None:
        self._parts = parts
        self._host = host
        self._calls = calls
        self._runs = runs
        self.leaves = LeafNames(parts)
        self.forward = ForwardMode(parts, calls, runs)
        self._steps = StepSites(host, parts.torch.nn.Parameter, self._line_of)
        self._sites = {label: CallSite(label, label, 'run', host, traits=Traits(backward_pass=True))
                       for label in (_BACKWARD, _GRAD)}
        self._reported: dict[int, str] = {}
        self._forms: dict[tuple[Any, ...], RunForm] = {}

    def install(self, patches: Patches) -> None:
        """Replace the function that starts a pass, in both modules that use it."""
        patches.wrap(warnings, '_showwarnmsg', with_program_file)      # our mode calls behind stand-ins
        for module in (self._parts.autograd, self._parts.graph):
            patches.wrap(module, '_engine_run_backward', self._replace_start)
        for owner, name in (self._parts.torch.Tensor, 'backward'), (self._parts.autograd, 'backward'), (
                self._parts.autograd, 'grad'):
            patches.wrap(owner, name, self._replace_entry)

    @transparent
    def _replace_entry(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """The replacement for a function of the program's interface: our mode ends where it begins."""
        paused, is_compiling = self.forward.paused(original), self._calls.is_compiling

        @functools.wraps(original)
        def entry(*args: Any, **kwargs: Any) -> Any:
            if is_compiling():
                return original(*args, **kwargs)
            try:
                return paused(*args, **kwargs)
            except BaseException as error:
                error.__traceback__ = without_own_frames(error.__traceback__)
                raise
        return entry

    def _line_of(self, node: Any) -> Frame | None:
        return self.forward.notes.line_of(node._sequence_nr())

    @transparent
    def _replace_start(self, original: Callable[..., Any]) -> Callable[..., Any]:
        calls, is_compiling = self._calls, self._calls.is_compiling

        def _engine_run_backward(t_outputs: Any, *args: Any, **kwargs: Any) -> Any:
            if is_compiling() or not calls.on or calls.is_traced or not (
                    hooks.gradient or hooks.run or hooks.python or hooks.op):
                return original(t_outputs, *args, **kwargs)
            try:
                return self._make_pass(original, list(t_outputs), args, kwargs)
            except BaseException as error:
                error.__traceback__ = without_own_frames(error.__traceback__)
                raise
        return _engine_run_backward

    @transparent
    def _make_pass(self, original: Callable[..., Any], targets: list[Any], args: tuple[Any, ...],
                   kwargs: dict[str, Any]) -> Any:
        if hooks.op:
            self._calls.enter_op_mode()
        accumulates = bool(kwargs.get('accumulate_grad', args[5] if len(args) > 5 else False))
        label = _BACKWARD if accumulates else _GRAD
        sources = [] if accumulates else list(args[3] if len(args) > 3 else kwargs.get('inputs', ()))
        names = tuple([self.leaves.name(source, sys._getframe(2)) if hasattr(source, 'shape') else f'source {i}'
                       for i, source in enumerate(sources)])
        run, frame = self._new_run(label, len(targets), names), sys._getframe(1)
        with self._parts.native.DisableTorchFunction(), self._parts.torch.enable_grad():
            roots = [node for target in targets if (node := node_of(target)) is not None]
        steps = self._watched_steps(run, roots)

        def whole(*_: Any) -> Sequence[Any]:
            try:
                with self._runs.on_all_threads(roots, run, steps, frame):
                    result = original(tuple(targets), *args, **kwargs)
            finally:
                if steps is not None:
                    steps.remove()
            if steps is not None and hooks.gradient:
                with self._runs.within(run):
                    if accumulates:
                        self._report_missing(steps)
                    else:
                        result = self._report_sources(steps, sources, names, result)
            return output_list(result)

        outputs = invoke(self._sites[label], whole, run, targets) if hooks.run else whole()
        return outputs.raw if type(outputs) is ResultList else tuple(outputs)

    def _new_run(self, label: str, targets: int, names: tuple[str, ...]) -> Run:
        active = self._runs.active
        run = Run(label, self._host, perf_counter_ns(), feeds=_root_names(targets), fetches=names,
                  kind='inner' if active is not None and active.kind in ('backward', 'inner') else 'backward')
        key = label, targets, names
        form = self._forms.get(key)
        if form is None:
            if len(self._forms) > _MOST:
                self._forms.clear()
            form = self._forms[key] = RunForm()
        run.form = form
        return run

    def _watched_steps(self, run: Run, roots: Sequence[Any]) -> PassSteps | None:
        """The hooks on the nodes of a pass; None if no hook of ours wants gradients."""
        if not hooks.gradient:
            return None
        frame = sys._getframe(2)
        try:
            with self._parts.native.DisableTorchFunction(), self._parts.torch.enable_grad():
                graph = gradient_graph(roots)
            steps = PassSteps(run, graph, self._steps, lambda leaf: self.leaves.name(leaf, frame))
            steps.install()
        except Exception as error:              # a mistake of ours must not end the program's pass
            report_failure('watching a backward pass failed', error)
            return None
        return steps

    def _report_missing(self, steps: PassSteps) -> None:
        """Make a call for each parameter that got no gradient, though others of its model did."""
        notes = self.forward.notes
        try:
            missing = [entry for entry in self.leaves.relatives(steps.reached, sys._getframe(1))
                       if (leaf := entry.parameter()) is not None and id(leaf) not in steps.reached and leaf.grad is None]
            line = program_line(sys._getframe(1))
            attrs: dict[str, Any] = {'asked': (line.filename, line.line)} if line is not None else {}
            for entry in missing:
                leaf = entry.parameter()
                reason, fix = missing_gradient(notes, leaf, entry.name)
                if len(missing) > _MOST_REPEATED and self._reported.get(id(leaf)) == reason:
                    continue                    # of a model that is mostly frozen
                self._reported[id(leaf)] = reason
                steps.report_source(entry.name, leaf, [], None, {**attrs, 'dead': reason, 'fix': fix})
        except Exception as error:              # a mistake of ours
            report_failure('finding out why gradients are missing failed', error)
        notes.end_epoch()

    def _report_sources(self, steps: PassSteps, sources: Sequence[Any], names: Sequence[str], result: Any) -> Any:
        """Make a call for each source of `autograd.grad`; the gradients after hooks."""
        line = program_line(sys._getframe(1))
        attrs = {'asked': (line.filename, line.line)} if line is not None else {}
        reported = []
        for source, name, gradient in zip(sources, names, result, strict=True):
            flows = steps.sources_of(node_of(source)) if hasattr(source, 'grad_fn') else []
            reported.append(steps.report_source(name, source, flows, gradient, attrs)[0])
        return result if all(one is other for one, other in zip(reported, result, strict=True)) else tuple(reported)
