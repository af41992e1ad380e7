"""Words that type commands, and the screens that back and forward go through."""
from __future__ import annotations

import pytest

from pyfuncdbg.ui.inspector.desks.desk import Reply
from pyfuncdbg.ui.inspector.lists.links import first_link, link_at, links
from pyfuncdbg.ui.inspector.screen.answer_screen import MOST, ScreenHistory


@pytest.mark.parametrize(('text', 'word', 'command'), [
    ('NaN born in call #313 normalize[26], normalize at train.py:48', '#313', 'call 313'),
    ('NaN born in call #313 normalize[26], normalize at train.py:48', 'normalize[26]', 'call normalize[26]'),
    ('NaN born in call #313 normalize[26], normalize at train.py:48', 'train.py', 'ps train.py:48'),
    ('call #2.17 of the second process', '#2.17', 'call 2.17'),
    ("reached fetch loss:0 in run #29", 'loss:0', 'pt loss:0'),
    ("reached fetch loss:0 in run #29", 'run #29', 'calls --run 29 --kind all'),
    ('in 0  #17:in0 and #17:1', '#17:in0', 'pt #17:in0'),
    ('in 0  #17:in0 and #17:1', '#17:1', 'pt #17:1'),
    ('  0.15  layer1/norm:0   #7  py   NaN 4 from #2', 'layer1', 'pt #7:0'),
    ('  0.15  layer1/norm:0   #7  py   NaN 4 from #2', '#7', 'call 7'),
    ('  0.02  x:0   run 12  feed', 'x:0', 'pt x:0 --run 12'),
    ('layer1/norm:0 f32', 'layer1', 'pt layer1/norm:0'),
    ('function  f  /home/a-b/my_model.py:7 in build', '/home', 'ps /home/a-b/my_model.py:7'),
    ("pyfuncdbg show demo.pfd pt '#313:in0[10]'  the input", 'show', "pt '#313:in0[10]'"),
    ('pyfuncdbg show demo.pfd calls --bad        every call', 'calls', 'calls --bad'),
])
def test_a_word_types_its_command(text, word, command) -> None:
    assert link_at(text, text.index(word)) == command


@pytest.mark.parametrize('text', ['', 'took 3.5 ms at 12:30', '# comment', 'float32[3,4] 0 .. 1', 'mean 4.4', 'http://a.b'])
def test_other_words_type_nothing(text) -> None:
    assert links(text) == [] and first_link(text) == ''


def test_back_and_forward() -> None:
    history = ScreenHistory()
    replies = [Reply(str(number), 'x', '', None) for number in range(MOST + 5)]
    assert history.back() is None and history.forward() is None
    for reply in replies:
        history.add(reply)
    assert len(history) == MOST and history.current is replies[-1]
    assert history.back() is replies[-2] and history.back() is replies[-3]
    history.add(replies[0])                                             # what was further on is forgotten
    assert history.forward() is replies[0] and history.back() is replies[-3]
    assert history.leave() is None and history.position == -1
    history.add(replies[1])                                             # after the panes it is the last
    assert history.back() is replies[0]
    for _ in range(MOST + 5):
        history.back()
    assert history.current is None and history.forward() is replies[5]
