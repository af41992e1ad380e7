"""Callbacks within scan, while, cond, shard_map and pmap: which run each call is of, its values, and how many there are."""
from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from hosts.jax.jax_program import PROGRAMS, RELEASE, record, run

pytestmark = [pytest.mark.jax, pytest.mark.timeout(300)]

PMAP_IS_A_RUN = not (0, 0) < RELEASE < (0, 9)
"""Of JAX 0.6 and 0.8 the calls within `pmap` are in no run of their own."""
Calls = dict[str, list[list[tuple[list[float], float]]]]


@pytest.fixture(scope='module')
def calls(tmp_path_factory: pytest.TempPathFactory) -> Calls:
    """By function, for each of its runs in order: inputs and output of each call, flat."""
    folder = tmp_path_factory.mktemp('nested')
    plain = run(folder, str(PROGRAMS / 'nested.py'))
    done, trace = record(folder, PROGRAMS / 'nested.py')
    assert done.stdout == plain.stdout and done.stdout.count('\n') == 4, done.stderr
    labels = {one.id: one.label for one in trace.runs()}
    programs = ['scan', 'loop', 'choose', 'shard', *(['pmap'] if PMAP_IS_A_RUN else []), 'both']
    assert [label for _, label in sorted(labels.items()) if label != 'jit' and not label.startswith('eager')] == programs * 2
    found: dict[str, dict[int, list[tuple[list[float], float]]]] = defaultdict(lambda: defaultdict(list))
    expected = {'scanned': 'scan', 'tested': 'loop', 'counted': 'loop', 'yes': 'choose', 'no': 'choose', 'sharded': 'shard',
                'mapped': 'pmap', 'in_both': 'both'}
    for call in trace.calls(kind='python'):
        if call.site.function != 'mapped' or PMAP_IS_A_RUN:
            assert labels[call.run] == expected[call.site.function]
        inputs = [float(number) for value in call.inputs for number in value.to_numpy().ravel()]
        found[call.site.function][call.run].append((inputs, float(call.outputs[0].to_numpy().ravel()[-1])))
    return {function: [runs[number] for number in sorted(runs)] for function, runs in found.items()}


def test_scan_calls_once_a_step_with_the_carried_value(calls: Calls) -> None:
    assert calls['scanned'] == [[([0, 1], 1), ([1, 2], 3), ([3, 3], 6)], [([0, 2], 2), ([2, 3], 5), ([5, 4], 9)]]


def test_a_loop_calls_its_condition_once_more_than_its_body(calls: Calls) -> None:
    assert calls['tested'] == [[([3], 1), ([6], 1), ([12], 1), ([24], 0)], [([4], 1), ([8], 1), ([16], 1), ([32], 0)]]
    assert calls['counted'] == [[([3], 6), ([6], 12), ([12], 24)], [([4], 8), ([8], 16), ([16], 32)]]


def test_only_the_branch_that_is_taken_calls(calls: Calls) -> None:
    assert calls['no'] == [[([0], -1)]] and calls['yes'] == [[([1], 2)]]


def test_each_device_calls_with_its_part(calls: Calls) -> None:
    assert [sorted(one) for one in calls['sharded']] == [
        [([0, 1], 11), ([2, 3], 13), ([4, 5], 15), ([6, 7], 17)], [([1, 2], 12), ([3, 4], 14), ([5, 6], 16), ([7, 8], 18)]]
    mapped = [[([0], 0), ([1], 10), ([2], 20), ([3], 30)], [([1], 10), ([2], 20), ([3], 30), ([4], 40)]]
    if PMAP_IS_A_RUN:
        assert [sorted(one) for one in calls['mapped']] == mapped
    assert sorted(call for one in calls['mapped'] for call in one) == sorted(mapped[0] + mapped[1])


def test_a_branch_in_a_loop_on_several_devices(calls: Calls) -> None:
    """Each device takes it as often as its own value says."""
    assert [sorted(value for (value,), _ in one) for one in calls['in_both']] == [
        [3, 3, 3, 4, 4, 5], [3, 3, 3, 4, 4, 4, 5, 5, 6]]


def test_a_stop_in_a_callback_of_each_device(tmp_path: Path) -> None:
    """Each is its own call, with its own part, whichever thread makes it."""
    done, _ = record(tmp_path, PROGRAMS / 'nested.py', '--break', 'sharded', '--ui', 'prompt', '-q',
                     typed='p float(v[0])\nc\n' * 4 + 'q\n')
    values = {float(line) for line in done.stderr.splitlines() if line.replace('.', '').isdecimal()}
    assert values == {0, 2, 4, 6}, done.stderr
    assert done.stderr.count('STOPPED entering sharded') >= 4 and done.stdout.count('\n') == 4
