"""A program that calls functions in all the ways TensorFlow has, recorded into a folder; `test_tensorflow_compiled` runs it
with the compiled modules and without."""
from __future__ import annotations

import json
import logging
import os
import sys
import warnings
import zlib
from collections import Counter
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from seen_calls import Seen

import pyfuncdbg
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.observers.record import call_recorder
from pyfuncdbg.observers.record.recorder import Recorder, recorders

FOLDER = Path(sys.argv[1])
v1 = tf.compat.v1
begun: Counter[str] = Counter()                 # by site: calls that the Python form of the recorder saw begin
logger = logging.getLogger('demo')
logger.addHandler(logging.StreamHandler(sys.stdout))


class Unhashable:
    """A function that is a key of nothing."""

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x: Any) -> Any:
        return -x


class BrokenError(Exception):
    """Cannot be made into text."""

    def __str__(self) -> str:
        raise RuntimeError('no text')


def note_beginnings(recorder: Recorder) -> None:
    """Count the calls that the chain of hooks makes, not the compiled form."""
    begins = recorder.on_begin

    def noted(call: Any) -> Any:
        if Path(sys._getframe(1).f_code.co_filename).parent.name in ('hooks', 'record'):
            begun[call.site.name] += 1
        return begins(call)
    recorder.on_begin = noted


def show(value: Any) -> None:
    for one in value if isinstance(value, (list, tuple)) else [value]:
        array = np.asarray(one)
        text = array.ravel()[:6].tolist()
        print(array.dtype, array.shape, text, zlib.crc32(array.tobytes()) if array.dtype != object else '')


def tried(work: Any) -> None:
    """Show what comes of it, or its error as the user sees it."""
    try:
        show(work())
    except BaseException as error:
        seen: set[int] = set()
        told: BaseException | None = error
        while told is not None and id(told) not in seen:
            seen.add(id(told))
            entry = told.__traceback__
            print(type(told).__name__, told.args if isinstance(told, BrokenError) else str(told), told.__suppress_context__)
            while entry is not None:
                print('   ', entry.tb_frame.f_code.co_filename, entry.tb_lineno, entry.tb_frame.f_code.co_name)
                entry = entry.tb_next
            told = told.__cause__ or told.__context__


def times(function: Any, *values: Any, count: int = 3) -> None:
    for _ in range(count):
        tried(lambda: function(*values))


# ---------------------------------------------------------------------- functions
def double(x: Any) -> Any:
    return x * 2


def speak(x: Any) -> Any:
    print('said', x.sum())
    sys.stderr.write('told\n')
    warnings.warn('warned', UserWarning, stacklevel=1)
    logger.warning('logged %s', x.shape)
    return np.log(x * 0) / 0


def quiet_errors(x: Any) -> Any:
    np.seterr(divide='ignore')
    x = 1 / (x * 0)
    with np.errstate(invalid='raise'):
        try:
            return x / x
        except FloatingPointError as error:
            print(error)
            return x


def write_to(x: Any) -> Any:
    x[...] = 7
    return x.sum()


def redirected(x: Any) -> Any:
    with redirect_stdout(StringIO()) as kept:
        print('kept')
    sys.stdout, before = StringIO(), sys.stdout
    print('lost')
    sys.stdout = before
    return np.float32(len(kept.getvalue()))


def failing(x: Any) -> Any:
    held = x * 3
    raise ValueError(f'bad {held.shape}')


def leaving(x: Any) -> Any:
    raise SystemExit(3)


def raising(error: BaseException) -> Any:
    def raises(x: Any) -> Any:
        raise error
    return raises


def forking(x: Any) -> Any:
    child = os.fork()
    if not child:
        recorders()[0].note('child', {'said': 1})
        recorders()[0].stop()
        os._exit(0)
    print('child ended', os.waitpid(child, 0)[1])
    return x + 1


# ---------------------------------------------------------------------- parts of the program
def numpied(function: Any, dtype: Any, name: str) -> Any:
    return tf.function(lambda *x: tf.numpy_function(function, list(x), dtype, name=name))


def eagerly(function: Any, dtype: Any, name: str) -> Any:
    return tf.function(lambda *x: tf.py_function(function, list(x), dtype, name=name))


def kinds_of_values() -> None:
    rising = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    values = {'scalar': np.float32(2), 'whole': np.int64(3), 'vector': rising[0, 0], 'cube': rising,
              'kb20': np.ones(5000, np.float32), 'kb80': np.ones((20, 1000), np.float32), 'flag': np.bool_(True),
              'flags': np.array([True, False]), 'wide': np.complex128(1 + 2j), 'text': np.array([b'ab', b'c\0'], object),
              'empty': np.zeros((0, 3)), 'word': np.array(b'xy', object)}
    for name, value in values.items():
        tensor = tf.constant(value)
        for made, kind in ((numpied, 'n'), (eagerly, 'e')):
            times(made(lambda x: x, tensor.dtype, f'{kind}_{name}'), tensor)
    short = tf.constant([1.5, 2], tf.bfloat16)
    for made, kind in ((numpied, 'n'), (eagerly, 'e')):
        times(made(lambda x: x, tf.bfloat16, f'{kind}_short'), short)
    times(numpied(lambda x: x.T, tf.float32, 'turned'), tf.constant(rising[0]))
    times(tf.function(lambda x: (tf.numpy_function(lambda x: None, [x], [], name='nothing'), x)[1]), tf.constant(1.0))
    times(numpied(lambda x: [x, x + 1], [tf.float32, tf.float32], 'two'), tf.constant([1.0]))
    times(eagerly(lambda x: [x, x + 1], [tf.float32, tf.float32], 'two_eager'), tf.constant([1.0]))
    times(numpied(lambda x: 'str', tf.string, 'str'), tf.constant(1.0))
    times(numpied(lambda x: b'bytes', tf.string, 'bytes'), tf.constant(1.0))
    times(numpied(lambda x: object(), tf.float32, 'objects'), tf.constant(1.0))
    times(numpied(lambda x: x, tf.int32, 'of_another_type'), tf.constant(1.0))
    times(numpied(lambda *x: sum(x), tf.float32, 'many'), *[tf.constant(float(i)) for i in range(9)])


def kinds_of_scalars() -> None:
    for name in ('int8', 'int16', 'int32', 'uint8', 'uint16', 'uint32', 'uint64', 'float16', 'float64', 'complex64',
                 'bfloat16'):
        for made, kind in ((numpied, 'n'), (eagerly, 'e')):
            times(made(lambda x: x, name, f'{kind}_{name}'), tf.cast(tf.constant(3.0), name))
    times(numpied(lambda x: x * np.nan, tf.float64, 'no_number'), tf.constant(-1.0, tf.float64))


def what_functions_do() -> None:
    x = tf.constant([1.0, 2])
    for function in (speak, quiet_errors, write_to, redirected, failing):
        times(numpied(function, tf.float32, f'n_{function.__name__}'), x)
        times(eagerly(lambda x, function=function: function(x.numpy()), tf.float32, f'e_{function.__name__}'), x)
    for index, error in enumerate((ValueError('v'), KeyboardInterrupt('k'), StopIteration('s'), SystemExit(3),
                                   BrokenError('b'), MemoryError(), TypeError('t'))):
        times(numpied(raising(error), tf.float32, f'n_raises_{index}'), x)
        if not isinstance(error, BrokenError):  # of such an error TensorFlow's `py_function` crashes the process
            times(eagerly(raising(error), tf.float32, f'e_raises_{index}'), x)
    times(numpied(forking, tf.float32, 'forking'), x)


def at_once() -> None:
    """Eager calls: functions that stay, and such that are made for one call; several on a line, and all in one."""
    x = tf.constant([1.0, 2])
    for function in (double, speak, quiet_errors, write_to, redirected, failing, forking, leaving, np.sin, Unhashable()):
        name = f'at_{getattr(function, "__name__", "")}'
        times(lambda function=function, name=name: tf.numpy_function(function, [x], tf.float32, name=name))
    for factor in range(3):
        tried(lambda factor=factor: tf.numpy_function(lambda x: x * factor, [x], tf.float32, name='closure'))
        tried(lambda: (tf.numpy_function(double, [x], tf.float32, name='line'), tf.numpy_function(double, [x], tf.float32)))
        inside = tf.numpy_function(double, [x], tf.float32, name='inside')
        times(lambda inside=inside: tf.numpy_function(double, [inside], tf.float32, name='outside'))
    times(lambda: tf.numpy_function(lambda: None, [], [], name='nothing_at_once') or 0)
    times(lambda: tf.numpy_function(lambda x: [x, 2 * x], [3.0], [tf.float32, tf.float32], name='two_at_once'))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.numpy_function(double, [x], tf.float32, name='on_tape')
    print(tape.gradient(y, x))


def at_once_with_tensors() -> None:
    """Eager `py_function`s, which TensorFlow registers for one call each."""
    x = tf.constant([1.0, 2])
    equal: list[Any] = []
    for function in (double, speak, quiet_errors, write_to, redirected, failing, forking, leaving, tf.sin, np.sin,
                     Unhashable(), partial(tf.add, 1.0)):
        name = f'now_{getattr(function, "__name__", type(function).__name__)}'
        times(lambda function=function, name=name: tf.py_function(
            function if function in (tf.sin, double) or name[4:] in ('Unhashable', 'partial')
            else lambda x: function(x.numpy()), [x], tf.float32, name=name))
    for factor in range(3):
        tried(lambda factor=factor: tf.py_function(lambda x: x * factor, [x], tf.float32, name='now_closure'))
        tried(lambda: (tf.py_function(double, [x], tf.float32, name='now_line'), tf.py_function(double, [x], tf.float32)))
        inside = tf.py_function(double, [x], tf.float32, name='now_inside')
        times(lambda inside=inside: tf.py_function(double, [inside], tf.float32, name='now_outside'))
        tried(lambda: tf.py_function(lambda x: tf.py_function(double, [x], tf.float32, name='now_inner') + 1, [x],
                                     tf.float32, name='now_outer'))
    for file in 'ab':                           # of equal code
        functions: dict[str, Any] = {}
        exec(compile('def same(x):\n    return x + 5\n', f'{file}.py', 'exec'), functions)
        equal.append(functions['same'])
    for function in equal:
        tried(lambda function=function: (tf.py_function(function, [x], tf.float32, name='now_same'),
                                         tf.numpy_function(function, [x], tf.float32, name='now_same')))
    times(lambda: tf.py_function(lambda: None, [], [], name='now_nothing') or 0)
    times(lambda: tf.py_function(lambda x: [x, 2 * x], [3.0], [tf.float32, tf.float32], name='now_two'))
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(lambda x: x * x, [x], tf.float32, name='now_first')
            z = tf.py_function(lambda y: y * y, [y], tf.float32, name='now_second')
        show(tape.gradient(z, x))


def sessions() -> None:
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None], name='x')
        one = v1.py_func(double, [x], tf.float32, name='one')
        two = v1.py_func(failing, [x], tf.float32, name='two')
        wrote = v1.py_func(write_to, [x], tf.float32, name='wrote')
        eager = tf.py_function(lambda a: a * a, [x], tf.float32, name='squared')
        gradient = tf.gradients(eager, [x])[0]
        plain = x + 1
        counter = v1.get_variable('counter', (), initializer=v1.zeros_initializer())
        more = v1.assign_add(counter, 1.0)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for number in range(3):
                feed = {x: [float(number), 1.0]}    # a list: of an array TensorFlow copies some, and `wrote` changes others
                tried(lambda feed=feed: session.run([one, one, plain], feed))
                tried(lambda feed=feed: session.run({'a': eager}, feed)['a'])
                tried(lambda feed=feed: session.run(gradient, feed))
                tried(lambda feed=feed: session.run(wrote, feed))
                tried(lambda feed=feed: session.run(two, feed))
                tried(lambda: session.run(more))
                tried(lambda: session.run(more.op) or 0)
                tried(lambda: session.run(one, {x: [[1.0]]}))
            call = session.make_callable(one, [x])
            bare = session.make_callable(more)
            times(call, [5.0])
            times(bare)
            for _ in range(2):
                handle = session.partial_run_setup([one, plain], [x])
                tried(lambda handle=handle: session.partial_run(handle, one, {x: [2.0]}))
                tried(lambda handle=handle: session.partial_run(handle, plain))


def gradients() -> None:
    x = tf.Variable([3.0, 4.0])
    traced = eagerly(lambda a: a * a * a, tf.float32, 'cubed')
    for _ in range(3):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(traced(x) * 2)
        show(tape.gradient(y, x))


def nested() -> None:
    with tf.Graph().as_default():
        inner = v1.py_func(speak, [tf.constant([1.0, 2])], tf.float32, name='inner')
        bad = v1.py_func(failing, [tf.constant([1.0, 2])], tf.float32, name='inner_bad')
        session = v1.Session()

    def runs_session(x: Any) -> Any:
        return session.run(inner) + x.numpy()

    def runs_failing(x: Any) -> Any:
        return session.run(bad)

    def calls_eagerly(x: Any) -> Any:
        print('outside')
        found = tf.numpy_function(speak, [x], tf.float32, name='at_once')
        print('after')
        return found

    x = tf.constant([1.0, 2])
    for function in (runs_session, runs_failing, calls_eagerly):
        times(eagerly(function, tf.float32, function.__name__), x)
    session.close()


def datasets() -> None:
    data = tf.data.Dataset.range(24)
    show(sorted(data.map(lambda x: tf.numpy_function(double, [x], tf.int64, name='parallel'), num_parallel_calls=4)
                .as_numpy_iterator()))
    show(sorted(data.map(lambda x: tf.py_function(double, [x], tf.int64, name='parallel_eager'), num_parallel_calls=4)
                .as_numpy_iterator()))


def interrupted(name: str) -> None:
    """Functions in which what watches comes and goes."""
    x = tf.constant([1.0, 2])
    other = Recorder(FOLDER / f'{name}-other.pfd')
    seen = Seen()
    doing: dict[int, Any] = {4: other.start, 6: other.stop, 8: lambda: hooks.add(seen), 10: lambda: hooks.remove(seen),
                             12: lambda: recorders()[0].flush(), 14: lambda: pyfuncdbg.detach('tensorflow'),
                             18: lambda: recorders()[0].stop()}
    place = [0]

    def changes(x: Any) -> Any:
        place[0] += 1
        print('at', place[0])
        doing.get(place[0], lambda: None)()
        print('past', place[0])
        return x * place[0]

    for made, kind in ((numpied, 'n'), (eagerly, 'e')):
        called = made(changes, tf.float32, f'{kind}_changes')
        times(called, x, count=20)
        place[0] = 0
        if kind == 'n':
            pyfuncdbg.attach('tensorflow')
            doing[18] = lambda: None
            doing.pop(4), doing.pop(6)
    print(len(seen.calls))


def recorded(name: str, *parts: Any, **options: Any) -> None:
    """Run parts of the program, recorded."""
    print('-----', name)
    pyfuncdbg.attach('tensorflow')
    recorder = Recorder(FOLDER / f'{name}.pfd', **options)
    recorder.start()
    note_beginnings(recorder)
    try:
        for part in parts:
            part()
    finally:
        recorder.stop()
        pyfuncdbg.detach('tensorflow')


def main() -> None:
    """Everything, each part in a trace of its own."""
    recorded('values', kinds_of_values)
    recorded('full', kinds_of_values, what_functions_do, level='full')
    recorded('doing', what_functions_do, at_once)
    recorded('now', at_once_with_tensors, kinds_of_scalars)
    recorded('silent', what_functions_do, at_once, at_once_with_tensors, capture='off')
    recorded('only', what_functions_do, at_once, capture='only')
    recorded('none', sessions, level='none')
    recorded('small', sessions, kinds_of_values, at_once, full_limit=8)
    recorded('runs', sessions, gradients, nested, datasets)
    recorded('changing', lambda: interrupted('changing'))
    recorded('tiny', kinds_of_values, budget=64 << 10)
    facts = {'begun': begun, 'compiled': call_recorder.__file__.endswith('.so')}
    (FOLDER / 'facts.json').write_text(json.dumps(facts))


main()
