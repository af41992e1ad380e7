"""The scope in which a graph or a session is the default one of its thread. Such scopes end in reverse order."""
from __future__ import annotations

from typing import Any

from pyfuncdbg.hooks.public_function import hide_own_frames_in_methods


@hide_own_frames_in_methods
class DefaultScope:
    """One entry on a stack of defaults, as long as the context lasts.

    Args:
        stack: Of this thread.
        thing: What is the default.

    Attributes:
        enforce_nesting: Whether it is a mistake if another has been entered meanwhile and is still there.
    """

    __slots__ = ('_stack', '_thing', 'enforce_nesting')

    def __init__(self, stack: list[Any], thing: Any) -> None:
        self._stack, self._thing = stack, thing
        self.enforce_nesting = True

    def __enter__(self) -> Any:
        self._stack.append(self._thing)
        return self._thing

    def __exit__(self, *exception: object) -> None:
        stack = self._stack
        if not stack:
            return
        if not self.enforce_nesting:
            last = max((i for i, thing in enumerate(stack) if thing is self._thing), default=None)
            if last is not None:
                del stack[last]
        elif stack[-1] is not self._thing:
            raise AssertionError(f'Nesting violated for default stack of {type(self._thing)} objects')
        else:
            stack.pop()
