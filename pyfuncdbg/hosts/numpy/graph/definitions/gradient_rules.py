"""Gradient rules registered by a program, which replace the rule of an op for some nodes.

`tf.RegisterGradient` fills the table, `Graph.gradient_override_map` names rules for new nodes. The table is global.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from pyfuncdbg.hosts.numpy.graph.definitions.registry import OpDef, is_registered, lookup, no_gradient

Rule = Callable[..., Any]
_F = TypeVar('_F', bound=Rule)
NO_RULE = (
    "No gradient defined for operation'{}' (op type: {}). In general every operation must have an associated "
    '`@tf.RegisterGradient` for correct autodiff, which this op is lacking. If you want to pretend this operation is a '
    'constant in your program, you may insert `tf.stop_gradient`. This can be useful to silence the error in cases where '
    'you know gradients are not needed, e.g. the forward pass of tf.custom_gradient. Please see more details in '
    'https://www.tensorflow.org/api_docs/python/tf/custom_gradient.')
_registered: dict[str, tuple[Rule | None, str]] = {}


class RegisterGradient:
    """`tf.RegisterGradient`: a decorator that makes `function(op, *gradients)` the rule of a name.

    Raises:
        TypeError: The name is no string.
    """

    __slots__ = ('_name',)

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError('op_type must be a string')
        self._name = op_type

    def __call__(self, f: _F) -> _F:
        """Register the rule.

        Raises:
            KeyError: The name has a rule already.
        """
        _add(self._name, f)
        return f


def no_gradient_for(op_type: str) -> None:
    """`tf.no_gradient`: declare that ops of this type have no gradient.

    Raises:
        TypeError: The name is no string.
        KeyError: It has a rule.
    """
    if not isinstance(op_type, str):
        raise TypeError('op_type must be a string')
    _add(op_type, None)


def _add(name: str, rule: Rule | None) -> None:
    registration = _registered.get(name)
    if registration is not None or (is_registered(name) and lookup(name).gradient is not None):
        where = registration[1] if registration is not None else f'the rule of {name} itself'
        raise KeyError(f"Registering two gradient with name '{name}'! (Previous registration was in {where})")
    code = getattr(rule, '__code__', None)
    _registered[name] = rule, f'{code.co_filename}:{code.co_firstlineno}' if code is not None else repr(rule)


def with_rule(definition: OpDef, name: str) -> OpDef:
    """The op definition with the gradient rule of a name, which is looked up at differentiation.

    Raises (at differentiation):
        LookupError: There is no such rule.
    """
    def rule(node: Any, *grads: Any, **options: Any) -> Sequence[Any]:
        if name in _registered:
            override = _registered[name][0]
            if override is None:
                return no_gradient(node, *grads)
            result = override(node, *grads)
            return list(result) if isinstance(result, (list, tuple)) else [result]
        builtin = lookup(name).gradient if is_registered(name) else None
        if builtin is None:
            raise LookupError(NO_RULE.format(node.name, node.type))
        return builtin(node, *grads, **options)
    return replace(definition, gradient=rule)
