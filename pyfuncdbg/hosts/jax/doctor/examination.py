"""Examination of a JAX program for `pyfuncdbg doctor`: facts that no call shows. On the threads that compile and call."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from pyfuncdbg.hooks.facts import Fact
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.traceback_frames import without_trace
from pyfuncdbg.hosts.jax.doctor.callback_calls import callback_calls, dead_callbacks, recomputed_callbacks
from pyfuncdbg.hosts.jax.doctor.compilations import Compilations
from pyfuncdbg.hosts.jax.doctor.host_reads import HostReads
from pyfuncdbg.hosts.jax.jax_parts import JaxParts
from pyfuncdbg.hosts.jax.programs.lowerings import LoweredCallbacks


class JaxExamination:
    """The facts of one process.

    Args:
        version: Of JAX.
        lowered: The callbacks of compiled programs.
    """

    def __init__(self, version: str, lowered: LoweredCallbacks) -> None:
        self._version = version
        self._lowered = lowered
        self._lock = new_lock()
        self._dead: Counter[tuple[str, int, str, str]] = Counter()
        self._repeated: dict[tuple[str, int, str, str], int] = {}
        self._compilations = Compilations()
        self._reads = HostReads()
        self._error_types: dict[tuple[str, int, str], set[str]] = {}

    def install(self, patches: Patches, parts: JaxParts) -> None:
        """Replace the execution of a traced function by the op `jit` (as under `jax.vmap`: C++ calls no hook), and reads."""
        original = parts.jit.impl

        def impl(*args: Any, **settings: Any) -> Any:
            with self._lock:
                self._compilations.on_executed(settings.get('jaxpr'))
            return original(*args, **settings)
        patches.replace(parts.jit, 'impl', without_trace(impl))
        self._reads.install(patches, parts.array.ArrayImpl)

    def on_lowered(self, closed_jaxpr: Any, name: str) -> None:
        """JAX compiles a program."""
        calls = callback_calls(closed_jaxpr.jaxpr)
        with self._lock:
            for frame, function in dead_callbacks(calls):
                self._dead[frame.filename, frame.line, function, name] += 1
            for frame, function, times in recomputed_callbacks(calls):
                self._repeated[frame.filename, frame.line, function, name] = times
            self._compilations.on_lowered(closed_jaxpr)

    def on_called(self, function: Any) -> None:
        """C++ has called a compiled function."""
        with self._lock:
            self._compilations.on_called(function)

    def on_surfaced(self, error: BaseException, cause: BaseException) -> None:
        """An exception of a callback has become an error of JAX's."""
        entry = cause.__traceback__
        while entry is not None and entry.tb_next is not None:
            entry = entry.tb_next
        if entry is not None:
            code = entry.tb_frame.f_code
            with self._lock:
                names = self._error_types.setdefault((code.co_filename, entry.tb_lineno, code.co_name), set())
                names.add(type(error).__name__)

    def facts(self) -> Iterator[Fact]:
        """All facts so far."""
        yield Fact('jax', data={'version': self._version})
        with self._lock:
            dead, repeated = dict(self._dead), dict(self._repeated)
            error_types, retraced = dict(self._error_types), list(self._compilations.facts())
        yield from retraced
        yield from self._reads.facts()
        for (filename, line, function, program), count in dead.items():
            yield Fact('jax dead', 0, filename, line, {'function': function, 'program': program, 'count': count})
        for (filename, line, function, program), times in repeated.items():
            yield Fact('jax repeated', 0, filename, line, {'function': function, 'program': program, 'times': times})
        for (filename, line, function), names in error_types.items():
            if 'ValueError' in names:
                yield Fact('jax error types', 0, filename, line, {'function': function, 'types': ', '.join(sorted(names))})
        for lowered in self._lowered.all():
            if lowered.site is not None and lowered.inline:
                yield Fact('jax inline', lowered.site.id, data={'calls': lowered.inline})
