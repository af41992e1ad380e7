"""Python values as tensors: TensorFlow 2.21's answers as literals, and NumPy as the judge of the rest."""
import collections
import enum
import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from pyfuncdbg.errors import InvalidArgumentError, UnimplementedError
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.convert import cast_array, to_array
from pyfuncdbg.hosts.numpy.graph.types.dimension import Dimension
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape


class Eager:
    """What conversion reads of an eager tensor."""

    def __init__(self, value: Any, dtype: dtypes.DType | None = None) -> None:
        self._value = to_array(value, dtype)

    def __repr__(self) -> str:
        return f'<tensor {self._value}>'


class Number(enum.IntEnum):
    THREE = 3


class ArrayLike:
    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array([1, 2], np.int16)


class RowLike:
    def __len__(self) -> int:
        return 2

    def __getitem__(self, i: int) -> int:
        if i > 1:
            raise IndexError
        return i


def _check(value: Any, name: str, expected: Any) -> None:
    """The runtime's convention: NumPy scalars at rank 0, C-ordered native arrays above, object arrays for strings."""
    assert dtypes.of_value(value).name == name
    assert value.dtype == getattr(dtypes, name).array
    if name == 'string' or value.ndim:
        assert type(value) is np.ndarray and value.flags.c_contiguous
    else:
        assert isinstance(value, np.generic)
    expected = np.asarray(expected, value.dtype)
    assert value.shape == expected.shape
    np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize(('value', 'name', 'expected'), [
    (1, 'int32', 1), (2**31 - 1, 'int32', 2**31 - 1), (2**31, 'int64', 2**31), (-2**31, 'int32', -2**31),
    (-2**31 - 1, 'int64', -2**31 - 1), (2**63 - 1, 'int64', 2**63 - 1), ([1, 2**40], 'int64', [1, 2**40]),
    (True, 'bool', True), (1.5, 'float32', 1.5), (math.nan, 'float32', math.nan), (math.inf, 'float32', math.inf),
    (1j, 'complex128', 1j), ([1, True], 'int32', [1, 1]), ([1., True], 'float32', [1, 1]), ([1, 2.], 'float32', [1, 2]),
    ('é', 'string', b'\xc3\xa9'), (b'\xff', 'string', b'\xff'), (['a', b'b'], 'string', [b'a', b'b']),
    (np.str_('x'), 'string', b'x'), (np.array(['a', 'bbb']), 'string', [b'a', b'bbb']), (np.array(b'a\0'), 'string', b'a'),
    (np.array([b'a', 'b\0'], object), 'string', [b'a', b'b\0']), (bytearray(b'ab'), 'int32', [97, 98]),
    (np.array(3), 'int64', 3), (np.float64(1), 'float64', 1), (np.int8(1), 'int8', 1),
    (np.array([1, 2], '>i4'), 'int32', [1, 2]), (np.array([1., 2.], '>f8')[::-1], 'float64', [2, 1]),
    (np.array([[1, 2]]).view(np.matrix), 'int64', [[1, 2]]), (np.ma.array([1., 2.], mask=[0, 1]), 'float64', [1, 2]),
    (np.arange(6.).reshape(2, 3).T, 'float64', [[0, 3], [1, 4], [2, 5]]),
    (ml_dtypes.bfloat16(1.5), 'bfloat16', 1.5), ([], 'float32', []), ([[]], 'float32', [[]]),
    ([[], []], 'float32', [[], []]),
    (([1, 2], (3, 4)), 'int32', [[1, 2], [3, 4]]), ([[[1], [2]], [[3], [4]]], 'int32', [[[1], [2]], [[3], [4]]]),
    ([np.float64(1), 2.5], 'float64', [1, 2.5]), ([2.5, np.float64(1)], 'float32', [2.5, 1]),
    ([1, np.float64(1)], 'float32', [1, 1]), ([np.int64(1), 2], 'int32', [1, 2]),
    ([np.int8(1), np.int16(2)], 'int32', [1, 2]),
    ([np.float16(1), 1.], 'float16', [1, 1]), ([np.array(1.5), 2], 'float64', [1.5, 2]), ([np.bool_(True)], 'bool', [True]),
    ([np.array([1, 2]), np.array([3, 4])], 'int32', [[1, 2], [3, 4]]),
    ([np.array([1, 2]), [3, 4]], 'int32', [[1, 2], [3, 4]]),
    ([np.array([1, 2], np.int32), np.array([3, 2**40])], 'int64', [[1, 2], [3, 2**40]]),
    ([np.array([1.]), np.array([2.])], 'float64', [[1], [2]]), ([np.complex64(1), 1], 'complex128', [1, 1]),
    (range(3), 'int32', [0, 1, 2]), (range(0), 'int32', []), (range(2**40, 2**40 + 2), 'int64', [2**40, 2**40 + 1]),
    ([range(2), range(2)], 'int32', [[0, 1], [0, 1]]), (Number.THREE, 'int32', 3), (ArrayLike(), 'int16', [1, 2]),
    (RowLike(), 'int32', [0, 1]), (collections.deque([1, 2]), 'int32', [1, 2]), (TensorShape([1, 2]), 'int32', [1, 2]),
    (TensorShape([2**40]), 'int64', [2**40]), (TensorShape([]), 'int32', []), ([TensorShape([1, 2])], 'int32', [[1, 2]]),
    ([Dimension(3), 2], 'int32', [3, 2]), ([[1], [1.5]], 'float32', [[1], [1.5]]), ([1.5, 2**70], 'float32', [1.5, 2**70]),
    (np.zeros((0, 2)), 'float64', np.zeros((0, 2))),
], ids=lambda v: repr(v)[:40])
def test_inferred(value: Any, name: str, expected: Any) -> None:
    _check(to_array(value), name, expected)


_MIXED = "Can't convert Python sequence with mixed types to Tensor."
_RAGGED = "Can't convert non-rectangular Python sequence to Tensor."
_LARGE = "Can't convert Python sequence with out-of-range integer to Tensor."


def _unsupported(value: object) -> str:
    return f'Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to a Tensor.'


@pytest.mark.parametrize(('value', 'text'), [
    (2**63, _LARGE), ([2**70, 1.5], _LARGE), ([1, 2**63], _LARGE), ([np.uint64(2**63)], _LARGE),
    (1e40, "Can't convert Python sequence with a value out of range for a double-precision float."),
    ([1, 1j], _MIXED), ([True, 1], _MIXED), ([True, 1.], _MIXED), ([1, 'a'], _MIXED), (['a', 1], _MIXED),
    ([1, None], _MIXED),
    ([1, [2]], _MIXED), ([1, {}], _MIXED), ([[1], ['a']], _MIXED), ([[1], []], _RAGGED), ([[1], 2], _RAGGED),
    ([[1], [2, 3]], _RAGGED), ([[[1], [2]], [[3]]], _RAGGED), ([np.array([1, 2]), np.array([3])], _RAGGED),
    (None, _unsupported(None)), ([None], _unsupported(None)), ({}, _unsupported({})), ([{'a': 1}], _unsupported({'a': 1})),
    ({1, 2}, _unsupported({1, 2})), (object, _unsupported(object)), (dtypes.float32, _unsupported(dtypes.float32)),
    (np.float32, _unsupported(np.float32)), (Ellipsis, _unsupported(...)), ([ml_dtypes.bfloat16(1)], None),
    (np.array([1, 'a'], object), 'Failed to convert a NumPy array to a Tensor (Unsupported object type int).'),
    (np.array(None), 'Failed to convert a NumPy array to a Tensor (Unsupported object type NoneType).'),
    (np.longdouble(1), 'Failed to convert a NumPy array to a Tensor (Unsupported numpy type: NPY_LONGDOUBLE).'),
    (np.array([1], 'M8[s]'), 'Failed to convert a NumPy array to a Tensor (Unsupported numpy type: NPY_DATETIME).'),
    (np.zeros(1, [('a', 'i4')]), 'Failed to convert a NumPy array to a Tensor (Unsupported numpy data type).'),
    ('a\ud800', 'Error converting unicode string while converting Python sequence to Tensor.'),
    (TensorShape([None]), 'Cannot convert a partially known TensorShape (None,) to a Tensor.'),
], ids=lambda v: ascii(v)[:40])
def test_refused(value: Any, text: str | None) -> None:
    with pytest.raises(ValueError) as error:
        to_array(value)
    assert str(error.value) == (text or _unsupported(value[0]))


def test_list_that_holds_itself() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ValueError, match='nested deeper than 64 levels'):
        to_array(loop)


@pytest.mark.parametrize(('value', 'name', 'expected'), [
    (1, 'float32', 1), (1, 'complex64', 1), (1, 'bfloat16', 1), (1.5, 'float16', 1.5), (1.5, 'float8_e5m2', 1.5),
    (True, 'float64', 1), (True, 'int64', 1), (True, 'complex128', 1), (1.5, 'complex64', 1.5), (1j, 'complex64', 1j),
    (2**31, 'int32', -2**31), (2**40, 'int32', 0), (300, 'uint8', 44), (-1, 'uint8', 255), (300, 'int4', -4),
    (2**63, 'uint64', 2**63), (2**63, 'float64', 2.**63), (1e40, 'float32', math.inf), ([1, True], 'uint8', [1, 1]),
    ([True, 1], 'int32', [1, 1]), ('a', 'string', b'a'), ([np.float64(1.5), 1], 'float32', [1.5, 1]),
    (np.float64(1.5), 'int32', 1), (np.array([300, -1]), 'uint8', [44, 255]), (np.array([2**40]), 'int32', [0]),
    (np.array([1.5]), 'bool', [True]), (np.bool_(True), 'float32', 1), (np.array([1], object), 'int8', [1]),
    ([], 'int64', []), (TensorShape([1, 2]), 'int64', [1, 2]), ([Eager(1.), 2], 'bool', None), ([Eager(1.9)], 'int32', [1]),
    ([Eager(1), 2.5], 'float32', [1, 2.5]), (range(3), 'uint8', [0, 1, 2]),
], ids=lambda v: repr(v)[:40])
def test_asked_for(value: Any, name: str, expected: Any) -> None:
    dtype = getattr(dtypes, name)
    if expected is None:
        with pytest.raises(TypeError, match='Cannot convert 2 to EagerTensor of dtype bool'):
            to_array(value, dtype)
    else:
        _check(to_array(value, dtype), name, expected)


@pytest.mark.parametrize(('value', 'name', 'text'), [
    (1.5, 'int32', 'Cannot convert 1.5 to EagerTensor of dtype int32'),
    (1.0, 'uint8', 'Cannot convert 1.0 to EagerTensor of dtype uint8'),
    ('a', 'float32', "Cannot convert 'a' to EagerTensor of dtype float"),
    (b'a', 'float64', "Cannot convert b'a' to EagerTensor of dtype double"),
    (1j, 'float16', 'Cannot convert 1j to EagerTensor of dtype half'),
    (1, 'bool', 'Cannot convert 1 to EagerTensor of dtype bool'),
    (5, 'string', 'Cannot convert 5 to EagerTensor of dtype string'),
    (True, 'uint8', 'Cannot convert True to EagerTensor of dtype uint8'),
    (True, 'complex64', 'Cannot convert True to EagerTensor of dtype complex64'),
    ([1, 1.5], 'int64', 'Cannot convert [1, 1.5] to EagerTensor of dtype int64'),
    ([np.array([1.5])], 'int32', 'Cannot convert [array([1.5])] to EagerTensor of dtype int32'),
    (1, 'resource', 'Cannot convert 1 to EagerTensor of dtype resource'),
    (TensorShape([1, 2]), 'float32', "Cannot convert TensorShape (1, 2) to dtype <dtype: 'float32'>. Allowed dtypes "
                                     "are tf.int32 "
                                     'and tf.int64.'),
], ids=lambda v: repr(v)[:40])
def test_does_not_fit(value: Any, name: str, text: str) -> None:
    with pytest.raises(TypeError) as error:
        to_array(value, getattr(dtypes, name))
    assert str(error.value) == text


@pytest.mark.parametrize(('value', 'name', 'text'), [
    (2**63, 'int64', _LARGE), (2**63, 'bool', _LARGE), (-1, 'uint64', _LARGE), ([1, 'a'], 'string', _MIXED),
    ([[1], [2, 3]], 'float32', _RAGGED), (None, 'float32', _unsupported(None)),
    (np.float64(1.5), 'string', 'Failed to convert a NumPy array to a Tensor (Unsupported object type float).'),
    (Eager(1), 'float32', 'Tensor conversion requested dtype float32 for Tensor with dtype int32: <tensor 1>'),
], ids=lambda v: repr(v)[:40])
def test_refused_for_a_type(value: Any, name: str, text: str) -> None:
    with pytest.raises(ValueError) as error:
        to_array(value, getattr(dtypes, name))
    assert str(error.value) == text


@pytest.mark.parametrize(('value', 'name', 'expected'), [
    ([Eager(1), 2], 'int32', [1, 2]), ([2, Eager(1, dtypes.int64)], 'int64', [2, 1]),
    ([Eager(1.), np.float64(2)], 'float32', [1, 2]),
    ([[1, 2], Eager([3, 4])], 'int32', [[1, 2], [3, 4]]), ([np.array([1, 2]), Eager([3, 4])], 'int32', [[1, 2], [3, 4]]),
    ([[Eager(1), 2], [3, 4]], 'int32', [[1, 2], [3, 4]]), ([Eager('a'), 'b'], 'string', [b'a', b'b']),
    (Eager(3), 'int32', 3),
], ids=lambda v: repr(v)[:40])
def test_tensors_in_lists(value: Any, name: str, expected: Any) -> None:
    _check(to_array(value), name, expected)


def test_tensors_in_lists_that_disagree() -> None:
    prefix = '{{function_node __wrapped__Pack_N_2_device_/job:localhost/replica:0/task:0/device:CPU:0}} '
    for value, error, text in [
        ([Eager(1), 2.5], TypeError, 'Cannot convert 2.5 to EagerTensor of dtype int32'),
        ([Eager(1), None], ValueError, _unsupported(None)),
        ([Eager(1), Eager(2.)], InvalidArgumentError, 'cannot compute Pack as input #1(zero-based) was expected to be '
                                                      'a int32 '
                                                      'tensor but is a float tensor [Op:Pack] name: packed'),
        ([Eager([1, 2]), Eager([3])], InvalidArgumentError, prefix + 'Shapes of all inputs must match: '
                                                                     'values[0].shape = [2] != '
                                                                     'values[1].shape = [1] [Op:Pack] name: packed'),
        ([Eager([1, 2]), 3], InvalidArgumentError, prefix + 'Shapes of all inputs must match: values[0].shape = [2] != '
                                                            'values[1].shape = [] [Op:Pack] name: '),
    ]:
        with pytest.raises(error) as found:
            to_array(value)
        assert str(found.value) == text
    with pytest.raises(UnimplementedError, match='Cast int32 to string is not supported'):
        to_array([Eager(1)], dtypes.string)


def test_fitting_arrays_pass_through() -> None:
    array = np.arange(4, dtype=np.float32)
    assert to_array(array) is array and to_array(array, dtypes.float32) is array
    strings = np.array([b'a'], object)
    assert to_array(strings) is strings
    scalar = np.float32(1)
    assert to_array(scalar) is scalar


def test_cast_leaves_the_source_alone_and_does_not_warn(recwarn: pytest.WarningsRecorder) -> None:
    array = np.array([math.nan, 1e300, 2.5])
    assert cast_array(array, dtypes.float32)[1] == math.inf
    assert cast_array(array, dtypes.int32)[2] == 2
    assert to_array(1e300, dtypes.float32) == math.inf
    assert array[1] == 1e300 and not recwarn.list


def test_cast_text() -> None:
    assert cast_array(np.array(['1.5']), dtypes.float32) == 1.5
    with pytest.raises(ValueError, match='could not convert string to float'):
        cast_array(np.array(['a']), dtypes.float32)


@given(hnp.arrays(hnp.boolean_dtypes() | hnp.integer_dtypes() | hnp.floating_dtypes(sizes=(16, 32, 64)),
                  hnp.array_shapes(min_dims=0, max_dims=3, min_side=0)))
def test_arrays_keep_type_and_content(array: np.ndarray) -> None:
    _check(to_array(array), array.dtype.name, array)
    _check(to_array(array.T), array.dtype.name, array.T)


@given(hnp.arrays(np.int64, hnp.array_shapes(min_dims=1, max_dims=3)))
def test_nested_ints_are_what_numpy_makes_of_them(array: np.ndarray) -> None:
    fits = bool((array == array.astype(np.int32)).all())
    _check(to_array(array.tolist()), 'int32' if fits else 'int64', array)
    _check(to_array(array.tolist(), dtypes.uint8), 'uint8', array.astype(np.uint8))


@given(st.lists(st.integers(-2**31, 2**31 - 1) | st.floats(width=32) | st.booleans(), min_size=1))
def test_mixed_numbers(values: list[Any]) -> None:
    kinds = {type(v) for v in values}
    if type(values[0]) is bool and len(kinds) > 1:
        with pytest.raises(ValueError, match='mixed types'):
            to_array(values)
    else:
        name = 'float32' if float in kinds else 'int32' if int in kinds else 'bool'
        _check(to_array(values), name, np.array(values, np.float64).astype(name))
    _check(to_array(values, dtypes.float64), 'float64', np.array(values, np.float64))
