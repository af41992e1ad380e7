"""`inp`: the user's arguments as a flat list of inputs, and back to the function's arguments.

The public functions call it on the caller's thread; kernels call `ArgumentLayout.arguments` on the run's.
"""
from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyfuncdbg.hooks.argument_form import ArgumentForm, Part
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.composite import is_composite, is_composite_spec
from pyfuncdbg.hosts.numpy.ops.script.structure import filled, holds_keyed, is_keyed, leaves, outlined
from pyfuncdbg.hosts.numpy.ops.variables.variable import Variable
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor

_PLAIN = frozenset((EagerTensor, float, int, bool, str, bytes))


class ArgumentLayout:
    """Mapping from a node's inputs to the function's arguments. Holds structures, no values.

    Attributes:
        positional: One structure per argument, None in place of each input and a spec in place of each composite.
        keywords: The same for keyword arguments.
        has_composites: Whether an argument is a composite.
    """

    __slots__ = ('has_composites', 'keywords', 'positional')

    def __init__(self, positional: Sequence[Any], keywords: Mapping[str, Any], split: Callable[[Any], bool]) -> None:
        self.positional = [outlined(item, split) for item in positional]
        self.keywords = {key: outlined(item, split) for key, item in keywords.items()}
        self.has_composites = any(is_composite(item) for item in (*positional, *keywords.values()))

    def arguments(self, inputs: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The positional and keyword arguments for some inputs."""
        values = iter(inputs)
        positional = [filled(item, values) for item in self.positional]
        return positional, {key: filled(item, values) for key, item in self.keywords.items()}

    def form(self) -> ArgumentForm:
        """Structure and types of the arguments; of a composite, a dataclass and a mapping of the program only the type."""
        places = itertools.count()

        def part_of(value: Any) -> Part | None:
            if is_composite_spec(value):
                return Part('unknown', type(value).__name__.removesuffix('Spec'))
            return Part('input', next(places)) if value is None else None
        return ArgumentForm.of(self.positional, self.keywords, part_of)


def laid_out(positional: Sequence[Any], keywords: Mapping[str, Any],
             split: Callable[[Any], bool]) -> tuple[list[Any], ArgumentLayout]:
    """All leaves of nested arguments in order, and the layout that packs them again."""
    values = [leaf for item in (*positional, *keywords.values()) for leaf in leaves(item, split)]
    return values, ArgumentLayout(positional, keywords, split)


def flat_inputs(inp: Any, composites: bool = False) -> tuple[list[Any], ArgumentLayout | None]:
    """The inputs in `inp`, by TensorFlow's rule: each item of the iteration is one tensor.

    An element with a mapping or dataclass in it, which TensorFlow refuses, becomes one input per leaf; in it a list
    or tuple of tensors stays one, and a list of numbers is one tensor. With `composites` a composite becomes
    its component tensors; else it is one input.

    Raises:
        TypeError: It cannot be iterated.
    """
    items = list(inp)
    for item in items:
        if type(item) not in _PLAIN and ((composites and is_composite(item)) or holds_keyed(item)):
            return laid_out(items, {}, _is_apart)
    return items, None


def _is_apart(value: Any) -> bool:
    """Whether a value is flattened: a list or tuple only if it has something keyed, or a tensor, in it."""
    if isinstance(value, (list, tuple)):
        return holds_keyed(value) or any(isinstance(item, (Tensor, Variable)) for item in value)
    return is_keyed(value)


def or_decorator(op: Callable[..., Any], op_name: str, func: Any, inp: Any, Tout: Any, **options: Any) -> Any:
    """The script op, or a decorator where its function is missing.

    Raises:
        TypeError: An argument is missing or too many.
    """
    if Tout is None:
        raise TypeError(f"Missing required argument: 'Tout'\n  If using {op_name} as a decorator, set `Tout`\n  **by name** "
                        f'above the function:\n  `@{op_name}(Tout=tout)`')
    if func is not None:
        raise TypeError('Missing argument `inp`:\n  You must set the `inp` argument (the list of arguments to the\n  '
                        f'function), unless you use `{op_name}` as a decorator(`func=None`).')
    if inp is not None:
        raise TypeError(f"Don't set the `inp` argument when using {op_name} as a decorator (`func=None`).")

    def decorate(fun: Any) -> Any:
        @functools.wraps(fun)
        def call(*args: Any) -> Any:
            return op(fun, args, Tout, **options)
        return call
    return decorate
