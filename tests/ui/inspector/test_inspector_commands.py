"""Commands in the inspector: every key, the command line, screens back and forward, the palette, mistakes of either side."""
from __future__ import annotations

import os
import shutil
import threading

import pytest
from inspecting import click, drive, inspector, opened, press, screen, send, settled, type_line, until
from rich.text import Text
from textual.command import CommandPalette

from pyfuncdbg.ui.inspector.desks.desk import Desk, DeskRequest, Reply
from pyfuncdbg.ui.inspector.desks.saved_trace import SavedDesk
from pyfuncdbg.ui.inspector.screen.keys import keys


def head(shown: str) -> str:
    """The line that names the screen."""
    return next(line for line in shown.split('\n')[1:4] if line.startswith('─'))


TYPED = {'r': ('report', 'NaN born in call #13'), 'h': ('health', 'BORN'), 't': ('lt', 'norm:0'),
         'g': ('tape', 'tape of run #3'), '?': ('help', 'find what went wrong')}
"""The command that a key types on a saved trace, and what its screen shows."""
ELSEWHERE = set('. , f F : / & [ ] z q n s N c w u d p l a r R i b D 1 2 3 4 5 6 7 9 '
                'Ctrl-P Esc Tab Shift-Tab F2 Ctrl-C Ctrl-Z'.split())
"""Keys that other tests press."""


def test_every_key_is_tested() -> None:
    assert {key.shown for key in keys()} <= ELSEWHERE | set(TYPED)


@pytest.mark.parametrize('key', TYPED)
def test_a_key_types_its_command(trace, key) -> None:
    async def test() -> None:
        async with opened(trace) as pilot:
            shown = await press(pilot, 'question_mark' if key == '?' else key)
            line, text = TYPED[key]
            assert text in shown
            assert head(shown).startswith(f'─{line}─')
            assert '[2 source]' in await press(pilot, 'escape') and not inspector(pilot).result.here
    drive(test)


def test_the_tape_of_the_run_that_is_looked_at(tmp_path) -> None:
    from pyfuncdbg import tf
    from pyfuncdbg.observers.record.recorder import Recorder
    with Recorder(tmp_path / 't.pfd') as recorder:
        for n in range(2):
            with tf.GradientTape() as tape:
                v = tf.constant([1.0 + n])
                tape.watch(v)
                y = tf.py_function(lambda x: x * 2.0, [v], tf.float32, name=f'eager{n}')
            tape.gradient(y, v)
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            x = tf.compat.v1.placeholder(tf.float32, [1], name='x')
            z = tf.py_function(lambda x: x * x, [x], tf.float32, name='square')
            slope = tf.gradients(z, x)[0]
            for n in range(2):
                session.run(slope, {x: [float(n)]})
        trace = recorder.trace()
    with trace:
        graph = [call for call in trace.calls(kind='python') if call.site.name == 'square']
        eager = [call for call in trace.calls(kind='python') if call.site.name.startswith('eager')]
        steps = {step.forward: step.run for step in trace.calls(kind='gradient')}

    async def test() -> None:
        async with opened(tmp_path / 't.pfd') as pilot:
            for call, run in [(graph[0], graph[0].run), (graph[1], graph[1].run), (eager[0], steps[eager[0].number])]:
                await type_line(pilot, f'call {call.number}')
                shown = await press(pilot, 'g')
                assert head(shown).startswith(f'─tape --run {run} ') and f'tape of run #{run}' in shown, shown
    drive(test)


def test_keys_for_a_program_that_runs_are_not_offered_on_a_saved_trace(trace) -> None:
    async def test() -> None:
        async with opened(trace) as pilot:
            before = screen(pilot)
            assert "'next' needs a stopped thread, and no thread is stopped" in await type_line(pilot, 'next')
            assert ' n ' not in before.split('\n')[-1]
    drive(test)


def test_screens_back_and_forward(trace) -> None:
    async def test() -> None:
        async with opened(trace) as pilot:
            await type_line(pilot, 'call 1')
            assert 'norm[0]' in screen(pilot).split('\n')[0]            # the panes follow
            await type_line(pilot, 'pt #1:in0')
            shown = await press(pilot, 'r')
            assert head(shown).startswith('─report  (3 of 3)')
            assert head(await press(pilot, 'left_square_bracket')).startswith('─pt #1:in0  (2 of 3)')
            assert head(await press(pilot, 'alt+left')).startswith('─call 1  (1 of 3)')
            shown = await press(pilot, 'left_square_bracket')
            assert not inspector(pilot).result.here and 'def normalize' in shown
            assert head(await press(pilot, 'right_square_bracket')).startswith('─call 1')
            shown = await press(pilot, 'alt+right')
            assert head(shown).startswith('─pt #1:in0  (2 of 3)')
            assert head(await type_line(pilot, 'info')).startswith('─info  (3 of 3)')     # the report is forgotten
            await pilot.resize_terminal(60, 20)
            assert 'Python 3.' in await press(pilot) and max(map(len, screen(pilot).split('\n'))) <= 60
    drive(test)


def test_a_mistake_is_one_message_and_changes_nothing(trace) -> None:
    async def test() -> None:
        async with opened(trace) as pilot:
            shown = await type_line(pilot, 'call 99')
            assert 'call 99: There is no call 99' in shown and 'norm[2]' in shown.split('\n')[0]
            shown = await type_line(pilot, 'repotr')
            assert "repotr: unknown command 'repotr'." in shown and 'report' in shown.split("'repotr'.")[1]
            assert not inspector(pilot).result.here and len(inspector(pilot).result.history) == 0
            assert 'unknown' not in await press(pilot, 'escape')
            assert 'not a range' in await type_line(pilot, "pt #13:0 -r '[1'")
    drive(test)


def test_completion_and_history(trace) -> None:
    async def test() -> None:
        kept: list[str] = []
        async with opened(trace, past=('calls --bad', 'info'), keep=kept.append) as pilot:
            line = inspector(pilot).query_one('#line')
            await press(pilot, 'colon', *'in')
            shown = await press(pilot, 'tab')
            assert line.value == 'in' and {'info', 'inject', 'interact'} <= set(shown.split())
            for _ in range(20):
                if line.value != 'info':
                    await press(pilot, 'tab')
            await press(pilot, 'enter')
            assert inspector(pilot).result.history.current.line == 'info' and kept == []
            await press(pilot, 'colon', *'repo', 'tab', 'enter')
            assert inspector(pilot).result.history.current.line == 'report' and kept == ['report']
            await press(pilot, 'colon', 'up')
            assert line.value == 'report'
            await press(pilot, 'up', 'up')
            assert line.value == 'calls --bad'
            await press(pilot, 'up')
            assert line.value == 'calls --bad'
            await press(pilot, 'down', 'down', 'down')
            assert line.value == ''
            await press(pilot, *'pt', 'space', *'norm[2', 'tab')
            assert line.value.startswith('pt norm[2]')
            await press(pilot, 'escape')
            assert inspector(pilot).focused is inspector(pilot).result
    drive(test)


def test_the_palette_finds_commands_nodes_and_calls(trace) -> None:
    async def test() -> None:
        async with opened(trace) as pilot:
            for typed, wanted in (('heal', 'health'), ('best', 'ni best'), ('#7', 'call 7')):
                await press(pilot, 'ctrl+p')
                assert isinstance(pilot.app.screen, CommandPalette)
                await press(pilot, *typed)
                await until(pilot, wanted.split()[-1])
                await settled(pilot)
                await press(pilot, 'enter')
                await settled(pilot)
                if isinstance(pilot.app.screen, CommandPalette):
                    await press(pilot, 'enter')
                    await settled(pilot)
                assert inspector(pilot).result.history.current.line == wanted
            await press(pilot, 'ctrl+p')
            await press(pilot, *'inject')
            await press(pilot, 'enter')
            await settled(pilot)
            await press(pilot)
            assert inspector(pilot).query_one('#line').value.startswith('inject')
    drive(test)


def test_words_on_a_screen_type_commands(trace) -> None:
    async def test() -> None:
        async with opened(trace, (160, 50)) as pilot:
            await press(pilot, 'r')
            shown = await click(pilot, "pt '#13:in0[1]'")
            assert head(shown).startswith("─pt '#13:in0[1]'")
            await press(pilot, 'left_square_bracket')                   # a screen is drawn again
            await press(pilot, 'home', 'slash', *'born', 'enter', 'escape')
            assert head(await press(pilot, 'enter')).startswith('─call 13')
    drive(test)


def test_light_and_dark(trace) -> None:
    async def test() -> None:
        async with opened(trace) as pilot:
            dark = inspector(pilot).shown.background_colors[1].brightness
            await press(pilot, 'f2')
            assert inspector(pilot).shown.background_colors[1].brightness > 0.5 > dark
            colours = {segment.style.color.get_truecolor() for segment in inspector(pilot).shown.render_line(0)
                       if segment.style and segment.style.color}
            assert colours
            assert not [segment for line in inspector(pilot).shown.drawing.lines for segment in line.strip
                        if segment.style and segment.style.bgcolor]         # no patches of another background
            await press(pilot, 'f2')
            assert inspector(pilot).shown.background_colors[1].brightness == dark
    drive(test)


def test_quit(trace) -> None:
    async def test() -> None:
        for leave in (lambda pilot: press(pilot, 'q'), lambda pilot: type_line(pilot, 'quit')):
            async with opened(trace) as pilot:
                await leave(pilot)
                assert (pilot.app.return_code == 0 and not pilot.app.is_running) or pilot.app._exit
    drive(test)


class Broken(SavedDesk):
    """A desk in which everything of ours fails."""

    def answer(self, line: str, width: int, request: DeskRequest | None = None) -> Reply:
        raise ZeroDivisionError('not your\nfault')

    def complete(self, text: str, position: int, request: DeskRequest | None = None) -> tuple[list[str], int]:
        raise ZeroDivisionError


class Endless(SavedDesk):
    """A program that sends two more commands with each answer."""

    answered = 0

    def answer(self, line: str, width: int, request: DeskRequest | None = None) -> Reply:
        self.answered += 1
        return Reply(line, 'info', Text(), None, later=('info', 'info') if line == 'info' else ())


def test_a_program_cannot_send_commands_without_end(trace) -> None:
    async def test() -> None:
        desk = Endless(trace)
        async with opened(desk) as pilot:
            shown = await type_line(pilot, 'info')
            assert 'info: a line expands to more than 1,000 commands; the rest is dropped' in shown
            answered = desk.answered
            assert answered < 1_000
            await type_line(pilot, 'calls')     # the user's own comes
            assert desk.answered == answered + 1
    drive(test)


class Blind:
    """A trace that cannot be asked."""

    def __getattr__(self, name: str):
        raise RuntimeError(f'no {name}')


def test_a_mistake_of_ours_is_one_line_and_the_app_goes_on(trace) -> None:
    async def test() -> None:
        async with opened(Broken(trace)) as pilot:
            shown = await press(pilot, 'r')
            assert 'report: pyfuncdbg failed here: ZeroDivisionError: not your\\nfault' in shown and 'def normalize' in shown
            await press(pilot, 'colon', *'repo', 'tab')
            await press(pilot, 'escape')
            inspector(pilot).desk.trace = Blind()
            inspector(pilot).panes.repaint()
            shown = await press(pilot, '1')
            assert 'pyfuncdbg failed here: RuntimeError: no ' in shown
            assert 'RuntimeError' in await press(pilot, 'full_stop')
    drive(test)


def test_the_next_key_is_for_the_panes_at_once(trace) -> None:
    """Under load it may come before any message has: it would be put into the line, and Enter would be taken for a row."""
    async def test() -> None:
        async with opened(trace) as pilot:
            line = inspector(pilot).query_one('#line')
            for leave in (line.action_submit, line.run_action):
                await press(pilot, 'colon', *'inf')
                assert inspector(pilot).focused is line
                await (leave() if leave == line.action_submit else leave('give_up'))
                assert inspector(pilot).focused is inspector(pilot).shown
                await settled(pilot)
    drive(test)


class Slow(SavedDesk):
    """A desk whose commands take until they are broken off."""

    def __init__(self, path) -> None:
        super().__init__(path)
        self.broken_off = threading.Event()

    def answer(self, line: str, width: int, request: DeskRequest | None = None) -> Reply:
        if line == 'report' and request is not None:
            request.under_way(self.broken_off.set)
            assert self.broken_off.wait(60)
            return Reply(line, 'report', '', None, 'interrupted')
        return super().answer(line, width, request)


def test_keys_work_while_a_command_runs_and_break_it_off(trace) -> None:
    async def test() -> None:
        desk: Desk = Slow(trace)
        async with opened(desk) as pilot:
            send(pilot, 'r', 'home', 'down', 'down')
            await pilot.pause()
            assert inspector(pilot).shown.cursor == 2 and not desk.broken_off.is_set()
            await type_line_while_busy(pilot, 'info')
            await press(pilot, 'escape')
            assert desk.broken_off.is_set()
            assert head(screen(pilot)).startswith('─info')              # what was typed meanwhile came next
    drive(test)


async def type_line_while_busy(pilot, line: str) -> None:
    send(pilot, 'colon', *line, 'enter')
    await pilot.pause()


@pytest.mark.parametrize(('width', 'there'), [
    (80, ['& filter', '? help', 'q quit']), (48, ['? help', 'q quit']), (160, [': type', '& filter', '. next', 'q quit'])])
def test_the_keys_at_the_bottom_fit_and_the_way_out_is_among_them(trace, width, there) -> None:
    async def test() -> None:
        async with opened(trace, (160, 30)) as pilot:
            await pilot.resize_terminal(width, 30)
            await settled(pilot)
            last = screen(pilot).rstrip().split('\n')[-1]
            assert all(f' {key} ' in f' {last} ' for key in there) and last.endswith('q quit')
            assert (': type' in last) == (': type' in there)
    drive(test)


def test_the_header_has_whole_words_or_says_that_it_is_cut(trace) -> None:
    async def test() -> None:
        async with opened(trace, (160, 30)) as pilot:
            assert screen(pilot).split('\n')[0].rstrip().endswith('KB')
            for width in range(150, 40, -7):
                await pilot.resize_terminal(width, 30)
                await settled(pilot)
                header = screen(pilot).split('\n')[0].rstrip()
                assert header.endswith(('KB', '…', ' in run #4')), header
    drive(test)


def test_the_header_says_that_a_part_of_the_trace_cannot_be_read(trace, tmp_path) -> None:
    async def test() -> None:
        async with opened(trace, (160, 30)) as pilot:
            assert 'DAMAGED' not in screen(pilot)
        copied = shutil.copytree(trace, tmp_path / 'cut.pfd')
        (log,) = copied.glob('*.log')
        os.truncate(log, log.stat().st_size - 3)
        async with opened(copied, (160, 30)) as pilot:
            assert '  DAMAGED (info tells where)  ' in screen(pilot).split('\n')[0]
            await type_line(pilot, 'info')
            assert f'damaged: {log.name}: ends in the middle of a record' in screen(pilot)
    drive(test)


def test_values_of_options_are_completed(trace) -> None:
    desk = SavedDesk(trace)
    try:
        assert desk.complete('calls --sort d', 14) == (['duration'], 13)
        words, start = desk.complete('lt --sort ', 10)
        assert start == 10 and {'time', 'bytes', 'flags'} <= set(words) and not any('#' in word for word in words)
    finally:
        desk.close()


def test_times_of_one_run_count_from_its_start(trace) -> None:
    desk = SavedDesk(trace)
    try:
        whole, of_run = desk.answer('lt', 160).data, desk.answer('lt --run 4', 160).data
        assert whole['time_origin'] == 0 and of_run['time_origin'] > 0
        run = desk.trace.calls(kind='run', run=4)[0]
        assert of_run['time_origin'] == run.started <= min(call['started'] for call, _ in of_run['rows'])
    finally:
        desk.close()
