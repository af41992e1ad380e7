"""What a program printed or named can neither act on the terminal nor be read as markup."""
from __future__ import annotations

from hypothesis import given, strategies as st

from pyfuncdbg.ui.views.escape import label, one_line, shorten, visible

ANY_TEXT = st.text(st.characters(codec=None), max_size=60)


@given(ANY_TEXT)
def test_nothing_but_printable_characters_and_newlines_is_left(text):
    shown = visible(text)
    assert all(c == '\n' or c.isprintable() for c in shown)
    shown.encode('utf-8')                       # lone surrogates would raise here
    assert shown.count('\n') == text.count('\n')


@given(st.text(st.characters(categories=('L', 'N', 'P', 'S')), max_size=60))
def test_printable_text_is_unchanged(text):
    if text.isprintable():
        assert visible(text) == text


def test_escapes_are_pythons():
    assert visible('a\x1b[31m\rb\x00\u202ec\ud800') == 'a\\x1b[31m\\rb\\x00\\u202ec\\ud800'
    assert visible('é日本') == 'é日本'
    assert visible('a\tb') == 'a   b'


@given(ANY_TEXT, st.integers(1, 40))
def test_one_line_is_one_line_of_at_most_the_limit(text, limit):
    line = one_line(text, limit)
    assert '\n' not in line
    assert len(line) <= limit


def test_both_ends_of_a_long_name_are_kept():
    name = 'layer_1/' + 'x' * 500 + '/norm_7'
    assert shorten(name, 20) == 'layer_1/x...x/norm_7'
    assert shorten('short', 20) == 'short'


def test_markup_is_text(draw):
    assert draw(label('[red]norm[/red] [link=x]y[/link] :smile:')) == '[red]norm[/red] [link=x]y[/link] :smile:\n'


def test_default_colours_of_another_process_are_colours_too():
    from pyfuncdbg.ui.views.escape import keep_styles
    text = '\x1b[94;49mwith\x1b[49m v1\x1b[39;1m:\x1b[0m'
    assert keep_styles(text).startswith(text)
    assert '\x1b' not in keep_styles('\x1b[38mx') and '\x1b' not in keep_styles('\x1b[8mx')
