"""Source lines as a record knows them, or the reason why it does not."""
from __future__ import annotations

from dataclasses import replace

import pytest

from pyfuncdbg.ui.views.sample_trace import sample
from pyfuncdbg.ui.views.sources.source import excerpt, line_text, parameters, place, site_place

SITE = sample().call(3).site


def test_a_record_knows_the_lines_of_its_function():
    assert line_text(SITE.source_at('model.py', 44), 44).plain == 'return (x - mu) / sd'
    assert line_text(SITE.source_at('model.py', 45), 45).plain == '(source not recorded)'
    assert line_text(SITE.source_at('other.py', 44), 44).plain == '(source not recorded)'
    assert line_text(SITE.source_at('other.py', 44), 44, '/v/site-packages/other.py').plain == ''


def test_the_place_of_a_node_without_a_function_is_the_line_that_made_it():
    assert site_place(SITE).plain == 'model.py:39'
    made = SITE.stack[-1]
    assert site_place(replace(SITE, filename='', line=0)).plain == f'{made.filename.rpartition("/")[2]}:{made.line}'
    assert site_place(replace(SITE, filename='', line=0, stack=())).plain == 'unknown place'


def test_excerpt_marks_the_line():
    assert excerpt(SITE.source_at('model.py', 44), 44).plain.splitlines() == [
        '  42 | if sd.min() == 0:', "  43 |     print('row', sd.argmin(), 'constant')", '> 44 | return (x - mu) / sd']
    assert excerpt(SITE.source_at('model.py', 39), 39).plain.startswith('> 39 | def normalize(x, eps=1e-6):\n  40 |     mu')
    assert excerpt(SITE.source_at('nowhere.py', 44), 44).plain == '(source not recorded)'


def test_a_form_feed_ends_no_line():
    site = replace(SITE, source='def f():\n    \x0c\n    a = "\u2028"\n    return 1\n')
    assert line_text(site.source_at('model.py', 42), 42).plain == 'return 1'


def test_a_line_of_source_cannot_act_on_the_terminal():
    site = replace(SITE, source='\x1b[2J\r[red]x[/]\n')
    assert line_text(site.source_at('model.py', 39), 39).plain == '\\x1b[2J\\r[red]x[/]'
    assert '\x1b' not in excerpt(site.source_at('model.py', 39), 39).plain


@pytest.mark.parametrize(('source', 'names'), [
    ('    def f(self, x, *, k):\n        pass\n', ('self', 'x')), ('f = lambda a, b: a', ('a', 'b')),
    ('lambda a: a), 3', ()), ('(' * 5000, ()), ('def f(x):\n  \0', ()), ('', ()),
])
def test_parameters_are_read_from_the_text(source, names):
    assert parameters(replace(SITE, source=source)) == names


def test_places_show_the_file_name_only():
    assert place('/home/me/model.py', 42).plain == 'model.py:42'
    assert place('/home/me/model.py', 42, full=True).plain == '/home/me/model.py:42'
    assert place('<ipython-input-1>', 2).plain == '<ipython-input-1>:2'
    assert place('', 0).plain == 'unknown place'
