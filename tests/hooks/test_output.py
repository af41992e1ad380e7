"""What one call said stays within its limits, and what was dropped is counted to the byte."""
from __future__ import annotations

import os
import sys
import threading

import pytest
from hypothesis import given, settings, strategies as st

from pyfuncdbg.hooks.output import output as module
from pyfuncdbg.hooks.output.output import ENTRIES, HEAD, NOWHERE, TAIL, Output
from pyfuncdbg.hooks.output.output_owner import output_place

HERE = ('model.py', 3, 'f')


def opened() -> Output:
    output = Output(0)
    output.open = True
    return output


def nbytes(text: str) -> int:
    return len(text.encode('utf-8', 'surrogatepass'))


def test_pieces_of_one_line_become_one_entry() -> None:
    output = opened()
    for text in ('a', ' ', 'b', '\n', 'c', '\n'):
        output.add('out', text, '', HERE)
    output.add('err', 'x', '', HERE)
    output.add('out', 'd', '', HERE)
    output.add('out', 'e', '', ('model.py', 4, 'f'))
    assert [(e.kind, e.text, e.line) for e in output.entries] == [
        ('out', 'a b\n', 3), ('out', 'c\n', 3), ('err', 'x', 3), ('out', 'd', 3), ('out', 'e', 4)]


def test_messages_are_never_joined() -> None:
    output = opened()
    for kind in ('log', 'log', 'warning', 'fp', 'fp'):
        output.add(kind, 'same', 'c', HERE)  # type: ignore[arg-type]
    output.add('warning', '', 'UserWarning', HERE)
    assert [e.kind for e in output.entries] == ['log', 'log', 'warning', 'fp', 'fp', 'warning']


def test_what_comes_after_the_call_is_not_its_own() -> None:
    output = opened()
    output.add('out', 'mine\n')
    output.open = False
    output.add('out', 'late\n')
    assert [e.text for e in output.entries] == ['mine\n']


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(['out', 'err', 'log']), st.integers(1, 2), st.sampled_from('aé€😀\ud800\n'),
                          st.sampled_from([1, 2, 3, 100, 511, 5_000, 20_000, 40_000, 200_000])), max_size=25))
def test_head_and_tail_are_kept_and_the_rest_is_counted(pieces: list[tuple[str, int, str, int]]) -> None:
    output, said = opened(), ''
    for kind, line, letter, times in pieces:
        output.add(kind, letter * times, '', ('m.py', line, 'f'))  # type: ignore[arg-type]
        said += letter * times
    kept = ''.join(entry.text for entry in output.entries)
    total = nbytes(said)
    assert output.dropped_bytes == total - nbytes(kept)
    assert nbytes(kept) <= HEAD + TAIL
    if total <= HEAD:
        assert kept == said
    if output.dropped_bytes:
        assert nbytes(kept) >= HEAD + TAIL - 6      # a character of four bytes leaves at most three free at each cut
        head = next(i for i in range(len(kept) + 1) if i == len(kept) or kept[i] != said[i])
        assert nbytes(said[:head]) >= HEAD - 4
        assert said.endswith(kept[head:][-TAIL // 4:])


def test_a_million_tiny_prints_stay_small() -> None:
    output = opened()
    for i in range(20_000):
        output.add('out', f'{i}\n', '', HERE)
    texts = [entry.text for entry in output.entries]
    assert texts == [f'{i}\n' for i in (*range(ENTRIES), *range(20_000 - ENTRIES, 20_000))]
    assert output.dropped_entries == 20_000 - 2 * ENTRIES
    assert output.dropped_bytes == sum(len(f'{i}\n') for i in range(ENTRIES, 20_000 - ENTRIES))


def test_one_line_printed_in_a_million_pieces() -> None:
    output = opened()
    for _ in range(100_000):
        output.add('out', 'x', '', HERE)
    assert sum(len(entry.text) for entry in output.entries) == HEAD + TAIL
    assert output.dropped_bytes == 100_000 - HEAD - TAIL
    assert max(len(entry.text) for entry in output.entries) < 1000


def test_threads_that_share_a_call_are_counted_exactly() -> None:
    output = opened()

    def say() -> None:
        for _ in range(3000):
            output.add('log', 'xyz')

    threads = [threading.Thread(target=say) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(output.entries) + output.dropped_entries == 12_000
    assert 3 * len(output.entries) + output.dropped_bytes == 36_000


@pytest.mark.filterwarnings('ignore:.*multi-threaded.*fork:DeprecationWarning')
def test_a_child_forked_while_another_thread_notes_can_note() -> None:
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with module.lock:
            held.set()
            done.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    child = os.fork()
    if not child:
        output = opened()
        output.add('out', 'in the child')
        os._exit(len(output.entries))
    done.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


def test_place_of_a_frame_and_of_a_host() -> None:
    frame = sys._getframe()
    first, second = output_place(frame), output_place(frame)
    assert second[1] == first[1] == frame.f_lineno - 1
    assert (first[0], first[2]) == (__file__, 'test_place_of_a_frame_and_of_a_host')
    host = eval(compile('sys._getframe()', 'executor.py', 'eval'), {
        'sys': sys, '__name__': 'pyfuncdbg.hosts.numpy.runtime.plans.executor'})
    assert output_place(host) == NOWHERE == output_place(None)
