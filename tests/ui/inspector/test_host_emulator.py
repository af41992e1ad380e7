"""The terminal emulator of the program's pane: what a real terminal would show."""
from __future__ import annotations

import io

import pytest
from hypothesis import given, settings, strategies as st
from rich.console import Console
from rich.progress import track

from pyfuncdbg.ui.inspector.hosting.keystrokes import encode_key, encode_paste
from pyfuncdbg.ui.inspector.hosting.terminal_emulator import HISTORY, Emulator


def shown(emulator: Emulator) -> list[str]:
    return [''.join(part.text for part in emulator.segments(number)).rstrip() for number in range(emulator.height)]


def fed(*data: bytes, size: tuple[int, int] = (20, 4)) -> Emulator:
    emulator = Emulator(*size, lambda keys: None)
    for part in data:
        emulator.feed(part)
    return emulator


def test_a_progress_bar_stays_on_its_line() -> None:
    assert shown(fed(b'a\r\n', *(b'\rstep %d' % n for n in range(30)))) == ['a', 'step 29', '', '']


def test_lines_that_leave_the_screen_can_be_scrolled_back_to() -> None:
    emulator = fed(*(b'line %d\r\n' % n for n in range(10)))
    assert emulator.height == 7 + 4
    assert shown(emulator) == [f'line {n}' for n in range(10)] + ['']
    assert emulator.cursor == (0, 10)


def test_the_scrollback_is_bounded() -> None:
    emulator = fed(b''.join(b'%d\r\n' % n for n in range(HISTORY + 100)))
    assert emulator.height == HISTORY + 4
    assert shown(emulator)[-2] == str(HISTORY + 99)


def test_long_lines_wrap_and_wide_characters_take_two_columns() -> None:
    assert shown(fed('123456789012345678901 日本é'.encode())) == ['12345678901234567890', '1 日本é', '', '']


def test_bytes_of_a_character_and_sequences_may_come_in_parts() -> None:
    emulator = fed(b'\xe6\x97', b'\xa5\x1b', b'[3', b'1mred', b'\x1b]0;tit', b'le\x07.')
    assert shown(emulator)[0] == '日red.'
    assert emulator.segments(0)[-1].style.color.name == 'red'


@pytest.mark.parametrize(('data', 'expected'), [
    (b'\x1b[>4;1mplain\x1b[?4mx', 'plainx'), (b'\x1b[4:3mcurly\x1b[0m', 'curly'), (b'\x1bP+q544e\x1b\\after', 'after'),
    (b'\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\', 'link'), (b'\x1b[2 qbar', 'bar'), (b'\x1b[?1;2cx', 'x'),
    (b'a\x1b[99;99;99;99Hb', 'ab'), (b'a\x1b[9Jb', 'ab'), (b'\x01\x02ok\x07', 'ok')])
def test_what_it_does_not_know_leaves_no_trace_on_the_screen(data: bytes, expected: str) -> None:
    emulator = fed(data)
    assert ''.join(shown(emulator)).strip() == expected
    assert all(not (part.style and (part.style.underline or part.style.bold)) for part in emulator.segments(0))


@pytest.mark.parametrize(('data', 'expected'), [
    (b'ab\x1b[3b.', ['abbbb.', '', '', '']), (b'\x1b(0lqk\x1b(Bq', ['┌─┐q', '', '', '']),
    (b'1\r\n2\r\n3\x1b[Sx', ['2', '3', ' x', '']), (b'1\r\n2\r\n3\x1b[2Tx', ['', '', '1x', '2']),
    (b'1\r\n2\r\n3\x1b[1;2r\x1b[Tx', ['x', '1', '3', '']), (b'0123456789\x1b[Zx', ['01234567x9', '', '', '']),
    ('é\x1b[2b'.encode(), ['ééé', '', '', ''])])
def test_what_curses_sends_to_xterm(data: bytes, expected: list[str]) -> None:
    assert shown(fed(data))[-4:] == expected


def test_colours_and_looks() -> None:
    emulator = fed(b'\x1b[1;32mg\x1b[0m\x1b[38;5;208mo\x1b[38;2;1;2;3mr\x1b[0;7mi\x1b[0;93;44my\x1b[0m.')
    green, orange, rgb, inverse, yellow, plain = emulator.segments(0)
    assert green.style.bold and green.style.color.name == 'green'
    assert orange.style.color.name == '#ff8700' and rgb.style.color.name == '#010203'
    assert inverse.style.reverse and yellow.style.color.name == 'bright_yellow' and yellow.style.bgcolor.name == 'blue'
    assert plain.text == '.' and not plain.style


def test_the_alternate_screen_gives_the_first_one_back() -> None:
    emulator = fed(b'before\r\n', b'\x1b[?1049h\x1b[Hfull screen\r\n' * 3)
    assert shown(emulator) == ['full screen', '', '', ''] and emulator.alternate
    emulator.feed(b'\x1b[?1049lafter')
    assert shown(emulator) == ['before', 'after', '', ''] and not emulator.alternate


def test_it_answers_where_the_cursor_is() -> None:
    answers: list[bytes] = []
    emulator = Emulator(20, 4, answers.append)
    emulator.feed(b'ab\r\ncd\x1b[6n\x1b[5n')
    assert answers == [b'\x1b[2;3R', b'\x1b[0n']


def test_another_size_keeps_what_was_written() -> None:
    emulator = fed(*(b'line %d\r\n' % n for n in range(6)), b'$ ')
    emulator.resize(10, 2)
    assert shown(emulator)[-2:] == ['line 5', '$'] and len(shown(emulator)) == 7
    emulator.resize(30, 5)
    assert shown(emulator) == [*(f'line {n}' for n in range(6)), '$']
    assert emulator.cursor == (2, 6)
    emulator.resize(1, 1)
    emulator.feed(b'\r\nlong line')
    assert emulator.height > 9


def test_the_last_lines_without_the_empty_ones() -> None:
    lines = fed(b'one\r\n\r\n\x1b[1mtwo\x1b[0m\r\n\r\n', size=(20, 10)).last_lines(2)
    assert [''.join(part.text for part in line) for line in lines] == ['', 'two']


def test_the_last_lines_of_a_program_that_writes_on_end_at_the_cursor() -> None:
    def last(text: bytes) -> list[str]:
        lines = fed(text, size=(20, 10)).last_lines(3, to_cursor=True)
        return [''.join(part.text for part in line) for line in lines]
    assert last(b'one\r\ntwo\r\n') == ['one', 'two', '']
    assert last(b'one\r\nname? ') == ['one', 'name? ']
    assert last(b'one\r\n\x1b[4C') == ['one', '    ']
    assert last(b'') == ['']


def test_rich_progress_as_it_looks_on_a_terminal() -> None:
    emulator = Emulator(60, 6, lambda keys: None)
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=60, color_system='truecolor', legacy_windows=False)
    for _ in track(range(3), 'training', console=console):
        console.print('[red]hello[/]')
    emulator.feed(file.getvalue().replace('\n', '\r\n').encode())
    assert shown(emulator)[:3] == ['hello'] * 3
    assert shown(emulator)[3].startswith('training ━') and '100%' in shown(emulator)[3]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(st.binary(max_size=30), st.sampled_from(
    [b'\x1b[', b'\x1b[?', b'1049h', b'\x1b[5;2r', b'\x1b[?6h', b'\x1b[2J', b'\x1b[99d', b'\x1b#8', b'\x1bc', b'\x1bM', b'3L',
     b'\x1b[?3h', b'\x1b[4h', b'\r\n', b'\t', b'\x1b7', b'\x1b8', b'\x1b[0;0H', b'\x1b[999@',
     b'\xf0\x9f\x98\x80'])), max_size=20))
def test_any_bytes_are_survived(parts: list[bytes]) -> None:
    emulator = fed(*parts)
    emulator.resize(7, 3)
    emulator.feed(b'\x18\x1b\\\x1b[?1049l\x1b[r\x1b[0m\x1b[2J\x1b[Hfine')
    assert all(sum(part.cell_length for part in emulator.segments(number)) <= 8 for number in range(emulator.height))


@pytest.mark.parametrize(('key', 'character', 'sent'), [
    ('a', 'a', b'a'), ('enter', '\r', b'\r'), ('ctrl+c', '\x03', b'\x03'), ('ctrl+d', None, b'\x04'),
    ('ctrl+z', None, b'\x1a'),
    ('up', None, b'\x1b[A'), ('shift+right', None, b'\x1b[1;2C'), ('ctrl+left', None, b'\x1b[1;5D'), ('f1', None, b'\x1bOP'),
    ('f5', None, b'\x1b[15~'), ('delete', None, b'\x1b[3~'), ('alt+b', 'b', b'\x1bb'), ('backspace', None, b'\x7f'),
    ('tab', '\t', b'\t'), ('shift+tab', None, b'\x1b[Z'), ('é', 'é', 'é'.encode()), ('question_mark', '?', b'?'),
    ('ctrl+backslash', None, b'\x1c'), ('space', ' ', b' '), ('escape', None, b'\x1b'), ('f20', None, b'')])
def test_keys_are_sent_as_terminals_send_them(key: str, character: str | None, sent: bytes) -> None:
    assert encode_key(key, character) == sent


def test_arrows_for_programs_that_ask_for_the_other_form() -> None:
    emulator = fed(b'\x1b[?1h\x1b[?2004h')
    assert emulator.application_keys and emulator.brackets_paste
    assert encode_key('up', None, application=True) == b'\x1bOA'


def test_pasted_text_cannot_type_control_characters() -> None:
    assert encode_paste('a\nb\x03\x1b[201~', brackets=False) == b'a\rb[201~'
    assert encode_paste('a', brackets=True) == b'\x1b[200~a\x1b[201~'
