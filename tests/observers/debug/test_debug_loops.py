"""A user inside of a loop: the stack with the nodes around, steps from iteration to iteration, and `to` a later one."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scripted_stops import typing

from pyfuncdbg import tf
from pyfuncdbg.observers.debug.debugger import debugger


@pytest.fixture(autouse=True)
def no_breakpoint_stays() -> Iterator[None]:
    yield
    for number in list(debugger.breakpoints.entries):
        debugger.breakpoints.clear(number)


def run() -> Any:
    """out = -(a loop of 3 iterations that doubles), the sign changed in a branch."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        def body(i: Any, a: Any) -> Any:
            return i + 1, tf.ensure_shape(tf.numpy_function(lambda a: a * 2, [a], tf.float64, name='twice'), [])
        y = tf.while_loop(lambda i, a: i < 3, body, [0, tf.constant(1.5, tf.float64)])[1]
        out = tf.cond(y > 0., lambda: tf.numpy_function(lambda a: -a, [y], tf.float64, name='minus'), lambda: y)
        return session.run(tf.identity(out, name='out'))


def test_the_stack_has_the_loop_around_a_node_of_its_body() -> None:
    with typing('break twice[1]', 'cont', 'bt', 'node', 'bt', 'cont') as typist:
        assert run() == -12.0
    stacks = [text.splitlines() for line, text in typist.said if line == 'bt']
    nodes = [[line.split() for line in stack if line.split()[0] == 'node'] for stack in stacks]
    around = [['out', 'Identity,'], ['cond/Identity', 'Identity,'], ['cond', 'If,'], ['while/Identity_3', 'Identity,'],
              ['while', 'While,']]
    assert [[words[1:3] for words in stack] for stack in nodes[:2]] == [around, around]
    assert 'While, runs the node below' in stacks[0][-2] and 'twice  PyFunc' in stacks[0][-1]
    assert 'EnsureShape, is next' in stacks[1][-1]


def test_to_goes_to_a_later_iteration_and_names_its_limits() -> None:
    with typing('to twice', 'p a', 'to twice[2]', 'node', 'to twice', 'node',
                'to twice') as typist:
        assert run() == -12.0
    assert "'to' goes to the next execution of a node" in typist.shown('to twice[2]')
    positions = [card.splitlines()[0] for card in typist.cards]
    assert [p.split("'")[1] for p in positions if 'twice' in p][:3] == ['twice', 'twice', 'twice']
    assert any("before node 'while/Identity_3'" in p for p in positions)      # there is no fourth execution


def test_nodes_of_the_loop_and_outside_of_it_are_told_apart() -> None:
    with typing('to twice[1]', 'break twice[1] --once', 'cont', 'to twicee', 'to out', 'rewind while',
                at_next_call=False) as typist:
        debugger.breakpoints.set('while', once=True)
        assert run() == -12.0
    assert typist.shown('to twice[1]') == ("*** no node 'twice[1]' in this graph. If it is in a loop, branch or function: "
                                           "'break twice[1] --once' and 'cont' stop there")
    assert "no node 'twicee' in this graph. Did you mean 'twice'?" in typist.shown('to twicee')
    way = "outside of the loop or branch that runs here: 'break {} --once' and 'cont' stop there"
    assert way.format('out') in typist.shown('to out') and way.format('while') in typist.shown('rewind while')


def test_the_element_of_a_dataset_has_its_name_at_the_prompt() -> None:
    def half(v: Any) -> Any:
        return tf.numpy_function(lambda a: a // 2, [v], tf.int64, name='half')
    with typing('p element', at_next_call=False) as typist:
        debugger.breakpoints.set('half', 'element == 3')
        assert [int(v) for v in tf.data.Dataset.range(5).map(half)] == [0, 0, 1, 1, 2]
    assert typist.shown('p element') == '3\n' and len(typist.stops) == 1


def nested(k: float) -> Any:
    """A loop whose body has nodes and calls a function, and a branch behind it."""
    def step(x: Any) -> Any:
        return x + np.float32(1)

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        def body(i: Any, a: Any) -> Any:
            m = tf.multiply(a, 1.0, name='scaled')
            return i + 1, tf.ensure_shape(tf.numpy_function(step, [m], tf.float32, name='step'), [])
        y = tf.while_loop(lambda i, a: i < 3, body, [0, tf.constant(k)])[1]
        return session.run(tf.cond(y > 0., lambda: tf.negative(y, name='negated'), lambda: y, name='branch'))


@pytest.mark.parametrize(('place', 'stops'), [('scaled', 3), ('scal*', 3), ('negated', 1), ('nonesuch', 0)])
def test_a_breakpoint_stops_at_a_node_of_a_loop_or_branch_by_its_name(place: str, stops: int) -> None:
    with typing(*['c'] * 4, at_next_call=False) as typist:
        debugger.breakpoints.set(place)
        assert nested(0.0) == -3.0
    assert len(typist.stops) == stops, typist.cards
    assert all(f"before call {n + 1} of node '{place.replace('scal*', 'scaled')}'" in card.splitlines()[0]
               for n, card in enumerate(typist.cards))


@pytest.mark.parametrize('word', ['into', 's'])
@pytest.mark.parametrize(('place', 'first'), [('while', 'Less'), ('branch', 'negated')])
def test_into_and_step_go_to_the_first_node_of_a_loop_or_branch(word: str, place: str, first: str) -> None:
    with typing(word, 'c', at_next_call=False) as typist:
        debugger.breakpoints.set(place)
        assert nested(0.0) == -3.0
    assert [card.splitlines()[0].split("'")[1] for card in typist.cards] == [place, first]
    assert typist.cards[0].splitlines()[-1].startswith('s into it · n over it') and 'n over it' in typist.cards[1]


def test_into_goes_into_the_function_of_a_node_of_the_loop_and_from_there_into_the_next_call() -> None:
    with typing('into', 'into', 'into', 'c', at_next_call=False) as typist:
        debugger.breakpoints.set('scaled', once=True)
        assert nested(0.0) == -3.0
    assert places(typist.cards[1:]) == [('STOPPED in step', f"call {n} of node 'step'  into") for n in (1, 2, 3)]


def test_into_at_the_beginning_of_a_function_goes_to_its_first_line() -> None:
    with typing('into', 'into', 'c', at_next_call=False) as typist:
        debugger.breakpoints.set('function:step', once=True)
        assert nested(0.0) == -3.0
    assert places(typist.cards) == [('STOPPED entering step', "call 1 of node 'step'"),
                                    ('STOPPED in step', "call 1 of node 'step'  step"),
                                    ('STOPPED in step', "call 2 of node 'step'  into")]


def places(cards: list[str]) -> list[tuple[str, str]]:
    """What the first lines of cards say before and behind the line of the file."""
    lines = [card.splitlines()[0] for card in cards]
    return [(line.split(' at ')[0], line.partition(', ')[2]) for line in lines]
