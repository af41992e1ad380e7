"""Executables: compiled programs of JAX that call Python, with the names of their arguments and results.

JAX builds them on the thread that compiles. One that is older than the attachment is found in memory when it is called.
"""
from __future__ import annotations

import re
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from pyfuncdbg.hooks.call import CallSite, RunForm
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.host import Host
from pyfuncdbg.hooks.live_objects import find_objects
from pyfuncdbg.hooks.own_files import is_machinery
from pyfuncdbg.hooks.weak_keys import WeakKeys
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.jax.jax_parts import JaxParts
from pyfuncdbg.hosts.jax.programs.lowerings import LoweredCallback, LoweredCallbacks
from pyfuncdbg.hosts.jax.programs.user_function import closure_variable

_WRAPPED = re.compile(r'(?:jit|pmap)[(_](.*?)\)?$', re.DOTALL)
_PMAP = '_fun'
_SOURCE = re.compile(r' at (.*):\d+$')


SiteOf = Callable[[LoweredCallback, str], CallSite]
"""The site of a callback, by it and the name of its program; '' for one of eager code."""


class Observing:
    """One observed op in a compiled program.

    Attributes:
        site: Of the op.
        times: Number of its calls in one run; None if that depends on values.
    """

    __slots__ = ('__weakref__', 'site', 'times')

    def __init__(self, site: CallSite, times: int | None) -> None:
        self.site = site
        self.times = times


class Executable:
    """A compiled program that calls Python.

    Attributes:
        name: Of the function that the program compiled.
        eager: Whether JAX made it for one eager call: its calls belong to the eager code of the program.
        arguments: Names of its arguments, such as "w['a']"; constants come first, under ''.
        results: Names of its results.
        callbacks: Its callbacks, in the order of lowering.
        observers: Of its ops.
        form: Of its runs.
        site: Of its runs' own calls.
        site_of: Makes the site of a callback.
        ignored_at: Stamp of hooks at which `is_ignored` was found last: as long as it is theirs, it is.
    """

    __slots__ = ('__weakref__', 'arguments', 'callbacks', 'eager', 'form', 'ignored_at', 'name', 'observers', 'results',
                 'site', 'site_of')

    def __init__(self, name: str, callbacks: Sequence[LoweredCallback], observers: Sequence[Observing], debug_info: Any,
                 host: Host, site_of: SiteOf) -> None:
        self.site_of = site_of
        self.name = plain_name(name)
        self.eager = within_jax(debug_info)
        self.arguments = tuple(str(argument or '') for argument in getattr(debug_info, 'arg_names', None) or ())
        self.results = tuple(str(result or '') for result in getattr(debug_info, 'result_paths', None) or ())
        if self.name == _PMAP and not self.eager:
            self.name = 'pmap'
        self.callbacks = callbacks
        self.observers = observers
        self.form = RunForm()
        self.site = CallSite(self.name, 'jit', 'run', host)
        self.ignored_at: object = None

    @property
    def is_ignored(self) -> bool:
        """Whether no hook is interested in its runs and calls, as far as hooks were asked."""
        stamp = hooks.stamp                     # read first: what changes meanwhile makes another
        if self.ignored_at is stamp:
            return True
        is_ignored = (not hooks.run or hooks.is_ignored(self.form)) and not self.observers and all(
            lowered.site is not None and hooks.is_ignored(lowered.site) for lowered in self.callbacks)
        if is_ignored:
            self.ignored_at = stamp
        return is_ignored

    def sites(self) -> list[CallSite]:
        """The sites of its ops, as far as they are observed, and of its callbacks, also of those that no run has called."""
        return [*[observer.site for observer in self.observers],
                *[lowered.site or self.site_of(lowered, '' if self.eager else self.name) for lowered in self.callbacks]]


class Executables:
    """The compiled programs that call Python, by JAX's objects.

    Attributes:
        by_call: By id of JAX's object that dispatches one: it, and the executable; None where that calls no function of the
            program.
        by_function: By id of a function that C++ dispatches without Python, or of a traced one: it, and its programs.
    """

    def __init__(self, parts: JaxParts, host: Host, lowered: LoweredCallbacks, site_of: SiteOf) -> None:
        self._site_of = site_of
        self._parts = parts
        self._host = host
        self._lowered = lowered
        self.by_call: dict[int, tuple[weakref.ref[Any], Executable | None]] = {}
        self._by_observer: WeakKeys[Observing, Executable] = WeakKeys()
        self.by_function: dict[int, tuple[weakref.ref[Any], list[Executable]]] = {}

    def install(self, patches: Patches) -> None:
        """Replace the functions by which JAX builds an executable, and lets C++ call it without Python."""
        unloaded = self._parts.execution.UnloadedMeshExecutable
        build, fast_path_data = unloaded.build_unsafe_call, self._parts.compilation._get_fastpath_data

        def build_unsafe_call(compiled: Any) -> Any:
            unsafe_call = build(compiled)
            if compiled.host_callbacks:
                self._note(unsafe_call, self._describe(compiled))
            return unsafe_call

        def _get_fastpath_data(executable: Any, *args: Any, **settings: Any) -> Any:
            data = fast_path_data(executable, *args, **settings)
            if data is not None and getattr(executable.unsafe_call, 'has_host_callbacks', False):
                names = sys._getframe(1).f_locals
                for key in (names.get('fun'), names.get('jaxpr')):      # called by the program, or by ops that run it
                    self._link(key, executable.unsafe_call)
            return data
        patches.replace(unloaded, 'build_unsafe_call', build_unsafe_call)
        patches.replace(self._parts.compilation, '_get_fastpath_data', _get_fastpath_data)

    def forget(self) -> None:
        """Forget all of them."""
        self.by_call.clear()
        self.by_function.clear()

    def called_as(self, unsafe_call: Any) -> Executable | None:
        """The executable behind JAX's object that dispatches it; None if it calls no function of the program."""
        entry = self.by_call.get(id(unsafe_call))
        if entry is None:
            self._find_earlier()
            entry = self.by_call.get(id(unsafe_call)) or self._note(unsafe_call, None)
        return entry[1]

    def _note(self, unsafe_call: Any, executable: Executable | None) -> tuple[weakref.ref[Any], Executable | None]:
        """Note the executable of an object of JAX's, as long as that lives."""
        key = id(unsafe_call)
        entry = self.by_call[key] = weakref.ref(unsafe_call, lambda _: self.by_call.pop(key, None)), executable
        return entry

    def compiled_from(self, function: Any) -> Sequence[Executable]:
        """The executables of a function, or a traced one, that C++ dispatches without Python."""
        entry = self.by_function.get(id(function))
        return entry[1] if entry is not None and entry[0]() is function else ()

    def with_callback(self, lowered: LoweredCallback) -> Executable | None:
        """The executable that a callback is part of; None if unknown."""
        if lowered.executable is None and not lowered.is_searched:
            lowered.is_searched = True          # looking through memory takes a tenth of a second
            self._find_earlier()
        executable = lowered.executable
        return executable if isinstance(executable, Executable) else None

    def with_observer(self, observer: Observing) -> Executable | None:
        """The executable that an observed op is part of."""
        return self._by_observer.get(observer)

    def _describe(self, compiled: Any) -> Executable | None:
        """Describe an executable that JAX has built; None if it calls no function of the program."""
        callbacks = [lowered for closure in compiled.host_callbacks
                     if (lowered := self._lowered.of_closure(closure)) is not None and lowered.is_watched]
        observers = [observer for closure in compiled.host_callbacks
                     if isinstance(observer := closure_variable(closure, 'callback'), Observing)]
        if not callbacks and not observers:
            return None
        debug_info = getattr(compiled.all_args_info, 'debug_info', None)
        executable = Executable(compiled.name, callbacks, observers, debug_info, self._host, self._site_of)
        for observer in observers:
            self._by_observer[observer] = executable
        for lowered in callbacks:
            lowered.executable = executable
        return executable

    def _find_earlier(self) -> None:
        """Describe the executables that were built before the attachment."""
        for mesh_executable in find_objects(self._parts.execution.MeshExecutable):
            unsafe_call = mesh_executable._unsafe_call
            compiled = getattr(mesh_executable.build_unsafe_call, '__self__', None)
            if unsafe_call is not None and id(unsafe_call) not in self.by_call and getattr(compiled, 'host_callbacks', None):
                self._note(unsafe_call, self._describe(compiled))

    def _link(self, function: Any, unsafe_call: Any) -> None:
        """Note that calls of a function, or of a traced one, dispatch an executable from C++."""
        executable = self.called_as(unsafe_call)
        if function is None or executable is None:
            return
        key = id(function)
        entry = self.by_function.get(key)
        if entry is None or entry[0]() is not function:
            try:
                reference = weakref.ref(function, lambda _: self.by_function.pop(key, None))
            except TypeError:                   # a callable that cannot be referred to weakly
                return
            entry = self.by_function[key] = reference, []
        entry[1].append(executable)


def within_jax(debug_info: Any) -> bool:
    """Whether a compiled function is JAX's own, which a program executes eagerly; that of `pmap` holds another."""
    match = _SOURCE.search(str(getattr(debug_info, 'func_src_info', '') or ''))
    return match is not None and is_machinery(match[1]) and not match[1].endswith(('pmap.py', 'api.py'))


def plain_name(name: str) -> str:
    """'step' of 'jit(step)' or 'jit_step'."""
    match = _WRAPPED.match(name)
    return ((match[1] if match else name) or name).replace('<lambda>', 'lambda')
