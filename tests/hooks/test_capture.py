"""Capture as a whole: exact under native threads, nested calls, retries, starts and stops."""
from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from native_threads import run_native
from wrapped_calls import Keeper, wrap

from pyfuncdbg.hooks import capture as module, chain
from pyfuncdbg.hooks.call import Call, CallSite, Run
from pyfuncdbg.hooks.capture import Capture, divert
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.hooks.output.output import NO_OUTPUT


def test_eight_native_threads_by_two_hundred_calls(capture: Capture, keeper: Keeper) -> None:
    """Each call's tokens, warning and error are in exactly its own record."""
    def body(token: str) -> str:
        print('start', token)
        print('careful', token, file=sys.stderr)
        np.zeros(1) / np.float64(0)
        print('end', token)
        return token

    function = wrap(body)
    target = io.StringIO()
    with contextlib.redirect_stdout(target), contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter('ignore')
        run_native([lambda t=t: [function(f't{t}c{i}.') for i in range(200)] for t in range(8)])  # type: ignore[misc]
    assert len(keeper.calls) == 1600
    assert len({call.thread for call in keeper.calls}) == 8
    for index, call in enumerate(keeper.calls):
        token = call.inputs[0]
        assert keeper.said(index) == [('out', f'start {token}\n'), ('err', f'careful {token}\n'),
                                      ('fp', 'invalid value encountered in divide'), ('out', f'end {token}\n')]
    assert target.getvalue().count('.') == 3200


def test_each_call_on_a_native_thread_of_its_own(capture: Capture, keeper: Keeper) -> None:
    function = wrap(lambda i: print(f'call {i}'))
    for first in range(0, 40, 8):
        run_native([lambda i=i: function(i) for i in range(first, first + 8)])  # type: ignore[misc]
    assert [keeper.said(i) for i in range(40)] == [[('out', f'call {c.inputs[0]}\n')] for c in keeper.calls]
    assert sorted(c.inputs[0] for c in keeper.calls) == list(range(40))


def test_nested_calls_keep_their_own(capture: Capture, keeper: Keeper) -> None:
    inner = wrap(lambda: print('inner'), name='inner')
    wrap(lambda: (print('before'), inner(), print('after')), name='outer')()
    assert keeper.said(0) == [('out', 'before\n'), ('out', 'after\n')]
    assert keeper.said(1) == [('out', 'inner\n')]


def test_what_was_said_before_an_error_is_kept(capture: Capture, keeper: Keeper) -> None:
    def body() -> None:
        print('last words')
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        wrap(body)()
    assert keeper.said() == [('out', 'last words\n')]
    print('outside')
    assert keeper.said() == [('out', 'last words\n')]


def test_hooks_words_are_not_the_programs(capture: Capture, keeper: Keeper, capsys: pytest.CaptureFixture[str]) -> None:
    class Talking:
        kinds = frozenset({'python'})

        def around(self, call: Call, proceed: Callable[[], Any]) -> Any:
            print('(prompt)')
            outputs = proceed()
            print('(prompt)')
            return outputs

    hooks.add(talking := Talking(), depth=50)
    wrap(lambda: print('program'))()
    hooks.remove(talking)
    assert keeper.said() == [('out', 'program\n')]
    assert capsys.readouterr().out == '(prompt)\nprogram\n(prompt)\n'


def test_a_retry_adds_to_what_was_said(capture: Capture, keeper: Keeper) -> None:
    class Retrying:
        kinds = frozenset({'python'})

        def around(self, call: Call, proceed: Callable[[], Any]) -> Any:
            proceed()
            return proceed()

    hooks.add(retrying := Retrying())
    ran: list[int] = []
    wrap(lambda: (ran.append(1), print(f'time {len(ran)}')))()
    hooks.remove(retrying)
    assert keeper.said() == [('out', 'time 1\n'), ('out', 'time 2\n')]


def test_two_captures_share_one_output(capture: Capture, keeper: Keeper) -> None:
    second = Capture()
    second.start()
    function = wrap(lambda x: print(x))
    function('both')
    capture.stop()
    function('second')
    second.stop()
    function('none')
    capture.start()
    assert keeper.said(0) == [('out', 'both\n')]
    assert keeper.said(1) == [('out', 'second\n')]
    assert keeper.calls[2].output is None


def test_starts_and_stops_are_counted(keeper: Keeper) -> None:
    capture, function = Capture(), wrap(lambda: print('x'))
    capture.stop()
    capture.start()
    capture.start()
    capture.stop()
    function()
    capture.stop()
    capture.stop()
    function()
    assert keeper.said(0) == [('out', 'x\n')]
    assert keeper.calls[1].output is None
    assert not module._process.users


def test_stop_while_another_thread_is_inside(keeper: Keeper) -> None:
    before = len(module._process.running_calls)
    standing, errors = sys.stdout, dict(np.geterr())
    inside, go = threading.Event(), threading.Event()
    seen: list[Any] = []

    def body() -> None:
        print('before')
        inside.set()
        assert go.wait(10)
        print('after')
        seen.append(dict(np.geterr()))
        np.seterr(divide='raise')
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            np.zeros(1) / np.zeros(1)
        seen.append(dict(np.geterr()))

    def on_thread() -> None:
        wrap(body)()
        seen.append(dict(np.geterr()))

    def stopper() -> None:
        inside.wait(10)
        capture.stop()
        wrap(lambda: print('not captured'))()
        seen.append('write' in standing.__dict__)
        go.set()

    capture = Capture()
    capture.start()
    run_native([on_thread, stopper])
    changed = {**errors, 'divide': 'raise'}
    assert seen == [True, errors, changed, changed]
    assert keeper.said(0) == [('out', 'before\n'), ('out', 'after\n'), ('fp', 'invalid value encountered in divide')]
    assert keeper.calls[1].output is None
    assert 'write' not in standing.__dict__
    assert len(module._process.running_calls) == before


def test_starting_and_stopping_while_native_threads_call(keeper: Keeper) -> None:
    standing = sys.stdout
    done: list[int] = []

    def calls(function: Callable[[str], None], thread: int) -> None:
        for i in range(100):
            function(f't{thread}c{i}')
        done.append(thread)

    def churn() -> None:
        while len(done) < 4:
            capture = Capture()
            capture.start()
            capture.stop()

    function = wrap(lambda token: print(token))
    run_native([churn, *(lambda t=t: calls(function, t) for t in range(4))])  # type: ignore[misc]
    for index, call in enumerate(keeper.calls):
        assert call.output is None or keeper.said(index) in ([], [('out', f'{call.inputs[0]}\n')])
    assert len(keeper.calls) == 400
    assert 'write' not in standing.__dict__
    assert np.geterr()['invalid'] == 'warn'


def test_the_same_program_says_the_same_with_and_without(capfd: pytest.CaptureFixture[str], plain_warnings: None) -> None:
    def body() -> float:
        print('result:', end=' ')
        print(np.ones(2) / np.zeros(2), flush=True)
        print('note', file=sys.stderr)
        warnings.warn('careful', UserWarning, stacklevel=1)
        os.write(1, b'raw\n')
        return float(np.log(np.float64(-1)))

    function = wrap(body)
    function()
    bare = capfd.readouterr()
    capture = Capture()
    capture.start()
    function()
    capture.stop()
    assert capfd.readouterr() == bare
    assert bare.err.count('RuntimeWarning') == 2


def test_a_long_output_is_kept_at_both_ends_and_counted(capture: Capture, keeper: Keeper) -> None:
    def body() -> None:
        print('first line')
        for _ in range(3):
            sys.stdout.write('x' * 60_000)
        print('\nlast line')

    with contextlib.redirect_stdout(io.StringIO()) as target:
        wrap(body)()
    output = keeper.calls[0].output
    assert output is not None
    text = ''.join(entry.text for entry in output.entries)
    assert text.startswith('first line\nxxx') and text.endswith('xxx\nlast line\n')
    assert len(text) == 64 * 1024
    assert output.dropped_bytes == len(target.getvalue()) - 64 * 1024


def test_what_an_op_inside_a_function_says_is_the_functions(capture: Capture, keeper: Keeper) -> None:
    hooks.add(ops := Keeper('op'))
    site = CallSite('print', 'Print', 'op', None)  # type: ignore[arg-type]
    run = Run('test', None, 0)  # type: ignore[arg-type]

    def op() -> tuple[()]:
        print('from the op')
        return ()

    chain.invoke(site, op, run, [])
    wrap(lambda: chain.invoke(site, op, run, []))()
    hooks.remove(ops)
    assert keeper.said() == [('out', 'from the op\n')]
    outside, inside = ops.calls
    assert (outside.parent, inside.parent) == (0, keeper.calls[0].id)
    assert (outside.output, inside.output, inside.output_owner) == (None, None, None)


def test_captured_calls_that_say_nothing_share_one_output(capture: Capture, keeper: Keeper) -> None:
    function = wrap(lambda word: word and print(word))
    function('')
    function('x')
    function('')
    silent, speaking, again = [call.output for call in keeper.calls]
    assert silent is again is NO_OUTPUT
    assert silent.entries == ()
    assert speaking is not NO_OUTPUT


def test_what_we_say_ourselves_in_a_call_is_not_its_output(capfd) -> None:
    keeper = Keeper()

    def speak() -> None:
        say('ours \x1b[31m')
        print('theirs')

    hooks.add(keeper)
    capture = Capture()
    capture.start()
    try:
        wrap(speak)()
    finally:
        capture.stop()
        hooks.remove(keeper)
    assert keeper.said() == [('out', 'theirs\n')]
    assert capfd.readouterr().err == 'pyfuncdbg: ours \\x1b[31m\n'


def test_what_is_diverted_is_of_no_call_and_other_threads_go_on(
        capture: Capture, keeper: Keeper, capsys: pytest.CaptureFixture[str], plain_warnings: None) -> None:
    taken: list[str] = []
    nested = wrap(lambda: print('a nested call'), name='nested')

    def function() -> None:
        print('the call')
        with divert(taken.append):
            print('typed')
            warnings.warn('a typed warning', stacklevel=1)
            logging.getLogger('typed').error('a typed record')
            thread = threading.Thread(target=print, args=('a thread',))
            thread.start()
            thread.join()
            nested()
        with divert(None):
            print('typed elsewhere')
        print('the call again')
    wrap(function)()
    assert keeper.said(0) == [('out', 'the call\n'), ('out', 'the call again\n')]
    assert keeper.said(1) == [('out', 'a nested call\n')]
    first, *_, last = ''.join(taken).splitlines()
    assert (first, last) == ('typed', 'a nested call') and 'UserWarning: a typed warning' in ''.join(taken)
    assert capsys.readouterr().out == 'the call\na thread\ntyped elsewhere\nthe call again\n'
