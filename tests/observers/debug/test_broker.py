"""The broker with real threads: many at one breakpoint, in any order, and front ends that fail."""
from __future__ import annotations

import contextlib
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from native_threads import run_native

from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError, RunAborted
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.stops.broker import Broker
from pyfuncdbg.observers.debug.stops.stop import Decision, Stop
from pyfuncdbg.observers.record.recorder import recorders

MANY = 16


class Asker:
    """A front end that does at each turn what a function says."""

    name = 'asker'
    priority = 1000

    def __init__(self, turn: Callable[[Stop, Broker], None]) -> None:
        self.turn = turn
        self.inside = 0
        self.most = 0

    def usable(self) -> bool:
        return True

    def interact(self, stop: Stop, broker: Broker) -> None:
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            self.turn(stop, broker)
        finally:
            self.inside -= 1


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, 'it never came to that'
        os.sched_yield()


@pytest.fixture
def program() -> Iterator[None]:
    yield
    debugger.leave()
    for number in list(debugger.breakpoints.entries):
        debugger.breakpoints.clear(number)
    for recorder in recorders():
        recorder.stop()
    debugger.plans.clear()


# --- order ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('seed', range(6))
def test_native_threads_at_one_breakpoint_go_on_in_any_order(seed: int, program: None) -> None:
    """Sixteen threads wait in one function; a random walk of switches lets one go at a time, and aborts one."""
    chance = random.Random(seed)
    gone: list[int] = []
    order: list[int] = []
    aborted = chance.randrange(3, MANY)

    def turn(stop: Stop, broker: Broker) -> None:
        until(lambda: len(broker.stops) == MANY - len(gone))
        assert broker.focus is stop
        assert stop.thread == threading.get_native_id()
        if chance.random() < 0.6:
            broker.switch(chance.choice(broker.stops))
        if broker.focus is stop:
            gone.append(stop.number)
            order.append(int(np.asarray(stop.call.inputs[0])[0]))  # type: ignore[union-attr]
            stop.decide('abort' if len(gone) == aborted else 'cont')

    def one_of_many(x: np.ndarray) -> np.ndarray:
        return x * 2

    def call(i: int) -> Callable[[], None]:
        def run() -> None:
            try:
                done[i] = int(tf.numpy_function(one_of_many, [np.array([i])], tf.int64).numpy()[0])
            except RunAborted:
                done[i] = -1
        return run

    done: dict[int, int] = {}
    asker = Asker(turn)
    debugger.broker.add(asker)
    debugger.breakpoints.set('one_of_many')
    debugger.start()
    try:
        run_native([call(i) for i in range(MANY)])
    finally:
        debugger.broker.remove(asker)
    assert sorted(order) == list(range(MANY))
    assert done == {i: -1 if i == order[aborted - 1] else 2 * i for i in range(MANY)}
    assert asker.most == 1
    assert debugger.broker.stops == ()
    assert debugger.broker.focus is None


@pytest.mark.parametrize('seed', range(3))
def test_others_may_switch_and_decide_at_any_time(seed: int) -> None:
    """Threads stop again and again while a stranger switches and lets go: nobody is left behind."""
    broker, over = Broker(), threading.Event()
    held: list[Decision] = []

    def turn(stop: Stop, broker: Broker) -> None:
        while stop.decision is None and broker.focus is stop:
            stop.serve()                        # only somebody else decides

    def stopping() -> None:
        for _ in range(60):
            held.append(broker.hold(Stop('line')))

    def stranger() -> None:
        chance = random.Random(seed)
        while not over.is_set():
            for stop in broker.stops:
                with contextlib.suppress(CommandError):         # it went on just now
                    chance.choice([lambda s=stop: broker.switch(s), lambda s=stop: s.decide('cont'),
                                   lambda s=stop: s.do(lambda: None)])()
    asker = Asker(turn)
    broker.add(asker)
    others = [threading.Thread(target=stranger) for _ in range(2)]
    for thread in others:
        thread.start()
    run_native([stopping] * 8)
    over.set()
    for thread in others:
        thread.join()
    assert len(held) == 480
    assert asker.most == 1
    assert (broker.stops, broker.focus) == ((), None)


@pytest.mark.parametrize(('off', 'asked'), [('clear', 1), ('disable', 1), ('clear another', 4), ('switch', 2)])
def test_no_thread_that_waits_is_shown_for_a_breakpoint_that_went_off(off: str, asked: int, program: None) -> None:
    """Four threads wait at a breakpoint, which the user of the first clears; one that is asked for is shown all the same."""
    shown: list[str] = []

    def turn(stop: Stop, broker: Broker) -> None:
        shown.append(stop.reason)
        if len(shown) == 1:
            until(lambda: len(broker.stops) == 4)
            if off == 'disable':
                debugger.breakpoints.enable(number, False)
            else:
                debugger.breakpoints.clear(other if off == 'clear another' else number)
            if off == 'switch':
                broker.switch(broker.stops[2])
        stop.decide('cont')

    def one_of_many(x: np.ndarray) -> np.ndarray:
        return x * 2

    asker = Asker(turn)
    debugger.broker.add(asker)
    number = debugger.breakpoints.set('one_of_many').number
    other = debugger.breakpoints.set('nothing_of_this_name').number
    debugger.start()
    try:
        run_native([lambda: tf.numpy_function(one_of_many, [np.array([1])], tf.int64)] * 4)
    finally:
        debugger.broker.remove(asker)
    assert shown == [f'breakpoint {number}'] * asked
    assert debugger.broker.stops == () and debugger.broker.focus is None


def test_release_lets_all_go() -> None:
    broker = Broker()

    def turn(stop: Stop, broker: Broker) -> None:
        until(lambda: len(broker.stops) == 4)
        broker.release('cont')
    broker.add(Asker(turn))
    with ThreadPoolExecutor(4) as pool:
        decisions = [pool.submit(lambda: broker.hold(Stop('line'))) for _ in range(4)]
        assert [one.result().verb for one in decisions] == ['cont'] * 4


def test_a_stop_is_found_by_its_number_or_thread_and_switching_to_one_that_left_is_refused() -> None:
    broker, seen = Broker(), []

    def turn(stop: Stop, broker: Broker) -> None:
        seen.append(broker.find(stop.number) is stop and broker.find(stop.thread) is stop)
        with pytest.raises(CommandError, match=f'no stop 999999999; waiting are: {stop.number}'):
            broker.find(999999999)
        stop.decide('cont')
        with pytest.raises(CommandError, match='over already'):
            stop.decide('cont')
        with pytest.raises(CommandError, match='not waiting any more'):
            broker.switch(stop)
    broker.add(Asker(turn))
    stop = Stop('line')
    assert broker.hold(stop).verb == 'cont'
    assert seen == [True]
    with ThreadPoolExecutor(1) as pool, pytest.raises(CommandError, match='not stopped any more'):
        pool.submit(stop.do, lambda: None).result()


# --- front ends -------------------------------------------------------------------------------------------------------

def test_a_front_end_that_raises_is_named_once_and_the_next_one_asked(capfd: pytest.CaptureFixture[str]) -> None:
    def broken(stop: Stop, broker: Broker) -> None:
        raise ValueError('no screen')
    broker, first = Broker(), Asker(broken)
    first.priority = 2000
    broker.add(first)
    broker.add(Asker(lambda stop, broker: stop.decide('next') and None))
    assert [broker.hold(Stop('line')).verb for _ in range(2)] == ['next', 'next']
    assert capfd.readouterr().err.count('no screen') == 1


def test_without_a_front_end_a_stop_is_told_and_goes_on(capfd: pytest.CaptureFixture[str]) -> None:
    broker = Broker()
    assert broker.hold(Stop('line', reason='breakpoint 7')).verb == 'cont'
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith('pyfuncdbg: not stopped')
    assert 'breakpoint 7' in line


@pytest.mark.parametrize('lost', ['cont', 'abort'])
def test_when_the_user_is_lost_every_stop_goes_on_as_set_and_it_is_said_once(
        lost: str, capfd: pytest.CaptureFixture[str]) -> None:
    broker = Broker()
    broker.lost = lost  # type: ignore[assignment]
    asker = Asker(lambda stop, broker: broker.lose(asker))
    broker.add(asker)
    assert [broker.hold(Stop('line')).verb for _ in range(3)] == [lost] * 3
    assert capfd.readouterr().err.count('the user is gone') == 1


def test_a_front_end_that_loses_its_user_frees_those_that_wait() -> None:
    broker = Broker()

    def turn(stop: Stop, broker: Broker) -> None:
        until(lambda: len(broker.stops) == 5)
        broker.lose(asker)
    asker = Asker(turn)
    broker.add(asker)
    with ThreadPoolExecutor(5) as pool:
        decisions = [pool.submit(lambda: broker.hold(Stop('line'))) for _ in range(5)]
        assert [one.result(30).verb for one in decisions] == ['cont'] * 5


def test_a_thread_that_dies_at_the_prompt_gives_it_to_the_next() -> None:
    broker, died = Broker(), []

    def turn(stop: Stop, broker: Broker) -> None:
        until(lambda: bool(died) or len(broker.stops) == 3)
        if not died:
            died.append(stop)
            raise SystemExit
        stop.decide('cont')
    broker.add(Asker(turn))
    with ThreadPoolExecutor(3) as pool:
        ends = [pool.submit(lambda: broker.hold(Stop('line'))) for _ in range(3)]
        errors = [one.exception(30) for one in ends]
    assert sorted(type(error).__name__ for error in errors) == ['NoneType', 'NoneType', 'SystemExit']
    assert broker.stops == ()


def test_what_stops_on_a_thread_that_waits_already_goes_on() -> None:
    broker, inner = Broker(), []

    def turn(stop: Stop, broker: Broker) -> None:
        inner.append(broker.hold(Stop('line')).verb)
        stop.decide('next')
    broker.add(Asker(turn))
    assert broker.hold(Stop('line')).verb == 'next'
    assert inner == ['cont']


def test_a_forked_child_has_its_own_stop_only() -> None:
    """A thread at the prompt forks while another one waits: in the child nobody is ever told of the other."""
    broker, status = Broker(), []

    def turn(stop: Stop, broker: Broker) -> None:
        until(lambda: len(broker.stops) == 2 or bool(status))
        if not status:
            child = os.fork()
            if not child:
                fine = broker.stops == (stop,) and broker.focus is stop and stop.thread == threading.get_native_id()
                os._exit(0 if fine else 1)
            status.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            assert len(broker.stops) == 2
        stop.decide('cont')
    broker.add(Asker(turn))
    with ThreadPoolExecutor(2) as pool:
        decisions = [pool.submit(lambda: broker.hold(Stop('line'))) for _ in range(2)]
        assert [one.result(30).verb for one in decisions] == ['cont'] * 2
    assert status == [0]


def test_what_is_wanted_of_a_thread_is_wanted_of_it_in_a_forked_child(program: None) -> None:
    """A child goes on where its parent forked: what was to stop there does, and other threads' wishes are not its own."""
    before = debugger.plan(threading.get_native_id())
    before.next_call = True
    debugger.plan(1).next_call = True
    child = os.fork()
    if not child:
        os._exit(0 if dict(debugger.plans) == {threading.get_native_id(): before} else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert set(debugger.plans) == {threading.get_native_id(), 1}
