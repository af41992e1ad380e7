"""Symbolic tensors: the edges of a graph, each one output of a node; and their evaluation."""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyfuncdbg.errors import OperatorNotAllowedInGraphError
from pyfuncdbg.hooks.public_function import mark_unwrapped
from pyfuncdbg.hosts.numpy.graph import thread_state
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape

if TYPE_CHECKING:
    from pyfuncdbg.hosts.numpy.graph.node_graph import NodeGraph
    from pyfuncdbg.hosts.numpy.graph.operation import Operation

_RESOLUTIONS = (
    'You can attempt the following resolutions to the problem: If you are running in Graph mode, use Eager execution mode '
    'or decorate this function with @tf.function. If you are using AutoGraph, you can try decorating this function with '
    '@tf.function. '
    'If that does not work, then you may be using an unsupported feature or your source code may not be visible to '
    'AutoGraph. See '
    'https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/limitations.md'
    '#access-to-source-code for more information.')


class SymbolicTensor(Tensor):
    """One output of an `Operation`."""

    __slots__ = ('_shape', 'assign', 'dtype', 'index', 'op')        # assign: for slices of variables only

    @mark_unwrapped
    def __init__(self, op: Operation, index: int, dtype: DType, shape: TensorShape) -> None:
        self.op = op
        self.index = index
        self.dtype = dtype
        self._shape = shape

    @property
    @mark_unwrapped
    def graph(self) -> NodeGraph:
        """The graph it is part of."""
        return self.op.graph

    @property
    def name(self) -> str:
        """'node:slot'."""
        return f'{self.op.name}:{self.index}'

    @property
    def value_index(self) -> int:
        """The index of the tensor among the outputs of its op."""
        return self.index

    @property
    def device(self) -> str:
        """The device of its op."""
        return self.op.device

    @property
    @mark_unwrapped
    def shape(self) -> TensorShape:
        return self._shape

    def set_shape(self, shape: Any) -> None:
        """Merge the static shape with `shape`.

        Raises:
            ValueError: They contradict each other.
        """
        shape = TensorShape(shape)
        if not self._shape.is_compatible_with(shape):
            raise ValueError(_clash(self._shape, shape))
        self._shape = self._shape.merge_with(shape)

    def consumers(self) -> list[Operation]:
        """The ops with it as input."""
        return [op for op in self.graph.operations for t in op.inputs if t is self]

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Its value, computed in `session` or the default session.

        Raises:
            ValueError: There is no session.
        """
        return evaluate(self, 'Cannot evaluate tensor using `eval()`', feed_dict, session)

    def _elementwise(self) -> bool:
        return self.op.graph.building_function and thread_state.executing_eagerly_outside_functions()

    def __eq__(self, other: object) -> Any:
        return super().__eq__(other)

    def __hash__(self) -> int:
        # Each run of a session hashes its feeds and fetches: the fast path makes no further call.
        return super().__hash__() if self.op.graph.building_function else id(self)

    def __len__(self) -> int:
        raise TypeError(f'len is not well defined for a symbolic Tensor ({self.name}). Please call `x.shape` rather '
                        'than `len(x)` for shape information.')

    def __bool__(self) -> bool:
        raise OperatorNotAllowedInGraphError(
            'Using a symbolic `tf.Tensor` as a Python `bool` is not allowed. ' + _RESOLUTIONS)

    def __iter__(self) -> Iterator[Any]:
        if thread_state.executing_eagerly():
            raise TypeError('`tf.Tensor` is not iterable when eager execution is not enabled. Use `tf.map_fn` instead.')
        raise OperatorNotAllowedInGraphError(
            'Iterating over a symbolic `tf.Tensor` is not allowed. ' + _RESOLUTIONS)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise NotImplementedError(f'Cannot convert a symbolic tf.Tensor ({self.name}) to a numpy array. This error may '
                                  'indicate that you\'re trying to pass a Tensor to a NumPy call, which is not supported.')

    def __str__(self) -> str:
        shape = '' if self._shape.rank is None else f', shape={self._shape}'
        device = f', device={self.device}' if self.device else ''
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name}{device})'

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self._shape} dtype={self.dtype.name}>"


def _clash(a: TensorShape, b: TensorShape) -> str:
    """The error text for two incompatible shapes, of TensorFlow's shape functions."""
    first, second = a.as_list(), b.as_list()
    if len(first) != len(second):
        return f'Shapes must be equal rank, but are {len(first)} and {len(second)}'
    place = next(i for i, (m, n) in enumerate(zip(first, second, strict=True)) if None not in (m, n) and m != n)
    texts = ['[' + ','.join('?' if size is None else str(size) for size in sizes) + ']' for sizes in (first, second)]
    return (f'Dimension {place} in both shapes must be equal, but are {first[place]} and {second[place]}. Shapes are '
            f'{texts[0]} and {texts[1]}.')


def run_initializer(initializer: Any, feed_dict: Any, session: Any) -> None:
    """Run an initializer for another value.

    Raises:
        ValueError: There is no session.
    """
    session = session or thread_state.default_session()
    if session is None:
        raise ValueError('Either session argument should be provided or default session should be established')
    session.run(initializer, feed_dict)


def evaluate(fetch: Any, what: str, feed_dict: Any, session: Any) -> Any:
    """Run `fetch` in `session` or the thread's default session; `what` begins the error message."""
    tensor = 'eval' in what
    task, thing, call = ('evaluate tensor', 'tensor', 'eval') if tensor else ('execute operation', 'operation', 'run')
    explicit_session = session is not None
    if session is None:
        session = thread_state.default_session()
        if session is None:
            colon = '' if tensor else ':'
            raise ValueError(f'{what}: No default session is registered. Use `with sess.as_default(){colon}` or pass an '
                             f'explicit session to `{call}(session=sess)`')
    if session.graph is not fetch.graph:
        explicit = '`eval(session=sess)`' if tensor else 'run(session=sess)'
        kind = 'given' if explicit_session else 'default'
        raise ValueError(f"Cannot use the {kind} session to {task}: the {thing}'s graph is different from the session's "
                         'graph.' + ('' if explicit_session else f' Pass an explicit session to {explicit}.'))
    return session.run(fetch, feed_dict)
