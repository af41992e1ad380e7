"""A condition over calls of a trace: the same text as of a breakpoint, on what was recorded.

On the thread of the command that asks.
"""
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pyfuncdbg.errors import CommandError, DroppedError
from pyfuncdbg.observers.debug.conditions.binding import CallTensors, needs_memory
from pyfuncdbg.observers.debug.conditions.compiled_expression import CompiledExpression
from pyfuncdbg.observers.debug.conditions.past_calls import output_value
from pyfuncdbg.observers.debug.conditions.predicate import truth
from pyfuncdbg.observers.record.records import CallRecord

_ELEMENT = re.compile(r'element (\d{1,18}) of ')


class RecordedCondition:
    """A condition.

    Attributes:
        untested: Calls whose values were not recorded: it does not hold there.
    """

    def __init__(self, text: str) -> None:
        """Read it.

        Raises:
            CommandError: It is no expression, or one that looks back at earlier calls.
        """
        self._expression = CompiledExpression(text)
        if needs_memory(self._expression):
            raise CommandError(f'{text}: history, changed and p95 look back; the calls of a trace are tested one by one')
        self.untested = 0
        self._met: dict[str, None] = {}         # names of inputs, in their order
        self._asked = self._elements = False

    def holds(self, call: CallRecord, names: Sequence[str]) -> bool:
        """Whether it holds for a call; not where no input has such a name.

        Args:
            call: As recorded.
            names: Of its inputs, '' where one is not known.

        Raises:
            CommandError: The condition raises.
        """
        self._asked = True
        self._met |= dict.fromkeys(filter(None, names))
        try:
            values = [self._value(name, call, names) for name in self._expression.whole.names]
            return truth(self._expression.whole.function(*values))
        except DroppedError:
            self.untested += 1
            return False
        except KeyError:
            return False
        except Exception as error:              # of the user's expression
            raise CommandError(f'{self._expression.text}: {type(error).__name__}: {error}, at call {call.label}') from None

    def check(self) -> None:
        """Refuse names that no call had for which it was asked.

        Raises:
            CommandError: With a mark under the name.
        """
        if not self._asked:
            return
        known = f'are {", ".join(self._met)}' if self._met else 'have no names'
        if 'element' in self._expression.whole.names and 'element' not in self._met and not self._elements:
            raise CommandError(f'{self._expression.text}: of none of these calls is the element of a dataset known')
        self._expression.check((), f'the inputs of these calls {known}, and a trace keeps no other variables', self._met)

    def _element(self, call: CallRecord) -> int:
        """The index of the dataset's element that a call worked on; KeyError where it is not known."""
        match = _ELEMENT.match(call.element)
        if match is None:
            raise KeyError('element')
        self._elements = True
        return int(match[1])

    def _value(self, name: str, call: CallRecord, names: Sequence[str]) -> Any:
        if name in names:
            return call.inputs[names.index(name)].to_numpy()[()]
        if name == 'out':
            return output_value([tensor.to_numpy()[()] for tensor in call.outputs])
        if name == 'inputs':
            return tuple(tensor.to_numpy()[()] for tensor in call.inputs)
        if name == '_tensors':
            return CallTensors([tensor.to_numpy() for tensor in (*call.inputs, *call.outputs)])
        if name == 'element':
            return self._element(call)
        simple: dict[str, Any] = {'call': call, 'error': call.error, '_ordinal': call.ordinal, 'slow': call.duration or 0.0}
        return simple[name]
