"""Commands that change what a run computes: `inject`, `swap` and `skip`; `differences` lists the effects.

They run on the stopped thread. A refused one changes nothing.
"""
from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.console import RenderableType

from pyfuncdbg.errors import CommandError, nearest
from pyfuncdbg.hooks.call import Call, CallSite
from pyfuncdbg.observers.debug.breakpoints.spec import names_of as names_of_site
from pyfuncdbg.observers.debug.conditions.function_parameters import parameter_names
from pyfuncdbg.observers.debug.debugger import Debugger
from pyfuncdbg.observers.debug.inspecting.evaluate import FrameNames, evaluate, is_python
from pyfuncdbg.observers.debug.inspecting.scope import RunTensors, scope_of
from pyfuncdbg.observers.debug.inspecting.tensor_differences import Difference, copied_values
from pyfuncdbg.observers.debug.stepping.function_start import is_at_start, is_enterable, parameter_at
from pyfuncdbg.observers.debug.stepping.injection import replacement_value
from pyfuncdbg.observers.debug.stepping.node_stepper import Rerun
from pyfuncdbg.observers.debug.stepping.replaced_functions import SkippedCall
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.observers.debug.value import Value, describe_value
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.resume import debugger_of, stop_of
from pyfuncdbg.ui.commands.to_rewind_retry import (
    Restored,
    RunPlace,
    inputs_again,
    refuse_next_element,
    refuse_seen_afterwards,
)
from pyfuncdbg.ui.views.calls.rewind_report import differences_view, injection_view, skip_view, swap_view

_LISTED = 20
"""Python nodes that a refusal names."""
_TOLD = 6
"""Tensors that a refusal names."""


@dataclass(frozen=True, slots=True)
class Injection:
    """A value was replaced.

    Attributes:
        tensor: Which.
        before, after: What it was and is.
        scope: What gets it: 'the run', 'this call', 'the run and this call'.
    """

    tensor: str
    before: Value
    after: Value
    scope: str


@dataclass(frozen=True, slots=True)
class FunctionSwap:
    """A function was replaced.

    Attributes:
        node: Whose.
        before, after: Names of the functions.
        rerun: What is made again: 'run' for all that depends on it, 'call' for the call alone, '' for nothing yet.
        inputs, changed: As in `RetryReport`, of a call that is made again.
    """

    node: str
    before: str
    after: str
    rerun: str
    inputs: Restored = ''
    changed: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True)
class SkipReport:
    """A call returns a value without its function.

    Attributes:
        node: Whose call.
        value: What it returns.
    """

    node: str
    value: Value


@dataclass(frozen=True, slots=True)
class TensorDifferences:
    """Tensors that the last `swap` or `retry` changed."""

    tensors: tuple[Difference, ...]


# ---------------------------------------------------------------- inject
def _inject(context: Context, args: argparse.Namespace) -> Injection:
    stop = stop_of(context)
    if stop.run is None:
        raise CommandError('no call or graph runs here: there is no tensor to replace')
    name, expression = _assignment(args.tensor, args.expr)
    text, names = scope_of(stop, expression)
    refuse_seen_afterwards(stop)
    host = stop.run.host
    places = list(_places(stop, name))
    if not places:
        suggestion = _suggestion(name, _replaceable_names(stop))
        raise CommandError(f'no tensor {name!r} can be replaced here.{suggestion}')
    old = places[0].value
    new = replacement_value(evaluate(text, names), old, host, name)
    for place in places:
        place.put(new)
    if is_at_start(stop):
        stop.anew = True                        # the function has got the old one already
    return Injection(name, describe_value(old, host), describe_value(new, host),
                     ' and '.join(place.what for place in places))


def _assignment(tensor: str, expression: str) -> tuple[str, str]:
    """'x' and '1' of `inject x 1`, and of `inject x = 1` and `inject x=1`, as one writes it in Python."""
    name, equals, begin = tensor.partition('=')
    if equals:
        return name, f'{begin} {expression}'.strip()
    return tensor, expression.removeprefix('=') if not expression.startswith('==') else expression


@dataclass(slots=True)
class _Holder:
    """Something that holds a tensor: a list of a call, or the run."""

    what: str
    value: Any
    put: Any


def _places(stop: Stop, name: str) -> Iterator[_Holder]:
    """The places that hold a tensor at a stop."""
    call, run = stop.call, stop.run
    if call is not None and (stop.phase == 'before' or (is_at_start(stop) and is_enterable(call.site))):
        for index, labels in enumerate(_inputs(call)):
            if name in labels:
                yield _input(stop, call, index)
    if call is not None and stop.phase == 'after' and stop.outputs is not None:
        for index, labels in enumerate(_outputs(call, len(stop.outputs))):
            if name in labels:
                yield _holder('this call', stop.outputs, index)
    control: Any = run.control if run is not None else None
    if hasattr(control, 'inject') and name.rpartition(':')[2].isdigit():
        try:
            old = control.value(name)
        except KeyError as error:
            if stop.phase in ('after', 'before'):
                return
            raise CommandError(f'{error.args[0]}') from None
        host = control and run.host  # type: ignore[union-attr]
        yield _Holder('the run', old, lambda new: _put_into(control, name, host.to_numpy(new)))


def _put_into(control: Any, name: str, value: Any) -> None:
    try:
        control.inject(name, value)
    except ValueError as error:                 # the host refuses, and has changed nothing
        raise CommandError(f'{name} cannot be replaced: {error}') from None


def _input(stop: Stop, call: Call, index: int) -> _Holder:
    """An input of a call, and where its function begins the variable that has it."""
    variable = parameter_at(stop, index) if is_at_start(stop) else ''

    def put(new: Any) -> None:
        call.inputs[index] = new
        if variable and stop.frame is not None:
            FrameNames(stop.frame)[variable] = new
    return _Holder('this call', call.inputs[index], put)


def _holder(what: str, values: list[Any], index: int) -> _Holder:
    def put(new: Any) -> None:
        values[index] = new
    return _Holder(what, values[index], put)


def _inputs(call: Call) -> Iterator[tuple[str, ...]]:
    """The names of each input of a call: 'in0', the parameter, the tensor."""
    nested = call.site.attrs.get('_arguments') is not None
    parameters = () if nested else (parameter_names(call.site.function) or ())
    for index in range(len(call.inputs)):
        yield (f'in{index}', *call.site.inputs[index:index + 1], *parameters[index:index + 1])


def _outputs(call: Call, count: int) -> Iterator[tuple[str, ...]]:
    """The names of each output of a call: 'out0', the tensor; those of eager calls go by their node, as in `lt`."""
    for index in range(count):
        yield (f'out{index}', *(call.site.outputs[index:index + 1] or (f'{call.site.name}:{index}',)),
               *(('out',) if count == 1 else ()))


def _suggestion(name: str, names: list[str]) -> str:
    """The names that can be given: the nearest, else the first."""
    return nearest(name, names) or (f' These can: {", ".join(names[:_TOLD])}.' if names else '')


def _replaceable_names(stop: Stop) -> list[str]:
    """Names that can be given to `inject` at a stop."""
    found: list[str] = []
    if stop.call is not None and (stop.phase == 'before' or is_at_start(stop)):
        found += [name for names in _inputs(stop.call) for name in names]
    if stop.call is not None and stop.phase == 'after':
        found += [name for names in _outputs(stop.call, len(stop.outputs or ())) for name in names]
    if hasattr(getattr(stop.run, 'control', None), 'inject') and stop.control is not None:
        found += [name for site in stop.control.sites for name in (*site.inputs, *site.outputs)]
    return found


def _inject_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('tensor', metavar='TENSOR', help="'mm:0'; before a call also a parameter or 'in0', after it 'out0'")


# ---------------------------------------------------------------- swap
def _swap(context: Context, args: argparse.Namespace) -> FunctionSwap:
    stop, debugger = stop_of(context), debugger_of(context)
    if stop.run is None or stop.phase in ('run', 'end', 'post-mortem'):
        raise CommandError('no call or node is selected here: stop at one first')
    node, expression = _node_and_function(stop, args.func)
    if stop.call is not None and node in ('', *names_of_site(stop.call.site)):
        function = _evaluate(stop, expression)
        return _swap_call(debugger, stop, stop.call, function)
    place = RunPlace(stop)
    position, site = _python_site(place, node)
    function = _evaluate(stop, expression)
    control = stop.control
    if stop.phase not in ('node', 'error') or control is None:
        raise CommandError(f"{site.name!r} is not the node that runs: 'node' goes on to a place where it can be swapped")
    original, before = site.function, _name(site.function)
    position_done = place.done
    others = [name for one in place.sites[position:position_done] for name in one.outputs]
    values_before = copied_values(control, stop.run.host, others)
    try:
        control.swap(site, function)
    except ValueError as error:
        raise CommandError(f'{error}. Nothing was changed.') from None
    debugger.note_swap(site, original, len(site.inputs))
    resume_verb = 'run' if position < position_done or stop.error is not None else ''
    if resume_verb:
        stop.decide('swap', Rerun(position_done, values_before))
    return FunctionSwap(site.name, before, _name(function), resume_verb)


def _swap_call(debugger: Debugger, stop: Stop, call: Call, function: Any) -> FunctionSwap:
    """At a stop in or around a call: the call is made again with the new function, if it was made."""
    original, before = call.site.function, _name(call.site.function)
    if stop.phase != 'before':
        refuse_next_element(call.site)
    begins = is_at_start(stop)
    try:
        call.site.host.replace(call.site, function, len(call.inputs))
    except ValueError as error:
        raise CommandError(f'{error}. Nothing was changed.') from None
    debugger.note_swap(call.site, original, len(call.inputs))
    if begins:
        stop.anew = True
        stop.decide('swap')
    if stop.phase == 'before' or begins:
        return FunctionSwap(call.site.name, before, _name(function), '')
    inputs, changed = inputs_again(stop)
    stop.decide('retry')
    return FunctionSwap(call.site.name, before, _name(function), 'call', inputs, changed)


# ---------------------------------------------------------------- skip
def _skip(context: Context, args: argparse.Namespace) -> SkipReport:
    stop = stop_of(context)
    call, begins = stop.call, is_at_start(stop)
    if call is None or call.site.kind != 'python' or not (stop.phase == 'before' or begins):
        raise CommandError('no call of a Python function is next here: skip one before it, or where its function begins')
    value = _evaluate(stop, args.value)
    try:
        SkippedCall(call, value)
    except ValueError as error:
        raise CommandError(f'{error}. Nothing was changed.') from None
    stop.anew = begins
    stop.decide('next')
    return SkipReport(call.site.name, describe_value(value, call.site.host))


def _evaluate(stop: Stop, expression: str) -> Any:
    text, names = scope_of(stop, expression)
    return evaluate(text, names)


def _node_and_function(stop: Stop, text: str) -> tuple[str, str]:
    """'norm', 'lambda a: a' of 'norm lambda a: a'; '' for the node if none is given."""
    first, _, rest = text.partition(' ')
    if not rest.strip() or not is_python(rest.strip()):
        return '', text
    known = {site.name for site in RunTensors(stop, stop.run).sites()}
    return (first, rest.strip()) if first in known or not is_python(text) else ('', text)


def _python_site(place: RunPlace, name: str) -> tuple[int, CallSite]:
    """The node whose function is meant: by its name, or else the next one."""
    functions = [site.name for site in place.sites if site.kind == 'python']
    if name:
        position = place.find(name)
        if place.sites[position].kind == 'python':
            return position, place.sites[position]
        what = f'{name!r} is a {place.sites[position].op_type}: only the function of a Python node can be swapped.'
    else:
        if place.name(place.done) in functions:
            return place.done, place.sites[place.done]
        what = f"{place.name(place.done) or 'the end of the run'!r} has no Python function: 'swap NODE FUNC' names a node."
    shown = [repr(one) for one in functions[:_LISTED]] + ['...'] * (len(functions) > _LISTED)
    raise CommandError(f"{what} Those of this run: {', '.join(shown) or 'none'}")


def _name(function: Any) -> str:
    return getattr(function, '__qualname__', type(function).__name__) if function is not None else ''


# ---------------------------------------------------------------- differences
def _differences(context: Context, args: argparse.Namespace) -> TensorDifferences:
    stop = stop_of(context)
    if not stop.differences:
        raise CommandError("no call was just repeated: 'swap' and 'retry' compare outputs")
    return TensorDifferences(stop.differences)


def _draw_differences(result: TensorDifferences) -> RenderableType:
    return differences_view(result.tensors)


INJECT = Command('inject', 'replace the value of a tensor', 'run', _inject,
                 lambda result: injection_view(result.tensor, result.before, result.after, result.scope), _inject_arguments,
                 needs_stop=True, expression='expr',
                 examples=('inject mm:0 np.zeros((3, 4), np.float32)', 'inject x x * 2'))
SWAP = Command('swap', "replace the Python function of this node, or of another: 'swap NODE FUNC'. Dependent nodes run "
               "again; 'quit' restores the program's function", 'run', _swap,
               lambda result: swap_view(result.node, result.before, result.after, result.rerun, result.inputs,
                                            result.changed),
               needs_stop=True, expression='func',
               examples=('swap lambda x: x * 2', 'swap norm other_norm'), tail='[NODE] FUNC')
SKIP = Command('skip', 'do not run the function of the next call: return a value instead, several as a tuple', 'run', _skip,
               lambda result: skip_view(result.node, result.value), needs_stop=True,
               expression='value', examples=('skip np.zeros(3, np.float32)', 'skip x * 2, 0'))
DIFFERENCES = Command('differences', 'tensors that changed by swap or retry', 'look', _differences,
                      _draw_differences, needs_stop=True,
                      examples=('differences',))
COMMANDS: tuple[Command, ...] = (INJECT, SWAP, SKIP, DIFFERENCES)
