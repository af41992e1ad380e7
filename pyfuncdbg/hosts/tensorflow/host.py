"""The host of the real TensorFlow: how observers read and make its values.

Asked on the thread of a call, which may be one of TensorFlow's own.
"""
from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hooks import random_states
from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.live_objects import class_and_subclasses, find_objects
from pyfuncdbg.hosts.interception.framework_host import PLAIN, FrameworkHost, KeptState, boxed
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

_MOST_DENSE = 1 << 20


class TensorFlowHost(FrameworkHost):
    """The `Host` of the real TensorFlow.

    Args:
        parts: Modules of the imported TensorFlow.
    """

    name = 'tensorflow'
    variables: Sequence[str] = ('TF_NUM_INTRAOP_THREADS', 'TF_NUM_INTEROP_THREADS', 'TF_DETERMINISTIC_OPS',
                                'TF_CUDNN_DETERMINISTIC', 'TF_ENABLE_ONEDNN_OPTS', 'TF_XLA_FLAGS', 'XLA_FLAGS')

    def __init__(self, parts: TensorFlowParts) -> None:
        self._parts = parts
        self.version = parts.version
        self._eager = parts.ops.EagerTensor
        self._seeds: random_states.PythonRandom | None = None
        self._register(self._eager, self._eager._numpy_internal)     # immutable; the memory is shared

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
                return boxed(value)
        return super().to_numpy(value) if isinstance(value, PLAIN) else self._of_other(value)

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
            return boxed(value)
        return boxed(value)

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

    def _is_tensor(self, value: Any) -> bool:
        return isinstance(value, self._eager)

    def _replacement(self, array: np.ndarray, like: Any) -> Any:
        return self.tensor(array, like.dtype)

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

    def _refusal(self, site: CallSite) -> str:
        return f'{site.name!r} is an eager call: there is no node whose function could be replaced'

    def _kept_state(self) -> KeptState:
        return KeptVariables(self._parts)

    def _own_random_state(self) -> Any:
        """That of the seeds of eager ops."""
        seeds = getattr(self._parts.context.context(), '_rng', None)
        return seeds.getstate() if seeds is not None else None

    def _restore_own_random_state(self, state: Any) -> None:
        seeds = getattr(self._parts.context.context(), '_rng', None)
        if seeds is not None and state is not None:
            seeds.setstate(state)

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
