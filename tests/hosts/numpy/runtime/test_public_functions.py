"""Wrong uses of `tf`, all over the namespace: tracebacks end at the program's line. What is published is wrapped once."""
from __future__ import annotations

import inspect
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.hooks.public_function import calling_frame, hide_own_frames, hides_own_frames, stack_level

PACKAGE = str(Path(pyfuncdbg.__file__).parent) + os.sep
WRONG = '''
tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
tf.matmul(1)
tf.reshape(tf.ones(3), [2, 2])
tf.reshape()
tf.ones(3) + tf.ones(2)
tf.ones(3) + 'a'
tf.ones(3)[1, 2]
tf.ones(3)['a']
tf.Variable(1.).assign([1, 2])
tf.Variable()
tf.add(1, 'a')
tf.nn.softmax(tf.ones(3), axis=4)
tf.fooo
tf.nn.fooo
tf.compat.v1.fooo
tf.train.fooo
tf.raw_ops.Fooo
tf.raw_ops.Add(x=1)
tf.constant([[1], [2, 3]])
tf.zeros('a')
tf.as_dtype('fooo')
tf.TensorShape('a')
tf.TensorShape([1, 2]).merge_with([3])
len(tf.TensorShape(None))
tf.TensorSpec('a')
tf.split(tf.ones(3), 2)
tf.transpose(tf.ones(3), [1, 2])
tf.reduce_sum(tf.ones(3), axis=4)
tf.cond(1)
tf.while_loop(1, 2, 3)
tf.map_fn(1, tf.ones(3))
tf.custom_gradient(1)(2)
tf.recompute_grad(1)(2)
tf.function(1)
tf.GradientTape(fooo=1)
tf.GradientTape().watch(1)
tf.compat.v1.Session().run('fooo:0')
tf.compat.v1.Session(graph=1)
tf.Graph().get_tensor_by_name('fooo:0')
tf.Graph().device(1).__enter__()
tf.Graph().name_scope('///a').__enter__()
tf.init_scope(1)
tf.device(1).__enter__()
bool(tf.ones(3)) if tf.executing_eagerly() else bool(tf.ones(3) > 1)
tf.ones(3).set_shape([4])
tf.ones(3) @ tf.ones(3)
tf.ones(3) < 'a'
tf.data.Dataset.range('a')
tf.data.Dataset.range(3).map(1)
tf.compat.v1.placeholder('fooo')
tf.sparse.to_dense(1)
tf.ragged.constant([[1], 2])
tf.TensorArray('fooo')
tf.strings.split(1)
tf.random.normal('a')
tf.nest.map_structure(lambda x, y: x, [1], [1, 2])
tf.debugging.assert_rank(tf.ones(3), 2)
tf.Module(name='1 2')
tf.compat.v1.random_normal_initializer('a')([2])
tf.bitwise.bitwise_and(1.0, 2.0)
tf.autograph.to_graph(1)
tf.config.set_visible_devices(1)
'''.strip().splitlines()
PROGRAM = '''import contextlib, sys, traceback
from pyfuncdbg import tf
lines = [
{lines}
]
for graph in (False, True):
    for line in lines:
        with tf.Graph().as_default() if graph else contextlib.nullcontext():
            try:
                line()
            except Exception:
                print(traceback.format_exc())
            else:
                print('no error')
            print('-----')
line = lines[0]
line()
'''


def run(tmp_path: Path, *command: str, full: str = '') -> subprocess.CompletedProcess[str]:
    (tmp_path / 'prog.py').write_text(PROGRAM.format(lines='\n'.join(f'    lambda: {line},' for line in WRONG)))
    environment = {**os.environ, 'PYFUNCDBG_FULL_TRACEBACK': full, 'IPYTHONDIR': str(tmp_path)}
    return subprocess.run([sys.executable, *command, 'prog.py'], cwd=tmp_path, env=environment, capture_output=True,
                          text=True, timeout=200, check=False)


@pytest.mark.parametrize('command', [(), ('-m', 'IPython', '--colors=NoColor')])
def test_the_traceback_ends_at_the_programs_line(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = run(tmp_path, *command)
    parts = done.stdout.split('-----\n')[:2 * len(WRONG)]
    for line, part in zip([*WRONG, *WRONG], parts, strict=True):
        assert part.strip() != 'no error', line
        files = [row for row in part.splitlines() if row.startswith('  File ')]
        assert PACKAGE not in part and 'prog.py' in files[-1] and f'lambda: {line}' in part, part
    assert PACKAGE not in (done.stdout + done.stderr).replace('~', str(Path.home()))


def test_the_environment_keeps_all_frames(tmp_path: Path) -> None:
    done = run(tmp_path, full='1')
    parts = done.stdout.split('-----\n')[:len(WRONG)]
    shown = [line for line, part in zip(WRONG, parts, strict=True) if PACKAGE in part]
    # What Python refuses before the function has begun, and its own error of a module, have none.
    assert {*WRONG} - {*shown} <= {'tf.matmul(1)', 'tf.reshape()', 'tf.GradientTape(fooo=1)', 'tf.nn.fooo'}
    assert PACKAGE in done.stderr


def published() -> dict[str, Any]:
    names: dict[str, Any] = {}
    modules, waiting = set(), [(tf, 'tf')]
    while waiting:
        module, path = waiting.pop()
        if module in modules:
            continue
        modules.add(module)
        for name in dir(module):
            if not name.startswith('_'):
                value = getattr(module, name)
                if isinstance(value, ModuleType):
                    waiting += [(value, f'{path}.{name}')] * hasattr(value, '_publish')         # the others are parts
                else:
                    names[f'{path}.{name}'] = value
    return names


def test_all_functions_are_published_and_stay_themselves() -> None:
    functions = {name: value for name, value in published().items() if isinstance(value, FunctionType)}
    assert len(functions) > 800
    assert not [name for name, value in functions.items() if not hides_own_frames(value)]
    assert not [name for name, value in functions.items() if pickle.loads(pickle.dumps(value)) is not value]
    assert tf.reshape is tf.compat.v1.reshape and tf.math.add is tf.add
    assert str(inspect.signature(tf.reshape)) == '(tensor, shape, name=None)' and 'shape' in (tf.reshape.__doc__ or '')


def test_a_wrapper_takes_every_kind_of_parameter() -> None:
    def f(a, /, b, c=3, *rest, d, e=5, **options):      # type: ignore[no-untyped-def]
        return a, b, c, rest, d, e, options
    g = hide_own_frames(f)
    assert g(1, 2, d=4) == (1, 2, 3, (), 4, 5, {})
    assert g(1, 2, 0, 7, 8, d=4, e=6, z=9) == (1, 2, 0, (7, 8), 4, 6, {'z': 9})
    assert inspect.signature(g) == inspect.signature(f) and g.__name__ == 'f' and hide_own_frames(g) is g


def test_a_deep_recursion_stays_a_recursion_error() -> None:
    def again(x: Any) -> Any:
        return tf.nest.map_structure(again, x)
    with pytest.raises(RecursionError):
        again([1])


def test_what_is_about_the_programs_line_names_it() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        tf.compat.v1.errors.error_code_from_exception_type(ValueError)
    assert caught[0].filename == __file__
    assert stack_level() == 1 and callable(calling_frame)


def test_creation_sites_are_the_programs() -> None:
    with tf.Graph().as_default():
        op = tf.reshape(tf.ones(4), [2, 2]).op
    assert op.traceback[-1].filename == __file__
