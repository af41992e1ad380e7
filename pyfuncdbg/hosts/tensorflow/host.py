"""The host of the real TensorFlow: how observers read and make its values.

Asked on the thread of a call, which may be one of TensorFlow's own.
"""
from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pyfuncdbg.hooks import random_states
from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.function_fit import check_fit
from pyfuncdbg.hooks.host import EAGER_TENSORS, READERS, ListChanges, ReplaySite
from pyfuncdbg.hooks.live_objects import class_and_subclasses, find_objects
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

_PLAIN = (np.ndarray, np.generic, bytes, int, float, complex, str)
_MOST_DENSE = 1 << 20


class TensorFlowHost:
    """The `Host` of the real TensorFlow.

    Args:
        parts: Modules of the imported TensorFlow.
    """

    name = 'tensorflow'
    pauses_within = False
    replay_site: ReplaySite                     # by the attachment
    variables: Sequence[str] = ('TF_NUM_INTRAOP_THREADS', 'TF_NUM_INTEROP_THREADS', 'TF_DETERMINISTIC_OPS',
                                'TF_CUDNN_DETERMINISTIC', 'TF_ENABLE_ONEDNN_OPTS', 'TF_XLA_FLAGS', 'XLA_FLAGS')

    def __init__(self, parts: TensorFlowParts) -> None:
        self._parts = parts
        self.version = parts.version
        self._eager = parts.ops.EagerTensor
        self._seeds: random_states.PythonRandom | None = None
        if self._eager not in EAGER_TENSORS:
            EAGER_TENSORS.append(self._eager)
        READERS[self._eager] = self._eager._numpy_internal      # immutable; the memory is shared

    def to_numpy(self, value: Any) -> np.ndarray:
        """The array behind a value. The memory of an eager tensor on the CPU is shared, not copied.

        Args:
            value: An eager tensor, variable, array, scalar or composite tensor.

        Returns:
            Its array; rows of a ragged tensor; a 0-d object array for anything else.
        """
        if isinstance(value, self._eager):
            try:
                return np.asarray(value._numpy_internal())      # `_numpy` only raises another error
            except Exception:                   # a resource or variant, without elements to read
                return _boxed(value)
        if isinstance(value, _PLAIN):
            return _boxed(value) if isinstance(value, bytes) else np.asarray(value)     # NumPy's bytes lose NULs at the end
        return self._of_other(value)

    def _of_other(self, value: Any) -> np.ndarray:
        kind = type(value).__name__
        try:
            if kind == 'RaggedTensor':
                return np.asarray(value.numpy())
            if kind == 'SparseTensor':
                return self._dense(value)
            if kind == 'IndexedSlices':
                return self.to_numpy(value.values)
            if hasattr(value, 'read_value') and hasattr(value, 'handle'):
                with self._parts.context.eager_mode():
                    return self.to_numpy(value.read_value())
        except Exception:                       # of a graph, or deleted: no value to read
            return _boxed(value)
        return _boxed(value)

    def _dense(self, value: Any) -> np.ndarray:
        """A sparse tensor as its elements, or as its values where that would be large."""
        shape = tuple(int(size) for size in self.to_numpy(value.dense_shape))
        values = self.to_numpy(value.values)
        if int(np.prod(shape, dtype=object)) > _MOST_DENSE:
            return values
        dense = np.zeros(shape, values.dtype) if values.dtype != object else np.full(shape, b'', object)
        dense[tuple(self.to_numpy(value.indices).T)] = values
        return dense

    def tensor_name(self, value: Any) -> str:
        """Name of a symbolic tensor.

        Args:
            value: Any value.

        Returns:
            'mm:0'; '' of anything else.
        """
        if isinstance(value, self._eager) or not hasattr(value, 'op') or not hasattr(value, 'value_index'):
            return ''
        name = value.name
        return name if isinstance(name, str) else ''

    def from_numpy(self, array: np.ndarray, like: Any) -> Any:
        """Make a value of the kind of another one.

        Args:
            array: Its elements, which are copied.
            like: An eager tensor, array or scalar of the same dtype and shape.

        Returns:
            The new value.

        Raises:
            ValueError: The dtype or shape differs, or `like` has none.
        """
        tensor = isinstance(like, self._eager)
        if not tensor and not isinstance(like, _PLAIN):
            raise ValueError(f'got {type(like).__name__} to be replaced, expected a tensor with a value')
        old = self.to_numpy(like)
        if array.dtype != old.dtype or array.shape != old.shape:
            raise ValueError(f'got {array.dtype}{list(array.shape)}, expected {old.dtype}{list(old.shape)} as the value it '
                             f'replaces')
        if tensor:
            return self.tensor(array, like.dtype)
        if isinstance(like, bytes):
            return array[()]
        copy = array.copy() if array.ndim or array.dtype == object else array[()]
        return np.array(copy) if isinstance(like, np.ndarray) else copy

    def tensor(self, value: Any, dtype: Any = None) -> Any:
        """Make an eager tensor, whatever graph this thread is building.

        Args:
            value: Elements; an array is copied.
            dtype: TensorFlow's dtype, by default that of the value.

        Returns:
            The tensor.
        """
        with self._parts.context.eager_mode():
            own = np.array(value) if isinstance(value, np.ndarray) else value
            return self._parts.ops.convert_to_tensor(own, dtype=dtype)

    def new_context(self, inputs: int) -> Any:
        """Make no context: no function takes one.

        Args:
            inputs: How many arguments follow.

        Returns:
            None.
        """
        return None

    def call_again(self, site: CallSite, inputs: Sequence[Any]) -> Sequence[Any]:
        """Call a site's function outside of any run; no hook sees it.

        Args:
            site: A Python site.
            inputs: Tensors or arrays.

        Returns:
            The outputs.

        Raises:
            ValueError: The site cannot be called again.
        """
        again = site.attrs.get('_call')
        if again is None:
            raise ValueError(f'{site.name!r} cannot be called again: it is no Python call')
        return again(list(inputs))  # type: ignore[no-any-return]

    @contextmanager
    def restored_state(self) -> Iterator[ListChanges]:
        """A block that restores random states of NumPy, Python and eager ops, and eager variables, at its end.

        Yields:
            A function that tells which variables have changed.
        """
        state, variables = self.rng_state(), KeptVariables(self._parts)
        try:
            yield variables.changed
        finally:
            variables.restore()
            self.set_rng_state(state)

    def replace(self, site: CallSite, function: Callable[..., Any], count: int) -> None:
        """Call another function at a Python site from its next call on.

        Args:
            site: The site.
            function: The new function.
            count: Number of inputs that it is called with.

        Raises:
            ValueError: The site has no node, or the function does not take `count` inputs.
        """
        replace = site.attrs.get('_replace')
        if replace is None:
            raise ValueError(f'{site.name!r} is an eager call: there is no node whose function could be replaced')
        check_fit(function, [None] * count)
        replace(function)
        site.function = function

    def rng_state(self) -> Any:
        """The random states of NumPy, of `random` and of the seeds of eager ops.

        Returns:
            A value for `set_rng_state`.
        """
        seeds = getattr(self._parts.context.context(), '_rng', None)
        return np.random.get_state(), random.getstate(), seeds.getstate() if seeds is not None else None

    def set_rng_state(self, state: Any) -> None:
        """Restore random states.

        Args:
            state: A result of `rng_state`.
        """
        numpy_state, python_state, seeds_state = state
        np.random.set_state(numpy_state)
        random.setstate(python_state)
        seeds = getattr(self._parts.context.context(), '_rng', None)
        if seeds is not None and seeds_state is not None:
            seeds.setstate(seeds_state)

    def make_tensor(self, array: np.ndarray) -> Any:
        """Make an eager tensor.

        Args:
            array: Its elements, which are copied.

        Returns:
            The tensor.
        """
        return self.tensor(array)

    @property
    def op_draws(self) -> Any:
        """A mark of the generator of the seeds of eager ops; None without a global seed."""
        generator = getattr(self._parts.context.context(), '_rng', None)
        if generator is None:
            return None
        if self._seeds is None or self._seeds.generator is not generator:
            self._seeds = random_states.PythonRandom(generator)
        return self._seeds.mark()

    def op_generators(self) -> Sequence[tuple[str, Any]]:
        """The global seed of eager ops, and the generator of the seeds of those without one of their own.

        Returns:
            () without a global seed: then nothing of eager ops can be repeated.
        """
        context = self._parts.context.context()
        seed, generator = getattr(context, '_seed', None), getattr(context, '_rng', None)
        return () if seed is None or generator is None else (('', seed), ('seeds', generator))

    def restore_op_generators(self, states: Sequence[tuple[str, Any]]) -> None:
        """Seed eager ops as they were.

        Args:
            states: As in a trace.

        Raises:
            ValueError: They are damaged.
        """
        by_name = dict(states)
        if not by_name:
            return
        seed = by_name.get('')
        if type(seed) is not int or 'seeds' not in by_name:
            raise ValueError('the state of the generator of eager ops is damaged')
        context = self._parts.context.context()
        context._set_global_seed(seed)
        random_states.restore(context._rng, by_name['seeds'])


def _boxed(value: Any) -> np.ndarray:
    boxed = np.empty((), object)
    boxed[()] = value
    return boxed


class KeptVariables:
    """The values that all variables of the program have at one moment.

    A read shares the memory of the variable, and TensorFlow writes elsewhere while that is shared: nothing is copied here.
    Ops bypass TensorFlow's tapes and callbacks: nothing is recorded.

    Args:
        parts: Modules of the imported TensorFlow.
    """

    def __init__(self, parts: TensorFlowParts) -> None:
        self._parts = parts
        self._values: dict[int, tuple[Any, Any]] = {}
        base = sys.modules['tensorflow.python.ops.resource_variable_ops'].BaseResourceVariable
        for variable in find_objects(*class_and_subclasses(base)):
            handle = getattr(variable, '_handle', None)
            if type(handle) is parts.ops.EagerTensor and id(handle) not in self._values:
                value = self._read(variable)
                if value is not None:
                    self._values[id(handle)] = variable, value

    def changed(self) -> Sequence[str]:
        """The variables whose value has changed.

        Returns:
            Their names.
        """
        return [str(variable.name) for variable, value in self._values.values() if self._is_changed(variable, value)]

    def restore(self) -> None:
        """Write the values back to the variables that have changed."""
        for variable, value in self._values.values():
            if self._is_changed(variable, value):
                self._execute('AssignVariableOp', 0, [variable._handle, value], 'dtype', value.dtype.as_datatype_enum,
                              'validate_shape', False)

    def _is_changed(self, variable: Any, value: Any) -> bool:
        now = self._read(variable)
        return now is not None and not _same(now._numpy_internal(), value._numpy_internal())

    def _read(self, variable: Any) -> Any:
        """The value; None if there is none, the variable is deleted, or the value can be no array."""
        try:
            (value,) = self._execute('ReadVariableOp', 1, [variable._handle], 'dtype', variable._dtype.as_datatype_enum)
            value._numpy_internal()
            return value
        except Exception:                       # TensorFlow's, whatever it is
            return None

    def _execute(self, op: str, outputs: int, inputs: list[Any], *attrs: Any) -> Any:
        with self._parts.context.eager_mode():
            context = self._parts.context.context()
            return self._parts.execute.quick_execute(op, outputs, inputs, attrs, context)


def _same(one: Any, other: Any) -> bool:
    """Whether two arrays hold the same bits; where they share their memory nothing is compared."""
    if not (isinstance(one, np.ndarray) and isinstance(other, np.ndarray)):
        return bool(np.asarray(one).tobytes() == np.asarray(other).tobytes())
    if one.__array_interface__['data'] == other.__array_interface__['data'] and one.shape == other.shape:
        return True
    if one.dtype == object:
        return one.shape == other.shape and bool((one == other).all())
    return one.shape == other.shape and one.tobytes() == other.tobytes()
