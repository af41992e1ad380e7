"""The form of nested arguments: arguments that are taken apart and made again are the same, from plain data too."""
from __future__ import annotations

from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given, strategies as st

from pyfuncdbg.hooks.argument_form import ArgumentForm, Part


class Place:
    """Stands for an input."""

    def __init__(self, number: int) -> None:
        self.number = number


def input_of(value: Any) -> Part | None:
    return Part('input', value.number) if isinstance(value, Place) else None


_CONSTANTS = (st.none() | st.booleans() | st.integers(-1 << 63, (1 << 63) - 1) | st.text(max_size=5)
              | st.floats(allow_nan=False))
_LEAVES = st.just('input') | _CONSTANTS.map(lambda value: ('constant', value))


def _tuples(parts: Any) -> Any:
    return st.lists(parts, max_size=3).map(tuple).filter(lambda value: value[:1] != ('constant',))


_STRUCTURES = st.recursive(_LEAVES, lambda parts: st.lists(parts, max_size=3) | _tuples(parts)
                           | st.dictionaries(_CONSTANTS, parts, max_size=3), max_leaves=8)


def with_inputs(structure: Any, make: Any) -> Any:
    """The structure with what `make` gives for each input, and its constants."""
    if structure == 'input':
        return make()
    if type(structure) is tuple and structure[:1] == ('constant',):
        return structure[1]
    if isinstance(structure, dict):
        return {key: with_inputs(one, make) for key, one in structure.items()}
    return type(structure)(with_inputs(one, make) for one in structure)


def form_with(positional: list[Any], keywords: dict[str, Any]) -> tuple[ArgumentForm, int]:
    numbers = iter(range(1000))

    def make() -> Place:
        return Place(next(numbers))
    form = ArgumentForm.of([with_inputs(one, make) for one in positional],
                           {name: with_inputs(one, make) for name, one in keywords.items()}, input_of)
    return form, next(numbers)


@given(st.lists(_STRUCTURES, max_size=3), st.dictionaries(st.sampled_from(['a', 'scale', 'x']), _STRUCTURES, max_size=2))
def test_arguments_come_again_from_plain_data_and_from_the_text_of_a_call(
        positional: list[Any], keywords: dict[str, Any]) -> None:
    form, count = form_with(positional, keywords)
    stored = msgpack.unpackb(msgpack.packb(form.plain()), strict_map_key=False)
    read = ArgumentForm.read(stored)
    assert read == form
    assert (form.inputs, form.unknown, form.kinds) == (count, '', ['input'] * count)
    inputs = [f'value {place}' for place in range(count)]
    values = iter(inputs)
    wanted = [with_inputs(one, lambda: next(values)) for one in positional]
    wanted_keywords = {name: with_inputs(one, lambda: next(values)) for name, one in keywords.items()}
    assert read.arguments(inputs) == (wanted, wanted_keywords)
    text = f'called({read.text([repr(one) for one in inputs])})'
    assert eval(text, {'called': lambda *args, **kwargs: (list(args), kwargs)}) == (wanted, wanted_keywords)
    named = {f'argument {place}': value for place, value in enumerate([*wanted, *wanted_keywords.values()])}
    assert read.inputs_of(named) == inputs


def test_a_smaller_batch_is_the_beginning_of_a_larger_one() -> None:
    pairs = [('input', {'label': 'input'})]
    (large, _), (small, _) = form_with([pairs * 3], {}), form_with([pairs * 2], {})
    assert large.beginning(4) == small != large
    assert large.beginning(6) == large
    assert large.beginning(4).arguments(list('abcd')) == ([[('a', {'label': 'b'}), ('c', {'label': 'd'})]], {})


def test_numbers_and_arrays_are_as_the_function_got_them() -> None:
    form = ArgumentForm((Part('number', 0), Part('array', 1), Part('input', 2)), ())
    (number, array, tensor), _ = form.arguments([np.array(3), np.arange(2), np.array(2.5)])
    assert (type(number), number, array.tolist(), tensor.shape) == (int, 3, [0, 1], ())


def test_what_is_no_plain_container_is_named() -> None:
    class Point:
        pass
    form = ArgumentForm.of([[Place(0), Point()]], {}, input_of)
    assert form.unknown.endswith('Point')
    with pytest.raises(ValueError, match='Point'):
        form.arguments([1])


def test_another_form_is_told_by_its_place() -> None:
    form, _ = form_with([{'x': 'input', 'y': ['input', 'input']}], {})
    with pytest.raises(ValueError, match=r"^batch\['y'\] was a list of 2, and is now list of 1$"):
        form.inputs_of({'batch': {'x': 1, 'y': [2]}})
    with pytest.raises(ValueError, match=r"^batch has no 'y' any more$"):
        form.inputs_of({'batch': {'x': 1, 'z': [2, 3]}})


@pytest.mark.parametrize('damaged', [
    None, [], [[]], 3, 'ab', [[['input', -1]], []], [[['input', 'x']], []], [[['code', 'x']], []], [[['list', 3]], []],
    [[['constant', [1]]], []], [[], [['x=1, y', ['input', 0]]]], [[], [[3, ['input', 0]]]], [[['unknown', 3]], []],
    [[['dict', [[[1], ['input', 0]]]]], []], [[['input', 1]], []], [[['input', 0], ['input', 0]], []]])
def test_damaged_data_is_no_form(damaged: Any) -> None:
    assert ArgumentForm.read(damaged) is None


def test_data_that_is_nested_without_end_is_no_form() -> None:
    data: list[Any] = ['input', 0]
    for _ in range(200):
        data = ['list', [data]]
    assert ArgumentForm.read([[data], []]) is None
