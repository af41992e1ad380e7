"""The number of a function's code: one for all closures of a `def`, others for other code on the same line."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from pyfuncdbg.hooks.patched_code import code_number


def closure(value: float) -> Callable[[float], float]:
    return lambda x: x * value


def test_closures_of_one_definition_share_a_number_and_a_partial_has_its_functions() -> None:
    assert code_number(closure(1.0)) == code_number(closure(2.0)) == code_number(partial(closure(3.0), 4.0))


def test_functions_of_one_line_have_numbers_of_their_own() -> None:
    functions: list[Any] = [lambda x: x + 1, lambda x: x + 2, lambda x: x - 1, lambda y: y + 1]
    assert len({code_number(function) for function in functions}) == 4
