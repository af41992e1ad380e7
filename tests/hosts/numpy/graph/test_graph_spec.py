"""TensorSpec, against TensorFlow 2.21."""
import pickle

import numpy as np
import pytest

from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec, TypeSpec


class Eager:
    """What a spec reads of a tensor."""

    def __init__(self, value: np.ndarray) -> None:
        self._value = value
        self.dtype = dtypes.of_value(value)
        self.shape = TensorShape(value.shape)


def test_text() -> None:
    assert repr(TensorSpec([])) == 'TensorSpec(shape=(), dtype=tf.float32, name=None)'
    assert str(TensorSpec(None, 'float64')) == 'TensorSpec(shape=<unknown>, dtype=tf.float64, name=None)'
    assert repr(TensorSpec([None, 2], np.int32, 'n')) == "TensorSpec(shape=(None, 2), dtype=tf.int32, name='n')"


def test_equality() -> None:
    assert TensorSpec([2]) == TensorSpec([2]) and hash(TensorSpec([2])) == hash(TensorSpec([2], name='a'))
    assert TensorSpec([2]) != TensorSpec([2], name='a') and TensorSpec([2]) != TensorSpec([None])
    assert TensorSpec([2]) != TensorSpec([2], dtypes.int32) and TensorSpec([2]) != 5
    assert pickle.loads(pickle.dumps(TensorSpec([2], name='x'))) == TensorSpec([2], name='x')


def test_compatible() -> None:
    x = Eager(np.ones((1, 2), np.float32))
    assert TensorSpec([None, 2]).is_compatible_with(x) and TensorSpec([None, 2]).is_compatible_with(TensorSpec([1, 2]))
    assert not TensorSpec([3, 2]).is_compatible_with(x)
    assert not TensorSpec([None, 2], dtypes.int32).is_compatible_with(x)
    for value in (5, 5., np.float32(5), None, 'a', np.ones((1, 2), np.float32)):
        assert not TensorSpec(None).is_compatible_with(value)


def test_supertypes() -> None:
    s = TensorSpec([2])
    assert s.is_subtype_of(TensorSpec(None)) and s.is_subtype_of(TensorSpec([2], name='a'))
    assert not TensorSpec([2], name='a').is_subtype_of(s) and not s.is_subtype_of(TensorSpec([2], dtypes.int32))
    assert s.most_specific_compatible_type(TensorSpec([3])) == TensorSpec([None])
    assert s.most_specific_common_supertype([TensorSpec([2, 3]), TensorSpec(None)]) == TensorSpec(None)
    assert TensorSpec([2], name='a').most_specific_common_supertype([TensorSpec([3], name='b')]) is None
    with pytest.raises(ValueError) as error:
        s.most_specific_compatible_type(5)
    assert str(error.value) == ('No TypeSpec is compatible with both TensorSpec(shape=(2,), dtype=tf.float32, name=None) '
                                'and 5')


def test_from() -> None:
    x = Eager(np.ones((1, 2), np.float32))
    assert TensorSpec.from_tensor(x) == TensorSpec([1, 2]) and TensorSpec.from_tensor(x, 'k').name == 'k'
    assert TensorSpec.from_spec(TensorSpec([2], name='q')).name == 'q'
    assert TensorSpec.from_spec(TensorSpec([2], name='q'), name='z').name == 'z'
    with pytest.raises(ValueError, match=r"`tensor` should be a tf.Tensor, but got type <class 'numpy.ndarray'>\."):
        TensorSpec.from_tensor(np.ones(2))
    with pytest.raises(TypeError, match='Cannot convert the argument `type_value`: None'):
        TensorSpec([1], None)


def test_is_a_type_spec() -> None:
    assert isinstance(TensorSpec([2]), TypeSpec)
    assert not isinstance(dtypes.float32, TypeSpec) and not isinstance(TensorShape([]), TypeSpec)
