"""What `replay` and `audit` say before they run anything: which function of which file, and which packages."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pyfuncdbg.observers.debug.replay.named_code import NamedCode, named_code, package_of
from pyfuncdbg.observers.record.snapshots import value_encoding as tags
from pyfuncdbg.ui.inspector.desks.desk import Event
from pyfuncdbg.ui.inspector.desks.saved_trace import SavedDesk

ROOT = Path(__file__).resolve().parents[4]
WIDGETS = '''
def squash(x):
    return x * 2
'''
MODULE = '''
import sys
print('imported', __name__, file=sys.stderr)


class Scaler:
    def __init__(self):
        self.k = 3

    def __call__(self, x):
        return x * self.k
'''
PROGRAM = '''
import numpy as np
from scaling import Scaler
from widgets import squash

from pyfuncdbg import tf


def outer(function):
    def inner(x):
        return function(x)
    return inner


def own(x):
    return squash(x)


for function in (own, squash, outer(squash), outer(Scaler()), Scaler(), np.sqrt):
    tf.numpy_function(function, [np.ones(2)], tf.float64)
'''


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with a module of its own and an installed package, and its recording."""
    folder = tmp_path_factory.mktemp('announced')
    packages = folder / 'env' / 'site-packages'
    (packages / 'widgets').mkdir(parents=True)
    (packages / 'widgets' / '__init__.py').write_text(WIDGETS)
    (packages / 'small_widgets-1.2.dist-info').mkdir()
    (packages / 'small_widgets-1.2.dist-info' / 'METADATA').write_text(
        'Metadata-Version: 2.1\nName: small-widgets\nVersion: 1.2\n')
    (packages / 'small_widgets-1.2.dist-info' / 'top_level.txt').write_text('widgets\n')
    (folder / 'scaling.py').write_text(MODULE)
    (folder / 'train.py').write_text(PROGRAM)
    done = pyfuncdbg(folder, 'run', '--record', 't.pfd', 'train.py')
    assert done.returncode == 0, done.stderr
    return folder


def pyfuncdbg(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(ROOT), str(folder / 'env' / 'site-packages')])
    return subprocess.run([sys.executable, '-m', 'pyfuncdbg', *args], cwd=folder, env={**os.environ, 'PYTHONPATH': path},
                          text=True, capture_output=True, timeout=120)


@pytest.mark.parametrize(('call', 'line'), [
    (1, 'replay runs own ({folder}/train.py) on recorded data'),
    (2, 'replay runs squash of small-widgets 1.2 ({folder}/env/site-packages/widgets/__init__.py) on recorded data'),
    (3, 'replay runs outer.<locals>.inner ({folder}/train.py) on recorded data, and with it squash of small-widgets 1.2; it '
        'imports widgets'),
    (4, 'replay runs outer.<locals>.inner ({folder}/train.py) on recorded data; it imports scaling'),
    (5, 'replay runs Scaler ({folder}/scaling.py) on recorded data'),
    (6, 'replay runs numpy.sqrt on recorded data')])
def test_the_first_line_says_what_will_run(folder: Path, call: int, line: str) -> None:
    """Before a module of the program is imported, for that runs it."""
    done = pyfuncdbg(folder, 'show', 't.pfd', 'replay', str(call))
    first, *others = done.stderr.splitlines()
    assert first == f'pyfuncdbg: {line.format(folder=folder)}'
    assert set(others) <= {'imported scaling'} and done.stdout.startswith('SAME  bit for bit')


def test_json_has_nothing_of_that_line(folder: Path) -> None:
    done = pyfuncdbg(folder, 'show', 't.pfd', 'replay', '1', '--json')
    answer = json.loads(done.stdout)
    assert answer['files'] == [str(folder / 'train.py')] and 'on recorded data' not in done.stdout
    assert done.stderr.count('on recorded data') == 1


def test_a_function_that_is_not_here_is_not_announced(folder: Path, tmp_path: Path) -> None:
    (folder / 'train.py').rename(folder / 'hidden')
    try:
        refused = pyfuncdbg(folder, 'show', 't.pfd', 'replay', '1')
        trusted = pyfuncdbg(folder, 'show', 't.pfd', 'replay', '1', '--trust')
    finally:
        (folder / 'hidden').rename(folder / 'train.py')
    assert 'on recorded data' not in refused.stderr and 'is not here' in refused.stderr
    assert trusted.stderr.startswith('pyfuncdbg: replay runs own (its source in the trace) on recorded data')


def test_an_audit_says_how_many_functions_of_which_files(folder: Path) -> None:
    done = pyfuncdbg(folder, 'show', 't.pfd', 'audit', '--json')
    first = done.stderr.splitlines()[0]
    assert first.startswith('pyfuncdbg: audit runs ') and first.endswith(' on recorded data')
    assert str(folder / 'train.py') in first and 'small-widgets 1.2' in first
    one = pyfuncdbg(folder, 'show', 't.pfd', 'audit', 'own')
    assert one.stderr.splitlines()[0] == f'pyfuncdbg: audit runs own of {folder}/train.py on recorded data'


def function(name: str, *cells: object) -> list[object]:
    return [tags.FUNCTION, 'm', name, f'/{name}.py', 1, name, [['c', cell] for cell in cells], [], []]


@pytest.mark.parametrize(('encoded', 'names'), [
    (function('f'), ['f']),
    (function('f', function('g'), function('h')), ['f', 'g', 'h']),
    ([tags.PARTIAL, function('f'), [tags.LIST, [function('g')]], [tags.DICT, [[[tags.PLAIN, 'a'], function('h')]]]],
     ['f', 'g', 'h']),
    ([tags.METHOD, function('f'), [tags.OBJECT, 'm', 'K', [['a', function('g')]]]], ['f', 'K', 'g']),
    ([tags.DECORATED, 'm', 'd', function('f')], ['f']),
    ([tags.PLAIN, 3], []), ([tags.DICT, [3, [1]]], []), ([tags.FUNCTION, 'm'], []), (None, []), ([], []), ([[]], []),
    ([tags.OBJECT, 'm', 'K', 7], ['K']), ([tags.LIST, None], [])])
def test_code_is_found_in_the_order_of_its_calls_and_damage_is_no_error(encoded: object, names: list[str]) -> None:
    assert [code.name for code in named_code(encoded)] == names


def test_packages() -> None:
    import numpy as np
    assert package_of(np.__file__) == f'numpy {np.__version__}'
    assert package_of('/x/site-packages/no_such_package/a.py') == 'no_such_package'
    assert package_of('/home/ann/train.py') == '' == package_of('')
    assert NamedCode('m', 'f') == NamedCode('m', 'f', '')


def test_the_inspector_shows_it_on_its_bar(folder: Path) -> None:
    events: list[Event] = []
    desk = SavedDesk(folder / 't.pfd')
    try:
        desk.listen(events.append)
        reply = desk.answer('replay 99', 80)
        assert reply.error and not [event for event in events if event.kind == 'log']
        assert desk.answer('replay 6', 80).data['verdict'] == 'same'
    finally:
        desk.close()
    assert [event.text for event in events if event.kind == 'log'] == ['replay runs numpy.sqrt on recorded data']
