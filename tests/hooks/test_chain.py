"""The law of the chain: whatever hooks do, the user's function runs as asked and its outcome is its own."""
from __future__ import annotations

import contextlib
import gc
import io
import sys
import threading
import traceback
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from native_threads import run_native
from wrapped_calls import Keeper, wrap

from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks import chain
from pyfuncdbg.hooks.call import Call, CallSite, Run
from pyfuncdbg.hooks.chain import current_call, hooks


class Interrupt(BaseException):
    """Stands for KeyboardInterrupt, without the test runner's own handling."""


class Acting:
    """A hook that behaves in one way."""

    kinds = frozenset({'python'})

    def __init__(self, act: str) -> None:
        self.act = act

    def around(self, call: Call, proceed: Callable[[], Any]) -> Any:
        return getattr(self, self.act)(call, proceed)

    def watch(self, call: Call, proceed: Callable[[], Any]) -> Any:
        return proceed()

    def fail_before(self, call: Call, proceed: Callable[[], Any]) -> Any:
        raise LookupError('before')

    def change_inputs_and_fail(self, call: Call, proceed: Callable[[], Any]) -> Any:
        call.inputs[0] = -1000
        raise LookupError('half done')

    def replace_inputs_and_fail(self, call: Call, proceed: Callable[[], Any]) -> Any:
        call.inputs = [-1000]
        raise LookupError('half done')

    def fail_after(self, call: Call, proceed: Callable[[], Any]) -> Any:
        try:
            proceed()
        finally:
            call.outputs = ['wrong']
            raise LookupError('after')

    def return_none(self, call: Call, proceed: Callable[[], Any]) -> Any:
        proceed()

    def skip(self, call: Call, proceed: Callable[[], Any]) -> Any:
        return (7,)

    def retry(self, call: Call, proceed: Callable[[], Any]) -> Any:
        with contextlib.suppress(Exception):
            proceed()
        return proceed()

    def retry_and_fail(self, call: Call, proceed: Callable[[], Any]) -> Any:
        with contextlib.suppress(Exception):
            proceed()
        with contextlib.suppress(Exception):
            proceed()
        raise LookupError('after two')

    def change_inputs(self, call: Call, proceed: Callable[[], Any]) -> Any:
        call.inputs[0] += 1
        return proceed()

    def change_outputs(self, call: Call, proceed: Callable[[], Any]) -> Any:
        return (proceed()[0] * 10,)

    def swallow(self, call: Call, proceed: Callable[[], Any]) -> Any:
        try:
            return proceed()
        except Exception:
            return (5,)

    def interrupt_before(self, call: Call, proceed: Callable[[], Any]) -> Any:
        raise Interrupt

    def interrupt_after(self, call: Call, proceed: Callable[[], Any]) -> Any:
        proceed()
        raise Interrupt


class Outermost(Acting):
    """Notes what the call shows as its outputs where a recorder would read them."""

    def watch(self, call: Call, proceed: Callable[[], Any]) -> Any:
        outputs = proceed()
        self.shown = call.outputs, call.finished
        return outputs


ACTS = [name for name, member in vars(Acting).items() if callable(member) and name not in ('__init__', 'around')]
FAILING = {'fail_before', 'change_inputs_and_fail', 'replace_inputs_and_fail', 'fail_after', 'return_none', 'retry_and_fail'}


class Expected:
    """What the law says of a stack of acts, worked out without the chain."""

    def __init__(self, acts: list[str], value: int, fails: list[bool]) -> None:
        self.inputs = [value]
        self.fails = iter(fails)
        self.runs = 0
        self.reported: set[int] = set()
        self.outcome = self.step(list(enumerate(acts)))

    def step(self, acts: list[tuple[int, str]]) -> Any:
        """The value returned, or 'error' or 'interrupt'."""
        if not acts:
            self.runs += 1
            return 'error' if next(self.fails) else self.inputs[0] * 2
        (number, act), *rest = acts
        if act in ('skip', 'interrupt_before'):
            return 7 if act == 'skip' else 'interrupt'
        if act == 'change_inputs':
            self.inputs[0] += 1
        outcome = self.step(rest)
        if act in ('retry', 'retry_and_fail') and outcome != 'interrupt':
            outcome = self.step(rest)
        # An interrupt passes through `return_none` and `retry_and_fail`; `fail_after` hides it, and that is its failure.
        if (act in FAILING and (outcome != 'interrupt' or act not in ('return_none', 'retry_and_fail'))
                and not (act == 'return_none' and outcome == 'error')):
            self.reported.add(number)
        if isinstance(outcome, int):
            return {'change_outputs': outcome * 10, 'interrupt_after': 'interrupt'}.get(act, outcome)
        return 5 if act == 'swallow' and outcome == 'error' else outcome


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(ACTS), max_size=5), st.integers(0, 50), st.lists(st.booleans(), min_size=64, max_size=64))
def test_any_stack_of_hooks(acts: list[str], value: int, fails: list[bool]) -> None:
    expected = Expected(acts, value, fails)
    error, ran, script = ValueError('the user\'s own'), [], iter(fails)

    def function(x: int) -> int:
        ran.append(x)
        if next(script):
            raise error
        return x * 2

    stack = [Acting(act) for act in acts]
    keeper, outermost = Keeper(), Outermost('watch')
    for hook in (keeper, outermost, *stack):
        hooks.add(hook)
    try:
        try:
            outcome: Any = wrap(function)(value)
        except ValueError as raised:
            assert raised is error
            assert raised.__cause__ is None
            outcome = 'error'
        except Interrupt:
            outcome = 'interrupt'
        assert outcome == expected.outcome
        assert len(ran) == expected.runs
        assert {number for number, hook in enumerate(stack) if hook not in hooks} == expected.reported
        (call,) = keeper.calls
        if isinstance(outcome, int):
            assert outermost.shown == ((outcome,), call.finished)
            assert call.finished >= call.started
        elif outcome == 'error':
            assert call.error is error
    finally:
        for hook in (keeper, outermost, *stack):
            hooks.remove(hook)


def test_no_hook_means_no_call() -> None:
    assert wrap(lambda x: (x, current_call()))(3) == (3, 0)


def test_a_failing_hook_is_reported_once_and_is_off(
        capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, '__stderr__', sys.stderr)
    hook = Acting('fail_before')
    hooks.add(hook)
    function = wrap(lambda x: x + 1, name='layer/norm')
    assert [function(1), function(2)] == [2, 3]
    said = capfd.readouterr()
    assert said.out == ''
    assert said.err.count('\n') == 1
    assert "Acting failed at call #" in said.err
    assert "of 'layer/norm' and is switched off: LookupError: before." in said.err
    hooks.add(hook)                             # the user mended it and adds it again: a new failure is told again
    function(3)
    assert capfd.readouterr().err.count('switched off') == 1


def test_failing_on_many_threads_is_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = io.StringIO()
    monkeypatch.setattr(sys, '__stderr__', stderr)
    gate = threading.Barrier(8)

    class Late:
        kinds = frozenset({'python'})

        def around(self, call: Call, proceed: Callable[[], Any]) -> Any:
            gate.wait(10)
            raise LookupError('all at once')

    hooks.add(Late())
    results: list[int] = []
    function = wrap(lambda x: x + 1)
    run_native([lambda i=i: results.append(function(i)) for i in range(8)])  # type: ignore[misc]
    assert sorted(results) == list(range(1, 9))
    assert stderr.getvalue().count('switched off') == 1


@pytest.mark.parametrize('stderr', ['closed', 'none'])
def test_a_report_that_cannot_be_written_changes_nothing(stderr: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    stream.close()
    monkeypatch.setattr(sys, '__stderr__', stream if stderr == 'closed' else None)
    hooks.add(Acting('fail_after'))
    assert wrap(lambda x: x + 1)(1) == 2


def test_a_hook_error_whose_text_cannot_be_made() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError('no text')

    class Hook:
        kinds = frozenset({'python'})

        def around(self, call: Call, proceed: Callable[[], Any]) -> Any:
            raise MuteError

    hooks.add(Hook())
    assert wrap(lambda x: x + 1)(1) == 2


def test_the_users_traceback_has_no_frame_of_a_hook() -> None:
    for act in ('watch', 'retry', 'fail_after'):
        hooks.add(Acting(act))

    def inner() -> None:
        raise ValueError('here')

    def body(x: int) -> None:
        inner()

    try:
        wrap(body)(1)
    except ValueError as error:
        names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    assert names[-2:] == ['body', 'inner']
    assert not {'watch', 'retry', 'fail_after', 'proceed', '_execute', 'around', '__call__'} & set(names)
    for _, hook in hooks._all:
        hooks.remove(hook)


def test_what_a_failed_call_held_is_freed_without_the_collector() -> None:
    class Big:
        pass

    hooks.add(watching := Acting('watch'))
    gc.collect()
    gc.disable()
    try:
        def body(x: Big) -> None:
            raise ValueError(x)

        big = Big()
        alive = weakref.ref(big)
        with contextlib.suppress(ValueError):
            wrap(body)(big)
        del big
        assert alive() is None
    finally:
        gc.enable()
        hooks.remove(watching)


@pytest.mark.parametrize('add_watcher', [True, False])
def test_abort_that_user_code_swallowed_comes_again(add_watcher: bool) -> None:
    run = Run('test', None, 0)  # type: ignore[arg-type]
    ran: list[str] = []

    class Aborting:
        kinds = frozenset({'python'})

        def around(self, call: Call, proceed: Callable[[], Any]) -> Any:
            if call.site.name == 'inner':
                raise RunAborted('by the user')
            return proceed()

    hooks.add(hook := Aborting())
    inner = wrap(lambda: ran.append('inner'), name='inner', run=run)

    def body() -> str:
        try:
            inner()
        except BaseException:
            ran.append('swallowed')
        return 'went on'

    with pytest.raises(RunAborted, match='by the user') as aborted:
        wrap(body, name='outer', run=run)()
    assert ran == ['swallowed']
    if not add_watcher:
        hooks.remove(hook)
    with pytest.raises(RunAborted) as again:
        wrap(lambda: ran.append('next'), name='next', run=run)()
    assert again.value is aborted.value is run.aborted
    assert ran == ['swallowed']
    wrap(lambda: ran.append('another run'))()
    assert ran[-1] == 'another run'
    hooks.remove(hook)


def test_abort_wins_over_what_user_code_raised_instead() -> None:
    run = Run('test', None, 0)  # type: ignore[arg-type]
    hooks.add(keeper := Keeper())

    def body() -> None:
        run.aborted = RunAborted('from another thread')
        raise ValueError('instead')

    with pytest.raises(RunAborted):
        wrap(body, run=run)()
    assert isinstance(keeper.calls[0].error, ValueError)
    hooks.remove(keeper)


def _make_call(site: CallSite, function: Callable[[], Any]) -> Any:
    return chain.invoke(site, lambda: (function(),), Run('test', None, 0), [])[0]  # type: ignore[arg-type]


def test_the_current_call_of_a_site_is_none_in_a_call_of_another(keeper: Keeper) -> None:
    """The innermost call counts, of the same `CallSite` object: one of the same id belongs to another function."""
    site, other = (CallSite(name, 'EagerPyFunc', 'python', None) for name in 'ab')  # type: ignore[arg-type]
    same_place = CallSite('a', 'EagerPyFunc', 'python', None, same_as=site)  # type: ignore[arg-type]

    def ids() -> list[int]:
        return [current_call(), current_call(site), current_call(other), current_call(same_place)]

    seen = _make_call(site, lambda: [ids(), _make_call(other, lambda: [ids(), _make_call(site, ids)]), ids(),
                                     _make_call(site, ids), _make_call(same_place, ids), ids()])
    outer, in_other, again, nested, placed = (call.id for call in keeper.calls)
    assert len({outer, in_other, again, nested, placed}) == 5
    assert seen == [[outer, outer, 0, 0], [[in_other, 0, in_other, 0], [again, again, 0, 0]], [outer, outer, 0, 0],
                    [nested, nested, 0, 0], [placed, 0, 0, placed], [outer, outer, 0, 0]]
    assert ids() == [0, 0, 0, 0]


def test_the_current_call_of_a_site_is_that_of_this_thread(keeper: Keeper) -> None:
    site = CallSite('a', 'EagerPyFunc', 'python', None)  # type: ignore[arg-type]
    both_inside = threading.Barrier(2, timeout=20)
    inside: dict[int, int] = {}
    outside: list[int] = []

    def ask() -> None:
        both_inside.wait()
        inside[threading.get_native_id()] = current_call(site)
        both_inside.wait()

    def call_and_ask() -> None:
        outside.append(current_call(site))
        _make_call(site, ask)
        outside.append(current_call(site))

    run_native([call_and_ask] * 2)
    assert outside == [0] * 4 and len(inside) == 2
    assert inside == {call.thread: call.id for call in keeper.calls}


def test_nested_calls_know_their_parent_on_native_threads() -> None:
    hooks.add(keeper := Keeper())
    inner = wrap(lambda: current_call(), name='inner')
    outer = wrap(lambda: (current_call(), inner(), current_call()), name='outer')
    results: list[tuple[int, int, int]] = []
    run_native([lambda: results.append(outer())] * 4)
    assert len(results) == 4
    parents = {call.id: call.parent for call in keeper.calls}
    for before, within, after in results:
        assert before == after != within
        assert parents[within] == before
        assert parents[before] == 0
    threads = {call.id: call.thread for call in keeper.calls}
    assert all(threads[outer_id] == threads[inner_id] for outer_id, inner_id, _ in results)
    assert threading.get_native_id() not in threads.values()
    hooks.remove(keeper)


def test_hooks_added_and_removed_inside_a_call_hold_from_the_next_one() -> None:
    first, second = Keeper(), Keeper()
    hooks.add(first)

    def body(change: bool) -> None:
        if change:
            hooks.remove(first)
            hooks.add(second)

    function = wrap(body)
    function(True)
    function(False)
    assert (len(first.calls), len(second.calls)) == (1, 1)
    assert first.calls[0].finished
    assert second.calls[0].ordinal == first.calls[0].ordinal + 1
    hooks.remove(second)


def test_adding_and_removing_from_other_threads_loses_no_call() -> None:
    hooks.add(steady := Keeper())
    ran: list[int] = []
    function = wrap(ran.append)
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            hook = Keeper()
            hooks.add(hook)
            hooks.remove(hook)

    threads = [threading.Thread(target=churn) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(300):
        function(i)
    stop.set()
    for thread in threads:
        thread.join()
    assert ran == list(range(300))
    assert [call.inputs for call in steady.calls] == [[i] for i in range(300)]
    hooks.remove(steady)


def test_depth_orders_hooks_and_adding_twice_does_nothing() -> None:
    deep, first, second = Keeper(), Keeper(), Keeper()
    hooks.add(deep, depth=5)
    hooks.add(first)
    hooks.add(second)
    hooks.add(first, depth=9)
    assert hooks.python == (first, second, deep)
    for hook in (deep, first, second):
        hooks.remove(hook)
    hooks.remove(deep)
    assert hooks.python == ()


def test_a_kind_sees_only_its_hooks() -> None:
    hooks.add(ops := Keeper('op'))
    site = CallSite('mm', 'MatMul', 'op', None)  # type: ignore[arg-type]
    run = Run('test', None, 0)  # type: ignore[arg-type]
    assert wrap(lambda: current_call())() == 0
    assert chain.invoke(site, lambda x: (x + 1,), run, [1]) == (2,)
    assert [call.site for call in ops.calls] == [site]
    hooks.remove(ops)


@pytest.mark.parametrize('act', ['fail_before', 'fail_after'])
def test_what_the_function_raises_knows_nothing_of_a_hooks_error(act: str) -> None:
    hooks.add(failing := Acting(act))
    handled: list[Any] = []

    def body() -> None:
        handled.append(sys.exc_info()[1])
        raise ValueError('the user\'s own')

    with pytest.raises(ValueError, match='own') as raised:
        wrap(body)()
    hooks.remove(failing)
    assert handled == [None]
    assert raised.value.__context__ is None


def test_a_hook_that_proceeds_again_runs_all_hooks_inside_of_it_again() -> None:
    hooks.add(retrying := Acting('retry'))
    hooks.add(keeper := Keeper())
    hooks.add(failing := Acting('fail_before'))
    hooks.add(innermost := Keeper())
    ran: list[int] = []
    wrap(ran.append)(3)
    for hook in (retrying, keeper, failing, innermost):
        hooks.remove(hook)
    assert ran == [3, 3]
    assert len(keeper.calls) == len(innermost.calls) == 2


def test_an_abort_in_eager_code_ends_its_outermost_call_and_not_what_comes_later():
    eager = Run('eager', None, 0, kind='eager')  # type: ignore[arg-type]
    met = []

    def inner():
        raise RunAborted('enough')

    def outer():
        for name in ('first', 'second'):
            try:
                met.append(name)
                wrap(inner, 'inner', eager)()
            except BaseException:               # a program that swallows everything is stopped at its next boundary
                continue

    keeper = Keeper()
    hooks.add(keeper)
    try:
        with pytest.raises(RunAborted, match='enough'):
            wrap(outer, 'outer', eager)()
    finally:
        hooks.remove(keeper)
    assert met == ['first', 'second'] and eager.aborted is None
    assert wrap(lambda x: x + 1, 'later', eager)(1) == 2
