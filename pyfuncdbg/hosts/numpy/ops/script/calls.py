"""The script ops: `py_function`, `numpy_function` and their TensorFlow 1 forms put a Python function into a graph.

Programs call them; in eager mode the function is called at once, on the caller's thread.

Variables that the function can reach (in its closure, the globals it names, and its bound object) become hidden inputs of
its node in a graph, for `tf.gradients`. They are collected when the node is made. No code of the user's is
called: types are inspected, not objects, which may be proxies of anything.
"""
from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from types import CodeType, FunctionType, GetSetDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

from pyfuncdbg.errors import OpError
from pyfuncdbg.hooks.patched_code import original_code
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.composite import is_composite
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor, is_constant
from pyfuncdbg.hosts.numpy.ops.script import registry
from pyfuncdbg.hosts.numpy.ops.script.arguments import ArgumentLayout, flat_inputs, laid_out, or_decorator
from pyfuncdbg.hosts.numpy.ops.script.errors import word_for_eager
from pyfuncdbg.hosts.numpy.ops.script.function import EAGER, NUMPY, STATELESS, PythonFunction
from pyfuncdbg.hosts.numpy.ops.script.kernel import call_eagerly
from pyfuncdbg.hosts.numpy.ops.script.results import ANY, output_types
from pyfuncdbg.hosts.numpy.ops.script.stored_function import ATTR, stored
from pyfuncdbg.hosts.numpy.ops.script.structure import filled, is_row, leaves
from pyfuncdbg.hosts.numpy.ops.variables.variable import Variable
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply, graph_of
from pyfuncdbg.hosts.numpy.runtime.eager.tape_recording import active
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor

_HOST = '/job:localhost/replica:0/task:0'
"""Task to which TensorFlow 2 assigns script ops in functions."""


def py_function(func: Any = None, inp: Any = None, Tout: Any = None, name: Any = None, *, serialize: bool = False) -> Any:
    """Call a Python function on eager tensors as an op that can be differentiated.

    Args:
        func: Takes one tensor per element of `inp`; returns tensors, or anything that can be converted to `Tout`. It runs
            in eager mode. Leave it out to use the op as a decorator.
        inp: List of tensors, variables or values. An element may also be a mapping or dataclass of these, which `func` gets
            in the same form.
        Tout: Dtype or `TensorSpec` of the result, a list of those (`[]`: nothing is returned), or a mapping or dataclass of
            them. The shape of a `TensorSpec` is checked when `func` has returned.
        name: Node name.
        serialize: In a graph, store the function in its node, so that a GraphDef can run in another process: see
            `import_graph_def(trust=True)`. Needs cloudpickle.

    Returns:
        A tensor, a list of tensors, or the structure of `Tout`; the `Operation` where `Tout` is empty, in a graph.

    Raises:
        TypeError: An argument is missing, or `Tout` names no dtype.
        ValueError: `func` cannot be called, or an input can be no tensor.
        OpError: In eager mode, what `func` raised or returned wrongly; its `__cause__` is the exception itself.
    """
    if func is None or inp is None or Tout is None:
        return or_decorator(py_function, 'tf.py_function', func, inp, Tout, name=name, serialize=serialize)
    _check_callable(func)
    items, layout = flat_inputs(inp, composites=True)
    types = output_types(Tout)
    if layout is not None and layout.has_composites:
        types = types.with_composites(Tout)
    graph = context.current_graph() or _graph_of(items)
    if graph is not None:
        variables = captured_variables(func, graph)
        function = PythonFunction(func, EAGER, types, name, layout, True, variables)
        return _node(graph, function, items, serialize)
    function = PythonFunction(func, EAGER, types, name, layout)
    inputs = [item if type(item) is EagerTensor else convert_to_tensor(item) for item in items]
    try:
        if active.recordings:
            outputs = apply(EAGER, inputs, {'_py_function': function}, name)
        else:
            outputs = call_eagerly(function, inputs)
    except OpError as error:
        word_for_eager(error, inputs, len(types.dtypes), name)
        raise
    return types.packed(outputs)


def numpy_function(func: Any = None, inp: Any = None, Tout: Any = None, stateful: Any = True, name: Any = None, *,
                   serialize: bool = False) -> Any:
    """Call a Python function on NumPy arrays as an op.

    Args:
        func: Takes one array per element of `inp` (a NumPy scalar at rank 0, in a graph), which it may write to; returns
            arrays of exactly `Tout`. Leave it out to use the op as a decorator.
        inp: List of tensors or values, or of mappings and dataclasses of them.
        Tout: As for `py_function`. Eager mode does not look at it, as in TensorFlow.
        stateful: False if `func` has no effect and depends on its arguments only: then it may be called less often.
        name: Node name.
        serialize: As for `py_function`.

    Returns:
        As `py_function`. In eager mode whatever `func` returned, as a tensor or list of tensors.

    Raises:
        TypeError: An argument is missing, or `Tout` names no dtype.
        ValueError: In a graph, `func` cannot be called, or an input can be no tensor.
        Exception: In eager mode, what `func` raised.
    """
    if func is None or inp is None or Tout is None:
        return or_decorator(numpy_function, 'tf.numpy_function', func, inp, Tout, stateful=stateful, name=name,
                            serialize=serialize)
    return py_func(func, inp, Tout, stateful, name, serialize=serialize)


def py_func(func: Any, inp: Any, Tout: Any, stateful: Any = True, name: Any = None, *, serialize: bool = False) -> Any:
    """`tf.compat.v1.py_func`: `numpy_function` under its old name."""
    items, layout = flat_inputs(inp)
    graph = context.current_graph() or _graph_of(items)
    return _numpy_call(graph, func, items, layout, Tout, stateful, name, serialize)


def eager_py_func(func: Any, inp: Any, Tout: Any, name: Any = None) -> Any:
    """`tf.contrib.eager.py_func` of TensorFlow 1: `py_function`."""
    return py_function(func, inp, Tout, name)


def framework_py_func(func: Any, args: Any = (), kwargs: Any = None, output_types: Any = None, output_shapes: Any = None,
                      stateful: Any = True, name: Any = None) -> Any:
    """`tf.contrib.framework.py_func` of TensorFlow 1: `py_func` with nested arguments, keywords and results.

    Args:
        func: Takes `*args, **kwargs` with arrays in place of tensors; returns the structure of `output_types`.
        args: Arguments, nested as they like.
        kwargs: Keyword arguments.
        output_types: A dtype, a nested structure of them, or a function that gives it.
        output_shapes: Static shapes, in the same structure.
        stateful: As for `numpy_function`.
        name: Node name.

    Raises:
        TypeError: `args` is no list or tuple, or `kwargs` no dict.
    """
    if not isinstance(args, (list, tuple)):
        raise TypeError(f'args must be list and not {type(args)}. args: {args}')
    if kwargs is not None and not isinstance(kwargs, dict):
        raise TypeError(f'kwargs must be dict and not {type(kwargs)}. args: {kwargs}')
    types = output_types() if callable(output_types) and not isinstance(output_types, type) else output_types
    items, layout = laid_out(args, kwargs or {}, is_row)
    graph = context.current_graph() or _graph_of(items)
    results = _numpy_call(graph, func, items, layout, types if is_row(types) else [types], stateful, name)
    tensors = leaves(results) if isinstance(results, (list, tuple)) or is_row(results) else [results]
    if output_shapes is not None:
        shapes = output_shapes() if callable(output_shapes) else output_shapes
        for tensor, shape in zip(tensors, leaves(shapes, _is_row_of_shapes), strict=True):
            tensor.set_shape(shape)
    return filled(types, iter(tensors)) if is_row(types) else tensors[0]


def _is_row_of_shapes(value: Any) -> bool:
    shape = isinstance(value, (list, tuple)) and all(size is None or isinstance(size, int) for size in value)
    return is_row(value) and not shape


class _Checks:
    """Setting: whether eager numpy_function must return its `Tout`."""

    on = False


_checks = _Checks()


def strict(on: bool = True) -> None:
    """Check results of `numpy_function` against `Tout` in eager mode too, where TensorFlow does not; for all threads."""
    _checks.on = on


# ---------------------------------------------------------------- the two ways to call
def _numpy_call(graph: Graph | None, func: Any, items: Sequence[Any], layout: ArgumentLayout | None, Tout: Any,
                stateful: Any,
                name: Any, serialize: bool = False) -> Any:
    op_type = NUMPY if stateful else STATELESS
    if graph is None:
        types = output_types(Tout) if _checks.on else ANY
        return PythonFunction(func, op_type, types, name, layout).call_plainly([_array(item) for item in items])
    _check_callable(func)
    if any(map(is_composite, items)):
        names = ', '.join('<NOT CONVERTIBLE TO TENSOR>' if is_composite(item) else convert_to_tensor(item).dtype.name
                          for item in items)
        raise TypeError(f"Tensors in list passed to 'input' of '{op_type}' Op have types [{names}] that are invalid. "
                        f'Tensors: {items}')
    return _node(graph, PythonFunction(func, op_type, output_types(Tout), name, layout, True), items, serialize)


def _array(item: Any) -> Any:
    """The array that the function gets for one input in eager mode: a copy, also at rank 0."""
    convert = getattr(item, '_as_tensor', None)
    if convert is not None and not is_composite(item):
        item = convert()
    return np.array(item._value if type(item) is EagerTensor else item)


def _node(graph: Graph, function: PythonFunction, items: Sequence[Any], serialize: bool = False) -> Any:
    """Add the function to a graph."""
    body = stored(function) if serialize else None
    in_function = graph.building_function and context.executing_eagerly_outside_functions()
    with context.under(graph), graph.device(_HOST) if in_function else nullcontext():
        items = [item._as_tensor() if hasattr(item, '_as_tensor') else item for item in items]
        with graph.name_scope(function.name or function.op_type) as scope:
            inputs = [item if isinstance(item, Tensor) else convert_to_tensor(item, name=f'input_{i}')
                      for i, item in enumerate(items)]
            variable_types = {len(inputs) + i: (v.dtype, v.shape) for i, v in enumerate(function.variables)}
            inputs += [variable.handle for variable in function.variables]
        attrs = {'token': function.token.encode(), 'Tout': list(function.outputs.dtypes), 'Tin': [t.dtype for t in inputs],
                 '_py_function': function, '_py_variables': variable_types}
        if function.op_type == EAGER:
            attrs['is_async'] = False
        if body is not None:
            attrs[ATTR] = body
        result = apply(function.op_type, inputs, attrs, scope)
    op: Operation = result if isinstance(result, Operation) else result[0].op
    if function.op_type == STATELESS and not op.control_inputs:
        op.attrs['_py_constant'] = all(map(is_constant, op.inputs))
    function.place(op)
    registry.register(function)
    outermost = graph
    while outermost.building_function and outermost.outer is not None:
        outermost = outermost.outer
    if outermost is not graph:
        outermost.resources.append(function)        # a GraphDef of the inner graph may outlive that graph
    if not op.outputs:
        return [] if function.op_type == STATELESS else op
    return function.outputs.packed(op.outputs)


_PLAIN = frozenset((EagerTensor, float, int, np.ndarray))
"""Types of inputs that belong to no graph."""


def _graph_of(items: Sequence[Any]) -> Graph | None:
    """In eager mode, the graph of a symbolic input or of a graph variable."""
    if _PLAIN.issuperset(map(type, items)):
        return None
    for item in items:
        if isinstance(item, Variable) and item._graph is not None:
            return graph_of((item.handle,))
    return graph_of(items)


def _check_callable(func: Any) -> None:
    if not callable(func):
        raise ValueError(f'Expected func to be callable. Received func={func} of type {type(func)}.')


_MOST = 2000
"""Most objects visited; the variables of a larger model, reached by attributes only, must be passed in `inp`."""
_DEEPEST = 4
_ATOMS = (str, bytes, int, float, complex, np.ndarray, np.generic, Tensor, Graph, ModuleType, type, type(None))


def captured_variables(func: Any, graph: Graph) -> tuple[Variable, ...]:
    """Variables that `func` can reach and a node of `graph` can read: breadth-first search of at most 2,000 objects.

    Non-trainable ones only if they are graph variables, which have no value outside of a run.
    """
    variables: dict[int, Variable] = {}
    visited: set[int] = set()
    level = [func]
    for _ in range(_DEEPEST + 1):
        deeper: list[Any] = []
        for thing in level:
            kind = type(thing)
            if id(thing) in visited or issubclass(kind, _ATOMS):
                continue
            visited.add(id(thing))
            if issubclass(kind, Variable):
                if (_is_within(graph, thing._graph) if thing._graph is not None else thing.trainable):
                    variables[id(thing)] = thing
            elif len(visited) > _MOST:
                return tuple(variables.values())
            else:
                deeper.extend(_referents(thing, kind))
        level = deeper
    return tuple(variables.values())


def _is_within(graph: Graph | None, outer: Graph) -> bool:
    while graph is not None and graph is not outer:
        graph = graph.outer if graph.building_function else None
    return graph is outer


def _referents(thing: Any, kind: type) -> Iterator[Any]:
    """Objects that one object refers to."""
    if kind is FunctionType:
        yield from _of_function(thing)
    elif kind is MethodType:
        yield from (thing.__self__, thing.__func__)
    elif kind is functools.partial:
        yield from (thing.func, *thing.args, *thing.keywords.values())
    elif issubclass(kind, dict):
        yield from dict.values(thing)
    else:
        for sequence in (list, tuple, set, frozenset):
            if issubclass(kind, sequence):
                yield from sequence.__iter__(thing)
        yield from _attributes(thing, kind)


def _of_function(func: FunctionType) -> Iterator[Any]:
    for cell in func.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:                      # not bound yet
            continue
    for name in _names(original_code(func.__code__)):
        if name in func.__globals__:
            yield func.__globals__[name]
    yield from func.__defaults__ or ()
    yield from (func.__kwdefaults__ or {}).values()


def _names(code: CodeType) -> Iterator[str]:
    """Names of globals that a function and those defined in it use (attribute names too: they do no harm)."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _attributes(thing: Any, kind: type) -> Iterator[Any]:
    """Values that an object of a user's class holds, and its `__call__`."""
    for base in kind.__mro__:
        attributes = base.__dict__
        holder = attributes.get('__dict__')
        if type(holder) is GetSetDescriptorType:
            yield from holder.__get__(thing, kind).values()
        if type(attributes.get('__call__')) is FunctionType:
            yield attributes['__call__']
