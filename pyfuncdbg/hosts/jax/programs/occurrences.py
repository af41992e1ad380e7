"""Occurrences of callbacks in a program of JAX: where it calls each, and how often in one execution.

Read when JAX lowers a program, on that thread. The counts tell apart the calls of several executions at once.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.own_files import is_machinery

CALLBACKS = frozenset(('pure_callback', 'io_callback', 'debug_callback'))
ONCE = frozenset(('jit', 'pjit', 'closed_call', 'core_call', 'custom_jvp_call', 'custom_vjp_call', 'custom_vjp_call_jaxpr',
                   'checkpoint', 'remat', 'remat2', 'shard_map', 'xla_pmap', 'custom_lin'))
"""Ops that execute the program that they hold exactly once."""
_SAME_INPUTS = ONCE - {'shard_map', 'xla_pmap'}
"""Of these, those whose inner program gets the values of their own inputs, in order; of the others it gets shards."""
_MOST_FRAMES = 64


class Occurrence(NamedTuple):
    """The calls of one callback by a program.

    Attributes:
        times: Number of them in one execution; None where it depends on values, as in a loop.
        stack: The program's lines, innermost last.
        inputs: Names of the tensors that it gets: arguments of the program, and where they are observed results of its ops;
            '' for another one.
        outputs: How many tensors it gives; None if that is not known.
        observed: Whether the program's ops are observed, and `inputs` has their names.
    """

    times: int | None
    stack: tuple[Frame, ...]
    inputs: tuple[str, ...] = ()
    outputs: int | None = None
    observed: bool = False


def find_callbacks(jaxpr: Any) -> dict[int, Occurrence]:
    """Find the callbacks of a program.

    Args:
        jaxpr: The program, closed or not.

    Returns:
        Their occurrences by id of JAX's callable.
    """
    occurrences: dict[int, Occurrence] = {}
    program = getattr(jaxpr, 'jaxpr', jaxpr)
    arguments = getattr(getattr(program, 'debug_info', None), 'arg_names', None) or ()
    _find(program, True, (), occurrences, dict(zip(map(id, program.invars), map(_text, arguments), strict=False)))
    return occurrences


def _text(name: Any) -> str:
    return str(name or '')


def _find(jaxpr: Any, once: bool, outer: Sequence[Any], occurrences: dict[int, Occurrence],
          arguments: Mapping[int, str]) -> None:
    """Find callbacks.

    Args:
        jaxpr: The program.
        once: Whether one execution of the whole program executes it once.
        outer: The equations that hold it, outermost first.
        occurrences: Those found.
        arguments: Names of the whole program's arguments, by id of the variables that have them here.
    """
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        if name in CALLBACKS:
            key = id(equation.params.get('callback'))
            earlier = occurrences.get(key)
            times = 1 if once else None
            inputs = tuple([arguments.get(id(variable), '') for variable in equation.invars])
            if earlier is not None:
                times = earlier.times + 1 if once and earlier.times is not None else None
                inputs = tuple([one if one == other else '' for one, other in zip(inputs, earlier.inputs, strict=False)])
            occurrences[key] = Occurrence(times, earlier.stack if earlier is not None else stack_of((*outer, equation)),
                                          inputs, len(equation.outvars))
        for inner in inner_programs(equation):
            same = zip(inner.invars, equation.invars, strict=False) if name in _SAME_INPUTS else ()
            known = {id(variable): arguments[id(given)] for variable, given in same if id(given) in arguments}
            _find(inner, once and name in ONCE, (*outer, equation), occurrences, known)


def inner_programs(equation: Any) -> Iterator[Any]:
    """The programs that an equation holds: branches, bodies of loops, called functions."""
    for value in equation.params.values():
        for part in value if isinstance(value, (list, tuple)) else (value,):
            inner = getattr(part, 'jaxpr', part)
            if hasattr(inner, 'eqns') and hasattr(inner, 'invars'):
                yield inner


def stack_of(equations: Sequence[Any]) -> tuple[Frame, ...]:
    """The program's lines behind an equation and those that hold it, innermost last.

    JAX keeps of an equation within another one the lines of the inner function only, or all of them.
    """
    stack: tuple[Frame, ...] = ()
    for equation in equations:
        frames = traced_frames(equation.source_info.traceback)
        stack = frames if frames[:1] == stack[:1] else stack + frames
    return stack[-_MOST_FRAMES:]


def traced_frames(traceback: Any) -> tuple[Frame, ...]:
    """The program's frames in a traceback of JAX's, innermost last."""
    frames = [Frame(frame.file_name, frame.line_num, frame.function_name) for frame in getattr(traceback, 'frames', ())
              if not is_machinery(frame.file_name)]
    return tuple(reversed(frames[:_MOST_FRAMES]))
