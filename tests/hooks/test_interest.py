"""The law of interest: a call is seen by every hook if one is interested in its site, and by none if none is, at once.

Where a watcher is the only one, no other hook sees it.
"""
from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from native_threads import run_native

from pyfuncdbg import tf
from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks.call import Call, CallSite, Run
from pyfuncdbg.hooks.chain import current_call, hooks

NAMES = ('a', 'b', 'c')


class Choosy:
    """A hook that is interested in sites by name."""

    kinds = frozenset(('python', 'run'))

    def __init__(self, *names: str) -> None:
        self.names = set(names)
        self.seen: list[str] = []
        self.ordinals: list[int] = []

    def wants(self, site: CallSite, run: Run) -> bool:
        return site.name in self.names

    def around(self, call: Call, proceed: Callable[[], Any]) -> Any:
        self.seen.append(call.site.name)
        self.ordinals.append(call.ordinal)
        return proceed()

    def change(self, name: str) -> None:
        self.names ^= {name}
        hooks.invalidate_interest()


class Greedy:
    """A hook that says nothing of interest, and gets all."""

    kinds = frozenset(('python',))

    def __init__(self) -> None:
        self.seen: list[str] = []

    def around(self, call: Call, proceed: Callable[[], Any]) -> Any:
        self.seen.append(call.site.name)
        return proceed()


class Watching:
    """A watcher of all calls."""

    kinds = frozenset(('python',))

    def __init__(self) -> None:
        self.seen: list[str] = []

    def around(self, call: Call, proceed: Callable[[], Any]) -> Any:
        self.on_begin(call)
        return proceed()

    def on_begin(self, call: Call) -> Any:
        self.seen.append(call.site.name)
        return 0

    def on_return(self, call: Call, state: Any, outputs: Any) -> None: ...

    def on_error(self, call: Call, state: Any, error: BaseException) -> None: ...

    def on_break_off(self, call: Call, state: Any) -> None: ...


@pytest.fixture(scope='module')
def graph() -> Any:
    graph = tf.Graph()
    with graph.as_default():
        fetches = {name: tf.numpy_function(lambda: np.float64(1), [], tf.float64, name=name) for name in NAMES}
    session = tf.compat.v1.Session(graph=graph)
    yield lambda name: session.run(fetches[name])
    session.close()


def eager(name: str) -> Any:
    return tf.numpy_function(lambda: np.float64(1), [], tf.float64, name=name)


steps = st.lists(st.one_of(
    st.tuples(st.just('call'), st.sampled_from(NAMES)),
    st.tuples(st.just('change'), st.integers(0, 1), st.sampled_from(NAMES)),
    st.tuples(st.just('toggle'), st.integers(0, 2))), max_size=30)


@pytest.mark.parametrize('way', ['graph', 'eager'])
@given(steps=steps)
@settings(max_examples=60, deadline=None)
def test_each_call_is_seen_if_somebody_is_interested(graph: Any, way: str, steps: list[Any]) -> None:
    pool: list[Any] = [Choosy(), Choosy('b'), Greedy()]
    seen: list[list[str]] = [[], [], []]
    try:
        for what, *rest in steps:
            if what == 'change':
                pool[rest[0]].change(rest[1])
            elif what == 'toggle':
                (hooks.remove if pool[rest[0]] in hooks else hooks.add)(pool[rest[0]])
            else:
                (name,) = rest
                assert (graph if way == 'graph' else eager)(name) == 1
                on = [number for number, hook in enumerate(pool) if hook in hooks]
                if any(number == 2 or name in pool[number].names for number in on):
                    for number in on:
                        seen[number].append(name)
            assert [[name for name in hook.seen if name in NAMES] for hook in pool] == seen
    finally:
        for hook in pool:
            hooks.remove(hook)


@pytest.mark.parametrize('way', ['graph', 'eager'])
def test_a_call_that_only_a_watcher_wants_goes_past_the_others(graph: Any, way: str) -> None:
    choosy, watching = Choosy('b'), Watching()
    hooks.add(choosy)
    hooks.add(watching)
    try:
        for name in ('a', 'b', 'a'):
            (graph if way == 'graph' else eager)(name)
        choosy.change('a')
        (graph if way == 'graph' else eager)('a')
    finally:
        hooks.remove(choosy)
        hooks.remove(watching)
    assert [name for name in choosy.seen if name in NAMES] == ['b', 'a']
    assert watching.seen == ['a', 'b', 'a', 'a']


def test_a_call_that_nobody_wanted_counts(graph: Any) -> None:
    hook = Choosy()
    hooks.add(hook)
    graph('a')
    hook.change('a')
    graph('a')
    first = hook.ordinals[-1]
    hook.change('a')
    graph('a')
    graph('a')
    hook.change('a')
    graph('a')
    assert hook.ordinals[-1] == first + 3 and hook.seen == ['a', 'a']
    hooks.remove(hook)


def test_runs_as_a_whole(graph: Any) -> None:
    hook = Choosy('Session.run')
    hooks.add(hook)
    graph('a')
    assert 'Session.run' in hook.seen
    hook.change('Session.run')
    del hook.seen[:]
    graph('a')
    assert hook.seen == []
    hook.change('Session.run')
    graph('a')
    assert 'Session.run' in hook.seen
    hooks.remove(hook)


def test_functions_of_one_wrapper_are_told_apart() -> None:
    def wrapped(name: str) -> Any:
        def inner() -> Any:
            return np.float64(current_call() > 0)
        inner.__name__ = inner.__qualname__ = name
        return inner

    class ByFunction(Choosy):
        def wants(self, site: CallSite, run: Run) -> bool:
            return site.function.__name__ in self.names

    hook = ByFunction('second')
    hooks.add(hook)
    watched = [tf.numpy_function(wrapped(name), [], tf.float64) for name in ('first', 'second', 'first', 'second')]
    hooks.remove(hook)
    assert [float(value) for value in watched] == [0, 1, 0, 1]


def test_interest_that_begins_inside_of_a_call_acts_at_the_next(graph: Any) -> None:
    hook = Choosy()
    hooks.add(hook)
    inside, changed = threading.Event(), threading.Event()

    def waits() -> Any:
        inside.set()
        assert changed.wait(10)
        return np.float64(current_call())

    with tf.Graph().as_default() as own:
        fetch = tf.numpy_function(waits, [], tf.float64, name='b')
    results: list[float] = []

    def work() -> None:
        with tf.compat.v1.Session(graph=own) as session:
            results.extend(session.run(fetch) for _ in range(2))

    def change() -> None:
        assert inside.wait(10)
        hook.change('b')
        changed.set()

    run_native([work, change])
    hooks.remove(hook)
    assert results[0] == 0 and results[1] > 0 and hook.seen == ['b']


def test_threads_see_every_call_after_a_change(graph: Any) -> None:
    hook = Choosy()
    hooks.add(hook)
    stop = threading.Event()
    missed: list[int] = []

    def calls() -> None:
        while not stop.is_set():
            graph('a')

    def changes() -> None:
        for _ in range(100):
            hook.change('c')                    # from here on, whatever the others do
            before = hook.seen.count('c')
            graph('c')
            if hook.seen.count('c') != before + 1:
                missed.append(1)
            hook.change('c')
            graph('c')
            if hook.seen.count('c') != before + 1:
                missed.append(2)
        stop.set()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        run_native([calls, changes, calls])
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        hooks.remove(hook)
    assert missed == [] and 'a' not in hook.seen


def test_an_abort_inside_of_an_unwanted_call_ends_the_run() -> None:
    hook = Choosy()
    hooks.add(hook)
    done: list[str] = []

    def swallows() -> Any:
        done.append('first')
        try:
            raise_abort()
        except BaseException:
            return np.float64(1)

    def raise_abort() -> None:
        frame: Any = sys._getframe()
        while 'execution' not in frame.f_locals or not hasattr(frame.f_locals['execution'], 'run'):
            frame = frame.f_back
        frame.f_locals['execution'].run.aborted = RunAborted('enough')
        raise frame.f_locals['execution'].run.aborted

    def never(x: Any) -> Any:
        done.append('second')
        return x

    with tf.Graph().as_default() as own:
        fetch = tf.numpy_function(never, [tf.numpy_function(swallows, [], tf.float64)], tf.float64)
    with tf.compat.v1.Session(graph=own) as session, pytest.raises(RunAborted):
        session.run(fetch)
    hooks.remove(hook)
    assert done == ['first']


@pytest.mark.parametrize('watched', ['', 'inner', 'between', 'outer'])
def test_an_abort_in_eager_code_that_a_call_nobody_watches_swallows_comes_again(watched: str) -> None:
    """And with the outermost call it is over: what the thread calls later runs."""
    met: list[str] = []

    def inner(x: Any) -> Any:
        met.append('inner')
        raise RunAborted('enough')

    def between(x: Any) -> Any:
        try:
            return call('inner', inner)
        except BaseException:
            return x

    def outer(x: Any) -> Any:
        try:
            return call('between', between)
        except BaseException:
            met.append('outer')
            return x

    def call(name: str, function: Any) -> Any:
        return tf.py_function(function, [np.float64(1)], tf.float64, name=name)
    hook = Choosy(watched)
    hooks.add(hook)
    try:
        with pytest.raises(RunAborted, match='enough'):
            call('outer', outer)
        assert met == ['inner', 'outer']
        assert call('later', lambda x: x + 1).numpy() == 2.0
    finally:
        hooks.remove(hook)


def test_a_hook_whose_interest_fails_gets_the_call(graph: Any) -> None:
    class Broken(Choosy):
        def wants(self, site: CallSite, run: Run) -> bool:
            raise LookupError('no idea')

    hook = Broken()
    hooks.add(hook)
    assert graph('a') == 1
    assert 'a' in hook.seen
    hooks.remove(hook)


def test_runs_of_one_site_are_asked_about_by_what_they_run() -> None:
    """All runs of sessions have one site: the answer for one plan is not that for another, and each is asked for once."""
    class OfB(Choosy):
        def wants(self, site: CallSite, run: Run) -> bool:
            if site.kind == 'run':
                asked.append(tuple(run.fetches))
            return site.kind == 'run' and 'b:0' in run.fetches
    asked: list[tuple[str, ...]] = []
    hooks.add(hook := OfB())
    try:
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            a, b = (tf.constant(1.0, name=name) + 1 for name in ('x', 'y'))
            a, b = tf.identity(a, name='a'), tf.identity(b, name='b')
            for fetched in (a, b, a, b, [a, b], a, b):
                session.run(fetched)
    finally:
        hooks.remove(hook)
    assert hook.seen == ['Session.run'] * 4 and sorted(asked) == [('a:0',), ('a:0', 'b:0'), ('b:0',)]
