"""Functions that AutoGraph runs as copies: everywhere they have the program's names, files and lines.

The same program with pyfuncdbg's own runtime, whose AutoGraph puts frames of its own around branches and loops.
"""
from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from scripted_user import ScriptedUser, context_of

import pyfuncdbg
from pyfuncdbg.observers.debug.breakpoints.listing import state_of
from pyfuncdbg.observers.debug.cards.stop_card import stop_card
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.execute import execute

pytestmark = pytest.mark.timeout(200)
REAL = pytest.mark.tensorflow
PROGRAM = Path(__file__).with_name('converted_program.py')
LINES = PROGRAM.read_text().splitlines()
ENVIRONMENT = {'TF_CPP_MIN_LOG_LEVEL': '3', 'PYTHONPATH': str(Path(pyfuncdbg.__file__).resolve().parents[1])}


def line(text: str) -> int:
    """The number of the only line with a text."""
    (found,) = [number for number, known in enumerate(LINES, 1) if text in known]
    return found


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *args], cwd=folder, env=os.environ | ENVIRONMENT, capture_output=True, text=True,
                          timeout=150)


@pytest.fixture(scope='module', params=[pytest.param('real', marks=REAL), 'own'])
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, str, str]:
    """Which TensorFlow, the trace, and what was printed: by the program, and by us."""
    folder = tmp_path_factory.mktemp('converted')
    done = run(folder, '-m', 'pyfuncdbg', 'run', '--record', 'it.pfd', str(PROGRAM), request.param)
    assert done.returncode == 0, done.stderr
    return request.param, folder / 'it.pfd', done.stdout, done.stderr


def test_functions_have_their_names_and_lines(recorded: tuple[str, Path, str, str]) -> None:
    with pyfuncdbg.load(recorded[1]) as trace:
        found = {site.name: (site.function, site.filename, site.line, site.stack[-1].line) for site in trace.sites()
                 if site.op_type == 'PyFunc'}
    both = line('u, w =')
    file = str(PROGRAM)
    assert {name: one[:3] for name, one in found.items()} == {
        'PyFunc': ('Model.aug.<locals>.inner', file, line('def inner'),),
        'PyFunc_1': ('Model.aug.<locals>.<lambda>', file, line('lambda a: np.sqrt(')),
        'PyFunc_2': ('Model.aug.<locals>.<lambda>', file, both),
        'PyFunc_3': ('Model.aug.<locals>.<lambda>', file, both),
        'PyFunc_4': ('Model.aug.<locals>.failing', file, line('def failing'))}
    assert found['PyFunc'][3] == line('(inner, [x]')


def test_what_they_say_is_said_at_their_lines(recorded: tuple[str, Path, str, str]) -> None:
    with pyfuncdbg.load(recorded[1]) as trace:
        said = {(call.label, one.kind): (one.filename, one.line, one.function) for call in trace.calls()
                for one in call.output if one.kind in ('out', 'warning', 'fp') or one.category.startswith('WARNING')}
    file = str(PROGRAM)
    assert said['PyFunc[0]', 'out'] == (file, line("print('said'"), 'inner')
    assert said['PyFunc[0]', 'log'] == (file, line("logging.warning('logged')"), 'inner')
    assert said['PyFunc[0]', 'warning'] == (file, line("warnings.warn('small'"), 'inner')
    assert said.get(('PyFunc[1]', 'fp'), said.get(('PyFunc[1]', 'warning'))) == (file, line('b = np.sqrt(b)'), 'inner')
    assert said['PyFunc_1[0]', 'warning'] == (file, line('lambda a: np.sqrt('), '<lambda>')
    assert said['PyFunc_3[1]', 'warning'] == (file, line('u, w ='), '<lambda>')


def test_an_error_went_through_their_lines(recorded: tuple[str, Path, str, str]) -> None:
    with pyfuncdbg.load(recorded[1]) as trace:
        (call,) = [call for call in trace.calls() if call.error is not None and call.site.name == 'PyFunc_4']
    error = call.error
    assert error is not None
    raising = line('raise ValueError')          # of the function and its blocks the innermost
    assert [(frame.line, frame.function) for frame in error.frames if frame.filename == str(PROGRAM)] == [
        (raising, 'failing')]
    assert not [frame for frame in error.frames if 'autograph' in frame.filename]
    assert re.findall(r'converted_program.py", line (\d+), in failing', error.traceback) == [str(raising)]
    assert 'raise ValueError' in error.traceback
    assert not re.search('autograph', error.traceback)
    (names,) = [[one.name for one in frame.variables] for frame in error.locals]
    assert names == ['a', 'v']                  # and none that only the copy has


def test_the_report_names_the_program_alone(recorded: tuple[str, Path, str, str]) -> None:
    _, trace, _, printed = recorded
    report = printed[printed.rindex('pyfuncdbg  '):]
    shown = run(trace.parent, '-m', 'pyfuncdbg', 'show', str(trace), 'calls', '--bad').stdout
    for text in (report, shown):
        assert not re.search(r'autograph|api\.py|outer_factory|source not recorded', text)
    assert f'inner at converted_program.py:{line("b = np.sqrt(b)")}' in re.sub(r'\s+', ' ', report)


def test_the_program_prints_what_it_prints_alone(tmp_path: Path, recorded: tuple[str, Path, str, str]) -> None:
    which, _, out, printed = recorded
    alone = run(tmp_path, str(PROGRAM), which)
    assert alone.stdout == out
    mine = re.sub(r'^(I0000|W0000|WARNING: All|To enable).*\n', '', printed[:printed.index('pyfuncdbg  ')], flags=re.M)
    theirs = re.sub(r'^(I0000|W0000|WARNING: All|To enable).*\n', '', alone.stderr, flags=re.M)
    assert re.sub(r'file\w{8}\.py', 'file.py', mine) == re.sub(r'file\w{8}\.py', 'file.py', theirs)
    assert ('api.py:' in theirs) is (which == 'real')   # TensorFlow's own place in the warning's text: as it is


# ---------------------------------------------------------------- at stops
DEBUGGED = '''
import numpy as np
{import_}

@tf.function{options}
def outer(x):
    def inner(a):
        b = a + 1
        if b[0] > 0:
            b = b * 2
        else:
            b = -b
        return b
    y = tf.numpy_function(inner, [x], tf.float32, name='inner')
    return tf.numpy_function(lambda q: q + 1, [y], tf.float32)
'''
IMPORTS = {'real': 'import tensorflow as tf', 'own': 'from pyfuncdbg import tf'}


@pytest.fixture(params=[pytest.param('real', marks=REAL), 'own'])
def which(request: pytest.FixtureRequest) -> str:
    if request.param == 'real':
        request.getfixturevalue('tf')
    return str(request.param)


def loaded(folder: Path, which: str, monkeypatch: pytest.MonkeyPatch, options: str = '') -> tuple[Any, str]:
    """The program as a module, and its file."""
    name = f'debugged_program_{folder.name}'
    file = folder / f'{name}.py'
    file.write_text(DEBUGGED.format(import_=IMPORTS[which], options=options))
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module, str(file)


class attached:  # noqa: N801
    """Watching the real TensorFlow; the own one always is."""

    def __init__(self, which: str) -> None:
        self._one: Any = pyfuncdbg.attach('tensorflow') if which == 'real' else None

    def __enter__(self) -> None:
        if self._one is not None:
            self._one.__enter__()

    def __exit__(self, *error: object) -> None:
        if self._one is not None:
            self._one.__exit__(*error)


def evaluated(stop: Any) -> tuple[str, list[float]]:
    """A variable of the function, at a line of a block that does not use it."""
    return 'a', execute('p a', context_of(stop)).result.value.array.tolist()


def place(stop: Any) -> tuple[str, int, tuple[str, ...]]:
    """Where it is, and the variables on the card."""
    card = stop_card(stop)
    assert card.listing is None or (card.listing.filename.endswith('.py') and '__autograph' not in card.filename)
    return card.function, card.line, tuple(shown.name for shown in card.values)


@pytest.mark.parametrize('options', ['', '(autograph=False)'])
def test_lines_stop_and_steps_follow_the_program(which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                 options: str) -> None:
    module, file = loaded(tmp_path, which, monkeypatch, options)
    script = [place, 'cont', place, 'next', place, 'next', place, evaluated, '!b = a * 3', 'next', place,
              'return', 'cont', place, 'cont']
    with attached(which), ScriptedUser(script) as user:
        debugger.start()
        made = [debugger.breakpoints.set(f'{file}:{number}').number for number in (8, 15)]
        try:
            assert module.outer([1.0]).numpy().tolist() == [7.0]        # b = a * 3, twice that, and 1
            hits = [state_of(debugger.breakpoints.entry(number), debugger.breakpoints).hits for number in made]
        finally:
            for number in made:
                debugger.breakpoints.clear(number)
    assert hits == [1, 2]                       # the line of the statement, and of the lambda on it
    places = [answer for answer in user.answers if type(answer) is tuple]
    inner = ('a', 'b')
    assert [(one[0], *one[1:2]) for one in places] == [
        ('outer', 15), ('inner', 8), ('inner', 9), ('inner', 10), ('a', [1.0]), ('inner', 13), ('<lambda>', 15)]
    shown = {one[1]: set(one[2]) for one in places if len(one) > 2 and one[0] == 'inner'}
    assert all(names <= {*inner} for names in shown.values()), shown


NESTED = '''
import sys
if sys.argv[1] == 'real':
    import tensorflow as tf
else:
    from pyfuncdbg import tf
y = 'of the module'
@tf.function
def f(x, k):
    scale = 3.0
    for i in tf.range(3):
        y = x * scale
        extra = 5
        if y > 1:
            z = x + k
            q = z * 2
        else:
            q = x
        x = q
    return x + scale
f(tf.constant(2.0), tf.constant(1.0))
'''


@pytest.mark.parametrize('which', [pytest.param('real', marks=REAL), 'own'])
@pytest.mark.parametrize(('condition', 'stops'), [
    ('scale == 3.0 and extra == 5 and y.shape.rank == 0', True), ('[n for n in (scale,) if n == 3.0]', True),
    ('scale == 4.0', False), ('q is None', False)])
def test_a_block_knows_the_variables_of_the_function_around_it(which: str, condition: str, stops: bool,
                                                                tmp_path: Path) -> None:
    (tmp_path / 'nested.py').write_text(NESTED)
    place = f'nested.py:{NESTED[:NESTED.index("q = z")].count(chr(10)) + 1} if {condition}'
    done = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', '--break', place, 'nested.py', which], cwd=tmp_path,
                          env=os.environ | ENVIRONMENT, capture_output=True, text=True, timeout=150,
                          input='locals\np sorted(locals())\np q\ncont\n')
    assert (done.returncode, 'STOPPED in f' in done.stderr) == (0, stops), done.stderr
    assert ("name 'q' is not defined" in done.stderr) == (stops or 'q' in condition)
    if stops:
        listed = done.stderr.partition('(pfd) locals\n')[2].partition('(pfd)')[0]
        names = [row.split()[0] for row in listed.splitlines()]
        assert names[:2] == ['x', 'k'] and sorted(names) == ['extra', 'i', 'k', 'scale', 'x', 'y', 'z']
        assert f'p sorted(locals())\n{sorted(names)}' in done.stderr and re.search(r'scale +3\.0', listed)


_BROKEN_BLOCK = """
import {library} as tf

def inner(b, scale):
    if tf.reduce_sum(b) > 0:
        for i in tf.range(3):
            b = b + tf.constant([1., 2., 3., 4., 5.])           # the line
    return b * scale

def load(a):
    return tf.function(inner)(a, 3.)

tf.py_function(load, [tf.constant([1., 2., 3.])], tf.float32)
"""


@pytest.mark.parametrize('library', [pytest.param('tensorflow', marks=REAL), 'pyfuncdbg.tf'])
def test_an_error_in_a_block_goes_through_its_function_once(library: str, tmp_path: Path) -> None:
    script, path = tmp_path / 'broken.py', tmp_path / 'broken.pfd'
    script.write_text(_BROKEN_BLOCK.format(library=library))
    run(tmp_path, '-m', 'pyfuncdbg', 'run', '--record', str(path), str(script))
    with Trace.open(path) as trace:
        (call,) = trace.calls(failed=True)
    error = call.error
    assert error is not None
    broken = next(number for number, text in enumerate(script.read_text().splitlines(), 1) if '# the line' in text)
    assert re.findall(r'line (\d+), in inner\n', error.traceback) == [str(broken)]
    if library == 'tensorflow':             # ours tells the lines of the block in the message alone
        frames = [frame for frame in error.frames if frame.filename == str(script)]
        assert [(frame.function, frame.line) for frame in frames] == [('load', 11), ('inner', broken)]
        names = [variable.name for frame in error.locals if error.frames[frame.frame].function == 'inner'
                 for variable in frame.variables]
        assert names == ['b', 'scale', 'i']
