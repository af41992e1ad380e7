# cython: annotation_typing=False, auto_pickle=False, boundscheck=False, wraparound=False
"""State that a Python call begins in, beside its inputs: random generators, its function with what that reads, surroundings.

A replay restores it. Compared at each call, on its thread, with the state of the last one by cheap marks, and queued only
where it has changed: a call holds three numbers. Compiled by `call_state.pxd`.
"""
from __future__ import annotations

import itertools
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

import msgpack
import numpy as np

from pyfuncdbg.hooks import random_states
from pyfuncdbg.hooks.call import Call
from pyfuncdbg.hooks.host import Host
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hooks.signal_handlers import raise_program_error
from pyfuncdbg.observers.record.array_bytes import digest
from pyfuncdbg.observers.record.snapshots.function_values import FunctionValues

GENERATORS, VALUES, SURROUNDINGS = 'rng', 'values', 'surroundings'
"""Kinds of state records."""
StateNumbers = tuple[int, int, int]
"""Numbers of the records in force at a call, one of each kind; 0 if that was not kept."""
NO_STATE: StateNumbers = (0, 0, 0)
_FOLDER_INTERVAL = 100_000_000
"""Nanoseconds between two looks at the working folder: one takes 0.4 us."""
_MOST_SITES = 1 << 16
_LONGEST_TEXT = 4096
_MOST_ARGUMENTS = 1_000
_numbers = itertools.count(1)
"""Of state records, in all traces of this process: a call that began in another trace names none of this one."""


class SiteState:
    """The state of the last call of one site.

    Attributes:
        values: Of its function.
        mark, number, key: Mark, record number and content hash of those values.
        last: The numbers of the last call.
        epoch: Of the generators and surroundings in them.
    """

    __slots__ = ('code', 'epoch', 'key', 'last', 'mark', 'number', 'plain', 'values')

    def __init__(self, values: FunctionValues) -> None:
        self.values = values
        self.code = values.code
        self.plain = values.plain
        self.mark: Any = None
        self.number = 0
        self.key = b''
        self.last = NO_STATE
        self.epoch = 0


class CallStates:
    """The states of the calls of one process.

    Args:
        put: Queues a state record: number, kind and content. False if there is no room for it.
    """

    __slots__ = ('_arguments', '_bits', '_draws', '_epoch', '_errstate', '_filter_count', '_filters', '_first_filter',
                 '_folder', '_gauss', '_gauss_next', '_generators', '_looked', '_numpy', '_numpy_gauss', '_numpy_mark',
                 '_numpy_position', '_numpy_word', '_numpy_words', '_position', '_put', '_python', '_python_mark',
                 '_python_words', '_random', '_random_state', '_sites', '_surroundings', '_word')

    def __init__(self, put: Callable[[list[Any]], bool]) -> None:
        self._put = put
        self._sites: dict[int, SiteState] = {}
        self._python: Any = None
        self._numpy: Any = None
        self._python_mark: Any = None
        self._numpy_mark: Any = None
        self._draws: Any = None
        self._python_words: Any = None
        self._numpy_words: Any = None
        self._random: Any = None
        self._random_state: Any = None
        self._gauss: Any = None
        self._gauss_next: Any = None
        self._bits: Any = None
        self._position = self._word = self._numpy_position = self._numpy_word = self._numpy_gauss = 0
        self._generators = self._surroundings = self._looked = 0
        self._epoch = 1
        self._errstate: Any = None
        self._filters: Any = None
        self._first_filter: Any = None
        self._filter_count = 0
        self._folder = ''
        self._arguments: Any = None

    def take(self, call: Call) -> StateNumbers:
        """Take the state in which a Python call begins.

        Args:
            call: The call; nothing of its function has run.

        Returns:
            The numbers of its records, which are queued.
        """
        site = call.site
        try:
            state = self._sites.get(site.id)
            if state is None or state.code is not getattr(site.function, '__code__', None):
                state = self._new_site(site)
            if self._python_words is None or self._numpy_words is None:     # this interpreter or NumPy keeps them elsewhere
                drawn = self._has_drawn()
            else:                               # NumPy has the position behind its 624 words
                drawn = self._python_words[0] != self._position or self._python_words[1] != self._word or \
                    self._numpy_words[624] != self._numpy_position or self._numpy_words[0] != self._numpy_word or \
                    self._gauss[0] != self._numpy_gauss or self._random.gauss_next is not self._gauss_next or \
                    self._random_state._bit_generator is not self._bits
            if drawn or site.host.op_draws != self._draws:
                self._take_generators(site.host)
            filters = warnings.filters
            if numpy_errstate.state.get(numpy_errstate.DEFAULT) is not self._errstate or filters is not self._filters or \
                    len(filters) != self._filter_count or (filters and filters[0] is not self._first_filter) or \
                    call.started - self._looked > _FOLDER_INTERVAL:
                self._take_surroundings(call.started)
            if not state.plain or not state.number:
                self._take_values(state, site.function)
            if state.epoch != self._epoch:
                state.last = self._generators, state.number, self._surroundings
                state.epoch = self._epoch
            return state.last
        # Of the program's own classes, or a container that another thread changes: the state is not known.
        except Exception as error:
            raise_program_error(error)
            return NO_STATE

    def numbers_in_force(self) -> set[int]:
        """The numbers that calls to come may name.

        Returns:
            Those of the last calls of all sites.
        """
        return {self._generators, self._surroundings, *[state.number for state in list(self._sites.values())]}

    def _new_site(self, site: Any) -> SiteState:
        if len(self._sites) > _MOST_SITES:
            self._sites.clear()
        state = self._sites[site.id] = SiteState(FunctionValues(site))
        return state

    def _has_drawn(self) -> bool:
        self.look_up_generators()
        return bool(self._python.mark() != self._python_mark or self._numpy.mark() != self._numpy_mark)

    def look_up_generators(self) -> None:
        """Look up the generators of Python and NumPy, once: NumPy may load `numpy.random` for it, 10 ms."""
        if self._python is None:
            self._numpy = random_states.NumPyRandom(random_states.global_generator('numpy.random'))
            # The last: other threads take both for looked up.
            self._python = random_states.PythonRandom(random_states.global_generator('random'))

    def _take_generators(self, host: Host) -> None:
        marks = self._python.mark(), self._numpy.mark(), host.op_draws
        ops = [[name, random_states.plain_state(one) if name else one] for name, one in host.op_generators()]
        self._generators = self._record(GENERATORS, msgpack.packb(
            {'random': self._python.state(), 'numpy.random': self._numpy.state(), 'ops': ops}))
        self._epoch += 1
        self._python_mark, self._numpy_mark, self._draws = marks
        self._python_words, self._numpy_words, self._gauss = self._python.words, self._numpy.words, self._numpy.gauss
        self._random, self._random_state, self._bits = self._python.generator, self._numpy.generator, self._numpy.bits
        if self._python_words is not None and self._numpy_words is not None:
            self._position, self._word, self._gauss_next = self._python_mark
            self._numpy_position, self._numpy_word, _, self._numpy_gauss = self._numpy_mark

    def _take_values(self, state: SiteState, function: Any) -> None:
        mark = state.values.mark(function)
        if state.number and mark == state.mark:
            return
        body = msgpack.packb(state.values.content(function), unicode_errors='surrogatepass')
        key = digest(body)
        if key != state.key or not state.number:        # an object made anew has another mark
            state.number, state.key, state.epoch = self._record(VALUES, body), key, 0
        state.mark = mark

    def _take_surroundings(self, now: int) -> None:
        """NumPy's error state, the filters of warnings, the working folder, `sys.argv`, and where modules are searched."""
        folder, arguments = self._folder, self._arguments
        if now - self._looked > _FOLDER_INTERVAL:
            self._looked = now
            try:
                folder = os.getcwd()
            except OSError as error:            # it was removed
                raise_program_error(error)
                folder = ''
            arguments = _arguments()
        errstate, filters = numpy_errstate.state.get(numpy_errstate.DEFAULT), warnings.filters
        first = filters[0] if filters else None
        before = self._folder, self._arguments, self._errstate, self._filters, self._first_filter, self._filter_count
        in_force = folder, arguments, errstate, filters, first, len(filters)
        if in_force != before or not self._surroundings:
            self._surroundings = self._record(SURROUNDINGS, msgpack.packb({
                'errstate': dict(np.geterr()), 'folder': folder, 'argv': arguments,
                'filters': [_plain_filter(one) for one in filters[:256]],
                'path': [str(path)[:_LONGEST_TEXT] for path in sys.path[:64]]}, unicode_errors='surrogatepass'))
            self._epoch += 1
        # Last: a signal handler of the program may raise anywhere, and then all this is done again.
        self._folder, self._arguments, self._errstate, self._filters, self._first_filter, self._filter_count = in_force

    def _record(self, kind: str, body: bytes) -> int:
        """Queue a record; its number, 0 if there is no room."""
        number = next(_numbers)
        return number if self._put([number, kind, body]) else 0


def _arguments() -> tuple[str, ...] | None:
    """`sys.argv`; None where it is not what Python makes it, or too long."""
    words = getattr(sys, 'argv', None)
    if type(words) is not list or len(words) > _MOST_ARGUMENTS:
        return None
    words = tuple(words)
    return words if all(type(word) is str and len(word) <= _LONGEST_TEXT for word in words) else None


def _plain_filter(one: Any) -> list[Any]:
    action, message, category, module, line = one
    patterns = [None if pattern is None else pattern if isinstance(pattern, str) else pattern.pattern
                for pattern in (message, module)]
    return [action, patterns[0], [category.__module__, category.__qualname__], patterns[1], line]
