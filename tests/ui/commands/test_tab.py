"""Tab at a stop offers what the command takes, and nothing else."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scripted_user import ScriptedUser, context_of

from pyfuncdbg import tf
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.ui.commands.alias import aliases
from pyfuncdbg.ui.commands.completion import completions

Look = Callable[..., list[str]]


def update(target: Any, scale: Any) -> Any:
    shifted = target + scale
    return shifted          # noqa: RET504


@pytest.fixture(scope='module')
def offered() -> Any:
    """What Tab offered at a line of `update`, and before the node `out`: by where, text and lines before."""
    answers: dict[tuple[str, str, str], list[str]] = {}
    wanted = [('frame', text, before) for text, before in FRAME] + [('node', text, '') for text in NODE]

    def look(where: str) -> Callable[[Stop], None]:
        def at(stop: Stop) -> None:
            aliases['mine'] = 'p target'
            number = debugger.breakpoints.set('update', 'target.size > 99').number
            for place, text, before in wanted:
                if place == where:
                    found = completions(text, context_of(stop), before)
                    answers[where, text, before] = [text[:found.start] + word for word in found.words]
            debugger.breakpoints.clear(number)
            aliases.clear()
        return at
    with tf.Graph().as_default() as graph:
        target = tf.compat.v1.placeholder(tf.float32, [2], name='target')
        value = tf.numpy_function(update, [target, np.float32(2)], tf.float32, name='update')
        out = tf.add(value, 1.0, name='out/put')
    with ScriptedUser(['into', 'n', 'display shifted', look('frame'), 'node', look('node'), 'cont']) as user:
        debugger.start()
        debugger.plan(__import__('threading').get_native_id()).next_call = True
        with tf.compat.v1.Session(graph=graph) as session:
            session.run(out, {target: [1.0, 2.0]})
    assert user.phases[:4] == ['before', 'line', 'line', 'node']
    return answers


FRAME = {
    ('p ta', ''): ['p target'], ('p target:', ''): ['p target:0'], ('pp shi', ''): ['pp shifted'],
    ('p target.sha', ''): ['p target.shape'], ('whatis sc', ''): ['whatis scale'], ('pt ta', ''): ['pt target:0'],
    ('inject ta', ''): ['inject target:0'], ('inject target:0 ta', ''): ['inject target:0 target'],
    ('ni out', ''): ['ni out/put'], ('to out', ''): ['to out/put'], ('to Sess', ''): [], ('break Sess', ''): [],
    ('lt -f has_n', ''): ['lt -f has_nan'], ('calls --site Sess', ''): [],
    ('break out', ''): ['break out/put'], ('break update i', ''): ['break update if'],
    ('break update if ta', ''): ['break update if target'], ('condition 1 if sc', ''): ['condition 1 if scale'],
    ('swap upda', ''): ['swap update'], ('undisplay ', ''): ['undisplay shifted'],
    ('undisplay sh', ''): ['undisplay shifted'],
    ('up ', ''): [], ('up ta', ''): [], ('next ta', ''): [], ('list ta', ''): [], ('until ta', ''): [], ('pf ta', ''): [],
    ('calls --site up', ''): ['calls --site update'], ('calls ta', ''): [], ('clear upd', ''): ['clear update'],
    ('unalias m', ''): ['unalias mine'], ('alias mi', ''): ['alias mine'], ('mi', ''): ['mine'], ('help unde', ''): [],
    ('help undis', ''): ['help undisplay'], ('x = shi', ''): ['x = shifted'], ('$x = targ', ''): ['$x = target'],
    ('n ;; p ta', ''): ['n ;; p target'], ('', 'for i in target:'): ['    '], ('    p', 'for i in target:'): None,
    ('    shi', 'for i in target:'): ['    shifted'], ('sil', 'commands 1'): ['silent'], ('whati', 'commands 1'): ['whatis'],
    ('calls --sort dur', ''): ['calls --sort duration'], ('catch o', ''): ['catch off', 'catch on'],
    ('tape --as ', ''): ['tape --as dot', 'tape --as mermaid', 'tape --as png', 'tape --as svg',
                          'tape --as text'], ('switch ', ''): None,
    ('source upda', ''): ['source update'], ('upda', ''): None}
NODE = {'p ta': ['p target'], 'pt update:': ['pt update:0'], 'p out/put:': ['p out/put:0'],
        'rewind up': ['rewind update']}


@pytest.mark.parametrize(('text', 'before'), FRAME)
def test_at_a_line(text: str, before: str, offered: Any) -> None:
    expected = FRAME[text, before]
    if expected is not None:
        assert offered['frame', text, before] == expected
    elif text == '    p':                       # Python: no command
        assert '    print' not in offered['frame', text, before] and '    pinfo' not in offered['frame', text, before]
    elif text == 'switch ':
        assert [word.removeprefix(text).isdecimal() for word in offered['frame', text, before]] == [True]
    else:
        assert 'update' in offered['frame', text, before]


@pytest.mark.parametrize('text', NODE)
def test_before_a_node(text: str, offered: Any) -> None:
    assert offered['node', text, ''] == NODE[text]
