"""What wrapped functions may return: layouts, dtypes, counts, strings, memory."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

import pyfuncdbg.tf as tf
from pyfuncdbg.errors import InternalError, InvalidArgumentError, UnknownError
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.types.dtypes import as_dtype
from pyfuncdbg.hosts.numpy.ops.script.calls import numpy_function, py_func, py_function
from pyfuncdbg.hosts.numpy.ops.variables.variable import Variable
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor
from pyfuncdbg.hosts.numpy.runtime.sessions.session import Session

DTYPES = ['float16', 'float32', 'float64', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64', 'bool',
          'complex64', 'complex128']


def in_session(func: Any, types: Any, inp: Any = ()) -> Any:
    with Graph().as_default():
        y = py_func(func, list(inp), types)
        with Session() as session:
            return session.run(y)


def layouts(array: np.ndarray[Any, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """The same numbers in other memory."""
    wide = np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array
    locked = array.copy()
    locked.flags.writeable = False
    return {'plain': array, 'fortran': np.asfortranarray(array) if array.ndim else array, 'strided': wide,
            'read-only': locked, 'swapped': array.astype(array.dtype.newbyteorder()),
            'reversed': array[::-1][::-1] if array.ndim else array}


SHAPES = arrays.array_shapes(min_dims=0, max_dims=3, max_side=3)


@given(st.sampled_from(DTYPES).flatmap(lambda name: arrays.arrays(name, SHAPES)),
       st.sampled_from(['plain', 'fortran', 'strided', 'read-only', 'swapped', 'reversed']))
def test_every_dtype_layout_and_rank_round_trips(array: np.ndarray[Any, Any], layout: str) -> None:
    laid = layouts(array)[layout]
    types = as_dtype(array.dtype)
    by_session = in_session(lambda: laid, types)
    eager = py_function(lambda: laid, [], types)
    for found in (np.asarray(by_session), eager.numpy()):
        assert found.dtype == array.dtype and found.shape == array.shape
        np.testing.assert_array_equal(found, array)
    kept = eager._value
    assert isinstance(kept, np.generic) if not array.ndim else kept.flags.c_contiguous and kept.dtype.isnative


@pytest.mark.parametrize(('returned', 'types', 'expected'), [
    (np.float64(1.5), tf.float32, 1.5), (np.array([1.5]), tf.float32, [1.5]), (2.5, tf.float32, 2.5), (2, tf.float32, 2.),
    (np.array([1, 2]), tf.float32, [1., 2.]), (True, tf.float32, 1.), ([[1., 2.]], tf.float32, [1., 2.]),
    (np.array([1.5]), tf.int32, [1]), (np.array([2**40]), tf.int32, [0]), (-1, tf.uint8, 255), (300, tf.uint8, 44),
    (np.int64(300), tf.uint8, 44), (np.array([1.5]), tf.bool, [True]), (b'ab\x00', tf.string, b'ab\x00'),
    (1.5, tf.bfloat16, 1.5), (range(3), tf.int32, [0, 1, 2])])
def test_py_function_casts(returned: Any, types: Any, expected: Any) -> None:
    found = py_function(lambda: returned, [], types)
    assert found.dtype is types
    value = found.numpy()
    assert (value.tolist() if isinstance(value, np.ndarray) else value) == expected


@pytest.mark.parametrize(('returned', 'types', 'kind', 'text'), [
    (lambda: tf.constant(1., tf.float64), tf.float32, InvalidArgumentError,
     'ValueError: Tensor conversion requested dtype float32 for Tensor with dtype float64: '),
    (lambda: 'a', tf.float32, InvalidArgumentError, "TypeError: Cannot convert 'a' to EagerTensor of dtype float"),
    (lambda: 1.5, tf.int32, InvalidArgumentError, 'TypeError: Cannot convert 1.5 to EagerTensor of dtype int32'),
    (lambda: [[[1.], [2., 3.]]], tf.float32, InvalidArgumentError, "ValueError: Can't convert non-rectangular"),
    (object, tf.float32, InvalidArgumentError, 'ValueError: Attempt to convert a value'),
    (lambda: Variable(1.), tf.float32, UnknownError, 'RuntimeError: Attempting to return a variable from an eagerly'),
    (lambda: 1., [], UnknownError, 'IndexError: list index out of range'),
    (lambda: None, tf.float32, InvalidArgumentError, r'pyfunc_\d+ returns 0 values, but expects to see 1 values\.'),
    (lambda: np.ones([2, 3]), [tf.float64] * 2, InvalidArgumentError,
     r'pyfunc_\d+ returns 1 values, but expects to see 2 values\.'),
])
def test_py_function_refuses(returned: Any, types: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=r'device:CPU:0\}\} ' + text):
        py_function(returned, [], types)


def test_py_function_drops_what_is_too_much() -> None:
    assert [float(t) for t in py_function(lambda: [1., 2., 3.], [], [tf.float32] * 2)] == [1., 2.]
    assert float(py_function(lambda: (1., 2.), [], tf.float32)) == 1.


@pytest.mark.parametrize(('returned', 'types', 'kind', 'text'), [
    (2.5, tf.float32, InvalidArgumentError, r'0-th value returned by pyfunc_\d+ is double, but expects float'),
    (2, tf.float32, InvalidArgumentError, r'is int64, but expects float'), (True, tf.float32, InvalidArgumentError, 'bool'),
    ('a', tf.float32, InvalidArgumentError, 'is string, but expects float'),
    (1, tf.string, InvalidArgumentError, 'expects string'),
    ((np.float16(1), 2), [tf.float16, tf.int32], InvalidArgumentError, r'1-th value .* is int64, but expects int32'),
    (None, tf.float32, InvalidArgumentError, r'pyfunc_\d+ returns 0 values, but expects to see 1 values\.'),
    ([1., 2., 3.], [tf.float64] * 2, InvalidArgumentError, r'returns 3 values, but expects to see 2 values\.'),
    (1., [], InvalidArgumentError, r'returns 1 values, but expects to see 0 values\.'),
    ({'a': 1.}, tf.float32, InternalError, 'Unsupported object type dict'),
    ([None], tf.float32, InternalError, 'Unsupported object type NoneType'),
    (np.array([1.], object), tf.float64, InternalError, 'Unsupported object type float'),
    (np.array([(1, 2.)], [('a', int), ('b', float)]), tf.float64, InternalError, 'Unsupported numpy data type'),
    (np.array(['2020-01-01'], 'M8[D]'), tf.int64, InternalError, 'Unsupported numpy type: NPY_DATETIME'),
    (np.longdouble(1), tf.float64, InternalError, 'Unsupported numpy type: NPY_LONGDOUBLE'),
    ([[1., [2.]]], tf.float64, InvalidArgumentError, 'ValueError: '),
    ('\ud800', tf.string, InvalidArgumentError, 'UnicodeEncodeError')])
def test_numpy_function_in_a_graph_refuses(returned: Any, types: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        in_session(lambda: returned, types)


@pytest.mark.parametrize(('returned', 'expected'), [
    ('é', 'é'.encode()), (b'a\x00', b'a\x00'), (np.array(['a', 'bbb']), [b'a', b'bbb']),
    (np.array([b'a', b'bbb\x00']), [b'a', b'bbb']),
    (np.array([b'a', 'b\x00'], object), [b'a', b'b\x00']), ([['a', b'bb\x00']], [b'a', b'bb\x00']), (np.str_('x'), b'x')])
def test_strings_become_bytes(returned: Any, expected: Any) -> None:
    found = in_session(lambda: returned, tf.string)
    assert (found.tolist() if isinstance(found, np.ndarray) else found) == expected
    eager = py_function(lambda: returned, [], tf.string).numpy()
    assert (eager.tolist() if isinstance(eager, np.ndarray) else eager) == expected


@pytest.mark.parametrize(('returned', 'expected'), [
    (2.5, 'float32'), (3, 'int32'), (np.float64(1), 'float64'), (np.array([1, 2]), 'int64'), ('é', 'string'),
    (None, None), ({'b': 1, 'a': 2.}, ['float32', 'int32']), ([1, [2, (3.,)]], ['int32', 'int32', 'float32']),
    ((None, 1), [None, 'int32']), ([], [])])
def test_eager_numpy_function_takes_what_comes(returned: Any, expected: Any) -> None:
    found = numpy_function(lambda: returned, [], 'no dtype at all')
    names = [None if t is None else t.dtype.name for t in (found if isinstance(found, list) else [found])]
    assert (names if isinstance(found, list) else names[0]) == expected


def test_an_eager_tensor_is_an_array_for_numpy_function() -> None:
    assert in_session(lambda: tf.constant([1., 2.]), tf.float32).tolist() == [1., 2.]


@pytest.mark.parametrize('style', ['py eager', 'py graph', 'numpy graph', 'numpy eager'])
@pytest.mark.parametrize('kind', ['array', 'list', 'view', 'argument'])
def test_a_returned_buffer_that_the_function_keeps_is_copied(style: str, kind: str) -> None:
    buffer = np.ones(4096, np.float32)

    def give() -> Any:
        return {'array': buffer, 'list': [buffer], 'view': buffer[:], 'argument': np.asarray(buffer)}[kind]

    op = py_function if style.startswith('py') else numpy_function
    if style.endswith('eager'):
        value = op(give, [], tf.float32)._value
    else:
        with Graph().as_default():
            y = op(give, [], tf.float32)
            later = py_func(lambda a: buffer.__setitem__(0, 7.) or a.copy(), [y], tf.float32)
            with Session() as session:
                value = session.run(later)
    buffer[:] = 9.
    assert value.tolist() == [1.] * 4096


@pytest.mark.parametrize('op', [py_function, py_func])
def test_a_fresh_array_is_not_copied(op: Any) -> None:
    made: list[int] = []

    def fresh() -> Any:
        array = np.zeros(4096, np.float32)
        made.append(id(array))
        return array

    if op is py_function:
        assert id(py_function(fresh, [], tf.float32)._value) == made[0]
    else:
        seen: list[int] = []
        with Graph().as_default():
            y = py_func(lambda a: seen.append(id(a)) or a, [py_func(fresh, [], tf.float32)], tf.float32)
            tensor = py_function(lambda a: seen.append(id(a._value)) or a, [py_func(fresh, [], tf.float32)], tf.float32)
            with Session() as session:
                session.run([y, tensor])
        assert seen[1] == made[1]


def test_a_result_of_a_variable_is_its_value_for_numpy_function() -> None:
    variable = Variable([1., 2.])
    assert type(numpy_function(lambda: variable, [], tf.float32)) is EagerTensor
    assert in_session(lambda: variable, tf.float32).tolist() == [1., 2.]
