"""AutoGraph: what the programs compared with TensorFlow cannot show: lines, names, cells, and what is left as it is."""
from __future__ import annotations

import functools
import inspect
import traceback
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import pyfuncdbg.tf as tf
from pyfuncdbg.hosts.numpy.ops import autograph as autograph  # registers the operators
from pyfuncdbg.hosts.numpy.runtime.autograph.conversion import convert_function
from pyfuncdbg.hosts.numpy.runtime.autograph.converted_call import operators


def convert(function: Any) -> FunctionType:
    assert isinstance(function, FunctionType)
    return convert_function(function, operators)


def branches(x, y=3, *, k=4):
    """Its text."""
    if x > y:                                   # noqa: SIM108  the statement is what is tested
        z = x
    else:
        z = y
    return z + k


def straight(x):
    return tf.reduce_sum(x) * 2


def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)


class Private:
    __secret = 7

    def look(self, x):
        if x > 0:
            self.__value = x + self.__secret
        else:
            self.__value = x
        return self.__value


class TestTheConvertedFunction:
    def test_has_what_the_original_has(self) -> None:
        branches.mark = 'kept'          # type: ignore[attr-defined]
        made = convert(branches)
        assert made is not branches
        assert (made.__name__, made.__qualname__, made.__doc__, made.__module__) == (
            'branches', 'branches', 'Its text.', __name__)
        assert made.__defaults__ == (3,) and made.__kwdefaults__ == {'k': 4} and made.mark == 'kept'  # type: ignore[attr-defined]
        assert made.__globals__ is branches.__globals__
        assert made.__code__.co_filename == branches.__code__.co_filename
        assert made.__code__.co_firstlineno == branches.__code__.co_firstlineno
        assert inspect.signature(made) == inspect.signature(branches)

    def test_gives_what_the_original_gives_for_python_values(self) -> None:
        made = convert(branches)
        for arguments in ((1,), (5,), (1, 0), (2.5, 1)):
            assert made(*arguments) == branches(*arguments)
            assert type(made(*arguments, k=1)) is type(branches(*arguments, k=1))

    def test_is_itself_where_nothing_depends_on_tensors(self) -> None:
        assert convert(straight) is straight

    def test_is_made_once_for_all_closures_of_a_text(self) -> None:
        def closure(n):
            def inner(x):
                return x if x > n else n
            return inner
        one, two = convert(closure(1)), convert(closure(10))
        assert one.__code__ is two.__code__
        assert (one(5), two(5)) == (5, 10)

    def test_shares_cells_with_the_original(self) -> None:
        count = 0

        def counts(x):
            nonlocal count
            if x > 0:
                count += 1
            return count
        made = convert(counts)
        assert (made(1), counts(1), made(1), count) == (1, 2, 3, 3)

    def test_finds_itself_and_private_names(self) -> None:
        assert convert(factorial)(5) == 120
        made = convert(Private.look)
        one = Private()
        assert made(one, 1) == 8 and one._Private__value == 8   # type: ignore[attr-defined]

    def test_raises_at_the_lines_of_the_original(self) -> None:
        def fails(x):
            if x:
                for _ in (1,):
                    raise ValueError('here')
            return x
        made = convert(fails)
        lines = []
        for function in (fails, made):
            with pytest.raises(ValueError, match='here') as caught:
                function(1)
            frames = [f for f in traceback.extract_tb(caught.value.__traceback__) if f.filename == __file__]
            lines.append((frames[-1].lineno, frames[-1].name))
        assert lines[0] == lines[1] and lines[0][1] == 'fails'

    def test_keeps_lambdas_of_one_line_apart(self) -> None:
        pair = (lambda x: 'a' if x else 'b'), (lambda x: 'c' if x else 'd')
        assert [convert(one)(value) for one in pair for value in (True, False)] == ['a', 'b', 'c', 'd']

    def test_goes_with_the_original(self) -> None:
        import gc
        import weakref

        def made_here() -> weakref.ref[Any]:
            def local(x):
                return x if x else 0
            assert convert(local)(1) == 1
            return weakref.ref(local)
        known = made_here()
        gc.collect()
        assert known() is None


class TestWhatIsCalled:
    def test_generators_and_libraries_are_left_alone(self) -> None:
        def numbers(n):
            for i in range(n):
                if i:
                    yield i

        @tf.function
        def f(x):
            return x + sum(numbers(4)) + functools.reduce(lambda a, b: a + b, [1, 2])
        assert int(f(tf.constant(1))) == 10

    def test_a_loop_of_python_stays_one(self) -> None:
        seen = []

        @tf.function
        def f(x):
            for i in [1, 2, 3]:
                if i == 2:
                    continue
                seen.append(i)
            return x
        f(tf.constant(1))
        assert seen == [1, 3]

    def test_text_that_was_executed_runs_as_it_is(self) -> None:
        space: dict[str, Any] = {}
        exec('def f(x):\n    if x > 0:\n        return x\n    return -x', space)
        with pytest.raises(TypeError, match=r'Using a symbolic `tf.Tensor` as a Python `bool` is not allowed'):
            tf.function(space['f'])(tf.constant(1))

    def test_a_function_without_text_is_said_once(self, caplog: pytest.LogCaptureFixture) -> None:
        space: dict[str, Any] = {'tf': tf}
        exec(compile('def f(x):\n    return x + 1 if x is not None else x', 'nowhere.py', 'exec'), space)
        f = tf.function(space['f'])
        f(tf.constant(1))
        f(tf.constant(1.0))
        said = [one for one in caplog.messages if 'AutoGraph could not transform' in one]
        assert len(said) == 1 and 'do_not_convert' in said[0]

    def test_breaks_in_python_loops_over_tensors_are_refused(self) -> None:
        @tf.function
        def f(x):
            for i in range(3):
                if x > i:
                    break
            return x
        with pytest.raises(NotImplementedError, match='break and return statements which depend on a TF condition'):
            f(tf.constant(1))


class _Limited:
    __limit = 10

    def clipped(self, x):
        if x > self.__limit:
            return x * 0 + self.__limit
        return x


@tf.function
def _found(xs):
    result = tf.constant(0)
    for x in xs:
        if x > 2:
            result = x
            break
    else:
        result = tf.constant(-1)
    if (twice := result * 2) > 6:
        result = twice
    assert result > -5, 'too small'
    return result


def test_private_names_else_walrus_and_assert_are_converted() -> None:
    assert int(tf.function(_Limited().clipped)(tf.constant(50))) == 10
    assert [int(_found(tf.constant(given))) for given in ([1, 3, 4], [1, 4], [1, 2])] == [3, 8, -1]
    with pytest.raises(tf.errors.InvalidArgumentError, match='too small'):
        tf.function(lambda x: _checked(x))(tf.constant(1))


def _checked(x):
    assert x > 5, 'too small'
    return x


class TestGradients:
    @pytest.mark.parametrize('x', [0.6, 2.0])
    def test_through_a_loop_with_a_branch(self, x: float) -> None:
        @tf.function
        def f(v):
            y = v
            for i in tf.range(3):
                if y > 1.0:                     # noqa: SIM108
                    y = y * v
                else:
                    y = y + v
                if i == 2:
                    break
            return y

        def plain(v: float) -> float:
            y = v
            for _ in range(3):
                y = y * v if y > 1.0 else y + v
            return y
        v = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(v)
            y = f(v)
        assert float(y) == pytest.approx(plain(x))
        slope = (plain(x + 1e-6) - plain(x - 1e-6)) / 2e-6
        np.testing.assert_allclose(float(tape.gradient(y, v)), slope, rtol=1e-4)


