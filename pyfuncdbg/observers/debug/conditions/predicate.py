"""Conditions as values: `Expression` of text, `Test` of a Python function, the bare words, and `&`, `|`, `~` of them.

    has_nan & ~has_inf                  any tensor of the call
    condition('x.max() > 3') | has_nan
    condition(lambda call: call.ordinal > 10)

Made on the thread that sets a breakpoint; `at(site)` is called when it meets a site, and its result runs in each call.
"""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.call import Call, CallSite
from pyfuncdbg.observers.debug.conditions import vocabulary
from pyfuncdbg.observers.debug.conditions.binding import Memory, OfValues, True_, binding, needs_memory, value_function
from pyfuncdbg.observers.debug.conditions.compiled_expression import CompiledExpression as Compiled
from pyfuncdbg.observers.debug.conditions.function_parameters import signature_of


class Predicate:
    """A condition; equal if it is built of equal parts.

    Attributes:
        reads: What it reads of a call: 'out', 'inputs', 'call', 'history', 'error', 'tensors' (a bare word).
        text: As a Python expression, None if it holds a Python function.
    """

    __slots__ = ()

    @property
    def reads(self) -> frozenset[str]:
        return frozenset()

    @property
    def text(self) -> str | None:
        return None

    @property
    def remembers(self) -> bool:
        """Whether it looks back at earlier calls."""
        return any(needs_memory(expression) for expression in self.expressions())

    @property
    def parts(self) -> tuple[object, ...]:
        """Its operands, by which predicates are compared."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Predicate) and type(other) is type(self) and other.parts == self.parts

    def __hash__(self) -> int:
        return hash((type(self), self.parts))

    def at(self, site: CallSite, memories: list[Memory]) -> True_:
        """The condition for calls of a site; what it remembers of them is added to `memories`."""
        raise NotImplementedError

    def of_values(self, site: CallSite) -> OfValues | None:
        """The condition as a function of the values of a call alone, None if it needs more; without effect when
        evaluated twice."""
        return None

    def source(self, functions: dict[str, Callable[..., Any]]) -> str:
        """It as an expression over the variables at a line; the Python functions it calls are added to `functions`.

        Raises:
            CommandError: There is no such expression.
        """
        raise NotImplementedError

    def expressions(self) -> Iterable[Compiled]:
        """The expressions it is built of."""
        return ()

    def check(self, parameters: Sequence[str], enclosing: Collection[str] | None = ()) -> None:
        """Refuse names that a function with these parameters and these enclosing names does not have.

        Raises:
            CommandError: With a mark under the name.
        """
        for expression in self.expressions():
            expression.check(parameters, enclosing=enclosing)

    def __and__(self, other: object) -> Predicate:
        return All(self, condition(other))

    def __rand__(self, other: object) -> Predicate:
        return All(condition(other), self)

    def __or__(self, other: object) -> Predicate:
        return Either(self, condition(other))

    def __ror__(self, other: object) -> Predicate:
        return Either(condition(other), self)

    def __invert__(self) -> Predicate:
        return Not(self)

    def __bool__(self) -> bool:
        raise TypeError("a condition is neither true nor false before there is a call: combine conditions with '&', '|' and "
                        "'~', not with 'and', 'or' and 'not'")


class Expression(Predicate):
    """A Python expression over a call."""

    __slots__ = ('_compiled',)

    def __init__(self, text: str) -> None:
        """Read it.

        Raises:
            CommandError: It is no expression.
        """
        self._compiled = Compiled(text)

    @property
    def reads(self) -> frozenset[str]:
        return self._compiled.reads

    @property
    def text(self) -> str:
        return self._compiled.text

    def at(self, site: CallSite, memories: list[Memory]) -> True_:
        memory = None
        if needs_memory(self._compiled):
            memory = Memory(self._compiled, site)
            memories.append(memory)
        return binding(self._compiled.whole, site, memory)

    def of_values(self, site: CallSite) -> OfValues | None:
        return value_function(self._compiled, site)

    def expressions(self) -> Iterable[Compiled]:
        return (self._compiled,)

    @property
    def parts(self) -> tuple[object, ...]:
        return (self.text,)

    def source(self, functions: dict[str, Callable[..., Any]]) -> str:
        return self.text

    def __repr__(self) -> str:
        return f'condition({self.text!r})'


class VocabularyWord(Expression):
    """`has_nan` and its kin: of a value when called, bare of any tensor of the call."""

    __slots__ = ('_function',)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._function = vocabulary.VOCABULARY[name]

    def __call__(self, x: Any) -> np.bool_:
        """Whether it holds for one value."""
        return self._function(x)  # type: ignore[no-any-return]

    def __reduce__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text


class Test(Predicate):
    """A Python function of the call. `call.outputs` is None before it, `call.error` set where it raised.

    At a line it is a function of the variables that its parameters name.
    """

    __slots__ = ('function',)
    __test__ = False

    def __init__(self, function: Callable[[Call], Any]) -> None:
        self.function = function

    def at(self, site: CallSite, memories: list[Memory]) -> True_:
        function = self.function
        return lambda call, outputs, error: function(call)

    @property
    def parts(self) -> tuple[object, ...]:
        return (self.function,)

    def source(self, functions: dict[str, Callable[..., Any]]) -> str:
        name = f'__when{len(functions)}__'      # not a name of the program, and the same in every class
        text = f'{name}({", ".join(_variable_names(self.function))})'
        functions[name] = self.function
        return text

    def __repr__(self) -> str:
        return f'condition({_name_of(self.function)})'


class _Pair(Predicate):
    """Two conditions."""

    __slots__ = ('left', 'right')
    _sign = _word = ''

    def __init__(self, left: Predicate, right: Predicate) -> None:
        self.left = left
        self.right = right

    @property
    def reads(self) -> frozenset[str]:
        return self.left.reads | self.right.reads

    @property
    def text(self) -> str | None:
        left, right = self.left.text, self.right.text
        return None if left is None or right is None else f'({left}) {self._word} ({right})'

    def expressions(self) -> Iterable[Compiled]:
        return (*self.left.expressions(), *self.right.expressions())

    @staticmethod
    def _join(left: Callable[..., Any], right: Callable[..., Any]) -> Callable[..., bool]:
        """The two as one function."""
        raise NotImplementedError

    def at(self, site: CallSite, memories: list[Memory]) -> True_:
        left = self.left.at(site, memories)     # first: their memories are in order
        return self._join(left, self.right.at(site, memories))

    def of_values(self, site: CallSite) -> OfValues | None:
        left, right = self.left.of_values(site), self.right.of_values(site)
        return None if left is None or right is None else self._join(left, right)

    @property
    def parts(self) -> tuple[object, ...]:
        return self.left, self.right

    def source(self, functions: dict[str, Callable[..., Any]]) -> str:
        left = self.left.source(functions)      # first: it may number a function
        return f'({left}) {self._word} ({self.right.source(functions)})'

    def __repr__(self) -> str:
        def part(one: Predicate) -> str:
            return f'({one!r})' if isinstance(one, _Pair) and type(one) is not type(self) else repr(one)
        right = f'({self.right!r})' if isinstance(self.right, _Pair) else repr(self.right)
        return f'{part(self.left)} {self._sign} {right}'


class All(_Pair):
    """Both hold; the second is not asked if the first does not."""

    __slots__ = ()
    _sign, _word = '&', 'and'

    @staticmethod
    def _join(left: Callable[..., Any], right: Callable[..., Any]) -> Callable[..., bool]:
        return lambda *given: truth(left(*given)) and truth(right(*given))


class Either(_Pair):
    """At least one holds; the second is not asked if the first does."""

    __slots__ = ()
    _sign, _word = '|', 'or'

    @staticmethod
    def _join(left: Callable[..., Any], right: Callable[..., Any]) -> Callable[..., bool]:
        return lambda *given: truth(left(*given)) or truth(right(*given))


class Not(Predicate):
    """Negation of a condition."""

    __slots__ = ('of',)

    def __init__(self, of: Predicate) -> None:
        self.of = of

    @property
    def reads(self) -> frozenset[str]:
        return self.of.reads

    @property
    def text(self) -> str | None:
        return None if self.of.text is None else f'not ({self.of.text})'

    def at(self, site: CallSite, memories: list[Memory]) -> True_:
        of = self.of.at(site, memories)
        return lambda call, outputs, error: not truth(of(call, outputs, error))

    def of_values(self, site: CallSite) -> OfValues | None:
        of = self.of.of_values(site)
        return None if of is None else lambda *given: not truth(of(*given))

    def expressions(self) -> Iterable[Compiled]:
        return self.of.expressions()

    @property
    def parts(self) -> tuple[object, ...]:
        return (self.of,)

    def source(self, functions: dict[str, Callable[..., Any]]) -> str:
        return f'not ({self.of.source(functions)})'

    def __repr__(self) -> str:
        return f'~({self.of!r})' if isinstance(self.of, _Pair) else f'~{self.of!r}'


def condition(value: object) -> Predicate:
    """A condition from text, a Python function of the call, or a condition.

    Raises:
        CommandError: It is none of these, or no expression.
    """
    if isinstance(value, Predicate):
        return value
    if isinstance(value, str):
        return Expression(value)
    if callable(value):
        return Test(value)
    raise CommandError(f'a condition is text, a Python function of the call or made of has_nan and its kin, not '
                       f'{type(value).__name__}')


def condition_text(predicate: Predicate | None) -> str:
    """The condition as the user typed it; '' for none."""
    return '' if predicate is None else predicate.text or repr(predicate)


def truth(value: Any) -> bool:
    """Whether a condition's value is true.

    Raises:
        ValueError: It is an array, which is neither.
    """
    if type(value) is np.ndarray and value.size != 1:
        raise ValueError(f'the condition is an array, {value.dtype}{list(value.shape)}, which is neither true nor false: '
                         'end it with .any() or .all()')
    return bool(value)


def _variable_names(function: Callable[..., Any]) -> list[str]:
    """The parameters of a condition of a line that get variables: those without a default.

    Raises:
        CommandError: They are unknown, or not all are plain ones.
    """
    signature = signature_of(function)
    if signature is None:
        raise CommandError(f'{_name_of(function)} has unknown parameters, which name variables at a line: use a lambda')
    names = []
    for name, parameter in signature.parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise CommandError(f'{_name_of(function)} takes {parameter}, and at a line the parameters name variables')
        if parameter.default is parameter.empty:
            names.append(f'{name}={name}' if parameter.kind is parameter.KEYWORD_ONLY else name)
    return names


def _name_of(function: Any) -> str:
    return str(getattr(function, '__qualname__', None) or type(function).__qualname__)


has_nan = VocabularyWord('has_nan')
has_inf = VocabularyWord('has_inf')
has_inf_or_nan = VocabularyWord('has_inf_or_nan')
