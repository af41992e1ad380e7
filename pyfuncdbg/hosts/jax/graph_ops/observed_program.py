"""Observed program: a program of JAX with an observer behind each op, whatever the depth of its loops and branches.

Made when JAX lowers a program, on that thread. The ops of the program stay as they are: what differs in the results are the
last bits, where XLA fuses other ops.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import CallSite, Frame
from pyfuncdbg.hooks.call_frames import STOP_REMARK
from pyfuncdbg.hooks.traits import Traits
from pyfuncdbg.hooks.value_placeholders import UnknownValue
from pyfuncdbg.hosts.jax.graph_ops.op_observer import OnValues, OpObserver
from pyfuncdbg.hosts.jax.host import JaxHost
from pyfuncdbg.hosts.jax.jax_parts import JaxParts
from pyfuncdbg.hosts.jax.programs.executables import within_jax
from pyfuncdbg.hosts.jax.programs.occurrences import ONCE, Occurrence, inner_programs, stack_of
from pyfuncdbg.hosts.jax.programs.user_function import user_function

BACKWARD = 'transpose('
"""Part of the name stack of an op that computes gradients."""
_CONTROL_FLOW = frozenset(('while', 'scan', 'cond'))
_OBSERVED_WITHIN = ONCE | _CONTROL_FLOW
"""Ops whose inner programs are observed. Others hold one that has to stay as it is, such as the sum of a `scatter`."""
READS_NO_VALUE = frozenset(('broadcast_in_dim', 'reshape', 'squeeze', 'expand_dims', 'transpose', 'stop_gradient', 'copy',
                             'iota', 'split', 'concatenate', 'slice', 'pad', 'rev'))
_CALLBACKS = frozenset(('pure_callback', 'io_callback'))
"""Ops whose value a Python function makes, which is a call of its own: no origin of what it returns."""
_STEP = 'token'
"""Attribute that a callback's op has like the site of its calls: both are one node."""
NameOfStep = Callable[[str, str, Any, Sequence[Frame]], str]
"""The name of a callback's site, by the name of the program, the op type, the function and the lines that made it."""
_REMARK = ('The program goes on with what this op gave. To replace a value, let a function of jax.pure_callback give it: '
           "'inject' works on what that returns.")
_SHARED_INPUTS = frozenset(('jit', 'pjit', 'closed_call', 'core_call', 'custom_jvp_call', 'custom_vjp_call',
                            'custom_vjp_call_jaxpr', 'checkpoint', 'remat', 'remat2', 'shard_map', 'custom_lin'))
"""Ops whose inner program has their own inputs, in order."""


def runs_program_code(jaxpr: Any) -> bool:
    """Whether a program of JAX's own is one eager op that runs functions of the program: a loop or a branch.

    Args:
        jaxpr: The program, not closed.
    """
    return len(jaxpr.eqns) == 1 and jaxpr.eqns[0].primitive.name in _CONTROL_FLOW and any(
        not within_jax(inner.debug_info) for inner in inner_programs(jaxpr.eqns[0]))


class ObservedProgram:
    """Maker of an observed program.

    Args:
        parts, host: Of JAX.
        primitive: The op that observes.
        on_values: Called with the values of each op.
        name: Of the function that was compiled; '' of one eager op, which is a call of its own.
        callbacks: Those of the program, whose inputs get names.
        name_of_step: Gives the name of a callback.

    Attributes:
        observers: Of its ops, in order.
        names: Names of the tensors, by JAX's variables.
        makers: The ops that make tensors, by JAX's variables.
        by_output, by_input: The ops that make and take a tensor, by its name.
    """

    def __init__(self, parts: JaxParts, host: JaxHost, primitive: Any, on_values: OnValues, name: str,
                 callbacks: dict[int, Occurrence], name_of_step: NameOfStep) -> None:
        self._name_of_step = name_of_step
        self._steps: dict[str, int] = {}
        self.observers: list[OpObserver] = []
        self._parts = parts
        self._host = host
        self._primitive = primitive
        self._on_values = on_values
        self._name = name
        self._callbacks = callbacks
        self._counts: dict[str, int] = {}
        self._effects = frozenset((parts.debugging.debug_effect,))
        self.names: dict[Any, str] = {}
        self.makers: dict[Any, OpObserver] = {}
        self.by_output: dict[str, OpObserver] = {}
        self.by_input: dict[str, list[OpObserver]] = {}

    def observe(self, closed_jaxpr: Any, argument_names: Sequence[str]) -> Any:
        """The program with observers.

        Args:
            closed_jaxpr: The program.
            argument_names: Of its arguments.
        """
        jaxpr = closed_jaxpr.jaxpr
        self.names.update(zip(jaxpr.invars, argument_names, strict=False))
        return closed_jaxpr.replace(jaxpr=self._observe(jaxpr, self._name, True, ()))

    def _observe(self, jaxpr: Any, scope: str, once: bool, outer: tuple[Any, ...]) -> Any:
        equations: list[Any] = []
        for equation in jaxpr.eqns:
            name = self._callback_name(equation, scope) or self._new_name(scope, equation.primitive.name)
            if equation.primitive.name in _OBSERVED_WITHIN:
                equation = self._observe_inner(equation, name, once, outer)
            equations.append(equation)
            self._name_inputs(equation)
            for index, variable in enumerate(equation.outvars):
                self.names.setdefault(variable, f'{name}:{index}')
            observing = self._observing_equation(equation, name, once, outer) if scope else None
            if observing is not None:
                equations.append(observing)
        effects = frozenset(jaxpr.effects) | self._effects if len(equations) > len(jaxpr.eqns) or any(
            self._effects <= set(equation.effects) for equation in equations) else jaxpr.effects
        return jaxpr.replace(eqns=equations, effects=effects)

    def _callback_name(self, equation: Any, scope: str) -> str:
        """The name of a callback of the program; '' of another op, and where it calls the same one once more."""
        callback = equation.params.get('callback')
        occurrence = self._callbacks.get(id(callback)) if scope and equation.primitive.name in _CALLBACKS else None
        function = user_function(callback) if occurrence is not None else None
        if occurrence is None or function is None:
            return ''
        name = self._name_of_step(self._name, equation.primitive.name, function, occurrence.stack)
        return name if self._steps.setdefault(name, id(equation)) == id(equation) else ''

    def _name_inputs(self, equation: Any) -> None:
        """Name what a callback gets."""
        key = id(equation.params.get('callback'))
        occurrence = self._callbacks.get(key)
        if occurrence is not None and not occurrence.observed:
            self._callbacks[key] = occurrence._replace(inputs=tuple(self._input_names(equation)), observed=True)

    def _input_names(self, equation: Any) -> list[str]:
        return ['' if self.is_literal(variable) else self.names.get(variable, '') for variable in equation.invars]

    def _observe_inner(self, equation: Any, name: str, once: bool, outer: tuple[Any, ...]) -> Any:
        """An op with observers in the programs that it holds."""
        op_type = equation.primitive.name
        params, changed = dict(equation.params), False
        for key, value in equation.params.items():
            several = isinstance(value, (list, tuple))
            parts = []
            for part in value if several else (value,):
                inner = getattr(part, 'jaxpr', part)
                if not (hasattr(inner, 'eqns') and hasattr(inner, 'invars')):
                    parts.append(part)
                    continue
                self._name_inner(equation, inner, key, name)
                observed = self._observe(inner, name, once and op_type in ONCE, (*outer, equation))
                parts.append(part.replace(jaxpr=observed) if inner is not part else observed)
                changed = True
            if several and changed:
                params[key] = type(value)(*parts) if hasattr(value, '_fields') else type(value)(parts)
            elif changed:
                params[key] = parts[0]
        if not changed:
            return equation
        return equation.replace(params=params, effects=frozenset(equation.effects) | self._effects)

    def _name_inner(self, equation: Any, inner: Any, key: str, name: str) -> None:
        """Name the inputs of an inner program: those of its op, where they are the same."""
        op_type = equation.primitive.name
        outer_variables: Sequence[Any] = ()
        if op_type in _SHARED_INPUTS:
            outer_variables = equation.invars
        elif op_type == 'cond':
            outer_variables = equation.invars[1:]
        elif op_type == 'scan':
            outer_variables = equation.invars[:equation.params.get('num_consts', 0)]
        elif op_type == 'while':
            first = 0 if key == 'cond_jaxpr' else equation.params.get('cond_nconsts', 0)
            outer_variables = equation.invars[first:first + equation.params.get(f'{key.partition("_")[0]}_nconsts', 0)]
        for index, variable in enumerate(inner.invars):
            other = outer_variables[index] if index < len(outer_variables) else None
            known = '' if other is None or self.is_literal(other) else self.names.get(other, '')
            self.names[variable] = known or f'{name}/in:{index}'
            if known and other in self.makers:
                self.makers[variable] = self.makers[other]

    def _observing_equation(self, equation: Any, name: str, once: bool, outer: tuple[Any, ...]) -> Any:
        """The op that observes another one; None for one without a value to observe."""
        values: list[Any] = []
        inputs = [self._place(variable, values) for variable in equation.invars]
        count = len(values)
        outputs = [self._place(variable, values) for variable in equation.outvars]
        if len(values) == count and equation.outvars:
            return None
        if not equation.outvars:
            return None
        constants = {index: np.asarray(variable.val) for index, variable in enumerate(equation.invars)
                     if self.is_literal(variable)}
        unknown = [UnknownValue(np.dtype(object), (), 'of no type that Python has') for _ in equation.outvars]
        site = self._site(equation, name, outer)
        observer = OpObserver(site, self._on_values, inputs, outputs, constants, unknown, 1 if once else None)
        observer.has_whole_outputs = all(getattr(variable.aval, 'dtype', np.dtype(float)).kind in 'biu'
                                         for variable in equation.outvars)
        self.observers.append(observer)
        for output in site.outputs:
            self.by_output[output] = observer
        for given in dict.fromkeys(site.inputs):
            self.by_input.setdefault(given, []).append(observer)
        for variable in equation.outvars:
            self.makers[variable] = observer
        return self._parts.core.new_jaxpr_eqn(values, [], self._primitive, {'observer': observer}, self._effects,
                                              equation.source_info)

    def _site(self, equation: Any, name: str, outer: tuple[Any, ...]) -> CallSite:
        op_type = equation.primitive.name
        holds_program = op_type in _CALLBACKS or any(True for _ in inner_programs(equation))
        traits = Traits(runs_graph=holds_program, calls_function=op_type in ('jit', 'pjit'),
                        reads_no_value=op_type in READS_NO_VALUE, seen_afterwards=True)
        attrs = {key: str(value) for key, value in equation.params.items()
                 if isinstance(value, (bool, int, float, str, tuple)) and len(str(value)) < 80}
        attrs[STOP_REMARK] = _REMARK
        if name in self._steps:
            attrs[_STEP] = name
        if BACKWARD in str(equation.source_info.name_stack):
            attrs['backward'] = 'True'
        return CallSite(name, op_type, 'op', self._host, stack=stack_of((*outer, equation)),
                        inputs=self._input_names(equation),
                        outputs=[f'{name}:{index}' for index in range(len(equation.outvars))], attrs=attrs, traits=traits)

    def _place(self, variable: Any, values: list[Any]) -> int:
        """The index of a variable among the values that are passed, which get it; -1 if it cannot be passed."""
        if self.is_literal(variable) or type(variable).__name__ == 'DropVar':
            return -1
        aval = variable.aval
        dtype = getattr(aval, 'dtype', None)
        if type(aval) is not self._parts.core.ShapedArray or not isinstance(dtype, np.dtype) or dtype.name == 'float0':
            return -1                           # a token, a reference, random keys
        for index, value in enumerate(values):
            if value is variable:
                return index
        values.append(variable)
        return len(values) - 1

    def is_literal(self, variable: Any) -> bool:
        return isinstance(variable, self._parts.core.Literal)

    def _new_name(self, scope: str, op_type: str) -> str:
        name = f'{scope}/{op_type}' if scope else op_type
        count = self._counts.get(name, 0)
        self._counts[name] = count + 1
        return f'{name}_{count}' if count else name
