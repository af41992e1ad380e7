"""Converted loops as nodes: checks of the loop's variables, and stand-ins for missing initial values."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import nest
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.arrays.filling import zeros
from pyfuncdbg.hosts.numpy.ops.autograph.conditional import PYTHON_VALUES, as_tensor, checked_condition
from pyfuncdbg.hosts.numpy.ops.autograph.state import Undefined, UndefinedReturnValue
from pyfuncdbg.hosts.numpy.ops.checks.assertions import Assert
from pyfuncdbg.hosts.numpy.ops.control.while_loop import while_loop
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.variables.handles import placeholder
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply

_LEGAL = 'Tensor, int, float, bool or a list, tuple or dict thereof'


@dataclass(frozen=True, slots=True)
class LoopVariables:
    """The variables of a loop.

    Attributes:
        names: Of them.
        get: Their values.
        set: Gives them values.
    """

    names: tuple[str, ...]
    get: Callable[[], tuple[Any, ...]]
    set: Callable[[Sequence[Any]], None]


def traced_loop(test: Callable[[], Any], body: Callable[[], Any], variables: LoopVariables, options: dict[str, Any]) -> None:
    """Add the loop, and give the variables their values after it."""
    first = original = variables.get()
    invariants = {id(value): shape for value, shape in options.get('shape_invariants', ())}
    missing = tuple(_has_no_value(value) for value in first)
    has_flag = any(missing)
    shapes = [invariants.get(id(value)) for value in first]
    if has_flag:
        first, extra = _filled(body, variables, first, missing, shapes)
        shapes = [invariant if invariant is not None else more for invariant, more in zip(shapes, extra, strict=True)]
    has_invariants = any(shape is not None for shape in shapes)
    skipped = int(has_flag)

    def asks(*values: Any) -> Any:
        variables.set(values[skipped:])
        return checked_condition(test(), 'while loop')

    def step(*values: Any) -> Any:
        variables.set(values[skipped:])
        body()
        results = variables.get()
        _check_variables(first, values[skipped:], results, variables.names, shapes if has_invariants else None)
        return (True, *results) if has_flag else results
    arguments = {key: value for key, value in options.items() if key not in ('iterate_names', 'shape_invariants')}
    if has_invariants:
        matching = tuple(nest.map_structure(lambda _: None, value) if shape is None else shape
                         for value, shape in zip(first, shapes, strict=True))
        arguments['shape_invariants'] = (None, *matching) if has_flag else matching
    results = while_loop(asks, step, (False, *first) if has_flag else first, **arguments)
    if has_flag:
        results = _after_one(results, variables.names, missing, original)
    variables.set(results)


def _has_no_value(value: Any) -> bool:
    return value is None or isinstance(value, (Undefined, UndefinedReturnValue))


def _after_one(results: Sequence[Any], names: Sequence[str], missing: Sequence[bool], original: Sequence[Any]) -> Any:
    """The results, with a check at run time that there was an iteration: else some variables have no value."""
    missing_names = ', '.join('the function return value' if isinstance(value, UndefinedReturnValue) else name
                              for name, without, value in zip(names, missing, original, strict=True) if without)
    checked = Assert(results[0], [f'loop must iterate at least once to initialize {missing_names}'])
    graph = context.current_graph()
    if graph is None:
        return results[1:]
    with graph.control_dependencies([checked]):
        return nest.map_structure(lambda value: apply('Identity', (value,)) if isinstance(value, Tensor) else value,
                                  tuple(results[1:]))


# ---------------------------------------------------------------- variables without a value before the loop
def _filled(body: Callable[[], Any], variables: LoopVariables, first: Sequence[Any], missing: Sequence[bool],
            shapes: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Initial values for variables without one, like their values after one iteration, and their shape invariants."""
    after = extra = None
    problem = None
    graph = Graph(name='tmp', outer=context.current_graph(), building_function=True)
    try:
        with graph.as_default():
            variables.set(nest.map_structure(_stand_in, tuple(first)))
            body()
            after = variables.get()
        pairs = [_like(result, shape, value) if without else (value, None)
                 for value, without, result, shape in zip(first, missing, after, shapes, strict=True)]
        first, extra = tuple(value for value, _ in pairs), tuple(shape for _, shape in pairs)
    except (UnboundLocalError, TypeError, ValueError, KeyError) as error:
        problem = (f'Note: AutoGraph tried to define it automatically, but ran into a {type(error).__name__}: {error}')
    finally:
        variables.set(first)
    _check_first(first, variables.names, after, problem)
    return tuple(first), extra if extra is not None else (None,) * len(first)


def _stand_in(value: Any) -> Any:
    if isinstance(value, (*PYTHON_VALUES, np.generic)):
        tensor = convert_to_tensor(value)
        return placeholder(tensor.dtype, tensor.shape)
    return value


def _like(value_after: Any, shape: Any, value: Any) -> tuple[Any, Any]:
    """Zeros like the value after an iteration, and a wider shape where it varies."""
    if value_after is None or isinstance(value_after, (Undefined, UndefinedReturnValue)):
        return value, None
    if isinstance(value_after, (int, float)):
        return type(value_after)(0), None
    if isinstance(value_after, Tensor):
        wide = TensorShape(shape) if shape is not None else value_after.shape
        if wide.rank is None:
            return zeros((), value_after.dtype), wide
        sizes = [size if size is not None else (size_after or 0)
                 for size, size_after in zip(value_after.shape.as_list(), wide.as_list(), strict=True)]
        return zeros(sizes, value_after.dtype), wide if None in value_after.shape.as_list() else None
    if nest.is_nested(value_after):
        pairs = [_like(leaf, None, None) for leaf in nest.flatten(value_after)]
        return (nest.pack_sequence_as(value_after, [one for one, _ in pairs]),
                nest.pack_sequence_as(value_after, [one for _, one in pairs]))
    raise TypeError(f"Found an unsupported type '{type(value_after).__name__}' while creating placeholder for "
                    f'{value_after}. Supported types include Tensor, int, float, bool, list, tuple or dict.')


def _check_first(first: Sequence[Any], names: Sequence[str], after: Sequence[Any] | None, problem: str | None) -> None:
    """Refuse variables that must have a value before the loop."""
    for name, value, value_after in zip(names, first, after or (None,) * len(names), strict=True):
        if isinstance(value, UndefinedReturnValue):
            if value_after is not None and not isinstance(value_after, UndefinedReturnValue):
                raise ValueError(f'the return value from a TensorFlow loop may only be a {_LEGAL}; got {type(value_after)}')
            raise NotImplementedError('a return statement cannot be placed inside this TensorFlow loop; this may happen if '
                                      'a return statement depends on a static Python condition such as a hyperparameter')
        if value is None:
            raise ValueError(f"'{name}' is not allowed to be None before the loop")
        if isinstance(value, Undefined):
            raise ValueError(f"'{name}' must be defined before the loop" + (f'\n{problem}' if problem else ''))


# ---------------------------------------------------------------- one iteration
def _check_variables(first: Sequence[Any], entry: Sequence[Any], results: Sequence[Any], names: Sequence[str],
                     shapes: Sequence[Any] | None) -> None:
    """Refuse variables whose structure, dtype or shape an iteration changes."""
    for i, name in enumerate(names):
        for a, b in ((first[i], entry[i]), (entry[i], results[i])):
            try:
                nest.assert_same_structure(as_tensor(a), as_tensor(b), expand_composites=True)
            except (ValueError, TypeError) as error:
                raise TypeError(f"'{name}' does not have the same nested structure after one iteration.\n\n"
                                f'{error}') from error
        invariants = nest.flatten(shapes[i]) if shapes is not None and shapes[i] is not None else None
        for at, (start, before, after) in enumerate(zip(nest.flatten(first[i]), nest.flatten(entry[i]),
                                                        nest.flatten(results[i]), strict=True)):
            _check_variable(name, start, before, after, invariants[at] if invariants is not None else None)


def _check_variable(name: str, start: Any, before: Any, after: Any, invariant: Any) -> None:
    if after is None:
        raise ValueError(f"'{name}' is None at the end of the iteration.")
    start, before, after = (convert_to_tensor(one) if isinstance(one, PYTHON_VALUES) else as_tensor(one)
                            for one in (start, before, after))
    if not isinstance(before, Tensor) or not isinstance(after, Tensor):
        return
    if before.dtype != after.dtype:
        raise TypeError(f"'{name}' has dtype {before.dtype.name} before the loop, but dtype {after.dtype.name} after one "
                        'iteration')
    if invariant is None:
        if not _within(after.shape, before.shape):
            raise ValueError(f"'{name}' has shape {before.shape} before the loop, but shape {after.shape} after one "
                             'iteration. Use tf.autograph.experimental.set_loop_options to set shape invariants.')
        return
    wide = TensorShape(invariant.shape if hasattr(invariant, 'shape') else invariant)
    if isinstance(start, Tensor) and not _within(start.shape, wide):
        raise ValueError(f"'{name}' has shape {start.shape} before the loop, which does not conform with the shape "
                         f'invariant {wide}.')
    if not _within(after.shape, wide):
        raise ValueError(f"'{name}' has shape {after.shape} after one iteration, which does not conform with the shape "
                         f'invariant {wide}.')


def _within(shape: TensorShape, wide: TensorShape) -> bool:
    """Whether a shape is at least as specific as another."""
    if wide.rank is None:
        return True
    if shape.rank != wide.rank:
        return False
    return all(size_of_wide is None or size == size_of_wide for size,
               size_of_wide in zip(shape.as_list(), wide.as_list(), strict=True))
