"""The function of a call as a trace holds it: module, object, arguments of a partial, variables that it reads."""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pyfuncdbg.observers.record.index.state_records import CallState
from pyfuncdbg.observers.record.snapshots import value_encoding as tags


@dataclass(frozen=True, slots=True)
class HeldFunction:
    """The function of a call; values are encoded as in the trace.

    Attributes:
        module: Its module, '' if not known.
        owner: The object whose method it is, or that was called itself.
        partial: Arguments and keywords that a partial gave it.
        variables: Those of its closure, and global ones that it reads.
        globals: Those of its own module among them.
    """

    module: str = ''
    owner: Any = None
    partial: tuple[tuple[Any, ...], tuple[tuple[str, Any], ...]] | None = None
    variables: tuple[tuple[str, Any], ...] = ()
    globals: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, state: CallState) -> HeldFunction:
        """The function of a state; nothing where it is damaged or of an older trace.

        Args:
            state: That the call began in.
        """
        try:
            held = _held(state.function, tuple((one.name, one.value) for one in state.variables))
            own = [one for one in state.variables if one.module == held.module]
            return replace(held, globals=tuple((one.name, one.value) for one in own))
        except (TypeError, ValueError, IndexError):
            return cls()


def _held(encoded: Any, variables: tuple[tuple[str, Any], ...]) -> HeldFunction:
    tag, *parts = encoded
    if tag == tags.FUNCTION:
        cells = tuple((str(name), value) for name, value in parts[5])
        return HeldFunction(str(parts[0]), variables=(*variables, *cells))
    if tag == tags.METHOD:
        inner = _held(parts[0], variables)
        return HeldFunction(inner.module, parts[1], inner.partial, inner.variables)
    if tag == tags.OBJECT:
        return HeldFunction(str(parts[0]), encoded, variables=variables)
    if tag == tags.PARTIAL:
        function, args, keywords = parts
        inner = _held(function, variables)
        if inner.partial is not None:
            raise ValueError('a partial of a partial')      # which `functools` makes one of
        pairs = tuple((str(key[1]), value) for key, value in keywords[1])
        return HeldFunction(inner.module, inner.owner, (tuple(args[1]), pairs), inner.variables)
    return HeldFunction(variables=variables)
