"""Calls of the program's functions by PyTorch, as hooks see them. On the thread of each call."""
from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.call_frames import mark_function_caller
from pyfuncdbg.hooks.chain import call_unwatched, current_call, hooks, invoke
from pyfuncdbg.hosts.interception.result_list import ResultList, output_list
from pyfuncdbg.hosts.torch.python_calls.called_function import CalledFunction
from pyfuncdbg.hosts.torch.python_calls.nested_arguments import NestedArguments, flatten
from pyfuncdbg.hosts.torch.thread_runs import ThreadRuns
from pyfuncdbg.hosts.torch.torch_parts import TorchParts

NoteCall = Callable[[int, Any], None]
"""Takes the id of a call and its result."""


class PythonCalls:
    """Maker of calls.

    Attributes:
        on: Whether PyTorch is attached; otherwise calls are passed on unwatched.
    """

    def __init__(self, parts: TorchParts, runs: ThreadRuns) -> None:
        self.on = True
        self._runs = runs
        native = parts.native
        self._transforms: Callable[[], bool] = native._are_functorch_transforms_active
        self._modes: Callable[[], int] = native._len_torch_dispatch_stack
        self._mode: Callable[[Any], Any] = native._get_dispatch_mode
        keys = native._TorchDispatchModeKey
        self._tracing_keys = tuple([getattr(keys, name) for name in ('FAKE', 'PROXY', 'FUNCTIONAL') if hasattr(keys, name)])

    @property
    def watched(self) -> bool:
        """Whether a call made now has values and is seen by a hook: not one that only traces or transforms a function."""
        if not self.on or not hooks.python or self._transforms():
            return False
        return not self._modes() or all(self._mode(key) is None for key in self._tracing_keys)

    def make(self, called: CalledFunction, original: Callable[..., Any], args: Sequence[Any],
             kwargs: Mapping[str, Any], note: NoteCall | None = None) -> Any:
        """Make one call.

        Args:
            called: What is called.
            original: Calls it with its arguments.
            args, kwargs: The arguments.
            note: Is told of the call and its result, before hooks may change that.

        Returns:
            The result, or what a hook has put in its place.
        """
        run = self._runs.current()
        layout, inputs = flatten(args, kwargs, called.parameters if kwargs or args else ())
        site = called.site(sys._getframe(1), layout)
        if hooks.is_ignored(site) and run.aborted is None:
            next(site.counter)
            return call_unwatched(run, original if not kwargs else partial(original, **kwargs), *args)
        function = original if layout is None else partial(_call_nested, original, layout)
        caller = partial(_call, function) if note is None else partial(_call_noted, function, site, note)
        outputs = invoke(site, caller, run, inputs)
        return outputs.raw if type(outputs) is ResultList else _as_result(outputs)


@mark_function_caller
def _call(function: Callable[..., Any], *inputs: Any) -> Sequence[Any]:
    return output_list(function(*inputs))


@mark_function_caller
def _call_noted(function: Callable[..., Any], site: CallSite, note: NoteCall, *inputs: Any) -> Sequence[Any]:
    result = function(*inputs)
    note(current_call(site), result)
    return output_list(result)


@mark_function_caller
def _call_nested(original: Callable[..., Any], layout: NestedArguments, *inputs: Any) -> Any:
    positional, keywords = layout.arguments(inputs)
    return original(*positional, **keywords)


def _as_result(outputs: Sequence[Any]) -> Any:
    """The result that outputs of a hook make up: one alone, none, or a tuple."""
    return outputs[0] if len(outputs) == 1 else tuple(outputs) if outputs else None
