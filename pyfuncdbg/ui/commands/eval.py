"""`eval`: an expression over tensors by their names, recorded ones or, at a stop, those of the run.

The user typed it, so it is carried out, here, on the caller's thread; nothing that a trace holds is ever carried out.
"""
from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from rich.console import RenderableType

from pyfuncdbg.errors import CommandError, TraceError
from pyfuncdbg.observers.debug.conditions.vocabulary import VOCABULARY
from pyfuncdbg.observers.debug.inspecting.evaluate import Namespace, evaluate, replace_tensor_names
from pyfuncdbg.observers.debug.inspecting.scope import host_of, scope_of
from pyfuncdbg.observers.debug.value import Value, describe_value
from pyfuncdbg.ui.commands.array_files import write_array
from pyfuncdbg.ui.commands.engine.arguments import positive
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.engine.lookup import elements, find_tensor, parse_tensor
from pyfuncdbg.ui.commands.engine.slice_syntax import slice_array
from pyfuncdbg.ui.commands.live_values import live_value
from pyfuncdbg.ui.views.tensors.expression_value import evaluated_view

_QUOTED = re.compile(r'`([^`]+)`|(?<![\w\'"#`])(#\d+(?:\.\d+)?:(?:in|out)?\d+)')
"""'`norm[3]:0`', and '#17:in0', which needs no quotes."""


@dataclass(frozen=True, slots=True)
class EvaluatedValue:
    """The value of an expression.

    Attributes:
        expression: As typed.
        value: Its value.
        limit: Elements to list, None for as many as there is room for.
        file: File to which it went.
    """

    expression: str
    value: Value
    limit: int | None
    file: str


class QuotedNames(Namespace):
    """Namespace of quoted tensors, before another namespace and the nodes of the stopped run."""

    def __init__(self, quoted: dict[str, Callable[[], Any]], names: Namespace, context: Context | None) -> None:
        super().__init__()
        self._quoted = quoted
        self._names = names
        self._context = context
        self.presets = names.presets

    def get_name(self, name: str) -> Any:
        if name in self._quoted:
            return self._quoted[name]()
        try:
            return self._names[name]
        except KeyError:
            live = live_value(self._context, parse_tensor(name)) if self._context is not None else None
            if live is None:
                raise
        return live.values

    def all_names(self) -> Iterable[str]:
        return self._names.all_names()

    def settle(self) -> None:
        self._names.settle()


class EndedNames(Namespace):
    """The names at the end of a run: its tensors as they were recorded, then those of a namespace."""

    def __init__(self, recorded: Namespace, names: Namespace) -> None:
        super().__init__()
        self._recorded = recorded
        self._names = names

    def get_name(self, name: str) -> Any:
        try:
            return self._recorded[name]
        except KeyError:
            return self._names[name]

    def all_names(self) -> Iterable[str]:
        return {*self._recorded.all_names(), *self._names.all_names()}

    def settle(self) -> None:
        self._names.settle()


class TraceNames(Namespace):
    """The names of a recorded trace: nodes and feeds mean their newest value; `np`, and the words of conditions.

    A node may be named as one of those words is: where the word is called, as in norm(x), it is the word.
    """

    def __init__(self, context: Context, run: int | None, text: str) -> None:
        super().__init__()
        self._called = set(re.findall(r'\b(\w+)\s*\(', text))
        self._context = context
        self._run = run
        self._tensors = tensors_of(context)

    def get_name(self, name: str) -> Any:
        if f'{name}:0' in self._tensors and not (name in VOCABULARY and name in self._called):
            return recorded_elements(self._context, name, self._run)
        return np if name == 'np' else VOCABULARY[name]

    def all_names(self) -> Iterable[str]:
        return {*(name.removesuffix(':0') for name in self._tensors), *VOCABULARY, 'np'}


def tensors_of(context: Context) -> set[str]:
    """Names of the tensors that a trace may hold."""
    names = {name for site in context.trace.sites() for name in (*site.inputs, *site.outputs, f'{site.name}:0') if name}
    for run in context.trace.calls(kind='run', newest_first=True, limit=1):
        names |= {tensor.name for tensor in (*run.inputs, *run.outputs) if tensor.name}
    return names


def recorded_elements(context: Context, name: str, run: int | None = None) -> np.ndarray:
    """The elements of a recorded tensor as `pt` would name it, a slice included.

    Raises:
        CommandError: There is none, or it was not kept.
    """
    spec = parse_tensor(name)
    try:
        values = elements(context.trace, spec, find_tensor(context.trace, spec, run=run, stop=context.stop))
    except TraceError as error:
        raise CommandError(str(error)) from None
    return values if spec.index is None else slice_array(values, spec.index, spec.name)


def _replace_quoted(text: str) -> tuple[str, dict[str, str]]:
    """An expression with a Python name of the same length for each quoted tensor, and what those names mean."""
    meaning: dict[str, str] = {}

    def word(match: re.Match[str]) -> str:
        tensor = (match[1] or match[2]).strip()
        name = '_' + re.sub(r'\W', '_', match[0])[1:]
        while meaning.get(name, tensor) != tensor:
            name += '_'                         # 'a/b' and 'a_b'
        meaning[name] = tensor
        return name
    return _QUOTED.sub(word, text), meaning


def _evaluate(context: Context, args: argparse.Namespace) -> EvaluatedValue:
    text, meaning = _replace_quoted(args.expression)
    at_stop = context.stop is not None and args.run is None
    readers: dict[str, Callable[[], Any]] = {}
    for word, tensor in meaning.items():
        readers[word] = _reader(context, tensor, args.run)
    host = None
    if at_stop and context.stop is not None:
        stop = context.stop
        end_run = stop.run.id if stop.phase == 'end' and stop.run is not None else None
        if end_run is not None:                   # its values exist only in the recording
            text, plain = replace_tensor_names(text, tensors_of(context))
            readers |= {word: partial(recorded_elements, context, tensor, end_run) for word, tensor in plain.items()}
        text, names = scope_of(stop, text)
        host = host_of(stop)
        if end_run is not None:
            names = EndedNames(TraceNames(context, end_run, text), names)
    else:
        names = TraceNames(context, args.run, text)
        text, plain = replace_tensor_names(text, tensors_of(context))
        for word, tensor in plain.items():
            readers[word] = _reader(context, tensor, args.run)
    try:
        value = describe_value(evaluate(text, QuotedNames(readers, names, context if at_stop else None)), host)
    except CommandError as error:
        raise CommandError(_as_typed(str(error), text, args.expression)) from None
    if args.write and value.array is None:
        raise CommandError(f'eval -w: expected an array, got a {value.type}')
    file = write_array(value.array, args.write) if args.write and value.array is not None else ''
    return EvaluatedValue(args.expression, value, args.n, file)


def _as_typed(message: str, text: str, typed: str) -> str:
    """A message with the expression as it was typed: the names that stand in for tensors are as long as those."""
    return message.replace(text.strip(), typed.strip()) if len(text) == len(typed) else message


def _reader(context: Context, tensor: str, run: int | None) -> Callable[[], Any]:
    def read() -> Any:
        spec = parse_tensor(tensor)
        live = live_value(context, spec) if run is None else None
        if live is None:
            return recorded_elements(context, tensor, run)
        return live.values if spec.index is None else slice_array(live.values, spec.index, spec.name)
    return read


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--run', metavar='N', type=positive, help='names mean the tensors of run N; by default the newest')
    parser.add_argument('-n', metavar='K', type=positive, help='list at most K elements')
    parser.add_argument('-w', '--write', metavar='FILE', help='write the result to a .npy file, or a new .txt file')
    parser.epilog = ('Names: norm, norm:0, #17:in0, `norm[3]:0`, `layer/norm:0[1:3]`; np, has_nan(x), norm(x), absmax(x), '
                     'zeros(x). At a stop also the variables of the frame. Such as: eval np.abs(#17:0 - norm:0).max()')


def _draw(result: EvaluatedValue) -> RenderableType:
    return evaluated_view(result.expression, result.value, limit=result.limit, written=result.file)


EVAL = Command('eval', 'print the value of an expression over tensors, also recorded ones', 'look', _evaluate,
               _draw, _arguments, expression='expression',
               examples=('eval np.abs(#17:0 - norm:0).max()', 'eval has_nan(norm:0)'))
COMMANDS: tuple[Command, ...] = (EVAL,)
