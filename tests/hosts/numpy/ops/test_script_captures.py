"""Which variables a function is found to reach."""
from __future__ import annotations

import functools
from typing import Any

import pytest

from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.ops.script.calls import captured_variables
from pyfuncdbg.hosts.numpy.ops.variables.variable import Variable

GRAPH = Graph()
IN_GLOBALS = Variable(1.)


class Holder:
    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def method(self) -> Any:
        return self.thing


class CallableHolder(Holder):
    def __call__(self) -> Any:
        return IN_GLOBALS


def by_global() -> Any:
    return IN_GLOBALS


def by_helper() -> Any:
    return by_global()


def in_a_lambda() -> Any:
    return (lambda: IN_GLOBALS)()


def closing_over(thing: Any) -> Any:
    return lambda: thing


V, W = Variable(2.), Variable(3.)


@pytest.mark.parametrize(('func', 'expected'), [
    (by_global, [IN_GLOBALS]), (by_helper, [IN_GLOBALS]), (in_a_lambda, [IN_GLOBALS]), (closing_over(V), [V]),
    (closing_over([V, {'w': (W,)}]), [V, W]), (Holder(V).method, [V]), (Holder({'a': [V]}).method, [V]),
    (CallableHolder(V), [V, IN_GLOBALS]), (functools.partial(by_global, V, k=W), [V, W, IN_GLOBALS]),
    (lambda a=V, *, b=W: a, [V, W]), (closing_over(closing_over(V)), [V]), (len, []), (closing_over(3), []),
    (closing_over(Variable(1., trainable=False)), [])])
def test_reached(func: Any, expected: list[Variable]) -> None:
    found = captured_variables(func, GRAPH)
    assert {id(v) for v in found} == {id(v) for v in expected}


def test_variables_of_graphs_only_for_nodes_that_can_read_them() -> None:
    mine, other = Graph(), Graph()
    with mine.as_default():
        v = Variable(1., trainable=False)
    inside = Graph(outer=mine, building_function=True)
    func = closing_over(v)
    assert captured_variables(func, mine)[0] is v and captured_variables(func, inside)[0] is v
    assert captured_variables(func, other) == ()


def test_nothing_of_the_users_is_called() -> None:
    class Proxy:
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(name)

        @property
        def __class__(self) -> Any:
            raise AssertionError('__class__')

        @__class__.setter
        def __class__(self, kind: Any) -> None:
            raise AssertionError('__class__')

    class Rows(list[Any]):
        def __iter__(self) -> Any:
            raise AssertionError('__iter__')

    (found,) = captured_variables(closing_over([Proxy(), Rows([V])]), GRAPH)
    assert found is V


def test_a_large_structure_ends_the_search() -> None:
    assert captured_variables(closing_over([[object() for _ in range(5000)], V]), GRAPH)[0] is V
    assert captured_variables(closing_over([[object() for _ in range(5000)], [[V]]]), GRAPH) == ()
