"""`GradientTape` passes: each is a run, each backward step a call of kind 'gradient', linked to those before it.

Replaces the functions by which TensorFlow's tape gets the gradient of an op or of a function with its own rule, and sums.
Runs on the thread of the pass; without hooks for gradients it only passes calls on.
"""
from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Sequence
from threading import get_ident
from time import perf_counter_ns
from typing import Any

from pyfuncdbg.hooks.call import CallSite, Run, RunForm, current
from pyfuncdbg.hooks.chain import hooks, invoke
from pyfuncdbg.hooks.traits import Traits
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.program_line import program_line
from pyfuncdbg.hosts.interception.traceback_frames import drop_leading_own_frames
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.tapes.backward_pass import BackwardPass
from pyfuncdbg.hosts.tensorflow.tapes.backward_step import BackwardSteps, GradientRequest
from pyfuncdbg.hosts.tensorflow.tapes.custom_gradient import CUSTOM, CustomGradients
from pyfuncdbg.hosts.tensorflow.tapes.forward_log import ForwardLogs, LoggedOp, logged_op
from pyfuncdbg.hosts.tensorflow.tapes.gradient_sources import SourceReporter
from pyfuncdbg.hosts.tensorflow.tapes.py_function_gradients import PyFunctionGradients
from pyfuncdbg.hosts.tensorflow.tapes.symbolic_gradients import SymbolicGradients
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

_INSIDE = 'py_function gradient'
_LABEL = 'GradientTape.gradient'
_MOST = 1 << 12


@transparent
class TapeDispatch:
    """Dispatcher between TensorFlow's tape and the gradient rules that it uses."""

    def __init__(self, parts: TensorFlowParts, host: TensorFlowHost, gradients: PyFunctionGradients,
                 custom: CustomGradients) -> None:
        self.on = True
        self._parts = parts
        self._host = host
        self._thread = threading.local()        # not used for passes: TensorFlow's threads lose it after each call
        self._active_passes: dict[int, BackwardPass] = {}
        self._forms: dict[tuple[Any, ...], RunForm] = {}
        self._rule: Callable[..., Any] = parts.tape._gradient_function
        self._rules_replaced = False
        self._site = CallSite(_LABEL, 'GradientTape', 'run', host, traits=Traits(backward_pass=True))
        self._gradients = gradients
        self._steps = BackwardSteps(host, gradients)
        self._watched_rule = self._make_watched_rule()
        self.forward = ForwardLogs(parts)
        self._custom = custom
        self._reporter = SourceReporter(parts, host)
        self._symbolic = SymbolicGradients(parts, host, self._steps, self._reporter)

    def install(self, patches: Patches) -> None:
        """Replace TensorFlow's functions."""
        parts = self._parts
        self.forward.install(patches)
        self._custom.install(patches)
        self._symbolic.install(patches)
        patches.replace(parts.passes, 'imperative_grad', self._replace_imperative_grad(parts.passes.imperative_grad))
        patches.replace(parts.tape, 'gen_math_ops', _SumModule(parts.tape.gen_math_ops, self._note_sum))
        patches.replace(parts.slices, 'AggregateIndexedSlicesGradients',
                        self._replace_aggregation(parts.slices.AggregateIndexedSlicesGradients))
        for name in ('record_operation', 'record_operation_backprop_only'):
            patches.replace(parts.record, name, self._replace_record(getattr(parts.record, name)))
        for name in ('jacobian', 'batch_jacobian'):
            patches.replace(parts.tape.GradientTape, name, self._replace_jacobian(getattr(parts.tape.GradientTape, name)))

    def remove(self) -> None:
        """Restore TensorFlow's own rules; the patches are restored by their list."""
        self.on = self._custom.on = self._symbolic.on = False
        self._replace_rules(False)
        self.forward.remove()

    @property
    def active_pass(self) -> BackwardPass | None:
        """The active pass of this thread."""
        return self._active_passes.get(get_ident())

    # ------------------------------------------------------------------ a pass
    def _replace_imperative_grad(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def imperative_grad(tape: Any, target: Any, sources: Any, *args: Any, **options: Any) -> Any:
            if not self.on or not (hooks.gradient or hooks.run):
                if self._rules_replaced:
                    self._replace_rules(False)
                return original(tape, target, sources, *args, **options)
            try:
                return self._run_watched(original, tape, list(target), list(sources), args, options)
            except BaseException as error:
                drop_leading_own_frames(error)
                raise
        return imperative_grad

    def _run_watched(self, original: Callable[..., Any], tape: Any, targets: list[Any], sources: list[Any], args: Any,
                     options: dict[str, Any]) -> list[Any]:
        self._replace_rules(True)
        call = current.get()
        inside = call is not None and call.site.kind == 'gradient' and call.site.op_type == 'EagerPyFunc'
        names = _source_names(len(sources)) if inside else tuple(
            self._reporter.name_sources(options.get('sources_raw') or sources, sources))
        eager = self._parts.context.executing_eagerly()
        run = self._run(_INSIDE if inside else self._label(eager), len(targets), names)
        backward_pass = BackwardPass(run, eager, self.forward.log_of(tape),
                                     [getattr(target, '_id', 0) for target in targets],
                             call.forward if call is not None and inside else 0)

        def whole(*_: Any) -> list[Any]:
            gradients = self._run_pass(backward_pass, inside, original, (tape, targets, sources, *args), options)
            return gradients if inside else self._reporter.report(backward_pass, tape, targets, sources, names, gradients)

        if not hooks.run:
            return whole()
        if backward_pass.eager:
            return list(invoke(self._site, whole, run, targets))
        gradients = whole()                         # nodes made inside of a hook would have it in their stacks
        return list(invoke(self._site, lambda *_: gradients, run, targets))

    def _run_pass(self, backward_pass: BackwardPass, inside: bool, original: Callable[..., Any], args: tuple[Any, ...],
                  options: dict[str, Any]) -> list[Any]:
        """Let TensorFlow compute a pass, with its steps as those of this pass."""
        thread = get_ident()
        outer = self._active_passes.get(thread)
        self._active_passes[thread] = backward_pass
        is_outermost = not inside and backward_pass.eager
        if is_outermost:
            self._gradients.passes.append(backward_pass.run)
        try:
            return list(original(*args, **options))
        finally:
            if outer is None:
                del self._active_passes[thread]
            else:
                self._active_passes[thread] = outer
            if is_outermost:
                self._gradients.passes.remove(backward_pass.run)

    def _run(self, label: str, targets: int, names: tuple[str, ...]) -> Run:
        run = Run(label, self._host, perf_counter_ns(), feeds=[''] * targets, fetches=names,
                  kind='inner' if label == _INSIDE else 'backward')
        form = self._forms.get((label, targets, names))
        if form is None:
            if len(self._forms) > _MOST:
                self._forms.clear()
            form = self._forms[label, targets, names] = RunForm()
        run.form = form
        return run

    def _label(self, eager: bool) -> str:
        label = getattr(self._thread, 'asked', _LABEL)
        if eager:
            return label
        graph = self._parts.ops.get_default_graph()
        return f'{label} while {getattr(graph, "name", "") or "a graph"} is traced'

    def _replace_jacobian(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """The replacement for a jacobian, whose passes have its name."""
        @functools.wraps(original)
        def rows(tape: Any, *args: Any, **options: Any) -> Any:
            outer = getattr(self._thread, 'asked', _LABEL)
            self._thread.asked = f'GradientTape.{original.__name__}'
            try:
                return original(tape, *args, **options)
            except BaseException as error:
                drop_leading_own_frames(error)
                raise
            finally:
                self._thread.asked = outer
        return rows

    # ------------------------------------------------------------------ its steps
    def _replace_rules(self, watched: bool) -> None:
        """Replace TensorFlow's rules by watched ones, or restore them: without hooks a step costs nothing more."""
        if watched is not self._rules_replaced:
            self._rules_replaced = watched
            self._parts.native.TFE_Py_RegisterGradientFunction(self._watched_rule if watched else self._rule)

    def _make_watched_rule(self) -> Callable[..., Any]:
        original, active_passes, make = self._rule, self._active_passes, self._steps.make

        def _gradient_function(op_name: Any, attrs: Any, count: Any, inputs: Any, outputs: Any, gradients: Any,
                               skipped: Any, scope: Any) -> Any:
            backward_pass = active_passes.get(get_ident())
            if backward_pass is None or not hooks.gradient or not self.on:
                return original(op_name, attrs, count, inputs, outputs, gradients, skipped, scope)
            try:
                return make(
                    backward_pass, GradientRequest(op_name, attrs, scope, inputs, outputs), gradients,
                    lambda *given: original(op_name, attrs, count, inputs, outputs, given, skipped, scope))
            except BaseException as error:
                drop_leading_own_frames(error)
                raise
        return _gradient_function

    def _replace_record(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """The replacement for the function that records operations with a rule of their own: a traced function, a
        `tf.custom_gradient`.
        """
        def record_operation(op_type: Any, output_tensors: Any, input_tensors: Any, backward_function: Any, *rest: Any,
                             **options: Any) -> Any:
            if self.on and hooks.gradient and isinstance(op_type, str):
                where = program_line(sys._getframe(1))
                op = logged_op(op_type, '', list(input_tensors), list(output_tensors), where)
                number, name = self._custom.recorded_call
                if number and name == op_type:          # its body has just ended
                    op.call, op.type, op.name = number, CUSTOM, name
                self.forward.note_op(op)
                backward_function = self._watched_backward(op, backward_function)
            return original(op_type, output_tensors, input_tensors, backward_function, *rest, **options)
        return record_operation

    def _watched_backward(self, logged_op: LoggedOp, backward: Callable[..., Any]) -> Callable[..., Any]:
        def backward_function(*gradients: Any) -> Any:
            backward_pass = self.active_pass
            if backward_pass is None or not hooks.gradient or not self.on:
                return backward(*gradients)
            try:
                return self._steps.make(backward_pass, GradientRequest(logged_op.type, (), '', None, None, logged_op),
                                        gradients,
                                        backward)
            except BaseException as error:
                drop_leading_own_frames(error)
                raise
        return backward_function

    # ------------------------------------------------------------------ sums
    def _note_sum(self, total: Any, gradients: Sequence[Any]) -> None:
        backward_pass = self.active_pass
        if backward_pass is not None and self.on:
            backward_pass.note_sum(total, gradients)

    def _replace_aggregation(self, original: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def AggregateIndexedSlicesGradients(gradients: Any) -> Any:  # noqa: N802
            whole = original(gradients)
            self._note_sum(whole, gradients)
            return whole
        return AggregateIndexedSlicesGradients


@transparent
class _SumModule:
    """TensorFlow's module of ops, as its tape uses it: to add gradients."""

    def __init__(self, module: Any, note_sum: Callable[[Any, Sequence[Any]], None]) -> None:
        self._module = module
        self._note_sum = note_sum

    def add_n(self, gradients: Any, *args: Any, **options: Any) -> Any:
        whole = self._module.add_n(gradients, *args, **options)
        self._note_sum(whole, gradients)
        return whole

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


@functools.lru_cache
def _source_names(count: int) -> tuple[str, ...]:
    """Names of the sources of a pass inside of a function: its arguments, which have no others."""
    return tuple([f'source {i}' for i in range(count)])
