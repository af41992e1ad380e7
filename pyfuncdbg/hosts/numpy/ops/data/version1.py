"""Datasets and iterators of TensorFlow 1. Iterators are nodes of a graph with an initializer."""
from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.dtypes import as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import as_shape
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec
from pyfuncdbg.hosts.numpy.ops.data import structure
from pyfuncdbg.hosts.numpy.ops.data.dataset import Dataset
from pyfuncdbg.hosts.numpy.ops.data.iterator import (
    Optional,
    OwnedIterator,
    get_output_shapes,
    get_output_types,
    output_attrs,
)
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import colocate_with
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


def _class_of(spec: Any) -> Any:
    return Tensor if isinstance(spec, TensorSpec) else spec.value_type


def get_output_classes(dataset_or_iterator: Any) -> Any:
    """The classes of an element's parts."""
    return structure.map_structure(_class_of, dataset_or_iterator.element_spec)


class DatasetV1(Dataset):
    """`tf.compat.v1.data.Dataset`: a dataset that makes iterators in graphs."""

    output_types = property(get_output_types)
    output_shapes = property(get_output_shapes)
    output_classes = property(get_output_classes)

    def make_one_shot_iterator(self) -> Any:
        """An iterator that reads this dataset once, without initialization."""
        if context.current_graph() is None:
            return OwnedIterator(self)
        with _colocated_with(self._variant_tensor):
            resource = apply('OneShotIterator', (self._variant_tensor,), _iterator_attrs(self.element_spec))
            return Iterator(resource, None, self.element_spec)

    def make_initializable_iterator(self, shared_name: str | None = None) -> Any:
        """An iterator that begins to read when its `initializer` runs.

        Raises:
            RuntimeError: In eager mode.
        """
        if context.current_graph() is None:
            raise RuntimeError('`make_initializable_iterator()` is not supported in eager mode. Use Python-style iteration '
                               'instead.')
        with _colocated_with(self._variant_tensor):
            resource = _shared_iterator(shared_name, self.element_spec)
            return Iterator(resource, apply('MakeIterator', (self._variant_tensor, resource)), self.element_spec)

    def filter_with_legacy_function(self, predicate: Any) -> Any:
        """`filter` under its old name."""
        return self.filter(predicate)

    def map_with_legacy_function(self, map_func: Any, num_parallel_calls: Any = None, deterministic: Any = None) -> Any:
        """`map` under its old name."""
        return self.map(map_func, num_parallel_calls, deterministic)

    @classmethod
    def from_sparse_tensor_slices(cls, sparse_tensor: Any) -> Any:
        """The slices of a sparse tensor.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError('pyfuncdbg has no datasets of sparse tensors; give tf.sparse.to_dense(...) to '
                                  'from_tensor_slices')


def _iterator_attrs(spec: Any) -> dict[str, Any]:
    return {'dataset_factory': b'', 'container': '', 'shared_name': '', **output_attrs(spec)}


def _colocated_with(tensor: Any) -> AbstractContextManager[None]:
    """Colocate new nodes with a tensor, as TensorFlow does: an iterator is on the task of its dataset. Not in the function
    of a loop or conditional, which has a graph of its own."""
    op = getattr(tensor, 'op', None)
    return nullcontext() if op is None or op.graph is not context.current_graph() else colocate_with(op)


def _shared_iterator(shared_name: str | None, spec: Any) -> Any:
    return apply('IteratorV2', (), {'shared_name': shared_name or '', 'container': '', **output_attrs(spec)})


class Iterator:
    """`tf.compat.v1.data.Iterator`: a node that reads a dataset once an initializer has run.

    Attributes:
        element_spec: The spec of an element.
    """

    def __init__(self, resource: Any, initializer: Any, element_spec: Any) -> None:
        self._iterator_resource = resource
        self._initializer = initializer
        self.element_spec = element_spec
        self._handle = apply('IteratorToStringHandle', (resource,))

    @property
    def initializer(self) -> Any:
        """The operation that begins to read.

        Raises:
            ValueError: A one-shot iterator, or one of `from_structure`, has no initializer.
        """
        if self._initializer is None:
            raise ValueError('The iterator does not have an initializer. This means it was likely created using '
                             '`tf.data.Dataset.make_one_shot_iterator()`. For an initializable iterator, use '
                             '`tf.data.Dataset.make_initializable_iterator()` instead.')
        return self._initializer

    def make_initializer(self, dataset: Dataset, name: str | None = None) -> Any:
        """An operation that begins to read a dataset with this iterator.

        Raises:
            TypeError: The dataset's elements have another structure, dtype or shape.
        """
        iterator_spec, dataset_spec = self.element_spec, dataset.element_spec
        if not structure.same_form(iterator_spec, dataset_spec):
            raise TypeError(f'The `dataset` must have the same nested structure as the iterator: '
                            f'{iterator_spec}, got {dataset_spec}.')
        types = structure.map_structure(lambda leaf: leaf.dtype, dataset_spec)
        if structure.leaves(self.output_types) != structure.leaves(types):
            raise TypeError(f'Expected output types {self.output_types!r} but got dataset with output types {types!r}.')
        if not structure.compatible(iterator_spec, dataset_spec):
            shapes = structure.map_structure(lambda s: s.shape, dataset_spec)
            raise TypeError(f'Expected output shapes compatible with {self.output_shapes!r} but got dataset with output '
                            f'shapes {shapes!r}.')
        with _colocated_with(self._iterator_resource):
            return apply('MakeIterator', (dataset._variant_tensor, self._iterator_resource), None, name)

    def get_next(self, name: str | None = None) -> Any:
        """The next element; each call of this method adds nodes."""
        with _colocated_with(self._iterator_resource):
            flat = apply('IteratorGetNext', (self._iterator_resource,), output_attrs(self.element_spec), name)
        return structure.element_of(self.element_spec, flat)

    def get_next_as_optional(self) -> Optional:
        """The next element, or nothing."""
        with _colocated_with(self._iterator_resource):
            optional = apply('IteratorGetNextAsOptional', (self._iterator_resource,), output_attrs(self.element_spec))
        return Optional(optional, self.element_spec)

    def string_handle(self, name: str | None = None) -> Any:
        """A string that represents this iterator, to be fed to one `from_string_handle`."""
        return self._handle if name is None else apply('IteratorToStringHandle', (self._iterator_resource,), None, name)

    output_types = property(get_output_types)
    output_shapes = property(get_output_shapes)
    output_classes = property(get_output_classes)

    @staticmethod
    def from_structure(output_types: Any, output_shapes: Any = None, shared_name: str | None = None,
                       output_classes: Any = None) -> Iterator:
        """An iterator for datasets of one structure, initialized by `make_initializer`."""
        spec = _spec(output_types, output_shapes)
        return Iterator(_shared_iterator(shared_name, spec), None, spec)

    @staticmethod
    def from_string_handle(string_handle: Any, output_types: Any, output_shapes: Any = None,
                           output_classes: Any = None) -> Iterator:
        """The iterator named by a handle at run time."""
        spec = _spec(output_types, output_shapes)
        handle = convert_to_tensor(string_handle, dtypes.string)
        return Iterator(apply('IteratorFromStringHandleV2', (handle,), output_attrs(spec)), None, spec)


def _spec(types: Any, shapes: Any) -> Any:
    if shapes is None:
        return structure.map_structure(lambda leaf: TensorSpec(None, as_dtype(leaf)), types)
    return structure.map_structure(lambda leaf, shape: TensorSpec(as_shape(shape), as_dtype(leaf)), types, shapes)


def make_one_shot_iterator(dataset: Any) -> Any:
    """An iterator that reads a dataset once, without initialization."""
    return _version1(dataset).make_one_shot_iterator()


def make_initializable_iterator(dataset: Any, shared_name: str | None = None) -> Any:
    """An iterator that begins to read when its `initializer` runs."""
    return _version1(dataset).make_initializable_iterator(shared_name)


def _version1(dataset: Any) -> DatasetV1:
    if isinstance(dataset, DatasetV1):
        return dataset
    return DatasetV1(dataset._variant_tensor, dataset.element_spec, dataset._kind, [dataset])
