"""Source text: the recorded one first, files only if they are plain and small."""
from __future__ import annotations

import os
from dataclasses import replace

import pytest

from pyfuncdbg.views.sample import sample
from pyfuncdbg.views.source import excerpt, line_text, parameters, place

SITE = sample().call(3).site


def test_the_recorded_text_wins_over_the_file(tmp_path):
    file = tmp_path / 'model.py'
    file.write_text('changed\n' * 100)
    site = replace(SITE, filename=str(file))
    assert line_text(str(file), 44, site) == 'return (x - mu) / sd'
    assert line_text(str(file), 50, site) == 'changed'
    assert line_text(str(file), 101, site) == ''


def test_excerpt_marks_the_line():
    assert excerpt('model.py', 44, SITE).plain.splitlines() == [
        '  42 | if sd.min() == 0:', "  43 |     print('row', sd.argmin(), 'constant')", '> 44 | return (x - mu) / sd']
    assert excerpt('model.py', 39, SITE).plain.startswith('> 39 | def normalize(x, eps=1e-6):\n  40 |     mu')
    assert not excerpt('nowhere.py', 44, SITE)


@pytest.mark.parametrize('name', ['/dev/zero', '/nowhere/x.py', '', 'a\0b', '/', '/proc/self/mem'])
def test_what_is_no_file_has_no_text(name):
    assert line_text(name, 1) == ''


def test_a_pipe_is_not_read(tmp_path):
    pipe = tmp_path / 'pipe.py'
    os.mkfifo(pipe)
    assert line_text(str(pipe), 1) == ''


def test_a_file_that_cannot_be_decoded_has_no_text(tmp_path):
    file = tmp_path / 'latin.py'
    file.write_bytes(b'\xff\xfe\n')
    assert line_text(str(file), 1) == ''


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
