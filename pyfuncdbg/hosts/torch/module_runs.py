"""Calls of modules as runs: the outermost call of an `nn.Module` on a thread. On that thread."""
from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter_ns
from typing import Any

from pyfuncdbg.hooks.call import CallSite, Run, RunForm
from pyfuncdbg.hooks.called_objects import CALLED_OBJECTS
from pyfuncdbg.hooks.chain import hooks, invoke
from pyfuncdbg.hooks.differentiable import DIFFERENTIABLES
from pyfuncdbg.hooks.module_structure import LEFT_OUT, MODULES, MOST, ModuleStructure, plain
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hooks.weak_keys import WeakKeys
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.result_list import ResultList
from pyfuncdbg.hosts.torch.host import TorchHost
from pyfuncdbg.hosts.torch.mode_frames import drop_added_frames
from pyfuncdbg.hosts.torch.module_derivatives import ModuleDerivatives, forward_parameters
from pyfuncdbg.hosts.torch.python_calls.nested_arguments import flatten
from pyfuncdbg.hosts.torch.python_calls.nested_results import fold, unfold
from pyfuncdbg.hosts.torch.python_calls.python_calls import PythonCalls
from pyfuncdbg.hosts.torch.recorded_modules import structure
from pyfuncdbg.hosts.torch.thread_runs import ThreadRuns
from pyfuncdbg.hosts.torch.torch_parts import TorchParts

_MOST = 1 << 10


class ModuleRuns:
    """Dispatcher between the program and its modules.

    Args:
        parts, host, calls, runs: Of the attachment.
        begin: Is called on the thread of a run before it begins.
    """

    def __init__(self, parts: TorchParts, host: TorchHost, calls: PythonCalls, runs: ThreadRuns,
                 begin: Callable[[], None]) -> None:
        self._parts = parts
        self._host = host
        self._calls = calls
        self._runs = runs
        self._begin = begin
        self._parameters: WeakKeys[type, tuple[str, ...]] = WeakKeys()
        self._sites: dict[tuple[ModuleStructure, ...], CallSite] = {}
        self._site_of: WeakKeys[Any, CallSite] = WeakKeys()
        self._derivatives = ModuleDerivatives(parts, host)
        self._forms: dict[tuple[Any, ...], RunForm] = {}

    def install(self, patches: Patches) -> None:
        """Replace the method by which modules are called."""
        patches.wrap(self._parts.modules.Module, '__call__', self._replace_call)

    @transparent
    def _replace_call(self, original: Callable[..., Any]) -> Callable[..., Any]:
        is_compiling, is_watched, make_run = self._calls.is_dynamo_compiling, self._is_watched, self._make_run

        @functools.wraps(original)
        def __call__(module: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            # The first: `torch.compile` takes the answer for a constant.
            if is_compiling() or (not hooks.run and not hooks.python and not hooks.op):
                return original(module, *args, **kwargs)
            try:
                if is_watched():
                    return make_run(original, module, args, kwargs)
                return original(module, *args, **kwargs)
            except BaseException as error:
                drop_added_frames(error)
                raise
        return __call__

    def _is_watched(self) -> bool:
        """Whether a call that begins now is a run."""
        return self._calls.on and self._runs.active is None and not self._calls.is_traced

    @transparent
    def _make_run(self, original: Callable[..., Any], module: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        self._begin()
        inner = vars(module).get('_modules', {}).get('_orig_mod', module)       # what `torch.compile` has wrapped
        layout, inputs = flatten(args, kwargs, self._parameters_of(type(inner)))
        names = layout.names if layout is not None else self._parameters_of(type(inner))[:len(inputs)]
        run = self._new_run(type(inner).__name__, names)
        self._derivatives.note(run.id, module, inner, layout)
        returned: list[Any] = []

        def forward(*values: Any) -> Sequence[Any]:
            positional, keywords = layout.arguments(values) if layout is not None else (values, {})
            with self._runs.within(run):
                outputs = unfold(original(module, *positional, **keywords))
                returned.append(outputs.raw)
                return outputs
        if not hooks.run:
            return forward(*inputs).raw  # type: ignore[attr-defined]
        outputs = invoke(self._site(inner), forward, run, inputs)
        if type(outputs) is ResultList:
            return outputs.raw
        return fold(outputs, returned[-1] if returned else None)

    def _new_run(self, label: str, names: tuple[str, ...]) -> Run:
        run = Run(label, self._host, perf_counter_ns(), feeds=names, kind='function')
        form = self._forms.get((label, names))
        if form is None:
            if len(self._forms) > _MOST:
                self._forms.clear()
            form = self._forms[label, names] = RunForm()
        run.form = form
        return run

    def _site(self, module: Any) -> CallSite:
        """The site of a module: that of all of one structure, as it was at the first call of each."""
        site = self._site_of.get(module)
        if site is None:
            modules = structure(module)
            site = self._sites.get(modules)
            if site is None:
                if len(self._sites) > _MOST:
                    self._sites.clear()
                label = type(module).__name__
                site = self._sites[modules] = CallSite(label, label, 'run', self._host, attrs={
                    DIFFERENTIABLES: self._derivatives.of_run, CALLED_OBJECTS: self._derivatives.called,
                    MODULES: plain(modules[:MOST]), LEFT_OUT: len(modules) - len(modules[:MOST])})
            if all(member.shape is not None for one in modules for member in one.members):
                self._site_of[module] = site
        return site

    def _parameters_of(self, kind: type) -> tuple[str, ...]:
        """The names of the positional parameters of a module's `forward`."""
        names = self._parameters.get(kind)
        if names is None:
            names = self._parameters[kind] = forward_parameters(kind)
        return names
