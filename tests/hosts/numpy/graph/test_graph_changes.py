"""What programs change of nodes that are there, scopes of threads, and rules for gradients by name."""
from __future__ import annotations

import threading
import traceback
from collections.abc import Iterator
from typing import Any

import pytest

from pyfuncdbg.tf.compat import v1 as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as made:
        yield made


def test_an_input_is_replaced_for_later_runs_of_the_same_session() -> None:
    a, b = tf.constant(1.0, name='a'), tf.constant(5.0, name='b')
    c = tf.add(a, a, name='c')
    session = tf.Session()
    assert session.run(c) == 2.0
    c.op._update_input(1, b)
    assert session.run(c) == 6.0 and [t.name for t in c.op.inputs] == ['a:0', 'b:0']


@pytest.mark.parametrize(('wrong', 'error'), [('other', ValueError), ('dtype', tf.errors.InvalidArgumentError),
                                              ('number', TypeError)])
def test_a_refused_replacement_changes_nothing(wrong: str, error: type[Exception]) -> None:
    a = tf.constant(1.0, name='a')
    c = tf.identity(a, name='c')
    with tf.Graph().as_default():
        other = tf.constant(1.0)
    value = {'other': other, 'dtype': tf.constant(1), 'number': 3}[wrong]
    with pytest.raises(error):
        c.op._update_input(0, value)
    assert [t.name for t in c.op.inputs] == ['a:0'] and tf.Session().run(c) == 1.0


def test_control_inputs_are_added_in_later_runs() -> None:
    ran: list[int] = []
    first = tf.py_func(lambda: ran.append(1) or 1.0, [], tf.float64)
    second = tf.constant(2.0)
    identity = tf.identity(second)
    session = tf.Session()
    session.run(identity)
    assert ran == []
    identity.op._add_control_input(first.op)
    session.run(identity)
    assert ran == [1]
    identity.op._remove_all_control_inputs()
    session.run(identity)
    assert ran == [1]


def test_each_thread_has_a_name_scope_of_its_own(graph: Any) -> None:
    names: list[str] = []

    def build() -> None:
        with graph.as_default(), graph.name_scope('theirs'):
            inside.set()
            names.append(tf.constant(1, name='x').name)
            done.wait(20)
    inside, done = threading.Event(), threading.Event()
    thread = threading.Thread(target=build)
    with graph.name_scope('mine'):
        thread.start()
        inside.wait(20)
        names.append(tf.constant(1, name='x').name)
        done.set()
        thread.join()
    assert sorted(names) == ['mine/x:0', 'theirs/x:0']


def test_scopes_that_end_out_of_order_are_refused() -> None:
    one, two = tf.Graph(), tf.Graph()
    outer, inner = one.as_default(), two.as_default()
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(AssertionError, match='Nesting violated'):
        outer.__exit__(None, None, None)
    assert tf.get_default_graph() is two
    inner.__exit__(None, None, None)
    outer.__exit__(None, None, None)
    assert tf.get_default_graph() not in (one, two)


def test_a_rule_by_name_is_used_for_nodes_made_under_it_only(graph: Any) -> None:
    seen: list[Any] = []

    @tf.RegisterGradient('GraphChangesTimesSeven')
    def rule(op: Any, grad: Any) -> Any:
        seen.append((op.name, op.inputs[0].name))
        return grad * 7.0
    x = tf.constant(2.0, name='x')
    with graph.gradient_override_map({'Square': 'GraphChangesTimesSeven'}):
        y = tf.square(x, name='y')
    z = tf.square(x, name='z')
    assert tf.Session().run(tf.gradients(y, x) + tf.gradients(z, x)) == [7.0, 4.0]
    assert seen == [('y', 'x:0')] and tf.Session().run(y) == 4.0


def test_a_node_says_where_it_was_made_in_the_words_of_traceback() -> None:
    made = tf.constant(1.0)
    last = made.op.traceback[-1]
    assert (last.name, last.filename) == ('test_a_node_says_where_it_was_made_in_the_words_of_traceback', __file__)
    assert 'made = tf.constant(1.0)' in traceback.format_list(made.op.traceback)[-1]
