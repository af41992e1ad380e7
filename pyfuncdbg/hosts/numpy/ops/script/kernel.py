"""The kernels of EagerPyFunc, PyFunc and PyFuncStateless, which call a node's Python function.

Eager code, plan and executor call them, on the thread of the run.
"""
from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

import numpy as np

from pyfuncdbg.hooks.generator_end import GeneratorEnd
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, OpDef, Output, TypedInput, no_gradient, register
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.script import registry
from pyfuncdbg.hosts.numpy.ops.script.errors import is_refusal, op_error
from pyfuncdbg.hosts.numpy.ops.script.function import EAGER, NUMPY, STATELESS, PythonFunction
from pyfuncdbg.hosts.numpy.ops.script.gradient import RecordCollector, gradient, hidden
from pyfuncdbg.hosts.numpy.ops.script.stored_function import restored
from pyfuncdbg.hosts.numpy.ops.variables.handles import Storage
from pyfuncdbg.hosts.numpy.runtime.eager.tape_recording import RecordedResult
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution, eager_execution
from pyfuncdbg.hosts.numpy.runtime.execution.resources import EAGER_RESOURCES, UNFOLDED


def boxed(value: Any) -> EagerTensor:
    """A kernel's input as tensor for the function."""
    if isinstance(value, (np.ndarray, np.generic)):
        return EagerTensor(value)
    return EagerTensor(value, dtypes.resource if isinstance(value, Storage) else dtypes.variant)


def _call_on_tensors(execution: Execution, *values: Any, token: bytes = b'', _py_function: PythonFunction | None = None,
                     owned: Collection[int] = (), record: bool = False) -> Any:
    """Kernel of EagerPyFunc: inputs need no copies, for tensors do not expose their memory."""
    inputs = [boxed(value) for value in values]
    try:
        function: PythonFunction = registry.find_record(token) if _py_function is None else _py_function
        keeping = RecordCollector(function.traced) if record else None
        if function.variables:
            count = len(inputs) - len(function.variables)
            outputs = function.invoke(execution, inputs[:count], keeping, inputs[count:])
        else:
            outputs = function.invoke(execution, inputs, keeping)
    except (Exception, GeneratorExit) as error:     # any error of the user's function becomes TensorFlow's
        if is_refusal(error):
            raise
        raise op_error(error) from error
    results = [tensor._value for tensor in outputs]
    if keeping is None:
        return results
    return RecordedResult(results, (keeping.record(inputs, outputs),), keeping.captured, keeping.call)


def call_eagerly(function: PythonFunction, inputs: Sequence[EagerTensor]) -> Sequence[EagerTensor]:
    """Fast path of EagerPyFunc in eager mode without a tape: 2 µs less than through `apply`."""
    execution = eager_execution()
    execution.errstate = numpy_errstate.current_state()
    try:
        # New tensors: the function may watch its argument and also close over the caller's tensor.
        return function.invoke(execution, [EagerTensor(tensor._value, tensor.dtype) for tensor in inputs])
    except (Exception, GeneratorExit) as error:     # any error of the user's function becomes TensorFlow's
        if is_refusal(error):
            raise
        raise op_error(error) from error
    finally:
        numpy_errstate.state.set(execution.errstate)


def _call_on_arrays(execution: Execution, *values: Any, token: bytes = b'', _py_function: PythonFunction | None = None,
                    owned: Collection[int] = ()) -> Sequence[Any]:
    """Kernel of PyFunc: shared arrays are copied, for the function may write to its arguments."""
    inputs = [value if type(value) is not np.ndarray else _writable(value, position in owned)
              for position, value in enumerate(values)]
    try:
        function: PythonFunction = registry.find_record(token) if _py_function is None else _py_function
        outputs = function.invoke(execution, inputs)
        if type(outputs) is GeneratorEnd:
            raise outputs.error
        return outputs
    except (Exception, GeneratorExit) as error:     # any error of the user's function becomes TensorFlow's
        if is_refusal(error):
            raise
        raise op_error(error) from error


def _call_once(execution: Execution, *values: Any, token: bytes = b'', _py_function: PythonFunction | None = None,
               _py_constant: bool = False, owned: Collection[int] = ()) -> Sequence[Any]:
    """Kernel of PyFuncStateless: on constants one call per session, or per traced function."""
    def call() -> Sequence[Any]:
        return _call_on_arrays(execution, *values, token=token, _py_function=_py_function, owned=owned)

    if not _py_constant or _py_function is None or UNFOLDED in execution.resources:
        return call()
    remembered = (_py_function.constant if execution.resources is EAGER_RESOURCES else
                  execution.resource(('constant', token, _py_function.func), list))
    for inputs, outputs in remembered:
        if _are_equal(inputs, values):          # constants may be fed
            return outputs
    outputs = call()
    remembered[:] = [(values, outputs)]
    return outputs


def _are_equal(values_before: Sequence[Any], values: Sequence[Any]) -> bool:
    return all(one is other or np.array_equal(one, other) for one, other in zip(values_before, values, strict=True))


def _writable(value: Any, owned: bool) -> Any:
    """An array as argument for the function, writable; `bytes` for a string of rank 0."""
    if not value.ndim:
        return value[()]
    return value if owned and value.flags.writeable else value.copy()


def _infer(inputs: Sequence[TypedInput], attrs: Attrs) -> Sequence[Output]:
    function = attrs.get('_py_function')
    if function is None:                            # imported
        return [(dtype, TensorShape(None)) for dtype in attrs['Tout']]
    return list(zip(function.outputs.dtypes, function.outputs.shapes, strict=True))


_KEYWORDS = ('token', '_py_function')
register(OpDef(EAGER, _call_on_tensors, _infer, gradient, outputs=-1, stateful=True, kernel_attrs=_KEYWORDS,
               in_execution=True, hidden=hidden, python=True, restore=partial(restored, EAGER)))
register(OpDef(NUMPY, _call_on_arrays, _infer, no_gradient, outputs=-1, stateful=True, kernel_attrs=_KEYWORDS,
               in_execution=True, python=True, restore=partial(restored, NUMPY)))
register(OpDef(STATELESS, _call_once, _infer, no_gradient, outputs=-1, kernel_attrs=(*_KEYWORDS, '_py_constant'),
               in_execution=True, python=True, restore=partial(restored, STATELESS)))
