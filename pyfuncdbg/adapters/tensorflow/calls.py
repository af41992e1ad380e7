"""The calls themselves: what stands in the place of TensorFlow's registry of functions, and of its eager `numpy_function`.

TensorFlow calls these on its own threads, with the GIL, or on the program's in eager mode. What a function raises leaves
with the traceback that it would have without us: TensorFlow makes it part of its message.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from types import FrameType, FunctionType, TracebackType
from typing import Any

from pyfuncdbg.adapters.tensorflow.causes import Causes
from pyfuncdbg.adapters.tensorflow.functions import is_gradient
from pyfuncdbg.adapters.tensorflow.gradients import Gradients
from pyfuncdbg.adapters.tensorflow.host import TensorFlowHost
from pyfuncdbg.adapters.tensorflow.parts import Parts
from pyfuncdbg.adapters.tensorflow.patching import Patches
from pyfuncdbg.adapters.tensorflow.runs import Runs
from pyfuncdbg.adapters.tensorflow.sites import EAGER, MARK, NUMPY, Entry, Given, Sites, as_list
from pyfuncdbg.hooks.call import current
from pyfuncdbg.hooks.chain import hooks, instrument, unwatched
from pyfuncdbg.hooks.entrance import Entrance, begins_call, calls_wrapped
from pyfuncdbg.hooks.machinery import is_package

_MOST_KNOWN = 4096


class Calls:
    """Stands between TensorFlow and the functions that it calls.

    Attributes:
        on: Whether anything is attached; off, everything only passes on.
    """

    def __init__(self, parts: Parts, host: TensorFlowHost, causes: Causes, runs: Runs) -> None:
        self.on = True
        self._parts = parts
        self._host = host
        self._causes = causes
        self._runs = runs
        registry = parts.scripts.FuncRegistry
        self._original: Callable[..., Any] = registry.__call__
        self._insert: Callable[..., str] = registry.insert
        self._common: Callable[..., Any] = parts.scripts.py_func_common
        self._gradients = Gradients(host)
        self.sites = Sites(parts, host, self._original)

    def install(self, patches: Patches) -> None:
        """Take TensorFlow's places."""
        patches.replace(self._parts.scripts.FuncRegistry, 'insert', self._registration())
        patches.replace(self._parts.scripts.FuncRegistry, '__call__', self._trampoline())
        patches.replace(self._parts.scripts, 'py_func_common', self._plain_calls())
        calls_wrapped(self._parts.conversion.do_not_convert(_nothing))

    # ------------------------------------------------------------------ the registry
    def _registration(self) -> Callable[..., str]:
        def insert(registry: Any, func: Any) -> str:
            token = self._insert(registry, func)
            if self.on:
                self.sites.registered(func)
            return token
        return insert

    def _trampoline(self) -> Callable[..., Any]:
        original = self._original

        def described(frame: FrameType) -> Entrance | None:
            names = frame.f_locals
            func = names['registry'].get(names['token'], None)
            entry = self.sites.of(names['registry'], names['token'], func, frame) if func is not None else None
            if entry is None or entry.site is None:
                return None
            return Entrance(entry.site, self._runs.of(entry), list(names['args']))

        @begins_call(described)  # type: ignore[arg-type]
        def __call__(registry: Any, token: str, device: Any, args: Any) -> Any:  # noqa: N807
            try:
                if not hooks.python and not hooks.gradient and self._causes.aborted is None:
                    return original(registry, token, device, args)
                return self._watched(registry, token, device, args)
            except BaseException as error:
                error.__traceback__ = _theirs(error.__traceback__)
                if self.on and not _ends_generator(error):
                    self._causes.note(error)
                raise
        return __call__

    def _watched(self, registry: Any, token: str, device: Any, args: Any) -> Any:
        original = self._original
        registered = registry.get(token, None)
        if registered is None or not self.on:
            return original(registry, token, device, args)
        entry: Entry = getattr(registered, MARK, None) or self.sites.of(registry, token, registered, sys._getframe(1))
        site = entry.site
        if site is None:
            if not is_gradient(registered):
                return original(registry, token, device, args)
            outputs = self._gradients.step(registered, lambda: self._runs.of(entry), args,
                                           lambda *inputs: Given(original(registry, token, device, list(inputs))))
            return outputs.raw if isinstance(outputs, Given) else self._settled(registered, token, args, outputs)
        if (aborted := self._causes.aborted) is not None:
            raise aborted.with_traceback(None)
        run = self._runs.of(entry)
        if entry.unwanted is hooks.stamp and run.aborted is None:
            next(site.counter)
            return unwatched(run, original, registry, token, device, args)
        outputs = entry.invoke(self._forward, registry, token, device, run, list(args))
        return outputs.raw if isinstance(outputs, Given) else self._settled(registered, token, args, outputs)

    def _forward(self, registry: Any, token: str, device: Any, args: Any) -> Any:
        """TensorFlow's own call, inside of the hooks: a backward step will ask which call it was."""
        call = current.get()
        if call is not None and call.site.op_type == EAGER:
            self._gradients.remember(token, call)
        return self._original(registry, token, device, args)

    def _settled(self, registered: Any, token: str, args: Any, outputs: Sequence[Any]) -> list[Any]:
        """Outputs that a hook has replaced, as TensorFlow takes them."""
        if not isinstance(registered, self._parts.scripts.EagerFunc):
            return [self._host.to_numpy(output) for output in outputs]
        dtypes = registered._out_dtypes
        if len(outputs) != len(dtypes):
            raise ValueError(f'{len(outputs)} outputs were given in the place of {len(dtypes)}')
        tensors = [self._host.tensor(output, dtype) for output, dtype in zip(outputs, dtypes, strict=True)]
        tapes, key = self._parts.scripts.tape_cache, token.encode()
        recorded = registered._support_graph_mode_gradient or self._parts.record.could_possibly_record()
        if recorded and key not in tapes:       # a hook gave the outputs: what was not computed has no gradient
            with self._parts.context.eager_mode(), self._parts.tape.GradientTape() as tape:
                pass
            tapes[key] = tape, list(args), tensors
        return tensors

    # ------------------------------------------------------------------ eager numpy_function
    def _plain_calls(self) -> Callable[..., Any]:
        common = self._common

        def py_func_common(func: Any, inp: Any, Tout: Any, stateful: Any = True, name: Any = None) -> Any:  # noqa: N803
            watched = self.on and (hooks.python or self._causes.aborted is not None) and callable(func) and (
                self._parts.context.executing_eagerly())
            try:
                return common(partial(self._call_plainly, func, name) if watched else func, inp, Tout, stateful, name)
            except BaseException as error:
                error.__traceback__ = _theirs(error.__traceback__)
                raise
        return py_func_common

    def _call_plainly(self, func: Any, name: Any, *arrays: Any) -> Any:
        """An eager `numpy_function`: a call in the program's own code, with whatever it returns."""
        self._causes.raise_abort()
        run, stamp = self._runs.eager(), hooks.stamp    # the stamp is read first: what changes meanwhile makes another
        code = func.__code__ if type(func) is FunctionType else None
        key = 'eager numpy_function', id(code), name
        if run.aborted is None and (known := stamp.get(key)) is not None and known is code:
            return unwatched(run, func, *arrays)        # as hooks said of another call at once: its line makes no difference
        site = self.sites.eager_site(str(name or NUMPY), NUMPY, func, _plainly_again)
        if code is not None and len(stamp) < _MOST_KNOWN and hooks.wanted(site, run) is False:
            stamp[key] = code

        @calls_wrapped
        def call(*inputs: Any) -> Sequence[Any]:
            return Given(func(*inputs))

        outputs = instrument(site, call)(run, list(arrays))
        return outputs.raw if isinstance(outputs, Given) else list(outputs)


def _plainly_again(func: Any, inputs: list[Any]) -> Sequence[Any]:
    return as_list(func(*inputs))


def _ends_generator(error: BaseException) -> bool:
    """Whether it only says that a generator has no more elements."""
    return type(error) is StopIteration


def _theirs(entry: TracebackType | None) -> TracebackType | None:
    """A traceback without our frames: what the function raised looks as it does without us.

    One that has no others stays: TensorFlow's C++ dies of an exception that has none.
    """
    first = entry
    while entry is not None and is_package(entry.tb_frame.f_code.co_filename):
        entry = entry.tb_next
    if entry is None:
        return first
    step: TracebackType | None = entry
    while step is not None:
        while step.tb_next is not None and is_package(step.tb_next.tb_frame.f_code.co_filename):
            step.tb_next = step.tb_next.tb_next
        step = step.tb_next
    return entry


def _nothing() -> None:
    """Stands for a user's function."""

