"""Observer of the program's calls of PyTorch's functions, while a hook wants gradients. On the thread of each call.

A mode of PyTorch's own, one for each thread: it adds 1 µs to a call, and `torch.compile` traces through it.
"""
from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter_ns
from types import BuiltinFunctionType, FrameType, FunctionType, MethodDescriptorType, MethodWrapperType
from typing import Any

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.chain import hooks, report_failure
from pyfuncdbg.hooks.stand_in_frames import call_behind
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hosts.interception.program_line import NOWHERE, program_line
from pyfuncdbg.hosts.torch.mode_frames import drop_later_added_frames, frames_within_op, replaced_caller, without_call_frame
from pyfuncdbg.hosts.torch.python_calls.python_calls import PythonCalls
from pyfuncdbg.hosts.torch.tapes.forward_notes import READING, WAYS, ForwardNotes, GradientLoss
from pyfuncdbg.hosts.torch.tapes.gradient_graph import leaves_below
from pyfuncdbg.hosts.torch.tensor_values import tensors_in
from pyfuncdbg.hosts.torch.thread_runs import ThreadRuns
from pyfuncdbg.hosts.torch.torch_parts import TorchParts

_MOST_NODES = 256
_MOST_FUNCTIONS = 4096
_IGNORED = frozenset(('__get__', '__set__', '__repr__', '__format__', '__len__', '__bool__', 'size', 'dim', 'numel',
                      'backward', 'grad', 'zeros_like', 'ones_like', 'empty_like', 'requires_grad_', 'zero_', 'retain_grad',
                      'stride', 'is_contiguous', 'is_floating_point', 'register_hook', 'register_post_accumulate_grad_hook'))
"""Functions that lose no gradient, or none of an element."""
_LEVELS = {FunctionType: 3}
"""Frames around a call that a warning in it may name: in PyTorch's functions in Python up to the third, in C the first."""
_WITHOUT_FRAME = frozenset((FunctionType, BuiltinFunctionType, MethodDescriptorType, MethodWrapperType))
"""Types of functions that are no ops of `torch.ops`."""


class _Thread(threading.local):
    """State of this thread.

    Attributes:
        mode: Our mode that was put on its stack last. PyTorch takes it off while it handles a call, and where a backward
            step ends in which it was put there.
    """

    mode: Any = None


class ForwardMode:
    """The modes of all threads.

    Attributes:
        on: Whether PyTorch is attached.
    """

    def __init__(self, parts: TorchParts, calls: PythonCalls, runs: ThreadRuns) -> None:
        self.on = True
        self._parts = parts
        self._calls = calls
        self._runs = runs
        self._thread = _Thread()
        self._tensor: type = parts.torch.Tensor
        self._methods = dict(vars(self._tensor))
        self._resolved: dict[FunctionType, Any] = {}
        self._stack_size: Callable[[], int] = parts.native._len_torch_function_stack
        self._sequence_number: Callable[[], int] = parts.autograd._get_sequence_nr
        self._grad_enabled: Callable[[], bool] = parts.torch.is_grad_enabled
        self._kind = self._mode_class()

    @property
    def notes(self) -> ForwardNotes:
        """The notes of this thread, or of that for which the engine executes a node here."""
        return self._runs.forward.notes

    # ------------------------------------------------------------------ the stack of modes
    def enter(self) -> None:
        """Begin on this thread, if a hook wants gradients; only below the program's modes, which end the innermost first."""
        if not hooks.gradient or not self.on:
            return
        mode = self._thread.mode
        if not (mode is not None and mode.depth) and not self._stack_size() and not self._calls.is_traced:
            mode = self._thread.mode = self._kind()
            self._parts.modes._push_mode(mode)

    def follow_hooks(self) -> None:
        """Begin on this thread, or end, after hooks were added or removed."""
        if hooks.gradient:
            self.enter()
        else:
            self.leave()

    def leave(self) -> None:
        """End on this thread."""
        modes = self._parts.modes
        others = []
        while self._stack_size():
            mode = modes._pop_mode()
            if type(mode) is not self._kind:
                others.append(mode)
        for mode in reversed(others):
            modes._push_mode(mode)

    @transparent
    def paused(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function that calls another one without our mode, which else would leave frames in its exceptions."""
        size, modes, kind = self._stack_size, self._parts.modes, self._kind

        def call(*args: Any, **kwargs: Any) -> Any:
            if size() != 1:
                return function(*args, **kwargs)
            mode = modes._pop_mode()
            if type(mode) is not kind:
                modes._push_mode(mode)
                return function(*args, **kwargs)
            mode.depth += 1
            try:
                return function(*args, **kwargs)
            finally:
                mode.depth -= 1
                if self.on:                     # else detached meanwhile
                    modes._push_mode(mode)
        return call

    @transparent
    def _mode_class(self) -> Any:
        is_compiling, observe, observer = self._calls.is_compiling, self._observe, self
        resolved, resolve = self._resolved, self._resolve

        class Observing(self._parts.modes.TorchFunctionMode):  # type: ignore[misc, name-defined]
            """A mode that changes nothing."""

            depth = 0                           # of the calls that it handles

            def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                if is_compiling():              # `torch.compile` takes the answer for a constant
                    return func(*args, **(kwargs or {}))
                handler = sys._getframe(1)
                levels = _LEVELS.get(type(func), 1)
                if levels > 1:
                    func = resolved.get(func) or resolve(func)
                call = func if type(func) in _WITHOUT_FRAME else without_call_frame(func)
                self.depth += 1
                try:
                    if not observer.on or not hooks.gradient:
                        return call_behind(replaced_caller(handler), levels, call, args, kwargs or {})
                    return observe(func, call, args, kwargs or {}, handler, levels)
                except BaseException as error:
                    error.__traceback__ = frames_within_op(error.__traceback__, call)
                    if levels > 1:
                        drop_later_added_frames(handler)
                    raise
                finally:
                    self.depth -= 1
        return Observing

    def _resolve(self, func: FunctionType) -> Any:
        if len(self._resolved) > _MOST_FUNCTIONS:
            self._resolved.clear()
        self._resolved[func] = found = self._original_method(func)
        return found

    def _original_method(self, func: FunctionType) -> Any:
        """PyTorch's own method, where PyTorch has found in its place what a program has put around it.

        PyTorch looks for the method by its name in the class, to hand it to a mode: that would be called a second time.
        """
        name = next((name for name, value in vars(self._tensor).items() if value is func), None)
        if name is None or str(func.__globals__.get('__name__')).startswith('torch.'):  # PyTorch's own: __repr__
            return func
        return vars(self._parts.native.TensorBase).get(name) or self._methods.get(name, func)

    # ------------------------------------------------------------------ one call
    @transparent
    def _observe(self, func: Any, call: Any, args: Sequence[Any], kwargs: Mapping[str, Any], handler: FrameType,
                 levels: int) -> Any:
        examination = self._calls.examination
        start, begun = self._sequence_number(), 0 if examination is None else perf_counter_ns()
        result = call_behind(replaced_caller(handler), levels, call, args, kwargs)
        end = self._sequence_number()
        try:
            if examination is not None and getattr(func, '__name__', '') in READING and args:
                took = perf_counter_ns() - begun
                examination.on_read(args[0], result, func.__name__, program_line(handler) or NOWHERE, took)
            if end > start:
                line = program_line(handler) or NOWHERE
                self.notes.note_nodes(start, end, line)
                self._note_uses(func, args, line)
            elif getattr(func, '__name__', '') in WAYS or any(map(self._has_gradient, args)) or (
                    kwargs and any(map(self._has_gradient, kwargs.values()))):
                self._note_loss(func, args, kwargs, result, handler)
        except Exception as error:              # a mistake of ours must not end the program
            report_failure('noting a forward operation failed', error)
        return result

    def _has_gradient(self, value: Any) -> bool:
        """Whether an argument is a tensor with a gradient, or a list that may hold some."""
        if isinstance(value, self._tensor):
            return value.requires_grad          # type: ignore[attr-defined, no-any-return]
        return type(value) in (list, tuple)

    def _note_uses(self, func: Any, args: Sequence[Any], line: Frame) -> None:
        for tensor in tensors_in(args, self._tensor):
            if tensor.requires_grad and tensor.is_leaf:
                self.notes.note_use(tensor, line, func.__name__)

    def _note_loss(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any, frame: FrameType) -> None:
        name = getattr(func, '__name__', '')
        if name in _IGNORED and (name != '__get__' or func.__self__.__name__ != 'data'):
            return
        inputs = [tensor for tensor in tensors_in([*args, *kwargs.values()], self._tensor) if tensor.requires_grad]
        if not inputs:
            if name in WAYS and args:
                self.notes.note_taken_out(args[0], WAYS[name])
            return
        if name not in WAYS and (not isinstance(result, self._tensor) or any(result is tensor for tensor in inputs)):
            return
        line = program_line(frame) or NOWHERE
        loss = self.notes.note_loss(self._describe(name, result, line), result)
        loss.add_leaves([tensor for tensor in inputs if tensor.is_leaf])
        for tensor in inputs:
            if tensor.grad_fn is not None:
                loss.add_leaves(leaves_below(tensor.grad_fn, _MOST_NODES, loss.searched))

    def _describe(self, name: str, result: Any, line: Frame) -> GradientLoss:
        if name in WAYS:
            return GradientLoss('out', name, line, out=WAYS[name])
        if name in ('detach', 'detach_'):
            return GradientLoss('detach', name, line)
        if name == '__get__':
            return GradientLoss('data', name, line)
        if not (result.dtype.is_floating_point or result.dtype.is_complex):
            return GradientLoss('dtype', name, line, dtype=str(result.dtype).removeprefix('torch.'))
        return GradientLoss('no_grad' if not self._grad_enabled() else 'op', name, line)
