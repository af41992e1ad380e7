"""Lowered callbacks: what JAX knows of a callback when it lowers it, kept until a compiled program calls it.

JAX lowers on the thread that compiles; calls come on any thread. A lowered callback is recognised by the dictionary
`params` that JAX's closure holds: nothing is left in the program.
"""
from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from types import CodeType, FrameType
from typing import Any, Protocol

from pyfuncdbg.hooks.call import CallSite, Frame
from pyfuncdbg.hooks.chain import report_failure
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.traceback_frames import without_own_frames
from pyfuncdbg.hosts.jax.jax_parts import JaxParts
from pyfuncdbg.hosts.jax.programs.occurrences import Occurrence, find_callbacks, traced_frames
from pyfuncdbg.hosts.jax.programs.user_function import closure_variable, is_breakpoint, user_function

_CLOSURE = '_callback'
"""Name of JAX's closure around each callback."""
_OP_TYPES = {'pure_callback_lowering': 'pure_callback', 'io_callback_lowering': 'io_callback',
             'debug_callback_lowering': 'debug_callback'}


class CompiledProgram(Protocol):
    """A compiled program, as its callbacks see it: `Executable`."""

    @property
    def name(self) -> str:
        """Of the function that was compiled."""

    @property
    def eager(self) -> bool:
        """Whether JAX made it for one eager call."""

    @property
    def arguments(self) -> Sequence[str]:
        """Names of its arguments."""


class LoweredCallback:
    """One callback in a compiled program.

    Attributes:
        op_type: 'pure_callback', 'io_callback', 'debug_callback' or 'debug_breakpoint'.
        callback: JAX's callable of flat arguments.
        function: The program's; None for one of JAX's own.
        stack: The program's lines that made it, innermost last; empty if it was lowered before the attachment.
        times: Number of its calls in one run; None if that depends on values, or is not known.
        devices: Number of devices that call it in one run.
        inline: Number of its calls on the thread that dispatched.
        inputs: Names of the tensors that it gets, where they have names.
        outputs: How many tensors it gives; None if it was lowered before the attachment.
        observed: Whether the ops of its program are, and `inputs` has the names of their results.
        is_searched: Whether memory was searched for its executable.
        executable: The compiled program that it is part of, once known.
        site: Where its calls are made, once there was one.
    """

    __slots__ = (
        '__weakref__',
        'callback',
        'devices',
        'executable',
        'function',
        'inline',
        'inputs',
        'is_searched',
        'observed',
        'op_type',
        'outputs',
        'params',
        'site',
        'stack',
        'times',
    )

    def __init__(self, op_type: str, callback: Any, params: Any, stack: Sequence[Frame] = (),
                 times: int | None = None, devices: int = 1, inputs: Sequence[str] = (),
                 outputs: int | None = None, observed: bool = False) -> None:
        self.op_type = op_type
        self.observed = observed
        self.outputs = outputs
        self.inputs = inputs
        self.callback = callback
        self.params = params                    # stays alive, so that its id stays its own
        self.function = user_function(callback)
        if self.function is None and is_breakpoint(callback):
            self.op_type = 'debug_breakpoint'
        self.stack = stack
        self.times = times
        self.inline = 0
        self.is_searched = False
        self.devices = devices
        self.executable: CompiledProgram | None = None
        self.site: CallSite | None = None

    @property
    def is_watched(self) -> bool:
        """Whether it calls a function of the program, or stops in one."""
        return self.function is not None or self.op_type == 'debug_breakpoint'


class _Lowering(threading.local):
    """The program that a thread lowers."""

    def __init__(self) -> None:
        self.occurrences: dict[int, Occurrence] = {}


class LoweredCallbacks:
    """The callbacks that JAX has lowered while it is attached, and those of earlier programs that were called since.

    Attributes:
        rewrite: Gives the program that is lowered, for a program, its name and its callbacks, whose inputs it may name.
        on_lowered: Called with each program as JAX made it, and its name; None while nothing is examined.
    """

    def __init__(self, parts: JaxParts) -> None:
        self._parts = parts
        self.rewrite: Callable[[Any, str, dict[int, Occurrence]], Any] = lambda closed_jaxpr, *_: closed_jaxpr
        self.on_lowered: Callable[[Any, str], None] | None = None
        self._by_params: dict[int, LoweredCallback] = {}
        self._by_callback: dict[int, list[LoweredCallback]] = {}
        """By id of JAX's callable, which several programs may hold."""
        self._lowering = _Lowering()
        self._codes = {code: op_type for name, op_type in _OP_TYPES.items()
                       if (code := _closure_code(_lowering(parts, name)))}

    def install(self, patches: Patches) -> None:
        """Replace JAX's functions that lower a program and a callback."""
        original, lower = self._parts.callback.emit_python_callback, self._parts.execution.lower_sharding_computation

        def lower_sharding_computation(closed_jaxpr: Any, api_name: Any, fun_name: Any, *args: Any, **settings: Any) -> Any:
            lowering = self._lowering
            if self.on_lowered is not None:
                self.on_lowered(closed_jaxpr, str(fun_name))
            earlier, lowering.occurrences = lowering.occurrences, find_callbacks(closed_jaxpr)
            try:
                observed = self.rewrite(closed_jaxpr, str(fun_name), lowering.occurrences)
                if observed is not closed_jaxpr:
                    try:
                        return lower(observed, api_name, fun_name, *args, **settings)
                    except Exception as error:      # an op that may not be observed, or the program's own mistake
                        report_failure(f'the ops of {fun_name} are not watched', error)
                return lower(closed_jaxpr, api_name, fun_name, *args, **settings)
            except BaseException as error:
                error.__traceback__ = without_own_frames(error.__traceback__)
                raise
            finally:
                lowering.occurrences = earlier

        def emit_python_callback(ctx: Any, callback: Any, *args: Any, **settings: Any) -> Any:
            self._note(ctx, callback)
            try:
                return original(ctx, callback, *args, **settings)
            except BaseException as error:
                error.__traceback__ = without_own_frames(error.__traceback__)
                raise
        patches.replace(self._parts.execution, 'lower_sharding_computation', lower_sharding_computation)
        patches.replace(self._parts.callback, 'emit_python_callback', emit_python_callback)

    def all(self) -> list[LoweredCallback]:
        """The callbacks whose programs live."""
        return list(self._by_params.values())

    def forget(self) -> None:
        """Forget all of them."""
        self._by_params.clear()
        self._by_callback.clear()

    def called_by(self, frame: FrameType | None, callback: Any) -> LoweredCallback | None:
        """The callback that JAX's closure calls.

        Args:
            frame: Of the closure.
            callback: JAX's callable, which is called.

        Returns:
            None if the frame is none of a compiled program: the callback is called eagerly.
        """
        if frame is None or (op_type := self._codes.get(frame.f_code)) is None:
            return None
        params = frame.f_locals.get('params')
        lowered = self._by_params.get(id(params))
        if lowered is None:
            lowered = LoweredCallback(op_type, callback, params)
            self._add(lowered)
        return lowered

    def known(self, frame: FrameType) -> LoweredCallback | None:
        """The callback that JAX's closure calls, if it is known already."""
        return self._by_params.get(id(frame.f_locals.get('params')))

    def is_closure(self, frame: FrameType) -> bool:
        """Whether a frame is of JAX's closure around a callback."""
        return frame.f_code in self._codes

    def of_closure(self, closure: Any) -> LoweredCallback | None:
        """The callback behind a closure of an executable, however JAX has wrapped it; None if there is none."""
        for _ in range(4):
            op_type = self._codes.get(getattr(closure, '__code__', None))  # type: ignore[arg-type]
            if op_type is not None:
                params = closure_variable(closure, 'params')
                lowered = self._by_params.get(id(params))
                if lowered is None:
                    lowered = LoweredCallback(op_type, closure_variable(closure, 'callback'), params)
                    self._keep(closure, lowered)
                return lowered
            closure = closure_variable(closure, 'callback_without_token') or closure_variable(closure, 'callback')
        return None

    def _note(self, ctx: Any, closure: Any) -> None:
        """Note a callback that is being lowered."""
        op_type = self._codes.get(getattr(closure, '__code__', None))  # type: ignore[arg-type]
        if op_type is None:
            return
        callback = closure_variable(closure, 'callback')
        occurrence = self._lowering.occurrences.get(id(callback))
        if occurrence is None:
            occurrence = Occurrence(None, traced_frames(getattr(ctx, 'traceback', None)))
        devices = _device_count(ctx)
        self._keep(closure, LoweredCallback(op_type, callback, closure_variable(closure, 'params'), occurrence.stack,
                                            occurrence.times and occurrence.times * devices, devices, occurrence.inputs,
                                            occurrence.outputs, occurrence.observed))

    def _keep(self, closure: Any, lowered: LoweredCallback) -> None:
        """Keep a callback as long as its closure lives."""
        self._add(lowered)
        weakref.finalize(closure, self._remove, id(lowered.params)).atexit = False

    def _add(self, lowered: LoweredCallback) -> None:
        self._by_params[id(lowered.params)] = lowered
        self._by_callback.setdefault(id(lowered.callback), []).append(lowered)

    def _remove(self, key: int) -> None:
        lowered = self._by_params.pop(key, None)
        if lowered is not None and (same := self._by_callback.get(id(lowered.callback))) is not None:
            same.remove(lowered)
            if not same:
                del self._by_callback[id(lowered.callback)]


def _device_count(ctx: Any) -> int:
    """Number of devices that execute a callback in one run: in `shard_map` and `pmap` each does."""
    mesh = getattr(getattr(ctx.module_context, 'axis_context', None), 'mesh', None)
    size = getattr(mesh, 'size', 1)
    return size if isinstance(size, int) else 1


def _lowering(parts: JaxParts, name: str) -> Any:
    return getattr(parts.callback, name, None) or getattr(parts.debugging, name)


def _closure_code(function: Any) -> CodeType | None:
    """The code of the closure that a function makes."""
    constants = getattr(getattr(function, '__code__', None), 'co_consts', ())
    return next((code for code in constants if isinstance(code, CodeType) and code.co_name == _CLOSURE), None)
