"""Function with a derivative rule that JAX has called with tracers, as a function that `check` can differentiate.

Noted while JAX traces, on the program's thread; evaluated eagerly on the thread of a command, where a program may be traced.
Nothing of the program is kept alive but plain values.
"""
from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.call_frames import code_of
from pyfuncdbg.hooks.differentiable import Arrays, Differentiable
from pyfuncdbg.hooks.own_files import is_machinery
from pyfuncdbg.hosts.jax.callbacks.eager_evaluation import evaluate
from pyfuncdbg.hosts.jax.callbacks.flat_arguments import flat_arguments, parameters
from pyfuncdbg.hosts.jax.host import JaxHost
from pyfuncdbg.hosts.jax.jax_parts import JaxParts

_SEED = 0x5EED
_MOST = 1 << 24
"""Elements that are made for the arguments of one function."""
_LOW, _HIGH = .1, .9
"""Range in which roots, logarithms and inverse functions have values."""
NORMAL, POSITIVE = 'normal random numbers', f'random numbers from {_LOW} to {_HIGH}'


class _Traced(NamedTuple):
    """A leaf that was a tracer."""

    dtype: Any
    shape: tuple[Any, ...]


class _Arguments(NamedTuple):
    """The arguments of one call with tracers.

    Attributes:
        tree: Their structure.
        leaves: Each a `_Traced`, or gives the program's value; None once that is gone.
        fixed: Places of leaves without a gradient.
        names: Of the leaves.
    """

    tree: Any
    leaves: Sequence[_Traced | Callable[[], Any]]
    fixed: frozenset[int]
    names: Sequence[str]


class _Tree(NamedTuple):
    """Structure of arguments, as JAX's callable of a callback has it."""

    in_tree: Any


class TracedRule:
    """A function under `custom_vjp` or `custom_jvp`, with what its newest call with tracers got.

    Args:
        parts, host: Of JAX.
        custom: JAX's object around the function, which is not kept alive.
        label: Name of the function in sites.
    """

    def __init__(self, parts: JaxParts, host: JaxHost, custom: Any, label: str) -> None:
        self.label = label
        self._parts = parts
        self._host = host
        self._custom = weakref.ref(custom)
        self._kind = type(custom).__name__
        self._call: _Arguments | None = None

    @property
    def rule(self) -> str:
        """Name of the program's backward rule, or of its rule for `jvp`."""
        function = self._rule_function()
        return str(getattr(function, '__name__', '')) if function is not None else ''

    @property
    def place(self) -> tuple[str, int]:
        """File and line of the rule; of the function where JAX has made the rule."""
        custom = self._custom()
        code = code_of(self._rule_function() or getattr(custom, 'fun', None))
        return (code.co_filename, code.co_firstlineno) if code is not None else ('', 0)

    @property
    def is_traced(self) -> bool:
        """Whether it was called with tracers."""
        return self._call is not None

    def _rule_function(self) -> Any:
        custom = self._custom()
        function = getattr(custom, 'bwd' if self._kind == 'custom_vjp' else 'jvp', None)
        code = code_of(function) if function is not None else None
        return None if code is None or is_machinery(code.co_filename) else function

    # ------------------------------------------------------------------ at trace time
    def note(self, attribute: str, args: Sequence[Any]) -> None:
        """Note what a call of the function or of a rule got, if that has tracers.

        Args:
            attribute: Of JAX's object: 'fun', 'fwd', 'bwd' or 'jvp'.
            args: Positional arguments; JAX passes no others.
        """
        custom = self._custom()
        if custom is None or attribute == 'bwd' or (attribute == 'fwd' and getattr(custom, 'symbolic_zeros', False)):
            return                              # such a forward rule gets other objects than the function
        fixed = tuple(getattr(custom, 'nondiff_argnums', ()))
        if attribute == 'jvp':
            args = _arguments_of_jvp(args, fixed)
        tools = self._parts.tree
        leaves, tree = tools.tree_flatten((tuple(args), {}))
        if not any(isinstance(leaf, self._parts.core.Tracer) for leaf in leaves):
            return
        places: set[int] = set()
        start = 0
        for place, argument in enumerate(args):
            count = len(tools.tree_leaves(argument))
            places.update(range(start, start + count) if place in fixed else ())
            start += count
        layout = flat_arguments(self._parts, _Tree(tree), custom.fun)
        names = layout.names if layout is not None else parameters(custom.fun)
        self._call = _Arguments(tree, [self._kept(leaf) for leaf in leaves], frozenset(places),
                                [names[place] if place < len(names) else f'args[{place}]' for place in range(len(leaves))])

    def _kept(self, leaf: Any) -> _Traced | Callable[[], Any]:
        """What is kept of a leaf: type and shape of a tracer; a value is not kept alive, but for a plain one."""
        if isinstance(leaf, self._parts.core.Tracer):
            return _Traced(getattr(leaf.aval, 'dtype', None), tuple(getattr(leaf.aval, 'shape', ())))
        if type(leaf) in (bool, int, float, complex, str, bytes) or isinstance(leaf, np.generic):
            return lambda: leaf
        try:
            return weakref.ref(leaf)
        except TypeError:
            return lambda: None

    # ------------------------------------------------------------------ at a command
    def differentiable(self, recorded: Arrays | None) -> Differentiable:
        """The function as its newest call with tracers has called it; see `DerivativeRule`.

        Args:
            recorded: Values of the leaves of the arguments.

        Raises:
            ValueError: It cannot be called again, or the values are not for this call.
        """
        custom, call = self._custom(), self._call
        if custom is None or call is None:
            raise ValueError('the program keeps its function no longer')
        if recorded is not None:
            leaves = self._recorded(call, recorded)
            return RuleFunction(self._parts, self._host, custom, call, leaves).differentiable(self, '')
        problem: Exception | None = None
        for origin in (NORMAL, POSITIVE):
            leaves = evaluate(self._parts, partial(self._made, call, origin))
            function = RuleFunction(self._parts, self._host, custom, call, leaves)
            try:
                if function.is_finite():
                    return function.differentiable(self, origin)
            except CommandError:
                raise
            except Exception as error:          # of the program, which may not take such values
                problem = error
        if problem is not None:
            raise ValueError(f'on values that are made up {_raised(problem)}')
        raise ValueError('on values that are made up it gives NaN or infinity')

    def _recorded(self, call: _Arguments, recorded: Arrays) -> list[Any]:
        """The leaves, with recorded values instead of tracers."""
        if len(recorded) != len(call.leaves) or any(
                isinstance(kept, _Traced) and (kept.dtype != value.dtype or len(kept.shape) != value.ndim)
                for kept, value in zip(call.leaves, recorded, strict=True)):
            raise ValueError('recorded values are of another type')
        return [self._host.make_tensor(value) if isinstance(kept, _Traced) else _value(kept, name)
                for kept, value, name in zip(call.leaves, recorded, call.names, strict=True)]

    def _made(self, call: _Arguments, origin: str) -> list[Any]:
        """The leaves, with generated values instead of tracers."""
        traced = [kept for kept in call.leaves if isinstance(kept, _Traced)]
        if not all(isinstance(size, int) for kept in traced for size in kept.shape):
            raise ValueError('a size of its arguments is not known')
        total = sum(int(np.prod(kept.shape)) for kept in traced)
        if total > _MOST:
            raise ValueError(f'its arguments have {total:,} elements, and at most {_MOST:,} are made up')
        random = np.random.default_rng(_SEED)
        return [self._made_leaf(kept, random, origin) if isinstance(kept, _Traced) else _value(kept, name)
                for kept, name in zip(call.leaves, call.names, strict=True)]

    def _made_leaf(self, traced: _Traced, random: np.random.Generator, origin: str) -> Any:
        """Numbers of a shape and dtype: small floats as float32, since a difference of theirs is rounding; whole ones 1."""
        jax, (dtype, shape) = sys.modules['jax'], traced
        if isinstance(dtype, np.dtype) and jax.numpy.issubdtype(dtype, np.inexact):
            values = random.standard_normal(shape) if origin == NORMAL else random.uniform(_LOW, _HIGH, shape)
            return self._host.make_tensor(values.astype(dtype if dtype.kind in 'fc' and dtype.itemsize > 2 else np.float32))
        if isinstance(dtype, np.dtype) and dtype.kind in 'iub':
            return self._host.make_tensor(np.ones(shape, dtype))
        key = jax.random.key(0)
        if dtype == key.dtype:
            return key if not shape else jax.random.split(key, shape)
        raise ValueError(f'values of type {dtype} are not made up')


class RuleFunction:
    """A function with a rule, on values.

    Args:
        parts, host: Of JAX.
        custom: JAX's object.
        call: A call of it.
        leaves: Of its arguments, all with values.
    """

    def __init__(self, parts: JaxParts, host: JaxHost, custom: Any, call: _Arguments, leaves: Sequence[Any]) -> None:
        self._parts = parts
        self._host = host
        self._custom = custom
        self._call = call
        self._leaves = leaves
        traced = [place for place, kept in enumerate(call.leaves) if isinstance(kept, _Traced) and place not in call.fixed]
        self._slots = [place for place in traced if _is_checked(getattr(leaves[place], 'dtype', None))]

    def differentiable(self, rule: TracedRule, origin: str) -> Differentiable:
        """It as a function of the arguments that have a gradient.

        Args:
            rule: What it is called.
            origin: Of the values.

        Raises:
            ValueError: None of its arguments has one.
        """
        if not self._slots:
            raise ValueError('none of its arguments is a real number of 32 or 64 bits')
        return Differentiable(rule.label, type(self._custom).__name__, [self._call.names[slot] for slot in self._slots],
                              [_array(self._leaves[slot]) for slot in self._slots], self._outputs, self._gradients,
                              self._rule_outputs, origin)

    def is_finite(self) -> bool:
        """Whether its outputs are."""
        outputs = evaluate(self._parts, lambda: self._arrays(self._called(self._custom.fun, ())))
        return all(np.isfinite(output).all() for output in outputs)

    def _outputs(self, values: Arrays) -> list[np.ndarray]:
        return evaluate(self._parts, lambda: self._arrays(self._called(self._custom.fun, self._tensors(values))))

    def _rule_outputs(self, values: Arrays) -> list[np.ndarray]:
        return evaluate(self._parts, lambda: self._arrays(
            sys.modules['jax'].vjp(self._by_rule, *self._tensors(values))[0]))

    def _gradients(self, weights: Arrays) -> list[np.ndarray | None]:
        def differentiate() -> list[np.ndarray | None]:
            outputs, backward = sys.modules['jax'].vjp(self._by_rule, *[self._leaves[slot] for slot in self._slots])
            incoming = [self._incoming(output, weight) for output, weight in zip(outputs, weights, strict=True)]
            return [_array(gradient) for gradient in backward(incoming)]
        return evaluate(self._parts, differentiate)

    def _incoming(self, output: Any, weight: np.ndarray) -> Any:
        """The gradient of an output: a weight where that is a real number."""
        if not sys.modules['jax'].numpy.issubdtype(output.dtype, np.inexact):
            return np.zeros(output.shape, sys.modules['jax'].dtypes.float0)
        given = weight if output.dtype.kind == 'f' else np.zeros(output.shape)
        return self._host.make_tensor(np.asarray(given, output.dtype))

    def _by_rule(self, *tensors: Any) -> list[Any]:
        return self._called(self._custom, tensors)

    def _called(self, function: Any, tensors: Sequence[Any]) -> list[Any]:
        """The leaves of what a function gives for other values of the arguments that have gradients."""
        leaves = list(self._leaves)
        for slot, tensor in zip(self._slots, tensors, strict=False):
            leaves[slot] = tensor
        args, _ = self._parts.tree.tree_unflatten(self._call.tree, leaves)
        return self._parts.tree.tree_leaves(function(*args))  # type: ignore[no-any-return]

    def _tensors(self, values: Arrays) -> list[Any]:
        return [self._host.make_tensor(value) for value in values]

    def _arrays(self, outputs: Sequence[Any]) -> list[np.ndarray]:
        arrays = [_array(output) for output in outputs]
        for array in arrays:
            if array.dtype.kind not in 'fcbiu' or (array.dtype.kind == 'f' and array.dtype.itemsize < 4):
                raise ValueError(f'it gives {array.dtype}, whose differences are rounding')
        return arrays



def _array(value: Any) -> np.ndarray:
    """The array behind a value, which is waited for: the user asks for it."""
    return np.array(value)


def _is_checked(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == 'f' and dtype.itemsize >= 4


def _value(kept: Callable[[], Any], name: str) -> Any:
    value = kept()
    if value is None:
        raise ValueError(f'the program keeps its argument {name} no longer')
    return value


def _raised(error: Exception) -> str:
    """What an exception of the program says about values that are made up."""
    if isinstance(error, sys.modules['jax'].errors.UnexpectedTracerError):
        return 'it needs a value of the traced function that is none of its arguments, and not known'
    return f'it raises {type(error).__name__}: {error}'


def _arguments_of_jvp(args: Sequence[Any], fixed: Sequence[int]) -> list[Any]:
    """The function's arguments in those of its rule for `jvp`: the fixed ones, then all others as one, then tangents."""
    static, primals = list(args[:len(fixed)]), list(args[len(fixed)])
    count = len(static) + len(primals)
    return [static.pop(0) if place in fixed else primals.pop(0) for place in range(count)]
