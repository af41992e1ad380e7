"""How a function gets at what it is not given: the name that a message tells, and what is not looked at."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from pyfuncdbg.hosts.tensorflow.python_calls.captured_variables import captured_name, closure_variables

WEIGHT, OTHER = object(), object()
WEIGHTS = [OTHER, WEIGHT]


class Layer:
    def __init__(self, kernel: object) -> None:
        self.kernel = kernel

    def call(self, x: Any) -> Any:
        return self.kernel, x


def closure(bias: object) -> Callable[[Any], Any]:
    return lambda x: (x, bias)


def of_module(x: Any) -> Any:
    return x, WEIGHT


def of_list(x: Any) -> Any:
    return x, WEIGHTS[1]


def by_default(x: Any, weight: object = WEIGHT) -> Any:
    return x, weight


def given(x: Any) -> Any:
    return x


@pytest.mark.parametrize(('function', 'name'), [
    (closure(WEIGHT), 'bias'), (closure(OTHER), ''), (of_module, 'WEIGHT'), (of_list, 'WEIGHTS'), (by_default, 'a default'),
    (Layer(WEIGHT).call, 'self.kernel'), (Layer(OTHER).call, ''), (partial(of_module, 1), 'WEIGHT'), (given, ''), (abs, '')])
def test_the_name_under_which_a_function_reaches_a_tensor(function: Callable[..., Any], name: str) -> None:
    assert captured_name(function, WEIGHT) == name


def test_a_variable_without_a_value_is_passed_over() -> None:
    if not WEIGHTS:
        late = 1

    def function() -> Any:
        return late, WEIGHT
    assert closure_variables(function) == [] and captured_name(function, WEIGHT) == 'WEIGHT'


class Handled:
    asked = 0

    @property
    def handle(self) -> object:
        Handled.asked += 1
        return WEIGHT


def test_no_property_of_the_program_is_computed() -> None:
    assert captured_name(closure(Handled()), WEIGHT) == '' and Handled.asked == 0
    framework = type('Variable', (Handled,), {'__module__': 'tensorflow.python.ops.variables'})
    assert captured_name(closure(framework()), WEIGHT) == 'bias' and Handled.asked == 1
