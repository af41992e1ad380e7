"""Datasets made of several others, or by a function with a state: zip, concatenate, choose, sample, scan."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec
from pyfuncdbg.hosts.numpy.ops.data import structure
from pyfuncdbg.hosts.numpy.ops.data.factories import seed_pair
from pyfuncdbg.hosts.numpy.ops.data.function import ElementFunction
from pyfuncdbg.hosts.numpy.ops.data.iterator import output_attrs
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.random.random import _seeds
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


def zipped(kind: Any, args: Any, datasets: Any, name: str | None) -> Any:
    """One element of each.

    Raises:
        TypeError: There is nothing to zip, or something that is no dataset.
    """
    if not args and datasets is None:
        raise TypeError('Must pass at least one dataset to `zip`.')
    if args and datasets is not None:
        raise TypeError('Both `*args` and `datasets` cannot be set.')
    given = datasets if datasets is not None else args[0] if len(args) == 1 else tuple(args)
    found = structure.leaves(given)
    for one in found:
        if not hasattr(one, '_variant_tensor'):
            if isinstance(one, list):
                raise TypeError('Invalid input to `zip`. Inputs are expected to be (nested) structures of '
                                '`tf.data.Dataset` objects. Python `list` is not supported and you should use `tuple` '
                                'instead.')
            raise TypeError('Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` '
                            f'objects but encountered object of type {type(one)}.')
    spec = structure.packed(given, iter([one.element_spec for one in found]))
    variant = apply('ZipDataset', [one._variant_tensor for one in found], {**output_attrs(spec), 'N': len(found)}, name)
    return kind(variant, spec, '_ZipDataset', found)


def concatenated(first: Any, second: Any, name: str | None) -> Any:
    """The elements of one, then those of another.

    Raises:
        TypeError: They have elements of different kinds.
    """
    ours, theirs = first.element_spec, second.element_spec
    try:
        if not structure.same_form(ours, theirs):
            raise ValueError(ours)
        spec = structure.narrowest_for_both(ours, theirs)
    except ValueError:
        raise TypeError(f'Incompatible dataset elements:\n  {ours} vs.   {theirs}') from None
    return first._derived('ConcatenateDataset', spec, '_ConcatenateDataset', second._variant_tensor, others=[second],
                          name=name)


def scanned(dataset: Any, initial_state: Any, function: Any, name: str | None) -> Any:
    """A function from (state, element) to (new state, output).

    Raises:
        TypeError: It does not return two things, or a state of another kind.
    """
    state = structure.as_element(initial_state)
    spec = structure.mapped(structure.spec_of, state)
    traced = ElementFunction(function, (spec, dataset.element_spec), 'Dataset.scan()', unpacked=False)
    if not isinstance(traced.spec, tuple) or len(traced.spec) != 2:
        raise TypeError('Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the output value '
                        f'but its return type is {traced.spec}.')
    check_state(spec, traced.spec[0], 'Invalid `scan_func`. ', ', got')
    flat = structure.tensors_of(state)
    return dataset._derived('ScanDataset', traced.spec[1], '_ScanDataset', *flat, *traced.captured, name=name,
                            _py_states=len(flat), **traced.attrs())


def check_state(before: Any, after: Any, start: str, joint: str) -> None:
    """Raises:
        TypeError: A function gives a state that is not of the kind of the initial one."""
    if structure.same_form(before, after):
        def dtypes_of(spec: Any) -> Any:
            return structure.mapped(lambda leaf: leaf.dtype, spec)
        if structure.leaves(dtypes_of(before)) == structure.leaves(dtypes_of(after)):
            return
        before, after = dtypes_of(before), dtypes_of(after)
    raise TypeError(f'{start}The element types for the new state must match the initial state. Expected {before}{joint} '
                    f'{after}.')


def chosen(datasets: Sequence[Any], choice: Any, stop_on_empty: bool) -> Any:
    """An element of the dataset whose number another one gives.

    Raises:
        TypeError: `choice` has elements other than int64 numbers.
        ValueError: There are no datasets.
    """
    if not datasets:
        raise ValueError('Invalid `datasets`. `datasets` should not be empty.')
    if not structure.compatible(choice.element_spec, TensorSpec((), dtypes.int64)):
        raise TypeError('Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but are '
                        f'{choice.element_spec}.')
    spec = datasets[0].element_spec
    for other in datasets[1:]:
        spec = structure.narrowest_for_both(spec, other.element_spec)
    return choice._derived('DirectedInterleaveDataset', spec, '_DirectedInterleaveDataset',
                           *[one._variant_tensor for one in datasets], others=datasets, stop_on_empty_dataset=stop_on_empty,
                           N=len(datasets))


def sampled(datasets: Sequence[Any], weights: Any, seed: int | None, stop_on_empty: bool) -> Any:
    """Elements of datasets that are drawn at random."""
    if not datasets:
        raise ValueError('Invalid `datasets`. `datasets` should not be empty.')
    count = len(datasets)
    if weights is not None and len(weights) != count:
        raise ValueError('Invalid `weights`. `weights` should have the same length as `datasets` but got '
                         f'`len(weights)={len(weights)}` vs. `len(datasets)={count}`.')
    given = np.full(count, 1 / count) if weights is None else np.asarray(weights, np.float64)
    spec = TensorSpec((), dtypes.int64)
    kind = type(datasets[0])
    variant = apply('SampledNumbers', (convert_to_tensor(given / given.sum()), *seed_pair(_seeds(seed))), output_attrs(spec))
    return chosen(datasets, kind(variant, spec), stop_on_empty)


def single(dataset: Any, name: str | None) -> Any:
    """The only element."""
    flat = apply('DatasetToSingleElement', (dataset._variant_tensor,), output_attrs(dataset.element_spec), name)
    return structure.element_of(dataset.element_spec, flat)
