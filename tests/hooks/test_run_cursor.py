"""The cursor of a run, over nodes that add one to the value before: pauses, goals, ways back, and what is refused."""
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.host import RunView
from pyfuncdbg.hooks.run_cursor import RunCursor


def site(name: str) -> CallSite:
    return CallSite(name, 'Add', 'python', None)  # type: ignore[arg-type]


class Adding:
    """Nodes n0, n1, ...: each adds one to what the node before gave; n2 and n3 run as one."""

    name = 'adding'
    feeds: tuple[str, ...] = ('fed',)
    within: tuple[CallSite, ...] = ()

    def __init__(self, count: int = 6, *, fixed: str = '', repeats: bool = False) -> None:
        self.sites = [site(f'n{index}') for index in range(count)]
        self.fixed_reason, self.repeats = fixed, repeats
        self.part, self.outer = 'body', 'graph'
        self.position = 0
        self.values: dict[str, Any] = {'fed': 0}
        self.executed: list[str] = []
        self.log: list[tuple[Any, ...]] = []
        self.fails: dict[int, Exception] = {}
        self.replaced: list[tuple[str, int]] = []

    def __len__(self) -> int:
        return len(self.sites)

    # ------------------------------------------------------------------ as `RunNodes`
    def execute(self, cursor: RunCursor, index: int) -> int:
        if error := self.fails.pop(index, None):
            raise error
        last = 3 if index == 2 else index
        for place in range(index, last + 1):
            name = f'n{place}'
            before = self.values['fed' if place == 0 else f'n{place - 1}']
            self.values[name] = before + 1
            self.executed.append(name)
        return last + 1

    def boundary(self, position: int) -> int:
        return 4 if position == 3 else position

    def remark(self) -> str:
        return 'two as one' if self.position == 2 else ''

    def look(self) -> RunView | None:
        return None

    def keeps_result(self, index: int) -> bool:
        return index == 4

    def undo(self, position: int, failed: bool) -> None:
        self.log.append(('undo', position, failed))
        for place in range(position, len(self)):
            self.values.pop(f'n{place}', None)
        self.position = position

    def forget(self, index: int, below: bool = False) -> None:
        self.log.append(('forget', index, below))

    def put(self, tensor: str, value: Any) -> None:
        self.values[tensor] = value

    # ------------------------------------------------------------------ as `KnownNodes`
    def holds(self, tensor: str) -> bool:
        return tensor in self.values

    def value(self, tensor: str) -> Any:
        return self.values[tensor]

    def obstacle(self, position: int) -> str:
        return '' if 0 <= position <= self.position and position != 1 else f'no way to {position}'

    # ------------------------------------------------------------------ as the run's host
    def from_numpy(self, array: np.ndarray, like: Any) -> Any:
        if array.shape:
            raise ValueError('no scalar')
        return array[()]

    def replace(self, where: CallSite, function: Callable[..., Any], count: int) -> None:
        self.replaced.append((where.name, count))


def walked(nodes: Adding, *actions: Callable[[RunCursor], Any], at: int = 0) -> tuple[list[int], Any, RunCursor]:
    """Positions at which a run over the nodes paused, the answer of `go`, and the cursor; an action is taken at each."""
    run = Run('adding', nodes, 0)  # type: ignore[arg-type]
    cursor = RunCursor(nodes, nodes, run)
    positions: list[int] = []
    left = list(actions)

    def on_pause() -> None:
        positions.append(cursor.position)
        if left:
            left.pop(0)(cursor)
        else:
            cursor.resume()
    cursor.pause_at(at, on_pause)
    return positions, cursor.go(), cursor


def test_without_a_pause_all_nodes_run_once() -> None:
    nodes = Adding()
    assert RunCursor(nodes, nodes, Run('adding', nodes, 0)).go() is None  # type: ignore[arg-type]
    assert nodes.executed == ['n0', 'n1', 'n2', 'n3', 'n4', 'n5'] and nodes.values['n5'] == 6


def test_goals_are_reached_and_those_inside_of_nodes_that_run_as_one_are_moved_behind_them() -> None:
    nodes = Adding()
    positions, rest, cursor = walked(nodes, lambda c: c.go_to(2), lambda c: c.go_to(3), lambda c: c.go_to(6))
    assert positions == [0, 2, 4, 6] and rest is None
    assert cursor.value('n5') == 6 and cursor.holds('n3') and not cursor.holds('n9')


def test_a_goal_beyond_the_end_is_left_to_what_is_around() -> None:
    nodes = Adding()
    positions, rest, cursor = walked(nodes, lambda c: c.go_to(sys.maxsize))
    assert positions == [0] and rest is cursor.on_pause is not None


def test_a_goal_behind_the_cursor_is_refused_and_the_run_goes_on() -> None:
    nodes = Adding()
    refused: list[str] = []

    def back(cursor: RunCursor) -> None:
        with pytest.raises(ValueError, match='use rewind') as caught:
            cursor.go_to(1)
        refused.append(str(caught.value))
        cursor.resume()
    walked(nodes, back, at=4)
    assert refused == ['step 1 has run already (next is 4): use rewind'] and nodes.values['n5'] == 6


def test_going_back_runs_nodes_again_on_what_was_put_there() -> None:
    nodes = Adding()

    def back(cursor: RunCursor) -> None:
        cursor.rewind(2)
        cursor.inject('n1', np.array(10))
    positions, _, _ = walked(nodes, back, lambda c: c.resume(), at=5)
    assert positions == [5, 2] and nodes.log == [('undo', 2, False)]
    assert nodes.executed == ['n0', 'n1', 'n2', 'n3', 'n4', 'n2', 'n3', 'n4', 'n5'] and nodes.values['n5'] == 14


@pytest.mark.parametrize(('act', 'message'), [
    (lambda c: c.rewind(1), 'no way to 1'),
    (lambda c: c.inject('n3', np.zeros(2)), 'no scalar'),
    (lambda c: c.enter(), 'was called already'),
    (lambda c: c.swap(site('elsewhere'), len), "'elsewhere' is not a Python call of this run"),
])
def test_what_cannot_be_done_changes_nothing(act: Callable[[RunCursor], None], message: str) -> None:
    nodes = Adding()
    found: list[dict[str, Any]] = []

    def refused(cursor: RunCursor) -> None:
        before = dict(nodes.values)
        with pytest.raises(ValueError, match=message):
            act(cursor)
        assert (dict(nodes.values), nodes.position, nodes.log, cursor.entering) == (before, 4, [], False)
        found.append(before)
        cursor.resume()
    walked(nodes, refused, at=4)
    assert len(found) == 1 and nodes.executed == ['n0', 'n1', 'n2', 'n3', 'n4', 'n5']


@pytest.mark.parametrize('act', [lambda c: c.inject('n3', np.array(1)), lambda c: c.swap(c.sites[0], len),
                                 lambda c: c.retry()])
def test_a_run_that_is_fixed_changes_no_value(act: Callable[[RunCursor], None]) -> None:
    def refused(cursor: RunCursor) -> None:
        with pytest.raises(ValueError, match='all is done'):
            act(cursor)
        cursor.rewind(2)                        # to look at what was there is still possible
    positions, _, _ = walked(Adding(fixed='all is done'), refused, at=4)
    assert positions == [4, 2]


def test_a_swap_goes_back_before_the_site_if_it_was_called() -> None:
    nodes = Adding()
    positions, _, _ = walked(nodes, lambda c: c.swap(c.sites[5], len), lambda c: c.resume(), at=4)
    assert positions == [4] and nodes.log == [('forget', 5, True)] and nodes.replaced == [('n5', 0)]
    nodes = Adding()
    positions, _, _ = walked(nodes, lambda c: c.swap(c.sites[2], len), lambda c: c.resume(), at=4)
    assert positions == [4, 2] and nodes.log == [('undo', 2, False), ('forget', 2, True)]


def test_a_node_that_raises_is_asked_about_and_run_again() -> None:
    nodes = Adding()
    nodes.fails[4] = ZeroDivisionError('once')
    errors: list[Exception | None] = []

    def again(cursor: RunCursor) -> None:
        errors.append(cursor.error)
        cursor.retry()

    def go_on(cursor: RunCursor) -> None:
        errors.append(cursor.error)
        cursor.resume()
    positions, _, _ = walked(nodes, lambda c: c.go_to(6), again, go_on)
    assert positions == [0, 4, 4] and [type(error) for error in errors] == [ZeroDivisionError, type(None)]
    assert nodes.log == [('undo', 4, True), ('forget', 4, False)] and nodes.values['n5'] == 6


def test_an_error_that_nobody_goes_back_from_goes_on() -> None:
    nodes = Adding()
    nodes.fails[4] = ZeroDivisionError('for good')
    with pytest.raises(ZeroDivisionError):
        walked(nodes, lambda c: c.go_to(6), lambda c: c.resume())
    assert nodes.position == 4


def test_a_mistake_of_who_watches_ends_neither_the_run_nor_is_it_hidden(capfd: pytest.CaptureFixture[str]) -> None:
    nodes = Adding()
    positions, _, cursor = walked(nodes, lambda c: c.go_to(1), lambda c: 1 // 0, at=0)
    assert positions == [0, 1] and nodes.values['n5'] == 6 and cursor.on_pause is None
    assert 'the action at step 1 of run #' in capfd.readouterr().err


def test_an_abort_ends_the_run() -> None:
    nodes = Adding()

    aborted: list[Run] = []

    def abort(cursor: RunCursor) -> None:
        aborted.append(cursor.run)
        raise RunAborted('enough')
    with pytest.raises(RunAborted) as caught:
        walked(nodes, abort, at=2)
    assert nodes.executed == ['n0', 'n1'] and aborted[0].aborted is caught.value


def test_in_a_loop_a_node_that_has_run_is_reached_in_the_next_iteration_past_the_condition() -> None:
    cursors: list[RunCursor] = []
    positions: list[tuple[int, int]] = []

    def on_pause() -> None:
        positions.append((len(cursors), cursors[-1].position))
        if len(cursors) == 1:
            cursors[0].go_to(2)
        elif len(positions) == 2:
            cursors[-1].rewind(0)               # from here on it pauses as before
        else:
            cursors[-1].go_to(sys.maxsize)

    def started(part: str, at: int, callback: Callable[[], None]) -> Any:
        nodes = Adding(repeats=True)
        nodes.part = part
        cursors.append(RunCursor(nodes, nodes, Run('adding', nodes, 0)))  # type: ignore[arg-type]
        cursors[-1].pause_at(at, callback)
        return cursors[-1].go()
    rest = started('body', 4, on_pause)
    assert positions == [(1, 4)] and started('condition', 0, rest) is rest
    started('body', 0, rest)
    assert positions == [(1, 4), (3, 2), (3, 0)]


def test_the_remark_of_the_nodes_is_the_runs_while_it_is_paused() -> None:
    nodes = Adding()
    remarks: list[str] = []

    def note(cursor: RunCursor) -> None:
        remarks.append(cursor.run.remark)
        cursor.go_to(cursor.position + 2)
    walked(nodes, note, note, note)
    assert remarks == ['', 'two as one', '']
