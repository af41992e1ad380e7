"""Call dispatch: replacements for TensorFlow's registry of functions and for its eager `numpy_function`.

TensorFlow calls these on its own threads, with the GIL, or on the program's in eager mode. What a function raises leaves
with the traceback that it would have without us: TensorFlow makes it part of its message.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from threading import get_native_id
from types import FrameType, TracebackType
from typing import Any

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.call_frames import Entrance, mark_call_frame, mark_function_caller
from pyfuncdbg.hooks.chain import call_unwatched, current_call, hooks, invoke
from pyfuncdbg.hooks.generator_end import GeneratorEnd
from pyfuncdbg.hooks.own_files import is_own_file
from pyfuncdbg.hosts.tensorflow.graph_ops.observer_ops import Observer
from pyfuncdbg.hosts.tensorflow.graph_ops.op_calls import OpCalls
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.nodes.op_types import EAGER, NUMPY
from pyfuncdbg.hosts.tensorflow.patching import Patches
from pyfuncdbg.hosts.tensorflow.python_calls.original_errors import Causes
from pyfuncdbg.hosts.tensorflow.python_calls.refused_results import Refusals, refused
from pyfuncdbg.hosts.tensorflow.python_calls.sites import (
    MARK,
    Entry,
    Given,
    Last,
    Sites,
    as_list,
    at_place,
    eager_outputs,
    given,
    plain_outputs,
)
from pyfuncdbg.hosts.tensorflow.python_calls.user_function import is_gradient, user_function
from pyfuncdbg.hosts.tensorflow.sessions.runs import Runs, described_by, ended, watched_call
from pyfuncdbg.hosts.tensorflow.tapes.py_function_gradients import PyFunctionGradients
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts
from pyfuncdbg.hosts.tensorflow.usual_calls import UsualCalls

_NONE: Any = object()


class CallDispatch:
    """Dispatcher between TensorFlow and the functions that it calls.

    Attributes:
        on: Whether anything is attached; off, everything only passes on.
        gradients: Links backward steps to calls.
    """

    def __init__(self, parts: TensorFlowParts, host: TensorFlowHost, causes: Causes, runs: Runs, ops: OpCalls) -> None:
        self.on = True
        self._parts = parts
        self._host = host
        self._causes = causes
        self._runs = runs
        self._ops = ops
        registry = parts.scripts.FuncRegistry
        self._original: Callable[..., Any] = registry.__call__
        self._insert: Callable[..., str] = registry.insert
        self._eager_function: type = parts.scripts.EagerFunc
        self._common: Callable[..., Any] = parts.scripts.py_func_common
        self.gradients = PyFunctionGradients(host, self._entry_of)
        self.sites = Sites(parts, host, self._original)
        self._refusals = Refusals(parts, self._original, causes)
        self._usual = self._runs.usual = UsualCalls(self._refusals, parts.scripts._py_funcs, causes, self._runs, self.sites,
                                                    self.gradients, _plain_site, self._eager_function)

    def install(self, patches: Patches) -> None:
        """Take TensorFlow's places."""
        patches.replace(self._parts.scripts.FuncRegistry, 'insert', self._registration())
        patches.replace(self._parts.scripts.FuncRegistry, '__call__', self._trampoline())
        patches.replace(self._parts.scripts, 'py_func_common', self._plain_calls())
        mark_function_caller(self._parts.conversion.do_not_convert(_nothing))

    # ------------------------------------------------------------------ the registry
    def _registration(self) -> Callable[..., str]:
        def insert(registry: Any, func: Any) -> str:
            token = self._insert(registry, func)
            if self.on:
                self.sites.registered(func)
            return token
        return insert

    def _trampoline(self) -> Callable[..., Any]:
        original, usual = self._original, self._usual

        def described(frame: FrameType) -> Entrance | None:
            names = frame.f_locals
            func = names['registry'].get(names['token'], None)
            entry = self.sites.of(names['registry'], names['token'], func, frame) if func is not None else None
            if entry is None or entry.site is None:
                return None
            call, hook = watched_call(names['args'])
            run, inputs = self._runs.of(entry, names['args']), list(names['args'])
            return Entrance(entry.site, run, inputs, call, (hook,) if call is not None else ())

        @mark_call_frame(described)
        def __call__(registry: Any, token: str, device: Any, args: Any) -> Any:  # noqa: N807
            try:
                if not hooks.python and not hooks.gradient and self._causes.aborted is None:
                    return original(registry, token, device, args)
                made = NotImplemented
                if self.on:
                    made = usual.call(registry, token, device, args)
                if made is NotImplemented:
                    made = self._watched(registry, token, device, args)
                if type(made) is GeneratorEnd:
                    raise made.error
                return made
            except BaseException as error:
                if (result := refused(error, _NONE)) is not _NONE:
                    return result               # TensorFlow refuses it itself
                error.__traceback__ = _theirs(error.__traceback__)
                if self.on and not _ends_generator(error):
                    self._causes.note(error)
                raise
        return __call__

    def _watched(self, registry: Any, token: str, device: Any, args: Any) -> Any:
        original = self._original
        reference = registry._funcs.data.get(token)     # its `get` is Python code, which costs 1 µs where it is cold
        if not self.on or reference is None or (registered := reference()) is None:
            return original(registry, token, device, args)
        entry: Entry | None = getattr(registered, MARK, None)
        if entry is None:
            if type(registered) is Observer:
                return registered(*args)
            frame = sys._getframe(1)
            caller = self.sites.eager_caller(frame) if type(registered) is self._eager_function else None
            if caller is not None and not registered._is_grad_func:
                return self._call_eagerly(registered, caller, registry, token, device, args)
            entry = self.sites.of(registry, token, registered, frame)
        site = entry.site
        if site is None:
            return self._call_own(registered, entry, registry, token, device, args)
        if (aborted := self._causes.aborted) is not None:
            raise aborted.with_traceback(None)
        run = self._runs.of(entry, args)
        if hooks.is_ignored(site) and run.aborted is None:
            next(site.counter)
            if entry.last is not None:
                entry.last.call = 0             # an older one is not what a backward step would ask for
            return call_unwatched(run, original, registry, token, device, args)
        way = entry.ways.get(device)
        if way is None:
            way = entry.ways[device] = self._way(site, registry, token, device, entry.last)
            entry.usual = site, entry.root, entry.last
        # The thread is asked for here: TensorFlow's threads lose what is kept on a thread, and keeping it anew costs 1 µs.
        outputs = invoke(site, way, run, list(args), thread=get_native_id())
        ended(run, site, outputs)
        return outputs.raw if type(outputs) is Given else self._settled(registered, token, args, outputs)

    def _call_own(self, registered: Any, entry: Entry, registry: Any, token: str, device: Any, args: Any) -> Any:
        """A function of TensorFlow's own: one of its backward steps, mostly."""
        if not is_gradient(registered):
            return self._original(registry, token, device, args)
        outputs = self.gradients.step(registered, lambda: self._runs.of(entry, args), args,
                                      lambda *inputs: given(self._original(registry, token, device, list(inputs))))
        return outputs.raw if type(outputs) is Given else self._settled(registered, token, args, outputs)

    def _call_eagerly(self, registered: Any, caller: FrameType, registry: Any, token: str, device: Any, args: Any) -> Any:
        """An eager `py_function`: TensorFlow registers it for this call alone."""
        if (aborted := self._causes.aborted) is not None:
            raise aborted.with_traceback(None)
        run = self._runs.eager()
        function, name = user_function(registered), str(caller.f_locals.get('name') or EAGER)
        if function is None:
            return self._original(registry, token, device, args)
        site = partial(self.sites.eager_site, name, EAGER, function, self.sites.again_eagerly(registered),
                       eager_outputs(registered))
        if hooks.ignores_function(function, (EAGER, name), site, run):
            return call_unwatched(run, self._original, registry, token, device, args)
        known = site()
        outputs = invoke(known, self._way(known, registry, token, device), run, list(args))
        return outputs.raw if type(outputs) is Given else self._settled(registered, token, args, outputs)

    def _entry_of(self, token: str) -> Entry | None:
        """That of a graph's function, once it was called."""
        reference = self._parts.scripts._py_funcs._funcs.data.get(token)
        return getattr(reference(), MARK, None) if reference is not None else None

    def _way(self, site: CallSite, registry: Any, token: str, device: Any,
             last: Last | None = None) -> Callable[..., Sequence[Any]]:
        """TensorFlow's own call, inside of the hooks; of a graph's function with its last one."""
        original, expect = self._refusals.call, self.gradients.expect
        if site.op_type != EAGER:
            return lambda *inputs: given(original(registry, token, device, inputs))

        def differentiable(*inputs: Any) -> Sequence[Any]:
            if last is not None or hooks.gradient:
                (last or expect(token, site)).call = current_call(site)     # 0 where no hook is interested in this one
            if not hooks.op:
                return given(original(registry, token, device, list(inputs)))
            with self._ops.on_this_thread():
                return given(original(registry, token, device, list(inputs)))
        return differentiable

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
                called = partial(self._call_plainly, func, name, plain_outputs(Tout)) if watched else func
                return common(called, inp, Tout, stateful, name)
            except BaseException as error:
                error.__traceback__ = _theirs(error.__traceback__)
                raise
        return py_func_common

    @mark_call_frame(described_by('inputs'))
    def _call_plainly(self, func: Any, name: Any, declared: tuple[Any, ...], *arrays: Any) -> Any:
        """An eager `numpy_function`: a call in the program's own code, with whatever it returns."""
        inputs = list(arrays)
        try:
            if (made := self._usual.call_plainly(func, name, declared, inputs, arrays)) is not NotImplemented:
                return made
            self._causes.raise_abort()
            run = self._runs.eager()

            def site() -> CallSite:
                return _plain_site(self.sites.eager_place(str(name or NUMPY), NUMPY, func, declared), func)
            if hooks.ignores_function(func, (NUMPY, name), site, run):
                return call_unwatched(run, func, *arrays)
            outputs = invoke(site(), _giving(self._refusals.plainly, func), run, inputs)
            return outputs.raw if type(outputs) is Given else list(outputs)
        except BaseException as error:
            if (result := refused(error, _NONE)) is not _NONE:
                return result                   # TensorFlow refuses it itself
            raise


def _giving(plainly: Callable[..., Any], func: Any) -> Callable[..., Sequence[Any]]:
    """Calls a function, and keeps what it gave as it was."""
    def call(*inputs: Any) -> Sequence[Any]:
        return given(plainly(func, *inputs))
    return call


def _plainly_again(func: Any, inputs: list[Any]) -> Sequence[Any]:
    return as_list(func(*inputs))


def _plain_site(place: CallSite, func: Any) -> CallSite:
    return at_place(place, _plainly_again, func)


def _ends_generator(error: BaseException) -> bool:
    """Whether it only says that a generator has no more elements."""
    return type(error) is StopIteration


def _theirs(entry: TracebackType | None) -> TracebackType | None:
    """A traceback without our frames: what the function raised looks as it does without us.

    One that has no others stays: TensorFlow's C++ dies of an exception that has none.
    """
    first = entry
    while entry is not None and is_own_file(entry.tb_frame.f_code.co_filename):
        entry = entry.tb_next
    if entry is None:
        return first
    step: TracebackType | None = entry
    while step is not None:
        while step.tb_next is not None and is_own_file(step.tb_next.tb_frame.f_code.co_filename):
            step.tb_next = step.tb_next.tb_next
        step = step.tb_next
    return entry


def _nothing() -> None:
    """Stand-in for a user's function."""

