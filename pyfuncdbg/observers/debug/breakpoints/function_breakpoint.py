"""A breakpoint on functions that the program calls itself: where each of them begins, with the condition on its variables.

Belongs to an entry of the table in `breakpoints.table`; asked on the threads that come to such a function.
"""
from __future__ import annotations

from types import FrameType
from typing import TYPE_CHECKING

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.call import current
from pyfuncdbg.hooks.call_frames import is_function_frame
from pyfuncdbg.hooks.patched_code import original_code
from pyfuncdbg.observers.debug.breakpoints.breakpoint import Breakpoint
from pyfuncdbg.observers.debug.breakpoints.spec import Spec
from pyfuncdbg.observers.debug.conditions.line_condition import LineCondition
from pyfuncdbg.observers.debug.conditions.predicate import shown
from pyfuncdbg.observers.debug.conditions.vocabulary import VOCABULARY

if TYPE_CHECKING:
    from pyfuncdbg.observers.debug.lines.inline_condition import InlineCondition


class FunctionCondition:
    """The condition of a breakpoint on functions; without one it always holds.

    Attributes:
        evaluated: Whether it was evaluated since it is this one.
    """

    def __init__(self, condition: InlineCondition | None = None) -> None:
        self._condition = condition
        self.evaluated = False

    @property
    def names(self) -> frozenset[str]:
        """The names that it reads."""
        return self._condition.names if self._condition is not None else frozenset()

    def holds(self, frame: FrameType) -> bool:
        """Whether it is true for the variables of a frame; not where a name in it is none, as of another function.

        Raises:
            Exception: What it raises.
        """
        if self._condition is None:
            return True
        from pyfuncdbg.observers.debug.lines.inline_condition import UnsetError
        from pyfuncdbg.observers.debug.lines.name_resolution import owner_of
        self.evaluated = True
        try:
            return self._condition.value(frame, VOCABULARY, owner_of(frame.f_code))
        except UnsetError:
            return False


def function_condition(one: Breakpoint) -> FunctionCondition | None:
    """The condition of a breakpoint that may be on functions which the program calls itself; None if it can be on none."""
    if one.boundary or one.timing != 'before' or not may_name_functions(one.spec):
        return None
    if one.when is None:
        return FunctionCondition()
    from pyfuncdbg.observers.debug.lines.inline_condition import InlineCondition
    try:
        read = LineCondition(one.when)
        condition = InlineCondition(read.expression, read.functions, shown(one.when))
    except CommandError:                        # not an expression over variables
        return None
    return None if condition.bare or condition.names & _OF_CALLS else FunctionCondition(condition)


_OF_CALLS = frozenset(('out', 'inputs', 'call', 'history', 'error', 'changed', 'slow', 'p95', 'element'))


def may_name_functions(spec: Spec) -> bool:
    """Whether functions of the program can have the name: an identifier, or several with dots between them."""
    return spec.kind == 'name' and spec.ordinal is None and all(part.isidentifier() for part in spec.name.split('.'))


def is_of_call(spec: Spec, frame: FrameType) -> bool:
    """Whether a function begins that a call of a site has called, which is where that call stops: the wrapped function
    itself, or the one that a decorator of the same name has put around it."""
    if is_function_frame(frame):
        return True
    call = current.get()
    if call is None or call.site.kind != 'python' or not spec.means_function(call.site):
        return False
    outer = frame.f_back
    while outer is not None and not is_function_frame(outer):
        outer = outer.f_back
    return outer is not None and original_code(outer.f_code) is not original_code(frame.f_code)
