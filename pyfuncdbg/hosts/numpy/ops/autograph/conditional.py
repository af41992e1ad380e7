"""Conditionals of converted code: `if`, `a if b else c`, `and`, `or`, `not`, chained comparisons and `assert`."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import nest
from pyfuncdbg.hosts.numpy.graph.types.dtypes import bool as boolean
from pyfuncdbg.hosts.numpy.ops.autograph.state import Undefined, UndefinedReturnValue, VariableState
from pyfuncdbg.hosts.numpy.ops.checks.assertions import Assert
from pyfuncdbg.hosts.numpy.ops.control.cond import cond
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply

Part = Callable[[], Any]
PYTHON_VALUES = (bool, int, float, str, np.ndarray)


def as_tensor(value: Any) -> Any:
    """A variable as its value; anything else as it is."""
    return value._as_tensor() if hasattr(value, '_as_tensor') else value


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor or a variable."""
    return isinstance(value, Tensor) or hasattr(value, '_as_tensor')


def checked_condition(value: Any, what: str) -> Any:
    """A condition as a tensor of rank 0.

    Raises:
        ValueError: It has another rank.
    """
    tensor = convert_to_tensor(value)
    hint = 'to check for None, use `is not None`'
    if tensor.dtype != boolean:
        raise ValueError(f'condition of {what} expected to be `tf.bool` scalar, got {tensor}; to use as boolean Tensor, use '
                         f'`tf.cast`; {hint}')
    shape = tensor.shape
    if shape.rank == 0:
        return tensor
    if shape.rank is not None and np.prod([size for size in shape.as_list() if size is not None]) > 1:
        raise ValueError(f'condition of {what} expected to be `tf.bool` scalar, got {tensor}; {hint}')
    return apply('Reshape', (tensor, convert_to_tensor(np.zeros(0, np.int32))))


# ---------------------------------------------------------------- statements
def if_stmt(test: Any, body: Part, orelse: Part, names: Sequence[str], composites: Sequence[Any], outputs: int) -> None:
    """Run one of two blocks; over a tensor, as a node with the changed variables as outputs."""
    if not is_tensor(test):
        if test:
            body()
        else:
            orelse()
        return
    test = checked_condition(test, 'if statement')
    state = VariableState(names, composites, (body, orelse))
    before = state.get()
    results_by_branch: dict[str, tuple[Any, ...]] = {}

    def run(block: Part, branch: str) -> Callable[[], Any]:
        def within() -> Any:
            state.set(before)
            block()
            results_by_branch[branch] = branch_results = state.get()[:outputs]
            _check_branch(branch_results, names, branch)
            if len(results_by_branch) == 2:
                _check_branches(results_by_branch['main'], results_by_branch['else'], names)
            return branch_results if outputs else (0,)
        return within
    results = cond(test, run(body, 'main'), run(orelse, 'else'))
    state.set((*results[:outputs], *before[outputs:]))


def _check_branch(values: Sequence[Any], names: Sequence[str], branch: str) -> None:
    for name, value in zip(names, values, strict=False):
        if isinstance(value, Undefined):
            raise ValueError(f"'{name}' must also be initialized in the {branch} branch")
        if isinstance(value, UndefinedReturnValue):
            raise ValueError(f'the {branch} branch must also have a return statement.')


def _check_branches(main: Sequence[Any], other: Sequence[Any], names: Sequence[str]) -> None:
    for name, a, b in zip(names, main, other, strict=False):
        try:
            nest.assert_same_structure(as_tensor(a), as_tensor(b), expand_composites=True)
        except (ValueError, TypeError) as error:
            raise TypeError(f"'{name}' must have the same nested structure in the main and else branches:\n\n"
                            f'{error}') from error
        for one, two in zip(nest.flatten(a), nest.flatten(b), strict=True):
            _check_pair(name, one, two)


def _check_pair(name: str, main: Any, other: Any) -> None:
    """Refuse results of two branches that cannot be one tensor."""
    if main is None:
        raise ValueError(f"'{name}' is None at the end of the main branch.")
    if other is None:
        raise ValueError(f"'{name}' is None at the end of the else branch.")
    a, b = (convert_to_tensor(one) if isinstance(one, PYTHON_VALUES) else as_tensor(one) for one in (main, other))
    if isinstance(a, Tensor) and isinstance(b, Tensor) and a.dtype != b.dtype:
        raise TypeError(f"'{name}' has dtype {a.dtype.name} in the main branch, but dtype {b.dtype.name} in the else branch")


def assert_stmt(test: Any, message: Part) -> Any:
    """Fail where a condition is false; over a tensor, when the graph runs."""
    if not is_tensor(test):
        assert test, message()
        return None
    data = message()
    return Assert(as_tensor(test), data if isinstance(data, list) else [data])


# ---------------------------------------------------------------- expressions
def if_exp(test: Any, body: Part, orelse: Part, text: str) -> Any:
    """`body if test else orelse`; `text` is the condition."""
    if not is_tensor(test):
        return body() if test else orelse()
    results: dict[str, Any] = {}

    def run(block: Part, branch: str) -> Part:
        def within() -> Any:
            results[branch] = block()
            if len(results) == 2:
                _check_pair(text, results['main'], results['else'])
            return results[branch]
        return within
    return cond(as_tensor(test), run(body, 'main'), run(orelse, 'else'))


def and_(first: Any, second: Part) -> Any:
    """`first and second`."""
    if not is_tensor(first):
        return first and second()
    return cond(as_tensor(first), second, lambda: first)


def or_(first: Any, second: Part) -> Any:
    """`first or second`."""
    if not is_tensor(first):
        return first or second()
    return cond(as_tensor(first), lambda: first, second)


def not_(value: Any) -> Any:
    """`not value`."""
    return apply('LogicalNot', (as_tensor(value),)) if is_tensor(value) else not value


def compared(tests: Sequence[Callable[[Any, Any], Any]], first: Any, second: Any, *others: Part) -> Any:
    """`first < second < others...`: each is evaluated once, and only if those before hold."""
    result = tests[0](first, second)
    if not others:
        return result
    return and_(result, lambda: compared(tests[1:], second, others[0](), *others[1:]))
