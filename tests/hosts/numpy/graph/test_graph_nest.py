"""Nested structures, against tf.nest of TensorFlow 2.21."""
import collections
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pyfuncdbg.hosts.numpy.graph.types import nest
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape

Pair = collections.namedtuple('Pair', 'a b')
Other = collections.namedtuple('Other', 'a b')


@dataclass
class Plain:
    a: int


@dataclass
class Walked:
    tag: str
    value: Any

    def __tf_flatten__(self) -> tuple[Any, Any]:
        return (self.tag,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: Any) -> 'Walked':
        return cls(*metadata, *components)


class _Field:
    def __init__(self, name: str) -> None:
        self.name = name


class AttrsLike:
    """What attrs makes of a class: the field list that TensorFlow reads."""

    __attrs_attrs__ = (_Field('a'), _Field('b'))

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b


@pytest.mark.parametrize(('structure', 'leaves'), [
    (1, [1]), ((1, (2, 3)), [1, 2, 3]), ({'b': 1, 'a': [2]}, [2, 1]), (collections.OrderedDict(b=1, a=2), [2, 1]),
    (Pair(1, [2, 3]), [1, 2, 3]), ([], []), (None, [None]), ('ab', ['ab']), (b'ab', [b'ab']), (range(3), [0, 1, 2]),
    (collections.deque([1]), [1]), ({(1, 2): 3, (0, 1): 4}, [4, 3]), (AttrsLike(1, [2]), [1, 2]), (Walked('x', [5]), [5]),
    ([TensorShape([1])], [TensorShape([1])]), ({1, 2}, [{1, 2}]), (Plain(1), [Plain(1)]), ({'a': 1}.values(), [1]),
])
def test_flatten(structure: Any, leaves: list[Any]) -> None:
    assert nest.flatten(structure) == leaves


def test_arrays_are_leaves() -> None:
    array = np.arange(3)
    assert nest.flatten([array])[0] is array


@pytest.mark.parametrize(('structure', 'text'), [
    ({'b': 1, 'a': 2}, "{'b': (1,), 'a': (2,)}"), (Pair(1, [2]), 'Pair(a=(1,), b=[(2,)])'),
    (collections.OrderedDict([('b', 1), ('a', 2)]), repr(collections.OrderedDict([('b', (1,)), ('a', (2,))]))),
    (collections.defaultdict(int, {'b': 1, 'a': [2]}), "defaultdict(<class 'int'>, {'b': (1,), 'a': [(2,)]})"),
    (range(2), '[(0,), (1,)]'), (collections.deque([1]), 'deque([(1,)])'), (Walked('x', 1), "Walked(tag='x', value=(1,))"),
    (1, '(1,)'), (collections.UserDict(a=1), "{'a': (1,)}"),
])
def test_map_structure(structure: Any, text: str) -> None:
    assert repr(nest.map_structure(lambda x: (x,), structure)) == text


def test_map_over_several() -> None:
    assert nest.map_structure(lambda x, y: x + y, {'a': [1]}, {'a': [2]}) == {'a': [3]}
    assert nest.map_structure(lambda x, y: x + y, [1], (2,), check_types=False) == [3]
    with pytest.raises(TypeError, match='func must be callable, got: 1'):
        nest.map_structure(1, [1])
    with pytest.raises(ValueError, match='Must provide at least one structure'):
        nest.map_structure(lambda x: x)


@pytest.mark.parametrize(('structure', 'flat', 'error', 'text'), [
    ([1, 2], [5], ValueError, 'Could not pack sequence. Structure had 2 atoms, but flat_sequence had 1 items.  '
                              'Structure: [1, 2], flat_sequence: [5].'),
    (1, [5, 6], ValueError, 'The target structure is of type `<class \'int\'>`\n  1\nHowever the input is a sequence '
                            "(<class 'list'>) of length 2.\n  [5, 6]\nnest cannot guarantee that it is safe to map "
                            "one to the "
                            'other.'),
    ([1, 2], 5, TypeError, 'Attempted to pack value:\n  5\ninto a structure, but found incompatible type '
                           "`<class 'int'>` instead."),
])
def test_pack_refuses(structure: Any, flat: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as found:
        nest.pack_sequence_as(structure, flat)
    assert str(found.value) == text


@pytest.mark.parametrize(('a', 'b', 'error', 'text'), [
    ([1], (1,), TypeError, "The two namedtuples don't have the same sequence type. First structure type=list str=[1] "
                           "has type "
     'list, while second structure type=tuple str=(1,) has type tuple\nEntire first structure:\n[.]\nEntire second '
     'structure:'
     '\n(.,)'),
    (1, [1], ValueError, 'Substructure "type=list str=[1]" is a sequence, while substructure "type=int str=1" is not\n'
     'Entire first structure:\n.\nEntire second structure:\n[.]'),
    ([1, 2], [1], ValueError, "The two structures don't have the same number of elements. First structure: type=list "
     'str=[1, 2]. Second structure: type=list str=[1]\nEntire first structure:\n[., .]\nEntire second structure:\n[.]'),
    ({'a': 1}, {'b': 1}, ValueError, "The two dictionaries don't have the same set of keys. First structure has keys "
                                     "type=list "
     "str=['a'], while second structure has keys type=list str=['b']\nEntire first structure:\n{'a': .}\nEntire second "
     "structure:\n{'b': .}"),
    (Pair(1, 2), Other(1, 2), TypeError, "The two namedtuples don't have the same sequence type. First structure type=Pair "
     'str=Pair(a=1, b=2) has type Pair, while second structure type=Other str=Other(a=1, b=2) has type Other\nEntire first '
     'structure:\nPair(a=., b=.)\nEntire second structure:\nOther(a=., b=.)'),
])
def test_structures_differ(a: Any, b: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as found:
        nest.assert_same_structure(a, b)
    first, second = (f'type={type(x).__name__} str={x}' for x in (a, b))
    assert str(found.value) == ("The two structures don't have the same nested structure.\n\nFirst structure: " + first
                                + '\n\nSecond structure: ' + second + '\n\nMore specifically: ' + text)


def test_structures_agree() -> None:
    class Rows(list):  # a subclass counts as its parent
        pass
    for a, b in [([1], ['x']), ({'a': 1}, collections.OrderedDict(a=2)), ([1], Rows([2])), (1, 'a'),
                 (collections.defaultdict(int, a=1), {'a': 1})]:
        nest.assert_same_structure(a, b)
    for a, b in [([1], (1,)), ({'a': 1}, {'b': 1}), ({'a': 1}, [1]), (Pair(1, 2), (1, 2))]:
        nest.assert_same_structure(a, b, check_types=False)
        with pytest.raises((TypeError, ValueError)):
            nest.assert_same_structure(a, b)


nested = st.recursive(st.integers(), lambda s: st.lists(s, max_size=3) | st.tuples(s, s) | st.builds(Pair, s, s)
                      | st.dictionaries(st.text(max_size=2), s, max_size=3), max_leaves=12)


@given(nested)
def test_pack_undoes_flatten(structure: Any) -> None:
    flat = nest.flatten(structure)
    packed = nest.pack_sequence_as(structure, flat)
    assert packed == structure and type(packed) is type(structure)
    assert nest.flatten(nest.map_structure(lambda x: x + 1, structure)) == [x + 1 for x in flat]
    nest.assert_same_structure(structure, packed)
