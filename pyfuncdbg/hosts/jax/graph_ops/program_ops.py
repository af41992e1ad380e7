"""Ops of compiled programs as calls of kind 'op', where a hook wants them.

A program that is lowered while a hook wants ops gets observers. One that was compiled before is left as it is.
"""
from __future__ import annotations

import threading
from collections.abc import Sequence
from time import perf_counter_ns
from typing import Any

from pyfuncdbg.hooks import op_cost
from pyfuncdbg.hooks.chain import hooks, invoke, report_failure
from pyfuncdbg.hosts.jax.graph_ops.backward_steps import add_steps
from pyfuncdbg.hosts.jax.graph_ops.observed_program import NameOfStep, ObservedProgram, runs_program_code
from pyfuncdbg.hosts.jax.graph_ops.op_observer import OpObserver, observing_primitive
from pyfuncdbg.hosts.jax.host import JaxHost
from pyfuncdbg.hosts.jax.jax_parts import JaxParts
from pyfuncdbg.hosts.jax.programs.executables import plain_name, within_jax
from pyfuncdbg.hosts.jax.programs.occurrences import Occurrence
from pyfuncdbg.hosts.jax.runs.dispatches import Dispatches


class ProgramOps:
    """The op calls of JAX.

    Attributes:
        on: Whether JAX is attached.
    """

    def __init__(self, parts: JaxParts, host: JaxHost, runs: Dispatches, name_of_step: NameOfStep) -> None:
        self.on = True
        self._name_of_step = name_of_step
        self._parts = parts
        self._host = host
        self._runs = runs
        self._primitive: Any = None

    def observed(self, closed_jaxpr: Any, name: str, callbacks: dict[int, Occurrence]) -> Any:
        """A program that is lowered, with observers if a hook wants ops.

        Args:
            closed_jaxpr: The program.
            name: Of the function that it was made of.
            callbacks: Its callbacks, whose inputs are named.
        """
        debug_info = closed_jaxpr.jaxpr.debug_info
        is_own = within_jax(debug_info)
        if not self.on or not hooks.op or (is_own and not runs_program_code(closed_jaxpr.jaxpr)):
            return closed_jaxpr
        try:
            if self._primitive is None:
                self._primitive = observing_primitive(self._parts)
            program = ObservedProgram(self._parts, self._host, self._primitive, self._on_values,
                                      '' if is_own else plain_name(name), callbacks, self._name_of_step)
            arguments, results = debug_info.arg_names or (), debug_info.result_paths or ()
            observed = program.observe(closed_jaxpr, arguments)
            if not is_own:
                add_steps(program, self._host, closed_jaxpr, arguments, results)
            return observed
        except Exception as error:              # a mistake of ours: the program runs unobserved
            report_failure(f'the ops of {plain_name(name)} are not watched', error)
            return closed_jaxpr

    def _on_values(self, observer: OpObserver, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """An op has run."""
        if not self.on or not hooks.op:
            return
        try:
            began = perf_counter_ns()
            dispatch = self._runs.run_of_op(observer)
            if dispatch is not None:
                invoke(observer.site, lambda *_: outputs, dispatch.run, list(inputs), thread=threading.get_native_id())
                if observer.step is not None and hooks.gradient:
                    observer.step.make(dispatch.run, inputs, outputs, dispatch.steps, observer)
            op_cost.add((perf_counter_ns() - began) / 1e9, sum(getattr(value, 'nbytes', 0) for value in outputs))
        except Exception as error:              # a mistake of ours: no code of the program runs here
            self._switch_off(error)

    def _switch_off(self, error: Exception) -> None:
        """Watch no more ops, after a mistake of ours."""
        self.on = False
        report_failure('watching ops failed and is switched off', error)
