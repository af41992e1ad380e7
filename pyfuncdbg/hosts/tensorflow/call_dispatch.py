"""Call dispatch: replacements for TensorFlow's registry of functions and for its eager `numpy_function`.

TensorFlow calls these on its own threads, with the GIL, or on the program's in eager mode. The exception of a function keeps
the traceback that it would have without us: TensorFlow makes it part of its message.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from threading import get_native_id
from types import FrameType
from typing import Any

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.call_frames import Entrance, mark_call_frame, mark_function_caller
from pyfuncdbg.hooks.chain import call_unwatched, current_call, hooks, invoke
from pyfuncdbg.hooks.generator_end import GeneratorEnd
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.result_list import ResultList, output_list
from pyfuncdbg.hosts.interception.traceback_frames import without_own_frames
from pyfuncdbg.hosts.interception.watched_calls import describe_by_inputs, find_watched_call
from pyfuncdbg.hosts.tensorflow.call_fast_path import CallFastPath
from pyfuncdbg.hosts.tensorflow.graph_ops.observer_ops import Observer
from pyfuncdbg.hosts.tensorflow.graph_ops.op_calls import OpCalls
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.nodes.op_types import EAGER, NUMPY
from pyfuncdbg.hosts.tensorflow.python_calls.original_errors import ErrorCauses
from pyfuncdbg.hosts.tensorflow.python_calls.refused_results import ResultChecker, refused_result
from pyfuncdbg.hosts.tensorflow.python_calls.sites import (
    MARK,
    FunctionEntry,
    LastCall,
    Sites,
    call_alone,
    eager_outputs,
    numpy_outputs,
    site_at_place,
)
from pyfuncdbg.hosts.tensorflow.python_calls.user_function import is_gradient, user_function
from pyfuncdbg.hosts.tensorflow.sessions.runs import Runs, end_call
from pyfuncdbg.hosts.tensorflow.tapes.py_function_gradients import PyFunctionGradients
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

_NONE: Any = object()


@transparent
class CallDispatch:
    """Dispatcher between TensorFlow and the functions that it calls.

    Attributes:
        on: Whether TensorFlow is attached; otherwise calls are passed on unwatched.
        gradients: Links backward steps to calls.
    """

    def __init__(self, parts: TensorFlowParts, host: TensorFlowHost, causes: ErrorCauses, runs: Runs, ops: OpCalls) -> None:
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
        self._refusals = ResultChecker(parts, self._original, causes)
        self._fast_path = self._runs.fast_path = CallFastPath(self._refusals, parts.scripts._py_funcs, causes, self._runs,
                                                              self.sites,
                                                    self.gradients, _numpy_site, self._eager_function)

    def install(self, patches: Patches) -> None:
        """Replace TensorFlow's functions."""
        patches.replace(self._parts.scripts.FuncRegistry, 'insert', self._replace_insert())
        patches.replace(self._parts.scripts.FuncRegistry, '__call__', self._replace_call())
        patches.replace(self._parts.scripts, 'py_func_common', self._replace_py_func_common())
        mark_function_caller(self._parts.conversion.do_not_convert(_empty_function))

    # ------------------------------------------------------------------ the registry
    def _replace_insert(self) -> Callable[..., str]:
        def insert(registry: Any, func: Any) -> str:
            token = self._insert(registry, func)
            if self.on:
                self.sites.mark_registered(func)
            return token
        return insert

    def _replace_call(self) -> Callable[..., Any]:
        original, fast_path = self._original, self._fast_path

        def described(frame: FrameType) -> Entrance | None:
            names = frame.f_locals
            func = names['registry'].get(names['token'], None)
            if func is None or type(func) is Observer:      # the latter is ours, at a node of a graph
                return None
            entry = self.sites.entry_of(names['registry'], names['token'], func, frame)
            if entry.site is None:
                return None
            call, hook = find_watched_call(names['args'])
            run, inputs = self._runs.run_of_call(entry, names['args']), list(names['args'])
            return Entrance(entry.site, run, inputs, call, (hook,) if call is not None else ())

        @mark_call_frame(described)
        def __call__(registry: Any, token: str, device: Any, args: Any) -> Any:  # noqa: N807
            try:
                if not hooks.python and not hooks.gradient and self._causes.aborted is None:
                    return original(registry, token, device, args)
                result = NotImplemented
                if self.on:
                    result = fast_path.call(registry, token, device, args)
                if result is NotImplemented:
                    result = self._call_watched(registry, token, device, args)
                if type(result) is GeneratorEnd:
                    raise result.error
                return result
            except BaseException as error:
                if (result := refused_result(error, _NONE)) is not _NONE:
                    return result               # TensorFlow refuses it itself
                error.__traceback__ = without_own_frames(error.__traceback__)
                if self.on and not _ends_generator(error):
                    self._causes.note(error)
                raise
        return __call__

    def _call_watched(self, registry: Any, token: str, device: Any, args: Any) -> Any:
        original = self._original
        if hooks.op:
            self._ops.deliver()                 # calls are numbered in their order
        reference = registry._funcs.data.get(token)     # `get` is Python code, which takes 1 µs out of cache
        if not self.on or reference is None or (registered := reference()) is None:
            return original(registry, token, device, args)
        entry: FunctionEntry | None = getattr(registered, MARK, None)
        if entry is None:
            if type(registered) is Observer:
                return registered(*args)
            frame = sys._getframe(1)
            caller = self.sites.eager_caller(frame) if type(registered) is self._eager_function else None
            if caller is not None and not registered._is_grad_func:
                return self._call_eagerly(registered, caller, registry, token, device, args)
            entry = self.sites.entry_of(registry, token, registered, frame)
        site = entry.site
        if site is None:
            return self._call_own(registered, entry, registry, token, device, args)
        if (aborted := self._causes.aborted) is not None:
            raise aborted.with_traceback(None)
        run = self._runs.run_of_call(entry, args)
        if hooks.is_ignored(site) and run.aborted is None:
            next(site.counter)
            if entry.last_call is not None:
                entry.last_call.call = 0             # a backward step must not be linked to an older call
            return call_unwatched(run, original, registry, token, device, args)
        call = entry.callers.get(device)
        if call is None:
            call = entry.callers[device] = self._make_caller(site, registry, token, device, entry.last_call)
            entry.fast_path = site, entry.root_graph, entry.last_call
        # TensorFlow's threads lose thread-local values, and storing one again costs 1 µs: so the id is read here.
        outputs = invoke(site, call, run, list(args), thread=get_native_id())
        end_call(run, site, outputs)
        return outputs.raw if type(outputs) is ResultList else self._as_registered(registered, token, args, outputs)

    def _call_own(self, registered: Any, entry: FunctionEntry, registry: Any, token: str, device: Any, args: Any) -> Any:
        """Call a function of TensorFlow's own, mostly a backward step."""
        if not is_gradient(registered):
            return self._original(registry, token, device, args)
        outputs = self.gradients.make_step(registered, lambda: self._runs.run_of_call(entry, args), args,
                                      lambda *inputs: output_list(self._original(registry, token, device, list(inputs))))
        return outputs.raw if type(outputs) is ResultList else self._as_registered(registered, token, args, outputs)

    def _call_eagerly(self, registered: Any, caller: FrameType, registry: Any, token: str, device: Any, args: Any) -> Any:
        """Call an eager `py_function`, which TensorFlow registers for this call alone."""
        if (aborted := self._causes.aborted) is not None:
            raise aborted.with_traceback(None)
        run = self._runs.eager_run()
        function, name = user_function(registered), str(caller.f_locals.get('name') or EAGER)
        if function is None:
            return self._original(registry, token, device, args)
        site = partial(self.sites.eager_site, name, EAGER, function, self.sites.eager_repeater(registered),
                       eager_outputs(registered))
        if hooks.ignores_function(function, (EAGER, name), site, run):
            return call_unwatched(run, self._original, registry, token, device, args)
        call_site = site()
        outputs = invoke(call_site, self._make_caller(call_site, registry, token, device), run, list(args))
        return outputs.raw if type(outputs) is ResultList else self._as_registered(registered, token, args, outputs)

    def _entry_of(self, token: str) -> FunctionEntry | None:
        """The entry of a graph's function, once it was called."""
        reference = self._parts.scripts._py_funcs._funcs.data.get(token)
        return getattr(reference(), MARK, None) if reference is not None else None

    def _make_caller(self, site: CallSite, registry: Any, token: str, device: Any,
                     last_call: LastCall | None = None) -> Callable[..., Sequence[Any]]:
        """A function for the hooks that makes TensorFlow's own call; `last_call` is that of a graph's function."""
        original, expect = self._refusals.call, self.gradients.expect_step
        if site.op_type != EAGER:
            return lambda *inputs: output_list(original(registry, token, device, inputs))

        def differentiable(*inputs: Any) -> Sequence[Any]:
            if last_call is not None or hooks.gradient:
                (last_call or expect(token, site)).call = current_call(site)     # 0 where no hook is interested
            if not hooks.op:
                return output_list(original(registry, token, device, list(inputs)))
            with self._ops.on_this_thread():
                return output_list(original(registry, token, device, list(inputs)))
        return differentiable

    def _as_registered(self, registered: Any, token: str, args: Any, outputs: Sequence[Any]) -> list[Any]:
        """Outputs that a hook has replaced, as TensorFlow takes them."""
        if not isinstance(registered, self._parts.scripts.EagerFunc):
            return [self._host.to_numpy(output) for output in outputs]
        dtypes = registered._out_dtypes
        if len(outputs) != len(dtypes):
            raise ValueError(f'a hook returned {len(outputs)} outputs for {token}, expected {len(dtypes)}')
        tensors = [self._host.tensor(output, dtype) for output, dtype in zip(outputs, dtypes, strict=True)]
        tapes, key = self._parts.scripts.tape_cache, token.encode()
        recorded = registered._support_graph_mode_gradient or self._parts.record.could_possibly_record()
        if recorded and key not in tapes:       # a hook gave the outputs: they have no gradient
            with self._parts.context.eager_mode(), self._parts.tape.GradientTape() as tape:
                pass
            tapes[key] = tape, list(args), tensors
        return tensors

    # ------------------------------------------------------------------ eager numpy_function
    def _replace_py_func_common(self) -> Callable[..., Any]:
        common = self._common

        def py_func_common(func: Any, inp: Any, Tout: Any, stateful: Any = True, name: Any = None) -> Any:  # noqa: N803
            is_watched = self.on and (hooks.python or self._causes.aborted is not None) and callable(func) and (
                self._parts.context.executing_eagerly())
            try:
                called = partial(self._call_numpy_function, func, name, numpy_outputs(Tout)) if is_watched else func
                return common(called, inp, Tout, stateful, name)
            except BaseException as error:
                error.__traceback__ = without_own_frames(error.__traceback__)
                raise
        return py_func_common

    @mark_call_frame(describe_by_inputs('inputs'))
    def _call_numpy_function(self, func: Any, name: Any, declared: tuple[Any, ...], *arrays: Any) -> Any:
        """Make an eager `numpy_function` call: a call in the program's own code, with whatever it returns."""
        inputs = list(arrays)
        try:
            if (fast_result := self._fast_path.call_numpy_function(func, name, declared, inputs,
                                                                   arrays)) is not NotImplemented:
                return fast_result
            self._causes.raise_abort()
            run = self._runs.eager_run()

            def site() -> CallSite:
                return _numpy_site(self.sites.eager_place(str(name or NUMPY), NUMPY, func, declared), func)
            if hooks.ignores_function(func, (NUMPY, name), site, run):
                return call_unwatched(run, func, *arrays)
            outputs = invoke(site(), _call_as_numpy_function(self._refusals.call_numpy_function, func), run, inputs)
            return outputs.raw if type(outputs) is ResultList else list(outputs)
        except BaseException as error:
            if (result := refused_result(error, _NONE)) is not _NONE:
                return result                   # TensorFlow refuses it itself
            raise


@transparent
def _call_as_numpy_function(plainly: Callable[..., Any], func: Any) -> Callable[..., Sequence[Any]]:
    """A function for the hooks that calls `func` and keeps the original result."""
    def call(*inputs: Any) -> Sequence[Any]:
        return output_list(plainly(func, *inputs))
    return call


def _numpy_site(place: CallSite, func: Any) -> CallSite:
    return site_at_place(place, call_alone, func)


def _ends_generator(error: BaseException) -> bool:
    """Whether an exception is the normal end of a generator."""
    return type(error) is StopIteration


def _empty_function() -> None:
    """Stand-in for a user's function."""

