"""Shape algebra: TensorFlow's answers as literals, and the meaning by brute force."""
import itertools
import operator
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pyfuncdbg.hosts.numpy.graph.types.dimension import Dimension
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape, as_shape, broadcast, unknown

SHAPES = {'u': TensorShape(None), 'z': TensorShape([]), 'a': TensorShape([2, 3]), 'p': TensorShape([2, None]),
          'n': TensorShape([None, None, 4])}


def _outcome(expression: str, s: TensorShape) -> str:
    try:
        return repr(eval(expression, {'s': s, **SHAPES, 'TensorShape': TensorShape}))
    except Exception as error:
        return f'{type(error).__name__} {error}'


# expression, then the answers for unknown, [], [2, 3], [2, None] and [None, None, 4]
FACTS = r"""
str(s) | '<unknown>' | '()' | '(2, 3)' | '(2, None)' | '(None, None, 4)'
s | TensorShape(None) | TensorShape([]) | TensorShape([2, 3]) | TensorShape([2, None]) | TensorShape([None, None, 4])
s.dims | None | [] | [Dimension(2), Dimension(3)] | [Dimension(2), Dimension(None)] | [Dimension(None), Dimension(None), Dimension(4)]
s.as_list() | ValueError as_list() is not defined on an unknown TensorShape. | [] | [2, 3] | [2, None] | [None, None, 4]
s.num_elements() | None | 1 | 6 | None | None
len(s) | ValueError Cannot take the length of shape with unknown rank. | 0 | 2 | 2 | 3
list(s) | ValueError Cannot iterate over a shape with unknown rank. | [] | [2, 3] | [2, None] | [None, None, 4]
bool(s) | False | True | True | True | True
s[0] | None | IndexError tuple index out of range | 2 | 2 | None
s[1:] | TensorShape(None) | TensorShape([]) | TensorShape([3]) | TensorShape([None]) | TensorShape([None, 4])
s[1:2] | TensorShape([None]) | TensorShape([]) | TensorShape([3]) | TensorShape([None]) | TensorShape([None])
s[:-1] | TensorShape(None) | TensorShape([]) | TensorShape([2]) | TensorShape([2]) | TensorShape([None, None])
s[::2] | ValueError Steps are not yet handled | TensorShape([]) | TensorShape([2]) | TensorShape([2]) | TensorShape([None, 4])
s[2:5] | TensorShape([None, None, None]) | TensorShape([]) | TensorShape([]) | TensorShape([]) | TensorShape([4])
s == [2, 3] | False | False | True | False | False
s == None | True | False | False | False | False
s != 5 | True | True | True | True | True
s.is_compatible_with([2, 3]) | True | False | True | True | False
s.merge_with([2, 3]) | TensorShape([2, 3]) | ValueError Shapes () and (2, 3) are not compatible | TensorShape([2, 3]) | TensorShape([2, 3]) | ValueError Shapes (None, None, 4) and (2, 3) are not compatible
s + [5] | TensorShape(None) | TensorShape([5]) | TensorShape([2, 3, 5]) | TensorShape([2, None, 5]) | TensorShape([None, None, 4, 5])
[5] + s | TensorShape(None) | TensorShape([5]) | TensorShape([5, 2, 3]) | TensorShape([5, 2, None]) | TensorShape([5, None, None, 4])
s.with_rank(2) | TensorShape([None, None]) | ValueError Shape () must have rank 2 | TensorShape([2, 3]) | TensorShape([2, None]) | ValueError Shape (None, None, 4) must have rank 2
s.with_rank_at_least(3) | TensorShape(None) | ValueError Shape () must have rank at least 3 | ValueError Shape (2, 3) must have rank at least 3 | ValueError Shape (2, None) must have rank at least 3 | TensorShape([None, None, 4])
s.with_rank_at_most(1) | TensorShape(None) | TensorShape([]) | ValueError Shape (2, 3) must have rank at most 1 | ValueError Shape (2, None) must have rank at most 1 | ValueError Shape (None, None, 4) must have rank at most 1
s.assert_same_rank(a) | None | ValueError Shapes () and (2, 3) must have the same rank | None | None | ValueError Shapes (None, None, 4) and (2, 3) must have the same rank
s.assert_is_compatible_with([2]) | None | ValueError Shapes () and [2] are incompatible | ValueError Shapes (2, 3) and [2] are incompatible | ValueError Shapes (2, None) and [2] are incompatible | ValueError Shapes (None, None, 4) and [2] are incompatible
s.assert_is_fully_defined() | ValueError Shape <unknown> is not fully defined | None | None | ValueError Shape (2, None) is not fully defined | ValueError Shape (None, None, 4) is not fully defined
s.most_specific_compatible_shape([2, 5]) | TensorShape(None) | TensorShape(None) | TensorShape([2, None]) | TensorShape([2, None]) | TensorShape(None)
s.is_subtype_of(p) | False | False | True | True | False
"""  # noqa: E501


@pytest.mark.parametrize('line', FACTS.strip().splitlines(), ids=lambda line: line.split(' | ')[0])
def test_answers_of_tensorflow(line: str) -> None:
    expression, *answers = line.split(' | ')
    assert [_outcome(expression, s) for s in SHAPES.values()] == answers


@pytest.mark.parametrize(('dims', 'sizes'), [
    (3, (3,)), (Dimension(3), (3,)), ([Dimension(3), Dimension(None)], (3, None)), (np.array([1, 2]), (1, 2)),
    (np.int64(3), (3,)), (range(3), (0, 1, 2)), (iter([1, 2]), (1, 2)), ({}, ()), (np.array(3), (3,)), ([np.int64(2)], (2,)),
])
def test_construction(dims: object, sizes: tuple[int, ...]) -> None:
    shape = TensorShape(dims)
    assert shape.sizes == sizes
    assert all(type(size) is int for size in shape.sizes if size is not None)


@pytest.mark.parametrize(('dims', 'error', 'text'), [
    ([-1], ValueError, 'Dimension -1 must be >= 0'), (-1, ValueError, 'Dimension -1 must be >= 0'),
    (3.5, TypeError, "Dimension value must be integer or None or have an __index__ method, got value '3.5' with type "
                     "'<class 'float'>'"),
    (['2'], TypeError, "Dimension value must be integer or None or have an __index__ method, got value ''2'' with type "
                       "'<class 'str'>'"),
    ('ab', TypeError, "Failed to convert ''ab'' to a shape: ''a''could not be converted to a dimension. A shape "
                      "should either "
                      'be single dimension (e.g. 10), or an iterable of dimensions (e.g. [1, 10, None]).'),
])
def test_construction_refuses(dims: object, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as found:
        TensorShape(dims)
    assert str(found.value) == text


def test_value_semantics() -> None:
    shape = TensorShape([2, None])
    assert pickle.loads(pickle.dumps(shape)) == shape and hash(shape) == hash((2, None))
    assert as_shape(shape) is shape and unknown(2) == [None, None]
    with pytest.raises(AttributeError):
        shape.sizes = ()


partial = st.none() | st.lists(st.none() | st.integers(0, 3), max_size=3)


def _members(dims: list[int | None] | None) -> set[tuple[int, ...]]:
    """Every full shape of rank up to 3 and sizes up to 3 that a partial shape allows."""
    ranks = range(4) if dims is None else [len(dims)]
    full = itertools.chain.from_iterable(itertools.product(range(4), repeat=r) for r in ranks)
    return {f for f in full if dims is None or all(d is None or d == x for d, x in zip(dims, f, strict=True))}


@given(partial, partial)
def test_algebra_means_what_it_says(x: list[int | None] | None, y: list[int | None] | None) -> None:
    a, b, both = TensorShape(x), TensorShape(y), _members(x) & _members(y)
    assert a.is_compatible_with(b) is bool(both)
    assert a.is_subtype_of(b) is (_members(x) <= _members(y))
    if both:
        merged = a.merge_with(b)
        assert _members(None if merged.sizes is None else list(merged.sizes)) == both
    else:
        with pytest.raises(ValueError, match='are not compatible'):
            a.merge_with(b)
    widest = a.most_specific_compatible_shape(b)
    assert a.is_subtype_of(widest) and b.is_subtype_of(widest)


@given(partial, partial)
def test_static_broadcast_covers_what_numpy_gives(x: list[int | None] | None, y: list[int | None] | None) -> None:
    results = set()
    for f, g in itertools.product(_members(x), _members(y)):
        try:
            results.add(np.broadcast_shapes(f, g))
        except ValueError:
            continue
    try:
        static = broadcast(TensorShape(x), TensorShape(y))
    except ValueError as error:
        assert not results
        assert str(error).endswith(f'Received: {TensorShape(x)} and {TensorShape(y)}.')
        return
    assert all(TensorShape(r).is_subtype_of(static) for r in results)
    if static.is_fully_defined():
        assert results == {static.sizes}


@pytest.mark.parametrize(('a', 'b', 'result'), [
    ([2, 3], [3], [2, 3]), ([None], [3], [3]), ([None], [1], [None]), (None, [3], None), ([1], [None], [None]),
    ([0], [1], [0]),
    ([2, 1, 4], [3, 1], [2, 3, 4]),
])
def test_broadcast_answers_of_tensorflow(a: object, b: object, result: object) -> None:
    assert broadcast(TensorShape(a), TensorShape(b)) == result
    assert broadcast(TensorShape(b), TensorShape(a)) == result


def test_dimension_arithmetic() -> None:
    three, none = Dimension(3), Dimension(None)
    results = [three + 2, 2 + three, three - 1, 5 - three, three * 2, 7 // three, 7 % three, three + none]
    assert all(type(result) is Dimension for result in results)
    assert [result.value for result in results] == [5, 5, 2, 2, 6, 2, 1, None]
    assert (three == 3, three != 2, three < 4, three >= 3) == (True, True, True, True)
    assert (three == none, none == none, three < none) == (None, None, None)
    assert (operator.index(three), str(none), three.merge_with(none).value) == (3, '?', 3)
    with pytest.raises(TypeError, match="for /: 'Dimension' and 'int', please use // instead"):
        three / 2
    with pytest.raises(ValueError, match='Dimensions 3 and 4 are not compatible'):
        three.merge_with(4)
    with pytest.raises(TypeError, match='unhashable'):
        hash(three)
