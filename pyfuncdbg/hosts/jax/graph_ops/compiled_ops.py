# cython: annotation_typing=False, auto_pickle=False
"""Compiled functions of JAX that a program executes eagerly, as ops: `jnp.sin`, an op of `jax.lax`.

One that holds the program's own function is an op, too, unless its ops are observed. On the thread of each dispatch.
"""
from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pyfuncdbg.hooks.call_frames import code_of
from pyfuncdbg.hooks.own_files import is_machinery
from pyfuncdbg.hooks.traits import Traits
from pyfuncdbg.hosts.jax.graph_ops.observed_program import READS_NO_VALUE
from pyfuncdbg.hosts.jax.jax_parts import JaxParts
from pyfuncdbg.hosts.jax.programs.executables import Executables, plain_name, within_jax

JIT = 'jit'
"""Op type of a compiled function of the program."""
_CALLBACKS = frozenset(('pure_callback', 'io_callback', 'debug_callback'))


class CompiledOp(NamedTuple):
    """An op.

    Attributes:
        name: Of the function.
        op_type: The same without JAX's leading underscores; 'jit' for a function of the program.
        traits: Of the op.
    """

    name: str
    op_type: str
    traits: Traits


class _Entry(NamedTuple):
    """Op of a compiled function, and its static arguments, which are no inputs."""

    reference: weakref.ref[Any]
    op: CompiledOp
    numbers: Sequence[int]
    names: Sequence[str]


class CompiledOps:
    """The ops of all compiled functions, which are the same for each function of a name.

    Args:
        parts: Modules of JAX.
        executables: Those with observed ops.
    """

    def __init__(self, parts: JaxParts, executables: Executables) -> None:
        self._array: type = parts.array.ArrayImpl
        self._leaves: Callable[[Any], list[Any]] = parts.tree.tree_leaves
        self._executables = executables
        self._by_function: dict[int, _Entry] = {}
        self._by_name: dict[tuple[str, bool], CompiledOp] = {}

    def called(self, function: Any, args: Sequence[Any], settings: Mapping[str, Any]) -> tuple[CompiledOp, list[Any]] | None:
        """The op of a call of a compiled function, and its inputs.

        Args:
            function: JAX's object.
            args, settings: The arguments.

        Returns:
            None if it is no op: its own ops are observed, or the op `jit` tells of it.
        """
        plain = getattr(function, '_fun', None)
        if plain is None:
            return None
        entry = self._by_function.get(id(plain))
        if entry is None or entry.reference() is not plain:
            entry = self._describe(function, plain)
        if entry.op.op_type == JIT and self._is_observed(plain):
            return None
        return entry.op, self._inputs(entry, args, settings)

    def executed(self, closed_jaxpr: Any, name: str) -> CompiledOp | None:
        """The op of a traced function that is executed.

        Args:
            closed_jaxpr: Its program.
            name: Of the function.

        Returns:
            None if it is no op.
        """
        is_own = within_jax(closed_jaxpr.jaxpr.debug_info)
        return None if not is_own and self._is_observed(closed_jaxpr) else self._op(name, is_own)

    def _is_observed(self, function: Any) -> bool:
        return any(executable.observers for executable in self._executables.compiled_from(function))

    def _describe(self, function: Any, plain: Any) -> _Entry:
        code, info, key = code_of(plain), getattr(function, '_jit_info', None), id(plain)
        is_own = code is not None and is_machinery(code.co_filename)
        entry = self._by_function[key] = _Entry(
            weakref.ref(plain, lambda _: self._by_function.pop(key, None)),
            self._op(getattr(plain, '__name__', type(plain).__name__), is_own),
            tuple(getattr(info, 'static_argnums', None) or ()), tuple(getattr(info, 'static_argnames', None) or ()))
        return entry

    def _op(self, name: str, is_own: bool) -> CompiledOp:
        op = self._by_name.get((name, is_own))
        if op is None:
            plain = plain_name(name)
            plain = plain.lstrip('_') or plain if is_own else plain
            op = self._by_name[name, is_own] = CompiledOp(plain, plain if is_own else JIT, Traits(
                runs_graph=plain in _CALLBACKS, calls_function=not is_own, reads_no_value=plain in READS_NO_VALUE,
                seen_afterwards=True))
        return op

    def _inputs(self, entry: _Entry, args: Sequence[Any], settings: Mapping[str, Any]) -> list[Any]:
        """The leaves of the arguments that are not static."""
        if entry.numbers:
            static = {number % len(args) for number in entry.numbers} if args else set()
            args = [value for place, value in enumerate(args) if place not in static]
        array = self._array
        for value in args:
            if type(value) is not array:
                args = self._leaves(args)
                break
        if settings:
            return [*args, *self._leaves({name: value for name, value in settings.items() if name not in entry.names})]
        return list(args)
