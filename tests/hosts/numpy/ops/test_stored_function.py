"""Functions stored in nodes: another process runs them if it is told to trust the GraphDef, and loads nothing otherwise."""
from __future__ import annotations

import pickle
import subprocess
import sys
import textwrap
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np
import pytest

import pyfuncdbg.tf as tf
from pyfuncdbg.hosts.numpy.ops.script import stored_function

v1 = tf.compat.v1


def message() -> Any:
    factor = 10.
    with v1.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2], name='x')
        y = tf.py_function(lambda a: a * factor, [x], tf.TensorSpec([2], tf.float32), name='y', serialize=True)
        z = tf.numpy_function(lambda a: a + 1, [y], tf.float32, name='z', serialize=True)

        @tf.function
        def doubled(a: Any) -> Any:
            return tf.numpy_function(lambda b: b * 2, [a], tf.float32, serialize=True)
        tf.identity(doubled(z), name='w')
        tf.numpy_function(lambda: {'a': np.float32(3), 'b': np.int32(4)}, [], {'a': tf.float32, 'b': tf.int32},
                          name='nested', serialize=True)
    return graph.as_graph_def()


LOAD = '''
    import sys
    import numpy as np
    import pyfuncdbg.tf as tf
    v1 = tf.compat.v1
    message = v1.GraphDef.FromString(open(sys.argv[1], 'rb').read())
    for trust in (False, True):
        with v1.Graph().as_default(), v1.Session() as session:
            x = v1.placeholder(tf.float32, [2])
            y, z, w, n = tf.import_graph_def(message, {'x:0': x}, ['y:0', 'z:0', 'w:0', 'nested:1'], trust=trust)
            try:
                print(*[value.tolist() for value in session.run([y, z, w, n], {x: [1., 2.]})])
                print(y.shape, session.run(tf.gradients(y, x), {x: [1., 2.]})[0].tolist())
            except tf.errors.InvalidArgumentError as error:
                print([line for line in str(error).splitlines() if 'callback' in line][0])
'''


def test_another_process(tmp_path: Path) -> None:
    path = tmp_path / 'graph.pb'
    path.write_bytes(message().SerializeToString())
    found = subprocess.run([sys.executable, '-c', textwrap.dedent(LOAD), path], capture_output=True, text=True, timeout=60)
    refused, *ran = found.stdout.splitlines()
    assert refused.startswith('ValueError: Could not find callback with key=pyfunc_'), found.stderr
    assert ran == ['[10.0, 20.0] [11.0, 21.0] [22.0, 42.0] 4', '(2,) [10.0, 10.0]']


def test_this_process_finds_its_own_functions_without_trust() -> None:
    ran = []
    with v1.Graph().as_default() as graph:
        y = tf.numpy_function(lambda: ran.append(1) or np.float32(5), [], tf.float32, name='y', serialize=True)
    with v1.Graph().as_default(), v1.Session() as session:
        imported, = tf.import_graph_def(graph.as_graph_def(), return_elements=['y:0'])
        assert session.run(imported) == 5. and ran == [1] and y.graph is graph


class Trap:
    """Says so when it is unpickled."""

    def __reduce__(self) -> Any:
        return pytest.fail, ('unpickled without trust',)


def test_nothing_is_unpickled_without_trust() -> None:
    changed = message()
    for node in changed.node:
        if stored_function.ATTR in node.attr:
            node.attr[stored_function.ATTR].s = pickle.dumps(Trap())
    with v1.Graph().as_default():
        assert tf.import_graph_def(changed, return_elements=['y'])[0].type == 'EagerPyFunc'
        with pytest.raises(pytest.fail.Exception):
            tf.import_graph_def(changed, trust=True)


@pytest.mark.parametrize(('body', 'match'), [
    (b'', 'cannot be loaded: EOFError'), (b'nonsense', 'cannot be loaded'),
    (pickle.dumps((1, 2, 3, 4, 5)), 'another version'), (pickle.dumps(5), 'cannot be loaded: TypeError'),
])
def test_damaged_bodies(body: bytes, match: str) -> None:
    changed = message()
    for node in changed.node:
        if node.name == 'z':
            node.attr[stored_function.ATTR].s = body
    with v1.Graph().as_default() as graph:
        with pytest.raises(ValueError, match=match):
            tf.import_graph_def(changed, trust=True)
        assert graph.get_operations() == []


def test_what_cannot_be_stored() -> None:
    with v1.Graph().as_default() as graph:
        v = v1.get_variable('v', initializer=2., use_resource=True)
        count = len(graph.get_operations())
        with pytest.raises(ValueError, match=r'reads variables of this process: v:0. Pass them in `inp`'):
            tf.py_function(lambda: v * 2., [], tf.float32, serialize=True)
        lock = __import__('threading').Lock()
        with pytest.raises(ValueError, match=r'cannot be stored: TypeError: cannot pickle'):
            tf.numpy_function(lambda: lock and np.float32(1), [], tf.float32, serialize=True)
        assert len(graph.get_operations()) == count


def test_cloudpickle_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'cloudpickle', None)
    with v1.Graph().as_default(), pytest.raises(ImportError, match=r"pip install 'pyfuncdbg\[serialize\]'"):
        tf.numpy_function(lambda: np.float32(1), [], tf.float32, serialize=True)


def test_code_is_of_its_file_where_that_has_the_same_text(tmp_path: Path) -> None:
    source = tmp_path / 'model.py'
    source.write_text('def outer(x):\n    def inner(y):\n        return y * 2\n    return inner(x)\n')
    space: dict[str, Any] = {'__name__': '__main__'}        # so that it is stored, not named
    exec(compile(source.read_text(), str(source), 'exec'), space)
    with v1.Graph().as_default() as graph:
        tf.numpy_function(space['outer'], [1.], tf.float32, name='y', serialize=True)
    body = graph.as_graph_def().node[-1].attr[stored_function.ATTR].s

    def files() -> set[str]:
        stored_function.fingerprint.cache_clear()           # as in another process
        code = stored_function.loaded(body, 'PyFunc').func.__code__
        return {one.co_filename for one in (code, *code.co_consts) if isinstance(one, CodeType)}
    assert files() == {str(source)}
    source.write_text(source.read_text() + '# edited\n')
    assert files() == {'<dynamic-code>'}
    source.unlink()
    assert files() == {'<dynamic-code>'}
