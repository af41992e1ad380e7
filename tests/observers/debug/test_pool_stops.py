"""Stops in functions that overlap in one run: each thread stops in its own, and the user's commands steer that one."""
from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scripted_user import Line, ScriptedUser

from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.tf.compat import v1 as tf


class Noting(ScriptedUser):
    """Also notes the node and the thread of each stop."""

    def __init__(self, *lines: Line) -> None:
        super().__init__(lines)
        self.places: list[tuple[str, str, int]] = []

    def interact(self, stop: Stop, broker: Any) -> None:
        control = stop.control
        name = stop.call.site.name if stop.call is not None else ''
        if not name and control is not None and control.position < len(control.sites):
            name = control.sites[control.position].name
        self.places.append((stop.phase, name, threading.get_ident()))
        super().interact(stop, broker)


@contextmanager
def stopping_at(*specs: str, lines: tuple[Line, ...] = ()) -> Iterator[Noting]:
    with Noting(*lines) as user:
        debugger.start()
        numbers = [debugger.breakpoints.set(spec).number for spec in specs]
        try:
            yield user
        finally:
            for number in numbers:
                debugger.breakpoints.clear(number)


def two_that_meet() -> tuple[tf.Graph, Any]:
    barrier = threading.Barrier(2, timeout=20)

    def meet(x: Any) -> Any:
        barrier.wait()
        return x * np.float32(2)
    with tf.Graph().as_default() as graph:
        a, b = (tf.py_func(meet, [tf.constant(value)], tf.float32, name=name) for name, value in (('a', 1.0), ('b', 2.0)))
        c = tf.add(a, b, name='c')
        d = tf.multiply(c, c, name='d')
    return graph, d


def session(graph: tf.Graph) -> tf.Session:
    return tf.Session(graph=graph, config=tf.ConfigProto(inter_op_parallelism_threads=2))


def test_both_threads_stop_one_after_the_other_and_then_meet() -> None:
    graph, d = two_that_meet()
    with stopping_at('a', 'b') as user, session(graph) as running:
        assert running.run(d) == 36.0
        assert running.run(d) == 36.0
    assert sorted(name for _, name, _ in user.places) == ['a', 'a', 'b', 'b']
    assert len({thread for _, _, thread in user.places[:2]}) == 2


def test_node_from_a_thread_of_the_pool_goes_on_with_the_next_node() -> None:
    graph, d = two_that_meet()
    with stopping_at('b', lines=('node', 'node', 'cont')) as user, session(graph) as running:
        assert running.run(d) == 36.0
    assert [(phase, name) for phase, name, _ in user.places] == [('before', 'b'), ('node', 'c'), ('node', 'd')]
    assert {thread for _, _, thread in user.places[1:]} == {threading.get_ident()}


def test_what_is_known_at_a_stop_in_the_pool() -> None:
    graph, d = two_that_meet()
    seen: list[Any] = []

    def look(stop: Stop) -> None:
        view = stop.run.control.look()  # type: ignore[union-attr]
        seen.append((view.sites[view.position].name, view.holds('c:0'), view.holds('b:0')))
    with stopping_at('b', lines=(look, 'cont')), session(graph) as running:
        assert running.run(d) == 36.0
    assert seen == [('b', False, False)]


def test_an_abort_ends_the_run_and_leaves_no_thread() -> None:
    with tf.Graph().as_default() as graph:
        calls = [tf.py_func(lambda x: x, [tf.constant(1.0)], tf.float32, name=f'n{i}') for i in range(6)]
    running = session(graph)
    raised: list[str] = []
    with stopping_at('n2', lines=('abort',)):
        try:
            running.run(calls)
        except BaseException as error:
            raised.append(type(error).__name__)
    assert raised == ['RunAborted']
    assert running.run(calls) == [1.0] * 6
    running.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith('pyfuncdbg session')]
