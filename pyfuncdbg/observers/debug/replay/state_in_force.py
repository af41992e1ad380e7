"""The state that a recorded call began in, in force around a replay.

Generators, error state, filters of warnings, folder, `sys.argv`, globals.

What the process had is put back at the end. On the thread of the command.
"""
from __future__ import annotations

import contextlib
import os
import re
import sys
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks import random_states
from pyfuncdbg.hooks.host import Host
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hooks.program_arguments import program_arguments
from pyfuncdbg.hooks.random_states import NumPyRandom, PythonRandom
from pyfuncdbg.observers.debug.replay.program_modules import ProgramModules
from pyfuncdbg.observers.debug.replay.recorded_values import MISSING, ValueMaker
from pyfuncdbg.observers.record.index.state_records import CallState

_ACTIONS = frozenset(('default', 'error', 'ignore', 'always', 'module', 'once', 'all'))
_MODES = frozenset(('ignore', 'warn', 'raise', 'call', 'print', 'log'))
_GENERATORS = 'random', 'numpy.random'
_ABSENT: Any = object()


class StateInForce:
    """Puts the state of a call in force, as often as it is replayed.

    Args:
        state: As the trace has it.
        host: Of the call.
        modules: Of the program.
        maker: Makes the values of global variables.

    Attributes:
        remarks: What of the state could not be restored.
    """

    def __init__(self, state: CallState, host: Host, modules: ProgramModules, maker: ValueMaker) -> None:
        self._state = state
        self._host = host
        self._modules = modules
        self._maker = maker
        self._readers = PythonRandom(random_states.global_generator('random')), NumPyRandom(
            random_states.global_generator('numpy.random'))
        self._marks: Any = None
        self.remarks: list[str] = []

    @property
    def knows_generators(self) -> bool:
        """Whether the states of the random generators were kept."""
        return self._state.generators is not None

    def drawn(self) -> tuple[str, ...]:
        """The generators of modules that were drawn from, or seeded, since `begin`; 'ops' for those of eager ops."""
        return tuple([name for name, before, now in zip((*_GENERATORS, 'ops'), self._marks, self._mark(), strict=True)
                      if before != now])

    def _mark(self) -> Any:
        return *[reader.mark() for reader in self._readers], self._host.op_draws

    def begin(self) -> None:
        """Restore the random generators, before each call.

        Raises:
            CommandError: Their states are damaged.
        """
        try:
            if self._state.generators is not None:
                for name in _GENERATORS:
                    random_states.restore(random_states.global_generator(name), self._state.generators[name])
                self._host.restore_op_generators(self._state.op_generators)
        except (ValueError, KeyError) as error:
            raise CommandError(f'the recorded states of the random generators cannot be restored: {error}') from None
        self._marks = self._mark()

    def variables(self) -> dict[int, tuple[ModuleType, dict[str, Any]]]:
        """The values of the global variables that the function reads, made anew, by module."""
        spaces: dict[int, tuple[ModuleType, dict[str, Any]]] = {}
        for variable in self._state.variables:
            space = self._modules.namespace(variable.module, '')
            value = self._maker.make(variable.value, variable.name)
            if value is MISSING and (main := self._modules.main_of(space)) is not None:
                main.define_name(variable.name)
                if line := main.line_of(variable.name):
                    self._maker.missing[variable.name] += f', and line {line} makes it only where the script runs'
            if value is not MISSING:
                spaces.setdefault(id(space), (space, {}))[1][variable.name] = value
        return spaces

    @contextlib.contextmanager
    def around(self) -> Iterator[None]:
        """A block in which all of it is in force but the random generators, which are put back at its end."""
        with contextlib.ExitStack() as stack:
            states = [(name, random_states.plain_state(random_states.global_generator(name))) for name in _GENERATORS]
            for name, before in states:
                stack.callback(random_states.restore, random_states.global_generator(name), before)
            stack.enter_context(self._folder())
            stack.enter_context(self._arguments())
            stack.enter_context(self._errstate())
            stack.enter_context(self._filters())
            yield

    @contextlib.contextmanager
    def globals_in_force(self) -> Iterator[None]:
        """A block in which the global variables have the recorded values."""
        before: list[tuple[dict[str, Any], str, Any]] = []
        try:
            for space, values in self.variables().values():
                for name, value in values.items():
                    before.append((vars(space), name, vars(space).get(name, _ABSENT)))
                    vars(space)[name] = value
            yield
        finally:
            for variables, name, value in reversed(before):
                if value is _ABSENT:
                    variables.pop(name, None)
                else:
                    variables[name] = value

    @contextlib.contextmanager
    def _folder(self) -> Iterator[None]:
        try:
            before = os.getcwd()
        except OSError:                         # it was removed
            before = ''
        try:
            if self._state.folder and self._state.folder != before:
                try:
                    os.chdir(self._state.folder)
                except OSError:
                    self.remarks.append(f'the working folder {self._state.folder} is not here')
            yield
        finally:
            if before:
                os.chdir(before)

    @contextlib.contextmanager
    def _arguments(self) -> Iterator[None]:
        recorded = self._state.arguments
        if recorded is None or list(recorded) == program_arguments():       # at a stop of the program the list is its own
            yield
            return
        before = getattr(sys, 'argv', _ABSENT)
        sys.argv = list(recorded)
        try:
            yield
        finally:
            if before is _ABSENT:
                del sys.argv
            else:
                sys.argv = before

    @contextlib.contextmanager
    def _errstate(self) -> Iterator[None]:
        modes = {key: mode for key, mode in (self._state.errstate or {}).items()
                 if key in ('divide', 'over', 'under', 'invalid') and mode in _MODES}
        token = numpy_errstate.state.set(numpy_errstate.make_state(**modes) if modes else numpy_errstate.DEFAULT)
        try:
            yield
        finally:
            numpy_errstate.state.reset(token)

    @contextlib.contextmanager
    def _filters(self) -> Iterator[None]:
        with warnings.catch_warnings():
            if self._state.filters:
                warnings.resetwarnings()
                for one in reversed(self._state.filters):
                    self._add_filter(*one)
            yield

    def _add_filter(self, action: Any, message: Any, category: Any, module: Any, line: Any) -> None:
        try:
            owner, name = category
            kind = getattr(sys.modules.get(str(owner)), str(name), None)
            if action not in _ACTIONS or not isinstance(kind, type) or not issubclass(kind, Warning):
                raise ValueError(f'no filter of warnings: {action!r} of {owner}.{name}')
            warnings.filterwarnings('always' if action == 'all' else action, '', kind, '', int(line))
            if message is not None or module is not None:
                patterns = [None if text is None else re.compile(str(text), re.I if place == 0 else 0)
                            for place, text in enumerate((message, module))]
                filters: Any = warnings.filters
                filters[0] = (action, patterns[0], kind, patterns[1], int(line))
        except (ValueError, TypeError, re.error, AssertionError):
            self.remarks.append('a filter of warnings could not be restored')

