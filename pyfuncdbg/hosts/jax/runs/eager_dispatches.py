"""Observer of dispatches of JAX's own programs, which `Dispatches` calls on the thread of each."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any, Protocol


class EagerDispatches(Protocol):
    """Observer of eager dispatches: `EagerOps`."""

    def on_called(self, function: Any, args: Sequence[Any], settings: Mapping[str, Any], results: Any,
                  frame: FrameType) -> None:
        """C++ has dispatched a compiled function."""

    def on_executed(self, closed_jaxpr: Any, name: str, args: Sequence[Any], results: Sequence[Any],
                    frame: FrameType) -> None:
        """The op `jit` has executed a traced function."""
