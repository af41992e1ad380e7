"""Nested structures of values: lists, tuples, namedtuples, mappings and attrs classes, with anything else as a leaf.

For feeds, fetches, function arguments and results. Mappings are visited in the order of their sorted keys. A
dataclass is a leaf unless it has `__tf_flatten__`, as in TensorFlow. No state: any thread may call it.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, MappingView, Sequence
from typing import Any

from pyfuncdbg.hosts.numpy.graph.types.composite import components, is_composite, is_composite_spec, spec_of

_TEXT = (str, bytes, bytearray, memoryview)


class _Dot:
    """A leaf in the outline of a structure."""

    def __repr__(self) -> str:
        return '.'


def is_nested(value: Any) -> bool:
    """Whether a value is a structure rather than a leaf."""
    return isinstance(value, (list, tuple, dict)) or _is_structure(type(value))  # type: ignore[arg-type]


@functools.lru_cache(128)
def _is_structure(kind: type) -> bool:
    return not issubclass(kind, _TEXT) and (issubclass(kind, (Sequence, Mapping, MappingView))
                                            or hasattr(kind, '__attrs_attrs__') or hasattr(kind, '__tf_flatten__'))


def _is_namedtuple(value: Any) -> bool:
    return isinstance(value, tuple) and isinstance(getattr(value, '_fields', None), tuple)


def _children(structure: Any) -> list[Any]:
    """The direct children, in the order of `flatten`."""
    if isinstance(structure, Mapping):
        return [structure[key] for key in sorted(structure)]
    fields = getattr(type(structure), '__attrs_attrs__', None)
    if fields is not None:
        return [getattr(structure, field.name) for field in fields]
    if hasattr(type(structure), '__tf_flatten__'):
        return list(structure.__tf_flatten__()[1])
    return list(structure)


def _rebuilt(structure: Any, children: list[Any]) -> Any:
    """A structure of the same kind with other values; views and ranges become lists."""
    if isinstance(structure, Mapping):
        return _rebuild_mapping(structure, dict(zip(sorted(structure), children, strict=True)))
    if _is_namedtuple(structure):
        return type(structure)(*children)
    if hasattr(type(structure), '__attrs_attrs__'):
        return type(structure)(*children)
    if hasattr(type(structure), '__tf_unflatten__'):
        return type(structure).__tf_unflatten__(structure.__tf_flatten__()[0], tuple(children))
    if isinstance(structure, (MappingView, range)):
        return children
    return type(structure)(children)


def _rebuild_mapping(structure: Mapping[Any, Any], values: dict[Any, Any]) -> Any:
    items = {key: values[key] for key in structure}
    factory = getattr(structure, 'default_factory', None)
    if factory is not None or hasattr(structure, 'default_factory'):
        return type(structure)(factory, items)  # type: ignore[call-arg]
    return type(structure)(items)  # type: ignore[call-arg]


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of a structure; `[value]` for a leaf.

    Args:
        structure: The structure.
        expand_composites: Flatten composites, and their specs, to their components.

    Raises:
        TypeError: The keys of a mapping have no order.
    """
    if expand_composites and _is_apart(structure):
        return components(structure)
    if not is_nested(structure):
        return [structure]
    leaves: list[Any] = []
    for child in _children(structure):
        if is_nested(child) or expand_composites:
            leaves += flatten(child, expand_composites)
        else:
            leaves.append(child)
    return leaves


def _is_apart(value: Any) -> bool:
    """Whether a value is flattened with `expand_composites`."""
    return is_composite(value) or is_composite_spec(value)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Pack leaves in a structure.

    Raises:
        TypeError: `flat_sequence` is no sequence.
        ValueError: There are more or fewer values than leaves.
    """
    if not is_nested(flat_sequence) or isinstance(flat_sequence, Mapping):
        raise TypeError(f'Attempted to pack value:\n  {flat_sequence}\ninto a structure, but found incompatible type '
                        f'`{type(flat_sequence)}` instead.')
    flat = list(flat_sequence)
    if not is_nested(structure) and not (expand_composites and _is_apart(structure)):
        if len(flat) != 1:
            raise ValueError(
                f'The target structure is of type `{type(structure)}`\n  {structure}\nHowever the input is a sequence '
                f'({type(flat_sequence)}) of length {len(flat)}.\n  {flat_sequence}\nnest cannot guarantee that it is safe '
                'to map one to the other.')
        return flat[0]
    atoms = len(flatten(structure, expand_composites))
    if atoms != len(flat):
        raise ValueError(f'Could not pack sequence. Structure had {atoms} atoms, but flat_sequence had {len(flat)} items.  '
                         f'Structure: {structure}, flat_sequence: {flat_sequence}.')
    return _fill(structure, iter(flat), expand_composites)


def _fill(structure: Any, leaves: Iterator[Any], expand: bool) -> Any:
    spec = spec_of(structure) if expand else None
    if spec is not None:
        return spec._from_components([next(leaves) for _ in components(structure)])
    if not is_nested(structure):
        return next(leaves)
    return _rebuilt(structure, [_fill(child, leaves, expand) for child in _children(structure)])


def map_structure(func: Callable[..., Any], *structures: Any, check_types: bool = True,
                  expand_composites: bool = False) -> Any:
    """Call `func` on the leaves of structures of one form, and put the results into the form of the first.

    Raises:
        TypeError: `func` is not callable, or the structures are of different types.
        ValueError: There is no structure, or their forms differ.
    """
    if not callable(func):
        raise TypeError(f'func must be callable, got: {func}')
    if not structures:
        raise ValueError('Must provide at least one structure')
    for other in structures[1:]:
        assert_same_structure(structures[0], other, check_types, expand_composites)
    columns = zip(*(flatten(s, expand_composites) for s in structures), strict=True)
    return pack_sequence_as(structures[0], [func(*leaves) for leaves in columns], expand_composites)


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """Check that two structures have one form.

    Args:
        nest1: A structure.
        nest2: Another.
        check_types: Lists and tuples differ, as do namedtuples of other names and mappings of other keys.
        expand_composites: Composites must have compatible specs.

    Raises:
        ValueError: Lengths, keys or depths differ; the message has both structures and the path.
        TypeError: The types of two sequences differ.
    """
    try:
        _check(nest1, nest2, check_types, expand_composites)
    except (ValueError, TypeError) as error:
        raise type(error)(
            "The two structures don't have the same nested structure.\n\n"
            f'First structure: {_type_text(nest1)}\n\nSecond structure: {_type_text(nest2)}\n\nMore specifically: {error}\n'
            f'Entire first structure:\n{_outline(nest1)}\nEntire second structure:\n{_outline(nest2)}') from None


def _check(a: Any, b: Any, check_types: bool, expand: bool = False) -> None:
    if expand and (_is_apart(a) or _is_apart(b)):
        _check_specs(a, b)
        return
    nested = is_nested(a)
    if nested is not is_nested(b):
        row, leaf = (a, b) if nested else (b, a)
        raise ValueError(f'Substructure "{_type_text(row)}" is a sequence, while substructure "{_type_text(leaf)}" is not')
    if not nested:
        return
    if check_types:
        _check_types(a, b)
    children_a, children_b = _children(a), _children(b)
    if len(children_a) != len(children_b):
        raise ValueError("The two structures don't have the same number of elements. "
                         f'First structure: {_type_text(a)}. Second structure: {_type_text(b)}')
    for x, y in zip(children_a, children_b, strict=True):
        _check(x, y, check_types, expand)


def _check_specs(a: Any, b: Any) -> None:
    spec_a, spec_b = spec_of(a), spec_of(b)
    if spec_a is None or spec_b is None:
        row, leaf = (a, b) if spec_a is not None else (b, a)
        raise TypeError(f'Type mismatch: {_type_text(row)} is a composite, {_type_text(leaf)} is not')
    if not spec_a.is_compatible_with(spec_b):
        raise ValueError(f'Incompatible CompositeTensor TypeSpecs: {_type_text(spec_a)} vs. {_type_text(spec_b)}')


def _check_types(a: Any, b: Any) -> None:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        if set(a) != set(b):
            raise ValueError(f"The two dictionaries don't have the same set of keys. First structure has keys "
                             f'{_type_text(list(a))}, while second structure has keys {_type_text(list(b))}')
        return
    if _is_namedtuple(a) and _is_namedtuple(b):
        same = type(a).__name__ == type(b).__name__ and a._fields == b._fields
    else:
        same = _is_namedtuple(a) is _is_namedtuple(b) and (isinstance(a, type(b)) or isinstance(b, type(a)))
    if not same:
        raise TypeError(f"The two namedtuples don't have the same sequence type. First structure {_type_text(a)} has type "
                        f'{type(a).__name__}, while second structure {_type_text(b)} has type {type(b).__name__}')


def _type_text(value: Any) -> str:
    return f'type={type(value).__name__} str={value}'


def _outline(structure: Any) -> str:
    dots: Iterable[Any] = [_Dot()] * len(flatten(structure))
    return str(pack_sequence_as(structure, dots))
