"""Exported tests, run by plain pytest where this project cannot be imported: green, and red once the function is changed."""
from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import re
import shutil
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.index.state_records import CallState
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.commands.exports.export_job import ExportJob
from pyfuncdbg.ui.commands.exports.exported_calls import ExportedCalls
from pyfuncdbg.ui.commands.exports.new_files import NewFiles
from pyfuncdbg.ui.commands.exports.pytest_file import write_pytest_file

MODULE = '''
import functools
import numpy as np

class Refused(ValueError): pass

def norm(x): return x / np.sqrt((x * x).sum())
def pair(x, y): return x + y, x - y
def nothing(x): pass
def shout(text): return np.array([each + b'!' for each in text.flat], object).reshape(text.shape)
def scalar(x): return {'float32': x * 2, 'bool': x}[type(x).__name__]
def negative_zero(x): return x * 0
def refuse(x): raise Refused(f'{x.tolist()} at {hex(id(x))}')
def index(x): return x[9]
def low(x): return x * 2
def check(x): return x + 1
def test_of_my_own(x): return x - 1
double = lambda x: x * 2

class Model:
    def __init__(self, rate): self.rate = rate
    def loss(self, x): return x * self.rate
    def __call__(self, x): return x + self.rate
    @classmethod
    def make(cls, x): return x + len(cls.__name__)
    @staticmethod
    def plain(x): return x - 3

def scaled(x, by=1): return x * by
RNG = np.random.default_rng(3)
def sample(x): return x + RNG.random(2).astype(np.float32)
def long(x): raise ValueError('x' * 20_000)
def draw(x): return x + np.random.normal(size=2).astype(np.float32)[0]
def outer(k):
    def inner(x):
        return np.multiply(x, k)
    return inner
'''
BLOCKED = "import sys; sys.modules['pyfuncdbg'] = None; import pytest; sys.exit(pytest.main(sys.argv[1:]))"
OPEN = 'import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))'
X = np.array([3, -4], np.float32)


@pytest.fixture(scope='module')
def subjects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The user's module."""
    folder = tmp_path_factory.mktemp('program')
    (folder / 'pytest_subjects.py').write_text(MODULE)
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module('pytest_subjects')
    finally:
        sys.path.remove(str(folder))
        del sys.modules['pytest_subjects']


@pytest.fixture(scope='module')
def trace(subjects: ModuleType) -> Path:
    path = Path(subjects.__file__).parent / 'kinds.pfd'
    with pyfuncdbg.record(path):
        for function, inputs, out in (
                (subjects.norm, [X], tf.float32), (subjects.norm, [X * np.nan], tf.float32),
                (subjects.pair, [X, X], [tf.float32] * 2), (subjects.nothing, [X], []),
                (subjects.shout, [np.array([[b'a', b'b\0']], object)], tf.string), (subjects.negative_zero, [X], tf.float32),
                (subjects.low, [X.astype(ml_dtypes.bfloat16)], tf.bfloat16), (subjects.check, [X], tf.float32),
                (subjects.test_of_my_own, [X], tf.float32), (subjects.double, [X], tf.float32),
                (subjects.Model(2).loss, [X], tf.float32), (subjects.Model(2), [X], tf.float32),
                (subjects.Model.make, [X], tf.float32), (subjects.Model.plain, [X], tf.float32),
                (subjects.outer(3), [X], tf.float32), (np.sin, [X], tf.float32), (subjects.draw, [X], tf.float32),
                (subjects.sample, [X], tf.float32), (subjects.sample, [X], tf.float32),
                (functools.partial(subjects.scaled, by=np.float32(3)), [X], tf.float32),
                (statistics.median, [X], tf.float32)):
            tf.numpy_function(function, inputs, out, name=f'n{len(inputs)}')
        for function in (subjects.refuse, subjects.index, subjects.index, subjects.long):
            with pytest.raises((ValueError, IndexError)):
                tf.numpy_function(function, [X], tf.float32)
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            session.run(tf.numpy_function(subjects.scalar, [np.float32(3)], tf.float32))
        tf.py_function(subjects.low, [X], tf.float32)
    return path


def export(path: Path, line: str) -> object:
    with Trace.open(path) as trace:
        return execute(f'export pytest {line}', Context(trace)).result


def numbers_in(path: Path) -> list[str]:
    with Trace.open(path) as trace:
        return [call.number for call in trace.calls(kind='python')]


def number_of(path: Path, function: str, nth: int = 0) -> str:
    with Trace.open(path) as trace:
        return [call.number for call in trace.calls() if call.site.function == function][nth]


def run_pytest(folder: Path, code: str = BLOCKED) -> tuple[int, str]:
    done = subprocess.run([sys.executable, '-c', code, '-q', '-p', 'no:cacheprovider', str(folder)], cwd=folder,
                          capture_output=True, text=True, env={'PATH': '', 'PYTHONPATH': ''} | (
                              {} if code is BLOCKED else {'PYTHONPATH': str(Path(pyfuncdbg.__file__).parents[1])}))
    return done.returncode, done.stdout + done.stderr


FUNCTIONS = ['norm', 'pair', 'nothing', 'shout', 'negative_zero', 'low', 'check', 'test_of_my_own', '<lambda>', 'Model.make',
             'Model.plain', 'refuse', 'index', 'scalar', 'draw', 'scaled', 'Model.loss', 'Model', 'sample', 'long']


def test_each_kind_of_call_is_green_and_red_after_a_change(trace: Path, subjects: ModuleType, tmp_path: Path) -> None:
    for i, function in enumerate(FUNCTIONS):
        result = export(trace, f'{number_of(trace, function, -(function == "sample"))} -o {tmp_path}/test_{i}.py')
        assert (result.calls, result.skipped, result.beside) == (1, 0, (f'{tmp_path}/test_{i}.npz',))
        text = (tmp_path / f'test_{i}.py').read_text()
        compile(text, 'test.py', 'exec')
        assert 'pyfuncdbg' not in text.replace('kinds.pfd', '') and '\n\n\n\n' not in text
    code, said = run_pytest(tmp_path)
    assert code == 0 and f'{len(FUNCTIONS)} passed' in said, said
    source = Path(subjects.__file__)
    mutated = re.sub(r'return (.*)', r'return altered((\1))', MODULE).replace('raise Refused(f', "raise Refused('no' + f")
    mutated = mutated.replace("'x' * 20", "'y' * 20")
    mutated = mutated.replace('nothing(x): pass', 'nothing(x): return 1').replace('lambda x: x * 2', 'lambda x: x * 3')
    source.write_text(mutated + '''
def altered(value):
    if isinstance(value, tuple): return value[::-1]
    if isinstance(value, np.ndarray) and value.dtype == object: return value[:, ::-1]
    return (value + value.dtype.type(1)) if callable(getattr(value, 'tolist', None)) else value
def index(x): return x[8]
''')
    try:
        code, said = run_pytest(tmp_path)
    finally:
        source.write_text(MODULE)
    assert code == 1 and f'{len(FUNCTIONS)} failed' in said, said


def test_a_range_is_a_test_for_each_function_with_its_calls_as_parameters(trace: Path, tmp_path: Path) -> None:
    first, second, *_, last = numbers_in(trace)
    result = export(trace, f'{first}..{last} -o {tmp_path}/test_all.py')
    text = (tmp_path / 'test_all.py').read_text()
    assert f"@pytest.mark.parametrize('call', ['{first}', '{second}'])\ndef test_norm(call):" in text
    assert "@pytest.mark.parametrize(('call', 'message'), [" in text
    assert result.skipped == 3 and 'inner cannot be imported: it is made inside of a function' in result.remarks[-1]
    code, said = run_pytest(tmp_path, OPEN)     # a function that gets our tensors needs us
    assert code == 0 and f'{result.calls} passed' in said, said


@pytest.fixture
def old(monkeypatch: pytest.MonkeyPatch) -> None:
    """Traces have no state of calls, as older ones."""
    monkeypatch.setattr(Trace, 'call_state', lambda trace, number: CallState())


def test_an_object_has_its_recorded_attributes(trace: Path, tmp_path: Path) -> None:
    result = export(trace, f'{number_of(trace, "Model.loss")} -o {tmp_path}/test_loss.py')
    path = tmp_path / 'test_loss.py'
    assert result.remarks == () and "model = made(Model, {'rate': 2})" in path.read_text()
    path.write_text(path.read_text().replace("{'rate': 2}", "{'rate': 3}"))
    assert run_pytest(tmp_path)[0] == 1


def test_an_object_that_was_not_recorded_is_made_by_the_user(trace: Path, tmp_path: Path, old: None) -> None:
    result = export(trace, f'{number_of(trace, "Model.loss")} -o {tmp_path}/test_loss.py')
    assert result.remarks == ('The recording has no objects: make `model`, the Model of the program, where the file says '
                              'so.',)
    path = tmp_path / 'test_loss.py'
    code, said = run_pytest(tmp_path)
    assert code == 1 and 'NotImplementedError: return the Model that the program makes' in said
    path.write_text(re.sub('raise NotImplementedError.*', 'return Model(2)', path.read_text()))
    assert run_pytest(tmp_path)[0] == 0


def test_attributes_that_were_not_recorded_are_named(tmp_path: Path, subjects: ModuleType) -> None:
    model = subjects.Model([1, (2.5, None), {'a': np.arange(2)}, float('inf')])
    model.lock, model.made_of, model.rng = threading.Lock(), np.arange(3.0), np.random.default_rng(1)
    with pyfuncdbg.record(tmp_path / 'it.pfd'), pytest.raises(ValueError, match='inhomogeneous'):
        tf.numpy_function(model.loss, [X], tf.float32)
    result = export(tmp_path / 'it.pfd', f'{numbers_in(tmp_path / "it.pfd")[0]} -o {tmp_path}/test_it.py')
    assert result.remarks == ('The recording has no value of model.lock.',)
    text = (tmp_path / 'test_it.py').read_text()
    assert re.search(r"made\(Model, \{'rate': \[1, \(2\.5, None\), \{'a': VALUES\['held\.\w+'\]\}, float\('inf'\)\], "
                     r"'made_of': VALUES\['held\.\w+'\], 'rng': generator\('Generator', 'PCG64', \{'state': ", text)


def test_an_inner_function_is_tested_from_its_source_on_the_users_word(trace: Path, tmp_path: Path) -> None:
    number, path = number_of(trace, 'outer.<locals>.inner'), tmp_path / 'test_inner.py'
    with pytest.raises(CommandError, match=r'outer\.<locals>\.inner cannot be imported: it is made inside of a function\. '
                                           '--with-source puts'):
        export(trace, f'{number} -o {path}')
    assert not list(tmp_path.iterdir())
    result = export(trace, f'{number} --with-source -o {path}')
    assert result.remarks == ('The source of outer.<locals>.inner is the one that was recorded: read it before you run it.',)
    assert '\nk = 3\n' in path.read_text()
    assert run_pytest(tmp_path)[0] == 0
    path.write_text(path.read_text().replace('k = 3', 'k = 4'))
    assert run_pytest(tmp_path)[0] == 1


def test_a_variable_that_was_not_recorded_is_set_by_the_user(trace: Path, tmp_path: Path, old: None) -> None:
    number, path = number_of(trace, 'outer.<locals>.inner'), tmp_path / 'test_inner.py'
    result = export(trace, f'{number} --with-source -o {path}')
    assert result.remarks[1] == 'The recording has no values of its variables k: give them theirs.'
    assert run_pytest(tmp_path)[0] == 1
    path.write_text(re.sub(r'k = \.\.\..*', 'k = np.float32(3)', path.read_text()))
    code, said = run_pytest(tmp_path)
    assert code == 0, said


def test_a_tolerance_is_one_word(trace: Path, tmp_path: Path) -> None:
    path = tmp_path / 'test_norm.py'
    number = numbers_in(trace)[0]
    export(trace, f'{number} -o {path}')
    path.write_text(path.read_text().replace('result = norm(', 'result = np.float32(1.0001) * norm('))
    assert run_pytest(tmp_path)[0] == 1
    path.write_text(path.read_text().replace(f"VALUES['{number}.out0']])", f"VALUES['{number}.out0']], rtol=1e-3)"))
    assert run_pytest(tmp_path)[0] == 0


def test_a_zero_of_another_sign_and_another_type_are_differences(trace: Path, tmp_path: Path) -> None:
    path = tmp_path / 'test_zero.py'
    export(trace, f'{number_of(trace, "negative_zero")} -o {path}')
    text = path.read_text()
    for change in ('abs(result)', 'result.astype(float)', 'result[None]', '[result, result]'):
        path.write_text(re.sub(r'(result = .*)', rf'\1\n    result = {change}', text))
        assert run_pytest(tmp_path)[0] == 1, change
    path.write_text(text)
    assert run_pytest(tmp_path)[0] == 0


def test_a_value_that_was_not_kept(subjects: ModuleType, tmp_path: Path) -> None:
    with pyfuncdbg.record(tmp_path / 'few.pfd', full_limit=16):
        tf.numpy_function(subjects.norm, [np.ones(64, np.float32)], tf.float32)
        tf.numpy_function(lambda x: np.ones(64), [X], tf.float64, name='grown')
    few = tmp_path / 'few.pfd'
    first, second = numbers_in(few)
    with pytest.raises(CommandError, match=r'input 0 of call #\d+ PyFunc\[0\]: the value of .* was not kept: .*Record again '
                                           r"with a larger --budget, or in Python with record\(\.\.\., level='full'"):
        export(few, f'{first} -o {tmp_path}/test_few.py')
    export(few, f'{second} --with-source -o {tmp_path}/test_grown.py')
    code, said = run_pytest(tmp_path)
    assert code == 0, said
    path = tmp_path / 'test_grown.py'
    path.write_text(path.read_text().replace('np.ones(64)', 'np.ones(63)'))
    assert run_pytest(tmp_path)[0] == 1


def test_a_function_of_no_file_has_no_test(trace: Path, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match='sin cannot be imported: it is not written in Python'):
        export(trace, f'{number_of(trace, "sin")} -o {tmp_path}/test_it.py')
    assert not list(tmp_path.iterdir())


def test_a_function_of_the_library_is_not_called(trace: Path, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match='median is of the Python library: a generated file calls'):
        export(trace, f'{number_of(trace, "median")} -o {tmp_path}/test_it.py')


def test_a_partial_that_was_not_recorded(subjects: ModuleType, tmp_path: Path, old: None) -> None:
    with pyfuncdbg.record(tmp_path / 'bound.pfd'):
        tf.numpy_function(lambda *x: subjects.norm(*x), [X], tf.float32)
        tf.numpy_function(functools.partial(subjects.pair, X), [X], [tf.float32] * 2)
    first, second = numbers_in(tmp_path / 'bound.pfd')
    with pytest.raises(CommandError, match='pair takes other arguments than the 1 inputs of its call'):
        export(tmp_path / 'bound.pfd', f'{second} -o {tmp_path}/test_it.py')
    with pytest.raises(CommandError, match='it is a lambda without a name'):
        export(tmp_path / 'bound.pfd', f'{first} -o {tmp_path}/test_it.py')


def test_calls_of_which_there_is_no_test(tmp_path: Path) -> None:
    with pyfuncdbg.record(tmp_path / 'ops.pfd', ops=True):
        tf.add(1, 2)
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.py_function(len_of, [X], tf.float32)
    with Trace.open(tmp_path / 'ops.pfd') as trace:
        op, python = (trace.calls(kind=kind)[0].number for kind in ('op', 'python'))
    with pytest.raises(CommandError, match='is a node of the graph: a test is of the call of a Python function'):
        export(tmp_path / 'ops.pfd', f'{op} -o {tmp_path}/test_it.py')
    with pytest.raises(CommandError, match='what was raised is not of the function but of what became of its result'):
        export(tmp_path / 'ops.pfd', f'{python} -o {tmp_path}/test_it.py')
    with pytest.raises(CommandError, match=r"export pytest takes a call or a range of them, such as 'export pytest 17' or"):
        export(tmp_path / 'ops.pfd', '')
    with pytest.raises(CommandError, match=r"a test file ends in \.py, such as -o test\.py"):
        export(tmp_path / 'ops.pfd', f'{python} -o {tmp_path}/test.npz')
    with Trace.open(tmp_path / 'ops.pfd') as trace, pytest.raises(CommandError, match='is an option of notebook or pytest'):
        execute('export csv --with-source', Context(trace))


def len_of(x):
    return None


def test_values_beside_a_test_are_not_replaced(trace: Path, tmp_path: Path) -> None:
    (tmp_path / 'test_it.npz').write_text('mine')
    with pytest.raises(CommandError, match=r"test_it\.npz' exists already: choose another name with -o"):
        export(trace, f'{numbers_in(trace)[0]} -o {tmp_path}/test_it.py')
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [('test_it.npz', 'mine')]


PROGRAM = '''"""A program."""
import numpy as np, sys
rate = 2
def half(x): return x / rate
def train():
    import pyfuncdbg
    from pyfuncdbg import tf
    with pyfuncdbg.record('main.pfd'):
        tf.numpy_function(half, [np.ones(2)], tf.float64)
if __name__ == '__main__':
    train()
'''


def test_the_program_itself_is_imported_by_name(tmp_path: Path) -> None:
    script = tmp_path / 'my-train.py'
    (tmp_path / 'tests').mkdir()
    env = {'PYTHONPATH': str(Path(pyfuncdbg.__file__).parents[1])}
    for text, remarks in ((PROGRAM, ()), (PROGRAM.replace("if __name__ == '__main__':\n    train()", 'train()'), (
            "my-train.py was the program itself: importing it runs line 10, which belongs under `if __name__ == "
            "'__main__':`.",))):
        script.write_text(text)
        subprocess.run([sys.executable, script.name], cwd=tmp_path, check=True, env=env)
        result = export(tmp_path / 'main.pfd', f'1 -o {tmp_path}/tests/test_half.py')
        assert result.remarks == remarks
        assert "parent / '..'))" in (tmp_path / 'tests/test_half.py').read_text()
        code, said = run_pytest(tmp_path / 'tests')
        assert (code == 0) == (not remarks), said           # what is not guarded runs, and needs us
        shutil.rmtree(tmp_path / 'main.pfd')
        for file in (tmp_path / 'tests').glob('test_half.*'):
            file.unlink()


def test_a_program_that_runs_when_imported_is_tested_from_its_source(tmp_path: Path) -> None:
    (tmp_path / 'train.py').write_text('''
import numpy as np
from pyfuncdbg import tf
import pyfuncdbg
RATE = 2
LIMITS = [RATE, np.inf]
def twice(f):
    def wrapper(x):
        return f(f(x))
    return wrapper
@twice
def helper(x): return x * RATE
class Shape:
    size = LIMITS
def unused(): return nothing
def half(x): return helper(x) / Shape.size[0]
with pyfuncdbg.record('main.pfd'):
    tf.numpy_function(half, [np.ones(2)], tf.float64)
''')
    subprocess.run([sys.executable, 'train.py'], cwd=tmp_path, check=True,
                   env={'PYTHONPATH': str(Path(pyfuncdbg.__file__).parents[1])})
    result = export(tmp_path / 'main.pfd', f'1 --with-source -o {tmp_path}/test_half.py')
    text = (tmp_path / 'test_half.py').read_text()
    assert result.remarks == ('The source of half is the one that was recorded: read it before you run it.',)
    assert text.count('import numpy as np') == 1 and 'unused' not in text and 'half_ = ' not in text
    code, said = run_pytest(tmp_path)
    assert code == 0, said


def test_no_text_of_a_trace_becomes_code(trace: Path, tmp_path: Path) -> None:
    evil = '"""\nimport os; os.system("touch owned")\n"""\\'
    with Trace.open(trace) as opened:
        call = opened.call(number_of(trace, 'index'))
        assert call.error is not None
        site = replace(call.site, name=evil)
        hostile = [replace(call, site=replace(site, function=name, filename=filename),
                           error=replace(call.error, type=evil, message=evil, frames=tuple(
                               replace_frame(frame, filename) for frame in call.error.frames)))
                   for name in ('norm', evil, 'a.b;c', 'class') for filename in (f'/{evil}.py', f"/x/');{evil}/a.py")]
        for i, one in enumerate(hostile):
            path = tmp_path / f'test_{i}.py'
            try:
                with NewFiles(path) as files:
                    write_pytest_file(ExportJob(ExportedCalls(opened, (one,)), files))
            except CommandError as error:
                assert 'cannot be imported' in str(error) and '\n' not in str(error)
                continue
            text = path.read_text()
            assert not [node for node in ast.walk(ast.parse(text))
                        if isinstance(node, ast.Attribute) and node.attr == 'system'], text
    assert list(tmp_path.glob('*.py'))


EVIL = '"""\nimport os; os.system("touch owned")\n"""\\'
FUNCTION = ['function', 'pytest_subjects', 'norm', '/x/pytest_subjects.py', 1, 'norm', [], [], []]


@pytest.mark.parametrize('function', [
    ['function', EVIL, *FUNCTION[2:]], ['function', 'os', *FUNCTION[2:]],
    ['method', FUNCTION, ['object', 'os', 'system', []]], ['method', FUNCTION, ['object', EVIL, 'Model', []]],
    ['method', FUNCTION, ['object', 'pytest_subjects', EVIL, []]],
    ['method', FUNCTION, ['object', 'pytest_subjects', 'Model', [[EVIL, ['v', EVIL]]]]],
    ['method', FUNCTION, ['object', 'pytest_subjects', 'Model', [['x', ['name', 'os', 'system']],
                                                                 ['y', ['name', 'numpy', EVIL]]]]],
    ['partial', FUNCTION, ['l', [['v', EVIL], ['i', '1); os.system("x")']]], ['d', []]],
    ['partial', FUNCTION, ['l', []], ['d', [[['v', EVIL], ['v', 1]]]]],
    ['partial', FUNCTION, ['l', [['v', [1]]]], ['d', []]],
    ['method', FUNCTION, ['object', 'pytest_subjects', 'Model', [['x', ['a', EVIL, [1], b'']], ['y', ['c', EVIL, 1]]]]],
    ['method', FUNCTION, ['object', 'pytest_subjects', 'Model', [
        ['x', ['rng', 'system', ['numpy', 'PCG64', {}]]], ['y', ['rng', 'Generator', ['numpy', EVIL, {}]]],
        ['z', ['rng', 'Generator', ['numpy', 'PCG64', {EVIL: EVIL}]]]]]],
    7, [], ['object'], ['function', 1]])
def test_no_recorded_value_becomes_code(trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: Any) -> None:
    monkeypatch.setattr(Trace, 'call_state', lambda trace, number: CallState(function=function))
    for name in ('norm', 'Model.loss', 'Model'):
        path = tmp_path / f'test_{name}.py'
        with contextlib.suppress(CommandError):
            export(trace, f'{number_of(trace, name)} -o {path}')
            for node in ast.walk(ast.parse(path.read_text())):
                assert not (isinstance(node, ast.Attribute) and node.attr == 'system')
                assert not (isinstance(node, ast.Import | ast.ImportFrom) and any(
                    alias.name in ('os', 'system') for alias in node.names))


def replace_frame(frame, filename):
    return frame._replace(filename=filename)


@pytest.mark.tensorflow
def test_functions_of_the_real_framework_get_tensors(tmp_path: Path) -> None:
    (tmp_path / 'real_subjects.py').write_text(
        'import numpy as np\ndef eager(x): return x * 2\ndef cast(x): return np.float64(3)\ndef text(x): return x + b"!"\n'
        'def fail(x): raise KeyError("k")\n')
    (tmp_path / 'train.py').write_text('''
import tensorflow as tf
import real_subjects as s
@tf.function
def graph(x):
    return tf.py_function(s.eager, [x], tf.float32), tf.py_function(s.cast, [x], tf.float32)
graph(tf.constant([1., 2.]))
tf.numpy_function(s.text, [tf.constant('abc')], tf.string)
try:
    tf.numpy_function(s.fail, [tf.constant(1)], tf.string)
except Exception:
    pass
''')
    env = {'PYTHONPATH': str(Path(pyfuncdbg.__file__).parents[1]), 'TF_CPP_MIN_LOG_LEVEL': '3'}
    subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', '-q', '--record', 'real.pfd', 'train.py'], cwd=tmp_path,
                   check=True,
                   env=env, capture_output=True)
    with Trace.open(tmp_path / 'real.pfd') as opened:
        numbers = [call.number for call in opened.calls(kind='python')]
    assert len(numbers) == 4
    export(tmp_path / 'real.pfd', f'{numbers[0]}..{numbers[-1]} -o {tmp_path}/test_real.py')
    assert 'import tensorflow as tf' in (tmp_path / 'test_real.py').read_text()
    code, said = run_pytest(tmp_path)
    assert code == 0 and '4 passed' in said, said
