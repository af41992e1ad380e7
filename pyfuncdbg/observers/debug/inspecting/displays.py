"""Expressions that are shown at each stop in one function, or at one node: `display`.

Set and evaluated on stopped threads. They belong to the function's code, so they are there again in its next call.
"""
from __future__ import annotations

from dataclasses import dataclass
from types import CodeType

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.inspecting.evaluate import check, evaluate
from pyfuncdbg.observers.debug.inspecting.scope import host_of, scope_of
from pyfuncdbg.observers.debug.inspecting.stack import FrameEntry, NodeEntry, selected_entry
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.observers.debug.value import Value, describe_value


@dataclass(frozen=True, slots=True)
class Displayed:
    """One expression at a stop.

    Attributes:
        expression: As typed.
        value: Its value; of one that raises, what it raised as text.
        before: What it was at the stop before, where that was another; else None.
        changed: Whether it has another value than at the stop before, or none was there.
    """

    expression: str
    value: Value
    before: Value | None
    changed: bool


class Displays:
    """The expressions by function and node."""

    def __init__(self) -> None:
        self._by_place: dict[CodeType | str, dict[str, tuple[int, Displayed]]] = {}

    def add(self, stop: Stop, expression: str) -> Displayed:
        """Show an expression from now on; one that raises now may have a value later.

        Raises:
            CommandError: It is no expression.
        """
        text, _ = scope_of(stop, expression)
        check(text)
        found = Displayed(expression, _value(stop, expression), None, True)
        self._by_place.setdefault(_place(stop), {})[expression] = stop.number, found
        return found

    def remove(self, stop: Stop, expression: str) -> int:
        """Show it no more; '' for all that are shown at this place. How many these were.

        Raises:
            CommandError: It is not shown here.
        """
        displayed = self._by_place.get(_place(stop), {})
        if expression and expression not in displayed:
            listed = ', '.join(map(repr, displayed)) or 'nothing'
            raise CommandError(f'{expression!r} is not displayed here; displayed are: {listed}')
        removed = [expression] if expression else list(displayed)
        for one in removed:
            del displayed[one]
        return len(removed)

    def expressions(self, stop: Stop) -> tuple[str, ...]:
        """The expressions of this place, as typed."""
        return tuple(self._by_place.get(_place(stop), {}))

    def at(self, stop: Stop) -> tuple[Displayed, ...]:
        """The expressions of this place, evaluated once for each stop."""
        displayed = self._by_place.get(_place(stop), {})
        for expression, (number, last) in list(displayed.items()):
            if number != stop.number:
                displayed[expression] = stop.number, self._evaluate_again(stop, expression, last)
        return tuple(found for _, found in displayed.values())

    def _evaluate_again(self, stop: Stop, expression: str, last: Displayed) -> Displayed:
        value = _value(stop, expression)
        same = _appearance_key(value) == _appearance_key(last.value)
        return Displayed(expression, value, None if same else last.value, not same)


def _value(stop: Stop, expression: str) -> Value:
    text, names = scope_of(stop, expression)
    try:
        return describe_value(evaluate(text, names), host_of(stop))
    except CommandError as error:               # such as a name without a value yet
        return Value('error', str(error).partition('\n')[0])


def _appearance_key(value: Value) -> tuple[object, ...]:
    """A key by which values that look different on a card differ."""
    data = value.array.tobytes() if value.array is not None and value.array.nbytes < 1 << 20 else None
    return value.type, value.text, value.tensor.stats if value.tensor is not None else None, data


def _place(stop: Stop) -> CodeType | str:
    entry = selected_entry(stop)
    if isinstance(entry, FrameEntry):
        return entry.frame.f_code
    return entry.site.name if isinstance(entry, NodeEntry) else ''


displays = Displays()
"""The displays of this process."""
