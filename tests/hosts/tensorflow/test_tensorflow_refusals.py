"""What TensorFlow refuses of a function's result is the error of that call, and the program meets what it meets alone."""
from __future__ import annotations

import os
import re
import subprocess
import sys
import traceback
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from scripted_user import ScriptedUser
from seen_calls import Seen

import pyfuncdbg
from pyfuncdbg.observers.debug.cards.node_card import node_card
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.inspecting.node_search import find_node
from pyfuncdbg.ui.views.calls.call import call_card
from pyfuncdbg.ui.views.graph.node import node_view

pytestmark = [pytest.mark.tensorflow, pytest.mark.timeout(300)]

RESULTS: dict[str, Callable[[Any], Any]] = {
    'double': lambda x: np.float64(x), 'array': lambda x: np.float64([1, 2]), 'two': lambda x: (np.float32(1),) * 2,
    'none': lambda x: None, 'empty': lambda x: [], 'in list': lambda x: [None], 'ragged': lambda x: [[1], [1, 2]],
    'object': lambda x: np.array([object()], object), 'dict': lambda x: {'a': 1}, 'set': lambda x: {1},
    'date': lambda x: np.datetime64('2020'), 'text': lambda x: 'a', 'texts': lambda x: np.array(['a']),
    'surrogate': lambda x: np.array(['\ud800'], object), 'long': lambda x: np.longdouble(1), 'huge': lambda x: 2 ** 70,
    'rows': lambda x: np.zeros(2, [('a', 'i4')]), 'int': lambda x: 3, 'longlong': lambda x: np.longlong(3),
    'half': lambda x: np.float16(1), 'complex': lambda x: np.complex64(1), 'right': lambda x: np.float32(3),
    'swapped': lambda x: np.array([1.0], '>f4'), 'masked': lambda x: np.ma.array([1.0], dtype='f4'),
    'bool': lambda x: np.bool_(True)}
APIS = ('numpy_function', 'py_function')
MODES = ('eager', 'function', 'session', 'map', 'lenient map')


def call(tf: Any, mode: str, api: str, function: Callable[[Any], Any], kind: Any) -> Any:
    """Call a function in one of the ways in which TensorFlow does."""
    wrapped = getattr(tf, api)
    if mode == 'eager':
        return wrapped(function, [tf.constant(1.0)], kind)
    if mode == 'function':
        return tf.function(lambda x: wrapped(function, [x], kind))(tf.constant(1.0))
    if mode == 'session':
        with tf.Graph().as_default():
            node = wrapped(function, [tf.constant(1.0)], kind)
            with tf.compat.v1.Session() as session:
                return session.run(node)
    data = tf.data.Dataset.from_tensors(np.float32(1)).map(lambda x: wrapped(function, [x], kind))
    return list((data.ignore_errors() if mode == 'lenient map' else data).as_numpy_iterator())


def outcome(tf: Any, *how: Any) -> tuple[str, str, list[Any], str]:
    """What the program meets: a value, or an error with its text and its way; without numbers that count up."""
    numbers = str.maketrans('', '', '0123456789')
    try:
        return '', '', [], repr(call(tf, *how)).translate(numbers)
    except Exception as error:
        way = [(entry.filename, entry.lineno, entry.name) for entry in traceback.extract_tb(error.__traceback__)]
        assert not hasattr(error, '_pyfuncdbg_refused')
        return type(error).__name__, str(error).translate(numbers), way, type(error.__cause__).__name__


@pytest.mark.parametrize('api', APIS)
@pytest.mark.parametrize('mode', MODES)
def test_a_refused_result_is_the_error_of_its_call(tf: Any, mode: str, api: str) -> None:
    for name, function in RESULTS.items():
        for kind in (tf.float32, tf.string):
            alone = outcome(tf, mode, api, function, kind)
            hook = Seen()
            with pyfuncdbg.attach('tensorflow'):
                pyfuncdbg.hooks.chain.hooks.add(hook)
                try:
                    watched = outcome(tf, mode, api, function, kind)
                finally:
                    pyfuncdbg.hooks.chain.hooks.remove(hook)
            where = f'{mode} {api} {name} {kind}'
            raised = [one.error for one in hook.calls if one.error is not None]
            told = isinstance(alone[0], str) and watched[3] not in ('NoneType', '') and alone[0] != ''
            assert watched[:3] == alone[:3], where
            assert told or watched[3] == alone[3], where
            failed = alone[0] != '' or (mode == 'lenient map' and watched[3] == '[]')
            assert len(raised) == failed, where
            if raised and not told and alone[0]:
                text = str(raised[0]).translate(str.maketrans('', '', '0123456789'))
                assert text in alone[1], where


def test_the_recorded_call_has_it_and_no_line_of_ours(tf: Any, tmp_path: Path) -> None:
    def wrong(value: Any) -> Any:
        return np.float64(value)

    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(tmp_path / 'it.pfd') as recorder:
        for mode in ('function', 'session', 'map'):
            with pytest.raises(tf.errors.InvalidArgumentError):
                call(tf, mode, 'numpy_function', wrong, tf.float32)
        with pytest.raises(ValueError, match='NPY_DATETIME'):
            call(tf, 'eager', 'numpy_function', lambda x: np.datetime64('2020'), tf.float32)
    with pyfuncdbg.load(recorder.path) as trace:
        found = [(made.error.type.rpartition('.')[2], made.error.message.partition('returned by')[0], made.site.function)
                 for made in trace.calls(failed=True) if made.error is not None]
        errors = [made.error for made in trace.calls(failed=True) if made.error is not None]
        frames = [frame.filename for error in errors for frame in error.frames]
    name = 'test_the_recorded_call_has_it_and_no_line_of_ours.<locals>.'
    assert found == [*[('InvalidArgumentError', '0-th value ', f'{name}wrong')] * 3,
                     ('ValueError', 'Failed to convert a NumPy array to a Tensor (Unsupported numpy type: NPY_DATETIME).',
                      f'{name}<lambda>')]
    assert not [file for file in frames if f'{os.sep}pyfuncdbg{os.sep}' in file]


def test_the_debugger_stops_at_it(tf: Any) -> None:
    values = [np.float32(2), np.float64(1)]
    script = [lambda stop: (stop.phase, str(stop.error)), 'retry', 'cont']
    with pyfuncdbg.attach('tensorflow'), ScriptedUser(script) as user:
        debugger.start()
        debugger.catching = True
        try:
            made = call(tf, 'function', 'numpy_function', lambda x: values.pop(), tf.float32)
        finally:
            debugger.catching = False
    phase, text = user.answers[0]
    assert phase == 'error' and text.endswith('is double, but expects float')
    assert float(made) == 2.0


PROGRAM = '''
import sys
import numpy as np, tensorflow as tf
def wrong(x):
    return np.float64(x)
@tf.function
def traced(x):
    return tf.numpy_function(wrong, [x], tf.float32)
@tf.function
def other(x):
    return tf.strings.to_number(tf.strings.as_string(x) + 'a')
@tf.function
def untrue(x):
    made = tf.numpy_function(lambda x: np.ones(3, np.float32), [x], tf.float32)
    made.set_shape([2])
    return made + x
if sys.argv[1] == 'handled':
    try:
        traced(tf.constant([1.0]))
    except tf.errors.InvalidArgumentError:
        pass
@tf.function
def raising(x):
    return tf.py_function(lambda x: {}['no key'], [x], tf.float32)
{'call': traced, 'shape': untrue, 'raised': raising}.get(sys.argv[1], other)(tf.constant([1.0, 2.0]))
'''


@pytest.mark.parametrize('which', ['call', 'node', 'shape', 'handled', 'raised'])
def test_the_report_says_of_what_a_program_died(tmp_path: Path, which: str) -> None:
    (tmp_path / 'dies.py').write_text(PROGRAM)
    root = str(Path(pyfuncdbg.__file__).resolve().parents[1])
    done = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', '--record', 'it.pfd', 'dies.py', which], cwd=tmp_path,
                          env=os.environ | {'PYTHONPATH': root, 'COLUMNS': '200'}, capture_output=True, text=True,
                          timeout=250)
    report = re.sub(r'[\s│]+', ' ', done.stderr[done.stderr.rindex('pyfuncdbg  '):])
    assert done.returncode == 1
    first = {'call': '0-th value returned by pyfunc_0 is double, but expects float (call #1)',
             'shape': 'Incompatible shapes: [3] vs. [2]'}.get(which, 'StringToNumberOp could not correctly convert string: ')
    if which == 'raised':                       # both are true: what the function raised, and what the program got
        told = "The program ended with KeyError: 'no key', raised as UnknownError (call #1)"
        assert re.search(r'\(\S+ \S?B\) ' + re.escape(told), report)
        return
    assert re.search(r'\(\S+ \S?B\) The program ended with InvalidArgumentError: ' + re.escape(first), report)
    assert ('InvalidArgumentError in call #1 PyFunc[0]' in report) is (which != 'node')
    assert 'No call raised' not in report or which == 'node'
    assert ('output 0 has shape [3], and its graph (set_shape) says [2]: Incompatible' in report) is (which == 'shape')


def test_a_shape_that_ensure_shape_refuses_is_the_error_of_its_call(tf: Any, tmp_path: Path) -> None:
    def sized(value: Any) -> Any:
        return np.ones([int(value)], np.float32)

    def fixed(value: Any) -> Any:
        return tf.ensure_shape(tf.numpy_function(sized, [value], tf.float32, name='sized'), [2])

    def eager(value: Any) -> Any:
        return tf.ensure_shape(tf.py_function(sized, [value], tf.float32, name='eager'), [2])

    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(tmp_path / 'it.pfd') as recorder:
        with pytest.raises(tf.errors.InvalidArgumentError, match='not compatible'):
            list(tf.data.Dataset.from_tensor_slices(np.float32([2, 3, 2])).map(fixed))
        with pytest.raises(tf.errors.InvalidArgumentError, match='not compatible'):
            tf.function(eager)(tf.constant(5.0))
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            node = fixed(tf.constant(7.0))
            session.run(node.op.inputs[0])      # the node that would refuse it does not run
            with pytest.raises(tf.errors.InvalidArgumentError, match='not compatible'):
                session.run(node)
    with pyfuncdbg.load(recorder.path) as trace:
        calls = [one for one in trace.calls() if one.site.name in ('sized', 'eager')]
        found = [(one.outputs[0].shape if one.outputs else (), one.error.message if one.error is not None else '')
                 for one in calls]
        failed = [one.number for one in trace.calls(kind='python', failed=True)]
    assert found[0] == ((2,), '') and '[3] is not compatible with expected shape [2].' in found[1][1]
    assert [(shape, text.partition('] is')[0].rpartition('[')[2]) for shape, text in found[-3:]] == [
        ((5,), '5'), ((7,), ''), ((7,), '7')]
    assert failed == [calls[1].number, *[calls[place].number for place in (-3, -1)]]


def shaped(tf: Any, size: Any) -> Any:
    """A vector of ones, by a wrapped function."""
    return tf.numpy_function(lambda count: np.ones(int(count), np.float32), [size], tf.float32)


def told(tf: Any, tmp_path: Path, run: Callable[[], Any]) -> tuple[list[tuple[int, str]], str]:
    """The input and the error of each call in order of the inputs; and how the program's error begins that tells of it."""
    raised = ''
    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(tmp_path / f'{len(list(tmp_path.iterdir()))}.pfd') as recorder:
        try:
            run()
        except tf.errors.OpError as error:
            raised = error.message
    with pyfuncdbg.load(recorder.path) as trace:
        calls = sorted((int(one.inputs[0].to_numpy()), one.error.message if one.error is not None else '')
                       for one in trace.calls())
    return calls, raised


@pytest.mark.parametrize('lenient', [False, True])
def test_a_parallel_map_tells_of_every_call_that_ensure_shape_refuses(tf: Any, tmp_path: Path, lenient: bool) -> None:
    data = tf.data.Dataset.from_tensor_slices(np.float32([3, 2, 4, 3])).map(
        lambda size: tf.ensure_shape(shaped(tf, size), [2]), num_parallel_calls=4)
    calls, raised = told(tf, tmp_path, lambda: list(data.ignore_errors() if lenient else data))
    assert calls == [(size, f'Shape of tensor PyFunc [{size}] is not compatible with expected shape [2].' * (size != 2))
                     for size, _ in calls]
    assert ('[3] is not compatible' in raised) is not lenient and (4, '') not in calls and (2, '') in calls


def test_only_the_call_that_an_error_names_has_it(tf: Any, tmp_path: Path) -> None:
    @tf.function
    def both(one: Any, other: Any) -> Any:
        first = tf.ensure_shape(shaped(tf, one), [2])
        with tf.control_dependencies([first]):
            return tf.ensure_shape(shaped(tf, other), [2])

    @tf.function
    def unused(size: Any) -> Any:
        made = shaped(tf, size)
        tf.ensure_shape(made, [2])
        return made

    @tf.function
    def fixed(size: Any) -> Any:
        made = shaped(tf, size)
        return made, tf.ensure_shape(made, [2])
    calls, _ = told(tf, tmp_path, lambda: both(tf.constant(2.), tf.constant(3.)))
    assert calls == [(2, ''), (3, 'Shape of tensor PyFunc_1 [3] is not compatible with expected shape [2].')]
    assert told(tf, tmp_path, lambda: unused(tf.constant(3.))) == ([(3, '')], '')
    assert told(tf, tmp_path, lambda: tf.function(lambda size: fixed(size)[0])(tf.constant(3.))) == ([(3, '')], '')
    data = tf.data.Dataset.from_tensors(np.float32(3)).map(lambda size: unused(size))
    assert told(tf, tmp_path, lambda: list(data)) == ([(3, '')], '')


def test_an_element_that_an_iterator_refuses_is_the_error_of_its_call(tf: Any, tmp_path: Path) -> None:
    def pair(size: Any) -> Any:
        made = shaped(tf, size)
        made.set_shape([2])
        return size, made

    def loose(size: Any) -> Any:
        made = tf.py_function(lambda count: tf.ones([int(count)]), [size], tf.TensorSpec([2], tf.float32))
        made.set_shape([None])
        return made

    data = tf.data.Dataset.from_tensor_slices(np.float32([2, 3, 2, 5]))
    calls, raised = told(tf, tmp_path, lambda: list(data.map(pair)))
    text = 'Incompatible shapes at component 1: expected [2] but got [3].'
    assert text in raised and {error for size, error in calls if size == 3} == {text}
    assert {error for size, error in calls if size != 3} == {''}
    calls, raised = told(tf, tmp_path, lambda: list(data.map(pair).take(1)))        # made ahead at most, and never taken
    assert raised == '' and {error for _, error in calls} == {''}
    calls, raised = told(tf, tmp_path, lambda: list(data.map(loose)))               # TensorFlow does not look at the spec
    assert raised == '' and {error for _, error in calls} == {''}
    calls, raised = told(tf, tmp_path, lambda: list(data.map(lambda size: pair(size)[1] + 1)))
    text = 'Incompatible shapes at component 0: expected [2] but got [3].'
    assert text in raised and {error for size, error in calls if size == 3} == {text}, 'a later node hands the shape on'


def untrue(tf: Any, size: Any) -> Any:
    made = shaped(tf, size)
    made.set_shape([2])
    return made


def specified(tf: Any, size: Any) -> Any:
    return tf.py_function(lambda count: tf.ones([int(count)]), [size], tf.TensorSpec([2], tf.float32))


@pytest.mark.parametrize(('function', 'says'), [(untrue, 'its graph (set_shape)'), (specified, 'the TensorSpec in Tout')],
                         ids=['set_shape', 'Tout'])
def test_what_a_shape_that_is_not_true_breaks_later_is_the_error_of_its_call(tf: Any, tmp_path: Path, function: Any,
                                                                             says: str) -> None:
    begin, ones = f'output 0 has shape [3], and {says} says [2]: ', tf.constant([1.0, 1.0])
    data = tf.data.Dataset.from_tensor_slices(np.float32([2, 3, 2]))

    def error_of(run: Callable[[], Any]) -> str:
        """The error of the calls for 3, which the program's tells too; others have none."""
        calls, raised = told(tf, tmp_path, run)
        assert {error for size, error in calls if size == 2} <= {''}
        (error,) = {error for size, error in calls if size == 3}
        assert error.startswith(begin) and error.removeprefix(begin) in raised
        return error.removeprefix(begin)
    summed = 'Incompatible shapes: ['           # TensorFlow may turn the operands round
    assert error_of(lambda: tf.function(lambda size: function(tf, size) * 2.0 + ones)(tf.constant(3.0))).startswith(summed)
    assert error_of(lambda: list(data.map(lambda size: ones * function(tf, size)))).startswith(summed)
    assert error_of(lambda: list(data.map(lambda size: function(tf, size)).batch(3))).startswith('Cannot add tensor to the')
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        node = function(tf, tf.constant(3.0)) + tf.compat.v1.placeholder_with_default([1.0, 1.0], [2])
        assert error_of(lambda: session.run(node)).startswith(summed)


def test_a_shape_that_is_not_true_and_breaks_nothing_is_no_error(tf: Any, tmp_path: Path) -> None:
    @tf.function
    def others(size: Any) -> Any:
        with tf.control_dependencies([untrue(tf, size)]):
            return tf.range(size) + tf.range(size + 1.0)
    assert told(tf, tmp_path, lambda: tf.function(lambda size: untrue(tf, size))(tf.constant(3.0))) == ([(3, '')], '')
    calls, raised = told(tf, tmp_path, lambda: others(tf.constant(3.0)))
    assert 'Incompatible shapes: [3] vs. [4]' in raised and calls == [(3, '')], 'of another node'


def test_what_nothing_checks_of_tout_is_said_at_its_call(tf: Any, tmp_path: Path) -> None:
    def three(value: Any) -> Any:
        return np.ones(3, np.float32)

    spec, one = tf.TensorSpec([2], tf.float32), tf.constant(1.0)
    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(tmp_path / 'it.pfd') as recorder:
        made = [tf.py_function(three, [one], spec, name='eager'),
                tf.function(lambda x: tf.py_function(three, [x], spec, name='graph'))(one),
                tf.numpy_function(lambda x: np.int64(2), [one], [tf.float32], name='plain'),
                tf.numpy_function(lambda x: [0.1, 1], [one], [tf.float32, tf.int32], name='python'),
                *[tf.py_function(three, [one], tf.TensorSpec([size], tf.float32), name='sizes') for size in (2, 3)]]
    assert [tensor.dtype.name for tensor in made[3]] == ['float32', 'int32']
    cards = {}
    for name, text in (('eager', 'float32 [2]'), ('graph', 'float32 [2]'), ('plain', 'float32')):
        cards[name] = f'not as declared: Tout says {text}, and nothing checks it here'
    with pyfuncdbg.load(recorder.path) as trace:
        for call in trace.calls():
            card = shown(call_card(call))
            assert cards.get(call.site.name, 'out 0') in card
            if call.site.name in cards:
                assert cards[call.site.name] in shown(node_view(node_card(trace, find_node(trace, call.site.name))))
        told = {call.site.name: [(tensor.dtype, tensor.to_numpy().tolist()) for tensor in call.outputs]
                for call in trace.calls()}
        sizes = ['not as declared' in shown(call_card(call)) for call in trace.calls() if call.site.name == 'sizes']
    assert told['python'] == [('float32', np.float32(0.1).item()), ('int32', 1)], 'of Python numbers TensorFlow makes these'
    assert sizes == [True, False], 'one line that declares two shapes'


def shown(page: Any) -> str:
    """A page as text."""
    console = Console(file=StringIO(), width=120)
    console.print(page)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_the_debugger_stops_at_a_shape_that_a_map_refuses(tf: Any) -> None:
    sizes = [2, 3]
    data = tf.data.Dataset.from_tensors(np.float32(2)).map(lambda _: tf.ensure_shape(
        tf.numpy_function(lambda: np.ones(sizes.pop(), np.float32), [], tf.float32), [2]))
    with pyfuncdbg.attach('tensorflow'), ScriptedUser([lambda stop: (stop.phase, str(stop.error)), 'retry', 'cont']) as user:
        debugger.start()
        debugger.catching = True
        try:
            made = list(data.as_numpy_iterator())
        finally:
            debugger.catching = False
    assert user.answers[0] == ('error', 'Shape of tensor PyFunc [3] is not compatible with expected shape [2].')
    assert made[0].shape == (2,)
