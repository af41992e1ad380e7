"""`tf.cond`, `tf.switch_case` and `tf.case`: calls of one of several functions, chosen by tensors."""
from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pyfuncdbg.hooks.public_function import stack_level
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.definitions.registry import CASE, IDENTITY, IF, STATELESS_CASE, STATELESS_IF
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes, nest
from pyfuncdbg.hosts.numpy.graph.types.shapes import common
from pyfuncdbg.hosts.numpy.ops.arrays.joining import stack
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import reduce_sum
from pyfuncdbg.hosts.numpy.ops.checks.assertions import Assert
from pyfuncdbg.hosts.numpy.ops.control.parts import PartResult, entered, graph_around, scalar_condition, waited_for
from pyfuncdbg.hosts.numpy.ops.control.version import named_as_first
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor, get_static_value, is_constant
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import control_dependencies, name_scope
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import less_equal
from pyfuncdbg.hosts.numpy.runtime.control_flow.branches import Branches, InputPool, choose
from pyfuncdbg.hosts.numpy.runtime.control_flow.nested_plan import has_state, traced_inner
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.traces.traced_function import TracedFunction


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """Call `true_fn` if `pred` is true, else `false_fn`; in a graph, as a node that does so when it runs.

    Args:
        pred: A scalar boolean tensor; in eager mode also a Python bool.
        true_fn: Without arguments; both return the same structure of tensors of the same dtypes.
        false_fn: The other.
        name: The name scope of the node.

    Returns:
        The result of the function; in a graph tensors in its structure, with the shapes common to both.

    Raises:
        TypeError: An argument is no function; in a graph: `pred` is a Python bool, or results differ in structure or dtype.
    """
    return _cond(pred, true_fn, false_fn, True, name)


def cond_v1(pred: Any, true_fn: Any = None, false_fn: Any = None, strict: bool = False, name: str | None = None,
            fn1: Any = None, fn2: Any = None) -> Any:
    """`cond` of TensorFlow 1: without `strict` a list of one result is that result, where TensorFlow does so (eager mode,
    and graphs with control flow of version 1)."""
    if fn1 is not None:
        if true_fn is not None:
            raise TypeError("cond(): 'true_fn' and 'fn1' may not be set simultaneously.")
        true_fn = fn1
    if fn2 is not None:
        if false_fn is not None:
            raise TypeError("cond(): 'false_fn' and 'fn2' may not be set simultaneously.")
        false_fn = fn2
    return _cond(pred, true_fn, false_fn, strict, name)


def _cond(pred: Any, true_fn: Any, false_fn: Any, strict: bool, name: str | None) -> Any:
    for function, argument in ((true_fn, 'true_fn'), (false_fn, 'false_fn')):
        if function is None:
            raise TypeError(f"cond(): '{argument}' argument required")
    for function, argument in ((true_fn, 'true_fn'), (false_fn, 'false_fn')):
        if not callable(function):
            raise TypeError(f"'{argument}' must be callable.")
    graph = graph_around([pred])
    if graph is None:
        with name_scope(name or 'cond'):
            result = true_fn() if _value(pred) else false_fn()
        return result if strict else _single(result)
    if isinstance(pred, bool):
        raise TypeError('pred must not be a Python bool', pred)
    with entered(graph), graph.name_scope(name or 'cond') as scope:
        selector = scalar_condition(pred)
        result = _branch_outputs(graph, selector, (true_fn, false_fn), ('true', 'false'), scope, 'cond')
    return _single(result) if named_as_first(graph) and not strict else result


def _value(pred: Any) -> Any:
    """A condition of eager code."""
    return get_static_value(convert_to_tensor(pred))


def _single(result: Any) -> Any:
    return result[0] if isinstance(result, (list, tuple)) and len(result) == 1 else result


# ---------------------------------------------------------------- building
def _branch_outputs(graph: Graph, selector: Any, functions: Sequence[Callable[[], Any]], names: Sequence[str], scope: str,
                    kind: str) -> Any:
    """The node that runs one of the functions, and its outputs in their structure."""
    certain = is_constant(selector)
    parts: list[TracedFunction] = []
    returned: list[PartResult] = []
    for function, name in zip(functions, names, strict=True):
        def trace(_: Any, function: Callable[[], Any] = function) -> Sequence[Any]:
            returned.append(PartResult(function, lambda: selector))
            return returned[-1].tensors
        parts.append(traced_inner(scope, name, trace, certain=certain))
    _check_captures(parts, kind)
    _check_alike(parts, returned, kind)
    pool = InputPool()
    feeds = tuple(tuple(pool.place(outer) for outer, _ in part.graph.captures) for part in parts)
    count = len(parts[0].outputs)
    types = tuple((parts[0].outputs[i].dtype, common([part.outputs[i].shape for part in parts])) for i in range(count))
    branches = Branches(tuple(parts), feeds, (tuple(range(count)),) * len(parts), types)
    stateful = any(has_state(part.graph) for part in parts)
    op_type = (IF if stateful else STATELESS_IF) if kind == 'cond' else (CASE if stateful else STATELESS_CASE)
    with graph.control_dependencies(waited_for(parts)):
        outputs = choose(op_type, selector, pool.tensors, branches,
                         {'_lower_using_switch_merge': True, '_read_only_resource_inputs': []}, scope)
    identity = 'Merge' if named_as_first(graph) else None
    return returned[0].pack([apply(IDENTITY, (output,), None, identity) for output in outputs])


def _check_captures(parts: Sequence[TracedFunction], kind: str) -> None:
    """Refuse a branch that uses a tensor of another."""
    homes = {id(part.graph): i for i, part in enumerate(parts)}
    for i, part in enumerate(parts):
        for outer, _ in part.graph.captures:
            if isinstance(outer, SymbolicTensor) and id(outer.graph) in homes:
                names = ['true_fn', 'false_fn'] if kind == 'cond' else [f'branch {k}' for k in range(len(parts))]
                raise ValueError(f'Tensor {outer.name} in {names[homes[id(outer.graph)]]} is accessed from {names[i]}.')


def _check_alike(parts: Sequence[TracedFunction], returned: Sequence[PartResult], kind: str) -> None:
    """Refuse branches whose results differ in structure or dtype."""
    structures = [one.structure_of_tensors() for one in returned]
    for i in range(1, len(parts)):
        detail = ''
        try:
            nest.assert_same_structure(structures[0], structures[i])
        except (ValueError, TypeError) as error:
            detail = str(error)
        if not detail:
            if len(parts[0].outputs) != len(parts[i].outputs):
                raise ValueError(f'Lengths of branch outputs of {kind} must match.\n'
                                 f'len(graphs[0].outputs): {len(parts[0].outputs)}\n'
                                 f'len(graphs[{i}].outputs): {len(parts[i].outputs)}\n')
            pairs = zip(parts[0].outputs, parts[i].outputs, strict=True)
            detail = next((f'{a} and {b} have different types' for a, b in pairs if a.dtype != b.dtype), '')
        if detail:
            first, other = ('true_fn', 'false_fn') if kind == 'cond' else ('branches[0]', f'branches[{i}]')
            raise TypeError(
                f'{first} and {other} arguments to {"tf.cond" if kind == "cond" else "tf.switch_case"} must have the same '
                f'number, type, and overall structure of return values.\n\n{first} output: {structures[0]}\n'
                f'{other} output: {structures[i]}\n\nError details:\n{detail}')


# ---------------------------------------------------------------- switch_case
def switch_case(branch_index: Any, branch_fns: Any, default: Any = None, name: str = 'switch_case') -> Any:
    """Call the function at `branch_index`; `default`, or the last, where no function has that index.

    Args:
        branch_index: A scalar integer tensor.
        branch_fns: Functions, or a dict or list of pairs from index to function; their results are alike.
        default: A function for other indices.
        name: The name scope of the node.

    Raises:
        TypeError: Arguments of other types, or results that differ in structure or dtype.
        ValueError: No functions, or keys that are not 0, 1, 2 ...
    """
    functions = _indexed(branch_index, branch_fns, default)
    graph = graph_around([branch_index])
    if graph is None:
        index = int(branch_index)
        return functions[index if 0 <= index < len(functions) else -1]()
    with entered(graph), graph.name_scope(name or 'case'), graph.name_scope('indexed_case') as scope:
        index = convert_to_tensor(branch_index, name='branch_index')
        return _branch_outputs(graph, index, functions, [f'branch{i}' for i in range(len(functions))], scope, 'case')


def _indexed(branch_index: Any, branch_fns: Any, default: Any) -> list[Callable[[], Any]]:
    if not isinstance(branch_index, Tensor):
        raise TypeError(f"'branch_index' must be a Tensor, got {type(branch_index)}")
    if not branch_index.dtype.is_integer:
        raise TypeError(f"'branch_index' must be an integer Tensor, got {branch_index.dtype}")
    if not branch_fns:
        raise ValueError("Must provide at least one item in 'branch_fns'")
    if not isinstance(branch_fns, (list, tuple, dict)):
        raise TypeError("'branch_fns' must be a list, tuple, or dict")
    pairs = list(branch_fns.items()) if isinstance(branch_fns, dict) else list(branch_fns)
    if all(callable(function) for function in pairs):
        pairs = list(enumerate(pairs))
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'branch_fns' must be a 2-tuple. Received {pair}.")
        key, function = pair
        if not isinstance(key, int):
            raise TypeError(f'key must be a Python `int`, got {type(key)}')
        if not callable(function):
            raise TypeError(f'fn for key {key} must be callable.')
    keys = [key for key, _ in pairs]
    if min(keys) < 0 or max(keys) >= len(keys) or len(set(keys)) != len(keys):
        raise ValueError(f'branch indices (keys) must form contiguous range of [0 to {len(keys)}) but found '
                         f'{{{",".join(map(str, sorted(keys)))}}}')
    functions = [function for _, function in sorted(pairs, key=lambda pair: pair[0])]
    if default is not None:
        functions.append(default)
    return functions


def case(pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False, name: str = 'case') -> Any:
    """Call the function of the first pair whose condition is true; `default` if none is.

    Args:
        pred_fn_pairs: Pairs of a boolean scalar tensor and a function, as a list, or as a dict if `exclusive`.
        default: Called if no condition is true; without it, that is an error of the last condition.
        exclusive: That two conditions are true is an error.
        strict: A list of one result stays a list.
        name: The name scope.

    Raises:
        TypeError: Not pairs of a tensor and a function.
        InvalidArgumentError: None is true and there is no default, or more than one is and `exclusive` is set.
    """
    pairs = _checked(pred_fn_pairs, exclusive, name)
    predicates, actions = [pred for pred, _ in pairs], [action for _, action in pairs]
    with name_scope(name or 'case'):
        function: Callable[[], Any]
        if default is None:
            function = partial(_last, list(predicates), actions[-1])
            conditions = list(zip(predicates, actions, strict=True))[:-1]
            predicates = predicates[:-1]        # those that TensorFlow checks
        else:
            function, conditions = default, list(zip(predicates, actions, strict=True))
        for predicate, action in reversed(conditions):
            function = partial(cond_v1, predicate, true_fn=action, false_fn=function, strict=strict)
        if not exclusive:
            return function()
        with control_dependencies([_at_most(predicates, 1, 'Input error: exclusive=True')]):
            return function()


def _last(predicates: Sequence[Any], action: Callable[[], Any]) -> Any:
    """The action of the last condition, where it must be the one that is true."""
    others = (f'Implementation error: selected default action #{len(predicates) - 1} was called, but some of other '
              'predicates are True: ')
    checks = [_at_most(predicates[:-1], 0, others)] if len(predicates) > 1 else []
    message = ['Input error: None of conditions evaluated as True:', stack(predicates, name='preds_c')]
    with control_dependencies([*checks, Assert(predicates[-1], message)]):
        return action()


def _at_most(predicates: Sequence[Any], count: int, message: str) -> Any:
    """Fails if more than `count` of the conditions are true."""
    together = stack(predicates, name='preds_c')
    true = reduce_sum(cast(together, dtypes.int32), name='num_true_conds')
    names = ', '.join(getattr(pred, 'name', '?') if context.current_graph() is not None else '?' for pred in predicates)
    return Assert(less_equal(true, constant(count, name='n_true_conds')),
                  [f'{message}: more than {count} conditions ({names}) evaluated as True:', together],
                  summarize=len(predicates))


def _checked(pred_fn_pairs: Any, exclusive: bool, name: str) -> list[tuple[Any, Callable[[], Any]]]:
    if not isinstance(pred_fn_pairs, (list, tuple, dict)):
        raise TypeError(f"'pred_fn_pairs' must be a list, tuple, or dict. Received: {type(pred_fn_pairs)}")
    pairs: Any = pred_fn_pairs
    if isinstance(pred_fn_pairs, OrderedDict):
        pairs = pred_fn_pairs.items()
    elif isinstance(pred_fn_pairs, dict):
        pairs = _of_dict({pred.deref() if hasattr(pred, 'deref') else pred: action for pred, action in pred_fn_pairs.items()}
                         if context.current_graph() is not None else pred_fn_pairs, exclusive, name)
    if not pairs:
        raise ValueError('not enough values to unpack (expected 2, got 0)')
    checked_pairs = []
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'pred_fn_pairs' must be a 2-tuple. Received {pair}.")
        pred, action = pair
        if not isinstance(pred, Tensor):
            raise TypeError(f'pred must be a Tensor, got: {pred}')
        if pred.dtype is not dtypes.bool:
            raise TypeError(f'pred must be Tensor of type bool: {pred.name}')  # type: ignore[attr-defined]
        if not callable(action):
            raise TypeError(f'fn for pred {pred.name} must be callable.')  # type: ignore[attr-defined]
        checked_pairs.append((pred, action))
    return checked_pairs


def _of_dict(pred_fn_pairs: dict[Any, Any], exclusive: bool, name: str) -> list[tuple[Any, Any]]:
    if context.current_graph() is None:
        if not exclusive:
            raise ValueError("Unordered dictionaries are not supported for the 'pred_fn_pairs' argument when "
                             '`exclusive=False` and eager mode is enabled.')
        return list(pred_fn_pairs.items())
    if not exclusive:
        warnings.warn(f'{name}: An unordered dictionary of predicate/fn pairs was provided, but exclusive=False. The order '
                      'of conditional tests is deterministic but not guaranteed.', stacklevel=stack_level())
    return sorted(pred_fn_pairs.items(), key=lambda pair: str(pair[0].name))
