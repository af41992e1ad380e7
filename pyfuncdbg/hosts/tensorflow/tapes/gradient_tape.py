"""`GradientTape` passes: each is a run, each backward step a call of kind 'gradient', linked to those before it.

Called where TensorFlow's tape asks Python for an op's gradient, for that of a function which has its own, and for sums. Runs
on the thread of the pass; while no hook wants gradients it only passes on.
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
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.patching import Patches, without_our_frames
from pyfuncdbg.hosts.tensorflow.python_calls.program_line import program_line
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


class TapeDispatch:
    """Dispatcher between TensorFlow's tape and the gradient rules that it uses."""

    def __init__(self, parts: TensorFlowParts, host: TensorFlowHost, gradients: PyFunctionGradients,
                 custom: CustomGradients) -> None:
        self.on = True
        self._parts = parts
        self._host = host
        self._thread = threading.local()        # not for each pass: threads of TensorFlow's begin anew with each call
        self._going: dict[int, BackwardPass] = {}
        self._forms: dict[tuple[Any, ...], RunForm] = {}
        self._rule: Callable[..., Any] = parts.tape._gradient_function
        self._asked = False
        self._site = CallSite(_LABEL, 'GradientTape', 'run', host, traits=Traits(backward_pass=True))
        self._gradients = gradients
        self._steps = BackwardSteps(host, gradients)
        self._watched_rule = self._rules()
        self.forward = ForwardLogs(parts)
        self._custom = custom
        self._sinks = SourceReporter(parts, host)
        self._symbolic = SymbolicGradients(parts, host, self._steps, self._sinks)

    def install(self, patches: Patches) -> None:
        """Take TensorFlow's places."""
        parts = self._parts
        self.forward.install(patches)
        self._custom.install(patches)
        self._symbolic.install(patches)
        patches.replace(parts.passes, 'imperative_grad', self._passes(parts.passes.imperative_grad))
        patches.replace(parts.tape, 'gen_math_ops', _Sums(parts.tape.gen_math_ops, self._added))
        patches.replace(parts.slices, 'AggregateIndexedSlicesGradients',
                        self._sums(parts.slices.AggregateIndexedSlicesGradients))
        for name in ('record_operation', 'record_operation_backprop_only'):
            patches.replace(parts.record, name, self._recording(getattr(parts.record, name)))
        for name in ('jacobian', 'batch_jacobian'):
            patches.replace(parts.tape.GradientTape, name, self._rows(getattr(parts.tape.GradientTape, name)))

    def remove(self) -> None:
        """Give TensorFlow its own rules back; what a patch replaced is put back by its list."""
        self.on = self._custom.on = self._symbolic.on = False
        self._between(False)
        self.forward.remove()

    @property
    def going(self) -> BackwardPass | None:
        """The pass that goes on on this thread."""
        return self._going.get(get_ident())

    # ------------------------------------------------------------------ a pass
    def _passes(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def imperative_grad(tape: Any, target: Any, sources: Any, *args: Any, **options: Any) -> Any:
            if not self.on or not (hooks.gradient or hooks.run):
                if self._asked:
                    self._between(False)
                return original(tape, target, sources, *args, **options)
            try:
                return self._watched(original, tape, list(target), list(sources), args, options)
            except BaseException as error:
                without_our_frames(error)
                raise
        return imperative_grad

    def _watched(self, original: Callable[..., Any], tape: Any, targets: list[Any], sources: list[Any], args: Any,
                 options: dict[str, Any]) -> list[Any]:
        self._between(True)
        within = current.get()
        inside = within is not None and within.site.kind == 'gradient' and within.site.op_type == 'EagerPyFunc'
        named = _numbered(len(sources)) if inside else tuple(
            self._sinks.named(options.get('sources_raw') or sources, sources))
        eager = self._parts.context.executing_eagerly()
        run = self._run(_INSIDE if inside else self._label(eager), len(targets), named)
        going = BackwardPass(run, eager, self.forward.of(tape), [getattr(target, '_id', 0) for target in targets],
                             within.forward if within is not None and inside else 0)

        def whole(*_: Any) -> list[Any]:
            found = self._follow(going, inside, original, (tape, targets, sources, *args), options)
            return found if inside else self._sinks.reached(going, tape, targets, sources, named, found)

        if not hooks.run:
            return whole()
        if going.eager:
            return list(invoke(self._site, whole, run, targets))
        found = whole()                         # a node that is made under a hook would show the hook in its stack
        return list(invoke(self._site, lambda *_: found, run, targets))

    def _follow(self, going: BackwardPass, inside: bool, original: Callable[..., Any], args: tuple[Any, ...],
                options: dict[str, Any]) -> list[Any]:
        """Let TensorFlow go back, with its steps as those of this pass."""
        thread = get_ident()
        outer = self._going.get(thread)
        self._going[thread] = going
        alone = not inside and going.eager
        if alone:
            self._gradients.passes.append(going.run)
        try:
            return list(original(*args, **options))
        finally:
            if outer is None:
                del self._going[thread]
            else:
                self._going[thread] = outer
            if alone:
                self._gradients.passes.remove(going.run)

    def _run(self, label: str, targets: int, named: tuple[str, ...]) -> Run:
        run = Run(label, self._host, perf_counter_ns(), feeds=[''] * targets, fetches=named,
                  kind='inner' if label == _INSIDE else 'backward')
        form = self._forms.get((label, targets, named))
        if form is None:
            if len(self._forms) > _MOST:
                self._forms.clear()
            form = self._forms[label, targets, named] = RunForm()
        run.form = form
        return run

    def _label(self, eager: bool) -> str:
        asked = getattr(self._thread, 'asked', _LABEL)
        if eager:
            return asked
        graph = self._parts.ops.get_default_graph()
        return f'{asked} while {getattr(graph, "name", "") or "a graph"} is traced'

    def _rows(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """A jacobian: passes that go by its name."""
        @functools.wraps(original)
        def rows(tape: Any, *args: Any, **options: Any) -> Any:
            outer = getattr(self._thread, 'asked', _LABEL)
            self._thread.asked = f'GradientTape.{original.__name__}'
            try:
                return original(tape, *args, **options)
            except BaseException as error:
                without_our_frames(error)
                raise
            finally:
                self._thread.asked = outer
        return rows

    # ------------------------------------------------------------------ its steps
    def _between(self, stand: bool) -> None:
        """Stand between TensorFlow and its rules, or no longer: while no hook wants gradients a step costs nothing more."""
        if stand is not self._asked:
            self._asked = stand
            self._parts.native.TFE_Py_RegisterGradientFunction(self._watched_rule if stand else self._rule)

    def _rules(self) -> Callable[..., Any]:
        original, going_on, make = self._rule, self._going, self._steps.make

        def _gradient_function(op_name: Any, attrs: Any, count: Any, inputs: Any, outputs: Any, gradients: Any,
                               skipped: Any, scope: Any) -> Any:
            going = going_on.get(get_ident())
            if going is None or not hooks.gradient or not self.on:
                return original(op_name, attrs, count, inputs, outputs, gradients, skipped, scope)
            try:
                return make(
                    going, GradientRequest(op_name, attrs, scope, inputs, outputs), gradients,
                    lambda *given: original(op_name, attrs, count, inputs, outputs, given, skipped, scope))
            except BaseException as error:
                without_our_frames(error)
                raise
        return _gradient_function

    def _recording(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """The replacement for the function that records operations with a rule of their own: a traced function, a
        `tf.custom_gradient`."""
        def record_operation(op_type: Any, output_tensors: Any, input_tensors: Any, backward_function: Any, *rest: Any,
                             **options: Any) -> Any:
            if self.on and hooks.gradient and isinstance(op_type, str):
                where = program_line(sys._getframe(1))
                new = logged_op(op_type, '', list(input_tensors), list(output_tensors), where)
                number, name = self._custom.going
                if number and name == op_type:          # its body has ended just now
                    new.call, new.type, new.name = number, CUSTOM, name
                self.forward.noted(new)
                backward_function = self._own_rule(new, backward_function)
            return original(op_type, output_tensors, input_tensors, backward_function, *rest, **options)
        return record_operation

    def _own_rule(self, logged_op: LoggedOp, backward: Callable[..., Any]) -> Callable[..., Any]:
        def backward_function(*gradients: Any) -> Any:
            going = self.going
            if going is None or not hooks.gradient or not self.on:
                return backward(*gradients)
            try:
                return self._steps.make(going, GradientRequest(logged_op.type, (), '', None, None, logged_op), gradients,
                                        backward)
            except BaseException as error:
                without_our_frames(error)
                raise
        return backward_function

    # ------------------------------------------------------------------ sums
    def _added(self, whole: Any, gradients: Sequence[Any]) -> None:
        going = self.going
        if going is not None and self.on:
            going.added(whole, gradients)

    def _sums(self, original: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def AggregateIndexedSlicesGradients(gradients: Any) -> Any:  # noqa: N802
            whole = original(gradients)
            self._added(whole, gradients)
            return whole
        return AggregateIndexedSlicesGradients


class _Sums:
    """TensorFlow's module of ops, as its tape uses it: to add gradients."""

    def __init__(self, module: Any, added: Callable[[Any, Sequence[Any]], None]) -> None:
        self._module = module
        self._told = added

    def add_n(self, gradients: Any, *args: Any, **options: Any) -> Any:
        whole = self._module.add_n(gradients, *args, **options)
        self._told(whole, gradients)
        return whole

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


@functools.lru_cache
def _numbered(count: int) -> tuple[str, ...]:
    """Names of the sources of a pass inside of a function: they are what that was given, and have no others."""
    return tuple([f'source {i}' for i in range(count)])
