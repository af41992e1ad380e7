"""Datasets whose functions run on threads: order, overlap, errors, output, stops, and the threads' end."""
from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripted_stops import typing

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.observers.debug.debugger import debugger


def working() -> set[str]:
    return {thread.name for thread in threading.enumerate() if thread.name.startswith('pyfuncdbg data')}


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    yield
    gc.collect()
    until = time.monotonic() + 20
    while working() and time.monotonic() < until:
        time.sleep(0.01)
    assert working() == set()


def mapped(function: Any, count: int, threads: int | None, **settings: Any) -> Any:
    return tf.data.Dataset.range(count).map(lambda x: tf.py_function(function, [x], tf.int64), threads, **settings)


def values(dataset: Any) -> list[int]:
    return [int(value) for value in dataset]


def test_calls_overlap_and_elements_keep_their_order() -> None:
    barrier = threading.Barrier(3, timeout=20)
    seen = set()

    def meet(x: Any) -> Any:
        seen.add(threading.get_ident())
        barrier.wait()
        time.sleep(0.02 * (3 - int(x) % 3))
        return x * 10
    assert values(mapped(meet, 9, 3)) == [0, 10, 20, 30, 40, 50, 60, 70, 80]
    assert len(seen) == 3
    assert threading.get_ident() not in seen


def test_without_parallel_calls_the_function_runs_on_the_thread_that_asks() -> None:
    seen = set()

    def note(x: Any) -> Any:
        seen.add(threading.get_ident())
        return x
    assert values(mapped(note, 4, None)) == [0, 1, 2, 3]
    assert seen == {threading.get_ident()}


def test_order_that_does_not_matter_is_that_of_the_ends() -> None:
    first_is_over = threading.Event()

    def slow_first(x: Any) -> Any:
        if x == 0:
            assert first_is_over.wait(20)
        return x
    found = iter(mapped(slow_first, 4, 2, deterministic=False))
    assert int(next(found)) == 1
    first_is_over.set()
    assert sorted(int(value) for value in found) == [0, 2, 3]


def test_an_option_lets_the_order_go() -> None:
    first_is_over = threading.Event()

    def slow_first(x: Any) -> Any:
        if x == 0:
            assert first_is_over.wait(20)
        return x
    options = tf.data.Options()
    options.deterministic = False
    dataset = tf.data.Dataset.range(4).with_options(options)
    found = iter(dataset.map(lambda x: tf.py_function(slow_first, [x], tf.int64), 2))
    assert int(next(found)) == 1
    first_is_over.set()
    assert sorted(int(value) for value in found) == [0, 2, 3]


def test_an_error_comes_in_its_turn_with_the_users_exception_and_reading_goes_on() -> None:
    wrong = ValueError('no twos')

    def fail_at_two(x: Any) -> Any:
        if x == 2:
            raise wrong
        return x
    found = iter(mapped(fail_at_two, 5, 4))
    assert [int(next(found)), int(next(found))] == [0, 1]
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        next(found)
    assert caught.value.__cause__ is wrong
    assert 'ValueError: no twos' in str(caught.value)
    assert '[[{{node EagerPyFunc}}]]' in str(caught.value)
    assert [int(value) for value in found] == [3, 4]


def test_elements_before_a_failed_one_upstream_come_first() -> None:
    def fail_at_two(x: Any) -> Any:
        if x == 2:
            raise ValueError('no twos')
        return x
    found = iter(mapped(fail_at_two, 4, None).map(lambda x: x + 1, num_parallel_calls=4))
    assert [int(next(found)), int(next(found))] == [1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match='no twos'):
        next(found)
    assert [int(value) for value in found] == [4]


def test_an_iterator_that_is_dropped_takes_its_threads_along() -> None:
    found = iter(mapped(lambda x: x, 100, 3).prefetch(2))
    assert int(next(found)) == 0
    assert {'pyfuncdbg data ahead', 'pyfuncdbg data 1'} <= working()
    del found                                   # the fixture waits for the threads' end


def test_threads_end_with_the_sequence() -> None:
    found = iter(mapped(lambda x: x, 5, 2))
    assert len(list(found)) == 5
    until = time.monotonic() + 20
    while working() and time.monotonic() < until:
        time.sleep(0.01)
    assert working() == set()                   # the iterator is still there
    assert list(found) == []


def test_prefetch_gets_elements_before_they_are_asked_for() -> None:
    got: list[int] = []
    third = threading.Event()

    def note(x: Any) -> Any:
        got.append(int(x))
        if x == 2:
            third.set()
        return x
    found = iter(mapped(note, 10, None).prefetch(2))
    assert int(next(found)) == 0
    assert third.wait(20)
    time.sleep(0.05)
    assert got == [0, 1, 2]                     # two are ready, and no more


def test_prefetch_passes_errors_on_in_their_turn() -> None:
    def fail_at_one(x: Any) -> Any:
        if x == 1:
            raise KeyError('one')
        return x
    found = iter(mapped(fail_at_one, 3, None).prefetch(2))
    assert int(next(found)) == 0
    with pytest.raises(tf.errors.OpError) as caught:
        next(found)
    assert isinstance(caught.value.__cause__, KeyError)
    assert int(next(found)) == 2
    with pytest.raises(StopIteration):
        next(found)


def test_numpys_error_state_is_the_users_on_the_threads() -> None:
    def divide(x: np.ndarray) -> np.ndarray:
        return np.float32(1) / np.float32(x)
    dataset = tf.data.Dataset.range(3).map(lambda x: tf.numpy_function(divide, [x], tf.float32), 2)
    with np.errstate(divide='raise'):
        found = iter(dataset)
        with pytest.raises(tf.errors.OpError) as caught:
            next(found)
    assert isinstance(caught.value.__cause__, FloatingPointError)


# ---------------------------------------------------------------- watched
def test_a_breakpoint_stops_at_one_element_on_its_thread() -> None:
    def work(x: Any) -> Any:
        return x * 2
    with typing('p x', 'stop', at_next_call=False) as user:
        number = debugger.breakpoints.set('work', 'element == 7').number
        try:
            assert values(mapped(work, 12, 3)) == [2 * n for n in range(12)]
        finally:
            debugger.breakpoints.clear(number)
    assert len(user.stops) == 1
    assert user.threads[0] != threading.get_native_id()
    assert 'element 7 of ParallelMap' in user.cards[0]
    assert '7' in user.shown('p x')


def test_several_threads_stop_one_after_the_other() -> None:
    def work(x: Any) -> Any:
        return x
    with typing(at_next_call=False) as user:
        number = debugger.breakpoints.set('work', 'element in (1, 2, 3)').number
        try:
            assert values(mapped(work, 6, 3)) == [0, 1, 2, 3, 4, 5]
        finally:
            debugger.breakpoints.clear(number)
    assert len(user.stops) == 3
    told = {next(n for n in range(6) if f'element {n} of' in card) for card in user.cards}
    assert told == {1, 2, 3}


def test_a_parameter_called_element_is_the_parameter() -> None:
    def work(element: Any) -> Any:
        return element
    with typing(at_next_call=False) as user:
        number = debugger.breakpoints.set('work', 'element == 30').number
        try:
            dataset = tf.data.Dataset.from_tensor_slices([10, 20, 30]).map(lambda x: tf.py_function(work, [x], tf.int32))
            assert values(dataset) == [10, 20, 30]
        finally:
            debugger.breakpoints.clear(number)
    assert len(user.stops) == 1
    assert 'element 2 of Map' in user.cards[0]


def test_a_trace_says_which_element_a_call_worked_on_and_what_it_printed(tmp_path: Path) -> None:
    def work(x: Any) -> Any:
        print('element', int(x))
        time.sleep(0.002)
        print('done', int(x))
        return x
    with pyfuncdbg.record(tmp_path / 'maps.pfd'):
        assert len(values(mapped(work, 12, 4))) == 12
    trace = pyfuncdbg.load(tmp_path / 'maps.pfd')
    calls = trace.calls(kind='python')
    assert len(calls) == 12
    for call in calls:
        number = int(call.inputs[0].to_numpy())
        assert call.element == f'element {number} of ParallelMap'
        assert trace.run(call.run).label == call.element
        assert ''.join(said.text for said in call.output) == f'element {number}\ndone {number}\n'


def test_runs_of_many_elements_share_one_plan(tmp_path: Path) -> None:
    with pyfuncdbg.record(tmp_path / 'many.pfd'):
        values(mapped(lambda x: x, 50, None))
    trace = pyfuncdbg.load(tmp_path / 'many.pfd')
    assert len({run.sites for run in trace.runs() if run.label.endswith('of Map')}) == 1
