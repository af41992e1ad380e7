"""Pictures alone: documents that any reader of SVG knows, with what they show, and the same as PNG."""
from __future__ import annotations

import re
import struct
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from written_trace import tensor, trace_of

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.views.sample_trace import sample

SVG = '{http://www.w3.org/2000/svg}'
WAVES = np.sin(np.add.outer(np.arange(6.0), np.arange(9.0)))
WAVES[2, 3], WAVES[4, 5] = np.nan, np.inf


def trace_with(values: np.ndarray, name: str = 'made') -> Trace:
    call = sample().call(1)
    return trace_of([replace(call, site=replace(call.site, name=name), inputs=(), outputs=(tensor(f'{name}:0', values),))])


def drawn(trace: Trace, line: str, path: Path) -> ElementTree.Element:
    answer = execute(f'{line} --as svg -o {path}', Context(trace))
    assert (answer.result.format, answer.result.path, answer.result.nbytes) == ('svg', str(path), path.stat().st_size)
    return ElementTree.fromstring(path.read_text(encoding='utf-8'))


def titles(document: ElementTree.Element) -> list[str]:
    return [str(one.text) for one in document.iter(f'{SVG}title')]


def texts(document: ElementTree.Element) -> list[str]:
    return [str(one.text) for one in document.iter(f'{SVG}text') if one.text]


def test_a_matrix_is_a_heat_map(tmp_path: Path) -> None:
    document = drawn(trace_with(WAVES), 'pt made', tmp_path / 'a.svg')
    assert texts(document)[0] == 'output 0 of call #1 made[0], float64[6, 9]'
    assert len(titles(document)) == 54 and {'[2, 3] = nan', '[0, 1] = 0.841471'} <= set(titles(document))
    assert [text for text in texts(document) if text in ('N', '∞')] == ['N', '∞']
    assert 'N NaN 1   ∞ infinity 1' in texts(document)
    part = drawn(trace_with(WAVES), 'pt made:0[1:3]', tmp_path / 'b.svg')
    assert len(titles(part)) == 18 and texts(part)[0] == 'output 0 of call #1 made[0][1:3], float64[2, 9]'


def test_a_vector_is_a_curve_and_a_cube_one_slice(tmp_path: Path) -> None:
    document = drawn(trace_with(WAVES[2]), 'pt made', tmp_path / 'a.svg')
    assert len(document.findall(f'.//{SVG}path')) == 2 and 'N NaN 1' in texts(document)
    cube = drawn(trace_with(np.stack([np.zeros((6, 9)), WAVES])), 'pt made', tmp_path / 'b.svg')
    assert texts(cube)[0].endswith('float64[2, 6, 9], [1, :, :] of it') and len(titles(cube)) == 54
    assert len(titles(drawn(trace_with(np.array(3.0)), 'pt made', tmp_path / 'c.svg'))) == 1


@pytest.fixture(scope='module')
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp('pictures') / 'it.pfd'
    with pyfuncdbg.record(path):
        with tf.GradientTape() as tape:
            x = tf.constant([3.0, 4.0])
            tape.watch(x)
            y = 2. * tf.py_function(lambda v: v * v, [x], tf.float32, name='square')
        tape.gradient(y, x)
        with pytest.raises(ValueError, match='no'):
            tf.numpy_function(fail, [1.0], tf.float32, name='<b>&"')
    return path


def fail(x):
    raise ValueError('no')


def test_the_timeline_has_a_bar_for_each_call(recorded: Path, tmp_path: Path) -> None:
    with Trace.open(recorded) as trace:
        document = drawn(trace, 'timeline', tmp_path / 'a.svg')
        calls = trace.calls()
    bars = [group for group in document.iter(f'{SVG}g') if group.find(f'{SVG}title') is not None]
    assert sorted(re.match(r'#(\d+) ', titles(bar)[0])[1] for bar in bars) == sorted(call.number for call in calls)
    places = {titles(bar)[0]: bar.find(f'{SVG}rect').attrib for bar in bars}
    failed = next(place for title, place in places.items() if title.endswith('raised'))
    assert failed['class'] == 'pf-failed' and int(failed['height']) > int(next(iter(places.values()))['height'])
    assert any(title.startswith('#') and '<b>&"[0]' in title for title in places)
    starts = [float(places[title]['x']) for title in sorted(places, key=lambda title: next(
        call.started for call in calls if title.startswith(f'#{call.number} ')))]
    assert starts == sorted(starts) and starts[0] >= 110 and starts[-1] <= 1110


def test_the_tape_has_its_steps(recorded: Path, tmp_path: Path) -> None:
    with Trace.open(recorded) as trace:
        document = drawn(trace, 'tape', tmp_path / 'a.svg')
        steps = [call.site.name for call in trace.calls(kind='gradient')]
    assert texts(document)[0].startswith('gradient tape of run ') and len(steps) > 1
    assert {'square', '(leaf)'} <= set(texts(document))


def test_a_document_needs_no_rules_from_elsewhere(recorded: Path, tmp_path: Path) -> None:
    with Trace.open(recorded) as trace:
        documents = [drawn(trace, line, tmp_path / f'{line}.svg') for line in ('timeline', 'tape')]
    documents.append(drawn(trace_with(WAVES), 'pt made', tmp_path / 'heat.svg'))
    for document in documents:
        style = document.find(f'{SVG}style')
        assert style is not None and not re.search(r'var\(|:is|:hover|@|url\(', str(style.text))
        used = {name for one in document.iter() for name in one.attrib.get('class', '').split()}
        known = set(re.findall(r'\.(pf-[\w-]+)', str(style.text)))
        assert used - known <= {'pf-map', 'pf-tape', 'pf-timeline', 'pf-flow-text'}
        assert not [one for one in document.iter() if one.tag.endswith('script') or any('href' in key for key in one.attrib)]


def test_png_is_the_same_picture(tmp_path: Path) -> None:
    pytest.importorskip('resvg_py', reason='needs resvg_py')
    document = drawn(trace_with(WAVES), 'pt made', tmp_path / 'a.svg')
    execute(f'pt made --as png -o {tmp_path}/a.png', Context(trace_with(WAVES)))
    data = (tmp_path / 'a.png').read_bytes()
    assert data.startswith(b'\x89PNG\r\n\x1a\n')
    assert list(struct.unpack('>II', data[16:24])) == [2 * int(float(document.attrib[key])) for key in ('width', 'height')]


def test_what_cannot_be_drawn_or_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    context = Context(trace_with(WAVES))
    assert execute('pt made --as svg', context).result.path == 'made.svg'
    with pytest.raises(CommandError, match=r"'made\.svg' exists already: choose another name with -o"):
        execute('pt made --as svg', context)
    for line in ('pt made', 'timeline', 'tape'):
        with pytest.raises(CommandError, match="-o is the file of a picture: add '--as svg' or '--as png'"):
            execute(f'{line} -o x.svg', context)
    with pytest.raises(CommandError, match=r'datetime64\[Y\]\[2\] has no picture: it takes numbers'):
        execute('pt made --as svg -o t.svg', Context(trace_with(np.array(['2020', '2021'], 'M8[Y]'))))
    with pytest.raises(CommandError, match='--as draws one tensor, no differences'):
        execute('pt made --as svg --diff', context)
    monkeypatch.setitem(sys.modules, 'resvg_py', None)
    with pytest.raises(CommandError, match=r"--as png needs resvg_py: pip install 'pyfuncdbg\[pictures\]'; --as svg needs"):
        execute('pt made --as png', context)
    assert [path.name for path in tmp_path.iterdir()] == ['made.svg']
