"""A condition on one tensor, as `run -f` takes it: the expressions of breakpoints, where `out` is the tensor.

Read on the thread at the prompt, evaluated on the threads of the runs.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from pyfuncdbg.errors import CommandError, TypedCommand
from pyfuncdbg.observers.debug.conditions.compiled_expression import CompiledExpression
from pyfuncdbg.observers.debug.conditions.vocabulary import VOCABULARY

_OF_CALLS = ('inputs', 'call', 'history', 'error')


class TensorTest:
    """A condition on a tensor.

    Args:
        text: A word such as has_inf_or_nan, or an expression of `out`.

    Raises:
        CommandError: It is no expression, or asks for what a tensor does not have.
    """

    __slots__ = ('_evaluation', 'text')

    def __init__(self, text: str) -> None:
        expression = CompiledExpression(text)
        expression.check((), "the tensor is called 'out' here, as in absmax(out) > 1e3")
        wrong = [name for name in _OF_CALLS if name in expression.reads]
        if wrong or expression.changes:
            raise CommandError(f'{text!r} asks for {wrong[0] if wrong else "changed"!r}, and here one tensor is looked at: '
                               "'out', as in absmax(out) > 1e3. ", TypedCommand('break'), ' has conditions on calls.')
        if not expression.reads:
            raise CommandError(f"{text!r} does not use the tensor: call it 'out', as in absmax(out) > 1e3, or use "
                               'has_nan, has_inf or has_inf_or_nan')
        self.text = expression.text
        self._evaluation = expression.whole

    def __call__(self, value: np.ndarray) -> bool:
        """Whether a tensor passes; False for types that the condition cannot be asked of, such as text.

        Raises:
            Exception: What the expression raised.
        """
        if value.dtype.hasobject:
            return False
        given = {'out': value, '_tensors': _Words(value)}
        return bool(self._evaluation.function(*(given[name] for name in self._evaluation.names)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorTest) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f'TensorTest({self.text!r})'


class _Words:
    """Vocabulary words without a value, applied to one tensor."""

    __slots__ = ('_value',)

    def __init__(self, value: Any) -> None:
        self._value = value

    def __getitem__(self, word: str) -> Any:
        return VOCABULARY[word](self._value)
