"""Element types against what TensorFlow 2.21 says of them."""
import copy
import operator
import pickle

import ml_dtypes
import numpy as np
import pytest

from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.dtypes import as_dtype, of_value

# name, enum, C++ name, size, properties that are true (f i c b u q n), trainable
TABLE = """
float32 1 float 4 fn 1
float64 2 double 8 fn 1
int32 3 int32 4 in 0
uint8 4 uint8 1 iun 0
int16 5 int16 2 in 0
int8 6 int8 1 in 0
string 7 string 0 - 0
complex64 8 complex64 8 cn 1
int64 9 int64 8 in 0
bool 10 bool 1 b 0
qint8 11 qint8 1 qn 0
quint8 12 quint8 1 qn 0
qint32 13 qint32 4 qn 0
bfloat16 14 bfloat16 2 fn 1
qint16 15 qint16 2 qn 0
quint16 16 quint16 2 qn 0
uint16 17 uint16 2 iun 0
complex128 18 complex128 16 cn 1
float16 19 half 2 fn 1
resource 20 resource 0 - 1
variant 21 variant 0 - 1
uint32 22 uint32 4 iun 0
uint64 23 uint64 8 iun 0
float8_e5m2 24 float8_e5m2 1 f 0
float8_e4m3fn 25 float8_e4m3fn 1 f 0
int4 29 int4 1 i 0
uint4 30 uint4 1 iu 0
"""


@pytest.mark.parametrize('row', [line.split() for line in TABLE.strip().splitlines()], ids=lambda row: row[0])
def test_properties(row: list[str]) -> None:
    name, enum, kernel_name, size, flags, trainable = row
    d = getattr(dtypes, name)
    assert (d.name, d.as_datatype_enum, d.kernel_name, d.size) == (name, int(enum), kernel_name, int(size))
    found = {'f': d.is_floating, 'i': d.is_integer, 'c': d.is_complex, 'b': d.is_bool, 'u': d.is_unsigned,
             'q': d.is_quantized, 'n': d.is_numeric}
    assert {k for k, v in found.items() if v} == set(flags.replace('-', ''))
    assert d.is_trainable is (trainable == '1')
    assert d.is_numpy_compatible is (name not in ('resource', 'variant'))
    assert repr(d) == f'tf.{name}' and str(d) == f"<dtype: '{name}'>"
    assert d.base_dtype is d and as_dtype(name) is d and as_dtype(int(enum)) is d and hash(d) == int(enum)


def test_table_is_whole() -> None:
    assert [d.name for d in dtypes.ALL] == [line.split()[0] for line in TABLE.strip().splitlines()]


@pytest.mark.parametrize(('value', 'name'), [
    ('float', 'float32'), ('double', 'float64'), ('half', 'float16'), (1, 'float32'), (True, 'float32'),
    (np.int64(3), 'int32'), (np.float32, 'float32'), (np.dtype('>f4'), 'float32'), (np.dtype('S3'), 'string'),
    (np.dtype('U'), 'string'), (np.dtype(object), 'string'), (np.str_, 'string'), (np.bytes_, 'string'),
    (float, 'float32'), (bool, 'bool'), (object, 'string'), (np.bool_, 'bool'), (np.array([1.]), 'float64'),
    (np.float32(1), 'float32'), (np.intc, 'int32'), (np.longlong, 'int64'), (np.ulonglong, 'uint64'),
    (ml_dtypes.bfloat16, 'bfloat16'), (np.dtype(ml_dtypes.bfloat16), 'bfloat16'), (dtypes.int4, 'int4'),
])
def test_as_dtype(value: object, name: str) -> None:
    assert as_dtype(value).name == name


@pytest.mark.parametrize('value', [
    'str', 'int', 'object', '<f4', 'f4', '', int, str, bytes, complex, np.void, np.dtype([('a', 'i4')]), None, [], {}, 3.5,
    0, 999, np.datetime64, np.longdouble, np.clongdouble, list, b'float32', np.number, np.generic,
], ids=repr)
def test_as_dtype_refuses(value: object) -> None:
    with pytest.raises(TypeError) as error:
        as_dtype(value)
    assert str(error.value) == f'Cannot convert the argument `type_value`: {value!r} to a TensorFlow DType.'


def test_comparison() -> None:
    for same in ('float32', 'float', np.float32, np.dtype('float32'), float, 1):
        assert dtypes.float32 == same
        assert operator.ne(dtypes.float32, same) is False
        assert dtypes.float32.is_compatible_with(same)
    for other in (None, 'foo', [], int, 'int32', dtypes.int32, object):
        assert dtypes.float32 != other
        assert operator.eq(dtypes.float32, other) is False
    with pytest.raises(TypeError, match='Cannot convert the argument `type_value`: None'):
        dtypes.float32.is_compatible_with(None)
    assert not dtypes.float32.is_compatible_with('int32')


def test_singletons_survive_copies() -> None:
    assert pickle.loads(pickle.dumps(dtypes.float32)) is dtypes.float32
    assert copy.deepcopy(dtypes.qint8) is dtypes.qint8


def test_ranges() -> None:
    assert dtypes.uint8.max == 255 and dtypes.int64.min == -2**63 and dtypes.uint64.max == 2**64 - 1
    assert dtypes.float32.max == np.finfo(np.float32).max and dtypes.float16.min == -65504
    assert float(dtypes.bfloat16.max) == 3.3895313892515355e38 and dtypes.int4.min == -8
    assert dtypes.uint8.limits == (0, 255) and dtypes.float32.limits == (0, 1) and dtypes.bool.limits == (False, True)
    assert dtypes.complex64.real_dtype is dtypes.float32 and dtypes.complex128.real_dtype is dtypes.float64
    for d, text in ((dtypes.bool, "Cannot find minimum value of <dtype: 'bool'> with type <dtype: 'bool'>."),
                    (dtypes.qint8, "Cannot find minimum value of <dtype: 'qint8'> with quantized type <dtype: 'qint8'>."),
                    (dtypes.variant, "Cannot find minimum value of <dtype: 'variant'>.")):
        with pytest.raises(TypeError) as error:
            _ = d.min
        assert str(error.value) == text
    with pytest.raises(ValueError, match="<dtype: 'float16'> does not have defined limits"):
        _ = dtypes.float16.limits


def test_of_value() -> None:
    for d in dtypes.ALL:
        if d.is_numpy_compatible:
            assert of_value(np.zeros(2, d.array)) is d
    assert of_value(np.float32(1)) is dtypes.float32
    assert of_value(np.zeros(1, '>i2')) is dtypes.int16
    with pytest.raises(TypeError, match='datetime64'):
        of_value(np.zeros(1, 'M8[s]'))
