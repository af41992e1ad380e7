"""`tf.case`: the function of the first condition that is true."""
from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pyfuncdbg.hooks.public_function import stack_level
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.ops.arrays.joining import stack
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import reduce_sum
from pyfuncdbg.hosts.numpy.ops.checks.assertions import Assert
from pyfuncdbg.hosts.numpy.ops.control.cond import cond_v1
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import control_dependencies, name_scope
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import less_equal


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
            predicates = predicates[:-1]        # those that TensorFlow looks at
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


def _checked(given: Any, exclusive: bool, name: str) -> list[tuple[Any, Callable[[], Any]]]:
    if not isinstance(given, (list, tuple, dict)):
        raise TypeError(f"'pred_fn_pairs' must be a list, tuple, or dict. Received: {type(given)}")
    pairs: Any = given
    if isinstance(given, OrderedDict):
        pairs = given.items()
    elif isinstance(given, dict):
        pairs = _of_dict({pred.deref() if hasattr(pred, 'deref') else pred: action for pred, action in given.items()}
                         if context.current_graph() is not None else given, exclusive, name)
    if not pairs:
        raise ValueError('not enough values to unpack (expected 2, got 0)')
    found = []
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
        found.append((pred, action))
    return found


def _of_dict(given: dict[Any, Any], exclusive: bool, name: str) -> list[tuple[Any, Any]]:
    if context.current_graph() is None:
        if not exclusive:
            raise ValueError("Unordered dictionaries are not supported for the 'pred_fn_pairs' argument when "
                             '`exclusive=False` and eager mode is enabled.')
        return list(given.items())
    if not exclusive:
        warnings.warn(f'{name}: An unordered dictionary of predicate/fn pairs was provided, but exclusive=False. The order '
                      'of conditional tests is deterministic but not guaranteed.', stacklevel=stack_level())
    return sorted(given.items(), key=lambda pair: str(pair[0].name))
