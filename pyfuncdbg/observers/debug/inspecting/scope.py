"""Scope of names at the selected stack entry: variables of a frame, tensors of a node or run.

Asked on the stopped thread.
"""
from __future__ import annotations

import inspect
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy

from pyfuncdbg.errors import CommandError, nearest
from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.host import Host
from pyfuncdbg.observers.debug.conditions.function_parameters import parameter_names
from pyfuncdbg.observers.debug.conditions.vocabulary import VOCABULARY
from pyfuncdbg.observers.debug.inspecting.evaluate import FrameNames, Namespace, NodeNames, is_python, replace_tensor_names
from pyfuncdbg.observers.debug.inspecting.stack import (
    Entry,
    FrameEntry,
    NodeEntry,
    RunEntry,
    selected_entry,
    selected_frame,
    stack_of,
)
from pyfuncdbg.observers.debug.stops.stop import Stop

Read = Callable[[], Any]


def scope_of(stop: Stop, text: str) -> tuple[str, Namespace]:
    """An expression as Python, and the names it may use.

    Args:
        stop: Where the user is.
        text: As typed: 'mm:0' in it is a tensor of the run.
    """
    text, names = _scope_of(stop, text)
    names.presets = {'_': lambda: _printed(stop), '_exception': lambda: _exception(stop), '_retval': lambda: _returned(stop),
                     '_frame': lambda: selected_frame(stop)}
    return text, names


def _scope_of(stop: Stop, text: str) -> tuple[str, Namespace]:
    entry = selected_entry(stop)
    if isinstance(entry, FrameEntry):
        names: Namespace = FrameNames(entry.frame)
        if ':' not in text or is_python(text):
            return text, names
        readers: dict[str, Read] = {}
        outer: Mapping[str, Any] = names
    else:
        readers, outer = dict(_node_names(stop, entry)), _outer_names(stop, entry)
    tensors = RunTensors(stop, _run_of(stop, entry))
    if not isinstance(entry, FrameEntry):
        readers = {**dict(_program_names(tensors, outer)), **readers}
    text, meaning = replace_tensor_names(text, tensors.names())
    for word, tensor in meaning.items():
        readers[word] = tensors.reader(tensor)
    inputs = [name for name, _, _ in node_inputs(stop, entry) if name] if isinstance(entry, NodeEntry) else []
    return text, NodeNames(readers, outer, inputs)


def _printed(stop: Stop) -> Any:
    if not stop.printed:
        raise CommandError('$_ is the last value printed at this stop, and there is none')
    return stop.printed[0]


def _exception(stop: Stop) -> BaseException:
    if stop.error is None:
        raise CommandError('$_exception is the exception raised here, and there is none')
    return stop.error


def _returned(stop: Stop) -> Any:
    if stop.returns:
        return stop.result
    if stop.outputs is None:
        raise CommandError('$_retval is the return value: it exists where a function returns, and after a call')
    return stop.outputs[0] if len(stop.outputs) == 1 else tuple(stop.outputs)


def host_of(stop: Stop) -> Host | None:
    """The host that reads the tensors at a stop."""
    run = _run_of(stop, selected_entry(stop))
    return run.host if run is not None else None


class RunTensors:
    """The tensors of a run, as far as they can be read at a stop."""

    def __init__(self, stop: Stop, run: Run | None) -> None:
        self._stop = stop
        self._run = run
        self._view: Any = run.control if run is not None else None
        if self._view is not None and not hasattr(self._view, 'value'):
            look = getattr(self._view, 'look', None)
            self._view = look() if look is not None else None

    def sites(self) -> tuple[CallSite, ...]:
        """The nodes of the run; those of the stack where it has announced none."""
        mine = [entry.site for entry in stack_of(self._stop) if isinstance(entry, NodeEntry) and entry.run is self._run]
        return (*(self._run.sites if self._run is not None else ()), *mine)

    def names(self) -> set[str]:
        """All that have a name."""
        found = {name for site in self.sites() for name in (*site.inputs, *site.outputs) if name}
        return found | set(self._run.feeds if self._run is not None else ())

    def name_of(self, value: Any) -> str:
        """The name of the tensor that an object of the program represents, '' if none."""
        return self._run.host.tensor_name(value) if self._run is not None else ''

    def reader(self, tensor: str) -> Read:
        """A function that reads a tensor when it is needed."""
        return lambda: self.value(tensor)

    def value(self, tensor: str) -> Any:
        """The host's value of a tensor.

        Raises:
            CommandError: There is none, or it cannot be read here.
        """
        for known, value in self._stack_tensors():
            if known == tensor:
                return value
        if tensor not in self.names():
            raise CommandError(f'no tensor {tensor!r} in this run.{nearest(tensor, self.names())}')
        if self._stop.phase == 'post-mortem':
            raise CommandError(f"{tensor!r} is gone: the run is over. 'pt' shows it if it was recorded")
        if self._stop.phase == 'run':
            raise CommandError(f'{tensor!r} has no value yet: no node of this run has been executed')
        if self._view is None:
            raise CommandError(f'{tensor!r} is not available: this run does not report its tensors before it ends')
        try:
            return self._view.value(tensor)
        except KeyError as error:
            if getattr(self._view, 'within', ''):
                raise CommandError(f'{tensor!r} is outside of the loop or branch that runs here') from None
            raise CommandError(f'no value of {error.args[0]}') from None

    def _stack_tensors(self) -> Iterator[tuple[str, Any]]:
        """Tensors that the calls on the stack hold."""
        for entry in reversed(stack_of(self._stop)):
            call = entry.call if isinstance(entry, NodeEntry | RunEntry) else None
            if call is None or call.run is not self._run:
                continue
            if isinstance(entry, RunEntry):
                yield from zip(call.run.feeds, call.inputs, strict=False)
                continue
            outputs = self._stop.outputs if call is self._stop.call else call.outputs
            yield from zip(call.site.outputs, outputs or (), strict=False)
            feeds = call.run.feeds if self._view is None and not call.site.traits.unlinked else ()
            for name, value in zip(call.site.inputs, call.inputs, strict=False):
                if name not in feeds:           # a call may have a part of a feed, as a shard; only the run has all of it
                    yield name, value


def node_inputs(stop: Stop, entry: NodeEntry) -> list[tuple[str, str, Read]]:
    """(name in the function, tensor's name, value) of each input of a node."""
    site, call = entry.site, entry.call
    tensors = RunTensors(stop, entry.run)
    count = len(call.inputs) if call is not None else len(site.inputs)
    names = (parameter_names(site.function) or ()) if site.attrs.get('_arguments') is None else ()
    inputs: list[tuple[str, str, Read]] = []
    for index in range(count):
        tensor = site.inputs[index] if index < len(site.inputs) else ''
        read = (lambda index=index: call.inputs[index]) if call is not None else tensors.reader(tensor)  # type: ignore[misc]
        inputs.append((names[index] if index < len(names) else '', tensor, read))
    return inputs


def _node_names(stop: Stop, entry: Entry | None) -> Iterator[tuple[str, Read]]:
    """The names at a node or a run; later ones win."""
    run = _run_of(stop, entry)
    tensors = RunTensors(stop, run)
    if run is not None and run.element is not None:
        yield 'element', lambda: run.element
    for site in tensors.sites():
        if site.outputs and site.name.isidentifier():
            yield site.name, tensors.reader(site.outputs[0])
    for name in run.feeds if run is not None else ():
        if (word := name.removesuffix(':0')).isidentifier():
            yield word, tensors.reader(name)
    if isinstance(entry, NodeEntry):
        inputs = node_inputs(stop, entry)
        yield 'inputs', lambda: [read() for _, _, read in inputs]
        if entry.call is not None and (outputs := entry.call.outputs if entry.call is not stop.call else stop.outputs):
            yield 'outputs', lambda: list(outputs)
            yield 'out', lambda: outputs[0] if len(outputs) == 1 else tuple(outputs)
        for name, _, read in inputs:
            if name:
                yield name, read
    elif isinstance(entry, RunEntry):
        yield 'feeds', lambda: {name: tensors.value(name) for name in entry.run.feeds}


def object_named(stop: Stop, name: str) -> Any:
    """The function, class or module of the program by a name that at a node or run means a tensor; None if there is none."""
    entry = selected_entry(stop)
    spaces = [] if isinstance(entry, FrameEntry) else _of_program(stop, entry)
    found = next((space[name] for space in spaces if name in space), None)
    return found if inspect.isroutine(found) or inspect.isclass(found) or inspect.ismodule(found) else None


def _program_names(tensors: RunTensors, names: Mapping[str, Any]) -> Iterator[tuple[str, Read]]:
    """The program's own names for tensors of the run: at a node they mean the values."""
    tensor_names = tensors.names()
    for word in names:
        tensor = tensors.name_of(names[word])
        if tensor in tensor_names:
            yield word, tensors.reader(tensor)


def _outer_names(stop: Stop, entry: Entry | None) -> Mapping[str, Any]:
    """Names beside the tensors: of the node's function, of the frame that asked for the run, `np` and conditions' words."""
    return ChainMap(*_of_program(stop, entry), {'np': numpy, **VOCABULARY})


def _of_program(stop: Stop, entry: Entry | None) -> list[dict[str, Any]]:
    """Names of the node's function, and of the frame that asked for the run."""
    frames = [one.frame for one in stack_of(stop) if isinstance(one, FrameEntry)]
    own = [dict(frames[-1].f_locals), frames[-1].f_globals] if frames else []
    return [dict(_globals_of(entry)), *own]


def _globals_of(entry: Entry | None) -> Mapping[str, Any]:
    function = entry.site.function if isinstance(entry, NodeEntry) else None
    found = getattr(function, '__globals__', None)
    return found if isinstance(found, dict) else {}


def _run_of(stop: Stop, entry: Entry | None) -> Run | None:
    return entry.run if isinstance(entry, NodeEntry | RunEntry) else stop.run
