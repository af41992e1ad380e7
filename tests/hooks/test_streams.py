"""stdout and stderr of one call: what is captured, and that the streams stay what they were."""
from __future__ import annotations

import contextlib
import gc
import io
import logging
import os
import subprocess
import sys
import threading
import traceback
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from wrapped_calls import Keeper, wrap

from pyfuncdbg.hooks.capture import Capture


def test_prints_are_kept_with_their_lines_and_still_printed(
        capture: Capture, keeper: Keeper, capsys: pytest.CaptureFixture[str]) -> None:
    def body() -> None:
        print('one', 2)
        print('careful', file=sys.stderr)
        sys.stdout.writelines(['a', 'b\n'])

    wrap(body)()
    first = body.__code__.co_firstlineno
    output = keeper.calls[0].output
    assert output is not None
    assert [(e.kind, e.text, e.filename, e.line, e.function) for e in output.entries] == [
        ('out', 'one 2\n', __file__, first + 1, 'body'), ('err', 'careful\n', __file__, first + 2, 'body'),
        ('out', 'ab\n', __file__, first + 3, 'body')]
    offsets = [e.offset for e in output.entries]
    assert 0 < offsets[0] < offsets[1] < offsets[2] <= keeper.calls[0].finished - keeper.calls[0].started
    assert capsys.readouterr() == ('one 2\nab\n', 'careful\n')


def test_only_keeps_it_from_the_streams(
        keeper: Keeper, capsys: pytest.CaptureFixture[str], plain_warnings: None) -> None:
    import warnings
    capture = Capture('only')
    capture.start()
    written: list[int] = []

    def body() -> None:
        print('quiet')
        written.append(sys.stdout.write('four'))
        warnings.warn('quiet too', stacklevel=1)
        with pytest.raises(TypeError):
            sys.stdout.write(5)  # type: ignore[arg-type]

    wrap(body)()
    print('loud')
    capture.stop()
    assert keeper.said() == [('out', 'quiet\n'), ('out', 'four'), ('warning', 'quiet too')]
    assert written == [4]
    assert capsys.readouterr() == ('loud\n', '')


def test_a_mode_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="mode is 'of', expected 'tee' or 'only'"):
        Capture('of')  # type: ignore[arg-type]


def test_the_streams_stay_the_objects_they_were() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding='latin-1', errors='replace', line_buffering=True)
    with contextlib.redirect_stdout(stream):
        capture = Capture()
        capture.start()
        written: list[Any] = []

        def body() -> None:
            written.append(sys.stdout is stream)
            written.append(sys.stdout.write('abc€'))
            written.append((sys.stdout.encoding, sys.stdout.errors, sys.stdout.isatty(), type(sys.stdout)))
            with pytest.raises(TypeError) as error:
                sys.stdout.write(5)  # type: ignore[arg-type]
            written.append(str(error.value))
            with pytest.raises(io.UnsupportedOperation):
                sys.stdout.fileno()

        wrap(body)()
        capture.stop()
    stream.flush()
    assert stream.buffer.getvalue() == b'abc?'  # type: ignore[attr-defined]
    assert written == [True, 4, ('latin-1', 'replace', False, io.TextIOWrapper), 'write() argument must be str, not int']
    assert 'write' not in stream.__dict__


def test_what_a_closed_stream_says_is_the_programs_affair(capture: Capture, keeper: Keeper) -> None:
    stream = io.StringIO()
    stream.close()

    def body() -> None:
        with pytest.raises(ValueError, match='closed file'):
            print('x')

    with contextlib.redirect_stdout(stream):
        wrap(body)()
    assert keeper.said() == []


def test_a_reference_taken_before_is_captured(keeper: Keeper, capsys: pytest.CaptureFixture[str]) -> None:
    handler = logging.StreamHandler(sys.stderr)
    logger = logging.getLogger('taken.before')
    logger.propagate = False
    logger.addHandler(handler)
    stdout = sys.stdout
    capture = Capture()
    capture.start()
    wrap(lambda: (print('by reference', file=stdout), logger.warning('by handler')))()
    capture.stop()
    logger.removeHandler(handler)
    assert keeper.said() == [('out', 'by reference\n'), ('log', 'by handler'), ('err', 'by handler\n')]


def test_a_stream_that_the_function_installs_is_its_own(capture: Capture, keeper: Keeper) -> None:
    inside = io.StringIO()
    inner = wrap(lambda: print('inner'), name='inner')

    def body() -> None:
        print('before')
        with contextlib.redirect_stdout(inside):
            print('redirected')
            inner()                             # for the inner call that stream is stdout
            print('redirected again')
        print('after')

    wrap(body, name='outer')()
    assert inside.getvalue() == 'redirected\ninner\nredirected again\n'
    assert keeper.said(0) == [('out', 'before\n'), ('out', 'after\n')]
    assert keeper.said(1) == [('out', 'inner\n')]


@pytest.mark.parametrize('order', ['capture inside', 'capture outside', 'crossed', 'crossed the other way'])
def test_every_nesting_with_redirect_stdout_is_undone(order: str, keeper: Keeper) -> None:
    standing, target, capture = sys.stdout, io.StringIO(), Capture()
    redirect = contextlib.redirect_stdout(target)
    function = wrap(lambda: print('said'))
    def leave() -> None:
        redirect.__exit__(None, None, None)

    enter = redirect.__enter__
    steps: dict[str, list[Callable[[], Any]]] = {
        'capture inside': [enter, capture.start, function, capture.stop, leave],
        'capture outside': [capture.start, enter, function, leave, capture.stop],
        'crossed': [enter, capture.start, function, leave, capture.stop],
        'crossed the other way': [capture.start, enter, function, capture.stop, leave],
    }
    for step in steps[order]:
        step()
    assert target.getvalue() == 'said\n'
    assert keeper.said() == [('out', 'said\n')]
    assert sys.stdout is standing
    assert 'write' not in standing.__dict__
    assert 'write' not in target.__dict__


@pytest.mark.parametrize('fixture', ['capsys', 'capfd'])
def test_under_pytests_capture(fixture: str, request: pytest.FixtureRequest, capture: Capture, keeper: Keeper) -> None:
    captured = request.getfixturevalue(fixture)
    function = wrap(lambda x: print(x))
    function('first')
    with captured.disabled():
        pass
    function('second')
    assert captured.readouterr().out == 'first\nsecond\n'
    assert [keeper.said(0), keeper.said(1)] == [[('out', 'first\n')], [('out', 'second\n')]]


@pytest.mark.parametrize('live_first', [True, False])
def test_around_and_inside_rich_live(live_first: bool, keeper: Keeper) -> None:
    from rich.console import Console
    from rich.live import Live
    screen, capture, standing = io.StringIO(), Capture(), sys.stdout
    with contextlib.redirect_stdout(screen):
        console = Console(force_terminal=True, width=40, _environ={})
        function = wrap(lambda x: print(x))
        with contextlib.ExitStack() as stack:
            if live_first:
                stack.enter_context(Live('bar', console=console, auto_refresh=False))
                capture.start()
            else:
                capture.start()
                function('plain')
                stack.enter_context(Live('bar', console=console, auto_refresh=False))
            assert sys.stdout is not screen     # rich's own is in place
            function('within')
        function('after')
        capture.stop()
        assert sys.stdout is screen
    assert sys.stdout is standing
    assert 'write' not in screen.__dict__
    texts = [keeper.said(i) for i in range(len(keeper.calls))]
    assert texts == [[('out', f'{x}\n')] for x in ((['plain'] * (not live_first)) + ['within', 'after'])]
    assert screen.getvalue().count('within') == 1


def test_a_write_put_on_top_stays_and_ours_below_is_silent(keeper: Keeper) -> None:
    stream, seen = io.StringIO(), []
    with contextlib.redirect_stdout(stream):
        capture = Capture()
        capture.start()
        function = wrap(lambda x: print(x, end=''))
        function('a')
        below = stream.write

        def write(text: str) -> int:
            seen.append(text)
            return below(text)

        stream.write = write  # type: ignore[method-assign]
        capture.stop()
        function('b')
        capture.start()                         # again, on top of theirs: nothing is captured twice
        function('c')
        capture.stop()
    assert stream.write is write
    assert stream.getvalue() == 'abc'
    assert ''.join(seen) == 'bc'
    assert [call.output and [e.text for e in call.output.entries] for call in keeper.calls] == [['a'], None, ['c']]


def test_a_write_that_the_program_had_on_its_stream_comes_back(keeper: Keeper) -> None:
    stream, seen = io.StringIO(), []
    stream.write = theirs = lambda text: seen.append(text) or 0  # type: ignore[method-assign,func-returns-value,assignment]
    with contextlib.redirect_stdout(stream):
        capture = Capture()
        capture.start()
        wrap(lambda: print('x'))()
        capture.stop()
    assert seen == ['x', '\n']
    assert keeper.said() == [('out', 'x\n')]
    assert stream.write is theirs


@contextlib.contextmanager
def cell(history: list[str]) -> Iterator[None]:
    """What IPython 9 does around each cell: a `write` of its own on the stream, and then what was there before."""
    stream: Any = sys.stdout
    before = stream.write

    def write(text: str) -> Any:
        history.append(text)
        return before(text)
    stream.write = write
    try:
        yield
    finally:
        stream.write = before


@pytest.mark.parametrize('first', ['in a cell', 'outside'])
def test_a_write_that_is_put_there_for_each_cell_is_watched_and_noted_once(first: str, keeper: Keeper) -> None:
    stream, history = io.StringIO(), list[str]()
    call = wrap(lambda text: print(text))
    with contextlib.redirect_stdout(stream):
        capture = Capture()
        capture.start()
        if first == 'outside':
            call('zero')
        for text in ('one', 'two', 'three'):
            with cell(history):
                call(text)
                call(text)
        call('four')
        with cell(history):
            call('five')
            capture.stop()
            print('six')
        print('seven')
    said = ['zero'] * (first == 'outside') + ['one', 'one', 'two', 'two', 'three', 'three', 'four', 'five']
    assert [keeper.said(index) for index in range(len(keeper.calls))] == [[('out', f'{word}\n')] for word in said]
    assert stream.getvalue().split() == [*said, 'six', 'seven']
    assert ''.join(history).split() == ['one', 'one', 'two', 'two', 'three', 'three', 'five', 'six']


def test_what_another_thread_prints_at_that_moment_is_its_own(keeper: Keeper, capture: Capture) -> None:
    """A write that waits within one of ours keeps no other call's print from being noted."""
    inside, go = threading.Event(), threading.Event()

    class Slow(io.StringIO):
        def write(self, text: str) -> int:
            if text == 'slow':
                inside.set()
                go.wait(60)
            return super().write(text)

    with contextlib.redirect_stdout(Slow()):
        thread = threading.Thread(target=wrap(lambda: print('slow', end='')))
        thread.start()
        inside.wait(60)
        wrap(lambda: print('quick', end=''))()
        go.set()
        thread.join()
    assert (keeper.said(0), keeper.said(1)) == ([('out', 'slow')], [('out', 'quick')])


def test_a_stream_without_room_for_attributes_is_left_alone(capture: Capture, keeper: Keeper) -> None:
    class Tight:
        __slots__ = ('got',)

        def __init__(self) -> None:
            self.got = ''

        def write(self, text: str) -> None:
            self.got += text

    tight = Tight()
    with contextlib.redirect_stdout(tight):  # type: ignore[type-var]
        wrap(lambda: print('x'))()
    assert tight.got == 'x\n'
    assert keeper.said() == []


@pytest.mark.parametrize('missing', ['None', 'deleted'])
def test_no_stdout_at_all(missing: str, capture: Capture, keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    if missing == 'None':
        monkeypatch.setattr(sys, 'stdout', None)
    else:
        monkeypatch.delattr(sys, 'stdout')
    wrap(lambda: print('still', file=sys.stderr))()
    assert keeper.said() == [('err', 'still\n')]


def test_one_object_for_both_streams_is_noted_once(capture: Capture, keeper: Keeper) -> None:
    both = io.StringIO()
    with contextlib.redirect_stdout(both), contextlib.redirect_stderr(both):
        wrap(lambda: (print('o'), print('e', file=sys.stderr)))()
    assert keeper.said() == [('out', 'o\n'), ('out', 'e\n')]
    assert both.getvalue() == 'o\ne\n'


def test_a_stream_lives_no_longer_for_being_watched(capture: Capture, keeper: Keeper) -> None:
    gc.collect()
    gc.disable()
    try:
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream):
            wrap(lambda: print('x'))()
        alive = weakref.ref(stream)
        del stream
        assert alive() is None
    finally:
        gc.enable()
    assert keeper.said() == [('out', 'x\n')]


def test_a_subclass_of_str_is_kept_as_text(capture: Capture, keeper: Keeper) -> None:
    class Text(str):
        __slots__ = ()

    wrap(lambda: sys.stdout.write(Text('plain')))()
    output = keeper.calls[0].output
    assert output is not None
    assert [type(entry.text) for entry in output.entries] == [str]


# What Python cannot tell apart, or that does not pass the text stream.

def test_writes_to_the_descriptor_are_not_captured(
        capture: Capture, keeper: Keeper, capfd: pytest.CaptureFixture[str]) -> None:
    wrap(lambda: os.write(1, b'raw\n'))()
    assert capfd.readouterr().out == 'raw\n'
    assert keeper.said() == []


def test_bytes_written_to_the_buffer_are_not_captured(
        capture: Capture, keeper: Keeper, capfd: pytest.CaptureFixture[str]) -> None:
    wrap(lambda: (sys.stdout.buffer.write(b'bytes\n'), sys.stdout.flush()))()
    assert capfd.readouterr().out == 'bytes\n'
    assert keeper.said() == []


def test_subprocesses_are_not_captured(capture: Capture, keeper: Keeper, capfd: pytest.CaptureFixture[str]) -> None:
    wrap(lambda: subprocess.run([sys.executable, '-c', 'print("child")'], check=True))()
    assert capfd.readouterr().out == 'child\n'
    assert keeper.said() == []


def test_threads_that_the_call_starts_are_not_captured(
        capture: Capture, keeper: Keeper, capsys: pytest.CaptureFixture[str]) -> None:
    def body() -> None:
        thread = threading.Thread(target=print, args=('from a thread',))
        thread.start()
        thread.join()

    wrap(body)()
    assert capsys.readouterr().out == 'from a thread\n'
    assert keeper.said() == []


def test_a_thread_in_a_copy_of_the_context_is_captured_while_the_call_runs(capture: Capture, keeper: Keeper) -> None:
    import asyncio
    import contextvars
    go = threading.Event()
    left: list[threading.Thread] = []

    def late() -> None:
        go.wait(10)
        print('too late')

    def body() -> None:
        async def main() -> None:
            await asyncio.to_thread(print, 'in a copy')
        asyncio.run(main())
        left.append(threading.Thread(target=contextvars.copy_context().run, args=(late,)))
        left[0].start()

    wrap(body)()
    go.set()
    left[0].join()
    assert keeper.said() == [('out', 'in a copy\n')]


class Broken(io.StringIO):
    """A stream whose reader has gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError('nobody reads')


@pytest.mark.parametrize('way', ['print', 'warn'])
def test_an_error_of_what_is_watched_has_no_frame_of_ours(
        way: str, capture: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise BrokenPipeError('nobody reads')

    def body() -> None:
        if way == 'print':
            print('x')
        else:
            warnings.warn('x', stacklevel=1)

    with contextlib.redirect_stdout(Broken()), warnings.catch_warnings():
        warnings.simplefilter('always')
        monkeypatch.setattr(warnings, 'showwarning', refuse)
        with pytest.raises(BrokenPipeError) as raised:
            wrap(body)()
    names = [os.path.basename(frame.f_code.co_filename) for frame, _ in traceback.walk_tb(raised.value.__traceback__)]
    assert names[-1] == os.path.basename(__file__)
    assert not {'streams.py', 'messages.py'}.intersection(names)
