"""Calls of the program's functions by PyTorch, as hooks see them. On the thread of each call."""
from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import FrameType
from typing import Any, Protocol

from pyfuncdbg.hooks.call import CallSite, Frame, Run, in_reexecution
from pyfuncdbg.hooks.call_frames import mark_call_frame, mark_function_caller
from pyfuncdbg.hooks.chain import call_unwatched, current_call, hooks, invoke
from pyfuncdbg.hooks.facts import Fact
from pyfuncdbg.hooks.installed_hooks import Watcher
from pyfuncdbg.hooks.native_thread import native_thread
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hooks.watched_call import make_call
from pyfuncdbg.hosts.interception.result_list import ResultList
from pyfuncdbg.hosts.interception.watched_calls import describe_by_inputs
from pyfuncdbg.hosts.torch.python_calls.called_function import CalledFunction
from pyfuncdbg.hosts.torch.python_calls.nested_arguments import NestedArguments, flatten, form_of_values
from pyfuncdbg.hosts.torch.python_calls.nested_results import fold, unfold
from pyfuncdbg.hosts.torch.thread_runs import ThreadRuns
from pyfuncdbg.hosts.torch.torch_parts import TorchParts

CHECKPOINT = 'torch.utils.checkpoint'
_UNCUT = frozenset(('eager', 'function'))
"""Kinds of runs in which PyTorch ends no function before its end: it does so where it recomputes, in backward passes."""
_NEXT = '__next__'
"""A function that ends with an exception."""
NoteCall = Callable[[int, CallSite, Any], None]
"""Takes the id of a call, its site and its result."""


class CallExaminer(Protocol):
    """Gatherer of facts for the doctor."""

    def on_kernel(self, called: CalledFunction, args: Sequence[Any], result: Any) -> None:
        """The kernel of an op has returned."""

    def on_node(self, called: CalledFunction, node: Any, args: Sequence[Any], result: Any) -> None:
        """A function with a gradient has returned, and has a backward node."""

    def on_read(self, tensor: Any, result: Any, name: str, line: Frame, took: int) -> None:
        """The program has read elements of a tensor, which took some nanoseconds."""

    def begin(self) -> None:
        """Begin anew, in a process that was forked."""

    def work_facts(self) -> Iterator[Fact]:
        """The facts about what the process itself has computed since `begin`."""


class PythonCalls:
    """Maker of calls.

    Attributes:
        on: Whether PyTorch is attached; otherwise calls are passed on unwatched.
        examination: Gathers facts under `pyfuncdbg doctor`; else None.
        enter_op_mode: Is called on the thread of a call that begins while a hook wants ops: another may have added it.
        is_compiling: Whether `torch.compile` or an export traces this code; they take the answer for a constant.
        is_dynamo_compiling: Whether `torch.compile` does; three times faster, for code that asks `is_traced`, too.
    """

    def __init__(self, parts: TorchParts, runs: ThreadRuns) -> None:
        self.on = True
        self._runs = runs
        self.examination: CallExaminer | None = None
        self.enter_op_mode: Callable[[], None] = lambda: None
        self.is_compiling: Callable[[], bool] = parts.compiler.is_compiling
        self.is_dynamo_compiling: Callable[[], bool] = parts.compiler.is_dynamo_compiling
        native = parts.native
        self._transforms: Callable[[], bool] = native._are_functorch_transforms_active
        self._modes: Callable[[], int] = native._len_torch_dispatch_stack
        self._mode: Callable[[Any], Any] = native._get_dispatch_mode
        keys = native._TorchDispatchModeKey
        self._tracing_keys = tuple([getattr(keys, name) for name in ('FAKE', 'PROXY', 'FUNCTIONAL') if hasattr(keys, name)])

    @property
    def watched(self) -> bool:
        """Whether a call made now has values and is seen by a hook: not one that only traces or transforms a function."""
        return self.on and bool(hooks.python) and not self.is_traced

    @property
    def is_traced(self) -> bool:
        """Whether code now only traces or transforms a function: its tensors have no values of their own.

        Also whether it is executed again for inspection, which is no part of the program.
        """
        if self._transforms() or in_reexecution():
            return True
        return self._modes() > 0 and any(self._mode(key) is not None for key in self._tracing_keys)

    @transparent
    def make(self, called: CalledFunction, original: Callable[..., Any], args: Sequence[Any],
             kwargs: Mapping[str, Any], note: NoteCall | None = None) -> Any:
        """Make one call.

        Args:
            called: What is called.
            original: Calls it with its arguments.
            args, kwargs: The arguments.
            note: Called with the call and its result, before hooks may change the result.

        Returns:
            The result, or what a hook has put in its place.
        """
        if hooks.op:
            self.enter_op_mode()
        run = self._runs.current()
        layout, inputs = flatten(args, kwargs, called.parameters if kwargs or args else ())
        frame = self._runs.frame_with_line(sys._getframe(1))
        site = called.site(frame, layout, run.kind == 'backward' and is_recomputing(frame),
                           form_of_values(inputs) if layout is None else None)
        if hooks.is_ignored(site) and run.aborted is None:
            next(site.counter)
            return call_unwatched(run, original if not kwargs else partial(original, **kwargs), *args)
        watcher = hooks.sole_taker['python']
        if watcher is not None and layout is None and run.kind in _UNCUT and hooks.gradient and (
                getattr(original, '__name__', '') != _NEXT):
            number = CallNumber()               # filled here: an `__init__` costs 0.06 us
            number.call = 0
            result = _make_watched(site, run, inputs, watcher, number, original, args)
            if number.call:
                if note is not None:
                    note(number.call, site, result.raw)
                return result.raw
        function = original if layout is None else partial(_call_nested, original, layout, args, kwargs, tuple(inputs))
        returned: list[Any] = []
        caller = partial(_call, function, returned) if note is None else partial(_call_noted, function, returned, site, note)
        outputs = invoke(site, caller, run, inputs)
        if type(outputs) is EarlyEnd:
            raise outputs.error
        return outputs.raw if type(outputs) is ResultList else fold(outputs, returned[-1] if returned else None)


class CallNumber:
    """The id of a call that a recorder alone watches; 0 until it has begun."""

    __slots__ = ('call',)

    call: int


@transparent
@mark_call_frame(describe_by_inputs('inputs'))
def _make_watched(site: CallSite, run: Run, inputs: list[Any], watcher: Watcher, number: CallNumber,
                  original: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Make a call that a recorder alone watches: half of what `invoke` takes. Nothing has happened if it has no number."""
    return make_call(site, run, inputs, native_thread(), watcher, number, _call_unfolded, (original, *args))


@transparent
@mark_function_caller
def _call_unfolded(original: Callable[..., Any], *args: Any) -> ResultList:
    return unfold(original(*args))


class EarlyEnd(list[Any]):
    """Outputs of a call that an exception has ended which is no failure: none.

    Attributes:
        error: Tells PyTorch so.
    """

    __slots__ = ('error',)

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


@transparent
@mark_function_caller
def _call(function: Callable[..., Any], returned: list[Any], *inputs: Any) -> Sequence[Any]:
    try:
        result = function(*inputs)
    except Exception as error:                  # the program's own, or an end that is none
        if _ends_early(function, error):
            return EarlyEnd(error)
        raise
    returned[:] = result,
    return unfold(result)


@transparent
@mark_function_caller
def _call_noted(function: Callable[..., Any], returned: list[Any], site: CallSite, note: NoteCall,
                *inputs: Any) -> Sequence[Any]:
    try:
        result = function(*inputs)
    except Exception as error:                  # the program's own, or an end that is none
        if _ends_early(function, error):
            return EarlyEnd(error)
        raise
    note(current_call(site), site, result)
    returned[:] = result,
    return unfold(result)


@transparent
@mark_function_caller
def _call_nested(original: Callable[..., Any], layout: NestedArguments, args: Sequence[Any], kwargs: Mapping[str, Any],
                 leaves: Sequence[Any], *inputs: Any) -> Any:
    """Call a function with its own containers, which it may change; with new ones where a hook has replaced an input."""
    if not all(map(operator.is_, leaves, inputs)):
        args, kwargs = layout.arguments(inputs)
    return original(*args, **kwargs)


def _ends_early(function: Any, error: Exception) -> bool:
    """Whether an exception is the end of an iterator, or PyTorch's end of a function that it has recomputed far enough."""
    if type(error) is StopIteration:
        return getattr(function, '__name__', '') == _NEXT
    return type(error).__name__ == '_StopRecomputationError' and type(error).__module__ == CHECKPOINT


def is_recomputing(frame: FrameType | None) -> bool:
    """Whether a frame is within a block that `checkpoint` executes once more for a backward pass."""
    while frame is not None:
        if frame.f_globals.get('__name__') == CHECKPOINT:
            return True
        frame = frame.f_back
    return False
