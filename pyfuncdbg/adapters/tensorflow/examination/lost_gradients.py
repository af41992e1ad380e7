"""Gradients that came out as None, and the script op that is to blame.

A `numpy_function` has no gradient; a variable that a `py_function` reaches by its closure gets none. Looks after each
`GradientTape.gradient` and `tf.gradients`, on the program's thread.
"""
from __future__ import annotations

import contextlib
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any, NamedTuple

from pyfuncdbg.adapters.tensorflow.examination.holdings import closed_over
from pyfuncdbg.adapters.tensorflow.examination.places import Place, here, made_at
from pyfuncdbg.adapters.tensorflow.functions import user_function
from pyfuncdbg.adapters.tensorflow.parts import Parts
from pyfuncdbg.adapters.tensorflow.patching import Patches, without_this_frame
from pyfuncdbg.adapters.tensorflow.sites import EAGER, NUMPY, TYPES
from pyfuncdbg.hooks.facts import Fact

_MOST = 5_000
_REMEMBERED = 256


class _Culprit(NamedTuple):
    """What broke a path: `reason` is 'numpy' or 'captured'; `variable` is how the function names what it captured."""

    reason: str
    place: Place
    function: str
    op_type: str
    variable: str = ''


class _Calls(threading.local):
    """Script ops that this thread has called eagerly under a tape since it last asked for a gradient."""

    def __init__(self) -> None:
        self.made: list[tuple[str, Place, Any]] = []


class LostGradients:
    """Counts gradients that are None because of a script op, by op and source."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        self._calls = _Calls()
        self._found: Counter[tuple[_Culprit, str, Place]] = Counter()
        self._asked: Counter[Place] = Counter()

    def install(self, patches: Patches) -> None:
        """Notice calls under a tape, and gradients."""
        scripts = self._parts.scripts
        patches.replace(scripts, 'py_func_common', self._plain(scripts.py_func_common))
        patches.replace(scripts, '_internal_py_func', self._internal(scripts._internal_py_func))
        patches.replace(self._parts.tape.GradientTape, 'gradient', self._gradient(self._parts.tape.GradientTape.gradient))
        symbolic = sys.modules.get('tensorflow.python.ops.gradients_util')
        if symbolic is not None and hasattr(symbolic, '_GradientsHelper'):
            patches.replace(symbolic, '_GradientsHelper', self._symbolic(symbolic._GradientsHelper))

    # ------------------------------------------------------------------ eager calls
    def _plain(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def py_func_common(func: Any, inp: Any, Tout: Any, stateful: Any = True, name: Any = None) -> Any:  # noqa: N803
            with contextlib.suppress(Exception):        # an object of the program's may raise anything when it is asked
                if self._under_tape() and isinstance(inp, (list, tuple)) and self._recorded(inp):
                    self._remember('numpy', func)
            try:
                return original(func, inp, Tout, stateful, name)
            except BaseException as error:
                without_this_frame(error)
                raise
        return py_func_common

    def _internal(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def _internal_py_func(func: Any, *args: Any, **options: Any) -> Any:
            if options.get('use_eager_py_func') and not options.get('is_grad_func') and self._under_tape():
                self._remember('captured', func)
            try:
                return original(func, *args, **options)
            except BaseException as error:
                without_this_frame(error)
                raise
        return _internal_py_func

    def _under_tape(self) -> bool:
        return bool(self._parts.context.executing_eagerly() and self._parts.record.could_possibly_record())

    def _recorded(self, inputs: Sequence[Any]) -> bool:
        """Whether a tape follows one of these values."""
        eager = self._parts.ops.EagerTensor
        tensors = [value for value in inputs if isinstance(value, eager) and value.dtype.is_floating]
        if any(_is_variable(value) and value.trainable and value.dtype.is_floating for value in inputs):
            return True
        return bool(tensors) and bool(self._parts.record.should_record_backprop(tensors))

    def _remember(self, reason: str, function: Any) -> None:
        made = self._calls.made
        made.append((reason, here(self._parts.stacks), function))
        del made[:-_REMEMBERED]

    # ------------------------------------------------------------------ gradients
    def _gradient(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def gradient(tape: Any, target: Any, sources: Any, *args: Any, **options: Any) -> Any:
            try:
                found = original(tape, target, sources, *args, **options)
            except BaseException as error:
                without_this_frame(error)
                raise
            if not self._inside_backward():
                self._look(target, sources, found)
            return found
        return gradient

    def _symbolic(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def _GradientsHelper(ys: Any, xs: Any, *args: Any, **options: Any) -> Any:  # noqa: N802
            try:
                found = original(ys, xs, *args, **options)
            except BaseException as error:
                without_this_frame(error)
                raise
            self._look(ys, xs, found)
            return found
        return _GradientsHelper

    def _inside_backward(self) -> bool:
        """Whether TensorFlow asks for the gradient of a `py_function` that it differentiates."""
        return sys._getframe(2).f_code.co_name == 'eagerly_executed_grad'

    def _look(self, target: Any, sources: Any, found: Any) -> None:
        nest = sys.modules['tensorflow.python.util.nest']
        made, self._calls.made = self._calls.made, []
        try:
            pairs = list(zip(nest.flatten(sources), nest.flatten(found), strict=True))
            targets = nest.flatten(target)
            place = here(self._parts.stacks)
            lost = [(source, culprit) for source, gradient in pairs if gradient is None
                    for culprit in self._culprits(targets, source, made)]
        except Exception:                       # what the program hands over may be anything, and it goes on all the same
            return
        with self._lock:
            self._asked[place] += 1
            for source, culprit in lost:
                self._found[culprit, _name_of(source), place] += 1

    def _culprits(self, targets: list[Any], source: Any, made: list[tuple[str, Place, Any]]) -> Iterator[_Culprit]:
        graph = getattr(targets[0], 'graph', None) if targets and not isinstance(
            targets[0], self._parts.ops.EagerTensor) else None
        floating = source.dtype.is_floating or source.dtype.is_complex
        seen: set[_Culprit] = set()
        found = self._in_graph(graph, targets, source) if graph is not None else self._called(source, made)
        for culprit in found:
            if floating and culprit not in seen:
                seen.add(culprit)
                yield culprit

    def _called(self, source: Any, made: list[tuple[str, Place, Any]]) -> Iterator[_Culprit]:
        reached = [(place, function, name) for reason, place, function in made
                   if reason == 'captured' and (name := _reached_as(function, source))]
        for place, function, name in reached:
            yield _Culprit('captured', place, _name(function), EAGER, name)
        for reason, place, function in made:
            if reason == 'numpy' and not reached:
                yield _Culprit('numpy', place, _name(function), NUMPY)

    def _in_graph(self, graph: Any, targets: list[Any], source: Any) -> Iterator[_Culprit]:
        start = _node_of(graph, source)
        for node in _ancestors(target.op for target in targets):
            if node.type not in TYPES:
                continue
            token = node.get_attr('token')
            registered = self._parts.scripts._py_funcs.get(token.decode() if isinstance(token, bytes) else token)
            function = user_function(registered) if registered is not None else None
            if node.type == EAGER:
                if name := _reached_as(function, source):
                    yield _Culprit('captured', made_at(node), _name(function), EAGER, name)
            elif start is not None and any(one.name == start for one in _ancestors([node])):
                yield _Culprit('numpy', made_at(node), _name(function), node.type)

    def facts(self) -> Iterator[Fact]:
        """Each op and source, and how often a gradient was None."""
        with self._lock:
            found, asked = Counter(self._found), Counter(self._asked)
        for (culprit, source, place), count in found.items():
            yield Fact('gradient', 0, culprit.place.filename, culprit.place.line, {
                'reason': culprit.reason, 'function': culprit.function, 'op_type': culprit.op_type, 'source': source,
                'variable': culprit.variable,
                'none': count, 'asked': asked[place], 'asked_in': place.filename, 'asked_at': place.line})


def _is_variable(value: Any) -> bool:
    return hasattr(value, 'handle') and hasattr(value, 'trainable') and hasattr(value, 'dtype')


def _name_of(source: Any) -> str:
    try:
        return str(source.name).partition(':')[0]
    except Exception:                           # an eager tensor has no name, and says so in several ways
        return f'a tensor of shape {tuple(source.shape)}' if hasattr(source, 'shape') else type(source).__name__


def _name(function: Any) -> str:
    return str(getattr(function, '__qualname__', None) or type(function).__name__)


def _reached_as(function: Any, source: Any) -> str:
    """The name under which a function gets at a variable or tensor that it is not given; '' if it does not.

    Looked for in its closure, globals and defaults, and in the object it is a method of.
    """
    for _ in range(4):
        owner = getattr(function, '__self__', None)
        for name, value in getattr(owner, '__dict__', {}).items():
            if value is source:
                return f'self.{name}'
        function = getattr(function, '__func__', None) or getattr(function, 'func', None) or function
    if not isinstance(function, FunctionType):
        return ''
    held = [(name, function.__globals__[name]) for name in function.__code__.co_names if name in function.__globals__]
    held += closed_over(function)
    held += [('', value) for value in function.__defaults__ or ()]
    for name, value in held:
        if any(item is source for item in (value if isinstance(value, (list, tuple)) else [value])):
            return name or 'a default'
    return ''


def _node_of(graph: Any, source: Any) -> str | None:
    """The node that stands for a source in a graph: its own, or the placeholder of what the graph captured."""
    if not _is_variable(source) and getattr(source, 'graph', None) is graph:
        return str(source.op.name)
    wanted = source.handle if _is_variable(source) else source
    if getattr(wanted, 'graph', None) is graph:
        return str(wanted.op.name)
    for outer, inner in getattr(graph, 'captures', ()):
        if outer is wanted:
            return str(inner.op.name)
    return None


def _ancestors(nodes: Any) -> Iterator[Any]:
    """Nodes, and those whose values they are made of."""
    waiting = list(nodes)
    seen = {node.name for node in waiting}
    while waiting and len(seen) < _MOST:
        node = waiting.pop()
        yield node
        for tensor in node.inputs:
            if tensor.op.name not in seen:
                seen.add(tensor.op.name)
                waiting.append(tensor.op)
