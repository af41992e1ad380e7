"""Iterator resources, and the ops that create them, initialize them with a dataset and get elements.

Sessions and functions run them; eager iterators call the resource directly. On the thread of the run.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.errors import FailedPreconditionError, OpError, OutOfRangeError
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.public_function import hide_own_frames_in_methods
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Node, OpDef, Output, no_gradient, register
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.data.function import USER_ERROR
from pyfuncdbg.hosts.numpy.ops.data.source import DatasetReading, Element, ElementSource, EndOfSequence, Pull
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution

_UNINITIALIZED = ('GetNext() failed because the iterator has not been initialized. Ensure that you have run the initializer '
                  'operation for this iterator before getting the next element.')


class Cursor:
    """Cursor of an iterator in its dataset; its worker threads end with it."""

    __slots__ = ('__weakref__', '_lock', '_pull', '_reading')

    def __init__(self) -> None:
        self._lock = new_rlock()
        self._pull: Pull | None = None
        self._reading: DatasetReading | None = None

    def begin(self, source: ElementSource, execution: Execution) -> None:
        """Read a dataset, from the start."""
        with self._lock:
            if self._reading is not None:
                self._reading.close()
            self._reading = DatasetReading(execution)
            self._pull = source.open(self._reading, 'Iterator::Root')

    def next(self) -> Element | None:
        """The next element; None at the end.

        Raises:
            FailedPreconditionError: The iterator is not initialized.
            OpError: A function of the pipeline failed.
        """
        with self._lock:
            if self._pull is None:
                raise FailedPreconditionError(None, None, _UNINITIALIZED)
            try:
                return self._pull()
            except EndOfSequence:
                return None

    def __del__(self) -> None:
        if self._reading is not None:
            self._reading.close()


@hide_own_frames_in_methods
class OptionalElement:
    """The value of an optional: an element or none."""

    __slots__ = ('element',)

    def __init__(self, element: Element | None) -> None:
        self.element = element

    def value(self) -> Element:
        """The element.

        Raises:
            InvalidArgumentError: There is none.
        """
        if self.element is None:
            raise invalid('The given optional does not have a value.')
        return self.element


def end() -> OutOfRangeError:
    """The error raised where an element is requested after the last one."""
    return OutOfRangeError(None, None, 'End of sequence')


# ---------------------------------------------------------------- kernels
def _pulled(execution: Execution, cursor: Cursor, node: str) -> Element | None:
    try:
        return cursor.next()
    except OpError as error:
        if not error.located and error.message.startswith(USER_ERROR):
            error.locate(None, None, f'Graph execution error:\n\n{error.message}\n\t [[{node}]]')
        raise


def _get_next(execution: Execution, cursor: Cursor, node: str = '', owned: Any = ()) -> Element:
    element = _pulled(execution, cursor, node)
    if element is None:
        raise end()
    return element


def _get_optional(execution: Execution, cursor: Cursor, node: str = '', owned: Any = ()) -> OptionalElement:
    return OptionalElement(_pulled(execution, cursor, node))


def _make(execution: Execution, source: ElementSource, cursor: Cursor, owned: Any = ()) -> None:
    cursor.begin(source, execution)


def _shared(execution: Execution, node: str = '', shared_name: Any = '', container: Any = '', device: str = '',
            owned: Any = ()) -> Cursor:
    resources = execution.resources
    key: Any = 'iterator', shared_name or node
    if shared_name and type(resources) is not dict:    # on a task, sessions share what the program has named
        key = resources.shared('iterator', device, container, shared_name)  # type: ignore[attr-defined]
    cursor: Cursor = execution.resource(key, Cursor)
    return cursor


def _one_shot(execution: Execution, source: ElementSource, node: str = '', owned: Any = ()) -> Cursor:
    def new_cursor() -> Cursor:
        cursor = Cursor()
        cursor.begin(source, execution)
        return cursor
    existing: Cursor = execution.resource(('iterator', node), new_cursor)
    return existing


def _anonymous(execution: Execution, owned: Any = ()) -> Cursor:
    return Cursor()


def _handle(execution: Execution, cursor: Cursor, owned: Any = ()) -> Any:
    text = f'iterator {id(cursor)}{_place(execution)}'.encode()
    execution.resources[text] = cursor
    return np.array(text, object)


def _place(execution: Execution) -> str:
    """The task in the handle of an iterator: the same number may be that of another one elsewhere."""
    devices = getattr(execution.resources, 'devices', None)
    return '' if devices is None else f' on {devices.home.to_string()}'


def _by_handle(execution: Execution, text: Any, owned: Any = ()) -> Cursor:
    cursor = execution.resources.get(text[()])
    if cursor is None:
        here, there = _place(execution).removeprefix(' on '), bytes(text[()]).decode(errors='replace').partition(' on ')[2]
        if there and there != here:
            raise invalid(f'Attempted create an iterator on device "{here}" from handle defined on device "{there}"')
        raise invalid(f'The handle {text[()]!r} is that of no iterator of this session.')
    return cursor


# ---------------------------------------------------------------- ops
def _scalar_output(dtype: DType) -> Callable[[Any, Attrs], list[Output]]:
    return lambda inputs, attrs: [(dtype, TensorShape(()))]


def _element_types(inputs: Any, attrs: Attrs) -> list[Output]:
    return list(zip(attrs['output_types'], attrs['output_shapes'], strict=True))


def _from_value_gradient(node: Node, grad: Any) -> Sequence[Any]:
    types = {'output_types': [t.dtype for t in node.inputs], 'output_shapes': [t.shape for t in node.inputs]}
    return list(apply('OptionalGetValue', (grad,), types))


def _op(name: str, kernel: Any, infer: Any, *attrs: str, outputs: int = 1) -> None:
    register(OpDef(name, kernel, infer, outputs=outputs, stateful=True, in_execution=True, python=True,
                   kernel_attrs=attrs, retains=True))


_op('IteratorV2', _shared, _scalar_output(dtypes.resource), 'node', 'shared_name', 'container', 'device')
_op('OneShotIterator', _one_shot, _scalar_output(dtypes.resource), 'node')
_op('AnonymousIteratorV3', _anonymous, _scalar_output(dtypes.resource))
_op('MakeIterator', _make, lambda inputs, attrs: [], outputs=0)
_op('IteratorGetNext', _get_next, _element_types, 'node', outputs=-1)
_op('IteratorGetNextAsOptional', _get_optional, _scalar_output(dtypes.variant), 'node')
_op('IteratorToStringHandle', _handle, _scalar_output(dtypes.string))
_op('IteratorFromStringHandleV2', _by_handle, _scalar_output(dtypes.resource))
register(OpDef('OptionalFromValue', lambda *values: OptionalElement(values), _scalar_output(dtypes.variant),
               _from_value_gradient, retains=True))
register(OpDef('OptionalNone', lambda: OptionalElement(None), _scalar_output(dtypes.variant), no_gradient, retains=True))
register(OpDef('OptionalHasValue', lambda maybe: np.bool_(maybe.element is not None), _scalar_output(dtypes.bool),
               no_gradient))
register(OpDef('OptionalGetValue', lambda maybe: maybe.value(), _element_types,
               lambda node, *grads: [apply('OptionalFromValue', grads)], outputs=-1, retains=True))
register(OpDef('DatasetCardinality', lambda source: np.int64(source.cardinality), _scalar_output(dtypes.int64), no_gradient))
