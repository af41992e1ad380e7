"""Element structure of a dataset: nested tuples and mappings of specs, where a list is one tensor.

Datasets flatten and pack their elements with it. No state: any thread may call it.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pyfuncdbg.hosts.numpy.graph.context import current_graph
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Output
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes, nest
from pyfuncdbg.hosts.numpy.graph.types.composite import components, is_composite, is_composite_spec
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor


class VariantSpec:
    """Spec of a dataset or an optional, represented by a tensor of dtype variant.

    Args:
        object_class: The class, called with the variant tensor and the spec of the elements.
        element_spec: The spec of the elements.
        kind: 'DatasetSpec' or 'OptionalSpec'.
    """

    __slots__ = ('element_spec', 'kind', 'object_class')
    dtype = dtypes.variant
    shape = TensorShape(())

    def __init__(self, object_class: Callable[[Tensor, Any], Any], element_spec: Any, kind: str) -> None:
        self.object_class = object_class
        self.element_spec = element_spec
        self.kind = kind

    @property
    def value_type(self) -> Any:
        """The class of the object."""
        return self.object_class

    def is_compatible_with(self, spec_or_value: Any, /) -> bool:
        """Whether an object or spec has compatible elements."""
        other = spec_of(spec_or_value) if not isinstance(spec_or_value, VariantSpec) else spec_or_value
        return (isinstance(other, VariantSpec) and other.kind == self.kind
                and compatible(self.element_spec, other.element_spec))

    def is_subtype_of(self, other: Any, /) -> bool:
        return self == other

    def most_specific_common_supertype(self, others: Sequence[Any], /) -> Any:
        return self if all(other == self for other in others) else None

    def most_specific_compatible_type(self, other: Any, /) -> Any:
        if not self.is_compatible_with(other):
            raise ValueError(f'No TypeSpec is compatible with both {self} and {other}')
        merged = narrowest_for_both(self.element_spec, other.element_spec)
        return VariantSpec(self.object_class, merged, self.kind)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VariantSpec) and (self.kind, self.element_spec) == (other.kind, other.element_spec)

    def __hash__(self) -> int:
        return hash((self.kind, str(self.element_spec)))

    def __repr__(self) -> str:
        return f'{self.kind}({self.element_spec!r}, {self.shape!r})' if self.kind == 'DatasetSpec' else (
            f'{self.kind}({self.element_spec!r})')


class NoneSpec:
    """The spec of None in an element."""

    __slots__ = ()

    def is_compatible_with(self, spec_or_value: Any, /) -> bool:
        """Only None is."""
        return spec_or_value is None or isinstance(spec_or_value, NoneSpec)

    def is_subtype_of(self, other: Any, /) -> bool:
        return isinstance(other, NoneSpec)

    def most_specific_common_supertype(self, others: Sequence[Any], /) -> Any:
        return self if all(isinstance(other, NoneSpec) for other in others) else None

    def most_specific_compatible_type(self, other: Any, /) -> Any:
        if not isinstance(other, NoneSpec):
            raise ValueError('No `TypeSpec` is compatible with both NoneTensorSpec() and {other}')
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NoneSpec)

    def __hash__(self) -> int:
        return hash(NoneSpec)

    def __repr__(self) -> str:
        return 'NoneTensorSpec()'


# ---------------------------------------------------------------- nesting
def is_row(value: Any) -> bool:
    """Whether a value is a structure; a list is not, it becomes a tensor."""
    return isinstance(value, (tuple, Mapping)) or hasattr(type(value), '__attrs_attrs__')


def leaves(structure: Any) -> list[Any]:
    """The leaves of a structure; mappings in the order of their sorted keys."""
    if not is_row(structure):
        return [structure]
    return [leaf for child in nest._children(structure) for leaf in leaves(child)]


def packed(structure: Any, values: Iterator[Any]) -> Any:
    """A structure of the same form with other leaves."""
    if not is_row(structure):
        return next(values)
    return nest._rebuilt(structure, [packed(child, values) for child in nest._children(structure)])


def map_structure(function: Callable[..., Any], structure: Any, *others: Any) -> Any:
    """Call a function on the leaves of structures of one form."""
    columns = zip(leaves(structure), *map(leaves, others), strict=True)
    return packed(structure, iter([function(*column) for column in columns]))


def same_form(a: Any, b: Any) -> bool:
    """Whether two structures differ in their leaves only."""
    if is_row(a) is not is_row(b):
        return False
    if not is_row(a):
        return True
    if isinstance(a, Mapping) and (not isinstance(b, Mapping) or set(a) != set(b)):
        return False
    children_a, children_b = nest._children(a), nest._children(b)
    return len(children_a) == len(children_b) and all(map(same_form, children_a, children_b))


def compatible(a: Any, b: Any) -> bool:
    """Whether values of two element specs can be of one spec."""
    return same_form(a, b) and all(x.is_compatible_with(y) for x, y in zip(leaves(a), leaves(b), strict=True))


def narrowest_for_both(a: Any, b: Any) -> Any:
    """The element spec that holds values of both."""
    return map_structure(lambda x, y: x.most_specific_compatible_type(y), a, b)


# ---------------------------------------------------------------- specs and tensors
def spec_of(value: Any) -> Any:
    """The spec of one leaf of an element."""
    spec = getattr(value, '_data_spec', None)
    if spec is not None:
        return spec
    if value is None:
        return NoneSpec()
    if is_composite(value):
        return value._type_spec
    return TensorSpec(value.shape, value.dtype)


def as_leaf(value: Any, name: str = '') -> Any:
    """A leaf as part of an element: a tensor, a dataset or optional, or None.

    Raises:
        TypeError, ValueError: It cannot be converted to a tensor.
    """
    if value is None or hasattr(value, '_data_spec') or is_composite(value):
        return value
    return convert_to_tensor(value, name=name or None)


def as_element(value: Any) -> Any:
    """A value as an element: its leaves become tensors."""
    leaf_values = leaves(value)
    if all(isinstance(leaf, Tensor) for leaf in leaf_values):
        return value
    graph = current_graph()
    if graph is None:
        return packed(value, iter([as_leaf(leaf, '') for leaf in leaf_values]))
    with graph.name_scope('normalize_element'):
        return packed(value, iter([as_leaf(leaf, f'component_{i}') for i, leaf in enumerate(leaf_values)]))


def types_of(spec: Any) -> list[Output]:
    """The types of the tensors that an element is flattened to."""
    parts = [part for leaf in leaves(spec) for part in (components(leaf) if is_composite_spec(leaf) else [leaf])]
    return [(part.dtype, part.shape) for part in parts if not isinstance(part, NoneSpec)]


def tensors_of(element: Any) -> list[Tensor]:
    """An element as a flat list of tensors."""
    tensors = []
    for leaf in leaves(element):
        if is_composite(leaf):
            tensors += components(leaf)
        elif leaf is not None:
            tensors.append(leaf._variant_tensor if hasattr(leaf, '_data_spec') else leaf)
    return tensors


def element_of(spec: Any, tensors: Sequence[Any]) -> Any:
    """An element packed from a flat list of tensors."""
    if type(spec) is TensorSpec:
        return tensors[0]
    remaining = iter(tensors)

    def leaf_of(leaf: Any) -> Any:
        if isinstance(leaf, NoneSpec):
            return None
        if is_composite_spec(leaf):
            return leaf._from_components([next(remaining) for _ in components(leaf)])
        tensor = next(remaining)
        return leaf.object_class(tensor, leaf.element_spec) if isinstance(leaf, VariantSpec) else tensor
    return map_structure(leaf_of, spec)


def reshaped(spec: Any, change: Callable[[TensorShape], TensorShape], what: str) -> Any:
    """An element spec whose tensors have other shapes.

    Raises:
        TypeError: A leaf is no tensor.
    """
    def changed(leaf: Any) -> Any:
        if not isinstance(leaf, TensorSpec):
            raise TypeError(f'{what} is not supported for elements of {leaf}')
        return TensorSpec(change(leaf.shape), leaf.dtype)
    return map_structure(changed, spec)


def check_state(before: Any, after: Any, start: str, joint: str) -> None:
    """Raises:
        TypeError: A function returns a state that differs from the initial one in structure, dtype or shape."""
    if same_form(before, after):
        def dtypes_of(spec: Any) -> Any:
            return map_structure(lambda leaf: leaf.dtype, spec)
        if leaves(dtypes_of(before)) == leaves(dtypes_of(after)):
            return
        before, after = dtypes_of(before), dtypes_of(after)
    raise TypeError(f'{start}The element types for the new state must match the initial state. Expected {before}{joint} '
                    f'{after}.')
