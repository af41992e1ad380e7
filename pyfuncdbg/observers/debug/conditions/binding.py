"""A condition at one site: where each name of an expression comes from, and what it remembers of earlier calls.

Made when a breakpoint meets a site; `true` and `Memory` run on the threads of the calls.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.errors import nearest
from pyfuncdbg.hooks.call import Call, CallSite, Run
from pyfuncdbg.hooks.graph_context import DATASET
from pyfuncdbg.observers.debug.conditions.compiled_expression import (
    KNOWN,
    OF_CALL,
    TIMES,
    UNLESS_PARAMETER,
    CompiledExpression,
    Evaluation,
)
from pyfuncdbg.observers.debug.conditions.enclosing_names import enclosing_getter, enclosing_names
from pyfuncdbg.observers.debug.conditions.function_names import function_names
from pyfuncdbg.observers.debug.conditions.function_parameters import (
    READY,
    Get,
    array_reader,
    input_index,
    parameter_getter,
    parameter_names,
)
from pyfuncdbg.observers.debug.conditions.past_calls import (
    NOT_KEPT,
    ChangeTest,
    Durations,
    History,
    PastCall,
    Series,
    copied_value,
    first_execution,
    output_value,
)
from pyfuncdbg.observers.debug.conditions.vocabulary import VOCABULARY

_UNFINISHED = 1_000

True_ = Callable[[Call, Sequence[Any] | None, BaseException | None], Any]
"""`true(call, outputs, error)`: the condition's value; outputs are None before the call."""

OfValues = Callable[[Run, int, Sequence[Any], Sequence[Any]], Any]
"""`of(run, ordinal, inputs, outputs)`: the value of a condition that needs no more; outputs are empty before the call."""
_OUT = 'outputs[0] if len(outputs) == 1 and type(outputs[0]) in ready else stands_for([*map(read, outputs)])'


class CallTensors:
    """All tensors of a call: `tensors['has_nan']` is the value of the bare word `has_nan`."""

    __slots__ = ('_values',)

    def __init__(self, values: Sequence[np.ndarray]) -> None:
        self._values = values

    def __getitem__(self, word: str) -> np.bool_:
        test = VOCABULARY[word]
        return np.bool_(any(test(value) for value in self._values))


class Memory:
    """Memory of one expression at one site: its history, series and change tests. `observe` comes before its evaluation,
    `end` when the call has returned.

    Attributes:
        history: What the expression knows under this name.
        durations: Of the earlier calls.
    """

    __slots__ = ('_answers', '_changes', '_getters', '_keeps_calls', '_keeps_inputs', '_keeps_out', '_keeps_times',
                 '_pending', '_read', '_series', 'durations', 'history')

    def __init__(self, expression: CompiledExpression, site: CallSite) -> None:
        names = parameter_names(site.function) or ()
        self._read = array_reader(site)
        self._getters: dict[str, Get] = {name: get for name in names if (get := parameter_getter(site, name)) is not None}
        attributes = expression.attributes
        self._keeps_calls = 'history' in expression.whole.names
        self._keeps_inputs = self._keeps_calls and bool(attributes & {'inputs', *names})
        self._keeps_out = self._keeps_calls and 'out' in attributes
        self.history = History()
        self.durations = Durations()
        self._keeps_times = 'p95' in expression.reads
        self._series = [(Series(of.method, of.alpha), binding(of.of, site, self)) for of in expression.series]
        self._changes = [(ChangeTest(), binding(of, site, self)) for of in expression.changes]
        self._pending: dict[int, list[Any]] = {}
        self._answers: dict[int, list[Any]] = {}

    def begin(self, call: Call) -> None:
        """Copy the inputs for the history, before the function can write to them."""
        if call.retry_of:
            self.history.take_back(call.retry_of)
            for series, _ in self._series:
                series.take_back(call.retry_of)
        if self._keeps_inputs:
            if len(self._pending) > _UNFINISHED:
                self._pending.clear()           # aborted calls have no end
            self._pending[call.id] = [copied_value(self._read(value)) for value in call.inputs]

    def observe(self, call: Call, outputs: Sequence[Any] | None, error: BaseException | None) -> None:
        """Compute what changed since the last call, also where the condition is not evaluated."""
        if self._changes:
            self._answers[call.id] = [_answer(change, get, call, outputs, error) for change, get in self._changes]

    def changed(self, call: Call) -> Callable[[int], np.bool_]:
        """Gives the answers for a call."""
        answers = self._answers.pop(call.id, ())

        def answer(index: int) -> np.bool_:
            result = answers[index]
            if isinstance(result, Exception):
                raise result
            return result  # type: ignore[no-any-return]
        return answer

    def series(self, index: int) -> np.float64:
        """The value of a series over the earlier calls."""
        return self._series[index][0].value()

    def end(self, call: Call, outputs: Sequence[Any] | None) -> None:
        """The call is over; it raised if there are no outputs."""
        inputs = self._pending.pop(call.id, None) if self._keeps_inputs else None
        if self._changes:
            self._answers.pop(call.id, None)
        if outputs is None:
            return
        for series, get in self._series:
            try:
                series.add(get(call, outputs, None), first_execution(call))
            except Exception as error:          # an error of the user's expression: raised when its value is used
                series.fail(error.with_traceback(None))
        if self._keeps_times:
            self.durations.add(call.finished - call.started)
        if self._keeps_calls:
            out = copied_value(output_value([self._read(value) for value in outputs])) if self._keeps_out else NOT_KEPT
            self.history.add(PastCall(call, self._getters, inputs, out))


def _answer(change: ChangeTest, get: True_, call: Call, outputs: Sequence[Any] | None, error: BaseException | None) -> Any:
    try:
        return change.differs(get(call, outputs, error), first_execution(call))
    except Exception as raised:                 # an error of the user's expression: raised when its value is used
        return raised.with_traceback(None)


def binding(evaluation: Evaluation, site: CallSite, memory: Memory | None) -> True_:
    """The expression as a function of a call of this site.

    The way from a call to the arguments is compiled too: a loop over getters costs 0.1 µs a name more, and a function that
    reads what is NumPy's already 0.1 µs.
    """
    scope: dict[str, Any] = {'f': evaluation.function, 'read': array_reader(site), 'stands_for': output_value,
                             'Tensors': CallTensors,
                             'memory': memory, 'ready': READY, 'variables': _variables(site), 'element': _element(site),
                             'module': getattr(getattr(site.function, '__func__', site.function), '__globals__', {})}
    sources = {'out': _OUT, 'inputs': '(*map(read, call.inputs),)', 'call': 'call', '_ordinal': 'call.ordinal',
               'error': 'error', '_variables': 'variables(call)', '_module': 'module',
               'history': 'memory.history', '_series': 'memory.series', '_changed': 'memory.changed(call)',
               '_tensors': 'Tensors([*map(read, call.inputs), *map(read, outputs or ())])'}
    times = {'slow': '(call.finished - call.started) / 1e9', 'p95': 'memory.durations.p95()'}
    arguments = []
    for number, name in enumerate(evaluation.names):
        source = sources.get(name)
        if source is None and name in UNLESS_PARAMETER and name not in (parameter_names(site.function) or ()):
            source = times.get(name, 'element(call)')
        if source is None:
            scope[f'get{number}'] = parameter_getter(site, name) or _enclosing(site, name)
            source = f'get{number}(call)'
            index = input_index(site, name)
            if index is not None:
                value = f'call.inputs[{index}]'
                source = f'{value} if len(call.inputs) > {index} and type({value}) in ready else {source}'
        arguments.append(source)
    made: True_ = eval(f'lambda call, outputs, error: f({", ".join(arguments)})', scope)
    return made


def _is_of_dataset(site: CallSite) -> bool:
    return str(site.attrs.get('graph', '')).startswith(DATASET)


def _element(site: CallSite) -> Get:
    """The index of the dataset's element that a call works on; None where it works on none."""
    def unknown(call: Call) -> Any:
        if call.run.element is None:
            raise NameError(f"'element' is not known: {site.host.name} does not tell which element a call works on",
                            name='element')
        return call.run.element
    return unknown if _is_of_dataset(site) else lambda call: call.run.element


def _variables(site: CallSite) -> Callable[[Call], dict[str, Any]]:
    """The result of `locals()` in a condition: the function's parameters, its object, its closure."""
    getters = {name: enclosing_getter(site.function, name) for name in enclosing_names(site.function).own}
    getters |= {name: get for name in parameter_names(site.function) or ()
                if (get := parameter_getter(site, name)) is not None}
    return lambda call: {name: get(call) for name, get in getters.items()}


def value_function(expression: CompiledExpression, site: CallSite) -> OfValues | None:
    """The expression as a function of the values of a call alone; None if it needs more of the call, or of earlier ones, or
    if evaluating it twice has an effect."""
    if not expression.repeatable or needs_memory(expression):
        return None
    scope: dict[str, Any] = {'f': expression.whole.function, 'read': array_reader(site), 'stands_for': output_value,
                             'Tensors': CallTensors, 'ready': READY}
    sources = {'out': _OUT, 'inputs': '(*map(read, inputs),)', '_ordinal': 'ordinal',
               '_tensors': 'Tensors([*map(read, inputs), *map(read, outputs)])'}
    arguments = []
    for name in expression.whole.names:
        source = sources.get(name)
        if source is None:
            index = None if name in OF_CALL else input_index(site, name)
            if index is not None:
                source = f'inputs[{index}] if type(inputs[{index}]) in ready else read(inputs[{index}])'
            elif name in UNLESS_PARAMETER and name not in (parameter_names(site.function) or ()):
                if name in TIMES or _is_of_dataset(site):
                    return None
                source = f'run.{name}'
            else:
                return None
        arguments.append(source)
    made: OfValues = eval(f'lambda run, ordinal, inputs, outputs: f({", ".join(arguments)})', scope)
    return made


def _enclosing(site: CallSite, name: str) -> Get:
    """A getter of the value of a name that is no parameter; it raises NameError where the name has none."""
    read = enclosing_getter(site.function, name)

    def get(call: Call) -> Any:
        try:
            return read(call)
        except KeyError:
            raise _unknown_name(site, name) from None
    return get


def _unknown_name(site: CallSite, name: str) -> NameError:
    names = parameter_names(site.function)
    # Nodes without a name of their own are named by their type: the function distinguishes them.
    known = function_names(site.function) if site.name == site.op_type else ()
    who = known[0] if known else site.name
    has = f'{who} has the parameters {", ".join(names)}' if names else f'{who} has no parameters with names'
    close = nearest(name, (*(names or ()), *(enclosing_names(site.function).by_now() or ()), *KNOWN)).removesuffix('?')
    return NameError(f'name {name!r} is not known: {has}{"." if close else ""}{close}', name=name)


def needs_memory(expression: CompiledExpression) -> bool:
    """Whether it looks back at earlier calls."""
    return bool(expression.series or expression.changes or expression.reads & {'history', 'p95'})

